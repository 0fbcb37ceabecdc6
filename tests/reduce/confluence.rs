//! Confluent transitions: they satisfy the definition in every state. The violations are the same under every cycle
//! proviso, and each condition has a model that needs it.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::merge::{Choices, dve, promela, try_random};
use crate::support::follow::{ALL, load};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both;
use crate::support::reductions::{by_way, by_way_for, rewritings};
use crate::support::{is_large, stored};
use proptest::prelude::*;
use spillway::Check;
use spillway::analysis::instances::InstanceId;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, SelectiveStateSpace};
use spillway::model::{StateSpace as _, SuccessorSink, SystemDescription as _, Violation, memory};
use spillway::reduce::PropertyClass;
use spillway::reduce::partial_order::{
    CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy,
};
use spillway::reduce::{ParameterValues, ReductionConfig};
use spillway::search::{CheckSelection, SearchLimits, SearchOutcome};
use spillway::session::TextModel;
use std::collections::{BTreeMap, BTreeSet};

const MAP: PartialOrderStrategy =
    PartialOrderStrategy { method: PartialOrderMethod::Confluence, proviso: CycleProviso::Chains };
const DEADLOCKS: SearchLimits =
    SearchLimits { checks: CheckSelection { deadlock: true, ..CheckSelection::NONE }, ..ALL };

fn violated(outcome: &SearchOutcome) -> BTreeSet<Violation> {
    outcome.findings.iter().map(|(check, _)| check).collect()
}

/// Whether it gets stuck: other findings need not be told where nobody looks for them.
fn is_stuck(outcome: &SearchOutcome) -> bool {
    violated(outcome).contains(&Violation::Deadlock)
}

fn found(model: &TextModel, limits: &SearchLimits) -> SearchOutcome {
    memory::search(model.searched().model(), limits).unwrap()
}

fn ways() -> impl Iterator<Item = PartialOrderStrategy> {
    let methods = [PartialOrderMethod::Confluence, PartialOrderMethod::ConfluentConditional];
    methods.into_iter().flat_map(|method| {
        CycleProviso::ALL.map(|proviso| PartialOrderStrategy { method, proviso })
    })
}

/// What instances lead to in a state, by their numbers.
type Taken = BTreeMap<InstanceId, BTreeSet<Vec<u8>>>;

fn steps(selective: &dyn SelectiveStateSpace, width: usize, state: &[u8]) -> Taken {
    let mut sets = selective.instances().sets();
    selective.enabled(state, &mut sets).unwrap();
    let taken = sets.iter(0).map(|it| {
        let mut one = selective.instances().sets();
        one.clear(1);
        one.words_mut(0)[it.0 as usize / 64] |= 1 << (it.0 % 64);
        let mut after = Vec::new();
        let run = |out: &mut SuccessorSink| selective.expand_chosen(state, &one, out);
        let _ = SuccessorSink::collect(width, &mut after, run).unwrap();
        (it, after.chunks_exact(width).map(<[u8]>::to_vec).collect())
    });
    taken.collect()
}

/// That what is said to be confluent is so, in each state that is reached, if these are not many; how many there are, and
/// how many states have one.
fn is_confluent(model: &TextModel) -> Result<(usize, usize), TestCaseError> {
    let interp = &model.interp;
    let selector = interp.selector().unwrap();
    let own = Box::new(interp.selector().unwrap());
    let Ok(order) =
        PartialOrder::of(interp, own, MAP, &CheckSelection::default(), &AnalysisBudget::largest())
    else {
        return Ok((0, 0));
    };
    let confluent: BTreeSet<InstanceId> = order.confluent().into_iter().collect();
    let seen = |state: &[u8]| {
        let mut all = interp.violations(state);
        all.retain(|it| *it != Violation::Deadlock);
        all
    };
    let (mut open, mut met, mut taken) = (Vec::new(), BTreeSet::new(), 0);
    let _ = SuccessorSink::collect(interp.width(), &mut open, |out| interp.initial(out)).unwrap();
    let mut open: Vec<Vec<u8>> = open.chunks_exact(interp.width()).map(<[u8]>::to_vec).collect();
    while let Some(state) = open.pop() {
        if !met.insert(state.clone()) || met.len() > 3000 {
            continue;
        }
        let of = |state: &[u8]| steps(&selector, interp.width(), state);
        let here = of(&state);
        open.extend(here.values().flatten().cloned());
        for (t, ends) in here.iter().filter(|(t, _)| confluent.contains(t)) {
            prop_assert_eq!(ends.len(), 1, "{:?} has one step", t);
            taken += 1;
            let u = ends.first().unwrap();
            prop_assert_eq!(seen(&state), seen(u), "{:?} is not seen", t);
            let behind = of(u);
            for (a, ends) in here.iter().filter(|(a, _)| *a != t) {
                let again = behind.get(a);
                // One that fails, fails.
                prop_assert!(!ends.is_empty() || again.is_some_and(|it| it.is_empty()));
                for v in ends {
                    let on = of(v);
                    let mut ahead = on.iter().filter(|(t, _)| confluent.contains(t));
                    let mut ahead: BTreeSet<&Vec<u8>> =
                        ahead.by_ref().flat_map(|(_, it)| it).collect();
                    ahead.insert(v);
                    let closes = again.is_some_and(|it| it.iter().any(|w| ahead.contains(w)));
                    let is_hidden = seen(&state) == seen(v) && ahead.contains(u);
                    prop_assert!(closes || is_hidden, "{:?} and {:?} in {:?}", t, a, state);
                }
            }
        }
    }
    Ok((confluent.len(), taken))
}

