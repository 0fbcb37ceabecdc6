//! The contract of expansion by chosen action instances, for any executor.
#![allow(dead_code)]

use crate::support::Random;
use crate::support::error_message::ErrorMessage;
use spillway::analysis::instances::{ActionInstance, InstanceId, InstanceSets, InstanceSide};
use spillway::exec::{Interp, LabelledSink, SelectiveStateSpace, labelled};
use spillway::ir::layout::CellId;
use spillway::ir::{PidRule, Program};
use spillway::model::{
    ExpansionOutcome, Findings, StateSpace, StepDescription, StepOutcome, SuccessorSink,
    SystemDescription, TakenAction, Violation,
};
use spillway::source::Span;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The result of a check; an error names the first difference.
pub type ExpansionCheck = Result<(), ErrorMessage>;

/// Fails with a message.
macro_rules! ensure {
    ($holds:expr, $($what:tt)*) => {
        if !$holds {
            return Err(format!($($what)*).into());
        }
    };
}

/// Labelled successors, sorted, and the rest of the outcome.
type LabelledExpansion = (Vec<(u32, Vec<u8>)>, ExpansionOutcome);

/// Returns the result of expanding the chosen instances of each state, through a buffer of `limit` bytes.
fn expand_labelled(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    chosen: &InstanceSets,
    limit: usize,
) -> LabelledExpansion {
    let (mut all, mut buffer) = (Vec::new(), Vec::new());
    let ensure = |buffer: &mut Vec<u8>| {
        all.append(buffer);
        ControlFlow::Continue(())
    };
    let run = |out: &mut LabelledSink| by.expand_labelled(states, chosen, out);
    let collected =
        LabelledSink::collect_in_batches(width, &mut buffer, limit, ensure, run).unwrap();
    all.append(&mut buffer);
    let mut found: Vec<_> =
        labelled(&all, width).map(|(state, label)| (label.0, state.to_vec())).collect();
    found.sort();
    (found, collected)
}

fn expand_unlabelled(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    chosen: &InstanceSets,
) -> (Vec<Vec<u8>>, ExpansionOutcome) {
    let mut buffer = Vec::new();
    let run = |out: &mut SuccessorSink| by.expand_chosen(states, chosen, out);
    let collected = SuccessorSink::collect(width, &mut buffer, run).unwrap();
    let mut found: Vec<_> = buffer.chunks_exact(width).map(<[u8]>::to_vec).collect();
    found.sort();
    (found, collected)
}

/// Empties a full buffer.
fn drop_all(buffer: &mut Vec<u8>) -> ControlFlow<()> {
    buffer.clear();
    ControlFlow::Continue(())
}

/// Returns the end offsets of the candidates of each state, through a buffer of `limit` bytes.
fn ends(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    chosen: &InstanceSets,
    limit: usize,
) -> Vec<u64> {
    let (mut ends, mut buffer) = (Vec::new(), Vec::new());
    let run = |out: &mut SuccessorSink| by.expand_chosen_with_ends(states, chosen, &mut ends, out);
    let _ = SuccessorSink::collect_in_batches(width, &mut buffer, limit, drop_all, run).unwrap();
    ends
}

/// Returns the same for labelled candidates.
fn labelled_ends(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    chosen: &InstanceSets,
    limit: usize,
) -> Vec<u64> {
    let (mut ends, mut buffer) = (Vec::new(), Vec::new());
    let run = |out: &mut LabelledSink| by.expand_labelled_with_ends(states, chosen, &mut ends, out);
    let _ = LabelledSink::collect_in_batches(width, &mut buffer, limit, drop_all, run).unwrap();
    ends
}

/// Returns the end offsets if the states are expanded one by one.
fn ends_one_by_one(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    chosen: &InstanceSets,
) -> Vec<u64> {
    let (mut all, mut single) = (0, InstanceSets::new(chosen.instances()));
    let end_of = |(at, state): (usize, &[u8])| {
        single.clear(1);
        single.words_mut(0).copy_from_slice(chosen.words(at));
        all += (expand_unlabelled(by, width, state, &single).0.len() * width) as u64;
        all
    };
    states.chunks_exact(width).enumerate().map(end_of).collect()
}

fn check_states(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    enabled: &InstanceSets,
) -> Findings {
    let run = |out: &mut SuccessorSink| by.check_states(states, enabled, out);
    SuccessorSink::collect(width, &mut Vec::new(), run).unwrap().findings
}

fn enabled(by: &dyn SelectiveStateSpace, states: &[u8]) -> InstanceSets {
    let mut sets = by.instances().sets();
    by.enabled(states, &mut sets).unwrap();
    sets
}

