//! A list of a few items as a value, with a flag for overflow.
//!
//! A value is a byte with the number of items, then the items, ascending and without repeats, then zeros. If there are
//! more items than fit, the least of them stay and the byte is `ff`: then the list is full. The least items of a union
//! are the least of the least items of its parts, so lists can be joined in any order.
//!
//! A value of 5 bytes can hold two items of 2 bytes. The lists of `00 07` and of `00 03`, `00 09` become the least two
//! of three:
//!
//! ```text
//! 01 | 00 07 | 00 00
//! 02 | 00 03 | 00 09
//! ff | 00 03 | 00 07
//! ```

use super::ValueOperator;

/// The first byte of a list that has overflowed.
const OVERFLOWED: u8 = 0xff;

/// A list of items of a fixed size.
#[derive(Clone, Copy, Debug)]
pub struct BoundedList {
    item_bytes: usize,
}

impl BoundedList {
    /// Creates the operator on lists of items of `item_bytes` bytes.
    ///
    /// # Panics
    ///
    /// If an item has no bytes.
    pub fn new(item_bytes: usize) -> BoundedList {
        assert!(item_bytes > 0, "an item of a list has at least one byte");
        BoundedList { item_bytes }
    }

    /// Returns the size in bytes of a value that can hold `items` items, 1 to 254.
    pub fn value_bytes(self, items: usize) -> usize {
        assert!(
            (1..usize::from(OVERFLOWED)).contains(&items),
            "a list has room for 1 to 254 items"
        );
        1 + items * self.item_bytes
    }

    /// Writes the list of one item to `value`.
    pub fn write_one(self, item: &[u8], value: &mut [u8]) {
        assert!(item.len() == self.item_bytes, "an item has its length");
        value.fill(0);
        value[0] = 1;
        value[1..][..item.len()].copy_from_slice(item);
    }

    /// Returns the items of a list, ascending, and whether it has overflowed.
    pub fn read(self, value: &[u8]) -> (impl ExactSizeIterator<Item = &[u8]>, bool) {
        let more = value[0] == OVERFLOWED;
        let room = (value.len() - 1) / self.item_bytes;
        let count = if more { room } else { usize::from(value[0]).min(room) };
        (value[1..][..count * self.item_bytes].chunks_exact(self.item_bytes), more)
    }
}

impl ValueOperator for BoundedList {
    fn name(&self) -> String {
        format!("few of {} bytes", self.item_bytes)
    }

    fn join(&self, kept: &mut [u8], other: &[u8]) {
        let ((here, here_more), (there, there_more)) = (self.read(kept), self.read(other));
        let mut all: Vec<&[u8]> = here.chain(there).collect();
        all.sort_unstable();
        all.dedup();
        let room = (kept.len() - 1) / self.item_bytes;
        let more = here_more || there_more || all.len() > room;
        all.truncate(room);
        let count = if more { OVERFLOWED } else { all.len() as u8 };
        let mut joined = [&[count], &*all.concat()].concat();
        joined.resize(kept.len(), 0);
        kept.copy_from_slice(&joined);
    }

    fn is_idempotent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_holds() {
        let few = BoundedList::new(2);
        assert_eq!(few.value_bytes(2), 5);
        let (mut kept, mut other) = ([0; 5], [0; 5]);
        few.write_one(&[0, 7], &mut kept);
        assert_eq!(kept, [1, 0, 7, 0, 0]);
        few.write_one(&[0, 9], &mut other);
        few.join(&mut other, &[1, 0, 3, 0, 0]);
        assert_eq!(other, [2, 0, 3, 0, 9]);
        few.join(&mut kept, &other);
        assert_eq!(kept, [0xff, 0, 3, 0, 7]);
        let (items, more) = few.read(&kept);
        assert_eq!((items.collect::<Vec<_>>(), more), (vec![&[0, 3][..], &[0, 7]], true));
    }
}
