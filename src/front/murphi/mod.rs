//! Murphi, the language of CMurphi and Rumur.
//!
//! A model is constants, types, variables and functions, and rules: guarded atomic steps, start
//! states, invariants, in `ruleset`s over parameters.
//!
//! [`lex`] makes tokens, [`parse`] a tree ([`ast`]), and `lower` gives names meanings, checks types
//! and makes the program, in one walk.
//!
//! # Meaning
//!
//! - Every scalar may be undefined, and is until a start state says otherwise. Undefined values can
//!   be stored, given and tested with `isundefined`. One of a scalarset or of a union may also be
//!   compared: it equals only what is undefined too, and is a member of nothing. Anything else done
//!   with an undefined value is an error. (All this as in CMurphi.)
//! - A value outside its variable's range is an error, as is an index outside the array; so is a
//!   loop of more than 1000 rounds. Numbers are 64 bits wide.
//! - A rule is taken in one step. Of the enabled rules those with the least priority number are
//!   taken.
//! - A state is a deadlock if every rule that can be taken leads back to it, or none can: so have
//!   CMurphi and, by default, Rumur. `--deadlock stuck` asks only whether one can be taken.
//! - Parameters by value are copies. An alias is found once, where it stands.
//! - The members of a union keep their own numbers; converting is done where a value passes from
//!   one type to the other, and one that is not a member is an error.
//! - A multiset is sorted at the end of each step. `choose` takes each element, repeats included.
//! - States that break an `assume` are left out; steps to them are counted. Where an `assume` of a body
//!   does not hold, there is no such step.
//!
//! - A function that calls itself does so a limited number of times: a call beyond is an error.
//! - `cover` among rules is met in states, in a body where it is executed.
//! - Records and arrays are equal if all their scalars are, those that are undefined too.
//!
//! Refused: real numbers, and calls that change the state where nothing may change. `liveness` is read
//! and checked for its types; it is not verified yet.

pub mod ast;
mod foreign_flags;
mod lex;
mod lower;
pub mod parse;

use super::diagnostics::DiagnosticSink;
use super::language::stem;
use super::temporal_property::UnresolvedProperty;
use super::{Language, LanguageOptions, LoadedModel, Options, PropertySource};
use crate::diag::Diagnostic;
use crate::ir::{Arithmetic, EndRule, Program, Quantifier};
use crate::ltl::FormulaSyntax;
use crate::source::{SourceMap, Span};

/// Murphi, as CMurphi and Rumur have it.
pub static LANGUAGE: Language = Language {
    name: "murphi",
    title: "Murphi",
    origin: "CMurphi's and Rumur's",
    extensions: &["m", "murphi"],
    options: LanguageOptions { deadlock: true, ..LanguageOptions::NONE },
    load: |sources, options, asked| load(sources, options, asked),
    spin_trail: None,
    read_properties: None,
    draw: None,
    template: include_str!("template.m"),
    foreign_flags: foreign_flags::FOREIGN_FLAGS,
};

/// How formulas are spelled, beside SPIN's signs.
const SPELLING: FormulaSyntax = FormulaSyntax {
    not: &[],
    and: &["&"],
    or: &["|"],
    implies: &[],
    equality: ("==", "="),
    brackets: &[("forall", &["end", "endforall"]), ("exists", &["end", "endexists"])],
    quantifiers: &[("forall", true), ("exists", false)],
    has_arrows: false,
    has_conditionals: false,
};

/// What expressions are computed in, known ones and others.
const ARITHMETIC: Arithmetic = Arithmetic::Checked64;

/// Parses, checks and lowers the model in file 0 of `sources`.
fn load(
    sources: &SourceMap,
    options: &Options,
    asked: Option<&PropertySource>,
) -> Result<LoadedModel, Vec<Diagnostic>> {
    let file = sources.file(0);
    let model = parse::parse(0, &file.text).map_err(|error| vec![error])?;
    let split = UnresolvedProperty::parse(sources, asked, &SPELLING, &|name| model.has_name(name))
        .map_err(|error| vec![error])?;
    let (propositions, names) = split
        .as_ref()
        .map_or(Ok(Default::default()), |it| propositions(it, sources))
        .map_err(|error| vec![error])?;
    let report = DiagnosticSink::new(sources);
    let (program, conditions) = lower::lower(&model, &propositions, options, &report);
    let program = Program {
        name: stem(&file.name, LANGUAGE.extensions).to_owned(),
        arithmetic: ARITHMETIC,
        end: options.deadlock.unwrap_or(EndRule::NeverStuttering),
        ..program
    };
    let warnings = report.finish()?;
    let observed =
        split.map(|it| it.expand_quantifiers(sources, &program, conditions, &names)).transpose();
    let observed = observed.map_err(|error| vec![error])?;
    Ok(LoadedModel { program, warnings, property: observed })
}

/// Propositions, and the names of the variables of each quantified formula.
type ParsedPropositions<'a> = (Vec<ast::MurphiExpr<'a>>, Vec<Vec<String>>);

/// The propositions of what is asked. One within quantified formulas is quantified by their variables.
fn propositions<'a>(
    split: &UnresolvedProperty,
    sources: &'a SourceMap,
) -> Result<ParsedPropositions<'a>, Diagnostic> {
    let text = |span: Span| &*sources.file(span.file).text;
    let variables = |formula: usize| {
        let span = split.quantified[formula].variables;
        parse::quantifiers(span, text(span))
    };
    let quantified = |span: Span, body, formula| {
        let kind =
            ast::MurphiExprKind::Quantified(Quantifier::All, variables(formula)?, Box::new(body));
        Ok(ast::MurphiExpr { span, kind })
    };
    let both = split.propositions.iter().zip(&split.enclosing);
    let propositions = both.map(|(&span, enclosing)| {
        let inner = parse::expression(span, text(span))?;
        let mut formulas = enclosing.iter().rev();
        formulas.try_fold(inner, |body, &formula| quantified(span, body, formula))
    });
    let propositions = propositions.collect::<Result<Vec<_>, Diagnostic>>()?;
    let names = (0..split.quantified.len())
        .map(|formula| Ok(variables(formula)?.iter().map(|it| it.name.text.to_string()).collect()));
    Ok((propositions, names.collect::<Result<_, Diagnostic>>()?))
}
