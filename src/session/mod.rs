//! A search as a whole: a model, how it is reduced, how its states are stored, what it may take, where
//! it lies on disk, what came of it.
//!
//! [`Check`] is how a program asks for one; the command line puts a [`Session`] together itself, as it
//! has to say things in between. Neither prints anything.

mod answer;
mod applicable;
mod branching;
mod check;
mod directory;
mod error;
mod eventually_verdicts;
mod evidence;
mod found;
mod going;
mod job;
mod judged;
mod live;
mod liveness;
mod means;
mod memory;
mod promises;
mod pursuit;
mod reduce;
mod removal;
mod runnable;
mod searched;
mod shorter;
mod sitting;
mod slots;
mod steps;
mod tasks;
mod temporary;
mod text;
mod values;
mod watched;

pub use answer::Answer;
pub use applicable::{Applicable, Saving, Subject};
pub use branching::BranchingAnswers;
pub use check::{Check, check};
pub use directory::{Contents, Directory};
pub use error::{Error, Taken};
pub use evidence::Evidence;
pub use found::Found;
pub use going::{Going, Reached};
pub use job::Job;
pub use judged::Judged;
pub use live::{Ahead, Live, State};
pub use liveness::{AcceptingParts, Shown, probe_product, probe_reduced, replay, verdict};
pub use means::{Birth, Means, Outputs};
pub use memory::{Budget, threads_to_trace};
pub use promises::{EventuallyVerdict, Promised};
pub use pursuit::{Pursued, Pursuit, Swept, Target};
pub use reduce::Reduce;
pub use runnable::Runnable;
pub use searched::{About, Searched};
pub use shorter::{Unreduced, shortened_in, traced_in};
pub use sitting::Sitting;
pub use slots::{Room, lacking};
pub use steps::Steps;
pub use tasks::{Shared, Tasks};
pub use temporary::{JobFound, Removal, Temporary, temporary_in};
pub use text::{TextModel, read_text};
pub use values::{Sum, Values, ValuesMet, values_met};
pub use watched::{Fairness, Kept, Wanted, Watched};

use crate::exec::{Violation, keeps_depth};
use crate::report::{Promise, Report, Scope, Shortened, ViolationReport};
use crate::search::checkpoint::{DiskFigures, Saved};
use crate::search::comback::{CacheSize, Rebuilt, Settings, cache_states_max};
use crate::search::files::EVENTUALLY_VERDICTS;
use crate::search::parts::StorePart;
use crate::search::trace::{Counterexample, Finder};
use crate::search::{Control, Limits, MemoryPlan, Outcome, Search, Storage, Verdict};
use check::IsEnough;
use eventually_verdicts::EventuallyVerdicts;
use std::sync::Arc;

/// What comes first in the key by which states are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyOrder {
    /// The model's variables as it declares them.
    #[default]
    Declared,
    /// An order from what the variables belong to.
    Static,
    /// The order that stores a sample of the states smallest, if it is much smaller than declared.
    Sampled,
}

/// One sitting of a search.
pub struct Session<'m> {
    searched: Searched<'m>,
    about: About<'m>,
    limits: Limits,
    storage: Storage,
    plan: MemoryPlan,
    /// Where it lies.
    pub directory: Directory,
    came_to: Option<CameTo<'m>>,
    /// How many levels are expanded at most.
    levels_max: Option<u64>,
    is_enough: Option<Arc<IsEnough<'m>>>,
    shorter: Option<Shorter<'m>>,
    promised: Vec<Promised<'m>>,
    /// What looking for runs may take in memory.
    probe_bytes: u64,
}

/// A search of the levels above what was found, without steps put off, for a shorter counterexample.
struct Shorter<'m> {
    below: u64,
    session: Box<Session<'m>>,
}

/// What a sitting came to.
struct CameTo<'m> {
    outcome: Outcome,
    promised: Vec<Promised<'m>>,
    /// Whether judging them failed.
    judged: Result<(), Error>,
    seconds: f64,
    disk: DiskFigures,
    parts: Vec<StorePart>,
    rebuilt: Option<Rebuilt>,
}

