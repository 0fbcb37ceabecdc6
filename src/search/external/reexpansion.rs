//! States that are expanded again, because steps of them were put off and nothing new came of the others.
//!
//! ```text
//! round: expand the last level, steps put off      -> candidates, obligations
//!        expand again what the round before left   -> candidates
//!        next level = candidates minus all levels
//!        join the obligations with it              -> what the next round expands again
//! until there is neither a next level nor something to be expanded again
//! ```
//!
//! So a state is expanded again in the round after its own, beside the level that came of that; if there
//! is none, alone. All of this are sets that follow from the levels (`docs/reductions/ignoring.md`).

use super::{ExpansionWorker, ExternalSearch};
use crate::search::checkpoint::SavedPostponed;
use crate::search::control::SearchPhase;
use crate::search::expand::{ExpansionPass, LevelExpansion, ObligationBuffer, RANK};
use crate::search::obligation_join::ObligationJoin;
use crate::search::visited::VisitedStore;
use spill::{
    AppendFile, Candidates, Codec, Disk, FileName, FileSegment, Frontier, Result, SegmentWriter,
};

/// Bits of states may take this part of the candidate buffers, as a divisor, while these stay.
const BITS_SHARE: usize = 16;

/// What is left to do, or to find out, of states of which steps were put off.
#[derive(Default)]
pub(super) struct PostponedWork {
    /// The level that obligations are of.
    level: u32,
    /// Whether the candidates that came with them are settled: it is time to join.
    due: bool,
    /// Runs of obligations of earlier sittings, from a checkpoint.
    restored: Vec<FileSegment>,
    /// The files of those that nobody appends to.
    restored_files: Vec<FileName>,
    /// Whether the manifest mentions runs of obligations.
    in_manifest: bool,
    carried: Option<ReexpansionSet>,
}

/// States that are to be expanded again.
struct ReexpansionSet {
    /// The level they are of.
    level: u32,
    piece: FileSegment,
    /// How many have been expanded.
    expanded: u64,
    /// Their file, unless it is durable.
    file: Option<Box<dyn AppendFile>>,
    /// Whether the manifest mentions it.
    in_manifest: bool,
}

impl PostponedWork {
    /// What was saved, but for what workers append to, of a search whose last level is `last`, and is
    /// expanded if it is `exhausted`.
    pub(super) fn restore(saved: &SavedPostponed, last: u32, exhausted: bool) -> PostponedWork {
        let SavedPostponed { obligations, carried, expanded, .. } = saved;
        let level = obligations.first().map_or(last, |piece| match piece.file {
            FileName::Obligations { level, .. } => level,
            _ => last,
        });
        let expanded = *expanded;
        let carried = carried.first().map(|&piece| {
            let level = if exhausted { last } else { last.saturating_sub(1) };
            ReexpansionSet { level, piece, expanded, file: None, in_manifest: true }
        });
        PostponedWork {
            level,
            due: !obligations.is_empty() && (level < last || exhausted),
            restored: obligations.clone(),
            restored_files: Vec::new(),
            in_manifest: !obligations.is_empty(),
            carried,
        }
    }

    /// Whether it is time to find out which states are to be expanded again.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Whether some are.
    pub(super) fn has_reexpansions(&self) -> bool {
        self.carried.is_some()
    }
}

