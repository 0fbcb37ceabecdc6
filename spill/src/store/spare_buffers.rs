//! Room of keys that are no longer needed, for the keys of levels to come.
//!
//! The system takes longer to give a page than settling to fill it, and every level needs as many as the one before. So the
//! room of a run that has gone into another is kept, as long as all that is kept is no more than the last level may take.

/// Buffers without content.
#[derive(Default)]
pub(super) struct SpareBuffers {
    rooms: Vec<Vec<u8>>,
}

impl SpareBuffers {
    /// The largest buffer, or a new one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let largest = (0..self.rooms.len()).max_by_key(|&at| self.rooms[at].capacity());
        largest.map(|at| self.rooms.swap_remove(at)).unwrap_or_default()
    }

    /// Keeps a buffer, if all come to at most so many bytes.
    pub(super) fn keep(&mut self, mut room: Vec<u8>, most: usize) {
        let kept: usize = self.rooms.iter().map(Vec::capacity).sum();
        if kept + room.capacity() <= most {
            room.clear();
            self.rooms.push(room);
        }
    }

    /// Gives all back to the system.
    pub(super) fn clear(&mut self) {
        self.rooms.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_goes_first_and_there_is_a_limit() {
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
