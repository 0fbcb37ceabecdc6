//! Removing the known keys from the candidates.
//!
//! Both sets are ascending, so this is a merge that keeps the keys found only among the candidates. They are removed
//! in place; kept keys move to the front. The fastest method depends on the number of keys on both sides of a stretch:
//!
//! - About equally many: both sets are walked in step, with comparisons that move the cursors without a branch.
//! - Fewer candidates: several keys of the run are passed at once. If that takes long, the next one is found by
//!   galloping (Bentley and Yao 1976).
//! - Far fewer keys in the run: its keys are found among the candidates by galloping.
//!
//! For a segment ([`SegmentSubtract`]), the index gives the one block that can hold a candidate. Blocks that can hold
//! none are not decoded. The keys of a block are not restored: the candidates are squeezed like the block's keys, and
//! integers are compared. If a block has records instead (see `codec/`), the candidates are encoded, and records are
//! compared.

use super::lockstep::{LockstepWalk, WalkCursors, split_halves, walk_interleaved};
use crate::disk::Result;
use crate::keys::{KeyInteger, KeyShape, KeySqueezer, bound, for_shape, gallop_from, is_ascending};
use crate::segments::{BlockKeys, BlockReader, RecordLookup, Segment};
use std::ops::Range;

/// The ratio of candidates to keys of the run from which the subtraction gallops through the candidates.
const GALLOP_RATIO: usize = 16;

/// The ratio of keys of the run to candidates from which several keys of the run are passed at once.
const STRIDES_RATIO: usize = 3;

/// The number of keys passed at once, a power of two.
const STRIDE: usize = 4;

/// The number of strides after which the subtraction gallops. Strides read sequentially, unlike doubling steps, and
/// most keys are not farther away (measured, `docs/measurements/history.md`).
const STRIDES_MAX: usize = 32;

/// The ratio of keys of the block to candidates from which each candidate is looked up in the block. Unlike a walk, a
/// search takes no branch that depends on the keys, and several searches run at a time.
const LOOK_UP_RATIO: usize = 4;

/// Removes every key in the ascending `run` from `candidates`, ascending and without repeats.
pub fn subtract(width: usize, candidates: &mut Vec<u8>, run: &[u8]) {
    debug_assert!(is_ascending(width, candidates) && is_ascending(width, run));
    let all = 0..candidates.len() / width;
    let kept = for_shape!(width, shape => remove(shape, candidates, all, 0, run).kept);
    candidates.truncate(kept * width);
}

/// Removes the keys of a segment from a sequence of ascending batches of candidates.
pub struct SegmentSubtract {
    reader: BlockReader,
    /// The first key of the segment, if it has one.
    first: Vec<u8>,
    /// A key greater than all of the segment, if known: candidates from there on are not searched.
    end: Option<Vec<u8>>,
    /// The first block that can hold a key not less than the last candidate.
    block: usize,
    /// Whether the reader has decoded that block.
    decoded: bool,
    /// The number of its keys that are less than all later candidates.
    passed: usize,
    /// For blocks whose keys vary in up to 64 bits.
    narrow: SqueezedCandidates<u64>,
    /// For blocks whose keys vary in up to 128 bits.
    wide: SqueezedCandidates<u128>,
    /// For blocks of records.
    sought: RecordLookup,
    /// Candidates found in a block of records.
    found: Vec<u32>,
}

impl SegmentSubtract {
    /// Creates a subtraction that begins at the first key of `segment`.
    pub fn new(segment: Segment) -> Self {
        let first = match segment.blocks() {
            0 => Vec::new(),
            _ => segment.first_key(0).into_owned(),
        };
        SegmentSubtract {
            reader: BlockReader::new(segment),
            first,
            end: None,
            block: 0,
            decoded: false,
            passed: 0,
            narrow: SqueezedCandidates::default(),
            wide: SqueezedCandidates::default(),
            sought: RecordLookup::default(),
            found: Vec::new(),
        }
    }

