//! `check` of several properties: one search for those of states and steps, then one for each property of runs, and one
//! result for all of them.

use super::command::{CheckCommand, SessionOptions};
use super::failure::{self, CommandFailure};
use super::{
    CommandResult, liveness, model, notify, preparation::SearchPreparation, print, print_json,
    result_files, run, slots, warn, warnings,
};
use crate::ir::{ACCEPTANCE, NON_PROGRESS};
use crate::report::{
    self, JudgementReport, PropertyJudgement, PropertyVerdict, RenderedPage, grouped, row, wrapped,
};
use crate::search::SearchVerdict;
use crate::search::control::SearchPhase;
use crate::session::config::{ALL_FORMULAS, CheckKind, PropertyConfig, SearchConfig};
use crate::session::{CheckDirectory, SavedCheck, SearchDirectory, TextModel};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The folder of the search for properties of states and steps.
const STATES_FOLDER: &str = "0-states";

/// A property of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RunProperty {
    /// A formula, or the name of a property of the model.
    Formula(String),
    /// A file with an automaton that accepts the runs that violate it.
    Automaton(PathBuf),
    /// No acceptance cycle.
    Acceptance,
    /// No non-progress cycle.
    NonProgress,
}

impl RunProperty {
    /// Those that a configuration asks for.
    fn requested(properties: &PropertyConfig, model: &TextModel) -> Vec<RunProperty> {
        let own = model.run_properties();
        let formulas = properties.ltl.iter().flat_map(|text| match text.as_str() {
            ALL_FORMULAS if !own.contains(&ALL_FORMULAS) => {
                own.iter().map(|&it| it.to_owned()).collect()
            }
            _ => vec![text.clone()],
        });
        let formulas = formulas.map(RunProperty::Formula);
        let automata = properties.automata.iter().cloned().map(RunProperty::Automaton);
        let accept = properties.acceptance.then_some(RunProperty::Acceptance);
        let progress = properties.non_progress.then_some(RunProperty::NonProgress);
        let mut all: Vec<RunProperty> = Vec::new();
        for property in formulas.chain(automata).chain(accept).chain(progress) {
            if !all.contains(&property) {
                all.push(property);
            }
        }
        all
    }

    /// Has a configuration ask for this property alone.
    fn select(&self, properties: &mut PropertyConfig) {
        match self {
            RunProperty::Formula(text) => properties.ltl = vec![text.clone()],
            RunProperty::Automaton(path) => properties.automata = vec![path.clone()],
            RunProperty::Acceptance => properties.acceptance = true,
            RunProperty::NonProgress => properties.non_progress = true,
        }
    }

    /// Its judgement where it was not searched for.
    fn undecided(&self, model_name: &str) -> JudgementReport {
        let (kind, name) = match self {
            RunProperty::Formula(text) => ("ltl", text.clone()),
            RunProperty::Automaton(path) => ("automaton", path.display().to_string()),
            RunProperty::Acceptance => (ACCEPTANCE.0, ACCEPTANCE.1.to_owned()),
            RunProperty::NonProgress => (NON_PROGRESS.0, NON_PROGRESS.1.to_owned()),
        };
        let judgement = PropertyJudgement::of_runs(kind, &name, PropertyVerdict::Open);
        JudgementReport {
            all: vec![judgement],
            ..JudgementReport::merge(model_name, Vec::new(), false)
        }
    }

    /// The name of a folder for its search, beside those of other properties.
    fn folder(&self, number: usize) -> String {
        let word = match self {
            RunProperty::Formula(_) => "ltl",
            RunProperty::Automaton(_) => "automaton",
            RunProperty::Acceptance => "acceptance",
            RunProperty::NonProgress => "non-progress",
        };
        format!("{number}-{word}")
    }
}

/// The searches of a check.
#[derive(Clone, Debug)]
pub(super) struct CheckPlan {
    /// Whether properties of states and steps are checked.
    states: bool,
    runs: Vec<RunProperty>,
    /// Whether states are searched without the model's never claim, since it is a property of runs, or was not asked for.
    leaves_out_claim: bool,
}

