//! The parser of expressions: operators and their precedence.
//!
//! From loosest to tightest: `imply`; `or`; `and`; `|`; `^`; `&`; `== !=`; `< <= > >=`; `<< >>`; `+ -`; `* / %`; unary
//! `- ~ not`. All associate to the left. Operators and operands are kept on two stacks (Dijkstra's shunting yard,
//! 1961). So only brackets and unary operators recurse, and their depth is limited.
//!
//! DiVinE 2 gives `and` and `or` one precedence, and `|`, `^` and `&` another, so it reads `a or b and c` as `(a or b)
//! and c`. An expression for which that makes a difference causes a warning.

use super::ast::*;
use super::lex::TokenKind;
use super::parse::DveParser;
use crate::token::{ParseResult, TokenParser};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{BinaryOp, UnaryOp};

/// An operand on its stack, with its outermost operator unless that is inside brackets.
struct StackedOperand<'a> {
    expr: DveExpr<'a>,
    bare: Option<BinaryOp>,
}

impl<'a> DveParser<'a, '_> {
    /// Parses a whole expression.
    pub(super) fn expression(&mut self) -> ParseResult<DveExpr<'a>> {
        let mut operands = vec![StackedOperand { expr: self.operand()?, bare: None }];
        let mut operators: Vec<BinaryOp> = Vec::new();
        while let Some(next) = binary(self.kind()) {
            self.advance()?;
            while operators.last().is_some_and(|&top| level(top) >= level(next)) {
                self.reduce(&mut operands, &mut operators)?;
            }
            operators.push(next);
            operands.push(StackedOperand { expr: self.operand()?, bare: None });
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators)?;
        }
        Ok(operands.swap_remove(0).expr)
    }

    /// Applies the topmost operator to the topmost operands.
    fn reduce(
        &mut self,
        operands: &mut Vec<StackedOperand<'a>>,
        operators: &mut Vec<BinaryOp>,
    ) -> ParseResult<()> {
        if let (Some(operator), Some(right), Some(left)) =
            (operators.pop(), operands.pop(), operands.pop())
        {
            self.warn_if_mixed(operator, &right);
            let expr = limited(DveExpr::binary(operator, left.expr, right.expr))?;
            operands.push(StackedOperand { expr, bare: Some(operator) });
        }
        Ok(())
    }

    fn warn_if_mixed(&mut self, operator: BinaryOp, right: &StackedOperand<'a>) {
        let Some(inner) = right.bare.filter(|&inner| mixed(operator, inner)) else { return };
        let (outer, inner) = (spelling(operator), spelling(inner));
        let warning = format!("`{inner}` binds tighter than `{outer}` here, but not in DiVinE 2");
        self.warnings.push(
            Diagnostic::warning(right.expr.span, warning)
                .help("DiVinE 2 reads such operators from left to right; add parentheses"),
        );
    }

    /// Parses an operand: an expression that binds tighter than any binary operator.
    pub(super) fn operand(&mut self) -> ParseResult<DveExpr<'a>> {
        match self.kind() {
            TokenKind::Number => self.number(),
            TokenKind::True => self.truth(1),
            TokenKind::False => self.truth(0),
            TokenKind::Minus => self.unary(UnaryOp::Negate),
            TokenKind::Tilde => self.unary(UnaryOp::Complement),
            TokenKind::Not | TokenKind::Bang => self.unary(UnaryOp::Not),
            TokenKind::ParenOpen => self.parenthesized(),
            TokenKind::Name => self.reference(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn number(&mut self) -> ParseResult<DveExpr<'a>> {
        let span = self.advance()?.span;
        match self.text(span).parse::<i32>() {
            Ok(value) => Ok(leaf(DveExprKind::Number(value.into()), span)),
            Err(_) => Err(Diagnostic::error(span, "this number does not fit into 32 bits")
                .help("the greatest is 2147483647")),
        }
    }

    fn truth(&mut self, value: i64) -> ParseResult<DveExpr<'a>> {
        Ok(leaf(DveExprKind::Number(value), self.advance()?.span))
    }

    fn unary(&mut self, operator: UnaryOp) -> ParseResult<DveExpr<'a>> {
        let span = self.advance()?.span;
        let operand = self.nested(Self::operand)?;
        limited(DveExpr::unary(operator, span, operand))
    }

    fn parenthesized(&mut self) -> ParseResult<DveExpr<'a>> {
        let open = self.advance()?.span;
        let inside = self.nested(Self::expression)?;
        let close = self.expect(TokenKind::ParenClose)?.span;
        Ok(DveExpr { span: open.to(close), ..inside })
    }

    /// Parses `x`, `a[e]`, `P.q`, `P->x`, `full(c)` and similar references.
    fn reference(&mut self) -> ParseResult<DveExpr<'a>> {
        let name = self.name("a name")?;
        if self.kind() == TokenKind::ParenOpen {
            return self.query(name);
        }
        let index = self.bracketed()?.map(Box::new);
        let below = index.as_ref().map_or(0, |index| index.height);
        let (kind, below) = match self.kind() {
            TokenKind::Dot => {
                self.advance()?;
                let state = self.name("the name of a state")?;
                (DveExprKind::In(DveProcessUse { name, member: index }, state), below)
            }
            TokenKind::Arrow => {
                self.advance()?;
                let variable = self.name("the name of a variable")?;
                let inner = self.bracketed()?.map(Box::new);
                let below = below.max(inner.as_ref().map_or(0, |index| index.height));
                let process = DveProcessUse { name, member: index };
                (
                    DveExprKind::Foreign(process, DveReference { name: variable, index: inner }),
                    below,
                )
            }
            _ => (DveExprKind::Value(DveReference { name, index }), below),
        };
        limited(DveExpr { kind, span: self.since(name), height: below + 1 })
    }

    fn query(&mut self, name: SourceName<'a>) -> ParseResult<DveExpr<'a>> {
        let query = match name.text {
            "full" => DveChannelQuery::Full,
            "empty" => DveChannelQuery::Empty,
            _ => return Err(self.unexpected("an operator or the end of the expression")),
        };
        self.advance()?;
        let channel = self.nested(Self::channel_use)?;
        self.expect(TokenKind::ParenClose)?;
        let height = channel.member.as_ref().map_or(0, |member| member.height) + 1;
        limited(DveExpr {
            kind: DveExprKind::Query(query, channel),
            span: self.since(name),
            height,
        })
    }

    /// Returns the span from the start of a name to the last token taken.
    fn since(&self, name: SourceName<'a>) -> Span {
        name.span.to(self.last_span())
    }

    /// Parses something one bracket or unary operator deeper.
    pub(super) fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth == MAX_HEIGHT {
            return Err(too_deep(self.last_span()));
        }
        self.depth += 1;
        let parsed = inside(self)?;
        self.depth -= 1;
        Ok(parsed)
    }
}

