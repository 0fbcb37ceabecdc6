//! Under construction.
use super::Program;
/// Under construction.
pub fn print(program: &Program) -> String { format!("{program:?}") }
