//! Boring states, from which no violation is reachable, and doomed states, from which one is unavoidable. The result is
//! compared with the search of all states.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::generated::{Generated, programs, try_all};
use crate::support::lockstep::{choose, load, load_with, with_conditional_effect};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::{for_checks, preserved_classes};
use crate::support::stored::{
    assert_traces_replay, is_selected, replay_in_stores, search, storages,
};
use crate::support::{Random, is_large, tiny_plan};
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::front::{Language, Options};
use spillway::ir::{OverflowRule, text};
use spillway::model::{
    CheckSelection, StateSpace, SuccessorSink, Violation, memory, preserves_depth,
};
use spillway::reduce::boring::BoringStates;
use spillway::reduce::doomed::DoomedStates;
use spillway::reduce::{PropertyClass, Reduction};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::{SearchLimits, SearchOutcome, SearchVerdict};
use spillway::session::{CheckResult, TextModel};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Models with more states are skipped.
const MAX_STATES: u64 = 2_000;

const WITHOUT_FAULTS: CheckSelection = CheckSelection { faults: false, ..NO_DEADLOCK };

const NO_DEADLOCK: CheckSelection = CheckSelection { deadlock: false, ..CheckSelection::ALL };

/// Returns the selected violations and goals with their depths.
fn violation_depths(
    model: &dyn StateSpace,
    checks: &CheckSelection,
    outcome: &SearchOutcome,
) -> BTreeMap<Violation, u64> {
    let all = outcome.findings.iter().map(|(check, found)| (check, found.level));
    all.filter(|(check, _)| is_selected(model, checks, *check)).collect()
}

/// The numbers of states, all and reduced.
type StateCounts = (u64, u64);

/// Returns all states, unless there are many states or transitions.
fn few_states(interp: &Interp) -> Option<BTreeSet<Vec<u8>>> {
    let (width, mut transitions) = (interp.width(), 0);
    let mut open = Vec::new();
    let _ = SuccessorSink::collect(width, &mut open, |out| interp.initial(out)).unwrap();
    let mut seen: BTreeSet<Vec<u8>> = open.chunks_exact(width).map(<[u8]>::to_vec).collect();
    let mut open: Vec<Vec<u8>> = seen.iter().cloned().collect();
    while let Some(state) = open.pop() {
        let mut next = Vec::new();
        let collected = SuccessorSink::collect(width, &mut next, |out| interp.expand(&state, out));
        transitions += collected.unwrap().counters.transitions;
        if seen.len() as u64 > MAX_STATES || transitions > 10 * MAX_STATES {
            return None;
        }
        for state in next.chunks_exact(width) {
            if seen.insert(state.to_vec()) {
                open.push(state.to_vec());
            }
        }
    }
    Some(seen)
}

/// Returns the search of all states, if they are few.
fn full_search(interp: &Interp, checks: CheckSelection) -> Option<SearchOutcome> {
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    few_states(interp).map(|_| memory::search(interp, &limits).unwrap())
}

/// Checks that pruning boring states keeps the violations and their depths. Returns nothing if no state is boring, or
/// if there are too many states.
fn check_boring(interp: &Interp, checks: CheckSelection, progress: &[&str]) -> Option<StateCounts> {
    let progress: Vec<String> = progress.iter().map(|it| it.to_string()).collect();
    let full = full_search(interp, checks)?;
    let boring = BoringStates::of(interp, checks, &progress, &AnalysisBudget::largest()).ok()?;
    let model = boring.wrap(Box::new(interp));
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let pruned = memory::search(&*model, &limits).unwrap();
    let found = violation_depths(&model, &checks, &pruned);
    assert_eq!(found, violation_depths(&interp, &checks, &full), "{checks:?}");
    assert!(pruned.states() <= full.states());
    // Steps to visited initial states are not followed either.
    assert!(pruned.counters.pruned > 0 || pruned.states() == full.states());
    compare_store(&*model, &limits, &pruned);
    Some((full.states(), pruned.states()))
}

/// Checks that there is one violation, and that pruning boring states keeps it.
fn assert_violation_kept(interp: &Interp, checks: CheckSelection) {
    let found = full_search(interp, checks).unwrap();
    assert_eq!(
        violation_depths(&interp, &checks, &found).len(),
        1,
        "{}",
        text::print(interp.program())
    );
    check_boring(interp, checks, &[]);
}

