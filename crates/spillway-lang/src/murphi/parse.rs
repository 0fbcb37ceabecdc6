//! The parser: declarations and types.
//!
//! It uses recursive descent with one token of look-ahead. It stops at the first error, which names the expected and
//! the found token. A construct with an `end` may close with `end` or with its own word (`endrule`); the message about
//! a missing one names the line that opened the construct. Expressions are in `expressions`, statements in
//! `statements`, rules in `rules`.

mod expressions;
mod rules;
mod statements;

use super::ast::*;
use super::lex::{MurphiLexer, TokenKind, unquoted};
use crate::quote::quote;
use crate::token::{ParseResult, TokenClass, TokenParser, TokenStream};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// The maximum number of names of an `alias`, a `ruleset` or a quantifier.
const LIST_MAX: usize = 50;

/// Parses a whole file.
pub fn parse(file: u32, text: &str) -> Result<MurphiModel<'_>, Diagnostic> {
    let tokens = TokenStream::new(MurphiLexer::new(file, text))?;
    MurphiParser { tokens, depth: 0, else_if: None }.model()
}

/// Parses a part of a file as an expression.
pub(super) fn expression(span: Span, text: &str) -> Result<MurphiExpr<'_>, Diagnostic> {
    let tokens = TokenStream::new(MurphiLexer::within(span, text))?;
    let mut parser = MurphiParser { tokens, depth: 0, else_if: None };
    let expr = parser.expression()?;
    match parser.kind() {
        TokenKind::EndOfFile => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end of the proposition")),
    }
}

/// Parses a part of a file as the variables of a quantifier over types, up to `do`.
pub(super) fn quantifiers(span: Span, text: &str) -> Result<Vec<MurphiQuantifier<'_>>, Diagnostic> {
    let tokens = TokenStream::new(MurphiLexer::within(span, text))?;
    let mut parser = MurphiParser { tokens, depth: 0, else_if: None };
    let all = parser.quantifiers()?;
    if parser.kind() != TokenKind::EndOfFile {
        return Err(parser.unexpected("the formula"));
    }
    match all.iter().find(|it| !matches!(it.over, QuantifierDomain::Type(_))) {
        Some(other) => {
            let error = "temporal operators are about all values of a type";
            let help = "write a type behind a colon: `forall i: 0..3 do ... end`";
            Err(Diagnostic::error(other.name.span, error).help(help))
        }
        None => Ok(all),
    }
}

/// A parser, at a position in the tokens.
#[derive(Clone)]
struct MurphiParser<'a> {
    tokens: TokenStream<'a, MurphiLexer<'a>>,
    /// The number of open constructs.
    depth: u32,
    /// The last `if` directly after an `else`, which needs a separate end.
    else_if: Option<Span>,
}

/// An open construct that needs an end.
#[derive(Clone, Copy)]
struct OpenConstruct {
    /// The word that closes it, in addition to `end`.
    closer: TokenKind,
    /// The span of the word that opened it.
    span: Span,
}

impl OpenConstruct {
    /// Returns whether a token is its specific end. Functions and procedures accept each other's, as in Rumur.
    fn is_closed_by(self, kind: TokenKind) -> bool {
        let routines = [TokenKind::EndFunction, TokenKind::EndProcedure];
        kind == self.closer || routines.contains(&kind) && routines.contains(&self.closer)
    }
}

