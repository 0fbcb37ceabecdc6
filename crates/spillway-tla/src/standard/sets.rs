//! Operators on sets.

use super::elements::{Elements, list, structural_size};
use super::{ClosureHost, Failure, FailureReason, Outcome};
use crate::value::{LazyValue, ModelValue, SharedValues, Value, compare, equal, shared, sort_set};
use std::cmp::Ordering;

fn check_sets(operator: &'static str, left: &Value, right: &Value) -> Outcome<()> {
    for it in [left, right] {
        if !is_set(it) {
            return Err(Failure::wrong_kind(operator, "sets", it));
        }
    }
    Ok(())
}

pub use super::elements::{
    check_size, component, contains, contains_literal, contains_sorted, is_infinite, is_set,
    is_small, is_subset, lazy, normalise, stored,
};

/// Returns whether TLC enumerates the set when it meets it in an operation.
fn is_table(set: &Value) -> bool {
    matches!(set, Value::Set(_) | Value::Interval(..))
}

/// Returns `left \cup right`.
///
/// # Errors
///
/// An operand is no set, or elements are not comparable.
pub fn union(host: &mut dyn ClosureHost, left: Value, right: Value) -> Outcome<Value> {
    check_sets("\\cup", &left, &right)?;
    match (&left, &right) {
        (Value::Set(one), Value::Set(two)) => merge(one, two),
        (one, two) if is_table(one) && is_table(two) => {
            let (one, two) = (list(host, one)?, list(host, two)?);
            merge(&shared(one), &shared(two))
        }
        _ => Ok(lazy(LazyValue::Cup(left, right))),
    }
}

/// Merges two sorted sets. Returns the greater one itself if it contains the other.
fn merge(one: &SharedValues, two: &SharedValues) -> Outcome<Value> {
    if two.slice.is_empty() || one.ptr() == two.ptr() {
        return Ok(Value::Set(one.clone()));
    }
    if one.slice.is_empty() {
        return Ok(Value::Set(two.clone()));
    }
    let (mut left, mut right) = (one.slice.iter().peekable(), two.slice.iter().peekable());
    let mut merged = Vec::with_capacity(one.slice.len() + two.slice.len());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let order = compare(first, second)?;
        if order != Ordering::Greater {
            merged.extend(left.next().cloned());
        }
        match order {
            Ordering::Equal => drop(right.next()),
            Ordering::Greater => merged.extend(right.next().cloned()),
            Ordering::Less => {}
        }
    }
    merged.extend(left.cloned());
    merged.extend(right.cloned());
    for whole in [one, two] {
        if whole.slice.len() == merged.len() {
            return Ok(Value::Set(whole.clone()));
        }
    }
    Ok(Value::Set(shared(merged)))
}

/// Returns `left \cap right`.
///
/// # Errors
///
/// An operand is no set, or elements are not comparable.
pub fn intersection(host: &mut dyn ClosureHost, left: Value, right: Value) -> Outcome<Value> {
    check_sets("\\cap", &left, &right)?;
    if is_table(&left) {
        return filter(host, &left, |host, it| contains(host, &right, it));
    }
    if is_table(&right) {
        return filter(host, &right, |host, it| contains(host, &left, it));
    }
    Ok(lazy(LazyValue::Cap(left, right)))
}

/// Returns `left \ right`.
///
/// # Errors
///
/// An operand is no set, or elements are not comparable.
pub fn difference(host: &mut dyn ClosureHost, left: Value, right: Value) -> Outcome<Value> {
    check_sets("\\", &left, &right)?;
    if is_table(&left) {
        return filter(host, &left, |host, it| Ok(!contains(host, &right, it)?));
    }
    Ok(lazy(LazyValue::Difference(left, right)))
}

/// Returns the elements of a set that satisfy a predicate. Returns the set itself if all do.
///
/// # Errors
///
/// The predicate fails, or the set cannot be enumerated.
pub fn filter(
    host: &mut dyn ClosureHost,
    set: &Value,
    mut keeps: impl FnMut(&mut dyn ClosureHost, &Value) -> Outcome<bool>,
) -> Outcome<Value> {
    let mut kept = Vec::new();
    if let Value::Set(elements) = set {
        for element in &elements.slice {
            if keeps(host, element)? {
                kept.push(element.clone());
            }
        }
        if kept.len() == elements.slice.len() {
            return Ok(set.clone());
        }
        return Ok(Value::Set(shared(kept)));
    }
    let mut elements = Elements::of(host, set)?;
    while let Some(element) = elements.next(host)? {
        if keeps(host, &element)? {
            kept.push(element);
        }
    }
    Ok(Value::Set(shared(kept)))
}

/// Returns `UNION outer`.
///
/// # Errors
///
/// The operand is no set of sets, or elements are not comparable.
pub fn big_union(host: &mut dyn ClosureHost, outer: &Value) -> Outcome<Value> {
    if !is_set(outer) {
        return Err(Failure::wrong_kind("UNION", "a set of sets", outer));
    }
    if is_infinite(outer) {
        return Ok(lazy(LazyValue::Union(outer.clone())));
    }
    if let Value::Lazy(it) = outer
        && let LazyValue::Subsets(base) = &**it
    {
        return Ok(base.clone());
    }
    let mut all = Vec::new();
    let mut sets = Elements::of(host, outer)?;
    while let Some(set) = sets.next(host)? {
        match &set {
            Value::Set(elements) => all.extend(elements.slice.iter().cloned()),
            other if is_set(other) => return Ok(lazy(LazyValue::Union(outer.clone()))),
            other => return Err(Failure::wrong_kind("UNION", "a set of sets", other)),
        }
    }
    sort_set(&mut all)?;
    Ok(Value::Set(shared(all)))
}

/// Returns whether two values are equal, as TLC's `=`.
///
/// # Errors
///
/// The values are of different kinds, or an infinite set is compared.
pub fn equals(host: &mut dyn ClosureHost, left: &Value, right: &Value) -> Outcome<bool> {
    if left.is_canonical() && right.is_canonical() {
        return Ok(equal(left, right)?);
    }
    if let (Value::Interval(low, high), Value::Interval(other_low, other_high)) = (left, right) {
        return Ok(
            (low > high && other_low > other_high) || (low == other_low && high == other_high)
        );
    }
    if is_infinite(left) && is_infinite(right) && left == right {
        return Ok(true);
    }
    for (it, other) in [(left, right), (right, left)] {
        if is_set(it) && matches!(other, Value::Model(ModelValue { kind: 0, .. })) {
            return Ok(false);
        }
    }
    let (left, right) = (normalise(host, left.clone())?, normalise(host, right.clone())?);
    Ok(equal(&left, &right)?)
}

/// Returns the number of elements of a set.
///
/// # Errors
///
/// The value is no set, the set is infinite, or the number leaves 32 bits.
pub fn cardinality(host: &mut dyn ClosureHost, set: &Value) -> Outcome<i32> {
    if !is_set(set) {
        return Err(Failure::wrong_kind("Cardinality", "a finite set", set));
    }
    let size = match structural_size(host, set)? {
        Some(size) => size,
        None => {
            let mut elements = Elements::of(host, set)?;
            let mut size = 0;
            while elements.next(host)?.is_some() {
                size += 1;
            }
            size
        }
    };
    let overflow = || Failure::new(FailureReason::Overflow { operator: "Cardinality" });
    i32::try_from(size).map_err(|_| overflow())
}
