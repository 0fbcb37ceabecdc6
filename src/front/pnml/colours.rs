//! Colours: the classes that they come from, and what terms say of them.
//!
//! A class is a finite list of values, by their positions from 0; a tuple of values is a colour of a product of classes.
//! The colour of a place without is the empty tuple.

use super::parse::{Declaration, Document, Term};
use super::xml::{Read, number};
use crate::diag::Diagnostic;
use crate::numbers::count as counted;
use crate::source::Span;
use std::collections::{HashMap, HashSet};

/// The most values of a class.
const VALUES_MAX: i64 = 1 << 16;

/// A list of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) values: Values,
}

/// What the values of a class are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Names, in order.
    Names(Vec<String>),
    /// The integers from the first to the last.
    Range(i64, i64),
}

impl Class {
    /// How many values it has.
    pub(super) fn size(&self) -> u32 {
        match &self.values {
            Values::Names(names) => names.len() as u32,
            Values::Range(low, high) => (high - low + 1) as u32,
        }
    }
}

/// The number of a class.
pub(super) type ClassId = usize;

/// A variable of transitions.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) class: ClassId,
}

/// All that is declared.
#[derive(Default)]
pub(super) struct Colours {
    pub(super) classes: Vec<Class>,
    pub(super) variables: Vec<Variable>,
    /// The classes that a sort is a product of, by its name.
    sorts: HashMap<String, Vec<ClassId>>,
    /// The class of a named value, and its position.
    constants: HashMap<String, (ClassId, u32)>,
    variables_by_name: HashMap<String, usize>,
}

/// A part of a colour, where the variables of a transition have values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The value of a variable, or the one so many behind it, around the class.
    Variable(usize, u32),
    /// The value at a position.
    Constant(u32),
    /// Each value of the class.
    All,
}

impl Part {
    /// The variable that it speaks of.
    pub(super) fn variable(&self) -> Option<usize> {
        match self {
            Part::Variable(variable, _) => Some(*variable),
            Part::Constant(_) | Part::All => None,
        }
    }
}

/// So many tokens of a colour, or of each of several. Fewer than none are taken away from what others add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Addend {
    pub(super) times: i64,
    pub(super) colour: Vec<Part>,
    pub(super) span: Span,
}

fn error<T>(span: Span, message: impl Into<String>) -> Read<T> {
    Err(Diagnostic::error(span, message))
}

impl Colours {
    /// What a net declares.
    pub(super) fn of(document: &Document) -> Read<Colours> {
        let mut all = Colours::default();
        let is = |it: &&Declaration, names: &[&str]| names.contains(&it.element.name.as_str());
        let declared = || document.declarations.iter();
        for it in declared().filter(|it| is(it, &["namedsort", "partition"])) {
            all.sort_declared(it)?;
        }
        for it in declared().filter(|it| is(it, &["variabledecl"])) {
            all.variable_declared(it)?;
        }
        let known = ["namedsort", "partition", "variabledecl"];
        match declared().find(|it| !is(it, &known)) {
            None => Ok(all),
            Some(it) => error(
                it.element.span,
                format!("declarations by <{}> are not read", it.element.name),
            ),
        }
    }

    fn sort_declared(&mut self, it: &Declaration) -> Read<()> {
        let (id, span) = (it.element.need("id")?.to_owned(), it.element.span);
        if it.element.name == "partition" {
            return error(span, "partitions of classes are not read yet").map_err(
                |it: Diagnostic| it.help("a class of its own for each part says the same"),
            );
        }
        let name = it.element.get("name").unwrap_or(&id).to_owned();
        let [term] = it.terms.as_slice() else {
            return error(span, "a sort is declared by one term");
        };
        let classes = self.sort_of(term, Some(&name))?;
        match self.sorts.insert(id, classes) {
            None => Ok(()),
            Some(_) => error(span, "a sort of this name has been declared before"),
        }
    }

    fn variable_declared(&mut self, it: &Declaration) -> Read<()> {
        let (id, span) = (it.element.need("id")?.to_owned(), it.element.span);
        let name = it.element.get("name").unwrap_or(&id).to_owned();
        let [sort] = it.terms.as_slice() else {
            return error(span, "a variable is declared with one sort");
        };
        let [class] = self.sort_of(sort, None)?[..] else {
            return error(span, "variables of a product of sorts are not read yet")
                .map_err(|it: Diagnostic| it.help("a variable for each part says the same"));
        };
        self.variables_by_name.insert(id, self.variables.len());
        self.variables.push(Variable { name, class });
        Ok(())
    }

