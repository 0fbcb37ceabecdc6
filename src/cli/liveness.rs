//! `check --ltl` and `check --automaton`, and `resume`, `status` and `trace` of such a search: whether all runs have a property.

mod tell;
mod told;

use super::args::{CheckArgs, KeyOrderArg, ResumeArgs, RunArgs, StoreArg, TraceArgs};
use super::failure::{self, Failure};
use super::going::{heading, with_going};
use super::output::stopped_early;
use super::page::Beside;
use super::preparation::Preparation;
use super::progress::{self, Display};
use super::signals::Signals;
use super::{
    Ending, finder, model, notice, only, output, print, print_json, reduce, run, say, trail, warn,
};
use crate::budget::AnalysisBudget;
use crate::escape;
use crate::exec::{Executor, Explain, Step};
use crate::front::ClaimChoice;
use crate::reduce::Refused;
use crate::report::Page;
use crate::search::checkpoint::Saved;
use crate::search::control::Phase;
use crate::search::lasso::{Probe, ProbeLimits, Probed};
use crate::search::{Control, Limits, MemoryPlan, Storage, events};
use crate::session::{
    Answer, Budget, Contents, Directory, Error, Fairness, Job, Judged, Live, Pursued, Pursuit,
    Reduce, Searched, State, Swept, TextModel, Wanted, Watched,
};
use spill::RealDisk;
use std::path::Path;
use std::sync::Arc;
use tell::{Errors, Made, Tell, as_json, as_text, code, tell, vacuous};
use told::{Stage, Told};

/// The most states that are visited in memory.
const STATES_MAX: u64 = 1_000_000;

/// What is asked, and the product whose runs are judged.
type Asked<'a, 'm> = (&'a Watched, &'a Judged<'a, 'm>);

/// Whether all runs of the model have what is asked for.
pub(super) fn check(args: &CheckArgs, wanted: Wanted<'_>, preparation: Preparation) -> Ending {
    if let Some(flag) = unfit(args) {
        return Err(Failure::wrong(format!(
            "{flag} is for searches for safety, and --ltl, --automaton, --acceptance and --non-progress ask about whole runs"
        )));
    }
    preparation.enter(Phase::Reading);
    let watched = model::open_watched(&args.model, wanted)?;
    Ok(search(args, watched, (wanted, Errors::Told), preparation)?.code)
}

/// The property that the model brings with it, where nothing is said of what to look for.
pub(super) fn own(args: &CheckArgs, model: &TextModel) -> Option<String> {
    let CheckArgs { only, no_deadlock, keep_going, .. } = args;
    let asks_states = !args.model.invariants.is_empty() || !args.model.covers.is_empty();
    let is_said = !only.is_empty() || *no_deadlock || *keep_going || asks_states;
    let of_claim = args.model.claim() != ClaimChoice::First;
    (!is_said && !of_claim).then(|| model.own_property()).flatten().map(str::to_owned)
}

/// Whether all runs of the model have the property of this name that it brings with it.
pub(super) fn check_own(args: &CheckArgs, name: &str, preparation: Preparation) -> Ending {
    let help = format!("`--no-claim` leaves {name} out, which the model brings with it");
    if let Some(flag) = unfit(args) {
        let why = format!("{flag} is for searches for safety, and {name} asks about whole runs");
        return Err(Failure::wrong(format!("{why}\n  help: {help}")));
    }
    let wanted = Wanted::Formula(name);
    let watched = model::open_watched(&args.model, wanted).map_err(|failure| {
        let message = format!("{}\n  help: {help}", failure.message);
        Failure { message, ..failure }
    })?;
    let control = Arc::clone(&preparation.control);
    let ended = search(args, watched, (wanted, Errors::LookedForNext), preparation)?;
    match ended.errors_next {
        false => Ok(ended.code),
        true => run::check_errors(args, name, ended.keeps_directory, control),
    }
}

