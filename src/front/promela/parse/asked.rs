//! What is asked of a model in temporal logic: a formula given beside its text, or one of its own by name.

use super::{Parsed, Parser};
use crate::diag::Diagnostic;
use crate::front::asked::not_too_many;
use crate::front::promela::ast::Expr;
use crate::front::promela::token::{Kind, Token};
use crate::ltl::{self, Formula, Spelling, Word};
use crate::source::Span;

/// What is asked, macros expanded, each with the end last.
pub enum AskedTokens {
    /// A formula, or the name of one of the model's.
    Formula(Vec<Token>),
    /// Propositions.
    Propositions(Vec<Vec<Token>>),
}

/// A formula that is asked.
#[derive(Debug)]
pub struct AskedFormula {
    /// Its name, if it is one of the model's.
    pub name: Option<String>,
    /// What it says.
    pub formula: Formula,
    /// Its propositions, as they are written and as they were read.
    pub propositions: Vec<(String, Expr)>,
}

/// Formulas are spelled as in SPIN.
const SPELLING: Spelling = Spelling {
    not: &[],
    and: &[],
    or: &[],
    implies: &[],
    brackets: &[],
    has_arrows: false,
    has_conditionals: true,
};

impl Parser {
    /// Reads what is asked, once all names are known.
    pub(super) fn asked(&mut self, asked: AskedTokens) -> Parsed<AskedFormula> {
        match asked {
            AskedTokens::Formula(tokens) => {
                let (name, tokens) = self.named_or_given(tokens)?;
                self.asked_formula(name, &tokens)
            }
            AskedTokens::Propositions(all) => {
                let mut propositions = Vec::new();
                for tokens in all {
                    let words = tokens.len().saturating_sub(1);
                    propositions.push(self.proposition(&tokens[..words], end_of(&tokens))?);
                }
                Ok(AskedFormula { name: None, formula: Formula::Constant(true), propositions })
            }
        }
    }

    /// The tokens of a formula: those given, or, if they are only a name, those of the model's formula of this name.
    fn named_or_given(&self, tokens: Vec<Token>) -> Parsed<(Option<String>, Vec<Token>)> {
        let [only, end] = tokens.as_slice() else { return Ok((None, tokens)) };
        let Some(name) = only.name().filter(|_| end.kind == Kind::End) else {
            return Ok((None, tokens));
        };
        let Some(found) = self.model.formulas.iter().find(|it| it.name.text == *name) else {
            return Ok((None, tokens));
        };
        if self.look_up(name).is_some() {
            let error = format!("{name} is a formula of the model and a variable of it");
            return Err(Diagnostic::error(only.span, error)
                .help(format!("`({name} != 0)` is the variable; give the formula another name")));
        }
        Ok((Some(name.to_string()), found.tokens.clone()))
    }

    fn asked_formula(&mut self, name: Option<String>, tokens: &[Token]) -> Parsed<AskedFormula> {
        let given = &tokens[..tokens.len().saturating_sub(1)];
        let word = |it: &Token| Word { text: it.kind.to_string(), span: it.span };
        let words: Vec<Word> = given.iter().map(word).collect();
        let parsed = ltl::parse(&words, end_of(tokens), &SPELLING)?;
        not_too_many(parsed.propositions.len(), end_of(tokens))?;
        let mut propositions = Vec::new();
        for range in parsed.propositions {
            let end = tokens[range.end].span;
            propositions.push(self.proposition(&given[range], end)?);
        }
        Ok(AskedFormula { name, formula: parsed.formula, propositions })
    }

    /// An expression that is all of these tokens, as they are written.
    fn proposition(&mut self, tokens: &[Token], end: Span) -> Parsed<(String, Expr)> {
        let text: String = tokens.iter().fold(String::new(), |text, it| {
            let blank = if it.spaced && !text.is_empty() { " " } else { "" };
            text + blank + &it.kind.to_string()
        });
        self.input = tokens.iter().cloned().collect();
        self.input.push_back(Token { kind: Kind::End, span: end, begins_line: true, spaced: true });
        let expr = self.expression()?;
        match self.at_end() {
            true => Ok((text, expr)),
            false => self.unexpected("an operator or the end of the proposition"),
        }
    }
}

/// Where tokens end.
fn end_of(tokens: &[Token]) -> Span {
    tokens.last().map_or(Span::default(), |it| it.span)
}
