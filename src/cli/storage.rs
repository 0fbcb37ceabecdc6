//! `--store` and what belongs to it: how the states of a new search are to be stored.
//!
//! A table is a text of frequencies. A line has a byte of a state and how often it is there, for all
//! columns alike, or a column, a byte and how often; columns are counted from 0. `#` begins a comment.

use super::failure::CommandFailure;
use super::preparation::SearchPreparation;
use crate::model::StateSpace;
use crate::search::StateStorage;
use crate::search::control::SearchPhase;
use crate::search::storage::train_codec;
use crate::session::config::{SearchConfig, StoreKind};
use crate::source;
use spill::{ByteFrequencies, Codec, HuffmanCode, HuffmanTables};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// How the states of `model` are to be stored.
pub(super) fn wanted(
    search: &SearchConfig,
    model: &dyn StateSpace,
    preparation: &SearchPreparation,
) -> Result<StateStorage, CommandFailure> {
    if search.huffman_table.is_some() && search.store != StoreKind::Huffman {
        return Err(CommandFailure::wrong(
            "--huffman-table is for --store huffman\n  help: add that, or leave the table out",
        ));
    }
    let for_comback = search.comback_hash.is_some() || search.comback_cache.is_some();
    if for_comback && search.store != StoreKind::Comback {
        return Err(CommandFailure::wrong(
            "--comback-hash and --comback-cache are for --store comback\n  help: add that, or leave \
             them out",
        ));
    }
    Ok(StateStorage::Sorted(match search.store {
        StoreKind::Comback => return Ok(StateStorage::Comback(search.comback())),
        StoreKind::Sorted => Codec::Gaps,
        StoreKind::Raw => Codec::Raw,
        StoreKind::Rle => Codec::Rle,
        StoreKind::Huffman => match &search.huffman_table {
            None => {
                preparation.enter(SearchPhase::Sampling);
                let trained = train_codec(model, HuffmanTables::Columns, &preparation.control);
                preparation.check_not_stopped()?;
                trained.map_err(|error| CommandFailure::wrong(error.to_string()))?
            }
            Some(path) => from_file(path, model.width())?,
        },
    }))
}

/// The same, without what is to be learnt from the model.
pub(super) fn untrained(search: &SearchConfig) -> StateStorage {
    match search.store {
        StoreKind::Comback => StateStorage::Comback(search.comback()),
        _ => StateStorage::default(),
    }
}

fn from_file(path: &Path, width: usize) -> Result<Codec, CommandFailure> {
    let name = path.display();
    let unreadable = |error: &dyn Display| {
        CommandFailure::wrong(format!("cannot read the table {name}: {error}"))
    };
    let bytes = source::read(path).map_err(|error| unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(&error.utf8_error()))?;
    let (frequencies, tables) = parse(&text, width)
        .map_err(|(line, what)| CommandFailure::wrong(format!("{name}:{line}: {what}")))?;
    Ok(Codec::Huffman(Arc::new(HuffmanCode::train(&frequencies, tables))))
}

/// The frequencies in `text`, or the number of a line and what is wrong with it.
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
                        "there is no column {column}: a state has {width} bytes, from 0"
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
            Err((last, "the table ends, and no byte in it is frequent, as in `0 1500`".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_for_all_columns_or_for_each() {
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
    fn mistakes_are_shown_with_their_line() {
        for (text, line, what) in [
            ("0 1\n256 1", 2, "not a byte"),
            ("0 many", 1, "`many` is not a number"),
            ("\n\n3 0 1", 3, "no column 3"),
            ("1", 1, "expected BYTE COUNT"),
            ("1 2 3 4", 1, "expected BYTE COUNT"),
            ("-1 2", 1, "`-1` is not a number"),
            ("", 1, "no byte in it is frequent"),
            ("# none\n0 0\n", 2, "no byte in it is frequent"),
        ] {
            let (found, message) = parse(text, 3).unwrap_err();
            assert!(found == line && message.contains(what), "{text}: {found}: {message}");
        }
    }
}
