//! Walks through models: random and interactive, from the start and from stored counterexamples.

use super::Folder;
use super::incorrect_models::{LOCK, STUCK};

const COUNTS: &str = "chan m2s = [1] of { byte };
byte sent;
active proctype Sender() { do :: m2s!1 -> sent++; assert(sent < 9) od }
active proctype Receiver() { byte b; do :: m2s?b od }
";

/// A counter whose liveness check does not fit a small limit of states.
const COUNT: &str = "byte x;
process P { state a; init a; trans a -> a { guard x < 60; effect x = x + 1; }; }
system async;
";

/// Asserts the exit code and output of a command with this input.
#[track_caller]
fn assert_answers(folder: &Folder, args: &[&str], typed: &str, (code, expected): (i32, &str)) {
    let output = folder.run_with_input(args, typed);
    assert_eq!(output.out, expected, "{}", output.out);
    assert_eq!((output.err.as_str(), output.code), ("", code));
}

/// Asserts that a command fails with this message.
#[track_caller]
fn assert_fails(folder: &Folder, args: &[&str], expected: &str) {
    let output = folder.run(args);
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert_eq!(output.err, expected, "{}", output.err);
}

#[test]
fn a_walk_ends_at_a_violation_with_the_deciding_values() {
    let folder = Folder::with("lock.m", LOCK);
    assert_eq!(folder.run(&["check", "lock.m", "--dir", "d"]).code, 1);
    let expected = "    0  start state of line 4
       st = [Node_1: I, Node_2: I, Node_3: I]
       owner = undefined
       sharers = 0
    1  ask to own (n: Node_1)
       st[Node_1]: I -> E
       owner: undefined -> Node_1
    2  ask to share (n: Node_3)
       st[Node_3]: I -> S
       sharers: 0 -> 1
       the invariant `one writer` does not hold here (lock.m:9:1)
       with st[Node_1] = E, sharers = 1
";
    folder.assert_prints(&["simulate", "lock.m", "--seed", "3"], 1, expected);
    let expected = "\
after step 1 of the counterexample to invariant: one writer
       st = [Node_1: S, Node_2: I, Node_3: I]
       owner = undefined
       sharers = 1
    2  ask to own (n: Node_2)
       st[Node_2]: I -> E
       owner: undefined -> Node_2
       the invariant `one writer` does not hold here (lock.m:9:1)
       with st[Node_2] = E, sharers = 1
";
    folder.assert_prints(&["simulate", "lock.m", "--from", "d:1", "--seed", "2"], 1, expected);
}

#[test]
fn a_walk_starts_at_the_end_or_a_step_of_a_counterexample() {
    let folder = Folder::with("counts.pml", COUNTS);
    assert_eq!(folder.run(&["check", "counts.pml", "--dir", "d"]).code, 1);
    let expected = "\
after step 34 of the counterexample to assert: assertion failed in Sender:
           assert(sent < 9)
       sent = 9
       m2s = <1>
       Sender[0] = line 3:51
       Receiver[1] = line 4
       Receiver[1].b = 1
   35  Receiver[1]: m2s?b
       m2s: <1> -> <>
   36  Sender[0]: assert(sent < 9)
       assert: (sent < 9) (counts.pml:3:51)
       with sent = 9
";
    folder.assert_prints(&["simulate", "counts.pml", "--from", "d", "--seed", "2"], 1, expected);
    let expected = "\
at the start of the counterexample to assert: assertion failed in Sender:
           assert(sent < 9)
       sent = 0
       m2s = <>
       Sender[0] = line 3:28
       Receiver[1] = line 4
       Receiver[1].b = 0
    1  Sender[0]: m2s!1
       m2s: <> -> <1>
       Sender[0]: line 3:28 -> line 3:43
    2  Sender[0]: sent++
       sent: 0 -> 1
       Sender[0]: line 3:43 -> line 3:51
";
    folder.assert_prints(&["simulate", "counts.pml", "--from", "d:0", "--steps", "2"], 0, expected);
    let expected = "\
after step 34 of the counterexample to assert: assertion failed in Sender:
           assert(sent < 9)
       sent = 9
       m2s = <1>
       Sender[0] = line 3:51
       Receiver[1] = line 4
       Receiver[1].b = 1
       [0] Receiver[1]: m2s?b    counts.pml:4:44
       [1] Sender[0]: assert(sent < 9)    counts.pml:3:51, fails
step 0 to 1, or a command (h: help):        [0] Receiver[1]: m2s?b    counts.pml:4:44
       [1] Sender[0]: assert(sent < 9)    counts.pml:3:51, fails
step 0 to 1, or a command (h: help):    35  Sender[0]: assert(sent < 9)
       assert: (sent < 9) (counts.pml:3:51)
       with sent = 9
no step is left; a command (h: help): back to step 34
       sent = 9
       m2s = <1>
       Sender[0] = line 3:51
       Receiver[1] = line 4
       Receiver[1].b = 1
       [0] Receiver[1]: m2s?b    counts.pml:4:44
       [1] Sender[0]: assert(sent < 9)    counts.pml:3:51, fails
step 0 to 1, or a command (h: help):    35  Sender[0]: assert(sent < 9)
       assert: (sent < 9) (counts.pml:3:51)
       with sent = 9
no step is left; a command (h: help): ";
    let args = ["simulate", "counts.pml", "--from", "d", "-i"];
    assert_answers(&folder, &args, "l\n1\nundo\n1\n", (1, expected));
}

