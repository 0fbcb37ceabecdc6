//! A breadth-first search of the first levels of a state space, in memory.

use super::work::WalkCounters;
use crate::SearchControl;
use crate::{model_failure, store_dominance};
use spill::{Dominance, Result};
use spillway_model::{
    Capabilities, Counters, CycleProvisoStateSpace, ExpansionOutcome, Findings, ObligationSink,
    PostponingStateSpace, StateSpace, SuccessorSink,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The number of states expanded together.
const BLOCK: usize = 128;

/// Bytes of successors between two removals of duplicates.
const BATCH: usize = 256 << 10;

/// The levels of a pilot search.
pub(super) struct WalkedLevels {
    /// All their states.
    pub states: Vec<u8>,
    /// The counters up to the end of each level.
    pub ends: Vec<WalkCounters>,
}

/// The start of a pilot search, and its cost.
#[derive(Clone, Copy)]
pub(super) struct WalkStart<'m> {
    pub model: &'m dyn StateSpace,
    /// The states of the first level. `None`: the initial states.
    pub states: Option<&'m [u8]>,
    /// Returns the number of members of sets visited so far to choose transitions. `None` if the model takes all.
    pub looked: Option<&'m dyn Fn() -> u64>,
}

/// A pilot search, level by level, which re-expands states as the external search does.
pub(super) struct PilotWalk<'m> {
    start: WalkStart<'m>,
    met: PilotStates,
    /// The counters up to the end of each level.
    ends: Vec<WalkCounters>,
    counted: Counters,
    /// The number of expanded states.
    expanded: usize,
    looked_before: u64,
    /// States to re-expand.
    carried: Vec<usize>,
    findings: Findings,
    at_end: bool,
    control: &'m SearchControl,
}

/// The transitions of states that are explored.
#[derive(Clone, Copy)]
enum PilotPass<'m> {
    All,
    /// Those that are chosen without a proviso. A search for infinite runs adds others later, on cycles only.
    Chosen(&'m dyn CycleProvisoStateSpace),
    First(&'m dyn PostponingStateSpace),
    Rest(&'m dyn PostponingStateSpace),
}

impl<'m> PilotWalk<'m> {
    /// Creates a search. It ends with the last level that fits `most` states, or if the control stops it.
    pub fn new(start: WalkStart<'m>, most: usize, control: &'m SearchControl) -> PilotWalk<'m> {
        PilotWalk {
            start,
            met: PilotStates::new(start.model.width(), most),
            ends: Vec::new(),
            counted: Counters::default(),
            expanded: 0,
            looked_before: start.looked.map_or(0, |looked| looked()),
            carried: Vec::new(),
            findings: Findings::default(),
            at_end: false,
            control,
        }
    }

    /// Returns the number of states of the explored levels.
    pub fn states(&self) -> usize {
        self.counters().states
    }

    /// Returns the counters of the explored levels.
    pub fn counters(&self) -> WalkCounters {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Returns whether there are no other states.
    pub fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Returns the findings in these states.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns the explored levels.
    pub fn into_levels(self) -> WalkedLevels {
        WalkedLevels { states: self.met.bytes, ends: self.ends }
    }

    /// Explores the next level. Returns false if there is none or if it is too large.
    pub fn next_level(&mut self) -> Result<bool> {
        if self.at_end || self.met.is_over {
            return Ok(false);
        }
        let first = match self.ends[..] {
            [] | [_] => 0,
            [.., before, _] => before.states,
        };
        let (level, new) = (first..self.states(), self.states());
        let start = self.start;
        match start.states {
            _ if !self.ends.is_empty() => {}
            None => self.collect(|out| start.model.initial(out))?,
            Some(states) => self.met.insert_all(states),
        }
        let Capabilities { postponing: model, cycle_proviso, .. } = start.model.capabilities();
        let first_pass = match (model, cycle_proviso) {
            (Some(model), _) => PilotPass::First(model),
            (None, Some(model)) => PilotPass::Chosen(model),
            (None, None) => PilotPass::All,
        };
        let carried = std::mem::take(&mut self.carried);
        let level: Vec<usize> = level.collect();
        for block in level.chunks(BLOCK) {
            self.expand(block, first_pass, new)?;
        }
        for (block, model) in carried.chunks(BLOCK).zip(std::iter::repeat(model)) {
            self.expand(block, model.map_or(PilotPass::All, PilotPass::Rest), new)?;
        }
        if self.met.is_over || self.control.should_stop() {
            return Ok(false);
        }
        if let Some(dominance) = start.model.capabilities().dominance {
            self.met.keep_undominated(new, &store_dominance(&dominance));
        }
        self.at_end = self.met.count == new && self.carried.is_empty();
        if !self.at_end {
            let Counters { transitions, skipped, .. } = self.counted;
            // The choice in the last state of a chain shows that it is stored.
            let ends = if skipped > 0 { transitions } else { 0 };
            let choices = self.expanded as u64 + skipped + ends;
            self.ends.push(WalkCounters {
                states: self.met.count,
                transitions,
                skipped,
                choices: start.looked.map_or(0, |_| choices),
                looked: start.looked.map_or(0, |looked| looked() - self.looked_before),
            });
        }
        Ok(!self.at_end)
    }

    /// Expands states. Those with postponed transitions and without a successor from number `new` on must be
    /// re-expanded.
    fn expand(&mut self, numbers: &[usize], taken: PilotPass<'m>, new: usize) -> Result<()> {
        if self.met.is_over || self.control.should_stop() {
            return Ok(());
        }
        let model = self.start.model;
        let width = model.width();
        self.expanded += numbers.len();
        let states: Vec<u8> = numbers.iter().flat_map(|&it| self.met.state(it)).copied().collect();
        let (mut owing, mut owed) = (Vec::new(), Vec::new());
        self.collect(|out| match taken {
            PilotPass::All => model.expand(&states, out),
            PilotPass::Chosen(model) => model.expand_chosen(&states, out),
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

    /// Inserts the candidates that `run` adds, until there are too many.
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
        let (width, mut buffer) = (self.start.model.width(), Vec::new());
        let limit = BATCH.max(width);
        let collected = SuccessorSink::collect_in_batches(width, &mut buffer, limit, meet, run);
        match collected {
            Ok(ExpansionOutcome { findings, counters, .. }) => {
                self.findings.merge(findings);
                self.counted += counters;
            }
            Err(_) if self.met.is_over => return Ok(()),
            Err(error) => return Err(model_failure(error)),
        }
        self.met.insert_all(&buffer);
        Ok(())
    }
}

/// Visited states in order of discovery, and a hash table of their numbers.
struct PilotStates {
    width: usize,
    bytes: Vec<u8>,
    count: usize,
    most: usize,
    /// Whether there were more states than the limit.
    is_over: bool,
    /// Numbers plus one, or 0. The length is a power of two, and more than half of the slots are free.
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

    /// Returns the slot of a state, or the free slot for it.
    fn slot(&self, state: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = spill::hash(state) as usize & mask;
        while self.slots[slot] != 0 && self.state(self.slots[slot] as usize - 1) != state {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Returns the number of a state, if it was visited.
    fn number(&self, state: &[u8]) -> Option<usize> {
        (self.slots[self.slot(state)] as usize).checked_sub(1)
    }

    /// Removes those states from number `new` on that other new or earlier states dominate.
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

    /// Inserts states one by one.
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
