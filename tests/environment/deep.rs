//! Deep and long input, in every language and in every file next to a model: it is read, or rejected with one message.
//! The command neither overflows its stack nor panics.

use crate::Bench;

/// The depth or length of an input.
const MANY: usize = 15_000;

/// The syntax of expressions in a language: a model around a condition, and the operators "and", "or", "not", "implies"
/// and "equal".
struct LanguageSyntax {
    file: &'static str,
    model: &'static str,
    signs: [&'static str; 5],
}

const SYNTAXES: [LanguageSyntax; 3] = [
    LanguageSyntax {
        file: "e.m",
        model: "var x: 0..3; startstate begin x := 0; end;
            rule \"r\" HERE ==> begin x := (x + 1) % 4; end;",
        signs: ["&", "|", "!", "->", "="],
    },
    LanguageSyntax {
        file: "e.pml",
        model: "byte x; active proctype P() { do :: (HERE) -> x = (x + 1) % 4 :: x > 4 od }",
        signs: ["&&", "||", "!", "->", "=="],
    },
    LanguageSyntax {
        file: "e.dve",
        model: "byte x; process P { state a; init a; trans a -> a { guard HERE; \
            effect x = (x + 1) % 4; }; } system async;",
        signs: ["and", "or", "not ", "imply", "=="],
    },
];

/// A net of one place, and more.
const NET: &str = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\"
 type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">
 <place id=\"x\"><initialMarking><text>1</text></initialMarking></place>PLACES<transition id=\"t\"/>
 <arc id=\"a\" source=\"x\" target=\"t\"/></page></net></pnml>";

/// `inner` in a number of `open` and `close`.
fn nested(open: &str, inner: &str, close: &str) -> String {
    open.repeat(MANY) + inner + &close.repeat(MANY)
}

/// The item repeated, with an operator in between.
fn joined(sign: &str, item: &str) -> String {
    vec![item; MANY].join(&format!(" {sign} "))
}

/// Deep or long conditions in the syntax of a language.
fn conditions([and, or, not, implies, equal]: [&str; 5]) -> Vec<String> {
    let condition = "x < 4";
    vec![
        joined(and, condition),
        joined(or, condition),
        joined(implies, condition),
        format!("({}) < 9", joined("+", "x")),
        format!("{} < 9", nested("1 - (", "1", ")")),
        nested("(", condition, ")"),
        nested(not, &format!("({condition})"), ""),
        format!("{} < 4", nested("- ", "x", "")),
        joined(equal, "x"),
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

/// Numbered items.
fn numbered(each: &dyn Fn(usize) -> String) -> String {
    (0..MANY).map(each).collect()
}

/// Deep or long statements and declarations of Murphi.
fn murphi_models() -> Vec<(&'static str, String)> {
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
        ("s.m", murphi(changing, &format!("b := {};", joined("&", "f()")))),
        ("s.m", murphi("", &nested("while x > 3 do ", "", "end; "))),
        ("s.m", murphi("", &nested("switch x case 0: ", "", "end; "))),
        ("s.m", murphi("", &nested("b := forall i: 0..0 do ", "b", " end"))),
        ("s.m", murphi(&format!("type t: {}; ", nested("array [0..0] of ", "boolean", "")), "")),
        ("s.m", murphi(&format!("type t0: boolean; {records} var v: t{MANY};"), "")),
        ("s.m", murphi("", &"x := 0; ".repeat(MANY))),
        ("s.m", murphi("", &"/*".repeat(MANY))),
    ]
}

/// Deep or long statements and declarations of other languages.
fn other_models() -> Vec<(&'static str, String)> {
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
        ("s.pml", promela(&format!("#if {}\n#endif", joined("&&", "1")), "")),
        ("s.pml", promela("", "") + &format!("\nltl p {{ {} }}", nested("(", "x < 4", ")"))),
        ("s.pml", promela("", "") + &format!("\nltl p {{ {} }}", joined("&&", "(x < 4)"))),
        ("s.pml", promela("", "") + &format!("\nltl p {{ {} }}", joined("U", "(x < 4)"))),
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

/// Deep or long formulas of a property file.
fn property_formulas() -> Vec<String> {
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
        automaton("", "Inf(0)", &joined("|", "0")),
        automaton("", "Inf(0)", &joined("&", "0")),
        automaton("", &nested("(", "Inf(0)", ")"), "t"),
        automaton(&format!("Alias: @a0 0\n{doubled}"), "Inf(0)", "@a60"),
    ]
}

/// Asserts that the command has a documented exit code, and reports an input that it cannot read.
fn assert_read_or_rejected(bench: &Bench, arguments: &[&str], what: &str) {
    let limits = ["--max-states", "2000", "--max-time", "20s", "--no-trace"];
    let output = bench.run(&[arguments, &limits].concat());
    let what: String = what.chars().take(100).collect();
    assert!((0..=3).contains(&output.code), "{what}: {}: {}", output.code, output.err);
    assert!(!output.err.contains("panicked"), "{what}: {}", output.err);
    assert!(!output.err.contains("bug in spillway"), "{what}: {}", output.err);
    if output.code == 2 {
        let errors = output.err.lines().filter(|it| it.contains("error: ")).count();
        assert!(errors >= 1, "{what}: {}", output.err);
    }
}

#[test]
fn deep_and_long_expressions_are_read_or_rejected() {
    let bench = Bench::new();
    for LanguageSyntax { file, model, signs } in SYNTAXES {
        for condition in conditions(signs) {
            bench.write(file, model.replace("HERE", &condition));
            assert_read_or_rejected(&bench, &["check", file], &format!("{file}: {condition}"));
        }
    }
}

#[test]
fn deep_and_long_statements_and_declarations_are_read_or_rejected() {
    let bench = Bench::new();
    for (file, text) in murphi_models().into_iter().chain(other_models()) {
        bench.write(file, &text);
        assert_read_or_rejected(&bench, &["check", file], &format!("{file}: {text}"));
    }
}

#[test]
fn deep_and_long_flags_are_read_or_rejected() {
    let bench = Bench::new();
    bench.write("e.pnml", NET.replace("PLACES", ""));
    let net = LanguageSyntax { file: "e.pnml", model: "", signs: ["&&", "||", "!", "->", "=="] };
    for LanguageSyntax { file, model, signs } in SYNTAXES.into_iter().chain([net]) {
        if file != "e.pnml" {
            bench.write(file, model.replace("HERE", "x < 4"));
        }
        // A single argument of a command has at most 128 KiB.
        let fits = |it: &String| it.len() < 131_000;
        for condition in conditions(signs).iter().filter(|it| fits(it)) {
            assert_read_or_rejected(&bench, &["check", file, "--invariant", condition], condition);
            let formula = format!("[] ({condition})");
            assert_read_or_rejected(&bench, &["check", file, "--ltl", &formula], &formula);
        }
        for sign in ["&&", "U", "->"] {
            let formula = vec!["(x<4)"; 9_000].join(sign);
            assert_read_or_rejected(&bench, &["check", file, "--ltl", &formula], &formula);
        }
        let formula = nested("[] ", "(x < 4)", "");
        assert_read_or_rejected(&bench, &["check", file, "--ltl", &formula], &formula);
    }
}

#[test]
fn deep_and_long_property_files_are_read_or_rejected() {
    let bench = Bench::new();
    bench.write("n.pnml", NET.replace("PLACES", ""));
    for formula_text in property_formulas() {
        let text = format!(
            "<property-set xmlns=\"http://mcc.lip6.fr/\"><property><id>q</id>\
             <description>d</description><formula>{formula_text}</formula></property></property-set>"
        );
        bench.write("q.xml", &text);
        assert_read_or_rejected(&bench, &["check", "n.pnml", "--property", "q.xml"], &formula_text);
    }
}

#[test]
fn deep_and_long_automata_are_read_or_rejected() {
    let bench = Bench::new();
    bench.write("m.m", SYNTAXES[0].model.replace("HERE", "x < 4"));
    for automaton in automata() {
        bench.write("a.hoa", &automaton);
        assert_read_or_rejected(&bench, &["check", "m.m", "--automaton", "a.hoa"], &automaton);
    }
}
