//! Which properties are checked, and so must be preserved.

use super::{PreservedProperties, PropertyClass};
use spillway_analysis::live_variables::bounds;
use spillway_ir::{Expr, Program, PropertyId, PropertyKind};
use spillway_model::CheckSelection;

/// Whether a property is evaluated: it is checked, or its evaluation may fail with a checked error.
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
        PropertyKind::Assumption(_) | PropertyKind::Constraint(_) => true,
        PropertyKind::Automaton(_) | PropertyKind::Claim(_) => true,
    }
}

/// Removes the condition of a property that is not checked.
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

/// Returns the classes that are preserved if only the checked properties stay in the program. Properties of infinite
/// runs are not.
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