impl CheckPlan {
    /// The searches that decide what a command asks for, of a model. Where it asks for nothing in particular, these are
    /// all properties of the model, if it has several properties of runs.
    pub(super) fn of(
        command: &CheckCommand,
        model: &TextModel,
    ) -> Result<CheckPlan, CommandFailure> {
        let properties = &command.config.properties;
        let mut runs = RunProperty::requested(properties, model);
        let asks_runs = command.property().is_some();
        if asks_runs && runs.is_empty() {
            let name = model.name();
            return Err(CommandFailure::wrong(format!(
                "--ltl {ALL_FORMULAS}: {name} has no property of runs\n  help: give a formula"
            )));
        }
        let asks_states = properties.only.is_some() || !properties.conditions().is_empty();
        let own = model.run_properties();
        let is_default = !asks_runs && liveness::checks_model_properties(command);
        if is_default && model.own_property().is_none() {
            runs = own.iter().map(|&it| RunProperty::Formula(it.to_owned())).collect();
        }
        let leaves_out_claim = model.language.options.model_property
            && (asks_runs || model.accepting_claim().is_some());
        Ok(CheckPlan { states: !asks_runs || asks_states, runs, leaves_out_claim })
    }

    /// The formula that is all that it checks.
    pub(super) fn only_formula(&self) -> Option<&str> {
        match &self.runs[..] {
            [RunProperty::Formula(text)] if !self.states => Some(text),
            _ => None,
        }
    }

    /// Whether it takes more than one search.
    pub(super) fn is_several(&self) -> bool {
        usize::from(self.states) + self.runs.len() > 1
    }

    /// The search of the properties of states and steps, as a command of its own.
    fn command_for_states(&self, command: &CheckCommand, decided: &[String]) -> CheckCommand {
        let asks_runs = command.property().is_some();
        let leaves_out_claim = self.leaves_out_claim;
        let mut states = command.reconfigured(|config| {
            let properties = &mut config.properties;
            if asks_runs {
                properties.only.get_or_insert_with(|| vec![CheckKind::Invariant]);
            }
            (properties.ltl, properties.automata) = (Vec::new(), Vec::new());
            (properties.acceptance, properties.non_progress) = (false, false);
            (properties.finite_runs, properties.fairness) = (None, Default::default());
            properties.decided_elsewhere = decided.to_vec();
            config.model.no_claim |= leaves_out_claim;
        });
        states.runs = Default::default();
        states.dir = command.dir.as_ref().map(|it| it.join(STATES_FOLDER));
        states
    }

    /// The search of a property of runs, as a command of its own.
    fn command_for_runs(
        &self,
        command: &CheckCommand,
        number: usize,
        decided: &[String],
    ) -> CheckCommand {
        let property = &self.runs[number];
        let mut runs = command.reconfigured(|config| {
            let PropertyConfig { finite_runs, fairness, strict, .. } = config.properties;
            let decided_elsewhere = decided.to_vec();
            config.properties = PropertyConfig {
                finite_runs,
                fairness,
                strict,
                decided_elsewhere,
                ..PropertyConfig::default()
            };
            property.select(&mut config.properties);
            let SearchConfig { shortest, no_coverage, .. } = config.search;
            config.search = SearchConfig { shortest, no_coverage, ..SearchConfig::default() };
        });
        runs.dir = command.dir.as_ref().map(|it| it.join(property.folder(number + 1)));
        runs
    }
}

/// What the searches of a check found, for one result.
#[derive(Default)]
pub(super) struct CheckCollector {
    results: Mutex<CollectedResults>,
}

#[derive(Default)]
struct CollectedResults {
    documents: Vec<Value>,
    judgements: Vec<JudgementReport>,
    pages: Vec<(SearchVerdict, RenderedPage)>,
}

