//! `check --ltl` and `check --automaton`, and `resume`, `status` and `trace` of such a search: whether all runs have a property.

mod presentation;
mod summary;

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
use crate::exec::Executor;
use crate::front::ClaimChoice;
use crate::model::{StepDescription, SystemDescription};
use crate::reduce::ReductionRefusal;
use crate::report::ReportPage;
use crate::search::checkpoint::SavedSearch;
use crate::search::control::SearchPhase;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::{MemoryPlan, SearchControl, StateStorage, events};
use crate::session::config::{PropertyConfig, StoreKind};
use crate::session::{
    CheckConfig, DirectoryContents, EmptinessOutcome, EmptinessSearch, Error, Fairness,
    InMemoryAnswer, KeyOrder, LivenessCheck, ProductCheck, PropertyRequest, ReductionRequest,
    SearchBudget, SearchDirectory, SearchJob, SearchSnapshot, SearchState, SearchedModel,
    SweepStatus, TextModel,
};
use presentation::{
    ErrorPolicy, LivenessPrintOptions, SearchProvenance, as_json, as_text, code, print_outcome,
    print_vacuous,
};
use spill::RealDisk;
use std::path::Path;
use std::sync::Arc;
use summary::{LivenessStage, LivenessSummary};

/// The most states that are visited in memory.
const STATES_MAX: u64 = 1_000_000;

/// What is asked, and the product whose runs are judged.
type CheckedProduct<'a, 'm> = (&'a LivenessCheck, &'a ProductCheck<'a, 'm>);

/// Whether all runs of the model have what is asked for.
pub(super) fn check(
    args: &CheckCommand,
    wanted: PropertyRequest<'_>,
    preparation: SearchPreparation,
) -> CommandResult {
    reject_state_flags(args)?;
    preparation.enter(SearchPhase::Reading);
    let watched = model::open_with_property(&args.model, wanted)?;
    Ok(search(args, watched, (wanted, ErrorPolicy::Report), preparation)?.code)
}

/// Rejects flags that say nothing of a search about whole runs.
pub(super) fn reject_state_flags(args: &CheckCommand) -> Result<(), CommandFailure> {
    match unsupported_flag(args) {
        None => Ok(()),
        Some(flag) => Err(CommandFailure::wrong(format!(
            "{flag} is for searches for safety, and --ltl, --automaton, --acceptance and --non-progress ask about whole runs"
        ))),
    }
}

/// Whether the properties of runs that a model brings with it are checked: a command asks for nothing in particular.
pub(super) fn checks_model_properties(args: &CheckCommand) -> bool {
    let CheckConfig { model, properties, search, .. } = &args.config;
    let PropertyConfig { only, no_deadlock, .. } = properties;
    let asks_states = !properties.conditions().is_empty();
    let is_said = only.is_some() || *no_deadlock || search.keep_going || asks_states;
    !is_said && model.claim_choice() == ClaimChoice::First
}

/// The property that the model brings with it, where nothing is said of what to look for.
pub(super) fn default_property(args: &CheckCommand, model: &TextModel) -> Option<String> {
    checks_model_properties(args).then(|| model.own_property()).flatten().map(str::to_owned)
}

/// Whether all runs of the model have the property of this name that it brings with it.
pub(super) fn check_default_property(
    args: &CheckCommand,
    name: &str,
    preparation: SearchPreparation,
) -> CommandResult {
    let help = format!("`--no-claim` leaves {name} out, which the model brings with it");
    if let Some(flag) = unsupported_flag(args) {
        let why = format!("{flag} is for searches for safety, and {name} asks about whole runs");
        return Err(CommandFailure::wrong(format!("{why}\n  help: {help}")));
    }
    let wanted = PropertyRequest::Formula(name);
    let watched = model::open_with_property(&args.model, wanted).map_err(|failure| {
        let message = format!("{}\n  help: {help}", failure.message);
        CommandFailure { message, ..failure }
    })?;
    let control = Arc::clone(&preparation.control);
    let ended = search(args, watched, (wanted, ErrorPolicy::CheckNext), preparation)?;
    match ended.errors_next {
        false => Ok(ended.code),
        true => run::check_errors(args, name, ended.keeps_directory, control),
    }
}

