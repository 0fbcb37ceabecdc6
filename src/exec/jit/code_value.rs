//! Values that code computes.

use crate::ir::interval::Interval;
use cranelift_codegen::ir::Value;

/// An integer or a truth value that code computes, and what is known of it beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeValue {
    pub repr: ValueRepr,
    /// The least value it can have.
    pub low: i64,
    /// The greatest.
    pub high: i64,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueRepr {
    /// `low`, which is `high`.
    Known,
    /// 64 bits.
    Int(Value),
    /// 8 bits, 0 or 1.
    Bool(Value),
}

impl CodeValue {
    pub fn constant(value: i64) -> CodeValue {
        CodeValue { repr: ValueRepr::Known, low: value, high: value }
    }

    /// 64 bits, within a range.
    pub fn int(value: Value, low: i64, high: i64) -> CodeValue {
        CodeValue { repr: ValueRepr::Int(value), low, high }
    }

    /// The least and the greatest value it can have.
    pub fn range(&self) -> Interval {
        (self.low, self.high)
    }

    /// 8 bits, 0 or 1.
    pub fn truth(value: Value) -> CodeValue {
        CodeValue { repr: ValueRepr::Bool(value), low: 0, high: 1 }
    }

    /// The value, if there is only one it can have.
    pub fn as_constant(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether it is certainly from `low` to `high`.
    pub fn is_within(&self, low: i64, high: i64) -> bool {
        low <= self.low && self.high <= high
    }

    /// Whether it may be `value`.
    pub fn may_be(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }
}
