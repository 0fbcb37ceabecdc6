//! Partial order reduction: the chosen sets are persistent, and every violation is found that is found without it.
//!
//! The programs are random programs, our models, and with `SPILLWAY_CORPUS` an external corpus. A condition model loses
//! a violation if one part of the method is omitted. Counterexamples are runs of the model as written. `SPILLWAY_LARGE`
//! runs more random programs, which take minutes.

use crate::generated::{Generated, programs, try_all};
use crate::runs::assert_is_run;
use crate::support::collection::{corpus_models, reference_options};
use crate::support::is_large;
use crate::support::memory::memory_beside_tests;
use crate::support::promises::{Promise, models, promises};
use crate::support::reductions::both;
use crate::support::reductions::{
    bisimilar, partial_order_plan, partial_order_plan_for, scalarsets,
};
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

/// The number of states on runs of unchosen transitions that are examined.
const OUTSIDE_MAX: usize = 40;

/// Programs with more transitions per state are not searched, because some have hundreds.
const TRANSITIONS_EACH_MAX: usize = 10;

/// The limits of a trial.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Programs with more states are not searched.
    pub states: usize,
    /// The number of states whose chosen sets are examined, in each search.
    pub checked_choices: usize,
}

pub const RANDOM_PROGRAMS: Extent = Extent { states: 800, checked_choices: 25 };
const OWN_MODELS: Extent = Extent { states: 1500, checked_choices: 2 };
const CORPUS_MODELS: Extent = Extent { states: 20_000, checked_choices: 2 };

pub type TestResult<T> = Result<T, TestCaseError>;

/// The methods that reduce the number of states. `tests/reduce/sleep.rs` tries sleep sets.
const REDUCING_METHODS: [PartialOrderMethod; 4] = [
    PartialOrderMethod::Local,
    PartialOrderMethod::Overman,
    PartialOrderMethod::Stubborn,
    PartialOrderMethod::Conditional,
];

/// Only deadlocks are checked.
const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };

/// The result of one action instance in a state: successors, exclusions and faults.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InstanceOutcome {
    successors: BTreeSet<Vec<u8>>,
    excluded: u64,
    faults: BTreeSet<Violation>,
}

/// Executes the action instances of a model one by one.
struct InstanceExecutor<'m> {
    model: &'m dyn SelectiveStateSpace,
    width: usize,
}

impl InstanceExecutor<'_> {
    fn enabled(&self, state: &[u8]) -> Vec<InstanceId> {
        let mut sets = self.model.instances().sets();
        self.model.enabled(state, &mut sets).unwrap();
        sets.iter(0).collect()
    }

    fn execute(&self, instance: InstanceId, state: &[u8]) -> InstanceOutcome {
        let mut sets = self.model.instances().sets();
        sets.clear(1);
        sets.insert(0, instance);
        let mut buffer = Vec::new();
        let run = |out: &mut SuccessorSink| self.model.expand_chosen(state, &sets, out);
        let collected = SuccessorSink::collect(self.width, &mut buffer, run).unwrap();
        InstanceOutcome {
            successors: buffer.chunks_exact(self.width).map(<[u8]>::to_vec).collect(),
            excluded: collected.counters.excluded,
            faults: collected.findings.iter().map(|(check, _)| check).collect(),
        }
    }

    /// Returns the successors of an instance in some states.
    fn successors_in(&self, instance: InstanceId, states: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
        states.iter().flat_map(|state| self.execute(instance, state).successors).collect()
    }
}

