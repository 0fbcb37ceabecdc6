//! Dictionary files and stored layouts.

use super::random_values::{RandomStates, random_states, symbols};
use super::{Encoder, layouts};
use crate::cells::{
    CellLayout, DictionaryFileError, DictionaryFileWriter, StoredLayoutError, read_dictionaries,
};
use crate::value::Value;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::path::Path;

/// Encodes three levels. Returns the encoder and the length of the file after each level.
fn write_levels(path: &Path, layout: CellLayout, states: &RandomStates) -> (Encoder, Vec<u64>) {
    let mut encoder = Encoder::new(layout);
    let mut file = DictionaryFileWriter::create(path, &encoder.layout).unwrap();
    let mut lengths = vec![file.length()];
    for level in 0..3 {
        encoder.add_level(&states.level(level, 20));
        file.append(encoder.entries.last().unwrap()).unwrap();
        lengths.push(file.length());
    }
    file.sync().unwrap();
    (encoder, lengths)
}

/// Whether the dictionaries of the file encode all states as those in memory do.
fn check_equal(path: &Path, length: u64, encoder: &mut Encoder) {
    let read = read_dictionaries(path, length, &encoder.layout, &encoder.symbols).unwrap();
    assert_eq!(read.values(), encoder.dictionaries.values());
    encoder.dictionaries = read;
    encoder.check_all();
    for (state, key) in &encoder.keys {
        assert_eq!(encoder.layout.decode(key, &encoder.dictionaries).as_ref(), Ok(state));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn dictionaries_are_read_as_written(states in random_states()) {
        let folder = tempfile::tempdir().unwrap();
        for (number, layout) in layouts(&states).into_iter().enumerate() {
            let path = folder.path().join(number.to_string());
            let (mut encoder, lengths) = write_levels(&path, layout, &states);
            check_equal(&path, lengths[3], &mut encoder);
        }
    }

    #[test]
    fn what_follows_the_named_length_does_not_exist(states in random_states()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dictionaries");
        let layout = layouts(&states).swap_remove(1);
        let (mut encoder, lengths) = write_levels(&path, layout.clone(), &states);
        let whole = std::fs::read(&path).unwrap();
        // A process was killed while it wrote the third level.
        for end in lengths[2]..lengths[3] {
            std::fs::write(&path, &whole[..end as usize]).unwrap();
            let read = read_dictionaries(&path, lengths[2], &layout, &encoder.symbols).unwrap();
            let third = encoder.entries[2].clone();
            let mut file = DictionaryFileWriter::open(&path, lengths[2]).unwrap();
            file.append(&third).unwrap();
            prop_assert!(read.values() <= encoder.dictionaries.values());
            prop_assert_eq!(&std::fs::read(&path).unwrap(), &whole);
        }
        check_equal(&path, lengths[3], &mut encoder);
    }
}

/// A file with a few entries of several levels.
fn some_file(path: &Path) -> (Encoder, Vec<u64>) {
    let types = random_values_type();
    write_levels(path, CellLayout::from_sample(types.variables(), &types.level(9, 2)), &types)
}

fn random_values_type() -> RandomStates {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    loop {
        let states = random_states().new_tree(&mut runner).unwrap().current();
        let layout = CellLayout::from_sample(states.variables(), &states.level(9, 2));
        let mut encoder = Encoder::new(layout);
        encoder.add_level(&states.level(0, 20));
        if encoder.entry_bytes().len() > 300 {
            return states;
        }
    }
}

#[test]
fn every_damaged_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dictionaries");
    let (encoder, lengths) = some_file(&path);
    let whole = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        read_dictionaries(&path, lengths[3], &encoder.layout, &encoder.symbols).map(|_| ())
    };
    assert!(read(&whole).is_ok());
    for bit in 0..whole.len().min(600) * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = read(&damaged).unwrap_err();
        let is_refused = match bit / 8 {
            0..20 => matches!(error, DictionaryFileError::DamagedHeader),
            _ => matches!(error, DictionaryFileError::DamagedBlock { .. }),
        };
        assert!(is_refused, "bit {bit}: {error}");
    }
}

