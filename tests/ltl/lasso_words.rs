//! Lasso words: the value of a formula on a word, and acceptance of a word by an automaton, by the definitions.

use spillway::ltl::{Automaton, LtlConnective, LtlFormula};

/// The letters of a word; the letter at `back` follows the last one. The bits of a letter are the propositions that
/// hold.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub letters: Vec<u64>,
    pub back: usize,
}

impl Lasso {
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.letters.len() { self.back } else { at + 1 }
    }

    /// All words of this length over this number of propositions.
    pub fn all(length: usize, propositions: usize) -> Vec<Lasso> {
        let count = 1u64 << (propositions * length);
        let letter = |code: u64, at: usize| code >> (at * propositions) & ((1 << propositions) - 1);
        (0..count)
            .flat_map(|code| {
                let letters: Vec<u64> = (0..length).map(|at| letter(code, at)).collect();
                (0..length).map(move |back| Lasso { letters: letters.clone(), back })
            })
            .collect()
    }

    /// Whether the word satisfies the formula.
    pub fn satisfies(&self, formula: &LtlFormula) -> bool {
        self.values(formula)[0]
    }

    /// The values of the formula at the positions of the word.
    fn values(&self, formula: &LtlFormula) -> Vec<bool> {
        let positions = 0..self.letters.len();
        match formula {
            LtlFormula::Constant(value) => vec![*value; self.letters.len()],
            LtlFormula::Proposition(number) => {
                self.letters.iter().map(|letter| letter >> number & 1 == 1).collect()
            }
            LtlFormula::Not(it) => self.values(it).into_iter().map(|value| !value).collect(),
            LtlFormula::Next(it) => {
                let values = self.values(it);
                positions.map(|at| values[self.next(at)]).collect()
            }
            LtlFormula::Eventually(it) => {
                let values = self.values(it);
                positions.map(|at| self.from(at).any(|at| values[at])).collect()
            }
            LtlFormula::Always(it) => {
                let values = self.values(it);
                positions.map(|at| self.from(at).all(|at| values[at])).collect()
            }
            LtlFormula::Binary(operator, left, right) => {
                let (left, right) = (self.values(left), self.values(right));
                positions.map(|at| self.binary(*operator, at, &left, &right)).collect()
            }
        }
    }

    /// The positions from one on, each at least once, in order.
    fn from(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |&at| Some(self.next(at))).take(self.letters.len())
    }

    fn binary(&self, operator: LtlConnective, at: usize, left: &[bool], right: &[bool]) -> bool {
        let until = |left: &[bool], right: &[bool]| {
            let end = self.from(at).position(|at| right[at]);
            end.is_some_and(|end| self.from(at).take(end).all(|at| left[at]))
        };
        match operator {
            LtlConnective::And => left[at] && right[at],
            LtlConnective::Or => left[at] || right[at],
            LtlConnective::Implies => !left[at] || right[at],
            LtlConnective::Equivalent => left[at] == right[at],
            LtlConnective::Differ => left[at] != right[at],
            LtlConnective::Until => until(left, right),
            LtlConnective::WeakUntil => until(left, right) || self.from(at).all(|at| left[at]),
            LtlConnective::Release => {
                let not = |values: &[bool]| values.iter().map(|it| !it).collect::<Vec<bool>>();
                !until(&not(left), &not(right))
            }
            LtlConnective::StrongRelease => {
                let both: Vec<bool> =
                    left.iter().zip(right).map(|(one, other)| *one && *other).collect();
                until(right, &both)
            }
        }
    }

    /// Whether an automaton accepts the word: whether some accepting state reaches itself at the same position.
    pub fn is_accepted_by(&self, automaton: &Automaton) -> bool {
        let length = self.letters.len();
        let next = |node: usize| {
            let (state, at) = (node / length, node % length);
            let edges = automaton.states[state].edges.iter();
            let taken = edges.filter(move |it| it.cube.accepts(self.letters[at]));
            taken.map(move |it| it.to * length + self.next(at)).collect::<Vec<usize>>()
        };
        let reach = |from: Vec<usize>| {
            let mut seen = vec![false; automaton.states.len() * length];
            let mut open = from;
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(next(node));
                }
            }
            seen
        };
        if automaton.is_empty() {
            return false;
        }
        let reached = reach(vec![0]);
        let accepting = (0..reached.len()).filter(|&node| reached[node]);
        accepting
            .filter(|node| automaton.states[node / length].accepts)
            .any(|node| reach(next(node))[node])
    }
}
