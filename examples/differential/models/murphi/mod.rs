//! Random models in Murphi: a few rules over small variables.
//!
//! Most generated code is careful: values stay in their ranges, and variables that may be undefined are tested before
//! they are read. A little of it is not, and causes run-time errors. Four of five models use only constructs that
//! Rumur reads; the others also have unions, multisets, `choose` and priorities.
//!
//! The result of a `for` over a scalarset does not depend on the order of its rounds, as symmetry reduction requires.

mod declare;
mod exprs;
mod rules;
mod stmts;

use super::choices::Choices;
use std::collections::BTreeSet;

/// A type, which determines the possible values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Boolean,
    /// From 0 to 2, `R`.
    Range,
    /// From -1 to 1, `W`.
    Signed,
    /// `E`.
    Enum,
    /// A scalarset, `S` or `T`.
    Scalar(char),
    /// `U`, a union of `S` and `E`.
    Union,
}

/// A place that can be assigned.
#[derive(Clone, Debug)]
struct Place {
    text: String,
    ty: Ty,
    /// Whether it may be undefined.
    loose: bool,
}

/// A name with a value that cannot be assigned: a parameter, a counter.
#[derive(Clone, Debug)]
struct Bound {
    name: String,
    ty: Ty,
}

/// An array, or an array of records.
#[derive(Clone, Debug)]
struct Array {
    name: String,
    index: Ty,
    /// The text after the index, with the type of the field.
    fields: Vec<(String, Ty, bool)>,
}

/// The multiset `m`.
#[derive(Clone, Debug)]
struct Bag {
    /// Whether its elements are records; otherwise they are of `R`.
    records: bool,
}

/// Builds one model.
pub struct Maker<'a> {
    choices: Choices<'a>,
    used: BTreeSet<&'static str>,
    /// The number of elements of the scalarsets.
    sizes: (usize, usize),
    /// Whether constructs that Rumur does not read are allowed.
    rich: bool,
    has_records: bool,
    has_second: bool,
    places: Vec<Place>,
    arrays: Vec<Array>,
    bags: Vec<Bag>,
    /// Whole records, by their text.
    wholes: Vec<String>,
    functions: Vec<&'static str>,
    bound: Vec<Bound>,
    fresh: usize,
}

/// Builds a model from these numbers. Returns it with its constructs.
pub fn make(numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
    let mut maker = Maker {
        choices: Choices::new(numbers),
        used: BTreeSet::new(),
        sizes: (2, 2),
        rich: false,
        has_records: false,
        has_second: false,
        places: Vec::new(),
        arrays: Vec::new(),
        bags: Vec::new(),
        wholes: Vec::new(),
        functions: Vec::new(),
        bound: Vec::new(),
        fresh: 0,
    };
    let text = maker.model();
    (text, maker.used)
}

impl Maker<'_> {
    fn model(&mut self) -> String {
        self.rich = self.choices.chance(20);
        let mut text = self.declarations();
        text += &self.starts();
        for at in 0..3 + self.choices.below(5) {
            text += &self.rule(at);
        }
        text += &self.properties();
        text
    }

    /// Returns a fresh name.
    fn name(&mut self, sort: &str) -> String {
        self.fresh += 1;
        format!("{sort}{}", self.fresh)
    }

    /// Builds something within which a name has a value.
    fn with<T>(&mut self, name: &str, ty: Ty, make: impl FnOnce(&mut Self) -> T) -> T {
        self.bound.push(Bound { name: name.to_owned(), ty });
        let made = make(self);
        self.bound.pop();
        made
    }
}

/// Returns the name of a type.
fn word(ty: Ty) -> &'static str {
    match ty {
        Ty::Boolean => "boolean",
        Ty::Range => "R",
        Ty::Signed => "W",
        Ty::Enum => "E",
        Ty::Scalar('S') => "S",
        Ty::Scalar(_) => "T",
        Ty::Union => "U",
    }
}
