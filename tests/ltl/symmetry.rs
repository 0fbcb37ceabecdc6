//! Symmetry of scalarsets in liveness checks. The verdict is that of the unreduced product, in memory and on disk, for
//! random Murphi models. Counterexamples are runs of the unreduced product.

use super::bench::Bench;
use super::digraph::GraphRng;
use super::liveness_reductions::{load_as, plain, reduced};
use crate::support::reductions::both;
use crate::support::reductions::{bisimilar, scalarsets};
use serde_json::Value;
use spillway::reduce::ReductionSelection;
use spillway::reduce::claim::FiniteRunPolicy;

/// The elements of the scalarset of random models.
const ELEMENTS: usize = 3;

/// The reductions that are tried on each model.
fn reductions() -> [ReductionSelection; 3] {
    let exact = scalarsets("exact");
    let with_passes = both(&exact, &bisimilar());
    [exact, scalarsets("fast"), with_passes].map(|it| it.selection)
}

/// A condition on an element `p`.
fn local_condition(rng: &mut GraphRng) -> String {
    match rng.below(6) {
        0..3 => format!("at[p] = {}", rng.below(3)),
        3 => "mine[p]".to_owned(),
        4 => "!isundefined(owner) & owner = p".to_owned(),
        _ => "!isundefined(link[p]) & link[p] = p".to_owned(),
    }
}

/// A condition on the whole state.
fn global_condition(rng: &mut GraphRng) -> String {
    match rng.below(4) {
        0 => "isundefined(owner)".to_owned(),
        1 => "!isundefined(owner) & !isundefined(link[owner]) & link[owner] != owner".to_owned(),
        _ => format!("g = {}", rng.below(3)),
    }
}

fn question(rng: &mut GraphRng) -> String {
    match rng.below(5) {
        0 | 1 => format!("exists p: P do {} end", local_condition(rng)),
        2 => format!("forall p: P do !({}) end", local_condition(rng)),
        3 => format!("exists p: P do {} & {} end", local_condition(rng), local_condition(rng)),
        _ => global_condition(rng),
    }
}

fn effect(rng: &mut GraphRng) -> String {
    match rng.below(9) {
        0..3 => format!("at[p] := {};", rng.below(3)),
        3 => format!("g := {};", rng.below(3)),
        4 => "owner := p;".to_owned(),
        5 => "undefine owner;".to_owned(),
        6 => "mine[p] := !mine[p];".to_owned(),
        7 => "link[p] := owner;".to_owned(),
        _ => "for q: P do mine[q] := q = p; end;".to_owned(),
    }
}

/// A model whose rules concern elements or pairs of elements.
fn model(rng: &mut GraphRng) -> String {
    let mut text = format!(
        "type P: scalarset({ELEMENTS}); S: 0..2;
        var at: array [P] of S; mine: array [P] of boolean; link: array [P] of P; g: S; owner: P;
        startstate for p: P do at[p] := 0; mine[p] := false; undefine link[p]; end; g := 0; undefine owner; end;\n"
    );
    if rng.below(3) == 0 {
        text += "ruleset p: P do startstate for q: P do at[q] := 1; mine[q] := false; undefine link[q]; end;
            at[p] := 0; g := 1; owner := p; end; end;\n";
    }
    for number in 0..3 + rng.below(4) {
        let guard = match rng.below(6) {
            _ if number == 0 => "at[p] = 0".to_owned(),
            0 => local_condition(rng),
            1 => format!("({}) & ({})", local_condition(rng), global_condition(rng)),
            _ => format!("at[p] = {}", rng.below(3)),
        };
        let effects: String = (0..1 + rng.below(3)).map(|_| effect(rng)).collect();
        text += &match rng.below(4) {
            0 => format!(
                "ruleset p: P; q: P do rule \"pair {number}\" p != q & ({guard}) ==> at[q] := {}; link[p] := q; {effects} end; end;\n",
                rng.below(3)
            ),
            _ => format!("ruleset p: P do rule \"one {number}\" {guard} ==> {effects} end; end;\n"),
        };
    }
    text
}

/// A random formula, with the next operator.
fn formula(rng: &mut GraphRng, depth: usize) -> String {
    if depth == 0 {
        return format!("({})", question(rng));
    }
    let [one, other] = [formula(rng, depth - 1), formula(rng, depth - 1)];
    match rng.below(9) {
        0 => format!("(! {one})"),
        1 | 2 => format!("([] {one})"),
        3 | 4 => format!("(<> {one})"),
        5 => format!("({one} && X {other})"),
        6 => format!("({one} || {other})"),
        7 => format!("({one} U {other})"),
        _ => format!("({one} -> {other})"),
    }
}

/// Counts over the random models.
#[derive(Debug, Default)]
struct Census {
    asked: u32,
    violated: u32,
    fewer: [u32; 3],
    /// The reduction is rejected because evaluating the formula may fail.
    refused: u32,
    on_disk: u32,
}

