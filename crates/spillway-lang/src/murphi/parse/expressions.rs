//! The parser of expressions.
//!
//! | operators, the tightest first | associativity |
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

use super::{MurphiParser, OpenConstruct};
use crate::murphi::ast::*;
use crate::murphi::lex::TokenKind;
use crate::token::{ParseResult, TokenParser};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_base::trees::joined;
use spillway_ir::{BinaryOp, Quantifier as Which, UnaryOp};

/// Left-associative operators, level by level, the loosest first.
const LEVELS: [&[(TokenKind, BinaryOp)]; 3] = [
    &[(TokenKind::Or, BinaryOp::Or)],
    &[(TokenKind::Caret, BinaryOp::BitXor)],
    &[(TokenKind::And, BinaryOp::And)],
];

/// Left-associative operators that bind tighter than comparisons.
const TIGHT_LEVELS: [&[(TokenKind, BinaryOp)]; 3] = [
    &[(TokenKind::ShiftLeft, BinaryOp::ShiftLeft), (TokenKind::ShiftRight, BinaryOp::ShiftRight)],
    &[(TokenKind::Plus, BinaryOp::Add), (TokenKind::Minus, BinaryOp::Subtract)],
    &[
        (TokenKind::Star, BinaryOp::Multiply),
        (TokenKind::Slash, BinaryOp::Divide),
        (TokenKind::Percent, BinaryOp::Remainder),
    ],
];

const COMPARISONS: &[(TokenKind, BinaryOp)] = &[
    (TokenKind::Equal, BinaryOp::Equal),
    // Rumur's operator.
    (TokenKind::DoubleEqual, BinaryOp::Equal),
    (TokenKind::NotEqual, BinaryOp::NotEqual),
    (TokenKind::Less, BinaryOp::Less),
    (TokenKind::LessEqual, BinaryOp::LessEqual),
    (TokenKind::Greater, BinaryOp::Greater),
    (TokenKind::GreaterEqual, BinaryOp::GreaterEqual),
];

/// The maximum number of consecutive operators of one level, except `&` and `|`: the height of their tree, and so the
/// depth of recursion, is this number.
const OPERATORS_MAX: usize = 1000;

