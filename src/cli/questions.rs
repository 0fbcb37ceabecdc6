//! `check --property FILE`: what a file asks of a model, each answered; `check --mcc`, in the lines of the contest.
//!
//! All that is asked of states takes one search; what variables come to at most is looked up in its states, and formulas of
//! branching time are evaluated over them; each property of runs is a search of its own. A question that cannot be answered
//! loses only its own row.

use super::args::{CheckArgs, CheckKind, Further, ModelArgs, ReduceArg, SymmetryArg};
use super::failure::{self, Failure};
use super::preparation::Preparation;
use super::{Ending, languages, liveness, model, print, run, say, warn};
use crate::diag::Diagnostic;
use crate::front::{Asks, Question, nearest};
use crate::ir::Condition;
use crate::report::{contest_line, row, truth};
use crate::search::control::Phase;
use crate::session::{Error, Wanted, read_text};
use crate::source::Sources;
use std::path::Path;

/// What is asked, by how it is answered.
#[derive(Default)]
struct Sorted {
    /// What the sources of each condition are called, and its text.
    of_states: Vec<(String, String)>,
    of_runs: Vec<(String, String)>,
    further: Vec<(String, Further)>,
}

/// `spillway check` of what a file asks; in the lines of the contest, also of how large the state space is.
pub(super) fn check(args: &CheckArgs) -> Ending {
    let mut args = args.clone();
    args.run.mcc = args.asked.mcc;
    args.run.no_trace |= args.asked.mcc;
    match args.asked.property_file.clone() {
        Some(file) => answer(&args, &file),
        None => state_space(&args),
    }
}

/// Answers what a file asks.
fn answer(args: &CheckArgs, file: &Path) -> Ending {
    let (all, sources) = read(&args.model, file)?;
    let all = chosen(all, &args.asked.questions)?;
    let refused: Vec<Diagnostic> = all.iter().filter_map(|it| it.asks.clone().err()).collect();
    if refused.len() == all.len() {
        return Err(Error::text(&refused, &sources).into());
    }
    refused.iter().for_each(|it| say(it.render(&sources).to_string()));
    let Sorted { of_states, of_runs, further } = sorted(all, &sources);
    let asks_states = !of_states.is_empty() || further.iter().any(|it| it.1.needs_all());
    let searches = usize::from(asks_states) + of_runs.len();
    if let Some(flag) = of_one(args).filter(|_| searches > 1) {
        let error =
            format!("{flag} is for one search, and what {} asks takes {searches}", file.display());
        return Err(Failure::wrong(format!("{error}\n  help: --question NAME answers only that")));
    }
    let mut codes = vec![if refused.is_empty() { failure::VERIFIED } else { failure::WRONG }];
    if asks_states {
        codes.push(states(args, of_states, further)?);
    } else {
        further.iter().for_each(|(name, it)| unanswered(args, name, it));
    }
    let is_one = of_runs.len() == 1;
    let is_limited = args.run.max_time.is_some() || args.run.max_states.is_some();
    for (name, text) in of_runs {
        if !is_limited && codes.contains(&failure::STOPPED) {
            // Somebody has stopped all of it.
            told(args, &name, None);
            continue;
        }
        codes.push(runs(args, (&name, &text), is_one)?);
    }
    let worst = [failure::WRONG, failure::STOPPED, failure::VIOLATED];
    Ok(worst.into_iter().find(|it| codes.contains(it)).unwrap_or(failure::VERIFIED))
}

/// `spillway check --mcc` of a net, without questions: how large its state space is.
fn state_space(args: &CheckArgs) -> Ending {
    let (language, _) = model::sources(&args.model)?;
    let name = args.model.model.display().to_string();
    languages::own("--mcc is", (&name, language), |it| it.questions)?;
    let mut args = args.clone();
    args.only = vec![CheckKind::Error];
    args.run.asks_space = true;
    unreduced(&mut args);
    checked(&args)
}

