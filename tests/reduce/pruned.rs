//! Boring states, from which no violation is reachable, and doomed states, from which one is unavoidable. The result is
//! compared with the search of all states.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::generated::{Generated, programs, try_all};
use crate::support::follow::{load, load_with, one, only_where};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::for_checks;
use crate::support::stored::{assert_traces_replay, is_looked_for, replayed_in, search, storages};
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

/// Models with more states are left out.
const MOST: u64 = 2_000;

const STATES_ALONE: CheckSelection = CheckSelection { faults: false, ..NO_DEADLOCK };

const NO_DEADLOCK: CheckSelection = CheckSelection { deadlock: false, ..CheckSelection::ALL };

/// What is looked for and found, and how deep.
fn violated(
    model: &dyn StateSpace,
    checks: &CheckSelection,
    outcome: &SearchOutcome,
) -> BTreeMap<Violation, u64> {
    let all = outcome.findings.iter().map(|(check, found)| (check, found.level));
    all.filter(|(check, _)| is_looked_for(model, checks, *check)).collect()
}

/// States of the whole, and of what is left.
type Both = (u64, u64);

/// All states, if these and their steps are few.
fn few_states(interp: &Interp) -> Option<BTreeSet<Vec<u8>>> {
    let (width, mut steps) = (interp.width(), 0);
    let mut open = Vec::new();
    let _ = SuccessorSink::collect(width, &mut open, |out| interp.initial(out)).unwrap();
    let mut seen: BTreeSet<Vec<u8>> = open.chunks_exact(width).map(<[u8]>::to_vec).collect();
    let mut open: Vec<Vec<u8>> = seen.iter().cloned().collect();
    while let Some(state) = open.pop() {
        let mut next = Vec::new();
        let collected = SuccessorSink::collect(width, &mut next, |out| interp.expand(&state, out));
        steps += collected.unwrap().counters.transitions;
        if seen.len() as u64 > MOST || steps > 10 * MOST {
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

/// The search of all states, if they are few.
fn whole(interp: &Interp, checks: CheckSelection) -> Option<SearchOutcome> {
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    few_states(interp).map(|_| memory::search(interp, &limits).unwrap())
}

/// That as much is found where boring states are left out, as deep. Nothing if there are none, or too many of all.
fn without_boring(interp: &Interp, checks: CheckSelection, progress: &[&str]) -> Option<Both> {
    let progress: Vec<String> = progress.iter().map(|it| it.to_string()).collect();
    let all = whole(interp, checks)?;
    let boring = BoringStates::of(interp, checks, &progress, &AnalysisBudget::largest()).ok()?;
    let model = boring.wrap(Box::new(interp));
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let left = memory::search(&*model, &limits).unwrap();
    let found = violated(&model, &checks, &left);
    assert_eq!(found, violated(&interp, &checks, &all), "{checks:?}");
    assert!(left.states() <= all.states());
    // Steps to initial states are not followed, either, and these are visited.
    assert!(left.counters.pruned > 0 || left.states() == all.states());
    stored_alike(&*model, &limits, &left);
    Some((all.states(), left.states()))
}

/// That one thing is violated, and found where boring states are left out.
fn one_is_explored(interp: &Interp, checks: CheckSelection) {
    let found = whole(interp, checks).unwrap();
    assert_eq!(violated(&interp, &checks, &found).len(), 1, "{}", text::print(interp.program()));
    without_boring(interp, checks, &[]);
}

/// That nothing else is found where one walks on from doomed states, and no deeper. Gives how many steps the deepest comes
/// sooner.
fn with_doomed(interp: &Interp, checks: CheckSelection) -> Option<u64> {
    let all = whole(interp, checks)?;
    let doomed = DoomedStates::of(interp, checks, &AnalysisBudget::largest()).ok()?;
    let model = doomed.wrap(Box::new(interp));
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let ahead = memory::search(&*model, &limits).unwrap();
    let (expected, found) = (violated(&interp, &checks, &all), violated(&model, &checks, &ahead));
    assert!(found.keys().eq(expected.keys()), "{checks:?}: {expected:?}, {found:?}");
    assert_eq!(ahead.states(), all.states(), "they are the same states");
    let sooner = expected.iter().map(|(check, level)| level.checked_sub(found[check]).unwrap());
    let sooner = sooner.max().unwrap_or_default();
    assert!(ahead.counters.skipped > 0 || sooner == 0);
    few_states(interp).unwrap().iter().for_each(|it| walks_arrive(interp, &*model, it, &checks));
    stored_alike(&*model, &limits, &ahead);
    Some(sooner)
}

/// That whoever walks on from a state comes to where something is that is looked for.
fn walks_arrive(interp: &Interp, ahead: &dyn StateSpace, state: &[u8], checks: &CheckSelection) {
    let width = interp.width();
    let expanded = |model: &dyn StateSpace, state: &[u8]| {
        let mut led = Vec::new();
        let collected = SuccessorSink::collect(width, &mut led, |out| model.expand(state, out));
        (led, collected.unwrap())
    };
    let (all, _) = expanded(&interp, state);
    let (led, collected) = expanded(ahead, state);
    assert_eq!(led.len() > all.len(), collected.counters.skipped > 0);
    if let Some(end) = led[all.len()..].chunks_exact(width).next() {
        let findings = expanded(&interp, end).1.findings;
        assert!(findings.iter().any(|it| is_looked_for(ahead, checks, it.0)), "{checks:?}");
    }
}

/// That a store finds what is found in memory, in several sittings, and that it can be told. Which store it is depends on how
/// many states there are.
fn stored_alike(model: &dyn StateSpace, limits: &SearchLimits, expected: &SearchOutcome) {
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
            violated(model, &limits.checks, &found),
            violated(model, &limits.checks, expected)
        );
        if preserves_depth(model) {
            assert_traces_replay(model, &*disk, &found);
        }
    }
    if !preserves_depth(model) {
        replayed_in(std::slice::from_ref(storage), model, expected, limits);
    }
}

fn boring(language: &str, text: &str, checks: CheckSelection, progress: &[&str]) -> Option<Both> {
    without_boring(&load(language, text).interp, checks, progress)
}

/// Why no state of a model is boring.
fn why_none(language: &str, text: &str, checks: CheckSelection, progress: &[&str]) -> String {
    let progress: Vec<String> = progress.iter().map(|it| it.to_string()).collect();
    BoringStates::of(&load(language, text).interp, checks, &progress, &AnalysisBudget::largest())
        .err()
        .unwrap()
        .to_string()
}

/// A clock of 200 hours, and a worker who has to be ready by the fortieth.
const CLOCK: &str = "byte now; process Clock { state run; init run; trans run -> run { guard now < 200; effect now = now + 1; }; }
    process Worker { byte idle; state at_work, ready; init at_work; assert ready: now > 40;
    trans at_work -> ready { guard now > 2 and now <= 40; }, at_work -> at_work { effect idle = 1 - idle; }; } system async;";

/// 201 hours, of which in 42 the worker is idle, at work or (then one of two) ready from the third on; beyond the fortieth
/// nothing is looked for.
#[test]
fn what_lies_beyond_the_last_hour_is_not_explored() {
    let by_hours = 201 * 2 + (201 - 3) * 2;
    let until_forty = 41 * 2 + (41 - 3) * 2;
    assert_eq!(boring("dve", CLOCK, NO_DEADLOCK, &[]), Some((by_hours, until_forty)));
    assert_eq!(boring("dve", CLOCK, NO_DEADLOCK, &["now"]), Some((by_hours, until_forty)));
    // Who is always at work is never stuck; who is ready, in the last hour.
    let why = why_none("dve", CLOCK, CheckSelection::ALL, &["now"]);
    assert_eq!(why, "a deadlock may be reachable from every state");
}

#[test]
fn progress_is_checked() {
    let none = |names: &[&str]| why_none("dve", CLOCK, NO_DEADLOCK, names);
    assert_eq!(none(&["later"]), "there is no variable `later`");
    assert_eq!(none(&["idle"]), "idle is no progress function: it may decrease from 1 to 0");
    assert_eq!(
        none(&["now", "Worker.idle"]),
        "now + Worker.idle is no progress function: it may decrease from 1 to 0"
    );
    let wide = "int a; int b; process P { state p; init p; assert p: a < 9; trans p -> p { effect a = a + 1; }, p -> p { effect b = b + 1; }; }
        system async;";
    assert_eq!(
        why_none("dve", wide, NO_DEADLOCK, &["a", "b"]),
        "a + b have too many combinations of values: name fewer variables"
    );
    let both = "byte n; process P { byte n; state p; init p; trans p -> p { effect n = 0; }; } process Q { state q; init q; trans q -> q { effect n = 1; }; } system async;";
    assert_eq!(
        why_none("dve", both, NO_DEADLOCK, &["n"]),
        "`n` is the name of several variables: say whose, as in `n`"
    );
}

/// Steps of all, and states that are left out, are not looked at in parts.
#[test]
fn some_programs_are_not_looked_at() {
    let lockstep = CLOCK.replace("system async;", "system sync;");
    assert_eq!(
        why_none("dve", &lockstep, NO_DEADLOCK, &[]),
        "all processes move in each transition"
    );
    let assumes = "var n: 0..9; startstate n := 0; end; rule n < 9 ==> n := n + 1; end; assume n < 5; invariant n < 3;";
    assert_eq!(why_none("murphi", assumes, NO_DEADLOCK, &[]), "assumptions exclude states");
}

/// Where a sum rises though a part of it falls, it is progress.
#[test]
fn a_sum_may_rise_where_its_parts_do_not() {
    let text = "byte sent = 10; byte done; process P { state p; init p; assert p: done != 4;
        trans p -> p { guard sent > 0; effect sent = sent - 1, done = done + 1; }; } system async;";
    assert_eq!(boring("dve", text, NO_DEADLOCK, &["done", "sent"]), Some((11, 5)));
    assert!(why_none("dve", text, NO_DEADLOCK, &["sent"]).contains("it may decrease from 1 to 0"));
}

