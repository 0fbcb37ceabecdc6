//! Tests that every operation on pairs agrees with one on a map from each key to all its values.

mod common;

use common::pairs::*;
use common::*;
use proptest::prelude::*;
use spill::{
    KeyMerge, KeySource, SegmentSource, SegmentSubtract, SliceSource, sort_pairs, subtract,
    subtract_keys,
};
use std::collections::BTreeMap;

/// Checks that `values` joins two values to the same in any order, and equal ones to themselves if it is idempotent.
fn check_operator(kind: ValueKind, numbers: [u64; 3]) {
    let joined = |one: &[u8], other: &[u8]| {
        let mut kept = one.to_vec();
        kind.values().operator().join(&mut kept, other);
        kept
    };
    let [a, b, c] = numbers.map(|number| kind.value(number));
    assert_eq!(joined(&a, &b), joined(&b, &a));
    assert_eq!(joined(&joined(&a, &b), &c), joined(&a, &joined(&b, &c)));
    assert_eq!(joined(&joined(&a, &b), &c), kind.all(&[a.clone(), b.clone(), c.clone()]));
    if kind.values().operator().is_idempotent() {
        let both = joined(&a, &b);
        assert_eq!(
            (joined(&a, &a), joined(&both, &a), joined(&both, &both)),
            (a, both.clone(), both)
        );
    }
}

/// Merges runs, every second of them as a segment, unchanged or with repeated keys.
fn check_merge(kind: ValueKind, key_bytes: usize, runs: &[PairList], twice: bool, at_most: usize) {
    let (values, width) = (kind.values(), key_bytes + kind.bytes());
    let flat: Vec<Vec<u8>> = runs
        .iter()
        .map(|run| {
            let mut pairs = pairs_of(run);
            match twice && values.operator().is_idempotent() {
                true => spill::sort_dedup(width, &mut pairs, &mut Vec::new()),
                false => sort_pairs(width, Some(&values), &mut pairs, &mut Vec::new()),
            }
            pairs
        })
        .collect();
    let sources = (0..).zip(&flat).map(|(i, pairs)| match i % 2 {
        0 => Box::new(SliceSource::new(width, pairs, None, None)) as Box<dyn KeySource + '_>,
        _ => Box::new(SegmentSource::new(segment_of(width, pairs), None, None)),
    });
    let mut merge = KeyMerge::new(width, sources.collect()).with_values(Some(&values));
    let (mut merged, mut batch) = (Vec::new(), Vec::new());
    loop {
        merge.next(&mut batch, at_most).unwrap();
        if batch.is_empty() {
            break;
        }
        assert!(batch.len() <= at_most * width);
        merged.extend_from_slice(&batch);
    }
    let all: PairList = runs.concat();
    assert!(merged == flat_map(&kind.map(&all)), "{kind:?}, {key_bytes} bytes of a key");
    merge.next(&mut batch, 1).unwrap();
    assert!(batch.is_empty(), "the end stays the end");
}

/// Subtracts keys from pairs, in memory and as a segment, in batches.
fn check_subtract(
    kind: ValueKind,
    key_bytes: usize,
    given: &PairList,
    known: &Set,
    batch_pairs: usize,
) {
    let (values, width) = (kind.values(), key_bytes + kind.bytes());
    let map = kind.map(given);
    let expected: BTreeMap<_, _> =
        map.clone().into_iter().filter(|(key, _)| !known.contains(key)).collect();
    let mut pairs = flat_map(&map);
    let remove_known = |keys: &mut Vec<u8>| {
        subtract(key_bytes, keys, &flat(known));
        Ok(())
    };
    subtract_keys(width, &values, &mut pairs, remove_known).unwrap();
    assert!(pairs == flat_map(&expected), "in memory");

    let mut segment = SegmentSubtract::new(segment(key_bytes, known));
    let mut pairs = Vec::new();
    for batch in flat_map(&map).chunks(batch_pairs * width) {
        let mut batch = batch.to_vec();
        subtract_keys(width, &values, &mut batch, |keys| segment.subtract(keys)).unwrap();
        pairs.extend(batch);
    }
    assert!(pairs == flat_map(&expected), "from a segment");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn value_operators_are_commutative_and_associative(kind in any_kind(), numbers in prop::array::uniform3(any_number())) {
        check_operator(kind, numbers);
    }

    #[test]
    fn pairs_are_sorted_and_joined(
        (kind, key_bytes, given) in any_kind().prop_flat_map(|kind| {
            any_key_bytes().prop_flat_map(move |key| (Just(kind), Just(key), any_pair_list(kind, key, 400)))
        }),
    ) {
        let width = key_bytes + kind.bytes();
        let mut pairs = pairs_of(&given);
        let (bytes, mut scratch) = (pairs.len(), Vec::new());
        sort_pairs(width, Some(&kind.values()), &mut pairs, &mut scratch);
        prop_assert!(pairs == flat_map(&kind.map(&given)), "{:?}, {} bytes of a key", kind, key_bytes);
        prop_assert!(scratch.len() <= bytes);
    }

    #[test]
    fn a_merge_joins_equal_keys_wherever_batches_end(
        (kind, key_bytes, runs) in any_kind().prop_flat_map(|kind| {
            any_key_bytes().prop_flat_map(move |key| {
                let runs = prop::collection::vec(any_pair_list(kind, key, 300), 0..6);
                (Just(kind), Just(key), runs)
            })
        }),
        twice in any::<bool>(),
        at_most in prop_oneof![1usize..40, 1000usize..20_000],
    ) {
        check_merge(kind, key_bytes, &runs, twice, at_most);
    }

    #[test]
    fn subtraction_leaves_pairs_with_keys_in_no_run(
        (kind, key_bytes, given, known) in any_kind().prop_flat_map(|kind| {
            any_key_bytes().prop_flat_map(move |key| {
                let known = any_keys(key, 200).prop_map(|keys| keys.into_iter().collect::<Set>());
                (Just(kind), Just(key), any_pair_list(kind, key, 300), known)
            })
        }),
        batch_pairs in prop_oneof![1usize..50, 1000usize..20_000],
    ) {
        check_subtract(kind, key_bytes, &given, &known, batch_pairs);
    }
}

/// Long runs in which most keys are equal: sources yield many batches, and equal keys cross batch ends.
#[test]
fn long_runs_are_joined_across_batch_ends() {
    for kind in ValueKind::all_of(9) {
        let run = |first: u64, step: u64| -> PairList {
            (0..40_000).map(|i| (key(6, first + i * step), kind.value(i * first + i))).collect()
        };
        let runs = [run(0, 1), run(5, 2), run(7, 3), run(1, 1)];
        for at_most in [1, 7, 4096, 100_000] {
            let runs = if at_most == 1 {
                runs.clone().map(|run| run[..300].to_vec())
            } else {
                runs.clone()
            };
            check_merge(kind, 6, &runs, false, at_most);
        }
    }
}

#[test]
fn boundaries_are_moved_between_keys() {
    let kind = ValueKind::all_of(2)[0];
    let mut boundaries = vec![vec![1, 0, 7], vec![1, 3, 4], vec![2, 9, 9]];
    kind.values().cut_between_keys(&mut boundaries);
    assert_eq!(boundaries, [[1, 0, 0], [2, 0, 0]]);
}
