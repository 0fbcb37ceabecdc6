//! Expansions that use records have the successors and findings that evaluation has, in the same order.

use spillway_base::source::SourceMap;
use spillway_model::{
    CandidateBatch, GrowingStateSpace, ModelError, StateSpace, StepOutcome, SuccessorSink,
    SystemDescription, UnencodedCandidate, UnencodedStates, Violation,
};
use spillway_tla::eval::CompiledSpecification;
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use spillway_tla::system::SpecificationSystem;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The most states of a specification that are compared.
const STATES_MAX: usize = 3000;

/// The unencoded states of a level.
struct CollectedStates(BTreeSet<Vec<u8>>);

impl UnencodedStates for CollectedStates {
    fn visit(
        &self,
        each: &mut dyn FnMut(&[u8]) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        self.0.iter().try_for_each(|it| each(it))
    }
}

/// What an expansion gives.
struct ExpansionResult {
    candidates: Vec<Vec<u8>>,
    unencoded: Vec<Vec<u8>>,
    findings: BTreeSet<Violation>,
}

fn expand(system: &SpecificationSystem, run: impl FnOnce(&mut SuccessorSink)) -> ExpansionResult {
    let (mut buffer, unencoded) = (Vec::new(), RefCell::new(Vec::new()));
    let set_aside = |it: UnencodedCandidate<'_>| {
        unencoded.borrow_mut().push(it.state.to_vec());
        ControlFlow::Continue(())
    };
    let batch = CandidateBatch { width: system.width(), buffer: &mut buffer, limit: usize::MAX };
    let go_on = |_: &mut Vec<u8>| ControlFlow::Continue(());
    let outcome = SuccessorSink::collect_growing(batch, go_on, Some(set_aside), run).unwrap();
    ExpansionResult {
        candidates: buffer.chunks(system.width()).map(<[u8]>::to_vec).collect(),
        unencoded: unencoded.into_inner(),
        findings: outcome.findings.iter().map(|it| it.0).collect(),
    }
}

/// Returns what evaluation says about a state, without successors that have no bytes yet.
fn evaluated(system: &SpecificationSystem, state: &[u8]) -> ExpansionResult {
    let (mut candidates, mut findings) = (Vec::new(), BTreeSet::new());
    for step in system.steps(state) {
        match step.outcome {
            StepOutcome::Successor(key) => candidates.push(key),
            StepOutcome::Fault(fault) => {
                findings.insert(Violation::Fault(fault.kind, step.action));
            }
        }
    }
    findings.extend(system.violations(state));
    ExpansionResult { candidates, unencoded: Vec::new(), findings }
}

fn system(root: &Path, config: &Path) -> Option<SpecificationSystem> {
    let mut sources = SourceMap::default();
    let search = SearchPath::new(root, &[], None);
    let resolved = read_specification(root, config, &search, &mut sources);
    let program = CompiledSpecification::new(resolved.ok()?.specification);
    SpecificationSystem::new(program, &sources, &[]).ok()
}

/// Compares expansions with evaluation, level by level. Returns the number of states.
fn compare(system: &SpecificationSystem, name: &str) -> usize {
    let mut visited = BTreeSet::new();
    let mut level = grown(system, vec![expand(system, |out| system.initial(out))]);
    while !level.is_empty() && visited.len() < STATES_MAX {
        let states: Vec<_> = level.into_iter().filter(|it| visited.insert(it.clone())).collect();
        let mut all = Vec::new();
        for state in &states {
            let found = expand(system, |out| system.expand(state, out));
            let expected = evaluated(system, state);
            let shown = || system.describe(state);
            assert_eq!(found.candidates, expected.candidates, "{name}: {:?}", shown());
            assert_eq!(found.findings, expected.findings, "{name}: {:?}", shown());
            all.push(found);
        }
        level = grown(system, all);
    }
    visited.len()
}

/// Returns the states of a level. The encoding grows by those that have no bytes yet.
fn grown(system: &SpecificationSystem, expanded: Vec<ExpansionResult>) -> BTreeSet<Vec<u8>> {
    let mut level = BTreeSet::new();
    let mut unencoded = CollectedStates(BTreeSet::new());
    for it in expanded {
        level.extend(it.candidates);
        unencoded.0.extend(it.unencoded);
    }
    if !unencoded.0.is_empty() {
        system.grow(&unencoded).unwrap();
    }
    for it in &unencoded.0 {
        let mut key = vec![0; system.width()];
        system.encode(it, &mut key).unwrap();
        level.insert(key);
    }
    level
}

fn tests(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder)
}

#[test]
fn every_way_to_read_and_change_variables() {
    for (module, config) in
        [("Reads", "Reads"), ("Reads", "ReadsConstrained"), ("Failures", "Failures")]
    {
        let root = tests("records").join(module).with_extension("tla");
        let config = tests("records").join(config).with_extension("cfg");
        let system = system(&root, &config).expect("a system");
        let states = compare(&system, module);
        assert!(states > 20, "{module}: {states} states");
        // Now there are records for all of them.
        assert_eq!(compare(&system, module), states);
    }
}

#[test]
fn specifications_of_semantics() {
    let mut compared = 0;
    for entry in std::fs::read_dir(tests("semantics")).unwrap() {
        let config = entry.unwrap().path();
        if config.extension().is_none_or(|it| it != "cfg") {
            continue;
        }
        let Some(system) = system(&config.with_extension("tla"), &config) else { continue };
        if system.view_name().is_none() && system.orbit_size_max() == 1 {
            compare(&system, &config.display().to_string());
            compared += 1;
        }
    }
    assert!(compared >= 35, "{compared} specifications");
}
