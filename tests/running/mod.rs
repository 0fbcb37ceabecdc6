//! Searches that somebody looks at while they run: on a terminal, in a log.

use super::{Bench, Ran};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// With more levels than are searched in a day, of one state each.
const ENDLESS: &str = "int x; int y;
process P { state a; init a; trans a -> a { guard x < 30000; effect x = x + 1; },
  a -> a { guard x == 30000 and y < 30000; effect x = 0, y = y + 1; }; }
system async;
";

/// Nothing that is waited for takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A terminal: the side of whoever looks at it, and the side of a command.
fn terminal() -> (File, File) {
    let (mut ours, mut theirs) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: the two numbers are written, and nothing else is given.
    let made = unsafe { libc::openpty(&mut ours, &mut theirs, null, null.cast(), null.cast()) };
    assert_eq!(made, 0);
    // SAFETY: both were opened just now, and belong to nobody else.
    unsafe { (File::from_raw_fd(ours), File::from_raw_fd(theirs)) }
}

fn resize(terminal: &File, columns: u16) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request reads a size, and that is one.
    let told = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    assert_eq!(told, 0);
}

/// What a command drew on a terminal.
struct Drawn {
    terminal: File,
    text: String,
}

impl Drawn {
    /// Waits for a line that is drawn after this and is one.
    fn wait_for(&mut self, is_one: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        let from = self.text.len();
        loop {
            let mut lines: Vec<&str> = self.text[from..].split("\r").collect();
            // It may not be whole yet.
            lines.pop();
            let lines = lines.into_iter().map(|line| line.trim_start_matches("\x1b[J").trim());
            if let Some(line) = lines.into_iter().find(|line| is_one(line)) {
                return line.to_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "{}", self.text);
            let mut piece = [0; 512];
            let count = self.terminal.read(&mut piece).unwrap();
            self.text += std::str::from_utf8(&piece[..count]).unwrap();
        }
    }
}

#[test]
fn the_line_on_a_terminal_fits_it_also_when_it_is_resized() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    let (ours, theirs) = terminal();
    resize(&ours, 120);
    let mut command = bench.command(&["check", &model, "--memory", "64MiB", "--threads", "1"]);
    command.env("TERM", "xterm").stdout(Stdio::null()).stderr(Stdio::from(theirs));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut drawn = Drawn { terminal: ours, text: String::new() };
    let is_whole = |line: &str| line.starts_with("0:0") && line.contains("/64 MiB");
    let wide = drawn.wait_for(|line| is_whole(line) && line.contains("frontier 1  "));
    assert!(wide.contains(" states  ") && wide.contains("  level "), "{wide}");
    assert!(wide.contains("/s  ") && wide.contains("  disk "), "{wide}");
    let note = drawn.wait_for(|line| line.starts_with("note: "));
    let dir = bench.path("tmp").join(&bench.files("tmp")[0]).display().to_string();
    assert!(note.contains(&dir) && note.contains(&format!("`spillway resume {dir}`")), "{note}");
    for columns in [40, 20, 100, 5] {
        resize(&drawn.terminal, columns);
        // One may have been begun before.
        drawn.wait_for(|line| line.starts_with("0:0"));
        drawn.wait_for(|line| line.starts_with("0:0"));
        let from = drawn.text.len();
        for _ in 0..3 {
            drawn.wait_for(|line| line.starts_with("0:0"));
        }
        let lines = drawn.text[from..].split("\r").map(|it| it.trim_start_matches("\x1b[J"));
        for line in lines {
            assert!(line.len() <= usize::from(columns), "{columns}: {line:?}");
        }
    }
    signal(&child, "-TERM");
    drawn.wait_for(|line| line.contains("stopped at a checkpoint"));
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // The line is taken away before anything else is said.
    let (_, end) = drawn.text.rsplit_once("0:0").unwrap();
    assert!(end.contains("\r\x1b[Jstopped at a checkpoint"), "{end:?}");
}

#[test]
fn a_log_gets_plain_lines_and_the_name_of_a_temporary_directory() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    for json in [false, true] {
        let flags = ["--memory", "64MiB", "--threads", "1"];
        let asked = if json { &["--json"][..] } else { &[] };
        let mut command = bench.command(&[&["check", &model], &flags[..], asked].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        let note = next();
        assert!(note.starts_with("note: the search is kept in "), "{note}");
        if !json {
            let line = next();
            assert!(line.starts_with("0:") && line.contains("/64 MiB"), "{line}");
            assert!(line.len() <= 80 && line.is_ascii(), "{line}");
        }
        signal(&child, "-TERM");
        let end = next();
        assert!(end.starts_with("stopped at a checkpoint"), "{end}");
        assert!(lines.next().is_none());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 3);
    }
}
