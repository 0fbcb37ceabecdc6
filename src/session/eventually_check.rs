//! The check of `eventually` properties of Rust types.
//!
//! When all states are visited, the check searches for runs that never satisfy the property: first in memory, then on
//! disk in a subdirectory of the search directory.

use super::directory::reject_link;
use super::emptiness_search::{EmptinessSearch, EmptinessTarget};
use super::replayed_run::ReplayedRun;
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

/// The check of one `eventually` property.
pub struct EventuallyCheck<'m> {
    /// The name of the property.
    pub name: String,
    /// The states that do not satisfy the property, and the transitions between them.
    avoiding: Box<dyn StateSpace + 'm>,
    found: ProbeVerdict,
}

/// The verdict on an `eventually` property.
pub enum EventuallyVerdict<'m> {
    /// Every run satisfies the property.
    Holds,
    /// This run never satisfies the property.
    Violated(ViolatingRun<'m>),
    /// The check did not complete: the search was stopped, or ended at another violation before all states were
    /// visited.
    NotChecked,
}

/// The budget of the search for violating runs.
pub(super) struct EventuallyBudget<'a> {
    /// The bytes for a search in memory.
    pub probe: u64,
    /// The memory plan for a search on disk.
    pub plan: MemoryPlan,
    /// The directory of the search of all states.
    pub dir: &'a Path,
    /// The bytes that may still be written, if there is a limit.
    pub disk_left: Option<u64>,
}

impl<'m> EventuallyCheck<'m> {
    /// Creates a check. `avoiding` has only the states that do not satisfy the property.
    pub(super) fn new(name: String, avoiding: Box<dyn StateSpace + 'm>) -> EventuallyCheck<'m> {
        EventuallyCheck { name, avoiding, found: ProbeVerdict::Open }
    }

    /// Searches for a violating run, until the control stops it. `number` identifies the property.
    pub(super) fn judge(
        &mut self,
        number: usize,
        room: &EventuallyBudget<'_>,
        control: &SearchControl,
    ) -> Result<(), Error> {
        let place = search_path(room.dir, number);
        reject_link(&place)?;
        let limits = ProbeLimits { states: u64::MAX, bytes: room.probe };
        // A search on disk that has begun is resumed.
        if !SearchDirectory::has_search(&place) {
            let probed = probe(&self.avoiding, &|_| true, limits, control);
            self.found = probed.map_err(|error| Error::run(room.dir, error))?.found;
        }
        if self.found == ProbeVerdict::Open && !control.should_stop() {
            self.found = self.search_on_disk(&place, room, control)?;
        }
        Ok(())
    }

    /// Searches for a violating run on disk.
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
            model.digest(),
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

    /// Returns the verdict.
    ///
    /// # Errors
    ///
    /// If the model is not deterministic.
    pub fn verdict(&self) -> Result<EventuallyVerdict<'_>, Error> {
        Ok(match (&self.found, self.run()?) {
            (_, Some(run)) => EventuallyVerdict::Violated(run),
            (ProbeVerdict::None, None) => EventuallyVerdict::Holds,
            (ProbeVerdict::Open | ProbeVerdict::Found(_), None) => EventuallyVerdict::NotChecked,
        })
    }

    /// Returns a violating run, if one was found.
    ///
    /// # Errors
    ///
    /// If the model is not deterministic.
    pub fn run(&self) -> Result<Option<ViolatingRun<'_>>, Error> {
        let ProbeVerdict::Found(lasso) = &self.found else { return Ok(None) };
        let shown = ReplayedRun::of(&self.avoiding, lasso).map_err(Error::Sample)?;
        // A Rust type has no processes and no program text.
        let (model, sources) = (self.avoiding.description(), SourceMap::default());
        Ok(Some(ViolatingRun::with_cycle(model, shown.steps, shown.back, &sources)))
    }

    /// Converts the verdict for a report.
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
