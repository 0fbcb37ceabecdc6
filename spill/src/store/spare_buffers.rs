//! Buffers of keys that are no longer needed, for the keys of later levels.
//!
//! The system takes longer to supply a page than settling takes to fill it, and every level needs about as many as the
//! previous one. So the buffer of a run that was merged into another is kept, up to the maximum size of the last level
//! in total.

/// Buffers without content.
#[derive(Default)]
pub(super) struct SpareBuffers {
    rooms: Vec<Vec<u8>>,
}

impl SpareBuffers {
    /// Returns the largest buffer, or a new one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let largest = (0..self.rooms.len()).max_by_key(|&at| self.rooms[at].capacity());
        largest.map(|at| self.rooms.swap_remove(at)).unwrap_or_default()
    }

    /// Keeps a buffer, if all kept buffers take at most `most` bytes.
    pub(super) fn keep(&mut self, mut room: Vec<u8>, most: usize) {
        let kept: usize = self.rooms.iter().map(Vec::capacity).sum();
        if kept + room.capacity() <= most {
            room.clear();
            self.rooms.push(room);
        }
    }

    /// Frees all buffers.
    pub(super) fn clear(&mut self) {
        self.rooms.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_buffers_are_reused_first_within_a_limit() {
        let mut spare = SpareBuffers::default();
        for bytes in [100, 300, 200, 500] {
            spare.keep(vec![1; bytes], 700);
        }
        let kept: Vec<usize> = (0..4).map(|_| spare.take().capacity()).collect();
        assert_eq!(kept, [300, 200, 100, 0]);
        spare.keep(vec![1; 10], 10);
        spare.clear();
        assert_eq!(spare.take().capacity(), 0);
    }
}
