//! Expanding a level: its states in, sorted candidate runs out.
//!
//! A level is cut into units of a few thousand states. Workers take the next unit, expand it into
//! their candidate buffer, and sort and thin out the buffer when it is full; if that does not make
//! room, it becomes a candidate run on disk. Pausing lets every worker end its unit, so what has
//! been expanded is always a prefix of the level, and one number says how far a checkpoint is.

use super::control::Progress;
use super::{Control, plan::Plan};
use crate::exec::{Expansion, Findings, Model};
use spill::{
    Append, Codec, Decoder, Disk, FileName, Frontier, Merge, Piece, Recent, Result, SegmentSource,
    SegmentWriter, Source, sort_dedup,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States of a unit of a level in memory.
const UNIT_STATES: usize = 2048;

/// Candidates are rid of repeats in batches of this many bytes.
const STAGED_BYTES: usize = 32 << 10;

/// Bytes of a thread's table of recent candidates; with a batch they fit the second-level cache.
const RECENT_BYTES: usize = 256 << 10;

/// So many candidate runs of a worker are merged into one: each that is read takes memory.
const RUNS_MAX: usize = 16;

/// Levels of fewer states than this are expanded by one worker.
const STATES_PER_WORKER_MIN: u64 = 4096;

/// A thread's share of the memory and its candidate runs.
pub struct Worker {
    number: u16,
    width: usize,
    /// Bytes at the end of a candidate that say where it comes from: of candidates that differ only
    /// there, the first is kept.
    tag: usize,
    /// Bytes that the buffer may always take.
    share: usize,
    /// Bytes that it may take at present.
    limit: usize,
    /// Candidates just generated.
    fresh: Vec<u8>,
    recent: Recent,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    states: Vec<u8>,
    decoder: Decoder,
    log: CandidateLog,
}

/// The file that a worker's candidate runs are appended to, and the runs.
struct CandidateLog {
    disk: Arc<dyn Disk>,
    width: usize,
    codec: Codec,
    open: Option<(FileName, Box<dyn Append>)>,
    pieces: Vec<Piece>,
}

/// A level and how much of it has been expanded.
pub struct Level<'a> {
    /// Its number, from 0.
    pub number: u32,
    /// Its states.
    pub frontier: &'a Frontier,
    /// States expanded already.
    pub expanded: u64,
}

/// What expanding some of a level gave.
#[derive(Default)]
pub struct Expanded {
    /// States of the level expanded in all.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// What was found wrong.
    pub findings: Findings,
}

impl Worker {
    /// The workers of a plan, for candidates that end in a tag of some of their bytes, and whose
    /// runs `codec` writes.
    pub fn crew(
        plan: &Plan,
        (width, tag): (usize, usize),
        codec: &Codec,
        disk: &Arc<dyn Disk>,
    ) -> Vec<Worker> {
        (0..plan.threads)
            .map(|number| Worker {
                number: number as u16,
                width,
                tag,
                share: plan.buffer as usize,
                limit: plan.buffer as usize / width * width,
                fresh: Vec::new(),
                recent: Recent::new(width, RECENT_BYTES),
                buffer: Vec::new(),
                scratch: Vec::new(),
                states: Vec::new(),
                decoder: Decoder::new(width),
                log: CandidateLog::new(disk, width, codec),
            })
            .collect()
    }

    /// Goes on after the `length` bytes that this worker's candidate runs of `level` had at a
    /// checkpoint.
    pub fn restore(&mut self, level: u32, length: u64) -> Result<()> {
        let name = FileName::Candidates { level, lane: self.number };
        let file = self.log.disk.append_at(&name.to_string(), length)?;
        self.log.open = Some((name, file));
        Ok(())
    }

    /// Gives the buffer, and its sorting buffer, `spare` bytes more than they are sure of.
    pub fn borrow(&mut self, spare: usize) {
        self.limit = (self.share + spare / 2) / self.width * self.width;
        if self.buffer.is_empty() && self.buffer.capacity() > self.limit {
            (self.buffer, self.scratch) = (Vec::new(), Vec::new());
        }
    }

