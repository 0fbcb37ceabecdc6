//! Tests that a store with values is a map. At each level it reports the new keys and the changed values, for any
//! arrangement of runs and after any restart.

mod common;

use common::pairs::*;
use common::*;
use proptest::prelude::*;
use spill::values::{AndOperator, OrOperator, SumOperator};
use spill::{
    ByteFrequencies, Candidates, Codec, Disk, Error, FaultDisk, Frontier, HuffmanCode,
    HuffmanTables, Projection, SavedLevels, Segment, SegmentRef, SegmentWriter, SettleOutcome,
    SettledPairs, Store, StoreBudget, ValueSpec, sort_pairs, subtract_keys,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The coding of pairs in blocks and in memory.
#[derive(Clone, Copy, Debug)]
enum Coding {
    Gaps,
    /// Projected on the bits that varied so far.
    Projected,
    Raw,
    Rle,
    Huffman,
}

/// A store with its expected content.
struct CheckedStore {
    kind: ValueKind,
    /// Whether values change; otherwise keys keep their first values.
    changes: bool,
    key_bytes: usize,
    coding: Coding,
    shares: StoreBudget,
    threads: usize,
    disk: Arc<FaultDisk>,
    store: Store,
    codec: Codec,
    map: Map,
    /// The maximum size of the filter in bytes.
    filter_bytes: u64,
}

impl CheckedStore {
    fn new(
        kinds: (ValueKind, usize, Coding),
        shares: StoreBudget,
        threads: usize,
        sample: &PairList,
    ) -> CheckedStore {
        CheckedStore::with_changing_values(true, kinds, shares, threads, sample)
    }

    fn with_changing_values(
        changes: bool,
        (kind, key_bytes, coding): (ValueKind, usize, Coding),
        shares: StoreBudget,
        threads: usize,
        sample: &PairList,
    ) -> CheckedStore {
        let (width, sample) = (key_bytes + kind.bytes(), pairs_of(sample));
        let codec = match coding {
            Coding::Gaps => Codec::Gaps,
            Coding::Raw => Codec::Raw,
            Coding::Rle => Codec::Rle,
            Coding::Huffman => Codec::Huffman(Arc::new(HuffmanCode::train(
                &ByteFrequencies::of_keys(width, &sample),
                HuffmanTables::Columns,
            ))),
            Coding::Projected if sample.is_empty() => Codec::Gaps,
            Coding::Projected => projected(&Projection::of_keys(width, &sample), kind),
        };
        let disk = Arc::new(FaultDisk::new());
        let (map, filter_bytes) = (Map::new(), 0);
        let store = store(&disk, (width, kind, changes), &codec, shares);
        CheckedStore {
            kind,
            changes,
            key_bytes,
            coding,
            shares,
            threads,
            disk,
            store,
            codec,
            map,
            filter_bytes,
        }
    }

    fn width(&self) -> usize {
        self.key_bytes + self.kind.bytes()
    }

    /// Settles candidates cut into `runs` runs, every second of them on disk, and compares.
    fn level(&mut self, given: &PairList, runs: usize) {
        self.widen(&pairs_of(given));
        let values = self.kind.values();
        let mut sorted: Vec<Vec<u8>> = given
            .chunks(given.len().div_ceil(runs).max(1))
            .map(|run| {
                let mut run =
                    self.codec.adopt(&Codec::Gaps, self.width(), &pairs_of(&run.to_vec()));
                let width = self.codec.key_width(self.width());
                sort_pairs(width, Some(&values), &mut run, &mut Vec::new());
                run
            })
            .collect();
        let on_disk: Vec<Vec<u8>> = sorted.split_off(sorted.len() / 2);
        let segments: Vec<Segment> = on_disk.iter().map(|run| self.segment(run)).collect();
        let candidates =
            Candidates { slices: sorted.iter().map(Vec::as_slice).collect(), segments };
        self.store.choose_filter();
        self.store.make_filter().unwrap();
        self.filter_bytes = self.filter_bytes.max(self.store.bytes()[1]);

        let stopped = self.settle(&candidates, &|| true);
        assert!(stopped.is_none() || given.is_empty());
        let (mut new, mut now, mut before) = (Map::new(), Map::new(), Map::new());
        for (key, value) in self.kind.map(given) {
            let Some(known) = self.map.get(&key) else {
                new.insert(key, value);
                continue;
            };
            let joined = self.kind.all(&[known.clone(), value]);
            if self.changes && joined != *known {
                before.insert(key.clone(), known.clone());
                now.insert(key, joined);
            }
        }
        let levels = self.store.levels().len();
        let settled = self.settle(&candidates, &|| false);
        let expected = SettledPairs { new: new.len() as u64, changed: now.len() as u64 };
        assert_eq!(settled, Some(expected), "{:?} of {} bytes", self.kind, self.key_bytes);
        if new.is_empty() && now.is_empty() {
            assert_eq!(self.store.levels().len(), levels);
            return;
        }
        self.map.extend(new.clone());
        self.map.extend(now.clone());
        self.check_last_level(&new, &now, &before);
    }

    fn settle(
        &mut self,
        candidates: &Candidates,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Option<SettledPairs> {
        if self.changes {
            return self.store.settle_pairs(candidates, self.threads, stop).unwrap();
        }
        match self.store.settle(candidates, self.threads, stop).unwrap() {
            SettleOutcome::New(new) => Some(SettledPairs { new, changed: 0 }),
            SettleOutcome::Stopped => None,
        }
    }

    /// Checks that the frontier is the new pairs, and that the changes are separate.
    fn check_last_level(&mut self, new: &Map, now: &Map, before: &Map) {
        let found = match self.store.frontier().unwrap() {
            Frontier::Raw(pairs) => Codec::Gaps.adopt(&self.codec, self.width(), &pairs),
            Frontier::Encoded(segments) => read(&segments),
        };
        assert!(found == flat_map(new), "{:?} of {} bytes: what is new", self.kind, self.key_bytes);
        let Some(changes) = self.store.changes().unwrap() else {
            assert!(!self.changes);
            return;
        };
        assert!(read(&changes.current) == flat_map(now), "{:?}: what has changed", self.kind);
        assert!(read(&changes.previous) == flat_map(before), "{:?}: what it was", self.kind);
    }

    /// Adds the varying bits of `pairs` to the codec.
    fn widen(&mut self, pairs: &[u8]) {
        if let (Coding::Projected, Some(known)) = (self.coding, self.codec.projection())
            && !pairs.is_empty()
        {
            let wider = projected(&known.with_bits(&known.exceptional_bits(pairs)), self.kind);
            self.store.change_codec(&wider, self.threads).unwrap();
            self.codec = wider;
        }
    }

    /// Returns a run of candidates on disk.
    fn segment(&self, pairs: &[u8]) -> Segment {
        let mut file = self.disk.create("candidates").unwrap();
        let mut writer = SegmentWriter::new(self.width(), &mut *file)
            .with_codec(&self.codec)
            .without_compression();
        writer.push(pairs).unwrap();
        let at = writer.finish().unwrap();
        file.flush().unwrap();
        Segment::open(&*self.disk, "candidates", at, self.width()).unwrap().with_codec(&self.codec)
    }

    /// Continues from the saved store of a manifest, with this memory.
    fn restart(&mut self, shares: StoreBudget) {
        self.store.sync().unwrap();
        let saved = (self.store.saved(), self.store.saved_values().unwrap());
        self.store.remove_garbage().unwrap();
        self.disk.sync_dir().unwrap();
        self.disk = Arc::new(self.disk.reboot(7));
        self.shares = shares;
        let empty = store(&self.disk, (self.width(), self.kind, self.changes), &self.codec, shares);
        self.store = empty.restore_with_values(saved.0, saved.1, self.threads).unwrap();
    }
}

/// Creates a store without levels, of pairs whose values change or not.
fn store(
    disk: &Arc<FaultDisk>,
    (width, kind, changes): (usize, ValueKind, bool),
    codec: &Codec,
    shares: StoreBudget,
) -> Store {
    let store = Store::new(disk.clone(), width, codec.clone(), shares);
    match changes {
        true => store.with_values(kind.values()),
        false => store.with_first_values(kind.values()),
    }
}

/// Returns the codec that projects pairs on these bits of their keys.
fn projected(projection: &Projection, kind: ValueKind) -> Codec {
    let bits = projection.with_value(kind.bytes());
    if bits.keeps_value(kind.bytes()) {
        return Codec::Projected(Arc::new(bits));
    }
    let first = [&[0xff][..], &vec![0; bits.whole_width() - 1]].concat();
    Codec::Projected(Arc::new(bits.with_bits(&first)))
}

fn any_coding() -> impl Strategy<Value = Coding> {
    prop_oneof![
        3 => Just(Coding::Gaps),
        3 => Just(Coding::Projected),
        1 => Just(Coding::Raw),
        1 => Just(Coding::Rle),
        1 => Just(Coding::Huffman),
    ]
}

/// Memory budgets; some are so small that every level goes to disk.
fn any_shares() -> impl Strategy<Value = StoreBudget> {
    let young = prop_oneof![Just(0usize), 100usize..5000, 5000usize..1_000_000];
    let plain = prop_oneof![Just(0u64), Just(3000), Just(u64::MAX)];
    (young, prop_oneof![Just(0usize), Just(1 << 16)], plain)
        .prop_map(|(young, filter, plain)| StoreBudget { young, filter, plain })
}

fn idempotent_kind() -> impl Strategy<Value = ValueKind> {
    any_kind().prop_filter("a store joins again", |kind| !matches!(kind, ValueKind::Sum(_)))
}

/// The candidates of one level, the number of runs into which they are cut, and the memory of a restart before it
/// (optional).
type Level = (PairList, usize, Option<StoreBudget>);

fn any_level(kind: ValueKind, key_bytes: usize) -> impl Strategy<Value = Level> {
    let given = prop_oneof![
        any_pair_list(kind, key_bytes, 30).boxed(),
        any_pair_list(kind, key_bytes, 600).boxed(),
    ];
    (given, 1usize..6, prop::option::weighted(0.2, any_shares()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_store_with_values_is_a_map(
        (kind, key_bytes, levels) in idempotent_kind().prop_flat_map(|kind| {
            any_key_bytes().prop_flat_map(move |key| {
                let levels = prop::collection::vec(any_level(kind, key), 1..14);
                (Just(kind), Just(key), levels)
            })
        }),
        coding in any_coding(),
        shares in any_shares(),
        threads in 1usize..5,
    ) {
        let mut checked = CheckedStore::new((kind, key_bytes, coding), shares, threads, &levels[0].0);
        for (given, runs, restart) in &levels {
            checked.level(given, *runs);
            if let Some(shares) = restart {
                checked.restart(*shares);
            }
        }
    }

    #[test]
    fn a_key_keeps_the_value_of_its_level(
        (kind, key_bytes, levels) in any_kind().prop_flat_map(|kind| {
            any_key_bytes().prop_flat_map(move |key| {
                let levels = prop::collection::vec(any_level(kind, key), 1..14);
                (Just(kind), Just(key), levels)
            })
        }),
        coding in any_coding(),
        shares in any_shares(),
        threads in 1usize..5,
    ) {
        let kinds = (kind, key_bytes, coding);
        let mut checked = CheckedStore::with_changing_values(false, kinds, shares, threads, &levels[0].0);
        for (given, runs, restart) in &levels {
            checked.level(given, *runs);
            if let Some(shares) = restart {
                checked.restart(*shares);
            }
        }
    }
}

/// Levels so large that several threads settle and merge them, with keys whose values change.
#[test]
fn threads_and_memory_do_not_change_levels() {
    for (kind, coding, threads, young) in [
        (ValueKind::And(3), Coding::Gaps, 4, 0),
        (ValueKind::Least(8), Coding::Projected, 4, 3 << 20),
        (ValueKind::Few(3, 2), Coding::Gaps, 3, 64 << 20),
        (ValueKind::Or(1), Coding::Raw, 2, 100_000),
    ] {
        let shares = StoreBudget { young, filter: 1 << 20, plain: 0 };
        let number =
            |d: u64, i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (d + 7) | 1 << (i * d % 13);
        let level = |d: u64| -> PairList {
            // Many keys occur twice, in different runs.
            let key = |i: u64| key(9, d * 20_000 + i % 80_000 * (1 + d % 2));
            (0..120_000).map(|i| (key(i), kind.value(number(d, i)))).collect()
        };
        for changes in [true, false] {
            let kinds = (kind, 9, coding);
            let mut checked =
                CheckedStore::with_changing_values(changes, kinds, shares, threads, &level(0));
            for d in 0..3 {
                checked.level(&level(d), 4);
                if d == 1 {
                    checked.restart(StoreBudget { young: 1 << 20, ..shares });
                }
            }
        }
    }
}

/// Thin levels with a large store, so that there is a filter of keys: it passes values that change.
#[test]
fn a_filter_finds_keys_with_changed_values() {
    for coding in [Coding::Gaps, Coding::Projected] {
        let kind = ValueKind::Or(2);
        let shares = StoreBudget { young: 20_000, filter: 1 << 20, plain: 0 };
        let first: PairList = (0..60_000).map(|i| (key(12, 3 * i), kind.value(i % 4))).collect();
        let mut checked = CheckedStore::new((kind, 12, coding), shares, 2, &first);
        checked.level(&first, 3);
        for d in 0..60 {
            let known = (0..3).map(|i| (key(12, 9 * d + 3 * i), kind.value(1 << (d % 9))));
            let new = (0..8).map(|i| (key(12, 3 * (d * 97 + i * 7013) + 1), kind.value(d)));
            checked.level(&known.chain(new).collect(), 2);
        }
        assert!(checked.filter_bytes > 0, "{coding:?}: there was no filter");
    }
}

#[test]
fn pairs_are_subtracted_from_a_store_without_values() {
    let (kind, width) = (ValueKind::Sum(4), 14);
    let keys: Set = (0..30_000).map(|i| key(10, 2 * i)).collect();
    let flat_keys = flat(&keys);
    for young in [0, 1 << 20] {
        let shares = StoreBudget { young, filter: 0, plain: 0 };
        let mut store = Store::new(Arc::new(FaultDisk::new()), 10, Codec::Gaps, shares);
        for level in flat_keys.chunks(100_000) {
            let candidates = Candidates { slices: vec![level], segments: vec![] };
            store.settle(&candidates, 2, &|| false).unwrap();
        }
        let given: PairList = (0..9_000).map(|i| (key(10, 7 * i), kind.value(i))).collect();
        let expected: BTreeMap<_, _> =
            kind.map(&given).into_iter().filter(|(key, _)| !keys.contains(key)).collect();
        let (mut known, mut remaining) = (store.subtraction(), Vec::new());
        for batch in flat_map(&kind.map(&given)).chunks(1000 * width) {
            let mut batch = batch.to_vec();
            let subtract = |keys: &mut Vec<u8>| known.subtract(keys);
            subtract_keys(width, &kind.values(), &mut batch, subtract).unwrap();
            remaining.extend(batch);
        }
        assert!(remaining == flat_map(&expected));
    }
}

fn message<T>(result: spill::Result<T>) -> String {
    result.err().map(|error: Error| error.to_string()).unwrap_or_default()
}

#[test]
fn restoring_with_other_values_is_rejected() {
    for young in [0, 1 << 20] {
        let (kind, shares) = (ValueKind::And(3), StoreBudget { young, filter: 0, plain: 0 });
        let given: PairList = (0..500).map(|i| (key(8, i), kind.value(i))).collect();
        let mut checked = CheckedStore::new((kind, 8, Coding::Gaps), shares, 1, &given);
        checked.level(&given, 1);
        checked.level(&given.iter().map(|(key, _)| (key.clone(), kind.value(0))).collect(), 1);
        checked.store.sync().unwrap();
        let saved = (checked.store.saved(), checked.store.saved_values().unwrap());
        let disk: Arc<FaultDisk> = checked.disk.clone();
        let open = |values: ValueSpec, (saved, saved_values)| {
            let disk = disk.clone();
            let store = Store::new(disk, 11, Codec::Gaps, shares).with_values(values);
            message(store.restore_with_values(saved, saved_values, 1))
        };
        assert_eq!(open(kind.values(), saved.clone()), "");
        let wrong = open(ValueSpec::new(3, OrOperator), saved.clone());
        assert!(
            wrong.contains("of 3 bytes joined by \"or\" are expected, of 3 by \"and\""),
            "{wrong}"
        );
        let wrong = open(ValueSpec::new(4, AndOperator), saved.clone());
        assert!(wrong.contains("of 4 bytes joined"), "{wrong}");
        let mut damaged = saved.clone();
        damaged.1.bytes = 4;
        let wrong = open(ValueSpec::new(4, AndOperator), damaged);
        assert!(wrong.contains("bytes of values 4 is expected, 3 is found"), "{wrong}");
        let mut damaged = saved.clone();
        damaged.1.changes = Some(SavedLevels::default());
        let wrong = open(kind.values(), damaged);
        assert!(wrong.contains("do not agree"), "{wrong}");
        let mut damaged = saved.clone();
        damaged.1.changes = None;
        let wrong = open(kind.values(), damaged);
        assert!(wrong.contains("do not agree"), "{wrong}");
        let plain = Store::new(disk.clone(), 11, Codec::Gaps, shares);
        let wrong = message(plain.restore(saved.0.clone(), 1));
        assert!(wrong.contains("bytes of values 0 is expected, 3 is found"), "{wrong}");
    }
}

#[test]
fn segments_without_values_are_rejected_as_pairs() {
    let file = OneFile::default();
    let at: SegmentRef = file.append(5, &[0, 0, 0, 0, 1], 1);
    let wrong = message(Segment::open_pairs(&file, "keys", at, 5, 2));
    assert!(wrong.contains("bytes of values 2 is expected, 0 is found"), "{wrong}");
}

#[test]
#[should_panic(expected = "a store joins values again")]
fn a_sum_operator_is_rejected_by_a_store() {
    let shares = StoreBudget { young: 0, filter: 0, plain: 0 };
    let store = Store::new(Arc::new(FaultDisk::new()), 9, Codec::Gaps, shares);
    let _ = store.with_values(ValueSpec::new(4, SumOperator));
}
