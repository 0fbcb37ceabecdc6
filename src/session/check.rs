//! The builder of a search: a model, the checks and the limits.

use super::searched_model::ModelSummary;
use super::{
    CheckConfig, CheckResult, Error, EventuallyCheck, ReadySession, RunLimits, SavedLimits,
    SearchDirectory, SearchJob, SearchOutputs, StoredSearch, UnreducedModel,
};
#[cfg(feature = "languages")]
use super::{SpecificationModel, TextModel};

use crate::model::{StateSpace, TransitionSystem};
use crate::report::{CheckScope, RUST};
use crate::search::{CheckSelection, SearchControl, SearchLimits, StateStorage};
use crate::source::SourceMap;
use crate::system::{PackedSystem, PackingError, RestrictedSystem};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The builder of an exact search on disk within a fixed memory budget.
///
/// ```no_run
/// # use spillway::{Check, TransitionSystem};
/// # fn check(system: &impl TransitionSystem) -> Result<(), spillway::Error> {
/// let found = Check::new(system).memory(256 << 20).dir("search").run()?;
/// print!("{found}");
/// # Ok(())
/// # }
/// ```
pub struct Check<'m> {
    subject: CheckSubject<'m>,
    /// The maximum bytes of a state of a Rust type. `None`: estimated from the first states.
    state_bytes: Option<usize>,
    pub(super) config: CheckConfig,
    /// The storage of states. `None`: as the configuration says.
    pub(super) storage: Option<StateStorage>,
    /// Whether a model from a text uses its own reductions instead of the configuration's.
    #[cfg_attr(not(feature = "languages"), allow(dead_code))]
    pub(super) is_reduced_as_wished: bool,
    pub(super) dir: Option<PathBuf>,
    control: Option<Arc<SearchControl>>,
    /// The maximum number of levels.
    levels_max: Option<u64>,
    is_enough: Option<Arc<PropertyStopPredicate<'m>>>,
}

/// Decides whether a search stops. The argument is the names of the properties for which a state was found.
pub(super) type PropertyStopPredicate<'m> = dyn Fn(&BTreeSet<&str>) -> bool + Send + Sync + 'm;

/// Searches a transition system until there is a verdict, with 1 GiB of memory, in a temporary directory. [`Check`]
/// has more options.
///
/// # Errors
///
/// Those of [`Check::run`].
pub fn check<T: TransitionSystem>(system: &T) -> Result<CheckResult<'_>, Error> {
    Check::new(system).run()
}

