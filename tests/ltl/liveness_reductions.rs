//! Reductions in liveness checks.
//!
//! The verdict is that of the unreduced product, in memory and on disk. The models are random processes, and models
//! that each lose a run if one condition is omitted. Counterexamples are runs of the unreduced product. Other tests are
//! for shortest runs, and for rejected or omitted reductions. `SPILLWAY_LARGE` tries 5,100 formulas.

use super::bench::Bench;
use super::digraph::GraphRng;
use crate::support::is_large;
use crate::support::reductions::both;
use crate::support::reductions::{bisimilar, dead, partial_order_plan};
use serde_json::Value;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Executor};
use spillway::front::{Language, Options};
use spillway::model::{StepOutcome, SystemDescription};
use spillway::reduce::ReductionKind;
use spillway::reduce::claim::{ClaimProduct, FiniteRunPolicy};
use spillway::reduce::partial_order::PartialOrderMethod;
use spillway::reduce::{ReductionPlan, ReductionSelection};
use spillway::search::lasso::Lasso;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use spillway::search::{MemoryPlan, SearchControl, StateStorage};
use spillway::session::{
    CheckConfig, EmptinessSearch, LivenessCheck, ProductCheck, PropertyRequest, ReplayedRun,
    RunShortening, SearchDirectory, SearchJob, probe_product, probe_reduced,
};
use spillway::source::SourceMap;

const METHODS: [PartialOrderMethod; 4] = [
    PartialOrderMethod::Local,
    PartialOrderMethod::Overman,
    PartialOrderMethod::Stubborn,
    PartialOrderMethod::Conditional,
];

/// The search in memory visits no more states.
const LIMITS: ProbeLimits = ProbeLimits { states: 4000, bytes: 1 << 28 };

fn load(text: &str, formula: &str) -> LivenessCheck {
    load_as("promela", text, formula)
}

/// A model in some language, with a formula.
pub fn load_as(language: &str, text: &str, formula: &str) -> LivenessCheck {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    let wanted = PropertyRequest::Formula(formula);
    let loaded = LivenessCheck::load(language, sources, Options::default(), wanted);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}\n{formula}\n{text}")).0;
    // The emptiness check is to decide, not the search for an invariant.
    loaded.without_invariant()
}

/// The reductions that are tried on each model.
fn reductions() -> Vec<ReductionSelection> {
    let values = ReductionPlan::of(["values"]);
    let passes = [dead(), values, ReductionPlan::of(["states"]), bisimilar()];
    let order = METHODS.map(partial_order_plan);
    let together = both(&bisimilar(), &partial_order_plan(PartialOrderMethod::Conditional));
    passes.into_iter().chain(order).chain([together]).map(|it| it.selection).collect()
}

/// The result of a check.
pub struct LivenessResult {
    pub is_violated: bool,
    pub states: u64,
    /// The steps of a shortest run, if the formula is violated.
    pub least_steps: Option<usize>,
}

/// The result without reductions. `None` if the limits are too small.
pub fn plain(watched: LivenessCheck, ended: FiniteRunPolicy) -> Option<LivenessResult> {
    // The search for a shortest run needs the same policy for finite runs.
    let watched = &watched.reduced(ReductionSelection::default(), ended);
    let product = watched.product(&watched.model.interp, ended)?;
    let probe = probe_product(&product, LIMITS, &SearchControl::default()).unwrap();
    let least_steps = match &probe.found {
        ProbeVerdict::Open => return None,
        ProbeVerdict::None => None,
        ProbeVerdict::Found(lasso) => Some(least_steps(watched, &product, lasso)),
    };
    Some(LivenessResult { is_violated: least_steps.is_some(), states: probe.states, least_steps })
}

/// The steps of a shortest run, with all transitions of the remaining states.
fn least_steps(watched: &LivenessCheck, product: &ClaimProduct<'_>, found: &Lasso) -> usize {
    let (model, largest) = (&watched.model, AnalysisBudget::largest());
    let executor = |it| Executor::new(it, ExecutionMode::Interp);
    let runs = || model.runnable(&model.wished, &largest, executor);
    let searched = model.searched_by(runs(), &largest);
    let all_steps = watched.with_all_steps(&searched, runs(), &largest);
    let judged = ProductCheck::new(watched, product, &searched);
    let judged = judged.with_shortening(Some(RunShortening {
        all_steps,
        states: u64::MAX,
        only_of_invariants: false,
    }));
    let shorter =
        judged.find_shorter_run(found, LIMITS, &SearchControl::default()).unwrap().unwrap();
    assert!(shorter.is_shortest);
    let all_steps = watched.with_all_steps(&searched, runs(), &largest);
    assert_is_run(product, all_steps.model(), &shorter.lasso);
    shorter.steps
}

