//! Expressions of the model's language in the current state.
//!
//! A variable or a part of one is found in the description of the state. For any other expression the model is read again
//! with the expression as a further condition, which changes no step. Such a model is kept for the next evaluation.

use super::variables::StateVariables;
use crate::cli::expression_watch::{self, ExpressionWatch};
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::cli::reachable_graph::walkable;
use crate::front::Language;
use crate::model::StateValue;
use crate::session::{SearchJob, SourceModel};
use std::collections::HashMap;
use thiserror::Error;

/// The name of the expression among the properties of its model.
const EVALUATED: &str = "evaluate";

/// The maximum number of expressions whose models are kept.
const KEPT_MAX: usize = 16;

/// Why an expression has no value.
#[derive(Debug, Error)]
pub(super) enum EvaluationError {
    /// The text is no expression of the language.
    #[error("{0}")]
    Expression(String),
    /// The counterexample violates a temporal property.
    #[error(
        "{0} is no variable; beside a temporal property only variables and their parts are evaluated"
    )]
    BesideAutomaton(String),
    /// The evaluation failed.
    #[error("{0}")]
    Fault(String),
    /// The last step has failed, so that there is no state.
    #[error(
        "the last step has failed: an expression has no value in it; a step back leads to a state"
    )]
    NoState,
}

/// A model that was read with a condition, and the steps of its walk so far.
struct ConditionedModel {
    model: Box<dyn SourceModel>,
    steps: Vec<WalkStep>,
}

/// Evaluates expressions.
pub(super) struct ExpressionEvaluator<'e> {
    job: &'e SearchJob,
    kept: HashMap<String, ConditionedModel>,
}

impl<'e> ExpressionEvaluator<'e> {
    pub(super) fn new(job: &'e SearchJob) -> ExpressionEvaluator<'e> {
        ExpressionEvaluator { job, kept: HashMap::new() }
    }

    /// Returns the value of an expression after some choices, in the frame of a process.
    pub(super) fn evaluate(
        &mut self,
        expression: &str,
        choices: &[usize],
        variables: &StateVariables,
        process: Option<usize>,
    ) -> Result<StateValue, EvaluationError> {
        let expression = expression.trim();
        if let Some(value) = variables.find(expression, process) {
            return Ok(value);
        }
        let separator = Language::from_name(self.job.language()).and_then(|it| it.local_separator);
        let qualified = process.zip(separator);
        let qualified = qualified.map(|(process, it)| variables.qualified(expression, process, it));
        let conditioned = self.conditioned(qualified.as_deref().unwrap_or(expression))?;
        let searched = conditioned.model.searched();
        let mut walk = ModelWalk::new(&*conditioned.model, walkable(&searched));
        walk.steps = std::mem::take(&mut conditioned.steps);
        let is_there = walk.go(choices);
        let value = match walk.state().filter(|_| is_there) {
            None => Err(EvaluationError::NoState),
            Some(state) => value_in(&walk, state),
        };
        conditioned.steps = walk.steps;
        value
    }

    /// Returns the model with an expression as a condition.
    fn conditioned(&mut self, expression: &str) -> Result<&mut ConditionedModel, EvaluationError> {
        if self.kept.len() >= KEPT_MAX && !self.kept.contains_key(expression) {
            self.kept.clear();
        }
        if !self.kept.contains_key(expression) {
            let is_program = !self.job.is_of_specification();
            let condition = expression_watch::condition(EVALUATED, expression, is_program);
            let model = self.job.model_with_conditions(vec![condition]);
            let model = model.map_err(|it| EvaluationError::Expression(it.to_string()))?;
            let model =
                model.ok_or_else(|| EvaluationError::BesideAutomaton(format!("`{expression}`")))?;
            let steps = Vec::new();
            self.kept.insert(expression.to_owned(), ConditionedModel { model, steps });
        }
        Ok(self.kept.get_mut(expression).unwrap_or_else(|| unreachable!("it was inserted")))
    }
}

/// Returns the value of the condition with which the model of a walk was read.
fn value_in(walk: &ModelWalk<'_>, state: &[u8]) -> Result<StateValue, EvaluationError> {
    let watch = ExpressionWatch::of_condition(EVALUATED, walk.model, walk.walked);
    let Some(watch) = watch else { unreachable!("the model was read with the condition") };
    let value = watch.value(walk, state).map_err(|it| EvaluationError::Fault(it.message))?;
    value.ok_or_else(|| {
        EvaluationError::Fault(
            "the expression has no value; this is a bug in spillway, please report it".to_owned(),
        )
    })
}
