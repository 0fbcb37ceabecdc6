//! Searches that a program starts through the library: of Rust types, of its own models, and of texts.

// This is a separate test program, because resident memory counts against the memory of a search.
#[path = "library/examples.rs"]
mod examples;
#[path = "library/hunts.rs"]
mod hunts;
#[path = "library/properties.rs"]
mod properties;
#[path = "library/states.rs"]
mod states;
mod support;
#[path = "library/texts.rs"]
mod texts;
#[path = "library/tla.rs"]
mod tla;
#[path = "library/tla_models.rs"]
mod tla_models;
#[path = "library/tla_views.rs"]
mod tla_views;

use spillway::model::{
    Capabilities, ProgramDescription, PropertyInfo, StateSpace, StepDescription, StepOutcome,
    SuccessorSink, SystemDescription, Violation, any_bits,
};
use spillway::session::DirectoryConflict;
use spillway::{
    Check, CheckSelection, Error, ModelInconsistency, PackedSystem, Property, SearchVerdict,
    TextModel, TransitionSystem, check_consistency,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::Graph;
use support::memory::memory_beside_tests;

/// Four tokens on rings, each of which moves independently.
struct Ring {
    size: u8,
    forbidden: u8,
}

impl TransitionSystem for Ring {
    type State = [u8; 4];
    /// The token that moves.
    type Action = usize;

    fn initial(&self) -> Vec<[u8; 4]> {
        vec![[0; 4]]
    }

    fn actions(&self, _: &[u8; 4], actions: &mut Vec<usize>) {
        actions.extend(0..4);
    }

    fn next(&self, state: &[u8; 4], &at: &usize) -> Option<[u8; 4]> {
        let mut next = *state;
        next[at] = (next[at] + 1) % self.size;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<'_, [u8; 4]>> {
        vec![Property::always("they never meet there", |state| *state != [self.forbidden; 4])]
    }

    fn name(&self, at: &usize) -> String {
        format!("token {at} goes on")
    }

    fn parameters(&self) -> String {
        format!("{} {}", self.size, self.forbidden)
    }
}

/// A lock for tests that search: the memory of one search counts against that of the others.
fn exclusive_search() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_rust_type_has_a_verdict_or_a_shortest_counterexample() {
    let _exclusive = exclusive_search();
    let safe = Ring { size: 5, forbidden: 9 };
    let found = Check::new(&safe).memory(memory_beside_tests(512)).threads(2).run().unwrap();
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, 625));
    assert_eq!(found.outcome().counters.transitions, 2500);
    assert!(found.counterexample().unwrap().is_none());
    assert!(found.to_string().starts_with("Ring: verified: every reachable state was visited"));

    let unsafe_ = Ring { size: 5, forbidden: 3 };
    let found = Check::new(&unsafe_).memory(memory_beside_tests(512)).run().unwrap();
    let way = found.counterexample().unwrap().unwrap();
    assert_eq!((found.verdict(), way.depth()), (SearchVerdict::Violated, 12));
    let shown = found.to_string();
    assert!(shown.contains("VIOLATED: invariant: they never meet there\n"), "{shown}");
    assert!(shown.contains("\n  after    12 steps (shortest)\n"), "{shown}");
    assert!(shown.contains("   12  token ") && shown.contains("]: 2 -> 3\n"), "{shown}");
}

#[test]
fn only_the_same_search_resumes_in_a_directory() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("search");
    let ring = Ring { size: 6, forbidden: 9 };
    let ask = || Check::new(&ring).memory(memory_beside_tests(512)).dir(&dir);
    let stopped = ask().max_states(300).run().unwrap();
    assert_eq!(stopped.verdict(), SearchVerdict::Incomplete);
    assert!((300..1296).contains(&stopped.states()));
    let running = ask().run().err().unwrap();
    assert!(matches!(running, Error::Open(_, spill::Error::Locked { .. })), "{running}");
    drop(stopped);

    let taken = |error: Error| match error {
        Error::Taken(_, taken) => taken,
        other => panic!("{other}"),
    };
    let other = Ring { size: 7, forbidden: 9 };
    let refused =
        Check::new(&other).memory(memory_beside_tests(512)).dir(&dir).run().err().unwrap();
    assert_eq!(taken(refused), DirectoryConflict::OtherModel("Ring".into()));
    let fewer = CheckSelection { deadlock: false, ..CheckSelection::default() };
    assert_eq!(taken(ask().checks(fewer).run().err().unwrap()), DirectoryConflict::Otherwise);

    let found = ask().run().unwrap();
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, 1296));
    drop(found);
    assert_eq!(ask().run().unwrap().states(), 1296);
}

