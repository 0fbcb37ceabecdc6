//! The scope of a verdict on a specification.

use super::scope::{ASSERTIONS, COVERS, CheckScope, INVARIANTS, UncheckedSpec};
use crate::model::{COVER, SystemDescription};
use crate::search::CheckSelection;
use crate::source::SourceMap;
use crate::tla::system::SpecificationSystem;

impl CheckScope {
    /// Returns the scope of a search of a specification for `checks`.
    pub fn of_specification(
        system: &SpecificationSystem,
        checks: &CheckSelection,
        sources: &SourceMap,
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
        let invariants = properties.iter().any(|it| it.kind != COVER);
        let given = |there: bool, word, why| if there { Ok(word) } else { Err(why) };
        let assertions =
            given(system.has_assertions(), ASSERTIONS, "the specification has no assertion");
        scope.add(checks.assertions, assertions);
        if invariants || !covers {
            let why = "the configuration has no invariant";
            scope.add(checks.invariants, given(invariants, INVARIANTS, why));
        }
        if covers {
            scope.add(checks.invariants, Ok(COVERS));
        }
        scope.add(checks.faults, Ok("run-time errors"));
        let unchecked = system.unchecked().into_iter().map(|it| UncheckedSpec {
            kind: it.kind,
            what: it.kind.name(),
            place: sources.place(it.span),
            flag: it.kind.flag(&it.name),
            name: it.name,
        });
        scope.unchecked = unchecked.collect();
        scope
    }
}
