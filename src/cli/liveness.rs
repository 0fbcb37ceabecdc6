//! `check --ltl` and `check --automaton`, and `resume`, `status` and `trace` of such a search: whether all runs have a property.

use super::args::{CheckArgs, KeyOrderArg, ResumeArgs, RunArgs, StoreArg, TraceArgs};
use super::failure::{self, Failure};
use super::going::{heading, with_going};
use super::progress::{self, Display};
use super::signals::Signals;
use super::{Ending, model, output, print, reduce, run, say, trace, trail, warn, warnings};
use crate::exec::{Executor, Explain, Step, Tally, Violation};
use crate::front::{ClaimChoice, TrailEnd};
use crate::reduce::Refused;
use crate::report::{self, Missed, Run, Shortened, View, count};
use crate::search::checkpoint::Saved;
use crate::search::lasso::{Probe, ProbeLimits, Probed};
use crate::search::shortest::Shorter;
use crate::search::{Control, MemoryPlan, Outcome, Storage};
use crate::session::{
    Budget, Contents, Directory, Error, Fairness, Going, Job, Judged, Pursued, Pursuit, Reduce,
    Searched, Swept, TextModel, Wanted, Watched, verdict,
};
use serde_json::{Value, json};
use spill::RealDisk;
use std::path::Path;
use std::sync::Arc;

/// The most states that are visited in memory.
const STATES_MAX: u64 = 1_000_000;

/// What is asked, and the product whose runs are judged.
type Asked<'a, 'm> = (&'a Watched, &'a Judged<'a, 'm>);

/// What there is to tell of a search.
struct Told {
    found: Probed,
    states: u64,
    transitions: u64,
    /// Steps that ended in errors.
    faults: u64,
    stage: Stage,
    /// What came of looking for a shorter run than the one found first.
    shortened: Option<Shortened>,
}

/// Where a search is, or was decided.
#[derive(Clone, Copy)]
enum Stage {
    Memory,
    Reaching,
    Sweeping(Swept),
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Memory => "in memory",
            Stage::Reaching => "reaching states",
            Stage::Sweeping(swept) => swept.stage,
        }
    }

    fn swept(self) -> Option<Swept> {
        match self {
            Stage::Sweeping(swept) => Some(swept),
            Stage::Memory | Stage::Reaching => None,
        }
    }
}

impl Told {
    /// Where nothing had to be searched.
    const NOTHING: Told = Told {
        found: Probed::None,
        states: 0,
        transitions: 0,
        faults: 0,
        stage: Stage::Memory,
        shortened: None,
    };

    fn of_probe(Probe { found, states, transitions, faults }: Probe) -> Told {
        Told { found, states, transitions, faults, stage: Stage::Memory, shortened: None }
    }

    fn on_disk(found: Probed, outcome: &Outcome, swept: Option<Swept>) -> Told {
        let faults = outcome.findings.iter();
        let faults = faults.filter(|(check, _)| matches!(check, Violation::Fault(..)));
        Told {
            found,
            states: outcome.states(),
            transitions: outcome.transitions,
            faults: faults.map(|(_, finding)| finding.count).sum(),
            stage: swept.map_or(Stage::Reaching, Stage::Sweeping),
            shortened: None,
        }
    }

    /// The same with a shortest run instead of the one found, if one is wanted. Where looking for it does not come to its end,
    /// what was found stands.
    fn shortened(
        self,
        judged: &Judged<'_, '_>,
        (states, memory): (Option<u64>, u64),
        control: &Control,
    ) -> Told {
        let Probed::Found(found) = &self.found else { return self };
        let limits = ProbeLimits { states: states.unwrap_or(u64::MAX), bytes: memory / 4 };
        let shown = Display::of_wait("looking for a shorter run".into());
        let shorter = judged.shorter(found, limits, control);
        drop(shown);
        let Shorter { lasso, states, is_shortest: is_done } = match shorter {
            Ok(Some(shorter)) => shorter,
            Ok(None) => return self,
            Err(error) => {
                warn(format!("warning: the search for a shorter counterexample failed: {error}"));
                return self;
            }
        };
        let [below, depth] = [found, &lasso].map(|it| it.states.len() as u64);
        let depth = (depth < below).then_some(depth);
        let shortened = Some(Shortened { below, states, depth, is_done });
        Told { found: Probed::Found(lasso), shortened, ..self }
    }
}