impl ExternalSearch<'_> {
    /// Goes on with the obligations of a checkpoint.
    pub(super) fn reopen_postponed(&mut self, saved: &SavedPostponed) -> Result<()> {
        self.postponed = PostponedWork::restore(saved, self.level_number(), self.open.exhausted);
        let PostponedWork { level, due, restored_files, .. } = &mut self.postponed;
        for (shard, &length) in saved.logs.iter().enumerate().filter(|(_, length)| **length > 0) {
            match self
                .workers
                .get_mut(shard)
                .and_then(ExpansionWorker::obligations_mut)
                .filter(|_| !*due)
            {
                Some(owed) => owed.restore(*level, length)?,
                None => {
                    let file = FileName::Obligations { level: *level, shard: shard as u16 };
                    restored_files.push(file);
                }
            }
        }
        Ok(())
    }

    /// Finds out which states are to be expanded again, if it is time to; false if told to stop.
    pub(super) fn find_reexpansions(&mut self) -> Result<bool> {
        if !self.postponed.due {
            return Ok(true);
        }
        self.enter(SearchPhase::Joining);
        let level = self.postponed.level;
        self.postponed.carried = match self.join()? {
            JoinOutcome::Stopped => return Ok(false),
            JoinOutcome::None => None,
            JoinOutcome::Some(piece, file) => {
                self.whole_levels.counters.re_expanded += piece.at.keys;
                Some(ReexpansionSet {
                    level,
                    piece,
                    expanded: 0,
                    file: Some(file),
                    in_manifest: false,
                })
            }
        };
        let files =
            self.obligation_buffers().filter_map(ObligationBuffer::clear).collect::<Vec<_>>();
        let restored = std::mem::take(&mut self.postponed.restored_files);
        self.postponed.restored.clear();
        self.postponed.due = false;
        let in_manifest = std::mem::take(&mut self.postponed.in_manifest);
        self.discard([files, restored].concat(), in_manifest)?;
        if self.open.exhausted && !self.stale.is_empty() {
            // Files of candidates are named as those of the round before, which the manifest mentions.
            self.checkpoint()?;
        }
        Ok(true)
    }

    /// Joins the obligations with the level that came with them.
    fn join(&mut self) -> Result<JoinOutcome> {
        let (width, level) = (self.width(), self.postponed.level as usize);
        self.obligation_buffers().try_for_each(ObligationBuffer::flush)?;
        let room = self.room_for_bits(self.store.levels().keys(level));
        let codec = self.store.codec().unprojected();
        let VisitedStore::Sorted(store) = &mut self.store else { return Ok(JoinOutcome::None) };
        let new = match level + 1 < store.levels().len() {
            true => store.level(level + 1)?,
            false => Vec::new(),
        };
        let level = store.level(level)?;
        let owed = self.workers.iter().filter_map(ExpansionWorker::obligations);
        let slices = owed.clone().map(ObligationBuffer::sorted).collect();
        let pieces = owed.flat_map(ObligationBuffer::pieces).chain(&self.postponed.restored);
        let segments = pieces.map(|piece| piece.open(&*self.disk, width + RANK));
        let obligations = Candidates { slices, segments: segments.collect::<Result<_>>()? };
        let (threads, stop) = (self.plan.threads, || self.control.should_stop());
        let join =
            ObligationJoin { width, obligations, level: &level, new: &new, threads, stop: &stop };
        let file = FileName::Reexpanded { level: self.postponed.level };
        write_reexpansion_set(&join, room, &*self.disk, file, &codec)
    }

    /// Room for the bits of so many states, or as much as there is: that of the candidates, of which there
    /// are none now.
    fn room_for_bits(&mut self, states: u64) -> usize {
        let (wanted, room) = (
            ObligationJoin::bytes(states),
            self.workers.iter().map(ExpansionWorker::buffer_bytes).sum(),
        );
        if wanted <= room / BITS_SHARE {
            return wanted;
        }
        self.workers.iter_mut().for_each(ExpansionWorker::release_buffer);
        room
    }

    /// Expands what is left of the states that are to be expanded again, with checkpoints; false if told
    /// to stop.
    pub(super) fn reexpand(&mut self) -> Result<bool> {
        self.postponed.level = self.level_number();
        let codec = self.store.codec().unprojected();
        let (Some(model), Some(ReexpansionSet { level, piece, .. })) =
            (self.postpones, &self.postponed.carried)
        else {
            return Ok(true);
        };
        let (number, states) = (*level, piece.at.keys);
        let segment = piece.open(&*self.disk, self.width())?.with_codec(&codec);
        let frontier = Frontier::Encoded(vec![segment]);
        while let Some(ReexpansionSet { expanded, .. }) = self.postponed.carried
            && expanded < states
        {
            let (last, steps) = (self.level_number(), ExpansionPass::Rest(model));
            let level = LevelExpansion {
                number,
                last,
                steps,
                frontier: &frontier,
                codec: &codec,
                expanded,
                until: u64::MAX,
                ending: None,
            };
            let done = self.expand(&level)?;
            self.postponed.carried.iter_mut().for_each(|carried| carried.expanded = done);
            if self.control.should_stop() {
                return Ok(false);
            }
            if done < states {
                self.checkpoint()?;
            }
        }
        Ok(true)
    }

    /// A round is settled: what was expanded again is done with, what is owed can be joined.
    pub(super) fn close_reexpansion(&mut self) -> Result<()> {
        let owes =
            |owed: &ObligationBuffer| !owed.sorted().is_empty() || owed.pieces().next().is_some();
        let owing = self.workers.iter().filter_map(ExpansionWorker::obligations).any(owes);
        self.postponed.due = owing || !self.postponed.restored.is_empty();
        match self.postponed.carried.take() {
            Some(carried) => self.discard(vec![carried.piece.file], carried.in_manifest),
            None => Ok(()),
        }
    }

    /// The search has ended: nothing is expanded again.
    pub(super) fn forget_postponed(&mut self) {
        let files =
            self.obligation_buffers().filter_map(ObligationBuffer::clear).collect::<Vec<_>>();
        let PostponedWork { due, restored, restored_files, in_manifest, carried, .. } =
            &mut self.postponed;
        self.stale.extend(files.into_iter().chain(restored_files.drain(..)));
        self.stale.extend(carried.take().map(|carried| carried.piece.file));
        restored.clear();
        (*due, *in_manifest) = (false, false);
    }

    /// Makes what is left durable.
    pub(super) fn save_postponed(&mut self) -> Result<()> {
        let level = self.postponed.level;
        self.obligation_buffers().try_for_each(|owed| owed.save(level))?;
        let Some(carried) = &mut self.postponed.carried else { return Ok(()) };
        carried.file.take().map_or(Ok(()), |mut file| file.sync())
    }

    /// What the manifest is to remember.
    pub(super) fn saved_postponed(&self) -> SavedPostponed {
        let PostponedWork { restored, carried, .. } = &self.postponed;
        let owed = self.workers.iter().filter_map(ExpansionWorker::obligations);
        let lengths = owed.clone().map(|owed| owed.log_length().unwrap_or(0));
        SavedPostponed {
            obligations: restored
                .iter()
                .chain(owed.clone().flat_map(ObligationBuffer::pieces))
                .copied()
                .collect(),
            logs: crate::search::checkpoint::logs(lengths, restored),
            carried: carried.iter().map(|carried| carried.piece).collect(),
            expanded: carried.as_ref().map_or(0, |carried| carried.expanded),
        }
    }

    /// The manifest mentions what was saved.
    pub(super) fn postponed_is_saved(&mut self, saved: &SavedPostponed) {
        self.postponed.in_manifest = !saved.obligations.is_empty();
        self.postponed.carried.iter_mut().for_each(|carried| carried.in_manifest = true);
    }

    fn obligation_buffers(&mut self) -> impl Iterator<Item = &mut ObligationBuffer> {
        self.workers.iter_mut().filter_map(ExpansionWorker::obligations_mut)
    }
}

