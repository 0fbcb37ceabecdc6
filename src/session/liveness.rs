//! Whether all runs of a model have a property: its product with the automaton of what violates it is searched for an
//! accepting cycle, first in memory, then on disk.

use super::directory::Directory;
use super::{Error, Watched};
use crate::exec::{Explain, Model, Step, StepOutcome, find_start};
use crate::ir::{Claim, Entity as _, Location, LocationId, Urgency};
use crate::ltl::{Class, Components};
use crate::reduce::claim::{ClaimProduct, EndedRuns, NeverClaim};
use crate::search::checkpoint::Saved;
use crate::search::cycles::{Accepting, CycleSearch, Reached, SavedCycles};
use crate::search::early::Early;
use crate::search::lasso::{Lasso, Probe, ProbeLimits, Probed, probe};
use crate::search::trace::{Finder, Round};
use crate::search::visited::Visited;
use crate::search::{Control, MemoryPlan, Outcome, Search, Storage, Verdict};
use std::sync::Arc;

impl Watched {
    /// The product with a model that runs the program; nothing if nothing can violate the property.
    pub fn product<'m>(
        &'m self,
        model: impl Model + 'm,
        ended: EndedRuns,
    ) -> Option<ClaimProduct<'m>> {
        // Without a claim there is nothing that accepts a run.
        let claim = NeverClaim::of(&self.model.interp)?;
        let product = claim.of_runs(ended).with(model);
        AcceptingParts::of(product.claim()).are_some().then_some(product)
    }
}

/// Searches a product for an accepting cycle, in memory, until told to stop.
pub fn probe_product(
    product: &ClaimProduct<'_>,
    limits: ProbeLimits,
    control: &Control,
) -> spill::Result<Probe> {
    probe_reduced(product, product, limits, control)
}

/// The same of what reductions leave of it.
pub fn probe_reduced(
    reduced: &dyn Model,
    product: &ClaimProduct<'_>,
    limits: ProbeLimits,
    control: &Control,
) -> spill::Result<Probe> {
    probe(reduced, &|state| product.is_accepting(state), limits, control)
}

/// The steps of a run, taken by the reference semantics: the start, each step, and that which leads back.
pub fn replay(model: &dyn Explain, lasso: &Lasso) -> spill::Result<Vec<Step>> {
    let states: Vec<&[u8]> = lasso.states.iter().map(Vec::as_slice).collect();
    steps_through(model, &[&states[..], &states[lasso.back..=lasso.back]].concat())
}

/// A run that was found in a product that is reduced, as a run of the product before: its steps, taken by the reference
/// semantics, and where the loop begins.
pub struct Shown {
    /// The start, each step, and that which leads back.
    pub steps: Vec<Step>,
    /// The number of the step behind which the loop begins.
    pub back: usize,
    /// Whether the last step leads to where the loop began, and not to a state that only goes on as from there.
    pub closes: bool,
}

impl Shown {
    /// That of a run through a model.
    pub fn of(model: &dyn Model, lasso: &Lasso) -> spill::Result<Shown> {
        let Round { states, back, closes } = Round::of(model, lasso)?;
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        Ok(Shown { steps: steps_through(model.explained(), &states)?, back, closes })
    }
}

/// The steps through some states, the first of which is an initial one.
fn steps_through(model: &dyn Explain, states: &[&[u8]]) -> spill::Result<Vec<Step>> {
    let leads = |step: &Step, to: &[u8]| match &step.outcome {
        StepOutcome::Successor(state) => state == to,
        StepOutcome::Fault(_) => false,
    };
    let wrong = || spill::Error::Source {
        reason: "its steps do not lead where expanding its states led".into(),
    };
    let start = find_start(model, |_, step| leads(step, states[0]));
    let mut steps = vec![start.ok_or_else(wrong)?.1];
    for (from, to) in states.iter().zip(&states[1..]) {
        let step = model.steps(from).into_iter().find(|step| leads(step, to));
        steps.push(step.ok_or_else(wrong)?);
    }
    Ok(steps)
}

/// The components of a claim in which there are accepting cycles.
pub struct AcceptingParts {
    /// The one that each location is in, if it is in any.
    of_location: Vec<Option<usize>>,
    /// Whether all cycles in these are accepting.
    are_weak: bool,
}

impl AcceptingParts {
    /// Those of a claim.
    pub fn of(claim: &Claim) -> AcceptingParts {
        let mut graph = vec![Vec::new(); claim.locations.len()];
        claim.moves.iter().for_each(|it| graph[it.from.index()].push(it.to.index()));
        let accepts: Vec<bool> = claim.locations.values().map(|it| it.accepting).collect();
        let found = Components::of_graph(&graph, &accepts);
        let counts = |&it: &usize| found.classes[it] != Class::Rejecting;
        let of_location = found.of_state.iter().map(|&it| Some(it).filter(counts)).collect();
        // What an atomic sequence passes by is no place where a run rests.
        let is_passed = |at: &Location| at.urgency != Urgency::Free;
        let are_weak = found.class() <= Class::Weak && !claim.locations.values().any(is_passed);
        AcceptingParts { of_location, are_weak }
    }

