//! The evaluator of `#if` conditions: constant expressions in which unknown names are 0.

use super::token::{PromelaToken, PromelaTokenKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// Evaluates the tokens of a condition at `span`.
pub fn evaluate(tokens: &[PromelaToken], span: Span) -> Result<i64, Diagnostic> {
    let mut reader = ConditionEvaluator { tokens, at: 0, depth: 0, span, is_needed: true };
    let value = reader.whole()?;
    match reader.tokens.get(reader.at) {
        None => Ok(value),
        Some(token) => reader.wrong(token.span),
    }
}

/// The binary operators, weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// The maximum nesting of brackets, signs and conditional expressions.
const DEPTH_MAX: u32 = 200;

struct ConditionEvaluator<'a> {
    tokens: &'a [PromelaToken],
    at: usize,
    /// The nesting depth of the current operand.
    depth: u32,
    span: Span,
    /// Whether the value of the current part matters, so that an undefined value is an error.
    is_needed: bool,
}

impl ConditionEvaluator<'_> {
    fn wrong<T>(&self, span: Span) -> Result<T, Diagnostic> {
        Err(Diagnostic::error(span, "this condition is no constant expression"))
    }

    /// Evaluates an expression with commas; the value is that of the last operand.
    fn whole(&mut self) -> Result<i64, Diagnostic> {
        let mut value = self.choice()?;
        while self.accept(",") {
            value = self.choice()?;
        }
        Ok(value)
    }

    /// Evaluates an expression, which may be conditional (`? :`).
    fn choice(&mut self) -> Result<i64, Diagnostic> {
        self.within(|reader| {
            let condition = reader.binary(0)?;
            if !reader.accept("?") {
                return Ok(condition);
            }
            let then = reader.only_if(condition != 0, Self::whole)?;
            if !reader.accept(":") {
                return reader.wrong(reader.next_span());
            }
            let otherwise = reader.only_if(condition == 0, Self::choice)?;
            Ok(if condition != 0 { then } else { otherwise })
        })
    }

    fn binary(&mut self, level: usize) -> Result<i64, Diagnostic> {
        let Some(operators) = LEVELS.get(level) else { return self.within(Self::operand) };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.sign().filter(|sign| operators.contains(sign)) {
            self.at += 1;
            let matters = match operator {
                "||" => left == 0,
                "&&" => left != 0,
                _ => true,
            };
            let right = self.only_if(matters, |reader| reader.binary(level + 1))?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    /// Reads a part whose value matters only under a condition.
    fn only_if(
        &mut self,
        matters: bool,
        read: impl FnOnce(&mut Self) -> Result<i64, Diagnostic>,
    ) -> Result<i64, Diagnostic> {
        let around = self.is_needed;
        self.is_needed &= matters;
        let value = read(self);
        self.is_needed = around;
        value
    }

    /// Reads a part, and rejects nesting that is too deep.
    fn within(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<i64, Diagnostic>,
    ) -> Result<i64, Diagnostic> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Diagnostic::error(self.span, "this condition is nested too deeply"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn next_span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.span, |token| token.span)
    }

    fn sign(&self) -> Option<&'static str> {
        match self.tokens.get(self.at)?.kind {
            PromelaTokenKind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = self.sign() == Some(sign);
        self.at += usize::from(found);
        found
    }

    fn apply(&self, operator: &str, left: i64, right: i64) -> Result<i64, Diagnostic> {
        Ok(match operator {
            "||" => (left != 0 || right != 0).into(),
            "&&" => (left != 0 && right != 0).into(),
            "|" => left | right,
            "^" => left ^ right,
            "&" => left & right,
            "==" => (left == right).into(),
            "!=" => (left != right).into(),
            "<" => (left < right).into(),
            ">" => (left > right).into(),
            "<=" => (left <= right).into(),
            ">=" => (left >= right).into(),
            "<<" => left.wrapping_shl(right as u32),
            ">>" => left.wrapping_shr(right as u32),
            "+" => left.wrapping_add(right),
            "-" => left.wrapping_sub(right),
            "*" => left.wrapping_mul(right),
            _ if right == 0 && !self.is_needed => 0,
            _ if right == 0 => {
                return Err(Diagnostic::error(self.span, "this condition divides by zero"));
            }
            "/" => left.wrapping_div(right),
            _ => left.wrapping_rem(right),
        })
    }

    fn operand(&mut self) -> Result<i64, Diagnostic> {
        let Some(token) = self.tokens.get(self.at) else { return self.wrong(self.span) };
        self.at += 1;
        match &token.kind {
            PromelaTokenKind::Number(value) => {
                Ok(token.spelling.as_deref().and_then(number).unwrap_or(*value))
            }
            PromelaTokenKind::Name(_) => Ok(0),
            PromelaTokenKind::Sign("!") => Ok((self.within(Self::operand)? == 0).into()),
            PromelaTokenKind::Sign("!!") => Ok((self.within(Self::operand)? != 0).into()),
            PromelaTokenKind::Sign("-") => Ok(self.within(Self::operand)?.wrapping_neg()),
            PromelaTokenKind::Sign("+") => self.within(Self::operand),
            PromelaTokenKind::Sign("~") => Ok(!self.within(Self::operand)?),
            PromelaTokenKind::Sign("(") => {
                let value = self.whole()?;
                match self.accept(")") {
                    true => Ok(value),
                    false => self.wrong(token.span),
                }
            }
            _ => self.wrong(token.span),
        }
    }
}

/// Returns the value of a number as in C's preprocessor: 64 bits, and octal after a leading 0.
fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match (digits.strip_prefix("0x").or(digits.strip_prefix("0X")), digits) {
        (Some(hexadecimal), _) => u64::from_str_radix(hexadecimal, 16),
        (None, "0") => Ok(0),
        (None, digits) => match digits.strip_prefix('0') {
            Some(octal) => u64::from_str_radix(octal, 8),
            None => digits.parse(),
        },
    };
    value.ok().map(|value| value as i64)
}
