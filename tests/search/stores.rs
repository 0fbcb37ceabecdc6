//! Every store has the results of the oracle: on pseudo-random graphs, on our models, across stops, on failing disks,
//! and through the command line.

use crate::causes::Comparison;
use crate::graphs::graphs_of;
use crate::support::stored::{assert_same, assert_traces_replay, search, storages};
use crate::support::{
    Graph, Random, Started, StoredSearch, begin_or_resume, begin_stored_or_resume, tiny_plan,
};
use proptest::prelude::*;
use spill::{Codec, Disk, FaultDisk, HuffmanTables};
use spillway::exec::{ExecutionMode, Executor, Interp, Jit};
use spillway::front::{Language, Options, dve, murphi, promela};
use spillway::model::{
    Capabilities, FaultKind, StateSpace, SuccessorSink, SystemDescription, Violation, any_bits,
    memory,
};
use spillway::reduce::claim::ClaimProduct;
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use spillway::search::checkpoint::SavedSearch;
use spillway::search::comback;
use spillway::search::storage::train_codec;
use spillway::search::trace::{StoredLevels, counterexample};
use spillway::search::{
    CheckSelection, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, StateStorage,
    model_failure,
};
use spillway::source::SourceMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn graphs() -> impl Strategy<Value = Graph> {
    let width = prop_oneof![Just(3usize), Just(8), Just(11), Just(24), Just(90)];
    graphs_of((1u64..8_000, 1u64..5, 1u64..2_000, width), 8_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_store_agrees_with_the_oracle_across_stops(
        graph in graphs(),
        plans in prop::collection::vec((1usize..4, 4u64..2_000, 16u64..10_000), 1..3),
        pauses in prop::collection::vec(0u64..4, 0..4),
        keep_going: bool,
    ) {
        let limits = SearchLimits { stop_on_violation: !keep_going, ..SearchLimits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let plans: Vec<MemoryPlan> =
            plans.iter().map(|&(threads, buffer, young)| tiny_plan(threads, graph.width, buffer, young)).collect();
        let pauses: Vec<u64> = pauses.iter().map(|pause| pause * graph.nodes / 4).collect();
        for storage in storages(&graph) {
            let (outcome, disk) = search(&[&graph], &storage, &plans, &pauses, &limits);
            assert_same(&outcome, &expected, &storage, "a graph");
            assert_traces_replay(&graph, &*disk, &outcome);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_initial_states_are_stored_as_candidates(
        graph in graphs(),
        starts in 1u64..3_000,
        (buffer, young) in (4u64..2_000, 16u64..10_000),
        keep_going: bool,
    ) {
        let model = Started { graph, starts };
        let checks = CheckSelection { faults: keep_going, ..CheckSelection::default() };
        let limits = SearchLimits { stop_on_violation: !keep_going, checks, ..SearchLimits::default() };
        let expected = memory::search(&model, &limits).unwrap();
        let plan = tiny_plan(2, model.width(), buffer, young);
        for storage in storages(&model.graph) {
            let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            let control = SearchControl::default();
            control.stop();
            // Initial states before a stop are not kept; they are generated again.
            for _ in 0..2 {
                let (limits, control, storage) = (&limits, &control, &storage);
                let search = StoredSearch { plan, limits, control, storage };
                let mut search = begin_stored_or_resume(&model, &disk, search).unwrap();
                prop_assert_eq!(search.run().unwrap(), SearchOutcome::default());
            }
            let control = SearchControl::default();
            let outcome = begin_or_resume(&model, &disk, plan, &limits, &control).unwrap().run().unwrap();
            assert_same(&outcome, &expected, &storage, "a graph that begins in many nodes");
            prop_assert_eq!(outcome.findings.count(Violation::Fault(FaultKind::Index, 0)), 1);
            assert_traces_replay(&model, &*disk, &outcome);
        }
    }
}

/// The file of a model, its constants, and its symmetry reduction.
type Config = (&'static str, &'static [(&'static str, i64)], Option<SymmetryEffort>);

/// Small models of every language: dynamic processes, rendezvous and buffered channels, atomic sequences, multisets,
/// symmetry, every kind of violation.
const MODELS: [Config; 15] = [
    ("models/dve/peterson.dve", &[], None),
    ("models/dve/needham_schroeder.dve", &[], None),
    ("models/dve/bounded_buffer.dve", &[("BUG", 2)], None),
    ("models/dve/alternating_bit.dve", &[], None),
    ("models/murphi/directory_net.m", &[("BUG", 1)], None),
    ("models/murphi/directory_net.m", &[("BUG", 1)], Some(SymmetryEffort::Exact)),
    ("models/murphi/mesi_bus.m", &[("BUG", 1)], Some(SymmetryEffort::Exact)),
    ("models/murphi/mesi_bus.m", &[], Some(SymmetryEffort::Fast)),
    ("models/murphi/two_phase_commit.m", &[("BUG", 1)], None),
    ("models/promela/client_server.pml", &[("CLIENTS", 3)], None),
    ("models/promela/philosophers.pml", &[], None),
    ("models/promela/sieve.pml", &[("LAST", 11)], None),
    ("models/promela/lost_update.pml", &[("TIMES", 2)], None),
    ("models/promela/traffic_lights.pml", &[], None),
    ("models/promela/readers_writers.pml", &[("READERS", 2)], None),
];

fn interp(file: &str, defines: &[(&str, i64)]) -> Interp {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut sources = SourceMap::default();
    sources.add(file, std::fs::read_to_string(path).unwrap());
    let defines = defines.iter().map(|&(name, value)| (name.into(), value)).collect();
    let options = Options { defines, ..Options::default() };
    let language = Language::from_file_name(file).unwrap();
    Interp::new(language.load(&mut sources, &options).unwrap().program).unwrap()
}

/// Tests each configuration's model, interpreted and compiled.
fn for_each_model(test: &dyn Fn(&str, [&dyn StateSpace; 2])) {
    for (file, defines, symmetry) in MODELS {
        let interp = interp(file, defines);
        let executors =
            [ExecutionMode::Interp, ExecutionMode::Jit].map(|exec| Executor::new(&interp, exec));
        assert!(executors[1].compiled().is_ok(), "{file} is not compiled");
        let models = executors.each_ref().map(Executor::model);
        let what = format!("{file} {defines:?} {symmetry:?}");
        match symmetry {
            None => test(&what, models),
            Some(effort) => {
                let (program, layout) = (interp.program(), interp.layout());
                let [one, other] =
                    models.map(|model| SymmetryModel::new(model, program, layout, effort).unwrap());
                test(&what, [&one, &other]);
            }
        }
    }
}

#[test]
fn every_store_explores_our_models() {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    for_each_model(&|what, [model, _]| {
        let expected = memory::search(model, &limits).unwrap();
        let plan = tiny_plan(2, model.width(), 500, 20_000);
        for storage in storages(model) {
            for pauses in [&[][..], &[100, 300]] {
                let (outcome, disk) = search(&[model], &storage, &[plan], pauses, &limits);
                assert_same(&outcome, &expected, &storage, what);
                assert_traces_replay(model, &*disk, &outcome);
            }
        }
    });
}

/// One executor resumes the search of another. The directory must not depend on the order of successors.
#[test]
fn a_search_may_change_its_executor() {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    for_each_model(&|what, [interpreted, compiled]| {
        let expected = memory::search(interpreted, &limits).unwrap();
        let plan = tiny_plan(2, compiled.width(), 60, 2_000);
        let third = (expected.states() / 3).max(1);
        for models in [[compiled, interpreted], [interpreted, compiled]] {
            for storage in storages(compiled) {
                let pauses = [third, 2 * third];
                let (outcome, disk) = search(&models, &storage, &[plan], &pauses, &limits);
                assert_same(&outcome, &expected, &storage, what);
                models.iter().for_each(|model| assert_traces_replay(*model, &*disk, &outcome));
            }
        }
    });
}

/// The disk fails at every operation in turn, and the search is resumed.
#[test]
fn every_store_survives_failures() {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let graph = Graph { nodes: 300, degree: 3, spread: 60, width: 9, broken: 40, dense: 200 };
    let plan = tiny_plan(1, graph.width, 20, 60);
    let expected = memory::search(&graph, &limits).unwrap();
    for storage in storages(&graph) {
        let run = |disk: &FaultDisk| {
            let disk: Arc<dyn Disk> = Arc::new(disk.clone());
            let control = SearchControl::new(Duration::ZERO, None);
            let (limits, control, storage) = (&limits, &control, &storage);
            let search = StoredSearch { plan, limits, control, storage };
            begin_stored_or_resume(&graph, &disk, search)?.run()
        };
        let undisturbed = FaultDisk::new();
        assert_same(&run(&undisturbed).unwrap(), &expected, &storage, "undisturbed");
        let step = if crate::support::is_large() { 1 } else { 7 };
        for operation in (0..undisturbed.operations()).step_by(step) {
            let disk = FaultDisk::with_faults(spill::fault::FaultPlan::new().crash_at(operation));
            assert!(run(&disk).is_err());
            let outcome = run(&disk.restart()).unwrap();
            assert_same(&outcome, &expected, &storage, &format!("operation {operation}"));
        }
    }
}

/// A model that fails once, instead of giving the successor of this number.
struct FailingModel<'m> {
    model: &'m dyn StateSpace,
    /// Successors and initial states given so far.
    given: AtomicU64,
    fails_at: AtomicU64,
}

const NO_ANSWER: &str = "the model failed: there is no answer";

impl<'m> FailingModel<'m> {
    fn new(model: &'m dyn StateSpace) -> Self {
        FailingModel { model, given: AtomicU64::new(0), fails_at: AtomicU64::new(u64::MAX) }
    }

    /// Fails at every successor of `run` in turn, which must report each failure. Runs `again` after each failure.
    fn fail_at_each<T>(&self, run: impl Fn() -> spill::Result<T>, repeat: impl Fn()) -> u64 {
        self.fails_at.store(u64::MAX, Ordering::Relaxed);
        self.given.store(0, Ordering::Relaxed);
        assert!(run().is_ok(), "it fails by itself");
        let all = self.given.load(Ordering::Relaxed);
        for at in 0..all {
            self.given.store(0, Ordering::Relaxed);
            self.fails_at.store(at, Ordering::Relaxed);
            match run() {
                Ok(_) => panic!("the failure at {at} of {all} was dropped"),
                Err(error) => assert_eq!(error.to_string(), NO_ANSWER),
            }
            repeat();
        }
        all
    }

    fn forward(&self, out: &mut SuccessorSink, run: impl FnOnce(&mut SuccessorSink)) {
        let (width, mut states) = (self.model.width(), Vec::new());
        let Some(collected) = out.wrap(width, &mut states, run) else { return };
        for state in states.chunks_exact(width) {
            let given = self.given.fetch_add(1, Ordering::Relaxed);
            if given == self.fails_at.load(Ordering::Relaxed) {
                return out.fail("there is no answer");
            }
            out.candidate(state);
        }
        out.add_findings(collected.findings);
    }
}

impl StateSpace for FailingModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.forward(out, |inner| self.model.initial(inner));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            self.forward(out, |inner| self.model.expand(state, inner));
        }
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: self.model.capabilities().simulation,
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

/// A failing model ends every search of it, in any wrapper and store, with an error that names it. The search is
/// resumed afterwards.
fn assert_failure_reported(what: &str, failing: &FailingModel, searched: &dyn StateSpace) {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let expected = memory::search(searched, &limits).unwrap();
    let plan = tiny_plan(1, searched.width(), 12, 40);
    failing.fail_at_each(|| memory::search(searched, &limits).map_err(model_failure), || ());
    failing.fail_at_each(
        || train_codec(searched, HuffmanTables::Columns, &SearchControl::default()),
        || (),
    );
    let sorted = StateStorage::Sorted(Codec::Gaps);
    for storage in storages(searched).into_iter().chain([sorted]) {
        let disk: std::cell::RefCell<Arc<dyn Disk>> =
            std::cell::RefCell::new(Arc::new(FaultDisk::new()));
        let control = SearchControl::new(Duration::ZERO, None);
        let continue_search = || {
            let disk = disk.borrow();
            let (limits, control, storage) = (&limits, &control, &storage);
            let search = StoredSearch { plan, limits, control, storage };
            begin_stored_or_resume(searched, &disk, search)?.run()
        };
        let anew = || {
            *disk.borrow_mut() = Arc::new(FaultDisk::new());
            continue_search()
        };
        let all = failing.fail_at_each(anew, || {
            assert_same(&continue_search().unwrap(), &expected, &storage, what);
        });
        assert!(all > expected.counters.transitions, "{what}: {all}");
        let disk = disk.borrow();
        let saved = SavedSearch::load(&**disk).unwrap();
        for (check, finding) in saved.all_findings().unwrap().iter() {
            let trace = || match saved.storage().unwrap() {
                StateStorage::Sorted(codec) => {
                    let (disk, levels) = (&**disk, &saved.store.levels);
                    let levels = StoredLevels { disk, levels, codec: &codec };
                    counterexample(searched, levels, 1, check, finding)
                }
                StateStorage::Comback(_) => {
                    let levels = &saved.store.levels;
                    comback::counterexample(searched, &**disk, levels, check, finding)
                }
            };
            failing.fail_at_each(trace, || ());
        }
    }
}

fn interp_of(file: &str, text: &str) -> Interp {
    let mut sources = SourceMap::default();
    sources.add(file, text);
    let language = Language::from_file_name(file).unwrap();
    Interp::new(language.load(&mut sources, &Options::default()).unwrap().program).unwrap()
}

/// At most two of three processes may be in the room.
const SYMMETRIC: &str = "type P: scalarset(3); var in_room: array [P] of boolean; full: boolean;
startstate for p: P do in_room[p] := false; end; full := false; end;
ruleset p: P do rule \"come\" !in_room[p] ==> begin
full := exists q: P do in_room[q] end; in_room[p] := true; end; end;
invariant \"one\" !full;";

/// A claim that reaches its end.
const CLAIMED: &str = "byte x; active proctype P() { do :: x < 3 -> x++ :: x > 1 -> x = 0 od }
never c { do :: x < 3 :: x == 3 -> break od }";

#[test]
fn every_store_and_wrapper_reports_a_failing_model() {
    let graph = Graph { nodes: 14, degree: 2, spread: 5, width: 9, broken: 11, dense: 9 };
    let failing = FailingModel::new(&graph);
    assert_failure_reported("a graph", &failing, &failing);
    let interp = interp_of("room.m", SYMMETRIC);
    for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
        let failing = FailingModel::new(&interp);
        let symmetric = SymmetryModel::new(&failing, interp.program(), interp.layout(), effort);
        assert_failure_reported("symmetry", &failing, &symmetric.unwrap());
    }
    let interp = interp_of("claim.pml", CLAIMED);
    let failing = FailingModel::new(&interp);
    assert_failure_reported("a claim", &failing, &ClaimProduct::new(&failing, &interp).unwrap());
}

/// Applies all functions of a model to bytes that may encode no state. Returns whether the model expanded them.
fn expands(model: &dyn StateSpace, bytes: &[u8]) -> bool {
    let mut successors = Vec::new();
    let run = |out: &mut SuccessorSink| model.expand(bytes, out);
    let expanded = SuccessorSink::collect(model.width(), &mut successors, run);
    let explained = model.description();
    let _ = (explained.steps(bytes), explained.violations(bytes), explained.describe(bytes));
    let _ = model.capabilities().simulation.map(|lift| lift.represents(bytes, bytes));
    expanded.is_ok()
}

/// Bytes of a model's width: random ones, or an initial state with changed bits.
fn random_bytes(model: &dyn StateSpace, random: &mut Random) -> Vec<u8> {
    let width = model.width();
    let mut bytes = vec![0; width];
    match random.below(4) {
        0 => bytes.fill(0xff),
        1 => bytes.iter_mut().for_each(|byte| *byte = random.next() as u8),
        _ => {
            let run = |out: &mut SuccessorSink| model.initial(out);
            let mut states = Vec::new();
            let _ = SuccessorSink::collect(width, &mut states, run).unwrap();
            bytes.copy_from_slice(&states[..width]);
            for _ in 0..1 + random.below(3) {
                let at = random.below(width);
                bytes[at] ^= 1 << random.below(8);
            }
        }
    }
    bytes
}

#[test]
fn bytes_that_encode_no_state_are_rejected_or_expanded_equally() {
    let mut random = Random::new(7);
    let (mut taken, mut refused) = (0, 0);
    let mut expand_all = |what: &str, models: [&dyn StateSpace; 2]| {
        for _ in 0..if crate::support::is_large() { 20_000 } else { 300 } {
            let bytes = random_bytes(models[0], &mut random);
            let [one, other] = models.map(|model| expands(model, &bytes));
            assert_eq!(one, other, "{what}: {bytes:02x?}");
            *(if one { &mut taken } else { &mut refused }) += 1;
        }
    };
    let three = "process P { state a, b, c; init a; trans a -> b { }, b -> c { }, c -> a { }; }
system async;";
    let interp = interp_of("three.dve", three);
    let jit = Jit::new(&interp).unwrap();
    assert!(!expands(&jit, &[0xff]) && !expands(&interp, &[0xff]), "three locations have two bits");
    expand_all("three", [&interp, &jit]);
    let interp = interp_of("claim.pml", CLAIMED);
    let jit = Jit::new(&interp).unwrap();
    let claimed =
        [&interp as &dyn StateSpace, &jit].map(|it| ClaimProduct::new(it, &interp).unwrap());
    expand_all("a claim", [&claimed[0], &claimed[1]]);
    let expand_all = std::cell::RefCell::new(expand_all);
    for_each_model(&|what, models| (expand_all.borrow_mut())(what, models));
    assert!(taken > 300 && refused > 1000, "{taken} taken for states, {refused} refused");
}

/// Some of the models of `examples/differential`, without the other tools.
#[test]
fn all_searches_of_random_models_agree() {
    for language in [&promela::LANGUAGE, &murphi::LANGUAGE, &dve::LANGUAGE] {
        let (mut explored_states, mut searched) = (0, 0);
        for seed in 1..=12 {
            let (text, _) = crate::models::make(language, &crate::models::numbers(seed));
            match crate::spillway_answers::explore(language, &text) {
                crate::spillway_answers::Answer::Explored(explored) => {
                    println!("{} {seed}:\n{text}", language.name);
                    explored_states += explored.outcome.states();
                    searched += 1;
                    crate::spillway_answers::assert_all_agree(&explored, &mut Random::new(seed));
                }
                crate::spillway_answers::Answer::Large => {}
                crate::spillway_answers::Answer::Refused(why) if *language == promela::LANGUAGE => {
                    println!("{seed}: {why}")
                }
                crate::spillway_answers::Answer::Refused(why) => {
                    panic!("{} {seed}: {why}\n{text}", language.name)
                }
            }
        }
        let name = language.name;
        assert!(searched >= 8, "{name}: only {searched} of the models were searched");
        assert!(explored_states > 150, "{name}: only {explored_states} states");
    }
}

/// Some of these models with the reference tools, if installed.
#[test]
fn random_models_have_the_results_of_spin_and_rumur() {
    let folder = tempfile::tempdir().unwrap();
    for language in [&promela::LANGUAGE, &murphi::LANGUAGE] {
        let Some(tool) = crate::causes::tool(language) else {
            println!("skipped: the reference tool of {} is not installed", language.name);
            continue;
        };
        let mut same = 0;
        for seed in 100..106 {
            let (text, _) = crate::models::make(language, &crate::models::numbers(seed));
            let ours = crate::spillway_answers::explore(language, &text);
            match crate::causes::compare(language, &text, &ours, folder.path()) {
                Comparison::Same => same += 1,
                Comparison::Different(how) => panic!("{tool}, {seed}: {how}\n{text}"),
                _ => {}
            }
        }
        assert!(same > 0, "{tool} has an answer to none");
    }
}
