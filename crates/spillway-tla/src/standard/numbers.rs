//! Integers of 32 bits: Naturals, Integers, Bitwise, Combinatorics.

use super::{Failure, FailureReason, Operands, Outcome, integer, operand};
use crate::library::StandardOperator;
use crate::value::Value;

/// Calls an operator of this module.
pub fn call(operator: StandardOperator, operands: &Operands) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    if operator == Negate || operator == BitwiseNot {
        return Some(unary(operator, operand_or_zero(operands)));
    }
    if !is_binary(operator) {
        return None;
    }
    Some(binary(operator, operand(operands, 0), operand(operands, 1)))
}

fn operand_or_zero(operands: &Operands) -> &Value {
    const ZERO: &Value = &Value::Int(0);
    operands.first().and_then(Option::as_ref).unwrap_or(ZERO)
}

/// Returns whether the operator has two integers as operands.
pub fn is_binary(operator: StandardOperator) -> bool {
    use StandardOperator::*;
    matches!(
        operator,
        Add | Subtract
            | Multiply
            | Power
            | Less
            | Greater
            | LessOrEqual
            | GreaterOrEqual
            | Modulo
            | IntegerDivide
            | Range
            | BitwiseAnd
            | BitwiseOr
            | BitwiseXor
            | ShiftRight
            | Binomial
    )
}

fn unary(operator: StandardOperator, operand: &Value) -> Outcome<Value> {
    let number = integer(operator.name(), operand)?;
    match operator {
        StandardOperator::Negate => number.checked_neg(),
        StandardOperator::BitwiseNot => Some(!number),
        _ => None,
    }
    .map(Value::Int)
    .ok_or_else(|| overflow(operator, operand, operand))
}

/// Applies an operator to two integers.
///
/// # Errors
///
/// An operand is no integer, the result leaves 32 bits, or the operator is not defined for the operands.
pub fn binary(operator: StandardOperator, left: &Value, right: &Value) -> Outcome<Value> {
    use StandardOperator::*;
    let (one, two) = (integer(operator.name(), left)?, integer(operator.name(), right)?);
    let number = match operator {
        Less => return Ok(Value::Bool(one < two)),
        Greater => return Ok(Value::Bool(one > two)),
        LessOrEqual => return Ok(Value::Bool(one <= two)),
        GreaterOrEqual => return Ok(Value::Bool(one >= two)),
        Range => return Ok(Value::Interval(one, two)),
        Add => one.checked_add(two),
        Subtract => one.checked_sub(two),
        Multiply => one.checked_mul(two),
        Power => power(one, two)?,
        Modulo => Some(modulo(one, two)?),
        IntegerDivide => divide(one, two)?,
        BitwiseAnd => Some(one & two),
        BitwiseOr => Some(one | two),
        BitwiseXor => Some(one ^ two),
        ShiftRight => Some(one.checked_shr(two as u32).unwrap_or(0)),
        Binomial => binomial(one, two),
        _ => None,
    };
    number.map(Value::Int).ok_or_else(|| overflow(operator, left, right))
}

#[cold]
fn overflow(operator: StandardOperator, left: &Value, right: &Value) -> Box<Failure> {
    let failure = Failure::new(FailureReason::Overflow { operator: operator.name() });
    failure.with("left", left).with("right", right)
}

fn invalid_divisor(operator: &'static str, requirement: &'static str) -> Box<Failure> {
    Failure::new(FailureReason::InvalidDivisor { operator, requirement })
}

/// Division rounds down, so that `a = b * (a \div b) + a % b`.
fn divide(one: i32, two: i32) -> Outcome<Option<i32>> {
    if two == 0 {
        return Err(invalid_divisor("\\div", "not be zero"));
    }
    let quotient = one.checked_div(two);
    let is_rounded_up = one.checked_rem(two).is_some_and(|it| it != 0) && (one < 0) != (two < 0);
    Ok(quotient.map(|it| it - i32::from(is_rounded_up)))
}

fn modulo(one: i32, two: i32) -> Outcome<i32> {
    if two <= 0 {
        return Err(invalid_divisor("%", "be positive"));
    }
    Ok(one.rem_euclid(two))
}

fn power(base: i32, exponent: i32) -> Outcome<Option<i32>> {
    if exponent < 0 {
        return Err(invalid_divisor("^", "not be negative"));
    }
    if base == 0 && exponent == 0 {
        return Err(Failure::new(FailureReason::OutOfRange { operator: "^" }));
    }
    Ok(base.checked_pow(exponent as u32))
}

fn binomial(n: i32, k: i32) -> Option<i32> {
    if k < 0 || k > n {
        return Some(0);
    }
    let mut result = 1_i64;
    for step in 1..=i64::from(k.min(n - k)) {
        result = result.checked_mul(i64::from(n) + 1 - step)? / step;
    }
    i32::try_from(result).ok()
}