/// The result with the reductions of the model.
pub fn reduced(watched: &LivenessCheck, ended: FiniteRunPolicy, on_disk: bool) -> LivenessResult {
    let product = watched.product(&watched.model.interp, ended).unwrap();
    let searched = watched.model.searched();
    let control = SearchControl::default();
    let (found, states) = match on_disk {
        false => {
            let probe = probe_reduced(searched.model(), &product, LIMITS, &control).unwrap();
            (probe.found, probe.states)
        }
        true => {
            let storage = StateStorage::default();
            let config = CheckConfig::default();
            let job = SearchJob::of_runs(&config, watched, &searched, &storage);
            let directory = SearchDirectory::create(None, &job, None).unwrap();
            let bytes = 8 * searched.model().width() as u64;
            // Enough for the states that the cycle proviso expands fully.
            let young = (1 << 20) + 4 * bytes;
            let plan = MemoryPlan {
                budget: 0,
                base: 0,
                reserve: 0,
                threads: 2,
                buffer: bytes,
                young,
                filter: bytes,
                obligations: 0,
                encoding: 0,
                unencoded: 0,
            };
            let judged = ProductCheck::new(watched, &product, &searched);
            let mut pursuit = EmptinessSearch::new(&judged, plan, None, directory);
            let pursued = pursuit.run(None, &control).unwrap();
            (pursued.found, pursued.outcome.states())
        }
    };
    assert_ne!(found, ProbeVerdict::Open);
    let least_steps = match &found {
        ProbeVerdict::Found(lasso) => {
            assert_is_run(&product, searched.model(), lasso);
            Some(least_steps(watched, &product, lasso))
        }
        ProbeVerdict::None | ProbeVerdict::Open => None,
    };
    LivenessResult { is_violated: found != ProbeVerdict::None, states, least_steps }
}

/// Asserts that the replay of a lasso is an accepted run of the unreduced product.
fn assert_is_run(
    product: &ClaimProduct<'_>,
    model: &dyn spillway::model::StateSpace,
    lasso: &Lasso,
) {
    let ReplayedRun { steps, back, closes } = ReplayedRun::of(model, lasso).unwrap();
    let states: Vec<&Vec<u8>> = steps
        .iter()
        .map(|step| match &step.outcome {
            StepOutcome::Successor(state) => state,
            StepOutcome::Fault(_) => panic!("a step fails"),
        })
        .collect();
    assert!(product.starts().iter().any(|it| it.outcome == steps[0].outcome));
    for (from, step) in states.iter().zip(&steps[1..]) {
        assert!(product.steps(from).contains(step), "{}", step.name);
    }
    assert!(states[back + 1..].iter().any(|it| product.is_accepting(it)));
    assert!(!closes || states[back] == states[states.len() - 1]);
}

/// Counts over the random models.
#[derive(Debug, Default)]
struct Census {
    asked: u32,
    violated: u32,
    fewer: [u32; 9],
    on_disk: u32,
}

/// Asserts that each reduction keeps the verdict of the unreduced product.
fn check_verdict(text: &str, formula: &str, disk: bool, census: &mut Census) {
    let ended =
        [FiniteRunPolicy::Stutter, FiniteRunPolicy::Ignored][usize::from(census.asked % 3 == 2)];
    let Some(unreduced) = plain(load(text, formula), ended) else { return };
    census.asked += 1;
    census.violated += u32::from(unreduced.is_violated);
    for (number, reduce) in reductions().iter().enumerate() {
        let watched = load(text, formula).reduced(reduce.clone(), ended);
        let found = reduced(&watched, ended, false);
        let description = || format!("{formula} {ended:?} {reduce:?}\n{text}");
        assert_eq!(found.is_violated, unreduced.is_violated, "{}", description());
        // Rewritten states may close a cycle that the original states do not.
        let is_whole = !reduce.has_kind(ReductionKind::Rewriting);
        let is_as_short = if is_whole {
            unreduced.least_steps == found.least_steps
        } else {
            unreduced.least_steps >= found.least_steps
        };
        assert!(
            is_as_short,
            "{:?} {:?}: {}",
            unreduced.least_steps,
            found.least_steps,
            description()
        );
        if !unreduced.is_violated {
            assert!(found.states <= unreduced.states, "{}", description());
            census.fewer[number] += u32::from(found.states < unreduced.states);
        }
        if disk {
            let stored = reduced(&watched, ended, true);
            assert_eq!(stored.is_violated, unreduced.is_violated, "on disk: {}", description());
            // The search on disk enforces the cycle proviso in another way.
            assert!(
                unreduced.is_violated || stored.states <= unreduced.states,
                "{}",
                description()
            );
            assert_eq!(stored.least_steps, found.least_steps, "on disk: {}", description());
            census.on_disk += 1;
        }
    }
}

