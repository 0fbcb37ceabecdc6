//! The check of a temporal property: an emptiness check of the product of the model and the automaton of violating
//! runs. It runs in memory first, in this module, then [on disk](super::EmptinessSearch).

use super::LivenessCheck;
use crate::ir::{Claim, Entity as _, Location, LocationId, Urgency};
use crate::ltl::{AutomatonComponents, ComponentClass};
use crate::model::StateSpace;
use crate::reduce::claim::{ClaimProduct, FiniteRunPolicy, NeverClaim};
use crate::search::SearchControl;
use crate::search::liveness::in_memory::probe;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult};

impl LivenessCheck {
    /// Returns the product with a model that runs the program. `None` if nothing can violate the property.
    pub fn product<'m>(
        &'m self,
        model: impl StateSpace + 'm,
        ended: FiniteRunPolicy,
    ) -> Option<ClaimProduct<'m>> {
        // Without a claim no run is accepted.
        let claim = NeverClaim::of(&self.model.interp)?;
        let product = claim.over_infinite_runs(ended).with(model);
        AcceptingComponents::of(product.claim()).are_some().then_some(product)
    }
}

/// Searches a product for an accepting cycle in memory, until the control stops it.
pub fn probe_product(
    product: &ClaimProduct<'_>,
    limits: ProbeLimits,
    control: &SearchControl,
) -> spill::Result<ProbeResult> {
    probe_reduced(product, product, limits, control)
}

/// Searches a reduced product in the same way.
pub fn probe_reduced(
    reduced: &dyn StateSpace,
    product: &ClaimProduct<'_>,
    limits: ProbeLimits,
    control: &SearchControl,
) -> spill::Result<ProbeResult> {
    probe(reduced, &|state| product.is_accepting(state), limits, control)
}

/// The strongly connected components of a claim that have accepting cycles.
pub struct AcceptingComponents {
    /// The component of each location, if it is in one.
    of_location: Vec<Option<usize>>,
    /// Whether all cycles in these components are accepting.
    are_weak: bool,
}

impl AcceptingComponents {
    /// Computes the components of a claim.
    pub fn of(claim: &Claim) -> AcceptingComponents {
        let mut graph = vec![Vec::new(); claim.locations.len()];
        claim.moves.iter().for_each(|it| graph[it.from.index()].push(it.to.index()));
        let accepts: Vec<bool> = claim.locations.values().map(|it| it.accepting).collect();
        let found = AutomatonComponents::of_graph(&graph, &accepts);
        let counts = |&it: &usize| found.classes[it] != ComponentClass::Rejecting;
        let of_location = found.of_state.iter().map(|&it| Some(it).filter(counts)).collect();
        // A run does not rest at the inner locations of an atomic sequence.
        let is_passed = |at: &Location| at.urgency != Urgency::Free;
        let are_weak =
            found.class() <= ComponentClass::Weak && !claim.locations.values().any(is_passed);
        AcceptingComponents { of_location, are_weak }
    }

    fn are_some(&self) -> bool {
        self.of_location.iter().any(Option::is_some)
    }

    /// Returns the component of a location, if it is in one.
    pub fn component(&self, at: LocationId) -> Option<usize> {
        self.of_location[at.index()]
    }

    /// Returns whether all cycles in the components are accepting.
    pub fn are_weak(&self) -> bool {
        self.are_weak
    }
}