    /// The classes that a sort is a product of; where it is a new class, that has this name.
    pub(super) fn sort_of(&mut self, term: &Term, name: Option<&str>) -> Read<Vec<ClassId>> {
        let span = term.span();
        let values = match term.name() {
            "usersort" => {
                let declaration = term.element.need("declaration")?;
                let known = self.sorts.get(declaration).cloned();
                let unknown = || format!("the sort `{declaration}` is not declared");
                return known.ok_or_else(|| Diagnostic::error(span, unknown()));
            }
            "productsort" => {
                let each = term.terms.iter().map(|it| self.sort_of(it, None));
                return each.collect::<Read<Vec<_>>>().map(|it| it.concat());
            }
            "dot" => return Ok(Vec::new()),
            "bool" => Values::Names(vec!["false".to_owned(), "true".to_owned()]),
            "cyclicenumeration" | "finiteenumeration" => {
                let names =
                    term.terms.iter().zip(0..).map(|(it, position)| self.named_value(it, position));
                Values::Names(names.collect::<Read<_>>()?)
            }
            "finiteintrange" => {
                let (low, high) = (term.element.number("start")?, term.element.number("end")?);
                if !(0..VALUES_MAX).contains(&(high.saturating_sub(low))) || low.abs() > VALUES_MAX
                {
                    return error(span, format!("a range has one to {VALUES_MAX} values"));
                }
                Values::Range(low, high)
            }
            other => return error(span, format!("sorts by <{other}> are not read")),
        };
        if matches!(&values, Values::Names(names) if !(1..=VALUES_MAX).contains(&(names.len() as i64)))
        {
            return error(span, format!("a class has one to {VALUES_MAX} values"));
        }
        // What has no name and stands in several places is one class, unless it declares its values.
        let is_new = name.is_some() || term.name().ends_with("enumeration");
        let same = self.classes.iter().position(|it| !is_new && it.values == values);
        Ok(vec![same.unwrap_or_else(|| {
            let name = name.unwrap_or(term.name()).to_owned();
            self.classes.push(Class { name, values });
            self.classes.len() - 1
        })])
    }

    /// A value of a class that comes next, at a position.
    fn named_value(&mut self, term: &Term, position: u32) -> Read<String> {
        let id = term.element.need("id")?;
        match self.constants.insert(id.to_owned(), (self.classes.len(), position)) {
            None => Ok(term.element.get("name").unwrap_or(id).to_owned()),
            Some(_) => error(term.span(), format!("the value `{id}` has been declared before")),
        }
    }

    /// The class of what a term says, if that is to be seen of it.
    pub(super) fn class_of(&self, term: &Term) -> Option<ClassId> {
        let get = |attribute| term.element.get(attribute);
        match term.name() {
            "variable" => {
                let number = self.variables_by_name.get(get("refvariable")?)?;
                Some(self.variables[*number].class)
            }
            "useroperator" => self.constants.get(get("declaration")?).map(|it| it.0),
            "successor" | "predecessor" => self.class_of(term.terms.first()?),
            _ => None,
        }
    }

    /// The first class that a number can be a value of, by the range that stands in it.
    pub(super) fn class_of_number(&self, term: &Term) -> Option<ClassId> {
        let inner = term.terms.first()?;
        if term.name() != "finiteintrangeconstant" {
            return self.class_of_number(inner);
        }
        let bound = |name| inner.element.number(name).ok();
        let values = Values::Range(bound("start")?, bound("end")?);
        self.classes.iter().position(|it| it.values == values)
    }

    /// What a term says of a value of a class.
    pub(super) fn part(&self, term: &Term, class: ClassId) -> Read<Part> {
        let (span, size) = (term.span(), self.classes[class].size());
        if self.class_of(term).is_some_and(|it| it != class) {
            let name = &self.classes[class].name;
            return error(
                span,
                format!("here stands a value of `{name}`, and this is of another class"),
            );
        }
        match term.name() {
            "variable" => {
                let name = term.element.need("refvariable")?;
                let number = self.variables_by_name.get(name);
                let unknown =
                    || Diagnostic::error(span, format!("the variable `{name}` is not declared"));
                number.map(|it| Part::Variable(*it, 0)).ok_or_else(unknown)
            }
            "useroperator" => {
                let name = term.element.need("declaration")?;
                let unknown =
                    || Diagnostic::error(span, format!("the value `{name}` is not declared"));
                self.constants.get(name).map(|it| Part::Constant(it.1)).ok_or_else(unknown)
            }
            "finiteintrangeconstant" => {
                let value = term.element.number("value")?;
                match self.classes[class].values {
                    Values::Range(low, high) if (low..=high).contains(&value) => {
                        Ok(Part::Constant((value - low) as u32))
                    }
                    _ => {
                        error(span, format!("`{}` has no value {value}", self.classes[class].name))
                    }
                }
            }
            "successor" | "predecessor" => {
                let [inner] = term.parts()?;
                let by = if term.name() == "successor" { 1 } else { size - 1 };
                Ok(match self.part(inner, class)? {
                    Part::Variable(number, shift) => Part::Variable(number, (shift + by) % size),
                    Part::Constant(position) => Part::Constant((position + by) % size),
                    Part::All => return error(span, "this is not of one value"),
                })
            }
            "all" => Ok(Part::All),
            "dotconstant" => error(span, "a token without colour is no part of a colour"),
            other => error(span, format!("values by <{other}> are not read")),
        }
    }

