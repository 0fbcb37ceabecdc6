//! Promela: the preprocessor, and details of the grammar. The counts are SPIN's, as in `promela.rs`.

use crate::promela::{assert_counts, counts, counts_as, load, load_as};
use spillway::front::Options;
use std::time::{Duration, Instant};

#[test]
fn labels_arrows_and_jumps_have_the_syntax_of_spin() {
    assert_counts(&[
        (
            "byte x; active proctype P() \
             { do :: x < 2 --> x++ :: else --> break od; assert(x == 2) }",
            (8, 8, 0),
        ),
        (
            "byte n; active proctype P() { if :: goto again :: skip fi; \
             { again: do :: n < 3 -> n++ :: else -> break od }; n = 9 }",
            (12, 13, 0),
        ),
        (
            "byte n; active proctype P() { if :: goto b :: goto a :: skip fi; \
             atomic { a: b: do :: n < 2 -> n++ :: else -> break od } } \
             active proctype Q() { n == 1 -> n = 5 }",
            (4, 6, 1),
        ),
        (
            "chan c = [0] of { byte }; byte v; active proctype A() { atomic { end: do :: c?v od } } \
             active proctype B() { c!1; c!2 }",
            (4, 4, 0),
        ),
        (
            "byte f, x; inline f(z) { z = z + 1 } active proctype P() \
             { f(x); f(x); assert(x == 2) }",
            (5, 5, 0),
        ),
        (
            "byte x, y; active [2] proctype A() \
             { L: d_step { x < 4 -> x++; d_step { y++ } }; if :: x < 3 -> goto L :: skip fi }",
            (39, 64, 0),
        ),
        (
            "byte x; active proctype A() \
             { d_step { do :: x < 3 -> d_step { x++; break } :: else -> skip od; x = 7 } }",
            (3, 3, 0),
        ),
        ("ltl p { <> (x == 1); } byte x; active proctype P() { x = 1 }", (3, 3, 0)),
    ]);
    let first = load("byte x; init { { L: if :: true fi }; goto L }").err().unwrap();
    assert!(first.contains("the label L stands first in its sequence"), "{first}");
}

#[test]
fn results_of_inlines_are_stored_by_the_caller() {
    assert_counts(&[
        (
            "byte x; inline sum(a, b) { return a + b } \
             inline two(z) { x = z; x = sum(x, 1); return x * 2 } \
             active proctype P() { byte r; r = two(2); assert(r == 6) }",
            (6, 6, 0),
        ),
        (
            "byte x; int a[2]; \
             inline pick(k) { if :: k > 1 -> return k :: else -> return 7 fi; x = 9 } \
             active proctype P() { a[x] = pick(x); x = pick(a[0] - 7); x = 1 }",
            (9, 9, 0),
        ),
    ]);
    let outside = load("byte x; init { return x }").err().unwrap();
    assert!(outside.contains("this return is in no inline"), "{outside}");
    let alone = load("byte x; inline f(a) { return a }\ninit { f(x) }").err().unwrap();
    assert!(alone.contains("an inline whose call stores no result"), "{alone}");
}

#[test]
fn processes_may_use_pc_value() {
    assert_counts(&[(
        "byte x; active proctype A() { x = 1; x = 2 } active proctype B() \
         { x == 2 -> if :: pc_value(0) > 2 -> x = 7 :: else -> skip fi; x = pc_value(_pid) }",
        (9, 9, 0),
    )]);
}

/// The model behaves as if `_pid` were a variable of the process. SPIN omits it in the comparison of states
/// (`docs/reference/languages.md`).
#[test]
fn processes_may_receive_into_pid() {
    let model = |name: &str, declared: &str| {
        format!(
            "chan d = [2] of {{ byte, byte }}; byte x; \
             active proctype A() {{ d!0,5; d!1,6; d!0,7 }} \
             active proctype B() {{ {declared} d?{name},x; assert({name} == 1); d?x,{name}; \
             d?[{name},x] -> skip }}"
        )
    };
    assert_eq!(counts(&model("_pid", "")), counts(&model("z", "byte z = 1;")));
    assert_eq!(counts(&model("z", "byte z = 1;")), (15, 19, 3));
    let error = load("chan c = [1] of { byte }; init { c?_nr_pr }").err().unwrap();
    assert!(error.contains("nothing can be received into _nr_pr"), "{error}");
}

