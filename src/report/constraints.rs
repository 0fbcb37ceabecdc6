//! The constraints that bound a search: those of flags, and those of the model's configuration.

use super::scope::CheckScope;
use super::table::row;
use crate::model::{ConditionModality, StateCondition};

/// A constraint that bounds a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchConstraint<'a> {
    /// The expression, or the name of its definition.
    pub text: &'a str,
    bounds_steps: bool,
}

/// Returns the constraints that bound a search with these conditions.
pub fn constraints<'a>(
    conditions: &'a [StateCondition],
    scope: &'a CheckScope,
) -> impl Iterator<Item = SearchConstraint<'a>> {
    let given = conditions.iter().filter(|it| it.holds == ConditionModality::Within);
    let given = given.map(|it| SearchConstraint { text: it.text.trim(), bounds_steps: false });
    let configured = scope.constraints.iter();
    configured
        .map(|it| SearchConstraint { text: &it.name, bounds_steps: it.bounds_steps })
        .chain(given)
}

/// Formats constraints as rows.
pub fn constraint_rows<'a>(all: impl Iterator<Item = SearchConstraint<'a>>) -> String {
    let each = all.map(|SearchConstraint { text, bounds_steps }| {
        let told = match bounds_steps {
            false => "states outside of it were checked, but not expanded",
            true => "steps outside of it were not taken",
        };
        row("constraint", &format!("{text}; {told}"))
    });
    each.collect()
}
