//! One file of a [`FaultDisk`](crate::FaultDisk): its bytes, and those that survive a power loss.
//!
//! ```text
//!  0          synced          visible          bytes.len()
//!  |  durable    |  flushed      |  in a buffer     |      what the process has written
//!                |  tail  |                                what the disk has here, if it was cut
//!  |    page    |    page    |    page    |    page         each unsynced part of one has its own end
//! ```
//!
//! A sync that fails leaves the pages it should write marked as written. Readers see them, and the next sync finds
//! nothing to do, but they may never have reached the disk. These pages are `doubtful`, even if they are `synced`,
//! until they are cut off.

use super::power_loss::{PowerLossSampler, UnsyncedOutcome};
use std::ops::Range;
use std::sync::Arc;

/// The unit in which the system writes. Each page reaches the disk or does not, independently of the others.
const PAGE: usize = 4096;

/// The bytes of a file, live and durable.
#[derive(Clone, Default)]
pub(super) struct FileState {
    /// All written bytes, shared with their mappings; while a mapping exists, an append copies them first.
    bytes: Arc<Vec<u8>>,
    /// The number of flushed bytes.
    visible: usize,
    /// The number of durable bytes.
    synced: usize,
    /// Durable bytes after the `synced` ones that were cut off since the last sync.
    tail: Vec<u8>,
    /// Ranges that a failed sync marked as written, in order.
    doubtful: Vec<Range<usize>>,
}

impl FileState {
    /// Creates a file whose bytes are all durable.
    pub(super) fn durable(bytes: Vec<u8>) -> FileState {
        let (visible, synced) = (bytes.len(), bytes.len());
        FileState { bytes: Arc::new(bytes), visible, synced, ..FileState::default() }
    }

    /// Returns the file without the buffered bytes of a terminated process.
    pub(super) fn after_restart(&self) -> FileState {
        let mut restarted = self.clone();
        restarted.cut(self.visible);
        restarted
    }

    /// Returns all written bytes, flushed or not.
    pub(super) fn bytes(&self) -> &Arc<Vec<u8>> {
        &self.bytes
    }

    /// Returns the bytes that readers see.
    pub(super) fn visible(&self) -> &[u8] {
        &self.bytes[..self.visible]
    }

    /// Returns whether there are bytes that readers do not see yet.
    pub(super) fn has_unflushed(&self) -> bool {
        self.visible < self.bytes.len()
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        Arc::make_mut(&mut self.bytes).extend_from_slice(bytes);
    }

    pub(super) fn flush(&mut self) {
        self.visible = self.bytes.len();
    }

    pub(super) fn sync(&mut self) {
        self.flush();
        self.synced = self.bytes.len();
        self.tail.clear();
    }

    /// Performs a sync that fails after it has passed all bytes to the system.
    pub(super) fn fail_to_sync(&mut self) {
        self.flush();
        self.doubtful.push(self.synced..self.bytes.len());
    }

    /// Cuts off the bytes after `length`. Those that were not synced are lost.
    pub(super) fn cut(&mut self, length: usize) {
        if length < self.synced {
            self.tail.splice(..0, self.bytes[length..self.synced].iter().copied());
            self.synced = length;
        }
        if length < self.bytes.len() {
            Arc::make_mut(&mut self.bytes).truncate(length);
        }
        self.visible = self.visible.min(length);
        self.doubtful.retain(|range| range.start < length);
        self.doubtful.iter_mut().for_each(|range| range.end = range.end.min(length));
    }

    pub(super) fn flip_bit(&mut self, offset: usize, bit: u32) {
        Arc::make_mut(&mut self.bytes)[offset] ^= 1 << bit;
    }

    /// Returns the content after a power loss.
    pub(super) fn after_power_loss(&self, luck: &mut PowerLossSampler) -> Vec<u8> {
        let mut found = self.bytes[..self.synced].to_vec();
        if !self.tail.is_empty() && !luck.draw_kept() {
            // The cut was lost.
            found.extend_from_slice(&self.tail);
        }
        for page in self.pages_at_risk() {
            let bytes = &self.bytes[page.clone()];
            match luck.draw_outcome() {
                UnsyncedOutcome::Lost if page.end <= self.synced => found[page].fill(0),
                UnsyncedOutcome::Lost => {}
                UnsyncedOutcome::Kept => write_at(&mut found, page.start, bytes),
                UnsyncedOutcome::Torn => write_at(&mut found, page.start, &tear(bytes, luck)),
            }
        }
        found
    }

