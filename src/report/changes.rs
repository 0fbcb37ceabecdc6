//! The changes from one state to the next.

use super::NamedValues;
use crate::model::StateValue;
use crate::source::SourceMap;
use std::collections::HashMap;

/// The values before and after a step.
#[derive(Clone, Copy)]
pub(super) struct StepValues<'v> {
    /// The values of the state before the step. Empty at the initial state.
    pub before: &'v NamedValues,
    /// The values of the state after the step. Empty if the step fails.
    pub after: &'v NamedValues,
}

/// A change of a variable or a part of one. Variables of dynamic processes may have no value before or after.
pub(super) struct ValueChange<'v> {
    /// The path of the part (`c[node_2].st`).
    pub name: String,
    /// The value before.
    pub old: Option<&'v StateValue>,
    /// The value after.
    pub new: Option<&'v StateValue>,
}

/// Returns the changes, in the smallest parts that are reported separately.
pub(super) fn changes<'v>(before: &'v NamedValues, after: &'v NamedValues) -> Vec<ValueChange<'v>> {
    // Usually all names are at the same positions.
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

/// Appends the parts in which `new` differs from `old`.
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

/// Numbers variables of the same name, which belong to different blocks.
fn numbered_names<'v>(values: &'v NamedValues) -> Vec<((&'v str, u32), &'v StateValue)> {
    let mut met: HashMap<&'v str, u32> = HashMap::new();
    let tell = |(name, value): &'v (String, StateValue)| {
        let number = met.entry(name).or_default();
        *number += 1;
        ((name.as_str(), *number), value)
    };
    values.iter().map(tell).collect()
}

/// Formats changes as lines.
pub fn print_changes(before: &NamedValues, after: &NamedValues) -> Vec<String> {
    changes(before, after).iter().flat_map(lines).collect()
}

/// Formats a state as lines. In a model whose values are counts, zeros are left out.
pub fn print_state(sources: &SourceMap, values: &NamedValues) -> Vec<String> {
    let told = values.iter().filter_map(|(name, value)| match sources.are_counts() {
        true => value.nonzero_part().map(|value| format!("{name} = {value}")),
        false => Some(format!("{name} = {value}")),
    });
    told.collect()
}

/// Formats a change as lines.
pub(super) fn lines<'v>(change: &ValueChange<'v>) -> Vec<String> {
    let ValueChange { name, old, new } = change;
    let elements = |it: &Option<&'v StateValue>| it.and_then(StateValue::elements);
    if let (Some(old), Some(new)) = (elements(old), elements(new)) {
        let gone = without(old, new).into_iter().map(|it| format!("{name}: {it} removed"));
        let come = without(new, old).into_iter().map(|it| format!("{name}: {it} added"));
        return gone.chain(come).collect();
    }
    match (old, new) {
        (Some(old), Some(new)) => vec![format!("{name}: {old} -> {new}")],
        (None, Some(new)) => vec![format!("{name} = {new}")],
        (Some(old), None) => vec![format!("{name}: {old}, removed")],
        (None, None) => Vec::new(),
    }
}

/// Returns the multiset difference of two lists of elements.
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
