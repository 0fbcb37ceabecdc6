//! TLC's order and equality of values, and a total order that agrees with them.

use super::{FieldNames, ModelValue, Symbol, Value, same_domain, same_names};
use std::cmp::Ordering;

/// Two values that TLC does not compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomparable {
    /// The left value.
    pub left: Value,
    /// The right value.
    pub right: Value,
}

/// The result of a comparison that can fail.
type ComparisonResult<T> = Result<T, Box<Incomparable>>;

fn incomparable<T>(left: &Value, right: &Value) -> ComparisonResult<T> {
    Err(Box::new(Incomparable { left: left.clone(), right: right.clone() }))
}

/// Compares two canonical values in TLC's order.
///
/// Integers are ordered by value, strings and model values by the first appearance of their texts, sets and functions by
/// size first, then by elements or by domain and values. An untyped model value precedes every other kind.
///
/// # Errors
///
/// The values are of different kinds, for instance `1` and `"a"`.
pub fn compare(left: &Value, right: &Value) -> ComparisonResult<Ordering> {
    use Value::*;
    match (left, right) {
        (Bool(one), Bool(two)) => Ok(one.cmp(two)),
        (Int(one), Int(two)) => Ok(one.cmp(two)),
        (Str(one), Str(two)) => Ok(one.cmp(two)),
        (Model(one), Model(two)) if are_related(*one, *two) => Ok(one.name.cmp(&two.name)),
        (Model(ModelValue { kind: 0, .. }), _) => Ok(Ordering::Less),
        (_, Model(ModelValue { kind: 0, .. })) => Ok(Ordering::Greater),
        (Set(one), Set(two)) | (Tuple(one), Tuple(two)) => compare_lists(&one.slice, &two.slice),
        (Record(one), Record(two)) => {
            let (names, other_names) = (&one.header.header, &two.header.header);
            if same_names(names, other_names) {
                return compare_elements(&one.slice, &two.slice);
            }
            Ok(compare_names(&names.slice, &other_names.slice))
        }
        (Function(one), Function(two)) => {
            let (domain, other_domain) = (&one.header.header, &two.header.header);
            if !same_domain(domain, other_domain) {
                let by_domain = compare_lists(&domain.slice, &other_domain.slice)?;
                if by_domain != Ordering::Equal {
                    return Ok(by_domain);
                }
            }
            compare_elements(&one.slice, &two.slice)
        }
        (Function(_) | Tuple(_), Function(_) | Tuple(_) | Record(_)) => {
            compare_domains(left, right)
        }
        // TLC converts an empty sequence to a record, and no other.
        (Record(_), Tuple(two)) if two.slice.is_empty() => Ok(Ordering::Greater),
        _ => incomparable(left, right),
    }
}

/// A tuple or a record of canonical parts that has no allocation of its own.
#[derive(Clone, Copy)]
pub struct LiteralValue<'v> {
    /// The field names of a record, nothing for a tuple.
    pub names: Option<&'v FieldNames>,
    /// The components of a tuple, or the values of the fields.
    pub parts: &'v [Value],
}

impl LiteralValue<'_> {
    /// Returns the value.
    pub fn to_value(self) -> Value {
        match self.names {
            Some(names) => Value::record(names.clone(), self.parts.to_vec()),
            None => Value::tuple(self.parts.to_vec()),
        }
    }
}

/// Compares a canonical value with a literal, as [`compare`], if their representations are the same.
pub fn compare_with_literal(
    left: &Value,
    right: LiteralValue<'_>,
) -> Option<ComparisonResult<Ordering>> {
    match (left, right.names) {
        (Value::Tuple(one), None) => Some(compare_lists(&one.slice, right.parts)),
        (Value::Record(one), Some(names)) if same_names(&one.header.header, names) => {
            Some(compare_elements(&one.slice, right.parts))
        }
        (Value::Record(one), Some(names)) => {
            Some(Ok(compare_names(&one.header.header.slice, &names.slice)))
        }
        _ => None,
    }
}

/// Returns whether two canonical values are equal, as TLC's `=`.
///
/// # Errors
///
/// The values are of different kinds, for instance `1` and `"a"`.
pub fn equal(left: &Value, right: &Value) -> ComparisonResult<bool> {
    use Value::*;
    match (left, right) {
        (Int(one), Int(two)) => Ok(one == two),
        (Str(one), Str(two)) => Ok(one == two),
        (Bool(one), Bool(two)) => Ok(one == two),
        (Model(one), Model(two)) if are_related(*one, *two) => Ok(one.name == two.name),
        (Model(ModelValue { kind: 0, .. }), _) | (_, Model(ModelValue { kind: 0, .. })) => {
            Ok(false)
        }
        (Set(one), Set(two)) | (Tuple(one), Tuple(two)) => equal_lists(&one.slice, &two.slice),
        (Record(one), Record(two)) => {
            if !same_names(&one.header.header, &two.header.header) {
                return Ok(false);
            }
            equal_lists(&one.slice, &two.slice)
        }
        (Function(one), Function(two)) => {
            let (domain, other_domain) = (&one.header.header, &two.header.header);
            if !same_domain(domain, other_domain)
                && !equal_lists(&domain.slice, &other_domain.slice)?
            {
                return Ok(false);
            }
            equal_lists(&one.slice, &two.slice)
        }
        _ => Ok(compare(left, right)? == Ordering::Equal),
    }
}

