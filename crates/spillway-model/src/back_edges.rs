//! Back-edges: how a breadth-first search with one queue reached a state.

/// Bytes of a back-edge.
pub const BACK_EDGE_BYTES: usize = 8;

/// Bits of a number.
const NUMBER_BITS: u32 = 40;

/// Bits of an index.
const INDEX_BITS: u32 = 24;

/// The number of a state's parent, and the index of the state among the parent's successors.
///
/// As bytes, a back-edge is a big-endian number of 40 bits and an index of 24 bits. So back-edges ascend as bytes in the
/// order in which a queue reaches their states. An initial state has no parent: all bits are its position among the initial
/// states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackEdge {
    /// The number of the parent.
    pub parent: u64,
    /// The index among the parent's successors.
    pub index: u64,
}

/// A back-edge does not fit its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackEdgeOverflow {
    /// A number needs more bits.
    #[error("more than 2^40 states with back-edges")]
    Number,
    /// An index needs more bits.
    #[error("back-edges to states with more than 2^24 successors")]
    Index,
}

impl BackEdge {
    /// Returns the back-edge of the initial state at a position.
    pub fn of_start(position: u64) -> BackEdge {
        BackEdge { parent: position >> INDEX_BITS, index: position % (1 << INDEX_BITS) }
    }

    /// Returns the position of the initial state with this back-edge.
    pub fn start(self) -> u64 {
        self.parent << INDEX_BITS | self.index
    }

    /// Returns the bytes.
    ///
    /// # Errors
    ///
    /// The number or the index is too large.
    pub fn bytes(self) -> Result<[u8; BACK_EDGE_BYTES], BackEdgeOverflow> {
        if self.parent >> NUMBER_BITS > 0 {
            return Err(BackEdgeOverflow::Number);
        }
        if self.index >> INDEX_BITS > 0 {
            return Err(BackEdgeOverflow::Index);
        }
        Ok(self.start().to_be_bytes())
    }

    /// Returns the back-edge with these bytes.
    pub fn of_bytes(bytes: &[u8]) -> BackEdge {
        BackEdge::of_start(bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_edges_round_trip_and_overflows_are_refused() {
        for (parent, index) in [(0, 0), (7, 1), ((1 << 40) - 1, (1 << 24) - 1)] {
            let edge = BackEdge { parent, index };
            assert_eq!(BackEdge::of_bytes(&edge.bytes().unwrap()), edge);
            assert_eq!(BackEdge::of_start(edge.start()), edge);
        }
        let number = BackEdge { parent: 1 << 40, index: 0 };
        assert_eq!(number.bytes(), Err(BackEdgeOverflow::Number));
        assert_eq!(BackEdge { parent: 0, index: 1 << 24 }.bytes(), Err(BackEdgeOverflow::Index));
    }

    #[test]
    fn bytes_ascend_in_queue_order() {
        let edges = [(0, 0), (0, 9), (1, 0), (1, 1 << 23), (2, 0)];
        let bytes = edges.map(|(parent, index)| BackEdge { parent, index }.bytes().unwrap());
        assert!(bytes.is_sorted());
    }
}
