//! Reductions in liveness checks. The verdict is that of the unreduced product, in memory and on disk, for random
//! processes and for models each of which loses a run if one condition is omitted. Counterexamples are runs of the
//! unreduced product. Also shortest runs, and rejected or omitted reductions. `SPILLWAY_LARGE` tries 5,100 formulas.

use super::bench::Bench;
use super::digraph::Dice;
use crate::support::is_large;
use crate::support::reductions::both;
use crate::support::reductions::{bisimilar, by_way, dead};
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
    CheckConfig, EmptinessSearch, Fairness, LivenessCheck, ProductCheck, PropertyRequest,
    ReplayedRun, RunShortening, SearchDirectory, SearchJob, probe_product, probe_reduced,
};
use spillway::source::SourceMap;

const METHODS: [PartialOrderMethod; 4] = [
    PartialOrderMethod::Local,
    PartialOrderMethod::Overman,
    PartialOrderMethod::Stubborn,
    PartialOrderMethod::Conditional,
];

/// In memory no more states are looked at.
const LIMITS: ProbeLimits = ProbeLimits { states: 4000, bytes: 1 << 28 };

fn load(text: &str, formula: &str) -> LivenessCheck {
    load_as("promela", text, formula)
}

/// A model of some language, and what is asked of it.
pub fn load_as(language: &str, text: &str, formula: &str) -> LivenessCheck {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    let wanted = PropertyRequest::Formula(formula);
    let loaded = LivenessCheck::load(language, sources, Options::default(), wanted);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}\n{formula}\n{text}")).0;
    // The emptiness of the product is to decide.
    loaded.without_invariant()
}

/// What is tried on each model.
fn reductions() -> Vec<ReductionSelection> {
    let values = ReductionPlan::of(["values"]);
    let passes = [dead(), values, ReductionPlan::of(["states"]), bisimilar()];
    let order = METHODS.map(by_way);
    let together = both(&bisimilar(), &by_way(PartialOrderMethod::Conditional));
    passes.into_iter().chain(order).chain([together]).map(|it| it.selection).collect()
}

/// What a search came to.
pub struct Came {
    pub is_violated: bool,
    pub states: u64,
    /// How many steps a shortest run takes, if one was looked for.
    pub least: Option<usize>,
}

/// Nothing if it is not decided among so few states.
pub fn plain(watched: LivenessCheck, ended: FiniteRunPolicy) -> Option<Came> {
    // What a shortest run is looked for in is to say the same of runs that end.
    let watched = &watched.reduced(ReductionSelection::default(), ended);
    let product = watched.product(&watched.model.interp, ended)?;
    let probe = probe_product(&product, LIMITS, &SearchControl::default()).unwrap();
    let least = match &probe.found {
        ProbeVerdict::Open => return None,
        ProbeVerdict::None => None,
        ProbeVerdict::Found(lasso) => Some(least(watched, &product, lasso)),
    };
    Some(Came { is_violated: least.is_some(), states: probe.states, least })
}

/// How many steps a shortest run takes, all steps taken of the states that are left, where one was found.
fn least(watched: &LivenessCheck, product: &ClaimProduct<'_>, found: &Lasso) -> usize {
    let (model, largest) = (&watched.model, AnalysisBudget::largest());
    let executor = |it| Executor::new(it, ExecutionMode::Interp);
    let runs = || model.runnable(&model.wished, &largest, executor);
    let searched = model.searched_by(runs(), &largest);
    let all_steps = watched.with_all_steps(&searched, runs(), &largest);
    let executor = runs().executor().clone();
    let judged = ProductCheck::new(watched, product, &searched, &executor, Fairness::None).unwrap();
    let judged = judged.with_shortening(Some(RunShortening {
        all_steps,
        states: u64::MAX,
        only_of_invariants: false,
    }));
    let shorter =
        judged.find_shorter_run(found, LIMITS, &SearchControl::default()).unwrap().unwrap();
    assert!(shorter.is_shortest);
    let all_steps = watched.with_all_steps(&searched, runs(), &largest);
    is_run(product, all_steps.model(), &shorter.lasso);
    shorter.steps
}

