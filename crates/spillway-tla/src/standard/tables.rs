//! Canonical functions as tables: values, arguments, replacement.

use crate::value::{SharedValues, Value, shared};
use triomphe::{Arc, ThinArc};

/// Returns the values of a canonical function in the order of its domain, or nothing if the value is no function.
pub fn values(function: &Value) -> Option<&[Value]> {
    match function {
        Value::Tuple(it) => Some(&it.slice),
        Value::Record(it) => Some(&it.slice),
        Value::Function(it) => Some(&it.slice),
        _ => None,
    }
}

/// Returns the index of an argument among the values of a canonical function, or nothing if it is not in the domain.
pub fn index_of(function: &Value, argument: &Value) -> Option<usize> {
    match (function, argument) {
        (Value::Tuple(it), Value::Int(number)) => {
            // Numbers below 1 become great indices.
            let index = (*number as usize).wrapping_sub(1);
            (index < it.slice.len()).then_some(index)
        }
        (Value::Record(it), Value::Str(name)) => {
            it.header.header.slice.iter().position(|it| it == name)
        }
        (Value::Function(it), _) => find(&it.header.header.slice, argument),
        _ => None,
    }
}

/// The size of a domain up to which it is searched from its start.
const LINEAR_MAX: usize = 8;

fn find(domain: &[Value], argument: &Value) -> Option<usize> {
    if let (Value::Int(number), Some(Value::Int(first))) = (argument, domain.first()) {
        let guess = usize::try_from(i64::from(*number) - i64::from(*first)).ok()?;
        if domain.get(guess) == Some(argument) {
            return Some(guess);
        }
    }
    if domain.len() <= LINEAR_MAX {
        return domain.iter().position(|it| it == argument);
    }
    domain.binary_search(argument).ok()
}

/// Returns the value of a canonical function at an argument.
pub fn lookup<'f>(function: &'f Value, argument: &Value) -> Option<&'f Value> {
    Some(&values(function)?[index_of(function, argument)?])
}

/// Returns the domain of a canonical function as a sorted list.
pub fn domain_list(function: &Value) -> SharedValues {
    match function {
        Value::Function(it) => it.header.header.clone(),
        Value::Record(it) => {
            shared(it.header.header.slice.iter().map(|it| Value::Str(*it)).collect())
        }
        Value::Tuple(it) => shared((1..=it.slice.len() as i32).map(Value::Int).collect()),
        _ => shared(Vec::new()),
    }
}

/// Returns whether the domain of a canonical function is `domain`, which is canonical or an interval.
pub fn has_domain(function: &Value, domain: &Value) -> bool {
    match (function, domain) {
        (Value::Tuple(it), Value::Interval(low, high)) => {
            let count = it.slice.len() as i32;
            if count == 0 { low > high } else { *low == 1 && *high == count }
        }
        (Value::Tuple(it), Value::Set(domain)) => {
            let count = it.slice.len();
            count == domain.slice.len()
                && domain
                    .slice
                    .iter()
                    .zip(1..)
                    .all(|(it, number)| matches!(it, Value::Int(it) if *it == number))
        }
        (Value::Record(it), Value::Set(domain)) => {
            let names = &it.header.header.slice;
            names.len() == domain.slice.len()
                && names.iter().zip(&domain.slice).all(|(name, it)| Value::Str(*name) == *it)
        }
        (Value::Function(it), Value::Set(domain)) => {
            crate::value::same_domain(&it.header.header, domain)
        }
        (Value::Function(it), Value::Interval(low, high)) => {
            let domain = &it.header.header.slice;
            domain.len() as i64 == i64::from(*high) - i64::from(*low) + 1
                && domain.first() == Some(&Value::Int(*low))
                && domain.last() == Some(&Value::Int(*high))
        }
        _ => false,
    }
}

/// Replaces the value at an index of a canonical function. Changes the function in place if nothing else uses it.
pub fn replace(function: Value, index: usize, value: Value) -> Value {
    match function {
        Value::Tuple(it) => Value::Tuple(replace_in(it, index, value)),
        Value::Record(it) => Value::Record(replace_in(it, index, value)),
        Value::Function(it) => Value::Function(replace_in(it, index, value)),
        other => other,
    }
}

fn replace_in<H: Clone>(
    mut function: ThinArc<H, Value>,
    index: usize,
    value: Value,
) -> ThinArc<H, Value> {
    let is_unique = function.with_arc_mut(|arc| Arc::get_mut(arc).is_some());
    if is_unique {
        function.with_arc_mut(|arc| {
            if let Some(it) = Arc::get_mut(arc) {
                it.slice_mut()[index] = value;
            }
        });
        return function;
    }
    let values = function.slice.iter().cloned();
    let mut copy = ThinArc::from_header_and_iter(function.header.header.clone(), values);
    copy.with_arc_mut(|arc| {
        if let Some(it) = Arc::get_mut(arc) {
            it.slice_mut()[index] = value;
        }
    });
    copy
}
