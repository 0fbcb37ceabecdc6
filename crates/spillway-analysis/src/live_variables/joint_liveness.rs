//! Liveness that depends on several processes.
//!
//! At some locations, a process that reads a variable of the program surely overwrites it before the next read. While
//! all readers are at such locations, the value is dead. A mover alone cannot decide this. After its last read, the
//! variable is dead if the other readers are at locations where it is dead for them. The reset tests these locations.

use super::{DeadScalars, LivenessScope};
use crate::bit_sets;
use spillway_ir::walk::any_stmt;
use spillway_ir::{
    Action, ActionId, Communication, Entity, LocationId, Owner, Process, ProcessId, Program,
    StmtKind,
};

/// The maximal number of locations that a reset tests.
const LOCATIONS_MAX: usize = 64;

/// A scalar that is dead after an action if other processes are not at some locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointlyDeadScalar {
    /// The scalar.
    pub scalar: usize,
    /// The locations at which it is live for processes other than the mover.
    pub live: Vec<(ProcessId, LocationId)>,
}

impl DeadScalars {
    /// Returns the processes that read a scalar [of several processes](LivenessScope::SeveralProcesses), with the
    /// locations at which it is live for each.
    pub fn readers<'d>(
        &'d self,
        program: &'d Program,
        scalar: usize,
    ) -> impl Iterator<Item = (ProcessId, Vec<LocationId>)> + 'd {
        let live = move |(id, process): (ProcessId, &Process)| {
            let at = process.locations.keys().filter(|&it| self.is_live(id, it, scalar));
            (id, at.collect::<Vec<_>>())
        };
        program.processes.iter().map(live).filter(|(_, live)| !live.is_empty())
    }

    /// Returns the scalars that are dead after an action if other processes are not at some locations, and whose
    /// values may differ from those before. Each was live for the mover, or the action writes it.
    pub fn jointly_dead_after(
        &self,
        program: &Program,
        id: ActionId,
        action: &Action,
    ) -> Vec<JointlyDeadScalar> {
        let is_done = |&scalar: &usize| {
            let before = action.edge.is_some_and(|it| self.is_live(it.process, it.from, scalar));
            let behind = action.edge.is_some_and(|it| self.is_live(it.process, it.to, scalar));
            !behind && (before || bit_sets::has(&self.written[id.index()], scalar))
        };
        let mover = action.edge.map(|it| it.process);
        let of_others = |scalar: usize| {
            let others = self.readers(program, scalar).filter(|(id, _)| Some(*id) != mover);
            let live = others.flat_map(|(id, at)| at.into_iter().map(move |it| (id, it)));
            JointlyDeadScalar { scalar, live: live.collect() }
        };
        self.joint_scalars().filter(is_done).map(of_others).collect()
    }

    /// Returns the scalars whose liveness depends on several processes.
    pub fn joint_scalars(&self) -> impl Iterator<Item = usize> {
        self.that_are(LivenessScope::SeveralProcesses)
    }

    /// Makes scalars always live that a start sets, or that would be reset at a rendezvous subject to the locations
    /// of others. Neither side of a rendezvous sees the other's next location.
    pub(super) fn pin_unobservable_resets(&mut self, program: &Program) {
        for start in &program.starts {
            for scalar in bit_sets::members(&self.written_by(program, start)) {
                if self.of[scalar] == LivenessScope::SeveralProcesses {
                    self.of[scalar] = LivenessScope::AlwaysLive;
                }
            }
        }
        let meeting = program.actions.iter().filter(|(_, it)| may_meet(program, it));
        meeting.for_each(|(id, action)| self.pin_jointly_dead(program, id, action));
    }

    /// Makes scalars always live that are dead after an action subject to the locations of others.
    pub(super) fn pin_jointly_dead(&mut self, program: &Program, id: ActionId, action: &Action) {
        for JointlyDeadScalar { scalar, .. } in self.jointly_dead_after(program, id, action) {
            self.of[scalar] = LivenessScope::AlwaysLive;
        }
    }
}

/// Returns whether an action may send or receive by rendezvous.
fn may_meet(program: &Program, action: &Action) -> bool {
    let meets = |it: &Communication| it.channel().may_be_rendezvous(program);
    let within = |it: &StmtKind| matches!(it, StmtKind::Communicate(it) if meets(it));
    action.communication.as_ref().is_some_and(meets) || any_stmt(&action.body, &within)
}

/// Returns whether the liveness of a scalar can depend on several processes: it belongs to the program, each reader
/// has one instance, and each reader has a location where it is dead.
pub(super) fn may_be_of_several(
    program: &Program,
    owner: Owner,
    scalar: usize,
    live: &[Vec<Vec<u64>>],
) -> bool {
    let at = |live: &Vec<Vec<u64>>| live.iter().filter(|it| bit_sets::has(it, scalar)).count();
    let mut readers = program.processes.keys().zip(live).filter(|(_, live)| at(live) > 0);
    owner == Owner::Program
        && live.iter().map(at).sum::<usize>() <= LOCATIONS_MAX
        && readers.all(|(id, live)| program.slots(id) == 1 && at(live) < live.len())
}
