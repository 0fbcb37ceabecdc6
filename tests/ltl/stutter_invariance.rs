//! Whether a property counts repetitions of a state (stutter invariance), decided on its automaton, compared with the
//! words that satisfy its formula. `SPILLWAY_LARGE` tries 5,000 formulas.

use super::formulas::{FormulaRng, random};
use super::lasso_words::Lasso;
use super::liveness_reductions::load_as;
use crate::support::is_large;
use spillway::ltl::LtlFormula;
use spillway::model::NotApplied;
use spillway::reduce::claim::NeverClaim;

const MODEL: &str = "bool a, b; active proctype P() { do :: a = !a :: b = !b od }";

/// The word with the letter at a position repeated; in the cycle, repeated in each round.
fn repeated(word: &Lasso, at: usize) -> Lasso {
    let mut letters = word.letters.clone();
    letters.insert(at, letters[at]);
    Lasso { letters, back: word.back + usize::from(at < word.back) }
}

/// Whether the formula distinguishes a word of at most four letters from the word with a letter repeated.
fn is_stutter_sensitive(formula: &LtlFormula) -> bool {
    (1..=4).flat_map(|length| Lasso::all(length, 2)).any(|word| {
        let holds = word.satisfies(formula);
        (0..word.letters.len()).any(|at| repeated(&word, at).satisfies(formula) != holds)
    })
}

#[test]
fn stutter_invariance_of_automata_equals_that_of_their_formulas() {
    let mut rng = FormulaRng(7);
    let names = ["a", "b"].map(str::to_owned);
    let (mut counting, mut closed_with_next, mut large) = (0, 0, 0);
    for _ in 0..if is_large() { 5_000 } else { 400 } {
        let operators = 1 + rng.below(5);
        let formula = random(&mut rng, operators, 2);
        let text = formula.with_names(&names).to_string();
        let check = load_as("promela", MODEL, &text);
        match NeverClaim::check_counts_no_repetitions(&check.model.interp) {
            Ok(()) => {
                assert!(!is_stutter_sensitive(&formula), "{text}");
                closed_with_next += u32::from(formula.has_next());
            }
            Err(NotApplied::CountsRepeatedStates) => {
                assert!(is_stutter_sensitive(&formula), "{text}");
                counting += 1;
            }
            Err(NotApplied::AutomatonTooLarge) => large += 1,
            Err(other) => panic!("{text}: {other}"),
        }
    }
    println!("{counting} count, {closed_with_next} with X do not, {large} are too large");
    assert!(counting > 40 && closed_with_next > 10 && large < 40);
}