#[test]
fn a_failed_assertion_ends_a_walk() {
    let model = "byte x, y;
active proctype P() { atomic { x = 1; assert(x == 0); if :: y = 1 :: y = 2 fi; assert(y > 1) } }
active proctype Q() { y = 3 }
";
    let folder = Folder::with("failing.pml", model);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=20 {
        let output = folder.run(&["simulate", "failing.pml", "--seed", &seed.to_string()]);
        let steps = output.out.lines().filter(|it| it.starts_with("    ") && it.contains("]: "));
        let steps: Vec<&str> = steps.map(|it| it[7..].trim_start()).collect();
        assert_eq!(
            (output.code, steps.last()),
            (1, Some(&"P[0]: x = 1; assert(x == 0)")),
            "{}",
            output.out
        );
        assert!(
            output.out.ends_with("assert: (x == 0) (failing.pml:2:39)\n       with x = 1\n"),
            "{}",
            output.out
        );
        seen.insert(steps.len());
    }
    assert!(seen.len() > 1, "the choice between P and Q is the walk's: {seen:?}");
}

/// A cycle without a choice.
const RING: &str = "byte x; process P { state a; init a; trans a -> a { effect x = (x + 1) % 250; }; } system async;";

#[test]
fn an_interactive_walk_repeats_the_last_answer_at_an_empty_line() {
    let folder = Folder::with(
        "two.dve",
        "byte x; byte y; process P { state a; init a; trans a -> a { guard x < 200; effect x = x + 1; }, a -> a { guard y < 200; effect y = y + 1; }; } system async;",
    );
    let typed = format!("l\n0\n{}9\n\nb\n\nq\n", "\n".repeat(59));
    let output = folder.run_with_input(&["simulate", "two.dve", "-i"], &typed);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("   60  P.a -> a\n       x: 59 -> 60\n"), "{}", output.out);
    // An invalid answer is not repeated; the last step is.
    assert!(
        output
            .out
            .contains("there is no step `9`; the steps are 0 to 1 (`help` lists the commands)\n"),
        "{}",
        output.out
    );
    assert!(output.out.contains("       x: 60 -> 61\n"), "{}", output.out);
    assert!(output.out.contains("back to step 60\n") && output.out.contains("back to step 59\n"));
    let listed = "       [0] P.a -> a    two.dve:1:52\n";
    let before = output.out.split("    1  P.a -> a\n").next().unwrap();
    assert_eq!(before.matches(listed).count(), 2, "{before}");
    // `--steps` ends the walk; random walks take twenty steps by default.
    let output = folder.run_with_input(&["simulate", "two.dve", "-i", "--steps", "2"], "0\n\n\n\n");
    let end = "    2  P.a -> a\n       x: 1 -> 2\nthe walk ends here, as --steps says\n";
    assert!(output.out.ends_with(end), "{}", output.out);
    folder.write("ring.dve", RING);
    let output = folder.run_with_input(&["simulate", "ring.dve", "-i"], "0\n");
    assert!(
        output.out.contains("\nstep 0, or a command (h: help):    20  P.a -> a\n"),
        "{}",
        output.out
    );
    assert!(output.code == 0 && output.out.matches("step 0, or a").count() == 2, "{}", output.out);
}

