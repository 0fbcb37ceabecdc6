//! `check` and `resume`: one session of a search, from the directory to the exit code.

use super::command::{CheckCommand, ResumeCommand, SessionOptions};
use super::failure::{self, CommandFailure};
use super::next_commands::{self, CounterexampleShape};
use super::notify;
use super::output::stopped_message;
use super::preparation::SearchPreparation;
use super::progress::{self, ProgressDisplay};
use super::report_page::{ReportedSearch, ShownViolation};
use super::signals::SignalHandlers;
use super::state_space_queries::{self, StateSpaceAnswers};
use super::trail::WrittenTrail;
use super::{
    CommandResult, output, print, print_json, quantities, reduce, result_files, say, storage,
    trail, warn, warnings,
};
use crate::escape;
use crate::exec::{Executor, Interp};
use crate::model::StateSpace;
use crate::reduce::ReductionRefusal;
use crate::report::{self, Report, ViolationReport};
use crate::search::checkpoint::SavedSearch;
use crate::search::control::SearchPhase;
use crate::search::trace::Counterexample;
use crate::search::{SearchControl, SearchVerdict};
use crate::session::config::{CheckKind, PropertyConfig};
use crate::session::{
    CheckConfig, DirectoryContents, Fairness, FoundTrace, ReadySession, ReductionChoice,
    SearchBudget, SearchDirectory, SearchedModel, Session, SourceModel, SpecificationModel,
    StoredSearch, TextModel, TextSearch, UnreducedSearch,
};
use std::sync::Arc;

/// `spillway check` of safety properties.
pub(super) fn check(
    args: &CheckCommand,
    model: TextModel,
    preparation: SearchPreparation,
) -> CommandResult {
    let properties = &args.config.properties;
    let given = [
        ("--deadlock-runs", properties.finite_runs.is_some()),
        ("--fair", args.runs.fair.is_some() || properties.fairness != Fairness::default()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|it| it.1) {
        let why = format!("{flag} is for properties of infinite runs");
        let help = "--ltl, --automaton, --acceptance and --non-progress check them";
        return Err(CommandFailure::wrong(format!("{why}\n  help: {help}")));
    }
    begin(args, None, model, &preparation)
}

/// Checks errors in steps alone, given that every run without errors satisfies the property of this name.
pub(super) fn check_errors(
    args: &CheckCommand,
    known: &str,
    is_dir_taken: bool,
    control: Arc<SearchControl>,
) -> CommandResult {
    let preparation = SearchPreparation::for_next_search(&args.run, control);
    let mut args = args.reconfigured(|config| {
        config.model.no_claim = true;
        let PropertyConfig { strict, .. } = config.properties;
        let only = Some(vec![CheckKind::Assert, CheckKind::Error]);
        config.properties = PropertyConfig { only, strict, ..PropertyConfig::default() };
    });
    args.dir = args.dir.filter(|_| !is_dir_taken);
    // The warnings about the model were printed before.
    preparation.enter(SearchPhase::Reading);
    let (model, _) = super::model::open_quietly(&args.model)?;
    begin(&args, Some(known), model, &preparation)
}

/// `spillway check` of a specification.
pub(super) fn check_specification(
    args: &CheckCommand,
    model: &SpecificationModel,
    preparation: &SearchPreparation,
) -> CommandResult {
    let config = &args.config;
    storage::reject_options_of_other_stores(&config.search)?;
    let stored = model.prepare(config, None, false, &preparation.control)?;
    begin_stored(args, model, stored, preparation)
}

/// `spillway resume` of a specification.
pub(super) fn resume_specification(
    args: &ResumeCommand,
    directory: SearchDirectory,
    contents: DirectoryContents,
    preparation: SearchPreparation,
) -> CommandResult {
    let job = &contents.job;
    let model = job.specification()?;
    trail::refuse(args.run.spin_trail.as_deref(), &model)?;
    let config = CheckConfig { limits: args.run.limits.clone(), ..job.config() };
    let storage = job.storage(&args.dir, model.system().width())?;
    if contents.saved.as_ref().is_some_and(|it| it.verdict != 0) {
        say_ended();
    }
    let stored = model.prepare(&config, Some(storage), true, &preparation.control)?;
    let (control, signals) = preparation.end();
    let ready = stored.resume_in(directory, contents, &args.run.saved_limits())?;
    SessionRun::new(&model, ready, &args.run, control).run(false, signals)
}

/// Begins a search. The property of this name is known to hold.
fn begin(
    args: &CheckCommand,
    known: Option<&str>,
    model: TextModel,
    preparation: &SearchPreparation,
) -> CommandResult {
    let config = &args.config;
    storage::reject_options_of_other_stores(&config.search)?;
    let control = &preparation.control;
    let (model, _) = model.in_key_order(config.search.key_order, control)?;
    trail::refuse(args.run.spin_trail.as_deref(), &model)?;
    let search = TextSearch::new(&model, config, false, control).with_known_property(known);
    let request = config.search.reduction_request();
    let reduced = search.reduce(ReductionChoice::Requested(request))?;
    warn_of_reductions(args, reduced.searched())?;
    let storage = reduced.storage()?;
    let stored = reduced.store(storage)?;
    begin_stored(args, &model, stored, preparation)
}

/// Begins a search that is settled, and reports its result.
fn begin_stored<'a>(
    args: &'a CheckCommand,
    model: &'a dyn SourceModel,
    stored: StoredSearch<'a>,
    preparation: &SearchPreparation,
) -> CommandResult {
    let (control, signals) = preparation.end();
    let ready = stored.begin(args.dir.as_deref(), &args.run.saved_limits())?;
    notify::set_directory(&ready.session.directory.path);
    SessionRun::new(model, ready, &args.run, control).run(true, signals)
}