/// Checks that running ahead from doomed states keeps the violations, at no greater depth. Returns the greatest saving
/// in depth.
fn check_doomed(interp: &Interp, checks: CheckSelection) -> Option<u64> {
    let full = full_search(interp, checks)?;
    let doomed = DoomedStates::of(interp, checks, &AnalysisBudget::largest()).ok()?;
    let model = doomed.wrap(Box::new(interp));
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let ahead = memory::search(&*model, &limits).unwrap();
    let (expected, found) =
        (violation_depths(&interp, &checks, &full), violation_depths(&model, &checks, &ahead));
    assert!(found.keys().eq(expected.keys()), "{checks:?}: {expected:?}, {found:?}");
    assert_eq!(ahead.states(), full.states(), "they are the same states");
    let sooner = expected.iter().map(|(check, level)| level.checked_sub(found[check]).unwrap());
    let sooner = sooner.max().unwrap_or_default();
    assert!(ahead.counters.skipped > 0 || sooner == 0);
    few_states(interp)
        .unwrap()
        .iter()
        .for_each(|it| assert_run_ends_in_violation(interp, &*model, it, &checks));
    compare_store(&*model, &limits, &ahead);
    Some(sooner)
}

/// Checks that the run from a doomed state ends in a selected violation.
fn assert_run_ends_in_violation(
    interp: &Interp,
    ahead: &dyn StateSpace,
    state: &[u8],
    checks: &CheckSelection,
) {
    let width = interp.width();
    let expanded = |model: &dyn StateSpace, state: &[u8]| {
        let mut successors = Vec::new();
        let collected =
            SuccessorSink::collect(width, &mut successors, |out| model.expand(state, out));
        (successors, collected.unwrap())
    };
    let (plain_successors, _) = expanded(&interp, state);
    let (successors, collected) = expanded(ahead, state);
    assert_eq!(successors.len() > plain_successors.len(), collected.counters.skipped > 0);
    if let Some(end) = successors[plain_successors.len()..].chunks_exact(width).next() {
        let findings = expanded(&interp, end).1.findings;
        assert!(findings.iter().any(|it| is_selected(ahead, checks, it.0)), "{checks:?}");
    }
}

/// Checks that a store finds what is found in memory, in several sessions, and that counterexamples replay. The number
/// of states selects the store.
fn compare_store(model: &dyn StateSpace, limits: &SearchLimits, expected: &SearchOutcome) {
    let storages = storages(model);
    let storage = &storages[expected.states() as usize % storages.len()];
    let plans = [tiny_plan(2, model.width() + storage.saved().tag_bytes(), 64, 64)];
    for pauses in [&[][..], &[expected.states() / 2]] {
        let (found, disk) = search(&[model], storage, &plans, pauses, limits);
        assert_eq!(found.levels, expected.levels, "{}", storage.name());
        assert_eq!(
            (found.counters.skipped, found.counters.pruned),
            (expected.counters.skipped, expected.counters.pruned)
        );
        assert_eq!(
            violation_depths(model, &limits.checks, &found),
            violation_depths(model, &limits.checks, expected)
        );
        if preserves_depth(model) {
            assert_traces_replay(model, &*disk, &found);
        }
    }
    if !preserves_depth(model) {
        replay_in_stores(std::slice::from_ref(storage), model, expected, limits);
    }
}

fn boring(
    language: &str,
    text: &str,
    checks: CheckSelection,
    progress: &[&str],
) -> Option<StateCounts> {
    check_boring(&load(language, text).interp, checks, progress)
}

/// Returns the reason that no state of a model is boring.
fn boring_refusal(language: &str, text: &str, checks: CheckSelection, progress: &[&str]) -> String {
    let progress: Vec<String> = progress.iter().map(|it| it.to_string()).collect();
    BoringStates::of(&load(language, text).interp, checks, &progress, &AnalysisBudget::largest())
        .err()
        .unwrap()
        .to_string()
}

/// A clock of 200 hours, and a worker that must be ready by hour 40.
const CLOCK: &str = "byte now; process Clock { state run; init run; trans run -> run { guard now < 200; effect now = now + 1; }; }
    process Worker { byte idle; state at_work, ready; init at_work; assert ready: now > 40;
    trans at_work -> ready { guard now > 2 and now <= 40; }, at_work -> at_work { effect idle = 1 - idle; }; } system async;";

/// In 201 hours the worker has one of two values, and from hour 3 on it is at work or ready. After hour 40 no violation
/// is reachable.
#[test]
fn states_after_the_last_violation_are_pruned() {
    let all_states = 201 * 2 + (201 - 3) * 2;
    let states_until_40 = 41 * 2 + (41 - 3) * 2;
    assert_eq!(boring("dve", CLOCK, NO_DEADLOCK, &[]), Some((all_states, states_until_40)));
    assert_eq!(boring("dve", CLOCK, NO_DEADLOCK, &["now"]), Some((all_states, states_until_40)));
    // A worker at work is never deadlocked. A ready worker is, in the last hour.
    let reason = boring_refusal("dve", CLOCK, CheckSelection::ALL, &["now"]);
    assert_eq!(reason, "a deadlock may be reachable from every state");
}

