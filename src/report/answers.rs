//! The answers to named conditions on states.

use super::coverage::is_whole;
use super::table::row;
use super::{Report, StateSpaceAnswer, StateSpaceResult};
use crate::model::{PropertyInfo, Violation, is_reachability_kind};
use crate::numbers::count;
use serde_json::{Value, json};

/// A named condition and its answer.
pub(super) struct ConditionAnswer {
    check: Violation,
    pub(super) name: String,
    /// Whether the condition holds. `None` if that is not known yet.
    pub(super) holds: Option<bool>,
    /// The answer in words.
    says: String,
    /// The depth of the state that decides the condition, if a state does.
    depth: Option<u64>,
}

/// Returns the answers to all named conditions, in order.
pub(super) fn answers(report: &Report) -> Vec<ConditionAnswer> {
    let properties = report.model.description().properties().into_iter().zip(0..);
    let asked = properties.filter(|(it, _)| {
        let is_beside = report.sources.get(it.span.file).is_some_and(|it| it.is_property);
        is_beside && report.conditions.iter().any(|asked| asked.name.as_ref() == Some(&it.name))
    });
    let is_whole = is_whole(report);
    let answer = |(it, number): (PropertyInfo, u32)| {
        let (check, is_hoped_for) = (Violation::Property(number), is_reachability_kind(it.kind));
        let depth = report.outcome.findings.get(check).map(|it| it.level);
        let (holds, says) = match (depth, is_whole) {
            (Some(depth), _) => {
                let after = count(depth, "step");
                let says = if is_hoped_for { "in a state" } else { "not in a state" };
                (Some(is_hoped_for), format!("{says} after {after}"))
            }
            (None, true) if is_hoped_for => (Some(false), "in no reachable state".to_owned()),
            (None, true) => (Some(true), "in every reachable state".to_owned()),
            (None, false) => (None, "unknown so far".to_owned()),
        };
        ConditionAnswer { check, name: it.name, holds, says, depth }
    };
    asked.map(answer).collect()
}

/// Returns whether `check` is one of these conditions, and so is reported as an answer.
pub(super) fn has(all: &[ConditionAnswer], check: Violation) -> bool {
    all.iter().any(|it| it.check == check)
}

/// Returns a sentence that counts the true, false and undecided answers. `None` if there are no questions.
pub(super) fn summary(all: &[ConditionAnswer], further: &[StateSpaceAnswer]) -> Option<String> {
    let numbers = |it: &&StateSpaceAnswer| !matches!(it.result, StateSpaceResult::UpperBound(_));
    let further = further.iter().filter(numbers).map(|it| match it.result {
        StateSpaceResult::Holds(holds) => Some(holds),
        StateSpaceResult::UpperBound(_) | StateSpaceResult::Open(_) => None,
    });
    let each: Vec<Option<bool>> = all.iter().map(|it| it.holds).chain(further).collect();
    let of = |holds| each.iter().filter(|it| **it == holds).count();
    let (so, not, open) = (of(Some(true)), of(Some(false)), of(None));
    if each.is_empty() {
        return None;
    }
    let questions = count(each.len() as u64, "question");
    let open = if open > 0 { format!(", {open} unknown so far") } else { String::new() };
    Some(format!("{questions}: {so} true, {not} false{open}"))
}

/// Formats a row for each condition and for each further question.
pub(super) fn rows(all: &[ConditionAnswer], further: &[StateSpaceAnswer]) -> String {
    let told = |it: &ConditionAnswer| {
        let label = it.holds.map_or("open", |it| if it { "true" } else { "false" });
        row(label, &format!("{}: {}", it.name, it.says))
    };
    let told_further = |StateSpaceAnswer { name, result: came }: &StateSpaceAnswer| match came {
        StateSpaceResult::UpperBound(most) => {
            let most = most.map_or("nothing".to_owned(), |it| it.to_string());
            row("most", &format!("{name}: {most}"))
        }
        StateSpaceResult::Holds(true) => row("true", name),
        StateSpaceResult::Holds(false) => row("false", name),
        StateSpaceResult::Open(why) => row("open", &format!("{name}: {why}")),
    };
    all.iter().map(told).chain(further.iter().map(told_further)).collect()
}

/// Returns the answers as JSON.
pub(super) fn as_json(report: &Report) -> Value {
    let told = |name: &str, holds: Option<bool>, depth, most: Option<i64>, open: Option<&str>| json!({ "name": name, "holds": holds, "depth": depth, "most": most, "open": open });
    let all = answers(report);
    let all = all.iter().map(|it| {
        let open = it.holds.is_none().then_some(it.says.as_str());
        told(&it.name, it.holds, it.depth, None, open)
    });
    let further = report.further.iter().map(|StateSpaceAnswer { name, result: came }| match came {
        StateSpaceResult::UpperBound(most) => told(name, None, None, *most, None),
        StateSpaceResult::Holds(holds) => told(name, Some(*holds), None, None, None),
        StateSpaceResult::Open(why) => told(name, None, None, None, Some(why)),
    });
    all.chain(further).collect()
}
