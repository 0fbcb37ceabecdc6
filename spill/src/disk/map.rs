//! Files as byte slices, and the contract that makes this sound.
//!
//! A mapped page takes memory from its first read until it is *released*. The operating system releases pages only
//! when the memory of the whole machine runs out. A search that promises a bounded resident set therefore reads with
//! drop-behind: it releases what it has read, and requests what comes next. Both are hints. Releasing a page of an
//! immutable file only means that a later read fetches it again.
//!
//! If several threads release pages one by one, this costs more than their content: each time, all processors flush
//! the mapping. So data that is read once, in pieces, is better copied out of the file ([`MappedBytes::part`]); then
//! no page becomes resident.
//!
//! The contract: while a [`MappedBytes`] lives, the mapped part of its file is neither written nor truncated. This
//! crate appends to files and replaces them under new inodes. It truncates only what was appended after the last
//! checkpoint, before it maps anything. Its lock excludes other processes that obey it.

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The smallest page size of any supported system. If pages are larger, a release may drop one that is still in use.
/// This costs a read and changes nothing.
const PAGE: usize = 4096;

/// The maximum size of a *folio* in bytes. A read maps all pages of its folio, or a part of them. A folio is pages
/// that are adjacent in the system's cache. Their number is a power of two, and they begin at a multiple of their size
/// in the file. Linux maps at least 64 KiB; since 6.18 it maps the whole folio. So a reader that skips makes more
/// bytes resident than it reads, before and after them.
const FOLIO_MAX: usize = 2 << 20;

/// The maximum number of files that stay open so that parts of them can be copied out; a process usually has 1024.
/// Parts of other files are mapped.
const OPEN_MAX: usize = 256;

/// The number of such files.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Immutable bytes: a part of a file, mapped, or a part of a buffer in memory. Cloning is cheap.
#[derive(Clone)]
pub struct MappedBytes {
    bytes: ByteStorage,
    /// Counts the bytes that are read, for the creator of the mapping.
    read: Option<Arc<AtomicU64>>,
}

#[derive(Clone)]
enum ByteStorage {
    /// Nothing. The operating system rejects a mapping of no bytes.
    Empty,
    File(Arc<FileMap>),
    Memory(Arc<Vec<u8>>, Range<usize>),
}

/// A mapped part of a file.
struct FileMap {
    map: Mmap,
    /// The offset of the part in the file.
    start: u64,
    /// The file, if it stays open.
    file: Option<OpenFile>,
}

impl FileMap {
    /// Returns the offset of the part within a folio of the maximum size.
    fn within_folio(&self) -> usize {
        (self.start % FOLIO_MAX as u64) as usize
    }
}

/// One of the files that stay open.
struct OpenFile(File);

impl OpenFile {
    /// Returns the file, unless too many are open.
    fn try_new(file: File) -> Option<OpenFile> {
        let open = OpenFile(file);
        // A file that does not stay open counts only until it is closed at once.
        (OPEN.fetch_add(1, Relaxed) < OPEN_MAX).then_some(open)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Relaxed);
    }
}