/// That the same is found with confluent steps, in every way, by interpreter and compiled code alike, and is told in steps
/// of the model. Gives the states of both, as a map.
fn is_kept(language: &str, text: &str) -> Result<(u64, u64), TestCaseError> {
    let mut model = load(language, text);
    is_confluent(&model)?;
    let (whole, stuck) = (found(&model, &ALL), found(&model, &DEADLOCKS));
    let mut left = whole.states();
    for way in ways() {
        model = model.with_plan(by_way_for(way, CheckSelection::default()));
        let reduced = found(&model, &ALL);
        prop_assert_eq!(violated(&reduced), violated(&whole), "{:?} {}", way, text);
        let searched = model.searched();
        if searched.model().capabilities().simulation.is_some() {
            stored::replayed(searched.model(), &reduced, &ALL);
        }
        if way == MAP {
            left = reduced.states();
        }
        drop(searched);
        model = model.with_plan(by_way_for(way, DEADLOCKS.checks));
        prop_assert_eq!(
            is_stuck(&found(&model, &DEADLOCKS)),
            is_stuck(&stuck),
            "{:?} {}",
            way,
            text
        );
    }
    for proviso in [CycleProviso::Static, CycleProviso::Chains] {
        let way = PartialOrderStrategy { proviso, ..MAP };
        let reduce = ReductionConfig::from(by_way(way));
        let by = |exec| {
            let check =
                Check::of_text(&model).reduce(reduce.clone()).memory(memory_beside_tests(512));
            check.exec(exec).keep_going().run().unwrap().outcome().clone()
        };
        prop_assert_eq!(by(ExecutionMode::Jit), by(ExecutionMode::Interp));
    }
    Ok((whole.states(), left))
}

/// Diamonds that close though the steps are dependent: they write the same, one makes up for the other, or one leads on to
/// where the other does. All but the first state is passed by, or stands for what comes behind.
const CLOSED: &[(&str, &str, u64)] = &[
    (
        "two lead to one state",
        "process P { byte x; state a, b, c; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2 - 1; }, b -> c { }; } system async;",
        2,
    ),
    (
        "they commute by value",
        "byte g; process P { state a, b; init a; trans a -> b { effect g = g | 1; }; }
        process Q { state a, b; init a; trans a -> b { effect g = g | 2; }; }
        process R { state a, b; init a; trans a -> b { effect g = g | 4; }; } system async;",
        2,
    ),
    (
        "one makes up for the other",
        "process P { byte x; state a; init a; trans a -> a { guard x == 0; effect x = 1; },
        a -> a { guard x < 2; effect x = 2; }; } system async;",
        2,
    ),
    (
        "a detour",
        "process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; }, a -> c { },
        c -> b { effect x = 1; }; } system async;",
        2,
    ),
];

#[test]
fn diamonds_close_by_value() {
    for (name, text, left) in CLOSED {
        let (whole, found) = is_kept("dve", text).unwrap();
        assert!(*left < whole && found == *left, "{name}: {found} of {whole}");
    }
}

