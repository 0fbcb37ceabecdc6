//! What cells hold: as it is, as it is asked, and as it is written.

use crate::ir::BinaryOp;

/// What a cell holds: nothing, if it is undefined.
pub(super) type CellValue = Option<i64>;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CellPredicate {
    Is(CellValue),
    /// A value that compares so with this one; or it is undefined.
    Compares(BinaryOp, i64),
}

impl CellPredicate {
    /// Whether it may be so if the cell holds this.
    pub(super) fn admits(self, held: CellValue) -> bool {
        match (self, held) {
            (CellPredicate::Is(wanted), held) => wanted == held,
            (CellPredicate::Compares(..), None) => true,
            (CellPredicate::Compares(how, with), Some(value)) => match how {
                BinaryOp::Equal => value == with,
                BinaryOp::NotEqual => value != with,
                BinaryOp::Less => value < with,
                BinaryOp::LessEqual => value <= with,
                BinaryOp::Greater => value > with,
                BinaryOp::GreaterEqual => value >= with,
                _ => true,
            },
        }
    }
}

/// What a cell may hold next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CellUpdate {
    /// What it holds.
    pub(super) same: bool,
    /// One of these.
    pub(super) to: Vec<CellValue>,
    /// As much more.
    pub(super) plus: Option<i64>,
    /// Anything.
    pub(super) any: bool,
}
