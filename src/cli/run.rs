//! `check` and `resume`: one sitting of a search, from the directory to the exit code.

use super::again::{self, Found};
use super::args::{CheckArgs, CheckKind, ModelArgs, ResumeArgs, RunArgs, RunsArgs};
use super::failure::{self, Failure};
use super::further::{self, Answered};
use super::notice;
use super::output::stopped_early;
use super::page::Shown;
use super::preparation::Preparation;
use super::progress::{self, Display};
use super::signals::Signals;
use super::trail::Written;
use super::{
    Ending, figures, files, output, print, print_json, reduce, say, storage, trail, warn, warnings,
};
use crate::escape;
use crate::exec::{Executor, Interp};
use crate::reduce::Refused;
use crate::report::{self, Report, ViolationReport};
use crate::search::checkpoint::Saved;
use crate::search::control::Phase;
use crate::search::trace::Counterexample;
use crate::search::{Control, Verdict};
use crate::session::{
    Budget, Contents, Directory, Job, Session, TextModel, Unreduced, check_room, refuse_nothing,
};
use std::sync::Arc;

/// `spillway check` of what is to be seen in states and steps.
pub(super) fn check(args: &CheckArgs, model: TextModel, preparation: Preparation) -> Ending {
    if let Some(flag) = args.runs.given() {
        let why = format!("{flag} is for searches that ask about whole runs");
        let help = "--ltl, --automaton, --acceptance and --non-progress ask about them";
        return Err(Failure::wrong(format!("{why}\n  help: {help}")));
    }
    check_but((args, None), model, preparation)
}

/// The same of errors in steps alone, where every run that meets none is known to have the property of this name.
pub(super) fn check_errors(
    args: &CheckArgs,
    known: &str,
    is_dir_taken: bool,
    control: Arc<Control>,
) -> Ending {
    let preparation = Preparation::again(&args.run, control);
    let args = CheckArgs {
        model: ModelArgs { no_claim: true, ..args.model.clone() },
        runs: RunsArgs::default(),
        dir: args.dir.clone().filter(|_| !is_dir_taken),
        only: vec![CheckKind::Assert, CheckKind::Error],
        ..args.clone()
    };
    // What there is to warn of in it was told before.
    preparation.enter(Phase::Reading);
    let (model, _) = super::model::open_quietly(&args.model)?;
    check_but((&args, Some(known)), model, preparation)
}

/// How a search is begun, and a property of the model that is known to hold.
type Begun<'a> = (&'a CheckArgs, Option<&'a str>);

fn check_but((args, known): Begun<'_>, model: TextModel, preparation: Preparation) -> Ending {
    let wanted = reduce::wanted(&args.reductions, args.keep_going)?;
    let (model, _) = model.in_key_order(args.key_order.into(), &preparation.control)?;
    let limits = args.limits();
    let mut about = model.about(&limits);
    known.into_iter().for_each(|name| about.scope.know(name));
    refuse_nothing(&about)?;
    trail::refuse(args.run.spin_trail.as_deref(), &model)?;
    let budget = Budget { counts: limits.coverage, ..args.run.budget(false) };
    let by = wanted.rewritings.looking_for(limits.checks);
    let analysis = preparation.analysis_budget();
    let runs = model.runnable(by, &analysis, |it| preparation.executor(it, budget));
    let again = args.shortest.then(|| runs.clone());
    let storage = storage::untrained(args);
    let control = &preparation.control;
    let searched = model.reduced(runs, wanted, (&limits, &storage), control, &analysis);
    reduce::refuse_store(args, &searched)?;
    for Refused { name, why } in searched.stack().refused() {
        warn(format!("warning: {name} is left out: {why}"));
    }
    reduce::useless(args, &searched).iter().for_each(|it| warn(format!("warning: {it}")));
    let storage = storage::wanted(args, searched.model(), &preparation)?;
    let width = searched.model().width();
    let plan = budget.plan(&model, storage.stored_width(searched.model()))?;
    check_room(&storage, &plan, width)?;
    let job = Job::new(&model, &searched, &limits, &storage);
    let wished = searched.wished();
    let stored = (&limits, &storage);
    let unreduced = again.map(|runs| model.unreduced(runs, wished, stored, &analysis));
    let (control, signals) = preparation.end();
    let directory = Directory::create(args.dir.as_deref(), &job, args.run.disk_limit)?;
    notice::searched_in(&directory.path);
    directory.keep_means(&args.run.means())?;
    let session = Session::new(searched, about, limits, (storage, plan), directory);
    let sitting = Sitting::new(&model, session, (&args.run, control), unreduced);
    sitting.run(None, true, signals)
}

