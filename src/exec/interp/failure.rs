//! What an evaluation ends with where it has no value.

use crate::exec::{Fault, FaultKind, stop};
use crate::source::Span;

/// A failed evaluation; boxed because it is rare and results are passed everywhere.
pub(crate) type Failure = Box<Fault>;

/// Builds a fault.
pub(super) fn fault(kind: FaultKind, span: Span, message: impl Into<String>) -> Failure {
    Box::new(Fault::new(kind, message, span))
}

/// Leaves a loop if it is time to stop: what comes of the step is dropped.
pub(super) fn go_on(span: Span) -> Result<(), Failure> {
    match stop::is_asked() {
        true => Err(fault(FaultKind::Limit, span, "told to stop")),
        false => Ok(()),
    }
}
