//! Executing a model: the waist between languages and searches.
//!
//! A [`Model`] gives initial states and successors as packed keys of one fixed width. A search
//! asks it to [`expand`](Model::expand) blocks of states into an [`Expansion`], and needs nothing
//! else; explaining a counterexample, simulating and testing use [`steps`](Model::steps), which
//! says more and may be slower. Both give the same successors in the same order.

mod claim;
mod executor;
mod expansion;
pub mod interp;
pub mod jit;
pub mod stop;
pub mod synthetic;

pub use claim::Claimed;
pub use executor::{Exec, Executor};
pub use expansion::{Check, Collected, Expansion, FaultKind, Finding, Findings};
pub use interp::Interp;
pub use jit::Jit;

use crate::source::Span;
use std::ops::ControlFlow;

/// A transition system over packed states.
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

    /// Every step out of `state`, faulty ones included, in the order of [`Model::expand`]. Properties
    /// that meet an error when asked in `state` come last, as steps that do.
    fn steps(&self, state: &[u8]) -> Vec<Step>;

    /// Shows every step of start-up, in the order in which [`Model::initial`] gives the initial
    /// states, until `visit` breaks off.
    fn each_start(&self, visit: &mut dyn FnMut(Step) -> ControlFlow<()>);

    /// All steps of start-up at once; for models that start in few states.
    fn starts(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        self.each_start(&mut |step| {
            steps.push(step);
            ControlFlow::Continue(())
        });
        steps
    }

    /// The names of the model's properties; [`Check::Property`] is an index into it.
    fn properties(&self) -> Vec<PropertyInfo>;

    /// What the user calls an action, by its number.
    fn action_name(&self, action: u32) -> String;

    /// What is violated in `state` itself: deadlock and properties, not faulty steps.
    fn violations(&self, state: &[u8]) -> Vec<Check>;

    /// The state as the user's variables, in order, each as a name and a printed value.
    fn describe(&self, state: &[u8]) -> Vec<(String, String)>;

    /// Masks of bits of a state such that every step changes only bits of at least one of them.
    /// Finding the predecessors of a state then means looking only at states that differ from it
    /// within a mask. The default says nothing.
    fn write_masks(&self) -> Vec<Vec<u8>> {
        vec![vec![0xff; self.width()]]
    }

    /// The model that this one leaves out equivalent states of, if it does. Counterexamples are told
    /// in its steps.
    fn unreduced(&self) -> Option<&dyn Model> {
        None
    }

    /// Whether a state of this model is here for a state of the unreduced one.
    fn stands_for(&self, representative: &[u8], state: &[u8]) -> bool {
        representative == state
    }

    /// A digest of all that determines the state space: another digest, another model.
    fn digest(&self) -> [u8; 32];
}

/// A property as reports call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyInfo {
    /// `assert`, `invariant`.
    pub kind: &'static str,
    /// The user's name for it, or what it says.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// One step of the model, as users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the action (of the receiver's, in a rendezvous).
    pub action: u32,
    /// What the user calls it.
    pub name: String,
    /// Where the action, or both sides of a rendezvous, stand in the source.
    pub spans: Vec<Span>,
    /// Every action of the step, in order, by number, with the pid of who takes it, where
    /// processes have pids; else nothing.
    pub actions: Vec<(u32, u32)>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The next state.
    Successor(Vec<u8>),
    /// A run-time error.
    Fault(Fault),
}

/// A run-time error in a step: a violation with a trace, never a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What sort of error.
    pub kind: FaultKind,
    /// What happened, with the values involved.
    pub message: String,
    /// Where in the source.
    pub span: Span,
}
