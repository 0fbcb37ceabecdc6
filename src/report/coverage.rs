//! How often the actions of a model were taken, and which never were.

use super::values::with_place;
use super::{Report, count};
use crate::ir::ActionId;
use crate::model::{ActionInfo, Violation, is_action_hidden, original_action_counts};
use crate::source::SourceLocation;
use serde_json::{Value, json};

/// An action and how often it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCoverage {
    /// What the user calls it.
    pub name: String,
    /// Where it stands.
    pub place: Option<SourceLocation>,
    /// How often it was taken.
    pub taken: u64,
    /// Whether it ended in an error, which is no step that was taken.
    pub failed: bool,
    /// Whether a reduction has removed it, or made it one with others: then it is not known whether it could be taken.
    pub left_out: bool,
}

impl ActionCoverage {
    /// Whether nothing came of it at all, as far as that is known.
    pub fn is_never_taken(&self) -> bool {
        self.taken == 0 && !self.failed && !self.left_out
    }
}

/// How often each action of the model as written was taken; nothing if that was not counted.
pub fn coverage(report: &Report) -> Option<Vec<ActionCoverage>> {
    let actions = report.model.description().actions();
    if actions.is_empty() || !report.limits.coverage {
        return None;
    }
    let outcome = report.outcome;
    let taken = original_action_counts(report.model, outcome.action_counts.clone());
    let failed = |number| {
        let is_its = |check| matches!(check, Violation::Fault(_, action) if action == number);
        outcome.findings.iter().any(|(check, _)| is_its(check))
    };
    let covered = (0..).zip(actions).map(|(number, ActionInfo { name, span })| ActionCoverage {
        name,
        place: report.sources.place(span),
        taken: taken.of(ActionId(number)),
        failed: failed(number),
        left_out: is_action_hidden(report.model, ActionId(number)),
    });
    Some(covered.collect())
}

/// Whether what was never taken might be in states that were left out.
fn leaves_states_out(report: &Report) -> bool {
    report.reductions.iter().any(|it| !it.keeps_all_actions)
}

/// Whether the search came to its end, so that what was not taken by then never is.
pub(super) fn is_whole(report: &Report) -> bool {
    report.limits.visited_all(report.model, report.outcome)
}

/// No more actions are named in text, nor longer names: a list would scroll the verdict away. JSON has all of them.
const NAMED: usize = 5;
const NAME_MAX: usize = 60;

/// Which actions were never taken by a search that came to its end, in a line; nothing if all were, or that is not known.
pub(super) fn never_taken(report: &Report) -> Option<String> {
    let covered = coverage(report).filter(|_| is_whole(report))?;
    let never: Vec<&ActionCoverage> = covered.iter().filter(|it| it.is_never_taken()).collect();
    if never.is_empty() {
        return None;
    }
    let named = never.len().min(NAMED);
    let told = never[..named].iter().map(|it| match &it.place {
        Some(place) => format!("{} ({})", cut(&it.name), place.line()),
        None => cut(&it.name),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let rest = match never.len() - named {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let reduced = if leaves_states_out(report) { " in the reduced search" } else { "" };
    let all = count(covered.len() as u64, "action");
    Some(format!("{} of {all}{reduced}: {told}{rest}", never.len()))
}

/// As much of a name as is shown.
fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME_MAX) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}...", name[..end].trim_end()),
    }
}

/// The same as JSON.
pub(super) fn as_json(report: &Report) -> Value {
    let Some(covered) = coverage(report) else { return Value::Null };
    let action = |it: &ActionCoverage| {
        with_place(
            json!({ "action": it.name, "taken": it.taken, "failed": it.failed, "left_out": it.left_out }),
            it.place.as_ref(),
        )
    };
    let actions: Vec<Value> = covered.iter().map(action).collect();
    json!({ "reduced": leaves_states_out(report), "actions": actions })
}
