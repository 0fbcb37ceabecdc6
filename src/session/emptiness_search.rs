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
    AcceptingProduct, ComponentOf, CycleCheckpoint, CycleGoal, CycleSearch, ProductAcceptance,
    ReachedStates, RegionOptions, RoundNumbers, STAGES, SavedCycleSearch,
};
use crate::search::liveness::proviso::ReducedProduct;
use crate::search::liveness::proviso_rounds::ProvisoRound;
use crate::search::trace::TraceFinder;
use crate::search::visited::VisitedStore;
use crate::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchOutcome, SearchResources, SearchVerdict,
};

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
        EmptinessTarget { is_weak: true, ..EmptinessTarget::accepting(model, |_| true) }
    }

    /// Returns a target that accepts the runs that visit accepting states infinitely often.
    pub fn accepting(
        model: &'m dyn StateSpace,
        accepts: impl Fn(&[u8]) -> bool + Sync + 'm,
    ) -> EmptinessTarget<'m> {
        EmptinessTarget {
            model,
            component: Box::new(|_| Some(0)),
            accepts: Box::new(accepts),
            is_weak: false,
            early: None,
            fair: None,
        }
    }

    fn acceptance(&self) -> ProductAcceptance<'_> {
        let EmptinessTarget { component, accepts, is_weak, .. } = self;
        ProductAcceptance { component, accepts, is_weak: *is_weak }
    }
}

/// A search on disk for an accepting cycle of a model. It reaches all states, then eliminates the states on no
/// accepting cycle.
pub struct EmptinessSearch<'m> {
    target: EmptinessTarget<'m>,
    plan: MemoryPlan,
    /// The most bytes of the set of states that the cycle proviso expands fully.
    full_states_max: u64,
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

impl EmptinessOutcome {
    /// Returns the result of a search at its last checkpoint.
    pub(super) fn of_saved(
        found: ProbeVerdict,
        reached: &SavedSearch,
        cycles: &SavedCycleSearch,
    ) -> spill::Result<EmptinessOutcome> {
        Ok(EmptinessOutcome {
            found,
            outcome: reached.outcome()?,
            swept: Some(SweepStatus::of(cycles)),
            seconds: reached.seconds + cycles.seconds,
        })
    }
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
    /// The round, if the search enforces the cycle proviso.
    pub round: Option<RoundNumbers>,
}

impl SweepStatus {
    pub(super) fn of(saved: &SavedCycleSearch) -> SweepStatus {
        let (stage, sweeps) = (saved.stage_name(), saved.sweeps.into());
        SweepStatus { stage, sweeps, set: saved.members(), round: saved.round }
    }

    /// Returns whether all sweeps are complete.
    pub fn is_done(self) -> bool {
        Some(&self.stage) == STAGES.last()
    }

    /// Returns the progress of the sweeps at the last checkpoint of a directory, once all states are reached.
    pub fn in_directory(disk: &dyn spill::Disk) -> spill::Result<Option<SweepStatus>> {
        Ok(SavedCycleSearch::find(disk)?.as_ref().map(SweepStatus::of))
    }
}

/// The part of the memory for young runs that is kept free for the states to expand fully.
const FULL_STATES_SHARE: u64 = 8;

/// The end of a round.
enum RoundEnd {
    /// The search ends, or is stopped.
    Outcome(EmptinessOutcome),
    /// Another round follows.
    Next(ProvisoRound),
}

/// A search for cycles, and the search that reached the states.
struct ResumedCycles<'s> {
    reached: SavedSearch,
    cycles: CycleSearch<'s>,
}

