//! Acceptance conditions of automata in the Hanoi format. Random automata with random conditions accept exactly the
//! words that satisfy the definition.

use super::formulas::FormulaRng;
use super::lasso_words::Lasso;
use spillway::ltl::{degeneralize, hoa};

const SETS: usize = 3;

/// An acceptance condition.
enum Condition {
    Constant(bool),
    /// A set; whether its complement is meant; whether it is met infinitely often.
    Atom(usize, bool, bool),
    Both(Box<[Condition; 2]>),
    Either(Box<[Condition; 2]>),
}

impl Condition {
    fn random(rng: &mut FormulaRng, operators: usize) -> Condition {
        if operators == 0 {
            return match rng.below(20) {
                0 => Condition::Constant(rng.below(2) == 0),
                _ => Condition::Atom(rng.below(SETS), rng.below(4) == 0, rng.below(2) == 0),
            };
        }
        let left = rng.below(operators);
        let sides =
            Box::new([Condition::random(rng, left), Condition::random(rng, operators - 1 - left)]);
        if rng.below(2) == 0 { Condition::Both(sides) } else { Condition::Either(sides) }
    }

    fn text(&self) -> String {
        match self {
            Condition::Constant(value) => if *value { "t" } else { "f" }.to_owned(),
            Condition::Atom(set, is_complement, is_infinite) => {
                let name = if *is_infinite { "Inf" } else { "Fin" };
                format!("{name}({}{set})", if *is_complement { "!" } else { "" })
            }
            Condition::Both(sides) => format!("({}) & ({})", sides[0].text(), sides[1].text()),
            Condition::Either(sides) => format!("({} | {})", sides[0].text(), sides[1].text()),
        }
    }

    /// Whether the condition holds if these kinds of edges are taken infinitely often. Bit `set` is an edge in the set,
    /// bit `SETS + set` an edge outside it.
    fn is_satisfied(&self, kinds: u64) -> bool {
        match self {
            Condition::Constant(value) => *value,
            Condition::Atom(set, is_complement, is_infinite) => {
                let kind = set + if *is_complement { SETS } else { 0 };
                (kinds >> kind & 1 == 1) == *is_infinite
            }
            Condition::Both(sides) => sides.iter().all(|it| it.is_satisfied(kinds)),
            Condition::Either(sides) => sides.iter().any(|it| it.is_satisfied(kinds)),
        }
    }
}

/// An edge: the letters it reads, as bits; its target; its sets.
#[derive(Clone, Copy)]
struct Edge {
    letters: u64,
    to: usize,
    marks: u64,
}

struct Automaton {
    edges: Vec<Vec<Edge>>,
    condition: Condition,
}

impl Automaton {
    /// A random automaton over one proposition: the letters are 0 and 1.
    fn random(rng: &mut FormulaRng) -> Automaton {
        let states = 1 + rng.below(4);
        let edge = |rng: &mut FormulaRng| Edge {
            letters: 1 + rng.below(3) as u64,
            to: rng.below(states),
            marks: rng.below(1 << SETS) as u64,
        };
        let edges =
            (0..states).map(|_| (0..1 + rng.below(3)).map(|_| edge(rng)).collect()).collect();
        let operators = rng.below(6);
        Automaton { edges, condition: Condition::random(rng, operators) }
    }

    /// The text in the Hanoi format, with or without the number of states.
    fn text(&self, has_states: bool) -> String {
        let states =
            if has_states { format!("States: {}", self.edges.len()) } else { String::new() };
        let mut text = format!(
            "HOA: v1 /* a /* nested */ comment */ {states} Start: 0 AP: 1 \"a\" Acceptance: {SETS} {} --BODY--\n",
            self.condition.text()
        );
        for (at, edges) in self.edges.iter().enumerate() {
            text += &format!("State: {at}\n");
            for Edge { letters, to, marks } in edges {
                let label = ["!0", "0", "t"][*letters as usize - 1];
                let marks: Vec<String> = (0..SETS)
                    .filter(|set| marks >> set & 1 == 1)
                    .map(|set| set.to_string())
                    .collect();
                text += &format!("[{label}] {to} {{{}}}\n", marks.join(" "));
            }
        }
        text + "--END--"
    }

