//! A walk through the first levels of a space, in memory.

use crate::model::{
    ExpansionOutcome, Findings, ObligationSink, PostponingStateSpace, StateSpace, SuccessorSink,
};
use crate::search::SearchControl;
use crate::search::{model_failure, store_dominance};
use spill::{Dominance, Result};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// States expanded together.
const BLOCK: usize = 128;

/// Bytes of successors between two looks at which are new.
const BATCH: usize = 256 << 10;

/// The levels that a walk has gone through.
pub(super) struct WalkedLevels {
    /// All their states.
    pub states: Vec<u8>,
    /// How many there are up to the end of each level.
    pub ends: Vec<usize>,
    /// How many transitions there are to these.
    pub transitions: Vec<u64>,
}

/// Walks level by level, states put off taken up as the search does it.
pub(super) struct PilotWalk<'m> {
    model: &'m dyn StateSpace,
    met: PilotStates,
    /// How many states there are up to the end of each level.
    ends: Vec<usize>,
    /// How many transitions there are to these states.
    transitions: Vec<u64>,
    counted: u64,
    /// States that are to be expanded again.
    carried: Vec<usize>,
    findings: Findings,
    at_end: bool,
    control: &'m SearchControl,
}

/// Which steps of states are taken.
#[derive(Clone, Copy)]
enum PilotPass<'m> {
    All,
    First(&'m dyn PostponingStateSpace),
    Rest(&'m dyn PostponingStateSpace),
}

impl<'m> PilotWalk<'m> {
    /// A walk that has not begun, and ends with the last level that does not go beyond so many states, or when
    /// told to stop.
    pub fn new(
        model: &'m dyn StateSpace,
        most: usize,
        control: &'m SearchControl,
    ) -> PilotWalk<'m> {
        PilotWalk {
            model,
            met: PilotStates::new(model.width(), most),
            ends: Vec::new(),
            transitions: Vec::new(),
            counted: 0,
            carried: Vec::new(),
            findings: Findings::default(),
            at_end: false,
            control,
        }
    }

    /// The number of states of the levels walked.
    pub fn states(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Whether there are no other states.
    pub fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// The transitions to these states.
    pub fn transitions(&self) -> u64 {
        self.transitions.last().copied().unwrap_or_default()
    }

    /// What was found in these states.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The levels that it has gone through.
    pub fn into_levels(self) -> WalkedLevels {
        WalkedLevels { states: self.met.bytes, ends: self.ends, transitions: self.transitions }
    }

    /// Goes to the next level; false if there is none, or if it is too large.
    pub fn next_level(&mut self) -> Result<bool> {
        if self.at_end || self.met.is_over {
            return Ok(false);
        }
        let first = match self.ends[..] {
            [] | [_] => 0,
            [.., before, _] => before,
        };
        let (level, new) = (first..self.states(), self.states());
        if self.ends.is_empty() {
            let model = self.model;
            self.collect(|out| model.initial(out))?;
        }
        let model = self.model.capabilities().postponing;
        let carried = std::mem::take(&mut self.carried);
        let level: Vec<usize> = level.collect();
        for block in level.chunks(BLOCK) {
            self.expand(block, model.map_or(PilotPass::All, PilotPass::First), new)?;
        }
        for (block, model) in carried.chunks(BLOCK).zip(std::iter::repeat(model)) {
            self.expand(block, model.map_or(PilotPass::All, PilotPass::Rest), new)?;
        }
        if self.met.is_over || self.control.should_stop() {
            return Ok(false);
        }
        if let Some(dominance) = self.model.capabilities().dominance {
            self.met.keep_undominated(new, &store_dominance(&dominance));
        }
        self.at_end = self.met.count == new && self.carried.is_empty();
        if !self.at_end {
            self.ends.push(self.met.count);
            self.transitions.push(self.counted);
        }
        Ok(!self.at_end)
    }

    /// Expands states; those that owe steps, and have no successor from number `new` on, are carried.
    fn expand(&mut self, numbers: &[usize], taken: PilotPass<'m>, new: usize) -> Result<()> {
        if self.met.is_over || self.control.should_stop() {
            return Ok(());
        }
        let width = self.model.width();
        let states: Vec<u8> = numbers.iter().flat_map(|&it| self.met.state(it)).copied().collect();
        let (mut owing, mut owed) = (Vec::new(), Vec::new());
        let model = self.model;
        self.collect(|out| match taken {
            PilotPass::All => model.expand(&states, out),
            PilotPass::Rest(model) => model.expand_postponed(&states, out),
            PilotPass::First(model) => {
                let mut owe = |position: usize, successor: &[u8]| {
                    owing.push(position);
                    owed.extend_from_slice(successor);
                };
                model.expand_reduced(&states, out, &mut ObligationSink::new(&mut owe));
            }
        })?;
        let is_new = |state: &[u8]| self.met.number(state).is_some_and(|number| number >= new);
        let mut waits: Vec<Option<bool>> = vec![None; numbers.len()];
        for (&position, successor) in owing.iter().zip(owed.chunks_exact(width)) {
            let before = waits[position].unwrap_or(true);
            waits[position] = Some(before && !is_new(successor));
        }
        let carried = numbers.iter().zip(&waits).filter(|(_, waits)| **waits == Some(true));
        self.carried.extend(carried.map(|(&number, _)| number));
        Ok(())
    }

    /// Meets the candidates that `run` adds, until there are too many.
    fn collect(&mut self, run: impl FnOnce(&mut SuccessorSink)) -> Result<()> {
        let _heeding = self.control.heed();
        let met = &mut self.met;
        let meet = |buffer: &mut Vec<u8>| {
            met.insert_all(buffer);
            buffer.clear();
            match met.is_over {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let (width, mut buffer) = (self.model.width(), Vec::new());
        let limit = BATCH.max(width);
        let collected = SuccessorSink::collect_in_batches(width, &mut buffer, limit, meet, run);
        match collected {
            Ok(ExpansionOutcome { findings, counters, .. }) => {
                self.findings.merge(findings);
                self.counted += counters.transitions;
            }
            Err(_) if self.met.is_over => return Ok(()),
            Err(error) => return Err(model_failure(error)),
        }
        self.met.insert_all(&buffer);
        Ok(())
    }
}

/// States that were met, numbered as they were: a hash table of numbers.
struct PilotStates {
    width: usize,
    bytes: Vec<u8>,
    count: usize,
    most: usize,
    /// Whether there were more than are kept.
    is_over: bool,
    /// One more than a number, or 0; a power of two, more than half of them free.
    slots: Vec<u32>,
}

impl PilotStates {
    fn new(width: usize, most: usize) -> PilotStates {
        let slots = vec![0; (2 * most + 2).next_power_of_two()];
        PilotStates { width, bytes: Vec::new(), count: 0, most, is_over: false, slots }
    }

    fn state(&self, number: usize) -> &[u8] {
        &self.bytes[number * self.width..][..self.width]
    }

    /// The slot in which a state is, or that is free for it.
    fn slot(&self, state: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = spill::hash(state) as usize & mask;
        while self.slots[slot] != 0 && self.state(self.slots[slot] as usize - 1) != state {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The number of a state, if it was met.
    fn number(&self, state: &[u8]) -> Option<usize> {
        (self.slots[self.slot(state)] as usize).checked_sub(1)
    }

    /// Forgets those of the states from number `new` on that others of them, or states before, dominate.
    fn keep_undominated(&mut self, new: usize, dominance: &Dominance) {
        let (width, most) = (self.width, self.most);
        let key = dominance.key_bytes(width);
        let mut fresh: Vec<&[u8]> = self.bytes[new * width..].chunks_exact(width).collect();
        fresh.sort_unstable();
        let mut fresh = fresh.concat();
        dominance.keep_undominated(width, &mut fresh);
        let known = &self.bytes[..new * width];
        let mut numbers: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
        for state in known.chunks_exact(width) {
            numbers.entry(&state[..key]).or_default().push(&state[key..]);
        }
        let is_new = |state: &&[u8]| {
            let mut before = numbers.get(&state[..key]).into_iter().flatten();
            !before.any(|it| dominance.dominates(it, &state[key..]))
        };
        let mut left = PilotStates::new(width, most);
        left.insert_all(known);
        fresh.chunks_exact(width).filter(is_new).for_each(|state| left.insert_all(state));
        *self = left;
    }

    /// Meets states, one after another.
    fn insert_all(&mut self, states: &[u8]) {
        for state in states.chunks_exact(self.width) {
            let slot = self.slot(state);
            if self.slots[slot] != 0 {
                continue;
            }
            if self.count == self.most {
                self.is_over = true;
                return;
            }
            self.bytes.extend_from_slice(state);
            self.count += 1;
            self.slots[slot] = self.count as u32;
        }
    }
}
