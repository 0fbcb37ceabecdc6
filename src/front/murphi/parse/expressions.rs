//! Expressions.
//!
//! | operators, the tightest first | lean |
//! | --- | --- |
//! | `-x` `+x` `~x` | |
//! | `*` `/` `%` | left |
//! | `+` `-` | left |
//! | `<<` `>>` | left |
//! | `<` `<=` `=` `!=` `>=` `>` | neither |
//! | `!x` | |
//! | `&` | left |
//! | `^` | left |
//! | <code>\|</code> | left |
//! | `->` | right |
//! | `c ? a : b` | right |
//!
//! So `!a = b` is `!(a = b)`, as CMurphi and Rumur have it.

use super::{Open, Parser};
use crate::diag::Diagnostic;
use crate::front::murphi::ast::*;
use crate::front::murphi::lex::TokenKind;
use crate::front::token::{Parse, Parsed};
use crate::ir::{Binary, Quantifier as Which, Unary};
use crate::source::Span;
use crate::trees::joined;

/// Operators that lean to the left, level by level, the loosest first.
const LEVELS: [&[(TokenKind, Binary)]; 3] = [
    &[(TokenKind::Or, Binary::Or)],
    &[(TokenKind::Caret, Binary::BitXor)],
    &[(TokenKind::And, Binary::And)],
];

/// The same, tighter than comparisons.
const TIGHT_LEVELS: [&[(TokenKind, Binary)]; 3] = [
    &[(TokenKind::ShiftLeft, Binary::ShiftLeft), (TokenKind::ShiftRight, Binary::ShiftRight)],
    &[(TokenKind::Plus, Binary::Add), (TokenKind::Minus, Binary::Subtract)],
    &[
        (TokenKind::Star, Binary::Multiply),
        (TokenKind::Slash, Binary::Divide),
        (TokenKind::Percent, Binary::Remainder),
    ],
];

const COMPARISONS: &[(TokenKind, Binary)] = &[
    (TokenKind::Equal, Binary::Equal),
    // Rumur's.
    (TokenKind::DoubleEqual, Binary::Equal),
    (TokenKind::NotEqual, Binary::NotEqual),
    (TokenKind::Less, Binary::Less),
    (TokenKind::LessEqual, Binary::LessEqual),
    (TokenKind::Greater, Binary::Greater),
    (TokenKind::GreaterEqual, Binary::GreaterEqual),
];

/// So many operators of one level may follow each other, but for `&` and `|`: the tree that they make
/// is as high, and everything that walks it goes as deep.
const IN_A_ROW_MAX: usize = 1000;

