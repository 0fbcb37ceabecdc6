//! The rules that are disabled in a deadlock: the conditions that each waits for, and the current values.

use super::table::row;
use super::values::{pairs, print_values, with_place};
use crate::model::{DisabledRuleInstance, StateValue, UnmetCondition};
use crate::source::{SourceLocation, SourceMap};

/// The maximum number of rules, of instances of a rule with the same unmet conditions, and of their values.
const RULES_MAX: usize = 12;
const INSTANCES_MAX: usize = 4;
const VALUES_MAX: usize = 6;

/// The maximum length of a condition in text.
const CONDITION_MAX: usize = 50;

/// A disabled instance of a rule.
pub(super) struct DisabledRuleReport {
    name: String,
    parameters: Vec<(String, StateValue)>,
    place: Option<SourceLocation>,
    lacks: Vec<FalseConjunct>,
}

/// A false conjunct of its guard.
struct FalseConjunct {
    what: String,
    operands: Vec<(String, StateValue)>,
}

impl DisabledRuleReport {
    pub(super) fn new(disabled: DisabledRuleInstance, sources: &SourceMap) -> DisabledRuleReport {
        let DisabledRuleInstance { name, parameters, span, unmet: lacks } = disabled;
        let lacking = |UnmetCondition { condition, operands }| {
            let words: Vec<&str> = sources.text(condition).split_whitespace().collect();
            FalseConjunct { what: words.join(" "), operands }
        };
        let lacks = lacks.into_iter().map(lacking).collect();
        DisabledRuleReport { name, parameters, place: sources.place(span), lacks }
    }

    /// Returns whether the other is an instance of the same rule with the same unmet conditions.
    fn is_like(&self, other: &DisabledRuleReport) -> bool {
        let what =
            |it: &DisabledRuleReport| it.lacks.iter().map(|it| it.what.clone()).collect::<Vec<_>>();
        self.name == other.name && self.place == other.place && what(self) == what(other)
    }

    /// Returns the instance as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        let lacks = self.lacks.iter().map(|FalseConjunct { what, operands }| {
            serde_json::json!({ "what": what, "operands": pairs(operands) })
        });
        let lacks: serde_json::Value = lacks.collect();
        let told = serde_json::json!({
            "rule": self.name, "parameters": pairs(&self.parameters), "waits_for": lacks,
        });
        with_place(told, self.place.as_ref())
    }
}

/// Formats rows with the conditions of each rule. Instances with the same unmet conditions are grouped.
pub(super) fn rows(rules: &[DisabledRuleReport]) -> String {
    let mut groups: Vec<Vec<&DisabledRuleReport>> = Vec::new();
    for rule in rules {
        match groups.iter_mut().find(|it| it[0].is_like(rule)) {
            Some(group) => group.push(rule),
            None => groups.push(vec![rule]),
        }
    }
    let mut out = String::new();
    for (number, group) in groups.iter().take(RULES_MAX).enumerate() {
        out += &row(if number == 0 { "disabled" } else { "" }, &describe_group(group));
    }
    if let Some(more) = groups.len().checked_sub(RULES_MAX).filter(|&it| it > 0) {
        out += &row("", &format!("and {more} more"));
    }
    out
}

/// Describes instances of a rule with the same unmet conditions.
fn describe_group(group: &[&DisabledRuleReport]) -> String {
    let name = format!("{}{}", group[0].name, instances(group));
    let waits: Vec<String> = (0..group[0].lacks.len()).map(|at| waiting(group, at)).collect();
    match waits.is_empty() {
        true => format!("{name} changes nothing"),
        false => format!("{name} waits for {}", waits.join(" and ")),
    }
}

/// Formats the parameters of instances: `(n: Node_1, Node_2)`, `(n: Node_1, m: Node_2; n: Node_2, m: Node_1)`.
fn instances(group: &[&DisabledRuleReport]) -> String {
    let one = match &group[0].parameters[..] {
        [] => return String::new(),
        [(name, _)] => Some(name),
        _ => None,
    };
    let each = group.iter().take(INSTANCES_MAX).map(|it| match one {
        Some(_) => it.parameters[0].1.to_string(),
        None => {
            let all = it.parameters.iter().map(|(name, value)| format!("{name}: {value}"));
            all.collect::<Vec<_>>().join(", ")
        }
    });
    let each: Vec<String> = each.collect();
    let more = match group.len().saturating_sub(INSTANCES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match one {
        Some(name) => format!(" ({name}: {}{more})", each.join(", ")),
        None => format!(" ({}{more})", each.join("; ")),
    }
}

/// Formats one unmet condition of the instances, with the current values.
fn waiting(group: &[&DisabledRuleReport], at: usize) -> String {
    let mut values: Vec<(String, StateValue)> = Vec::new();
    for (name, value) in
        group.iter().take(INSTANCES_MAX).flat_map(|it| it.lacks[at].operands.iter())
    {
        if values.iter().all(|(other, _)| other != name) {
            values.push((name.clone(), value.clone()));
        }
    }
    let more = if values.len() > VALUES_MAX { ", ..." } else { "" };
    values.truncate(VALUES_MAX);
    let what = shorten_text(&group[0].lacks[at].what);
    match values.is_empty() {
        true => what,
        false => format!("{what} ({}{more})", print_values(&values)),
    }
}

fn shorten_text(what: &str) -> String {
    match what.chars().count() > CONDITION_MAX {
        true => what.chars().take(CONDITION_MAX - 3).collect::<String>() + "...",
        false => what.to_owned(),
    }
}
