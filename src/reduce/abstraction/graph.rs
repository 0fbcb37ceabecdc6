//! Which combinations of what is kept lead to which, and to what is looked for.

use super::cases::{Cases, Then};
use super::held::When;
use super::{Kept, Known, Target};
use crate::analysis::bits;
use crate::exec::{Expansion, Model as _};
use crate::ir::layout::CellId;
use crate::ir::{EndRule, Property, PropertyKind};
use std::ops::ControlFlow;

/// At most so many steps between combinations are kept in memory.
const STEPS_MAX: usize = 1 << 22;

/// So many initial states are looked at.
const INITIAL_MAX: u64 = 1 << 10;

/// The combinations, and the steps between them.
pub(super) struct Graph<'g> {
    known: &'g Known<'g>,
    target: Target,
    kept: &'g Kept,
    /// What comes of each instance, as far as it is kept.
    cases: Vec<Cases>,
    /// What may be there: the target.
    bad: Vec<u64>,
    /// What surely is.
    surely_bad: Vec<u64>,
    /// From, to, some more than once; nothing if there are too many.
    steps: Option<Vec<(u32, u32)>>,
}

impl<'g> Graph<'g> {
    pub(super) fn of(
        known: &'g Known<'g>,
        (target, kept): (Target, &'g Kept),
        cases: Vec<Cases>,
    ) -> Graph<'g> {
        let none = vec![0; bits::words_of(kept.combinations())];
        let (bad, surely_bad) = (none.clone(), none);
        let mut graph = Graph { known, target, kept, cases, bad, surely_bad, steps: None };
        graph.mark();
        graph.steps = graph.all_steps();
        graph
    }

    /// Marks where the target may be, and surely is.
    fn mark(&mut self) {
        match self.target {
            Target::Property(id) => {
                let all = self.known.judgements.iter().filter(|it| it.0 == id);
                for (_, judgements) in all {
                    let mut good = self.none();
                    for (when, holds) in &judgements.cases {
                        let set = if *holds { &mut good } else { &mut self.bad };
                        mark(self.kept, when, set);
                    }
                    if judgements.are_exact {
                        self.surely_bad = minus(&self.bad, &good);
                    }
                }
            }
            Target::Errors => {
                let all = self.cases.iter().zip(&self.known.may_err);
                for (cases, _) in all.filter(|(_, may_err)| **may_err) {
                    let (mut fails, mut others) = (self.none(), self.none());
                    for case in &cases.all {
                        let is_failing = case.then == Then::Fails;
                        let set = if is_failing { &mut fails } else { &mut others };
                        mark(self.kept, &case.when, set);
                    }
                    bits::extend(&mut self.bad, &fails);
                    if cases.are_exact {
                        bits::extend(&mut self.surely_bad, &minus(&fails, &others));
                    }
                }
            }
            Target::Deadlock => {
                let mut moves = self.none();
                for cases in self.cases.iter() {
                    bits::extend(&mut moves, &self.surely_possible(cases));
                }
                self.bad = minus(&self.all(), &moves);
                self.leave_ends();
            }
        }
    }

    /// Where one of an instance's steps surely is possible.
    fn surely_possible(&self, cases: &Cases) -> Vec<u64> {
        let (mut may, mut not) = (self.none(), self.none());
        if !cases.are_exact {
            return may;
        }
        for case in &cases.all {
            match case.then {
                Then::Nothing => mark(self.kept, &case.when, &mut not),
                _ => mark(self.kept, &case.when, &mut may),
            }
        }
        minus(&may, &not)
    }

