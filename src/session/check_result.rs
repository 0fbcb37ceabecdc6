//! What came of a search.

use super::{Error, EventuallyCheck, EventuallyVerdict, Session};
use crate::model::{EVENTUALLY, PropertyInfo, SOMETIMES, Violation};
use crate::report::{
    self, ActionCoverage, CounterexampleEnd, EventuallyResult, ShorteningResult,
    TraceDisplayOptions, ViolationReport,
};
use crate::search::trace::Counterexample;
use crate::search::{SearchControl, SearchOutcome, SearchVerdict};
use std::fmt;
use std::sync::Arc;

/// What came of a search. Shown, it is the counterexample and the report that the command line prints;
/// with `{:#}` what `--verbose` adds, too.
pub struct CheckResult<'m> {
    session: Session<'m>,
    control: Arc<SearchControl>,
    outcome: SearchOutcome,
    failed: Option<Error>,
}

impl<'m> CheckResult<'m> {
    pub(super) fn new(
        session: Session<'m>,
        control: Arc<SearchControl>,
        outcome: SearchOutcome,
        failed: Option<Error>,
    ) -> Self {
        CheckResult { session, control, outcome, failed }
    }

    /// Why the search for a [shorter](super::Check::shortest) counterexample failed, if it did. What was
    /// found before stands.
    pub fn shortening_failed(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    /// What came of the search for a shorter counterexample, if there was one.
    pub fn shortened(&self) -> Option<ShorteningResult> {
        self.session.report()?.shortened
    }

    /// The answer.
    pub fn verdict(&self) -> SearchVerdict {
        let verdict = self.session.report().map_or(self.outcome.verdict, |it| it.verdict());
        match self.violations().is_empty() {
            true => verdict,
            // A search that stopped may find more, but what it found stands.
            false => SearchVerdict::Violated,
        }
    }

    /// All there is to report.
    pub(super) fn report(&self) -> Option<report::Report<'_>> {
        self.session.report()
    }

    /// How many states were visited.
    pub fn states(&self) -> u64 {
        self.outcome.states()
    }

    /// Levels, transitions, and all that was found wrong.
    pub fn outcome(&self) -> &SearchOutcome {
        &self.outcome
    }

    /// What is violated: what is to be seen in states and steps, shallowest first, then what should be so
    /// [eventually](crate::Property::eventually), with the steps of a run that never comes to it as its depth.
    pub fn violations(&self) -> Vec<ViolationReport> {
        let Some(report) = self.session.report() else { return Vec::new() };
        let properties = report.model.description().properties();
        let number = |name: &str| {
            let is_it = |it: &PropertyInfo| it.kind == EVENTUALLY && it.name == name;
            properties.iter().position(is_it).unwrap_or(properties.len()) as u32
        };
        let of_run = |it: &EventuallyResult| {
            let (stem, cycle) = it.broken?;
            Some(ViolationReport {
                check: Violation::Property(number(&it.name)),
                kind: EVENTUALLY,
                name: it.name.clone(),
                depth: stem + cycle,
                shortest: false,
                in_levels: false,
                count: 1,
                place: None,
            })
        };
        report.violations().into_iter().chain(report.eventually.iter().filter_map(of_run)).collect()
    }

    /// How often each action was taken, in the order of the model's text; nothing if that was not counted, as of a model that
    /// is a Rust type. Of a reduced search that is how often it was taken there.
    pub fn coverage(&self) -> Option<Vec<ActionCoverage>> {
        self.session.report().and_then(|report| report::coverage(&report))
    }

    /// A way to the shallowest violation; nothing if there is none, or if the search was told to stop. It is
    /// a shortest one, but where steps were put off and no [shorter](super::Check::shortest) one was looked for.
    ///
    /// # Errors
    ///
    /// If the disk fails, or the model does not do again what it did.
    pub fn counterexample(&self) -> Result<Option<Counterexample<'_>>, Error> {
        let found = self.session.counterexample(&self.control)?;
        Ok(found.map(|(_, way)| way))
    }

    /// A shortest way to a state in which something is so that [should be sometimes](crate::Property::sometimes);
    /// nothing if no such state was found, there is no such property, or the search was told to stop.
    ///
    /// # Errors
    ///
    /// If the disk fails, or the model does not do again what it did.
    pub fn example(&self, name: &str) -> Result<Option<Counterexample<'_>>, Error> {
        self.path_to_property(|it| it.kind == SOMETIMES && it.name == name)
    }

    /// A shortest way to a state that violates what should be so [always](crate::Property::always); nothing if no such
    /// state was found, there is no such property, or the search was told to stop. Which of several properties that are
    /// violated have a way depends on when the search ends ([`Check::keep_going`](super::Check::keep_going)).
    ///
    /// # Errors
    ///
    /// If the disk fails, or the model does not do again what it did.
    pub fn counterexample_of(&self, name: &str) -> Result<Option<Counterexample<'_>>, Error> {
        let is_of_runs = |it: &PropertyInfo| it.kind == SOMETIMES || it.kind == EVENTUALLY;
        self.path_to_property(|it| !is_of_runs(it) && it.name == name)
    }

    /// A shortest way to a state that the first of these properties speaks of.
    fn path_to_property(
        &self,
        is_wanted: impl Fn(&PropertyInfo) -> bool,
    ) -> Result<Option<Counterexample<'_>>, Error> {
        let properties = self.session.searched().model().description().properties();
        match properties.iter().position(is_wanted) {
            Some(number) => self.session.path_to_property(number as u32, &self.control),
            None => Ok(None),
        }
    }

    /// Whether every run comes to something that should be so [eventually](crate::Property::eventually), with a run that
    /// does not. It is not checked where the search stopped before all states were visited, and where there is no such
    /// property.
    ///
    /// # Errors
    ///
    /// If the model does not do again what it did.
    pub fn eventually(&self, name: &str) -> Result<EventuallyVerdict<'_>, Error> {
        let promised = self.session.eventually_checks().iter().find(|it| it.name == name);
        promised.map_or(Ok(EventuallyVerdict::NotChecked), EventuallyCheck::verdict)
    }

    /// The search directory is kept, even if it is a temporary one.
    pub fn keep(mut self) -> std::path::PathBuf {
        self.session.directory.keep();
        self.session.directory.path.clone()
    }
}

impl fmt::Display for CheckResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(report) = self.session.report() else { return Ok(()) };
        match self.session.counterexample(&self.control) {
            Ok(None) => {
                for promised in self.session.eventually_checks() {
                    let name = format!("{EVENTUALLY}: {}", promised.name);
                    match promised.run() {
                        Ok(None) => {}
                        Ok(Some(run)) => {
                            let view = TraceDisplayOptions::default();
                            writeln!(f, "{}", run.text(report.sources, &view, &name))?;
                        }
                        Err(error) => writeln!(f, "the run was not found: {error}\n")?,
                    }
                }
                f.write_str(&report::print_result(&report, None, f.alternate()))
            }
            Ok(Some((violation, way))) => {
                let mut written = Ok(());
                let view = TraceDisplayOptions::default();
                let ending = CounterexampleEnd::of(&violation, &way, report.sources);
                report::write_trace(report.sources, &view, &ending, &way, &mut |text| {
                    written = written.and_then(|()| f.write_str(text));
                });
                written?;
                write!(f, "\n{}", report::print_result(&report, Some(&ending), f.alternate()))
            }
            Err(error) => {
                f.write_str(&report::print_result(&report, None, f.alternate()))?;
                write!(f, "\nthe counterexample was not found: {error}\n")
            }
        }
    }
}
