//! TLA+ specifications with a configuration: the output of each command.

use super::Folder;

/// Two processes that may enter at the same time.
const DOORS: &str = r#"---- MODULE Doors ----
EXTENDS Naturals, FiniteSets
CONSTANT Processes
VARIABLES at, seen
vars == <<at, seen>>
Exclusion == Cardinality({p \in Processes : at[p] = "in"}) < 2
Small == Cardinality(seen) <= 3
Init == at = [p \in Processes |-> "out"] /\ seen = {}
Enter(p) == /\ at[p] = "out"
            /\ at' = [at EXCEPT ![p] = "in"]
            /\ seen' = seen \cup {p}
Leave(p) == /\ at[p] = "in"
            /\ at' = [at EXCEPT ![p] = "out"]
            /\ UNCHANGED seen
Never == seen = {9} /\ UNCHANGED vars
Next == (\E p \in Processes : Enter(p) \/ Leave(p)) \/ Never
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
Lively == <>(seen = Processes)
Grows == [][seen \subseteq seen']_vars
View == seen
Shown == [inside |-> {p \in Processes : at[p] = "in"}, entered |-> Cardinality(seen)]
====
"#;

const ALL: &str = "SPECIFICATION Spec\nCONSTANT Processes = {1, 2}\n";

fn doors(configuration: &str) -> Folder {
    let folder = Folder::with("Doors.tla", DOORS);
    folder.write("Doors.cfg", &(ALL.to_owned() + configuration));
    folder
}

#[test]
fn a_violated_invariant_is_shown_by_every_command() {
    let folder = doors("INVARIANTS Small Exclusion");
    let counterexample = r#"counterexample in Doors.tla: invariant: Exclusion, 2 steps
    0  initial state
         at = <<"out", "out">>
         seen = {}
    1  Enter (p: 2)    line 9:1
         at[2]: "out" -> "in"
         seen: 2 added
    2  Enter (p: 1)    line 9:1
         at[1]: "out" -> "in"
         seen: 1 added
       here the invariant `Exclusion` of line 6:1 does not hold
"#;
    let output = folder.run(&["check", "Doors.tla", "--dir", "d"]);
    assert_eq!((output.code, output.err.as_str()), (1, ""));
    let [shown, result] = output.out.split_once("\n\n").map(|(a, b)| [a, b]).unwrap();
    assert_eq!(shown.trim_end(), counterexample.trim_end());
    for row in [
        "Doors.tla: VIOLATED: invariant: Exclusion at Doors.tla:6:1\n  after    2 steps (shortest)\n",
        "  checked  deadlocks, invariants, run-time errors\n",
        "  next     spillway trace d\n           spillway simulate Doors.tla --from d\n",
    ] {
        assert!(result.contains(row), "{result}");
    }
    let output = folder.run(&["trace", "d"]);
    assert_eq!(output.code, 1);
    assert!(output.out.starts_with(counterexample), "{}", output.out);
    let output = folder.run(&["trace", "d", "--only", "seen"]);
    assert!(
        !output.out.contains("at[1]") && output.out.contains("seen: 1 added"),
        "{}",
        output.out
    );
    let output = folder.run(&["trace", "d", "--only", "sen"]);
    let message = "error: --only: the model has no variable sen\n  help: did you mean `seen`?\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
    let output = folder.run(&["status", "d"]);
    assert!(output.out.contains("VIOLATED: invariant: Exclusion"), "{}", output.out);
    let output = folder.run(&["simulate", "Doors.tla", "--from", "d:1", "--steps", "1"]);
    assert!(output.out.contains("after step 1 of the counterexample"), "{}", output.out);
    let output = folder.run(&["report", "d"]);
    assert_eq!((output.code, output.err.as_str()), (0, "wrote d.html\n"));
    let page = std::fs::read_to_string(folder.path("d.html")).unwrap();
    assert!(page.contains("Enter (p: 1)"), "{page}");
}

#[test]
fn a_counterexample_is_exported_with_sets_and_expressions() {
    let folder = doors("INVARIANT Exclusion");
    assert_eq!(folder.run(&["check", "Doors.tla", "--dir", "d", "--no-trace"]).code, 1);
    let expressions = r#"\* Doors.tla: invariant: Exclusion
State 1: <Initial predicate>
/\ at = <<"out", "out">>
/\ seen = {}

State 2: <Enter line 9, col 1 to line 11, col 36 of module Doors>
/\ at = <<"out", "in">>
/\ seen = {2}

State 3: <Enter line 9, col 1 to line 11, col 36 of module Doors>
/\ at = <<"in", "in">>
/\ seen = {1, 2}

"#;
    let output = folder.run(&["trace", "d", "--as", "tla"]);
    assert_eq!((output.code, output.out.as_str()), (1, expressions));
    let itf = folder.run(&["trace", "d", "--as", "itf"]).out;
    let itf: serde_json::Value = serde_json::from_str(&itf).unwrap();
    assert_eq!(itf["states"][2]["seen"], serde_json::json!({ "#set": [1, 2] }));
}

#[test]
fn a_stopped_search_is_resumed_by_another_process() {
    let folder = doors("INVARIANT Small");
    folder.write("Three.cfg", "SPECIFICATION Spec\nCONSTANT Processes = {a, b, c}");
    let check = ["check", "Doors.tla", "--cfg", "Three.cfg", "--dir", "d", "--max-states", "2"];
    let output = folder.run(&check);
    assert_eq!(output.code, 3);
    // The directory keeps the texts.
    std::fs::remove_file(folder.path("Doors.tla")).unwrap();
    std::fs::remove_file(folder.path("Three.cfg")).unwrap();
    let output = folder.run(&["resume", "d"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    // Each process that has entered is in one of two locations.
    assert!(output.out.contains("27 states"), "{}", output.out);
    let output = folder.run(&["resume", "d"]);
    let message = "note: this search is complete; this is its result\n";
    assert_eq!((output.code, output.err.as_str()), (0, message));
    assert!(output.out.contains("27 states"), "{}", output.out);
}

#[test]
fn a_damaged_dictionary_is_rejected() {
    let folder = doors("INVARIANT Small");
    assert_eq!(folder.run(&["check", "Doors.tla", "--dir", "d", "--max-states", "2"]).code, 3);
    let files = std::fs::read_dir(folder.path("d")).unwrap().map(|it| it.unwrap().path());
    let name = |it: &std::path::Path| it.file_name().unwrap().to_str().unwrap().to_owned();
    let journal = files.into_iter().find(|it| name(it).starts_with("encoding"));
    let journal = journal.expect("a journal");
    let bytes = std::fs::read(&journal).unwrap();
    for at in [0, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        std::fs::write(&journal, damaged).unwrap();
        let output = folder.run(&["resume", "d"]);
        assert_eq!(output.code, 4, "byte {at}: {}", output.err);
        assert!(output.err.starts_with("error: d: "), "{}", output.err);
    }
    std::fs::write(&journal, bytes).unwrap();
    assert_eq!(folder.run(&["resume", "d"]).code, 0);
}

#[test]
fn unchecked_properties_and_unused_actions_are_named() {
    let folder = doors("PROPERTIES Lively Grows\nVIEW View\nALIAS Shown\n");
    let output = folder.run(&["check", "Doors.tla"]);
    assert!(!output.err.contains("warning"), "{}", output.err);
    assert_eq!(output.code, 0);
    assert!(
        output.out.contains("  NOT checked  temporal property Lively (Doors.cfg:3)\n"),
        "{}",
        output.out
    );
    assert!(
        output.out.contains("Doors.tla: every value of the view was visited"),
        "{}",
        output.out
    );
    let row = "  never executed  1 of 3 actions: Never (Doors.tla:15)\n";
    assert!(output.out.contains(row), "{}", output.out);
    let output = folder.run(&["check", "Doors.tla", "--strict"]);
    assert_eq!(output.code, 1);
    let message = "with --strict, properties that are NOT checked count as violated\n";
    assert!(output.err.ends_with(message), "{}", output.err);
}

#[test]
fn steps_and_assumptions_are_checked() {
    let folder = doors("PROPERTY Grows\n");
    folder.write("Doors.tla", &DOORS.replace("UNCHANGED seen", "seen' = {}"));
    let output = folder.run(&["check", "Doors.tla"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.contains("assert: this violates Grows (Doors.cfg:3:10)\n"),
        "{}",
        output.out
    );
    let assumed =
        DOORS.replace("CONSTANT Processes", "CONSTANT Processes\nASSUME 3 \\in Processes");
    folder.write("Doors.tla", &assumed);
    let output = folder.run(&["check", "Doors.tla"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.contains("assert: the assumption is false (Doors.tla:4:8)\n"),
        "{}",
        output.out
    );
}

#[test]
fn flags_add_conditions_and_constants() {
    let folder = doors("INVARIANT Small");
    let output = folder.run(&[
        "check",
        "Doors.tla",
        "-D",
        "Processes={1, 2, 3}",
        "--cover",
        "seen = {2, 3}",
    ]);
    assert_eq!(output.code, 0);
    assert!(output.out.contains("27 states"), "{}", output.out);
    assert!(output.out.contains("first after 2 steps\n"), "{}", output.out);
    let output =
        folder.run(&["check", "Doors.tla", "--invariant", "seen # Processes", "--no-trace"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.contains("VIOLATED: invariant: seen # Processes at invariant:1:1"),
        "{}",
        output.out
    );
    let output = folder.run(&["check", "Doors.tla", "--invariant", "seen' = seen"]);
    let message = "invariant:1:1: error: this formula has action level, not state level\n";
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with(message), "{}", output.err);
}

#[test]
fn modules_are_found_in_libraries() {
    let folder = Folder::with("MC.tla", "---- MODULE MC ----\nEXTENDS Doors\n====\n");
    folder.write("MC.cfg", &(ALL.to_owned() + "INVARIANT Small"));
    std::fs::create_dir(folder.path("modules")).unwrap();
    folder.write("modules/Doors.tla", DOORS);
    let output = folder.run(&["check", "MC.tla"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("there is no module `Doors`"), "{}", output.err);
    let output = folder.run(&["check", "MC.tla", "--library", "modules"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("9 states"), "{}", output.out);
}

#[test]
fn a_module_with_a_configuration_is_suggested() {
    let folder = Folder::with("Doors.tla", DOORS);
    let output = folder.run(&["check", "Doors.tla"]);
    let message = "error: there is no configuration Doors.cfg\n  help: write this file, which says what is checked, or \
                name another one with --cfg FILE\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
    folder.write("MCDoors.tla", "---- MODULE MCDoors ----\nEXTENDS Doors\n====\n");
    folder.write("MCDoors.cfg", ALL);
    let output = folder.run(&["check", "Doors.tla"]);
    let message = "error: there is no configuration Doors.cfg\n  help: `spillway check MCDoors.tla` checks a module that \
                has one; --cfg FILE names another file\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
}

#[test]
fn every_store_has_all_states() {
    let folder = doors("INVARIANT Small");
    for store in ["sorted", "raw", "rle", "huffman", "comback"] {
        let output = folder.run(&["check", "Doors.tla", "--store", store]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{store}");
        assert!(output.out.contains("9 states"), "{store}: {}", output.out);
    }
}

/// TLC finds 4 distinct states and generates 9.
#[test]
fn states_with_equal_views_are_identified() {
    let folder = doors("INVARIANT Small\nVIEW View\n");
    for store in ["sorted", "raw", "rle"] {
        let output = folder.run(&["check", "Doors.tla", "--store", store]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{store}");
        assert!(
            output.out.contains("found    4 states, 8 transitions, 3 levels"),
            "{}",
            output.out
        );
        let sentence = "Doors.tla: verified: every value of the view was visited, no violation";
        assert!(output.out.starts_with(sentence), "{}", output.out);
        let row = "  reduced  by VIEW, which preserves nothing: states with equal View are one\n";
        assert!(output.out.contains(row), "{}", output.out);
    }
    let output = folder.run(&["check", "Doors.tla", "--store", "huffman"]);
    let message = "error: VIEW identifies states by a value, which the store `huffman` does not support\n  \
                help: use --store sorted, raw or rle\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
    folder.write("Doors.tla", &DOORS.replace("View == seen", "View == CHOOSE p \\in seen : TRUE"));
    let output = folder.run(&["check", "Doors.tla"]);
    assert_eq!(output.code, 2, "{}", output.out);
    let why = "the model failed: Doors.tla:20:9: VIEW: no element of the set satisfies the predicate of CHOOSE: set {}, \
               in the state at = <<\"out\", \"out\">>, seen = {}\n  \
               help: correct the model and check it again in an empty directory\n";
    assert!(
        output.err.contains(why) && !output.err.contains("failed: the model"),
        "{}",
        output.err
    );
}

#[test]
fn flags_for_programs_are_rejected() {
    let folder = doors("INVARIANT Small");
    for (flags, flag) in [
        (&["--ltl", "p"][..], "--ltl"),
        (&["--acceptance"], "--acceptance"),
        (&["--non-progress"], "--non-progress"),
        (&["--fair", "weak"], "--fair"),
        (&["--spin-trail", "t"], "--spin-trail"),
        (&["-X", "key-order=static"], "-X key-order"),
    ] {
        let output = folder.run(&[&["check", "Doors.tla"], flags].concat());
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{flag}");
        let message =
            format!("error: {flag} is for programs, and this model is a specification\n  help: ");
        assert!(output.err.starts_with(&message), "{}", output.err);
    }
    let output = folder.run(&["check", "Doors.tla", "--reduce", "por"]);
    let message =
        "warning: reductions are not applied: they are for programs, and this is a specification\n";
    assert_eq!((output.code, output.err.as_str()), (0, message));
    let output = folder.run(&["check", "Doors.tla", "--lossy"]);
    assert_eq!(output.code, 2);
    folder.write("a.dve", "process P { state a; init a; } system async;");
    for (flags, message) in [
        (["--cfg", "Doors.cfg"], "error: --cfg is for models in TLA+, but a.dve is in dve\n"),
        (["--library", "."], "error: --library is for models in TLA+, but a.dve is in dve\n"),
    ] {
        let output = folder.run(&[&["check", "a.dve"][..], &flags].concat());
        assert_eq!((output.code, output.err.as_str()), (2, message));
    }
    let output = folder.run(&["check", "Doors.tla", "-deadlock"]);
    assert!(output.err.ends_with("TLA+; here: --no-deadlock\n"), "{}", output.err);
    assert_eq!(folder.run(&["check", "Doors.tla", "--dir", "d"]).code, 0);
    for (command, flag) in [
        (&["values", "d", "--sum", "at"][..], "--sum"),
        (&["explain", "Doors.tla", "--asm", "0"], "--asm"),
        (&["explain", "Doors.tla", "--reductions"], "--reductions"),
    ] {
        let output = folder.run(command);
        let message = format!(
            "error: {flag} is for programs, and this model is a specification\n  help: leave it out\n"
        );
        assert_eq!((output.code, output.err), (2, message));
    }
}

#[test]
fn missing_kinds_of_properties_are_rejected() {
    let folder = doors("CHECK_DEADLOCK FALSE");
    for (kind, why) in [
        ("deadlock", "the configuration has CHECK_DEADLOCK FALSE"),
        ("assert", "the specification has no assertion"),
        ("invariant", "the configuration has no invariant"),
    ] {
        let output = folder.run(&["check", "Doors.tla", "--only", kind]);
        let message =
            format!("error: Doors.tla: the flags leave nothing to check: {why}\n  help: ");
        assert!(output.err.starts_with(&message), "{}", output.err);
        assert_eq!(output.code, 2);
    }
    let output = folder.run(&["check", "Doors.tla", "--ltl", "p"]);
    let help = "name properties in the configuration; temporal ones are reported as not checked";
    assert!(output.err.ends_with(&format!("\n  help: {help}\n")), "{}", output.err);
    assert_eq!(folder.run(&["check", "Doors.tla", "--dir", "d", "--max-states", "2"]).code, 3);
    let output = folder.run(&["values", "d", "--sum", "at"]);
    let message =
        "error: --sum is for programs, and this model is a specification\n  help: leave it out\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
}

#[test]
fn a_cycle_is_exported_in_the_format_of_tlc() {
    let text =
        "byte x; process P { state a; init a; trans a -> a { effect x = 1 - x; }; } system async;";
    let folder = Folder::with("turn.dve", text);
    assert_eq!(folder.run(&["check", "turn.dve", "--ltl", "F G (x == 0)", "--dir", "d"]).code, 1);
    let output = folder.run(&["trace", "d", "--as", "tla"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("\n/\\ x = 1\n/\\ P = a\n"), "{}", output.out);
    assert!(output.out.contains("\nBack to state "), "{}", output.out);
}

#[test]
fn the_values_of_variables_are_those_of_the_states() {
    let folder = doors("INVARIANT Small");
    assert_eq!(folder.run(&["check", "Doors.tla", "--dir", "d", "--max-states", "4"]).code, 3);
    assert_eq!(folder.run(&["resume", "d"]).code, 0);
    let values = "Doors.tla: values in 9 states
  at[]     \"in\", \"out\"
  seen{}   1 to 2
";
    folder.assert_prints(&["values", "d"], 0, values);
}

/// TLC with one worker finds 15 distinct states and generates 61. Without SYMMETRY there are 81.
#[test]
fn symmetry_stores_one_state_of_each_orbit() {
    let permuted = DOORS.replace("FiniteSets", "FiniteSets, TLC").replace("<= 3", "<= 4");
    let permuted = permuted.replace("Never ==", "Perms == Permutations(Processes)\nNever ==");
    let folder = Folder::with("Doors.tla", &permuted);
    let configuration = "SPECIFICATION Spec\nCONSTANT Processes = {a, b, c, d}\nINVARIANT Small\n";
    folder.write("Doors.cfg", configuration);
    let unreduced = folder.run(&["check", "Doors.tla"]);
    assert!(unreduced.out.contains("found    81 states"), "{}", unreduced.out);
    folder.write("Doors.cfg", &(configuration.to_owned() + "SYMMETRY Perms"));
    let output = folder.run(&["check", "Doors.tla", "--dir", "d"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("found    15 states, 60 transitions, 9 levels"), "{}", output.out);
    let row = "  reduced  by SYMMETRY, which preserves everything: a state represents up to 24\n";
    assert!(output.out.contains(row) && !output.out.contains("--reduce none"), "{}", output.out);
    let values = folder.run(&["values", "d"]);
    assert!(values.out.contains("  at[]     \"in\", \"out\"\n"), "{}", values.out);
    // Every step of a counterexample is a step of the specification, without permutations.
    let entered = "Cardinality(seen) < 3 \\/ at[CHOOSE p \\in seen : TRUE] = \"in\"";
    let output = folder.run(&["check", "Doors.tla", "--dir", "e", "--invariant", entered]);
    assert_eq!(output.code, 1);
    let steps: Vec<&str> = output
        .out
        .lines()
        .filter(|it| it.contains("Enter (p: ") || it.contains("Leave (p: "))
        .collect();
    assert_eq!(steps.len(), 4, "{}", output.out);
    let traced = folder.run(&["trace", "e"]);
    assert!(steps.iter().all(|it| traced.out.contains(it)), "{}", traced.out);
    folder.write("Doors.cfg", &(configuration.to_owned() + "SYMMETRY Small"));
    let output = folder.run(&["check", "Doors.tla"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("error: "), "{}", output.err);
}

#[test]
fn a_specification_is_explained() {
    let folder = doors("INVARIANT Small");
    let output = folder.run(&["explain", "Doors.tla"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let message = "  files    Doors.tla, Doors.cfg
  action   Enter (Doors.tla:9)
  action   Leave (Doors.tla:12)
  action   Never (Doors.tla:15)
  invariant  Small (Doors.tla:7)

state of ";
    assert!(output.out.starts_with(message), "{}", output.out);
    assert!(output.out.contains(" bytes, and dictionaries\n"), "{}", output.out);
    assert!(output.out.contains(" bits seen\n"), "{}", output.out);
}

#[test]
fn a_new_specification_has_a_configuration() {
    let folder = Folder::with("file", "");
    folder.assert_prints(
        &["new", "tla", "Lock.tla"],
        0,
        "wrote Lock.cfg\nwrote Lock.tla; `spillway check Lock.tla` checks it\n",
    );
    let output = folder.run(&["check", "Lock.tla"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("10 states, 16 transitions, 4 levels"), "{}", output.out);
    let output = folder.run(&["new", "tla", "1-2.tla"]);
    let message = "error: 1-2.tla is no name of a module\n  help: use letters, digits and underscores, with one letter at least\n";
    assert_eq!((output.code, output.err.as_str()), (2, message));
}

/// Counts to four, with a choice of postconditions.
const COUNTING: &str = r#"---- MODULE Counting ----
EXTENDS Naturals, TLC
VARIABLE v
Init == v \in {0, 1} \/ v = 1
Next == v < 4 /\ v' \in {v, v + 1}
Small == v < 2
Stats == TLCGet("stats")
Right == TLCGet("distinct") = 5 /\ TLCGet("generated") = 11 /\ TLCGet("diameter") = 4
Recorded == Stats.distinct = 5 /\ Stats.generated = 11 /\ Stats.diameter = 4 /\ Stats.initial = 3
Wrong == TLCGet("distinct") = 6
Failing == TLCGet("wrong") = 6
Early == TLCGet("level") < 3
Level == TLCGet("level")
====
"#;

fn parsed(json: &str) -> serde_json::Value {
    serde_json::from_str(json).unwrap()
}

fn counting(configuration: &str) -> Folder {
    let folder = Folder::with("Counting.tla", COUNTING);
    let all = "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n";
    folder.write("Counting.cfg", &(all.to_owned() + configuration));
    folder
}

#[test]
fn a_postcondition_that_holds_is_a_verified_property() {
    // TLC prints "11 states generated, 5 distinct states found".
    let folder = counting("POSTCONDITIONS Right Recorded\n");
    let output = folder.run(&["check", "Counting.tla", "--dir", "d", "--junit", "j.xml"]);
    assert_eq!((output.code, output.err.as_str()), (0, "wrote j.xml\n"));
    for row in [
        "Counting.tla: verified: every reachable state was visited",
        "  found    5 states, 8 transitions, 4 levels, 0 deadlocks;",
        "  generated  11 states with 3 initial states\n",
        "  checked  run-time errors, postconditions\n",
    ] {
        assert!(output.out.contains(row), "{}", output.out);
    }
    let junit = std::fs::read_to_string(folder.path("j.xml")).unwrap();
    assert!(junit.contains("postcondition: Right"), "{junit}");
    let output = folder.run(&["status", "d"]);
    assert!(
        output.out.contains("  generated  11 states with 3 initial states\n"),
        "{}",
        output.out
    );
    let output = folder.run(&["status", "d", "--json"]);
    assert_eq!(parsed(&output.out)["states_generated"], 11);
}

#[test]
fn a_false_postcondition_is_a_violation_without_a_counterexample() {
    let folder = counting("POSTCONDITIONS Right Wrong\n");
    let output = folder.run(&["check", "Counting.tla", "--dir", "d", "--junit", "j.xml"]);
    assert_eq!((output.code, output.err.as_str()), (1, "wrote j.xml\n"));
    let headline =
        "VIOLATED: postcondition: Wrong at Counting.tla:10:1,\n           after the search\n";
    assert!(output.out.starts_with(&format!("Counting.tla: {headline}")), "{}", output.out);
    let junit = std::fs::read_to_string(folder.path("j.xml")).unwrap();
    assert!(junit.contains("postcondition: Wrong"), "{junit}");
    assert!(junit.contains("false after the search"), "{junit}");
    let output = folder.run(&["trace", "d"]);
    let headline = "VIOLATED: postcondition: Wrong at Counting.tla:10:1, after the search\n";
    assert_eq!((output.code, output.out.as_str()), (1, headline));
    let json = parsed(&folder.run(&["check", "Counting.tla", "--json"]).out);
    assert_eq!((&json["verdict"], &json["states_generated"]), (&"violated".into(), &11.into()));
    assert_eq!(json["violations"][0]["kind"], "postcondition");
    assert_eq!(json["violations"][0]["name"], "Wrong");
}

#[test]
fn a_postcondition_that_cannot_be_evaluated_is_violated() {
    let folder = counting("POSTCONDITION Failing\n");
    let output = folder.run(&["check", "Counting.tla"]);
    let headline = "Counting.tla: VIOLATED: postcondition: Failing: TLCGet cannot be evaluated:\n           \
                    argument \"wrong\" at Counting.tla:11:1, after the search\n";
    assert_eq!(output.code, 1);
    assert!(output.out.starts_with(headline), "{}", output.out);
}

#[test]
fn tlcget_level_is_not_supported() {
    let message = "TLCGet(\"level\"), which states do not keep, cannot be evaluated";
    for section in ["INVARIANT", "CONSTRAINT", "ACTION_CONSTRAINT"] {
        let output = counting(&format!("{section} Early\n")).run(&["check", "Counting.tla"]);
        assert_eq!((output.code, output.err.as_str()), (1, ""), "{section}");
        let found = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(message) && found.contains("Counting.tla:12:"), "{}", output.out);
    }
    let output = counting("VIEW Level\n").run(&["check", "Counting.tla"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.contains(message), "{}", output.err);
}

#[test]
fn a_postcondition_is_not_evaluated_before_every_state_is_visited() {
    let folder = counting("POSTCONDITION Wrong\n");
    let output = folder.run(&["check", "Counting.tla", "--dir", "d", "--max-states", "2"]);
    assert_eq!(output.code, 3);
    assert!(!output.out.contains("VIOLATED"), "{}", output.out);
    assert_eq!(folder.run(&["resume", "d"]).code, 1);
    let folder = counting("INVARIANT Small\nPOSTCONDITION Wrong\n");
    let output = folder.run(&["check", "Counting.tla", "--no-trace"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("VIOLATED: invariant: Small"), "{}", output.out);
    assert!(!output.out.contains("Wrong"), "{}", output.out);
}

/// A specification with sets that cannot be enumerated, in variables or in a view.
const UNLISTED: &str = r"---- MODULE Unlisted ----
EXTENDS Integers, Sequences
VARIABLES x, f
Unbounded == <<0, Seq({1})>>
Strings == [a |-> 0, b |-> {STRING}]
Functions == <<0, [Nat -> {1}]>>
Domain == [i \in {Nat} |-> 0]
Deep == <<0, <<[a |-> <<Nat>>]>> >>
Init == x = 0 /\ f = {}
Next == x' = (x + 1) % 3 /\ f' = f
StartsSequences == x = 0 /\ f = <<x, Seq({1})>>
StepsDeep == x' = (x + 1) % 3 /\ f' = Deep
Endless == LET F[i \in Nat] == F[i + 1] IN F[x]
Late == IF x = 2 THEN Head(<<>>) ELSE x
Even == x = 0
====
";

fn unlisted(configuration: &str) -> Folder {
    let folder = Folder::with("Unlisted.tla", UNLISTED);
    folder.write("Unlisted.cfg", configuration);
    folder
}

#[test]
fn sets_that_cannot_be_enumerated_are_rejected_in_states_and_views() {
    let message = "the set cannot be enumerated: set";
    for (view, set) in [
        ("Unbounded", "Seq({1})"),
        ("Strings", "STRING"),
        ("Functions", "[Nat -> {1}]"),
        ("Domain", "Nat"),
        ("Deep", "Nat"),
    ] {
        let folder = unlisted(&format!("INIT Init\nNEXT Next\nVIEW {view}\n"));
        let output = folder.run(&["check", "Unlisted.tla"]);
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{view}: {}", output.err);
        assert!(output.err.contains(&format!("{message} {set}")), "{view}: {}", output.err);
    }
    for (start, next, line) in [("StartsSequences", "Next", 11), ("Init", "StepsDeep", 12)] {
        let folder = unlisted(&format!("INIT {start}\nNEXT {next}\n"));
        let output = folder.run(&["check", "Unlisted.tla"]);
        assert_eq!((output.code, output.err.as_str()), (1, ""), "{}", output.out);
        let found = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = format!("Unlisted.tla:{line}:");
        assert!(found.contains(message) && found.contains(&place), "{}", output.out);
    }
}

#[test]
fn a_cover_is_rejected_with_a_view() {
    let folder = unlisted("INIT Init\nNEXT Next\nVIEW Even\n");
    let output = folder.run(&["check", "Unlisted.tla", "--cover", "x = 2"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    let message = "--cover does not apply to a specification with VIEW: the search visits one state of each view, and the others may satisfy the condition";
    assert!(output.err.contains(message), "{}", output.err);
    let help = "remove VIEW from the configuration, or write the negation as an INVARIANT to search for a violation";
    assert!(output.err.contains(help), "{}", output.err);
}

#[test]
fn a_view_that_fails_is_shown_with_its_state() {
    let output = unlisted("INIT Init\nNEXT Next\nVIEW Late\n").run(&["check", "Unlisted.tla"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.contains("in the state x = 2, f = {}\n  help: correct"), "{}", output.err);
    assert_eq!(output.err.matches("the model failed").count(), 1, "{}", output.err);
}

#[test]
fn a_view_whose_evaluation_does_not_end_is_an_error() {
    let output = unlisted("INIT Init\nNEXT Next\nVIEW Endless\n").run(&["check", "Unlisted.tla"]);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.contains("the evaluation is nested too deeply"), "{}", output.err);
}