#[test]
fn progress_functions_are_checked() {
    let refusal = |names: &[&str]| boring_refusal("dve", CLOCK, NO_DEADLOCK, names);
    assert_eq!(refusal(&["later"]), "there is no variable `later`");
    assert_eq!(refusal(&["idle"]), "idle is no progress function: it may decrease from 1 to 0");
    assert_eq!(
        refusal(&["now", "Worker.idle"]),
        "now + Worker.idle is no progress function: it may decrease from 1 to 0"
    );
    let wide = "int a; int b; process P { state p; init p; assert p: a < 9; trans p -> p { effect a = a + 1; }, p -> p { effect b = b + 1; }; }
        system async;";
    assert_eq!(
        boring_refusal("dve", wide, NO_DEADLOCK, &["a", "b"]),
        "a + b have too many combinations of values: name fewer variables"
    );
    let ambiguous = "byte n; process P { byte n; state p; init p; trans p -> p { effect n = 0; }; } process Q { state q; init q; trans q -> q { effect n = 1; }; } system async;";
    assert_eq!(
        boring_refusal("dve", ambiguous, NO_DEADLOCK, &["n"]),
        "`n` is the name of several variables: say whose, as in `n`"
    );
}

/// Boring states need transitions of single processes, and no excluded states.
#[test]
fn lockstep_programs_and_assumptions_are_refused() {
    let lockstep = CLOCK.replace("system async;", "system sync;");
    assert_eq!(
        boring_refusal("dve", &lockstep, NO_DEADLOCK, &[]),
        "all processes move in each transition"
    );
    let assumes = "var n: 0..9; startstate n := 0; end; rule n < 9 ==> n := n + 1; end; assume n < 5; invariant n < 3;";
    assert_eq!(boring_refusal("murphi", assumes, NO_DEADLOCK, &[]), "assumptions exclude states");
}

/// A sum may be a progress function although one of its parts decreases.
#[test]
fn sums_may_be_progress_functions() {
    let text = "byte sent = 10; byte done; process P { state p; init p; assert p: done != 4;
        trans p -> p { guard sent > 0; effect sent = sent - 1, done = done + 1; }; } system async;";
    assert_eq!(boring("dve", text, NO_DEADLOCK, &["done", "sent"]), Some((11, 5)));
    assert!(
        boring_refusal("dve", text, NO_DEADLOCK, &["sent"]).contains("it may decrease from 1 to 0")
    );
}

/// One model for each condition. Without the condition, a violation would be pruned.
#[test]
fn reachable_violations_are_not_pruned() {
    let model = |q: &str| {
        format!(
            "byte x; byte y; byte z; process P {{ state p, q, r; init p; assert q: x != 3;
            trans p -> p {{ guard x < 9; effect x = x + 1; }}, p -> q {{ guard y == 1; }}; }} {q} system async;"
        )
    };
    // `x` never decreases. From 4 on no violation is reachable. With each of these processes it may be 3 again.
    let plain = model("");
    assert_eq!(boring("dve", &plain, NO_DEADLOCK, &[]), Some((10, 1)));
    let processes = [
        "process R { state a; init a; trans a -> a { guard x == 9; effect x = 3; }, a -> a { effect y = 1; }; }",
        "process R { state a; init a; trans a -> a { guard x == 9; effect x = z; }, a -> a { effect y = 1, z = 3; }; }",
        "process R { byte a[4]; state s; init s; trans s -> s { guard x == 9; effect x = x - 6; }, s -> s { effect y = 1; }; }",
        "channel {byte} c[1]; process R { state a; init a; trans a -> a { guard x == 9; sync c?x; }, a -> a { effect y = 1; }; }
         process S { state s; init s; trans s -> s { sync c!3; }; }",
    ];
    for process in processes {
        let text = model(process);
        let model = load("dve", &text);
        let found = full_search(&model.interp, NO_DEADLOCK).unwrap();
        assert!(!violation_depths(&&model.interp, &NO_DEADLOCK, &found).is_empty(), "{text}");
        check_boring(&model.interp, NO_DEADLOCK, &[]);
    }
}