/// One model for each condition: that it is left out would lose what is looked for.
#[test]
fn what_may_be_reached_is_explored() {
    let model = |q: &str| {
        format!(
            "byte x; byte y; byte z; process P {{ state p, q, r; init p; assert q: x != 3;
            trans p -> p {{ guard x < 9; effect x = x + 1; }}, p -> q {{ guard y == 1; }}; }} {q} system async;"
        )
    };
    // x never falls: from 4 on nothing is found. With each of these it may be 3 again.
    let plain = model("");
    assert_eq!(boring("dve", &plain, NO_DEADLOCK, &[]), Some((10, 1)));
    let back = [
        "process R { state a; init a; trans a -> a { guard x == 9; effect x = 3; }, a -> a { effect y = 1; }; }",
        "process R { state a; init a; trans a -> a { guard x == 9; effect x = z; }, a -> a { effect y = 1, z = 3; }; }",
        "process R { byte a[4]; state s; init s; trans s -> s { guard x == 9; effect x = x - 6; }, s -> s { effect y = 1; }; }",
        "channel {byte} c[1]; process R { state a; init a; trans a -> a { guard x == 9; sync c?x; }, a -> a { effect y = 1; }; }
         process S { state s; init s; trans s -> s { sync c!3; }; }",
    ];
    for process in back {
        let text = model(process);
        let model = load("dve", &text);
        let found = whole(&model.interp, NO_DEADLOCK).unwrap();
        assert!(!violated(&&model.interp, &NO_DEADLOCK, &found).is_empty(), "{text}");
        without_boring(&model.interp, NO_DEADLOCK, &[]);
    }
}

