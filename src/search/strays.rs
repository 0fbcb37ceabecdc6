//! Files that a search left behind when it ended in the middle of something.

use super::{status, tasks};
use spill::{Disk, FileName, Result};

/// Removes every file of keys that is not known, plans, and what a commit left that did not finish.
///
/// First the manifest's name is made durable: if the process was killed in the middle of a commit,
/// it may not be, and a loss of power could then undo the renaming but not the removals. It would
/// leave the manifest before this one, without files that it mentions.
pub(super) fn remove_strays(disk: &dyn Disk, is_known: impl Fn(&str) -> bool) -> Result<()> {
    disk.sync_dir()?;
    for (name, _) in disk.list()? {
        // What says how far a search is belongs to whoever writes it, now too.
        let is_unfinished = name.ends_with(".new") && name != status::UNFINISHED;
        let is_of_search = FileName::is_one(&name) || tasks::is_of_plan(&name);
        if is_unfinished || is_of_search && !is_known(&name) {
            disk.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::FaultDisk;

    #[test]
    fn what_is_being_written_is_left() {
        let disk = FaultDisk::new();
        let [known, stray] = [1, 2].map(|shard| FileName::Levels { shard }.to_string());
        let unfinished = "manifest.new".to_owned();
        let written = status::UNFINISHED.to_owned();
        for name in [&known, &stray, &unfinished, &written] {
            drop(disk.create(name).unwrap());
        }
        remove_strays(&disk, |it| it == known).unwrap();
        let left: Vec<String> = disk.list().unwrap().into_iter().map(|it| it.0).collect();
        assert_eq!(left, [known, written]);
    }
}
