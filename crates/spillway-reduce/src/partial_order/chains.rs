//! Chains: states that are passed through and not stored.
//!
//! Most states with postponed transitions take a single transition. If such a state violates nothing and has another
//! state as successor, it need not be stored: its successor replaces it, and so on, up to the first state that must
//! be stored. That state is the *end* of each state of the chain (Nalumasu and Gopalakrishnan, "An efficient partial
//! order reduction algorithm with an alternative proviso implementation", 2002).
//!
//! Whether a state is passed through depends on the state alone, and so does its end. Chains that meet have the same
//! end, and the set of stored states does not depend on where chains start.

use super::injected_faults::{InjectedFault, is_injected};
use super::program_chooser::{ConfigurationBuffers, ProgramChooser};
use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceSets;
use spillway_exec::{SelectiveStateSpace, split_by_ends};
use spillway_model::{ActionCounts, ExpansionOutcome, Result, SuccessorSink, stop_request};

/// One state in this many is always stored. So the search stores states of an endless chain now and then.
const STORED_EACH: u64 = 4096;

/// The number of chains that are followed in one batch.
const TOGETHER: usize = 256;

/// Follows the chains from states of one program.
#[derive(Clone, Copy)]
pub(super) struct ChainRunner<'r, 'm> {
    pub selective: &'r (dyn SelectiveStateSpace + 'm),
    pub choosers: &'r ProgramChooser<'m>,
    pub width: usize,
}

/// Buffers for following chains.
pub(super) struct ChainBuffers {
    /// Buffers for choices.
    pub rooms: ConfigurationBuffers,
    enabled: InstanceSets,
    /// Of the states with a single chosen instance: the enabled instances, and the chosen one.
    single: [InstanceSets; 2],
    /// These states, and their indices among all.
    states: Vec<u8>,
    at: Vec<usize>,
    successors: Vec<u8>,
    ends: Vec<u64>,
    /// The executions of actions on the way.
    pub taken: ActionCounts,
    running: ActiveChains,
}

/// The chains whose end is not yet known.
#[derive(Default)]
struct ActiveChains {
    chains: Vec<ChainProgress>,
    /// The current state of each.
    now: Vec<u8>,
    /// A state of each that the chain has passed through.
    marks: Vec<u8>,
    /// The successor of each current state.
    after: Vec<u8>,
    leads: Vec<bool>,
}

impl ActiveChains {
    /// Starts a chain in each state.
    fn begin(&mut self, states: &[u8], width: usize) {
        let all = 0..states.len() / width;
        self.chains.clear();
        self.chains.extend(all.map(|from| ChainProgress { from, length: 0, since: 0, most: 1 }));
        self.now.clear();
        self.now.extend_from_slice(states);
        self.marks.clone_from(&self.now);
    }
}

/// The progress of one chain. Brent's algorithm detects cycles.
#[derive(Clone, Copy)]
struct ChainProgress {
    /// The index of the state in which it starts.
    from: usize,
    /// The number of states passed through.
    length: u64,
    /// The number of those since the mark, and the number after which a new mark is set.
    since: u64,
    most: u64,
}

impl ChainBuffers {
    pub fn new(chains: ChainRunner) -> ChainBuffers {
        let sets = || chains.selective.instances().sets();
        ChainBuffers {
            rooms: chains.choosers.rooms(),
            enabled: sets(),
            single: [sets(), sets()],
            states: Vec::new(),
            at: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
            taken: ActionCounts::default(),
            running: ActiveChains::default(),
        }
    }
}

impl ChainRunner<'_, '_> {
    /// Replaces each of `states` by the end of its chain; a state that must be stored stays. Returns the number of
    /// states passed through. If the search stops early, the states are unspecified.
    pub fn advance_to_ends(self, states: &mut [u8], room: &mut ChainBuffers) -> Result<u64> {
        let mut running = std::mem::take(&mut room.running);
        let mut passed = 0;
        for states in states.chunks_mut(TOGETHER * self.width) {
            passed += self.run_together(states, &mut running, room)?;
        }
        room.running = running;
        Ok(passed)
    }

    fn run_together(
        self,
        states: &mut [u8],
        running: &mut ActiveChains,
        room: &mut ChainBuffers,
    ) -> Result<u64> {
        running.begin(states, self.width);
        let mut passed = 0;
        while !running.chains.is_empty() && !stop_request::is_requested() {
            let ActiveChains { now, after, leads, .. } = running;
            after.clear();
            leads.clear();
            self.step(now, after, leads, room)?;
            if !stop_request::is_requested() {
                passed += self.advance(states, running, room)?;
            }
        }
        Ok(passed)
    }

    /// Moves each chain one step. Replaces the start of each chain that ends by its end. Returns the number of states
    /// passed through in the chains that ended.
    fn advance(
        self,
        states: &mut [u8],
        running: &mut ActiveChains,
        room: &mut ChainBuffers,
    ) -> Result<u64> {
        let width = self.width;
        let ActiveChains { chains, now, marks, after, leads } = running;
        let (mut left, mut passed) = (0, 0);
        for at in 0..chains.len() {
            let (mut chain, here) = (chains[at], at * width..(at + 1) * width);
            let start = &mut states[chain.from * width..][..width];
            if !leads[at] {
                start.copy_from_slice(&now[here]);
                passed += chain.length;
                continue;
            }
            let next = &after[here.clone()];
            (chain.length, chain.since) = (chain.length + 1, chain.since + 1);
            if *next == marks[here.clone()] {
                let mut end = next.to_vec();
                passed += self.close(start, &mut end, room)?;
                start.copy_from_slice(&end);
                continue;
            }
            if chain.since == chain.most {
                (chain.since, chain.most) = (0, 2 * chain.most);
                marks[here.clone()].copy_from_slice(next);
            }
            now[left * width..][..width].copy_from_slice(next);
            marks.copy_within(here, left * width);
            chains[left] = chain;
            left += 1;
        }
        chains.truncate(left);
        now.truncate(left * width);
        marks.truncate(left * width);
        Ok(passed)
    }

