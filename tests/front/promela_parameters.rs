//! Structures as parameters of processes: each point of their meaning by a small model whose counts SPIN has confirmed.
//!
//! The counts are those of SPIN 6.5.2 (see `promela.rs`).

use super::promela::{assert_counts, counts, load};

#[test]
fn structures_are_passed_by_value_and_share_their_channels() {
    let gates = "
        typedef Gate { chan enter = [0] of { bit }; chan leave = [0] of { bit }; byte used }
        byte inside;
        proctype Guard(Gate g) { end: do :: g.enter?1 -> g.used++; g.leave?0 od }
        proctype Guest(byte id; Gate g) {
            g.enter!1; inside++; assert(inside == 1 && g.used == 0); inside--; g.leave!0 }
        init { Gate g; run Guard(g); run Guest(1, g); run Guest(2, g) }";
    let box_with_a_number = "
        typedef Box { chan c = [2] of { byte }; byte n = 4 }
        proctype P(Box b) { byte v; assert(b.n == 4); b.c!1; b.c?v; b.c!2; assert(len(b.c) == 1) }
        init { Box b; run P(b); b.c?2; assert(empty(b.c)) }";
    let channels_in_nested_structures = "
        typedef One { chan c = [1] of { byte } }
        typedef Many { One a; One b }
        proctype Copy(Many m) { byte v; do :: m.a.c?v -> m.b.c!v :: v == 2 -> break od }
        init { Many m; byte v; run Copy(m); m.a.c!1; m.a.c!2;
            m.b.c?v; assert(v == 1); m.b.c?v; assert(v == 2) }";
    assert_counts(&[
        (gates, (70, 111, 0)),
        (box_with_a_number, (15, 19, 2)),
        (channels_in_nested_structures, (25, 35, 0)),
    ]);
}

#[test]
fn structures_nest_in_parameters_and_arguments() {
    let with_other_parameters = "
        typedef Point { byte x; short y }
        typedef Line { Point from; bit dashed; Point to }
        proctype Draw(byte n; Line l; bool last) {
            assert(n == 9 && l.from.x == 1 && l.from.y == -3 && l.dashed && l.to.x == 2 && l.to.y == 0 && last);
            l.from.x = 5; assert(l.from.x + l.to.x == 7) }
        init { Line l; l.from.x = 1; l.from.y = -3; l.dashed = 1; l.to.x = 2; run Draw(9, l, true);
            (_nr_pr == 1); assert(l.from.x == 1) }";
    let passed_on_field = "
        typedef Pair { byte x; bit y }
        typedef Outer { Pair in; byte n }
        proctype P(Outer o) { run Q(o.in); assert(o.in.x == 1); o.in.x = 2 }
        proctype Q(Pair p) { assert(p.x == 1 && p.y); p.x++ }
        init { Outer o; o.in.x = 1; o.in.y = 1; run P(o) }";
    let elements = "
        typedef Point { byte x; bit y }
        typedef Shape { Point corners[2]; short z }
        Point all[3];
        proctype See(Point p) { assert(p.x < 2) }
        init { byte i; Shape s;
            atomic { for (i : 0 .. 2) { all[i].x = i; run See(all[i]) } };
            s.corners[1].x = 1; run See(s.corners[i - 2]) }";
    assert_counts(&[
        (with_other_parameters, (13, 13, 0)),
        (passed_on_field, (18, 24, 0)),
        (elements, (73, 163, 20)),
    ]);
}

/// SPIN passes single values. A structure is equivalent to its single values on either side.
#[test]
fn structures_are_equivalent_to_their_single_values() {
    let an_array_inside_an_argument = "
        typedef Row { byte cells[2]; bit y }
        proctype Three(byte a; byte b; byte c) { assert(a == 3 && b == 4 && c == 1) }
        init { Row r; r.cells[0] = 3; r.cells[1] = 4; r.y = 1; run Three(r) }";
    let values_for_a_structure = "
        typedef Pair { byte x; bit y }
        proctype P(Pair p) { assert(p.x == 3 && p.y == 1) }
        init { run P(3, 1); run P(259, 3) }";
    let all_types = "
        mtype = { red, green }
        typedef Wide { mtype x; unsigned y : 3; short z; int w; bool v }
        proctype P(Wide a) { assert(a.x == green && a.y == 5 && a.z == -7 && a.w == 70000 && a.v) }
        init { Wide o; o.x = green; o.y = 13; o.z = -7; o.w = 70000; o.v = true; run P(o) }";
    assert_counts(&[
        (an_array_inside_an_argument, (8, 8, 0)),
        (values_for_a_structure, (12, 16, 0)),
        (all_types, (10, 10, 0)),
    ]);
}

