//! `explore`: its pages, its addresses, and rejected requests.

use super::Folder;
use super::page_server::{PageResponse, send_request};
use super::report_page::{browser, read_page_title};
use serde_json::json;
use std::process::{Child, Command};

/// Two processes with a channel. An assertion fails after the second message.
pub(super) const CHANNEL: &str = "chan c = [2] of { byte };
byte n;
active proctype A() { byte k; do :: k < 3 -> c!k; k++ :: else -> break od }
active proctype B() { byte v; do :: c?v -> n = n + v; assert(n < 3) od }
";

/// A counter that violates an invariant, with texts that are markup in HTML.
pub(super) const HOSTILE: &str = "var x: 0..9;
startstate \"<img src=x onerror=alert(1)>\" begin x := 0; end;
rule \"</td><script>alert(2)</script>\" x < 9 ==> begin x := x + 1; end;
invariant \"<b>low</b>\" x < 3;
-- </code></script><script>alert(3)</script>
";

/// A running `explore` server.
pub(super) struct ExplorerServer {
    child: Child,
    pub address: String,
}

impl ExplorerServer {
    pub fn of(folder: &Folder, args: &[&str]) -> ExplorerServer {
        let (child, address) = folder.start_server(&[&["explore"], args].concat());
        ExplorerServer { child, address }
    }

    pub fn get(&self, path: &str) -> PageResponse {
        send_request(&self.address, &format!("GET {path}"), &format!("Host: {}\r\n", self.address))
    }

    /// The page of a path.
    #[track_caller]
    pub fn page(&self, path: &str) -> String {
        let PageResponse { code, text, .. } = self.get(path);
        assert_eq!(code, 200, "{path}: {text}");
        text
    }

    /// The target of a redirected path.
    #[track_caller]
    pub fn moved(&self, path: &str) -> String {
        let PageResponse { code, head, text } = self.get(path);
        assert_eq!(code, 303, "{path}: {text}");
        let to = head.lines().find_map(|it| it.strip_prefix("Location: "));
        to.unwrap_or_else(|| panic!("{head}")).to_owned()
    }
}

impl Drop for ExplorerServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The addresses of the enabled actions of a page, with their titles.
pub(super) fn actions(page: &str) -> Vec<(String, String)> {
    let table = page.split("<table class=\"actions\">").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    let rows = table.split("<tr id=\"a").skip(1).map(|row| {
        let link = row.split("<td><a href=\"").nth(1).unwrap();
        let (address, rest) = link.split_once("\">").unwrap();
        (address.to_owned(), rest.split("</a>").next().unwrap().to_owned())
    });
    rows.collect()
}

#[track_caller]
pub(super) fn has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[track_caller]
fn assert_verdict(page: &str, sentence: &str) {
    has(page, &[&format!("<p class=\"verdict\">{sentence}</p>")]);
}

#[test]
fn a_path_is_walked_by_its_links() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    assert_eq!(explorer.moved("/"), "/at/0");
    let start = explorer.page("/at/");
    assert_verdict(&start, "before the initial state");
    assert_eq!(actions(&start), [("/at/0".to_owned(), "start".to_owned())]);

    let page = explorer.page("/at/0");
    assert_verdict(&page, "after 0 steps");
    // The effect of each action is shown before it is taken.
    assert_eq!(actions(&page), [("/at/0.0".to_owned(), "A[0]: k &lt; 3".to_owned())]);
    has(&page, &["<div class=\"change\">A[0]: line 3:31 -&gt; line 3:46</div>"]);
    // The variables of a process are below its name.
    has(&page, &["<th colspan=\"2\">Variables</th></tr><tr><td>n</td><td>0</td>"]);
    has(&page, &["<th colspan=\"2\">B[1]</th></tr><tr><td>B[1]</td>"]);
    // A line is marked where a process is, with the number of its enabled action.
    let line = page.split("id=\"l0-3\">").nth(1).unwrap().split("</tr>").next().unwrap();
    has(line, &["<span class=\"process\">A[0]</span>", "href=\"/at/0.0\"", "k &lt; 3 -&gt; c!k"]);
    assert!(page.contains("<tr class=\"here\" id=\"l0-3\">"), "{page}");
    assert!(page.contains("<tr class=\"\" id=\"l0-1\">"), "{page}");

    // Actions in sequence.
    let mut page = page;
    for wanted in ["A[0]: k &lt; 3", "A[0]: c!k", "B[1]: c?v"] {
        let (address, _) = actions(&page).into_iter().find(|it| it.1 == wanted).unwrap();
        page = explorer.page(&address);
    }
    assert_verdict(&page, "after 3 steps");
    has(
        &page,
        &["<tr class=\"now\"><td>c</td><td>&lt;&gt;<span class=\"old\"> was &lt;0&gt;</span>"],
    );
    let back = "<a href=\"/at/0x3\" data-key=\"b\">back</a>";
    has(&page, &[back, "<a href=\"/at/\" data-key=\"i\">initial states</a>"]);
    // The path links to each of its steps, and is drawn as a chart.
    let path = page.split("id=\"path\"").nth(1).unwrap().split("</section>").next().unwrap();
    has(path, &["<a href=\"/at/0\">initial state</a>", "<a href=\"/at/0x3\">A[0]: c!k</a>"]);
    has(&page, &["<title>message sequence chart</title>", "<title>sent in step 2</title>"]);
    // The neighbouring states are drawn, with links.
    let around = page.split("id=\"around\"").nth(1).unwrap().split("</section>").next().unwrap();
    has(around, &["<a href=\"/at/0x4\"><g class=\"first\">", "<a href=\"/at/0x4.1\">"]);
}