/// A conditional increment may wrap around. Two cells with 65,536 combinations of values are not abstracted.
#[test]
fn values_that_wrap_around_are_not_pruned() {
    let text = "unsigned n : 2 = 1; byte x; byte y;
        active proctype P() { do :: d_step { if :: x > y -> n++ :: else -> skip fi } od }
        active proctype Q() { do :: d_step { x = 3 - x; y = 3 - x } od }
        active proctype R() { assert(n > 0) }";
    let model = load("promela", text);
    assert_violation_kept(&model.interp, NO_DEADLOCK);
}

/// A failing transition is a violation, and so is a failing condition.
#[test]
fn faults_are_not_pruned() {
    let clock = "trans p -> p { guard now < 9; effect now = now + 1; }";
    let step = format!(
        "byte now; byte a[3]; process P {{ state p; init p; {clock}, p -> p {{ guard now == 4; effect a[now] = 1; }}; }} system async;"
    );
    assert_eq!(boring("dve", &step, NO_DEADLOCK, &[]), Some((10, 5)));
    let condition = format!(
        "byte now; byte a[3]; process P {{ state p; init p; {clock}; }}
        process Q {{ state q, r; init q; assert r: a[now] == 0; trans q -> r {{ guard now < 2; }}; }} system async;"
    );
    // `Q` may still move while `now` is 0 or 1, and has moved in any of the ten. a[3] to a[9] do not exist.
    let model = load("dve", &condition);
    let found = full_search(&model.interp, NO_DEADLOCK).unwrap();
    assert_eq!(violation_depths(&&model.interp, &NO_DEADLOCK, &found).len(), 1);
    assert_eq!(boring("dve", &condition, NO_DEADLOCK, &[]), Some((20, 12)));
    // A failing condition is an error even if the condition itself is not checked.
    let errors = CheckSelection { faults: true, ..CheckSelection::NONE };
    assert_eq!(boring("dve", &condition, errors, &[]), Some((20, 12)));
    let invariant = "var now: 0..9; a: array [0..2] of 0..1; startstate now := 0; a[0] := 0; a[1] := 0; a[2] := 0; end;
        rule now < 9 ==> now := now + 1; end; invariant \"read\" now != 3 | a[now] = 0;";
    assert_eq!(boring("murphi", invariant, errors, &[]), Some((10, 4)));
}

/// Transitions with channels are abstracted by what they write. Each model has a violation by one such transition, the
/// second one.
#[test]
fn writes_of_channel_transitions_are_over_approximated() {
    let model_with_send = |declared: &str, effect: &str, bad: &str| {
        let assertion = "process V { state p, q; init p; assert q:";
        let toggles = "process Z { state s; init s; trans s -> s { effect i = 1 - i; }, s -> s { effect z = 3 - z; }; }";
        format!(
            "byte i; byte z; byte a[2]; {declared} channel {{byte}} b[1]; process W {{ state u, w, v; init u; trans u -> w {{}}, w -> v {{ sync b!0; {effect} }}; }}
            {assertion} {bad}; trans p -> q {{}}; }} {toggles} system async;"
        )
    };
    let models = [
        // One of two elements, and not the other.
        model_with_send("", "effect a[i] = 1;", "not (a[0] == 1 and a[1] == 0)"),
        // A constant that something else may overwrite.
        model_with_send("", "effect a[0] = 1, a[i] = z;", "a[0] != 3"),
        model_with_send("", "effect a[0] = z;", "a[0] != 3"),
        model_with_send("byte n = 5;", "effect n = n + 2;", "n != 7"),
        // The addition fails above the last value.
        model_with_send("byte n = 255;", "effect n = n + 2;", "n != 1"),
        model_with_send("", "", "not W.v"),
    ];
    for text in models {
        let model = load("dve", &text);
        let found = full_search(&model.interp, NO_DEADLOCK).unwrap();
        assert!(!violation_depths(&&model.interp, &NO_DEADLOCK, &found).is_empty(), "{text}");
        check_boring(&model.interp, NO_DEADLOCK, &[]);
    }
    // The addition wraps around.
    let wraps = Options { overflow: Some(OverflowRule::Wraps), ..Options::default() };
    let text = model_with_send("byte n = 255;", "effect n = n + 2;", "n != 1");
    let model = load_with("dve", &text, wraps);
    assert_violation_kept(&model.interp, NO_DEADLOCK);
    let promela = [
        // The addition is counted in each round.
        "byte x; chan b = [1] of { byte }; active proctype W() { d_step { b!1; do :: x < 3 -> x++ :: else -> break od } }
        active proctype V() { assert(x != 3) }",
        // The assignment is conditional.
        "byte x; byte y; chan b = [1] of { byte }; active proctype W() { d_step { b!1; if :: y -> x = 1 :: else fi }; assert(x == 1) }
        active proctype V() { y = 1 }",
        // Dynamic processes.
        "byte x; chan b = [4] of { byte }; proctype W() { b!1; x++; b!1; assert(x != 2) } init { run W(); run W() }",
    ];
    for text in promela {
        let model = load("promela", text);
        let found = full_search(&model.interp, NO_DEADLOCK).unwrap();
        assert!(!violation_depths(&&model.interp, &NO_DEADLOCK, &found).is_empty(), "{text}");
        check_boring(&model.interp, NO_DEADLOCK, &[]);
    }
}

