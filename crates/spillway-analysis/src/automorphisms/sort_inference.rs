//! Inference of the sorts of a program by a walk of its text with itself.

use super::pair_walk::{PairWalk, PairingRules};
use super::sorts::{LocalScope, ProgramSorts, SortedValue, TypeSorts};
use spillway_base::budget::AnalysisBudget;
use spillway_ir::interval::Interval;
use spillway_ir::{LocalId, Program, PropertyKind};

/// Returns the sorts of a program. Returns `None` if it has values of an unsupported type, or if the budget is
/// exceeded.
pub(super) fn sorts(program: &Program, budget: &AnalysisBudget) -> Option<ProgramSorts> {
    let mut pairs =
        PairWalk::new(program, SortInference { sorts: ProgramSorts::apart(program)? }, budget);
    for (id, process) in program.processes.iter() {
        pairs.life(id, process, process)?;
        pairs.prologue(process, process)?;
    }
    for id in program.actions.keys() {
        pairs.actions(id, id)?;
    }
    for (id, property) in program.properties.iter() {
        match property.kind {
            // Automata do not move, and nothing is exchanged where there is a claim.
            PropertyKind::Automaton(_) | PropertyKind::Claim(_) => {}
            _ => pairs.property(id, property, property)?,
        }
    }
    Some(pairs.rules.sorts)
}

/// Rules that join the sorts of values that meet.
struct SortInference {
    sorts: ProgramSorts,
}

impl PairingRules for SortInference {
    const NOTHING_MOVES: bool = true;
    type UndoMark = ();

    fn mark(&self) {}

    /// A walk of a text with itself never fails to correspond, so there is nothing to undo.
    fn undo_to(&mut self, (): ()) {}

    fn sorts(&self) -> &ProgramSorts {
        &self.sorts
    }

    fn unify(&mut self, one: SortedValue, other: SortedValue) -> Option<()> {
        match (one, other) {
            (SortedValue::Of { sort, .. }, SortedValue::Of { sort: other, .. }) => {
                self.sorts.join(sort, other)
            }
            (SortedValue::Of { .. }, SortedValue::Plain) => self.fix(one)?,
            (SortedValue::Plain, SortedValue::Of { .. }) => self.fix(other)?,
            _ => {}
        }
        Some(())
    }

    fn fix(&mut self, value: SortedValue) -> Option<()> {
        if let SortedValue::Of { sort, .. } = value {
            self.sorts.fix(sort);
        }
        Some(())
    }

    fn unify_shapes(&mut self, one: &TypeSorts, other: &TypeSorts) -> Option<()> {
        self.sorts.join_shapes(one, other)
    }

    fn bind(&mut self, scope: LocalScope, local: LocalId, range: Interval) -> Option<()> {
        self.sorts.bind(scope, local, range);
        Some(())
    }
}
