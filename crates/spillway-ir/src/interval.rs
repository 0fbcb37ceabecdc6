//! Interval arithmetic (Moore 1966): the range of an operator's results from the ranges of its operands. It makes
//! checks and wrapping unnecessary, and states smaller than declared.
//!
//! It covers the operators of [`super::arithmetic`], and its ranges contain all of their results. If both operands
//! are constants, the range is exact.

pub use super::arithmetic::Interval;
use super::{Arithmetic, BinaryOp, UnaryOp};

/// The empty interval.
pub const NONE: Interval = (1, 0);

/// The range of the results of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultRange {
    /// An interval with all results; empty if the operation fails for all operands.
    pub range: Interval,
    /// Whether a mathematical result may be no integer of the arithmetic, so that it must be wrapped or checked.
    pub may_overflow: bool,
}

/// Returns whether an interval is empty.
pub fn is_none(range: Interval) -> bool {
    range.0 > range.1
}

/// Returns the least interval that contains both.
pub fn hull(one: Interval, other: Interval) -> Interval {
    match (is_none(one), is_none(other)) {
        (true, true) => NONE,
        (true, _) => other,
        (_, true) => one,
        _ => (one.0.min(other.0), one.1.max(other.1)),
    }
}

/// Returns bounds of the operands of a comparison that holds, from their intervals. Returns `None` for other
/// operators.
pub fn bounds(operator: BinaryOp, left: Interval, right: Interval) -> Option<(Interval, Interval)> {
    Some(match operator {
        BinaryOp::Equal => (right, left),
        BinaryOp::NotEqual => (without(left, right), without(right, left)),
        BinaryOp::Less => ((i64::MIN, less(right.1)), (more(left.0), i64::MAX)),
        BinaryOp::LessEqual => ((i64::MIN, right.1), (left.0, i64::MAX)),
        BinaryOp::Greater => ((more(right.0), i64::MAX), (i64::MIN, less(left.1))),
        BinaryOp::GreaterEqual => ((right.0, i64::MAX), (i64::MIN, left.1)),
        _ => return None,
    })
}

/// Returns an interval that contains the range without the values of another one.
fn without(range: Interval, other: Interval) -> Interval {
    match other.0 == other.1 {
        true if range == other => NONE,
        true if range.0 == other.0 => (more(range.0), range.1),
        true if range.1 == other.0 => (range.0, less(range.1)),
        _ => range,
    }
}

fn less(value: i64) -> i64 {
    value.saturating_sub(1)
}

fn more(value: i64) -> i64 {
    value.saturating_add(1)
}

/// Returns the value modulo the size of a domain, as the domain stores it.
#[inline]
pub fn wrap_into(value: i64, (low, high): Interval) -> i64 {
    if low <= value && value <= high {
        return value;
    }
    // The distance between two 64-bit integers may exceed 64 bits.
    let above = i128::from(value) - i128::from(low);
    let size = i128::from(high) - i128::from(low) + 1;
    (i128::from(low) + above.rem_euclid(size)) as i64
}

/// Returns the range of `operator operand`.
pub fn unary(arithmetic: Arithmetic, operator: UnaryOp, operand: Interval) -> Interval {
    match operator {
        _ if is_none(operand) => NONE,
        UnaryOp::Negate => binary(arithmetic, BinaryOp::Subtract, (0, 0), operand).range,
        UnaryOp::Not => compared(BinaryOp::Equal, operand, (0, 0)),
        UnaryOp::Complement => (!operand.1, !operand.0),
    }
}

/// Returns the range of `left operator right`.
pub fn binary(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    left: Interval,
    right: Interval,
) -> ResultRange {
    let stays = |range| ResultRange { range, may_overflow: false };
    match operator {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => stays(logical(operator, left, right)),
        _ if is_none(left) || is_none(right) => stays(NONE),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => stays(compared(operator, left, right)),
        _ => computed(arithmetic, operator, left, right),
    }
}

/// Returns the range of a logical operator. The right operand matters only if the left one does not decide.
fn logical(operator: BinaryOp, left: Interval, right: Interval) -> Interval {
    let truth = |range| match range {
        range if is_none(range) => NONE,
        range => compared(BinaryOp::NotEqual, range, (0, 0)),
    };
    let (least, most) = truth(left);
    (least..=most).fold(NONE, |all, left| {
        let result = operator.short_circuit_value(left).map_or_else(|| truth(right), |it| (it, it));
        hull(all, result)
    })
}

