//! Simultaneous reachability: independent transitions of several processes are executed in one step.
//!
//! Partial order takes the transitions of one stubborn set in a state, and visits an intermediate state for each of
//! several independent transitions. If several stubborn sets of a state have disjoint enabled parts, this method
//! takes one transition of each instead, one after the other. Only the final state is stored (Özdemir and Ural,
//! "Protocol validation by simultaneous reachability analysis", 1997; Pelánek 2005, section 3.2.5; with stubborn
//! sets, "covering step graphs": Vernadat, Azéma and Michel 1996).
//!
//! ```text
//! s -a-> . -b-> u      {a, b} and {c} are stubborn sets of s: a and b of one process, c of another.
//! s -a-> . -c-> v      Of s lead two steps, a c to v and b c to w; the states behind a, b and c alone
//! s -b-> . -c-> w      are run through.
//! ```
//!
//! *Correctness.* Each of the sets stays stubborn after transitions of the others, which are not its members.
//! Consider a run from `s` to a violation. The first transition of the run in a set can be taken first, independent
//! of the other sets. If the run has no transition of a set, any enabled one can be taken, and the run continues
//! after it. So the step makes the run shorter, by one for each set with a transition of the run. If no set has one,
//! the run is postponed as by a stubborn set. `docs/reductions/simultaneous.md` has the proof and the cycle proviso.
//!
//! Partial order computes the sets (`partial_order/multi_stubborn.rs`), and simultaneous reachability is one more
//! method of it. This module executes the transitions.

use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceSets;
use spillway_exec::{GroupedSuccessors, SelectiveStateSpace};
use spillway_model::{Result, SuccessorSink, stop_request};

/// The title of the reduction.
pub const NAME: &str = "simultaneous reachability";

/// For each of some states, its sets in order. One instance of each set is taken.
#[derive(Default)]
pub(super) struct SimultaneousSets {
    /// The sets, and the end of those of each state.
    sets: Vec<Vec<u64>>,
    ends: Vec<usize>,
}

impl SimultaneousSets {
    /// Removes all states.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.ends.clear();
    }

    /// Adds a state with its chosen instances. Of each set in `several` one instance is taken; all others are taken
    /// together. The sets of several come last, so that few transitions are executed more than once.
    pub fn add(&mut self, chosen: &[u64], several: &[u64]) {
        let mut alone = chosen.to_vec();
        let several = several.chunks_exact(chosen.len()).filter(|it| bit_sets::count(it) > 0);
        several.clone().for_each(|it| bit_sets::subtract(&mut alone, it));
        let single = |member: usize| {
            let mut set = vec![0; chosen.len()];
            bit_sets::insert(&mut set, member);
            set
        };
        self.sets.extend(bit_sets::members(&alone).map(single));
        self.sets.extend(several.map(<[u64]>::to_vec));
        self.ends.push(self.sets.len());
    }

    /// Returns the sets of a state.
    pub fn of(&self, state: usize) -> &[Vec<u64>] {
        let begin = state.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sets[begin..self.ends[state]]
    }
}

/// Executes simultaneous transitions of states of `width` bytes.
#[derive(Clone, Copy)]
pub(super) struct SimultaneousSteps<'s, 'm> {
    pub selective: &'s (dyn SelectiveStateSpace + 'm),
    pub width: usize,
}

/// The origin of a state that simultaneous transitions reach.
#[derive(Clone, Copy)]
struct StepOrigin {
    /// The index of the first state.
    from: usize,
    /// The number of transitions that led to it.
    steps: u32,
}

/// The states after the same number of rounds.
#[derive(Default)]
struct StepFront {
    states: Vec<u8>,
    /// The origin of each state.
    began: Vec<StepOrigin>,
}

impl StepFront {
    fn push(&mut self, state: &[u8], began: StepOrigin) {
        self.states.extend_from_slice(state);
        self.began.push(began);
    }
}

impl SimultaneousSteps<'_, '_> {
    /// Collects the successors of each of `states`, as [`SelectiveStateSpace::expand_chosen_with_ends`] does. Returns
    /// `false` on failure.
    pub fn expand(
        self,
        states: &[u8],
        together: &SimultaneousSets,
        successors: &mut GroupedSuccessors,
        out: &mut SuccessorSink,
    ) -> bool {
        let all = states.chunks_exact(self.width).enumerate();
        let (mut front, mut round, mut any_fails) = (StepFront::default(), 0, false);
        all.for_each(|(at, state)| front.push(state, StepOrigin { from: at, steps: 0 }));
        while front.began.iter().any(|it| together.of(it.from).len() > round) {
            let took = self.round(&front, together, round, out);
            let Some((next, fails)) = took else { return false };
            (front, round, any_fails) = (next, round + 1, any_fails || fails);
        }
        if any_fails && !self.report_failures(states, together, out) {
            return false;
        }
        let GroupedSuccessors { states: successors, ends } = successors;
        successors.clear();
        ends.clear();
        let mut came = front.states.chunks_exact(self.width).zip(&front.began).peekable();
        for at in 0..states.len() / self.width {
            while let Some((state, began)) = came.next_if(|(_, began)| began.from == at) {
                successors.extend_from_slice(if began.steps > 0 { state } else { &[] });
            }
            ends.push(successors.len() as u64);
        }
        true
    }

