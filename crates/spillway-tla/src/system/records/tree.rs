//! Decision trees: outcomes by the fields of keys that were read.
//!
//! A tree tests one field of a key after the other. The next field depends on the values of those before, as the next
//! read of an evaluation depends on the values that it has read. An outcome is at the end of the path.

use crate::cells::BitRange;
use rustc_hash::FxHashMap;

/// A field of a key within one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyField {
    word: u16,
    shift: u8,
    mask: u64,
}

impl KeyField {
    #[inline]
    fn get(self, words: &[u64]) -> u64 {
        words[self.word as usize] >> self.shift & self.mask
    }
}

/// Fields that determine an outcome, in the order in which they were read.
#[derive(Debug, Default)]
pub(super) struct FieldPath {
    fields: Vec<KeyField>,
    /// The bits of each word that are in a field.
    covered: Vec<u64>,
}

impl FieldPath {
    /// Starts with no fields of keys of so many words.
    pub(super) fn new(words: usize) -> Self {
        Self { fields: Vec::new(), covered: vec![0; words] }
    }

    /// Adds a range of bits of the key that starts at a word, without what is known already.
    pub(super) fn add(&mut self, range: BitRange, first_word: usize) {
        for (word, bits) in word_masks(range) {
            let word = first_word + word;
            if self.covered[word] & bits == bits {
                continue;
            }
            self.covered[word] |= bits;
            let shift = bits.trailing_zeros();
            let mask = bits >> shift;
            self.fields.push(KeyField { word: word as u16, shift: shift as u8, mask });
        }
    }
}

/// Returns the words in which a range is, and its bits in each.
pub(super) fn word_masks(range: BitRange) -> impl Iterator<Item = (usize, u64)> {
    let end = range.at + range.bits;
    let words = range.at / u64::BITS..end.div_ceil(u64::BITS);
    words.filter(move |_| range.bits > 0).map(move |word| {
        let start = word * u64::BITS;
        let from = range.at.max(start) - start;
        let to = end.min(start + u64::BITS) - start;
        let below_from = u64::MAX >> from;
        (word as usize, below_from & (u64::MAX << (u64::BITS - to)))
    })
}

/// An outcome, and when it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatedOutcome {
    /// The number of the outcome.
    pub outcome: u32,
    /// The date of the elements of sets at which it holds. Nothing if it always holds.
    pub date: Option<u32>,
}

#[derive(Clone, Copy)]
enum TreeNode {
    /// Nothing is known.
    Open,
    /// A test of a field, with the node for the value that was found first.
    Test { field: KeyField, value: u64, node: u32, has_others: bool },
    /// An outcome.
    End(DatedOutcome),
    /// The node that replaced a test with several values.
    Moved(u32),
}

/// The place of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeRoot(u32);

/// Decision trees.
#[derive(Default)]
pub(super) struct DecisionTrees {
    nodes: Vec<TreeNode>,
    /// The nodes for further values, by node and value.
    others: FxHashMap<(u32, u64), u32>,
}

/// The bytes of an entry of a hash map, with its room.
const ENTRY_BYTES: usize = 40;

impl DecisionTrees {
    /// Starts a tree without outcomes.
    pub(super) fn start(&mut self) -> TreeRoot {
        TreeRoot(self.open())
    }

