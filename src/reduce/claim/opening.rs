//! What a claim does in a state, before and beside the steps of the system.

use super::{At, ClaimProduct, EndedRuns};
use crate::exec::Fault;
use crate::exec::interp::{Way, Ways};
use crate::ir::{Entity as _, LocationId};
use std::collections::BTreeSet;

/// How a claim goes on while the system stands still: where it comes by one move from a location,
/// it comes by more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// By two, four or any even number.
    Even,
    /// Not everywhere by an even number, but then by an odd one.
    Odd,
    /// Not everywhere.
    No,
}

/// What can follow a state, before it is known which steps the system takes.
pub(super) struct Opening {
    /// The ways of the claim that the system's steps follow.
    pub(super) ways: Vec<Way>,
    /// What is found while the claim goes on.
    pub(super) ends: Vec<Vec<u32>>,
    pub(super) faults: Vec<(Vec<u32>, Fault)>,
}

impl ClaimProduct<'_> {
    fn ways(&self, system: &[u8], at: LocationId, timeout: bool) -> Ways {
        self.never.interp.claim_ways((self.never.claim, &self.never.from), at, system, timeout)
    }

    /// Makes `to` where the claim comes to by the ways that the system's steps follow, if that is all that there is to tell of its
    /// first move; else it is false.
    pub(super) fn arrive(&self, system: &[u8], at: At, to: &mut Vec<At>) -> bool {
        to.clear();
        let mut visit = |location| to.push(At { location, stutters: false });
        let moves = (self.never.claim, &self.never.from[..]);
        self.never.is_plain[at.location.index()]
            && self.never.interp.claim_moves(moves, at.location, system, &mut visit)
    }

    /// Whether `timeout` holds once the claim has been found able to move.
    fn is_timeout(&self, system: &[u8]) -> bool {
        self.never.knows_timeout && !self.never.interp.can_move_at_once(system)
    }

    /// The first move of the claim from a state.
    pub(super) fn opening(&self, system: &[u8], at: At) -> Opening {
        let mut ways = self.ways(system, at.location, false);
        // It is asked again where it can do nothing without `timeout`, as well as where the system can.
        if (ways.all.is_empty() && self.never.knows_timeout) || self.is_timeout(system) {
            ways = self.ways(system, at.location, true);
        }
        let Ways { mut all, mut ends, faults } = ways;
        if !at.stutters {
            let at_end = all.iter().filter(|way| self.never.claim.is_end(way.to));
            ends.extend(at_end.map(|way| way.moves.clone()));
        }
        if self.never.ended.is_some() {
            // What the system does then is of no interest.
            all.retain(|way| !self.never.claim.is_end(way.to));
        }
        Opening { ways: all, ends, faults }
    }

    /// Where whole runs are looked at, a run that brings the claim to its end is violated, whatever follows: it is taken
    /// to stay there. This is where it comes to by each of the ways there.
    pub(super) fn ended<'o>(
        &'o self,
        opening: &'o Opening,
    ) -> impl Iterator<Item = (&'o [u32], At)> {
        let ends = opening.ends.iter().filter(|_| self.never.ended.is_some());
        ends.filter_map(|moves| {
            let location = self.never.claim.moves[*moves.last()? as usize].to;
            Some((&moves[..], At { location, stutters: false }))
        })
    }

    /// Whether the claim stays where it is because it is at its end, and whole runs are looked at.
    pub(super) fn has_ended(&self, at: At) -> bool {
        self.never.ended.is_some() && self.never.claim.is_end(at.location)
    }

    /// Where a claim comes to while the system stands still, and what is found on the way, for each
    /// of its first ways.
    pub(super) fn stutter(&self, system: &[u8], at: At, opening: &mut Opening) -> Vec<(Way, At)> {
        match self.never.ended {
            Some(EndedRuns::Ignored) => return Vec::new(),
            Some(EndedRuns::Stutter) => {
                let arrive = |way: &Way| (way.clone(), At { location: way.to, stutters: false });
                return opening.ways.iter().map(arrive).collect();
            }
            None => {}
        }
        if at.stutters || self.round(system, at.location) == Round::Odd {
            let arrive = |way: &Way| (way.clone(), self.come_to(system, way.to));
            return opening.ways.iter().map(arrive).collect();
        }
        let timeout = self.is_timeout(system);
        let mut arrivals = Vec::new();
        for first in &opening.ways {
            let Ways { all, ends, faults } = self.ways(system, first.to, timeout);
            let after = |moves: Vec<u32>| [first.moves.clone(), moves].concat();
            for Way { moves, to } in all {
                arrivals.push((Way { moves: after(moves), to }, self.come_to(system, to)));
            }
            opening.ends.extend(ends.into_iter().map(after));
            opening.faults.extend(faults.into_iter().map(|(moves, fault)| (after(moves), fault)));
        }
        arrivals
    }

    /// A location come to while the system stands still.
    fn come_to(&self, system: &[u8], location: LocationId) -> At {
        At { location, stutters: self.round(system, location) == Round::No }
    }

    /// Whether the claim, while the system stands still, comes by two or more moves from a location
    /// wherever it comes by one.
    fn round(&self, system: &[u8], location: LocationId) -> Round {
        let timeout = self.is_timeout(system);
        let targets = |at: LocationId| -> Vec<LocationId> {
            self.ways(system, at, timeout).all.iter().map(|way| way.to).collect()
        };
        let once = targets(location);
        // Where it comes by an even number of moves, and where by an odd one of three or more.
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        let mut open: Vec<(LocationId, usize)> =
            once.iter().flat_map(|&at| targets(at)).map(|at| (at, 0)).collect();
        while let Some((at, odd)) = open.pop() {
            if seen[odd].insert(at) {
                open.extend(targets(at).into_iter().map(|to| (to, 1 - odd)));
            }
        }
        let [even, odd] = seen;
        match once {
            once if once.iter().all(|at| even.contains(at)) => Round::Even,
            once if once.iter().all(|at| even.contains(at) || odd.contains(at)) => Round::Odd,
            _ => Round::No,
        }
    }
}
