//! `sweep`: checks of a model with lists of values of its constants, and a table of their results.

mod constants;
mod estimate;
mod presentation;
mod row_check;

use super::args::{CheckArgs, SweepArgs};
use super::failure::{self, CommandFailure};
use super::signals::SignalHandlers;
use super::{CommandResult, output, print, print_json, say, warn};
use crate::escape;
use crate::report::count;
use crate::search::SearchControl;
use crate::session::{CheckConfig, read_text};
use constants::rows_of;
use presentation::{SweepTable, TableLayout};
use row_check::{RowResult, SweepSetup, check_row};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The file in the directory of a sweep that describes what the rows have in common.
const DESCRIPTION: &str = "sweep.json";

/// `spillway sweep`.
pub(super) fn sweep(args: &SweepArgs) -> CommandResult {
    reject_single_search_flags(&args.check)?;
    let file = args.check.config.as_ref();
    let mut config = file.map(|it| CheckConfig::read(it)).transpose()?.unwrap_or_default();
    args.check.apply(&mut config)?;
    reject_outputs(&config)?;
    let mut lists = std::mem::take(&mut config.sweep).lists();
    lists.extend(args.over.iter().cloned());
    let rows = rows_of(&lists, &config.model.definitions)?;
    let (model, dir) = (args.check.model.model.as_path(), args.check.dir.as_deref());
    if let Some(dir) = dir {
        open_directory(dir, model, &config)?;
    }
    let control = SearchControl::default();
    let _signals = SignalHandlers::stop(&control);
    let setup = SweepSetup { model, config: &config, dir, control: &control };
    let layout = TableLayout::of(&rows);
    let is_text = !args.check.run.shown.json && args.format.is_none();
    let (all, mut results) = (rows.len(), Vec::new());
    if is_text {
        print(&layout.heading());
    }
    for constants in rows {
        if control.should_stop() {
            break;
        }
        draw_progress(&format!(
            "row {} of {all}: {}",
            results.len() + 1,
            constants::row_name(&constants)
        ));
        let result = check_row(&setup, constants);
        draw_progress("");
        results.push(result?);
        if is_text {
            let table = SweepTable { rows: &results, all, is_interrupted: control.should_stop() };
            print(&layout.row(&table, results.len() - 1));
        }
    }
    let table = SweepTable { rows: &results, all, is_interrupted: control.should_stop() };
    say_warnings(&results);
    match (args.check.run.shown.json, args.format) {
        (true, _) => print_json(&format!("{:#}\n", table.json(model))),
        (false, Some(_)) => {
            print(&table.csv());
            table.errors().iter().for_each(|(name, error)| say(format!("error: {name}: {error}")));
        }
        (false, None) => print(&layout.end(&table)),
    }
    Ok(exit_code(&table))
}

/// Returns the worst exit code of the rows.
fn exit_code(table: &SweepTable<'_>) -> u8 {
    let worst = [failure::DAMAGED, failure::WRONG, failure::VIOLATED, failure::STOPPED];
    let is_short = table.rows.len() < table.all;
    let has = |code: u8| {
        table.rows.iter().any(|it| it.code == code) || code == failure::STOPPED && is_short
    };
    worst.into_iter().find(|it| has(*it)).unwrap_or(failure::VERIFIED)
}

/// Rejects outputs of a configuration file, which apply to one search.
fn reject_outputs(config: &CheckConfig) -> Result<(), CommandFailure> {
    match config.output.flags().first() {
        None => Ok(()),
        Some((flag, _)) => Err(single_check_only(&format!(
            "`{}` in the section [output] of the configuration",
            flag.trim_start_matches('-')
        ))),
    }
}

/// Returns the failure that an option applies to one search.
fn single_check_only(option: &str) -> CommandFailure {
    CommandFailure::wrong(format!(
        "{option} is for a single check, and a sweep has one for each row\n  help: check a row with `spillway check -D \
         NAME=VALUE`"
    ))
}

/// Rejects flags that apply to one search.
fn reject_single_search_flags(args: &CheckArgs) -> Result<(), CommandFailure> {
    let CheckArgs { run, questions, explore, .. } = args;
    let given = [
        ("--spin-trail", run.spin_trail.is_some()),
        ("--report", run.report.is_some()),
        ("--junit", run.junit.is_some()),
        ("--sarif", run.sarif.is_some()),
        ("--notify", run.notify.is_some()),
        ("--verbose", run.verbose),
        ("--unfolded", run.shown.unfolded),
        ("--msc", run.shown.msc),
        ("--explore", explore.is_some()),
        ("--property", questions.property_file.is_some()),
        ("--mcc", questions.mcc),
    ];
    match given.into_iter().find(|it| it.1) {
        None => Ok(()),
        Some((flag, _)) => Err(single_check_only(flag)),
    }
}

/// Creates the directory of a sweep, or opens the one of a sweep of the same model with the same options.
fn open_directory(dir: &Path, model: &Path, config: &CheckConfig) -> Result<(), CommandFailure> {
    let cannot = |error| CommandFailure::cannot_write("the directory", dir, error);
    let (file, text) = (dir.join(DESCRIPTION), read_text(model)?);
    let CheckConfig { model: reading, properties, search, .. } = config;
    let automata = properties.automata.iter().map(|it| read_text(it));
    let automata = automata.collect::<Result<Vec<String>, _>>()?;
    let described = json!({
        "model": model.file_name().map(|it| it.to_string_lossy()),
        "text": text,
        "automata": automata,
        "config": { "model": reading, "properties": properties, "search": search },
    });
    match fs::read(&file) {
        Ok(bytes) => {
            match serde_json::from_slice::<Value>(&bytes).is_ok_and(|it| it == described) {
                true => Ok(()),
                false => Err(CommandFailure::wrong(format!(
                    "{} holds a sweep of another model, or with other options\n  help: use a new directory; the lists of \
                 values and the limits may change",
                    dir.display()
                ))),
            }
        }
        Err(_) => {
            fs::create_dir_all(dir).map_err(cannot)?;
            if fs::read_dir(dir).map_err(cannot)?.next().is_some() {
                return Err(CommandFailure::wrong(format!(
                    "{} is not empty and holds no sweep\n  help: use a new or empty directory",
                    dir.display()
                )));
            }
            replace_file(&file, &format!("{described:#}\n"))
        }
    }
}

/// Writes a file as a whole: after a crash it has the old text or the new one.
fn replace_file(file: &Path, text: &str) -> Result<(), CommandFailure> {
    let new = file.with_extension("new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| CommandFailure::cannot_write("the result", file, error))
}

/// Prints the warnings of all rows, each once.
fn say_warnings(results: &[RowResult]) {
    let mut said: Vec<&str> = Vec::new();
    for it in results.iter().flat_map(|it| it.document["warnings"].as_array().into_iter().flatten())
    {
        let Some(text) = it.as_str().filter(|it| !said.contains(it)) else { continue };
        said.push(text);
        warn(text);
    }
}

/// Draws a line on a terminal that shows no rows for a while. An empty text clears it.
fn draw_progress(text: &str) {
    if output::columns().is_some() {
        output::draw(&format!("{}{}\r", super::progress::CLEAR, escape::line(text)));
    }
}

/// Formats a number of rows.
fn rows_text(rows: usize) -> String {
    count(rows as u64, "row")
}
