//! The diagnostics that the client shows: those of models and those of checks.

use super::documents::{OpenDocuments, OpenModel};
use crate::cli::editors::bounded_check::{LocatedStep, LocatedTrace};
use crate::cli::editors::positions::{full_path, location_of, path_of, uri_of};
use crate::diag::{Diagnostic, Severity};
use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, Location, PublishDiagnosticsParams, Range,
    Uri,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The maximum number of steps of a counterexample that a diagnostic lists.
const STEPS_MAX: usize = 200;

/// The diagnostics by file.
type FileDiagnostics = BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>>;

/// The diagnostics of each model, and those that the client has.
#[derive(Default)]
pub(super) struct DiagnosticStore {
    readings: BTreeMap<PathBuf, FileDiagnostics>,
    checks: BTreeMap<PathBuf, FileDiagnostics>,
    published: FileDiagnostics,
}

impl DiagnosticStore {
    /// Sets the diagnostics of a model that was read. Those of its last check are removed.
    pub(super) fn set_reading(&mut self, root: &Path, model: &OpenModel) {
        let mut by_file = FileDiagnostics::new();
        // A file without diagnostics loses those that it had.
        for file in model.sources.model_files() {
            by_file.entry(full_path(Path::new(&file.name))).or_default();
        }
        for diagnostic in &model.diagnostics {
            let place = location_of(&model.sources, diagnostic.span);
            let start = || Some(Location { uri: uri_of(root)?, range: Range::default() });
            add(&mut by_file, place.or_else(start), |range| as_shown(diagnostic, range));
        }
        self.readings.insert(root.to_path_buf(), by_file);
        self.checks.remove(root);
    }

    /// Sets the counterexamples of the last check of a model.
    pub(super) fn set_check(&mut self, root: &Path, traces: &[LocatedTrace]) {
        let mut by_file = FileDiagnostics::new();
        for trace in traces {
            let last = || trace.steps.iter().rev().find_map(|it| it.place.clone());
            let start = || Some(Location { uri: uri_of(root)?, range: Range::default() });
            let place = trace.place.clone().or_else(last).or_else(start);
            add(&mut by_file, place, |range| counterexample(trace, range));
        }
        self.checks.insert(root.to_path_buf(), by_file);
    }

    /// Removes the diagnostics of a model.
    pub(super) fn forget(&mut self, root: &Path, documents: &OpenDocuments) {
        self.readings.remove(root);
        self.checks.remove(root);
        self.publish(documents);
    }

    /// Sends the diagnostics of each file for which they have changed. An open file has the address that the client
    /// uses.
    pub(super) fn publish(&mut self, documents: &OpenDocuments) {
        // A model may have turned out to be a part of another one.
        self.readings.retain(|root, _| documents.model(root).is_some());
        self.checks.retain(|root, _| documents.model(root).is_some());
        let mut all = FileDiagnostics::new();
        for (path, diagnostics) in self.readings.values().chain(self.checks.values()).flatten() {
            let of_file = all.entry(path.clone()).or_default();
            // Two models that include a file have the same diagnostics in it.
            let new = diagnostics.iter().filter(|it| !of_file.contains(it));
            let new: Vec<_> = new.cloned().collect();
            of_file.extend(new);
        }
        let publish = |path: &Path, diagnostics: &[lsp_types::Diagnostic]| {
            let known = documents.uri_of(path).cloned();
            known.or_else(|| uri_of(path)).into_iter().for_each(|it| publish_file(it, diagnostics));
        };
        let gone = self.published.keys().filter(|it| !all.contains_key(*it));
        gone.for_each(|it| publish(it, &[]));
        let changed = all.iter().filter(|(path, it)| self.published.get(*path) != Some(it));
        changed.for_each(|(path, it)| publish(path, it));
        self.published = all;
    }
}

/// Adds a diagnostic of some location.
fn add(
    by_file: &mut FileDiagnostics,
    location: Option<Location>,
    diagnostic: impl FnOnce(Range) -> lsp_types::Diagnostic,
) {
    let Some(Location { uri, range }) = location else { return };
    if let Some(path) = path_of(&uri) {
        by_file.entry(path).or_default().push(diagnostic(range));
    }
}

fn publish_file(uri: Uri, diagnostics: &[lsp_types::Diagnostic]) {
    let diagnostics = diagnostics.to_vec();
    let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
    super::notify("textDocument/publishDiagnostics", json!(params));
}

/// Returns a diagnostic of a model as editors show it, with its advice.
fn as_shown(diagnostic: &Diagnostic, range: Range) -> lsp_types::Diagnostic {
    let severity = match diagnostic.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let help = diagnostic.help.as_ref().map_or(String::new(), |it| format!("\nhelp: {it}"));
    lsp_types::Diagnostic {
        range,
        severity: Some(severity),
        source: Some("spillway".to_owned()),
        message: format!("{}{help}", diagnostic.message),
        ..lsp_types::Diagnostic::default()
    }
}

/// Returns the diagnostic of a counterexample. Its related information is the steps.
fn counterexample(trace: &LocatedTrace, range: Range) -> lsp_types::Diagnostic {
    let steps = trace.steps.iter().filter_map(|LocatedStep { number, title, place }| {
        let message = match number {
            Some(0) => format!("start: {title}"),
            Some(number) => format!("step {number}: {title}"),
            None => title.clone(),
        };
        Some(DiagnosticRelatedInformation { location: place.clone()?, message })
    });
    let cycle = trace
        .loop_start
        .map_or(String::new(), |back| format!(", and the steps after step {back} repeat for ever"));
    let depth = crate::report::count(trace.depth() as u64, "step");
    lsp_types::Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("spillway check".to_owned()),
        message: format!("violated after {depth}{cycle}: {}", trace.to),
        related_information: Some(steps.take(STEPS_MAX).collect()),
        ..lsp_types::Diagnostic::default()
    }
}