/// Returns a set of instances for each state: about one in `one_in` of the enabled instances, and an arbitrary
/// instance.
fn random_subsets(enabled: &InstanceSets, one_in: usize, random: &mut Random) -> InstanceSets {
    let mut sets = InstanceSets::new(enabled.instances());
    sets.clear(enabled.len());
    for at in 0..enabled.len() {
        for instance in enabled.iter(at).filter(|_| random.below(one_in) == 0) {
            sets.insert(at, instance);
        }
        if enabled.instances() > 0 {
            sets.insert(at, InstanceId(random.below(enabled.instances() as usize) as u32));
        }
    }
    sets
}

/// Checks that the chosen expansions of an executor add up to its full expansion and equal those of the interpreter.
/// The labels must match the described transitions.
pub fn check_selective_expansion(
    interp: &Interp,
    by: &dyn SelectiveStateSpace,
    states: &[u8],
    seed: u64,
) -> ExpansionCheck {
    let width = interp.width();
    let reference = interp.selector().map_err(|error| error.reason)?;
    let mut random = Random::new(seed);
    for state in states.chunks_exact(width) {
        check_single_instances(interp, &reference, by, state)
            .map_err(|what| format!("in {state:02x?}: {what}"))?;
    }
    let all_enabled = enabled(by, states);
    ensure!(all_enabled == enabled(&reference, states), "different instances are enabled");
    for one_in in [1, 2, 4] {
        let chosen = random_subsets(&all_enabled, one_in, &mut random);
        let expected = expand_labelled(&reference, width, states, &chosen, usize::MAX);
        for limit in [usize::MAX, 3 * (width + 4)] {
            let found = expand_labelled(by, width, states, &chosen, limit);
            ensure!(
                found == expected,
                "different steps for one instance in {one_in}, with {limit} bytes at a time"
            );
        }
        let expected_ends = ends_one_by_one(&reference, width, states, &chosen);
        for (by, limit) in [
            (&reference as &dyn SelectiveStateSpace, usize::MAX / 2),
            (by, usize::MAX / 2),
            (by, 3 * width),
        ] {
            let found = ends(by, width, states, &chosen, limit);
            ensure!(
                found == expected_ends,
                "different counts for one instance in {one_in}, with {limit} bytes at a time"
            );
            let found = labelled_ends(by, width, states, &chosen, limit + 4);
            let records = expected_ends.iter().map(|&end| end / width as u64 * (width as u64 + 4));
            ensure!(
                found.into_iter().eq(records),
                "different counts for one instance in {one_in} with labels"
            );
        }
        let found = expand_unlabelled(by, width, states, &chosen);
        let expected_states = {
            let mut states: Vec<_> = expected.0.into_iter().map(|(_, state)| state).collect();
            states.sort();
            states
        };
        ensure!(found == (expected_states, expected.1), "different steps without labels");
    }
    let full = {
        let mut buffer = Vec::new();
        let run = |out: &mut SuccessorSink| interp.expand(states, out);
        SuccessorSink::collect(width, &mut buffer, run).unwrap()
    };
    let mut all = by.instances().sets();
    all.fill(states.len() / width);
    let mut findings = expand_labelled(by, width, states, &all, usize::MAX).1.findings;
    findings.merge(check_states(by, width, states, &all_enabled));
    ensure!(findings == full.findings, "found {findings:?}, not {:?}", full.findings);
    Ok(())
}

