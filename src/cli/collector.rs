//! The results of the searches of a check, gathered for one result.

use crate::report::{JudgementReport, RenderedPage};
use crate::search::SearchVerdict;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The results of the searches of a check, for one result.
#[derive(Default)]
pub(super) struct CheckCollector {
    results: Mutex<CollectedResults>,
}

#[derive(Default)]
pub(super) struct CollectedResults {
    /// The JSON object of each search.
    pub documents: Vec<Value>,
    /// The verdicts of each search.
    pub judgements: Vec<JudgementReport>,
    /// The page of each search, with its verdict.
    pub pages: Vec<(SearchVerdict, RenderedPage)>,
}

impl CheckCollector {
    /// Returns all results.
    pub(super) fn results(&self) -> MutexGuard<'_, CollectedResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the JSON object of a search.
    pub(super) fn add_document(&self, document: Value) {
        self.results().documents.push(document);
    }

    /// Adds the verdicts of a search.
    pub(super) fn add_judgements(&self, judgements: JudgementReport) {
        self.results().judgements.push(judgements);
    }

    /// Adds the page of a search.
    pub(super) fn add_page(&self, verdict: SearchVerdict, page: RenderedPage) {
        self.results().pages.push((verdict, page));
    }
}
