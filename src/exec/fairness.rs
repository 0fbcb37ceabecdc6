//! Weak fairness of processes: to which of them each step is fair.
//!
//! A run is *weakly fair* if each process that is able to move from some point on, always, moves again and again. That is
//! the same as: for each process infinitely many steps of the run are *fair to it*, which a step is that the process takes
//! part in, and one from a state in which it is not able to move. So one set of processes for each step says all that there
//! is to know, and no state need be stored more than once (generalised Büchi acceptance on edges).
//!
//! *Able to move* is a process one of whose actions can be taken now, alone or together with another's, or fails if it is
//! tried; whether others would have to go first because they are at committed locations is not asked. That a process may
//! not move because of its `provided` clause, or because one of a higher priority can, is asked. A process *takes part* in
//! a step with each action of its own, also with one that it takes within an atomic sequence that another began: both sides
//! of a rendezvous do. One that does not exist is not able to move. In a slot there may be one process after another; where
//! that goes on for ever, each of them moves, when it ends.

use super::interp::Interp;
use super::{
    Executor, ExpansionOutcome, LabelledSink, SelectiveStateSpace, SuccessorSink, Violation,
    labelled,
};
use crate::analysis::instances::{ActionInstance, InstanceId};
use crate::ir::{
    Arena, Communication, Entity, ProcessId, ProcessInstance, Program, Schedule, TurnRule,
};

/// The most processes of which sets are made.
pub const PROCESSES_MAX: usize = 256;

const WORDS: usize = PROCESSES_MAX / 64;

/// A set of processes: instances, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessSet([u64; WORDS]);

impl ProcessSet {
    /// The bytes of one.
    pub const BYTES: usize = 8 * WORDS;

    /// No processes.
    pub const NONE: ProcessSet = ProcessSet([0; WORDS]);

    /// The first so many.
    pub fn first(count: usize) -> ProcessSet {
        let mut all = ProcessSet::NONE;
        (0..count).for_each(|process| all.insert(process));
        all
    }

    /// Adds one.
    pub fn insert(&mut self, process: usize) {
        self.0[process / 64] |= 1 << (process % 64);
    }

    /// Whether a process is one of these.
    pub fn contains(&self, process: usize) -> bool {
        self.0[process / 64] >> (process % 64) & 1 == 1
    }

    /// Adds those of another.
    pub fn extend(&mut self, other: ProcessSet) {
        self.0.iter_mut().zip(other.0).for_each(|(own, theirs)| *own |= theirs);
    }

    /// Those that are not in another.
    pub fn without(&self, other: ProcessSet) -> ProcessSet {
        let mut left = *self;
        left.0.iter_mut().zip(other.0).for_each(|(own, theirs)| *own &= !theirs);
        left
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// As bytes.
    pub fn to_bytes(self) -> [u8; ProcessSet::BYTES] {
        let mut bytes = [0; ProcessSet::BYTES];
        bytes.chunks_exact_mut(8).zip(self.0).for_each(|(to, word)| {
            to.copy_from_slice(&word.to_le_bytes());
        });
        bytes
    }

    /// From its bytes.
    pub fn from_bytes(bytes: &[u8]) -> ProcessSet {
        let mut set = ProcessSet::NONE;
        for (word, bytes) in set.0.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
        }
        set
    }
}

/// A model that tells of each step to which processes it is fair.
pub trait FairSteps: Sync {
    /// How many processes there are: they are the numbers below.
    fn processes(&self) -> usize;

    /// Adds the successors of a state, as [`Model::expand`](super::StateSpace::expand) does; each is a record, the state and behind it the
    /// [bytes](ProcessSet::to_bytes) of the set of processes that the step is fair to.
    fn expand_fair(&self, state: &[u8], out: &mut SuccessorSink);
}

/// Makes `records` those of the successors of a state.
///
/// # Errors
///
/// As [`SuccessorSink::collect`].
pub fn collect_fair(
    fair: &dyn FairSteps,
    state: &[u8],
    records: &mut Vec<u8>,
) -> spill::Result<ExpansionOutcome> {
    records.clear();
    let run = |out: &mut SuccessorSink| fair.expand_fair(state, out);
    SuccessorSink::collect(state.len() + ProcessSet::BYTES, records, run)
}

/// The states, of `width` bytes, and sets in records.
pub fn fair_records(
    records: &[u8],
    width: usize,
) -> impl ExactSizeIterator<Item = (&[u8], ProcessSet)> {
    records.chunks_exact(width + ProcessSet::BYTES).map(move |record| {
        let (state, set) = record.split_at(width);
        (state, ProcessSet::from_bytes(set))
    })
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
    pub fn of(program: &Program) -> Result<ProcessNumbering, String> {
        if program.schedule == Schedule::Lockstep {
            return Err("its processes move in lockstep".to_owned());
        }
        if program.actions.values().any(|it| it.edge.is_none()) {
            return Err("it has rules, which are no process's".to_owned());
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
            false => Err(format!("there may be more than {PROCESSES_MAX} processes at one time")),
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
    pub fn new(interp: &'a Interp, executor: &Executor<'a>) -> Result<FairExpander<'a>, String> {
        let program = interp.program();
        let processes = ProcessNumbering::of(program)?;
        let selective = executor.selective().map_err(|it| it.reason)?;
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
        let Some(collected) = out.wrap_labelled(width, &mut successors, run) else { return };
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
