//! Live variables: the parts of a state that may affect the future.
//!
//! A scalar is *live* for a process at a location if the process may read it from there on before it surely
//! overwrites it (backward data-flow analysis: Kennedy 1981; for model checking: Bozga, Fernandez and Ghirvu 1999). A
//! scalar is *dead* in a state if it is live for no process at its location. Two states that differ only in dead
//! scalars have the same future, step by step. A read is any use with a visible effect: a guard, a message, an index,
//! an assertion, or a stored value if its target is live or it may not fit. The variables of a property are live at
//! its locations, or everywhere.
//!
//! A dead scalar can always hold its first value. The analysis knows where a scalar becomes dead if that depends on
//! one process. For a local variable this is the owner. For other variables it is the only process for which the
//! scalar is ever live, if no other process writes it. Scalars that are live for several processes, or that others
//! write, are analysed on request (`joint_liveness`). A scalar that is live for a process with several instances
//! counts as always live.
//!
//! - `scalar_numbering`: the numbers of the scalars of variables, and the scalars of places;
//! - `bounds`: expressions that surely have a value; `backward`: liveness through code;
//! - `state_change`: actions that surely change the state, where this matters;
//! - `joint_liveness`: scalars whose liveness depends on several processes.

mod backward;
mod bounds;
mod joint_liveness;
mod scalar_numbering;
mod state_change;

pub use bounds::{bounds, surely_stored};
pub use joint_liveness::JointlyDeadScalar;
pub use scalar_numbering::ScalarNumbering;

use super::bit_sets;
use backward::{BackwardLiveness, RemoteScalars, WrittenScalars};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, ActionId, EndRule, Entity, LocationId, Owner, PidRule, Place, Process, ProcessId,
    Program, PropertyKind, Schedule, StartRule, Stmt, StmtKind, Type, TypeId,
};
use std::collections::BTreeSet;

/// The live scalars for each process at each of its locations.
type LiveSets = Vec<Vec<Vec<u64>>>;

/// The work units of one walk through an action.
const EACH_ACTION: u64 = 32;

/// The maximal number of words of all sets.
const WORDS_MAX: usize = 1 << 22;

/// The dead scalars at each location.
#[derive(Clone, Debug)]
pub struct DeadScalars {
    scalars: ScalarNumbering,
    /// The live scalars for each process at each of its locations.
    live: Vec<Vec<Vec<u64>>>,
    /// The scope of each scalar.
    of: Vec<LivenessScope>,
    /// The scalars that each action may write.
    written: Vec<Vec<u64>>,
    /// Whether the analysis covers scalars whose liveness depends on several processes.
    jointly: bool,
}

/// The processes on whose locations the liveness of a scalar depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessScope {
    /// None: the scalar is always dead, and some code writes it.
    AlwaysDead,
    /// This process, or the instance that owns the scalar.
    OneProcess(ProcessId),
    /// All processes that read the scalar. It is dead where it is dead for each of them.
    SeveralProcesses,
    /// Unknown: the scalar counts as always live.
    AlwaysLive,
}

