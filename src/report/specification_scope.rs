//! The scope of a verdict on a specification.

use super::scope::{ASSERTIONS, CheckScope, ConfiguredConstraint, GivenConditions, UncheckedSpec};
use crate::model::{COVER, POSTCONDITION, SystemDescription};
use crate::search::CheckSelection;
use crate::source::SourceMap;
use crate::tla::resolve::tree::DefinitionId;
use crate::tla::system::SpecificationSystem;

/// The word for POSTCONDITION in scopes.
const POSTCONDITIONS: &str = "postconditions";

impl CheckScope {
    /// Returns the scope of a search of a specification for `checks`. `given` is the number of constraints of flags.
    pub fn of_specification(
        system: &SpecificationSystem,
        checks: &CheckSelection,
        sources: &SourceMap,
        given: usize,
    ) -> CheckScope {
        let judging_from = system.evaluations_from();
        let mut scope = CheckScope { checks: *checks, judging_from, ..Self::default() };
        match system.checks_deadlock() {
            true => scope.add(checks.deadlock, Ok("deadlocks")),
            false => {
                scope.left_out.push("deadlocks".into());
                let why = "the configuration has CHECK_DEADLOCK FALSE".to_owned();
                scope.impossible.extend(checks.deadlock.then_some(why));
            }
        }
        let properties = system.properties();
        let covers = properties.iter().any(|it| it.kind == COVER);
        let postconditions = properties.iter().any(|it| it.kind == POSTCONDITION);
        let invariants = properties.iter().any(|it| it.kind != COVER && it.kind != POSTCONDITION);
        let assertions = match system.has_assertions() {
            true => Ok(ASSERTIONS),
            false => Err("the specification has no assertion"),
        };
        scope.add(checks.assertions, assertions);
        let there = GivenConditions { invariants, covers };
        scope.add_states(there, "the configuration has no invariant");
        if postconditions {
            scope.add(checks.invariants, Ok(POSTCONDITIONS));
        }
        let unchecked = system.unchecked();
        scope.unchecked = unchecked.iter().map(|it| UncheckedSpec::of(it, sources)).collect();
        scope.constraints = configured_constraints(system, given);
        scope
    }
}

/// Returns the constraints of the configuration. Those of flags, `given` ones, are behind them.
fn configured_constraints(system: &SpecificationSystem, given: usize) -> Vec<ConfiguredConstraint> {
    let specification = &system.program().specification;
    let checks = &specification.checks;
    let of = |definitions: &[DefinitionId], bounds_steps: bool| {
        let named = definitions.iter().map(|it| specification[*it].name.clone());
        named.map(|name| ConfiguredConstraint { name, bounds_steps }).collect::<Vec<_>>()
    };
    let own = checks.constraints.len().saturating_sub(given);
    [of(&checks.constraints[..own], false), of(&checks.action_constraints, true)].concat()
}
