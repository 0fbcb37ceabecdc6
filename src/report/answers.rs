//! Whether what was asked of states by name is so.

use super::coverage::is_whole;
use super::table::row;
use super::{Report, StateSpaceAnswer, StateSpaceResult};
use crate::model::{PropertyInfo, Violation, is_reachability_kind};
use crate::numbers::count;
use serde_json::{Value, json};

/// Something that was asked by name, and the answer.
pub(super) struct ConditionAnswer {
    check: Violation,
    pub(super) name: String,
    /// Whether it is so; nothing where that is not known yet.
    pub(super) holds: Option<bool>,
    /// In words.
    says: String,
    /// After how many steps there was a state that decides it, if one does.
    depth: Option<u64>,
}

/// All of them, in the order in which they were asked.
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
            (None, false) => (None, "not known yet".to_owned()),
        };
        ConditionAnswer { check, name: it.name, holds, says, depth }
    };
    asked.map(answer).collect()
}

/// Whether something that was found is one of them, and told as such.
pub(super) fn has(all: &[ConditionAnswer], check: Violation) -> bool {
    all.iter().any(|it| it.check == check)
}

/// How many of them are what, in a sentence, with those that were answered otherwise; nothing if none was asked.
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
    let open = if open > 0 { format!(", {open} not known yet") } else { String::new() };
    Some(format!("{questions}: {so} true, {not} false{open}"))
}

/// A row for each, and for what else was asked.
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

/// The same as JSON.
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