/// Checks models whose assertions state the result of the preprocessor.
fn assert_no_errors(models: &[&str]) {
    for text in models {
        assert_eq!(counts(text).2, 0, "{text}");
    }
}

#[test]
fn excluded_text_may_be_arbitrary() {
    assert_no_errors(&[
        "#ifdef NOTES\ndon't \"stop /* here\n it isn't 12abc 0x @@\n#endif\ninit { skip }",
        "#if 0\n#nothing don't\n#if don't\n#else \"x\n#endif\n#endif\ninit { skip }",
        "#if 1\n#elif (( don't\n#else it's\n#endif it's\ninit { skip }",
        "#define NEVER don't\n#warning don't\ninit { skip }",
        "byte w; // a path: C:\\\nthis line, too\ninit { w = 1; assert(w == 1) }",
        "byte w; // and \\  \r\nthis \"one\r\ninit { w = 1; assert(w == 1) }",
    ]);
    for (text, expected) in [
        ("#define USED don't\ninit { USED }", "2:8: error: this quote does not enclose"),
        ("init { printf(\"a) }", "this text is not closed on its line"),
        ("#if 0\n/* open\n#endif\ninit { skip }", "2:1: error: this comment is never closed"),
        ("byte x = 12ab; init { skip }", "`12ab` is no number"),
    ] {
        let error = load(text).expect_err(text);
        assert!(error.contains(expected), "{text}:\n{error}");
    }
}

#[test]
fn conditions_follow_the_c_preprocessor() {
    for holds in [
        "(3 > 2 ? 1 : 0)",
        "1 ? 0 ? 0 : 2 : 1/0",
        "0 && 1/0 || 1",
        "010 == 8 && 0x10 == 16 && 4294967295 > 0 && 'a' == 97",
        "1 << 2 + 1 == 8",
        "(0, 1)",
        "HAS && !defined(ZZ) && defined HAS",
        "__LINE__ == 3 && defined(__FILE__)",
    ] {
        let text = format!(
            "#define A 1\n#define HAS defined(A)\n#if {holds}\nbyte w;\n#endif\ninit {{ w = 1 }}"
        );
        assert!(load(&text).is_ok(), "{holds}");
    }
    for invalid in ["1 ? 2", "1/0", "X(1)", "don't"] {
        assert!(load(&format!("#if {invalid}\n#endif\ninit {{ skip }}")).is_err(), "{invalid}");
    }
}

#[test]
fn macros_follow_the_c_preprocessor() {
    assert_no_errors(&[
        "#define L __LINE__\ninit { assert(__LINE__ == 2\n&& L == 3); printf(__FILE__) }",
        "#define F(a) a + __LINE__\ninit { int x = F(\n__LINE__\n); assert(x == 5) }",
        "#define SAY(f, ...) printf(f, __VA_ARGS__)\ninit { SAY(\"%d %d\", 1, 2) }",
        "#define SAY(f, ...) printf(f, ##__VA_ARGS__)\ninit { SAY(\"a\"); SAY(\"%d\", 1) }",
        "#define SAY(f, rest...) printf(f, ##rest)\ninit { SAY(\"a\"); SAY(\"%d\", 1) }",
        "#define SAY(f, ...) printf(f __VA_OPT__(,) __VA_ARGS__)\ninit { SAY(\"a\"); SAY(\"%d\", 1) }",
        "#define ALL(...) __VA_ARGS__\nbyte x, y; init { ALL(x = 1); ALL() byte a[2] = { ALL(1, 2) } }",
        "#define C(a, b) a##b\nbyte C(v,01); byte C(,w) = 3; init { v01 = 1; assert(w == 3) }",
        "#define COUNT __COUNTER__\ninit { assert(COUNT == 0); assert(COUNT == 1) }",
        "byte ab\\\ncd; init { abcd =\\\n= 0; printf(\"a\\\nb\") }",
        "byte x; init { x = 2*// twice\n3; assert(x == 6) /\\\n* a */ }",
    ]);
}

