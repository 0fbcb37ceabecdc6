//! Simultaneous reachability: steps of several that do not disturb each other are taken as one.
//!
//! Partial order takes of a state the steps of one stubborn set, and comes through as many states as there are steps that
//! go together. Where the enabled parts of several stubborn sets of a state have nothing in common, one of each is taken
//! instead, one behind the other, and only what that leads to is stored (Özdemir and Ural, "Protocol validation by
//! simultaneous reachability analysis", 1997; Pelánek 2005, section 3.2.5; with stubborn sets, "covering step graphs":
//! Vernadat, Azéma and Michel 1996).
//!
//! ```text
//! s -a-> . -b-> u      {a, b} and {c} are stubborn sets of s: a and b of one process, c of another.
//! s -a-> . -c-> v      Of s lead two steps, a c to v and b c to w; the states behind a, b and c alone
//! s -b-> . -c-> w      are run through.
//! ```
//!
//! *Why nothing is lost.* Each of the sets stays stubborn behind steps of the others, as those are not its members. Of a run
//! out of `s` to something that is looked for, the first step that a set has can be taken first, whatever the other sets
//! have; where a set has none any step of it can be, and the run goes on behind it. So the steps that are taken together
//! make the run shorter, by one for each set that has a step of it; if none has, it is what a stubborn set puts off. The
//! proof, and what keeps that from being put off for ever, is in `docs/reductions/simultaneous.md`.
//!
//! Which sets these are partial order says (`partial_order/multi_stubborn.rs`), of which this is one more method; here is how
//! their steps are taken.

use crate::analysis::bit_sets;
use crate::analysis::instances::InstanceSets;
use crate::exec::{GroupedSuccessors, SelectiveStateSpace};
use crate::model::{Result, SuccessorSink, stop_request};

/// What the reduction is called.
pub const NAME: &str = "simultaneous reachability";

/// Of each of some states the sets of which one instance each is taken, in the order in which they are.
#[derive(Default)]
pub(super) struct SimultaneousSets {
    /// The sets, and of each state where its own end.
    sets: Vec<Vec<u64>>,
    ends: Vec<usize>,
}

impl SimultaneousSets {
    /// Begins anew.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.ends.clear();
    }

    /// Adds a state of which all these instances are taken: those of a set of several one for another, all others
    /// together. The several come last, so that little is taken more than once.
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

    /// The sets of a state.
    pub fn of(&self, state: usize) -> &[Vec<u64>] {
        let begin = state.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sets[begin..self.ends[state]]
    }
}

/// Takes steps together, of states of so many bytes.
#[derive(Clone, Copy)]
pub(super) struct SimultaneousSteps<'s, 'm> {
    pub selective: &'s (dyn SelectiveStateSpace + 'm),
    pub width: usize,
}

/// How a state was come to by steps that are taken together.
#[derive(Clone, Copy)]
struct StepOrigin {
    /// The number of the state of which they are steps.
    from: usize,
    /// How many steps led to it.
    steps: u32,
}

/// Where states have come to, one step behind the other.
#[derive(Default)]
struct StepFront {
    states: Vec<u8>,
    /// How each was come to.
    began: Vec<StepOrigin>,
}

impl StepFront {
    fn push(&mut self, state: &[u8], began: StepOrigin) {
        self.states.extend_from_slice(state);
        self.began.push(began);
    }
}

impl SimultaneousSteps<'_, '_> {
    /// Collects what each of `states` leads to, as [`SelectiveStateSpace::expand_chosen_with_ends`] does; false if that failed.
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

    /// Tells which steps fail; false if that failed. Where one fails behind steps of others, it fails before them: that is
    /// where a counterexample ends, as the states between are not stored.
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

    /// Takes an instance of the set that is next, where there is one; tells whether any fails. Where none leads on, as they
    /// fail or lead to what is left out, the others are taken without.
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

    /// Takes one instance of each state; tells whether any fails, or nothing if that failed.
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

    /// The states on each way by steps that are taken together of a state, which is left out.
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
