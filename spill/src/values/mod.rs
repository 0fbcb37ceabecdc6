//! Values: what a sorted run may hold beside each key.
//!
//! A *pair* is a key with a value of fixed length behind it. A run of pairs is a run of wider keys, no
//! two of which begin with the same key; so blocks, gaps, segments and ranges are what they are for
//! keys alone, and keys alone are dealt with as if there were no values. Where equal keys meet, in a
//! buffer that is sorted, in a merge, between candidates and a store, an [`ValueOperator`] makes one
//! value of two.
//!
//! In what order pairs meet depends on threads and on memory, so an operator must be commutative and
//! associative: what becomes of a key is then a function of all values it was given. A set of candidates
//! needs no more than that. A *store* asks in addition that a value joined with itself is itself: it
//! remembers a changed value as one more pair with the key, and joins that with what it was made of.
//!
//! With the operator [`OrOperator`], the pairs `07 | 01`, `07 | 04` and `09 | 02` of a key and a value of a byte
//! each become `07 | 05` and `09 | 02`.

mod bounded_list;
mod dominance;
mod operators;

pub use bounded_list::BoundedList;
pub use dominance::Dominance;
pub use operators::{AndOperator, MaxOperator, MinOperator, OrOperator, SumOperator};

use std::fmt::Debug;
use std::sync::Arc;

/// What becomes of two values whose keys are equal.
pub trait ValueOperator: Debug + Send + Sync {
    /// What manifests and messages call it. A store is not gone on with under another name.
    fn name(&self) -> String;

    /// Makes `kept` what it and `other` become together. Both are of the length of a value. The
    /// operation is commutative and associative.
    fn join(&self, kept: &mut [u8], other: &[u8]);

    /// Whether a value joined with itself is always itself.
    fn is_idempotent(&self) -> bool;
}

/// The values of a run: how long they are, and what becomes of two with equal keys.
#[derive(Clone, Debug)]
pub struct ValueSpec {
    /// At least 1.
    bytes: usize,
    operator: Arc<dyn ValueOperator>,
}

impl ValueSpec {
    /// Values of `bytes` bytes.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(bytes: usize, operator: impl ValueOperator + 'static) -> ValueSpec {
        assert!(bytes > 0, "a value has at least one byte");
        ValueSpec { bytes, operator: Arc::new(operator) }
    }

    /// Bytes of a value.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What becomes of two values whose keys are equal.
    pub fn operator(&self) -> &dyn ValueOperator {
        &*self.operator
    }

    /// Bytes of the key of a pair of `width` bytes.
    ///
    /// # Panics
    ///
    /// If the key has none.
    pub fn key_bytes(&self, width: usize) -> usize {
        assert!(width > self.bytes, "a pair has a key before its value");
        width - self.bytes
    }

    /// The keys of `pairs` of `width` bytes.
    pub fn keys_of(&self, width: usize, pairs: &[u8]) -> Vec<u8> {
        let key = self.key_bytes(width);
        let mut keys = Vec::with_capacity(pairs.len() / width * key);
        pairs.chunks_exact(width).for_each(|pair| keys.extend_from_slice(&pair[..key]));
        keys
    }

    /// Moves boundaries between ranges of pairs to where a key begins: no key's pairs are in two ranges.
    pub fn cut_between_keys(&self, boundaries: &mut Vec<Vec<u8>>) {
        cut_between_keys(self.bytes, boundaries);
    }
}

/// Moves boundaries between ranges of keys with `bytes` bytes behind each to where a key begins.
pub(crate) fn cut_between_keys(bytes: usize, boundaries: &mut Vec<Vec<u8>>) {
    for pair in &mut *boundaries {
        let key = pair.len() - bytes;
        pair[key..].fill(0);
    }
    boundaries.dedup();
}
