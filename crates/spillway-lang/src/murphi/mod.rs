//! Murphi, the language of CMurphi and Rumur.
//!
//! A model consists of constants, types, variables, functions and rules. Rules are guarded atomic steps, start states
//! and invariants; `ruleset`s give them parameters.
//!
//! [`lex`] produces tokens, and [`parse`] a tree ([`ast`]). `lower` resolves names, checks types and creates the
//! program, in one walk.
//!
//! # Meaning
//!
//! - Every scalar may be undefined, and is undefined until a start state assigns it. An undefined value can be stored,
//!   passed, and tested with `isundefined`. An undefined value of a scalarset or of a union can also be compared: it
//!   equals only undefined values, and is a member of no type. Any other use of an undefined value is an error.
//!   (CMurphi has the same rules.)
//! - A value outside its variable's range is an error, as is an index outside the array; so is a loop of more than 1000
//!   rounds. Numbers are 64 bits wide.
//! - A rule is executed in one step. Of the enabled rules, only those with the lowest priority number are taken.
//! - A state is a deadlock if no rule is enabled or every enabled rule leads back to it, as in CMurphi and, by default,
//!   Rumur. With `--deadlock stuck`, only a state without enabled rules is a deadlock.
//! - Parameters by value are copies. An alias is evaluated once, at its definition.
//! - The members of a union keep their numbers. A value is converted when it passes from one type to the other; a value
//!   that is not a member is an error.
//! - A multiset is sorted at the end of each step. `choose` ranges over all elements, including duplicates.
//! - States that violate an `assume` are excluded; steps to them are counted. If an `assume` in a body fails, the step
//!   does not exist.
//!
//! - The depth of recursion is limited; a deeper call is an error.
//! - A `cover` among rules is checked in states, a `cover` in a body where it is executed.
//! - Records and arrays are equal if all their scalars are equal; two undefined scalars are equal.
//!
//! Rejected: real numbers, and calls with side effects where none are allowed. `liveness` is read and checked for its
//! types; it is not verified yet.

pub mod ast;
mod foreign_flags;
mod lex;
mod lower;
pub mod parse;

use super::diagnostics::DiagnosticSink;
use super::language::stem;
use super::temporal_property::UnresolvedProperty;
use super::{
    CommentSyntax, Language, LanguageOptions, LoadedModel, ModelForm, Options, PropertySource,
};
use crate::ltl::FormulaSyntax;
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_ir::{Arithmetic, EndRule, Program, Quantifier};

/// Murphi, as CMurphi and Rumur have it.
pub static LANGUAGE: Language = Language {
    name: "murphi",
    title: "Murphi",
    origin: "CMurphi's and Rumur's",
    extensions: &["m", "murphi"],
    options: LanguageOptions { deadlock: true, ..LanguageOptions::NONE },
    form: ModelForm::Program(|sources, options, asked| load(sources, options, asked)),
    comments: CommentSyntax { line: Some("--"), ..CommentSyntax::OF_C },
    local_separator: None,
    spin_trail: None,
    read_properties: None,
    draw: None,
    template: include_str!("template.m"),
    foreign_flags: foreign_flags::FOREIGN_FLAGS,
};

/// The spelling of formulas, in addition to SPIN's operators.
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

/// The arithmetic of expressions, both folded and evaluated at run time.
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
    Ok(LoadedModel { program, warnings, property: observed, names: model.constants_and_types() })
}

/// Propositions, and the names of the variables of each quantified formula.
type ParsedPropositions<'a> = (Vec<ast::MurphiExpr<'a>>, Vec<Vec<String>>);

/// Parses the propositions of a property. A proposition within quantified formulas is quantified by their variables.
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
