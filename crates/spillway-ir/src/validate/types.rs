//! Validation of types (rules 2 to 6), and facts about types for the other checks.

use super::{ProgramValidator, Rule};
use crate::layout::MAX_CELL_BITS;
use crate::{Arithmetic, Domain, Program, ScalarType, Type, TypeId};
use spillway_base::source::Span;
use std::collections::HashMap;

/// Facts about each type, indexed by its id.
#[derive(Default)]
pub(super) struct TypeFacts {
    /// The number of scalars in a value; [`u64::MAX`] if there are too many to count.
    scalars: Vec<u64>,
    /// The number of the shape. Types of equal shape have equal numbers.
    shapes: Vec<usize>,
    /// Whether every scalar, except the marks of multisets, may be undefined.
    undefinable: Vec<bool>,
    /// The shapes with their numbers.
    numbers: HashMap<TypeShape, usize>,
}

/// The shape of a type, which determines its cells: the type without names and index numbering.
#[derive(PartialEq, Eq, Hash)]
enum TypeShape {
    Scalar { low: i64, high: i64, undefined: bool },
    Array { length: u32, element: usize },
    Record { fields: Vec<usize> },
    Multiset { capacity: u32, element: usize },
}

impl TypeFacts {
    pub(super) fn scalars(&self, ty: TypeId) -> u64 {
        self.scalars[ty.0 as usize]
    }

    pub(super) fn have_same_shape(&self, one: TypeId, other: TypeId) -> bool {
        self.shapes[one.0 as usize] == self.shapes[other.0 as usize]
    }

    pub(super) fn may_be_undefined(&self, ty: TypeId) -> bool {
        self.undefinable[ty.0 as usize]
    }

    fn element_of(&self, ty: TypeId) -> (u64, usize, bool) {
        let at = ty.0 as usize;
        (self.scalars[at], self.shapes[at], self.undefinable[at])
    }

    /// Adds the facts of the next type, which is built only from earlier ones.
    fn learn(&mut self, program: &Program, ty: &Type) {
        let (scalars, shape, undefinable) = match ty {
            Type::Scalar(ScalarType { domain, undefined }) => {
                let (low, high) = program.bounds(domain);
                (1, TypeShape::Scalar { low, high, undefined: *undefined }, *undefined)
            }
            Type::Array { length, element, .. } => {
                let (scalars, element, undefinable) = self.element_of(*element);
                let shape = TypeShape::Array { length: *length, element };
                (scalars.saturating_mul(u64::from(*length)), shape, undefinable)
            }
            Type::Multiset { capacity, element } => {
                let (scalars, element, undefinable) = self.element_of(*element);
                let shape = TypeShape::Multiset { capacity: *capacity, element };
                let position = scalars.saturating_add(1);
                (position.saturating_mul(u64::from(*capacity)), shape, undefinable)
            }
            Type::Record { fields, .. } => self.record(fields),
        };
        let next = self.numbers.len();
        self.shapes.push(*self.numbers.entry(shape).or_insert(next));
        self.scalars.push(scalars);
        self.undefinable.push(undefinable);
    }

    fn record(&self, fields: &[(String, TypeId)]) -> (u64, TypeShape, bool) {
        let facts: Vec<_> = fields.iter().map(|(_, ty)| self.element_of(*ty)).collect();
        let scalars = facts.iter().fold(0, |sum: u64, field| sum.saturating_add(field.0));
        let shape = TypeShape::Record { fields: facts.iter().map(|field| field.1).collect() };
        (scalars, shape, facts.iter().all(|field| field.2))
    }
}

/// Types have no position in the source.
const NOWHERE: Span = Span { file: 0, start: 0, end: 0 };

/// The maximal number of codes of a scalar.
const CODES_MAX: i128 = 1 << MAX_CELL_BITS;

