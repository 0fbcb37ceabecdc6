//! Spillway visits every reachable state of a model, exactly, within a fixed memory budget.
//!
//! A program calls [`check`], or [`Check`] for more options. The model is a Rust type that is a [`TransitionSystem`], a
//! [`StateSpace`] with states as bytes, or a text ([`TextModel`]: Promela, Murphi, DVE). The result is a
//! [`CheckResult`]: a verdict, counts, a counterexample. An interrupted search with a directory can be resumed.
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
//!     /// The process that takes a step.
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
//! | feature | what it adds |
//! | --- | --- |
//! | `languages` | models that are texts, and reductions of their programs |
//! | `jit` | machine code for such models; implies `languages` |
//! | `cli` | the command line; implies `languages` |
//! | `http`, `junit`, `plots` | `watch --listen`, `--junit`, plots in the page of a search; each implies `cli` |
//!
//! All are on by default. A program that searches Rust types needs none: `default-features = false`.
//!
//! Everything that is searched implements the traits of [`model`], the waist. A text becomes a [`ir::Program`]
//! ([`front`]). [`analysis`] examines it without running it. An executor ([`exec`]) computes its successors as packed
//! states, and reductions ([`reduce`]) omit some of them. [`search`] explores the states breadth-first, level by level,
//! on disk, and [`report`] shows the result. RAM is a cache, the disk is the store ([`spill`]).

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod report;
pub mod session;
pub mod system;

#[cfg(feature = "languages")]
#[doc(hidden)]
pub use spillway_analysis as analysis;
pub use spillway_base::source;
#[doc(hidden)]
pub use spillway_base::{budget, components, diag, escape, numbers, random, trees};
#[cfg(feature = "languages")]
pub use spillway_exec as exec;
#[cfg(feature = "languages")]
#[doc(hidden)]
pub use spillway_ir as ir;
#[cfg(feature = "languages")]
pub use spillway_lang as front;
#[cfg(feature = "languages")]
#[doc(hidden)]
pub use spillway_lang::ltl;
pub use spillway_model as model;
#[cfg(feature = "languages")]
#[doc(hidden)]
pub use spillway_reduce as reduce;
pub use spillway_search as search;
#[cfg(feature = "languages")]
#[doc(hidden)]
pub use spillway_tla as tla;

pub use model::{Property, StateSpace, StateValue, SystemDescription, TransitionSystem};
pub use search::{CheckSelection, SearchControl, SearchOutcome, SearchVerdict, StateStorage};
pub use session::{Check, CheckConfig, CheckResult, Error, Hunt, HuntResult, check};
#[cfg(feature = "languages")]
pub use session::{CheckReport, ModelText, SpecificationModel, TextCheck, TextModel};
pub use spill;
pub use system::{ModelInconsistency, PackedSystem, check_consistency};
