//! States that a user of the explorer searches for.

use super::expression_watch::{self, ExpressionWatch};
use crate::model::{StateCondition, StepDescription, SystemDescription};
use crate::session::SourceModel;

/// The name of the goal among the properties of a model.
const GOAL: &str = "until";

/// The states that are searched for.
pub(super) enum StateGoal {
    /// The states that satisfy an expression.
    Expression(ExpressionWatch),
    /// One state.
    State(Vec<u8>),
}

impl StateGoal {
    /// Returns the condition of an expression for [`of_condition`](StateGoal::of_condition).
    pub(super) fn condition(text: &str, is_program: bool) -> StateCondition {
        expression_watch::condition(GOAL, text, is_program)
    }

    /// Returns the goal of a model that was read with such a condition.
    pub(super) fn of_condition(
        model: &dyn SourceModel,
        walked: &dyn SystemDescription,
    ) -> Option<StateGoal> {
        ExpressionWatch::of_condition(GOAL, model, walked).map(StateGoal::Expression)
    }

    /// Returns whether a state with these steps satisfies the goal. If the evaluation fails, it does not.
    pub(super) fn is_met(
        &self,
        walked: &dyn SystemDescription,
        state: &[u8],
        steps: &[StepDescription],
    ) -> bool {
        match self {
            StateGoal::Expression(watch) => watch.holds(walked, state, steps),
            StateGoal::State(wanted) => state == wanted,
        }
    }
}
