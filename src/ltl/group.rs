//! Boolean parts of a formula as propositions of their own.
//!
//! An automaton's edges are labelled by conjunctions of literals, and there can be exponentially many of those in a boolean
//! formula, as in `p1 <-> p2 <-> ... <-> pn`. A state satisfies such a part or not. So a part with many propositions and
//! no temporal operator becomes one proposition.

use super::formula::Formula;
use std::collections::{BTreeSet, HashMap};

/// A part with more propositions than this is one proposition.
const APART_MAX: usize = 6;

/// A formula over groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouped {
    /// The formula; its propositions are the numbers of groups.
    pub formula: Formula,
    /// What each group says of a state, by the propositions of the formula that was grouped.
    pub groups: Vec<Formula>,
}

impl Formula {
    /// The same with large boolean parts as one proposition each.
    pub fn grouped(&self) -> Grouped {
        let mut grouping = Grouping::default();
        let formula = grouping.group(self);
        Grouped { formula, groups: grouping.groups }
    }

    /// The propositions in it, if it has no temporal operator.
    fn boolean_propositions(&self) -> Option<BTreeSet<usize>> {
        match self {
            Formula::Constant(_) => Some(BTreeSet::new()),
            Formula::Proposition(number) => Some(BTreeSet::from([*number])),
            Formula::Not(it) => it.boolean_propositions(),
            Formula::Binary(operator, left, right) if !operator.is_temporal() => {
                let mut all = left.boolean_propositions()?;
                all.append(&mut right.boolean_propositions()?);
                Some(all)
            }
            Formula::Next(_)
            | Formula::Eventually(_)
            | Formula::Always(_)
            | Formula::Binary(..) => None,
        }
    }
}

#[derive(Default)]
struct Grouping {
    groups: Vec<Formula>,
    known: HashMap<Formula, usize>,
}

impl Grouping {
    fn group(&mut self, formula: &Formula) -> Formula {
        if formula.boolean_propositions().is_some_and(|it| it.len() > APART_MAX) {
            return self.proposition(formula);
        }
        let mut inner = |it: &Formula| Box::new(self.group(it));
        match formula {
            Formula::Constant(_) => formula.clone(),
            Formula::Proposition(_) => self.proposition(formula),
            Formula::Not(it) => Formula::Not(inner(it)),
            Formula::Next(it) => Formula::Next(inner(it)),
            Formula::Eventually(it) => Formula::Eventually(inner(it)),
            Formula::Always(it) => Formula::Always(inner(it)),
            Formula::Binary(operator, left, right) => {
                Formula::Binary(*operator, inner(left), inner(right))
            }
        }
    }

    fn proposition(&mut self, formula: &Formula) -> Formula {
        let groups = &mut self.groups;
        let number = *self.known.entry(formula.clone()).or_insert_with(|| {
            groups.push(formula.clone());
            groups.len() - 1
        });
        Formula::Proposition(number)
    }
}
