//! `watch`: its output for a search in any condition, and its answers to browsers.
//!
//! If Chromium is installed, it opens the page of a search until the search ends. Otherwise this part is skipped, with
//! a message.

use super::page_server::{PageResponse, send_request};
use super::report_page::{browser, read_page_title};
use super::{CommandOutput, Folder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Counts longer than any test runs.
const COUNT: &str = "int x; int y; process P { state a; init a; trans a -> a { guard x < 30000; effect x = x + 1; },
    a -> a { guard y < 30000; effect y = y + 1; }; } system async;";

/// A check of `COUNT` that stops in the first levels.
const STOPPED: [&str; 9] = [
    "check",
    "count.dve",
    "--max-states",
    "999",
    "--reduce",
    "none",
    "--no-deadlock",
    "--dir",
    "d",
];

pub(super) fn stopped() -> Folder {
    let folder = Folder::with("count.dve", COUNT);
    assert_eq!(folder.run(&STOPPED).code, 3);
    folder
}

impl Folder {
    /// The output of `watch` without a terminal.
    #[track_caller]
    fn watch_output(&self, dirs: &[&str]) -> String {
        let output = self.run(&[&["watch"], dirs].concat());
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        output.out
    }

    fn status(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("d/status.json")).unwrap()).unwrap()
    }

    /// Changes the directory as a session with this verdict does.
    fn write_ended_status(&self, verdict: Value, error: Option<&str>) {
        let mut status = self.status();
        status["verdict"] = verdict;
        self.write("d/status.json", &status.to_string());
        let mut events = std::fs::read_to_string(self.path("d/events.jsonl")).unwrap();
        let ended =
            json!({ "event": "ended", "seconds": 1.0, "verdict": "failed", "error": error });
        events += &format!("{ended}\n");
        self.write("d/events.jsonl", &events);
    }

    /// Starts `watch` with a page. Returns it and its address.
    pub(super) fn start_watch_server(&self, dirs: &[&str]) -> (Child, String) {
        self.start_server(&[&["watch", "--listen", "0"], dirs].concat())
    }
}

/// The response to a request: its status, its head, and its text.
fn request_page(address: &str, line: &str, host: &str) -> (u16, String, String) {
    let PageResponse { code, head, text } =
        send_request(address, line, &format!("Host: {host}\r\n"));
    (code, head, text)
}

