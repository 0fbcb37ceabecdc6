//! `check` and `resume`: one sitting of a search, from the directory to the exit code.

use super::args::{self, CheckArgs, ResumeArgs, RunArgs};
use super::directory::{Directory, Job};
use super::failure::{self, Failure};
use super::model::Model;
use super::progress::Display;
use super::signals::Signals;
use super::slots;
use super::{Ending, output, print, say, storage, trace};
use crate::exec::{Exec, Executor, Interp};
use crate::reduce::Refused;
use crate::report::{self, Report, Violation};
use crate::search::checkpoint::{DiskFigures, Saved};
use crate::search::comback::Rebuilt;
use crate::search::plan::TooSmall;
use crate::search::trace::{Counterexample, Finder};
use crate::search::visited::Part;
use crate::search::{Control, Limits, Outcome, Plan, Search, Storage, Verdict, return_free_blocks};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `spillway check`.
pub(super) fn check(args: &CheckArgs) -> Ending {
    let model = Model::open(&args.model)?;
    match slots::fewer(&model) {
        None => search_all(args, model),
        Some(options) => {
            let (fewer, _) = Model::load(model.language, model.sources.clone(), options)?;
            match begin(args, fewer, true)? {
                Ended::With(code) => Ok(code),
                Ended::OutOfSlots => {
                    say("more processes run than expected; searching with room for more");
                    search_all(args, model)
                }
            }
        }
    }
}

/// What a search came to that may have had too few slots for processes.
enum Ended {
    /// A verdict or a stop.
    With(u8),
    /// More processes than slots: it tells nothing.
    OutOfSlots,
}

fn search_all(args: &CheckArgs, model: Model) -> Ending {
    match begin(args, model, false)? {
        Ended::With(code) => Ok(code),
        Ended::OutOfSlots => unreachable!("such a search reports that there are too few slots"),
    }
}

fn begin(args: &CheckArgs, model: Model, may_lack_slots: bool) -> Result<Ended, Failure> {
    let (model, _) = model.in_key_order(args.key_order)?;
    let model = model.with_symmetry(args.symmetry.effort());
    let limits = args.limits();
    refuse_nothing(&model, &limits)?;
    let executor = executor(&model.interp, args.run.exec.into(), args.run.memory);
    let searched = model.searched_by(executor.model());
    for Refused { name, why } in searched.stack().refused() {
        say(format!("warning: {name} is left out: {why}"));
    }
    let (storage, width) = (storage::wanted(args, searched.model())?, searched.model().width());
    drop(searched);
    let plan = planned(&model, (width, &storage), &args.run, args::plan)?;
    storage::check_room(&storage, &plan, width)?;
    let job = Job::new(&model, &limits, &storage);
    let directory = Directory::create(args.dir.as_deref(), &job, args.run.disk_limit)?;
    let (model, executor, args) = (&model, &executor, &args.run);
    Sitting { model, executor, limits, storage, plan, directory, args }.run(None, may_lack_slots)
}

/// Refuses flags that leave nothing to look for: a verdict would say nothing.
fn refuse_nothing(model: &Model, limits: &Limits) -> Result<(), Failure> {
    let scope = model.scope(&limits.checks);
    if !scope.checked.is_empty() {
        return Ok(());
    }
    let why = match scope.impossible.is_empty() {
        true => "`--no-deadlock` takes back what `--only` asks for".to_owned(),
        false => scope.impossible.join(", "),
    };
    let (name, there) = (model.name(), scope.left_out.join(", "));
    Err(Failure::wrong(format!(
        "{name}: the flags leave nothing to check: {why}\n  help: leave `--only` out, or name what \
         the model has: {there}"
    )))
}

/// `spillway resume`.
pub(super) fn resume(args: &ResumeArgs) -> Ending {
    let (directory, job, saved) = Directory::open(&args.dir, args.run.disk_limit)?;
    let model = job.model(&args.dir)?;
    let limits = job.limits(args.run.max_states);
    let executor = executor(&model.interp, args.run.exec.into(), args.run.memory);
    let width = model.searched().model().width();
    let storage = job.storage(&args.dir, width)?;
    let plan = planned(&model, (width, &storage), &args.run, args::plan_again)?;
    let (model, executor, args) = (&model, &executor, &args.run);
    let sitting = Sitting { model, executor, limits, storage, plan, directory, args };
    match sitting.run(saved, false)? {
        Ended::With(code) => Ok(code),
        Ended::OutOfSlots => unreachable!("such a search reports that there are too few slots"),
    }
}

const MIB: u64 = 1 << 20;

/// Added to what reading a model took where that is told, as it is never quite the same.
const PEAK_SLACK_MIB: u64 = 2;

