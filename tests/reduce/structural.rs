//! Structural reductions of nets: violations are found as in the original net, in fewer states, and reported in its
//! transitions. Each condition has a net that needs it.
//!
//! `SPILLWAY_LARGE` runs more random nets, which take minutes.

#[allow(dead_code)]
#[path = "../front/pnml/token_game.rs"]
mod token_game;

use crate::merge::assert_counterexamples_replay;
use crate::support::error_message::ErrorMessage;
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both as both_of;
use crate::support::reductions::{bisimilar, for_checks, partial_order_plan};
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::exec::ExecutionMode;
use spillway::front::{Language, Options};
use spillway::ir::{ActionId, validate};
use spillway::ir::{ConditionModality, StateCondition};
use spillway::model::{
    StateSpace, SystemDescription, Violation, is_action_hidden, memory, original_action_counts,
};
use spillway::reduce::partial_order::PartialOrderMethod;
use spillway::reduce::structural::StructuralReduction;
use spillway::reduce::structural::{AgglomerationKind, NAME};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::{CheckSelection, SearchLimits, SearchOutcome};
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::collections::BTreeSet;
use std::path::PathBuf;
use token_game::{ArcKind, Net, Transition, pnml_text};

const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };
const INVARIANTS: CheckSelection = CheckSelection { invariants: true, ..CheckSelection::NONE };

/// Loads a net, with an invariant if there is one.
fn load(text: &str, invariant: &str) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("net.pnml", text);
    let mut options = Options::default();
    if !invariant.is_empty() {
        options.conditions.push(StateCondition::new(ConditionModality::Always, invariant));
    }
    let language = Language::from_name("pnml").unwrap();
    let loaded = TextModel::load(language, sources, options);
    loaded.map(|(model, _)| model).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the selected violations.
fn selected_violations(
    model: &TextModel,
    checks: &CheckSelection,
    outcome: &SearchOutcome,
) -> BTreeSet<Violation> {
    let all = outcome.findings.iter().map(|(check, _)| check);
    all.filter(|check| checks.selects(&model.interp, *check)).collect()
}

/// Checks that reductions of a net keep the violations and the transitions that are never executed, and that
/// counterexamples are runs of the net. If `is_run` holds, also compares complete checks with both executors. Returns
/// the numbers of states, all and reduced.
fn compare_with_full_search(
    model: TextModel,
    (plan, steps, is_run): (&ReductionPlan, &ReductionPlan, bool),
    checks: CheckSelection,
) -> Result<(u64, u64), ErrorMessage> {
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let full = memory::search(&model.interp, &limits).unwrap();
    let model = model.with_plan(plan.clone());
    if let Some(rewritten) = model.rewritten(plan, &AnalysisBudget::largest()) {
        let problems = validate::validate(rewritten.interp().program()).err();
        assert!(problems.is_none(), "{problems:?}");
    }
    let searched = model.searched();
    let reduced = memory::search(searched.model(), &limits).unwrap();
    let (expected, found) = (
        selected_violations(&model, &checks, &full),
        selected_violations(&model, &checks, &reduced),
    );
    if found != expected || reduced.states() > full.states() {
        return Err(
            format!("{checks:?}: {expected:?} and {found:?}, {} states", reduced.states()).into()
        );
    }
    let never_executed = |searched: &dyn StateSpace, outcome: &SearchOutcome| {
        let counts = original_action_counts(searched, outcome.action_counts.clone());
        let all = model.interp.program().actions.keys();
        all.filter(|&it| counts.of(it) == 0).collect::<Vec<ActionId>>()
    };
    let fails = |it: &Violation| matches!(it, Violation::Fault(..));
    let changes = ["values", "dead", "slice"].iter().any(|it| plan.selection.has(it));
    if !changes && !expected.iter().any(fails) {
        let visible = |it: &ActionId| !is_action_hidden(searched.model(), *it);
        let full: Vec<_> =
            never_executed(&model.interp, &full).into_iter().filter(visible).collect();
        let reduced: Vec<_> =
            never_executed(searched.model(), &reduced).into_iter().filter(visible).collect();
        assert_eq!(reduced, full);
    }
    if searched.model().capabilities().simulation.is_some()
        && found.len() == reduced.findings.iter().count()
    {
        assert_counterexamples_replay(searched.model(), &reduced, &limits);
    }
    if !is_run {
        return Ok((full.states(), reduced.states()));
    }
    let reduce = both_of(plan, steps);
    for exec in [ExecutionMode::Jit, ExecutionMode::Interp] {
        let check = Check::of_text(&model).reduce(reduce.clone()).checks(checks).exec(exec);
        let run = check.memory(memory_beside_tests(512)).keep_going().run().unwrap();
        if selected_violations(&model, &checks, run.outcome()) != expected {
            return Err(format!("{exec:?}, {checks:?}: {expected:?}").into());
        }
        if let Some(counterexample) = run.counterexample().unwrap() {
            let trace = counterexample.trace();
            assert!(model.interp.starts().contains(&trace.steps[0]));
            for (state, step) in trace.states.iter().zip(&trace.steps[1..]) {
                assert!(model.interp.steps(state).contains(step));
            }
        }
    }
    Ok((full.states(), reduced.states()))
}

