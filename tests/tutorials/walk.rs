//! A walk through a page: its files are written, its commands are run, and their output is compared or renewed.

use super::blocks::{Block, BlockUse, blocks};
use super::masked::masked;
use super::masked_rows::mask_row;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A difference between a page and the program.
#[derive(Debug, PartialEq, Eq)]
pub struct PageMismatch {
    /// The page, by its path from the root of the repository.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The difference.
    pub what: String,
}

impl fmt::Display for PageMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.what)
    }
}

/// The requirements on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Every block is tested, and only the figures of the row `found` may differ.
    Tutorial,
    /// Every command is run or skipped for a reason. Other blocks may illustrate. The folder has the models of the
    /// repository. Figures of time, memory and disk in other rows may differ, too.
    Reference,
}

/// The options of a walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkOptions {
    /// The requirements on the page.
    pub kind: PageKind,
    /// Whether the commands of other checkers are run.
    pub runs_other_checkers: bool,
    /// Whether different output is collected instead of rejected.
    pub renews: bool,
}

/// The lines of a page that show the output of a command, and its current output.
struct Renewal {
    /// The first of these lines, from 0.
    from: usize,
    /// The line after the last, from 0.
    until: usize,
    /// The output.
    printed: String,
}

/// The state of a walk.
struct Walk<'p> {
    name: &'p str,
    options: WalkOptions,
    home: PathBuf,
    /// The working folder of the next command.
    folder: PathBuf,
    /// The exit code of the last command.
    code: i32,
    /// The line of the last command, if the page must show its exit code and has not yet.
    unreported: Option<usize>,
    /// The number of commands that were run.
    commands: usize,
    renewals: Vec<Renewal>,
}

/// A command of a page with the output that the page shows.
struct ShownCommand<'p> {
    /// The line of the command, from 1.
    line: usize,
    command: &'p str,
    /// The output that the page shows.
    expected: String,
    /// Whether the command is another checker's.
    is_other: bool,
}

/// The result of a walk.
#[derive(Debug, PartialEq, Eq)]
pub struct WalkResult {
    /// The number of commands that were run.
    pub commands: usize,
    /// The page with the current output.
    pub page: String,
}

/// Walks through a page in a folder.
pub fn walk(
    name: &str,
    page: &str,
    home: &Path,
    options: WalkOptions,
) -> Result<WalkResult, PageMismatch> {
    let mut walk = Walk {
        name,
        options,
        home: home.to_path_buf(),
        folder: home.to_path_buf(),
        code: 0,
        unreported: None,
        commands: 0,
        renewals: Vec::new(),
    };
    for block in blocks(page) {
        walk.block(&block)?;
    }
    match walk.unreported {
        Some(line) => Err(walk.at(line, "ends in a way that the page does not tell")),
        None => Ok(WalkResult { commands: walk.commands, page: renewed(page, &walk.renewals) }),
    }
}

/// The page with the current output.
fn renewed(page: &str, renewals: &[Renewal]) -> String {
    let (mut out, mut next) = (String::new(), 0);
    let lines: Vec<&str> = page.split_inclusive('\n').collect();
    for it in renewals {
        out += &lines[next..it.from].concat();
        out += &it.printed;
        next = it.until;
    }
    out + &lines[next..].concat()
}

