//! Colours: classes of values, and terms about them.
//!
//! A class is a finite list of values, numbered from 0. A tuple of values is a colour of a product of classes. A place
//! without colours has the empty tuple as its only colour.

use super::parse::PnmlTerm;
use super::xml::{PnmlResult, number};
use spillway_base::diag::Diagnostic;
use spillway_base::numbers::count as counted;
use spillway_base::source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A partition of a class: another class, whose values are sets of values of the divided class.
pub(super) struct ClassPartition {
    /// The class of its elements.
    pub(super) class: ClassId,
    /// The divided class.
    pub(super) base: ClassId,
    /// For each value of the divided class, the position of the element that contains it.
    pub(super) element_of: Vec<u32>,
}

/// A class: a list of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColourClass {
    pub(super) name: String,
    pub(super) values: ClassValues,
}

/// The values of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClassValues {
    /// Names, in order.
    Names(Vec<String>),
    /// The integers from the first to the last.
    Range(i64, i64),
}

impl ColourClass {
    /// Returns the number of values.
    pub(super) fn size(&self) -> u32 {
        match &self.values {
            ClassValues::Names(names) => names.len() as u32,
            ClassValues::Range(low, high) => (high - low + 1) as u32,
        }
    }
}

/// The number of a class.
pub(super) type ClassId = usize;

/// A variable of transitions.
pub(super) struct ColourVariable {
    pub(super) name: String,
    pub(super) class: ClassId,
}

/// All declarations.
#[derive(Default)]
pub(super) struct ColourDeclarations {
    pub(super) classes: Vec<ColourClass>,
    pub(super) variables: Vec<ColourVariable>,
    pub(super) partitions: Vec<ClassPartition>,
    /// The classes of each sort's product, by the name of the sort.
    pub(super) sorts: HashMap<String, Vec<ClassId>>,
    /// The class of a named value, and its position.
    pub(super) constants: HashMap<String, (ClassId, u32)>,
    /// The variables of a name: one for each class of its sort.
    pub(super) variables_by_name: HashMap<String, Range<usize>>,
}

/// A component of a colour, given the values of a transition's variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ColourComponent {
    /// The value of a variable, or the value this many positions after it, modulo the size of the class.
    Variable(usize, u32),
    /// The element, of the partition of this number, that contains such a value.
    Element(usize, u32, usize),
    /// The value at a position.
    Constant(u32),
    /// Each value of the class.
    All,
}

impl ColourComponent {
    /// Returns the variable on which the component depends.
    pub(super) fn variable(&self) -> Option<usize> {
        match self {
            ColourComponent::Variable(variable, _) | ColourComponent::Element(variable, ..) => {
                Some(*variable)
            }
            ColourComponent::Constant(_) | ColourComponent::All => None,
        }
    }
}

/// An addend of a bag: a number of tokens of a colour, or of each of several colours. A negative number subtracts from
/// the other addends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BagAddend {
    pub(super) times: i64,
    pub(super) colour: Vec<ColourComponent>,
    pub(super) span: Span,
}

/// The maximum of a number of tokens in a net.
pub(super) const TOKENS_MAX: i64 = 1 << 30;

/// The maximum number of addends of one term.
const ADDENDS_MAX: usize = 1 << 20;

fn error<T>(span: Span, message: impl Into<String>) -> PnmlResult<T> {
    Err(Diagnostic::error(span, message))
}

impl ColourDeclarations {
    /// Returns the class of a term, if the term determines it.
    pub(super) fn class_of(&self, term: &PnmlTerm) -> Option<ClassId> {
        let get = |attribute| term.element.get(attribute);
        match term.name() {
            "variable" => {
                let numbers = self.variables_by_name.get(get("refvariable")?)?;
                self.variables.get(numbers.clone()).and_then(|it| it.first()).map(|it| it.class)
            }
            "useroperator" => self.constants.get(get("declaration")?).map(|it| it.0),
            "successor" | "predecessor" => self.class_of(term.terms.first()?),
            "partitionelementof" => {
                self.sorts.get(get("refpartition")?).and_then(|it| it.first().copied())
            }
            _ => None,
        }
    }

    /// Returns the first class that has a number as a value, by the range in the term.
    pub(super) fn class_of_number(&self, term: &PnmlTerm) -> Option<ClassId> {
        let inner = term.terms.first()?;
        if term.name() != "finiteintrangeconstant" {
            return self.class_of_number(inner);
        }
        let bound = |name| inner.element.number(name).ok();
        let values = ClassValues::Range(bound("start")?, bound("end")?);
        self.classes.iter().position(|it| it.values == values)
    }

