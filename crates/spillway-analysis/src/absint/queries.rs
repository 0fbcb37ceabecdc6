//! Ranges of queries about control, channels and processes.

use spillway_ir::interval::Interval;
use spillway_ir::{Domain, ExprKind, Program, Type};

/// The range of pids and of the number of processes.
pub const PIDS: Interval = (0, 255);

/// Returns the range, in any state, of an expression that is not computed from other values. The range is all
/// integers if the kind of the expression implies no bound.
pub fn query_range(program: &Program, kind: &ExprKind) -> Interval {
    match kind {
        ExprKind::At { .. }
        | ExprKind::IsEmpty(_)
        | ExprKind::IsFull(_)
        | ExprKind::CanReceive(..)
        | ExprKind::Enabled(_)
        | ExprKind::IsUndefined(_)
        | ExprKind::Same(..)
        | ExprKind::Contains(_)
        | ExprKind::Quantified { .. }
        | ExprKind::Timeout => (0, 1),
        ExprKind::Length(channel) => {
            let capacities =
                channel.possible_channels(program).map(|it| program.channels[it].capacity);
            (0, i64::from(capacities.max().unwrap_or_default()))
        }
        ExprKind::SlotOf(process, _) => (0, program.slots(*process).into()),
        ExprKind::Self_ | ExprKind::Processes => PIDS,
        ExprKind::ChannelNumber(_) => program.bounds(&Domain::Channel),
        ExprKind::Call(function, _) => match program.functions[*function].result {
            Some(ty) => match &program.types[ty] {
                Type::Scalar(scalar) => program.bounds(&scalar.domain),
                _ => program.arithmetic.integers(),
            },
            None => program.arithmetic.integers(),
        },
        _ => program.arithmetic.integers(),
    }
}
