//! Files seen as slices of bytes, and the contract that makes this sound.
//!
//! A mapped page costs memory from its first read until it is *released*; the operating system
//! does not do this by itself before memory runs out, and then for the whole machine. A search
//! that promises a bounded resident set therefore reads with drop-behind: it releases what it has
//! read, and asks for what comes next. Both are hints. Releasing a page of an immutable file only
//! means that a later read fetches it again.
//!
//! Pages that are released one after the other by several threads cost more than what they hold: each time all processors
//! forget what was mapped. So what is read once, in pieces, is better copied out of the file ([`MappedBytes::part`]); then no
//! page becomes resident.
//!
//! The contract: while a [`MappedBytes`] lives, the mapped part of its file is neither written nor cut
//! off. This crate appends to files, replaces them under new inodes and cuts off only what was
//! appended after the last checkpoint, before mapping anything; its lock keeps other processes
//! that obey it away.

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The smallest page of any system this runs on. Where pages are larger, a release may drop one
/// that is still in use, which costs a read and changes nothing.
const PAGE: usize = 4096;

/// A read maps, with its page, the others of the system's *folio* that it is in: pages that lie together
/// in its cache, as many as a power of two, at most these bytes, and at a multiple of them in the file
/// (Linux: 64 KiB at least are mapped, since 6.18 the whole folio). So a reader that skips makes more
/// resident than it reads, before what it reads and behind.
const FOLIO_MAX: usize = 2 << 20;

/// Files that stay open so that parts of them can be copied out: of a process's 1024, usually. Of others parts are mapped.
const OPEN_MAX: usize = 256;

/// How many do.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Bytes that do not change: a part of a file, mapped, or of a buffer in memory. Cheap to clone.
#[derive(Clone)]
pub struct MappedBytes {
    bytes: ByteStorage,
    /// Counts the bytes that are read, for whoever mapped them.
    read: Option<Arc<AtomicU64>>,
}

#[derive(Clone)]
enum ByteStorage {
    /// Nothing; a map of no bytes is refused by the operating system.
    Empty,
    File(Arc<FileMap>),
    Memory(Arc<Vec<u8>>, Range<usize>),
}

/// A part of a file, mapped.
struct FileMap {
    map: Mmap,
    /// Where the part begins.
    start: u64,
    /// The file, if it stays open.
    file: Option<OpenFile>,
}

impl FileMap {
    /// How far into a folio of the greatest size the part begins.
    fn within_folio(&self) -> usize {
        (self.start % FOLIO_MAX as u64) as usize
    }
}

/// One of the files that stay open.
struct OpenFile(File);

impl OpenFile {
    /// The file, unless too many are open.
    fn try_new(file: File) -> Option<OpenFile> {
        let open = OpenFile(file);
        // What is not to stay open counts until it is closed, which is at once.
        (OPEN.fetch_add(1, Relaxed) < OPEN_MAX).then_some(open)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Relaxed);
    }
}

impl MappedBytes {
    /// A part of a buffer.
    ///
    /// # Panics
    ///
    /// If `range` is not within `bytes`.
    pub fn memory(bytes: Arc<Vec<u8>>, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= bytes.len(), "the range is in the buffer");
        Self { bytes: ByteStorage::Memory(bytes, range), read: None }
    }

    /// The bytes `range` of a file, which must be that long already and keep the contract above.
    pub(crate) fn file(file: File, range: Range<u64>) -> io::Result<Self> {
        if range.is_empty() {
            return Ok(Self { bytes: ByteStorage::Empty, read: None });
        }
        let length = usize::try_from(range.end - range.start)
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        // SAFETY: the caller, `RealDisk::map`, has checked that the file reaches to `range.end`,
        // and the contract at the top of this file says that these bytes neither change nor
        // disappear while the map lives.
        let map = unsafe { MmapOptions::new().offset(range.start).len(length).map(&file)? };
        let map = FileMap { map, start: range.start, file: OpenFile::try_new(file) };
        Ok(Self { bytes: ByteStorage::File(Arc::new(map)), read: None })
    }

    /// A part of the bytes: copied into `buffer` where [`MappedBytes::is_copied`] says so, else as it lies in memory.
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

    /// Whether parts are copied out of the file, so that no page of it becomes resident.
    pub(crate) fn is_copied(&self) -> bool {
        matches!(&self.bytes, ByteStorage::File(map) if map.file.is_some())
    }

    /// The same bytes; what is read of them is added to `read`.
    pub(crate) fn metered(self, read: Arc<AtomicU64>) -> Self {
        Self { read: Some(read), ..self }
    }

    /// Notes that a part was read.
    pub(crate) fn note_read(&self, bytes: usize) {
        if let Some(read) = &self.read {
            read.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// Drop-behind: the pages up to the end of `range` leave the resident set, and those before it that
    /// came with them. The page in which the range ends stays, and those behind it, which may be read
    /// next.
    pub fn release(&self, range: Range<usize>) {
        let ByteStorage::File(map) = &self.bytes else { return };
        let before = (range.start + map.within_folio()) % FOLIO_MAX;
        self.drop_pages(range.start.saturating_sub(before)..range.end);
    }

    /// The same, with those behind the range: nothing behind it is read next.
    pub fn release_all(&self, range: Range<usize>) {
        let ByteStorage::File(map) = &self.bytes else { return };
        let into = map.within_folio();
        let end = (range.end + into).next_multiple_of(FOLIO_MAX) - into;
        self.release(range.start..end);
    }

    /// Takes the pages up to the end of `range`, from the one where it starts, out of the resident set.
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
        // SAFETY: the map is shared, read-only and backed by a file, so it has no content of its
        // own to lose: the next read of a dropped page finds the same bytes in the file. The range
        // is within the map, because `page_of` is clamped to its length.
        let advised =
            unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, length) };
        debug_assert!(advised.is_ok(), "a release within the map is accepted: {advised:?}");
    }

    /// Read-ahead: `range` will be read soon.
    pub fn will_need(&self, range: Range<usize>) {
        let ByteStorage::File(file) = &self.bytes else { return };
        let map = &file.map;
        let end = range.end.min(map.len());
        if range.start < end {
            // Only a hint: when it is refused, the pages come when they are read.
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

    /// A file whose byte at offset `i` is `i % 251`.
    fn numbered(length: usize) -> (Vec<u8>, File) {
        let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        (bytes, file)
    }

    #[test]
    fn any_offset_can_be_mapped_and_an_empty_range_too() {
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
    fn a_part_is_copied_out_of_the_file_or_as_it_lies() {
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
    fn only_so_many_files_stay_open() {
        let (bytes, file) = numbered(PAGE + 5);
        let map = |_| MappedBytes::file(file.try_clone().unwrap(), 3..bytes.len() as u64).unwrap();
        let maps: Vec<MappedBytes> = (0..OPEN_MAX + 10).map(map).collect();
        assert!(maps.iter().filter(|map| map.is_copied()).count() <= OPEN_MAX);
        for map in &maps {
            assert_eq!(map.part(PAGE - 2..PAGE + 2, &mut Vec::new()).unwrap(), &bytes[PAGE + 1..]);
        }
        // Once they are gone others may.
        drop(maps);
        assert!((0..10).map(map).any(|map| map.is_copied()));
    }

    /// The pages of `mapped` that are resident in this process, by what the system says of it.
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
        // In steps of less than a page, as blocks are.
        let step = 1000;
        for start in (0..64 * PAGE).step_by(step) {
            mapped.release(start..start + step);
        }
        assert_eq!(resident_bytes(&mapped), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_reader_that_skips_leaves_nothing_behind() {
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
