//! Counterexamples: from a violating state back to an initial one, one level at a time.
//!
//! The search stores no predecessors. A state of level `n` has a predecessor in level `n - 1`, so the levels are read
//! backwards. If transitions were postponed, the predecessor may be in an earlier level. A predecessor differs from its
//! successor only within a write mask of the model. So the states of the previous level are compared under the masks.
//! The few that pass are expanded, until one has the successor. The first such state in key order is taken, so a
//! counterexample is always the same one. Levels are breadth-first depths, so it is a shortest one, unless transitions
//! were postponed. Before it is shown, the reference semantics replays it forwards, step by step.
//!
//! A path can be longer than memory, and a model can have more initial states than fit in memory. So the states found
//! backwards go to a stack, which is on disk if it is long. The replay pops them and stores only the index of each step
//! among the possible ones. These indices are the counterexample. To show it, the steps are executed again.

mod concrete_lasso;
mod lifted_position;
mod state_path;
mod state_stack;

use crate::model_failure;
pub use concrete_lasso::ConcreteLasso;
use lifted_position::LiftedPosition;
pub use state_path::StatePath;
use state_stack::StateStack;
use std::ops::ControlFlow;

use super::SearchControl;
use super::sleep_store::SleepSetModel;
use super::view_store::ViewedModel;
use spill::{BlockDecoder, Codec, Disk, Error, LevelFormat, Result, SavedLevels, Segment};
use spillway_model::{
    Finding, StateSpace, StateValue, StepDescription, StepOutcome, SuccessorSink,
    SystemDescription, Violation, concrete_violating_state, find_start,
};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the batches in which successors are compared with the target.
const BATCH_BYTES: usize = 32 << 10;

/// The number of masks up to which contained masks are removed. The removal is slow for more.
const MASKS_COMPARED_MAX: usize = 4096;

/// A path from an initial state to a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedTrace {
    /// The violated check at its end: the given one, or that of a symmetric process.
    pub check: Violation,
    /// The start, then each step. If the violation is a run-time error, the failing step is the last one and may be the
    /// start.
    pub steps: Vec<StepDescription>,
    /// The initial state, then the target of each step that does not fail.
    pub states: Vec<Vec<u8>>,
}

impl ReplayedTrace {
    /// Returns the number of steps from the initial state, a failing one included.
    pub fn depth(&self) -> usize {
        self.steps.len() - 1
    }
}

/// The stored levels of a search and their encoding.
#[derive(Clone, Copy)]
pub struct StoredLevels<'a> {
    /// The disk with the files.
    pub disk: &'a dyn Disk,
    /// The location of the levels in the files.
    pub levels: &'a SavedLevels,
    /// The codec of the states.
    pub codec: &'a Codec,
}

impl StoredLevels<'_> {
    /// Returns the bytes that follow the states of a model: values, or back-edges.
    pub(super) fn bytes_behind(&self, model: &dyn StateSpace) -> usize {
        match ViewedModel::of(model) {
            Some(viewed) => viewed.width() - model.width(),
            None => SleepSetModel::of(model, self.codec).map_or(0, |it| it.values().bytes()),
        }
    }

    /// Opens a level of whole states, each with its value if the model has values.
    pub(super) fn open(&self, model: &dyn StateSpace, level: usize) -> Result<Vec<Segment>> {
        let behind = self.bytes_behind(model);
        // A view is a key alone, so the rest of the state is a part of the value.
        let value_bytes = ViewedModel::of(model).map_or(behind, |it| it.values().bytes());
        let codec = &self.codec.unprojected();
        let format = LevelFormat { width: model.width() + behind, value_bytes, codec };
        self.levels.open(self.disk, format, level)
    }
}

/// The input of a search for counterexamples.
#[derive(Clone, Copy)]
pub struct TraceFinder<'a> {
    /// The searched system, which finds predecessors. Its description replays steps.
    pub model: &'a dyn StateSpace,
    /// The search directory.
    pub disk: &'a dyn Disk,
    /// The number of threads.
    pub threads: usize,
    /// The control that stops the search.
    pub control: &'a SearchControl,
    /// The folder for the file of a long path. Without one the path is in memory.
    pub folder: Option<&'a Path>,
}

