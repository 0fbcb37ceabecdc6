//! What passes that rewrite programs have in common.

use super::PreservedProperties;
use crate::ir::{Action, ActionId, Layout, Program};

/// What a pass did to a program.
pub trait RewritePass: std::fmt::Debug {
    /// What the reduction is called.
    fn name(&self) -> &'static str;

    /// What it did, in words.
    fn describe_effect(&self, program: &Program) -> String;

    /// What holds in what is left if and only if it holds in the program before.
    fn preserves(&self) -> PreservedProperties {
        PreservedProperties::ALL
    }

    /// Whether every action of the program before that can be taken is taken, but for those that it [leaves out](RewritePass::loses_action_count).
    /// Not so where values are one, or reset: of actions that do the same another may then be taken.
    fn keeps_all_actions(&self) -> bool {
        false
    }

    /// Whether it cannot be told of an action of the program before how often it is taken: it was removed, or it is one with
    /// others.
    fn loses_action_count(&self, _: ActionId, _: &Action) -> bool {
        false
    }

    /// Replaces a state of the program before the pass by the one that stands for it.
    fn represent(&self, layout: &Layout, state: &mut [u8]);
}
