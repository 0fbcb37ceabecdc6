//! All printed output, word for word, except what `tests/told.rs` and the tutorials cover.

mod again;
mod asked;
mod branching;
mod browsed;
mod constrained;
mod covers;
mod dives;
mod drawn;
mod experts;
mod explored;
mod explored_stops;
mod files;
mod folded;
mod hostile;
mod hunts;
mod page;
mod peers;
mod questions;
mod schema;
#[cfg(target_os = "linux")]
mod screens;
mod served;
mod several;
mod sites;
mod specifications;
mod values;
mod walks;
mod watch;

use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

#[path = "../support/incorrect_models.rs"]
mod incorrect_models;
#[path = "../support/masked.rs"]
mod masked;
#[path = "../support/masked_rows.rs"]
mod masked_rows;

/// A folder to run commands in.
struct Folder(TempDir);

/// What a command came to.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Folder {
    /// With one file in it.
    fn with(name: &str, text: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path("tmp")).unwrap();
        folder.write(name, text);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.answered(args, "")
    }

    /// Runs a command that reads this.
    fn answered(&self, args: &[&str], answers: &str) -> Ran {
        self.write("answers", answers);
        let answers = std::fs::File::open(self.path("answers")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
        command.stdin(answers);
        let ran = command
            .current_dir(&self.0)
            .env("TMPDIR", self.path("tmp"))
            .args(args)
            .output()
            .unwrap();
        let [out, err] = [ran.stdout, ran.stderr].map(|it| String::from_utf8(it).unwrap());
        Ran { code: ran.status.code().unwrap(), out, err }
    }

    /// That a command ends so, and prints this, but for times and sizes, and nothing else.
    #[track_caller]
    fn prints(&self, args: &[&str], code: i32, expected: &str) {
        let ran = self.run(args);
        assert_eq!(masked::masked(&ran.out) + "\n", expected, "{}", ran.out);
        assert_eq!((ran.err.as_str(), ran.code), ("", code));
    }
}