    /// Takes out where all processes are at valid ends, which is no deadlock.
    fn leave_ends(&mut self) {
        let program = self.known.interp.program();
        // Something else may be violated where all processes are at valid ends.
        let at_end = |it: &Property| matches!(it.kind, PropertyKind::AtEnd(_));
        if program.end != EndRule::AllAtValidEnd || program.properties.values().any(at_end) {
            return;
        }
        let table = self.known.dependence.table();
        let mut when = Vec::new();
        for instance in program.instances() {
            let cell = table.location_cell(instance.process, instance.slot);
            let process = &program.processes[instance.process];
            let first = i64::from(process.first_location());
            let is_end = |held: Option<i64>| {
                let at = held.unwrap_or_default() - first;
                at < 0
                    || process
                        .locations
                        .iter()
                        .any(|(id, it)| i64::from(id.0) == at && it.valid_end)
            };
            let is_one = self.known.interp.layout().cells[cell].count() == 1;
            let always = is_one && is_end(self.known.interp.layout().cells[cell].value(0));
            if self.kept.position(cell).is_none() && !always {
                return;
            }
            when.extend(self.kept.position(cell).map(|at| (at, self.kept.codes_of(at, is_end))));
        }
        let mut codes = self.kept.codes(&[]);
        when.into_iter().for_each(|(at, ends)| codes[at] = ends);
        let bad = &mut self.bad;
        self.kept.each(&codes, &mut |it| bits::take_out(bad, it as usize));
    }

    /// All steps that change something.
    fn all_steps(&self) -> Option<Vec<(u32, u32)>> {
        let mut steps = Vec::new();
        for case in self.cases.iter().flat_map(|it| &it.all) {
            let Then::Leads(next) = &case.then else { continue };
            if !self.kept.is_written(next) {
                continue;
            }
            let codes = self.kept.codes(&case.when);
            let all = self.kept.each_step(&codes, next, &mut |from, to| match from == to {
                true => ControlFlow::Continue(()),
                false => add(&mut steps, (from, to)),
            });
            if all.is_break() {
                return None;
            }
        }
        Some(steps)
    }

    /// Where the target may be reached from.
    pub(super) fn may_reach(&self) -> Vec<u64> {
        match &self.steps {
            None => self.all(),
            Some(steps) => {
                let back = steps.iter().map(|&(from, to)| (to, from));
                closure(self.bad.clone(), &Ways::of(self.kept.combinations(), back))
            }
        }
    }

    /// What can be reached from the beginning.
    pub(super) fn reached(&self) -> Vec<u64> {
        match (&self.steps, self.initial()) {
            (Some(steps), Some(initial)) => {
                closure(initial, &Ways::of(self.kept.combinations(), steps.iter().copied()))
            }
            _ => self.all(),
        }
    }

    /// Where the program may begin, if that is easily told.
    fn initial(&self) -> Option<Vec<u64>> {
        let interp = self.known.interp;
        let starts = &interp.program().starts;
        if starts.iter().any(|it| !it.parameters.is_empty()) {
            return None;
        }
        let mut states = Vec::new();
        let run = |out: &mut Expansion| interp.initial(out);
        let collected = Expansion::collect(interp.width(), &mut states, run).ok()?;
        if collected.transitions > INITIAL_MAX {
            return None;
        }
        let mut found = self.none();
        for state in states.chunks_exact(interp.width()) {
            bits::insert(&mut found, self.kept.of(interp.layout(), state)?);
        }
        Some(found)
    }

    /// Whether there are too many steps to look at all of them.
    pub(super) fn steps_are_too_many(&self) -> bool {
        self.steps.is_none()
    }

    /// All that the cells hold, added up, before and after a step from what can be reached in which that falls: the
    /// least there is.
    pub(super) fn falls(&self, reached: &[u64]) -> Option<(i64, i64)> {
        let sum = |combination: u32| self.kept.sum(combination);
        let steps = self.steps.iter().flatten().filter(|it| bits::has(reached, it.0 as usize));
        steps.map(|&(from, to)| (sum(from), sum(to))).filter(|(from, to)| to < from).min()
    }

