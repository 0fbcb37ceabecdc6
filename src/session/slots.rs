//! How many instances a `run` in a loop makes, where the user does not say.
//!
//! A language may have no bound, or one that is far off, and room for processes that never come makes states wide. So
//! a short look at the model counts the instances that there are at one time, and the search gets
//! room for those. Should one more come after all, the search is made again with room for as many
//! as the front end gives.

use super::TextModel;
use crate::exec::{Explain as _, FaultKind, Interp, StepOutcome, Violation};
use crate::front::Options;
use crate::ir::{ActionId, StmtKind};
use crate::search::Outcome;
use std::collections::{HashSet, VecDeque};

/// So many states are looked at first.
const STATES: usize = 3000;

/// A model with no more slots than a short look found use for; nothing if that makes no difference.
pub fn fewer(model: &TextModel) -> Option<Options> {
    let program = model.interp.program();
    let looped = model.language.options.slots?;
    if model.options.slots.is_some() {
        return None;
    }
    // Only a `run` in a loop gets as many as that.
    let is_looped = |process| program.slots(process) >= looped;
    if !program.processes.keys().any(is_looped) {
        return None;
    }
    let most = most_instances(&model.interp).max(1);
    let spare = program.processes.keys().any(|process| program.slots(process) > most);
    spare.then(|| Options { slots: Some(most), ..model.options.clone() })
}

/// Whether a search met more instances than there were slots for.
pub fn exceeded(model: &TextModel, outcome: &Outcome) -> bool {
    let actions = &model.interp.program().actions;
    outcome.findings.iter().any(|(check, _)| match check {
        Violation::Fault(FaultKind::Limit, action) => {
            let action = actions.get(ActionId(action));
            action.is_some_and(|it| {
                it.body.iter().any(|stmt| matches!(stmt.kind, StmtKind::Run { .. }))
            })
        }
        _ => false,
    })
}

/// The most instances of one process in some states: those nearest to the start, and those of
/// walks from there that take the last step of each state, which is that of the oldest process.
fn most_instances(model: &Interp) -> u32 {
    let successors = |steps: Vec<crate::exec::Step>| {
        steps.into_iter().filter_map(|step| match step.outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        })
    };
    let (mut most, mut seen) = (0, HashSet::new());
    let mut open: VecDeque<Vec<u8>> = successors(model.starts()).collect();
    while let Some(state) = open.pop_front() {
        if seen.contains(&state) {
            continue;
        }
        let live = model.program().processes.keys().map(|process| model.live(&state, process));
        most = live.fold(most, u32::max);
        let breadth = seen.len() < STATES / 2;
        let mut next: Vec<_> =
            successors(model.steps(&state)).filter(|it| !seen.contains(it)).collect();
        seen.insert(state);
        match breadth {
            true => open.extend(next),
            // Depth first from here on, as deep as the states left allow.
            false => {
                next.reverse();
                next.into_iter().for_each(|state| open.push_front(state));
            }
        }
        if seen.len() >= STATES {
            break;
        }
    }
    most
}
