//! `task`: a search in parts by several processes. The output of each command is for programs.

use super::args::{TaskArgs, TaskCommand, TaskRequest};
use super::failure::{self, CommandFailure};
use super::stdio_origin::{InputLine, StdioOrigin, read_line};
use super::{CommandResult, print_json};
use crate::search::checkpoint::SavedSearch;
use crate::search::tasks::{NextWork, PlanOutcome, ReceiptFault, SharingOptions};
use crate::session::{SharedSearch, TaskRunner};
use clap::Parser as _;
use serde_json::{Value, json};
use spill::RemoteOrigin;
use std::path::Path;
use std::sync::Arc;

/// The response to a request.
type TaskReply = Result<Value, CommandFailure>;

/// `spillway task`.
pub(super) fn task(args: &TaskArgs) -> CommandResult {
    let (dir, request, memory) = match &args.command {
        TaskCommand::Plan { dir, what } => (dir, TaskRequest::Plan(*what), 0),
        TaskCommand::Run { dir, what, within } => {
            (dir, TaskRequest::Run(what.clone()), within.memory)
        }
        TaskCommand::Commit { dir, what } => (dir, TaskRequest::Commit(what.clone()), 0),
        TaskCommand::Serve { dir, within, asks } => {
            let origin: Option<Arc<dyn RemoteOrigin>> =
                if *asks { Some(Arc::new(StdioOrigin)) } else { None };
            return serve(dir, within.memory, origin.as_ref());
        }
    };
    let shared = SharedSearch::open(dir, None)?;
    let told = execute(&shared.tasks(memory), &request)?;
    print_json(&format!("{told}\n"));
    Ok(failure::VERIFIED)
}

/// Answers lines until there are no more.
fn serve(dir: &Path, memory: u64, origin: Option<&Arc<dyn RemoteOrigin>>) -> CommandResult {
    let next =
        || read_line().map_err(|error| CommandFailure::wrong(format!("standard input: {error}")));
    let mut asked = next()?;
    while asked.is_some() {
        let shared = SharedSearch::open(dir, origin.cloned())?;
        let tasks = shared.tasks(memory);
        // A line after which the directory has another search belongs to that search.
        while let Some(line) = asked.take_if(|_| !shared.has_changed().unwrap_or(true)) {
            print_json(&format!("{}\n", answer_line(&tasks, line)));
            asked = next()?;
        }
    }
    Ok(failure::VERIFIED)
}

/// Returns the response to a line. An unreadable line does not end the process.
fn answer_line(tasks: &TaskRunner<'_>, line: InputLine) -> Value {
    let read = |line: String| {
        TaskRequest::try_parse_from(line.split_whitespace()).map_err(|error| {
            let message = error.to_string().trim().to_owned();
            CommandFailure::of_code(failure::WRONG, message)
        })
    };
    let line = line.map_err(|why| CommandFailure::wrong(format!("standard input: {why}")));
    let request = line.and_then(read);
    match request.and_then(|it| execute(tasks, &it)) {
        Ok(told) => {
            let mut answer = json!({"code": failure::VERIFIED});
            add(&mut answer, told);
            answer
        }
        Err(CommandFailure { code, message, .. }) => json!({"code": code, "error": message}),
    }
}

fn execute(tasks: &TaskRunner<'_>, request: &TaskRequest) -> TaskReply {
    match request {
        TaskRequest::Plan(what) => {
            plan(tasks, SharingOptions { tasks: what.tasks, thin: what.thin })
        }
        TaskRequest::Run(what) => run(tasks, &what.plan, what.task),
        TaskRequest::Commit(what) => commit(tasks, &what.plan),
    }
}

fn plan(tasks: &TaskRunner<'_>, wanted: SharingOptions) -> TaskReply {
    let (next, saved) = tasks.next(wanted)?;
    let mut told = match next {
        NextWork::Tasks(plan) => {
            json!({"phase": plan.phase.name(), "plan": plan.id(), "tasks": plan.tasks()})
        }
        NextWork::Search(states) => json!({"phase": "search", "max_states": states}),
        NextWork::Ended(verdict) => json!({"phase": "done", "verdict": verdict.name()}),
    };
    add(&mut told, how_far(saved.as_ref()));
    Ok(told)
}

fn run(tasks: &TaskRunner<'_>, plan: &str, number: u32) -> TaskReply {
    let (receipt, again) = match tasks.run(plan, number)? {
        PlanOutcome::Done(done) => done,
        PlanOutcome::Stale => return Err(stale(plan)),
        PlanOutcome::Missing(task) => return Err(no_task(plan, task)),
        PlanOutcome::Undone(task, why) => return Err(undone(plan, task, &why)),
    };
    Ok(json!({
        "task": number,
        "again": again,
        "keys": receipt.segment().at.keys,
        "bytes_written": receipt.bytes_written(),
        "transitions": receipt.counters.transitions,
        "seconds": receipt.seconds,
    }))
}

fn commit(tasks: &TaskRunner<'_>, plan: &str) -> TaskReply {
    let saved = match tasks.commit(plan)? {
        PlanOutcome::Done(saved) => saved,
        PlanOutcome::Stale => return Err(stale(plan)),
        PlanOutcome::Missing(task) => return Err(no_task(plan, task)),
        PlanOutcome::Undone(task, why) => return Err(undone(plan, task, &why)),
    };
    let mut told = json!({"plan": plan});
    add(&mut told, how_far(Some(&saved)));
    Ok(told)
}

/// Creates the failure that a plan has no such task.
fn no_task(plan: &str, task: u32) -> CommandFailure {
    CommandFailure::wrong(format!(
        "there is no task {task} in {plan}\n  help: `spillway task plan` prints the number of tasks"
    ))
}

/// Creates the failure that a task is not done, or does not count as done.
fn undone(plan: &str, task: u32, why: &ReceiptFault) -> CommandFailure {
    let message = match why {
        ReceiptFault::Missing => format!(
            "error: task {task} of {plan} is not done\n  help: run it with `spillway task run`, then commit"
        ),
        why => format!(
            "error: the result of task {task} of {plan} is invalid: {why}\n  help: run it again with `spillway task \
             run`, then commit"
        ),
    };
    CommandFailure::of_code(failure::STOPPED, message)
}

/// Creates the failure that a plan is not the current one.
fn stale(plan: &str) -> CommandFailure {
    let message = format!("note: {plan} is no longer the current plan: plan again");
    CommandFailure::of_code(failure::STALE, message)
}

/// Returns the progress of the search.
fn how_far(saved: Option<&SavedSearch>) -> Value {
    let levels = saved.map(|it| &it.store.levels).filter(|it| !it.is_empty());
    let last = levels.map_or(0, |it| it.len() - 1);
    json!({
        "level": last,
        "states": levels.map_or(0, |it| it.keys_by_level().sum::<u64>()),
        "frontier": levels.map_or(0, |it| it.keys(last)),
        "transitions": saved.map_or(0, |it| it.counters.transitions + it.open.counters.transitions),
    })
}

/// Adds the members of one object to another.
fn add(told: &mut Value, more: Value) {
    if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
        told.extend(more);
    }
}
