//! Commands that show more of a counterexample. They work as printed.

use super::command::SessionOptions;
use crate::escape;
use crate::front::Language;
use crate::model::Violation;
use crate::report::{Report, ViolationReport};
use crate::session::SourceModel;
use crate::session::config::ModelConfig;

/// The properties of a counterexample that determine its commands.
#[derive(Clone, Copy)]
pub(super) struct CounterexampleShape {
    /// Whether it has a step.
    pub has_steps: bool,
    /// Whether it has a state from which a walk can start.
    pub has_states: bool,
}

impl CounterexampleShape {
    /// The shape of an infinite run.
    pub(super) const RUN: CounterexampleShape =
        CounterexampleShape { has_steps: true, has_states: true };

    /// Returns the shape of the first counterexample of a report, if there is one.
    pub(super) fn of(report: &Report) -> Option<CounterexampleShape> {
        let all = report.violations();
        let ViolationReport { depth, check, .. } = all.iter().find(|it| it.has_trace())?;
        let is_fault = matches!(check, Violation::Fault(..));
        Some(CounterexampleShape { has_steps: *depth > 0, has_states: *depth > 0 || !is_fault })
    }
}

/// Returns the commands for a counterexample of a model. `dir` is the search directory, if it is kept.
pub(super) fn commands(
    model: &dyn SourceModel,
    found: CounterexampleShape,
    dir: Option<&str>,
    args: Option<&SessionOptions>,
) -> Vec<String> {
    let program = model.as_program().map(|it| it.interp.program());
    let has_chart = found.has_steps && program.is_some_and(|it| !it.processes.is_empty());
    let walk = |dir: &str| {
        let words = [&["spillway", "simulate"].map(str::to_owned)[..], &named(model)].concat();
        format!("{} --from {dir}", words.join(" "))
    };
    if let Some(dir) = dir {
        let dir = escape::shell(dir);
        let chart = if has_chart { " --msc" } else { "" };
        let trace = format!("spillway trace {dir}{chart}");
        return std::iter::once(trace).chain(found.has_states.then(|| walk(&dir))).collect();
    }
    let Some(check) = args.and_then(|args| check_command(model, args)) else { return Vec::new() };
    let is_chart = args.is_some_and(|it| it.msc);
    let chart = (has_chart && !is_chart).then(|| format!("{check} --msc"));
    let kept = found.has_states.then(|| [format!("{check} --dir DIR;"), walk("DIR")]);
    chart.into_iter().chain(kept.into_iter().flatten()).collect()
}

/// Returns the command that repeats the check and shows the counterexample. `None` if none would be shown.
fn check_command(model: &dyn SourceModel, args: &SessionOptions) -> Option<String> {
    let mut words: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let is_wanted = |it: &String| it != "--no-trace";
    match words.first().map(String::as_str) {
        // With several questions no counterexample is shown.
        Some("check") if args.no_trace && words.iter().all(is_wanted) => return None,
        Some("check") => words.retain(is_wanted),
        Some("report") => words = [&["check".to_owned()][..], &named(model)].concat(),
        _ => return None,
    }
    let words = words.iter().map(|it| escape::shell(it).into_owned());
    Some(std::iter::once("spillway".to_owned()).chain(words).collect::<Vec<_>>().join(" "))
}

/// Returns the arguments of a model: its file, its language if the file does not determine it, and its constants.
pub(super) fn named(model: &dyn SourceModel) -> Vec<String> {
    let mut words = vec![escape::shell(model.name()).into_owned()];
    if Language::from_file_name(model.name()) != Some(model.language()) {
        words.extend(["--language".to_owned(), model.language().name.to_owned()]);
    }
    let ModelConfig { definitions, configuration, libraries, .. } = model.model_config();
    for define in definitions.into_iter().map(String::from) {
        words.extend(["-D".to_owned(), escape::shell(&define).into_owned()]);
    }
    let files = configuration.iter().map(|it| ("--cfg", it));
    for (flag, path) in files.chain(libraries.iter().map(|it| ("--library", it))) {
        words.extend([flag.to_owned(), escape::shell_path(path)]);
    }
    words
}
