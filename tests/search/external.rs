//! The external search, compared with the oracle, on pseudo-random graphs.

use crate::graphs::graphs_of;
use crate::support::{Graph, begin_or_resume, tiny_plan};
use proptest::prelude::*;
use spill::{Disk, FaultDisk, RealDisk};
use spillway::model::{
    Capabilities, StateSpace, StepOutcome, SuccessorSink, SystemDescription, Violation, any_bits,
    memory, stop_request,
};
use spillway::search::trace::{StoredLevels, TraceFinder, counterexample};
use spillway::search::{
    CheckSelection, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchVerdict,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

fn graphs() -> impl Strategy<Value = Graph> {
    let width = prop_oneof![Just(3usize), Just(8), Just(11), Just(16), Just(24), Just(90)];
    graphs_of((1u64..30_000, 1u64..5, 1u64..2_000, width), 30_000)
}

fn real_disk() -> (tempfile::TempDir, Arc<dyn Disk>) {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(RealDisk::open(dir.path()).unwrap());
    (dir, disk)
}

/// Checks that a search has the outcome of the search in memory, and that the counterexamples have the depths of their
/// findings.
pub fn compare_with_oracle(
    graph: &Graph,
    disk: &Arc<dyn Disk>,
    plan: MemoryPlan,
    limits: &SearchLimits,
) -> Result<(), TestCaseError> {
    let expected = memory::search(graph, limits).unwrap();
    let (threads, control) = (plan.threads, SearchControl::default());
    let mut search = begin_or_resume(graph, disk, plan, limits, &control).unwrap();
    let outcome = search.run().unwrap();
    prop_assert_eq!(&outcome, &expected);
    for (check, finding) in outcome.findings.iter() {
        let levels = search.store().levels().saved();
        let levels = StoredLevels { disk: &**disk, levels, codec: search.store().codec() };
        let trace = counterexample(graph, levels, threads, check, finding).unwrap();
        prop_assert_eq!(trace.depth() as u64, finding.level);
    }
    Ok(())
}

/// Runs sessions that stop at some numbers of states, and a last one that does not stop. `session` returns the plan and
/// the time between checkpoints of each session. Returns the last outcome.
pub fn outcome_of_sessions(
    graph: &Graph,
    disk: &Arc<dyn Disk>,
    limits: &SearchLimits,
    stops: impl Iterator<Item = u64>,
    session: impl Fn(usize) -> (MemoryPlan, Duration),
) -> SearchOutcome {
    let mut last = SearchOutcome::default();
    for (number, max_states) in stops.map(Some).chain([None]).enumerate() {
        let (plan, every) = session(number);
        let control = SearchControl::new(every, None);
        let limits = SearchLimits { max_states, ..limits.clone() };
        let mut search = begin_or_resume(graph, disk, plan, &limits, &control).unwrap();
        last = search.run().unwrap();
    }
    last
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_external_search_agrees_with_the_oracle(
        graph in graphs(),
        threads in 1usize..4,
        buffer in 4u64..3_000,
        young in 16u64..20_000,
        keep_going: bool,
    ) {
        let limits = SearchLimits { stop_on_violation: !keep_going, ..SearchLimits::default() };
        let (_dir, disk) = real_disk();
        let plan = tiny_plan(threads, graph.width, buffer, young);
        compare_with_oracle(&graph, &disk, plan, &limits)?;
    }

    #[test]
    fn stops_and_resumptions_do_not_change_the_outcome(
        graph in graphs(),
        plans in prop::collection::vec((1usize..4, 4u64..2_000, 16u64..10_000), 1..4),
        pauses in prop::collection::vec(0u64..4, 1..12),
    ) {
        let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let stops = pauses.iter().map(|pause| pause * (graph.nodes / 4));
        let last = outcome_of_sessions(&graph, &disk, &limits, stops, |session| {
            let (threads, buffer, young) = plans[session % plans.len()];
            // Checkpoints are made at every chance, inside levels too.
            (tiny_plan(threads, graph.width, buffer, young), Duration::ZERO)
        });
        prop_assert_eq!(last, expected);
    }
}

#[test]
fn the_rate_excludes_states_of_earlier_sessions() {
    let shape = Graph { nodes: 5_000, degree: 4, spread: 50, width: 8, broken: 0, dense: u64::MAX };
    let states: u64 = memory::search(&shape, &SearchLimits::default()).unwrap().states();
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let plan = tiny_plan(1, shape.width, 1_000, 1_000);
    let limits = SearchLimits { max_states: Some(states / 2), ..SearchLimits::default() };
    let control = SearchControl::default();
    begin_or_resume(&shape, &disk, plan, &limits, &control).unwrap().run().unwrap();
    let found = control.progress.states.load(Ordering::Relaxed);
    assert!((1..states).contains(&found), "{found} of {states}");
    let control = SearchControl::default();
    let _search = begin_or_resume(&shape, &disk, plan, &SearchLimits::default(), &control).unwrap();
    assert_eq!(control.progress.states.load(Ordering::Relaxed), found);
    // A rate exists only after some time.
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(control.rate(), None);
}

/// A model that is stopped while it expands a chunk: it returns early, after some states and successors.
struct InterruptedModel<'a> {
    graph: &'a Graph,
    control: &'a SearchControl,
    /// The number of states until the stop.
    states: AtomicI64,
}

