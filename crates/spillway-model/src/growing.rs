//! Encodings that grow: not every state has bytes before a search reaches it.
//!
//! The bytes of a state may contain numbers of values from dictionaries, and a search finds new values as it goes. The
//! numbers must not depend on the order in which threads find the values. So an encoding grows between levels only:
//!
//! 1. While a level is expanded, a successor that has no bytes yet is [set aside](super::SuccessorSink::set_aside), in a
//!    form of the system's own: the *unencoded state*.
//! 2. When all states of the level are expanded, the encoding [grows](GrowingStateSpace::grow) by everything that the
//!    set of unencoded states needs. Their bytes are then candidates like any others.
//! 3. What the encoding has gained is appended to the *journal*. The journal restores the encoding in later sessions.
//!
//! The set of unencoded states of a level is determined by the level and the encoding before it, so the journal does not
//! depend on threads, memory or interruptions.

use super::error::Result;

/// A state space whose encoding of states grows.
///
/// Invariants of an implementation:
///
/// - A state that has bytes keeps them whatever the encoding gains.
/// - Growth depends only on the encoding and on the *set* of unencoded states.
/// - After growth, each of these states has bytes.
/// - An unencoded state is a function of the state, and different states have different unencoded states.
pub trait GrowingStateSpace: Send + Sync {
    /// Replaces the encoding by that of a journal; the empty journal is that of a new search. Afterwards, successors
    /// without bytes are set aside.
    ///
    /// # Errors
    ///
    /// The bytes are not a journal of this system.
    fn restore(&self, journal: &[u8]) -> Result<()>;

    /// Makes the encoding grow at once, in memory only, whenever a state has no bytes. For engines that keep no bytes
    /// beyond the process. [`restore`](GrowingStateSpace::restore) ends this.
    fn grow_at_once(&self);

    /// Extends the encoding by what `states` need. Returns the bytes to append to the journal.
    ///
    /// # Errors
    ///
    /// The encoding cannot hold them, or a state cannot be read.
    fn grow(&self, states: &dyn UnencodedStates) -> Result<Vec<u8>>;

    /// Writes the bytes of an unencoded state, as many as the [width](super::StateSpace::width).
    ///
    /// # Errors
    ///
    /// The encoding has not grown by this state.
    fn encode(&self, unencoded: &[u8], state: &mut [u8]) -> Result<()>;

    /// Returns the bytes of memory that the encoding has gained.
    fn memory(&self) -> u64;
}

/// The unencoded states of a level, each once.
pub trait UnencodedStates {
    /// Passes each of them to `each`. Can be called several times.
    ///
    /// # Errors
    ///
    /// The first error of `each`, or that of a disk.
    fn visit(&self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

/// A state has no bytes, and the engine does not take unencoded states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a state has no encoding yet, and this search cannot wait for one")]
pub struct UnencodedState;