fn state_counts(text: &str, invariant: &str, checks: CheckSelection) -> (u64, u64) {
    let plan = for_checks(&["structural"], checks);
    compare_with_full_search(
        load(text, invariant),
        (&plan, &ReductionPlan::default(), true),
        checks,
    )
    .unwrap()
}

/// Returns a net from the tokens of its places, and the places that each transition consumes from and produces to.
fn net(tokens: &[i64], transitions: &[(&[usize], &[usize])]) -> Net {
    let bag = |times: i64| vec![(times, Vec::new())];
    let transition = |(takes, puts): &(&[usize], &[usize])| {
        let count = |all: &[usize], it: usize| all.iter().filter(|its| **its == it).count() as i64;
        let arcs = |does: ArcKind, all: &[usize]| {
            let places: BTreeSet<usize> = all.iter().copied().collect();
            let arcs = places.into_iter().map(|it| (does, it, bag(count(all, it))));
            arcs.collect::<Vec<_>>()
        };
        Transition {
            variables: Vec::new(),
            conditions: Vec::new(),
            arcs: [arcs(ArcKind::Consume, takes), arcs(ArcKind::Produce, puts)].concat(),
        }
    };
    Net {
        elements: Vec::new(),
        classes: Vec::new(),
        places: tokens.iter().map(|it| (Vec::new(), bag(*it))).collect(),
        transitions: transitions.iter().map(transition).collect(),
    }
}

fn reduced(
    model: &TextModel,
    checks: CheckSelection,
) -> Option<&spillway::reduce::structural::StructuralReduction> {
    model
        .rewritten(&for_checks(&["structural"], checks), &AnalysisBudget::largest())
        .and_then(|it| it.pass::<StructuralReduction>())
}

/// Returns the agglomerated places with their kinds, and the redundant places.
fn places(
    net: &Net,
    invariant: &str,
    checks: CheckSelection,
) -> (Vec<(usize, AgglomerationKind)>, Vec<usize>) {
    let model = load(&pnml_text(net), invariant);
    let Some(reduction) = reduced(&model, checks) else { return Default::default() };
    let agglomerated = reduction.agglomerated().iter().map(|(id, side)| (id.0 as usize, *side));
    (agglomerated.collect(), reduction.redundant().iter().map(|it| it.0 as usize).collect())
}

/// Two tokens run in a cycle of four places. Three of them are agglomerated.
#[test]
fn places_with_immediate_successors_are_agglomerated() {
    let cycle = net(&[2, 0, 0, 0], &[(&[0], &[1]), (&[1], &[2]), (&[2], &[3]), (&[3], &[0])]);
    let (agglomerated, _) = places(&cycle, "", DEADLOCKS);
    assert_eq!(
        agglomerated,
        [(1, AgglomerationKind::Post), (2, AgglomerationKind::Post), (3, AgglomerationKind::Post)]
    );
    assert_eq!(state_counts(&pnml_text(&cycle), "", DEADLOCKS), (10, 1));
    assert_eq!(state_counts(&pnml_text(&cycle), "p2 <= 1", CheckSelection::ALL), (10, 3));
}

/// Each of two transitions consumes two tokens, in each of three combinations.
#[test]
fn several_tokens_are_consumed_in_every_combination() {
    let branching =
        net(&[2, 0, 0, 0, 0], &[(&[0], &[1, 1]), (&[1], &[2]), (&[1], &[3]), (&[2, 3], &[4])]);
    assert_eq!(places(&branching, "", DEADLOCKS), (vec![(1, AgglomerationKind::Post)], vec![4]));
    let (full, reduced) = state_counts(&pnml_text(&branching), "", DEADLOCKS);
    assert!(reduced < full, "{reduced} of {full}");
    state_counts(&pnml_text(&branching), "p4 <= 1", CheckSelection::ALL);
}

