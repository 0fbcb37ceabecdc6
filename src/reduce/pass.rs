//! What passes that rewrite programs have in common.

use super::Preserved;
use crate::ir::{Action, ActionId, Layout, Program};

/// What a pass did to a program.
pub trait Pass: std::fmt::Debug {
    /// What the reduction is called.
    fn name(&self) -> &'static str;

    /// What it did, in words.
    fn did(&self, program: &Program) -> String;

    /// What holds in what is left if and only if it holds in the program before.
    fn preserves(&self) -> Preserved {
        Preserved::ALL
    }

    /// Whether every action of the program before that can be taken is taken, but for those that it [leaves out](Pass::leaves_out).
    /// Not so where values are one, or reset: of actions that do the same another may then be taken.
    fn takes_all(&self) -> bool {
        false
    }

    /// Whether it cannot be told of an action of the program before how often it is taken: it was removed, or it is one with
    /// others.
    fn leaves_out(&self, _: ActionId, _: &Action) -> bool {
        false
    }

    /// Replaces a state of the program before the pass by the one that stands for it.
    fn represent(&self, layout: &Layout, state: &mut [u8]);
}
