//! Confluent transitions: they satisfy the definition in every state. The violations are the same under every cycle
//! proviso, and each condition has a model that needs it.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::merge::{Choices, random_dve_model, random_promela_model, try_random};
use crate::support::lockstep::{ALL, load};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both;
use crate::support::reductions::{
    partial_order_plan, partial_order_plan_for, preserved_classes, rewritings,
};
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

const CONFLUENCE_BY_CHAINS: PartialOrderStrategy =
    PartialOrderStrategy { method: PartialOrderMethod::Confluence, proviso: CycleProviso::Chains };
const DEADLOCKS: SearchLimits =
    SearchLimits { checks: CheckSelection { deadlock: true, ..CheckSelection::NONE }, ..ALL };

fn violations_of(outcome: &SearchOutcome) -> BTreeSet<Violation> {
    outcome.findings.iter().map(|(check, _)| check).collect()
}

/// Returns whether a deadlock was found. Other violations need not be reported if they are not checked.
fn has_deadlock(outcome: &SearchOutcome) -> bool {
    violations_of(outcome).contains(&Violation::Deadlock)
}

fn search_in_memory(model: &TextModel, limits: &SearchLimits) -> SearchOutcome {
    memory::search(model.searched().model(), limits).unwrap()
}

fn strategies() -> impl Iterator<Item = PartialOrderStrategy> {
    let methods = [PartialOrderMethod::Confluence, PartialOrderMethod::ConfluentConditional];
    methods.into_iter().flat_map(|method| {
        CycleProviso::ALL.map(|proviso| PartialOrderStrategy { method, proviso })
    })
}

/// The successors of a state, by action instance.
type SuccessorsByInstance = BTreeMap<InstanceId, BTreeSet<Vec<u8>>>;

fn successors_by_instance(
    selective: &dyn SelectiveStateSpace,
    width: usize,
    state: &[u8],
) -> SuccessorsByInstance {
    let mut sets = selective.instances().sets();
    selective.enabled(state, &mut sets).unwrap();
    let successors = sets.iter(0).map(|instance| {
        let mut chosen = selective.instances().sets();
        chosen.clear(1);
        chosen.words_mut(0)[instance.0 as usize / 64] |= 1 << (instance.0 % 64);
        let mut after = Vec::new();
        let run = |out: &mut SuccessorSink| selective.expand_chosen(state, &chosen, out);
        let _ = SuccessorSink::collect(width, &mut after, run).unwrap();
        (instance, after.chunks_exact(width).map(<[u8]>::to_vec).collect())
    });
    successors.collect()
}

/// Checks the definition of confluence in up to 3000 reachable states. Returns the number of confluent instances, and
/// how often one was enabled.
fn check_confluence(model: &TextModel) -> Result<(usize, usize), TestCaseError> {
    let interp = &model.interp;
    let selector = interp.selector().unwrap();
    let reduction_selector = Box::new(interp.selector().unwrap());
    let Ok(order) = PartialOrder::of(
        interp,
        reduction_selector,
        CONFLUENCE_BY_CHAINS,
        &CheckSelection::default(),
        &AnalysisBudget::largest(),
    ) else {
        return Ok((0, 0));
    };
    let confluent: BTreeSet<InstanceId> = order.confluent().into_iter().collect();
    let observed = |state: &[u8]| {
        let mut all = interp.violations(state);
        all.retain(|it| *it != Violation::Deadlock);
        all
    };
    let (mut open, mut reached, mut enabled) = (Vec::new(), BTreeSet::new(), 0);
    let _ = SuccessorSink::collect(interp.width(), &mut open, |out| interp.initial(out)).unwrap();
    let mut open: Vec<Vec<u8>> = open.chunks_exact(interp.width()).map(<[u8]>::to_vec).collect();
    while let Some(state) = open.pop() {
        if !reached.insert(state.clone()) || reached.len() > 3000 {
            continue;
        }
        let successors_of = |state: &[u8]| successors_by_instance(&selector, interp.width(), state);
        let successors = successors_of(&state);
        open.extend(successors.values().flatten().cloned());
        for (t, ends) in successors.iter().filter(|(t, _)| confluent.contains(t)) {
            prop_assert_eq!(ends.len(), 1, "{:?} has one step", t);
            enabled += 1;
            let u = ends.first().unwrap();
            prop_assert_eq!(observed(&state), observed(u), "{:?} is visible", t);
            let later = successors_of(u);
            for (a, ends) in successors.iter().filter(|(a, _)| *a != t) {
                let again = later.get(a);
                // An instance that fails still fails afterwards.
                prop_assert!(!ends.is_empty() || again.is_some_and(|it| it.is_empty()));
                for v in ends {
                    let after = successors_of(v);
                    let mut ahead = after.iter().filter(|(t, _)| confluent.contains(t));
                    let mut ahead: BTreeSet<&Vec<u8>> =
                        ahead.by_ref().flat_map(|(_, it)| it).collect();
                    ahead.insert(v);
                    let closes = again.is_some_and(|it| it.iter().any(|w| ahead.contains(w)));
                    let is_hidden = observed(&state) == observed(v) && ahead.contains(u);
                    prop_assert!(closes || is_hidden, "{:?} and {:?} in {:?}", t, a, state);
                }
            }
        }
    }
    Ok((confluent.len(), enabled))
}

