//! A search in tasks by several processes: the interface of the directory and the model for the command line.

use super::directory::last;
use super::liveness_answer::LivenessAnswer;
use super::removal::RemoveOnDrop;
use super::text_search::{ReductionChoice, TextSearch};
use super::{CheckConfig, Error, RunLimits, SearchBudget, SearchJob, SearchedModel, SourceModel};
use crate::search::checkpoint::SavedSearch;
use crate::search::files::JOB;
use crate::search::tasks::{
    ExpansionContext, NextWork, PlanOutcome, SearchTask, SharingOptions, TaskPlan, TaskReceipt,
    commit, hash, if_exists, is_own, load_hashed, sharing_obstacle,
};
use crate::search::{MemoryPlan, SearchControl, StateStorage};
use spill::{Disk, RealDisk, RemoteDisk, RemoteOrigin};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a commit waits for another commit to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory with a search in tasks.
pub struct SharedSearch {
    path: PathBuf,
    /// The origin of the files, if the directory has only copies.
    origin: Option<Arc<dyn RemoteOrigin>>,
    job: SearchJob,
    /// The hash that distinguishes this job from others.
    hash: [u8; 32],
    model: OnceCell<Box<dyn SourceModel>>,
}

/// Runs the tasks of a directory one after another. A model is read and compiled once.
pub struct TaskRunner<'m> {
    shared: &'m SharedSearch,
    /// The most bytes that the process may hold resident.
    memory: u64,
    planned: OnceCell<SearchedModel<'m>>,
    expanded: OnceCell<(SearchedModel<'m>, MemoryPlan)>,
}

impl SharedSearch {
    /// Opens the search in a directory. Its files may be on another machine.
    pub fn open(path: &Path, origin: Option<Arc<dyn RemoteOrigin>>) -> Result<SharedSearch, Error> {
        let read = load_hashed(&*disk(path, origin.as_ref())?, JOB, SearchJob::load);
        let (job, hash) = read.map_err(|error| job_error(path, error))?;
        Ok(SharedSearch { path: path.to_path_buf(), origin, job, hash, model: OnceCell::new() })
    }

    /// Returns whether the directory has another search by now, or the same search with other reductions.
    pub fn has_changed(&self) -> Result<bool, Error> {
        let now = hash(&*self.disk()?, JOB).map_err(|error| job_error(&self.path, error))?;
        Ok(now != self.hash)
    }

    /// Returns the task runner of this process, with this memory.
    pub fn tasks(&self, memory: u64) -> TaskRunner<'_> {
        TaskRunner { shared: self, memory, planned: OnceCell::new(), expanded: OnceCell::new() }
    }

    /// Opens the directory without its lock.
    fn disk(&self) -> Result<Box<dyn Disk>, Error> {
        disk(&self.path, self.origin.as_ref())
    }

    fn model(&self) -> Result<&dyn SourceModel, Error> {
        get_or_try_init(&self.model, || self.job.source_model(&self.path)).map(|it| &**it)
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::Unshared(self.path.clone(), why)
    }

    fn failed(&self, error: spill::Error) -> Error {
        Error::Run(self.path.clone(), error)
    }
}

impl<'m> TaskRunner<'m> {
    /// Returns the next work, and the last checkpoint, if there is one.
    pub fn next(&self, wanted: SharingOptions) -> Result<(NextWork, Option<SavedSearch>), Error> {
        let shared = self.shared;
        if shared.job.runs().is_some() {
            return Err(shared.refused("it checks infinite runs"));
        }
        let model = shared.model()?;
        let searched = get_or_try_init(&self.planned, || Ok(model.searched()))?;
        if let Some(why) = sharing_obstacle(searched.model(), &shared.job.storage) {
            return Err(shared.refused(why));
        }
        let disk = shared.disk()?;
        let saved = if_exists(last(&*disk, &shared.job));
        let saved = saved.map_err(|error| shared.failed(error))?.flatten();
        if saved.is_none() || shared.job.undecided().is_some() {
            let answer = if_exists(LivenessAnswer::load(&*disk, shared.job.digest));
            let answer = answer.map_err(|error| shared.failed(error))?;
            let most = answer.is_none().then_some(wanted.first_states());
            return Ok((NextWork::Search(most), saved));
        }
        let limits = shared.job.limits(None);
        let next = TaskPlan::next(&*disk, searched.model(), &limits, wanted);
        next.map(|next| (next, saved)).map_err(|error| shared.failed(error))
    }

