//! Re-expansion: states whose explored transitions led to no new state are expanded again by their postponed
//! transitions.
//!
//! ```text
//! round: expand the last level, postponing transitions -> candidates, obligations
//!        re-expand the states of the previous round    -> candidates
//!        next level = candidates minus all levels
//!        join the obligations with the next level      -> the states that the next round re-expands
//! until there is neither a next level nor a state to re-expand
//! ```
//!
//! So a state is re-expanded in the round after its own, together with the next level, or alone if there is none. All
//! these sets are determined by the levels (`docs/reductions/ignoring.md`).

use super::{ExpansionWorker, ExternalSearch};
use crate::checkpoint::SavedPostponed;
use crate::control::SearchPhase;
use crate::expand::{ExpansionPass, LevelExpansion, ObligationBuffer, RANK};
use crate::obligation_join::ObligationJoin;
use crate::visited::VisitedStore;
use spill::{
    AppendFile, Candidates, Codec, Disk, FileName, FileSegment, Frontier, Result, SegmentWriter,
};

/// The divisor of the candidate buffers for bits of states, while the buffers are kept.
const BITS_SHARE: usize = 16;

/// The work on states with postponed transitions.
#[derive(Default)]
pub(super) struct PostponedWork {
    /// The level of the obligations.
    level: u32,
    /// Whether the candidates of the same round are settled, so that the join is due.
    due: bool,
    /// Runs of obligations of earlier sessions, from a checkpoint.
    restored: Vec<FileSegment>,
    /// The files of the restored runs to which no worker appends.
    restored_files: Vec<FileName>,
    /// Whether the manifest names runs of obligations.
    in_manifest: bool,
    carried: Option<ReexpansionSet>,
}

/// The states to re-expand.
struct ReexpansionSet {
    /// Their level.
    level: u32,
    piece: FileSegment,
    /// The number of re-expanded states so far.
    expanded: u64,
    /// Their file, unless it is durable.
    file: Option<Box<dyn AppendFile>>,
    /// Whether the manifest names the file.
    in_manifest: bool,
}

impl PostponedWork {
    /// Restores the saved work, except for the files to which workers append. `last` is the last level of the search;
    /// `exhausted` says whether it is expanded.
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

    /// Returns whether the join is due.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Returns whether there are states to re-expand.
    pub(super) fn has_reexpansions(&self) -> bool {
        self.carried.is_some()
    }
}

impl ExternalSearch<'_> {
    /// Resumes with the obligations of a checkpoint.
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

    /// Computes the states to re-expand, if the join is due. Returns false if stopped.
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
            // New candidate files get the names of those of the previous round, which the manifest names.
            self.checkpoint()?;
        }
        Ok(true)
    }

    /// Joins the obligations with the level of the same round.
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

    /// Returns the bytes for the bits of `states` states, or as many as there are. They are taken from the candidate
    /// buffers, which are empty.
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

    /// Re-expands the remaining states, with checkpoints. Returns false if stopped.
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

    /// Ends a round after settling: drops the re-expanded states and makes the join due.
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

    /// Ends the search: drops the states to re-expand.
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

    /// Makes the remaining work durable.
    pub(super) fn save_postponed(&mut self) -> Result<()> {
        let level = self.postponed.level;
        self.obligation_buffers().try_for_each(|owed| owed.save(level))?;
        let Some(carried) = &mut self.postponed.carried else { return Ok(()) };
        carried.file.take().map_or(Ok(()), |mut file| file.sync())
    }

    /// Returns the part of the manifest.
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
            logs: crate::checkpoint::logs(lengths, restored),
            carried: carried.iter().map(|carried| carried.piece).collect(),
            expanded: carried.as_ref().map_or(0, |carried| carried.expanded),
        }
    }

    /// Notes that the manifest names the saved files.
    pub(super) fn postponed_is_saved(&mut self, saved: &SavedPostponed) {
        self.postponed.in_manifest = !saved.obligations.is_empty();
        self.postponed.carried.iter_mut().for_each(|carried| carried.in_manifest = true);
    }

    fn obligation_buffers(&mut self) -> impl Iterator<Item = &mut ObligationBuffer> {
        self.workers.iter_mut().filter_map(ExpansionWorker::obligations_mut)
    }
}

/// The result of a join.
enum JoinOutcome {
    /// There is nothing to re-expand.
    None,
    /// The states to re-expand, in a file that is not durable yet.
    Some(FileSegment, Box<dyn AppendFile>),
    /// The control stopped the join; nothing has changed.
    Stopped,
}

/// Writes the states to re-expand, by `join`, to a file. The file is created only if there are some.
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
