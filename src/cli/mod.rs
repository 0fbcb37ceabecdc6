//! The command line: it reads flags, prints, and sets exit codes. No other module does any of these.

mod allocation;
mod args;
mod breakpoints;
mod collector;
mod color;
mod command;
mod control;
mod doctor;
#[cfg(feature = "editors")]
mod editors;
#[cfg(not(feature = "editors"))]
#[path = "no_editors.rs"]
mod editors;
mod explain;
#[cfg(feature = "http")]
mod explore;
#[cfg(not(feature = "http"))]
#[path = "no_explore.rs"]
mod explore;
#[cfg(any(feature = "editors", feature = "http"))]
mod explored_input;
mod explored_trace;
mod expression_watch;
mod failure;
mod foreign_flags;
mod graph;
#[cfg(feature = "http")]
mod http;
mod hunt;
mod languages;
mod line_wrap;
mod liveness;
mod model;
mod model_digest;
mod model_walk;
mod new;
mod next_commands;
mod notify;
mod output;
mod path_export;
mod preparation;
mod progress;
mod properties;
mod quantities;
mod questions;
mod reachable_graph;
mod reduce;
mod report;
mod report_page;
mod result_files;
mod run;
mod run_status;
mod shell;
mod signals;
mod simulate;
mod slot_survey;
mod slots;
mod specification;
#[cfg(feature = "http")]
mod state_goal;
mod state_space_queries;
mod status;
mod stdio_origin;
mod storage;
mod sweep;
mod task;
mod temporary_searches;
mod trace;
mod trace_difference;
mod trace_evaluation;
mod trace_finder;
mod trace_position;
mod trail;
mod unbuilt_outputs;
mod values;
mod variable_filter;
mod watch;

pub use allocation::ExitingAllocator;

use crate::search::control::SearchPhase;
use crate::session::{
    CheckConfig, CheckPlan, DirectoryContents, PlannedSearch, SavedCheck, SavedLimits,
    SearchDirectory, SearchOutputs, trace_directory,
};
use args::{CheckArgs, Cli, CliCommand, ParsedCommandLine, ResumeArgs, SessionArgs, TraceArgs};
use command::{CheckCommand, ResumeCommand, SessionOptions};
use failure::CommandFailure;
use output::{print, print_json, say, warn, warnings};
use preparation::SearchPreparation;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// The exit code of a command, or its failure.
type CommandResult = Result<u8, CommandFailure>;

/// Runs the command of this process.
pub fn run() -> ExitCode {
    crate::search::return_large_blocks(0);
    signals::survive_file_limits();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let as_json = match &cli.command {
        CliCommand::Check(args) => args.run.shown.json,
        CliCommand::Hunt(args) => args.shown.json,
        CliCommand::Resume(args) => args.run.shown.json,
        CliCommand::Status(args) => args.json,
        CliCommand::Sweep(args) => args.check.run.shown.json,
        CliCommand::Trace(args) => args.json,
        CliCommand::Values(args) => args.json,
        CliCommand::Completions(_)
        | CliCommand::Dap(_)
        | CliCommand::Doctor(_)
        | CliCommand::Explain(_)
        | CliCommand::Explore(_)
        | CliCommand::Graph(_)
        | CliCommand::Lsp(_)
        | CliCommand::Man(_)
        | CliCommand::New(_)
        | CliCommand::Report(_)
        | CliCommand::Simulate(_)
        | CliCommand::Task(_)
        | CliCommand::Watch(_) => false,
    };
    let writes = match &cli.command {
        CliCommand::Check(args) => Some((outputs_of(&args.run), args.model.model.clone())),
        CliCommand::Resume(args) => Some((outputs_of(&args.run), args.dir.clone())),
        _ => None,
    };
    let _ = LAST_WORDS.set((as_json, writes));
    let ending = match cli.command {
        CliCommand::Check(args) => check(&args),
        CliCommand::Hunt(args) => hunt::hunt(&args),
        CliCommand::Resume(args) => resume(&args),
        CliCommand::Status(args) => status::status(&args),
        CliCommand::Sweep(args) => sweep::sweep(&args),
        CliCommand::Trace(args) => trace_command(&args),
        CliCommand::Values(args) => values::values(&args),
        CliCommand::Completions(args) => shell::completions(&args),
        CliCommand::Man(args) => shell::man(&args),
        CliCommand::Doctor(args) => doctor::doctor(&args),
        CliCommand::New(args) => new::new(&args),
        CliCommand::Explore(args) => explore::explore(&args),
        CliCommand::Dap(args) => editors::dap(&args),
        CliCommand::Graph(args) => graph::graph(&args),
        CliCommand::Lsp(args) => editors::lsp(&args),
        CliCommand::Report(args) => report::report(&args),
        CliCommand::Explain(args) => explain::explain(&args),
        CliCommand::Simulate(args) => simulate::simulate(&args),
        CliCommand::Task(args) => task::task(&args),
        CliCommand::Watch(args) => watch::watch(&args),
    };
    ExitCode::from(end(ending))
}