#[test]
fn parameters_of_active_processes_are_zero() {
    let model = "
        typedef Pair { byte x = 7; bit y }
        active [2] proctype P(byte n; Pair p) {
            assert(n == 0 && p.x == 0 && p.y == 0); p.x = 1; assert(p.x == 1) }";
    assert_eq!(counts(model), (21, 33, 0));
}

#[test]
fn structure_parameters_are_ordinary_variables() {
    let sent_and_received = "
        typedef Pair { byte x; bit y }
        chan c = [2] of { byte, Pair };
        proctype P(Pair p) { c!1,p; p.x = 0; c?_,p; assert(p.x == 3); c!2(p);
            if :: c?2,eval(p.x),p.y :: c?1(p) fi; assert(p.x == 3 && p.y) }
        init { Pair o; o.x = 3; o.y = 1; run P(o) }";
    let in_recursion = "
        typedef Pair { byte x; bit y }
        byte seen;
        proctype P(Pair p) { if :: p.x > 0 -> p.x--; run P(p) :: else -> seen = p.y fi }
        init { Pair o; o.x = 3; o.y = 1; run P(o); (_nr_pr == 1); assert(seen == 1) }";
    let in_an_inline = "
        typedef Pair { byte x; bit y }
        inline set(p) { p.x = 4 }
        proctype P(Pair p) { set(p); assert(p.x == 4) }
        init { Pair o; run P(o); set(o) }";
    assert_counts(&[
        (sent_and_received, (13, 13, 0)),
        (in_recursion, (22, 22, 0)),
        (in_an_inline, (10, 13, 0)),
    ]);
}

/// Values of an `mtype` set are stored as names only if no other value is stored to variables of the set. An argument
/// counts as an assignment.
#[test]
fn numbers_passed_for_names_are_kept() {
    let model = "
        mtype = { red, green }
        typedef Tone { mtype hue }
        proctype P(Tone t) { assert(t.hue == 200) }
        init { run P(200) }";
    assert_eq!(counts(model), (5, 5, 0));
}

/// SPIN supports remote references to plain variables only. The model with `x` instead of `o.in.x` has these counts.
#[test]
fn remote_references_may_name_a_field_of_a_parameter() {
    let model = "
        typedef In { byte x }
        typedef Out { byte n; In in }
        active proctype P(Out o) { o.in.x = 3; o.in.x = 5 }
        active proctype Q() { assert(P:o.in.x != 5) }";
    let with_a_number = model.replace("Out o", "byte x").replace("o.in.x", "x");
    assert_eq!(counts(&with_a_number), counts(model));
    assert_eq!(counts(model), (10, 14, 1));
}

#[test]
fn arrays_and_wrong_numbers_of_values_are_refused() {
    for (model, expected) in [
        (
            "typedef Row { byte cells[2] }\nproctype P(Row r) { skip }\ninit { Row r; run P(r) }",
            "model.pml:2:16: error: the parameter r has an array inside: r.cells",
        ),
        (
            "typedef In { byte x } typedef Out { byte n; In in[2] }\nproctype P(Out o) { skip }\ninit { skip }",
            "model.pml:2:16: error: the parameter o has an array inside: o.in",
        ),
        (
            "typedef In { byte x }\nproctype P(In i[2]) { skip }\ninit { skip }",
            "model.pml:2:15: error: the parameter i is an array",
        ),
        (
            "proctype P(byte b[2]) { skip }\ninit { skip }",
            "model.pml:1:17: error: the parameter b is an array",
        ),
        (
            "typedef In { byte x; byte y }\nproctype P(In i) { skip }\ninit { In i; run P(i, 1) }",
            "model.pml:3:14: error: P takes 2 arguments, but 3 are given",
        ),
        (
            "typedef In { byte x; byte y }\nproctype P(In i) { i = 1 }\ninit { In i; run P(i) }",
            "model.pml:2:20: error: a structure is assigned as a whole",
        ),
        (
            "typedef In { byte x; byte y }\nproctype P(In i) { i.z = 1 }\ninit { In i; run P(i) }",
            "model.pml:2:22: error: In has no field z",
        ),
        (
            "typedef In { byte x; byte y }\nproctype P(In i) { i.x[1] = 1 }\ninit { In i; run P(i) }",
            "model.pml:2:24: error: x is no array",
        ),
    ] {
        let Err(found) = load(model) else { panic!("{model} is accepted") };
        assert!(found.starts_with(expected), "{model}\n{found}");
    }
}
