//! Temporal properties: `check --ltl` and `check --automaton`, and `resume`, `status` and `trace` of their searches.

mod presentation;

use super::args::TraceArgs;
use super::command::{CheckCommand, ResumeCommand, SessionOptions};
use super::failure::{self, CommandFailure};
use super::output::stopped_message;
use super::preparation::SearchPreparation;
use super::progress::{self, ProgressDisplay};
use super::report_page::PageContext;
use super::run_status::{status_heading, with_run_status};
use super::signals::SignalHandlers;
use super::{
    CommandResult, model, notify, output, print, print_json, reduce, run, say, trace_finder, trail,
    variable_filter, warn,
};
use crate::budget::AnalysisBudget;
use crate::escape;
use crate::model::SystemDescription;
use crate::reduce::ReductionRefusal;
use crate::report::{self, ReportPage, TraceDisplayOptions};
use crate::search::checkpoint::SavedSearch;
use crate::search::control::SearchPhase;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use crate::search::{SearchControl, SearchVerdict, events};
use crate::session::config::{SearchConfig, StoreKind};
use crate::session::{
    CheckConfig, CheckObserver, DirectoryContents, EmptinessOutcome, Error, Fairness, FoundTrace,
    KeyOrder, LivenessCheck, LivenessResult, LivenessSession, LivenessStage, LivenessSummary,
    ProductCheck, ProductOptions, PropertyRequest, ReplayedRun, SearchBudget, SearchDirectory,
    SearchJob, SearchSnapshot, SearchState, SweepStatus, TextModel, with_product,
};
use presentation::{
    ErrorPolicy, LivenessPrintOptions, LivenessReport, SearchProvenance, code, print_outcome,
    print_vacuous, verdict_code,
};
pub(super) use presentation::{shown_run as hunted_run, write_trail};
use spill::RealDisk;
use std::any::Any;
use std::path::Path;
use std::sync::Arc;

/// Checks a temporal property.
pub(super) fn check(
    args: &CheckCommand,
    wanted: PropertyRequest<'_>,
    preparation: SearchPreparation,
) -> CommandResult {
    reject_state_flags(args)?;
    preparation.enter(SearchPhase::Reading);
    let watched = model::open_with_property(&args.model, wanted)?;
    Ok(search(args, watched, wanted, ErrorPolicy::Report, preparation)?.code)
}

/// Rejects flags that have no meaning for temporal properties.
pub(super) fn reject_state_flags(args: &CheckCommand) -> Result<(), CommandFailure> {
    unsupported_flag(args).map_or(Ok(()), |flag| Err(refused(&flag, None)))
}

/// Rejects reductions that do not preserve temporal properties.
pub(super) fn reject_state_reductions(args: &CheckCommand) -> Result<(), CommandFailure> {
    let flag = reduce::liveness_unsafe_flag(&args.config.search.reductions);
    flag.map_or(Ok(()), |flag| Err(refused(&flag, None)))
}

/// Returns the error for a flag that has no meaning for temporal properties, or for the default property of this name.
fn refused(flag: &str, default: Option<&str>) -> CommandFailure {
    let why = format!("{flag} is for properties of states, but");
    CommandFailure::wrong(match default {
        None => {
            format!("{why} --ltl, --automaton, --acceptance and --non-progress check infinite runs")
        }
        Some(name) => {
            format!("{why} {name} is a property of infinite runs\n  help: {}", exclusion(name))
        }
    })
}

/// Returns how the default property of this name is excluded.
fn exclusion(name: &str) -> String {
    format!("`--no-claim` excludes {name}, which the model contains")
}

/// Returns the model's own temporal property, if it is checked by default.
pub(super) fn default_property(args: &CheckCommand, model: &TextModel) -> Option<String> {
    args.config.checks_model_properties().then(|| model.own_property()).flatten().map(str::to_owned)
}

