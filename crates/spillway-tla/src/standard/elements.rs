//! Elements of sets: membership, and enumeration in TLC's normalised order.
//!
//! Membership in a lazy set is tested without enumerating it, as TLC does. A set that has a structure is enumerated
//! without a list of all elements.

use super::{ClosureHost, Failure, FailureReason, Outcome, tables};
use crate::value::{
    FieldNames, InfiniteSet, LazyValue, LiteralValue, ModelValue, SharedValues, Value, compare,
    compare_with_literal, shared, shared_names,
};
use std::cmp::Ordering;
use triomphe::{Arc, ThinArc};

/// The elements of a set that are still to come. Each call of [`Elements::next`] returns one, in ascending order.
#[derive(Debug)]
pub struct Elements {
    source: ElementSource,
}

#[derive(Debug)]
enum ElementSource {
    Interval { next: i64, last: i64 },
    Shared { values: SharedValues, at: usize },
    List(std::vec::IntoIter<Value>),
    Subsets(Subsets),
    Functions { domain: SharedValues, odometer: Odometer },
    Records { names: FieldNames, odometer: Odometer },
    Product(Odometer),
    Filter { inner: Box<Elements>, closure: Arc<LazyValue> },
}

impl Elements {
    /// Starts the enumeration of a set.
    ///
    /// # Errors
    ///
    /// The value is no set, or a set that cannot be enumerated.
    pub fn of(host: &mut dyn ClosureHost, set: &Value) -> Outcome<Self> {
        let source = match set {
            Value::Set(values) => ElementSource::Shared { values: values.clone(), at: 0 },
            Value::Interval(low, high) => {
                ElementSource::Interval { next: i64::from(*low), last: i64::from(*high) }
            }
            Value::Lazy(lazy) => Self::of_lazy(host, set, lazy)?,
            other => return Err(Failure::wrong_kind("an enumeration", "a set", other)),
        };
        Ok(Self { source })
    }

    fn of_lazy(
        host: &mut dyn ClosureHost,
        set: &Value,
        lazy: &Arc<LazyValue>,
    ) -> Outcome<ElementSource> {
        Ok(match &**lazy {
            LazyValue::Subsets(base) => ElementSource::Subsets(Subsets::new(list(host, base)?)),
            LazyValue::Functions(domain, range) => {
                let domain = shared(list(host, domain)?);
                let range = if domain.slice.is_empty() { Vec::new() } else { list(host, range)? };
                let choices = domain.slice.iter().map(|_| range.clone()).collect();
                ElementSource::Functions { odometer: Odometer::new(choices), domain }
            }
            LazyValue::Records(fields) => {
                let names = shared_names(fields.iter().map(|it| it.0).collect());
                let sets = fields.iter().map(|it| list(host, &it.1)).collect::<Outcome<_>>()?;
                ElementSource::Records { names, odometer: Odometer::new(sets) }
            }
            LazyValue::Product(sets) => {
                let sets = sets.iter().map(|it| list(host, it)).collect::<Outcome<_>>()?;
                ElementSource::Product(Odometer::new(sets))
            }
            LazyValue::Filter(inner, _) => {
                let inner = Box::new(Self::of(host, inner)?);
                ElementSource::Filter { inner, closure: lazy.clone() }
            }
            LazyValue::Cup(one, two) => {
                let mut elements = list(host, one)?;
                elements.extend(list(host, two)?);
                sorted(elements)?
            }
            LazyValue::Cap(one, two) => {
                let (from, filter) = if is_infinite(one) { (two, one) } else { (one, two) };
                select(host, from, |host, it| contains(host, filter, it))?
            }
            LazyValue::Difference(one, two) => {
                select(host, one, |host, it| Ok(!contains(host, two, it)?))?
            }
            LazyValue::Union(outer) => {
                let mut elements = Vec::new();
                for set in list(host, outer)? {
                    elements.extend(list(host, &set)?);
                }
                sorted(elements)?
            }
            LazyValue::Infinite(_) | LazyValue::Sequences(_) => {
                return Err(Failure::new(FailureReason::NotEnumerable).with("set", set));
            }
            LazyValue::Function(..) => {
                return Err(Failure::wrong_kind("an enumeration", "a set", set));
            }
        })
    }

