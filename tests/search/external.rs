//! The external search against the oracle, on pseudo-random graphs.

use crate::graphs::graphs_of;
use crate::support::{Graph, begin_or_resume, tiny_plan};
use proptest::prelude::*;
use spill::{Disk, FaultDisk, RealDisk};
use spillway::exec::{
    Expansion, Explain, Lift, Model, Postpones, StepOutcome, Violation, any_bits, stop,
};
use spillway::search::trace::{Finder, counterexample};
use spillway::search::{Checks, Control, Limits, Outcome, Verdict, memory};
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_oracle(
        graph in graphs(),
        threads in 1usize..4,
        buffer in 4u64..3_000,
        young in 16u64..20_000,
        keep_going: bool,
    ) {
        let limits = Limits { stop_on_violation: !keep_going, ..Limits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let (_dir, disk) = real_disk();
        let plan = tiny_plan(threads, graph.width, buffer, young);
        let control = Control::default();
        let mut search = begin_or_resume(&graph, &disk, plan, &limits, &control).unwrap();
        let outcome = search.run().unwrap();
        prop_assert_eq!(&outcome, &expected);
        for (check, finding) in outcome.findings.iter() {
            let levels = (search.store().levels().saved(), search.store().codec());
            let trace =
                counterexample(&graph, &*disk, levels, threads, check, finding.level, &finding.witness)
                    .unwrap();
            prop_assert_eq!(trace.depth() as u64, finding.level);
        }
    }

    #[test]
    fn stopping_and_resuming_changes_nothing(
        graph in graphs(),
        plans in prop::collection::vec((1usize..4, 4u64..2_000, 16u64..10_000), 1..4),
        pauses in prop::collection::vec(0u64..4, 1..12),
    ) {
        let limits = Limits { stop_on_violation: false, ..Limits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let mut last = Outcome::default();
        for (sitting, pause) in pauses.iter().chain([&u64::MAX]).enumerate() {
            let (threads, buffer, young) = plans[sitting % plans.len()];
            let plan = tiny_plan(threads, graph.width, buffer, young);
            // Checkpoints without end, inside levels too.
            let control = Control::new(Duration::ZERO, None);
            let max_states = pause.checked_mul(graph.nodes / 4);
            let limits = Limits { max_states, ..limits.clone() };
            let mut search = begin_or_resume(&graph, &disk, plan, &limits, &control).unwrap();
            last = search.run().unwrap();
        }
        prop_assert_eq!(last, expected);
    }
}

#[test]
fn states_of_earlier_sittings_are_not_in_the_rate_of_this_one() {
    let shape = Graph { nodes: 5_000, degree: 4, spread: 50, width: 8, broken: 0, dense: u64::MAX };
    let states: u64 = memory::search(&shape, &Limits::default()).unwrap().states();
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let plan = tiny_plan(1, shape.width, 1_000, 1_000);
    let limits = Limits { max_states: Some(states / 2), ..Limits::default() };
    let control = Control::default();
    begin_or_resume(&shape, &disk, plan, &limits, &control).unwrap().run().unwrap();
    let found = control.progress.states.load(Ordering::Relaxed);
    assert!((1..states).contains(&found), "{found} of {states}");
    let control = Control::default();
    let _search = begin_or_resume(&shape, &disk, plan, &Limits::default(), &control).unwrap();
    assert_eq!(control.progress.states.load(Ordering::Relaxed), found);
    // A rate is told only when some time has gone by.
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(control.rate(), None);
}

/// A model at work when it is time to stop: it leaves early, after some of the states and successors.
struct Interrupted<'a> {
    graph: &'a Graph,
    control: &'a Control,
    /// So many states are expanded until then.
    states: AtomicI64,
}

impl Model for Interrupted<'_> {
    fn width(&self) -> usize {
        self.graph.width()
    }

    fn bits(&self) -> u32 {
        self.graph.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        self.graph.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        for state in states.chunks(self.width()) {
            let left = self.states.fetch_sub(1, Ordering::Relaxed);
            if left == 0 {
                self.control.stop();
            }
            if stop::is_asked() {
                // Some of the successors, and a finding that is none.
                for step in self.graph.steps(state).into_iter().take(1) {
                    if let StepOutcome::Successor(successor) = step.outcome {
                        out.candidate(&successor);
                    }
                }
                out.finding(Violation::Deadlock, state);
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

    fn explained(&self) -> &dyn Explain {
        self.graph
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        None
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stopping_a_model_at_work_changes_nothing(
        graph in graphs(),
        threads in 1usize..4,
        stops in prop::collection::vec(0i64..6_000, 1..8),
    ) {
        let limits = Limits { stop_on_violation: false, ..Limits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let plan = tiny_plan(threads, graph.width, 300, 2_000);
        let mut last = Outcome::default();
        for states in stops.into_iter().chain([i64::MAX]) {
            let control = Control::default();
            let states = AtomicI64::new(states);
            let model = Interrupted { graph: &graph, control: &control, states };
            let mut search = begin_or_resume(&model, &disk, plan, &limits, &control).unwrap();
            last = search.run().unwrap();
        }
        prop_assert_eq!(last, expected);
    }
}

#[test]
fn a_stopped_search_is_incomplete_and_says_so() {
    let graph =
        Graph { nodes: 100_000, degree: 3, spread: 50, width: 9, broken: 0, dense: u64::MAX };
    let (_dir, disk) = real_disk();
    let control = Control::default();
    control.stop();
    let limits = Limits::default();
    let plan = tiny_plan(2, graph.width, 1000, 1000);
    let mut search = begin_or_resume(&graph, &disk, plan, &limits, &control).unwrap();
    assert_eq!(search.run().unwrap().verdict, Verdict::Incomplete);
}

#[test]
fn a_counterexample_that_nobody_waits_for_any_more_is_not_found_and_found_later() {
    let graph =
        Graph { nodes: 60_000, degree: 6, spread: 6, width: 9, broken: 30_000, dense: u64::MAX };
    let (dir, disk) = real_disk();
    let checks = Checks { deadlock: false, ..Checks::default() };
    let (limits, control) = (Limits { checks, ..Limits::default() }, Control::default());
    let plan = tiny_plan(2, graph.width, 1000, 1000);
    let mut search = begin_or_resume(&graph, &disk, plan, &limits, &control).unwrap();
    let outcome = search.run().unwrap();
    let levels = (search.store().levels().saved(), search.store().codec());
    let check = Violation::Property(0);
    let (_, finding) = outcome.findings.iter().find(|(other, _)| *other == check).unwrap();
    assert!(finding.level > 5_000, "the way is long");
    let find = |control: &Control| {
        let (model, folder) = (&graph, Some(dir.path()));
        let finder = Finder { model, disk: &*disk, threads: 2, control, folder };
        let found = finder.find(levels, check, finding.level, &finding.witness).unwrap();
        found.map(|found| found.trace())
    };
    let stopped = Control::default();
    stopped.stop();
    assert_eq!(find(&stopped), None);
    let late = Control::new(Duration::from_secs(600), Some(Instant::now()));
    assert_eq!(find(&late), None);
    let found = find(&Control::default()).unwrap();
    assert_eq!(found.depth() as u64, finding.level);
    assert_eq!(found.states.last(), Some(&finding.witness));
}
