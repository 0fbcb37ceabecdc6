//! States that are identified by views: the searched system of a model that is a [`ViewedStateSpace`].
//!
//! | bytes | content | in the store |
//! | --- | --- | --- |
//! | `0..v` | the view, with which a state begins | key |
//! | `v..w` | the rest of the state | value |
//! | `w..w+8` | the back-edge | value |
//!
//! Candidates with equal views are joined: the one with the least back-edge remains. Candidates whose view is known are
//! dropped. So a level has the first state of each view in the order of a queue.
//!
//! Back-edges contain the numbers of parents. So a level is expanded in the order of its back-edges: the number of a state
//! is its position. A level is stored in the order of views, so it is sorted once more before it is expanded. The result
//! is a function of the level, so it is not part of a checkpoint.
//!
//! A state to be expanded follows its number, as in ComBack.

use super::level_states::LevelStates;
use super::tagged_runs::TaggedRuns;
use spill::values::ValueOperator;
use spill::{
    Codec, Disk, Error, FileName, FileSegment, Frontier, KeyMerge, Result, SegmentWriter,
    ValueSpec, drain,
};
use spillway_model::{
    BACK_EDGE_BYTES, BackEdge, BackEdgeOverflow, Capabilities, StateSpace, SuccessorSink,
    SystemDescription, ViewedStateSpace, any_bits,
};
use std::sync::Arc;

/// The name of the operator in manifests.
pub(super) const FIRST: &str = "first";

/// The maximum size in bytes of a level that is sorted and kept in memory.
const SMALL_LEVEL_BYTES: usize = 256 << 10;

/// The value with the least back-edge.
#[derive(Clone, Copy, Debug)]
struct FirstOperator;

impl ValueOperator for FirstOperator {
    fn name(&self) -> String {
        FIRST.into()
    }

    fn join(&self, kept: &mut [u8], other: &[u8]) {
        let edge = kept.len() - BACK_EDGE_BYTES;
        if other[edge..] < kept[edge..] {
            kept.copy_from_slice(other);
        }
    }

    fn is_idempotent(&self) -> bool {
        true
    }
}

/// A transition system whose states carry back-edges and are identified by views.
pub(super) struct ViewedModel<'a> {
    model: &'a dyn StateSpace,
    views: &'a dyn ViewedStateSpace,
}

