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
pub type Kept = Result<(), ErrorMessage>;

/// Fails with a message.
macro_rules! keep {
    ($holds:expr, $($what:tt)*) => {
        if !$holds {
            return Err(format!($($what)*).into());
        }
    };
}

/// Labelled successors, sorted, and the rest of the outcome.
type Taken = (Vec<(u32, Vec<u8>)>, ExpansionOutcome);

/// Returns the result of expanding the chosen instances of each state, through a buffer of `limit` bytes.
fn taken(
    by: &dyn SelectiveStateSpace,
    width: usize,
    states: &[u8],
    chosen: &InstanceSets,
    limit: usize,
) -> Taken {
    let (mut all, mut buffer) = (Vec::new(), Vec::new());
    let keep = |buffer: &mut Vec<u8>| {
        all.append(buffer);
        ControlFlow::Continue(())
    };
    let run = |out: &mut LabelledSink| by.expand_labelled(states, chosen, out);
    let collected = LabelledSink::collect_in_batches(width, &mut buffer, limit, keep, run).unwrap();
    all.append(&mut buffer);
    let mut found: Vec<_> =
        labelled(&all, width).map(|(state, label)| (label.0, state.to_vec())).collect();
    found.sort();
    (found, collected)
}

fn unlabelled(
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
    let one = |(at, state): (usize, &[u8])| {
        single.clear(1);
        single.words_mut(0).copy_from_slice(chosen.words(at));
        all += (unlabelled(by, width, state, &single).0.len() * width) as u64;
        all
    };
    states.chunks_exact(width).enumerate().map(one).collect()
}

fn judged(
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
fn some(enabled: &InstanceSets, one_in: usize, random: &mut Random) -> InstanceSets {
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

/// Checks that the chosen expansions of an executor add up to its full expansion, that they equal those of the
/// interpreter, and that the labels match the described transitions. `in_order` is whether the interpreter expands in
/// the order in which it describes.
pub fn keeps_choices(
    interp: &Interp,
    by: &dyn SelectiveStateSpace,
    states: &[u8],
    seed: u64,
) -> Kept {
    let width = interp.width();
    let reference = interp.selector().map_err(|error| error.reason)?;
    let mut random = Random::new(seed);
    for state in states.chunks_exact(width) {
        singles_are_all(interp, &reference, by, state)
            .map_err(|what| format!("in {state:02x?}: {what}"))?;
    }
    let all_enabled = enabled(by, states);
    keep!(all_enabled == enabled(&reference, states), "other instances are enabled");
    for one_in in [1, 2, 4] {
        let chosen = some(&all_enabled, one_in, &mut random);
        let expected = taken(&reference, width, states, &chosen, usize::MAX);
        for limit in [usize::MAX, 3 * (width + 4)] {
            let found = taken(by, width, states, &chosen, limit);
            keep!(found == expected, "other steps of one in {one_in}, {limit} bytes at a time");
        }
        let expected_ends = ends_one_by_one(&reference, width, states, &chosen);
        for (by, limit) in [
            (&reference as &dyn SelectiveStateSpace, usize::MAX / 2),
            (by, usize::MAX / 2),
            (by, 3 * width),
        ] {
            let found = ends(by, width, states, &chosen, limit);
            keep!(found == expected_ends, "other ends of one in {one_in}, {limit} bytes at a time");
            let found = labelled_ends(by, width, states, &chosen, limit + 4);
            let records = expected_ends.iter().map(|&end| end / width as u64 * (width as u64 + 4));
            keep!(found.into_iter().eq(records), "other ends of one in {one_in} with labels");
        }
        let found = unlabelled(by, width, states, &chosen);
        let expected_states = {
            let mut states: Vec<_> = expected.0.into_iter().map(|(_, state)| state).collect();
            states.sort();
            states
        };
        keep!(found == (expected_states, expected.1), "other steps without labels");
    }
    let whole = {
        let mut buffer = Vec::new();
        let run = |out: &mut SuccessorSink| interp.expand(states, out);
        SuccessorSink::collect(width, &mut buffer, run).unwrap()
    };
    let mut all = by.instances().sets();
    all.fill(states.len() / width);
    let mut findings = taken(by, width, states, &all, usize::MAX).1.findings;
    findings.merge(judged(by, width, states, &all_enabled));
    keep!(findings == whole.findings, "found {findings:?}, not {:?}", whole.findings);
    Ok(())
}

fn singles_are_all(
    interp: &Interp,
    reference: &dyn SelectiveStateSpace,
    by: &dyn SelectiveStateSpace,
    state: &[u8],
) -> Kept {
    let (width, can) = (state.len(), enabled(by, state));
    keep!(can == enabled(reference, state), "other instances are enabled");
    let mut one = by.instances().sets();
    let (mut successors, mut tallies) = (Vec::new(), ExpansionOutcome::default());
    let mut by_key: BTreeMap<Key, Came> = BTreeMap::new();
    for instance in can.iter(0) {
        one.clear(1);
        one.insert(0, instance);
        let (found, collected) = taken(by, width, state, &one, usize::MAX);
        keep!(
            collected.counters.transitions > 0 || !collected.findings.is_empty(),
            "{instance:?} is enabled and gives nothing"
        );
        keep!(found.iter().all(|(label, _)| *label == instance.0), "{instance:?} has other labels");
        let what = by.instances().get(instance).ok_or("no such instance")?;
        keep!(by.instances().number(what) == instance, "{instance:?} has two numbers");
        let came = by_key.entry(key_of(interp, what, state)).or_default();
        came.0.extend(found.iter().map(|(_, state)| state.clone()));
        came.1 += faults(&collected.findings);
        successors.extend(found);
        tallies.counters.transitions += collected.counters.transitions;
        tallies.counters.excluded += collected.counters.excluded;
        tallies.action_counts.merge(collected.action_counts);
        tallies.findings.merge(collected.findings);
    }
    successors.sort();
    let mut all = by.instances().sets();
    all.fill(1);
    keep!(
        taken(by, width, state, &all, usize::MAX) == (successors, tallies),
        "one by one the steps are others"
    );
    all.words_mut(0).iter_mut().zip(can.words(0)).for_each(|(all, can)| *all &= !can);
    let rest = taken(by, width, state, &all, usize::MAX);
    keep!(
        rest == (Vec::new(), ExpansionOutcome::default()),
        "something is possible that is not enabled"
    );
    let mut told: BTreeMap<Key, Came> = BTreeMap::new();
    for step in interp.steps(state) {
        let Some(key) = key_of_step(interp.program(), &step) else { continue };
        let came = told.entry(key).or_default();
        match step.outcome {
            StepOutcome::Successor(successor) => came.0.push(successor),
            StepOutcome::Fault(_) => came.1 += 1,
        }
    }
    told.values_mut().for_each(|came| came.0.sort());
    by_key.values_mut().for_each(|came| came.0.sort());
    // Excluded transitions are not described.
    by_key.retain(|_, came| *came != Came::default());
    keep!(by_key == told, "labels do not go with what is told: {by_key:?}, {told:?}");
    Ok(())
}

/// Successors and the number of errors.
type Came = (Vec<Vec<u8>>, u64);

fn faults(findings: &Findings) -> u64 {
    let faults = findings.iter().filter(|(check, _)| matches!(check, Violation::Fault(..)));
    faults.map(|(_, finding)| finding.count).sum()
}

/// The common part of a described transition and of its label: the first actions, with their pids if processes have
/// pids; otherwise the spans of both sides.
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
