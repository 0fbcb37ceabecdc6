//! From a formula to an automaton that accepts the words of which it is true.
//!
//! formula -> term -> very weak alternating automaton -> generalised automaton -> Büchi automaton, each made as small
//! as its rules allow before the next.

use super::alternating::{AlternatingAutomaton, FormulaTooLarge};
use super::automaton::Automaton;
use super::formula::LtlFormula;
use super::generalized::GeneralizedAutomaton;

/// The automaton of a formula over these propositions.
pub fn translate(
    formula: &LtlFormula,
    propositions: Vec<String>,
) -> Result<Automaton, FormulaTooLarge> {
    let mut alternating = AlternatingAutomaton::default();
    let term = alternating.terms.of(formula);
    let generalized = GeneralizedAutomaton::of(&mut alternating, term)?;
    Ok(generalized.degeneralized(propositions).reduced())
}

/// An automaton that was read, with accepting states.
pub fn degeneralize(read: Option<&GeneralizedAutomaton>, propositions: Vec<String>) -> Automaton {
    match read {
        Some(it) => it.degeneralized(propositions).reduced(),
        None => Automaton { propositions, states: Vec::new() },
    }
}
