//! Claims: automata that observe a program and accept its violating runs (Promela `never`).
//!
//! A claim and the program take turns, the claim first. In every state the claim takes one of its moves; if it
//! cannot, the run does not matter. Then the program takes a step. If the program cannot, it stutters and the claim
//! continues alone. A claim that reaches its end has observed a violating run. A claim changes nothing but its own
//! location. The location is no part of the program's states: a search with a claim stores it with them.

use super::{Action, ActionControl, Arena, ExprKind, Location, LocationId, Urgency};
use spillway_base::source::Span;
use std::collections::BTreeSet;

/// An automaton of guarded moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The locations. `valid_end` marks the ends.
    pub locations: Arena<LocationId, Location>,
    /// The initial location.
    pub start: LocationId,
    /// The moves. Moves from one location are in the order of evaluation.
    pub moves: Vec<ClaimMove>,
}

/// A move of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimMove {
    /// The location before the move.
    pub from: LocationId,
    /// The location after the move.
    pub to: LocationId,
    /// The guard and the assertions of the move. It has no edge, no parameters and no message.
    pub action: Action,
}

impl ClaimMove {
    /// Returns whether the move is possible in every state.
    fn is_free(&self) -> bool {
        match &self.action.guard {
            None => !self.action.control.otherwise && self.action.body.is_empty(),
            Some(guard) => matches!(guard.kind, ExprKind::Constant(value) if value != 0),
        }
    }
}

impl Claim {
    /// Returns whether a location is an end.
    pub fn is_end(&self, at: LocationId) -> bool {
        self.locations[at].valid_end
    }

    /// Returns whether the claim accepts every run that reaches a location: the location is accepting, and the claim
    /// can always stay there.
    pub fn accepts_all(&self, at: LocationId) -> bool {
        self.locations[at].accepting && self.may_stay(at)
    }

    /// Returns whether the claim can follow every run, so that its product reaches all states of the system.
    pub fn follows_all(&self) -> bool {
        let (mut open, mut known) = (vec![self.start], BTreeSet::from([self.start]));
        while let Some(at) = open.pop() {
            if self.may_stay(at) {
                return true;
            }
            let free = self.moves.iter().filter(|it| it.from == at && it.is_free());
            open.extend(free.map(|it| it.to).filter(|&to| known.insert(to)));
        }
        false
    }

    /// Returns whether the claim can always stay at a location.
    fn may_stay(&self, at: LocationId) -> bool {
        let mut stays = self.moves.iter().filter(|it| it.from == at && it.to == at);
        self.locations[at].urgency == Urgency::Free && stays.any(ClaimMove::is_free)
    }

    /// Makes the ends accepting, with a loop that is always possible. So the claim becomes an automaton on infinite
    /// runs, and a run that reaches an end violates it, whatever follows. The other moves keep their numbers.
    pub fn stay_at_ends(&mut self) {
        let ends: Vec<LocationId> =
            self.locations.iter().filter(|(_, it)| it.valid_end).map(|(at, _)| at).collect();
        for at in ends {
            self.locations[at].accepting = true;
            let action = Action {
                name: "the claim is at its end".to_owned(),
                edge: None,
                parameters: Vec::new(),
                guard: None,
                communication: None,
                body: Vec::new(),
                priority: 0,
                control: ActionControl::default(),
                span: Span::default(),
            };
            self.moves.push(ClaimMove { from: at, to: at, action });
        }
    }

    /// Returns whether any move reads whether the program cannot move.
    pub fn reads_timeout(&self) -> bool {
        self.moves.iter().any(|it| it.action.reads_timeout())
    }
}