/// What a search ended with.
struct LivenessOutcome {
    code: u8,
    /// Whether there are errors to be looked for.
    errors_next: bool,
    /// Whether it keeps the directory that the command line names.
    keeps_directory: bool,
}

/// Refuses what does not go together with a look at fair runs alone.
fn refuse_beside(
    fairness: Fairness,
    reduce: &ReductionRequest,
    shortest: bool,
) -> Result<(), CommandFailure> {
    let apart = [
        ("reductions", *reduce != ReductionRequest::NONE, "they need not keep which runs are fair"),
        ("--shortest", shortest, "of fair runs no shortest one is looked for"),
    ];
    let apart = apart.into_iter().find(|(_, is_asked, _)| *is_asked && fairness != Fairness::None);
    let Some((other, _, why)) = apart else { return Ok(()) };
    let flag = format!("--fair {}", fairness.name());
    Err(CommandFailure::wrong(format!(
        "{flag} and {other} do not go together: {why}\n  help: leave out one of them"
    )))
}

fn search(
    args: &CheckCommand,
    watched: LivenessCheck,
    (wanted, errors): (PropertyRequest<'_>, ErrorPolicy),
    preparation: SearchPreparation,
) -> Result<LivenessOutcome, CommandFailure> {
    args.runs.reject_unsupported()?;
    let fairness = args.config.properties.fairness;
    trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
    let reduce = reduce::requested_liveness_reductions(&args.reductions)?;
    let ended = args.config.properties.finite_runs.unwrap_or(wanted.default_ended_runs());
    refuse_beside(fairness, &reduce, args.config.search.shortest)?;
    let watched = watched.reduced(&reduce, ended);
    let budget = args.run.budget(false);
    let Some(product) = watched.product(&watched.model.interp, ended) else {
        let code = print_vacuous(args, &watched, fairness)?;
        return Ok(LivenessOutcome { code, errors_next: false, keeps_directory: false });
    };
    let analysis = preparation.analysis_budget();
    let budgets = (budget, &analysis);
    let ready =
        PreparedProduct::of(&watched, budgets, args.config.search.shortest, Some(&preparation));
    let PreparedProduct { searched, executor, all_steps } = ready;
    preparation.check_not_stopped()?;
    for ReductionRefusal { name, reason: why } in searched.stack().unused_reductions() {
        warn(format!("warning: {name} is left out: {why}"));
    }
    reduce::unused_reductions(args, &searched).iter().for_each(|it| warn(format!("warning: {it}")));
    let judged = ProductCheck::new(&watched, (&product, &searched), &executor, fairness)?;
    let judged = judged.for_shortest(all_steps);
    let storage = StateStorage::default();
    let job = SearchJob::of_runs(&args.config, &watched, &searched, &storage);
    // Also where no directory comes to be needed, nor as much memory.
    planned(&watched, &searched, (budget, &storage))?;
    args.dir.as_deref().map_or(Ok(()), |dir| SearchDirectory::check_unused(dir, &job))?;
    let states = args.run.limits.max_states.map_or(STATES_MAX, |most| most.min(STATES_MAX));
    let limits = ProbeLimits { states, bytes: budget.memory / 4 };
    let (control, mut signals) = preparation.end();
    let shown = ProgressDisplay::of_wait("looking for a run that violates it".into());
    let probe = judged.probe(limits, &control);
    drop(shown);
    let probe = probe.map_err(Error::Sample)?;
    if probe.found != ProbeVerdict::Open {
        signals.set_exit_code(code(&probe.found), &control);
        return report_probe(args, (&watched, &judged), &job, (probe, errors, &control));
    }
    let plan = planned(&watched, &searched, (budget, &storage))?;
    let directory = SearchDirectory::create(args.dir.as_deref(), &job, args.run.limits.disk_limit)?;
    notify::set_directory(&directory.path);
    directory.save_limits(&args.run.saved_limits())?;
    let pursuit = EmptinessSearch::new(&judged, plan, args.run.limits.max_states, directory);
    let of = (&watched, &judged);
    let how = LivenessPrintOptions::of(&args.run, errors, args.dir.as_deref());
    let with = (&args.run, how, control, signals);
    let (code, errors_next) = run_on_disk(of, pursuit, (None, Some(&probe)), with, true)?;
    Ok(LivenessOutcome { code, errors_next, keeps_directory: args.dir.is_some() })
}

/// Tells what was decided in memory, and keeps it where it is to be kept.
fn report_probe(
    args: &CheckCommand,
    of: CheckedProduct<'_, '_>,
    job: &SearchJob,
    (probe, errors, control): (ProbeResult, ErrorPolicy, &SearchControl),
) -> Result<LivenessOutcome, CommandFailure> {
    let answer = InMemoryAnswer::of(job.digest(), &probe);
    let told = LivenessSummary::of_probe(probe).with_shortest_run(
        of.1,
        args.run.shortening_limits(),
        control,
    );
    let how = LivenessPrintOptions::of(&args.run, errors, args.dir.as_deref());
    let errors_next = how.checks_errors_next(&told);
    // The search for errors has the directory for itself.
    let dir = args.dir.as_deref().filter(|_| !errors_next);
    dir.zip(answer).map_or(Ok(()), |(dir, answer)| keep(dir, (job, &answer), &args.run))?;
    let code = print_outcome(of, &told, how)?;
    if !errors_next {
        let made = SearchProvenance { dir, seconds: control.elapsed().as_secs_f64() };
        presentation::write_files(&args.run, of, &told, made)?;
    }
    Ok(LivenessOutcome { code, errors_next, keeps_directory: false })
}

/// Keeps what was decided in memory in the directory that was named.
fn keep(
    dir: &Path,
    (job, answer): (&SearchJob, &InMemoryAnswer),
    args: &SessionOptions,
) -> Result<(), CommandFailure> {
    let directory = SearchDirectory::create(Some(dir), job, args.limits.disk_limit)?;
    directory.save_limits(&args.saved_limits())?;
    Ok(directory.save_answer(answer)?)
}

/// Goes on with a search in a directory.
pub(super) fn resume(
    args: &ResumeCommand,
    directory: SearchDirectory,
    contents: DirectoryContents,
    preparation: SearchPreparation,
) -> CommandResult {
    let budget = args.run.budget(true);
    let DirectoryContents { ref job, saved, answer, .. } = contents;
    with_kept_search(job, budget, Some(preparation), |watched, judged, begun| {
        trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
        let how = LivenessPrintOptions::of(&args.run, ErrorPolicy::Report, Some(&args.dir));
        if let Some(answer) = &answer {
            if !job.wants_shortest() {
                run::say_ended();
            }
            let (control, _signals) = begun;
            let told = LivenessSummary::of_probe(answer.probe());
            let told = told.with_shortest_run(judged, args.run.shortening_limits(), &control);
            let code = print_outcome((watched, judged), &told, how)?;
            let made = SearchProvenance { dir: Some(&args.dir), seconds: 0.0 };
            presentation::write_files(&args.run, (watched, judged), &told, made)?;
            return Ok(code);
        }
        let swept = SweepStatus::in_directory(&*directory.disk);
        let swept = swept.map_err(|error| Error::Open(args.dir.clone(), error))?;
        if swept.is_some_and(SweepStatus::is_done) && !job.wants_shortest() {
            run::say_ended();
        }
        let plan = planned(watched, judged.searched, (budget, &StateStorage::default()))?;
        directory.save_changed_limits(&args.run.saved_limits())?;
        let pursuit = EmptinessSearch::new(judged, plan, args.run.limits.max_states, directory);
        let (control, signals) = begun;
        let with = (&args.run, how, control, signals);
        Ok(run_on_disk((watched, judged), pursuit, (saved, None), with, false)?.0)
    })
}

/// Who stops a command, and by which signals.
type StopControl = (Arc<SearchControl>, SignalHandlers);

/// Does something with what the search in a directory is about, in a command that prepares to go on with it, or looks at
/// it.
fn with_kept_search(
    job: &SearchJob,
    budget: SearchBudget,
    preparation: Option<SearchPreparation>,
    and_then: impl FnOnce(&LivenessCheck, &ProductCheck<'_, '_>, StopControl) -> CommandResult,
) -> CommandResult {
    let (Some(watched), Some((_, ended, fairness))) = (job.liveness_check()?, job.runs()) else {
        unreachable!("such a job asks about runs")
    };
    let product = watched.product(&watched.model.interp, ended);
    let product = product.ok_or(Error::Understood)?;
    let largest = AnalysisBudget::largest();
    let analysis = preparation.as_ref().map_or(largest, SearchPreparation::largest_budget);
    let budgets = (budget, &analysis);
    let ready = PreparedProduct::of(&watched, budgets, job.wants_shortest(), preparation.as_ref());
    let PreparedProduct { searched, executor, all_steps } = ready;
    preparation.as_ref().map_or(Ok(()), SearchPreparation::check_not_stopped)?;
    let judged = ProductCheck::new(&watched, (&product, &searched), &executor, fairness)?;
    let stopping = match preparation {
        Some(preparation) => preparation.end(),
        None => {
            let control = Arc::new(SearchControl::default());
            let signals = SignalHandlers::stop(&control);
            (control, signals)
        }
    };
    and_then(&watched, &judged.for_shortest(all_steps), stopping)
}

/// A product ready to be searched.
struct PreparedProduct<'m> {
    searched: SearchedModel<'m>,
    /// What runs the program.
    executor: Executor<'m>,
    /// For a search for a shortest run, if one is wanted.
    all_steps: Option<SearchedModel<'m>>,
}

