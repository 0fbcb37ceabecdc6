//! Translation of a formula to an automaton that accepts the words that satisfy it.
//!
//! formula -> term -> very weak alternating automaton -> generalised automaton -> Büchi automaton. Each form is
//! reduced by its rules before the next one.

use super::alternating::{AlternatingAutomaton, FormulaTooLarge};
use super::automaton::Automaton;
use super::formula::LtlFormula;
use super::generalized::GeneralizedAutomaton;

/// Returns the automaton of a formula over these propositions.
pub fn translate(
    formula: &LtlFormula,
    propositions: Vec<String>,
) -> Result<Automaton, FormulaTooLarge> {
    let mut alternating = AlternatingAutomaton::default();
    let term = alternating.terms.of(formula);
    let generalized = GeneralizedAutomaton::of(&mut alternating, term)?;
    Ok(generalized.degeneralized(propositions).reduced())
}

/// Returns a Büchi automaton with accepting states for an automaton that was read.
pub fn degeneralize(read: Option<&GeneralizedAutomaton>, propositions: Vec<String>) -> Automaton {
    match read {
        Some(it) => it.degeneralized(propositions).reduced(),
        None => Automaton { propositions, states: Vec::new() },
    }
}
