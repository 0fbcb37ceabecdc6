//! Spillway visits every reachable state of a model, exactly, inside a fixed memory budget.
//!
//! A program asks for a search with [`check`], or with [`Check`] if it says more: of a Rust type that is a [`TransitionSystem`], of a
//! [`StateSpace`] that has its states as bytes, or of a model that is a text ([`TextModel`]: Promela, Murphi,
//! DVE). What comes of it is [`CheckResult`]: a verdict, counts, a counterexample. A search that was
//! stopped, or killed, goes on where it was if it has a directory.
//!
//! ```
//! use spillway::{SearchVerdict, TransitionSystem};
//!
//! /// Two processes that take two locks, each in its own order.
//! struct Locks;
//!
//! impl TransitionSystem for Locks {
//!     /// How many locks each process has.
//!     type State = [u8; 2];
//!     /// The process that goes on.
//!     type Action = usize;
//!
//!     fn initial(&self) -> Vec<[u8; 2]> {
//!         vec![[0, 0]]
//!     }
//!
//!     fn actions(&self, state: &[u8; 2], actions: &mut Vec<usize>) {
//!         // The second lock of one is the first of the other.
//!         actions.extend((0..2).filter(|&it| state[it] == 2 || state[1 - it] < 2 - state[it]));
//!     }
//!
//!     fn next(&self, state: &[u8; 2], &process: &usize) -> Option<[u8; 2]> {
//!         let mut next = *state;
//!         next[process] = (state[process] + 1) % 3;
//!         Some(next)
//!     }
//! }
//!
//! let found = spillway::check(&Locks)?;
//! assert_eq!(found.verdict(), SearchVerdict::Violated);
//! assert!(found.to_string().contains("deadlock"));
//! # Ok::<(), spillway::Error>(())
//! ```
//!
//! The features `cli`, the command line, and `jit`, machine code for models that are texts, are on by
//! default; a program that searches Rust types needs neither.
//!
//! Everything that is searched presents itself by the traits of [`model`], the waist. A text becomes a [`ir::Program`]
//! ([`front`]), which [`analysis`] examines without running it and which an executor ([`exec`]) turns into successors of
//! packed states, fewer of them by reductions ([`reduce`]). [`search`] explores them breadth-first, level by level, on disk,
//! and [`report`] shows the result. RAM is a cache, the disk is the store ([`spill`]).

#[doc(hidden)]
pub mod analysis;
#[doc(hidden)]
pub mod budget;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod diag;
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
mod escape;
pub mod exec;
pub mod front;
#[doc(hidden)]
pub mod ir;
#[doc(hidden)]
pub mod ltl;
pub mod model;
mod numbers;
mod random;
#[doc(hidden)]
pub mod reduce;
pub mod report;
pub mod search;
pub mod session;
pub mod source;
pub mod system;
mod trees;

pub use model::{Property, StateSpace, StateValue, SystemDescription, TransitionSystem};
pub use search::{CheckSelection, SearchControl, SearchOutcome, SearchVerdict, StateStorage};
pub use session::{
    Check, CheckConfig, CheckReport, CheckResult, Error, ModelText, TextCheck, TextModel, check,
};
pub use spill;
pub use system::{ModelInconsistency, PackedSystem, check_consistency};
