//! The parser: declarations, processes and transitions.
//!
//! It uses recursive descent with one token of look-ahead. It stops at the first error, which names the expected and
//! the found token. Sections may come in any order in which each makes sense alone, because the versions of DiVinE
//! require different orders. Expressions are in [`operators`](super::operators).

use super::ast::*;
use super::lex::{DveLexer, TokenKind};
use crate::quote::quote;
use crate::token::{ParseResult, TokenClass, TokenParser, TokenStream};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// Parses a whole file; warnings are added to `warnings`.
pub fn parse<'a>(
    file: u32,
    text: &'a str,
    warnings: &mut Vec<Diagnostic>,
) -> Result<DveModel<'a>, Diagnostic> {
    let tokens = TokenStream::new(DveLexer::new(file, text))?;
    DveParser { tokens, depth: 0, warnings }.model()
}

/// Parses a part of a file as an expression.
pub(super) fn expression<'a>(
    span: Span,
    text: &'a str,
    warnings: &mut Vec<Diagnostic>,
) -> Result<DveExpr<'a>, Diagnostic> {
    let tokens = TokenStream::new(DveLexer::within(span, text))?;
    let mut parser = DveParser { tokens, depth: 0, warnings };
    let expr = parser.expression()?;
    match parser.kind() {
        TokenKind::EndOfFile => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end of the proposition")),
    }
}

/// A parser, at a position in the tokens.
pub(super) struct DveParser<'a, 'w> {
    tokens: TokenStream<'a, DveLexer<'a>>,
    /// The number of open brackets and unary operators.
    pub(super) depth: u32,
    /// Warnings found while parsing.
    pub(super) warnings: &'w mut Vec<Diagnostic>,
}

impl<'a> TokenParser<'a> for DveParser<'a, '_> {
    type SourceLexer = DveLexer<'a>;

    fn tokens(&self) -> &TokenStream<'a, DveLexer<'a>> {
        &self.tokens
    }

    fn tokens_mut(&mut self) -> &mut TokenStream<'a, DveLexer<'a>> {
        &mut self.tokens
    }

    fn advice(&self, expected: &str) -> Option<String> {
        let is_reserved = self.kind().is_reserved() && expected.contains("name");
        is_reserved.then(|| format!("{} is a reserved word", quote(self.text(self.next_span()))))
    }
}

