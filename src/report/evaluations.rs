//! The values of variables and conditions in the states of a counterexample.

use super::values::value;
use crate::escape;
use crate::model::StateValue;
use serde_json::{Value, json};

/// The values of expressions in each state of a counterexample.
pub struct EvaluatedTrace {
    /// The violation.
    pub violation: String,
    /// The expressions.
    pub expressions: Vec<String>,
    /// For each state, the value of each expression. `None` if it has no value there.
    pub states: Vec<Vec<Option<StateValue>>>,
    /// The number of the step after which a cycle begins, if the last step closes one.
    pub loop_start: Option<usize>,
}

/// Formats the values as a table, with a line for each state.
pub fn print_evaluations(trace: &EvaluatedTrace) -> String {
    let cell = |it: &Option<StateValue>| match it {
        Some(value) => escape::line(&value.to_string()).into_owned(),
        None => "-".to_owned(),
    };
    let heading = trace.expressions.iter().map(|it| escape::line(it).into_owned());
    let mut rows = vec![std::iter::once("step".to_owned()).chain(heading).collect::<Vec<_>>()];
    rows.extend(trace.states.iter().enumerate().map(|(number, values)| {
        std::iter::once(number.to_string()).chain(values.iter().map(cell)).collect()
    }));
    let columns = trace.expressions.len() + 1;
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = format!("counterexample to {}\n", escape::line(&trace.violation));
    for row in rows {
        let cells =
            row.iter().zip(&widths).enumerate().map(|(number, (text, &width))| match number {
                0 => format!("{text:>width$}"),
                _ => format!("{text:<width$}"),
            });
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out += "\n";
    }
    if let Some(step) = trace.loop_start {
        out += &format!("the last step leads back to the state after step {step}\n");
    }
    out
}

/// Returns the values as a JSON object.
pub fn evaluations_as_json(trace: &EvaluatedTrace, warnings: &[String]) -> Value {
    let state = |(number, values): (usize, &Vec<Option<StateValue>>)| {
        let values = values.iter().map(|it| it.as_ref().map_or(Value::Null, value));
        json!({ "step": number, "values": values.collect::<Vec<_>>() })
    };
    json!({
        "violation": trace.violation,
        "expressions": trace.expressions,
        "states": trace.states.iter().enumerate().map(state).collect::<Vec<_>>(),
        "loop_start": trace.loop_start,
        "warnings": warnings,
    })
}
