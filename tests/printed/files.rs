//! What is written for other tools of what was found: JUnit's XML, SARIF; what is run at the end; models to start from.

use super::Folder;
use serde_json::{Value, json};

/// Two things are asserted, of which one fails; a never claim is not looked for.
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
fn junit_has_a_case_for_each_thing_that_was_looked_for() {
    let folder = Folder::with("low.m", LOW);
    let all = ["check", "low.m", "--keep-going", "--no-trace", "--junit", "all.xml"];
    let ran = folder.run(&all);
    assert_eq!((ran.code, ran.err.as_str()), (1, "wrote all.xml\n"));
    let xml = read(&folder, "all.xml");
    for part in [
        "<testsuite name=\"low.m\" tests=\"4\" skipped=\"0\" errors=\"0\" failures=\"2\"",
        "<testcase name=\"invariant: low\" classname=\"low.m\">",
        "<failure message=\"violated after 5 steps\" type=\"invariant\">low.m:4:1: invariant: low",
        "    1  up &amp; away  (line 3)",
        "x: 4 -&gt; 5",
        "<testcase name=\"invariant: whole\"",
        "<testcase name=\"error: no run-time error\"",
        "<testcase name=\"deadlock: no successor\"",
        "<system-out>low.m: VIOLATED",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    // What should be so in some state, and is in none; what never happens.
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
    // Where the search ends at the first violation, nothing is known of the rest.
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
    assert_eq!(
        xml.matches("<skipped message=\"the search has not come to its end\"").count(),
        4,
        "{xml}"
    );
    assert!(!xml.contains("<failure"), "{xml}");
    let ran = folder.run(&["check", "low.m", "--junit", "no/such/folder.xml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot write the JUnit file no/such/folder.xml"), "{}", ran.err);
}

#[test]
fn sarif_has_a_rule_for_each_and_the_counterexample_as_code_flow() {
    let folder = Folder::with("low.m", LOW);
    let all = ["check", "low.m", "--keep-going", "--no-trace", "--sarif", "all.sarif"];
    assert_eq!(folder.run(&all).code, 1);
    let told: Value = serde_json::from_str(&read(&folder, "all.sarif")).unwrap();
    assert_eq!(told["version"], "2.1.0");
    let run = &told["runs"][0];
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
    let told: Value = serde_json::from_str(&read(&folder, "first.sarif")).unwrap();
    let notes = told["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notes[0]["message"]["text"], "invariant: whole: the search ended at a violation");
    assert_eq!(notes.len(), 3);
    let ran = folder.run(&["check", "low.m", "--sarif", "no/such/folder.sarif"]);
    assert!(ran.err.contains("cannot write the SARIF file no/such/folder.sarif"), "{}", ran.err);
}

#[test]
fn what_is_said_of_runs_is_a_case_too_and_what_was_not_looked_for_is_skipped() {
    let folder = Folder::with("mixed.pml", MIXED);
    let holds =
        ["check", "mixed.pml", "--ltl", "small", "--junit", "small.xml", "--sarif", "s.sarif"];
    assert_eq!(folder.run(&holds).code, 0);
    let xml = read(&folder, "small.xml");
    assert!(xml.contains("tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\""), "{xml}");
    assert!(xml.contains("<testcase name=\"property: small\""), "{xml}");
    let broken =
        ["check", "mixed.pml", "--ltl", "<> (x == 2)", "--junit", "x.xml", "--sarif", "s.sarif"];
    assert_eq!(folder.run(&broken).code, 1);
    let xml = read(&folder, "x.xml");
    assert!(
        xml.contains("<failure message=\"a run does not have it\" type=\"property\">"),
        "{xml}"
    );
    let asserts = ["check", "mixed.pml", "--no-claim", "--only", "assert", "--no-trace"];
    folder.write("holds.pml", &MIXED.replace("x < 3", "x < 5"));
    let holds = [&asserts[..1], &["holds.pml"], &asserts[2..], &["--junit", "holds.xml"]].concat();
    assert_eq!(folder.run(&holds).code, 0);
    let xml = read(&folder, "holds.xml");
    assert!(xml.contains("<testcase name=\"assert: no assertion fails\""), "{xml}");
    let told: Value = serde_json::from_str(&read(&folder, "s.sarif")).unwrap();
    assert_eq!(told["runs"][0]["results"][0]["ruleId"], "property/<> (x == 2)");
    assert!(told["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0].is_object());
    let states = ["check", "mixed.pml", "--no-claim", "--junit", "states.xml", "--no-trace"];
    assert_eq!(folder.run(&states).code, 1);
    let xml = read(&folder, "states.xml");
    assert!(xml.contains("<testcase name=\"ltl: small\""), "{xml}");
    assert!(xml.contains("<skipped message=\"it was not looked for\""), "{xml}");
    // What the model asks of its runs holds of those without errors, which are looked for next.
    let own = ["check", "mixed.pml", "--junit", "own.xml", "--no-trace"];
    let ran = folder.run(&own);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let xml = read(&folder, "own.xml");
    assert!(xml.contains("tests=\"3\" skipped=\"1\" errors=\"0\" failures=\"1\""), "{xml}");
    let (_, case) = xml.split_once("<testcase name=\"property: small\"").unwrap();
    assert!(!case.split_once("</testcase>").unwrap().0.contains("<failure"), "{xml}");
}

#[test]
fn a_command_is_run_at_the_end_and_told_what_came() {
    let folder = Folder::with("low.m", LOW);
    let notify = "echo \"$SPILLWAY_VERDICT $SPILLWAY_EXIT_CODE $SPILLWAY_MODEL $SPILLWAY_DIR, $SPILLWAY_ERROR\" > told";
    let told = |args: &[&str], expected: &str| {
        let ran = folder.run(&[args, &["--notify", notify]].concat());
        assert_eq!(read(&folder, "told"), expected, "{}", ran.err);
    };
    let stopped = ["check", "low.m", "--max-states", "2", "--reduce", "none", "--dir", "d"];
    told(&stopped, "incomplete 3 low.m d, \n");
    told(&["resume", "d"], "violated 1  d, \n");
    told(&["check", "low.m", "--only", "error", "--no-deadlock"], "verified 0 low.m , \n");
    told(
        &["check", "absent.m"],
        "failed 2 absent.m , error: cannot read the model absent.m: No such file or directory (os error 2)\n",
    );
    let ran = folder.run(&["check", "low.m", "--no-trace", "--notify", "exit 7"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.ends_with("warning: the command of --notify failed: exit status: 7\n"));
}

#[test]
fn models_to_start_from_are_verified_and_break_as_they_say() {
    let folder = Folder::with("taken.m", LOW);
    for (language, file, out, broken) in [
        ("promela", "model.pml", "\tturn = other;\n", ""),
        ("murphi", "model.m", "    held := true;\n", ""),
        ("dve", "model.dve", ", turn = 1; }", "; }"),
    ] {
        let said = format!("wrote {file}; `spillway check {file}` checks it\n");
        folder.prints(&["new", language], 0, &said);
        let ran = folder.run(&["check", file]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        assert!(ran.out.contains("verified: "), "{}", ran.out);
        let text = read(&folder, file);
        assert!(text.contains(&format!("spillway check {file}")) && !text.contains("NAME"));
        assert!(text.contains(out), "{text}");
        let text = text.replace(out, broken).replace(", turn = 0; }", "; }");
        folder.write(file, &text);
        assert_eq!(folder.run(&["check", file]).code, 1, "{text}");
    }
    let ran = folder.run(&["new", "murphi", "taken.m"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_eq!(
        ran.err,
        "error: taken.m is there already, and stays as it is\n  help: name another file\n"
    );
    assert_eq!(read(&folder, "taken.m"), LOW);
    let ran = folder.run(&["new", "dve", "no/such.dve"]);
    assert!(ran.err.starts_with("error: cannot write the model no/such.dve: "), "{}", ran.err);
}

#[test]
fn the_doctor_says_what_there_is_and_which_flags_that_suggests() {
    let folder = Folder::with("low.m", LOW);
    let ran = folder.run(&["doctor", "--dir", "."]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in [
        "  limits   ",
        " open files, of any length\n",
        "  memory   ",
        " of it free",
        "  threads  ",
        " at a time\n",
        "  code     models become machine code here\n",
        "  disk     .: ",
        " a second; a flush takes ",
        "  flags    spillway check MODEL --memory ",
        " --dir ./NAME --disk-limit",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    // Nothing is left, and nothing is made where that cannot be.
    let names = std::fs::read_dir(folder.path("")).unwrap().map(|it| it.unwrap().file_name());
    assert!(!names.into_iter().any(|it| it.to_string_lossy().starts_with("spillway-doctor")));
    let ran = folder.run(&["doctor", "--dir", "absent"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.starts_with("error: cannot make a search directory in absent: "),
        "{}",
        ran.err
    );
}
