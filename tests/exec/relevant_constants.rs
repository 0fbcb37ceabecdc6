//! The constants of processes that determine accesses and guards.

use spillway::analysis::constants::{constants, relevant_constants};
use spillway::front::{Language, Options};
use spillway::session::TextModel;
use spillway::source::SourceMap;

/// Returns the names of the relevant constants of a process with this body and these starts. `i` is always known.
fn names(body: &str, starts: &str) -> Vec<String> {
    let text = format!(
        "chan q[2] = [1] of {{ byte, byte }}; byte x, y[2];
        proctype other(byte whose) {{ x = whose + x }}
        proctype node(byte a; byte b; chan c) {{ byte m; {body} }}
        init {{ byte i = 1; {starts} }}"
    );
    let mut sources = SourceMap::default();
    sources.add("model.pml", text.as_str());
    let language = Language::from_name("promela").unwrap();
    let model = TextModel::load(language, sources, Options::default()).unwrap().0;
    let program = model.interp.program();
    let found = relevant_constants(program, &constants(program));
    let names = found.iter().map(|&it| program.variables[it].name.clone());
    names.filter(|it| it != "i").collect()
}

#[test]
fn constants_are_relevant_if_accesses_or_guards_depend_on_them() {
    for (body, expected) in [
        ("x = a; m = b; x != a && b + x > m; q[0]!a,b", &[][..]),
        ("y[a] = b", &["a"]),
        ("y[1 - b] = a; m = y[x + a]", &["a", "b"]),
        ("c!a,b", &["c"]),
        ("q[b]?m,_", &["b"]),
        ("q[0]?eval(a),m", &["a"]),
        ("q[0]?[m,eval(b)]", &["b"]),
        ("run other(b)", &["b"]),
        ("if :: a -> skip :: else fi", &["a"]),
        ("if :: a == 1 && x != b -> skip :: else fi", &["a"]),
        ("if :: x == (a > b) -> skip :: else fi", &["a", "b"]),
        ("len(c) > a", &["c"]),
    ] {
        let starts = "run node(i, 1 - i, q[i]); run node(1, x, q[0])";
        assert_eq!(names(body, starts), expected, "{body}");
    }
}

#[test]
fn literal_arguments_are_constant_in_every_run() {
    let starts = "run node(1, 0, q[0]); run node(0, x, q[1])";
    assert_eq!(names("byte own = b; x != a && x != own", starts), ["a"]);
}
