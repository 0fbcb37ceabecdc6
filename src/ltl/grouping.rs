//! Boolean parts of a formula as propositions of their own.
//!
//! An automaton's edges are labelled by conjunctions of literals, and there can be exponentially many of those in a boolean
//! formula, as in `p1 <-> p2 <-> ... <-> pn`. A state satisfies such a part or not. So a part with many propositions and
//! no temporal operator becomes one proposition.

use super::formula::LtlFormula;
use std::collections::{BTreeSet, HashMap};

/// A part with more propositions than this is one proposition.
const APART_MAX: usize = 6;

/// A formula over groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedFormula {
    /// The formula; its propositions are the numbers of groups.
    pub formula: LtlFormula,
    /// What each group says of a state, by the propositions of the formula that was grouped.
    pub groups: Vec<LtlFormula>,
}

impl LtlFormula {
    /// The same with large boolean parts as one proposition each.
    pub fn grouped(&self) -> GroupedFormula {
        let mut grouping = FormulaGrouper::default();
        let formula = grouping.group(self);
        GroupedFormula { formula, groups: grouping.groups }
    }

    /// The propositions in it, if it has no temporal operator.
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
