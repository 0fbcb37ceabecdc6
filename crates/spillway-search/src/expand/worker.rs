//! A thread that expands states of a level.

use super::candidate_log::CandidateLog;
use super::collector::CandidateCollector;
use super::obligations::ObligationBuffer;
use super::tallies::WorkerTallies;
use super::unencoded::UnencodedBuffer;
use super::{LevelWork, UNIT_STATES};
use crate::model_failure;
use crate::{MemoryPlan, SearchControl};
use spill::{BlockDecoder, Codec, Disk, FileName, FileSegment, Result, ValueSpec};
use spillway_model::{
    BreakOff, CandidateBatch, ExpansionOutcome, Findings, StateSpace, SuccessorSink,
    UnencodedCandidate,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of the batches in which duplicates are removed from candidates.
const STAGED_BYTES: usize = 32 << 10;

/// The least duration of a slice, so that reading the clock costs little.
const SLICE_MIN: Duration = Duration::from_millis(2);

/// The greatest duration of a slice, so that requests to stop are noticed.
const SLICE_MAX: Duration = Duration::from_millis(20);

/// The number of states expanded between two readings of the clock.
struct SlicePace {
    states: usize,
}

impl Default for SlicePace {
    fn default() -> Self {
        SlicePace { states: 64 }
    }
}

impl SlicePace {
    fn states(&self) -> usize {
        self.states
    }

    /// Adapts the number of states to the duration of a slice.
    fn adjust(&mut self, time: Duration) {
        if time < SLICE_MIN {
            self.states = (self.states * 2).min(UNIT_STATES);
        } else if time > SLICE_MAX {
            self.states = (self.states / 2).max(1);
        }
    }
}

/// The initial states that a worker collected.
pub struct InitialStates {
    /// The findings of the generation.
    pub findings: Findings,
    /// Their number, with duplicates.
    pub generated: u64,
}

/// A thread's share of the memory and its candidate runs.
pub struct ExpansionWorker {
    number: u16,
    /// The guaranteed size of the buffer in bytes.
    share: usize,
    /// Buffer of new candidates.
    fresh: Vec<u8>,
    states: Vec<u8>,
    decoder: BlockDecoder,
    candidates: CandidateCollector,
    /// Obligations, if the plan has memory for them.
    owed: Option<ObligationBuffer>,
    /// States without an encoding, if the plan has memory for them.
    unencoded: Option<UnencodedBuffer>,
}

/// The destinations of the successors and obligations of a slice of states.
struct SliceSinks<'a> {
    candidates: &'a mut CandidateCollector,
    owed: Option<&'a mut ObligationBuffer>,
    unencoded: Option<&'a mut UnencodedBuffer>,
    fresh: &'a mut Vec<u8>,
    /// The file of the candidates.
    name: FileName,
}

impl SliceSinks<'_> {
    /// Expands the states of a slice; `first` is the index of its first state in the level.
    fn expand_slice(
        mut self,
        work: &LevelWork<'_>,
        slice: &[u8],
        first: u64,
    ) -> Result<ExpansionOutcome> {
        let &LevelWork { model, level, .. } = work;
        let staged = STAGED_BYTES.min(self.candidates.limit() / 2).max(model.width());
        let errors = BreakOff::new();
        let take = |fresh: &mut Vec<u8>| errors.check(self.candidates.take(self.name, fresh));
        let mut owe = |position: usize, successor: &[u8]| {
            if !errors.has_error() {
                let rank = first + position as u64;
                let owed = self.owed.as_mut();
                let added =
                    owed.map_or(Ok(()), |it| it.add_obligation(level.last, rank, successor));
                let _ = errors.check(added);
            }
        };
        let expand = |out: &mut SuccessorSink| level.steps.take(model, slice, out, &mut owe);
        let batch = CandidateBatch { width: model.width(), buffer: self.fresh, limit: staged };
        let set_aside = self
            .unencoded
            .map(|it| |new: UnencodedCandidate<'_>| errors.check(it.add(level.last, new.state)));
        let expanded = SuccessorSink::collect_growing(batch, take, set_aside, expand);
        errors.or_error(expanded, model_failure)
    }
}