/// `spillway resume`, in a directory with its job and its last checkpoint.
pub(super) fn resume(
    args: &ResumeArgs,
    (directory, contents): (Directory, Contents),
    preparation: Preparation,
) -> Ending {
    let Contents { ref job, saved, .. } = contents;
    let model = job.model(&args.dir)?;
    trail::refuse(args.run.spin_trail.as_deref(), &model)?;
    let limits = job.limits(args.run.max_states);
    let budget = Budget { counts: limits.coverage, ..args.run.budget(true) };
    let about = model.about(&limits);
    // What was applied when the search began is applied again, whatever the memory budget is now.
    let largest = preparation.largest_budget();
    let executor = |it| preparation.executor(it, budget);
    let runs = model.runnable(job.rewritings(), &largest, executor);
    let storage = job.storage(&args.dir, model.searched().model().width())?;
    preparation.go_on()?;
    let again = job.wants_shortest().then(|| runs.clone());
    let searched = match job.undecided() {
        None => model.searched_by(runs, &largest),
        Some(reduce) => {
            let (control, analysis) = (&preparation.control, preparation.analysis_budget());
            let searched = model.reduced(runs, reduce, (&limits, &storage), control, &analysis);
            directory.decide(&Job::new(&model, &searched, &limits, &storage))?;
            searched
        }
    };
    // Before it was decided nothing was searched.
    let saved = saved.filter(|_| job.undecided().is_none());
    if saved.as_ref().is_some_and(|it| it.verdict != 0) && !job.wants_shortest() {
        say_ended();
    }
    let plan = budget.plan(&model, storage.stored_width(searched.model()))?;
    directory.keep_changed_means(&args.run.means())?;
    let (wished, stored) = (searched.wished(), (&limits, &storage));
    let unreduced = again.map(|runs| model.unreduced(runs, wished, stored, &largest));
    let (control, signals) = preparation.end();
    let session = Session::new(searched, about, limits, (storage, plan), directory);
    let sitting = Sitting::new(&model, session, (&args.run, control), unreduced);
    sitting.run(saved, false, signals)
}

/// Says that there is nothing left to search.
pub(super) fn say_ended() {
    notice::ended_before();
    say("note: this search has come to its end before; this is what it found");
}

/// The model ready to run to look at a search, in what of a budget is free.
pub(super) fn executor(model: &Interp, budget: Budget) -> Executor<'_> {
    let _shown = Display::of_wait("compiling the model".into());
    budget.executor(model)
}

/// A session, and those it is told to.
struct Sitting<'a> {
    model: &'a TextModel,
    session: Session<'a>,
    args: &'a RunArgs,
    control: Arc<Control>,
    /// For a search for a shorter counterexample, if that is wanted.
    unreduced: Option<Unreduced<'a>>,
    /// What is asked beside conditions on states.
    answered: Answered,
}

impl<'a> Sitting<'a> {
    fn new(
        model: &'a TextModel,
        session: Session<'a>,
        (args, control): (&'a RunArgs, Arc<Control>),
        unreduced: Option<Unreduced<'a>>,
    ) -> Self {
        Sitting { model, session, args, control, unreduced, answered: Answered::default() }
    }

    /// Searches and tells the result. Where there were too few slots, nothing is left of a search that is new.
    fn run(mut self, saved: Option<Saved>, is_new: bool, mut signals: Signals) -> Ending {
        let control = self.control.clone();
        let directory = &self.session.directory;
        let note = progress::note(directory);
        let display = Display::of_search(&control, directory, self.args, note);
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
            Verdict::Verified => failure::VERIFIED,
            Verdict::Violated => failure::VIOLATED,
            Verdict::Incomplete => failure::STOPPED,
        };
        signals.end_with(code, &control);
        let of = (&self.session, self.model);
        self.answered = further::answer(self.args, of, &outcome, &control)?;
        if outcome.verdict != Verdict::Incomplete {
            self.session.directory.remove_if_temporary();
        }
        if outcome.verdict == Verdict::Violated {
            self.shorten(&control);
        }
        let stopped = outcome.verdict == Verdict::Incomplete;
        if stopped {
            self.session.directory.keep();
        }
        let is_whole = self.session.scope().unchecked.is_empty();
        let code = further::worst(code, &self.answered.further);
        let told = self.tell(outcome.verdict, &control);
        self.say_what_is_kept(stopped, outcome.levels.is_empty());
        told?;
        Ok(judge(self.args.strict, code, is_whole))
    }

