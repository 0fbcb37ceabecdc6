//! What operators on integers give, or why they give nothing: the one definition that constants of
//! front ends, the interpreter, the ranges of variables and compiled code are held to.
//!
//! Functions here are total: any two 64-bit integers are operands of any operator, also where the
//! arithmetic has 32 bits. Results of computing (sums, differences, products, quotients, remainders,
//! shifts to the left) are brought into the integers of the arithmetic. Bits of integers are bits of
//! integers: what takes them apart (`&`, `|`, `^`, `~`, shifts to the right) is not brought anywhere,
//! and need not be, since from integers of 32 bits it makes such integers. [`super::interval`] says
//! the same of whole ranges of operands.

use super::{Binary, Unary};

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
    pub fn unary(self, operator: Unary, operand: i64) -> Result<i64, ArithmeticError> {
        match operator {
            Unary::Negate => self.bring(operand.overflowing_neg()),
            Unary::Not => Ok((operand == 0).into()),
            Unary::Complement => Ok(!operand),
        }
    }

    /// `left operator right`, both of which are known.
    #[inline]
    pub fn binary(self, operator: Binary, left: i64, right: i64) -> Result<i64, ArithmeticError> {
        match operator {
            Binary::Add => self.bring(left.overflowing_add(right)),
            Binary::Subtract => self.bring(left.overflowing_sub(right)),
            Binary::Multiply => self.bring(left.overflowing_mul(right)),
            Binary::Divide | Binary::Remainder if right == 0 => Err(ArithmeticError::Division),
            Binary::Divide => self.bring(left.overflowing_div(right)),
            // The least integer divided by -1 leaves no remainder, though the quotient does not fit.
            Binary::Remainder => self.bring((left.wrapping_rem(right), false)),
            Binary::ShiftLeft | Binary::ShiftRight if !(0..self.word()).contains(&right) => {
                Err(ArithmeticError::Shift)
            }
            Binary::ShiftLeft => self.bring((left << right, left << right >> right != left)),
            Binary::ShiftRight => Ok(left >> right),
            Binary::BitAnd => Ok(left & right),
            Binary::BitOr => Ok(left | right),
            Binary::BitXor => Ok(left ^ right),
            Binary::Equal => Ok((left == right).into()),
            Binary::NotEqual => Ok((left != right).into()),
            Binary::Less => Ok((left < right).into()),
            Binary::LessEqual => Ok((left <= right).into()),
            Binary::Greater => Ok((left > right).into()),
            Binary::GreaterEqual => Ok((left >= right).into()),
            Binary::And => Ok((left != 0 && right != 0).into()),
            Binary::Or => Ok((left != 0 || right != 0).into()),
            Binary::Implies => Ok((left == 0 || right != 0).into()),
        }
    }

    /// Whether an operation has a result whatever its operands are.
    pub fn always_succeeds(self, operator: Binary) -> bool {
        match operator {
            Binary::Add | Binary::Subtract | Binary::Multiply => self == Arithmetic::Wrapping32,
            Binary::Divide | Binary::Remainder | Binary::ShiftLeft | Binary::ShiftRight => false,
            _ => true,
        }
    }

    /// Whether an operation has a result whatever its operand is.
    pub fn always_succeeds_on_one(self, operator: Unary) -> bool {
        operator != Unary::Negate || self == Arithmetic::Wrapping32
    }

    /// An integer of the arithmetic, from the lower 64 bits of a result and whether there are more.
    #[inline]
    fn bring(self, (value, overflows): (i64, bool)) -> Result<i64, ArithmeticError> {
        match self {
            Arithmetic::Wrapping32 => Ok(i64::from(value as i32)),
            Arithmetic::Checked64 if overflows => Err(ArithmeticError::Range),
            Arithmetic::Checked64 => Ok(value),
        }
    }
}

impl Binary {
    /// The value that the left operand alone decides, if it does; the right one is then not
    /// evaluated.
    #[inline]
    pub fn decided_by(self, left: i64) -> Option<i64> {
        match (self, left != 0) {
            (Binary::And, false) => Some(0),
            (Binary::Or, true) | (Binary::Implies, false) => Some(1),
            _ => None,
        }
    }

    /// The comparison that holds where this one does not, if it is one.
    pub fn opposite(self) -> Option<Binary> {
        Some(match self {
            Binary::Equal => Binary::NotEqual,
            Binary::NotEqual => Binary::Equal,
            Binary::Less => Binary::GreaterEqual,
            Binary::LessEqual => Binary::Greater,
            Binary::Greater => Binary::LessEqual,
            Binary::GreaterEqual => Binary::Less,
            _ => return None,
        })
    }

    /// The comparison that says the same of exchanged operands, if it is one.
    pub fn turned(self) -> Option<Binary> {
        Some(match self {
            Binary::Equal | Binary::NotEqual => self,
            Binary::Less => Binary::Greater,
            Binary::LessEqual => Binary::GreaterEqual,
            Binary::Greater => Binary::Less,
            Binary::GreaterEqual => Binary::LessEqual,
            _ => return None,
        })
    }
}
