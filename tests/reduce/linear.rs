//! Variables with linear dependence: one state represents all states that differ by a constant. The sets of variables
//! are compared with the definition, state by state, and the size of the reduced space with counts by hand.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::support::lockstep::{check_reduction, check_resumed_reduction, load};
use crate::support::{Random, is_large};
use spillway::model::{StateSpace, SuccessorSink};
use spillway::reduce::PreservedProperties;
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::session::TextModel;
use std::collections::BTreeSet;
use std::fmt::Write;

fn reduced(mut model: TextModel) -> TextModel {
    model.wished = linear_plan();
    model
}

fn linear_plan() -> ReductionPlan {
    ReductionPlan::of(["linear"])
}

/// Returns whether a model has linear sets.
fn has_linear_sets(text: &str) -> bool {
    let model = reduced(load("dve", text));
    !model.searched().stack().summaries(&Default::default()).is_empty()
}

/// Returns all reachable states of a model, unless there are more than `max_states`.
fn all_states(model: &dyn StateSpace, max_states: usize) -> Option<BTreeSet<Vec<u8>>> {
    let (mut reached, mut open) = (BTreeSet::new(), Vec::new());
    let width = model.width();
    let collect = |run: &mut dyn FnMut(&mut SuccessorSink)| {
        let mut states = Vec::new();
        let _ = SuccessorSink::collect(width, &mut states, run).unwrap();
        states.chunks_exact(width).map(Vec::from).collect::<Vec<Vec<u8>>>()
    };
    open.extend(collect(&mut |out| model.initial(out)));
    while let Some(state) = open.pop() {
        if reached.insert(state.clone()) {
            open.extend(collect(&mut |out| model.expand(&state, out)));
        }
        if reached.len() > max_states {
            return None;
        }
    }
    Some(reached)
}

/// Checks that exactly one reduced state represents each state. Returns the numbers of states, all and reduced.
fn check_representatives(text: &str, max_states: usize) -> Option<(usize, usize)> {
    let written = load("dve", text);
    let model = reduced(load("dve", text));
    let full = all_states(written.searched().model(), max_states)?;
    let searched = model.searched();
    let reduced_states = all_states(searched.model(), max_states)?;
    if let Some(simulation) = searched.model().capabilities().simulation {
        for state in &full {
            let representatives =
                reduced_states.iter().filter(|it| simulation.represents(it, state)).count();
            assert_eq!(representatives, 1, "{state:?}\n{text}");
        }
    }
    Some((full.len(), reduced_states.len()))
}

/// `y` is `x` or one less. Two of three times two states remain.
#[test]
fn one_variable_of_a_set_is_fixed_to_zero() {
    let text = "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; } system async;";
    assert_eq!(check_representatives(text, 100), Some((6, 2)));
}

/// An alternating bit protocol with a buffer and a rendezvous. All states come in pairs, except for the initial state
/// and those before the first acknowledgement.
#[test]
fn message_bits_are_relative_to_the_sender() {
    let text = "channel {byte} c[1]; channel {byte} r;
        process S { byte b, k; state q, w; init q; trans q -> q { sync c!b; }, q -> w { sync r?k; },
            w -> q { guard k == b; effect b = 1 - b; }, w -> q { guard k != b; }; }
        process R { byte y, e; state q, g; init q; trans q -> g { sync c?y; },
            g -> q { guard y == e; effect e = 1 - e; }, g -> q { guard y != e; },
            q -> q { sync r!((e + 1) % 2); }; } system async;";
    let (full, reduced) = check_representatives(text, 1000).unwrap();
    assert!(reduced < full && full <= 2 * reduced, "{reduced} of {full}");
    check_reduction(load("dve", text), linear_plan()).unwrap();
}

/// Models in which a construct distinguishes states that differ by a constant.
const BROKEN_SETS: &[(&str, &str)] = &[
    ("a comparison by order", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = x; }, a -> b { guard x < y; }, b -> a { guard x == y; }; } system async;"),
    ("a comparison with a constant", "process P { byte x, y; state a, b; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }, a -> b { guard x == 2; }; } system async;"),
    ("an assignment of a constant", "process P { byte x, y; state a, b; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> b { guard x != y; effect y = 0; }, b -> a { guard x == (y + 1) % 3; }; } system async;"),
    ("an index", "byte t[3]; process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x, t[x] = 1; }; }
        process Q { state q, r; init q; trans q -> r { guard t[1] == 1 and t[2] == 0; }; } system async;"),
    ("an assertion", "process P { byte x, y; state a; init a; assert a: x != 2; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; } system async;"),
    ("an addition without a modulus", "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = x + 1; },
        a -> a { guard x != y; effect y = x; }; } system async;"),
    ("a condition with another coefficient", "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x == (2 * y) % 3; effect y = x; }; } system async;"),
    ("an assignment with another coefficient", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = (2 * x) % 3; }, a -> b { guard x == y; }; } system async;"),
    ("a remainder of another modulus", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = x; }, a -> b { guard x % 2 == y % 2; }; } system async;"),
    ("a sum of two variables", "process P { byte x, y, z; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = x; }, a -> b { guard x == y; effect z = (x + y) % 3; }, b -> a { guard z == x; }; } system async;"),
    ("a sent constant", "channel {byte} c[1]; process P { byte x, y; state a, b; init a;
        trans a -> a { effect x = (x + 1) % 3; }, a -> a { sync c!x; }, a -> b { sync c!1; }, b -> a { guard x == y; },
        a -> a { sync c?y; }; } system async;"),
    ("variables with different moduli", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { guard y == x; effect y = 1 - (y % 2); }, a -> b { guard x == (y + 1) % 3; }; } system async;"),
    ("a condition of another process", "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; }
        process Q { state q, r; init q; trans q -> r { guard P->x == 2; }; } system async;"),
];

