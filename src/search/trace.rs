//! Counterexamples: from a state found wrong back to an initial one, one level at a time.
//!
//! The search keeps no predecessors. A state of level `n` has one in level `n - 1`, so the levels
//! are read backwards; where steps were put off, it may have one only in a level before that. A predecessor differs from the wanted successor only inside a write mask of
//! the model, so the states of the level before are compared under the masks, and the few that pass
//! are expanded, until one has the successor. The first such state in key order is taken, so a counterexample is always the
//! same one, and as levels are breadth-first depths it is a shortest one, unless steps were put off. Before it is shown it is
//! replayed forwards, step by step, by the reference semantics.
//!
//! A way can be longer, and a model can start in more states, than there is memory for. So the states
//! found backwards go to a stack that lies on disk where it is long; replaying takes them from there,
//! and remembers of each only which of the possible steps leads to it. That is the counterexample:
//! whoever shows it takes the steps again, one after another.

mod concrete_lasso;
mod lifted_position;
mod state_stack;

use crate::search::model_failure;
pub use concrete_lasso::ConcreteLasso;
use lifted_position::LiftedPosition;
use state_stack::StateStack;
use std::ops::ControlFlow;

use super::SearchControl;
use super::sleep_store::SleepSetModel;
use crate::model::{
    Finding, StateSpace, StateValue, StepDescription, StepOutcome, SuccessorSink,
    SystemDescription, Violation, concrete_violating_state, find_start,
};
use spill::{BlockDecoder, Codec, Disk, Error, LevelFormat, Result, SavedLevels, Segment};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Successors of a state are compared with the wanted one in batches of this many bytes.
const BATCH_BYTES: usize = 32 << 10;

/// More masks than this are taken as they are: to look for those that others contain takes long.
const MASKS_COMPARED_MAX: usize = 4096;

/// A way from an initial state to a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedTrace {
    /// What is violated at its end: what it is the counterexample to, or the same of a process that is alike.
    pub check: Violation,
    /// The start, then each step taken; a fault, if that is what is violated, is the last, and may
    /// be the start.
    pub steps: Vec<StepDescription>,
    /// The state each step but a faulty one led to, the initial state first.
    pub states: Vec<Vec<u8>>,
}

impl ReplayedTrace {
    /// Steps from the initial state, the faulty one included.
    pub fn depth(&self) -> usize {
        self.steps.len() - 1
    }
}

/// The levels of a search, where they lie and how they are written.
#[derive(Clone, Copy)]
pub struct StoredLevels<'a> {
    /// Has the files.
    pub disk: &'a dyn Disk,
    /// Where the levels are in them.
    pub levels: &'a SavedLevels,
    /// What has written the states.
    pub codec: &'a Codec,
}

impl StoredLevels<'_> {
    /// Bytes of the values behind the states of a model.
    pub(super) fn value_bytes(&self, model: &dyn StateSpace) -> usize {
        SleepSetModel::of(model, self.codec).map_or(0, |it| it.values().bytes())
    }

    /// The states of a level, whole, each with its value if the model's have some.
    pub(super) fn open(&self, model: &dyn StateSpace, level: usize) -> Result<Vec<Segment>> {
        let value_bytes = self.value_bytes(model);
        let codec = &self.codec.unprojected();
        let format = LevelFormat { width: model.width() + value_bytes, value_bytes, codec };
        self.levels.open(self.disk, format, level)
    }
}

/// What counterexamples are looked for with.
#[derive(Clone, Copy)]
pub struct TraceFinder<'a> {
    /// The model as it was searched: finds predecessors. Whoever explains it replays.
    pub model: &'a dyn StateSpace,
    /// The search directory.
    pub disk: &'a dyn Disk,
    /// How many may look.
    pub threads: usize,
    /// Whom to ask whether to stop.
    pub control: &'a SearchControl,
    /// Where a long way may be put down; if nowhere, it is kept in memory.
    pub folder: Option<&'a Path>,
}

impl<'a> TraceFinder<'a> {
    /// The counterexample that ends in the witness that `check` fails; nothing if told to stop.
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

