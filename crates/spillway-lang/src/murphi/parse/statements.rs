//! The parser of statements.

use super::{MurphiParser, OpenConstruct};
use crate::murphi::ast::*;
use crate::murphi::lex::TokenKind;
use crate::token::{ParseResult, TokenClass, TokenParser};
use spillway_base::diag::Diagnostic;

impl<'a> MurphiParser<'a> {
    /// Parses statements separated by semicolons, up to a token that cannot begin one.
    pub(super) fn statements(&mut self) -> ParseResult<Vec<MurphiStmt<'a>>> {
        let mut statements = Vec::new();
        loop {
            while self.eat(TokenKind::Semicolon)? {}
            if !self.begins_statement() {
                return Ok(statements);
            }
            statements.push(self.nested(Self::statement)?);
            if self.kind() != TokenKind::Semicolon && self.begins_statement() {
                return Err(self.unexpected("`;`"));
            }
        }
    }

    /// Returns whether the next token can begin a statement.
    pub(super) fn begins_statement(&self) -> bool {
        use TokenKind::*;
        matches!(
            self.kind(),
            Name | If
                | Switch
                | For
                | While
                | Alias
                | Return
                | Clear
                | Undefine
                | Error
                | Assert
                | Put
                | MultisetAdd
                | MultisetRemove
                | MultisetRemovePred
        )
    }

    fn statement(&mut self) -> ParseResult<MurphiStmt<'a>> {
        let start = self.next_span();
        let kind = match self.kind() {
            TokenKind::Name if self.begins_property("assume") => {
                MurphiStmtKind::Assume(self.property_statement()?.0)
            }
            TokenKind::Name if self.begins_property("cover") => {
                let (condition, name) = self.property_statement()?;
                MurphiStmtKind::Cover(condition, name)
            }
            TokenKind::Name => self.assignment_or_call()?,
            TokenKind::Assert => {
                let (condition, text) = self.property_statement()?;
                MurphiStmtKind::Assert(condition, text)
            }
            TokenKind::If => self.if_()?,
            TokenKind::Switch => self.switch()?,
            TokenKind::For => {
                let open = OpenConstruct { closer: TokenKind::EndFor, span: self.advance()?.span };
                let quantifiers = self.quantifiers()?;
                let body = self.statements()?;
                self.close(open)?;
                MurphiStmtKind::For(quantifiers, body)
            }
            TokenKind::While => {
                let open =
                    OpenConstruct { closer: TokenKind::EndWhile, span: self.advance()?.span };
                let condition = self.expression()?;
                self.do_()?;
                let body = self.statements()?;
                self.close(open)?;
                MurphiStmtKind::While(condition, body)
            }
            TokenKind::Alias => {
                let open =
                    OpenConstruct { closer: TokenKind::EndAlias, span: self.advance()?.span };
                let aliases = self.aliases()?;
                let body = self.statements()?;
                self.close(open)?;
                MurphiStmtKind::Alias(aliases, body)
            }
            _ => self.simple()?,
        };
        Ok(MurphiStmt { kind, span: start.to(self.last_span()) })
    }

    /// Returns whether this word begins an `assume` or `cover` statement here, and is not used as a variable.
    fn begins_property(&self, word: &str) -> bool {
        let mut ahead = self.clone();
        self.is_word(word)
            && ahead.advance().is_ok()
            && !matches!(ahead.kind(), TokenKind::Assign | TokenKind::Dot | TokenKind::BracketOpen)
    }

    /// Returns whether an `assume` or `cover` statement is next where a guard may begin: a guard begins neither with
    /// two names nor with a name and a string.
    pub(super) fn begins_property_of_body(&self) -> bool {
        let mut ahead = self.clone();
        ["assume", "cover"].iter().any(|it| self.is_word(it))
            && ahead.advance().is_ok()
            && matches!(ahead.kind(), TokenKind::Name | TokenKind::String)
    }

    /// Parses the condition of an `assume` or `cover` statement, and its name, which is before or after the condition.
    fn property_statement(&mut self) -> ParseResult<(MurphiExpr<'a>, Option<&'a str>)> {
        self.advance()?;
        let name = self.string()?;
        let condition = self.expression()?;
        let name = if name.is_some() { name } else { self.string()? };
        Ok((condition, name))
    }

    fn assignment_or_call(&mut self) -> ParseResult<MurphiStmtKind<'a>> {
        let target = self.designator()?;
        if let MurphiExprKind::Call(name, arguments) = target.kind {
            if self.kind() == TokenKind::Assign {
                return Err(Diagnostic::error(target.span, "a call cannot be assigned")
                    .help("elements of an array are written with brackets: `a[i]`"));
            }
            return Ok(MurphiStmtKind::Call(name, arguments));
        }
        match self.kind() {
            TokenKind::Assign => {
                self.advance()?;
                Ok(MurphiStmtKind::Assign(target, self.expression()?))
            }
            TokenKind::Equal => {
                Err(Diagnostic::error(self.next_span(), "`=` compares")
                    .help("to assign, write `:=`"))
            }
            _ => Err(self.unexpected("`:=` and a value, or the arguments of a procedure")),
        }
    }

    fn if_(&mut self) -> ParseResult<MurphiStmtKind<'a>> {
        let open = OpenConstruct { closer: TokenKind::EndIf, span: self.advance()?.span };
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect(TokenKind::Then)?;
            branches.push((Some(condition), self.statements()?));
            match self.kind() {
                TokenKind::Elsif => drop(self.advance()?),
                TokenKind::Else => {
                    self.advance()?;
                    if self.kind() == TokenKind::If {
                        self.else_if = Some(self.next_span());
                    }
                    branches.push((None, self.statements()?));
                    break;
                }
                _ => break,
            }
        }
        self.close(open)?;
        Ok(MurphiStmtKind::If(branches))
    }

    fn switch(&mut self) -> ParseResult<MurphiStmtKind<'a>> {
        let open = OpenConstruct { closer: TokenKind::EndSwitch, span: self.advance()?.span };
        let subject = self.expression()?;
        let mut cases = Vec::new();
        while self.eat(TokenKind::Case)? {
            let values = self.list(Self::expression)?;
            self.expect(TokenKind::Colon)?;
            cases.push((values, self.statements()?));
        }
        if self.eat(TokenKind::Else)? {
            self.eat(TokenKind::Colon)?;
            cases.push((Vec::new(), self.statements()?));
        }
        self.close(open)?;
        Ok(MurphiStmtKind::Switch(subject, cases))
    }

    /// Parses `x: e; y: e do`, the `do` included.
    pub(super) fn aliases(&mut self) -> ParseResult<Vec<AliasDefinition<'a>>> {
        let mut aliases = Vec::new();
        loop {
            let name = self.name("a name")?;
            self.expect(TokenKind::Colon)?;
            aliases.push(AliasDefinition { name, value: self.expression()? });
            self.check_list_length(aliases.len())?;
            let more = self.eat(TokenKind::Semicolon)? || self.eat(TokenKind::Comma)?;
            while self.eat(TokenKind::Semicolon)? {}
            if self.kind() == TokenKind::Do || !more && self.kind() != TokenKind::Name {
                self.expect(TokenKind::Do)?;
                return Ok(aliases);
            }
        }
    }

    fn simple(&mut self) -> ParseResult<MurphiStmtKind<'a>> {
        let word = self.advance()?;
        Ok(match word.kind {
            TokenKind::Return => MurphiStmtKind::Return(match self.kind() {
                TokenKind::Semicolon => None,
                kind if kind.is_reserved() && !begins_expression(kind) => None,
                _ => Some(self.expression()?),
            }),
            TokenKind::Clear => MurphiStmtKind::Clear(self.designator()?),
            TokenKind::Undefine => MurphiStmtKind::Undefine(self.designator()?),
            TokenKind::Error => match self.string()? {
                Some(text) => MurphiStmtKind::Error(text),
                None => return Err(self.unexpected("a string")),
            },
            TokenKind::Put => match self.string()? {
                Some(text) => MurphiStmtKind::PutText(text),
                None => MurphiStmtKind::Put(self.expression()?),
            },
            TokenKind::MultisetRemovePred => MurphiStmtKind::RemoveWhere(self.filter()?),
            kind => {
                self.expect(TokenKind::ParenOpen)?;
                let first = self.expression()?;
                self.expect(TokenKind::Comma)?;
                let multiset = self.designator()?;
                self.expect(TokenKind::ParenClose)?;
                match kind {
                    TokenKind::MultisetAdd => MurphiStmtKind::Add(first, multiset),
                    _ => MurphiStmtKind::Remove(first, multiset),
                }
            }
        })
    }
}

/// Returns whether a reserved word can begin an expression.
fn begins_expression(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(kind, Undefined | Forall | Exists | IsUndefined | IsMember | MultisetCount)
}
