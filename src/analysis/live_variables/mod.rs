//! Live variables: what of a state may still matter.
//!
//! A scalar is *live* for a process at a location if the process may read it from there on, before it surely
//! overwrites it (backward data-flow analysis; Kennedy 1981, for model checking Bozga, Fernandez and Ghirvu 1999). What
//! is live for nobody, wherever everybody is, is *dead*: two states that differ only in what is dead have the
//! same future, step by step. Reading is whatever can show in the end: a guard, a message, an index, a value
//! that is stored where it is live or may not fit, an assertion. What a property asks for is live at its
//! locations, or everywhere.
//!
//! A dead scalar can always hold its first value. Where it becomes dead is known of one process: the only one for which
//! it is ever live, its owner if it is a local, or else the only one to write it. What is live for several processes, or written by
//! others, is told of only if that is wanted (`joint_liveness`); what is live for one of which there are several is taken to be live.
//!
//! - `scalar_numbering`: numbers for the scalars of variables, and what places mean;
//! - `bounds`: expressions that surely have a value; `backward`: liveness through code;
//! - `state_change`: actions that surely lead on, where it matters whether they do;
//! - `joint_liveness`: what is dead where several processes are.

mod backward;
mod bounds;
mod joint_liveness;
mod scalar_numbering;
mod state_change;

pub use bounds::{bounds, surely_stored};
pub use joint_liveness::JointlyDeadScalar;
pub use scalar_numbering::ScalarNumbering;

use super::bit_sets;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{
    Action, ActionId, EndRule, Entity, LocationId, Owner, PidRule, Place, Process, ProcessId,
    Program, PropertyKind, Schedule, StartRule, Stmt, StmtKind, Type, TypeId,
};
use backward::{BackwardLiveness, RemoteScalars, WrittenScalars};
use std::collections::BTreeSet;

/// What is live for each process at each of its locations.
type LiveSets = Vec<Vec<Vec<u64>>>;

/// Units of work to walk through an action.
const EACH_ACTION: u64 = 32;

/// More words of sets are not computed.
const WORDS_MAX: usize = 1 << 22;

/// What is dead where, of scalars whose liveness is a matter of one process.
#[derive(Clone, Debug)]
pub struct DeadScalars {
    scalars: ScalarNumbering,
    /// What is live for each process at each of its locations.
    live: Vec<Vec<Vec<u64>>>,
    /// Whose matter each scalar is.
    of: Vec<LivenessScope>,
    /// What each action may write.
    written: Vec<Vec<u64>>,
    /// Whether what is a matter of several processes is told.
    jointly: bool,
}

/// Whose matter it is whether a scalar is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessScope {
    /// Nobody's: it is always dead, and somebody writes it.
    AlwaysDead,
    /// It depends on where this process is, or this instance of it where the scalar is its own.
    OneProcess(ProcessId),
    /// It depends on where each process is that reads it: it is dead where it is dead for all of these.
    SeveralProcesses,
    /// It is not told: it is taken to be live.
    AlwaysLive,
}

impl DeadScalars {
    /// What is dead in a program, what is a matter of several processes among it if that is wanted, unless the program is too large.
    pub fn of(
        program: &Program,
        jointly: bool,
        budget: &AnalysisBudget,
    ) -> Result<Option<DeadScalars>, BudgetExceeded> {
        let Some(scalars) = ScalarNumbering::new(program) else { return Ok(None) };
        let places = program.processes.values().map(|it| it.locations.len() + 1);
        let sets = places.sum::<usize>() + program.actions.len();
        let words = bit_sets::words_of(scalars.count());
        if scalars.count() == 0 || sets * words > WORDS_MAX {
            return Ok(None);
        }
        // What is found is compared with what was found before.
        budget.hold(3 * sets * words * size_of::<u64>())?;
        let none = vec![0; bit_sets::words_of(scalars.count())];
        let written = program.actions.values().map(|it| written(program, &scalars, &none, it));
        let mut pinned = pinned(program, &scalars);
        let (live, of) = (Vec::new(), Vec::new());
        // Where all move at once nobody sees where the others will be.
        let jointly = jointly && program.schedule != Schedule::Lockstep;
        let mut dead = DeadScalars { live, of, written: written.collect(), scalars, jointly };
        while dead.look(program, &mut pinned, budget)? {}
        Ok(Some(dead))
    }

