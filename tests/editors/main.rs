//! Sessions of editors with `lsp` and `dap`, as recorded transcripts.
//!
//! A file of `sessions/` is a session. Its name begins with the name of the server's command. Its lines are:
//!
//! | line | meaning |
//! | --- | --- |
//! | `# TEXT` | a comment |
//! | `flags TEXT` | flags of the server, before all messages |
//! | `folder NAME` | the working folder of the server below that of the models, before all messages |
//! | `run TEXT` | runs a command of `spillway` in the folder before the first message |
//! | `-> JSON` | a message to the server; a request waits for its response |
//! | `>> JSON` | a message to the server that waits for nothing |
//! | `raw TEXT` | the content of a message that is no JSON |
//! | `wait NAME` | waits for a notification or an event of this name |
//! | `wait NAME FILE` | waits for a notification about a file; the server may send one for each file of a model |
//! | `wait response N` | waits for the response to a request |
//! | `<- JSON` | a message of the server, in order |
//! | `exit N` | the end of the input, and the exit code |
//!
//! `$DIR` is a folder with the files of `models/`. `cargo test --test editors -- --ignored renew` records the messages
//! of the server again.

use serde_json::{Value, json};
use spillway::front::{LANGUAGES, Language};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The longest time for a message, so that a server that hangs fails the test. No session depends on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the messages that it has sent.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    folder: tempfile::TempDir,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/editors").join(name)
}

impl Server {
    fn start(command: &str, flags: &[&str], working: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(self::folder("models")).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        let temporary = folder.path().join("tmp");
        fs::create_dir(&temporary).unwrap();
        let working = folder.path().join(working);
        fs::create_dir_all(&working).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_spillway"))
            .arg(command)
            .args(flags)
            .current_dir(working)
            .env("TMPDIR", &temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read_message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Server { child, input, output: messages, folder }
    }

    /// Text with the folder in place of `$DIR`.
    fn filled(&self, text: &str) -> String {
        text.replace("$DIR", &self.folder.path().display().to_string())
    }

    /// Runs a command in the folder.
    fn run(&self, args: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
        let output =
            command.args(args.split(' ')).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.code().is_some_and(|it| it < 2), "{args}: {output:?}");
    }

    fn send(&mut self, content: &str) {
        let content = self.filled(content);
        let message = format!("Content-Length: {}\r\n\r\n{content}", content.len());
        let input = self.input.as_mut().unwrap();
        input.write_all(message.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    /// The next message, without what differs from run to run.
    fn receive(&self) -> Value {
        let message = self.output.recv_timeout(PATIENCE).expect("the server sends nothing more");
        self.normalised(&message)
    }

    fn normalised(&self, message: &Value) -> Value {
        let text = message.to_string();
        let text = text.replace(&self.folder.path().display().to_string(), "$DIR");
        let text = text.replace(concat!("\"", env!("CARGO_PKG_VERSION"), "\""), "\"VERSION\"");
        serde_json::from_str(&text).unwrap()
    }

    /// Receives messages up to a wanted one, and records them.
    fn receive_until(&self, is_wanted: impl Fn(&Value) -> bool, lines: &mut String) {
        loop {
            let message = self.receive();
            writeln!(lines, "<- {message}").unwrap();
            if is_wanted(&message) {
                return;
            }
        }
    }

    /// Ends the input. Records the last messages and the exit code.
    fn end(mut self, lines: &mut String) {
        drop(self.input.take());
        let code = self.child.wait().unwrap().code().unwrap();
        while let Ok(message) = self.output.recv() {
            writeln!(lines, "<- {}", self.normalised(&message)).unwrap();
        }
        writeln!(lines, "exit {code}").unwrap();
        let remaining = fs::read_dir(self.folder.path().join("tmp")).unwrap().count();
        assert_eq!(remaining, 0, "files are left in the temporary directory");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => length = line.strip_prefix("Content-Length: ").map(|it| it.parse().unwrap()),
        }
    }
    let mut content = vec![0; length?];
    output.read_exact(&mut content).ok()?;
    Some(serde_json::from_slice(&content).unwrap())
}

/// Whether a message is the response to a request, in either protocol.
fn responds_to(message: &Value, request: &Value) -> bool {
    match request.get("seq") {
        Some(number) => message["type"] == "response" && message["request_seq"] == *number,
        None => message.get("method").is_none() && message["id"] == request["id"],
    }
}

fn is_request(message: &Value) -> bool {
    message.get("id").is_some() || message["type"] == "request"
}

/// Repeats a session. Returns its lines with the received messages.
fn repeat(command: &str, session: &str) -> String {
    let flags = session.lines().find_map(|it| it.strip_prefix("flags "));
    let flags: Vec<&str> = flags.unwrap_or_default().split_whitespace().collect();
    let working = session.lines().find_map(|it| it.strip_prefix("folder "));
    let mut server = Server::start(command, &flags, working.unwrap_or_default());
    let mut lines = String::new();
    for line in session.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !matches!(word, "<-" | "exit") {
            writeln!(lines, "{line}").unwrap();
        }
        match word {
            "->" => {
                let message: Value = serde_json::from_str(rest).unwrap();
                server.send(rest);
                if is_request(&message) {
                    server.receive_until(|it| responds_to(it, &message), &mut lines);
                }
            }
            ">>" => server.send(rest),
            "raw" => {
                server.send(rest);
                server.receive_until(|_| true, &mut lines);
            }
            "wait" => match rest.strip_prefix("response ") {
                Some(number) => {
                    let id: Value = serde_json::from_str(number).unwrap();
                    let request = match command {
                        "lsp" => json!({ "id": id }),
                        _ => json!({ "seq": id }),
                    };
                    server.receive_until(|it| responds_to(it, &request), &mut lines);
                }
                None => {
                    let (name, file) = rest.split_once(' ').unwrap_or((rest, ""));
                    let is_about = |it: &Value| {
                        file.is_empty() || it["params"]["uri"] == format!("file://$DIR/{file}")
                    };
                    let is_wanted =
                        |it: &Value| (it["method"] == name || it["event"] == name) && is_about(it);
                    server.receive_until(is_wanted, &mut lines);
                }
            },
            "exit" => {
                server.end(&mut lines);
                return lines;
            }
            "run" => server.run(rest),
            "#" | "" | "flags" | "folder" | "<-" => {}
            _ => panic!("no line of a session: {line}"),
        }
    }
    server.end(&mut lines);
    lines
}

