//! The community module Functions.

use super::elements::{Elements, list};
use super::{Failure, Operands, OperatorHost, Outcome, boolean, folds, functions, operand, sets};
use crate::library::StandardOperator;
use crate::value::{LazyValue, Value, shared};

/// Calls an operator of this module.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        Restrict => restrict(host, at(0), at(1)),
        RestrictDomain => restrict_by(host, at(0), |argument, _| argument.clone()),
        RestrictValues => restrict_by(host, at(0), |_, value| value.clone()),
        IsRestriction => is_restriction(host, at(0), at(1)),
        FunctionRange => range(host, at(0)),
        Pointwise => pointwise(host, at(0), at(1)),
        Inverse => inverse(host, at(0), at(1), at(2)),
        AntiFunction => functions::table(host.closures(), "AntiFunction", at(0)).and_then(|it| {
            let domain = functions::domain(&it)?;
            let range = range(host, &it)?;
            inverse(host, &it, &domain, &range)
        }),
        IsInjective => functions::table(host.closures(), "IsInjective", at(0))
            .map(|it| Value::Bool(is_injective(&it))),
        Injection => select(host, at(0), at(1), |it, _| is_injective(it)),
        Surjection => select(host, at(0), at(1), is_surjective),
        Bijection => {
            select(host, at(0), at(1), |it, range| is_injective(it) && is_surjective(it, range))
        }
        ExistsInjection => compare_sizes(host, at(0), at(1), |one, two| one <= two),
        ExistsSurjection => {
            compare_sizes(host, at(0), at(1), |one, two| one >= two && (two > 0 || one == 0))
        }
        ExistsBijection => compare_sizes(host, at(0), at(1), |one, two| one == two),
        FoldFunction => values_of(host, "FoldFunction", at(2), None)
            .and_then(|it| folds::fold(host, 0, at(1), it)),
        FoldFunctionOnSet => values_of(host, "FoldFunctionOnSet", at(2), Some(at(3)))
            .and_then(|it| folds::fold(host, 0, at(1), it)),
        SumFunctionOnSet => values_of(host, "SumFunctionOnSet", at(0), Some(at(1)))
            .and_then(|it| folds::total(Add, 0, it)),
        SumFunction => {
            values_of(host, "SumFunction", at(0), None).and_then(|it| folds::total(Add, 0, it))
        }
        _ => return None,
    })
}

/// Returns the values of a function at the elements of a set, in the order of the set.
fn values_of(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    function: &Value,
    arguments: Option<&Value>,
) -> Outcome<Vec<Value>> {
    let Some(arguments) = arguments else {
        let table = functions::table(host.closures(), operator, function)?;
        return Ok(functions::values(&table).unwrap_or_default().to_vec());
    };
    let arguments = list(host.closures(), arguments)?;
    arguments.iter().map(|it| functions::apply(host.closures(), function, it)).collect()
}

fn restrict(host: &mut dyn OperatorHost, function: &Value, set: &Value) -> Outcome<Value> {
    let domain = shared(list(host.closures(), set)?);
    let mut values = Vec::with_capacity(domain.slice.len());
    for argument in &domain.slice {
        let value = functions::apply(host.closures(), function, argument)?;
        values.push(sets::component(host.closures(), value)?);
    }
    Ok(Value::function(domain, values))
}

fn restrict_by(
    host: &mut dyn OperatorHost,
    function: &Value,
    tested: fn(&Value, &Value) -> Value,
) -> Outcome<Value> {
    let table = functions::table(host.closures(), "a restriction", function)?;
    let (mut domain, mut kept) = (Vec::new(), Vec::new());
    let values = functions::values(&table).unwrap_or_default();
    for (argument, value) in functions::domain_list(&table).slice.iter().zip(values) {
        if boolean("a restriction", &host.call(1, &[tested(argument, value)])?)? {
            domain.push(argument.clone());
            kept.push(value.clone());
        }
    }
    Ok(Value::function(shared(domain), kept))
}

