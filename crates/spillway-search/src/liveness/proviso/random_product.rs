//! Random products, for tests of the cycle proviso.

use spillway_base::random::SplitMix64;
use spillway_model::{
    Capabilities, CycleProvisoStateSpace, ProgramDescription, PropertyInfo, StateSpace, StateValue,
    StepDescent, StepDescription, StepOutcome, SuccessorSink, SystemDescription, Violation,
    any_bits,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The initial state.
const START: [u8; 2] = [0, 0];

/// The number of states of the system of a random product.
const SYSTEM: u8 = 6;

/// The number of locations of its automaton.
const LOCATIONS: u8 = 3;

/// The product of a random system and a random automaton. A state is two bytes: the state of the system, and the
/// location. The choice is arbitrary: only the cycle proviso is tested, not whether the reduced product has the verdict
/// of the whole one.
#[derive(Debug, Default)]
pub struct RandomProduct {
    /// The successors of the system by chosen transitions, by its state.
    chosen: Vec<Vec<u8>>,
    /// The successors of the system by the other transitions.
    others: Vec<Vec<u8>>,
    /// The moves of the automaton, by the number of the state of the product.
    moves: Vec<Vec<u8>>,
    accepting: BTreeSet<[u8; 2]>,
}

/// What a search makes of a random product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducedGraph {
    /// The number of reachable states.
    pub states: usize,
    /// Whether a cycle has an accepting state.
    pub has_accepting_cycle: bool,
    /// Whether a cycle has no fully expanded state.
    pub has_partial_cycle: bool,
}

fn number(state: &[u8]) -> usize {
    usize::from(state[0]) * usize::from(LOCATIONS) + usize::from(state[1])
}

fn all_states() -> impl Iterator<Item = [u8; 2]> {
    (0..SYSTEM).flat_map(|system| (0..LOCATIONS).map(move |location| [system, location]))
}

impl RandomProduct {
    /// Returns the product of a seed.
    pub fn of(seed: u64) -> RandomProduct {
        let mut random = SplitMix64::new(seed);
        let mut draw = |below: u8| random.below(below.into()) as u8;
        let mut product = RandomProduct::default();
        for _ in 0..SYSTEM {
            let chosen = (0..1 + draw(2)).map(|_| draw(SYSTEM)).collect();
            // In some states of the system nothing is omitted.
            let others = (0..draw(4).min(1)).map(|_| draw(SYSTEM)).collect();
            product.chosen.push(chosen);
            product.others.push(others);
        }
        for _ in all_states() {
            product.moves.push((0..1 + draw(2)).map(|_| draw(LOCATIONS)).collect());
        }
        product.accepting = (0..draw(4)).map(|_| [draw(SYSTEM), draw(LOCATIONS)]).collect();
        product
    }

    /// Returns whether a state is accepting.
    pub fn is_accepting(&self, state: &[u8]) -> bool {
        self.accepting.contains(state)
    }

    /// Returns the product in which some states are fully expanded.
    ///
    /// # Panics
    ///
    /// If full expansion depends on the location of the automaton.
    pub fn reduced(&self, must_be_full: &dyn Fn(&[u8]) -> bool) -> ReducedGraph {
        let is_alike = |it: [u8; 2]| must_be_full(&it) == must_be_full(&[it[0], 0]);
        assert!(all_states().all(is_alike), "full expansion depends on the location");
        let successors = |state: &[u8]| self.successors(state, must_be_full(state));
        let states = reachable(&successors);
        let is_full = |state: &[u8]| must_be_full(state) || !self.has_others(state);
        let partial = states.iter().copied().filter(|it| !is_full(it)).collect();
        ReducedGraph {
            states: states.len(),
            has_accepting_cycle: on_cycles(&states, &successors)
                .iter()
                .any(|it| self.is_accepting(it)),
            has_partial_cycle: !on_cycles(&partial, &successors).is_empty(),
        }
    }

    fn step(&self, action: u32, to: [u8; 2]) -> StepDescription {
        StepDescription::unplaced(
            action,
            self.action_name(action),
            StepOutcome::Successor(to.to_vec()),
        )
    }

