//! The transitions of the program as written that one transition of the merged program consists of.

use super::TransientLocations;
use crate::rewrite_pass::MergedStep;
use spillway_ir::{Layout, ProcessInstance, Program};
use spillway_model::{StepOutcome, SystemDescription as _};
use std::collections::BTreeSet;

/// Returns the states of a shortest path, without its first state, to a state that satisfies `is_end`. It consists of
/// a transition and the continuations of its movers at transient locations.
pub(super) fn path(
    passed: &TransientLocations,
    &MergedStep { written, represented, from, is_end }: &MergedStep<'_>,
) -> Option<Vec<Vec<u8>>> {
    let places = ProcessLocations { program: written.program(), layout: written.layout(), passed };
    let mut met = MergedPathSearch {
        all: vec![MergedPathState { state: from.to_vec(), movers: Vec::new(), before: 0 }],
    };
    let (mut seen, mut at) = (BTreeSet::new(), 0);
    while at < met.all.len() {
        let here = represented(&met.all[at].state);
        for step in written.steps(&met.all[at].state) {
            let StepOutcome::Successor(next) = step.outcome else { continue };
            let step_movers: Vec<ProcessInstance> =
                step.movers.iter().map(|&it| it.into()).collect();
            let movers = match at {
                0 => step_movers,
                _ if places.continues_merged_step(&met.all[at].movers, &step_movers, &here) => {
                    met.all[at].movers.clone()
                }
                _ => continue,
            };
            if is_end(&next) {
                return Some(met.way(at, next));
            }
            let there = represented(&next);
            let is_open = movers.iter().any(|&it| places.is_in(it, &there));
            if is_open && seen.insert((next.clone(), movers.clone())) {
                met.all.push(MergedPathState { state: next, movers, before: at });
            }
        }
        at += 1;
    }
    None
}

/// A state on the path, with the movers of the first transition, which may continue.
struct MergedPathState {
    state: Vec<u8>,
    movers: Vec<ProcessInstance>,
    /// The index of the previous state.
    before: usize,
}

/// The visited states, in order.
struct MergedPathSearch {
    all: Vec<MergedPathState>,
}

impl MergedPathSearch {
    /// Returns the path to a visited state, without its first state, followed by `last`.
    fn way(&self, mut at: usize, last: Vec<u8>) -> Vec<Vec<u8>> {
        let mut way = vec![last];
        while at > 0 {
            way.push(self.all[at].state.clone());
            at = self.all[at].before;
        }
        way.reverse();
        way
    }
}

/// The locations of processes in a state.
struct ProcessLocations<'m> {
    program: &'m Program,
    layout: &'m Layout,
    passed: &'m TransientLocations,
}

impl ProcessLocations<'_> {
    /// Whether a process is at a transient location, in a representative state.
    fn is_in(&self, who: ProcessInstance, state: &[u8]) -> bool {
        let at = self.layout.location(self.program, who, state);
        at.is_some_and(|at| self.passed.contains(&(who.process, at)))
    }

    /// Whether a transition from `here` is that of one of the movers alone, which is at a transient location.
    fn continues_merged_step(
        &self,
        these: &[ProcessInstance],
        step: &[ProcessInstance],
        here: &[u8],
    ) -> bool {
        matches!(step, [one] if these.contains(one) && self.is_in(*one, here))
    }
}