/// Checks definition 7 of Godefroid and Pirottin (1993) on short runs of unchosen transitions: a chosen transition
/// remains enabled, has the same outcome, and commutes with them.
fn check_persistence(
    executor: &InstanceExecutor,
    state: &[u8],
    chosen: &[InstanceId],
) -> TestResult<()> {
    let initial_outcomes: Vec<InstanceOutcome> =
        chosen.iter().map(|&it| executor.execute(it, state)).collect();
    let (mut seen, mut open) = (BTreeSet::from([state.to_vec()]), VecDeque::from([state.to_vec()]));
    while let Some(state_on_run) = open.pop_front() {
        let enabled = executor.enabled(&state_on_run);
        let mut next = Vec::new();
        for (&instance, initial) in chosen.iter().zip(&initial_outcomes) {
            prop_assert!(
                enabled.contains(&instance),
                "{instance:?} is disabled, in {state_on_run:02x?}"
            );
            let outcome = executor.execute(instance, &state_on_run);
            let same = (outcome.successors.len(), outcome.excluded, &outcome.faults);
            prop_assert_eq!(same, (initial.successors.len(), initial.excluded, &initial.faults));
            let possible: Vec<_> =
                outcome.successors.iter().map(|state| executor.enabled(state)).collect();
            next.push((instance, outcome.successors, possible));
        }
        for &other in enabled.iter().filter(|it| !chosen.contains(it)) {
            let other_outcome = executor.execute(other, &state_on_run);
            for (instance, next, possible) in &next {
                let is_possible = possible.iter().all(|it| it.contains(&other));
                prop_assert!(
                    is_possible,
                    "{instance:?} disables {other:?}, in {state_on_run:02x?}"
                );
                let orders = [
                    executor.successors_in(other, next),
                    executor.successors_in(*instance, &other_outcome.successors),
                ];
                prop_assert!(
                    orders[0] == orders[1],
                    "{instance:?} and {other:?} do not commute, in {state_on_run:02x?}: {orders:02x?}"
                );
            }
            for state in other_outcome.successors {
                if seen.len() < OUTSIDE_MAX && seen.insert(state.clone()) {
                    open.push_back(state);
                }
            }
        }
    }
    Ok(())
}

/// The violations, each with its first level.
pub type ViolationLevels = BTreeMap<Violation, usize>;

/// The successors and findings of one expansion.
#[derive(Default)]
struct Expansion {
    buffer: Vec<u8>,
    found: BTreeSet<Violation>,
}

impl Expansion {
    fn of(width: usize, run: impl FnOnce(&mut SuccessorSink)) -> Expansion {
        let mut buffer = Vec::new();
        let collected = SuccessorSink::collect(width, &mut buffer, run).unwrap();
        let found = collected.findings.iter().map(|(check, _)| check).collect();
        Expansion { buffer, found }
    }
}

/// Returns all reachable states and violations, explored level by level, or nothing if there are more than `max_states`
/// states. A state's postponed transitions are expanded together with the next level if none of its successors is new.
pub fn explore(
    model: &dyn StateSpace,
    max_states: usize,
) -> Option<(BTreeSet<Vec<u8>>, ViolationLevels)> {
    explore_with(model, max_states, true)
}

/// Does the same, but expands postponed transitions only if `re_expands` holds.
fn explore_with(
    model: &dyn StateSpace,
    max_states: usize,
    re_expands: bool,
) -> Option<(BTreeSet<Vec<u8>>, ViolationLevels)> {
    let width = model.width();
    let (mut seen, mut found, mut obliged) = (BTreeSet::new(), ViolationLevels::new(), Vec::new());
    let start = Expansion::of(width, |out| model.initial(out));
    let note = |found: &mut ViolationLevels, expansion: &Expansion, level: usize| {
        for &it in &expansion.found {
            found.entry(it).or_insert(level);
        }
    };
    note(&mut found, &start, 0);
    let mut level: BTreeSet<Vec<u8>> =
        start.buffer.chunks_exact(width).map(<[u8]>::to_vec).collect();
    seen.extend(level.iter().cloned());
    let mut transitions = 0;
    for number in 0.. {
        if level.is_empty() && obliged.is_empty() {
            break;
        }
        if seen.len() > max_states || transitions / TRANSITIONS_EACH_MAX > max_states {
            return None;
        }
        let mut next = Vec::new();
        let mut obligations: BTreeMap<&Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for state in &level {
            let expansion = Expansion::of(width, |out| match model.capabilities().postponing {
                None => model.expand(state, out),
                Some(model) => {
                    let mut add_obligation = |_: usize, successor: &[u8]| {
                        obligations.entry(state).or_default().push(successor.to_vec());
                    };
                    model.expand_reduced(state, out, &mut ObligationSink::new(&mut add_obligation));
                }
            });
            note(&mut found, &expansion, number);
            next.push(expansion.buffer);
        }
        for state in std::mem::take(&mut obliged) {
            let state: Vec<u8> = state;
            let postponing = model.capabilities().postponing.expect("it was postponed");
            let expansion = Expansion::of(width, |out| postponing.expand_postponed(&state, out));
            note(&mut found, &expansion, number);
            next.push(expansion.buffer);
        }
        transitions += next.iter().map(Vec::len).sum::<usize>() / width;
        let candidates = next.iter().flat_map(|buffer| buffer.chunks_exact(width));
        let new: BTreeSet<Vec<u8>> =
            candidates.filter(|it| !seen.contains(*it)).map(<[u8]>::to_vec).collect();
        let is_ignored =
            |successors: &Vec<Vec<u8>>| re_expands && !successors.iter().any(|it| new.contains(it));
        obliged = obligations
            .iter()
            .filter(|(_, it)| is_ignored(it))
            .map(|(&it, _)| it.clone())
            .collect();
        seen.extend(new.iter().cloned());
        level = new;
    }
    Some((seen, found))
}

