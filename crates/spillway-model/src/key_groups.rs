//! The groups of adjacent bits that a state is made of. A search may choose another order of them for its keys.

use std::ops::Range;

/// The number of a group, in declaration order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId(pub u32);

/// The groups of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyGroups {
    /// The bytes of a state.
    pub width: usize,
    /// The bits of each group by its number, counted from the most significant bit of the first byte.
    pub extents: Vec<Range<u32>>,
    /// The groups in the order of the bits of a state.
    pub order: Vec<GroupId>,
}