/// Whether all runs of the model have what is asked for.
pub(super) fn check(args: &CheckArgs, wanted: Wanted<'_>) -> Ending {
    if let Some(flag) = unfit(args) {
        return Err(Failure::wrong(format!(
            "{flag} is for searches for safety, and --ltl, --automaton, --acceptance and --non-progress ask about whole runs"
        )));
    }
    let watched = model::open_watched(&args.model, wanted)?;
    search(args, watched, wanted)
}

/// The property that the model brings with it, where nothing is said of what to look for.
pub(super) fn own(args: &CheckArgs, model: &TextModel) -> Option<String> {
    let CheckArgs { only, no_deadlock, keep_going, .. } = args;
    let is_said = !only.is_empty() || *no_deadlock || *keep_going;
    let of_claim = args.model.claim() != ClaimChoice::First;
    (!is_said && !of_claim).then(|| model.own_property()).flatten().map(str::to_owned)
}

/// Whether all runs of the model have the property of this name that it brings with it.
pub(super) fn check_own(args: &CheckArgs, name: &str) -> Ending {
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
    search(args, watched, wanted)
}

fn search(args: &CheckArgs, watched: Watched, wanted: Wanted<'_>) -> Ending {
    let fairness = args.runs.fairness()?;
    trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
    let reduce = reduce::wanted_of_runs(&args.reductions)?;
    let ended = args.runs.ended(wanted);
    let apart = [
        ("reductions", reduce != Reduce::NONE, "they need not keep which runs are fair"),
        ("--shortest", args.shortest, "of fair runs no shortest one is looked for"),
    ];
    let apart = apart.into_iter().find(|(_, is_asked, _)| *is_asked && fairness != Fairness::None);
    if let Some((other, _, why)) = apart {
        let flag = format!("--fair {}", fairness.name());
        return Err(Failure::wrong(format!(
            "{flag} and {other} do not go together: {why}\n  help: leave out one of them"
        )));
    }
    let watched = watched.reduced(&reduce, ended);
    let budget = args.run.budget(false);
    let Some(product) = watched.product(&watched.model.interp, ended) else {
        return Ok(vacuous(args, &watched, fairness));
    };
    let Ready { searched, executor, all_steps } = Ready::of(&watched, budget, args.shortest);
    for Refused { name, why } in searched.stack().unused() {
        warn(format!("warning: {name} is left out: {why}"));
    }
    reduce::useless(args, &searched).iter().for_each(|it| warn(format!("warning: {it}")));
    let judged = Judged::new(&watched, (&product, &searched), &executor, fairness)?;
    let judged = judged.for_shortest(all_steps);
    let (storage, limits) = (Storage::default(), Watched::limits(args.run.max_states));
    let job = Job::of_runs(&watched, fairness, &limits, &storage).for_shortest(args.shortest);
    // Also where no directory comes to be needed.
    args.dir.as_deref().map_or(Ok(()), |dir| Directory::refuse_if_used(dir, &job))?;
    let states = args.run.max_states.map_or(STATES_MAX, |most| most.min(STATES_MAX));
    let limits = ProbeLimits { states, bytes: budget.memory / 4 };
    let shown = Display::of_wait("looking for a run that violates it".into());
    let control = run::control(&args.run);
    let mut signals = Signals::stop(&control);
    let probe = judged.probe(limits, &control);
    drop(shown);
    let probe = probe.map_err(|error| Failure::wrong(error.to_string()))?;
    if probe.found != Probed::Open {
        signals.end_with(code(&probe.found), &control);
        let told = Told::of_probe(probe).shortened(&judged, args.run.room(), &control);
        let code = tell((&watched, &judged), &told, Tell::of(&args.run))?;
        return Ok(run::judge(&args.run, code, &watched.model));
    }
    drop(probe);
    let plan = planned(&watched, &searched, (budget, &storage))?;
    let directory = Directory::create(args.dir.as_deref(), &job, args.run.disk_limit)?;
    directory.keep_means(&args.run.means())?;
    let pursuit = Pursuit::new(&judged, plan, args.run.max_states, directory);
    let of = (&watched, &judged);
    pursue(of, pursuit, None, (&args.run, control, signals))
}

