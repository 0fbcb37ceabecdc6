//! Coverage: the number of executions of each action, and the actions that were never executed.

use super::values::with_place;
use super::{Report, count};
use crate::model::ActionId;
use crate::model::{ActionInfo, Violation, is_action_hidden, original_action_counts};
use crate::source::SourceLocation;
use serde_json::{Value, json};

/// An action and the number of its executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCoverage {
    /// The name in the model.
    pub name: String,
    /// The position in the source.
    pub place: Option<SourceLocation>,
    /// The number of executions.
    pub taken: u64,
    /// Whether the action ended in an error. Such an execution is not counted.
    pub failed: bool,
    /// Whether a reduction removed the action or merged it with others. Its coverage is then unknown.
    pub left_out: bool,
}

impl ActionCoverage {
    /// Returns whether the action was never executed, as far as that is known.
    pub fn is_never_taken(&self) -> bool {
        self.taken == 0 && !self.failed && !self.left_out
    }
}

/// Returns the coverage of the unreduced model. `None` if executions were not counted.
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

/// Returns whether actions without executions may have executions in states that reductions pruned.
fn leaves_states_out(report: &Report) -> bool {
    report.reductions.iter().any(|it| !it.keeps_all_actions)
}

/// Returns whether the search is complete, so that actions without executions are unreachable.
pub(super) fn is_whole(report: &Report) -> bool {
    report.limits.visited_all(report.model, report.outcome)
}

/// The maximum number of actions that are named in text, and the maximum length of a name. A longer list would scroll
/// the verdict away. JSON has all of them.
const NAMED: usize = 5;
const NAME_MAX: usize = 60;

/// Returns a line with the actions that were never executed in a complete search. `None` if there are none, or if that
/// is not known. `is_whole_list` names all of them.
pub(super) fn never_taken(report: &Report, is_whole_list: bool) -> Option<String> {
    let covered = coverage(report).filter(|_| is_whole(report))?;
    let never: Vec<&ActionCoverage> = covered.iter().filter(|it| it.is_never_taken()).collect();
    if never.is_empty() {
        return None;
    }
    let named = if is_whole_list { never.len() } else { never.len().min(NAMED) };
    let told = never[..named].iter().map(|it| match &it.place {
        Some(place) => format!("{} ({})", cut(&it.name), place.line()),
        None => cut(&it.name),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let rest = match never.len() - named {
        0 => String::new(),
        more => format!(" and {more} more: -v"),
    };
    let reduced = if leaves_states_out(report) { " in the reduced search" } else { "" };
    let all = count(covered.len() as u64, "action");
    Some(format!("{} of {all}{reduced}: {told}{rest}", never.len()))
}

/// Truncates a name.
fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME_MAX) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}...", name[..end].trim_end()),
    }
}

/// Returns the coverage as JSON.
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
