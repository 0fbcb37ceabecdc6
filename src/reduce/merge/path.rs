//! The steps of the program as written that one step of the merged program stands for.

use super::Passed;
use crate::exec::{Explain as _, Interp, StepOutcome};
use crate::ir::{Instance, Layout, Program};
use std::collections::BTreeSet;

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
    let places = Places { program: written.program(), layout: written.layout(), passed };
    let mut met = Met { all: vec![Place { state: from.to_vec(), movers: Vec::new(), before: 0 }] };
    let (mut seen, mut at) = (BTreeSet::new(), 0);
    while at < met.all.len() {
        let here = represented(&met.all[at].state);
        for step in written.steps(&met.all[at].state) {
            let StepOutcome::Successor(next) = step.outcome else { continue };
            let movers = match at {
                0 => step.movers,
                _ if places.goes_on(&met.all[at].movers, &step.movers, &here) => {
                    met.all[at].movers.clone()
                }
                _ => continue,
            };
            if is_there(&next) {
                return Some(met.way(at, next));
            }
            let there = represented(&next);
            let is_open = movers.iter().any(|&it| places.is_in(it, &there));
            if is_open && seen.insert((next.clone(), movers.clone())) {
                met.all.push(Place { state: next, movers, before: at });
            }
        }
        at += 1;
    }
    None
}

/// A state on the way, in which whoever took the first step may go on.
struct Place {
    state: Vec<u8>,
    movers: Vec<Instance>,
    /// The number of the one before.
    before: usize,
}

/// Those that were come to, in that order.
struct Met {
    all: Vec<Place>,
}

impl Met {
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
struct Places<'m> {
    program: &'m Program,
    layout: &'m Layout,
    passed: &'m Passed,
}

impl Places<'_> {
    /// Whether somebody is where nobody stops, in a state that stands for others.
    fn is_in(&self, who: Instance, state: &[u8]) -> bool {
        let at = self.layout.location(self.program, who, state);
        at.is_some_and(|at| self.passed.contains(&(who.process, at)))
    }

    /// Whether a step from `here` is that of one of these alone, who does not stop there.
    fn goes_on(&self, these: &[Instance], step: &[Instance], here: &[u8]) -> bool {
        matches!(step, [one] if these.contains(one) && self.is_in(*one, here))
    }
}