/// Two transitions produce a token each, and a third consumes two at once, if it is enabled. The producers wait for it.
/// It is enabled only once, so that in the end one token is left and there is a deadlock.
#[test]
fn producers_wait_for_the_consumer_in_pre_agglomeration() {
    let work = net(&[3, 1, 0, 0], &[(&[0], &[2]), (&[1, 2, 2], &[3])]);
    assert_eq!(places(&work, "p3 <= 0", CheckSelection::ALL).0, [(2, AgglomerationKind::Pre)]);
    assert_eq!(state_counts(&pnml_text(&work), "p3 <= 0", CheckSelection::ALL), (6, 2));
    let model = load(&pnml_text(&work), "");
    let run = Check::of_text(&model)
        .reduce(ReductionConfig::from(for_checks(&["structural"], DEADLOCKS)))
        .checks(DEADLOCKS)
        .run()
        .unwrap();
    // Two producers, the consumer, and one more producer.
    assert_eq!(run.counterexample().unwrap().unwrap().depth(), 4);
}

/// Nets whose violations change if one condition is omitted, each with a place that must not be agglomerated.
#[test]
fn relevant_places_are_not_agglomerated() {
    type Case<'c> = (&'c str, Net, &'c str, CheckSelection, usize);
    let cases: [Case<'_>; 8] = [
        (
            "a visible place",
            net(&[1, 0, 0], &[(&[0], &[1]), (&[1], &[2])]),
            "p1 <= 0",
            CheckSelection::ALL,
            1,
        ),
        (
            "a visible transition after the place",
            net(&[1, 1, 0, 0], &[(&[0], &[2]), (&[2], &[3]), (&[1, 0], &[0, 1])]),
            "p3 == 1 || p0 == 1",
            CheckSelection::ALL,
            2,
        ),
        (
            "an initially marked place",
            net(&[0, 1, 0], &[(&[0], &[1]), (&[1], &[2])]),
            "p2 <= 0",
            CheckSelection::ALL,
            1,
        ),
        (
            "a transition that needs more tokens",
            net(&[1, 0, 0, 0], &[(&[0], &[1]), (&[1, 2], &[3]), (&[0], &[2])]),
            "",
            DEADLOCKS,
            9,
        ),
        (
            "another consumer of an input place",
            net(&[1, 1, 0, 0], &[(&[0], &[2]), (&[2, 1], &[3]), (&[0, 1], &[1, 1])]),
            "",
            DEADLOCKS,
            2,
        ),
        (
            "a producer with another output place",
            net(&[1, 0, 0, 0], &[(&[0], &[1, 2]), (&[1, 2, 2], &[3]), (&[2], &[3])]),
            "p3 <= 0",
            CheckSelection::ALL,
            1,
        ),
        (
            "an arc weight that differs from the produced tokens",
            net(&[2, 0, 0, 0], &[(&[0], &[1]), (&[1, 1], &[2]), (&[1, 0], &[3])]),
            "",
            DEADLOCKS,
            1,
        ),
        (
            "a consumer that produces for its own input",
            net(&[1, 0, 0], &[(&[0], &[1]), (&[1], &[1, 2]), (&[1], &[0])]),
            "p2 <= 0",
            CheckSelection::ALL,
            1,
        ),
    ];
    for (case, net, invariant, checks, place) in cases {
        let (agglomerated, _) = places(&net, invariant, checks);
        assert!(agglomerated.iter().all(|it| it.0 != place), "{case}: {agglomerated:?}");
        state_counts(&pnml_text(&net), invariant, checks);
    }
}

/// Without deadlock checks, other transitions may consume what the waiting transition consumes.
#[test]
fn free_agglomeration_requires_that_deadlocks_are_not_checked() {
    let work = net(&[1, 1, 0, 0], &[(&[0], &[2]), (&[2, 1], &[3]), (&[0, 1], &[1, 1])]);
    assert_eq!(places(&work, "p3 <= 0", DEADLOCKS).0, []);
    assert_eq!(places(&work, "p3 <= 0", INVARIANTS).0, [(2, AgglomerationKind::Pre)]);
    state_counts(&pnml_text(&work), "p3 <= 0", INVARIANTS);
}

