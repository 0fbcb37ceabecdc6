//! Positions in files as editors have them: lines from 0 on, columns in UTF-16 units, files as addresses.

use crate::source::{SourceFile, SourceMap, Span};
use lsp_types::{Location, Position, Range, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Component, Path, PathBuf};

/// The characters of a path that an address encodes.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the path of a file's address. `None` if the address is of another kind.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let path = uri.as_str().strip_prefix("file:")?;
    let path = match path.strip_prefix("//") {
        // The name of this machine may stand before the path.
        Some(path) => &path[path.find('/')?..],
        None => Some(path).filter(|it| it.starts_with('/'))?,
    };
    Some(PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.as_ref()))
}

/// Returns the address of a file.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    let path = full_path(path);
    format!("file://{}", utf8_percent_encode(path.to_str()?, ENCODED)).parse().ok()
}

/// Returns the absolute path of a file, without `.` and `..`.
pub(super) fn full_path(path: &Path) -> PathBuf {
    plain_path(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// Returns a path without `.` and `..`.
pub(super) fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the position of a byte of a file.
pub(super) fn position_of(file: &SourceFile, offset: u32) -> Position {
    let end = (offset as usize).min(file.text.len());
    let line = file.line_at(end as u32);
    let before = file.text.get(file.line_start(line) as usize..end).unwrap_or_default();
    let character = before.chars().map(char::len_utf16).sum::<usize>();
    Position { line: line as u32 - 1, character: character as u32 }
}

/// Returns the byte at a position in a file. A position behind the end of a line counts as its end.
pub(super) fn offset_of(file: &SourceFile, position: Position) -> usize {
    let line = (position.line as usize).saturating_add(1);
    if line > file.lines() {
        return file.text.len();
    }
    let mut units = 0;
    let text = file.line(line);
    let behind = text.char_indices().find(|(_, it)| {
        let here = units;
        units += it.len_utf16();
        here >= position.character as usize
    });
    file.line_start(line) as usize + behind.map_or(text.len(), |it| it.0)
}

/// Returns the range of a span. That of a span without text is the word at its start.
pub(super) fn range_of(file: &SourceFile, span: Span) -> Range {
    let end = match span.end > span.start {
        true => span.end,
        false => {
            let rest = file.text.get(span.start as usize..).unwrap_or_default();
            let word = rest.find(|it: char| !is_word(it)).unwrap_or(rest.len());
            span.start + word as u32
        }
    };
    Range { start: position_of(file, span.start), end: position_of(file, end) }
}

/// Returns whether a character may be a part of a name.
pub(super) fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Returns the location of a span. `None` if it has no position, or a position in the text of a property.
pub(super) fn location_of(sources: &SourceMap, span: Span) -> Option<Location> {
    if span == Span::default() {
        return None;
    }
    let file = sources.get(span.file).filter(|it| !it.is_property)?;
    Some(Location { uri: uri_of(Path::new(&file.name))?, range: range_of(file, span) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_utf_16() {
        let mut sources = SourceMap::default();
        let file = sources.add("a", "\u{e9}\u{1d11e}x\ny");
        let file = sources.file(file);
        for (offset, line, character) in
            [(0, 0, 0), (2, 0, 1), (6, 0, 3), (7, 0, 4), (8, 1, 0), (9, 1, 1)]
        {
            let position = Position { line, character };
            assert_eq!(position_of(file, offset), position);
            assert_eq!(offset_of(file, position), offset as usize);
        }
        assert_eq!(offset_of(file, Position { line: 0, character: 99 }), 7);
        assert_eq!(offset_of(file, Position { line: 9, character: 0 }), 9);
    }

    #[test]
    fn file_addresses_are_parsed_back() {
        for path in ["/a/b.pml", "/a b/\u{e9}%.m", "/x+y/#1.tla"] {
            assert_eq!(path_of(&uri_of(Path::new(path)).unwrap()).unwrap(), Path::new(path));
        }
        assert_eq!(uri_of(Path::new("/a/./b/../c.m")).unwrap().as_str(), "file:///a/c.m");
        assert_eq!(path_of(&"file:/a/c.m".parse().unwrap()).unwrap(), Path::new("/a/c.m"));
        assert_eq!(path_of(&"untitled:1".parse().unwrap()), None);
    }
}