    /// Returns the partition of a class whose elements form another class.
    pub(super) fn partition(&self, base: ClassId, class: ClassId) -> Option<usize> {
        self.partitions.iter().position(|it| it.base == base && it.class == class)
    }

    /// Returns the position of the value of a component, given values of variables; `None` for all values, and for an
    /// unknown value.
    pub(super) fn value(&self, part: ColourComponent, values: &[(usize, u32)]) -> Option<u32> {
        let of = |variable: usize, shift: u32| {
            let (_, value) = values.iter().find(|it| it.0 == variable)?;
            let size = self.classes[self.variables[variable].class].size();
            Some((value + shift) % size)
        };
        match part {
            ColourComponent::Variable(variable, shift) => of(variable, shift),
            ColourComponent::Element(variable, shift, partition) => {
                let value = of(variable, shift)?;
                Some(self.partitions[partition].element_of[value as usize])
            }
            ColourComponent::Constant(position) => Some(position),
            ColourComponent::All => None,
        }
    }

    /// Returns the variables of a term, or `None` if it is not a variable.
    pub(super) fn variables_in(&self, term: &PnmlTerm) -> Option<Range<usize>> {
        let name = term.element.get("refvariable").filter(|_| term.name() == "variable")?;
        self.variables_by_name.get(name).cloned()
    }

    /// Returns the element of a partition that contains a value.
    pub(super) fn in_partition(&self, value: ColourComponent, partition: usize) -> ColourComponent {
        match value {
            ColourComponent::Variable(number, shift) => {
                ColourComponent::Element(number, shift, partition)
            }
            ColourComponent::Constant(at) => {
                ColourComponent::Constant(self.partitions[partition].element_of[at as usize])
            }
            ColourComponent::Element(..) | ColourComponent::All => ColourComponent::All,
        }
    }

    /// Returns the position of the value of a term without variables.
    pub(super) fn constant(&self, term: &PnmlTerm, class: ClassId) -> PnmlResult<u32> {
        match self.part(term, class)? {
            ColourComponent::Constant(position) => Ok(position),
            _ => error(term.span(), "one value is named here"),
        }
    }

    /// Returns the number of components of a colour that a term describes.
    fn width(&self, term: &PnmlTerm) -> usize {
        match term.name() {
            "dotconstant" => 0,
            "variable" => {
                let name = term.element.get("refvariable").unwrap_or_default();
                self.variables_by_name.get(name).map_or(1, |it| it.len())
            }
            "useroperator" => usize::from(!self.is_dot(term)),
            "all" => {
                let sort = term.terms.first().and_then(|it| it.element.get("declaration"));
                sort.and_then(|it| self.sorts.get(it)).map_or(1, Vec::len)
            }
            "tuple" => term.terms.iter().map(|it| self.width(it)).sum(),
            "add" => term.terms.first().map_or(1, |it| self.width(it)),
            _ => 1,
        }
    }

    /// Returns whether a term is the only value of the sort without colours. Some tools use it as a value of a class.
    fn is_dot(&self, term: &PnmlTerm) -> bool {
        let name = term.element.get("declaration").unwrap_or_default();
        let is_sort = self.sorts.get(name).is_some_and(Vec::is_empty);
        !self.constants.contains_key(name) && (name == "dot" || is_sort)
    }

    /// Returns the variables of this name.
    pub(super) fn variables_of(&self, term: &PnmlTerm) -> PnmlResult<Range<usize>> {
        let name = term.element.need("refvariable")?;
        let numbers = self.variables_by_name.get(name).cloned();
        let unknown = || format!("the variable `{name}` is not declared");
        numbers.ok_or_else(|| Diagnostic::error(term.span(), unknown()))
    }

    /// Returns the component that a term describes for a class.
    pub(super) fn part(&self, term: &PnmlTerm, class: ClassId) -> PnmlResult<ColourComponent> {
        let span = term.span();
        if self.class_of(term).is_some_and(|it| it != class) {
            let name = &self.classes[class].name;
            let message = format!("here stands a value of `{name}`, and this is of another class");
            return error(span, message);
        }
        match term.name() {
            "variable" => {
                let numbers = self.variables_of(term)?;
                match numbers.len() {
                    1 => Ok(ColourComponent::Variable(numbers.start, 0)),
                    _ => error(span, "this variable is no value of one class"),
                }
            }
            "useroperator" => {
                let name = term.element.need("declaration")?;
                let unknown =
                    || Diagnostic::error(span, format!("the value `{name}` is not declared"));
                self.constants
                    .get(name)
                    .map(|it| ColourComponent::Constant(it.1))
                    .ok_or_else(unknown)
            }
            "finiteintrangeconstant" => {
                let value = term.element.number("value")?;
                match self.classes[class].values {
                    ClassValues::Range(low, high) if (low..=high).contains(&value) => {
                        Ok(ColourComponent::Constant((value - low) as u32))
                    }
                    _ => {
                        error(span, format!("`{}` has no value {value}", self.classes[class].name))
                    }
                }
            }
            "successor" | "predecessor" => self.neighbour_value(term, class),
            "partitionelementof" => self.element_of(term, class),
            "all" => Ok(ColourComponent::All),
            "dotconstant" => error(span, "a token without colour is no part of a colour"),
            other => error(span, format!("values by <{other}> are not read")),
        }
    }