    /// How many steps surely lead to the target, and one more: some instance's, in whatever state.
    pub(super) fn surely(&self) -> Vec<u16> {
        let mut rank = vec![0u16; self.kept.combinations()];
        bits::members(&self.surely_bad).for_each(|it| rank[it] = 1);
        if self.target == Target::Deadlock || self.surely_bad.iter().all(|it| *it == 0) {
            return rank;
        }
        let all: Vec<Surely> = self.cases.iter().filter_map(|it| self.surely_of(it)).collect();
        for round in 2..u16::MAX {
            let mut led = self.none();
            all.iter().for_each(|it| bits::extend(&mut led, &it.led_to(&rank)));
            let new: Vec<usize> = bits::members(&led).filter(|&it| rank[it] == 0).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|it| rank[it] = round);
        }
        rank
    }

    /// What an instance surely does; nothing, if that is not known, or is too much.
    fn surely_of(&self, cases: &Cases) -> Option<Surely> {
        let (mut not, mut steps) = (self.none(), Vec::new());
        for case in cases.all.iter().filter(|_| cases.are_exact) {
            let codes = self.kept.codes(&case.when);
            match &case.then {
                Then::Leads(next) => {
                    let mut step = |from, to| add(&mut steps, (from, to));
                    if self.kept.each_step(&codes, next, &mut step).is_break() {
                        return None;
                    }
                }
                Then::Nothing | Then::Fails => {
                    self.kept.each(&codes, &mut |it| bits::insert(&mut not, it as usize));
                }
            }
        }
        cases.are_exact.then_some(Surely { not, steps })
    }

    fn none(&self) -> Vec<u64> {
        vec![0; bits::words_of(self.kept.combinations())]
    }

    fn all(&self) -> Vec<u64> {
        let mut all = self.none();
        (0..self.kept.combinations()).for_each(|it| bits::insert(&mut all, it));
        all
    }
}

/// Adds a step, unless that is too many.
fn add(steps: &mut Vec<(u32, u32)>, step: (u32, u32)) -> ControlFlow<()> {
    if steps.len() == STEPS_MAX {
        return ControlFlow::Break(());
    }
    steps.push(step);
    ControlFlow::Continue(())
}

/// What an instance surely does, wherever what is kept is so.
struct Surely {
    /// Where it may not be possible, or fail.
    not: Vec<u64>,
    /// From, to: all that may come of it.
    steps: Vec<(u32, u32)>,
}

impl Surely {
    /// Where it is surely possible, and leads to a rank whatever else holds.
    fn led_to(&self, rank: &[u16]) -> Vec<u64> {
        let (mut may, mut not) = (vec![0; self.not.len()], self.not.clone());
        for &(from, to) in &self.steps {
            let set = if rank[to as usize] != 0 { &mut may } else { &mut not };
            bits::insert(set, from as usize);
        }
        minus(&may, &not)
    }
}

/// Puts all combinations of states of a kind into a set.
fn mark(kept: &Kept, when: &[(CellId, When)], set: &mut [u64]) {
    let codes = kept.codes(when);
    kept.each(&codes, &mut |it| bits::insert(set, it as usize));
}

fn minus(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut left = one.to_vec();
    bits::remove(&mut left, other);
    left
}

/// Where combinations lead.
struct Ways {
    /// By combination, where its own begin in the others; and where the last end.
    first: Vec<u32>,
    to: Vec<u32>,
}

impl Ways {
    fn of(combinations: usize, steps: impl Iterator<Item = (u32, u32)> + Clone) -> Ways {
        let mut first = vec![0u32; combinations + 1];
        steps.clone().for_each(|(from, _)| first[from as usize + 1] += 1);
        for at in 0..combinations {
            first[at + 1] += first[at];
        }
        let mut free = first.clone();
        let mut ways = vec![0; first[combinations] as usize];
        for (from, to) in steps {
            let next = &mut free[from as usize];
            ways[*next as usize] = to;
            *next += 1;
        }
        Ways { first, to: ways }
    }

    fn from(&self, combination: u32) -> &[u32] {
        let at = combination as usize;
        &self.to[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// A set with all that steps lead to from it.
fn closure(mut set: Vec<u64>, ways: &Ways) -> Vec<u64> {
    let mut open: Vec<u32> = bits::members(&set).map(|it| it as u32).collect();
    while let Some(from) = open.pop() {
        for &to in ways.from(from) {
            if !bits::has(&set, to as usize) {
                bits::insert(&mut set, to as usize);
                open.push(to);
            }
        }
    }
    set
}