    /// Whose matter each scalar is, where some are live in any case.
    fn scopes(
        &self,
        program: &Program,
        live: &[Vec<Vec<u64>>],
        pinned: &[u64],
    ) -> Vec<LivenessScope> {
        let DeadScalars { scalars, written, jointly, .. } = self;
        let words = bit_sets::words_of(scalars.count());
        let ever_written = union(written, words);
        let readers: Vec<Vec<u64>> = live.iter().map(|it| union(it, words)).collect();
        let owner = |scalar: usize| program.variables[scalars.variable(scalar).0].owner;
        let is_foreign = |scalar: usize, one: ProcessId| {
            let foreign = program.actions.values().zip(written);
            let mut foreign = foreign.filter(|(it, _)| it.edge.is_none_or(|it| it.process != one));
            foreign.any(|(_, written)| bit_sets::has(written, scalar))
        };
        let matter = |scalar: usize| {
            // What nobody writes is the same for as long as it is there.
            if bit_sets::has(pinned, scalar) || !bit_sets::has(&ever_written, scalar) {
                return LivenessScope::AlwaysLive;
            }
            let reads = |it: &ProcessId| bit_sets::has(&readers[it.index()], scalar);
            let mut reading = program.processes.keys().filter(reads);
            let of_several = || match *jointly {
                true if joint_liveness::may_be_of_several(program, owner(scalar), scalar, live) => {
                    LivenessScope::SeveralProcesses
                }
                _ => LivenessScope::AlwaysLive,
            };
            match (reading.next(), reading.next(), owner(scalar)) {
                (None, ..) => LivenessScope::AlwaysDead,
                // Where somebody else writes it, he has to know where that one is.
                (Some(one), None, _) if is_foreign(scalar, one) => of_several(),
                (Some(one), None, Owner::Process(own)) if own == one => {
                    LivenessScope::OneProcess(one)
                }
                (Some(one), None, Owner::Program) if program.slots(one) == 1 => {
                    LivenessScope::OneProcess(one)
                }
                _ => of_several(),
            }
        };
        (0..scalars.count()).map(matter).collect()
    }

    /// Finds what is dead where some scalars are live in any case. What is taken to be live besides keeps whatever is
    /// stored in it, so that what it is computed from is live, too: it is added, and whether any was is told.
    fn look(
        &mut self,
        program: &Program,
        pinned: &mut [u64],
        budget: &AnalysisBudget,
    ) -> Result<bool, BudgetExceeded> {
        let (mut live, free) = live(program, &self.scalars, pinned, budget)?;
        live.iter_mut().flatten().for_each(|it| self.scalars.complete(it));
        bit_sets::extend(pinned, &free);
        self.scalars.complete(pinned);
        self.of = self.scopes(program, &live, pinned);
        self.live = live;
        self.pin_unreset(program);
        let ever_written = union(&self.written, pinned.len());
        let is_new = |&it: &usize| {
            self.of[it] == LivenessScope::AlwaysLive
                && bit_sets::has(&ever_written, it)
                && !bit_sets::has(pinned, it)
        };
        let new: Vec<usize> = (0..self.scalars.count()).filter(is_new).collect();
        new.iter().for_each(|&it| bit_sets::insert(pinned, it));
        Ok(!new.is_empty())
    }

    /// Takes to be live what cannot be reset where it becomes dead. So in every state of a program that resets
    /// what is dead that has its first value, and there is one such state for all that are alike.
    fn pin_unreset(&mut self, program: &Program) {
        for (id, action) in program.actions.iter() {
            let left = match leaves(action) {
                None => continue,
                Some(EarlyExit::Body) => self.dead_after(id, action),
                Some(EarlyExit::Life) => self.dead_after_exit(program, id, action),
            };
            left.into_iter().for_each(|it| self.of[it] = LivenessScope::AlwaysLive);
            self.pin_jointly_dead(program, id, action);
        }
        self.pin_unobservable_resets(program);
        if program.end == EndRule::NeverStuttering {
            self.pin_sole_changes(program);
        }
    }

    /// Takes to be live what is dead behind an action that may change nothing else: where steps that lead nowhere are
    /// none, it would become one of these.
    fn pin_sole_changes(&mut self, program: &Program) {
        for (id, action) in program.actions.iter() {
            let is_live = |place: &Place| {
                let meant = self.scalars.of_place(program, place);
                meant.is_some_and(|mut it| {
                    it.scalars.all(|at| self.of[at] == LivenessScope::AlwaysLive)
                })
            };
            if !state_change::surely_changes_state(program, action, is_live) {
                let left = self.dead_after(id, action);
                left.into_iter().for_each(|it| self.of[it] = LivenessScope::AlwaysLive);
                self.pin_jointly_dead(program, id, action);
            }
        }
    }

