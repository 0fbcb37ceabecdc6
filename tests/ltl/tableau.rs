//! Formulas on random Kripke structures: an automaton and a tableau agree on whether some run satisfies a formula.
//!
//! The tableau is that of Clarke, Grumberg and Hamaguchi ("Another look at LTL model checking", 1997). A node is a
//! state of the structure with a guess, for each temporal subformula, of its value from the next state on. It shares no
//! code with the translation to automata.

use super::automata::formulas_of_folder;
use super::families;
use super::formulas::{FormulaRng, random};
use spillway::ltl::{Automaton, LtlConnective, LtlFormula, translate};
use std::collections::HashMap;

/// Formulas with more temporal subformulas have too many guesses.
const TEMPORAL_MAX: usize = 7;

/// States with the propositions that hold in them, as bits, and their successors. The first state is initial.
struct Kripke {
    labels: Vec<u64>,
    next: Vec<Vec<usize>>,
}

impl Kripke {
    fn random(rng: &mut FormulaRng, propositions: usize) -> Kripke {
        let count = 1 + rng.below(7);
        let label = |rng: &mut FormulaRng| {
            (0..propositions).fold(0, |bits, at| bits | (rng.below(2) as u64) << at)
        };
        let labels = (0..count).map(|_| label(rng)).collect();
        let successors = |rng: &mut FormulaRng| {
            let mut all: Vec<usize> = (0..1 + rng.below(3)).map(|_| rng.below(count)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        Kripke { labels, next: (0..count).map(|_| successors(rng)).collect() }
    }
}

/// A graph with fair sets: a fair run visits each set infinitely often.
struct FairGraph {
    initial: Vec<usize>,
    next: Vec<Vec<usize>>,
    fair: Vec<Vec<bool>>,
}

impl FairGraph {
    /// Whether there is a fair run (Emerson and Lei 1986). Computes the greatest set of nodes that satisfies this
    /// condition: from each node, within the set, a node of each fair set is reachable in at least one step.
    fn has_run(&self) -> bool {
        let count = self.next.len();
        let mut set = vec![true; count];
        loop {
            let before = set.iter().filter(|it| **it).count();
            let all = vec![true; count];
            for fair in self.fair.iter().chain(std::iter::once(&all)) {
                let goal: Vec<bool> = (0..count).map(|at| fair[at] && set[at]).collect();
                let reaches = self.reaching(&goal, &set);
                set = (0..count)
                    .map(|at| set[at] && self.next[at].iter().any(|&to| set[to] && reaches[to]))
                    .collect();
            }
            if set.iter().filter(|it| **it).count() == before {
                break;
            }
        }
        let anywhere = vec![true; count];
        let reaches = self.reaching(&set, &anywhere);
        self.initial.iter().any(|&it| reaches[it])
    }

    /// The nodes of a set from which a goal is reachable within the set, by any number of steps.
    fn reaching(&self, goal: &[bool], set: &[bool]) -> Vec<bool> {
        let mut before = vec![Vec::new(); self.next.len()];
        for (from, all) in self.next.iter().enumerate() {
            all.iter().for_each(|&to| before[to].push(from));
        }
        let mut reaches = goal.to_vec();
        let mut open: Vec<usize> = (0..goal.len()).filter(|&at| goal[at]).collect();
        while let Some(node) = open.pop() {
            for &from in &before[node] {
                if set[from] && !std::mem::replace(&mut reaches[from], true) {
                    open.push(from);
                }
            }
        }
        reaches
    }
}

/// The subformulas of a formula, each after its parts.
struct Closure<'f> {
    all: Vec<&'f LtlFormula>,
    places: HashMap<&'f LtlFormula, usize>,
    /// The indices of the temporal subformulas.
    temporal: Vec<usize>,
}

impl<'f> Closure<'f> {
    fn of(formula: &'f LtlFormula) -> Closure<'f> {
        let (all, places, temporal) = (Vec::new(), HashMap::new(), Vec::new());
        let mut closure = Closure { all, places, temporal };
        closure.add(formula);
        closure
    }

    fn add(&mut self, formula: &'f LtlFormula) {
        if self.places.contains_key(formula) {
            return;
        }
        let is_temporal = match formula {
            LtlFormula::Constant(_) | LtlFormula::Proposition(_) => false,
            LtlFormula::Not(it) => {
                self.add(it);
                false
            }
            LtlFormula::Next(it) | LtlFormula::Eventually(it) | LtlFormula::Always(it) => {
                self.add(it);
                true
            }
            LtlFormula::Binary(operator, left, right) => {
                self.add(left);
                self.add(right);
                operator.is_temporal()
            }
        };
        let place = self.all.len();
        if is_temporal {
            self.temporal.push(place);
        }
        self.places.insert(formula, place);
        self.all.push(formula);
    }

    /// The values of the subformulas, for the propositions of a state and guesses of the temporal subformulas from the
    /// next state on.
    fn values(&self, label: u64, later: usize) -> Vec<bool> {
        let mut values: Vec<bool> = Vec::new();
        for (place, formula) in self.all.iter().enumerate() {
            let guess = self.temporal.iter().position(|it| *it == place);
            let next = guess.is_some_and(|it| later >> it & 1 == 1);
            let of = |it: &LtlFormula| values[self.places[it]];
            let value = match formula {
                LtlFormula::Constant(value) => *value,
                LtlFormula::Proposition(number) => label >> number & 1 == 1,
                LtlFormula::Not(it) => !of(it),
                LtlFormula::Next(_) => next,
                LtlFormula::Eventually(it) => of(it) || next,
                LtlFormula::Always(it) => of(it) && next,
                LtlFormula::Binary(operator, left, right) => {
                    let (left, right) = (of(left), of(right));
                    match operator {
                        LtlConnective::And => left && right,
                        LtlConnective::Or => left || right,
                        LtlConnective::Implies => !left || right,
                        LtlConnective::Equivalent => left == right,
                        LtlConnective::Differ => left != right,
                        LtlConnective::Until | LtlConnective::WeakUntil => right || left && next,
                        LtlConnective::Release | LtlConnective::StrongRelease => {
                            right && (left || next)
                        }
                    }
                }
            };
            values.push(value);
        }
        values
    }

    /// The values of the temporal subformulas for the next state, as bits, if these are its values.
    fn later(&self, values: &[bool]) -> usize {
        let next_value = |place: usize| match self.all[place] {
            LtlFormula::Next(it) => values[self.places[&**it]],
            _ => values[place],
        };
        let bits = self.temporal.iter().enumerate();
        bits.fold(0, |bits, (at, &place)| bits | usize::from(next_value(place)) << at)
    }

    /// Whether a subformula has no open eventuality here. A run fulfils its eventualities if this holds infinitely
    /// often.
    fn is_fulfilled(&self, place: usize, values: &[bool]) -> bool {
        let of = |it: &LtlFormula| values[self.places[it]];
        let value = values[place];
        match self.all[place] {
            LtlFormula::Eventually(it) => !value || of(it),
            LtlFormula::Always(it) => value || !of(it),
            LtlFormula::Binary(LtlConnective::Until, _, right) => !value || of(right),
            LtlFormula::Binary(LtlConnective::StrongRelease, left, right) => {
                !value || of(left) && of(right)
            }
            LtlFormula::Binary(LtlConnective::Release, _, right) => value || !of(right),
            LtlFormula::Binary(LtlConnective::WeakUntil, left, right) => {
                value || !of(left) && !of(right)
            }
            _ => true,
        }
    }
}

/// Whether some run of the structure satisfies the formula, by the tableau.
fn is_satisfied(formula: &LtlFormula, kripke: &Kripke) -> bool {
    let closure = Closure::of(formula);
    let guesses = 1usize << closure.temporal.len();
    let count = kripke.labels.len() * guesses;
    let values: Vec<Vec<bool>> = (0..count)
        .map(|node| closure.values(kripke.labels[node / guesses], node % guesses))
        .collect();
    let next_values: Vec<usize> = values.iter().map(|it| closure.later(it)).collect();
    let next = (0..count).map(|node| {
        let to = kripke.next[node / guesses].iter();
        let to = to.flat_map(|state| state * guesses..(state + 1) * guesses);
        to.filter(|&to| next_values[to] == node % guesses).collect()
    });
    let root = closure.places[formula];
    let fair = |place: &usize| values.iter().map(|it| closure.is_fulfilled(*place, it)).collect();
    let graph = FairGraph {
        initial: (0..guesses).filter(|&node| values[node][root]).collect(),
        next: next.collect(),
        fair: closure.temporal.iter().map(fair).collect(),
    };
    graph.has_run()
}

/// Whether the automaton accepts some run of the structure.
fn is_accepted(automaton: &Automaton, kripke: &Kripke) -> bool {
    if automaton.is_empty() {
        return false;
    }
    let width = automaton.states.len();
    let count = kripke.labels.len() * width;
    let next = (0..count).map(|node| {
        let (state, at) = (node / width, &automaton.states[node % width]);
        let edges = at.edges.iter().filter(|it| it.cube.accepts(kripke.labels[state]));
        edges.flat_map(|it| kripke.next[state].iter().map(|to| to * width + it.to)).collect()
    });
    let next = next.collect();
    let accepts = (0..count).map(|node| automaton.states[node % width].accepts).collect();
    FairGraph { initial: vec![0], next, fair: vec![accepts] }.has_run()
}

/// Compares both methods for a formula and its negation. Returns both results, or `None` for too large a formula.
fn compare(
    formula: &LtlFormula,
    propositions: usize,
    rng: &mut FormulaRng,
) -> Option<(bool, bool)> {
    if Closure::of(formula).temporal.len() > TEMPORAL_MAX {
        return None;
    }
    let names: Vec<String> = (0..propositions).map(|at| format!("p{at}")).collect();
    let kripke = Kripke::random(rng, propositions);
    let mut found = [false; 2];
    for (found, formula) in found.iter_mut().zip([formula.clone(), formula.clone().negated()]) {
        let automaton = translate(&formula, names.clone()).expect("a formula of few operators");
        *found = is_satisfied(&formula, &kripke);
        let shown = formula.with_names(&names);
        assert_eq!(
            is_accepted(&automaton, &kripke),
            *found,
            "{shown} on {:?}, {:?}",
            kripke.labels,
            kripke.next
        );
    }
    // Each run satisfies one of the two.
    assert!(found[0] || found[1]);
    Some((found[0], found[1]))
}

#[test]
fn automata_and_tableaux_agree_on_random_structures() {
    let (mut rng, mut kinds) = (FormulaRng(6), HashMap::new());
    for round in 0..1500 {
        let propositions = 1 + round % 3;
        let formula = random(&mut rng, 1 + round % 9, propositions);
        *kinds.entry(compare(&formula, propositions, &mut rng)).or_insert(0) += 1;
    }
    for text in families::PATTERNS.into_iter().chain(families::ETESSAMI_HOLZMANN) {
        let (formula, propositions) = super::automata::read(text);
        compare(&formula, propositions.len(), &mut rng);
    }
    for kind in [Some((true, false)), Some((false, true)), Some((true, true))] {
        assert!(kinds.get(&kind) >= Some(&100), "{kinds:?}");
    }
}

/// The same for the formulas in the folder that `SPILLWAY_FORMULAS` names, each on ten structures.
#[test]
fn automata_and_tableaux_agree_on_formulas_of_a_folder() {
    let mut rng = FormulaRng(7);
    let (mut all, mut compared) = (0, 0);
    for (formula, propositions) in formulas_of_folder() {
        all += 1;
        let results = (0..10).map(|_| compare(&formula, propositions, &mut rng));
        compared += usize::from(results.flatten().count() > 0);
    }
    println!("{compared} of {all} formulas");
}