impl CheckCollector {
    fn results(&self) -> MutexGuard<'_, CollectedResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the JSON object of a search.
    pub(super) fn add_document(&self, document: Value) {
        self.results().documents.push(document);
    }

    /// Keeps the verdict of a search on each property.
    pub(super) fn add_judgements(&self, judgements: JudgementReport) {
        self.results().judgements.push(judgements);
    }

    /// Keeps the page of a search.
    pub(super) fn add_page(&self, verdict: SearchVerdict, page: RenderedPage) {
        self.results().pages.push((verdict, page));
    }
}

/// Checks several properties.
pub(super) fn check(command: &CheckCommand, plan: &CheckPlan, model: TextModel) -> CommandResult {
    reject_single_search_flags(command, plan)?;
    if !plan.states {
        liveness::reject_state_flags(command)?;
    }
    let decided = plan.decided_properties(&model);
    let saved = SavedCheck::new(&command.config, &model, plan.folders());
    drop(model);
    let directory = command.dir.as_deref().map(|dir| CheckDirectory::create(dir, &saved));
    let _locked = directory.transpose()?;
    run_plan(command, plan, &decided)
}

/// Goes on with a check in a directory. Searches that have begun go on, and the others begin.
pub(super) fn resume(saved: &SavedCheck, dir: &Path, run: SessionOptions) -> CommandResult {
    let _locked = CheckDirectory::lock(dir)?;
    let command = CheckCommand::resumed(saved, dir, run)?;
    let (model, _) = model::open_quietly(&command.model)?;
    let plan = CheckPlan::of(&command, &model)?;
    let decided = plan.decided_properties(&model);
    drop(model);
    run_plan(&command, &plan, &decided)
}

/// Makes the searches of a plan, one after the other. Others of the check decide the properties of these names.
fn run_plan(command: &CheckCommand, plan: &CheckPlan, decided: &[String]) -> CommandResult {
    let mut command = command.clone();
    let model_name = command.model.path.display().to_string();
    let collector = Arc::new(CheckCollector::default());
    command.run.collector = Some(Arc::clone(&collector));
    let mut codes = Vec::new();
    if plan.states {
        let states = plan.command_for_states(&command, decided);
        codes.push(begin_or_resume(states, check_states)?);
    }
    for (number, property) in plan.runs.iter().enumerate() {
        // A signal, or the end of the time, stops the whole check.
        if command.is_over() || codes.contains(&failure::STOPPED) && !command.is_limited() {
            collector.add_judgements(property.undecided(&model_name));
            codes.push(failure::STOPPED);
            continue;
        }
        separate(&command, !codes.is_empty());
        let runs = plan.command_for_runs(&command, number, decided);
        codes.push(begin_or_resume(runs, check_runs)?);
    }
    finish(&command, &collector, &model_name)?;
    let worst = [failure::WRONG, failure::VIOLATED, failure::STOPPED];
    Ok(worst.into_iter().find(|it| codes.contains(it)).unwrap_or(failure::VERIFIED))
}

/// Goes on with a search that has begun in its folder, or begins it.
fn begin_or_resume(
    command: CheckCommand,
    begin: fn(&CheckCommand) -> CommandResult,
) -> CommandResult {
    match &command.dir {
        Some(dir) if SearchDirectory::has_search(dir) => {
            super::resume_search(dir, command.run.clone())
        }
        _ => slots::retry_with_more_slots(command, |it| &mut it.model, begin),
    }
}

impl CheckPlan {
    /// The names of the properties of the model that its searches decide.
    fn decided_properties(&self, model: &TextModel) -> Vec<String> {
        let all = model.run_properties().into_iter().filter(|it| self.decides(it));
        all.map(str::to_owned).collect()
    }

    /// The folders of its searches, in order.
    fn folders(&self) -> Vec<String> {
        let states = self.states.then(|| STATES_FOLDER.to_owned());
        let runs = self.runs.iter().zip(1..).map(|(it, number)| it.folder(number));
        states.into_iter().chain(runs).collect()
    }

