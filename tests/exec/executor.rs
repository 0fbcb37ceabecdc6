//! The contract of executors: both ways to request successors give the same steps, and every step stays within its
//! announced masks. The states come from random walks through our models.

use spillway::exec::Interp;
use spillway::front::{Language, Options};
use spillway::ir::{ChannelRef, Expr, ExprKind, Program, ProgramProperty, PropertyKind, UnaryOp};
use spillway::model::{
    Counters, ExpansionOutcome, StateSpace, StepOutcome, SuccessorSink, SystemDescription,
    Violation,
};
use spillway::source::{SourceMap, Span};
use std::path::PathBuf;

/// The number of steps of a walk. It restarts at its end.
const STEPS: usize = 3000;

fn models() -> impl Iterator<Item = (PathBuf, Interp)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models");
    let folders = ["dve", "murphi"].map(|language| folder.join(language));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| Language::from_file_name(&file.to_string_lossy()).is_some());
    files.sort();
    assert!(!files.is_empty());
    files.into_iter().map(|file| {
        let mut sources = SourceMap::default();
        sources.add(file.display().to_string(), std::fs::read_to_string(&file).unwrap());
        let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
        let loaded = language.load(&mut sources, &Options::default()).unwrap();
        (file, Interp::new(loaded.program).unwrap())
    })
}

/// Visits the states of a pseudo-random walk.
fn walk(model: &Interp, mut visit: impl FnMut(&[u8])) {
    let mut seed = 1u64;
    let mut options = model.starts();
    for _ in 0..STEPS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let successors: Vec<&Vec<u8>> = options
            .iter()
            .filter_map(|step| match &step.outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(_) => None,
            })
            .collect();
        options = match successors.is_empty() {
            true => model.starts(),
            false => {
                let state = successors[(seed >> 33) as usize % successors.len()];
                visit(state);
                model.steps(state)
            }
        };
    }
}

#[test]
fn expansion_and_steps_agree() {
    for (file, model) in models() {
        walk(&model, |state| {
            let mut buffer = Vec::new();
            let run = |out: &mut SuccessorSink| model.expand(state, out);
            let ExpansionOutcome {
                counters: Counters { transitions, excluded, .. }, findings, ..
            } = SuccessorSink::collect(model.width(), &mut buffer, run).unwrap();
            let steps = model.steps(state);
            let successors: Vec<u8> = steps
                .iter()
                .filter_map(|step| match &step.outcome {
                    StepOutcome::Successor(state) => Some(state.as_slice()),
                    StepOutcome::Fault(_) => None,
                })
                .flatten()
                .copied()
                .collect();
            assert_eq!(buffer, successors, "{}", file.display());
            assert_eq!((transitions - excluded) as usize * model.width(), successors.len());
            let faults =
                steps.iter().filter(|it| matches!(it.outcome, StepOutcome::Fault(_))).count();
            let found: u64 = findings
                .iter()
                .filter(|(check, _)| matches!(check, Violation::Fault(..)))
                .map(|(_, finding)| finding.count)
                .sum();
            assert_eq!(found, faults as u64, "{}", file.display());
            let found_violations: Vec<Violation> = findings
                .iter()
                .map(|(check, _)| check)
                .filter(|check| !matches!(check, Violation::Fault(..)))
                .collect();
            let mut violations = model.violations(state);
            violations.sort();
            assert_eq!(found_violations, violations, "{}", file.display());
        });
    }
}

#[test]
fn steps_stay_within_the_write_masks() {
    for (file, model) in models() {
        let masks = model.write_masks();
        walk(&model, |state| {
            for step in model.steps(state) {
                let StepOutcome::Successor(next) = &step.outcome else { continue };
                let is_covered = masks.iter().any(|mask| {
                    let bytes = state.iter().zip(next).zip(mask);
                    bytes.fold(0, |outside, ((one, other), mask)| outside | (one ^ other) & !mask)
                        == 0
                });
                assert!(is_covered, "{}: {}", file.display(), step.name);
            }
        });
    }
}

#[test]
fn states_use_only_the_bits_of_the_layout() {
    for (file, model) in models() {
        let spare = model.width() as u32 * 8 - model.bits().max(1);
        walk(&model, |state| {
            let last = state[state.len() - 1];
            assert_eq!(u32::from(last) & ((1 << spare.min(7)) - 1), 0, "{}", file.display());
        });
    }
}

#[test]
fn unsupported_expressions_are_refused() {
    let span = Span::new(0, 3..4);
    let number = || Box::new(Expr::constant(0, span));
    let computed = ChannelRef::Computed(number());
    for (kind, message) in [
        (ExprKind::Self_, "the slot of the process that moves"),
        (ExprKind::Processes, "the number of processes"),
        (ExprKind::Unary(UnaryOp::Not, Box::new(Expr::new(ExprKind::Timeout, span))), "a timeout"),
        (ExprKind::IsEmpty(computed), "a channel as a value"),
    ] {
        let condition = Expr::new(kind, span);
        let kind = PropertyKind::Invariant(condition);
        let mut program = Program::default();
        program.properties.push(ProgramProperty { name: "p".into(), kind, span });
        let refused = Interp::new(program).unwrap_err();
        let expected = format!("{message} cannot be executed by this version");
        assert_eq!((refused.message, refused.span), (expected, span));
    }
}
