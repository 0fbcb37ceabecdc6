//! Shortest paths from the levels of a search directory.

use crate::cli::failure::CommandFailure;
use crate::cli::model_walk::ModelWalk;
use crate::cli::reachable_graph::walkable;
use crate::cli::trace_finder::{budget, finder};
use crate::search::SearchControl;
use crate::session::{CheckpointEvidence, DirectoryContents};
use spill::RealDisk;
use std::path::Path;

/// Why a directory has no path to a state that it does not contain.
const NOT_STORED: &str = "its levels do not contain this state";

/// The result of a look into the levels of a search directory.
pub(super) enum StoredPathResult {
    /// A shortest path to the state at the end of the walk.
    Found(Vec<usize>),
    /// A shortest path to another state that the search does not distinguish from that one.
    Equivalent(Vec<usize>),
    /// The levels have no shortest path, with the reason.
    Unknown(&'static str),
}

/// Returns a shortest path to the end of a walk, given by its choices, from the levels in a directory.
///
/// # Errors
///
/// If the directory cannot be read.
pub(super) fn stored_path(
    dir: &Path,
    choices: &[usize],
) -> Result<StoredPathResult, CommandFailure> {
    let contents = DirectoryContents::read(dir)?;
    let (job, unknown) = (&contents.job, |why| Ok(StoredPathResult::Unknown(why)));
    let Some(saved) = &contents.saved else { return unknown(NOT_STORED) };
    if job.is_of_specification() {
        return unknown("the encoding of the states of a specification grows");
    }
    let disk = RealDisk::open(dir).map_err(|error| CommandFailure::cannot_open(dir, error))?;
    let model = job.source_model(dir)?;
    let budget = budget(saved.plan.budget, saved.store.levels.keys_by_level().sum());
    let (searched, limits) = (model.searched_within(budget), job.limits(None));
    let evidence = CheckpointEvidence { saved, dir, limits: &limits, sources: model.sources() };
    evidence.outcome(searched.model())?;
    if !searched.keeps_depths() {
        return unknown("its reductions do not preserve the lengths of paths");
    }
    let mut walk = ModelWalk::new(&*model, walkable(&searched));
    // Another search may have taken the directory in the meantime.
    if !walk.go(choices) {
        return unknown(NOT_STORED);
    }
    let states: Option<Vec<Vec<u8>>> =
        walk.steps.iter().map(|it| it.state().map(<[u8]>::to_vec)).collect();
    let states = states.unwrap_or_default();
    let control = SearchControl::default();
    let finder = finder(searched.model(), budget.memory, dir, &disk, &control);
    let Some(path) = evidence.path_to_end(&finder, &states)? else {
        return unknown(NOT_STORED);
    };
    let steps = path.choices.into_iter().map(|it| it as usize);
    let found = std::iter::once(path.start as usize).chain(steps).collect();
    Ok(match states.last() == Some(&path.state) {
        true => StoredPathResult::Found(found),
        false => StoredPathResult::Equivalent(found),
    })
}
