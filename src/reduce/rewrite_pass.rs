//! What passes that rewrite programs have in common.

use super::PreservedProperties;
use crate::exec::Interp;
use crate::ir::layout::CellId;
use crate::ir::{Action, ActionId, Layout, Program};
use crate::model::ActionCounts;
use std::any::Any;
use std::collections::BTreeSet;

/// What a pass did to a program.
pub trait RewritePass: Any + std::fmt::Debug + Send + Sync {
    /// What it did, in words.
    fn describe_effect(&self, program: &Program) -> String;

    /// What holds in what is left if and only if it holds in the program before.
    fn preserves(&self) -> PreservedProperties;

    /// Whether every action of the program before that can be taken is taken, but for those that it [leaves out](RewritePass::loses_action_count).
    /// Not so where values are one, or reset: of actions that do the same another may then be taken.
    fn keeps_all_actions(&self) -> bool;

    /// Whether it cannot be told of an action of the program before how often it is taken: it was removed, or it is one with
    /// others.
    fn loses_action_count(&self, id: ActionId, action: &Action) -> bool;

    /// Replaces a state of the program before the pass by the one that stands for it.
    fn represent(&self, layout: &Layout, state: &mut [u8]);

    /// The cells that hold other values than in the program before, with the program that is left.
    fn changed_cells(&self, program: &Program, layout: &Layout) -> BTreeSet<CellId>;

    /// How its steps are several steps of the program before, if they are.
    fn merged_steps(&self) -> Option<&dyn MergedSteps>;
}

/// A pass whose steps are several steps of the program before.
pub trait MergedSteps {
    /// The states of the program as written that one step passes through, without the state that it begins in; none if there
    /// is no such step.
    fn path(&self, step: &MergedStep<'_>) -> Option<Vec<Vec<u8>>>;

    /// How often each action of the program before was taken, from how often those of the program that is left were.
    fn expand_action_counts(&self, taken: &ActionCounts) -> ActionCounts;

    /// The steps that are left to be taken where the program that is left has a deadlock.
    fn path_to_deadlock(&self, written: &Interp, from: &[u8]) -> Vec<Vec<u8>>;

    /// Whether no step of the program that is left is more than one step of the program before.
    fn preserves_depth(&self) -> bool;

    /// Tests whether no step passes through a state: a whole search stores just such states.
    fn stable_state_test<'p>(&'p self, program: &'p Program, layout: &'p Layout) -> StateTest<'p>;
}

/// A test of states.
pub type StateTest<'p> = Box<dyn Fn(&[u8]) -> bool + 'p>;

/// A step of a program whose steps are merged.
pub struct MergedStep<'s> {
    /// Runs the program as written.
    pub written: &'s Interp,
    /// The state of the program before that stands for a state of the program as written.
    pub represented: &'s dyn Fn(&[u8]) -> Vec<u8>,
    /// The state of the program as written that it begins in.
    pub from: &'s [u8],
    /// Whether a state of the program as written is one where it may end.
    pub is_end: &'s dyn Fn(&[u8]) -> bool,
}
