//! Syntax trees to a resolved specification: names, arities, levels.
//!
//! | module | content |
//! | --- | --- |
//! | [`tree`] | the resolved specification; it re-exports `expr`, `ids` and the operators' names |
//! | [`expr`] | its expressions |
//! | [`ids`] | its indices, and levels |
//! | [`operators`] | the table of operators of standard and community modules |

pub mod expr;
pub mod ids;
pub mod operators;
pub mod tree;
