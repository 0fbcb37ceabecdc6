//! States that a user searches for, or asks about, by an expression.

use crate::model::{
    ConditionModality, StateCondition, StepDescription, StepOutcome, SystemDescription, Violation,
};
use crate::session::SourceModel;

/// The name of the goal among the properties of a model.
const GOAL: &str = "until";

/// The states that are searched for.
pub(super) enum StateGoal {
    /// The states that satisfy the property of this number, which the model reports if it holds.
    Reported(u32),
    /// The states that satisfy the property of this number, which the model reports if it does not hold.
    Unreported(u32),
    /// One state.
    // Without the explorer nobody asks for one.
    #[cfg_attr(not(feature = "http"), expect(dead_code))]
    State(Vec<u8>),
}

impl StateGoal {
    /// Returns the condition of an expression for [`of_condition`](StateGoal::of_condition).
    pub(super) fn condition(text: &str, is_program: bool) -> StateCondition {
        // A specification reports states in which an invariant does not hold, and no others.
        let holds = match is_program {
            true => ConditionModality::Sometimes,
            false => ConditionModality::Always,
        };
        StateCondition { name: Some(GOAL.to_owned()), ..StateCondition::new(holds, text) }
    }

    /// Returns the goal of a model that was read with such a condition.
    pub(super) fn of_condition(
        model: &dyn SourceModel,
        walked: &dyn SystemDescription,
    ) -> Option<StateGoal> {
        let number = walked.properties().iter().rposition(|it| it.name == GOAL)? as u32;
        Some(match model.as_program() {
            Some(_) => StateGoal::Reported(number),
            None => StateGoal::Unreported(number),
        })
    }

    /// Returns whether a state with these steps satisfies the goal. If the evaluation fails, it does not.
    pub(super) fn is_met(
        &self,
        walked: &dyn SystemDescription,
        state: &[u8],
        steps: &[StepDescription],
    ) -> bool {
        let reports = |number: u32| walked.violations(state).contains(&Violation::Property(number));
        match self {
            StateGoal::Reported(number) => reports(*number),
            StateGoal::Unreported(number) => {
                let fails = |it: &StepDescription| {
                    matches!(it.outcome, StepOutcome::Fault(_))
                        && walked.property_judged_by(it.action) == Some(*number)
                };
                !reports(*number) && !steps.iter().any(fails)
            }
            StateGoal::State(wanted) => state == wanted,
        }
    }
}
