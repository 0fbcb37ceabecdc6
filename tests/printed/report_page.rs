//! The page of a report: its contents, no request to other servers, and no markup from a model.
//!
//! If Chromium is installed, it opens the page and steps through the counterexample by keyboard. Otherwise this part is
//! skipped, with a message.

use super::Folder;
use jsonschema::validator_for;
use serde_json::Value;
use std::process::Command;

/// A process receives its own message instead of the answer.
const MIXED: &str = "mtype = { ping, pong };
chan c = [1] of { mtype }; byte x;
active proctype A() { c!ping; c?pong; assert(false) }
active proctype B() { c?ping; c!pong; if :: x == 9 -> skip :: else fi }
";

/// Texts that are markup in HTML, in each place of a model.
const HOSTILE: &str = "type T: enum { a, b };
var x: 0..9;
startstate \"<b>start</b>\" begin x := 0; end;
rule \"</script><script>alert(1)</script>\" x < 9 ==> begin x := x + 1; end;
-- <img src=y onerror=alert(2)> <!-- </style>
invariant \"<i onclick='alert(3)'>low</i>\" x < 5;
";

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

/// Asserts that a page is complete and refers only to itself.
#[track_caller]
fn assert_self_contained(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for word in ["http:", "https:", "src=", "url(", "@import", "<link", "<iframe", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    let links = page.split("href=\"").skip(1);
    assert!(links.into_iter().all(|it| it.starts_with('#')), "a link leads elsewhere");
}

#[test]
fn a_page_has_the_counterexample_the_statistics_and_the_model() {
    let folder = Folder::with("mixed.pml", MIXED);
    let args = ["check", "mixed.pml", "--reduce", "none", "--no-trace", "--report", "out.html"];
    let output = folder.run(&args);
    assert_eq!((output.code, output.err.as_str()), (1, "wrote out.html\n"));
    assert!(!output.out.contains("counterexample in "), "{}", output.out);
    let page = read(&folder, "out.html");
    assert_self_contained(&page);
    for part in [
        "<title>mixed.pml: VIOLATED</title>",
        "<p class=\"verdict\">VIOLATED: assert: assertion failed in A: assert(false) at mixed.pml:3:39",
        "A[0]: c!ping",
        "<div class=\"change\">c: &lt;&gt; -&gt; &lt;ping&gt;</div>",
        "<a href=\"#l0-4\">line 4</a>",
        "<line class=\"arrow\"",
        "<g class=\"step bad\"",
        "<tr class=\"\" id=\"l0-1\">",
        "spillway check mixed.pml --reduce none --no-trace --report out.html",
        "location of A",
        "The number beside a line counts the executions of its actions up to where the search ended. Lines of which no action was executed are ",
        "marked</span>, those with some unexecuted actions at their number.",
        "It is opened at its last step. Arrow keys go through it step by step, Home and End to its ends. ",
        "<div class=\"wrong\">assert: assertion failed in A: assert(false)</div>",
        "Only steps with ",
        "as a message sequence chart</summary>",
        "sent in step 1</title>",
        "The command was:",
        "Explore this counterexample step by step in a browser:</p><pre>spillway check mixed.pml --reduce none --no-trace --report out.html --explore</pre>",
        "How the search went",
        "Run it again",
        "Made by spillway ",
        "layout of the state vector",
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
        "width=device-width, initial-scale=1",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let line = page.split("id=\"l0-4\"").nth(1).unwrap();
    assert!(page.contains("<tr class=\"partly\" id=\"l0-4\">"), "{line:.200}");
}

#[test]
fn text_of_a_model_is_no_markup() {
    let name = "<img src=x onerror=alert(0)>.m";
    let folder = Folder::with(name, HOSTILE);
    let output = folder.run(&["report", name, "--out", "out.html"]);
    assert_eq!((output.code, output.err.as_str()), (1, "wrote out.html\n"));
    let page = read(&folder, "out.html");
    for tag in ["<img", "<b>", "<i ", "<!--", "</script><script>"] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert_eq!(page.matches("<script").count(), 2, "the data and the page's own");
    assert_eq!((page.matches("</script").count(), page.matches("</style").count()), (2, 1));
    assert!(page.contains("&lt;img src=x onerror=alert(0)&gt;.m"));
}

#[test]
fn unfinished_and_damaged_directories_have_a_page() {
    let folder = Folder::with("mixed.pml", MIXED);
    let count = "byte x; byte y; process P { state a; init a; trans a -> a { guard x < 200; effect x = x + 1; },
        a -> a { guard y < 200; effect y = y + 1; }; } system async;";
    folder.write("count.dve", count);
    let flags = ["--reduce", "none", "--no-deadlock", "--dir", "d"];
    let stopped = ["check", "count.dve", "--max-states", "999", "--report", "stopped.html"];
    assert_eq!(folder.run(&[&stopped[..], &flags].concat()).code, 3);
    let page = read(&folder, "stopped.html");
    assert!(page.contains("The search was stopped; this is its state so far."));
    let report = |args: &[&str], code, message: &str| {
        let output = folder.run(&[&["report"], args].concat());
        assert_eq!((output.code, output.out.as_str()), (code, ""), "{}", output.err);
        assert!(output.err.contains(message), "{}", output.err);
    };
    report(&["d"], 0, "wrote d.html");
    let page = read(&folder, "d.html");
    assert_self_contained(&page);
    assert!(page.contains("<title>count.dve: incomplete</title>"));
    assert!(page.contains("<p class=\"note\">stopped "));
    assert_eq!(folder.run(&["resume", "d"]).code, 0);
    report(&["d", "--out", "whole.html"], 0, "wrote whole.html");
    let page = read(&folder, "whole.html");
    assert!(page.contains("verified: every reachable state was visited, no violation was found"));
    assert!(
        page.contains("of 2 sessions") && page.contains("spillway resume d"),
        "how to do it again"
    );
    assert_eq!(page.matches("<svg class=\"plot\" role=\"img\" aria-label=\"").count(), 4);
    for part in [
        "States, candidates and duplicates per level",
        "States found over time",
        "Memory and disk over time, in MiB",
        "Bytes on disk per state",
        "seconds of searching",
        "The commands of ",
        "The search directory is ",
        " prints its counterexamples, ",
        " its progress.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_self_contained(&page);
    let record = read(&folder, "d/events.jsonl");
    let command = record.find("\"spillway resume").unwrap();
    let end = command + record[command..].find(',').unwrap();
    folder.write("d/events.jsonl", &format!("{}null{}", &record[..command], &record[end..]));
    report(&["d"], 0, "wrote d.html");
    assert!(read(&folder, "d.html").contains("--dir d\nby a program</pre>"));
    // Without events, or before the first checkpoint, the page has less.
    std::fs::remove_file(folder.path("d/events.jsonl")).unwrap();
    report(&["d"], 0, "wrote d.html");
    assert!(read(&folder, "d.html").contains("The progress over time is not on record."));
    std::fs::remove_file(folder.path("d/manifest")).unwrap();
    report(&["d"], 0, "wrote d.html");
    let page = read(&folder, "d.html");
    assert!(page.contains("no checkpoint yet") && page.contains("The command is not on record."));
    report(&["absent"], 2, "error: there is no search directory and no model absent");
    report(
        &["d", "--out", "no/such/folder.html"],
        2,
        "cannot write the report no/such/folder.html",
    );
    folder.write("d/job", "dear reader");
    report(&["d"], 4, "error: d: ");
    assert!(
        read(&folder, "d.html")
            .contains("the search directory cannot be read; the verdict is unknown")
    );
    report(&["tmp"], 2, "error: tmp is not a search directory, or has no search yet");
}

#[test]
fn a_liveness_check_has_a_page() {
    let folder = Folder::with("mixed.pml", MIXED);
    let holds = ["check", "mixed.pml", "--ltl", "[] (len(c) < 2)", "--dir", "runs"];
    assert_eq!(folder.run(&[&holds[..], &["--report", "one.html"]].concat()).code, 0);
    assert_eq!(folder.run(&["report", "runs", "--out", "two.html"]).code, 0);
    for name in ["one.html", "two.html"] {
        let page = read(&folder, name);
        assert_self_contained(&page);
        assert!(page.contains("<title>mixed.pml: verified</title>"), "{name}");
        assert!(
            page.contains("every run that meets no run-time error satisfies [] (len(c) &lt; 2)"),
            "{name}"
        );
        assert!(page.contains("id=\"l0-4\"") && !page.contains("id=\"way\""), "{name}");
    }
    let broken = ["check", "mixed.pml", "--ltl", "<> (x == 1)", "--dir", "broken", "--no-trace"];
    assert_eq!(folder.run(&broken).code, 1);
    assert_eq!(folder.run(&["report", "broken"]).code, 0);
    let page = read(&folder, "broken.html");
    for part in [
        "VIOLATED: a run does not satisfy &lt;&gt; (x == 1)",
        "The cycle starts after this step.",
        "After the last step, the run is back in the state after step ",
        "A[0]: c!ping",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let nothing = ["check", "mixed.pml", "--ltl", "true", "--report", "nothing.html"];
    assert_eq!(folder.run(&nothing).code, 0);
    assert!(
        read(&folder, "nothing.html").contains("no run violates true, whatever the model does")
    );
}

#[test]
fn all_states_of_a_small_model_are_drawn() {
    let two = "byte x; process P { state a; init a; assert a: x < 2; trans a -> a { guard x < 2; effect x = x + 1; },
        a -> a { guard x == 1; effect x = 1 / (x - 1); }; } system async;";
    let folder = Folder::with("two.dve", two);
    let drawn = ["check", "two.dve", "--keep-going", "--report", "out.html"];
    assert_eq!(folder.run(&drawn).code, 1);
    let page = read(&folder, "out.html");
    assert_self_contained(&page);
    let graph = page.split("<section id=\"states\">").nth(1).unwrap();
    let graph = graph.split("</section>").next().unwrap();
    for part in [
        "All states of the model, without reductions, in rows by depth; states that violate a property, or in which a transition fails, are red. ",
        "Point at a state or a transition for its name.",
        "<title>0 → 1: P.a -&gt; a</title>",
        "\nfails: P.a -&gt; a: 1 is divided by zero</title>",
        "<title>x = 2\nP = a</title>",
    ] {
        assert!(graph.contains(part), "{part}: {graph}");
    }
    assert_eq!(graph.matches("<circle").count(), 3);
    assert_eq!(graph.matches("class=\"bad\"").count(), 2);
}

#[test]
fn the_size_of_a_page_is_bounded() {
    let count = "int x; int w; process P { state a; init a; trans a -> a { guard x < 30000; effect x = x + 1; },
        a -> a { guard w < 1; effect w = w + 1; }; } system async;";
    let folder = Folder::with("count.dve", &(count.to_owned() + &"\n".repeat(6000)));
    let output = folder.run(&[
        "check",
        "count.dve",
        "--reduce",
        "none",
        "--no-trace",
        "--report",
        "out.html",
    ]);
    assert_eq!(output.code, 1);
    let page = read(&folder, "out.html");
    assert!(page.len() < 2 << 20, "{}", page.len());
    assert!(page.contains("These are its first 5,000 lines."));
    assert!(page.contains(" in the middle are left out; <code>spillway trace</code> prints them."));
    assert!(page.contains("The last 300 steps are drawn.") && page.contains(" steps are drawn."));
    assert!(
        page.contains("in the reduced search, up to where it ended")
            != page.contains(" up to where the search ended")
    );
}

#[test]
fn events_conform_to_their_schema() {
    let root = env!("CARGO_MANIFEST_DIR");
    let schema = std::fs::read_to_string(format!("{root}/docs/schema/events.json")).unwrap();
    let schema = validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let folder = Folder::with("mixed.pml", MIXED);
    assert_eq!(folder.run(&["check", "mixed.pml", "--dir", "d"]).code, 1);
    let lines = read(&folder, "d/events.jsonl");
    let events: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    for event in &events {
        let wrong: Vec<String> = schema.iter_errors(event).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "{event}: {wrong:?}");
    }
    let named: Vec<&str> = events.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!((named[0], named[named.len() - 1]), ("sitting", "ended"));
    assert!(named.contains(&"levels") && named.contains(&"progress"), "{named:?}");
    assert_eq!(events[0]["command"], "spillway check mixed.pml --dir d");
    assert!(!schema.is_valid(&serde_json::json!({ "event": "party" })));
}