/// Checks the temporal property of this name of the model.
pub(super) fn check_default_property(
    args: &CheckCommand,
    name: &str,
    preparation: SearchPreparation,
) -> CommandResult {
    if let Some(flag) = unsupported_flag(args) {
        return Err(refused(&flag, Some(name)));
    }
    let wanted = PropertyRequest::Formula(name);
    let watched = model::open_with_property(&args.model, wanted).map_err(|failure| {
        let message = format!("{}\n  help: {}", failure.message, exclusion(name));
        CommandFailure { message, ..failure }
    })?;
    let control = Arc::clone(&preparation.control);
    let ended = search(args, watched, wanted, ErrorPolicy::CheckNext, preparation)?;
    match ended.errors_next {
        false => Ok(ended.code),
        true => run::check_errors(args, name, ended.keeps_directory, control),
    }
}

/// The end of a search.
struct LivenessOutcome {
    code: u8,
    /// Whether a search for errors follows.
    errors_next: bool,
    /// Whether the search keeps the directory that the command line names.
    keeps_directory: bool,
}

/// Rejects options that cannot be combined with fairness.
fn refuse_beside_fairness(config: &SearchConfig) -> Result<(), CommandFailure> {
    reduce::refuse_unfair(&config.reductions)?;
    match config.shortest {
        false => Ok(()),
        true => Err(CommandFailure::wrong(
            "--fair weak and --shortest cannot be combined: a shortest fair run cannot be computed\n  \
             help: leave out one of them",
        )),
    }
}

fn search(
    args: &CheckCommand,
    watched: LivenessCheck,
    wanted: PropertyRequest<'_>,
    errors: ErrorPolicy,
    preparation: SearchPreparation,
) -> Result<LivenessOutcome, CommandFailure> {
    args.runs.reject_unsupported()?;
    let fairness = args.config.properties.fairness;
    trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
    let reductions = &args.config.search.reductions;
    let request = args.config.run_reduction_request();
    let ended = args.config.properties.finite_runs.unwrap_or(wanted.default_ended_runs());
    let watched = watched.reduced(request, ended);
    if watched.invariant().is_none() {
        let default = (errors == ErrorPolicy::CheckNext).then_some(watched.name.as_str());
        let flag = reduce::liveness_unsafe_flag(reductions);
        flag.map_or(Ok(()), |flag| Err(refused(&flag, default)))?;
        if fairness != Fairness::None {
            refuse_beside_fairness(&args.config.search)?;
        }
    }
    let shortest = args.config.search.shortest;
    let budget = args.run.budget(false);
    let hunts = args.config.search.hunts_for_runs();
    let options = ProductOptions {
        budget,
        finite_runs: ended,
        fairness,
        shortest,
        hunts,
        control: &preparation.control,
    };
    let analysis = AnalysisBudget::new(budget.memory, &*preparation.control);
    with_product(
        &watched,
        options,
        &analysis,
        |it| preparation.executor(it, budget),
        |judged| match judged {
            None => {
                let code = print_vacuous(args, &watched, fairness)?;
                Ok(LivenessOutcome { code, errors_next: false, keeps_directory: false })
            }
            Some(judged) => {
                preparation.check_not_stopped()?;
                warn_of_reductions(args, judged);
                begin(judged, args, errors, &preparation)
            }
        },
    )
}

/// Warns of requested reductions that the product does not use.
fn warn_of_reductions(args: &CheckCommand, judged: &ProductCheck<'_, '_>) {
    // A search for a violating state has reductions of its own.
    if judged.check.invariant().is_some() {
        return;
    }
    let reductions = &args.config.search.reductions;
    let is_listed = |it: &ReductionRefusal| it.reductions.iter().any(|name| reductions.lists(name));
    let unused = judged.searched.stack().unused_reductions();
    for ReductionRefusal { name, reason, .. } in unused.into_iter().filter(is_listed) {
        let why = report::print_refusal(&reason);
        warn(format!("warning: {name} is not applied: {why}"));
    }
    let unused = reduce::unused_reductions(args, judged.searched);
    unused.iter().for_each(|it| warn(format!("warning: {it}")));
}

