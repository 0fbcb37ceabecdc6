//! Temporal properties from users: formulas and automata in each language, shown by `explain`, and their error
//! messages.

use super::bench::{Bench, CommandOutput};

const PROMELA: &str = "#define full (len(q) == 2)
byte x, clash; chan q = [2] of { byte };
ltl reaches { <> (x == 3) }
ltl clash { [] (x < 4) }
active proctype P() { byte k; here: do :: x < 3 -> x++; k = x od }
";
const DVE: &str =
    "byte x; process P { byte k; state a, b; init a; trans a -> b { effect x = 1; }; }
system async;
";
const MURPHI: &str =
    "const n: 2; type id: 1..n; var x: array [id] of boolean; turn: 0..3; next: 0..3;
startstate for i: id do x[i] := false; end; turn := 0; next := 0; end;
rule turn < 3 ==> turn := turn + 1; end;
";

fn bench() -> Bench {
    Bench::of([("m.pml", PROMELA), ("m.dve", DVE), ("m.m", MURPHI)])
}

impl Bench {
    fn explain(&self, model: &str, formula: &str) -> CommandOutput {
        self.run(&["explain", model, "--ltl", formula])
    }
}

#[test]
fn explain_shows_the_automaton_of_the_violating_runs_in_each_language() {
    let bench = bench();
    let shown = [
        ("m.pml", "[] (x < 3)", "2 states, 3 edges, terminal", "!(x < 3) -> 1"),
        ("m.pml", "reaches", "1 state, 1 edge, weak", "!(x == 3) -> 0"),
        ("m.pml", "[]<> full", "2 states, 3 edges, weak", "!(len(q) == 2) -> 1"),
        ("m.pml", "<> P[0]@here", "1 state, 1 edge, weak", "!(P[0]@here) -> 0"),
        ("m.pml", "<> (P[0]:k == 1 && !timeout)", "1 state, 2 edges, weak", "timeout -> 0"),
        ("m.pml", "[] !x == 1", "2 states, 3 edges, terminal", "!(!x == 1) -> 1"),
        ("m.pml", "[] !x", "2 states, 3 edges, terminal", "  x -> 1"),
        ("m.dve", "[] (P.a -> <> P.b)", "2 states, 3 edges, weak", "(P.a) && !(P.b) -> 1"),
        (
            "m.dve",
            "P->k == 0 imply <> not P.a",
            "2 states, 2 edges, weak",
            "(P->k == 0) && (P.a) -> 1",
        ),
        ("m.dve", "(x + 1) % 2 == 1 U x == 1", "", "!((x + 1) % 2 == 1) && !(x == 1)"),
        ("m.m", "[] (turn = 3 -> <> x[1] | turn < 3)", "weak", "(turn = 3) && !(x[1])"),
        ("m.m", "<> forall i: id do x[i] & turn = 3 endforall", "weak", "& turn = 3 endforall)"),
    ];
    for (model, formula, about, edge) in shown {
        let output = bench.explain(model, formula);
        assert_eq!(output.code, 0, "{formula}: {}", output.err);
        assert!(
            output.out.contains(about) && output.out.contains(edge),
            "{formula}:\n{}",
            output.out
        );
    }
}

#[test]
fn explain_prints_automata_as_dot_and_hanoi() {
    let bench = bench();
    let args = ["explain", "m.dve", "--ltl", "[]<> x == 1", "--format"];
    let output = bench.run(&[&args[..], &["dot"]].concat());
    assert!(output.out.starts_with("digraph \"what violates []<> x == 1\" {"), "{}", output.out);
    assert!(
        output.out.contains("1 [shape=doublecircle];")
            && output.out.contains("label=\"!(x == 1)\"")
    );
    let output = bench.run(&[&args[..], &["hoa"]].concat());
    assert!(
        output.out.contains("AP: 1 \"x == 1\"\n") && output.out.contains("State: 1 {0}\n[!0] 1\n")
    );
    // The printed text is read as the same automaton.
    bench.write("again.hoa", &output.out);
    let formula = bench.explain("m.dve", "[]<> x == 1").out;
    let reread = bench.run(&["explain", "m.dve", "--automaton", "again.hoa"]);
    assert_eq!(reread.code, 0, "{}", reread.err);
    let states = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(states(&reread.out), states(&formula));
}

#[test]
fn a_formula_without_violating_runs_is_reported() {
    let bench = bench();
    let output = bench.explain("m.dve", "<> x == 1 || [] !(x == 1)");
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("no run violates it, whatever the model does"), "{}", output.out);
}

