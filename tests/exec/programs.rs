//! Random programs: a program that the validator accepts runs without a panic and within its write masks, in any key
//! order. Every executor agrees with the interpreter.
//!
//! `SPILLWAY_LARGE` runs more cases, which take minutes.

use crate::access::load;
use crate::compare::{Agreement, AnswerChange, RestatedModel, StateAnswers, agree, all_agree};
use crate::generated::{Census, Generated, dense_programs, programs, random_state, try_all};
use crate::selective_expansion::check_selective_expansion;
use crate::support::Random;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestCaseError, TestRunner};
use spillway::exec::{Interp, Jit};
use spillway::front::{Language, murphi, promela};
use spillway::ir::layout::{CellId, GroupContent};
use spillway::ir::validate::validate;
use spillway::ir::{Program, text};
use spillway::model::{
    FaultKind, RuntimeFault, StateSpace, StepDescription, StepOutcome, SuccessorSink,
    SystemDescription, Violation,
};
use spillway::source::Span;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The states of a program that are found level by level.
const STATES_MAX: usize = 50;
/// The steps of a walk, which reaches deeper states.
const STEPS: usize = 40;
/// The number of random states, which may be unreachable.
const RANDOM_STATES: usize = 20;
/// The states of a program that are found for the census.
const CENSUS_STATES_MAX: usize = 300;
/// The steps of all states that are examined. Some programs have hundreds per state.
const STEPS_MAX: usize = 2000;

/// Returns a model with space for all declared values, so that it can be in any state.
fn interp(program: &Program) -> Interp {
    Interp::as_declared(program.clone()).expect("generated programs are executable")
}

/// Returns a model with space for the values that variables can have.
fn interp_of_possible_values(program: &Program) -> Interp {
    Interp::new(program.clone()).expect("generated programs are executable")
}

fn successors(steps: Vec<StepDescription>) -> impl Iterator<Item = Vec<u8>> {
    steps.into_iter().filter_map(|step| match step.outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    })
}

/// Returns the states of the first levels, up to a number.
fn levels(model: &dyn SystemDescription, states_max: usize) -> Vec<Vec<Vec<u8>>> {
    let mut seen = BTreeSet::new();
    let mut levels = Vec::new();
    let mut next: Vec<Vec<u8>> = successors(model.starts()).collect();
    while !next.is_empty() && seen.len() < states_max {
        next.retain(|state| seen.insert(state.clone()));
        next.truncate(states_max);
        let level = std::mem::take(&mut next);
        next = level.iter().flat_map(|state| successors(model.steps(state))).collect();
        levels.push(level);
    }
    levels
}

/// Returns the states of a walk, which restarts at its end.
fn walk(model: &dyn SystemDescription, random: &mut Random) -> Vec<u8> {
    let mut states = Vec::new();
    let mut options: Vec<Vec<u8>> = successors(model.starts()).collect();
    for _ in 0..STEPS {
        options = match options.is_empty() {
            true => successors(model.starts()).collect(),
            false => {
                let state = options.swap_remove(random.below(options.len()));
                states.extend_from_slice(&state);
                successors(model.steps(&state)).collect()
            }
        }
    }
    states
}

/// Returns reachable states: those of a walk and those of the first levels.
fn reachable(model: &Interp, random: &mut Random) -> Vec<u8> {
    let mut found = walk(model, random);
    found.extend(levels(model, STATES_MAX).concat().concat());
    limit_steps(model, &found)
}

/// Returns states, reachable and unreachable ones.
fn sample_states(model: &Interp, random: &mut Random) -> Vec<u8> {
    let mut found = reachable(model, random);
    (0..RANDOM_STATES).for_each(|_| found.extend(random_state(model, random)));
    limit_steps(model, &found)
}

/// Returns the first states, up to a number of steps.
fn limit_steps(model: &Interp, states: &[u8]) -> Vec<u8> {
    let mut steps = 0;
    let few = states.chunks_exact(model.width()).take_while(|state| {
        steps += model.steps(state).len();
        steps <= STEPS_MAX
    });
    few.flatten().copied().collect()
}

fn check_valid(program: &Program) -> Agreement {
    let problems = validate(program).err().unwrap_or_default();
    prop_assert!(problems.is_empty(), "{problems:?}");
    prop_assert!(text::print(program).to_string().ends_with('\n'));
    Ok(())
}