    /// The counterexample that is a start, if `check` first failed at `level` and in one.
    pub(super) fn at_start(&self, check: Violation, level: u64) -> Option<Counterexample<'a>> {
        let model = self.model.description();
        let start = faulty_start(model, check, level)?;
        Some(Counterexample::at_start(model, check, start))
    }

    /// The counterexample along the states that `next` gives, from an initial one on; nothing if told
    /// to stop.
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
            None => {
                let reason = "its steps do not lead where expanding its states led";
                Err(Error::Source { reason: reason.into() })
            }
        }
    }

    /// The states from `witness`, of `level`, back to an initial one; nothing if told to stop.
    fn path_backwards(
        &self,
        levels: StoredLevels<'_>,
        level: u64,
        witness: &[u8],
    ) -> Result<Option<StateStack>> {
        let masks = maximal_masks(self.model.write_masks());
        // The states of levels may have values behind them.
        let whole = self.model.width() + levels.value_bytes(self.model);
        let mut rooms: Vec<TraceBuffers> =
            (0..self.threads.max(1)).map(|_| TraceBuffers::new(whole)).collect();
        let mut way = StateStack::new(self.model.width(), self.folder);
        let mut target = witness.to_vec();
        way.push(&target)?;
        // A state that was expanded again leads to levels after the next.
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

    /// The states of a way from an initial one to `state`, of `level`; nothing if told to stop.
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

    /// A state of each of these layers, such that each leads to the next, and the last to `target`; nothing if told to
    /// stop.
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

    /// The least state of a level that has `target` as a successor. Nothing, too, if told to stop.
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

fn no_predecessor(level: usize) -> Error {
    let reason = format!("no state of level {level} leads to the next any more");
    Error::Source { reason: reason.into() }
}

/// What one thread works in.
struct TraceBuffers {
    /// Bytes of a state, with the value behind it if it has one.
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

/// A way from an initial state to a violation, as the steps that are taken. It is small: which step of
/// those possible each is.
pub struct Counterexample<'a> {
    model: &'a dyn SystemDescription,
    check: Violation,
    /// Which of the starts it begins with.
    start: u64,
    /// Which of the steps possible then comes next, and so on.
    choices: Vec<u32>,
    /// The last state; none if the start is at fault.
    last: Option<Vec<u8>>,
}

impl<'a> Counterexample<'a> {
    fn at_start(model: &'a dyn SystemDescription, check: Violation, start: u64) -> Self {
        Counterexample { model, check, start, choices: Vec::new(), last: None }
    }

    /// Takes the steps from each state that `next` gives to the one after it; `None` if there is no
    /// such step, or if told to stop. The steps are those of the model that explains the searched one:
    /// each step of this is lifted to steps of that.
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

    /// What is violated at its end.
    pub fn check(&self) -> Violation {
        self.check
    }

    /// Who explains it.
    pub fn explained(&self) -> &dyn SystemDescription {
        self.model
    }

    /// The step in which the check fails, if it is not a state that it fails in.
    pub fn faulty_step(&self) -> Option<StepDescription> {
        let steps = self.last.as_ref().map(|state| self.model.steps(state)).unwrap_or_default();
        steps.into_iter().find(|step| is_faulty(self.check, step))
    }

    /// One of its states as the user's variables.
    pub fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        self.model.describe(state)
    }

    /// Steps from the initial state, a faulty one included.
    pub fn depth(&self) -> usize {
        self.choices.len()
    }

    /// The state in which, or in a step from which, the check fails; none if the start is at fault.
    pub fn last(&self) -> Option<&[u8]> {
        self.last.as_deref()
    }

    /// Shows each step, the start first, with the state that it leads to; a fault leads to none.
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

    /// All of it at once.
    pub fn trace(&self) -> ReplayedTrace {
        let (mut steps, mut states) = (Vec::new(), Vec::new());
        self.each_step(&mut |step, state| {
            steps.push(step.clone());
            states.extend(state.map(<[u8]>::to_vec));
        });
        ReplayedTrace { check: self.check, steps, states }
    }
}

/// The counterexample that ends in the witness that `check` fails, all of it in memory.
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

/// Takes the steps from each of the `visited` states to the next, in memory; `None` if there is no
/// such step.
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

/// The start with this number.
fn nth_start(model: &dyn SystemDescription, wanted: u64) -> Option<StepDescription> {
    find_start(model, |number, _| number == wanted).map(|(_, step)| step)
}

/// The number of the start that meets the run-time error that `check` speaks of, if it was first met at
/// `level`: what starts meet is met at the first.
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

/// The step that meets the run-time error that `check` speaks of, first met in `witness`, of `level`,
/// or at the start; and whether that is it.
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
    // The witness may be here for the state that the step is out of.
    let state = concrete_violating_state(searched, check, witness).ok()?;
    let mut steps = model.steps(&state).into_iter();
    steps.find(|step| is_faulty(check, step)).map(|step| (step, false))
}

/// Whether a check fails in a state, or in a step out of it.
fn is_violated(model: &dyn SystemDescription, check: Violation, state: &[u8]) -> bool {
    match check {
        Violation::Fault(..) => model.steps(state).iter().any(|step| is_faulty(check, step)),
        _ => model.violations(state).contains(&check),
    }
}

/// Whether a step meets the run-time error that `check` speaks of.
fn is_faulty(check: Violation, step: &StepDescription) -> bool {
    let Violation::Fault(kind, action) = check else { return false };
    step.action == action
        && matches!(&step.outcome, StepOutcome::Fault(fault) if fault.kind == kind)
}

/// The masks that no other one contains.
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

/// Whether the two states differ only within one of the masks.
fn can_lead_to(masks: &[Vec<u8>], state: &[u8], target: &[u8]) -> bool {
    masks.iter().any(|mask| {
        let bytes = state.iter().zip(target).zip(mask);
        bytes.fold(0, |beyond, ((one, other), mask)| beyond | (one ^ other) & !mask) == 0
    })
}

/// Whether `target` is a successor of `state`. Uses `room` for the successors.
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
    fn masks_within_others_are_left_out_and_nothing_is_lost() {
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