/// Presses keys, and writes into the title the errors, the steps shown, and the number of requests.
const PROBE: &str = "<script>
const errors = [];
addEventListener('error', (it) => errors.push(it.message));
addEventListener('securitypolicyviolation', (it) => errors.push('refused ' + it.blockedURI));
addEventListener('load', () => {
  const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  const now = () => document.querySelector('#steps tr.now').dataset.step;
  const seen = [now()];
  for (const key of ['Home', 'ArrowRight', 'ArrowDown', 'End', 'ArrowLeft', 'Home']) { press(key); seen.push(now()); }
  press('End');
  const values = document.getElementById('values').innerText.replaceAll(/\\s+/g, ' ');
  const asked = performance.getEntriesByType('resource').length;
  document.title = JSON.stringify({ errors, seen, asked, values });
});
</script>";

/// The Chromium of this machine, if there is one.
pub fn browser() -> Option<&'static str> {
    let all = ["chromium", "chromium-browser", "google-chrome"];
    let runs =
        |it: &&str| Command::new(it).arg("--version").output().is_ok_and(|it| it.status.success());
    all.into_iter().find(runs)
}

/// Opens a page in a browser for a number of milliseconds. Returns its title, which is JSON.
#[track_caller]
pub fn read_page_title(browser: &str, folder: &Folder, address: &str, time: u32) -> Value {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--virtual-time-budget={time}"))
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(address)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    let title = shown.split("<title>").nth(1).and_then(|it| it.split("</title>").next());
    serde_json::from_str(title.unwrap_or_default()).unwrap_or_else(|error| {
        panic!("{error}: {title:?} {}", String::from_utf8_lossy(&output.stderr))
    })
}

