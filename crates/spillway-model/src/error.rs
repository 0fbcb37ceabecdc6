//! Errors of an expansion.

use std::cell::OnceCell;
use std::error::Error;
use std::ops::ControlFlow;

/// The reason why an expansion has no result.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system cannot compute successors of a state, for this reason.
    #[error("the model failed: {0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
    /// The engine broke the expansion off, for a reason of its own.
    #[error("the expansion was interrupted")]
    BrokenOff,
}

/// The result of an expansion.
pub type Result<T, E = ModelError> = std::result::Result<T, E>;

impl ModelError {
    /// Creates the error of a system that failed for this reason.
    pub fn failed(reason: impl Into<Box<dyn Error + Send + Sync>>) -> ModelError {
        ModelError::Failed(reason.into())
    }
}

/// Keeps the error for which an engine breaks off an expansion. Sinks do not depend on the error types of engines.
///
/// Callbacks pass their results to [`check`](BreakOff::check), and the engine retrieves the error with
/// [`or_error`](BreakOff::or_error).
#[derive(Debug)]
pub struct BreakOff<E> {
    /// The first error.
    error: OnceCell<E>,
}

impl<E> BreakOff<E> {
    /// Creates an empty `BreakOff`.
    pub fn new() -> BreakOff<E> {
        BreakOff { error: OnceCell::new() }
    }

    /// Continues after `Ok`, and breaks off after an error. Keeps the first error.
    pub fn check(&self, result: Result<(), E>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                let _ = self.error.set(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Returns whether there was an error.
    pub fn has_error(&self) -> bool {
        self.error.get().is_some()
    }

    /// Returns the kept error, or else the result of the expansion with a converted failure.
    pub fn or_error<T>(
        self,
        result: Result<T, ModelError>,
        convert: impl FnOnce(ModelError) -> E,
    ) -> Result<T, E> {
        match self.error.into_inner() {
            Some(error) => Err(error),
            None => result.map_err(convert),
        }
    }
}

impl<E> Default for BreakOff<E> {
    fn default() -> Self {
        BreakOff::new()
    }
}
