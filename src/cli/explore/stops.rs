//! The breakpoints of a request, and the lines at which one may be set.

use super::request::query_of;
use crate::cli::breakpoints::{
    self, BreakpointKind, BreakpointSet, FileLine, NoLine, StopLines, WalkBreakpoint,
};
use crate::cli::model_walk::ModelWalk;
use crate::report::{ExploredBreakpoint, ExploredBreakpoints, LineBreakpoint};
use crate::source::SourceMap;
use thiserror::Error;

/// The maximum number of bytes of a query of breakpoints. Requests have at most 16 KiB, with the path.
const QUERY_MAX: usize = 4 << 10;

/// Why a breakpoint is not set.
#[derive(Debug, Error)]
pub(super) enum BreakpointError {
    /// It is at no line of a step.
    #[error(transparent)]
    Line(#[from] NoLine),
    /// There are too many.
    #[error("the texts of the breakpoints have more than {} KiB in an address", QUERY_MAX >> 10)]
    Number,
}

/// The breakpoints of a request.
#[derive(Default)]
pub(super) struct RequestBreakpoints {
    pub set: BreakpointSet,
    /// The query of addresses with these breakpoints.
    pub query: String,
}

impl RequestBreakpoints {
    /// Reads the texts of breakpoints. One that occurs twice counts once.
    pub(super) fn read(
        texts: &[String],
        walk: &ModelWalk<'_>,
    ) -> Result<RequestBreakpoints, BreakpointError> {
        let mut set = BreakpointSet::default();
        for text in texts {
            if set.iter().all(|it| it.text != *text) {
                set.add(text, breakpoints::classify(text, walk.model, walk.walked)?);
            }
        }
        let query = query_of(set.iter().map(|it| it.text.as_str()));
        match query.len() > QUERY_MAX {
            true => Err(BreakpointError::Number),
            false => Ok(RequestBreakpoints { set, query }),
        }
    }

    /// Returns the breakpoint of this text.
    pub(super) fn find(&self, text: &str) -> Option<&WalkBreakpoint> {
        self.set.iter().find(|it| it.text == text)
    }

    /// Returns the texts after one of them is set, or deleted if it is set already.
    pub(super) fn toggled(&self, text: &str) -> Vec<String> {
        let texts = self.set.iter().map(|it| it.text.clone());
        match self.find(text) {
            Some(_) => texts.filter(|it| it != text).collect(),
            None => texts.chain([text.to_owned()]).collect(),
        }
    }

    /// Returns the breakpoints for a page at this address. `hit` has the numbers of those at which the last step stops.
    pub(super) fn shown(&self, address: String, hit: &[usize]) -> ExploredBreakpoints {
        let shown = |it: &WalkBreakpoint| ExploredBreakpoint {
            number: it.number,
            kind: it.kind.name(),
            text: it.text.clone(),
            is_hit: hit.contains(&it.number),
        };
        ExploredBreakpoints { address, all: self.set.iter().map(shown).collect() }
    }

    /// Returns the breakpoint that can be set at a line, or the one that is set there. `None` if no step is there.
    pub(super) fn at_line(
        &self,
        at: FileLine,
        lines: &StopLines,
        sources: &SourceMap,
    ) -> Option<LineBreakpoint> {
        let set = self.set.iter().find(|it| it.kind == BreakpointKind::Line(at));
        if let Some(set) = set {
            return Some(LineBreakpoint { text: set.text.clone(), is_set: true });
        }
        let file = sources.get(at.file).filter(|it| !it.is_property && lines.contains(at))?;
        let text = match at.file {
            0 => at.line.to_string(),
            _ => format!("{}:{}", file.name, at.line),
        };
        Some(LineBreakpoint { text, is_set: false })
    }
}

/// Returns the part of the address of a page that shows a line.
pub(super) fn fragment_of(breakpoint: Option<&WalkBreakpoint>) -> String {
    match breakpoint.map(|it| &it.kind) {
        Some(BreakpointKind::Line(FileLine { file, line })) => format!("#l{file}-{line}"),
        _ => "#breakpoints".to_owned(),
    }
}