impl<'a> TraceFinder<'a> {
    /// Returns the counterexample that ends in the witness of `check`, or nothing if stopped.
    pub fn find(
        &self,
        levels: StoredLevels<'_>,
        check: Violation,
        finding: &Finding,
    ) -> Result<Option<Counterexample<'a>>> {
        let _heeding = self.control.heed();
        if let Some(found) = self.at_start(check, finding.level) {
            return Ok(Some(found));
        }
        let way = self.path_backwards(levels, finding.level, &finding.witness)?;
        let Some(mut way) = way else {
            return Ok(None);
        };
        self.replay(check, &mut || way.pop())
    }

    /// Returns the counterexample that consists of a start, if `check` first failed at `level` and in a start.
    pub(super) fn at_start(&self, check: Violation, level: u64) -> Option<Counterexample<'a>> {
        let model = self.model.description();
        let start = faulty_start(model, check, level)?;
        Some(Counterexample::at_start(model, check, start))
    }

    /// Returns the counterexample along the states of `next`, from an initial one on, or nothing if stopped.
    pub(super) fn replay(
        &self,
        check: Violation,
        next: &mut dyn FnMut() -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Counterexample<'a>>> {
        let stop = || self.control.should_stop();
        let found = Counterexample::replay_along(self.model, check, next, &stop)?;
        match found {
            _ if self.control.is_stopped() => Ok(None),
            Some(found) => Ok(Some(found)),
            None => Err(not_replayed()),
        }
    }

    /// Returns the states from `witness`, of `level`, back to an initial one, or nothing if stopped.
    fn path_backwards(
        &self,
        levels: StoredLevels<'_>,
        level: u64,
        witness: &[u8],
    ) -> Result<Option<StateStack>> {
        let masks = maximal_masks(self.model.write_masks());
        // The states of levels may be followed by values.
        let whole = self.model.width() + levels.bytes_behind(self.model);
        let mut rooms: Vec<TraceBuffers> =
            (0..self.threads.max(1)).map(|_| TraceBuffers::new(whole)).collect();
        let mut way = StateStack::new(self.model.width(), self.folder);
        let mut target = witness.to_vec();
        way.push(&target)?;
        // A re-expanded state can have successors beyond the next level.
        let jumps = self.model.capabilities().postponing.is_some();
        let mut missing = None;
        for level in (0..level as usize).rev() {
            let segments = levels.open(self.model, level)?;
            let before = self.predecessor(&masks, &segments, &mut rooms, &target)?;
            if self.control.should_stop() {
                return Ok(None);
            }
            match before {
                Some(before) => {
                    way.push(&before)?;
                    (target, missing) = (before, None);
                }
                None if jumps && level > 0 => missing = missing.or(Some(level)),
                None => return Err(no_predecessor(missing.unwrap_or(level))),
            }
        }
        Ok(Some(way))
    }

    /// Returns the states of a path from an initial one to `state`, of `level`, or nothing if stopped.
    pub(super) fn path_to(
        &self,
        levels: StoredLevels<'_>,
        level: u64,
        state: &[u8],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let _heeding = self.control.heed();
        let Some(mut way) = self.path_backwards(levels, level, state)? else { return Ok(None) };
        let mut states = Vec::new();
        while let Some(state) = way.pop()? {
            states.push(state);
        }
        Ok(Some(states))
    }

    /// Returns a state of each layer such that each leads to the next and the last to `target`. Returns nothing if
    /// stopped.
    pub(super) fn path_through(
        &self,
        layers: &[Vec<Segment>],
        target: &[u8],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let masks = maximal_masks(self.model.write_masks());
        let width = self.model.width();
        let mut rooms: Vec<TraceBuffers> =
            (0..self.threads.max(1)).map(|_| TraceBuffers::new(width)).collect();
        let mut states: Vec<Vec<u8>> = Vec::new();
        for (number, layer) in layers.iter().enumerate().rev() {
            let target = states.last().map_or(target, Vec::as_slice);
            let before = self.predecessor(&masks, layer, &mut rooms, target)?;
            if self.control.should_stop() {
                return Ok(None);
            }
            states.push(before.ok_or_else(|| no_predecessor(number))?);
        }
        states.reverse();
        Ok(Some(states))
    }

    /// Returns the least state of a level that has `target` as a successor. Also returns nothing if stopped.
    fn predecessor(
        &self,
        masks: &[Vec<u8>],
        segments: &[Segment],
        rooms: &mut [TraceBuffers],
        target: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let (width, whole) = (self.model.width(), rooms[0].whole);
        let blocks: Vec<(&Segment, usize)> = segments
            .iter()
            .flat_map(|segment| (0..segment.blocks()).map(move |block| (segment, block)))
            .collect();
        let useful = blocks.len().clamp(1, rooms.len());
        let (next, best) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let found = spill::map_parallel(
            rooms[..useful].iter_mut().collect(),
            |_, room: &mut TraceBuffers| {
                let _heeding = self.control.heed();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let passed = at >= blocks.len() || at > best.load(Ordering::Relaxed);
                    if passed || self.control.should_stop() {
                        return Ok(None);
                    }
                    let (segment, block) = blocks[at];
                    let TraceBuffers { decoder, states, successors, .. } = &mut *room;
                    segment.decode(block, decoder, states)?;
                    segment.release(block..block + 1);
                    for state in states.chunks_exact(whole).map(|it| &it[..width]) {
                        if !can_lead_to(masks, state, target) {
                            continue;
                        }
                        let leads = leads_to(self.model, state, target, successors)?;
                        if self.control.should_stop() {
                            return Ok(None);
                        }
                        if leads {
                            best.fetch_min(at, Ordering::Relaxed);
                            return Ok(Some((at, state.to_vec())));
                        }
                    }
                }
            },
        )?;
        Ok(found.into_iter().flatten().min().map(|(_, state)| state))
    }
}

