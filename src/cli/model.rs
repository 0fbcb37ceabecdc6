//! The model of a command.

use super::command::ModelInput;
use super::failure::CommandFailure;
use super::progress::ProgressDisplay;
use super::{languages, slot_survey, warn};
use crate::front::{Language, LanguageOptions, Options};
use crate::search::StateStorage;
use crate::session::config::ModelConfig;
use crate::session::{
    Error, LivenessCheck, PropertyRequest, SearchJob, SourceModel, SpecificationModel, TextModel,
    read_text,
};
use crate::source::SourceMap;

/// A program that was read, and the warnings about it.
type OpenedProgram = Result<(TextModel, Vec<String>), CommandFailure>;

/// Reads the model of a command. Warnings go to standard error.
pub(super) fn open(input: &ModelInput) -> Result<TextModel, CommandFailure> {
    let (model, warnings) = open_quietly(input)?;
    warnings.iter().for_each(warn);
    Ok(model)
}

/// Reads the model of a command. Warnings are returned, since only the caller knows whether they matter.
pub(super) fn open_quietly(input: &ModelInput) -> OpenedProgram {
    read(input, TextModel::load, |model| model)
}

/// Reads the model with the maximum number of slots for processes, for commands that take single steps.
pub(super) fn open_widest(input: &ModelInput) -> OpenedProgram {
    let (language, sources, options) = to_read(input)?;
    let shown = ProgressDisplay::of_wait(format!("reading {}", input.path.display()));
    let opened = TextModel::with_most_slots(language, &sources, &options)?;
    drop(shown);
    Ok(opened)
}

/// Reads the model of a command with its temporal property.
pub(super) fn open_with_property(
    input: &ModelInput,
    wanted: PropertyRequest<'_>,
) -> Result<LivenessCheck, CommandFailure> {
    let load = |language, sources, options| LivenessCheck::load(language, sources, options, wanted);
    let (watched, warnings) = read(input, load, |watched| &watched.model)?;
    warnings.iter().for_each(warn);
    Ok(watched)
}