    /// Returns the bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.nodes.len() * size_of::<TreeNode>() + self.others.len() * ENTRY_BYTES
    }

    fn open(&mut self) -> u32 {
        self.nodes.push(TreeNode::Open);
        self.nodes.len() as u32 - 1
    }

    /// Returns the outcome for a key at a date.
    #[inline]
    pub(super) fn find(&self, root: TreeRoot, words: &[u64], date: u32) -> Option<u32> {
        let mut at = root.0;
        loop {
            match self.nodes[at as usize] {
                TreeNode::Test { field, value, node, has_others } => {
                    let found = field.get(words);
                    at = if found == value {
                        node
                    } else if has_others {
                        *self.others.get(&(at, found))?
                    } else {
                        return None;
                    };
                }
                TreeNode::End(it) => {
                    return it.date.is_none_or(|it| it == date).then_some(it.outcome);
                }
                TreeNode::Moved(node) => at = node,
                TreeNode::Open => return None,
            }
        }
    }

    /// Adds the outcome for the values that a key has in some fields. What contradicts it is replaced: it was found at
    /// another date.
    pub(super) fn add(
        &mut self,
        root: TreeRoot,
        path: &FieldPath,
        words: &[u64],
        outcome: DatedOutcome,
    ) {
        let mut at = root.0;
        for &field in &path.fields {
            at = self.branch(at, field, field.get(words));
        }
        let at = self.vacate(at);
        self.nodes[at as usize] = TreeNode::End(outcome);
    }

    /// Returns the node whose content can be replaced, in the place of another one.
    fn vacate(&mut self, mut at: u32) -> u32 {
        while let TreeNode::Moved(node) = self.nodes[at as usize] {
            at = node;
        }
        // The other values belong to the number of the node.
        if let TreeNode::Test { has_others: true, .. } = self.nodes[at as usize] {
            let node = self.open();
            self.nodes[at as usize] = TreeNode::Moved(node);
            return node;
        }
        at
    }

    /// Returns the node behind a test that has a result.
    fn branch(&mut self, at: u32, field: KeyField, found: u64) -> u32 {
        match self.nodes[at as usize] {
            TreeNode::Test { field: tested, value, node, has_others } if tested == field => {
                if value == found {
                    return node;
                }
                if has_others && let Some(node) = self.others.get(&(at, found)) {
                    return *node;
                }
                if !has_others {
                    self.nodes[at as usize] =
                        TreeNode::Test { field, value, node, has_others: true };
                }
                let other = self.open();
                self.others.insert((at, found), other);
                other
            }
            TreeNode::Moved(node) => self.branch(node, field, found),
            _ => {
                let (at, node) = (self.vacate(at), self.open());
                let test = TreeNode::Test { field, value: found, node, has_others: false };
                self.nodes[at as usize] = test;
                node
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(ranges: &[(u32, u32)]) -> FieldPath {
        let mut path = FieldPath::new(2);
        ranges.iter().for_each(|it| path.add(BitRange { at: it.0, bits: it.1 }, 0));
        path
    }

    fn outcome(outcome: u32) -> DatedOutcome {
        DatedOutcome { outcome, date: None }
    }

    #[test]
    fn an_outcome_holds_for_all_keys_with_the_same_fields() {
        let mut trees = DecisionTrees::default();
        let root = trees.start();
        trees.add(root, &path(&[(0, 4), (60, 8)]), &[0x1000_0000_0000_000a, 0xb << 60], outcome(7));
        assert_eq!(trees.find(root, &[0x1fff_0000_0000_000a, 0xb << 60 | 5], 1), Some(7));
        assert_eq!(trees.find(root, &[0x2000_0000_0000_000a, 0xb << 60], 1), None);
        assert_eq!(trees.find(root, &[0x1000_0000_0000_000b, 0xb << 60], 1), None);
        assert_eq!(trees.find(root, &[0x1000_0000_0000_000a, 0xc << 60], 1), None);
        trees.add(root, &path(&[(0, 4)]), &[0x2000_0000_0000_0000, 0], outcome(8));
        assert_eq!(trees.find(root, &[0x2000_0000_0000_0001, 3], 1), Some(8));
        assert_eq!(trees.find(root, &[0x1fff_0000_0000_000a, 0xb << 60], 1), Some(7));
    }

    #[test]
    fn an_outcome_of_another_date_is_replaced() {
        let mut trees = DecisionTrees::default();
        let root = trees.start();
        let dated = |outcome, date| DatedOutcome { outcome, date: Some(date) };
        trees.add(root, &path(&[(0, 1)]), &[0, 0], dated(1, 1));
        trees.add(root, &path(&[(0, 1)]), &[u64::MAX, 0], dated(2, 1));
        assert_eq!(trees.find(root, &[0, 0], 2), None);
        trees.add(root, &path(&[(1, 1)]), &[0, 0], dated(3, 2));
        assert_eq!(trees.find(root, &[0, 0], 2), Some(3));
        assert_eq!(trees.find(root, &[1 << 63, 0], 2), Some(3));
        assert_eq!(trees.find(root, &[1 << 62, 0], 2), None);
    }

    #[test]
    fn known_bits_are_not_tested_again() {
        assert_eq!(path(&[(3, 70), (5, 4), (64, 3)]).fields.len(), 2);
        assert_eq!(path(&[(3, 4), (3, 8)]).fields.len(), 2);
    }
}
