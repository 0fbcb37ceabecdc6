//! Journals of dictionaries, and stored layouts.

use super::random_values::{RandomStates, random_states, symbols};
use super::{Encoder, layouts};
use crate::cells::{CellLayout, JournalError, StoredLayoutError, journal_bytes, read_journal};
use crate::value::Value;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Encodes three levels. Returns the encoder, the journal, and its length after each level.
fn write_levels(layout: CellLayout, states: &RandomStates) -> (Encoder, Vec<u8>, Vec<usize>) {
    let mut encoder = Encoder::new(layout);
    let (mut journal, mut lengths) = (Vec::new(), vec![0]);
    for level in 0..3 {
        encoder.add_level(&states.level(level, 20));
        let entries = encoder.entries.last().unwrap();
        journal.append(&mut journal_bytes(journal.len() as u64, &encoder.layout, entries));
        lengths.push(journal.len());
    }
    (encoder, journal, lengths)
}

/// Checks that the dictionaries of the journal encode all states like those in memory.
fn check_equal(journal: &[u8], encoder: &mut Encoder) {
    let read = read_journal(journal, &encoder.layout, &encoder.symbols).unwrap();
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
    fn dictionaries_are_read_back(states in random_states()) {
        for layout in layouts(&states) {
            let (mut encoder, journal, lengths) = write_levels(layout, &states);
            check_equal(&journal, &mut encoder);
            // The dictionaries of an earlier level grow to the same ones.
            let mut earlier = Encoder::new(encoder.layout.clone());
            earlier.dictionaries =
                read_journal(&journal[..lengths[2]], &encoder.layout, &encoder.symbols).unwrap();
            earlier.add_level(&states.level(2, 20));
            let more = journal_bytes(lengths[2] as u64, &encoder.layout, &earlier.entries[0]);
            prop_assert_eq!(&more, &journal[lengths[2]..]);
        }
    }
}

/// Returns a journal with entries of several levels.
fn journal_of_three_levels() -> (Encoder, Vec<u8>, Vec<usize>) {
    let types = growing_states();
    write_levels(CellLayout::from_sample(types.variables(), &types.level(9, 2)), &types)
}

/// Returns states with many dictionary values.
fn growing_states() -> RandomStates {
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
fn every_flipped_bit_is_detected() {
    let (encoder, journal, _) = journal_of_three_levels();
    let read = |bytes: &[u8]| read_journal(bytes, &encoder.layout, &encoder.symbols).map(|_| ());
    assert_eq!(read(&journal), Ok(()));
    for bit in 0..journal.len() * 8 {
        let mut damaged = journal.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = read(&damaged).unwrap_err();
        let is_refused = match bit / 8 {
            0..20 => matches!(error, JournalError::DamagedHeader),
            _ => matches!(error, JournalError::DamagedBlock { .. }),
        };
        assert!(is_refused, "bit {bit}: {error}");
    }
}

#[test]
fn a_truncated_journal_is_refused() {
    let (encoder, journal, lengths) = journal_of_three_levels();
    for end in 0..journal.len() {
        let read = read_journal(&journal[..end], &encoder.layout, &encoder.symbols);
        // A header alone is the journal of empty dictionaries.
        assert_eq!(read.is_ok(), end == 20 || lengths.contains(&end), "{end}");
    }
}

#[test]
fn journals_of_other_layouts_and_versions_are_refused() {
    let (encoder, mut journal, _) = journal_of_three_levels();
    let other = CellLayout::escaping(7);
    let error = read_journal(&journal, &other, &encoder.symbols).map(|_| ());
    assert!(matches!(error, Err(JournalError::OtherLayout { expected: 7, .. })));
    // The same entries twice have correct checksums.
    let entries = encoder.entries.iter().find(|it| !it.is_empty()).unwrap();
    let again = journal_bytes(1, &encoder.layout, entries);
    let twice = [journal.as_slice(), &again].concat();
    let error = read_journal(&twice, &encoder.layout, &encoder.symbols).map(|_| ());
    assert!(matches!(error, Err(JournalError::Entry { .. })));
    journal[11] = 2;
    let checksum = crc32fast::hash(&journal[..16]);
    journal[16..20].copy_from_slice(&checksum.to_be_bytes());
    let error = read_journal(&journal, &encoder.layout, &encoder.symbols).map(|_| ());
    assert_eq!(error, Err(JournalError::Version(2)));
}

#[test]
fn many_entries_are_several_blocks() {
    let mut encoder = Encoder::new(CellLayout::escaping(1));
    let states: Vec<_> = (0..30_000).map(|it| vec![Value::Int(it)]).collect();
    let numbers = encoder.layout.number(&states, &encoder.symbols, &mut encoder.dictionaries);
    let entries = numbers.unwrap();
    assert!(entries.blocks().count() > 2);
    let journal = journal_bytes(0, &encoder.layout, &entries);
    let read = read_journal(&journal, &encoder.layout, &encoder.symbols).unwrap();
    for number in [0, 1, 12_345, 29_999] {
        let id = encoder.layout.escapes(0);
        assert_eq!(read.get(id).value(number), encoder.dictionaries.get(id).value(number));
    }
    assert!(read.memory() > 30_000 * 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn stored_layouts_are_restored(states in random_states()) {
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
    let states = growing_states();
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
