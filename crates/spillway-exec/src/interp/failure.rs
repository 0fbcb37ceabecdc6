//! The failure of an evaluation.

use spillway_base::source::Span;
use spillway_model::{FaultKind, RuntimeFault, stop_request};

/// A failed evaluation; boxed because it is rare and results are passed everywhere.
pub type EvalFailure = Box<RuntimeFault>;

/// Builds a fault.
pub(super) fn fault(kind: FaultKind, span: Span, message: impl Into<String>) -> EvalFailure {
    Box::new(RuntimeFault::new(kind, message, span))
}

/// Leaves a loop after a stop request. The result of the step is then dropped.
pub(super) fn check_stop(span: Span) -> Result<(), EvalFailure> {
    match stop_request::is_requested() {
        true => Err(fault(FaultKind::Limit, span, "told to stop")),
        false => Ok(()),
    }
}
