//! `check --property FILE`: answers the questions of a file. `check --mcc` prints the lines of the Model Checking
//! Contest.
//!
//! One search answers all questions about states. Upper bounds of variables are read from its states, and
//! branching-time formulas are evaluated on them. Each temporal property has a search of its own. A question that
//! cannot be answered affects no other question.

use super::args::StateSpaceQuery;
use super::command::{CheckCommand, ModelInput};
use super::failure::{self, CommandFailure};
use super::preparation::SearchPreparation;
use super::{CommandResult, languages, liveness, model, print, run, say, warn};
use crate::diag::Diagnostic;
use crate::front::{ExternalProperty, ExternalPropertyKind, name_suggestion};
use crate::ir::StateCondition;
use crate::reduce::ReductionConfig;
use crate::report::{contest_line, row, truth};
use crate::search::control::SearchPhase;
use crate::session::config::CheckKind;
use crate::session::{Error, PropertyRequest, read_text};
use crate::source::SourceMap;
use std::path::Path;

/// Questions, grouped by how they are answered.
#[derive(Default)]
struct QuestionGroups {
    of_states: Vec<StateCondition>,
    of_runs: Vec<(String, String)>,
    further: Vec<(String, StateSpaceQuery)>,
}

/// `spillway check` with the questions of a file. With `--mcc` the size of the state space may be a question too.
pub(super) fn check(args: &CheckCommand) -> CommandResult {
    let mut args = args.clone();
    args.run.mcc = args.questions.mcc;
    args.run.no_trace |= args.questions.mcc;
    match args.questions.property_file.clone() {
        Some(file) => answer(&args, &file),
        None => state_space(&args),
    }
}

/// Answers the questions of a file.
fn answer(args: &CheckCommand, file: &Path) -> CommandResult {
    let (all, sources) = read(&args.model, file)?;
    let all = chosen(all, &args.questions.questions)?;
    let refused: Vec<Diagnostic> = all.iter().filter_map(|it| it.kind.clone().err()).collect();
    if refused.len() == all.len() {
        return Err(Error::text(&refused, &sources).into());
    }
    refused.iter().for_each(|it| say(it.render(&sources).to_string()));
    let QuestionGroups { of_states, of_runs, further } = sorted(all, &sources);
    let asks_states = !of_states.is_empty() || further.iter().any(|it| it.1.needs_all());
    let searches = usize::from(asks_states) + of_runs.len();
    if let Some(flag) = single_search_flag(args).filter(|_| searches > 1) {
        let error =
            format!("{flag} needs a single search, but {} takes {searches}", file.display());
        return Err(CommandFailure::wrong(format!(
            "{error}\n  help: --question NAME answers a single property"
        )));
    }
    let mut codes = vec![if refused.is_empty() { failure::VERIFIED } else { failure::WRONG }];
    if asks_states {
        codes.push(states(args, of_states, further)?);
    } else {
        further.iter().for_each(|(name, it)| unanswered(args, name, it));
    }
    let is_one = of_runs.len() == 1;
    let is_limited = args.run.limits.max_time.is_some() || args.run.limits.max_states.is_some();
    for (name, text) in of_runs {
        if !is_limited && codes.contains(&failure::STOPPED) {
            // A signal has stopped the whole check.
            print_answer(args, &name, None);
            continue;
        }
        codes.push(runs(args, &name, &text, is_one)?);
    }
    let worst = [failure::WRONG, failure::STOPPED, failure::VIOLATED];
    Ok(worst.into_iter().find(|it| codes.contains(it)).unwrap_or(failure::VERIFIED))
}

/// `spillway check --mcc` of a net without questions: the size of its state space.
fn state_space(args: &CheckCommand) -> CommandResult {
    let (language, _) = model::sources(&args.model)?;
    let name = args.model.path.display().to_string();
    languages::require_feature("--mcc is", &name, language, |it| it.read_properties)?;
    let mut args = args.clone();
    args = args.reconfigured(|it| it.properties.only = Some(vec![CheckKind::Error]));
    args.run.asks_space = true;
    disable_reductions(&mut args);
    load_and_check(&args)
}

/// Reads the model and searches it.
fn load_and_check(args: &CheckCommand) -> CommandResult {
    let preparation = SearchPreparation::begin(&args.run);
    preparation.enter(SearchPhase::Reading);
    let (model, warned) = model::open_quietly(&args.model)?;
    warned.iter().for_each(warn);
    run::check(args, model, preparation)
}

