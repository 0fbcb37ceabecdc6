//! Consistency of a model's answers.
//!
//! A search expands blocks of states; a counterexample is described step by step. If the two differ, a verdict has no
//! counterexample, or a wrong one. [`check_consistency`] searches for such differences in the states of random walks.
//! It is meant for the tests of a model.

use crate::model::{
    ExpansionOutcome, ModelError, StepDescription, StepOutcome, SuccessorSink, SystemDescription,
    Violation,
};
use crate::random::SplitMix64;
use std::collections::BTreeMap;
use std::fmt;

/// A difference between two answers of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInconsistency {
    /// The state in which they differ, as bytes; none if they differ at the start.
    pub state: Option<Vec<u8>>,
    /// The difference.
    pub what: String,
}

impl std::error::Error for ModelInconsistency {}

impl fmt::Display for ModelInconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            None => write!(f, "at the start: {}", self.what),
            Some(state) => write!(f, "in the state {state:02x?}: {}", self.what),
        }
    }
}

/// The number of states of a walk.
const WALK: u64 = 200;

/// Checks `states` states of walks determined by `seed`. In each state it compares the expansion with the steps and
/// violations, the successors with the write masks, and the answer with that of a second call.
///
/// ```
/// # struct Counter;
/// # use spillway::{PackedSystem, TransitionSystem, check_consistency};
/// # impl TransitionSystem for Counter {
/// #     type State = u8;
/// #     type Action = ();
/// #     fn initial(&self) -> Vec<u8> { vec![0] }
/// #     fn actions(&self, _: &u8, actions: &mut Vec<()>) { actions.push(()) }
/// #     fn next(&self, state: &u8, _: &()) -> Option<u8> { Some((state + 1) % 9) }
/// # }
/// check_consistency(&PackedSystem::new(&Counter), 1000, 1)?;
/// # Ok::<(), spillway::ModelInconsistency>(())
/// ```
///
/// # Errors
///
/// The first difference.
pub fn check_consistency(
    model: &dyn SystemDescription,
    states: u64,
    seed: u64,
) -> Result<(), ModelInconsistency> {
    let masks = model.write_masks();
    let starts = compare_initial(model)?;
    let (mut random, mut at) = (SplitMix64::new(seed), None::<Vec<u8>>);
    for number in 0..states {
        let state = match at.take().filter(|_| !number.is_multiple_of(WALK)) {
            Some(state) => state,
            None if starts.is_empty() => return Ok(()),
            None => starts[random.below(starts.len())].clone(),
        };
        let successors = compare_state(model, &state, &masks)?;
        if !successors.is_empty() {
            at = Some(successors[random.below(successors.len())].clone());
        }
    }
    Ok(())
}

/// Compares the initial states of a search with the described starts. Returns the states.
fn compare_initial(model: &dyn SystemDescription) -> Result<Vec<Vec<u8>>, ModelInconsistency> {
    let differ = |what| Err(ModelInconsistency { state: None, what });
    let expanded = RecordedExpansion::record(model, |out| model.initial(out));
    let expanded =
        expanded.map_err(|error| ModelInconsistency { state: None, what: error.to_string() })?;
    let told = successors(model.starts());
    if expanded.successors != told {
        let (initial, told) = (expanded.successors.len(), told.len());
        return differ(format!(
            "`initial` gives {initial} states and `each_start` {told}, or others, or in another order"
        ));
    }
    Ok(told)
}

/// Compares the answers for one state. Returns its successors.
fn compare_state(
    model: &dyn SystemDescription,
    state: &[u8],
    masks: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, ModelInconsistency> {
    let here = |what: String| ModelInconsistency { state: Some(state.to_vec()), what };
    let expand = || {
        let expanded = RecordedExpansion::record(model, |out| model.expand(state, out));
        expanded.map_err(|error| here(error.to_string()))
    };
    let expanded = expand()?;
    let again = expand()?;
    if expanded != again {
        return Err(here("`expand` gives another result when it is called again".into()));
    }
    let steps = model.steps(state);
    let told = RecordedExpansion {
        findings: findings(&steps, model.violations(state)),
        successors: successors(steps),
    };
    if expanded.successors != told.successors {
        let (expanded, told) = (expanded.successors.len(), told.successors.len());
        return Err(here(format!(
            "`expand` gives {expanded} successors and `steps` {told}, or others, or in another order"
        )));
    }
    if expanded.findings != told.findings {
        let (expanded, told) = (expanded.findings, told.findings);
        return Err(here(format!(
            "`expand` finds {expanded:?}, `steps` and `violations` {told:?}"
        )));
    }
    let outside = |next: &Vec<u8>| !masks.iter().any(|mask| changes_within(mask, state, next));
    match told.successors.iter().find(|next| outside(next)) {
        Some(next) => {
            Err(here(format!("no write mask has all that the step to {next:02x?} changes")))
        }
        None => Ok(told.successors),
    }
}

fn changes_within(mask: &[u8], one: &[u8], other: &[u8]) -> bool {
    mask.iter().zip(one.iter().zip(other)).all(|(mask, (one, other))| (one ^ other) & !mask == 0)
}

/// The result of an expansion, as a search receives it.
#[derive(Debug, PartialEq, Eq)]
struct RecordedExpansion {
    successors: Vec<Vec<u8>>,
    findings: BTreeMap<Violation, u64>,
}

impl RecordedExpansion {
    fn record(
        model: &dyn SystemDescription,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<RecordedExpansion, ModelError> {
        let mut buffer = Vec::new();
        let collected = SuccessorSink::collect(model.width(), &mut buffer, run);
        let ExpansionOutcome { findings, .. } = collected?;
        Ok(RecordedExpansion {
            successors: buffer.chunks_exact(model.width()).map(<[u8]>::to_vec).collect(),
            findings: findings.iter().map(|(check, found)| (check, found.count)).collect(),
        })
    }
}

fn successors(steps: Vec<StepDescription>) -> Vec<Vec<u8>> {
    let states = steps.into_iter().filter_map(|step| match step.outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    });
    states.collect()
}

/// Returns the violations in a state, with their numbers.
fn findings(steps: &[StepDescription], violations: Vec<Violation>) -> BTreeMap<Violation, u64> {
    let faults = steps.iter().filter_map(|step| match &step.outcome {
        StepOutcome::Fault(fault) => Some(Violation::Fault(fault.kind, step.action)),
        StepOutcome::Successor(_) => None,
    });
    let mut found = BTreeMap::new();
    for check in faults.chain(violations) {
        *found.entry(check).or_default() += 1;
    }
    found
}
