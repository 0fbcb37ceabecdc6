//! Promela, the language of SPIN.

pub mod ast;
mod condition_evaluator;
mod foreign_flags;
pub mod graph;
pub mod lex;
mod lower;
pub mod parse;
pub mod preprocess;
pub mod symbols;
pub mod token;
pub mod trail;

use super::{
    CommentSyntax, Language, LanguageOptions, LoadedModel, ModelForm, Options, PropertySource,
    Proposition, TemporalProperty,
};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_ir::{Arithmetic, Program};

/// Promela, the language of SPIN.
pub static LANGUAGE: Language = Language {
    name: "promela",
    title: "Promela",
    origin: "SPIN's",
    extensions: &["pml", "prom", "promela", "pr", "prm", "spin", "pm"],
    options: LanguageOptions {
        macros: true,
        claim: true,
        model_property: true,
        lossy: true,
        slots: Some(lower::SLOTS_DEFAULT),
        checks_unlabelled_models: true,
        ..LanguageOptions::NONE
    },
    form: ModelForm::Program(load),
    comments: CommentSyntax::OF_C,
    local_separator: Some(":"),
    spin_trail: Some(trail::trail_writer),
    read_properties: None,
    draw: None,
    template: include_str!("template.pml"),
    foreign_flags: foreign_flags::FOREIGN_FLAGS,
};

/// The arithmetic of expressions, both folded and evaluated at run time. The preprocessor's `#if` conditions have
/// wrapping 64-bit integers instead.
const ARITHMETIC: Arithmetic = Arithmetic::Wrapping32;

/// Reads, checks and lowers the model in file 0 of `sources`, and adds the files that it includes.
fn load(
    sources: &mut SourceMap,
    options: &Options,
    asked: Option<&PropertySource>,
) -> Result<LoadedModel, Vec<Diagnostic>> {
    let model = read(sources, options, asked).map_err(|error| vec![error])?;
    let lowered = lower::lower(&model, sources, options).map_err(|error| vec![error])?;
    let lower::LoweredModel { program, conditions, advice } = lowered;
    let name = model_name(&sources.file(0).name).to_owned();
    let observed = model.property.map(|it| {
        let both = it.propositions.into_iter().zip(conditions);
        let made = both.map(|((text, _), condition)| Proposition { text, condition });
        let propositions = made.collect();
        TemporalProperty { name: it.name, spec: it.spec, propositions, breaks_symmetry: false }
    });
    let program = Program { name, ..program };
    let (warnings, names) = ([model.warnings, advice].concat(), model.names);
    Ok(LoadedModel { program, warnings, property: observed, names })
}

/// Reads the model and its property.
fn read(
    sources: &mut SourceMap,
    options: &Options,
    asked: Option<&PropertySource>,
) -> Result<parse::PromelaModel, Diagnostic> {
    let files = match asked {
        None => &[][..],
        Some(PropertySource::Formula(file)) => std::slice::from_ref(file),
        Some(PropertySource::Propositions(files)) => files,
    };
    let preprocessed = preprocess::preprocess(sources, options, files)?;
    let preprocess::PreprocessedModel { model, others, unknown, macros } = preprocessed;
    unknown.map_or(Ok(()), Err)?;
    let asked = asked.map(|asked| match asked {
        PropertySource::Formula(_) => parse::PropertyTokens::Formula(others.concat()),
        PropertySource::Propositions(_) => parse::PropertyTokens::Propositions(others),
    });
    let mut model = parse::parse(model, asked)?;
    model.names.extend(macros);
    Ok(model)
}

/// Returns the name of a file without its folder and extension.
fn model_name(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Rejects C code inside a model, because its effect is unknown.
fn refuse_c<T>(span: Span, word: &str) -> Result<T, Diagnostic> {
    Err(Diagnostic::error(span, format!("`{word}` embeds C code, which is not supported"))
        .help("write what it does in Promela"))
}
