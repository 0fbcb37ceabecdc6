//! The comparison of two executors: the interpreter, and the code compiled from the same program.

use spillway::exec::jit::CompiledStep;
use spillway::exec::{Interp, Jit};
use spillway::model::{
    ExpansionOutcome, Findings, StateSpace, StepOutcome, SuccessorSink, SystemDescription,
};
use std::ops::ControlFlow;

/// Returns random reachable states. They come from random walks that restart in final states and every 1000 steps.
pub fn random_states(model: &Interp, count: usize, seed: u64) -> Vec<u8> {
    let mut random = super::Random::new(seed);
    let (mut states, mut options, mut walked) = (Vec::new(), model.starts(), 0);
    for _ in 0..count {
        let successors: Vec<&Vec<u8>> = options
            .iter()
            .filter_map(|step| match &step.outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(_) => None,
            })
            .collect();
        walked += 1;
        options = match successors.is_empty() || walked % 1000 == 0 {
            true => model.starts(),
            false => {
                let state = successors[random.below(successors.len())];
                states.extend_from_slice(state);
                model.steps(state)
            }
        };
    }
    states
}

/// Returns the result of expanding states: successors, the number of transitions, and findings.
pub fn expanded(model: &dyn StateSpace, states: &[u8], limit: usize) -> (Vec<u8>, u64, Findings) {
    collected(model, limit, |out| model.expand(states, out))
}

/// Returns the result of `run`: successors, the number of transitions, and findings.
pub fn collected(
    model: &dyn StateSpace,
    limit: usize,
    run: impl FnOnce(&mut SuccessorSink),
) -> (Vec<u8>, u64, Findings) {
    let (mut all, mut buffer) = (Vec::new(), Vec::new());
    let keep = |buffer: &mut Vec<u8>| {
        all.append(buffer);
        ControlFlow::Continue(())
    };
    let ExpansionOutcome { counters, findings, .. } =
        SuccessorSink::collect_in_batches(model.width(), &mut buffer, limit, keep, run).unwrap();
    all.append(&mut buffer);
    (all, counters.transitions, findings)
}

/// Panics unless both give the same successors and errors, in any order: compiled code completes the transitions of
/// several actions in one batch.
pub fn assert_agree_in_any_order(name: &str, interp: &Interp, jit: &Jit, states: &[u8]) {
    for state in states.chunks_exact(interp.width()) {
        // Properties whose evaluation faults are not compiled actions.
        let actions = interp.program().actions.len() as u32;
        let steps = interp.steps(state).into_iter().filter(|step| step.action < actions);
        let expected = steps.map(|step| match step.outcome {
            StepOutcome::Successor(state) => format!("{state:02x?}"),
            StepOutcome::Fault(fault) => format!("{:?} at {:?}", fault.kind, fault.span),
        });
        let found = jit.compiled_steps(state).into_iter().map(|step| match step.outcome {
            Ok(state) => format!("{state:02x?}"),
            Err((kind, span)) => format!("{kind:?} at {span:?}"),
        });
        let (mut expected, mut found): (Vec<_>, Vec<_>) = (expected.collect(), found.collect());
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}: steps of {state:02x?}: {:?}", interp.describe(state));
    }
    for limit in [1 << 20, 5 * interp.width()] {
        let (expected, found) = (expanded(interp, states, limit), expanded(jit, states, limit));
        assert_eq!(found.2, expected.2, "{name}: findings");
        assert_eq!(found.1, expected.1, "{name}: transitions");
        let sorted = |all: &[u8]| {
            let mut all: Vec<Vec<u8>> = all.chunks_exact(interp.width()).map(Vec::from).collect();
            all.sort();
            all
        };
        assert!(sorted(&found.0) == sorted(&expected.0), "{name}: successors of a block");
    }
}

/// Panics unless both give the same successors, actions and errors, in the same order, for each state alone and for all
/// states together.
pub fn assert_agree(name: &str, interp: &Interp, jit: &Jit, states: &[u8]) {
    for state in states.chunks_exact(interp.width()) {
        let expected: Vec<CompiledStep> = interp
            .steps(state)
            .into_iter()
            .map(|step| CompiledStep {
                action: step.action,
                outcome: match step.outcome {
                    StepOutcome::Successor(state) => Ok(state),
                    StepOutcome::Fault(fault) => Err((fault.kind, fault.span)),
                },
            })
            .collect();
        let found = jit.compiled_steps(state);
        assert_eq!(found, expected, "{name}: steps of {state:02x?}: {:?}", interp.describe(state));
    }
    for limit in [1 << 20, 5 * interp.width()] {
        let (expected, found) = (expanded(interp, states, limit), expanded(jit, states, limit));
        assert_eq!(found.2, expected.2, "{name}: findings");
        assert_eq!(found.1, expected.1, "{name}: transitions");
        assert!(found.0 == expected.0, "{name}: successors of a block");
    }
}
