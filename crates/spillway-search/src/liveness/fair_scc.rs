//! Accepting cycles of weakly fair runs, found in memory by one depth-first search for strongly connected components
//! (Couvreur, "On-the-fly verification of linear temporal logic", 1999; Gabow, "Path-based depth-first search for
//! strong and biconnected components", 2000).
//!
//! The search keeps the components of the visited states, each with its acceptance marks: whether a step leaves an
//! accepting state, and to which processes a step is fair. A step back to the path merges all components from its
//! target on. A component with an accepting state and a step that is fair to each process has an accepting fair run.
//! This run is built of shortest paths within the component.

use super::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict, STATE_OVERHEAD, faults};
use super::numbered_states::NumberedStates;
use crate::SearchControl;
use crate::lasso::Lasso;
use crate::model_failure;
use spill::Result;
use spillway_model::{
    FairSteps, ProcessSet, StateSpace, SuccessorSink, collect_fair, fair_records,
};
use std::collections::{HashMap, VecDeque};

/// What a step contributes to the acceptance of its component.
#[derive(Clone, Copy, Debug, Default)]
struct AcceptanceMarks {
    /// The step leaves an accepting state.
    accepts: bool,
    /// The processes to which the step is fair.
    fair_to: ProcessSet,
}

impl AcceptanceMarks {
    fn add(&mut self, other: AcceptanceMarks) {
        self.accepts |= other.accepts;
        self.fair_to.extend(other.fair_to);
    }
}

/// A step, as the number of its target state and the number of the set of processes to which it is fair.
#[derive(Clone, Copy)]
struct FairEdge {
    to: u32,
    set: u32,
}

/// A state on the path of the search.
struct FairSccFrame {
    at: u32,
    edges: Vec<FairEdge>,
    next: usize,
}

/// A component of the visited states: a range of the stack, from `first` up to the next component.
struct OpenComponent {
    first: u32,
    brings: AcceptanceMarks,
    /// The marks of the step that entered the component.
    entered_by: AcceptanceMarks,
}

/// The status of a state in the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SccStatus {
    New,
    /// At this position of the stack.
    Stacked(u32),
    /// In a completed component.
    Left,
}

struct FairSccSearch<'a> {
    model: &'a dyn StateSpace,
    fair: &'a dyn FairSteps,
    accepts: &'a dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &'a SearchControl,
    /// All processes.
    all: ProcessSet,
    states: NumberedStates,
    places: Vec<SccStatus>,
    sets: Vec<ProcessSet>,
    set_numbers: HashMap<ProcessSet, u32>,
    initial: Vec<u32>,
    stack: Vec<u32>,
    components: Vec<OpenComponent>,
    /// The number of steps held for the states on the path.
    held: u64,
    transitions: u64,
    faults: u64,
    /// The number of states when a run was found. Building the run visits more states, whose transitions are not
    /// counted.
    states_when_found: Option<u64>,
}

/// Searches for a cycle that passes a state that `accepts` and is fair to all processes, until the control stops it.
pub fn probe_fair(
    model: &dyn StateSpace,
    fair: &dyn FairSteps,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    let mut search = FairSccSearch {
        model,
        fair,
        accepts,
        limits,
        control,
        all: ProcessSet::first(fair.processes()),
        states: NumberedStates::new(model.width()),
        places: Vec::new(),
        sets: Vec::new(),
        set_numbers: HashMap::new(),
        initial: Vec::new(),
        stack: Vec::new(),
        components: Vec::new(),
        held: 0,
        transitions: 0,
        faults: 0,
        states_when_found: None,
    };
    let found = search.search_all()?;
    let FairSccSearch { states, transitions, faults, states_when_found, .. } = search;
    let states = states_when_found.unwrap_or(states.len() as u64);
    Ok(ProbeResult { found, states, transitions, faults, strategy: None })
}