impl<'a> ViewedModel<'a> {
    /// Returns the searched system, if the model has views.
    pub(super) fn of(model: &'a dyn StateSpace) -> Option<ViewedModel<'a>> {
        model.capabilities().views.map(|views| ViewedModel { model, views })
    }

    /// Returns the kind of the values.
    pub(super) fn values(&self) -> ValueSpec {
        ValueSpec::new(self.width() - self.views.view_bytes(), FirstOperator)
    }
}

impl StateSpace for ViewedModel<'_> {
    fn width(&self) -> usize {
        self.model.width() + BACK_EDGE_BYTES
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.views.initial_with_edges(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.views.expand_with_edges(states, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

/// A level in the order of views, which is to be expanded in the order of a queue.
pub(super) struct ViewedLevel<'a> {
    /// The number of the level.
    pub number: u32,
    /// Bytes of a state with its back-edge.
    pub width: usize,
    /// The level.
    pub states: &'a Frontier,
    /// Its codec.
    pub codec: &'a Codec,
    /// The most bytes that are sorted in memory.
    pub limit: usize,
}

/// A level in the order of a queue: each state after its number. Its codec is that of unprojected gaps.
pub(super) struct QueuedLevel {
    /// The states.
    pub states: Frontier,
    /// The file to remove when the level is expanded, if there is one.
    pub file: Option<FileName>,
}

impl ViewedLevel<'_> {
    /// Returns whether the level is sorted and kept in little memory.
    pub(super) fn is_small(&self) -> bool {
        self.states.keys(self.codec.key_width(self.width)) as usize * self.width
            <= SMALL_LEVEL_BYTES
    }

    fn level_states(&self) -> LevelStates<'_> {
        LevelStates { frontier: self.states, codec: self.codec, width: self.width }
    }

    /// Sorts the level by back-edges and numbers its states. Returns nothing if `stop` returns true.
    pub(super) fn queue(
        &self,
        disk: &dyn Disk,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<QueuedLevel>> {
        let limit = self.limit.max(SMALL_LEVEL_BYTES + 1);
        let mut runs = TaggedRuns::new(self.width, limit, FileName::Fresh { level: self.number });
        let is_complete = self.level_states().visit(&mut |batch| {
            for pair in batch.chunks_exact(self.width) {
                let (state, edge) = pair.split_at(self.width - BACK_EDGE_BYTES);
                runs.push(edge, state, disk)?;
            }
            Ok(!stop())
        })?;
        let queued = match is_complete {
            true => Some(self.number_states(runs.merge(disk)?, disk)?),
            false => None,
        };
        runs.discard(disk)?;
        Ok(queued)
    }

    /// Replaces the back-edges of sorted states by their positions.
    fn number_states(&self, mut sorted: KeyMerge<'_>, disk: &dyn Disk) -> Result<QueuedLevel> {
        let name = FileName::Frontier { level: self.number };
        let in_memory = self.is_small();
        let mut file = (!in_memory).then(|| disk.create(&name.to_string())).transpose()?;
        let mut writer = file
            .as_mut()
            .map(|file| SegmentWriter::new(self.width, &mut **file).without_compression());
        let (mut kept, mut numbered, mut next) = (Vec::new(), Vec::new(), 0);
        drain(&mut sorted, |batch| {
            numbered.clear();
            for pair in batch.chunks_exact(self.width) {
                let number = BackEdge { parent: next, index: 0 }.bytes();
                numbered.extend_from_slice(&number.map_err(too_many_states)?);
                numbered.extend_from_slice(&pair[BACK_EDGE_BYTES..]);
                next += 1;
            }
            match &mut writer {
                Some(writer) => writer.push(&numbered)?,
                None => kept.extend_from_slice(&numbered),
            }
            Ok(())
        })?;
        let at = writer.map(SegmentWriter::finish).transpose()?;
        let (Some(mut file), Some(at)) = (file, at) else {
            return Ok(QueuedLevel { states: Frontier::Raw(Arc::new(kept)), file: None });
        };
        file.flush()?;
        let segment = FileSegment { file: name, at }.open(disk, self.width)?;
        Ok(QueuedLevel { states: Frontier::Encoded(vec![segment]), file: Some(name) })
    }
}

fn too_many_states(error: BackEdgeOverflow) -> Error {
    Error::Limit { what: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::FaultDisk;

    /// Returns a level of states of 12 bytes with their back-edges, sorted by state. The state at position `n` of the
    /// queue ends with `n`.
    fn level(states: u64) -> Vec<u8> {
        let mut pairs: Vec<Vec<u8>> = (0..states)
            .map(|it| {
                let edge = BackEdge { parent: it / 3, index: it % 3 }.bytes().unwrap();
                let view = it.wrapping_mul(0x9e37_79b9_7f4a_7c15) as u32;
                [&view.to_be_bytes()[..], &it.to_be_bytes(), &edge].concat()
            })
            .collect();
        pairs.sort();
        pairs.concat()
    }

    /// Returns the numbers and the ends of all states of a level.
    fn numbers(level: &Frontier, width: usize) -> Vec<(u64, u64)> {
        let mut states = Vec::new();
        let all = ViewedLevel { number: 0, width, states: level, codec: &Codec::Gaps, limit: 0 };
        let visited = all.level_states().visit(&mut |batch| {
            states.extend_from_slice(batch);
            Ok(true)
        });
        assert!(visited.unwrap());
        let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
        let states = states.chunks_exact(width);
        states.map(|it| (BackEdge::of_bytes(&it[..8]).parent, number(&it[12..]))).collect()
    }

    #[test]
    fn levels_are_numbered_by_back_edges_in_memory_and_on_disk() {
        let width = 12 + BACK_EDGE_BYTES;
        for (count, is_small) in [(1, true), (5000, true), (40_000, false)] {
            let disk = FaultDisk::new();
            let states = Frontier::Raw(Arc::new(level(count)));
            let codec = &Codec::Gaps;
            let viewed = ViewedLevel { number: 7, width, states: &states, codec, limit: 0 };
            assert_eq!(viewed.is_small(), is_small);
            let QueuedLevel { states, file } = viewed.queue(&disk, &|| false).unwrap().unwrap();
            let expected: Vec<(u64, u64)> = (0..count).map(|it| (it, it)).collect();
            assert_eq!(numbers(&states, width), expected);
            assert_eq!(file, (!is_small).then_some(FileName::Frontier { level: 7 }));
            let files: Vec<String> = disk.list().unwrap().into_iter().map(|it| it.0).collect();
            let expected: Vec<String> = file.iter().map(FileName::to_string).collect();
            assert_eq!(files, expected, "the runs are removed");
        }
    }

    #[test]
    fn a_stopped_sort_leaves_no_file() {
        let (disk, width) = (FaultDisk::new(), 12 + BACK_EDGE_BYTES);
        let states = Frontier::Raw(Arc::new(level(40_000)));
        let viewed =
            ViewedLevel { number: 7, width, states: &states, codec: &Codec::Gaps, limit: 0 };
        assert!(viewed.queue(&disk, &|| true).unwrap().is_none());
        assert!(disk.list().unwrap().is_empty());
    }

    #[test]
    fn the_value_with_the_least_back_edge_is_kept() {
        let value = |state: u8, edge: u8| [&[state][..], &[0, 0, 0, 0, 0, 0, 0, edge]].concat();
        let mut kept = value(1, 5);
        FirstOperator.join(&mut kept, &value(0, 6));
        assert_eq!(kept, value(1, 5));
        FirstOperator.join(&mut kept, &value(9, 4));
        assert_eq!(kept, value(9, 4));
    }
}
