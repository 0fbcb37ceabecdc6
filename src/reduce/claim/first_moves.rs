//! What a claim does in a state, before and beside the steps of the system.

use super::{ClaimPosition, ClaimProduct, FiniteRunPolicy};
use crate::exec::interp::{ClaimPath, ClaimPaths};
use crate::ir::{Entity as _, LocationId};
use crate::model::RuntimeFault;
use std::collections::BTreeSet;

/// How a claim goes on while the system stands still: where it comes by one move from a location,
/// it comes by more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StutterParity {
    /// By two, four or any even number.
    Even,
    /// Not everywhere by an even number, but then by an odd one.
    Odd,
    /// Not everywhere.
    No,
}

/// What can follow a state, before it is known which steps the system takes.
pub(super) struct FirstClaimMoves {
    /// The ways of the claim that the system's steps follow.
    pub(super) ways: Vec<ClaimPath>,
    /// What is found while the claim goes on.
    pub(super) ends: Vec<Vec<u32>>,
    pub(super) faults: Vec<(Vec<u32>, RuntimeFault)>,
}

impl ClaimProduct<'_> {
    fn ways(&self, system: &[u8], at: LocationId, timeout: bool) -> ClaimPaths {
        self.never.interp.claim_paths(self.never.moves(), at, system, timeout)
    }

    /// Makes `to` where the claim comes to by the ways that the system's steps follow, if that is all that there is to tell of its
    /// first move; else it is false.
    pub(super) fn successor_positions(
        &self,
        system: &[u8],
        at: ClaimPosition,
        to: &mut Vec<ClaimPosition>,
    ) -> bool {
        to.clear();
        let mut visit = |location| to.push(ClaimPosition { location, stutters: false });
        self.never.is_plain[at.location.index()]
            && self.never.interp.claim_moves(self.never.moves(), at.location, system, &mut visit)
    }

    /// Whether `timeout` holds once the claim has been found able to move.
    fn is_timeout(&self, system: &[u8]) -> bool {
        self.never.knows_timeout && !self.never.interp.can_move_at_once(system)
    }

    /// The first move of the claim from a state.
    pub(super) fn opening(&self, system: &[u8], at: ClaimPosition) -> FirstClaimMoves {
        let mut ways = self.ways(system, at.location, false);
        // It is asked again where it can do nothing without `timeout`, as well as where the system can.
        if (ways.all.is_empty() && self.never.knows_timeout) || self.is_timeout(system) {
            ways = self.ways(system, at.location, true);
        }
        let ClaimPaths { mut all, mut ends, faults } = ways;
        if !at.stutters {
            let at_end = all.iter().filter(|way| self.never.claim.is_end(way.to));
            ends.extend(at_end.map(|way| way.moves.clone()));
        }
        if self.never.ended.is_some() {
            // What the system does then is of no interest.
            all.retain(|way| !self.never.claim.is_end(way.to));
        }
        FirstClaimMoves { ways: all, ends, faults }
    }

    /// Where whole runs are looked at, a run that brings the claim to its end is violated, whatever follows: it is taken
    /// to stay there. This is where it comes to by each of the ways there.
    pub(super) fn ended<'o>(
        &'o self,
        opening: &'o FirstClaimMoves,
    ) -> impl Iterator<Item = (&'o [u32], ClaimPosition)> {
        let ends = opening.ends.iter().filter(|_| self.never.ended.is_some());
        ends.filter_map(|moves| {
            let location = self.never.claim.moves[*moves.last()? as usize].to;
            Some((&moves[..], ClaimPosition { location, stutters: false }))
        })
    }

    /// Whether the claim stays where it is because it is at its end, and whole runs are looked at.
    pub(super) fn has_ended(&self, at: ClaimPosition) -> bool {
        self.never.ended.is_some() && self.never.claim.is_end(at.location)
    }

    /// Where a claim comes to while the system stands still, and what is found on the way, for each
    /// of its first ways.
    pub(super) fn stutter(
        &self,
        system: &[u8],
        at: ClaimPosition,
        opening: &mut FirstClaimMoves,
    ) -> Vec<(ClaimPath, ClaimPosition)> {
        match self.never.ended {
            Some(FiniteRunPolicy::Ignored) => return Vec::new(),
            Some(FiniteRunPolicy::Stutter) => {
                let arrive = |way: &ClaimPath| {
                    (way.clone(), ClaimPosition { location: way.to, stutters: false })
                };
                return opening.ways.iter().map(arrive).collect();
            }
            None => {}
        }
        if at.stutters || self.round(system, at.location) == StutterParity::Odd {
            let arrive = |way: &ClaimPath| (way.clone(), self.stuttering_position(system, way.to));
            return opening.ways.iter().map(arrive).collect();
        }
        let timeout = self.is_timeout(system);
        let mut arrivals = Vec::new();
        for first in &opening.ways {
            let ClaimPaths { all, ends, faults } = self.ways(system, first.to, timeout);
            let after = |moves: Vec<u32>| [first.moves.clone(), moves].concat();
            for ClaimPath { moves, to } in all {
                arrivals.push((
                    ClaimPath { moves: after(moves), to },
                    self.stuttering_position(system, to),
                ));
            }
            opening.ends.extend(ends.into_iter().map(after));
            opening.faults.extend(faults.into_iter().map(|(moves, fault)| (after(moves), fault)));
        }
        arrivals
    }

    /// A location come to while the system stands still.
    fn stuttering_position(&self, system: &[u8], location: LocationId) -> ClaimPosition {
        ClaimPosition { location, stutters: self.round(system, location) == StutterParity::No }
    }

    /// Whether the claim, while the system stands still, comes by two or more moves from a location
    /// wherever it comes by one.
    fn round(&self, system: &[u8], location: LocationId) -> StutterParity {
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
            once if once.iter().all(|at| even.contains(at)) => StutterParity::Even,
            once if once.iter().all(|at| even.contains(at) || odd.contains(at)) => {
                StutterParity::Odd
            }
            _ => StutterParity::No,
        }
    }
}
