//! Test helpers, and a test model: a pseudo-random graph of any size, degree and width of state.
#![allow(dead_code, unreachable_pub)]

pub mod agree;
pub mod collection;
pub mod error_message;
pub mod lockstep;
pub mod memory;
pub mod postponing_model;
pub mod promises;
pub mod reductions;
pub mod stored;

use spill::{Disk, MeteredDisk, Result};
use spillway::model::{
    Capabilities, FaultKind, ProgramDescription, PropertyInfo, RuntimeFault, StateSpace,
    StepDescription, StepOutcome, SuccessorSink, SystemDescription, Violation, any_bits,
};
use spillway::search::checkpoint::{MANIFEST, SavedSearch};
use spillway::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchResources, StateStorage,
};
use spillway::source::Span;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A graph whose nodes are the numbers below `nodes`, each with up to `degree` successors.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The number of nodes, reachable or unreachable.
    pub nodes: u64,
    /// The maximum number of successors of a node, including duplicates; at least 1.
    pub degree: u64,
    /// The maximum distance of the successors of a node; low values give deep graphs.
    pub spread: u64,
    /// The size of a state in bytes; the node's number is last, after a function of it.
    pub width: usize,
    /// The nodes that violate the property are the multiples of this; 0 for none.
    pub broken: u64,
    /// The states of nodes from this one on vary in all bits, those before in few.
    pub dense: u64,
}

impl Graph {
    fn state(&self, node: u64) -> Vec<u8> {
        let mut state = vec![(mix(node) % 7) as u8; self.width];
        if node >= self.dense {
            (0u64..).zip(&mut state).for_each(|(at, byte)| *byte = mix(node ^ at << 32) as u8);
        }
        let bytes = node.to_be_bytes();
        let used = self.width.min(8);
        state[self.width - used..].copy_from_slice(&bytes[8 - used..]);
        state
    }

    fn node(&self, state: &[u8]) -> u64 {
        let used = self.width.min(8);
        state[self.width - used..].iter().fold(0, |node, &byte| node << 8 | u64::from(byte))
    }

    fn successors(&self, node: u64) -> impl Iterator<Item = u64> {
        // Few nodes have no successor, and never the first one: that would end the graph early.
        let stuck = node > 0 && mix(node).is_multiple_of(61);
        let count = if stuck { 0 } else { 1 + mix(node) % self.degree };
        let (nodes, spread) = (self.nodes, self.spread.max(1));
        (0..count).map(move |edge| (node + 1 + mix(node * 31 + edge) % spread) % nodes)
    }

    fn is_broken(&self, node: u64) -> bool {
        self.broken > 0 && node % self.broken == self.broken - 1
    }
}