/// The error of a path that the reference semantics does not take.
fn not_replayed() -> Error {
    let reason = "its steps do not lead where expanding its states led";
    Error::Source { reason: reason.into() }
}

fn no_predecessor(level: usize) -> Error {
    let reason = format!("no state of level {level} leads to the next level");
    Error::Source { reason: reason.into() }
}

/// The buffers of one thread.
struct TraceBuffers {
    /// Bytes of a state, with its value if it has one.
    whole: usize,
    decoder: BlockDecoder,
    states: Vec<u8>,
    successors: Vec<u8>,
}

impl TraceBuffers {
    fn new(whole: usize) -> TraceBuffers {
        TraceBuffers {
            whole,
            decoder: BlockDecoder::new(whole),
            states: Vec::new(),
            successors: Vec::new(),
        }
    }
}

/// A path from an initial state to a violation, as the indices of its steps among the possible ones.
pub struct Counterexample<'a> {
    model: &'a dyn SystemDescription,
    check: Violation,
    /// The number of its start.
    start: u64,
    /// The index of each step among the possible steps of its source state.
    choices: Vec<u32>,
    /// The last state; none if the start fails.
    last: Option<Vec<u8>>,
}

impl<'a> Counterexample<'a> {
    /// Returns the counterexample along the states of a path of a searched system, from an initial one on. Without
    /// states, a start fails. `None` if stopped.
    ///
    /// # Errors
    ///
    /// If the reference semantics does not take these steps, or the model fails.
    pub fn along(
        searched: &'a dyn StateSpace,
        check: Violation,
        states: Vec<Vec<u8>>,
        control: &SearchControl,
    ) -> Result<Option<Self>> {
        let found = match states.is_empty() {
            true => {
                let model = searched.description();
                faulty_start(model, check, 0).map(|it| Counterexample::at_start(model, check, it))
            }
            false => {
                let _heeding = control.heed();
                let (mut states, stop) = (states.into_iter(), || control.should_stop());
                Counterexample::replay_along(searched, check, &mut || Ok(states.next()), &stop)?
            }
        };
        match found {
            _ if control.is_stopped() => Ok(None),
            Some(found) => Ok(Some(found)),
            None => Err(not_replayed()),
        }
    }

    fn at_start(model: &'a dyn SystemDescription, check: Violation, start: u64) -> Self {
        Counterexample { model, check, start, choices: Vec::new(), last: None }
    }