/// Models each of which does something wrong that is lost, or told where it is not, without one of the conditions.
const SEEN: &[(&str, &str)] = &[
    ("a step that is asserted about", "byte g; process P { state a, b; init a; trans a -> b { effect g = 1; }; }
        process Q { state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
    ("a step that takes a guard from another", "byte g; process P { state a, b; init a; trans a -> b { effect g = 1; }; }
        process Q { byte y; state a, b, c; init a; trans a -> b { guard g == 0; }, b -> c { effect y = 1 / y; }; }
        system async;"),
    ("a failing transition", "byte g; process P { byte x; state a, b; init a; trans a -> b { effect x = 1 / x; }; }
        process Q { state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
    ("a circle of confluent steps", "byte g; process P { byte x; state a, b; init a; trans a -> b { }, b -> a { }; }
        process Q { state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
    ("a circle that another makes up for, and a deadlock behind it", "process P { byte x; state a; init a;
        trans a -> a { guard x < 2; effect x = 1 - x; }, a -> a { guard x < 2; effect x = 2; }; } system async;"),
    ("values that commute some times only", "byte g = 3; process P { state a, b; init a; trans a -> b { effect g = g | 1; }; }
        process Q { byte y; state a, b, c, d; init a; trans a -> b { effect g = g ^ 1; }, b -> c { guard g == 3; },
        c -> d { effect y = 1 / y; }; } system async;"),
    ("a detour that is seen", "byte g; process P { byte x; state a, b, c, d; init a; assert c: g == 1; trans a -> b { effect x = 1; },
        a -> c { }, c -> b { effect x = 1; }; } system async;"),
    ("a detour that writes what another reads", "byte g; process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; },
        a -> c { }, c -> b { effect x = 1, g = 1; }; }
        process Q { byte y; state a, b, c; init a; trans a -> b { guard g == 1; }, b -> c { effect y = 1 / y; }; } system async;"),
    ("one that begins where two may go", "byte g; process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; },
        a -> c { effect x = 2; }; } process Q { byte y; state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
];

#[test]
fn what_is_wrong_is_found() {
    for (name, text) in SEEN {
        let model = load("dve", text);
        assert!(!violated(&found(&model, &ALL)).is_empty(), "{name}");
        is_kept("dve", text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// In Promela nothing is tried by value, but who waits until nothing else is possible is in nobody's way; rules in Murphi
/// are tried, and a step back to where it began is none.
#[test]
fn other_languages_have_confluent_steps() {
    let text = "byte g; active proctype P() { byte x; x = 1; x = 2; g = 1 }
        active proctype Q() { byte y; y = 1; y = 2; timeout -> assert(g == 0) }";
    let (whole, left) = is_kept("promela", text).unwrap();
    assert!(left < whole, "{left} of {whole}");
    // A sequence that ends in two states is no single step.
    let text =
        "byte g; active proctype P() { byte x; atomic { x = 1; if :: x = 2 :: x = 3 fi }; g = x }
        active proctype Q() { byte y; y = 1; assert(g < 3) }";
    is_kept("promela", text).unwrap();
    let text = "var x, y: 0..3; startstate x := 0; y := 0; end;
        rule \"x\" x < 2 ==> x := 2; end; rule \"too\" x < 2 ==> x := 3 - 1; end; rule \"none\" x = 3 ==> x := 3; end;
        rule \"y\" y < 3 ==> y := y + 1; end; rule \"again\" x = 2 & y = 3 ==> y := 3; end;
        invariant \"y\" y < 3;";
    let (whole, left) = is_kept("murphi", text).unwrap();
    assert!(left < whole, "{left} of {whole}");
}

/// Two processes that write the same now and then, in several ways.
fn alike(numbers: &[u8]) -> String {
    let mut choices = Choices(numbers.iter());
    let mut text = String::from("byte g, h;\n");
    let effects = [
        "g = g | 1",
        "g = g | 2",
        "g = 1",
        "g = 2 - 1",
        "h = 1 - h % 2",
        "x = 1",
        "x = 2 - x % 2",
        "x = 0",
        "g = (g + 1) % 3",
        "g = g & 1",
        "h = 0",
        "x = 1, g = 1",
        "h = h",
        "x = g",
    ];
    for name in ["P", "Q"] {
        let count = 1 + choices.below(4);
        let names: Vec<_> = (0..count).map(|it| format!("s{it}")).collect();
        let asserted =
            choices.one(&["", "assert s0: h < 2;", "assert s0: x != 2;", "assert s0: g != 3;"]);
        let steps: Vec<_> = (0..2 + choices.below(5))
            .map(|_| {
                let (from, to) = (choices.below(count), choices.below(count));
                let guard = choices.one(&[
                    "",
                    "",
                    "",
                    "guard x == 0;",
                    "guard g == 0;",
                    "guard x < 2;",
                    "guard h == 1;",
                    "guard g < 3;",
                ]);
                format!("s{from} -> s{to} {{ {guard} effect {}; }}", choices.one(&effects))
            })
            .collect();
        let (names, steps) = (names.join(", "), steps.join(",\n  "));
        text += &format!(
            "process {name} {{ byte x; state {names}; init s0; {asserted} trans\n  {steps}; }}\n"
        );
    }
    text + "system async;"
}

/// That random models are found to be as they are, and many have fewer states.
fn try_kept(cases: u32, language: &str, text: fn(&[u8]) -> String) {
    let cases = if is_large() { 40 * cases } else { cases };
    try_random((cases, 8), text, |text| is_kept(language, text));
}

#[test]
fn random_models_that_write_alike_are_found_as_they_are() {
    try_kept(150, "dve", alike);
}

#[test]
fn random_models_in_dve_are_found_as_they_are() {
    try_kept(60, "dve", dve);
}

#[test]
fn random_models_in_promela_are_found_as_they_are() {
    try_kept(60, "promela", promela);
}

/// It goes together with passes that rewrite the program, and with symmetry, where it is by levels.
#[test]
fn it_stacks() {
    let models = SEEN.iter().map(|(_, text)| *text).chain(CLOSED.iter().map(|(_, text, _)| *text));
    for text in models {
        let model = load("dve", text);
        let whole = violated(&found(&model, &ALL));
        for way in ways() {
            for processes in [false, true] {
                let mut reduce = both(&rewritings(), &by_way(way));
                if processes {
                    reduce = reduce.with("symmetry", ParameterValues::default());
                }
                let check = Check::of_text(&model)
                    .reduce(reduce)
                    .memory(memory_beside_tests(512))
                    .keep_going();
                let kind = |it: &Violation| format!("{it:?}").chars().take(6).collect::<String>();
                let kinds =
                    |all: &BTreeSet<Violation>| all.iter().map(kind).collect::<BTreeSet<_>>();
                let run = check.run().unwrap();
                assert_eq!(kinds(&violated(run.outcome())), kinds(&whole), "{way:?} {text}");
                if !whole.is_empty() {
                    assert!(run.counterexample().unwrap().is_some());
                }
            }
        }
    }
}

/// It says what it keeps and did; beside a claim, or where there is nothing for it, it is left out by name.
#[test]
fn it_says_what_it_keeps_and_did() {
    let text = "byte g; active proctype P() { byte x; do :: g = 1; x = 1; x = 0 od } active proctype Q() { byte y; y = 1; g = 0 }";
    let order = |text: &str, way| {
        load("promela", text).with_plan(by_way_for(way, CheckSelection::default()))
    };
    let model = order(text, MAP);
    let searched = model.searched();
    let preserved = searched.stack().preserves();
    let kept: Vec<_> = PropertyClass::ALL.into_iter().filter(|it| preserved.has(*it)).collect();
    assert_eq!(
        kept,
        [PropertyClass::Deadlocks, PropertyClass::StepErrors, PropertyClass::Invariants]
    );
    let told = &searched.stack().summaries(&Default::default())[0];
    assert_eq!((told.name.as_str(), told.proviso), ("confluence", Some("chains")));
    assert!(
        told.effect.as_ref().unwrap().starts_with("4 action instances confluent; "),
        "{told:?}"
    );
    for way in ways() {
        let model = order(&format!("{text} never {{ do :: g == 1 -> break :: else od }}"), way);
        assert!(
            model.searched().stack().refusals()[0]
                .reason
                .to_string()
                .contains("observes every state")
        );
        let model = order("byte g; active [2] proctype P() { do :: g = 1 - g od }", way);
        let searched = model.searched();
        let [refused] = searched.stack().refusals() else {
            panic!("{:?}", searched.stack().refusals())
        };
        assert_eq!(refused.name, "confluence");
        let left = searched.stack().names(&[spillway::reduce::ReductionKind::Choice]);
        let is_alone = way.method == PartialOrderMethod::Confluence;
        assert_eq!(
            left,
            if is_alone { vec![] } else { vec!["partial order conditional".to_owned()] }
        );
    }
}

/// A search keeps how it takes confluent steps, and one that does not agree is refused.
#[test]
fn a_search_that_goes_on_takes_them_as_it_did() {
    let text = "int n; process P { byte x; state a, b; init a; trans a -> b { guard n < 100; effect n = n + 1; },
        b -> a { effect x = 0; }, a -> b { guard n == 100; effect n = 101; }; }
        process Q { state q; init q; assert q: n < 101; trans q -> q { guard n > 101; }; } system async;";
    let model = load("dve", text);
    let folder = tempfile::tempdir().unwrap();
    for way in ways() {
        let kept = by_way(way).selection;
        assert_eq!(PartialOrderStrategy::of_chosen(|name| kept.get(name)), Some(way));
        let reduce = ReductionConfig::from(by_way(way));
        let check = |reduce| Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512));
        let dir = folder.path().join(format!("{way:?}"));
        drop(check(reduce.clone()).dir(&dir).max_states(10).run().unwrap());
        assert!(check(ReductionConfig::none()).dir(&dir).run().is_err());
        let whole = check(reduce.clone()).run().unwrap();
        assert_eq!(violated(whole.outcome()), BTreeSet::from([Violation::Property(0)]));
        assert_eq!(check(reduce).dir(&dir).run().unwrap().outcome(), whole.outcome());
    }
}
