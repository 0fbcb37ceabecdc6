//! Values of TLA+, their order and their text.
//!
//! # Canonical values
//!
//! Every TLA+ value that a state can hold has exactly one *canonical* representation, so structural equality ([`Eq`],
//! [`Hash`]) of canonical values is TLA+'s equality:
//!
//! | value | representation |
//! | --- | --- |
//! | Boolean | [`Value::Bool`] |
//! | integer of 32 bits | [`Value::Int`] |
//! | string | [`Value::Str`] |
//! | model value | [`Value::Model`] |
//! | finite set | [`Value::Set`]: sorted by [`compare`], without duplicates |
//! | function with domain `1..n` (tuple, sequence), also the empty function | [`Value::Tuple`] |
//! | other function whose domain is a set of strings | [`Value::Record`]: fields sorted by name |
//! | any other function | [`Value::Function`]: domain sorted |
//!
//! The components of a canonical value are canonical. [`Value::Interval`] and [`Value::Lazy`] are not canonical: only
//! evaluation makes and uses them, and it turns them into canonical values before it stores them in a state.
//!
//! # Order
//!
//! [`compare`] is the order of TLC, which determines what `CHOOSE` returns and in which order sets are enumerated. Some
//! values are not comparable; their comparison is an error of evaluation. [`Ord`] is a total order of canonical values
//! that agrees with [`compare`] wherever that is defined.

mod lazy;
mod order;
mod symbol;
mod text;

pub use lazy::{
    CapturedContent, CapturedExpression, CapturedOperator, CapturedSlot, InfiniteSet, LazyValue,
};
pub use order::{
    Incomparable, LiteralValue, compare, compare_with_literal, equal, is_ascending, sort_set,
};
pub use symbol::{Symbol, SymbolTable};
pub use text::{ValueText, quote};

use std::hash::{Hash, Hasher};
use triomphe::{Arc, ThinArc};

/// Values in one allocation, shared: elements of a set, of a tuple, of a domain.
pub type SharedValues = ThinArc<(), Value>;

/// The field names of a record, sorted, in one allocation that records with the same fields share.
pub type FieldNames = ThinArc<(), Symbol>;

/// A TLA+ value. [The page above](self) says which are canonical.
#[derive(Clone, Debug)]
pub enum Value {
    /// `TRUE` or `FALSE`.
    Bool(bool),
    /// An integer.
    Int(i32),
    /// A string.
    Str(Symbol),
    /// A model value.
    Model(ModelValue),
    /// A finite set: its elements in ascending order.
    Set(SharedValues),
    /// A function whose domain is `1..n`: its values.
    Tuple(SharedValues),
    /// A function whose domain is a set of strings: the fields as the header, the values in their order.
    Record(ThinArc<FieldNames, Value>),
    /// A function with another domain: the sorted domain as the header, the values in its order.
    Function(ThinArc<SharedValues, Value>),
    /// The integers from the first to the second, none if the first is greater. Not canonical.
    Interval(i32, i32),
    /// A set that is not enumerated, or a function that is evaluated where it is applied. Not canonical.
    Lazy(Arc<LazyValue>),
}

/// A model value. It equals only itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelValue {
    /// The name.
    pub name: Symbol,
    /// The type: the letter `T` of a name `T_x`, or 0. Values of different types are not comparable.
    pub kind: u8,
}

impl ModelValue {
    /// Creates the model value of this name and text. The text determines the type.
    pub fn new(name: Symbol, text: &str) -> Self {
        let kind = match text.as_bytes() {
            [kind, b'_', _, ..] => *kind,
            _ => 0,
        };
        Self { name, kind }
    }
}

impl Value {
    /// The empty set.
    pub fn empty_set() -> Self {
        Self::Set(shared(Vec::new()))
    }

    /// Creates a tuple of canonical values.
    pub fn tuple(values: Vec<Value>) -> Self {
        Self::Tuple(shared(values))
    }

    /// Creates the set of canonical values in any order, with duplicates or without.
    ///
    /// # Errors
    ///
    /// Two elements are not comparable.
    pub fn set(mut elements: Vec<Value>) -> Result<Self, Box<Incomparable>> {
        sort_set(&mut elements)?;
        Ok(Self::Set(shared(elements)))
    }

    /// Creates a set of elements that are sorted by [`compare`] and distinct.
    pub fn sorted_set(elements: Vec<Value>) -> Self {
        debug_assert!(elements.windows(2).all(|it| it[0] < it[1]));
        Self::Set(shared(elements))
    }

    /// Creates a record. The names are sorted, distinct and at least one.
    pub fn record(names: FieldNames, values: Vec<Value>) -> Self {
        debug_assert!(names.slice.len() == values.len() && !values.is_empty());
        debug_assert!(names.slice.windows(2).all(|it| it[0] < it[1]));
        Self::Record(ThinArc::from_header_and_iter(names, values.into_iter()))
    }

