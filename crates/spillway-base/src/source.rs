//! Source files and positions in them.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// The greatest size of a file that is read, in bytes. Real texts are far smaller.
const BYTES_MAX: u64 = 256 << 20;

/// The time between two reads of an empty pipe.
const PIPE_WAIT: Duration = Duration::from_millis(2);

/// Reads all bytes of a file: a regular one, a pipe with a writer, or the input of a terminal. Rejects all others, such
/// as a pipe without a writer, for which a read would wait for ever.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    let refuse = |what| Err(io::Error::new(ErrorKind::InvalidInput, what));
    if kind.is_dir() {
        return refuse("it is a folder");
    }
    if !kind.is_file() && !kind.is_fifo() && !file.is_terminal() {
        return refuse("it is a device, not a file");
    }
    let bytes = read_patiently(file)?;
    match bytes.len() as u64 > BYTES_MAX {
        true => refuse("it is larger than 256 MiB"),
        false if bytes.is_empty() && kind.is_fifo() => refuse("it is a pipe that nobody writes to"),
        false => Ok(bytes),
    }
}

/// Returns whether a file has this text. The name is not trusted: other than regular files are rejected without
/// waiting, and no more bytes are read than the text has.
pub fn has_text(path: &Path, text: &str) -> io::Result<bool> {
    let length = text.len() as u64;
    let refuse = || Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
    // Opening a device may have side effects.
    if !std::fs::metadata(path)?.is_file() {
        return refuse();
    }
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return refuse();
    }
    let mut bytes = Vec::new();
    let is_as_long = found.len() == length && file.take(length + 1).read_to_end(&mut bytes).is_ok();
    Ok(is_as_long && String::from_utf8(bytes).is_ok_and(|it| with_newlines(it) == text))
}

/// Reads to the end. Waits for more data if there is none yet.
fn read_patiently(file: File) -> io::Result<Vec<u8>> {
    let (mut bytes, mut file) = (Vec::new(), file.take(BYTES_MAX + 1));
    loop {
        match file.read_to_end(&mut bytes) {
            Ok(_) => return Ok(bytes),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PIPE_WAIT),
            Err(error) => return Err(error),
        }
    }
}

/// A range of a source file, as byte offsets. [`Span::default`] is no position.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The index of the file in the [`SourceMap`].
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// The end, exclusive.
    pub end: u32,
}

impl Span {
    /// Creates the span of bytes `range` of file `file`.
    pub fn new(file: u32, range: Range<usize>) -> Self {
        Self { file, start: range.start as u32, end: range.end as u32 }
    }

    /// Returns the least span that contains both.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file, self.start, self.end)
    }
}

/// A file of a model.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name by which it was opened.
    pub name: String,
    /// The content.
    pub text: String,
    /// Whether it contains a property that is checked with the model, and so is not a file of the model.
    pub is_property: bool,
    line_starts: Vec<u32>,
    /// The number of characters that begin before each block of `BLOCK` bytes. A line may be the whole file.
    characters: Vec<u32>,
}

/// The bytes of a block whose characters are counted together.
const BLOCK: usize = 256;

/// Returns a text in which each line ends with a newline, as editors read it: a carriage return alone becomes one. The
/// offsets of bytes stay.
fn with_newlines(text: String) -> String {
    let is_alone = |at: &usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    let alone: Vec<usize> = text.match_indices('\r').map(|it| it.0).filter(is_alone).collect();
    let mut bytes = text.into_bytes();
    alone.into_iter().for_each(|at| bytes[at] = b'\n');
    String::from_utf8(bytes).expect("one ASCII character replaces another")
}

/// Returns the number of characters that begin in some bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| !(0x80..0xc0).contains(*it)).count()
}

/// The line and column of a position, both counted from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A position in a file, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The name by which the file was opened.
    pub file: String,
    /// The position in the file.
    pub position: LineColumn,
}

impl SourceLocation {
    /// Returns `file:line`, for messages without a column.
    pub fn line(&self) -> String {
        format!("{}:{}", self.file, self.position.line)
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LineColumn { line, column } = self.position;
        write!(f, "{}:{line}:{column}", self.file)
    }
}