/// Returns the violations that the checks select.
fn selected(
    model: &dyn StateSpace,
    checks: &CheckSelection,
    found: &ViolationLevels,
) -> ViolationLevels {
    let counts = |(check, _): &(&Violation, &usize)| checks.selects(model, **check);
    found.iter().filter(counts).map(|(&check, &level)| (check, level)).collect()
}

/// Counts of the searches.
#[derive(Default)]
pub struct Census {
    pub searched: Cell<u32>,
    pub fewer: Cell<u32>,
    pub violated: Cell<u32>,
    pub checked_choices: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// Checks that a reduced search finds the same violations.
fn check_verdicts(
    interp: &Interp,
    full: &(BTreeSet<Vec<u8>>, ViolationLevels),
    strategy: PartialOrderStrategy,
    checks: &CheckSelection,
    (extent, census): (Extent, &Census),
) -> TestResult<()> {
    let selector = || Box::new(interp.selector().unwrap());
    let Ok(reduction) =
        PartialOrder::of(interp, selector(), strategy, checks, &AnalysisBudget::largest())
    else {
        return Ok(());
    };
    let reduced = reduction.wrap(Box::new(interp));
    let (states, found) = explore(&*reduced, usize::MAX).unwrap();
    prop_assert!(states.is_subset(&full.0));
    let (found, expected) = (selected(interp, checks, &found), selected(interp, checks, &full.1));
    let kinds = |found: &ViolationLevels| found.keys().copied().collect::<BTreeSet<_>>();
    prop_assert_eq!(kinds(&found), kinds(&expected), "{:?} {:?}", strategy, checks);
    if *checks == DEADLOCKS && !CHAINS.contains(&strategy.proviso) {
        prop_assert_eq!(&found, &expected, "deadlocks by {:?}", strategy);
    }
    count(&census.searched);
    if states.len() < full.0.len() {
        count(&census.fewer);
    }
    if !expected.is_empty() {
        count(&census.violated);
    }
    // The proviso affects the chosen sets only by preferences.
    let executor = InstanceExecutor { model: &*selector(), width: interp.width() };
    let partial = full.0.iter().filter_map(|state| {
        let chosen = reduction.chosen_instances(state).unwrap();
        (chosen.len() < executor.enabled(state).len()).then_some((state, chosen))
    });
    for (state, chosen) in partial.take(extent.checked_choices) {
        prop_assert!(!chosen.is_empty(), "no transition of {state:02x?} is chosen");
        check_persistence(&executor, state, &chosen)?;
        count(&census.checked_choices);
    }
    Ok(())
}

/// A symmetric program with postponed transitions, under both reductions.
#[test]
fn symmetry_combines_with_partial_order() {
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
    let full = explore(model.searched().model(), RANDOM_PROGRAMS.states).unwrap();
    for method in [PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional] {
        let (symmetry, chosen) = (scalarsets("exact"), partial_order_plan(method));
        let mut states = Vec::new();
        for plan in [chosen.clone(), symmetry.clone(), both(&symmetry, &chosen)] {
            let (reduced, _) =
                TextModel::load(&murphi::LANGUAGE, model.sources.clone(), Options::default())
                    .unwrap();
            let reduced = reduced.with_plan(plan.clone());
            let searched_model = reduced.searched();
            let (visited, found) = explore(searched_model.model(), RANDOM_PROGRAMS.states).unwrap();
            let kinds = |found: &ViolationLevels| found.keys().copied().collect::<BTreeSet<_>>();
            assert_eq!(kinds(&found), kinds(&full.1), "{plan:?}");
            states.push(visited.len());
        }
        assert!(states[2] < states[0] && states[2] < states[1], "{states:?}");
    }
}

/// The selections of checks that are tried.
fn all_checks() -> [CheckSelection; 4] {
    [
        DEADLOCKS,
        CheckSelection::default(),
        CheckSelection { assertions: true, ..CheckSelection::NONE },
        CheckSelection { invariants: true, ..CheckSelection::NONE },
    ]
}

/// The provisos under which chains of states are traversed.
const CHAINS: [CycleProviso; 2] = [CycleProviso::Chains, CycleProviso::StaticChains];

/// Returns every method with the provisos that the checks require.
fn strategies(checks: &CheckSelection) -> Vec<PartialOrderStrategy> {
    strategies_by(&[CycleProviso::Static, CycleProviso::Levels], checks)
}

/// Returns the same methods with the provisos of chains.
fn strategies_by_chains(checks: &CheckSelection) -> Vec<PartialOrderStrategy> {
    strategies_by(&CHAINS, checks)
}

fn strategies_by(provisos: &[CycleProviso], checks: &CheckSelection) -> Vec<PartialOrderStrategy> {
    let by = |method| provisos.iter().map(move |&proviso| PartialOrderStrategy { method, proviso });
    let strategies = REDUCING_METHODS.into_iter().flat_map(by);
    // The chosen sets hardly depend on the proviso.
    let is_tried = |it: &PartialOrderStrategy| match it.proviso {
        CycleProviso::Levels => *checks != DEADLOCKS,
        // Without obligations, this proviso is the same as `static`.
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
    strategies.filter(is_tried).collect()
}

pub fn check_reductions(interp: &Interp, extent: Extent, census: &Census) -> TestResult<()> {
    if interp.selector().is_err() {
        return Ok(());
    }
    let Some(full) = explore(interp, extent.states) else { return Ok(()) };
    for checks in all_checks() {
        for strategy in strategies(&checks).into_iter().chain(strategies_by_chains(&checks)) {
            check_verdicts(interp, &full, strategy, &checks, (extent, census))?;
        }
    }
    Ok(())
}

impl Census {
    pub fn show(&self) {
        let Census { searched, fewer, violated, checked_choices } = self;
        let [searched, fewer, violated, checked_choices] =
            [searched, fewer, violated, checked_choices].map(Cell::get);
        println!(
            "{searched} searches, {fewer} of fewer states, {violated} with violations, {checked_choices} choices"
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
        let interp = Interp::new(program).expect("generated programs are executable");
        check_reductions(&interp, RANDOM_PROGRAMS, &census)
    });
    census.show();
}

fn load(language: &'static Language, name: &str, text: &str, options: Options) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    let loaded = TextModel::load(language, sources, options);
    loaded.map(|(model, _)| model).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns our models in the configurations of their headers, without the long ones.
fn own_models(wanted: impl Fn(&Promise) -> bool) -> Vec<(Promise, TextModel)> {
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
fn expected_number(promise: &Promise, name: &str) -> u64 {
    promise.fields[name].parse().unwrap()
}

#[test]
fn own_models_keep_their_verdicts() {
    let census = Census::default();
    for (promise, model) in
        own_models(|promise| expected_number(promise, "states") <= OWN_MODELS.states as u64)
    {
        let result = check_reductions(&model.interp, OWN_MODELS, &census);
        result.unwrap_or_else(|error| panic!("{}: {error}", promise.place));
    }
    census.show();
    let Census { searched, fewer, violated, checked_choices } = census;
    assert!(
        searched.get() > 500
            && fewer.get() > 200
            && violated.get() > 50
            && checked_choices.get() > 500
    );
}

/// The models of the corpus with few states. The reference counts are without claims.
#[test]
fn models_of_the_corpus_keep_their_verdicts() {
    let census = Census::default();
    for (name, model) in corpus_models(&["dve", "murphi", "promela"], reference_options()) {
        let result = check_reductions(&model.interp, CORPUS_MODELS, &census);
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    census.show();
}

const ASSERTIONS: CheckSelection = CheckSelection { assertions: true, ..CheckSelection::NONE };
const INVARIANTS: CheckSelection = CheckSelection { invariants: true, ..CheckSelection::NONE };
const FAULTS: CheckSelection = CheckSelection { faults: true, ..CheckSelection::NONE };

/// A process runs in a cycle. Another one fails in its second step, which is independent of all others.
const FAULT_BESIDE_CYCLE: &str = "
    byte x;
    process Circle { state a, b; init a; trans a -> b { }, b -> a { }; }
    process Fails { state a, b, c; init a; trans a -> b { }, b -> c { effect x = 1 / x; }; }
    system async;";

/// A process runs in a cycle. The second step of another one violates the assertion of a third.
const ASSERTION_BESIDE_CYCLE: &str = "
    byte x;
    process Circle { state a, b; init a; trans a -> b { }, b -> a { }; }
    process Breaks { state a, b, c; init a; trans a -> b { }, b -> c { effect x = 2; }; }
    process Watch { state a, b; init a; assert a: x < 2; trans a -> b { guard x > 2; }; }
    system async;";

const INVARIANT_BESIDE_CYCLE: &str = "
    var round: 0..1; far: 0..1; x: 0..1;
    startstate round := 0; far := 0; x := 0; end;
    rule \"there\" round = 0 ==> round := 1; end;
    rule \"back\" round = 1 ==> round := 0; end;
    rule \"go\" far = 0 ==> far := 1; end;
    rule \"break\" far = 1 ==> x := 1; end;
    invariant \"whole\" x = 0;";

/// The assertion of the first process is violated only if the second process moves first.
const ASSERTION_ON_ONE_ORDER: &str = "
    byte x;
    process Watch { state a, b; init a; assert a: x < 2; trans a -> b { }; }
    process Breaks { state a, b, c; init a; trans a -> b { effect x = 2; }, b -> c { effect x = 0; }; }
    system async;";

const INVARIANT_ON_ONE_ORDER: &str = "
    var x, y: 0..1;
    startstate x := 0; y := 0; end;
    rule \"first\" y = 0 ==> y := 1; end;
    rule \"second\" x = 0 ==> x := 1; end;
    invariant \"in order\" x = 1 -> y = 1;";

pub fn interp(language: &str, text: &str) -> Interp {
    load(Language::from_name(language).unwrap(), "model", text, Options::default()).interp
}

/// Returns a reduced model. The reduction reads the program of `analysed`.
fn reduced_by_program_of<'m>(
    analysed: &'m Interp,
    model: &'m Interp,
    strategy: impl Into<PartialOrderStrategy>,
    checks: &CheckSelection,
) -> Box<dyn StateSpace + 'm> {
    let selector = Box::new(model.selector().unwrap());
    let reduction =
        PartialOrder::of(analysed, selector, strategy, checks, &AnalysisBudget::largest()).unwrap();
    reduction.wrap(Box::new(model))
}

/// All states and violations of a model reduced by the default strategy, for all checks.
pub fn explore_by_default(model: &Interp) -> (BTreeSet<Vec<u8>>, ViolationLevels) {
    let reduced =
        reduced_by_program_of(model, model, PartialOrderMethod::DEFAULT, &CheckSelection::ALL);
    explore(&*reduced, usize::MAX).unwrap()
}

/// Returns the violations that the checks select.
fn violations_of(
    model: &dyn StateSpace,
    checks: &CheckSelection,
    re_expands: bool,
) -> BTreeSet<Violation> {
    let (_, found) = explore_with(model, usize::MAX, re_expands).unwrap();
    found.into_keys().filter(|&it| checks.selects(model, it)).collect()
}

/// The ignoring problem: without obligations, the transitions that the cycle postpones would be lost.
#[test]
fn transitions_that_a_cycle_postpones_are_expanded() {
    let all = &REDUCING_METHODS[..];
    for (language, text, checks, methods) in [
        ("dve", FAULT_BESIDE_CYCLE, FAULTS, all),
        ("dve", ASSERTION_BESIDE_CYCLE, ASSERTIONS, all),
        // Rules belong to no process.
        (
            "murphi",
            INVARIANT_BESIDE_CYCLE,
            INVARIANTS,
            &[PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional],
        ),
    ] {
        let model = interp(language, text);
        assert_eq!(violations_of(&model, &checks, true).len(), 1, "{text}");
        for &method in methods {
            let name = method.name();
            let with_proviso = |proviso| {
                reduced_by_program_of(
                    &model,
                    &model,
                    PartialOrderStrategy { method, proviso },
                    &checks,
                )
            };
            let reduced = with_proviso(CycleProviso::Levels);
            assert_eq!(violations_of(&*reduced, &checks, true).len(), 1, "{name}: {text}");
            assert!(violations_of(&*reduced, &checks, false).is_empty(), "{name}: {text}");
            // These provisos leave no obligations.
            for proviso in [CycleProviso::Static, CycleProviso::Chains, CycleProviso::StaticChains]
            {
                let found = violations_of(&*with_proviso(proviso), &checks, false);
                assert_eq!(found.len(), 1, "{name} {proviso:?}: {text}");
            }
        }
    }
}

/// A transition to the same state does not count as a successor. A chosen set of such transitions alone would postpone
/// the rest for ever.
#[test]
fn self_loops_postpone_no_transitions() {
    let text = "var x: 0..3; y: boolean;
rule \"clear\" true ==> y := false; end;
rule \"repeat\" x < 3 ==> x := x; end;
rule \"count\" x < 3 ==> x := x + 1; end;
startstate x := 0; y := false; end;";
    let model = interp("murphi", text);
    for checks in [DEADLOCKS, CheckSelection::default()] {
        for strategy in strategies(&checks).into_iter().chain(strategies_by_chains(&checks)) {
            let reduced = reduced_by_program_of(&model, &model, strategy, &checks);
            let found = violations_of(&*reduced, &checks, true);
            assert_eq!(found, BTreeSet::from([Violation::Deadlock]), "{strategy:?}");
        }
    }
}

/// If only deadlocks are checked, no transition is visible, and a violation in an intermediate state is lost.
#[test]
fn visible_transitions_are_not_postponed() {
    let all = &REDUCING_METHODS[..];
    for (language, text, checks, methods) in [
        ("dve", ASSERTION_ON_ONE_ORDER, ASSERTIONS, all),
        (
            "murphi",
            INVARIANT_ON_ONE_ORDER,
            INVARIANTS,
            &[PartialOrderMethod::Stubborn, PartialOrderMethod::Conditional],
        ),
    ] {
        let model = interp(language, text);
        assert_eq!(violations_of(&model, &checks, true).len(), 1, "{text}");
        for &method in methods {
            let reduced = reduced_by_program_of(&model, &model, method, &checks);
            assert_eq!(
                violations_of(&*reduced, &checks, true).len(),
                1,
                "{}: {text}",
                method.name()
            );
            for proviso in CHAINS {
                let reduced = reduced_by_program_of(
                    &model,
                    &model,
                    PartialOrderStrategy { method, proviso },
                    &checks,
                );
                assert_eq!(
                    violations_of(&*reduced, &checks, true).len(),
                    1,
                    "{method:?} {proviso:?}: {text}"
                );
            }
            let reduced_for_deadlocks = reduced_by_program_of(&model, &model, method, &DEADLOCKS);
            assert!(
                violations_of(&*reduced_for_deadlocks, &checks, true).is_empty(),
                "{}: {text}",
                method.name()
            );
        }
    }
}

/// A guard compares with a value that the analysis excludes, and then computes with it.
#[test]
fn impossible_values_are_not_evaluated() {
    let text = "byte x[2]; byte i;
        active proctype P() { if :: i == 1 && x[i] % 2 == 1 -> x[0] = 1 :: x[0] == 0 -> x[1] = 2 fi }
        active proctype Q() { x[1] = 1 }";
    let model = interp("promela", text);
    for strategy in strategies(&CheckSelection::default()) {
        let reduced = reduced_by_program_of(&model, &model, strategy, &CheckSelection::default());
        assert!(
            violations_of(&*reduced, &CheckSelection::default(), true).is_empty(),
            "{strategy:?}"
        );
    }
}

/// Processes that end, and receives of constants: one order suffices. Neither the end of a process nor a message behind
/// another one enables a transition.
#[test]
fn process_ends_and_queued_messages_enable_nothing() {
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
            let reduced = reduced_by_program_of(&model, &model, method, &DEADLOCKS);
            let (seen, _) = explore(&*reduced, usize::MAX).unwrap();
            assert_eq!(seen.len(), states, "{}: {text}", method.name());
        }
    }
}

/// Philosophers that take either fork first.
fn philosophers() -> String {
    let fork = |number: usize| format!("fork_{}", number % 4);
    let philosopher = |number: usize| {
        let (left, right) = (fork(number), fork(number + 1));
        let take = |from: &str, to: &str, fork: &str| {
            format!("{from} -> {to} {{ guard {fork} == 0; effect {fork} = 1; }}, ")
        };
        let takes = take("t", "l", &left) + &take("l", "e", &right);
        let takes = takes + &take("t", "r", &right) + &take("r", "e", &left);
        format!(
            "process P{number} {{ state t, l, r, e, d; init t; trans {takes}
             e -> d {{ effect {left} = 0; }}, d -> t {{ effect {right} = 0; }}; }}\n"
        )
    };
    let forks: String = (0..4).map(|number| format!("byte {};\n", fork(number))).collect();
    forks + &(0..4).map(philosopher).collect::<String>() + "system async;"
}

