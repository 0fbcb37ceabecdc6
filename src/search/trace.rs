//! Counterexamples: from a state found wrong back to an initial one, one level at a time.
//!
//! The search keeps no predecessors. A state of level `n` has one in level `n - 1`, so the levels
//! are read backwards. A predecessor differs from the wanted successor only inside a write mask of
//! the model, so the states of the level before are compared under the masks, and the few that pass
//! are expanded, until one has the successor. The first such state in key order is taken, so a counterexample is always the
//! same one, and as levels are breadth-first depths it is a shortest one. Before it is shown it is
//! replayed forwards, step by step, by the reference semantics.

use crate::exec::{Check, Expansion, Model, Outcome as StepOutcome, Step};
use spill::{Codec, Decoder, Disk, Error, Result, SavedLevels, Segment};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A way from an initial state to a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What is violated at its end.
    pub check: Check,
    /// The start, then each step taken; a fault, if that is what is violated, is the last, and may
    /// be the start.
    pub steps: Vec<Step>,
    /// The state each step but a faulty one led to, the initial state first.
    pub states: Vec<Vec<u8>>,
}

impl Trace {
    /// Steps from the initial state, the faulty one included.
    pub fn depth(&self) -> usize {
        self.steps.len() - 1
    }
}

/// The counterexample that ends in `witness`, a state of `level`, where `check` fails. The levels
/// must be on disk as `levels` says and `codec` writes.
pub fn counterexample(
    model: &dyn Model,
    disk: &dyn Disk,
    (levels, codec): (&SavedLevels, &Codec),
    threads: usize,
    check: Check,
    level: u64,
    witness: &[u8],
) -> Result<Trace> {
    let masks = model.write_masks();
    let mut states = vec![witness.to_vec()];
    for level in (0..level as usize).rev() {
        let target = states.last().map(Vec::as_slice).unwrap_or_default();
        let segments = levels.open(disk, model.width(), &codec.unprojected(), level)?;
        let before = predecessor(model, &masks, &segments, threads, target)?;
        states.push(before.ok_or_else(|| {
            Error::corrupt("levels", 0, format!("no state of level {level} leads to the next"))
        })?);
    }
    states.reverse();
    replay(model, check, states)
        .ok_or_else(|| Error::corrupt("levels", 0, "the counterexample cannot be replayed"))
}

/// Takes the steps from each state to the next; `None` if there is no such step. Where the model
/// leaves out equivalent states, the steps are those of the unreduced one, from a state that the
/// first stands for to one that the next stands for, and so on.
pub fn replay(model: &dyn Model, check: Check, visited: Vec<Vec<u8>>) -> Option<Trace> {
    let reduced = model;
    let model = reduced.unreduced().unwrap_or(reduced);
    if let Some(step) = faulty(check, model.starts()) {
        return Some(Trace { check, steps: vec![step], states: Vec::new() });
    }
    let (mut steps, mut states) = (Vec::new(), Vec::<Vec<u8>>::new());
    for target in &visited {
        let options = match states.last() {
            None => model.starts(),
            Some(state) => model.steps(state),
        };
        let (step, state) = options.into_iter().find_map(|step| {
            let StepOutcome::Successor(state) = &step.outcome else { return None };
            let state = reduced.stands_for(target, state).then(|| state.clone())?;
            Some((step, state))
        })?;
        steps.push(step);
        states.push(state);
    }
    let last = states.last()?;
    match check {
        Check::Fault(..) => steps.push(faulty(check, model.steps(last))?),
        _ if !model.violations(last).contains(&check) => return None,
        _ => {}
    }
    Some(Trace { check, steps, states })
}

/// The step among some that meets the run-time error that `check` speaks of.
pub fn faulty(check: Check, steps: Vec<Step>) -> Option<Step> {
    let Check::Fault(kind, action) = check else { return None };
    steps.into_iter().find(|step| {
        step.action == action
            && matches!(&step.outcome, StepOutcome::Fault(fault) if fault.kind == kind)
    })
}

/// The least state of a level that has `target` as a successor.
fn predecessor(
    model: &dyn Model,
    masks: &[Vec<u8>],
    segments: &[Segment],
    threads: usize,
    target: &[u8],
) -> Result<Option<Vec<u8>>> {
    let width = model.width();
    let blocks: Vec<(&Segment, usize)> = segments
        .iter()
        .flat_map(|segment| (0..segment.blocks()).map(move |block| (segment, block)))
        .collect();
    let useful = blocks.len().clamp(1, threads.max(1));
    let (next, best) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let found = spill::in_parallel(vec![(); useful], |_, ()| {
        let (mut decoder, mut states) = (Decoder::new(width), Vec::new());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= blocks.len() || at > best.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let (segment, block) = blocks[at];
            segment.decode(block, &mut decoder, &mut states)?;
            segment.release(block..block + 1);
            let mut near = states.chunks(width).filter(|state| can_lead_to(masks, state, target));
            let mut found = None;
            while let (Some(state), None) = (near.next(), found) {
                found = leads_to(model, state, target)?.then_some(state);
            }
            if let Some(state) = found {
                best.fetch_min(at, Ordering::Relaxed);
                return Ok(Some((at, state.to_vec())));
            }
        }
    })?;
    Ok(found.into_iter().flatten().min().map(|(_, state)| state))
}

/// Whether the two states differ only within one of the masks.
fn can_lead_to(masks: &[Vec<u8>], state: &[u8], target: &[u8]) -> bool {
    masks.iter().any(|mask| {
        let bytes = state.iter().zip(target).zip(mask);
        bytes.fold(0, |beyond, ((one, other), mask)| beyond | (one ^ other) & !mask) == 0
    })
}

fn leads_to(model: &dyn Model, state: &[u8], target: &[u8]) -> Result<bool> {
    let mut buffer = Vec::new();
    let _ = Expansion::collect(model.width(), &mut buffer, |out| model.expand(state, out))?;
    Ok(buffer.chunks(model.width()).any(|successor| successor == target))
}