    /// Returns the next element, or nothing at the end.
    ///
    /// # Errors
    ///
    /// The predicate of a filter fails.
    pub fn next(&mut self, host: &mut dyn ClosureHost) -> Outcome<Option<Value>> {
        Ok(match &mut self.source {
            ElementSource::Interval { next, last } => {
                if *next > *last {
                    return Ok(None);
                }
                *next += 1;
                Some(Value::Int((*next - 1) as i32))
            }
            ElementSource::Shared { values, at } => {
                let element = values.slice.get(*at).cloned();
                *at += 1;
                element
            }
            ElementSource::List(list) => list.next(),
            ElementSource::Subsets(subsets) => subsets.next(),
            ElementSource::Functions { domain, odometer } => {
                odometer.next().map(|values| Value::function(domain.clone(), values))
            }
            ElementSource::Records { names, odometer } => odometer.next().map(|values| {
                Value::Record(ThinArc::from_header_and_iter(names.clone(), values.into_iter()))
            }),
            ElementSource::Product(odometer) => odometer.next().map(Value::tuple),
            ElementSource::Filter { inner, closure } => {
                while let Some(element) = inner.next(host)? {
                    if host.holds(closure, &element)? {
                        return Ok(Some(element));
                    }
                }
                None
            }
        })
    }
}

/// Returns the elements of a set in ascending order.
///
/// # Errors
///
/// The value is no set, or a set that cannot be enumerated.
pub fn list(host: &mut dyn ClosureHost, set: &Value) -> Outcome<Vec<Value>> {
    if let Value::Set(values) = set {
        return Ok(values.slice.to_vec());
    }
    check_size(host, set)?;
    let mut elements = Elements::of(host, set)?;
    let mut list = Vec::new();
    while let Some(element) = elements.next(host)? {
        list.push(element);
    }
    Ok(list)
}

fn sorted(mut elements: Vec<Value>) -> Outcome<ElementSource> {
    crate::value::sort_set(&mut elements)?;
    Ok(ElementSource::List(elements.into_iter()))
}

fn select(
    host: &mut dyn ClosureHost,
    set: &Value,
    mut keeps: impl FnMut(&mut dyn ClosureHost, &Value) -> Outcome<bool>,
) -> Outcome<ElementSource> {
    let mut kept = Vec::new();
    let mut elements = Elements::of(host, set)?;
    while let Some(element) = elements.next(host)? {
        if keeps(host, &element)? {
            kept.push(element);
        }
    }
    Ok(ElementSource::List(kept.into_iter()))
}

/// The subsets of a list, by size and then lexicographically, which is the order of sets.
#[derive(Debug)]
struct Subsets {
    base: Vec<Value>,
    /// The indices of the next subset, or nothing at the end.
    indices: Option<Vec<usize>>,
}

impl Subsets {
    fn new(base: Vec<Value>) -> Self {
        Self { base, indices: Some(Vec::new()) }
    }

    fn next(&mut self) -> Option<Value> {
        let indices = self.indices.as_mut()?;
        let subset = indices.iter().map(|it| self.base[*it].clone()).collect();
        let (size, count) = (indices.len(), self.base.len());
        match (0..size).rev().find(|at| indices[*at] < count - size + at) {
            Some(at) => {
                let first = indices[at] + 1;
                for (step, index) in indices[at..].iter_mut().enumerate() {
                    *index = first + step;
                }
            }
            None if size < count => *indices = (0..=size).collect(),
            None => self.indices = None,
        }
        Some(Value::Set(shared(subset)))
    }
}

/// The tuples of a product of lists, lexicographically.
#[derive(Debug)]
struct Odometer {
    lists: Vec<Vec<Value>>,
    digits: Vec<usize>,
    is_done: bool,
}

