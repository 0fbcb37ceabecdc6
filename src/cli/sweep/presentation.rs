//! The results of a sweep: as a table, as JSON and as CSV.

use super::constants::{RowConstants, row_name};
use super::estimate::{RowSize, SizeEstimate, SizeRange, SizedRow, estimate_next, growth_of};
use super::row_check::RowResult;
use super::rows_text;
use crate::cli::failure;
use crate::cli::quantities;
use crate::escape;
use crate::report::{grouped, row, wrapped};
use crate::session::config::Definition;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The columns after those of the constants: their titles and widths.
const COLUMNS: [(&str, usize); 7] = [
    ("verdict", 8),
    ("states", 15),
    ("transitions", 15),
    ("depth", 7),
    ("growth", 8),
    ("store", 10),
    ("time", 9),
];

/// The results so far.
pub(super) struct SweepTable<'s> {
    /// The results.
    pub rows: &'s [RowResult],
    /// The number of rows of the whole sweep.
    pub all: usize,
    /// Whether a signal has ended it.
    pub is_interrupted: bool,
}

impl SweepTable<'_> {
    fn sized(&self) -> Vec<SizedRow> {
        let sized = |it: &RowResult| {
            let states = it.sum("states").filter(|_| it.is_whole());
            let size = states.map(|states| RowSize { states, bytes: it.sum("store_bytes") });
            SizedRow { constants: it.constants.clone(), size }
        };
        self.rows.iter().map(sized).collect()
    }

    /// Returns why a row was stopped.
    fn stop_reason(&self, number: usize) -> Option<&'static str> {
        let row = &self.rows[number];
        let is_last = number + 1 == self.rows.len();
        (row.code == failure::STOPPED).then_some(match is_last && self.is_interrupted {
            true => "signal",
            false => "limit",
        })
    }

    /// Returns the errors, each once, with the name of its first row.
    pub fn errors(&self) -> Vec<(String, &str)> {
        let mut all: Vec<(String, &str)> = Vec::new();
        for (number, it) in self.rows.iter().enumerate() {
            let error = it.error().filter(|_| self.stop_reason(number).is_none());
            let Some(error) = error else { continue };
            let error = error.strip_prefix("error: ").unwrap_or(error);
            if all.iter().any(|told| told.1 == error) {
                continue;
            }
            all.push((row_name(&it.constants), error));
        }
        all
    }

    /// Returns the results as a JSON object.
    pub fn json(&self, model: &Path) -> Value {
        let growth = growth_of(&self.sized());
        let row = |(number, it): (usize, &RowResult)| {
            json!({
                "constants": constants_as_json(&it.constants),
                "verdict": it.verdict(),
                "exit_code": it.code,
                "stopped_by": self.stop_reason(number),
                "states": it.sum("states"),
                "transitions": it.sum("transitions"),
                "depth": depth(it),
                "growth": growth[number],
                "store_bytes": it.sum("store_bytes"),
                "disk_bytes_peak": it.largest("disk_bytes_peak"),
                "peak_rss_bytes": it.largest("peak_rss_bytes"),
                "seconds": it.seconds(),
                "reused": it.is_reused,
                "error": it.error(),
            })
        };
        json!({
            "model": model.file_name().map(|it| it.to_string_lossy()),
            "rows": self.rows.iter().enumerate().map(row).collect::<Vec<_>>(),
            "rows_left": self.all - self.rows.len(),
            "estimate": estimate_next(&self.sized()).as_ref().map(estimate_as_json),
            "warnings": crate::cli::warnings(),
        })
    }

    /// Returns the results as comma-separated values.
    pub fn csv(&self) -> String {
        let growth = growth_of(&self.sized());
        let mut writer = csv::Writer::from_writer(Vec::new());
        let names = self.rows.first().map_or(&[][..], |it| &it.constants);
        let names = names.iter().map(|it| it.name.clone());
        let titles = [
            "verdict",
            "exit_code",
            "states",
            "transitions",
            "depth",
            "growth",
            "store_bytes",
            "disk_bytes_peak",
            "seconds",
        ];
        // Writing to memory does not fail.
        let _ = writer.write_record(names.chain(titles.map(str::to_owned)));
        for (it, growth) in self.rows.iter().zip(growth) {
            let number = |it: Option<u64>| it.map_or(String::new(), |it| it.to_string());
            let decimal = |it: Option<f64>| it.map_or(String::new(), |it| it.to_string());
            let values = it.constants.iter().map(|it| escape::csv(it.text()).into_owned());
            let figures = [
                it.verdict().to_owned(),
                it.code.to_string(),
                number(it.sum("states")),
                number(it.sum("transitions")),
                number(depth(it)),
                decimal(growth),
                number(it.sum("store_bytes")),
                number(it.largest("disk_bytes_peak")),
                decimal(it.seconds()),
            ];
            let _ = writer.write_record(values.chain(figures));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// Returns the depth of the deepest states of a row, if it is known.
fn depth(it: &RowResult) -> Option<u64> {
    it.largest("levels").map(|it| it.saturating_sub(1))
}

/// Returns constants as an object. Integers are numbers.
fn constants_as_json(constants: &RowConstants) -> Value {
    let value = |it: &Definition| it.integer().map_or_else(|| json!(it.text()), |it| json!(it));
    constants.iter().map(|it| (it.name.clone(), value(it))).collect::<Map<_, _>>().into()
}

fn estimate_as_json(it: &SizeEstimate) -> Value {
    let range = |it: SizeRange| json!({ "low": it.low, "high": it.high });
    json!({
        "constants": constants_as_json(&it.constants),
        "method": "geometric",
        "states": range(it.states),
        "store_bytes": it.bytes.map(range),
    })
}

/// The widths of the columns of the constants.
pub(super) struct TableLayout {
    names: Vec<(String, usize)>,
}

impl TableLayout {
    /// Creates the layout of a table with these rows.
    pub fn of(rows: &[RowConstants]) -> TableLayout {
        let first = rows.first().map_or(&[][..], |it| it);
        let names = first.iter().enumerate().map(|(number, it)| {
            let values = rows.iter().map(|row| escape::line(row[number].text()).chars().count());
            (it.name.clone(), values.max().unwrap_or(0).max(it.name.chars().count()))
        });
        TableLayout { names: names.collect() }
    }

    fn line(&self, constants: &[String], cells: &[String; 7]) -> String {
        let mut line = String::new();
        for (text, (_, width)) in constants.iter().zip(&self.names) {
            line += &format!("{text:<width$}  ");
        }
        for ((number, cell), (_, width)) in cells.iter().enumerate().zip(COLUMNS) {
            line += &match number {
                0 => format!("{cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        format!("{}\n", line.trim_end())
    }

    /// Returns the titles of the columns.
    pub fn heading(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|it| it.0.clone()).collect();
        self.line(&names, &COLUMNS.map(|it| it.0.to_owned()))
    }

    /// Returns the line of a row.
    pub fn row(&self, table: &SweepTable<'_>, number: usize) -> String {
        let it = &table.rows[number];
        let constants: Vec<String> =
            it.constants.iter().map(|it| escape::line(it.text()).into_owned()).collect();
        let figure = |it: Option<u64>| it.map_or_else(|| "-".to_owned(), grouped);
        let growth = growth_of(&table.sized())[number];
        let time = it.seconds().map_or_else(|| "-".to_owned(), |it| format!("{it:.2} s"));
        let cells = [
            it.verdict().to_owned(),
            figure(it.sum("states")),
            figure(it.sum("transitions")),
            figure(depth(it)),
            growth.map_or_else(|| "-".to_owned(), |it| format!("x {it:.2}")),
            it.sum("store_bytes").map_or_else(|| "-".to_owned(), quantities::size),
            time,
        ];
        self.line(&constants, &cells)
    }

    /// Returns the text after the last row.
    pub fn end(&self, table: &SweepTable<'_>) -> String {
        let mut out = String::new();
        let errors = table.errors();
        for (number, it) in table.rows.iter().enumerate() {
            let name = row_name(&it.constants);
            if it.is_reused {
                out += &row(
                    "kept",
                    &format!("{name}: the result of an earlier sweep in this directory"),
                );
            }
            match table.stop_reason(number) {
                Some("signal") => out += &row("stopped", &format!("{name}: by a signal")),
                Some(_) => {
                    out += &row(
                        "stopped",
                        &format!("{name}: at a limit, or without space; all figures are so far"),
                    );
                }
                None => {
                    let first = errors.iter().find(|it| it.0 == name);
                    first.iter().for_each(|(_, error)| out += &error_rows(&name, error));
                }
            }
        }
        if let Some(estimate) = estimate_next(&table.sized()) {
            out += &estimate_row(&estimate);
        }
        let left = table.all - table.rows.len();
        if left > 0 {
            out +=
                &row("left", &format!("{} not checked: a signal ended the sweep", rows_text(left)));
        }
        out
    }
}

/// Formats the error of a row.
fn error_rows(name: &str, error: &str) -> String {
    let mut lines = error.lines();
    let mut out = wrapped(&format!("  error    {name}: "), lines.next().unwrap_or(error));
    lines.for_each(|it| out += &format!("           {}\n", escape::line(it)));
    out
}

/// Formats an estimate.
fn estimate_row(it: &SizeEstimate) -> String {
    let range = |it: SizeRange, text: &dyn Fn(u64) -> String| {
        let (low, high) = (text(it.low), text(it.high));
        if low == high { low } else { format!("{low} to {high}") }
    };
    let short = |it: u64| quantities::short(it as f64);
    let stored =
        it.bytes.map_or(String::new(), |it| format!(", {} stored", range(it, &quantities::size)));
    let states = range(it.states, &short);
    row(
        "estimate",
        &format!(
            "{}: about {states} states{stored}, if it grows as before",
            row_name(&it.constants)
        ),
    )
}
