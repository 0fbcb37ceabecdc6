//! Random models in Murphi: a few rules over small variables.
//!
//! Most of the generated code avoids errors: values stay in their ranges, and variables that may be undefined are
//! tested before they are read. A small part does not, and causes run-time errors. Four of five models use only
//! constructs that Rumur supports. The others also have unions, multisets, `choose` and priorities.
//!
//! The result of a `for` over a scalarset does not depend on the order of its iterations, as symmetry reduction
//! requires.

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
    may_be_undefined: bool,
}

/// A name with a value that cannot be assigned: a parameter or a counter.
#[derive(Clone, Debug)]
struct BoundName {
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
struct Multiset {
    /// Whether its elements are records; otherwise they are of `R`.
    records: bool,
}

/// Builds one model.
pub struct ModelGenerator<'a> {
    choices: Choices<'a>,
    constructs: BTreeSet<&'static str>,
    /// The number of elements of the scalarsets.
    sizes: (usize, usize),
    /// Whether constructs that Rumur does not support are allowed.
    has_all_constructs: bool,
    has_records: bool,
    has_second: bool,
    places: Vec<Place>,
    arrays: Vec<Array>,
    multisets: Vec<Multiset>,
    /// The names of the variables that are records.
    record_names: Vec<String>,
    functions: Vec<&'static str>,
    bound: Vec<BoundName>,
    fresh: usize,
}

/// Builds a model from these numbers. Returns it with its constructs.
pub fn make(numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
    let mut generator = ModelGenerator {
        choices: Choices::new(numbers),
        constructs: BTreeSet::new(),
        sizes: (2, 2),
        has_all_constructs: false,
        has_records: false,
        has_second: false,
        places: Vec::new(),
        arrays: Vec::new(),
        multisets: Vec::new(),
        record_names: Vec::new(),
        functions: Vec::new(),
        bound: Vec::new(),
        fresh: 0,
    };
    let text = generator.model();
    (text, generator.constructs)
}

impl ModelGenerator<'_> {
    fn model(&mut self) -> String {
        self.has_all_constructs = self.choices.chance(20);
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

    /// Generates something within which a name has a value.
    fn with<T>(&mut self, name: &str, ty: Ty, make: impl FnOnce(&mut Self) -> T) -> T {
        self.bound.push(BoundName { name: name.to_owned(), ty });
        let made = make(self);
        self.bound.pop();
        made
    }
}

/// Returns the name of a type.
fn type_name(ty: Ty) -> &'static str {
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