/// Goes on with a search in a directory.
pub(super) fn resume(
    args: &ResumeArgs,
    directory: Directory,
    job: &Job,
    saved: Option<Saved>,
) -> Ending {
    let budget = args.run.budget(true);
    with_kept(job, budget, |watched, judged| {
        trail::refuse(args.run.spin_trail.as_deref(), &watched.model)?;
        let swept = Swept::in_directory(&*directory.disk);
        let swept = swept.map_err(|error| Error::Open(args.dir.clone(), error))?;
        if swept.is_some_and(Swept::is_done) && !job.wants_shortest() {
            run::say_ended();
        }
        let plan = planned(watched, judged.searched, (budget, &Storage::default()))?;
        let pursuit = Pursuit::new(judged, plan, args.run.max_states, directory);
        let control = run::control(&args.run);
        let signals = Signals::stop(&control);
        pursue((watched, judged), pursuit, saved, (&args.run, control, signals))
    })
}

/// Does something with what the search in a directory is about.
fn with_kept(
    job: &Job,
    budget: Budget,
    and_then: impl FnOnce(&Watched, &Judged<'_, '_>) -> Ending,
) -> Ending {
    let (Some(watched), Some((_, ended, fairness))) = (job.watched()?, job.runs()) else {
        unreachable!("such a job asks about runs")
    };
    let product = watched.product(&watched.model.interp, ended);
    let product = product.ok_or(Error::Understood)?;
    let ready = Ready::of(&watched, budget, job.wants_shortest());
    let Ready { searched, executor, all_steps } = ready;
    let judged = Judged::new(&watched, (&product, &searched), &executor, fairness)?;
    and_then(&watched, &judged.for_shortest(all_steps))
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
    fn of(watched: &Watched, budget: Budget, shortest: bool) -> Ready<'_> {
        let model = &watched.model;
        let runs = model.runnable(model.wished.rewritings, |it| run::executor(it, budget));
        let executor = runs.executor().clone();
        let all_steps = shortest.then(|| watched.with_all_steps(runs.clone()));
        Ready { searched: model.searched_by(runs), executor, all_steps }
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

/// One sitting of a search on disk.
fn pursue(
    of: Asked<'_, '_>,
    mut pursuit: Pursuit<'_>,
    saved: Option<Saved>,
    (args, control, mut signals): (&RunArgs, Arc<Control>, Signals),
) -> Ending {
    let note = progress::note(&pursuit.directory);
    let display = Display::of_search(&control, &pursuit.directory, args, note);
    let pursued = pursuit.run(saved, &control);
    drop(display);
    let Pursued { found, outcome, swept, .. } = pursued?;
    let told = Told::on_disk(found, &outcome, swept);
    signals.end_with(code(&told.found), &control);
    let told = told.shortened(of.1, args.room(), &control);
    let ended = tell(of, &told, Tell::of(args)).map(|code| run::judge(args, code, &of.0.model));
    let dir = pursuit.directory.path.display().to_string();
    if told.found == Probed::Open {
        pursuit.directory.keep();
        say(format!("stopped at a checkpoint; `spillway resume {dir}` goes on"));
    } else if told.shortened.is_some_and(|it| !it.is_done) && control.should_stop() {
        pursuit.directory.keep();
        say(format!("`spillway resume {dir}` goes on to look for a shorter counterexample"));
    } else if output::lost().is_some() {
        pursuit.directory.keep();
        say(format!("the result is kept: `spillway resume {dir}` shows it"));
    }
    ended
}

/// The run that a search in a directory found.
pub(super) fn trace(args: &TraceArgs, job: &Job, saved: Option<&Saved>) -> Ending {
    let Some(saved) = saved else {
        return trace_of_nothing(args, job);
    };
    let (trail, view) = (args.spin_trail.as_deref(), args.view.view());
    let how = Tell { json: args.json, trace: true, trail, view };
    with_found((&args.dir, job), saved, args.memory, |(watched, judged), told, control| {
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
    (dir, job): (&Path, &Job),
    saved: &Saved,
    memory: Option<u64>,
    and_then: impl FnOnce(Asked<'_, '_>, &Told, &Control) -> Ending,
) -> Ending {
    let budget = trace::budget(memory, saved);
    let disk = RealDisk::open(dir).map_err(|error| Failure::opening(dir, error))?;
    with_kept(job, budget, |watched, judged| {
        let control = Arc::new(Control::default());
        let mut signals = Signals::stop(&control);
        let finder = trace::finder(judged.searched.model(), budget.memory, (dir, &disk), &control);
        let pursued = Pursued::in_directory(judged, finder, (dir, saved))?;
        let told = Told::on_disk(pursued.found, &pursued.outcome, pursued.swept);
        signals.end_with(code(&told.found), &control);
        let told = told.shortened(judged, (None, budget.memory), &control);
        and_then((watched, judged), &told, &control)
    })
}

/// Does something with the run that the search in a directory found, if it found one: the model, who explains its
/// product, what is asked, and the steps.
pub(super) fn with_run(
    (dir, job): (&Path, &Job),
    saved: &Saved,
    and_then: impl FnOnce((&TextModel, &dyn Explain), &str, Option<&[Step]>) -> Ending,
) -> Ending {
    with_found((dir, job), saved, None, |(watched, judged), told, _| {
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

/// What `trace` prints before there is a checkpoint.
fn trace_of_nothing(args: &TraceArgs, job: &Job) -> Ending {
    print(&match args.json {
        false => "no checkpoint yet, so no counterexample\n".to_owned(),
        true => {
            let (watched, fairness) = asked_by(job)?;
            let told = Told { found: Probed::Open, stage: Stage::Reaching, ..Told::NOTHING };
            let searched = watched.model.searched();
            format!("{:#}\n", as_json((&watched, Some(&searched), fairness), &told, None))
        }
    });
    Ok(failure::VERIFIED)
}

/// What the search in a directory is about, and which runs are judged.
fn asked_by(job: &Job) -> Result<(Watched, Fairness), Failure> {
    match (job.watched()?, job.runs()) {
        (Some(watched), Some((.., fairness))) => Ok((watched, fairness)),
        _ => unreachable!("such a job asks about runs"),
    }
}

/// How far a search in a directory is.
pub(super) fn status(dir: &Path, contents: &Contents, going: &Going, json: bool) -> Ending {
    let Contents { job, saved, .. } = contents;
    let (watched, fairness) = asked_by(job)?;
    let open = |error| Error::Open(dir.to_path_buf(), error);
    let disk = RealDisk::open(dir).map_err(open)?;
    let swept = Swept::in_directory(&disk).map_err(open)?;
    let outcome = saved.as_ref().map(Saved::outcome).transpose().map_err(open)?.unwrap_or_default();
    let told = Told::on_disk(Probed::Open, &outcome, swept);
    let searched = watched.model.searched();
    print(&match json {
        true => {
            let told = as_json((&watched, Some(&searched), fairness), &told, None);
            format!("{:#}\n", with_going(told, going))
        }
        false => {
            let told = as_text((&watched, &searched, fairness), &told, None);
            heading(going, swept.is_none()) + &told
        }
    });
    Ok(failure::VERIFIED)
}

/// How something is printed.
struct Tell<'a> {
    json: bool,
    /// With the run that was found.
    trace: bool,
    /// Where a trail of that goes.
    trail: Option<&'a Path>,
    /// What is shown of it.
    view: View,
}

impl Tell<'_> {
    fn of(args: &RunArgs) -> Tell<'_> {
        let RunArgs { json, no_trace, spin_trail, .. } = args;
        Tell { json: *json, trace: !no_trace, trail: spin_trail.as_deref(), view: args.view() }
    }
}

/// Prints what came of a search, and the run that was found.
fn tell((watched, judged): Asked<'_, '_>, told: &Told, how: Tell<'_>) -> Ending {
    let model = judged.searched.model().explained();
    let run = match &told.found {
        Probed::Found(_) if !how.trace && how.trail.is_none() => None,
        Probed::Found(lasso) => {
            let shown = judged.replay(lasso);
            let shown = shown.map_err(|error| Failure::wrong(error.to_string()))?;
            if !shown.closes {
                say(
                    "of the loop one round is shown; the next ones go through states that are alike, and come back after many",
                );
            }
            // A round that is shown more than once makes a longer run than was found.
            let is_as_found = shown.closes && shown.steps.len() == lasso.states.len() + 1;
            let is_shortest = is_as_found && told.shortened.is_some_and(|it| it.is_done);
            Some(Run { model, steps: shown.steps, back: shown.back, is_shortest })
        }
        Probed::None | Probed::Open => None,
    };
    if let (Some(path), Some(run)) = (how.trail, &run) {
        let mut each_step = |visit: &mut dyn FnMut(&Step)| {
            run.steps.iter().for_each(visit);
        };
        let end = TrailEnd::LoopBehind(run.back);
        trail::write(path, &watched.model, &mut each_step, end)?;
    }
    let (searched, fairness) = (judged.searched, judged.fairness());
    let run = run.filter(|_| how.trace);
    print(&match how.json {
        true => format!("{:#}\n", as_json((watched, Some(searched), fairness), told, run.as_ref())),
        false => {
            let run = run.as_ref().map(|it| (it, &how.view));
            as_text((watched, searched, fairness), told, run)
        }
    });
    Ok(code(&told.found))
}

fn code(found: &Probed) -> u8 {
    match found {
        Probed::None => failure::VERIFIED,
        Probed::Found(_) => failure::VIOLATED,
        Probed::Open => failure::STOPPED,
    }
}

/// A flag that is given and says nothing of such a search.
fn unfit(args: &CheckArgs) -> Option<String> {
    let given = [
        ("--only", !args.only.is_empty()),
        ("--no-deadlock", args.no_deadlock),
        ("--keep-going", args.keep_going),
        ("--store", args.store != StoreArg::default()),
        ("--key-order", args.key_order != KeyOrderArg::default()),
    ];
    let given = given.into_iter().find(|(_, is_given)| *is_given);
    given.map(|(flag, _)| flag.to_owned()).or_else(|| reduce::loses_runs(&args.reductions))
}

/// What the model asks for beside the property.
fn missed(watched: &Watched) -> Vec<Missed> {
    Missed::all(watched.model.interp.program(), &watched.model.sources)
}

/// What is to be seen in states and steps of the model, where only runs are judged.
fn not_looked_for(watched: &Watched) -> Vec<String> {
    watched.model.scope(&Watched::limits(None).checks).left_out
}

/// Tells that no run can violate the property.
fn vacuous(args: &CheckArgs, watched: &Watched, fairness: Fairness) -> u8 {
    let (model, name, missed) = (watched.model.name(), &watched.name, missed(watched));
    print(&match args.run.json {
        false => {
            let says =
                format!("{model}: verified: no run violates {name}, whatever the model does");
            report::wrapped("", &says) + &report::print_unchecked(&missed)
        }
        true => {
            format!("{:#}\n", as_json((watched, None, fairness), &Told::NOTHING, None))
        }
    });
    run::judge(&args.run, failure::VERIFIED, &watched.model)
}

/// What the product was reduced by, in words.
fn reductions(searched: &Searched<'_>) -> String {
    let names: Vec<String> = reduced_by(searched);
    match names.is_empty() {
        true => "without reductions".to_owned(),
        false => format!("reduced by {}", names.join(", ")),
    }
}

/// The names of what the product was reduced by.
fn reduced_by(searched: &Searched<'_>) -> Vec<String> {
    searched.stack().told(&Tally::default()).into_iter().map(|it| it.name).collect()
}

fn as_text(
    (watched, searched, fairness): (&Watched, &Searched<'_>, Fairness),
    told: &Told,
    run: Option<(&Run<'_>, &View)>,
) -> String {
    let (model, name) = (watched.model.name(), &watched.name);
    let of_a_sort = match fairness {
        Fairness::None => "run",
        Fairness::Weak => "weakly fair run",
    };
    let says = match told.found {
        Probed::None if told.faults > 0 => {
            format!("every {of_a_sort} that meets no run-time error satisfies {name}")
        }
        Probed::None => format!("verified: every {of_a_sort} satisfies {name}"),
        Probed::Found(_) => format!("VIOLATED: a {of_a_sort} does not satisfy {name}"),
        Probed::Open => {
            format!("not decided yet: no {of_a_sort} that violates {name} was found so far")
        }
    };
    let (states, transitions) =
        (count(told.states, "state"), count(told.transitions, "transition"));
    let mut out = report::wrapped("", &format!("{model}: {says}"));
    if let Some((run, _)) = run {
        out += &report::row("after", &run.length());
    }
    if let Some(shortened) = told.shortened {
        let says = report::print_shortened("looked for a shorter run", shortened);
        out += &report::row("shortest", &says);
    }
    let found = format!("{states}, {transitions} of the model and the automaton");
    out += &report::row("found", &found);
    let how = reductions(searched);
    let searched_so = match told.stage {
        Stage::Memory => format!("in memory, {how}"),
        Stage::Reaching => format!("on disk, {how}: reaching states"),
        Stage::Sweeping(Swept { stage, sweeps, set }) => {
            let (sweeps, set) = (count(sweeps, "sweep"), count(set, "state"));
            format!("on disk, {how}: {stage}, {sweeps}, {set} left")
        }
    };
    out += &report::row("searched", &searched_so);
    for Refused { name, why } in searched.stack().unused() {
        out += &report::row("not reduced", &format!("by {name}: {why}"));
    }
    out += &report::print_unchecked(&missed(watched));
    out += &report::row("not looked for", &not_looked_for(watched).join(", "));
    if told.faults > 0 {
        let steps = count(told.faults, "step");
        out += &report::row("", &format!("{steps} ended in errors that were not looked for"));
    }
    match run {
        None => out,
        Some((run, view)) => run.text((&watched.model.sources, view), name) + "\n" + &out,
    }
}

/// As JSON; if nothing was searched, that is so since no run can violate the property.
fn as_json(
    (watched, searched, fairness): (&Watched, Option<&Searched<'_>>, Fairness),
    told: &Told,
    run: Option<&Run<'_>>,
) -> Value {
    let swept = told.stage.swept();
    let unused = searched.into_iter().flat_map(|it| it.stack().unused());
    let unused = unused.map(|it| json!({ "name": it.name, "why": it.why }));
    json!({
        "model": watched.model.name(),
        "language": watched.model.language.name,
        "property": watched.name,
        "verdict": verdict(&told.found),
        "vacuous": searched.is_none(),
        "fairness": fairness.name(),
        "states": told.states,
        "transitions": told.transitions,
        "reductions": searched.map_or(Vec::new(), reduced_by),
        "not_reduced": unused.collect::<Vec<_>>(),
        "steps_cut_off": told.faults,
        "left_out": not_looked_for(watched),
        "unchecked": report::unchecked(&missed(watched)),
        "warnings": warnings(),
        "stage": told.stage.name(),
        "sweeps": swept.map_or(0, |it| it.sweeps),
        "states_left": swept.map(|it| it.set),
        "shortened": told.shortened.map(report::shortened),
        "counterexample": run.map(|run| run.json(&watched.model.sources)),
    })
}
