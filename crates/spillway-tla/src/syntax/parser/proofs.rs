//! Proofs, which are parsed and dropped.
//!
//! A proof is BY, OBVIOUS or OMITTED, or it is a list of steps of one level that ends with QED. A step may have a proof
//! of its own, whose steps have a higher level.

use super::super::ast::Argument;
use super::super::symbols::Symbol;
use super::super::token::{Keyword, Mark, StepLevel, TokenKind};
use super::{ParseResult, Parser};

/// The level of a theorem, below that of all steps.
pub(super) const THEOREM: i64 = -1;

impl Parser<'_> {
    /// Returns whether a proof follows, below a step of a level or below [`THEOREM`].
    pub(super) fn begins_proof(&self, level: i64) -> bool {
        match self.peek().kind {
            TokenKind::Keyword(
                Keyword::Proof | Keyword::By | Keyword::Obvious | Keyword::Omitted,
            ) => true,
            TokenKind::Step(StepLevel::Number(number)) => i64::from(number) > level,
            TokenKind::Step(StepLevel::Next) => true,
            TokenKind::Step(StepLevel::Same) => level == THEOREM,
            _ => false,
        }
    }

    /// Parses a proof below a step of a level.
    pub(super) fn proof(&mut self, level: i64) -> ParseResult<()> {
        let was_in_proof = std::mem::replace(&mut self.is_in_proof, true);
        let result = self.nested(|parser| parser.proof_body(level));
        self.is_in_proof = was_in_proof;
        result
    }

    fn proof_body(&mut self, level: i64) -> ParseResult<()> {
        self.take_keyword(Keyword::Proof);
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Obvious | Keyword::Omitted) => {
                self.bump();
                Ok(())
            }
            TokenKind::Keyword(Keyword::By) => {
                self.bump();
                self.take_keyword(Keyword::Only);
                self.facts()
            }
            TokenKind::Step(first) => {
                let own = match first {
                    StepLevel::Number(number) => i64::from(number),
                    StepLevel::Next | StepLevel::Same => level + 1,
                };
                while self.proof_step(own)? {}
                Ok(())
            }
            _ => Err(self.expected("a proof: BY, OBVIOUS, OMITTED or a step such as `<1>1.`")),
        }
    }

    /// Parses a step of a level. Returns whether another step must follow.
    fn proof_step(&mut self, level: i64) -> ParseResult<bool> {
        let is_own = match self.peek().kind {
            TokenKind::Step(StepLevel::Number(number)) => i64::from(number) == level,
            TokenKind::Step(StepLevel::Next | StepLevel::Same) => true,
            _ => false,
        };
        if !is_own {
            return Err(
                self.expected(&format!("a step `<{level}>` of the proof, which ends with QED"))
            );
        }
        self.bump();
        let is_last = self.is_keyword(Keyword::Qed);
        if self.step_statement()? && self.begins_proof(level) {
            self.proof(level)?;
        }
        Ok(!is_last)
    }

    /// Parses the statement of a step. Returns whether it may have a proof.
    fn step_statement(&mut self) -> ParseResult<bool> {
        let TokenKind::Keyword(keyword) = self.peek().kind else {
            return self.formula_or_definitions();
        };
        match keyword {
            Keyword::Qed => {
                self.bump();
                return Ok(true);
            }
            Keyword::Suffices => {
                self.bump();
                self.statement()?;
                return Ok(true);
            }
            // `CASE x -> e` is an expression.
            Keyword::Case => return self.case_step(),
            Keyword::Pick => {
                self.bump();
                self.introduced()?;
                self.expect_mark(Mark::Colon)?;
                self.expression()?;
                return Ok(true);
            }
            Keyword::Have => {
                self.bump();
                self.expression()?;
            }
            Keyword::Take => {
                self.bump();
                self.introduced()?;
            }
            Keyword::Witness => {
                self.bump();
                self.comma_list(Self::expression)?;
            }
            Keyword::Define => {
                self.bump();
                return self.formula_or_definitions();
            }
            Keyword::Use | Keyword::Hide => self.use_or_hide()?,
            Keyword::Instance => {
                self.instance()?;
            }
            _ => {
                self.statement()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn formula_or_definitions(&mut self) -> ParseResult<bool> {
        if !self.begins_definition() {
            self.statement()?;
            return Ok(true);
        }
        while self.begins_definition() {
            self.definition()?;
        }
        Ok(false)
    }

    fn case_step(&mut self) -> ParseResult<bool> {
        let start = self.at;
        self.bump();
        self.expression()?;
        if self.is_mark(Mark::Arrow) {
            self.at = start;
            self.statement()?;
        }
        Ok(true)
    }

    /// Parses the variables of PICK or TAKE, with or without sets.
    fn introduced(&mut self) -> ParseResult<()> {
        let start = self.at;
        self.comma_list(Self::pattern)?;
        if self.is_symbol(Symbol::In) {
            self.at = start;
            self.function_bounds()?;
        }
        Ok(())
    }

    /// Parses USE or HIDE.
    pub(super) fn use_or_hide(&mut self) -> ParseResult<()> {
        self.bump();
        self.take_keyword(Keyword::Only);
        let was_in_proof = std::mem::replace(&mut self.is_in_proof, true);
        let result = self.facts();
        self.is_in_proof = was_in_proof;
        result
    }

    /// Parses the facts and definitions of BY, USE or HIDE.
    fn facts(&mut self) -> ParseResult<()> {
        if !self.is_keyword(Keyword::Def) {
            self.comma_list(Self::fact)?;
        }
        if self.take_keyword(Keyword::Def) {
            self.comma_list(Self::fact)?;
        }
        Ok(())
    }

    /// Parses a fact or a name of a definition.
    fn fact(&mut self) -> ParseResult<()> {
        if self.take_keyword(Keyword::Module) {
            self.field_name()?;
            return Ok(());
        }
        if let TokenKind::Symbol(_) = self.peek().kind {
            let follows = self.peek_at(1);
            let is_alone = follows.kind == TokenKind::Mark(Mark::Comma)
                || follows.kind == TokenKind::Keyword(Keyword::Def)
                || follows.is_first;
            if is_alone {
                self.bump();
                return Ok(());
            }
        }
        self.argument().map(|_: Argument| ())
    }
}