/// Boring states in Promela and Murphi.
#[test]
fn all_languages_have_boring_states() {
    let promela = "byte now; active proctype Clock() { do :: now < 50 -> now++ od }
        active proctype Worker() { byte k; now >= 5 && now < 8; do :: k < 3 -> k++; assert(now < 20 || now > 30) :: k == 3 -> break od }";
    let found = boring("promela", promela, NO_DEADLOCK, &[]);
    println!("promela: {found:?}");
    let murphi = "var now: 0..50; job: array [0..1] of 0..3; startstate now := 0; job[0] := 0; job[1] := 0; end;
        rule \"tick\" now < 50 ==> now := now + 1; end;
        ruleset i: 0..1 do rule \"work\" job[i] < 3 ==> job[i] := job[i] + 1; end; end;
        invariant \"late\" now > 10 | job[0] + job[1] < 6;";
    assert_eq!(boring("murphi", murphi, NO_DEADLOCK, &[]), Some((51 * 16, 11 * 15 + 11)));
}

#[test]
fn random_programs_keep_their_violations() {
    let (fewer, sooner) = (Cell::new(0), Cell::new(0));
    let count = if is_large() { 5000 } else { 50 };
    try_all(count, programs(), |Generated(program)| {
        let Ok(interp) = Interp::new(program) else { return Ok(()) };
        for checks in [CheckSelection::ALL, NO_DEADLOCK, WITHOUT_FAULTS] {
            let counts = check_boring(&interp, checks, &[]);
            fewer.set(fewer.get() + u32::from(counts.is_some_and(|it| it.1 < it.0)));
            let saving = check_doomed(&interp, checks);
            sooner.set(sooner.get() + u32::from(saving.is_some_and(|it| it > 0)));
        }
        Ok(())
    });
    println!("{} with fewer states, {} found sooner", fewer.get(), sooner.get());
    assert!(fewer.get() > 0);
}

/// Generates two processes with a clock and flags. Some of them end.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte t; byte g; byte h; channel {byte} c[0]; channel {byte} b[1];\n".to_owned();
    for process in ["P", "Q"] {
        let _ = writeln!(text, "process {process} {{ byte k; state s0, s1, s2, s3, s4; init s0;");
        let asserted = random.below(5);
        let _ = writeln!(text, "assert s{asserted}: {};", random_condition(random));
        text.push_str("trans\n");
        let edges = 4 + random.below(5);
        for number in 0..edges {
            let from = random.below(5);
            let to = if random.below(4) == 0 { random.below(5) } else { (from + 1).min(4) };
            let guard = match random.below(2) {
                0 => String::new(),
                _ => format!("guard {};", random_condition(random)),
            };
            let sync = match random.below(10) {
                0 => "sync c!{g};",
                1 => "sync c?{h};",
                2 => "sync b!{g};",
                3 => "sync b?{k};",
                _ => "",
            };
            let effect = match random.below(9) {
                0 => "effect t = t + (t < 7);",
                1 | 2 => "effect t = t + 1;",
                3 => "effect g = 1;",
                4 => "effect h = 1 - g;",
                5 => "effect k = t;",
                6 => "effect k = k + 1;",
                _ => "",
            };
            let end = if number + 1 < edges { "," } else { ";" };
            let _ = writeln!(text, "  s{from} -> s{to} {{ {guard} {sync} {effect} }}{end}");
        }
        text.push_str("}\n");
    }
    text + "system async;\n"
}

fn random_condition(random: &mut Random) -> String {
    let bound = random.below(6);
    match random.below(6) {
        0 => format!("g == {}", random.below(2)),
        1 => format!("h == {}", random.below(2)),
        2 => format!("k <= {bound}"),
        3 => format!("t > {bound}"),
        _ => format!("t <= {}", choose(random, &["2", "3", "5", "6"])),
    }
}

