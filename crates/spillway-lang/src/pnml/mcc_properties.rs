//! Property files of the Model Checking Contest: XML with properties of the reachable markings, of the maximum number
//! of tokens in places, or of all runs. See its formula manual (<https://mcc.lip6.fr>).
//!
//! Each property is translated to the syntax of `--invariant`, `--cover` or `--ltl`. The files refer to nodes by id;
//! the translation uses their names.

use super::marking_query::{NodeIndex, parse};
use super::net::PetriNet;
use super::parse::{PnmlTerm, terms_of};
use super::path_formulas::is_branching;
use super::xml::{PnmlResult, PnmlXmlReader, XmlElement, number};
use crate::{ExternalProperty, ExternalPropertyKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::ConditionModality;
use std::collections::HashMap;

/// The maximum number of properties; each becomes a source file.
const QUESTIONS_MAX: usize = 10_000;

/// Returns the properties in a file about a net.
pub(super) fn questions(
    net: &PetriNet,
    file: u32,
    text: &str,
) -> PnmlResult<Vec<ExternalProperty>> {
    let names = PropertyTranslator {
        nodes: NodeIndex::new(net),
        places: net.places.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect(),
        transitions: net.transitions.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect(),
        deadlock: match net.places.iter().any(|it| it.name == "deadlock") {
            true => "deadlock()",
            false => "deadlock",
        },
    };
    let (mut found, mut root) = (Vec::new(), None);
    let mut xml = PnmlXmlReader::new(file, text);
    xml.each_root(&mut |xml, element| {
        root = root.or(Some(element.span));
        if element.name != "property-set" {
            let error =
                format!("properties stand in <property-set>, and this is <{}>", element.name);
            return Err(Diagnostic::error(element.span, error));
        }
        xml.each(&element, &mut |xml, property| {
            if property.name == "property" {
                if found.len() == QUESTIONS_MAX {
                    let error = format!("more than {QUESTIONS_MAX} properties are asked");
                    return Err(Diagnostic::error(property.span, error));
                }
                found.push(names.property(xml, &property)?);
            }
            Ok(())
        })
    })?;
    let nowhere = root.unwrap_or(Span::new(file, 0..1));
    match found.is_empty() {
        true => Err(Diagnostic::error(nowhere, "there is no <property> in it")),
        false => Ok(found),
    }
}

/// Returns the error for an unsupported term, by its name and operands.
pub(super) fn unsupported_term(term: &PnmlTerm, why: &str) -> Diagnostic {
    Diagnostic::error(term.span(), format!("<{}> {why}", term.name()))
}

/// Returns the only operand of a term.
pub(super) fn only_operand(of: &PnmlTerm) -> PnmlResult<&PnmlTerm> {
    of.parts::<1>().map(|[it]| it)
}

/// The names of nodes, by their ids.
type NamesById<'n> = HashMap<&'n str, &'n str>;

/// The translation of properties of a net.
pub(super) struct PropertyTranslator<'n> {
    nodes: NodeIndex<'n>,
    places: NamesById<'n>,
    transitions: NamesById<'n>,
    /// The spelling of the condition that no transition is enabled.
    deadlock: &'static str,
}

impl<'n> PropertyTranslator<'n> {
    /// Reads a property; an error in its formula affects only this property.
    fn property(&self, xml: &mut PnmlXmlReader, of: &XmlElement) -> PnmlResult<ExternalProperty> {
        let (mut name, mut formula) = (None, None);
        xml.each(of, &mut |xml, element| {
            match element.name.as_str() {
                "id" => name = Some(xml.text(&element)?.trim().to_owned()),
                "formula" => formula = terms_of(xml, &element)?.into_iter().next(),
                _ => {}
            }
            Ok(())
        })?;
        let missing =
            |what: &str| Diagnostic::error(of.span, format!("the property has no {what}"));
        let name = name.filter(|it| !it.is_empty()).ok_or_else(|| missing("<id>"))?;
        let formula = formula.ok_or_else(|| missing("<formula>"));
        let asks = formula.and_then(|it| self.property_kind(&it));
        Ok(ExternalProperty { name, kind: asks, span: of.span })
    }

