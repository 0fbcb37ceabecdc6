//! What a sitting of a search takes and what is written at its end, kept with it: whoever goes on with it does the same, unless told
//! otherwise.
//!
//! A directory may come from anybody, and going on with it is not to run their command or to overwrite files. So what is
//! written at the end counts only in the directory that it was kept in, by the same user: one that was copied or unpacked has
//! another inode and another time of birth, which nobody can choose.

use crate::exec::Exec;
use crate::search::checkpoint::FORMAT;
use crate::search::files::MEANS;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Result};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// What is written at the end of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct Outputs {
    /// A command that is run.
    pub notify: Option<String>,
    /// The file of a page for a browser.
    pub report: Option<String>,
    /// The file of test cases.
    pub junit: Option<String>,
    /// The file of results for code scanning.
    pub sarif: Option<String>,
}

impl Outputs {
    /// The flags that ask for it, each with its value.
    pub fn flags(&self) -> Vec<(&'static str, &str)> {
        let Outputs { notify, report, junit, sarif } = self;
        let all =
            [("--notify", notify), ("--report", report), ("--junit", junit), ("--sarif", sarif)];
        all.into_iter().filter_map(|(flag, value)| Some((flag, value.as_deref()?))).collect()
    }
}

/// A directory as it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct Birth {
    inode: u64,
    /// When, after the beginning of 1970.
    at: Duration,
}

impl Birth {
    /// That of a directory, if its file system tells.
    fn of(dir: &Path) -> Option<Birth> {
        let found = fs::metadata(dir).ok()?;
        let at = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Birth { inode: found.ino(), at })
    }
}

/// What a sitting of a search takes.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct Means {
    /// The most bytes that the process may hold resident.
    pub memory: u64,
    /// The number of threads, if that is said.
    pub threads: Option<u16>,
    /// The most bytes that the directory may take.
    pub disk_limit: Option<u64>,
    /// The longest time between two checkpoints.
    pub checkpoint_every: Duration,
    /// How a model is run that can be compiled.
    pub exec: Exec,
    /// What is written at the end.
    pub outputs: Outputs,
    /// The directory that it is kept in.
    pub kept_in: Option<Birth>,
}

impl Default for Means {
    fn default() -> Means {
        let (memory, checkpoint_every) = (1 << 30, Duration::from_secs(600));
        let exec = Exec::default();
        let (threads, disk_limit, outputs, kept_in) = (None, None, Outputs::default(), None);
        Means { memory, threads, disk_limit, checkpoint_every, exec, outputs, kept_in }
    }
}

impl Means {
    /// The same, kept in a directory.
    pub(super) fn in_directory(&self, dir: &Path) -> Means {
        Means { kept_in: Birth::of(dir), ..self.clone() }
    }

    /// Whether it is the same but for where it is kept.
    pub(super) fn is_like(&self, other: &Means) -> bool {
        Means { kept_in: self.kept_in, ..other.clone() } == *self
    }

    /// Whether it was kept in this directory by whoever asks, and in no other.
    pub fn is_of(&self, dir: &Path) -> bool {
        let us = rustix::process::geteuid().as_raw();
        let is_ours = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.uid() == us);
        let is_here = self.kept_in.is_some() && self.kept_in == Birth::of(dir);
        is_here && fs::metadata(dir).is_ok_and(|it| it.uid() == us) && is_ours(&dir.join(MEANS))
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> Result<()> {
        spill::commit_value(disk, MEANS, FORMAT, self)
    }

    pub(super) fn load(disk: &dyn Disk) -> Result<Means> {
        spill::load_value(disk, MEANS, FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spill::FaultDisk;

    proptest! {
        #[test]
        fn they_come_back(
            (memory, threads, disk_limit) in any::<(u64, Option<u16>, Option<u64>)>(),
            milliseconds in 0..u64::from(u32::MAX),
            is_interpreted in any::<bool>(),
            (notify, report) in any::<(Option<String>, Option<String>)>(),
        ) {
            let exec = if is_interpreted { Exec::Interp } else { Exec::Jit };
            let checkpoint_every = Duration::from_secs_f64(milliseconds as f64 / 1000.0);
            let outputs = Outputs { notify, report, ..Outputs::default() };
            let usual = Means::default();
            let means =
                Means { memory, threads, disk_limit, checkpoint_every, exec, outputs, ..usual };
            let disk = FaultDisk::new();
            means.commit(&disk).unwrap();
            prop_assert_eq!(Means::load(&disk).unwrap(), means);
        }
    }

    #[test]
    fn what_is_written_at_the_end_counts_only_where_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|it| folder.path().join(it));
        [&one, &other].iter().for_each(|it| fs::create_dir(it).unwrap());
        let disk = spill::RealDisk::open(&one).unwrap();
        let means = Means::default().in_directory(&one);
        assert!(means.is_like(&Means::default()));
        means.commit(&disk).unwrap();
        fs::copy(one.join(MEANS), other.join(MEANS)).unwrap();
        let told = Birth::of(&one).is_some();
        assert_eq!((means.is_of(&one), means.is_of(&other)), (told, false));
        let moved = folder.path().join("moved");
        fs::rename(&one, &moved).unwrap();
        assert_eq!(means.is_of(&moved), told);
        assert!(!Means::default().is_of(&moved));
    }
}
