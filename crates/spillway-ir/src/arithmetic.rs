//! The results and errors of operators on integers. This is the only definition; constants in front ends, the
//! interpreter, the ranges of variables and compiled code conform to it.
//!
//! The functions are total: any two 64-bit integers are operands of any operator, also if the arithmetic has 32 bits.
//! Results of computations (sums, differences, products, quotients, remainders, shifts to the left) are converted to
//! integers of the arithmetic. Results of bit operations (`&`, `|`, `^`, `~`, shifts to the right) need no
//! conversion, because they are 32-bit integers if the operands are. [`super::interval`] implements the same
//! operators for ranges of operands.

use super::{BinaryOp, UnaryOp};
use spillway_model::FaultKind;

/// The least and the greatest value; empty if the least is greater.
pub type Interval = (i64, i64);

/// The integers of expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// 32-bit two's complement, wrapping: C's `int` as compilers implement it (DVE, Promela).
    #[default]
    Wrapping32,
    /// 64-bit; overflow is a run-time error (Murphi).
    Checked64,
}

/// The reason why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticError {
    /// The divisor is 0.
    Division,
    /// The shift count is negative, or not less than the bits of a word.
    Shift,
    /// The result is no integer of the arithmetic.
    Range,
}

impl From<ArithmeticError> for FaultKind {
    fn from(error: ArithmeticError) -> FaultKind {
        match error {
            ArithmeticError::Division => FaultKind::Division,
            ArithmeticError::Shift => FaultKind::Shift,
            ArithmeticError::Range => FaultKind::Range,
        }
    }
}

impl Arithmetic {
    /// Returns the number of bits of a word. Shift counts must be less.
    #[inline]
    pub const fn word(self) -> i64 {
        match self {
            Arithmetic::Wrapping32 => 32,
            Arithmetic::Checked64 => 64,
        }
    }

    /// Returns the least and the greatest integer.
    pub const fn integers(self) -> Interval {
        match self {
            Arithmetic::Wrapping32 => (i32::MIN as i64, i32::MAX as i64),
            Arithmetic::Checked64 => (i64::MIN, i64::MAX),
        }
    }

    /// Computes `operator operand`.
    #[inline]
    pub fn unary(self, operator: UnaryOp, operand: i64) -> Result<i64, ArithmeticError> {
        match operator {
            UnaryOp::Negate => {
                let (negative, overflows) = operand.overflowing_neg();
                self.normalise(negative, overflows)
            }
            UnaryOp::Not => Ok((operand == 0).into()),
            UnaryOp::Complement => Ok(!operand),
        }
    }

    /// Computes `left operator right`.
    #[inline]
    pub fn binary(self, operator: BinaryOp, left: i64, right: i64) -> Result<i64, ArithmeticError> {
        match operator {
            BinaryOp::Add => {
                let (sum, overflows) = left.overflowing_add(right);
                self.normalise(sum, overflows)
            }
            BinaryOp::Subtract => {
                let (difference, overflows) = left.overflowing_sub(right);
                self.normalise(difference, overflows)
            }
            BinaryOp::Multiply => {
                let (product, overflows) = left.overflowing_mul(right);
                self.normalise(product, overflows)
            }
            BinaryOp::Divide | BinaryOp::Remainder if right == 0 => Err(ArithmeticError::Division),
            BinaryOp::Divide => {
                let (quotient, overflows) = left.overflowing_div(right);
                self.normalise(quotient, overflows)
            }
            // The least integer divided by -1 has the remainder 0, though the quotient does not fit.
            BinaryOp::Remainder => self.normalise(left.wrapping_rem(right), false),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight if !(0..self.word()).contains(&right) => {
                Err(ArithmeticError::Shift)
            }
            BinaryOp::ShiftLeft => self.normalise(left << right, left << right >> right != left),
            BinaryOp::ShiftRight => Ok(left >> right),
            BinaryOp::BitAnd => Ok(left & right),
            BinaryOp::BitOr => Ok(left | right),
            BinaryOp::BitXor => Ok(left ^ right),
            BinaryOp::Equal => Ok((left == right).into()),
            BinaryOp::NotEqual => Ok((left != right).into()),
            BinaryOp::Less => Ok((left < right).into()),
            BinaryOp::LessEqual => Ok((left <= right).into()),
            BinaryOp::Greater => Ok((left > right).into()),
            BinaryOp::GreaterEqual => Ok((left >= right).into()),
            BinaryOp::And => Ok((left != 0 && right != 0).into()),
            BinaryOp::Or => Ok((left != 0 || right != 0).into()),
            BinaryOp::Implies => Ok((left == 0 || right != 0).into()),
        }
    }

    /// Returns whether an operation has a result for all operands.
    pub fn always_succeeds(self, operator: BinaryOp) -> bool {
        match operator {
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply => {
                self == Arithmetic::Wrapping32
            }
            BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                false
            }
            _ => true,
        }
    }

    /// Returns whether an operation has a result for all operands.
    pub fn always_succeeds_on_one(self, operator: UnaryOp) -> bool {
        operator != UnaryOp::Negate || self == Arithmetic::Wrapping32
    }

    /// Converts the lower 64 bits of a result to an integer of the arithmetic. `overflows` is true if the result has
    /// more bits.
    #[inline]
    fn normalise(self, value: i64, overflows: bool) -> Result<i64, ArithmeticError> {
        match self {
            Arithmetic::Wrapping32 => Ok(i64::from(value as i32)),
            Arithmetic::Checked64 if overflows => Err(ArithmeticError::Range),
            Arithmetic::Checked64 => Ok(value),
        }
    }
}

impl BinaryOp {
    /// Returns the result if the left operand alone decides it. The right operand is then not evaluated.
    #[inline]
    pub fn short_circuit_value(self, left: i64) -> Option<i64> {
        match (self, left != 0) {
            (BinaryOp::And, false) => Some(0),
            (BinaryOp::Or, true) | (BinaryOp::Implies, false) => Some(1),
            _ => None,
        }
    }

    /// Returns the negated comparison, if the operator is a comparison.
    pub fn negated(self) -> Option<BinaryOp> {
        Some(match self {
            BinaryOp::Equal => BinaryOp::NotEqual,
            BinaryOp::NotEqual => BinaryOp::Equal,
            BinaryOp::Less => BinaryOp::GreaterEqual,
            BinaryOp::LessEqual => BinaryOp::Greater,
            BinaryOp::Greater => BinaryOp::LessEqual,
            BinaryOp::GreaterEqual => BinaryOp::Less,
            _ => return None,
        })
    }

    /// Returns the equivalent comparison of exchanged operands, if the operator is a comparison.
    pub fn mirrored(self) -> Option<BinaryOp> {
        Some(match self {
            BinaryOp::Equal | BinaryOp::NotEqual => self,
            BinaryOp::Less => BinaryOp::Greater,
            BinaryOp::LessEqual => BinaryOp::GreaterEqual,
            BinaryOp::Greater => BinaryOp::Less,
            BinaryOp::GreaterEqual => BinaryOp::LessEqual,
            _ => return None,
        })
    }
}
