//! Values that code computes.

use cranelift_codegen::ir::Value;
use spillway_ir::interval::Interval;

/// An integer or a truth value that code computes, with its range known at compile time.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeValue {
    pub repr: ValueRepr,
    /// The least possible value.
    pub low: i64,
    /// The greatest possible value.
    pub high: i64,
}

/// The representation of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueRepr {
    /// Known: `low`, which equals `high`.
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

    /// Creates an integer of 64 bits within a range.
    pub fn int(value: Value, low: i64, high: i64) -> CodeValue {
        CodeValue { repr: ValueRepr::Int(value), low, high }
    }

    /// Returns the range of possible values.
    pub fn range(&self) -> Interval {
        (self.low, self.high)
    }

    /// Creates a truth value of 8 bits, 0 or 1.
    pub fn truth(value: Value) -> CodeValue {
        CodeValue { repr: ValueRepr::Bool(value), low: 0, high: 1 }
    }

    /// Returns the value, if only one is possible.
    pub fn as_constant(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Returns whether the value is certainly from `low` to `high`.
    pub fn is_within(&self, low: i64, high: i64) -> bool {
        low <= self.low && self.high <= high
    }

    /// Returns whether the value may be `value`.
    pub fn may_be(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }
}
