//! Executing a model: the waist between languages and searches.
//!
//! A [`Model`] gives initial states and successors as packed keys of one fixed width. A search
//! asks it to [`expand`](Model::expand) blocks of states into an [`Expansion`], and needs nothing
//! else. Explaining a counterexample, simulating and testing ask whoever [`Explain`]s it for the same
//! step by step, which says more and may be slower. Where a model explains itself, both give the same
//! successors in the same order. What wraps a model implements the first and hands the second on.
//! Those who want only some of the steps, or want to know which, ask an executor for what is
//! [`Selective`] of it.

// Without a compiler nobody asks for what only compiled code needs.
#![cfg_attr(not(feature = "jit"), allow(dead_code, unused_imports))]

mod checks;
mod compiled;
mod counts;
mod executor;
mod expansion;
mod explain;
mod fair;
pub mod interp;
#[cfg(feature = "jit")]
pub mod jit;
mod lift;
mod postpone;
mod selective;
mod sleep;
pub mod stop;
pub mod synthetic;
mod value;

pub use checks::{COVER, Checks, EVENTUALLY, SOMETIMES, is_hoped_for};
pub use compiled::Compiled;
pub use counts::ActionCounts;
pub use executor::{Exec, Executor};
pub use expansion::{Collected, Expansion, FaultKind, Finding, Findings, NoSlot, TRACE, Violation};
pub use explain::{
    ActionInfo, Actor, CallSite, Disabled, Explain, Fault, Lack, PropertyInfo, Standing, Step,
    StepOutcome, TakenAction, WayOn, find_start, without_process,
};
pub use fair::{
    FairSteps, Movers, PROCESSES_MAX, ProcessSet, Processes, collect_fair, fair_records,
};
pub use interp::Interp;
#[cfg(feature = "jit")]
pub use jit::Jit;
pub use lift::{Lift, is_left_out, keeps_depth, lowest, one_step, taken_as_written};
pub use postpone::{Obligations, Postpones, Tally};
pub use selective::{LABEL_BYTES, Labelled, Selective, apart, labelled};
pub use sleep::Sleeps;
pub use value::Value;

use spill::Dominance;
use std::sync::Arc;

/// A transition system over packed states: what a search needs of it.
pub trait Model: Send + Sync {
    /// Bytes of a state, at least 1; every state has exactly this many.
    fn width(&self) -> usize;

    /// Bits of a state that carry information.
    fn bits(&self) -> u32;

    /// Adds every initial state to `out` as a candidate. Faults of start-up code are findings. It may
    /// leave early like [`Model::expand`].
    fn initial(&self, out: &mut Expansion);

    /// Adds every successor of every state in `states` (whole states, one after another) to
    /// `out`, tallies transitions and deadlocks, and records what is violated in each state. A model
    /// that cannot says why by [`Expansion::fail`], which ends the search with an error. It may
    /// leave early once [`stop::is_asked`]: then all that it gave is dropped.
    ///
    /// A state is what the model itself gave, byte for byte: as an initial state, as a successor or in a
    /// [`Step`]. Here and in all other methods, other bytes may be refused by failing or answered with
    /// nothing or with nonsense, but not with a crash: a search may have been given damaged ones.
    fn expand(&self, states: &[u8], out: &mut Expansion);

    /// Masks of bits of a state such that every step changes only bits of at least one of them.
    /// Finding the predecessors of a state then means looking only at states that differ from it
    /// within a mask. [`any_bits`] says nothing.
    fn write_masks(&self) -> Vec<Vec<u8>>;

    /// A digest of all that determines the state space: another digest, another model.
    fn digest(&self) -> [u8; 32];

    /// What tells states, steps and properties to people: itself, or where it wraps another model, whoever
    /// tells that one. A model that leaves states out is told by one that does not.
    fn explained(&self) -> &dyn Explain;

    /// How its states and steps are told in those of the model that it wraps; nothing where it explains
    /// itself, or has the states and steps of the model that does.
    fn lifts(&self) -> Option<&dyn Lift>;

    /// Itself, if it can put off steps.
    fn postpones(&self) -> Option<&dyn Postpones>;

    /// Itself, if steps of it can be asleep. Whoever wraps it takes all of them, unless it says something else.
    fn sleeps(&self) -> Option<&dyn Sleeps> {
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
        impl<M: Model + ?Sized> Model for $holder {
            fn width(&self) -> usize {
                (**self).width()
            }

            fn bits(&self) -> u32 {
                (**self).bits()
            }

            fn initial(&self, out: &mut Expansion) {
                (**self).initial(out);
            }

            fn expand(&self, states: &[u8], out: &mut Expansion) {
                (**self).expand(states, out);
            }

            fn write_masks(&self) -> Vec<Vec<u8>> {
                (**self).write_masks()
            }

            fn digest(&self) -> [u8; 32] {
                (**self).digest()
            }

            fn explained(&self) -> &dyn Explain {
                (**self).explained()
            }

            fn lifts(&self) -> Option<&dyn Lift> {
                (**self).lifts()
            }

            fn postpones(&self) -> Option<&dyn Postpones> {
                (**self).postpones()
            }

            fn sleeps(&self) -> Option<&dyn Sleeps> {
                (**self).sleeps()
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