    /// Returns the successor or predecessor of a value, modulo the size of the class.
    fn neighbour_value(&self, term: &PnmlTerm, class: ClassId) -> PnmlResult<ColourComponent> {
        let ([inner], size) = (term.parts()?, self.classes[class].size());
        let by = if term.name() == "successor" { 1 } else { size - 1 };
        match self.part(inner, class)? {
            ColourComponent::Variable(number, shift) => {
                Ok(ColourComponent::Variable(number, (shift + by) % size))
            }
            ColourComponent::Constant(position) => {
                Ok(ColourComponent::Constant((position + by) % size))
            }
            ColourComponent::Element(..) => {
                error(term.span(), "elements of partitions have no neighbours")
            }
            ColourComponent::All => error(term.span(), "this is not of one value"),
        }
    }

    /// Returns the element of a partition that contains a value.
    fn element_of(&self, term: &PnmlTerm, class: ClassId) -> PnmlResult<ColourComponent> {
        let [inner] = term.parts()?;
        let name = term.element.need("refpartition")?;
        let partition = self.partitions.iter().position(|it| it.class == class);
        let Some(partition) = partition else {
            return error(term.span(), format!("the partition `{name}` is not declared"));
        };
        let value = self.part(inner, self.partitions[partition].base)?;
        match self.in_partition(value, partition) {
            ColourComponent::All => error(term.span(), "this is not of one value"),
            part => Ok(part),
        }
    }

    /// Returns the bag of a term, for a place with colours of these classes.
    pub(super) fn bag(&self, term: &PnmlTerm, sort: &[ClassId]) -> PnmlResult<Vec<BagAddend>> {
        let mut bag = self.addends(term, sort)?;
        for (at, class) in sort.iter().enumerate() {
            bag = merge_full_classes(bag, at, self.classes[*class].size());
        }
        Ok(bag)
    }

    fn addends(&self, term: &PnmlTerm, sort: &[ClassId]) -> PnmlResult<Vec<BagAddend>> {
        let span = term.span();
        let one = |colour| Ok(vec![BagAddend { times: 1, colour, span }]);
        match term.name() {
            "add" => self.sum(&term.terms, sort),
            "subtract" => {
                let Some((from, less)) = term.terms.split_first() else {
                    return error(span, "<subtract> has something to subtract from");
                };
                let mut all = self.addends(from, sort)?;
                let less = self.sum(less, sort)?.into_iter();
                all.extend(less.map(|it| BagAddend { times: -it.times, ..it }));
                Ok(all)
            }
            "numberof" | "scalarproduct" => self.multiply_bag(term, sort),
            "empty" => Ok(Vec::new()),
            "all" => one(vec![ColourComponent::All; sort.len()]),
            _ if self.width(term) != sort.len() => error(
                span,
                format!("a colour of the place has {}", counted(sort.len() as u64, "part")),
            ),
            "tuple" => self.product(&term.terms, sort, span),
            "dotconstant" => one(Vec::new()),
            "useroperator" if sort.is_empty() => one(Vec::new()),
            "useroperator" if self.class_of(term).is_some_and(|it| it != sort[0]) => {
                self.values_of_element(term, sort[0])
            }
            "variable" => {
                let numbers = self.variables_of(term)?;
                let is_of = |number: usize, class: &ClassId| self.variables[number].class == *class;
                match numbers.clone().zip(sort).all(|(number, class)| is_of(number, class)) {
                    true => one(numbers.map(|it| ColourComponent::Variable(it, 0)).collect()),
                    // This yields the error, whose message names the class.
                    false => self.part(term, sort[0]).and_then(|it| one(vec![it])),
                }
            }
            _ => one(vec![self.part(term, sort[0])?]),
        }
    }

    fn sum(&self, terms: &[PnmlTerm], sort: &[ClassId]) -> PnmlResult<Vec<BagAddend>> {
        let each = terms.iter().map(|it| self.addends(it, sort));
        each.collect::<PnmlResult<Vec<_>>>().map(|it| it.concat())
    }

