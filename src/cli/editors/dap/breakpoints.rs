//! Breakpoints on lines of the model.

use crate::cli::breakpoints::{FileLine, LineRange};
use crate::cli::editors::positions::{full_path, position_of};
use crate::model::{StepDescription, SystemDescription};
use crate::source::{SourceFile, SourceMap, Span};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A breakpoint of the client.
pub(super) struct LineBreakpoint {
    at: FileLine,
    /// The expression that has to hold.
    pub condition: Option<String>,
}

/// The arguments of `setBreakpoints`.
#[derive(Deserialize)]
pub(super) struct SetBreakpoints {
    pub source: DapSource,
    #[serde(default)]
    pub breakpoints: Vec<WantedBreakpoint>,
}

/// A source of the client.
#[derive(Deserialize)]
pub(super) struct DapSource {
    pub path: Option<PathBuf>,
}

/// A breakpoint that the client wants.
#[derive(Deserialize)]
pub(super) struct WantedBreakpoint {
    pub line: usize,
    pub condition: Option<String>,
}

/// The numbers of the client's first line and first column: 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ClientInformation")]
pub(super) struct ClientNumbering {
    first_line: usize,
    first_column: u32,
}

impl Default for ClientNumbering {
    fn default() -> ClientNumbering {
        ClientInformation::default().into()
    }
}

/// The arguments of `initialize`, as far as they are used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClientInformation {
    lines_start_at1: bool,
    columns_start_at1: bool,
}

impl Default for ClientInformation {
    fn default() -> ClientInformation {
        ClientInformation { lines_start_at1: true, columns_start_at1: true }
    }
}

impl From<ClientInformation> for ClientNumbering {
    fn from(it: ClientInformation) -> ClientNumbering {
        ClientNumbering {
            first_line: it.lines_start_at1.into(),
            first_column: it.columns_start_at1.into(),
        }
    }
}

impl ClientNumbering {
    /// Returns the client's number of a line.
    fn line(self, line: usize) -> usize {
        line - 1 + self.first_line
    }

    /// Returns the line of a client's number.
    fn own_line(self, line: usize) -> usize {
        (line + 1).saturating_sub(self.first_line)
    }
}

/// The files of a model, as the client knows them.
pub(super) struct ModelFiles<'m> {
    sources: &'m SourceMap,
    numbering: ClientNumbering,
    /// The folder to which the names of the files are relative.
    folder: PathBuf,
}

impl<'m> ModelFiles<'m> {
    /// Names the files of a model, which may be that of a search directory. Then the model's file is first searched in the
    /// folders around the directory, because the search may have started in one of them.
    pub(super) fn new(
        sources: &'m SourceMap,
        directory: Option<&Path>,
        numbering: ClientNumbering,
    ) -> ModelFiles<'m> {
        let directory = directory.map(full_path);
        let around = directory.iter().flat_map(|it| it.ancestors().skip(1));
        let model = sources.model_files().next();
        let has_model = |it: &&Path| model.is_some_and(|model| it.join(&model.name).is_file());
        let folder = { around }.find(has_model).map_or_else(PathBuf::new, Path::to_path_buf);
        ModelFiles { sources, numbering, folder }
    }

    /// Returns the file of the start of a span, and the client's number of the line.
    pub(super) fn line_of(&self, span: Span) -> Option<(PathBuf, usize)> {
        let at = self.start_of(span)?;
        Some((self.path_of(self.sources.file(at.file)), self.numbering.line(at.line)))
    }

    /// Returns the line of the model in which a span begins.
    fn start_of(&self, span: Span) -> Option<FileLine> {
        self.lines_of(span).map(LineRange::start)
    }

    /// Returns the lines of a span of the model.
    fn lines_of(&self, span: Span) -> Option<LineRange> {
        let is_of_model = self.sources.get(span.file).is_some_and(|it| !it.is_property);
        LineRange::of(span, self.sources).filter(|_| is_of_model)
    }

    fn path_of(&self, file: &SourceFile) -> PathBuf {
        full_path(&self.folder.join(&file.name))
    }

    /// Returns the number of the file with a path.
    fn number_of(&self, path: &Path) -> Option<u32> {
        let mut files = (0..).zip(self.sources.model_files());
        files.find(|(_, it)| self.path_of(it) == path).map(|it| it.0)
    }

    /// Returns the client's number of the column of the start of a span, in UTF-16 units.
    pub(super) fn column_of(&self, span: Span) -> u32 {
        let character = |it| position_of(it, span.start).character;
        self.sources.get(span.file).map_or(0, character) + self.numbering.first_column
    }
}

/// The lines of steps.
pub(super) struct SteppedLines(BTreeSet<LineRange>);

impl SteppedLines {
    pub(super) fn of(walked: &dyn SystemDescription, files: &ModelFiles<'_>) -> SteppedLines {
        let actions = walked.actions();
        let actions = actions.iter().filter_map(|it| files.lines_of(it.span));
        let mut lines: BTreeSet<LineRange> = actions.collect();
        walked.visit_starts(&mut |start| {
            lines.extend(start.spans.iter().filter_map(|it| files.lines_of(*it)));
            std::ops::ControlFlow::Break(())
        });
        SteppedLines(lines)
    }

    /// Returns the first line of the innermost step on a line, or else of the next step.
    fn from(&self, at: FileLine) -> Option<FileLine> {
        let of_file = || self.0.iter().filter(|it| it.start().file == at.file);
        let around = of_file().filter(|it| it.contains(at));
        let around = around.map(|it| it.start()).max();
        around.or_else(|| of_file().map(|it| it.start()).find(|it| *it > at))
    }
}

/// All breakpoints.
#[derive(Default)]
pub(super) struct LineBreakpoints(Vec<LineBreakpoint>);

impl LineBreakpoints {
    /// Replaces the breakpoints of a file. Returns the client's number of the line of each, if a step begins there.
    pub(super) fn set(
        &mut self,
        wanted: &SetBreakpoints,
        files: &ModelFiles<'_>,
        lines: &SteppedLines,
    ) -> Vec<Option<usize>> {
        let path = wanted.source.path.as_deref().map(full_path).unwrap_or_default();
        let file = files.number_of(&path);
        self.0.retain(|it| Some(it.at.file) != file);
        let mut found = Vec::new();
        for WantedBreakpoint { line, condition } in &wanted.breakpoints {
            let line = files.numbering.own_line(*line);
            let at = file.and_then(|file| lines.from(FileLine { file, line }));
            let condition = condition.clone().filter(|it| !it.trim().is_empty());
            self.0.extend(at.map(|at| LineBreakpoint { at, condition }));
            found.push(at.map(|it| files.numbering.line(it.line)));
        }
        found
    }

    /// Returns the breakpoints on the lines of a step.
    pub(super) fn at<'b>(
        &'b self,
        files: &ModelFiles<'_>,
        step: &StepDescription,
    ) -> impl Iterator<Item = &'b LineBreakpoint> {
        let lines: Vec<_> = step.spans.iter().filter_map(|it| files.start_of(*it)).collect();
        self.0.iter().filter(move |it| lines.contains(&it.at))
    }
}
