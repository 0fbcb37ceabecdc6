//! Early decisions: a counterexample ends where every continuation violates the property. Also the reports of errors
//! that a search for cycles finds.

use super::bench::{Bench, CommandOutput};
use serde_json::{Value, json};

/// Process `A` counts to 5 and back, in any order.
const COUNTS: &str = "
byte x, y
active proctype A() {
  do
  :: x < 5 -> x++
  :: x > 0 -> x--
  :: x == 5 -> y = 1
  od
}
ltl low { [] (x < 3) }
";

/// The assertion fails if `x` is 2; no run has `x` at 3.
const ASSERTS: &str = "
byte x
active proctype A() {
  do
  :: x < 2 -> x++; assert(x < 2)
  :: x > 0 -> x--
  od
}
ltl low { [] (x < 3) }
";

impl Bench {
    /// The object that `check --json` prints.
    fn object(&self, args: &[&str]) -> Value {
        let CommandOutput { out, err, .. } = self.run(&[&["check", "--json"][..], args].concat());
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}\n{out}{err}"))
    }
}

#[test]
fn a_counterexample_ends_where_every_continuation_violates() {
    let bench = Bench::of([("counts.pml", COUNTS)]);
    // Each `x++` or `x--` is two steps.
    let judged = [
        ("[] (x < 3)", 6, json!({"x": 3})),
        ("[] !(x == 5 && y == 1)", 12, json!({"x": 5, "y": 1})),
        ("(x < 4) W (y == 1)", 8, json!({"x": 4, "y": 0})),
        // The next state decides these formulas.
        ("X (x == 1)", 1, json!({"x": 0})),
        ("[] (x == 1 -> X (x == 1))", 4, json!({"x": 2})),
        ("x == 1", 0, json!({"x": 0})),
    ];
    for (formula, _, operands) in &judged {
        for exec in ["jit", "interp"] {
            let result = bench.object(&["counts.pml", "--ltl", formula, "--exec", exec]);
            let run = &result["counterexample"];
            assert_eq!(
                (&result["verdict"], &run["loop_start"]),
                (&json!("violated"), &Value::Null)
            );
            assert_eq!(&run["operands"], operands, "{formula}");
            assert_eq!(run["ends_at"][0]["process"], "A[0]", "{formula}");
        }
    }
    for (formula, steps, operands) in judged {
        // A shortest run ends in such a state, too, even if another run has a shorter cycle.
        let result = bench.object(&["counts.pml", "--ltl", formula, "--shortest"]);
        let (run, shortened) = (&result["counterexample"], &result["shortened"]);
        assert_eq!((&run["loop_start"], &run["operands"]), (&Value::Null, &operands), "{formula}");
        let length = |run: &Value| run["steps"].as_array().unwrap().len() as u64 - 1;
        assert_eq!((length(run), &shortened["done"]), (steps, &json!(true)), "{formula}");
        let found = bench.object(&["counts.pml", "--ltl", formula]);
        let found = length(&found["counterexample"]);
        assert_eq!(shortened["below"], found, "{formula}");
        let shorter = Some(steps).filter(|&steps| steps < found);
        assert_eq!(shortened["depth"], json!(shorter), "{formula}");
        let CommandOutput { out, .. } =
            bench.run(&["check", "counts.pml", "--ltl", formula, "--shortest"]);
        assert!(!out.contains("there may be a shorter one"), "{out}");
    }
}

#[test]
fn the_text_and_the_trail_end_at_the_violation() {
    let bench = Bench::of([("counts.pml", COUNTS)]);
    let CommandOutput { code, out, .. } = bench.run(&["check", "counts.pml", "--spin-trail", "t"]);
    assert_eq!(code, 1);
    assert!(!out.contains("<<<the loop starts here>>>"), "{out}");
    for words in
        ["whatever follows now, the property is violated\n\ncounts.pml", "  with     x = 3\n"]
    {
        assert!(out.contains(words), "no `{words}` in\n{out}");
    }
    let trail = std::fs::read_to_string(bench.0.path().join("t")).unwrap();
    // SPIN's mark of a cycle is absent. Each step has a line, the initial state has none.
    assert!(!trail.contains("-1:"), "{trail}");
    let result = bench.object(&["counts.pml"]);
    let steps = result["counterexample"]["steps"].as_array().unwrap().len();
    assert_eq!(trail.lines().count(), steps - 1, "{trail}");
}

