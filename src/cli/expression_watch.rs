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
    StateCondition { name: Some(name.to_owned()), ..StateCondition::new(holds, text) }
}

/// Returns the variable of this name, or the part of a variable: `st[Node_1].at`.
pub(super) fn part_of<'v>(
    values: &'v [(String, StateValue)],
    text: &str,
) -> Option<&'v StateValue> {
    values.iter().find_map(|(name, value)| part_in(value, text.strip_prefix(name.as_str())?))
}

fn part_in<'v>(value: &'v StateValue, rest: &str) -> Option<&'v StateValue> {
    if rest.is_empty() {
        return Some(value);
    }
    let parts = value.named_parts().into_iter();
    { parts }.find_map(|(name, part)| part_in(part, rest.strip_prefix(name.as_str())?))
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

    /// Returns why the expression is no condition, as its value in a state shows: it is a number other than that of a
    /// variable, or a specification cannot evaluate it.
    pub(super) fn is_no_condition(
        self,
        walk: &ModelWalk<'_>,
        state: &[u8],
        text: &str,
    ) -> Option<String> {
        match self.value(walk, state).ok()? {
            Some(StateValue::Number(number))
                if part_of(&walk.walked.describe(state), text).is_none() =>
            {
                Some(format!(
                    "its value is the number {number}; compare it, as in `{text} == {number}`"
                ))
            }
            Some(_) => None,
            None => {
                let steps = walk.walked.steps(state);
                self.fault(walk.walked, &steps).map(|it| it.message.clone())
            }
        }
    }

    /// Returns the value of the expression in a state: a number where the language has numbers as conditions, otherwise
    /// a truth value. `None` if a specification cannot evaluate it.
    ///
    /// # Errors
    ///
    /// If a program cannot evaluate the expression.
    pub(super) fn value(
        self,
        walk: &ModelWalk<'_>,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault> {
        if let Some(program) = walk.model.as_program()
            && let Some(value) = program.condition_value(self.number, state)?
        {
            return Ok(Some(value));
        }
        let truth = self.truth(walk.walked, state, &walk.walked.steps(state));
        Ok(truth.map(StateValue::Truth))
    }
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
