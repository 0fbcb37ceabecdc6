//! The product, with the processes that each transition is fair to.

use super::{ClaimProduct, ProductBuffers, SystemExpansion};
use spillway_exec::FairExpander;
use spillway_model::{
    FairSteps, ProcessSet, StepDescription, StepOutcome, SuccessorSink, SystemDescription as _,
};

/// A product whose transitions are labelled with processes.
///
/// A process that is enabled in a state of the system is enabled in the state of the product. A transition of the
/// claim alone belongs to no process and is fair to all: either the system has ended, so that no process is enabled,
/// or the claim has. In the second case the run is already violated, and some fair continuation exists.
pub struct FairProduct<'p> {
    product: &'p ClaimProduct<'p>,
    movers: FairExpander<'p>,
}

impl<'p> FairProduct<'p> {
    /// Labels the transitions of a product by `movers`.
    pub fn new(product: &'p ClaimProduct<'p>, movers: FairExpander<'p>) -> FairProduct<'p> {
        FairProduct { product, movers }
    }

    /// Returns the transitions of a state that lead to states, by the reference semantics, each with the processes
    /// that it is fair to.
    pub fn steps(&self, state: &[u8]) -> Vec<(StepDescription, ProcessSet)> {
        self.steps_in(self.product, state)
    }

    /// Returns the same for a product with the program as written. Its processes have the numbers of the rewritten
    /// program.
    pub fn steps_in(
        &self,
        written: &ClaimProduct<'_>,
        state: &[u8],
    ) -> Vec<(StepDescription, ProcessSet)> {
        let processes = self.movers.processes();
        let (system, _) = written.split(state);
        let unable = processes.disabled_processes(written.never.interp, system);
        let fair_to = |step: &StepDescription| match step.movers.is_empty() {
            true => ProcessSet::first(processes.count()),
            false => {
                let movers: Vec<_> = step.movers.iter().map(|&it| it.into()).collect();
                processes.fair_to(unable, &movers)
            }
        };
        let steps = written.steps(state).into_iter();
        let steps = steps.filter(|it| matches!(it.outcome, StepOutcome::Successor(_)));
        steps.map(|step| (fair_to(&step), step)).map(|(set, step)| (step, set)).collect()
    }
}

impl FairSteps for FairProduct<'_> {
    fn processes(&self) -> usize {
        self.movers.processes().count()
    }

    fn expand_fair(&self, state: &[u8], out: &mut SuccessorSink) {
        if !self.product.is_state(state) {
            return out.fail(format!("the bytes {state:02x?} are not one of its states"));
        }
        let expansion = SystemExpansion::Fair(&self.movers);
        self.product.expand_one(state, expansion, &mut ProductBuffers::default(), out);
    }
}
