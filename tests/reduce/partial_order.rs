//! Partial order reduction: the chosen sets are persistent, and every violation is found that is found without it.
//!
//! The programs are random programs, our models, and with `SPILLWAY_CORPUS` an external corpus. A condition model loses
//! a violation if one part of the method is omitted. Counterexamples are runs of the model as written. `SPILLWAY_LARGE`
//! runs more random programs, which take minutes.

use crate::generated::{Generated, programs, try_all};
use crate::runs::assert_is_run;
use crate::support::collection::{as_counted, of_the_corpus};
use crate::support::is_large;
use crate::support::memory::memory_beside_tests;
use crate::support::promises::{Promise, models, promises};
use crate::support::reductions::both;
use crate::support::reductions::{bisimilar, by_way, by_way_for, scalarsets};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spillway::Check;
use spillway::analysis::instances::InstanceId;
use spillway::budget::AnalysisBudget;
use spillway::exec::{Interp, SelectiveStateSpace};
use spillway::front::{Language, Options, murphi};
use spillway::ir::EndRule;
use spillway::model::{ObligationSink, StateSpace, SuccessorSink, Violation};
use spillway::reduce::Reduction;
use spillway::reduce::ReductionPlan;
use spillway::reduce::partial_order::{
    CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy,
};
use spillway::search::CheckSelection;
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// States on runs of what is not chosen that are looked at.
const OUTSIDE_MAX: usize = 40;

/// Programs with more transitions a state are not searched; some have hundreds.
const TRANSITIONS_EACH_MAX: usize = 10;

/// How much of a program is tried.
#[derive(Clone, Copy)]
pub struct Extent {
    /// With more states it is not searched.
    pub states: usize,
    /// States whose choice is looked at closely, in each search.
    close: usize,
}

pub const OF_RANDOM: Extent = Extent { states: 800, close: 25 };
const OF_OURS: Extent = Extent { states: 1500, close: 2 };
const OF_OTHERS: Extent = Extent { states: 20_000, close: 2 };

pub type Tried<T> = Result<T, TestCaseError>;

/// The methods that leave out states; those by which steps are asleep are tried by `tests/reduce/sleep.rs`.
const CHOOSING: [PartialOrderMethod; 4] = [
    PartialOrderMethod::Local,
    PartialOrderMethod::Overman,
    PartialOrderMethod::Stubborn,
    PartialOrderMethod::Conditional,
];

/// Nothing is looked for but deadlocks.
const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };

/// What comes of an instance: successors, and whether anything else does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Came {
    successors: BTreeSet<Vec<u8>>,
    left_out: u64,
    faults: BTreeSet<Violation>,
}

/// A model whose steps are taken one instance at a time.
struct One<'m> {
    by: &'m dyn SelectiveStateSpace,
    width: usize,
}

impl One<'_> {
    fn enabled(&self, state: &[u8]) -> Vec<InstanceId> {
        let mut sets = self.by.instances().sets();
        self.by.enabled(state, &mut sets).unwrap();
        sets.iter(0).collect()
    }

    fn take(&self, instance: InstanceId, state: &[u8]) -> Came {
        let mut sets = self.by.instances().sets();
        sets.clear(1);
        sets.insert(0, instance);
        let mut buffer = Vec::new();
        let run = |out: &mut SuccessorSink| self.by.expand_chosen(state, &sets, out);
        let collected = SuccessorSink::collect(self.width, &mut buffer, run).unwrap();
        Came {
            successors: buffer.chunks_exact(self.width).map(<[u8]>::to_vec).collect(),
            left_out: collected.counters.excluded,
            faults: collected.findings.iter().map(|(check, _)| check).collect(),
        }
    }

    /// What comes of an instance in any of some states.
    fn behind(&self, instance: InstanceId, states: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
        states.iter().flat_map(|state| self.take(instance, state).successors).collect()
    }
}

