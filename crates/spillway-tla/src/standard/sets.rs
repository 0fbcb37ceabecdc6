//! Operators on sets. Membership in a lazy set is tested without enumerating it, as TLC does.

use super::elements::{Elements, list};
use super::{ClosureHost, Failure, FailureReason, Outcome, functions};
use crate::value::{
    InfiniteSet, LazyValue, ModelValue, SharedValues, Value, compare, equal, shared, sort_set,
};
use std::cmp::Ordering;
use triomphe::Arc;

/// The greatest number of elements that an enumerated set may have.
const ELEMENTS_MAX: u128 = 1 << 27;

/// Creates a lazy value.
pub fn lazy(value: LazyValue) -> Value {
    Value::Lazy(Arc::new(value))
}

/// Returns whether the kind of the value is a set.
pub fn is_set(value: &Value) -> bool {
    match value {
        Value::Set(_) | Value::Interval(..) => true,
        Value::Lazy(it) => !matches!(**it, LazyValue::Function(..)),
        _ => false,
    }
}

/// Returns whether a set is known to be infinite.
pub fn is_infinite(set: &Value) -> bool {
    let Value::Lazy(lazy) = set else { return false };
    match &**lazy {
        LazyValue::Infinite(_) | LazyValue::Sequences(_) => true,
        LazyValue::Subsets(it) | LazyValue::Union(it) | LazyValue::Filter(it, _) => is_infinite(it),
        LazyValue::Functions(domain, range) => is_infinite(domain) || is_infinite(range),
        LazyValue::Records(fields) => fields.iter().any(|it| is_infinite(&it.1)),
        LazyValue::Product(sets) => sets.iter().any(is_infinite),
        LazyValue::Cup(one, two) => is_infinite(one) || is_infinite(two),
        LazyValue::Cap(one, two) => is_infinite(one) && is_infinite(two),
        LazyValue::Difference(one, _) => is_infinite(one),
        LazyValue::Function(..) => false,
    }
}

/// Returns the canonical form of a value: enumerates a lazy set, and makes a table of a lazy function.
///
/// # Errors
///
/// The set is infinite or too large.
pub fn normalise(host: &mut dyn ClosureHost, value: Value) -> Outcome<Value> {
    match &value {
        Value::Interval(..) => Ok(Value::Set(shared(list(host, &value)?))),
        Value::Lazy(lazy) => match &**lazy {
            LazyValue::Function(domain, _) => {
                let domain = shared(list(host, domain)?);
                let mut values = Vec::with_capacity(domain.slice.len());
                for argument in &domain.slice {
                    let result = host.apply_closure(lazy, argument)?;
                    values.push(normalise(host, result)?);
                }
                Ok(Value::function(domain, values))
            }
            _ => {
                let elements = list(host, &value)?;
                debug_assert!(super::elements::is_ascending(&elements));
                Ok(Value::Set(shared(elements)))
            }
        },
        _ => Ok(value),
    }
}

/// Returns a value that can be an element or a component: canonical, or a set that cannot be enumerated.
///
/// # Errors
///
/// The set is too large.
pub fn component(host: &mut dyn ClosureHost, value: Value) -> Outcome<Value> {
    if value.is_canonical() || is_infinite(&value) { Ok(value) } else { normalise(host, value) }
}

/// Returns whether `element` is in `set`.
///
/// # Errors
///
/// The right operand is no set, or the element is not comparable with its elements.
pub fn contains(host: &mut dyn ClosureHost, set: &Value, element: &Value) -> Outcome<bool> {
    match set {
        Value::Set(elements) if element.is_canonical() => contains_sorted(&elements.slice, element),
        Value::Set(elements) => {
            if elements.slice.is_empty() || is_infinite(element) {
                return Ok(elements.slice.contains(element));
            }
            let element = normalise(host, element.clone())?;
            contains_sorted(&elements.slice, &element)
        }
        Value::Interval(low, high) => match element {
            Value::Int(it) => Ok(low <= it && it <= high),
            Value::Model(ModelValue { kind: 0, .. }) => Ok(false),
            _ if low > high => Ok(false),
            other => Err(Failure::wrong_kind("\\in an interval", "an integer", other)),
        },
        Value::Lazy(lazy) => contains_lazy(host, lazy, element),
        other => Err(Failure::wrong_kind("\\in", "a set on the right", other)),
    }
}

