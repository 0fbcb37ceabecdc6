//! The removal of orphan files, which an interrupted search may leave.

use super::files::{DirectoryFile, STATUS, unfinished};
use spill::{Disk, Result};

/// Removes every file of keys that is not known, plans, and unfinished files of commits. Files with merely similar
/// names stay.
///
/// First it makes the name of the manifest durable. If the process was killed during a commit, the name may not be
/// durable. A power failure could then undo the renaming but not the removals. The previous manifest would remain
/// without files that it names.
pub(super) fn remove_orphan_files(disk: &dyn Disk, is_known: impl Fn(&str) -> bool) -> Result<()> {
    disk.sync_dir()?;
    let status = unfinished(STATUS);
    for (name, _) in disk.list()? {
        let is_stray = match DirectoryFile::of(&name) {
            // The file of the status belongs to its current writer.
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
    fn unfinished_status_and_foreign_files_are_not_removed() {
        let disk = FaultDisk::new();
        let [known, orphan] = [1, 2].map(|shard| FileName::Levels { shard }.to_string());
        let plan = "plan-00000031-settle-abababababab".to_owned();
        let (begun, written) = ("manifest.new".to_owned(), unfinished(STATUS));
        let others = ["notes.new", "plan-b.md", "receipt-2024.pdf", "levels-of-detail.txt"];
        let others = others.map(str::to_owned);
        for name in [&known, &orphan, &plan, &begun, &written].into_iter().chain(&others) {
            drop(disk.create(name).unwrap());
        }
        remove_orphan_files(&disk, |it| it == known).unwrap();
        let remaining: Vec<String> = disk.list().unwrap().into_iter().map(|it| it.0).collect();
        let mut expected = [known, written].to_vec();
        expected.extend(others);
        expected.sort();
        assert_eq!(remaining, expected);
    }
}