/// Returns the range of a comparison: from whether it holds for all pairs to whether it holds for any.
fn compared(operator: BinaryOp, left: Interval, right: Interval) -> Interval {
    let ((a, b), (c, d)) = (left, right);
    let (all, any) = match operator {
        BinaryOp::Less => (b < c, a < d),
        BinaryOp::LessEqual => (b <= c, a <= d),
        BinaryOp::Greater => (a > d, b > c),
        BinaryOp::GreaterEqual => (a >= d, b >= c),
        BinaryOp::Equal => (a == d && b == c, a <= d && c <= b),
        _ => (a > d || b < c, a != d || b != c),
    };
    (all.into(), any.into())
}

fn computed(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    left: Interval,
    right: Interval,
) -> ResultRange {
    let counts = |count: i64| count.clamp(0, arithmetic.word() - 1);
    let (low, high) = match operator {
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            mathematical(operator, left, (counts(right.0), counts(right.1)))
        }
        _ => mathematical(operator, left, right),
    };
    let integers = match operator {
        // The results of bit operations are not converted to the arithmetic.
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::ShiftRight => {
            Arithmetic::Checked64.integers()
        }
        _ => arithmetic.integers(),
    };
    let leaves = low < integers.0.into() || high > integers.1.into();
    let range = match arithmetic {
        _ if left.0 == left.1 && right.0 == right.1 => {
            arithmetic.binary(operator, left.0, right.0).map_or(NONE, |value| (value, value))
        }
        Arithmetic::Wrapping32 if leaves => integers,
        // Outside the integers there is no result.
        _ if low > integers.1.into() || high < integers.0.into() => NONE,
        _ => (low.max(integers.0.into()) as i64, high.min(integers.1.into()) as i64),
    };
    ResultRange { range, may_overflow: leaves }
}

/// Returns the least and the greatest result before the conversion to the arithmetic.
fn mathematical(operator: BinaryOp, left: Interval, right: Interval) -> (i128, i128) {
    let [a, b, c, d] = [left.0, left.1, right.0, right.1].map(i128::from);
    match operator {
        BinaryOp::Add => (a + c, b + d),
        BinaryOp::Subtract => (a - d, b - c),
        BinaryOp::Multiply => extremes([a * c, a * d, b * c, b * d]),
        BinaryOp::Divide => {
            let most = a.abs().max(b.abs());
            if a >= 0 && c >= 0 { (0, b) } else { (-most, most) }
        }
        BinaryOp::Remainder => {
            // The sign is that of the dividend, and the absolute value is less than that of the divisor.
            let most = (c.abs().max(d.abs()) - 1).max(0).min(a.abs().max(b.abs()));
            (if a >= 0 { 0 } else { -most }, if b <= 0 { 0 } else { most })
        }
        BinaryOp::ShiftLeft => {
            let (least, most) = (c as u32, d as u32);
            extremes([a << least, a << most, b << least, b << most])
        }
        BinaryOp::ShiftRight => {
            let (least, most) = (c as u32, d as u32);
            extremes([a >> least, a >> most, b >> least, b >> most])
        }
        BinaryOp::BitAnd if a >= 0 || c >= 0 => {
            // The sign bit of a non-negative operand is 0, and so are the bits above its highest one.
            let highest = [(a, b), (c, d)].into_iter().filter(|range| range.0 >= 0);
            (0, highest.map(|range| range.1).min().unwrap_or_default())
        }
        _ => {
            // All values that need no more bits than the operands.
            let bits = [a, b, c, d].into_iter().map(needed_bits).max().unwrap_or_default();
            let most = (1i128 << bits) - 1;
            (if a < 0 || c < 0 { -most - 1 } else { 0 }, most)
        }
    }
}

fn extremes(values: [i128; 4]) -> (i128, i128) {
    let least = values.into_iter().min().unwrap_or_default();
    (least, values.into_iter().max().unwrap_or_default())
}

/// Returns the number of bits of a two's complement integer without its sign.
fn needed_bits(value: i128) -> u32 {
    let magnitude = if value < 0 { !value } else { value };
    128 - magnitude.leading_zeros()
}
