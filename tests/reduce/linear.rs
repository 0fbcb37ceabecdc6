//! Variables with linear dependence: one state represents all states that differ by a constant. The sets of variables
//! are compared with the definition, state by state, and the size of the reduced space with counts by hand.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::support::follow::{goes_on_as_it_began, is_found_alike, load};
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

/// Whether there is anything to be counted on from.
fn is_linear(text: &str) -> bool {
    let model = reduced(load("dve", text));
    !model.searched().stack().summaries(&Default::default()).is_empty()
}

/// All states of a model, if these are no more than some.
fn all_states(model: &dyn StateSpace, most: usize) -> Option<BTreeSet<Vec<u8>>> {
    let (mut met, mut open) = (BTreeSet::new(), Vec::new());
    let width = model.width();
    let collect = |run: &mut dyn FnMut(&mut SuccessorSink)| {
        let mut states = Vec::new();
        let _ = SuccessorSink::collect(width, &mut states, run).unwrap();
        states.chunks_exact(width).map(Vec::from).collect::<Vec<Vec<u8>>>()
    };
    open.extend(collect(&mut |out| model.initial(out)));
    while let Some(state) = open.pop() {
        if met.insert(state.clone()) {
            open.extend(collect(&mut |out| model.expand(&state, out)));
        }
        if met.len() > most {
            return None;
        }
    }
    Some(met)
}

/// That exactly one of the states that are left stands for each state; gives how many there are of each.
fn is_stood_for(text: &str, most: usize) -> Option<(usize, usize)> {
    let written = load("dve", text);
    let model = reduced(load("dve", text));
    let whole = all_states(written.searched().model(), most)?;
    let searched = model.searched();
    let left = all_states(searched.model(), most)?;
    if let Some(lift) = searched.model().capabilities().simulation {
        for state in &whole {
            let standing = left.iter().filter(|it| lift.represents(it, state)).count();
            assert_eq!(standing, 1, "{state:?}\n{text}");
        }
    }
    Some((whole.len(), left.len()))
}

/// `y` is `x` or one behind: of three times two states two are left.
#[test]
fn one_variable_is_always_0() {
    let text = "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; } system async;";
    assert_eq!(is_stood_for(text, 100), Some((6, 2)));
}

/// An alternating bit through a buffer and a rendezvous. All that goes round comes in two, but for the first state and what
/// comes before the first acknowledgement.
#[test]
fn a_bit_in_messages_is_counted_from_the_senders() {
    let text = "channel {byte} c[1]; channel {byte} r;
        process S { byte b, k; state q, w; init q; trans q -> q { sync c!b; }, q -> w { sync r?k; },
            w -> q { guard k == b; effect b = 1 - b; }, w -> q { guard k != b; }; }
        process R { byte y, e; state q, g; init q; trans q -> g { sync c?y; },
            g -> q { guard y == e; effect e = 1 - e; }, g -> q { guard y != e; },
            q -> q { sync r!((e + 1) % 2); }; } system async;";
    let (whole, left) = is_stood_for(text, 1000).unwrap();
    assert!(left < whole && whole <= 2 * left, "{left} of {whole}");
    is_found_alike(load("dve", text), linear_plan()).unwrap();
}

/// Models each of which has something that tells a state from the one that counts on from it.
const BROKEN: &[(&str, &str)] = &[
    ("an order", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = x; }, a -> b { guard x < y; }, b -> a { guard x == y; }; } system async;"),
    ("a constant", "process P { byte x, y; state a, b; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }, a -> b { guard x == 2; }; } system async;"),
    ("a constant that is stored", "process P { byte x, y; state a, b; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> b { guard x != y; effect y = 0; }, b -> a { guard x == (y + 1) % 3; }; } system async;"),
    ("an index", "byte t[3]; process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x, t[x] = 1; }; }
        process Q { state q, r; init q; trans q -> r { guard t[1] == 1 and t[2] == 0; }; } system async;"),
    ("an assertion", "process P { byte x, y; state a; init a; assert a: x != 2; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; } system async;"),
    ("what does not fit", "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = x + 1; },
        a -> a { guard x != y; effect y = x; }; } system async;"),
    ("a sum that is no count", "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x == (2 * y) % 3; effect y = x; }; } system async;"),
    ("a value that is no count", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = (2 * x) % 3; }, a -> b { guard x == y; }; } system async;"),
    ("a remainder", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = x; }, a -> b { guard x % 2 == y % 2; }; } system async;"),
    ("a sum of two", "process P { byte x, y, z; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { effect y = x; }, a -> b { guard x == y; effect z = (x + y) % 3; }, b -> a { guard z == x; }; } system async;"),
    ("a constant that is sent", "channel {byte} c[1]; process P { byte x, y; state a, b; init a;
        trans a -> a { effect x = (x + 1) % 3; }, a -> a { sync c!x; }, a -> b { sync c!1; }, b -> a { guard x == y; },
        a -> a { sync c?y; }; } system async;"),
    ("another number of values", "process P { byte x, y; state a, b; init a; trans a -> a { effect x = (x + 1) % 3; },
        a -> a { guard y == x; effect y = 1 - (y % 2); }, a -> b { guard x == (y + 1) % 3; }; } system async;"),
    ("another process", "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; }
        process Q { state q, r; init q; trans q -> r { guard P->x == 2; }; } system async;"),
];

