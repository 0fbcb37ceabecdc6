//! Fairness of a program's processes: which of them a step is fair to ([`ProcessSet`]).
//!
//! *Able to move* is a process one of whose actions can be taken now, alone or together with another's, or fails if it is
//! tried; whether others would have to go first because they are at committed locations is not asked. That a process may
//! not move because of its `provided` clause, or because one of a higher priority can, is asked. A process *takes part* in
//! a step with each action of its own, also with one that it takes within an atomic sequence that another began: both sides
//! of a rendezvous do. One that does not exist is not able to move. In a slot there may be one process after another; where
//! that goes on for ever, each of them moves, when it ends.

use super::interp::Interp;
use super::{Executor, LabelledSink, SelectiveStateSpace, labelled};
use crate::analysis::instances::{ActionInstance, InstanceId, NumberingError};
use crate::ir::{
    Arena, Communication, Entity, ProcessId, ProcessInstance, Program, Schedule, TurnRule,
};
use crate::model::{PROCESSES_MAX, ProcessSet, SuccessorSink, Violation};

/// Why the processes of a program are not numbered, so that no run of it is fair or unfair to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessNumberingError {
    /// All processes move in each step.
    #[error("its processes move in lockstep")]
    Lockstep,
    /// Some actions belong to no process.
    #[error("it has rules, which are no process's")]
    Rules,
    /// A [`ProcessSet`] has no room for so many processes.
    #[error("there may be more than {PROCESSES_MAX} processes at one time")]
    TooManyProcesses,
}

