//! Promela: line ends that end a statement. The counts are SPIN's, as in `promela.rs`.

use crate::promela::{assert_counts, counts, load};

/// The declarations of the models below.
const DECLARATIONS: &str = "byte x, y = 5; chan c = [1] of { byte }; byte q;\n";

fn assert_all_counts(models: &[(&str, (u64, u64, u64))]) {
    for (text, expected) in models {
        assert_eq!(counts(&format!("{DECLARATIONS}{text}")), *expected, "{text}");
    }
}

#[test]
fn a_line_end_ends_a_statement() {
    assert_all_counts(&[
        ("init { x = y\n- 1\nassert(x == 5) }", (5, 5, 0)),
        ("init { y == 6\n- 1\ny = 9 }", (1, 1, 1)),
        ("init { c\n! 3\nassert(len(c) == 1) }", (2, 2, 1)),
        ("init { c!3\nc ? q\n(q == 3) -> q = 4 }", (6, 6, 0)),
        (
            "init { x = 1\nx++\nx--\nx = -1\nif\n:: true\n:: x == 2\nfi\ndo\n:: break\nod\nx = 2 }",
            (9, 9, 0),
        ),
        ("init { int a[2]\nbyte z = 3\na[z - 2] = z\na[0]\n- 1\nz = 4 }", (2, 2, 1)),
        ("init { if\n:: x == 1\n:: else\n-> x = 2\nfi\nx == 2\n-> x = 3 }", (6, 6, 0)),
        ("init { { x = 1; x = 2 }\nunless { y == 9 }\n{ x = 3 }\n- 1 }", (6, 6, 0)),
        ("init { timeout\n- 1\nx = 1 }", (5, 5, 0)),
        ("init { for (x : 1 .. 2)\n{ y = y\n- 1 }\nx = 0 }", (13, 13, 0)),
    ]);
}

#[test]
fn line_ends_end_statements_in_structures_inlines_and_claims() {
    assert_all_counts(&[
        ("typedef T { byte f\nbyte g }\nT t;\ninit { t.f = 2\n- 1\nt.g = t.f\n! t.g }", (4, 4, 1)),
        ("mtype = { one, two }; mtype m;\ninit { m = one\n- 1\nm = two\nskip\n- 0 }", (5, 5, 1)),
        ("inline f(a) { x = a\n- 1\na\n- 1 }\ninit { f(y)\n- 1\nf\n(x)\nx = 1 }", (12, 12, 0)),
        // The arguments of a call are on one line.
        ("inline f(a, b) { x = a + b\n- 1 }\ninit { f(y\n,\nq\n- 1) }", (4, 4, 0)),
        (
            "proctype P() { x = 1\n- 1\nfin: x = 2 }\ninit { pid p\np = run P()\n- 1\n\
             q = _pid\n- 1\nP[1]@\nfin\n- 1 }",
            (28, 42, 1),
        ),
    ]);
    let claim = |text: &str| format!("{DECLARATIONS}init {{ x = 1 }}\nnever {{ {text} }}");
    assert!(load(&claim("do\n:: x == 1\n- 1\n:: else\nod")).is_ok());
    let error = load(&claim("do\n:: x\n+ 1\nod")).err().unwrap();
    assert!(error.contains("expected an expression, found `+`"), "{error}");
}

#[test]
fn statements_continue_in_parentheses_and_after_incomplete_lines() {
    assert_all_counts(&[
        ("init { x = (y\n- 1)\nassert(x == 4\n&& y == 5) }", (4, 4, 0)),
        ("init { x =\ny -\n1\nx = (y > 4\n-> 1\n: 2) }", (4, 4, 0)),
        ("byte z = 3\n- 1\nbyte w\n= 2;\ninit { assert(z == 2\n&& w == 2) }", (3, 3, 0)),
        ("chan d = [1] of { byte, byte }; init { d!1(\nq\n)\nd ?\n[1, q]\n- 1 }", (5, 5, 0)),
        ("active\nproctype P()\nprovided (x\n+ 1)\n{ x = 1 }", (3, 3, 0)),
    ]);
}

