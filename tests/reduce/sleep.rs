//! Sleep sets: every state is found in its level, and every violation, by fewer transitions. With the transitions of
//! `local`, every deadlock is found.
//!
//! The programs are random programs, our models, and with `SPILLWAY_CORPUS` an external corpus, in memory. Searches on
//! disk are compared with those in memory.

use crate::generated::{Generated, programs};
use crate::support::collection::{corpus_models, reference_options};
use crate::support::memory::memory_beside_tests;
use crate::support::promises::{models, promises};
use crate::support::reductions::both;
use crate::support::reductions::{partial_order_plan, partial_order_plan_for, scalarsets};
use crate::support::stored::{assert_same, assert_traces_replay, search, storages};
use crate::support::{begin_or_resume, tiny_plan};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spill::fault::FaultPlan;
use spill::{Codec, Disk, FaultDisk};
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::exec::{Interp, SelectiveStateSpace};
use spillway::front::{Language, Options};
use spillway::model::{StateSpace, SuccessorSink, Violation, memory};
use spillway::reduce::Reduction;
use spillway::reduce::Remedy;
use spillway::reduce::partial_order::{PartialOrder, PartialOrderMethod};
use spillway::reduce::{NotApplied, ReductionPlan};
use spillway::search::checkpoint::SavedSearch;
use spillway::search::{CheckSelection, SearchControl, SearchLimits, StateStorage};
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Programs with more states are not searched.
const STATES_MAX: usize = 800;

/// Models with more states are not searched.
const MODEL_STATES_MAX: usize = 20_000;

/// Programs with more transitions per state are not searched.
const TRANSITIONS_EACH_MAX: usize = 10;

/// Only deadlocks are checked.
const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };

type TestResult<T> = Result<T, TestCaseError>;

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SearchResult {
    levels: Vec<BTreeSet<Vec<u8>>>,
    /// The violations, each with its first level.
    found: BTreeMap<Violation, usize>,
    transitions: u64,
}

impl SearchResult {
    fn states(&self) -> usize {
        self.levels.iter().map(BTreeSet::len).sum()
    }

    fn deadlock(&self) -> Option<usize> {
        self.found.get(&Violation::Deadlock).copied()
    }
}

/// The combination of two values of a state in a level.
type ValueJoin = fn(&mut u8, u8);

/// The intersection of sleep sets.
const INTERSECTION: ValueJoin = |kept, other| *kept &= other;

/// The union of sleep sets, which is unsound.
const UNION: ValueJoin = |kept, other| *kept |= other;

/// Explores a model level by level and joins the values of equal states. Returns nothing if there are more than
/// `max_states` states.
fn explore(model: &dyn StateSpace, join: ValueJoin, max_states: usize) -> Option<SearchResult> {
    let (width, value_bytes) =
        (model.width(), model.capabilities().sleep_sets.map_or(0, |it| it.value_bytes()));
    let mut result = SearchResult::default();
    let mut seen = BTreeSet::new();
    let mut start = Vec::new();
    let collected = SuccessorSink::collect(width, &mut start, |out| model.initial(out)).unwrap();
    result.found.extend(collected.findings.iter().map(|(check, _)| (check, 0)));
    let no_value = vec![0; value_bytes];
    let mut level: BTreeMap<Vec<u8>, Vec<u8>> =
        start.chunks_exact(width).map(|state| (state.to_vec(), no_value.clone())).collect();
    while !level.is_empty() {
        seen.extend(level.keys().cloned());
        if seen.len() > max_states
            || result.transitions as usize / TRANSITIONS_EACH_MAX > max_states
        {
            return None;
        }
        let pairs: Vec<u8> =
            level.iter().flat_map(|(it, value)| [&it[..], value].concat()).collect();
        let mut next = Vec::new();
        let collected = SuccessorSink::collect(width + value_bytes, &mut next, |out| {
            match model.capabilities().sleep_sets {
                Some(model) => model.expand_awake(&pairs, out),
                None => model.expand(&pairs, out),
            }
        });
        let collected = collected.unwrap();
        for (check, finding) in collected.findings.iter() {
            assert_eq!(finding.witness.len(), width);
            result.found.entry(check).or_insert(result.levels.len());
        }
        result.transitions += collected.counters.transitions;
        result.levels.push(level.into_keys().collect());
        level = BTreeMap::new();
        for pair in next.chunks_exact(width + value_bytes) {
            let (state, value) = pair.split_at(width);
            if !seen.contains(state) {
                let kept = level.entry(state.to_vec()).or_insert_with(|| value.to_vec());
                kept.iter_mut().zip(value).for_each(|(kept, &other)| join(kept, other));
            }
        }
    }
    Some(result)
}

