//! Fairness of a program's processes: the set of processes that a step is fair to ([`ProcessSet`]).
//!
//! - A process is *enabled* if one of its actions can be taken now, alone or together with another process's action,
//!   or if trying it fails. Committed locations of other processes do not matter. A `provided` clause and priorities
//!   do matter.
//! - A process *takes part* in a step with each of its own actions, also within an atomic sequence that another
//!   process began. Both sides of a rendezvous take part.
//! - A process that does not exist is not enabled.
//! - A slot may hold one process after another. If that happens infinitely often, each of these processes moves: it
//!   ends.

use super::interp::Interp;
use super::{Executor, LabelledSink, SelectiveStateSpace, labelled};
use spillway_analysis::instances::{ActionInstance, InstanceId, NumberingError};
use spillway_ir::{
    Arena, Communication, Entity, ProcessId, ProcessInstance, Program, Schedule, TurnRule,
};
use spillway_model::{PROCESSES_MAX, ProcessSet, SuccessorSink, Violation};

/// Why the processes of a program are not numbered. Then process fairness is undefined for its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessNumberingError {
    /// All processes move in each step.
    #[error("its processes move in lockstep")]
    Lockstep,
    /// Some actions belong to no process.
    #[error("it has rules, which belong to no process")]
    Rules,
    /// There are more processes than a [`ProcessSet`] can hold.
    #[error("there may be more than {PROCESSES_MAX} processes at one time")]
    TooManyProcesses,
}

/// Why the steps of a program are not available with their process sets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FairExpanderError {
    /// The processes are not numbered.
    #[error(transparent)]
    Processes(#[from] ProcessNumberingError),
    /// The action instances are not numbered.
    #[error(transparent)]
    Instances(#[from] NumberingError),
}

/// The numbering of a program's processes. Processes without actions have no number.
#[derive(Clone, Debug)]
pub struct ProcessNumbering {
    /// The number of the first instance of each process; the other instances follow.
    first: Arena<ProcessId, Option<usize>>,
    count: usize,
}

impl ProcessNumbering {
    /// Numbers the processes of a program.
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

    /// Returns the number of numbered processes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of a process instance that has actions.
    fn number(&self, at: ProcessInstance) -> Option<usize> {
        Some(self.first[at.process]? + at.slot as usize)
    }

    /// Returns the set of these instances.
    fn set(&self, instances: impl IntoIterator<Item = ProcessInstance>) -> ProcessSet {
        let mut set = ProcessSet::NONE;
        instances.into_iter().filter_map(|at| self.number(at)).for_each(|it| set.insert(it));
        set
    }

    /// Returns the processes that take part in an action instance.
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

    /// Returns the processes that are not enabled in a state, by the reference semantics.
    pub fn disabled_processes(&self, interp: &Interp, state: &[u8]) -> ProcessSet {
        let mut able = ProcessSet::NONE;
        interp.visit_enabled(state, &mut |begun| {
            able.extend(self.of_instance(interp.program(), begun));
        });
        ProcessSet::first(self.count).without(able)
    }

    /// Returns the processes that a step is fair to, by the reference semantics: `unable` are those that are not
    /// enabled in its source.
    pub fn fair_to(&self, unable: ProcessSet, movers: &[ProcessInstance]) -> ProcessSet {
        let mut set = self.set(movers.iter().copied());
        set.extend(unable);
        set
    }
}

/// Expands states; each step carries the set of processes that it is fair to.
pub struct FairExpander<'a> {
    interp: &'a Interp,
    processes: ProcessNumbering,
    /// The processes that take part in each action instance.
    sides: Vec<ProcessSet>,
    /// Takes steps, labelled with their instances.
    selective: Box<dyn SelectiveStateSpace + 'a>,
    /// Whether a step may continue with another process than those that began it. Then the interpreter takes all
    /// steps.
    is_joined: bool,
}

impl<'a> FairExpander<'a> {
    /// Creates the expander for the program of `interp`, run by `executor`.
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

    /// Returns the processes.
    pub fn processes(&self) -> &ProcessNumbering {
        &self.processes
    }

    /// Adds the successors of a state of the program as records: each with the set of processes that the step is fair
    /// to.
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

    /// Does the same with the interpreter, step by step.
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

/// Returns whether a step may contain a rendezvous after its first action: an action continues at a location that
/// sends by rendezvous.
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