/// Definition 7 of Godefroid and Pirottin (1993), on runs of a few steps: whatever happens that is not
/// chosen, what is chosen stays possible, comes to the same, and commutes with it.
fn is_persistent(one: &One, state: &[u8], chosen: &[InstanceId]) -> Tried<()> {
    let firsts: Vec<Came> = chosen.iter().map(|&it| one.take(it, state)).collect();
    let (mut seen, mut open) = (BTreeSet::from([state.to_vec()]), VecDeque::from([state.to_vec()]));
    while let Some(at) = open.pop_front() {
        let enabled = one.enabled(&at);
        let mut next = Vec::new();
        for (&taken, first) in chosen.iter().zip(&firsts) {
            prop_assert!(enabled.contains(&taken), "{taken:?} is no more possible, in {at:02x?}");
            let now = one.take(taken, &at);
            let same = (now.successors.len(), now.left_out, &now.faults);
            prop_assert_eq!(same, (first.successors.len(), first.left_out, &first.faults));
            let possible: Vec<_> = now.successors.iter().map(|state| one.enabled(state)).collect();
            next.push((taken, now.successors, possible));
        }
        for &other in enabled.iter().filter(|it| !chosen.contains(it)) {
            let came = one.take(other, &at);
            for (taken, next, possible) in &next {
                let is_possible = possible.iter().all(|it| it.contains(&other));
                prop_assert!(is_possible, "{taken:?} takes {other:?} away, in {at:02x?}");
                let orders = [one.behind(other, next), one.behind(*taken, &came.successors)];
                prop_assert!(
                    orders[0] == orders[1],
                    "{taken:?} and {other:?} do not commute, in {at:02x?}: {orders:02x?}"
                );
            }
            for state in came.successors {
                if seen.len() < OUTSIDE_MAX && seen.insert(state.clone()) {
                    open.push_back(state);
                }
            }
        }
    }
    Ok(())
}

/// What is violated, each with the level where it is first.
pub type Found = BTreeMap<Violation, usize>;

/// Collects what one look at states gives.
#[derive(Default)]
struct Look {
    buffer: Vec<u8>,
    found: BTreeSet<Violation>,
}

impl Look {
    fn at(width: usize, run: impl FnOnce(&mut SuccessorSink)) -> Look {
        let mut buffer = Vec::new();
        let collected = SuccessorSink::collect(width, &mut buffer, run).unwrap();
        let found = collected.findings.iter().map(|(check, _)| check).collect();
        Look { buffer, found }
    }
}

/// All states of a model and what is violated, level by level; nothing if there are too many. What is put
/// off is taken up when no successor of a state is new, together with the next level.
pub fn searched(model: &dyn StateSpace, most: usize) -> Option<(BTreeSet<Vec<u8>>, Found)> {
    searched_and(model, most, true)
}

/// The same; what is put off is taken up only if `carries`.
fn searched_and(
    model: &dyn StateSpace,
    most: usize,
    carries: bool,
) -> Option<(BTreeSet<Vec<u8>>, Found)> {
    let width = model.width();
    let (mut seen, mut found, mut carried) = (BTreeSet::new(), Found::new(), Vec::new());
    let start = Look::at(width, |out| model.initial(out));
    let note = |found: &mut Found, look: &Look, level: usize| {
        for &it in &look.found {
            found.entry(it).or_insert(level);
        }
    };
    note(&mut found, &start, 0);
    let mut level: BTreeSet<Vec<u8>> =
        start.buffer.chunks_exact(width).map(<[u8]>::to_vec).collect();
    seen.extend(level.iter().cloned());
    let mut transitions = 0;
    for number in 0.. {
        if level.is_empty() && carried.is_empty() {
            break;
        }
        if seen.len() > most || transitions / TRANSITIONS_EACH_MAX > most {
            return None;
        }
        let mut next = Vec::new();
        let mut owing: BTreeMap<&Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for state in &level {
            let look = Look::at(width, |out| match model.capabilities().postponing {
                None => model.expand(state, out),
                Some(model) => {
                    let mut owe = |_: usize, successor: &[u8]| {
                        owing.entry(state).or_default().push(successor.to_vec());
                    };
                    model.expand_reduced(state, out, &mut ObligationSink::new(&mut owe));
                }
            });
            note(&mut found, &look, number);
            next.push(look.buffer);
        }
        for state in std::mem::take(&mut carried) {
            let state: Vec<u8> = state;
            let rest = model.capabilities().postponing.expect("it was put off");
            let look = Look::at(width, |out| rest.expand_postponed(&state, out));
            note(&mut found, &look, number);
            next.push(look.buffer);
        }
        transitions += next.iter().map(Vec::len).sum::<usize>() / width;
        let candidates = next.iter().flat_map(|buffer| buffer.chunks_exact(width));
        let new: BTreeSet<Vec<u8>> =
            candidates.filter(|it| !seen.contains(*it)).map(<[u8]>::to_vec).collect();
        let is_owing = |owed: &Vec<Vec<u8>>| carries && !owed.iter().any(|it| new.contains(it));
        carried = owing.iter().filter(|(_, it)| is_owing(it)).map(|(&it, _)| it.clone()).collect();
        seen.extend(new.iter().cloned());
        level = new;
    }
    Some((seen, found))
}

