//! A state as a table of variables, by process.

use super::super::NamedValues;
use super::super::changes::ValueChange;
use crate::model::StateValue;
use maud::{Markup, html};
use std::collections::HashMap;

/// The maximum number of characters of a value that is shown whole. The parts of a longer value have rows of their own.
const VALUE_WIDTH: usize = 48;

/// A state for display.
pub(super) struct StateTable<'t> {
    /// The variables.
    pub values: &'t NamedValues,
    /// The names of the processes.
    pub processes: &'t [String],
    /// The changes since the state before.
    pub changed: &'t [ValueChange<'t>],
    /// Whether values are counts. Then zeros are left out.
    pub are_counts: bool,
}

/// A row: a variable, or a part of it.
struct StateRow<'t> {
    name: String,
    value: &'t StateValue,
}

/// Returns the table of a state: the shared variables, then those of each process.
pub(super) fn state_table(table: &StateTable<'_>) -> Markup {
    let mut groups: Vec<(Option<&str>, Vec<StateRow<'_>>)> = vec![(None, Vec::new())];
    let numbers: HashMap<&str, usize> =
        table.processes.iter().enumerate().map(|(at, it)| (it.as_str(), at + 1)).collect();
    groups.extend(table.processes.iter().map(|it| (Some(it.as_str()), Vec::new())));
    for (name, value) in table.values {
        let group = owner(name, &numbers).unwrap_or(0);
        add_rows(name.clone(), value, &mut groups[group].1);
    }
    let old: HashMap<&str, Option<&StateValue>> =
        table.changed.iter().map(|it| (it.name.as_str(), it.old)).collect();
    html! {
        table.state {
            @for (process, rows) in groups.iter().filter(|it| !it.1.is_empty()) {
                tr { th colspan="2" { (process.unwrap_or("Variables")) } }
                @for StateRow { name, value } in rows {
                    @if !table.are_counts || value.nonzero_part().is_some() {
                        (row(name, value, changed_from(&old, name, &numbers)))
                    }
                }
            }
        }
    }
}

/// Returns the number of the group of a variable: `P[0].x` and `P[0]` belong to the process `P[0]`.
fn owner(name: &str, numbers: &HashMap<&str, usize>) -> Option<usize> {
    let ends = name.char_indices().filter(|(_, it)| *it == '.').map(|it| it.0);
    let ends = std::iter::once(name.len()).chain(ends);
    { ends }.find_map(|end| numbers.get(&name[..end]).copied())
}

/// Appends the rows of a variable.
fn add_rows<'t>(name: String, value: &'t StateValue, rows: &mut Vec<StateRow<'t>>) {
    let parts = value.named_parts();
    if parts.is_empty() || value.to_string().chars().count() <= VALUE_WIDTH {
        return rows.push(StateRow { name, value });
    }
    for (part, value) in parts {
        add_rows(format!("{name}{part}"), value, rows);
    }
}

/// How a row has changed.
enum RowChange<'c> {
    No,
    /// It, or a part of it, has changed.
    Yes,
    /// It had this value before.
    From(&'c StateValue),
}

/// Returns how a row has changed. A change may be that of a part of the row, or of a value that contains it. The value
/// of a process is its location. Its variables are no parts of that value.
fn changed_from<'c>(
    old: &HashMap<&str, Option<&'c StateValue>>,
    name: &str,
    processes: &HashMap<&str, usize>,
) -> RowChange<'c> {
    if let Some(old) = old.get(name) {
        return old.map_or(RowChange::Yes, RowChange::From);
    }
    let is_part = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole).filter(|_| !processes.contains_key(whole));
        rest.is_some_and(|it| it.starts_with(['[', '.']))
    };
    match old.keys().any(|it| is_part(name, it) || is_part(it, name)) {
        true => RowChange::Yes,
        false => RowChange::No,
    }
}

fn row(name: &str, value: &StateValue, change: RowChange<'_>) -> Markup {
    let class = (!matches!(change, RowChange::No)).then_some("now");
    html! {
        tr class=[class] {
            td { (name) }
            td { (value.to_string()) @if let RowChange::From(old) = change { span.old { " was " (old.to_string()) } } }
        }
    }
}