#[test]
fn a_shared_address_repeats_the_path() {
    let folder = Folder::with("c.pml", CHANNEL);
    let (one, other) =
        (ExplorerServer::of(&folder, &["c.pml"]), ExplorerServer::of(&folder, &["c.pml"]));
    let mut address = "/at/0".to_owned();
    for _ in 0..8 {
        address = actions(&one.page(&address)).pop().unwrap().0;
    }
    assert_verdict(&one.page(&address), "after 8 steps");
    assert_eq!(one.page(&address), other.page(&address));
    // The pages requested before make no difference.
    one.page("/at/0.0");
    assert_eq!(one.page(&address), other.page(&address));
    // A changed model file makes no difference to the server.
    folder.write("c.pml", "nothing");
    assert_eq!(one.page(&address), other.page(&address));
}

#[test]
fn text_of_the_model_stays_text() {
    let folder = Folder::with("h.m", HOSTILE);
    assert_eq!(folder.run(&["check", "h.m", "--dir", "<i>d", "--no-trace"]).code, 1);
    for target in ["h.m", "<i>d"] {
        let explorer = ExplorerServer::of(&folder, &[target]);
        for path in ["/at/", "/at/0", "/at/0.0", "/at/0.0x3"] {
            let page = explorer.page(path);
            for text in ["<img", "<script>alert", "<b>low", "</td><s"] {
                assert!(!page.contains(text), "{text}: {page}");
            }
            has(&page, &["&lt;script&gt;alert(3)", "default-src 'none'"]);
        }
        has(&explorer.page("/at/0"), &["invariant &lt;b&gt;low&lt;/b&gt;</td><td>holds here"]);
        let page = explorer.page("/at/0.0x3");
        has(
            &page,
            &[
                "<p class=\"wrong\">invariant &lt;b&gt;low&lt;/b&gt;: does not hold here, with x = 3</p>",
            ],
        );
        // A text in an address does not become markup, either.
        for path in ["/at/%3Cb%3E", "/at/<b>", "/run/0?until=<b>x</b>", "/%3Cscript%3E"] {
            let PageResponse { code, text, .. } = explorer.get(path);
            assert!((400..500).contains(&code), "{path}: {code}");
            assert!(!text.contains("<b>x") && !text.contains("<b></"), "{path}: {text}");
        }
    }
}

#[test]
fn only_requests_from_this_machine_and_site_are_answered() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    let at = &explorer.address;
    for (line, headers, expected) in [
        ("GET /at/0", format!("Host: {at}\r\n"), 200),
        ("GET /at/0", format!("Host: {at}\r\nOrigin: http://{at}\r\n"), 200),
        ("GET /at/0", "Host: example.org\r\n".to_owned(), 403),
        ("GET /at/0", format!("Host: {at}\r\nOrigin: http://example.org\r\n"), 403),
        ("GET /run/0?until=n", format!("Host: {at}\r\nSec-Fetch-Site: cross-site\r\n"), 403),
        ("POST /at/0", format!("Host: {at}\r\n"), 405),
    ] {
        let answer = send_request(at, line, &headers);
        assert_eq!(answer.code, expected, "{line} {headers}");
    }
    let head = explorer.get("/at/0").head;
    has(&head, &["frame-ancestors 'none'", "no-store", "nosniff"]);
}