/// Of the places, one always has the tokens of another, one is never read, and one is never changed. Of the
/// transitions, one is never enabled, and two have the same effect.
#[test]
fn redundant_places_and_transitions_are_removed() {
    let all = net(
        &[1, 0, 2, 0, 3, 0],
        &[
            (&[0, 2], &[1, 3]),
            (&[1, 3, 4], &[0, 2, 4]),
            (&[0, 5], &[1]),
            (&[0, 2, 4, 4], &[1, 3, 4, 4]),
        ],
    );
    let (_, redundant) = places(&all, "p0 <= 1 && p1 <= 1", CheckSelection::ALL);
    assert!(redundant.contains(&2) && redundant.contains(&3), "{redundant:?}");
    let model = load(&pnml_text(&all), "p0 <= 1 && p1 <= 1");
    let mut removed = reduced(&model, CheckSelection::ALL).unwrap().removed().map(|it| it.0);
    // Without the constant place, two transitions have the same effect.
    assert!(removed.next().is_some_and(|it| it == 0) && removed.eq([2]));
    // Tokens that no transition needs have no bound.
    let (full, reduced) =
        state_counts(&pnml_text(&net(&[1, 0], &[(&[0], &[1]), (&[0], &[])])), "", DEADLOCKS);
    assert_eq!((full, reduced), (3, 2));
}

#[test]
fn inapplicable_reductions_are_refused_by_name() {
    let refusal_of = |language: &str, text: &str| {
        let model = crate::support::lockstep::load(language, text)
            .with_plan(for_checks(&["structural"], CheckSelection::ALL));
        let searched = model.searched();
        let refusals = searched.stack().refusals().to_vec();
        let [refusal] = &refusals[..] else { panic!("{refusals:?}") };
        assert_eq!(refusal.name, NAME);
        refusal.reason.to_string()
    };
    let text = "process P { state a; init a; trans a -> a { }; } system async;";
    assert_eq!(refusal_of("dve", text), "the model is not a Petri net");
    let rules =
        "var x: 0..3; startstate begin x := 1; end; rule \"r\" x > 0 ==> begin x := x - 1; end;";
    assert_eq!(refusal_of("murphi", rules), "every change of a variable may prevent a deadlock");
    let assumed = format!("{rules} assume x < 3;");
    assert_eq!(refusal_of("murphi", &assumed), "assumptions exclude states");
}

/// Each round adds tokens to two places until their capacity is exceeded. A transition that can fail is not reduced, nor
/// are its places, although one is empty at first and another always has the tokens of a third.
#[test]
fn a_transition_that_can_fail_is_kept() {
    let rounds = net(&[1, 1, 0, 0], &[(&[0, 1], &[2, 3]), (&[2], &[0, 1])]);
    assert_eq!(places(&rounds, "", CheckSelection::ALL), Default::default());
    assert_eq!(state_counts(&pnml_text(&rounds), "", CheckSelection::ALL), (131_071, 131_071));
}

/// A linear congruential generator. Its constants and seeds fix the nets of this file.
struct CongruentialGenerator(u64);