    fn property_kind(&self, formula: &PnmlTerm) -> PnmlResult<ExternalPropertyKind> {
        if formula.name() == "place-bound" {
            let named = formula.terms.iter().map(|it| Ok(self.place(it)?.to_owned()));
            return Ok(ExternalPropertyKind::Most(named.collect::<PnmlResult<_>>()?));
        }
        if let Some(condition) = of_reachable(formula, false) {
            let text = self.condition(condition.state)?;
            let text = if condition.is_negated { format!("!({text})") } else { text };
            return Ok(ExternalPropertyKind::Condition(condition.modality, text));
        }
        if formula.name() == "all-paths" && !has_quantifier(only_operand(formula)?) {
            return Ok(ExternalPropertyKind::Runs(self.run(only_operand(formula)?)?));
        }
        match is_branching(formula) {
            true => Ok(ExternalPropertyKind::Branching(self.branching(formula)?)),
            false => Err(unsupported_term(formula, "is no question that is read").help(
                "<place-bound>, <all-paths> of a run, and formulas in which each quantifier of \
                 paths stands right before an operator are",
            )),
        }
    }

    /// Translates a condition on markings, and checks that it parses.
    pub(super) fn condition(&self, term: &PnmlTerm) -> PnmlResult<String> {
        let text = self.state(term)?;
        let whole = Span::new(term.span().file, 0..text.len());
        let read = parse(&self.nodes, &text, whole);
        // An error is reported at this term, because the user has not seen the translation.
        read.map_err(|error| Diagnostic { span: term.span(), ..error })?;
        Ok(text)
    }

    /// Translates a formula on runs.
    fn run(&self, term: &PnmlTerm) -> PnmlResult<String> {
        if !is_temporal(term) {
            return self.condition(term);
        }
        let of = |it: &PnmlTerm| self.run(it);
        let prefix = |sign: &str| {
            let [inner] = term.parts()?;
            Ok(format!("{sign} ({})", of(inner)?))
        };
        match term.name() {
            "globally" => prefix("[]"),
            "finally" => prefix("<>"),
            "next" => prefix("X"),
            "until" => {
                let [before, reach] = term.parts()?;
                let ([before], [reach]) = (before.parts()?, reach.parts()?);
                Ok(format!("({}) U ({})", of(before)?, of(reach)?))
            }
            "all-paths" | "exists-path" => {
                Err(unsupported_term(term, "within a formula about a run is not read")
                    .help("formulas of branching time that are no CTL are not"))
            }
            _ => join_terms(term, &of),
        }
    }

    /// Translates a condition on markings.
    fn state(&self, term: &PnmlTerm) -> PnmlResult<String> {
        let compared = |sign: &str| {
            let [left, right] = term.parts()?;
            Ok(format!("{} {sign} {}", self.number(left)?, self.number(right)?))
        };
        match term.name() {
            "true" | "false" => Ok(term.name().to_owned()),
            "deadlock" => Ok(self.deadlock.to_owned()),
            "is-fireable" => {
                let each = term.terms.iter().map(|it| {
                    let name = self.node(it, "transition", &self.transitions)?;
                    Ok(format!("fireable(\"{name}\")"))
                });
                join_with_sign(term, each.collect::<PnmlResult<Vec<_>>>()?, " || ")
            }
            "integer-eq" => compared("=="),
            "integer-ne" => compared("!="),
            "integer-lt" => compared("<"),
            "integer-le" => compared("<="),
            "integer-gt" => compared(">"),
            "integer-ge" => compared(">="),
            _ => join_terms(term, &|it| self.state(it)),
        }
    }

    fn number(&self, term: &PnmlTerm) -> PnmlResult<String> {
        let each = |sign: &str| {
            let all =
                term.terms.iter().map(|it| self.number(it)).collect::<PnmlResult<Vec<_>>>()?;
            join_with_sign(term, all, sign)
        };
        match term.name() {
            "integer-constant" => Ok(number(&term.text, term.span())?.to_string()),
            "tokens-count" => {
                let named = term.terms.iter().map(|it| Ok(format!("\"{}\"", self.place(it)?)));
                join_with_sign(term, named.collect::<PnmlResult<Vec<_>>>()?, " + ")
            }
            "integer-sum" => each(" + "),
            "integer-difference" => each(" - "),
            "integer-product" => each(" * "),
            _ => Err(unsupported_term(term, "is no number that is read")),
        }
    }