/// Compares the field names of records, by their number first.
fn compare_names(left: &[Symbol], right: &[Symbol]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn equal_lists(left: &[Value], right: &[Value]) -> ComparisonResult<bool> {
    if left.len() != right.len() {
        return Ok(false);
    }
    if std::ptr::eq(left, right) {
        return Ok(true);
    }
    for (one, two) in left.iter().zip(right) {
        if !equal(one, two)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares by length, then by elements.
fn compare_lists(left: &[Value], right: &[Value]) -> ComparisonResult<Ordering> {
    match left.len().cmp(&right.len()) {
        Ordering::Equal => compare_elements(left, right),
        other => Ok(other),
    }
}

fn compare_elements(left: &[Value], right: &[Value]) -> ComparisonResult<Ordering> {
    if std::ptr::eq(left, right) {
        return Ok(Ordering::Equal);
    }
    for (one, two) in left.iter().zip(right) {
        let order = compare(one, two)?;
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

/// Returns whether two model values are comparable: their types are equal, or one has none.
fn are_related(one: ModelValue, two: ModelValue) -> bool {
    one.kind == two.kind || one.kind == 0 || two.kind == 0
}

/// Compares functions of different representation. Their domains differ, because representations are canonical.
fn compare_domains(left: &Value, right: &Value) -> ComparisonResult<Ordering> {
    let by_size = function_size(left).cmp(&function_size(right));
    if by_size != Ordering::Equal {
        return Ok(by_size);
    }
    for at in 0..function_size(left) {
        let order = compare(&argument(left, at), &argument(right, at))?;
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

fn function_size(function: &Value) -> usize {
    match function {
        Value::Tuple(it) => it.slice.len(),
        Value::Record(it) => it.slice.len(),
        Value::Function(it) => it.slice.len(),
        _ => 0,
    }
}

/// Returns the element of a function's domain at an index of its order.
fn argument(function: &Value, at: usize) -> Value {
    match function {
        Value::Record(it) => Value::Str(it.header.header.slice[at]),
        Value::Function(it) => it.header.header.slice[at].clone(),
        _ => Value::Int(at as i32 + 1),
    }
}

/// Returns whether canonical values are sorted by [`compare`], without duplicates.
///
/// # Errors
///
/// Two neighbours are not comparable.
pub fn is_ascending(elements: &[Value]) -> ComparisonResult<bool> {
    for pair in elements.windows(2) {
        if compare(&pair[0], &pair[1])? != Ordering::Less {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sorts canonical values by [`compare`] and removes duplicates.
///
/// # Errors
///
/// Two elements are not comparable.
pub fn sort_set(elements: &mut Vec<Value>) -> ComparisonResult<()> {
    if is_ascending(elements)? {
        return Ok(());
    }
    let mut failure = None;
    elements.sort_unstable_by(|one, two| {
        compare(one, two).unwrap_or_else(|it| {
            failure.get_or_insert(it);
            total_order(one, two)
        })
    });
    match failure {
        Some(failure) => Err(failure),
        None => {
            elements.dedup();
            Ok(())
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        total_order(self, other)
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The place of a kind in the total order.
fn kind_number(value: &Value) -> u8 {
    match value {
        Value::Model(ModelValue { kind: 0, .. }) => 0,
        Value::Model(_) => 1,
        Value::Bool(_) => 2,
        Value::Int(_) => 3,
        Value::Str(_) => 4,
        Value::Set(_) => 5,
        // Functions of all representations are ordered by size first.
        Value::Tuple(_) | Value::Record(_) | Value::Function(_) => 6,
        Value::Interval(..) => 7,
        Value::Lazy(_) => 8,
    }
}

/// Orders canonical values of all kinds. Agrees with [`compare`] where that is defined.
fn total_order(left: &Value, right: &Value) -> Ordering {
    use Value::*;
    match (left, right) {
        (Bool(one), Bool(two)) => one.cmp(two),
        (Int(one), Int(two)) => one.cmp(two),
        (Str(one), Str(two)) => one.cmp(two),
        // An untyped one is compared with those of every type by name, so types cannot precede names.
        (Model(one), Model(two)) => one.name.cmp(&two.name),
        (Set(one), Set(two)) | (Tuple(one), Tuple(two)) => order_lists(&one.slice, &two.slice),
        (Tuple(_) | Record(_) | Function(_), Tuple(_) | Record(_) | Function(_)) => {
            order_functions(left, right)
        }
        (Interval(low, high), Interval(other_low, other_high)) => {
            (low, high).cmp(&(other_low, other_high))
        }
        _ => kind_number(left).cmp(&kind_number(right)),
    }
}

fn order_lists(left: &[Value], right: &[Value]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn order_functions(left: &Value, right: &Value) -> Ordering {
    let size = function_size(left);
    let by_domain = || {
        let arguments = (0..size).map(|at| total_order(&argument(left, at), &argument(right, at)));
        arguments.fold(Ordering::Equal, Ordering::then)
    };
    let by_values = || function_values(left).cmp(function_values(right));
    size.cmp(&function_size(right)).then_with(by_domain).then_with(by_values)
}

fn function_values(function: &Value) -> &[Value] {
    match function {
        Value::Tuple(it) => &it.slice,
        Value::Record(it) => &it.slice,
        Value::Function(it) => &it.slice,
        _ => &[],
    }
}
