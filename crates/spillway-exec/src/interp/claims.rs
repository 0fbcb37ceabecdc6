//! The moves of a never claim in a state.
//!
//! A claim moves like a process, but alone. It makes one move, or several if they form an atomic sequence. If such a
//! sequence blocks inside, it gives no path at all, as in SPIN.

use super::failure::fault;
use super::frames::LocalEnv;
use super::{EvalFailure, Interp};
use spillway_ir::{Claim, Entity as _, LocationId, StmtKind, TurnRule};
use spillway_model::{FaultKind, RuntimeFault};

/// The maximum length of an atomic sequence of moves.
const MOVES_MAX: usize = 1000;

/// One path of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPath {
    /// The moves, by number.
    pub moves: Vec<u32>,
    /// The location it leads to.
    pub to: LocationId,
}

/// A claim, and the moves from each of its locations.
#[derive(Clone, Copy)]
pub struct ClaimMoves<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The numbers of the moves from each location.
    pub from: &'a [Vec<u32>],
}

/// All paths of a claim from a location in a state.
#[derive(Debug, Default)]
pub struct ClaimPaths {
    /// Every path to a location where the claim rests.
    pub all: Vec<ClaimPath>,
    /// The moves to the end of the claim, for paths that do not rest there.
    pub ends: Vec<Vec<u32>>,
    /// The moves to a run-time error, the faulty one last.
    pub faults: Vec<(Vec<u32>, RuntimeFault)>,
}

impl Interp {
    /// Returns all paths of a claim from a location.
    pub fn claim_paths(
        &self,
        moves: ClaimMoves,
        at: LocationId,
        state: &[u8],
        timeout: bool,
    ) -> ClaimPaths {
        let mut locals = LocalEnv::default();
        locals.timeout = timeout;
        let claim = moves.claim;
        claim_paths_under(moves, at, &ClaimStateConditions { interp: self, claim, state, locals })
    }

    /// Visits the targets of single moves from a location whose moves contain no assertion and no `timeout`. Returns
    /// false if a guard fails.
    pub fn claim_moves(
        &self,
        ClaimMoves { claim, from }: ClaimMoves,
        at: LocationId,
        state: &[u8],
        visit: &mut dyn FnMut(LocationId),
    ) -> bool {
        let conditions =
            ClaimStateConditions { interp: self, claim, state, locals: LocalEnv::default() };
        let mut works = true;
        let mut visit = |number: u32, taken: Result<(), EvalFailure>| match taken {
            Ok(()) => visit(claim.moves[number as usize].to),
            Err(_) => works = false,
        };
        each_taken(claim, &from[at.index()], &conditions, &mut visit);
        works
    }
}

/// The values of the conditions of a claim's moves.
pub trait ClaimConditions {
    /// Returns whether the guard of a move holds.
    fn can_take(&self, number: u32) -> Result<bool, EvalFailure>;

    /// Returns the failures of the assertions of a move.
    fn failures(&self, number: u32) -> Vec<EvalFailure>;
}

/// Returns all paths of a claim from a location under these condition values.
pub fn claim_paths_under(
    ClaimMoves { claim, from }: ClaimMoves,
    at: LocationId,
    conditions: &dyn ClaimConditions,
) -> ClaimPaths {
    let mut ways = ClaimPaths::default();
    ClaimWalk { claim, from, conditions }.extend_paths(at, &mut Vec::new(), &mut ways);
    ways
}

/// The conditions of a claim, evaluated in a state.
struct ClaimStateConditions<'a> {
    interp: &'a Interp,
    claim: &'a Claim,
    state: &'a [u8],
    locals: LocalEnv<'a>,
}

impl ClaimConditions for ClaimStateConditions<'_> {
    fn can_take(&self, number: u32) -> Result<bool, EvalFailure> {
        let guard = self.claim.moves[number as usize].action.guard.as_ref();
        self.interp.holds(guard, self.state, &self.locals)
    }

    fn failures(&self, number: u32) -> Vec<EvalFailure> {
        let mut failures = Vec::new();
        for stmt in &self.claim.moves[number as usize].action.body {
            let StmtKind::Assert { condition, message, asserted } = &stmt.kind else { continue };
            match self.interp.eval(condition, self.state, &self.locals) {
                Ok(0) => {
                    let (interp, state, locals) = (self.interp, self.state, &self.locals);
                    let failed = fault((*asserted).into(), stmt.span, message);
                    failures.push(interp.assertion_failure(failed, condition, state, locals));
                }
                Ok(_) => {}
                Err(failure) => failures.push(failure),
            }
        }
        failures
    }
}

/// Visits the moves from a location that can be taken or whose guard fails.
fn each_taken<C: ClaimConditions + ?Sized>(
    claim: &Claim,
    moves: &[u32],
    conditions: &C,
    visit: &mut dyn FnMut(u32, Result<(), EvalFailure>),
) {
    let (mut any, mut tier) = (false, 0);
    for &number in moves {
        let control = claim.moves[number as usize].action.control;
        if (tier != 0 && tier != control.tier) || (control.otherwise && any) {
            continue;
        }
        let came = match conditions.can_take(number) {
            Ok(false) => continue,
            Ok(true) => Ok(()),
            Err(failure) => Err(failure),
        };
        (any, tier) = (true, control.tier);
        visit(number, came);
    }
}

struct ClaimWalk<'a> {
    claim: &'a Claim,
    from: &'a [Vec<u32>],
    conditions: &'a dyn ClaimConditions,
}

impl ClaimWalk<'_> {
    /// Adds every path that continues from a location, which the moves in `taken` reach.
    fn extend_paths(&self, at: LocationId, taken: &mut Vec<u32>, ways: &mut ClaimPaths) {
        let mut visit = |number: u32, came: Result<(), EvalFailure>| {
            taken.push(number);
            match came {
                Ok(()) => self.take(number, taken, ways),
                Err(failure) => ways.faults.push((taken.clone(), *failure)),
            }
            taken.pop();
        };
        each_taken(self.claim, &self.from[at.index()], self.conditions, &mut visit);
    }

    /// Takes a move, the last in `taken`. A failed assertion does not stop it.
    fn take(&self, number: u32, taken: &mut Vec<u32>, ways: &mut ClaimPaths) {
        let it = &self.claim.moves[number as usize];
        for failure in self.conditions.failures(number) {
            ways.faults.push((taken.clone(), *failure));
        }
        if it.action.control.turn == TurnRule::Open {
            ways.all.push(ClaimPath { moves: taken.clone(), to: it.to });
        } else if taken.len() >= MOVES_MAX {
            let message = "this sequence of the claim does not end";
            let failure = fault(FaultKind::Limit, it.action.span, message);
            ways.faults.push((taken.clone(), *failure));
        } else {
            if self.claim.is_end(it.to) {
                ways.ends.push(taken.clone());
            }
            self.extend_paths(it.to, taken, ways);
        }
    }
}