impl<'a> Parser<'a> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr<'a>> {
        self.deeper(Self::conditional)
    }

    fn conditional(&mut self) -> Parsed<Expr<'a>> {
        let condition = self.implication()?;
        if !self.eat(TokenKind::Question)? {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(TokenKind::Colon)?;
        let otherwise = self.expression()?;
        let span = condition.span.to(otherwise.span);
        let parts = (Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr { kind: ExprKind::Conditional(parts.0, parts.1, parts.2), span })
    }

    fn implication(&mut self) -> Parsed<Expr<'a>> {
        let left = self.leaning(&LEVELS, Self::negation)?;
        match self.eat(TokenKind::Arrow)? {
            true => {
                let right = self.deeper(Self::implication)?;
                Ok(binary(Binary::Implies, left, right))
            }
            false => Ok(left),
        }
    }

    /// Operations that lean to the left, of operands that `tighter` parses.
    fn leaning(
        &mut self,
        levels: &[&[(TokenKind, Binary)]],
        tighter: fn(&mut Self) -> Parsed<Expr<'a>>,
    ) -> Parsed<Expr<'a>> {
        let Some((level, rest)) = levels.split_first() else { return tighter(self) };
        let mut left = self.leaning(rest, tighter)?;
        let mut operators = 0;
        while let Some(operator) = self.operator(level)? {
            if matches!(operator, Binary::And | Binary::Or) {
                return self.junction(operator, level, left, rest, tighter);
            }
            operators += 1;
            if operators > IN_A_ROW_MAX {
                let error =
                    format!("this expression has more than {IN_A_ROW_MAX} operators in a row");
                return Err(Diagnostic::error(self.last(), error)
                    .help("compute a part of it in a statement of its own"));
            }
            left = binary(operator, left, self.leaning(rest, tighter)?);
        }
        Ok(left)
    }

    /// A conjunction or disjunction, one operator of which has been read. Of many operands a tree of
    /// least height is made: it means the same, as they are judged in the same order.
    fn junction(
        &mut self,
        operator: Binary,
        level: &[(TokenKind, Binary)],
        left: Expr<'a>,
        rest: &[&[(TokenKind, Binary)]],
        tighter: fn(&mut Self) -> Parsed<Expr<'a>>,
    ) -> Parsed<Expr<'a>> {
        let mut operands = vec![left, self.leaning(rest, tighter)?];
        while self.operator(level)?.is_some() {
            operands.push(self.leaning(rest, tighter)?);
        }
        let joined = joined(operands, |left, right| binary(operator, left, right));
        Ok(joined.unwrap_or_else(|| unreachable!("there are two operands at least")))
    }

    fn operator(&mut self, level: &[(TokenKind, Binary)]) -> Parsed<Option<Binary>> {
        let found = level.iter().find(|(kind, _)| *kind == self.kind());
        if found.is_some() {
            self.advance()?;
        }
        Ok(found.map(|(_, operator)| *operator))
    }

    fn negation(&mut self) -> Parsed<Expr<'a>> {
        match self.kind() {
            TokenKind::Not => self.prefixed(Unary::Not, Self::negation),
            _ => self.comparison(),
        }
    }

    /// A prefix operator and its operand.
    fn prefixed(
        &mut self,
        operator: Unary,
        operand: fn(&mut Self) -> Parsed<Expr<'a>>,
    ) -> Parsed<Expr<'a>> {
        let start = self.advance()?.span;
        let operand = self.deeper(operand)?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span })
    }

    fn comparison(&mut self) -> Parsed<Expr<'a>> {
        let left = self.operation()?;
        let Some(operator) = self.operator(COMPARISONS)? else { return Ok(left) };
        let right = match self.kind() {
            // `x = !y` has only one reading, whatever the levels say.
            TokenKind::Not => self.prefixed(Unary::Not, Self::operation)?,
            _ => self.operation()?,
        };
        if COMPARISONS.iter().any(|(kind, _)| *kind == self.kind()) {
            return Err(Diagnostic::error(self.here(), "comparisons do not chain")
                .help("join them with `&`"));
        }
        Ok(binary(operator, left, right))
    }

    /// An operation on numbers, or less.
    pub(super) fn operation(&mut self) -> Parsed<Expr<'a>> {
        self.leaning(&TIGHT_LEVELS, Self::signed)
    }

    fn signed(&mut self) -> Parsed<Expr<'a>> {
        match self.kind() {
            TokenKind::Minus => self.prefixed(Unary::Negate, Self::signed),
            TokenKind::Tilde => self.prefixed(Unary::Complement, Self::signed),
            TokenKind::Plus => {
                self.advance()?;
                self.deeper(Self::signed)
            }
            _ => self.designator(),
        }
    }

    /// Something with the fields and elements taken from it.
    pub(super) fn designator(&mut self) -> Parsed<Expr<'a>> {
        let mut expr = self.primary()?;
        let mut parts = 0;
        loop {
            if matches!(self.kind(), TokenKind::Dot | TokenKind::BracketOpen) {
                parts += 1;
                if parts > MAX_DEPTH {
                    let error = format!("this names a part of a part more than {MAX_DEPTH} deep");
                    return Err(Diagnostic::error(self.here(), error)
                        .help("no type is nested as deep: is a comma or an operator missing?"));
                }
            }
            let kind = match self.kind() {
                TokenKind::Dot => {
                    self.advance()?;
                    ExprKind::Field(Box::new(expr), self.name("the name of a field")?)
                }
                TokenKind::BracketOpen => {
                    self.advance()?;
                    let index = Box::new(self.expression()?);
                    self.expect(TokenKind::BracketClose)?;
                    ExprKind::Index(Box::new(expr), index)
                }
                _ => return Ok(expr),
            };
            let start = match &kind {
                ExprKind::Field(of, _) | ExprKind::Index(of, _) => of.span,
                _ => self.last(),
            };
            expr = Expr { kind, span: start.to(self.last()) };
        }
    }

    fn primary(&mut self) -> Parsed<Expr<'a>> {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Number => self.number()?,
            TokenKind::Name => {
                let name = self.name("a name")?;
                match self.kind() {
                    TokenKind::ParenOpen => ExprKind::Call(name, self.arguments()?),
                    _ => ExprKind::Name(name.text),
                }
            }
            TokenKind::Undefined => {
                self.advance()?;
                ExprKind::Undefined
            }
            TokenKind::ParenOpen => {
                self.advance()?;
                let inner = self.expression()?;
                self.expect(TokenKind::ParenClose)?;
                return Ok(Expr { span: start.to(self.last()), ..inner });
            }
            TokenKind::Forall | TokenKind::ForallSign => {
                self.quantified(Which::All, TokenKind::EndForall)?
            }
            TokenKind::Exists | TokenKind::ExistsSign => {
                self.quantified(Which::Some, TokenKind::EndExists)?
            }
            TokenKind::IsUndefined => {
                self.advance()?;
                self.expect(TokenKind::ParenOpen)?;
                let inner = Box::new(self.expression()?);
                self.expect(TokenKind::ParenClose)?;
                ExprKind::IsUndefined(inner)
            }
            TokenKind::IsMember => {
                self.advance()?;
                self.expect(TokenKind::ParenOpen)?;
                let inner = Box::new(self.expression()?);
                self.expect(TokenKind::Comma)?;
                let ty = Box::new(self.type_expr()?);
                self.expect(TokenKind::ParenClose)?;
                ExprKind::IsMember(inner, ty)
            }
            TokenKind::MultisetCount => {
                self.advance()?;
                let (name, multiset, condition) = self.filter()?;
                ExprKind::Count(name, Box::new(multiset), Box::new(condition))
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { kind, span: start.to(self.last()) })
    }

    fn number(&mut self) -> Parsed<ExprKind<'a>> {
        let span = self.advance()?.span;
        let text = self.text(span);
        let value = match text.get(..2) {
            Some("0x" | "0X") => i64::from_str_radix(&text[2..], 16),
            _ => text.parse(),
        };
        // Rumur reads what begins with 0 as C does.
        let octal = text.strip_prefix('0').and_then(|it| i64::from_str_radix(it, 8).ok());
        if let (Ok(value), Some(octal)) = (&value, octal)
            && *value != octal
        {
            let message = format!("CMurphi takes this number for {value}, Rumur for {octal}");
            return Err(
                Diagnostic::error(span, message).help("write it without the zero before it")
            );
        }
        match value {
            Ok(value) => Ok(ExprKind::Number(value)),
            Err(_) => Err(Diagnostic::error(span, "this number does not fit 64 bits")),
        }
    }

    /// `(e, e)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr<'a>>> {
        self.expect(TokenKind::ParenOpen)?;
        let mut arguments = Vec::new();
        while self.kind() != TokenKind::ParenClose {
            arguments.push(self.expression()?);
            if !self.eat(TokenKind::Comma)? {
                break;
            }
        }
        self.expect(TokenKind::ParenClose)?;
        Ok(arguments)
    }

    /// `(x: m, e)`
    pub(super) fn filter(&mut self) -> Parsed<(Name<'a>, Expr<'a>, Expr<'a>)> {
        self.expect(TokenKind::ParenOpen)?;
        let name = self.name("a name for an element")?;
        self.expect(TokenKind::Colon)?;
        let multiset = self.designator()?;
        self.expect(TokenKind::Comma)?;
        let condition = self.expression()?;
        self.expect(TokenKind::ParenClose)?;
        Ok((name, multiset, condition))
    }

    fn quantified(&mut self, which: Which, closer: TokenKind) -> Parsed<ExprKind<'a>> {
        let open = Open { closer, span: self.advance()?.span };
        let quantifiers = self.quantifiers()?;
        let body = Box::new(self.expression()?);
        self.close(open)?;
        Ok(ExprKind::Quantified(which, quantifiers, body))
    }

    /// `x: T; y := a to b by c do`, the `do` included.
    pub(super) fn quantifiers(&mut self) -> Parsed<Vec<Quantifier<'a>>> {
        let mut quantifiers = vec![self.quantifier()?];
        while self.eat(TokenKind::Semicolon)? || self.eat(TokenKind::Comma)? {
            quantifiers.push(self.quantifier()?);
            self.at_most_in_a_list(quantifiers.len())?;
        }
        self.do_()?;
        Ok(quantifiers)
    }

    /// `do`, or the colon that may stand for it.
    pub(super) fn do_(&mut self) -> Parsed<()> {
        match self.kind() {
            TokenKind::Do | TokenKind::Colon => self.advance().map(drop),
            _ => Err(self.unexpected("`do`")),
        }
    }

    fn quantifier(&mut self) -> Parsed<Quantifier<'a>> {
        let name = self.name("a name")?;
        if self.eat(TokenKind::Colon)? {
            return Ok(Quantifier { name, over: Range::Type(self.type_expr()?) });
        }
        if !self.eat(TokenKind::Assign)? {
            return Err(self.unexpected("`:` and a type, or `:=` and a range"));
        }
        let first = self.expression()?;
        self.expect(TokenKind::To)?;
        let last = self.expression()?;
        let step = if self.eat(TokenKind::By)? { Some(self.expression()?) } else { None };
        Ok(Quantifier { name, over: Range::Values { first, last, step } })
    }
}

fn binary<'a>(operator: Binary, left: Expr<'a>, right: Expr<'a>) -> Expr<'a> {
    let span: Span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}
