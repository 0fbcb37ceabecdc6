//! The command line: reads flags, prints, sets exit codes. Nothing else does any of these.

mod again;
mod allocation;
mod args;
mod asking;
mod control;
mod doctor;
mod explain;
mod failure;
mod figures;
mod files;
mod finder;
mod fold;
mod foreign;
mod from;
mod further;
mod going;
mod graph;
mod http;
mod languages;
mod liveness;
mod model;
mod new;
mod notice;
mod only;
mod output;
mod page;
mod preparation;
mod progress;
mod questions;
mod reduce;
mod report;
mod run;
mod shell;
mod signals;
mod simulate;
mod slot_survey;
mod slots;
mod states;
mod status;
mod storage;
mod task;
mod temporary;
mod trace;
mod trail;
mod values;
mod watch;

pub use allocation::Allocator;

use crate::search::control::Phase;
use crate::session::{Contents, Directory, traced_in};
use args::{CheckArgs, Command, ResumeArgs, RunArgs, TraceArgs};
use failure::Failure;
use output::{print, print_json, say, warn, warnings};
use preparation::Preparation;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

/// What a command ends with.
type Ending = Result<u8, Failure>;

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    crate::search::return_large_blocks(0);
    signals::survive_file_limits();
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                return misunderstood(error);
            }
            // Help and version requests are no errors.
            print(&fold::folded(&error.render().to_string(), fold::COLUMNS));
            return ExitCode::from(ended(Ok(failure::VERIFIED), false));
        }
    };
    let as_json = match &cli.command {
        Command::Check(args) => args.run.json,
        Command::Resume(args) => args.run.json,
        Command::Status(args) => args.json,
        Command::Trace(args) => args.json,
        Command::Values(args) => args.json,
        Command::Completions(_)
        | Command::Doctor(_)
        | Command::Explain(_)
        | Command::Graph(_)
        | Command::Man(_)
        | Command::New(_)
        | Command::Report(_)
        | Command::Simulate(_)
        | Command::Task(_)
        | Command::Watch(_) => false,
    };
    let writes = match &cli.command {
        Command::Check(args) => Some((args.run.clone(), args.model.model.clone())),
        Command::Resume(args) => Some((args.run.clone(), args.dir.clone())),
        _ => None,
    };
    let _ = LAST_WORDS.set((as_json, writes));
    let ending = match cli.command {
        Command::Check(args) => check(&args),
        Command::Resume(args) => resume(&args),
        Command::Status(args) => status::status(&args),
        Command::Trace(args) => traced(&args),
        Command::Values(args) => values::values(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::New(args) => new::new(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Report(args) => report::report(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Simulate(args) => simulate::simulate(&args),
        Command::Task(args) => task::task(&args),
        Command::Watch(args) => watch::watch(&args),
    };
    ExitCode::from(end(ending))
}

/// How the command ends: whether an object is expected, and the files that tell of it, with the name of what was checked.
static LAST_WORDS: OnceLock<(bool, Option<(RunArgs, PathBuf)>)> = OnceLock::new();

/// Says how the command ended, and gives its exit code.
fn end(ending: Ending) -> u8 {
    let failure = ending.as_ref().err().cloned();
    let (as_json, writes) =
        LAST_WORDS.get().map_or((false, None), |(it, writes)| (*it, writes.as_ref()));
    let code = ended(ending, as_json);
    if let Some((failure, (args, name))) = failure.as_ref().zip(writes) {
        files::failed(args, name, failure);
    }
    notice::send(code, failure.as_ref().map(|it| it.message.as_str()));
    code
}

/// Ends the process with a failure, from whatever thread.
fn end_now(failure: &Failure) -> ! {
    std::process::exit(i32::from(end(Err(failure.clone()))))
}

/// Says what is wrong with the command line; where an object is expected, that says it, too.
fn misunderstood(error: clap::Error) -> ExitCode {
    let (error, help) = foreign::told(error);
    say(error.render().to_string().trim_end());
    help.iter().for_each(say);
    if std::env::args_os().any(|it| it == "--json") {
        let told = error.render().to_string();
        let help = help.map_or(String::new(), |it| format!("\n{it}"));
        print_failure(&format!("{}{help}", told.trim_end()), failure::WRONG);
    }
    ExitCode::from(failure::WRONG)
}

/// Prints a failure as an object.
fn print_failure(message: &str, code: u8) {
    let told = serde_json::json!({
        "error": message, "exit_code": code, "warnings": warnings(),
    });
    print_json(&format!("{told:#}\n"));
}

/// `spillway check`: of what is asked of runs, or of the property that the model brings with it, or else of what is to be
/// seen in states and steps.
fn check(args: &CheckArgs) -> Ending {
    notice::expect(&args.run, Some(&args.model.model), args.dir.as_deref());
    crate::search::return_large_blocks(args.run.means().memory);
    let mut args = args.clone();
    args.run.deadline = args.run.deadline();
    args.model.before.deadline = args.run.deadline;
    slots::growing(args, |args| &mut args.model, check_once)
}

/// The same with the slots for processes that are said.
fn check_once(args: &CheckArgs) -> Ending {
    if args.asked.mcc || args.asked.property_file.is_some() {
        return questions::check(args);
    }
    let preparation = Preparation::begin(&args.run);
    if let Some(wanted) = args.runs.property.wanted() {
        return liveness::check(args, wanted, preparation);
    }
    preparation.enter(Phase::Reading);
    let (model, warned) = model::open_quietly(&args.model)?;
    if let Some(name) = liveness::own(args, &model) {
        drop(model);
        return liveness::check_own(args, &name, preparation);
    }
    warned.iter().for_each(warn);
    run::check(args, model, preparation)
}

/// `spillway resume`.
fn resume(args: &ResumeArgs) -> Ending {
    notice::expect(&args.run, None, Some(&args.dir));
    let mut args = args.clone();
    args.run.deadline = args.run.deadline();
    loop {
        let failure = match resume_once(&args) {
            Err(failure) if failure.lacks_slots.is_some() => failure,
            ended => return ended,
        };
        let (directory, contents) = Directory::open(&args.dir, args.run.disk_limit)?;
        let room = slots::more(&contents.job.model(&args.dir)?, failure)?;
        directory.begin_anew(&contents.job.with_room(room)?)?;
    }
}

/// The same with the slots for processes that the search has.
fn resume_once(args: &ResumeArgs) -> Ending {
    let (directory, contents) = Directory::open(&args.dir, args.run.disk_limit)?;
    let run = args.run.after(directory.kept.clone(), &args.dir);
    let args = ResumeArgs { run, ..args.clone() };
    notice::expect_kept(&args.run);
    let preparation = Preparation::begin(&args.run);
    preparation.enter(Phase::Reading);
    crate::search::return_large_blocks(args.run.means().memory);
    for name in contents.job.changed() {
        say(format!(
            "note: {name} has changed since; the search goes on with the text that it began with"
        ));
    }
    match contents.job.runs() {
        None => run::resume(&args, (directory, contents), preparation),
        Some(_) => liveness::resume(&args, directory, contents, preparation),
    }
}

/// `spillway trace`.
fn traced(args: &TraceArgs) -> Ending {
    let dir = traced_in(&args.dir)?;
    let contents = Contents::read(&dir)?;
    match contents.job.runs() {
        None => trace::trace(args, (&dir, &contents.job), contents.saved),
        Some(_) => liveness::trace(args, &contents),
    }
}

/// Says what went wrong, a result that could not be written included; where an object is expected and none was printed, that
/// says it, too.
fn ended(ending: Ending, as_json: bool) -> u8 {
    let ending = match (ending, output::lost()) {
        (Ok(_), Some(why)) => {
            Err(Failure::wrong(format!("cannot write to standard output: {why}")))
        }
        (ending, _) => ending,
    };
    match ending {
        Ok(code) => code,
        Err(failure) => {
            say(&failure);
            if as_json && !output::is_begun() {
                print_failure(&failure.message, failure.code);
            }
            failure.code
        }
    }
}
