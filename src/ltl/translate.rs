//! From a formula to an automaton that accepts the words of which it is true.
//!
//! formula -> term -> very weak alternating automaton -> generalised automaton -> Büchi automaton, each made as small
//! as its rules allow before the next.

use super::alternating::{Alternating, TooLarge};
use super::automaton::Automaton;
use super::formula::Formula;
use super::generalized::Generalized;

/// The automaton of a formula over these propositions.
pub fn translate(formula: &Formula, propositions: Vec<String>) -> Result<Automaton, TooLarge> {
    let mut alternating = Alternating::default();
    let term = alternating.terms.of(formula);
    let generalized = Generalized::of(&mut alternating, term)?;
    Ok(generalized.degeneralized(propositions).reduced())
}

/// An automaton that was read, with accepting states.
pub fn of_generalized(read: Option<&Generalized>, propositions: Vec<String>) -> Automaton {
    match read {
        Some(it) => it.degeneralized(propositions).reduced(),
        None => Automaton { propositions, states: Vec::new() },
    }
}
