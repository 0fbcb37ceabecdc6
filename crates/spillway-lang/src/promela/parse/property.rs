//! The property to check: a formula given outside the model's text, or the name of one of the model's properties.

use super::{PromelaParseResult, PromelaParser};
use crate::ltl::{self, FormulaSyntax, FormulaWord, glued_operators};
use crate::name_suggestion::{suggest_name, unknown_name_help};
use crate::promela::ast::{ProcessRole, PromelaExpr};
use crate::promela::token::{PromelaToken, PromelaTokenKind};
use crate::temporal_property::{TemporalSpec, check_proposition_count};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// The tokens of a property after macro expansion, each list with the end token last.
pub enum PropertyTokens {
    /// A formula, or the name of one of the model's properties.
    Formula(Vec<PromelaToken>),
    /// Propositions.
    Propositions(Vec<Vec<PromelaToken>>),
}

/// A parsed property.
#[derive(Debug)]
pub struct ParsedProperty {
    /// The name, if it is one of the model's properties.
    pub name: Option<String>,
    /// The requirement on runs.
    pub spec: TemporalSpec,
    /// The propositions, as text and as expressions.
    pub propositions: Vec<(String, PromelaExpr)>,
}

/// A property that the model declares.
enum ModelProperty {
    /// A formula: its name and its tokens, the end token last.
    Formula(String, Vec<PromelaToken>),
    /// The never claim of this name.
    Claim(String),
}

/// The formula syntax of SPIN.
const SPELLING: FormulaSyntax = FormulaSyntax {
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

impl PromelaParser {
    /// Parses the property, after all names are known.
    pub(super) fn parse_property(
        &mut self,
        asked: PropertyTokens,
    ) -> PromelaParseResult<ParsedProperty> {
        match asked {
            PropertyTokens::Formula(tokens) => match self.named(&tokens)? {
                None => {
                    self.refuse_unknown(&tokens)?;
                    self.asked_formula(None, &tokens)
                }
                Some(ModelProperty::Formula(name, tokens)) => {
                    self.asked_formula(Some(name), &tokens)
                }
                Some(ModelProperty::Claim(name)) => {
                    let (name, propositions) = (Some(name), Vec::new());
                    Ok(ParsedProperty { name, spec: TemporalSpec::Claim, propositions })
                }
            },
            PropertyTokens::Propositions(all) => {
                let mut propositions = Vec::new();
                for tokens in all {
                    let words = tokens.len().saturating_sub(1);
                    propositions.push(self.proposition(&tokens[..words], end_of(&tokens))?);
                }
                Ok(ParsedProperty { name: None, spec: TemporalSpec::Propositions, propositions })
            }
        }
    }

    /// Returns the model's property of this name, if the tokens are only a name and there is one.
    fn named(&self, tokens: &[PromelaToken]) -> PromelaParseResult<Option<ModelProperty>> {
        let [only, end] = tokens else { return Ok(None) };
        let Some(name) = only.name().filter(|_| end.kind == PromelaTokenKind::End) else {
            return Ok(None);
        };
        let formula = self.model.formulas.iter().find(|it| it.name.text == *name);
        let mut claims = self.model.processes.iter().filter(|it| it.role == ProcessRole::Never);
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
            (Some(found), None) => {
                Ok(Some(ModelProperty::Formula(name.to_string(), found.tokens.clone())))
            }
            (None, Some(_)) => Ok(Some(ModelProperty::Claim(name.to_string()))),
        }
    }

    /// Rejects a single unknown name, and suggests a similar property or variable.
    fn refuse_unknown(&self, tokens: &[PromelaToken]) -> PromelaParseResult<()> {
        let [only, _] = tokens else { return Ok(()) };
        let Some(name) = only.name().filter(|it| !it.is_empty()) else { return Ok(()) };
        let formulas = self.model.formulas.iter().map(|it| &*it.name.text);
        let claims = self.model.processes.iter().filter(|it| it.role == ProcessRole::Never);
        let own: Vec<&str> = formulas.chain(claims.map(|it| &*it.name.text)).collect();
        if own.is_empty() || self.known_names().contains(&**name) {
            return Ok(());
        }
        let error = format!("there is no variable and no property {name}");
        let help = suggest_name(name, own.iter().copied().chain(self.known_names()))
            .unwrap_or_else(|| unknown_name_help(name, &own, "properties"));
        Err(Diagnostic::error(only.span, error).help(help))
    }

    fn asked_formula(
        &mut self,
        name: Option<String>,
        tokens: &[PromelaToken],
    ) -> PromelaParseResult<ParsedProperty> {
        let tokens = &self.with_split_operators(tokens);
        let given = &tokens[..tokens.len().saturating_sub(1)];
        let word = |it: &PromelaToken| FormulaWord { text: it.kind.to_string(), span: it.span };
        let words: Vec<FormulaWord> = given.iter().map(word).collect();
        let parsed = ltl::parse(&words, end_of(tokens), &SPELLING, &|name| self.has_name(name))?;
        check_proposition_count(parsed.formula.grouped().groups.len(), end_of(tokens))?;
        let mut propositions = Vec::new();
        for range in parsed.propositions {
            let end = tokens[range.end].span;
            propositions.push(self.proposition(&given[range], end)?);
        }
        Ok(ParsedProperty { name, spec: TemporalSpec::Formula(parsed.formula), propositions })
    }

    /// Returns whether the model has a variable, a constant or a process of this name.
    fn has_name(&self, name: &str) -> bool {
        self.look_up(name).is_some()
            || self.model.symbols.constants.contains_key(name)
            || self.model.processes.iter().any(|it| *it.name.text == *name)
    }

    /// Splits joined operators such as `GFp` into separate tokens.
    fn with_split_operators(&self, tokens: &[PromelaToken]) -> Vec<PromelaToken> {
        let mut split = Vec::with_capacity(tokens.len());
        for token in tokens {
            let count =
                token.name().map_or(0, |it| glued_operators(it, &|name| self.has_name(name)));
            let Some(name) = token.name().filter(|_| count > 0) else {
                split.push(token.clone());
                continue;
            };
            let part = |text: &str| PromelaToken {
                kind: PromelaTokenKind::Name(text.into()),
                ..token.clone()
            };
            split.extend((0..count).map(|at| part(&name[at..=at])));
            if count < name.len() {
                split.push(part(&name[count..]));
            }
        }
        split
    }

    /// Parses all of these tokens as an expression.
    fn proposition(
        &mut self,
        tokens: &[PromelaToken],
        end: Span,
    ) -> PromelaParseResult<(String, PromelaExpr)> {
        let text: String = tokens.iter().fold(String::new(), |text, it| {
            let blank = if it.spaced && !text.is_empty() { " " } else { "" };
            text + blank + &it.kind.to_string()
        });
        self.input = tokens.iter().cloned().collect();
        self.input.push_back(PromelaToken::synthetic(PromelaTokenKind::End, end));
        let expr = self.expression()?;
        match self.at_end() {
            true => Ok((text, expr)),
            false => self.unexpected("an operator or the end of the proposition"),
        }
    }
}

/// Returns the span of the end of the tokens.
fn end_of(tokens: &[PromelaToken]) -> Span {
    tokens.last().map_or(Span::default(), |it| it.span)
}