/// Begins a search and prints its result.
fn begin(
    judged: &ProductCheck<'_, '_>,
    args: &CheckCommand,
    errors: ErrorPolicy,
    preparation: &SearchPreparation,
) -> Result<LivenessOutcome, CommandFailure> {
    let (budget, saved) = (args.run.budget(false), args.run.saved_limits());
    let mut observer = LivenessObserver::begin(&args.run, preparation);
    let control = Arc::clone(&observer.control);
    let session = LivenessSession::new(judged, budget, args.run.limits.max_states, &control);
    let job = session.job(&args.config);
    let result = session.begin(&job, args.dir.as_deref(), &saved, &mut observer)?;
    if let Some(kept) = &args.run.kept_trace
        && let Some(run) = found_run(judged, &result.summary)?
    {
        let (watched, walked) = (judged.check, judged.searched.model().description());
        kept.keep(&job, &FoundTrace::of_run(&watched.model, walked, run, &watched.name));
    }
    let how = LivenessPrintOptions::of(&args.run, errors, args.dir.as_deref());
    let errors_next = how.checks_errors_next(&result.summary);
    if result.directory.is_none() {
        // The search for errors uses the directory.
        let dir = args.dir.as_deref().filter(|_| !errors_next);
        dir.map_or(Ok(()), |dir| result.keep_answer(&job, dir, &saved))?;
    }
    let keeps_directory = result.directory.is_some() && args.dir.is_some();
    let code = report_result(judged, how, result, args.dir.as_deref(), &control)?;
    Ok(LivenessOutcome { code, errors_next, keeps_directory })
}

/// Displays the progress of a session. When the verdict is known, it sets the exit code for signals.
struct LivenessObserver<'a> {
    args: &'a SessionOptions,
    control: Arc<SearchControl>,
    signals: SignalHandlers,
}

impl<'a> LivenessObserver<'a> {
    fn begin(args: &'a SessionOptions, preparation: &SearchPreparation) -> LivenessObserver<'a> {
        let (control, signals) = preparation.end();
        LivenessObserver { args, control, signals }
    }
}

impl CheckObserver for LivenessObserver<'_> {
    fn begin_step(&self, what: &'static str) -> Box<dyn Any> {
        Box::new(ProgressDisplay::of_wait(what.to_owned()))
    }

    fn begin_search(&self, directory: &SearchDirectory) -> Box<dyn Any> {
        notify::set_directory(&directory.path);
        let note = progress::note(directory);
        Box::new(ProgressDisplay::of_search(&self.control, directory, self.args, note))
    }

    fn decide(&mut self, verdict: SearchVerdict) {
        self.signals.set_exit_code(verdict_code(verdict), &self.control);
    }
}

/// Prints the result of a session, describes the files left on disk, and writes the output files. `dir` is the
/// directory that the command line names.
fn report_result(
    judged: &ProductCheck<'_, '_>,
    how: LivenessPrintOptions<'_>,
    result: LivenessResult,
    dir: Option<&Path>,
    control: &SearchControl,
) -> CommandResult {
    let LivenessResult { summary: told, directory, has_levels, seconds, .. } = result;
    if let Some(why) = &told.shortening_failed {
        warn(format!("warning: the search for a shorter counterexample failed: {why}"));
    }
    let errors_next = how.checks_errors_next(&told);
    let args = how.session();
    let ended = print_outcome(judged, &told, how);
    let mut directory = directory;
    if let Some(directory) = &mut directory {
        say_what_is_kept(directory, &told, has_levels, control);
    }
    let code = ended?;
    if !errors_next {
        let dir = directory.as_ref().map(|it| it.path.as_path()).or(dir);
        let made = SearchProvenance { dir, seconds };
        args.map_or(Ok(()), |args| presentation::write_files(args, judged, &told, made))?;
    }
    Ok(code)
}

/// Describes the contents of the search directory, if they are of use.
fn say_what_is_kept(
    directory: &mut SearchDirectory,
    told: &LivenessSummary,
    has_levels: bool,
    control: &SearchControl,
) {
    let dir = escape::shell_path(&directory.path);
    if told.found == ProbeVerdict::Open {
        directory.keep();
        say(match has_levels {
            true => format!("stopped at a checkpoint; `spillway resume {dir}` resumes it"),
            false => stopped_message(&dir),
        });
        run::say_where(directory);
    } else if told.shortened.is_some_and(|it| !it.is_done) && control.should_stop() {
        directory.keep();
        say(format!("`spillway resume {dir}` continues the search for a shorter one"));
    } else if output::write_error().is_some() {
        directory.keep();
        say(format!("the result is kept: `spillway resume {dir}` shows it"));
    }
}

