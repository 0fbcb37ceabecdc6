//! A system whose states are pairs of words, and whose encoding numbers words when a search reaches them.

use spillway_base::random::scramble;
use spillway_base::source::Span;
use spillway_model::{
    Capabilities, GrowingStateSpace, ModelError, ProgramDescription, PropertyInfo, Result,
    StateSpace, StateValue, StepDescription, StepOutcome, SuccessorSink, SystemDescription,
    UnencodedStates, Violation,
};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::RwLock;

/// A graph whose nodes are pairs of words. A state is the numbers of both words, two bytes each.
pub struct Words {
    pub nodes: u64,
    /// The number of second words. If there are fewer, there are more first words.
    pub second: u64,
    pub degree: u64,
    /// The greatest distance of a successor.
    pub spread: u64,
    /// One in this number of nodes violates the property; 0 for none.
    pub broken: u64,
    /// The nodes by their words.
    nodes_by_words: HashMap<[u32; 2], u64>,
    encoding: RwLock<WordNumbers>,
}

/// The numbers of words.
#[derive(Default)]
struct WordNumbers {
    words: Vec<u32>,
    numbers: HashMap<u32, u16>,
    grows_at_once: bool,
}

impl WordNumbers {
    fn add(&mut self, word: u32) {
        if !self.numbers.contains_key(&word) {
            self.numbers.insert(word, self.words.len() as u16);
            self.words.push(word);
        }
    }

    fn key(&self, words: [u32; 2]) -> Option<[u8; 4]> {
        let [Some(one), Some(two)] = words.map(|it| self.numbers.get(&it)) else { return None };
        let [[a, b], [c, d]] = [one.to_be_bytes(), two.to_be_bytes()];
        Some([a, b, c, d])
    }

    fn words_of(&self, key: &[u8]) -> [u32; 2] {
        [0, 2].map(|at| self.words[usize::from(u16::from_be_bytes([key[at], key[at + 1]]))])
    }
}

/// Returns the words of a node. Their order is unrelated to the order in which a search reaches them.
fn words(node: u64, second: u64) -> [u32; 2] {
    [node / second, u64::from(u32::MAX) + node % second].map(|it| scramble(it) as u32)
}

/// An unencoded state: words in decimal, so that states have different lengths.
fn unencoded([one, two]: [u32; 2]) -> String {
    format!("{one}:{two}")
}

fn parse(state: &[u8]) -> Result<[u32; 2]> {
    let text = std::str::from_utf8(state).map_err(ModelError::failed)?;
    let (one, two) = text.split_once(':').ok_or_else(|| ModelError::failed("no colon"))?;
    let parse = |it: &str| it.parse().map_err(ModelError::failed);
    Ok([parse(one)?, parse(two)?])
}

/// Returns the journal entry of a word, in which damage is detected.
fn journal_entry(number: usize, word: u32) -> [u8; 8] {
    let checksum = scramble(u64::from(word) << 32 | number as u64) as u32;
    let [a, b, c, d] = word.to_be_bytes();
    let [e, f, g, h] = checksum.to_be_bytes();
    [a, b, c, d, e, f, g, h]
}

impl Words {
    pub fn new(nodes: u64, degree: u64, spread: u64, broken: u64) -> Words {
        Words::with_second(23, [nodes, degree, spread, broken])
    }

    /// Does the same with a number of second words.
    pub fn with_second(second: u64, [nodes, degree, spread, broken]: [u64; 4]) -> Words {
        let nodes_by_words = (0..nodes).map(|it| (words(it, second), it)).collect();
        let encoding = RwLock::default();
        Words { nodes, second, degree, spread, broken, nodes_by_words, encoding }
    }

    fn node(&self, key: &[u8]) -> u64 {
        self.nodes_by_words[&self.encoding.read().unwrap().words_of(key)]
    }

    fn successors(&self, node: u64) -> impl Iterator<Item = u64> {
        let (nodes, spread) = (self.nodes, self.spread);
        let count = scramble(node) % (self.degree + 1);
        (0..count).map(move |edge| {
            let step = scramble(node.wrapping_mul(1 << 20) + edge) % spread;
            (node + step) % nodes
        })
    }

    fn is_broken(&self, node: u64) -> bool {
        self.broken > 0 && scramble(node + 77).is_multiple_of(self.broken)
    }