#[test]
fn unsuitable_requests_are_errors() {
    let _exclusive = exclusive_search();
    let ring = Ring { size: 3, forbidden: 9 };
    let error = Check::new(&ring).memory(1 << 20).run().err().unwrap();
    assert!(matches!(error, Error::Memory(_)), "{error}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter"), "dear").unwrap();
    let error =
        Check::new(&ring).memory(memory_beside_tests(512)).dir(folder.path()).run().err().unwrap();
    assert!(matches!(error, Error::NotEmpty(_)), "{error}");
    let nothing = CheckSelection {
        deadlock: false,
        assertions: true,
        invariants: false,
        faults: false,
        claims: true,
    };
    let error =
        Check::new(&ring).memory(memory_beside_tests(512)).checks(nothing).run().err().unwrap();
    assert!(matches!(error, Error::Nothing { .. }), "{error}");
}

#[test]
fn a_text_has_the_states_of_the_oracle() {
    let _exclusive = exclusive_search();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve/bakery.dve");
    let (model, warnings) = TextModel::open(&file, Default::default()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let found = Check::of_text(&model).memory(memory_beside_tests(512)).keep_going().run().unwrap();
    let expected = spillway::model::memory::search(
        &model.interp,
        &spillway::search::SearchLimits { stop_on_violation: false, ..Default::default() },
    );
    assert_eq!(found.outcome().levels, expected.unwrap().levels);
    let error = TextModel::open(Path::new("nothing.dve"), Default::default()).err().unwrap();
    assert!(error.to_string().starts_with("cannot read the model nothing.dve"), "{error}");
}

/// The inconsistency of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inconsistency {
    None,
    Start,
    Steps,
    Violations,
    Findings,
    Masks,
    Again,
}

/// A graph whose description contradicts the successors that it gives to a search.
struct InconsistentModel {
    graph: Graph,
    inconsistency: Inconsistency,
    asked: std::sync::atomic::AtomicU64,
}

impl InconsistentModel {
    fn new(inconsistency: Inconsistency) -> InconsistentModel {
        let graph =
            Graph { nodes: 400, degree: 3, spread: 20, width: 3, broken: 301, dense: u64::MAX };
        InconsistentModel { graph, inconsistency, asked: Default::default() }
    }
}

impl StateSpace for InconsistentModel {
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
        self.graph.expand(states, out);
        let calls = self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if self.inconsistency == Inconsistency::Findings
            || self.inconsistency == Inconsistency::Again && calls % 2 == 1
        {
            out.record_finding(Violation::Property(0), &states[..self.width()]);
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        match self.inconsistency {
            Inconsistency::Masks => vec![vec![0xff, 0xff, 0x07]],
            _ => any_bits(self.width()),
        }
    }

    fn digest(&self) -> [u8; 32] {
        self.graph.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl SystemDescription for InconsistentModel {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let mut steps = self.graph.steps(state);
        if self.inconsistency == Inconsistency::Steps {
            for step in &mut steps {
                let StepOutcome::Successor(next) = &mut step.outcome else { continue };
                next[0] ^= 1;
            }
        }
        steps
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        self.graph.visit_starts(visit);
        if self.inconsistency == Inconsistency::Start {
            self.graph.visit_starts(visit);
        }
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.graph.properties()
    }

    fn action_name(&self, action: u32) -> String {
        self.graph.action_name(action)
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        match self.inconsistency {
            Inconsistency::Violations => vec![Violation::Deadlock],
            _ => self.graph.violations(state),
        }
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        self.graph.describe(state)
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

#[test]
fn inconsistent_models_are_detected() {
    let _exclusive = exclusive_search();
    let checked =
        |inconsistency| check_consistency(&InconsistentModel::new(inconsistency), 2000, 7);
    assert_eq!(checked(Inconsistency::None), Ok(()));
    for (inconsistency, what) in [
        (Inconsistency::Start, "`each_start`"),
        (Inconsistency::Steps, "`expand` gives"),
        (Inconsistency::Violations, "`steps` and `violations`"),
        (Inconsistency::Findings, "`steps` and `violations`"),
        (Inconsistency::Masks, "no write mask"),
        (Inconsistency::Again, "called again"),
    ] {
        let Err(ModelInconsistency { what: found, .. }) = checked(inconsistency) else {
            panic!("{inconsistency:?}")
        };
        assert!(found.contains(what), "{inconsistency:?}: {found}");
    }
    assert_eq!(
        check_consistency(&PackedSystem::new(&Ring { size: 4, forbidden: 2 }), 1000, 3),
        Ok(())
    );
}

/// The failure is reported as one of the model, not of the disk.
#[test]
fn a_counterexample_that_cannot_be_replayed_is_an_error_of_the_model() {
    let _exclusive = exclusive_search();
    for inconsistency in [Inconsistency::Steps, Inconsistency::Masks] {
        let model = InconsistentModel::new(inconsistency);
        let found = Check::of_model(&model).memory(memory_beside_tests(512)).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Violated, "{inconsistency:?}");
        let error = found.counterexample().err().expect("it cannot be told");
        let is_the_model = matches!(&error, Error::Open(_, spill::Error::Source { .. }));
        assert!(is_the_model && error.to_string().contains("the model failed"), "{error}");
    }
    let found = InconsistentModel::new(Inconsistency::None);
    let found = Check::of_model(&found).memory(memory_beside_tests(512)).run().unwrap();
    assert!(found.counterexample().unwrap().is_some());
}
