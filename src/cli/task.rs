//! `task`: a search in parts that several processes do. What each command says is for a program to read.

use super::args::{Request, TaskArgs, TaskCommand};
use super::asking::{Asked, Line, line};
use super::failure::{self, Failure};
use super::{Ending, print_json};
use crate::search::checkpoint::Saved;
use crate::search::tasks::{Followed, Next, ReceiptFault, Wanted};
use crate::session::{Shared, Tasks};
use clap::Parser as _;
use serde_json::{Value, json};
use spill::Origin;
use std::path::Path;
use std::sync::Arc;

/// What comes of a request.
type Told = Result<Value, Failure>;

/// `spillway task`.
pub(super) fn task(args: &TaskArgs) -> Ending {
    let (dir, request, memory) = match &args.command {
        TaskCommand::Plan { dir, what } => (dir, Request::Plan(*what), 0),
        TaskCommand::Run { dir, what, within } => (dir, Request::Run(what.clone()), within.memory),
        TaskCommand::Commit { dir, what } => (dir, Request::Commit(what.clone()), 0),
        TaskCommand::Serve { dir, within, asks } => {
            let origin: Option<Arc<dyn Origin>> = if *asks { Some(Arc::new(Asked)) } else { None };
            return serve(dir, within.memory, origin.as_ref());
        }
    };
    let shared = Shared::open(dir, None)?;
    let told = does(&shared.tasks(memory), &request)?;
    print_json(&format!("{told}\n"));
    Ok(failure::VERIFIED)
}

/// Answers lines until there are no more.
fn serve(dir: &Path, memory: u64, origin: Option<&Arc<dyn Origin>>) -> Ending {
    let next = || line().map_err(|error| Failure::wrong(format!("standard input: {error}")));
    let mut asked = next()?;
    while asked.is_some() {
        let shared = Shared::open(dir, origin.cloned())?;
        let tasks = shared.tasks(memory);
        // The line that shows that another search is there is that one's.
        while let Some(line) = asked.take_if(|_| !shared.is_another().unwrap_or(true)) {
            print_json(&format!("{}\n", answered(&tasks, line)));
            asked = next()?;
        }
    }
    Ok(failure::VERIFIED)
}

/// The answer to a line. One that cannot be read is no reason to end.
fn answered(tasks: &Tasks<'_>, line: Line) -> Value {
    let read = |line: String| {
        Request::try_parse_from(line.split_whitespace()).map_err(|error| {
            let message = error.to_string().trim().to_owned();
            Failure::of_code(failure::WRONG, message)
        })
    };
    let line = line.map_err(|why| Failure::wrong(format!("standard input: {why}")));
    let request = line.and_then(read);
    match request.and_then(|it| does(tasks, &it)) {
        Ok(told) => {
            let mut answer = json!({"code": failure::VERIFIED});
            add(&mut answer, told);
            answer
        }
        Err(Failure { code, message, .. }) => json!({"code": code, "error": message}),
    }
}

fn does(tasks: &Tasks<'_>, request: &Request) -> Told {
    match request {
        Request::Plan(what) => plan(tasks, Wanted { tasks: what.tasks, thin: what.thin }),
        Request::Run(what) => run(tasks, &what.plan, what.task),
        Request::Commit(what) => commit(tasks, &what.plan),
    }
}

fn plan(tasks: &Tasks<'_>, wanted: Wanted) -> Told {
    let (next, saved) = tasks.next(wanted)?;
    let mut told = match next {
        Next::Tasks(plan) => {
            json!({"phase": plan.phase.name(), "plan": plan.id(), "tasks": plan.tasks()})
        }
        Next::Search(states) => json!({"phase": "search", "max_states": states}),
        Next::Ended(verdict) => json!({"phase": "done", "verdict": verdict.name()}),
    };
    add(&mut told, how_far(saved.as_ref()));
    Ok(told)
}

fn run(tasks: &Tasks<'_>, plan: &str, number: u32) -> Told {
    let (receipt, again) = match tasks.run(plan, number)? {
        Followed::Done(done) => done,
        Followed::Stale => return Err(stale(plan)),
        Followed::Missing(task) => return Err(no_task(plan, task)),
        Followed::Undone(task, why) => return Err(undone(plan, task, &why)),
    };
    Ok(json!({
        "task": number,
        "again": again,
        "keys": receipt.piece.at.keys,
        "bytes_written": receipt.piece.at.length,
        "transitions": receipt.transitions,
        "seconds": receipt.seconds,
    }))
}

fn commit(tasks: &Tasks<'_>, plan: &str) -> Told {
    let saved = match tasks.commit(plan)? {
        Followed::Done(saved) => saved,
        Followed::Stale => return Err(stale(plan)),
        Followed::Missing(task) => return Err(no_task(plan, task)),
        Followed::Undone(task, why) => return Err(undone(plan, task, &why)),
    };
    let mut told = json!({"plan": plan});
    add(&mut told, how_far(Some(&saved)));
    Ok(told)
}

/// That a plan has no such task.
fn no_task(plan: &str, task: u32) -> Failure {
    Failure::wrong(format!(
        "there is no task {task} in {plan}\n  help: `spillway task plan` says how many there are"
    ))
}

/// That a task is not done, or does not count as done.
fn undone(plan: &str, task: u32, why: &ReceiptFault) -> Failure {
    let message = match why {
        ReceiptFault::Missing => format!(
            "error: task {task} of {plan} is not done\n  help: do it by `spillway task run`, then \
             commit"
        ),
        why => format!(
            "error: task {task} of {plan} does not count as done: {why}\n  help: do it again by \
             `spillway task run`, then commit"
        ),
    };
    Failure::of_code(failure::STOPPED, message)
}

/// That a plan is not the current one.
fn stale(plan: &str) -> Failure {
    let message = format!("note: {plan} is not the current plan any more: plan again");
    Failure::of_code(failure::STALE, message)
}

/// How far the search is.
fn how_far(saved: Option<&Saved>) -> Value {
    let levels = saved.map(|it| &it.store.levels).filter(|it| !it.is_empty());
    let last = levels.map_or(0, |it| it.len() - 1);
    json!({
        "level": last,
        "states": levels.map_or(0, |it| it.each_keys().sum::<u64>()),
        "frontier": levels.map_or(0, |it| it.keys(last)),
        "transitions": saved.map_or(0, |it| it.transitions + it.open.transitions),
    })
}

/// Adds the members of one object to another.
fn add(told: &mut Value, more: Value) {
    if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
        told.extend(more);
    }
}
