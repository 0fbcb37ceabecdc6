//! The search on disk for a run that violates a property: all states of the product are reached, then those are taken out
//! that lie on no accepting cycle.

use super::directory::Directory;
use super::liveness::AcceptingParts;
use super::sitting::Sitting;
use super::{Error, Judged, Watched};
use crate::exec::{FairSteps, Findings, Model, Violation};
use crate::search::checkpoint::Saved;
use crate::search::cycles::{Accepting, ComponentOf, CycleSearch, Reached, STAGES, SavedCycles};
use crate::search::early::Early;
use crate::search::lasso::Probed;
use crate::search::trace::Finder;
use crate::search::visited::Visited;
use crate::search::{Control, MemoryPlan, Outcome, Search, Storage, Verdict};
use std::path::Path;
use std::sync::Arc;

/// Whether a state is accepting.
type IsAccepting<'m> = dyn Fn(&[u8]) -> bool + Sync + 'm;

/// What a search on disk is for: runs of a model that accept.
pub struct Target<'m> {
    model: &'m dyn Model,
    component: Box<ComponentOf<'m>>,
    accepts: Box<IsAccepting<'m>>,
    /// Whether all cycles in components are accepting.
    is_weak: bool,
    /// What fails where whatever follows is accepted, if something tells.
    early: Option<Violation>,
    /// Tells to which processes steps are fair, where runs are to be.
    fair: Option<&'m dyn FairSteps>,
}

impl<'m> Target<'m> {
    /// The runs of what reductions leave of a product.
    fn of_product(judged: &'m Judged<'m, '_>) -> Target<'m> {
        let product = judged.product;
        let parts = AcceptingParts::of(product.claim());
        let is_weak = parts.are_weak();
        Target {
            model: judged.searched.model(),
            component: Box::new(move |state| parts.component(product.location(state))),
            accepts: Box::new(|state| product.is_accepting(state)),
            is_weak,
            early: Some(product.check()),
            fair: judged.fair_steps(),
        }
    }

    /// All runs of a model that go on for ever.
    pub fn all_of(model: &'m dyn Model) -> Target<'m> {
        Target {
            model,
            component: Box::new(|_| Some(0)),
            accepts: Box::new(|_| true),
            is_weak: true,
            early: None,
            fair: None,
        }
    }

    fn accepting(&self) -> Accepting<'_> {
        let Target { component, accepts, is_weak, .. } = self;
        Accepting { component, accepts, is_weak: *is_weak }
    }
}

/// A search of a model on disk for an accepting cycle, in a directory: all its states are reached, then those are left
/// out that are on none.
pub struct Pursuit<'m> {
    target: Target<'m>,
    plan: MemoryPlan,
    max_states: Option<u64>,
    /// Where it lies.
    pub directory: Directory,
}

/// What a sitting of such a search came to.
pub struct Pursued {
    /// What was found.
    pub found: Probed,
    /// Levels, transitions and run-time errors of the states reached.
    pub outcome: Outcome,
    /// What it is at, once all states are reached, and how often it swept over them.
    pub swept: Option<Swept>,
    /// Seconds, those of earlier sittings included.
    pub seconds: f64,
}

impl Pursued {
    /// What the search of a product in a directory came to, by its last checkpoint. Nothing there is changed. The run is open
    /// as long as the search is, and where the finder is told to stop.
    pub fn in_directory(
        judged: &Judged<'_, '_>,
        finder: Finder<'_>,
        (dir, saved): (&Path, &Saved),
    ) -> Result<Pursued, Error> {
        let read = || -> spill::Result<Pursued> {
            saved.check_model(finder.model)?;
            let (outcome, mut seconds) = (saved.outcome()?, saved.seconds);
            if SavedCycles::is_in(finder.disk)? {
                let cycles = SavedCycles::load(finder.disk)?;
                let found = cycles.found(&Reached::of(saved)?, &finder)?;
                seconds += cycles.seconds;
                return Ok(Pursued { found, outcome, swept: Some(Swept::of(&cycles)), seconds });
            }
            let accepts = |state: &[u8]| judged.product.is_accepting(state);
            let early = Early::new(finder, &accepts, judged.product.check());
            let lasso = match judged.fair_steps() {
                None => early.lasso(&outcome.findings, saved)?,
                Some(_) => None,
            };
            let found = lasso.map_or(Probed::Open, Probed::Found);
            Ok(Pursued { found, outcome, swept: None, seconds })
        };
        read().map_err(Error::open(dir))
    }
}

/// How far the sweeps over the states are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swept {
    /// What they are at.
    pub stage: &'static str,
    /// How many there were.
    pub sweeps: u64,
    /// States of which it is not known that they lie on no accepting cycle.
    pub set: u64,
}

impl Swept {
    fn of(saved: &SavedCycles) -> Swept {
        Swept { stage: saved.stage_name(), sweeps: saved.sweeps.into(), set: saved.members() }
    }

    /// Whether there are no more to be made.
    pub fn is_done(self) -> bool {
        Some(&self.stage) == STAGES.last()
    }

