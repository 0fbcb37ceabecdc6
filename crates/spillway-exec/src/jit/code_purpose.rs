//! The purposes of compiled code: all steps, or facts about action instances.
//!
//! Code for other purposes than all steps is compiled at the first request and kept separately. It has the same form,
//! plus one test or mark for each action, at the point where the instance is known to be enabled.
//!
//! - *Enabled* marks enabled instances and takes no steps: neither bodies nor successors are emitted.
//! - *Choose* takes the steps of chosen instances. Guards are evaluated first if others depend on them (`else`, tiers,
//!   `timeout`, a rendezvous). Otherwise the test of the choice comes before the guard.
//! - *Label* does the same and writes the instance's number after each successor. Within a step of several actions it
//!   is the number of the first, which the runtime keeps.
//! - *Judge* evaluates only the properties.

use spillway_analysis::instances::ActionInstances;
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{Action, Communication, Program, Stmt, StmtKind};

/// The purpose of compiled code.
#[derive(Clone, Copy)]
pub(super) enum CodePurpose<'a> {
    /// All steps, deadlocks and properties.
    Expand,
    /// All steps, with the action number after each successor.
    Number,
    /// Enabled instances.
    Enabled(&'a ActionInstances),
    /// The steps of chosen instances.
    Choose(&'a ActionInstances),
    /// The same, with the instance number after each successor.
    Label(&'a ActionInstances),
    /// The properties.
    Judge,
}

impl<'a> CodePurpose<'a> {
    /// Returns the action instances of the purpose.
    pub fn instances(self) -> Option<&'a ActionInstances> {
        match self {
            CodePurpose::Enabled(all) | CodePurpose::Choose(all) | CodePurpose::Label(all) => {
                Some(all)
            }
            CodePurpose::Expand | CodePurpose::Number | CodePurpose::Judge => None,
        }
    }

    /// Returns the Cranelift optimization level. Code that chooses is often compiled only to find that choosing is not
    /// worthwhile. With less optimization it is nearly as fast, and compiling takes two thirds of the time.
    pub fn optimization(self) -> &'static str {
        match self {
            CodePurpose::Expand | CodePurpose::Number => "speed",
            _ => "none",
        }
    }

    /// Returns whether a number follows each successor.
    pub fn is_labelled(self) -> bool {
        matches!(self, CodePurpose::Number | CodePurpose::Label(_))
    }

    /// Returns whether only chosen steps are taken.
    pub fn selects(self) -> bool {
        matches!(self, CodePurpose::Choose(_) | CodePurpose::Label(_))
    }

    /// Returns whether any steps are taken.
    pub fn takes_steps(self) -> bool {
        !matches!(self, CodePurpose::Enabled(_) | CodePurpose::Judge)
    }

    /// Returns whether the code marks enabled instances.
    pub fn marks_enabled(self) -> bool {
        matches!(self, CodePurpose::Enabled(_))
    }
}

/// Returns whether an action may be dropped although its guard holds.
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

/// Returns whether an action may send by rendezvous.
pub(super) fn may_rendezvous(program: &Program, action: &Action) -> bool {
    match &action.communication {
        Some(Communication::Send { channel, .. }) => channel.may_be_rendezvous(program),
        _ => false,
    }
}
