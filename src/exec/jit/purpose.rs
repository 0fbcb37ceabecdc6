//! What code is compiled for: all steps, or something about action instances.
//!
//! Code for anything but all steps is made when it is first asked for, beside the other, which stays
//! as it is. It has the same form: for each action, one more test or mark where what it begins with
//! is known to be possible.
//!
//! - *Enabled* marks what is enabled, and takes no step: neither bodies nor successors are emitted.
//! - *Choose* takes the steps of what is chosen. Where being possible means something to others
//!   (`else`, tiers, `timeout`, a rendezvous) guards are judged first; elsewhere what is not chosen is
//!   passed by before that.
//! - *Label* does the same and puts the instance's number behind each successor. Within a step of
//!   several actions it is that of the first, which the run-time knows.
//! - *Judge* asks for the properties alone.

use crate::analysis::instances::ActionInstances;
use crate::ir::walk::{self, Visitor};
use crate::ir::{Action, Communication, Program, Stmt, StmtKind};

/// What code is for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// All steps, deadlocks and properties.
    Expand,
    /// All steps, with the action of each behind its successor.
    Number,
    /// What is enabled.
    Enabled(&'a ActionInstances),
    /// The steps of what is chosen.
    Choose(&'a ActionInstances),
    /// The same, with the instance of each behind its successor.
    Label(&'a ActionInstances),
    /// The properties.
    Judge,
}

impl<'a> Purpose<'a> {
    /// The instances that it is about.
    pub fn instances(self) -> Option<&'a ActionInstances> {
        match self {
            Purpose::Enabled(all) | Purpose::Choose(all) | Purpose::Label(all) => Some(all),
            Purpose::Expand | Purpose::Number | Purpose::Judge => None,
        }
    }

    /// How well the compiler is asked to do. Code that chooses is often compiled only to find out that choosing does not
    /// pay; compiled worse it is nearly as fast, and made in two thirds of the time.
    pub fn optimization(self) -> &'static str {
        match self {
            Purpose::Expand | Purpose::Number => "speed",
            _ => "none",
        }
    }

    /// Whether successors have a number behind them.
    pub fn is_labelled(self) -> bool {
        matches!(self, Purpose::Number | Purpose::Label(_))
    }

    /// Whether only some steps are taken.
    pub fn selects(self) -> bool {
        matches!(self, Purpose::Choose(_) | Purpose::Label(_))
    }

    /// Whether any steps are taken.
    pub fn takes_steps(self) -> bool {
        !matches!(self, Purpose::Enabled(_) | Purpose::Judge)
    }

    /// Whether it is looked at what is enabled.
    pub fn looks(self) -> bool {
        matches!(self, Purpose::Enabled(_))
    }
}

/// Whether an action may do nothing at all although its guard holds.
pub(super) fn may_be_taken_back(action: &Action) -> bool {
    struct Assumes {
        found: bool,
    }
    impl Visitor for Assumes {
        fn stmt(&mut self, stmt: &Stmt) {
            self.found |= matches!(stmt.kind, StmtKind::Assume(_));
            walk::stmt(self, stmt);
        }
    }
    let mut look = Assumes { found: false };
    walk::action(&mut look, action);
    look.found
}

/// Whether an action may send by rendezvous.
pub(super) fn may_meet(program: &Program, action: &Action) -> bool {
    match &action.communication {
        Some(Communication::Send { channel, .. }) => channel.may_meet(program),
        _ => false,
    }
}