/// What is added only sometimes may wrap around. Two cells that come to 65,536 kinds of states are not tried.
#[test]
fn what_wraps_around_is_explored() {
    let text = "unsigned n : 2 = 1; byte x; byte y;
        active proctype P() { do :: d_step { if :: x > y -> n++ :: else -> skip fi } od }
        active proctype Q() { do :: d_step { x = 3 - x; y = 3 - x } od }
        active proctype R() { assert(n > 0) }";
    let model = load("promela", text);
    one_is_explored(&model.interp, NO_DEADLOCK);
}

/// A step that fails is looked for, and so is a condition that cannot be judged.
#[test]
fn what_fails_is_explored() {
    let clock = "trans p -> p { guard now < 9; effect now = now + 1; }";
    let step = format!(
        "byte now; byte a[3]; process P {{ state p; init p; {clock}, p -> p {{ guard now == 4; effect a[now] = 1; }}; }} system async;"
    );
    assert_eq!(boring("dve", &step, NO_DEADLOCK, &[]), Some((10, 5)));
    let judged = format!(
        "byte now; byte a[3]; process P {{ state p; init p; {clock}; }}
        process Q {{ state q, r; init q; assert r: a[now] == 0; trans q -> r {{ guard now < 2; }}; }} system async;"
    );
    // Q may still go where now is 0 or 1, and be gone in all ten; a[3] to a[9] are not there.
    let model = load("dve", &judged);
    let found = whole(&model.interp, NO_DEADLOCK).unwrap();
    assert_eq!(violated(&&model.interp, &NO_DEADLOCK, &found).len(), 1);
    assert_eq!(boring("dve", &judged, NO_DEADLOCK, &[]), Some((20, 12)));
    // That it cannot be judged is an error, also where nobody asks whether it holds.
    let errors = CheckSelection { faults: true, ..CheckSelection::NONE };
    assert_eq!(boring("dve", &judged, errors, &[]), Some((20, 12)));
    let invariant = "var now: 0..9; a: array [0..2] of 0..1; startstate now := 0; a[0] := 0; a[1] := 0; a[2] := 0; end;
        rule now < 9 ==> now := now + 1; end; invariant \"read\" now != 3 | a[now] = 0;";
    assert_eq!(boring("murphi", invariant, errors, &[]), Some((10, 4)));
}