/// The lines are those after the C preprocessor.
#[test]
fn comments_directives_and_macros_keep_line_ends() {
    assert_all_counts(&[
        ("init { x = y /* a */\n- 1\nassert(x == 5) }", (5, 5, 0)),
        ("init { x = y // a\n- 1\nassert(x == 5) }", (5, 5, 0)),
        ("init { x = y /* a\nb */ - 1\nassert(x == 5) }", (5, 5, 0)),
        ("init { x = y\r\n- 1\r\nassert(x == 5)\r\n}\r\n", (5, 5, 0)),
        ("init { x = y\r- 1\rassert(x == 5)\r}\n", (5, 5, 0)),
        ("init { x = y \\\n - 1; assert(x == 5) }", (5, 5, 0)),
        ("init { x = y\\\n- 1\nassert(x == 4) }", (4, 4, 0)),
        ("init { x = y\n#define Z 1\n- Z\nassert(x == 5) }", (5, 5, 0)),
        ("#define NONE\ninit { x = y\nNONE - 1\nassert(x == 5) }", (5, 5, 0)),
        ("#define NONE\ninit { x = y NONE - 1\nassert(x == 4) }", (4, 4, 0)),
        ("#define LESS - 1\ninit { x = y\nLESS\nassert(x == 5) }", (5, 5, 0)),
        (
            "#define F(a) a\ninit { x = F(y -\n1) ; assert(x == 4)\nx = F(y\n) - 1\n\
             assert(x == 5) }",
            (7, 7, 0),
        ),
        ("#define BODY x = y; \\\n x = x \\\n - 1\ninit { BODY\nassert(x == 4) }", (5, 5, 0)),
    ]);
}

/// SPIN's lexer rewrites a `select` only on one line and outside inlines. Its label then belongs to the assignment.
#[test]
fn a_select_is_rewritten_only_on_one_line() {
    assert_counts(&[
        ("byte x; init { select (x\n: 1 .. 3); x = 2 }", (11, 13, 0)),
        ("byte x; inline f() { select (x : 1 .. 3)\n x = 2 }\ninit { f() }", (11, 13, 0)),
        ("byte x; init { select (x : 1 .. 3)\n x = 2 }", (6, 8, 0)),
    ]);
}

#[test]
fn lines_that_cannot_begin_a_statement_are_refused_with_help() {
    let refused = [
        ("init { x == y\n&& y == 5 }", "3:1: error: expected an expression, found `&&`"),
        ("init { x = y\n+ 5 }", "3:1: error: expected an expression, found `+`"),
        ("init { x\n== 5 }", "3:1: error: expected an expression, found `==`"),
        ("init { x\n= 5 }", "found `=`"),
        ("init { x\n++ }", "found `++`"),
        ("init { c!1\n,2 }", "found `,`"),
        ("init { x = y\nunless { x == 2 } }", "found `unless`"),
        ("init { int a[2]; a[1\n] = 2 }", "found the end of the line"),
        ("init { L\n: x = 1 }", "no variable L"),
        ("proctype P() { skip } init { run P()\npriority 3 }", "found `priority`"),
        ("typedef T { byte a[2\n] } init { skip }", "found the end of the line"),
    ];
    for (text, expected) in refused {
        let error = load(&format!("{DECLARATIONS}{text}")).expect_err(text);
        assert!(error.contains(expected), "{text}:\n{error}");
    }
    let error = load(&format!("{DECLARATIONS}init {{ x == y\n&& y == 5 }}")).err().unwrap();
    assert!(error.contains("end it with `&&`, or write round brackets"), "{error}");
    // These statements need a semicolon, as in SPIN.
    for text in [
        "init { c!1; c?<q>\nx = 1 }",
        "inline f() { timeout\nx = 1 } init { f() }",
        "init { if :: true fi x = 2 }",
        "typedef T { byte f byte g } init { skip }",
    ] {
        assert!(load(&format!("{DECLARATIONS}{text}")).is_err(), "{text}");
    }
}
