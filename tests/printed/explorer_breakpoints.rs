//! `explore`: runs that stop at breakpoints, and shortest paths from a search directory.

use super::Folder;
use super::explorer::{CHANNEL, ExplorerServer, actions, has};
use super::page_server::PageResponse;

/// The breakpoints of a page: their kinds, their texts, and whether the last step stops there.
fn breakpoints(page: &str) -> Vec<(String, String, bool)> {
    let section = page.split("<section id=\"breakpoints\">").nth(1).unwrap();
    let table = section.split("<table>").nth(1).unwrap().split("</table>").next().unwrap();
    let rows = table.split("<tr").skip(1).map(|row| {
        let cells: Vec<&str> =
            row.split("<td>").map(|it| it.split("</td>").next().unwrap()).collect();
        let text = cells[2].trim_start_matches("<code>").trim_end_matches("</code>");
        (cells[1].to_owned(), text.to_owned(), row.contains("the last step stops here"))
    });
    rows.collect()
}

/// The button of a line.
fn line_button<'p>(page: &'p str, line: &str) -> &'p str {
    let row = page.split(&format!("id=\"{line}\">")).nth(1).unwrap().split("</tr>").next().unwrap();
    row.split("<button class=\"line\"")
        .nth(1)
        .map_or("", |it| it.split("</button>").next().unwrap())
}

#[test]
fn a_run_stops_at_breakpoints() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    // A line without a step has no button. The button of another one names the line.
    let page = explorer.page("/at/0");
    assert_eq!(line_button(&page, "l0-1"), "");
    has(line_button(&page, "l0-4"), &["name=\"toggle\" value=\"4\"", "aria-pressed=\"false\">4"]);
    // A breakpoint is set, shown, kept by every link, and deleted.
    let set = explorer.moved("/at/0?toggle=4");
    assert_eq!(set, "/at/0?break=4#l0-4");
    let page = explorer.page("/at/0?break=4");
    has(line_button(&page, "l0-4"), &["title=\"delete the breakpoint\"", "aria-pressed=\"true\""]);
    // The initial state has a process at the line.
    assert_eq!(breakpoints(&page), [("line".to_owned(), "4".to_owned(), true)]);
    assert_eq!(actions(&page)[0].0, "/at/0.0?break=4");
    has(&page, &["<a href=\"/at/0.0?break=4\"><g"]);
    assert_eq!(explorer.moved("/at/0?break=4&toggle=4"), "/at/0#l0-4");
    // A run stops when a process reaches the line.
    folder.write("lines.pml", "byte n;\nactive proctype P() {\n  n = 1;\n  n = 2;\n  n = 3\n}\n");
    let lines = ExplorerServer::of(&folder, &["lines.pml"]);
    assert_eq!(lines.moved("/run/0?break=4"), "/at/0.0?break=4");
    let page = lines.page("/at/0.0?break=4");
    assert_eq!(breakpoints(&page), [("line".to_owned(), "4".to_owned(), true)]);
    let steps = |at: &str| {
        let page = explorer.page(at);
        let step = page.split("<p class=\"verdict\">after ").nth(1).unwrap();
        step.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    // Actions, with and without the process, and expressions that begin to hold.
    let received = explorer.moved("/run/0?break=c%3Fv");
    assert_eq!(steps(&received), 3);
    assert_eq!(explorer.moved("/run/0?break=B:+c%3Fv").replace("B%3A+", ""), received);
    let start = explorer.moved("/run/0?break=n+%3D%3D+1");
    assert_eq!(
        breakpoints(&explorer.page(&start)),
        [("expression".to_owned(), "n == 1".to_owned(), true)]
    );
    let repeated = explorer.get(&start.replace("/at/", "/run/"));
    assert!(repeated.code == 200 || steps(&repeated.head) > steps(&start), "{}", repeated.head);
    // The nearest of several breakpoints stops the run; so does the expression to run to.
    let all = "?break=n+%3D%3D+1&break=c%3Fv&until=len(c)+%3D%3D+1";
    assert_eq!(steps(&explorer.moved(&format!("/run/0{all}"))), 2);
    let both = explorer.moved("/run/0?break=n+%3D%3D+1&break=c%3Fv");
    assert_eq!(steps(&both), 3);
    let hits: Vec<bool> = breakpoints(&explorer.page(&both)).iter().map(|it| it.2).collect();
    assert_eq!(hits, [false, true]);
    // Random steps stop there too, and the same seed repeats them.
    let random = "/run/0?break=n+%3D%3D+1&by=random&seed=3";
    let walked = explorer.moved(random);
    assert!(breakpoints(&explorer.page(&walked))[0].2, "{walked}");
    assert_eq!(explorer.moved(random), walked);
    let nowhere = explorer.page("/run/0?break=n+%3D%3D+200");
    has(&nowhere, &["No state that can be reached from here is at a breakpoint: all "]);
    let nowhere = explorer.page("/run/0?break=n+%3D%3D+200&until=n+%3D%3D+201&states=3");
    has(&nowhere, &["No state that satisfies n == 201 or is at a breakpoint was found."]);
}