#[test]
fn constructs_that_depend_on_constants_prevent_linear_sets() {
    let linear = "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; } system async;";
    assert!(has_linear_sets(linear));
    for (case, text) in BROKEN_SETS {
        assert!(!has_linear_sets(text), "{case}");
        if let Err(error) = check_reduction(load("dve", text), linear_plan()) {
            panic!("{case}: {error}");
        }
    }
}

/// If all processes exist from the start, their locals are relative while the processes exist. A process that is
/// started later begins with constants.
#[test]
fn locals_of_initial_processes_are_linear_until_the_process_ends() {
    let text = |of: &str| {
        format!(
            "bit e; chan c = [1] of {{ bit }};
            {of} proctype S() {{ bit b; do :: c!b :: b == e -> b = 1 - b :: b != e -> break od }}
            active proctype R() {{ bit y; do :: c?y; if :: y == e :: y != e -> e = 1 - e fi od }}"
        )
    };
    let effect = |text: &str| {
        let model = reduced(load("promela", text));
        let searched = model.searched();
        searched.stack().summaries(&Default::default()).first().and_then(|it| it.effect.clone())
    };
    let all_active = text("active");
    assert_eq!(effect(&all_active).as_deref(), Some("a state represents up to 2"));
    check_reduction(load("promela", &all_active), linear_plan()).unwrap();
    assert_eq!(effect(&format!("{} init {{ run S() }}", text(""))), None);
}

/// Generates two processes. Most conditions are equalities, and most effects are sums modulo 3.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte g; channel {byte} c[2]; channel {byte} r;\n".to_owned();
    let breaks = random.below(3) == 0;
    for process in ["P", "Q"] {
        let _ = writeln!(text, "process {process} {{ byte x, y; state a, b; init a; trans");
        // Each process has a full cycle of its counter.
        text.push_str("  a -> b { guard x == y; effect x = (x + 1) % 3; }, b -> a { effect y = (x + 1) % 3; },\n");
        text.push_str("  b -> b { guard g == x; effect g = (g + 1) % 3; },\n");
        let edges = 1 + random.below(4);
        for number in 0..edges {
            let choose = |random: &mut Random, all: &[&'static str]| all[random.below(all.len())];
            let (from, to) = (choose(random, &["a", "b"]), choose(random, &["a", "b"]));
            let (variable, other) =
                (choose(random, &["x", "y", "g"]), choose(random, &["x", "y", "g"]));
            let k = random.below(3);
            let guard = match random.below(6) {
                0 => format!("guard {variable} == {other};"),
                1 => format!("guard {variable} != ({other} + {k}) % 3;"),
                2 => format!("guard ({variable} + 1) % 3 == {other};"),
                3 if breaks && k == 0 => format!("guard {variable} < {other};"),
                _ => String::new(),
            };
            let sync = match random.below(8) {
                0 => format!("sync c!{{{variable}}};"),
                1 => format!("sync c?{{{variable}}};"),
                2 => format!("sync r!{{({variable} + {k}) % 3}};"),
                3 => format!("sync r?{{{variable}}};"),
                _ => String::new(),
            };
            let effect = match random.below(5) {
                0 => format!("effect {variable} = {other};"),
                1 | 2 => format!("effect {variable} = ({variable} + {k}) % 3;"),
                3 => format!("effect {variable} = ({other} + 1) % 3;"),
                _ if breaks && k == 0 => format!("effect {variable} = 2;"),
                _ => String::new(),
            };
            let end = if number + 1 < edges { "," } else { ";" };
            let _ = writeln!(text, "  {from} -> {to} {{ {guard} {sync} {effect} }}{end}");
        }
        text.push_str("}\n");
    }
    text + "system async;\n"
}

#[test]
fn representatives_of_random_models_are_unique() {
    let mut random = Random::new(29);
    let mut fewer = 0;
    for _ in 0..if is_large() { 10_000 } else { 100 } {
        let text = random_model(&mut random);
        let Some((full, reduced)) = check_representatives(&text, 2000) else { continue };
        fewer += u32::from(reduced < full);
        if let Err(error) = check_reduction(load("dve", &text), linear_plan()) {
            panic!("{error}\n{text}");
        }
    }
    println!("{fewer} models have fewer states");
    assert!(fewer > 10, "{fewer}");
}

/// The reduction preserves everything. A resumed search keeps it and rejects others.
#[test]
fn a_resumed_search_keeps_linear_sets() {
    let text = "int n; process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; }
        process Q { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100; }; } system async;";
    let model = load("dve", text);
    let reduce = ReductionConfig::from(linear_plan());
    check_resumed_reduction(&model, reduce, ReductionConfig::none(), 2);
    let model = reduced(load("dve", text));
    assert_eq!(model.searched().stack().preserves(), PreservedProperties::ALL);
}
