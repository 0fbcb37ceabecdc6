//! TLA+ specifications as transition systems.
//!
//! A specification is a root module with the modules that it extends or instantiates, and a configuration file as TLC
//! reads it. It goes through these stages:
//!
//! | module | content |
//! | --- | --- |
//! | `syntax` | text to syntax tree: tokens, junction lists by column, operator precedence |
//! | `modules` | the search for modules, EXTENDS and INSTANCE |
//! | `config` | configuration files |
//! | `resolve` | syntax tree to resolved specification: names, arities, levels |
//! | `value` | values, their order, TLA+ text |
//! | `standard` | the standard modules' operators on values |
//! | `eval` | evaluation, initial states and successors as TLC generates them |
//! | `cells` | values as fixed-width cells with dictionaries |

pub mod resolve;
pub mod syntax;
