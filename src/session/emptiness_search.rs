//! The emptiness check on disk: it reaches all states of the product, then eliminates the states that are on no
//! accepting cycle.

use super::Error;
use super::directory::{SearchDirectory, SessionSetup};
use super::run_property::product_limits;
use super::session_log::SessionStart;
use crate::model::{FairSteps, Findings, StateSpace, Violation};
use crate::search::checkpoint::SavedSearch;
use crate::search::liveness::early_termination::EarlyTermination;
use crate::search::liveness::nested_dfs::ProbeVerdict;
use crate::search::liveness::owcty::{
    AcceptingProduct, ComponentOf, CycleCheckpoint, CycleSearch, ProductAcceptance, ReachedStates,
    STAGES, SavedCycleSearch,
};
use crate::search::trace::TraceFinder;
use crate::search::visited::VisitedStore;
use crate::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchOutcome, SearchResources, SearchVerdict,
};
use std::sync::Arc;

/// Returns whether a state is accepting.
type AcceptancePredicate<'m> = dyn Fn(&[u8]) -> bool + Sync + 'm;

/// The input of an emptiness check on disk: a model and its acceptance condition.
pub struct EmptinessTarget<'m> {
    pub(super) model: &'m dyn StateSpace,
    pub(super) component: Box<ComponentOf<'m>>,
    pub(super) accepts: Box<AcceptancePredicate<'m>>,
    /// Whether all cycles within components are accepting.
    pub(super) is_weak: bool,
    /// The violation after which every continuation is accepted, if the automaton has such a state.
    pub(super) early: Option<Violation>,
    /// The processes to which steps are fair, if fairness is assumed.
    pub(super) fair: Option<&'m dyn FairSteps>,
}

impl<'m> EmptinessTarget<'m> {
    /// Returns a target that accepts all infinite runs of a model.
    pub fn all_of(model: &'m dyn StateSpace) -> EmptinessTarget<'m> {
        EmptinessTarget {
            model,
            component: Box::new(|_| Some(0)),
            accepts: Box::new(|_| true),
            is_weak: true,
            early: None,
            fair: None,
        }
    }

    fn accepting(&self) -> ProductAcceptance<'_> {
        let EmptinessTarget { component, accepts, is_weak, .. } = self;
        ProductAcceptance { component, accepts, is_weak: *is_weak }
    }
}

/// A search on disk for an accepting cycle of a model. It reaches all states, then eliminates the states on no
/// accepting cycle.
pub struct EmptinessSearch<'m> {
    target: EmptinessTarget<'m>,
    plan: MemoryPlan,
    max_states: Option<u64>,
    /// The search directory.
    pub directory: SearchDirectory,
}

/// The result of a session of an emptiness check.
pub struct EmptinessOutcome {
    /// The verdict, with a lasso if there is one.
    pub found: ProbeVerdict,
    /// The levels, transitions and run-time errors of the reached states.
    pub outcome: SearchOutcome,
    /// The progress of the sweeps, once all states are reached.
    pub swept: Option<SweepStatus>,
    /// The seconds of all sessions.
    pub seconds: f64,
}

/// The progress of the sweeps over the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepStatus {
    /// The current stage.
    pub stage: &'static str,
    /// The number of sweeps.
    pub sweeps: u64,
    /// The number of remaining states, which may be on an accepting cycle.
    pub set: u64,
}

impl SweepStatus {
    pub(super) fn of(saved: &SavedCycleSearch) -> SweepStatus {
        SweepStatus { stage: saved.stage_name(), sweeps: saved.sweeps.into(), set: saved.members() }
    }

    /// Returns whether all sweeps are complete.
    pub fn is_done(self) -> bool {
        Some(&self.stage) == STAGES.last()
    }

    /// Returns the progress of the sweeps at the last checkpoint of a directory, once all states are reached.
    pub fn in_directory(disk: &dyn spill::Disk) -> spill::Result<Option<SweepStatus>> {
        Ok(match SavedCycleSearch::is_in(disk)? {
            true => Some(SweepStatus::of(&SavedCycleSearch::load(disk)?)),
            false => None,
        })
    }
}

