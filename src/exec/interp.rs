//! Under construction.
/// Under construction.
pub struct Interp;
