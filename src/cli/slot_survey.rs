//! How many slots for processes a short look at a model finds taken.

use super::failure::Failure;
use super::progress::Display;
use crate::front::{ClaimChoice, Language, Options};
use crate::search::Control;
use crate::session::{Room, TextModel};
use crate::source::Sources;
use std::time::{Duration, Instant};

/// The slots that a short look at a model finds taken.
pub(super) fn taken(
    language: &'static Language,
    sources: &Sources,
    options: &Options,
    deadline: Option<Instant>,
) -> Result<Room, Failure> {
    let _shown = Display::of_wait("counting processes that run at one time".into());
    let options = Options { claim: ClaimChoice::Leave, ..options.clone() };
    let (model, _) = TextModel::with_most_slots(language, sources, &options)?;
    let control = Control::new(Duration::MAX, deadline);
    Ok(model.slots_taken(&control))
}