#[test]
fn errors_in_formulas_have_line_and_column() {
    let bench = bench();
    let mistakes = [
        (
            "m.pml",
            "[] (x < 3",
            "--ltl:1:9: error: expected `)` or an operator, found the end of the formula",
        ),
        ("m.pml", "[] x &&", "--ltl:1:6: error: expected an operand, found the end of the formula"),
        ("m.pml", "x U", "expected an operand, found the end of the formula"),
        (
            "m.pml",
            "x X x",
            "--ltl:1:3: error: expected an operator or the end of the formula, found `X`",
        ),
        ("m.pml", "[] (y == 1)", "--ltl:1:5: error: there is no variable y"),
        ("m.pml", "<> P[0]@there", "there is no label there in P"),
        ("m.pml", "clash", "clash is a formula of the model and a variable of it"),
        ("m.pml", "", "expected an operand"),
        ("m.dve", "[] (y == 1)", "--ltl:1:5: error: "),
        ("m.dve", "<> P.c", "--ltl:1:6: error: "),
        (
            "m.dve",
            "[] x == 1)",
            "--ltl:1:10: error: expected an operator or the end of the formula, found `)`",
        ),
        (
            "m.dve",
            "[] x y",
            "--ltl:1:6: error: expected an operator or the end of the proposition, found `y`",
        ),
        ("m.pml", "[] x = 3", "--ltl:1:6: error: `=` is no operator here"),
        ("m.pml", "[] x = 3", "help: write `==` to compare"),
        ("m.m", "[] x[1] == 1", "help: write `=` to compare"),
        ("m.pml", "x == 1 and x == 2", "help: write `&&`"),
        ("m.pml", "G x == 1 & F x == 2", "help: write `&&`: `&` joins the bits of numbers"),
        ("m.pml", "(G x == 1) | x == 2", "help: write `||`: `|` joins the bits of numbers"),
        ("m.dve", "x == 1 iff x == 2", "help: write `<->`"),
        ("m.dve", "AG x == 1", "CTL's operators are not LTL's"),
        ("m.m", "[] z = 1", "--ltl:1:4: error: "),
        ("m.m", "[] next", "expected an operand"),
        ("m.m", "<> x[1] + 1 = 2", "--ltl:1:4: error: "),
    ];
    for (model, formula, expected) in mistakes {
        let output = bench.explain(model, formula);
        assert_eq!(output.code, 2, "{formula}: {}", output.out);
        assert!(output.err.contains(expected), "{formula}:\n{}", output.err);
        assert!(output.err.contains('^') || formula.is_empty(), "{formula}:\n{}", output.err);
    }
    let deep = "! ".repeat(300) + "(x && x)";
    assert!(bench.explain("m.dve", &deep).err.contains("nested too deeply"));
    let many: Vec<String> = (0..65).map(|it| format!("<> x == {it}")).collect();
    assert!(
        bench.explain("m.dve", &many.join(" && ")).err.contains("65 propositions are more than 64")
    );
}

#[test]
fn errors_in_automata_have_line_and_column() {
    let bench = bench();
    let body = "--BODY--\nState: 0 {0}\n[0] 0\n--END--\n";
    let head = "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"x == 1\"\nAcceptance: 1 Inf(0)\n";
    let pairs: Vec<String> =
        (0..20).map(|at| format!("(Fin({})|Inf({}))", 2 * at, 2 * at + 1)).collect();
    let mistakes = [
        (
            head.replace("Inf(0)", "Any(0)"),
            body.into(),
            "a.hoa:5:15: error: expected `Inf`, `Fin`, `t`, `f` or `(`, found `Any`",
        ),
        (
            head.replace("1 Inf(0)", "2 Inf(0)|Inf(2)"),
            body.into(),
            "a.hoa:5:26: error: there is no acceptance set 2",
        ),
        (
            head.replace("1 Inf(0)", &format!("40 {}", pairs.join("&"))),
            body.into(),
            "this acceptance condition has too many alternatives",
        ),
        (head.replace("x == 1", "y == 1"), body.into(), "a.hoa:4:7:1:1: error: "),
        (
            head.replace("Start: 0", "Start: 0&0"),
            body.into(),
            "a.hoa:3:9: error: alternating automata are not read",
        ),
        (head.replace("v1", "v2"), body.into(), "a.hoa:1:6: error: expected `v1`"),
        (
            head.replace("Start: 0", "Start: 7"),
            body.into(),
            "it begins in state 7, which does not exist",
        ),
        (head.into(), body.replace("[0] 0", "[0] 3"), "a.hoa:8:5: error: there is no state 3"),
        (head.into(), body.replace("[0]", "[4]"), "a.hoa:8:2: error: there is no proposition 4"),
        (
            head.into(),
            body.replace("{0}", "{1}"),
            "a.hoa:7:11: error: there is no acceptance set 1",
        ),
        (head.into(), body.replace("--END--", ""), "expected `State:` or `--END--`, found the end"),
        (
            head.replace("AP:", "Weird: 3\nAP:"),
            body.into(),
            "`Weird:` may change what the automaton means",
        ),
        ("never { }".into(), String::new(), "a.hoa:1:1: error: expected `HOA:`"),
    ];
    for (head, body, expected) in mistakes {
        bench.write("a.hoa", &(head + &body));
        let output = bench.run(&["explain", "m.dve", "--automaton", "a.hoa"]);
        assert_eq!(output.code, 2, "{expected}: {}", output.out);
        assert!(output.err.contains(expected), "{expected}:\n{}", output.err);
    }
    bench.write("a.hoa", &(head.to_owned() + body));
    assert_eq!(bench.run(&["explain", "m.dve", "--automaton", "a.hoa"]).code, 0);
    let both = ["explain", "m.dve", "--automaton", "a.hoa", "--ltl", "x"];
    let output = bench.run(&both);
    let words = "several properties are given, but only one automaton can be printed\n  help: give one of --ltl, --automaton, --acceptance and --non-progress";
    assert!(output.code == 2 && output.err.contains(words), "{}", output.err);
    assert_eq!(bench.run(&["explain", "m.dve", "--format", "dot"]).code, 2);
    let claim = ["explain", "m.pml", "--ltl", "x", "--claim", "never_0"];
    assert_eq!(bench.run(&claim).code, 2);
}
