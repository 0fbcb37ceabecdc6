//! The expansion of a level into sorted candidate runs.
//!
//! A level is divided into units of a few thousand states. Each worker takes the next unit and expands it into its
//! candidate buffer. A full buffer is sorted and its duplicates are removed. If it is still too full, it becomes a
//! candidate run on disk. When the expansion pauses, each worker completes its unit. So the expanded states are always
//! a prefix of the level, and a checkpoint stores their number.
//!
//! A request to stop is noticed within a unit: between two *slices* of it, or by the model within a slice. An abandoned
//! slice ends the expanded prefix. The outcomes of this slice and of later ones do not count and are generated again
//! when the search resumes. Their candidates are reachable states and are kept.

mod candidate_log;
mod collector;
mod late_encoding;
mod obligations;
mod tallies;
mod unencoded;
mod worker;

pub use late_encoding::LateEncoding;
pub use obligations::{ObligationBuffer, RANK};
pub use unencoded::{UnencodedBuffer, UnencodedLevel};
pub use worker::{ExpansionWorker, InitialStates};

use super::SearchControl;
use super::control::SearchProgress;
use super::model_failure;
use spill::{BlockDecoder, Codec, Frontier, Result};
use spillway_model::{
    CandidateBatch, CheckSelection, ExpansionOutcome, Findings, ObligationSink,
    PostponingStateSpace, StateSpace, SuccessorSink, UnencodedCandidate,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The number of states in a unit of a level in memory.
const UNIT_STATES: usize = 2048;

/// The number of states of a level for each worker, at least.
const STATES_PER_WORKER_MIN: u64 = 4096;

/// A level and the number of its expanded states.
pub struct LevelExpansion<'a> {
    /// The number of the level, from 0.
    pub number: u32,
    /// The number of the last level, which is used in file names.
    pub last: u32,
    /// The transitions that are explored.
    pub steps: ExpansionPass<'a>,
    /// The states, encoded as the keys of the store in memory.
    pub frontier: &'a Frontier,
    /// The codec of the store.
    pub codec: &'a Codec,
    /// The number of states expanded so far.
    pub expanded: u64,
    /// The number of states to expand in all, at most the size of the level.
    pub until: u64,
    /// Checks whose first violation ends the expansion, if there are any.
    pub ending: Option<CheckSelection>,
}

impl LevelExpansion<'_> {
    /// Returns the number of `states` that count, and the outcome of expanding them, if a finding in one of them ends
    /// the expansion. Later states do not count, since their number depends on timing.
    fn end_within(
        &self,
        states: &[u8],
        model: &dyn StateSpace,
        findings: &Findings,
    ) -> Result<Option<(u64, ExpansionOutcome)>> {
        let Some(checks) = self.ending else { return Ok(None) };
        let ending = findings.iter().filter(|(check, _)| checks.selects(model, *check));
        let Some(first) = ending.map(|(_, finding)| &finding.witness).min() else {
            return Ok(None);
        };
        let width = model.width();
        let place = states.chunks_exact(width).position(|state| state == first);
        let count = place.map_or(states.len() / width, |place| place + 1);
        let mut dropped = Vec::new();
        let drop_all = |candidates: &mut Vec<u8>| {
            candidates.clear();
            ControlFlow::Continue(())
        };
        let expand = |out: &mut SuccessorSink| {
            self.steps.take(model, &states[..count * width], out, &mut |_, _| {});
        };
        let batch = CandidateBatch { width, buffer: &mut dropped, limit: width };
        let drop_unencoded = |_: UnencodedCandidate<'_>| ControlFlow::Continue(());
        let counted = SuccessorSink::collect_growing(batch, drop_all, Some(drop_unencoded), expand);
        Ok(Some((count as u64, counted.map_err(model_failure)?)))
    }

    /// Adds expanded states and transitions to the progress.
    fn show(&self, states: u64, transitions: u64, progress: &SearchProgress) {
        // Re-expanded states were counted before.
        if !matches!(self.steps, ExpansionPass::Rest(_)) {
            SearchProgress::add(&progress.expanded, states);
        }
        SearchProgress::add(&progress.transitions, transitions);
    }
}

