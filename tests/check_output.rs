//! The output of `check` with and without violations, line by line.

#[path = "support/incorrect_models.rs"]
mod incorrect_models;
#[path = "support/masked.rs"]
mod masked;

use incorrect_models::{LOCK, STUCK};
use masked::masked;
use std::process::Command;

const CHANNEL: &str = "mtype = { DATA, ACK };
chan m2s = [1] of { mtype, bit };
byte sent;
active proctype Sender() {
  bit ab;
  do
  :: m2s!DATA(ab) -> sent++; assert(sent < 3)
  od
}
active proctype Receiver() {
  bit b;
  do
  :: m2s?DATA(b)
  od
}
";

/// Messages enter and leave an unordered net; an undefined array element is read.
const NET: &str =
    "type Node: scalarset(2); Message: record from: Node; kind: enum { req, ack }; end;
var net: multiset [2] of Message; done: array [boolean] of 0..3; seen: array [Node] of 0..3;
startstate undefine net; done[false] := 0; done[true] := 0; end;
ruleset n: Node do
  rule \"send\" multisetcount(i: net, true) < 2 & done[true] < 2 ==> var m: Message;
    begin m.from := n; m.kind := req; multisetadd(m, net); done[true] := done[true] + 1; end;
end;
choose i: net do
  rule \"take\" multisetcount(j: net, true) > 0 & done[true] = 2 ==>
    begin seen[net[i].from] := seen[net[i].from] + 1; multisetremove(i, net); end;
end;
";

/// Runs `check` in a folder with a model. Returns the exit code and the standard output, with times and sizes masked.
fn run_check(name: &str, text: &str, args: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
    let output =
        command.current_dir(folder.path()).args(["check", name]).args(args).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), masked(&out) + "\n")
}

#[track_caller]
fn assert_prints(name: &str, text: &str, args: &[&str], (code, expected): (i32, &str)) {
    let (ended, out) = run_check(name, text, args);
    assert_eq!(out, expected, "{out}");
    assert_eq!(ended, code);
}

#[test]
fn a_violated_invariant_is_printed_with_parameters_and_values() {
    let expected = "\
counterexample in lock.m: invariant: one writer, 2 steps
    0  initial state
         st = [Node_1: I, Node_2: I, Node_3: I]
         owner = undefined
         sharers = 0
    1  ask to share (n: Node_1)    line 6:3
         st[Node_1]: I -> S
         sharers: 0 -> 1
    2  ask to own (n: Node_2)    line 7:3
         st[Node_2]: I -> E
         owner: undefined -> Node_2
       here the invariant `one writer` of line 9:1 does not hold

lock.m: VIOLATED: invariant: one writer at lock.m:9:1
  after    2 steps (shortest)
  with     st[Node_2] = E, sharers = 1
  found    1 violation in 5 states, 15 transitions, 3 levels, 0 deadlocks; *
  checked  deadlocks, invariants, run-time errors
  reduced  by symmetry exact, which preserves everything: a state represents up
           to 6
           off: --reduce none
  next     spillway check lock.m --dir DIR;
           spillway simulate lock.m --from DIR
";
    assert_prints("lock.m", LOCK, &[], (1, expected));
}

#[test]
fn a_deadlock_is_printed_with_the_condition_of_each_process() {
    let expected = "\
counterexample in stuck.dve: deadlock: no successor, 2 steps
    0  initial state
         free = 1
         P = idle
         P.turns = 0
         Q = idle
    1  Q.idle -> works    line 7:7
         free: 1 -> 0
         Q: idle -> works
    2  P.idle -> waits    line 3:7
         P: idle -> waits
         P.turns: 0 -> 1
       no step can be taken here

stuck.dve: VIOLATED: deadlock: no successor
  after    2 steps (shortest)
  ends at  P  waits (line 2), waits for free == 1 (waits -> works; free = 0)
           Q  works (line 6), has ended
  found    1 violation in 5 states, 6 transitions, 3 levels, 1 deadlock; *
  checked  deadlocks, run-time errors
  next     spillway check stuck.dve --msc
           spillway check stuck.dve --dir DIR;
           spillway simulate stuck.dve --from DIR
";
    assert_prints("stuck.dve", STUCK, &[], (1, expected));
}

