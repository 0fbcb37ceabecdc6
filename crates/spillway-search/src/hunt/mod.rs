//! Bug hunting: an inexact search for violations (Holzmann, Joshi and Groce, "Swarm verification techniques", 2011).
//!
//! A hunt runs a portfolio of [strategies] on every thread until one of them meets a violation or a limit ends the hunt.
//! A strategy visits some states and never all of them, so a hunt without a result proves nothing.
//!
//! - [`target`]: the state space, the checks, and distances to a violation.
//! - [`fingerprints`]: a bounded set of fingerprints of states.
//! - [`path_index`]: the states on a path.
//! - [`state_tree`]: known states, each with the state before it.
//! - [`worker`]: one thread, with its expansions, random numbers, limits and counters.
//! - [`random_walk`], [`dive`], [`best_first`]: the strategies.
//! - [`strategies`]: the table of the strategies.
//! - [`portfolio`]: the threads, and the choice of the finding.
//! - [`shorten`]: shorter paths to the same violation.
//! - [`bounded`]: the options of short hunts within a search.
//!
//! # Repeatability
//!
//! Each thread has its own generator of random numbers, and shares no set and no count with other threads. It works in
//! turns of a fixed amount of work: transitions, and evaluated parts of distances. The finding of the earliest turn
//! counts, and among those of one turn that of the first thread. A thread works until its turn is later than that of a
//! finding. So the finding is a function of the model, the seed and the number of threads, unless a deadline ends the
//! hunt. The counters of other threads vary.

pub mod best_first;
pub mod bounded;
pub mod dive;
pub mod fingerprints;
pub mod path_index;
pub mod portfolio;
pub mod random_walk;
pub mod shorten;
pub mod state_tree;
pub mod strategies;
pub mod target;
pub mod worker;

pub use bounded::{BOUNDED_BYTES_MAX, HuntBounds, transitions_for_width};
pub use portfolio::{FoundBy, HuntEnd, HuntOptions, HuntOutcome, StrategyStats, hunt};
pub use shorten::{ShortenLimits, ShortenedPath, shorten_path, without_repeats};
pub use strategies::{STRATEGIES, StrategyEntry, strategy};
pub use target::{DistanceFn, HuntFinding, HuntTarget, TargetDistance};
pub use worker::HuntProgress;

#[cfg(test)]
mod tests;
