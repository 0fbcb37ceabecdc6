//! Tests that every operation on sets of keys agrees with one on a `BTreeSet`, for every shape of key.

mod common;

use common::*;
use proptest::prelude::*;
use spill::keys::{count, gallop, lower_bound};
use spill::{
    KeyMerge, KeySource, Segment, SegmentSource, SegmentSubtract, SliceSource, drain, sort_dedup,
    split, subtract,
};

/// Sorts, compares with a set, and checks that no more memory was used than documented.
fn check_sort(width: usize, keys: &[Vec<u8>]) {
    let mut sorted = keys.concat();
    let mut scratch = vec![1; 7];
    scratch.shrink_to_fit();
    sort_dedup(width, &mut sorted, &mut scratch);
    let expected: Set = keys.iter().cloned().collect();
    assert!(sorted == flat(&expected), "{} keys of {width} bytes", keys.len());
    assert!(scratch.len() <= keys.len() * width);
    assert!(scratch.capacity() <= (keys.len() * width).max(7));
}

/// Returns a pseudo-random sequence of numbers.
fn numbers() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0x9E37_79B9_7F4A_7C15_u64), |&last| {
        let x = last ^ last << 13;
        let x = x ^ x >> 7;
        Some(x ^ x << 17)
    })
}

#[test]
fn large_sets_of_any_distribution_are_sorted() {
    for width in WIDTHS {
        let n = if width > 100 { 3_000 } else { 30_000 };
        let random = || numbers().take(n);
        let all_bytes = || {
            let mut bytes = numbers().flat_map(u64::to_le_bytes);
            (0..n).map(|_| bytes.by_ref().take(width).collect()).collect::<Vec<Vec<u8>>>()
        };
        check_sort(width, &vec![vec![7; width]; n]);
        check_sort(width, &all_bytes());
        check_sort(width, &random().map(|x| key(width, x % 3)).collect::<Vec<_>>());
        check_sort(width, &random().map(|x| key(width, x % (n as u64 / 4))).collect::<Vec<_>>());
        // There are few repeats, so there is no space to copy all.
        check_sort(width, &random().map(|x| key(width, x % (50 * n as u64))).collect::<Vec<_>>());
        check_sort(width, &(0..n as u64).map(|x| key(width, x)).collect::<Vec<_>>());
        check_sort(width, &(0..n as u64).rev().map(|x| key(width, x)).collect::<Vec<_>>());
        // The halves differ in the first bit, and each varies only in the last bits.
        let mut halves = all_bytes();
        for (i, key) in halves.iter_mut().enumerate() {
            key[..width - 1].fill(0);
            key[0] |= (i as u8 & 1) << 7;
        }
        check_sort(width, &halves);
        // A single set bit gives the most uneven distribution over digits.
        let single = random().map(|x| {
            let mut key = vec![0; width];
            let bit = (x % (8 * width as u64)) as usize;
            key[bit / 8] = 1 << (bit % 8);
            key
        });
        check_sort(width, &single.collect::<Vec<_>>());
        // The shared prefixes become longer and longer.
        let prefixes = random().map(|x| {
            let mut key = vec![0; width];
            let length = (x >> 32) as usize % width;
            key[..length].fill(9);
            key[length] = x as u8;
            key
        });
        check_sort(width, &prefixes.collect::<Vec<_>>());
    }
}

/// A set in memory or in a segment.
enum StoredSet {
    Slice(Vec<u8>),
    Segment(Segment),
}