fn is_restriction(host: &mut dyn OperatorHost, narrow: &Value, wide: &Value) -> Outcome<Value> {
    let narrow = functions::table(host.closures(), "IsRestriction", narrow)?;
    let wide = functions::table(host.closures(), "IsRestriction", wide)?;
    let values = functions::values(&narrow).unwrap_or_default();
    for (argument, value) in functions::domain_list(&narrow).slice.iter().zip(values) {
        match functions::lookup(&wide, argument) {
            Some(other) if sets::equals(host.closures(), value, other)? => {}
            _ => return Ok(Value::Bool(false)),
        }
    }
    Ok(Value::Bool(true))
}

/// Returns the set of values of a function.
///
/// # Errors
///
/// The value is no function with a finite domain, or values are not comparable.
pub fn range(host: &mut dyn OperatorHost, function: &Value) -> Outcome<Value> {
    let table = functions::table(host.closures(), "Range", function)?;
    Ok(Value::set(functions::values(&table).unwrap_or_default().to_vec())?)
}

fn pointwise(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let table = functions::table(host.closures(), "Pointwise", left)?;
    let domain = functions::domain_list(&table);
    let mut values = Vec::with_capacity(domain.slice.len());
    let left = functions::values(&table).unwrap_or_default();
    for (argument, one) in domain.slice.iter().zip(left) {
        let two = functions::apply(host.closures(), right, argument)?;
        let value = host.call(2, &[one.clone(), two])?;
        values.push(sets::component(host.closures(), value)?);
    }
    Ok(Value::function(domain, values))
}

/// Maps each element of `range` to the least argument with this value, or to the least element of `domain` if there is
/// none: the definition chooses by an implication.
fn inverse(
    host: &mut dyn OperatorHost,
    function: &Value,
    domain: &Value,
    range: &Value,
) -> Outcome<Value> {
    let table = functions::table(host.closures(), "Inverse", function)?;
    let arguments = list(host.closures(), domain)?;
    let results = shared(list(host.closures(), range)?);
    let mut values = Vec::with_capacity(results.slice.len());
    for result in &results.slice {
        let is_value = functions::values(&table).unwrap_or_default().contains(result);
        let found =
            arguments.iter().find(|it| !is_value || functions::lookup(&table, it) == Some(result));
        match found {
            Some(argument) => values.push(argument.clone()),
            None => {
                return Err(Failure::new(super::FailureReason::NothingToChoose)
                    .with("set", domain)
                    .with("value", result));
            }
        }
    }
    Ok(Value::function(results, values))
}

fn is_injective(function: &Value) -> bool {
    let mut values: Vec<&Value> = functions::values(function).unwrap_or_default().iter().collect();
    values.sort_unstable();
    values.windows(2).all(|it| it[0] != it[1])
}

fn is_surjective(function: &Value, range: &[Value]) -> bool {
    let values = functions::values(function).unwrap_or_default();
    range.iter().all(|it| values.contains(it))
}

/// Returns the functions from one set to another that satisfy a predicate.
fn select(
    host: &mut dyn OperatorHost,
    domain: &Value,
    range: &Value,
    keeps: impl Fn(&Value, &[Value]) -> bool,
) -> Outcome<Value> {
    let host = host.closures();
    let results = list(host, range)?;
    let domain = sets::component(host, domain.clone())?;
    let all = sets::lazy(LazyValue::Functions(domain, range.clone()));
    sets::check_size(host, &all)?;
    let mut functions = Vec::new();
    let mut elements = Elements::of(host, &all)?;
    while let Some(function) = elements.next(host)? {
        if keeps(&function, &results) {
            functions.push(function);
        }
    }
    Ok(Value::set(functions)?)
}

fn compare_sizes(
    host: &mut dyn OperatorHost,
    left: &Value,
    right: &Value,
    holds: fn(i32, i32) -> bool,
) -> Outcome<Value> {
    let one = sets::cardinality(host.closures(), left)?;
    let two = sets::cardinality(host.closures(), right)?;
    Ok(Value::Bool(holds(one, two)))
}