impl<'m> EmptinessSearch<'m> {
    /// Creates a search of any target.
    pub fn of(
        target: EmptinessTarget<'m>,
        plan: MemoryPlan,
        max_states: Option<u64>,
        directory: SearchDirectory,
    ) -> EmptinessSearch<'m> {
        EmptinessSearch { target, plan, max_states, directory }
    }

    /// Searches until there is a result or `control` stops the search. Starts from the checkpoint, if there is one.
    pub fn run(
        &mut self,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> Result<EmptinessOutcome, Error> {
        let start = SessionStart::after(saved.as_ref());
        let setup = SessionSetup { start, plan: self.plan, control };
        let verdict = |it: &EmptinessOutcome| super::verdict(&it.found);
        let pursue = || self.search(saved, control);
        self.directory.run_session(setup, verdict, pursue).map_err(|error| {
            let failed = Error::Run(self.directory.path.clone(), error);
            // Such a search cannot be resumed: its states need another layout.
            if !failed.is_out_of_slots() {
                self.directory.keep();
            }
            failed
        })
    }

    fn search(
        &self,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> spill::Result<EmptinessOutcome> {
        let disk = self.directory.disk.clone();
        let EmptinessTarget { model, fair, .. } = self.target;
        if !SavedCycleSearch::is_in(&*disk)?
            && let Some(ended) = self.reach(saved, control)?
        {
            return Ok(ended);
        }
        let (reached, saved) = (SavedSearch::load(&*disk)?, SavedCycleSearch::load(&*disk)?);
        let outcome = reached.outcome()?;
        let checkpoint = CycleCheckpoint { reached: ReachedStates::of(&reached)?, saved };
        let shared: Arc<dyn spill::Disk> = disk.clone();
        let product = AcceptingProduct { model, acceptance: self.target.accepting() };
        let mut search = CycleSearch::resume(product, shared, checkpoint, self.plan, control)?;
        if let Some(fair) = fair {
            search = search.with_fairness(fair);
        }
        let found = search.run()?;
        let seconds = reached.seconds + search.seconds();
        Ok(EmptinessOutcome {
            found,
            outcome,
            swept: Some(SweepStatus::of(search.saved())),
            seconds,
        })
    }

    /// Reaches all states, and gathers those that can be on accepting cycles. Returns the result if the search ends
    /// earlier.
    fn reach(
        &self,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> spill::Result<Option<EmptinessOutcome>> {
        let disk = self.directory.disk.clone();
        let EmptinessTarget { model, fair, .. } = self.target;
        let finder =
            TraceFinder { model, disk: &*disk, threads: self.plan.threads, control, folder: None };
        // A continuation need not be fair.
        let early = self.target.early.filter(|_| fair.is_none());
        let early = early.map(|check| EarlyTermination::new(finder, &*self.target.accepts, check));
        let is_decided = |findings: &Findings| match &early {
            Some(early) => early.is_decided(findings),
            None => Ok(false),
        };
        let mut search = self.reachability_search(saved, control)?.with_conclusion(is_decided);
        let outcome = search.run()?;
        let mut told = EmptinessOutcome {
            found: ProbeVerdict::Open,
            swept: None,
            seconds: search.seconds(),
            outcome,
        };
        if told.outcome.verdict == SearchVerdict::Incomplete {
            return Ok(Some(told));
        }
        if let Some(early) = &early
            && early.is_decided(&told.outcome.findings)?
        {
            let lasso = early.lasso(&told.outcome.findings, &SavedSearch::load(&*disk)?)?;
            told.found = lasso.map_or(ProbeVerdict::Open, ProbeVerdict::Found);
            return Ok(Some(told));
        }
        let VisitedStore::Sorted(store) = search.store() else {
            unreachable!("it stores states as sorted runs")
        };
        let product = AcceptingProduct { model, acceptance: self.target.accepting() };
        let is_gathered = !control.should_stop()
            && CycleSearch::gather(store, &product, &*disk, control, None)?.is_some();
        told.outcome.verdict = SearchVerdict::Incomplete;
        Ok((!is_gathered).then_some(told))
    }

    /// Creates the search that reaches all states.
    fn reachability_search<'s>(
        &'s self,
        saved: Option<SavedSearch>,
        control: &'s SearchControl,
    ) -> spill::Result<ExternalSearch<'s>> {
        let (model, disk) = (self.target.model, self.directory.disk.clone());
        let limits = product_limits(self.max_states);
        let resources = SearchResources { disk, plan: self.plan, control };
        match saved {
            None => ExternalSearch::begin(model, resources, limits),
            Some(saved) => ExternalSearch::resume(model, resources, limits, saved),
        }
    }
}
