//! Stutter invariance of a claim that is checked on infinite runs.
//!
//! The claim is then a Büchi automaton `A` over [letters](super::letters). Its language is closed under stuttering if and
//! only if `A` accepts every word of two other automata (Michaud and Duret-Lutz, "Practical stutter-invariance checks
//! for omega-regular languages", 2015): `sl(A)` accepts the words of `A` with letters repeated, `cl(A)` the words with
//! repetitions removed.
//!
//! Inclusion of languages is decided by Ramsey's argument, as Abdulla and others use it ("Advanced Ramsey-based Büchi
//! automata inclusion testing", 2011), without complementing `A`. For a finite word, a [`WordGraph`] says between which
//! locations `A` can read it, and whether it passes an accepting location. A word `u v v v ...` is accepted by `A` if
//! and only if, in the graph of `v`, a location that `A` reaches by `u` leads to a cycle with an accepting edge. There
//! are finitely many graphs. So all pairs of `u` and `v` are examined for which the other automaton accepts.

use super::NeverClaim;
use super::letters::ClaimLetter;
use crate::NotApplied;
use spillway_analysis::access::AccessTable;
use spillway_exec::interp::claim_paths_under;
use spillway_ir::{Entity as _, LocationId};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most locations: a set of them is a byte.
const LOCATIONS_MAX: usize = 8;

/// The most letters with different moves.
const LETTERS_MAX: usize = 64;

/// The most words that are distinguished.
const WORDS_MAX: usize = 50_000;

/// The locations of `A` between which a word can be read. Row `q` is byte `q`. Its bit `t` is set if there is a
/// way from `q` to `t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct WordGraph {
    ways: u64,
    /// The ways that pass an accepting location behind their start.
    accepting: u64,
}

/// An edge of an automaton that reads a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ReadingEdge {
    from: usize,
    to: usize,
    /// Whether a run that takes it infinitely often is accepted.
    is_accepting: bool,
}

/// A Büchi automaton: the edges of each letter.
struct RunAutomaton {
    start: usize,
    edges: Vec<Vec<ReadingEdge>>,
}

/// A word that the other automaton reads between two of its states, and the graph of the word in `A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ReadWord {
    way: ReadingEdge,
    graph: WordGraph,
}

impl ReadWord {
    /// Returns the word followed by a letter that the other automaton reads along `edge`, with this graph.
    fn then(self, edge: ReadingEdge, graph: WordGraph) -> ReadWord {
        let is_accepting = self.way.is_accepting || edge.is_accepting;
        let way = ReadingEdge { from: self.way.from, to: edge.to, is_accepting };
        ReadWord { way, graph: self.graph.then(graph) }
    }
}

impl NeverClaim<'_> {
    /// Checks that the language of infinite words that the claim accepts is closed under stuttering. The table is that
    /// of the claim's program. Returns the reason if it is not, or if that is unknown.
    pub(super) fn check_runs_stutter_closed(&self, table: &AccessTable) -> Result<(), NotApplied> {
        self.judges_states(table)?;
        let letters = ClaimLetter::all(table, self.claim).ok_or(NotApplied::AutomatonTooLarge)?;
        if self.claim.locations.len() > LOCATIONS_MAX {
            return Err(NotApplied::AutomatonTooLarge);
        }
        // Letters with the same edges are one letter.
        let mut distinct: BTreeSet<Vec<ReadingEdge>> = BTreeSet::new();
        for letter in &letters {
            distinct.insert(self.edges(letter).ok_or(NotApplied::CountsRepeatedStates)?);
        }
        if distinct.len() > LETTERS_MAX {
            return Err(NotApplied::AutomatonTooLarge);
        }
        let edges = distinct.into_iter().collect();
        let automaton = RunAutomaton { start: self.claim.start.index(), edges };
        for other in [automaton.with_repetitions(), automaton.without_repetitions()] {
            match automaton.accepts_all_of(&other) {
                Some(true) => {}
                Some(false) => return Err(NotApplied::CountsRepeatedStates),
                None => return Err(NotApplied::AutomatonTooLarge),
            }
        }
        Ok(())
    }

    /// Returns the edges of the claim that read a letter. `None` if it can end or fail there.
    fn edges(&self, letter: &ClaimLetter) -> Option<Vec<ReadingEdge>> {
        let mut edges = BTreeSet::new();
        for from in self.claim.locations.keys() {
            let paths = claim_paths_under(self.moves(), from, letter);
            let ends = |at: LocationId| self.claim.is_end(at);
            if !paths.ends.is_empty() || !paths.faults.is_empty() || ends(from) {
                return None;
            }
            edges.extend(paths.all.iter().map(|way| ReadingEdge {
                from: from.index(),
                to: way.to.index(),
                is_accepting: self.claim.locations[way.to].accepting,
            }));
        }
        Some(edges.into_iter().collect())
    }
}

impl RunAutomaton {
    /// Returns `sl(A)`: it may read each letter several times where `A` reads it once.
    fn with_repetitions(&self) -> RunAutomaton {
        let repeating = |letter: usize, to: usize| (letter + 1) * LOCATIONS_MAX + to;
        let edges = self.edges.iter().enumerate().map(|(letter, own)| {
            let more = own.iter().flat_map(|&edge| {
                let waits = repeating(letter, edge.to);
                let idle = |from, to| ReadingEdge { from, to, is_accepting: false };
                let begins = ReadingEdge { to: waits, ..edge };
                [edge, begins, idle(waits, waits), idle(waits, edge.to)]
            });
            more.collect::<BTreeSet<_>>().into_iter().collect()
        });
        RunAutomaton { start: self.start, edges: edges.collect() }
    }

