//! Functions: application, domain, `:>` and `@@`.

use super::elements::{contains, list, normalise};
use super::{ClosureHost, Failure, FailureReason, Outcome};
use crate::value::{LazyValue, ModelValue, Value, shared, sort_set};

pub use super::tables::{domain_list, has_domain, index_of, lookup, replace, values};

/// Returns `function[argument]`.
///
/// # Errors
///
/// The value is no function, or the argument is not in its domain.
pub fn apply(host: &mut dyn ClosureHost, function: &Value, argument: &Value) -> Outcome<Value> {
    value_at(host, function, argument)?.ok_or_else(|| out_of_domain(function, argument))
}

/// Returns `function[argument]`, or nothing if the argument is not in its domain.
///
/// # Errors
///
/// The value is no function.
pub fn value_at(
    host: &mut dyn ClosureHost,
    function: &Value,
    argument: &Value,
) -> Outcome<Option<Value>> {
    if let Value::Lazy(lazy) = function
        && let LazyValue::Function(domain, _) = &**lazy
    {
        if !contains(host, domain, argument)? {
            return Ok(None);
        }
        return host.apply_closure(lazy, argument).map(Some);
    }
    if values(function).is_none() {
        return Err(Failure::wrong_kind("an application", "a function", function));
    }
    if !argument.is_canonical() {
        let argument = normalise(host, argument.clone())?;
        return value_at(host, function, &argument);
    }
    Ok(lookup(function, argument).cloned())
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
    let (left, right) = (normalise(host, left)?, normalise(host, right)?);
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
    let function = normalise(host, function.clone())?;
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
