//! Visiting fewer states: reductions that wrap a model and give one again.

pub mod symmetry;
