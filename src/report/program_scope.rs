//! The scope of a verdict on a program.

use super::scope::{ASSERTIONS, CheckScope, EVENTS, GivenConditions, UncheckedSpec};
use crate::ir::walk;
use crate::ir::{AssertionKind, AssertionRule, Program, PropertyKind, Stmt, StmtKind};
use crate::search::CheckSelection;
use crate::source::SourceMap;

impl UncheckedSpec {
    /// Returns all properties of a program that no search of it checks.
    pub fn all(program: &Program, sources: &SourceMap) -> Vec<UncheckedSpec> {
        program.unchecked.iter().map(|it| UncheckedSpec::of(it, sources)).collect()
    }
}

impl CheckScope {
    /// Returns the scope of a search of `program` for `checks`.
    pub fn of(program: &Program, checks: &CheckSelection, sources: &SourceMap) -> CheckScope {
        let claim = claim_of(program);
        let steps = (program.actions.len() + program.starts.len()) as u32;
        let mut scope = CheckScope {
            checks: *checks,
            continues_after_assertions: program.assertions == AssertionRule::Continue,
            // The moves of a claim also have numbers after those of steps.
            judging_from: if claim.is_some() { u32::MAX } else { steps },
            ..Self::default()
        };
        match claim {
            None => scope.add(checks.deadlock, Ok("deadlocks")),
            Some(name) => {
                scope.left_out.push("deadlocks".into());
                let why = format!("with the never claim {name}, deadlocks are not checked");
                scope.impossible.extend(checks.deadlock.then_some(why));
            }
        }
        let invariants = has(program, |kind| matches!(kind, PropertyKind::Invariant(_)));
        let given = |there: bool, word, why| if there { Ok(word) } else { Err(why) };
        let at_locations = has(program, |it| matches!(it, PropertyKind::AssertionAt { .. }));
        let conditions = at_locations || asserts(program, AssertionKind::Condition);
        let events = asserts(program, AssertionKind::Event);
        if conditions || !events {
            let assertions = given(conditions, ASSERTIONS, "the model has no assertion");
            scope.add(checks.assertions, assertions);
        }
        if events {
            scope.add(checks.assertions, Ok(EVENTS));
        }
        let covers =
            has(program, |kind| matches!(kind, PropertyKind::Cover(_) | PropertyKind::Reached));
        scope.add_states(GivenConditions { invariants, covers }, "the model has no invariant");
        let claim = claim_word(program);
        let no_claim = "the model has no never claim";
        scope.add(checks.claims, claim.as_deref().ok_or(no_claim));
        scope.unchecked = UncheckedSpec::all(program, sources);
        scope
    }

    /// Returns the scope of an emptiness check of `program`, whose claim is the automaton, apart from the temporal
    /// property. The scope includes errors in steps if `errors` is set: the search covered all steps.
    pub fn of_runs(program: &Program, errors: bool, sources: &SourceMap) -> CheckScope {
        let of_states = |kind: &PropertyKind| matches!(kind, PropertyKind::AssertionAt { .. });
        let assertions = errors && !has(program, of_states);
        let checks =
            CheckSelection { claims: true, assertions, faults: errors, ..CheckSelection::NONE };
        let mut scope = CheckScope::of(program, &checks, sources);
        // The temporal property has a name of its own in such a report.
        scope.checked.retain(|it| Some(it) != claim_word(program).as_ref());
        scope.impossible.clear();
        scope
    }
}

fn has(program: &Program, wanted: impl Fn(&PropertyKind) -> bool) -> bool {
    program.properties.values().any(|property| wanted(&property.kind))
}

/// Returns the name of the claim of a program's search.
fn claim_of(program: &Program) -> Option<&str> {
    let mut properties = program.properties.values();
    let claim = properties.find(|it| matches!(it.kind, PropertyKind::Claim(_)));
    claim.map(|it| it.name.as_str())
}

fn claim_word(program: &Program) -> Option<String> {
    claim_of(program).map(|name| format!("never claim {name}"))
}

/// Returns whether a program has assertions of this kind.
fn asserts(program: &Program, wanted: AssertionKind) -> bool {
    let is_wanted =
        |it: &StmtKind| matches!(it, StmtKind::Assert { asserted, .. } if *asserted == wanted);
    let asserts = |body: &[Stmt]| walk::any_stmt(body, &is_wanted);
    program.actions.values().any(|it| asserts(&it.body))
        || program.functions.values().any(|it| asserts(&it.body))
        || program.starts.iter().any(|it| asserts(&it.body))
        || program.processes.values().any(|it| asserts(&it.life.prologue))
}
