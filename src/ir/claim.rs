//! Claims: automata that watch a program move and say which of its runs there must not be.
//!
//! A claim and the program take turns, the claim first: in every state it takes one of its moves, or
//! nothing more of this run is of interest; then the program takes a step. Where the program cannot,
//! it stands still and the claim goes on alone. A claim that comes to an end has seen a run that
//! there must not be (Promela `never`). It changes nothing but its own location, which is no part
//! of the program's states: whoever searches with a claim keeps it beside them.

use super::{Action, Arena, Control, ExprKind, Location, LocationId, Urgency};
use crate::source::Span;

/// An automaton of guarded moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where it can be. It is at its end where `valid_end` says so.
    pub locations: Arena<LocationId, Location>,
    /// Where it begins.
    pub start: LocationId,
    /// Its moves; those from one location in the order in which they are tried.
    pub moves: Vec<ClaimMove>,
}

/// A move of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimMove {
    /// Where it must be.
    pub from: LocationId,
    /// Where it goes.
    pub to: LocationId,
    /// When it can be taken, and what is asserted then; it has no edge, no parameters and no message.
    pub action: Action,
}

impl Claim {
    /// Whether a location is the end of it.
    pub fn is_end(&self, at: LocationId) -> bool {
        self.locations[at].valid_end
    }

    /// Whether it accepts every run that brings it to a location: it may stay there whatever it reads, and accepts.
    pub fn accepts_all(&self, at: LocationId) -> bool {
        let is_free = |it: &ClaimMove| match &it.action.guard {
            None => !it.action.control.otherwise && it.action.body.is_empty(),
            Some(guard) => matches!(guard.kind, ExprKind::Constant(value) if value != 0),
        };
        let Location { accepting, urgency, .. } = &self.locations[at];
        let mut stays = self.moves.iter().filter(|it| it.from == at && it.to == at);
        *accepting && *urgency == Urgency::Free && stays.any(is_free)
    }

    /// Lets it stay at its end for ever, which is accepting: so it is an automaton about whole runs, and what brings it
    /// there violates it, whatever follows. Its other moves keep their numbers.
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
                control: Control::default(),
                span: Span::default(),
            };
            self.moves.push(ClaimMove { from: at, to: at, action });
        }
    }

    /// Whether any move asks whether the program can do nothing else.
    pub fn asks_for_timeout(&self) -> bool {
        self.moves.iter().any(|it| it.action.asks_for_timeout())
    }
}
