//! The difference between two counterexamples.

use super::changes::{ValueChange, changes};
use super::table::{row, wrapped};
use super::values::value;
use crate::model::StateValue;
use crate::numbers::count;
use serde_json::{Map, Value, json};

/// A counterexample that is compared with another.
pub struct ComparedTrace {
    /// The name of its directory.
    pub name: String,
    /// The violation.
    pub violation: String,
    /// The initial state, then each step.
    pub steps: Vec<ComparedStep>,
}

/// A step with the state after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedStep {
    /// The title.
    pub title: String,
    /// The values of the state after it. Empty if the step fails.
    pub values: Vec<(String, StateValue)>,
    /// The error, if the step fails.
    pub fault: Option<String>,
}

/// The place where two counterexamples part.
#[derive(Debug, PartialEq, Eq)]
pub enum TraceDifference {
    /// The number of the first step that differs. Step 0 is the initial state.
    Step(usize),
    /// The steps and the states are the same, and lead to different violations.
    Violation,
}

impl TraceDifference {
    /// Returns the number of the first step that differs, if a step does.
    fn step(&self) -> Option<usize> {
        match self {
            TraceDifference::Step(step) => Some(*step),
            TraceDifference::Violation => None,
        }
    }
}

/// Returns where two counterexamples part. `None` if they are equal.
pub fn find_difference(one: &ComparedTrace, other: &ComparedTrace) -> Option<TraceDifference> {
    let common = one.steps.iter().zip(&other.steps).take_while(|(one, other)| one == other).count();
    let is_same = common == one.steps.len() && common == other.steps.len();
    match is_same {
        false => Some(TraceDifference::Step(common)),
        true => (one.violation != other.violation).then_some(TraceDifference::Violation),
    }
}

/// Returns the values in which the states after a step differ.
fn differing<'t>(both: [&'t ComparedTrace; 2], step: usize) -> Vec<ValueChange<'t>> {
    match both.map(|it| it.steps.get(step).map_or(&[][..], |it| &it.values)) {
        [[], _] | [_, []] => Vec::new(),
        [one, other] => changes(one, other),
    }
}

/// Formats the length of a counterexample.
fn length(trace: &ComparedTrace) -> String {
    count(trace.steps.len().saturating_sub(1) as u64, "step")
}

/// Formats the difference between two counterexamples.
pub fn print_difference(both: [&ComparedTrace; 2], difference: &Option<TraceDifference>) -> String {
    let mut out = String::new();
    for (label, it) in ["A", "B"].into_iter().zip(both) {
        out += &row(label, &format!("{}: {}, {}", it.name, it.violation, length(it)));
    }
    let step = match difference {
        None => return out + &row("equal", "the steps and the states are the same"),
        Some(TraceDifference::Violation) => {
            return out + &row("differs", "the violation; the steps and the states are the same");
        }
        Some(TraceDifference::Step(step)) => *step,
    };
    out += &row(
        "common",
        &match step.checked_sub(1) {
            None => "nothing: the initial states differ".to_owned(),
            Some(0) => "the initial state".to_owned(),
            Some(last) => format!("the initial state and {}", count(last as u64, "step")),
        },
    );
    for (label, it) in ["A", "B"].into_iter().zip(both) {
        let title = it.steps.get(step).map_or("ends here", |it| &it.title);
        out += &wrapped(&format!("  step {step:<4} {label}  "), title);
    }
    let faults = both.map(|it| it.steps.get(step).and_then(|it| it.fault.as_deref()));
    if faults[0] != faults[1] {
        let [one, other] = faults.map(|it| it.unwrap_or("no error"));
        out += &row("differs", &format!("{one} in A, {other} in B"));
    }
    for ValueChange { name, old, new } in differing(both, step) {
        let text = |it: Option<&StateValue>| it.map_or("-".to_owned(), ToString::to_string);
        out += &row("differs", &format!("{name}: {} in A, {} in B", text(old), text(new)));
    }
    out
}

/// Returns the difference between two counterexamples as a JSON object.
pub fn difference_as_json(
    both: [&ComparedTrace; 2],
    difference: &Option<TraceDifference>,
    warnings: &[String],
) -> Value {
    let traces = both.map(|it| {
        json!({
            "dir": it.name,
            "violation": it.violation,
            "steps": it.steps.len().saturating_sub(1),
        })
    });
    let parts = difference.as_ref().map(|it| {
        let step = it.step();
        let title = |it: &ComparedTrace| Some(it.steps.get(step?)?.title.clone());
        let titles = both.map(title);
        let differing = step.map_or(Vec::new(), |step| differing(both, step)).into_iter();
        let values: Map<String, Value> =
            differing.map(|it| (it.name, json!([it.old.map(value), it.new.map(value)]))).collect();
        json!({ "step": step, "actions": titles, "values": values })
    });
    json!({ "traces": traces, "difference": parts, "warnings": warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(steps: &[(&str, i64)]) -> ComparedTrace {
        let step = |&(title, x): &(&str, i64)| ComparedStep {
            title: title.to_owned(),
            values: vec![("x".to_owned(), StateValue::Number(x))],
            fault: None,
        };
        ComparedTrace {
            name: "d".to_owned(),
            violation: "deadlock".to_owned(),
            steps: steps.iter().map(step).collect(),
        }
    }

    #[test]
    fn traces_differ_at_the_first_other_step_or_state() {
        let one = trace(&[("init", 0), ("a", 1), ("b", 2)]);
        for (other, step) in [
            (trace(&[("init", 0), ("a", 1), ("b", 2)]), None),
            (trace(&[("init", 0), ("a", 1), ("c", 2)]), Some(2)),
            (trace(&[("init", 0), ("a", 3), ("b", 2)]), Some(1)),
            (trace(&[("init", 5), ("a", 1), ("b", 2)]), Some(0)),
            (trace(&[("init", 0), ("a", 1)]), Some(2)),
            (trace(&[("init", 0), ("a", 1), ("b", 2), ("b", 3)]), Some(3)),
        ] {
            assert_eq!(find_difference(&one, &other), step.map(TraceDifference::Step));
        }
    }

    #[test]
    fn traces_of_the_same_steps_differ_by_their_violations_and_errors() {
        let steps = [("init", 0), ("a", 1)];
        let (one, mut other) = (trace(&steps), trace(&steps));
        other.violation = "invariant: small".to_owned();
        assert_eq!(find_difference(&one, &other), Some(TraceDifference::Violation));
        let mut failing = trace(&steps);
        failing.steps[1] = ComparedStep {
            title: "a".to_owned(),
            values: Vec::new(),
            fault: Some("error: two".to_owned()),
        };
        let difference = find_difference(&one, &failing);
        assert_eq!(difference, Some(TraceDifference::Step(1)));
        let told = print_difference([&one, &failing], &difference);
        assert!(told.ends_with("  differs  no error in A, error: two in B\n"), "{told}");
    }
}