/// A ring that elects the greatest number, with buffers as processes.
fn ring() -> String {
    let node = |number: usize| {
        let next = (number + 1) % 4;
        format!(
            "process N{number} {{ byte m; state s, w, g, a, b, h; init s; trans
               s -> w {{ sync i{next}!{number}; }}, w -> g {{ sync o{number}?m; }}, g -> a {{ guard m < {number}; }},
               g -> b {{ guard m > {number}; }}, g -> h {{ guard m == {number}; }},
               b -> w {{ sync i{next}!m; }}, a -> w {{ }}; }}
             process C{number} {{ byte q; state e, f, g; init e; trans
               e -> f {{ sync i{number}?q; }}, f -> e {{ sync o{number}!q; }},
               f -> g {{ sync i{number}?q; }}, g -> f {{ sync o{number}!q; }}; }}\n"
        )
    };
    let channels: Vec<String> = (0..4).map(|number| format!("i{number}, o{number}")).collect();
    let nodes: String = (0..4).map(node).collect();
    format!("channel {};\n{nodes}system async;", channels.join(", "))
}

/// Each part of the choice reduces the number of states.
#[test]
fn each_part_of_the_choice_saves_states() {
    for (text, states) in [
        // Closures alone give 151 states.
        (philosophers(), 111),
        // Waiting only for processes that enter a location, not for those that leave it, gives 230.
        (ring(), 221),
        // Without facts about `x % 5`, there are 17.
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
            let reduced = reduced_by_program_of(&model, &model, method, &DEADLOCKS);
            let (seen, _) = explore(&*reduced, usize::MAX).unwrap();
            assert_eq!(seen.len(), states, "{}: {text}", method.name());
        }
    }
}

