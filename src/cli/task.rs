//! `task`: a search in parts that several processes do. What each command says is for a program to read.

use super::args::{TaskArgs, TaskCommand, TaskCommitArgs, TaskPlanArgs, TaskRunArgs};
use super::failure::{self, Failure};
use super::{Ending, print, say};
use crate::search::checkpoint::Saved;
use crate::search::tasks::{Followed, Next, Wanted};
use crate::session::Shared;
use serde_json::{Value, json};

/// `spillway task`.
pub(super) fn task(args: &TaskArgs) -> Ending {
    match &args.command {
        TaskCommand::Plan(args) => plan(args),
        TaskCommand::Run(args) => run(args),
        TaskCommand::Commit(args) => commit(args),
    }
}

fn plan(args: &TaskPlanArgs) -> Ending {
    let shared = Shared::open(&args.dir)?;
    let next = shared.next(Wanted { tasks: args.tasks, thin: args.thin })?;
    let mut told = match next {
        Next::Tasks(plan) => {
            json!({"phase": plan.phase.name(), "plan": plan.id(), "tasks": plan.tasks()})
        }
        Next::Search(states) => json!({"phase": "search", "max_states": states}),
        Next::Ended(verdict) => json!({"phase": "done", "verdict": verdict.name()}),
    };
    add(&mut told, how_far(shared.saved.as_ref()));
    print(&format!("{told}\n"));
    Ok(failure::VERIFIED)
}

fn run(args: &TaskRunArgs) -> Ending {
    let (receipt, again) =
        match Shared::open(&args.dir)?.run((&args.plan, args.task), args.memory)? {
            Followed::Done(done) => done,
            Followed::Stale => return stale(&args.plan),
            Followed::Missing(task) => {
                return Err(Failure::wrong(format!(
                    "there is no task {task} in {}\n  help: `spillway task plan` says how many \
                     there are",
                    args.plan
                )));
            }
        };
    let told = json!({
        "task": args.task,
        "again": again,
        "keys": receipt.piece.at.keys,
        "bytes_written": receipt.piece.at.length,
        "transitions": receipt.transitions,
        "seconds": receipt.seconds,
    });
    print(&format!("{told}\n"));
    Ok(failure::VERIFIED)
}

fn commit(args: &TaskCommitArgs) -> Ending {
    let saved = match Shared::open(&args.dir)?.commit(&args.plan)? {
        Followed::Done(saved) => saved,
        Followed::Stale => return stale(&args.plan),
        Followed::Missing(task) => {
            let message = format!(
                "error: task {task} of {} is not done\n  help: do it by `spillway task run`, then \
                 commit",
                args.plan
            );
            return Err(Failure { code: failure::STOPPED, message });
        }
    };
    let mut told = json!({"plan": args.plan});
    add(&mut told, how_far(Some(&saved)));
    print(&format!("{told}\n"));
    Ok(failure::VERIFIED)
}

/// Says that a plan is not the current one.
fn stale(plan: &str) -> Ending {
    say(format!("note: {plan} is not the current plan any more: plan again"));
    Ok(failure::STALE)
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
