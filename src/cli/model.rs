//! The model that the command line names.

use super::args::{DefineArg, ModelArgs};
use super::failure::CommandFailure;
use super::progress::ProgressDisplay;
use super::{languages, slot_survey, warn};
use crate::front::{Language, LanguageOptions, Options};
use crate::ir::{ConditionModality, EndRule, FlagCondition, OverflowRule};
use crate::session::{Error, LivenessCheck, PropertyRequest, TextModel, read_text};
use crate::source::SourceMap;

/// Reads the model that the command line names. Warnings go to standard error.
pub(super) fn open(args: &ModelArgs) -> Result<TextModel, CommandFailure> {
    let (model, warnings) = open_quietly(args)?;
    warnings.iter().for_each(warn);
    Ok(model)
}

/// The same; its warnings are given to whoever knows whether they matter.
pub(super) fn open_quietly(args: &ModelArgs) -> Result<(TextModel, Vec<String>), CommandFailure> {
    read(args, TextModel::load, |model| model)
}

/// The same with the most slots for processes, for who takes steps one by one.
pub(super) fn open_widest(args: &ModelArgs) -> Result<(TextModel, Vec<String>), CommandFailure> {
    let (language, sources, options) = to_read(args)?;
    let shown = ProgressDisplay::of_wait(format!("reading {}", args.model.display()));
    let opened = TextModel::with_most_slots(language, &sources, &options)?;
    drop(shown);
    Ok(opened)
}

/// Reads the model that the command line names, and what is asked of its runs.
pub(super) fn open_with_property(
    args: &ModelArgs,
    wanted: PropertyRequest<'_>,
) -> Result<LivenessCheck, CommandFailure> {
    let load = |language, sources, options| LivenessCheck::load(language, sources, options, wanted);
    let (watched, warnings) = read(args, load, |watched| &watched.model)?;
    warnings.iter().for_each(warn);
    Ok(watched)
}

/// Reads the model that the command line names, by what makes something of the text; with its warnings, if they were not told
/// before. Where nothing says how many slots there are, a short look at the model does.
fn read<T>(
    args: &ModelArgs,
    load: impl Fn(&'static Language, SourceMap, Options) -> Result<(T, Vec<String>), Error>,
    model: fn(&T) -> &TextModel,
) -> Result<(T, Vec<String>), CommandFailure> {
    let (language, sources, options) = to_read(args)?;
    let shown = ProgressDisplay::of_wait(format!("reading {}", args.model.display()));
    let (loaded, warnings) = load(language, sources.clone(), options.clone())?;
    drop(shown);
    if !args.load_context.slots.is_empty() {
        return Ok((loaded, Vec::new()));
    }
    if !model(&loaded).interp.program().slots_can_grow {
        return Ok((loaded, warnings));
    }
    drop(loaded);
    let room = slot_survey::survey_slots(language, &sources, &options, args.load_context.deadline)?;
    Ok(load(language, sources, Options { slots_by_process: room, ..options })?)
}

/// The text that the command line names, with what is asked of its states, and how it is read.
fn to_read(args: &ModelArgs) -> Result<(&'static Language, SourceMap, Options), CommandFailure> {
    let (language, mut sources) = self::sources(args)?;
    let options = Options {
        defines: constants(&args.defines, language),
        macros: macros(&args.defines, language),
        overflow: args.overflow.map(OverflowRule::from),
        deadlock: args.deadlock.map(EndRule::from),
        slots: args.slots,
        slots_by_process: args.load_context.slots.clone(),
        claim: args.claim(),
        lossy: args.lossy,
    };
    for (holds, texts) in [
        (ConditionModality::Always, &args.invariants),
        (ConditionModality::Sometimes, &args.covers),
    ] {
        let file = FlagCondition { holds, name: None }.file();
        texts.iter().for_each(|it| _ = sources.add(file.as_str(), it.as_str()));
    }
    args.load_context
        .conditions
        .iter()
        .for_each(|(file, text)| _ = sources.add(file.as_str(), text.as_str()));
    Ok((language, sources, options))
}

/// The constants that the command line defines. A language with macros has none: `-D` defines macros there.
fn constants(defines: &[DefineArg], language: &Language) -> Vec<(String, i64)> {
    let constants = defines.iter().filter(|_| !language.options.macros);
    // What is no integer has been refused (`own_flags`).
    constants.filter_map(|it| Some((it.name.clone(), it.integer()?))).collect()
}

/// The macros that the command line defines, if the language has macros.
fn macros(defines: &[DefineArg], language: &Language) -> Vec<(String, String)> {
    let macros = defines.iter().filter(|_| language.options.macros);
    macros.map(|it| (it.name.clone(), it.text().to_owned())).collect()
}

/// The text of the model that the command line names, and its language.
pub(super) fn sources(args: &ModelArgs) -> Result<(&'static Language, SourceMap), CommandFailure> {
    let language = language_of(args)?;
    let mut sources = SourceMap::default();
    sources.add(args.model.display().to_string(), read_text(&args.model)?);
    Ok((language, sources))
}

/// The language of the model that the command line names. Flags that have no meaning in it are
/// refused.
fn language_of(args: &ModelArgs) -> Result<&'static Language, CommandFailure> {
    let name = args.model.display().to_string();
    let language = args.language.or_else(|| Language::from_file_name(&name));
    let language =
        language.ok_or_else(|| CommandFailure::wrong(languages::unknown_ending(&name)))?;
    match own_flags(args).find(|flag| flag.is_given && !(flag.has_meaning)(language.options)) {
        None => Ok(language),
        Some(flag) => {
            let titles = languages::titles(|it| (flag.has_meaning)(it.options));
            Err(languages::misfit(flag.subject, &titles, &name, language))
        }
    }
}

/// A flag that only some languages have a meaning for.
struct LanguageFlag {
    /// As the subject of a sentence, with its verb.
    subject: &'static str,
    /// Whether the command line has it.
    is_given: bool,
    /// Whether a language with these options has a meaning for it.
    has_meaning: fn(LanguageOptions) -> bool,
}

fn own_flags(args: &ModelArgs) -> impl Iterator<Item = LanguageFlag> {
    let flag = |subject, is_given, has_meaning| LanguageFlag { subject, is_given, has_meaning };
    let is_bare = args.defines.iter().any(|it| it.value.is_none());
    let is_text = args.defines.iter().any(|it| it.integer().is_none());
    [
        flag("--define NAME without =VALUE is", is_bare, |it| it.macros),
        flag("--define NAME=VALUE with a VALUE that is no integer is", is_text, |it| it.macros),
        flag("--overflow is", args.overflow.is_some(), |it| it.overflow),
        flag("--deadlock is", args.deadlock.is_some(), |it| it.deadlock),
        flag("--slots is", args.slots.is_some(), |it| it.slots.is_some()),
        flag("--lossy is", args.lossy, |it| it.lossy),
        flag("--claim is", args.claim.is_some(), |it| it.claim),
        flag("--no-claim is", args.no_claim, |it| it.model_property),
    ]
    .into_iter()
}
