//! TLA+ specifications as transition systems.
//!
//! A specification is a root module with the modules that it extends or instantiates, and a configuration file as TLC
//! reads it. It goes through these stages:
//!
//! | module | content |
//! | --- | --- |
//! | `syntax` | text to syntax tree: tokens, junction lists by column, operator precedence |
//! | `modules` | the search for modules, EXTENDS and INSTANCE |
//! | [`library`], [`level`] | the table of operators of standard modules, and levels |
//! | `config` | configuration files |
//! | `resolve` | syntax tree to resolved specification: names, arities, levels |
//! | `value` | values, their order, TLA+ text |
//! | `standard` | the standard modules' operators on values |
//! | `eval` | evaluation, initial states and successors as TLC generates them |
//! | `cells` | values as fixed-width cells with dictionaries |
//! | `reading` | all of this, from files to a resolved specification |
//! | `system` | a specification as a state space |
//! | `cell_search` | a search in memory over cells |

pub mod cell_search;
pub mod cells;
pub mod config;
pub mod eval;
pub mod level;
pub mod library;
pub mod modules;
mod reading;
pub mod resolve;
pub mod standard;
pub mod syntax;
pub mod system;
pub mod value;

pub use reading::{SpecificationRequest, read_specification};
