//! Counterexamples as TLC prints them, with values in TLA+.

use super::ValuedTrace;
use crate::model::{StateValue, StepDescription, StepOutcome};
use crate::source::{SourceMap, Span};
use std::path::Path;

/// Formats a counterexample as the states that TLC prints.
pub(super) fn text(told: &ValuedTrace) -> String {
    let mut out = format!("\\* {}\n", told.title);
    for (number, (step, values)) in told.steps.iter().enumerate() {
        match (values, &step.outcome) {
            (Some(values), _) => {
                out += &format!("State {}: <{}>\n", number + 1, action(told, number, step));
                out += &conjunction(values);
            }
            (None, StepOutcome::Fault(fault)) => {
                out += &format!("\\* {} fails: {}\n", action(told, number, step), fault.message);
            }
            (None, StepOutcome::Successor(_)) => {}
        }
        out.push('\n');
    }
    if let Some(back) = told.loop_start {
        out += &format!("Back to state {}\n", back + 1);
    }
    out
}

/// Formats an action with its position.
fn action(told: &ValuedTrace, number: usize, step: &StepDescription) -> String {
    if number == 0 {
        return "Initial predicate".to_owned();
    }
    let place = step.spans.first().and_then(|it| extent(told.sources, *it));
    place.map_or_else(|| step.name.clone(), |it| format!("{} {it}", step.name))
}

/// Formats the extent of a span: `line 3, col 1 to line 5, col 20 of module M`.
fn extent(sources: &SourceMap, span: Span) -> Option<String> {
    let file = sources.get(span.file)?;
    let (start, end) = (file.position(span.start), file.position(span.end));
    let module = Path::new(&file.name).file_stem()?.to_string_lossy();
    Some(format!(
        "line {}, col {} to line {}, col {} of module {module}",
        start.line,
        start.column,
        end.line,
        // TLC names the last column, not the one after it.
        end.column.saturating_sub(1)
    ))
}

/// Formats a state as a conjunction, a line for each variable. A single variable is no list.
fn conjunction(values: &[(String, StateValue)]) -> String {
    let bullet = if values.len() > 1 { "/\\ " } else { "" };
    values.iter().map(|(name, it)| format!("{bullet}{name} = {}\n", expression(it))).collect()
}

/// Formats a value as an expression.
fn expression(value: &StateValue) -> String {
    let listed = |all: &[StateValue]| all.iter().map(expression).collect::<Vec<_>>().join(", ");
    let function = |pairs: Vec<(String, &StateValue)>| {
        let pairs = pairs.into_iter().map(|(key, it)| format!("{key} :> {}", expression(it)));
        format!("({})", pairs.collect::<Vec<_>>().join(" @@ "))
    };
    match value {
        StateValue::Number(number) => number.to_string(),
        StateValue::Truth(true) => "TRUE".to_owned(),
        StateValue::Truth(false) => "FALSE".to_owned(),
        StateValue::Name(text) | StateValue::Written(text, _) => text.clone(),
        StateValue::Set(all) => format!("{{{}}}", listed(all)),
        StateValue::Undefined => "\"undefined\"".to_owned(),
        StateValue::Array(1, all)
        | StateValue::Queue(all)
        | StateValue::Bag(all)
        | StateValue::Message(all) => format!("<<{}>>", listed(all)),
        StateValue::Array(first, all) => {
            function((*first..).zip(all).map(|(key, it)| (key.to_string(), it)).collect())
        }
        StateValue::Table(pairs) => {
            function(pairs.iter().map(|(key, it)| (key.clone(), it)).collect())
        }
        StateValue::Record(fields) => {
            let fields = fields.iter().map(|(name, it)| format!("{name} |-> {}", expression(it)));
            format!("[{}]", fields.collect::<Vec<_>>().join(", "))
        }
    }
}
