//! Accepting cycles, found in memory by nested depth-first search (Courcoubetis and others 1992, in the form of Schwoon
//! and Esparza, "A note on on-the-fly verification algorithms", 2005).
//!
//! The first search calls the states on its path *open*. When it leaves an accepting state, the second search starts
//! there. It visits states that the first search has left, until it reaches an open state. From that state the path
//! leads to the accepting state, which closes a cycle. The second search enters each state once. The cycle found is as
//! long as these paths. So a breadth-first search then looks for a shorter run to an accepting state of the cycle and
//! around it. It may visit more states within the limits.

use super::enforced_proviso::EnforcedProviso;
use super::numbered_states::NumberedStates;
use crate::SearchControl;
use crate::lasso::Lasso;
use crate::{collect_successors, model_failure};
use spill::Result;
use spillway_model::{Counters, ExpansionOutcome, StateSpace, SuccessorSink, Violation};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// The verdict of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeVerdict {
    /// There is no accepting cycle.
    None,
    /// There is an accepting cycle.
    Found(Lasso),
    /// A limit on states, bytes or time ended the search.
    Open,
}

/// The verdict of a search, and its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// The verdict.
    pub found: ProbeVerdict,
    /// The states visited until a cycle was found.
    pub states: u64,
    /// The transitions between them.
    pub transitions: u64,
    /// The steps that ended in errors. Nothing is visited behind them.
    pub faults: u64,
    /// The strategy of the hunt that found the cycle, if a hunt did.
    pub strategy: Option<String>,
}

/// Limits of a search in memory.
#[derive(Clone, Copy, Debug)]
pub struct ProbeLimits {
    /// The most states.
    pub states: u64,
    /// The most bytes for them, approximately.
    pub bytes: u64,
}

/// Bytes for each state beyond its state vector: its entry in the hash table, its number, its colour.
pub(super) const STATE_OVERHEAD: u64 = 96;

/// The most times that the search starts. Beyond this it ends without a verdict.
const STARTS_MAX: usize = 16;

/// The status of a state in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DfsColour {
    New,
    /// On the path of the first search.
    Open,
    /// Left by the first search.
    Left,
    /// Entered by the second search.
    Done,
}

/// A state on the path of a search.
struct NestedDfsFrame {
    at: u32,
    successors: Vec<u32>,
    next: usize,
    /// What the expansion of the state adds to the counters.
    counters: Counters,
    faults: u64,
}

impl NestedDfsFrame {
    /// Returns whether the state was expanded by all of its transitions.
    fn is_full(&self) -> bool {
        self.counters.partially_expanded == 0
    }
}

/// The outcome of a search.
enum DfsOutcome {
    Through,
    Cycle(Vec<u32>),
    Over,
}

struct NestedDfs<'a> {
    model: &'a dyn StateSpace,
    accepts: &'a dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &'a SearchControl,
    states: NumberedStates,
    colours: Vec<DfsColour>,
    initial: Vec<u32>,
    /// The number of states that the first search entered.
    visited: u64,
    /// The number of successors held for the states on the paths.
    held: u64,
    counters: Counters,
    faults: u64,
    /// The cycle proviso, if the search must enforce it.
    proviso: Option<EnforcedProviso<'a>>,
    buffer: Vec<u8>,
}

/// Searches for a cycle through a state that `accepts`, until the control stops it.
pub fn probe(
    model: &dyn StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    let mut starts = Vec::new();
    let begun = SuccessorSink::collect(model.width(), &mut starts, |out| model.initial(out))
        .map_err(model_failure)?;
    let probe = probe_from(&starts, model, accepts, limits, control)?;
    Ok(ProbeResult { faults: probe.faults + faults(&begun), ..probe })
}

/// Searches from the given states, which are concatenated.
pub(super) fn probe_from(
    starts: &[u8],
    model: &dyn StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    let mut search = NestedDfs::new(model, accepts, limits, control);
    let ending = search.search_until_closed(starts)?;
    // The search for a shorter run may visit more states.
    let states = search.visited;
    let found = match ending {
        DfsOutcome::Through => ProbeVerdict::None,
        DfsOutcome::Over => ProbeVerdict::Open,
        DfsOutcome::Cycle(cycle) => ProbeVerdict::Found(search.lasso(&cycle)?),
    };
    let NestedDfs { counters: Counters { transitions, .. }, faults, .. } = search;
    Ok(ProbeResult { found, states, transitions, faults, strategy: None })
}