#[test]
fn a_failed_assertion_is_printed_with_its_operands() {
    let expected = "\
counterexample in channel.pml: assert: assertion failed in Sender: assert(sent <
           3), 11 steps
    0  initial state
         sent = 0
         m2s = <>
         Sender[0] = line 6
         Sender[0].ab = 0
         Receiver[1] = line 12
         Receiver[1].b = 0
    1  Sender[0]: m2s!DATA(ab)    line 7:6
         m2s: <> -> <{DATA, 0}>
         Sender[0]: line 6 -> line 7:22
    2  Receiver[1]: m2s?DATA(b)    line 13:6
         m2s: <{DATA, 0}> -> <>
    3  Sender[0]: sent++    line 7:22
         sent: 0 -> 1
         Sender[0]: line 7:22 -> line 7:30
    4  Sender[0]: assert(sent < 3)    line 7:30
         Sender[0]: line 7:30 -> line 6
    5  Sender[0]: m2s!DATA(ab)    line 7:6
         m2s: <> -> <{DATA, 0}>
         Sender[0]: line 6 -> line 7:22
    6  Receiver[1]: m2s?DATA(b)    line 13:6
         m2s: <{DATA, 0}> -> <>
    7  Sender[0]: sent++    line 7:22
         sent: 1 -> 2
         Sender[0]: line 7:22 -> line 7:30
    8  Sender[0]: assert(sent < 3)    line 7:30
         Sender[0]: line 7:30 -> line 6
    9  Sender[0]: m2s!DATA(ab)    line 7:6
         m2s: <> -> <{DATA, 0}>
         Sender[0]: line 6 -> line 7:22
   10  Sender[0]: sent++    line 7:22
         sent: 2 -> 3
         Sender[0]: line 7:22 -> line 7:30
   11  Sender[0]: assert(sent < 3)    line 7:30
         assert: (sent < 3) (line 7:30)

channel.pml: VIOLATED: assert: assertion failed in Sender: assert(sent < 3) at
           channel.pml:7:30
  after    11 steps (shortest)
  with     sent = 3
  ends at  Sender[0]    line 7:30
           Receiver[1]  line 12
  found    1 violation in 16 states, 22 transitions, 11 levels, 0 deadlocks; *
  checked  deadlocks, assertions, run-time errors
  reduced  by dead variables, which preserves everything: 1 variable reset in 1
           place
           off: --reduce none
  next     spillway check channel.pml --msc
           spillway check channel.pml --dir DIR;
           spillway simulate channel.pml --from DIR
";
    assert_prints("channel.pml", CHANNEL, &[], (1, expected));
}

#[test]
fn undefined_values_and_multiset_changes_are_printed() {
    let expected = "\
counterexample in net.m: error: undefined value in take, 3 steps
    0  initial state
         net = {}
         done = [false: 0, true: 0]
         seen = [Node_1: undefined, Node_2: undefined]
    1  send (n: Node_1)    line 5:3
         net: {from: Node_1, kind: req} added
         done[true]: 0 -> 1
    2  send (n: Node_1)    line 5:3
         net: {from: Node_1, kind: req} added
         done[true]: 1 -> 2
    3  take (i: 0)    line 9:3
         error: an undefined value is read: seen[Node_1] (line 10:32)

net.m: VIOLATED: error: undefined value in take at net.m:10:32
  after    3 steps (shortest); 4 failing steps found
  with     seen[Node_1] = undefined
  found    1 violation in 4 states, 4 transitions, 3 levels, 0 deadlocks; *
  checked  deadlocks, run-time errors
  reduced  by symmetry exact, which preserves everything: a state represents up
           to 2
           off: --reduce none
  next     spillway check net.m --dir DIR;
           spillway simulate net.m --from DIR
";
    assert_prints("net.m", NET, &[], (1, expected));
}