/// Rejects reductions that the storage of states does not support. Warns of requested reductions that are not used.
fn warn_of_reductions(args: &CheckCommand, searched: &SearchedModel) -> Result<(), CommandFailure> {
    reduce::refuse_store(args, searched)?;
    for ReductionRefusal { name, reason: why, .. } in searched.stack().refusals() {
        warn(format!("warning: {name} is not applied: {}", report::print_refusal(why)));
    }
    reduce::unused_reductions(args, searched).iter().for_each(|it| warn(format!("warning: {it}")));
    Ok(())
}

/// `spillway resume`, in a directory with its job and its last checkpoint.
pub(super) fn resume(
    args: &ResumeCommand,
    directory: SearchDirectory,
    contents: DirectoryContents,
    preparation: SearchPreparation,
) -> CommandResult {
    let job = &contents.job;
    let model = job.model(&args.dir)?;
    trail::refuse(args.run.spin_trail.as_deref(), &model)?;
    let config = CheckConfig { limits: args.run.limits.clone(), ..job.config() };
    let storage = job.storage(&args.dir, model.searched().model().width())?;
    let search = TextSearch::new(&model, &config, true, &preparation.control);
    let reduced =
        search.with_storage(Some(storage.clone())).reduce(ReductionChoice::of_job(job))?;
    let is_over = contents.saved.as_ref().is_some_and(|it| it.verdict != 0);
    if is_over && job.undecided().is_none() && !job.wants_shortest() {
        say_ended();
    }
    let stored = reduced.store(storage)?;
    let (control, signals) = preparation.end();
    let ready = stored.resume_in(directory, contents, &args.run.saved_limits())?;
    SessionRun::new(&model, ready, &args.run, control).run(false, signals)
}

/// Reports that the search is complete.
pub(super) fn say_ended() {
    notify::cancel_kept_command();
    say("note: this search is complete; this is its result");
}

/// Makes the model executable for reading a search, in the free memory of a budget.
pub(super) fn executor(model: &Interp, budget: SearchBudget) -> Executor<'_> {
    let _shown = ProgressDisplay::of_wait("compiling the model".into());
    budget.executor(model)
}

/// A session with its presentation.
struct SessionRun<'a> {
    model: &'a dyn SourceModel,
    session: Session<'a>,
    /// The last checkpoint. `None` if there is none.
    saved: Option<SavedSearch>,
    args: &'a SessionOptions,
    control: Arc<SearchControl>,
    /// The search for a shorter counterexample, if one is requested.
    unreduced: Option<UnreducedSearch<'a>>,
    /// The answers to questions other than conditions on states.
    answered: StateSpaceAnswers,
}

impl<'a> SessionRun<'a> {
    fn new(
        model: &'a dyn SourceModel,
        ready: ReadySession<'a>,
        args: &'a SessionOptions,
        control: Arc<SearchControl>,
    ) -> Self {
        let ReadySession { session, saved, unreduced } = ready;
        SessionRun {
            model,
            session,
            saved,
            args,
            control,
            unreduced,
            answered: StateSpaceAnswers::default(),
        }
    }

