//! The states of a path from its end to its beginning: a stack whose lower part is on disk.

use spill::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a path in memory, if the path is longer than that.
const MEMORY_BYTES: usize = 1 << 20;

/// The name of its file in messages. The file has no name in its folder.
const FILE: &str = "way";

/// A stack of states.
pub(crate) struct StateStack {
    width: usize,
    /// The folder for the file of a long path. Without one the whole path is in memory.
    folder: Option<std::path::PathBuf>,
    /// The states on top.
    top: Vec<u8>,
    /// The file of the states below and their bytes, if there are any.
    below: Option<(File, u64)>,
}

impl StateStack {
    /// Creates an empty stack of states of `width` bytes. Long stacks use an unnamed file in `folder`, which is deleted
    /// with the stack.
    pub(crate) fn new(width: usize, folder: Option<&Path>) -> StateStack {
        StateStack { width, folder: folder.map(Path::to_path_buf), top: Vec::new(), below: None }
    }

    /// Pushes a state.
    pub(crate) fn push(&mut self, state: &[u8]) -> Result<()> {
        if self.top.len() + self.width > MEMORY_BYTES.max(self.width)
            && let Some(folder) = &self.folder
        {
            let file = match self.below.take() {
                Some(below) => below,
                None => {
                    let made = tempfile::tempfile_in(folder);
                    (made.map_err(|error| Error::io("create", FILE, error))?, 0)
                }
            };
            let (file, length) = self.below.insert(file);
            let put = file.seek(SeekFrom::Start(*length)).and_then(|_| file.write_all(&self.top));
            put.map_err(|error| Error::io("write", FILE, error))?;
            *length += self.top.len() as u64;
            self.top.clear();
        }
        self.top.extend_from_slice(state);
        Ok(())
    }

    /// Pops the state on top, if there is one.
    pub(crate) fn pop(&mut self) -> Result<Option<Vec<u8>>> {
        if self.top.is_empty()
            && let Some((file, length)) = &mut self.below
        {
            // All writes have the same size, except that a state may be wider than a write.
            let states = (MEMORY_BYTES / self.width).max(1) * self.width;
            let some = (states as u64).min(*length);
            self.top.resize(some as usize, 0);
            *length -= some;
            let taken =
                file.seek(SeekFrom::Start(*length)).and_then(|_| file.read_exact(&mut self.top));
            taken.map_err(|error| Error::io("read", FILE, error))?;
        }
        let Some(rest) = self.top.len().checked_sub(self.width) else { return Ok(None) };
        Ok(Some(self.top.split_off(rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_popped_in_reverse_order_at_any_size() {
        let folder = tempfile::tempdir().unwrap();
        for (width, states) in [(3, 10), (1000, 5000), (MEMORY_BYTES / 2 + 1, 5), (1 << 21, 3)] {
            for folder in [None, Some(folder.path())] {
                let mut stack = StateStack::new(width, folder);
                let state = |number: usize| vec![(number % 251) as u8; width];
                (0..states).for_each(|number| stack.push(&state(number)).unwrap());
                assert!(folder.is_none() || stack.top.len() <= MEMORY_BYTES.max(width));
                for number in (0..states).rev() {
                    assert!(stack.pop().unwrap() == Some(state(number)), "{width} {number}");
                }
                assert_eq!(stack.pop().unwrap(), None);
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