/// Resumes a search in a directory.
pub(super) fn resume(
    args: &ResumeCommand,
    directory: SearchDirectory,
    contents: DirectoryContents,
    preparation: SearchPreparation,
) -> CommandResult {
    let budget = args.run.budget(true);
    let job = contents.job.clone();
    let is_answered = contents.answer.is_some();
    with_kept_search(&job, budget, Some(&preparation), |judged| {
        trail::refuse(args.run.spin_trail.as_deref(), &judged.check.model)?;
        let swept = SweepStatus::in_directory(&*directory.disk);
        let swept = swept.map_err(|error| Error::Open(args.dir.clone(), error))?;
        let has_ended = is_answered || swept.is_some_and(SweepStatus::is_done);
        if has_ended && !job.wants_shortest() {
            run::say_ended();
        }
        let mut observer = LivenessObserver::begin(&args.run, &preparation);
        let control = Arc::clone(&observer.control);
        let session = LivenessSession::new(judged, budget, args.run.limits.max_states, &control);
        let saved = args.run.saved_limits();
        let result = session.resume(directory, contents, &saved, &mut observer)?;
        let how = LivenessPrintOptions::of(&args.run, ErrorPolicy::Report, Some(&args.dir));
        report_result(judged, how, result, Some(&args.dir), &control)
    })
}

/// Passes the product of the search in a directory to a function. `preparation` is given by commands that resume the
/// search, and not by those that only read it.
fn with_kept_search(
    job: &SearchJob,
    budget: SearchBudget,
    preparation: Option<&SearchPreparation>,
    and_then: impl FnOnce(&ProductCheck<'_, '_>) -> CommandResult,
) -> CommandResult {
    let (Some(watched), Some((_, finite_runs, fairness))) = (job.liveness_check()?, job.runs())
    else {
        unreachable!("such a job asks about runs")
    };
    let analysis = match preparation {
        Some(preparation) => preparation.largest_budget(),
        None => AnalysisBudget::largest(),
    };
    let shortest = job.wants_shortest();
    let unstopped = SearchControl::default();
    let control = preparation.map_or(&unstopped, |it| &*it.control);
    // The search in memory has ended.
    let hunts = false;
    let options = ProductOptions { budget, finite_runs, fairness, shortest, hunts, control };
    let executor = |it| match preparation {
        Some(preparation) => preparation.executor(it, budget),
        None => run::executor(it, budget),
    };
    with_product(&watched, options, &analysis, executor, |judged| {
        let judged = judged.ok_or(Error::Understood)?;
        preparation.map_or(Ok(()), SearchPreparation::check_not_stopped)?;
        and_then(judged)
    })
}

/// Prints the run that a search in a directory found.
pub(super) fn trace(args: &TraceArgs, contents: &DirectoryContents) -> CommandResult {
    let model = property_of_job(&contents.job)?.0.model;
    variable_filter::refuse_unknown(&args.view.view().only, &model)?;
    drop(model);
    if contents.saved.is_none() && contents.answer.is_none() {
        return trace_of_nothing(args, &contents.job);
    }
    let trail = args.spin_trail.as_deref();
    let how = LivenessPrintOptions::of_trace(args);
    with_found_run(&args.dir, contents, args.memory, |judged, told, control| {
        trail::refuse(trail, &judged.check.model)?;
        match print_outcome(judged, told, how)? {
            // The exit code refers to the trail, which was written.
            failure::VIOLATED if trail.is_some() => Ok(failure::VERIFIED),
            // The search has not found a run yet.
            failure::STOPPED if !control.should_stop() => Ok(failure::VERIFIED),
            code => Ok(code),
        }
    })
}