    /// Returns the states of a chain, from its first state to its end.
    pub fn states_along(self, start: &[u8], room: &mut ChainBuffers) -> Result<Vec<Vec<u8>>> {
        let mut end = start.to_vec();
        self.advance_to_ends(&mut end, room)?;
        let mut way = vec![start.to_vec()];
        while let Some(at) = way.last().filter(|it| **it != end) {
            let (mut after, mut leads) = (Vec::new(), Vec::new());
            self.step(at, &mut after, &mut leads, room)?;
            if stop_request::is_requested() {
                break;
            }
            way.push(after);
        }
        Ok(way)
    }

    /// Finds the end of a chain that closes: makes `end`, a state on the cycle, the least state on it.
    fn close(self, start: &[u8], end: &mut [u8], room: &mut ChainBuffers) -> Result<u64> {
        let (first, mut at) = (end.to_vec(), end.to_vec());
        let (mut after, mut leads) = (Vec::new(), Vec::new());
        let mut next = |at: &mut Vec<u8>, room: &mut ChainBuffers| {
            after.clear();
            leads.clear();
            self.step(at, &mut after, &mut leads, room)?;
            at.copy_from_slice(&after);
            Result::Ok(())
        };
        next(&mut at, room)?;
        while at != first && !stop_request::is_requested() {
            if *at < *end {
                end.copy_from_slice(&at);
            }
            next(&mut at, room)?;
        }
        let mut passed = 0;
        at.copy_from_slice(start);
        while *at != *end && !stop_request::is_requested() {
            next(&mut at, room)?;
            passed += 1;
        }
        Ok(passed)
    }

    /// Adds to `after` the successor of each of `states` that is passed through, or the state itself, and to `leads`
    /// whether it is passed through.
    pub fn step(
        self,
        states: &[u8],
        after: &mut Vec<u8>,
        leads: &mut Vec<bool>,
        room: &mut ChainBuffers,
    ) -> Result<()> {
        let (width, first) = (self.width, leads.len());
        let count = states.len() / width;
        self.choose(states, room)?;
        after.extend_from_slice(states);
        leads.resize(first + count, false);
        let ChainBuffers {
            single: [enabled, chosen],
            states: single,
            at,
            successors,
            ends,
            taken,
            ..
        } = room;
        if at.is_empty() {
            return Ok(());
        }
        successors.clear();
        let run = |out: &mut SuccessorSink| {
            self.selective.check_states(single, enabled, out);
            self.selective.expand_chosen_with_ends(single, chosen, ends, out);
        };
        let ExpansionOutcome { findings, counters, action_counts: more } =
            SuccessorSink::collect(width, successors, run)?;
        if stop_request::is_requested() {
            return Ok(());
        }
        if !findings.is_empty() || counters.excluded > 0 {
            // The failing state is unknown.
            let (one, other) = states.split_at(count / 2 * width);
            after.truncate(first * width);
            leads.truncate(first);
            if one.is_empty() {
                after.extend_from_slice(states);
                leads.push(false);
                return Ok(());
            }
            self.step(one, after, leads, room)?;
            return self.step(other, after, leads, room);
        }
        taken.merge(more);
        for (&at, successor) in at.iter().zip(split_by_ends(successors, ends)) {
            let after = &mut after[(first + at) * width..][..width];
            if successor.len() == width && *successor != *after {
                after.copy_from_slice(successor);
                leads[first + at] = true;
            }
        }
        Ok(())
    }

    /// Finds those of `states` with a single chosen instance.
    fn choose(self, states: &[u8], room: &mut ChainBuffers) -> Result<()> {
        let ChainBuffers { rooms, enabled, single: [open, chosen], states: passed, at, .. } = room;
        self.selective.enabled(states, enabled)?;
        let all = states.len() / self.width;
        open.clear(all);
        chosen.clear(all);
        passed.clear();
        at.clear();
        for (number, state) in states.chunks_exact(self.width).enumerate() {
            let words = enabled.words(number);
            if !self.choosers.may_choose_one(state, words, rooms) {
                continue;
            }
            let choice = self.choosers.choose(state, words, rooms);
            if bit_sets::count(choice.chosen) != 1 || spill::hash(state).is_multiple_of(STORED_EACH)
            {
                continue;
            }
            let single = chosen.words_mut(at.len());
            single.copy_from_slice(choice.chosen);
            if self.choosers.requires_full_expansion(state, single, rooms)
                && !is_injected(InjectedFault::PassedVisible)
            {
                continue;
            }
            open.words_mut(at.len()).copy_from_slice(words);
            passed.extend_from_slice(state);
            at.push(number);
        }
        open.truncate(at.len());
        chosen.truncate(at.len());
        Ok(())
    }
}