impl<'m> Session<'m> {
    /// A search of a model in a directory, with all that was settled before.
    pub fn new(
        searched: Searched<'m>,
        about: About<'m>,
        limits: Limits,
        (storage, plan): (Storage, MemoryPlan),
        directory: Directory,
    ) -> Session<'m> {
        Session {
            searched,
            about,
            limits,
            storage,
            plan,
            directory,
            came_to: None,
            levels_max: None,
            is_enough: None,
            shorter: None,
            promised: Vec::new(),
            probe_bytes: 0,
        }
    }

    /// The same, stopped when it has expanded so many levels, or when `is_enough` says so of the properties for which
    /// there is a state.
    pub(super) fn stopped_by(
        self,
        levels_max: Option<u64>,
        is_enough: Option<Arc<IsEnough<'m>>>,
    ) -> Self {
        Session { levels_max, is_enough, ..self }
    }

    /// The model as it is searched.
    pub fn searched(&self) -> &Searched<'m> {
        &self.searched
    }

    /// What was looked for, and what not.
    pub fn scope(&self) -> &Scope {
        &self.about.scope
    }

    /// Searches to the end, or until `control` says to stop: from a checkpoint, if there is one. Then judges what is said
    /// to be so eventually.
    pub fn run(&mut self, saved: Option<Saved>, control: &Control) -> Result<Outcome, Error> {
        let sitting = (Sitting::after(saved.as_ref()), self.plan);
        let mut promised = std::mem::take(&mut self.promised);
        let verdict = |it: &CameTo<'m>| {
            let told: Vec<Promise> = it.promised.iter().map(Promised::told).collect();
            Promise::verdict_with(it.outcome.verdict, &told).name()
        };
        let search = || {
            let mut came_to = self.search(saved, control)?;
            came_to.judged = self.judge(&mut promised, &came_to.outcome, control);
            Ok(CameTo { promised, ..came_to })
        };
        let came_to = self.directory.sit(sitting, control, verdict, search);
        let mut came_to = came_to.map_err(|error| {
            let failed = Error::run(&self.directory.path, error);
            // It cannot be gone on with when states have become others, or are to.
            if !matches!(failed, Error::Misfit(_)) && failed.lacks_slots().is_none() {
                self.directory.keep();
            }
            failed
        })?;
        self.promised = std::mem::take(&mut came_to.promised);
        if !self.is_whole(&came_to.outcome) {
            self.about.scope.leave_out_eventually();
        }
        std::mem::replace(&mut came_to.judged, Ok(())).inspect_err(|_| self.directory.keep())?;
        Ok(self.came_to.insert(came_to).outcome.clone())
    }

    fn search(&self, saved: Option<Saved>, control: &Control) -> spill::Result<CameTo<'m>> {
        let disk = self.directory.disk.clone();
        let (model, limits) = (self.searched.model(), self.limits.clone());
        let mut search = match saved {
            None => {
                let storage = self.storage.clone();
                Search::begin_stored(model, disk, self.plan, limits, control, storage)?
            }
            Some(saved) => Search::resume(model, disk, saved, self.plan, limits, control)?,
        };
        if let Some(levels) = self.levels_max {
            search = search.up_to(levels);
        }
        if let Some(is_enough) = &self.is_enough {
            let properties = model.explained().properties();
            search = search.stopped_if(move |findings| {
                let is_found =
                    |number: &usize| findings.count(Violation::Property(*number as u32)) > 0;
                let found = (0..properties.len()).filter(is_found);
                is_enough(&found.map(|number| properties[number].name.as_str()).collect())
            });
        }
        let outcome = search.run()?;
        let (seconds, disk) = (search.seconds(), search.disk_figures());
        let (parts, rebuilt) = (search.store().parts(), search.store().rebuilt());
        let (promised, judged) = (Vec::new(), Ok(()));
        Ok(CameTo { outcome, promised, judged, seconds, disk, parts, rebuilt })
    }

    /// Searches for a shorter counterexample than that of what was found, if there may be one: without
    /// putting steps off, in the levels above. It goes on with such a search, if one was stopped. What was
    /// found stands, whatever comes of it.
    pub fn shorten(&mut self, unreduced: Unreduced<'m>, control: &Control) -> Result<(), Error> {
        // Levels of such a model tell nothing of how deep it is.
        if !keeps_depth(self.searched.model()) {
            return Ok(());
        }
        let found = self.report().map(|report| report.violations()).unwrap_or_default();
        let Some(below) = shorter::bound(&found) else { return Ok(()) };
        let path = shorter::place(&self.directory.path);
        directory::refuse_link(&path)?;
        let disk = &self.directory.disk;
        let left = disk.left_within_limit();
        let Unreduced { searched, about, job } = unreduced;
        let (directory, saved) = match Directory::has_search(&path) {
            true => Directory::go_on(&path, &job, left)?,
            false => (Directory::create(Some(&path), &job, left)?, None),
        };
        let (limits, storage) = (self.limits.clone(), (self.storage.clone(), self.plan));
        let mut session = Session::new(searched, about, limits, storage, directory);
        session.levels_max = Some(below);
        session.run(saved, control)?;
        self.shorter = Some(Shorter { below, session: Box::new(session) });
        Ok(())
    }

    /// Has these things judged that are said to be so eventually, once all states are visited, in so many bytes of memory.
    pub(super) fn expect(&mut self, promised: Vec<Promised<'m>>, memory: u64) -> Result<(), Error> {
        if !self.limits.checks.invariants || promised.is_empty() {
            return Ok(());
        }
        (self.promised, self.probe_bytes) = (promised, memory);
        // Whoever looks at the directory before they are judged sees that they are open.
        match self.directory.has_file(EVENTUALLY_VERDICTS) {
            true => Ok(()),
            false => self.keep_verdicts(&self.promised),
        }
    }

    fn keep_verdicts(&self, promised: &[Promised<'m>]) -> Result<(), Error> {
        let verdicts = EventuallyVerdicts::of(
            self.searched.model().digest(),
            promised.iter().map(Promised::told).collect(),
        );
        let Directory { path, disk, .. } = &self.directory;
        verdicts.commit(&**disk).map_err(|error| Error::run(path, error))
    }

    /// Judges them, if all states were visited; if they were not, they stay open.
    fn judge(
        &self,
        promised: &mut [Promised<'m>],
        outcome: &Outcome,
        control: &Control,
    ) -> Result<(), Error> {
        if promised.is_empty() || !self.is_whole(outcome) {
            return Ok(());
        }
        let Directory { path, disk, .. } = &self.directory;
        let disk_left = disk.left_within_limit();
        let (probe, plan) = (self.probe_bytes, self.plan);
        let room = promises::Room { probe, plan, dir: path, disk_left };
        for (number, it) in promised.iter_mut().enumerate() {
            it.judge(number, &room, control)?;
        }
        self.keep_verdicts(promised)
    }

    /// Whether an outcome is that of a search that visited all states.
    fn is_whole(&self, outcome: &Outcome) -> bool {
        self.limits.visited_all(self.searched.model(), outcome)
    }

    /// What is said to be so eventually, and what came of it.
    pub fn promised(&self) -> &[Promised<'m>] {
        &self.promised
    }

    /// What came of that, if it was done.
    fn shortened(&self) -> Option<Shortened> {
        let Shorter { below, session } = self.shorter.as_ref()?;
        let report = session.report()?;
        let saved = Saved::load(&*session.directory.disk).ok()?;
        Some(shorter::told(*below, &saved, &report.violations()))
    }

    /// What it came to; nothing before it has run.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.came_to.as_ref().map(|it| &it.outcome)
    }

    /// A way to the first state found that a property speaks of; nothing if there is none, or if told to stop.
    pub fn way_to<'s>(
        &'s self,
        property: u32,
        control: &'s Control,
    ) -> Result<Option<Counterexample<'s>>, Error> {
        let check = Violation::Property(property);
        let is_found = self.outcome().is_some_and(|it| it.findings.count(check) > 0);
        match is_found {
            true => self.with_evidence(control, |evidence, finder| evidence.find(finder, check)),
            false => Ok(None),
        }
    }

    /// The shallowest violation and a way there; nothing if there is none, or if told to stop.
    pub fn counterexample<'s>(
        &'s self,
        control: &'s Control,
    ) -> Result<Option<(ViolationReport, Counterexample<'s>)>, Error> {
        let shortened = self.shortened();
        if let (Some(Shorter { session, .. }), Some(_)) =
            (&self.shorter, shortened.and_then(|it| it.depth))
        {
            return session.counterexample(control);
        }
        // A search that was stopped may have found something all the same.
        let model = self.searched.model();
        let is_violated = |it: &Outcome| {
            it.verdict == Verdict::Violated || self.limits.checks.any_selected(model, &it.findings)
        };
        if !self.outcome().is_some_and(is_violated) {
            return Ok(None);
        }
        self.with_evidence(control, |evidence, finder| {
            let found = evidence.violations(&self.searched)?;
            let Some(mut violation) = found.into_iter().find(ViolationReport::has_a_way) else {
                return Ok(None);
            };
            violation.shortest |= shortened.is_some_and(|it| it.is_done);
            let way = evidence.find(finder, violation.check)?;
            Ok(way.map(|way| (violation, way)))
        })
    }

    /// What is found in the directory.
    fn with_evidence<'s, T>(
        &'s self,
        control: &'s Control,
        find: impl FnOnce(&Evidence<'_>, &Finder<'s>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Directory { path, disk, .. } = &self.directory;
        let saved = Saved::load(&**disk).map_err(Error::open(path))?;
        let (limits, sources) = (&self.limits, &*self.about.sources);
        let evidence = Evidence { saved: &saved, dir: path, limits, sources };
        let finder = Finder {
            model: self.searched.model(),
            disk: &**disk,
            threads: self.plan.threads,
            control,
            folder: Some(path),
        };
        find(&evidence, &finder)
    }

    /// All there is to tell of it; nothing before it has run.
    pub fn report(&self) -> Option<Report<'_>> {
        let CameTo { outcome, seconds, disk, parts, rebuilt, .. } = self.came_to.as_ref()?;
        let Session { searched, about, directory, limits, .. } = self;
        Some(Report {
            model_name: &about.name,
            language: about.language,
            key_order: about.key_order,
            store: self.storage.name(),
            parts,
            rebuilt: *rebuilt,
            compiled: searched.compiled(),
            model: searched.model(),
            reductions: searched.stack().told(&outcome.tally()),
            unused: searched.stack().unused(),
            claim: about.claim,
            sources: &about.sources,
            limits,
            scope: &about.scope,
            outcome,
            seconds: *seconds,
            peak_rss_bytes: MemoryPlan::peak_resident(),
            shortened: self.shortened(),
            promises: self.promised.iter().map(Promised::told).collect(),
            further: Vec::new(),
            disk: *disk,
            store_bytes: directory.disk.usage().live,
            dir: (!directory.is_temporary()).then(|| directory.path.display().to_string()),
            next: Vec::new(),
        })
    }
}

/// Refuses a cache that was asked for and that the plan has no room for.
pub fn check_room(storage: &Storage, plan: &MemoryPlan, width: usize) -> Result<(), Error> {
    let Storage::Comback(Settings { cache: (_, CacheSize::States(wanted)), .. }) = storage else {
        return Ok(());
    };
    let room = cache_states_max(plan, width) as u64;
    match *wanted <= room {
        true => Ok(()),
        false => Err(Error::Cache { wanted: *wanted, room }),
    }
}

/// Refuses what leaves nothing to look for: a verdict would say nothing.
pub fn refuse_nothing(about: &About) -> Result<(), Error> {
    let scope = &about.scope;
    if !scope.checked.is_empty() {
        return Ok(());
    }
    let (model, there) = (about.name.clone().into_owned(), scope.left_out.join(", "));
    Err(Error::Nothing { model, impossible: scope.impossible.join(", "), there })
}
