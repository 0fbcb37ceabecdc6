//! Random formulas.

use spillway::ltl::{LtlConnective, LtlFormula};

/// Pseudo-random numbers (Knuth's linear congruential generator).
pub struct FormulaRng(pub u64);

impl FormulaRng {
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

/// A random formula with this number of operators over this number of propositions.
pub fn random(rng: &mut FormulaRng, operators: usize, propositions: usize) -> LtlFormula {
    if operators == 0 {
        return match rng.below(12) {
            0 => LtlFormula::Constant(rng.below(2) == 0),
            _ => LtlFormula::Proposition(rng.below(propositions)),
        };
    }
    let operand = |rng: &mut FormulaRng, operators| Box::new(random(rng, operators, propositions));
    match rng.below(4 + CONNECTIVES.len()) {
        0 => LtlFormula::Not(operand(rng, operators - 1)),
        1 => LtlFormula::Next(operand(rng, operators - 1)),
        2 => LtlFormula::Eventually(operand(rng, operators - 1)),
        3 => LtlFormula::Always(operand(rng, operators - 1)),
        other => {
            let left = rng.below(operators);
            let (left, right) = (operand(rng, left), operand(rng, operators - 1 - left));
            LtlFormula::Binary(CONNECTIVES[other - 4], left, right)
        }
    }
}
