//! Execution of one action instance, with a record of each cell of the state that it reads.
//!
//! The outcome of an instance is a function of the cells it reads: two states that agree on these cells have the same
//! outcome. So an analysis of an instance in all states need not try all of them.

use super::frames::{EvalContext, LocalEnv, LocalValue};
use super::{EvalFailure, Interp, MultisetCells};
use spillway_analysis::instances::InstanceSide;
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, Program, PropertyId, Schedule};
use spillway_model::StateSpace;
use std::sync::{Mutex, PoisonError};

/// The cells that were read, in order; some may repeat.
#[derive(Debug, Default)]
pub(super) struct CellReads(Mutex<Vec<CellId>>);

impl CellReads {
    fn cells(&self) -> std::sync::MutexGuard<'_, Vec<CellId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interp {
    /// Returns the value in a cell, or `None` if it is undefined.
    #[inline]
    pub(super) fn value_in(&self, state: &[u8], cell: CellId) -> Option<i64> {
        self.note(cell);
        self.layout.get(state, cell)
    }

    /// Returns the code in a cell.
    #[inline]
    pub(super) fn code_in(&self, state: &[u8], cell: CellId) -> u64 {
        self.note(cell);
        self.layout.any_code(state, cell)
    }

    #[inline]
    fn note(&self, cell: CellId) {
        if let Some(reads) = &self.reads
            && cell.0 < self.layout.state_cells
        {
            reads.cells().push(cell);
        }
    }
}

/// The outcome of an action instance in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceOutcome {
    /// It is disabled, leads to an excluded state, or leads back to the same state.
    Nothing,
    /// A run-time error.
    Fault,
    /// The successor.
    State(Vec<u8>),
}

/// Takes action instances one by one, in states with bits for all declared values of variables.
#[derive(Debug)]
pub struct ReadRecorder {
    interp: Interp,
}

impl ReadRecorder {
    /// Creates a recorder for a program in which only the guard and the process location decide whether an action is
    /// enabled.
    pub fn new(program: &Program) -> Option<ReadRecorder> {
        let mut interp = Interp::as_declared(program.clone()).ok()?;
        let is_plain = program.schedule == Schedule::Interleaved
            && !(interp.has_slots || interp.has_committed || interp.has_priorities)
            && !interp.has_timeout
            && program.last.is_none();
        interp.reads = Some(CellReads::default());
        is_plain.then_some(ReadRecorder { interp })
    }

    /// Returns the layout of the variables.
    pub fn layout(&self) -> &Layout {
        &self.interp.layout
    }

    /// Returns every multiset of a state, inner ones before those that contain them.
    pub fn multisets(&self) -> &[MultisetCells] {
        &self.interp.multisets
    }

    /// Returns the size of a state in bytes.
    pub fn width(&self) -> usize {
        self.interp.width()
    }

    /// Returns the outcome of an action that needs no partner, with these parameter values, and the cells it read, in
    /// order.
    pub fn take(
        &self,
        side: InstanceSide,
        values: &[i64],
        state: &[u8],
    ) -> (InstanceOutcome, Vec<CellId>) {
        let Some(reads) = &self.interp.reads else { return (InstanceOutcome::Nothing, Vec::new()) };
        reads.cells().clear();
        let came = match self.step(side, values, state) {
            Ok(Some(state)) => InstanceOutcome::State(state),
            Ok(None) => InstanceOutcome::Nothing,
            Err(_) => InstanceOutcome::Fault,
        };
        (came, std::mem::take(&mut *reads.cells()))
    }

    /// Returns whether a property of single states holds in a state, if evaluation does not fail, and the cells it
    /// read.
    pub fn evaluate_property(
        &self,
        property: PropertyId,
        state: &[u8],
    ) -> (Option<bool>, Vec<CellId>) {
        let Some(reads) = &self.interp.reads else { return (None, Vec::new()) };
        reads.cells().clear();
        let judged = self.interp.judged.iter().find(|it| it.0 == property.0);
        let holds = judged.map_or(Some(true), |it| self.interp.holds_in(&it.1, state).ok());
        (holds, std::mem::take(&mut *reads.cells()))
    }

    fn step(
        &self,
        side: InstanceSide,
        values: &[i64],
        state: &[u8],
    ) -> Result<Option<Vec<u8>>, EvalFailure> {
        let interp = &self.interp;
        let action = &interp.program.actions[side.action];
        let locals = LocalEnv::new(&interp.layout.frames.actions[side.action]);
        for (parameter, &value) in action.parameters.iter().zip(values) {
            locals.set(parameter.local, LocalValue::Value(value));
        }
        if let Some(edge) = action.edge
            && interp.location(state, edge.process) != edge.from
        {
            return Ok(None);
        }
        if !interp.is_enabled(action, state, &locals)? {
            return Ok(None);
        }
        let mut work = Vec::new();
        let context = EvalContext { state, locals: &locals };
        match interp.take(action, context, &mut work, &mut |_| {})? {
            true => Ok(interp.arrive(&mut work)?.successor().map(<[u8]>::to_vec)),
            false => Ok(None),
        }
    }
}