#[test]
fn an_invalid_breakpoint_is_rejected() {
    let folder = Folder::with("c.pml", CHANNEL);
    let explorer = ExplorerServer::of(&folder, &["c.pml"]);
    for (text, why) in [
        ("1", "no step is at line 1 of c.pml"),
        ("99", "c.pml has no line 99: it has 4"),
        ("other.pml:3", "the model has no file `other.pml`"),
        ("nobody+%3D%3D+1", "nobody"),
        ("n+%2B+1", "`n + 1` is no condition: its value is a number"),
    ] {
        let PageResponse { code, text: page, .. } = explorer.get(&format!("/at/0?toggle={text}"));
        assert_eq!(code, 400, "{text}: {page}");
        let notice = page.split("id=\"notice\"").nth(1).unwrap().split("</p>").next().unwrap();
        has(notice, &[why]);
        assert!(!page.contains("the last step stops here"), "{page}");
    }
    // An address with an invalid breakpoint has no page.
    let PageResponse { code, text, .. } = explorer.get("/at/0?break=99");
    assert_eq!(code, 404);
    has(&text, &["a breakpoint of the address cannot be set: c.pml has no line 99"]);
    let many: String = (0..240).map(|it| format!("&break=n+%3D%3D+{it}")).collect();
    let PageResponse { code, text, .. } = explorer.get(&format!("/at/0?{}", &many[1..]));
    assert_eq!(code, 404);
    has(&text, &["the texts of the breakpoints have more than 4 KiB in an address"]);
}

/// A ring of 60,000 states. Its far side is beyond the bound of a search from the start.
const RING: &str = "int x; active proctype P() { do :: d_step { x < 30000; x++ } :: d_step { x > -30000; x-- } od }";

#[test]
fn shortest_paths_use_the_search_directory() {
    let folder = Folder::with("ring.pml", RING);
    let args = ["check", "ring.pml", "--dir", "d", "--no-dive", "--reduce", "none"];
    assert_eq!(folder.run(&args).code, 0);
    let far = format!("/shortest/0.{}", ["0x12000", "1x20", "0x20"].join("."));
    let page = ExplorerServer::of(&folder, &["ring.pml"]).page(&far);
    has(
        &page,
        &["No shortest path was found: the search ended at its bound, after 20,000 states.</p>"],
    );
    assert_eq!(ExplorerServer::of(&folder, &["d"]).moved(&far), "/at/0x12001");
    // A state outside the levels is found by a search, and the page contains the reason.
    let bound = "No shortest path was found: the search ended at its bound, after ";
    let limited = ["check", "ring.pml", "--dir", "e", "--no-dive", "--max-states", "100"];
    assert_eq!(folder.run(&limited).code, 3);
    let page = ExplorerServer::of(&folder, &["e"]).page(&far);
    let why = "20,000 states. The search directory has no shortest path: its levels do not contain this state.</p>";
    has(&page, &[&format!("{bound}{why}")]);
    folder.write("c.pml", CHANNEL);
    let merged = ["check", "c.pml", "--dir", "f", "--reduce", "merge", "--no-trace"];
    assert_eq!(folder.run(&merged).code, 1);
    let page = ExplorerServer::of(&folder, &["f"]).page("/shortest/0x4?states=1");
    let why = "1 state. The search directory has no shortest path: its reductions do not preserve the lengths of paths.</p>";
    has(&page, &[&format!("{bound}{why}")]);
}

/// A directory without the levels of a program, or a deleted one, has no such path.
#[test]
fn other_directories_have_no_shortest_path() {
    let folder = Folder::with(
        "r.pml",
        "byte x; active proctype P() { do :: x = 1 - x od } ltl p { [] (x == 0) }",
    );
    assert_eq!(folder.run(&["check", "r.pml", "--dir", "d", "--no-trace"]).code, 1);
    folder.write("ring.pml", RING);
    assert_eq!(folder.run(&["check", "ring.pml", "--dir", "f", "--no-dive"]).code, 0);
    for (dir, why) in [
        ("d", " ended at its bound, after 1 state.</p>"),
        ("f", " The search directory cannot be read: "),
    ] {
        let explorer = ExplorerServer::of(&folder, &[dir]);
        let path = if dir == "f" { "/shortest/0x30?states=1" } else { "/shortest/0x4?states=1" };
        if dir == "f" {
            std::fs::remove_dir_all(folder.path("f")).unwrap();
        }
        has(&explorer.page(path), &["No shortest path was found: ", why]);
    }
}