impl<'a> TokenParser<'a> for MurphiParser<'a> {
    type SourceLexer = MurphiLexer<'a>;

    fn tokens(&self) -> &TokenStream<'a, MurphiLexer<'a>> {
        &self.tokens
    }

    fn tokens_mut(&mut self) -> &mut TokenStream<'a, MurphiLexer<'a>> {
        &mut self.tokens
    }

    fn advice(&self, expected: &str) -> Option<String> {
        let text = self.text(self.next_span());
        let advice = match self.kind() {
            kind if kind.is_reserved() && expected.contains("name") => {
                return Some(format!("{} is a reserved word", quote(text)));
            }
            _ if self.is_word("and") => "`and` is written `&`",
            _ if self.is_word("or") => "`or` is written `|`",
            _ if self.is_word("mod") => "the remainder is written `%`",
            TokenKind::Greater if expected == "an expression" => "different is written `!=`",
            TokenKind::WideArrow => "a guard has no `:=`: it compares with `=`",
            TokenKind::End => "is an `end` before it one too many?",
            _ => match expected {
                "`;`" => "statements and declarations are separated by `;`",
                "`:`" => "what is declared is `name: type`",
                "`then`" => "an `if` is `if condition then statements end`",
                "`do`" => "what is repeated or stands in a `ruleset` begins with `do`",
                "`==>` after the guard" => "a rule is `rule guard ==> statements end`",
                "`[`" => "a size or an index is in brackets, as in `array [0..3] of boolean`",
                "`:` and a type, or `:=` and a range" => {
                    "such as `i: 0..3 do`, or `i := 0 to 3 do`"
                }
                "an expression" => "a value, a variable or an operation on them belongs here",
                _ => return None,
            },
        };
        Some(advice.to_owned())
    }
}

impl<'a> MurphiParser<'a> {
    /// Takes a string, if one is next.
    fn string(&mut self) -> ParseResult<Option<&'a str>> {
        match self.kind() {
            TokenKind::String => {
                let span = self.advance()?.span;
                Ok(Some(unquoted(self.text(span))))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether the next token is a name that is this word, in any case. Such words are reserved only in some
    /// places.
    fn is_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Name && self.text(self.next_span()).eq_ignore_ascii_case(word)
    }

    /// Parses something one level deeper.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("this nests deeper than {MAX_DEPTH} levels");
            return Err(Diagnostic::error(self.next_span(), message)
                .help("give parts of it names, as functions or constants"));
        }
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Rejects a list that is too long. The names in lists of `alias`, `ruleset` and similar constructs are nested,
    /// level by level.
    fn check_list_length(&self, count: usize) -> ParseResult<()> {
        match count > LIST_MAX {
            false => Ok(()),
            true => Err(Diagnostic::error(
                self.last_span(),
                format!("this list has more than {LIST_MAX} names"),
            )
            .help("use an array and one name for its index")),
        }
    }

    /// Takes the end of an open construct.
    fn close(&mut self, open: OpenConstruct) -> ParseResult<Span> {
        match self.kind() {
            TokenKind::End => Ok(self.advance()?.span),
            kind if open.is_closed_by(kind) => Ok(self.advance()?.span),
            _ => Err(self.not_closed(open)),
        }
    }

    /// Returns the error that an open construct is not closed here.
    fn not_closed(&self, open: OpenConstruct) -> Diagnostic {
        let opened = quote(self.text(open.span));
        let line = self.line(open.span);
        let expected = format!("`end` or {}", open.closer.describe());
        let error = self.unexpected(&expected);
        match self.else_if {
            _ if self.kind() == TokenKind::WideArrow => error,
            Some(inner) if inner.start > open.span.start => {
                let line = self.line(inner);
                error.help(format!(
                    "the {opened} is still open: the `else if` of line {line} needs two ends, \
                     `elsif` none"
                ))
            }
            _ => error.help(format!("the {opened} of line {line} is still open here")),
        }
    }

