//! Operators: precedence ranges, junction lists, function application and fields.

use super::super::ast::{Expr, ExprKind};
use super::super::symbols::{Fixity, Symbol};
use super::super::token::{Mark, TokenKind};
use super::{OpenJunction, ParseResult, Parser};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// What binds the expression between to the left: a symbol at a position.
#[derive(Clone, Copy)]
struct LeftOperator {
    symbol: Symbol,
    span: Span,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> ParseResult<Expr> {
        self.operators(None)
    }

    pub(super) fn boxed_expression(&mut self) -> ParseResult<Box<Expr>> {
        Ok(Box::new(self.expression()?))
    }

    /// Parses an operand and all operators that bind it before the operator to the left.
    fn operators(&mut self, left: Option<LeftOperator>) -> ParseResult<Expr> {
        self.nested(|parser| {
            let mut expr = parser.prefixed(left)?;
            loop {
                match parser.extended(expr, left)? {
                    ExtendedExpression::More(more) => {
                        // Operands of `/\` are one node, however many they are.
                        if !matches!(more.kind, ExprKind::Junction { .. }) {
                            parser.grow()?;
                        }
                        expr = more;
                    }
                    ExtendedExpression::Done(done) => return Ok(done),
                }
            }
        })
    }

    /// Extends an expression by the next operator, unless the operator to the left binds it first.
    fn extended(
        &mut self,
        expr: Expr,
        left: Option<LeftOperator>,
    ) -> ParseResult<ExtendedExpression> {
        if self.is_outside_junction() {
            return Ok(ExtendedExpression::Done(expr));
        }
        let token = self.peek();
        match token.kind {
            // These two bind before every symbol.
            TokenKind::Mark(Mark::LeftBracket) => {
                self.application(expr).map(ExtendedExpression::More)
            }
            TokenKind::Mark(Mark::Dot) => {
                self.bump();
                let field = self.field_name()?;
                let span = expr.span.to(field.span);
                let kind = ExprKind::Field { record: Box::new(expr), field };
                Ok(ExtendedExpression::More(Expr { kind, span }))
            }
            TokenKind::Symbol(symbol) if symbol.fixity() != Fixity::Prefix => {
                if let Some(left) = left {
                    if left.symbol.binds_before(symbol) {
                        return Ok(ExtendedExpression::Done(expr));
                    }
                    if !left.symbol.binds_after(symbol) {
                        return Err(self.conflict(left, symbol));
                    }
                }
                self.bump();
                self.apply(expr, symbol, token.span).map(ExtendedExpression::More)
            }
            _ => Ok(ExtendedExpression::Done(expr)),
        }
    }

    fn apply(&mut self, left: Expr, symbol: Symbol, at: Span) -> ParseResult<Expr> {
        if symbol.fixity() == Fixity::Postfix {
            let span = left.span.to(at);
            let kind = ExprKind::Postfix { symbol, at, operand: Box::new(left) };
            return Ok(Expr { kind, span });
        }
        let right = self.operators(Some(LeftOperator { symbol, span: at }))?;
        let span = left.span.to(right.span);
        Ok(match symbol {
            Symbol::And | Symbol::Or => junction_of(symbol, left, right),
            Symbol::Times => product_of(left, right),
            _ => {
                let (left, right) = (Box::new(left), Box::new(right));
                Expr { kind: ExprKind::Infix { symbol, at, left, right }, span }
            }
        })
    }

    fn conflict(&self, left: LeftOperator, right: Symbol) -> Diagnostic {
        let (first, second) = (self.text_of(left.span), self.text_of(self.peek().span));
        let place = self.line_column(left.span);
        let message = match left.symbol == right {
            true => format!("`{second}` does not associate: it cannot follow the one at {place}"),
            false => format!("neither `{first}` at {place} nor `{second}` binds first"),
        };
        let equals = [left.symbol, right].contains(&Symbol::Equals);
        let help = match equals {
            true => "write parentheses, or `==` if this is a definition",
            false => "write parentheses",
        };
        Diagnostic::error(self.peek().span, message).help(help)
    }

    /// Parses the rest of `f[a, b]` after `f`.
    fn application(&mut self, function: Expr) -> ParseResult<Expr> {
        let open = self.bump();
        let arguments = self.comma_list(Self::expression)?;
        let close = self.expect_close(Mark::RightBracket, open.span)?;
        let span = function.span.to(close.span);
        let kind = ExprKind::ApplyFunction { function: Box::new(function), arguments };
        Ok(Expr { kind, span })
    }

    /// Parses a prefix operator with its operand, a junction list or an operand.
    fn prefixed(&mut self, left: Option<LeftOperator>) -> ParseResult<Expr> {
        let token = self.peek();
        if self.is_outside_junction() {
            return Err(self.expected("an expression"));
        }
        let TokenKind::Symbol(symbol) = token.kind else { return self.operand() };
        if self.is_bullet() {
            return self.junction_list(symbol);
        }
        let followed = self.peek_at(1).kind;
        let is_call = followed == TokenKind::Mark(Mark::LeftParenthesis);
        let symbol = match symbol {
            Symbol::Minus => Symbol::Negative,
            Symbol::Negative if is_call => return self.operand(),
            _ if symbol.fixity() == Fixity::Prefix => symbol,
            _ => return self.operand(),
        };
        if let Some(left) = left
            && symbol == Symbol::Negative
            && left.symbol.is_above(symbol)
        {
            return Err(self.conflict(left, symbol));
        }
        self.bump();
        let operand = Box::new(self.operators(Some(LeftOperator { symbol, span: token.span }))?);
        let span = token.span.to(operand.span);
        Ok(Expr { kind: ExprKind::Prefix { symbol, at: token.span, operand }, span })
    }

    /// Returns whether the next token can begin an item of a junction list.
    fn is_bullet(&self) -> bool {
        let token = self.peek();
        let is_junction = matches!(token.kind, TokenKind::Symbol(Symbol::And | Symbol::Or));
        is_junction && !matches!(self.text_of(token.span), "\\land" | "\\lor")
    }

    fn junction_list(&mut self, symbol: Symbol) -> ParseResult<Expr> {
        let first = self.peek();
        let column = first.column;
        self.junctions.push(OpenJunction { column, span: first.span });
        let mut items = Vec::new();
        while self.is_bullet() && self.is_symbol(symbol) && self.peek().column == column {
            self.bump();
            items.push(self.expression()?);
        }
        self.junctions.pop();
        let span = first.span.to(self.last_span());
        Ok(Expr { kind: ExprKind::Junction { symbol, is_list: true, items }, span })
    }
}

/// An expression after a try to extend it.
enum ExtendedExpression {
    /// It was extended.
    More(Expr),
    /// Nothing that follows belongs to it.
    Done(Expr),
}

/// Joins operands of `/\` or `\/` to one node, however many they are.
fn junction_of(symbol: Symbol, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let mut items = match left.kind {
        ExprKind::Junction { symbol: same, is_list: false, items } if same == symbol => items,
        _ => vec![left],
    };
    items.push(right);
    Expr { kind: ExprKind::Junction { symbol, is_list: false, items }, span }
}

/// Joins operands of `\X` to one node: `a \X b \X c` is a set of triples.
fn product_of(left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let mut items = match left.kind {
        ExprKind::Product(items) => items,
        _ => vec![left],
    };
    items.push(right);
    Expr { kind: ExprKind::Product(items), span }
}
