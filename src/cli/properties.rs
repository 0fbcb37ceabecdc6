//! `check` of several properties: one search for safety properties, then one for each temporal property, and one
//! result for all of them.

use super::args::LivenessArgs;
use super::collector::{CheckCollector, CollectedResults};
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
use crate::session::{
    CheckDirectory, CheckPlan, RunProperty, SavedCheck, SearchDirectory, TextModel,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Checks several properties.
pub(super) fn check(command: &CheckCommand, plan: &CheckPlan, model: &TextModel) -> CommandResult {
    reject_single_search_flags(command, plan)?;
    if plan.searches.iter().all(|it| it.property.is_some()) {
        liveness::reject_state_flags(command)?;
        liveness::reject_state_reductions(command)?;
    }
    let saved = SavedCheck::new(&command.config, model, plan.folders());
    let directory = command.dir.as_deref().map(|dir| CheckDirectory::create(dir, &saved));
    let _locked = directory.transpose()?;
    run_plan(command, plan)
}

/// Resumes a check in a directory. Searches that have begun are resumed, and the others begin.
pub(super) fn resume(saved: &SavedCheck, dir: &Path, run: SessionOptions) -> CommandResult {
    let _locked = CheckDirectory::lock(dir)?;
    let command = CheckCommand::resumed(saved, dir, run)?;
    let plan = CheckPlan::of(&command.config, &model::open_quietly(&command.model)?.0)?;
    run_plan(&command, &plan)
}

/// Runs the searches of a plan, one after the other.
fn run_plan(command: &CheckCommand, plan: &CheckPlan) -> CommandResult {
    let mut command = command.clone();
    let model_name = command.model.path.display().to_string();
    let collector = Arc::new(CheckCollector::default());
    command.run.collector = Some(Arc::clone(&collector));
    let mut codes = Vec::new();
    for search in &plan.searches {
        // A signal or the deadline stops the whole check.
        let is_stopped = codes.contains(&failure::STOPPED) && !command.is_limited();
        if let (Some(property), true) = (&search.property, command.is_over() || is_stopped) {
            collector.add_judgements(undecided(property, &model_name));
            codes.push(failure::STOPPED);
            continue;
        }
        separate(&command, !codes.is_empty());
        let mut one = command.reconfigured(|config| config.clone_from(&search.config));
        one.dir = command.dir.as_ref().map(|it| it.join(&search.folder));
        if search.property.is_none() {
            one.runs = LivenessArgs::default();
        }
        codes.push(begin_or_resume(one)?);
    }
    finish(&command, &collector, &model_name)?;
    let worst = [failure::WRONG, failure::VIOLATED, failure::STOPPED];
    Ok(worst.into_iter().find(|it| codes.contains(it)).unwrap_or(failure::VERIFIED))
}

/// Returns the judgement of a temporal property whose search did not run.
fn undecided(property: &RunProperty, model_name: &str) -> JudgementReport {
    let (kind, name) = match property {
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

/// Resumes a search that has begun in its folder, or begins it.
fn begin_or_resume(command: CheckCommand) -> CommandResult {
    match &command.dir {
        Some(dir) if SearchDirectory::has_search(dir) => {
            super::resume_search(dir, command.run.clone())
        }
        _ => slots::retry_with_more_slots(command, |it| &mut it.model, begin),
    }
}

fn begin(command: &CheckCommand) -> CommandResult {
    let preparation = SearchPreparation::begin(&command.run);
    if let Some(property) = command.property() {
        return liveness::check(command, property.request(), preparation);
    }
    preparation.enter(SearchPhase::Reading);
    let (model, warned) = model::open_quietly(&command.model)?;
    warned.iter().for_each(warn);
    run::check(command, model, preparation)
}

/// Prints an empty line between the reports of two searches.
fn separate(command: &CheckCommand, is_behind: bool) {
    if is_behind && !command.run.json {
        print("\n");
    }
}

/// Rejects flags that apply to one search.
fn reject_single_search_flags(
    command: &CheckCommand,
    plan: &CheckPlan,
) -> Result<(), CommandFailure> {
    if command.run.spin_trail.is_none() {
        return Ok(());
    }
    let searches = plan.searches.len();
    Err(CommandFailure::wrong(format!(
        "--spin-trail needs a single search, but this check takes {searches}\n  help: --ltl NAME checks one property"
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
            result_files::put("the report", path, &page.with_properties(&as_text, &merged.told))?;
        }
    }
    result_files::write_merged(&command.run.outputs, &merged)
}

/// Formats the verdict on each property.
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