#[test]
fn random_models_keep_their_violations() {
    let mut random = Random::new(47);
    let (mut fewer, mut sooner) = (0, 0);
    for _ in 0..if is_large() { 5000 } else { 50 } {
        let text = random_model(&mut random);
        let model = load("dve", &text);
        for checks in [CheckSelection::ALL, NO_DEADLOCK, WITHOUT_FAULTS] {
            let counts = check_boring(&model.interp, checks, &[]);
            fewer += u32::from(counts.is_some_and(|it| it.1 < it.0));
            sooner += u32::from(check_doomed(&model.interp, checks).is_some_and(|it| it > 0));
        }
    }
    println!("{fewer} with fewer states, {sooner} found sooner");
    assert!(fewer > 10 && sooner > 5, "{fewer}, {sooner}");
}

/// Our models with few states.
#[test]
fn own_models_keep_their_violations() {
    for folder in ["dve", "promela", "murphi"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(folder);
        for file in std::fs::read_dir(path).unwrap() {
            let file = file.unwrap().path();
            let Some(language) = Language::from_file_name(&file.to_string_lossy()) else {
                continue;
            };
            let text = std::fs::read_to_string(&file).unwrap();
            let model = load(language.name, &text);
            for checks in [CheckSelection::ALL, NO_DEADLOCK] {
                let counts = check_boring(&model.interp, checks, &[]);
                let sooner = check_doomed(&model.interp, checks);
                if counts.is_some() || sooner.is_some() {
                    println!("{}: {counts:?} {sooner:?}", file.display());
                }
            }
        }
    }
}

/// A process that has fallen reaches a false assertion after five more locations, independently of the other processes.
/// These count, so that there are many states on the way.
const DOOMED_PROCESS: &str = "byte n; byte m; process P { state up, a, b, d, e, f; init up; assert f: n > 12;
    trans up -> a { guard n == 2; }, a -> b {}, b -> d { effect m = 1; }, d -> e {}, e -> f { guard m == 1; }; }
    process Q { state q; init q; trans q -> q { guard n < 12; effect n = n + 1; }; }
    process R { byte k; state r; init r; trans r -> r { effect k = (k + 1) % 5; }; } system async;";

#[test]
fn unavoidable_errors_are_reached_early() {
    let model = load("dve", DOOMED_PROCESS);
    // The error takes two steps of Q, one to fall, and four more. Q can take its two steps, so the initial state is
    // doomed.
    let full = full_search(&model.interp, NO_DEADLOCK).unwrap();
    assert_eq!(full.findings.iter().map(|it| it.1.level).collect::<Vec<_>>(), [7]);
    assert_eq!(check_doomed(&model.interp, NO_DEADLOCK), Some(6));
    // If another process decides whether Q moves, only a fallen process is doomed.
    let undecided = DOOMED_PROCESS
        .replace("guard n < 12;", "guard n < 12 and g == 1;")
        .replace("byte n;", "byte n; byte g;");
    let undecided = undecided.replace("effect k =", "effect g = 1 - g, k =");
    let sooner = check_doomed(&load("dve", &undecided).interp, NO_DEADLOCK);
    assert!(sooner.is_some_and(|it| it > 0), "{sooner:?}");
}

/// A fallen process always reaches the last location. The assertion there depends on a variable whose value is not
/// known well enough.
#[test]
fn avoidable_errors_are_not_reached_early() {
    let text = "int n; byte m; process P { state up, a, b, d, e; init up; assert e: n > 7;
        trans up -> a {}, a -> b {}, b -> d {}, d -> e {}; }
        process Q { state q; init q; trans q -> q { guard m < 6; effect m = m + 1, n = n + 2; }; } system async;";
    let model = load("dve", text);
    assert!(full_search(&model.interp, NO_DEADLOCK).unwrap().states() == 5 * 7);
    assert!(check_doomed(&model.interp, NO_DEADLOCK).is_none_or(|it| it == 0));
}