impl PreparedProduct<'_> {
    fn of<'m>(
        watched: &'m LivenessCheck,
        (budget, analysis): (SearchBudget, &AnalysisBudget),
        shortest: bool,
        preparation: Option<&SearchPreparation>,
    ) -> PreparedProduct<'m> {
        let model = &watched.model;
        let runs = model.runnable(model.wished.rewritings, analysis, |it| match preparation {
            Some(preparation) => preparation.executor(it, budget),
            None => run::executor(it, budget),
        });
        let executor = runs.executor().clone();
        let all_steps = shortest.then(|| watched.with_all_steps(runs.clone(), analysis));
        PreparedProduct { searched: model.searched_by(runs, analysis), executor, all_steps }
    }
}

/// The memory of a search on disk that stores states so.
fn planned(
    watched: &LivenessCheck,
    searched: &SearchedModel<'_>,
    (budget, storage): (SearchBudget, &StateStorage),
) -> Result<MemoryPlan, CommandFailure> {
    Ok(budget.plan(&watched.model, storage.stored_width(searched.model()))?)
}

/// One sitting of a search on disk: its exit code, and whether errors are to be looked for next. Where there were too few
/// slots, nothing is left of a search that is new.
fn run_on_disk(
    of: CheckedProduct<'_, '_>,
    mut pursuit: EmptinessSearch<'_>,
    (saved, probe): (Option<SavedSearch>, Option<&ProbeResult>),
    (args, how, control, mut signals): (
        &SessionOptions,
        LivenessPrintOptions<'_>,
        Arc<SearchControl>,
        SignalHandlers,
    ),
    is_new: bool,
) -> Result<(u8, bool), CommandFailure> {
    let note = progress::note(&pursuit.directory);
    let display = ProgressDisplay::of_search(&control, &pursuit.directory, args, note);
    let pursued = pursuit.run(saved, &control);
    drop(display);
    let pursued = match pursued {
        Err(error) if is_new && error.lacks_slots().is_some() => {
            pursuit.directory.discard();
            return Err(error.into());
        }
        pursued => pursued?,
    };
    let EmptinessOutcome { found, outcome, swept, seconds } = pursued;
    let (told, is_kept) =
        (LivenessSummary::on_disk(found, &outcome, swept), !outcome.levels.is_empty());
    // Nothing is left in memory of a search that had as many states as it may.
    let probe = probe.filter(|_| control.should_stop());
    let told = probe.into_iter().fold(told, LivenessSummary::at_least);
    signals.set_exit_code(code(&told.found), &control);
    if told.found != ProbeVerdict::Open {
        pursuit.directory.remove_if_temporary();
    }
    let told = told.with_shortest_run(of.1, args.shortening_limits(), &control);
    let errors_next = how.checks_errors_next(&told);
    let ended = print_outcome(of, &told, how);
    let dir = escape::shell_path(&pursuit.directory.path);
    if told.found == ProbeVerdict::Open {
        pursuit.directory.keep();
        say(match is_kept {
            true => format!("stopped at a checkpoint; `spillway resume {dir}` goes on"),
            false => stopped_message(&dir),
        });
        run::say_where(&pursuit.directory);
    } else if told.shortened.is_some_and(|it| !it.is_done) && control.should_stop() {
        pursuit.directory.keep();
        say(format!("`spillway resume {dir}` goes on to look for a shorter counterexample"));
    } else if output::write_error().is_some() {
        pursuit.directory.keep();
        say(format!("the result is kept: `spillway resume {dir}` shows it"));
    }
    let code = ended?;
    if !errors_next {
        let made = SearchProvenance { dir: Some(&pursuit.directory.path), seconds };
        presentation::write_files(args, of, &told, made)?;
    }
    Ok((code, errors_next))
}

