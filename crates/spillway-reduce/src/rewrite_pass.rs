//! The interface of passes that rewrite programs.

use super::PreservedProperties;
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Action, ActionId, Layout, Program};
use spillway_model::ActionCounts;
use std::any::Any;
use std::collections::BTreeSet;

/// The result of a pass on a program.
pub trait RewritePass: Any + std::fmt::Debug + Send + Sync {
    /// Describes what the pass changed.
    fn describe_effect(&self, program: &Program) -> String;

    /// Returns the classes of properties that hold in the rewritten program if and only if they hold in the original.
    fn preserves(&self) -> PreservedProperties;

    /// Whether each executable action of the original program is executed, except those that it [leaves
    /// out](RewritePass::loses_action_count). This fails if values are merged or reset: another action with the same
    /// effect may then be executed.
    fn keeps_all_actions(&self) -> bool;

    /// Whether the executions of an original action cannot be counted, because it was removed or merged with others.
    fn loses_action_count(&self, id: ActionId, action: &Action) -> bool;

    /// Replaces a state of the original program by its representative.
    fn represent(&self, layout: &Layout, state: &mut [u8]);

    /// Returns the cells that may have other values than in the original program, given the rewritten one.
    fn changed_cells(&self, program: &Program, layout: &Layout) -> BTreeSet<CellId>;

    /// Returns the mapping of transitions, if one is several original transitions.
    fn merged_steps(&self) -> Option<&dyn MergedSteps>;
}

/// A pass whose transitions are several transitions of the original program.
pub trait MergedSteps {
    /// Returns the states of the program as written that a transition passes through, without the first state.
    /// Returns `None` if there is no such transition.
    fn path(&self, step: &MergedStep<'_>) -> Option<Vec<Vec<u8>>>;

    /// Converts executions of actions of the rewritten program to those of original actions.
    fn expand_action_counts(&self, taken: &ActionCounts) -> ActionCounts;

    /// Returns the remaining path of the program as written, where the rewritten program has a deadlock.
    fn path_to_deadlock(&self, written: &Interp, from: &[u8]) -> Vec<Vec<u8>>;

    /// Whether each transition of the rewritten program is a single original transition.
    fn preserves_depth(&self) -> bool;

    /// Returns a test for stable states: those that no transition passes through.
    fn stable_state_test<'p>(&'p self, program: &'p Program, layout: &'p Layout) -> StateTest<'p>;
}

/// A test of encoded states.
pub type StateTest<'p> = Box<dyn Fn(&[u8]) -> bool + 'p>;

/// A transition of a program with merged transitions.
pub struct MergedStep<'s> {
    /// The interpreter of the program as written.
    pub written: &'s Interp,
    /// Maps a state of the program as written to its representative in the original program of the pass.
    pub represented: &'s dyn Fn(&[u8]) -> Vec<u8>,
    /// The first state, in the program as written.
    pub from: &'s [u8],
    /// Whether a state of the program as written is a possible last state.
    pub is_end: &'s dyn Fn(&[u8]) -> bool,
}
