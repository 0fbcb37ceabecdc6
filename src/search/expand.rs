//! Expanding a level: its states in, sorted candidate runs out.
//!
//! A level is cut into units of a few thousand states. Workers take the next unit, expand it into
//! their candidate buffer, and sort and thin out the buffer when it is full; if that does not make
//! room, it becomes a candidate run on disk. Pausing lets every worker end its unit, so what has
//! been expanded is always a prefix of the level, and one number says how far a checkpoint is.
//!
//! A request to stop is seen inside a unit: between two *slices* of it, and by a model that is at work
//! on one. A slice that was broken off is left, and the level is expanded up to there: what the slice
//! and those after it gave is not counted, and comes again when the search goes on. Their candidates
//! are states all the same and stay.

mod candidate_log;
mod collector;
mod obligations;
mod tallies;
mod worker;

pub use obligations::{ObligationBuffer, RANK};
pub use worker::ExpansionWorker;

use super::SearchControl;
use super::control::SearchProgress;
use super::model_failure;
use crate::model::{
    CheckSelection, ExpansionOutcome, Findings, ObligationSink, PostponingStateSpace, StateSpace,
    SuccessorSink,
};
use spill::{BlockDecoder, Codec, Frontier, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// States of a unit of a level in memory.
const UNIT_STATES: usize = 2048;

/// Levels of fewer states than this are expanded by one worker.
const STATES_PER_WORKER_MIN: u64 = 4096;

/// States of a level and how many of them have been expanded.
pub struct LevelExpansion<'a> {
    /// Its number, from 0.
    pub number: u32,
    /// The last level, after which files are named.
    pub last: u32,
    /// Which steps are taken.
    pub steps: ExpansionPass<'a>,
    /// The states, as the store has keys in memory.
    pub frontier: &'a Frontier,
    /// What the store reads and writes keys with.
    pub codec: &'a Codec,
    /// States expanded already.
    pub expanded: u64,
    /// States that are to be expanded in all; to the end of the level, if that comes before.
    pub until: u64,
    /// Checks of which the first violated one ends the expansion, if some do.
    pub ending: Option<CheckSelection>,
}

impl LevelExpansion<'_> {
    /// How many of `states` count if something was found in one of them that ends the expansion, and what expanding these
    /// comes to. The states behind that one do not count: how many of them there are depends on time.
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
        let counted =
            SuccessorSink::collect_in_batches(width, &mut dropped, width, drop_all, expand);
        Ok(Some((count as u64, counted.map_err(model_failure)?)))
    }

    /// Shows that so many states of it have been expanded, by so many transitions.
    fn show(&self, states: u64, transitions: u64, progress: &SearchProgress) {
        // What is expanded again has been counted.
        if !matches!(self.steps, ExpansionPass::Rest(_)) {
            SearchProgress::add(&progress.expanded, states);
        }
        SearchProgress::add(&progress.transitions, transitions);
    }
}

/// Which steps of states are taken.
#[derive(Clone, Copy)]
pub enum ExpansionPass<'a> {
    /// All.
    All,
    /// Those that are not put off.
    First(&'a dyn PostponingStateSpace),
    /// The rest.
    Rest(&'a dyn PostponingStateSpace),
}

impl ExpansionPass<'_> {
    /// Adds these steps of `states` to `out`, and hands obligations to `owe`.
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

/// What expanding some of a level gave.
#[derive(Default)]
pub struct ExpansionResult {
    /// States of the level expanded in all.
    pub states: u64,
    /// What expanding those came to that had not been expanded before.
    pub outcome: ExpansionOutcome,
}

/// What the workers of a level have in common.
struct LevelWork<'w> {
    model: &'w dyn StateSpace,
    level: &'w LevelExpansion<'w>,
    units: &'w LevelUnits,
    control: &'w SearchControl,
    /// Whether to end with the unit in hand.
    pause: &'w (dyn Fn() -> bool + Sync),
}

/// Expands `level` with all workers until it ends or `pause` says so.
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
    let tallies = spill::map_parallel(workers[..crew].iter_mut().collect(), |at, worker| {
        worker.run(&shared, at)
    })?;
    let mut all = ExpansionResult { states: units.done(), ..ExpansionResult::default() };
    for tallies in tallies {
        all.outcome += tallies.of_states_before(all.states);
    }
    all.outcome.findings = all.outcome.findings.at_level(u64::from(level.number));
    Ok(all)
}

/// The bits in which some candidate of some worker is an exception to the codec's projection; nothing if there is none.
pub fn exceptional_bits(workers: &[ExpansionWorker]) -> Option<Vec<u8>> {
    let all = workers.iter().filter_map(ExpansionWorker::exceptional_bits);
    let either = |one: Vec<u8>, other: Vec<u8>| {
        one.iter().zip(other).map(|(one, other)| one | other).collect()
    };
    all.reduce(either).filter(|bits| bits.iter().any(|&it| it != 0))
}

/// The units of a level, taken in order.
struct LevelUnits {
    /// Bytes of a state as the model has it.
    whole: usize,
    /// Where each unit begins: the piece and block, or nothing for a level in memory; the number
    /// of its first state; how many states it has.
    units: Vec<LevelUnit>,
    next: AtomicUsize,
    already: u64,
    /// The first state of the slice that each worker is at, or the greatest number behind its last.
    at: Vec<AtomicU64>,
    /// The first state that was left unexpanded, if one was.
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

    /// Leaves no unit to take, to whomever.
    fn abandon(&self) {
        self.next.store(self.units.len(), Ordering::Relaxed);
    }

    /// Leaves the states of a taken unit from `state` on unexpanded, and no unit to take.
    fn leave(&self, state: u64) {
        self.left.fetch_min(state, Ordering::Relaxed);
        self.abandon();
    }

    /// A worker begins with the slice of a taken unit that begins at `state`.
    fn begin(&self, worker: usize, state: u64) {
        self.at[worker].store(state, Ordering::Release);
    }

    /// A worker takes no more units.
    fn end(&self, worker: usize) {
        self.begin(worker, u64::MAX);
    }

    /// A number below which no state is left unexpanded any more: slices before it have been
    /// expanded, and each worker comes to ever later ones.
    fn certain(&self) -> u64 {
        self.at.iter().map(|at| at.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
    }

    /// The states expanded once every taken unit is, but for what was left.
    fn done(&self) -> u64 {
        let taken = self.next.load(Ordering::Relaxed).min(self.units.len());
        let end = match self.units[..taken].last() {
            Some(unit) => unit.first + unit.states,
            None => self.already,
        };
        end.min(self.left.load(Ordering::Relaxed))
    }

    /// The number of the first state of a unit that has not been expanded yet.
    fn first(&self, unit: LevelUnit) -> u64 {
        unit.first.max(self.already)
    }

    /// The states of a unit that have not been expanded yet, as the model has them.
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

    /// The keys of `width` bytes of a unit of a level in memory.
    fn raw<'a>(&self, unit: LevelUnit, keys: &'a [u8], width: usize) -> &'a [u8] {
        &keys[unit.first as usize * width..][..unit.states as usize * width]
    }
}
