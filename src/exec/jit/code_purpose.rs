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
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{Action, Communication, Program, Stmt, StmtKind};

/// What code is for.
#[derive(Clone, Copy)]
pub(super) enum CodePurpose<'a> {
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

impl<'a> CodePurpose<'a> {
    /// The instances that it is about.
    pub fn instances(self) -> Option<&'a ActionInstances> {
        match self {
            CodePurpose::Enabled(all) | CodePurpose::Choose(all) | CodePurpose::Label(all) => {
                Some(all)
            }
            CodePurpose::Expand | CodePurpose::Number | CodePurpose::Judge => None,
        }
    }

    /// How well the compiler is asked to do. Code that chooses is often compiled only to find out that choosing does not
    /// pay; compiled worse it is nearly as fast, and made in two thirds of the time.
    pub fn optimization(self) -> &'static str {
        match self {
            CodePurpose::Expand | CodePurpose::Number => "speed",
            _ => "none",
        }
    }

    /// Whether successors have a number behind them.
    pub fn is_labelled(self) -> bool {
        matches!(self, CodePurpose::Number | CodePurpose::Label(_))
    }

    /// Whether only some steps are taken.
    pub fn selects(self) -> bool {
        matches!(self, CodePurpose::Choose(_) | CodePurpose::Label(_))
    }

    /// Whether any steps are taken.
    pub fn takes_steps(self) -> bool {
        !matches!(self, CodePurpose::Enabled(_) | CodePurpose::Judge)
    }

    /// Whether it is looked at what is enabled.
    pub fn marks_enabled(self) -> bool {
        matches!(self, CodePurpose::Enabled(_))
    }
}

/// Whether an action may do nothing at all although its guard holds.
pub(super) fn may_be_discarded(action: &Action) -> bool {
    struct AssumeFinder {
        found: bool,
    }
    impl CodeVisitor for AssumeFinder {
        fn stmt(&mut self, stmt: &Stmt) {
            self.found |= matches!(stmt.kind, StmtKind::Assume(_));
            walk::stmt(self, stmt);
        }
    }
    let mut look = AssumeFinder { found: false };
    walk::action(&mut look, action);
    look.found
}

/// Whether an action may send by rendezvous.
pub(super) fn may_rendezvous(program: &Program, action: &Action) -> bool {
    match &action.communication {
        Some(Communication::Send { channel, .. }) => channel.may_be_rendezvous(program),
        _ => false,
    }
}