impl ExpansionWorker {
    /// Creates the workers of a plan, for candidates of `whole` bytes as the model generates them, with `values` at
    /// their end if there are any, and with runs in `codec`.
    pub fn crew(
        plan: &MemoryPlan,
        whole: usize,
        values: Option<&ValueSpec>,
        codec: &Codec,
        disk: &Arc<dyn Disk>,
    ) -> Vec<ExpansionWorker> {
        let share = plan.buffer as usize;
        let owed = |number| match plan.obligations {
            0 => None,
            share => Some(ObligationBuffer::new(number, whole, share as usize, disk)),
        };
        let unencoded = |number| match plan.unencoded {
            0 => None,
            limit => Some(UnencodedBuffer::new(number, limit as usize, disk)),
        };
        (0..plan.threads as u16)
            .map(|number| ExpansionWorker {
                number,
                share,
                fresh: Vec::new(),
                states: Vec::new(),
                decoder: BlockDecoder::new(whole),
                candidates: CandidateCollector::new(
                    whole,
                    share,
                    CandidateLog::new(disk, whole, values, codec),
                ),
                owed: owed(number),
                unencoded: unencoded(number),
            })
            .collect()
    }

    /// Continues after the `length` bytes that this worker's candidate runs of `level` had at a checkpoint.
    pub fn restore(&mut self, level: u32, length: u64) -> Result<()> {
        self.candidates.log.restore(self.file(level), length)
    }

    /// Raises the limits of the buffer and its sorting buffer by `spare` bytes. Obligations get half of this, if there
    /// are any.
    pub fn grow_buffer(&mut self, spare: usize) {
        let each = if self.owed.is_some() { spare / 4 } else { spare / 2 };
        self.candidates.set_limit(self.share + each);
        self.owed.iter_mut().for_each(|owed| owed.grow_buffer(each));
    }

