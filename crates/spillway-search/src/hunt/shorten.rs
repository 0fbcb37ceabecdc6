//! Shorter paths to a violation that a walk or a dive found.
//!
//! 1. Cycles of the path are cut.
//! 2. A breadth-first search from the initial states looks for the violation within the bounds. If it covers all smaller
//!    depths, the shortest path is known.
//! 3. Otherwise detours are cut: from each state of the path, a breadth-first search of a few states looks for a later
//!    state of the path, or for the violation, in fewer steps. The searches grow from pass to pass until the bound on
//!    transitions is reached. This is delta debugging (Zeller 2002) in which the parts of a path are replaced, not only
//!    left out.
//!
//! All bounds are counts, so the result does not depend on time.

use super::state_tree::{StateOrigin, StateTree};
use crate::{SearchControl, collect_successors, model_failure};
use spill::Result;
use spillway_model::{Findings, ModelError, StateSpace, SuccessorSink, Violation};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Bytes of a state in the search beyond its own, twice: once for the arena, once for the table.
const STATE_OVERHEAD: u64 = 64;

/// The transitions of each search in the first pass over the path.
const PASS_FIRST: u64 = 64;

/// The factor from pass to pass.
const PASS_FACTOR: u64 = 4;

/// The share of the transitions for the search from the initial states.
const SEARCH_SHARE: u64 = 2;

/// The share of the bytes for the initial states, which are also in the table and in the arena.
const STARTS_SHARE: u64 = 4;

/// The bounds of shortening.
#[derive(Clone, Copy, Debug)]
pub struct ShortenLimits {
    /// The most transitions.
    pub transitions: u64,
    /// The most bytes of states in memory.
    pub bytes: u64,
}

/// A path to a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortenedPath {
    /// The states, an initial one first.
    pub states: Vec<Vec<u8>>,
    /// Whether no path to this violation is shorter.
    pub is_shortest: bool,
}

/// States near to some states, in breadth-first order.
struct NearbyStates<'m> {
    model: &'m dyn StateSpace,
    tree: StateTree,
    known: HashSet<Box<[u8]>>,
    buffer: Vec<u8>,
    transitions: u64,
}

impl<'m> NearbyStates<'m> {
    fn new(model: &'m dyn StateSpace) -> NearbyStates<'m> {
        NearbyStates {
            model,
            tree: StateTree::new(model.width()),
            known: HashSet::new(),
            buffer: Vec::new(),
            transitions: 0,
        }
    }

    fn clear(&mut self) {
        self.tree.clear();
        self.known.clear();
    }

    fn bytes(&self) -> u64 {
        self.tree.len() as u64 * (2 * self.model.width() as u64 + STATE_OVERHEAD)
    }

    /// Adds a state unless it is known.
    fn add(&mut self, state: &[u8], origin: StateOrigin) {
        if !self.known.contains(state) {
            self.known.insert(state.into());
            self.tree.add(state, origin);
        }
    }

    /// Adds the initial states. Returns false if they take more than `bytes` bytes.
    fn add_initial(&mut self, bytes: u64) -> Result<bool> {
        let mut starts = Vec::new();
        let (model, width) = (self.model, self.model.width());
        let limit = (bytes as usize).max(width);
        let run = |out: &mut SuccessorSink| model.initial(out);
        let on_full = |_: &mut Vec<u8>| ControlFlow::Break(());
        match SuccessorSink::collect_in_batches(width, &mut starts, limit, on_full, run) {
            Ok(_) => {}
            Err(ModelError::BrokenOff) => return Ok(false),
            Err(error) => return Err(model_failure(error)),
        }
        starts.chunks_exact(width).for_each(|state| self.add(state, StateOrigin::START));
        Ok(true)
    }

    /// Adds the successors of a state. Returns the findings in it.
    fn expand(&mut self, number: u32) -> Result<Findings> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let collected = collect_successors(self.model, self.tree.state(number), &mut buffer)?;
        self.transitions += collected.counters.transitions.max(1);
        let origin = self.tree.origin_after(number);
        let width = self.model.width();
        buffer.chunks_exact(width).for_each(|next| self.add(next, origin));
        self.buffer = buffer;
        Ok(collected.findings)
    }
}

/// Returns a path to the same violation that is not longer.
///
/// # Errors
///
/// If the model fails.
pub fn shorten_path(
    model: &dyn StateSpace,
    check: Violation,
    path: Vec<Vec<u8>>,
    limits: ShortenLimits,
    control: &SearchControl,
) -> Result<ShortenedPath> {
    let mut states = without_repeats(path, 0);
    if states.len() <= 1 {
        return Ok(ShortenedPath { states, is_shortest: true });
    }
    let mut shortener = PathShortener { nearby: NearbyStates::new(model), check, limits, control };
    if let Some(shortest) = shortener.search(states.len())? {
        let states = shortest.unwrap_or(states);
        return Ok(ShortenedPath { states, is_shortest: true });
    }
    // The memory of the search is free again.
    let transitions = shortener.nearby.transitions;
    shortener.nearby = NearbyStates { transitions, ..NearbyStates::new(model) };
    let mut each = PASS_FIRST;
    while !shortener.is_over(limits.transitions) {
        let before = states.len();
        states = shortener.cut_detours(states, each)?;
        // A pass without a result needs larger searches, and they end when one search takes all transitions.
        if states.len() == before && each > limits.transitions {
            break;
        }
        each *= PASS_FACTOR;
    }
    Ok(ShortenedPath { states, is_shortest: false })
}