/// What counts of what is violated.
fn selected(model: &dyn StateSpace, checks: &CheckSelection, found: &Found) -> Found {
    let counts = |(check, _): &(&Violation, &usize)| checks.selects(model, **check);
    found.iter().filter(counts).map(|(&check, &level)| (check, level)).collect()
}

/// What was tried.
#[derive(Default)]
pub struct Census {
    pub searched: Cell<u32>,
    pub fewer: Cell<u32>,
    pub violated: Cell<u32>,
    pub close: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// That a program reduced by one method is searched to the same verdicts.
fn keeps_verdicts(
    interp: &Interp,
    whole: &(BTreeSet<Vec<u8>>, Found),
    way: PartialOrderStrategy,
    checks: &CheckSelection,
    (extent, census): (Extent, &Census),
) -> Tried<()> {
    let selector = || Box::new(interp.selector().unwrap());
    let Ok(reduction) =
        PartialOrder::of(interp, selector(), way, checks, &AnalysisBudget::largest())
    else {
        return Ok(());
    };
    let reduced = reduction.wrap(Box::new(interp));
    let (states, found) = searched(&*reduced, usize::MAX).unwrap();
    prop_assert!(states.is_subset(&whole.0));
    let (found, expected) = (selected(interp, checks, &found), selected(interp, checks, &whole.1));
    let kinds = |found: &Found| found.keys().copied().collect::<BTreeSet<_>>();
    prop_assert_eq!(kinds(&found), kinds(&expected), "{:?} {:?}", way, checks);
    if *checks == DEADLOCKS && !CHAINS.contains(&way.proviso) {
        prop_assert_eq!(&found, &expected, "where deadlocks are, by {:?}", way);
    }
    count(&census.searched);
    if states.len() < whole.0.len() {
        count(&census.fewer);
    }
    if !expected.is_empty() {
        count(&census.violated);
    }
    // What is chosen does not depend on the proviso but in what is preferred.
    let one = One { by: &*selector(), width: interp.width() };
    let partial = whole.0.iter().filter_map(|state| {
        let chosen = reduction.chosen_instances(state).unwrap();
        (chosen.len() < one.enabled(state).len()).then_some((state, chosen))
    });
    for (state, chosen) in partial.take(extent.close) {
        prop_assert!(!chosen.is_empty(), "nothing is taken of {state:02x?}");
        is_persistent(&one, state, &chosen)?;
        count(&census.close);
    }
    Ok(())
}

/// A model of a symmetric program in which steps are put off, reduced by both.
#[test]
fn symmetry_stacks_on_partial_order() {
    let text = "
        type P: scalarset(3);
        var at: array [P] of 0..3; mark: array [P] of boolean; done: 0..3;
        startstate for p: P do at[p] := 0; mark[p] := false; end; done := 0; end;
        ruleset p: P do
          rule \"go\" at[p] = 0 ==> at[p] := 1; end;
          rule \"on\" at[p] = 1 ==> at[p] := 2; end;
          rule \"mark\" at[p] = 2 & !mark[p] ==> mark[p] := true; end;
          rule \"end\" at[p] = 2 & mark[p] & done < 3 ==> at[p] := 3; done := done + 1; end;
          rule \"again\" at[p] = 1 ==> at[p] := 0; end;
        end;
        invariant \"few\" done < 3;";
    let mut sources = SourceMap::default();
    sources.add("model.m", text);
    let (model, _) = TextModel::load(&murphi::LANGUAGE, sources, Options::default()).unwrap();
    let whole = searched(model.searched().model(), OF_RANDOM.states).unwrap();
    for method in [PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional] {
        let (symmetry, chosen) = (scalarsets("exact"), by_way(method));
        let mut states = Vec::new();
        for plan in [chosen.clone(), symmetry.clone(), both(&symmetry, &chosen)] {
            let (reduced, _) =
                TextModel::load(&murphi::LANGUAGE, model.sources.clone(), Options::default())
                    .unwrap();
            let reduced = reduced.with_plan(plan.clone());
            let ready = reduced.searched();
            let (visited, found) = searched(ready.model(), OF_RANDOM.states).unwrap();
            let kinds = |found: &Found| found.keys().copied().collect::<BTreeSet<_>>();
            assert_eq!(kinds(&found), kinds(&whole.1), "{plan:?}");
            states.push(visited.len());
        }
        assert!(states[2] < states[0] && states[2] < states[1], "{states:?}");
    }
}

/// The checks that are tried.
fn all_checks() -> [CheckSelection; 4] {
    [
        DEADLOCKS,
        CheckSelection::default(),
        CheckSelection { assertions: true, ..CheckSelection::NONE },
        CheckSelection { invariants: true, ..CheckSelection::NONE },
    ]
}

/// The provisos by which states are run through.
const CHAINS: [CycleProviso; 2] = [CycleProviso::Chains, CycleProviso::StaticChains];

/// Every method, and what keeps it from putting steps off for ever, where that matters.
fn ways(checks: &CheckSelection) -> Vec<PartialOrderStrategy> {
    ways_by(&[CycleProviso::Static, CycleProviso::Levels], checks)
}

/// The same where states are run through.
fn ways_by_chains(checks: &CheckSelection) -> Vec<PartialOrderStrategy> {
    ways_by(&CHAINS, checks)
}

fn ways_by(provisos: &[CycleProviso], checks: &CheckSelection) -> Vec<PartialOrderStrategy> {
    let by = |method| provisos.iter().map(move |&proviso| PartialOrderStrategy { method, proviso });
    let ways = CHOOSING.into_iter().flat_map(by);
    // What is chosen hardly depends on the proviso.
    let is_tried = |it: &PartialOrderStrategy| match it.proviso {
        CycleProviso::Levels => *checks != DEADLOCKS,
        // Without anything to take up it is `static`.
        CycleProviso::StaticChains if *checks == DEADLOCKS => false,
        CycleProviso::Chains | CycleProviso::StaticChains => {
            is_large()
                || matches!(it.method, PartialOrderMethod::Local | PartialOrderMethod::Conditional)
        }
        CycleProviso::Static => {
            is_large()
                || *checks == DEADLOCKS
                || matches!(it.method, PartialOrderMethod::Local | PartialOrderMethod::Conditional)
        }
    };
    ways.filter(is_tried).collect()
}

pub fn is_reduced_well(interp: &Interp, extent: Extent, census: &Census) -> Tried<()> {
    if interp.selector().is_err() {
        return Ok(());
    }
    let Some(whole) = searched(interp, extent.states) else { return Ok(()) };
    for checks in all_checks() {
        for way in ways(&checks).into_iter().chain(ways_by_chains(&checks)) {
            keeps_verdicts(interp, &whole, way, &checks, (extent, census))?;
        }
    }
    Ok(())
}

impl Census {
    pub fn show(&self) {
        let Census { searched, fewer, violated, close } = self;
        let [searched, fewer, violated, close] = [searched, fewer, violated, close].map(Cell::get);
        println!(
            "{searched} searches, {fewer} of fewer states, {violated} with violations, {close} choices"
        );
    }
}

#[test]
fn random_programs_keep_their_verdicts() {
    let census = Census::default();
    try_all(90, programs(), |Generated(mut program)| {
        if program.actions.len().is_multiple_of(2) {
            program.end = EndRule::NeverStuttering;
        }
        let interp = Interp::new(program).expect("what is generated can be executed");
        is_reduced_well(&interp, OF_RANDOM, &census)
    });
    census.show();
}

fn load(language: &'static Language, name: &str, text: &str, options: Options) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    let loaded = TextModel::load(language, sources, options);
    loaded.map(|(model, _)| model).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Our models in the configurations that they promise something of, without those that take long.
fn ours(wanted: impl Fn(&Promise) -> bool) -> Vec<(Promise, TextModel)> {
    let mut all = Vec::new();
    for file in models() {
        let text = std::fs::read_to_string(&file).unwrap();
        for promise in promises(&file, &text) {
            if promise.large || promise.symmetry.is_some() || !wanted(&promise) {
                continue;
            }
            let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
            let options = Options { defines: promise.defines.clone(), ..Options::default() };
            let model = load(language, &file.to_string_lossy(), &text, options);
            all.push((promise, model));
        }
    }
    all
}

/// A number in the header of a model.
fn promised(promise: &Promise, name: &str) -> u64 {
    promise.fields[name].parse().unwrap()
}

#[test]
fn our_models_keep_their_verdicts() {
    let census = Census::default();
    for (promise, model) in ours(|promise| promised(promise, "states") <= OF_OURS.states as u64) {
        let result = is_reduced_well(&model.interp, OF_OURS, &census);
        result.unwrap_or_else(|error| panic!("{}: {error}", promise.place));
    }
    census.show();
    let Census { searched, fewer, violated, close } = census;
    assert!(searched.get() > 500 && fewer.get() > 200 && violated.get() > 50 && close.get() > 500);
}

/// Those of others with few states; the references count without claims.
#[test]
fn the_corpus_keeps_its_verdicts() {
    let census = Census::default();
    for (name, model) in of_the_corpus(&["dve", "murphi", "promela"], as_counted()) {
        let result = is_reduced_well(&model.interp, OF_OTHERS, &census);
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    census.show();
}

const ASSERTIONS: CheckSelection = CheckSelection { assertions: true, ..CheckSelection::NONE };
const INVARIANTS: CheckSelection = CheckSelection { invariants: true, ..CheckSelection::NONE };
const FAULTS: CheckSelection = CheckSelection { faults: true, ..CheckSelection::NONE };

/// A process goes round, another fails with its second step, which nobody else has to do with.
const FAILS_BESIDE_A_CIRCLE: &str = "
    byte x;
    process Circle { state a, b; init a; trans a -> b { }, b -> a { }; }
    process Fails { state a, b, c; init a; trans a -> b { }, b -> c { effect x = 1 / x; }; }
    system async;";

/// A process goes round, another breaks with its second step what is said of a third.
const BROKEN_BESIDE_A_CIRCLE: &str = "
    byte x;
    process Circle { state a, b; init a; trans a -> b { }, b -> a { }; }
    process Breaks { state a, b, c; init a; trans a -> b { }, b -> c { effect x = 2; }; }
    process Watch { state a, b; init a; assert a: x < 2; trans a -> b { guard x > 2; }; }
    system async;";

const RULES_BESIDE_A_CIRCLE: &str = "
    var round: 0..1; far: 0..1; x: 0..1;
    startstate round := 0; far := 0; x := 0; end;
    rule \"there\" round = 0 ==> round := 1; end;
    rule \"back\" round = 1 ==> round := 0; end;
    rule \"go\" far = 0 ==> far := 1; end;
    rule \"break\" far = 1 ==> x := 1; end;
    invariant \"whole\" x = 0;";

/// What is said of the first holds unless the second is quicker.
const SEEN_ON_THE_WAY: &str = "
    byte x;
    process Watch { state a, b; init a; assert a: x < 2; trans a -> b { }; }
    process Breaks { state a, b, c; init a; trans a -> b { effect x = 2; }, b -> c { effect x = 0; }; }
    system async;";

const RULES_SEEN_ON_THE_WAY: &str = "
    var x, y: 0..1;
    startstate x := 0; y := 0; end;
    rule \"first\" y = 0 ==> y := 1; end;
    rule \"second\" x = 0 ==> x := 1; end;
    invariant \"in order\" x = 1 -> y = 1;";

pub fn interp(language: &str, text: &str) -> Interp {
    load(Language::from_name(language).unwrap(), "model", text, Options::default()).interp
}

/// A model reduced as another, `seen`, would be.
fn reduced_as<'m>(
    seen: &'m Interp,
    model: &'m Interp,
    way: impl Into<PartialOrderStrategy>,
    checks: &CheckSelection,
) -> Box<dyn StateSpace + 'm> {
    let selector = Box::new(model.selector().unwrap());
    let reduction =
        PartialOrder::of(seen, selector, way, checks, &AnalysisBudget::largest()).unwrap();
    reduction.wrap(Box::new(model))
}

/// All states and violations of a model reduced by the default strategy, for all checks.
pub fn searched_by_default(model: &Interp) -> (BTreeSet<Vec<u8>>, Found) {
    let reduced = reduced_as(model, model, PartialOrderMethod::DEFAULT, &CheckSelection::ALL);
    searched(&*reduced, usize::MAX).unwrap()
}

/// What is found wrong in a model, of what some checks look for.
fn found(model: &dyn StateSpace, checks: &CheckSelection, carries: bool) -> BTreeSet<Violation> {
    let (_, found) = searched_and(model, usize::MAX, carries).unwrap();
    found.into_keys().filter(|&it| checks.selects(model, it)).collect()
}

/// The ignoring problem: without the obligations what the circle puts off would be lost.
#[test]
fn what_a_circle_puts_off_is_taken_up() {
    let all = &CHOOSING[..];
    for (language, text, checks, methods) in [
        ("dve", FAILS_BESIDE_A_CIRCLE, FAULTS, all),
        ("dve", BROKEN_BESIDE_A_CIRCLE, ASSERTIONS, all),
        // Rules belong to no process.
        (
            "murphi",
            RULES_BESIDE_A_CIRCLE,
            INVARIANTS,
            &[PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional],
        ),
    ] {
        let model = interp(language, text);
        assert_eq!(found(&model, &checks, true).len(), 1, "{text}");
        for &method in methods {
            let name = method.name();
            let by = |proviso| {
                reduced_as(&model, &model, PartialOrderStrategy { method, proviso }, &checks)
            };
            let reduced = by(CycleProviso::Levels);
            assert_eq!(found(&*reduced, &checks, true).len(), 1, "{name}: {text}");
            assert!(found(&*reduced, &checks, false).is_empty(), "{name}: {text}");
            // Nothing is left to be taken up.
            for proviso in [CycleProviso::Static, CycleProviso::Chains, CycleProviso::StaticChains]
            {
                let found = found(&*by(proviso), &checks, false);
                assert_eq!(found.len(), 1, "{name} {proviso:?}: {text}");
            }
        }
    }
}

/// Where a step back to where it began leads nowhere, what is chosen is not such steps alone: the rest
/// would never be taken.
#[test]
fn steps_that_lead_nowhere_put_nothing_off() {
    let text = "var x: 0..3; y: boolean;
rule \"clear\" true ==> y := false; end;
rule \"repeat\" x < 3 ==> x := x; end;
rule \"count\" x < 3 ==> x := x + 1; end;
startstate x := 0; y := false; end;";
    let model = interp("murphi", text);
    for checks in [DEADLOCKS, CheckSelection::default()] {
        for way in ways(&checks).into_iter().chain(ways_by_chains(&checks)) {
            let reduced = reduced_as(&model, &model, way, &checks);
            let found = found(&*reduced, &checks, true);
            assert_eq!(found, BTreeSet::from([Violation::Deadlock]), "{way:?}");
        }
    }
}

/// If only deadlocks count, nothing is visible, and what can be seen on the way only is not seen.
#[test]
fn what_is_visible_is_not_put_behind() {
    let all = &CHOOSING[..];
    for (language, text, checks, methods) in [
        ("dve", SEEN_ON_THE_WAY, ASSERTIONS, all),
        (
            "murphi",
            RULES_SEEN_ON_THE_WAY,
            INVARIANTS,
            &[PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional],
        ),
    ] {
        let model = interp(language, text);
        assert_eq!(found(&model, &checks, true).len(), 1, "{text}");
        for &method in methods {
            let seen = reduced_as(&model, &model, method, &checks);
            assert_eq!(found(&*seen, &checks, true).len(), 1, "{}: {text}", method.name());
            for proviso in CHAINS {
                let seen =
                    reduced_as(&model, &model, PartialOrderStrategy { method, proviso }, &checks);
                assert_eq!(found(&*seen, &checks, true).len(), 1, "{method:?} {proviso:?}: {text}");
            }
            let unseen = reduced_as(&model, &model, method, &DEADLOCKS);
            assert!(found(&*unseen, &checks, true).is_empty(), "{}: {text}", method.name());
        }
    }
}

/// A guard that asks for a value which the analysis has ruled out, and computes with it behind that.
#[test]
fn values_that_are_never_stored_are_not_computed_with() {
    let text = "byte x[2]; byte i;
        active proctype P() { if :: i == 1 && x[i] % 2 == 1 -> x[0] = 1 :: x[0] == 0 -> x[1] = 2 fi }
        active proctype Q() { x[1] = 1 }";
    let model = interp("promela", text);
    for way in ways(&CheckSelection::default()) {
        let reduced = reduced_as(&model, &model, way, &CheckSelection::default());
        assert!(found(&*reduced, &CheckSelection::default(), true).is_empty(), "{way:?}");
    }
}

/// Processes that end and receives with constants: one order is enough, as neither the end of a process nor
/// a message behind another makes anything else possible.
#[test]
fn ends_and_messages_behind_others_are_not_waited_for() {
    for (text, states) in [
        (
            "chan left = [2] of { byte }; chan right = [2] of { byte };
            proctype Node(chan in; chan out) {
                byte x;
                out!1; out!2;
                do :: in?1 -> x++ :: in?2 -> break od
            }
            init { atomic { run Node(left, right); run Node(right, left) } }",
            15,
        ),
        (
            "chan c = [3] of { byte };
            active proctype Ones() { c!1; c!1; c!1 }
            active proctype Twos() { c!2; c!2; c!2 }
            active proctype Takes() { byte x; do :: c?1 -> x++ :: c?2 -> skip od }",
            70,
        ),
    ] {
        let model = interp("promela", text);
        for method in [PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional] {
            let reduced = reduced_as(&model, &model, method, &DEADLOCKS);
            let (seen, _) = searched(&*reduced, usize::MAX).unwrap();
            assert_eq!(seen.len(), states, "{}: {text}", method.name());
        }
    }
}

/// Philosophers who take either fork first.
fn philosophers() -> String {
    let fork = |at: usize| format!("fork_{}", at % 4);
    let philosopher = |at: usize| {
        let (left, right) = (fork(at), fork(at + 1));
        let take = |from: &str, to: &str, it: &str| {
            format!("{from} -> {to} {{ guard {it} == 0; effect {it} = 1; }}, ")
        };
        let takes = take("t", "l", &left) + &take("l", "e", &right);
        let takes = takes + &take("t", "r", &right) + &take("r", "e", &left);
        format!(
            "process P{at} {{ state t, l, r, e, d; init t; trans {takes}
             e -> d {{ effect {left} = 0; }}, d -> t {{ effect {right} = 0; }}; }}\n"
        )
    };
    let forks: String = (0..4).map(|at| format!("byte {};\n", fork(at))).collect();
    forks + &(0..4).map(philosopher).collect::<String>() + "system async;"
}