#[test]
fn errors_are_checked_after_a_property_that_holds_for_runs_without_errors() {
    let bench = Bench::of([("asserts.pml", ASSERTS)]);
    let CommandOutput { code, out, err } = bench.run(&["check", "asserts.pml"]);
    assert_eq!((code, &*err), (1, ""), "{out}");
    for words in [
        "asserts.pml: every run that meets no run-time error satisfies low\n",
        "ended in errors that are checked next\n",
        "\nasserts.pml: VIOLATED: assert: assertion failed in A: assert(x < 2)",
        "  with     x = 2\n",
        "  checked  assertions, run-time errors\n",
    ] {
        assert!(out.contains(words), "no `{words}` in\n{out}");
    }
    assert!(!out.contains("NOT checked"), "it was checked a moment before:\n{out}");
    let result = bench.object(&["asserts.pml"]);
    assert_eq!(
        (&result["verdict"], &result["violations"][0]["kind"]),
        (&json!("violated"), &json!("assert"))
    );
    let warned = "every run that meets no run-time error satisfies low";
    assert!(result["warnings"][0].as_str().unwrap().ends_with(warned), "{result}");
    // `--ltl` selects the formula alone.
    let CommandOutput { code, out, .. } = bench.run(&["check", "asserts.pml", "--ltl", "low"]);
    assert_eq!(code, 0);
    assert!(out.contains("ended in errors that were not checked\n"), "{out}");
}

#[test]
fn errors_count_as_checked_if_all_states_were_visited() {
    let safe = ASSERTS.replace("assert(x < 2)", "assert(x < 3)");
    // Its automaton does not follow a run after `x` is 1.
    let leaves = safe.replace("[] (x < 3)", "<> (x == 1)");
    let stays = "
byte x = 0;
process P { state a, b; init a; assert a: x < 2;
trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
system async;
";
    let bench = Bench::of([("safe.pml", &*safe), ("leaves.pml", &leaves), ("stays.dve", stays)]);
    let checked = |args: &[&str]| {
        let result = bench.object(args);
        assert_eq!(result["verdict"], "verified", "{result}");
        (result["checked"].clone(), result["left_out"].clone())
    };
    let errors = || json!(["assertions", "run-time errors"]);
    assert_eq!(checked(&["safe.pml"]), (errors(), json!(["deadlocks"])));
    assert_eq!(checked(&["safe.pml", "--ltl", "<>[] (x < 3)"]), (errors(), json!(["deadlocks"])));
    let all = || json!(["deadlocks", "assertions", "run-time errors"]);
    assert_eq!(checked(&["safe.pml", "--ltl", "(x < 3) U (x == 0)"]), (json!([]), all()));
    assert_eq!(checked(&["safe.pml", "--reduce", "dead"]).0, errors());
    // Errors are checked, assertions about locations of a process are not.
    let of_states = checked(&["stays.dve", "--ltl", "[] (x < 2)"]);
    assert_eq!(of_states, (json!(["run-time errors"]), json!(["deadlocks", "assertions"])));
    for (args, code) in [
        (&["safe.pml"][..], 0),
        (&["safe.pml", "--ltl", "(x < 3) U (x == 0)"], 1),
        (&["stays.dve", "--ltl", "[] (x < 2)"], 1),
        (&["leaves.pml"], 1),
    ] {
        let output = bench.run(&[&["check", "--strict"][..], args].concat());
        assert_eq!(output.code, code, "{args:?}\n{}{}", output.out, output.err);
    }
}

#[test]
fn a_memory_budget_below_the_minimum_is_rejected_without_a_directory() {
    let bench = Bench::of([("counts.pml", COUNTS)]);
    let CommandOutput { code, err, .. } = bench.run(&["check", "counts.pml", "--memory", "2MiB"]);
    assert_eq!(code, 2);
    assert!(err.contains("a memory budget of 2MiB is too small: the minimum"), "{err}");
}

/// An error in a start state cuts off a transition.
#[test]
fn errors_of_initial_states_are_reported() {
    let starts = "var x: 0..3; startstate x := 0; end; startstate error \"never so\"; x := 1; end;
rule x < 3 ==> x := x + 1; end; rule x = 3 ==> x := 0; end;
";
    let bench =
        Bench::of([("starts.m", starts), ("fine.m", &starts.replace("error \"never so\"; ", ""))]);
    for (model, faults, checked) in
        [("starts.m", 1, json!([])), ("fine.m", 0, json!(["run-time errors"]))]
    {
        let result = bench.object(&[model, "--ltl", "[] (x <= 3)"]);
        assert_eq!(
            (&result["verdict"], &result["steps_cut_off"]),
            (&json!("verified"), &json!(faults))
        );
        assert_eq!(result["checked"], checked, "{model}");
    }
}