    /// What of the program's variables is dead behind an action by which its mover ends, and was not before, or is written
    /// by it.
    fn dead_after_exit(&self, program: &Program, id: ActionId, action: &Action) -> Vec<usize> {
        let Some(edge) = action.edge else { return Vec::new() };
        let before = &self.live[edge.process.index()][edge.from.index()];
        let is_left = |&it: &usize| {
            let (variable, _) = self.scalars.variable(it);
            program.variables[variable].owner == Owner::Program
                && matches!(self.of[it], LivenessScope::AlwaysDead | LivenessScope::OneProcess(_))
                && (bit_sets::has(before, it) || bit_sets::has(&self.written[id.index()], it))
        };
        (0..self.scalars.count()).filter(is_left).collect()
    }

    /// What of the program's variables a start may set that is dead when all begins.
    pub fn dead_after_start(&self, program: &Program, start: &StartRule) -> Vec<usize> {
        let written = self.written_by(program, start);
        let is_dead = |it: &usize| match self.of[*it] {
            LivenessScope::AlwaysDead => true,
            LivenessScope::OneProcess(process) => {
                let first = program.processes[process].start;
                !bit_sets::has(&self.live[process.index()][first.index()], *it)
            }
            LivenessScope::SeveralProcesses | LivenessScope::AlwaysLive => false,
        };
        bit_sets::members(&written).filter(is_dead).collect()
    }

    fn written_by(&self, program: &Program, start: &StartRule) -> Vec<u64> {
        let mut written = vec![0; bit_sets::words_of(self.scalars.count())];
        let (scalars, functions) = (&self.scalars, BTreeSet::new());
        walk::body(
            &mut WrittenScalars { program, scalars, written: &mut written, functions },
            &start.body,
        );
        written
    }

    /// Numbers for the scalars.
    pub fn scalars(&self) -> &ScalarNumbering {
        &self.scalars
    }

    /// Whose matter it is whether a scalar is live.
    pub fn scope(&self, scalar: usize) -> LivenessScope {
        self.of[scalar]
    }

    /// What is dead where a process is at a location, of that which is its matter.
    pub fn dead_at(&self, process: ProcessId, location: LocationId) -> impl Iterator<Item = usize> {
        let own = self.that_are(LivenessScope::OneProcess(process));
        own.filter(move |&scalar| !self.is_live(process, location, scalar))
    }

    /// What is always dead.
    pub fn always_dead(&self) -> impl Iterator<Item = usize> {
        self.that_are(LivenessScope::AlwaysDead)
    }

    /// The scalars that are this matter.
    fn that_are(&self, matter: LivenessScope) -> impl Iterator<Item = usize> {
        let all = self.of.iter().enumerate().filter(move |(_, it)| **it == matter);
        all.map(|(scalar, _)| scalar)
    }

    /// Whether a scalar is live for a process at a location.
    fn is_live(&self, process: ProcessId, at: LocationId, scalar: usize) -> bool {
        bit_sets::has(&self.live[process.index()][at.index()], scalar)
    }

    /// What is dead behind an action and may hold something else than before it became so: it was live before, or
    /// the action writes it.
    pub fn dead_after(&self, id: ActionId, action: &Action) -> Vec<usize> {
        let written = &self.written[id.index()];
        let mut found: Vec<usize> =
            self.always_dead().filter(|&it| bit_sets::has(written, it)).collect();
        if let Some(edge) = action.edge {
            let before = &self.live[edge.process.index()][edge.from.index()];
            let is_new = |it: &usize| bit_sets::has(before, *it) || bit_sets::has(written, *it);
            found.extend(self.dead_at(edge.process, edge.to).filter(is_new));
        }
        found.sort_unstable();
        found
    }
}

