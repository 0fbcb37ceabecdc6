//! The description of a language, so that its users do not depend on the language.
//!
//! A front end is a folder next to this file with one value, `LANGUAGE`; [`LANGUAGES`] lists them. That value holds all
//! differences between languages: the extensions of files, the reader, the options that have a meaning, and the tool
//! that replays counterexamples, if there is one.

use super::{CommentSyntax, ExternalProperty, LANGUAGES, LoadedModel, Options, PropertySource};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_ir::{
    ConditionModality, ProgramProperty, PropertyKind, StateCondition, UncheckedRequirement,
};
use spillway_model::{StateValue, StepDescription};
use std::io::{self, Write};

/// A modelling language.
#[derive(Debug)]
pub struct Language {
    /// The name in flags, reports and search directories; it never changes.
    pub name: &'static str,
    /// The name in sentences.
    pub title: &'static str,
    /// The tool or authors from which the language comes.
    pub origin: &'static str,
    /// The extensions of its files, without the dot, the usual one first. No other language has one of them.
    pub extensions: &'static [&'static str],
    /// The options that have a meaning for the language.
    pub options: LanguageOptions,
    /// What its texts are.
    pub form: ModelForm,
    /// How its texts have comments.
    pub comments: CommentSyntax,
    /// What stands between a process and its local variable in an expression, if expressions can name local variables.
    pub local_separator: Option<&'static str>,
    /// Creates the writer of counterexamples as SPIN's trails, if SPIN reads the language.
    pub spin_trail: Option<MakeTrailWriter>,
    /// Reads the properties in another file of the sources about the model in file 0, if the language has such files.
    pub read_properties: Option<ReadPropertyFile>,
    /// Draws the model in file 0 of the sources, if its models can be drawn.
    pub draw: Option<DrawModel>,
    /// A small commented model as a starting point. In its text, NAME with the usual extension denotes its own file.
    pub template: &'static str,
    /// Flags of the language's other checkers that Spillway lacks.
    pub foreign_flags: &'static [ForeignFlag],
}

/// What the texts of a language are.
#[derive(Clone, Copy, Debug)]
pub enum ModelForm {
    /// Programs. See [`Language::load`].
    Program(LoadModel),
    /// Specifications, which are no programs. Each has a configuration with the checks.
    Specification {
        /// The extension of the configuration file, without the dot.
        configuration_extension: &'static str,
        /// The configuration of the template.
        configuration_template: &'static str,
    },
}

/// A flag of another checker of a language, and its replacement here.
#[derive(Clone, Copy, Debug)]
pub struct ForeignFlag {
    /// The flag as typed; a trailing `#` permits a number after it.
    flag: &'static str,
    /// The replacement here.
    pub replacement: &'static str,
}

impl ForeignFlag {
    pub(super) const fn new(flag: &'static str, replacement: &'static str) -> ForeignFlag {
        ForeignFlag { flag, replacement }
    }

    /// Returns whether `typed` is this flag, ignoring a value after `=`. A word may have one or two dashes in front.
    pub fn matches(&self, typed: &str) -> bool {
        let typed = typed.split('=').next().unwrap_or(typed);
        let is_word = typed.len() > "--x".len() && !self.flag.starts_with("--");
        let typed =
            typed.strip_prefix('-').filter(|it| is_word && it.starts_with('-')).unwrap_or(typed);
        match self.flag.strip_suffix('#') {
            None => typed == self.flag,
            Some(flag) => {
                let number = typed.strip_prefix(flag);
                number.is_some_and(|it| it.chars().all(|digit| digit.is_ascii_digit()))
            }
        }
    }
}

/// Reads the model in file 0 of the sources, and its property.
pub type LoadModel =
    fn(&mut SourceMap, &Options, Option<&PropertySource>) -> Result<LoadedModel, Vec<Diagnostic>>;

/// Reads the properties in a file about the model in file 0 of the sources.
pub type ReadPropertyFile = fn(&SourceMap, u32) -> Result<Vec<ExternalProperty>, Diagnostic>;

/// Draws the model in file 0 of the sources, as DOT.
pub type DrawModel = fn(&SourceMap, &DrawnState<'_>) -> Result<String, Diagnostic>;

/// A model in a state, for drawing.
#[derive(Clone, Copy, Debug)]
pub struct DrawnState<'d> {
    /// The model's name.
    pub name: &'d str,
    /// The values of its variables.
    pub values: &'d [(String, StateValue)],
    /// The enabled actions.
    pub next: &'d [String],
}

/// Creates the writer of counterexamples for the model in file 0 of the sources. The options are those with which the
/// model was read.
pub type MakeTrailWriter = fn(&mut SourceMap, &Options) -> Result<Box<dyn TrailWriter>, Diagnostic>;

/// The members of [`Options`] that have a meaning only for some languages.
#[derive(Clone, Copy, Debug)]
pub struct LanguageOptions {
    /// Whether [`Options::macros`] has a meaning. Then a definition may be any text and defaults to 1, as for the C
    /// preprocessor.
    pub macros: bool,
    /// Whether [`Options::overflow`] has a meaning.
    pub overflow: bool,
    /// Whether [`Options::deadlock`] has a meaning.
    pub deadlock: bool,
    /// Whether [`Options::claim`] has a meaning.
    pub claim: bool,
    /// Whether a model may contain a temporal property, which can then be omitted.
    pub model_property: bool,
    /// Whether [`Options::lossy`] has a meaning.
    pub lossy: bool,
    /// The default of [`Options::slots`], if that has a meaning.
    pub slots: Option<u32>,
    /// Whether a check of labels has a result for a model without labels, as in SPIN's verifier: no run passes an
    /// `accept` label infinitely often, and every cycle is a non-progress cycle.
    pub checks_unlabelled_models: bool,
    /// The term for a whole state, if the numbers in it can be added up.
    pub whole: Option<&'static str>,
    /// Whether a model has a configuration file in its folder, and further files in folders of libraries.
    pub has_configuration: bool,
}

