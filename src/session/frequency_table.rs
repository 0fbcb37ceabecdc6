//! A table of byte frequencies for static Huffman codes.
//!
//! The table is a text. A line has either a byte value and its frequency, for all columns, or a column, a byte value
//! and its frequency. Columns are counted from 0. `#` begins a comment.

use crate::source;
use spill::{ByteFrequencies, Codec, HuffmanCode, HuffmanTables};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason why a table of byte frequencies cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FrequencyTableError {
    /// The file cannot be read, with the reason.
    #[error("cannot read the table {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, String),
    /// A line is malformed.
    #[error("{}:{line}: {what}", .file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The description of the error.
        what: String,
    },
}

/// Returns the Huffman codes of the table in a file, for states of `width` bytes.
pub(super) fn read_table(path: &Path, width: usize) -> Result<Codec, FrequencyTableError> {
    let unreadable = |why: String| FrequencyTableError::Unreadable(path.to_path_buf(), why);
    let bytes = source::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text =
        String::from_utf8(bytes).map_err(|error| unreadable(error.utf8_error().to_string()))?;
    let (frequencies, tables) = parse(&text, width).map_err(|(line, what)| {
        FrequencyTableError::Line { file: path.to_path_buf(), line, what }
    })?;
    Ok(Codec::Huffman(Arc::new(HuffmanCode::train(&frequencies, tables))))
}

/// Parses frequencies. The error is a line number and its description.
fn parse(text: &str, width: usize) -> Result<(ByteFrequencies, HuffmanTables), (usize, String)> {
    let mut frequencies = ByteFrequencies::new(width);
    let (mut tables, mut counted) = (HuffmanTables::Single, false);
    for (at, line) in text.lines().enumerate() {
        let failed = |what: String| (at + 1, what);
        let line = line.split('#').next().unwrap_or_default();
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map(|word| word.parse().map_err(|_| failed(format!("`{word}` is not a number"))))
            .collect::<Result<_, _>>()?;
        let (columns, byte, count) = match numbers[..] {
            [] => continue,
            [byte, count] => (0..width, byte, count),
            [column, byte, count] => {
                tables = HuffmanTables::Columns;
                let known = usize::try_from(column).ok().filter(|column| *column < width);
                let column = known.ok_or_else(|| {
                    failed(format!(
                        "there is no column {column}: a state has {width} bytes, numbered from 0"
                    ))
                })?;
                (column..column + 1, byte, count)
            }
            _ => {
                return Err(failed(
                    "expected BYTE COUNT, or COLUMN BYTE COUNT, such as `0 1500`".into(),
                ));
            }
        };
        let byte =
            u8::try_from(byte).map_err(|_| failed(format!("{byte} is not a byte: 0 to 255")))?;
        columns.for_each(|column| frequencies.add(column, byte, count));
        counted |= count > 0;
    }
    match counted {
        true => Ok((frequencies, tables)),
        false => {
            let last = text.lines().count().max(1);
            Err((last, "the table has no frequent byte, as in `0 1500`".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_single_or_by_column() {
        let tables = |text| parse(text, 3).unwrap().1;
        assert_eq!(tables("# most are zero\n0 1000\n1 20 # some\n\n"), HuffmanTables::Single);
        assert_eq!(tables("0 1000\n2 7 20\n"), HuffmanTables::Columns);
        let (frequencies, tables) = parse("0 1000\n1 1\n", 3).unwrap();
        let codec = Codec::Huffman(Arc::new(HuffmanCode::train(&frequencies, tables)));
        let mut record = Vec::new();
        codec.encode(&[0, 0, 0], &mut record);
        assert_eq!(record.len(), 1);
    }

    #[test]
    fn errors_have_their_line() {
        for (text, line, what) in [
            ("0 1\n256 1", 2, "not a byte"),
            ("0 many", 1, "`many` is not a number"),
            ("\n\n3 0 1", 3, "no column 3"),
            ("1", 1, "expected BYTE COUNT"),
            ("1 2 3 4", 1, "expected BYTE COUNT"),
            ("-1 2", 1, "`-1` is not a number"),
            ("", 1, "no frequent byte"),
            ("# none\n0 0\n", 2, "no frequent byte"),
        ] {
            let (found, message) = parse(text, 3).unwrap_err();
            assert!(found == line && message.contains(what), "{text}: {found}: {message}");
        }
    }
}
