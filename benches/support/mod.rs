//! Shared code of the benches: models, and searches of them.
#![allow(dead_code, unreachable_pub)]

use spill::{MeteredDisk, RealDisk};
use spillway::exec::Interp;
use spillway::front::{Options, dve};
use spillway::model::{StateSpace, SuccessorSink};
use spillway::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchResources,
};
use spillway::source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// Loads the model `models/dve/NAME.dve` with these constants.
pub fn load(name: &str, defines: &[(&str, i64)]) -> Interp {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/dve/{name}.dve"));
    let mut sources = SourceMap::default();
    sources.add(name, std::fs::read_to_string(path).unwrap());
    let defines = defines.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    let options = Options { defines, ..Options::default() };
    Interp::new(dve::LANGUAGE.load(&mut sources, &options).unwrap().program).unwrap()
}

/// Explores a model in its own directory, and calls a function on the finished search.
pub fn explore_and<T>(
    model: &dyn StateSpace,
    memory: u64,
    threads: usize,
    max_states: Option<u64>,
    inspect: impl FnOnce(&ExternalSearch, &dyn spill::Disk, &SearchOutcome) -> T,
) -> T {
    let dir = tempfile::tempdir().unwrap();
    let disk =
        Arc::new(MeteredDisk::new(Arc::new(RealDisk::open(dir.path()).unwrap()), None).unwrap());
    let plan = MemoryPlan::new(memory, 8 << 20, threads, model.width()).unwrap();
    let limits = SearchLimits { stop_on_violation: false, max_states, ..SearchLimits::default() };
    let control = SearchControl::default();
    let resources = SearchResources { disk: disk.clone(), plan, control: &control };
    let mut search = ExternalSearch::begin(model, resources, limits).unwrap();
    let outcome = search.run().unwrap();
    inspect(&search, &*disk, &outcome)
}

/// Explores all states of a model.
pub fn explore(model: &dyn StateSpace, memory: u64, threads: usize) -> SearchOutcome {
    explore_and(model, memory, threads, None, |_, _, outcome| outcome.clone())
}

/// Returns the successors of `states`, in their order.
pub fn successors(model: &dyn StateSpace, states: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    let collected =
        SuccessorSink::collect(model.width(), &mut buffer, |out| model.expand(states, out));
    assert!(collected.is_ok(), "the model does not fail");
    buffer
}
