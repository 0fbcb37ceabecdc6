//! Which sorts a program's values have, from walking through its text beside itself.

use super::sorts::{Scope, Shape, Sorts, Value};
use super::walking::{Pairs, Told};
use crate::budget::AnalysisBudget;
use crate::ir::interval::Interval;
use crate::ir::{LocalId, Program, PropertyKind};

/// The sorts of a program, unless it has something whose values nothing is known of, or the budget is exceeded.
pub(super) fn sorts(program: &Program, budget: &AnalysisBudget) -> Option<Sorts> {
    let mut pairs = Pairs::new(program, Learning { sorts: Sorts::apart(program)? }, budget);
    for (id, process) in program.processes.iter() {
        pairs.life(id, process, process)?;
        pairs.prologue(process, process)?;
    }
    for (id, action) in program.actions.iter() {
        pairs.action((id, action), action)?;
    }
    for (id, property) in program.properties.iter() {
        match property.kind {
            // Automata do not move, and beside a claim nothing is exchanged.
            PropertyKind::Automaton(_) | PropertyKind::Claim(_) => {}
            _ => pairs.property((id, property), property)?,
        }
    }
    Some(pairs.told.sorts)
}

/// Has values that meet be of one sort.
struct Learning {
    sorts: Sorts,
}

impl Told for Learning {
    const NOTHING_MOVES: bool = true;
    type Mark = ();

    fn mark(&self) {}

    /// A text that is walked beside itself corresponds, so that nothing is tried.
    fn take_back(&mut self, (): ()) {}

    fn sorts(&self) -> &Sorts {
        &self.sorts
    }

    fn meet(&mut self, one: Value, other: Value) -> Option<()> {
        match (one, other) {
            (Value::Of { sort, .. }, Value::Of { sort: other, .. }) => self.sorts.join(sort, other),
            (Value::Of { .. }, Value::Plain) => self.fix(one)?,
            (Value::Plain, Value::Of { .. }) => self.fix(other)?,
            _ => {}
        }
        Some(())
    }

    fn fix(&mut self, value: Value) -> Option<()> {
        if let Value::Of { sort, .. } = value {
            self.sorts.fix(sort);
        }
        Some(())
    }

    fn shapes_meet(&mut self, one: &Shape, other: &Shape) -> Option<()> {
        self.sorts.join_shapes(one, other)
    }

    fn bind(&mut self, scope: Scope, local: LocalId, range: Interval) -> Option<()> {
        self.sorts.bind(scope, local, range);
        Some(())
    }
}