#[test]
fn an_address_without_a_page_is_rejected_with_a_reason() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    for (path, why) in [
        ("/at/7", "the path ends before its part 1: the model has no initial state 7"),
        ("/at/0.0.9", "the path ends before its part 3: no step has the number 9 there"),
        ("/at/0.x", "the address names no path: `x` is no number of a step"),
        ("/at/c1", "the address names no path: `c1`: the counterexample has no such step"),
        ("/at/0x99999", "the address names no path: the path has more than 20000 steps"),
        ("/run/7?until=n", "the model has no initial state 7"),
        ("/export/csv/", "the path is empty: choose an initial state first"),
        ("/export/pdf/0", "/ is the first page, and /at/0 the first initial state"),
        ("/job", "/ is the first page"),
        ("/../c.pml", "/ is the first page"),
    ] {
        let PageResponse { code, head, text } = explorer.get(path);
        assert_eq!(code, 404, "{path}");
        has(&head, &["text/html; charset=utf-8"]);
        has(&text, &[why, "There is no such page.", "<a href=\"/\">"]);
    }
    assert_eq!(explorer.get("/favicon.ico").code, 204);
    // The server keeps running.
    assert_verdict(&explorer.page("/at/0"), "after 0 steps");
}

#[test]
fn a_search_directory_is_opened_at_its_counterexample() {
    let folder = Folder::with("c.pml", CHANNEL);
    assert_eq!(folder.run(&["check", "c.pml", "--dir", "d", "--no-trace"]).code, 1);
    let explorer = ExplorerServer::of(&folder, &["d"]);
    let end = explorer.moved("/");
    let page = explorer.page(&end);
    let steps: usize =
        page.split("after step ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_step(&page, steps, steps);
    has(&page, &["<header class=\"bad\">", "assert(n &lt; 3)", "No step can be taken here."]);
    // The link to the next step leads from the start to the end.
    let mut address = "/at/0".to_owned();
    let mut taken = 0;
    while let Some(next) =
        explorer.page(&address).split("\" data-key=\"n\">").next().filter(|_| address != end)
    {
        assert_step(&explorer.page(&address), taken, steps);
        address = next.rsplit("href=\"").next().unwrap().to_owned();
        taken += 1;
    }
    assert_eq!((taken, address.as_str()), (steps, end.as_str()));
    // A state off the counterexample links to its end.
    let aside = actions(&explorer.page("/at/0.0")).pop().unwrap().0;
    let page = explorer.page(&format!("{aside}.0.0.0"));
    has(&page, &[&format!("<a href=\"{end}\" data-key=\"e\">end of the counterexample</a>")]);
    // The table of the counterexample is that of `trace`.
    let exported = explorer.get(&end.replace("/at/", "/export/csv/"));
    has(&exported.head, &["attachment; filename=\"path.csv\""]);
    assert_eq!(exported.text, folder.run(&["trace", "d", "--as", "csv"]).out);
    let trail = explorer.get(&end.replace("/at/", "/export/trail/")).text;
    assert_eq!(folder.run(&["trace", "d", "--spin-trail", "t"]).code, 0);
    assert_eq!(trail, std::fs::read_to_string(folder.path("t")).unwrap());
}

#[track_caller]
fn assert_step(page: &str, step: usize, steps: usize) {
    let at = if step == 0 { "at the start".to_owned() } else { format!("after step {step}") };
    has(page, &[&format!("<p class=\"verdict\">{at} of the counterexample to ")]);
    has(page, &[&format!(", of {steps} steps</p>")]);
}

/// A run with a cycle is a counterexample too.
#[test]
fn a_run_is_opened_at_its_end() {
    let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: x > 1 ->\nx = 1 od } ltl p { <> (x == 3) }";
    let folder = Folder::with("r.pml", text);
    assert_eq!(folder.run(&["check", "r.pml", "--dir", "d", "--no-trace"]).code, 1);
    let explorer = ExplorerServer::of(&folder, &["d"]);
    let page = explorer.page(&explorer.moved("/"));
    has(&page, &[", whose last step leads back to the state after step ", "<td>x</td>"]);
    // The automaton moves too. Expressions are not evaluated in the product, and the page contains a note about it.
    let why = "This search checks a temporal property. No expression is evaluated beside it; `spillway explore MODEL` evaluates expressions.";
    has(&page, &["<td>claim p</td>", why, "claim p</td><td>its end is not reached here"]);
    assert!(!page.contains("id=\"until\""), "{page}");
    // Lines and actions stop a run all the same.
    let at = explorer.moved("/run/0?break=2");
    has(&explorer.page(&at), &["the last step stops here"]);
    let PageResponse { code, text, .. } = explorer.get("/at/0?toggle=x+%3D%3D+3");
    assert_eq!(code, 400);
    has(&text, &["id=\"notice\"", why]);
    let PageResponse { code, text, .. } = explorer.get("/run/0?until=x+%3D%3D+3");
    assert_eq!(code, 400);
    has(&text, &["id=\"notice\"", why]);
}

