//! The states of a way, from its end to its beginning: a stack, of which the lower part lies on disk.

use spill::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a way in memory at a time, if it is longer than that.
const MEMORY_BYTES: usize = 1 << 20;

/// The name of its file, in messages; it has none in its folder.
const FILE: &str = "way";

/// States on top of one another.
pub(in crate::search) struct StateStack {
    width: usize,
    /// Where a long one is put down; if nowhere, all is in memory.
    folder: Option<std::path::PathBuf>,
    /// The states on top.
    top: Vec<u8>,
    /// Those below, if there are some, and how many bytes.
    below: Option<(File, u64)>,
}

impl StateStack {
    /// No states of `width` bytes. Where there are many they are put into a file in `folder` that has
    /// no name there, and is gone when this is.
    pub(in crate::search) fn new(width: usize, folder: Option<&Path>) -> StateStack {
        StateStack { width, folder: folder.map(Path::to_path_buf), top: Vec::new(), below: None }
    }

    /// Puts a state on top.
    pub(in crate::search) fn push(&mut self, state: &[u8]) -> Result<()> {
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

    /// Takes the state on top, if there is one.
    pub(in crate::search) fn pop(&mut self) -> Result<Option<Vec<u8>>> {
        if self.top.is_empty()
            && let Some((file, length)) = &mut self.below
        {
            // What is put down at a time has the same size, but the first state may be a wide one.
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
    fn what_was_put_down_last_comes_first_however_much_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for (width, states) in [(3, 10), (1000, 5000), (MEMORY_BYTES / 2 + 1, 5), (1 << 21, 3)] {
            for folder in [None, Some(folder.path())] {
                let mut way = StateStack::new(width, folder);
                let state = |number: usize| vec![(number % 251) as u8; width];
                (0..states).for_each(|number| way.push(&state(number)).unwrap());
                assert!(folder.is_none() || way.top.len() <= MEMORY_BYTES.max(width));
                for number in (0..states).rev() {
                    assert!(way.pop().unwrap() == Some(state(number)), "{width} {number}");
                }
                assert_eq!(way.pop().unwrap(), None);
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
