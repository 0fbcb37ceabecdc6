//! The state graph of a small model.

use crate::model::{StepDescription, StepOutcome, SystemDescription};
use crate::report::{StateDiagram, StateDiagramEdge, print_state};
use crate::session::{SearchedModel, SourceModel};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Returns the diagram of a model's states for a page. `None` if there are more than `most`.
pub(super) fn state_diagram(model: &dyn SourceModel, most: u64) -> Option<StateDiagram> {
    let searched = model.searched();
    let graph = ReachableGraph::of(walkable(&searched), most)?;
    let sources = model.sources();
    let values = graph.states.iter().map(|it| print_state(sources, &graph.walked.describe(it)));
    let wrong = graph.states.iter().enumerate();
    let wrong = wrong.filter(|(_, it)| !graph.walked.violations(it).is_empty()).map(|it| it.0);
    let steps = graph.steps.iter().map(|ReachableEdge { from, step, to }| StateDiagramEdge {
        from: *from,
        to: *to,
        title: match &step.outcome {
            StepOutcome::Fault(fault) => format!("{}: {}", step.title(), fault.message),
            StepOutcome::Successor(_) => step.title(),
        },
    });
    Some(StateDiagram {
        levels: graph.levels(),
        values: values.map(|it| it.join("\n")).collect(),
        wrong: wrong.collect(),
        steps: steps.collect(),
        addresses: Vec::new(),
    })
}

/// Returns the description of a model, for walks that need every state at once.
pub(super) fn walkable<'m>(searched: &'m SearchedModel<'_>) -> &'m dyn SystemDescription {
    if let Some(growing) = searched.model().capabilities().growing {
        growing.grow_at_once();
    }
    searched.model().description()
}

/// The states of an unreduced model in breadth-first order, with their transitions.
pub(super) struct ReachableGraph<'m> {
    pub walked: &'m dyn SystemDescription,
    pub states: Vec<Vec<u8>>,
    /// The number of initial states.
    pub starts: usize,
    pub steps: Vec<ReachableEdge>,
}

/// A transition between states, given by number.
pub(super) struct ReachableEdge {
    pub from: usize,
    pub step: StepDescription,
    /// The successor. `None` if the step fails.
    pub to: Option<usize>,
}

impl<'m> ReachableGraph<'m> {
    /// Explores a model. `None` if it has more than `most` states.
    pub(super) fn of(walked: &'m dyn SystemDescription, most: u64) -> Option<ReachableGraph<'m>> {
        let (mut states, mut numbers) = (Vec::new(), HashMap::new());
        let mut number = |state: Vec<u8>, states: &mut Vec<Vec<u8>>| {
            *numbers.entry(state).or_insert_with_key(|state| {
                states.push(state.clone());
                states.len() - 1
            })
        };
        // There may be very many initial states.
        walked.visit_starts(&mut |step| {
            if let StepOutcome::Successor(state) = step.outcome {
                number(state, &mut states);
            }
            match states.len() as u64 > most {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let (starts, mut steps, mut from) = (states.len(), Vec::new(), 0);
        while from < states.len() {
            if states.len() as u64 > most {
                return None;
            }
            for step in walked.steps(&states[from].clone()) {
                let to = match &step.outcome {
                    StepOutcome::Successor(state) => Some(number(state.clone(), &mut states)),
                    StepOutcome::Fault(_) => None,
                };
                steps.push(ReachableEdge { from, step, to });
            }
            from += 1;
        }
        Some(ReachableGraph { walked, states, starts, steps })
    }

    /// Returns the depth of each state.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![usize::MAX; self.states.len()];
        levels[..self.starts].fill(0);
        // Transitions are in the order of their source states, and these in the order of their levels.
        for (from, to) in self.steps.iter().filter_map(|it| Some((it.from, it.to?))) {
            levels[to] = levels[to].min(levels[from] + 1);
        }
        levels
    }
}