/// The object of a search.
pub(super) enum CheckSubject<'m> {
    Rust(RustType<'m>),
    #[cfg(feature = "languages")]
    Text(&'m TextModel),
    #[cfg(feature = "languages")]
    Specification(&'m SpecificationModel),
}

/// A Rust type.
pub(super) struct RustType<'m> {
    name: String,
    /// Returns a model whose states have this many bytes. `None`: estimated from the first states.
    model: Box<dyn Fn(Option<usize>) -> Box<dyn StateSpace + 'm> + 'm>,
    /// Returns the `eventually` checks of a model whose states have this many bytes.
    promised: Box<dyn Fn(usize) -> Vec<EventuallyCheck<'m>> + 'm>,
    /// Whether a search stops at the first violating state of a level.
    stops_within_level: bool,
}

impl<'m> Check<'m> {
    /// Creates a search of a transition system.
    pub fn new<T: TransitionSystem>(system: &'m T) -> Check<'m> {
        let model = |width: Option<usize>| -> Box<dyn StateSpace + 'm> {
            Box::new(match width {
                None => PackedSystem::new(system),
                Some(width) => PackedSystem::with_width(system, width),
            })
        };
        let promised = |width| {
            let all = RestrictedSystem::of_eventualities(system, width).into_iter();
            all.map(|(name, avoiding)| EventuallyCheck::new(name, Box::new(avoiding))).collect()
        };
        let (model, promised) = (Box::new(model), Box::new(promised));
        Check::of(CheckSubject::Rust(RustType {
            name: type_name::<T>(),
            model,
            promised,
            stops_within_level: true,
        }))
    }

    /// Creates a search of a model.
    pub fn of_model<M: StateSpace>(model: &'m M) -> Check<'m> {
        let name = type_name::<M>();
        let (model, promised) = (Box::new(move |_| Box::new(model) as _), Box::new(|_| Vec::new()));
        let stops_within_level = false;
        Check::of(CheckSubject::Rust(RustType { name, model, promised, stops_within_level }))
    }

    pub(super) fn of(subject: CheckSubject<'m>) -> Check<'m> {
        let config = match &subject {
            CheckSubject::Rust(_) => CheckConfig::default(),
            #[cfg(feature = "languages")]
            CheckSubject::Text(model) => CheckConfig::for_model(model),
            #[cfg(feature = "languages")]
            CheckSubject::Specification(model) => CheckConfig::for_specification(model),
        };
        Check {
            subject,
            state_bytes: None,
            config,
            storage: None,
            is_reduced_as_wished: true,
            dir: None,
            control: None,
            levels_max: None,
            is_enough: None,
        }
    }

    /// Sets what is checked, and how. Replaces all earlier settings.
    pub fn config(mut self, config: CheckConfig) -> Self {
        self.config = config;
        self.is_reduced_as_wished = false;
        self
    }

    /// Sets the maximum resident memory of the process in bytes. The default is 1 GiB. The limit includes the memory
    /// that the program holds when the search begins. It also includes freed blocks: glibc keeps large ones, unless
    /// the program begins with [`return_large_blocks`](crate::search::return_large_blocks).
    pub fn memory(mut self, bytes: u64) -> Self {
        self.config.limits.memory = bytes;
        self
    }

    /// Sets the number of threads. The default is the number of cores, or fewer if memory is short.
    pub fn threads(mut self, threads: u16) -> Self {
        self.config.limits.threads = Some(threads.max(1));
        self
    }

    /// Sets the search directory. It is new, empty, or has this search stopped in it, which then resumes. The default
    /// is a temporary directory, which is removed when the [`CheckResult`] is dropped.
    pub fn dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.dir = Some(path.into());
        self
    }

    /// Sets the maximum bytes of a state of a [`TransitionSystem`]. The default is estimated from the first states. If
    /// a state needs more, a search in a temporary directory restarts with more.
    pub fn state_bytes(mut self, bytes: usize) -> Self {
        self.state_bytes = Some(bytes);
        self
    }

    /// Sets the maximum bytes of the directory.
    pub fn disk_limit(mut self, bytes: u64) -> Self {
        self.config.limits.disk_limit = Some(bytes);
        self
    }

    /// Selects the checks that count as violations. The default is all checks.
    pub fn checks(mut self, checks: CheckSelection) -> Self {
        self.config.properties.set_checks(checks);
        self
    }

    /// Continues after violations, so that each violated property is found. By default the search ends with the level of
    /// the first violation. A search of a [`TransitionSystem`] ends at the first violating state of that level, in byte
    /// order. Reductions may omit states, but no violated property.
    pub fn keep_going(mut self) -> Self {
        self.config.search.keep_going = true;
        self
    }

    /// Stops at the end of the level that reaches this number of states. The search can be resumed.
    pub fn max_states(mut self, states: u64) -> Self {
        self.config.limits.max_states = Some(states);
        self
    }

    /// Visits and checks the states at a depth of at most `steps`, and stops there. The search can be resumed.
    pub fn max_depth(mut self, steps: u64) -> Self {
        self.levels_max = Some(steps.saturating_add(1));
        self
    }

    /// Stops at the end of the level for which `is_enough` returns true. The search can be resumed. The argument is
    /// the names of the properties for which a state was found. Such a state is a violation of an
    /// [always](crate::Property::always) property, or a witness of a [sometimes](crate::Property::sometimes) property.
    /// A violation does not end such a search. The other properties stay undecided.
    pub fn stop_once(
        mut self,
        is_enough: impl Fn(&BTreeSet<&str>) -> bool + Send + Sync + 'm,
    ) -> Self {
        self.is_enough = Some(Arc::new(is_enough));
        self.keep_going()
    }

    /// Stops after this time. The search can be resumed.
    pub fn max_time(mut self, time: Duration) -> Self {
        self.config.limits.max_time = Some(time);
        self
    }

    /// Sets the longest time between two checkpoints. The default is ten minutes.
    pub fn checkpoint_every(mut self, time: Duration) -> Self {
        self.config.limits.checkpoint_every = time;
        self
    }

    /// Sets the storage of states, whatever the configuration says. The default is compressed sorted runs.
    pub fn storage(mut self, storage: StateStorage) -> Self {
        self.storage = Some(storage);
        self
    }

    /// If a violation was found with postponed transitions, searches again without postponing for a shorter
    /// counterexample.
    pub fn shortest(mut self) -> Self {
        self.config.search.shortest = true;
        self
    }

    /// Searches without hunts, which may end a search with a violation that is deeper than its levels. The counterexample
    /// is then a shortest one, unless transitions were postponed.
    pub fn no_dive(mut self) -> Self {
        self.config.search.no_dive = true;
        self
    }

    /// Sets the control, by which another thread stops the search and observes its progress. The control has its own
    /// deadline and time between checkpoints.
    pub fn control(mut self, control: Arc<SearchControl>) -> Self {
        self.control = Some(control);
        self
    }

    /// Searches until there is a verdict or a limit or the control stops the search.
    ///
    /// # Errors
    ///
    /// If the budget is too small, the directory belongs to another search, the disk fails or is full, or the model
    /// fails. The last checkpoint is kept.
    pub fn run(self) -> Result<CheckResult<'m>, Error> {
        let RunLimits { checkpoint_every, max_time, .. } = self.config.limits;
        let deadline = max_time.and_then(|time| Instant::now().checked_add(time));
        let control = self.control.clone();
        let control =
            control.unwrap_or_else(|| Arc::new(SearchControl::new(checkpoint_every, deadline)));
        let mut state_bytes = self.state_bytes;
        loop {
            match self.attempt(state_bytes, &control) {
                Err(Error::Misfit(PackingError::TooLong { takes, .. }))
                    if self.dir.is_none() && self.state_bytes.is_none() =>
                {
                    state_bytes = Some(2 * takes);
                }
                found => return found,
            }
        }
    }

    /// Searches with states of a Rust type of this many bytes. `None`: estimated.
    fn attempt(
        &self,
        state_bytes: Option<usize>,
        control: &Arc<SearchControl>,
    ) -> Result<CheckResult<'m>, Error> {
        let Check { subject, config, dir, .. } = self;
        let dir = dir.as_deref();
        let goes_on = dir.is_some_and(SearchDirectory::has_search);
        let stored = match subject {
            #[cfg(feature = "languages")]
            CheckSubject::Text(model) => self.store_text(model, goes_on, control)?,
            #[cfg(feature = "languages")]
            CheckSubject::Specification(model) => {
                model.prepare(config, self.storage.clone(), goes_on, control)?
            }
            CheckSubject::Rust(it) => self.store_rust(it, state_bytes, goes_on, control)?,
        };
        let limits = SavedLimits::new(config.limits.clone(), SearchOutputs::default());
        let ready = match dir.filter(|_| goes_on) {
            Some(dir) => stored.resume(dir, &limits)?,
            None => stored.begin(dir, &limits)?,
        };
        let ReadySession { session, saved, unreduced } = ready;
        let mut session = session.with_stop_conditions(self.levels_max, self.is_enough.clone());
        let promised = match subject {
            CheckSubject::Rust(it) => (it.promised)(session.searched().model().width()),
            #[cfg(feature = "languages")]
            CheckSubject::Text(_) | CheckSubject::Specification(_) => Vec::new(),
        };
        session.set_eventually_checks(promised, config.limits.memory / 4)?;
        let outcome = session.run(saved, control)?;
        let shortened = unreduced.map(|it| session.shorten(it, control));
        let failed = shortened.and_then(Result::err);
        Ok(CheckResult::new(session, control.clone(), outcome, failed))
    }

    /// Prepares the search of a Rust type, except for its directory.
    fn store_rust(
        &self,
        rust: &RustType<'m>,
        state_bytes: Option<usize>,
        goes_on: bool,
        control: &SearchControl,
    ) -> Result<StoredSearch<'m>, Error> {
        let model = (rust.model)(state_bytes);
        let config = &self.config;
        let stop_within_level = rust.stops_within_level;
        let limits = SearchLimits { stop_within_level, ..config.search_limits() };
        let about = ModelSummary {
            name: rust.name.clone().into(),
            language: RUST,
            key_order: "declared",
            sources: Cow::Owned(SourceMap::default()),
            conditions: &[],
            claim: None,
            scope: CheckScope::of_model(model.description(), &limits.checks),
        };
        let digest = model.digest();
        let job = |storage: &StateStorage| SearchJob::of_rust(config, &rust.name, digest, storage);
        let (own_reductions, storage) = (Vec::new(), self.storage.clone());
        let model = UnreducedModel { model, about, limits, own_reductions, storage };
        model.store(config, goes_on, control, job)
    }
}

/// Returns a type's name with its type parameters, without module paths.
fn type_name<T: ?Sized>() -> String {
    let full = std::any::type_name::<T>().replace("'_, ", "").replace("<'_>", "");
    let is_between = |it: char| !it.is_alphanumeric() && !matches!(it, '_' | ':');
    let names = full.split_inclusive(is_between);
    names.filter_map(|it| it.rsplit("::").next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::marker::PhantomData;

    struct Of<'a, T, const N: usize>(PhantomData<&'a T>);

    #[test]
    fn type_names_have_no_paths() {
        assert_eq!(type_name::<Check>(), "Check");
        assert_eq!(type_name::<Of<Option<SearchLimits>, 2>>(), "Of<Option<SearchLimits>, 2>");
    }
}
