//! Enumeration of sets, in TLC's normalised order, without a list of all elements where the set has a structure.

use super::{ClosureHost, Failure, FailureReason, Outcome, sets};
use crate::value::{FieldNames, LazyValue, SharedValues, Value, compare, shared, shared_names};
use triomphe::{Arc, ThinArc};

/// The elements of a set that are still to come. Each call of [`Elements::next`] returns one, in ascending order.
#[derive(Debug)]
pub struct Elements {
    source: Source,
}

#[derive(Debug)]
enum Source {
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
            Value::Set(values) => Source::Shared { values: values.clone(), at: 0 },
            Value::Interval(low, high) => {
                Source::Interval { next: i64::from(*low), last: i64::from(*high) }
            }
            Value::Lazy(lazy) => Self::of_lazy(host, set, lazy)?,
            other => return Err(Failure::wrong_kind("an enumeration", "a set", other)),
        };
        Ok(Self { source })
    }

    /// Starts the enumeration of a set that nothing else uses.
    ///
    /// # Errors
    ///
    /// The value is no set, or a set that cannot be enumerated.
    pub fn of_owned(host: &mut dyn ClosureHost, set: Value) -> Outcome<Self> {
        match set {
            Value::Set(values) => Ok(Self { source: Source::Shared { values, at: 0 } }),
            other => Self::of(host, &other),
        }
    }

    fn of_lazy(host: &mut dyn ClosureHost, set: &Value, lazy: &Arc<LazyValue>) -> Outcome<Source> {
        Ok(match &**lazy {
            LazyValue::Subsets(base) => Source::Subsets(Subsets::new(list(host, base)?)),
            LazyValue::Functions(domain, range) => {
                let domain = shared(list(host, domain)?);
                let range = if domain.slice.is_empty() { Vec::new() } else { list(host, range)? };
                let choices = domain.slice.iter().map(|_| range.clone()).collect();
                Source::Functions { odometer: Odometer::new(choices), domain }
            }
            LazyValue::Records(fields) => {
                let names = shared_names(fields.iter().map(|it| it.0).collect());
                let sets = fields.iter().map(|it| list(host, &it.1)).collect::<Outcome<_>>()?;
                Source::Records { names, odometer: Odometer::new(sets) }
            }
            LazyValue::Product(sets) => {
                let sets = sets.iter().map(|it| list(host, it)).collect::<Outcome<_>>()?;
                Source::Product(Odometer::new(sets))
            }
            LazyValue::Filter(inner, _) => {
                let inner = Box::new(Self::of(host, inner)?);
                Source::Filter { inner, closure: lazy.clone() }
            }
            LazyValue::Cup(one, two) => {
                let mut elements = list(host, one)?;
                elements.extend(list(host, two)?);
                sorted(elements)?
            }
            LazyValue::Cap(one, two) => {
                let (from, filter) = if sets::is_infinite(one) { (two, one) } else { (one, two) };
                select(host, from, |host, it| sets::contains(host, filter, it))?
            }
            LazyValue::Difference(one, two) => {
                select(host, one, |host, it| Ok(!sets::contains(host, two, it)?))?
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
            Source::Interval { next, last } => {
                if *next > *last {
                    return Ok(None);
                }
                *next += 1;
                Some(Value::Int((*next - 1) as i32))
            }
            Source::Shared { values, at } => {
                let element = values.slice.get(*at).cloned();
                *at += 1;
                element
            }
            Source::List(list) => list.next(),
            Source::Subsets(subsets) => subsets.next(),
            Source::Functions { domain, odometer } => {
                odometer.next().map(|values| Value::function(domain.clone(), values))
            }
            Source::Records { names, odometer } => odometer.next().map(|values| {
                Value::Record(ThinArc::from_header_and_iter(names.clone(), values.into_iter()))
            }),
            Source::Product(odometer) => odometer.next().map(Value::tuple),
            Source::Filter { inner, closure } => {
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
    sets::check_size(host, set)?;
    let mut elements = Elements::of(host, set)?;
    let mut list = Vec::new();
    while let Some(element) = elements.next(host)? {
        list.push(element);
    }
    Ok(list)
}

fn sorted(mut elements: Vec<Value>) -> Outcome<Source> {
    crate::value::sort_set(&mut elements)?;
    Ok(Source::List(elements.into_iter()))
}

fn select(
    host: &mut dyn ClosureHost,
    set: &Value,
    mut keeps: impl FnMut(&mut dyn ClosureHost, &Value) -> Outcome<bool>,
) -> Outcome<Source> {
    let mut kept = Vec::new();
    let mut elements = Elements::of(host, set)?;
    while let Some(element) = elements.next(host)? {
        if keeps(host, &element)? {
            kept.push(element);
        }
    }
    Ok(Source::List(kept.into_iter()))
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
