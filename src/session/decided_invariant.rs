//! How a search for a violating state decided a temporal property.

use crate::model::ReductionRefusal;

/// The search for a state that violates the invariant to which a temporal property is equivalent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecidedInvariant {
    /// The names of its reductions.
    pub reductions: Vec<String>,
    /// The requested reductions that it does not use. They are known in the session that began the search.
    pub refusals: Vec<ReductionRefusal>,
    /// Whether the violating state that it found is a nearest one.
    pub is_shortest: bool,
}
