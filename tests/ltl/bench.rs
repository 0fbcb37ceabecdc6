//! A test bench: models in a temporary folder, and the command line in it.

use std::process::Command;
use tempfile::TempDir;

/// Moves to `b`, and may stay there.
const STAYS: &str = "byte x; process P { state a, b; init a;
trans a -> b { effect x = 1; }, b -> a { effect x = 0; }, b -> b { }; }
process L { state q1, q2; init q1; accept q2;
trans q1 -> q1 { }, q1 -> q2 { guard x == 1; }, q2 -> q2 { guard x == 1; }; }
system async property L;
";
/// Moves to `b`, and ends.
const ENDS: &str = "byte x; process P { state a, b; init a; trans a -> b { effect x = 1; }; }
system async;
";
const PROMELA: &str = "byte x; ltl reaches { <> (x == 3) }
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 1 od }
active proctype Q() { do :: skip od }
";
const MURPHI: &str = "var x: 0..3; startstate x := 0; end; rule x < 3 ==> x := x + 1; end;
rule x = 3 ==> x := 1; end;
";

/// A temporary folder with models.
pub struct Bench(pub TempDir);

/// The exit code and output of a command.
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    /// Whether the output shows a violating run: a lasso, or a finite run all of whose continuations violate the
    /// property.
    pub fn shows_run(&self) -> bool {
        let has = |it| self.out.contains(it);
        has("<<<the loop starts here>>>") || has("whatever follows now, the property is violated")
    }

    /// The output, with continuation lines joined.
    pub fn flat(&self) -> String {
        self.out.replace("\n           ", " ")
    }
}

impl Bench {
    /// A folder with these files.
    pub fn of<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Bench {
        let bench = Bench(tempfile::tempdir().unwrap());
        files.into_iter().for_each(|(name, text)| bench.write(name, text));
        bench
    }

    /// A folder with one or two models of each language.
    pub fn of_each_language() -> Bench {
        Bench::of([("stays.dve", STAYS), ("ends.dve", ENDS), ("m.pml", PROMELA), ("m.m", MURPHI)])
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    pub fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
        let out = command.current_dir(self.0.path()).args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        CommandOutput {
            code: out.status.code().unwrap(),
            out: text(out.stdout),
            err: text(out.stderr),
        }
    }
}