/// The transitions of states that are explored.
#[derive(Clone, Copy)]
pub enum ExpansionPass<'a> {
    /// All transitions.
    All,
    /// The transitions that are not postponed.
    First(&'a dyn PostponingStateSpace),
    /// The postponed transitions.
    Rest(&'a dyn PostponingStateSpace),
}

impl ExpansionPass<'_> {
    /// Adds these transitions of `states` to `out`, and passes obligations to `owe`.
    fn take(
        self,
        model: &dyn StateSpace,
        states: &[u8],
        out: &mut SuccessorSink,
        owe: &mut dyn FnMut(usize, &[u8]),
    ) {
        match self {
            ExpansionPass::All => model.expand(states, out),
            ExpansionPass::Rest(model) => model.expand_postponed(states, out),
            ExpansionPass::First(model) => {
                model.expand_reduced(states, out, &mut ObligationSink::new(owe));
            }
        }
    }
}

/// The result of expanding states of a level.
#[derive(Default)]
pub struct ExpansionResult {
    /// The number of expanded states of the level in all.
    pub states: u64,
    /// The outcome of the newly expanded states.
    pub outcome: ExpansionOutcome,
}

/// The data that the workers of a level share.
struct LevelWork<'w> {
    model: &'w dyn StateSpace,
    level: &'w LevelExpansion<'w>,
    units: &'w LevelUnits,
    control: &'w SearchControl,
    /// Whether workers end after their current unit.
    pause: &'w (dyn Fn() -> bool + Sync),
}

/// Expands `level` with all workers until it ends or `pause` returns true.
pub fn expand(
    model: &dyn StateSpace,
    level: &LevelExpansion,
    workers: &mut [ExpansionWorker],
    control: &SearchControl,
    pause: &(dyn Fn() -> bool + Sync),
) -> Result<ExpansionResult> {
    let whole = model.width();
    let until = level.frontier.keys(level.codec.key_width(whole)).min(level.until);
    let useful = until.saturating_sub(level.expanded) / STATES_PER_WORKER_MIN;
    let crew = (useful as usize).clamp(1, workers.len());
    let units = LevelUnits::new(level, whole, crew);
    let shared = LevelWork { model, level, units: &units, control, pause };
    let tallies = match &mut workers[..crew] {
        // A small level takes less time than the lists for threads.
        [worker] => [worker.run(&shared, 0)?].into(),
        several => {
            let run = |at, worker: &mut ExpansionWorker| worker.run(&shared, at);
            spill::map_parallel(several.iter_mut().collect(), run)?
        }
    };
    let mut all = ExpansionResult { states: units.done(), ..ExpansionResult::default() };
    for tallies in tallies {
        all.outcome += tallies.of_states_before(all.states);
    }
    all.outcome.findings = all.outcome.findings.at_level(u64::from(level.number));
    Ok(all)
}

/// Returns the bits in which some candidate of some worker is an exception to the codec's projection, if there are any.
pub fn exceptional_bits(workers: &[ExpansionWorker]) -> Option<Vec<u8>> {
    let all = workers.iter().filter_map(ExpansionWorker::exceptional_bits);
    let either = |one: Vec<u8>, other: Vec<u8>| {
        one.iter().zip(other).map(|(one, other)| one | other).collect()
    };
    all.reduce(either).filter(|bits| bits.iter().any(|&it| it != 0))
}

/// The units of a level, taken in order.
struct LevelUnits {
    /// Bytes of a state of the model.
    whole: usize,
    /// The units: segment and block (zero for a level in memory), index of the first state, and number of states.
    units: Vec<LevelUnit>,
    next: AtomicUsize,
    already: u64,
    /// The first state of each worker's current slice, or the greatest number if the worker has ended.
    at: Vec<AtomicU64>,
    /// The first state that was left unexpanded, if there is one.
    left: AtomicU64,
}

#[derive(Clone, Copy)]
struct LevelUnit {
    piece: u32,
    block: u32,
    first: u64,
    states: u64,
}