/// The same of what is left by the reductions that the model is to have.
pub fn reduced(watched: &LivenessCheck, ended: FiniteRunPolicy, on_disk: bool) -> Came {
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
            // Room for the states that the cycle proviso expands fully.
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
            let executor = Executor::new(&watched.model.interp, ExecutionMode::Interp);
            let judged =
                ProductCheck::new(watched, &product, &searched, &executor, Fairness::None).unwrap();
            let mut pursuit = EmptinessSearch::new(&judged, plan, None, directory);
            let pursued = pursuit.run(None, &control).unwrap();
            (pursued.found, pursued.outcome.states())
        }
    };
    assert_ne!(found, ProbeVerdict::Open);
    let least = match &found {
        ProbeVerdict::Found(lasso) => {
            is_run(&product, searched.model(), lasso);
            Some(least(watched, &product, lasso))
        }
        ProbeVerdict::None | ProbeVerdict::Open => None,
    };
    Came { is_violated: found != ProbeVerdict::None, states, least }
}

/// What is shown of a run that was found is a run of the unreduced product that accepts again and again.
fn is_run(product: &ClaimProduct<'_>, model: &dyn spillway::model::StateSpace, lasso: &Lasso) {
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

/// What random models came to.
#[derive(Debug, Default)]
struct Census {
    asked: u32,
    violated: u32,
    fewer: [u32; 9],
    on_disk: u32,
}

/// Whether each reduction has the verdict that there is without.
fn keep_the_verdict(text: &str, formula: &str, disk: bool, census: &mut Census) {
    let ended =
        [FiniteRunPolicy::Stutter, FiniteRunPolicy::Ignored][usize::from(census.asked % 3 == 2)];
    let Some(whole) = plain(load(text, formula), ended) else { return };
    census.asked += 1;
    census.violated += u32::from(whole.is_violated);
    for (number, reduce) in reductions().iter().enumerate() {
        let watched = load(text, formula).reduced(reduce.clone(), ended);
        let found = reduced(&watched, ended, false);
        let told = || format!("{formula} {ended:?} {reduce:?}\n{text}");
        assert_eq!(found.is_violated, whole.is_violated, "{}", told());
        // Passes may let a loop close that is one of alike states alone.
        let is_whole = !reduce.has_kind(ReductionKind::Rewriting);
        let is_as_short =
            if is_whole { whole.least == found.least } else { whole.least >= found.least };
        assert!(is_as_short, "{:?} {:?}: {}", whole.least, found.least, told());
        if !whole.is_violated {
            assert!(found.states <= whole.states, "{}", told());
            census.fewer[number] += u32::from(found.states < whole.states);
        }
        if disk {
            let stored = reduced(&watched, ended, true);
            assert_eq!(stored.is_violated, whole.is_violated, "on disk: {}", told());
            // The search on disk enforces the cycle proviso otherwise.
            assert!(whole.is_violated || stored.states <= whole.states, "{}", told());
            assert_eq!(stored.least, found.least, "on disk: {}", told());
            census.on_disk += 1;
        }
    }
}

pub fn question(dice: &mut Dice) -> String {
    let (variable, value) = (dice.below(3), dice.below(3));
    match dice.below(8) {
        0..4 => format!("g{variable} == {value}"),
        4 => format!("g{variable} > {value}"),
        5 => format!("P{}@here", dice.below(2)),
        6 => "len(q) == 0".to_owned(),
        _ => format!("P{}@there", dice.below(2)),
    }
}

/// A formula that does not speak of the next state.
pub fn formula(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return format!("({})", question(dice));
    }
    let mut inner = || formula(dice, depth - 1);
    let [one, other] = [inner(), inner()];
    match dice.below(9) {
        0 => format!("(! {one})"),
        1 | 2 => format!("([] {one})"),
        3 | 4 => format!("(<> {one})"),
        5 => format!("({one} && {other})"),
        6 => format!("({one} || {other})"),
        7 => format!("({one} U {other})"),
        _ => format!("({one} -> {other})"),
    }
}

