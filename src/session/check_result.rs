//! The result of a search.

#[cfg(feature = "languages")]
use super::{DirectoryContents, FoundTrace, SourceModel, TraceVisitor};
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

/// The result of a search. `Display` prints the counterexample and the report of the command line. `{:#}` adds the
/// output of `--verbose`.
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

    /// Returns why the search for a [shorter](super::Check::shortest) counterexample failed, if it did. The first
    /// counterexample remains valid.
    pub fn shortening_failed(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    /// Returns the result of the search for a shorter counterexample, if there was one.
    pub fn shortened(&self) -> Option<ShorteningResult> {
        self.session.report()?.shortened
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> SearchVerdict {
        let verdict = self.session.report().map_or(self.outcome.verdict, |it| it.verdict());
        match self.violations().is_empty() {
            true => verdict,
            // A violation found by a stopped search is final.
            false => SearchVerdict::Violated,
        }
    }

    /// Returns the report.
    #[cfg(feature = "languages")]
    pub(super) fn report(&self) -> Option<report::Report<'_>> {
        self.session.report()
    }

    /// Passes the counterexample to a function, if there is one. `model` provides the texts.
    #[cfg(feature = "languages")]
    pub(super) fn visit_trace(
        &self,
        model: &dyn SourceModel,
        visit: &mut TraceVisitor<'_>,
    ) -> Result<(), Error> {
        let Some((violation, way)) = self.session.counterexample(&self.control)? else {
            return Ok(());
        };
        let job = DirectoryContents::read(&self.session.directory.path)?.job;
        visit(&job, &FoundTrace::of_counterexample(model, &violation, &way));
        Ok(())
    }

    /// Returns the number of visited states.
    pub fn states(&self) -> u64 {
        self.outcome.states()
    }

    /// Returns the levels, the transitions and the violations.
    pub fn outcome(&self) -> &SearchOutcome {
        &self.outcome
    }

    /// Returns the violations: those of safety properties, shallowest first, then those of
    /// [eventually](crate::Property::eventually) properties. The depth of the latter is the number of steps of the
    /// violating run.
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

    /// Returns the number of executions of each action, in the order of the model's text. `None` if executions were
    /// not counted, as for a Rust type. In a reduced search these are the executions in the reduced model.
    pub fn coverage(&self) -> Option<Vec<ActionCoverage>> {
        self.session.report().and_then(|report| report::coverage(&report))
    }

    /// Returns a path to the shallowest violation. `None` if there is no violation, or if the control stops the
    /// replay. The path is shortest unless transitions were postponed and no [shorter](super::Check::shortest)
    /// counterexample was searched, or a [hunt](super::Check::no_dive) found the violation.
    ///
    /// # Errors
    ///
    /// If the disk fails, or the model is not deterministic.
    pub fn counterexample(&self) -> Result<Option<Counterexample<'_>>, Error> {
        let found = self.session.counterexample(&self.control)?;
        Ok(found.map(|(_, way)| way))
    }

    /// Returns a shortest witness of a [sometimes](crate::Property::sometimes) property. `None` if no witness was
    /// found, there is no such property, or the control stops the replay.
    ///
    /// # Errors
    ///
    /// If the disk fails, or the model is not deterministic.
    pub fn example(&self, name: &str) -> Result<Option<Counterexample<'_>>, Error> {
        self.path_to_property(|it| it.kind == SOMETIMES && it.name == name)
    }

    /// Returns a path to a violation of an [always](crate::Property::always) property. `None` if no violation
    /// was found, there is no such property, or the control stops the replay. If several properties are violated, the
    /// end of the search decides which of them have a path ([`Check::keep_going`](super::Check::keep_going)).
    ///
    /// # Errors
    ///
    /// If the disk fails, or the model is not deterministic.
    pub fn counterexample_of(&self, name: &str) -> Result<Option<Counterexample<'_>>, Error> {
        let is_of_runs = |it: &PropertyInfo| it.kind == SOMETIMES || it.kind == EVENTUALLY;
        self.path_to_property(|it| !is_of_runs(it) && it.name == name)
    }

    /// Returns a shortest path to the state found for the first property that matches.
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

    /// Returns the verdict on an [eventually](crate::Property::eventually) property, with a violating run if there is
    /// one. The property is not checked if the search stopped before it visited all states, or if there is no such
    /// property.
    ///
    /// # Errors
    ///
    /// If the model is not deterministic.
    pub fn eventually(&self, name: &str) -> Result<EventuallyVerdict<'_>, Error> {
        let promised = self.session.eventually_checks().iter().find(|it| it.name == name);
        promised.map_or(Ok(EventuallyVerdict::NotChecked), EventuallyCheck::verdict)
    }

    /// Keeps the search directory, even a temporary one. Returns its path.
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
                        Err(error) => writeln!(f, "the run could not be reconstructed: {error}\n")?,
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
                write!(f, "\nthe counterexample could not be reconstructed: {error}\n")
            }
        }
    }
}