    /// Creates one subtraction for each segment; each segment begins after the last key of the previous one.
    pub(crate) fn of_pieces(segments: &[Segment]) -> Vec<SegmentSubtract> {
        let segments = segments.iter().filter(|segment| segment.blocks() > 0);
        let mut pieces: Vec<_> = segments.cloned().map(SegmentSubtract::new).collect();
        for next in 1..pieces.len() {
            pieces[next - 1].end = Some(pieces[next].first.clone());
        }
        pieces
    }

    /// Returns the number of decoded blocks.
    pub(crate) fn decoded_blocks(&self) -> u64 {
        self.reader.decoded_blocks()
    }

    /// Removes the keys of the segment from `candidates`, which ascend without repeats, also across calls.
    pub fn subtract(&mut self, candidates: &mut Vec<u8>) -> Result<()> {
        let width = self.reader.segment().width();
        debug_assert!(is_ascending(width, candidates));
        if self.reader.segment().blocks() == 0 {
            return Ok(());
        }
        let kept = for_shape!(width, shape => self.remove(shape, candidates))?;
        candidates.truncate(kept * width);
        Ok(())
    }

    fn remove<S: KeyShape>(&mut self, shape: S, candidates: &mut [u8]) -> Result<usize> {
        let (width, count) = (shape.width(), candidates.len() / shape.width());
        let mut next = gallop_from(shape, candidates, 0, count, shape.key(&self.first));
        let within = match &self.end {
            Some(end) => gallop_from(shape, candidates, next, count, shape.key(end)),
            None => count,
        };
        let mut kept = next;
        while next < within {
            self.seek(&candidates[next * width..][..width]);
            let segment = self.reader.segment();
            let end = if self.block + 1 < segment.blocks() {
                let bound = segment.first_key(self.block + 1);
                gallop_from(shape, candidates, next, within, shape.key(&bound))
            } else {
                within
            };
            self.open()?;
            kept = self.remove_in_block(shape, candidates, next..end, kept);
            next = end;
        }
        Ok(keep(width, candidates, within..count, kept))
    }

    /// Advances to the block that can hold `key`.
    fn seek(&mut self, key: &[u8]) {
        let segment = self.reader.segment();
        let block = segment.find_in(self.block..segment.blocks(), key);
        if block != self.block {
            (self.block, self.decoded, self.passed) = (block, false, 0);
        }
    }

    /// Decodes the block, unless it is decoded already.
    fn open(&mut self) -> Result<()> {
        if !self.decoded {
            self.reader.open(self.block)?;
            self.decoded = true;
        }
        Ok(())
    }

    /// Moves the candidates of `range` that are not in the block to index `kept`. Returns the index after them.
    fn remove_in_block<S: KeyShape>(
        &mut self,
        shape: S,
        candidates: &mut [u8],
        range: Range<usize>,
        kept: usize,
    ) -> usize {
        let width = shape.width();
        let (known, passed) = match self.reader.block() {
            BlockKeys::Narrow(squeeze, values) => {
                let keys = &candidates[range.start * width..range.end * width];
                self.narrow.find_known(squeeze, keys, &values[self.passed..])
            }
            BlockKeys::Wide(squeeze, values) => {
                let keys = &candidates[range.start * width..range.end * width];
                self.wide.find_known(squeeze, keys, &values[self.passed..])
            }
            BlockKeys::Keys(keys) => {
                let RemovalCounts { kept, passed } =
                    remove(shape, candidates, range, kept, &keys[self.passed * width..]);
                self.passed += passed;
                return kept;
            }
            BlockKeys::Records(records) => {
                let keys = &candidates[range.start * width..range.end * width];
                let known = self.sought.find_known(width, keys, records).iter().enumerate();
                self.found.clear();
                self.found.extend(known.filter(|(_, known)| **known).map(|(at, _)| at as u32));
                (self.found.as_slice(), 0)
            }
        };
        self.passed += passed;
        let (mut next, mut kept) = (range.start, kept);
        for &index in known {
            let index = range.start + index as usize;
            kept = keep(width, candidates, next..index, kept);
            next = index + 1;
        }
        keep(width, candidates, next..range.end, kept)
    }
}