    /// Reports the failing transitions. Returns `false` on failure. A transition that fails after others fails before
    /// them too. The counterexample ends there, as the intermediate states are not stored.
    fn report_failures(
        self,
        states: &[u8],
        together: &SimultaneousSets,
        out: &mut SuccessorSink,
    ) -> bool {
        let (mut successors, mut chosen) = (Vec::new(), self.selective.instances().sets());
        chosen.clear(states.len() / self.width);
        for at in 0..states.len() / self.width {
            together.of(at).iter().for_each(|it| bit_sets::extend(chosen.words_mut(at), it));
        }
        let run = |out: &mut SuccessorSink| self.selective.expand_chosen(states, &chosen, out);
        let Some(found) = out.wrap_uncounted(self.width, &mut successors, run) else {
            return false;
        };
        out.add_findings(found.findings);
        !stop_request::is_requested()
    }

    /// Executes an instance of each state's next set. Returns whether any fails. If none of a set leads to a state,
    /// because they fail or lead to excluded states, the other sets are executed without it.
    fn round(
        self,
        front: &StepFront,
        together: &SimultaneousSets,
        round: usize,
        out: &mut SuccessorSink,
    ) -> Option<(StepFront, bool)> {
        let all = || front.states.chunks_exact(self.width).zip(&front.began);
        let set = |began: &StepOrigin| together.of(began.from).get(round);
        let (mut moving, mut chosen) = (Vec::new(), self.selective.instances().sets());
        let count = front.began.iter().filter(|&it| set(it).is_some()).count();
        chosen.clear(count);
        for (number, (state, set)) in
            all().filter_map(|(state, began)| Some((state, set(began)?))).enumerate()
        {
            moving.extend_from_slice(state);
            chosen.words_mut(number).copy_from_slice(set);
        }
        let mut successors = GroupedSuccessors::default();
        let fails = self.take(&moving, &chosen, &mut successors, out)?;
        let (mut next, mut passed) = (StepFront::default(), 0);
        let mut after = successors.groups();
        for (state, began) in all() {
            let led = set(began).and_then(|_| after.next()).filter(|it| !it.is_empty());
            let Some(led) = led else {
                next.push(state, *began);
                continue;
            };
            passed += u64::from(began.steps > 0);
            let began = StepOrigin { steps: began.steps + 1, ..*began };
            led.chunks_exact(self.width).for_each(|it| next.push(it, began));
        }
        out.count_skipped(passed);
        Some((next, fails))
    }

    /// Executes one instance in each state. Returns whether any fails, or `None` on failure.
    fn take(
        self,
        states: &[u8],
        chosen: &InstanceSets,
        successors: &mut GroupedSuccessors,
        out: &mut SuccessorSink,
    ) -> Option<bool> {
        let GroupedSuccessors { states: successors, ends } = successors;
        let run = |out: &mut SuccessorSink| {
            self.selective.expand_chosen_with_ends(states, chosen, ends, out)
        };
        let found = out.wrap(self.width, successors, run)?;
        out.add_counters(found.counters);
        (!stop_request::is_requested()).then_some(!found.findings.is_empty())
    }

    /// Returns the states on each path of simultaneous transitions from a state, which is excluded.
    pub fn ways(self, state: &[u8], sets: &[Vec<u64>]) -> Result<Vec<Vec<Vec<u8>>>> {
        let mut ways: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
        let mut chosen = self.selective.instances().sets();
        chosen.clear(1);
        for set in sets {
            chosen.words_mut(0).copy_from_slice(set);
            let mut longer = Vec::new();
            for way in ways {
                let at = way.last().map_or(state, Vec::as_slice);
                let mut led = Vec::new();
                let run = |out: &mut SuccessorSink| self.selective.expand_chosen(at, &chosen, out);
                let _ = SuccessorSink::collect(self.width, &mut led, run)?;
                let on = |next: &[u8]| way.iter().cloned().chain([next.to_vec()]).collect();
                longer.extend(led.chunks_exact(self.width).map(on));
                if led.is_empty() {
                    longer.push(way);
                }
            }
            ways = longer;
        }
        Ok(ways)
    }
}