/// Three processes end on every run, so the initial state is doomed.
#[test]
fn unavoidable_deadlocks_are_reached_early() {
    let line = |name: &str, loops: &str| {
        format!(
            "process {name} {{ state a, b, d, e; init a; trans a -> b {{}}, b -> d {{}}, d -> e {{}} {loops}; }}"
        )
    };
    let lines = |loops: [&str; 3]| {
        let all = ["P", "Q", "R"].iter().zip(loops).map(|(name, it)| line(name, it));
        format!("byte n = 9; channel {{byte}} c[0]; {} system async;", all.collect::<String>())
    };
    let sooner =
        |loops: [&str; 3]| check_doomed(&load("dve", &lines(loops)).interp, CheckSelection::ALL);
    assert_eq!(sooner([""; 3]), Some(8));
    // A process with a loop at its first location is doomed once it has left it.
    assert_eq!(sooner([", a -> a {}", "", ""]), Some(7));
    // A process that loops at its end is never deadlocked. A process that loops on a decreasing variable, or on a
    // rendezvous without partner, is.
    assert_eq!(sooner([", e -> e {}", "", ""]), None);
    assert_eq!(sooner([", a -> a { guard n > 0; effect n = n - 1; }", "", ""]), Some(8));
    assert_eq!(sooner([", a -> a { guard n > 0; effect n = 9 - n; }", "", ""]), Some(7));
    assert_eq!(sooner([", a -> a { guard n > 0; effect n = n - 0; }", "", ""]), Some(7));
    assert_eq!(sooner([", a -> a { sync c!1; }", "", ""]), Some(8));
    // The partner of this rendezvous moves on and does not return.
    assert_eq!(sooner([", a -> a { sync c!1; }", ", a -> b { sync c?n; }", ""]), Some(8));
    // A bounded counter terminates only if it counts in every round.
    let counts = lines([", a -> a { guard n < 20; effect n = n + 1; }", "", ""]).replace(
        "system",
        "process When { state w, v; init w; trans w -> v { guard n > 10; }; } system",
    );
    assert_eq!(check_doomed(&load("dve", &counts).interp, CheckSelection::ALL), Some(8));
    let sometimes = with_conditional_effect(&counts, "P.a -> a", "When.w -> v");
    assert_eq!(check_doomed(&sometimes, CheckSelection::ALL), Some(7));
    // Lockstep programs and rules without a process are refused.
    let lockstep = lines([""; 3]).replace("async", "sync").replace("c[0]", "c[1]");
    assert_eq!(check_doomed(&load("dve", &lockstep).interp, CheckSelection::ALL), None);
    let rule = "var x: 0..3; startstate x := 0; end; rule x < 3 ==> x := x + 1; end;";
    assert_eq!(check_doomed(&load("murphi", rule).interp, CheckSelection::ALL), None);
    // If both partners can loop, both have to leave.
    assert_eq!(sooner([", a -> a { sync c!1; }", ", a -> a { sync c?n; }", ""]), Some(6));
}

/// In Promela, processes at valid end states are not deadlocked.
#[test]
fn valid_end_states_are_not_doomed() {
    let text = |last: &str| {
        format!(
            "byte x; active proctype P() {{ x = 1; x = 2; x = 3; {last} }} active proctype Q() {{ skip; skip; skip }}"
        )
    };
    let sooner =
        |last: &str| check_doomed(&load("promela", &text(last)).interp, CheckSelection::ALL);
    assert_eq!(sooner("skip"), None);
    // P takes three steps, Q three and one to end. The initial state is doomed.
    assert_eq!(sooner("x == 9"), Some(6));
    assert_eq!(sooner("end: x == 9"), None);
    // A process that may deadlock, but need not, may reach a valid end.
    assert!(sooner("if :: x == 3 -> x == 9 :: x == 3 -> skip; skip fi").is_some_and(|it| it > 0));
}

/// A counter that wraps around loops, and a process that is not started yet may loop.
#[test]
fn processes_that_may_loop_are_not_doomed() {
    let sooner = |text: &str| check_doomed(&load("promela", text).interp, CheckSelection::ALL);
    let counts = "unsigned n : 2; byte x; active proctype P() { do :: n++ :: break od; x == 9 }
        active proctype Q() { skip; skip; skip }";
    // One step leaves the loop. The three steps of Q and its end are then skipped.
    assert_eq!(sooner(counts), Some(3));
    // A conditional counter may loop without counting.
    let sometimes = counts.replace("unsigned n : 2", "int n");
    let sometimes = sometimes.replace("n++", "d_step { if :: x > 0 -> n++ :: else -> skip fi }");
    assert_eq!(sooner(&sometimes), Some(3));
    let starts = "byte x; proctype W() { do :: x = 1 - x od } active proctype P() { x == 9 }
        init { skip; skip; skip; run W() }";
    assert_eq!(sooner(starts).unwrap_or_default(), 0);
    let starts = starts.replace(":: x = 1 - x", ":: x = 1 - x :: x > 1 -> break");
    assert_eq!(sooner(&starts).unwrap_or_default(), 0);
}