    fn successors(&self, state: &[u8], is_full: bool) -> Vec<[u8; 2]> {
        let system = usize::from(state[0]);
        let others = self.others[system].iter().filter(|_| is_full);
        let systems = self.chosen[system].iter().chain(others);
        let moves = &self.moves[number(state)];
        systems.flat_map(|&to| moves.iter().map(move |&location| [to, location])).collect()
    }

    /// Returns whether the choice that prefers ascending transitions has all transitions of a state.
    fn takes_all_ascending(&self, state: &[u8]) -> bool {
        let system = state[0];
        let leads_down = self.chosen[usize::from(system)].iter().any(|&to| to <= system);
        leads_down && system.is_multiple_of(2)
    }

    /// Returns whether some transitions of a state are not chosen.
    fn has_others(&self, state: &[u8]) -> bool {
        !self.others[usize::from(state[0])].is_empty()
    }

    fn expand_by(&self, states: &[u8], is_full: bool, out: &mut SuccessorSink) {
        for state in states.chunks_exact(2) {
            self.successors(state, is_full).iter().for_each(|it| out.candidate(it));
            out.count_partially_expanded(u64::from(!is_full && self.has_others(state)));
        }
    }
}

impl StateSpace for RandomProduct {
    fn width(&self) -> usize {
        2
    }

    fn bits(&self) -> u32 {
        16
    }

    fn initial(&self, out: &mut SuccessorSink) {
        out.candidate(&START);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.expand_by(states, true, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(2)
    }

    fn digest(&self) -> [u8; 32] {
        [0; 32]
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { cycle_proviso: Some(self), ..Capabilities::NONE }
    }
}

impl SystemDescription for RandomProduct {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let successors = self.successors(state, true);
        successors.into_iter().zip(0..).map(|(to, action)| self.step(action, to)).collect()
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let _ = visit(self.step(0, START));
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        Vec::new()
    }

    fn action_name(&self, action: u32) -> String {
        format!("edge {action}")
    }

    fn violations(&self, _: &[u8]) -> Vec<Violation> {
        Vec::new()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        let value = |at: usize| i64::from(state[at]).into();
        vec![("system".into(), value(0)), ("location".into(), value(1))]
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

impl CycleProvisoStateSpace for RandomProduct {
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink) {
        self.expand_by(states, false, out);
    }

    fn expand_ascending(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(2) {
            let is_full = self.takes_all_ascending(state);
            self.expand_by(state, is_full, out);
        }
    }

    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink) {
        self.expand_by(states, true, out);
    }

    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        &state[..1]
    }

    fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent> {
        match from[0].cmp(&to[0]) {
            Ordering::Less => None,
            Ordering::Equal => Some(StepDescent::Equal),
            // Several steps lead down alike.
            Ordering::Greater => Some(StepDescent::Part { part: 0, from: 0, to: to[0].into() }),
        }
    }
}

/// Returns the reachable states, given the successors.
fn reachable(successors: &dyn Fn(&[u8]) -> Vec<[u8; 2]>) -> BTreeSet<[u8; 2]> {
    let (mut found, mut open) = (BTreeSet::from([START]), vec![START]);
    while let Some(state) = open.pop() {
        open.extend(successors(&state).into_iter().filter(|it| found.insert(*it)));
    }
    found
}

/// Returns the states on cycles within a set of states.
fn on_cycles(
    states: &BTreeSet<[u8; 2]>,
    successors: &dyn Fn(&[u8]) -> Vec<[u8; 2]>,
) -> BTreeSet<[u8; 2]> {
    let comes_back = |state: &&[u8; 2]| {
        let mut found: BTreeSet<[u8; 2]> = BTreeSet::new();
        let mut open = vec![**state];
        while let Some(at) = open.pop() {
            let next = successors(&at).into_iter().filter(|it| states.contains(it));
            open.extend(next.filter(|it| found.insert(*it)));
        }
        found.contains(*state)
    };
    states.iter().filter(comes_back).copied().collect()
}