#[test]
fn a_browser_steps_through_a_counterexample_by_keyboard() {
    let Some(browser) = browser() else {
        return eprintln!("left out: there is no Chromium to open the page with");
    };
    let folder = Folder::with("mixed.pml", MIXED);
    let output = folder.run(&["check", "mixed.pml", "--reduce", "none", "--report", "out.html"]);
    assert_eq!(output.code, 1);
    let page = read(&folder, "out.html").replacen("<style>", &format!("{PROBE}<style>"), 1);
    folder.write("probed.html", &page);
    let address = format!("file://{}", folder.path("probed.html").display());
    let title = read_page_title(browser, &folder, &address, 2000);
    assert_eq!((&title["errors"], &title["asked"]), (&serde_json::json!([]), &0.into()));
    let seen: Vec<u64> = title["seen"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap().parse().unwrap())
        .collect();
    // The page is opened at the failing step.
    let last = seen[0];
    assert_eq!(seen, [last, 0, 1, 2, last, last - 1, 0]);
    assert!(title["values"].as_str().unwrap().contains("c &lt;&gt;"), "{title}");
}

/// Writes into the title the steps shown before and after a click on the folded ones.
const FOLDS: &str = "<script>
addEventListener('load', () => {
  const seen = () => [...document.querySelectorAll('#steps tr')].filter((it) => !it.hidden).map((it) => it.cells[0].textContent);
  const before = seen();
  const again = document.querySelector('#steps tr.again');
  const says = again.cells[1].textContent;
  again.click();
  document.title = JSON.stringify({ before, says, after: seen() });
});
</script>";

#[test]
fn repeated_steps_are_folded_until_they_are_clicked() {
    let Some(browser) = browser() else {
        return eprintln!("left out: there is no Chromium to open the page with");
    };
    let count = "byte x; process P { state a; init a; assert a: x < 12; trans a -> a { effect x = x + 1; }; } system async;";
    let folder = Folder::with("count.dve", count);
    let output = folder.run(&["check", "count.dve", "--reduce", "none", "--report", "out.html"]);
    assert_eq!(output.code, 1);
    let page = read(&folder, "out.html").replacen("<style>", &format!("{FOLDS}<style>"), 1);
    folder.write("probed.html", &page);
    let address = format!("file://{}", folder.path("probed.html").display());
    let title = read_page_title(browser, &folder, &address, 2000);
    assert_eq!(title["before"], serde_json::json!(["0", "1", "…", "12"]), "{title}");
    assert_eq!(title["says"], "step 1 again 10 times, to step 11");
    assert_eq!(title["after"].as_array().unwrap().len(), 13, "{title}");
}