    /// Returns all values of a class that an element of a partition contains.
    fn values_of_element(&self, term: &PnmlTerm, class: ClassId) -> PnmlResult<Vec<BagAddend>> {
        let Some((element, partition)) = self.element(term, class) else {
            return self.part(term, class).map(|_| Vec::new());
        };
        let held = partition.element_of.iter().zip(0..).filter(|(it, _)| **it == element);
        let colour = |value| vec![ColourComponent::Constant(value)];
        let addend = |(_, value)| BagAddend { times: 1, colour: colour(value), span: term.span() };
        Ok(held.map(addend).collect())
    }

    /// Returns the element of a class's partition that a term names.
    pub(super) fn element(
        &self,
        term: &PnmlTerm,
        class: ClassId,
    ) -> Option<(u32, &ClassPartition)> {
        let (of, element) = self.constants.get(term.element.get("declaration")?)?;
        Some((*element, &self.partitions[self.partition(class, *of)?]))
    }

    /// Returns a bag multiplied by a number; the default is 1.
    fn multiply_bag(&self, term: &PnmlTerm, sort: &[ClassId]) -> PnmlResult<Vec<BagAddend>> {
        let has_number = |it: &PnmlTerm| it.name() == "numberconstant";
        let (times, terms) = match term.terms.split_first() {
            Some((count, terms)) if has_number(count) => {
                (number(count.element.need("value")?, count.span())?, terms)
            }
            _ => (1, &term.terms[..]),
        };
        let Some(first) = terms.first() else {
            return error(term.span(), format!("<{}> names no tokens", term.name()));
        };
        if !(0..=TOKENS_MAX).contains(&times) {
            let span = term.terms[0].span();
            return error(span, format!("at most {TOKENS_MAX} tokens at a time"));
        }
        // Several terms are the components of one colour, unless each is a colour of the place.
        let of = match terms.len() > 1 && self.width(first) != sort.len() {
            true => self.product(terms, sort, term.span())?,
            false => self.sum(terms, sort)?,
        };
        let of = of.into_iter();
        let of = of.map(|it| BagAddend { times: it.times.saturating_mul(times), ..it });
        Ok(of.filter(|it| it.times != 0).collect())
    }

    /// Returns the product of the terms' components: each addend of one term with each of the others.
    fn product(
        &self,
        terms: &[PnmlTerm],
        sort: &[ClassId],
        span: Span,
    ) -> PnmlResult<Vec<BagAddend>> {
        let (mut all, mut rest) = (vec![BagAddend { times: 1, colour: Vec::new(), span }], sort);
        for term in terms {
            let Some((own, behind)) = rest.split_at_checked(self.width(term)) else { break };
            rest = behind;
            let parts = self.addends(term, own)?;
            if all.len().saturating_mul(parts.len()) > ADDENDS_MAX {
                return error(span, format!("these are more than {ADDENDS_MAX} colours"));
            }
            let with = |it: &BagAddend| {
                let each = parts.iter().map(|part| BagAddend {
                    times: it.times.saturating_mul(part.times),
                    colour: [&it.colour[..], &part.colour].concat(),
                    span,
                });
                each.collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        let found = sort.len() - rest.len();
        match rest.is_empty() && terms.iter().map(|it| self.width(it)).sum::<usize>() == found {
            true => Ok(all),
            false => error(
                span,
                format!("a colour of the place has {}", counted(sort.len() as u64, "part")),
            ),
        }
    }
}

/// Merges addends for all values of a class at one component into one addend for `all`. Tools that unfold `all` write
/// the values one by one.
fn merge_full_classes(bag: Vec<BagAddend>, at: usize, size: u32) -> Vec<BagAddend> {
    let without = |it: &BagAddend| {
        let mut colour = it.colour.clone();
        let value = std::mem::replace(&mut colour[at], ColourComponent::All);
        (BagAddend { colour, ..it.clone() }, value)
    };
    let mut groups: HashMap<(i64, Vec<ColourComponent>), HashSet<u32>> = HashMap::new();
    for it in &bag {
        if let (BagAddend { times, colour, .. }, ColourComponent::Constant(value)) = without(it) {
            groups.entry((times, colour)).or_default().insert(value);
        }
    }
    let mut known = HashSet::new();
    let mut joined = Vec::new();
    for it in bag {
        let (whole, value) = without(&it);
        let ColourComponent::Constant(value) = value else {
            joined.push(it);
            continue;
        };
        let key = (whole.times, whole.colour.clone());
        // A second addend for the same value remains separate.
        let is_first = known.insert((key.clone(), value));
        match groups.get(&key).is_some_and(|it| it.len() == size as usize) && is_first {
            false => joined.push(it),
            true if value == 0 => joined.push(whole),
            true => {}
        }
    }
    joined
}