impl DeadScalars {
    /// Computes the dead scalars of a program, with those of several processes if `jointly` is set. Returns `None` if
    /// the program is too large.
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
        // Each round is compared with the round before.
        budget.hold(3 * sets * words * size_of::<u64>())?;
        let none = vec![0; bit_sets::words_of(scalars.count())];
        let written = program.actions.values().map(|it| written(program, &scalars, &none, it));
        let mut pinned = pinned(program, &scalars);
        let (live, of) = (Vec::new(), Vec::new());
        // In lockstep, no process sees the next locations of the others.
        let jointly = jointly && program.schedule != Schedule::Lockstep;
        let mut dead = DeadScalars { live, of, written: written.collect(), scalars, jointly };
        while dead.look(program, &mut pinned, budget)? {}
        Ok(Some(dead))
    }

    /// Returns the scope of each scalar. The pinned scalars are always live.
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
            // A scalar that no code writes keeps its value as long as it exists.
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
                // If another process writes it, the writer needs the location of the reader.
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

    /// Computes the dead scalars for given pinned scalars. A scalar that counts as live keeps the values stored in
    /// it, so the scalars from which they are computed are live, too. Adds these to the pinned scalars, and returns
    /// whether there are any.
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

    /// Makes scalars always live that cannot be reset where they become dead. So in every state of the rewritten
    /// program each dead scalar has its first value, and equivalent states are equal.
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

    /// Makes scalars always live that are dead after an action that may change nothing else. Where a step to the same
    /// state is no transition, a reset would turn the action into such a step.
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

    /// Returns the variables of the program that are dead after an action with which its mover ends, and that were
    /// live before or are written by the action.
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

    /// Returns the variables of the program that a start may set and that are dead in the initial state.
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

    /// Returns the numbering of the scalars.
    pub fn scalars(&self) -> &ScalarNumbering {
        &self.scalars
    }

    /// Returns the scope of a scalar.
    pub fn scope(&self, scalar: usize) -> LivenessScope {
        self.of[scalar]
    }

    /// Returns the scalars of a process that are dead at a location.
    pub fn dead_at(&self, process: ProcessId, location: LocationId) -> impl Iterator<Item = usize> {
        let own = self.that_are(LivenessScope::OneProcess(process));
        own.filter(move |&scalar| !self.is_live(process, location, scalar))
    }

    /// Returns the scalars that are always dead.
    pub fn always_dead(&self) -> impl Iterator<Item = usize> {
        self.that_are(LivenessScope::AlwaysDead)
    }

    /// Returns the scalars with this scope.
    fn that_are(&self, matter: LivenessScope) -> impl Iterator<Item = usize> {
        let all = self.of.iter().enumerate().filter(move |(_, it)| **it == matter);
        all.map(|(scalar, _)| scalar)
    }

    /// Returns whether a scalar is live for a process at a location.
    fn is_live(&self, process: ProcessId, at: LocationId, scalar: usize) -> bool {
        bit_sets::has(&self.live[process.index()][at.index()], scalar)
    }

    /// Returns the scalars that are dead after an action and whose values may differ from those before: they were
    /// live before, or the action writes them.
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

/// Computes the live scalars for each process at each location, and for actions of no process. The pinned scalars are
/// always live.
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

/// The live scalars found so far.
#[derive(Clone, PartialEq, Eq)]
struct LivenessFixpoint {
    /// For each process at each of its locations.
    live: Vec<Vec<Vec<u64>>>,
    /// At the start of an instance of each process, without its own locals.
    begins: Vec<Vec<u64>>,
    /// For actions of no process.
    free: Vec<u64>,
}

/// The scalars that processes read, at any location.
struct ProcessReads<'p> {
    /// The pinned scalars.
    pinned: &'p [u64],
    /// The scalars that each process reads.
    ever: Vec<Vec<u64>>,
    /// The scalars that all processes except each one read.
    others: Vec<Vec<u64>>,
}

impl LivenessFixpoint {
    /// Walks back over every action once.
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
        // Later actions usually determine the live scalars at a location, so the reverse order converges faster.
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
            // The locals of a new instance have the values of its arguments, or their first values.
            walk.exit();
            self.begins[id.index()] = walk.live;
        }
        Ok(())
    }

    /// Returns the scalars that others than an instance of a process may read, at any location.
    fn elsewhere(
        &self,
        program: &Program,
        scalars: &ScalarNumbering,
        reads: &ProcessReads<'_>,
        mover: Option<ProcessId>,
    ) -> Vec<u64> {
        let mut all = vec![0; reads.pinned.len()];
        // Instances of one process are others to each other, except for their own scalars.
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

/// Returns, for each set, the union of all other sets.
fn without_each(sets: &[Vec<u64>], words: usize) -> Vec<Vec<u64>> {
    let mut found = vec![vec![0; words]; sets.len()];
    // Adds the sets before each one, then the sets after it.
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

/// Returns the union of sets of `words` words.
fn union(sets: &[Vec<u64>], words: usize) -> Vec<u64> {
    let mut all = vec![0; words];
    sets.iter().for_each(|it| bit_sets::extend(&mut all, it));
    all
}

/// Returns the scalars that an action may write.
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

/// An early exit from a body.
enum EarlyExit {
    /// A statement may leave the body.
    Body,
    /// The mover ends.
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

/// Returns the scalars that count as live everywhere: those that properties read in all states, those of named
/// instances, and those that decide which process it is or when it may move.
fn pinned(program: &Program, scalars: &ScalarNumbering) -> Vec<u64> {
    let none = vec![0; bit_sets::words_of(scalars.count())];
    let mut walk = BackwardLiveness::new(program, scalars, &[], &none);
    for property in program.properties.values() {
        match &property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Cover(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::Constraint(condition)
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
