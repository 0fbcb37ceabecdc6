//! A search that is done in tasks by several processes: what the command line needs of the directory and the model.

use super::{Budget, Contents, Error, Job};
use crate::exec::{Exec, Interp};
use crate::search::checkpoint::Saved;
use crate::search::tasks::{
    Expanding, Followed, Next, Phase, Plan, Receipt, Task, Wanted, commit, refusal,
};
use spill::{Disk, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long a commit waits for another one to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory in which a search is done in tasks.
pub struct Shared {
    path: PathBuf,
    job: Job,
    /// The last checkpoint, if there is one.
    pub saved: Option<Saved>,
    disk: RealDisk,
    is_answered: bool,
}

impl Shared {
    /// The search in a directory.
    pub fn open(path: &Path) -> Result<Shared, Error> {
        let Contents { job, saved, answer, .. } = Contents::read(path)?;
        let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        Ok(Shared { path: path.to_path_buf(), job, saved, disk, is_answered: answer.is_some() })
    }

    /// What is to be done next.
    pub fn next(&self, wanted: Wanted) -> Result<Next, Error> {
        if self.job.runs().is_some() {
            return Err(self.refused("it asks about whole runs"));
        }
        let model = self.job.model(&self.path)?;
        let searched = model.searched();
        if let Some(why) = refusal(searched.model(), &self.job.storage) {
            return Err(self.refused(why));
        }
        if self.saved.is_none() || self.job.undecided().is_some() {
            return Ok(Next::Search(match self.is_answered {
                true => None,
                false => Some(wanted.first_states()),
            }));
        }
        let next = Plan::next(&self.disk, searched.model(), &self.job.limits(None), wanted);
        next.map_err(|error| self.failed(error))
    }

    /// Does a task of a plan in so much memory, unless it has been done; tells whether it had been.
    pub fn run(
        &self,
        (id, number): (&str, u32),
        memory: u64,
    ) -> Result<Followed<(Receipt, bool)>, Error> {
        let failed = |error| self.failed(error);
        let task = match Task::find(&self.disk, id, number).map_err(failed)? {
            Followed::Done(task) => task,
            Followed::Stale => return Ok(Followed::Stale),
            Followed::Missing(number) => return Ok(Followed::Missing(number)),
        };
        if let Some(receipt) = task.done().map_err(failed)? {
            return Ok(Followed::Done((receipt, true)));
        }
        let done = match task.phase() {
            Phase::Settle | Phase::Merge => task.combine().map_err(failed)?,
            Phase::Expand => self.expand(&task, memory)?,
        };
        Ok(match done {
            Followed::Done(receipt) => Followed::Done((receipt, false)),
            Followed::Stale => Followed::Stale,
            Followed::Missing(number) => Followed::Missing(number),
        })
    }

    /// Makes what the tasks of a plan did the state of the search.
    pub fn commit(&self, id: &str) -> Result<Followed<Saved>, Error> {
        let failed = |error| self.failed(error);
        let begun = Instant::now();
        loop {
            match self.disk.lock() {
                Err(spill::Error::Locked { .. }) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(PATIENCE / 600);
                }
                locked => break locked.map_err(failed)?,
            }
        }
        commit(&self.disk, id).map_err(failed)
    }

    fn expand(&self, task: &Task<'_>, memory: u64) -> Result<Followed<Receipt>, Error> {
        let model = self.job.model(&self.path)?;
        let coverage = self.job.limits(None).coverage;
        let (exec, threads) = (Exec::Jit, Some(1));
        let budget = Budget { memory, threads, exec, goes_on: true, counts: coverage };
        let runs = model.runnable(model.wished.rewritings, |it: &Interp| budget.executor(it));
        let searched = model.searched_by(runs);
        let memory = budget.plan(&model, searched.model().width())?;
        let folder = tempfile::Builder::new().prefix("spillway-task-").tempdir();
        let temporary = |error| Error::Temporary(std::env::temp_dir(), error);
        let folder = folder.map_err(temporary)?;
        let scratch: Arc<dyn Disk> = match RealDisk::open(folder.path()) {
            Ok(disk) => Arc::new(disk),
            Err(error) => return Err(self.failed(error)),
        };
        let with = Expanding { model: searched.model(), coverage, memory, scratch };
        task.expand(&with).map_err(|error| self.failed(error))
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::Unshared(self.path.clone(), why)
    }

    fn failed(&self, error: spill::Error) -> Error {
        Error::Run(self.path.clone(), error)
    }
}