    /// Whether one of its searches decides the property of the model with this name.
    fn decides(&self, name: &str) -> bool {
        self.runs.iter().any(|it| matches!(it, RunProperty::Formula(text) if text == name))
    }
}

fn check_states(command: &CheckCommand) -> CommandResult {
    let preparation = SearchPreparation::begin(&command.run);
    preparation.enter(SearchPhase::Reading);
    let (model, warned) = model::open_quietly(&command.model)?;
    warned.iter().for_each(warn);
    run::check(command, model, preparation)
}

fn check_runs(command: &CheckCommand) -> CommandResult {
    let preparation = SearchPreparation::begin(&command.run);
    let property = command.property();
    let property = property.unwrap_or_else(|| unreachable!("it asks for a property of runs"));
    liveness::check(command, property, preparation)
}

/// An empty line between the reports of two searches.
fn separate(command: &CheckCommand, is_behind: bool) {
    if is_behind && !command.run.json {
        print("\n");
    }
}

/// Rejects flags that are about one search.
fn reject_single_search_flags(
    command: &CheckCommand,
    plan: &CheckPlan,
) -> Result<(), CommandFailure> {
    if command.run.spin_trail.is_none() {
        return Ok(());
    }
    let searches = usize::from(plan.states) + plan.runs.len();
    Err(CommandFailure::wrong(format!(
        "--spin-trail is for one search, and this check takes {searches}\n  help: --ltl NAME checks one property"
    )))
}

/// Prints and writes the result of all searches.
fn finish(
    command: &CheckCommand,
    collector: &CheckCollector,
    model_name: &str,
) -> Result<(), CommandFailure> {
    let CollectedResults { documents, judgements, pages } =
        std::mem::take(&mut *collector.results());
    let merged = JudgementReport::merge(model_name, judgements, command.run.strict);
    let verdict = merged.verdict();
    let as_text = summary(model_name, &merged);
    notify::summarise(|| as_text.clone());
    match command.run.json {
        true => {
            let verdicts: Vec<Value> = merged.decided().map(report::judgement_as_json).collect();
            let whole = json!({
                "model": Path::new(model_name).file_name().map(|it| it.to_string_lossy()),
                "verdict": verdict.name(),
                "verdicts": verdicts,
                "searches": documents,
                "warnings": warnings(),
            });
            print_json(&format!("{whole:#}\n"));
        }
        false => print(&format!("\n{as_text}")),
    }
    if let Some(path) = &command.run.outputs.report {
        let is_violated = |it: &(SearchVerdict, RenderedPage)| it.0 == SearchVerdict::Violated;
        let shown = pages.iter().position(is_violated).unwrap_or(0);
        if let Some((_, page)) = pages.get(shown) {
            result_files::put("the report", path, &page.with_properties(&as_text, &merged))?;
        }
    }
    result_files::write_merged(&command.run.outputs, &merged)
}

/// The verdict on each property, as text.
fn summary(model_name: &str, merged: &JudgementReport) -> String {
    let of = |verdict| -> Vec<&PropertyJudgement> {
        merged.decided().filter(|it| it.verdict == verdict).collect()
    };
    let [held, violated, open] =
        [PropertyVerdict::Held, PropertyVerdict::Violated, PropertyVerdict::Open].map(of);
    let all = grouped((held.len() + violated.len() + open.len()) as u64);
    let says = match (violated.len(), open.len()) {
        (0, 0) => format!("verified: all {all} properties hold"),
        (0, open) => format!("incomplete: {open} of {all} properties are not decided"),
        (violated, _) => format!("VIOLATED: {violated} of {all} properties"),
    };
    let mut out = wrapped("", &format!("{model_name}: {says}"));
    for (label, some) in [("violated", violated), ("open", open), ("verified", held)] {
        let titles: Vec<String> = some.iter().map(|it| it.title()).collect();
        if !titles.is_empty() {
            out += &row(label, &titles.join("; "));
        }
    }
    out
}