    /// Returns `cl(A)`: it may read a letter once where `A` reads it several times.
    fn without_repetitions(&self) -> RunAutomaton {
        let edges = self.edges.iter().map(|own| WordGraph::of(own).repeated().edges());
        RunAutomaton { start: self.start, edges: edges.collect() }
    }

    /// Returns whether this automaton accepts every word of another one, or `None` if there are too many words.
    fn accepts_all_of(&self, other: &RunAutomaton) -> Option<bool> {
        let graphs: Vec<WordGraph> = self.edges.iter().map(|it| WordGraph::of(it)).collect();
        // For each state of the other automaton: the sets of own locations after the words that lead there.
        let mut stems: BTreeMap<usize, BTreeSet<u8>> = BTreeMap::new();
        let mut open = vec![(other.start, 1_u8 << self.start)];
        while let Some((at, locations)) = open.pop() {
            if !stems.entry(at).or_default().insert(locations) {
                continue;
            }
            for (edges, graph) in other.edges.iter().zip(&graphs) {
                let behind = edges.iter().filter(|it| it.from == at);
                open.extend(behind.map(|it| (it.to, graph.behind_set(locations))));
            }
        }
        let letters = other.edges.iter().zip(&graphs);
        let of_letter = |(edges, &graph): (&'_ Vec<ReadingEdge>, &WordGraph)| -> Vec<ReadWord> {
            edges.iter().map(|&way| ReadWord { way, graph }).collect()
        };
        let mut open: Vec<ReadWord> = letters.flat_map(of_letter).collect();
        let mut words: HashSet<ReadWord> = HashSet::new();
        while let Some(word) = open.pop() {
            if !words.insert(word) {
                continue;
            }
            if words.len() > WORDS_MAX {
                return None;
            }
            let ReadingEdge { from, to, is_accepting } = word.way;
            let is_loop = from == to && is_accepting;
            let stems = stems.get(&from).into_iter().flatten();
            if is_loop && !stems.into_iter().all(|&it| word.graph.accepts_from(it)) {
                return Some(false);
            }
            for (edges, &graph) in other.edges.iter().zip(&graphs) {
                let behind = edges.iter().filter(|it| it.from == to);
                open.extend(behind.map(|&edge| word.then(edge, graph)));
            }
        }
        Some(true)
    }
}

impl WordGraph {
    /// Returns the graph of a letter.
    fn of(edges: &[ReadingEdge]) -> WordGraph {
        edges.iter().fold(WordGraph::default(), |all, edge| {
            let bit = 1 << (edge.from * LOCATIONS_MAX + edge.to);
            WordGraph {
                ways: all.ways | bit,
                accepting: all.accepting | if edge.is_accepting { bit } else { 0 },
            }
        })
    }

    /// Returns the ways as edges. A way that passes an accepting location need not be there without that, too.
    fn edges(self) -> Vec<ReadingEdge> {
        let all = (0..LOCATIONS_MAX * LOCATIONS_MAX).filter(|it| self.ways >> it & 1 == 1);
        all.map(|it| ReadingEdge {
            from: it / LOCATIONS_MAX,
            to: it % LOCATIONS_MAX,
            is_accepting: self.accepting >> it & 1 == 1,
        })
        .collect()
    }

    /// Returns the ways of both.
    fn or(self, other: WordGraph) -> WordGraph {
        WordGraph { ways: self.ways | other.ways, accepting: self.accepting | other.accepting }
    }

    /// Returns the graph of this word followed by another.
    fn then(self, other: WordGraph) -> WordGraph {
        let mut both = WordGraph::default();
        for from in 0..LOCATIONS_MAX {
            for between in (0..LOCATIONS_MAX).filter(|it| row(self.ways, from) >> it & 1 == 1) {
                let behind = u64::from(row(other.ways, between));
                let is_accepting = row(self.accepting, from) >> between & 1 == 1;
                let accepting = match is_accepting {
                    true => behind,
                    false => u64::from(row(other.accepting, between)),
                };
                both.ways |= behind << (8 * from);
                both.accepting |= accepting << (8 * from);
            }
        }
        both
    }

    /// Returns the ways of the word repeated once or more.
    fn repeated(self) -> WordGraph {
        let mut any = self;
        loop {
            let more = any.or(any.then(self));
            if more == any {
                return any;
            }
            any = more;
        }
    }

    /// Returns the locations that are reached from a set of locations.
    fn behind_set(self, locations: u8) -> u8 {
        let all = (0..LOCATIONS_MAX).filter(|it| locations >> it & 1 == 1);
        all.fold(0, |reached, from| reached | row(self.ways, from))
    }

    /// Returns whether the word, repeated for ever, is accepted from one of some locations.
    fn accepts_from(self, locations: u8) -> bool {
        let any = self.repeated();
        // The locations on a cycle with an accepting edge.
        let cycles = (0..LOCATIONS_MAX).filter(|&it| row(any.accepting, it) >> it & 1 == 1);
        let cycles = cycles.fold(0_u8, |all, it| all | 1 << it);
        (locations | any.behind_set(locations)) & cycles != 0
    }
}

/// Returns the row of a location.
fn row(rows: u64, location: usize) -> u8 {
    (rows >> (8 * location)) as u8
}