    /// Searches and reports the result. A new search that lacks slots leaves no files.
    fn run(mut self, is_new: bool, mut signals: SignalHandlers) -> CommandResult {
        let control = self.control.clone();
        let saved = self.saved.take();
        let directory = &self.session.directory;
        let note = progress::note(directory);
        let display = ProgressDisplay::of_search(&control, directory, self.args, note);
        let searched = self.session.run(saved, &control);
        drop(display);
        let outcome = match searched {
            Err(error) if is_new && error.lacks_slots().is_some() => {
                self.session.directory.discard();
                return Err(error.into());
            }
            searched => searched?,
        };
        let code = match outcome.verdict {
            SearchVerdict::Verified => failure::VERIFIED,
            SearchVerdict::Violated => failure::VIOLATED,
            SearchVerdict::Incomplete => failure::STOPPED,
        };
        signals.set_exit_code(code, &control);
        let (session, model) = (&self.session, self.model);
        if let Some(program) = model.as_program() {
            self.answered = state_space_queries::evaluate_queries(
                self.args, session, program, &outcome, &control,
            )?;
        }
        if outcome.verdict != SearchVerdict::Incomplete {
            self.session.directory.remove_if_temporary();
        }
        if outcome.verdict == SearchVerdict::Violated {
            self.shorten(&control);
        }
        let stopped = outcome.verdict == SearchVerdict::Incomplete;
        if stopped {
            self.session.directory.keep();
        }
        let is_whole = self.session.scope().unchecked.is_empty();
        let code = state_space_queries::worst_code(code, &self.answered.answers);
        let told = self.print_outcome(outcome.verdict, &control);
        self.say_what_is_kept(stopped, outcome.levels.is_empty());
        told?;
        Ok(strict_code(self.args.strict, code, is_whole))
    }

