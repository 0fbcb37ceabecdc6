//! What is judged in a search for some checks, and what need not be, and so need not be preserved.

use super::{PreservedProperties, PropertyClass};
use crate::analysis::live_variables::bounds;
use crate::ir::{Expr, Program, PropertyId, PropertyKind};
use crate::model::CheckSelection;

/// Whether a property is judged: it is looked for, or judging it may be an error that is.
pub(super) fn is_property_checked(
    program: &Program,
    checks: CheckSelection,
    property: &PropertyKind,
) -> bool {
    let fails = |it: &Expr| checks.faults && bounds(program, it).is_none();
    match property {
        PropertyKind::Invariant(it) | PropertyKind::Cover(it) => checks.invariants || fails(it),
        PropertyKind::Reached => checks.invariants,
        PropertyKind::AssertionAt { condition, .. } => checks.assertions || fails(condition),
        PropertyKind::AtEnd(_) => checks.deadlock,
        PropertyKind::Assumption(_) | PropertyKind::Automaton(_) | PropertyKind::Claim(_) => true,
    }
}

/// Has a property that is not looked for ask for nothing.
pub(super) fn drop_unchecked(program: &mut Program, checks: CheckSelection, id: PropertyId) {
    if is_property_checked(program, checks, &program.properties[id].kind) {
        return;
    }
    match &mut program.properties[id].kind {
        PropertyKind::Invariant(it)
        | PropertyKind::Cover(it)
        | PropertyKind::AtEnd(it)
        | PropertyKind::AssertionAt { condition: it, .. } => {
            *it = Expr::constant(1, it.span);
        }
        _ => {}
    }
}

/// What is preserved of a program of which only what is checked stays: nothing that is said of runs.
pub(super) const fn preserved_for(checks: CheckSelection) -> PreservedProperties {
    let CheckSelection { deadlock, assertions, invariants, faults, .. } = checks;
    PreservedProperties::ALL
        .without(PropertyClass::Claims)
        .without(PropertyClass::StutteringClaims)
        .without(PropertyClass::StutterInvariant)
        .without_unless(deadlock, PropertyClass::Deadlocks)
        .without_unless(faults && assertions, PropertyClass::StepErrors)
        .without_unless(invariants && assertions, PropertyClass::Invariants)
}
