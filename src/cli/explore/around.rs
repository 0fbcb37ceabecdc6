//! The states around a state, as a graph.

use crate::cli::model_walk::ModelWalk;
use crate::model::StepOutcome;
use crate::report::{StateDiagram, StateDiagramEdge, print_state};
use std::collections::HashMap;

/// The maximum number of steps to a state that is drawn, and of drawn states.
const STEPS_MAX: usize = 2;
const DRAWN_MAX: usize = 40;

/// A drawn state.
struct DrawnState {
    state: Vec<u8>,
    /// The choices that lead to it from the first state.
    choices: Vec<usize>,
}

/// Returns the graph of the states that are a few steps away from the current one. `None` without a state. `address`
/// returns the address of the state after some choices.
pub(super) fn states_around(
    walk: &ModelWalk<'_>,
    address: impl Fn(&[usize]) -> String,
) -> Option<StateDiagram> {
    let first = walk.state()?.to_vec();
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let mut drawn = vec![DrawnState { state: first, choices: Vec::new() }];
    let (mut steps, mut from) = (Vec::new(), 0);
    while let Some(DrawnState { state, choices }) = drawn.get(from) {
        let (depth, before) = (choices.len(), choices.clone());
        for (choice, step) in walk.walked.steps(state).into_iter().enumerate() {
            let title = step.title();
            let StepOutcome::Successor(state) = step.outcome else {
                steps.push(StateDiagramEdge { from, to: None, title });
                continue;
            };
            let has_room = depth < STEPS_MAX && drawn.len() < DRAWN_MAX;
            let known = numbers.get(&state).copied();
            let to = known.or_else(|| {
                has_room.then(|| {
                    let choices = [&before[..], &[choice]].concat();
                    numbers.insert(state.clone(), drawn.len());
                    drawn.push(DrawnState { state, choices });
                    drawn.len() - 1
                })
            });
            steps.extend(to.map(|to| StateDiagramEdge { from, to: Some(to), title }));
        }
        from += 1;
    }
    let values = |it: &DrawnState| {
        print_state(walk.model.sources(), &walk.walked.describe(&it.state)).join("\n")
    };
    let wrong = drawn.iter().enumerate().filter(|(_, it)| !walk.violations(&it.state).is_empty());
    Some(StateDiagram {
        levels: drawn.iter().map(|it| it.choices.len()).collect(),
        values: drawn.iter().map(values).collect(),
        wrong: wrong.map(|it| it.0).collect(),
        addresses: drawn.iter().map(|it| address(&it.choices)).collect(),
        steps,
    })
}
