//! What the checkpoint of a search proves: its outcome, its violations, their counterexamples.

use super::Error;
use super::searched_model::SearchedModel;
use crate::model::{StateSpace, Violation};
use crate::report::{self, ViolationReport};
use crate::search::checkpoint::SavedSearch;
use crate::search::trace::{Counterexample, StoredLevels, TraceFinder};
use crate::search::{SearchLimits, SearchOutcome, StateStorage, comback};
use crate::source::SourceMap;
use std::path::Path;

/// A checkpoint of a search of a model.
pub struct CheckpointEvidence<'e> {
    /// What was saved.
    pub saved: &'e SavedSearch,
    /// The search directory.
    pub dir: &'e Path,
    /// What was looked for.
    pub limits: &'e SearchLimits,
    /// The model's texts.
    pub sources: &'e SourceMap,
}

impl CheckpointEvidence<'_> {
    /// What is known; an error if the checkpoint is another model's.
    pub fn outcome(&self, model: &dyn StateSpace) -> Result<SearchOutcome, Error> {
        let outcome = self.saved.check_model(model).and_then(|()| self.saved.outcome());
        outcome.map_err(Error::open(self.dir))
    }

    /// What was found wrong, shallowest first.
    pub fn violations(&self, searched: &SearchedModel) -> Result<Vec<ViolationReport>, Error> {
        let outcome = self.outcome(searched.model())?;
        let preserved = searched.stack().preserves();
        Ok(report::violations(searched.model(), preserved, self.sources, self.limits, &outcome))
    }

    /// The counterexample to something that was found wrong; nothing if told to stop.
    pub fn find<'a>(
        &self,
        finder: &TraceFinder<'a>,
        check: Violation,
    ) -> Result<Option<Counterexample<'a>>, Error> {
        let find = || {
            let findings = self.saved.all_findings()?;
            let (_, finding) = findings
                .iter()
                .find(|(other, _)| *other == check)
                .unwrap_or_else(|| unreachable!("violations are made from these findings"));
            let levels = &self.saved.store.levels;
            match self.saved.storage()? {
                StateStorage::Sorted(codec) => {
                    let levels = StoredLevels { disk: finder.disk, levels, codec: &codec };
                    finder.find(levels, check, finding)
                }
                StateStorage::Comback(_) => comback::find(finder, levels, check, finding),
            }
        };
        find().map_err(Error::open(self.dir))
    }
}