/// What comes of steps that cannot be tried, as they use channels, is told by what they write: each model does what it should
/// not by one such step alone, the second.
#[test]
fn what_a_step_may_write_is_told() {
    let waits = |declared: &str, effect: &str, bad: &str| {
        let asked = "process V { state p, q; init p; assert q:";
        let turns = "process Z { state s; init s; trans s -> s { effect i = 1 - i; }, s -> s { effect z = 3 - z; }; }";
        format!(
            "byte i; byte z; byte a[2]; {declared} channel {{byte}} b[1]; process W {{ state u, w, v; init u; trans u -> w {{}}, w -> v {{ sync b!0; {effect} }}; }}
            {asked} {bad}; trans p -> q {{}}; }} {turns} system async;"
        )
    };
    let models = [
        // One of two, and not the other.
        waits("", "effect a[i] = 1;", "not (a[0] == 1 and a[1] == 0)"),
        // A constant, and something else over it.
        waits("", "effect a[0] = 1, a[i] = z;", "a[0] != 3"),
        waits("", "effect a[0] = z;", "a[0] != 3"),
        waits("byte n = 5;", "effect n = n + 2;", "n != 7"),
        // Beyond the last value it fails.
        waits("byte n = 255;", "effect n = n + 2;", "n != 1"),
        waits("", "", "not W.v"),
    ];
    for text in models {
        let model = load("dve", &text);
        let found = whole(&model.interp, NO_DEADLOCK).unwrap();
        assert!(!violated(&&model.interp, &NO_DEADLOCK, &found).is_empty(), "{text}");
        without_boring(&model.interp, NO_DEADLOCK, &[]);
    }
    // Or it begins again.
    let wraps = Options { overflow: Some(OverflowRule::Wraps), ..Options::default() };
    let text = waits("byte n = 255;", "effect n = n + 2;", "n != 1");
    let model = load_with("dve", &text, wraps);
    one_is_explored(&model.interp, NO_DEADLOCK);
    let promela = [
        // It is counted as often as it is.
        "byte x; chan b = [1] of { byte }; active proctype W() { d_step { b!1; do :: x < 3 -> x++ :: else -> break od } }
        active proctype V() { assert(x != 3) }",
        // It is set only if something else is.
        "byte x; byte y; chan b = [1] of { byte }; active proctype W() { d_step { b!1; if :: y -> x = 1 :: else fi }; assert(x == 1) }
        active proctype V() { y = 1 }",
        // Where somebody is that comes and goes.
        "byte x; chan b = [4] of { byte }; proctype W() { b!1; x++; b!1; assert(x != 2) } init { run W(); run W() }",
    ];
    for text in promela {
        let model = load("promela", text);
        let found = whole(&model.interp, NO_DEADLOCK).unwrap();
        assert!(!violated(&&model.interp, &NO_DEADLOCK, &found).is_empty(), "{text}");
        without_boring(&model.interp, NO_DEADLOCK, &[]);
    }
}