/// The run that a search in a directory found.
pub(super) fn trace(args: &TraceArgs, contents: &DirectoryContents) -> CommandResult {
    let model = property_of_job(&contents.job)?.0.model;
    variable_filter::refuse_unknown(&args.view.view().only, model.interp.program())?;
    drop(model);
    if contents.saved.is_none() && contents.answer.is_none() {
        return trace_of_nothing(args, &contents.job);
    }
    let trail = args.spin_trail.as_deref();
    let how = LivenessPrintOptions::of_trace(args);
    with_found_run(&args.dir, contents, args.memory, |(watched, judged), told, control| {
        trail::refuse(trail, &watched.model)?;
        match print_outcome((watched, judged), told, how)? {
            // Whoever asks for a trail asks for a file, which is there.
            failure::VIOLATED if trail.is_some() => Ok(failure::VERIFIED),
            // It was looked for, and the search has not found one yet.
            failure::STOPPED if !control.should_stop() => Ok(failure::VERIFIED),
            code => Ok(code),
        }
    })
}

/// Does something with what the search in a directory found.
fn with_found_run(
    dir: &Path,
    contents: &DirectoryContents,
    memory: Option<u64>,
    and_then: impl FnOnce(CheckedProduct<'_, '_>, &LivenessSummary, &SearchControl) -> CommandResult,
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
    with_kept_search(job, budget, None, |watched, judged, (control, mut signals)| {
        let told = match (answer, saved) {
            (Some(answer), _) => LivenessSummary::of_probe(answer.probe()),
            (None, None) => LivenessSummary {
                stage: LivenessStage::Reachability,
                found: ProbeVerdict::Open,
                ..LivenessSummary::UNSEARCHED
            },
            (None, Some(saved)) => {
                let model = judged.searched.model();
                let finder = trace_finder::finder(model, budget.memory, (dir, &disk), &control);
                let pursued = EmptinessOutcome::in_directory(judged, finder, (dir, saved))?;
                LivenessSummary::on_disk(pursued.found, &pursued.outcome, pursued.swept)
            }
        };
        signals.set_exit_code(code(&told.found), &control);
        let told = told.with_shortest_run(judged, (None, budget.memory), &control);
        and_then((watched, judged), &told, &control)
    })
}