fn mix(number: u64) -> u64 {
    let z = (number ^ 0x5851_f42d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

impl StateSpace for Graph {
    fn width(&self) -> usize {
        self.width
    }

    fn bits(&self) -> u32 {
        self.width as u32 * 8
    }

    fn initial(&self, out: &mut SuccessorSink) {
        out.candidate(&self.state(0));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width) {
            let node = self.node(state);
            let mut stuck = true;
            for successor in self.successors(node) {
                stuck = false;
                out.candidate(&self.state(successor));
            }
            if stuck {
                out.record_finding(Violation::Deadlock, state);
            }
            if self.is_broken(node) {
                out.record_finding(Violation::Property(0), state);
            }
        }
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = [0; 32];
        let width = self.width as u64;
        let numbers = [self.nodes, self.degree, self.spread, width, self.broken, self.dense];
        for (place, number) in digest.chunks_exact_mut(5).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes()[3..]);
        }
        digest
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl SystemDescription for Graph {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let step = |(edge, successor): (usize, u64)| StepDescription {
            action: edge as u32,
            name: format!("edge {edge}"),
            parameters: Vec::new(),
            actors: Vec::new(),
            spans: vec![],
            actions: vec![],
            movers: vec![],
            outcome: StepOutcome::Successor(self.state(successor)),
        };
        self.successors(self.node(state)).enumerate().map(step).collect()
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let (name, outcome) = ("start".into(), StepOutcome::Successor(self.state(0)));
        let _ = visit(StepDescription {
            action: 0,
            name,
            parameters: Vec::new(),
            actors: Vec::new(),
            spans: vec![],
            actions: vec![],
            movers: vec![],
            outcome,
        });
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let name = "not broken".to_string();
        vec![PropertyInfo { kind: "invariant", name, span: Span::default() }]
    }

    fn action_name(&self, action: u32) -> String {
        format!("edge {action}")
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let node = self.node(state);
        let mut found = Vec::new();
        if self.successors(node).next().is_none() {
            found.push(Violation::Deadlock);
        }
        if self.is_broken(node) {
            found.push(Violation::Property(0));
        }
        found
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        vec![("node".into(), (self.node(state) as i64).into())]
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

/// A graph with many initial nodes, some of them repeated, in arbitrary order.
#[derive(Clone, Debug)]
pub struct Started {
    pub graph: Graph,
    /// The number of initial nodes, including duplicates.
    pub starts: u64,
}

impl Started {
    fn starting(&self) -> impl Iterator<Item = Vec<u8>> {
        (0..self.starts).map(|start| self.graph.state(mix(start * 3 / 4) % self.graph.nodes))
    }
}

impl StateSpace for Started {
    fn width(&self) -> usize {
        self.graph.width()
    }

    fn bits(&self) -> u32 {
        self.graph.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        for state in self.starting() {
            if spillway::model::stop_request::is_requested() {
                return;
            }
            out.candidate(&state);
        }
        out.record_finding(Violation::Fault(FaultKind::Index, 0), &vec![0; self.width()]);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.graph.expand(states, out);
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = self.graph.digest();
        digest[30..].copy_from_slice(&self.starts.to_be_bytes()[6..]);
        digest
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl SystemDescription for Started {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        self.graph.steps(state)
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let step = |outcome| {
            let name = "start".into();
            StepDescription {
                action: 0,
                name,
                parameters: vec![],
                actors: vec![],
                spans: vec![],
                actions: vec![],
                movers: vec![],
                outcome,
            }
        };
        for state in self.starting() {
            if visit(step(StepOutcome::Successor(state))).is_break() {
                return;
            }
        }
        let fault = RuntimeFault::new(FaultKind::Index, "", Span::default());
        let _ = visit(step(StepOutcome::Fault(fault)));
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.graph.properties()
    }

    fn action_name(&self, action: u32) -> String {
        self.graph.action_name(action)
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        self.graph.violations(state)
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        self.graph.describe(state)
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

/// Returns whether the long versions of the tests are enabled.
pub fn is_large() -> bool {
    std::env::var_os("SPILLWAY_LARGE").is_some()
}

/// A generator of pseudo-random numbers that are the same on every machine.
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed << 32)
    }

    /// Returns about 47 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 += 1;
        mix(self.0)
    }

    /// Returns a number less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Returns a plan with buffers of a few keys, so that small searches take every code path of large ones.
pub fn tiny_plan(threads: usize, width: usize, buffer_keys: u64, young_keys: u64) -> MemoryPlan {
    let buffer = buffer_keys * width as u64;
    let young = young_keys * width as u64;
    let (budget, base, reserve, filter, obligations) = (0, 0, 0, 2 * young_keys, 0);
    let (encoding, unencoded) = (0, 0);
    MemoryPlan {
        budget,
        base,
        reserve,
        threads,
        buffer,
        young,
        filter,
        obligations,
        encoding,
        unencoded,
    }
}

/// Begins a search in `disk`, or resumes the one there.
pub fn begin_or_resume<'a>(
    model: &'a dyn StateSpace,
    disk: &Arc<dyn Disk>,
    plan: MemoryPlan,
    limits: &SearchLimits,
    control: &'a SearchControl,
) -> Result<ExternalSearch<'a>> {
    let storage = &StateStorage::default();
    begin_stored_or_resume(model, disk, StoredSearch { plan, limits, control, storage })
}

/// The settings of a search, with the way in which states are stored.
#[derive(Clone, Copy)]
pub struct StoredSearch<'a, 's> {
    pub plan: MemoryPlan,
    pub limits: &'s SearchLimits,
    pub control: &'a SearchControl,
    pub storage: &'s StateStorage,
}

/// Begins a search in `disk` with this way of storing states, or resumes the one there.
pub fn begin_stored_or_resume<'a>(
    model: &'a dyn StateSpace,
    disk: &Arc<dyn Disk>,
    search: StoredSearch<'a, '_>,
) -> Result<ExternalSearch<'a>> {
    let StoredSearch { plan, limits, control, storage } = search;
    let metered = Arc::new(MeteredDisk::new(disk.clone(), None)?);
    let begun = disk.list()?.iter().any(|(name, _)| name == MANIFEST);
    let (resources, limits) = (SearchResources { disk: metered, plan, control }, limits.clone());
    match begun {
        false => ExternalSearch::begin_stored(model, resources, limits, storage.clone()),
        true => {
            let saved = SavedSearch::load(&**disk)?;
            ExternalSearch::resume(model, resources, limits, saved)
        }
    }
}