/// Parses the command line, and warns of former flags. The error is the exit code, if the command line is invalid or asks
/// for help only.
fn parse() -> Result<Cli, ExitCode> {
    let error = match args::parse() {
        Ok(ParsedCommandLine { cli, former }) => {
            former.iter().for_each(|it| warn(format!("warning: {} is now {}", it.flag, it.option)));
            return Ok(cli);
        }
        Err(error) => error,
    };
    if error.use_stderr() {
        return Err(report_usage_error(error));
    }
    // Requests for help and the version are not errors.
    let text = args::requested_text(&error);
    print(&line_wrap::wrap_lines(&text, line_wrap::DEFAULT_COLUMNS));
    Err(ExitCode::from(report_result(Ok(failure::VERIFIED), false)))
}

/// Returns the output files of some flags.
fn outputs_of(args: &SessionArgs) -> SearchOutputs {
    let mut config = CheckConfig::default();
    args.apply(&mut config);
    config.output
}

/// How the command reports its end: whether as a JSON object, and the output files with the name of the model.
static LAST_WORDS: OnceLock<(bool, Option<(SearchOutputs, PathBuf)>)> = OnceLock::new();

/// Reports the end of the command, and returns its exit code.
fn end(ending: CommandResult) -> u8 {
    let failure = ending.as_ref().err().cloned();
    let (as_json, writes) =
        LAST_WORDS.get().map_or((false, None), |(it, writes)| (*it, writes.as_ref()));
    let code = report_result(ending, as_json);
    if let Some((failure, (outputs, name))) = failure.as_ref().zip(writes) {
        result_files::write_failure(outputs, name, failure);
    }
    notify::send(code, failure.as_ref().map(|it| it.message.as_str()));
    code
}

/// Ends the process with a failure, from any thread.
fn end_now(failure: &CommandFailure) -> ! {
    std::process::exit(i32::from(end(Err(failure.clone()))))
}

/// Reports an invalid command line, as a JSON object too if one is expected.
fn report_usage_error(error: clap::Error) -> ExitCode {
    let (error, help) = foreign_flags::with_foreign_help(error);
    say(error.render().to_string().trim_end());
    help.iter().for_each(say);
    if std::env::args_os().any(|it| it == "--json") {
        let told = error.render().to_string();
        let help = help.map_or(String::new(), |it| format!("\n{it}"));
        print_failure(&format!("{}{help}", told.trim_end()), failure::WRONG);
    }
    ExitCode::from(failure::WRONG)
}

/// Prints a failure as a JSON object.
fn print_failure(message: &str, code: u8) {
    let told = serde_json::json!({
        "error": message, "exit_code": code, "warnings": warnings(),
    });
    print_json(&format!("{told:#}\n"));
}

/// `spillway check`: checks the selected temporal properties, or else the model's own one, or else safety properties.
fn check(args: &CheckArgs) -> CommandResult {
    let mut command = CheckCommand::new(args)?;
    // A port that is in use is reported before the check begins.
    let listener = args.explore.map(explore::listen).transpose()?;
    let kept_trace = command.run.kept_trace.clone();
    notify::set_command(&command.run, Some(&command.model.path), command.dir.as_deref());
    crate::search::return_large_blocks(command.run.limits.memory);
    command.run.deadline = command.run.deadline();
    command.model.deadline = command.run.deadline;
    let code = slots::retry_with_more_slots(command, |it| &mut it.model, check_once)?;
    match listener.zip(kept_trace.and_then(|it| it.take())) {
        None => Ok(code),
        Some((listener, explored)) => {
            // A signal ends the explorer, and the process with it.
            notify::send(code, None);
            explore::serve(&explored, listener, code)
        }
    }
}

