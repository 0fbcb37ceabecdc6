//! Linear temporal logic: formulas over propositions, and Büchi automata that accept the words that satisfy them.
//!
//! This module does not interpret propositions; a front end parses them in its own language. A model violates a
//! formula if it has a run that the automaton of the negated formula accepts.

mod alternating;
mod automaton;
mod automaton_reduction;
mod components;
mod congruence;
mod cube;
mod degeneralize;
mod display;
mod formula;
mod formula_graph;
mod generalized;
mod grouping;
pub mod hoa;
mod operators;
mod parse;
mod terms;
mod translate;
mod words;

pub use alternating::FormulaTooLarge;
pub use automaton::{Automaton, AutomatonEdge, AutomatonState};
pub use components::{AutomatonComponents, ComponentClass};
pub use cube::{Cube, PROPOSITIONS_MAX};
pub use formula::{LtlConnective, LtlFormula};
pub use generalized::{GeneralizedAutomaton, MarkedEdge};
pub use grouping::GroupedFormula;
pub use operators::{glued_operators, split_operators, to_spin_signs};
pub use parse::{FormulaSyntax, ParsedFormula, QuantifiedFormula, parse, quantified_formula};
pub use translate::{degeneralize, translate};
pub use words::{FormulaWord, words};