    /// Runs a task of a plan unless it was run before. Returns whether it was.
    pub fn run(&self, id: &str, number: u32) -> Result<PlanOutcome<(TaskReceipt, bool)>, Error> {
        let failed = |error| self.shared.failed(error);
        let disk = self.shared.disk()?;
        let task = match SearchTask::find(&*disk, id, number).map_err(failed)? {
            PlanOutcome::Done(task) => task,
            PlanOutcome::Stale => return Ok(PlanOutcome::Stale),
            PlanOutcome::Missing(number) => return Ok(PlanOutcome::Missing(number)),
            PlanOutcome::Undone(number, why) => return Ok(PlanOutcome::Undone(number, why)),
        };
        if let Some(receipt) = task.receipt().map_err(failed)? {
            return Ok(PlanOutcome::Done((receipt, true)));
        }
        let done = match task.phase().needs_model() {
            true => self.run_on_model(&task)?,
            false => task.combine().map_err(failed)?,
        };
        Ok(done.map(|receipt| (receipt, false)))
    }

    /// Commits the results of a plan's tasks as the state of the search.
    pub fn commit(&self, id: &str) -> Result<PlanOutcome<SavedSearch>, Error> {
        let failed = |error| self.shared.failed(error);
        // The lock is released with the directory. If the files are elsewhere, their origin lets one process replace
        // the manifest.
        let here = opened(&self.shared.path)?;
        let begun = Instant::now();
        loop {
            match here.lock() {
                Err(spill::Error::Locked { .. }) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(PATIENCE / 600);
                }
                locked => break locked.map_err(failed)?,
            }
        }
        commit(&*self.shared.disk()?, id).map_err(failed)
    }

    fn run_on_model(&self, task: &SearchTask<'_>) -> Result<PlanOutcome<TaskReceipt>, Error> {
        let failed = |error| self.shared.failed(error);
        let (searched, memory) = get_or_try_init(&self.expanded, || self.compiled())?;
        let folder = tempfile::Builder::new().prefix("spillway-task-").tempdir();
        let folder = folder.map_err(|error| Error::Temporary(std::env::temp_dir(), error))?;
        let folder = RemoveOnDrop(folder.keep());
        let scratch: Arc<dyn Disk> = Arc::new(RealDisk::open(&folder.0).map_err(failed)?);
        let coverage = self.shared.job.limits(None).coverage;
        let with = ExpansionContext { model: searched.model(), coverage, memory: *memory, scratch };
        task.run_on_model(&with).map_err(failed)
    }

    fn compiled(&self) -> Result<(SearchedModel<'m>, MemoryPlan), Error> {
        let shared = self.shared;
        let model = shared.model()?;
        let limits = RunLimits { memory: self.memory, threads: Some(1), ..RunLimits::default() };
        let config = CheckConfig { limits, ..shared.job.config() };
        let Some(program) = model.as_program() else {
            let searched = model.searched();
            let budget = SearchBudget::of(&config.limits, true);
            let plan = budget.plan_without_text(searched.model().width())?;
            let plan = plan.of_search(searched.model(), &StateStorage::default());
            return Ok((searched, plan));
        };
        let control = SearchControl::default();
        let search = TextSearch::new(program, &config, true, &control);
        search.reduce(ReductionChoice::of_job(&shared.job))?.with_plan()
    }
}

/// Opens the files of a directory.
fn disk(path: &Path, origin: Option<&Arc<dyn RemoteOrigin>>) -> Result<Box<dyn Disk>, Error> {
    let here = opened(path)?;
    Ok(match origin {
        None => Box::new(here),
        Some(origin) => Box::new(RemoteDisk::new(here, origin.clone(), is_own)),
    })
}

fn opened(path: &Path) -> Result<RealDisk, Error> {
    RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))
}

/// Converts a failure to read the job of a directory.
fn job_error(path: &Path, error: spill::Error) -> Error {
    match &error {
        error if error.is_not_found() => Error::NoSearch(path.to_path_buf()),
        // A read may succeed when it is repeated, as with all later reads.
        spill::Error::Io { .. } => Error::Run(path.to_path_buf(), error),
        _ => Error::Open(path.to_path_buf(), error),
    }
}

/// Returns the value of a cell, and computes it first if the cell is empty.
fn get_or_try_init<T>(
    cell: &OnceCell<T>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<&T, Error> {
    match cell.get() {
        Some(held) => Ok(held),
        None => {
            let made = make()?;
            Ok(cell.get_or_init(|| made))
        }
    }
}
