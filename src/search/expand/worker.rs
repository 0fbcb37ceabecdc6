//! One of the threads that expand a level.

use super::collect::Collector;
use super::log::CandidateLog;
use super::{Level, Units};
use crate::exec::{Collected, Expansion, Findings, Model};
use crate::search::control::Progress;
use crate::search::{Control, Plan};
use spill::{Codec, Decoder, Disk, FileName, Piece, Result};
use std::sync::Arc;

/// Candidates are rid of repeats in batches of this many bytes.
const STAGED_BYTES: usize = 32 << 10;

/// A thread's share of the memory and its candidate runs.
pub struct Worker {
    number: u16,
    /// Bytes that the buffer may always take.
    share: usize,
    /// Candidates just generated.
    fresh: Vec<u8>,
    states: Vec<u8>,
    decoder: Decoder,
    candidates: Collector,
}

impl Worker {
    /// The workers of a plan, for candidates of `whole` bytes as the model gives them, which end in a
    /// tag of some of their bytes, and whose runs `codec` writes.
    pub fn crew(
        plan: &Plan,
        (whole, tag): (usize, usize),
        codec: &Codec,
        disk: &Arc<dyn Disk>,
    ) -> Vec<Worker> {
        let share = plan.buffer as usize;
        (0..plan.threads)
            .map(|number| Worker {
                number: number as u16,
                share,
                fresh: Vec::new(),
                states: Vec::new(),
                decoder: Decoder::new(whole),
                candidates: Collector::new(
                    (whole, tag),
                    share,
                    CandidateLog::new(disk, whole, codec),
                ),
            })
            .collect()
    }

    /// Goes on after the `length` bytes that this worker's candidate runs of `level` had at a
    /// checkpoint.
    pub fn restore(&mut self, level: u32, length: u64) -> Result<()> {
        self.candidates.log.restore(self.file(level), length)
    }

    /// Gives the buffer, and its sorting buffer, `spare` bytes more than they are sure of.
    pub fn borrow(&mut self, spare: usize) {
        self.candidates.set_limit(self.share + spare / 2);
    }

    /// Collects the initial states of `model`, sorted as candidates of `level` are, and shows them to
    /// `note` on the way. Tells what was found wrong, or nothing if told to stop: then what there is
    /// of them is to be forgotten.
    pub fn start(
        &mut self,
        model: &dyn Model,
        level: u32,
        control: &Control,
        note: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<Findings>> {
        let (name, whole) = (self.file(level), model.width());
        let Worker { fresh, candidates, .. } = self;
        let staged = STAGED_BYTES.min(candidates.limit() / 2).max(whole);
        let mut collect = |fresh: &mut Vec<u8>| {
            control.should_stop();
            note(fresh);
            candidates.take(name, fresh)
        };
        let run = |out: &mut Expansion| {
            let _heeding = control.heed();
            model.initial(out);
        };
        let collected = Expansion::collect_in_batches(whole, fresh, staged, &mut collect, run)?;
        collect(fresh)?;
        candidates.sort();
        Ok((!control.is_stopped()).then_some(collected.findings))
    }

    /// Expands units until there is none left or it is time to pause, and sorts the buffer.
    pub(super) fn run(
        &mut self,
        model: &dyn Model,
        level: &Level,
        units: &Units,
        control: &Control,
        pause: &(dyn Fn() -> bool + Sync),
    ) -> Result<Collected> {
        let (name, whole) = (self.file(level.number), model.width());
        let Worker { fresh, states, decoder, candidates, .. } = self;
        candidates.reserve();
        let staged = STAGED_BYTES.min(candidates.limit() / 2).max(whole);
        let collect = |fresh: &mut Vec<u8>| candidates.take(name, fresh);
        let run = |out: &mut Expansion| {
            // A unit is taken before anything else, so that even incessant pauses let the level end.
            while let Some(unit) = units.take() {
                match units.load(unit, level, decoder, states) {
                    Ok(keys) => {
                        let before = out.transitions();
                        model.expand(keys, out);
                        Progress::add(&control.progress.expanded, (keys.len() / whole) as u64);
                        Progress::add(&control.progress.transitions, out.transitions() - before);
                    }
                    Err(error) => out.give_up(error),
                }
                if out.has_failed() {
                    units.abandon();
                }
                if pause() {
                    break;
                }
            }
        };
        let tallies = Expansion::collect_in_batches(whole, fresh, staged, collect, run)?;
        candidates.take(name, fresh)?;
        // Here, beside the other workers, whatever the buffer will be needed for.
        candidates.sort();
        Ok(tallies)
    }

    /// What is in the buffer: the worker's last run.
    pub fn sorted(&self) -> &[u8] {
        self.candidates.sorted()
    }

    /// The bits in which some candidate is a stranger to the codec's projection, of a candidate as
    /// the model gives it; none if the codec has none.
    pub fn strange_bits(&self) -> Option<Vec<u8>> {
        self.candidates.strange_bits()
    }

    /// Has another codec write from now on, to which no candidate of `level` is a stranger.
    pub fn change_codec(&mut self, codec: &Codec, level: u32) -> Result<()> {
        self.candidates.change_codec(codec, self.file(level))
    }

    /// Writes all candidates out and makes all runs durable.
    pub fn save(&mut self, level: u32) -> Result<()> {
        self.candidates.save(self.file(level))?;
        self.candidates.log.sync()
    }

    /// The runs written since the level began, or since the checkpoint it was resumed from.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.candidates.log.pieces()
    }

    /// The length of the file of runs in bytes; absent if there is none.
    pub fn log_length(&self) -> Option<u64> {
        self.candidates.log.length()
    }

    /// Makes the runs readable.
    pub fn flush(&mut self) -> Result<()> {
        self.candidates.log.flush()
    }

    /// Forgets the level's candidates; gives the file to remove, if there is one.
    pub fn clear(&mut self) -> Option<FileName> {
        self.candidates.clear()
    }

    fn file(&self, level: u32) -> FileName {
        FileName::Candidates { level, lane: self.number }
    }
}
