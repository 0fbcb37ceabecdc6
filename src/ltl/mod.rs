//! Linear temporal logic: formulas over propositions, and the Büchi automata that accept the words of which they are
//! true.
//!
//! What a proposition says of a state is not known here: a front end reads it in its own language. A model violates a
//! formula if it has a run that the automaton of the formula's negation accepts.

mod alternating;
mod automaton;
mod components;
mod congruence;
mod cube;
mod degeneralize;
mod formula;
mod generalized;
mod group;
pub mod hoa;
mod nodes;
mod parse;
mod reduce;
mod show;
mod signs;
mod terms;
mod translate;
mod words;

pub use alternating::TooLarge;
pub use automaton::{Automaton, Edge, State};
pub use components::{Class, Components};
pub use cube::{Cube, PROPOSITIONS_MAX};
pub use formula::{Connective, Formula};
pub use generalized::{Generalized, MarkedEdge};
pub use group::Grouped;
pub use parse::{Parsed, QuantifiedFormula, Spelling, parse, quantified_formula};
pub use signs::{ascii, glued_operators, split_operators};
pub use translate::{of_generalized, translate};
pub use words::{Word, words};
