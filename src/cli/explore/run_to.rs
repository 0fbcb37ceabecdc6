//! Searches from a state for one that satisfies a goal: breadth-first, or by random walks. They are bounded.

use crate::cli::expression_watch::{self, ExpressionWatch};
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::model::{StateCondition, StepDescription, SystemDescription};
use crate::random::SplitMix64;
use crate::session::SourceModel;
use std::collections::HashSet;
use std::time::Instant;

/// The name of the goal among the properties of a model.
const GOAL: &str = "until";

/// The maximum number of steps of a random walk. Then another one begins.
const WALK_STEPS_MAX: usize = 400;

/// The states that are searched for.
pub(super) enum StateGoal {
    /// The states that satisfy an expression.
    Expression(ExpressionWatch),
    /// One state.
    State(Vec<u8>),
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
    /// The choices from the first state to one that satisfies the goal.
    Found(Vec<usize>),
    /// No state that can be reached satisfies it.
    Nowhere(usize),
    /// A bound has ended the search after this number of states.
    Open(usize),
}

impl StateGoal {
    /// Returns the condition of an expression for [`of_condition`](StateGoal::of_condition).
    pub(super) fn condition(text: &str, is_program: bool) -> StateCondition {
        expression_watch::condition(GOAL, text, is_program)
    }

    /// Returns the goal of a model that was read with such a condition.
    pub(super) fn of_condition(
        model: &dyn SourceModel,
        walked: &dyn SystemDescription,
    ) -> Option<StateGoal> {
        ExpressionWatch::of_condition(GOAL, model, walked).map(StateGoal::Expression)
    }

    /// Returns whether a state with these steps satisfies the goal. If the evaluation fails, it does not.
    fn is_met(
        &self,
        walked: &dyn SystemDescription,
        state: &[u8],
        steps: &[StepDescription],
    ) -> bool {
        match self {
            StateGoal::Expression(watch) => watch.holds(walked, state, steps),
            StateGoal::State(wanted) => state == wanted,
        }
    }
}

/// A state that a breadth-first search has reached.
struct ReachedState {
    state: Vec<u8>,
    /// The state before it, by number. `None` if it follows the first state.
    from: Option<usize>,
    /// The choice in the state before it.
    choice: usize,
}

/// Searches breadth-first from the end of a walk, which may be before its initial state. The current state does not
/// count, unless the walk is before its initial state.
pub(super) fn nearest(walk: &ModelWalk<'_>, goal: &StateGoal, bounds: RunBounds) -> RunResult {
    let walked = walk.walked;
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut reached: Vec<ReachedState> = Vec::new();
    let first = walk.state().map(<[u8]>::to_vec);
    let mut add = |step: &WalkStep, from: Option<usize>, reached: &mut Vec<ReachedState>| {
        let Some(state) = step.state().filter(|it| Some(*it) != first.as_deref()) else { return };
        if known.insert(state.to_vec()) {
            reached.push(ReachedState { state: state.to_vec(), from, choice: step.choice });
        }
    };
    walk.options(bounds.states).iter().for_each(|it| add(it, None, &mut reached));
    let mut next = 0;
    while next < reached.len() {
        if next >= bounds.states || Instant::now() >= bounds.deadline {
            return RunResult::Open(next);
        }
        let state = reached[next].state.clone();
        let steps = walked.steps(&state);
        if goal.is_met(walked, &state, &steps) {
            return RunResult::Found(choices_to(&reached, next));
        }
        for (choice, step) in steps.into_iter().enumerate() {
            add(&WalkStep { choice, step }, Some(next), &mut reached);
        }
        next += 1;
    }
    RunResult::Nowhere(next)
}

/// Returns the choices that lead to a reached state.
fn choices_to(reached: &[ReachedState], number: usize) -> Vec<usize> {
    let before = |number: &usize| reached[*number].from;
    let numbers = std::iter::successors(Some(number), before);
    let mut choices: Vec<usize> = numbers.map(|it| reached[it].choice).collect();
    choices.reverse();
    choices
}

/// Takes random steps from the end of a walk. After a state without steps, or after [`WALK_STEPS_MAX`] steps, it begins
/// again. The current state does not count, unless the walk is before its initial state.
pub(super) fn at_random(
    walk: &ModelWalk<'_>,
    goal: &StateGoal,
    seed: u64,
    bounds: RunBounds,
) -> RunResult {
    let walked = walk.walked;
    let first = walk.options(bounds.states);
    let mut random = SplitMix64::new(seed);
    let (mut choices, mut options) = (Vec::new(), first.clone());
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
            continue;
        }
        let step = options.swap_remove(random.below(options.len()));
        let Some(state) = step.state() else { continue };
        choices.push(step.choice);
        let steps = walked.steps(state);
        if goal.is_met(walked, state, &steps) {
            return RunResult::Found(choices);
        }
        options =
            steps.into_iter().enumerate().map(|(choice, step)| WalkStep { choice, step }).collect();
    }
    RunResult::Open(bounds.states)
}
