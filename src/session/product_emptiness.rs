//! The emptiness check of a product on disk.

use super::emptiness_search::{EmptinessOutcome, EmptinessSearch, EmptinessTarget};
use super::liveness::AcceptingComponents;
use super::{Error, ProductCheck, SearchDirectory};
use crate::model::StateSpace;
use crate::search::MemoryPlan;
use crate::search::checkpoint::SavedSearch;
use crate::search::liveness::early_termination::EarlyTermination;
use crate::search::liveness::nested_dfs::ProbeVerdict;
use crate::search::liveness::owcty::{ReachedStates, SavedCycleSearch};
use crate::search::liveness::proviso_rounds::ProvisoRound;
use crate::search::trace::TraceFinder;
use std::path::Path;

impl<'m> EmptinessTarget<'m> {
    /// Returns the target for the reduced product.
    fn of_product(judged: &'m ProductCheck<'m, '_>) -> EmptinessTarget<'m> {
        let product = judged.product;
        let parts = AcceptingComponents::of(product.claim());
        let is_weak = parts.are_weak();
        EmptinessTarget {
            model: judged.searched.model(),
            component: Box::new(move |state| parts.component(product.location(state))),
            accepts: Box::new(|state| product.is_accepting(state)),
            is_weak,
            early: Some(product.check()),
            fair: judged.fair_steps(),
        }
    }
}

impl EmptinessOutcome {
    /// Returns the result of the search in a directory at its last checkpoint. It changes no files. The result is open
    /// while the search is open, and if the control stops the trace finder.
    pub fn in_directory(
        judged: &ProductCheck<'_, '_>,
        finder: TraceFinder<'_>,
        dir: &Path,
        saved: &SavedSearch,
    ) -> Result<EmptinessOutcome, Error> {
        let control = finder.control;
        let read = || -> spill::Result<EmptinessOutcome> {
            saved.check_model(finder.model)?;
            let round = ProvisoRound::load(finder.disk, finder.model)?;
            let product = round.product(finder.model);
            let model = product.as_ref().map_or(finder.model, |it| it as &dyn StateSpace);
            let finder = TraceFinder { model, ..finder };
            let (outcome, seconds) = (saved.outcome()?, round.seconds_before() + saved.seconds);
            if round.is_unbegun() {
                let (found, seconds) = (ProbeVerdict::Open, round.seconds_before());
                return Ok(EmptinessOutcome { found, outcome, swept: None, seconds });
            }
            if let Some(cycles) = SavedCycleSearch::find(finder.disk)? {
                let found = cycles.probe_verdict(&ReachedStates::of(saved)?, &finder)?;
                let outcome = EmptinessOutcome::of_saved(found, saved, &cycles)?;
                let seconds = round.seconds_before() + outcome.seconds;
                return Ok(EmptinessOutcome { seconds, ..outcome });
            }
            let accepts = |state: &[u8]| judged.product.is_accepting(state);
            let early = EarlyTermination::new(finder, &accepts, judged.product.check());
            let lasso = match judged.fair_steps() {
                None => early.lasso(&outcome.findings, saved)?,
                Some(_) => None,
            };
            let found = lasso.map_or(ProbeVerdict::Open, ProbeVerdict::Found);
            Ok(EmptinessOutcome { found, outcome, swept: None, seconds })
        };
        let outcome = read().map_err(Error::open(dir))?;
        let found = judged.with_all_steps(outcome.found, control).map_err(Error::Sample)?;
        Ok(EmptinessOutcome { found, ..outcome })
    }
}

impl<'m> EmptinessSearch<'m> {
    /// Creates a search of a product, or of the reduced product, in a directory with this memory. It stops at the
    /// maximum number of states, and can be resumed.
    pub fn new(
        judged: &'m ProductCheck<'m, '_>,
        plan: MemoryPlan,
        max_states: Option<u64>,
        directory: SearchDirectory,
    ) -> EmptinessSearch<'m> {
        EmptinessSearch::of(EmptinessTarget::of_product(judged), plan, max_states, directory)
    }
}
