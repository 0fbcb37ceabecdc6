//! Structural reductions of nets: violations are found as in the original net, in fewer states, and reported in its
//! transitions. Each condition has a net that needs it.
//!
//! `SPILLWAY_LARGE` runs more random nets, which take minutes.

#[allow(dead_code)]
#[path = "../front/pnml/game.rs"]
mod game;

use crate::merge::assert_counterexamples_replay;
use crate::support::error_message::ErrorMessage;
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both as both_of;
use crate::support::reductions::{bisimilar, for_checks, partial_order_plan};
use game::{Does, Net, Transition, text};
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

const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };
const INVARIANTS: CheckSelection = CheckSelection { invariants: true, ..CheckSelection::NONE };

/// A net, with what should hold in every state if anything is said.
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

/// What is looked for and found.
fn violated(
    model: &TextModel,
    checks: &CheckSelection,
    outcome: &SearchOutcome,
) -> BTreeSet<Violation> {
    let all = outcome.findings.iter().map(|(check, _)| check);
    all.filter(|check| checks.selects(&model.interp, *check)).collect()
}

/// The states of a net and of what reductions leave of it, where the same is found, told in transitions of the net; and so do whole
/// runs, compiled and not, if they are asked for.
fn compared(
    model: TextModel,
    (by, steps, is_run): (&ReductionPlan, &ReductionPlan, bool),
    checks: CheckSelection,
) -> Result<(u64, u64), ErrorMessage> {
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let whole = memory::search(&model.interp, &limits).unwrap();
    let model = model.with_plan(by.clone());
    if let Some(rewritten) = model.rewritten(by, &AnalysisBudget::largest()) {
        let problems = validate::validate(rewritten.interp().program()).err();
        assert!(problems.is_none(), "{problems:?}");
    }
    let searched = model.searched();
    let found = memory::search(searched.model(), &limits).unwrap();
    let (expected, came) = (violated(&model, &checks, &whole), violated(&model, &checks, &found));
    if came != expected || found.states() > whole.states() {
        return Err(
            format!("{checks:?}: {expected:?} and {came:?}, {} states", found.states()).into()
        );
    }
    let never = |searched: &dyn StateSpace, found: &SearchOutcome| {
        let taken = original_action_counts(searched, found.action_counts.clone());
        let all = model.interp.program().actions.keys();
        all.filter(|&it| taken.of(it) == 0).collect::<Vec<ActionId>>()
    };
    let fails = |it: &Violation| matches!(it, Violation::Fault(..));
    let changes = ["values", "dead", "slice"].iter().any(|it| by.selection.has(it));
    if !changes && !expected.iter().any(fails) {
        let known = |it: &ActionId| !is_action_hidden(searched.model(), *it);
        let whole: Vec<_> = never(&model.interp, &whole).into_iter().filter(known).collect();
        let found: Vec<_> = never(searched.model(), &found).into_iter().filter(known).collect();
        assert_eq!(found, whole);
    }
    if searched.model().capabilities().simulation.is_some()
        && came.len() == found.findings.iter().count()
    {
        assert_counterexamples_replay(searched.model(), &found, &limits);
    }
    if !is_run {
        return Ok((whole.states(), found.states()));
    }
    let reduce = both_of(by, steps);
    for exec in [ExecutionMode::Jit, ExecutionMode::Interp] {
        let check = Check::of_text(&model).reduce(reduce.clone()).checks(checks).exec(exec);
        let run = check.memory(memory_beside_tests(512)).keep_going().run().unwrap();
        if violated(&model, &checks, run.outcome()) != expected {
            return Err(format!("{exec:?}, {checks:?}: {expected:?}").into());
        }
        if let Some(told) = run.counterexample().unwrap() {
            let trace = told.trace();
            assert!(model.interp.starts().contains(&trace.steps[0]));
            for (state, step) in trace.states.iter().zip(&trace.steps[1..]) {
                assert!(model.interp.steps(state).contains(step));
            }
        }
    }
    Ok((whole.states(), found.states()))
}

fn both(text: &str, invariant: &str, checks: CheckSelection) -> (u64, u64) {
    let by = for_checks(&["structural"], checks);
    compared(load(text, invariant), (&by, &ReductionPlan::default(), true), checks).unwrap()
}