/// In Promela and Murphi, too.
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
fn random_programs_are_found_alike() {
    let (fewer, sooner) = (Cell::new(0), Cell::new(0));
    let count = if is_large() { 5000 } else { 50 };
    try_all(count, programs(), |Generated(program)| {
        let Ok(interp) = Interp::new(program) else { return Ok(()) };
        for checks in [CheckSelection::ALL, NO_DEADLOCK, STATES_ALONE] {
            let both = without_boring(&interp, checks, &[]);
            fewer.set(fewer.get() + u32::from(both.is_some_and(|it| it.1 < it.0)));
            let earlier = with_doomed(&interp, checks);
            sooner.set(sooner.get() + u32::from(earlier.is_some_and(|it| it > 0)));
        }
        Ok(())
    });
    println!("{} with fewer states, {} found sooner", fewer.get(), sooner.get());
    assert!(fewer.get() > 0);
}

/// Two processes with a clock and flags, of which some come to an end.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte t; byte g; byte h; channel {byte} c[0]; channel {byte} b[1];\n".to_owned();
    for process in ["P", "Q"] {
        let _ = writeln!(text, "process {process} {{ byte k; state s0, s1, s2, s3, s4; init s0;");
        let asserted = random.below(5);
        let _ = writeln!(text, "assert s{asserted}: {};", question(random));
        text.push_str("trans\n");
        let edges = 4 + random.below(5);
        for number in 0..edges {
            let from = random.below(5);
            let to = if random.below(4) == 0 { random.below(5) } else { (from + 1).min(4) };
            let guard = match random.below(2) {
                0 => String::new(),
                _ => format!("guard {};", question(random)),
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

fn question(random: &mut Random) -> String {
    let bound = random.below(6);
    match random.below(6) {
        0 => format!("g == {}", random.below(2)),
        1 => format!("h == {}", random.below(2)),
        2 => format!("k <= {bound}"),
        3 => format!("t > {bound}"),
        _ => format!("t <= {}", one(random, &["2", "3", "5", "6"])),
    }
}

#[test]
fn random_models_are_found_alike() {
    let mut random = Random::new(47);
    let (mut fewer, mut sooner) = (0, 0);
    for _ in 0..if is_large() { 5000 } else { 50 } {
        let text = random_model(&mut random);
        let model = load("dve", &text);
        for checks in [CheckSelection::ALL, NO_DEADLOCK, STATES_ALONE] {
            let both = without_boring(&model.interp, checks, &[]);
            fewer += u32::from(both.is_some_and(|it| it.1 < it.0));
            sooner += u32::from(with_doomed(&model.interp, checks).is_some_and(|it| it > 0));
        }
    }
    println!("{fewer} with fewer states, {sooner} found sooner");
    assert!(fewer > 10 && sooner > 5, "{fewer}, {sooner}");
}

/// Our models up to so many states.
#[test]
fn models_are_found_alike() {
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
                let both = without_boring(&model.interp, checks, &[]);
                let sooner = with_doomed(&model.interp, checks);
                if both.is_some() || sooner.is_some() {
                    println!("{}: {both:?} {sooner:?}", file.display());
                }
            }
        }
    }
}