/// Checks that every step changes only bits of one mask.
fn check_masks(model: &dyn SystemDescription, states: &[u8]) -> Agreement {
    let masks = model.write_masks();
    for state in states.chunks_exact(model.width()) {
        for next in successors(model.steps(state)) {
            let within = |mask: &Vec<u8>| {
                let mut bytes = state.iter().zip(&next).zip(mask);
                bytes.all(|((one, other), mask)| (one ^ other) & !mask == 0)
            };
            prop_assert!(masks.iter().any(within), "from {state:?} to {next:?}");
        }
    }
    Ok(())
}

#[test]
fn programs_are_valid_and_executors_agree() {
    try_all(250, (programs(), 0u64..1000), |(Generated(program), seed)| {
        check_valid(&program)?;
        let reference = interp(&program);
        let states = sample_states(&reference, &mut Random::new(seed));
        check_masks(&reference, &states)?;
        all_agree(&reference, &states)
    });
}

#[test]
fn executors_agree_on_expressions() {
    try_all(60, (dense_programs(), 0u64..1000), |(Generated(program), seed)| {
        check_valid(&program)?;
        let (reference, mut random) = (interp(&program), Random::new(seed));
        let states: Vec<u8> = (0..60).flat_map(|_| random_state(&reference, &mut random)).collect();
        all_agree(&reference, &states)
    });
}

/// Converts a state of one interpreter for another one of the same program. Unused cells of a channel hold code 0 in
/// any layout.
fn convert(state: &[u8], from: &Interp, to: &Interp) -> Vec<u8> {
    let mut converted = vec![0; to.width()];
    for group in from.layout().groups.values() {
        let used = match group.part {
            GroupContent::Channel(id) => {
                let waiting = from.layout().get(state, group.first).unwrap_or_default() as u32;
                1 + waiting * from.program().channels[id].fields.len() as u32
            }
            GroupContent::Location(_) | GroupContent::Variable(_) => group.cells,
        };
        for cell in (group.first.0..group.first.0 + used).map(CellId) {
            to.layout().set(&mut converted, cell, from.layout().get(state, cell));
        }
    }
    converted
}

/// Checks that two interpreters of one program differ only in their layouts. Returns the states in the other layout.
fn check_layouts_agree(
    one: &Interp,
    other: &Interp,
    states: &[u8],
) -> Result<Vec<u8>, TestCaseError> {
    let convert_state = |state: &[u8]| convert(state, one, other);
    for state in states.chunks_exact(one.width()) {
        let mut steps = one.steps(state);
        for step in &mut steps {
            let state = match &mut step.outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(fault) => fault.reached.as_mut(),
            };
            state.into_iter().for_each(|it| *it = convert_state(it));
        }
        let mut expected = other.steps(&convert_state(state));
        for step in &mut expected {
            // A failing send may have written a part of its message, after the existing ones.
            if let StepOutcome::Fault(fault) = &mut step.outcome {
                fault.reached.iter_mut().for_each(|it| *it = convert(it, other, other));
            }
        }
        prop_assert_eq!(steps, expected);
        prop_assert_eq!(one.violations(state), other.violations(&convert_state(state)));
    }
    let sizes = |model: &dyn SystemDescription| -> Vec<usize> {
        levels(model, STATES_MAX).iter().map(Vec::len).collect()
    };
    prop_assert_eq!(sizes(one), sizes(other));
    Ok(states.chunks_exact(one.width()).flat_map(convert_state).collect())
}

#[test]
fn every_key_order_gives_the_same_steps() {
    try_all(100, (programs(), 0u64..1000), |(Generated(program), seed)| {
        let (model, mut random) = (interp(&program), Random::new(seed));
        let mut order = model.layout().order.clone();
        for position in (1..order.len()).rev() {
            order.swap(position, random.below(position + 1));
        }
        let other = interp(&program).with_order(&order).expect("a permutation is an order");
        let states = sample_states(&model, &mut random);
        let converted = check_layouts_agree(&model, &other, &states)?;
        check_masks(&other, &converted)?;
        all_agree(&other, &converted)
    });
}

#[test]
fn impossible_values_need_no_bits() {
    try_all(60, (programs(), 0u64..1000), |(Generated(program), seed)| {
        let model = interp_of_possible_values(&program);
        let states = reachable(&model, &mut Random::new(seed));
        check_layouts_agree(&model, &interp(&program), &states)?;
        check_masks(&model, &states)?;
        check_random_bytes(&model, &states, &mut Random::new(seed))?;
        all_agree(&model, &states)
    });
}

