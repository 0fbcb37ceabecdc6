//! Deep and long input, in every language and in every file next to a model: it is read, or rejected with one message.
//! The command neither overflows its stack nor panics.

use crate::Bench;

/// How deep it is nested, or how long it is.
const MANY: usize = 15_000;

/// Where expressions are nested in a language: what surrounds a condition, a variable, and how "and",
/// "or", "not", "implies" and "equal" are written.
struct Writing {
    file: &'static str,
    model: &'static str,
    signs: [&'static str; 5],
}

const WRITINGS: [Writing; 3] = [
    Writing {
        file: "e.m",
        model: "var x: 0..3; startstate begin x := 0; end;
            rule \"r\" HERE ==> begin x := (x + 1) % 4; end;",
        signs: ["&", "|", "!", "->", "="],
    },
    Writing {
        file: "e.pml",
        model: "byte x; active proctype P() { do :: (HERE) -> x = (x + 1) % 4 :: x > 4 od }",
        signs: ["&&", "||", "!", "->", "=="],
    },
    Writing {
        file: "e.dve",
        model: "byte x; process P { state a; init a; trans a -> a { guard HERE; \
            effect x = (x + 1) % 4; }; } system async;",
        signs: ["and", "or", "not ", "imply", "=="],
    },
];

/// A net of two places.
const NET: &str = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\"
 type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">
 <place id=\"x\"><initialMarking><text>1</text></initialMarking></place>PLACES<transition id=\"t\"/>
 <arc id=\"a\" source=\"x\" target=\"t\"/></page></net></pnml>";

/// `open` so many times, `inner`, `close` as often.
fn nested(open: &str, inner: &str, close: &str) -> String {
    open.repeat(MANY) + inner + &close.repeat(MANY)
}

/// The same thing so many times, with a sign between.
fn row(sign: &str, item: &str) -> String {
    vec![item; MANY].join(&format!(" {sign} "))
}

/// Conditions that are deep or long, in the signs of a language.
fn conditions([and, or, not, implies, equal]: [&str; 5]) -> Vec<String> {
    let condition = "x < 4";
    vec![
        row(and, condition),
        row(or, condition),
        row(implies, condition),
        format!("({}) < 9", row("+", "x")),
        format!("{} < 9", nested("1 - (", "1", ")")),
        nested("(", condition, ")"),
        nested(not, &format!("({condition})"), ""),
        format!("{} < 4", nested("- ", "x", "")),
        row(equal, "x"),
        nested("(", "x", &format!(" {equal} x)")),
        nested("x[", "0", "]"),
        format!("x{}", "[0]".repeat(MANY)),
        format!("x{}", ".a".repeat(MANY)),
        nested("(x < 3 ? 1 : ", "1", ")"),
        nested("f(", "x", ")"),
        "(".repeat(MANY),
        "y".repeat(MANY),
        "9".repeat(MANY),
    ]
}

/// So many of what has numbers.
fn numbered(each: &dyn Fn(usize) -> String) -> String {
    (0..MANY).map(each).collect()
}

/// Statements, declarations and the like of Murphi that are deep or long.
fn models_of_murphi() -> Vec<(&'static str, String)> {
    let murphi = |declared: &str, body: &str| {
        format!(
            "{declared} var x: 0..3; b: boolean; startstate begin x := 0; b := true; end;
             rule begin {body} x := (x + 1) % 4; end;"
        )
    };
    let records = numbered(&|it| format!("t{}: record a: t{it}; end; ", it + 1));
    let changing = "var c: boolean; function f(): boolean; begin c := true; return c; end;";
    vec![
        ("s.m", murphi("", &nested("if b then ", "", "end; "))),
        (
            "s.m",
            murphi("", &format!("if b then x := 1; {} end;", "elsif b then x := 0; ".repeat(MANY))),
        ),
        (
            "s.m",
            murphi(changing, &format!("if b then {} end;", "elsif f() then x := 0; ".repeat(MANY))),
        ),
        ("s.m", murphi(changing, &format!("b := {};", row("&", "f()")))),
        ("s.m", murphi("", &nested("while x > 3 do ", "", "end; "))),
        ("s.m", murphi("", &nested("switch x case 0: ", "", "end; "))),
        ("s.m", murphi("", &nested("b := forall i: 0..0 do ", "b", " end"))),
        ("s.m", murphi(&format!("type t: {}; ", nested("array [0..0] of ", "boolean", "")), "")),
        ("s.m", murphi(&format!("type t0: boolean; {records} var v: t{MANY};"), "")),
        ("s.m", murphi("", &"x := 0; ".repeat(MANY))),
        ("s.m", murphi("", &"/*".repeat(MANY))),
    ]
}

/// The same of other languages.
fn models_of_others() -> Vec<(&'static str, String)> {
    let promela = |declared: &str, body: &str| {
        format!("{declared}\nbyte x; active proctype P() {{ {body} do :: x = (x + 1) % 4 od }}")
    };
    vec![
        ("s.pml", promela("", &nested("if :: true -> ", "x = 0; ", "fi; "))),
        ("s.pml", promela("", &nested("{ ", "x = 0; ", "} "))),
        ("s.pml", promela("", &nested("{ ", "x = 0", " } unless { x > 4 }"))),
        ("s.pml", promela("", &format!("if {} fi;", ":: x == 0 ".repeat(MANY)))),
        ("s.pml", promela("#define A(y) y", &nested("A(", "x = 0", ");"))),
        ("s.pml", promela(&nested("#ifdef A\n", "", "#endif\n"), "")),
        ("s.pml", promela(&format!("#if {}\n#endif", nested("(", "1", ")")), "")),
        ("s.pml", promela(&format!("#if {}\n#endif", row("&&", "1")), "")),
        ("s.pml", promela("", "") + &format!("\nltl p {{ {} }}", nested("(", "x < 4", ")"))),
        ("s.pml", promela("", "") + &format!("\nltl p {{ {} }}", row("&&", "(x < 4)"))),
        ("s.pml", promela("", "") + &format!("\nltl p {{ {} }}", row("U", "(x < 4)"))),
        (
            "s.pml",
            promela("", "")
                + &format!("\nnever {{ {} }}", nested("do :: true -> ", "skip ", "od ")),
        ),
        (
            "s.dve",
            format!(
                "byte a = {}; process P {{ state a; init a; trans ; }} system async;",
                nested("(", "1", ")")
            ),
        ),
        ("s.pnml", NET.replace("PLACES", &nested("<a>", "", "</a>"))),
        ("s.pnml", NET.replace("PLACES", &numbered(&|it| format!("<place id=\"p{it}\"/>")))),
        (
            "s.pnml",
            NET.replace("PLACES", "<place id=\"y\"/>")
                .replace("<text>1", &format!("<text>{}", "9".repeat(MANY))),
        ),
    ]
}

/// Questions in a file of them.
fn questions() -> Vec<String> {
    let at_most = "<integer-le><tokens-count><place>x</place></tokens-count>\
        <integer-constant>3</integer-constant></integer-le>";
    let always = |it: &str| format!("<all-paths><globally>{it}</globally></all-paths>");
    let all = |element: &str, item: &str| format!("<{element}>{}</{element}>", item.repeat(MANY));
    let each = |element: &str| {
        let open = format!("<{element}>{at_most}");
        nested(&open, at_most, &format!("</{element}>"))
    };
    let sum = all("integer-sum", "<tokens-count><place>x</place></tokens-count>");
    vec![
        always(&all("conjunction", at_most)),
        always(&all("disjunction", at_most)),
        always(&each("conjunction")),
        always(&nested("<negation>", at_most, "</negation>")),
        always(&all("is-fireable", "<transition>t</transition>")),
        always(&format!("<integer-le>{sum}<integer-constant>3</integer-constant></integer-le>")),
        format!("<all-paths>{}</all-paths>", nested("<finally>", at_most, "</finally>")),
        format!("<place-bound>{}</place-bound>", "<place>x</place>".repeat(MANY)),
    ]
}

/// Automata in the Hanoi format.
fn automata() -> Vec<String> {
    let automaton = |aliases: &str, acceptance: &str, label: &str| {
        format!(
            "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"x < 4\"\n{aliases}Acceptance: 1 {acceptance}\n\
             --BODY--\nState: 0 {{0}}\n[{label}] 0\n--END--\n"
        )
    };
    let doubled: String =
        (0..60).map(|it| format!("Alias: @a{} @a{it} | @a{it}\n", it + 1)).collect();
    vec![
        automaton("", "Inf(0)", &nested("(", "0", ")")),
        automaton("", "Inf(0)", &nested("!", "0", "")),
        automaton("", "Inf(0)", &row("|", "0")),
        automaton("", "Inf(0)", &row("&", "0")),
        automaton("", &nested("(", "Inf(0)", ")"), "t"),
        automaton(&format!("Alias: @a0 0\n{doubled}"), "Inf(0)", "@a60"),
    ]
}

/// Runs the command: it has an exit code of its own, and what it cannot read it says with its place.
fn is_read_or_refused(bench: &Bench, arguments: &[&str], what: &str) {
    let limits = ["--max-states", "2000", "--max-time", "20s", "--no-trace"];
    let ran = bench.run(&[arguments, &limits].concat());
    let what: String = what.chars().take(100).collect();
    assert!((0..=3).contains(&ran.code), "{what}: {}: {}", ran.code, ran.err);
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
    assert!(!ran.err.contains("bug in spillway"), "{what}: {}", ran.err);
    if ran.code == 2 {
        let errors = ran.err.lines().filter(|it| it.contains("error: ")).count();
        assert!(errors >= 1, "{what}: {}", ran.err);
    }
}

#[test]
fn expressions_of_models_may_be_deep_and_long() {
    let bench = Bench::new();
    for Writing { file, model, signs } in WRITINGS {
        for condition in conditions(signs) {
            bench.write(file, model.replace("HERE", &condition));
            is_read_or_refused(&bench, &["check", file], &format!("{file}: {condition}"));
        }
    }
}

#[test]
fn statements_and_declarations_may_be_deep_and_long() {
    let bench = Bench::new();
    for (file, text) in models_of_murphi().into_iter().chain(models_of_others()) {
        bench.write(file, &text);
        is_read_or_refused(&bench, &["check", file], &format!("{file}: {text}"));
    }
}

#[test]
fn what_flags_ask_may_be_deep_and_long() {
    let bench = Bench::new();
    bench.write("e.pnml", NET.replace("PLACES", ""));
    let net = Writing { file: "e.pnml", model: "", signs: ["&&", "||", "!", "->", "=="] };
    for Writing { file, model, signs } in WRITINGS.into_iter().chain([net]) {
        if file != "e.pnml" {
            bench.write(file, model.replace("HERE", "x < 4"));
        }
        // A single argument of a command has at most 128 KiB.
        let fits = |it: &String| it.len() < 131_000;
        for condition in conditions(signs).iter().filter(|it| fits(it)) {
            is_read_or_refused(&bench, &["check", file, "--invariant", condition], condition);
            let formula = format!("[] ({condition})");
            is_read_or_refused(&bench, &["check", file, "--ltl", &formula], &formula);
        }
        for sign in ["&&", "U", "->"] {
            let formula = vec!["(x<4)"; 9_000].join(sign);
            is_read_or_refused(&bench, &["check", file, "--ltl", &formula], &formula);
        }
        let formula = nested("[] ", "(x < 4)", "");
        is_read_or_refused(&bench, &["check", file, "--ltl", &formula], &formula);
    }
}

#[test]
fn files_of_questions_may_be_deep_and_long() {
    let bench = Bench::new();
    bench.write("n.pnml", NET.replace("PLACES", ""));
    for question in questions() {
        let text = format!(
            "<property-set xmlns=\"http://mcc.lip6.fr/\"><property><id>q</id>\
             <description>d</description><formula>{question}</formula></property></property-set>"
        );
        bench.write("q.xml", &text);
        is_read_or_refused(&bench, &["check", "n.pnml", "--property", "q.xml"], &question);
    }
}

#[test]
fn automata_may_be_deep_and_long() {
    let bench = Bench::new();
    bench.write("m.m", WRITINGS[0].model.replace("HERE", "x < 4"));
    for automaton in automata() {
        bench.write("a.hoa", &automaton);
        is_read_or_refused(&bench, &["check", "m.m", "--automaton", "a.hoa"], &automaton);
    }
}
