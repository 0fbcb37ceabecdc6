//! The transitions between combinations, and the combinations of the target.

use super::cases::{AbstractEffect, InstanceCases};
use super::cell_values::CellPredicate;
use super::{AbstractionAnalysis, CellAbstraction, ViolationTarget};
use spillway_analysis::bit_sets;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::layout::CellId;
use spillway_ir::{EndRule, ProgramProperty, PropertyKind};
use spillway_model::{StateSpace as _, SuccessorSink};
use std::ops::ControlFlow;

/// The most transitions between combinations. Graphs with more are not examined.
const STEPS_MAX: usize = 1 << 22;

/// Units of work for a transition.
const EACH_STEP: u64 = 2;

/// The number of transitions whose work is recorded at once.
const NOTED: u64 = 1 << 8;

/// The most initial states that are examined.
const INITIAL_MAX: u64 = 1 << 10;

/// The combinations, and the transitions between them.
pub(super) struct AbstractGraph<'g> {
    known: &'g AbstractionAnalysis<'g>,
    target: ViolationTarget,
    kept: &'g CellAbstraction,
    /// The cases of each instance, restricted to the kept cells.
    cases: Vec<InstanceCases>,
    /// The combinations in which the target may hold.
    bad: Vec<u64>,
    /// The combinations in which the target surely holds.
    surely_bad: Vec<u64>,
    /// The number of transitions, with duplicates. `None` if there are too many.
    steps: Option<usize>,
}

