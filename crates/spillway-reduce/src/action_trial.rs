//! Trials: transitions of single action instances, executed in all states.
//!
//! The first trial starts in a state whose cells are all unknown. The first cell that the transition reads is
//! assigned each of its values in turn, and so on, until all cells that it reads are known. The transition does not
//! depend on the other cells. So two states of each kind are enough, in which all unknown cells differ: common values
//! hold in all states of the kind.

use spillway_analysis::dependence::DependenceRelation;
use spillway_analysis::instances::{ActionInstance, InstanceId, InstanceSide};
use spillway_exec::Interp;
use spillway_exec::interp::{InstanceOutcome, ReadRecorder};
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, PropertyId};
use std::collections::BTreeMap;

/// The known cells of a state, by their codes as declared.
pub(super) type AssumedCodes = BTreeMap<CellId, u32>;

/// Two states of one kind. They differ in the unknown cells.
pub(super) type StatePair = [Vec<u8>; 2];

/// The outcome of a transition in the states of one kind.
pub(super) enum TrialOutcome {
    /// The instance is disabled.
    Nothing,
    /// The transition leads to a state.
    To(StatePair),
    /// The value of this cell must be known first.
    Unknown(CellId),
    /// The transition may fail.
    Fails,
}

/// Units of work for a transition, in addition to the bytes of a state.
const EACH_STEP: u64 = 64;

/// Executes transitions of a program in partly known states.
pub(super) struct ActionTrial<'t> {
    dependence: &'t DependenceRelation<'t>,
    recorder: ReadRecorder,
    /// States in which all cells have code 0, or code 1 if there is one.
    blank: StatePair,
}

impl<'t> ActionTrial<'t> {
    /// Creates the trial, if the program's transitions can be executed one by one.
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

    /// Returns the units of work for a transition in two states.
    pub(super) fn units(&self) -> u64 {
        EACH_STEP + self.blank[0].len() as u64
    }

    /// Returns the layout of the states of the trial.
    pub(super) fn layout(&self) -> &Layout {
        self.recorder.layout()
    }

    /// Whether an instance is a single action that uses neither channels nor multisets, and whose guard alone decides
    /// whether it is enabled.
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
            && !(reads.depends_on_anything() || reads.reads_instances || reads.reads_commitment)
            && reads.channels.is_empty()
            && touched.iter().all(|cells| cells.iter().all(is_free))
    }

    /// Returns the side of an instance that is a single action.
    fn alone(&self, instance: InstanceId) -> Option<InstanceSide> {
        match self.dependence.table().instances().get(instance)? {
            ActionInstance::Alone(side) => Some(side),
            ActionInstance::Meeting { .. } | ActionInstance::MayMove { .. } => None,
        }
    }

    /// Executes a transition in two states of one kind.
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

    /// Whether a property holds in the states of one kind; `None` if its evaluation fails. The error is the cell that
    /// must be known first.
    pub(super) fn judge(
        &self,
        property: PropertyId,
        assumed: &AssumedCodes,
    ) -> Result<Option<bool>, CellId> {
        let states = self.states(assumed);
        let (holds, reads) = self.recorder.evaluate_property(property, &states[0]);
        self.unknown(reads, &states, assumed).map_or(Ok(holds), Err)
    }

    /// Returns the first of some cells that is unknown: neither assumed nor written.
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

    /// Adds the assumptions extended by each possible value of a cell, at most `most` + 1 of them: more are too many.
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

    /// Returns two states that satisfy the assumptions.
    pub(super) fn states(&self, assumed: &AssumedCodes) -> StatePair {
        let layout = self.recorder.layout();
        let mut states = self.blank.clone();
        for state in &mut states {
            assumed.iter().for_each(|(&cell, &code)| layout.set_code(state, cell, code));
        }
        states
    }
}
