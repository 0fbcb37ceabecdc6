//! Files for other tools (JUnit XML, SARIF), commands run at the end of a search, and example models.

use super::Folder;
use serde_json::{Value, json};

/// Two assertions, one of which fails; a formula that is not always checked.
const MIXED: &str = "byte x;
active proctype P() { do :: x < 4 -> x++; assert(x < 3) :: x == 0 -> skip od }
ltl small { [] (x < 9) }
";

const LOW: &str = "var x: 0..9;
startstate begin x := 0; end;
rule \"up & away\" x < 9 ==> begin x := x + 1; end;
invariant \"low\" x < 5;
invariant \"whole\" x >= 0;
";

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn junit_has_a_case_for_each_property() {
    let folder = Folder::with("low.m", LOW);
    let all = ["check", "low.m", "--keep-going", "--no-trace", "--junit", "all.xml"];
    let output = folder.run(&all);
    assert_eq!((output.code, output.err.as_str()), (1, "wrote all.xml\n"));
    let xml = read(&folder, "all.xml");
    for part in [
        "<testsuite name=\"low.m\" tests=\"4\" skipped=\"0\" errors=\"0\" failures=\"2\"",
        "<testcase name=\"invariant: low\" classname=\"low.m\">",
        "<failure message=\"violated after 5 steps\" type=\"invariant\">low.m:4:1: invariant: low",
        "    1  up &amp; away  (line 3)",
        "x: 4 -&gt; 5",
        "<testcase name=\"invariant: whole\"",
        "<testcase name=\"error: no run-time error\"",
        "<testcase name=\"deadlock: no state without successor\"",
        "<system-out>low.m: VIOLATED",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    // A cover that no state satisfies, and a model without deadlock.
    folder.write(
        "none.m",
        &(LOW.replace("x < 5", "x < 50")
            + "cover \"ten\" x = 10;\nrule x = 9 ==> begin x := 0; end;\n"),
    );
    assert_eq!(folder.run(&["check", "none.m", "--no-trace", "--junit", "none.xml"]).code, 1);
    let xml = read(&folder, "none.xml");
    for part in
        ["<failure message=\"it is so in no state\"", "deadlock: no state without successor"]
    {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    // A search that ends at the first violation leaves the other properties open.
    assert_eq!(folder.run(&["check", "low.m", "--no-trace", "--junit", "first.xml"]).code, 1);
    let xml = read(&folder, "first.xml");
    assert_eq!(
        xml.matches("<skipped message=\"the search ended at a violation\"").count(),
        3,
        "{xml}"
    );
    assert!(xml.contains("tests=\"4\" skipped=\"3\""), "{xml}");
    let stopped = ["check", "low.m", "--max-states", "2", "--reduce", "none", "--dir", "d"];
    assert_eq!(folder.run(&[&stopped[..], &["--junit", "open.xml"]].concat()).code, 3);
    let xml = read(&folder, "open.xml");
    assert_eq!(xml.matches("<skipped message=\"the search is not complete\"").count(), 4, "{xml}");
    assert!(!xml.contains("<failure"), "{xml}");
    let output = folder.run(&["check", "low.m", "--junit", "no/such/folder.xml"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("cannot write the JUnit file no/such/folder.xml"),
        "{}",
        output.err
    );
}

#[test]
fn sarif_has_a_rule_for_each_property_and_a_code_flow() {
    let folder = Folder::with("low.m", LOW);
    let all = ["check", "low.m", "--keep-going", "--no-trace", "--sarif", "all.sarif"];
    assert_eq!(folder.run(&all).code, 1);
    let sarif: Value = serde_json::from_str(&read(&folder, "all.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["deadlock", "error", "invariant/low", "invariant/whole"]);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let low = &results[0];
    assert_eq!((&low["ruleId"], &low["ruleIndex"]), (&json!("invariant/low"), &json!(2)));
    assert_eq!(low["message"]["text"], "invariant: low: violated after 5 steps");
    let at = &low["locations"][0]["physicalLocation"];
    assert_eq!(
        (&at["artifactLocation"]["uri"], &at["region"]["startLine"]),
        (&json!("low.m"), &json!(4))
    );
    let steps = low["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(steps.len(), 6);
    assert_eq!(steps[5]["location"]["message"]["text"], "up & away; x: 4 -> 5");
    assert_eq!(steps[5]["location"]["physicalLocation"]["region"]["startLine"], 3);
    assert!(results[1].get("codeFlows").is_none());
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"], json!([]));
    assert_eq!(folder.run(&["check", "low.m", "--no-trace", "--sarif", "first.sarif"]).code, 1);
    let sarif: Value = serde_json::from_str(&read(&folder, "first.sarif")).unwrap();
    let notes =
        sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notes[0]["message"]["text"], "invariant: whole: the search ended at a violation");
    assert_eq!(notes.len(), 3);
    let output = folder.run(&["check", "low.m", "--sarif", "no/such/folder.sarif"]);
    assert!(
        output.err.contains("cannot write the SARIF file no/such/folder.sarif"),
        "{}",
        output.err
    );
}

#[test]
fn temporal_properties_have_cases_and_unchecked_ones_are_skipped() {
    let folder = Folder::with("mixed.pml", MIXED);
    let holds =
        ["check", "mixed.pml", "--ltl", "small", "--junit", "small.xml", "--sarif", "s.sarif"];
    assert_eq!(folder.run(&holds).code, 0);
    let xml = read(&folder, "small.xml");
    // Another search checks the assertions.
    assert!(xml.contains("tests=\"2\" skipped=\"1\" errors=\"0\" failures=\"0\""), "{xml}");
    assert!(xml.contains("<testcase name=\"ltl: small\""), "{xml}");
    let broken =
        ["check", "mixed.pml", "--ltl", "<> (x == 2)", "--junit", "x.xml", "--sarif", "s.sarif"];
    assert_eq!(folder.run(&broken).code, 1);
    let xml = read(&folder, "x.xml");
    assert!(xml.contains("<failure message=\"a run does not have it\" type=\"ltl\">"), "{xml}");
    let asserts = ["check", "mixed.pml", "--no-claim", "--only", "assert", "--no-trace"];
    folder.write("holds.pml", &MIXED.replace("x < 3", "x < 5"));
    let holds = [&asserts[..1], &["holds.pml"], &asserts[2..], &["--junit", "holds.xml"]].concat();
    assert_eq!(folder.run(&holds).code, 0);
    let xml = read(&folder, "holds.xml");
    assert!(xml.contains("<testcase name=\"assert: no assertion fails\""), "{xml}");
    let sarif: Value = serde_json::from_str(&read(&folder, "s.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "ltl/<> (x == 2)");
    assert!(sarif["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0].is_object());
    let states = ["check", "mixed.pml", "--no-claim", "--junit", "states.xml", "--no-trace"];
    assert_eq!(folder.run(&states).code, 1);
    let xml = read(&folder, "states.xml");
    assert!(xml.contains("<testcase name=\"ltl: small\""), "{xml}");
    assert!(xml.contains("<skipped message=\"it was not checked\""), "{xml}");
    // The formula holds for runs without errors, and errors are checked next.
    let own = ["check", "mixed.pml", "--junit", "own.xml", "--no-trace"];
    let output = folder.run(&own);
    assert_eq!(output.code, 1, "{}", output.err);
    let xml = read(&folder, "own.xml");
    assert!(xml.contains("tests=\"3\" skipped=\"1\" errors=\"0\" failures=\"1\""), "{xml}");
    let (_, case) = xml.split_once("<testcase name=\"ltl: small\"").unwrap();
    assert!(!case.split_once("</testcase>").unwrap().0.contains("<failure"), "{xml}");
}

/// The ids of all rules and the names of all test cases of a check with these flags; both files.
fn rule_and_case_ids(folder: &Folder, args: &[&str]) -> (Vec<String>, Vec<String>, Value, String) {
    let files = ["--junit", "ids.xml", "--sarif", "ids.sarif", "--no-trace"];
    folder.run(&[&["check"], args, &files].concat());
    let sarif: Value = serde_json::from_str(&read(folder, "ids.sarif")).unwrap();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rules = rules.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    let xml = read(folder, "ids.xml");
    let cases = xml.split("<testcase name=\"").skip(1);
    let mut cases: Vec<String> = cases.map(|it| it.split('"').next().unwrap().to_owned()).collect();
    cases.sort();
    (rules, cases, sarif, xml)
}

#[test]
fn the_id_of_a_property_does_not_depend_on_its_verdict() {
    let text = "byte x;
active proctype P() { accept_a: do :: x < 4 -> progress: x++; assert(x < LIMIT); assert(x < LIMIT + 1) :: x == 4 -> break od }
ltl small { [] (x < 9) }
ltl two { <> (x == 4) }
";
    let folder = Folder::with("holds.pml", &text.replace("LIMIT", "9"));
    folder.write("breaks.pml", &text.replace("LIMIT", "2"));
    let all = ["acceptance", "assert", "deadlock", "error", "ltl/small", "ltl/two", "non-progress"];
    let cases = [
        "acceptance: no acceptance cycle",
        "assert: no assertion fails",
        "deadlock: no state without successor",
        "error: no run-time error",
        "ltl: small",
        "ltl: two",
        "non-progress: no non-progress cycle",
    ];
    for flags in [
        &["holds.pml"][..],
        &["breaks.pml"],
        &["breaks.pml", "--keep-going"],
        &["holds.pml", "--strict"],
        &["holds.pml", "--max-states", "2"],
    ] {
        let (rules, names, _, xml) = rule_and_case_ids(&folder, flags);
        assert_eq!(
            (&rules[..], &names[..]),
            (&all.map(str::to_owned)[..], &cases.map(str::to_owned)[..]),
            "{flags:?}: {xml}"
        );
    }
    // Two failing assertions are two violations of one property.
    let (.., sarif, xml) = rule_and_case_ids(&folder, &["breaks.pml", "--keep-going"]);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.len() == 2 && results.iter().all(|it| it["ruleId"] == "assert"), "{sarif}");
    assert!(xml.contains("assertion failed in P: assert(x &lt; 2): violated after "), "{xml}");
    assert!(xml.contains("assert: assertion failed in P: assert(x &lt; 2 + 1)"), "{xml}");
    assert_eq!(xml.matches("<failure").count(), 1, "{xml}");
    // A property checked alone keeps its id, and so do the unchecked ones.
    for (flags, checked) in [
        (&["--ltl", "small"][..], "ltl/small"),
        (&["--ltl", "two"], "ltl/two"),
        (&["--acceptance"], "acceptance"),
        (&["--non-progress"], "non-progress"),
    ] {
        let (mut rules, .., sarif, xml) =
            rule_and_case_ids(&folder, &[&["holds.pml"], flags].concat());
        // A search that visits every transition without an error has checked that there is none.
        rules.retain(|it| it != "error");
        let of_runs = ["acceptance", "assert", "ltl/small", "ltl/two", "non-progress"];
        assert_eq!(rules, of_runs, "{flags:?}");
        let notes = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        let notes = notes.as_array().unwrap().iter().map(|it| &it["associatedRule"]["id"]);
        assert!(notes.clone().count() >= 3 && notes.clone().all(|it| it != checked), "{sarif}");
        let skipped = xml.matches("<skipped message=\"it was not checked\"/>").count();
        assert_eq!(skipped, notes.count(), "{xml}");
    }
    // In DVE each assertion is a property. Two invariants of the same name have different ids.
    folder.write("two.dve", "byte x; process P { state a; init a; assert a: x < 3; trans a -> a { guard x < 2; effect x = x + 1; }; } system async;");
    assert_eq!(rule_and_case_ids(&folder, &["two.dve"]).0, ["assert/x < 3", "deadlock", "error"]);
    folder.write("same.m", "var x: 0..3; startstate begin x := 0; end; rule begin x := 0; end; invariant \"i\" x < 3; invariant \"i\" x < 2;");
    assert_eq!(
        rule_and_case_ids(&folder, &["same.m"]).0,
        ["deadlock", "error", "invariant/i", "invariant/i#2"]
    );
}

#[test]
fn unchecked_properties_are_failures_with_strict() {
    let folder = Folder::with("mixed.pml", &MIXED.replace("x < 3", "x < 5"));
    let states = ["check", "mixed.pml", "--no-claim", "--no-deadlock", "--strict"];
    let (.., sarif, xml) = rule_and_case_ids(&folder, &states[1..]);
    assert_eq!(folder.run(&states).code, 1);
    let failure = "<failure message=\"it was not checked\" type=\"unchecked\">mixed.pml:3:5: ltl: small</failure>";
    assert!(xml.contains("failures=\"1\"") && xml.contains(failure), "{xml}");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("ltl/small"), &json!("error")));
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 3, "{sarif}");
    // Assertions that a liveness check omits count as well.
    let runs = ["check", "mixed.pml", "--ltl", "<> (x >= 0)", "--strict"];
    let (.., sarif, xml) = rule_and_case_ids(&folder, &runs[1..]);
    assert_eq!(folder.run(&runs).code, 1);
    assert!(xml.contains("failures=\"1\" errors=\"0\"") || xml.contains("failures=\"2\""), "{xml}");
    assert!(
        sarif["runs"][0]["results"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["ruleId"] == "ltl/small")
    );
}

#[test]
fn an_unreadable_model_is_reported_in_each_file() {
    let folder = Folder::with("bad.pml", "byte x;\nactive proctype P() { x = = 1 }\n");
    let files = ["--junit", "e.xml", "--sarif", "e.sarif"];
    let output = folder.run(&[&["check", "bad.pml"][..], &files].concat());
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(
        output.err.starts_with("bad.pml:2:27: error: ") && output.err.ends_with("wrote e.sarif\n")
    );
    let xml = read(&folder, "e.xml");
    for part in [
        "tests=\"1\" skipped=\"0\" errors=\"1\" failures=\"0\"",
        "<testcase name=\"mistake: the model can be read\" classname=\"bad.pml\">",
        "<error message=\"bad.pml:2:27: error: ",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    let sarif: Value = serde_json::from_str(&read(&folder, "e.sarif")).unwrap();
    let run = &sarif["runs"][0];
    let invocation = &run["invocations"][0];
    assert_eq!(
        (&invocation["executionSuccessful"], &invocation["exitCode"]),
        (&json!(false), &json!(2))
    );
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("mistake"), &json!("error")));
    let at = &result["locations"][0]["physicalLocation"];
    assert_eq!(at["artifactLocation"]["uri"], "bad.pml");
    assert_eq!((&at["region"]["startLine"], &at["region"]["startColumn"]), (&json!(2), &json!(27)));
    // Failures without a position: a missing model, contradicting flags, a damaged directory.
    folder.write("job", "dear reader");
    std::fs::create_dir(folder.path("d")).unwrap();
    std::fs::rename(folder.path("job"), folder.path("d/job")).unwrap();
    for (args, code, part) in [
        (&["check", "absent.m"][..], 2, "cannot read the model absent.m"),
        (&["check", "bad.pml", "--fair", "strong", "--ltl", "x"], 2, "bad.pml:2:27: error"),
        (&["resume", "d"], 4, "job is damaged"),
    ] {
        let files = ["--junit", "f.xml", "--sarif", "f.sarif"];
        assert_eq!(folder.run(&[args, &files].concat()).code, code, "{args:?}");
        let xml = read(&folder, "f.xml");
        assert!(xml.contains("errors=\"1\"") && xml.contains(part), "{xml}");
        let sarif: Value = serde_json::from_str(&read(&folder, "f.sarif")).unwrap();
        assert_eq!(sarif["runs"][0]["invocations"][0]["exitCode"], code);
        std::fs::remove_file(folder.path("f.xml")).unwrap();
        std::fs::remove_file(folder.path("f.sarif")).unwrap();
    }
    folder.run(&["resume", "d", "--junit", "failure.xml"]);
    let xml = read(&folder, "failure.xml");
    assert!(xml.contains("<testcase name=\"failure: the search comes to its end\""), "{xml}");
}

#[test]
fn notify_runs_a_command_with_the_result_in_variables() {
    let folder = Folder::with("low.m", LOW);
    let notify = "echo \"$SPILLWAY_VERDICT $SPILLWAY_EXIT_CODE $SPILLWAY_MODEL $SPILLWAY_DIR, $SPILLWAY_ERROR\" > told";
    let assert_notified = |args: &[&str], expected: &str| {
        let output = folder.run(&[args, &["--notify", notify]].concat());
        assert_eq!(read(&folder, "told"), expected, "{}", output.err);
    };
    let stopped = ["check", "low.m", "--max-states", "2", "--reduce", "none", "--dir", "d"];
    assert_notified(&stopped, "incomplete 3 low.m d, \n");
    // The resumed search runs the command of the first session, too.
    std::fs::remove_file(folder.path("told")).unwrap();
    assert_eq!(folder.run(&["resume", "d"]).code, 1);
    assert_eq!(read(&folder, "told"), "violated 1  d, \n");
    assert_notified(
        &["check", "low.m", "--only", "error", "--no-deadlock"],
        "verified 0 low.m , \n",
    );
    assert_notified(
        &["check", "absent.m"],
        "failed 2 absent.m , error: cannot read the model absent.m: No such file or directory (os error 2)\n",
    );
    // A stopped search has a temporary directory; a search with a verdict has deleted it.
    let stopped = [
        "check",
        "low.m",
        "--max-states",
        "2",
        "--reduce",
        "none",
        "--notify",
        "echo \"$SPILLWAY_DIR\" > told",
    ];
    assert_eq!(folder.run(&stopped).code, 3);
    let dir = read(&folder, "told").trim().to_owned();
    assert!(dir.contains("/tmp/spillway-") && std::path::Path::new(&dir).is_dir(), "{dir}");
    assert_eq!(folder.run(&["resume", &dir]).code, 1);
    assert_eq!(read(&folder, "told"), "\n");
    assert!(!std::path::Path::new(&dir).exists());
    let output = folder.run(&["check", "low.m", "--no-trace", "--notify", "exit 7"]);
    assert_eq!(output.code, 1);
    assert!(output.err.ends_with("warning: the command of --notify failed: exit status: 7\n"));
}

#[test]
fn the_notify_command_reads_the_summary() {
    let folder = Folder::with("low.m", LOW);
    let summary = |args: &[&str]| {
        let output = folder.run(&[args, &["--notify", "cat > told"]].concat());
        (output.out, read(&folder, "told"))
    };
    let (out, lines) = summary(&["check", "low.m", "--no-trace"]);
    assert!(
        lines.starts_with("low.m: VIOLATED: invariant: low at low.m:4:1\n") && lines == out,
        "{lines}"
    );
    let (_, lines) = summary(&["check", "low.m", "--json"]);
    assert!(lines.starts_with("low.m: VIOLATED: invariant: low at low.m:4:1\n"), "{lines}");
    let (_, lines) = summary(&["check", "low.m", "--ltl", "<> (x = 3)"]);
    assert!(lines.starts_with("low.m: verified: every run satisfies <> (x = 3)\n"), "{lines}");
    let (_, lines) = summary(&["check", "low.m", "--ltl", "true"]);
    assert!(lines.starts_with("low.m: verified: no run violates true"), "{lines}");
    let (_, lines) = summary(&["check", "absent.m"]);
    assert!(lines.starts_with("error: cannot read the model absent.m: "), "{lines}");
    // A command that does not read its input is not waited for.
    let output = folder.run(&["check", "low.m", "--no-trace", "--notify", "exec 0<&-; exit 0"]);
    assert_eq!((output.code, output.err.as_str()), (1, ""));
}

#[test]
fn a_resumed_search_writes_the_output_files() {
    let folder = Folder::with("low.m", LOW);
    let files = ["--report", "r.html", "--junit", "r.xml", "--sarif", "r.sarif"];
    let stopped = ["check", "low.m", "--max-states", "2", "--reduce", "none", "--dir", "d"];
    assert_eq!(folder.run(&[&stopped[..], &files].concat()).code, 3);
    let names = ["r.html", "r.xml", "r.sarif"];
    names.iter().for_each(|it| std::fs::remove_file(folder.path(it)).unwrap());
    // A copied directory may be anybody's: its output flags are ignored, with a note.
    std::fs::create_dir(folder.path("copy")).unwrap();
    for file in std::fs::read_dir(folder.path("d")).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), folder.path("copy").join(file.file_name())).unwrap();
    }
    let output = folder.run(&["resume", "copy", "--no-trace", "--junit", "own.xml"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("note: the directory is not from this machine, so its flags for output are ignored: --report "), "{}", output.err);
    assert!(
        output.err.contains("r.sarif; repeat those that you need\n")
            && !output.err.contains("--junit"),
        "{}",
        output.err
    );
    assert!(folder.path("own.xml").exists() && !names.iter().any(|it| folder.path(it).exists()));
    // Files are written to the path of the first session, whatever the current folder.
    let output = folder.run(&["resume", "d", "--no-trace"]);
    assert_eq!(output.code, 1);
    for name in names {
        assert!(output.err.contains(&format!("/{name}\n")), "{}", output.err);
        assert!(read(&folder, name).contains("low"), "{name}");
    }
    // The same holds for a liveness check.
    let runs = ["check", "low.m", "--ltl", "<> (x = 3)", "--max-states", "2", "--dir", "runs"];
    assert_eq!(
        folder.run(&[&runs[..], &["--notify", "echo $SPILLWAY_VERDICT >> all"]].concat()).code,
        3
    );
    assert_eq!(folder.run(&["resume", "runs"]).code, 0);
    assert_eq!(read(&folder, "all"), "incomplete\nverified\n");
}

#[test]
fn new_models_are_verified_and_fail_as_documented() {
    let folder = Folder::with("taken.m", LOW);
    for (language, file, out, broken) in [
        ("promela", "model.pml", "\tturn = other;\n", ""),
        ("murphi", "model.m", "    held := true;\n", ""),
        ("dve", "model.dve", ", turn = 1; }", "; }"),
    ] {
        let message = format!("wrote {file}; `spillway check {file}` checks it\n");
        folder.assert_prints(&["new", language], 0, &message);
        let output = folder.run(&["check", file]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
        assert!(output.out.contains("verified: "), "{}", output.out);
        let text = read(&folder, file);
        assert!(text.contains(&format!("spillway check {file}")) && !text.contains("NAME"));
        assert!(text.contains(out), "{text}");
        let text = text.replace(out, broken).replace(", turn = 0; }", "; }");
        folder.write(file, &text);
        assert_eq!(folder.run(&["check", file]).code, 1, "{text}");
    }
    let output = folder.run(&["new", "murphi", "taken.m"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert_eq!(output.err, "error: taken.m already exists\n  help: use another file name\n");
    assert_eq!(read(&folder, "taken.m"), LOW);
    let output = folder.run(&["new", "dve", "no/such.dve"]);
    assert!(
        output.err.starts_with("error: cannot write the model no/such.dve: "),
        "{}",
        output.err
    );
}

#[test]
fn doctor_reports_the_machine_and_suggests_flags() {
    let folder = Folder::with("low.m", LOW);
    let output = folder.run(&["doctor", "--dir", "."]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    for part in [
        "  limits   ",
        " open files, files of unlimited size\n",
        "  memory   ",
        " of it free",
        "  threads  ",
        " at a time\n",
        "  code     models are compiled to machine code\n",
        "  disk     .: ",
        " a second; a flush takes ",
        "  flags    spillway check MODEL --memory ",
        " --dir ./NAME --disk-limit",
    ] {
        assert!(output.out.contains(part), "{part}: {}", output.out);
    }
    // No test file remains. No file is created if the folder is missing.
    let names = std::fs::read_dir(folder.path("")).unwrap().map(|it| it.unwrap().file_name());
    assert!(!names.into_iter().any(|it| it.to_string_lossy().starts_with("spillway-doctor")));
    let output = folder.run(&["doctor", "--dir", "absent"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.starts_with("error: cannot make a search directory in absent: "),
        "{}",
        output.err
    );
}