impl<'g> AbstractGraph<'g> {
    pub(super) fn of(
        known: &'g AbstractionAnalysis<'g>,
        target: ViolationTarget,
        kept: &'g CellAbstraction,
        cases: Vec<InstanceCases>,
    ) -> Result<AbstractGraph<'g>, BudgetExceeded> {
        let none = vec![0; bit_sets::words_of(kept.combinations())];
        let (bad, surely_bad) = (none.clone(), none);
        let mut graph = AbstractGraph { known, target, kept, cases, bad, surely_bad, steps: None };
        graph.mark()?;
        graph.steps = graph.count_steps()?;
        Ok(graph)
    }

    /// Computes the combinations in which the target may hold, and surely holds.
    fn mark(&mut self) -> Result<(), BudgetExceeded> {
        match self.target {
            ViolationTarget::Property(id) => {
                let all = self.known.judgements.iter().filter(|it| it.0 == id);
                for (_, judgements) in all {
                    let mut good = self.none();
                    for (when, holds) in &judgements.cases {
                        let set = if *holds { &mut good } else { &mut self.bad };
                        mark(self.kept, when, set, self.known.budget)?;
                    }
                    if judgements.are_exact {
                        self.surely_bad = minus(&self.bad, &good);
                    }
                }
            }
            ViolationTarget::Errors => {
                let all = self.cases.iter().zip(&self.known.may_err);
                for (cases, _) in all.filter(|(_, may_err)| **may_err) {
                    let (mut fails, mut others) = (self.none(), self.none());
                    for case in &cases.all {
                        let is_failing = case.then == AbstractEffect::Fails;
                        let set = if is_failing { &mut fails } else { &mut others };
                        mark(self.kept, &case.when, set, self.known.budget)?;
                    }
                    bit_sets::extend(&mut self.bad, &fails);
                    if cases.are_exact {
                        bit_sets::extend(&mut self.surely_bad, &minus(&fails, &others));
                    }
                }
            }
            ViolationTarget::Deadlock => {
                let mut moves = self.none();
                for cases in self.cases.iter() {
                    bit_sets::extend(&mut moves, &self.surely_possible(cases)?);
                }
                self.bad = minus(&self.all(), &moves);
                self.leave_ends();
            }
        }
        Ok(())
    }

    /// Returns the combinations in which an instance is surely enabled.
    fn surely_possible(&self, cases: &InstanceCases) -> Result<Vec<u64>, BudgetExceeded> {
        let (mut may, mut not) = (self.none(), self.none());
        self.known.budget.work(may.len() as u64)?;
        for case in cases.all.iter().filter(|_| cases.are_exact) {
            let set = if case.then == AbstractEffect::Nothing { &mut not } else { &mut may };
            mark(self.kept, &case.when, set, self.known.budget)?;
        }
        Ok(minus(&may, &not))
    }

    /// Removes the combinations in which all processes are at valid ends: they are no deadlocks.
    fn leave_ends(&mut self) {
        let program = self.known.interp.program();
        // Another property may be violated where all processes are at valid ends.
        let at_end = |it: &ProgramProperty| matches!(it.kind, PropertyKind::AtEnd(_));
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
        self.kept.each(&codes, &mut |it| bit_sets::remove_member(bad, it as usize));
    }

    /// Returns the number of transitions that change something, or `None` if there are too many.
    fn count_steps(&self) -> Result<Option<usize>, BudgetExceeded> {
        let mut count = 0;
        let all = self.each_step(&mut |_, _| {
            count += 1;
            match count > STEPS_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(all.is_continue().then_some(count))
    }

    /// Visits all transitions that change something, some more than once, until `visit` stops. They are generated on
    /// each call, since storing them would take most of the memory.
    fn each_step(
        &self,
        visit: &mut impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, BudgetExceeded> {
        let mut noting = WorkMeter::of(self.known.budget);
        for case in self.cases.iter().flat_map(|it| &it.all) {
            let AbstractEffect::Leads(next) = &case.then else { continue };
            if !self.kept.is_written(next) {
                continue;
            }
            let codes = self.kept.codes(&case.when);
            let all = self.kept.each_step(&codes, next, &mut |from, to| match from == to {
                _ if noting.step().is_break() => ControlFlow::Break(()),
                true => ControlFlow::Continue(()),
                false => visit(from, to),
            });
            noting.end()?;
            if all.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the edges in one direction.
    fn ways(
        &self,
        direction: TraversalDirection,
        steps: usize,
    ) -> Result<AbstractEdges, BudgetExceeded> {
        let combinations = self.kept.combinations();
        let bytes = (combinations + 1) * size_of::<u32>() + steps * size_of::<u16>();
        self.known.budget.hold(bytes)?;
        let along = |from: u32, to: u32| match direction {
            TraversalDirection::Ahead => (from as usize, to as u16),
            TraversalDirection::Back => (to as usize, from as u16),
        };
        let mut first = vec![0u32; combinations + 1];
        let _ = self.each_step(&mut |from, to| {
            first[along(from, to).0 + 1] += 1;
            ControlFlow::Continue(())
        })?;
        for at in 0..combinations {
            first[at + 1] += first[at];
        }
        let mut free = first.clone();
        let mut to = vec![0u16; steps];
        let _ = self.each_step(&mut |one, other| {
            let (one, other) = along(one, other);
            to[free[one] as usize] = other;
            free[one] += 1;
            ControlFlow::Continue(())
        })?;
        Ok(AbstractEdges { first, to })
    }

    /// Returns all combinations reachable from a set in one direction, including the set.
    fn closure(
        &self,
        set: Vec<u64>,
        direction: TraversalDirection,
        steps: usize,
    ) -> Result<Vec<u64>, BudgetExceeded> {
        let ways = self.ways(direction, steps)?;
        let found = ways.closure(set);
        self.known.budget.release(ways.bytes());
        Ok(found)
    }

    /// Returns the combinations from which the target may be reached.
    pub(super) fn may_reach(&self) -> Result<Vec<u64>, BudgetExceeded> {
        match self.steps {
            None => Ok(self.all()),
            Some(steps) => self.closure(self.bad.clone(), TraversalDirection::Back, steps),
        }
    }

    /// Returns the combinations that are reachable from the initial ones.
    pub(super) fn reached(&self) -> Result<Vec<u64>, BudgetExceeded> {
        match (self.steps, self.initial()) {
            (Some(steps), Some(initial)) => self.closure(initial, TraversalDirection::Ahead, steps),
            _ => Ok(self.all()),
        }
    }

    /// Returns the initial combinations, if they are easy to compute.
    fn initial(&self) -> Option<Vec<u64>> {
        let interp = self.known.interp;
        let starts = &interp.program().starts;
        if starts.iter().any(|it| !it.parameters.is_empty()) {
            return None;
        }
        let mut states = Vec::new();
        let run = |out: &mut SuccessorSink| interp.initial(out);
        let collected = SuccessorSink::collect(interp.width(), &mut states, run).ok()?;
        if collected.counters.transitions > INITIAL_MAX {
            return None;
        }
        let mut found = self.none();
        for state in states.chunks_exact(interp.width()) {
            bit_sets::insert(&mut found, self.kept.of(interp.layout(), state)?);
        }
        Some(found)
    }

    /// Whether there are too many transitions to examine.
    pub(super) fn steps_are_too_many(&self) -> bool {
        self.steps.is_none()
    }

    /// Returns the sums of all kept cells before and after a transition that decreases the sum, from a reachable
    /// combination. Returns the least such pair.
    pub(super) fn falls(&self, reached: &[u64]) -> Result<Option<(i64, i64)>, BudgetExceeded> {
        if self.steps.is_none() {
            return Ok(None);
        }
        let mut least: Option<(i64, i64)> = None;
        let _ = self.each_step(&mut |from, to| {
            if bit_sets::has(reached, from as usize) {
                let (from, to) = (self.kept.sum(from), self.kept.sum(to));
                if to < from {
                    least = Some(least.map_or((from, to), |it| it.min((from, to))));
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(least)
    }

    /// Returns, for each combination, one plus the number of transitions that surely lead to the target. In each
    /// combination some instance leads on for all values of the other cells.
    pub(super) fn surely(&self) -> Result<Vec<u16>, BudgetExceeded> {
        let mut rank = vec![0u16; self.kept.combinations()];
        bit_sets::members(&self.surely_bad).for_each(|it| rank[it] = 1);
        if self.target == ViolationTarget::Deadlock || self.surely_bad.iter().all(|it| *it == 0) {
            return Ok(rank);
        }
        let mut all = Vec::new();
        for cases in self.cases.iter().filter(|it| it.are_exact) {
            if self.are_few(cases)? {
                all.push(cases);
            }
        }
        for round in 2..u16::MAX {
            let mut led = self.none();
            for cases in &all {
                bit_sets::extend(&mut led, &self.led_to(cases, &rank)?);
            }
            let new: Vec<usize> = bit_sets::members(&led).filter(|&it| rank[it] == 0).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|it| rank[it] = round);
        }
        Ok(rank)
    }

    /// Whether an instance has few enough transitions.
    fn are_few(&self, cases: &InstanceCases) -> Result<bool, BudgetExceeded> {
        let mut count = 0;
        let all = self.each_of(cases, &mut |_, _| {
            count += 1;
            match count > STEPS_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(all.is_continue())
    }

    /// Visits all transitions of an instance, until `visit` stops.
    fn each_of(
        &self,
        cases: &InstanceCases,
        visit: &mut impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, BudgetExceeded> {
        let mut noting = WorkMeter::of(self.known.budget);
        for case in &cases.all {
            let AbstractEffect::Leads(next) = &case.then else { continue };
            let codes = self.kept.codes(&case.when);
            let all = self.kept.each_step(&codes, next, &mut |from, to| match noting.step() {
                ControlFlow::Break(()) => ControlFlow::Break(()),
                ControlFlow::Continue(()) => visit(from, to),
            });
            noting.end()?;
            if all.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the combinations in which an instance is surely enabled and surely leads to a ranked combination.
    fn led_to(&self, cases: &InstanceCases, rank: &[u16]) -> Result<Vec<u64>, BudgetExceeded> {
        let (mut may, mut not) = (self.none(), self.none());
        self.known.budget.work(may.len() as u64)?;
        for case in cases.all.iter().filter(|it| !matches!(it.then, AbstractEffect::Leads(_))) {
            mark(self.kept, &case.when, &mut not, self.known.budget)?;
        }
        let _ = self.each_of(cases, &mut |from, to| {
            let set = if rank[to as usize] != 0 { &mut may } else { &mut not };
            bit_sets::insert(set, from as usize);
            ControlFlow::Continue(())
        })?;
        Ok(minus(&may, &not))
    }

    fn none(&self) -> Vec<u64> {
        vec![0; bit_sets::words_of(self.kept.combinations())]
    }

    fn all(&self) -> Vec<u64> {
        let mut all = self.none();
        (0..self.kept.combinations()).for_each(|it| bit_sets::insert(&mut all, it));
        all
    }
}

/// The direction of a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraversalDirection {
    Ahead,
    Back,
}

/// Records the work of examining transitions, many at once.
struct WorkMeter<'n> {
    budget: &'n AnalysisBudget<'n>,
    steps: u64,
    exceeded: Option<BudgetExceeded>,
}

impl<'n> WorkMeter<'n> {
    fn of(budget: &'n AnalysisBudget<'n>) -> WorkMeter<'n> {
        WorkMeter { budget, steps: 0, exceeded: None }
    }

    /// Records a transition. Stops once the budget is exceeded.
    fn step(&mut self) -> ControlFlow<()> {
        self.steps += 1;
        if self.steps < NOTED {
            return ControlFlow::Continue(());
        }
        self.exceeded = self.note().err();
        match self.exceeded {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn note(&mut self) -> Result<(), BudgetExceeded> {
        self.budget.work(EACH_STEP * std::mem::take(&mut self.steps))
    }

    /// Records the remaining transitions.
    fn end(&mut self) -> Result<(), BudgetExceeded> {
        match self.exceeded.take() {
            Some(exceeded) => Err(exceeded),
            None => self.note(),
        }
    }
}

/// Adds all combinations of a kind of states to a set.
fn mark(
    kept: &CellAbstraction,
    when: &[(CellId, CellPredicate)],
    set: &mut [u64],
    budget: &AnalysisBudget,
) -> Result<(), BudgetExceeded> {
    let codes = kept.codes(when);
    budget.work(EACH_STEP * codes.iter().map(|it| it.len() as u64).product::<u64>())?;
    kept.each(&codes, &mut |it| bit_sets::insert(set, it as usize));
    Ok(())
}

fn minus(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut left = one.to_vec();
    bit_sets::subtract(&mut left, other);
    left
}

/// The adjacency lists of combinations.
struct AbstractEdges {
    /// For each combination, the start of its list in `to`; the last entry is the end.
    first: Vec<u32>,
    to: Vec<u16>,
}

impl AbstractEdges {
    fn bytes(&self) -> usize {
        size_of_val(self.first.as_slice()) + size_of_val(self.to.as_slice())
    }

    fn from(&self, combination: u16) -> &[u16] {
        let at = usize::from(combination);
        &self.to[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// Returns all combinations reachable from a set, including the set.
    fn closure(&self, mut set: Vec<u64>) -> Vec<u64> {
        let mut open: Vec<u16> = bit_sets::members(&set).map(|it| it as u16).collect();
        while let Some(from) = open.pop() {
            for &to in self.from(from) {
                if !bit_sets::has(&set, to.into()) {
                    bit_sets::insert(&mut set, to.into());
                    open.push(to);
                }
            }
        }
        set
    }
}