/// Returns whether an element is among sorted elements.
///
/// # Errors
///
/// The element is not comparable with those.
pub fn contains_sorted(elements: &[Value], element: &Value) -> Outcome<bool> {
    let (mut low, mut high) = (0, elements.len());
    while low < high {
        let middle = (low + high) / 2;
        match compare(&elements[middle], element)? {
            Ordering::Equal => return Ok(true),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    Ok(false)
}

fn contains_lazy(
    host: &mut dyn ClosureHost,
    set: &Arc<LazyValue>,
    element: &Value,
) -> Outcome<bool> {
    if let (Value::Lazy(it), true) = (element, !is_set(element)) {
        if !matches!(**set, LazyValue::Functions(..)) || is_infinite_domain(it) {
            return Err(Failure::wrong_kind("\\in", "a function with a finite domain", element));
        }
        let element = normalise(host, element.clone())?;
        return contains_lazy(host, set, &element);
    }
    match &**set {
        LazyValue::Infinite(it) => contains_infinite(*it, element),
        LazyValue::Sequences(base) => match element {
            Value::Tuple(values) => contains_all(host, base, &values.slice),
            Value::Function(_) | Value::Record(_) => Ok(false),
            other => unlike(other, "\\in Seq(S)", "a sequence"),
        },
        LazyValue::Subsets(base) => match element {
            it if is_set(it) => is_subset(host, it, base),
            other => unlike(other, "\\in SUBSET S", "a set"),
        },
        LazyValue::Functions(domain, range) => match functions::values(element) {
            Some(values) => {
                Ok(functions::has_domain(element, domain) && contains_all(host, range, values)?)
            }
            None => unlike(element, "\\in [S -> T]", "a function"),
        },
        LazyValue::Records(fields) => contains_record(host, fields, element),
        LazyValue::Product(sets) => match element {
            Value::Tuple(values) => {
                if values.slice.len() != sets.len() {
                    return Ok(false);
                }
                for (set, value) in sets.iter().zip(&values.slice) {
                    if !contains(host, set, value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Value::Function(_) | Value::Record(_) => Ok(false),
            other => unlike(other, "\\in S \\X T", "a tuple"),
        },
        LazyValue::Cup(one, two) => {
            Ok(contains(host, one, element)? || contains(host, two, element)?)
        }
        LazyValue::Cap(one, two) => {
            Ok(contains(host, one, element)? && contains(host, two, element)?)
        }
        LazyValue::Difference(one, two) => {
            Ok(contains(host, one, element)? && !contains(host, two, element)?)
        }
        LazyValue::Union(outer) => {
            let mut sets = Elements::of(host, outer)?;
            while let Some(set) = sets.next(host)? {
                if contains(host, &set, element)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        LazyValue::Filter(base, _) => {
            Ok(contains(host, base, element)? && host.holds(set, element)?)
        }
        LazyValue::Function(..) => {
            Err(Failure::wrong_kind("\\in", "a set on the right", &Value::Lazy(set.clone())))
        }
    }
}

fn is_infinite_domain(lazy: &LazyValue) -> bool {
    matches!(lazy, LazyValue::Function(domain, _) if is_infinite(domain))
}

/// A model value is in no set of other values; any other value of the wrong kind is an error.
fn unlike(element: &Value, operator: &'static str, expected: &'static str) -> Outcome<bool> {
    match element {
        Value::Model(ModelValue { kind: 0, .. }) => Ok(false),
        other => Err(Failure::wrong_kind(operator, expected, other)),
    }
}

fn contains_all(host: &mut dyn ClosureHost, set: &Value, values: &[Value]) -> Outcome<bool> {
    for value in values {
        if !contains(host, set, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains_infinite(set: InfiniteSet, element: &Value) -> Outcome<bool> {
    match (set, element) {
        (InfiniteSet::Any, _) => Ok(true),
        (InfiniteSet::Nat, Value::Int(it)) => Ok(*it >= 0),
        (InfiniteSet::Int, Value::Int(_)) => Ok(true),
        (InfiniteSet::String, Value::Str(_)) => Ok(true),
        (InfiniteSet::String, other) => unlike(other, "\\in STRING", "a string"),
        (_, other) => unlike(other, "\\in a set of integers", "an integer"),
    }
}

fn contains_record(
    host: &mut dyn ClosureHost,
    fields: &[(crate::value::Symbol, Value)],
    element: &Value,
) -> Outcome<bool> {
    match element {
        Value::Record(record) => {
            let names = &record.header.header.slice;
            if names.len() != fields.len() || names.iter().zip(fields).any(|it| *it.0 != it.1.0) {
                return Ok(false);
            }
            for ((_, set), value) in fields.iter().zip(&record.slice) {
                if !contains(host, set, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Value::Tuple(_) | Value::Function(_) => Ok(false),
        other => unlike(other, "\\in a set of records", "a record"),
    }
}

/// Returns whether each element of `left` is in `right`.
///
/// # Errors
///
/// An operand is no set, the left one cannot be enumerated, or elements are not comparable.
pub fn is_subset(host: &mut dyn ClosureHost, left: &Value, right: &Value) -> Outcome<bool> {
    if let (Value::Lazy(one), Value::Lazy(two)) = (left, right)
        && let (LazyValue::Infinite(one), LazyValue::Infinite(two)) = (&**one, &**two)
        && (one == two || *two == InfiniteSet::Any)
    {
        return Ok(true);
    }
    if let Value::Set(elements) = left {
        return contains_all(host, right, &elements.slice);
    }
    let mut elements = Elements::of(host, left)?;
    while let Some(element) = elements.next(host)? {
        if !contains(host, right, &element)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_sets(operator: &'static str, left: &Value, right: &Value) -> Outcome<()> {
    for it in [left, right] {
        if !is_set(it) {
            return Err(Failure::wrong_kind(operator, "sets", it));
        }
    }
    Ok(())
}

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

/// Returns the elements of a set of which a predicate holds. Returns the set itself if it holds of all.
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

/// Returns the number of elements of a set if its structure determines it without an enumeration of its elements.
fn structural_size(host: &mut dyn ClosureHost, set: &Value) -> Outcome<Option<u128>> {
    Ok(match set {
        Value::Set(elements) => Some(elements.slice.len() as u128),
        Value::Interval(low, high) => {
            Some(u128::try_from(i64::from(*high) - i64::from(*low) + 1).unwrap_or(0))
        }
        Value::Lazy(it) => match &**it {
            LazyValue::Subsets(base) => match structural_size(host, base)? {
                Some(size) if size < 127 => Some(1 << size),
                Some(_) => Some(u128::MAX),
                None => None,
            },
            LazyValue::Functions(domain, range) => {
                match (structural_size(host, domain)?, structural_size(host, range)?) {
                    (Some(0), _) => Some(1),
                    (Some(domain), Some(range)) => {
                        Some(range.saturating_pow(u32::try_from(domain).unwrap_or(u32::MAX)))
                    }
                    _ => None,
                }
            }
            LazyValue::Records(fields) => product_size(host, &mut fields.iter().map(|it| &it.1))?,
            LazyValue::Product(sets) => product_size(host, &mut sets.iter())?,
            _ => None,
        },
        _ => None,
    })
}

fn product_size(
    host: &mut dyn ClosureHost,
    sets: &mut dyn Iterator<Item = &Value>,
) -> Outcome<Option<u128>> {
    let mut product = 1_u128;
    for set in sets {
        match structural_size(host, set)? {
            Some(size) => product = product.saturating_mul(size),
            None => return Ok(None),
        }
    }
    Ok(Some(product))
}

/// Checks that a set is small enough to be enumerated.
///
/// # Errors
///
/// The set has too many elements.
pub fn check_size(host: &mut dyn ClosureHost, set: &Value) -> Outcome<()> {
    match structural_size(host, set)? {
        Some(size) if size > ELEMENTS_MAX => {
            Err(Failure::new(FailureReason::TooManyElements).with("set", set))
        }
        _ => Ok(()),
    }
}

/// Returns whether a set is finite and its structure shows that it has at most `limit` elements.
pub fn is_small(host: &mut dyn ClosureHost, set: &Value, limit: u128) -> bool {
    if let Value::Lazy(it) = set
        && let LazyValue::Filter(base, _) = &**it
    {
        return is_small(host, base, limit);
    }
    matches!(structural_size(host, set), Ok(Some(size)) if size <= limit)
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