    /// Expands units until there is none left or it is time to pause, and sorts the buffer.
    fn run(
        &mut self,
        model: &dyn Model,
        level: &Level,
        units: &Units,
        control: &Control,
        pause: &(dyn Fn() -> bool + Sync),
    ) -> Result<(u64, Findings)> {
        let Worker {
            width,
            tag,
            limit,
            share: _,
            fresh,
            recent,
            buffer,
            scratch,
            states,
            decoder,
            log,
            number,
        } = self;
        buffer.reserve_exact(limit.saturating_sub(buffer.len()));
        let name = FileName::Candidates { level: level.number, lane: *number };
        let mut collect = |fresh: &mut Vec<u8>| {
            if buffer.len() + fresh.len() > *limit {
                sort_dedup(*width, buffer, scratch);
                keep_first_tags(*width, *tag, buffer);
                if buffer.len() > *limit / 2 {
                    log.write(name, buffer)?;
                    buffer.clear();
                }
            }
            recent.append_new(fresh, buffer);
            fresh.clear();
            Ok(())
        };
        let staged = STAGED_BYTES.min(*limit / 2).max(*width);
        let mut expansion = Expansion::new(*width, fresh, staged, &mut collect);
        // A unit is taken before anything else, so that even incessant pauses let the level end.
        while let Some(unit) = units.take() {
            let keys = units
                .load(unit, *width, level, decoder, states)
                .inspect_err(|_| units.abandon())?;
            let before = expansion.transitions;
            model.expand(keys, &mut expansion);
            Progress::add(&control.progress.expanded, (keys.len() / *width) as u64);
            Progress::add(&control.progress.transitions, expansion.transitions - before);
            if expansion.has_failed() {
                units.abandon();
            }
            if pause() {
                break;
            }
        }
        let tallies = expansion.finish()?;
        collect(fresh)?;
        // Here, beside the other workers, whatever the buffer will be needed for.
        sort_dedup(*width, buffer, scratch);
        keep_first_tags(*width, *tag, buffer);
        Ok(tallies)
    }

    /// What is in the buffer: the worker's last run.
    pub fn sorted(&self) -> &[u8] {
        &self.buffer
    }

    /// Writes the sorted buffer out and makes all runs durable.
    pub fn save(&mut self, level: u32) -> Result<()> {
        if !self.buffer.is_empty() {
            let name = FileName::Candidates { level, lane: self.number };
            self.log.write(name, &self.buffer)?;
            self.buffer.clear();
        }
        match &mut self.log.open {
            Some((_, file)) => file.sync(),
            None => Ok(()),
        }
    }

    /// The runs written since the level began, or since the checkpoint it was resumed from.
    pub fn pieces(&self) -> &[Piece] {
        &self.log.pieces
    }

    /// The length of the file of runs in bytes; absent if there is none.
    pub fn log_length(&self) -> Option<u64> {
        self.log.open.as_ref().map(|(_, file)| file.len())
    }

    /// Makes the runs readable.
    pub fn flush(&mut self) -> Result<()> {
        self.log.open.as_mut().map_or(Ok(()), |(_, file)| file.flush())
    }

    /// Forgets the level's candidates; gives the file to remove, if there is one.
    pub fn clear(&mut self) -> Option<FileName> {
        self.buffer.clear();
        self.log.pieces.clear();
        self.log.open.take().map(|(name, _)| name)
    }
}

impl CandidateLog {
    fn new(disk: &Arc<dyn Disk>, width: usize, codec: &Codec) -> CandidateLog {
        let (disk, codec) = (disk.clone(), codec.clone());
        CandidateLog { disk, width, codec, open: None, pieces: Vec::new() }
    }

    /// Appends one sorted run.
    fn write(&mut self, name: FileName, keys: &[u8]) -> Result<()> {
        let (_, file) = match &mut self.open {
            Some(open) => open,
            None => self.open.insert((name, self.disk.create(&name.to_string())?)),
        };
        let mut writer =
            SegmentWriter::new(self.width, &mut **file).coded(&self.codec).uncompressed();
        writer.push(keys)?;
        let at = writer.finish()?;
        self.pieces.push(Piece { file: name, at });
        if self.pieces.len() < RUNS_MAX { Ok(()) } else { self.merge_runs() }
    }