    /// Collects the initial states of `model`, sorted as candidates of `level`, and passes them to `note`. Returns
    /// nothing if stopped; then the collected states must be dropped.
    pub fn start(
        &mut self,
        model: &dyn StateSpace,
        level: u32,
        control: &SearchControl,
        note: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<InitialStates>> {
        let (name, whole) = (self.file(level), model.width());
        let ExpansionWorker { fresh, candidates, unencoded, .. } = self;
        let staged = STAGED_BYTES.min(candidates.limit() / 2).max(whole);
        let mut collect = |fresh: &mut Vec<u8>| {
            control.should_stop();
            note(fresh);
            candidates.take(name, fresh)
        };
        let run = |out: &mut SuccessorSink| {
            let _heeding = control.heed();
            model.initial(out);
        };
        let errors = BreakOff::new();
        let take = |fresh: &mut Vec<u8>| errors.check(collect(fresh));
        let batch = CandidateBatch { width: whole, buffer: fresh, limit: staged };
        let set_aside = unencoded
            .as_mut()
            .map(|it| |new: UnencodedCandidate<'_>| errors.check(it.add(level, new.state)));
        let collected = SuccessorSink::collect_growing(batch, take, set_aside, run);
        let collected = errors.or_error(collected, model_failure)?;
        collect(fresh)?;
        candidates.sort();
        let ExpansionOutcome { findings, counters, .. } = collected;
        let initial = InitialStates { findings, generated: counters.transitions };
        Ok((!control.is_stopped()).then_some(initial))
    }

    /// Expands units until there are none left, or until it must pause or stop, and sorts the buffer. `at` is the index
    /// of the worker.
    pub(super) fn run(&mut self, work: &LevelWork<'_>, at: usize) -> Result<WorkerTallies> {
        let &LevelWork { model, level, units, control, pause } = work;
        let (name, whole) = (self.file(level.last), model.width());
        let ExpansionWorker { fresh, states, decoder, candidates, owed, unencoded, .. } = self;
        candidates.reserve();
        let (mut tallies, mut pace) = (WorkerTallies::default(), SlicePace::default());
        let heeding = control.heed();
        // A unit is taken first, so that the level ends even with constant pauses.
        'units: while let Some(unit) = units.take() {
            let keys = units.load(unit, level, decoder, states).inspect_err(|_| units.abandon())?;
            let (mut rest, mut first) = (keys, units.first(unit));
            while !rest.is_empty() {
                let slice;
                (slice, rest) = rest.split_at(rest.len().min(pace.states() * whole));
                units.begin(at, first);
                // The pace matters only if there is a next slice.
                let begun = (!rest.is_empty() || units.are_left()).then(Instant::now);
                let (owed, unencoded) = (owed.as_mut(), unencoded.as_mut());
                let sinks = SliceSinks { candidates, owed, unencoded, fresh, name };
                let expanded = sinks.expand_slice(work, slice, first);
                let mut collected = expanded.inspect_err(|_| units.abandon())?;
                let end = level.end_within(slice, model, &collected.findings);
                let end = end.inspect_err(|_| units.abandon())?;
                if control.is_stopped() {
                    units.leave(first);
                    break 'units;
                }
                begun.iter().for_each(|begun| pace.adjust(begun.elapsed()));
                let mut count = (slice.len() / whole) as u64;
                if let Some((until, counted)) = end {
                    (rest, count, collected) = (&[], until, counted);
                    units.leave(first + until);
                }
                level.show(count, collected.counters.transitions, &control.progress);
                match units.have_one_worker() {
                    true => tallies.add_certain(collected),
                    false => tallies.add(first, collected, || units.certain()),
                }
                first += count;
                if !rest.is_empty() && control.should_stop() {
                    units.leave(first);
                    break 'units;
                }
            }
            if units.are_left() && pause() {
                break;
            }
        }
        units.end(at);
        drop(heeding);
        self.sort(name)?;
        Ok(tallies)
    }

    /// Sorts the buffers. This runs in parallel with other workers, whether or not the buffers will be written.
    fn sort(&mut self, name: FileName) -> Result<()> {
        self.candidates.take(name, &mut self.fresh)?;
        self.candidates.sort();
        self.owed.iter_mut().for_each(ObligationBuffer::sort);
        Ok(())
    }

    /// Returns the obligations, if the plan has memory for them.
    pub fn obligations(&self) -> Option<&ObligationBuffer> {
        self.owed.as_ref()
    }

    /// Returns the obligations for modification.
    pub fn obligations_mut(&mut self) -> Option<&mut ObligationBuffer> {
        self.owed.as_mut()
    }

    /// Returns the states without an encoding, if the plan has memory for them.
    pub fn unencoded(&self) -> Option<&UnencodedBuffer> {
        self.unencoded.as_ref()
    }

    /// Returns the states without an encoding for modification.
    pub fn unencoded_mut(&mut self) -> Option<&mut UnencodedBuffer> {
        self.unencoded.as_mut()
    }

    /// Takes the states without an encoding out of the worker, until they are returned.
    pub fn take_unencoded(&mut self) -> Option<UnencodedBuffer> {
        self.unencoded.take()
    }

    /// Puts the states without an encoding back.
    pub fn return_unencoded(&mut self, unencoded: Option<UnencodedBuffer>) {
        self.unencoded = unencoded;
    }

    /// Takes candidates of `level` that were encoded late.
    pub fn take(&mut self, level: u32, candidates: &mut Vec<u8>) -> Result<()> {
        let name = self.file(level);
        self.candidates.take(name, candidates)
    }

    /// As [`take`](ExpansionWorker::take), for the last candidates: sorts the buffer.
    pub fn take_last(&mut self, level: u32, candidates: &mut Vec<u8>) -> Result<()> {
        self.take(level, candidates)?;
        self.candidates.sort();
        Ok(())
    }

    /// Returns the current limit of the buffer and its sorting buffer in bytes.
    pub fn buffer_bytes(&self) -> usize {
        2 * self.candidates.limit()
    }

    /// Releases the memory of the buffer, which is empty, until `grow_buffer` is called.
    pub fn release_buffer(&mut self) {
        self.candidates.set_limit(0);
    }

    /// Returns the sorted buffer: the worker's last run.
    pub fn sorted(&self) -> &[u8] {
        self.candidates.sorted()
    }

    /// Returns the bits in which some candidate is an exception to the codec's projection, at the positions of the
    /// model's states. Returns `None` without a projection.
    pub fn exceptional_bits(&self) -> Option<Vec<u8>> {
        self.candidates.exceptional_bits()
    }

    /// Changes the codec. The new one must represent all candidates of `level` without exceptions.
    pub fn change_codec(&mut self, codec: &Codec, level: u32) -> Result<()> {
        self.candidates.change_codec(codec, self.file(level))
    }

    /// Writes all candidates to disk and makes all runs durable.
    pub fn save(&mut self, level: u32) -> Result<()> {
        self.candidates.save(self.file(level))?;
        self.candidates.log.sync()?;
        self.unencoded.as_mut().map_or(Ok(()), |it| it.save(level))
    }

    /// Returns the runs written since the level began or was resumed.
    pub fn pieces(&self) -> impl Iterator<Item = &FileSegment> {
        self.candidates.log.pieces()
    }

    /// Returns the length of the file of runs in bytes, if there is one.
    pub fn log_length(&self) -> Option<u64> {
        self.candidates.log.length()
    }

    /// Makes the runs readable.
    pub fn flush(&mut self) -> Result<()> {
        self.candidates.log.flush()
    }

    /// Drops the candidates of the level. Returns the file to remove, if there is one.
    pub fn clear(&mut self) -> Option<FileName> {
        self.candidates.clear()
    }

    fn file(&self, level: u32) -> FileName {
        FileName::Candidates { level, shard: self.number }
    }
}
