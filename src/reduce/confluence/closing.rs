//! Whether the diamond of two steps closes, found by trying them in all states.
//!
//! Both are taken in a state of which nothing is known yet. The first cell that one of them looks at is then given each
//! of its values in turn, and so on, until all that they look at is known, in both orders. What else a state holds is
//! neither looked at nor decides what is written. So it is enough to try two states of each kind, in which all other
//! cells differ: two ends that are the same in both are the same in all.

use super::alone;
use crate::analysis::bits;
use crate::analysis::dependence::Dependence;
use crate::analysis::instances::{InstanceId, Side};
use crate::exec::Interp;
use crate::exec::interp::{Came, Recorder};
use crate::ir::layout::CellId;
use crate::ir::{Entity, PropertyKind};
use std::collections::{BTreeMap, BTreeSet};

/// A pair is tried in at most so many kinds of states.
const TRIES_MAX: usize = 1 << 11;

/// All pairs together are.
const ALL_TRIES_MAX: usize = 1 << 16;

/// What is known of a state: codes of cells, as declared.
type Assumed = BTreeMap<CellId, u32>;

/// Two states of one kind: in cells of which nothing is known they differ.
type Both = [Vec<u8>; 2];

/// What came of a step in states of one kind.
enum Taken {
    /// It is not possible.
    Nothing,
    /// It leads on.
    To(Both),
    /// More has to be known first: what is in this cell.
    Unknown(CellId),
    /// It may fail.
    Fails,
}

/// Closes diamonds of a program.
pub(super) struct Closing<'c> {
    dependence: &'c Dependence<'c>,
    recorder: Recorder,
    /// States in which all cells have code 0, or code 1 if there is one.
    blank: Both,
    tries: usize,
}