impl MappedBytes {
    /// Creates a part of a buffer.
    ///
    /// # Panics
    ///
    /// If `range` is not within `bytes`.
    pub fn memory(bytes: Arc<Vec<u8>>, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= bytes.len(), "the range is in the buffer");
        Self { bytes: ByteStorage::Memory(bytes, range), read: None }
    }

    /// Maps the bytes `range` of a file, which must be long enough already and keep the contract above.
    pub(crate) fn file(file: File, range: Range<u64>) -> io::Result<Self> {
        if range.is_empty() {
            return Ok(Self { bytes: ByteStorage::Empty, read: None });
        }
        let length = usize::try_from(range.end - range.start)
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the caller, `RealDisk::map`, has checked that the file reaches to `range.end`. By the contract at
        // the top of this file, these bytes neither change nor disappear while the map lives.
        let map = unsafe { MmapOptions::new().offset(range.start).len(length).map(&file)? };
        let map = FileMap { map, start: range.start, file: OpenFile::try_new(file) };
        Ok(Self { bytes: ByteStorage::File(Arc::new(map)), read: None })
    }

    /// Returns a part of the bytes: copied into `buffer` if [`MappedBytes::is_copied`] is true, else in place.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    pub(crate) fn part<'a>(
        &'a self,
        part: Range<usize>,
        buffer: &'a mut Vec<u8>,
    ) -> io::Result<&'a [u8]> {
        assert!(part.start <= part.end && part.end <= self.len(), "the part is in the map");
        let ByteStorage::File(map) = &self.bytes else { return Ok(&self[part]) };
        let Some(OpenFile(file)) = &map.file else { return Ok(&self[part]) };
        buffer.resize(part.len().max(buffer.len()), 0);
        let buffer = &mut buffer[..part.len()];
        file.read_exact_at(buffer, map.start + part.start as u64)?;
        Ok(buffer)
    }

    /// Returns whether parts are copied out of the file, so that no page of it becomes resident.
    pub(crate) fn is_copied(&self) -> bool {
        matches!(&self.bytes, ByteStorage::File(map) if map.file.is_some())
    }

    /// Returns the same bytes; the number of bytes read is added to `read`.
    pub(crate) fn metered(self, read: Arc<AtomicU64>) -> Self {
        Self { read: Some(read), ..self }
    }

    /// Counts a part that was read.
    pub(crate) fn note_read(&self, bytes: usize) {
        if let Some(read) = &self.read {
            read.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// Drop-behind: releases the pages up to the end of `range`, and those before it that became resident with them.
    /// The page in which the range ends stays, and so do the pages after it, which may be read next.
    pub fn release(&self, range: Range<usize>) {
        let ByteStorage::File(map) = &self.bytes else { return };
        let before = (range.start + map.within_folio()) % FOLIO_MAX;
        self.drop_pages(range.start.saturating_sub(before)..range.end);
    }

    /// Does the same, and releases the pages after the range, which is not read further.
    pub fn release_all(&self, range: Range<usize>) {
        let ByteStorage::File(map) = &self.bytes else { return };
        let into = map.within_folio();
        let end = (range.end + into).next_multiple_of(FOLIO_MAX) - into;
        self.release(range.start..end);
    }

    /// Releases the pages from the start of `range` to its end.
    fn drop_pages(&self, range: Range<usize>) {
        let ByteStorage::File(file) = &self.bytes else { return };
        let map = &file.map;
        let address = map.as_ptr() as usize;
        let page_of = |at: usize| match at < map.len() {
            true => (address + at) / PAGE,
            false => (address + map.len()).div_ceil(PAGE),
        };
        let (first, last) = (page_of(range.start), page_of(range.end));
        if first >= last {
            return;
        }
        let start = (first * PAGE).saturating_sub(address);
        let length = (last * PAGE - address).min(map.len()) - start;
        // SAFETY: the map is shared, read-only and backed by a file, so it has no content of its own to lose: the next
        // read of a dropped page finds the same bytes in the file. The range is within the map, because `page_of` is
        // clamped to its length.
        let advised =
            unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, length) };
        debug_assert!(advised.is_ok(), "a release within the map is accepted: {advised:?}");
    }

    /// Read-ahead: requests `range`, which will be read soon.
    pub fn will_need(&self, range: Range<usize>) {
        let ByteStorage::File(file) = &self.bytes else { return };
        let map = &file.map;
        let end = range.end.min(map.len());
        if range.start < end {
            // This is only a hint. If it is rejected, the pages are loaded when they are read.
            let _ = map.advise_range(Advice::WillNeed, range.start, end - range.start);
        }
    }
}

impl Deref for MappedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            ByteStorage::Empty => &[],
            ByteStorage::File(file) => &file.map,
            ByteStorage::Memory(bytes, range) => &bytes[range.clone()],
        }
    }
}

