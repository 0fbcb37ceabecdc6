//! What the checkpoint of a search proves: its outcome, its violations, their counterexamples.

use super::Error;
use super::searched::Searched;
use crate::exec::{Model, Violation};
use crate::report::{self, ViolationReport};
use crate::search::checkpoint::Saved;
use crate::search::trace::{Counterexample, Finder};
use crate::search::{Limits, Outcome, Storage, comback};
use crate::source::Sources;
use std::path::Path;

/// A checkpoint of a search of a model.
pub struct Evidence<'e> {
    /// What was saved.
    pub saved: &'e Saved,
    /// The search directory.
    pub dir: &'e Path,
    /// What was looked for.
    pub limits: &'e Limits,
    /// The model's texts.
    pub sources: &'e Sources,
}

impl Evidence<'_> {
    /// What is known; an error if the checkpoint is another model's.
    pub fn outcome(&self, model: &dyn Model) -> Result<Outcome, Error> {
        let outcome = self.saved.check_model(model).and_then(|()| self.saved.outcome());
        outcome.map_err(Error::open(self.dir))
    }

    /// What was found wrong, shallowest first.
    pub fn violations(&self, searched: &Searched) -> Result<Vec<ViolationReport>, Error> {
        let outcome = self.outcome(searched.model())?;
        let model = (searched.model(), searched.stack().preserves());
        Ok(report::violations(model, self.sources, self.limits, &outcome))
    }

    /// The counterexample to something that was found wrong; nothing if told to stop.
    pub fn find<'a>(
        &self,
        finder: &Finder<'a>,
        check: Violation,
    ) -> Result<Option<Counterexample<'a>>, Error> {
        let find = || {
            let findings = self.saved.all_findings()?;
            let (_, finding) = findings
                .iter()
                .find(|(other, _)| *other == check)
                .unwrap_or_else(|| unreachable!("violations are made from these findings"));
            let (levels, level) = (&self.saved.store.levels, finding.level);
            let witness = &finding.witness;
            match self.saved.storage()? {
                Storage::Sorted(codec) => finder.find((levels, &codec), check, level, witness),
                Storage::Comback(_) => comback::find(finder, levels, check, level, witness),
            }
        };
        find().map_err(Error::open(self.dir))
    }
}