/// A net of places with tokens and transitions with what each takes and puts, by the numbers of places.
fn net(tokens: &[i64], transitions: &[(&[usize], &[usize])]) -> Net {
    let bag = |times: i64| vec![(times, Vec::new())];
    let transition = |(takes, puts): &(&[usize], &[usize])| {
        let count = |all: &[usize], it: usize| all.iter().filter(|its| **its == it).count() as i64;
        let arcs = |does: Does, all: &[usize]| {
            let places: BTreeSet<usize> = all.iter().copied().collect();
            let arcs = places.into_iter().map(|it| (does, it, bag(count(all, it))));
            arcs.collect::<Vec<_>>()
        };
        Transition {
            variables: Vec::new(),
            asks: Vec::new(),
            arcs: [arcs(Does::Take, takes), arcs(Does::Put, puts)].concat(),
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

/// The places in which nobody leaves tokens, by number, and how; and those that are redundant.
fn places(
    net: &Net,
    invariant: &str,
    checks: CheckSelection,
) -> (Vec<(usize, AgglomerationKind)>, Vec<usize>) {
    let model = load(&text(net), invariant);
    let Some(found) = reduced(&model, checks) else { return Default::default() };
    let gone = found.agglomerated().iter().map(|(id, side)| (id.0 as usize, *side));
    (gone.collect(), found.redundant().iter().map(|it| it.0 as usize).collect())
}

/// Two tokens go through three places and come back: nobody stops on the way.
#[test]
fn who_goes_on_does_so_at_once() {
    let round = net(&[2, 0, 0, 0], &[(&[0], &[1]), (&[1], &[2]), (&[2], &[3]), (&[3], &[0])]);
    let (gone, _) = places(&round, "", DEADLOCKS);
    assert_eq!(
        gone,
        [(1, AgglomerationKind::Post), (2, AgglomerationKind::Post), (3, AgglomerationKind::Post)]
    );
    assert_eq!(both(&text(&round), "", DEADLOCKS), (10, 1));
    assert_eq!(both(&text(&round), "p2 <= 1", CheckSelection::ALL), (10, 3));
}

/// Two tokens at a time are taken by each of two, in each of three ways.
#[test]
fn several_tokens_are_taken_in_every_way() {
    let ways =
        net(&[2, 0, 0, 0, 0], &[(&[0], &[1, 1]), (&[1], &[2]), (&[1], &[3]), (&[2, 3], &[4])]);
    assert_eq!(places(&ways, "", DEADLOCKS), (vec![(1, AgglomerationKind::Post)], vec![4]));
    let (whole, left) = both(&text(&ways), "", DEADLOCKS);
    assert!(left < whole, "{left} of {whole}");
    both(&text(&ways), "p4 <= 1", CheckSelection::ALL);
}

/// Two workers bring a token each, and somebody takes two at a time, if he may: until then they wait with it. He may
/// only once, so that one of them can bring his and nothing more can be done.
#[test]
fn who_is_waited_for_waits() {
    let work = net(&[3, 1, 0, 0], &[(&[0], &[2]), (&[1, 2, 2], &[3])]);
    assert_eq!(places(&work, "p3 <= 0", CheckSelection::ALL).0, [(2, AgglomerationKind::Pre)]);
    assert_eq!(both(&text(&work), "p3 <= 0", CheckSelection::ALL), (6, 2));
    let model = load(&text(&work), "");
    let run = Check::of_text(&model)
        .reduce(ReductionConfig::from(for_checks(&["structural"], DEADLOCKS)))
        .checks(DEADLOCKS)
        .run()
        .unwrap();
    // Two, who takes them, and one more.
    assert_eq!(run.counterexample().unwrap().unwrap().depth(), 4);
}

/// Nets in each of which somebody who forgets one condition finds something else: which places are not to be agglomerated.
#[test]
fn whoever_makes_a_difference_stays() {
    type Case<'c> = (&'c str, Net, &'c str, CheckSelection, usize);
    let cases: [Case<'_>; 8] = [
        ("seen", net(&[1, 0, 0], &[(&[0], &[1]), (&[1], &[2])]), "p1 <= 0", CheckSelection::ALL, 1),
        (
            "who follows is seen",
            net(&[1, 1, 0, 0], &[(&[0], &[2]), (&[2], &[3]), (&[1, 0], &[0, 1])]),
            "p3 == 1 || p0 == 1",
            CheckSelection::ALL,
            2,
        ),
        (
            "tokens at first",
            net(&[0, 1, 0], &[(&[0], &[1]), (&[1], &[2])]),
            "p2 <= 0",
            CheckSelection::ALL,
            1,
        ),
        (
            "who follows needs more",
            net(&[1, 0, 0, 0], &[(&[0], &[1]), (&[1, 2], &[3]), (&[0], &[2])]),
            "",
            DEADLOCKS,
            9,
        ),
        (
            "somebody else takes from where he who waits takes",
            net(&[1, 1, 0, 0], &[(&[0], &[2]), (&[2, 1], &[3]), (&[0, 1], &[1, 1])]),
            "",
            DEADLOCKS,
            2,
        ),
        (
            "who waits puts something elsewhere",
            net(&[1, 0, 0, 0], &[(&[0], &[1, 2]), (&[1, 2, 2], &[3]), (&[2], &[3])]),
            "p3 <= 0",
            CheckSelection::ALL,
            1,
        ),
        (
            "as many as are not put",
            net(&[2, 0, 0, 0], &[(&[0], &[1]), (&[1, 1], &[2]), (&[1, 0], &[3])]),
            "",
            DEADLOCKS,
            1,
        ),
        (
            "who follows takes back what he puts",
            net(&[1, 0, 0], &[(&[0], &[1]), (&[1], &[1, 2]), (&[1], &[0])]),
            "p2 <= 0",
            CheckSelection::ALL,
            1,
        ),
    ];
    for (what, net, invariant, checks, place) in cases {
        let (gone, _) = places(&net, invariant, checks);
        assert!(gone.iter().all(|it| it.0 != place), "{what}: {gone:?}");
        both(&text(&net), invariant, checks);
    }
}

/// Where no deadlocks are looked for others may take what they who wait take.
#[test]
fn free_agglomeration_is_for_what_is_reached() {
    let work = net(&[1, 1, 0, 0], &[(&[0], &[2]), (&[2, 1], &[3]), (&[0, 1], &[1, 1])]);
    assert_eq!(places(&work, "p3 <= 0", DEADLOCKS).0, []);
    assert_eq!(places(&work, "p3 <= 0", INVARIANTS).0, [(2, AgglomerationKind::Pre)]);
    both(&text(&work), "p3 <= 0", INVARIANTS);
}

/// A place that always has what another has, one that nobody needs, one that nobody changes; a transition that is never possible, one
/// that does what another does.
#[test]
fn what_makes_no_difference_is_removed() {
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
    let model = load(&text(&all), "p0 <= 1 && p1 <= 1");
    let mut removed = reduced(&model, CheckSelection::ALL).unwrap().removed().map(|it| it.0);
    // Without the place that nobody changes both do the same.
    assert!(removed.next().is_some_and(|it| it == 0) && removed.eq([2]));
    // Tokens that nobody needs are without end.
    let (whole, left) = both(&text(&net(&[1, 0], &[(&[0], &[1]), (&[0], &[])])), "", DEADLOCKS);
    assert_eq!((whole, left), (3, 2));
}

#[test]
fn where_it_does_not_apply_it_is_left_out_by_name() {
    let refused = |language: &str, text: &str| {
        let model = crate::support::lockstep::load(language, text)
            .with_plan(for_checks(&["structural"], CheckSelection::ALL));
        let searched = model.searched();
        let refused = searched.stack().refusals().to_vec();
        let [it] = &refused[..] else { panic!("{refused:?}") };
        assert_eq!(it.name, NAME);
        it.reason.to_string()
    };
    let text = "process P { state a; init a; trans a -> a { }; } system async;";
    assert_eq!(refused("dve", text), "the model is not a Petri net");
    let rules =
        "var x: 0..3; startstate begin x := 1; end; rule \"r\" x > 0 ==> begin x := x - 1; end;";
    assert_eq!(refused("murphi", rules), "every change of a variable may prevent a deadlock");
    let assumed = format!("{rules} assume x < 3;");
    assert_eq!(refused("murphi", &assumed), "assumptions exclude states");
}

/// A place that has more tokens each round, until there is no room: who puts them there may fail, so he stays as he is, and so do the places that he has
/// to do with, though one is empty at first and another always has what a third has.
#[test]
fn who_may_fail_stays_as_he_is() {
    let rounds = net(&[1, 1, 0, 0], &[(&[0, 1], &[2, 3]), (&[2], &[0, 1])]);
    assert_eq!(places(&rounds, "", CheckSelection::ALL), Default::default());
    assert_eq!(both(&text(&rounds), "", CheckSelection::ALL), (131_071, 131_071));
}

/// Numbers that something random is made of.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len() as u64) as usize]
    }
}

/// A net most of whose places are empty at first, and whose transitions keep the number of tokens, each of a weight, or let it become less; now and
/// then one does not.
fn random(dice: &mut Dice) -> (Net, String) {
    let count = 3 + dice.roll(9) as usize;
    let weights: Vec<i64> = (0..count).map(|_| dice.one(&[1, 1, 1, 2, 2, 3])).collect();
    let bag = |times: i64| vec![(times, Vec::new())];
    let mut places: Vec<i64> = (0..count).map(|_| dice.one(&[0, 0, 0, 0, 0, 1, 2])).collect();
    places[0] = places[0].max(1 + dice.roll(2) as i64);
    let transitions = (0..count + dice.roll(4) as usize).map(|number| {
        let mut arcs: Vec<(Does, usize, i64)> = Vec::new();
        let mut left = 0;
        for first in 0..dice.one(&[1, 1, 1, 1, 1, 1, 2, 2, 3, 0]) {
            // Most places have one that takes from them.
            let place = if first == 0 { number % count } else { dice.roll(count as u64) as usize };
            let times = dice.one(&[1, 1, 1, 1, 1, 1, 2]);
            arcs.push((Does::Take, place, times));
            left += times * weights[place];
        }
        let is_bounded = dice.roll(80) > 0;
        for _ in 0..dice.one(&[1, 1, 1, 2, 2, 3, 4]) {
            let (place, times) = (dice.roll(count as u64) as usize, dice.one(&[1, 1, 1, 1, 2]));
            if !is_bounded || times * weights[place] <= left {
                arcs.push((Does::Put, place, times));
                left -= times * weights[place];
            }
        }
        let also = [Does::Test, Does::Test, Does::Inhibit, Does::Reset];
        if let Some(does) = also.get(dice.roll(40) as usize) {
            arcs.push((*does, dice.roll(count as u64) as usize, dice.one(&[1, 1, 2])));
        }
        let arcs = arcs.into_iter().map(|(does, place, times)| (does, place, bag(times)));
        Transition { variables: Vec::new(), asks: Vec::new(), arcs: arcs.collect() }
    });
    let transitions: Vec<Transition> = transitions.collect();
    let place = |dice: &mut Dice| format!("p{}", dice.roll(count as u64));
    let (one, other) = (place(dice), place(dice));
    let (few, many) = (dice.roll(2), 1 + dice.roll(3));
    let asked = match dice.roll(6) {
        0 => format!("{one} <= {many}"),
        1 => format!("{one} + {other} <= {many}"),
        2 => format!("{one} <= {few} || {other} <= {few}"),
        3 => format!("{one} >= {few} || {other} >= 1"),
        4 => format!("!fireable(t{})", dice.roll(transitions.len() as u64)),
        _ => format!("{one} == {few} imply {other} < {many}"),
    };
    let places = places.into_iter().map(|it| (Vec::new(), bag(it))).collect();
    (Net { classes: Vec::new(), elements: Vec::new(), places, transitions }, asked)
}

#[test]
fn random_nets_are_found_to_be_as_they_are() {
    let nets = if std::env::var_os("SPILLWAY_LARGE").is_some() { 60_000 } else { 3000 };
    let (mut reduced, mut fewer, mut sides) = (0, 0, [0, 0]);
    for number in 0..nets {
        let mut dice = Dice(number);
        (0..4).for_each(|_| assert!(dice.roll(2) < 2));
        let (net, invariant) = random(&mut dice);
        if net.play(1500, 100).is_none() {
            continue;
        }
        let checks = dice.one(&[CheckSelection::ALL, DEADLOCKS, INVARIANTS]);
        let structural = for_checks(&["structural"], checks);
        let others = both_of(&for_checks(&["structural", "slice"], checks), &bisimilar());
        let by = if dice.roll(4) < 3 { structural } else { others };
        let conditional = partial_order_plan(PartialOrderMethod::Conditional);
        let steps = if dice.roll(3) < 2 { ReductionPlan::default() } else { conditional };
        let invariant = if checks == DEADLOCKS { "" } else { &invariant };
        let model = load(&text(&net), invariant);
        let found = model
            .rewritten(&by, &AnalysisBudget::largest())
            .and_then(|it| it.pass::<StructuralReduction>())
            .map(|it| it.agglomerated().to_vec());
        let outcome = compared(model, (&by, &steps, number % 10 == 0), checks);
        let outcome =
            outcome.unwrap_or_else(|why| panic!("{number}: {why}\n{invariant}\n{}", text(&net)));
        let (Some(gone), (whole, left)) = (found, outcome) else { continue };
        reduced += 1;
        fewer += u32::from(left < whole);
        gone.iter().for_each(|it| sides[usize::from(it.1 == AgglomerationKind::Pre)] += 1);
    }
    println!("{reduced} nets reduced, {fewer} have fewer states; agglomerations: {sides:?}");
    assert!(reduced > 400 && fewer > 200 && sides[0] > 100 && sides[1] > 50);
}

#[test]
fn nets_of_ours_have_deadlocks_or_not_as_before() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/pnml");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|it| it.extension().is_some_and(|it| it == "pnml")) {
        let model = load(&std::fs::read_to_string(file).unwrap(), "");
        let (by, none) = (for_checks(&["structural"], DEADLOCKS), ReductionPlan::default());
        let by = (&by, &none, true);
        let found = compared(model, by, DEADLOCKS).unwrap_or_else(|why| panic!("{file:?}: {why}"));
        println!("{}: {found:?}", file.file_stem().unwrap().to_string_lossy());
    }
}