pub fn question(rng: &mut GraphRng) -> String {
    let (variable, value) = (rng.below(3), rng.below(3));
    match rng.below(8) {
        0..4 => format!("g{variable} == {value}"),
        4 => format!("g{variable} > {value}"),
        5 => format!("P{}@here", rng.below(2)),
        6 => "len(q) == 0".to_owned(),
        _ => format!("P{}@there", rng.below(2)),
    }
}

/// A random formula without the next operator.
pub fn formula(rng: &mut GraphRng, depth: usize) -> String {
    if depth == 0 {
        return format!("({})", question(rng));
    }
    let mut inner = || formula(rng, depth - 1);
    let [one, other] = [inner(), inner()];
    match rng.below(9) {
        0 => format!("(! {one})"),
        1 | 2 => format!("([] {one})"),
        3 | 4 => format!("(<> {one})"),
        5 => format!("({one} && {other})"),
        6 => format!("({one} || {other})"),
        7 => format!("({one} U {other})"),
        _ => format!("({one} -> {other})"),
    }
}

fn guard(rng: &mut GraphRng) -> String {
    let (variable, value) = (rng.below(3), rng.below(3));
    match rng.below(5) {
        0 => format!("g{variable} == {value}"),
        1 => format!("l == {value}"),
        2 => "l < 2".to_owned(),
        3 => format!("g{variable} < 2"),
        _ => "true".to_owned(),
    }
}

fn statement(rng: &mut GraphRng) -> String {
    let (variable, value) = (rng.below(3), rng.below(3));
    match rng.below(12) {
        0..2 => format!("g{variable} = {value}"),
        2 => format!("g{variable} = l"),
        3..6 => format!("l = {value}"),
        6 => "l = (l + 1) % 3".to_owned(),
        7 => "k = (k + 1) % 2".to_owned(),
        8 => "q!l".to_owned(),
        9 => "q?l".to_owned(),
        // This index is out of range at 2.
        10 if rng.below(4) == 0 => "a[l] = 1".to_owned(),
        _ => "skip".to_owned(),
    }
}

/// Two processes with a loop, and a third with or without.
pub fn processes(rng: &mut GraphRng) -> String {
    let mut text = "byte g0, g1, g2; chan q = [1] of { byte };\n".to_owned();
    for number in 0..3 {
        text += &format!("active proctype P{number}() {{ byte l, k; bit a[2];\n");
        for _ in 0..rng.below(3) {
            text += &format!("{}; ", statement(rng));
        }
        let label = |name: &str, rng: &mut GraphRng| match rng.below(2) {
            0 => String::new(),
            _ => format!("{name}{}: skip; ", rng.below(1000)),
        };
        text += "here: skip;\n";
        if number < 2 || rng.below(2) == 0 {
            text += "do\n";
            for option in 0..1 + rng.below(3) {
                text += &format!(":: {} -> {}", guard(rng), label("m", rng));
                for _ in 0..1 + rng.below(3) {
                    text += &format!("{}; ", statement(rng));
                }
                if option > 0 && rng.below(4) == 0 {
                    text += "break";
                } else {
                    text += "skip";
                }
                text += "\n";
            }
            text += "od; ";
        }
        text += "there: skip }\n";
    }
    text
}