/// The sessions: path, command, lines.
fn sessions() -> Vec<(PathBuf, String, String)> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder("sessions")).unwrap().map(|it| it.unwrap().path()).collect();
    all.sort();
    let session = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let command = name.split('-').next().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        (path, command, text)
    };
    all.into_iter().map(session).collect()
}

#[test]
fn sessions_equal_their_recording() {
    let all = sessions();
    assert!(all.len() > 8, "{} sessions", all.len());
    for (path, command, text) in all {
        let name = path.display();
        // Shown if the session fails.
        println!("{name}");
        let actual = repeat(&command, &text);
        for (number, (actual, wanted)) in actual.lines().zip(text.lines()).enumerate() {
            assert_eq!(actual, wanted, "{name}:{}", number + 1);
        }
        assert_eq!(actual.lines().count(), text.lines().count(), "{name}");
    }
}

/// Without a readable header, the next message cannot be found, so the server ends.
#[test]
fn malformed_headers_end_the_server() {
    for (bytes, why) in [
        ("Content-Length\r\n\r\n", "Content-Length"),
        ("Content-Type: json\r\n\r\n{}", "there is no Content-Length"),
        ("Content-Length: 9999999999\r\n\r\n", "the message is longer than 256 MiB"),
    ] {
        for command in ["lsp", "dap"] {
            let mut spillway = Command::new(env!("CARGO_BIN_EXE_spillway"));
            spillway.arg(command).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = spillway.stderr(Stdio::piped()).spawn().unwrap();
            let _ = child.stdin.take().unwrap().write_all(bytes.as_bytes());
            let output = child.wait_with_output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(message, format!("error: malformed header of a message: {why}\n"));
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{command}");
        }
    }
}

/// The extension of VS Code has the version of the program and each language, and no other file endings.
#[test]
fn the_extension_lists_all_languages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode/package.json");
    let manifest: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let listed = manifest["contributes"]["languages"].as_array().unwrap();
    let mut known = Vec::new();
    for entry in listed {
        let endings = entry["extensions"].as_array().unwrap().iter();
        let languages: Vec<&str> = endings
            .map(|it| Language::from_file_name(&format!("model{}", it.as_str().unwrap())))
            .map(|it| it.unwrap_or_else(|| panic!("{entry}")).name)
            .collect();
        assert!(languages.iter().all(|it| *it == languages[0]), "{entry}");
        known.push(languages[0]);
    }
    known.sort_unstable();
    assert_eq!(known, LANGUAGES.iter().map(|it| it.name).collect::<Vec<_>>());
}

#[test]
#[ignore = "records the messages of the servers again"]
fn renew() {
    for (path, command, text) in sessions() {
        fs::write(path, repeat(&command, &text)).unwrap();
    }
}
