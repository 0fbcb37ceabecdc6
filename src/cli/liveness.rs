//! `check --ltl` and `check --automaton`: whether all runs have a property.

use super::args::{CheckArgs, KeyOrderArg, ReduceArg, StoreArg, SymmetryArg};
use super::failure::{self, Failure};
use super::progress::Display;
use super::{Ending, model, print, run, trace};
use crate::exec::Step;
use crate::front::TrailEnd;
use crate::report::{Run, count};
use crate::search::lasso::{Probe, ProbeLimits, Probed};
use crate::session::{Wanted, Watched, probe_product, replay, verdict};
use serde_json::json;

/// The most states that are visited in memory.
const STATES_MAX: u64 = 1_000_000;

/// Whether all runs of the model have what is asked for.
pub(super) fn check(args: &CheckArgs, wanted: Wanted<'_>) -> Ending {
    if let Some(flag) = unfit(args) {
        return Err(Failure::wrong(format!(
            "{flag} is for searches for safety, and --ltl, --automaton, --acceptance and --non-progress ask about whole runs"
        )));
    }
    let watched = model::open_watched(&args.model, wanted)?;
    if args.runs.spin_trail.is_some() {
        trace::trail_of(&watched.model)?;
    }
    let executor = run::executor(&watched.model.interp, args.run.budget(false));
    let ended = args.runs.ended(wanted);
    let Some(product) = watched.product(executor.into_model(), ended) else {
        return Ok(vacuous(args, &watched));
    };
    let states = args.run.max_states.map_or(STATES_MAX, |most| most.min(STATES_MAX));
    let limits = ProbeLimits { states, bytes: args.run.memory / 4 };
    let shown = Display::of_wait("looking for a run that violates it".into());
    let probe = probe_product(&product, limits);
    drop(shown);
    let probe = probe.map_err(|error| Failure::wrong(error.to_string()))?;
    let run = match &probe.found {
        Probed::Found(lasso) => {
            let steps = replay(&product, lasso);
            let steps = steps.map_err(|error| Failure::wrong(error.to_string()))?;
            Some(Run { model: &product, steps, back: lasso.back })
        }
        Probed::None | Probed::Open => None,
    };
    if let (Some(path), Some(run)) = (&args.runs.spin_trail, &run) {
        let mut each_step = |visit: &mut dyn FnMut(&Step)| {
            run.steps.iter().for_each(visit);
        };
        let end = TrailEnd::LoopBehind(run.back);
        trace::write_trail(path, &watched.model, &mut each_step, end)?;
    }
    match args.run.json {
        true => print(&as_json(&watched, &probe, run.as_ref())),
        false => print(&as_text(&watched, &probe, run.as_ref())),
    }
    Ok(match probe.found {
        Probed::None => failure::VERIFIED,
        Probed::Found(_) => failure::VIOLATED,
        Probed::Open => failure::STOPPED,
    })
}

/// A flag that is given and says nothing of such a search.
fn unfit(args: &CheckArgs) -> Option<&'static str> {
    let reductions = &args.reductions;
    let given = [
        ("--dir", args.dir.is_some()),
        ("--disk-limit", args.run.disk_limit.is_some()),
        ("--max-time", args.run.max_time.is_some()),
        ("--only", !args.only.is_empty()),
        ("--no-deadlock", args.no_deadlock),
        ("--keep-going", args.keep_going),
        ("--shortest", args.shortest),
        ("--store", args.store != StoreArg::default()),
        ("--key-order", args.key_order != KeyOrderArg::default()),
        ("--reduce", reductions.reduce.iter().any(|it| *it != ReduceArg::None)),
        ("--symmetry", reductions.symmetry.is_some_and(|it| it != SymmetryArg::Off)),
        ("--reversible", reductions.reversible.is_some() || reductions.check_reversible),
        ("--por", reductions.por.is_some() || reductions.por_proviso.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Tells that no run can violate the property.
fn vacuous(args: &CheckArgs, Watched { model, name, .. }: &Watched) -> u8 {
    let model = model.name();
    print(&match args.run.json {
        false => format!("{model}: verified: no run violates {name}, whatever the model does\n"),
        true => {
            let told = json!({
                "model": model, "property": name, "verdict": "verified", "vacuous": true,
                "states": 0, "transitions": 0,
            });
            format!("{told:#}\n")
        }
    });
    failure::VERIFIED
}

fn as_text(watched: &Watched, probe: &Probe, run: Option<&Run<'_>>) -> String {
    let (model, name) = (watched.model.name(), &watched.name);
    let says = match probe.found {
        Probed::None if probe.faults > 0 => {
            format!("every run that meets no run-time error satisfies {name}")
        }
        Probed::None => format!("verified: every run satisfies {name}"),
        Probed::Found(_) => format!("violated: a run does not satisfy {name}"),
        Probed::Open => {
            format!(
                "not decided: no run that violates {name} was found in what there is room for in memory"
            )
        }
    };
    let (states, transitions) =
        (count(probe.states, "state"), count(probe.transitions, "transition"));
    let mut out =
        format!("{model}: {says}\n  {states}, {transitions} of the model and the automaton\n");
    out += "  searched in memory, without reductions\n";
    out += "  not looked for: deadlocks, assertions, invariants, run-time errors\n";
    if probe.faults > 0 {
        let steps = count(probe.faults, "step");
        out += &format!("  {steps} ended in errors that were not looked for\n");
    }
    match run {
        None => out,
        Some(run) => out + "\n" + &run.text(&watched.model.sources, name),
    }
}

fn as_json(watched: &Watched, probe: &Probe, run: Option<&Run<'_>>) -> String {
    let told = json!({
        "model": watched.model.name(),
        "language": watched.model.language.name,
        "property": watched.name,
        "verdict": verdict(&probe.found),
        "vacuous": false,
        "states": probe.states,
        "transitions": probe.transitions,
        "steps_cut_off": probe.faults,
        "counterexample": run.map(|run| run.json(&watched.model.sources)),
    });
    format!("{told:#}\n")
}
