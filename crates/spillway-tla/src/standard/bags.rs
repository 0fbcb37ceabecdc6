//! The module Bags: functions to positive integers.

use super::elements::list;
use super::{Failure, FailureReason, Operands, OperatorHost, Outcome, functions, operand, sets};
use crate::library::StandardOperator;
use crate::value::{Value, shared};
use std::collections::BTreeMap;

/// The number of copies of each element.
pub type Copies = BTreeMap<Value, i32>;

/// Calls an operator of this module.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let first = || operand(operands, 0);
    let second = || operand(operands, 1);
    Some(match operator {
        IsABag => is_bag(host, first()),
        BagToSet => functions::table(host.closures(), "BagToSet", first())
            .and_then(|it| functions::domain(&it)),
        SetToBag => set_to_bag(host, first()),
        BagIn => copies(host, "BagIn", second())
            .map(|it| Value::Bool(it.get(first()).is_some_and(|it| *it > 0))),
        EmptyBag => Ok(Value::tuple(Vec::new())),
        BagAddition => combine(host, "\\oplus", first(), second()),
        BagSubtraction => subtract(host, first(), second()),
        BagUnion => union(host, first()),
        BagSubset => is_subbag(host, first(), second()),
        SubBag => subbags(host, first()),
        BagOfAll => image(host, second()),
        BagCardinality => copies(host, "BagCardinality", first())
            .and_then(|it| sum("BagCardinality", it.values().copied()))
            .map(Value::Int),
        CopiesIn => copies(host, "CopiesIn", second())
            .map(|it| Value::Int(it.get(first()).copied().unwrap_or(0))),
        _ => return None,
    })
}

/// Returns the copies of a bag.
///
/// # Errors
///
/// The value is no function to positive integers.
pub fn copies(host: &mut dyn OperatorHost, operator: &'static str, bag: &Value) -> Outcome<Copies> {
    let table = functions::table(host.closures(), operator, bag)?;
    let values = functions::values(&table).unwrap_or_default();
    let mut copies = Copies::new();
    for (element, count) in functions::domain_list(&table).slice.iter().zip(values) {
        match count {
            Value::Int(count) if *count > 0 => copies.insert(element.clone(), *count),
            _ => return Err(Failure::wrong_kind(operator, "a bag", bag)),
        };
    }
    Ok(copies)
}

/// Returns a bag. Elements without copies are left out.
pub fn bag(copies: Copies) -> Value {
    let (domain, values): (Vec<_>, Vec<_>) =
        copies.into_iter().filter(|it| it.1 > 0).map(|it| (it.0, Value::Int(it.1))).unzip();
    Value::function(shared(domain), values)
}

/// Returns a sum of 32 bits.
///
/// # Errors
///
/// It does not fit.
pub fn sum(operator: &'static str, numbers: impl Iterator<Item = i32>) -> Outcome<i32> {
    let mut sum = 0_i32;
    for it in numbers {
        sum = sum
            .checked_add(it)
            .ok_or_else(|| Failure::new(FailureReason::Overflow { operator }))?;
    }
    Ok(sum)
}

fn is_bag(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let value = sets::component(host.closures(), value.clone())?;
    let values = functions::values(&value);
    Ok(Value::Bool(values.is_some_and(|it| it.iter().all(|it| matches!(it, Value::Int(1..))))))
}

fn set_to_bag(host: &mut dyn OperatorHost, set: &Value) -> Outcome<Value> {
    let domain = shared(list(host.closures(), set)?);
    let ones = domain.slice.iter().map(|_| Value::Int(1)).collect();
    Ok(Value::function(domain, ones))
}

fn add(operator: &'static str, all: &mut Copies, more: Copies) -> Outcome<()> {
    for (element, count) in more {
        let copies = all.entry(element).or_default();
        *copies = sum(operator, [*copies, count].into_iter())?;
    }
    Ok(())
}

fn combine(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    left: &Value,
    right: &Value,
) -> Outcome<Value> {
    let mut all = copies(host, operator, left)?;
    let more = copies(host, operator, right)?;
    add(operator, &mut all, more)?;
    Ok(bag(all))
}

fn subtract(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let mut all = copies(host, "\\ominus", left)?;
    for (element, count) in copies(host, "\\ominus", right)? {
        if let Some(copies) = all.get_mut(&element) {
            *copies -= count;
        }
    }
    Ok(bag(all))
}

fn union(host: &mut dyn OperatorHost, set: &Value) -> Outcome<Value> {
    let mut all = Copies::new();
    for it in list(host.closures(), set)? {
        let more = copies(host, "BagUnion", &it)?;
        add("BagUnion", &mut all, more)?;
    }
    Ok(bag(all))
}

fn is_subbag(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let (left, right) = (copies(host, "\\sqsubseteq", left)?, copies(host, "\\sqsubseteq", right)?);
    let has = |(element, count): (&Value, &i32)| right.get(element).is_some_and(|it| it >= count);
    Ok(Value::Bool(left.iter().all(has)))
}

fn subbags(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let whole = copies(host, "SubBag", value)?;
    let mut all = vec![Copies::new()];
    for (element, count) in whole {
        let mut more = Vec::new();
        for copies in &all {
            for count in 1..=count {
                let mut copies = copies.clone();
                copies.insert(element.clone(), count);
                more.push(copies);
            }
        }
        all.extend(more);
    }
    Ok(Value::set(all.into_iter().map(bag).collect())?)
}

fn image(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let mut all = Copies::new();
    for (element, count) in copies(host, "BagOfAll", value)? {
        let result = host.call(0, &[element])?;
        let result = sets::component(host.closures(), result)?;
        add("BagOfAll", &mut all, Copies::from([(result, count)]))?;
    }
    Ok(bag(all))
}
