//! Under construction.
use super::Program;
use std::fmt;
/// A problem.
#[derive(Debug)]
pub struct Problem;
impl fmt::Display for Problem { fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
/// Validate.
pub fn validate(_: &Program) -> Result<(), Vec<Problem>> { Ok(()) }
