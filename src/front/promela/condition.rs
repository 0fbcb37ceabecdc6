//! The value of an `#if` condition: a constant expression in which unknown names are 0.

use super::token::{Kind, Token};
use crate::diag::Diagnostic;
use crate::source::Span;

/// The value of the tokens of a condition, which stands at `span`.
pub fn evaluate(tokens: &[Token], span: Span) -> Result<i64, Diagnostic> {
    let mut reader = Reader { tokens, at: 0, depth: 0, span };
    let value = reader.binary(0)?;
    match reader.tokens.get(reader.at) {
        None => Ok(value),
        Some(token) => reader.wrong(token.span),
    }
}

/// The operators of two operands, weakest first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>", "+", "-"],
    &["*", "/", "%"],
];

/// The deepest nest of brackets and signs.
const DEPTH_MAX: u32 = 100;

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    /// The number of operands that the one being read is part of.
    depth: u32,
    span: Span,
}

impl Reader<'_> {
    fn wrong<T>(&self, span: Span) -> Result<T, Diagnostic> {
        Err(Diagnostic::error(span, "this condition is no constant expression"))
    }

    fn binary(&mut self, level: usize) -> Result<i64, Diagnostic> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.sign().filter(|sign| operators.contains(sign)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn sign(&self) -> Option<&'static str> {
        match self.tokens.get(self.at)?.kind {
            Kind::Sign(sign) => Some(sign),
            _ => None,
        }
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
            _ if right == 0 => {
                return Err(Diagnostic::error(self.span, "this condition divides by zero"));
            }
            "/" => left.wrapping_div(right),
            _ => left.wrapping_rem(right),
        })
    }

    fn unary(&mut self) -> Result<i64, Diagnostic> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Diagnostic::error(self.span, "this condition is nested too deeply"));
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Result<i64, Diagnostic> {
        let Some(token) = self.tokens.get(self.at) else { return self.wrong(self.span) };
        self.at += 1;
        match &token.kind {
            Kind::Number(value) => Ok(*value),
            Kind::Name(_) => Ok(0),
            Kind::Sign("!") => Ok((self.unary()? == 0).into()),
            Kind::Sign("-") => Ok(self.unary()?.wrapping_neg()),
            Kind::Sign("+") => self.unary(),
            Kind::Sign("~") => Ok(!self.unary()?),
            Kind::Sign("(") => {
                let value = self.binary(0)?;
                match self.sign() {
                    Some(")") => {
                        self.at += 1;
                        Ok(value)
                    }
                    _ => self.wrong(token.span),
                }
            }
            _ => self.wrong(token.span),
        }
    }
}