impl StateSpace for InterruptedModel<'_> {
    fn width(&self) -> usize {
        self.graph.width()
    }

    fn bits(&self) -> u32 {
        self.graph.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.graph.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks(self.width()) {
            let remaining = self.states.fetch_sub(1, Ordering::Relaxed);
            if remaining == 0 {
                self.control.stop();
            }
            if stop_request::is_requested() {
                // An incomplete result: some successors, and a wrong finding.
                for step in self.graph.steps(state).into_iter().take(1) {
                    if let StepOutcome::Successor(successor) = step.outcome {
                        out.candidate(&successor);
                    }
                }
                out.record_finding(Violation::Deadlock, state);
                return;
            }
            self.graph.expand(state, out);
        }
    }

    fn digest(&self) -> [u8; 32] {
        self.graph.digest()
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self.graph
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stops_during_expansion_do_not_change_the_outcome(
        graph in graphs(),
        threads in 1usize..4,
        stops in prop::collection::vec(0i64..6_000, 1..8),
    ) {
        let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let plan = tiny_plan(threads, graph.width, 300, 2_000);
        let mut last = SearchOutcome::default();
        for states in stops.into_iter().chain([i64::MAX]) {
            let control = SearchControl::default();
            let states = AtomicI64::new(states);
            let model = InterruptedModel { graph: &graph, control: &control, states };
            let mut search = begin_or_resume(&model, &disk, plan, &limits, &control).unwrap();
            last = search.run().unwrap();
        }
        prop_assert_eq!(last, expected);
    }
}

#[test]
fn a_stopped_search_is_incomplete() {
    let graph =
        Graph { nodes: 100_000, degree: 3, spread: 50, width: 9, broken: 0, dense: u64::MAX };
    let (_dir, disk) = real_disk();
    let control = SearchControl::default();
    control.stop();
    let limits = SearchLimits::default();
    let plan = tiny_plan(2, graph.width, 1000, 1000);
    let mut search = begin_or_resume(&graph, &disk, plan, &limits, &control).unwrap();
    assert_eq!(search.run().unwrap().verdict, SearchVerdict::Incomplete);
}

#[test]
fn a_stopped_search_for_a_counterexample_can_be_repeated() {
    let graph =
        Graph { nodes: 60_000, degree: 6, spread: 6, width: 9, broken: 30_000, dense: u64::MAX };
    let (dir, disk) = real_disk();
    let checks = CheckSelection { deadlock: false, ..CheckSelection::default() };
    let (limits, control) =
        (SearchLimits { checks, ..SearchLimits::default() }, SearchControl::default());
    let plan = tiny_plan(2, graph.width, 1000, 1000);
    let mut search = begin_or_resume(&graph, &disk, plan, &limits, &control).unwrap();
    let outcome = search.run().unwrap();
    let levels = search.store().levels().saved();
    let levels = StoredLevels { disk: &*disk, levels, codec: search.store().codec() };
    let check = Violation::Property(0);
    let (_, finding) = outcome.findings.iter().find(|(other, _)| *other == check).unwrap();
    assert!(finding.level > 5_000, "the way is long");
    let find = |control: &SearchControl| {
        let (model, folder) = (&graph, Some(dir.path()));
        let finder = TraceFinder { model, disk: &*disk, threads: 2, control, folder };
        let found = finder.find(levels, check, finding).unwrap();
        found.map(|found| found.trace())
    };
    let stopped = SearchControl::default();
    stopped.stop();
    assert_eq!(find(&stopped), None);
    let late = SearchControl::new(Duration::from_secs(600), Some(Instant::now()));
    assert_eq!(find(&late), None);
    let found = find(&SearchControl::default()).unwrap();
    assert_eq!(found.depth() as u64, finding.level);
    assert_eq!(found.states.last(), Some(&finding.witness));
}
