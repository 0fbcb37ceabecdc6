//! Sleep sets: every state is found in its level, and every violation, by fewer transitions. With the transitions of
//! `local`, every deadlock is found.
//!
//! The programs are random programs, our models, and with `SPILLWAY_CORPUS` an external corpus, in memory. Searches on
//! disk are compared with those in memory.

use crate::generated::{Generated, programs};
use crate::support::collection::{as_counted, of_the_corpus};
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

/// Nor models with more than these.
const OURS_MAX: usize = 20_000;

/// Nor those with more transitions a state.
const TRANSITIONS_EACH_MAX: usize = 10;

/// Nothing is looked for but deadlocks.
const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };

type TestResult<T> = Result<T, TestCaseError>;

/// What a search came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Came {
    levels: Vec<BTreeSet<Vec<u8>>>,
    /// What is wrong, each with the level where it is first.
    found: BTreeMap<Violation, usize>,
    transitions: u64,
}

impl Came {
    fn states(&self) -> usize {
        self.levels.iter().map(BTreeSet::len).sum()
    }

    fn deadlock(&self) -> Option<usize> {
        self.found.get(&Violation::Deadlock).copied()
    }
}

/// What becomes of two values of a state in a level.
type Join = fn(&mut u8, u8);

/// What both agree on.
const BOTH: Join = |kept, other| *kept &= other;

/// What is asleep on one way at least, which is too much.
const EITHER: Join = |kept, other| *kept |= other;

/// A model searched level by level, values of equal states joined; nothing if there are too many.
fn searched(model: &dyn StateSpace, join: Join, most: usize) -> Option<Came> {
    let (width, value_bytes) =
        (model.width(), model.capabilities().sleep_sets.map_or(0, |it| it.value_bytes()));
    let mut came = Came::default();
    let mut seen = BTreeSet::new();
    let mut start = Vec::new();
    let collected = SuccessorSink::collect(width, &mut start, |out| model.initial(out)).unwrap();
    came.found.extend(collected.findings.iter().map(|(check, _)| (check, 0)));
    let none = vec![0; value_bytes];
    let mut level: BTreeMap<Vec<u8>, Vec<u8>> =
        start.chunks_exact(width).map(|state| (state.to_vec(), none.clone())).collect();
    while !level.is_empty() {
        seen.extend(level.keys().cloned());
        if seen.len() > most || came.transitions as usize / TRANSITIONS_EACH_MAX > most {
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
            came.found.entry(check).or_insert(came.levels.len());
        }
        came.transitions += collected.counters.transitions;
        came.levels.push(level.into_keys().collect());
        level = BTreeMap::new();
        for pair in next.chunks_exact(width + value_bytes) {
            let (state, value) = pair.split_at(width);
            if !seen.contains(state) {
                let kept = level.entry(state.to_vec()).or_insert_with(|| value.to_vec());
                kept.iter_mut().zip(value).for_each(|(kept, &other)| join(kept, other));
            }
        }
    }
    Some(came)
}

/// What was tried.
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

/// A program reduced as another, `seen`, would be.
fn reduced<'m>(
    seen: &'m Interp,
    model: &'m Interp,
    method: PartialOrderMethod,
) -> Option<Box<dyn StateSpace + 'm>> {
    let selector = Box::new(model.selector().ok()?);
    let reduction =
        PartialOrder::of(seen, selector, method, &DEADLOCKS, &AnalysisBudget::largest()).ok()?;
    Some(reduction.wrap(Box::new(model)))
}

pub fn keeps_all(interp: &Interp, most: usize, census: &Census) -> TestResult<()> {
    let Some(sleeping) = reduced(interp, interp, PartialOrderMethod::Sleep) else { return Ok(()) };
    let Some(whole) = searched(interp, BOTH, most) else { return Ok(()) };
    let asleep = searched(&*sleeping, BOTH, most).unwrap();
    prop_assert_eq!(&asleep.levels, &whole.levels);
    prop_assert_eq!(&asleep.found, &whole.found);
    prop_assert!(asleep.transitions <= whole.transitions);
    count(&census.asleep, true);
    count(&census.fewer, asleep.transitions < whole.transitions);
    count(&census.violated, !whole.found.is_empty());
    if let [Some(local), Some(both)] = [PartialOrderMethod::Local, PartialOrderMethod::LocalSleep]
        .map(|method| reduced(interp, interp, method))
    {
        let [local, both] = [local, both].map(|it| searched(&*it, BOTH, most).unwrap());
        prop_assert_eq!(local.deadlock(), whole.deadlock());
        prop_assert_eq!(both.deadlock(), whole.deadlock());
        prop_assert!(both.states() <= local.states() && both.transitions <= local.transitions);
        count(&census.local, both.transitions < local.transitions);
    }
    Ok(())
}

