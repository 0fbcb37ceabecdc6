//! Executing a model: the waist between languages and searches.
//!
//! A [`StateSpace`] gives initial states and successors as packed keys of one fixed width. A search
//! asks it to [`expand`](StateSpace::expand) blocks of states into an [`SuccessorSink`], and needs nothing
//! else. Explaining a counterexample, simulating and testing ask whoever [`SystemDescription`]s it for the same
//! step by step, which says more and may be slower. Where a model explains itself, both give the same
//! successors in the same order. What wraps a model implements the first and hands the second on.
//! Those who want only some of the steps, or want to know which, ask an executor for what is
//! [`SelectiveStateSpace`] of it.

// Without a compiler nobody asks for what only compiled code needs.
#![cfg_attr(not(feature = "jit"), allow(dead_code, unused_imports))]

mod action_counts;
mod action_selection;
mod checks;
mod compilation;
mod counters;
mod description;
mod executor;
mod expansion;
mod fairness;
pub mod interp;
#[cfg(feature = "jit")]
pub mod jit;
mod postponing;
mod simulation;
mod sleep_sets;
pub mod stop_request;
pub mod synthetic;
mod value;

pub use action_counts::ActionCounts;
pub use action_selection::{
    LABEL_BYTES, LabelledSink, SelectiveStateSpace, labelled, split_by_ends,
};
pub use checks::{COVER, CheckSelection, EVENTUALLY, SOMETIMES, is_reachability_kind};
pub use compilation::CompilationStats;
pub use counters::{CounterLabel, Counters};
pub use description::{
    ActionInfo, CallSite, DisabledRuleInstance, OutgoingAction, ProcessLocation, PropertyInfo,
    RuntimeFault, StepActor, StepDescription, StepOutcome, SystemDescription, TakenAction,
    UnmetCondition, find_start, without_process,
};
pub use executor::{ExecutionMode, Executor};
pub use expansion::{
    ExpansionOutcome, FaultKind, Finding, Findings, OutOfSlots, SuccessorSink, TRACE, Violation,
};
pub use fairness::{
    FairExpander, FairSteps, PROCESSES_MAX, ProcessNumbering, ProcessSet, collect_fair,
    fair_records,
};
pub use interp::Interp;
#[cfg(feature = "jit")]
pub use jit::Jit;
pub use postponing::{ObligationSink, PostponingStateSpace};
pub use simulation::{
    Simulation, concrete_violating_state, concretise_single_step, is_action_hidden,
    original_action_counts, preserves_depth,
};
pub use sleep_sets::SleepSetStateSpace;
pub use value::StateValue;

use spill::Dominance;
use std::sync::Arc;

/// A transition system over packed states: what a search needs of it.
pub trait StateSpace: Send + Sync {
    /// Bytes of a state, at least 1; every state has exactly this many.
    fn width(&self) -> usize;

    /// Bits of a state that carry information.
    fn bits(&self) -> u32;

    /// Adds every initial state to `out` as a candidate. Faults of start-up code are findings. It may
    /// leave early like [`StateSpace::expand`].
    fn initial(&self, out: &mut SuccessorSink);

    /// Adds every successor of every state in `states` (whole states, one after another) to
    /// `out`, tallies transitions and deadlocks, and records what is violated in each state. A model
    /// that cannot says why by [`SuccessorSink::fail`], which ends the search with an error. It may
    /// leave early once [`stop_request::is_requested`]: then all that it gave is dropped.
    ///
    /// A state is what the model itself gave, byte for byte: as an initial state, as a successor or in a
    /// [`StepDescription`]. Here and in all other methods, other bytes may be refused by failing or answered with
    /// nothing or with nonsense, but not with a crash: a search may have been given damaged ones.
    fn expand(&self, states: &[u8], out: &mut SuccessorSink);

    /// Masks of bits of a state such that every step changes only bits of at least one of them.
    /// Finding the predecessors of a state then means looking only at states that differ from it
    /// within a mask. [`any_bits`] says nothing.
    fn write_masks(&self) -> Vec<Vec<u8>>;

    /// A digest of all that determines the state space: another digest, another model.
    fn digest(&self) -> [u8; 32];

    /// What tells states, steps and properties to people: itself, or where it wraps another model, whoever
    /// tells that one. A model that leaves states out is told by one that does not.
    fn description(&self) -> &dyn SystemDescription;

    /// How its states and steps are told in those of the model that it wraps; nothing where it explains
    /// itself, or has the states and steps of the model that does.
    fn simulation(&self) -> Option<&dyn Simulation>;

    /// Itself, if it can put off steps.
    fn as_postponing(&self) -> Option<&dyn PostponingStateSpace>;

    /// Itself, if steps of it can be asleep. Whoever wraps it takes all of them, unless it says something else.
    fn as_sleep_set(&self) -> Option<&dyn SleepSetStateSpace> {
        None
    }

    /// Which of its states need not be visited beside others: those end with numbers, and one can do whatever another with
    /// the same bytes before them and numbers that are no smaller can. A search may leave out what a state that it visits,
    /// no deeper, dominates so; one that visits all finds the same.
    fn dominance(&self) -> Option<Dominance> {
        None
    }
}

/// Whoever has a model by reference, owns one without knowing which, or owns one with others, has that
/// model.
macro_rules! forwards {
    ($($holder:ty),*) => {$(
        impl<M: StateSpace + ?Sized> StateSpace for $holder {
            fn width(&self) -> usize {
                (**self).width()
            }

            fn bits(&self) -> u32 {
                (**self).bits()
            }

            fn initial(&self, out: &mut SuccessorSink) {
                (**self).initial(out);
            }

            fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
                (**self).expand(states, out);
            }

            fn write_masks(&self) -> Vec<Vec<u8>> {
                (**self).write_masks()
            }

            fn digest(&self) -> [u8; 32] {
                (**self).digest()
            }

            fn description(&self) -> &dyn SystemDescription {
                (**self).description()
            }

            fn simulation(&self) -> Option<&dyn Simulation> {
                (**self).simulation()
            }

            fn as_postponing(&self) -> Option<&dyn PostponingStateSpace> {
                (**self).as_postponing()
            }

            fn as_sleep_set(&self) -> Option<&dyn SleepSetStateSpace> {
                (**self).as_sleep_set()
            }

            fn dominance(&self) -> Option<Dominance> {
                (**self).dominance()
            }
        }
    )*};
}

forwards!(&M, Box<M>, Arc<M>);

/// The write masks of a model of which it is not known what its steps change.
pub fn any_bits(width: usize) -> Vec<Vec<u8>> {
    vec![vec![0xff; width]]
}