#[test]
fn reductions_keep_the_verdicts_of_random_processes() {
    let mut census = Census::default();
    for seed in 0..if is_large() { 1_700 } else { 120 } {
        let mut rng = GraphRng(seed);
        let text = processes(&mut rng);
        for number in 0..3 {
            let formula_text = formula(&mut rng, 1 + number % 2);
            check_verdict(&text, &formula_text, seed % 12 == 0, &mut census);
        }
    }
    println!("{census:?}");
    let Census { asked, violated, fewer, on_disk } = census;
    assert!(asked >= 200 && violated >= 60 && asked - violated >= 40 && on_disk >= 50);
    assert!(fewer.iter().all(|&it| it > 0), "{fewer:?}");
}

/// Each model loses its violating run if one condition is omitted: visibility for the claim, the cycle proviso, the
/// proviso on each cycle of a component, or possible failures.
pub const CONDITION_MODELS: [(&str, &str, FiniteRunPolicy); 6] = [
    (
        "byte x, y; active proctype P() { x = 1 } active proctype Q() { do :: y = 1 - y od }",
        "<> (x == 1)",
        FiniteRunPolicy::Stutter,
    ),
    (
        "byte x, y; active proctype Q() { do :: y = 1 - y od } active proctype P() { x = 1 }",
        "[] (x == 0)",
        FiniteRunPolicy::Stutter,
    ),
    (
        "byte x; active proctype Q() { do :: skip :: break od } active proctype P() { x = 1 }",
        "[] (x == 0)",
        FiniteRunPolicy::Ignored,
    ),
    (
        "byte x; active proctype P() { x = 1 } active proctype Q() { do :: skip :: break od }",
        "[] (x == 0)",
        FiniteRunPolicy::Ignored,
    ),
    (
        "byte x; active proctype P() { byte i, a[2]; i = 2; a[i] = 1 } active proctype Q() { do :: x = 1 - x od }",
        "<> [] (x == 0)",
        FiniteRunPolicy::Stutter,
    ),
    (
        "byte x, y; active proctype P() { do :: x = 1; x = 0 od } active proctype Q() { do :: y = 1; y = 0 od }",
        "!([]<> (x == 1) && []<> (y == 1))",
        FiniteRunPolicy::Stutter,
    ),
];

#[test]
fn condition_models_keep_their_violating_runs() {
    for (text, formula, ended) in CONDITION_MODELS {
        assert!(plain(load(text, formula), ended).unwrap().is_violated, "{text}");
        for reduce in reductions() {
            let watched = load(text, formula).reduced(reduce.clone(), ended);
            for on_disk in [false, true] {
                let found = reduced(&watched, ended, on_disk);
                assert!(found.is_violated, "{reduce:?} on disk: {on_disk}\n{text}");
            }
        }
    }
}

/// One process counts while another process is observed. The result of the first is never read.
const COUNTS: &str = "byte x, done; short n, m;
active proctype P() { do :: x = 1 - x; n = (m + 1) % 5 od }
active proctype Q() { byte i; do :: i < 50 -> i++ :: i == 50 -> done = 1; break od }
active proctype R() { byte j; do :: j < 50 -> j++ :: j == 50 -> break od }
";

#[test]
fn reductions_are_reported_and_kept_by_the_directory() {
    let bench = Bench::of([("m.pml", COUNTS)]);
    let ask = |more: &[&str]| {
        let output = bench.run(&[&["check", "m.pml", "--json"], more].concat());
        (output.code, serde_json::from_str::<Value>(&output.out).unwrap(), output.err)
    };
    let property = ["--ltl", "[]<> (done == 0 || done == 1)"];
    let (code, unreduced, _) = ask(&[&property[..], &["--reduce", "none"]].concat());
    assert_eq!((code, &unreduced["reductions"]), (0, &serde_json::json!([])));
    let (code, by_default, _) = ask(&property);
    let names = ["partial order conditional", "equivalent values", "dead variables"];
    assert_eq!((code, &by_default["reductions"]), (0, &serde_json::json!(names)));
    let by = [&property[..], &["--reduce", "por,dead"]].concat();
    let (code, fewer, err) = ask(&by);
    assert_eq!((code, &*err), (0, ""));
    let names = serde_json::json!(["partial order conditional", "dead variables"]);
    assert_eq!(fewer["reductions"], names);
    let states = |of: &Value| of["states"].as_u64().unwrap();
    assert!(10 * states(&fewer) < states(&unreduced), "{} {}", states(&fewer), states(&unreduced));
    let started =
        bench.run(&[&["check", "m.pml", "--max-states", "1", "--dir", "d"], &by[..]].concat());
    assert_eq!(started.code, 3);
    let status = bench.run(&["status", "d"]).flat();
    assert!(status.contains("reduced by partial order conditional, dead variables"), "{status}");
    let resumed = bench.run(&["resume", "d", "--json", "--exec", "interp"]);
    let resumed: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!((&resumed["verdict"], &resumed["reductions"]), (&"verified".into(), &names));
    assert!(
        10 * states(&resumed) < states(&unreduced),
        "{} {}",
        states(&resumed),
        states(&unreduced)
    );
    // The replayed cycle repeats until the dead variables recur.
    let violated = ["--ltl", "<>[] (x == 0)", "--reduce", "dead"];
    let (code, result, err) = ask(&violated);
    assert_eq!((code, &*err), (1, ""));
    let steps = result["counterexample"]["steps"].as_array().unwrap();
    assert!(result["counterexample"]["loop_start"].as_u64().unwrap() + 1 < steps.len() as u64);
}