/// What a search ended with.
struct Ended {
    code: u8,
    /// Whether there are errors to be looked for.
    errors_next: bool,
    /// Whether it keeps the directory that the command line names.
    keeps_directory: bool,
}

/// Refuses what does not go together with a look at fair runs alone.
fn refuse_beside(fairness: Fairness, reduce: &Reduce, shortest: bool) -> Result<(), Failure> {
    let apart = [
        ("reductions", *reduce != Reduce::NONE, "they need not keep which runs are fair"),
        ("--shortest", shortest, "of fair runs no shortest one is looked for"),
    ];
    let apart = apart.into_iter().find(|(_, is_asked, _)| *is_asked && fairness != Fairness::None);
    let Some((other, _, why)) = apart else { return Ok(()) };
    let flag = format!("--fair {}", fairness.name());
    Err(Failure::wrong(format!(
        "{flag} and {other} do not go together: {why}\n  help: leave out one of them"
    )))
}

fn search(
    args: &CheckArgs,
    watched: Watched,
    (wanted, errors): (Wanted<'_>, Errors),
    preparation: Preparation,
) -> Result<Ended, Failure> {
    let fairness = args.runs.fairness()?;
    trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
    let reduce = reduce::wanted_of_runs(&args.reductions)?;
    let ended = args.runs.ended(wanted);
    refuse_beside(fairness, &reduce, args.shortest)?;
    let watched = watched.reduced(&reduce, ended);
    let budget = args.run.budget(false);
    let Some(product) = watched.product(&watched.model.interp, ended) else {
        let code = vacuous(args, &watched, fairness)?;
        return Ok(Ended { code, errors_next: false, keeps_directory: false });
    };
    let analysis = preparation.analysis_budget();
    let budgets = (budget, &analysis);
    let ready = Ready::of(&watched, budgets, args.shortest, Some(&preparation));
    let Ready { searched, executor, all_steps } = ready;
    preparation.go_on()?;
    for Refused { name, why } in searched.stack().unused() {
        warn(format!("warning: {name} is left out: {why}"));
    }
    reduce::useless(args, &searched).iter().for_each(|it| warn(format!("warning: {it}")));
    let judged = Judged::new(&watched, (&product, &searched), &executor, fairness)?;
    let judged = judged.for_shortest(all_steps);
    let storage = Storage::default();
    let limits = Limits { shortest: args.shortest, ..Watched::limits(args.run.max_states) };
    let job = Job::of_runs(&watched, &searched, fairness, &limits, &storage);
    // Also where no directory comes to be needed, nor as much memory.
    planned(&watched, &searched, (budget, &storage))?;
    args.dir.as_deref().map_or(Ok(()), |dir| Directory::refuse_if_used(dir, &job))?;
    let states = args.run.max_states.map_or(STATES_MAX, |most| most.min(STATES_MAX));
    let limits = ProbeLimits { states, bytes: budget.memory / 4 };
    let (control, mut signals) = preparation.end();
    let shown = Display::of_wait("looking for a run that violates it".into());
    let probe = judged.probe(limits, &control);
    drop(shown);
    let probe = probe.map_err(Error::Sample)?;
    if probe.found != Probed::Open {
        signals.end_with(code(&probe.found), &control);
        return decided(args, (&watched, &judged), &job, (probe, errors, &control));
    }
    let plan = planned(&watched, &searched, (budget, &storage))?;
    let directory = Directory::create(args.dir.as_deref(), &job, args.run.disk_limit)?;
    notice::searched_in(&directory.path);
    directory.keep_means(&args.run.means())?;
    let pursuit = Pursuit::new(&judged, plan, args.run.max_states, directory);
    let of = (&watched, &judged);
    let how = Tell::of(&args.run, errors, args.dir.as_deref());
    let with = (&args.run, how, control, signals);
    let (code, errors_next) = pursue(of, pursuit, (None, Some(&probe)), with, true)?;
    Ok(Ended { code, errors_next, keeps_directory: args.dir.is_some() })
}

/// Tells what was decided in memory, and keeps it where it is to be kept.
fn decided(
    args: &CheckArgs,
    of: Asked<'_, '_>,
    job: &Job,
    (probe, errors, control): (Probe, Errors, &Control),
) -> Result<Ended, Failure> {
    let answer = Answer::of(job.digest(), &probe);
    let told = Told::of_probe(probe).shortened(of.1, args.run.room(), control);
    let how = Tell::of(&args.run, errors, args.dir.as_deref());
    let errors_next = how.errors_next(&told);
    // The search for errors has the directory for itself.
    let dir = args.dir.as_deref().filter(|_| !errors_next);
    dir.zip(answer).map_or(Ok(()), |(dir, answer)| keep(dir, (job, &answer), &args.run))?;
    let code = tell(of, &told, how)?;
    if !errors_next {
        let made = Made { dir, seconds: control.elapsed().as_secs_f64() };
        tell::write_files(&args.run, of, &told, made)?;
    }
    Ok(Ended { code, errors_next, keeps_directory: false })
}

/// Keeps what was decided in memory in the directory that was named.
fn keep(dir: &Path, (job, answer): (&Job, &Answer), args: &RunArgs) -> Result<(), Failure> {
    let directory = Directory::create(Some(dir), job, args.disk_limit)?;
    directory.keep_means(&args.means())?;
    Ok(directory.keep_answer(answer)?)
}

/// Goes on with a search in a directory.
pub(super) fn resume(
    args: &ResumeArgs,
    directory: Directory,
    contents: Contents,
    preparation: Preparation,
) -> Ending {
    let budget = args.run.budget(true);
    let Contents { ref job, saved, answer, .. } = contents;
    with_kept(job, budget, Some(preparation), |watched, judged, begun| {
        trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
        let how = Tell::of(&args.run, Errors::Told, Some(&args.dir));
        if let Some(answer) = &answer {
            if !job.wants_shortest() {
                run::say_ended();
            }
            let (control, _signals) = begun;
            let told = Told::of_probe(answer.probe());
            let told = told.shortened(judged, args.run.room(), &control);
            let code = tell((watched, judged), &told, how)?;
            let made = Made { dir: Some(&args.dir), seconds: 0.0 };
            tell::write_files(&args.run, (watched, judged), &told, made)?;
            return Ok(code);
        }
        let swept = Swept::in_directory(&*directory.disk);
        let swept = swept.map_err(|error| Error::Open(args.dir.clone(), error))?;
        if swept.is_some_and(Swept::is_done) && !job.wants_shortest() {
            run::say_ended();
        }
        let plan = planned(watched, judged.searched, (budget, &Storage::default()))?;
        directory.keep_changed_means(&args.run.means())?;
        let pursuit = Pursuit::new(judged, plan, args.run.max_states, directory);
        let (control, signals) = begun;
        let with = (&args.run, how, control, signals);
        Ok(pursue((watched, judged), pursuit, (saved, None), with, false)?.0)
    })
}

/// Who stops a command, and by which signals.
type Stopping = (Arc<Control>, Signals);

/// Does something with what the search in a directory is about, in a command that prepares to go on with it, or looks at
/// it.
fn with_kept(
    job: &Job,
    budget: Budget,
    preparation: Option<Preparation>,
    and_then: impl FnOnce(&Watched, &Judged<'_, '_>, Stopping) -> Ending,
) -> Ending {
    let (Some(watched), Some((_, ended, fairness))) = (job.watched()?, job.runs()) else {
        unreachable!("such a job asks about runs")
    };
    let product = watched.product(&watched.model.interp, ended);
    let product = product.ok_or(Error::Understood)?;
    let largest = AnalysisBudget::largest();
    let analysis = preparation.as_ref().map_or(largest, Preparation::largest_budget);
    let budgets = (budget, &analysis);
    let ready = Ready::of(&watched, budgets, job.wants_shortest(), preparation.as_ref());
    let Ready { searched, executor, all_steps } = ready;
    preparation.as_ref().map_or(Ok(()), Preparation::go_on)?;
    let judged = Judged::new(&watched, (&product, &searched), &executor, fairness)?;
    let stopping = match preparation {
        Some(preparation) => preparation.end(),
        None => {
            let control = Arc::new(Control::default());
            let signals = Signals::stop(&control);
            (control, signals)
        }
    };
    and_then(&watched, &judged.for_shortest(all_steps), stopping)
}

/// A product ready to be searched.
struct Ready<'m> {
    searched: Searched<'m>,
    /// What runs the program.
    executor: Executor<'m>,
    /// For a search for a shortest run, if one is wanted.
    all_steps: Option<Searched<'m>>,
}