#[test]
fn an_interactive_walk_steps_back_along_a_counterexample() {
    let folder = Folder::with("stuck.dve", STUCK);
    assert_eq!(folder.run(&["check", "stuck.dve", "--dir", "d"]).code, 1);
    let expected = "\
after step 2 of the counterexample to deadlock: no successor
       free = 0
       P = waits
       P.turns = 1
       Q = works
       deadlock: no step can be taken here
no step is left; a command (h: help):        free = 0
       P = waits
       P.turns = 1
       Q = works
no step is left; a command (h: help): there is no step `4`; no step is left (`help` lists the commands)
no step is left; a command (h: help): back to step 0
       free = 1
       P = idle
       P.turns = 0
       Q = idle
       [0] P.idle -> waits    stuck.dve:3:7
       [1] Q.idle -> works    stuck.dve:7:7
step 0 to 1, or a command (h: help): this is the start
step 0 to 1, or a command (h: help):     1  Q.idle -> works
       free: 1 -> 0
       Q: idle -> works
    2  P.idle -> waits
       P: idle -> waits
       P.turns: 0 -> 1
       deadlock: no step can be taken here
no step is left; a command (h: help): ";
    let args = ["simulate", "stuck.dve", "--from", "d", "--interactive", "--steps", "1"];
    assert_answers(&folder, &args, "s\n4\nb\nb\n1\n", (1, expected));
}

#[test]
fn a_walk_starts_on_a_run_found_on_disk() {
    let folder = Folder::with("count.dve", COUNT);
    let check = ["check", "count.dve", "--ltl", "<> (x > 60)", "--dir", "d"];
    assert_eq!(folder.run(&[&check[..], &["--max-states", "50"]].concat()).code, 3);
    assert_fails(
        &folder,
        &["simulate", "count.dve", "--from", "d"],
        "error: no violation has been found in d, so there is no step to start from\n",
    );
    assert_eq!(folder.run(&["resume", "d"]).code, 1);
    let expected = "\
after step 59 of the counterexample to <> (x > 60)
       claim = state 0
       x = 59
       P = a
   60  P.a -> a
       x: 59 -> 60
   61  no process can move
";
    folder.assert_prints(&["simulate", "count.dve", "--from", "d:59", "--steps", "2"], 0, expected);
}

#[test]
fn a_walk_that_cannot_start_has_one_message() {
    let folder = Folder::with("stuck.dve", STUCK);
    folder.write("counts.pml", COUNTS);
    let check = |model: &str, dir: &str, flags: &[&str], code| {
        assert_eq!(folder.run(&[&["check", model, "--dir", dir], flags].concat()).code, code);
    };
    check("counts.pml", "d", &[], 1);
    check("stuck.dve", "none", &["--only", "error"], 0);
    check("stuck.dve", "defined", &[], 1);
    let from = |model: &str, from: &str, expected: &str| {
        assert_fails(&folder, &["simulate", model, "--from", from], expected);
    };
    from(
        "stuck.dve",
        "none",
        "error: no violation has been found in none, so there is no step to start from\n",
    );
    from(
        "stuck.dve",
        "d",
        "error: d holds a search of another model than stuck.dve: of counts.pml, with the text from the start of that search\n  help: use the same text and the same --define; `spillway explain` shows a model\n",
    );
    from(
        "counts.pml",
        "d:35",
        "error: there is no state after step 35: the counterexample in d has 35 steps, and the last one fails\n  help: `--from d:34` starts at its end\n",
    );
    from(
        "stuck.dve",
        "defined:3",
        "error: there is no state after step 3: the counterexample in defined has 2 steps\n  \
         help: `--from defined:2` starts at its end\n",
    );
    let output = folder.run(&["simulate", "counts.pml", "--from", "d", "--no-claim"]);
    assert!(
        output.code == 2 && output.err.contains("cannot be used with '--no-claim'"),
        "{}",
        output.err
    );
    // The file now holds another model.
    folder.write("stuck.dve", &STUCK.replace("turns < 2", "turns < 1"));
    let output = folder.run(&["simulate", "stuck.dve", "--from", "defined"]);
    assert!(
        output.code == 2 && output.err.contains("with the text from the start of that search"),
        "{}",
        output.err
    );
}

