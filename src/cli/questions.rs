//! `check --property FILE`: what a file asks of a model, each answered.
//!
//! All that is asked of states takes one search; what variables come to at most is looked up in its states; each property of
//! runs is a search of its own.

use super::args::{CheckArgs, CheckKind, ModelArgs, ReduceArg, SymmetryArg};
use super::failure::{self, Failure};
use super::preparation::Preparation;
use super::{Ending, languages, liveness, model, print, run, warn};
use crate::front::{Asks, Question, nearest};
use crate::ir::Condition;
use crate::report::row;
use crate::search::control::Phase;
use crate::session::{Error, Wanted, read_text};
use std::path::Path;

/// `spillway check` of what a file asks.
pub(super) fn check(args: &CheckArgs, file: &Path) -> Ending {
    let all = chosen(read(&args.model, file)?, &args.questions)?;
    let (mut of_states, mut of_runs, mut most) = (Vec::new(), Vec::new(), Vec::new());
    for it in all {
        match &it.asks {
            Asks::Condition(holds, text) => {
                let asked = Condition { holds: *holds, name: Some(&it.name) };
                of_states.push((asked.file(), text.clone()));
            }
            Asks::Runs(text) => of_runs.push((it.name.clone(), text.clone())),
            Asks::Most(variables) => most.push((it.name.clone(), variables.clone())),
        }
    }
    let asks_states = !of_states.is_empty() || !most.is_empty();
    let searches = usize::from(asks_states) + of_runs.len();
    if let Some(flag) = of_one(args).filter(|_| searches > 1) {
        let error =
            format!("{flag} is for one search, and what {} asks takes {searches}", file.display());
        return Err(Failure::wrong(format!("{error}\n  help: --question NAME answers only that")));
    }
    let mut codes = Vec::new();
    if asks_states {
        codes.push(states(args, of_states, most)?);
    }
    let is_one = of_runs.len() == 1;
    let is_limited = args.run.max_time.is_some() || args.run.max_states.is_some();
    for (name, text) in of_runs {
        if !is_limited && codes.contains(&failure::STOPPED) {
            // Somebody has stopped all of it.
            print(&row("open", &name));
            continue;
        }
        codes.push(runs(args, (&name, &text), is_one)?);
    }
    let worst = [failure::STOPPED, failure::VIOLATED, failure::VERIFIED];
    Ok(worst.into_iter().find(|it| codes.contains(it)).unwrap_or(failure::VERIFIED))
}

/// What the file asks of the model.
fn read(args: &ModelArgs, file: &Path) -> Result<Vec<Question>, Failure> {
    let (language, mut sources) = model::sources(args)?;
    let name = args.model.display().to_string();
    let questions = languages::own("--property is", (&name, language), |it| it.questions)?;
    let number = sources.add(file.display().to_string(), read_text(file)?);
    Ok(questions(&sources, number).map_err(|error| Error::text(&[error], &sources))?)
}

/// Those of these names; all if none is named.
fn chosen(all: Vec<Question>, names: &[String]) -> Result<Vec<Question>, Failure> {
    let known: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    if let Some(name) = names.iter().find(|it| !known.contains(&it.as_str())) {
        let help = nearest::help(name, &known, "questions");
        let error = format!("--question: the file asks no {name}");
        return Err(Failure::wrong(format!("{error}\n  help: {help}")));
    }
    let is_wanted = |it: &Question| names.is_empty() || names.contains(&it.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// A flag that is given and means one search.
fn of_one(args: &CheckArgs) -> Option<&'static str> {
    let run = &args.run;
    let given = [
        ("--json", run.json),
        ("--dir", args.dir.is_some()),
        ("--report", run.report.is_some()),
        ("--junit", run.junit.is_some()),
        ("--sarif", run.sarif.is_some()),
        ("--spin-trail", run.spin_trail.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// All that is asked of states, and what variables come to in them.
fn states(
    args: &CheckArgs,
    asked: Vec<(String, String)>,
    most: Vec<(String, Vec<String>)>,
) -> Ending {
    let mut args = args.clone();
    if args.only.is_empty() {
        args.only = vec![CheckKind::Assert, CheckKind::Invariant, CheckKind::Error];
    }
    args.run.no_trace |= asked.len() != 1;
    if !most.is_empty() {
        // What is left out might come to more.
        args.reductions.reduce = vec![ReduceArg::None];
        args.reductions.symmetry = Some(SymmetryArg::Off);
        args.keep_going = true;
    }
    (args.model.before.asked, args.run.most) = (asked, most);
    let preparation = Preparation::begin(&args.run);
    preparation.enter(Phase::Reading);
    let (model, warned) = model::open_quietly(&args.model)?;
    warned.iter().for_each(warn);
    run::check(&args, model, preparation)
}

/// Whether all runs have a property, which has a name.
fn runs(args: &CheckArgs, (name, text): (&str, &str), is_one: bool) -> Ending {
    let mut args = args.clone();
    args.runs.property.ltl = Some(text.to_owned());
    args.run.no_trace |= !is_one;
    let code = liveness::check(&args, Wanted::Formula(text), Preparation::begin(&args.run))?;
    let label = match code {
        failure::VERIFIED => "true",
        failure::VIOLATED => "false",
        _ => "open",
    };
    if !args.run.json {
        print(&row(label, name));
    }
    Ok(code)
}