/// Candidates, squeezed like the keys of a block.
#[derive(Default)]
struct SqueezedCandidates<I> {
    /// The squeezed candidates that have the block's constant bits.
    values: Vec<I>,
    /// The indices of these candidates.
    indices: Vec<u32>,
    /// The candidates found in the block.
    known: Vec<u32>,
}

impl<I: KeyInteger> SqueezedCandidates<I> {
    /// Finds the ascending `candidates` that squeeze to one of the ascending `values`. Returns their indices, and the
    /// number of values not greater than the last candidate, or a smaller number.
    fn find_known(
        &mut self,
        squeeze: &KeySqueezer,
        candidates: &[u8],
        values: &[I],
    ) -> (&[u32], usize) {
        self.values.clear();
        self.indices.clear();
        squeeze.squeeze_matching(candidates, |index, value| {
            self.values.push(value);
            self.indices.push(index as u32);
        });
        self.known.clear();
        let passed = if self.values.len() < values.len() / LOOK_UP_RATIO {
            self.look_up(values)
        } else {
            self.walk(values)
        };
        (&self.known, passed)
    }

    /// Walks through both sets in step.
    fn walk(&mut self, values: &[I]) -> usize {
        let SqueezedCandidates { values: queries, indices, known } = self;
        let count = queries.len();
        known.resize(count, 0);
        let halves = split_halves(0..count, 0, values.len(), |middle| {
            values.partition_point(|value| *value < queries[middle])
        });
        let mut lookup = LookupWalk { queries, indices, known: &mut *known, values };
        let [low, high] = walk_interleaved(halves, &mut lookup);
        known.copy_within(low.end..high.taken, low.taken);
        known.truncate(low.taken + high.taken - low.end);
        high.passed
    }

    /// Looks up each candidate in far more values.
    fn look_up(&mut self, values: &[I]) -> usize {
        let (mut found, mut passed) = (0, 0);
        self.known.resize(self.values.len(), 0);
        for (&query, &index) in self.values.iter().zip(&self.indices) {
            passed = values.partition_point(|value| *value < query);
            self.known[found] = index;
            found += usize::from(values.get(passed) == Some(&query));
        }
        self.known.truncate(found);
        passed
    }
}

/// Collects the candidates that are among the keys of a block.
struct LookupWalk<'q, I> {
    queries: &'q [I],
    indices: &'q [u32],
    known: &'q mut [u32],
    values: &'q [I],
}

impl<I: KeyInteger> LockstepWalk for LookupWalk<'_, I> {
    #[inline(always)]
    fn step(&mut self, at: &mut WalkCursors) {
        let (query, value) = (self.queries[at.next], self.values[at.passed]);
        self.known[at.taken] = self.indices[at.next];
        at.taken += usize::from(query == value);
        at.next += usize::from(query <= value);
        at.passed += usize::from(value <= query);
    }
}

/// Moves the keys `range` to index `kept`. Returns the index after them.
fn keep(width: usize, keys: &mut [u8], range: Range<usize>, kept: usize) -> usize {
    if range.start != kept {
        keys.copy_within(range.start * width..range.end * width, kept * width);
    }
    kept + range.len()
}

/// The result of [`remove`].
struct RemovalCounts {
    /// The index after the kept keys.
    kept: usize,
    /// The number of keys of the run not greater than the last of the range, or a smaller number.
    passed: usize,
}

/// Moves those of the ascending keys `range` that are not in `run` to index `kept`. All keys before `kept` are final.
fn remove<S: KeyShape>(
    shape: S,
    keys: &mut [u8],
    range: Range<usize>,
    kept: usize,
    run: &[u8],
) -> RemovalCounts {
    debug_assert!(kept <= range.start);
    let run_count = run.len() / shape.width();
    if run_count < range.len() / GALLOP_RATIO {
        remove_from_many(shape, keys, range, kept, run)
    } else if run_count < STRIDES_RATIO * range.len() {
        remove_lockstep(shape, keys, range, kept, run)
    } else {
        remove_by_strides(shape, keys, range, kept, run)
    }
}