#[test]
fn a_truncated_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dictionaries");
    let (encoder, lengths) = some_file(&path);
    let whole = std::fs::read(&path).unwrap();
    let read = |named| read_dictionaries(&path, named, &encoder.layout, &encoder.symbols);
    for end in 0..whole.len() as u64 {
        std::fs::write(&path, &whole[..end as usize]).unwrap();
        let named = lengths[3];
        let is_expected = |it: &DictionaryFileError| matches!(it, DictionaryFileError::TooShort { named: one, found } if (*one, *found) == (named, end));
        assert!(read(named).is_err_and(|it| is_expected(&it)));
        assert!(DictionaryFileWriter::open(&path, named).is_err_and(|it| is_expected(&it)));
        // A length that no checkpoint names is within a block.
        assert_eq!(read(end).is_ok(), lengths.contains(&end), "{end}");
    }
}

#[test]
fn files_of_other_layouts_and_versions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dictionaries");
    let (encoder, lengths) = some_file(&path);
    let other = CellLayout::escaping(7);
    let error = read_dictionaries(&path, lengths[3], &other, &encoder.symbols).map(|_| ());
    assert!(matches!(error, Err(DictionaryFileError::OtherLayout { expected: 7, .. })));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[11] = 2;
    let checksum = crc32fast::hash(&bytes[..16]);
    bytes[16..20].copy_from_slice(&checksum.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    let error = read_dictionaries(&path, lengths[3], &encoder.layout, &encoder.symbols).map(|_| ());
    assert!(matches!(error, Err(DictionaryFileError::Version(2))));
    // The same entries twice have correct checksums.
    let mut file = DictionaryFileWriter::create(&path, &encoder.layout).unwrap();
    let entries = encoder.entries.iter().find(|it| !it.is_empty()).unwrap();
    file.append(entries).unwrap();
    file.append(entries).unwrap();
    let error =
        read_dictionaries(&path, file.length(), &encoder.layout, &encoder.symbols).map(|_| ());
    assert!(matches!(error, Err(DictionaryFileError::Entry { .. })));
}

#[test]
fn many_entries_are_several_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dictionaries");
    let mut encoder = Encoder::new(CellLayout::escaping(1));
    let states: Vec<_> = (0..30_000).map(|it| vec![Value::Int(it)]).collect();
    let numbers = encoder.layout.number(&states, &encoder.symbols, &mut encoder.dictionaries);
    let entries = numbers.unwrap();
    assert!(entries.blocks().count() > 2);
    let mut file = DictionaryFileWriter::create(&path, &encoder.layout).unwrap();
    file.append(&entries).unwrap();
    let read = read_dictionaries(&path, file.length(), &encoder.layout, &encoder.symbols).unwrap();
    for number in [0, 1, 12_345, 29_999] {
        let id = encoder.layout.escapes(0);
        assert_eq!(read.get(id).value(number), encoder.dictionaries.get(id).value(number));
    }
    assert!(read.memory() > 30_000 * 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn layouts_are_restored_as_stored(states in random_states()) {
        for layout in layouts(&states) {
            let mut encoder = Encoder::new(layout);
            encoder.add_level(&states.level(0, 20));
            let text = serde_json::to_string(&encoder.layout.store(&encoder.symbols)).unwrap();
            let stored = serde_json::from_str(&text).unwrap();
            encoder.layout = CellLayout::restore(stored, &symbols()).unwrap();
            encoder.check_all();
        }
    }
}

#[test]
fn inconsistent_layouts_are_refused() {
    let states = random_values_type();
    let layout = CellLayout::from_sample(states.variables(), &states.level(0, 40));
    let symbols = symbols();
    let stored = serde_json::to_value(layout.store(&symbols)).unwrap();
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut stored = stored.clone();
        change(&mut stored);
        CellLayout::restore(serde_json::from_value(stored).unwrap(), &symbols).map(|_| ())
    };
    assert_eq!(with(&|_| {}), Ok(()));
    assert_eq!(with(&|it| it["width"] = 1.into()), Err(StoredLayoutError::Inconsistent));
    let no_dictionaries = |it: &mut serde_json::Value| it["dictionaries"] = serde_json::json!([]);
    assert_eq!(with(&no_dictionaries), Err(StoredLayoutError::Inconsistent));
    let other_bits = |it: &mut serde_json::Value| it["variables"][0]["shape"]["bits"] = 3.into();
    assert_eq!(with(&other_bits), Err(StoredLayoutError::Inconsistent));
}
