//! Searches of models that postpone transitions, compared with the oracle: with tiny budgets and any number of threads,
//! across stops and failures. A postponed transition is never lost.

use crate::graphs::graphs_of;
use crate::support::postponing_model::PostponingModel;
use crate::support::stored::{assert_same, search, storages};
use crate::support::{Graph, begin_or_resume, tiny_plan};
use proptest::prelude::*;
use spill::fault::FaultPlan;
use spill::{Disk, FaultDisk};
use spillway::model::{
    Capabilities, ObligationSink, PostponingStateSpace, ProgramDescription, PropertyInfo,
    StateSpace, StepDescription, StepOutcome, SuccessorSink, SystemDescription, Violation, memory,
};
use spillway::search::checkpoint::{MANIFEST, SavedSearch};
use spillway::search::trace::{StoredLevels, counterexample};
use spillway::search::{
    MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchVerdict, StateStorage,
};
use spillway::source::Span;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

fn graphs() -> impl Strategy<Value = Graph> {
    let width = prop_oneof![Just(3usize), Just(8), Just(11), Just(24), Just(90)];
    graphs_of((1u64..20_000, 2u64..6, 1u64..2_000, width), 20_000)
}

/// Checks that each finding has a run to it, no longer than its level.
fn assert_traces_replay(model: &dyn StateSpace, disk: &dyn Disk, outcome: &SearchOutcome) {
    let saved = SavedSearch::load(disk).unwrap();
    let codec = saved.codec().unwrap();
    for (check, finding) in outcome.findings.iter() {
        let levels = StoredLevels { disk, levels: &saved.store.levels, codec: &codec };
        let trace = counterexample(model, levels, 2, check, finding).unwrap();
        let faulty = u64::from(matches!(check, Violation::Fault(..)));
        assert!(trace.depth() as u64 <= finding.level + faulty);
        assert_eq!(trace.states.last(), Some(&finding.witness));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn postponing_searches_equal_the_oracle(
        graph in graphs(),
        seed in 0u64..200,
        threads in 1usize..4,
        buffer in 4u64..3_000,
        young in 16u64..20_000,
        keep_going: bool,
    ) {
        let plan = tiny_plan(threads, graph.width, buffer, young);
        let model = PostponingModel::new(graph, seed);
        let limits = SearchLimits { stop_on_violation: !keep_going, ..SearchLimits::default() };
        let expected = memory::search(&model, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let control = SearchControl::default();
        let outcome = begin_or_resume(&model, &disk, plan, &limits, &control).unwrap().run().unwrap();
        prop_assert_eq!(&outcome, &expected);
        prop_assert_eq!(SavedSearch::load(&*disk).unwrap().outcome().unwrap(), expected);
        assert_traces_replay(&model, &*disk, &outcome);
    }

    #[test]
    fn stopping_and_resuming_changes_nothing(
        graph in graphs(),
        seed in 0u64..200,
        plans in prop::collection::vec((1usize..4, 4u64..2_000, 16u64..10_000), 1..4),
        // The states until the end of a level, and until a working model is asked to stop.
        pauses in prop::collection::vec((0u64..4, 0i64..6_000), 1..12),
    ) {
        let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
        let mut model = PostponingModel::new(graph, seed);
        let expected = memory::search(&model, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let mut last = SearchOutcome::default();
        let end = (u64::MAX, i64::MAX);
        for (session, (pause, states)) in pauses.into_iter().chain([end]).enumerate() {
            let (threads, buffer, young) = plans[session % plans.len()];
            let plan = tiny_plan(threads, model.width(), buffer, young);
            // Unlimited checkpoints, also inside levels.
            let control = Arc::new(SearchControl::new(Duration::ZERO, None));
            (model.states_until_stop, model.control) = (AtomicI64::new(states), Some(control.clone()));
            let max_states = pause.checked_mul(model.model.nodes / 4);
            let limits = SearchLimits { max_states, ..limits.clone() };
            last = begin_or_resume(&model, &disk, plan, &limits, &control).unwrap().run().unwrap();
        }
        prop_assert_eq!(last, expected);
        let files = disk.list().unwrap().into_iter().map(|(name, _)| name);
        let sorts = ["levels-", "merged-", MANIFEST];
        prop_assert!(files.into_iter().all(|name| sorts.iter().any(|sort| name.starts_with(sort))));
    }
}

/// Sorted stores postpone transitions. Stores with back-edges do not.
#[test]
fn sorted_stores_postpone_and_comback_stores_do_not() {
    let graph = Graph { nodes: 3_000, degree: 4, spread: 400, width: 11, broken: 40, dense: 900 };
    let plan = tiny_plan(2, graph.width, 60, 500);
    let mut model = PostponingModel::new(graph, 5);
    let reduced = memory::search(&model, &limits()).unwrap();
    model.postpones = false;
    let full = memory::search(&model, &limits()).unwrap();
    assert!(
        reduced.states() < full.states()
            && reduced.counters.re_expanded > 50
            && full.counters.partially_expanded == 0
    );
    model.postpones = true;
    for storage in storages(&model) {
        let expected = match storage {
            StateStorage::Sorted(_) => &reduced,
            StateStorage::Comback(_) => &full,
        };
        for pauses in [&[][..], &[500, 1_000]] {
            let (outcome, _) = search(&[&model], &storage, &[plan], pauses, &limits());
            assert_same(&outcome, expected, &storage, "a postponing graph");
        }
    }
}

/// A search that is small enough for a thousand repetitions, with obligations in memory and on disk.
struct RepeatedSearch {
    model: PostponingModel<Graph>,
    plan: MemoryPlan,
    expected: SearchOutcome,
}

fn repeated_search(nodes: u64, buffer: u64) -> RepeatedSearch {
    let graph = Graph { nodes, degree: 4, spread: nodes, width: 9, broken: 40, dense: 60 };
    let plan = tiny_plan(1, graph.width, buffer, nodes / 4);
    let model = PostponingModel::new(graph, 3);
    let expected = memory::search(&model, &limits()).unwrap();
    assert!(
        expected.counters.re_expanded > 20
            && expected.counters.partially_expanded > expected.counters.re_expanded,
        "{expected:?}"
    );
    RepeatedSearch { model, plan, expected }
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

impl RepeatedSearch {
    /// Runs to the end, or until `states` states are expanded. A negative number stops at once.
    fn run(&mut self, disk: &FaultDisk, states: i64) -> spill::Result<SearchOutcome> {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let control = Arc::new(SearchControl::new(Duration::ZERO, None));
        if states < 0 {
            control.stop();
        }
        self.model.states_until_stop = AtomicI64::new(states);
        self.model.control = Some(control.clone());
        begin_or_resume(&self.model, &disk, self.plan, &limits(), &control)?.run()
    }

    fn assert_completes(&mut self, disk: &FaultDisk, what: &str) {
        let outcome = self.run(disk, i64::MAX);
        assert_eq!(outcome.unwrap(), self.expected, "{what}");
        let files = disk.list().unwrap().into_iter().map(|(name, _)| name);
        let sorts = ["levels-", "merged-", MANIFEST];
        assert!(files.into_iter().all(|name| sorts.iter().any(|sort| name.starts_with(sort))));
    }
}

#[test]
fn the_process_may_be_killed_and_power_lost_at_any_operation() {
    let mut case = repeated_search(240, 20);
    let mut stages_seen = BTreeSet::new();
    let undisturbed = FaultDisk::new();
    case.assert_completes(&undisturbed, "undisturbed");
    for operation in 0..undisturbed.operations() {
        let disk = FaultDisk::with_faults(FaultPlan::new().seed(operation).crash_at(operation));
        assert!(case.run(&disk, i64::MAX).is_err());
        let disk = disk.restart();
        stages_seen.extend(stages(&disk));
        // A search that is stopped before it begins still writes a checkpoint.
        assert!(case.run(&disk, -1).is_ok());
        case.assert_completes(&disk.restart(), &format!("killed at {operation}"));
        case.assert_completes(&disk.reboot(operation), &format!("power lost at {operation}"));
    }
    assert!(
        ["due", "due, exhausted", "exhausted"].iter().all(|stage| stages_seen.contains(stage)),
        "{stages_seen:?}"
    );
}

/// Stopped after any number of states, then killed soon after it is resumed.
#[test]
fn a_search_resumes_from_any_instant() {
    let mut case = repeated_search(6_000, 100);
    let mut stages_seen = BTreeSet::new();
    for states in (0..).step_by(53) {
        let disk = FaultDisk::new();
        if case.run(&disk, states).unwrap().verdict != SearchVerdict::Incomplete {
            break;
        }
        stages_seen.extend(stages(&disk));
        let killed = disk.restart();
        let at = killed.operations() + states as u64 * 7 % 40;
        killed.set_plan(FaultPlan::new().seed(at).crash_at(at));
        let _ = case.run(&killed, i64::MAX);
        case.assert_completes(&killed.reboot(at), &format!("stopped after {states}, power lost"));
        case.assert_completes(&disk, &format!("stopped after {states}"));
    }
    let all = ["owed", "carried", "carried partly", "beside"];
    assert!(all.iter().all(|stage| stages_seen.contains(stage)), "{stages_seen:?}");
}

/// Damaged bytes are reported with their file, or have no effect.
#[test]
fn damaged_obligations_are_detected() {
    let mut case = repeated_search(3_000, 30);
    let mut damaged_kinds = BTreeSet::new();
    for states in [700, 1_500, 2_500] {
        let disk = FaultDisk::new();
        case.run(&disk, states).unwrap();
        let sorts = ["obligations-", "carried-"];
        let files = disk.list().unwrap().into_iter();
        for (name, length) in files.filter(|(name, _)| sorts.iter().any(|it| name.starts_with(it)))
        {
            for sample in 0..30 {
                let (copy, offset) = (disk.restart(), sample * length / 30);
                match sample % 5 {
                    0 => copy.truncate(&name, offset),
                    _ => copy.flip_bit(&name, offset, (sample % 8) as u32),
                }
                match case.run(&copy, i64::MAX) {
                    Ok(outcome) => assert_eq!(outcome, case.expected, "{name} at {offset}"),
                    Err(spill::Error::Corrupt { file, .. }) => {
                        assert_eq!(file, name);
                        damaged_kinds.insert(name.split('-').next().map(str::to_string));
                    }
                    Err(error) => panic!("{name} at {offset}: {error}"),
                }
            }
        }
    }
    assert_eq!(damaged_kinds.len(), 2, "{damaged_kinds:?}");
}

/// Returns the stages of the round at the last checkpoint.
fn stages(disk: &FaultDisk) -> Vec<&'static str> {
    let Ok(saved) = SavedSearch::load(disk) else { return Vec::new() };
    let (open, postponed) = (&saved.open, &saved.postponed);
    let last = saved.store.levels.len() as u32 - 1;
    let obligations_file = postponed.obligations.first().map(|piece| piece.file);
    let of_last = matches!(obligations_file, Some(spill::FileName::Obligations { level, .. }) if level == last);
    let carried = postponed.carried.first().map_or(0, |piece| piece.at.keys);
    let partly = (1..carried).contains(&postponed.expanded);
    let stages = [
        ("owed", of_last && !open.exhausted),
        ("due", obligations_file.is_some() && !of_last),
        ("due, exhausted", obligations_file.is_some() && open.exhausted),
        ("carried", carried > 0 && postponed.expanded == 0 && !open.exhausted),
        ("carried partly", partly),
        ("beside", carried > 0 && postponed.expanded == carried && open.expanded > 0),
        ("exhausted", carried > 0 && open.exhausted),
    ];
    stages.into_iter().filter(|(_, is_reached)| *is_reached).map(|(stage, _)| stage).collect()
}

/// A process that runs in a cycle, and one that ends with a violation. They are independent, and so each state may
/// postpone the second process.
struct CycleAndExit {
    round: u8,
    end: u8,
}

impl StateSpace for CycleAndExit {
    fn width(&self) -> usize {
        2
    }

    fn bits(&self) -> u32 {
        16
    }

    fn initial(&self, out: &mut SuccessorSink) {
        out.candidate(&[0, 0]);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(2) {
            self.expand_by(state, out, [true; 2], &mut |_| ());
            self.violations(state).into_iter().for_each(|check| out.record_finding(check, state));
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        vec![vec![0xff, 0], vec![0, 0xff]]
    }

    fn digest(&self) -> [u8; 32] {
        [self.round; 32]
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: None,
            postponing: Some(self),
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl CycleAndExit {
    fn expand_by(
        &self,
        state: &[u8],
        out: &mut SuccessorSink,
        [moves_in_cycle, moves_to_end]: [bool; 2],
        add_obligation: &mut dyn FnMut(&[u8]),
    ) {
        if moves_in_cycle {
            let successor = [(state[0] + 1) % self.round, state[1]];
            out.candidate(&successor);
            add_obligation(&successor);
        }
        if moves_to_end && state[1] < self.end {
            out.candidate(&[state[0], state[1] + 1]);
        }
    }
}

impl PostponingStateSpace for CycleAndExit {
    fn expand_reduced(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        obligations: &mut ObligationSink,
    ) {
        for (position, state) in states.chunks_exact(2).enumerate() {
            let mut add_obligation = |successor: &[u8]| obligations.add(position, successor);
            self.expand_by(state, out, [true, false], &mut add_obligation);
            self.violations(state).into_iter().for_each(|check| out.record_finding(check, state));
            out.count_partially_expanded(1);
        }
    }

    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink) {
        states.chunks_exact(2).for_each(|it| self.expand_by(it, out, [false, true], &mut |_| ()));
    }
}

impl SystemDescription for CycleAndExit {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let mut states = Vec::new();
        let run = |out: &mut SuccessorSink| self.expand_by(state, out, [true; 2], &mut |_| ());
        let _ = SuccessorSink::collect(2, &mut states, run).unwrap();
        let step = |state: &[u8]| {
            StepDescription::unplaced(0, String::new(), StepOutcome::Successor(state.to_vec()))
        };
        states.chunks_exact(2).map(step).collect()
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let (spans, actions, outcome) =
            (Vec::new(), Vec::new(), StepOutcome::Successor(vec![0, 0]));
        let _ = visit(StepDescription {
            action: 0,
            name: String::new(),
            parameters: vec![],
            actors: vec![],
            spans,
            actions,
            movers: Vec::new(),
            outcome,
        });
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        vec![PropertyInfo {
            kind: "invariant",
            name: "not at the end".into(),
            span: Span::default(),
        }]
    }

    fn action_name(&self, _: u32) -> String {
        String::new()
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        if state[1] == self.end { vec![Violation::Property(0)] } else { Vec::new() }
    }

    fn describe(&self, _: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        Vec::new()
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

/// Each state of a cycle postpones the transition that leaves it.
#[test]
fn transitions_that_a_whole_cycle_postpones_are_explored() {
    for (round, end) in [(1, 1), (2, 3), (50, 4), (200, 1)] {
        let model = CycleAndExit { round, end };
        let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
        let expected = memory::search(&model, &limits).unwrap();
        assert_eq!(expected.verdict, SearchVerdict::Violated);
        // Each round ends where it began, and only its last state is expanded again.
        assert_eq!(expected.states(), u64::from(round) * (u64::from(end) + 1));
        assert_eq!(
            (expected.counters.partially_expanded, expected.counters.re_expanded),
            (expected.states(), u64::from(end) + 1)
        );
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let (control, plan) = (SearchControl::default(), tiny_plan(1, 2, 20, 200));
        let outcome = begin_or_resume(&model, &disk, plan, &limits, &control).unwrap().run();
        let outcome = outcome.unwrap();
        assert_eq!(outcome, expected);
        let (_, finding) = outcome.findings.iter().next().unwrap();
        assert_eq!(finding.level, u64::from(round) * u64::from(end));
        assert_traces_replay(&model, &*disk, &outcome);
    }
}