    /// Returns the place that a term names.
    fn place(&self, term: &PnmlTerm) -> PnmlResult<&'n str> {
        self.node(term, "place", &self.places)
    }

    /// Returns the node of a kind that a term names.
    fn node(&self, term: &PnmlTerm, kind: &str, all: &NamesById<'n>) -> PnmlResult<&'n str> {
        if term.name() != kind {
            return Err(unsupported_term(term, &format!("stands where a <{kind}> is expected")));
        }
        let id = term.text.trim();
        let unknown = || Diagnostic::error(term.span(), format!("the net has no {kind} `{id}`"));
        all.get(id).copied().ok_or_else(unknown)
    }
}

/// Joins operands by a sign; several operands are put in brackets.
fn join_with_sign(term: &PnmlTerm, parts: Vec<String>, sign: &str) -> PnmlResult<String> {
    match &parts[..] {
        [] => Err(unsupported_term(term, "is about nothing")),
        [one] => Ok(one.clone()),
        _ => Ok(format!("({})", parts.join(sign))),
    }
}

/// Translates operators that conditions on states and formulas on runs share.
fn join_terms(term: &PnmlTerm, of: &dyn Fn(&PnmlTerm) -> PnmlResult<String>) -> PnmlResult<String> {
    let all =
        || term.terms.iter().map(|it| Ok(format!("({})", of(it)?))).collect::<PnmlResult<Vec<_>>>();
    let two = |sign: &str| {
        let [left, right] = term.parts()?;
        Ok(format!("({}) {sign} ({})", of(left)?, of(right)?))
    };
    match term.name() {
        "negation" => {
            let [inner] = term.parts()?;
            Ok(format!("!({})", of(inner)?))
        }
        "conjunction" => join_with_sign(term, all()?, " && "),
        "disjunction" => join_with_sign(term, all()?, " || "),
        "implication" => two("->"),
        "equivalence" => two("<->"),
        "exclusive-disjunction" => Ok(format!("!({})", two("<->")?)),
        _ => Err(unsupported_term(term, "is nothing that is so or not, as far as is read")),
    }
}

/// Returns whether a formula refers to more than the current state.
pub(super) fn is_temporal(term: &PnmlTerm) -> bool {
    let operators = ["globally", "finally", "next", "until", "all-paths", "exists-path"];
    operators.contains(&term.name()) || term.terms.iter().any(is_temporal)
}

/// Returns whether a formula has a path quantifier.
fn has_quantifier(term: &PnmlTerm) -> bool {
    matches!(term.name(), "all-paths" | "exists-path") || term.terms.iter().any(has_quantifier)
}

/// A condition on single states that must hold in some reachable state, or in all.
struct ReachableCondition<'t> {
    modality: ConditionModality,
    state: &'t PnmlTerm,
    /// Whether the condition is the negation of `state`.
    is_negated: bool,
}

/// Returns the condition on reachable states that a formula expresses, or `None`.
fn of_reachable(formula: &PnmlTerm, is_negated: bool) -> Option<ReachableCondition<'_>> {
    let [path] = formula.terms.as_slice() else { return None };
    let (holds, state) = match (formula.name(), path.name(), path.terms.as_slice()) {
        ("negation", ..) => return of_reachable(path, !is_negated),
        ("exists-path", "finally", [state]) => (ConditionModality::Sometimes, state),
        ("all-paths", "globally", [state]) => (ConditionModality::Always, state),
        _ => return None,
    };
    let modality = match (holds, is_negated) {
        (holds, false) => holds,
        (ConditionModality::Within, true) => return None,
        (ConditionModality::Sometimes, true) => ConditionModality::Always,
        (ConditionModality::Always, true) => ConditionModality::Sometimes,
    };
    (!is_temporal(state)).then_some(ReachableCondition { modality, state, is_negated })
}
