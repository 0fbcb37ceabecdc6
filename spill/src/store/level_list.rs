//! The list of levels: the positions of the pieces of each level, in a few bytes for each level.
//!
//! A search may have many millions of levels of one state each, and the list is kept in memory and in every manifest.
//! So it is written as numbers of seven bits for each byte, lowest first; the highest bit of a byte says that more
//! follow (LEB128). The numbers of a level are:
//!
//! ```text
//! pieces, then of each piece: shard, offset, length, keys
//! ```

use crate::disk::{Error, Result};
use crate::segments::SegmentRef;
use rkyv::{Archive, Deserialize, Serialize};

/// The number of levels between two marks.
const MARK_INTERVAL: usize = 16;

/// The maximum size of a list in bytes: the committed payload must stay below 2 GiB.
const LIST_MAX: usize = 3 << 29;

/// A piece of a level: its shard, and its position there.
pub(super) type LevelPiece = (u16, SegmentRef);

/// The pieces of each level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct LevelList {
    /// The number of levels.
    levels: u32,
    /// The numbers of the levels, level after level.
    numbers: Vec<u8>,
    /// The start of the numbers of every sixteenth level.
    marks: Vec<u32>,
}

impl LevelList {
    pub(super) fn len(&self) -> usize {
        self.levels as usize
    }

    /// Returns the memory of the list in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.len() + size_of_val(self.marks.as_slice())
    }

    /// Adds a level.
    pub(super) fn push(&mut self, pieces: &[LevelPiece]) -> Result<()> {
        if self.numbers.len() > LIST_MAX || self.levels == u32::MAX {
            return Err(Error::Levels { levels: self.levels.into() });
        }
        if self.len().is_multiple_of(MARK_INTERVAL) {
            self.marks.push(self.numbers.len() as u32);
        }
        self.levels += 1;
        self.write(pieces.len() as u64);
        for (shard, at) in pieces {
            let numbers = [u64::from(*shard), at.offset, at.length, at.keys];
            numbers.into_iter().for_each(|number| self.write(number));
        }
        Ok(())
    }

    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.numbers.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.numbers.push(number as u8);
    }

    /// Returns the pieces of a level.
    ///
    /// # Panics
    ///
    /// If there is no such level, or the list [is not sound](LevelList::is_sound).
    pub(super) fn level(&self, level: usize) -> Vec<LevelPiece> {
        let mut reader =
            LevelListReader(&self.numbers[self.marks[level / MARK_INTERVAL] as usize..]);
        (0..level % MARK_INTERVAL).for_each(|_| reader.level(|_| ()).expect("levels before it"));
        let mut pieces = Vec::with_capacity(1);
        reader.level(|piece| pieces.push(piece)).expect("the pieces of a level");
        pieces
    }

    /// Iterates over the pieces of each level, from the first on.
    pub(super) fn iter(&self) -> impl Iterator<Item = Vec<LevelPiece>> {
        let mut reader = LevelListReader(&self.numbers);
        (0..self.levels).map(move |_| {
            let mut pieces = Vec::with_capacity(1);
            reader.level(|piece| pieces.push(piece)).expect("the pieces of a level");
            pieces
        })
    }

    /// Returns whether the whole list can be read: it has the stated number of levels, nothing follows them, and each
    /// mark is the start of a level.
    pub(super) fn is_sound(&self) -> bool {
        let mut reader = LevelListReader(&self.numbers);
        let mut marks = self.marks.iter();
        let readable = (0..self.len()).all(|level| {
            let begins = self.numbers.len() - reader.0.len();
            let is_marked = !level.is_multiple_of(MARK_INTERVAL)
                || marks.next().is_some_and(|&mark| mark as usize == begins);
            is_marked && reader.level(|_| ()).is_some()
        });
        readable && reader.0.is_empty() && marks.next().is_none()
    }
}

/// The unread part of the numbers.
struct LevelListReader<'a>(&'a [u8]);

impl LevelListReader<'_> {
    /// Reads a level; returns `None` if the numbers end within it or one is too large.
    fn level(&mut self, mut each: impl FnMut(LevelPiece)) -> Option<()> {
        for _ in 0..self.number()? {
            let shard = u16::try_from(self.number()?).ok()?;
            let (offset, length, keys) = (self.number()?, self.number()?, self.number()?);
            each((shard, SegmentRef { offset, length, keys }));
        }
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = LevelPiece> {
        let number = || prop_oneof![0..300_u64, any::<u64>()];
        (any::<u16>(), number(), number(), number())
            .prop_map(|(shard, offset, length, keys)| (shard, SegmentRef { offset, length, keys }))
    }

    fn listed(levels: &[Vec<LevelPiece>]) -> LevelList {
        let mut list = LevelList::default();
        levels.iter().for_each(|level| list.push(level).unwrap());
        list
    }

    proptest! {
        #[test]
        fn listed_levels_are_read(levels in prop::collection::vec(prop::collection::vec(piece(), 0..4), 0..70)) {
            let list = listed(&levels);
            prop_assert!(list.is_sound());
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), levels.clone());
            for (number, level) in levels.iter().enumerate() {
                prop_assert_eq!(&list.level(number), level);
            }
        }

        #[test]
        fn damage_is_detected_or_readable(
            levels in prop::collection::vec(prop::collection::vec(piece(), 0..4), 1..40),
            at in any::<prop::sample::Index>(),
            flip in 1..=255_u8,
        ) {
            let mut list = listed(&levels);
            let at = at.index(list.numbers.len());
            list.numbers[at] ^= flip;
            if list.is_sound() {
                (0..list.len()).for_each(|level| drop(list.level(level)));
            }
        }
    }

    #[test]
    fn wrong_marks_and_counts_are_rejected() {
        let piece = |keys| (0, SegmentRef { offset: 1 << 40, length: 300, keys });
        let list = listed(&(1..40).map(|keys| vec![piece(keys)]).collect::<Vec<_>>());
        assert!(list.is_sound());
        let lies: [fn(&mut LevelList); 6] = [
            |it| it.levels -= 1,
            |it| it.levels += 1,
            |it| it.marks[1] += 1,
            |it| it.marks.truncate(1),
            |it| it.marks.push(7),
            |it| it.numbers.truncate(200),
        ];
        for lie in lies {
            let mut list = list.clone();
            lie(&mut list);
            assert!(!list.is_sound());
        }
    }

    #[test]
    fn a_thin_level_takes_few_bytes() {
        let thin = |level: u64| vec![(0, SegmentRef { offset: 70 * level, length: 70, keys: 1 })];
        let list = listed(&(0..1_000_000).map(thin).collect::<Vec<_>>());
        assert!(list.bytes() < 9_000_000, "{}", list.bytes());
    }

    #[test]
    fn a_full_list_is_an_error() {
        let mut list = LevelList { levels: 9, numbers: vec![0; LIST_MAX + 1], marks: vec![0] };
        let error = list.push(&[]).unwrap_err().to_string();
        assert!(error.contains("9 levels"), "{error}");
    }
}