impl<'a> NestedDfs<'a> {
    fn new(
        model: &'a dyn StateSpace,
        accepts: &'a dyn Fn(&[u8]) -> bool,
        limits: ProbeLimits,
        control: &'a SearchControl,
    ) -> NestedDfs<'a> {
        NestedDfs {
            model,
            accepts,
            limits,
            control,
            states: NumberedStates::new(model.width()),
            colours: Vec::new(),
            initial: Vec::new(),
            visited: 0,
            held: 0,
            counters: Counters::default(),
            faults: 0,
            proviso: EnforcedProviso::of(model),
            buffer: Vec::new(),
        }
    }

    /// Searches from some states, and again as long as the cycle proviso demands it.
    fn search_until_closed(&mut self, starts: &[u8]) -> Result<DfsOutcome> {
        for _ in 0..STARTS_MAX {
            self.initial = self.number_states(starts);
            let ending = self.search_all()?;
            let Some(proviso) = &mut self.proviso else { return Ok(ending) };
            if !matches!(ending, DfsOutcome::Through) || !proviso.must_restart(&self.states) {
                return Ok(ending);
            }
            proviso.restart();
            self.states.clear();
            self.colours.clear();
            self.visited = 0;
            (self.counters, self.faults) = (Counters::default(), 0);
        }
        Ok(DfsOutcome::Over)
    }

    fn search_all(&mut self) -> Result<DfsOutcome> {
        for at in self.initial.clone() {
            if self.colours[at as usize] == DfsColour::New {
                match self.outer_search(at)? {
                    DfsOutcome::Through => {}
                    other => return Ok(other),
                }
            }
        }
        Ok(DfsOutcome::Through)
    }

    /// Returns the numbers of states, and numbers the new ones.
    fn number_states(&mut self, states: &[u8]) -> Vec<u32> {
        let all = states.chunks_exact(self.model.width());
        let numbers = all.map(|state| self.states.number(state)).collect();
        self.colours.resize(self.states.len(), DfsColour::New);
        numbers
    }

    /// Expands a state.
    fn expand(&mut self, at: u32) -> Result<NestedDfsFrame> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let collected = self.collect(at, &mut buffer)?;
        let successors = self.number_states(&buffer);
        self.buffer = buffer;
        let (counters, faults) = (collected.counters, faults(&collected));
        Ok(NestedDfsFrame { at, successors, next: 0, counters, faults })
    }

    /// Collects the successors of a state in `buffer`.
    fn collect(&self, at: u32, buffer: &mut Vec<u8>) -> Result<ExpansionOutcome> {
        let state = &self.states[at as usize];
        match &self.proviso {
            None => collect_successors(self.model, state, buffer),
            Some(proviso) => proviso.expand(state, buffer),
        }
    }

    /// Returns the successors of a state that were visited before.
    fn known_successors(&mut self, at: u32) -> Result<Vec<u32>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let _ = self.collect(at, &mut buffer)?;
        let all = buffer.chunks_exact(self.model.width());
        let known = all.filter_map(|state| self.states.find(state)).collect();
        self.buffer = buffer;
        Ok(known)
    }

    fn enter(&mut self, at: u32) -> Result<NestedDfsFrame> {
        // This call notices a passed deadline.
        let _ = self.control.should_stop();
        let frame = self.expand(at)?;
        self.held += frame.successors.len() as u64;
        Ok(frame)
    }

    /// Enters a state in the first search, and counts its transitions.
    fn open(&mut self, at: u32) -> Result<NestedDfsFrame> {
        self.visited += u64::from(self.colours[at as usize] == DfsColour::New);
        self.colours[at as usize] = DfsColour::Open;
        let frame = self.enter(at)?;
        self.counters += frame.counters;
        self.faults += frame.faults;
        if let Some(proviso) = &mut self.proviso {
            proviso.enter(at, frame.is_full());
        }
        Ok(frame)
    }

    /// Notes that the state of a frame leads to a state on the path. Begins the frame again if the proviso demands that
    /// its state is fully expanded.
    fn close_cycle(&mut self, frame: &mut NestedDfsFrame) -> Result<()> {
        let Some(proviso) = self.proviso.as_mut().filter(|_| !frame.is_full()) else {
            return Ok(());
        };
        proviso.demand_full(&self.states[frame.at as usize]);
        self.held -= frame.successors.len() as u64;
        self.counters -= frame.counters;
        self.faults -= frame.faults;
        *frame = self.open(frame.at)?;
        Ok(())
    }

    /// Returns whether a limit is exceeded or the control has stopped the search.
    fn is_over(&self) -> bool {
        let states = self.states.len() as u64;
        let bytes = states * (self.model.width() as u64 + STATE_OVERHEAD)
            + 4 * self.held
            + self.proviso.as_ref().map_or(0, EnforcedProviso::bytes);
        states > self.limits.states || bytes > self.limits.bytes || self.control.is_stopped()
    }

    fn is_accepting(&self, at: u32) -> bool {
        (self.accepts)(&self.states[at as usize])
    }

    /// Runs the first search from a state.
    fn outer_search(&mut self, start: u32) -> Result<DfsOutcome> {
        let mut way = vec![self.open(start)?];
        while let Some(frame) = way.last_mut() {
            if self.is_over() {
                return Ok(DfsOutcome::Over);
            }
            let at = frame.at;
            if let Some(&to) = frame.successors.get(frame.next) {
                frame.next += 1;
                match self.colours[to as usize] {
                    DfsColour::Open if self.is_accepting(at) || self.is_accepting(to) => {
                        return Ok(DfsOutcome::Cycle(cycle(&way, to, Vec::new())));
                    }
                    DfsColour::Open => self.close_cycle(frame)?,
                    DfsColour::New => way.push(self.open(to)?),
                    _ => {}
                }
                continue;
            }
            let mut colour = DfsColour::Left;
            if self.is_accepting(at) {
                match self.inner_search(at, &way)? {
                    DfsOutcome::Through => colour = DfsColour::Done,
                    other => return Ok(other),
                }
            }
            self.colours[at as usize] = colour;
            self.held -= way.pop().map_or(0, |it| it.successors.len() as u64);
        }
        Ok(DfsOutcome::Through)
    }

    /// Runs the second search from an accepting state at the end of the path of the first search.
    fn inner_search(&mut self, start: u32, first: &[NestedDfsFrame]) -> Result<DfsOutcome> {
        let mut way = vec![self.enter(start)?];
        while let Some(frame) = way.last_mut() {
            if self.is_over() {
                return Ok(DfsOutcome::Over);
            }
            let Some(&to) = frame.successors.get(frame.next) else {
                self.held -= way.pop().map_or(0, |it| it.successors.len() as u64);
                continue;
            };
            frame.next += 1;
            match self.colours[to as usize] {
                DfsColour::Open => {
                    let behind = way.iter().skip(1).map(|it| it.at).collect();
                    return Ok(DfsOutcome::Cycle(cycle(first, to, behind)));
                }
                DfsColour::Left => {
                    self.colours[to as usize] = DfsColour::Done;
                    way.push(self.enter(to)?);
                }
                _ => {}
            }
        }
        Ok(DfsOutcome::Through)
    }

    /// Returns a short run to an accepting state of a cycle and around the cycle.
    fn lasso(&mut self, cycle: &[u32]) -> Result<Lasso> {
        let accepting: Vec<u32> =
            cycle.iter().copied().filter(|&at| self.is_accepting(at)).collect();
        let prefix = self.shortest(self.initial.clone(), &accepting)?;
        let turn = *prefix.last().unwrap_or(&cycle[0]);
        let begun = self.expand(turn)?.successors;
        let round = self.shortest(begun, &[turn])?;
        let back = prefix.len().saturating_sub(1);
        // The cycle ends where it begins.
        let whole = prefix.into_iter().chain(round.into_iter().rev().skip(1).rev());
        let states = whole.map(|at| self.states[at as usize].to_vec()).collect();
        Ok(Lasso { states, back, fair_to: Vec::new() })
    }

    /// Returns a short path from one of some states to one of others, both included. It is a shortest path if all
    /// states of smaller distance fit the limits.
    fn shortest(&mut self, from: Vec<u32>, to: &[u32]) -> Result<Vec<u32>> {
        let mut before: HashMap<u32, Option<u32>> = from.iter().map(|&at| (at, None)).collect();
        let (mut open, mut is_full) = (VecDeque::from(from), false);
        while let Some(at) = open.pop_front() {
            if to.contains(&at) {
                let last = Some(at);
                let mut way: Vec<u32> =
                    std::iter::successors(last, |at| before.get(at).copied().flatten()).collect();
                way.reverse();
                return Ok(way);
            }
            // The states known when the cycle was found contain a path.
            is_full |= self.control.should_stop() || self.is_over();
            let successors = match is_full {
                true => self.known_successors(at)?,
                false => self.expand(at)?.successors,
            };
            for next in successors {
                if let Entry::Vacant(new) = before.entry(next) {
                    new.insert(Some(at));
                    open.push_back(next);
                }
            }
        }
        unreachable!("the searches came there")
    }
}

/// Returns the number of steps that ended in errors.
pub(super) fn faults(collected: &ExpansionOutcome) -> u64 {
    let faults = collected.findings.iter();
    let faults = faults.filter(|(check, _)| matches!(check, Violation::Fault(..)));
    faults.map(|(_, finding)| finding.count).sum()
}

/// Returns the cycle from an open state along the path of the first search to its end, and through `behind`.
fn cycle(way: &[NestedDfsFrame], open: u32, behind: Vec<u32>) -> Vec<u32> {
    let begun = way.iter().map(|it| it.at).skip_while(|&at| at != open);
    begun.chain(behind).collect()
}

#[cfg(test)]
mod tests;
