//! Values: data that a sorted run may hold with each key.
//!
//! A *pair* is a key followed by a value of fixed size. A run of pairs is a run of wider keys with different first
//! parts. So blocks, gaps, segments and ranges are the same as for keys alone, and plain keys pay nothing for values.
//! Equal keys meet in a buffer that is sorted, in a merge, and between candidates and a store. There an
//! [`ValueOperator`] joins two values into one.
//!
//! The order in which pairs meet depends on threads and on memory. So an operator must be commutative and associative:
//! then the value of a key is a function of all its values. A set of candidates needs no more than that. A *store*
//! also needs an idempotent operator: it records a changed value as a further pair with the key, and later joins that
//! pair with the older ones.
//!
//! With the operator [`OrOperator`], the pairs `07 | 01`, `07 | 04` and `09 | 02` of a key and a value of a byte
//! become `07 | 05` and `09 | 02`.

mod bounded_list;
mod dominance;
mod operators;

pub use bounded_list::BoundedList;
pub use dominance::Dominance;
pub use operators::{AndOperator, MaxOperator, MinOperator, OrOperator, SumOperator};

use std::fmt::Debug;
use std::sync::Arc;

/// An operator that joins two values whose keys are equal.
pub trait ValueOperator: Debug + Send + Sync {
    /// Returns the name in manifests and messages. A store is not resumed under another name.
    fn name(&self) -> String;

    /// Replaces `kept` with the join of it and `other`. Both have the size of a value. The operation is commutative
    /// and associative.
    fn join(&self, kept: &mut [u8], other: &[u8]);

    /// Returns whether a value joined with itself is always itself.
    fn is_idempotent(&self) -> bool;
}

/// The values of a run: their size, and the operator that joins values of equal keys.
#[derive(Clone, Debug)]
pub struct ValueSpec {
    /// The size of a value in bytes, at least 1.
    bytes: usize,
    operator: Arc<dyn ValueOperator>,
}

impl ValueSpec {
    /// Creates the specification of values of `bytes` bytes.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(bytes: usize, operator: impl ValueOperator + 'static) -> ValueSpec {
        assert!(bytes > 0, "a value has at least one byte");
        ValueSpec { bytes, operator: Arc::new(operator) }
    }

    /// Returns the size of a value in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the operator that joins values of equal keys.
    pub fn operator(&self) -> &dyn ValueOperator {
        &*self.operator
    }

    /// Returns the size of the key of a pair of `width` bytes.
    ///
    /// # Panics
    ///
    /// If the key has no bytes.
    pub fn key_bytes(&self, width: usize) -> usize {
        assert!(width > self.bytes, "a pair has a key before its value");
        width - self.bytes
    }

    /// Returns the keys of `pairs` of `width` bytes.
    pub fn keys_of(&self, width: usize, pairs: &[u8]) -> Vec<u8> {
        let key = self.key_bytes(width);
        let mut keys = Vec::with_capacity(pairs.len() / width * key);
        pairs.chunks_exact(width).for_each(|pair| keys.extend_from_slice(&pair[..key]));
        keys
    }

    /// Moves boundaries between ranges of pairs to the beginning of a key, so that no key's pairs are in two ranges.
    pub fn cut_between_keys(&self, boundaries: &mut Vec<Vec<u8>>) {
        cut_between_keys(self.bytes, boundaries);
    }
}

/// Moves boundaries between ranges of keys, each followed by `bytes` bytes, to the beginning of a key.
pub(crate) fn cut_between_keys(bytes: usize, boundaries: &mut Vec<Vec<u8>>) {
    for pair in &mut *boundaries {
        let key = pair.len() - bytes;
        pair[key..].fill(0);
    }
    boundaries.dedup();
}
