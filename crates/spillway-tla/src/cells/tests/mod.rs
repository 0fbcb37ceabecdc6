mod journal;
mod random_values;
mod shapes;
mod values;

use super::*;
use crate::value::{SymbolTable, Value};
use proptest::prelude::*;
use random_values::{RandomStates, random_states, symbols};
use std::collections::{BTreeMap, BTreeSet};

/// A layout with its dictionaries and all encoded states.
struct Encoder {
    symbols: SymbolTable,
    layout: CellLayout,
    dictionaries: Dictionaries,
    entries: Vec<DictionaryEntries>,
    keys: BTreeMap<Vec<Value>, Vec<u8>>,
}

impl Encoder {
    fn new(layout: CellLayout) -> Self {
        let dictionaries = layout.dictionaries();
        let (entries, keys) = (Vec::new(), BTreeMap::new());
        Self { symbols: symbols(), layout, dictionaries, entries, keys }
    }

    fn encode(&self, state: &[Value]) -> Result<Vec<u8>, UnnumberedValues> {
        // The previous content of the buffer must not matter.
        let mut key = vec![0xa5; self.layout.width()];
        self.layout.encode(state, &self.dictionaries, &mut key)?;
        Ok(key)
    }

    /// Encodes the states of a level like a search, and checks all invariants.
    fn add_level(&mut self, states: &[Vec<Value>]) {
        let is_unnumbered = |it: &&Vec<Value>| self.encode(it).is_err();
        let unencoded: Vec<_> = states.iter().filter(is_unnumbered).collect();
        let unencoded_states: Vec<&[Value]> = unencoded.iter().map(|it| it.as_slice()).collect();
        let entries = self.layout.number(&unencoded_states, &self.symbols, &mut self.dictionaries);
        let entries = entries.unwrap();
        assert_eq!(entries.is_empty(), unencoded.is_empty());
        self.entries.push(entries);
        for state in states {
            let key = self.encode(state).expect("every value has its number");
            assert_eq!(self.layout.decode(&key, &self.dictionaries).as_ref(), Ok(state));
            let before = self.keys.insert(state.clone(), key.clone());
            assert!(before.is_none_or(|it| it == key), "an encoding never changes");
        }
        self.check_all();
    }

    fn check_all(&self) {
        let distinct: BTreeSet<_> = self.keys.values().collect();
        assert_eq!(distinct.len(), self.keys.len(), "different states have different keys");
        let mut previous: Option<(&Vec<Value>, &Vec<u8>)> = None;
        for (state, key) in &self.keys {
            assert_eq!(self.encode(state).as_ref(), Ok(key), "an encoding never changes");
            if let Some((values, before)) = previous {
                let before = EncodedState { values, key: before };
                let mut successor = vec![0xa5; self.layout.width()];
                let encoded = &self.dictionaries;
                self.layout.encode_successor(state, before, encoded, &mut successor).unwrap();
                assert_eq!(&successor, key);
                let decoded = self.layout.decode_like(key, before, encoded);
                assert_eq!(decoded.as_ref(), Ok(state), "decoded next to another state");
            }
            previous = Some((state, key));
        }
    }

    /// Returns the bytes of all entries.
    fn entry_bytes(&self) -> Vec<u8> {
        self.entries.iter().flat_map(|it| it.blocks()).flatten().copied().collect()
    }
}

/// Returns the layouts that a search may use for the states.
fn layouts(states: &RandomStates) -> Vec<CellLayout> {
    let variables = states.variables();
    let from = |count| CellLayout::from_sample(variables, &states.level(0, count));
    let none: [Vec<Value>; 0] = [];
    vec![
        from(60),
        from(2),
        CellLayout::from_sample(variables, &none),
        with_capacity(from(20), 2),
        CellLayout::escaping(variables),
        CellLayout::numbering(variables),
    ]
}

/// Limits the dictionaries of cells to this number of values.
fn with_capacity(mut layout: CellLayout, capacity: u32) -> CellLayout {
    let variables = layout.variables.len();
    for spec in &mut layout.dictionaries[variables..] {
        spec.capacity = spec.capacity.min(capacity);
    }
    layout
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_layout_encodes_every_state_exactly(states in random_states()) {
        let mut counts = BTreeSet::new();
        for layout in layouts(&states) {
            let mut encoder = Encoder::new(layout);
            for level in 0..4 {
                encoder.add_level(&states.level(level, 30));
            }
            counts.insert(encoder.keys.len());
        }
        prop_assert_eq!(counts.len(), 1, "all layouts distinguish the same states");
    }

    #[test]
    fn a_layout_encodes_values_of_other_types(one in random_states(), two in random_states()) {
        let variables = one.variables().min(two.variables());
        let cut = |states: Vec<Vec<Value>>| -> Vec<Vec<Value>> {
            states.into_iter().map(|it| it[..variables].to_vec()).collect()
        };
        let sample = cut(one.level(0, 20));
        for layout in [CellLayout::from_sample(variables, &sample), with_capacity(CellLayout::from_sample(variables, &sample), 3)] {
            let mut encoder = Encoder::new(layout);
            encoder.add_level(&cut(one.level(1, 20)));
            encoder.add_level(&cut(two.level(1, 20)));
            encoder.add_level(&cut(one.level(2, 20)));
        }
    }

    #[test]
    fn numbers_depend_only_on_the_set_of_states(states in random_states(), seed in any::<u64>()) {
        for layout in layouts(&states) {
            let (mut one, mut two) = (Encoder::new(layout.clone()), Encoder::new(layout));
            for level in 0..3 {
                let level = states.level(level, 20);
                let mut other = [level.clone(), level.clone()].concat();
                shuffle(&mut other, seed);
                one.add_level(&level);
                two.add_level(&other);
            }
            prop_assert_eq!(one.entry_bytes(), two.entry_bytes());
            prop_assert_eq!(one.keys, two.keys);
        }
    }

    #[test]
    fn arbitrary_bytes_are_decoded_or_refused(states in random_states(), bytes in any::<[u8; 64]>()) {
        for layout in layouts(&states) {
            let mut encoder = Encoder::new(layout);
            encoder.add_level(&states.level(0, 10));
            let width = encoder.layout.width();
            let key: Vec<u8> = bytes.iter().copied().cycle().take(width).collect();
            let _ = encoder.layout.decode(&key, &encoder.dictionaries);
            // Keys with one wrong bit reach more of the decoder.
            for (state, key) in &encoder.keys {
                let mut key = key.clone();
                key[usize::from(bytes[0]) % width] ^= 1 << (bytes[1] % 8);
                if let Ok(other) = encoder.layout.decode(&key, &encoder.dictionaries) {
                    prop_assert!(&other != state || encoder.encode(&other).is_ok());
                }
            }
            prop_assert_eq!(encoder.layout.decode(&key[1..], &encoder.dictionaries), Err(InvalidKey));
        }
    }
}

fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = spillway_base::random::SplitMix64::new(seed);
    for index in (1..items.len()).rev() {
        items.swap(index, random.below(index + 1));
    }
}
