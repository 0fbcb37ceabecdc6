//! A search that is done in tasks by several processes: what the command line needs of the directory and the model.

use super::answer::Answer;
use super::directory::last;
use super::removal::Removed;
use super::{Budget, Error, Job, Searched, TextModel};
use crate::budget::AnalysisBudget;
use crate::exec::{Exec, Interp};
use crate::search::MemoryPlan;
use crate::search::checkpoint::Saved;
use crate::search::files::JOB;
use crate::search::tasks::{
    Expanding, Followed, Next, Phase, Plan, Receipt, Task, Wanted, commit, hash, hashed, if_there,
    is_own, refusal,
};
use spill::{Disk, Distant, Origin, RealDisk};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long a commit waits for another one to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory in which a search is done in tasks: what is searched for there.
pub struct Shared {
    path: PathBuf,
    /// Who has its files, if the directory has only copies of them.
    origin: Option<Arc<dyn Origin>>,
    job: Job,
    /// What tells the job from another one.
    hash: [u8; 32],
    model: OnceCell<TextModel>,
}

/// What there is to be done in a directory, one thing after another: a model is read, and compiled, once.
pub struct Tasks<'m> {
    shared: &'m Shared,
    /// The most bytes that the process may hold resident.
    memory: u64,
    planned: OnceCell<Searched<'m>>,
    expanded: OnceCell<(Searched<'m>, MemoryPlan)>,
}

impl Shared {
    /// The search in a directory, of which the files may lie elsewhere.
    pub fn open(path: &Path, origin: Option<Arc<dyn Origin>>) -> Result<Shared, Error> {
        let read = hashed(&*disk(path, origin.as_ref())?, JOB, Job::load);
        let (job, hash) = read.map_err(|error| unread(path, error))?;
        Ok(Shared { path: path.to_path_buf(), origin, job, hash, model: OnceCell::new() })
    }

    /// Whether another search is in the directory now, or this one is reduced otherwise.
    pub fn is_another(&self) -> Result<bool, Error> {
        let now = hash(&*self.disk()?, JOB).map_err(|error| unread(&self.path, error))?;
        Ok(now != self.hash)
    }

    /// What can be done by this process, in so much memory.
    pub fn tasks(&self, memory: u64) -> Tasks<'_> {
        Tasks { shared: self, memory, planned: OnceCell::new(), expanded: OnceCell::new() }
    }

    /// The directory, without its lock.
    fn disk(&self) -> Result<Box<dyn Disk>, Error> {
        disk(&self.path, self.origin.as_ref())
    }

    fn model(&self) -> Result<&TextModel, Error> {
        once(&self.model, || self.job.model(&self.path))
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::Unshared(self.path.clone(), why)
    }

    fn failed(&self, error: spill::Error) -> Error {
        Error::Run(self.path.clone(), error)
    }
}

impl<'m> Tasks<'m> {
    /// What is to be done next, and the last checkpoint, if there is one.
    pub fn next(&self, wanted: Wanted) -> Result<(Next, Option<Saved>), Error> {
        let shared = self.shared;
        if shared.job.runs().is_some() {
            return Err(shared.refused("it asks about whole runs"));
        }
        let model = shared.model()?;
        let searched = once(&self.planned, || Ok(model.searched()))?;
        if let Some(why) = refusal(searched.model(), &shared.job.storage) {
            return Err(shared.refused(why));
        }
        let disk = shared.disk()?;
        let saved = if_there(last(&*disk, &shared.job));
        let saved = saved.map_err(|error| shared.failed(error))?.flatten();
        if saved.is_none() || shared.job.undecided().is_some() {
            let answer = if_there(Answer::load(&*disk, shared.job.digest));
            let answer = answer.map_err(|error| shared.failed(error))?;
            let most = answer.is_none().then_some(wanted.first_states());
            return Ok((Next::Search(most), saved));
        }
        let limits = shared.job.limits(None);
        let next = Plan::next(&*disk, searched.model(), &limits, wanted);
        next.map(|next| (next, saved)).map_err(|error| shared.failed(error))
    }

