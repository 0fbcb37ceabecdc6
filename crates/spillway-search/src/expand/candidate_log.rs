//! Candidate runs on disk.

use spill::{
    AppendFile, Codec, Disk, FileName, FileSegment, KeyMerge, KeySource, Result, SegmentSource,
    SegmentWriter, ValueSpec,
};
use std::sync::Arc;

/// The number of candidate runs of a worker that are merged into one. Each run that is read takes memory.
const RUNS_MAX: usize = 16;

/// The file to which a worker's candidate runs are appended, and the runs.
pub(super) struct CandidateLog {
    disk: Arc<dyn Disk>,
    /// Bytes of a candidate as the model generates it.
    whole: usize,
    /// The values at the end of candidates, if they are not part of the state.
    values: Option<ValueSpec>,
    codec: Codec,
    /// Whether runs that are much larger than the later ones are not merged with them.
    spares_large: bool,
    open: Option<(FileName, Box<dyn AppendFile>)>,
    runs: Vec<FileSegment>,
    /// Runs of exceptions to the codec's projection.
    exceptional: Vec<FileSegment>,
}

impl CandidateLog {
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        whole: usize,
        values: Option<&ValueSpec>,
        codec: &Codec,
    ) -> CandidateLog {
        let (disk, values, codec) = (disk.clone(), values.cloned(), codec.clone());
        let (runs, exceptional) = (Vec::new(), Vec::new());
        let (spares_large, open) = (false, None);
        CandidateLog { disk, whole, values, codec, spares_large, open, runs, exceptional }
    }

    /// Configures the log for runs with few common keys, so that merging does not shrink them. Then only runs of
    /// similar size are merged, and each key is written a few times.
    pub(super) fn with_few_repeats(self) -> CandidateLog {
        CandidateLog { spares_large: true, ..self }
    }

    /// Returns the values at the end of candidates.
    pub(super) fn values(&self) -> Option<&ValueSpec> {
        self.values.as_ref()
    }

    /// Returns the codec of the runs.
    pub(super) fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Sets the codec of later runs. It must represent all candidates without exceptions.
    pub(super) fn set_codec(&mut self, codec: &Codec) {
        self.codec = codec.clone();
        self.runs.append(&mut self.exceptional);
    }

    /// Continues after the first `length` bytes of a file.
    pub(super) fn restore(&mut self, name: FileName, length: u64) -> Result<()> {
        self.open = Some((name, self.disk.append_at(&name.to_string(), length)?));
        Ok(())
    }

    /// Appends a sorted run.
    pub(super) fn write(&mut self, name: FileName, keys: &[u8]) -> Result<()> {
        let codec = self.codec.clone();
        let piece = self.append(name, &codec, keys)?;
        self.runs.push(piece);
        let runs = std::mem::take(&mut self.runs);
        self.runs = self.merge_if_many(runs, &codec)?;
        Ok(())
    }

    /// Appends a sorted run of exceptions.
    pub(super) fn write_exceptional(&mut self, name: FileName, keys: &[u8]) -> Result<()> {
        let codec = self.codec.unprojected();
        let piece = self.append(name, &codec, keys)?;
        self.exceptional.push(piece);
        let exceptional = std::mem::take(&mut self.exceptional);
        self.exceptional = self.merge_if_many(exceptional, &codec)?;
        Ok(())
    }

    fn append(&mut self, name: FileName, codec: &Codec, keys: &[u8]) -> Result<FileSegment> {
        let (_, file) = match &mut self.open {
            Some(open) => open,
            None => self.open.insert((name, self.disk.create(&name.to_string())?)),
        };
        let mut writer =
            SegmentWriter::new(self.whole, &mut **file).with_codec(codec).without_compression();
        writer.push(keys)?;
        Ok(FileSegment { file: name, at: writer.finish()? })
    }

    /// Merges `runs`, or some of them, into one if there are many.
    fn merge_if_many(
        &mut self,
        mut runs: Vec<FileSegment>,
        codec: &Codec,
    ) -> Result<Vec<FileSegment>> {
        let Some((name, file)) = self.open.as_mut().filter(|_| runs.len() >= RUNS_MAX) else {
            return Ok(runs);
        };
        let kept = if self.spares_large { larger(&runs) } else { 0 };
        file.flush()?;
        let mut sources: Vec<Box<dyn KeySource>> = Vec::new();
        for piece in runs.drain(kept..) {
            let segment = piece.open(&*self.disk, self.whole)?.with_codec(codec);
            sources.push(Box::new(SegmentSource::new(segment, None, None)));
        }
        let merge = KeyMerge::new(codec.key_width(self.whole), sources);
        let mut merge = merge.with_values(self.values.as_ref());
        let mut writer =
            SegmentWriter::new(self.whole, &mut **file).with_codec(codec).without_compression();
        spill::drain(&mut merge, |batch| writer.push(batch))?;
        runs.push(FileSegment { file: *name, at: writer.finish()? });
        Ok(runs)
    }

    /// Returns all runs.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &FileSegment> {
        self.runs.iter().chain(&self.exceptional)
    }

    /// Returns the length of the file in bytes, if there is one.
    pub(super) fn length(&self) -> Option<u64> {
        self.open.as_ref().map(|(_, file)| file.len())
    }

    /// Makes the runs readable.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.open.as_mut().map_or(Ok(()), |(_, file)| file.flush())
    }

    /// Makes the runs durable.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.open.as_mut().map_or(Ok(()), |(_, file)| file.sync())
    }

    /// Drops the runs. Returns the file to remove, if there is one.
    pub(super) fn clear(&mut self) -> Option<FileName> {
        self.runs.clear();
        self.exceptional.clear();
        self.open.take().map(|(name, _)| name)
    }
}

/// Returns the number of leading runs that are each at least twice as large as all later ones. At least two runs
/// remain.
fn larger(runs: &[FileSegment]) -> usize {
    let keys = |at: usize| runs[at].at.keys;
    let mut kept = runs.len().saturating_sub(2);
    let mut after: u64 = (kept..runs.len()).map(keys).sum();
    while kept > 0 && keys(kept - 1) < 2 * after {
        kept -= 1;
        after += keys(kept);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::SegmentRef;

    /// Runs of equal size are added, and merged whenever there are many.
    #[test]
    fn runs_of_similar_size_are_merged_a_few_times() {
        let run = |keys| {
            let at = SegmentRef { offset: 0, length: 0, keys };
            FileSegment { file: FileName::Frontier { level: 0 }, at }
        };
        let (mut runs, mut written) = (Vec::new(), 0);
        for count in 1..=4000 {
            runs.push(run(1));
            if runs.len() >= RUNS_MAX {
                let merged = runs.drain(larger(&runs)..).map(|run| run.at.keys).sum();
                written += merged;
                runs.push(run(merged));
            }
            assert!(runs.len() < RUNS_MAX);
            assert_eq!(runs.iter().map(|run| run.at.keys).sum::<u64>(), count);
            assert!(written <= 6 * count, "{written} of {count}");
        }
    }
}