/// Asserts that each reduction keeps the verdict of the unreduced product.
fn check_verdict(text: &str, formula: &str, disk: bool, census: &mut Census) {
    let ended =
        [FiniteRunPolicy::Stutter, FiniteRunPolicy::Ignored][usize::from(census.asked % 3 == 2)];
    let load = || load_as("murphi", text, formula);
    let Some(unreduced) = plain(load(), ended) else { return };
    census.asked += 1;
    census.violated += u32::from(unreduced.is_violated);
    for (number, reduce) in reductions().into_iter().enumerate() {
        let watched = load().reduced(reduce.clone(), ended);
        let refused = watched.model.searched().stack().refusals().len() as u32;
        census.refused += refused;
        for on_disk in [false, true].into_iter().take(1 + usize::from(disk)) {
            let found = reduced(&watched, ended, on_disk);
            let description =
                || format!("{formula} {ended:?} {reduce:?} on disk: {on_disk}\n{text}");
            assert_eq!(found.is_violated, unreduced.is_violated, "{}", description());
            // A cycle may close at a symmetric state.
            assert!(
                found.least_steps <= unreduced.least_steps,
                "{:?} {:?}: {}",
                found.least_steps,
                unreduced.least_steps,
                description()
            );
            if !unreduced.is_violated {
                assert!(found.states <= unreduced.states, "{}", description());
                census.fewer[number] += u32::from(found.states < unreduced.states);
            }
            census.on_disk += u32::from(on_disk);
        }
    }
}

#[test]
fn symmetry_keeps_the_verdicts_of_random_models() {
    let mut census = Census::default();
    for seed in 0..200 {
        let mut rng = GraphRng(seed);
        let text = model(&mut rng);
        for number in 0..4 {
            let formula_text = formula(&mut rng, 1 + number % 2);
            check_verdict(&text, &formula_text, seed % 20 == 0, &mut census);
        }
    }
    println!("{census:?}");
    let Census { asked, violated, fewer, refused, on_disk } = census;
    assert!(asked >= 400 && violated >= 200 && asked - violated >= 200 && on_disk >= 50);
    assert!(refused < asked && fewer.iter().all(|&it| it > 0), "{refused} {fewer:?}");
}

/// A token moves around a ring, and no element keeps it.
const RING: &str = "type P: scalarset(5); var at: array [P] of 0..2; after: array [P] of P; token: P;
startstate for p: P do at[p] := 0; undefine after[p]; end; undefine token; end;
ruleset p: P do rule \"first\" isundefined(token) ==> token := p; after[p] := p; end; end;
ruleset p: P; q: P do
    rule \"join\" !isundefined(token) & token = p & isundefined(after[q]) ==> after[q] := after[p]; after[p] := q; end;
    rule \"pass\" after[p] = q & at[p] = 2 & token = p ==> at[p] := 0; token := q; end;
end;
ruleset p: P do
    rule \"work\" !isundefined(token) & token = p & at[p] < 2 ==> at[p] := at[p] + 1; end;
end;
";

/// Formulas, and whether they hold.
const RING_FORMULAS: [(&str, bool); 6] = [
    (
        "[] (forall p: P do at[p] = 0 end | exists p: P do at[p] != 0 & !isundefined(token) & token = p end)",
        true,
    ),
    ("[] (exists p: P do at[p] = 2 end -> <> forall p: P do at[p] = 0 end)", true),
    ("[] (forall p: P do !isundefined(after[p]) end -> []<> (exists p: P do at[p] = 1 end))", true),
    ("<> forall p: P do !isundefined(after[p]) end", false),
    ("[] !(forall p: P do !isundefined(after[p]) & after[p] != p end)", false),
    ("X exists p: P do !isundefined(token) & token = p end", true),
];

#[test]
fn a_cycle_of_symmetric_states_is_shown_in_the_original_model() {
    let bench = Bench::of([("ring.m", RING)]);
    for (formula, holds) in RING_FORMULAS {
        let ask = |command: &[&str]| {
            let output = bench.run(command);
            assert_eq!(
                (output.code, &*output.err),
                (i32::from(!holds), ""),
                "{formula} {command:?}"
            );
            serde_json::from_str::<Value>(&output.out).unwrap()
        };
        let check =
            |more: &[&str]| ask(&[&["check", "ring.m", "--ltl", formula, "--json"], more].concat());
        let states = |of: &Value| of["states"].as_u64().unwrap();
        let unreduced = check(&["--reduce", "none"]);
        for (name, more) in [
            ("symmetry exact", &["--reduce", "symmetry"]),
            ("symmetry fast", &["--symmetry", "fast"]),
        ] {
            let fewer = check(more);
            let names = fewer["reductions"].as_array().unwrap();
            assert!(names.contains(&name.into()), "{names:?}");
            assert!(!holds || states(&fewer) < states(&unreduced), "{formula} {more:?}");
        }
        let by = ["--reduce", "symmetry,dead", "--max-states", "1", "--dir", "d"];
        let started = bench.run(&[&["check", "ring.m", "--ltl", formula], &by[..]].concat());
        assert_eq!(started.code, 3, "{}", started.err);
        let stored = ask(&["resume", "d", "--json"]);
        assert_eq!(stored["counterexample"].is_null(), holds, "{formula}");
        std::fs::remove_dir_all(bench.0.path().join("d")).unwrap();
    }
}

#[test]
fn a_cycle_is_repeated_until_the_names_of_its_elements_recur() {
    let bench = Bench::of([("ring.m", RING)]);
    let formula = "[]<> !(forall p: P do !isundefined(after[p]) & after[p] != p end)";
    let output = bench.run(&["check", "ring.m", "--ltl", formula, "--reduce", "symmetry"]);
    assert_eq!((output.code, &*output.err), (1, ""));
    // Three steps for each of the five holders of the token.
    assert!(output.flat().contains(": 6 steps, then a cycle of 15 steps"), "{}", output.out);
}