impl LanguageOptions {
    /// No such option.
    pub const NONE: LanguageOptions = LanguageOptions {
        macros: false,
        overflow: false,
        deadlock: false,
        claim: false,
        model_property: false,
        lossy: false,
        slots: None,
        checks_unlabelled_models: false,
        whole: None,
        has_configuration: false,
    };
}

impl Language {
    /// Returns the language of a file, by the extension of its name.
    pub fn from_file_name(name: &str) -> Option<&'static Language> {
        let (_, ending) = name.rsplit_once('.')?;
        LANGUAGES.iter().copied().find(|language| language.extensions.contains(&ending))
    }

    /// Returns the language of this name.
    pub fn from_name(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().copied().find(|language| language.name == name)
    }

    /// Parses, checks and lowers the model in file 0 of `sources`. Adds included files to `sources`, and the texts of
    /// the [conditions](Options::conditions) that are checked in addition to the model's own properties.
    pub fn load(
        &self,
        sources: &mut SourceMap,
        options: &Options,
    ) -> Result<LoadedModel, Vec<Diagnostic>> {
        let conditions = &options.conditions;
        if conditions.is_empty() {
            return Ok(finish(self.load_program(sources, options, None)?, options));
        }
        let add = |it: &StateCondition| sources.add_property(it.source_name(), &*it.text);
        let files: Vec<u32> = conditions.iter().map(add).collect();
        let asked = PropertySource::Propositions(files.clone());
        let mut loaded = self.load_program(sources, options, Some(&asked))?;
        let propositions = loaded.property.take().map_or(Vec::new(), |it| it.propositions);
        for ((StateCondition { holds, name, text, .. }, file), proposition) in
            conditions.iter().zip(files).zip(propositions)
        {
            // The span of the property is that of its text, even if the text refers to a part of the model.
            let start = text.len() - text.trim_start().len();
            let span = Span::new(file, start..start + text.trim().len());
            if *holds == ConditionModality::Within && proposition.condition.reads_enabledness() {
                let message = "a constraint cannot depend on which steps are enabled, since it disables steps";
                return Err(vec![
                    Diagnostic::error(span, message).help("leave out `timeout` and `enabled`"),
                ]);
            }
            let name = name.clone().unwrap_or(proposition.text);
            let kind = PropertyKind::of_condition(*holds, proposition.condition);
            loaded.program.add_property(ProgramProperty { name, kind, span });
        }
        Ok(finish(loaded, options))
    }

    /// Does the same, with the property in other files of `sources`.
    pub fn load_with_property(
        &self,
        sources: &mut SourceMap,
        options: &Options,
        asked: &PropertySource,
    ) -> Result<LoadedModel, Vec<Diagnostic>> {
        Ok(finish(self.load_program(sources, options, Some(asked))?, options))
    }

    /// Returns whether its models are programs.
    pub fn has_programs(&self) -> bool {
        matches!(self.form, ModelForm::Program(_))
    }

    fn load_program(
        &self,
        sources: &mut SourceMap,
        options: &Options,
        asked: Option<&PropertySource>,
    ) -> Result<LoadedModel, Vec<Diagnostic>> {
        match self.form {
            ModelForm::Program(load) => load(sources, options, asked),
            ModelForm::Specification { .. } => {
                let message = format!("a specification in {} is no program", self.title);
                Err(vec![Diagnostic::error(Span::default(), message)])
            }
        }
    }
}

/// Completes a model by the steps that are independent of its language.
fn finish(mut loaded: LoadedModel, options: &Options) -> LoadedModel {
    loaded.program.number_exprs();
    let (program, warnings) = (&mut loaded.program, &mut loaded.warnings);
    let elsewhere = |it: &UncheckedRequirement| options.decided_elsewhere.contains(&it.name);
    let spans: Vec<Span> =
        program.unchecked.iter().filter(|it| elsewhere(it)).map(|it| it.span).collect();
    program.unchecked.retain(|it| !elsewhere(it));
    warnings.retain(|it| !spans.contains(&it.span));
    loaded
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

/// Passes on the steps of a counterexample, in order.
pub type StepSource<'a> = dyn FnMut(&mut dyn FnMut(&StepDescription)) + 'a;

/// The end of a counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailEnd<'a> {
    /// A finite run; it ends with these moves of a claim that reaches its end, or none if there is no claim.
    LastMoves(&'a [u32]),
    /// An infinite run: the steps after the step of this number repeat for ever. The start is 0.
    LoopAfter(usize),
}

/// Writes counterexamples of one model for another tool.
pub trait TrailWriter {
    /// Writes one counterexample: the steps that `each_step` passes on, the start first, and its end.
    fn write(
        &self,
        each_step: &mut StepSource<'_>,
        end: TrailEnd<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// Returns the name of a file without its folder, and without its extension if that is one of `endings`.
pub(super) fn stem<'n>(file: &'n str, endings: &[&str]) -> &'n str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, ending)) if endings.contains(&ending) => stem,
        _ => name,
    }
}
