//! Searches from a state for one that satisfies a goal, or for a step that stops at a breakpoint: breadth-first, or by
//! random walks. They are bounded.

use crate::cli::breakpoints::{BreakpointFacts, WatchedBreakpoints};
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::cli::state_goal::StateGoal;
use crate::model::StepDescription;
use crate::random::SplitMix64;
use std::collections::HashSet;
use std::time::Instant;

/// The maximum number of steps of a random walk. Then another one begins.
const WALK_STEPS_MAX: usize = 400;

/// Where a search ends.
pub(super) struct RunGoal<'g> {
    /// The states at which it ends.
    pub until: Option<StateGoal>,
    /// The breakpoints at which it ends.
    pub breakpoints: WatchedBreakpoints<'g>,
}

/// The bounds of a search.
#[derive(Clone, Copy)]
pub(super) struct RunBounds {
    /// The maximum number of expanded states.
    pub states: usize,
    /// The time at which it ends.
    pub deadline: Instant,
}

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RunResult {
    /// The choices from the first state to the goal.
    Found(Vec<usize>),
    /// The goal cannot be reached.
    Nowhere(usize),
    /// A bound has ended the search after this number of states.
    Open(usize),
}

impl RunGoal<'_> {
    /// Returns the facts about a state that breakpoints need.
    fn facts(&self, state: Option<&[u8]>) -> BreakpointFacts {
        match self.breakpoints.is_empty() {
            true => BreakpointFacts::default(),
            false => self.breakpoints.facts(state),
        }
    }

    fn is_hit(&self, step: &WalkStep, before: &BreakpointFacts, after: &BreakpointFacts) -> bool {
        !self.breakpoints.hit(&step.step, before, after).is_empty()
    }

    fn is_met(&self, walk: &ModelWalk<'_>, state: &[u8], steps: &[StepDescription]) -> bool {
        self.until.as_ref().is_some_and(|it| it.is_met(walk.walked, state, steps))
    }
}

/// Returns the steps of a state with their numbers.
fn numbered(steps: Vec<StepDescription>) -> impl Iterator<Item = WalkStep> {
    steps.into_iter().enumerate().map(|(choice, step)| WalkStep { choice, step })
}

/// A state that a breadth-first search has reached.
struct ReachedState {
    state: Vec<u8>,
    facts: BreakpointFacts,
    /// The state before it, by number. `None` if it follows the first state.
    from: Option<usize>,
    /// The choice in the state before it.
    choice: usize,
}

/// A breadth-first search.
struct NearestSearch<'s> {
    goal: &'s RunGoal<'s>,
    /// The first state. `None` before the initial states.
    first: Option<Vec<u8>>,
    first_facts: BreakpointFacts,
    known: HashSet<Vec<u8>>,
    reached: Vec<ReachedState>,
    /// The choices to the first step that stops at a breakpoint.
    hit: Option<Vec<usize>>,
}

impl NearestSearch<'_> {
    /// Adds the state after a step from a reached state, or from the first one.
    fn add(&mut self, step: &WalkStep, from: Option<usize>) {
        let state = step.state();
        let is_new = |it: &&[u8]| Some(*it) != self.first.as_deref() && !self.known.contains(*it);
        let new = state.filter(is_new);
        // A step to a known state may stop at a breakpoint too.
        if self.goal.breakpoints.is_empty() && new.is_none() {
            return;
        }
        let facts = self.goal.facts(state);
        let before = from.map_or(&self.first_facts, |it| &self.reached[it].facts);
        if self.hit.is_none() && self.goal.is_hit(step, before, &facts) {
            let choices = from.map_or(Vec::new(), |it| self.choices_to(it));
            self.hit = Some([&choices[..], &[step.choice]].concat());
        }
        if let Some(state) = new.map(<[u8]>::to_vec) {
            self.known.insert(state.clone());
            self.reached.push(ReachedState { state, facts, from, choice: step.choice });
        }
    }

    /// Returns the choices that lead to a reached state.
    fn choices_to(&self, number: usize) -> Vec<usize> {
        let before = |number: &usize| self.reached[*number].from;
        let numbers = std::iter::successors(Some(number), before);
        let mut choices: Vec<usize> = numbers.map(|it| self.reached[it].choice).collect();
        choices.reverse();
        choices
    }
}

/// Searches breadth-first from the end of a walk, which may be before its initial state. The current state does not
/// count, unless the walk is before its initial state.
pub(super) fn nearest(walk: &ModelWalk<'_>, goal: &RunGoal<'_>, bounds: RunBounds) -> RunResult {
    let first = walk.state().map(<[u8]>::to_vec);
    let first_facts = goal.facts(first.as_deref());
    let (known, reached) = (HashSet::new(), Vec::new());
    let mut search = NearestSearch { goal, first, first_facts, known, reached, hit: None };
    walk.options(bounds.states).iter().for_each(|it| search.add(it, None));
    let (mut next, mut level_end) = (0, 0);
    loop {
        // All states that are nearer than the step at a breakpoint were visited.
        if next == level_end {
            if let Some(choices) = search.hit {
                return RunResult::Found(choices);
            }
            level_end = search.reached.len();
        }
        let Some(ReachedState { state, .. }) = search.reached.get(next) else {
            return RunResult::Nowhere(next);
        };
        if next >= bounds.states || Instant::now() >= bounds.deadline {
            return search.hit.map_or(RunResult::Open(next), RunResult::Found);
        }
        let steps = walk.walked.steps(state);
        if goal.is_met(walk, state, &steps) {
            return RunResult::Found(search.choices_to(next));
        }
        numbered(steps).for_each(|it| search.add(&it, Some(next)));
        next += 1;
    }
}

/// Takes random steps from the end of a walk. After a state without steps, or after [`WALK_STEPS_MAX`] steps, it begins
/// again. The current state does not count, unless the walk is before its initial state.
pub(super) fn at_random(
    walk: &ModelWalk<'_>,
    goal: &RunGoal<'_>,
    seed: u64,
    bounds: RunBounds,
) -> RunResult {
    let (first, first_facts) = (walk.options(bounds.states), goal.facts(walk.state()));
    let mut random = SplitMix64::new(seed);
    let (mut choices, mut options, mut facts) = (Vec::new(), first.clone(), first_facts.clone());
    for taken in 0..bounds.states {
        if Instant::now() >= bounds.deadline {
            return RunResult::Open(taken);
        }
        options.retain(|it| it.state().is_some());
        if options.is_empty() && choices.is_empty() {
            return RunResult::Nowhere(0);
        }
        if options.is_empty() || choices.len() >= WALK_STEPS_MAX {
            choices.clear();
            options.clone_from(&first);
            facts.clone_from(&first_facts);
            continue;
        }
        let step = options.swap_remove(random.below(options.len()));
        let Some(state) = step.state() else { continue };
        choices.push(step.choice);
        let before = std::mem::replace(&mut facts, goal.facts(Some(state)));
        let steps = walk.walked.steps(state);
        if goal.is_hit(&step, &before, &facts) || goal.is_met(walk, state, &steps) {
            return RunResult::Found(choices);
        }
        options = numbered(steps).collect();
    }
    RunResult::Open(bounds.states)
}
