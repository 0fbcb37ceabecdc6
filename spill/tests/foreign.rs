//! Tests with foreign objects in the directory. Whatever has the name of a file, nothing outside the directory is
//! changed or read, and no operation blocks.

use rustix::fs::{CWD, Mode, mkfifoat};
use spill::{Disk, Error, PayloadFormat, RealDisk, Result, commit, load_value};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;
use tempfile::TempDir;

const FORMAT: PayloadFormat = PayloadFormat { magic: *b"TESTFILE", version: 3 };
const LETTER: &str = "dear reader, this is more than ten bytes";

/// A directory, and a file outside.
struct ForeignDirectory {
    folder: TempDir,
}

impl ForeignDirectory {
    fn new() -> ForeignDirectory {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("letter"), LETTER).unwrap();
        ForeignDirectory { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn disk(&self) -> RealDisk {
        RealDisk::open(self.at("d")).unwrap()
    }
}

/// Objects that may be in the place of a file, each with the words that describe it.
type PlantedObject = (&'static str, fn(&Path, &Path));

const PLANTED: [PlantedObject; 5] = [
    ("symbolic link", |place, letter| symlink(letter, place).unwrap()),
    ("symbolic link", |place, _| symlink("nowhere", place).unwrap()),
    ("symbolic link", |place, _| symlink("/dev/zero", place).unwrap()),
    ("pipe", |place, _| mkfifoat(CWD, place, Mode::RUSR | Mode::WUSR).unwrap()),
    ("folder", |place, _| fs::create_dir(place).unwrap()),
];

/// Returns the result of `work`, which must arrive soon.
fn run_promptly<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(work()));
    ended.recv_timeout(Duration::from_secs(20)).expect("it does not wait")
}

#[test]
fn only_regular_files_are_opened() {
    type Opens = fn(&RealDisk) -> Result<()>;
    let opens: [(&str, Opens); 7] = [
        ("levels-000", |disk| disk.read("levels-000").map(drop)),
        ("levels-000", |disk| disk.map("levels-000", 0..10).map(drop)),
        ("levels-000", |disk| disk.append_at("levels-000", 10).map(drop)),
        ("levels-000", |disk| disk.open_to_read("levels-000").map(drop)),
        ("levels-000", |disk| disk.open_to_append("levels-000").map(drop)),
        (RealDisk::LOCK, RealDisk::lock),
        ("job", |disk| load_value::<u64>(disk, "job", FORMAT).map(drop)),
    ];
    for (what, plant) in PLANTED {
        for (name, open) in opens {
            let foreign = ForeignDirectory::new();
            plant(&foreign.at("d").join(name), &foreign.at("letter"));
            let disk = foreign.disk();
            let error = run_promptly(move || open(&disk)).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(what), "{name}: {error}");
            assert_eq!(fs::read_to_string(foreign.at("letter")).unwrap(), LETTER);
            assert!(!foreign.at("d/nowhere").exists());
        }
        let foreign = ForeignDirectory::new();
        plant(&foreign.at("d").join(RealDisk::LOCK), &foreign.at("letter"));
        let disk = foreign.disk();
        assert!(!run_promptly(move || disk.is_locked()), "{what}");
    }
}

#[test]
fn replacing_and_removing_do_not_follow_links() {
    for (what, plant) in PLANTED {
        let foreign = ForeignDirectory::new();
        for name in ["created", "manifest.new", "removed"] {
            plant(&foreign.at("d").join(name), &foreign.at("letter"));
        }
        let disk = foreign.disk();
        let done = run_promptly(move || {
            let created = disk.create("created").map(drop);
            let committed = commit(&disk, "manifest", FORMAT, b"payload");
            [created, committed, disk.remove("removed")]
        });
        for done in done {
            match done {
                Ok(()) => assert_ne!(what, "folder"),
                Err(error) => assert!(what == "folder" && error.to_string().contains(what)),
            }
        }
        assert_eq!(fs::read_to_string(foreign.at("letter")).unwrap(), LETTER);
    }
}

#[test]
fn a_file_with_a_hard_link_is_not_appended_to() {
    let foreign = ForeignDirectory::new();
    let disk = foreign.disk();
    for name in ["levels-000", "events.jsonl", "replaced"] {
        fs::hard_link(foreign.at("letter"), foreign.at("d").join(name)).unwrap();
    }
    let said = "it has another name (a hard link): replace it by a copy";
    let refused =
        [disk.append_at("levels-000", 10).map(drop), disk.open_to_append("events.jsonl").map(drop)];
    for refused in refused {
        assert!(refused.unwrap_err().to_string().ends_with(said));
    }
    // A file that is only read, or replaced as a whole, may have a second link.
    assert_eq!(disk.read("levels-000").unwrap(), LETTER.as_bytes());
    disk.create("replaced").unwrap().write(b"other").unwrap();
    assert_eq!(fs::read_to_string(foreign.at("letter")).unwrap(), LETTER);
}

#[test]
fn a_pipe_is_no_directory() {
    let foreign = ForeignDirectory::new();
    mkfifoat(CWD, foreign.at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    for name in ["pipe", "letter"] {
        let place = foreign.at(name);
        let error = run_promptly(move || RealDisk::open(place)).unwrap_err().to_string();
        assert!(error.contains("Not a directory"), "{name}: {error}");
    }
}

/// A sparse file has any length and takes no space: its beginning decides the rejection.
#[test]
fn a_foreign_file_is_rejected_by_its_header() {
    let foreign = ForeignDirectory::new();
    let disk = foreign.disk();
    commit(&disk, "job", FORMAT, &[7; 100]).unwrap();
    let job = fs::OpenOptions::new().write(true).open(foreign.at("d/job")).unwrap();
    job.set_len(1 << 40).unwrap();
    let holes = fs::File::create(foreign.at("d/manifest")).unwrap();
    holes.set_len(1 << 40).unwrap();
    for (name, said) in [
        ("job", "the payload has 1099511627748 bytes instead of 100"),
        ("manifest", "it begins with \"\\x00"),
    ] {
        let error = load_value::<u64>(&disk, name, FORMAT).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn messages_of_the_decoder_are_not_shown() {
    let foreign = ForeignDirectory::new();
    let disk = foreign.disk();
    // Pointers that lead outside, and an invalid text.
    for payload in [vec![0xff; 64], vec![0x80; 24], Vec::new(), vec![1; 3]] {
        commit(&disk, "job", FORMAT, &payload).unwrap();
        let error = load_value::<(String, Vec<String>)>(&disk, "job", FORMAT).unwrap_err();
        let said = "job is damaged at byte 28: the parts of the payload do not fit together";
        assert_eq!(error.to_string(), said);
    }
}
