//! From tokens to expressions: operators and their precedence.
//!
//! From loosest to tightest: `imply`; `or`; `and`; `|`; `^`; `&`; `== !=`; `< <= > >=`; `<< >>`;
//! `+ -`; `* / %`; unary `- ~ not`. All associate to the left. Operators and operands wait on two
//! stacks (Dijkstra's shunting yard, 1961), so that only brackets and unary operators recurse, and
//! those are counted.
//!
//! DiVinE 2 gives `and` and `or` one precedence, and `|`, `^` and `&` another, so it reads
//! `a or b and c` as `(a or b) and c`. Where that makes a difference the user is warned.

use super::ast::*;
use super::lex::TokenKind;
use super::parse::Parser;
use crate::diag::Diagnostic;
use crate::front::token::{Parse, Parsed};
use crate::ir::{Binary, Unary};
use crate::source::Span;

/// An operand on its stack, with its outermost operator unless that is inside brackets.
struct Operand<'a> {
    expr: Expr<'a>,
    bare: Option<Binary>,
}

impl<'a> Parser<'a, '_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr<'a>> {
        let mut operands = vec![Operand { expr: self.operand()?, bare: None }];
        let mut operators: Vec<Binary> = Vec::new();
        while let Some(next) = binary(self.kind()) {
            self.advance()?;
            while operators.last().is_some_and(|&top| level(top) >= level(next)) {
                self.reduce(&mut operands, &mut operators)?;
            }
            operators.push(next);
            operands.push(Operand { expr: self.operand()?, bare: None });
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators)?;
        }
        Ok(operands.swap_remove(0).expr)
    }

    /// Applies the topmost operator to the topmost operands.
    fn reduce(
        &mut self,
        operands: &mut Vec<Operand<'a>>,
        operators: &mut Vec<Binary>,
    ) -> Parsed<()> {
        if let (Some(operator), Some(right), Some(left)) =
            (operators.pop(), operands.pop(), operands.pop())
        {
            self.warn_if_mixed(operator, &right);
            let expr = limited(Expr::binary(operator, left.expr, right.expr))?;
            operands.push(Operand { expr, bare: Some(operator) });
        }
        Ok(())
    }

    fn warn_if_mixed(&mut self, operator: Binary, right: &Operand<'a>) {
        let Some(inner) = right.bare.filter(|&inner| mixed(operator, inner)) else { return };
        let (outer, inner) = (spelling(operator), spelling(inner));
        let warning = format!("`{inner}` binds tighter than `{outer}` here, but not in DiVinE 2");
        self.warnings.push(
            Diagnostic::warning(right.expr.span, warning)
                .help("DiVinE 2 reads such operators from left to right; add parentheses"),
        );
    }

    /// An operand: all that binds tighter than any binary operator.
    pub(super) fn operand(&mut self) -> Parsed<Expr<'a>> {
        match self.kind() {
            TokenKind::Number => self.number(),
            TokenKind::True => self.truth(1),
            TokenKind::False => self.truth(0),
            TokenKind::Minus => self.unary(Unary::Negate),
            TokenKind::Tilde => self.unary(Unary::Complement),
            TokenKind::Not | TokenKind::Bang => self.unary(Unary::Not),
            TokenKind::ParenOpen => self.parenthesized(),
            TokenKind::Name => self.reference(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn number(&mut self) -> Parsed<Expr<'a>> {
        let span = self.advance()?.span;
        match self.text(span).parse::<i32>() {
            Ok(value) => Ok(leaf(ExprKind::Number(value.into()), span)),
            Err(_) => Err(Diagnostic::error(span, "this number does not fit into 32 bits")
                .help("the greatest is 2147483647")),
        }
    }

    fn truth(&mut self, value: i64) -> Parsed<Expr<'a>> {
        Ok(leaf(ExprKind::Number(value), self.advance()?.span))
    }

    fn unary(&mut self, operator: Unary) -> Parsed<Expr<'a>> {
        let span = self.advance()?.span;
        let operand = self.nested(Self::operand)?;
        limited(Expr::unary(operator, span, operand))
    }

    fn parenthesized(&mut self) -> Parsed<Expr<'a>> {
        let open = self.advance()?.span;
        let inside = self.nested(Self::expression)?;
        let close = self.expect(TokenKind::ParenClose)?.span;
        Ok(Expr { span: open.to(close), ..inside })
    }

    /// `x`, `a[e]`, `P.q`, `P->x`, `full(c)` and the like.
    fn reference(&mut self) -> Parsed<Expr<'a>> {
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
                (ExprKind::In(ProcessUse { name, member: index }, state), below)
            }
            TokenKind::Arrow => {
                self.advance()?;
                let variable = self.name("the name of a variable")?;
                let inner = self.bracketed()?.map(Box::new);
                let below = below.max(inner.as_ref().map_or(0, |index| index.height));
                let process = ProcessUse { name, member: index };
                (ExprKind::Foreign(process, Reference { name: variable, index: inner }), below)
            }
            _ => (ExprKind::Value(Reference { name, index }), below),
        };
        limited(Expr { kind, span: self.since(name), height: below + 1 })
    }

    fn query(&mut self, name: Name<'a>) -> Parsed<Expr<'a>> {
        let query = match name.text {
            "full" => Query::Full,
            "empty" => Query::Empty,
            _ => return Err(self.unexpected("an operator or the end of the expression")),
        };
        self.advance()?;
        let channel = self.nested(Self::channel_use)?;
        self.expect(TokenKind::ParenClose)?;
        let height = channel.member.as_ref().map_or(0, |member| member.height) + 1;
        limited(Expr { kind: ExprKind::Query(query, channel), span: self.since(name), height })
    }

    /// From the start of a name to the last token taken.
    fn since(&self, name: Name<'a>) -> Span {
        name.span.to(self.last())
    }

    /// Parses something one bracket or unary operator deeper.
    pub(super) fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_HEIGHT {
            return Err(too_deep(self.last()));
        }
        self.depth += 1;
        let parsed = inside(self)?;
        self.depth -= 1;
        Ok(parsed)
    }
}