    /// Takes the steps from each state of `next` to the following one. Returns `None` if there is no such step or if
    /// stopped. The steps are those of the system that describes the searched one. Each step of the searched system is
    /// lifted to them.
    fn replay_along(
        searched: &'a dyn StateSpace,
        check: Violation,
        next: &mut dyn FnMut() -> Result<Option<Vec<u8>>>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Self>> {
        let model = searched.description();
        let Some(target) = next()? else { return Ok(None) };
        let started = LiftedPosition::start(searched, &target, stop)?.filter(|_| !stop());
        let Some((start, mut lifted)) = started else { return Ok(None) };
        let mut choices = Vec::new();
        while let Some(target) = next()? {
            let taken = lifted.advance_to(&target, &mut choices)?;
            if !taken || stop() {
                return Ok(None);
            }
        }
        if !lifted.advance_to_failure(check, &mut choices)? {
            return Ok(None);
        }
        let Some(check) = lifted.violated_check(check) else { return Ok(None) };
        let state = lifted.state;
        let faulty = model.steps(&state).iter().position(|step| is_faulty(check, step));
        choices.extend(faulty.map(|choice| choice as u32));
        Ok(Some(Counterexample { model, check, start, choices, last: Some(state) }))
    }

    /// Returns the violated check at its end.
    pub fn check(&self) -> Violation {
        self.check
    }

    /// Returns the system that describes its steps.
    pub fn explained(&self) -> &dyn SystemDescription {
        self.model
    }

    /// Returns the failing step, if the check does not fail in a state.
    pub fn faulty_step(&self) -> Option<StepDescription> {
        let steps = self.last.as_ref().map(|state| self.model.steps(state)).unwrap_or_default();
        steps.into_iter().find(|step| is_faulty(self.check, step))
    }

    /// Returns the values of the user's variables in one of its states.
    pub fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        self.model.describe(state)
    }

    /// Returns the number of steps from the initial state, a failing one included.
    pub fn depth(&self) -> usize {
        self.choices.len()
    }

    /// Returns the state that violates the check or whose step fails; none if the start fails.
    pub fn last(&self) -> Option<&[u8]> {
        self.last.as_deref()
    }

    /// Passes each step to `show`, the start first, with its target state. A failing step has none.
    pub fn each_step(&self, show: &mut dyn FnMut(&StepDescription, Option<&[u8]>)) {
        let Some(mut step) = nth_start(self.model, self.start) else { return };
        let mut choices = self.choices.iter();
        loop {
            let state = match &step.outcome {
                StepOutcome::Successor(state) => Some(state.as_slice()),
                StepOutcome::Fault(_) => None,
            };
            show(&step, state);
            let (Some(state), Some(&choice)) = (state, choices.next()) else { return };
            let taken = self.model.steps(state).into_iter().nth(choice as usize);
            let Some(taken) = taken else { return };
            step = taken;
        }
    }

    /// Returns all steps and states.
    pub fn trace(&self) -> ReplayedTrace {
        let (mut steps, mut states) = (Vec::new(), Vec::new());
        self.each_step(&mut |step, state| {
            steps.push(step.clone());
            states.extend(state.map(<[u8]>::to_vec));
        });
        ReplayedTrace { check: self.check, steps, states }
    }
}

/// Returns the counterexample that ends in the witness of `check`, all of it in memory.
pub fn counterexample(
    model: &dyn StateSpace,
    levels: StoredLevels<'_>,
    threads: usize,
    check: Violation,
    finding: &Finding,
) -> Result<ReplayedTrace> {
    let control = SearchControl::default();
    let disk = levels.disk;
    let finder = TraceFinder { model, disk, threads, control: &control, folder: None };
    let found = finder.find(levels, check, finding)?;
    Ok(found.unwrap_or_else(|| unreachable!("nobody asks it to stop")).trace())
}

/// Takes the steps from each of the `visited` states to the next, in memory. Returns `None` if there is no such step.
pub fn replay(
    model: &dyn StateSpace,
    check: Violation,
    visited: Vec<Vec<u8>>,
) -> Option<ReplayedTrace> {
    let explained = model.description();
    if let Some(start) = faulty_start(explained, check, 0) {
        return Some(Counterexample::at_start(explained, check, start).trace());
    }
    let mut visited = visited.into_iter();
    let found = Counterexample::replay_along(model, check, &mut || Ok(visited.next()), &|| false);
    found.ok().flatten().map(|found| found.trace())
}

/// Returns the start with this number.
fn nth_start(model: &dyn SystemDescription, wanted: u64) -> Option<StepDescription> {
    find_start(model, |number, _| number == wanted).map(|(_, step)| step)
}

