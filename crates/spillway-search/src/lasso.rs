//! Infinite runs as stem and cycle.

use spillway_model::ProcessSet;

/// An infinite run: a stem, and a cycle that closes from the last state to the state at `back`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The states of stem and cycle, an initial one first.
    pub states: Vec<Vec<u8>>,
    /// The index of the state in which the cycle begins.
    pub back: usize,
    /// In checks under fairness: the processes to which the step from each state of the cycle is fair.
    pub fair_to: Vec<ProcessSet>,
}
