//! Random programs: a program that the validator accepts runs without a panic and within its write masks, in any key
//! order. Every executor agrees with the interpreter.
//!
//! `SPILLWAY_LARGE` runs more cases, which take minutes.

use crate::access::load;
use crate::chosen::keeps_choices;
use crate::compare::{Agreement, Retell, Retold, Told, agree, all_agree};
use crate::generated::{Census, Generated, dense_programs, programs, random_state, try_all};
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

/// States of a program that are found level by level.
const STATES_MAX: usize = 50;
/// Steps of a walk, which goes deeper.
const STEPS: usize = 40;
/// States that may not be reachable.
const RANDOM_STATES: usize = 20;
/// States of a program that are found for the census.
const CENSUS_STATES_MAX: usize = 300;
/// Steps out of all states that are looked at: some programs have hundreds out of each.
const STEPS_MAX: usize = 2000;

/// With room for all values that are declared: such a model can be in any state.
fn interp(program: &Program) -> Interp {
    Interp::as_declared(program.clone()).expect("what is generated can be executed")
}

/// With room for the values that variables can have only.
fn narrow(program: &Program) -> Interp {
    Interp::new(program.clone()).expect("what is generated can be executed")
}

fn successors(steps: Vec<StepDescription>) -> impl Iterator<Item = Vec<u8>> {
    steps.into_iter().filter_map(|step| match step.outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    })
}

/// The states of the first levels, until there are enough.
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

/// The states of a walk, which begins anew where it ends.
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

/// Reachable states worth a look: some on the way of a walk, and the first ones.
fn reachable(model: &Interp, random: &mut Random) -> Vec<u8> {
    let mut found = walk(model, random);
    found.extend(levels(model, STATES_MAX).concat().concat());
    few_steps(model, &found)
}

/// States of which some may not be reachable.
fn states_of(model: &Interp, random: &mut Random) -> Vec<u8> {
    let mut found = reachable(model, random);
    (0..RANDOM_STATES).for_each(|_| found.extend(random_state(model, random)));
    few_steps(model, &found)
}

/// The states before there are too many steps.
fn few_steps(model: &Interp, states: &[u8]) -> Vec<u8> {
    let mut steps = 0;
    let few = states.chunks_exact(model.width()).take_while(|state| {
        steps += model.steps(state).len();
        steps <= STEPS_MAX
    });
    few.flatten().copied().collect()
}

fn is_valid(program: &Program) -> Agreement {
    let problems = validate(program).err().unwrap_or_default();
    prop_assert!(problems.is_empty(), "{problems:?}");
    prop_assert!(text::print(program).to_string().ends_with('\n'));
    Ok(())
}

/// That every step changes only what some mask has.
fn keeps_its_masks(model: &dyn SystemDescription, states: &[u8]) -> Agreement {
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
        is_valid(&program)?;
        let reference = interp(&program);
        let states = states_of(&reference, &mut Random::new(seed));
        keeps_its_masks(&reference, &states)?;
        all_agree(&reference, &states)
    });
}

#[test]
fn executors_agree_on_expressions() {
    try_all(60, (dense_programs(), 0u64..1000), |(Generated(program), seed)| {
        is_valid(&program)?;
        let (reference, mut random) = (interp(&program), Random::new(seed));
        let states: Vec<u8> = (0..60).flat_map(|_| random_state(&reference, &mut random)).collect();
        all_agree(&reference, &states)
    });
}

/// The state of one interpreter as another of the same program has it. What is not used of a
/// channel holds code 0 in any layout.
fn moved(state: &[u8], from: &Interp, to: &Interp) -> Vec<u8> {
    let mut moved = vec![0; to.width()];
    for group in from.layout().groups.values() {
        let used = match group.part {
            GroupContent::Channel(id) => {
                let waiting = from.layout().get(state, group.first).unwrap_or_default() as u32;
                1 + waiting * from.program().channels[id].fields.len() as u32
            }
            GroupContent::Location(_) | GroupContent::Variable(_) => group.cells,
        };
        for cell in (group.first.0..group.first.0 + used).map(CellId) {
            to.layout().set(&mut moved, cell, from.layout().get(state, cell));
        }
    }
    moved
}