#[test]
fn a_walk_runs_to_a_condition() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    let at = explorer.moved("/run/0?until=n+%3D%3D+1&by=nearest");
    has(&explorer.page(&at), &["<td>n</td><td>1<span class=\"old\"> was 0</span>"]);
    let shortest = at.matches('.').count();
    // Random steps reach such a state too, and the same seed repeats them.
    let random = "/run/0?until=n+%3D%3D+1&by=random&seed=5";
    let walked = explorer.moved(random);
    has(&explorer.page(&walked), &["<td>n</td><td>1<"]);
    assert_eq!(explorer.moved(random), walked);
    // A shortest path leads to the same state.
    let short = explorer.moved(&walked.replace("/at/", "/shortest/"));
    assert!(short.matches('.').count() >= shortest, "{short}");
    let state = |address: &str| {
        let page = explorer.page(address);
        let rows = page.split("<table class=\"state\">").nth(1).unwrap().split("</table>").next();
        let cells =
            rows.unwrap().split("<td>").skip(1).map(|it| it.split('<').next().unwrap().to_owned());
        cells.collect::<Vec<_>>()
    };
    assert_eq!(state(&short), state(&walked));
    // A run from before the initial states considers all states.
    assert_eq!(explorer.moved("/run/?until=n+%3D%3D+0"), "/at/0");

    let page = explorer.page("/run/0?until=n+%3D%3D+200");
    has(
        &page,
        &["No state that can be reached from here satisfies n == 200: all ", " were visited."],
    );
    has(&page, &["value=\"n == 200\""]);
    let page = explorer.page("/run/0?until=n+%3D%3D+200&states=3");
    has(
        &page,
        &[
            "No state that satisfies n == 200 was found. The search ended at its bound, after 3 states.",
        ],
    );
    let page = explorer.page("/run/0?until=n+%3D%3D+200&by=random&states=50");
    has(
        &page,
        &["after 50 states.", "<input type=\"radio\" name=\"by\" value=\"random\" checked>"],
    );
    for (until, why) in [
        ("", "An expression or a breakpoint is needed."),
        ("m+%3E", "error"),
        ("nobody+%3D%3D+1", "nobody"),
    ] {
        let PageResponse { code, text, .. } = explorer.get(&format!("/run/0?until={until}"));
        assert_eq!(code, 400, "{until}: {text}");
        let notice = text.split("id=\"notice\"").nth(1).unwrap().split("</p>").next().unwrap();
        has(notice, &[why]);
        assert_verdict(&text, "after 0 steps");
    }
}

/// Every language has paths, effects and conditions.
#[test]
fn every_language_is_explored() {
    let folder = Folder::with("nothing", "");
    let root = env!("CARGO_MANIFEST_DIR");
    for (model, until, shown) in [
        ("models/promela/peterson.pml", "turn == 1", "<td>turn</td><td>1"),
        ("models/murphi/two_phase_commit.m", "", "<h2>Enabled actions</h2>"),
        ("models/dve/philosophers.dve", "taken[0] == 1", "<td>taken</td>"),
        ("models/tla/two_phase_commit.tla", "coordinator.phase = \"voting\"", "voting"),
    ] {
        let explorer = ExplorerServer::of(&folder, &[&format!("{root}/{model}")]);
        let page = explorer.page("/at/0");
        let all = actions(&page);
        assert!(!all.is_empty(), "{model}: {page}");
        has(&page, &["<div class=\"change\">", "id=\"l0-1\"", "<table class=\"state\">"]);
        let next = explorer.page(&all[0].0);
        assert_verdict(&next, "after 1 step");
        has(&next, &["<tr class=\"now\"><td>"]);
        if !until.is_empty() {
            let query: String = until.bytes().map(|it| format!("%{it:02x}")).collect();
            let found = explorer.page(&explorer.moved(&format!("/run/0?until={query}")));
            has(&found, &[shown]);
        }
    }
    // The state sink of a specification does not evaluate goals; the explorer evaluates them all the same.
    let explorer =
        ExplorerServer::of(&folder, &[&format!("{root}/models/tla/two_phase_commit.tla")]);
    has(&explorer.page("/run/0?until=FALSE&states=500"), &["after 500 states."]);
    has(&explorer.page("/run/0?until=network%5B1%5D+%3D+2&states=500"), &["after 500 states."]);
}