/// Who has fallen once comes through five more places to an assertion that does not hold, whatever the others do. Others count
/// on, so that there are many states on the way.
const FALLS: &str = "byte n; byte m; process P { state up, a, b, d, e, f; init up; assert f: n > 12;
    trans up -> a { guard n == 2; }, a -> b {}, b -> d { effect m = 1; }, d -> e {}, e -> f { guard m == 1; }; }
    process Q { state q; init q; trans q -> q { guard n < 12; effect n = n + 1; }; }
    process R { byte k; state r; init r; trans r -> r { effect k = (k + 1) % 5; }; } system async;";

#[test]
fn an_error_that_nobody_prevents_is_walked_to() {
    let model = load("dve", FALLS);
    // Two steps of Q, one to fall, and four more. Q can take its two, so the first state is doomed.
    let all = whole(&model.interp, NO_DEADLOCK).unwrap();
    assert_eq!(all.findings.iter().map(|it| it.1.level).collect::<Vec<_>>(), [7]);
    assert_eq!(with_doomed(&model.interp, NO_DEADLOCK), Some(6));
    // Where Q need not, as another decides, only who has fallen is.
    let waits = FALLS
        .replace("guard n < 12;", "guard n < 12 and g == 1;")
        .replace("byte n;", "byte n; byte g;");
    let waits = waits.replace("effect k =", "effect g = 1 - g, k =");
    let sooner = with_doomed(&load("dve", &waits).interp, NO_DEADLOCK);
    assert!(sooner.is_some_and(|it| it > 0), "{sooner:?}");
}

/// Who has fallen comes to the last place in any case, but what he finds there depends on a number of which too little is known.
#[test]
fn what_may_end_well_is_not_walked_to() {
    let text = "int n; byte m; process P { state up, a, b, d, e; init up; assert e: n > 7;
        trans up -> a {}, a -> b {}, b -> d {}, d -> e {}; }
        process Q { state q; init q; trans q -> q { guard m < 6; effect m = m + 1, n = n + 2; }; } system async;";
    let model = load("dve", text);
    assert!(whole(&model.interp, NO_DEADLOCK).unwrap().states() == 5 * 7);
    assert!(with_doomed(&model.interp, NO_DEADLOCK).is_none_or(|it| it == 0));
}

