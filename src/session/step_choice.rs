//! Which steps of each state a search takes.

use crate::reduce::partial_order::PartialOrderStrategy;

/// Which steps are taken of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepChoice {
    /// All.
    All,
    /// Those that partial-order reduction chooses, in some way.
    Chosen(PartialOrderStrategy),
    /// The same by the best method, with the first proviso by which the first states show that it saves half or more;
    /// else all.
    Auto,
}