/// Counts of the searches.
#[derive(Default)]
pub struct Census {
    asleep: Cell<u32>,
    local: Cell<u32>,
    fewer: Cell<u32>,
    violated: Cell<u32>,
}

fn count(cell: &Cell<u32>, counts: bool) {
    cell.set(cell.get() + u32::from(counts));
}

/// Returns a reduced program. The reduction reads the program of `analysed`.
fn reduced_by_program_of<'m>(
    analysed: &'m Interp,
    model: &'m Interp,
    method: PartialOrderMethod,
) -> Option<Box<dyn StateSpace + 'm>> {
    let selector = Box::new(model.selector().ok()?);
    let reduction =
        PartialOrder::of(analysed, selector, method, &DEADLOCKS, &AnalysisBudget::largest())
            .ok()?;
    Some(reduction.wrap(Box::new(model)))
}

pub fn check_states_and_verdicts(
    interp: &Interp,
    max_states: usize,
    census: &Census,
) -> TestResult<()> {
    let Some(sleep_model) = reduced_by_program_of(interp, interp, PartialOrderMethod::Sleep) else {
        return Ok(());
    };
    let Some(full) = explore(interp, INTERSECTION, max_states) else { return Ok(()) };
    let with_sleep = explore(&*sleep_model, INTERSECTION, max_states).unwrap();
    prop_assert_eq!(&with_sleep.levels, &full.levels);
    prop_assert_eq!(&with_sleep.found, &full.found);
    prop_assert!(with_sleep.transitions <= full.transitions);
    count(&census.asleep, true);
    count(&census.fewer, with_sleep.transitions < full.transitions);
    count(&census.violated, !full.found.is_empty());
    if let [Some(local), Some(local_sleep)] =
        [PartialOrderMethod::Local, PartialOrderMethod::LocalSleep]
            .map(|method| reduced_by_program_of(interp, interp, method))
    {
        let [local, local_sleep] =
            [local, local_sleep].map(|it| explore(&*it, INTERSECTION, max_states).unwrap());
        prop_assert_eq!(local.deadlock(), full.deadlock());
        prop_assert_eq!(local_sleep.deadlock(), full.deadlock());
        prop_assert!(
            local_sleep.states() <= local.states() && local_sleep.transitions <= local.transitions
        );
        count(&census.local, local_sleep.transitions < local.transitions);
    }
    Ok(())
}

fn try_all(cases: u32, test: impl Fn(&Interp) -> TestResult<()>) {
    crate::generated::try_all(cases, programs(), |Generated(program)| {
        test(&Interp::new(program).expect("generated programs are executable"))
    });
}

impl Census {
    fn show(&self) {
        let Census { asleep, local, fewer, violated } = self;
        let [asleep, local, fewer, violated] = [asleep, local, fewer, violated].map(Cell::get);
        println!(
            "{asleep} searches, {fewer} by fewer transitions, {local} than by local steps alone, \
            {violated} with violations"
        );
    }
}

#[test]
fn random_programs_keep_every_state_in_its_level() {
    let census = Census::default();
    try_all(300, |interp| check_states_and_verdicts(interp, STATES_MAX, &census));
    census.show();
}

/// Returns our models of at most `max_states` states, in the configurations of their headers.
pub fn own_models(max_states: usize) -> Vec<(String, TextModel)> {
    let mut all = Vec::new();
    for file in models() {
        let text = std::fs::read_to_string(&file).unwrap();
        for promise in promises(&file, &text) {
            let states: usize = promise.fields["states"].parse().unwrap();
            if promise.large || promise.symmetry.is_some() || states > max_states {
                continue;
            }
            let options = Options { defines: promise.defines.clone(), ..Options::default() };
            all.push((promise.place, load(&file.to_string_lossy(), &text, options)));
        }
    }
    all
}