/// An invariant reads an undefined value: the message names the invariant and the value.
#[test]
fn an_error_in_an_invariant_names_the_invariant() {
    let text = "type Node: scalarset(3);
var st: array [Node] of 0..3; x: 0..3;
startstate for n: Node do st[n] := 0; end; x := 0; end;
ruleset n: Node do rule \"lose\" x < 2 ==> begin undefine st[n]; x := x + 1; end; end;
ruleset m: Node do invariant \"small\" st[m] < 3; end;
";
    let expected = "\
counterexample in read.m: error: undefined value in invariant small, 2 steps
    0  initial state
         st = [Node_1: 0, Node_2: 0, Node_3: 0]
         x = 0
    1  lose (n: Node_1)    line 4:20
         st[Node_1]: 0 -> undefined
         x: 0 -> 1
    2  evaluating the invariant small    line 5:20
         error: an undefined value is read: st[Node_1] (line 5:38)

read.m: VIOLATED: error: undefined value in invariant small at read.m:5:38
  after    2 steps (shortest)
  with     st[Node_1] = undefined
  found    1 violation in 2 states, 6 transitions, 2 levels, 0 deadlocks; *
  checked  deadlocks, invariants, run-time errors
  reduced  by symmetry exact, which preserves everything: a state represents up
           to 6
           off: --reduce none
  next     spillway check read.m --dir DIR;
           spillway simulate read.m --from DIR
";
    assert_prints("read.m", text, &[], (1, expected));
}

/// In a step of several statements, the headline names the failing one.
#[test]
fn the_headline_names_only_the_failing_statement() {
    let text = "byte a = 1, b = 2, z;
active proctype P() { d_step { assert(a == b); b = 5; z = 1 } }
";
    let expected = "\
d.pml: VIOLATED: assert: assertion failed in P: assert(a == b) at d.pml:2:32
  after    1 step (shortest)
";
    let (code, out) = run_check("d.pml", text, &["--no-trace", "--reduce", "none"]);
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(code, 1);
}

/// The executed statements of a `d_step` are printed once each, with their positions.
#[test]
fn a_d_step_is_printed_by_its_statements() {
    let text = "byte x, y;
active proctype P() {
  d_step {
    y = 4;
    if
    :: y > 1 -> x = 5
    :: else -> x = 6
    fi
  };
  assert(x != 5)
}
active proctype Q() { d_step { if :: y > 7 -> y = 0 :: y == 4 -> y = 1 fi } }
";
    let (code, out) = run_check("d.pml", text, &["--reduce", "none"]);
    assert_eq!(code, 1);
    let shown = "    1  P[0]: y = 4; y > 1; x = 5; goto\n           line 4:5 + line 6:8 + line 6:17 + line 5:5\n";
    assert!(out.contains(shown), "{out}");
    assert!(!out.contains("d_step {"), "{out}");
}

/// An error in a procedure is printed with its message, its calls, and the changes of the step so far.
#[test]
fn an_error_in_a_procedure_is_printed_with_its_calls() {
    let text = "var x: 0..3; y: 0..3;
procedure check(v: 0..3);
begin
  if v = 2 then error \"two is too many\"; end;
end;
procedure outer(var v: 0..3);
begin
  v := v + 1;
  check(v);
end;
startstate begin x := 1; y := 0; end;
rule \"go\" true ==> begin outer(x); end;
";
    let expected = "\
counterexample in e.m: error: two is too many in go, 1 step
    0  initial state
         x = 1
         y = 0
    1  go    line 12:1
         error: two is too many (line 4:17)
         in check, called at line 9:3
         in outer, called at line 12:26
         x: 1 -> 2

e.m: VIOLATED: error: two is too many in go at e.m:4:17
  after    1 step (shortest)
";
    let (code, out) = run_check("e.m", text, &[]);
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(code, 1);
}