/// That two interpreters of one program do the same but for where the cells of states are. Gives
/// the states as the other has them.
fn same_but_for_layout(
    one: &Interp,
    other: &Interp,
    states: &[u8],
) -> Result<Vec<u8>, TestCaseError> {
    let there = |state: &[u8]| moved(state, one, other);
    for state in states.chunks_exact(one.width()) {
        let mut steps = one.steps(state);
        for step in &mut steps {
            let state = match &mut step.outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(fault) => fault.reached.as_mut(),
            };
            state.into_iter().for_each(|it| *it = there(it));
        }
        let mut expected = other.steps(&there(state));
        for step in &mut expected {
            // A send that fails may have written a part of its message, behind those that are there.
            if let StepOutcome::Fault(fault) = &mut step.outcome {
                fault.reached.iter_mut().for_each(|it| *it = moved(it, other, other));
            }
        }
        prop_assert_eq!(steps, expected);
        prop_assert_eq!(one.violations(state), other.violations(&there(state)));
    }
    let sizes = |model: &dyn SystemDescription| -> Vec<usize> {
        levels(model, STATES_MAX).iter().map(Vec::len).collect()
    };
    prop_assert_eq!(sizes(one), sizes(other));
    Ok(states.chunks_exact(one.width()).flat_map(there).collect())
}

#[test]
fn any_key_order_gives_the_same_steps() {
    try_all(100, (programs(), 0u64..1000), |(Generated(program), seed)| {
        let (model, mut random) = (interp(&program), Random::new(seed));
        let mut order = model.layout().order.clone();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        let other = interp(&program).with_order(&order).expect("a permutation is an order");
        let states = states_of(&model, &mut random);
        let there = same_but_for_layout(&model, &other, &states)?;
        keeps_its_masks(&other, &there)?;
        all_agree(&other, &there)
    });
}

#[test]
fn values_that_variables_cannot_have_need_no_bits() {
    try_all(60, (programs(), 0u64..1000), |(Generated(program), seed)| {
        let model = narrow(&program);
        let states = reachable(&model, &mut Random::new(seed));
        same_but_for_layout(&model, &interp(&program), &states)?;
        keeps_its_masks(&model, &states)?;
        any_bytes_do_no_harm(&model, &states, &mut Random::new(seed))?;
        all_agree(&model, &states)
    });
}

