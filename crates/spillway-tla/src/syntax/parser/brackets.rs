//! Expressions in parentheses, braces, brackets and angle brackets.

use super::super::ast::{
    Bound, Expr, ExprKind, Field, Path, PathPart, Pattern, Update, UpdateStep,
};
use super::super::symbols::Symbol;
use super::super::token::{Keyword, Mark, Token, TokenKind};
use super::{ParseResult, Parser};

impl Parser<'_> {
    pub(super) fn parenthesized(&mut self) -> ParseResult<Expr> {
        let open = self.bump();
        let inner = self.boxed_expression()?;
        let close = self.expect_close(Mark::RightParenthesis, open.span)?;
        Ok(Expr { kind: ExprKind::Parenthesized(inner), span: open.span.to(close.span) })
    }

    /// Parses `{a, b}`, `{x \in S : p}` or `{e : x \in S}`.
    pub(super) fn braces(&mut self) -> ParseResult<Expr> {
        let open = self.bump();
        if self.is_mark(Mark::RightBrace) {
            let close = self.bump();
            let kind = ExprKind::SetLiteral(Vec::new());
            return Ok(Expr { kind, span: open.span.to(close.span) });
        }
        let first = self.expression()?;
        let kind = match self.is_mark(Mark::Colon) {
            true => self.set_builder(first)?,
            false => {
                let mut items = vec![first];
                while self.take_mark(Mark::Comma) {
                    items.push(self.expression()?);
                }
                ExprKind::SetLiteral(items)
            }
        };
        let close = self.expect_close(Mark::RightBrace, open.span)?;
        Ok(Expr { kind, span: open.span.to(close.span) })
    }

    /// Parses the rest of a set from the colon on. `x \in S` before the colon makes it a filter.
    fn set_builder(&mut self, first: Expr) -> ParseResult<ExprKind> {
        self.bump();
        if let ExprKind::Infix { symbol: Symbol::In, left, .. } = &first.kind
            && let Some(pattern) = pattern_of(left)
            && let ExprKind::Infix { right: set, .. } = first.kind
        {
            return Ok(ExprKind::SetFilter { pattern, set, body: self.boxed_expression()? });
        }
        let bounds = self.comma_list(Self::bound)?;
        Ok(ExprKind::SetMap { body: Box::new(first), bounds })
    }

    /// Parses what begins with `[`.
    pub(super) fn brackets(&mut self) -> ParseResult<Expr> {
        let open = self.bump();
        let kind = match self.peek_at(1).kind {
            TokenKind::Mark(Mark::MapsTo) => ExprKind::Record(self.fields(Mark::MapsTo)?),
            TokenKind::Mark(Mark::Colon) => ExprKind::RecordSet(self.fields(Mark::Colon)?),
            _ if self.is_function_literal() => {
                let bounds = self.function_bounds()?;
                self.expect_mark(Mark::MapsTo)?;
                ExprKind::Function { bounds, body: self.boxed_expression()? }
            }
            _ => return self.bracketed_expression(open),
        };
        let close = self.expect_close(Mark::RightBracket, open.span)?;
        Ok(Expr { kind, span: open.span.to(close.span) })
    }

    pub(super) fn function_bounds(&mut self) -> ParseResult<Vec<Bound>> {
        self.comma_list(Self::bound)
    }

    /// Parses `[S -> T]`, `[f EXCEPT ...]` or `[A]_v` from after the bracket.
    fn bracketed_expression(&mut self, open: Token) -> ParseResult<Expr> {
        let first = self.boxed_expression()?;
        if self.is_mark(Mark::RightBracketSubscript) {
            self.bump();
            let subscript = Box::new(self.subscript(true)?);
            let span = open.span.to(subscript.span);
            return Ok(Expr {
                kind: ExprKind::Action { is_box: true, action: first, subscript },
                span,
            });
        }
        let kind = if self.take_mark(Mark::Arrow) {
            ExprKind::FunctionSet { domain: first, range: self.boxed_expression()? }
        } else if self.take_keyword(Keyword::Except) {
            ExprKind::Except { function: first, updates: self.comma_list(Self::update)? }
        } else {
            return Err(self.expected("`->`, `EXCEPT`, `]_`, `|->` or `:` within `[ ]`"));
        };
        let close = self.expect_close(Mark::RightBracket, open.span)?;
        Ok(Expr { kind, span: open.span.to(close.span) })
    }

    fn fields(&mut self, mark: Mark) -> ParseResult<Vec<Field>> {
        self.comma_list(|parser| {
            let name = parser.field_name()?;
            parser.expect_mark(mark)?;
            Ok(Field { name, value: parser.expression()? })
        })
    }

    fn update(&mut self) -> ParseResult<Update> {
        let start = self.expect_mark(Mark::Bang)?.span;
        let mut path = Vec::new();
        loop {
            if self.take_mark(Mark::Dot) {
                path.push(UpdateStep::Field(self.field_name()?));
            } else if self.is_mark(Mark::LeftBracket) {
                let open = self.bump();
                path.push(UpdateStep::Index(self.comma_list(Self::expression)?));
                self.expect_close(Mark::RightBracket, open.span)?;
            } else if path.is_empty() {
                return Err(self.expected("`[` or `.` after `!`"));
            } else {
                break;
            }
        }
        self.expect_symbol(Symbol::Equals)?;
        let value = self.expression()?;
        Ok(Update { path, span: start.to(value.span), value })
    }

    /// Returns whether `[` was the beginning of `[x \in S |-> e]`: a `|->` comes before the bracket is closed.
    fn is_function_literal(&self) -> bool {
        let begins =
            matches!(self.peek().kind, TokenKind::Identifier | TokenKind::Mark(Mark::LeftAngle));
        let (mut depth, mut lets) = (0usize, 0usize);
        for token in self.tokens[self.at..].iter().take_while(|_| begins) {
            match token.kind {
                TokenKind::Mark(mark) => match mark {
                    Mark::MapsTo if depth == 0 => return true,
                    Mark::LeftParenthesis
                    | Mark::LeftBrace
                    | Mark::LeftBracket
                    | Mark::LeftAngle => depth += 1,
                    Mark::RightParenthesis
                    | Mark::RightBrace
                    | Mark::RightBracket
                    | Mark::RightBracketSubscript
                    | Mark::RightAngle
                    | Mark::RightAngleSubscript => match depth.checked_sub(1) {
                        Some(less) => depth = less,
                        None => return false,
                    },
                    Mark::Arrow if depth == 0 && lets == 0 => return false,
                    Mark::Define if lets == 0 => return false,
                    _ => {}
                },
                TokenKind::Keyword(Keyword::Except) if depth == 0 => return false,
                TokenKind::Keyword(Keyword::Let) => lets += 1,
                TokenKind::ModuleStart | TokenKind::ModuleEnd => return false,
                _ => {}
            }
        }
        false
    }

    /// Parses `<<a, b>>` or `<<A>>_v`.
    pub(super) fn angles(&mut self) -> ParseResult<Expr> {
        let open = self.bump();
        let is_end =
            |it: &Self| it.is_mark(Mark::RightAngle) || it.is_mark(Mark::RightAngleSubscript);
        let mut items = match is_end(self) {
            true => Vec::new(),
            false => self.comma_list(Self::expression)?,
        };
        if self.is_mark(Mark::RightAngleSubscript) && items.len() == 1 {
            self.bump();
            let action = Box::new(items.remove(0));
            let subscript = Box::new(self.subscript(true)?);
            let span = open.span.to(subscript.span);
            let kind = ExprKind::Action { is_box: false, action, subscript };
            return Ok(Expr { kind, span });
        }
        let close = self.expect_close(Mark::RightAngle, open.span)?;
        Ok(Expr { kind: ExprKind::Tuple(items), span: open.span.to(close.span) })
    }
}

/// Returns the variables in an expression to the left of `\in`.
fn pattern_of(expr: &Expr) -> Option<Pattern> {
    let name_of = |expr: &Expr| {
        let ExprKind::Path(Path { parts }) = &expr.kind else { return None };
        match parts.as_slice() {
            [PathPart::Name { name, arguments }] if arguments.is_empty() => Some(name.clone()),
            _ => None,
        }
    };
    match &expr.kind {
        ExprKind::Tuple(items) if !items.is_empty() => {
            items.iter().map(name_of).collect::<Option<_>>().map(Pattern::Tuple)
        }
        _ => name_of(expr).map(Pattern::Single),
    }
}