impl CongruentialGenerator {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn choose<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Generates a net whose places are mostly empty at first. Almost all transitions keep or lower the weighted number of
/// tokens.
fn random_net(random: &mut CongruentialGenerator) -> (Net, String) {
    let count = 3 + random.below(9) as usize;
    let weights: Vec<i64> = (0..count).map(|_| random.choose(&[1, 1, 1, 2, 2, 3])).collect();
    let bag = |times: i64| vec![(times, Vec::new())];
    let mut places: Vec<i64> = (0..count).map(|_| random.choose(&[0, 0, 0, 0, 0, 1, 2])).collect();
    places[0] = places[0].max(1 + random.below(2) as i64);
    let transitions = (0..count + random.below(4) as usize).map(|number| {
        let mut arcs: Vec<(ArcKind, usize, i64)> = Vec::new();
        let mut weight_left = 0;
        for first in 0..random.choose(&[1, 1, 1, 1, 1, 1, 2, 2, 3, 0]) {
            // Most places have a transition that consumes from them.
            let place =
                if first == 0 { number % count } else { random.below(count as u64) as usize };
            let times = random.choose(&[1, 1, 1, 1, 1, 1, 2]);
            arcs.push((ArcKind::Consume, place, times));
            weight_left += times * weights[place];
        }
        let is_bounded = random.below(80) > 0;
        for _ in 0..random.choose(&[1, 1, 1, 2, 2, 3, 4]) {
            let (place, times) =
                (random.below(count as u64) as usize, random.choose(&[1, 1, 1, 1, 2]));
            if !is_bounded || times * weights[place] <= weight_left {
                arcs.push((ArcKind::Produce, place, times));
                weight_left -= times * weights[place];
            }
        }
        let also = [ArcKind::Test, ArcKind::Test, ArcKind::Inhibit, ArcKind::Reset];
        if let Some(does) = also.get(random.below(40) as usize) {
            arcs.push((*does, random.below(count as u64) as usize, random.choose(&[1, 1, 2])));
        }
        let arcs = arcs.into_iter().map(|(does, place, times)| (does, place, bag(times)));
        Transition { variables: Vec::new(), conditions: Vec::new(), arcs: arcs.collect() }
    });
    let transitions: Vec<Transition> = transitions.collect();
    let place = |random: &mut CongruentialGenerator| format!("p{}", random.below(count as u64));
    let (first_place, second_place) = (place(random), place(random));
    let (few, many) = (random.below(2), 1 + random.below(3));
    let invariant = match random.below(6) {
        0 => format!("{first_place} <= {many}"),
        1 => format!("{first_place} + {second_place} <= {many}"),
        2 => format!("{first_place} <= {few} || {second_place} <= {few}"),
        3 => format!("{first_place} >= {few} || {second_place} >= 1"),
        4 => format!("!fireable(t{})", random.below(transitions.len() as u64)),
        _ => format!("{first_place} == {few} imply {second_place} < {many}"),
    };
    let places = places.into_iter().map(|it| (Vec::new(), bag(it))).collect();
    (Net { classes: Vec::new(), elements: Vec::new(), places, transitions }, invariant)
}

#[test]
fn random_nets_keep_their_verdicts() {
    let nets = if std::env::var_os("SPILLWAY_LARGE").is_some() { 60_000 } else { 3000 };
    let (mut reduced, mut fewer, mut sides) = (0, 0, [0, 0]);
    for number in 0..nets {
        let mut random = CongruentialGenerator(number);
        (0..4).for_each(|_| assert!(random.below(2) < 2));
        let (net, invariant) = random_net(&mut random);
        if net.explore(1500, 100).is_none() {
            continue;
        }
        let checks = random.choose(&[CheckSelection::ALL, DEADLOCKS, INVARIANTS]);
        let structural = for_checks(&["structural"], checks);
        let others = both_of(&for_checks(&["structural", "slice"], checks), &bisimilar());
        let plan = if random.below(4) < 3 { structural } else { others };
        let conditional = partial_order_plan(PartialOrderMethod::Conditional);
        let steps = if random.below(3) < 2 { ReductionPlan::default() } else { conditional };
        let invariant = if checks == DEADLOCKS { "" } else { &invariant };
        let model = load(&pnml_text(&net), invariant);
        let found = model
            .rewritten(&plan, &AnalysisBudget::largest())
            .and_then(|it| it.pass::<StructuralReduction>())
            .map(|it| it.agglomerated().to_vec());
        let outcome = compare_with_full_search(model, (&plan, &steps, number % 10 == 0), checks);
        let outcome = outcome
            .unwrap_or_else(|error| panic!("{number}: {error}\n{invariant}\n{}", pnml_text(&net)));
        let (Some(agglomerated), (full, reduced_states)) = (found, outcome) else { continue };
        reduced += 1;
        fewer += u32::from(reduced_states < full);
        agglomerated.iter().for_each(|it| sides[usize::from(it.1 == AgglomerationKind::Pre)] += 1);
    }
    println!("{reduced} nets reduced, {fewer} have fewer states; agglomerations: {sides:?}");
    assert!(reduced > 400 && fewer > 200 && sides[0] > 100 && sides[1] > 50);
}

#[test]
fn own_nets_keep_their_deadlocks() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/pnml");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|it| it.extension().is_some_and(|it| it == "pnml")) {
        let model = load(&std::fs::read_to_string(file).unwrap(), "");
        let (plan, none) = (for_checks(&["structural"], DEADLOCKS), ReductionPlan::default());
        let plans = (&plan, &none, true);
        let states = compare_with_full_search(model, plans, DEADLOCKS)
            .unwrap_or_else(|error| panic!("{file:?}: {error}"));
        println!("{}: {states:?}", file.file_stem().unwrap().to_string_lossy());
    }
}