fn load(name: &str, text: &str, options: Options) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    let loaded = TextModel::load(Language::from_file_name(name).unwrap(), sources, options);
    loaded.map(|(model, _)| model).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn own_models_keep_every_state_in_its_level() {
    let census = Census::default();
    for (place, model) in own_models(MODEL_STATES_MAX) {
        let result = check_states_and_verdicts(&model.interp, MODEL_STATES_MAX, &census);
        result.unwrap_or_else(|error| panic!("{place}: {error}"));
    }
    census.show();
    assert!(census.fewer.get() > 60 && census.local.get() > 50 && census.violated.get() > 20);
}

#[test]
fn models_of_the_corpus_keep_every_state_in_its_level() {
    let census = Census::default();
    for (name, model) in corpus_models(&["dve", "murphi", "promela"], reference_options()) {
        let result = check_states_and_verdicts(&model.interp, MODEL_STATES_MAX, &census);
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    census.show();
}

/// Seven processes of one transition: its guard and its effect.
const SEVEN_TRANSITIONS: [(&str, &str); 7] = [
    ("w == 1", "x = 0, y = 1, z = 0"),
    ("x == 0 && w == 0", "x = 1, z = 1, w = 0"),
    ("true", "x = 1, z = 1, w = 1"),
    ("x == 0 && y == 0", "x = 0, y = 0, z = 0"),
    ("true", "y = 1, w = 1"),
    ("x == 1 && z == 1", "y = 0"),
    ("z == 1", "x = 0, w = 1"),
];

/// A transition that sleeps on some paths to a state, but not on all, must be executed. Otherwise paths may rely on
/// each other in a cycle.
#[test]
fn transitions_that_sleep_on_one_path_only_are_executed() {
    let process = |(number, (guard, effect)): (usize, (&str, &str))| {
        let guard = if guard == "true" { String::new() } else { format!("guard {guard};") };
        format!(
            "process P{number} {{ state a; init a; trans a -> a {{ {guard} effect {effect}; }}; }}\n"
        )
    };
    let processes: String = SEVEN_TRANSITIONS.into_iter().enumerate().map(process).collect();
    let text = format!("byte x, y, z, w;\n{processes}system async;");
    let model = load("seven.dve", &text, Options::default()).interp;
    let sleep_model = reduced_by_program_of(&model, &model, PartialOrderMethod::Sleep).unwrap();
    let [full, intersection, union_result] = [
        (&model as &dyn StateSpace, INTERSECTION),
        (&*sleep_model, INTERSECTION),
        (&*sleep_model, UNION),
    ]
    .map(|(model, join)| explore(model, join, usize::MAX).unwrap());
    assert_eq!((full.states(), intersection.states(), union_result.states()), (8, 8, 7));
    assert_eq!(intersection.levels, full.levels);
}

/// Models that lose a state if one dependence is missing. The reduction then reads a program with another word in its
/// place.
#[test]
fn a_missing_dependence_loses_a_state() {
    for (text, word, replacement) in [
        // Both write the same variable.
        (
            "byte x, z; active proctype A() { x = 1 } active proctype B() { x = 2 }",
            "{ x = 2",
            "{ z = 2",
        ),
        // One writes what the other one waits for.
        (
            "byte x, y, z; active proctype B() { x == 0 -> z = 2 } active proctype A() { x = 1 }",
            "{ x = 1",
            "{ y = 1",
        ),
        // Both send to one channel.
        (
            "chan q = [2] of { byte }; chan r = [2] of { byte };
            active proctype A() { q!1 } active proctype B() { q!2 }",
            "q!2",
            "r!2",
        ),
    ] {
        let [model, seen] = [text.into(), text.replace(word, replacement)]
            .map(|text: String| load("model.pml", &text, Options::default()).interp);
        let [model_instances, seen_instances] =
            [&model, &seen].map(|it| it.selector().unwrap().instances().count());
        assert_eq!(model_instances, seen_instances);
        let states = |seen: &Interp| {
            let sleep_model = reduced_by_program_of(seen, &model, PartialOrderMethod::Sleep);
            // Without independence there are no sleep sets.
            let Some(sleep_model) = sleep_model else { return model_states(&model) };
            explore(&*sleep_model, INTERSECTION, usize::MAX).unwrap().states()
        };
        assert_eq!(states(&model), model_states(&model), "{text}");
        assert!(states(&seen) < model_states(&model), "{text}");
    }
}

fn model_states(model: &Interp) -> usize {
    explore(model, INTERSECTION, usize::MAX).unwrap().states()
}

/// The tables of Holzmann, Godefroid and Pirottin (1992). The counts are equal or lower.
#[test]
fn protocols_of_1992_have_the_transitions_of_the_paper() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve");
    for (name, method, states, transitions) in [
        ("independent_lines.dve", PartialOrderMethod::Sleep, 100_000, 99_999),
        ("independent_lines.dve", PartialOrderMethod::LocalSleep, 46, 45),
        ("independent_cycles.dve", PartialOrderMethod::Sleep, 100_000, 111_110),
        ("independent_cycles.dve", PartialOrderMethod::LocalSleep, 10, 10),
        // All transitions are dependent.
        ("dependent_lines.dve", PartialOrderMethod::Sleep, 100_000, 450_000),
        ("dependent_lines.dve", PartialOrderMethod::LocalSleep, 100_000, 450_000),
    ] {
        let (model, _) = TextModel::open(&folder.join(name), Options::default()).unwrap();
        assert_counts(model, method, (states, transitions), name);
    }
    if let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") {
        let dtp = Path::new(&corpus).join("promela/spin-examples/dtp.pml");
        for (method, states, transitions) in [
            (PartialOrderMethod::Sleep, 251_409, 255_339),
            (PartialOrderMethod::LocalSleep, 36_523, 37_626),
        ] {
            let (model, _) = TextModel::open(&dtp, Options::default()).unwrap();
            assert_counts(model, method, (states, transitions), "dtp");
        }
    }
}