/// Checks that every strategy keeps the violations, with both executors, and that counterexamples replay in the model.
/// Returns the numbers of states, all and by `CONFLUENCE_BY_CHAINS`.
fn check_verdicts_kept(language: &str, text: &str) -> Result<(u64, u64), TestCaseError> {
    let mut model = load(language, text);
    check_confluence(&model)?;
    let (full, deadlocks) = (search_in_memory(&model, &ALL), search_in_memory(&model, &DEADLOCKS));
    let mut reduced_states = full.states();
    for strategy in strategies() {
        model = model.with_plan(partial_order_plan_for(strategy, CheckSelection::default()));
        let reduced = search_in_memory(&model, &ALL);
        prop_assert_eq!(violations_of(&reduced), violations_of(&full), "{:?} {}", strategy, text);
        let searched = model.searched();
        if searched.model().capabilities().simulation.is_some() {
            stored::replay_in_all_stores(searched.model(), &reduced, &ALL);
        }
        if strategy == CONFLUENCE_BY_CHAINS {
            reduced_states = reduced.states();
        }
        drop(searched);
        model = model.with_plan(partial_order_plan_for(strategy, DEADLOCKS.checks));
        prop_assert_eq!(
            has_deadlock(&search_in_memory(&model, &DEADLOCKS)),
            has_deadlock(&deadlocks),
            "{:?} {}",
            strategy,
            text
        );
    }
    for proviso in [CycleProviso::Static, CycleProviso::Chains] {
        let strategy = PartialOrderStrategy { proviso, ..CONFLUENCE_BY_CHAINS };
        let reduce = ReductionConfig::from(partial_order_plan(strategy));
        let outcome_with = |exec| {
            let check =
                Check::of_text(&model).reduce(reduce.clone()).memory(memory_beside_tests(512));
            check.exec(exec).keep_going().run().unwrap().outcome().clone()
        };
        prop_assert_eq!(outcome_with(ExecutionMode::Jit), outcome_with(ExecutionMode::Interp));
    }
    Ok((full.states(), reduced_states))
}

/// Diamonds that close although the transitions are dependent. They write the same value, or one leads to the target of
/// the other. Two states remain.
const CLOSING_DIAMONDS: &[(&str, &str, u64)] = &[
    (
        "two transitions to one state",
        "process P { byte x; state a, b, c; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2 - 1; }, b -> c { }; } system async;",
        2,
    ),
    (
        "transitions that commute by value",
        "byte g; process P { state a, b; init a; trans a -> b { effect g = g | 1; }; }
        process Q { state a, b; init a; trans a -> b { effect g = g | 2; }; }
        process R { state a, b; init a; trans a -> b { effect g = g | 4; }; } system async;",
        2,
    ),
    (
        "a transition to the target of another",
        "process P { byte x; state a; init a; trans a -> a { guard x == 0; effect x = 1; },
        a -> a { guard x < 2; effect x = 2; }; } system async;",
        2,
    ),
    (
        "a path to the target of a transition",
        "process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; }, a -> c { },
        c -> b { effect x = 1; }; } system async;",
        2,
    ),
];

#[test]
fn diamonds_close_by_value() {
    for (name, text, expected) in CLOSING_DIAMONDS {
        let (full, reduced) = check_verdicts_kept("dve", text).unwrap();
        assert!(*expected < full && reduced == *expected, "{name}: {reduced} of {full}");
    }
}