impl LevelUnits {
    fn new(level: &LevelExpansion, whole: usize, crew: usize) -> LevelUnits {
        let width = level.codec.key_width(whole);
        let mut units = Vec::new();
        let mut first = 0;
        let mut add = |piece, block, states: u64| {
            if first + states > level.expanded && first < level.until {
                units.push(LevelUnit {
                    piece,
                    block,
                    first,
                    states: states.min(level.until - first),
                });
            }
            first += states;
        };
        match level.frontier {
            Frontier::Raw(keys) => {
                for unit in keys.chunks(UNIT_STATES * width) {
                    add(0, 0, (unit.len() / width) as u64);
                }
            }
            Frontier::Encoded(segments) => {
                for (piece, segment) in segments.iter().enumerate() {
                    for block in 0..segment.blocks() {
                        add(piece as u32, block as u32, segment.block_keys(block) as u64);
                    }
                }
            }
        }
        let at = (0..crew).map(|_| AtomicU64::new(0)).collect();
        let (next, left) = (AtomicUsize::new(0), AtomicU64::new(u64::MAX));
        LevelUnits { whole, units, next, already: level.expanded, at, left }
    }

    fn take(&self) -> Option<LevelUnit> {
        self.units.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }

    /// Returns whether units are left to take.
    fn are_left(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.units.len()
    }

    /// Returns whether there is one worker.
    fn have_one_worker(&self) -> bool {
        self.at.len() == 1
    }

    /// Stops all workers from taking further units.
    fn abandon(&self) {
        self.next.store(self.units.len(), Ordering::Relaxed);
    }

    /// Leaves the states of a unit from `state` on unexpanded, and stops all workers from taking further units.
    fn leave(&self, state: u64) {
        self.left.fetch_min(state, Ordering::Relaxed);
        self.abandon();
    }

    /// Notes that a worker begins the slice at `state`.
    fn begin(&self, worker: usize, state: u64) {
        self.at[worker].store(state, Ordering::Release);
    }

    /// Records that a worker takes no further units.
    fn end(&self, worker: usize) {
        self.begin(worker, u64::MAX);
    }

    /// Returns a number such that all states below it are expanded: earlier slices are complete, and each worker
    /// proceeds in ascending order.
    fn certain(&self) -> u64 {
        self.at.iter().map(|at| at.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
    }

    /// Returns the number of states that are expanded once all taken units are complete, up to the first state left.
    fn done(&self) -> u64 {
        let taken = self.next.load(Ordering::Relaxed).min(self.units.len());
        let end = match self.units[..taken].last() {
            Some(unit) => unit.first + unit.states,
            None => self.already,
        };
        end.min(self.left.load(Ordering::Relaxed))
    }

    /// Returns the index of the first state of a unit that is not expanded yet.
    fn first(&self, unit: LevelUnit) -> u64 {
        unit.first.max(self.already)
    }

    /// Returns the states of a unit that are not expanded yet, as states of the model.
    fn load<'a>(
        &self,
        unit: LevelUnit,
        level: &'a LevelExpansion,
        decoder: &mut BlockDecoder,
        states: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let keys: &[u8] = match (level.frontier, level.codec.projection()) {
            (Frontier::Raw(keys), None) => self.raw(unit, keys, self.whole),
            (Frontier::Raw(keys), Some(projection)) => {
                states.clear();
                projection.unproject(self.raw(unit, keys, projection.width()), states);
                states
            }
            (Frontier::Encoded(segments), _) => {
                let segment = segments[unit.piece as usize].unprojected();
                let block = unit.block as usize;
                segment.decode(block, decoder, states)?;
                segment.release(block..block + 1);
                states
            }
        };
        let skip = self.already.saturating_sub(unit.first) as usize;
        Ok(&keys[skip * self.whole..unit.states as usize * self.whole])
    }

    /// Returns the keys of `width` bytes of a unit of a level in memory.
    fn raw<'a>(&self, unit: LevelUnit, keys: &'a [u8], width: usize) -> &'a [u8] {
        &keys[unit.first as usize * width..][..unit.states as usize * width]
    }
}
