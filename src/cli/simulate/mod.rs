//! `simulate`: one walk through a model, random or interactive.

mod printed_walk;
mod saved_path;
mod session;
mod session_command;

use super::args::SimulateArgs;
use super::command::ModelInput;
use super::failure::{VERIFIED, VIOLATED};
use super::model_walk::ModelWalk;
use super::reachable_graph::walkable;
use super::trace_position::{TracePosition, WalkStart};
use super::{CommandResult, model, print, say, warn};
use crate::random::SplitMix64;
use crate::report;
use crate::session::SearchJob;
use printed_walk::PrintedWalk;
use session::{WalkOrigin, hold_session};
use std::path::Path;

/// The default number of random steps.
const STEPS: u64 = 20;

/// `spillway simulate`.
pub(super) fn simulate(args: &SimulateArgs) -> CommandResult {
    let input = ModelInput::from_args(&args.model, &args.expert);
    match (&args.from, &args.replay) {
        (Some(from), _) => walk_from(&input, from, args),
        (None, Some(file)) => replay(&model::job_of_walks(&input)?, file, args),
        (None, None) if args.interactive => {
            hold_session(session_start(&model::job_of_walks(&input)?, Vec::new(), args))
        }
        (None, None) => {
            let (model, warnings) = model::open_any(&input, model::open_widest)?;
            warnings.iter().for_each(warn);
            let searched = model.searched();
            take_random_steps(ModelWalk::new(&*model, walkable(&searched)), args)
        }
    }
}

fn session_start<'s>(
    job: &'s SearchJob,
    choices: Vec<usize>,
    args: &SimulateArgs,
) -> WalkOrigin<'s> {
    WalkOrigin { job, choices, seed: args.seed, steps: args.steps }
}

/// Walks on from a step of a counterexample.
fn walk_from(input: &ModelInput, from: &str, args: &SimulateArgs) -> CommandResult {
    // The search has printed the warnings.
    let (model, _) = model::open_any(input, model::open_widest)?;
    TracePosition::read(from).walk(&*model, |WalkStart { walk, to, job }| {
        let at = match walk.steps.len() - 1 {
            0 => "at the start".to_owned(),
            step => format!("after step {step}"),
        };
        print(&report::wrapped("", &format!("{at} of the counterexample to {to}")));
        let walk = PrintedWalk::new(walk, false);
        walk.show();
        walk.current_violation().iter().for_each(|it| print(it));
        match args.interactive {
            true => hold_session(session_start(job, walk.path.choices(), args)),
            false => take_random_steps(walk.path, args),
        }
    })
}

/// Takes the steps of a saved path, and then those that the user chooses, or the requested number of random ones.
fn replay(job: &SearchJob, file: &Path, args: &SimulateArgs) -> CommandResult {
    let model = job.unreduced_model()?;
    let searched = model.searched();
    let mut walk = ModelWalk::new(&*model, walkable(&searched));
    saved_path::replay(file, &mut walk)?;
    let walk = PrintedWalk::new(walk, false);
    walk.show_path(usize::MAX);
    match args.steps {
        _ if args.interactive => hold_session(session_start(job, walk.path.choices(), args)),
        Some(_) if !walk.is_violated() => take_random_steps(walk.path, args),
        _ => Ok(exit_code(&walk)),
    }
}

/// Returns the exit code of a walk that has ended.
fn exit_code(walk: &PrintedWalk<'_>) -> u8 {
    if walk.is_violated() { VIOLATED } else { VERIFIED }
}

/// Takes random steps until the requested number is reached, there are no more, or a property is violated.
fn take_random_steps(path: ModelWalk<'_>, args: &SimulateArgs) -> CommandResult {
    let mut walk = PrintedWalk::new(path, false);
    let mut random = SplitMix64::new(args.seed);
    let steps = args.steps.unwrap_or(STEPS);
    let most = (walk.path.steps.len() as u64).saturating_sub(1).saturating_add(steps);
    while walk.path.steps.len() as u64 <= most {
        let mut options = walk.path.options(usize::MAX);
        if options.is_empty() {
            return Ok(exit_code(&walk));
        }
        walk.take_step(options.swap_remove(random.below(options.len())), true);
        if walk.is_violated() {
            return Ok(VIOLATED);
        }
    }
    if args.steps.is_none() {
        say(format!("note: stopped after {STEPS} steps; --steps N takes more"));
    }
    Ok(VERIFIED)
}