/// The values of a specification get their numbers in the order in which the search meets them.
#[test]
fn a_shortest_path_comes_from_the_states_of_a_specification() {
    let module = "---- MODULE m ----\nEXTENDS Integers, Sequences\nVARIABLE x\nInit == x = <<0>>\nNext == (Len(x) < 40 /\\ x' = Append(x, Len(x) % 3)) \\/ (Len(x) > 1 /\\ x' = SubSeq(x, 1, Len(x) - 1))\n====\n";
    let folder = Folder::with("m.tla", module);
    folder.write("m.cfg", "INIT Init\nNEXT Next\n");
    let ran = folder.run(&["check", "m.tla", "--dir", "d"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // With a bound of one state, no search finds the path.
    let explorer = ExplorerServer::of(&folder, &["d"]);
    assert_eq!(explorer.moved("/shortest/0x8?states=1"), "/at/0x8");
    // The second action undoes the first one.
    assert_eq!(explorer.moved("/shortest/0x4.1?states=1"), "/at/0x3");
}

/// A jump to a state of the search directory reads each state that the search stored, and no other.
#[test]
fn a_jump_goes_to_the_first_stored_state() {
    let folder = Folder::with("ring.pml", RING);
    let args = ["check", "ring.pml", "--dir", "d", "--no-dive", "--reduce", "none"];
    assert_eq!(folder.run(&args).code, 0);
    let explorer = ExplorerServer::of(&folder, &["d"]);
    has(&explorer.page("/at/0"), &["value=\"stored\"> the first state in the search directory"]);
    // It is beyond the bound of a search from the start, and the current state does not matter.
    let run = "/run/0.1x5?by=stored&states=1&until=x+%3C+-12000";
    assert_eq!(explorer.moved(run), "/at/0.1x12001");
    let nowhere = explorer.page("/run/0?by=stored&until=x+%3E+30000");
    has(&nowhere, &["No state in the search directory satisfies x &gt; 30000."]);
    let refused = explorer.get("/run/0?by=stored&until=x+%3E");
    assert_eq!(refused.code, 400);
    has(&refused.text, &["expression:1:"]);
    // Without a directory there is no such way.
    let page = ExplorerServer::of(&folder, &["ring.pml"]).page("/at/0");
    assert!(!page.contains("value=\"stored\""), "{page}");
}

/// Stored states that are no states of the model are not looked at. The page says why.
#[test]
fn a_jump_needs_the_states_of_the_model() {
    let folder = Folder::with("c.pml", CHANNEL);
    let model = format!("{}/models/tla/two_phase_commit.tla", env!("CARGO_MANIFEST_DIR"));
    for (args, code, until, why) in [
        (
            &["check", "c.pml", "--dir", "f", "--reduce", "merge", "--no-trace"][..],
            1,
            "n+%3E+1",
            "its reductions change the stored states",
        ),
        (
            &[
                "check",
                "c.pml",
                "--dir",
                "g",
                "--store",
                "comback",
                "--reduce",
                "none",
                "--no-trace",
            ],
            1,
            "n+%3E+1",
            "it stores hashes and back-edges",
        ),
        (
            &["check", &model, "--dir", "h"],
            0,
            "TRUE",
            "its states are encoded without the expression",
        ),
    ] {
        assert_eq!(folder.run(args).code, code, "{args:?}");
        let dir = args.iter().skip_while(|it| **it != "--dir").nth(1).unwrap();
        let explorer = ExplorerServer::of(&folder, &[dir]);
        let page = explorer.page(&format!("/run/0?by=stored&until={until}"));
        let told = format!(
            "The states in the search directory were not looked at: {why}. The nearest state can be searched."
        );
        has(&page, &[&told]);
    }
}

/// A search with symmetry stores one state of each orbit. The path may lead to another state of the orbit. The page
/// contains a note about it.
#[test]
fn a_shortest_path_may_lead_to_an_equivalent_state() {
    let model = format!("{}/models/murphi/msi_bus.m", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::with("nothing", "");
    let args = ["check", &model, "--dir", "d", "--symmetry", "exact"];
    assert_eq!(folder.run(&args).code, 0);
    let explorer = ExplorerServer::of(&folder, &["d"]);
    let all = actions(&explorer.page("/at/0"));
    let same = all.iter().filter(|it| it.1.starts_with("own ")).map(|it| {
        let address = it.0.replace("/at/", "/shortest/");
        explorer.get(&address)
    });
    let (same, other): (Vec<_>, Vec<_>) = same.partition(|it| it.code == 303);
    assert!(!same.is_empty() && !other.is_empty(), "{} {}", same.len(), other.len());
    for page in other {
        has(&page.text, &[EQUIVALENT, "after 1 step"]);
    }
}

const EQUIVALENT: &str = "This is a shortest path to a state that the search does not distinguish from the one before. \
                          Some of its values may differ.";