/// What is live for each process at each location, and for actions of no process, where some scalars are live in any
/// case.
fn live(
    program: &Program,
    scalars: &ScalarNumbering,
    pinned: &[u64],
    budget: &AnalysisBudget,
) -> Result<(LiveSets, Vec<u64>), BudgetExceeded> {
    let none = vec![0; bit_sets::words_of(scalars.count())];
    let sets = |process: &Process| vec![none.clone(); process.locations.len()];
    let mut found = LivenessFixpoint {
        live: program.processes.values().map(sets).collect(),
        begins: vec![none.clone(); program.processes.len()],
        free: none,
    };
    for property in program.properties.values() {
        if let PropertyKind::AssertionAt { process, location, condition } = &property.kind {
            let mut walk = BackwardLiveness::new(program, scalars, &[], pinned);
            walk.reads(condition);
            let read = walk.live;
            bit_sets::extend(&mut found.live[process.index()][location.index()], &read);
        }
    }
    loop {
        let before = found.clone();
        found.propagate(program, scalars, pinned, budget)?;
        if found == before {
            return Ok((found.live, found.free));
        }
    }
}

/// What has been found to be live so far.
#[derive(Clone, PartialEq, Eq)]
struct LivenessFixpoint {
    /// For each process at each of its locations.
    live: Vec<Vec<Vec<u64>>>,
    /// Where an instance of each process begins, but for its own locals.
    begins: Vec<Vec<u64>>,
    /// For actions of no process.
    free: Vec<u64>,
}

/// What the processes read, wherever they are.
struct ProcessReads<'p> {
    /// What is read in any case.
    pinned: &'p [u64],
    /// What each reads.
    ever: Vec<Vec<u64>>,
    /// What all others than each read.
    others: Vec<Vec<u64>>,
}

impl LivenessFixpoint {
    /// Goes back over every action once.
    fn propagate(
        &mut self,
        program: &Program,
        scalars: &ScalarNumbering,
        pinned: &[u64],
        budget: &AnalysisBudget,
    ) -> Result<(), BudgetExceeded> {
        let words = pinned.len() as u64;
        budget.work(words * program.processes.len() as u64)?;
        let ever: Vec<Vec<u64>> = self.live.iter().map(|it| union(it, pinned.len())).collect();
        let reads = ProcessReads { pinned, others: without_each(&ever, pinned.len()), ever };
        let elsewhere = |mover| self.elsewhere(program, scalars, &reads, mover);
        let of_free = elsewhere(None);
        let of_process: Vec<_> = program.processes.keys().map(|it| elsewhere(Some(it))).collect();
        // What is live at a location is mostly found from actions behind those that lead there.
        for action in program.actions.values().rev() {
            budget.work(EACH_ACTION + 2 * words)?;
            let mover = action.edge.map(|edge| edge.process);
            let elsewhere = mover.map_or(&of_free, |it| &of_process[it.index()]);
            let mut walk = BackwardLiveness::new(program, scalars, &self.begins, elsewhere);
            walk.mover = mover;
            let to = action.edge.map(|it| &self.live[it.process.index()][it.to.index()]);
            walk.live.clone_from(to.unwrap_or(&self.free));
            walk.action(action);
            let found = walk.live;
            let set = match action.edge {
                Some(edge) => &mut self.live[edge.process.index()][edge.from.index()],
                None => &mut self.free,
            };
            bit_sets::extend(set, &found);
        }
        for (id, process) in program.processes.iter() {
            let elsewhere = &of_process[id.index()];
            let mut walk = BackwardLiveness::new(program, scalars, &self.begins, elsewhere);
            walk.mover = Some(id);
            walk.live.clone_from(&self.live[id.index()][process.start.index()]);
            walk.end.clone_from(&walk.live);
            walk.body(&process.life.prologue);
            // Its own locals are what whoever starts it says, or have their first values.
            walk.exit();
            self.begins[id.index()] = walk.live;
        }
        Ok(())
    }

    /// What others than a process, or an instance of it, may read, wherever they are.
    fn elsewhere(
        &self,
        program: &Program,
        scalars: &ScalarNumbering,
        reads: &ProcessReads<'_>,
        mover: Option<ProcessId>,
    ) -> Vec<u64> {
        let mut all = vec![0; reads.pinned.len()];
        // Of several instances each is somebody else to the others, but for what is its own.
        if let Some(id) = mover.filter(|it| program.slots(*it) > 1) {
            all.clone_from(&reads.ever[id.index()]);
            scalars.of_process(program, id).for_each(|it| bit_sets::remove_member(&mut all, it));
        }
        bit_sets::extend(&mut all, reads.pinned);
        match mover {
            Some(id) => {
                bit_sets::extend(&mut all, &reads.others[id.index()]);
                bit_sets::extend(&mut all, &self.free);
            }
            None => reads.ever.iter().for_each(|it| bit_sets::extend(&mut all, it)),
        }
        all
    }
}