#[test]
fn a_check_opens_its_counterexample() {
    let folder = Folder::with("c.pml", CHANNEL);
    let (child, address) = folder.start_server(&["check", "c.pml", "--no-trace", "--explore"]);
    let mut explorer = ExplorerServer { child, address };
    let page = explorer.page(&explorer.moved("/"));
    has(&page, &["of the counterexample to assert: assertion failed in B: assert(n &lt; 3), of "]);
    // The exit code is that of the check, and the temporary directory is deleted.
    let id = explorer.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(explorer.child.wait().unwrap().code(), Some(1));
    assert_eq!(std::fs::read_dir(folder.path("tmp")).unwrap().count(), 0);
    // Without a violation there is no counterexample to open.
    folder.write("good.pml", "active proctype P() { skip }");
    assert_eq!(folder.run(&["check", "good.pml", "--explore"]).code, 0);
}

#[test]
fn a_port_in_use_is_reported_at_once() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    let (_, port) = explorer.address.split_once(':').unwrap();
    let flag = format!("--explore={port}");
    for args in [&["explore", "c.pml", "--listen", port][..], &["check", "c.pml", &flag]] {
        let output = folder.run(args);
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{}", output.err);
        assert!(
            output.err.starts_with(&format!("error: cannot listen to 127.0.0.1:{port}: ")),
            "{}",
            output.err
        );
        assert!(
            output.err.ends_with("help: try another port, or 0 for any free port\n"),
            "{}",
            output.err
        );
    }
}

#[test]
fn the_parts_of_a_page_have_titles() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    let page = explorer.page("/at/0.0");
    for part in [
        "<h2>Breakpoints</h2>",
        "There are none. The number of a line sets one there.",
        "placeholder=\"a line, an action or an expression\"",
        "<h2>Run to a condition or a breakpoint</h2>",
        "title=\"set a breakpoint\"",
        "placeholder=\"an expression in Promela\"",
        " the nearest state</label>",
        " random steps</label>",
        "<h2>Message sequence chart of the path</h2>",
        "<h2>States around this one</h2>",
        "State 0 is this state. States that violate a property, or in which a transition fails, are red. A state links to its page.",
        "<h2>Export the path</h2>",
        ">ITF (JSON)</a>",
        ">SPIN trail</a>",
        "Keys: the number of an action takes it (Enter ends a number that begins another one), b goes back, n goes on along the counterexample, / goes to the expression.",
        ">shortest path here</a>",
        "title=\"take this action\"",
    ] {
        has(&page, &[part]);
    }
    has(
        &explorer.page("/at/"),
        &["<h2>Initial states</h2>", "It is empty: no initial state is chosen."],
    );
    let page = explorer.get("/at/9").text;
    has(&page, &["<title>c.pml: not found</title>", "Back to the beginning"]);
    let bound = "No shortest path was found: the search ended at its bound, after 1 state.";
    has(&explorer.page("/shortest/0x4?states=1"), &[bound]);
}

/// Long lists are cut, with a note.
#[test]
fn long_lists_are_cut() {
    let text = "var x: array [0..14] of 0..999; startstate begin x[0] := 0; end;
        ruleset i: 0..300 do startstate begin for j: 0..14 do x[j] := i; end; end; end;
        rule x[0] < 900 ==> begin x[0] := x[0] + 1; end; invariant \"low\" x[0] < 500;";
    let folder = Folder::with("long.m", text);
    let explorer = ExplorerServer::of(&folder, &["long.m"]);
    assert_eq!(explorer.moved("/"), "/at/");
    let page = explorer.page("/at/");
    has(&page, &["These are the first 200; the address of a further one ends in its number."]);
    assert_verdict(&explorer.page("/at/299"), "after 0 steps");
    let path = explorer.page("/at/1.0x400");
    has(&path, &["Left out: the first 101 steps."]);
    let text = text.replace("ruleset i: 0..300 do startstate", "ruleset i: 0..0 do startstate");
    folder.write("long.m", &text.replace("x[j] := i", "x[j] := 0"));
    assert_eq!(folder.run(&["check", "long.m", "--no-trace", "--dir", "d"]).code, 1);
    let explorer = ExplorerServer::of(&folder, &["d"]);
    let page = explorer.page("/at/0");
    has(&page, &["Left out: the last 200 steps.", ">next step of the counterexample</a>"]);
    // The preview of an initial state has one line a variable.
    let vars: String = (0..15).map(|it| format!("byte v{it}; ")).collect();
    folder.write("wide.pml", &format!("{vars} active proctype P() {{ skip }}"));
    has(&ExplorerServer::of(&folder, &["wide.pml"]).page("/at/"), &["and 4 further lines"]);
}