/// Does something with the run that the search in a directory found, if it found one: the model, who explains its
/// product, what is asked, and the steps.
pub(super) fn with_run(
    dir: &Path,
    contents: &DirectoryContents,
    and_then: impl FnOnce(
        (&TextModel, &dyn SystemDescription),
        &str,
        Option<&[StepDescription]>,
    ) -> CommandResult,
) -> CommandResult {
    with_found_run(dir, contents, None, |(watched, judged), told, _| {
        let explained = (&watched.model, judged.searched.model().description());
        let shown = match &told.found {
            ProbeVerdict::Found(lasso) => Some(judged.replay(lasso)),
            ProbeVerdict::None | ProbeVerdict::Open => None,
        };
        let shown = shown.transpose().map_err(|error| CommandFailure::wrong(error.to_string()))?;
        let steps = shown.as_ref().map(|it| it.steps.as_slice());
        and_then(explained, &watched.name, steps)
    })
}

/// The page of the search in a directory.
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

/// What `trace` prints before there is a checkpoint.
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
            let told = as_json((&watched, Some(&searched), fairness), &told, None);
            print_json(&format!("{told:#}\n"));
        }
    }
    Ok(failure::VERIFIED)
}

/// What the search in a directory is about, and which runs are judged.
fn property_of_job(job: &SearchJob) -> Result<(LivenessCheck, Fairness), CommandFailure> {
    match (job.liveness_check()?, job.runs()) {
        (Some(watched), Some((.., fairness))) => Ok((watched, fairness)),
        _ => unreachable!("such a job asks about runs"),
    }
}

