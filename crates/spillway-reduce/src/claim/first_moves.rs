//! The moves of a claim in a state, before the system moves or while it stutters.

use super::{ClaimPosition, ClaimProduct, FiniteRunPolicy};
use spillway_exec::interp::{ClaimPath, ClaimPaths};
use spillway_ir::{Entity as _, LocationId};
use spillway_model::RuntimeFault;
use std::collections::BTreeSet;

/// Whether the claim, while the system stutters, reaches by more moves each location that it reaches by one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StutterParity {
    /// By an even number of moves for each location.
    Even,
    /// By an even or odd number for each location, but not always by an even one.
    Odd,
    /// Not for each location.
    No,
}

/// The moves of the claim in a state, before the transitions of the system.
pub(super) struct FirstClaimMoves {
    /// The paths of the claim that transitions of the system follow.
    pub(super) ways: Vec<ClaimPath>,
    /// The paths to the end of the claim, which are violations.
    pub(super) ends: Vec<Vec<u32>>,
    pub(super) faults: Vec<(Vec<u32>, RuntimeFault)>,
}

impl ClaimProduct<'_> {
    fn ways(&self, system: &[u8], at: LocationId, timeout: bool) -> ClaimPaths {
        self.never.interp.claim_paths(self.never.moves(), at, system, timeout)
    }

    /// Writes to `to` the claim positions that transitions of the system start from, if the first move has no other
    /// effect. Returns `false` otherwise.
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

    /// Whether `timeout` holds, given that the claim can move.
    fn is_timeout(&self, system: &[u8]) -> bool {
        self.never.knows_timeout && !self.never.interp.can_move_at_once(system)
    }

    /// Computes the first moves of the claim in a state.
    pub(super) fn opening(&self, system: &[u8], at: ClaimPosition) -> FirstClaimMoves {
        let mut ways = self.ways(system, at.location, false);
        // `timeout` holds if the claim has no move without it, or if the system cannot move.
        if (ways.all.is_empty() && self.never.knows_timeout) || self.is_timeout(system) {
            ways = self.ways(system, at.location, true);
        }
        let ClaimPaths { mut all, mut ends, faults } = ways;
        if !at.stutters {
            let at_end = all.iter().filter(|way| self.never.claim.is_end(way.to));
            ends.extend(at_end.map(|way| way.moves.clone()));
        }
        if self.never.ended.is_some() {
            // The transitions of the system after the end of the claim are irrelevant.
            all.retain(|way| !self.never.claim.is_end(way.to));
        }
        FirstClaimMoves { ways: all, ends, faults }
    }

    /// Returns the end positions of the claim, with the paths to them. If infinite runs are checked, a run in which
    /// the claim ends is violated, whatever follows: the claim stays at its end.
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

    /// Whether the claim stays at its end, if infinite runs are checked.
    pub(super) fn has_ended(&self, at: ClaimPosition) -> bool {
        self.never.ended.is_some() && self.never.claim.is_end(at.location)
    }

    /// Returns the positions of the claim after the system stutters, for each of its first paths. Adds the violations
    /// on the way to `opening`.
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

    /// Returns the position at a location that the claim reaches while the system stutters.
    fn stuttering_position(&self, system: &[u8], location: LocationId) -> ClaimPosition {
        ClaimPosition { location, stutters: self.round(system, location) == StutterParity::No }
    }

    /// Computes whether the claim, while the system stutters, reaches by two or more moves each location that it
    /// reaches by one.
    fn round(&self, system: &[u8], location: LocationId) -> StutterParity {
        let timeout = self.is_timeout(system);
        let targets = |at: LocationId| -> Vec<LocationId> {
            self.ways(system, at, timeout).all.iter().map(|way| way.to).collect()
        };
        let once = targets(location);
        // The locations after an even number of moves, and after an odd number of at least three.
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
