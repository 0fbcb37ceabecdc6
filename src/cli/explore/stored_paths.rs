//! Paths from the levels of a search directory: shortest paths, and paths to states that satisfy an expression.

use crate::cli::expression_watch::ExpressionWatch;
use crate::cli::failure::CommandFailure;
use crate::cli::model_walk::ModelWalk;
use crate::cli::reachable_graph::walkable;
use crate::cli::state_goal::StateGoal;
use crate::cli::trace_finder::{budget, finder};
use crate::model::StateValue;
use crate::search::trace::{StatePath, TraceFinder};
use crate::search::{SearchControl, StateStorage};
use crate::session::{
    CheckpointEvidence, DirectoryContents, SearchJob, SearchedModel, SourceModel,
};
use spill::RealDisk;
use std::path::Path;
use std::time::{Duration, Instant};

/// Why a directory has no path to a state that it does not contain.
const NOT_STORED: &str = "its levels do not contain this state";

/// The maximum time for looking at the states of a directory.
const LOOK_TIME: Duration = Duration::from_secs(30);

/// The result of a look for a shortest path.
pub(super) enum StoredPathResult {
    /// A shortest path to the state at the end of the walk.
    Found(Vec<usize>),
    /// A shortest path to another state that the search does not distinguish from that one.
    Equivalent(Vec<usize>),
    /// The levels have no shortest path, with the reason.
    Unknown(&'static str),
}

/// The result of a look for a state that satisfies an expression.
pub(super) enum StoredStateResult {
    /// A path to the first such state.
    Found(Vec<usize>),
    /// No stored state satisfies the expression.
    Nowhere,
    /// The states were not looked at, or not all of them, with the reason.
    Unknown(&'static str),
}

/// A search directory with states, whose model is ready to read them.
struct OpenStore<'o, 'm> {
    job: &'o SearchJob,
    model: &'o dyn SourceModel,
    searched: &'o SearchedModel<'m>,
    evidence: CheckpointEvidence<'o>,
    finder: TraceFinder<'o>,
}

/// Opens a directory, and looks into it. `None` if it has no states.
fn with_store<R>(
    dir: &Path,
    look: impl FnOnce(&OpenStore<'_, '_>) -> Result<R, CommandFailure>,
) -> Result<Option<R>, CommandFailure> {
    let contents = DirectoryContents::read(dir)?;
    let job = &contents.job;
    // Another search may have taken the directory in the meantime.
    let Some(saved) = contents.saved.as_ref().filter(|_| job.runs().is_none()) else {
        return Ok(None);
    };
    let disk = RealDisk::open(dir).map_err(|error| CommandFailure::cannot_open(dir, error))?;
    let model = job.source_model(dir)?;
    let budget = budget(saved.plan.budget, saved.store.levels.keys_by_level().sum());
    let (searched, limits) = (model.searched_within(budget), job.limits(None));
    let evidence = CheckpointEvidence { saved, dir, limits: &limits, sources: model.sources() };
    evidence.outcome(searched.model())?;
    let control = SearchControl::new(Duration::MAX, Instant::now().checked_add(LOOK_TIME));
    let finder = finder(searched.model(), budget.memory, dir, &disk, &control);
    let store = OpenStore { job, model: &*model, searched: &searched, evidence, finder };
    let found = look(&store)?;
    Ok(Some(found))
}

/// Returns the choices of a path.
fn choices_of(path: &StatePath) -> Vec<usize> {
    let steps = path.choices.iter().map(|it| *it as usize);
    std::iter::once(path.start as usize).chain(steps).collect()
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
    let found = with_store(dir, |store| {
        let OpenStore { model, searched, evidence, finder, .. } = store;
        if !searched.keeps_depths() {
            let why = "its reductions do not preserve the lengths of paths";
            return Ok(StoredPathResult::Unknown(why));
        }
        let mut walk = ModelWalk::new(*model, walkable(searched));
        if !walk.go(choices) {
            return Ok(StoredPathResult::Unknown(NOT_STORED));
        }
        let states: Option<Vec<Vec<u8>>> =
            walk.steps.iter().map(|it| it.state().map(<[u8]>::to_vec)).collect();
        let states = states.unwrap_or_default();
        let Some(path) = evidence.path_to_end(finder, &states)? else {
            return Ok(StoredPathResult::Unknown(NOT_STORED));
        };
        let found = choices_of(&path);
        Ok(match states.last() == Some(&path.state) {
            true => StoredPathResult::Found(found),
            false => StoredPathResult::Equivalent(found),
        })
    })?;
    Ok(found.unwrap_or(StoredPathResult::Unknown(NOT_STORED)))
}

/// Returns a path to the first stored state that satisfies an expression, in the order of levels.
///
/// # Errors
///
/// If the directory cannot be read, or the text is no expression.
pub(super) fn stored_state(dir: &Path, until: &str) -> Result<StoredStateResult, CommandFailure> {
    let found = with_store(dir, |store| {
        let OpenStore { job, model, searched, evidence, finder } = store;
        let unknown = |why| Ok(StoredStateResult::Unknown(why));
        let is_program = model.as_program().is_some();
        if !is_program {
            return unknown("its states are encoded without the expression");
        }
        if matches!(evidence.saved.storage(), Ok(StateStorage::Comback(_))) {
            return unknown("it stores hashes and back-edges");
        }
        if searched.model().capabilities().simulation.is_some() {
            return unknown("its reductions change the stored states");
        }
        let condition = StateGoal::condition(until, is_program);
        let Some(goal) = job.model_with_conditions(vec![condition])? else {
            unreachable!("only searches for runs have no such model")
        };
        let described = goal.searched();
        let watch = StateGoal::of_condition(&*goal, walkable(&described));
        let Some(StateGoal::Expression(ExpressionWatch { number, .. })) = watch else {
            unreachable!("the model was read with the condition")
        };
        let holds = |state: &[u8]| match goal.condition_value(number, state) {
            Ok(Some(StateValue::Truth(holds))) => holds,
            Ok(Some(StateValue::Number(number))) => number != 0,
            Ok(_) | Err(_) => false,
        };
        match evidence.path_to_first(finder, &holds)? {
            Some(path) => Ok(StoredStateResult::Found(choices_of(&path))),
            None if finder.control.should_stop() => {
                unknown("there was no time to look at all states")
            }
            None => Ok(StoredStateResult::Nowhere),
        }
    })?;
    Ok(found.unwrap_or(StoredStateResult::Nowhere))
}
