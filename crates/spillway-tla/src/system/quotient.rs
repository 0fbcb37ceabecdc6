//! Symmetry: states that represent their orbits.
//!
//! With SYMMETRY, the stored state is the least one of its orbit by structure, never by number, so it depends on
//! nothing but the orbit. A counterexample is a path of the concrete system: each of its states is in the orbit of the
//! stored one.

use super::SpecificationSystem;
use super::view::StateView;
use crate::eval::SymmetryGroup;
use crate::value::Value;
use spillway_model::{ModelError, StateSpace, StepwiseSimulation};
use std::borrow::Cow;

/// The symmetry of a system.
pub(super) struct Quotient {
    group: SymmetryGroup,
    /// The same specification without symmetry. Its states get their bytes at once.
    pub(super) concrete: Box<SpecificationSystem>,
}

/// States cannot be permuted.
#[derive(Clone, Debug, thiserror::Error)]
#[error("SYMMETRY: {0}")]
struct NoRepresentative(String);

impl Quotient {
    pub(super) fn new(group: SymmetryGroup, concrete: Box<SpecificationSystem>) -> Self {
        spillway_model::GrowingStateSpace::grow_at_once(&*concrete);
        Self { group, concrete }
    }

    /// Returns the number of permutations with the identity: the most states of an orbit.
    pub(super) fn order(&self) -> usize {
        self.group.order()
    }
}

impl SpecificationSystem {
    /// Returns the state that is stored for a state.
    ///
    /// # Errors
    ///
    /// Values of a permuted set are not comparable.
    pub(super) fn stored_state<'v>(
        &self,
        state: &'v [Value],
    ) -> Result<Cow<'v, [Value]>, ModelError> {
        let Some(quotient) = &self.quotient else { return Ok(Cow::Borrowed(state)) };
        let representative = quotient.group.representative(state);
        let failed = |failure: Box<crate::standard::Failure>| {
            ModelError::failed(NoRepresentative(failure.text(&self.program.symbols)))
        };
        representative.map(Cow::Owned).map_err(failed)
    }

    /// Returns the maximum number of states that a stored state represents: 1 without symmetry.
    pub fn orbit_size_max(&self) -> usize {
        let of_view = self.view.as_ref().and_then(StateView::group).map(SymmetryGroup::order);
        of_view.or(self.quotient.as_ref().map(Quotient::order)).unwrap_or(1)
    }
}

impl StepwiseSimulation for SpecificationSystem {
    fn concrete_space(&self) -> &dyn StateSpace {
        self.quotient.as_ref().map_or(self, |it| &*it.concrete)
    }

    fn represents(&self, own: &[u8], concrete: &[u8]) -> bool {
        let Some(quotient) = &self.quotient else { return own == concrete };
        let (Ok(own), Ok(concrete)) = (self.decode(own), quotient.concrete.decode(concrete)) else {
            return false;
        };
        self.stored_state(&concrete).is_ok_and(|it| *it == own[..])
    }
}