/// Why the steps of a program are not had with the processes that they are fair to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FairExpanderError {
    /// The processes are not numbered.
    #[error(transparent)]
    Processes(#[from] ProcessNumberingError),
    /// The action instances are not numbered.
    #[error(transparent)]
    Instances(#[from] NumberingError),
}

/// The processes of a program, numbered. Those that have no actions are none.
#[derive(Clone, Debug)]
pub struct ProcessNumbering {
    /// The number of the first instance of each; the others follow.
    first: Arena<ProcessId, Option<usize>>,
    count: usize,
}

impl ProcessNumbering {
    /// Those of a program, or why runs of it cannot be asked whether they are fair to processes.
    pub fn of(program: &Program) -> Result<ProcessNumbering, ProcessNumberingError> {
        if program.schedule == Schedule::Lockstep {
            return Err(ProcessNumberingError::Lockstep);
        }
        if program.actions.values().any(|it| it.edge.is_none()) {
            return Err(ProcessNumberingError::Rules);
        }
        let moves = |process| {
            let mut edges = program.actions.values().filter_map(|it| it.edge);
            edges.any(|edge| edge.process == process)
        };
        let mut processes = ProcessNumbering { first: Arena::new(), count: 0 };
        for process in program.processes.keys() {
            let moves = moves(process);
            processes.first.push(moves.then_some(processes.count));
            processes.count += if moves { program.slots(process) as usize } else { 0 };
        }
        match processes.count <= PROCESSES_MAX {
            true => Ok(processes),
            false => Err(ProcessNumberingError::TooManyProcesses),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of one that has actions.
    fn number(&self, at: ProcessInstance) -> Option<usize> {
        Some(self.first[at.process]? + at.slot as usize)
    }

    /// A set of these.
    fn set(&self, instances: impl IntoIterator<Item = ProcessInstance>) -> ProcessSet {
        let mut set = ProcessSet::NONE;
        instances.into_iter().filter_map(|at| self.number(at)).for_each(|it| set.insert(it));
        set
    }

    /// Those that take part in what a step begins with.
    fn of_instance(&self, program: &Program, instance: ActionInstance) -> ProcessSet {
        let alone = match instance {
            ActionInstance::MayMove { process, slot } => Some(ProcessInstance { process, slot }),
            ActionInstance::Alone(_) | ActionInstance::Meeting { .. } => None,
        };
        let sides = instance.sides().filter_map(|side| {
            let process = program.actions[side.action].edge?.process;
            Some(ProcessInstance { process, slot: side.slot })
        });
        self.set(sides.chain(alone))
    }

    /// Those that are not able to move in a state, by the reference semantics.
    pub fn disabled_processes(&self, interp: &Interp, state: &[u8]) -> ProcessSet {
        let mut able = ProcessSet::NONE;
        interp.visit_enabled(state, &mut |begun| {
            able.extend(self.of_instance(interp.program(), begun));
        });
        ProcessSet::first(self.count).without(able)
    }

    /// Those that a step of the reference semantics is fair to, from a state in which these are unable to move.
    pub fn fair_to(&self, unable: ProcessSet, movers: &[ProcessInstance]) -> ProcessSet {
        let mut set = self.set(movers.iter().copied());
        set.extend(unable);
        set
    }
}

/// Steps of a program, each with the processes that it is fair to.
pub struct FairExpander<'a> {
    interp: &'a Interp,
    processes: ProcessNumbering,
    /// Those that take part in each action instance.
    sides: Vec<ProcessSet>,
    /// Takes steps, and tells what they begin with.
    selective: Box<dyn SelectiveStateSpace + 'a>,
    /// Whether a step may go on with another process than those that began it: then it is the interpreter's.
    is_joined: bool,
}

impl<'a> FairExpander<'a> {
    /// Of the program of `interp`, run by `executor`; or why that is not to be had.
    pub fn new(
        interp: &'a Interp,
        executor: &Executor<'a>,
    ) -> Result<FairExpander<'a>, FairExpanderError> {
        let program = interp.program();
        let processes = ProcessNumbering::of(program)?;
        let selective = executor.selective()?;
        let instances = selective.instances();
        let begun = (0..instances.count()).map(|number| instances.get(InstanceId(number)));
        let sides =
            begun.map(|it| it.map_or(ProcessSet::NONE, |it| processes.of_instance(program, it)));
        let sides = sides.collect();
        let is_joined = is_joined_within(program);
        Ok(FairExpander { interp, processes, sides, selective, is_joined })
    }

    /// The processes.
    pub fn processes(&self) -> &ProcessNumbering {
        &self.processes
    }

    /// Adds the successors of a state of the program as records: each with the set of processes that the step is fair to.
    pub fn expand(&self, state: &[u8], out: &mut SuccessorSink) {
        let mut enabled = self.selective.instances().sets();
        if let Err(error) = self.selective.enabled(state, &mut enabled) {
            return out.give_up(error);
        }
        let unable = match self.interp.has_committed_process(state) {
            true => self.processes.disabled_processes(self.interp, state),
            false => {
                let mut able = ProcessSet::NONE;
                enabled.iter(0).for_each(|it| able.extend(self.sides[it.index()]));
                ProcessSet::first(self.processes.count).without(able)
            }
        };
        if self.is_joined {
            return self.expand_joined(state, unable, out);
        }
        let (width, mut successors) = (state.len(), Vec::new());
        let run = |inner: &mut LabelledSink| self.selective.expand_labelled(state, &enabled, inner);
        let Some(collected) = LabelledSink::wrap(out, width, &mut successors, run) else { return };
        for (successor, begun) in labelled(&successors, width) {
            let mut set = self.sides[begun.index()];
            set.extend(unable);
            out.record(successor, &set.to_bytes());
        }
        out.add_counters(collected.counters);
        out.add_findings(collected.findings);
        self.interp.check_properties(state, out);
    }

    /// The same, step by step.
    fn expand_joined(&self, state: &[u8], unable: ProcessSet, out: &mut SuccessorSink) {
        self.interp.visit_moves(state, out, &mut |out, movers, came| match came {
            Ok(successor) => {
                out.record(successor, &self.processes.fair_to(unable, movers).to_bytes());
            }
            Err((kind, action)) => out.record_finding(Violation::Fault(kind, action), state),
        });
        self.interp.check_properties(state, out);
    }
}

/// Whether a step may have a rendezvous behind its first action: one that goes on comes to where a message is sent by
/// rendezvous.
fn is_joined_within(program: &Program) -> bool {
    let sends = |process, at| {
        program.actions.values().any(|it| {
            let is_there = it.edge.is_some_and(|edge| (edge.process, edge.from) == (process, at));
            let Some(Communication::Send { channel, .. }) = &it.communication else { return false };
            is_there && channel.may_be_rendezvous(program)
        })
    };
    let goes_on = program.actions.values().filter(|it| it.control.turn != TurnRule::Open);
    goes_on.filter_map(|it| it.edge).any(|edge| sends(edge.process, edge.to))
}
