//! The course of a search, in a build without plots.

use crate::search::events::SearchEvent;
use maud::{Markup, html};

/// Renders a note in place of the plots of a search.
pub(super) fn all(_: &[u64], _: &[SearchEvent]) -> Markup {
    html! { p.note { "This build draws no plots." } }
}
