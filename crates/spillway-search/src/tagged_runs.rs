//! States after their back-edges, sorted in memory or on disk: the order of a queue.

use spill::{
    AppendFile, Disk, FileName, FileSegment, KeyMerge, KeySource, Result, SegmentSource,
    SegmentWriter, SliceSource, sort_dedup,
};
use spillway_model::BACK_EDGE_BYTES;

/// States, each after its back-edge, in sorted runs.
pub(crate) struct TaggedRuns {
    /// Bytes of a state with its back-edge.
    width: usize,
    /// Bytes of a run.
    limit: usize,
    /// The file of the runs, if they do not fit in memory.
    name: FileName,
    keys: Vec<u8>,
    file: Option<Box<dyn AppendFile>>,
    pieces: Vec<FileSegment>,
}

impl TaggedRuns {
    /// Creates an empty set of states of `width` bytes, with their back-edges. Runs of `limit` bytes are written to a
    /// file.
    pub(crate) fn new(width: usize, limit: usize, name: FileName) -> TaggedRuns {
        let limit = limit.max(width);
        TaggedRuns { width, limit, name, keys: Vec::new(), file: None, pieces: Vec::new() }
    }

    /// Adds a state.
    pub(crate) fn push(&mut self, edge: &[u8], state: &[u8], disk: &dyn Disk) -> Result<()> {
        debug_assert_eq!((edge.len(), edge.len() + state.len()), (BACK_EDGE_BYTES, self.width));
        self.keys.extend_from_slice(edge);
        self.keys.extend_from_slice(state);
        if self.keys.len() < self.limit {
            return Ok(());
        }
        sort_dedup(self.width, &mut self.keys, &mut Vec::new());
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(disk.create(&self.name.to_string())?),
        };
        let mut writer = SegmentWriter::new(self.width, &mut **file).without_compression();
        writer.push(&self.keys)?;
        let at = writer.finish()?;
        self.pieces.push(FileSegment { file: self.name, at });
        self.keys.clear();
        Ok(())
    }

    /// Returns the number of states.
    pub(crate) fn count(&self) -> u64 {
        let written: u64 = self.pieces.iter().map(|piece| piece.at.keys).sum();
        written + (self.keys.len() / self.width) as u64
    }

    /// Returns all states, in the order of their back-edges.
    pub(crate) fn merge(&mut self, disk: &dyn Disk) -> Result<KeyMerge<'_>> {
        sort_dedup(self.width, &mut self.keys, &mut Vec::new());
        if let Some(file) = &mut self.file {
            file.flush()?;
        }
        let mut sources: Vec<Box<dyn KeySource>> = Vec::new();
        for piece in &self.pieces {
            let segment = piece.open(disk, self.width)?;
            sources.push(Box::new(SegmentSource::new(segment, None, None)));
        }
        sources.push(Box::new(SliceSource::new(self.width, &self.keys, None, None)));
        Ok(KeyMerge::of_many(self.width, sources))
    }

    /// Removes the file.
    pub(crate) fn discard(self, disk: &dyn Disk) -> Result<()> {
        match self.file {
            Some(_) => disk.remove(&self.name.to_string()),
            None => Ok(()),
        }
    }
}