impl Ready<'_> {
    fn of<'m>(
        watched: &'m Watched,
        (budget, analysis): (Budget, &AnalysisBudget),
        shortest: bool,
        preparation: Option<&Preparation>,
    ) -> Ready<'m> {
        let model = &watched.model;
        let runs = model.runnable(model.wished.rewritings, analysis, |it| match preparation {
            Some(preparation) => preparation.executor(it, budget),
            None => run::executor(it, budget),
        });
        let executor = runs.executor().clone();
        let all_steps = shortest.then(|| watched.with_all_steps(runs.clone(), analysis));
        Ready { searched: model.searched_by(runs, analysis), executor, all_steps }
    }
}

/// The memory of a search on disk that stores states so.
fn planned(
    watched: &Watched,
    searched: &Searched<'_>,
    (budget, storage): (Budget, &Storage),
) -> Result<MemoryPlan, Failure> {
    Ok(budget.plan(&watched.model, storage.stored_width(searched.model()))?)
}

/// One sitting of a search on disk: its exit code, and whether errors are to be looked for next. Where there were too few
/// slots, nothing is left of a search that is new.
fn pursue(
    of: Asked<'_, '_>,
    mut pursuit: Pursuit<'_>,
    (saved, probe): (Option<Saved>, Option<&Probe>),
    (args, how, control, mut signals): (&RunArgs, Tell<'_>, Arc<Control>, Signals),
    is_new: bool,
) -> Result<(u8, bool), Failure> {
    let note = progress::note(&pursuit.directory);
    let display = Display::of_search(&control, &pursuit.directory, args, note);
    let pursued = pursuit.run(saved, &control);
    drop(display);
    let pursued = match pursued {
        Err(error) if is_new && error.lacks_slots().is_some() => {
            pursuit.directory.discard();
            return Err(error.into());
        }
        pursued => pursued?,
    };
    let Pursued { found, outcome, swept, seconds } = pursued;
    let (told, is_kept) = (Told::on_disk(found, &outcome, swept), !outcome.levels.is_empty());
    // Nothing is left in memory of a search that had as many states as it may.
    let probe = probe.filter(|_| control.should_stop());
    let told = probe.into_iter().fold(told, Told::at_least);
    signals.end_with(code(&told.found), &control);
    if told.found != Probed::Open {
        pursuit.directory.remove_if_temporary();
    }
    let told = told.shortened(of.1, args.room(), &control);
    let errors_next = how.errors_next(&told);
    let ended = tell(of, &told, how);
    let dir = escape::shell_path(&pursuit.directory.path);
    if told.found == Probed::Open {
        pursuit.directory.keep();
        say(match is_kept {
            true => format!("stopped at a checkpoint; `spillway resume {dir}` goes on"),
            false => stopped_early(&dir),
        });
        run::say_where(&pursuit.directory);
    } else if told.shortened.is_some_and(|it| !it.is_done) && control.should_stop() {
        pursuit.directory.keep();
        say(format!("`spillway resume {dir}` goes on to look for a shorter counterexample"));
    } else if output::lost().is_some() {
        pursuit.directory.keep();
        say(format!("the result is kept: `spillway resume {dir}` shows it"));
    }
    let code = ended?;
    if !errors_next {
        let made = Made { dir: Some(&pursuit.directory.path), seconds };
        tell::write_files(args, of, &told, made)?;
    }
    Ok((code, errors_next))
}

/// The run that a search in a directory found.
pub(super) fn trace(args: &TraceArgs, contents: &Contents) -> Ending {
    let model = asked_by(&contents.job)?.0.model;
    only::refuse_unknown(&args.view.view().only, model.interp.program())?;
    drop(model);
    if contents.saved.is_none() && contents.answer.is_none() {
        return trace_of_nothing(args, &contents.job);
    }
    let trail = args.spin_trail.as_deref();
    let how = Tell::again(args);
    with_found(&args.dir, contents, args.memory, |(watched, judged), told, control| {
        trail::refuse(trail, &watched.model)?;
        match tell((watched, judged), told, how)? {
            // Whoever asks for a trail asks for a file, which is there.
            failure::VIOLATED if trail.is_some() => Ok(failure::VERIFIED),
            // It was looked for, and the search has not found one yet.
            failure::STOPPED if !control.should_stop() => Ok(failure::VERIFIED),
            code => Ok(code),
        }
    })
}

/// Does something with what the search in a directory found.
fn with_found(
    dir: &Path,
    contents: &Contents,
    memory: Option<u64>,
    and_then: impl FnOnce(Asked<'_, '_>, &Told, &Control) -> Ending,
) -> Ending {
    let Contents { job, saved, answer, .. } = contents;
    let states = saved.as_ref().map_or(0, |it| it.store.levels.each_keys().sum());
    let before = || match saved {
        Some(saved) => saved.plan.budget,
        None => contents.means.clone().unwrap_or_default().memory,
    };
    let memory = memory.unwrap_or_else(before);
    let budget = finder::budget(memory, states);
    let disk = RealDisk::open(dir).map_err(|error| Failure::opening(dir, error))?;
    with_kept(job, budget, None, |watched, judged, (control, mut signals)| {
        let told = match (answer, saved) {
            (Some(answer), _) => Told::of_probe(answer.probe()),
            (None, None) => Told { stage: Stage::Reaching, found: Probed::Open, ..Told::NOTHING },
            (None, Some(saved)) => {
                let model = judged.searched.model();
                let finder = finder::finder(model, budget.memory, (dir, &disk), &control);
                let pursued = Pursued::in_directory(judged, finder, (dir, saved))?;
                Told::on_disk(pursued.found, &pursued.outcome, pursued.swept)
            }
        };
        signals.end_with(code(&told.found), &control);
        let told = told.shortened(judged, (None, budget.memory), &control);
        and_then((watched, judged), &told, &control)
    })
}

/// Does something with the run that the search in a directory found, if it found one: the model, who explains its
/// product, what is asked, and the steps.
pub(super) fn with_run(
    dir: &Path,
    contents: &Contents,
    and_then: impl FnOnce((&TextModel, &dyn Explain), &str, Option<&[Step]>) -> Ending,
) -> Ending {
    with_found(dir, contents, None, |(watched, judged), told, _| {
        let explained = (&watched.model, judged.searched.model().explained());
        let shown = match &told.found {
            Probed::Found(lasso) => Some(judged.replay(lasso)),
            Probed::None | Probed::Open => None,
        };
        let shown = shown.transpose().map_err(|error| Failure::wrong(error.to_string()))?;
        let steps = shown.as_ref().map(|it| it.steps.as_slice());
        and_then(explained, &watched.name, steps)
    })
}

/// The page of the search in a directory.
pub(super) fn page(dir: &Path, contents: &Contents, beside: Beside<'_>) -> Result<String, Failure> {
    let events = events::read(dir);
    let (mut html, name) = (String::new(), dir.display().to_string());
    let outcome = contents.saved.as_ref().map(Saved::outcome).transpose();
    let outcome = outcome.map_err(|error| Error::Open(dir.to_path_buf(), error))?;
    let levels = outcome.map_or(Vec::new(), |it| it.levels);
    with_found(dir, contents, beside.memory, |of, told, _| {
        let page = Page {
            levels: &levels,
            events: &events,
            dir: Some(&name),
            ..tell::page(of, told, !beside.is_brief)?
        };
        html = beside.on(page).html();
        Ok(failure::VERIFIED)
    })?;
    Ok(html)
}

/// What `trace` prints before there is a checkpoint.
fn trace_of_nothing(args: &TraceArgs, job: &Job) -> Ending {
    match args.json {
        false => print("no checkpoint yet, so no counterexample\n"),
        true => {
            let (watched, fairness) = asked_by(job)?;
            let told = Told { found: Probed::Open, stage: Stage::Reaching, ..Told::NOTHING };
            let searched = watched.model.searched();
            let told = as_json((&watched, Some(&searched), fairness), &told, None);
            print_json(&format!("{told:#}\n"));
        }
    }
    Ok(failure::VERIFIED)
}

/// What the search in a directory is about, and which runs are judged.
fn asked_by(job: &Job) -> Result<(Watched, Fairness), Failure> {
    match (job.watched()?, job.runs()) {
        (Some(watched), Some((.., fairness))) => Ok((watched, fairness)),
        _ => unreachable!("such a job asks about runs"),
    }
}

/// The verdict of the search in a directory that has ended, in a sentence.
pub(super) fn verdict(dir: &Path, contents: &Contents, live: &Live) -> Result<String, Failure> {
    let (watched, fairness) = asked_by(&contents.job)?;
    let (told, _) = told_of(dir, contents, live)?;
    Ok(tell::answer(&told, fairness, &watched.name))
}

/// How far a search in a directory is, and whether it is still reaching states.
fn told_of(dir: &Path, contents: &Contents, live: &Live) -> Result<(Told, bool), Failure> {
    let Contents { saved, answer, .. } = contents;
    let open = |error| Error::Open(dir.to_path_buf(), error);
    let disk = RealDisk::open(dir).map_err(open)?;
    let swept = Swept::in_directory(&disk).map_err(open)?;
    let outcome = saved.as_ref().map(Saved::outcome).transpose().map_err(open)?.unwrap_or_default();
    let told = match answer {
        Some(answer) => Told::of_probe(answer.probe()),
        None => Told::on_disk(Probed::Open, &outcome, swept),
    };
    let decided = match live.state {
        State::Ended(verdict) => Some(verdict),
        _ => None,
    };
    Ok((Told { decided, ..told }, swept.is_none() && answer.is_none()))
}

/// How far a search in a directory is.
pub(super) fn status(dir: &Path, contents: &Contents, live: &Live, json: bool) -> Ending {
    let (watched, fairness) = asked_by(&contents.job)?;
    let (told, is_begun) = told_of(dir, contents, live)?;
    let searched = watched.model.searched();
    match json {
        true => {
            let told = as_json((&watched, Some(&searched), fairness), &told, None);
            print_json(&format!("{:#}\n", with_going(told, live)));
        }
        false => {
            let told = as_text((&watched, &searched, fairness), (&told, false), None);
            print(&(heading(live, is_begun) + &told));
        }
    }
    Ok(failure::VERIFIED)
}

/// A flag that is given and says nothing of such a search.
fn unfit(args: &CheckArgs) -> Option<String> {
    let given = [
        ("--invariant", !args.model.invariants.is_empty()),
        ("--cover", !args.model.covers.is_empty()),
        ("--only", !args.only.is_empty()),
        ("--no-deadlock", args.no_deadlock),
        ("--keep-going", args.keep_going),
        ("--store", args.store != StoreArg::default()),
        ("--key-order", args.key_order != KeyOrderArg::default()),
    ];
    let given = given.into_iter().find(|(_, is_given)| *is_given);
    given.map(|(flag, _)| flag.to_owned()).or_else(|| reduce::loses_runs(&args.reductions))
}
