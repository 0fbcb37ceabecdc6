//! Arithmetic on known values: 32-bit two's complement, wrapping, as at run time.

use crate::ir::{Binary, Unary};

/// The value of `operator operand`.
pub(super) fn unary(operator: Unary, operand: i64) -> i64 {
    let operand = operand as i32;
    i64::from(match operator {
        Unary::Negate => operand.wrapping_neg(),
        Unary::Complement => !operand,
        Unary::Not => i32::from(operand == 0),
    })
}

/// The value of `left operator right`, or nothing if evaluating it fails.
pub(super) fn binary(operator: Binary, left: i64, right: i64) -> Option<i64> {
    let (left, right) = (left as i32, right as i32);
    let shift = || u32::try_from(right).ok();
    let value = match operator {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide if right == 0 => return None,
        Binary::Divide => left.wrapping_div(right),
        Binary::Remainder if right == 0 => return None,
        Binary::Remainder => left.wrapping_rem(right),
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::ShiftLeft => left.checked_shl(shift()?)?,
        Binary::ShiftRight => left.checked_shr(shift()?)?,
        Binary::Equal => (left == right).into(),
        Binary::NotEqual => (left != right).into(),
        Binary::Less => (left < right).into(),
        Binary::LessEqual => (left <= right).into(),
        Binary::Greater => (left > right).into(),
        Binary::GreaterEqual => (left >= right).into(),
        Binary::And => (left != 0 && right != 0).into(),
        Binary::Or => (left != 0 || right != 0).into(),
        Binary::Implies => (left == 0 || right != 0).into(),
    };
    Some(value.into())
}

/// The value that the left side alone decides, if it does.
pub(super) fn decided(operator: Binary, left: i64) -> Option<i64> {
    match (operator, left != 0) {
        (Binary::And, false) => Some(0),
        (Binary::Or, true) | (Binary::Implies, false) => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_wraps_at_32_bits() {
        assert_eq!(binary(Binary::Add, 2147483647, 1), Some(-2147483648));
        assert_eq!(binary(Binary::Divide, -2147483648, -1), Some(-2147483648));
        assert_eq!(binary(Binary::Remainder, -7, 2), Some(-1));
        assert_eq!(unary(Unary::Negate, -2147483648), -2147483648);
        assert_eq!(unary(Unary::Complement, 0), -1);
    }

    #[test]
    fn what_fails_at_run_time_has_no_value() {
        assert_eq!(binary(Binary::Divide, 1, 0), None);
        assert_eq!(binary(Binary::Remainder, 1, 0), None);
        assert_eq!(binary(Binary::ShiftLeft, 1, 32), None);
        assert_eq!(binary(Binary::ShiftRight, 1, -1), None);
        assert_eq!(binary(Binary::ShiftLeft, 1, 31), Some(-2147483648));
    }
}