/// Returns the number of the start with the run-time error of `check`, if it was first found at `level`. Errors of
/// starts are found at level 0.
pub(super) fn faulty_start(
    model: &dyn SystemDescription,
    check: Violation,
    level: u64,
) -> Option<u64> {
    if level > 0 || !matches!(check, Violation::Fault(..)) {
        return None;
    }
    find_start(model, |_, step| is_faulty(check, step)).map(|(number, _)| number)
}

/// Returns the step with the run-time error of `check`, first found in `witness`, of `level`, or at the start, and
/// whether the step is a start.
pub fn find_faulty_step(
    searched: &dyn StateSpace,
    check: Violation,
    level: u64,
    witness: &[u8],
) -> Option<(StepDescription, bool)> {
    let model = searched.description();
    if let Some(start) = faulty_start(model, check, level) {
        return nth_start(model, start).map(|step| (step, true));
    }
    // The witness may represent the source state of the step.
    let state = concrete_violating_state(searched, check, witness).ok()?;
    let mut steps = model.steps(&state).into_iter();
    steps.find(|step| is_faulty(check, step)).map(|step| (step, false))
}

/// Returns whether a check fails in a state or in a step from it.
fn is_violated(model: &dyn SystemDescription, check: Violation, state: &[u8]) -> bool {
    match check {
        Violation::Fault(..) => model.steps(state).iter().any(|step| is_faulty(check, step)),
        _ => model.violations(state).contains(&check),
    }
}

/// Returns whether a step has the run-time error of `check`.
fn is_faulty(check: Violation, step: &StepDescription) -> bool {
    let Violation::Fault(kind, action) = check else { return false };
    step.action == action
        && matches!(&step.outcome, StepOutcome::Fault(fault) if fault.kind == kind)
}

/// Returns the masks that no other mask contains.
fn maximal_masks(mut masks: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    masks.sort_unstable();
    masks.dedup();
    if masks.len() > MASKS_COMPARED_MAX {
        return masks;
    }
    let within =
        |one: &[u8], other: &[u8]| one.iter().zip(other).all(|(one, other)| one & !other == 0);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    masks.sort_by_key(|mask| std::cmp::Reverse(mask.iter().map(|it| it.count_ones()).sum::<u32>()));
    for mask in masks {
        if !kept.iter().any(|other| within(&mask, other)) {
            kept.push(mask);
        }
    }
    kept
}

/// Returns whether the two states differ only within one of the masks.
fn can_lead_to(masks: &[Vec<u8>], state: &[u8], target: &[u8]) -> bool {
    masks.iter().any(|mask| {
        let bytes = state.iter().zip(target).zip(mask);
        bytes.fold(0, |beyond, ((one, other), mask)| beyond | (one ^ other) & !mask) == 0
    })
}

/// Returns whether `target` is a successor of `state`. `room` is a buffer for the successors.
fn leads_to(
    model: &dyn StateSpace,
    state: &[u8],
    target: &[u8],
    room: &mut Vec<u8>,
) -> Result<bool> {
    room.clear();
    let width = model.width();
    let mut found = false;
    let mut look = |successors: &mut Vec<u8>| {
        found |= successors.chunks_exact(width).any(|successor| successor == target);
        successors.clear();
        ControlFlow::Continue(())
    };
    let (limit, run) = (BATCH_BYTES.max(width), |out: &mut SuccessorSink| model.expand(state, out));
    let collected = SuccessorSink::collect_in_batches(width, room, limit, &mut look, run);
    let _ = collected.map_err(model_failure)?;
    let _ = look(room);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_maximal_masks_are_kept() {
        let masks = [0b0011, 0b0111, 0b1000, 0b0111, 0b0000].map(|bits| vec![bits, 0]);
        let kept = maximal_masks(masks.to_vec());
        assert_eq!(kept, [vec![0b0111, 0], vec![0b1000, 0]]);
        for one in 0..=15 {
            for other in 0..=15 {
                let [one, other] = [[one, 0], [other, 0]];
                let before = can_lead_to(&masks, &one, &other);
                assert_eq!(can_lead_to(&kept, &one, &other), before, "{one:?} {other:?}");
            }
        }
    }
}
