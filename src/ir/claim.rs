//! Claims: automata that watch a program move and say which of its runs there must not be.
//!
//! A claim and the program take turns, the claim first: in every state it takes one of its moves, or
//! nothing more of this run is of interest; then the program takes a step. Where the program cannot,
//! it stands still and the claim goes on alone. A claim that comes to an end has seen a run that
//! there must not be (Promela `never`). It changes nothing but its own location, which is no part
//! of the program's states: whoever searches with a claim keeps it beside them.

use super::{Action, ActionControl, Arena, ExprKind, Location, LocationId, Urgency};
use crate::source::Span;
use std::collections::BTreeSet;

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

impl ClaimMove {
    /// Whether it can be taken whatever is read.
    fn is_free(&self) -> bool {
        match &self.action.guard {
            None => !self.action.control.otherwise && self.action.body.is_empty(),
            Some(guard) => matches!(guard.kind, ExprKind::Constant(value) if value != 0),
        }
    }
}

impl Claim {
    /// Whether a location is the end of it.
    pub fn is_end(&self, at: LocationId) -> bool {
        self.locations[at].valid_end
    }

    /// Whether it accepts every run that brings it to a location: it may stay there whatever it reads, and accepts.
    pub fn accepts_all(&self, at: LocationId) -> bool {
        self.locations[at].accepting && self.may_stay(at)
    }

    /// Whether it can follow every run, whatever it reads: so in its product all states of the system are come to.
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

    /// Whether it may stay at a location whatever it reads.
    fn may_stay(&self, at: LocationId) -> bool {
        let mut stays = self.moves.iter().filter(|it| it.from == at && it.to == at);
        self.locations[at].urgency == Urgency::Free && stays.any(ClaimMove::is_free)
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
                control: ActionControl::default(),
                span: Span::default(),
            };
            self.moves.push(ClaimMove { from: at, to: at, action });
        }
    }

    /// Whether any move asks whether the program can do nothing else.
    pub fn reads_timeout(&self) -> bool {
        self.moves.iter().any(|it| it.action.reads_timeout())
    }
}
