//! What changed from one state to the next.

use super::NamedValues;
use crate::model::StateValue;
use crate::source::SourceMap;
use std::collections::HashMap;

/// The values around a step.
#[derive(Clone, Copy)]
pub(super) struct StepValues<'v> {
    /// In the state before it; none at the start.
    pub before: &'v NamedValues,
    /// In the state behind it; none where it fails before it has one.
    pub after: &'v NamedValues,
}

/// A variable or a part of one, called by its way from the variable on (`c[node_2].st`). Where processes come and
/// go a variable may have no value before, or none after.
pub(super) struct ValueChange<'v> {
    /// How it is called.
    pub name: String,
    /// Its value before.
    pub old: Option<&'v StateValue>,
    /// Its value after.
    pub new: Option<&'v StateValue>,
}

/// What changed, as small parts as are told by themselves.
pub(super) fn changes<'v>(before: &'v NamedValues, after: &'v NamedValues) -> Vec<ValueChange<'v>> {
    // Nearly always all of them stand where they stood.
    let same = before.iter().zip(after).take_while(|(old, new)| old.0 == new.0).count();
    let ((before, gone), (after, come)) = (before.split_at(same), after.split_at(same));
    let mut found = Vec::new();
    for ((name, old), (_, new)) in before.iter().zip(after) {
        compare(name, old, new, &mut found);
    }
    let (gone, come) = (numbered_names(gone), numbered_names(come));
    let [old, new]: [HashMap<_, _>; 2] = [&gone, &come].map(|it| it.iter().copied().collect());
    let gone = gone.iter().filter(|(name, _)| !new.contains_key(name));
    for (name, _) in come.iter().chain(gone) {
        match (old.get(name).copied(), new.get(name).copied()) {
            (Some(old), Some(new)) => compare(name.0, old, new, &mut found),
            (old, new) => found.push(ValueChange { name: name.0.to_owned(), old, new }),
        }
    }
    found
}

/// Adds what is another in `new` than in `old`.
fn compare<'v>(
    name: &str,
    old: &'v StateValue,
    new: &'v StateValue,
    found: &mut Vec<ValueChange<'v>>,
) {
    if old == new {
        return;
    }
    let (parts, others) = (old.named_parts(), new.named_parts());
    let are_alike = parts.len() == others.len()
        && !parts.is_empty()
        && parts.iter().zip(&others).all(|(one, other)| one.0 == other.0);
    if !are_alike {
        return found.push(ValueChange { name: name.to_owned(), old: Some(old), new: Some(new) });
    }
    for ((part, old), (_, new)) in parts.into_iter().zip(others) {
        if old != new {
            compare(&format!("{name}{part}"), old, new, found);
        }
    }
}

/// Variables with their values. Of one name there may be several, in blocks of their own: each has
/// its number.
fn numbered_names<'v>(values: &'v NamedValues) -> Vec<((&'v str, u32), &'v StateValue)> {
    let mut met: HashMap<&'v str, u32> = HashMap::new();
    let tell = |(name, value): &'v (String, StateValue)| {
        let number = met.entry(name).or_default();
        *number += 1;
        ((name.as_str(), *number), value)
    };
    values.iter().map(tell).collect()
}

/// What changed, in lines.
pub fn print_changes(before: &NamedValues, after: &NamedValues) -> Vec<String> {
    changes(before, after).iter().flat_map(lines).collect()
}

/// A state in lines. Where the numbers of a model count things, what is not there is not told.
pub fn print_state(sources: &SourceMap, values: &NamedValues) -> Vec<String> {
    let told = values.iter().filter_map(|(name, value)| match sources.are_counts() {
        true => value.nonzero_part().map(|value| format!("{name} = {value}")),
        false => Some(format!("{name} = {value}")),
    });
    told.collect()
}

/// One in lines.
pub(super) fn lines(change: &ValueChange<'_>) -> Vec<String> {
    let ValueChange { name, old, new } = change;
    match (old, new) {
        (Some(StateValue::Bag(old)), Some(StateValue::Bag(new))) => {
            let gone = without(old, new).into_iter().map(|it| format!("{name}: {it} taken out"));
            let come = without(new, old).into_iter().map(|it| format!("{name}: {it} put in"));
            gone.chain(come).collect()
        }
        (Some(old), Some(new)) => vec![format!("{name}: {old} -> {new}")],
        (None, Some(new)) => vec![format!("{name} = {new}")],
        (Some(old), None) => vec![format!("{name}: {old}, gone")],
        (None, None) => Vec::new(),
    }
}

/// Those of some elements that are not among others, each as often as it is there more often.
fn without<'v>(some: &'v [StateValue], others: &[StateValue]) -> Vec<&'v StateValue> {
    let mut others: Vec<&StateValue> = others.iter().collect();
    let mut left = Vec::new();
    for value in some {
        match others.iter().position(|it| *it == value) {
            Some(at) => drop(others.swap_remove(at)),
            None => left.push(value),
        }
    }
    left
}
