//! Functions: application, domain, replacement, `:>` and `@@`.

use super::elements::list;
use super::{ClosureHost, Failure, FailureReason, Outcome, sets};
use crate::value::{LazyValue, ModelValue, SharedValues, Value, shared, sort_set};
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
            let index = usize::try_from(i64::from(*number) - 1).ok()?;
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

/// Returns `function[argument]`.
///
/// # Errors
///
/// The value is no function, or the argument is not in its domain.
pub fn apply(host: &mut dyn ClosureHost, function: &Value, argument: &Value) -> Outcome<Value> {
    if let Value::Lazy(lazy) = function
        && let LazyValue::Function(domain, _) = &**lazy
    {
        if !sets::contains(host, domain, argument)? {
            return Err(out_of_domain(function, argument));
        }
        return host.apply_closure(lazy, argument);
    }
    if values(function).is_none() {
        return Err(Failure::wrong_kind("an application", "a function", function));
    }
    if !argument.is_canonical() {
        let argument = sets::normalise(host, argument.clone())?;
        return apply(host, function, &argument);
    }
    lookup(function, argument).cloned().ok_or_else(|| out_of_domain(function, argument))
}

/// Returns the failure of an application outside the domain.
#[cold]
pub fn out_of_domain(function: &Value, argument: &Value) -> Box<Failure> {
    let failure = Failure::new(FailureReason::OutOfDomain);
    failure.with("argument", argument).with("function", function)
}

/// Returns `DOMAIN function`.
///
/// # Errors
///
/// The value is no function.
pub fn domain(function: &Value) -> Outcome<Value> {
    match function {
        Value::Tuple(it) => Ok(Value::Interval(1, it.slice.len() as i32)),
        Value::Record(it) => {
            let names = it.header.header.slice.iter().map(|it| Value::Str(*it)).collect();
            Ok(Value::sorted_set(names))
        }
        Value::Function(it) => Ok(Value::Set(it.header.header.clone())),
        Value::Lazy(lazy) => match &**lazy {
            LazyValue::Function(domain, _) => Ok(domain.clone()),
            _ => Err(Failure::wrong_kind("DOMAIN", "a function", function)),
        },
        other => Err(Failure::wrong_kind("DOMAIN", "a function", other)),
    }
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
    let mut value = Some(value);
    let values = function.slice.iter().enumerate().map(|(at, it)| match value.take() {
        Some(new) if at == index => new,
        unused => {
            value = unused;
            it.clone()
        }
    });
    ThinArc::from_header_and_iter(function.header.header.clone(), values)
}

/// Returns `argument :> value`.
pub fn pair(argument: Value, value: Value) -> Value {
    Value::function(shared(vec![argument]), vec![value])
}

/// Returns `left @@ right`: the union of both functions, where `left` has priority.
///
/// # Errors
///
/// An operand is no function, or the domains have incomparable elements.
pub fn overlay(host: &mut dyn ClosureHost, left: Value, right: Value) -> Outcome<Value> {
    let (left, right) = (sets::normalise(host, left)?, sets::normalise(host, right)?);
    for it in [&left, &right] {
        if values(it).is_none() {
            return Err(Failure::wrong_kind("@@", "functions", it));
        }
    }
    let mut domain = domain_list(&left).slice.to_vec();
    domain.extend(domain_list(&right).slice.iter().cloned());
    sort_set(&mut domain)?;
    let value = |it: &Value| lookup(&left, it).or_else(|| lookup(&right, it)).cloned();
    let values = domain.iter().filter_map(value).collect();
    Ok(Value::function(shared(domain), values))
}

/// Returns a finite function in canonical form.
///
/// # Errors
///
/// The value is no function, or its domain is infinite.
pub fn table(
    host: &mut dyn ClosureHost,
    operator: &'static str,
    function: &Value,
) -> Outcome<Value> {
    let function = sets::normalise(host, function.clone())?;
    match values(&function) {
        Some(_) => Ok(function),
        None => Err(Failure::wrong_kind(operator, "a function", &function)),
    }
}

/// Returns whether the value is a model value, which no function equals.
pub fn is_untyped_model(value: &Value) -> bool {
    matches!(value, Value::Model(ModelValue { kind: 0, .. }))
}

/// Returns the set of all bijections of a finite set to itself.
///
/// # Errors
///
/// The value is no finite set.
pub fn permutations(host: &mut dyn ClosureHost, set: &Value) -> Outcome<Value> {
    let domain = shared(list(host, set)?);
    let mut order: Vec<usize> = (0..domain.slice.len()).collect();
    let mut functions = Vec::new();
    loop {
        let values = order.iter().map(|it| domain.slice[*it].clone()).collect();
        functions.push(Value::function(domain.clone(), values));
        if !advance(&mut order) {
            break;
        }
    }
    Ok(Value::set(functions)?)
}

/// Turns a permutation into the lexicographically next one. Returns whether there is one.
pub fn advance(order: &mut [usize]) -> bool {
    let Some(at) = order.windows(2).rposition(|it| it[0] < it[1]) else { return false };
    let Some(other) = order.iter().rposition(|it| *it > order[at]) else { return false };
    order.swap(at, other);
    order[at + 1..].reverse();
    true
}
