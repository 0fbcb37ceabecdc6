//! Runs TLC in one virtual machine that answers for one module after the other (`Evaluate.java`).

use super::answers::{Answers, SearchAnswer, SearchCounts};
use super::modules::{CONFIGURATION, expression_count};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The environment variable with TLC's class path: `tla2tools.jar`, or the folders of its classes and libraries.
pub const CLASS_PATH: &str = "TLC_CLASSPATH";

/// The time limit for a module. A virtual machine that takes longer is killed.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The maximum number of modules for a virtual machine. It is then replaced, because TLC keeps all modules in memory.
const MODULES_MAX: u32 = 500;

const EVALUATE: &str = include_str!("Evaluate.java");

/// The outcome for a module.
pub enum TlcAnswer {
    Answers(Answers),
    /// TLC rejected the module. Contains the message.
    Refused(String),
    /// TLC did not finish. Contains the reason.
    GaveUp(String),
}

/// TLC.
pub struct Tlc {
    class_path: String,
    folder: PathBuf,
    machine: Option<Machine>,
}

/// A virtual machine.
struct Machine {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    modules: u32,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // An error means that the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tlc {
    /// Returns TLC if the environment variable names its class path. `folder` is for its files.
    pub fn find(folder: &Path) -> Option<Self> {
        let class_path = std::env::var(CLASS_PATH).ok()?;
        Some(Self { class_path, folder: folder.to_owned(), machine: None })
    }

    /// Returns TLC's answers for a module.
    pub fn answers(&mut self, text: &str) -> TlcAnswer {
        match self.request(text) {
            Ok(lines) => parse(&lines),
            Err(reason) => {
                self.machine = None;
                TlcAnswer::GaveUp(reason)
            }
        }
    }

    fn request(&mut self, text: &str) -> Result<Vec<String>, String> {
        let write = |name: &str, text: &str| {
            std::fs::write(self.folder.join(name), text)
                .map_err(|error| format!("{name} cannot be written: {error}"))
        };
        write("Model.tla", text)?;
        write("Model.cfg", CONFIGURATION)?;
        if self.machine.as_ref().is_none_or(|it| it.modules >= MODULES_MAX) {
            write("Evaluate.java", EVALUATE)?;
            self.machine = Some(self.start()?);
        }
        let machine = self.machine.as_mut().expect("it is started");
        machine.modules += 1;
        let request = format!("{} {}\n", self.folder.display(), expression_count(text));
        machine.requests.write_all(request.as_bytes()).map_err(|it| format!("java: {it}"))?;
        let mut lines = Vec::new();
        loop {
            let line = machine.answers.recv_timeout(TIME_LIMIT);
            match line.map_err(|_| "it does not answer".to_owned())? {
                line if line == "end" => return Ok(lines),
                line => lines.push(line),
            }
        }
    }

    fn start(&self) -> Result<Machine, String> {
        let mut command = Command::new("java");
        command.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m", "-cp"]);
        command.arg(&self.class_path).arg(self.folder.join("Evaluate.java"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("java: {error}"))?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped")
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.map(|it| sender.send(it)).take_while(Result::is_ok).for_each(drop);
        });
        Ok(Machine { child, requests, answers, modules: 0 })
    }
}

fn parse(lines: &[String]) -> TlcAnswer {
    let (mut values, mut search) = (Vec::new(), None);
    for line in lines {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let after_number = rest.split_once(' ').map_or("", |it| it.1).to_owned();
        match what {
            "refused" => return TlcAnswer::Refused(rest.to_owned()),
            "value" => values.push(Ok(after_number)),
            "failed" => values.push(Err(after_number)),
            "search" => search = parse_search(rest),
            _ => return TlcAnswer::GaveUp(format!("it says {line}")),
        }
    }
    match search {
        Some(search) => TlcAnswer::Answers(Answers { values, search }),
        None => TlcAnswer::GaveUp(format!("it says {lines:?}")),
    }
}

fn parse_search(text: &str) -> Option<SearchAnswer> {
    let (what, rest) = text.split_once(' ').unwrap_or((text, ""));
    let numbers: Vec<u64> = rest.split(' ').map_while(|it| it.parse().ok()).collect();
    match (what, &numbers[..]) {
        ("verified", &[distinct, generated, levels, ref deadlock @ ..]) => {
            let deadlock = deadlock.first().copied();
            Some(SearchAnswer::Verified(SearchCounts { distinct, generated, levels, deadlock }))
        }
        ("invariant", &[level]) => Some(SearchAnswer::Violated { level }),
        ("failed", _) => Some(SearchAnswer::Failed(rest.to_owned())),
        ("large", _) => Some(SearchAnswer::Large),
        _ => None,
    }
}