    /// Whether a run over a word is accepted, by the definition. The edges taken infinitely often are those of a
    /// strongly connected part of the product. The function tries the parts without each subset of the kinds of edges.
    fn accepts(&self, word: &Lasso) -> bool {
        let length = word.letters.len();
        let next = |at: usize| if at + 1 == length { word.back } else { at + 1 };
        let successors = |node: usize| {
            let (state, at) = (node / length, node % length);
            let reads = move |it: &&Edge| it.letters >> (word.letters[at] & 1) & 1 == 1;
            let edges = self.edges[state].iter().filter(reads);
            edges.map(move |it| (it.to * length + next(at), kinds(it))).collect::<Vec<_>>()
        };
        let reach = |from: usize, without: u64| {
            let mut seen = vec![false; self.edges.len() * length];
            let mut open = vec![from];
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    let kept = successors(node).into_iter().filter(|it| it.1 & without == 0);
                    open.extend(kept.map(|it| it.0));
                }
            }
            seen
        };
        let reached = reach(0, 0);
        (0..1u64 << (2 * SETS)).any(|without| {
            let all: Vec<Vec<bool>> = (0..reached.len()).map(|at| reach(at, without)).collect();
            (0..reached.len()).filter(|&node| reached[node]).any(|node| {
                let inside = |at: usize| all[node][at] && all[at][node];
                let taken = (0..reached.len()).filter(|&at| inside(at)).flat_map(&successors);
                let taken: Vec<(usize, u64)> =
                    taken.filter(|it| it.1 & without == 0 && inside(it.0)).collect();
                let met = taken.iter().fold(0, |all, it| all | it.1);
                !taken.is_empty() && self.condition.is_satisfied(met)
            })
        })
    }
}

/// The kinds of an edge, as bits.
fn kinds(edge: &Edge) -> u64 {
    edge.marks | (!edge.marks & ((1 << SETS) - 1)) << SETS
}

#[test]
fn acceptance_conditions_of_hanoi_automata_keep_their_meaning() {
    let mut rng = FormulaRng(7);
    let words: Vec<Lasso> = (1..=4).flat_map(|length| Lasso::all(length, 1)).collect();
    let mut accepted = 0;
    for round in 0..300 {
        let automaton = Automaton::random(&mut rng);
        let text = automaton.text(round % 3 > 0);
        let read = hoa::read(&text, 0);
        let read = read.unwrap_or_else(|error| panic!("{}: {text}", error.message));
        let own = degeneralize(read.automaton.as_ref(), vec!["a".into()]);
        for word in &words {
            let expected = automaton.accepts(word);
            assert_eq!(word.is_accepted_by(&own), expected, "{word:?}: {text}");
            accepted += usize::from(expected);
        }
    }
    assert!(accepted > 1000 && accepted < 300 * words.len() - 1000, "{accepted}");
}

/// Named conditions, each with an equivalent formula over a single proposition.
#[test]
fn named_acceptance_conditions_are_read() {
    let named = [
        ("Buchi", "1 Inf(0)", "[]<>a"),
        ("co-Buchi", "1 Fin(0)", "<>[] !a"),
        ("Rabin 1", "2 Fin(0) & Inf(1)", "<>[] !a"),
        ("Streett 1", "2 Fin(0) | Inf(1)", "[]<>!a"),
        ("generalized-Buchi 2", "2 Inf(0)&Inf(1)", "[]<>a && []<>!a"),
        ("parity min even 2", "2 Inf(0) | Fin(1)", "[]<>a"),
        ("parity max odd 2", "2 Inf(1)", "[]<>!a"),
        ("none", "0 f", "false"),
    ];
    for (name, condition, says) in named {
        let marks = if condition.starts_with('2') { ["{0}", "{1}"] } else { ["{0}", ""] };
        let marks = if condition.starts_with('0') { ["", ""] } else { marks };
        let text = format!(
            "HOA: v1.1 Start: 0 AP: 1 \"a\" acc-name: {name} Acceptance: {condition} properties: !deterministic
             --BODY-- State: 0 [0] 0 {} [!0] 0 {} --END--",
            marks[0], marks[1]
        );
        let read = hoa::read(&text, 0).unwrap_or_else(|error| panic!("{}: {text}", error.message));
        let own = degeneralize(read.automaton.as_ref(), vec!["a".into()]);
        let formula = super::automata::read(says).0;
        for word in (1..=4).flat_map(|length| Lasso::all(length, 1)) {
            assert_eq!(word.is_accepted_by(&own), word.satisfies(&formula), "{name}, {word:?}");
        }
    }
}

/// A long chain of equivalent states is read and reduced in nearly linear time.
#[test]
fn a_chain_of_equivalent_states_is_reduced_to_one_state() {
    const STATES: usize = 20_000;
    let mut text =
        format!("HOA: v1 States: {STATES} Start: 0 AP: 1 \"a\" Acceptance: 1 Inf(0) --BODY--\n");
    for at in 0..STATES {
        let to = (at + 1).min(STATES - 1);
        text += &format!("State: {at} [t] {to} {{0}}\n");
    }
    let read = hoa::read(&(text + "--END--"), 0).unwrap();
    let own = degeneralize(read.automaton.as_ref(), vec!["a".into()]);
    assert!(own.states.len() == 1, "{} states", own.states.len());
}