impl<'a> MurphiParser<'a> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> ParseResult<MurphiExpr<'a>> {
        self.nested(Self::conditional)
    }

    fn conditional(&mut self) -> ParseResult<MurphiExpr<'a>> {
        let condition = self.implication()?;
        if !self.eat(TokenKind::Question)? {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(TokenKind::Colon)?;
        let otherwise = self.expression()?;
        let span = condition.span.to(otherwise.span);
        let parts = (Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(MurphiExpr { kind: MurphiExprKind::Conditional(parts.0, parts.1, parts.2), span })
    }

    fn implication(&mut self) -> ParseResult<MurphiExpr<'a>> {
        let left = self.left_associative(&LEVELS, Self::negation)?;
        match self.eat(TokenKind::Arrow)? {
            true => {
                let right = self.nested(Self::implication)?;
                Ok(binary(BinaryOp::Implies, left, right))
            }
            false => Ok(left),
        }
    }

    /// Parses left-associative operations on operands that `tighter` parses.
    fn left_associative(
        &mut self,
        levels: &[&[(TokenKind, BinaryOp)]],
        tighter: fn(&mut Self) -> ParseResult<MurphiExpr<'a>>,
    ) -> ParseResult<MurphiExpr<'a>> {
        let Some((level, rest)) = levels.split_first() else { return tighter(self) };
        let mut left = self.left_associative(rest, tighter)?;
        let mut operators = 0;
        while let Some(operator) = self.operator(level)? {
            if matches!(operator, BinaryOp::And | BinaryOp::Or) {
                return self.junction(operator, levels, left, tighter);
            }
            operators += 1;
            if operators > OPERATORS_MAX {
                let error =
                    format!("this expression has more than {OPERATORS_MAX} operators in a row");
                return Err(Diagnostic::error(self.last_span(), error)
                    .help("compute a part of it in a statement of its own"));
            }
            left = binary(operator, left, self.left_associative(rest, tighter)?);
        }
        Ok(left)
    }

    /// Parses a conjunction or disjunction, after one operator of the first of `levels`. Its operands form a tree of
    /// minimum height, which is equivalent because the order of evaluation is the same.
    fn junction(
        &mut self,
        operator: BinaryOp,
        levels: &[&[(TokenKind, BinaryOp)]],
        left: MurphiExpr<'a>,
        tighter: fn(&mut Self) -> ParseResult<MurphiExpr<'a>>,
    ) -> ParseResult<MurphiExpr<'a>> {
        let (level, rest) = (levels[0], &levels[1..]);
        let mut operands = vec![left, self.left_associative(rest, tighter)?];
        while self.operator(level)?.is_some() {
            operands.push(self.left_associative(rest, tighter)?);
        }
        let joined = joined(operands, |left, right| binary(operator, left, right));
        Ok(joined.unwrap_or_else(|| unreachable!("there are two operands at least")))
    }

    fn operator(&mut self, level: &[(TokenKind, BinaryOp)]) -> ParseResult<Option<BinaryOp>> {
        let found = level.iter().find(|(kind, _)| *kind == self.kind());
        if found.is_some() {
            self.advance()?;
        }
        Ok(found.map(|(_, operator)| *operator))
    }

    fn negation(&mut self) -> ParseResult<MurphiExpr<'a>> {
        match self.kind() {
            TokenKind::Not => self.prefixed(UnaryOp::Not, Self::negation),
            _ => self.comparison(),
        }
    }

    /// Parses a prefix operator and its operand.
    fn prefixed(
        &mut self,
        operator: UnaryOp,
        operand: fn(&mut Self) -> ParseResult<MurphiExpr<'a>>,
    ) -> ParseResult<MurphiExpr<'a>> {
        let start = self.advance()?.span;
        let operand = self.nested(operand)?;
        let span = start.to(operand.span);
        Ok(MurphiExpr { kind: MurphiExprKind::Unary(operator, Box::new(operand)), span })
    }

    fn comparison(&mut self) -> ParseResult<MurphiExpr<'a>> {
        let left = self.operation()?;
        let Some(operator) = self.operator(COMPARISONS)? else { return Ok(left) };
        let right = match self.kind() {
            // `x = !y` is unambiguous, whatever the precedences.
            TokenKind::Not => self.prefixed(UnaryOp::Not, Self::operation)?,
            _ => self.operation()?,
        };
        if COMPARISONS.iter().any(|(kind, _)| *kind == self.kind()) {
            return Err(Diagnostic::error(self.next_span(), "comparisons do not chain")
                .help("join them with `&`"));
        }
        Ok(binary(operator, left, right))
    }

    /// Parses an operation on numbers, or a simpler expression.
    pub(super) fn operation(&mut self) -> ParseResult<MurphiExpr<'a>> {
        self.left_associative(&TIGHT_LEVELS, Self::signed)
    }

    fn signed(&mut self) -> ParseResult<MurphiExpr<'a>> {
        match self.kind() {
            TokenKind::Minus => self.prefixed(UnaryOp::Negate, Self::signed),
            TokenKind::Tilde => self.prefixed(UnaryOp::Complement, Self::signed),
            TokenKind::Plus => {
                self.advance()?;
                self.nested(Self::signed)
            }
            _ => self.designator(),
        }
    }

    /// Parses a designator: an operand followed by fields and indices.
    pub(super) fn designator(&mut self) -> ParseResult<MurphiExpr<'a>> {
        let mut expr = self.primary()?;
        let mut parts = 0;
        loop {
            if matches!(self.kind(), TokenKind::Dot | TokenKind::BracketOpen) {
                parts += 1;
                if parts > MAX_DEPTH {
                    let error = format!("this names a part of a part more than {MAX_DEPTH} deep");
                    return Err(Diagnostic::error(self.next_span(), error)
                        .help("no type is nested as deep: is a comma or an operator missing?"));
                }
            }
            let kind = match self.kind() {
                TokenKind::Dot => {
                    self.advance()?;
                    MurphiExprKind::Field(Box::new(expr), self.name("the name of a field")?)
                }
                TokenKind::BracketOpen => {
                    self.advance()?;
                    let index = Box::new(self.expression()?);
                    self.expect(TokenKind::BracketClose)?;
                    MurphiExprKind::Index(Box::new(expr), index)
                }
                _ => return Ok(expr),
            };
            let start = match &kind {
                MurphiExprKind::Field(of, _) | MurphiExprKind::Index(of, _) => of.span,
                _ => self.last_span(),
            };
            expr = MurphiExpr { kind, span: start.to(self.last_span()) };
        }
    }

    fn primary(&mut self) -> ParseResult<MurphiExpr<'a>> {
        let start = self.next_span();
        let kind = match self.kind() {
            TokenKind::Number => self.number()?,
            TokenKind::Name => {
                let name = self.name("a name")?;
                match self.kind() {
                    TokenKind::ParenOpen => MurphiExprKind::Call(name, self.arguments()?),
                    _ => MurphiExprKind::Name(name.text),
                }
            }
            TokenKind::Undefined => {
                self.advance()?;
                MurphiExprKind::Undefined
            }
            TokenKind::ParenOpen => {
                self.advance()?;
                let inner = self.expression()?;
                self.expect(TokenKind::ParenClose)?;
                return Ok(MurphiExpr { span: start.to(self.last_span()), ..inner });
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
                MurphiExprKind::IsUndefined(inner)
            }
            TokenKind::IsMember => {
                self.advance()?;
                self.expect(TokenKind::ParenOpen)?;
                let inner = Box::new(self.expression()?);
                self.expect(TokenKind::Comma)?;
                let ty = Box::new(self.type_expr()?);
                self.expect(TokenKind::ParenClose)?;
                MurphiExprKind::IsMember(inner, ty)
            }
            TokenKind::MultisetCount => {
                self.advance()?;
                MurphiExprKind::Count(Box::new(self.filter()?))
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(MurphiExpr { kind, span: start.to(self.last_span()) })
    }

    fn number(&mut self) -> ParseResult<MurphiExprKind<'a>> {
        let span = self.advance()?.span;
        let text = self.text(span);
        let value = match text.get(..2) {
            Some("0x" | "0X") => i64::from_str_radix(&text[2..], 16),
            _ => text.parse(),
        };
        // Rumur reads numbers with a leading 0 as octal, like C.
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
            Ok(value) => Ok(MurphiExprKind::Number(value)),
            Err(_) => Err(Diagnostic::error(span, "this number does not fit 64 bits")),
        }
    }

    /// Parses `(e, e)`.
    pub(super) fn arguments(&mut self) -> ParseResult<Vec<MurphiExpr<'a>>> {
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

    /// Parses `(x: m, e)`.
    pub(super) fn filter(&mut self) -> ParseResult<MultisetFilter<'a>> {
        self.expect(TokenKind::ParenOpen)?;
        let name = self.name("a name for an element")?;
        self.expect(TokenKind::Colon)?;
        let multiset = self.designator()?;
        self.expect(TokenKind::Comma)?;
        let condition = self.expression()?;
        self.expect(TokenKind::ParenClose)?;
        Ok(MultisetFilter { name, multiset, condition })
    }

    fn quantified(&mut self, which: Which, closer: TokenKind) -> ParseResult<MurphiExprKind<'a>> {
        let open = OpenConstruct { closer, span: self.advance()?.span };
        let quantifiers = self.quantifiers()?;
        let body = Box::new(self.expression()?);
        self.close(open)?;
        Ok(MurphiExprKind::Quantified(which, quantifiers, body))
    }

    /// Parses `x: T; y := a to b by c do`, the `do` included.
    pub(super) fn quantifiers(&mut self) -> ParseResult<Vec<MurphiQuantifier<'a>>> {
        let mut quantifiers = vec![self.quantifier()?];
        while self.eat(TokenKind::Semicolon)? || self.eat(TokenKind::Comma)? {
            quantifiers.push(self.quantifier()?);
            self.check_list_length(quantifiers.len())?;
        }
        self.do_()?;
        Ok(quantifiers)
    }

    /// Parses `do`, or the colon that may replace it.
    pub(super) fn do_(&mut self) -> ParseResult<()> {
        match self.kind() {
            TokenKind::Do | TokenKind::Colon => self.advance().map(drop),
            _ => Err(self.unexpected("`do`")),
        }
    }

    fn quantifier(&mut self) -> ParseResult<MurphiQuantifier<'a>> {
        let name = self.name("a name")?;
        if self.eat(TokenKind::Colon)? {
            return Ok(MurphiQuantifier { name, over: QuantifierDomain::Type(self.type_expr()?) });
        }
        if !self.eat(TokenKind::Assign)? {
            return Err(self.unexpected("`:` and a type, or `:=` and a range"));
        }
        let first = self.expression()?;
        self.expect(TokenKind::To)?;
        let last = self.expression()?;
        let step = if self.eat(TokenKind::By)? { Some(self.expression()?) } else { None };
        Ok(MurphiQuantifier { name, over: QuantifierDomain::Values { first, last, step } })
    }
}

fn binary<'a>(operator: BinaryOp, left: MurphiExpr<'a>, right: MurphiExpr<'a>) -> MurphiExpr<'a> {
    let span: Span = left.span.to(right.span);
    MurphiExpr { kind: MurphiExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}