    /// Does a task of a plan, unless it has been done; tells whether it had been.
    pub fn run(&self, id: &str, number: u32) -> Result<Followed<(Receipt, bool)>, Error> {
        let failed = |error| self.shared.failed(error);
        let disk = self.shared.disk()?;
        let task = match Task::find(&*disk, id, number).map_err(failed)? {
            Followed::Done(task) => task,
            Followed::Stale => return Ok(Followed::Stale),
            Followed::Missing(number) => return Ok(Followed::Missing(number)),
            Followed::Undone(number, why) => return Ok(Followed::Undone(number, why)),
        };
        if let Some(receipt) = task.done().map_err(failed)? {
            return Ok(Followed::Done((receipt, true)));
        }
        let done = match task.phase() {
            Phase::Settle | Phase::Merge => task.combine().map_err(failed)?,
            Phase::Expand => self.expand(&task)?,
        };
        Ok(done.map(|receipt| (receipt, false)))
    }

    /// Makes what the tasks of a plan did the state of the search.
    pub fn commit(&self, id: &str) -> Result<Followed<Saved>, Error> {
        let failed = |error| self.shared.failed(error);
        // It is let go of with the directory. Where files lie elsewhere, their origin lets one replace the manifest.
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

    fn expand(&self, task: &Task<'_>) -> Result<Followed<Receipt>, Error> {
        let failed = |error| self.shared.failed(error);
        let (searched, memory) = once(&self.expanded, || self.compiled())?;
        let folder = tempfile::Builder::new().prefix("spillway-task-").tempdir();
        let folder = folder.map_err(|error| Error::Temporary(std::env::temp_dir(), error))?;
        let folder = Removed(folder.keep());
        let scratch: Arc<dyn Disk> = Arc::new(RealDisk::open(&folder.0).map_err(failed)?);
        let coverage = self.shared.job.limits(None).coverage;
        let with = Expanding { model: searched.model(), coverage, memory: *memory, scratch };
        task.expand(&with).map_err(failed)
    }

    fn compiled(&self) -> Result<(Searched<'m>, MemoryPlan), Error> {
        let shared = self.shared;
        let model = shared.model()?;
        let coverage = shared.job.limits(None).coverage;
        let (memory, threads, exec) = (self.memory, Some(1), Exec::Jit);
        let budget = Budget { memory, threads, exec, goes_on: true, counts: coverage };
        let largest = AnalysisBudget::largest();
        let executor = |it: &'m Interp| budget.executor(it);
        let runs = model.runnable(model.wished.rewritings, &largest, executor);
        let searched = model.searched_by(runs, &largest);
        let plan = budget.plan(model, searched.model().width())?;
        Ok((searched, plan))
    }
}

/// The files of a directory.
fn disk(path: &Path, origin: Option<&Arc<dyn Origin>>) -> Result<Box<dyn Disk>, Error> {
    let here = opened(path)?;
    Ok(match origin {
        None => Box::new(here),
        Some(origin) => Box::new(Distant::new(here, origin.clone(), is_own)),
    })
}

fn opened(path: &Path) -> Result<RealDisk, Error> {
    RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))
}

/// Why the job of a directory cannot be read.
fn unread(path: &Path, error: spill::Error) -> Error {
    match &error {
        error if error.is_not_found() => Error::NoSearch(path.to_path_buf()),
        // What fails now may go better once more, as anything that is read later.
        spill::Error::Io { .. } => Error::Run(path.to_path_buf(), error),
        _ => Error::Open(path.to_path_buf(), error),
    }
}

/// What a cell holds, made now if it holds nothing yet.
fn once<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    match cell.get() {
        Some(held) => Ok(held),
        None => {
            let made = make()?;
            Ok(cell.get_or_init(|| made))
        }
    }
}