#[test]
fn whatever_tells_a_constant_breaks_a_set() {
    let linear = "process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; } system async;";
    assert!(is_linear(linear));
    for (what, text) in BROKEN {
        assert!(!is_linear(text), "{what}");
        if let Err(error) = is_found_alike(load("dve", text), linear_plan()) {
            panic!("{what}: {error}");
        }
    }
}

/// Where all processes are there from the beginning, their locals are counted while they are there; where one is started, it
/// begins with constants.
#[test]
fn processes_that_come_and_go_are_counted_while_they_are_there() {
    let text = |of: &str| {
        format!(
            "bit e; chan c = [1] of {{ bit }};
            {of} proctype S() {{ bit b; do :: c!b :: b == e -> b = 1 - b :: b != e -> break od }}
            active proctype R() {{ bit y; do :: c?y; if :: y == e :: y != e -> e = 1 - e fi od }}"
        )
    };
    let told = |text: &str| {
        let model = reduced(load("promela", text));
        let searched = model.searched();
        searched.stack().summaries(&Default::default()).first().and_then(|it| it.effect.clone())
    };
    let there = text("active");
    assert_eq!(told(&there).as_deref(), Some("a state represents up to 2"));
    is_found_alike(load("promela", &there), linear_plan()).unwrap();
    assert_eq!(told(&format!("{} init {{ run S() }}", text(""))), None);
}

/// A model of two processes, of which most conditions are equalities and most effects sums modulo 3.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte g; channel {byte} c[2]; channel {byte} r;\n".to_owned();
    let breaks = random.below(3) == 0;
    for process in ["P", "Q"] {
        let _ = writeln!(text, "process {process} {{ byte x, y; state a, b; init a; trans");
        // Each counts all the way round.
        text.push_str("  a -> b { guard x == y; effect x = (x + 1) % 3; }, b -> a { effect y = (x + 1) % 3; },\n");
        text.push_str("  b -> b { guard g == x; effect g = (g + 1) % 3; },\n");
        let edges = 1 + random.below(4);
        for number in 0..edges {
            let of = |random: &mut Random, all: &[&'static str]| all[random.below(all.len())];
            let (from, to) = (of(random, &["a", "b"]), of(random, &["a", "b"]));
            let (some, other) = (of(random, &["x", "y", "g"]), of(random, &["x", "y", "g"]));
            let k = random.below(3);
            let guard = match random.below(6) {
                0 => format!("guard {some} == {other};"),
                1 => format!("guard {some} != ({other} + {k}) % 3;"),
                2 => format!("guard ({some} + 1) % 3 == {other};"),
                3 if breaks && k == 0 => format!("guard {some} < {other};"),
                _ => String::new(),
            };
            let sync = match random.below(8) {
                0 => format!("sync c!{{{some}}};"),
                1 => format!("sync c?{{{some}}};"),
                2 => format!("sync r!{{({some} + {k}) % 3}};"),
                3 => format!("sync r?{{{some}}};"),
                _ => String::new(),
            };
            let effect = match random.below(5) {
                0 => format!("effect {some} = {other};"),
                1 | 2 => format!("effect {some} = ({some} + {k}) % 3;"),
                3 => format!("effect {some} = ({other} + 1) % 3;"),
                _ if breaks && k == 0 => format!("effect {some} = 2;"),
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
fn random_models_are_stood_for() {
    let mut random = Random::new(29);
    let mut fewer = 0;
    for _ in 0..if is_large() { 10_000 } else { 100 } {
        let text = random_model(&mut random);
        let Some((whole, left)) = is_stood_for(&text, 2000) else { continue };
        fewer += u32::from(left < whole);
        if let Err(error) = is_found_alike(load("dve", &text), linear_plan()) {
            panic!("{error}\n{text}");
        }
    }
    println!("{fewer} models have fewer states");
    assert!(fewer > 10, "{fewer}");
}

/// It preserves everything, is kept with a search, and does not go with what else replaces or leaves out steps.
#[test]
fn a_search_keeps_what_is_counted() {
    let text = "int n; process P { byte x, y; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }; }
        process Q { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100; }; } system async;";
    let model = load("dve", text);
    let reduce = ReductionConfig::from(linear_plan());
    goes_on_as_it_began(&model, reduce, ReductionConfig::none(), 2);
    let model = reduced(load("dve", text));
    assert_eq!(model.searched().stack().preserves(), PreservedProperties::ALL);
}