/// Three lines of processes end: all runs end, and the first state tells so.
#[test]
fn a_deadlock_that_all_runs_end_in_is_walked_to() {
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
        |loops: [&str; 3]| with_doomed(&load("dve", &lines(loops)).interp, CheckSelection::ALL);
    assert_eq!(sooner([""; 3]), Some(8));
    // One that may go round at its first place only is doomed as soon as it has left it.
    assert_eq!(sooner([", a -> a {}", "", ""]), Some(7));
    // Who goes round at the end is never stuck; who does so on what falls, or with nobody, is.
    assert_eq!(sooner([", e -> e {}", "", ""]), None);
    assert_eq!(sooner([", a -> a { guard n > 0; effect n = n - 1; }", "", ""]), Some(8));
    assert_eq!(sooner([", a -> a { guard n > 0; effect n = 9 - n; }", "", ""]), Some(7));
    assert_eq!(sooner([", a -> a { guard n > 0; effect n = n - 0; }", "", ""]), Some(7));
    assert_eq!(sooner([", a -> a { sync c!1; }", "", ""]), Some(8));
    // Whoever it meets there goes on and does not come back.
    assert_eq!(sooner([", a -> a { sync c!1; }", ", a -> b { sync c?n; }", ""]), Some(8));
    // Who counts to an end, but does so only where it has begun, goes round where it has not.
    let counts = lines([", a -> a { guard n < 20; effect n = n + 1; }", "", ""]).replace(
        "system",
        "process When { state w, v; init w; trans w -> v { guard n > 10; }; } system",
    );
    assert_eq!(with_doomed(&load("dve", &counts).interp, CheckSelection::ALL), Some(8));
    let sometimes = only_where(&counts, "P.a -> a", "When.w -> v");
    assert_eq!(with_doomed(&sometimes, CheckSelection::ALL), Some(7));
    // Nothing is said where all move at once, or of rules that belong to nobody.
    let at_once = lines([""; 3]).replace("async", "sync").replace("c[0]", "c[1]");
    assert_eq!(with_doomed(&load("dve", &at_once).interp, CheckSelection::ALL), None);
    let rule = "var x: 0..3; startstate x := 0; end; rule x < 3 ==> x := x + 1; end;";
    assert_eq!(with_doomed(&load("murphi", rule).interp, CheckSelection::ALL), None);
    // Where two meet there, both have to leave.
    assert_eq!(sooner([", a -> a { sync c!1; }", ", a -> a { sync c?n; }", ""]), Some(6));
}

/// In Promela all processes may be where they may end: that is no deadlock.
#[test]
fn a_valid_end_is_not_walked_to() {
    let text = |last: &str| {
        format!(
            "byte x; active proctype P() {{ x = 1; x = 2; x = 3; {last} }} active proctype Q() {{ skip; skip; skip }}"
        )
    };
    let sooner =
        |last: &str| with_doomed(&load("promela", &text(last)).interp, CheckSelection::ALL);
    assert_eq!(sooner("skip"), None);
    // P takes three steps, Q three and one to end: from the first state they are one.
    assert_eq!(sooner("x == 9"), Some(6));
    assert_eq!(sooner("end: x == 9"), None);
    // Who may be stuck and is not, ends well.
    assert!(sooner("if :: x == 3 -> x == 9 :: x == 3 -> skip; skip fi").is_some_and(|it| it > 0));
}

/// Who counts and begins again goes round, and so does who is still to be started.
#[test]
fn who_may_go_round_is_not_doomed() {
    let sooner = |text: &str| with_doomed(&load("promela", text).interp, CheckSelection::ALL);
    let counts = "unsigned n : 2; byte x; active proctype P() { do :: n++ :: break od; x == 9 }
        active proctype Q() { skip; skip; skip }";
    // One step to leave the loop; the three of Q and its end are one then.
    assert_eq!(sooner(counts), Some(3));
    // Who counts only sometimes goes round the other times.
    let sometimes = counts.replace("unsigned n : 2", "int n");
    let sometimes = sometimes.replace("n++", "d_step { if :: x > 0 -> n++ :: else -> skip fi }");
    assert_eq!(sooner(&sometimes), Some(3));
    let starts = "byte x; proctype W() { do :: x = 1 - x od } active proctype P() { x == 9 }
        init { skip; skip; skip; run W() }";
    assert_eq!(sooner(starts).unwrap_or_default(), 0);
    let starts = starts.replace(":: x = 1 - x", ":: x = 1 - x :: x > 1 -> break");
    assert_eq!(sooner(&starts).unwrap_or_default(), 0);
}

/// Where too many cells ask to be kept: whoever of all processes is not kept may be stuck where the others have come to valid
/// ends.
#[test]
fn who_is_not_kept_may_be_stuck() {
    let deadlock = CheckSelection { deadlock: true, ..CheckSelection::NONE };
    for stuck in 0..12 {
        let follows = |it: u32| if it + 1 == stuck { it + 2 } else { it + 1 };
        let first = u32::from(stuck == 0);
        let process = |it: u32| match it == stuck {
            true => format!("active proctype P{it}() {{ turn == 20 }}"),
            false => {
                let next = follows(it);
                format!("active proctype P{it}() {{ turn == {it}; skip; turn = {next} }}")
            }
        };
        let processes: Vec<String> = (0..12).map(process).collect();
        let text = format!("byte turn = {first}; {}", processes.join("\n"));
        let model = load("promela", &text);
        one_is_explored(&model.interp, deadlock);
    }
}

