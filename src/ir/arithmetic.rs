//! What operators on integers give, or why they give nothing: the one definition that constants of
//! front ends, the interpreter, the ranges of variables and compiled code are held to.
//!
//! Functions here are total: any two 64-bit integers are operands of any operator, also where the
//! arithmetic has 32 bits. Results of computing (sums, differences, products, quotients, remainders,
//! shifts to the left) are brought into the integers of the arithmetic. Bits of integers are bits of
//! integers: what takes them apart (`&`, `|`, `^`, `~`, shifts to the right) is not brought anywhere,
//! and need not be, since from integers of 32 bits it makes such integers. [`super::interval`] says
//! the same of whole ranges of operands.

use super::{BinaryOp, UnaryOp};
use crate::model::FaultKind;

/// Least and greatest value; none if the least is greater.
pub type Interval = (i64, i64);

/// The integers that expressions are computed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// 32-bit two's complement, wrapping: C's `int` as compilers have it (DVE, Promela).
    #[default]
    Wrapping32,
    /// 64-bit; leaving them is a run-time error (Murphi).
    Checked64,
}

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticError {
    /// The divisor is 0.
    Division,
    /// The count of a shift is negative, or not less than the bits of a word.
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
    /// The bits of a word: shifts are by less.
    #[inline]
    pub const fn word(self) -> i64 {
        match self {
            Arithmetic::Wrapping32 => 32,
            Arithmetic::Checked64 => 64,
        }
    }

    /// Its least and its greatest integer.
    pub const fn integers(self) -> Interval {
        match self {
            Arithmetic::Wrapping32 => (i32::MIN as i64, i32::MAX as i64),
            Arithmetic::Checked64 => (i64::MIN, i64::MAX),
        }
    }

    /// `operator operand`.
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

    /// `left operator right`, both of which are known.
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
            // The least integer divided by -1 leaves no remainder, though the quotient does not fit.
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

    /// Whether an operation has a result whatever its operands are.
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

    /// Whether an operation has a result whatever its operand is.
    pub fn always_succeeds_on_one(self, operator: UnaryOp) -> bool {
        operator != UnaryOp::Negate || self == Arithmetic::Wrapping32
    }

    /// An integer of the arithmetic, from the lower 64 bits of a result and whether there are more.
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
    /// The value that the left operand alone decides, if it does; the right one is then not
    /// evaluated.
    #[inline]
    pub fn short_circuit_value(self, left: i64) -> Option<i64> {
        match (self, left != 0) {
            (BinaryOp::And, false) => Some(0),
            (BinaryOp::Or, true) | (BinaryOp::Implies, false) => Some(1),
            _ => None,
        }
    }

    /// The comparison that holds where this one does not, if it is one.
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

    /// The comparison that says the same of exchanged operands, if it is one.
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