/// How often a least budget is tried and found too small, too, before one is named.
const MINIMA_TRIED: u32 = 3;

/// Kept free while a model is compiled, in bytes: what compiling takes is an estimate.
const BESIDE_COMPILING: u64 = 8 << 20;

/// The model ready to run. Compiling takes what the budget of `memory` bytes leaves: nothing else has
/// begun.
pub(super) fn executor(model: &Interp, exec: Exec, memory: u64) -> Executor<'_> {
    return_free_blocks();
    let _shown = Display::of_wait("compiling the model".into());
    let room = memory.saturating_sub(Plan::resident() + BESIDE_COMPILING);
    Executor::within(model, exec, room)
}

/// The most that reading and compiling the model took, and that writing its text to the search
/// directory will, which takes two copies more; in bytes.
fn taken_to_read(model: &Model) -> u64 {
    let text: usize = model.sources.iter().map(|file| file.text.len()).sum();
    Plan::peak_resident().max(Plan::resident() + 2 * text as u64)
}

/// How a budget is shared out, by its bytes, the threads asked for and the bytes of a key.
type Sharing = fn(u64, Option<u16>, usize) -> Result<Plan, TooSmall>;

/// Shares out the budget by `sharing`, called when the model is compiled: what is resident by then is
/// not there to be shared out. Where it is too small the one that is not is named: compiling takes
/// what a budget leaves, so that is tried.
fn planned(
    model: &Model,
    (width, storage): (usize, &Storage),
    args: &RunArgs,
    sharing: Sharing,
) -> Result<Plan, Failure> {
    let share = |budget| {
        let key = width + storage.saved().tag_bytes();
        beside_reading(sharing(budget, args.threads, key), budget, taken_to_read(model))
    };
    let TooSmall { budget, mut minimum } = match share(args.memory) {
        Ok(plan) => return Ok(plan),
        Err(error) => error,
    };
    for _ in 0..MINIMA_TRIED {
        let _compiled = executor(&model.interp, args.exec.into(), minimum);
        match share(minimum) {
            Ok(_) => break,
            Err(error) => minimum = error.minimum.max(minimum + MIB),
        }
    }
    let error = TooSmall { budget, minimum };
    Err(Failure::wrong(format!("{error}\n  help: give at least that much with --memory")))
}

/// What came of sharing out a budget; one that reading the model went beyond, to so many bytes, is
/// refused as well.
fn beside_reading(
    shared: Result<Plan, TooSmall>,
    budget: u64,
    taken: u64,
) -> Result<Plan, TooSmall> {
    let read = match taken <= budget {
        true => 0,
        false => (taken.div_ceil(MIB) + PEAK_SLACK_MIB) * MIB,
    };
    match shared {
        Ok(plan) if read == 0 => Ok(plan),
        Ok(_) => Err(TooSmall { budget, minimum: read }),
        Err(error) => {
            let minimum = error.minimum.max(read).div_ceil(MIB) * MIB;
            Err(TooSmall { minimum, ..error })
        }
    }
}

/// All that one run of the process needs to search.
struct Sitting<'a> {
    model: &'a Model,
    executor: &'a Executor<'a>,
    limits: Limits,
    storage: Storage,
    plan: Plan,
    directory: Directory,
    args: &'a RunArgs,
}

/// What a sitting came to.
struct Searched {
    outcome: Outcome,
    seconds: f64,
    disk: DiskFigures,
    parts: Vec<Part>,
    rebuilt: Option<Rebuilt>,
}