impl ProgramValidator<'_> {
    /// Checks every type, and computes the facts of those before the first invalid one.
    pub(super) fn types(&mut self) {
        for (id, ty) in self.program.types.iter() {
            match ty {
                Type::Scalar(scalar) => self.scalar(id, scalar),
                Type::Array { length, element, .. } => {
                    self.element(id, *element);
                    self.has_room(id, *length);
                    self.index(id, ty);
                }
                Type::Multiset { capacity, element } => {
                    self.element(id, *element);
                    self.has_room(id, *capacity);
                }
                Type::Record { fields, .. } => {
                    fields.iter().for_each(|(_, ty)| self.element(id, *ty));
                }
            }
            if self.problems.is_empty() {
                self.types.learn(self.program, ty);
            }
        }
    }

    /// Checks rules 1 and 2.
    fn element(&mut self, id: TypeId, element: TypeId) {
        if self.known_type(element, NOWHERE) {
            self.require(element < id, Rule::TypeOrder, NOWHERE, || {
                format!("{id:?} is built from {element:?}, which does not come before it")
            });
        }
    }

    /// Checks rule 6.
    fn has_room(&mut self, id: TypeId, room: u32) {
        self.require(room > 0, Rule::Aggregates, NOWHERE, || {
            format!("{id:?} has no room for an element")
        });
    }

    /// Checks rule 6.
    fn index(&mut self, id: TypeId, array: &Type) {
        let Type::Array { low, length, by, .. } = array else { return };
        let fits = low.checked_add(i64::from(*length)).is_some();
        self.require(fits, Rule::Aggregates, NOWHERE, || {
            format!("the indices of {id:?} from {low} do not fit 64 bits")
        });
        let Some(by) = by else { return };
        let has_names =
            matches!(by, Domain::Scalarset(_) | Domain::Enum(_) | Domain::Union(_) | Domain::Bool);
        if !has_names {
            let message = format!("{id:?} is indexed by {by:?}, as if that had names");
            return self.problem(Rule::Aggregates, NOWHERE, message);
        }
        if let Some(size) = self.domain(id, by) {
            self.require(
                *low == 0 && i128::from(*length) == size,
                Rule::Aggregates,
                NOWHERE,
                || format!("{id:?} has {length} elements from {low}, its index {size} from 0"),
            );
        }
    }

    fn scalar(&mut self, id: TypeId, scalar: &ScalarType) {
        let Some(size) = self.domain(id, &scalar.domain) else { return };
        let codes = size + i128::from(scalar.undefined);
        self.require(size >= 1 && codes <= CODES_MAX, Rule::DomainSize, NOWHERE, || {
            format!("{id:?} has {codes} values")
        });
        // The numbers of channels and processes are bounded by the cells of the state.
        if !matches!(scalar.domain, Domain::Channel | Domain::Process) {
            let (_, high) = self.program.bounds(&scalar.domain);
            self.integer(high, NOWHERE);
        }
    }

    /// Returns the number of values of a domain, if all its parts are known.
    fn domain(&mut self, id: TypeId, domain: &Domain) -> Option<i128> {
        match domain {
            Domain::Range { low, high } => {
                self.integer(*low, NOWHERE);
                Some(i128::from(*high) - i128::from(*low) + 1)
            }
            Domain::Enum(it) => {
                let known = self.known(*it, self.program.enums.len(), NOWHERE);
                known.then(|| self.program.enums[*it].values.len() as i128)
            }
            Domain::Scalarset(it) => {
                let known = self.known(*it, self.program.scalarsets.len(), NOWHERE);
                known.then(|| i128::from(self.program.scalarsets[*it].size))
            }
            Domain::Union(parts) => self.union(id, parts),
            Domain::Bool | Domain::Channel | Domain::Process => {
                let (low, high) = self.program.bounds(domain);
                Some(i128::from(high - low) + 1)
            }
        }
    }

    /// Checks rule 5.
    fn union(&mut self, id: TypeId, parts: &[Domain]) -> Option<i128> {
        let mut size = 0;
        for part in parts {
            if matches!(part, Domain::Scalarset(_) | Domain::Enum(_)) {
                size += self.domain(id, part)?;
            } else {
                let message = format!("{id:?} is a union with something without names: {part:?}");
                self.problem(Rule::Unions, NOWHERE, message);
                return None;
            }
        }
        Some(size)
    }

    /// Checks rule 4.
    pub(super) fn integer(&mut self, value: i64, span: Span) {
        let fits = match self.program.arithmetic {
            Arithmetic::Checked64 => true,
            Arithmetic::Wrapping32 => i32::try_from(value).is_ok(),
        };
        self.require(fits, Rule::Integers, span, || {
            format!("{value} is not an integer of 32 bits, in which this program computes")
        });
    }

    pub(super) fn is_scalar(&self, ty: TypeId) -> bool {
        matches!(self.program.types[ty], Type::Scalar(_))
    }
}
