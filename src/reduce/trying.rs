//! Steps of single action instances, tried in all states.
//!
//! A step is taken in a state of which nothing is known yet. The first cell that it looks at is then given each of its
//! values in turn, and so on, until all that it looks at is known. What else a state holds is neither looked at nor decides
//! what is written. So it is enough to try two states of each kind, in which all other cells differ: what is the same in both
//! is the same in all.

use crate::analysis::dependence::Dependence;
use crate::analysis::instances::{ActionInstance, InstanceId, Side};
use crate::exec::Interp;
use crate::exec::interp::{Came, Recorder};
use crate::ir::layout::CellId;
use crate::ir::{Layout, PropertyId};
use std::collections::BTreeMap;

/// What is known of a state: codes of cells, as declared.
pub(super) type Assumed = BTreeMap<CellId, u32>;

/// Two states of one kind: in cells of which nothing is known they differ.
pub(super) type Both = [Vec<u8>; 2];

/// What came of a step in states of one kind.
pub(super) enum Taken {
    /// It is not possible.
    Nothing,
    /// It leads on.
    To(Both),
    /// More has to be known first: what is in this cell.
    Unknown(CellId),
    /// It may fail.
    Fails,
}

/// Units of work to take a step, beside the bytes of a state.
const EACH_STEP: u64 = 64;

/// Tries steps of a program.
pub(super) struct Trying<'t> {
    dependence: &'t Dependence<'t>,
    recorder: Recorder,
    /// States in which all cells have code 0, or code 1 if there is one.
    blank: Both,
}

impl<'t> Trying<'t> {
    /// Of a program of which steps can be tried one by one.
    pub(super) fn new(interp: &Interp, dependence: &'t Dependence<'t>) -> Option<Trying<'t>> {
        let recorder = Recorder::new(interp.program())?;
        let layout = recorder.layout();
        let blank = [0, 1].map(|other: u32| {
            let mut state = vec![0; recorder.width()];
            for cell in (0..layout.state_cells).map(CellId) {
                layout.set_code(&mut state, cell, other.min(layout.cells[cell].count() - 1));
            }
            state
        });
        Some(Trying { dependence, recorder, blank })
    }

    /// Units of work to try a step in two states.
    pub(super) fn units(&self) -> u64 {
        EACH_STEP + self.blank[0].len() as u64
    }

    /// Where variables live in states that are tried.
    pub(super) fn layout(&self) -> &Layout {
        self.recorder.layout()
    }

    /// Whether an instance is one action's step that uses neither channels nor multisets, and whether it is possible is its own
    /// matter.
    pub(super) fn can_be_tried(&self, instance: InstanceId) -> bool {
        let access = self.dependence.access(instance);
        let mut reads = access.effect.reading();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let action =
            self.alone(instance).map(|it| &self.dependence.table().program().actions[it.action]);
        let bags = self.recorder.multisets();
        let is_free = |cell: CellId| !bags.iter().any(|it| it.cells().contains(&cell.0));
        let touched = [reads.reads.clone(), access.effect.written()];
        action.is_some_and(|it| {
            it.communication.is_none() && it.control.tier == 0 && !it.control.otherwise
        }) && !access.effect.writes_instances
            && !(reads.reads_anything || reads.reads_instances || reads.reads_commitment)
            && reads.channels.is_empty()
            && touched.iter().all(|cells| cells.iter().all(is_free))
    }

    /// Whose step an instance is alone, if it is one action's.
    fn alone(&self, instance: InstanceId) -> Option<Side> {
        match self.dependence.table().instances().get(instance)? {
            ActionInstance::Alone(side) => Some(side),
            ActionInstance::Meeting { .. } | ActionInstance::MayMove { .. } => None,
        }
    }

    /// What comes of a step in two states of one kind.
    pub(super) fn take(&self, instance: InstanceId, from: &Both, assumed: &Assumed) -> Taken {
        let Some(side) = self.alone(instance) else { return Taken::Fails };
        let values = self.dependence.table().instances().values(side);
        let (one, reads) = self.recorder.take(side, &values, &from[0]);
        if let Some(cell) = self.unknown(reads, from, assumed) {
            return Taken::Unknown(cell);
        }
        match (one, self.recorder.take(side, &values, &from[1]).0) {
            (Came::Nothing, Came::Nothing) => Taken::Nothing,
            (Came::State(one), Came::State(other)) => Taken::To([one, other]),
            _ => Taken::Fails,
        }
    }

    /// Whether a property holds in states of one kind, where judging it does not fail; or the cell of which more has to be
    /// known first.
    pub(super) fn judge(
        &self,
        property: PropertyId,
        assumed: &Assumed,
    ) -> Result<Option<bool>, CellId> {
        let states = self.states(assumed);
        let (holds, reads) = self.recorder.judge(property, &states[0]);
        self.unknown(reads, &states, assumed).map_or(Ok(holds), Err)
    }

    /// The first of some cells that do not hold the same in all states of a kind: neither assumed, nor written since.
    fn unknown(
        &self,
        cells: Vec<CellId>,
        [one, other]: &Both,
        assumed: &Assumed,
    ) -> Option<CellId> {
        let layout = self.recorder.layout();
        let is_known = |cell: CellId| {
            assumed.contains_key(&cell) || layout.code(one, cell) == layout.code(other, cell)
        };
        cells.into_iter().find(|&cell| !is_known(cell))
    }

    /// Adds all that may be known beside what is, of a cell that is looked at; no more than a few above `most`, which are too many.
    pub(super) fn split(
        &self,
        assumed: &Assumed,
        cell: CellId,
        most: usize,
        open: &mut Vec<Assumed>,
    ) {
        let declared = &self.recorder.layout().cells[cell];
        let held = self.dependence.table().held_in(cell);
        let is_held = |code: &u32| match (held, declared.value(*code)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((low, high)), Some(value)) => low <= value && value <= high,
        };
        for code in (0..declared.count()).filter(is_held).take(most + 1) {
            let mut more = assumed.clone();
            more.insert(cell, code);
            open.push(more);
        }
    }

    /// Two states of which that is known.
    pub(super) fn states(&self, assumed: &Assumed) -> Both {
        let layout = self.recorder.layout();
        let mut states = self.blank.clone();
        for state in &mut states {
            assumed.iter().for_each(|(&cell, &code)| layout.set_code(state, cell, code));
        }
        states
    }
}