    /// What a term says of tokens in a place whose colours are of these classes.
    pub(super) fn bag(&self, term: &Term, sort: &[ClassId]) -> Read<Vec<Addend>> {
        let mut bag = self.addends(term, sort)?;
        for (at, class) in sort.iter().enumerate() {
            bag = together(bag, at, self.classes[*class].size());
        }
        Ok(bag)
    }

    fn addends(&self, term: &Term, sort: &[ClassId]) -> Read<Vec<Addend>> {
        let span = term.span();
        let one = |colour| Ok(vec![Addend { times: 1, colour, span }]);
        let is_of = |count: usize| match count == sort.len() {
            true => Ok(()),
            false => error(
                span,
                format!("a colour of the place has {}", counted(sort.len() as u64, "part")),
            ),
        };
        match term.name() {
            "dotconstant" => is_of(0).and_then(|()| one(Vec::new())),
            "all" => one(vec![Part::All; sort.len()]),
            "tuple" => {
                // What has no colour adds nothing to one.
                let terms: Vec<&Term> =
                    term.terms.iter().filter(|it| it.name() != "dotconstant").collect();
                is_of(terms.len())?;
                let parts = terms.into_iter().zip(sort).map(|(it, class)| self.part(it, *class));
                one(parts.collect::<Read<_>>()?)
            }
            "add" => {
                let each = term.terms.iter().map(|it| self.addends(it, sort));
                each.collect::<Read<Vec<_>>>().map(|it| it.concat())
            }
            "subtract" => {
                let [from, less] = term.parts()?;
                let less = self.addends(less, sort)?.into_iter();
                let less = less.map(|it| Addend { times: -it.times, ..it });
                Ok(self.addends(from, sort)?.into_iter().chain(less).collect())
            }
            "numberof" | "scalarproduct" => {
                let [count, of] = term.parts()?;
                let times = number(count.element.need("value")?, count.span())?;
                if !(0..=TOKENS_MAX).contains(&times) {
                    return error(count.span(), format!("at most {TOKENS_MAX} tokens at a time"));
                }
                let of = self.addends(of, sort)?.into_iter();
                let of = of.map(|it| Addend { times: it.times.saturating_mul(times), ..it });
                Ok(of.filter(|it| it.times != 0).collect())
            }
            "empty" => Ok(Vec::new()),
            _ => match sort {
                [class] => one(vec![self.part(term, *class)?]),
                _ => is_of(1).and_then(|()| {
                    error(span, format!("tokens by <{}> are not read", term.name()))
                }),
            },
        }
    }
}

/// The most tokens that a number in a net may speak of.
pub(super) const TOKENS_MAX: i64 = 1 << 30;

/// The same tokens, where those of all values of a class that stand one by one at a part of their colours are told at once, as
/// who unfolds `all` writes them.
fn together(bag: Vec<Addend>, at: usize, size: u32) -> Vec<Addend> {
    let without = |it: &Addend| {
        let mut colour = it.colour.clone();
        let value = std::mem::replace(&mut colour[at], Part::All);
        (Addend { colour, ..it.clone() }, value)
    };
    let mut groups: HashMap<(i64, Vec<Part>), HashSet<u32>> = HashMap::new();
    for it in &bag {
        if let (Addend { times, colour, .. }, Part::Constant(value)) = without(it) {
            groups.entry((times, colour)).or_default().insert(value);
        }
    }
    let mut known = HashSet::new();
    let mut joined = Vec::new();
    for it in bag {
        let (whole, value) = without(&it);
        let Part::Constant(value) = value else {
            joined.push(it);
            continue;
        };
        let key = (whole.times, whole.colour.clone());
        // What stands there twice is there once more.
        let is_first = known.insert((key.clone(), value));
        match groups.get(&key).is_some_and(|it| it.len() == size as usize) && is_first {
            false => joined.push(it),
            true if value == 0 => joined.push(whole),
            true => {}
        }
    }
    joined
}