/// A state that satisfies a cover is not a violation, so the walk continues.
#[test]
fn a_satisfied_cover_does_not_end_a_walk() {
    let text = "byte x; active proctype P() { x = 1; x = 2 }";
    let folder = Folder::with("c.pml", text);
    let output = folder.run(&["simulate", "c.pml", "--steps", "2", "--cover", "x == 1"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    assert!(
        output.out.contains("x: 1 -> 2") && !output.out.contains("does not hold"),
        "{}",
        output.out
    );
}

/// The output of each command of a session, after its prompt.
fn command_outputs(out: &str) -> Vec<&str> {
    out.split("(h: help): ").skip(1).collect()
}

/// The lines of an output that show a state.
fn state_lines(part: &str) -> Vec<&str> {
    part.lines().filter(|it| it.contains(" = ")).collect()
}

#[test]
fn undo_returns_to_the_previous_state() {
    let folder = Folder::with("lock.m", LOCK);
    folder.write("counts.pml", COUNTS);
    // After a step number, steps without a choice follow.
    for (model, moves) in [("lock.m", &["1"][..]), ("counts.pml", &["random 1", "random 1"])] {
        let undo = format!("undo {}", moves.len());
        let begin = ["0", "0", "s", "random 1", "undo", "s"];
        let typed = [&begin[..], moves, &[&undo, "s", "undo 99", "s", "q"]].concat();
        let output = folder
            .run_with_input(&["simulate", model, "-i", "--seed", "4"], &(typed.join("\n") + "\n"));
        assert_eq!(output.err, "", "{}", output.out);
        let command_outputs = command_outputs(&output.out);
        let before = state_lines(command_outputs[2]);
        assert!(before.len() > 2, "{}", output.out);
        // `undo` prints the state, too.
        let undone = begin.len() + moves.len();
        for number in [4, 5, undone, undone + 1] {
            assert_eq!(
                state_lines(command_outputs[number]),
                before,
                "{model} {number}: {}",
                output.out
            );
        }
        assert_ne!(state_lines(command_outputs[undone + 2]), before);
        assert_eq!(
            state_lines(command_outputs[undone + 2]),
            state_lines(command_outputs[undone + 3])
        );
        assert!(
            command_outputs[undone + 2].starts_with("back to step 0\n"),
            "{}",
            command_outputs[undone + 2]
        );
    }
}

/// Counts up and down, by choice.
const LIFT: &str = "byte floor = 5; byte trips;
process P { state a, b; init a;
trans a -> a { guard floor < 9; effect floor = floor + 1; },
      a -> b { guard floor > 0; effect floor = floor - 1; },
      b -> a { effect trips = (trips + 1) % 7; }; }
system async;
";

#[test]
fn random_steps_stop_at_the_first_state_of_a_condition() {
    let folder = Folder::with("lift.dve", LIFT);
    for seed in 1..=8_u32 {
        let session = |typed: &str| {
            let output = folder.run_with_input(
                &["simulate", "lift.dve", "-i", "--seed", &seed.to_string()],
                typed,
            );
            assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
            output.out
        };
        let out = session("until floor == 2\ns\nundo\ns\nq\n");
        let outputs = command_outputs(&out);
        assert!(outputs[0].contains("`floor == 2` holds after"), "{out}");
        assert_eq!(state_lines(outputs[1])[0].trim(), "floor = 2");
        assert_eq!(state_lines(outputs[3])[0].trim(), "floor = 3");
        // A breakpoint stops at the same state.
        let broken = session("break floor == 2\nrandom 10000\ns\nundo\ns\nq\n");
        let stops = command_outputs(&broken);
        assert_eq!(stops[0].lines().next(), Some("breakpoint 1: expression floor == 2"));
        assert!(stops[1].contains("breakpoint 1: expression floor == 2\n"), "{broken}");
        assert_eq!(
            [state_lines(stops[2]), state_lines(stops[4])],
            [state_lines(outputs[1]), state_lines(outputs[3])]
        );
        // A breakpoint at an action, or at its line, stops after the first such step.
        for place in ["b -> a", "P.b -> a", "5", "lift.dve:5"] {
            let out = session(&format!("break {place}\nrandom 10000\ns\nundo\ns\nq\n"));
            let outputs = command_outputs(&out);
            let trips = |part: &str| state_lines(part)[1].trim().to_owned();
            assert_eq!([trips(outputs[2]), trips(outputs[4])], ["trips = 1", "trips = 0"], "{out}");
        }
        // A deleted breakpoint does not stop the walk.
        let out = session("break floor == 2\nbreak -1\nrandom 100\nwhere\nq\n");
        assert!(command_outputs(&out)[3].starts_with("       depth 100\n"), "{out}");
    }
}

#[test]
fn a_line_breakpoint_stops_before_the_step_of_the_line() {
    let folder = Folder::with("counts.pml", COUNTS);
    folder.write(
        "lines.pml",
        "byte x;\nactive proctype P() {\n  x = 1;\n  x = 2;\n  x = 3\n}\nactive proctype Q() { skip; skip; skip }\n",
    );
    let output =
        folder.run_with_input(&["simulate", "lines.pml", "-i"], "break 5\nrandom 99\ns\nq\n");
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    let outputs = command_outputs(&output.out);
    assert!(outputs[1].contains("breakpoint 1: line 5\n"), "{}", output.out);
    assert_eq!(state_lines(outputs[2])[0].trim(), "x = 2");
}

#[test]
fn a_saved_path_is_replayed() {
    let folder = Folder::with("lock.m", LOCK);
    let args = ["simulate", "lock.m", "-i", "--seed", "3"];
    let output =
        folder.run_with_input(&args, "0\nrandom 1\nsave way\nsave way.csv\nsave no/way\nq\n");
    let outputs = command_outputs(&output.out);
    assert_eq!(
        outputs[2].lines().next().unwrap(),
        "wrote way: 2 steps; `spillway simulate lock.m --replay way` replays them"
    );
    assert_eq!(outputs[3].lines().next().unwrap(), "wrote way.csv: 2 steps, CSV");
    assert!(
        outputs[4].starts_with("error: cannot write the path no/way: No such file"),
        "{}",
        outputs[4]
    );
    let replayed = folder.run(&["simulate", "lock.m", "--replay", "way"]);
    assert_eq!(replayed.err, "");
    assert_eq!(replayed.code, output.code);
    let steps = |out: &str| -> Vec<String> {
        let steps = out.lines().filter(|it| it.starts_with("    ") && !it.contains('['));
        steps.map(|it| it.rsplit("help): ").next().unwrap().to_owned()).collect()
    };
    assert!(steps(&replayed.out).len() > 4);
    for line in steps(&replayed.out) {
        assert!(output.out.contains(&line), "{line}: {}", output.out);
    }
    // With a number of steps the walk continues at random.
    let on = folder.run(&["simulate", "lock.m", "--replay", "way", "--steps", "1"]);
    let rest = on.out.strip_prefix(&replayed.out).unwrap_or_else(|| panic!("{}", on.out));
    assert_eq!(
        (on.code, rest.lines().filter(|it| !it.starts_with("       ")).count()),
        (1, 1),
        "{rest}"
    );
    let further =
        folder.run_with_input(&["simulate", "lock.m", "--replay", "way", "-i"], "undo 9\nq\n");
    assert!(further.out.starts_with(&replayed.out), "{}", further.out);
    let text = std::fs::read_to_string(folder.path("way")).unwrap();
    folder.write("way", &text.replace("ask to", "beg to"));
    assert_fails(
        &folder,
        &["simulate", "lock.m", "--replay", "way"],
        &format!(
            "error: way:4: lock.m has no step `{}` there\n  help: use the model with which the path was saved, with the same --define\n",
            text.lines().nth(3).unwrap().replace("ask to", "beg to")
        ),
    );
    folder.write("way", "# mine\n\nnothing\n");
    assert_fails(
        &folder,
        &["simulate", "lock.m", "--replay", "way"],
        "error: way:3: `nothing` is no step\n  help: a line is the number of a step and its title; `save` of `simulate --interactive` writes such files\n",
    );
}

#[test]
fn a_line_that_is_not_utf8_does_not_end_a_walk() {
    let folder = Folder::with("lock.m", LOCK);
    std::fs::write(folder.path("typed"), b"\xff\nstate\nq\n").unwrap();
    let typed = std::fs::File::open(folder.path("typed")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_spillway"));
    let output = command.args(["simulate", "lock.m", "-i"]).current_dir(&folder.0).stdin(typed);
    let out = String::from_utf8(output.output().unwrap().stdout).unwrap();
    let outputs = command_outputs(&out);
    assert!(outputs[0].starts_with("the line is not UTF-8 text\n"), "{out}");
    assert!(outputs[1].starts_with("       st = "), "{out}");
}