/// Reads the questions of a file, with the texts for messages.
fn read(
    args: &ModelInput,
    file: &Path,
) -> Result<(Vec<ExternalProperty>, SourceMap), CommandFailure> {
    let (language, mut sources) = model::sources(args)?;
    let name = args.path.display().to_string();
    let questions =
        languages::require_feature("--property is", &name, language, |it| it.read_properties)?;
    let number = sources.add(file.display().to_string(), read_text(file)?);
    let all = questions(&sources, number).map_err(|error| Error::text(&[error], &sources))?;
    Ok((all, sources))
}

/// Returns the questions of these names. No name selects all.
fn chosen(
    all: Vec<ExternalProperty>,
    names: &[String],
) -> Result<Vec<ExternalProperty>, CommandFailure> {
    let known: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    if let Some(name) = names.iter().find(|it| !known.contains(&it.as_str())) {
        let help = name_suggestion::unknown_name_help(name, &known, "questions");
        let error = format!("--question: the file has no property {name}");
        return Err(CommandFailure::wrong(format!("{error}\n  help: {help}")));
    }
    let is_wanted = |it: &ExternalProperty| names.is_empty() || names.contains(&it.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Groups questions by how they are answered.
fn sorted(all: Vec<ExternalProperty>, sources: &SourceMap) -> QuestionGroups {
    let mut sorted = QuestionGroups::default();
    for ExternalProperty { name, kind: asks, .. } in all {
        let further = match asks {
            Ok(ExternalPropertyKind::Condition(holds, text)) => {
                sorted
                    .of_states
                    .push(StateCondition { name: Some(name), ..StateCondition::new(holds, text) });
                continue;
            }
            Ok(ExternalPropertyKind::Runs(text)) => {
                sorted.of_runs.push((name, text));
                continue;
            }
            Ok(ExternalPropertyKind::Most(variables)) => StateSpaceQuery::UpperBound(variables),
            Ok(ExternalPropertyKind::Branching(formula)) => StateSpaceQuery::Branching(formula),
            Err(Diagnostic { message, span, .. }) => {
                let place = sources.locate(span).map_or(String::new(), |it| format!(" ({it})"));
                StateSpaceQuery::Refused(format!("not supported: {message}{place}"))
            }
        };
        sorted.further.push((name, further));
    }
    sorted
}

/// Returns a flag that applies to one search, if one is given.
fn single_search_flag(args: &CheckCommand) -> Option<&'static str> {
    let run = &args.run;
    let given = [
        ("--json", run.json),
        ("--dir", args.dir.is_some()),
        ("--report", run.outputs.report.is_some()),
        ("--junit", run.outputs.junit.is_some()),
        ("--sarif", run.outputs.sarif.is_some()),
        ("--spin-trail", run.spin_trail.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Disables reductions, so that a search visits all states of the unreduced model.
fn disable_reductions(args: &mut CheckCommand) {
    args.config.search.reductions = ReductionConfig::none();
    args.config.search.keep_going = true;
}

/// Answers the questions about states.
fn states(
    args: &CheckCommand,
    asked: Vec<StateCondition>,
    further: Vec<(String, StateSpaceQuery)>,
) -> CommandResult {
    let mut args = args.clone();
    args.run.no_trace |= asked.len() != 1;
    if further.iter().any(|it| it.1.needs_all()) {
        disable_reductions(&mut args);
    }
    args = args.reconfigured(|it| {
        let usual = || vec![CheckKind::Assert, CheckKind::Invariant, CheckKind::Error];
        it.properties.only.get_or_insert_with(usual);
        it.properties.named_conditions = asked;
    });
    args.run.state_space_queries = further;
    load_and_check(&args)
}

/// Checks a named temporal property.
fn runs(args: &CheckCommand, name: &str, text: &str, is_one: bool) -> CommandResult {
    let mut args = args.clone();
    args = args.reconfigured(|it| it.properties.ltl = vec![text.to_owned()]);
    args.run.no_trace |= !is_one;
    let preparation = SearchPreparation::begin(&args.run);
    let code = match liveness::check(&args, PropertyRequest::Formula(text), preparation) {
        Err(CommandFailure { code: failure::WRONG, message, .. }) if !is_one => {
            say(&message);
            failure::WRONG
        }
        ended => ended?,
    };
    print_answer(
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

/// Prints the answer to a named question, if it is known.
fn print_answer(args: &CheckCommand, name: &str, holds: Option<bool>) {
    if args.run.mcc {
        print(&contest_line(name, holds.map(truth)));
    } else if !args.run.json {
        let label = holds.map_or("open", |it| if it { "true" } else { "false" });
        print(&row(label, name));
    }
}

/// Prints the row of a question without an answer.
fn unanswered(args: &CheckCommand, name: &str, why: &StateSpaceQuery) {
    match why {
        StateSpaceQuery::Refused(why) if !args.run.mcc && !args.run.json => {
            print(&row("open", &format!("{name}: {why}")));
        }
        _ => print_answer(args, name, None),
    }
}
