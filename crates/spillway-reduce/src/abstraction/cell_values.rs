//! Values of cells: stored, compared, and written.

use spillway_ir::BinaryOp;

/// The value of a cell; `None` if it is undefined.
pub(super) type CellValue = Option<i64>;

/// A condition on the value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CellPredicate {
    Is(CellValue),
    /// The value satisfies a comparison with a constant, or is undefined.
    Compares(BinaryOp, i64),
}

impl CellPredicate {
    /// Whether the condition may hold for a value.
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

/// The possible values of a cell after a write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CellUpdate {
    /// The old value.
    pub(super) same: bool,
    /// One of these values.
    pub(super) to: Vec<CellValue>,
    /// The old value plus this constant.
    pub(super) plus: Option<i64>,
    /// Any value.
    pub(super) any: bool,
}
