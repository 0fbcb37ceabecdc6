//! Source files and places in them.

use std::fmt;
use std::ops::Range;

/// A piece of a source file, as byte offsets. [`Span::default`] is nowhere.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Which file of the [`Sources`].
    pub file: u16,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Bytes `range` of file `file`.
    pub fn new(file: u16, range: Range<usize>) -> Self {
        Self { file, start: range.start as u32, end: range.end as u32 }
    }

    /// The least span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file, self.start, self.end)
    }
}

/// One file of a model.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name it was opened by.
    pub name: String,
    /// What stands in it.
    pub text: String,
    line_starts: Vec<u32>,
}

/// Line and column of a place, both counted from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl SourceFile {
    fn new(name: String, text: String) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        Self { name, text, line_starts }
    }

    /// The line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = String::from_utf8_lossy(&self.text.as_bytes()[start..end]).chars().count();
        Position { line: line + 1, column: column + 1 }
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        let start = self.line_starts[line - 1] as usize;
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// The files of a model: the one named on the command line and whatever it includes.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file and gives its number for spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u16 {
        self.files.push(SourceFile::new(name.into(), text.into()));
        u16::try_from(self.files.len() - 1).expect("more than 65,536 source files")
    }

    /// The file of this number.
    pub fn file(&self, file: u16) -> &SourceFile {
        &self.files[usize::from(file)]
    }

    /// Every file, in order.
    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// `file:line:column` of the span's start, or nothing for a span that is nowhere.
    pub fn locate(&self, span: Span) -> Option<String> {
        if span == Span::default() {
            return None;
        }
        let file = self.files.get(usize::from(span.file))?;
        let Position { line, column } = file.position(span.start);
        Some(format!("{}:{line}:{column}", file.name))
    }

    /// The source text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.files
            .get(usize::from(span.file))
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}