/// Reads the model and searches it.
fn checked(args: &CheckArgs) -> Ending {
    let preparation = Preparation::begin(&args.run);
    preparation.enter(Phase::Reading);
    let (model, warned) = model::open_quietly(&args.model)?;
    warned.iter().for_each(warn);
    run::check(args, model, preparation)
}

/// What the file asks of the model, with the texts that messages are about.
fn read(args: &ModelArgs, file: &Path) -> Result<(Vec<Question>, Sources), Failure> {
    let (language, mut sources) = model::sources(args)?;
    let name = args.model.display().to_string();
    let questions = languages::own("--property is", (&name, language), |it| it.questions)?;
    let number = sources.add(file.display().to_string(), read_text(file)?);
    let all = questions(&sources, number).map_err(|error| Error::text(&[error], &sources))?;
    Ok((all, sources))
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

/// Questions by how they are answered.
fn sorted(all: Vec<Question>, sources: &Sources) -> Sorted {
    let mut sorted = Sorted::default();
    for Question { name, asks, .. } in all {
        let further = match asks {
            Ok(Asks::Condition(holds, text)) => {
                let asked = Condition { holds, name: Some(&name) };
                sorted.of_states.push((asked.file(), text));
                continue;
            }
            Ok(Asks::Runs(text)) => {
                sorted.of_runs.push((name, text));
                continue;
            }
            Ok(Asks::Most(variables)) => Further::Most(variables),
            Ok(Asks::Branching(formula)) => Further::Branching(formula),
            Err(Diagnostic { message, span, .. }) => {
                let place = sources.locate(span).map_or(String::new(), |it| format!(" ({it})"));
                Further::Refused(format!("not supported: {message}{place}"))
            }
        };
        sorted.further.push((name, further));
    }
    sorted
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

/// Lets a search visit all states of the model as it is written.
fn unreduced(args: &mut CheckArgs) {
    args.reductions.reduce = vec![ReduceArg::None];
    args.reductions.symmetry = Some(SymmetryArg::Off);
    args.keep_going = true;
}

/// All that is asked of states, and what is looked up in them.
fn states(
    args: &CheckArgs,
    asked: Vec<(String, String)>,
    further: Vec<(String, Further)>,
) -> Ending {
    let mut args = args.clone();
    if args.only.is_empty() {
        args.only = vec![CheckKind::Assert, CheckKind::Invariant, CheckKind::Error];
    }
    args.run.no_trace |= asked.len() != 1;
    if further.iter().any(|it| it.1.needs_all()) {
        unreduced(&mut args);
    }
    (args.model.before.asked, args.run.further) = (asked, further);
    checked(&args)
}

/// Whether all runs have a property, which has a name.
fn runs(args: &CheckArgs, (name, text): (&str, &str), is_one: bool) -> Ending {
    let mut args = args.clone();
    args.runs.property.ltl = Some(text.to_owned());
    args.run.no_trace |= !is_one;
    let preparation = Preparation::begin(&args.run);
    let code = match liveness::check(&args, Wanted::Formula(text), preparation) {
        Err(Failure { code: failure::WRONG, message, .. }) if !is_one => {
            say(&message);
            failure::WRONG
        }
        ended => ended?,
    };
    told(
        &args,
        name,
        match code {
            failure::VERIFIED => Some(true),
            failure::VIOLATED => Some(false),
            _ => None,
        },
    );
    Ok(code)
}

/// Prints whether what was asked by a name is so, if that is known.
fn told(args: &CheckArgs, name: &str, holds: Option<bool>) {
    if args.run.mcc {
        print(&contest_line(name, holds.map(truth)));
    } else if !args.run.json {
        let label = holds.map_or("open", |it| if it { "true" } else { "false" });
        print(&row(label, name));
    }
}

/// Prints the row of a question that has no answer.
fn unanswered(args: &CheckArgs, name: &str, why: &Further) {
    match why {
        Further::Refused(why) if !args.run.mcc && !args.run.json => {
            print(&row("open", &format!("{name}: {why}")));
        }
        _ => told(args, name, None),
    }
}