/// Checks the numbers of states and transitions of a search for deadlocks.
fn assert_counts(model: TextModel, method: PartialOrderMethod, expected: (u64, u64), name: &str) {
    let model = model.with_plan(partial_order_plan_for(method, DEADLOCKS));
    let found =
        Check::of_text(&model).checks(DEADLOCKS).memory(memory_beside_tests(512)).keep_going();
    let found = found.run().unwrap();
    let counts = (found.states(), found.outcome().counters.transitions);
    assert_eq!(counts, expected, "{name}, {}", method.name());
}

/// Returns the reason that a method is refused, if it is.
fn refusal_of(
    model: TextModel,
    method: PartialOrderMethod,
    checks: CheckSelection,
) -> Option<NotApplied> {
    let plan = both(&model.wished, &partial_order_plan(method));
    let model = model.with_plan(ReductionPlan { checks, ..plan });
    model.searched().stack().refusals().first().map(|it| it.reason.clone())
}

#[test]
fn incompatible_methods_are_refused_with_a_remedy() {
    let independent = "byte x, y; active proctype A() { x = 1 } active proctype B() { y = 1 }";
    let model = || load("model.pml", independent, Options::default());
    assert_eq!(refusal_of(model(), PartialOrderMethod::LocalSleep, DEADLOCKS), None);
    assert_eq!(refusal_of(model(), PartialOrderMethod::Sleep, CheckSelection::default()), None);
    let failing = || {
        load(
            "model.pml",
            &format!("{independent} active proctype C() {{ assert(x == 0) }}"),
            Options::default(),
        )
    };
    let reason =
        refusal_of(failing(), PartialOrderMethod::LocalSleep, CheckSelection::default()).unwrap();
    assert_eq!(reason.remedy(), Some(Remedy::OnlyDeadlocks), "{reason}");
    assert_eq!(refusal_of(failing(), PartialOrderMethod::LocalSleep, DEADLOCKS), None);
    let single_process =
        load("model.pml", "byte x; active proctype A() { x = 1; x = 2 }", Options::default());
    let reason = refusal_of(single_process, PartialOrderMethod::Sleep, DEADLOCKS).unwrap();
    assert_eq!(reason, NotApplied::NoIndependence);
    let symmetric = "
        type P: scalarset(3); var at: array [P] of 0..1;
        startstate for p: P do at[p] := 0; end; end;
        ruleset p: P do rule at[p] = 0 ==> at[p] := 1; end; end;";
    let symmetric = || load("model.m", symmetric, Options::default());
    assert_eq!(refusal_of(symmetric(), PartialOrderMethod::Sleep, DEADLOCKS), None);
    let reason = refusal_of(
        symmetric().with_plan(scalarsets("exact")),
        PartialOrderMethod::Sleep,
        DEADLOCKS,
    );
    assert_eq!(reason.and_then(|it| it.remedy()), Some(Remedy::NoSymmetry));
}