fn check_single_instances(
    interp: &Interp,
    reference: &dyn SelectiveStateSpace,
    by: &dyn SelectiveStateSpace,
    state: &[u8],
) -> ExpansionCheck {
    let (width, enabled_instances) = (state.len(), enabled(by, state));
    ensure!(enabled_instances == enabled(reference, state), "different instances are enabled");
    let mut single = by.instances().sets();
    let (mut successors, mut tallies) = (Vec::new(), ExpansionOutcome::default());
    let mut by_key: BTreeMap<Key, StateOutcome> = BTreeMap::new();
    for instance in enabled_instances.iter(0) {
        single.clear(1);
        single.insert(0, instance);
        let (found, collected) = expand_labelled(by, width, state, &single, usize::MAX);
        ensure!(
            collected.counters.transitions > 0 || !collected.findings.is_empty(),
            "{instance:?} is enabled and has no successor"
        );
        ensure!(
            found.iter().all(|(label, _)| *label == instance.0),
            "{instance:?} has different labels"
        );
        let action_instance = by.instances().get(instance).ok_or("no such instance")?;
        ensure!(by.instances().number(action_instance) == instance, "{instance:?} has two numbers");
        let outcome = by_key.entry(key_of(interp, action_instance, state)).or_default();
        outcome.0.extend(found.iter().map(|(_, state)| state.clone()));
        outcome.1 += faults(&collected.findings);
        successors.extend(found);
        tallies.counters.transitions += collected.counters.transitions;
        tallies.counters.excluded += collected.counters.excluded;
        tallies.action_counts.merge(collected.action_counts);
        tallies.findings.merge(collected.findings);
    }
    successors.sort();
    let mut all = by.instances().sets();
    all.fill(1);
    ensure!(
        expand_labelled(by, width, state, &all, usize::MAX) == (successors, tallies),
        "the steps of single instances differ"
    );
    all.words_mut(0)
        .iter_mut()
        .zip(enabled_instances.words(0))
        .for_each(|(all, enabled_instances)| *all &= !enabled_instances);
    let rest = expand_labelled(by, width, state, &all, usize::MAX);
    ensure!(
        rest == (Vec::new(), ExpansionOutcome::default()),
        "a disabled instance has a successor"
    );
    let mut described: BTreeMap<Key, StateOutcome> = BTreeMap::new();
    for step in interp.steps(state) {
        let Some(key) = key_of_step(interp.program(), &step) else { continue };
        let outcome = described.entry(key).or_default();
        match step.outcome {
            StepOutcome::Successor(successor) => outcome.0.push(successor),
            StepOutcome::Fault(_) => outcome.1 += 1,
        }
    }
    described.values_mut().for_each(|outcome| outcome.0.sort());
    by_key.values_mut().for_each(|outcome| outcome.0.sort());
    // Excluded transitions are not described.
    by_key.retain(|_, outcome| *outcome != StateOutcome::default());
    ensure!(by_key == described, "labels do not match the descriptions: {by_key:?}, {described:?}");
    Ok(())
}

/// Successors and the number of errors.
type StateOutcome = (Vec<Vec<u8>>, u64);

fn faults(findings: &Findings) -> u64 {
    let faults = findings.iter().filter(|(check, _)| matches!(check, Violation::Fault(..)));
    faults.map(|(_, finding)| finding.count).sum()
}

/// The common part of a described transition and of its label: the first actions, with their pids if processes have
/// pids. Otherwise it is the spans of both sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Places(u32, Vec<(u32, u32)>),
    Movers(Vec<(u32, i64)>),
}

fn place(span: &Span) -> (u32, u32) {
    (span.start, span.end)
}

fn key_of(interp: &Interp, instance: ActionInstance, state: &[u8]) -> Key {
    let program = interp.program();
    if program.has_dynamic_processes() {
        let mover = |side: InstanceSide| (side.action.0, pid(interp, side, state));
        return Key::Movers(instance.sides().map(mover).collect());
    }
    // A rendezvous is described with its receiver first.
    let mut actions: Vec<_> = instance.sides().map(|side| side.action).collect();
    actions.reverse();
    let places = actions.iter().map(|&id| place(&program.actions[id].span)).collect();
    Key::Places(actions.first().map_or(0, |it| it.0), places)
}

fn pid(interp: &Interp, side: InstanceSide, state: &[u8]) -> i64 {
    let program = interp.program();
    let process = program.actions[side.action].edge.unwrap().process;
    match program.processes[process].life.pid {
        PidRule::None => side.slot.into(),
        PidRule::From(first) => (first + side.slot).into(),
        PidRule::In(variable) => {
            let placement = interp.layout().variables[variable];
            let cell = CellId(placement.first.0 + side.slot * placement.stride);
            interp.layout().get(state, cell).unwrap_or_default()
        }
    }
}

/// Returns the key of a step; `None` for a property whose evaluation faults, which is described like a step.
fn key_of_step(program: &Program, step: &StepDescription) -> Option<Key> {
    if step.action as usize >= program.actions.len() {
        return None;
    }
    if !program.has_dynamic_processes() {
        return Some(Key::Places(step.action, step.spans.iter().map(place).collect()));
    }
    let mover = |it: &TakenAction| (it.action, i64::from(it.pid));
    let mover_of = |it: &TakenAction| {
        let edge = program.actions[spillway::ir::ActionId(it.action)].edge;
        (edge.map(|edge| edge.process), it.pid)
    };
    // If both movers are the same, the process continues alone after its own action.
    let is_meeting =
        matches!(step.actions.as_slice(), [one, other, ..] if mover_of(one) != mover_of(other));
    let sides = if is_meeting { 2 } else { 1 };
    Some(Key::Movers(step.actions.iter().take(sides).map(mover).collect()))
}
