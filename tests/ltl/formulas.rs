//! Formulas for tests: random ones, and those of the literature.

use spillway::ltl::{LtlConnective, LtlFormula};

/// Pseudo-random numbers (Knuth's linear congruential generator).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

const CONNECTIVES: [LtlConnective; 9] = [
    LtlConnective::And,
    LtlConnective::Or,
    LtlConnective::Implies,
    LtlConnective::Equivalent,
    LtlConnective::Until,
    LtlConnective::WeakUntil,
    LtlConnective::Release,
    LtlConnective::Differ,
    LtlConnective::StrongRelease,
];

/// A formula of so many operators and propositions.
pub fn random(chance: &mut Chance, operators: usize, propositions: usize) -> LtlFormula {
    if operators == 0 {
        return match chance.below(12) {
            0 => LtlFormula::Constant(chance.below(2) == 0),
            _ => LtlFormula::Proposition(chance.below(propositions)),
        };
    }
    let operand =
        |chance: &mut Chance, operators| Box::new(random(chance, operators, propositions));
    match chance.below(4 + CONNECTIVES.len()) {
        0 => LtlFormula::Not(operand(chance, operators - 1)),
        1 => LtlFormula::Next(operand(chance, operators - 1)),
        2 => LtlFormula::Eventually(operand(chance, operators - 1)),
        3 => LtlFormula::Always(operand(chance, operators - 1)),
        other => {
            let left = chance.below(operators);
            let (left, right) = (operand(chance, left), operand(chance, operators - 1 - left));
            LtlFormula::Binary(CONNECTIVES[other - 4], left, right)
        }
    }
}