    /// What is told of the search.
    fn told(&self) -> Option<Report<'_>> {
        let report = self.session.report()?;
        let found = Found::of(&report).filter(|_| report.verdict() == Verdict::Violated);
        let (model, dir) = (self.model, report.dir.clone());
        let commands = |found| again::commands(model, found, dir.as_deref(), Some(self.args));
        let next = found.map(commands).unwrap_or_default();
        Some(Report { further: self.answered.further.clone(), next, ..report })
    }

    /// Searches for a shorter counterexample, if that is wanted. Where that does not come to its end, what was
    /// found stands.
    fn shorten(&mut self, control: &Arc<Control>) {
        let Some(unreduced) = self.unreduced.take() else { return };
        let display = Display::of_search(control, &self.session.directory, self.args, None);
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
            say(format!("`spillway resume {dir}` goes on to look for a shorter counterexample"));
        }
    }

    /// Says what is left in the search directory, where there is something to do with it.
    fn say_what_is_kept(&mut self, stopped: bool, at_the_start: bool) {
        let dir = escape::shell_path(&self.session.directory.path);
        if output::lost().is_some() {
            say(format!("the result is kept: `spillway status {dir}` and `trace` show it"));
            self.session.directory.keep();
        } else if stopped && at_the_start {
            say(stopped_early(&dir));
        } else if stopped {
            say(format!("stopped at a checkpoint; `spillway resume {dir}` goes on"));
        }
        if stopped {
            say_where(&self.session.directory);
        }
    }

    /// Prints the counterexample, if there is one, and then the result, which is what stays on the screen.
    fn tell(&mut self, verdict: Verdict, control: &Control) -> Result<(), Failure> {
        let RunArgs { json, no_trace, ref spin_trail, .. } = *self.args;
        let is_wanted = !no_trace || spin_trail.is_some() || self.args.writes_results();
        let violated = verdict == Verdict::Violated && is_wanted;
        let shown = match violated {
            true => self.session.counterexample(control)?,
            false => None,
        };
        let written = spin_trail.as_deref().zip(shown.as_ref());
        let written = written
            .map(|(path, (_, way))| trail::write_of_way(path, self.model, way))
            .transpose()?;
        let ending = shown.as_ref().filter(|_| !no_trace && !json);
        let ending = ending.map(|(violation, way)| self.show(violation, way));
        let has_a_way = |it: &ViolationReport| it.has_a_way();
        let found = self.session.report().map_or(Vec::new(), |it| it.violations());
        let is_missed = violated && shown.is_none() && found.iter().any(has_a_way);
        if let Some(report) = self.told() {
            notice::summarise(|| report::print_result(&report, ending.as_ref(), false));
            match json {
                true => print_as_json(&report, shown.as_ref().filter(|_| !no_trace)),
                false => self.report(&report, ending.as_ref()),
            }
        }
        let filed = self.write_files(shown.as_ref());
        drop(shown);
        written.into_iter().for_each(Written::say);
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

    /// Writes the files that are wanted.
    fn write_files(&self, shown: Option<&Shown<'_>>) -> Result<(), Failure> {
        let Some(report) = self.told() else { return Ok(()) };
        let is_open = report.outcome.verdict == Verdict::Incomplete;
        let note = is_open.then_some("The search was stopped; what is told is how far it came.");
        let of = (self.model, self.session.directory.path.as_path());
        files::write(self.args, &report, of, shown, note)
    }

    /// Prints the counterexample.
    fn show(&self, violation: &ViolationReport, way: &Counterexample) -> report::Ending {
        let sources = &self.model.sources;
        let (view, ending) = (self.args.view(), report::Ending::of(violation, way, sources));
        report::write_trace((sources, &view), &ending, way, &mut |it| print(it));
        print("\n");
        ending
    }

    /// Prints the result, behind the counterexample that ends so, if one is shown.
    fn report(&self, report: &Report, ending: Option<&report::Ending>) {
        print(&match (self.args.mcc, self.args.asks_space) {
            (false, _) => report::print_result(report, ending, self.args.verbose),
            (true, false) => report::contest_lines(report),
            (true, true) => report::contest_space(report, self.answered.tokens),
        });
    }
}

/// Says where a search that was stopped is kept, if nobody said where, and how to be rid of it.
pub(super) fn say_where(directory: &Directory) {
    if directory.is_unnamed() {
        let (dir, bytes) = (directory.path.display(), directory.disk.usage().live);
        say(format!(
            "note: {dir} keeps it, {}; `spillway status --all --clean` removes what is a week old",
            figures::size(bytes)
        ));
    }
}

/// The exit code of a search of a model that ends with `code`; what it did not check is told where it counts.
pub(super) fn judge(strict: bool, code: u8, is_whole: bool) -> u8 {
    if !strict || code != failure::VERIFIED || is_whole {
        return code;
    }
    say("with --strict what is NOT checked counts as violated");
    failure::VIOLATED
}

/// Prints a result as an object, with the counterexample.
fn print_as_json(report: &Report, shown: Option<&(ViolationReport, Counterexample)>) {
    report::write_json_result((report, &warnings()), shown, &mut |it| print_json(it));
}
