//! The model that the command line names.

use super::args::ModelArgs;
use super::failure::Failure;
use super::progress::Display;
use super::{languages, say};
use crate::front::{ClaimChoice, Language, Options};
use crate::ir::{EndRule, Overflow};
use crate::session::{TextModel, read_text};
use crate::source::Sources;

/// Reads the model that the command line names. Warnings go to standard error.
pub(super) fn open(args: &ModelArgs) -> Result<TextModel, Failure> {
    let name = args.model.display().to_string();
    let language = language_of(args)?;
    let text = read_text(&args.model)?;
    let options = Options {
        defines: args.defines.clone(),
        overflow: Some(Overflow::from(args.overflow)),
        deadlock: args.deadlock.map(EndRule::from),
        slots: args.slots,
        claim: args.claim(),
    };
    let shown = Display::of_wait(format!("reading {name}"));
    let mut sources = Sources::default();
    sources.add(name, text);
    let (model, warnings) = TextModel::load(language, sources, options)?;
    drop(shown);
    warnings.iter().for_each(say);
    Ok(model)
}

/// The language of the model that the command line names. Flags that have no meaning in it are
/// refused.
fn language_of(args: &ModelArgs) -> Result<&'static Language, Failure> {
    let name = args.model.display().to_string();
    let language = args.language.or_else(|| Language::of_file(&name));
    let language = language.ok_or_else(|| Failure::wrong(languages::no_ending(&name)))?;
    let deadlock = |it: &Language| it.options.deadlock;
    let claim = |it: &Language| it.options.claim;
    if args.deadlock.is_some() && !deadlock(language) {
        return Err(languages::misfit(
            "--deadlock is",
            &languages::titles(deadlock),
            &name,
            language,
        ));
    }
    if args.claim() != ClaimChoice::First && !claim(language) {
        return Err(languages::misfit(
            "--claim and --no-claim are",
            &languages::titles(claim),
            &name,
            language,
        ));
    }
    Ok(language)
}
