//! Domains of functions, and the entries of a function.

use crate::value::{FieldNames, SharedValues, Value, same_domain, same_names};
use smallvec::SmallVec;
use std::borrow::Cow;
use triomphe::ThinArc;

/// The values of a collection that is being decoded. Few of them need no allocation of their own.
pub(in crate::cells) type DecodedValues = SmallVec<[Value; 8]>;

/// A constant domain.
#[derive(Clone, Debug)]
pub(in crate::cells) enum Domain {
    /// `1..n`.
    Positions(usize),
    /// The names of a record.
    Names(FieldNames),
    /// Any other sorted domain.
    Arguments(SharedValues),
}

impl Domain {
    /// Returns the domain of a function.
    pub(in crate::cells) fn of(function: &Value) -> Option<Domain> {
        match function {
            Value::Tuple(it) => Some(Self::Positions(it.slice.len())),
            Value::Record(it) => Some(Self::Names(it.header.header.clone())),
            Value::Function(it) => Some(Self::Arguments(it.header.header.clone())),
            _ => None,
        }
    }

    /// Returns the values of a function with this domain, or nothing for another value.
    #[inline]
    pub(in crate::cells) fn values<'v>(&self, function: &'v Value) -> Option<&'v [Value]> {
        match (self, function) {
            (Self::Positions(size), Value::Tuple(it)) => {
                (it.slice.len() == *size).then_some(&it.slice)
            }
            (Self::Names(names), Value::Record(it)) => {
                same_names(names, &it.header.header).then_some(&it.slice)
            }
            (Self::Arguments(domain), Value::Function(it)) => {
                same_domain(domain, &it.header.header).then_some(&it.slice)
            }
            _ => None,
        }
    }

    /// Returns the index of an argument, or nothing if it is not in the domain.
    pub(in crate::cells) fn index_of(&self, argument: &Value) -> Option<usize> {
        match (self, argument) {
            (Self::Positions(size), Value::Int(number)) => {
                let index = usize::try_from(i64::from(*number) - 1).ok()?;
                (index < *size).then_some(index)
            }
            (Self::Names(names), Value::Str(name)) => names.slice.iter().position(|it| it == name),
            (Self::Arguments(domain), argument) => {
                domain.slice.iter().position(|it| it == argument)
            }
            _ => None,
        }
    }

    /// Returns the size of the domain.
    pub(in crate::cells) fn size(&self) -> usize {
        match self {
            Self::Positions(size) => *size,
            Self::Names(it) => it.slice.len(),
            Self::Arguments(it) => it.slice.len(),
        }
    }

    /// Returns the function with this domain and these values.
    pub(in crate::cells) fn function(&self, values: DecodedValues) -> Value {
        let values = values.into_iter();
        match self {
            Self::Positions(_) => Value::Tuple(ThinArc::from_header_and_iter((), values)),
            Self::Names(names) => {
                Value::Record(ThinArc::from_header_and_iter(names.clone(), values))
            }
            Self::Arguments(domain) => {
                Value::Function(ThinArc::from_header_and_iter(domain.clone(), values))
            }
        }
    }
}

/// The arguments and values of a function of any representation.
#[derive(Clone)]
pub(in crate::cells) struct FunctionEntries<'v> {
    function: &'v Value,
    values: std::iter::Enumerate<std::slice::Iter<'v, Value>>,
}

impl<'v> FunctionEntries<'v> {
    /// Returns nothing if the value is no function.
    pub(in crate::cells) fn of(function: &'v Value) -> Option<Self> {
        let values = match function {
            Value::Tuple(it) => &it.slice,
            Value::Record(it) => &it.slice,
            Value::Function(it) => &it.slice,
            _ => return None,
        };
        Some(Self { function, values: values.iter().enumerate() })
    }
}

impl<'v> Iterator for FunctionEntries<'v> {
    type Item = (Cow<'v, Value>, &'v Value);

    fn next(&mut self) -> Option<Self::Item> {
        let (index, value) = self.values.next()?;
        let argument = match self.function {
            Value::Record(it) => Cow::Owned(Value::Str(it.header.header.slice[index])),
            Value::Function(it) => Cow::Borrowed(&it.header.header.slice[index]),
            _ => Cow::Owned(Value::Int(index as i32 + 1)),
        };
        Some((argument, value))
    }
}