/// Bytes that are no state, or none that can be reached, are refused or answered, by everybody, and
/// nobody is harmed.
fn any_bytes_do_no_harm(model: &Interp, states: &[u8], random: &mut Random) -> Agreement {
    let (width, jit) = (model.width(), Jit::new(model).ok());
    for number in 0..RANDOM_STATES {
        let mut bytes: Vec<u8> = (0..width).map(|_| random.next() as u8).collect();
        if !states.is_empty() && number % 3 > 0 {
            let at = random.below(states.len() / width) * width;
            bytes.copy_from_slice(&states[at..at + width]);
            let bit = random.below(8 * width);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes_do_no_harm(model, jit.as_ref(), &bytes)?;
    }
    Ok(())
}

fn bytes_do_no_harm(model: &Interp, jit: Option<&Jit>, bytes: &[u8]) -> Agreement {
    let is_taken = |model: &dyn StateSpace| {
        let run = |out: &mut SuccessorSink| model.expand(bytes, out);
        SuccessorSink::collect(model.width(), &mut Vec::new(), run).is_ok()
    };
    let taken = is_taken(model);
    let told = (model.steps(bytes), model.violations(bytes), model.describe(bytes));
    prop_assert!(taken || (told.0.is_empty() && told.1.is_empty()));
    if let Some(jit) = jit {
        prop_assert_eq!(is_taken(jit), taken);
        let _ = jit.compiled_steps(bytes);
    }
    Ok(())
}

/// Programs of two bytes a state that read what never has a value.
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
fn no_bytes_harm_a_program_that_reads_what_has_no_value() {
    for (language, text) in WITHOUT_VALUES {
        let program = load(language, "model", text.to_owned()).expect("a model");
        let model = narrow(&program);
        let jit = Jit::new(&model).ok();
        let all = 1u32 << (8 * model.width());
        assert!(model.width() <= 2, "{} bytes are too many to try all", model.width());
        for number in 0..all {
            let bytes = number.to_be_bytes();
            bytes_do_no_harm(&model, jit.as_ref(), &bytes[4 - model.width()..]).expect(text);
        }
    }
}

/// States of a program whose steps are taken one by one.
const CHOICES: usize = 10;

/// That steps by choice are those of the interpreter, whoever takes them. Whether there is a choice.
fn choices_agree(model: &Interp, states: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(reference) = model.selector() else { return Ok(false) };
    let all = states.chunks_exact(model.width());
    let some = all.step_by((states.len() / model.width() / CHOICES).max(1));
    let some: Vec<u8> = some.flatten().copied().collect();
    keeps_choices(model, &reference, &some, 1)?;
    if let Ok(jit) = Jit::new(model) {
        let selector = Arc::new(jit).selector().expect("instances are numbered");
        keeps_choices(model, &selector, &some, 1)?;
    }
    Ok(true)
}

/// Steps by choice are the steps there are, of nearly all programs.
#[test]
fn steps_can_be_chosen() {
    let (numbered, tried) = (Cell::new(0), Cell::new(0));
    try_all(96, (programs(), any::<u64>()), |(Generated(program), seed)| {
        let model = interp(&program);
        let states = states_of(&model, &mut Random::new(seed));
        tried.set(tried.get() + 1);
        numbered.set(numbered.get() + u32::from(choices_agree(&model, &states)?));
        Ok(())
    });
    println!("{} of {} programs", numbered.get(), tried.get());
    // Those in lockstep have no choice.
    assert!(numbered.get() > tried.get() / 2);
}

fn is_successor(step: &StepDescription) -> bool {
    matches!(step.outcome, StepOutcome::Successor(_))
}

fn last_fault(told: &mut Told) -> Option<&mut RuntimeFault> {
    told.0.iter_mut().rev().find_map(|step| match &mut step.outcome {
        StepOutcome::Fault(fault) => Some(fault),
        StepOutcome::Successor(_) => None,
    })
}

/// Every way in which an executor could be wrong by a little.
const LIES: [(&str, Retell); 9] = [
    ("the last step is missing", |told| drop(told.0.pop())),
    ("the first step is told last", |told| {
        let one = 1.min(told.0.len());
        told.0.rotate_left(one);
    }),
    ("one bit of the last successor is flipped", |told| {
        let last = told.0.iter_mut().rev().find(|step| is_successor(step));
        if let Some(StepDescription { outcome: StepOutcome::Successor(state), .. }) = last {
            state[0] ^= 0x80;
        }
    }),
    ("the last fault is of another kind", |told| {
        if let Some(fault) = last_fault(told) {
            let other = fault.kind != FaultKind::Error;
            fault.kind = if other { FaultKind::Error } else { FaultKind::Limit };
        }
    }),
    ("the last fault is somewhere else", |told| {
        if let Some(fault) = last_fault(told) {
            fault.span = fault.span.to(Span::new(0, fault.span.end as usize..1 << 30));
        }
    }),
    ("the last fault says something else", |told| {
        if let Some(fault) = last_fault(told) {
            fault.message.push('!');
        }
    }),
    ("faults are blamed on the next action", |told| {
        told.0.iter_mut().filter(|step| !is_successor(step)).for_each(|step| step.action += 1);
    }),
    ("faults are forgotten", |told| told.0.retain(is_successor)),
    ("what is wrong with the state is forgotten", |told| told.1.clear()),
];

/// What expansions show of what is told.
fn visible_in_blocks((steps, checks): &Told) -> (Vec<&Vec<u8>>, Vec<Violation>) {
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
fn every_lie_is_noticed() {
    let mut runner = TestRunner::deterministic();
    let mut noticed = [[0; 2]; LIES.len()];
    for seed in 0..40 {
        let Generated(program) = programs().new_tree(&mut runner).unwrap().current();
        let truth = interp(&program);
        let states = walk(&truth, &mut Random::new(seed));
        for ((name, lie), noticed) in LIES.iter().zip(&mut noticed) {
            let in_steps = Retold::falsely(&truth, *lie, |_| {});
            let in_blocks = Retold::falsely(&truth, |_| {}, *lie);
            for state in states.chunks_exact(truth.width()).step_by(3) {
                let told = Retold::told(&truth, state);
                let mut retold = told.clone();
                lie(&mut retold);
                let differs =
                    [told != retold, visible_in_blocks(&told) != visible_in_blocks(&retold)];
                for (at, liar) in [&in_steps, &in_blocks].into_iter().enumerate() {
                    let agreement = agree(&truth, liar, state);
                    assert_eq!(agreement.is_err(), differs[at], "{name}");
                    noticed[at] += usize::from(differs[at]);
                }
            }
        }
    }
    for ((name, _), [in_steps, in_blocks]) in LIES.iter().zip(noticed) {
        println!("{in_steps:>6} {in_blocks:>6} {name}");
        let is_seen_in_steps_only =
            name.ends_with("somewhere else") || name.ends_with("something else");
        assert!(in_steps > 0 && (in_blocks > 0 || is_seen_in_steps_only), "{name}");
    }
}

/// The programs that every run sees are explored, most of what they can do is done, and every kind
/// of fault is met.
#[test]
fn programs_are_lively() {
    let mut runner = TestRunner::deterministic();
    let mut census = Census::default();
    for seed in 0..256 {
        let program = programs().new_tree(&mut runner).unwrap().current();
        let model = interp(&program.0);
        let states: BTreeSet<Vec<u8>> =
            levels(&model, CENSUS_STATES_MAX).concat().into_iter().collect();
        let deeper = walk(&model, &mut Random::new(seed));
        let deeper = deeper.chunks_exact(model.width()).map(<[u8]>::to_vec);
        census.count(&program, &model, states.len(), states.into_iter().chain(deeper));
    }
    println!("{census}");
    census.check();
}
