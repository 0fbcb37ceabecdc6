//! Shared code of the tests of key sets: sets, their flat form, and a disk in memory.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

pub mod pairs;

use proptest::prelude::*;
use spill::{
    AppendFile, Disk, Error, HeadCheck, KeySource, MappedBytes, Result, Segment, SegmentRef,
    SegmentSource, SegmentWriter,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Every shape of key, its least and greatest width, and widths between.
pub const WIDTHS: [usize; 12] = [1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 40, 300];

pub type Set = BTreeSet<Vec<u8>>;

/// Returns the key of `width` bytes that represents `number`. Keys have the order of the numbers, as long as these
/// fit. In a wide key half of the number is at the front and half at the end.
pub fn key(width: usize, number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    if width < 8 {
        return bytes[8 - width..].to_vec();
    }
    let mut key = vec![0x55; width];
    key[..4].copy_from_slice(&bytes[..4]);
    key[width - 4..].copy_from_slice(&bytes[4..]);
    key
}

pub fn flat(set: &Set) -> Vec<u8> {
    set.iter().flatten().copied().collect()
}

pub fn unflat(width: usize, keys: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(keys.len() % width, 0);
    keys.chunks_exact(width).map(<[u8]>::to_vec).collect()
}

pub fn any_width() -> impl Strategy<Value = usize> {
    prop::sample::select(&WIDTHS[..])
}

/// Returns keys with many repeats and many shared bytes, in any order.
pub fn any_key(width: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u64..300).prop_map(move |number| key(width, number)),
        2 => any::<u64>().prop_map(move |number| key(width, number)),
        1 => prop::collection::vec(any::<u8>(), width),
        1 => (0..width, any::<u8>()).prop_map(move |(at, byte)| {
            let mut key = vec![0; width];
            key[at] = byte;
            key
        }),
        1 => Just(vec![0xff; width]),
    ]
}

pub fn any_keys(width: usize, most: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(any_key(width), 0..most)
}

/// Returns a set that may be several blocks long: a few keys and an arithmetic progression.
pub fn any_set(width: usize) -> impl Strategy<Value = Set> {
    let long: u64 = if width > 100 { 2_500 } else { 10_000 };
    let count = prop_oneof![3 => Just(0u64), 2 => 0..long / 10, 2 => 0..long];
    let progression = (0u64..2000, 1u64..40, count);
    (any_keys(width, 40), progression).prop_map(move |(keys, (first, step, count))| {
        let mut set: Set = keys.into_iter().collect();
        set.extend((0..count).map(|i| key(width, first + step * i)));
        set
    })
}

pub fn any_bound(width: usize) -> impl Strategy<Value = Option<Vec<u8>>> {
    let near = (0u64..20_000).prop_map(move |number| key(width, number));
    prop::option::of(prop_oneof![any_key(width), near])
}

/// Returns the keys of `set` from `low` on, below `high`.
pub fn between(set: &Set, low: &Option<Vec<u8>>, high: &Option<Vec<u8>>) -> Set {
    let inside = |key: &&Vec<u8>| {
        low.as_ref().is_none_or(|low| *key >= low) && high.as_ref().is_none_or(|high| *key < high)
    };
    set.iter().filter(inside).cloned().collect()
}

/// One file in memory, under any name.
#[derive(Clone, Debug, Default)]
pub struct OneFile(pub Arc<Mutex<Vec<u8>>>);

impl OneFile {
    pub fn holding(bytes: Vec<u8>) -> Self {
        OneFile(Arc::new(Mutex::new(bytes)))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// Appends a segment of `keys`, pushed in pieces of `push` keys.
    pub fn append(&self, width: usize, keys: &[u8], push: usize) -> SegmentRef {
        let mut file = self.create("").unwrap();
        let mut writer = SegmentWriter::new(width, &mut *file);
        for piece in keys.chunks(push * width) {
            writer.push(piece).unwrap();
        }
        writer.finish().unwrap()
    }

    pub fn open(&self, at: SegmentRef, width: usize) -> Result<Segment> {
        Segment::open(self, "keys", at, width)
    }
}

/// Returns a segment of `set` that follows other data.
pub fn segment(width: usize, set: &Set) -> Segment {
    let file = OneFile::holding(b"something else".to_vec());
    let at = file.append(width, &flat(set), 1000);
    assert_eq!(at.offset, 14);
    file.open(at, width).unwrap()
}

impl AppendFile for OneFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }
    fn len(&self) -> u64 {
        self.0.lock().unwrap().len() as u64
    }
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Disk for OneFile {
    fn create(&self, _: &str) -> Result<Box<dyn AppendFile>> {
        Ok(Box::new(self.clone()))
    }
    fn append_at(&self, _: &str, _: u64) -> Result<Box<dyn AppendFile>> {
        Ok(Box::new(self.clone()))
    }
    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes> {
        let bytes = self.bytes();
        if range.end > bytes.len() as u64 {
            return Err(Error::corrupt(name, bytes.len() as u64, "the file is too short"));
        }
        Ok(MappedBytes::memory(Arc::new(bytes), range.start as usize..range.end as usize))
    }
    fn read_if(&self, _: &str, _: &HeadCheck<'_>) -> Result<Vec<u8>> {
        Ok(self.bytes())
    }
    fn rename(&self, _: &str, _: &str) -> Result<()> {
        unreachable!("not needed here")
    }
    fn rename_new(&self, _: &str, _: &str) -> Result<bool> {
        unreachable!("not needed here")
    }
    fn remove(&self, _: &str) -> Result<()> {
        unreachable!("not needed here")
    }
    fn list(&self) -> Result<Vec<(String, u64)>> {
        unreachable!("not needed here")
    }
    fn sync_dir(&self) -> Result<()> {
        Ok(())
    }
}

/// Returns the whole keys of segments, or pairs.
pub fn read(segments: &[Segment]) -> Vec<u8> {
    let (mut pairs, mut batch) = (Vec::new(), Vec::new());
    for segment in segments {
        let mut source = SegmentSource::new(segment.unprojected(), None, None);
        loop {
            source.next(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            pairs.extend_from_slice(&batch);
        }
    }
    pairs
}