/// Models that lose their violation if one fact is missing. The reduction then reads a program with another word in its
/// place.
#[test]
fn a_missing_dependence_loses_a_violation() {
    for (text, word, replacement) in [
        // A process writes what another one reads.
        (
            "byte x, z;
            active proctype Sees() { assert(x == 0); x = 1; z = 1 }
            active proctype Sets() { x = 1 }",
            "Sets() { x",
            "Sets() { z",
        ),
        // A sorted send may precede a received message.
        (
            "chan q = [2] of { byte };
            active proctype Takes() { byte x; q?x; assert(x == 2) }
            active proctype Sends() { q!2; q!!1 }",
            "q!!1",
            "q!1",
        ),
        // A send may fill a channel.
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
            (interp("promela", text), interp("promela", &text.replace(word, replacement)));
        assert_eq!(model.layout(), seen.layout());
        assert_eq!(violations_of(&model, &ASSERTIONS, true).len(), 1, "{text}");
        let reduced =
            reduced_by_program_of(&model, &model, PartialOrderMethod::Stubborn, &ASSERTIONS);
        assert_eq!(violations_of(&*reduced, &ASSERTIONS, true).len(), 1, "{text}");
        let misled =
            reduced_by_program_of(&seen, &model, PartialOrderMethod::Stubborn, &ASSERTIONS);
        assert!(violations_of(&*misled, &ASSERTIONS, true).is_empty(), "{text}");
    }
}

