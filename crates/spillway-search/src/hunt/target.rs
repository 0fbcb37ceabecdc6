//! The target of a hunt: a violation in a state space, or an accepting run of a product.

use crate::lasso::Lasso;
use spillway_model::{CheckSelection, MeasuredDistance, StateSpace, Violation};

/// A distance of states.
pub type DistanceFn<'a> = dyn Fn(&[u8]) -> MeasuredDistance + Sync + 'a;

/// A predicate on states.
pub type AcceptanceFn<'a> = dyn Fn(&[u8]) -> bool + Sync + 'a;

/// The distance of a state to a violation, for searches that expand near states first.
pub enum TargetDistance<'a> {
    /// The number of successors: a deadlock has none.
    Successors,
    /// A function of the state.
    Function(Box<DistanceFn<'a>>),
}

impl TargetDistance<'_> {
    /// Returns the distances that any state space has for some checks.
    pub fn for_checks<'a>(checks: CheckSelection) -> Vec<TargetDistance<'a>> {
        match checks.deadlock {
            true => vec![TargetDistance::Successors],
            false => Vec::new(),
        }
    }
}

/// The target of a hunt.
pub struct HuntTarget<'a> {
    /// The state space. All of its transitions are explored.
    pub model: &'a dyn StateSpace,
    /// The checks that count as violations.
    pub checks: CheckSelection,
    /// The accepting states of a product. If given, the hunt looks for a run that visits them infinitely often.
    pub accepts: Option<&'a AcceptanceFn<'a>>,
    /// The known distances to a violation.
    pub distances: Vec<TargetDistance<'a>>,
}

impl HuntTarget<'_> {
    /// Returns whether a state is an accepting one.
    pub(super) fn accepts(&self, state: &[u8]) -> bool {
        self.accepts.is_some_and(|accepts| accepts(state))
    }

    /// Returns whether runs are hunted.
    pub(super) fn is_of_runs(&self) -> bool {
        self.accepts.is_some()
    }
}

/// The finding of a hunt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HuntFinding {
    /// A violation at the end of a path.
    Violation {
        /// The violated check.
        check: Violation,
        /// The states of the path, an initial one first. Empty if a start fails.
        states: Vec<Vec<u8>>,
    },
    /// An accepting run.
    Run(Lasso),
}
