//! The limits and outputs of a session, saved for the next session, which uses them by default.
//!
//! A search directory may come from another user. A resumed search must not run a stranger's command or overwrite
//! files. So saved outputs are valid only for the same user in the directory in which they were saved. A directory that
//! was copied or unpacked has another inode and another birth time, and no user can choose these.

use super::quantity;
use crate::model::ExecutionMode;
use crate::search::checkpoint::FORMAT;
use crate::search::files::RUN_LIMITS;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Result};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The outputs at the end of a search.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    Archive,
    Serialize,
    Deserialize,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SearchOutputs {
    /// A command to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<String>,
    /// The file of the report page (HTML).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// The JUnit file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub junit: Option<String>,
    /// The SARIF file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sarif: Option<String>,
}

impl SearchOutputs {
    /// Returns the flags of these outputs, each with its value.
    pub fn flags(&self) -> Vec<(&'static str, &str)> {
        let SearchOutputs { notify, report, junit, sarif } = self;
        let all =
            [("--notify", notify), ("--report", report), ("--junit", junit), ("--sarif", sarif)];
        all.into_iter().filter_map(|(flag, value)| Some((flag, value.as_deref()?))).collect()
    }
}

/// The identity of a directory: inode and time of birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct DirectoryIdentity {
    inode: u64,
    /// The time of birth, since the beginning of 1970.
    at: Duration,
}

impl DirectoryIdentity {
    /// Returns the identity of a directory, if its file system records it.
    fn of(dir: &Path) -> Option<DirectoryIdentity> {
        let found = fs::metadata(dir).ok()?;
        let at = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(DirectoryIdentity { inode: found.ino(), at })
    }
}

/// The limits of a session.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Eq,
    Archive,
    Serialize,
    Deserialize,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RunLimits {
    /// The most bytes that the process may hold resident.
    #[serde(with = "quantity::size")]
    pub memory: u64,
    /// The number of threads. The default is the number of cores, or fewer if memory is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// The most bytes that the directory may take.
    #[serde(with = "quantity::optional_size", skip_serializing_if = "Option::is_none")]
    pub disk_limit: Option<u64>,
    /// The longest time between two checkpoints.
    #[serde(with = "quantity::time")]
    pub checkpoint_every: Duration,
    /// The number of states at which the session stops, at the end of a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_states: Option<u64>,
    /// The time after which the session stops.
    #[serde(with = "quantity::optional_time", skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Duration>,
    /// How a model that can be compiled is executed.
    pub exec: ExecutionMode,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits {
            memory: 1 << 30,
            threads: None,
            disk_limit: None,
            checkpoint_every: Duration::from_secs(600),
            max_states: None,
            max_time: None,
            exec: ExecutionMode::default(),
        }
    }
}

/// The limits and outputs of a session, as the directory saves them for the next session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedLimits {
    /// The limits of the session.
    pub limits: RunLimits,
    /// The outputs at its end.
    pub outputs: SearchOutputs,
    /// The identity of the directory in which this was saved.
    kept_in: Option<DirectoryIdentity>,
}

impl SavedLimits {
    /// Creates the limits and outputs of a session.
    pub fn new(limits: RunLimits, outputs: SearchOutputs) -> SavedLimits {
        SavedLimits { limits, outputs, kept_in: None }
    }

    /// Returns the same with this limit of the directory's size.
    pub(super) fn with_disk_limit(&self, disk_limit: Option<u64>) -> SavedLimits {
        let limits = RunLimits { disk_limit, ..self.limits.clone() };
        SavedLimits { limits, ..self.clone() }
    }

    /// Returns the defaults of the next session. The stop conditions of a session are not inherited.
    pub fn next_session(&self) -> RunLimits {
        RunLimits { max_states: None, max_time: None, ..self.limits.clone() }
    }

    /// Returns the same with the identity of a directory.
    pub(super) fn in_directory(&self, dir: &Path) -> SavedLimits {
        SavedLimits { kept_in: DirectoryIdentity::of(dir), ..self.clone() }
    }

    /// Returns whether both are equal apart from the directory.
    pub(super) fn is_equivalent(&self, other: &SavedLimits) -> bool {
        SavedLimits { kept_in: self.kept_in, ..other.clone() } == *self
    }

    /// Returns whether this was saved in exactly this directory, and the directory and the file belong to the current
    /// user.
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

    pub(super) fn load(disk: &dyn Disk) -> Result<SavedLimits> {
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
        fn run_limits_are_loaded_as_saved(
            (memory, threads, disk_limit) in any::<(u64, Option<u16>, Option<u64>)>(),
            milliseconds in 0..u64::from(u32::MAX),
            is_interpreted in any::<bool>(),
            (notify, report) in any::<(Option<String>, Option<String>)>(),
        ) {
            let exec = if is_interpreted { ExecutionMode::Interp } else { ExecutionMode::Jit };
            let checkpoint_every = Duration::from_millis(milliseconds);
            let usual = RunLimits::default();
            let limits = RunLimits { memory, threads, disk_limit, checkpoint_every, exec, ..usual };
            let outputs = SearchOutputs { notify, report, ..SearchOutputs::default() };
            let saved = SavedLimits::new(limits, outputs);
            let disk = FaultDisk::new();
            saved.commit(&disk).unwrap();
            prop_assert_eq!(SavedLimits::load(&disk).unwrap(), saved);
        }
    }

    #[test]
    fn outputs_count_only_in_their_original_directory() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|it| folder.path().join(it));
        [&one, &other].iter().for_each(|it| fs::create_dir(it).unwrap());
        let disk = spill::RealDisk::open(&one).unwrap();
        let saved = SavedLimits::default().in_directory(&one);
        assert!(saved.is_equivalent(&SavedLimits::default()));
        saved.commit(&disk).unwrap();
        fs::copy(one.join(RUN_LIMITS), other.join(RUN_LIMITS)).unwrap();
        let told = DirectoryIdentity::of(&one).is_some();
        assert_eq!((saved.is_kept_in(&one), saved.is_kept_in(&other)), (told, false));
        let moved = folder.path().join("moved");
        fs::rename(&one, &moved).unwrap();
        assert_eq!(saved.is_kept_in(&moved), told);
        assert!(!SavedLimits::default().is_kept_in(&moved));
    }
}