    /// Makes one run of all.
    fn merge_runs(&mut self) -> Result<()> {
        let Some((name, file)) = &mut self.open else { return Ok(()) };
        file.flush()?;
        let mut sources: Vec<Box<dyn Source>> = Vec::new();
        for piece in &self.pieces {
            let segment = piece.open(&*self.disk, self.width)?.coded(&self.codec);
            sources.push(Box::new(SegmentSource::new(segment, None, None)));
        }
        let mut merge = Merge::new(self.width, sources);
        let mut writer =
            SegmentWriter::new(self.width, &mut **file).coded(&self.codec).uncompressed();
        spill::drain(&mut merge, |batch| writer.push(batch))?;
        let at = writer.finish()?;
        self.pieces = vec![Piece { file: *name, at }];
        Ok(())
    }
}

/// Of sorted candidates that differ only in their last `tag` bytes keeps the first.
fn keep_first_tags(width: usize, tag: usize, sorted: &mut Vec<u8>) {
    if tag == 0 || sorted.is_empty() {
        return;
    }
    let state = width - tag;
    let mut kept = width;
    for next in (width..sorted.len()).step_by(width) {
        if sorted[kept - width..kept - tag] != sorted[next..next + state] {
            sorted.copy_within(next..next + width, kept);
            kept += width;
        }
    }
    sorted.truncate(kept);
}

/// Expands `level` with all workers until it ends or `pause` says so.
pub fn expand(
    model: &dyn Model,
    level: &Level,
    workers: &mut [Worker],
    control: &Control,
    pause: &(dyn Fn() -> bool + Sync),
) -> Result<Expanded> {
    let width = model.width();
    let units = Units::new(level, width);
    let useful = (level.frontier.keys(width) - level.expanded) / STATES_PER_WORKER_MIN;
    let crew = (useful as usize).clamp(1, workers.len());
    let tallies = spill::in_parallel(workers[..crew].iter_mut().collect(), |_, worker| {
        worker.run(model, level, &units, control, pause)
    })?;
    let mut all = Expanded { states: units.done(), ..Expanded::default() };
    for (transitions, findings) in tallies {
        all.transitions += transitions;
        all.findings.merge(findings.at_level(u64::from(level.number)));
    }
    Ok(all)
}

/// The units of a level, taken in order.
struct Units {
    /// Where each unit begins: the piece and block, or nothing for a level in memory; the number
    /// of its first state; how many states it has.
    units: Vec<Unit>,
    next: AtomicUsize,
    already: u64,
}

#[derive(Clone, Copy)]
struct Unit {
    piece: u32,
    block: u32,
    first: u64,
    states: u64,
}

impl Units {
    fn new(level: &Level, width: usize) -> Units {
        let mut units = Vec::new();
        let mut first = 0;
        let mut add = |piece, block, states| {
            if first + states > level.expanded {
                units.push(Unit { piece, block, first, states });
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
                        add(piece as u32, block as u32, segment.keys_in(block) as u64);
                    }
                }
            }
        }
        Units { units, next: AtomicUsize::new(0), already: level.expanded }
    }

    fn take(&self) -> Option<Unit> {
        self.units.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }

    /// Leaves no unit to take, to whomever.
    fn abandon(&self) {
        self.next.store(self.units.len(), Ordering::Relaxed);
    }

    /// The states expanded once every taken unit is.
    fn done(&self) -> u64 {
        let taken = self.next.load(Ordering::Relaxed).min(self.units.len());
        match self.units[..taken].last() {
            Some(unit) => unit.first + unit.states,
            None => self.already,
        }
    }

    /// The states of a unit that have not been expanded yet.
    fn load<'a>(
        &self,
        unit: Unit,
        width: usize,
        level: &'a Level,
        decoder: &mut Decoder,
        states: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let keys: &[u8] = match level.frontier {
            Frontier::Raw(keys) => {
                let first = unit.first as usize * width;
                &keys[first..first + unit.states as usize * width]
            }
            Frontier::Encoded(segments) => {
                let segment = &segments[unit.piece as usize];
                let block = unit.block as usize;
                segment.decode(block, decoder, states)?;
                segment.release(block..block + 1);
                states
            }
        };
        let skip = self.already.saturating_sub(unit.first) as usize;
        Ok(&keys[skip * width..])
    }
}