/// Returns models with short and long states and with every kind of violation.
fn sample_models() -> Vec<(String, TextModel)> {
    let has_no_claim = |(_, model): &(String, TextModel)| model.claim().is_none();
    own_models(2500).into_iter().filter(has_no_claim).step_by(3).collect()
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

/// Every budget, number of threads, interruption and store has the outcome of the oracle. Stores without space for
/// values do not use sleep sets.
#[test]
fn sleep_sets_on_disk_equal_those_in_memory() {
    let (mut tried, mut fewer) = (0, 0);
    for (place, model) in sample_models() {
        let model = model.with_plan(partial_order_plan_for(
            PartialOrderMethod::Sleep,
            CheckSelection::default(),
        ));
        let searched = model.searched();
        if !searched.stack().refusals().is_empty() {
            continue;
        }
        let (model, interp) = (searched.model(), &model.interp);
        let with_sleep = memory::search(model, &limits()).unwrap();
        let full = memory::search(interp, &limits()).unwrap();
        assert_eq!(with_sleep.levels, full.levels, "{place}");
        tried += 1;
        fewer += u32::from(with_sleep.counters.transitions < full.counters.transitions);
        let width = model.width() + 8;
        let plans = [tiny_plan(1, width, 40, 300), tiny_plan(3, width, 300, 4000)];
        let mut stores = vec![StateStorage::default()];
        // Every second model is tried in every store.
        stores.extend(storages(model).into_iter().filter(|_| tried % 2 == 0).step_by(2));
        for storage in stores {
            let has_values = match &storage {
                StateStorage::Sorted(codec) => !matches!(codec, Codec::Huffman(_)),
                StateStorage::Comback(_) => false,
            };
            let expected = if has_values { &with_sleep } else { &full };
            for pauses in [&[][..], &[50, 300, 700]] {
                let (outcome, disk) = search(&[model], &storage, &plans, pauses, &limits());
                assert_same(&outcome, expected, &storage, &place);
                assert_traces_replay(model, &*disk, &outcome);
            }
        }
    }
    println!("{tried} models, {fewer} by fewer transitions");
    assert!(tried > 20 && fewer > 15);
}

/// A process that is killed at any operation resumes from the manifest, with the same outcome.
#[test]
fn a_search_killed_at_any_operation_resumes_with_the_same_outcome() {
    let text = "chan q = [1] of { byte }; byte n;
        active proctype Sends() { byte x; do :: q!x; x = 1 - x od }
        active proctype Takes() { byte x; do :: q?x; n = (n + x) % 3 od }
        active [2] proctype Alone() { byte x; do :: x < 2 -> x++ :: x == 2 -> x = 0 od }";
    let model = load("model.pml", text, Options::default());
    let model = model
        .with_plan(partial_order_plan_for(PartialOrderMethod::Sleep, CheckSelection::default()));
    let searched = model.searched();
    let model = searched.model();
    let expected = memory::search(model, &limits()).unwrap();
    let run = |disk: &FaultDisk| {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        // Unlimited checkpoints, also inside levels.
        let control = SearchControl::new(Duration::ZERO, None);
        let plan = tiny_plan(1, model.width() + 1, 20, 60);
        begin_or_resume(model, &disk, plan, &limits(), &control)?.run()
    };
    let undisturbed = FaultDisk::new();
    assert_eq!(run(&undisturbed).unwrap(), expected);
    for operation in 0..undisturbed.operations() {
        let disk = FaultDisk::with_faults(FaultPlan::new().seed(operation).crash_at(operation));
        assert!(run(&disk).is_err());
        assert_eq!(run(&disk.reboot(operation)).unwrap(), expected, "killed at {operation}");
    }
    let saved = SavedSearch::load(&undisturbed).unwrap();
    assert!(saved.values.is_some_and(|values| values.bytes > 0 && values.operator == "and"));
}
