//! Files that a search left behind when it ended in the middle of something.

use super::files::{DirectoryFile, STATUS, unfinished};
use spill::{Disk, Result};

/// Removes every file of keys that is not known, plans, and what a commit left that did not finish. What only has a name like
/// these is left.
///
/// First the manifest's name is made durable: if the process was killed in the middle of a commit,
/// it may not be, and a loss of power could then undo the renaming but not the removals. It would
/// leave the manifest before this one, without files that it mentions.
pub(super) fn remove_orphan_files(disk: &dyn Disk, is_known: impl Fn(&str) -> bool) -> Result<()> {
    disk.sync_dir()?;
    let status = unfinished(STATUS);
    for (name, _) in disk.list()? {
        let is_stray = match DirectoryFile::of(&name) {
            // What says how far a search is belongs to whoever writes it, now too.
            Some(DirectoryFile::Unfinished) => name != status,
            Some(DirectoryFile::Keys(_) | DirectoryFile::OfPlan | DirectoryFile::Private) => {
                !is_known(&name)
            }
            Some(DirectoryFile::Fixed) | None => false,
        };
        if is_stray {
            disk.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::{FaultDisk, FileName};

    #[test]
    fn what_is_being_written_and_what_is_not_ours_is_left() {
        let disk = FaultDisk::new();
        let [known, stray] = [1, 2].map(|shard| FileName::Levels { shard }.to_string());
        let plan = "plan-00000031-settle-abababababab".to_owned();
        let (begun, written) = ("manifest.new".to_owned(), unfinished(STATUS));
        let others = ["notes.new", "plan-b.md", "receipt-2024.pdf", "levels-of-detail.txt"];
        let others = others.map(str::to_owned);
        for name in [&known, &stray, &plan, &begun, &written].into_iter().chain(&others) {
            drop(disk.create(name).unwrap());
        }
        remove_orphan_files(&disk, |it| it == known).unwrap();
        let left: Vec<String> = disk.list().unwrap().into_iter().map(|it| it.0).collect();
        let mut expected = [known, written].to_vec();
        expected.extend(others);
        expected.sort();
        assert_eq!(left, expected);
    }
}
