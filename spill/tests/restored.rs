//! Tests that a saved store is restored, however many levels its runs in memory have.

mod common;

use common::read;
use spill::{Candidates, Codec, FaultDisk, SettleOutcome, Store, StoreBudget};
use std::sync::Arc;

const WIDTH: usize = 8;

/// Many times the number of levels that are restored at a time.
const LEVELS: u64 = 3000;

/// Returns the keys of a level: one to three, between those of all others.
fn keys(level: u64) -> Vec<u8> {
    (0..1 + level % 3).flat_map(|it| ((it << 32) + level * 7919 % LEVELS).to_be_bytes()).collect()
}

/// Returns all keys of a store, ascending; checks that its runs are disjoint.
fn all(store: &Store) -> Vec<[u8; WIDTH]> {
    let Candidates { slices, segments } = store.runs();
    let mut runs: Vec<Vec<u8>> = slices.into_iter().map(<[u8]>::to_vec).collect();
    runs.extend(segments.iter().map(|it| read(std::slice::from_ref(it))));
    let keys = runs.iter().flat_map(|run| run.chunks_exact(WIDTH));
    let mut keys: Vec<[u8; WIDTH]> = keys.map(|key| key.try_into().unwrap()).collect();
    keys.sort_unstable();
    assert!(keys.is_sorted_by(|a, b| a < b), "a key in two runs");
    keys
}

fn settle(store: &mut Store, keys: &[u8]) -> u64 {
    let candidates = Candidates { slices: vec![keys], segments: Vec::new() };
    match store.settle(&candidates, 1, &|| false).unwrap() {
        SettleOutcome::New(new) => new,
        SettleOutcome::Stopped => panic!("nobody said stop"),
    }
}

#[test]
fn runs_of_many_levels_are_restored() {
    let disk = Arc::new(FaultDisk::new());
    let plenty = StoreBudget { young: 64 << 20, filter: 0, plain: 0 };
    let mut store = Store::new(disk.clone(), WIDTH, Codec::Gaps, plenty);
    for level in 0..LEVELS {
        assert_eq!(settle(&mut store, &keys(level)), 1 + level % 3);
    }
    store.sync().unwrap();
    store.sort_small_levels(2).unwrap();
    let expected = all(&store);
    assert_eq!(expected.len() as u64, (0..LEVELS).map(|it| 1 + it % 3).sum::<u64>());
    for young in [64 << 20, 100_000, 20_000, 0] {
        let shares = StoreBudget { young, filter: 0, plain: 0 };
        let saved = store.saved();
        let empty = Store::new(disk.clone(), WIDTH, Codec::Gaps, shares);
        let mut restored = empty.restore(saved, 2).unwrap();
        assert!(all(&restored) == expected, "{young} bytes");
        // Known keys are known, and the last level is the frontier.
        for level in [0, 1, 1499, LEVELS - 1] {
            assert_eq!(settle(&mut restored, &keys(level)), 0, "level {level}, {young} bytes");
        }
        let last = restored.level(LEVELS as usize - 1).unwrap();
        assert_eq!(read(&last), keys(LEVELS - 1));
        // There are few runs, as after a search.
        let Candidates { slices, segments } = restored.runs();
        assert!(slices.len() + segments.len() < 30, "{} {}", slices.len(), segments.len());
    }
}
