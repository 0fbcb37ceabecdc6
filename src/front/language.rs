//! What a front end tells of its language, so that whoever uses one need not know which it is.
//!
//! A front end is a folder beside this file with one value, `LANGUAGE`, and [`LANGUAGES`] lists
//! them. All that differs from language to language is asked of that value: which files are in it,
//! how they are read, which flags it gives a meaning to, whether there is a tool that replays its
//! counterexamples.

use super::{ExternalProperty, LANGUAGES, LoadedModel, Options, PropertySource};
use crate::diag::Diagnostic;
use crate::ir::{ProgramProperty, StateCondition, UncheckedRequirement};
use crate::model::{StateValue, StepDescription};
use crate::source::{SourceMap, Span};
use std::io::{self, Write};

/// A modelling language.
#[derive(Debug)]
pub struct Language {
    /// As flags, reports and search directories call it; once given, it stays.
    pub name: &'static str,
    /// As sentences call it.
    pub title: &'static str,
    /// Whose it is.
    pub origin: &'static str,
    /// How the names of its files end, without the dot, the usual ending first. No other language
    /// has one of them.
    pub extensions: &'static [&'static str],
    /// Which choices it leaves to the user that others do not.
    pub options: LanguageOptions,
    /// See [`Language::load`].
    pub(super) load: LoadModel,
    /// Makes what writes counterexamples as trails that SPIN replays, if it reads the language.
    pub spin_trail: Option<MakeTrailWriter>,
    /// Reads what another file of the sources asks of the model in file 0, if there are such files.
    pub read_properties: Option<ReadPropertyFile>,
    /// Draws the model in file 0 of the sources, if models are drawn.
    pub draw: Option<DrawModel>,
    /// A small model with comments, to start from. Where it names its own file, it has NAME with the usual ending.
    pub template: &'static str,
    /// Flags that its other checkers have, and ours has not.
    pub foreign_flags: &'static [ForeignFlag],
}

/// A flag of another checker of a language, and what does here what it does there.
#[derive(Clone, Copy, Debug)]
pub struct ForeignFlag {
    /// As it is typed; one that ends in `#` may have a number behind it.
    flag: &'static str,
    /// What to do here.
    pub replacement: &'static str,
}

impl ForeignFlag {
    pub(super) const fn new(flag: &'static str, replacement: &'static str) -> ForeignFlag {
        ForeignFlag { flag, replacement }
    }

    /// Whether it is what was typed, a value behind `=` aside. A word may have one dash or two in front.
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

/// Reads the model in file 0 of the sources, and what is asked of it.
pub(super) type LoadModel =
    fn(&mut SourceMap, &Options, Option<&PropertySource>) -> Result<LoadedModel, Vec<Diagnostic>>;

/// Reads what a file asks of the model in file 0 of the sources.
pub type ReadPropertyFile = fn(&SourceMap, u32) -> Result<Vec<ExternalProperty>, Diagnostic>;

/// Draws the model in file 0 of the sources, as DOT.
pub type DrawModel = fn(&SourceMap, &DrawnState<'_>) -> Result<String, Diagnostic>;

/// A model in a state, to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnState<'d> {
    /// What it is called.
    pub name: &'d str,
    /// The values of its variables.
    pub values: &'d [(String, StateValue)],
    /// The actions that can be taken.
    pub next: &'d [String],
}

/// Makes what writes the counterexamples of the model in file 0 of the sources. The options are
/// those it was read with.
pub type MakeTrailWriter = fn(&mut SourceMap, &Options) -> Result<Box<dyn TrailWriter>, Diagnostic>;

/// The members of [`Options`] that only some languages have a meaning for.
#[derive(Clone, Copy, Debug)]
pub struct LanguageOptions {
    /// Whether [`Options::macros`] is one: then what is defined may be any text, and is 1 where nothing is said, as for the C
    /// preprocessor.
    pub macros: bool,
    /// Whether [`Options::overflow`] is one.
    pub overflow: bool,
    /// Whether [`Options::deadlock`] is one.
    pub deadlock: bool,
    /// Whether [`Options::claim`] is one.
    pub claim: bool,
    /// Whether a model may bring a property of runs with it, which then can be left out.
    pub model_property: bool,
    /// Whether [`Options::lossy`] is one.
    pub lossy: bool,
    /// How many [`Options::slots`] there are where nobody says, if that is one.
    pub slots: Option<u32>,
    /// Whether a model without labels has an answer to what labels ask, as SPIN's verifier has: no run passes an `accept`
    /// label, and every cycle is one without progress.
    pub checks_unlabelled_models: bool,
    /// What a state is called as a whole, if the numbers in it can be added up.
    pub whole: Option<&'static str>,
}

impl LanguageOptions {
    /// None of them.
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
    };
}