/// Where there are too many steps to look at, anything may be reached from anywhere.
#[test]
fn what_many_steps_may_reach_is_explored() {
    let text = "var a: 0..99; b: 0..99; c: 0..300; d: 0..300;
        startstate a := 0; b := 0; c := 0; d := 0; end;
        rule c < 300 & d < 300 ==> c := c + 1; d := d + 1; a := (c * d) % 100; b := (c * 3) % 100; end;
        invariant \"here\" a != 0 | b != 50;";
    let model = load("murphi", text);
    one_is_explored(&model.interp, NO_DEADLOCK);
}

/// What a search for anything but deadlocks comes to.
fn checked(model: &TextModel, reduce: ReductionConfig) -> CheckResult<'_> {
    Check::of_text(model)
        .reduce(reduce)
        .memory(memory_beside_tests(512))
        .checks(NO_DEADLOCK)
        .run()
        .unwrap()
}

/// Fewer states are visited until something is found; what is kept is said, and they stand beside no claim.
#[test]
fn a_search_is_over_sooner_by_them() {
    // Who gives up counts on for long, and nothing comes of it.
    let gives_up = "byte n; process P { byte k; state p, q, r; init p; assert r: n < 100;
        trans p -> p { guard n < 100; effect n = n + 1; }, p -> q {}, p -> r { guard n == 100; },
        q -> q { guard k < 200; effect k = k + 1; }; } system async;";
    let reduce = ReductionConfig::from(ReductionPlan::of(["boring"]));
    let model = load("dve", gives_up);
    let (whole, left) = (checked(&model, ReductionConfig::none()), checked(&model, reduce));
    let depth = |found: &CheckResult| found.counterexample().unwrap().unwrap().depth();
    assert_eq!((depth(&whole), depth(&left)), (101, 101));
    assert_eq!(left.states(), 102);
    assert!(whole.states() > 2000);
    let model = load("dve", FALLS);
    let doomed = ReductionConfig::from(ReductionPlan::of(["doomed"]));
    let (whole, left) = (checked(&model, ReductionConfig::none()), checked(&model, doomed));
    assert_eq!(
        (whole.verdict(), left.verdict()),
        (SearchVerdict::Violated, SearchVerdict::Violated)
    );
    assert_eq!((depth(&whole), depth(&left)), (7, 7));
    assert!(left.states() < whole.states());
    let pruned = |name: &str, text: &str| {
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
        assert_eq!(pruned(pruning, claimed), "the search is of a product with a claim");
    }
    let kept = BoringStates::of(
        &load("dve", CLOCK).interp,
        NO_DEADLOCK,
        &Vec::new(),
        &AnalysisBudget::largest(),
    )
    .unwrap()
    .traits()
    .preserves;
    assert!(
        [
            PropertyClass::Deadlocks,
            PropertyClass::Invariants,
            PropertyClass::StepErrors,
            PropertyClass::Depth
        ]
        .iter()
        .all(|it| kept.has(*it))
    );
    assert!(!kept.has(PropertyClass::Claims) && !kept.has(PropertyClass::StutterInvariant));
    let kept =
        DoomedStates::of(&load("dve", FALLS).interp, NO_DEADLOCK, &AnalysisBudget::largest())
            .unwrap()
            .traits()
            .preserves;
    assert!(
        [PropertyClass::Deadlocks, PropertyClass::Invariants, PropertyClass::StepErrors]
            .iter()
            .all(|it| kept.has(*it))
    );
    assert!(!kept.has(PropertyClass::Depth) && !kept.has(PropertyClass::Claims));
}