#[test]
fn watch_reports_a_search_in_any_condition() {
    let folder = stopped();
    let text = folder.watch_output(&["d"]);
    let (first, rest) = text.split_once('\n').unwrap();
    assert_eq!(first, "count.dve: stopped at a checkpoint; `spillway resume d` resumes it");
    for part in [
        "  found    1,035 states, level 44, frontier 45, 0% expanded\n",
        "  stopped  ",
        " ago\n",
        "  memory   ",
        "  checkpoint  the last ",
        " free\n",
    ] {
        assert!(rest.contains(part), "{part}: {text}");
    }
    // Levels that end in the same moment share a row, which depends on the clock. The last row ends with the last
    // level.
    let last: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    let [levels, states, bar] = last[..] else { panic!("{text}") };
    assert_eq!(levels.rsplit('-').next(), Some("44"), "{text}");
    assert!(states.parse().is_ok_and(|it: u32| (1..=45).contains(&it)), "{text}");
    assert!(bar.bytes().all(|it| it == b'#'), "{text}");
    let messages = ["levels are still growing", "too few levels"];
    assert!(
        messages.iter().any(|it| text.contains(&format!("  in all   no estimate yet: {it}\n"))),
        "{text}"
    );
    // `status.json` conforms to its schema.
    let root = env!("CARGO_MANIFEST_DIR");
    let schema = std::fs::read_to_string(format!("{root}/docs/schema/status.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    assert!(schema.is_valid(&folder.status()), "{}", folder.status());
    assert!(!schema.is_valid(&json!({ "version": 1 })));

    assert!(!text.contains("last activity"), "{text}");
    assert!(folder.run(&["status", "d"]).out.starts_with("stopped "), "{text}");

    folder.write_ended_status(Value::Null, None);
    let text = folder.watch_output(&["d"]);
    assert!(text.contains("  last activity  ") && text.contains(" ago, "), "{text}");
    assert!(folder.run(&["status", "d"]).out.starts_with("killed; last checkpoint "), "{text}");
    assert!(
        text.starts_with(
            "count.dve: killed, or the machine went down; `spillway resume d` resumes it\n"
        ),
        "{text}"
    );
    folder.write_ended_status("failed".into(), Some("the disk is full"));
    let text = folder.watch_output(&["d"]);
    assert!(
        text.starts_with("count.dve: failed: the disk is full; `spillway resume d` resumes it\n"),
        "{text}"
    );
    folder.write_ended_status("failed".into(), None);
    assert!(
        folder
            .watch_output(&["d"])
            .starts_with("count.dve: failed; `spillway resume d` resumes it\n")
    );
    folder.write("d/status.json", "{\"version\": 1, \"at\"");
    assert!(folder.watch_output(&["d"]).starts_with("count.dve: not running; `spillway"));
    let (job, manifest) = (folder.path("d/job"), folder.path("d/manifest"));
    std::fs::remove_file(manifest).unwrap();
    let text = folder.watch_output(&["d"]);
    let begins = "`spillway resume d` starts again,\n           since there is no checkpoint\n  found    nothing yet\n";
    assert!(text.starts_with(&format!("count.dve: not running; {begins}")), "{text}");
    assert!(text.contains("  checkpoint  none yet\n"), "{text}");
    std::fs::write(job, "dear reader").unwrap();
    let text = folder.watch_output(&["d"]);
    assert!(text.starts_with("d: nothing to show: "), "{text}");
}

#[test]
fn watch_lists_several_ended_searches() {
    let folder = Folder::with("count.dve", &COUNT.replace("30000", "9"));
    folder.write("bad.dve", "byte x; process P { state a; init a; assert a: x < 2; trans a -> a { guard x < 3; effect x = x + 1; }; } system async;");
    assert_eq!(folder.run(&["check", "count.dve", "--no-deadlock", "--dir", "good"]).code, 0);
    assert_eq!(folder.run(&["check", "bad.dve", "--dir", "bad"]).code, 1);
    let text = folder.watch_output(&["good", "bad"]);
    let verified = "count.dve: verified: every reachable state was visited";
    assert!(text.starts_with(verified), "{text}");
    let violated =
        "\n\nbad.dve: VIOLATED: assert: x < 2 at bad.dve:1:48; `spillway trace bad` shows it\n";
    assert!(text.contains(violated), "{text}");
    assert!(!text.contains("  in all ") && !text.contains("  checkpoint  "), "{text}");
    let refused = |args: &[&str], message: &str| {
        let CommandOutput { code, out, err } = folder.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(message), "{err}");
    };
    refused(&["watch", "absent"], "error: there is no search directory absent\n");
    refused(&["watch"], "error: no search is running in ");
    refused(
        &["watch"],
        "help: `spillway watch DIR` watches a search that was started with --dir\n",
    );
    refused(
        &["watch", "bad", "--listen", "everywhere"],
        "expected a port, as in 8080, or an address and a port, as in 127.0.0.1:8080",
    );
}

/// All commands report the same verdict and condition of a search.
#[test]
fn watch_and_status_repeat_the_verdict_of_check() {
    let folder = Folder::with("count.dve", &COUNT.replace("30000", "9"));
    folder.write("asks.pml", "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od } ltl p { <> (x == 3) }");
    folder.write("low.m", "var x: 0..9; startstate begin x := 0; end; rule x < 9 ==> begin x := x + 1; end; invariant \"low\" x < 5;");
    for (number, args) in [
        &["count.dve", "--no-deadlock"][..],
        &["count.dve", "--no-deadlock", "--reduce", "por"],
        &["asks.pml", "--no-claim"],
        &["asks.pml"],
        &["asks.pml", "--ltl", "[] (x < 3)"],
        &["low.m"],
        &["low.m", "--only", "error"],
    ]
    .into_iter()
    .enumerate()
    {
        let dir = format!("d{number}");
        let checked = folder.run(&[&["check", "--no-trace", "--dir", &dir], args].concat());
        let verdict = |text: &str| {
            let rows = ["  found  ", "  after  ", "  ended  ", "  disk  ", "  time  "];
            let lines = text.lines().take_while(|it| !rows.iter().any(|row| it.starts_with(row)));
            lines.map(str::trim).collect::<Vec<_>>().join(" ")
        };
        let status = folder.run(&["status", &dir]).out;
        let (first, rest) = status.split_once('\n').unwrap();
        assert!(first.starts_with("ended") && first.ends_with(':'), "{status}");
        assert_eq!(verdict(rest), verdict(&checked.out));
        let text = folder.watch_output(&[&dir]);
        let repeated = verdict(&text).replace(&format!("; `spillway trace {dir}` shows it"), "");
        assert_eq!(repeated, verdict(&checked.out), "{text}");
        for word in ["expanded", "last activity", "settling", "memory"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        let json: Value =
            serde_json::from_str(&folder.run(&["status", &dir, "--json"]).out).unwrap();
        assert_eq!(json["state"], "ended", "{json}");
        assert_eq!(json["verdict"] == "violated", checked.code == 1, "{json}");
    }
}

/// The same for a liveness check on disk.
#[test]
fn status_and_watch_report_liveness_verdicts() {
    let folder = Folder::with("count.dve", &COUNT.replace("30000", "20"));
    for (formula, message) in
        [("<> (x == 20)", "verified: every run"), ("<> (x == 21)", "VIOLATED: a run")]
    {
        let dir = message.split(':').next().unwrap();
        let check = ["check", "count.dve", "--ltl", formula, "--reduce", "none", "--dir", dir];
        assert_eq!(folder.run(&[&check[..], &["--max-states", "9"]].concat()).code, 3);
        let text = folder.run(&["status", dir]).out;
        assert!(text.starts_with("stopped ") && text.contains("incomplete: no run that"), "{text}");
        folder.run(&["resume", dir, "--no-trace"]);
        for command in ["status", "watch"] {
            let text = folder.run(&[command, dir]).out;
            assert!(text.contains(&format!("count.dve: {message}")), "{command}: {text}");
        }
    }
}

/// Bell-shaped levels, the first half of which is explored, at a thousand states a second.
#[test]
fn watch_estimates_the_remaining_search() {
    let folder = Folder::with("count.dve", COUNT);
    let stopped = [&STOPPED[..], &["--disk-limit", "2MiB"]].concat();
    assert_eq!(folder.run(&stopped).code, 3);
    let bell = |it: u32| (1e4 * (-(f64::from(it) - 40.0).powi(2) / 300.0).exp()) as u64 + 1;
    let levels = |until: u32, of: &dyn Fn(u32) -> u64| {
        let events = (0..until).map(|at| {
            let (states, transitions) = (of(at), 3 * of(at));
            json!({ "event": "levels", "first": at, "last": at, "states": states, "transitions": transitions })
        });
        folder.write("d/events.jsonl", &events.map(|it| format!("{it}\n")).collect::<String>());
        let mut status = folder.status();
        let states: u64 = (0..=until).map(of).sum();
        (status["rate"], status["verdict"]) = (json!(1000.0), Value::Null);
        (status["now"]["states"], status["now"]["level"]) = (json!(states), json!(until));
        (status["now"]["frontier"], status["now"]["expanded"]) = (json!(of(until)), json!(0));
        status["now"]["disk"] = json!(10 * states);
        folder.write("d/status.json", &status.to_string());
        folder.watch_output(&["d"])
    };
    let text = levels(35, &bell);
    for part in [
        "  in all   states: about 307 k (208 k to 999 k)\n",
        "  time left  about 3 min (",
        "  on disk  about 2.9 MiB (2.0 MiB to ",
        "  disk full  about 1 min after it resumes, before the search ends\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A held lock makes the search count as running.
    let disk = spill::RealDisk::open(folder.path("d")).unwrap();
    disk.lock().unwrap();
    let text = folder.watch_output(&["d"]);
    let message = "  disk full  in about 1 min, before the search ends;\n           space can be freed until then\n";
    assert!(text.contains(message), "{text}");
    drop(disk);
    let json = folder.run(&["status", "d", "--json"]).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    let about = json["estimate"]["states"]["about"].as_f64().unwrap();
    assert!((306_000.0..308_000.0).contains(&about), "{json}");
    // Fast growth that stops suddenly can be the end, or a bend.
    let bent = |at: u32| {
        let (at, more) = (f64::from(at.min(29)), f64::from(at.saturating_sub(29)));
        (100.0 * (0.3 * at - 0.002 * at * at + 0.3 * (1.0 - 0.5_f64.powf(more))).exp()) as u64
    };
    let text = levels(31, &bent);
    assert!(text.contains("no estimate yet: levels show no clear trend"), "{text}");
    let text = levels(5, &bell);
    assert!(text.contains("no estimate yet: too few levels"), "{text}");
    let text = levels(20, &|at| 1 << at);
    assert!(text.contains("no estimate yet: levels are still growing"), "{text}");
}

#[test]
fn the_server_answers_its_pages_only() {
    let folder = stopped();
    let (mut child, address) = folder.start_watch_server(&["d"]);
    let (_, port) = address.split_once(':').unwrap();
    let here = format!("localhost:{port}");
    let (code, _, text) = request_page(&address, "GET /", &here);
    let moved = "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=/1\">";
    assert_eq!((code, text.as_str()), (200, moved));
    let (code, head, page) = request_page(&address, "GET /1", &here);
    assert!(
        code == 200 && head.contains("text/html; charset=utf-8") && head.contains("no-store"),
        "{head}"
    );
    for part in [
        "<title>count.dve: incomplete</title>",
        "script-src 'unsafe-inline'; connect-src 'self'",
        "<p class=\"now\">stopped at a checkpoint; `spillway resume d` resumes it</p>",
        "<dt>found</dt><dd>1,035 states, level 44, frontier 45, 0% expanded</dd>",
        "<meter value=\"45\" max=\"45\">",
        "The number beside a line counts",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let (code, _, text) = request_page(&address, "GET /1/live", &here);
    assert!(code == 200 && text.starts_with("<section id=\"live\" class=\"live open\""), "{text}");
    for (line, host, expected, message) in [
        ("GET /2", here.as_str(), 404, "not found; / lists all searches\n"),
        ("GET /../job", &here, 404, "not found"),
        ("GET /1/job", &here, 404, "not found"),
        ("GET /-1", &here, 404, "not found"),
        ("GET /99999999999999999999", &here, 404, "not found"),
        ("GET /favicon.ico", &here, 204, ""),
        ("POST /1", &here, 405, "only GET and HEAD are supported\n"),
        ("GET /1", "example.org", 403, "only requests from this machine are answered\n"),
    ] {
        let (code, _, text) = request_page(&address, line, host);
        assert!(code == expected && text.contains(message), "{line}: {code} {text}");
    }
    let (_, head, _) = request_page(&address, "GET /2", &here);
    assert!(head.contains("text/plain; charset=utf-8"), "{head}");
    let output = folder.run(&["watch", "d", "--listen", port]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.starts_with(&format!("error: cannot listen to 127.0.0.1:{port}: ")));
    assert!(output.err.ends_with("help: try another port, or 0 for any free port\n"));
    // The directory may be damaged meanwhile.
    folder.write("d/manifest", "dear reader");
    let (code, _, page) = request_page(&address, "GET /1", &here);
    assert!(code == 200 && page.contains("<p class=\"now\">nothing to show: "), "{page}");
    assert!(page.contains("the search directory cannot be read; the verdict is unknown"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn several_searches_share_a_list_page() {
    let folder = stopped();
    folder.write("<b>.dve", &COUNT.replace("30000", "9"));
    assert_eq!(folder.run(&["check", "<b>.dve", "--no-deadlock", "--dir", "e"]).code, 0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_spillway"))
        .current_dir(folder.path(""))
        .args(["watch", "--listen", "0.0.0.0:0", "d", "e"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().take(2);
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(lines[1], "note: everyone with access to this machine can read the models");
    let port = lines[0].split(':').nth(2).unwrap().split('/').next().unwrap();
    let address = format!("127.0.0.1:{port}");
    let (code, _, page) = request_page(&address, "GET /", "any.name");
    assert_eq!(code, 200);
    for part in [
        "<title>spillway watch</title>",
        "<a href=\"/1\">count.dve</a>",
        "<a href=\"/2\">&lt;b&gt;.dve</a>",
        "<p class=\"now\">verified: every reachable state was visited, no violation was found</p>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<b>.dve"));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Writes the content of the page into its title until the server has ended.
const PROBE: &str = "<script>
const errors = [], seen = [];
addEventListener('error', (it) => errors.push(it.message));
addEventListener('securitypolicyviolation', (it) => errors.push('refused ' + it.blockedURI));
setInterval(() => {
  const now = [document.querySelector('#live .now')?.textContent, document.querySelector('header .verdict')?.textContent,
    document.getElementById('steps') !== null, document.getElementById('gone')?.textContent ?? ''];
  if (JSON.stringify(now) !== JSON.stringify(seen.at(-1))) seen.push(now);
  document.title = JSON.stringify({ errors, seen });
}, 50);
</script>";

/// An open page shows its search stopped, then ended, and then that the server does not answer.
#[test]
fn an_open_page_shows_the_end_of_the_search() {
    let Some(browser) = browser() else {
        return eprintln!("left out: there is no Chromium to open the page with");
    };
    let folder = stopped();
    // A proxy between the browser and `watch` adds a probe to the page, and changes the search between requests.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let browser_address = listener.local_addr().unwrap().to_string();
    let (mut child, address) = folder.start_watch_server(&["d"]);
    let (looks, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let pass_on = |mut stream: TcpStream| {
        let mut line = String::new();
        let mut asking = BufReader::new(stream.try_clone().unwrap());
        // A browser may connect without a request.
        if asking.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap().to_owned();
        let look = if path == "/1/live" { looks.fetch_add(1, Relaxed) } else { 0 };
        // The search ends with a violation; later the server ends.
        if look == 2 {
            std::fs::remove_dir_all(folder.path("d")).unwrap();
            folder.write("count.dve", &COUNT.replace("init a;", "init a; assert a: x < 3;"));
            let found = ["check", "count.dve", "--reduce", "none", "--dir", "d"];
            assert_eq!(folder.run(&found).code, 1);
        }
        if look > 9 {
            return;
        }
        let (_, head, mut text) = request_page(&address, &format!("GET {path}"), &address);
        text = text.replacen("<style>", &format!("{PROBE}<style>"), 1);
        let kind = head.lines().find(|it| it.starts_with("Content-Type")).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}", text.len());
        let _ = write!(stream, "{head}\r\nConnection: close\r\n\r\n{text}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for stream in listener.incoming() {
                if is_over.load(Relaxed) {
                    return;
                }
                scope.spawn(|| pass_on(stream.unwrap()));
            }
        });
        let title =
            read_page_title(browser, &folder, &format!("http://{browser_address}/1"), 20_000);
        is_over.store(true, Relaxed);
        drop(TcpStream::connect(&browser_address));
        assert_eq!(title["errors"], json!([]));
        let seen = title["seen"].as_array().unwrap();
        let has = |at: usize, part: &str| {
            seen.iter().any(|it| it[at].as_str().is_some_and(|it| it.contains(part)))
        };
        assert!(has(0, "stopped at a checkpoint") && has(1, "incomplete"), "{title}");
        assert!(has(0, "VIOLATED: ") && has(1, "VIOLATED: assert"), "{title}");
        let last = seen.last().unwrap();
        assert_eq!(last[2], true, "the counterexample is there: {title}");
        assert!(has(3, "Nobody answers any more; this is how it was at "), "{title}");
    });
    child.kill().unwrap();
    child.wait().unwrap();
}
