//! `trace --eval`: values of variables and conditions in each state of a counterexample.

use super::args::TraceArgs;
use super::explored_trace::ExploredTrace;
use super::expression_watch::{self, ExpressionWatch};
use super::failure::{CommandFailure, VIOLATED};
use super::model_walk::{ModelWalk, WalkStep};
use super::reachable_graph::walkable;
use super::trace::none_to_print;
use super::trace_position::with_found_trace;
use super::{CommandResult, print, print_json, warnings};
use crate::model::{StateValue, StepDescription, StepOutcome};
use crate::report::{EvaluatedTrace, evaluations_as_json, print_evaluations};
use crate::session::config::split_list;
use crate::session::{DirectoryContents, FoundTrace, SearchJob, SourceModel};
use std::path::Path;

/// An item of the flag.
enum EvaluatedItem {
    /// A variable or a part of one.
    Variable(String),
    /// A condition, with the number of the condition that evaluates it.
    Condition(String),
}

/// `spillway trace --eval` of the search in a directory.
pub(super) fn evaluate(
    args: &TraceArgs,
    dir: &Path,
    contents: &DirectoryContents,
) -> CommandResult {
    let texts: Vec<String> = args
        .eval
        .iter()
        .flat_map(|it| split_list(it))
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect();
    if texts.is_empty() {
        return Err(CommandFailure::wrong("--eval needs a variable or a condition"));
    }
    let mut explored = None;
    let mut items = Vec::new();
    with_found_trace(dir, contents, |found| {
        let found = found.ok_or_else(none_to_print)?;
        items = texts.iter().map(|it| classify(it, &found)).collect();
        explored = Some(ExploredTrace::of(&found));
        Ok(VIOLATED)
    })?;
    let Some(trace) = explored else { return Err(none_to_print()) };
    let model = model_of(&contents.job, &items)?;
    let searched = model.searched();
    let mut walk = ModelWalk::new(&*model, walkable(&searched));
    let watches = watches_of(&items, &walk);
    walk.watched = watches.iter().flatten().map(|it| it.number).collect();
    let mut states = Vec::new();
    for &choice in &trace.choices {
        if !walk.take(choice) {
            unreachable!("a further condition changes no step");
        }
        states.extend(walk.state().map(|it| values(&walk, it, &items, &watches)));
    }
    reject_without_value(&walk, &texts, &watches, &states)?;
    let evaluated = EvaluatedTrace {
        violation: trace.to,
        expressions: texts,
        states,
        loop_start: trace.loop_start,
    };
    match args.json {
        true => print_json(&format!("{:#}\n", evaluations_as_json(&evaluated, &warnings()))),
        false => print(&print_evaluations(&evaluated)),
    }
    Ok(VIOLATED)
}

/// Returns the kind of an item: a variable if some state of the counterexample has it, else a condition.
fn classify(text: &str, found: &FoundTrace<'_>) -> EvaluatedItem {
    let state_has = |it: &StepDescription| match &it.outcome {
        StepOutcome::Successor(state) => part_of(&found.walked.describe(state), text).is_some(),
        StepOutcome::Fault(_) => false,
    };
    match found.steps.iter().any(state_has) {
        true => EvaluatedItem::Variable(text.to_owned()),
        false => EvaluatedItem::Condition(text.to_owned()),
    }
}

/// Reads the model with the conditions.
fn model_of(
    job: &SearchJob,
    items: &[EvaluatedItem],
) -> Result<Box<dyn SourceModel>, CommandFailure> {
    let is_program = !job.is_of_specification();
    let conditions = items.iter().filter_map(|it| match it {
        EvaluatedItem::Condition(text) => {
            Some(expression_watch::condition(&condition_name(text), text, is_program))
        }
        EvaluatedItem::Variable(_) => None,
    });
    let conditions: Vec<_> = conditions.collect();
    if conditions.is_empty() {
        return Ok(job.unreduced_model()?);
    }
    job.model_with_conditions(conditions)?.ok_or_else(|| {
        CommandFailure::wrong(
            "the counterexample violates a temporal property, and no expression is evaluated beside it\n  help: name \
             variables, or parts of them",
        )
    })
}

/// Returns the name of a condition among the properties of the model.
fn condition_name(text: &str) -> String {
    format!("--eval {text}")
}

/// Finds the conditions among the properties of the model. `None` for variables.
fn watches_of(items: &[EvaluatedItem], walk: &ModelWalk<'_>) -> Vec<Option<ExpressionWatch>> {
    let watch = |it: &EvaluatedItem| match it {
        EvaluatedItem::Condition(text) => {
            ExpressionWatch::of_condition(&condition_name(text), walk.model, walk.walked)
        }
        EvaluatedItem::Variable(_) => None,
    };
    items.iter().map(watch).collect()
}

/// Rejects a condition that has a value in no state, with the reason in the first.
fn reject_without_value(
    walk: &ModelWalk<'_>,
    texts: &[String],
    watches: &[Option<ExpressionWatch>],
    states: &[Vec<Option<StateValue>>],
) -> Result<(), CommandFailure> {
    let Some(first) = walk.steps.first().and_then(WalkStep::state) else { return Ok(()) };
    for (number, (text, watch)) in texts.iter().zip(watches).enumerate() {
        let has_value = states.iter().any(|it| it[number].is_some());
        let why = watch.filter(|_| !has_value).and_then(|it| it.failure(walk, first));
        if let Some(why) = why {
            return Err(CommandFailure::wrong(format!(
                "`{text}` has no value in any state: {why}"
            )));
        }
    }
    Ok(())
}

/// Returns the values of the items in a state. `None` where there is no such variable, or the evaluation fails.
fn values(
    walk: &ModelWalk<'_>,
    state: &[u8],
    items: &[EvaluatedItem],
    watches: &[Option<ExpressionWatch>],
) -> Vec<Option<StateValue>> {
    let described = walk.walked.describe(state);
    let value = |(item, watch): (&EvaluatedItem, &Option<ExpressionWatch>)| match (item, watch) {
        (EvaluatedItem::Variable(text), _) => part_of(&described, text).cloned(),
        (EvaluatedItem::Condition(_), Some(watch)) => watch.value(walk, state).ok().flatten(),
        (EvaluatedItem::Condition(_), None) => None,
    };
    items.iter().zip(watches).map(value).collect()
}

/// Returns the variable of this name, or the part of a variable: `st[Node_1].at`.
fn part_of<'v>(values: &'v [(String, StateValue)], text: &str) -> Option<&'v StateValue> {
    values.iter().find_map(|(name, value)| part_in(value, text.strip_prefix(name.as_str())?))
}

fn part_in<'v>(value: &'v StateValue, rest: &str) -> Option<&'v StateValue> {
    if rest.is_empty() {
        return Some(value);
    }
    let parts = value.named_parts().into_iter();
    { parts }.find_map(|(name, part)| part_in(part, rest.strip_prefix(name.as_str())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_variables_are_found_by_their_names() {
        let record = StateValue::Record(vec![("at".to_owned(), StateValue::Number(3))]);
        let array = StateValue::Array(1, vec![StateValue::Number(7), record]);
        let values = [("x".to_owned(), StateValue::Number(1)), ("xs".to_owned(), array)];
        let found = |text: &str| part_of(&values, text).map(ToString::to_string);
        assert_eq!(found("x").as_deref(), Some("1"));
        assert_eq!(found("xs[1]").as_deref(), Some("7"));
        assert_eq!(found("xs[2].at").as_deref(), Some("3"));
        for text in ["", "y", "x[1]", "xs[3]", "xs[2].to", "xs[2].at == 3", "x + 1"] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