impl FairSccSearch<'_> {
    fn search_all(&mut self) -> Result<ProbeVerdict> {
        let (mut buffer, model) = (Vec::new(), self.model);
        let begun = SuccessorSink::collect(model.width(), &mut buffer, |out| model.initial(out))
            .map_err(model_failure)?;
        self.faults += faults(&begun);
        let initial = buffer.chunks_exact(model.width()).map(|state| self.number(state));
        self.initial = initial.collect();
        for at in self.initial.clone() {
            if self.places[at as usize] == SccStatus::New {
                match self.search_from(at)? {
                    ProbeVerdict::None => {}
                    other => return Ok(other),
                }
            }
        }
        Ok(ProbeVerdict::None)
    }

    /// Returns the number of a state, and numbers it if it is new.
    fn number(&mut self, state: &[u8]) -> u32 {
        let number = self.states.number(state);
        self.places.resize(self.states.len(), SccStatus::New);
        number
    }

    fn set_number(&mut self, set: ProcessSet) -> u32 {
        *self.set_numbers.entry(set).or_insert_with(|| {
            self.sets.push(set);
            self.sets.len() as u32 - 1
        })
    }

    /// Returns the steps from a state. They are counted only the first time.
    fn edges(&mut self, at: u32, is_first: bool) -> Result<Vec<FairEdge>> {
        let (fair, state) = (self.fair, &self.states[at as usize]);
        let mut records = Vec::new();
        let collected = collect_fair(fair, state, &mut records).map_err(model_failure)?;
        if is_first {
            self.transitions += collected.counters.transitions;
            self.faults += faults(&collected);
        }
        let edges = fair_records(&records, self.model.width());
        Ok(edges
            .map(|(to, set)| FairEdge { to: self.number(to), set: self.set_number(set) })
            .collect())
    }

    /// Returns whether a limit is exceeded or the control has stopped the search.
    fn is_over(&self) -> bool {
        let states = self.states.len() as u64;
        let each = self.model.width() as u64 + STATE_OVERHEAD;
        let bytes = states * each + size_of::<FairEdge>() as u64 * self.held;
        states > self.limits.states || bytes > self.limits.bytes || self.control.is_stopped()
    }

    fn is_accepting(&self, at: u32) -> bool {
        (self.accepts)(&self.states[at as usize])
    }

    /// Pushes a state to the stack and the path, as a component of its own.
    fn enter(&mut self, at: u32, entered_by: AcceptanceMarks) -> Result<FairSccFrame> {
        // This call notices a passed deadline.
        let _ = self.control.should_stop();
        let first = self.stack.len() as u32;
        self.places[at as usize] = SccStatus::Stacked(first);
        self.stack.push(at);
        self.components.push(OpenComponent {
            first,
            brings: AcceptanceMarks::default(),
            entered_by,
        });
        let edges = self.edges(at, true)?;
        self.held += edges.len() as u64;
        Ok(FairSccFrame { at, edges, next: 0 })
    }

    /// Searches the states reachable from a state.
    fn search_from(&mut self, start: u32) -> Result<ProbeVerdict> {
        let mut way = vec![self.enter(start, AcceptanceMarks::default())?];
        while let Some(frame) = way.last_mut() {
            if self.is_over() {
                return Ok(ProbeVerdict::Open);
            }
            let at = frame.at;
            if let Some(&edge) = frame.edges.get(frame.next) {
                frame.next += 1;
                let fair_to = self.sets[edge.set as usize];
                let brought = AcceptanceMarks { accepts: self.is_accepting(at), fair_to };
                let place = self.places[edge.to as usize];
                match place {
                    SccStatus::New => {
                        let frame = self.enter(edge.to, brought)?;
                        way.push(frame);
                    }
                    SccStatus::Stacked(place) if self.merge_components(place, brought) => {
                        self.states_when_found = Some(self.states.len() as u64);
                        return Ok(ProbeVerdict::Found(self.lasso()?));
                    }
                    SccStatus::Stacked(_) | SccStatus::Left => {}
                }
                continue;
            }
            self.leave(at);
            self.held -= way.pop().map_or(0, |it| it.edges.len() as u64);
        }
        Ok(ProbeVerdict::None)
    }

    /// Merges the components from a position of the stack on, to which a step leads back. Returns whether a run is
    /// found.
    fn merge_components(&mut self, place: u32, mut brought: AcceptanceMarks) -> bool {
        while let Some(last) = self.components.pop_if(|it| it.first > place) {
            brought.add(last.brings);
            brought.add(last.entered_by);
        }
        let Some(last) = self.components.last_mut() else { return false };
        last.brings.add(brought);
        last.brings.accepts && self.all.without(last.brings.fair_to).is_empty()
    }

    /// Leaves a state. The first state of a component completes the component.
    fn leave(&mut self, at: u32) {
        let is_first =
            |it: &mut OpenComponent| SccStatus::Stacked(it.first) == self.places[at as usize];
        if let Some(left) = self.components.pop_if(is_first) {
            for state in self.stack.drain(left.first as usize..) {
                self.places[state as usize] = SccStatus::Left;
            }
        }
    }

    /// Returns a run to an accepting state of the last component, with a cycle that is fair to all processes.
    fn lasso(&mut self) -> Result<Lasso> {
        let first = self.components.last().map_or(0, |it| it.first);
        let inside = |place: &SccStatus| matches!(place, SccStatus::Stacked(at) if *at >= first);
        let inside: Vec<bool> = self.places.iter().map(inside).collect();
        let numbers = 0..inside.len() as u32;
        let turns: Vec<bool> =
            numbers.map(|at| inside[at as usize] && self.is_accepting(at)).collect();
        let is_known = |at: u32| (at as usize) < inside.len();
        let is_inside = |at: u32| inside.get(at as usize).is_some_and(|&it| it);
        let mut run = match self.initial.iter().find(|&&at| turns[at as usize]) {
            Some(&at) => vec![at],
            None => {
                let from = self.initial.clone();
                let way = self.nearest(&from, &is_known, &|_, edge| turns[edge.to as usize])?;
                let begun = way.first().map(|(at, _)| *at);
                begun.into_iter().chain(way.iter().map(|(_, edge)| edge.to)).collect()
            }
        };
        let back = run.len() - 1;
        let turn = run[back];
        let (mut missing, mut fair_to) = (self.all, Vec::new());
        let mut at = turn;
        // Each path leads to a step that is fair to a process without a fair step so far. The last path leads back.
        while !missing.is_empty() || fair_to.is_empty() || at != turn {
            let sets = self.sets.clone();
            let is_wanted = |_: u32, edge: FairEdge| match missing.is_empty() {
                true => edge.to == turn,
                false => {
                    // New sets did not exist when the component was found.
                    let set = sets.get(edge.set as usize);
                    set.is_some_and(|set| missing.without(*set) != missing)
                }
            };
            for (_, edge) in self.nearest(&[at], &is_inside, &is_wanted)? {
                let set = self.sets[edge.set as usize];
                missing = missing.without(set);
                fair_to.push(set);
                run.push(edge.to);
                at = edge.to;
            }
        }
        // The run ends where the cycle begins.
        run.pop();
        let states = run.into_iter().map(|at| self.states[at as usize].to_vec()).collect();
        Ok(Lasso { states, back, fair_to })
    }

    /// Returns a shortest path from one of some states through states that `may_pass`, up to and including a wanted
    /// step. Each step comes with its source state.
    fn nearest(
        &mut self,
        from: &[u32],
        may_pass: &dyn Fn(u32) -> bool,
        is_wanted: &dyn Fn(u32, FairEdge) -> bool,
    ) -> Result<Vec<(u32, FairEdge)>> {
        let mut before: HashMap<u32, Option<(u32, FairEdge)>> =
            from.iter().map(|&at| (at, None)).collect();
        let mut open = VecDeque::from(from.to_vec());
        while let Some(at) = open.pop_front() {
            for edge in self.edges(at, false)? {
                if !may_pass(edge.to) {
                    continue;
                }
                if is_wanted(at, edge) {
                    let last = Some((at, edge));
                    let mut way: Vec<(u32, FairEdge)> =
                        std::iter::successors(last, |(at, _)| before.get(at).copied().flatten())
                            .collect();
                    way.reverse();
                    return Ok(way);
                }
                if let std::collections::hash_map::Entry::Vacant(new) = before.entry(edge.to) {
                    new.insert(Some((at, edge)));
                    open.push_back(edge.to);
                }
            }
        }
        unreachable!("the search came there")
    }
}