/// A ring in which the greatest number is looked for, with buffers that are processes.
fn ring() -> String {
    let node = |at: usize| {
        let next = (at + 1) % 4;
        format!(
            "process N{at} {{ byte m; state s, w, g, a, b, h; init s; trans
               s -> w {{ sync i{next}!{at}; }}, w -> g {{ sync o{at}?m; }}, g -> a {{ guard m < {at}; }},
               g -> b {{ guard m > {at}; }}, g -> h {{ guard m == {at}; }},
               b -> w {{ sync i{next}!m; }}, a -> w {{ }}; }}
             process C{at} {{ byte q; state e, f, g; init e; trans
               e -> f {{ sync i{at}?q; }}, f -> e {{ sync o{at}!q; }},
               f -> g {{ sync i{at}?q; }}, g -> f {{ sync o{at}!q; }}; }}\n"
        )
    };
    let channels: Vec<String> = (0..4).map(|at| format!("i{at}, o{at}")).collect();
    let nodes: String = (0..4).map(node).collect();
    format!("channel {};\n{nodes}system async;", channels.join(", "))
}

/// What each part of choosing is for: without it there are more states.
#[test]
fn no_more_is_chosen_than_has_to_be() {
    for (text, states) in [
        // Closures alone give 151.
        (philosophers(), 111),
        // Waiting only for who comes to a place, and not for who leaves another, gives 230.
        (ring(), 221),
        // If nothing is known of `x % 5`, 17.
        (
            "byte y;
            process A { byte x = 7; state a, b, c; init a;
              trans a -> b { guard y == 1 && x % 5 == 1; }, a -> c { guard x < 9; effect x = 5; }; }
            process B { byte n; state a, b; init a;
              trans a -> a { guard n < 5; effect n = n + 1; }, a -> b { guard n == 5; effect y = 1; }; }
            process C { byte n; state a, b; init a;
              trans a -> a { guard n < 5; effect n = n + 1; }, a -> b { guard n == 5; effect y = 2; }; }
            system async;"
                .to_string(),
            16,
        ),
    ] {
        let model = interp("dve", &text);
        for method in [PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional] {
            let reduced = reduced_as(&model, &model, method, &DEADLOCKS);
            let (seen, _) = searched(&*reduced, usize::MAX).unwrap();
            assert_eq!(seen.len(), states, "{}: {text}", method.name());
        }
    }
}

