//! Modules and their units.

use super::super::ast::{
    AssumeProve, Assumption, Declaration, Definition, DefinitionBody, Instance, Module, Name,
    NewKind, Statement, Substitution, Unit,
};
use super::super::symbols::{Fixity, Symbol};
use super::super::token::{Keyword, Mark, TokenKind};
use super::proofs::THEOREM;
use super::{ParseResult, Parser};
use spillway_base::diag::Diagnostic;

impl Parser<'_> {
    pub(super) fn module(&mut self) -> ParseResult<Module> {
        self.nested(|parser| {
            let start = parser.bump().span;
            let name = parser.field_name()?;
            match parser.peek().kind {
                TokenKind::Separator => parser.bump(),
                _ => return Err(parser.expected("`----` after the name of the module")),
            };
            let extends = match parser.take_keyword(Keyword::Extends) {
                true => parser.comma_list(Self::field_name)?,
                false => Vec::new(),
            };
            let mut units = Vec::new();
            while parser.peek().kind != TokenKind::ModuleEnd {
                parser.unit(&mut units)?;
            }
            let end = parser.bump().span;
            Ok(Module { name, extends, units, span: start.to(end) })
        })
    }

    fn unit(&mut self, units: &mut Vec<Unit>) -> ParseResult<()> {
        let unit = match self.peek().kind {
            TokenKind::Separator => {
                self.bump();
                return Ok(());
            }
            TokenKind::ModuleStart => Unit::Module(Box::new(self.module()?)),
            TokenKind::Keyword(Keyword::Use | Keyword::Hide) => return self.use_or_hide(),
            TokenKind::Keyword(keyword) => self.keyword_unit(keyword)?,
            _ if self.begins_definition() => {
                Unit::Definition { is_local: false, definition: self.definition()? }
            }
            _ => return Err(self.unit_error()),
        };
        units.push(unit);
        Ok(())
    }

    fn keyword_unit(&mut self, keyword: Keyword) -> ParseResult<Unit> {
        Ok(match keyword {
            Keyword::Variable => {
                self.bump();
                Unit::Variables(self.comma_list(Self::identifier)?)
            }
            Keyword::Constant => Unit::Constants(self.declarations()?),
            Keyword::Recursive => Unit::Recursive(self.declarations()?),
            Keyword::Local => {
                self.bump();
                match self.is_keyword(Keyword::Instance) {
                    true => Unit::Instance { is_local: true, instance: self.instance()? },
                    false => Unit::Definition { is_local: true, definition: self.definition()? },
                }
            }
            Keyword::Instance => Unit::Instance { is_local: false, instance: self.instance()? },
            Keyword::Assume | Keyword::Assumption => {
                let is_axiom = {
                    let token = self.bump();
                    self.text_of(token.span)
                } == "AXIOM";
                Unit::Assume { name: self.optional_name()?, body: self.expression()?, is_axiom }
            }
            Keyword::Theorem | Keyword::Proposition => self.theorem()?,
            _ => return Err(self.unit_error()),
        })
    }

    fn unit_error(&self) -> Diagnostic {
        let error = self.expected("a definition, a declaration or the end of the module");
        let before = self.tokens[self.at.saturating_sub(1)];
        match self.peek().kind {
            // The name of the definition was read as the last operand before it.
            TokenKind::Mark(Mark::Define) if before.kind == TokenKind::Identifier => {
                let name = self.text_of(before.span);
                let message = format!("an expression is missing before the definition of `{name}`");
                Diagnostic::error(before.span, message).help("complete the expression before it")
            }
            TokenKind::Symbol(_) | TokenKind::Mark(_) => error
                .help("the text before is complete: remove this, or what follows it is missing"),
            TokenKind::Identifier if self.peek_at(1).kind == TokenKind::Symbol(Symbol::Equals) => {
                error.help("a definition has two equals signs: `==`")
            }
            TokenKind::Identifier => error
                .help("a definition is `Name == ...`, `Name(x) == ...` or `f[x \\in S] == ...`"),
            TokenKind::End => error,
            _ => error.help("declarations are VARIABLE, CONSTANT, ASSUME, THEOREM and INSTANCE"),
        }
    }

    fn theorem(&mut self) -> ParseResult<Unit> {
        self.bump();
        let name = self.optional_name()?;
        let body = self.statement()?;
        if self.begins_proof(THEOREM) {
            self.proof(THEOREM)?;
        }
        Ok(Unit::Theorem { name, body })
    }

    /// Parses `Name ==` of an assumption or a theorem, if it is there.
    fn optional_name(&mut self) -> ParseResult<Option<Name>> {
        let is_named = self.peek().kind == TokenKind::Identifier
            && self.peek_at(1).kind == TokenKind::Mark(Mark::Define);
        if !is_named {
            return Ok(None);
        }
        let name = self.identifier()?;
        self.bump();
        Ok(Some(name))
    }

    /// Parses a formula or ASSUME ... PROVE.
    pub(super) fn statement(&mut self) -> ParseResult<Statement> {
        let is_boxed = self.is_symbol(Symbol::Always)
            && self.peek_at(1).kind == TokenKind::Keyword(Keyword::Assume);
        let is_labelled = self.peek().kind == TokenKind::Identifier
            && self.peek_at(1).kind == TokenKind::Mark(Mark::DoubleColon)
            && self.peek_at(2).kind == TokenKind::Keyword(Keyword::Assume);
        if is_boxed {
            self.bump();
        } else if is_labelled {
            self.bump();
            self.bump();
        }
        if !self.is_keyword(Keyword::Assume) {
            return self.expression().map(Statement::Formula);
        }
        self.nested(|parser| {
            parser.bump();
            let assumptions = parser.comma_list(Self::assumption)?;
            if parser.is_symbol(Symbol::Always) {
                parser.bump();
            }
            parser.expect_keyword(Keyword::Prove)?;
            let goal = parser.expression()?;
            Ok(Statement::AssumeProve(Box::new(AssumeProve { assumptions, goal })))
        })
    }

    fn assumption(&mut self) -> ParseResult<Assumption> {
        let is_new = self.take_keyword(Keyword::New);
        let kind = match self.peek().kind {
            TokenKind::Keyword(Keyword::Constant) => Some(NewKind::Constant),
            TokenKind::Keyword(Keyword::Variable) => Some(NewKind::Variable),
            TokenKind::Keyword(Keyword::State) => Some(NewKind::State),
            TokenKind::Keyword(Keyword::Action) => Some(NewKind::Action),
            TokenKind::Keyword(Keyword::Temporal) => Some(NewKind::Temporal),
            _ => None,
        };
        if kind.is_some() {
            self.bump();
        }
        let kind = match (kind, is_new) {
            (Some(kind), _) => kind,
            (None, true) => NewKind::Constant,
            (None, false) => return self.statement().map(Assumption::Statement),
        };
        let declaration = self.declaration()?;
        let set = match self.is_symbol(Symbol::In) {
            true => {
                self.bump();
                Some(self.expression()?)
            }
            false => None,
        };
        Ok(Assumption::New { kind, declaration, set })
    }

    /// Parses the declarations after CONSTANT or RECURSIVE.
    pub(super) fn declarations(&mut self) -> ParseResult<Vec<Declaration>> {
        self.bump();
        self.comma_list(Self::declaration)
    }

    /// Parses `x`, `Op(_, _)`, `_ + _`, `-. _` or `_ ^+`.
    fn declaration(&mut self) -> ParseResult<Declaration> {
        if self.take_mark(Mark::Underscore) {
            let token = self.peek();
            let TokenKind::Symbol(symbol) = token.kind else {
                return Err(self.expected("an operator symbol after `_`"));
            };
            self.bump();
            if symbol.fixity() == Fixity::Infix {
                self.expect_mark(Mark::Underscore)?;
            }
            let name = Name { text: symbol.name().into(), span: token.span };
            return Ok(Declaration { name, arity: symbol.arity() });
        }
        if let TokenKind::Symbol(symbol) = self.peek().kind
            && symbol.fixity() == Fixity::Prefix
        {
            let token = self.bump();
            self.expect_mark(Mark::Underscore)?;
            let name = Name { text: symbol.name().into(), span: token.span };
            return Ok(Declaration { name, arity: 1 });
        }
        let name = self.identifier()?;
        let has_parameters = self.is_mark(Mark::LeftParenthesis)
            && self.peek_at(1).kind == TokenKind::Mark(Mark::Underscore);
        if !has_parameters {
            return Ok(Declaration { name, arity: 0 });
        }
        let open = self.bump();
        let arity = self.comma_list(|it| it.expect_mark(Mark::Underscore))?.len();
        self.expect_close(Mark::RightParenthesis, open.span)?;
        Ok(Declaration { name, arity })
    }

    /// Returns whether the next tokens are the left side of a definition, up to its `==`.
    pub(super) fn begins_definition(&self) -> bool {
        let define = TokenKind::Mark(Mark::Define);
        let (first, second) = (self.peek().kind, self.peek_at(1).kind);
        let is_name = |kind| kind == TokenKind::Identifier;
        match (first, second) {
            (TokenKind::Symbol(_), _) => is_name(second) && self.peek_at(2).kind == define,
            (TokenKind::Identifier, TokenKind::Symbol(symbol)) => match symbol.fixity() {
                Fixity::Infix => is_name(self.peek_at(2).kind) && self.peek_at(3).kind == define,
                _ => self.peek_at(2).kind == define,
            },
            (TokenKind::Identifier, TokenKind::Mark(mark)) => match mark {
                Mark::Define => true,
                Mark::LeftParenthesis | Mark::LeftBracket => self.closes_before_define(),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns whether `==` follows the bracket that the token after the next one opens.
    fn closes_before_define(&self) -> bool {
        let mut depth = 0usize;
        for at in self.at + 1..self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::Mark(Mark::LeftParenthesis | Mark::LeftBracket) => depth += 1,
                TokenKind::Mark(Mark::RightParenthesis | Mark::RightBracket) => depth -= 1,
                TokenKind::Mark(Mark::Define) | TokenKind::ModuleEnd => return false,
                _ => {}
            }
            if depth == 0 {
                let next = self.tokens.get(at + 1).map(|it| it.kind);
                return next == Some(TokenKind::Mark(Mark::Define));
            }
        }
        false
    }

    /// Parses a definition.
    pub(super) fn definition(&mut self) -> ParseResult<Definition> {
        let first = self.peek();
        if let TokenKind::Symbol(symbol) = first.kind {
            self.bump();
            let symbol = if symbol == Symbol::Minus { Symbol::Negative } else { symbol };
            if symbol.fixity() != Fixity::Prefix {
                self.at -= 1;
                return Err(self.expected("the name of a definition"));
            }
            let name = Name { text: symbol.name().into(), span: first.span };
            let operand = self.identifier()?;
            return self.operator_definition(name, vec![plain(operand)]);
        }
        let name = self.identifier()?;
        match self.peek().kind {
            TokenKind::Symbol(symbol) if symbol.fixity() != Fixity::Prefix => {
                let token = self.bump();
                let mut parameters = vec![plain(name)];
                if symbol.fixity() == Fixity::Infix {
                    parameters.push(plain(self.identifier()?));
                }
                let name = Name { text: symbol.name().into(), span: token.span };
                self.operator_definition(name, parameters)
            }
            TokenKind::Mark(Mark::LeftBracket) => {
                let open = self.bump();
                let bounds = self.function_bounds()?;
                self.expect_close(Mark::RightBracket, open.span)?;
                self.expect_mark(Mark::Define)?;
                let body = DefinitionBody::Function { bounds, body: self.expression()? };
                Ok(Definition { name, parameters: Vec::new(), body })
            }
            TokenKind::Mark(Mark::LeftParenthesis) => {
                let open = self.bump();
                let parameters = self.comma_list(Self::declaration)?;
                self.expect_close(Mark::RightParenthesis, open.span)?;
                self.operator_definition(name, parameters)
            }
            _ => self.operator_definition(name, Vec::new()),
        }
    }

    fn operator_definition(
        &mut self,
        name: Name,
        parameters: Vec<Declaration>,
    ) -> ParseResult<Definition> {
        self.expect_mark(Mark::Define)?;
        let body = match self.is_keyword(Keyword::Instance) {
            true => DefinitionBody::Instance(self.instance()?),
            false => DefinitionBody::Operator(self.expression()?),
        };
        Ok(Definition { name, parameters, body })
    }

    /// Parses `INSTANCE M WITH x <- e`.
    pub(super) fn instance(&mut self) -> ParseResult<Instance> {
        let start = self.bump().span;
        let module = self.field_name()?;
        let substitutions = match self.take_keyword(Keyword::With) {
            true => self.comma_list(Self::substitution)?,
            false => Vec::new(),
        };
        Ok(Instance { module, substitutions, span: start.to(self.last_span()) })
    }

    fn substitution(&mut self) -> ParseResult<Substitution> {
        let token = self.peek();
        let name = match token.kind {
            TokenKind::Symbol(symbol) => {
                self.bump();
                Name { text: symbol.name().into(), span: token.span }
            }
            _ => self.identifier()?,
        };
        self.expect_mark(Mark::Substitute)?;
        Ok(Substitution { name, value: self.argument()? })
    }
}

/// Returns the declaration of a parameter without parameters.
fn plain(name: Name) -> Declaration {
    Declaration { name, arity: 0 }
}
