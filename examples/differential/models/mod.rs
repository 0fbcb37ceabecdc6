//! Random models as text, one module for each language.
//!
//! A model is made from a list of numbers. The same list gives the same model. A shorter list, or one of smaller
//! numbers, gives a simpler model.

#[path = "../../../tests/support/programs/choices.rs"]
pub mod choices;
mod dve;
mod murphi;
mod promela;

use crate::support::Random;
use spillway::front::Language;
use std::collections::BTreeSet;

/// Returns the numbers of a seed.
pub fn numbers(seed: u64) -> Vec<u16> {
    let mut random = Random::new(seed);
    let length = 60 + random.below(900);
    (0..length).map(|_| random.next() as u16).collect()
}

/// Returns the text of a model and the constructs in it.
pub fn make(language: &Language, numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
    match language.name {
        "promela" => promela::make(numbers),
        "murphi" => murphi::make(numbers),
        "dve" => dve::make(numbers),
        other => panic!("there are no random models in {other}"),
    }
}