/// Models that lose their violation if one thing is not known of them: what the choice is told then is a
/// model with another word in its place.
#[test]
fn a_relation_that_misses_one_thing_is_found_out() {
    for (text, word, other) in [
        // That a process writes what another reads.
        (
            "byte x, z;
            active proctype Sees() { assert(x == 0); x = 1; z = 1 }
            active proctype Sets() { x = 1 }",
            "Sets() { x",
            "Sets() { z",
        ),
        // That a sorted send may come before what is received.
        (
            "chan q = [2] of { byte };
            active proctype Takes() { byte x; q?x; assert(x == 2) }
            active proctype Sends() { q!2; q!!1 }",
            "q!!1",
            "q!1",
        ),
        // That a send may fill a channel.
        (
            "byte x; chan q = [1] of { byte };
            active proctype Sees() { assert(x == 0) }
            active proctype Sets() { d_step { full(q); x = 1 } }
            active proctype Sends() { q!1 }",
            "full",
            "empty",
        ),
    ] {
        let (model, seen) =
            (interp("promela", text), interp("promela", &text.replace(word, other)));
        assert_eq!(model.layout(), seen.layout());
        assert_eq!(found(&model, &ASSERTIONS, true).len(), 1, "{text}");
        let known = reduced_as(&model, &model, PartialOrderMethod::Stubborn, &ASSERTIONS);
        assert_eq!(found(&*known, &ASSERTIONS, true).len(), 1, "{text}");
        let unknown = reduced_as(&seen, &model, PartialOrderMethod::Stubborn, &ASSERTIONS);
        assert!(found(&*unknown, &ASSERTIONS, true).is_empty(), "{text}");
    }
}

