//! What is asked of a model in temporal logic: a formula given beside its text, or one of its own by name.

use super::{Parsed, Parser};
use crate::diag::Diagnostic;
use crate::front::asked::{Demand, not_too_many};
use crate::front::nearest::{help, meant};
use crate::front::promela::ast::{Expr, Role};
use crate::front::promela::token::{Kind, Token};
use crate::ltl::{self, Spelling, Word, glued_operators};
use crate::source::Span;

/// What is asked, macros expanded, each with the end last.
pub enum AskedTokens {
    /// A formula, or the name of one of the model's.
    Formula(Vec<Token>),
    /// Propositions.
    Propositions(Vec<Vec<Token>>),
}

/// What is asked, read.
#[derive(Debug)]
pub struct AskedOf {
    /// Its name, if it is one of the model's.
    pub name: Option<String>,
    /// What is asked of runs.
    pub demand: Demand,
    /// Its propositions, as they are written and as they were read.
    pub propositions: Vec<(String, Expr)>,
}

/// A property of the model's own.
enum Own {
    /// A formula: its name and its tokens, the end last.
    Formula(String, Vec<Token>),
    /// The never claim of this name.
    Claim(String),
}

/// Formulas are spelled as in SPIN.
const SPELLING: Spelling = Spelling {
    not: &[],
    and: &[],
    or: &[],
    implies: &[],
    equality: ("=", "=="),
    brackets: &[],
    quantifiers: &[],
    has_arrows: false,
    has_conditionals: true,
};

impl Parser {
    /// Reads what is asked, once all names are known.
    pub(super) fn asked(&mut self, asked: AskedTokens) -> Parsed<AskedOf> {
        match asked {
            AskedTokens::Formula(tokens) => match self.named(&tokens)? {
                None => {
                    self.refuse_unknown(&tokens)?;
                    self.asked_formula(None, &tokens)
                }
                Some(Own::Formula(name, tokens)) => self.asked_formula(Some(name), &tokens),
                Some(Own::Claim(name)) => {
                    let (name, propositions) = (Some(name), Vec::new());
                    Ok(AskedOf { name, demand: Demand::Claim, propositions })
                }
            },
            AskedTokens::Propositions(all) => {
                let mut propositions = Vec::new();
                for tokens in all {
                    let words = tokens.len().saturating_sub(1);
                    propositions.push(self.proposition(&tokens[..words], end_of(&tokens))?);
                }
                Ok(AskedOf { name: None, demand: Demand::Propositions, propositions })
            }
        }
    }

    /// The model's own property of this name, if the tokens are only a name and there is one.
    fn named(&self, tokens: &[Token]) -> Parsed<Option<Own>> {
        let [only, end] = tokens else { return Ok(None) };
        let Some(name) = only.name().filter(|_| end.kind == Kind::End) else { return Ok(None) };
        let formula = self.model.formulas.iter().find(|it| it.name.text == *name);
        let mut claims = self.model.processes.iter().filter(|it| it.role == Role::Never);
        let claim = claims.find(|it| it.name.text == *name);
        let is_variable = self.look_up(name).is_some();
        let ambiguous = |both: &str, help: String| {
            Err(Diagnostic::error(only.span, format!("{name} is {both}")).help(help))
        };
        let variable = || format!("`({name} != 0)` is the variable; give the other another name");
        match (formula, claim) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => {
                let help = "give one of the two another name".to_owned();
                ambiguous("a formula of the model and a never claim of it", help)
            }
            (Some(_), None) if is_variable => {
                ambiguous("a formula of the model and a variable of it", variable())
            }
            (None, Some(_)) if is_variable => {
                ambiguous("a never claim of the model and a variable of it", variable())
            }
            (Some(found), None) => Ok(Some(Own::Formula(name.to_string(), found.tokens.clone()))),
            (None, Some(_)) => Ok(Some(Own::Claim(name.to_string()))),
        }
    }

    /// Refuses a name alone that is nobody's, with the property or the variable that may be meant.
    fn refuse_unknown(&self, tokens: &[Token]) -> Parsed<()> {
        let [only, _] = tokens else { return Ok(()) };
        let Some(name) = only.name().filter(|it| !it.is_empty()) else { return Ok(()) };
        let formulas = self.model.formulas.iter().map(|it| &*it.name.text);
        let claims = self.model.processes.iter().filter(|it| it.role == Role::Never);
        let own: Vec<&str> = formulas.chain(claims.map(|it| &*it.name.text)).collect();
        if own.is_empty() || self.known_names().contains(&**name) {
            return Ok(());
        }
        let error = format!("there is no variable and no property {name}");
        let help = meant(name, own.iter().copied().chain(self.known_names()))
            .unwrap_or_else(|| help(name, &own, "properties"));
        Err(Diagnostic::error(only.span, error).help(help))
    }

    fn asked_formula(&mut self, name: Option<String>, tokens: &[Token]) -> Parsed<AskedOf> {
        let tokens = &self.with_split_operators(tokens);
        let given = &tokens[..tokens.len().saturating_sub(1)];
        let word = |it: &Token| Word { text: it.kind.to_string(), span: it.span };
        let words: Vec<Word> = given.iter().map(word).collect();
        let parsed = ltl::parse(&words, end_of(tokens), &SPELLING, &|name| self.has_name(name))?;
        not_too_many(parsed.formula.grouped().groups.len(), end_of(tokens))?;
        let mut propositions = Vec::new();
        for range in parsed.propositions {
            let end = tokens[range.end].span;
            propositions.push(self.proposition(&given[range], end)?);
        }
        Ok(AskedOf { name, demand: Demand::Formula(parsed.formula), propositions })
    }

    /// Whether the model has a variable, a constant or a process of this name.
    fn has_name(&self, name: &str) -> bool {
        self.look_up(name).is_some()
            || self.model.symbols.constants.contains_key(name)
            || self.model.processes.iter().any(|it| *it.name.text == *name)
    }

    /// Tokens, with operators that stand together apart, as in `GFp`.
    fn with_split_operators(&self, tokens: &[Token]) -> Vec<Token> {
        let mut split = Vec::with_capacity(tokens.len());
        for token in tokens {
            let count =
                token.name().map_or(0, |it| glued_operators(it, &|name| self.has_name(name)));
            let Some(name) = token.name().filter(|_| count > 0) else {
                split.push(token.clone());
                continue;
            };
            let part = |text: &str| Token { kind: Kind::Name(text.into()), ..token.clone() };
            split.extend((0..count).map(|at| part(&name[at..=at])));
            if count < name.len() {
                split.push(part(&name[count..]));
            }
        }
        split
    }

    /// An expression that is all of these tokens, as they are written.
    fn proposition(&mut self, tokens: &[Token], end: Span) -> Parsed<(String, Expr)> {
        let text: String = tokens.iter().fold(String::new(), |text, it| {
            let blank = if it.spaced && !text.is_empty() { " " } else { "" };
            text + blank + &it.kind.to_string()
        });
        self.input = tokens.iter().cloned().collect();
        self.input.push_back(Token::made(Kind::End, end));
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