/// Merges `sets`, every second of them as a segment, in a key range, and checks the batches.
fn check_merge(
    width: usize,
    sets: &[Set],
    low: &Option<Vec<u8>>,
    high: &Option<Vec<u8>>,
    at_most_keys: usize,
) {
    let kept: Vec<StoredSet> = (0..)
        .zip(sets)
        .map(|(i, set)| match i % 2 {
            0 => StoredSet::Slice(flat(set)),
            _ => StoredSet::Segment(segment(width, set)),
        })
        .collect();
    let (from, to) = (low.as_deref(), high.as_deref());
    let sources = kept.iter().map(|kept| match kept {
        StoredSet::Slice(keys) => {
            Box::new(SliceSource::new(width, keys, from, to)) as Box<dyn KeySource + '_>
        }
        StoredSet::Segment(segment) => Box::new(SegmentSource::new(segment.clone(), from, to)),
    });
    let mut merge = KeyMerge::new(width, sources.collect());
    let (mut merged, mut batch) = (Vec::new(), Vec::new());
    loop {
        merge.next(&mut batch, at_most_keys).unwrap();
        if batch.is_empty() {
            break;
        }
        assert!(count(width, &batch) <= at_most_keys);
        merged.extend_from_slice(&batch);
    }
    let union: Set = sets.iter().flatten().cloned().collect();
    assert!(merged == flat(&between(&union, low, high)));
    merge.next(&mut batch, 1).unwrap();
    assert!(batch.is_empty(), "the end stays the end");
}

/// Subtracts `sets` from `candidates`, in memory and as segments, the latter in batches.
fn check_subtract(width: usize, candidates: &Set, sets: &[Set], batch_keys: usize) {
    let expected: Set = candidates
        .iter()
        .filter(|key| !sets.iter().any(|set| set.contains(*key)))
        .cloned()
        .collect();
    let mut remaining = flat(candidates);
    for set in sets {
        subtract(width, &mut remaining, &flat(set));
    }
    assert!(remaining == flat(&expected), "in memory");

    let mut segments: Vec<SegmentSubtract> =
        sets.iter().map(|set| SegmentSubtract::new(segment(width, set))).collect();
    let mut remaining = Vec::new();
    for batch in flat(candidates).chunks(batch_keys * width) {
        let mut batch = batch.to_vec();
        segments.iter_mut().for_each(|segment| segment.subtract(&mut batch).unwrap());
        remaining.extend(batch);
    }
    assert!(remaining == flat(&expected), "from segments");
}