#[test]
fn counterexamples_are_runs_of_the_model_as_it_was_given() {
    let (mut runs, mut longer, mut reduced) = (0, 0, 0);
    let is_violated = |promise: &Promise| promise.fields["verdict"] == "violated";
    for (promise, model) in ours(is_violated) {
        if model.claim().is_some() {
            continue;
        }
        let (place, depth) = (&promise.place, promised(&promise, "depth") as usize);
        let is_deadlock = promise.fields["kind"] == "deadlock";
        let checks = if is_deadlock { DEADLOCKS } else { CheckSelection::default() };
        for way in ways(&checks).into_iter().chain(ways_by_chains(&checks)) {
            let runs_on = CHAINS.contains(&way.proviso);
            let rewritings = if runs_on { bisimilar() } else { ReductionPlan::default() };
            let reduce = both(&rewritings, &by_way(way));
            let found =
                Check::of_text(&model).checks(checks).memory(memory_beside_tests(512)).threads(2);
            let found = found.reduce(reduce).run().unwrap();
            let way = found.counterexample().unwrap();
            let trace = way.unwrap_or_else(|| panic!("{place}: nothing is found")).trace();
            assert_is_run(place, &model.interp, &trace);
            assert!(
                trace.depth() >= depth && (trace.depth() == depth || !is_deadlock || runs_on),
                "{place}"
            );
            runs += 1;
            longer += u32::from(trace.depth() > depth);
            reduced += u32::from(found.outcome().counters.partially_expanded > 0);
        }
    }
    println!("{runs} runs, {longer} not shortest, {reduced} of reduced searches");
    assert!(runs > 50 && reduced > 20);
}

/// Protocols 1, 2 and 3 of Holzmann, Godefroid and Pirottin (1992). Nothing can fail in them.
#[test]
fn protocols_of_1992_have_the_states_of_the_paper() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve");
    let everything = CheckSelection::default();
    for (name, checks, states, transitions) in [
        ("independent_lines.dve", DEADLOCKS, 46, 45),
        ("independent_lines.dve", everything, 46, 45),
        // Where there is no end to find, one circle is enough.
        ("independent_cycles.dve", DEADLOCKS, 10, 10),
        ("independent_cycles.dve", everything, 10, 10),
        ("dependent_lines.dve", DEADLOCKS, 100_000, 450_000),
        ("dependent_lines.dve", everything, 100_000, 450_000),
    ] {
        let (mut model, _) = TextModel::open(&folder.join(name), Options::default()).unwrap();
        for way in ways(&checks) {
            model = model.with_plan(by_way_for(way, checks));
            let found =
                Check::of_text(&model).checks(checks).memory(memory_beside_tests(512)).keep_going();
            let found = found.run().unwrap();
            let counts = (found.states(), found.outcome().counters.transitions);
            assert_eq!(counts, (states, transitions), "{name}, {way:?}");
        }
    }
}
