//! Operands: names, literals, IF, CASE, LET, quantifiers, fairness.

use super::super::ast::{
    Argument, Arm, Bound, Expr, ExprKind, LetUnit, Name, Path, PathPart, Pattern, Selector,
};
use super::super::lexer::unescape;
use super::super::symbols::{Fixity, Symbol};
use super::super::token::{Keyword, Mark, TokenKind};
use super::{ParseResult, Parser};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

impl Parser<'_> {
    /// Parses an expression that begins with no operator.
    pub(super) fn operand(&mut self) -> ParseResult<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Identifier => self.path_or_label(),
            TokenKind::Number => {
                self.bump();
                let kind = ExprKind::Number(self.text_of(token.span).into());
                Ok(Expr { kind, span: token.span })
            }
            TokenKind::String => {
                self.bump();
                let kind = ExprKind::String(unescape(self.text_of(token.span)).into());
                Ok(Expr { kind, span: token.span })
            }
            TokenKind::Mark(mark) => self.marked(mark),
            TokenKind::Keyword(keyword) => self.construct(keyword),
            TokenKind::Symbol(_) if self.is_symbol_call() => self.path_or_label(),
            TokenKind::Step(_) if self.is_in_proof => {
                self.bump();
                while self.take_mark(Mark::Bang) {
                    self.path_part()?;
                }
                Ok(Expr { kind: ExprKind::Step, span: token.span.to(self.last_span()) })
            }
            _ => Err(self.expected("an expression")),
        }
    }

    fn marked(&mut self, mark: Mark) -> ParseResult<Expr> {
        match mark {
            Mark::At => {
                let token = self.bump();
                Ok(Expr { kind: ExprKind::At, span: token.span })
            }
            Mark::LeftParenthesis => self.parenthesized(),
            Mark::LeftBrace => self.braces(),
            Mark::LeftBracket => self.brackets(),
            Mark::LeftAngle => self.angles(),
            _ => Err(self.expected("an expression")),
        }
    }

    fn construct(&mut self, keyword: Keyword) -> ParseResult<Expr> {
        let start = self.peek().span;
        let kind = match keyword {
            Keyword::If => self.if_then_else()?,
            Keyword::Case => self.case()?,
            Keyword::Let => self.let_in()?,
            Keyword::Choose => self.choose()?,
            Keyword::Forall | Keyword::Exists => self.quantified()?,
            Keyword::TemporalForall | Keyword::TemporalExists => self.temporal_quantified()?,
            Keyword::WeakFairness | Keyword::StrongFairness => self.fairness()?,
            Keyword::Lambda => {
                return Err(self
                    .expected("an expression")
                    .help("a LAMBDA is an argument of an operator or a value of WITH"));
            }
            _ => return Err(self.expected("an expression")),
        };
        Ok(Expr { kind, span: start.to(self.last_span()) })
    }

    fn if_then_else(&mut self) -> ParseResult<ExprKind> {
        self.bump();
        let condition = self.boxed_expression()?;
        self.expect_keyword(Keyword::Then)?;
        let yes = self.boxed_expression()?;
        self.expect_keyword(Keyword::Else)?;
        let no = self.boxed_expression()?;
        Ok(ExprKind::If { condition, yes, no })
    }

    fn case(&mut self) -> ParseResult<ExprKind> {
        self.bump();
        let (mut arms, mut other) = (Vec::new(), None);
        loop {
            if self.take_keyword(Keyword::Other) {
                self.expect_mark(Mark::Arrow)?;
                other = Some(self.boxed_expression()?);
                break;
            }
            let guard = self.expression()?;
            self.expect_mark(Mark::Arrow)?;
            arms.push(Arm { guard, value: self.expression()? });
            let is_inside = !self.is_outside_junction();
            if !(is_inside && self.is_symbol(Symbol::Always)) {
                break;
            }
            self.bump();
        }
        Ok(ExprKind::Case { arms, other })
    }

    fn let_in(&mut self) -> ParseResult<ExprKind> {
        self.bump();
        let mut definitions = Vec::new();
        while !self.is_keyword(Keyword::In) {
            if self.is_keyword(Keyword::Recursive) {
                definitions.push(LetUnit::Recursive(self.declarations()?));
            } else if definitions.is_empty() || self.begins_definition() {
                definitions.push(LetUnit::Definition(self.definition()?));
            } else {
                return Err(self.expected("`IN` or a definition"));
            }
        }
        self.expect_keyword(Keyword::In)?;
        Ok(ExprKind::Let { definitions, body: self.boxed_expression()? })
    }

    fn choose(&mut self) -> ParseResult<ExprKind> {
        self.bump();
        let pattern = self.pattern()?;
        let set = match self.is_symbol(Symbol::In) {
            true => {
                self.bump();
                Some(self.boxed_expression()?)
            }
            false => None,
        };
        self.expect_mark(Mark::Colon)?;
        Ok(ExprKind::Choose { pattern, set, body: self.boxed_expression()? })
    }

    fn quantified(&mut self) -> ParseResult<ExprKind> {
        let is_universal = self.bump().kind == TokenKind::Keyword(Keyword::Forall);
        let start = self.at;
        let first = self.comma_list(Self::pattern)?;
        if self.is_symbol(Symbol::In) {
            self.at = start;
            let bounds = self.comma_list(Self::bound)?;
            self.expect_mark(Mark::Colon)?;
            let body = self.boxed_expression()?;
            return Ok(ExprKind::Quantified { is_universal, bounds, body });
        }
        if !self.is_mark(Mark::Colon) {
            return Err(self.expected("`\\in` or `:`"));
        }
        self.bump();
        let mut names = Vec::new();
        for pattern in first {
            match pattern {
                Pattern::Single(name) => names.push(name),
                Pattern::Tuple(tuple) => {
                    let span = tuple.first().map_or(self.last_span(), |it| it.span);
                    return Err(Diagnostic::error(span, "a tuple of variables needs a set")
                        .help("write `<<x, y>> \\in S`"));
                }
            }
        }
        let (is_temporal, body) = (false, self.boxed_expression()?);
        Ok(ExprKind::Unbounded { is_universal, is_temporal, names, body })
    }

    fn temporal_quantified(&mut self) -> ParseResult<ExprKind> {
        let is_universal = self.bump().kind == TokenKind::Keyword(Keyword::TemporalForall);
        let names = self.comma_list(Self::identifier)?;
        self.expect_mark(Mark::Colon)?;
        let (is_temporal, body) = (true, self.boxed_expression()?);
        Ok(ExprKind::Unbounded { is_universal, is_temporal, names, body })
    }

    /// Parses `x, <<y, z>> \in S`.
    pub(super) fn bound(&mut self) -> ParseResult<Bound> {
        let patterns = self.comma_list(Self::pattern)?;
        self.expect_symbol(Symbol::In)?;
        Ok(Bound { patterns, set: self.expression()? })
    }

    pub(super) fn pattern(&mut self) -> ParseResult<Pattern> {
        if !self.is_mark(Mark::LeftAngle) {
            return self.identifier().map(Pattern::Single);
        }
        let open = self.bump();
        let names = self.comma_list(Self::identifier)?;
        self.expect_close(Mark::RightAngle, open.span)?;
        Ok(Pattern::Tuple(names))
    }

    /// Parses `WF_v(A)`. The parentheses before the last ones are arguments of `v`.
    fn fairness(&mut self) -> ParseResult<ExprKind> {
        let is_strong = self.bump().kind == TokenKind::Keyword(Keyword::StrongFairness);
        let mut subscript = self.subscript(false)?;
        loop {
            let open = self.expect_mark(Mark::LeftParenthesis)?;
            let mut arguments = self.comma_list(Self::argument)?;
            self.expect_close(Mark::RightParenthesis, open.span)?;
            let is_last = !self.is_mark(Mark::LeftParenthesis);
            if is_last
                && let Some(Argument::Expression(action)) = arguments.pop()
                && arguments.is_empty()
            {
                let (subscript, action) = (Box::new(subscript), Box::new(action));
                return Ok(ExprKind::Fairness { is_strong, subscript, action });
            }
            let ExprKind::Path(path) = &mut subscript.kind else {
                return Err(Diagnostic::error(open.span, "expected one action in parentheses")
                    .help("a fairness formula is `WF_v(A)`"));
            };
            match path.parts.last_mut() {
                Some(PathPart::Name { arguments: none, .. }) if none.is_empty() && !is_last => {
                    *none = arguments;
                }
                _ => {
                    return Err(Diagnostic::error(open.span, "expected one action in parentheses")
                        .help("a fairness formula is `WF_v(A)`"));
                }
            }
        }
    }

    /// Parses the expression after `]_`, `>>_` or `WF_`: a name or something in brackets.
    pub(super) fn subscript(&mut self, has_arguments: bool) -> ParseResult<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Identifier => {
                let mut parts = vec![self.named_part(has_arguments)?];
                while self.take_mark(Mark::Bang) {
                    parts.push(self.named_part(has_arguments)?);
                }
                let kind = ExprKind::Path(Path { parts });
                Ok(Expr { kind, span: token.span.to(self.last_span()) })
            }
            TokenKind::Mark(
                Mark::LeftParenthesis | Mark::LeftBrace | Mark::LeftBracket | Mark::LeftAngle,
            ) => self.nested(Self::operand),
            _ => Err(self.expected("a subscript: a name, a tuple or an expression in parentheses")),
        }
    }

    fn named_part(&mut self, has_arguments: bool) -> ParseResult<PathPart> {
        let name = self.identifier()?;
        let arguments = match has_arguments {
            true => self.optional_arguments()?,
            false => Vec::new(),
        };
        Ok(PathPart::Name { name, arguments })
    }

    /// Returns whether an operator symbol is used like a name: `+(a, b)`.
    fn is_symbol_call(&self) -> bool {
        self.peek_at(1).kind == TokenKind::Mark(Mark::LeftParenthesis)
    }

    /// Parses a path, or an expression with a label.
    fn path_or_label(&mut self) -> ParseResult<Expr> {
        let start = self.peek().span;
        let mut parts = vec![self.path_part()?];
        if self.is_mark(Mark::DoubleColon) && !self.is_outside_junction() {
            return self.labelled(start, parts);
        }
        while self.is_mark(Mark::Bang) && !self.is_outside_junction() {
            self.bump();
            parts.push(self.path_part()?);
        }
        let span = start.to(self.last_span());
        Ok(Expr { kind: ExprKind::Path(Path { parts }), span })
    }

    fn labelled(&mut self, start: Span, parts: Vec<PathPart>) -> ParseResult<Expr> {
        let mark = self.bump();
        let wrong = || {
            Diagnostic::error(mark.span, "`::` does not follow a label")
                .help("a label is a name, or a name with bound variables in parentheses")
        };
        let Some(PathPart::Name { name, arguments }) = parts.into_iter().next() else {
            return Err(wrong());
        };
        let mut parameters = Vec::new();
        for argument in arguments {
            parameters.push(simple_name(argument).ok_or_else(wrong)?);
        }
        let body = self.boxed_expression()?;
        let span = start.to(body.span);
        Ok(Expr { kind: ExprKind::Labelled { label: name, parameters, body }, span })
    }

    /// Parses a name with its arguments, or a selector.
    fn path_part(&mut self) -> ParseResult<PathPart> {
        let token = self.peek();
        let selector = match token.kind {
            TokenKind::Identifier => return self.named_part(true),
            TokenKind::Symbol(symbol) => {
                self.bump();
                let name = Name { text: symbol.name().into(), span: token.span };
                let arguments = self.optional_arguments()?;
                return Ok(PathPart::Name { name, arguments });
            }
            TokenKind::Number => {
                let Ok(number) = self.text_of(token.span).parse() else {
                    return Err(self.expected("the number of an operand"));
                };
                Selector::Operand(number)
            }
            TokenKind::Mark(Mark::LeftAngle) => Selector::First,
            TokenKind::Mark(Mark::RightAngle) => Selector::Second,
            TokenKind::Mark(Mark::At) => Selector::Bound,
            TokenKind::Mark(Mark::Colon) => Selector::Definition,
            TokenKind::Mark(Mark::LeftParenthesis) => {
                let arguments = self.optional_arguments()?;
                let span = token.span.to(self.last_span());
                return Ok(PathPart::Selector { selector: Selector::Arguments(arguments), span });
            }
            _ => return Err(self.expected("a name or a selector such as `1` after `!`")),
        };
        self.bump();
        Ok(PathPart::Selector { selector, span: token.span })
    }

    /// Parses arguments in parentheses, if there are any.
    fn optional_arguments(&mut self) -> ParseResult<Vec<Argument>> {
        if !self.is_mark(Mark::LeftParenthesis) || self.is_outside_junction() {
            return Ok(Vec::new());
        }
        let open = self.bump();
        let arguments = self.comma_list(Self::argument)?;
        self.expect_close(Mark::RightParenthesis, open.span)?;
        Ok(arguments)
    }

    /// Parses an argument: an expression, an operator symbol or a LAMBDA.
    pub(super) fn argument(&mut self) -> ParseResult<Argument> {
        let token = self.peek();
        if self.is_keyword(Keyword::Lambda) {
            return self.lambda();
        }
        if let TokenKind::Symbol(symbol) = token.kind {
            let ends = [Mark::Comma, Mark::RightParenthesis, Mark::RightBracket];
            let followed = self.peek_at(1).kind;
            let is_alone = ends.iter().any(|&it| followed == TokenKind::Mark(it));
            // In `WITH + <- Plus` the symbol is the last token of a unit, before a new one.
            let is_last = symbol.fixity() != Fixity::Prefix && self.peek_at(1).is_first;
            if is_alone || is_last {
                self.bump();
                return Ok(Argument::Symbol { symbol, span: token.span });
            }
        }
        self.expression().map(Argument::Expression)
    }

    fn lambda(&mut self) -> ParseResult<Argument> {
        let start = self.bump().span;
        let parameters = self.comma_list(Self::identifier)?;
        self.expect_mark(Mark::Colon)?;
        let body = self.expression()?;
        let span = start.to(body.span);
        Ok(Argument::Lambda { parameters, body, span })
    }
}

/// Returns the name of an argument that is nothing else.
fn simple_name(argument: Argument) -> Option<Name> {
    let Argument::Expression(Expr { kind: ExprKind::Path(Path { mut parts }), .. }) = argument
    else {
        return None;
    };
    match (parts.pop(), parts.is_empty()) {
        (Some(PathPart::Name { name, arguments }), true) if arguments.is_empty() => Some(name),
        _ => None,
    }
}
