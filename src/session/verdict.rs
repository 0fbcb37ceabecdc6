//! The evaluation of a checkpoint: its outcome, its violations, their counterexamples.

use super::Error;
use super::searched_model::SearchedModel;
use crate::model::{StateSpace, Violation};
use crate::report::{self, ViolationReport};
use crate::search::checkpoint::SavedSearch;
use crate::search::trace::{Counterexample, StatePath, StoredLevels, TraceFinder};
use crate::search::{SearchLimits, SearchOutcome, StateStorage, comback};
use crate::source::SourceMap;
use spill::{Codec, RealDisk};
use std::path::Path;

/// A checkpoint of a search of a model.
pub struct CheckpointEvidence<'e> {
    /// The saved search.
    pub saved: &'e SavedSearch,
    /// The search directory.
    pub dir: &'e Path,
    /// What the search checks.
    pub limits: &'e SearchLimits,
    /// The model's texts.
    pub sources: &'e SourceMap,
}

impl CheckpointEvidence<'_> {
    /// Returns the outcome. If the encoding of states grows, the model then has the encoding of the checkpoint. It is
    /// an error if the checkpoint belongs to another model.
    pub fn outcome(&self, model: &dyn StateSpace) -> Result<SearchOutcome, Error> {
        let outcome = || {
            self.saved.prepare_model(model, &RealDisk::open(self.dir)?)?;
            self.saved.outcome()
        };
        outcome().map_err(Error::open(self.dir))
    }

    /// Returns the violations, shallowest first.
    pub fn violations(&self, searched: &SearchedModel) -> Result<Vec<ViolationReport>, Error> {
        let outcome = self.outcome(searched.model())?;
        let preserved = searched.preserves();
        Ok(report::violations(searched.model(), preserved, self.sources, self.limits, &outcome))
    }

    /// Returns the counterexample to a violation. `None` if the control stops the replay.
    pub fn find<'a>(
        &self,
        finder: &TraceFinder<'a>,
        check: Violation,
    ) -> Result<Option<Counterexample<'a>>, Error> {
        let hunted = self.saved.hunts.found.as_ref().and_then(|it| it.path_to(check));
        let find = || {
            if let Some(path) = hunted {
                return Counterexample::along(finder.model, check, path, finder.control);
            }
            let storage = self.saved.storage()?;
            // ComBack finds a path by the tag of the witness.
            let tags = match storage {
                StateStorage::Sorted(_) => self.saved.tag_bytes(),
                StateStorage::Comback(_) => 0,
            };
            let findings = self.saved.all_findings()?.without_tags(tags);
            let (_, finding) = findings
                .iter()
                .find(|(other, _)| *other == check)
                .unwrap_or_else(|| unreachable!("violations are made from these findings"));
            let levels = &self.saved.store.levels;
            match storage {
                StateStorage::Sorted(codec) => {
                    let levels = StoredLevels { disk: finder.disk, levels, codec: &codec };
                    finder.find(levels, check, finding)
                }
                StateStorage::Comback(_) => comback::find(finder, levels, check, finding),
            }
        };
        find().map_err(Error::open(self.dir))
    }

    /// Returns a path through the levels to a state that the search does not distinguish from the end of a walk through
    /// the concrete system, given by its states. `None` if the search has not stored it, or if the control stops this.
    pub fn path_to_end(
        &self,
        finder: &TraceFinder<'_>,
        walk: &[Vec<u8>],
    ) -> Result<Option<StatePath>, Error> {
        let find = || match self.saved.storage()? {
            StateStorage::Sorted(codec) => finder.path_to_end(self.levels(finder, &codec), walk),
            StateStorage::Comback(_) => Ok(None),
        };
        find().map_err(Error::open(self.dir))
    }

    /// Returns a path through the levels to the first stored state that is wanted. `None` if none is, or if the control
    /// stops this. Only a store of whole states, of a search without reductions that represent states, has wanted ones.
    pub fn path_to_first(
        &self,
        finder: &TraceFinder<'_>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Option<StatePath>, Error> {
        let find = || match self.saved.storage()? {
            StateStorage::Sorted(codec) => {
                finder.path_to_first(self.levels(finder, &codec), is_wanted)
            }
            StateStorage::Comback(_) => Ok(None),
        };
        find().map_err(Error::open(self.dir))
    }

    fn levels<'l>(&'l self, finder: &TraceFinder<'l>, codec: &'l Codec) -> StoredLevels<'l> {
        StoredLevels { disk: finder.disk, levels: &self.saved.store.levels, codec }
    }
}
