//! Rules, start states and properties, and what encloses them.

use super::{Open, Parser};
use crate::diag::Diagnostic;
use crate::front::murphi::ast::*;
use crate::front::murphi::lex::TokenKind;
use crate::front::nearest;
use crate::front::token::{Parse, Parsed};

impl<'a> Parser<'a> {
    /// One rule, and the semicolons after it.
    pub(super) fn rule(&mut self) -> Parsed<Rule<'a>> {
        let span = self.here();
        let kind = self.deeper(Self::rule_kind)?;
        while self.eat(TokenKind::Semicolon)? {}
        Ok(Rule { kind, span })
    }

    fn rule_kind(&mut self) -> Parsed<RuleKind<'a>> {
        let span = self.here();
        match self.kind() {
            TokenKind::Rule => {
                self.advance()?;
                self.simple_rule(Open { closer: TokenKind::EndRule, span })
            }
            TokenKind::Startstate => {
                self.advance()?;
                let name = self.string()?;
                let block = self.block(Open { closer: TokenKind::EndStartstate, span })?;
                Ok(RuleKind::Start { name, block })
            }
            // As Rumur has it, what is asserted outside of rules is so in every state.
            TokenKind::Invariant | TokenKind::Assert => self.property(PropertyKind::Invariant),
            TokenKind::Ruleset => {
                self.advance()?;
                let quantifiers = self.quantifiers()?;
                let rules = self.rules(Open { closer: TokenKind::EndRuleset, span })?;
                Ok(RuleKind::Ruleset(quantifiers, rules))
            }
            TokenKind::Alias => {
                self.advance()?;
                let aliases = self.aliases()?;
                let rules = self.rules(Open { closer: TokenKind::EndAlias, span })?;
                Ok(RuleKind::Alias(aliases, rules))
            }
            TokenKind::Choose => {
                self.advance()?;
                let name = self.name("a name for an element")?;
                self.expect(TokenKind::Colon)?;
                let multiset = self.designator()?;
                self.do_()?;
                let rules = self.rules(Open { closer: TokenKind::EndChoose, span })?;
                Ok(RuleKind::Choose(name, multiset, rules))
            }
            TokenKind::Name if self.is_word("assume") => self.property(PropertyKind::Assume),
            TokenKind::Name if self.is_word("cover") => self.property(PropertyKind::Cover),
            TokenKind::Name if self.is_word("liveness") => self.property(PropertyKind::Liveness),
            TokenKind::Name | TokenKind::If | TokenKind::For | TokenKind::Switch => {
                Err(self.no_rule())
            }
            _ => Err(self.unexpected("a declaration, a rule, a start state or an invariant")),
        }
    }

    /// What is wrong with what stands where a rule is wanted: it is nearly the word that begins one, or a statement.
    fn no_rule(&self) -> Diagnostic {
        let statement = || {
            "a statement stands here outside rules: is an `end` before it one too many?".to_owned()
        };
        let error = self.unexpected("a rule, a start state or an invariant");
        Diagnostic { span: self.here(), ..error }
            .help(self.meant_to_begin_a_rule().unwrap_or_else(statement))
    }

    /// The advice to write a word that begins a rule or the like, if what is next is like one.
    pub(super) fn meant_to_begin_a_rule(&self) -> Option<String> {
        let words = ["rule", "ruleset", "startstate", "invariant", "alias", "choose"];
        nearest::meant(&self.text(self.here()).to_lowercase(), words.into_iter())
    }

    /// Rules up to the end of what encloses them.
    fn rules(&mut self, open: Open) -> Parsed<Vec<Rule<'a>>> {
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

    fn simple_rule(&mut self, open: Open) -> Parsed<RuleKind<'a>> {
        let priority = match self.kind() {
            TokenKind::Number => self.priority()?,
            _ => 0,
        };
        let name = self.string()?;
        let guard = self.guard()?;
        let block = self.block(open)?;
        Ok(RuleKind::Simple { name, priority, guard, block })
    }

    fn priority(&mut self) -> Parsed<i32> {
        let span = self.advance()?.span;
        self.text(span).parse().map_err(|_| {
            Diagnostic::error(span, "this priority is too large").help("priorities fit 32 bits")
        })
    }

    /// What stands before `==>`, if that comes at all.
    fn guard(&mut self) -> Parsed<Option<Expr<'a>>> {
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

    fn property(&mut self, kind: PropertyKind) -> Parsed<RuleKind<'a>> {
        self.advance()?;
        let name = self.string()?;
        let condition = self.expression()?;
        // Rumur has the name after the condition too.
        let name = if name.is_some() { name } else { self.string()? };
        Ok(RuleKind::Property { kind, name, condition })
    }
}