    /// Returns the report of the search.
    fn full_report(&self) -> Option<Report<'_>> {
        let report = self.session.report()?;
        let found = CounterexampleShape::of(&report)
            .filter(|_| report.verdict() == SearchVerdict::Violated);
        let (model, dir) = (self.model, report.dir.clone());
        let commands =
            |found| next_commands::commands(model, found, dir.as_deref(), Some(self.args));
        let next = found.map(commands).unwrap_or_default();
        Some(Report { further: self.answered.answers.clone(), next, ..report })
    }

    /// Searches for a shorter counterexample, if one is requested. If that search does not complete, the first
    /// counterexample remains.
    fn shorten(&mut self, control: &Arc<SearchControl>) {
        let Some(unreduced) = self.unreduced.take() else { return };
        let display = ProgressDisplay::of_search(control, &self.session.directory, self.args, None);
        let shortened = self.session.shorten(unreduced, control);
        drop(display);
        if let Err(error) = &shortened {
            warn(format!("warning: the search for a shorter counterexample failed: {error}"));
        }
        let report = self.session.report();
        let is_left = report.and_then(|it| it.shortened).is_some_and(|it| !it.is_done);
        if shortened.is_err() || is_left {
            self.session.directory.keep();
            let dir = escape::shell_path(&self.session.directory.path);
            say(format!("`spillway resume {dir}` continues the search for a shorter one"));
        }
    }

    /// Describes the contents of the search directory, if they are of use.
    fn say_what_is_kept(&mut self, stopped: bool, at_the_start: bool) {
        let dir = escape::shell_path(&self.session.directory.path);
        if output::write_error().is_some() {
            say(format!("the result is kept: `spillway status {dir}` and `trace` show it"));
            self.session.directory.keep();
        } else if stopped && at_the_start {
            say(stopped_message(&dir));
        } else if stopped {
            say(format!("stopped at a checkpoint; `spillway resume {dir}` resumes it"));
        }
        if stopped {
            say_where(&self.session.directory);
        }
    }

    /// Prints the counterexample, if there is one, and then the result, which stays on the screen.
    fn print_outcome(
        &mut self,
        verdict: SearchVerdict,
        control: &SearchControl,
    ) -> Result<(), CommandFailure> {
        let SessionOptions { json, no_trace, ref spin_trail, .. } = *self.args;
        let kept_trace = self.args.kept_trace.as_ref();
        let is_shown = !no_trace || kept_trace.is_some();
        let is_wanted = is_shown || spin_trail.is_some() || self.args.writes_results();
        let violated = verdict == SearchVerdict::Violated && is_wanted;
        let shown = match violated {
            true => self.session.counterexample(control)?,
            false => None,
        };
        if let Some((kept, (violation, way))) = kept_trace.zip(shown.as_ref()) {
            let job = DirectoryContents::read(&self.session.directory.path)?.job;
            kept.keep(&job, &FoundTrace::of_counterexample(self.model, violation, way));
        }
        let written = spin_trail.as_deref().zip(shown.as_ref());
        let written = written
            .map(|(path, (_, way))| trail::write_counterexample(path, self.model, way))
            .transpose()?;
        let ending = shown.as_ref().filter(|_| !no_trace && !json);
        let ending = ending.map(|(violation, way)| self.show(violation, way));
        let has_a_way = |it: &ViolationReport| it.has_trace();
        let found = self.session.report().map_or(Vec::new(), |it| it.violations());
        let is_missed = violated && shown.is_none() && found.iter().any(has_a_way);
        if let Some(report) = self.full_report() {
            notify::summarise(|| report::print_result(&report, ending.as_ref(), false));
            match json {
                true => print_as_json(self.args, &report, shown.as_ref().filter(|_| !no_trace)),
                false => self.report(&report, ending.as_ref()),
            }
        }
        let filed = self.write_files(shown.as_ref());
        drop(shown);
        written.into_iter().for_each(WrittenTrail::say);
        filed?;
        if is_missed {
            self.session.directory.keep();
            let dir = escape::shell_path(&self.session.directory.path);
            say(format!(
                "stopped before the counterexample was found; `spillway trace {dir}` finds it"
            ));
        }
        Ok(())
    }

    /// Writes the requested files.
    fn write_files(&self, shown: Option<&ShownViolation<'_>>) -> Result<(), CommandFailure> {
        let Some(report) = self.full_report() else { return Ok(()) };
        let is_open = report.outcome.verdict == SearchVerdict::Incomplete;
        let note = is_open.then_some("The search was stopped; this is its state so far.");
        let dir = self.session.directory.path.as_path();
        let search = ReportedSearch { report: &report, model: self.model, dir };
        result_files::write(self.args, &search, shown, note)
    }

    /// Prints the counterexample.
    fn show(&self, violation: &ViolationReport, way: &Counterexample) -> report::CounterexampleEnd {
        let sources = self.model.sources();
        let (view, ending) =
            (self.args.view(), report::CounterexampleEnd::of(violation, way, sources));
        report::write_trace(sources, &view, &ending, way, &mut |it| print(it));
        print("\n");
        ending
    }

    /// Prints the result. `ending` is the end of the counterexample, if one is shown.
    fn report(&self, report: &Report, ending: Option<&report::CounterexampleEnd>) {
        print(&match (self.args.mcc, self.args.asks_space) {
            (false, _) => report::print_result(report, ending, self.args.verbose),
            (true, false) => report::contest_lines(report),
            (true, true) => report::contest_space(report, self.answered.tokens),
        });
    }
}

/// Reports the temporary directory of a stopped search, and how to remove it.
pub(super) fn say_where(directory: &SearchDirectory) {
    if directory.is_unnamed() {
        let (dir, bytes) = (directory.path.display(), directory.disk.usage().live);
        say(format!(
            "note: {dir} keeps it, {}; `spillway status --all --clean` removes searches that are a week old",
            quantities::size(bytes)
        ));
    }
}

/// Returns the exit code of a search that ends with `code`. With `strict`, unchecked properties are reported and
/// count.
pub(super) fn strict_code(strict: bool, code: u8, is_whole: bool) -> u8 {
    if !strict || code != failure::VERIFIED || is_whole {
        return code;
    }
    say("with --strict, properties that are NOT checked count as violated");
    failure::VIOLATED
}

/// Prints a result as a JSON object, with the counterexample.
fn print_as_json(
    args: &SessionOptions,
    report: &Report,
    shown: Option<&(ViolationReport, Counterexample)>,
) {
    let Some(collector) = &args.collector else {
        report::write_json_result(report, &warnings(), shown, &mut |it| print_json(it));
        return;
    };
    let mut text = String::new();
    report::write_json_result(report, &[], shown, &mut |it| text += it);
    collector.add_document(serde_json::from_str(&text).unwrap_or_default());
}