    fn add(&self, node: u64, out: &mut SuccessorSink) {
        let words = words(node, self.second);
        let encoding = self.encoding.read().unwrap();
        match encoding.key(words) {
            Some(key) => out.candidate(&key),
            None if encoding.grows_at_once => {
                drop(encoding);
                let mut encoding = self.encoding.write().unwrap();
                words.into_iter().for_each(|it| encoding.add(it));
                out.candidate(&encoding.key(words).unwrap());
            }
            None => out.set_aside(unencoded(words).as_bytes()),
        }
    }

    /// Returns the words in the order of their numbers.
    pub fn numbered_words(&self) -> Vec<u32> {
        self.encoding.read().unwrap().words.clone()
    }
}

impl GrowingStateSpace for Words {
    fn restore(&self, journal: &[u8]) -> Result<()> {
        let mut encoding = WordNumbers::default();
        for (number, entry) in journal.chunks(8).enumerate() {
            let word = entry.first_chunk().map(|it| u32::from_be_bytes(*it));
            let word = word.filter(|it| journal_entry(number, *it) == entry);
            encoding.add(word.ok_or_else(|| ModelError::failed("the journal is damaged"))?);
        }
        *self.encoding.write().unwrap() = encoding;
        Ok(())
    }

    fn grow_at_once(&self) {
        self.encoding.write().unwrap().grows_at_once = true;
    }

    fn grow(&self, states: &dyn UnencodedStates) -> Result<Vec<u8>> {
        let mut encoding = self.encoding.write().unwrap();
        let mut new = BTreeSet::new();
        states.visit(&mut |it| {
            new.extend(parse(it)?.into_iter().filter(|it| !encoding.numbers.contains_key(it)));
            Ok(())
        })?;
        let mut journal = Vec::new();
        for word in new {
            journal.extend(journal_entry(encoding.words.len(), word));
            encoding.add(word);
        }
        Ok(journal)
    }

    fn encode(&self, unencoded: &[u8], state: &mut [u8]) -> Result<()> {
        let key = self.encoding.read().unwrap().key(parse(unencoded)?);
        state.copy_from_slice(&key.ok_or_else(|| ModelError::failed("a word has no number"))?);
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.encoding.read().unwrap().words.len() as u64 * 16
    }
}

impl StateSpace for Words {
    fn width(&self) -> usize {
        4
    }

    fn bits(&self) -> u32 {
        32
    }

    fn initial(&self, out: &mut SuccessorSink) {
        (0..3).for_each(|node| self.add(node, out));
        // These are generated, but they are no states of the model.
        out.count_excluded(5);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(4) {
            let node = self.node(state);
            if self.is_broken(node) {
                out.record_finding(Violation::Property(0), state);
            }
            self.successors(node).for_each(|it| self.add(it, out));
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        spillway_model::any_bits(4)
    }

    fn digest(&self) -> [u8; 32] {
        [7; 32]
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { growing: Some(self), ..Capabilities::NONE }
    }
}

fn step(action: u32, successor: Vec<u8>) -> StepDescription {
    StepDescription::unplaced(action, format!("edge {action}"), StepOutcome::Successor(successor))
}

impl SystemDescription for Words {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let mut successors = Vec::new();
        let expand = |out: &mut SuccessorSink| self.expand(state, out);
        let _ = SuccessorSink::collect(4, &mut successors, expand).expect("encoded successors");
        (0..).zip(successors.chunks_exact(4)).map(|(at, it)| step(at, it.to_vec())).collect()
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let mut starts = Vec::new();
        let initial = |out: &mut SuccessorSink| self.initial(out);
        let _ = SuccessorSink::collect(4, &mut starts, initial).expect("encoded initial states");
        let _ = starts.chunks_exact(4).try_for_each(|it| visit(step(0, it.to_vec())));
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let name = "not broken".to_string();
        vec![PropertyInfo { kind: "invariant", name, span: Span::default() }]
    }

    fn action_name(&self, action: u32) -> String {
        format!("edge {action}")
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let is_broken = self.is_broken(self.node(state));
        is_broken.then_some(Violation::Property(0)).into_iter().collect()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        vec![("node".into(), (self.node(state) as i64).into())]
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}
