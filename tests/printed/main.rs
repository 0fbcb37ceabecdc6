//! All printed output, word for word, except what `tests/check_output.rs` and the tutorials cover.

mod branching;
mod browser;
mod check_hunts;
mod command_line_conditions;
mod constraints;
mod covers;
mod expert_options;
mod explorer;
mod explorer_breakpoints;
mod exports;
mod folding;
mod hostile_peers;
mod hostile_texts;
mod hunts;
mod output_files;
mod page_server;
mod property_files;
mod report_page;
mod schema;
#[cfg(target_os = "linux")]
mod screens;
mod several_properties;
mod sites;
mod specifications;
mod suggested_commands;
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

/// The exit code and output of a command.
struct CommandOutput {
    code: i32,
    out: String,
    err: String,
}

impl Folder {
    /// A folder with one file.
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

    fn run(&self, args: &[&str]) -> CommandOutput {
        self.run_with_input(args, "")
    }

    /// Runs a command with this standard input.
    fn run_with_input(&self, args: &[&str], answers: &str) -> CommandOutput {
        self.write("answers", answers);
        let answers = std::fs::File::open(self.path("answers")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
        command.stdin(answers);
        let output = command
            .current_dir(&self.0)
            .env("TMPDIR", self.path("tmp"))
            .args(args)
            .output()
            .unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        CommandOutput { code: output.status.code().unwrap(), out, err }
    }

    /// Asserts the exit code and the standard output, with times and sizes masked, and an empty standard error.
    #[track_caller]
    fn assert_prints(&self, args: &[&str], code: i32, expected: &str) {
        let output = self.run(args);
        assert_eq!(masked::masked(&output.out) + "\n", expected, "{}", output.out);
        assert_eq!((output.err.as_str(), output.code), ("", code));
    }
}