impl Odometer {
    fn new(lists: Vec<Vec<Value>>) -> Self {
        let is_done = lists.iter().any(Vec::is_empty);
        Self { digits: vec![0; lists.len()], lists, is_done }
    }

    fn next(&mut self) -> Option<Vec<Value>> {
        if self.is_done {
            return None;
        }
        let values =
            self.lists.iter().zip(&self.digits).map(|(list, digit)| list[*digit].clone()).collect();
        self.is_done = true;
        for (list, digit) in self.lists.iter().zip(&mut self.digits).rev() {
            *digit += 1;
            if *digit < list.len() {
                self.is_done = false;
                break;
            }
            *digit = 0;
        }
        Some(values)
    }
}

/// Returns whether a list of canonical values is strictly ascending.
pub fn is_ascending(values: &[Value]) -> bool {
    values.windows(2).all(|it| compare(&it[0], &it[1]).is_ok_and(std::cmp::Ordering::is_lt))
}

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
                debug_assert!(is_ascending(&elements));
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
    if value.is_canonical() {
        return Ok(value);
    }
    if is_infinite(&value) {
        *host.infinite_components() = true;
        return Ok(value);
    }
    normalise(host, value)
}

/// Returns the canonical form of a value whose components are canonical, too: one that can be stored.
///
/// # Errors
///
/// A set is too large, or it or a component of the value is infinite.
pub fn stored(host: &mut dyn ClosureHost, value: Value) -> Outcome<Value> {
    let value = if value.is_canonical() { value } else { normalise(host, value)? };
    if *host.infinite_components()
        && let Some(set) = infinite_component(&value)
    {
        return Err(Failure::new(FailureReason::NotEnumerable).with("set", set));
    }
    Ok(value)
}

/// Returns a set that cannot be enumerated within a value, if there is one.
fn infinite_component(value: &Value) -> Option<&Value> {
    let (arguments, values) = match value {
        Value::Set(it) | Value::Tuple(it) => (&[][..], &it.slice),
        Value::Record(it) => (&[][..], &it.slice),
        Value::Function(it) => (&it.header.header.slice, &it.slice),
        Value::Lazy(_) => return Some(value),
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) | Value::Interval(..) => {
            return None;
        }
    };
    arguments.iter().chain(values).find_map(infinite_component)
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
    search_sorted(elements, |it| Ok(compare(it, element)?))
}

/// Returns whether a tuple or record, given by its parts, is among sorted elements.
///
/// # Errors
///
/// It is not comparable with those.
pub fn contains_literal(elements: &[Value], literal: LiteralValue<'_>) -> Outcome<bool> {
    search_sorted(elements, |it| match compare_with_literal(it, literal) {
        Some(order) => Ok(order?),
        None => Ok(compare(it, &literal.to_value())?),
    })
}

fn search_sorted(elements: &[Value], order: impl Fn(&Value) -> Outcome<Ordering>) -> Outcome<bool> {
    let (mut low, mut high) = (0, elements.len());
    while low < high {
        let middle = (low + high) / 2;
        match order(&elements[middle])? {
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
        LazyValue::Functions(domain, range) => match tables::values(element) {
            Some(values) => {
                Ok(tables::has_domain(element, domain) && contains_all(host, range, values)?)
            }
            None => unlike(element, "\\in [S -> T]", "a function"),
        },
        LazyValue::Records(fields) => contains_record(host, fields, element),
        LazyValue::Product(sets) => contains_tuple(host, sets, element),
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

fn contains_tuple(host: &mut dyn ClosureHost, sets: &[Value], element: &Value) -> Outcome<bool> {
    match element {
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
    }
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

/// Returns the number of elements of a set if its structure determines it without an enumeration of its elements.
pub(super) fn structural_size(host: &mut dyn ClosureHost, set: &Value) -> Outcome<Option<u128>> {
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