/// What came of joining.
enum JoinOutcome {
    /// Nothing is to be expanded again.
    None,
    /// This is, in a file that is not durable yet.
    Some(FileSegment, Box<dyn AppendFile>),
    /// It was told to stop; nothing has changed.
    Stopped,
}

/// Writes the states that `join` says are to be expanded again to a file, which is made if there are some.
fn write_reexpansion_set(
    join: &ObligationJoin,
    room: usize,
    disk: &dyn Disk,
    name: FileName,
    codec: &Codec,
) -> Result<JoinOutcome> {
    let mut file = None;
    let mut unused = Some(&mut file);
    let mut writer = None;
    let whole = join.visit_reexpanded(room, &mut |states| {
        if !states.is_empty()
            && let Some(file) = unused.take()
        {
            let file = file.insert(disk.create(&name.to_string())?);
            let made = SegmentWriter::new(join.width, &mut **file);
            writer = Some(made.with_codec(codec).without_compression());
        }
        writer.as_mut().map_or(Ok(()), |writer| writer.push(states))
    })?;
    let at = writer.map(SegmentWriter::finish).transpose()?;
    match (at.zip(file), whole) {
        (Some((at, mut file)), true) => {
            file.flush()?;
            Ok(JoinOutcome::Some(FileSegment { file: name, at }, file))
        }
        (Some(_), false) => disk.remove(&name.to_string()).map(|()| JoinOutcome::Stopped),
        (None, true) => Ok(JoinOutcome::None),
        (None, false) => Ok(JoinOutcome::Stopped),
    }
}
