//! Steps of single action instances, tried in all states.
//!
//! A step is taken in a state of which nothing is known yet. The first cell that it looks at is then given each of its
//! values in turn, and so on, until all that it looks at is known. What else a state holds is neither looked at nor decides
//! what is written. So it is enough to try two states of each kind, in which all other cells differ: what is the same in both
//! is the same in all.

use crate::analysis::dependence::DependenceRelation;
use crate::analysis::instances::{ActionInstance, InstanceId, InstanceSide};
use crate::exec::Interp;
use crate::exec::interp::{InstanceOutcome, ReadRecorder};
use crate::ir::layout::CellId;
use crate::ir::{Layout, PropertyId};
use std::collections::BTreeMap;

/// What is known of a state: codes of cells, as declared.
pub(super) type AssumedCodes = BTreeMap<CellId, u32>;

/// Two states of one kind: in cells of which nothing is known they differ.
pub(super) type StatePair = [Vec<u8>; 2];

/// What came of a step in states of one kind.
pub(super) enum TrialOutcome {
    /// It is not possible.
    Nothing,
    /// It leads on.
    To(StatePair),
    /// More has to be known first: what is in this cell.
    Unknown(CellId),
    /// It may fail.
    Fails,
}

/// Units of work to take a step, beside the bytes of a state.
const EACH_STEP: u64 = 64;

/// Tries steps of a program.
pub(super) struct ActionTrial<'t> {
    dependence: &'t DependenceRelation<'t>,
    recorder: ReadRecorder,
    /// States in which all cells have code 0, or code 1 if there is one.
    blank: StatePair,
}

impl<'t> ActionTrial<'t> {
    /// Of a program of which steps can be tried one by one.
    pub(super) fn new(
        interp: &Interp,
        dependence: &'t DependenceRelation<'t>,
    ) -> Option<ActionTrial<'t>> {
        let recorder = ReadRecorder::new(interp.program())?;
        let layout = recorder.layout();
        let blank = [0, 1].map(|other: u32| {
            let mut state = vec![0; recorder.width()];
            for cell in (0..layout.state_cells).map(CellId) {
                layout.set_code(&mut state, cell, other.min(layout.cells[cell].count() - 1));
            }
            state
        });
        Some(ActionTrial { dependence, recorder, blank })
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
        let mut reads = access.effect.as_reads();
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
    fn alone(&self, instance: InstanceId) -> Option<InstanceSide> {
        match self.dependence.table().instances().get(instance)? {
            ActionInstance::Alone(side) => Some(side),
            ActionInstance::Meeting { .. } | ActionInstance::MayMove { .. } => None,
        }
    }

    /// What comes of a step in two states of one kind.
    pub(super) fn try_step(
        &self,
        instance: InstanceId,
        from: &StatePair,
        assumed: &AssumedCodes,
    ) -> TrialOutcome {
        let Some(side) = self.alone(instance) else { return TrialOutcome::Fails };
        let values = self.dependence.table().instances().values(side);
        let (one, reads) = self.recorder.take(side, &values, &from[0]);
        if let Some(cell) = self.unknown(reads, from, assumed) {
            return TrialOutcome::Unknown(cell);
        }
        match (one, self.recorder.take(side, &values, &from[1]).0) {
            (InstanceOutcome::Nothing, InstanceOutcome::Nothing) => TrialOutcome::Nothing,
            (InstanceOutcome::State(one), InstanceOutcome::State(other)) => {
                TrialOutcome::To([one, other])
            }
            _ => TrialOutcome::Fails,
        }
    }

    /// Whether a property holds in states of one kind, where judging it does not fail; or the cell of which more has to be
    /// known first.
    pub(super) fn judge(
        &self,
        property: PropertyId,
        assumed: &AssumedCodes,
    ) -> Result<Option<bool>, CellId> {
        let states = self.states(assumed);
        let (holds, reads) = self.recorder.evaluate_property(property, &states[0]);
        self.unknown(reads, &states, assumed).map_or(Ok(holds), Err)
    }

    /// The first of some cells that do not hold the same in all states of a kind: neither assumed, nor written since.
    fn unknown(
        &self,
        cells: Vec<CellId>,
        [one, other]: &StatePair,
        assumed: &AssumedCodes,
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
        assumed: &AssumedCodes,
        cell: CellId,
        most: usize,
        open: &mut Vec<AssumedCodes>,
    ) {
        let declared = &self.recorder.layout().cells[cell];
        let held = self.dependence.table().cell_values(cell);
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
    pub(super) fn states(&self, assumed: &AssumedCodes) -> StatePair {
        let layout = self.recorder.layout();
        let mut states = self.blank.clone();
        for state in &mut states {
            assumed.iter().for_each(|(&cell, &code)| layout.set_code(state, cell, code));
        }
        states
    }
}
