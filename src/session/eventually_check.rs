//! Whether every run of a Rust type comes to what is said to be so eventually.
//!
//! Once all states were visited, the runs that never have it are looked for: in memory, and if that is not
//! enough, on disk, in a directory below that of the search.

use super::directory::reject_link;
use super::emptiness_search::{EmptinessSearch, EmptinessTarget};
use super::liveness::ReplayedRun;
use super::{CheckConfig, Error, SearchDirectory, SearchJob};
use crate::model::StateSpace;
use crate::report::{EventuallyResult, ViolatingRun};
use crate::search::files::eventually;
use crate::search::lasso::Lasso;
use crate::search::liveness::in_memory::probe;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use crate::search::{MemoryPlan, SearchControl, StateStorage};
use crate::source::SourceMap;
use std::path::{Path, PathBuf};

/// Something that is said to be so eventually.
pub struct EventuallyCheck<'m> {
    /// What it is called.
    pub name: String,
    /// The states in which it is not so, and the steps between these.
    avoiding: Box<dyn StateSpace + 'm>,
    found: ProbeVerdict,
}

/// Whether every run comes to something that should be so eventually.
pub enum EventuallyVerdict<'m> {
    /// Every run does.
    Holds,
    /// This run never does.
    Violated(ViolatingRun<'m>),
    /// It was not checked, or not to the end: the search was stopped, or ended at another violation before all states
    /// were visited.
    NotChecked,
}

/// What looking for runs may take.
pub(super) struct EventuallyBudget<'a> {
    /// Bytes for a search in memory.
    pub probe: u64,
    /// Shared out for one on disk.
    pub plan: MemoryPlan,
    /// The directory of the search of all states.
    pub dir: &'a Path,
    /// The bytes that may yet be written, if there is a limit.
    pub disk_left: Option<u64>,
}

impl<'m> EventuallyCheck<'m> {
    /// Something of this name that runs of a model, which has only states without it, never come to.
    pub(super) fn new(name: String, avoiding: Box<dyn StateSpace + 'm>) -> EventuallyCheck<'m> {
        EventuallyCheck { name, avoiding, found: ProbeVerdict::Open }
    }

    /// Looks for a run without it, or until told to stop; `number` is its own among all.
    pub(super) fn judge(
        &mut self,
        number: usize,
        room: &EventuallyBudget<'_>,
        control: &SearchControl,
    ) -> Result<(), Error> {
        let place = search_path(room.dir, number);
        reject_link(&place)?;
        let limits = ProbeLimits { states: u64::MAX, bytes: room.probe };
        // A search on disk that has begun goes on.
        if !SearchDirectory::has_search(&place) {
            let probed = probe(&self.avoiding, &|_| true, limits, control);
            self.found = probed.map_err(|error| Error::run(room.dir, error))?.found;
        }
        if self.found == ProbeVerdict::Open && !control.should_stop() {
            self.found = self.search_on_disk(&place, room, control)?;
        }
        Ok(())
    }

    /// Looks for it on disk.
    fn search_on_disk(
        &self,
        place: &Path,
        room: &EventuallyBudget<'_>,
        control: &SearchControl,
    ) -> Result<ProbeVerdict, Error> {
        let (model, disk_left) = (&*self.avoiding, room.disk_left);
        let job = SearchJob::of_rust(
            &CheckConfig::default(),
            &self.name,
            model,
            &StateStorage::default(),
        );
        let (directory, saved) = match SearchDirectory::has_search(place) {
            true => SearchDirectory::resume(place, &job, disk_left)?,
            false => (SearchDirectory::create(Some(place), &job, disk_left)?, None),
        };
        let mut pursuit =
            EmptinessSearch::of(EmptinessTarget::all_of(model), room.plan, None, directory);
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
            (ProbeVerdict::None, None) => EventuallyVerdict::Holds,
            (ProbeVerdict::Open | ProbeVerdict::Found(_), None) => EventuallyVerdict::NotChecked,
        })
    }

    /// A run that never comes to it, if one was found.
    ///
    /// # Errors
    ///
    /// If the model does not do again what it did.
    pub fn run(&self) -> Result<Option<ViolatingRun<'_>>, Error> {
        let ProbeVerdict::Found(lasso) = &self.found else { return Ok(None) };
        let shown = ReplayedRun::of(&self.avoiding, lasso).map_err(Error::Sample)?;
        // A Rust type has no processes to be anywhere, nor a text that they would be in.
        let (model, sources) = (self.avoiding.description(), SourceMap::default());
        Ok(Some(ViolatingRun::with_cycle(model, shown.steps, shown.back, &sources)))
    }

    /// The same for a report.
    pub(super) fn to_promise(&self) -> EventuallyResult {
        let length =
            |Lasso { states, back, .. }: &Lasso| (*back as u64, (states.len() - back) as u64);
        EventuallyResult {
            name: self.name.clone(),
            is_open: self.found == ProbeVerdict::Open,
            broken: match &self.found {
                ProbeVerdict::Found(lasso) => Some(length(lasso)),
                ProbeVerdict::None | ProbeVerdict::Open => None,
            },
        }
    }
}

fn search_path(dir: &Path, number: usize) -> PathBuf {
    dir.join(eventually(number))
}