/// Checks that boundaries are valid, and, unless the sets are small, that the ranges have similar sizes.
fn check_split(width: usize, slices: &[Set], segments: &[Set], ranges: usize) {
    let flats: Vec<Vec<u8>> = slices.iter().map(flat).collect();
    let slices_given: Vec<&[u8]> = flats.iter().map(Vec::as_slice).collect();
    let segments_given: Vec<Segment> = segments.iter().map(|set| segment(width, set)).collect();
    let boundaries = split(width, &slices_given, &segments_given, ranges);
    assert!(boundaries.len() < ranges.max(1));
    assert!(boundaries.is_sorted_by(|a, b| a < b));
    assert!(boundaries.iter().all(|key| key.len() == width));
    let all = || slices.iter().chain(segments).flatten();
    let mut held = vec![0; boundaries.len() + 1];
    for key in all() {
        held[boundaries.partition_point(|boundary| boundary <= key)] += 1;
    }
    let blocks: usize = segments_given.iter().map(Segment::blocks).sum();
    assert!(all().next().is_none() || held[0] > 0, "no empty range in front");
    if blocks == 0 && all().count() >= 100 * ranges && width > 1 {
        let share = all().count() / ranges.max(1);
        let most = held.iter().max().unwrap();
        assert!(*most <= 2 * share, "{held:?} of {share}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn sorting_removes_repeated_keys(
        (width, keys) in any_width().prop_flat_map(|width| (Just(width), any_keys(width, 400))),
    ) {
        check_sort(width, &keys);
    }

    #[test]
    fn lower_bound_and_gallop_find_the_position_of_a_key(
        (width, keys, key) in any_width()
            .prop_flat_map(|width| (Just(width), any_keys(width, 100), any_key(width))),
        from in 0usize..100,
    ) {
        let set: Set = keys.into_iter().collect();
        let less = set.iter().filter(|other| **other < key).count();
        prop_assert_eq!(lower_bound(width, &flat(&set), &key), less);
        let from = from.min(set.len());
        prop_assert_eq!(gallop(width, &flat(&set), from, &key), less.max(from));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_merge_is_the_union_in_a_key_range(
        (width, sets, low, high) in any_width().prop_flat_map(|width| {
            let sets = prop::collection::vec(any_set(width), 0..7);
            (Just(width), sets, any_bound(width), any_bound(width))
        }),
        at_most_keys in prop_oneof![1usize..50, 1000usize..20_000],
    ) {
        check_merge(width, &sets, &low, &high, at_most_keys);
    }

    #[test]
    fn subtraction_leaves_keys_in_no_run(
        (width, candidates, sets) in any_width().prop_flat_map(|width| {
            (Just(width), any_set(width), prop::collection::vec(any_set(width), 0..4))
        }),
        batch_keys in prop_oneof![1usize..50, 1000usize..20_000],
    ) {
        check_subtract(width, &candidates, &sets, batch_keys);
    }

    #[test]
    fn split_ranges_have_similar_sizes(
        (width, slices, segments) in any_width().prop_flat_map(|width| {
            let sets = || prop::collection::vec(any_set(width), 0..3);
            (Just(width), sets(), sets())
        }),
        ranges in 0usize..9,
    ) {
        check_split(width, &slices, &segments, ranges);
    }
}

/// Each set has one key in a fixed number, so that sets have keys in common, and some are far longer than others.
#[test]
fn sets_of_any_lengths_are_merged() {
    for width in WIDTHS {
        let set = |every: usize| (0..9000).step_by(every).map(|it| key(width, it)).collect::<Set>();
        for every in [&[2, 3][..], &[3, 50], &[200, 1], &[5, 3, 4], &[90, 2, 7, 1000, 3], &[4; 9]] {
            let sets: Vec<Set> = every.iter().map(|every| set(*every)).collect();
            for at_most_keys in [3, 100, 100_000] {
                check_merge(width, &sets, &None, &None, at_most_keys);
            }
        }
    }
}

/// Candidates are dense in some places, and absent from long stretches.
#[test]
fn sparse_candidates_are_subtracted_from_dense_runs() {
    for width in WIDTHS {
        let run: Set = (0..6000).filter(|it| it % 3 != 1).map(|it| key(width, it)).collect();
        for (every, close) in [(7, 1), (40, 4), (170, 9), (600, 30), (2500, 2), (9000, 5)] {
            let candidates = (0..6300).filter(|it| it % every < close).map(|it| key(width, it));
            check_subtract(width, &candidates.collect(), &[run.clone(), run.clone()], 40);
        }
    }
}

/// Each of thousands of sets has a key or two; sets share some keys.
#[test]
fn very_many_sets_are_merged() {
    let sets: Vec<Set> = (0..5000u32)
        .map(|set| {
            (0..1 + set % 2).map(|key| (set * 7 + key * 35).to_be_bytes().to_vec()).collect()
        })
        .collect();
    let kept: Vec<Vec<u8>> = sets.iter().map(flat).collect();
    let sources = kept
        .iter()
        .map(|keys| Box::new(SliceSource::new(4, keys, None, None)) as Box<dyn KeySource + '_>);
    let mut merged = Vec::new();
    drain(&mut KeyMerge::of_many(4, sources.collect()), |batch| {
        merged.extend_from_slice(batch);
        Ok(())
    })
    .unwrap();
    assert!(merged == flat(&sets.into_iter().flatten().collect()));
}

#[test]
fn segments_are_split_evenly_by_their_index() {
    let width = 10;
    let set: Set = (0..100_000).map(|number| key(width, number)).collect();
    let boundaries = split(width, &[], &[segment(width, &set)], 4);
    let cuts: Vec<usize> =
        boundaries.iter().map(|key| set.range::<Vec<u8>, _>(..key).count()).collect();
    assert_eq!(cuts.len(), 3);
    for (cut, share) in cuts.iter().zip([25_000, 50_000, 75_000]) {
        assert!(cut.abs_diff(share) <= spill::BLOCK_KEYS, "{cuts:?}");
    }
}
