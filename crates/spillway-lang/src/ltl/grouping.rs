//! Grouping of the boolean parts of a formula into propositions.
//!
//! The edges of an automaton are labelled by conjunctions of literals. A boolean formula such as `p1 <-> p2 <-> ...
//! <-> pn` can have exponentially many of those. Each state satisfies such a part or does not. So a part with many
//! propositions and no temporal operator becomes one proposition.

use super::formula::LtlFormula;
use std::collections::{BTreeSet, HashMap};

/// The maximal number of propositions of a part that is not grouped.
const APART_MAX: usize = 6;

/// A formula over groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedFormula {
    /// The formula, whose propositions are the numbers of groups.
    pub formula: LtlFormula,
    /// The formula of each group, over the original propositions.
    pub groups: Vec<LtlFormula>,
}

impl LtlFormula {
    /// Returns the formula with each large boolean part as one proposition.
    pub fn grouped(&self) -> GroupedFormula {
        let mut grouping = FormulaGrouper::default();
        let formula = grouping.group(self);
        GroupedFormula { formula, groups: grouping.groups }
    }

    /// Returns the propositions of a formula without temporal operators.
    fn boolean_propositions(&self) -> Option<BTreeSet<usize>> {
        match self {
            LtlFormula::Constant(_) => Some(BTreeSet::new()),
            LtlFormula::Proposition(number) => Some(BTreeSet::from([*number])),
            LtlFormula::Not(it) => it.boolean_propositions(),
            LtlFormula::Binary(operator, left, right) if !operator.is_temporal() => {
                let mut all = left.boolean_propositions()?;
                all.append(&mut right.boolean_propositions()?);
                Some(all)
            }
            LtlFormula::Next(_)
            | LtlFormula::Eventually(_)
            | LtlFormula::Always(_)
            | LtlFormula::Binary(..) => None,
        }
    }
}

#[derive(Default)]
struct FormulaGrouper {
    groups: Vec<LtlFormula>,
    known: HashMap<LtlFormula, usize>,
}

impl FormulaGrouper {
    fn group(&mut self, formula: &LtlFormula) -> LtlFormula {
        if formula.boolean_propositions().is_some_and(|it| it.len() > APART_MAX) {
            return self.proposition(formula);
        }
        let mut inner = |it: &LtlFormula| Box::new(self.group(it));
        match formula {
            LtlFormula::Constant(_) => formula.clone(),
            LtlFormula::Proposition(_) => self.proposition(formula),
            LtlFormula::Not(it) => LtlFormula::Not(inner(it)),
            LtlFormula::Next(it) => LtlFormula::Next(inner(it)),
            LtlFormula::Eventually(it) => LtlFormula::Eventually(inner(it)),
            LtlFormula::Always(it) => LtlFormula::Always(inner(it)),
            LtlFormula::Binary(operator, left, right) => {
                LtlFormula::Binary(*operator, inner(left), inner(right))
            }
        }
    }

    fn proposition(&mut self, formula: &LtlFormula) -> LtlFormula {
        let groups = &mut self.groups;
        let number = *self.known.entry(formula.clone()).or_insert_with(|| {
            groups.push(formula.clone());
            groups.len() - 1
        });
        LtlFormula::Proposition(number)
    }
}