impl SourceFile {
    fn new(name: String, text: String, is_property: bool) -> Self {
        let text = with_newlines(text);
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        let blocks = text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
            let here = *before;
            *before += characters(block) as u32;
            Some(here)
        });
        let characters = blocks.collect();
        Self { name, text, is_property, line_starts, characters }
    }

    /// Returns the number of characters that begin before a byte offset of the text.
    fn characters_before(&self, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.characters.len().saturating_sub(1));
        let before = self.characters.get(block).copied().unwrap_or(0) as usize;
        before + characters(&self.text.as_bytes()[block * BLOCK..offset])
    }

    /// Returns the line and column of a byte offset.
    pub fn position(&self, offset: u32) -> LineColumn {
        let line = self.line_at(offset) - 1;
        let start = self.line_starts[line] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.characters_before(end) - self.characters_before(start);
        LineColumn { line: line + 1, column: column + 1 }
    }

    /// Returns the line of a byte offset, counted from 1.
    pub fn line_at(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.line_starts.len()
    }

    /// Returns the offset of the first byte of a line, counted from 1.
    pub fn line_start(&self, line: usize) -> u32 {
        self.line_starts[line - 1]
    }

    /// Returns the text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        let start = self.line_starts[line - 1] as usize;
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// The files of a model: the one named on the command line and all that it includes.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// Readable descriptions of spans whose text is machine-generated.
    words: HashMap<Span, String>,
    /// Whether the variables of the model are counts, so that a 0 is not reported.
    are_counts: bool,
}

impl SourceMap {
    /// Creates the sources of a text without a name.
    pub fn of_text(text: &str) -> SourceMap {
        let mut sources = SourceMap::default();
        sources.add("", text);
        sources
    }

    /// Adds a file of the model and returns its index for spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.push(SourceFile::new(name.into(), text.into(), false))
    }

    /// Adds the text of a property that is checked with the model and returns its index for spans.
    pub fn add_property(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.push(SourceFile::new(name.into(), text.into(), true))
    }

    fn push(&mut self, file: SourceFile) -> u32 {
        self.files.push(file);
        u32::try_from(self.files.len() - 1).expect("more files than memory holds")
    }

    /// Returns the file with this index, if there is one.
    pub fn get(&self, file: u32) -> Option<&SourceFile> {
        self.files.get(file as usize)
    }

    /// Returns the file with this index.
    pub fn file(&self, file: u32) -> &SourceFile {
        &self.files[file as usize]
    }

    /// Returns the files of the model, in order.
    pub fn model_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|it| !it.is_property)
    }

    /// Returns the names and the texts of the files of the model, in order.
    pub fn model_texts(&self) -> Vec<(String, String)> {
        self.model_files().map(|it| (it.name.clone(), it.text.clone())).collect()
    }

    /// Returns every file, in order.
    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// Returns the start of the span, or nothing for the default span.
    pub fn place(&self, span: Span) -> Option<SourceLocation> {
        if span == Span::default() {
            return None;
        }
        let file = self.files.get(span.file as usize)?;
        Some(SourceLocation { file: file.name.clone(), position: file.position(span.start) })
    }

    /// Returns `file:line:column` of the span's start, or nothing for the default span.
    pub fn locate(&self, span: Span) -> Option<String> {
        self.place(span).map(|it| it.to_string())
    }

    /// Sets the readable description of a span.
    pub fn set_words(&mut self, span: Span, words: String) {
        self.words.insert(span, words);
    }

    /// Marks the variables of the model as counts: a 0 is not reported.
    pub fn mark_as_counts(&mut self) {
        self.are_counts = true;
    }

    /// Returns whether the variables are counts.
    pub fn are_counts(&self) -> bool {
        self.are_counts
    }

    /// Returns the source text of a span, or its readable description.
    pub fn text(&self, span: Span) -> &str {
        if let Some(words) = self.words.get(&span) {
            return words;
        }
        self.files
            .get(span.file as usize)
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns count characters, wherever a block of bytes ends.
    #[test]
    fn columns_are_counted_in_characters() {
        let pieces = ["a", "é", "→", "𝄞", "\n", "\t"];
        let text: String = (0..6000).map(|it| pieces[it * it % 17 % pieces.len()]).collect();
        let mut sources = SourceMap::default();
        let file = sources.add("text", text.as_str());
        let (mut line, mut column) = (1, 1);
        for (offset, it) in text.char_indices() {
            let found = sources.file(file).position(offset as u32);
            assert_eq!(found, LineColumn { line, column }, "{offset}");
            (line, column) = if it == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        assert_eq!(sources.file(file).position(text.len() as u32), LineColumn { line, column });
        let empty = sources.add("empty", "");
        assert_eq!(sources.file(empty).position(0), LineColumn { line: 1, column: 1 });
    }

    /// The time for a file that is one long line is linear in its length.
    #[test]
    fn positions_on_a_long_line_are_found_without_scanning_it() {
        let mut sources = SourceMap::default();
        let file = sources.add("line", "é".repeat(8_000_000));
        let ends = (0..20_000).map(|it| sources.file(file).position(800 * it).column);
        assert_eq!(ends.max(), Some(1 + 400 * 19_999));
    }

    #[test]
    fn there_may_be_more_than_65536_files() {
        let mut sources = SourceMap::default();
        let numbers = (0..70_000).map(|it| sources.add(format!("file {it}"), "text"));
        let last = numbers.last().unwrap();
        assert_eq!(sources.place(Span::new(last, 0..2)).unwrap().file, "file 69999");
        assert_eq!(sources.text(Span::new(last, 0..2)), "te");
    }
}
