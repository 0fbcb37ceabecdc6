//! Choices of whole processes: preferential local transitions (Holzmann, Godefroid and Pirottin 1992, Algorithm 2)
//! and Overman's method (1981; the same paper, section 5).

use super::enabling_sets::ObservedState;
use super::relation::{LocationMembers, MemberRelation, ProcessSlot};
use spillway_analysis::bit_sets;
use spillway_ir::LocationId;
use std::collections::BTreeSet;

/// The members and locations of a program's processes.
#[derive(Clone, Debug)]
pub(super) struct ProcessSetChoice {
    all: Vec<ProcessMembers>,
    /// The members in which no process takes part.
    free: Vec<u64>,
}

#[derive(Clone, Debug)]
struct ProcessMembers {
    own: Vec<u64>,
    places: Vec<LocationConflicts>,
}

/// A process at one of its locations.
#[derive(Clone, Debug)]
struct LocationConflicts {
    /// The fact that the process is not at this location.
    fact: Option<usize>,
    /// The members that start there.
    from: Vec<u64>,
    /// The members that may disturb those: they are dependent on one or may enable it.
    disturbing: Vec<u64>,
    /// The members in which the process may take part from this location on.
    future: Vec<u64>,
}

impl ProcessSetChoice {
    pub fn new(relation: &MemberRelation) -> ProcessSetChoice {
        let mut free = vec![0; relation.monitors.len()];
        (0..relation.waits.len()).for_each(|it| bit_sets::insert(&mut free, it));
        let mut all = Vec::new();
        for place in &relation.places {
            free.iter_mut().zip(&place.own).for_each(|(free, own)| *free &= !own);
            let places = place.at.iter().map(|(&at, LocationMembers { fact, from })| {
                let disturbing = disturbing(relation, from, *fact);
                let (fact, from, future) = (*fact, from.clone(), future(place, at));
                LocationConflicts { fact, from, disturbing, future }
            });
            all.push(ProcessMembers { own: place.own.clone(), places: places.collect() });
        }
        ProcessSetChoice { all, free }
    }

    /// Chooses the first process whose transitions, enabled or not, no other process can disturb, now or later.
    pub fn local(&self, seen: ObservedState, best: &mut Vec<u64>) {
        let is_local = |&at: &usize| {
            let set = self.undisturbed(at, seen, true);
            set.is_some_and(|set| bit_sets::intersects(&set, seen.enabled))
        };
        if let Some(here) =
            (0..self.all.len()).find(is_local).and_then(|at| self.all[at].current_location(seen))
        {
            best.clone_from(&here.from);
        }
    }

    /// Chooses the set with the fewest enabled transitions, of the sets of processes that no other process can
    /// disturb, now or later.
    pub fn overman(&self, seen: ObservedState, best: &mut Vec<u64>) {
        let mut least = bit_sets::count(seen.enabled);
        for first in 0..self.all.len() {
            let Some(set) = self.undisturbed(first, seen, false) else { continue };
            let both = set.iter().zip(seen.enabled).map(|(set, enabled)| set & enabled);
            let enabled: u32 = both.map(u64::count_ones).sum();
            if 0 < enabled && enabled < least {
                least = enabled;
                best.clone_from(&set);
            }
        }
    }

    /// Returns the members that start in a process and in the processes that it requires. Returns `None` if there is
    /// no such set, or if `alone` is set and it requires others.
    fn undisturbed(&self, first: usize, seen: ObservedState, alone: bool) -> Option<Vec<u64>> {
        let mut chosen = BTreeSet::from([first]);
        let mut open = vec![first];
        let mut set = vec![0; seen.enabled.len()];
        while let Some(at) = open.pop() {
            let here = self.all[at].current_location(seen)?;
            if bit_sets::intersects(&here.disturbing, &self.free) {
                return None;
            }
            bit_sets::extend(&mut set, &here.from);
            for (other, known) in self.all.iter().enumerate() {
                let may = || match known.current_location(seen) {
                    Some(there) => bit_sets::intersects(&there.future, &here.disturbing),
                    None => bit_sets::intersects(&known.own, &here.disturbing),
                };
                if !chosen.contains(&other) && may() {
                    if alone {
                        return None;
                    }
                    chosen.insert(other);
                    open.push(other);
                }
            }
        }
        Some(set)
    }
}

impl ProcessMembers {
    /// Returns the location of the process, if the facts show it and some member starts or ends there.
    fn current_location(&self, seen: ObservedState) -> Option<&LocationConflicts> {
        let is_there =
            |at: &&LocationConflicts| at.fact.is_some_and(|it| !bit_sets::has(seen.facts, it));
        self.places.iter().find(is_there)
    }
}

/// Returns the members that may disturb those in `from`. `here` is the fact that the process is not at their
/// location.
fn disturbing(relation: &MemberRelation, from: &[u64], here: Option<usize>) -> Vec<u64> {
    let mut all = vec![0; from.len()];
    for member in bit_sets::members(from) {
        bit_sets::extend(&mut all, relation.dependent.row(member));
        for wait in relation.waits[member].iter().filter(|it| it.fact.is_none() || it.fact != here)
        {
            bit_sets::extend(&mut all, relation.enabling.row(wait.enabling));
        }
    }
    all
}

/// Returns the members in which a process, and its successors in the same slot, may take part from a location on.
fn future(place: &ProcessSlot, from: LocationId) -> Vec<u64> {
    let mut reached = BTreeSet::from([Some(from)]);
    let mut open = vec![Some(from)];
    let mut all = vec![0; place.own.len()];
    while let Some(at) = open.pop() {
        let beginning = at.and_then(|at| place.at.get(&at));
        beginning.into_iter().for_each(|it| bit_sets::extend(&mut all, &it.from));
        for moved in place.moves.iter().filter(|it| it.from == at) {
            if reached.insert(moved.to) {
                open.push(moved.to);
            }
        }
    }
    all
}
