//! The parser of rules, start states, properties and their enclosing constructs.

use super::{MurphiParser, OpenConstruct};
use crate::murphi::ast::*;
use crate::murphi::lex::TokenKind;
use crate::name_suggestion;
use crate::token::{ParseResult, TokenParser};
use spillway_base::diag::Diagnostic;

impl<'a> MurphiParser<'a> {
    /// Parses one rule, and the semicolons after it.
    pub(super) fn rule(&mut self) -> ParseResult<MurphiRule<'a>> {
        let span = self.next_span();
        let kind = self.nested(Self::rule_kind)?;
        while self.eat(TokenKind::Semicolon)? {}
        Ok(MurphiRule { kind, span })
    }

    fn rule_kind(&mut self) -> ParseResult<MurphiRuleKind<'a>> {
        let span = self.next_span();
        match self.kind() {
            TokenKind::Rule => {
                self.advance()?;
                self.simple_rule(OpenConstruct { closer: TokenKind::EndRule, span })
            }
            TokenKind::Startstate => {
                self.advance()?;
                let name = self.string()?;
                let block = self.block(OpenConstruct { closer: TokenKind::EndStartstate, span })?;
                Ok(MurphiRuleKind::Start { name, block })
            }
            // An assertion outside of rules is an invariant, as in Rumur.
            TokenKind::Invariant | TokenKind::Assert => {
                self.property(MurphiPropertyKind::Invariant)
            }
            TokenKind::Ruleset => {
                self.advance()?;
                let quantifiers = self.quantifiers()?;
                let rules = self.rules(OpenConstruct { closer: TokenKind::EndRuleset, span })?;
                Ok(MurphiRuleKind::Ruleset(quantifiers, rules))
            }
            TokenKind::Alias => {
                self.advance()?;
                let aliases = self.aliases()?;
                let rules = self.rules(OpenConstruct { closer: TokenKind::EndAlias, span })?;
                Ok(MurphiRuleKind::Alias(aliases, rules))
            }
            TokenKind::Choose => {
                self.advance()?;
                let name = self.name("a name for an element")?;
                self.expect(TokenKind::Colon)?;
                let multiset = self.designator()?;
                self.do_()?;
                let rules = self.rules(OpenConstruct { closer: TokenKind::EndChoose, span })?;
                Ok(MurphiRuleKind::Choose(name, multiset, rules))
            }
            TokenKind::Name if self.is_word("assume") => self.property(MurphiPropertyKind::Assume),
            TokenKind::Name if self.is_word("cover") => self.property(MurphiPropertyKind::Cover),
            TokenKind::Name if self.is_word("liveness") => {
                self.property(MurphiPropertyKind::Liveness)
            }
            TokenKind::Name | TokenKind::If | TokenKind::For | TokenKind::Switch => {
                Err(self.no_rule())
            }
            _ => Err(self.unexpected("a declaration, a rule, a start state or an invariant")),
        }
    }

    /// Returns the error for a token that begins no rule: it is similar to a rule keyword, or begins a statement.
    fn no_rule(&self) -> Diagnostic {
        let statement = || {
            "a statement stands here outside rules: is an `end` before it one too many?".to_owned()
        };
        let error = self.unexpected("a rule, a start state or an invariant");
        Diagnostic { span: self.next_span(), ..error }
            .help(self.suggest_rule_keyword().unwrap_or_else(statement))
    }

    /// Suggests a word that begins a rule or a similar construct, if the next token is like one.
    pub(super) fn suggest_rule_keyword(&self) -> Option<String> {
        let words = ["rule", "ruleset", "startstate", "invariant", "alias", "choose"];
        name_suggestion::suggest_name(
            &self.text(self.next_span()).to_lowercase(),
            words.into_iter(),
        )
    }

    /// Parses rules up to the end of the enclosing construct.
    fn rules(&mut self, open: OpenConstruct) -> ParseResult<Vec<MurphiRule<'a>>> {
        let mut rules = Vec::new();
        while self.eat(TokenKind::Semicolon)? {}
        loop {
            match self.kind() {
                TokenKind::End => break,
                kind if kind == open.closer => break,
                TokenKind::EndOfFile => return Err(self.not_closed(open)),
                _ => rules.push(self.rule()?),
            }
        }
        self.close(open)?;
        Ok(rules)
    }

    fn simple_rule(&mut self, open: OpenConstruct) -> ParseResult<MurphiRuleKind<'a>> {
        let priority = match self.kind() {
            TokenKind::Number => self.priority()?,
            _ => 0,
        };
        let name = self.string()?;
        let guard = self.guard()?;
        let block = self.block(open)?;
        Ok(MurphiRuleKind::Simple { name, priority, guard, block })
    }

    fn priority(&mut self) -> ParseResult<i32> {
        let span = self.advance()?.span;
        self.text(span).parse().map_err(|_| {
            Diagnostic::error(span, "this priority is too large").help("priorities fit 32 bits")
        })
    }

    /// Parses the guard before `==>`, if there is one.
    fn guard(&mut self) -> ParseResult<Option<MurphiExpr<'a>>> {
        if self.eat(TokenKind::WideArrow)? {
            return Ok(None);
        }
        let begins_body = match self.kind() {
            TokenKind::Name => self.begins_property_of_body(),
            TokenKind::Begin | TokenKind::Var | TokenKind::Const | TokenKind::Type => true,
            TokenKind::End | TokenKind::EndRule => true,
            _ => self.begins_statement(),
        };
        if begins_body {
            return Ok(None);
        }
        let before = self.clone();
        let guard = self.expression()?;
        match self.kind() {
            TokenKind::WideArrow => {
                self.advance()?;
                Ok(Some(guard))
            }
            TokenKind::Assign | TokenKind::Semicolon => {
                *self = before;
                Ok(None)
            }
            _ => Err(self.unexpected("`==>` after the guard")),
        }
    }

    fn property(&mut self, kind: MurphiPropertyKind) -> ParseResult<MurphiRuleKind<'a>> {
        self.advance()?;
        let name = self.string()?;
        let condition = self.expression()?;
        // Rumur also accepts the name after the condition.
        let name = if name.is_some() { name } else { self.string()? };
        Ok(MurphiRuleKind::Property { kind, name, condition })
    }
}