/// A definition by an option overrides the model's own one, as the compiler's `-D` does.
#[test]
fn macros_from_options_may_be_any_text() {
    let text = "byte x, abc = 2;\n#ifndef W\n#define W 3\n#endif\ninit { x = W }";
    let with_macros = |macros: &[(&str, &str)]| {
        let macros = macros.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
        Options { macros: macros.collect(), ..Options::default() }
    };
    let with_assertion = |end: &str| text.replace("x = W", &format!("x = W; assert(x == {end})"));
    assert_eq!(counts(&with_assertion("3")).2, 0);
    assert_eq!(counts_as(&with_assertion("2"), &with_macros(&[("W", "abc")])).2, 0);
    assert_eq!(counts_as(&with_assertion("5"), &with_macros(&[("W", "9"), ("W", "abc + 3")])).2, 0);
    let macro_with_argument = "byte x; init { x = INC(x); assert(x == 2) }";
    assert_eq!(counts_as(macro_with_argument, &with_macros(&[("INC(a)", "a + 2")])).2, 0);
    let unclosed = load_as(text, &with_macros(&[("W", "\"x")])).err().unwrap();
    assert!(unclosed.contains("5:12: error: this text is not closed"), "{unclosed}");
    let unknown = load_as(text, &with_macros(&[("V", "abc")])).err().unwrap();
    assert!(unknown.contains("`V` is defined, and is nowhere in the model"), "{unknown}");
}

/// Without a limit each of these takes 2 to the power of its levels.
#[test]
fn macros_and_files_that_double_are_refused_early() {
    let chain = |first: &str, last: &str| {
        let more = (1..60).map(|at| format!("#define A{at} A{} A{}\n", at - 1, at - 1));
        format!("#define A0 {first}\n{}{last}", more.collect::<String>())
    };
    let nested = |name: &str, inner: &str| {
        format!("{}{inner}{}", format!("{name}(").repeat(60), ")".repeat(60))
    };
    let started = Instant::now();
    for text in [
        chain("", "init { A59 skip }"),
        chain("skip;", "init { A59 skip }"),
        chain("1 +", "#if A59 1\n#endif\ninit { skip }"),
        format!("#define F(x) x x\ninit {{ {} }}", nested("F", "skip;")),
        format!(
            "#define P(a) a##a\n#define X(a) P(a)\nbyte {};\ninit {{ skip }}",
            nested("X", "y")
        ),
        format!("#define S(a) #a\n#define X(a) S(a)\ninit {{ printf({}) }}", nested("X", "\"y\"")),
    ] {
        let error = load(&text).err().unwrap();
        let expected = ["takes more than 16777216 steps", "expands to more than 131072 tokens"];
        assert!(expected.iter().any(|it| error.contains(it)), "{error}");
        assert!(error.contains("help: ") && error.len() < 2000, "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(300));

    let folder = tempfile::tempdir().unwrap();
    for at in 0..30 {
        let next = format!("#include \"f{}.pml\"\n", at + 1).repeat(2);
        std::fs::write(folder.path().join(format!("f{at}.pml")), next).unwrap();
    }
    std::fs::write(folder.path().join("f30.pml"), "").unwrap();
    let mut sources = spillway::source::SourceMap::default();
    let model = folder.path().join("model.pml").display().to_string();
    sources.add(model, "#include \"f0.pml\"\ninit { skip }");
    let errors = spillway::front::promela::LANGUAGE.load(&mut sources, &Options::default());
    let error = errors.err().unwrap()[0].render(&sources).to_string();
    assert!(error.contains("more than 10000 files are included up to here"), "{error}");
}