    /// How far those of the search in a directory are, at the last checkpoint, once all states are reached.
    pub fn in_directory(disk: &dyn spill::Disk) -> spill::Result<Option<Swept>> {
        Ok(match SavedCycles::is_in(disk)? {
            true => Some(Swept::of(&SavedCycles::load(disk)?)),
            false => None,
        })
    }
}

impl<'m> Pursuit<'m> {
    /// A search of a product, or what reductions leave of it, in a directory, in so much memory; it stops, to be gone on with,
    /// where so many states are reached.
    pub fn new(
        judged: &'m Judged<'m, '_>,
        plan: MemoryPlan,
        max_states: Option<u64>,
        directory: Directory,
    ) -> Pursuit<'m> {
        Pursuit::of(Target::of_product(judged), plan, max_states, directory)
    }

    /// The same of whatever is searched for.
    pub fn of(
        target: Target<'m>,
        plan: MemoryPlan,
        max_states: Option<u64>,
        directory: Directory,
    ) -> Pursuit<'m> {
        Pursuit { target, plan, max_states, directory }
    }

    /// Searches to the end, or until `control` says to stop: from a checkpoint, if there is one.
    pub fn run(&mut self, saved: Option<Saved>, control: &Control) -> Result<Pursued, Error> {
        let sitting = (Sitting::after(saved.as_ref()), self.plan);
        let verdict = |it: &Pursued| super::verdict(&it.found);
        let pursue = || self.pursue(saved, control);
        self.directory.sit(sitting, control, verdict, pursue).map_err(|error| {
            let failed = Error::Run(self.directory.path.clone(), error);
            // It cannot be gone on with when states are to become others.
            if failed.lacks_slots().is_none() {
                self.directory.keep();
            }
            failed
        })
    }

    fn pursue(&self, saved: Option<Saved>, control: &Control) -> spill::Result<Pursued> {
        let disk = self.directory.disk.clone();
        let Target { model, fair, .. } = self.target;
        if !SavedCycles::is_in(&*disk)?
            && let Some(ended) = self.reach(saved, control)?
        {
            return Ok(ended);
        }
        let (reached, saved) = (Saved::load(&*disk)?, SavedCycles::load(&*disk)?);
        let outcome = reached.outcome()?;
        let both = (Reached::of(&reached)?, saved);
        let shared: Arc<dyn spill::Disk> = disk.clone();
        let mut search =
            CycleSearch::resume(model, self.target.accepting(), shared, both, self.plan, control)?;
        if let Some(fair) = fair {
            search = search.fair_by(fair);
        }
        let found = search.run()?;
        let seconds = reached.seconds + search.seconds();
        Ok(Pursued { found, outcome, swept: Some(Swept::of(search.saved())), seconds })
    }

    /// Reaches all states, and gathers those that can lie on accepting cycles; what came of it if it ends before.
    fn reach(&self, saved: Option<Saved>, control: &Control) -> spill::Result<Option<Pursued>> {
        let disk = self.directory.disk.clone();
        let Target { model, fair, .. } = self.target;
        let finder =
            Finder { model, disk: &*disk, threads: self.plan.threads, control, folder: None };
        // A run on need not be fair.
        let early = self.target.early.filter(|_| fair.is_none());
        let early = early.map(|check| Early::new(finder, &*self.target.accepts, check));
        let is_decided = |findings: &Findings| match &early {
            Some(early) => early.is_decided(findings),
            None => Ok(false),
        };
        let mut search = self.reaching(saved, control)?.ended_if(is_decided);
        let outcome = search.run()?;
        let mut told =
            Pursued { found: Probed::Open, swept: None, seconds: search.seconds(), outcome };
        if told.outcome.verdict == Verdict::Incomplete {
            return Ok(Some(told));
        }
        if let Some(early) = &early
            && early.is_decided(&told.outcome.findings)?
        {
            let lasso = early.lasso(&told.outcome.findings, &Saved::load(&*disk)?)?;
            told.found = lasso.map_or(Probed::Open, Probed::Found);
            return Ok(Some(told));
        }
        let Visited::Sorted(store) = search.store() else {
            unreachable!("it stores states as sorted runs")
        };
        let accepting = self.target.accepting();
        let is_gathered = !control.should_stop()
            && CycleSearch::gather(store, model, &accepting, &*disk, control, None)?.is_some();
        told.outcome.verdict = Verdict::Incomplete;
        Ok((!is_gathered).then_some(told))
    }

    /// The search that reaches all states.
    fn reaching<'s>(
        &'s self,
        saved: Option<Saved>,
        control: &'s Control,
    ) -> spill::Result<Search<'s>> {
        let (model, disk) = (self.target.model, self.directory.disk.clone());
        let limits = Watched::limits(self.max_states);
        match saved {
            None => {
                Search::begin_stored(model, disk, self.plan, limits, control, Storage::default())
            }
            Some(saved) => Search::resume(model, disk, saved, self.plan, limits, control),
        }
    }
}
