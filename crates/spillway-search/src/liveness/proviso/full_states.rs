//! The states of the system that must be fully expanded.

use std::collections::HashSet;

/// Bytes of a choosing part beyond its own.
const PART_OVERHEAD: u64 = 40;

/// A set of [choosing parts](spillway_model::CycleProvisoStateSpace::choosing_part), all of one length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::liveness) struct FullStates {
    parts: HashSet<Box<[u8]>>,
    /// The sum of their lengths.
    length: u64,
}

impl FullStates {
    /// Adds the states with a choosing part.
    pub fn insert(&mut self, part: &[u8]) {
        if !self.contains(part) {
            self.parts.insert(part.into());
            self.length += part.len() as u64;
        }
    }

    /// Returns whether states with this choosing part must be fully expanded.
    pub fn contains(&self, part: &[u8]) -> bool {
        // A hash costs more than this test, which decides for models without cycles.
        !self.parts.is_empty() && self.parts.contains(part)
    }

    /// Returns the number of choosing parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns whether no state must be fully expanded.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the approximate bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.length + self.parts.len() as u64 * PART_OVERHEAD
    }

    /// Returns the choosing parts in ascending order, concatenated.
    pub fn to_sorted(&self) -> Vec<u8> {
        let mut parts: Vec<&[u8]> = self.parts.iter().map(|it| &**it).collect();
        parts.sort_unstable();
        parts.concat()
    }
}

/// Collects choosing parts.
impl<'p> Extend<&'p [u8]> for FullStates {
    fn extend<I: IntoIterator<Item = &'p [u8]>>(&mut self, parts: I) {
        parts.into_iter().for_each(|part| self.insert(part));
    }
}
