//! DVE, the language of DiVinE and of the BEEM models.
//!
//! A model consists of global declarations, processes and a `system` line. A process has variables, states and
//! transitions; a transition has a `guard`, at most one `sync` and a list of `effect`s.
//!
//! [`lex`] produces tokens; [`parse`] and [`operators`] produce a tree ([`ast`]). [`declare`] resolves declared names
//! ([`scope`]). [`lower`] and [`expression`] walk the tree under the rules of [`check`].
//!
//! # Meaning
//!
//! - `byte` is 0 to 255, `int` is -32768 to 32767; expressions are computed in 32 bits, wrapping. Storing a value
//!   outside a variable's type fails, unless the user asks for wrapping.
//! - `and`, `or` and `imply` evaluate their right side only if it matters. Operators bind as in C. Some versions of
//!   DiVinE differ; an expression for which they differ causes a warning.
//! - The effects of a transition are executed in order.
//! - `channel c;` is a rendezvous. Its values have the width of expressions; only the variable of the receiver limits
//!   them. `channel {byte, int} c[4];` holds four messages, and with `[0]` or no capacity it is a rendezvous whose
//!   values must fit the fields.
//! - The property process of `system async property P;` is checked and kept as a process and an automaton property, but
//!   its transitions do not become actions: it does not move.
//! - A constant array is a variable that cannot be assigned.
//!
//! # Extensions
//!
//! Extensions let one file describe a system of any size:
//!
//! - `--define N=5` replaces the value of the global constant `N`;
//! - sizes of arrays and capacities of channels may be constant expressions, not only numbers;
//! - `process Node[i < N] { ... }` is a family: the processes `Node_0` to `Node_{N-1}`. In each process, `i` is a
//!   constant. `Node[e].state` and `Node[e]->x` refer to a member;
//! - `channel link[i < N];` and `channel {byte} buf[i < N][4];` are families of channels `link_0` and so on; `link[e]`
//!   refers to a member. In both, `e` must be constant.
//!
//! Rejected: probabilistic transitions (`=>`), accepting conditions other than Büchi's, channels declared inside
//! processes, assignment to another process's variable.

pub mod ast;
mod check;
mod declare;
mod expression;
mod lex;
mod lower;
mod operators;
pub mod parse;
mod property_process;
mod scope;

use super::language::stem;
use super::temporal_property::UnresolvedProperty;
use super::{
    CommentSyntax, Language, LanguageOptions, LoadedModel, ModelForm, Options, PropertySource,
};
use crate::ltl::FormulaSyntax;
use check::DiagnosticSink;
use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use spillway_ir::{Arithmetic, EndRule, OverflowRule, Program};

/// DiVinE's language, as the BEEM models use it.
pub static LANGUAGE: Language = Language {
    name: "dve",
    title: "DVE",
    origin: "DiVinE's",
    extensions: &["dve"],
    options: LanguageOptions { overflow: true, model_property: true, ..LanguageOptions::NONE },
    form: ModelForm::Program(|sources, options, asked| load(sources, options, asked)),
    comments: CommentSyntax::OF_C,
    local_separator: Some("->"),
    spin_trail: None,
    read_properties: None,
    draw: None,
    template: include_str!("template.dve"),
    foreign_flags: &[],
};

/// The spelling of formulas, in addition to SPIN's operators.
const SPELLING: FormulaSyntax = FormulaSyntax { has_arrows: true, ..FormulaSyntax::WORDS };

/// The arithmetic of expressions, both folded and evaluated at run time.
const ARITHMETIC: Arithmetic = Arithmetic::Wrapping32;

/// Parses, checks and lowers the model in file 0 of `sources`.
fn load(
    sources: &SourceMap,
    options: &Options,
    asked: Option<&PropertySource>,
) -> Result<LoadedModel, Vec<Diagnostic>> {
    let file = sources.file(0);
    let mut advice = Vec::new();
    let model = parse::parse(0, &file.text, &mut advice).map_err(|error| vec![error])?;
    let own = match asked {
        Some(PropertySource::Formula(file)) => {
            property_process::find_property_process(&model, sources.file(*file).text.trim())
        }
        _ => None,
    };
    let split = match own {
        Some(process) => property_process::automaton(process, sources).map(Some),
        None => UnresolvedProperty::parse(sources, asked, &SPELLING, &|name| model.has_name(name)),
    };
    let split = split.map_err(|error| vec![error])?;
    let propositions = split.as_ref().map_or(&[][..], |it| &it.propositions).iter();
    let propositions: Result<Vec<_>, Diagnostic> = propositions
        .map(|&it| parse::expression(it, &sources.file(it.file).text, &mut advice))
        .collect();
    let propositions = propositions.map_err(|error| vec![error])?;
    let report = DiagnosticSink::new(sources);
    advice.into_iter().for_each(|warning| report.add(warning));
    let declarations = declare::declare(&model, options, &report);
    if declarations.is_too_large() {
        return Err(report.finish().err().unwrap_or_default());
    }
    let overflow = options.overflow.unwrap_or(OverflowRule::Fails);
    let propositions =
        lower::DvePropositions { conditions: &propositions, are_of_property: own.is_some() };
    let (program, conditions) =
        lower::lower(&model, &propositions, declarations, overflow, &report);
    let program = Program {
        name: stem(&file.name, LANGUAGE.extensions).to_owned(),
        arithmetic: ARITHMETIC,
        end: EndRule::Never,
        ..program
    };
    let warnings = report.finish()?;
    let observed = split.map(|it| it.resolve(sources, conditions));
    Ok(LoadedModel { program, warnings, property: observed, names: model.constants() })
}