/// Too many cells are relevant for the abstraction. A process that is not tracked may be deadlocked while all other
/// processes are at valid ends.
#[test]
fn untracked_processes_may_be_deadlocked() {
    let deadlock = CheckSelection { deadlock: true, ..CheckSelection::NONE };
    for deadlocked in 0..12 {
        let next_turn =
            |number: u32| if number + 1 == deadlocked { number + 2 } else { number + 1 };
        let first = u32::from(deadlocked == 0);
        let process = |number: u32| match number == deadlocked {
            true => format!("active proctype P{number}() {{ turn == 20 }}"),
            false => {
                let next = next_turn(number);
                format!("active proctype P{number}() {{ turn == {number}; skip; turn = {next} }}")
            }
        };
        let processes: Vec<String> = (0..12).map(process).collect();
        let text = format!("byte turn = {first}; {}", processes.join("\n"));
        let model = load("promela", &text);
        assert_violation_kept(&model.interp, deadlock);
    }
}

/// With too many transitions to abstract, every state may reach every other.
#[test]
fn too_many_transitions_prune_nothing() {
    let text = "var a: 0..99; b: 0..99; c: 0..300; d: 0..300;
        startstate a := 0; b := 0; c := 0; d := 0; end;
        rule c < 300 & d < 300 ==> c := c + 1; d := d + 1; a := (c * d) % 100; b := (c * 3) % 100; end;
        invariant \"here\" a != 0 | b != 50;";
    let model = load("murphi", text);
    assert_violation_kept(&model.interp, NO_DEADLOCK);
}

/// Returns the result of a search without deadlock checks.
fn check_without_deadlock(model: &TextModel, reduce: ReductionConfig) -> CheckResult<'_> {
    Check::of_text(model)
        .reduce(reduce)
        .memory(memory_beside_tests(512))
        .checks(NO_DEADLOCK)
        .run()
        .unwrap()
}

/// Both reductions visit fewer states before the first violation, report what they preserve, and are refused with a
/// claim.
#[test]
fn pruning_saves_states_and_is_refused_with_claims() {
    // A process that gives up counts for long, without any violation.
    let gives_up = "byte n; process P { byte k; state p, q, r; init p; assert r: n < 100;
        trans p -> p { guard n < 100; effect n = n + 1; }, p -> q {}, p -> r { guard n == 100; },
        q -> q { guard k < 200; effect k = k + 1; }; } system async;";
    let reduce = ReductionConfig::from(ReductionPlan::of(["boring"]));
    let model = load("dve", gives_up);
    let (full, reduced) = (
        check_without_deadlock(&model, ReductionConfig::none()),
        check_without_deadlock(&model, reduce),
    );
    let depth = |found: &CheckResult| found.counterexample().unwrap().unwrap().depth();
    assert_eq!((depth(&full), depth(&reduced)), (101, 101));
    assert_eq!(reduced.states(), 102);
    assert!(full.states() > 2000);
    let model = load("dve", DOOMED_PROCESS);
    let doomed = ReductionConfig::from(ReductionPlan::of(["doomed"]));
    let (full, reduced) = (
        check_without_deadlock(&model, ReductionConfig::none()),
        check_without_deadlock(&model, doomed),
    );
    assert_eq!(
        (full.verdict(), reduced.verdict()),
        (SearchVerdict::Violated, SearchVerdict::Violated)
    );
    assert_eq!((depth(&full), depth(&reduced)), (7, 7));
    assert!(reduced.states() < full.states());
    let refusals = |name: &str, text: &str| {
        let model = load("promela", text).with_plan(for_checks(&[name], NO_DEADLOCK));
        let searched = model.searched();
        searched
            .stack()
            .refusals()
            .iter()
            .map(|it| it.reason.to_string())
            .collect::<Vec<_>>()
            .join("; ")
    };
    let claimed = "byte x; active proctype P() { do :: x < 9 -> x = x + (x < 9) od } never { do :: x > 3 -> break :: else od }";
    for pruning in ["boring", "doomed"] {
        assert_eq!(refusals(pruning, claimed), "the search is of a product with a claim");
    }
    let preserved = BoringStates::of(
        &load("dve", CLOCK).interp,
        NO_DEADLOCK,
        &Vec::new(),
        &AnalysisBudget::largest(),
    )
    .unwrap()
    .traits()
    .preserves;
    let expected = [
        PropertyClass::Deadlocks,
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::Depth,
    ];
    assert_eq!(preserved_classes(preserved), expected);
    let preserved = DoomedStates::of(
        &load("dve", DOOMED_PROCESS).interp,
        NO_DEADLOCK,
        &AnalysisBudget::largest(),
    )
    .unwrap()
    .traits()
    .preserves;
    let expected = [PropertyClass::Deadlocks, PropertyClass::StepErrors, PropertyClass::Invariants];
    assert_eq!(preserved_classes(preserved), expected);
}