impl fmt::Debug for MappedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.bytes {
            ByteStorage::Empty => "no",
            ByteStorage::File(..) => "mapped",
            ByteStorage::Memory(..) => "shared",
        };
        write!(f, "{} {kind} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Returns a file whose byte at offset `i` is `i % 251`.
    fn numbered(length: usize) -> (Vec<u8>, File) {
        let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        (bytes, file)
    }

    #[test]
    fn any_range_is_mapped() {
        let (bytes, file) = numbered(3 * PAGE + 5);
        for (start, end) in [(0, 1), (1, 2), (PAGE - 1, PAGE + 1), (17, bytes.len()), (9, 9)] {
            let mapped =
                MappedBytes::file(file.try_clone().unwrap(), start as u64..end as u64).unwrap();
            assert_eq!(*mapped, bytes[start..end], "{start}..{end}");
        }
    }

    #[test]
    fn a_released_byte_is_read_again() {
        let (bytes, file) = numbered(5 * PAGE + 5);
        let mapped = MappedBytes::file(file.try_clone().unwrap(), 3..bytes.len() as u64).unwrap();
        let cuts = [0, 1, PAGE - 3, PAGE, 2 * PAGE, mapped.len(), mapped.len() + 9 * PAGE];
        for start in cuts {
            for end in cuts {
                mapped.will_need(start..end);
                mapped.release(start..end);
                assert_eq!(*mapped, bytes[3..]);
            }
        }
    }

    #[test]
    fn parts_of_files_and_memory_are_equal() {
        let (bytes, file) = numbered(3 * PAGE + 5);
        let here = MappedBytes::memory(Arc::new(bytes.clone()), 7..bytes.len());
        let there = MappedBytes::file(file, 7..bytes.len() as u64).unwrap();
        assert!(!here.is_copied());
        let mut buffer = Vec::new();
        for part in [0..0, 0..1, PAGE..2 * PAGE + 3, 5..6, 0..bytes.len() - 7] {
            let expected = &bytes[7..][part.clone()];
            assert_eq!(here.part(part.clone(), &mut buffer).unwrap(), expected);
            assert_eq!(there.part(part, &mut buffer).unwrap(), expected);
        }
    }

    #[test]
    fn the_number_of_open_files_is_bounded() {
        let (bytes, file) = numbered(PAGE + 5);
        let map = |_| MappedBytes::file(file.try_clone().unwrap(), 3..bytes.len() as u64).unwrap();
        let maps: Vec<MappedBytes> = (0..OPEN_MAX + 10).map(map).collect();
        assert!(maps.iter().filter(|map| map.is_copied()).count() <= OPEN_MAX);
        for map in &maps {
            assert_eq!(map.part(PAGE - 2..PAGE + 2, &mut Vec::new()).unwrap(), &bytes[PAGE + 1..]);
        }
        // Once they are dropped, other files may stay open.
        drop(maps);
        assert!((0..10).map(map).any(|map| map.is_copied()));
    }

    /// Returns the resident pages of `mapped` in this process, as the system reports them.
    #[cfg(target_os = "linux")]
    fn resident_bytes(mapped: &MappedBytes) -> usize {
        let page = mapped.as_ptr() as usize / PAGE * PAGE;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines().skip_while(|line| !line.starts_with(&format!("{page:x}-")));
        let rss = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        rss.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn released_pages_leave_the_resident_set() {
        let (_, file) = numbered(64 * PAGE);
        let mapped = MappedBytes::file(file.try_clone().unwrap(), 0..64 * PAGE as u64).unwrap();
        assert!(mapped.iter().all(|byte| *byte < 251));
        assert_eq!(resident_bytes(&mapped), 64 * PAGE);
        // The steps are smaller than a page, as blocks are.
        let step = 1000;
        for start in (0..64 * PAGE).step_by(step) {
            mapped.release(start..start + step);
        }
        assert_eq!(resident_bytes(&mapped), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn skipped_reads_leave_no_resident_pages() {
        let (_, file) = numbered(1024 * PAGE);
        for offset in [0, 5 * PAGE + 17] {
            let mapped =
                MappedBytes::file(file.try_clone().unwrap(), offset as u64..1024 * PAGE as u64)
                    .unwrap();
            for start in (3 * PAGE..mapped.len() - PAGE).step_by(37 * PAGE + 100) {
                assert!(mapped[start..start + 500].iter().all(|byte| *byte < 251));
                mapped.release_all(start..start + 500);
                assert_eq!(resident_bytes(&mapped), 0, "at {start}");
            }
        }
    }
}
