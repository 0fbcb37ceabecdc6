//! What a sitting of a search takes, kept with it: whoever goes on with it takes the same, unless told otherwise.

use crate::exec::Exec;
use crate::search::checkpoint::FORMAT;
use crate::search::files::MEANS;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Result};
use std::time::Duration;

/// What a sitting of a search takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
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
}

impl Default for Means {
    fn default() -> Means {
        let (memory, checkpoint_every) = (1 << 30, Duration::from_secs(600));
        let exec = Exec::default();
        Means { memory, threads: None, disk_limit: None, checkpoint_every, exec }
    }
}

impl Means {
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
        ) {
            let exec = if is_interpreted { Exec::Interp } else { Exec::Jit };
            let checkpoint_every = Duration::from_secs_f64(milliseconds as f64 / 1000.0);
            let means = Means { memory, threads, disk_limit, checkpoint_every, exec };
            let disk = FaultDisk::new();
            means.commit(&disk).unwrap();
            prop_assert_eq!(Means::load(&disk).unwrap(), means);
        }
    }
}
