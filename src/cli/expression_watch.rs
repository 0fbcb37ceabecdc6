//! Expressions of a user that are evaluated in the states of a walk. They are further conditions of the model.

use super::model_walk::ModelWalk;
use crate::model::{
    ConditionModality, RuntimeFault, StateCondition, StateValue, StepDescription, StepOutcome,
    SystemDescription, Violation,
};
use crate::session::SourceModel;

/// An expression in a model that was read with its [condition](condition).
#[derive(Clone, Copy)]
pub(super) struct ExpressionWatch {
    /// The number of the condition among the properties of the model.
    pub number: u32,
    /// Whether the model reports the states in which the expression holds. Otherwise it reports the others.
    reports_success: bool,
}

/// Returns the condition of an expression with a name for [`ExpressionWatch::of_condition`].
pub(super) fn condition(name: &str, text: &str, is_program: bool) -> StateCondition {
    // A specification reports states in which an invariant does not hold, and no others.
    let holds = match is_program {
        true => ConditionModality::Sometimes,
        false => ConditionModality::Always,
    };
    StateCondition {
        name: Some(name.to_owned()),
        watches: true,
        ..StateCondition::new(holds, text)
    }
}

impl ExpressionWatch {
    /// Returns the expression of this name in a model that was read with its condition.
    pub(super) fn of_condition(
        name: &str,
        model: &dyn SourceModel,
        walked: &dyn SystemDescription,
    ) -> Option<ExpressionWatch> {
        let number = walked.properties().iter().rposition(|it| it.name == name)? as u32;
        Some(ExpressionWatch { number, reports_success: model.as_program().is_some() })
    }

    /// Returns whether the expression holds in a state with these steps. If the evaluation fails, it does not.
    pub(super) fn holds(
        self,
        walked: &dyn SystemDescription,
        state: &[u8],
        steps: &[StepDescription],
    ) -> bool {
        self.truth(walked, state, steps) == Some(true)
    }

    /// Returns the truth value of the expression in a state with these steps. `None` if the evaluation fails.
    fn truth(
        self,
        walked: &dyn SystemDescription,
        state: &[u8],
        steps: &[StepDescription],
    ) -> Option<bool> {
        let is_reported = walked.violations(state).contains(&Violation::Property(self.number));
        let fails = self.fault(walked, steps).is_some();
        (!fails).then_some(is_reported == self.reports_success)
    }

    /// Returns the failed evaluation of the expression among the steps of a state.
    fn fault<'s>(
        self,
        walked: &dyn SystemDescription,
        steps: &'s [StepDescription],
    ) -> Option<&'s RuntimeFault> {
        let judges =
            |it: &&StepDescription| walked.property_judged_by(it.action) == Some(self.number);
        steps.iter().filter(judges).find_map(|it| match &it.outcome {
            StepOutcome::Fault(fault) => Some(fault),
            StepOutcome::Successor(_) => None,
        })
    }

    /// Returns why the expression is no condition, as a state shows: its value is a number by its operator, or a
    /// specification cannot evaluate it.
    pub(super) fn condition_refusal(self, walk: &ModelWalk<'_>, state: &[u8]) -> Option<String> {
        match walk.model.as_program() {
            Some(program) => program
                .is_number_as_condition(self.number)
                .then(|| "its value is a number; compare it with another one".to_owned()),
            None => self.failure(walk, state),
        }
    }

    /// Returns why the expression has no value in a state, if a step of the state shows the reason.
    pub(super) fn failure(self, walk: &ModelWalk<'_>, state: &[u8]) -> Option<String> {
        self.fault(walk.walked, &walk.walked.steps(state)).map(|it| it.message.clone())
    }

    /// Returns the value of the expression in a state: any value in a specification, a number where the language has
    /// numbers as conditions, otherwise a truth value.
    ///
    /// # Errors
    ///
    /// If the evaluation fails.
    pub(super) fn value(
        self,
        walk: &ModelWalk<'_>,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault> {
        if let Some(value) = walk.model.condition_value(self.number, state)? {
            return Ok(Some(value));
        }
        let truth = self.truth(walk.walked, state, &walk.walked.steps(state));
        Ok(truth.map(StateValue::Truth))
    }
}
