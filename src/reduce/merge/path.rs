//! The steps of the program as written that one step of the merged program stands for.

use super::TransientLocations;
use crate::ir::{Layout, ProcessInstance, Program};
use crate::model::{StepOutcome, SystemDescription as _};
use crate::reduce::rewrite_pass::MergedStep;
use std::collections::BTreeSet;

/// The states on a shortest way from one, which is left out, to one that is wanted: a step, and then those of whoever it
/// has brought to where nobody stops.
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

/// A state on the way, in which whoever took the first step may go on.
struct MergedPathState {
    state: Vec<u8>,
    movers: Vec<ProcessInstance>,
    /// The number of the one before.
    before: usize,
}

/// Those that were come to, in that order.
struct MergedPathSearch {
    all: Vec<MergedPathState>,
}

impl MergedPathSearch {
    /// The states from behind the first to one, and another.
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

/// Where everybody is in a state.
struct ProcessLocations<'m> {
    program: &'m Program,
    layout: &'m Layout,
    passed: &'m TransientLocations,
}

impl ProcessLocations<'_> {
    /// Whether somebody is where nobody stops, in a state that stands for others.
    fn is_in(&self, who: ProcessInstance, state: &[u8]) -> bool {
        let at = self.layout.location(self.program, who, state);
        at.is_some_and(|at| self.passed.contains(&(who.process, at)))
    }

    /// Whether a step from `here` is that of one of these alone, who does not stop there.
    fn continues_merged_step(
        &self,
        these: &[ProcessInstance],
        step: &[ProcessInstance],
        here: &[u8],
    ) -> bool {
        matches!(step, [one] if these.contains(one) && self.is_in(*one, here))
    }
}