/// Returns a path without its cycles. The states before position `fixed` stay.
pub fn without_repeats(path: Vec<Vec<u8>>, fixed: usize) -> Vec<Vec<u8>> {
    let last: HashMap<&[u8], usize> =
        path.iter().enumerate().map(|(at, state)| (state.as_slice(), at)).collect();
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < path.len() {
        kept.push(at);
        at = if at < fixed { at + 1 } else { last[path[at].as_slice()] + 1 };
    }
    drop(last);
    let mut kept = kept.into_iter().peekable();
    let keep = |(at, state): (usize, Vec<u8>)| kept.next_if_eq(&at).map(|_| state);
    path.into_iter().enumerate().filter_map(keep).collect()
}

/// The shortening of one path.
struct PathShortener<'m> {
    nearby: NearbyStates<'m>,
    check: Violation,
    limits: ShortenLimits,
    control: &'m SearchControl,
}

/// A shorter way from a state of the path.
struct PathShortcut {
    /// The position on the path where it ends. `None`: in a violation of its own.
    to: Option<usize>,
    /// The states after the first.
    states: Vec<Vec<u8>>,
}

impl PathShortener<'_> {
    fn is_over(&self, transitions: u64) -> bool {
        self.nearby.transitions >= transitions
            || self.nearby.bytes() > self.limits.bytes
            || self.control.should_stop()
    }

    /// Searches for a path of fewer than `length` states from an initial state. Returns `None` if the bounds do not
    /// suffice, and `Some(None)` if there is no such path.
    fn search(&mut self, length: usize) -> Result<Option<Option<Vec<Vec<u8>>>>> {
        if !self.nearby.add_initial(self.limits.bytes / STARTS_SHARE)? {
            return Ok(None);
        }
        let mut at = 0;
        while (at as usize) < self.nearby.tree.len() && self.nearby.tree.depth(at) + 1 < length {
            if self.is_over(self.limits.transitions / SEARCH_SHARE) {
                return Ok(None);
            }
            let findings = self.nearby.expand(at)?;
            if self.control.is_stopped() {
                return Ok(None);
            }
            if findings.get(self.check).is_some() {
                return Ok(Some(Some(self.nearby.tree.path_to(at))));
            }
            at += 1;
        }
        Ok(Some(None))
    }

    /// Replaces parts of a path by shorter ones. Each search takes at most about `each` transitions.
    fn cut_detours(&mut self, path: Vec<Vec<u8>>, each: u64) -> Result<Vec<Vec<u8>>> {
        let later: HashMap<&[u8], usize> =
            path.iter().enumerate().map(|(at, state)| (state.as_slice(), at)).collect();
        let (mut states, mut at) = (Vec::new(), 0);
        while at < path.len() {
            states.push(path[at].clone());
            let shortcut = match self.is_over(self.limits.transitions) {
                true => None,
                false => self.shortcut(&path, at, &later, each)?,
            };
            match shortcut {
                None => at += 1,
                Some(PathShortcut { to: None, states: end }) => {
                    states.extend(end);
                    return Ok(states);
                }
                Some(PathShortcut { to: Some(to), states: way }) => {
                    // The last of these states is that of the path, which is the next one.
                    states.extend(way.into_iter().rev().skip(1).rev());
                    at = to;
                }
            }
        }
        Ok(states)
    }

    /// Returns the way from a state of the path that saves the most steps.
    fn shortcut(
        &mut self,
        path: &[Vec<u8>],
        from: usize,
        later: &HashMap<&[u8], usize>,
        each: u64,
    ) -> Result<Option<PathShortcut>> {
        self.nearby.clear();
        self.nearby.add(&path[from], StateOrigin::START);
        let ends_at = self.nearby.transitions + each;
        let left = path.len() - 1 - from;
        // The saved steps, the position on the path where it ends, and the number of its last state.
        let mut best: Option<(usize, Option<usize>, u32)> = None;
        let (mut at, mut seen) = (0, 1);
        while (at as usize) < self.nearby.tree.len() && !self.is_over(ends_at) {
            let findings = self.nearby.expand(at)?;
            if self.control.is_stopped() {
                break;
            }
            let depth = self.nearby.tree.depth(at);
            let saved = best.map_or(0, |it| it.0);
            if findings.get(self.check).is_some() && left > depth + saved {
                best = Some((left - depth, None, at));
            }
            while (seen as usize) < self.nearby.tree.len() {
                let depth = self.nearby.tree.depth(seen);
                let saved = best.map_or(0, |it| it.0);
                if let Some(&to) = later.get(self.nearby.tree.state(seen))
                    && to > from + depth + saved
                {
                    best = Some((to - from - depth, Some(to), seen));
                }
                seen += 1;
            }
            // No deeper state can save more.
            if depth + 1 + best.map_or(0, |it| it.0) > left {
                break;
            }
            at += 1;
        }
        Ok(best.map(|(_, to, number)| {
            let states = self.nearby.tree.path_to(number).split_off(1);
            PathShortcut { to, states }
        }))
    }
}
