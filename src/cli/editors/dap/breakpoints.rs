//! Breakpoints on lines of the model.

use crate::cli::editors::positions::{full_path, position_of};
use crate::model::{StepDescription, SystemDescription};
use crate::source::{SourceMap, Span};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A breakpoint.
pub(super) struct LineBreakpoint {
    path: PathBuf,
    pub line: usize,
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

/// The files of a model, as the client knows them.
pub(super) struct ModelFiles<'m> {
    sources: &'m SourceMap,
    /// The folder to which the names of the files are relative.
    folder: PathBuf,
}

impl<'m> ModelFiles<'m> {
    /// Names the files of a model, which may be that of a search directory. The search need not have been started in the
    /// current folder: the model's file is looked for in the folders around the directory first.
    pub(super) fn new(sources: &'m SourceMap, directory: Option<&Path>) -> ModelFiles<'m> {
        let directory = directory.map(full_path);
        let around = directory.iter().flat_map(|it| it.ancestors().skip(1));
        let model = sources.model_files().next();
        let has_model = |it: &&Path| model.is_some_and(|model| it.join(&model.name).is_file());
        let folder = { around }.find(has_model).map_or_else(PathBuf::new, Path::to_path_buf);
        ModelFiles { sources, folder }
    }

    /// Returns the file and the line of the start of a span.
    pub(super) fn line_of(&self, span: Span) -> Option<(PathBuf, usize)> {
        self.lines_of(span).map(|it| (it.path, it.first))
    }

    /// Returns the column of the start of a span, in UTF-16 units from 1 on.
    pub(super) fn column_of(&self, span: Span) -> u32 {
        self.sources.get(span.file).map_or(1, |it| position_of(it, span.start).character + 1)
    }

    fn lines_of(&self, span: Span) -> Option<FileLines> {
        if span == Span::default() {
            return None;
        }
        let file = self.sources.get(span.file).filter(|it| !it.is_property)?;
        let path = full_path(&self.folder.join(&file.name));
        let (first, last) = (file.line_at(span.start), file.line_at(span.end.max(span.start)));
        Some(FileLines { path, first, last })
    }
}

/// Some lines of a file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FileLines {
    path: PathBuf,
    first: usize,
    last: usize,
}

/// The lines of steps.
pub(super) struct SteppedLines(BTreeSet<FileLines>);

impl SteppedLines {
    pub(super) fn of(walked: &dyn SystemDescription, files: &ModelFiles<'_>) -> SteppedLines {
        let actions = walked.actions();
        let actions = actions.iter().filter_map(|it| files.lines_of(it.span));
        let mut lines: BTreeSet<FileLines> = actions.collect();
        walked.visit_starts(&mut |start| {
            lines.extend(start.spans.iter().filter_map(|it| files.lines_of(*it)));
            std::ops::ControlFlow::Break(())
        });
        SteppedLines(lines)
    }

    /// Returns the first line of the innermost step on a line, or else of the next step.
    fn from(&self, path: &Path, line: usize) -> Option<usize> {
        let of_file = || self.0.iter().filter(|it| it.path == path);
        let around = of_file().filter(|it| (it.first..=it.last).contains(&line));
        let around = around.map(|it| it.first).max();
        around.or_else(|| of_file().map(|it| it.first).find(|it| *it > line))
    }
}

/// All breakpoints.
#[derive(Default)]
pub(super) struct LineBreakpoints(Vec<LineBreakpoint>);

impl LineBreakpoints {
    /// Replaces the breakpoints of a file. Returns the line of each, if a step begins there.
    pub(super) fn set(
        &mut self,
        wanted: &SetBreakpoints,
        lines: &SteppedLines,
    ) -> Vec<Option<usize>> {
        let path = wanted.source.path.as_deref().map(full_path).unwrap_or_default();
        self.0.retain(|it| it.path != path);
        let mut found = Vec::new();
        for WantedBreakpoint { line, condition } in &wanted.breakpoints {
            let line = lines.from(&path, *line);
            let condition = condition.clone().filter(|it| !it.trim().is_empty());
            let path = path.clone();
            self.0.extend(line.map(|line| LineBreakpoint { path, line, condition }));
            found.push(line);
        }
        found
    }

    /// Returns the breakpoints on the lines of a step.
    pub(super) fn at<'b>(
        &'b self,
        files: &ModelFiles<'_>,
        step: &StepDescription,
    ) -> impl Iterator<Item = &'b LineBreakpoint> {
        let lines: Vec<_> = step.spans.iter().filter_map(|it| files.line_of(*it)).collect();
        self.0.iter().filter(move |it| lines.iter().any(|at| it.path == at.0 && it.line == at.1))
    }
}