impl Sitting<'_> {
    /// Searches and tells the result, unless there were too few slots and there may be more.
    fn run(mut self, saved: Option<Saved>, may_lack_slots: bool) -> Result<Ended, Failure> {
        let deadline = self.args.max_time.and_then(|time| Instant::now().checked_add(time));
        let control = Arc::new(Control::new(self.args.checkpoint_every, deadline));
        let mut signals = Signals::stop(&control);
        stop_after(self.args.max_time, &control);
        let display = Display::of_search(&control, &self.directory.disk, self.args.json);
        let searched = self.search(saved, &control);
        drop(display);
        let searched = match searched {
            Ok(searched) => searched,
            Err(error) => {
                self.directory.keep();
                return Err(Failure::running(&self.directory.path, error));
            }
        };
        if may_lack_slots && slots::exceeded(self.model, &searched.outcome) {
            self.directory.discard();
            return Ok(Ended::OutOfSlots);
        }
        let code = match searched.outcome.verdict {
            Verdict::Verified => failure::VERIFIED,
            Verdict::Violated => failure::VIOLATED,
            Verdict::Incomplete => failure::STOPPED,
        };
        signals.end_with(code, &control);
        let stopped = searched.outcome.verdict == Verdict::Incomplete;
        if stopped {
            self.directory.keep();
        }
        let told = self.tell(&searched, &control);
        let dir = self.directory.path.display().to_string();
        if output::lost().is_some() {
            say(format!("the result is kept: `spillway status {dir}` and `trace` show it"));
            self.directory.keep();
        } else if stopped && searched.outcome.levels.is_empty() {
            say(format!(
                "stopped before the first level was complete; `spillway resume {dir}` begins anew"
            ));
        } else if stopped {
            say(format!("stopped at a checkpoint; `spillway resume {dir}` goes on"));
        }
        told?;
        Ok(Ended::With(code))
    }

    fn search(&self, saved: Option<Saved>, control: &Control) -> spill::Result<Searched> {
        let disk = self.directory.disk.clone();
        let searched = self.model.searched_by(self.executor.model());
        let (model, limits) = (searched.model(), self.limits.clone());
        let mut search = match saved {
            None => {
                let storage = self.storage.clone();
                Search::begin_stored(model, disk, self.plan, limits, control, storage)?
            }
            Some(saved) => Search::resume(model, disk, saved, self.plan, limits, control)?,
        };
        let outcome = search.run()?;
        let (seconds, disk) = (search.seconds(), search.disk_figures());
        let (parts, rebuilt) = (search.store().parts(), search.store().rebuilt());
        Ok(Searched { outcome, seconds, disk, parts, rebuilt })
    }

    /// Prints the result and, if there is one, the counterexample. That is found first, so that the
    /// result tells of the memory it took.
    fn tell(&mut self, searched: &Searched, control: &Control) -> Result<(), Failure> {
        let (model, executor) = (self.model, self.executor);
        let run = model.searched_by(executor.model());
        let disk = self.directory.disk.clone();
        let folder = self.directory.path.clone();
        let finder = Finder {
            model: run.model(),
            disk: &*disk,
            threads: self.plan.threads,
            control,
            folder: Some(&folder),
        };
        let violated = searched.outcome.verdict == Verdict::Violated && !self.args.json;
        let shown = if violated { self.first_violation(&finder)? } else { None };
        if violated && shown.is_none() {
            self.directory.keep();
        }
        self.report(searched);
        match shown {
            Some((violation, way)) => {
                print("\n");
                report::write_trace(&model.sources, &violation, &way, &mut |it| {
                    print(it);
                });
            }
            None if violated => {
                let dir = folder.display();
                say(format!(
                    "stopped before the counterexample was found; `spillway trace {dir}` finds it"
                ));
            }
            None => {}
        }
        Ok(())
    }

    /// The shallowest violation and the way there; nothing if told to stop.
    fn first_violation<'f>(
        &self,
        finder: &Finder<'f>,
    ) -> Result<Option<(Violation, Counterexample<'f>)>, Failure> {
        let Sitting { model, limits, directory: Directory { path, disk, .. }, .. } = self;
        let saved = Saved::load(&**disk).map_err(|error| Failure::opening(path, error))?;
        let found = trace::violations(model, &model.searched(), limits, &saved, path)?;
        let Some(violation) = found.into_iter().next() else { return Ok(None) };
        let way = trace::find(finder, &saved, violation.check, path)?;
        Ok(way.map(|way| (violation, way)))
    }

    /// Prints the result.
    fn report(&self, searched: &Searched) {
        let Sitting { model, executor, directory, limits, .. } = self;
        let Searched { outcome, seconds, disk, parts, rebuilt } = searched;
        let reduced = model.searched();
        let report = Report {
            model_name: model.name(),
            language: model.language.name,
            key_order: model.key_order(),
            store: self.storage.name(),
            parts,
            rebuilt: *rebuilt,
            compiled: Some(executor.compiled()),
            model: reduced.model(),
            reductions: reduced.stack().reductions(),
            claim: model.claim().map(|claim| claim.name()),
            sources: &model.sources,
            limits,
            scope: &model.scope(&limits.checks),
            outcome,
            seconds: *seconds,
            peak_rss_bytes: Plan::peak_resident(),
            disk: *disk,
            store_bytes: directory.disk.usage().live,
            dir: (!directory.is_temporary()).then(|| directory.path.display().to_string()),
        };
        match self.args.json {
            true => print(&format!("{:#}\n", report::result(&report))),
            false => print(&report::print_result(&report)),
        }
    }
}

/// Asks for a stop when the time is up, wherever the search then is.
fn stop_after(time: Option<Duration>, control: &Arc<Control>) {
    let Some(time) = time else { return };
    let control = Arc::downgrade(control);
    // Without a thread the search looks at the clock itself, if less often.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(time);
        control.upgrade().inspect(|control| control.stop());
    });
}
