//! What is dead where several processes are.
//!
//! Each process that reads a variable of the program is, at some locations, sure to overwrite it before it reads it the next time.
//! While all of them are at such locations nobody reads what it holds now: whoever is the next to read it has overwritten it.
//! One of them alone does not know: what the mover has read for the last time is dead if the others are where it is
//! dead for them, which they are asked for.

use super::{DeadScalars, LivenessScope};
use crate::analysis::bit_sets;
use crate::ir::walk::any_stmt;
use crate::ir::{
    Action, ActionId, Communication, Entity, LocationId, Owner, Process, ProcessId, Program,
    StmtKind,
};

/// Of more locations it is not asked whether a process is at one of them.
const LOCATIONS_MAX: usize = 64;

/// What is dead behind an action while others are elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointlyDeadScalar {
    /// The scalar.
    pub scalar: usize,
    /// Where it is live for others than the mover.
    pub live: Vec<(ProcessId, LocationId)>,
}

impl DeadScalars {
    /// Which processes read a scalar that is [a matter of several](LivenessScope::Several), and where it is live for each.
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

    /// What is dead behind an action while others than the mover are elsewhere, and may hold something else than before: it was
    /// live for the mover, or the action writes it.
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

    /// The scalars that are a matter of several.
    pub fn joint_scalars(&self) -> impl Iterator<Item = usize> {
        self.that_are(LivenessScope::SeveralProcesses)
    }

    /// Takes to be live what a start sets, and what is reset, if others are elsewhere, behind actions by which two may meet: neither sees
    /// where the other will be.
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

    /// Takes to be live what is dead behind an action while others are elsewhere.
    pub(super) fn pin_jointly_dead(&mut self, program: &Program, id: ActionId, action: &Action) {
        for JointlyDeadScalar { scalar, .. } in self.jointly_dead_after(program, id, action) {
            self.of[scalar] = LivenessScope::AlwaysLive;
        }
    }
}

/// Whether an action may send or receive by rendezvous.
fn may_meet(program: &Program, action: &Action) -> bool {
    let meets = |it: &Communication| it.channel().may_be_rendezvous(program);
    let within = |it: &StmtKind| matches!(it, StmtKind::Communicate(it) if meets(it));
    action.communication.as_ref().is_some_and(meets) || any_stmt(&action.body, &within)
}

/// Whether a scalar can be a matter of several processes, which is live for these at their locations: it is the program's, there is one
/// of each, and each is somewhere where it is dead.
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