/// Reads the model of a command by `load`. Returns its warnings, unless an earlier search has printed them. If the
/// numbers of slots are not given, a short probe of the model determines them.
fn read<T>(
    input: &ModelInput,
    load: impl Fn(&'static Language, SourceMap, Options) -> Result<(T, Vec<String>), Error>,
    model: fn(&T) -> &TextModel,
) -> Result<(T, Vec<String>), CommandFailure> {
    let (language, sources, options) = to_read(input)?;
    let shown = ProgressDisplay::of_wait(format!("reading {}", input.path.display()));
    let (loaded, warnings) = load(language, sources.clone(), options.clone())?;
    drop(shown);
    if !input.slots.is_empty() {
        return Ok((loaded, Vec::new()));
    }
    if !model(&loaded).interp.program().slots_can_grow {
        return Ok((loaded, warnings));
    }
    drop(loaded);
    let room = slot_survey::survey_slots(language, &sources, &options, input.deadline)?;
    Ok(load(language, sources, Options { slots_by_process: room, ..options })?)
}

/// Reads the model of a command that needs no program. `open_program` reads it if it is one. Warnings are returned.
pub(super) fn open_any(
    input: &ModelInput,
    open_program: fn(&ModelInput) -> OpenedProgram,
) -> Result<(Box<dyn SourceModel>, Vec<String>), CommandFailure> {
    if is_specification(input)? {
        let (model, warnings) = open_specification(input)?;
        return Ok((Box::new(model), warnings));
    }
    let (model, warnings) = open_program(input)?;
    Ok((Box::new(model), warnings))
}

/// Reads the specification of a command. Warnings are returned.
pub(super) fn open_specification(
    input: &ModelInput,
) -> Result<(SpecificationModel, Vec<String>), CommandFailure> {
    let _shown = ProgressDisplay::of_wait(format!("reading {}", input.path.display()));
    Ok(SpecificationModel::open(&input.path, &input.config)?)
}

/// Reads the model of a command that walks through its states. Warnings go to standard error. The job reads the model
/// again, also with further conditions.
pub(super) fn job_of_walks(input: &ModelInput) -> Result<SearchJob, CommandFailure> {
    let storage = StateStorage::default();
    let (job, warnings) = match is_specification(input)? {
        true => {
            let (model, warnings) = open_specification(input)?;
            (SearchJob::of_specification(&input.config, &model, &storage), warnings)
        }
        false => {
            let (model, warnings) = open_widest(input)?;
            let job = SearchJob::new(&input.config, &model, &model.searched(), &storage);
            (job, warnings)
        }
    };
    warnings.iter().for_each(warn);
    Ok(job)
}

/// Returns whether the model of a command is a specification.
pub(super) fn is_specification(input: &ModelInput) -> Result<bool, CommandFailure> {
    Ok(!language_of(input)?.has_programs())
}

/// Returns the text of the command's model, and the reading options.
fn to_read(input: &ModelInput) -> Result<(&'static Language, SourceMap, Options), CommandFailure> {
    let (language, sources) = self::sources(input)?;
    if !language.has_programs() {
        return Err(Error::NoProgram(input.path.display().to_string()).into());
    }
    let options = input.config.reading_options(language);
    Ok((language, sources, Options { slots_by_process: input.slots.clone(), ..options }))
}

/// Returns the text of the command's model, and its language.
pub(super) fn sources(
    input: &ModelInput,
) -> Result<(&'static Language, SourceMap), CommandFailure> {
    let language = language_of(input)?;
    let mut sources = SourceMap::default();
    match &input.texts[..] {
        [] => _ = sources.add(input.path.display().to_string(), read_text(&input.path)?),
        texts => texts.iter().for_each(|(name, text)| _ = sources.add(&**name, &**text)),
    }
    Ok((language, sources))
}

/// Returns the language of the command's model. Flags that have no meaning in it are rejected.
fn language_of(input: &ModelInput) -> Result<&'static Language, CommandFailure> {
    let name = input.path.display().to_string();
    let language = input.language.or_else(|| Language::from_file_name(&name));
    let language =
        language.ok_or_else(|| CommandFailure::wrong(languages::unknown_ending(&name)))?;
    match own_flags(input).find(|flag| flag.is_given && !(flag.has_meaning)(language.options)) {
        None => Ok(language),
        Some(flag) => {
            let titles = languages::titles(|it| (flag.has_meaning)(it.options));
            Err(languages::misfit(flag.subject, &titles, &name, language))
        }
    }
}

/// A flag that has a meaning in some languages only.
struct LanguageFlag {
    /// The flag as the subject of a sentence, with its verb.
    subject: &'static str,
    /// Whether the flag is given.
    is_given: bool,
    /// Returns whether the flag has a meaning in a language with these options.
    has_meaning: fn(LanguageOptions) -> bool,
}

fn own_flags(input: &ModelInput) -> impl Iterator<Item = LanguageFlag> {
    let ModelConfig {
        language: _,
        definitions,
        overflow,
        deadlock,
        slots,
        lossy,
        claim,
        no_claim,
        configuration,
        libraries,
    } = &input.config.model;
    let flag = |subject, is_given, has_meaning| LanguageFlag { subject, is_given, has_meaning };
    let is_bare = definitions.iter().any(|it| it.value.is_none());
    let is_text = definitions.iter().any(|it| it.integer().is_none());
    [
        flag("--define NAME without =VALUE is", is_bare, |it| it.macros),
        flag("--define NAME=VALUE with a VALUE that is no integer is", is_text, |it| {
            it.macros || it.has_configuration
        }),
        flag("--overflow is", overflow.is_some(), |it| it.overflow),
        flag("--deadlock is", deadlock.is_some(), |it| it.deadlock),
        flag("-X slots is", slots.is_some(), |it| it.slots.is_some()),
        flag("--lossy is", *lossy, |it| it.lossy),
        flag("--claim is", claim.is_some(), |it| it.claim),
        flag("--no-claim is", *no_claim, |it| it.model_property),
        flag("--cfg is", configuration.is_some(), |it| it.has_configuration),
        flag("--library is", !libraries.is_empty(), |it| it.has_configuration),
    ]
    .into_iter()
}