impl<'a> DveParser<'a, '_> {
    fn model(&mut self) -> ParseResult<DveModel<'a>> {
        let mut model = DveModel::default();
        if self.kind() == TokenKind::EndOfFile {
            return Err(Diagnostic::error(self.next_span(), "the file holds no model")
                .help("a DVE model has processes and ends with `system async;`"));
        }
        loop {
            match self.kind() {
                TokenKind::Const | TokenKind::Byte | TokenKind::Int => {
                    let variables = self.variables()?;
                    model.declarations.extend(variables.into_iter().map(DveDeclaration::Variable));
                }
                TokenKind::Channel => self.channels(&mut model.declarations)?,
                TokenKind::Process => model.processes.push(self.process()?),
                TokenKind::System => {
                    model.system = self.system()?;
                    return Ok(model);
                }
                TokenKind::EndOfFile => return Err(self.no_system()),
                _ => return Err(self.unexpected("a declaration, a `process` or `system`")),
            }
        }
    }

    fn no_system(&self) -> Diagnostic {
        let place = Span { start: self.last_span().end, ..self.last_span() };
        Diagnostic::error(place, "the model has no `system` line")
            .help("end it with `system async;`")
    }

    /// Parses `system async property P;`.
    fn system(&mut self) -> ParseResult<DveSystem<'a>> {
        self.advance()?;
        let lockstep = match self.kind() {
            TokenKind::Async => false,
            TokenKind::Sync => true,
            _ => return Err(self.unexpected("`async` or `sync`")),
        };
        self.advance()?;
        let property = match self.eat(TokenKind::Property)? {
            true => Some(self.name("the name of the property process")?),
            false => None,
        };
        self.expect(TokenKind::Semicolon)?;
        match self.kind() {
            TokenKind::EndOfFile => Ok(DveSystem { lockstep, property }),
            _ => Err(self.unexpected("the end of the file after the `system` line")),
        }
    }

    /// Parses `const byte N = e, a[e] = {e, e};`.
    fn variables(&mut self) -> ParseResult<Vec<DveVariable<'a>>> {
        let constant = self.eat(TokenKind::Const)?;
        let basic = self.basic()?;
        let variables = self.list(|parser| parser.variable(constant, basic))?;
        self.expect(TokenKind::Semicolon)?;
        Ok(variables)
    }

    fn basic(&mut self) -> ParseResult<DveIntType> {
        let basic = match self.kind() {
            TokenKind::Byte => DveIntType::Byte,
            TokenKind::Int => DveIntType::Int,
            _ => return Err(self.unexpected("`byte` or `int`")),
        };
        self.advance()?;
        Ok(basic)
    }

    fn variable(&mut self, constant: bool, basic: DveIntType) -> ParseResult<DveVariable<'a>> {
        let name = self.name("the name of a variable")?;
        let size = self.bracketed()?;
        let initial = match self.eat(TokenKind::Assign)? {
            true => Some(self.initial()?),
            false => None,
        };
        Ok(DveVariable { name, constant, basic, size, initial })
    }

    fn initial(&mut self) -> ParseResult<DveInitializer<'a>> {
        match self.kind() {
            TokenKind::BraceOpen => {
                let start = self.next_span();
                let values = self.braced(Self::expression)?;
                Ok(DveInitializer::List(values, start.to(self.last_span())))
            }
            _ => Ok(DveInitializer::Value(self.expression()?)),
        }
    }

    /// Parses `channel a, b;` or `channel {byte, int} a[2], b[i < N][2];`.
    fn channels(&mut self, declarations: &mut Vec<DveDeclaration<'a>>) -> ParseResult<()> {
        self.advance()?;
        let fields = match self.kind() {
            TokenKind::BraceOpen => Some(self.braced(Self::basic)?),
            _ => None,
        };
        let channels = self.list(|parser| parser.channel(fields.clone()))?;
        declarations.extend(channels.into_iter().map(DveDeclaration::Channel));
        self.expect(TokenKind::Semicolon)?;
        Ok(())
    }

    fn channel(&mut self, fields: Option<Vec<DveIntType>>) -> ParseResult<DveChannel<'a>> {
        let name = self.name("the name of a channel")?;
        let (family, capacity) = match self.bracketed()?.map(as_family) {
            None => (None, None),
            Some(Err(capacity)) => (None, Some(capacity)),
            Some(Ok(family)) => (Some(family), self.bracketed()?),
        };
        Ok(DveChannel { name, family, fields, capacity })
    }

    fn process(&mut self) -> ParseResult<DveProcess<'a>> {
        self.advance()?;
        let name = self.name("the name of a process")?;
        let family = match self.bracketed()?.map(as_family).transpose() {
            Ok(family) => family,
            Err(other) => {
                return Err(Diagnostic::error(other.span, "expected the members of a family")
                    .help("write `[i < N]` for N processes numbered by `i`"));
            }
        };
        let mut process = DveProcess {
            name,
            family,
            variables: Vec::new(),
            states: Vec::new(),
            init: None,
            commits: Vec::new(),
            accepts: Vec::new(),
            asserts: Vec::new(),
            transitions: Vec::new(),
        };
        self.expect(TokenKind::BraceOpen)?;
        while !self.eat(TokenKind::BraceClose)? {
            self.section(&mut process)?;
        }
        Ok(process)
    }

    fn section(&mut self, process: &mut DveProcess<'a>) -> ParseResult<()> {
        match self.kind() {
            TokenKind::Const | TokenKind::Byte | TokenKind::Int => {
                process.variables.extend(self.variables()?);
                Ok(())
            }
            TokenKind::State => self.states(&mut process.states),
            TokenKind::Commit => self.states(&mut process.commits),
            TokenKind::Accept => self.states(&mut process.accepts),
            TokenKind::Init => self.init(process),
            TokenKind::Assert => {
                self.advance()?;
                process.asserts.extend(self.list(Self::assertion)?);
                self.expect(TokenKind::Semicolon).map(drop)
            }
            TokenKind::Trans => self.transitions(&mut process.transitions),
            TokenKind::Channel => {
                let error = "channels are declared outside processes";
                Err(Diagnostic::error(self.next_span(), error))
            }
            _ => Err(self.unexpected(
                "`byte`, `int`, `const`, `state`, `init`, `commit`, `accept`, `assert`, `trans` \
                 or `}`",
            )),
        }
    }

    fn states(&mut self, into: &mut Vec<SourceName<'a>>) -> ParseResult<()> {
        self.advance()?;
        into.extend(self.list(|parser| parser.name("the name of a state"))?);
        self.expect(TokenKind::Semicolon)?;
        Ok(())
    }

    fn init(&mut self, process: &mut DveProcess<'a>) -> ParseResult<()> {
        let word = self.advance()?.span;
        if process.init.is_some() {
            return Err(Diagnostic::error(word, "a process has one initial state"));
        }
        process.init = Some(self.name("the name of a state")?);
        self.expect(TokenKind::Semicolon)?;
        Ok(())
    }

    /// Parses `q: e` (DiVinE) or `q e`.
    fn assertion(&mut self) -> ParseResult<(SourceName<'a>, DveExpr<'a>)> {
        let state = self.name("the name of a state")?;
        self.eat(TokenKind::Colon)?;
        Ok((state, self.expression()?))
    }

    fn transitions(&mut self, transitions: &mut Vec<DveTransition<'a>>) -> ParseResult<()> {
        self.advance()?;
        let before = transitions.len();
        while !matches!(self.kind(), TokenKind::Semicolon | TokenKind::BraceClose) {
            let source = transitions.get(before..).and_then(<[_]>::last).map(|last| last.from);
            let transition = self.transition(source)?;
            transitions.push(transition);
            match self.kind() {
                TokenKind::Comma => drop(self.advance()?),
                TokenKind::Semicolon | TokenKind::BraceClose => {}
                _ => return Err(self.unexpected("`,` or `;` after a transition")),
            }
        }
        self.eat(TokenKind::Semicolon)?;
        Ok(())
    }

    fn transition(&mut self, source: Option<SourceName<'a>>) -> ParseResult<DveTransition<'a>> {
        let start = self.next_span();
        let from = match (self.kind(), source) {
            (TokenKind::Arrow, Some(source)) => source,
            (TokenKind::Arrow, None) => {
                return Err(Diagnostic::error(start, "the first transition needs a source state")
                    .help("only later ones may leave out the source of the one before"));
            }
            _ => self.name("the name of a state")?,
        };
        if self.kind() == TokenKind::WideArrow {
            let error = "probabilistic transitions (`=>`) are not supported";
            return Err(Diagnostic::error(self.next_span(), error));
        }
        self.expect(TokenKind::Arrow)?;
        let to = self.name("the name of a state")?;
        let mut transition =
            DveTransition { from, to, guard: None, sync: None, effects: Vec::new(), span: start };
        self.expect(TokenKind::BraceOpen)?;
        while !self.eat(TokenKind::BraceClose)? {
            self.part(&mut transition)?;
            self.expect(TokenKind::Semicolon)?;
        }
        transition.span = start.to(self.last_span());
        Ok(transition)
    }

    fn part(&mut self, transition: &mut DveTransition<'a>) -> ParseResult<()> {
        let (kind, span) = (self.kind(), self.next_span());
        let again = match kind {
            TokenKind::Guard => transition.guard.is_some(),
            TokenKind::Sync => transition.sync.is_some(),
            TokenKind::Effect => !transition.effects.is_empty(),
            _ => return Err(self.unexpected("`guard`, `sync`, `effect` or `}`")),
        };
        if again {
            let error = format!("a transition has one {}", kind.describe());
            return Err(Diagnostic::error(span, error));
        }
        self.advance()?;
        match kind {
            TokenKind::Guard => transition.guard = Some(self.expression()?),
            TokenKind::Sync => transition.sync = Some(self.sync()?),
            _ => transition.effects = self.list(Self::effect)?,
        }
        Ok(())
    }

    // If this is inlined into `model`, rustc 1.95 miscompiles it, with the optimisation of tests and without
    // incremental compilation: `c?x` becomes a send. There is nothing unsafe here.
    #[inline(never)]
    fn sync(&mut self) -> ParseResult<DveSync<'a>> {
        let channel = self.channel_use()?;
        let sends = match self.kind() {
            TokenKind::Bang => true,
            TokenKind::Question => false,
            _ => return Err(self.unexpected("`!` or `?`")),
        };
        let start = channel.name.span;
        self.advance()?;
        let values = match self.kind() {
            TokenKind::Semicolon => Vec::new(),
            TokenKind::BraceOpen => self.braced(Self::expression)?,
            _ => vec![self.expression()?],
        };
        Ok(DveSync { channel, sends, values, span: start.to(self.last_span()) })
    }

    fn effect(&mut self) -> ParseResult<DveEffect<'a>> {
        if self.kind() != TokenKind::Name {
            return Err(self.unexpected("a variable to assign"));
        }
        let target = self.operand()?;
        self.expect(TokenKind::Assign)?;
        Ok(DveEffect { target, value: self.expression()? })
    }

    /// Parses `c` or `c[e]`.
    pub(super) fn channel_use(&mut self) -> ParseResult<DveChannelUse<'a>> {
        let name = self.name("the name of a channel")?;
        let member = self.bracketed()?.map(Box::new);
        Ok(DveChannelUse { name, member })
    }

    /// Parses `[e]`, if present.
    pub(super) fn bracketed(&mut self) -> ParseResult<Option<DveExpr<'a>>> {
        if !self.eat(TokenKind::BracketOpen)? {
            return Ok(None);
        }
        let inside = self.nested(Self::expression)?;
        self.expect(TokenKind::BracketClose)?;
        Ok(Some(inside))
    }

    /// Parses `{item, item}`.
    fn braced<T>(&mut self, item: impl FnMut(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        self.expect(TokenKind::BraceOpen)?;
        let items = self.list(item)?;
        self.expect(TokenKind::BraceClose)?;
        Ok(items)
    }
}

/// Interprets `i < N` as the members of a family, or returns the expression.
fn as_family(inside: DveExpr<'_>) -> Result<DveFamily<'_>, DveExpr<'_>> {
    let is_family = match &inside.kind {
        DveExprKind::Binary(spillway_ir::BinaryOp::Less, sides) => {
            matches!(&sides.0.kind, DveExprKind::Value(DveReference { index: None, .. }))
        }
        _ => false,
    };
    let span = inside.span;
    match inside.kind {
        DveExprKind::Binary(_, sides) if is_family => {
            let (index, size) = *sides;
            match index.kind {
                DveExprKind::Value(DveReference { name, .. }) => {
                    Ok(DveFamily { index: name, size })
                }
                _ => Err(size),
            }
        }
        kind => Err(DveExpr { kind, span, height: inside.height }),
    }
}
