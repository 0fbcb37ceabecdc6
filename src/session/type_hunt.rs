//! The builder of a bug hunt in a Rust type.

use super::hunt::{HuntRequest, StateHunt, StateHuntResult};
use super::searched_model::ModelSummary;
use super::{Error, RunLimits, SearchBudget};
use crate::model::{StateSpace, TransitionSystem};
use crate::report::{
    CheckScope, CounterexampleEnd, RUST, TraceDisplayOptions, ViolationReport, write_trace,
};
use crate::search::hunt::{HuntOutcome, HuntProgress};
use crate::search::trace::ReplayedTrace;
use crate::search::{CheckSelection, SearchControl, SearchLimits};
use crate::source::SourceMap;
use crate::system::{PackedSystem, PackingError};
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// The builder of a bug hunt: an inexact search for a violation, within a fixed memory budget. A hunt without a result
/// proves nothing. [`Check`](super::Check) visits all states.
///
/// ```no_run
/// # use spillway::{Hunt, TransitionSystem};
/// # use std::time::Duration;
/// # fn hunt(system: &impl TransitionSystem) -> Result<(), spillway::Error> {
/// let found = Hunt::new(system).seed(7).max_time(Duration::from_secs(60)).run()?;
/// print!("{found}");
/// # Ok(())
/// # }
/// ```
pub struct Hunt<'m, T: TransitionSystem> {
    system: &'m T,
    limits: RunLimits,
    checks: CheckSelection,
    request: HuntRequest,
}

/// The result of a bug hunt. `Display` prints the counterexample, or how much was searched.
#[derive(Clone, Debug)]
pub struct HuntResult {
    /// The outcome with its figures.
    pub outcome: HuntOutcome,
    /// The violation, if one was found.
    pub violation: Option<ViolationReport>,
    /// The path to the violation, with its steps.
    pub trace: Option<ReplayedTrace>,
    /// The text of the counterexample.
    text: String,
}

impl<'m, T: TransitionSystem> Hunt<'m, T> {
    /// Creates a hunt of all violations of a transition system, for one minute, on all cores, with 1 GiB of memory.
    pub fn new(system: &'m T) -> Hunt<'m, T> {
        let limits = RunLimits { max_time: Some(HUNT_TIME), ..RunLimits::default() };
        Hunt { system, limits, checks: CheckSelection::ALL, request: HuntRequest::default() }
    }

    /// Sets the seed of the random choices. The default is 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.request.seed = seed;
        self
    }

    /// Ends the hunt after this number of walks, and not at a time.
    pub fn walks(mut self, walks: u64) -> Self {
        self.request.walks = Some(walks);
        self.limits.max_time = None;
        self
    }

    /// Ends the hunt after this time. The default is one minute.
    pub fn max_time(mut self, time: Duration) -> Self {
        self.limits.max_time = Some(time);
        self
    }

    /// Sets the maximum resident memory of the process in bytes. The default is 1 GiB.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.memory = bytes;
        self
    }

    /// Sets the number of threads. The default is the number of cores, or fewer if memory is short.
    pub fn threads(mut self, threads: u16) -> Self {
        self.limits.threads = Some(threads.max(1));
        self
    }

    /// Selects the checks that count as violations. The default is all checks.
    pub fn checks(mut self, checks: CheckSelection) -> Self {
        self.checks = checks;
        self
    }

    /// Hunts until there is a violation or a limit is reached.
    ///
    /// # Errors
    ///
    /// If the budget is too small, the checks leave nothing to check, or the system fails.
    pub fn run(self) -> Result<HuntResult, Error> {
        let Hunt { system, limits, checks, request } = self;
        let deadline = limits.max_time.and_then(|time| Instant::now().checked_add(time));
        let control = SearchControl::new(limits.checkpoint_every, deadline);
        let mut model = PackedSystem::new(system);
        loop {
            match attempt(&model, &limits, checks, &request, &control) {
                Err(Error::Misfit(PackingError::TooLong { takes, .. })) => {
                    model = PackedSystem::with_width(system, 2 * takes);
                }
                ended => return ended,
            }
        }
    }
}

/// The default time of a hunt.
pub const HUNT_TIME: Duration = Duration::from_secs(60);

/// Hunts with states of this width.
fn attempt<T: TransitionSystem>(
    model: &PackedSystem<'_, T>,
    limits: &RunLimits,
    checks: CheckSelection,
    request: &HuntRequest,
    control: &SearchControl,
) -> Result<HuntResult, Error> {
    let search = SearchLimits { checks, ..SearchLimits::default() };
    let about = ModelSummary {
        name: std::any::type_name::<T>().into(),
        language: RUST,
        key_order: "declared",
        sources: Cow::Owned(SourceMap::default()),
        conditions: &[],
        claim: None,
        scope: CheckScope::of_model(model.description(), &checks),
    };
    let plan = SearchBudget::of(limits, false).plan_without_text(model.width())?;
    let hunt = StateHunt::new(model, &about, &search)?;
    let options = request.within(&plan);
    let StateHuntResult { outcome, counterexample, .. } =
        hunt.run(&options, control, &HuntProgress::default())?;
    let mut text = String::new();
    if let Some((violation, path)) = &counterexample {
        let (sources, view) = (&*about.sources, TraceDisplayOptions::default());
        let end = CounterexampleEnd::of(violation, path, sources);
        write_trace(sources, &view, &end, path, &mut |it| text += it);
    }
    let trace = counterexample.as_ref().map(|(_, path)| path.trace());
    Ok(HuntResult { outcome, violation: counterexample.map(|it| it.0), trace, text })
}

impl std::fmt::Display for HuntResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.violation {
            Some(_) => f.write_str(&self.text),
            None => {
                let walks = crate::numbers::count(self.outcome.totals().walks, "walk");
                writeln!(f, "no violation found in {walks}; this is not a proof")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Property;
    use crate::search::hunt::HuntEnd;

    /// Two counters. Each action increases one of them.
    struct Counters(u16);

    impl TransitionSystem for Counters {
        type State = (u16, u16);
        type Action = bool;

        fn initial(&self) -> Vec<Self::State> {
            vec![(0, 0)]
        }

        fn actions(&self, _: &Self::State, actions: &mut Vec<bool>) {
            actions.extend([false, true]);
        }

        fn next(&self, &(x, y): &Self::State, action: &bool) -> Option<Self::State> {
            Some(if *action { ((x + 1) % self.0, y) } else { (x, (y + 1) % self.0) })
        }

        fn properties(&self) -> Vec<Property<'_, Self::State>> {
            vec![Property::always("apart", |&(x, y)| (x, y) != (3, 4))]
        }
    }

    #[test]
    fn a_hunt_of_a_rust_type_has_a_shortest_path() {
        for (size, is_found) in [(50, true), (3, false)] {
            let counters = Counters(size);
            let found = Hunt::new(&counters).threads(1).seed(2).walks(1000).run().unwrap();
            assert_eq!(found.violation.is_some(), is_found);
            let (end, says) = match is_found {
                true => (HuntEnd::Found, "invariant: apart, 7 steps"),
                false => (HuntEnd::Exhausted, "walk; this is not a proof\n"),
            };
            assert_eq!(found.outcome.end, end);
            assert!(found.to_string().contains(says), "{found}");
            assert_eq!(found.trace.map(|it| it.depth()), is_found.then_some(7));
        }
    }
}