fn guard(dice: &mut Dice) -> String {
    let (variable, value) = (dice.below(3), dice.below(3));
    match dice.below(5) {
        0 => format!("g{variable} == {value}"),
        1 => format!("l == {value}"),
        2 => "l < 2".to_owned(),
        3 => format!("g{variable} < 2"),
        _ => "true".to_owned(),
    }
}

fn statement(dice: &mut Dice) -> String {
    let (variable, value) = (dice.below(3), dice.below(3));
    match dice.below(12) {
        0..2 => format!("g{variable} = {value}"),
        2 => format!("g{variable} = l"),
        3..6 => format!("l = {value}"),
        6 => "l = (l + 1) % 3".to_owned(),
        7 => "k = (k + 1) % 2".to_owned(),
        8 => "q!l".to_owned(),
        9 => "q?l".to_owned(),
        // Out of range at 2.
        10 if dice.below(4) == 0 => "a[l] = 1".to_owned(),
        _ => "skip".to_owned(),
    }
}

/// Two processes with a loop, and one with or without.
pub fn processes(dice: &mut Dice) -> String {
    let mut text = "byte g0, g1, g2; chan q = [1] of { byte };\n".to_owned();
    for number in 0..3 {
        text += &format!("active proctype P{number}() {{ byte l, k; bit a[2];\n");
        for _ in 0..dice.below(3) {
            text += &format!("{}; ", statement(dice));
        }
        let label = |name: &str, dice: &mut Dice| match dice.below(2) {
            0 => String::new(),
            _ => format!("{name}{}: skip; ", dice.below(1000)),
        };
        text += "here: skip;\n";
        if number < 2 || dice.below(2) == 0 {
            text += "do\n";
            for option in 0..1 + dice.below(3) {
                text += &format!(":: {} -> {}", guard(dice), label("m", dice));
                for _ in 0..1 + dice.below(3) {
                    text += &format!("{}; ", statement(dice));
                }
                if option > 0 && dice.below(4) == 0 {
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
fn random_processes_keep_what_formulas_say_of_them() {
    let mut census = Census::default();
    for seed in 0..if is_large() { 1_700 } else { 120 } {
        let mut dice = Dice(seed);
        let text = processes(&mut dice);
        for number in 0..3 {
            let asked = formula(&mut dice, 1 + number % 2);
            keep_the_verdict(&text, &asked, seed % 12 == 0, &mut census);
        }
    }
    println!("{census:?}");
    let Census { asked, violated, fewer, on_disk } = census;
    assert!(asked >= 200 && violated >= 60 && asked - violated >= 40 && on_disk >= 50);
    assert!(fewer.iter().all(|&it| it > 0), "{fewer:?}");
}

/// Each loses the run that violates the formula if something is forgotten: what a claim sees, that something is put off
/// for ever on a cycle, that this may be so on one cycle though another way on climbs, what fails.
pub const LOST: [(&str, &str, FiniteRunPolicy); 6] = [
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
fn models_that_lose_a_run_if_a_condition_is_left_out_keep_it() {
    for (text, asked, ended) in LOST {
        assert!(plain(load(text, asked), ended).unwrap().is_violated, "{text}");
        for reduce in reductions() {
            let watched = load(text, asked).reduced(reduce.clone(), ended);
            for on_disk in [false, true] {
                let found = reduced(&watched, ended, on_disk);
                assert!(found.is_violated, "{reduce:?} on disk: {on_disk}\n{text}");
            }
        }
    }
}

/// Counts up by itself beside one that is watched; what it writes is never read.
const COUNTS: &str = "byte x, done; short n, m;
active proctype P() { do :: x = 1 - x; n = (m + 1) % 5 od }
active proctype Q() { byte i; do :: i < 50 -> i++ :: i == 50 -> done = 1; break od }
active proctype R() { byte j; do :: j < 50 -> j++ :: j == 50 -> break od }
";

#[test]
fn what_is_reduced_is_told_and_kept_by_the_directory() {
    let bench = Bench::of([("m.pml", COUNTS)]);
    let ask = |more: &[&str]| {
        let told = bench.run(&[&["check", "m.pml", "--json"], more].concat());
        (told.code, serde_json::from_str::<Value>(&told.out).unwrap(), told.err)
    };
    let asked = ["--ltl", "[]<> (done == 0 || done == 1)"];
    let (code, whole, _) = ask(&[&asked[..], &["--reduce", "none"]].concat());
    assert_eq!((code, &whole["reductions"]), (0, &serde_json::json!([])));
    let (code, by_default, _) = ask(&asked);
    let names = ["partial order conditional", "equivalent values", "dead variables"];
    assert_eq!((code, &by_default["reductions"]), (0, &serde_json::json!(names)));
    let by = [&asked[..], &["--reduce", "por,dead"]].concat();
    let (code, fewer, err) = ask(&by);
    assert_eq!((code, &*err), (0, ""));
    let names = serde_json::json!(["partial order conditional", "dead variables"]);
    assert_eq!(fewer["reductions"], names);
    let states = |of: &Value| of["states"].as_u64().unwrap();
    assert!(10 * states(&fewer) < states(&whole), "{} {}", states(&fewer), states(&whole));
    let begun =
        bench.run(&[&["check", "m.pml", "--max-states", "1", "--dir", "d"], &by[..]].concat());
    assert_eq!(begun.code, 3);
    let status = bench.run(&["status", "d"]).flat();
    assert!(status.contains("reduced by partial order conditional, dead variables"), "{status}");
    let resumed = bench.run(&["resume", "d", "--json", "--exec", "interp"]);
    let resumed: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!((&resumed["verdict"], &resumed["reductions"]), (&"verified".into(), &names));
    assert!(10 * states(&resumed) < states(&whole), "{} {}", states(&resumed), states(&whole));
    // The loop below goes round until what is dead comes again.
    let violated = ["--ltl", "<>[] (x == 0)", "--reduce", "dead"];
    let (code, told, err) = ask(&violated);
    assert_eq!((code, &*err), (1, ""));
    let steps = told["counterexample"]["steps"].as_array().unwrap();
    assert!(told["counterexample"]["loop_start"].as_u64().unwrap() + 1 < steps.len() as u64);
}

#[test]
fn what_does_not_keep_it_is_refused_or_left_out() {
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
        let told = bench.run(&[&["check", "m.pml"], &formula[..], flags].concat());
        assert_eq!((told.code, &*told.out), (2, ""), "{flags:?}\n{}", told.err);
        assert!(told.err.contains("is for properties of states"), "{flags:?}: {}", told.err);
    }
    // Accepts the words that begin with two states where `x` is 1, whatever follows.
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
        let (told, plain) = (bench.run(&args), bench.run(&args[..args.len() - 2]));
        assert!(told.err.contains("partial order conditional is not applied: "), "{}", told.err);
        assert!(told.err.contains(why) && told.flat().contains(why), "{}{}", told.err, told.out);
        assert_eq!(told.code, plain.code, "{args:?}");
    }
    // Automata that do not count are as good as formulas.
    for args in [["m.pml", "--automaton", "once.hoa"], ["stays.dve", "--ltl", "L"]] {
        let told = bench.run(&[&["check"], &args[..], &["--reduce", "por"]].concat());
        assert!(!told.err.contains("repetitions"), "{args:?}: {}", told.err);
    }
    // Formulas may name processes.
    let alike = "byte n; active [3] proctype P() { do :: n < 2 -> n++ :: n = 0 od }";
    bench.write("alike.pml", alike);
    let args = ["check", "alike.pml", "--ltl", "[]<> (n < 9)", "--reduce", "symmetry"];
    let told = bench.run(&args);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.err.contains("may distinguish processes"), "{}", told.err);
    assert_eq!(bench.run(&[&args[..5], &["auto"]].concat()).err, "");
    // Only for the next state: not for passes over the program.
    let args = ["check", "m.pml", "--ltl", "X (done == 0)", "--reduce", "auto"];
    let told = bench.run(&args);
    assert_eq!((told.code, &*told.err), (0, ""), "{}", told.out);
    assert!(told.flat().contains("reduced by equivalent values, dead variables"), "{}", told.out);
}