/// The innermost and outermost calls are printed.
#[test]
fn an_error_in_many_calls_is_printed_with_some_of_them() {
    let text = "var x: 0..99;
function f(n: 0..99): 0..99;
begin
  if n = 0 then error \"zero\"; end;
  return f(n - 1);
end;
startstate begin x := 0; end;
rule \"go\" true ==> begin x := f(20); end;
";
    let inner = "         in f, called at line 5:10\n";
    let calls = format!(
        "         error: zero (line 4:17)\n{}         in 13 more calls\n{}         in f, called at line 8:31\n",
        inner.repeat(4),
        inner.repeat(3)
    );
    let (code, out) = run_check("e.m", text, &[]);
    assert!(out.contains(&calls), "{out}");
    assert_eq!(code, 1);
}

/// If all states are visited, the unchecked formula is listed with the flag that checks it, and counts with `--strict`.
#[test]
fn an_unchecked_formula_is_listed() {
    let text = "byte x;
active proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }
ltl live { [] <> (x == 3) }
";
    let expected = "\
cov.pml: every reachable state was visited, no violation was found
  found    10 states, 12 transitions, 8 levels, 0 deadlocks; *
  checked  deadlocks, run-time errors
  NOT checked  ltl live (cov.pml:3)
           use --ltl live
";
    let flags = ["--keep-going", "--reduce", "none"];
    assert_prints("cov.pml", text, &flags, (0, expected));
    assert_prints("cov.pml", text, &[&flags[..], &["--strict"]].concat(), (1, expected));
}

#[test]
fn keep_going_counts_all_violations() {
    let expected = "\
counterexample in lock.m: deadlock: no successor, 3 steps
    0  initial state
         st = [Node_1: I, Node_2: I, Node_3: I]
         owner = undefined
         sharers = 0
    1  ask to share (n: Node_1)    line 6:3
         st[Node_1]: I -> S
         sharers: 0 -> 1
    2  ask to share (n: Node_2)    line 6:3
         st[Node_2]: I -> S
         sharers: 1 -> 2
    3  ask to share (n: Node_3)    line 6:3
         st[Node_3]: I -> S
         sharers: 2 -> 3
       no step can be taken here

lock.m: VIOLATED: deadlock: no successor
  after    3 steps (shortest); 2 such states found
  disabled ask to share (n: Node_1, Node_2, Node_3) waits for st[n] = I
           (st[Node_1] = S, st[Node_2] = S, st[Node_3] = S)
           ask to own (n: Node_1, Node_2, Node_3) waits for st[n] = I
           (st[Node_1] = S, st[Node_2] = S, st[Node_3] = S)
  found    1 violation in 7 states, 15 transitions, 4 levels, 2 deadlocks; *
  checked  deadlocks
  not checked  invariants, run-time errors
  reduced  by symmetry exact, which preserves everything: a state represents up
           to 6
           off: --reduce none
  next     spillway check lock.m --keep-going --only deadlock --dir DIR;
           spillway simulate lock.m --from DIR
";
    assert_prints("lock.m", LOCK, &["--keep-going", "--only", "deadlock"], (1, expected));
}

#[test]
fn a_verified_model_is_reported_in_a_few_lines() {
    let expected = "\
channel.pml: verified: every reachable state was visited, no violation was found
  found    1,536 states, 2,048 transitions, 1,024 levels, 0 deadlocks; *
  checked  deadlocks
  not checked  assertions, run-time errors
  reduced  by dead variables, which preserves everything: 1 variable reset in 1
           place
           off: --reduce none
";
    assert_prints("channel.pml", CHANNEL, &["--only", "deadlock"], (0, expected));
}