fn try_all(cases: u32, test: impl Fn(&Interp) -> TestResult<()>) {
    crate::generated::try_all(cases, programs(), |Generated(program)| {
        test(&Interp::new(program).expect("what is generated can be executed"))
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
    try_all(300, |interp| keeps_all(interp, STATES_MAX, &census));
    census.show();
}

/// Our models of so many states, in the configurations that they promise something of.
pub fn ours(most: usize) -> Vec<(String, TextModel)> {
    let mut all = Vec::new();
    for file in models() {
        let text = std::fs::read_to_string(&file).unwrap();
        for promise in promises(&file, &text) {
            let states: usize = promise.fields["states"].parse().unwrap();
            if promise.large || promise.symmetry.is_some() || states > most {
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
fn our_models_keep_every_state_in_its_level() {
    let census = Census::default();
    for (place, model) in ours(OURS_MAX) {
        let result = keeps_all(&model.interp, OURS_MAX, &census);
        result.unwrap_or_else(|error| panic!("{place}: {error}"));
    }
    census.show();
    assert!(census.fewer.get() > 60 && census.local.get() > 50 && census.violated.get() > 20);
}

#[test]
fn the_corpus_keeps_every_state_in_its_level() {
    let census = Census::default();
    for (name, model) in of_the_corpus(&["dve", "murphi", "promela"], as_counted()) {
        let result = keeps_all(&model.interp, OURS_MAX, &census);
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    census.show();
}

/// Seven processes that each have one step: with what it waits for, and what it sets.
const SEVEN: [(&str, &str); 7] = [
    ("w == 1", "x = 0, y = 1, z = 0"),
    ("x == 0 && w == 0", "x = 1, z = 1, w = 0"),
    ("true", "x = 1, z = 1, w = 1"),
    ("x == 0 && y == 0", "x = 0, y = 0, z = 0"),
    ("true", "y = 1, w = 1"),
    ("x == 1 && z == 1", "y = 0"),
    ("z == 1", "x = 0, w = 1"),
];

/// What is asleep on some ways to a state and awake on others has to be taken: where each way relies on another, in
/// a circle, nobody takes it.
#[test]
fn what_is_asleep_on_one_way_only_is_taken() {
    let process = |(number, (guard, effect)): (usize, (&str, &str))| {
        let guard = if guard == "true" { String::new() } else { format!("guard {guard};") };
        format!(
            "process P{number} {{ state a; init a; trans a -> a {{ {guard} effect {effect}; }}; }}\n"
        )
    };
    let processes: String = SEVEN.into_iter().enumerate().map(process).collect();
    let text = format!("byte x, y, z, w;\n{processes}system async;");
    let model = load("seven.dve", &text, Options::default()).interp;
    let sleeping = reduced(&model, &model, PartialOrderMethod::Sleep).unwrap();
    let [whole, both, either] =
        [(&model as &dyn StateSpace, BOTH), (&*sleeping, BOTH), (&*sleeping, EITHER)]
            .map(|(model, join)| searched(model, join, usize::MAX).unwrap());
    assert_eq!((whole.states(), both.states(), either.states()), (8, 8, 7));
    assert_eq!(both.levels, whole.levels);
}

/// Models that lose a state if one thing is not known of them: what sleeps is told of a model with another word in its
/// place.
#[test]
fn a_relation_that_misses_one_thing_is_found_out() {
    for (text, word, other) in [
        // That two write the same.
        (
            "byte x, z; active proctype A() { x = 1 } active proctype B() { x = 2 }",
            "{ x = 2",
            "{ z = 2",
        ),
        // That one writes what another waits for.
        (
            "byte x, y, z; active proctype B() { x == 0 -> z = 2 } active proctype A() { x = 1 }",
            "{ x = 1",
            "{ y = 1",
        ),
        // That two send to one channel.
        (
            "chan q = [2] of { byte }; chan r = [2] of { byte };
            active proctype A() { q!1 } active proctype B() { q!2 }",
            "q!2",
            "r!2",
        ),
    ] {
        let [model, seen] = [text.into(), text.replace(word, other)]
            .map(|text: String| load("model.pml", &text, Options::default()).interp);
        let [known, others] = [&model, &seen].map(|it| it.selector().unwrap().instances().count());
        assert_eq!(known, others);
        let states = |seen: &Interp| {
            let sleeping = reduced(seen, &model, PartialOrderMethod::Sleep);
            // Where nothing is independent nothing sleeps.
            let Some(sleeping) = sleeping else { return model_states(&model) };
            searched(&*sleeping, BOTH, usize::MAX).unwrap().states()
        };
        assert_eq!(states(&model), model_states(&model), "{text}");
        assert!(states(&seen) < model_states(&model), "{text}");
    }
}

fn model_states(model: &Interp) -> usize {
    searched(model, BOTH, usize::MAX).unwrap().states()
}

/// The tables of Holzmann, Godefroid and Pirottin (1992), with its numbers or better.
#[test]
fn protocols_of_1992_take_the_transitions_of_the_paper() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve");
    for (name, method, states, transitions) in [
        ("independent_lines.dve", PartialOrderMethod::Sleep, 100_000, 99_999),
        ("independent_lines.dve", PartialOrderMethod::LocalSleep, 46, 45),
        ("independent_cycles.dve", PartialOrderMethod::Sleep, 100_000, 111_110),
        ("independent_cycles.dve", PartialOrderMethod::LocalSleep, 10, 10),
        // Nothing is independent.
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

/// That a search for deadlocks comes to this many states and transitions.
fn assert_counts(model: TextModel, method: PartialOrderMethod, expected: (u64, u64), name: &str) {
    let model = model.with_plan(partial_order_plan_for(method, DEADLOCKS));
    let found =
        Check::of_text(&model).checks(DEADLOCKS).memory(memory_beside_tests(512)).keep_going();
    let found = found.run().unwrap();
    let counts = (found.states(), found.outcome().counters.transitions);
    assert_eq!(counts, expected, "{name}, {}", method.name());
}

/// Why a method is left out, if it is.
fn refused(
    model: TextModel,
    method: PartialOrderMethod,
    checks: CheckSelection,
) -> Option<NotApplied> {
    let plan = both(&model.wished, &partial_order_plan(method));
    let model = model.with_plan(ReductionPlan { checks, ..plan });
    model.searched().stack().refusals().first().map(|it| it.reason.clone())
}

#[test]
fn what_does_not_go_together_is_left_out_with_what_to_do() {
    let plain = "byte x, y; active proctype A() { x = 1 } active proctype B() { y = 1 }";
    let model = || load("model.pml", plain, Options::default());
    assert_eq!(refused(model(), PartialOrderMethod::LocalSleep, DEADLOCKS), None);
    assert_eq!(refused(model(), PartialOrderMethod::Sleep, CheckSelection::default()), None);
    let failing = || {
        load(
            "model.pml",
            &format!("{plain} active proctype C() {{ assert(x == 0) }}"),
            Options::default(),
        )
    };
    let why =
        refused(failing(), PartialOrderMethod::LocalSleep, CheckSelection::default()).unwrap();
    assert_eq!(why.remedy(), Some(Remedy::OnlyDeadlocks), "{why}");
    assert_eq!(refused(failing(), PartialOrderMethod::LocalSleep, DEADLOCKS), None);
    let alone =
        load("model.pml", "byte x; active proctype A() { x = 1; x = 2 }", Options::default());
    let why = refused(alone, PartialOrderMethod::Sleep, DEADLOCKS).unwrap();
    assert_eq!(why, NotApplied::NoIndependence);
    let symmetric = "
        type P: scalarset(3); var at: array [P] of 0..1;
        startstate for p: P do at[p] := 0; end; end;
        ruleset p: P do rule at[p] = 0 ==> at[p] := 1; end; end;";
    let symmetric = || load("model.m", symmetric, Options::default());
    assert_eq!(refused(symmetric(), PartialOrderMethod::Sleep, DEADLOCKS), None);
    let why =
        refused(symmetric().with_plan(scalarsets("exact")), PartialOrderMethod::Sleep, DEADLOCKS);
    assert_eq!(why.and_then(|it| it.remedy()), Some(Remedy::NoSymmetry));
}

/// Models whose states have few bytes, and many, and that are violated in each way.
fn some_of_ours() -> Vec<(String, TextModel)> {
    let few = |(_, model): &(String, TextModel)| model.claim().is_none();
    ours(2500).into_iter().filter(few).step_by(3).collect()
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

/// However much memory and however many threads, across stops, and in every store: what the oracle finds. Where
/// states have no room for values nothing sleeps.
#[test]
fn on_disk_the_same_is_asleep() {
    let (mut tried, mut fewer) = (0, 0);
    for (place, model) in some_of_ours() {
        let model = model.with_plan(partial_order_plan_for(
            PartialOrderMethod::Sleep,
            CheckSelection::default(),
        ));
        let searched = model.searched();
        if !searched.stack().refusals().is_empty() {
            continue;
        }
        let (model, interp) = (searched.model(), &model.interp);
        let asleep = memory::search(model, &limits()).unwrap();
        let whole = memory::search(interp, &limits()).unwrap();
        assert_eq!(asleep.levels, whole.levels, "{place}");
        tried += 1;
        fewer += u32::from(asleep.counters.transitions < whole.counters.transitions);
        let width = model.width() + 8;
        let plans = [tiny_plan(1, width, 40, 300), tiny_plan(3, width, 300, 4000)];
        let mut all = vec![StateStorage::default()];
        // Every second model is tried in every store.
        all.extend(storages(model).into_iter().filter(|_| tried % 2 == 0).step_by(2));
        for storage in all {
            let sleeps = match &storage {
                StateStorage::Sorted(codec) => !matches!(codec, Codec::Huffman(_)),
                StateStorage::Comback(_) => false,
            };
            let expected = if sleeps { &asleep } else { &whole };
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

/// A process that is killed at any operation goes on to the same, by the manifest that is there.
#[test]
fn killed_at_any_operation_it_comes_to_the_same() {
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
        // Checkpoints without end, inside levels too.
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