#[test]
fn unsuitable_reductions_are_rejected_or_omitted() {
    let bench = Bench::of_each_language();
    bench.write("m.pml", COUNTS);
    let formula = ["--ltl", "<>[] (done == 0)"];
    for flags in [
        &["--reduce", "dead,slice"][..],
        &["--reduce", "structural"],
        &["--reduce", "linear"],
        &["--reduce", "reversible"],
        &["--reversible"],
        &["--por", "sleep"],
        &["--por", "local+sleep"],
        &["--por", "local", "-X", "por-proviso=levels"],
    ] {
        let output = bench.run(&[&["check", "m.pml"], &formula[..], flags].concat());
        assert_eq!((output.code, &*output.out), (2, ""), "{flags:?}\n{}", output.err);
        assert!(output.err.contains("is for properties of states"), "{flags:?}: {}", output.err);
    }
    // Accepts the words that begin with two states in which `x` is 1.
    let twice = "HOA: v1 States: 3 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 [0] 1 State: 1 [0] 2 State: 2 {0} [t] 2 --END--";
    bench.write("twice.hoa", twice);
    let once = "HOA: v1 States: 1 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 {0} [0] 0 --END--";
    bench.write("once.hoa", once);
    let counts = "the property counts repetitions of a state";
    for (args, why) in [
        (["m.pml", "--ltl", "X (done == 0)"], counts),
        (["m.pml", "--automaton", "twice.hoa"], counts),
        (["m.pml", "--ltl", "[] !timeout"], "reads which processes are enabled"),
        (["m.pml", "--ltl", "[]<> (100 / n < 100)"], "may end in an error"),
    ] {
        let args = [&["check"], &args[..], &["--reduce", "por"]].concat();
        let (output, plain) = (bench.run(&args), bench.run(&args[..args.len() - 2]));
        assert!(
            output.err.contains("partial order conditional is not applied: "),
            "{}",
            output.err
        );
        assert!(
            output.err.contains(why) && output.flat().contains(why),
            "{}{}",
            output.err,
            output.out
        );
        assert_eq!(output.code, plain.code, "{args:?}");
    }
    // Stutter-invariant automata allow the same reductions as formulas.
    for args in [["m.pml", "--automaton", "once.hoa"], ["stays.dve", "--ltl", "L"]] {
        let output = bench.run(&[&["check"], &args[..], &["--reduce", "por"]].concat());
        assert!(!output.err.contains("repetitions"), "{args:?}: {}", output.err);
    }
    // Formulas may name processes.
    let alike = "byte n; active [3] proctype P() { do :: n < 2 -> n++ :: n = 0 od }";
    bench.write("alike.pml", alike);
    let args = ["check", "alike.pml", "--ltl", "[]<> (n < 9)", "--reduce", "symmetry"];
    let output = bench.run(&args);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("may distinguish processes"), "{}", output.err);
    assert_eq!(bench.run(&[&args[..5], &["auto"]].concat()).err, "");
    // The next operator excludes only partial order, not passes over the program.
    let args = ["check", "m.pml", "--ltl", "X (done == 0)", "--reduce", "auto"];
    let output = bench.run(&args);
    assert_eq!((output.code, &*output.err), (0, ""), "{}", output.out);
    assert!(
        output.flat().contains("reduced by equivalent values, dead variables"),
        "{}",
        output.out
    );
}