#[test]
fn counterexamples_are_runs_of_the_original_model() {
    let (mut runs, mut longer, mut reduced) = (0, 0, 0);
    let is_violated = |promise: &Promise| promise.fields["verdict"] == "violated";
    for (promise, model) in own_models(is_violated) {
        if model.claim().is_some() {
            continue;
        }
        let (place, depth) = (&promise.place, expected_number(&promise, "depth") as usize);
        let is_deadlock = promise.fields["kind"] == "deadlock";
        let checks = if is_deadlock { DEADLOCKS } else { CheckSelection::default() };
        for strategy in strategies(&checks).into_iter().chain(strategies_by_chains(&checks)) {
            let has_chains = CHAINS.contains(&strategy.proviso);
            let rewritings = if has_chains { bisimilar() } else { ReductionPlan::default() };
            let reduce = both(&rewritings, &partial_order_plan(strategy));
            let found =
                Check::of_text(&model).checks(checks).memory(memory_beside_tests(512)).threads(2);
            let found = found.reduce(reduce).run().unwrap();
            let counterexample = found.counterexample().unwrap();
            let trace =
                counterexample.unwrap_or_else(|| panic!("{place}: no violation is found")).trace();
            assert_is_run(place, &model.interp, &trace);
            assert!(
                trace.depth() >= depth && (trace.depth() == depth || !is_deadlock || has_chains),
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

/// Protocols 1, 2 and 3 of Holzmann, Godefroid and Pirottin (1992). They have no faults.
#[test]
fn protocols_of_1992_have_the_states_of_the_paper() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve");
    let everything = CheckSelection::default();
    for (name, checks, states, transitions) in [
        ("independent_lines.dve", DEADLOCKS, 46, 45),
        ("independent_lines.dve", everything, 46, 45),
        // Without a reachable end, one cycle suffices.
        ("independent_cycles.dve", DEADLOCKS, 10, 10),
        ("independent_cycles.dve", everything, 10, 10),
        ("dependent_lines.dve", DEADLOCKS, 100_000, 450_000),
        ("dependent_lines.dve", everything, 100_000, 450_000),
    ] {
        let (mut model, _) = TextModel::open(&folder.join(name), Options::default()).unwrap();
        for strategy in strategies(&checks) {
            model = model.with_plan(partial_order_plan_for(strategy, checks));
            let found =
                Check::of_text(&model).checks(checks).memory(memory_beside_tests(512)).keep_going();
            let found = found.run().unwrap();
            let counts = (found.states(), found.outcome().counters.transitions);
            assert_eq!(counts, (states, transitions), "{name}, {strategy:?}");
        }
    }
}