fn leaf(kind: DveExprKind<'_>, span: Span) -> DveExpr<'_> {
    DveExpr { kind, span, height: 1 }
}

fn limited(expr: DveExpr<'_>) -> ParseResult<DveExpr<'_>> {
    match expr.height <= MAX_HEIGHT {
        true => Ok(expr),
        false => Err(too_deep(expr.span)),
    }
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("this expression is nested more than {MAX_HEIGHT} deep"))
}

/// Returns the binary operator of a token.
fn binary(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::Imply => BinaryOp::Implies,
        TokenKind::Or => BinaryOp::Or,
        TokenKind::And => BinaryOp::And,
        TokenKind::BitOr => BinaryOp::BitOr,
        TokenKind::BitXor => BinaryOp::BitXor,
        TokenKind::BitAnd => BinaryOp::BitAnd,
        TokenKind::Equal => BinaryOp::Equal,
        TokenKind::NotEqual => BinaryOp::NotEqual,
        TokenKind::Less => BinaryOp::Less,
        TokenKind::LessEqual => BinaryOp::LessEqual,
        TokenKind::Greater => BinaryOp::Greater,
        TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
        TokenKind::ShiftLeft => BinaryOp::ShiftLeft,
        TokenKind::ShiftRight => BinaryOp::ShiftRight,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Subtract,
        TokenKind::Star => BinaryOp::Multiply,
        TokenKind::Slash => BinaryOp::Divide,
        TokenKind::Percent => BinaryOp::Remainder,
        _ => return None,
    })
}

/// Returns the precedence of an operator.
fn level(operator: BinaryOp) -> u8 {
    match operator {
        BinaryOp::Implies => 0,
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::BitOr => 3,
        BinaryOp::BitXor => 4,
        BinaryOp::BitAnd => 5,
        BinaryOp::Equal | BinaryOp::NotEqual => 6,
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => 7,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 8,
        BinaryOp::Add | BinaryOp::Subtract => 9,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 10,
    }
}

/// Returns whether DiVinE 2, unlike this parser, gives both operators the same precedence.
fn mixed(outer: BinaryOp, inner: BinaryOp) -> bool {
    let boolean = |operator| matches!(operator, BinaryOp::And | BinaryOp::Or);
    let bitwise =
        |operator| matches!(operator, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
    outer != inner && (boolean(outer) && boolean(inner) || bitwise(outer) && bitwise(inner))
}

fn spelling(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        _ => "^",
    }
}