impl ResumedCycles<'_> {
    fn outcome(self, found: ProbeVerdict) -> spill::Result<EmptinessOutcome> {
        let outcome = EmptinessOutcome::of_saved(found, &self.reached, self.cycles.saved())?;
        Ok(EmptinessOutcome { seconds: self.reached.seconds + self.cycles.seconds(), ..outcome })
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
        let share = match target.model.capabilities().cycle_proviso {
            Some(_) => plan.young / FULL_STATES_SHARE,
            None => 0,
        };
        // Two of the sets are in memory while the next round is prepared, one of them also as it is saved.
        let (plan, full_states_max) = (MemoryPlan { young: plan.young - share, ..plan }, share / 3);
        EmptinessSearch { target, plan, full_states_max, max_states, directory }
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
        let (disk, model) = (&*self.directory.disk, self.target.model);
        let (mut round, mut saved) = (ProvisoRound::load(disk, model)?, saved);
        loop {
            if round.begin(disk)? {
                saved = None;
            }
            let Some(product) = round.product(model) else {
                return self.search_accepting(model, RegionOptions::ACCEPTANCE, saved, control);
            };
            match self.search_round(&round, &product, saved.take(), control)? {
                RoundEnd::Outcome(outcome) => {
                    let seconds = outcome.seconds + round.seconds_before();
                    return Ok(EmptinessOutcome { seconds, ..outcome });
                }
                RoundEnd::Next(next) => {
                    next.commit(disk)?;
                    round = next;
                }
            }
        }
    }

    /// Searches in a round: for an accepting cycle, then for a cycle without a fully expanded state.
    fn search_round(
        &self,
        round: &ProvisoRound,
        product: &ReducedProduct<'_>,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> spill::Result<RoundEnd> {
        let disk = &*self.directory.disk;
        let is_open = |it: &SavedCycleSearch| it.goal != CycleGoal::Proviso && !it.needs_proviso();
        let mut cycles = SavedCycleSearch::find(disk)?;
        if cycles.as_ref().is_none_or(is_open) {
            let (goal, round) = (CycleGoal::AcceptanceInRound, Some(round.numbers()));
            let options = RegionOptions { goal, round, ..RegionOptions::ACCEPTANCE };
            let ended = self.search_accepting(product, options, saved, control)?;
            cycles = SavedCycleSearch::find(disk)?;
            if cycles.as_ref().is_none_or(is_open) {
                return Ok(RoundEnd::Outcome(ended));
            }
        }
        if let Some(cycles) = cycles.filter(SavedCycleSearch::needs_proviso)
            && !self.gather_partial(product, &cycles, control)?
        {
            let reached = SavedSearch::load(disk)?;
            return EmptinessOutcome::of_saved(ProbeVerdict::Open, &reached, &cycles)
                .map(RoundEnd::Outcome);
        }
        let partial = |state: &[u8]| (!product.is_listed(state)).then_some(0);
        let acceptance = ProductAcceptance::of_all_cycles(&partial);
        let searched = AcceptingProduct { model: product, acceptance };
        let mut resumed = self.resume_cycles(searched, control)?;
        let found = resumed.cycles.run()?;
        if resumed.cycles.saved().has_remaining()
            && let Some(next) = round.next(product, &resumed.cycles, self.full_states_max)?
        {
            return Ok(RoundEnd::Next(next));
        }
        resumed.outcome(found).map(RoundEnd::Outcome)
    }

    /// Gathers the states that are not fully expanded, after a search for accepting cycles. Returns false if stopped.
    fn gather_partial(
        &self,
        product: &ReducedProduct<'_>,
        trimmed: &SavedCycleSearch,
        control: &SearchControl,
    ) -> spill::Result<bool> {
        let disk = &*self.directory.disk;
        let &SavedCycleSearch { seconds, round, .. } = trimmed;
        let reached = SavedSearch::load(disk)?;
        let search = self.reachability_search(product, Some(reached), control)?;
        let VisitedStore::Sorted(store) = search.store() else {
            unreachable!("it stores states as sorted runs")
        };
        let partial = |state: &[u8]| product.omits_transitions(state).then_some(0);
        let acceptance = ProductAcceptance::of_all_cycles(&partial);
        let gathered = AcceptingProduct { model: product, acceptance };
        let goal = CycleGoal::Proviso;
        let options = RegionOptions { goal, round, seconds, ..RegionOptions::ACCEPTANCE };
        Ok(CycleSearch::gather(store, &gathered, disk, control, options)?.is_some())
    }

    /// Searches for an accepting cycle of a model.
    fn search_accepting(
        &self,
        model: &dyn StateSpace,
        options: RegionOptions,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> spill::Result<EmptinessOutcome> {
        if !SavedCycleSearch::is_in(&*self.directory.disk)?
            && let Some(ended) = self.reach(model, options, saved, control)?
        {
            return Ok(ended);
        }
        let product = AcceptingProduct { model, acceptance: self.target.acceptance() };
        let mut resumed = self.resume_cycles(product, control)?;
        if let Some(fair) = self.target.fair {
            resumed.cycles = resumed.cycles.with_fairness(fair);
        }
        let found = resumed.cycles.run()?;
        resumed.outcome(found)
    }

    /// Resumes the search for cycles in the directory.
    fn resume_cycles<'s>(
        &'s self,
        product: AcceptingProduct<'s>,
        control: &'s SearchControl,
    ) -> spill::Result<ResumedCycles<'s>> {
        let disk = self.directory.disk.clone();
        let (reached, saved) = (SavedSearch::load(&*disk)?, SavedCycleSearch::load(&*disk)?);
        let checkpoint = CycleCheckpoint { reached: ReachedStates::of(&reached)?, saved };
        let cycles = CycleSearch::resume(product, disk, checkpoint, self.plan, control)?;
        Ok(ResumedCycles { reached, cycles })
    }

    /// Reaches all states, and gathers those that can be on accepting cycles. Returns the result if the search ends
    /// earlier.
    fn reach(
        &self,
        model: &dyn StateSpace,
        options: RegionOptions,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> spill::Result<Option<EmptinessOutcome>> {
        let disk = self.directory.disk.clone();
        let fair = self.target.fair;
        let finder =
            TraceFinder { model, disk: &*disk, threads: self.plan.threads, control, folder: None };
        // A continuation need not be fair.
        let early = self.target.early.filter(|_| fair.is_none());
        let early = early.map(|check| EarlyTermination::new(finder, &*self.target.accepts, check));
        let is_decided = |findings: &Findings| match &early {
            Some(early) => early.is_decided(findings),
            None => Ok(false),
        };
        let mut search =
            self.reachability_search(model, saved, control)?.with_conclusion(is_decided);
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
        let product = AcceptingProduct { model, acceptance: self.target.acceptance() };
        let is_gathered = !control.should_stop()
            && CycleSearch::gather(store, &product, &*disk, control, options)?.is_some();
        told.outcome.verdict = SearchVerdict::Incomplete;
        Ok((!is_gathered).then_some(told))
    }

    /// Creates the search that reaches all states.
    fn reachability_search<'s>(
        &self,
        model: &'s dyn StateSpace,
        saved: Option<SavedSearch>,
        control: &'s SearchControl,
    ) -> spill::Result<ExternalSearch<'s>> {
        let disk = self.directory.disk.clone();
        let limits = product_limits(self.max_states);
        let resources = SearchResources { disk, plan: self.plan, control };
        match saved {
            None => ExternalSearch::begin(model, resources, limits),
            Some(saved) => ExternalSearch::resume(model, resources, limits, saved),
        }
    }
}
