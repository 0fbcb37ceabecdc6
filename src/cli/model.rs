//! The model that the command line names.

use super::args::ModelArgs;
use super::failure::Failure;
use super::progress::Display;
use super::{languages, say};
use crate::front::Options;
use crate::ir::{EndRule, Overflow};
use crate::session::{TextModel, read_text};
use crate::source::Sources;

/// Reads the model that the command line names. Warnings go to standard error.
pub(super) fn open(args: &ModelArgs) -> Result<TextModel, Failure> {
    let name = args.model.display().to_string();
    let language = languages::of(args)?;
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
