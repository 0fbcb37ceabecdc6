//! Whether every run of a Rust type comes to what is said to be so eventually.
//!
//! Once all states were visited, the runs that never have it are looked for: in memory, and if that is not
//! enough, on disk, in a directory below that of the search.

use super::directory::refuse_link;
use super::liveness::Shown;
use super::pursuit::{Pursuit, Target};
use super::{Directory, Error, Job};
use crate::exec::Model;
use crate::report::{Promise, Run};
use crate::search::files::eventually;
use crate::search::lasso::{Lasso, ProbeLimits, Probed};
use crate::search::probing::probe;
use crate::search::{Control, Limits, MemoryPlan, Storage};
use crate::source::Sources;
use std::path::{Path, PathBuf};

/// Something that is said to be so eventually.
pub struct Promised<'m> {
    /// What it is called.
    pub name: String,
    /// The states in which it is not so, and the steps between these.
    avoiding: Box<dyn Model + 'm>,
    found: Probed,
}

/// Whether every run comes to something that should be so eventually.
pub enum EventuallyVerdict<'m> {
    /// Every run does.
    Holds,
    /// This run never does.
    Violated(Run<'m>),
    /// It was not checked, or not to the end: the search was stopped, or ended at another violation before all states
    /// were visited.
    NotChecked,
}

/// What looking for runs may take.
pub(super) struct Room<'a> {
    /// Bytes for a search in memory.
    pub probe: u64,
    /// Shared out for one on disk.
    pub plan: MemoryPlan,
    /// The directory of the search of all states.
    pub dir: &'a Path,
    /// The bytes that may yet be written, if there is a limit.
    pub disk_left: Option<u64>,
}

impl<'m> Promised<'m> {
    /// Something of this name that runs of a model, which has only states without it, never come to.
    pub(super) fn new(name: String, avoiding: Box<dyn Model + 'm>) -> Promised<'m> {
        Promised { name, avoiding, found: Probed::Open }
    }

    /// Looks for a run without it, or until told to stop; `number` is its own among all.
    pub(super) fn judge(
        &mut self,
        number: usize,
        room: &Room<'_>,
        control: &Control,
    ) -> Result<(), Error> {
        let place = place(room.dir, number);
        refuse_link(&place)?;
        let limits = ProbeLimits { states: u64::MAX, bytes: room.probe };
        // A search on disk that has begun goes on.
        if !Directory::has_search(&place) {
            let probed = probe(&self.avoiding, &|_| true, limits, control);
            self.found = probed.map_err(|error| Error::run(room.dir, error))?.found;
        }
        if self.found == Probed::Open && !control.should_stop() {
            self.found = self.pursue(&place, room, control)?;
        }
        Ok(())
    }

    /// Looks for it on disk.
    fn pursue(&self, place: &Path, room: &Room<'_>, control: &Control) -> Result<Probed, Error> {
        let (model, disk_left) = (&*self.avoiding, room.disk_left);
        let job = Job::of_rust(&self.name, model, &Limits::default(), &Storage::default());
        let (directory, saved) = match Directory::has_search(place) {
            true => Directory::go_on(place, &job, disk_left)?,
            false => (Directory::create(Some(place), &job, disk_left)?, None),
        };
        let mut pursuit = Pursuit::of(Target::all_of(model), room.plan, None, directory);
        Ok(pursuit.run(saved, control)?.found)
    }

    /// Whether every run comes to it, as far as that was checked.
    ///
    /// # Errors
    ///
    /// If the model does not do again what it did.
    pub fn verdict(&self) -> Result<EventuallyVerdict<'_>, Error> {
        Ok(match (&self.found, self.run()?) {
            (_, Some(run)) => EventuallyVerdict::Violated(run),
            (Probed::None, None) => EventuallyVerdict::Holds,
            (Probed::Open | Probed::Found(_), None) => EventuallyVerdict::NotChecked,
        })
    }

    /// A run that never comes to it, if one was found.
    ///
    /// # Errors
    ///
    /// If the model does not do again what it did.
    pub fn run(&self) -> Result<Option<Run<'_>>, Error> {
        let Probed::Found(lasso) = &self.found else { return Ok(None) };
        let shown = Shown::of(&self.avoiding, lasso).map_err(Error::Sample)?;
        // A Rust type has no processes to be anywhere, nor a text that they would be in.
        let (model, sources) = (self.avoiding.explained(), Sources::default());
        Ok(Some(Run::round(model, shown.steps, shown.back, &sources)))
    }

    /// The same for a report.
    pub(super) fn told(&self) -> Promise {
        let length =
            |Lasso { states, back, .. }: &Lasso| (*back as u64, (states.len() - back) as u64);
        Promise {
            name: self.name.clone(),
            is_open: self.found == Probed::Open,
            broken: match &self.found {
                Probed::Found(lasso) => Some(length(lasso)),
                Probed::None | Probed::Open => None,
            },
        }
    }
}

fn place(dir: &Path, number: usize) -> PathBuf {
    dir.join(eventually(number))
}