impl Walk<'_> {
    fn at(&self, line: usize, what: &str) -> PageMismatch {
        PageMismatch { name: self.name.to_owned(), line, what: what.to_owned() }
    }

    /// Executes a block.
    fn block(&mut self, block: &Block) -> Result<(), PageMismatch> {
        let is_tutorial = self.options.kind == PageKind::Tutorial;
        match block.usage() {
            Some(BlockUse::Commands) => self.console(block, false),
            Some(BlockUse::CommandsOfOther) => self.console(block, true),
            Some(BlockUse::Edit(file)) => self.edit(block, file),
            Some(BlockUse::File(file)) => {
                self.write(file, &block.text);
                Ok(())
            }
            Some(BlockUse::Append(file)) => {
                let before = std::fs::read_to_string(self.home.join(file)).unwrap();
                self.write(file, &(before + &block.text));
                Ok(())
            }
            Some(BlockUse::Script) if !is_tutorial => self.script(block),
            Some(BlockUse::Skipped | BlockUse::Illustration) if !is_tutorial => Ok(()),
            _ => Err(self.at(block.line, "a block that the test does not know")),
        }
    }

    fn write(&self, file: &str, text: &str) {
        // A tutorial's program depends on a copy of the library in a neighbouring folder. The test has the library
        // elsewhere.
        let library = format!("\"{}\"", env!("CARGO_MANIFEST_DIR"));
        let text = text.replace("\"../spillway\"", &library);
        let to = self.home.join(file);
        if to.ends_with("Cargo.toml") {
            // Without a network, only locked versions are available.
            let lock_file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock");
            std::fs::copy(lock_file, to.with_file_name("Cargo.lock")).unwrap();
        }
        std::fs::write(to, text).unwrap();
    }

    fn edit(&self, block: &Block, file: &str) -> Result<(), PageMismatch> {
        let side = |other: char| -> String {
            let lines = block.text.lines().filter(|line| !line.starts_with(other));
            lines.flat_map(|line| [line.get(1..).unwrap_or_default(), "\n"]).collect()
        };
        let (old, new) = (side('+'), side('-'));
        let text = std::fs::read_to_string(self.home.join(file)).unwrap();
        match text.matches(&old).count() {
            1 => self.write(file, &text.replace(&old, &new)),
            many => {
                return Err(self.at(block.line, &format!("these lines are {many} times in {file}")));
            }
        }
        Ok(())
    }

    /// Runs the lines of a block as one script, each command of which must succeed.
    fn script(&mut self, block: &Block) -> Result<(), PageMismatch> {
        self.commands += 1;
        let printed = self.run(&format!("set -e\n{}", block.text));
        match self.code {
            0 => Ok(()),
            code => Err(self.at(block.line, &format!("ends with {code} and prints\n{printed}"))),
        }
    }

    fn console(&mut self, block: &Block, is_other: bool) -> Result<(), PageMismatch> {
        let mut lines = block.text.lines().enumerate().peekable();
        while let Some((at, line)) = lines.next() {
            let at = block.line + at + 1;
            let Some(command) = line.strip_prefix("$ ") else {
                return Err(self.at(at, "output of no command"));
            };
            let mut expected = String::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| !line.starts_with("$ ")) {
                expected += line;
                expected += "\n";
            }
            if !is_other || self.options.runs_other_checkers {
                self.command(&ShownCommand { line: at, command, expected, is_other })?;
            }
        }
        Ok(())
    }

    /// Whether a command prints the output on the page.
    fn is_same(&self, printed: &str, shown: &ShownCommand) -> bool {
        if shown.is_other {
            return fits(printed, &shown.expected);
        }
        let compared = |out: &str| match self.options.kind {
            PageKind::Tutorial => masked(out),
            PageKind::Reference => {
                let lines = masked(out);
                lines.lines().map(comparable).collect::<Vec<_>>().join("\n")
            }
        };
        compared(printed) == compared(&shown.expected)
    }

    /// Runs a command and compares its output.
    fn command(&mut self, shown: &ShownCommand) -> Result<(), PageMismatch> {
        self.commands += 1;
        if shown.command == "echo $?" {
            self.unreported = None;
        }
        if let Some(line) = self.unreported {
            let message = format!("ends with {}, which the page does not tell", self.code);
            return Err(self.at(line, &message));
        }
        if let Some(folder) = shown.command.strip_prefix("cd ") {
            self.folder.push(folder);
            return Ok(());
        }
        let printed = self.run(shown.command);
        // A reference page shows an error by its message.
        let is_reference = self.options.kind == PageKind::Reference;
        if !is_reference && !matches!(self.code, 0 | 1) {
            self.unreported = Some(shown.line);
        }
        if self.is_same(&printed, shown) {
            return Ok(());
        }
        if self.options.renews && !shown.is_other {
            let until = shown.line + shown.expected.lines().count();
            let printed = with_figures_of(&shown.expected, &printed);
            self.renewals.push(Renewal { from: shown.line, until, printed });
            return Ok(());
        }
        let (command, expected) = (shown.command, &shown.expected);
        let what = format!("`{command}` prints\n{printed}\nand the page says\n{expected}");
        Err(self.at(shown.line, &what))
    }

    /// Runs a command. Returns its output.
    fn run(&mut self, command: &str) -> String {
        let built = Path::new(env!("CARGO_BIN_EXE_spillway")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = [built.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec 2>&1\n(exit {})\n{command}", self.code));
        shell.current_dir(&self.folder).env("PATH", std::env::join_paths(paths).unwrap());
        shell.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorials"));
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never");
        // Pages compile the library. Debugging information and incremental compilation only cost time and disk here.
        shell.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0");
        shell.env("RUST_BACKTRACE", "0");
        if self.options.kind == PageKind::Reference {
            // `status --all` in a page lists and removes only searches of the page.
            shell.env("TMPDIR", &self.home);
        }
        let output = shell.output().unwrap();
        self.code = output.status.code().unwrap_or(-1);
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Rows with times and sizes that depend on the machine or on the build, with their units.
const FIGURE_ROWS: [&str; 10] = [
    "error: a memory budget of ",
    "  ended    ",
    "  memory   ",
    "  time     ",
    "  disk     ",
    "  program and model ",
    "  reserve ",
    "  candidates ",
    "  young runs ",
    "  filter ",
];

/// A line of a page, without the figures that differ each time.
fn comparable(line: &str) -> String {
    if !FIGURE_ROWS.iter().any(|it| line.starts_with(it)) {
        return mask_row(line);
    }
    let has_figure = |word: &str| word.contains(|it: char| it.is_ascii_digit());
    let words = line.split_whitespace().map(|word| if has_figure(word) { "*" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// An output with the times and sizes of an older output in the rows that are otherwise equal. So a renewed page has no
/// other changes.
fn with_figures_of(old: &str, new: &str) -> String {
    let rows = |out: &str| {
        let mut rows: Vec<String> = Vec::new();
        for line in out.split_inclusive('\n') {
            match rows
                .last_mut()
                .filter(|it| it.starts_with("  found ") && line.starts_with("     "))
            {
                Some(row) => *row += line,
                None => rows.push(line.to_owned()),
            }
        }
        rows
    };
    let old = rows(old);
    let with_old_figures = |row: String| {
        let same = old.iter().find(|it| masked(it.as_str()) == masked(&row));
        same.filter(|_| row.starts_with("  found ")).cloned().unwrap_or(row)
    };
    rows(new).into_iter().map(with_old_figures).collect()
}

/// Whether the output matches the expected lines. `…` in them replaces omitted text.
fn fits(printed: &str, expected: &str) -> bool {
    fn lines_fit(printed: &[&str], expected: &[&str]) -> bool {
        match expected {
            [] => printed.is_empty(),
            ["…", rest @ ..] => (0..=printed.len()).any(|left| lines_fit(&printed[left..], rest)),
            [line, rest @ ..] => match printed {
                [] => false,
                [first, others @ ..] => line_fits(first, line) && lines_fit(others, rest),
            },
        }
    }
    fn line_fits(printed: &str, expected: &str) -> bool {
        let Some((start, rest)) = expected.split_once('…') else { return printed == expected };
        let Some(tail) = printed.strip_prefix(start) else { return false };
        let mut ends = tail.char_indices().map(|(at, _)| at).chain([tail.len()]);
        ends.any(|at| line_fits(&tail[at..], rest))
    }
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let expected: Vec<&str> = expected.lines().collect();
    lines_fit(&printed, &expected)
}
