//! Names of positions in a counterexample: a file is named once, then only its lines are.

use crate::source::{LineColumn, SourceLocation, SourceMap, Span};

/// Names positions one after the other. A position in the file that was named last is `line 6:3`, any other is
/// `lock.m:6:3`.
#[derive(Clone, Debug, Default)]
pub(super) struct PositionNames {
    /// The file that was named last.
    file: Option<String>,
}

impl PositionNames {
    /// Creates the names of positions behind a heading that names this file, if any.
    pub fn after(file: Option<String>) -> PositionNames {
        PositionNames { file }
    }

    /// Returns the file that was named last.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the name of a position.
    pub fn name(&mut self, location: &SourceLocation) -> String {
        if self.file.as_deref() == Some(&location.file) {
            let LineColumn { line, column } = location.position;
            return format!("line {line}:{column}");
        }
        self.file = Some(location.file.clone());
        location.to_string()
    }

    /// Returns the name of the position of a span. `None` for the default span.
    pub fn locate(&mut self, sources: &SourceMap, span: Span) -> Option<String> {
        sources.place(span).map(|it| self.name(&it))
    }

    /// Returns the names of the positions of some spans, in one line.
    pub fn join(&mut self, sources: &SourceMap, spans: &[Span]) -> String {
        let names = spans.iter().filter_map(|&span| self.locate(sources, span));
        names.collect::<Vec<_>>().join(" + ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_where_it_changes() {
        let at = |file: &str, line| SourceLocation {
            file: file.into(),
            position: LineColumn { line, column: 3 },
        };
        let mut names = PositionNames::after(Some("a.pml".into()));
        let told: Vec<String> = [at("a.pml", 6), at("b.h", 1), at("b.h", 2), at("a.pml", 7)]
            .iter()
            .map(|it| names.name(it))
            .collect();
        assert_eq!(told, ["line 6:3", "b.h:1:3", "line 2:3", "a.pml:7:3"]);
        assert_eq!(PositionNames::default().name(&at("a.pml", 6)), "a.pml:6:3");
    }
}