    /// Creates the canonical function of a sorted domain without duplicates and of its values: a tuple or a record if
    /// the domain is that of one.
    pub fn function(domain: SharedValues, values: Vec<Value>) -> Self {
        Self::function_from(domain, values)
    }

    /// As [`Value::function`], with values from any list.
    pub fn function_from<V>(domain: SharedValues, values: V) -> Self
    where
        V: IntoIterator<Item = Value, IntoIter: ExactSizeIterator>,
    {
        let values = values.into_iter();
        debug_assert_eq!(domain.slice.len(), values.len());
        let is_sequence = || {
            let mut numbered = domain.slice.iter().zip(1..);
            numbered.all(|(it, number)| matches!(it, Value::Int(it) if it == &number))
        };
        match domain.slice.first() {
            None => Self::Tuple(shared_from(values)),
            Some(Value::Int(1)) if is_sequence() => Self::Tuple(shared_from(values)),
            Some(Value::Str(_)) => match field_names(&domain.slice) {
                Some(names) => Self::Record(ThinArc::from_header_and_iter(names, values)),
                None => Self::Function(ThinArc::from_header_and_iter(domain, values)),
            },
            Some(_) => Self::Function(ThinArc::from_header_and_iter(domain, values)),
        }
    }

    /// Returns whether two values are known to be equal without a comparison of their components.
    pub fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(one), Self::Set(two)) | (Self::Tuple(one), Self::Tuple(two)) => {
                one.ptr() == two.ptr()
            }
            (Self::Record(one), Self::Record(two)) => one.ptr() == two.ptr(),
            (Self::Function(one), Self::Function(two)) => one.ptr() == two.ptr(),
            (Self::Lazy(_), _) => false,
            (one, two) => one == two,
        }
    }

    /// Returns whether the value is canonical. Components of canonical values are.
    pub fn is_canonical(&self) -> bool {
        !matches!(self, Self::Interval(..) | Self::Lazy(_))
    }
}

/// Returns values in one shared allocation.
pub fn shared(values: Vec<Value>) -> SharedValues {
    shared_from(values)
}

/// As [`shared`], with values from any list.
pub fn shared_from<V>(values: V) -> SharedValues
where
    V: IntoIterator<Item = Value, IntoIter: ExactSizeIterator>,
{
    ThinArc::from_header_and_iter((), values.into_iter())
}

/// Returns names in one shared allocation.
pub fn shared_names(names: Vec<Symbol>) -> FieldNames {
    ThinArc::from_header_and_iter((), names.into_iter())
}

/// Returns the names if every element is a string.
fn field_names(domain: &[Value]) -> Option<FieldNames> {
    let name = |it: &Value| match it {
        Value::Str(it) => Some(*it),
        _ => None,
    };
    Some(shared_names(domain.iter().map(name).collect::<Option<_>>()?))
}

impl PartialEq for Value {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Int(one), Self::Int(two)) => one == two,
            (Self::Str(one), Self::Str(two)) => one == two,
            (Self::Model(one), Self::Model(two)) => one == two,
            (one, two) => one.has_equal_structure(two),
        }
    }
}

impl Eq for Value {}

impl Value {
    /// Returns whether two values are equal that are not both scalars of one kind.
    fn has_equal_structure(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set(one), Self::Set(two)) | (Self::Tuple(one), Self::Tuple(two)) => {
                one.ptr() == two.ptr() || one.slice == two.slice
            }
            (Self::Record(one), Self::Record(two)) => {
                one.ptr() == two.ptr()
                    || same_names(&one.header.header, &two.header.header) && one.slice == two.slice
            }
            (Self::Function(one), Self::Function(two)) => {
                one.ptr() == two.ptr()
                    || same_domain(&one.header.header, &two.header.header) && one.slice == two.slice
            }
            (Self::Interval(low, high), Self::Interval(other_low, other_high)) => {
                (low, high) == (other_low, other_high)
            }
            (Self::Lazy(one), Self::Lazy(two)) => one == two,
            _ => false,
        }
    }
}

/// Returns whether two records have the same fields.
pub(crate) fn same_names(one: &FieldNames, two: &FieldNames) -> bool {
    one.ptr() == two.ptr() || one.slice == two.slice
}

/// Returns whether two functions have the same domain.
pub(crate) fn same_domain(one: &SharedValues, two: &SharedValues) -> bool {
    one.ptr() == two.ptr() || one.slice == two.slice
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Bool(it) => it.hash(state),
            Self::Int(it) => it.hash(state),
            Self::Str(it) => it.hash(state),
            Self::Model(it) => it.name.hash(state),
            Self::Set(it) | Self::Tuple(it) => it.slice.hash(state),
            Self::Record(it) => {
                it.header.header.slice.hash(state);
                it.slice.hash(state);
            }
            Self::Function(it) => {
                it.header.header.slice.hash(state);
                it.slice.hash(state);
            }
            Self::Interval(low, high) => (low, high).hash(state),
            Self::Lazy(it) => it.hash(state),
        }
    }
}

#[cfg(test)]
mod tests;