/// For each of some sets of so many words, all that the others have.
fn without_each(sets: &[Vec<u64>], words: usize) -> Vec<Vec<u64>> {
    let mut found = vec![vec![0; words]; sets.len()];
    // What those before it have, and then what those behind it have.
    let mut before = vec![0; words];
    for (set, others) in sets.iter().zip(&mut found) {
        bit_sets::extend(others, &before);
        bit_sets::extend(&mut before, set);
    }
    let mut behind = vec![0; words];
    for (set, others) in sets.iter().zip(&mut found).rev() {
        bit_sets::extend(others, &behind);
        bit_sets::extend(&mut behind, set);
    }
    found
}

/// All that some sets of so many words have.
fn union(sets: &[Vec<u64>], words: usize) -> Vec<u64> {
    let mut all = vec![0; words];
    sets.iter().for_each(|it| bit_sets::extend(&mut all, it));
    all
}

/// What an action may write.
fn written(
    program: &Program,
    scalars: &ScalarNumbering,
    none: &[u64],
    action: &Action,
) -> Vec<u64> {
    let mut written = none.to_vec();
    let functions = BTreeSet::new();
    let mut writes = WrittenScalars { program, scalars, written: &mut written, functions };
    walk::action(&mut writes, action);
    scalars.complete(&mut written);
    written
}

/// How a body ends before its last statement.
enum EarlyExit {
    /// It may be left.
    Body,
    /// Its mover ends.
    Life,
}

fn leaves(action: &Action) -> Option<EarlyExit> {
    struct EarlyExitFinder(Option<EarlyExit>);
    impl CodeVisitor for EarlyExitFinder {
        fn stmt(&mut self, stmt: &Stmt) {
            match stmt.kind {
                StmtKind::Return(_) => self.0 = Some(EarlyExit::Body),
                StmtKind::Exit if self.0.is_none() => self.0 = Some(EarlyExit::Life),
                _ => {}
            }
            walk::stmt(self, stmt);
        }
    }
    let mut leaves = EarlyExitFinder(None);
    walk::body(&mut leaves, &action.body);
    leaves.0
}

/// What is taken to be live everywhere: what is asked for in all states, what is known as some instance's, and what says
/// who a process is or when it may move.
fn pinned(program: &Program, scalars: &ScalarNumbering) -> Vec<u64> {
    let none = vec![0; bit_sets::words_of(scalars.count())];
    let mut walk = BackwardLiveness::new(program, scalars, &[], &none);
    for property in program.properties.values() {
        match &property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Cover(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::Assumption(condition) => {
                walk.reads(condition);
            }
            PropertyKind::Claim(claim) => claim.moves.iter().for_each(|it| walk.action(&it.action)),
            PropertyKind::AssertionAt { .. }
            | PropertyKind::Automaton(_)
            | PropertyKind::Reached => {}
        }
    }
    for process in program.processes.values() {
        process.life.provided.iter().for_each(|it| walk.reads(it));
    }
    let mut pinned = walk.live;
    let mut others = RemoteScalars { scalars, named: &mut pinned };
    program.actions.values().for_each(|it| walk::action(&mut others, it));
    program.functions.values().for_each(|it| walk::body(&mut others, &it.body));
    for property in program.properties.values() {
        if let PropertyKind::AssertionAt { condition, .. } = &property.kind {
            others.expr(condition);
        }
    }
    for process in program.processes.values() {
        walk::body(&mut others, &process.life.prologue);
        process.life.provided.iter().for_each(|it| others.expr(it));
    }
    let lives = program.processes.values().map(|it| &it.life);
    let own = lives.flat_map(|life| {
        let pid = match life.pid {
            PidRule::In(variable) => Some(variable),
            PidRule::None | PidRule::From(_) => None,
        };
        [pid, life.priority]
    });
    let kept = program.variables.iter().filter(|(_, it)| has_multiset(program, it.ty));
    let kept = kept.map(|(id, _)| id);
    for variable in own.chain([program.last]).flatten().chain(kept) {
        scalars.of(variable).for_each(|it| bit_sets::insert(&mut pinned, it));
    }
    pinned
}

fn has_multiset(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(_) => false,
        Type::Array { element, .. } => has_multiset(program, *element),
        Type::Record { fields, .. } => fields.iter().any(|(_, ty)| has_multiset(program, *ty)),
        Type::Multiset { .. } => true,
    }
}