    /// Returns the parts of pages that may be missing on the disk, each at most once.
    fn pages_at_risk(&self) -> Vec<Range<usize>> {
        let unsynced = self.synced..self.bytes.len();
        let synced = |range: &Range<usize>| range.start..range.end.min(self.synced);
        let ranges = self.doubtful.iter().map(synced).chain([unsynced]);
        ranges.flat_map(pages).collect()
    }
}

/// Splits a range at page boundaries.
fn pages(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let first = range.start / PAGE;
    (first..range.end.div_ceil(PAGE)).map(move |page| {
        let start = range.start.max(page * PAGE);
        start..range.end.min((page + 1) * PAGE)
    })
}

/// Writes `bytes` at `offset`, with zeros in a gap before them.
fn write_at(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}

/// Returns a prefix of `bytes`, followed by nothing, or by zeros or garbage up to their length.
fn tear(bytes: &[u8], luck: &mut PowerLossSampler) -> Vec<u8> {
    let mut torn = bytes[..luck.random.below(bytes.len() + 1)].to_vec();
    match luck.random.below(3) {
        0 => {}
        1 => torn.resize(bytes.len(), 0),
        _ => torn.resize_with(bytes.len(), || luck.random.next() as u8),
    }
    torn
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn founds(file: &FileState) -> impl Iterator<Item = Vec<u8>> {
        (0..200).map(|seed| file.after_power_loss(&mut PowerLossSampler::new(seed)))
    }

    #[test]
    fn synced_bytes_survive_power_loss() {
        let mut file = FileState::default();
        file.append(b"durable");
        file.sync();
        file.append(b", perhaps");
        assert!(founds(&file).all(|found| found.starts_with(b"durable")));
        assert!(founds(&file).any(|found| found == b"durable"));
        assert!(founds(&file).any(|found| found == b"durable, perhaps"));
        assert!(founds(&file).any(|found| found.len() > 7 && found != b"durable, perhaps"));
    }

    #[test]
    fn each_unsynced_page_is_lost_independently() {
        let mut file = FileState::default();
        file.append(&[7; 100]);
        file.sync();
        file.append(&[7; 3 * PAGE]);
        let kept = |found: &[u8]| -> Vec<bool> {
            let page_kept = |page: Range<usize>| found.get(page).is_some_and(|it| it[0] == 7);
            pages(100..100 + 3 * PAGE).map(page_kept).collect()
        };
        let seen: Vec<Vec<bool>> = founds(&file).map(|found| kept(&found)).collect();
        for page in 0..3 {
            let pairs: BTreeSet<_> = seen.iter().map(|kept| (kept[page], kept[page + 1])).collect();
            assert_eq!(pairs.len(), 4, "page {page} and the next");
        }
        assert!(founds(&file).all(|found| found[..100] == [7; 100]));
    }

    #[test]
    fn bytes_of_a_failed_sync_stay_doubtful_until_truncated() {
        let mut file = FileState::default();
        file.append(b"durable");
        file.sync();
        file.append(b", doubtful");
        file.fail_to_sync();
        assert_eq!(file.visible(), b"durable, doubtful");
        file.append(b", more");
        file.sync();
        assert!(founds(&file).any(|found| found == b"durable, doubtful, more"));
        assert!(founds(&file).any(|found| found == b"durable\0\0\0\0\0\0\0\0\0\0, more"));
        assert!(founds(&file).all(|found| found.ends_with(b", more")));
        file.cut(7);
        file.append(b" again");
        file.sync();
        assert!(founds(&file).all(|found| found == b"durable again"));
    }

    #[test]
    fn an_unsynced_truncation_may_be_lost() {
        let mut file = FileState::default();
        file.append(b"abcdefgh");
        file.sync();
        file.cut(6);
        file.cut(4);
        assert_eq!(file.after_power_loss(&mut PowerLossSampler::new(0)), b"abcdefgh");
        assert_eq!(file.after_power_loss(&mut PowerLossSampler::new(1)), b"abcd");
        file.append(b"XY");
        assert!(founds(&file).all(|found| found.starts_with(b"abcd")));
        assert!(founds(&file).any(|found| found == b"abcdXYgh"));
        file.sync();
        assert!(founds(&file).all(|found| found == b"abcdXY"));
    }
}