/// Each kind of property has its own words.
#[test]
fn the_value_of_each_property_is_shown() {
    let folder = Folder::with(
        "claim.pml",
        "byte x; active proctype P() { x = 1; x = 2 } never { do :: x == 2 -> break :: else od }",
    );
    let explorer = ExplorerServer::of(&folder, &["claim.pml"]);
    has(&explorer.page("/at/0"), &["its end is not reached here"]);
    let mut page = explorer.page("/at/0");
    while let Some((address, _)) = actions(&page).first().cloned() {
        page = explorer.page(&address);
    }
    has(&page, &["<header class=\"bad\">", "its end is reached here"]);
    folder.write(
        "own.dve",
        "byte x; process P { state a; init a; trans a -> a { guard x < 3; effect x = x + 1; }; }
         process L { state q; init q; accept q; trans q -> q { guard x < 2; }; } system async property L;",
    );
    has(&ExplorerServer::of(&folder, &["own.dve"]).page("/at/0"), &["no single state decides it"]);
    let model = format!("{}/models/tla/two_phase_commit.tla", env!("CARGO_MANIFEST_DIR"));
    let page = ExplorerServer::of(&folder, &[&model, "--cover", "FALSE"]).page("/at/0");
    has(&page, &["a search looks for a state in which it holds"]);
}

/// Presses keys, and writes the followed links into the title.
const PROBE: &str = "<script>
const errors = [], followed = [];
addEventListener('error', (it) => errors.push(it.message));
addEventListener('securitypolicyviolation', (it) => errors.push('refused ' + it.blockedURI));
addEventListener('click', (it) => { it.preventDefault(); followed.push(it.target.getAttribute('href')); }, true);
addEventListener('DOMContentLoaded', () => setTimeout(() => {
  for (const key of KEYS) document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  document.title = JSON.stringify({ errors, followed, focus: document.activeElement.id });
}, 100));
</script>";

/// Digits take actions; letters move along the path and the counterexample.
#[test]
fn links_are_followed_by_keyboard() {
    let Some(browser) = browser() else {
        return eprintln!("left out: there is no Chromium to open the page with");
    };
    let folder = Folder::with("c.pml", CHANNEL);
    folder.write("many.pml", "active [12] proctype P() { skip; skip }");
    assert_eq!(folder.run(&["check", "c.pml", "--dir", "d", "--no-trace"]).code, 1);
    let pressed = |target: &str, path: &str, keys: &str| {
        let page = ExplorerServer::of(&folder, &[target]).page(path);
        let probe = PROBE.replace("KEYS", keys);
        folder.write("probed.html", &page.replacen("<style>", &format!("{probe}<style>"), 1));
        let address = format!("file://{}", folder.path("probed.html").display());
        read_page_title(browser, &folder, &address, 2000)
    };
    let end = ExplorerServer::of(&folder, &["d"]).moved("/");
    let titles = pressed("d", "/at/0", "['0', 'b', 'n', 'e', 'i', 'x', '/']");
    let followed = ["/at/0.0", "/at/", "/at/0.0", end.as_str(), "/at/"];
    assert_eq!(titles, json!({ "errors": [], "followed": followed, "focus": "until" }));
    // A number that begins another one waits for another digit, or for Enter.
    let titles = pressed("many.pml", "/at/0", "['1', '1', '1', 'Enter', '5', '0', '7']");
    let followed = ["/at/0.11", "/at/0.1", "/at/0.5", "/at/0.0", "/at/0.7"];
    assert_eq!(titles, json!({ "errors": [], "followed": followed, "focus": "" }));
}