    fn model(&mut self) -> ParseResult<MurphiModel<'a>> {
        let mut model = MurphiModel::default();
        loop {
            match self.kind() {
                TokenKind::EndOfFile => break,
                TokenKind::Semicolon => drop(self.advance()?),
                TokenKind::Const | TokenKind::Type | TokenKind::Var => {
                    self.declarations(&mut model.declarations)?;
                }
                TokenKind::Function | TokenKind::Procedure => {
                    let function = Box::new(self.function()?);
                    model.declarations.push(MurphiDeclaration::Function(function));
                }
                _ => model.rules.push(self.rule()?),
            }
        }
        Ok(model)
    }

    /// Parses `const`, `type` and `var` sections, as many as there are.
    fn declarations(&mut self, declarations: &mut Vec<MurphiDeclaration<'a>>) -> ParseResult<()> {
        loop {
            let section = self.kind();
            match section {
                TokenKind::Const | TokenKind::Type | TokenKind::Var => drop(self.advance()?),
                _ => return Ok(()),
            }
            self.reserved_name()?;
            while self.begins_declaration() {
                self.declaration(section, declarations)?;
                self.semicolons()?;
                self.reserved_name()?;
            }
        }
    }

    /// Returns an error if the name that a section would declare is a reserved word.
    fn reserved_name(&self) -> ParseResult<()> {
        let mut ahead = self.clone();
        let is_declared = self.kind().is_reserved()
            && ahead.advance().is_ok()
            && matches!(ahead.kind(), TokenKind::Colon | TokenKind::Comma);
        if is_declared { Err(self.unexpected("a name")) } else { Ok(()) }
    }

    /// Returns whether a declaration begins here: a name and the start of its definition.
    fn begins_declaration(&self) -> bool {
        let mut ahead = self.clone();
        let is_word_of_a_rule = || {
            ["assume", "cover", "liveness"].iter().any(|it| self.is_word(it))
                || self.suggest_rule_keyword().is_some()
        };
        self.kind() == TokenKind::Name
            && (!is_word_of_a_rule()
                || ahead.advance().is_ok()
                    && matches!(ahead.kind(), TokenKind::Colon | TokenKind::Comma))
    }

    fn declaration(
        &mut self,
        section: TokenKind,
        declarations: &mut Vec<MurphiDeclaration<'a>>,
    ) -> ParseResult<()> {
        let names = self.declared_names("a name")?;
        declarations.push(match section {
            TokenKind::Var => MurphiDeclaration::Variables(names, self.type_expr()?),
            TokenKind::Const => MurphiDeclaration::Constants(names, self.expression()?),
            _ => MurphiDeclaration::Types(names, self.type_expr()?),
        });
        Ok(())
    }

    /// Parses names and the colon after them. Like Rumur, this accepts a comma after the last name.
    fn declared_names(&mut self, what: &str) -> ParseResult<Vec<SourceName<'a>>> {
        let mut names = vec![self.name(what)?];
        while self.eat(TokenKind::Comma)? && self.kind() != TokenKind::Colon {
            names.push(self.name(what)?);
        }
        self.expect(TokenKind::Colon)?;
        Ok(names)
    }

    /// Parses the semicolons after a declaration. They may be omitted unless the next token is a sign, a number or a
    /// string, which would belong to the declaration.
    fn semicolons(&mut self) -> ParseResult<()> {
        let next = self.kind();
        let begins = next.is_reserved() || matches!(next, TokenKind::Name | TokenKind::EndOfFile);
        if !begins {
            self.expect(TokenKind::Semicolon)?;
        }
        while self.eat(TokenKind::Semicolon)? {}
        Ok(())
    }

    fn type_expr(&mut self) -> ParseResult<TypeExpr<'a>> {
        self.nested(|parser| {
            let start = parser.next_span();
            let kind = parser.type_kind()?;
            Ok(TypeExpr { kind, span: start.to(parser.last_span()) })
        })
    }

    fn type_kind(&mut self) -> ParseResult<TypeExprKind<'a>> {
        let start = self.next_span();
        match self.kind() {
            TokenKind::Enum => {
                self.advance()?;
                self.expect(TokenKind::BraceOpen)?;
                let names = self.braced(|parser| parser.name("the name of a value"))?;
                Ok(TypeExprKind::Enum(names))
            }
            TokenKind::Record => {
                self.advance()?;
                self.record(OpenConstruct { closer: TokenKind::EndRecord, span: start })
            }
            TokenKind::Array => {
                self.advance()?;
                self.expect(TokenKind::BracketOpen)?;
                let index = Box::new(self.type_expr()?);
                self.expect(TokenKind::BracketClose)?;
                self.expect(TokenKind::Of)?;
                Ok(TypeExprKind::Array(index, Box::new(self.type_expr()?)))
            }
            TokenKind::Multiset => {
                self.advance()?;
                self.expect(TokenKind::BracketOpen)?;
                let size = Box::new(self.expression()?);
                self.expect(TokenKind::BracketClose)?;
                self.expect(TokenKind::Of)?;
                Ok(TypeExprKind::Multiset(size, Box::new(self.type_expr()?)))
            }
            TokenKind::Scalarset => {
                self.advance()?;
                self.expect(TokenKind::ParenOpen)?;
                let size = Box::new(self.expression()?);
                self.expect(TokenKind::ParenClose)?;
                Ok(TypeExprKind::Scalarset(size))
            }
            TokenKind::Union => {
                self.advance()?;
                self.expect(TokenKind::BraceOpen)?;
                Ok(TypeExprKind::Union(self.braced(Self::type_expr)?))
            }
            TokenKind::Real => Err(Diagnostic::error(start, "there are no real numbers here")
                .help("a checker of finite states needs a subrange, such as 0..1000 thousandths")),
            _ => self.range_or_name(),
        }
    }

    /// Parses items between commas up to a closing brace. No semicolon is needed after the brace.
    fn braced<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = Vec::new();
        while self.kind() != TokenKind::BraceClose {
            items.push(item(self)?);
            if !self.eat(TokenKind::Comma)? {
                break;
            }
        }
        self.expect(TokenKind::BraceClose)?;
        Ok(items)
    }

    fn record(&mut self, open: OpenConstruct) -> ParseResult<TypeExprKind<'a>> {
        let mut fields = Vec::new();
        while self.kind() == TokenKind::Name {
            let names = self.declared_names("the name of a field")?;
            fields.push((names, self.type_expr()?));
            while self.eat(TokenKind::Semicolon)? {}
        }
        self.close(open)?;
        Ok(TypeExprKind::Record(fields))
    }

    fn range_or_name(&mut self) -> ParseResult<TypeExprKind<'a>> {
        let first = self.expression()?;
        match first.kind {
            MurphiExprKind::Name(text) if self.kind() != TokenKind::Dots => {
                Ok(TypeExprKind::Named(SourceName { text, span: first.span }))
            }
            _ => {
                if self.kind() != TokenKind::Dots {
                    return Err(self.unexpected("`..` and the end of a range"));
                }
                self.advance()?;
                Ok(TypeExprKind::Range(Box::new(first), Box::new(self.expression()?)))
            }
        }
    }

    fn function(&mut self) -> ParseResult<MurphiFunction<'a>> {
        let word = self.advance()?;
        let closer = match word.kind {
            TokenKind::Function => TokenKind::EndFunction,
            _ => TokenKind::EndProcedure,
        };
        let name = self.name("the name of the function")?;
        let mut parameters = Vec::new();
        if self.eat(TokenKind::ParenOpen)? {
            while self.kind() != TokenKind::ParenClose {
                parameters.push(self.parameters()?);
                let separated = self.eat(TokenKind::Semicolon)? || self.eat(TokenKind::Comma)?;
                if !separated && !matches!(self.kind(), TokenKind::Name | TokenKind::Var) {
                    break;
                }
                while self.eat(TokenKind::Semicolon)? {}
            }
            self.expect(TokenKind::ParenClose)?;
        }
        let result = match self.eat(TokenKind::Colon)? {
            true => Some(self.type_expr()?),
            false => None,
        };
        while self.eat(TokenKind::Semicolon)? {}
        let body = self.block(OpenConstruct { closer, span: word.span })?;
        Ok(MurphiFunction { name, parameters, result, body })
    }

    /// Parses `var x, y: T`.
    fn parameters(&mut self) -> ParseResult<ParameterGroup<'a>> {
        let by_reference = self.eat(TokenKind::Var)?;
        let names = self.declared_names("the name of a parameter")?;
        Ok(ParameterGroup { names, by_reference, ty: self.type_expr()? })
    }

    /// Parses declarations and statements up to the end of the open construct.
    fn block(&mut self, open: OpenConstruct) -> ParseResult<MurphiBlock<'a>> {
        let mut declarations = Vec::new();
        self.declarations(&mut declarations)?;
        self.eat(TokenKind::Begin)?;
        let body = self.statements()?;
        self.close(open)?;
        Ok(MurphiBlock { declarations, body })
    }
}
