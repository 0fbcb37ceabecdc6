//! The mathematical definition of integer operators, independent of all tested code.
#![allow(dead_code)]

use spillway::ir::{Arithmetic, BinaryOp, UnaryOp};
use spillway::model::FaultKind;

/// The expected result of an operator.
pub type Expected = Result<i64, FaultKind>;

pub const UNARY: [UnaryOp; 3] = [UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement];

/// Returns the number of bits of a word.
fn word(arithmetic: Arithmetic) -> i128 {
    if arithmetic == Arithmetic::Wrapping32 { 32 } else { 64 }
}

/// Returns whether a number is an integer of the arithmetic.
pub fn is_integer(arithmetic: Arithmetic, value: i128) -> bool {
    let half = 1 << (word(arithmetic) - 1);
    (-half..half).contains(&value)
}

/// Converts a mathematical result to an integer of the arithmetic.
fn integer(arithmetic: Arithmetic, value: i128) -> Expected {
    match arithmetic {
        Arithmetic::Wrapping32 => Ok(i64::from(value as i32)),
        Arithmetic::Checked64 => i64::try_from(value).map_err(|_| FaultKind::Range),
    }
}

pub fn unary(arithmetic: Arithmetic, operator: UnaryOp, operand: i64) -> Expected {
    match operator {
        UnaryOp::Negate => integer(arithmetic, -i128::from(operand)),
        UnaryOp::Not => Ok(i64::from(operand == 0)),
        UnaryOp::Complement => Ok((-i128::from(operand) - 1) as i64),
    }
}

pub fn binary(arithmetic: Arithmetic, operator: BinaryOp, left: i64, right: i64) -> Expected {
    let number = mathematical(arithmetic, operator, left, right)?;
    match operator {
        // Bits beyond the integers of the arithmetic do not yield such an integer either.
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::ShiftRight => {
            Ok(number as i64)
        }
        _ => integer(arithmetic, number),
    }
}

/// Returns the mathematical result of an operator, before conversion to any integers.
pub fn mathematical(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    left: i64,
    right: i64,
) -> Result<i128, FaultKind> {
    let (a, b) = (i128::from(left), i128::from(right));
    let truth = |holds: bool| Ok(i128::from(holds));
    match operator {
        BinaryOp::Add => Ok(a + b),
        BinaryOp::Subtract => Ok(a - b),
        BinaryOp::Multiply => Ok(a * b),
        BinaryOp::Divide | BinaryOp::Remainder if b == 0 => Err(FaultKind::Division),
        BinaryOp::Divide => Ok(a / b),
        BinaryOp::Remainder => Ok(a - a / b * b),
        BinaryOp::BitAnd => Ok(a & b),
        BinaryOp::BitOr => Ok(a | b),
        BinaryOp::BitXor => Ok(a ^ b),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight if !(0..word(arithmetic)).contains(&b) => {
            Err(FaultKind::Shift)
        }
        BinaryOp::ShiftLeft => Ok(a * (1 << b)),
        BinaryOp::ShiftRight => Ok(a.div_euclid(1 << b)),
        BinaryOp::Equal => truth(a == b),
        BinaryOp::NotEqual => truth(a != b),
        BinaryOp::Less => truth(a < b),
        BinaryOp::LessEqual => truth(a <= b),
        BinaryOp::Greater => truth(a > b),
        BinaryOp::GreaterEqual => truth(a >= b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
        BinaryOp::Implies => truth(a == 0 || b != 0),
    }
}

/// Returns integers around 0, around the sizes of words, and at the limits of both arithmetics.
pub fn integers(arithmetic: Arithmetic) -> Vec<i64> {
    let least = match arithmetic {
        Arithmetic::Wrapping32 => i64::from(i32::MIN),
        Arithmetic::Checked64 => i64::MIN,
    };
    let near = |value: i64| [value - 1, value, value + 1];
    let mut integers: Vec<i64> = (-3..=3).chain(near(31)).chain(near(63)).collect();
    integers.extend([46_340, 46_341, -46_341, 1 << 30, -1 << 30, i32::MAX.into()]);
    integers.extend([least, least + 1, -(least + 1), -(least + 2)]);
    if arithmetic == Arithmetic::Checked64 {
        integers.extend(near(1 << 31).into_iter().chain(near(-1 << 31)).chain(near(1 << 32)));
        integers.extend([3_037_000_499, 3_037_000_500, -3_037_000_500, 1 << 62, -1 << 62]);
    }
    integers
}

/// Returns some of them, and some outside the arithmetic, which variables may nevertheless hold.
pub fn fewer_integers(arithmetic: Arithmetic) -> Vec<i64> {
    let mut integers = vec![-7, -1, 0, 1, 2, 31, 32, 64, 46_341];
    integers.extend([i32::MIN, i32::MAX].map(i64::from));
    integers.extend([i64::MIN, i64::MAX, -1 << 33]);
    if arithmetic == Arithmetic::Checked64 {
        integers.extend([63, 1 << 31, 3_037_000_500]);
    }
    integers
}