/// Checks with the given slots for processes.
fn check_once(command: &CheckCommand) -> CommandResult {
    if command.questions.mcc || command.questions.property_file.is_some() {
        return questions::check(command);
    }
    let preparation = SearchPreparation::begin(&command.run);
    preparation.enter(SearchPhase::Reading);
    if model::is_specification(&command.model)? {
        return specification::check(command, preparation);
    }
    let properties = &command.config.properties;
    // If there is one property, the model is read together with it.
    if let (Some(wanted), false) = (command.property(), properties.are_several()) {
        return liveness::check(command, wanted.request(), preparation);
    }
    let (model, warned) = model::open_quietly(&command.model)?;
    let plan = CheckPlan::of(&command.config, &model)?;
    match &plan.searches[..] {
        [PlannedSearch { property: Some(property), .. }] => {
            drop(model);
            return liveness::check(command, property.request(), preparation);
        }
        [_] => {}
        _ => {
            drop(preparation);
            return properties::check(command, &plan, &model);
        }
    }
    if let Some(name) = liveness::default_property(command, &model) {
        drop(model);
        return liveness::check_default_property(command, &name, preparation);
    }
    warned.iter().for_each(warn);
    run::check(command, model, preparation)
}

/// `spillway resume`.
fn resume(args: &ResumeArgs) -> CommandResult {
    let run = SessionOptions::resumed(&args.run, None, &args.dir);
    unbuilt_outputs::reject_unbuilt(&run.outputs)?;
    notify::set_command(&run, None, Some(&args.dir));
    let deadline = run.deadline();
    if let Some(saved) = SavedCheck::load(&args.dir)? {
        let limits = SavedLimits::new(saved.config().limits, SearchOutputs::default());
        let run = SessionOptions::resumed(&args.run, Some(&limits), &args.dir);
        return properties::resume(&saved, &args.dir, SessionOptions { deadline, ..run });
    }
    let disk_limit = run.limits.disk_limit;
    retry_resume_with_more_slots(&args.dir, disk_limit, || {
        let previous = SearchDirectory::open(&args.dir, disk_limit)?.0.previous_limits.clone();
        let run = SessionOptions::resumed(&args.run, previous.as_ref(), &args.dir);
        unbuilt_outputs::reject_unbuilt(&run.outputs)?;
        resume_once(&ResumeCommand {
            dir: args.dir.clone(),
            run: SessionOptions { deadline, ..run },
        })
    })
}

/// Resumes one search of a check.
fn resume_search(dir: &Path, run: SessionOptions) -> CommandResult {
    let disk_limit = run.limits.disk_limit;
    let command = ResumeCommand { dir: dir.to_path_buf(), run };
    retry_resume_with_more_slots(dir, disk_limit, || resume_once(&command))
}

/// Resumes a search, and restarts it with more slots whenever a process lacks one.
fn retry_resume_with_more_slots(
    dir: &Path,
    disk_limit: Option<u64>,
    resume: impl Fn() -> CommandResult,
) -> CommandResult {
    loop {
        let failure = match resume() {
            Err(failure) if failure.lacks_slots.is_some() => failure,
            ended => return ended,
        };
        let (directory, contents) = SearchDirectory::open(dir, disk_limit)?;
        let room = slots::more(&contents.job.model(dir)?, failure)?;
        directory.restart(&contents.job.with_slots(room)?)?;
    }
}

/// Resumes a search with its slots for processes.
fn resume_once(command: &ResumeCommand) -> CommandResult {
    let (directory, contents) = SearchDirectory::open(&command.dir, command.run.limits.disk_limit)?;
    notify::set_kept_command(&command.run);
    let preparation = SearchPreparation::begin(&command.run);
    preparation.enter(SearchPhase::Reading);
    crate::search::return_large_blocks(command.run.limits.memory);
    for name in contents.job.changed() {
        say(format!("note: {name} has changed; the search resumes with its original text"));
    }
    match contents.job.runs() {
        None if contents.job.is_of_specification() => {
            run::resume_specification(command, directory, contents, preparation)
        }
        None => run::resume(command, directory, contents, preparation),
        Some(_) => liveness::resume(command, directory, contents, preparation),
    }
}

/// `spillway trace`.
fn trace_command(args: &TraceArgs) -> CommandResult {
    let dir = trace_directory(&args.dir)?;
    if let Some(other) = &args.diff {
        return trace_difference::compare(args, &dir, other);
    }
    let contents = DirectoryContents::read(&dir)?;
    if !args.eval.is_empty() {
        return trace_evaluation::evaluate(args, &dir, &contents);
    }
    match contents.job.runs() {
        None => trace::trace(args, &dir, &contents.job, contents.saved),
        Some(_) => liveness::trace(args, &contents),
    }
}

/// Reports a failure, including a result that could not be written. If a JSON object is expected and none was printed,
/// the failure is printed as an object too.
fn report_result(ending: CommandResult, as_json: bool) -> u8 {
    let ending = match (ending, output::write_error()) {
        (Ok(_), Some(why)) => {
            Err(CommandFailure::wrong(format!("cannot write to standard output: {why}")))
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
