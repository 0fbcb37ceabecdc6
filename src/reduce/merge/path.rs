//! The steps of the program as written that one step of the merged program stands for.

use super::Passed;
use crate::exec::{Explain as _, Interp, StepOutcome};
use crate::ir::layout::CellId;
use crate::ir::{Layout, LocationId, ProcessId, Program};
use std::collections::{BTreeSet, VecDeque};

/// Gives the state of the program before it was merged that stands for one as written.
pub(in crate::reduce) type Represented<'r> = &'r dyn Fn(&[u8]) -> Vec<u8>;

/// The states on a shortest way from one, which is left out, to one that is wanted: a step, and then those of whoever it
/// has brought to where nobody stops.
pub(super) fn path(
    passed: &Passed,
    (written, represented): (&Interp, Represented<'_>),
    from: &[u8],
    is_there: &dyn Fn(&[u8]) -> bool,
) -> Option<Vec<Vec<u8>>> {
    let places = Places::new(written.program(), written.layout());
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([(from.to_vec(), Vec::new())]);
    while let Some((state, way)) = open.pop_front() {
        let here = represented(&state);
        let outcomes = written.steps(&state).into_iter().map(|it| it.outcome);
        for outcome in outcomes {
            let StepOutcome::Successor(next) = outcome else { continue };
            let is_first = way.is_empty();
            if !is_first && !places.goes_on(passed, (from, &state, &next), &here) {
                continue;
            }
            let along = || {
                let mut way: Vec<Vec<u8>> = way.clone();
                way.push(next.clone());
                way
            };
            if is_there(&next) {
                return Some(along());
            }
            let there = represented(&next);
            let is_open = places.moved(from, &next).any(|it| places.is_in(passed, it, &there));
            if is_open && seen.insert(next.clone()) {
                let way = along();
                open.push_back((next, way));
            }
        }
    }
    None
}

/// Where everybody is in a state.
struct Places<'m> {
    layout: &'m Layout,
    /// Of each instance its process, the cell that tells where it is, and the code of the first location.
    all: Vec<(ProcessId, CellId, u32)>,
}

impl<'m> Places<'m> {
    fn new(program: &Program, layout: &'m Layout) -> Places<'m> {
        let all = program.instances().map(|it| {
            let first = u32::from(program.processes[it.process].has_slots());
            (it.process, layout.locations[it.process].in_slot(it.slot), first)
        });
        Places { layout, all: all.collect() }
    }

    /// Who is elsewhere in another state, by number.
    fn moved(&self, from: &[u8], to: &[u8]) -> impl Iterator<Item = usize> {
        let is_same = move |cell| self.layout.code(from, cell) == self.layout.code(to, cell);
        let all = self.all.iter().enumerate();
        all.filter(move |(_, (_, cell, _))| !is_same(*cell)).map(|(number, _)| number)
    }

    /// Whether somebody is where nobody stops, in a state that stands for others.
    fn is_in(&self, passed: &Passed, number: usize, state: &[u8]) -> bool {
        let (process, cell, first) = self.all[number];
        let at = self.layout.code(state, cell).checked_sub(first);
        at.is_some_and(|at| passed.contains(&(process, LocationId(at))))
    }

    /// Whether in a step it is somebody moved since `from` who goes on from where he does not stop, and nobody else;
    /// `here` stands for the state before it.
    fn goes_on(
        &self,
        passed: &Passed,
        (from, before, after): (&[u8], &[u8], &[u8]),
        here: &[u8],
    ) -> bool {
        let mut moved = self.moved(before, after).peekable();
        moved.peek().is_some()
            && moved.all(|number| {
                let cell = self.all[number].1;
                let [first, code] = [from, before].map(|it| self.layout.code(it, cell));
                first != code && self.is_in(passed, number, here)
            })
    }
}
