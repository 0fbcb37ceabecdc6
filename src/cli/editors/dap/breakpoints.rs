//! Breakpoints on lines of the model.

use crate::cli::editors::positions::full_path;
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

/// Returns the file and the line of a span.
pub(super) fn line_of(sources: &SourceMap, span: Span) -> Option<(PathBuf, usize)> {
    if span == Span::default() {
        return None;
    }
    let file = sources.get(span.file).filter(|it| !it.is_property)?;
    Some((full_path(Path::new(&file.name)), file.line_at(span.start)))
}

/// The lines on which steps begin.
pub(super) struct SteppedLines(BTreeSet<(PathBuf, usize)>);

impl SteppedLines {
    pub(super) fn of(walked: &dyn SystemDescription, sources: &SourceMap) -> SteppedLines {
        let actions = walked.actions();
        let actions = actions.iter().filter_map(|it| line_of(sources, it.span));
        let mut lines: BTreeSet<(PathBuf, usize)> = actions.collect();
        walked.visit_starts(&mut |start| {
            lines.extend(start.spans.iter().filter_map(|it| line_of(sources, *it)));
            std::ops::ControlFlow::Break(())
        });
        SteppedLines(lines)
    }

    /// Returns the first line from the given one on at which a step begins.
    fn from(&self, path: &Path, line: usize) -> Option<usize> {
        let later = self.0.range((path.to_path_buf(), line)..);
        later.take_while(|it| it.0 == path).map(|it| it.1).next()
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
        sources: &SourceMap,
        step: &StepDescription,
    ) -> impl Iterator<Item = &'b LineBreakpoint> {
        let lines: Vec<_> = step.spans.iter().filter_map(|it| line_of(sources, *it)).collect();
        self.0.iter().filter(move |it| lines.iter().any(|at| it.path == at.0 && it.line == at.1))
    }
}