#[test]
fn a_stopped_search_reports_its_violations_without_a_verdict() {
    let args = ["--keep-going", "--only", "deadlock", "--max-states", "7", "--reduce", "none"];
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("d").display().to_string();
    let (code, out) = run_check("stuck.dve", STUCK, &[&args[..], &["--dir", &dir]].concat());
    assert_eq!(code, 3);
    let expected = "stuck.dve: incomplete: the search is not complete
  violated deadlock: no successor, after 2 steps (shortest)
  found    1 violation in 8 states, 8 transitions, 5 levels, 1 deadlock; *
  checked  deadlocks
";
    assert!(out.starts_with(expected), "{out}");
}

/// A rendezvous, a buffered message, and a process that moves in between.
const RENDEZVOUS_MODEL: &str = "chan c = [0] of { byte }; chan back = [1] of { byte };
active proctype Left() { byte x; c!1; back?x; c!2; assert(x == 0) }
active proctype Middle() { skip; skip }
active proctype Right() { byte y; c?y; back!y; c?y }
";

/// The output of `trace` for a model, without the last lines, which `check` prints, too.
fn run_trace(text: &str, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("meet.pml"), text).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
        let output = command.current_dir(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["check", "meet.pml", "--dir", "d", "--no-trace"]);
    let out = run(&[&["trace", "d"], args].concat());
    let (steps, end) = out.split_once("VIOLATED: ").unwrap();
    assert!(end.contains("\n  after    "), "{end}");
    steps.to_owned()
}

#[test]
fn a_chart_has_a_column_for_each_process_and_an_arrow_for_each_message() {
    let expected = "\
counterexample: assert: assertion failed in Left: assert(x == 0), 5 steps
 step  Left[0]         Right[2]
    1  c!1 ----------> c?y
    2  |               back!y
    3  back?x <--(2)---|
    4  c!2 ----------> c?y
    5  assert(x == 0)  |
";
    assert_eq!(run_trace(RENDEZVOUS_MODEL, &["--msc"]), expected);
    let last = expected.lines().enumerate().filter(|(at, _)| !(2..5).contains(at));
    let last: String = last.map(|(_, line)| format!("{line}\n")).collect();
    assert_eq!(run_trace(RENDEZVOUS_MODEL, &["--msc", "--last", "2"]), last);
}

#[test]
fn a_step_of_several_statements_names_its_process_once() {
    let model = "byte x, y;
active [2] proctype P() { byte v; atomic { v = y + 1; x = v + 1; y = x }; assert(y < 3) }
";
    let wanted = "counterexample: assert: assertion failed in P: assert(y < 3), 3 steps
 step  P[1]                         P[0]
    1  v = y + 1; x = v + 1; y = x  |
    2  |                            v = y + 1; x = v + 1; y = x
    3  assert(y < 3)                |
";
    assert_eq!(run_trace(model, &["--msc"]), wanted);
    let steps = run_trace(model, &[]);
    let first = "    1  P[1]: v = y + 1; x = v + 1; y = x    line 2:44 + ";
    assert!(steps.contains(first), "{steps}");
}

#[test]
fn long_steps_take_several_lines_of_a_chart() {
    let model = "byte first_of_many, second_of_many;
active proctype P() {
  atomic { first_of_many = second_of_many + 1; second_of_many = first_of_many + 1 };
  assert(false)
}
";
    let wanted = "counterexample: assert: assertion failed in P: assert(false), 2 steps
 step  P[0]
    1  first_of_many = second_of_many + 1;
       second_of_many = first_of_many + 1
    2  assert(false)
";
    assert_eq!(run_trace(model, &["--msc"]), wanted);
}

#[test]
fn an_ended_process_has_no_waiting_condition() {
    let model = "byte x;
proctype P() { x == 1 }
init { run P() }
";
    let (_, all) = run_check("p.pml", model, &[]);
    assert!(all.contains("  ends at  init[0]  line 3:16, has ended\n           P[1]     line 2:16, waits for x == 1 (x = 0)\n"), "{all}");
}