/// Does the same as [`remove`] for similar numbers of keys on both sides. The two halves are independent and
/// alternate, so that neither waits for the other's comparisons.
fn remove_lockstep<S: KeyShape>(
    shape: S,
    keys: &mut [u8],
    range: Range<usize>,
    kept: usize,
    run: &[u8],
) -> RemovalCounts {
    let (width, run_count) = (shape.width(), run.len() / shape.width());
    let halves = split_halves(range, kept, run_count, |middle| {
        bound(shape, run, 0, run_count, shape.key_at(keys, middle))
    });
    let [low, high] = walk_interleaved(halves, &mut RemovalWalk { shape, keys: &mut *keys, run });
    let kept = keep(width, keys, low.next..low.end, low.taken);
    let kept = keep(width, keys, low.end..high.taken, kept);
    RemovalCounts { kept: keep(width, keys, high.next..high.end, kept), passed: high.passed }
}

/// Keeps the keys that are not in a run.
struct RemovalWalk<'k, S> {
    shape: S,
    keys: &'k mut [u8],
    run: &'k [u8],
}

impl<S: KeyShape> LockstepWalk for RemovalWalk<'_, S> {
    #[inline(always)]
    fn step(&mut self, at: &mut WalkCursors) {
        let RemovalWalk { shape, keys, run } = self;
        let (key, other) = (shape.key_at(keys, at.next), shape.key_at(run, at.passed));
        let (less, greater) = (key < other, key > other);
        // A removed key is overwritten, or becomes the first of the remainder. After the first removal the branch
        // always goes the same way.
        if at.taken != at.next {
            shape.copy_key(keys, at.next, at.taken);
        }
        at.taken += usize::from(less);
        at.next += usize::from(!greater);
        at.passed += usize::from(!less);
    }
}

/// Does the same as [`remove`] for fewer keys than in the run: it passes [`STRIDE`] of these at once, and gallops if
/// keys are far apart.
fn remove_by_strides<S: KeyShape>(
    shape: S,
    keys: &mut [u8],
    range: Range<usize>,
    mut kept: usize,
    run: &[u8],
) -> RemovalCounts {
    let (width, run_count) = (shape.width(), run.len() / shape.width());
    let mut passed = 0;
    for next in range.clone() {
        let key = shape.key_at(keys, next);
        let far = passed + STRIDES_MAX * STRIDE;
        while passed + STRIDE <= run_count && shape.key_at(run, passed + STRIDE - 1) < key {
            passed += STRIDE;
            if passed == far {
                passed = gallop_from(shape, run, passed, run_count, key);
                break;
            }
        }
        if passed + STRIDE > run_count {
            let rest = &run[passed * width..];
            let removed = remove_lockstep(shape, keys, next..range.end, kept, rest);
            return RemovalCounts { passed: passed + removed.passed, ..removed };
        }
        // It is among the next keys; the last of these is not less.
        let mut half = STRIDE / 2;
        while half > 0 {
            passed += half * usize::from(shape.key_at(run, passed + half - 1) < key);
            half /= 2;
        }
        let is_new = shape.key_at(run, passed) != key;
        if kept != next {
            shape.copy_key(keys, next, kept);
        }
        kept += usize::from(is_new);
    }
    RemovalCounts { kept, passed }
}

/// Does the same as [`remove`] for far more keys than in the run.
fn remove_from_many<S: KeyShape>(
    shape: S,
    keys: &mut [u8],
    range: Range<usize>,
    mut kept: usize,
    run: &[u8],
) -> RemovalCounts {
    let width = shape.width();
    let mut next = range.start;
    let mut passed = 0;
    for other in run.chunks_exact(width) {
        let until = gallop_from(shape, keys, next, range.end, shape.key(other));
        kept = keep(width, keys, next..until, kept);
        next = until;
        if next == range.end {
            break;
        }
        passed += 1;
        next += usize::from(shape.key_at(keys, next) == shape.key(other));
    }
    RemovalCounts { kept: keep(width, keys, next..range.end, kept), passed }
}
