//! The survey of a model for the number of slots for processes.

use super::failure::CommandFailure;
use super::progress::ProgressDisplay;
use crate::front::{ClaimChoice, Language, Options};
use crate::search::SearchControl;
use crate::session::{SlotCounts, TextModel};
use crate::source::SourceMap;
use std::time::{Duration, Instant};

/// Returns the numbers of slots in use in a short probe of a model.
pub(super) fn survey_slots(
    language: &'static Language,
    sources: &SourceMap,
    options: &Options,
    deadline: Option<Instant>,
) -> Result<SlotCounts, CommandFailure> {
    let _shown = ProgressDisplay::of_wait("counting processes that run at one time".into());
    let options = Options { claim: ClaimChoice::Omit, ..options.clone() };
    let (model, _) = TextModel::with_most_slots(language, sources, &options)?;
    let control = SearchControl::new(Duration::MAX, deadline);
    Ok(model.slots_taken(&control))
}