    fn are_some(&self) -> bool {
        self.of_location.iter().any(Option::is_some)
    }

    /// The one that a claim at a location is in, if it is in any.
    pub fn component(&self, at: LocationId) -> Option<usize> {
        self.of_location[at.index()]
    }

    /// Whether all cycles in them are accepting.
    pub fn are_weak(&self) -> bool {
        self.are_weak
    }
}

/// A search of a product on disk for an accepting cycle, in a directory: all its states are reached, then those are left
/// out that are on none.
pub struct Pursuit<'m> {
    /// What reductions leave of the product.
    model: &'m dyn Model,
    product: &'m ClaimProduct<'m>,
    parts: AcceptingParts,
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
        model: &'m dyn Model,
        product: &'m ClaimProduct<'m>,
        plan: MemoryPlan,
        max_states: Option<u64>,
        directory: Directory,
    ) -> Pursuit<'m> {
        let parts = AcceptingParts::of(product.claim());
        Pursuit { model, product, parts, plan, max_states, directory }
    }

    /// Searches to the end, or until `control` says to stop: from a checkpoint, if there is one.
    pub fn run(&mut self, saved: Option<Saved>, control: &Control) -> Result<Pursued, Error> {
        self.pursue(saved, control).map_err(|error| {
            self.directory.keep();
            Error::Run(self.directory.path.clone(), error)
        })
    }

    fn pursue(&self, saved: Option<Saved>, control: &Control) -> spill::Result<Pursued> {
        let disk = self.directory.disk.clone();
        let component = |state: &[u8]| self.parts.component(self.product.location(state));
        let accepts = |state: &[u8]| self.product.is_accepting(state);
        let accepting = || Accepting {
            component: &component,
            accepts: &accepts,
            is_weak: self.parts.are_weak(),
        };
        if !SavedCycles::is_in(&*disk)? {
            let finder = Finder {
                model: self.model,
                disk: &*disk,
                threads: self.plan.threads,
                control,
                folder: None,
            };
            let early = Early::new(finder, &accepts, self.product.check());
            let search = self.reaching(saved, control)?;
            let mut search = search.ended_if(|findings| early.is_decided(findings));
            let outcome = search.run()?;
            let mut told =
                Pursued { found: Probed::Open, swept: None, seconds: search.seconds(), outcome };
            if told.outcome.verdict == Verdict::Incomplete {
                return Ok(told);
            }
            if early.is_decided(&told.outcome.findings)? {
                let lasso = early.lasso(&told.outcome.findings, &Saved::load(&*disk)?)?;
                told.found = lasso.map_or(Probed::Open, Probed::Found);
                return Ok(told);
            }
            let Visited::Sorted(store) = search.store() else {
                unreachable!("it stores states as sorted runs")
            };
            let (model, accepting) = (self.model, accepting());
            if control.should_stop() {
                told.outcome.verdict = Verdict::Incomplete;
                return Ok(told);
            }
            let gathered = CycleSearch::gather(store, model, &accepting, &*disk, control, None)?;
            if gathered.is_none() {
                told.outcome.verdict = Verdict::Incomplete;
                return Ok(told);
            }
        }
        let (reached, saved) = (Saved::load(&*disk)?, SavedCycles::load(&*disk)?);
        let outcome = reached.outcome()?;
        let both = (Reached::of(&reached)?, saved);
        let shared: Arc<dyn spill::Disk> = disk.clone();
        let mut search =
            CycleSearch::resume(self.model, accepting(), shared, both, self.plan, control)?;
        let found = search.run()?;
        let seconds = reached.seconds + search.seconds();
        Ok(Pursued { found, outcome, swept: Some(Swept::of(search.saved())), seconds })
    }

    /// The search that reaches all states.
    fn reaching<'s>(
        &'s self,
        saved: Option<Saved>,
        control: &'s Control,
    ) -> spill::Result<Search<'s>> {
        let (model, disk) = (self.model, self.directory.disk.clone());
        let limits = Watched::limits(self.max_states);
        match saved {
            None => {
                Search::begin_stored(model, disk, self.plan, limits, control, Storage::default())
            }
            Some(saved) => Search::resume(model, disk, saved, self.plan, limits, control),
        }
    }
}

/// The verdict of a probe, as reports call it.
pub fn verdict(found: &Probed) -> &'static str {
    match found {
        Probed::None => "verified",
        Probed::Found(_) => "violated",
        Probed::Open => "incomplete",
    }
}