/// The verdict of the search in a directory that has ended, in a sentence.
pub(super) fn verdict(
    dir: &Path,
    contents: &DirectoryContents,
    live: &SearchSnapshot,
) -> Result<String, CommandFailure> {
    let (watched, fairness) = property_of_job(&contents.job)?;
    let (told, _) = summary_of(dir, contents, live)?;
    Ok(presentation::verdict_sentence(&told, fairness, &watched.name))
}

/// How far a search in a directory is, and whether it is still reaching states.
fn summary_of(
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
        Some(answer) => LivenessSummary::of_probe(answer.probe()),
        None => LivenessSummary::on_disk(ProbeVerdict::Open, &outcome, swept),
    };
    let decided = match live.state {
        SearchState::Ended(verdict) => Some(verdict),
        _ => None,
    };
    Ok((LivenessSummary { decided, ..told }, swept.is_none() && answer.is_none()))
}

/// How far a search in a directory is.
pub(super) fn status(
    dir: &Path,
    contents: &DirectoryContents,
    live: &SearchSnapshot,
    json: bool,
) -> CommandResult {
    let (watched, fairness) = property_of_job(&contents.job)?;
    let (told, is_begun) = summary_of(dir, contents, live)?;
    let searched = watched.model.searched();
    match json {
        true => {
            let told = as_json((&watched, Some(&searched), fairness), &told, None);
            print_json(&format!("{:#}\n", with_run_status(told, live)));
        }
        false => {
            let told = as_text((&watched, &searched, fairness), (&told, false), None);
            print(&(status_heading(live, is_begun) + &told));
        }
    }
    Ok(failure::VERIFIED)
}

/// A flag that is given and says nothing of such a search.
fn unsupported_flag(args: &CheckCommand) -> Option<String> {
    let CheckConfig { properties, search, .. } = &args.config;
    let given = [
        ("--invariant", !properties.invariants.is_empty()),
        ("--cover", !properties.covers.is_empty()),
        ("--only", properties.only.is_some()),
        ("--no-deadlock", properties.no_deadlock),
        ("--keep-going", search.keep_going),
        ("--store", search.store != StoreKind::default()),
        ("--key-order", search.key_order != KeyOrder::default()),
    ];
    let given = given.into_iter().find(|(_, is_given)| *is_given);
    given
        .map(|(flag, _)| flag.to_owned())
        .or_else(|| reduce::liveness_unsafe_flag(&args.reductions))
}