impl<'c> Closing<'c> {
    /// Of a program of which steps can be tried one by one.
    pub(super) fn new(interp: &Interp, dependence: &'c Dependence<'c>) -> Option<Closing<'c>> {
        let program = interp.program();
        let assumes = |kind: &PropertyKind| matches!(kind, PropertyKind::Assumption(_));
        if program.properties.values().any(|it| assumes(&it.kind)) {
            return None;
        }
        let recorder = Recorder::new(program)?;
        let layout = recorder.layout();
        let blank = [0, 1].map(|other: u32| {
            let mut state = vec![0; recorder.width()];
            for cell in (0..layout.state_cells).map(CellId) {
                layout.set_code(&mut state, cell, other.min(layout.cells[cell].count() - 1));
            }
            state
        });
        Some(Closing { dependence, recorder, blank, tries: 0 })
    }

    /// Which of some instances have to be confluent, so that wherever one of them, `taken`, and another are possible their
    /// diamond closes; nothing if it may not.
    pub(super) fn needed(
        &mut self,
        (taken, some): (InstanceId, &[u64]),
        other: InstanceId,
    ) -> Option<BTreeSet<InstanceId>> {
        if ![taken, other].into_iter().all(|it| self.is_plain(it)) {
            return None;
        }
        let next = self.next_of(other).filter(|it| bits::has(some, it.index()) && *it != taken);
        let next: Vec<InstanceId> = next.filter(|&it| self.is_plain(it)).collect();
        let (mut open, mut needed, mut tries) = (vec![Assumed::new()], BTreeSet::new(), 0);
        while let Some(assumed) = open.pop() {
            tries += 1;
            self.tries += 1;
            if tries > TRIES_MAX || self.tries > ALL_TRIES_MAX {
                return None;
            }
            match self.close(&assumed, (taken, other), &next) {
                Ok(closer) => needed.extend(closer),
                Err(cell) => self.split(&assumed, cell?, &mut open),
            }
        }
        Some(needed)
    }

    /// Whether an instance is one action's step, which cannot fail, is not taken back, and uses neither channels nor
    /// multisets.
    fn is_plain(&self, instance: InstanceId) -> bool {
        let access = self.dependence.access(instance);
        let mut reads = access.effect.reading();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let action = alone(self.dependence, instance)
            .map(|it| &self.dependence.table().program().actions[it.action]);
        let bags = self.recorder.multisets();
        let is_free = |cell: CellId| !bags.iter().any(|it| it.cells().contains(&cell.0));
        let touched = [reads.reads.clone(), access.effect.written()];
        action.is_some_and(|it| {
            it.communication.is_none() && it.control.tier == 0 && !it.control.otherwise
        }) && !(access.failures().any() || access.effect.may_drop || access.effect.writes_instances)
            && !(reads.reads_anything || reads.reads_instances || reads.reads_commitment)
            && reads.channels.is_empty()
            && touched.iter().all(|cells| cells.iter().all(is_free))
    }

    /// What begins where an instance brings its process.
    fn next_of(&self, instance: InstanceId) -> impl Iterator<Item = InstanceId> {
        let table = self.dependence.table();
        let edge_of = |it| table.program().actions[alone(self.dependence, it)?.action].edge;
        let here = edge_of(instance);
        self.dependence.instances().filter(move |&it| {
            here.zip(edge_of(it))
                .is_some_and(|(here, next)| here.process == next.process && here.to == next.from)
        })
    }

    /// The instance, if it takes one, that closes a diamond in states of one kind. If it does not close, nothing; or the
    /// cell of which more has to be known.
    fn close(
        &self,
        assumed: &Assumed,
        (taken, other): (InstanceId, InstanceId),
        next: &[InstanceId],
    ) -> Result<Option<InstanceId>, Option<CellId>> {
        let start = self.states(assumed);
        let Some(by_taken) = self.take(taken, &start, assumed)? else { return Ok(None) };
        let Some(by_other) = self.take(other, &start, assumed)? else { return Ok(None) };
        if by_other == by_taken {
            return Ok(None);
        }
        let both = self.take(other, &by_taken, assumed)?;
        if both.as_ref() == Some(&by_other) {
            return Ok(None);
        }
        for &closer in std::iter::once(&taken).chain(next) {
            let Some(end) = self.take(closer, &by_other, assumed)? else { continue };
            if both.as_ref() == Some(&end) || end == by_taken {
                return Ok((closer != taken).then_some(closer));
            }
        }
        Err(None)
    }

    /// Where a step leads from two states, if it is possible in them.
    fn take(
        &self,
        instance: InstanceId,
        from: &Both,
        assumed: &Assumed,
    ) -> Result<Option<Both>, Option<CellId>> {
        match self.taken(instance, from, assumed) {
            Taken::Nothing => Ok(None),
            Taken::To(states) => Ok(Some(states)),
            Taken::Unknown(cell) => Err(Some(cell)),
            Taken::Fails => Err(None),
        }
    }

    fn taken(&self, instance: InstanceId, from: &Both, assumed: &Assumed) -> Taken {
        let Some(side) = alone(self.dependence, instance) else { return Taken::Fails };
        let values = self.dependence.table().instances().values(side);
        let (one, reads) = self.recorder.take(side, &values, &from[0]);
        let unknown = reads.into_iter().find(|&cell| !self.is_known(cell, from, assumed));
        if let Some(cell) = unknown {
            return Taken::Unknown(cell);
        }
        match (one, self.again(side, &values, &from[1])) {
            (Came::Nothing, Came::Nothing) => Taken::Nothing,
            (Came::State(one), Came::State(other)) => Taken::To([one, other]),
            _ => Taken::Fails,
        }
    }

    fn again(&self, side: Side, values: &[i64], state: &[u8]) -> Came {
        self.recorder.take(side, values, state).0
    }

    /// Whether a cell holds the same in all states of a kind: it is assumed, or was written since.
    fn is_known(&self, cell: CellId, [one, other]: &Both, assumed: &Assumed) -> bool {
        let layout = self.recorder.layout();
        assumed.contains_key(&cell) || layout.code(one, cell) == layout.code(other, cell)
    }

    /// Adds all that may be known beside what is, of a cell that is looked at.
    fn split(&self, assumed: &Assumed, cell: CellId, open: &mut Vec<Assumed>) {
        let declared = &self.recorder.layout().cells[cell];
        let held = self.dependence.table().held_in(cell);
        let is_held = |code: &u32| match (held, declared.value(*code)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((low, high)), Some(value)) => low <= value && value <= high,
        };
        // Too many are refused by the number of tries.
        for code in (0..declared.count()).filter(is_held).take(TRIES_MAX + 1) {
            let mut more = assumed.clone();
            more.insert(cell, code);
            open.push(more);
        }
    }

    /// Two states of which that is known.
    fn states(&self, assumed: &Assumed) -> Both {
        let layout = self.recorder.layout();
        let mut states = self.blank.clone();
        for state in &mut states {
            assumed.iter().for_each(|(&cell, &code)| layout.set_code(state, cell, code));
        }
        states
    }
}
