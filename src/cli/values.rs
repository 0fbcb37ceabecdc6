//! `values`: the values that the variables of a model have in the visited states.

use super::args::ValuesArgs;
use super::failure::{self, CommandFailure};
use super::signals::SignalHandlers;
use super::{CommandResult, print, print_json, trace_finder, warnings};
use crate::model::Counters;
use crate::report::{count, grouped, row, wrapped};
use crate::search::SearchControl;
use crate::search::checkpoint::SavedSearch;
use crate::session::{
    DirectoryContents, ObservedValues, SourceModel, ValueSum, VariableValues,
    observe_described_values, observe_values,
};
use serde_json::{Value, json};
use spill::RealDisk;
use std::path::Path;
use std::sync::Arc;

/// `spillway values`.
pub(super) fn values(args: &ValuesArgs) -> CommandResult {
    let contents = DirectoryContents::read(&args.dir)?;
    let sums: Vec<Vec<String>> = args.sums.iter().map(|it| it.0.clone()).collect();
    let collected = self::collect_values(&args.dir, args.memory, &contents, &sums)?;
    let CollectedValues { model, values: met, reductions: reduced } = collected;
    match args.json {
        true => print_json(&format!("{:#}\n", as_json(&*model, &met, &sums, &reduced))),
        false => print(&as_text(&*model, &met, &sums, &reduced)),
    }
    Ok(failure::VERIFIED)
}

/// The values in the states of a directory.
pub(super) struct CollectedValues {
    model: Box<dyn SourceModel>,
    pub(super) values: ObservedValues,
    /// The names of the reductions.
    reductions: Vec<String>,
}

/// Returns the values in the states of a directory and the sums of these variables, with the model and its reductions.
pub(super) fn collect_values(
    dir: &Path,
    memory: Option<u64>,
    contents: &DirectoryContents,
    sums: &[Vec<String>],
) -> Result<CollectedValues, CommandFailure> {
    if contents.job.runs().is_some() {
        let error = "a search for infinite runs stores states of the product with an automaton";
        let help = "`spillway check MODEL --dir DIR` stores those of the model";
        return Err(CommandFailure::wrong(format!("{error}\n  help: {help}")));
    }
    let model = contents.job.source_model(dir)?;
    let stored = |it: &&SavedSearch| it.store.levels.keys_by_level().sum::<u64>() > 0;
    let Some(saved) = contents.saved.as_ref().filter(stored) else {
        return Err(CommandFailure::wrong("there is no checkpoint yet, so no states"));
    };
    let disk = RealDisk::open(dir).map_err(|error| CommandFailure::cannot_open(dir, error))?;
    let control = Arc::new(SearchControl::default());
    let _signals = SignalHandlers::stop(&control);
    let searched = model.searched();
    let prepared = saved.prepare_model(searched.model(), &disk);
    prepared.map_err(|error| CommandFailure::cannot_open(dir, error))?;
    let memory = memory.unwrap_or(saved.plan.budget);
    let finder = trace_finder::finder(searched.model(), memory, dir, &disk, &control);
    let met = match (model.as_program(), model.stored_description()) {
        (Some(program), _) => observe_values(&finder, program, dir, saved, sums)?,
        (None, Some(description)) if sums.is_empty() => {
            observe_described_values(&finder, description, dir, saved)?
        }
        (None, _) => {
            let why = "--sum is for programs, and this model is a specification";
            return Err(CommandFailure::wrong(format!("{why}\n  help: leave it out")));
        }
    };
    let Some(mut met) = met else {
        let message = "stopped before all states were read";
        return Err(CommandFailure::of_code(failure::STOPPED, message));
    };
    let told = searched.summaries(&Counters::default());
    let reduced: Vec<String> = told.into_iter().map(|it| it.name).collect();
    // Only the requested reductions that are in use change values.
    let is_used = |it: &String| reduced.contains(it);
    met.all.iter_mut().for_each(|it| it.changed_by.retain(is_used));
    met.requested.iter_mut().for_each(|it| it.changed_by.retain(is_used));
    drop(searched);
    Ok(CollectedValues { model, values: met, reductions: reduced })
}

fn as_text(
    model: &dyn SourceModel,
    met: &ObservedValues,
    sums: &[Vec<String>],
    reduced: &[String],
) -> String {
    let heading = format!("{}: values in {}", model.name(), count(met.states, "state"));
    let mut out = wrapped("", &heading);
    let between = |(least, greatest): (i64, i64)| match least == greatest {
        true => grouped_signed(least),
        false => format!("{} to {}", grouped_signed(least), grouped_signed(greatest)),
    };
    for VariableValues { name, range, names, undefined, changed_by } in &met.all {
        let mut told: Vec<String> = match (names, range) {
            (Some(names), _) => names.clone(),
            (None, Some(range)) => vec![between(*range)],
            (None, None) => Vec::new(),
        };
        told.extend(undefined.then(|| "undefined".to_owned()));
        out += &row(name, &(told.join(", ") + &changed(changed_by)));
    }
    for (names, ValueSum { range, changed_by }) in sums.iter().zip(&met.requested) {
        let told = range.map_or(String::new(), between);
        out += &row(&names.join(" + "), &(told + &changed(changed_by)));
    }
    if let Some((what, sums)) = model.language().options.whole.zip(met.sums) {
        let mut by: Vec<String> =
            met.all.iter().flat_map(|it| it.changed_by.iter().cloned()).collect();
        by.dedup();
        out += &row(what, &format!("{} all together{}", between(sums), changed(&by)));
    }
    if !reduced.is_empty() {
        let told = format!("by {}: pruned states may have other values", reduced.join(", "));
        out += &row("reduced", &told);
        if met.all.iter().any(|it| !it.changed_by.is_empty()) {
            let told = "changed values are shown as stored, not as in the model; `--reduce none --symmetry off` \
             stores the values of the model";
            out += &row("", told);
        }
    }
    out
}

/// Formats the reductions that change stored values, if there are any.
fn changed(by: &[String]) -> String {
    if by.is_empty() { String::new() } else { format!(" (changed by {})", by.join(", ")) }
}

/// Formats a signed number with grouped digits.
fn grouped_signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

fn as_json(
    model: &dyn SourceModel,
    met: &ObservedValues,
    asked: &[Vec<String>],
    reduced: &[String],
) -> Value {
    let between = |range: Option<(i64, i64)>| {
        range.map(|(least, greatest)| json!({ "least": least, "greatest": greatest }))
    };
    let all = met.all.iter().map(|it| {
        json!({
            "name": it.name, "range": between(it.range), "names": it.names, "undefined": it.undefined,
            "changed_by": it.changed_by,
        })
    });
    let asked = asked.iter().zip(&met.requested);
    let asked = asked.map(|(names, it)| {
        json!({ "of": names, "range": between(it.range), "changed_by": it.changed_by })
    });
    let sums = met.sums.filter(|_| model.language().options.whole.is_some());
    json!({
        "model": model.name(),
        "language": model.language().name,
        "states": met.states,
        "reductions": reduced,
        "values": all.collect::<Vec<_>>(),
        "all_together": between(sums),
        "sums": asked.collect::<Vec<_>>(),
        "warnings": warnings(),
    })
}