/// Passes the result of the search in a directory to a function.
fn with_found_run(
    dir: &Path,
    contents: &DirectoryContents,
    memory: Option<u64>,
    and_then: impl FnOnce(&ProductCheck<'_, '_>, &LivenessSummary, &SearchControl) -> CommandResult,
) -> CommandResult {
    let DirectoryContents { job, saved, answer, .. } = contents;
    let states = saved.as_ref().map_or(0, |it| it.store.levels.keys_by_level().sum());
    let before = || match saved {
        Some(saved) => saved.plan.budget,
        None => contents.limits.clone().unwrap_or_default().limits.memory,
    };
    let memory = memory.unwrap_or_else(before);
    let budget = trace_finder::budget(memory, states);
    let disk = RealDisk::open(dir).map_err(|error| CommandFailure::cannot_open(dir, error))?;
    with_kept_search(job, budget, None, |judged| {
        let control = Arc::new(SearchControl::default());
        let mut signals = SignalHandlers::stop(&control);
        let told = match (answer, saved) {
            (Some(answer), _) => LivenessSummary::of_answer(answer),
            (None, None) => LivenessSummary {
                stage: LivenessStage::Reachability,
                found: ProbeVerdict::Open,
                ..LivenessSummary::UNSEARCHED
            },
            (None, Some(saved)) if job.is_of_invariant() => {
                let outcome = saved.outcome().map_err(|error| Error::Open(dir.into(), error))?;
                LivenessSummary::of_open_invariant(judged.check, &outcome)
            }
            (None, Some(saved)) => {
                let model = judged.searched.model();
                let finder = trace_finder::finder(model, budget.memory, dir, &disk, &control);
                let pursued = EmptinessOutcome::in_directory(judged, finder, dir, saved)?;
                LivenessSummary::on_disk(pursued.found, &pursued.outcome, pursued.swept)
            }
        };
        signals.set_exit_code(code(&told.found), &control);
        let limits = ProbeLimits { states: u64::MAX, bytes: budget.memory / 4 };
        let told = told.with_shortest_run(judged, limits, &control);
        and_then(judged, &told, &control)
    })
}

/// Passes the run of the search in a directory to a function, if there is one: the model, the describer of its
/// product, the property, and the run.
pub(super) fn with_run(
    dir: &Path,
    contents: &DirectoryContents,
    and_then: impl FnOnce(
        (&TextModel, &dyn SystemDescription),
        &str,
        Option<ReplayedRun>,
    ) -> CommandResult,
) -> CommandResult {
    with_found_run(dir, contents, None, |judged, told, _| {
        let watched = judged.check;
        let explained = (&watched.model, judged.searched.model().description());
        and_then(explained, &watched.name, found_run(judged, told)?)
    })
}

/// Returns the run of a result, if there is one.
fn found_run(
    judged: &ProductCheck<'_, '_>,
    told: &LivenessSummary,
) -> Result<Option<ReplayedRun>, CommandFailure> {
    let ProbeVerdict::Found(lasso) = &told.found else { return Ok(None) };
    let run = judged.replay(lasso);
    run.map(Some).map_err(|error| CommandFailure::wrong(error.to_string()))
}

/// Returns the page of the search in a directory.
pub(super) fn page(
    dir: &Path,
    contents: &DirectoryContents,
    beside: PageContext<'_>,
) -> Result<String, CommandFailure> {
    let events = events::read(dir);
    let (mut html, name) = (String::new(), dir.display().to_string());
    let outcome = contents.saved.as_ref().map(SavedSearch::outcome).transpose();
    let outcome = outcome.map_err(|error| Error::Open(dir.to_path_buf(), error))?;
    let levels = outcome.map_or(Vec::new(), |it| it.levels);
    with_found_run(dir, contents, beside.memory, |of, told, _| {
        let page = ReportPage {
            levels: &levels,
            events: &events,
            dir: Some(&name),
            ..presentation::page(of, told, !beside.is_brief)?
        };
        html = beside.apply_to(page).html();
        Ok(failure::VERIFIED)
    })?;
    Ok(html)
}