impl Language {
    /// The language that files of this name are written in, going by the ending.
    pub fn from_file_name(name: &str) -> Option<&'static Language> {
        let (_, ending) = name.rsplit_once('.')?;
        LANGUAGES.iter().copied().find(|language| language.extensions.contains(&ending))
    }

    /// The language of this name.
    pub fn from_name(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().copied().find(|language| language.name == name)
    }

    /// Parses, checks and lowers the model in file 0 of `sources`, which may gain included files, and the texts of the
    /// [conditions](Options::conditions) that are checked beside its own properties.
    pub fn load(
        &self,
        sources: &mut SourceMap,
        options: &Options,
    ) -> Result<LoadedModel, Vec<Diagnostic>> {
        let conditions = &options.conditions;
        if conditions.is_empty() {
            return Ok(finish((self.load)(sources, options, None)?, options));
        }
        let add = |it: &StateCondition| sources.add_property(it.source_name(), &*it.text);
        let files: Vec<u32> = conditions.iter().map(add).collect();
        let asked = PropertySource::Propositions(files.clone());
        let mut loaded = (self.load)(sources, options, Some(&asked))?;
        let propositions = loaded.property.take().map_or(Vec::new(), |it| it.propositions);
        for ((StateCondition { holds, name, text }, file), proposition) in
            conditions.iter().zip(files).zip(propositions)
        {
            // The property stands where its text does, whatever part of the model it refers to.
            let start = text.len() - text.trim_start().len();
            let span = Span::new(file, start..start + text.trim().len());
            let name = name.clone().unwrap_or(proposition.text);
            let kind = holds.property(proposition.condition);
            loaded.program.properties.push(ProgramProperty { name, kind, span });
        }
        Ok(finish(loaded, options))
    }

    /// The same, with what is asked of the model in other files of `sources`.
    pub fn load_with_property(
        &self,
        sources: &mut SourceMap,
        options: &Options,
        asked: &PropertySource,
    ) -> Result<LoadedModel, Vec<Diagnostic>> {
        Ok(finish((self.load)(sources, options, Some(asked))?, options))
    }
}

/// A model with all that does not depend on its language.
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

/// Hands on the steps of a counterexample, one after the other.
pub type StepSource<'a> = dyn FnMut(&mut dyn FnMut(&StepDescription)) + 'a;

/// How a counterexample ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailEnd<'a> {
    /// With these moves of a claim, which has come to its end; with none where there is no claim.
    LastMoves(&'a [u32]),
    /// Never: what comes behind the step of this number is repeated. The start is 0.
    LoopAfter(usize),
}

/// Writes counterexamples of one model for another tool.
pub trait TrailWriter {
    /// Writes one: its steps, which are those that `each_step` hands on, the start first, and how it ends.
    fn write(
        &self,
        each_step: &mut StepSource<'_>,
        end: TrailEnd<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// A file's name without its folder and without its ending, if that is one of these.
pub(super) fn stem<'n>(file: &'n str, endings: &[&str]) -> &'n str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, ending)) if endings.contains(&ending) => stem,
        _ => name,
    }
}
