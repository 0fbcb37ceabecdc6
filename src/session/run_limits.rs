//! What a sitting of a search takes and what is written at its end, kept with it: whoever goes on with it does the same, unless told
//! otherwise.
//!
//! A directory may come from anybody, and going on with it is not to run their command or to overwrite files. So what is
//! written at the end counts only in the directory that it was kept in, by the same user: one that was copied or unpacked has
//! another inode and another time of birth, which nobody can choose.

use crate::exec::ExecutionMode;
use crate::search::checkpoint::FORMAT;
use crate::search::files::RUN_LIMITS;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Result};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// What is written at the end of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SearchOutputs {
    /// A command that is run.
    pub notify: Option<String>,
    /// The file of a page for a browser.
    pub report: Option<String>,
    /// The file of test cases.
    pub junit: Option<String>,
    /// The file of results for code scanning.
    pub sarif: Option<String>,
}

impl SearchOutputs {
    /// The flags that ask for it, each with its value.
    pub fn flags(&self) -> Vec<(&'static str, &str)> {
        let SearchOutputs { notify, report, junit, sarif } = self;
        let all =
            [("--notify", notify), ("--report", report), ("--junit", junit), ("--sarif", sarif)];
        all.into_iter().filter_map(|(flag, value)| Some((flag, value.as_deref()?))).collect()
    }
}

/// A directory as it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct DirectoryIdentity {
    inode: u64,
    /// When, after the beginning of 1970.
    at: Duration,
}

impl DirectoryIdentity {
    /// That of a directory, if its file system tells.
    fn of(dir: &Path) -> Option<DirectoryIdentity> {
        let found = fs::metadata(dir).ok()?;
        let at = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(DirectoryIdentity { inode: found.ino(), at })
    }
}

/// What a sitting of a search takes.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct RunLimits {
    /// The most bytes that the process may hold resident.
    pub memory: u64,
    /// The number of threads, if that is said.
    pub threads: Option<u16>,
    /// The most bytes that the directory may take.
    pub disk_limit: Option<u64>,
    /// The longest time between two checkpoints.
    pub checkpoint_every: Duration,
    /// How a model is run that can be compiled.
    pub exec: ExecutionMode,
    /// What is written at the end.
    pub outputs: SearchOutputs,
    /// The directory that it is kept in.
    pub kept_in: Option<DirectoryIdentity>,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        let (memory, checkpoint_every) = (1 << 30, Duration::from_secs(600));
        let exec = ExecutionMode::default();
        let (threads, disk_limit, outputs, kept_in) = (None, None, SearchOutputs::default(), None);
        RunLimits { memory, threads, disk_limit, checkpoint_every, exec, outputs, kept_in }
    }
}

impl RunLimits {
    /// The same, kept in a directory.
    pub(super) fn in_directory(&self, dir: &Path) -> RunLimits {
        RunLimits { kept_in: DirectoryIdentity::of(dir), ..self.clone() }
    }

    /// Whether it is the same but for where it is kept.
    pub(super) fn is_equivalent(&self, other: &RunLimits) -> bool {
        RunLimits { kept_in: self.kept_in, ..other.clone() } == *self
    }

    /// Whether it was kept in this directory by whoever asks, and in no other.
    pub fn is_kept_in(&self, dir: &Path) -> bool {
        let us = rustix::process::geteuid().as_raw();
        let is_ours = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.uid() == us);
        let is_here = self.kept_in.is_some() && self.kept_in == DirectoryIdentity::of(dir);
        is_here
            && fs::metadata(dir).is_ok_and(|it| it.uid() == us)
            && is_ours(&dir.join(RUN_LIMITS))
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> Result<()> {
        spill::commit_value(disk, RUN_LIMITS, FORMAT, self)
    }

    pub(super) fn load(disk: &dyn Disk) -> Result<RunLimits> {
        spill::load_value(disk, RUN_LIMITS, FORMAT)
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
            let exec = if is_interpreted { ExecutionMode::Interp } else { ExecutionMode::Jit };
            let checkpoint_every = Duration::from_secs_f64(milliseconds as f64 / 1000.0);
            let outputs = SearchOutputs { notify, report, ..SearchOutputs::default() };
            let usual = RunLimits::default();
            let means =
                RunLimits { memory, threads, disk_limit, checkpoint_every, exec, outputs, ..usual };
            let disk = FaultDisk::new();
            means.commit(&disk).unwrap();
            prop_assert_eq!(RunLimits::load(&disk).unwrap(), means);
        }
    }

    #[test]
    fn what_is_written_at_the_end_counts_only_where_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|it| folder.path().join(it));
        [&one, &other].iter().for_each(|it| fs::create_dir(it).unwrap());
        let disk = spill::RealDisk::open(&one).unwrap();
        let means = RunLimits::default().in_directory(&one);
        assert!(means.is_equivalent(&RunLimits::default()));
        means.commit(&disk).unwrap();
        fs::copy(one.join(RUN_LIMITS), other.join(RUN_LIMITS)).unwrap();
        let told = DirectoryIdentity::of(&one).is_some();
        assert_eq!((means.is_kept_in(&one), means.is_kept_in(&other)), (told, false));
        let moved = folder.path().join("moved");
        fs::rename(&one, &moved).unwrap();
        assert_eq!(means.is_kept_in(&moved), told);
        assert!(!RunLimits::default().is_kept_in(&moved));
    }
}