fn leaf(kind: ExprKind<'_>, span: Span) -> Expr<'_> {
    Expr { kind, span, height: 1 }
}

fn limited(expr: Expr<'_>) -> Parsed<Expr<'_>> {
    match expr.height <= MAX_HEIGHT {
        true => Ok(expr),
        false => Err(too_deep(expr.span)),
    }
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("this expression is nested more than {MAX_HEIGHT} deep"))
}

/// The binary operator that a token stands for.
fn binary(kind: TokenKind) -> Option<Binary> {
    Some(match kind {
        TokenKind::Imply => Binary::Implies,
        TokenKind::Or => Binary::Or,
        TokenKind::And => Binary::And,
        TokenKind::BitOr => Binary::BitOr,
        TokenKind::BitXor => Binary::BitXor,
        TokenKind::BitAnd => Binary::BitAnd,
        TokenKind::Equal => Binary::Equal,
        TokenKind::NotEqual => Binary::NotEqual,
        TokenKind::Less => Binary::Less,
        TokenKind::LessEqual => Binary::LessEqual,
        TokenKind::Greater => Binary::Greater,
        TokenKind::GreaterEqual => Binary::GreaterEqual,
        TokenKind::ShiftLeft => Binary::ShiftLeft,
        TokenKind::ShiftRight => Binary::ShiftRight,
        TokenKind::Plus => Binary::Add,
        TokenKind::Minus => Binary::Subtract,
        TokenKind::Star => Binary::Multiply,
        TokenKind::Slash => Binary::Divide,
        TokenKind::Percent => Binary::Remainder,
        _ => return None,
    })
}

/// How tightly an operator binds.
fn level(operator: Binary) -> u8 {
    match operator {
        Binary::Implies => 0,
        Binary::Or => 1,
        Binary::And => 2,
        Binary::BitOr => 3,
        Binary::BitXor => 4,
        Binary::BitAnd => 5,
        Binary::Equal | Binary::NotEqual => 6,
        Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => 7,
        Binary::ShiftLeft | Binary::ShiftRight => 8,
        Binary::Add | Binary::Subtract => 9,
        Binary::Multiply | Binary::Divide | Binary::Remainder => 10,
    }
}

/// Whether DiVinE 2 gives both operators one precedence although we do not.
fn mixed(outer: Binary, inner: Binary) -> bool {
    let boolean = |operator| matches!(operator, Binary::And | Binary::Or);
    let bitwise = |operator| matches!(operator, Binary::BitAnd | Binary::BitOr | Binary::BitXor);
    outer != inner && (boolean(outer) && boolean(inner) || bitwise(outer) && bitwise(inner))
}

fn spelling(operator: Binary) -> &'static str {
    match operator {
        Binary::And => "&&",
        Binary::Or => "||",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        _ => "^",
    }
}