#[test]
fn a_process_that_waits_for_a_channel_is_printed_with_its_contents() {
    let model =
        "chan one = [1] of { byte }; chan two = [2] of { byte }; chan meet = [0] of { byte };
byte n = 2;
active proctype P() { one!1; one!2 }
active proctype Q() { byte got; two?got }
active proctype R() { meet!7 }
active proctype S() { byte mine = 3; do :: one?[2] -> skip :: mine > n + 1 -> skip od }
";
    let (_, all) = run_check("p.pml", model, &[]);
    for line in [
        "waits for one!2 (one = <1>)\n",
        "waits for two?got (two = <>)\n",
        "waits for meet!7\n",
        "waits for one?[2] (one = <1>) or mine > n +\n           1 (mine = 3, n = 2)\n",
    ] {
        assert!(all.contains(line), "no `{line}` in\n{all}");
    }
}

#[test]
fn trace_selects_last_steps_and_variables() {
    let title = "counterexample in meet.pml: assert: assertion failed in Left: assert(x == 0),
           5 steps\n";
    let last = run_trace(RENDEZVOUS_MODEL, &["--last", "2"]);
    assert!(
        last.starts_with(&format!("{title}       3 steps left out\n    3  Left[0]: back?x    ")),
        "{last}"
    );
    assert!(
        last.contains("\n         back = <>\n") && last.contains("\n         Left[0].x = 1\n"),
        "{last}"
    );
    let only = run_trace(RENDEZVOUS_MODEL, &["--only", "back,Right[2].y,Right[7].y"]);
    let expected = "    0  initial state
         back = <>
         Right[2].y = 0
    1  Left[0]: c!1 + Right[2]: c?y    line 2:34 + line 4:35
         Right[2].y: 0 -> 1
    2  Right[2]: back!y    line 4:40
         back: <> -> <1>
    3  Left[0]: back?x    line 2:39
         back: <1> -> <>
    4  Left[0]: c!2 + Right[2]: c?y    line 2:47 + line 4:48
         Right[2].y: 1 -> 2
    5  Left[0]: assert(x == 0)    line 2:52
         assert: (x == 0) (line 2:52)
       there is no variable Right[7].y
";
    assert_eq!(only, format!("{title}{expected}"));
}

#[test]
fn every_line_fits_eighty_columns() {
    for (name, text) in
        [("lock.m", LOCK), ("stuck.dve", STUCK), ("channel.pml", CHANNEL), ("net.m", NET)]
    {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        for more in [&[][..], &["--verbose"], &["--keep-going"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
            let output = command
                .current_dir(folder.path())
                .args(["check", name])
                .args(more)
                .output()
                .unwrap();
            let out = String::from_utf8(output.stdout).unwrap();
            let summary = out.split("\n\n").last().unwrap();
            for line in summary.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}

/// An `inline` and a macro are expanded where they are used, with their arguments.
#[test]
fn expanded_inlines_and_macros_are_printed() {
    let model = "byte fork = 1, other = 1;
#define CHECK(v) assert(v == 1 || v == 7)
inline take(f) { atomic { f > 0 -> f-- } }
inline set(v) { v = 6; v++ }
active proctype P() { byte a; set(a); CHECK(a); take(fork); take(other); CHECK(fork) }
";
    let (_, all) = run_check("p.pml", model, &[]);
    for line in [
        "  P[0]: a = 6    line 5:35\n",
        "  P[0]: a++    line 5:35\n",
        "  P[0]: assert(a == 1 || a == 7)    line 5:39\n",
        "  P[0]: fork > 0; fork--    line 5:54 + line 5:54\n",
        "p.pml: VIOLATED: assert: assertion failed in P: assert(fork == 1 || fork == 7)",
        "  with     fork = 0\n",
    ] {
        assert!(all.contains(line), "no `{line}` in\n{all}");
    }
    let waits = model.replace("CHECK(fork)", "take(fork)");
    let (_, all) = run_check("p.pml", &waits, &[]);
    assert!(all.contains(", waits for fork > 0 (fork = 0)\n"), "{all}");
}