/// Checks that every executor rejects or answers bytes that are no state, or an unreachable one, without a panic.
fn check_random_bytes(model: &Interp, states: &[u8], random: &mut Random) -> Agreement {
    let (width, jit) = (model.width(), Jit::new(model).ok());
    for number in 0..RANDOM_STATES {
        let mut bytes: Vec<u8> = (0..width).map(|_| random.next() as u8).collect();
        if !states.is_empty() && number % 3 > 0 {
            let offset = random.below(states.len() / width) * width;
            bytes.copy_from_slice(&states[offset..offset + width]);
            let bit = random.below(8 * width);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        check_bytes(model, jit.as_ref(), &bytes)?;
    }
    Ok(())
}

fn check_bytes(model: &Interp, jit: Option<&Jit>, bytes: &[u8]) -> Agreement {
    let is_accepted = |model: &dyn StateSpace| {
        let run = |out: &mut SuccessorSink| model.expand(bytes, out);
        SuccessorSink::collect(model.width(), &mut Vec::new(), run).is_ok()
    };
    let accepted = is_accepted(model);
    let answers = (model.steps(bytes), model.violations(bytes), model.describe(bytes));
    prop_assert!(accepted || (answers.0.is_empty() && answers.1.is_empty()));
    if let Some(jit) = jit {
        prop_assert_eq!(is_accepted(jit), accepted);
        let _ = jit.compiled_steps(bytes);
    }
    Ok(())
}

/// Programs with states of two bytes that read variables without a value.
const WITHOUT_VALUES: [(&Language, &str); 3] = [
    (
        &promela::LANGUAGE,
        "chan c = [2] of { byte }; byte x = 3; active proctype P() { do :: c?x :: x == 4 -> x = 9 od }",
    ),
    (
        &promela::LANGUAGE,
        "chan c = [1] of { bool }, d = [1] of { bool }; byte x = 3;
         active proctype P() { do :: c?x :: d?x; c!1 :: x < 3 -> x = x + 5 od }",
    ),
    (
        &murphi::LANGUAGE,
        "var v: 3..9; x: 0..20; startstate clear x; x := 12; end; rule !isundefined(v) ==> x := v; end;",
    ),
];

#[test]
fn programs_that_read_missing_values_accept_any_bytes() {
    for (language, text) in WITHOUT_VALUES {
        let program = load(language, "model", text.to_owned()).expect("a model");
        let model = interp_of_possible_values(&program);
        let jit = Jit::new(&model).ok();
        let all = 1u32 << (8 * model.width());
        assert!(model.width() <= 2, "{} bytes are too many to try all", model.width());
        for number in 0..all {
            let bytes = number.to_be_bytes();
            check_bytes(&model, jit.as_ref(), &bytes[4 - model.width()..]).expect(text);
        }
    }
}

/// The number of states whose action instances are executed one by one.
const SELECTIVE_STATES: usize = 10;

/// Checks the selective expansion of every executor. Returns whether the program supports it.
fn check_selective_executors(model: &Interp, states: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(reference) = model.selector() else { return Ok(false) };
    let states_of_model = states.chunks_exact(model.width());
    let sample = states_of_model.step_by((states.len() / model.width() / SELECTIVE_STATES).max(1));
    let sample: Vec<u8> = sample.flatten().copied().collect();
    check_selective_expansion(model, &reference, &sample, 1)?;
    if let Ok(jit) = Jit::new(model) {
        let selector = Arc::new(jit).selector().expect("instances are numbered");
        check_selective_expansion(model, &selector, &sample, 1)?;
    }
    Ok(true)
}

/// Selective expansion gives all steps, for nearly all programs.
#[test]
fn selective_expansion_agrees_with_full_expansion() {
    let (numbered, tried) = (Cell::new(0), Cell::new(0));
    try_all(96, (programs(), any::<u64>()), |(Generated(program), seed)| {
        let model = interp(&program);
        let states = sample_states(&model, &mut Random::new(seed));
        tried.set(tried.get() + 1);
        numbered.set(numbered.get() + u32::from(check_selective_executors(&model, &states)?));
        Ok(())
    });
    println!("{} of {} programs", numbered.get(), tried.get());
    // Lockstep programs do not support it.
    assert!(numbered.get() > tried.get() / 2);
}

fn is_successor(step: &StepDescription) -> bool {
    matches!(step.outcome, StepOutcome::Successor(_))
}

fn last_fault_of(answers: &mut StateAnswers) -> Option<&mut RuntimeFault> {
    answers.0.iter_mut().rev().find_map(|step| match &mut step.outcome {
        StepOutcome::Fault(fault) => Some(fault),
        StepOutcome::Successor(_) => None,
    })
}

/// Small errors of an executor.
const PLANTED_ERRORS: [(&str, AnswerChange); 9] = [
    ("the last step is missing", |answers| drop(answers.0.pop())),
    ("the first step is reported last", |answers| {
        let first_count = 1.min(answers.0.len());
        answers.0.rotate_left(first_count);
    }),
    ("one bit of the last successor is flipped", |answers| {
        let last = answers.0.iter_mut().rev().find(|step| is_successor(step));
        if let Some(StepDescription { outcome: StepOutcome::Successor(state), .. }) = last {
            state[0] ^= 0x80;
        }
    }),
    ("the last fault is of another kind", |answers| {
        if let Some(fault) = last_fault_of(answers) {
            let other = fault.kind != FaultKind::Error;
            fault.kind = if other { FaultKind::Error } else { FaultKind::Limit };
        }
    }),
    ("the last fault has another position", |answers| {
        if let Some(fault) = last_fault_of(answers) {
            fault.span = fault.span.to(Span::new(0, fault.span.end as usize..1 << 30));
        }
    }),
    ("the last fault has another message", |answers| {
        if let Some(fault) = last_fault_of(answers) {
            fault.message.push('!');
        }
    }),
    ("faults are attributed to the next action", |answers| {
        answers.0.iter_mut().filter(|step| !is_successor(step)).for_each(|step| step.action += 1);
    }),
    ("faults are not reported", |answers| answers.0.retain(is_successor)),
    ("violations of the state are not reported", |answers| answers.1.clear()),
];

/// Returns the answers that an expansion shows.
fn shown_by_expansion((steps, checks): &StateAnswers) -> (Vec<&Vec<u8>>, Vec<Violation>) {
    let (mut states, mut found) = (Vec::new(), checks.clone());
    for step in steps {
        match &step.outcome {
            StepOutcome::Successor(state) => states.push(state),
            StepOutcome::Fault(fault) => found.push(Violation::Fault(fault.kind, step.action)),
        }
    }
    found.sort();
    (states, found)
}

#[test]
fn planted_errors_are_detected() {
    let mut runner = TestRunner::deterministic();
    let mut detected = [[0; 2]; PLANTED_ERRORS.len()];
    for seed in 0..40 {
        let Generated(program) = programs().new_tree(&mut runner).unwrap().current();
        let reference = interp(&program);
        let states = walk(&reference, &mut Random::new(seed));
        for ((name, planted_error), detected) in PLANTED_ERRORS.iter().zip(&mut detected) {
            let in_steps = RestatedModel::falsified(&reference, *planted_error, |_| {});
            let in_blocks = RestatedModel::falsified(&reference, |_| {}, *planted_error);
            for state in states.chunks_exact(reference.width()).step_by(3) {
                let answers = RestatedModel::true_answers(&reference, state);
                let mut falsified = answers.clone();
                planted_error(&mut falsified);
                let differs = [
                    answers != falsified,
                    shown_by_expansion(&answers) != shown_by_expansion(&falsified),
                ];
                for (kind, faulty) in [&in_steps, &in_blocks].into_iter().enumerate() {
                    let agreement = agree(&reference, faulty, state);
                    assert_eq!(agreement.is_err(), differs[kind], "{name}");
                    detected[kind] += usize::from(differs[kind]);
                }
            }
        }
    }
    for ((name, _), [in_steps, in_blocks]) in PLANTED_ERRORS.iter().zip(detected) {
        println!("{in_steps:>6} {in_blocks:>6} {name}");
        let is_visible_in_steps_only =
            name.ends_with("another position") || name.ends_with("another message");
        assert!(in_steps > 0 && (in_blocks > 0 || is_visible_in_steps_only), "{name}");
    }
}

/// The programs of this test have many states, most constructs, and every kind of fault.
#[test]
fn random_programs_are_not_trivial() {
    let mut runner = TestRunner::deterministic();
    let mut census = Census::default();
    for seed in 0..256 {
        let program = programs().new_tree(&mut runner).unwrap().current();
        let model = interp(&program.0);
        let states: BTreeSet<Vec<u8>> =
            levels(&model, CENSUS_STATES_MAX).concat().into_iter().collect();
        let walk_states = walk(&model, &mut Random::new(seed));
        let walk_states = walk_states.chunks_exact(model.width()).map(<[u8]>::to_vec);
        census.count(&program, &model, states.len(), states.into_iter().chain(walk_states));
    }
    println!("{census}");
    census.check();
}
