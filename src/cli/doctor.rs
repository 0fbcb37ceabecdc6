//! `doctor`: the resources of this machine for a search, and flags that use them.

use super::args::DoctorArgs;
use super::failure::{self, CommandFailure};
use super::quantities::size;
use super::{CommandResult, print};
use crate::exec::CompilerSupport;
use crate::report::{count, row};
use rustix::fs::{StatFs, statfs, statvfs};
use rustix::process::{Resource, getrlimit};
use spill::RealDisk;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The bytes of the write test, and its maximum time.
const TRIAL: usize = 256 << 20;
const TRIAL_TIME: Duration = Duration::from_secs(2);

/// The bytes of one write.
const BLOCK: usize = 1 << 20;

/// The magic numbers of file systems in memory and on other machines (`statfs(2)`).
const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
const NETWORK_FILE_SYSTEMS: [u64; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

/// `spillway doctor`.
pub(super) fn doctor(args: &DoctorArgs) -> CommandResult {
    let dir = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let mut told = String::new();
    let (memory, memory_says) = memory();
    told += &row("memory", &memory_says);
    told += &row("threads", &format!("{} at a time", crate::search::cores()));
    told += &row("code", code());
    let disk = DiskProbe::of(&dir)?;
    disk.rows().iter().for_each(|(label, says)| told += &row(label, says));
    told += &row("limits", &limits());
    told += &row("flags", &suggested(memory, &disk));
    print(&told);
    Ok(failure::VERIFIED)
}

/// Returns the bytes of memory for a search, if known, and a description.
fn memory() -> (Option<u64>, String) {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
    };
    let (all, free) = (of("MemTotal"), of("MemAvailable"));
    let limits = [cgroup_memory_limit(), getrlimit(Resource::As).current];
    let limit = limits.into_iter().flatten().min().filter(|it| all.is_none_or(|all| *it < all));
    let told = match (all, free) {
        (Some(all), Some(free)) => format!("{}, {} of it free", size(all), size(free)),
        _ => "size unknown".to_owned(),
    };
    let limited = limit.map(|it| format!("; at most {} allowed", size(it)));
    (free.into_iter().chain(limit).min(), told + &limited.unwrap_or_default())
}

/// Returns the memory limit of this process's control group, if there is one.
fn cgroup_memory_limit() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|it| it.strip_prefix("0::/")).unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let of_group = root.join(own).ancestors().map(|it| it.join("memory.max")).collect::<Vec<_>>();
    let older = root.join("memory/memory.limit_in_bytes");
    let all = of_group.iter().filter(|it| it.starts_with(root)).chain([&older]);
    let read = |it: &PathBuf| std::fs::read_to_string(it).ok()?.trim().parse::<u64>().ok();
    all.filter_map(read).min()
}

/// Describes how models are executed.
fn code() -> &'static str {
    match CompilerSupport::detect() {
        CompilerSupport::Available => "models are compiled to machine code",
        CompilerSupport::UnsupportedMachine => {
            "machine code is not supported on this machine: models are interpreted"
        }
        CompilerSupport::NotBuilt => "this build has no compiler: models are interpreted",
    }
}

/// The properties of the disk for search directories.
struct DiskProbe {
    dir: PathBuf,
    free: u64,
    kind: Option<&'static str>,
    /// The bytes written and flushed per second, and the time of the flush.
    wrote: io::Result<(f64, Duration)>,
    /// Whether a directory can be locked.
    locks: Result<(), spill::Error>,
}

impl DiskProbe {
    fn of(dir: &Path) -> Result<DiskProbe, CommandFailure> {
        let failed = |error: io::Error| {
            CommandFailure::wrong(format!(
                "cannot make a search directory in {}: {error}",
                dir.display()
            ))
        };
        let made = tempfile::Builder::new().prefix("spillway-doctor-").tempdir_in(dir);
        let made = made.map_err(failed)?;
        let room = statvfs(made.path()).map_err(|error| failed(error.into()))?;
        let kind = statfs(made.path()).ok().and_then(|it: StatFs| kind(it.f_type as u64));
        let free = room.f_bavail * room.f_frsize;
        let lock = || RealDisk::open(made.path())?.lock();
        let locks = lock();
        let wrote = write(&made.path().join("trial"), free);
        Ok(DiskProbe { dir: dir.to_path_buf(), free, kind, wrote, locks })
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let dir = self.dir.display();
        let mut rows = vec![("disk", format!("{dir}: {} free", size(self.free)))];
        rows.extend(self.kind.map(|it| ("", it.to_owned())));
        rows.push((
            "",
            match &self.wrote {
                Ok((rate, flush)) => {
                    let flush = flush.as_secs_f64() * 1e3;
                    format!("writes {} a second; a flush takes {flush:.1} ms", size(*rate as u64))
                }
                Err(error) => format!("a search cannot write here: {error}"),
            },
        ));
        if let Err(error) = &self.locks {
            rows.push(("", format!("directories cannot be locked here: {error}")));
        }
        rows
    }
}

/// Describes a kind of file system.
fn kind(of: u64) -> Option<&'static str> {
    match of {
        TMPFS | RAMFS => Some("a file system in memory: its files are lost when the machine stops"),
        it if NETWORK_FILE_SYSTEMS.contains(&it) => {
            Some("a network file system: searches are as fast as the network")
        }
        _ => None,
    }
}

/// Writes as a search does, and flushes. Returns bytes per second and the time of the flush.
fn write(path: &Path, free: u64) -> io::Result<(f64, Duration)> {
    let (mut file, block) = (File::create(path)?, vec![0x5a; BLOCK]);
    let (begun, mut written) = (Instant::now(), 0);
    while written < TRIAL.min((free / 4) as usize) && begun.elapsed() < TRIAL_TIME {
        file.write_all(&block)?;
        written += BLOCK;
    }
    file.sync_all()?;
    let rate = written as f64 / begun.elapsed().as_secs_f64();
    file.write_all(&block[..1])?;
    let begun = Instant::now();
    file.sync_all()?;
    Ok((rate, begun.elapsed()))
}

/// Describes the limits of the system.
fn limits() -> String {
    let files = getrlimit(Resource::Nofile).current;
    let files = files.map_or("unlimited open files".into(), |it| count(it, "open file"));
    let length = getrlimit(Resource::Fsize).current;
    let length = length
        .map_or("files of unlimited size".into(), |it| format!("files of at most {}", size(it)));
    format!("{files}, {length}")
}

/// Returns flags for a search that uses all resources and leaves the machine usable.
fn suggested(memory: Option<u64>, disk: &DiskProbe) -> String {
    let dir = disk.dir.join("NAME");
    let memory = memory.map(|it| (it / 4 * 3) >> 20).filter(|it| *it >= 64);
    let memory = memory.map_or(String::new(), |it| format!(" --memory {it}MiB"));
    let limit = (disk.free / 10 * 9) >> 20;
    format!("spillway check MODEL{memory} --dir {} --disk-limit {limit}MiB", dir.display())
}
