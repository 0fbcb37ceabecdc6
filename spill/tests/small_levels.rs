//! A store of small levels equals one whose levels are all settled as large ones. Three sizes have a limit: that of a
//! level, that of its predecessor, and that of the table of small levels. The tests cover both sides of each limit.

mod common;

use common::read;
use proptest::prelude::*;
use spill::{
    Candidates, Codec, Disk, FaultDisk, Frontier, Projection, Segment, SettleOutcome, Store,
    StoreBudget,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The greatest number of keys of a small level.
const SMALL: usize = 1024;

/// A memory share in which only the first of two stores has small levels.
const ROOMY: usize = 64 << 20;

type KeySet = BTreeSet<Vec<u8>>;

/// A key of `width` bytes: the number is in the middle, so that keys vary in few bits.
fn key(width: usize, number: u32) -> Vec<u8> {
    let mut key = vec![3; width];
    key[(width - 4) / 2..][..4].copy_from_slice(&number.to_be_bytes());
    key
}

fn flat(keys: &KeySet) -> Vec<u8> {
    keys.iter().flatten().copied().collect()
}

/// The candidates of levels: for each of these numbers of keys as many new ones, and some of earlier levels.
fn candidates(width: usize, sizes: &[usize]) -> Vec<KeySet> {
    let mut next = 0;
    let level = |&size: &usize| {
        let new = next..next + size as u32;
        let (before, end) = (new.start.max(1), new.end);
        let known = (0..size.min(7) as u32).map(|it| it * 7919 % before);
        next = end;
        // Numbers of neighbours are far apart.
        let spread = |number: u32| key(width, number.wrapping_mul(0x9e37_79b1));
        new.chain(known).map(spread).collect()
    };
    sizes.iter().map(level).collect()
}

/// Settles a level whose candidates are in two runs. Returns the number of new keys.
fn settle(store: &mut Store, codec: &Codec, width: usize, keys: &KeySet) -> u64 {
    let halves = [0, 1].map(|half| -> KeySet {
        // Some candidates are in both runs.
        let keys = keys.iter().enumerate().filter(|(at, _)| at % 3 == half || at % 3 == 2);
        keys.map(|(_, key)| key.clone()).collect()
    });
    let runs = halves.map(|half| codec.adopt(&Codec::Gaps, width, &flat(&half)));
    let slices = runs.iter().map(Vec::as_slice).collect();
    let candidates = Candidates { slices, segments: Vec::new() };
    match store.settle(&candidates, 2, &|| false).unwrap() {
        SettleOutcome::New(new) => new,
        SettleOutcome::Stopped => panic!("nobody said stop"),
    }
}

/// Returns the whole keys of segments.
fn whole_keys(segments: &[Segment]) -> Vec<u8> {
    read(&segments.iter().map(Segment::unprojected).collect::<Vec<_>>())
}

/// Returns the keys of the last level, as the search expands them.
fn frontier(store: &mut Store, codec: &Codec, width: usize) -> Vec<u8> {
    match store.frontier().unwrap() {
        Frontier::Raw(keys) => Codec::Gaps.adopt(codec, width, &keys),
        Frontier::Encoded(segments) => whole_keys(&segments),
    }
}

/// Returns all keys of the runs of a store, which must be disjoint.
fn all(store: &Store, codec: &Codec, width: usize) -> KeySet {
    let Candidates { slices, segments } = store.runs();
    let mut keys = Codec::Gaps.adopt(codec, width, &slices.concat());
    segments.iter().for_each(|it| keys.extend(whole_keys(std::slice::from_ref(it))));
    let all: KeySet = keys.chunks_exact(width).map(<[u8]>::to_vec).collect();
    assert_eq!(all.len() * width, keys.len(), "a key in two runs");
    all
}

/// Returns the bytes of the log of levels.
fn log(store: &mut Store, disk: &FaultDisk) -> Vec<Vec<u8>> {
    store.sync().unwrap();
    let shards = &store.levels().saved().shards;
    shards.iter().map(|it| disk.map(&it.file.to_string(), 0..it.length).unwrap().to_vec()).collect()
}

/// The sizes of levels around the limits.
fn sizes() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![
        8 => 1usize..4,
        2 => 1usize..300,
        2 => SMALL - 9..SMALL + 3,
        1 => SMALL..4 * SMALL,
    ];
    prop::collection::vec(size, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_levels_change_no_result(
        width in prop::sample::select(vec![4usize, 8, 12, 40, 300]),
        sizes in sizes(),
        young in prop::sample::select(vec![0usize, 20_000, 200_000, 2_000_000, ROOMY]),
        filter in prop::sample::select(vec![0usize, 1 << 20]),
        plain in prop::sample::select(vec![0, 5_000, u64::MAX]),
        is_projected: bool,
        resumed in prop::collection::vec(0usize..40, 0..4),
    ) {
        let levels = candidates(width, &sizes);
        let all_keys: KeySet = levels.iter().flatten().cloned().collect();
        let projection = Projection::of_keys(width, &flat(&all_keys));
        let codec = if is_projected { Codec::Projected(Arc::new(projection)) } else { Codec::Gaps };
        // Without memory no level is small.
        let stores = [young, 0].map(|young| {
            let disk = Arc::new(FaultDisk::new());
            let shares = StoreBudget { young, filter, plain };
            (Store::new(disk.clone(), width, codec.clone(), shares), disk, shares)
        });
        let [(mut store, disk, shares), (mut other, other_disk, _)] = stores;
        let mut known = KeySet::new();
        for (number, level) in levels.iter().enumerate() {
            let new: KeySet = level.difference(&known).cloned().collect();
            for store in [&mut store, &mut other] {
                store.choose_filter();
                store.make_filter().unwrap();
                prop_assert_eq!(settle(store, &codec, width, level), new.len() as u64);
                prop_assert_eq!(frontier(store, &codec, width), flat(&new));
            }
            known.extend(new);
            if resumed.contains(&number) {
                store.sync().unwrap();
                let saved = store.saved();
                let empty = Store::new(disk.clone(), width, codec.clone(), shares);
                store = empty.restore(saved, 2).unwrap();
            }
        }
        prop_assert!(log(&mut store, &disk) == log(&mut other, &other_disk));
        // Every key is known.
        for level in &levels {
            prop_assert_eq!(settle(&mut store, &codec, width, level), 0);
        }
        store.sort_small_levels(2).unwrap();
        prop_assert!(all(&store, &codec, width) == known);
    }

    #[test]
    fn the_codec_may_change_between_small_levels(
        width in prop::sample::select(vec![12usize, 40, 300]),
        sizes in sizes(),
        young in prop::sample::select(vec![20_000usize, 2_000_000, ROOMY]),
    ) {
        let levels = candidates(width, &sizes);
        let disk = Arc::new(FaultDisk::new());
        let shares = StoreBudget { young, filter: 0, plain: 0 };
        let mut projection = Projection::of_keys(width, &flat(&levels[0]));
        let mut codec = Codec::Projected(Arc::new(projection));
        let mut store = Store::new(disk, width, codec.clone(), shares);
        let mut known = KeySet::new();
        for level in &levels {
            known.extend(level.iter().cloned());
            let wider = Projection::of_keys(width, &flat(&known));
            projection = wider;
            let wider = Codec::Projected(Arc::new(projection));
            if wider.projection() != codec.projection() {
                store.change_codec(&wider, 2).unwrap();
                codec = wider;
            }
            settle(&mut store, &codec, width, level);
        }
        store.sort_small_levels(2).unwrap();
        prop_assert!(all(&store, &codec, width) == known);
    }
}

#[test]
fn an_abandoned_small_level_can_be_repeated() {
    let shares = StoreBudget { young: ROOMY, filter: 0, plain: 0 };
    let mut store = Store::new(Arc::new(FaultDisk::new()), 8, Codec::Gaps, shares);
    let levels = candidates(8, &[3, 2]);
    assert_eq!(settle(&mut store, &Codec::Gaps, 8, &levels[0]), 3);
    let keys = flat(&levels[1]);
    let candidates = Candidates { slices: vec![&keys], segments: Vec::new() };
    let stopped = store.settle(&candidates, 1, &|| true).unwrap();
    assert_eq!(stopped, SettleOutcome::Stopped);
    assert_eq!(frontier(&mut store, &Codec::Gaps, 8), flat(&levels[0]));
    assert_eq!(settle(&mut store, &Codec::Gaps, 8, &levels[1]), 2);
}

#[test]
#[should_panic(expected = "small levels are sorted before")]
fn small_levels_are_no_runs() {
    let shares = StoreBudget { young: ROOMY, filter: 0, plain: 0 };
    let mut store = Store::new(Arc::new(FaultDisk::new()), 8, Codec::Gaps, shares);
    settle(&mut store, &Codec::Gaps, 8, &candidates(8, &[1])[0]);
    let _ = store.runs();
}