/// Models with a violation that is lost, or reported wrongly, if one condition of confluence is omitted.
const CONDITION_MODELS: &[(&str, &str)] = &[
    ("a transition that changes an asserted variable", "byte g; process P { state a, b; init a; trans a -> b { effect g = 1; }; }
        process Q { state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
    ("a transition that disables another one", "byte g; process P { state a, b; init a; trans a -> b { effect g = 1; }; }
        process Q { byte y; state a, b, c; init a; trans a -> b { guard g == 0; }, b -> c { effect y = 1 / y; }; }
        system async;"),
    ("a failing transition", "byte g; process P { byte x; state a, b; init a; trans a -> b { effect x = 1 / x; }; }
        process Q { state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
    ("a cycle of confluent transitions", "byte g; process P { byte x; state a, b; init a; trans a -> b { }, b -> a { }; }
        process Q { state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
    ("a cycle, and a deadlock that another transition leads to", "process P { byte x; state a; init a;
        trans a -> a { guard x < 2; effect x = 1 - x; }, a -> a { guard x < 2; effect x = 2; }; } system async;"),
    ("transitions that commute in some states only", "byte g = 3; process P { state a, b; init a; trans a -> b { effect g = g | 1; }; }
        process Q { byte y; state a, b, c, d; init a; trans a -> b { effect g = g ^ 1; }, b -> c { guard g == 3; },
        c -> d { effect y = 1 / y; }; } system async;"),
    ("a visible path to the target of a transition", "byte g; process P { byte x; state a, b, c, d; init a; assert c: g == 1; trans a -> b { effect x = 1; },
        a -> c { }, c -> b { effect x = 1; }; } system async;"),
    ("a path that writes a variable that another process reads", "byte g; process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; },
        a -> c { }, c -> b { effect x = 1, g = 1; }; }
        process Q { byte y; state a, b, c; init a; trans a -> b { guard g == 1; }, b -> c { effect y = 1 / y; }; } system async;"),
    ("a location with two enabled transitions", "byte g; process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; },
        a -> c { effect x = 2; }; } process Q { byte y; state a, b; init a; assert b: g == 1; trans a -> b { }; } system async;"),
];

#[test]
fn condition_models_keep_their_violations() {
    for (name, text) in CONDITION_MODELS {
        let model = load("dve", text);
        assert!(!violations_of(&search_in_memory(&model, &ALL)).is_empty(), "{name}");
        check_verdicts_kept("dve", text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// In Promela, successors are not compared by value. A process that waits for `timeout` is independent of confluent
/// transitions. In Murphi, successors are compared, and a step back to its own state is none.
#[test]
fn confluent_transitions_exist_in_promela_and_murphi() {
    let text = "byte g; active proctype P() { byte x; x = 1; x = 2; g = 1 }
        active proctype Q() { byte y; y = 1; y = 2; timeout -> assert(g == 0) }";
    let (full, reduced) = check_verdicts_kept("promela", text).unwrap();
    assert!(reduced < full, "{reduced} of {full}");
    // A sequence that ends in two states is not deterministic.
    let text =
        "byte g; active proctype P() { byte x; atomic { x = 1; if :: x = 2 :: x = 3 fi }; g = x }
        active proctype Q() { byte y; y = 1; assert(g < 3) }";
    check_verdicts_kept("promela", text).unwrap();
    let text = "var x, y: 0..3; startstate x := 0; y := 0; end;
        rule \"x\" x < 2 ==> x := 2; end; rule \"too\" x < 2 ==> x := 3 - 1; end; rule \"none\" x = 3 ==> x := 3; end;
        rule \"y\" y < 3 ==> y := y + 1; end; rule \"again\" x = 2 & y = 3 ==> y := 3; end;
        invariant \"y\" y < 3;";
    let (full, reduced) = check_verdicts_kept("murphi", text).unwrap();
    assert!(reduced < full, "{reduced} of {full}");
}

/// Generates two processes that often write the same values.
fn colliding_writers(numbers: &[u8]) -> String {
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
            choices.choose(&["", "assert s0: h < 2;", "assert s0: x != 2;", "assert s0: g != 3;"]);
        let steps: Vec<_> = (0..2 + choices.below(5))
            .map(|_| {
                let (from, to) = (choices.below(count), choices.below(count));
                let guard = choices.choose(&[
                    "",
                    "",
                    "",
                    "guard x == 0;",
                    "guard g == 0;",
                    "guard x < 2;",
                    "guard h == 1;",
                    "guard g < 3;",
                ]);
                format!("s{from} -> s{to} {{ {guard} effect {}; }}", choices.choose(&effects))
            })
            .collect();
        let (names, steps) = (names.join(", "), steps.join(",\n  "));
        text += &format!(
            "process {name} {{ byte x; state {names}; init s0; {asserted} trans\n  {steps}; }}\n"
        );
    }
    text + "system async;"
}

/// Checks that random models keep their verdicts, and that several have fewer states.
fn try_random_models(cases: u32, language: &str, text: fn(&[u8]) -> String) {
    let cases = if is_large() { 40 * cases } else { cases };
    try_random((cases, 8), text, |text| check_verdicts_kept(language, text));
}

#[test]
fn random_models_with_equal_writes_keep_their_verdicts() {
    try_random_models(150, "dve", colliding_writers);
}

#[test]
fn random_dve_models_keep_their_verdicts() {
    try_random_models(60, "dve", random_dve_model);
}

#[test]
fn random_promela_models_keep_their_verdicts() {
    try_random_models(60, "promela", random_promela_model);
}

/// Confluence combines with rewritings of the program, and with symmetry, where the proviso is by levels.
#[test]
fn confluence_combines_with_rewritings_and_symmetry() {
    let models = CONDITION_MODELS
        .iter()
        .map(|(_, text)| *text)
        .chain(CLOSING_DIAMONDS.iter().map(|(_, text, _)| *text));
    for text in models {
        let model = load("dve", text);
        let expected = violations_of(&search_in_memory(&model, &ALL));
        for strategy in strategies() {
            for with_symmetry in [false, true] {
                let mut reduce = both(&rewritings(), &partial_order_plan(strategy));
                if with_symmetry {
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
                assert_eq!(
                    kinds(&violations_of(run.outcome())),
                    kinds(&expected),
                    "{strategy:?} {text}"
                );
                if !expected.is_empty() {
                    assert!(run.counterexample().unwrap().is_some());
                }
            }
        }
    }
}

/// The summary gives the preserved properties and the effect. With a claim, or without confluent transitions, the
/// reduction is refused by name.
#[test]
fn confluence_reports_preserved_properties_effect_and_refusals() {
    let text = "byte g; active proctype P() { byte x; do :: g = 1; x = 1; x = 0 od } active proctype Q() { byte y; y = 1; g = 0 }";
    let with_strategy = |text: &str, strategy| {
        load("promela", text).with_plan(partial_order_plan_for(strategy, CheckSelection::default()))
    };
    let model = with_strategy(text, CONFLUENCE_BY_CHAINS);
    let searched = model.searched();
    assert_eq!(
        preserved_classes(searched.stack().preserves()),
        [PropertyClass::Deadlocks, PropertyClass::StepErrors, PropertyClass::Invariants]
    );
    let summary = &searched.stack().summaries(&Default::default())[0];
    assert_eq!((summary.name.as_str(), summary.proviso), ("confluence", Some("chains")));
    assert!(
        summary.effect.as_ref().unwrap().starts_with("4 action instances confluent; "),
        "{summary:?}"
    );
    for strategy in strategies() {
        let model = with_strategy(
            &format!("{text} never {{ do :: g == 1 -> break :: else od }}"),
            strategy,
        );
        assert!(
            model.searched().stack().refusals()[0]
                .reason
                .to_string()
                .contains("observes every state")
        );
        let model =
            with_strategy("byte g; active [2] proctype P() { do :: g = 1 - g od }", strategy);
        let searched = model.searched();
        let [refused] = searched.stack().refusals() else {
            panic!("{:?}", searched.stack().refusals())
        };
        assert_eq!(refused.name, "confluence");
        let remaining = searched.stack().names(&[spillway::reduce::ReductionKind::Choice]);
        let is_alone = strategy.method == PartialOrderMethod::Confluence;
        assert_eq!(
            remaining,
            if is_alone { vec![] } else { vec!["partial order conditional".to_owned()] }
        );
    }
}

/// A search directory keeps the strategy, and rejects a search without it.
#[test]
fn a_resumed_search_keeps_confluence() {
    let text = "int n; process P { byte x; state a, b; init a; trans a -> b { guard n < 100; effect n = n + 1; },
        b -> a { effect x = 0; }, a -> b { guard n == 100; effect n = 101; }; }
        process Q { state q; init q; assert q: n < 101; trans q -> q { guard n > 101; }; } system async;";
    let model = load("dve", text);
    let folder = tempfile::tempdir().unwrap();
    for strategy in strategies() {
        let selection = partial_order_plan(strategy).selection;
        assert_eq!(PartialOrderStrategy::of_chosen(|name| selection.get(name)), Some(strategy));
        let reduce = ReductionConfig::from(partial_order_plan(strategy));
        let check = |reduce| Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512));
        let dir = folder.path().join(format!("{strategy:?}"));
        drop(check(reduce.clone()).dir(&dir).max_states(10).run().unwrap());
        assert!(check(ReductionConfig::none()).dir(&dir).run().is_err());
        let full = check(reduce.clone()).run().unwrap();
        assert_eq!(violations_of(full.outcome()), BTreeSet::from([Violation::Property(0)]));
        assert_eq!(check(reduce).dir(&dir).run().unwrap().outcome(), full.outcome());
    }
}