/// Prints the output of `trace` before there is a checkpoint.
fn trace_of_nothing(args: &TraceArgs, job: &SearchJob) -> CommandResult {
    match args.json {
        false => print("no checkpoint yet, so no counterexample\n"),
        true => {
            let (watched, fairness) = property_of_job(job)?;
            let told = LivenessSummary {
                found: ProbeVerdict::Open,
                stage: LivenessStage::Reachability,
                ..LivenessSummary::UNSEARCHED
            };
            let searched = watched.model.searched();
            let told = LivenessReport::new(&watched, Some(&searched), fairness, &told).json(None);
            print_json(&format!("{told:#}\n"));
        }
    }
    Ok(failure::VERIFIED)
}

/// Returns the property of the search in a directory, and the fairness assumption.
fn property_of_job(job: &SearchJob) -> Result<(LivenessCheck, Fairness), CommandFailure> {
    match (job.liveness_check()?, job.runs()) {
        (Some(watched), Some((.., fairness))) => Ok((watched, fairness)),
        _ => unreachable!("such a job asks about runs"),
    }
}

/// Returns the verdict of a complete search in a directory as a sentence.
pub(super) fn verdict(
    dir: &Path,
    contents: &DirectoryContents,
    live: &SearchSnapshot,
) -> Result<String, CommandFailure> {
    let (watched, fairness) = property_of_job(&contents.job)?;
    let (told, _) = summary_of(&watched, dir, contents, live)?;
    Ok(presentation::verdict_sentence(&told, fairness, &watched.name))
}

/// Returns the progress of a search in a directory, and whether it is still reaching states.
fn summary_of(
    check: &LivenessCheck,
    dir: &Path,
    contents: &DirectoryContents,
    live: &SearchSnapshot,
) -> Result<(LivenessSummary, bool), CommandFailure> {
    let DirectoryContents { saved, answer, .. } = contents;
    let open = |error| Error::Open(dir.to_path_buf(), error);
    let disk = RealDisk::open(dir).map_err(open)?;
    let swept = SweepStatus::in_directory(&disk).map_err(open)?;
    let outcome =
        saved.as_ref().map(SavedSearch::outcome).transpose().map_err(open)?.unwrap_or_default();
    let told = match answer {
        Some(answer) => LivenessSummary::of_answer(answer),
        None if contents.job.is_of_invariant() => {
            LivenessSummary::of_open_invariant(check, &outcome)
        }
        None => LivenessSummary::on_disk(ProbeVerdict::Open, &outcome, swept),
    };
    let decided = match live.state {
        SearchState::Ended(verdict) => Some(verdict),
        _ => None,
    };
    Ok((LivenessSummary { decided, ..told }, swept.is_none() && answer.is_none()))
}

/// Prints the progress of a search in a directory.
pub(super) fn status(
    dir: &Path,
    contents: &DirectoryContents,
    live: &SearchSnapshot,
    json: bool,
) -> CommandResult {
    let (watched, fairness) = property_of_job(&contents.job)?;
    let (told, is_begun) = summary_of(&watched, dir, contents, live)?;
    let searched = watched.model.searched();
    match json {
        true => {
            let told = LivenessReport::new(&watched, Some(&searched), fairness, &told).json(None);
            print_json(&format!("{:#}\n", with_run_status(told, live)));
        }
        false => {
            let told = LivenessReport::new(&watched, Some(&searched), fairness, &told)
                .text(None, &TraceDisplayOptions::default());
            print(&(status_heading(live, is_begun) + &told));
        }
    }
    Ok(failure::VERIFIED)
}

/// Returns a flag that has no meaning for temporal properties, if one is given.
fn unsupported_flag(args: &CheckCommand) -> Option<String> {
    let CheckConfig { properties, search, .. } = &args.config;
    let given = [
        ("--invariant", !properties.invariants.is_empty()),
        ("--cover", !properties.covers.is_empty()),
        ("--constraint", !properties.constraints.is_empty()),
        ("--only", properties.only.is_some()),
        ("--no-deadlock", properties.no_deadlock),
        ("--keep-going", search.keep_going),
        ("--store", search.store != StoreKind::default()),
        ("-X key-order", search.key_order != KeyOrder::default()),
    ];
    let given = given.into_iter().find(|(_, is_given)| *is_given);
    given.map(|(flag, _)| flag.to_owned())
}
