//! Pairs for tests, and their joins by the definition of each operator.

use super::{OneFile, any_key};
use proptest::prelude::*;
use spill::Segment;
use spill::values::{
    AndOperator, BoundedList, MaxOperator, MinOperator, OrOperator, SumOperator, ValueSpec,
};
use std::collections::{BTreeMap, BTreeSet};

/// Values of a fixed size with one of the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Least(usize),
    Greatest(usize),
    And(usize),
    Or(usize),
    Sum(usize),
    /// This number of items of this number of bytes.
    Few(usize, usize),
}

/// Keys and values in their order of arrival.
pub type PairList = Vec<(Vec<u8>, Vec<u8>)>;

pub type Map = BTreeMap<Vec<u8>, Vec<u8>>;

impl ValueKind {
    /// Each operator, with values of `bytes` bytes, at least 2.
    pub fn all_of(bytes: usize) -> Vec<ValueKind> {
        let item = bytes.div_ceil(4).min(bytes - 1);
        let few = ValueKind::Few((bytes - 1) / item, item);
        vec![
            ValueKind::Least(bytes),
            ValueKind::Greatest(bytes),
            ValueKind::And(bytes),
            ValueKind::Or(bytes),
            ValueKind::Sum(bytes),
            few,
        ]
    }

    pub fn values(self) -> ValueSpec {
        match self {
            ValueKind::Least(bytes) => ValueSpec::new(bytes, MinOperator),
            ValueKind::Greatest(bytes) => ValueSpec::new(bytes, MaxOperator),
            ValueKind::And(bytes) => ValueSpec::new(bytes, AndOperator),
            ValueKind::Or(bytes) => ValueSpec::new(bytes, OrOperator),
            ValueKind::Sum(bytes) => ValueSpec::new(bytes, SumOperator),
            ValueKind::Few(items, bytes) => {
                ValueSpec::new(BoundedList::new(bytes).value_bytes(items), BoundedList::new(bytes))
            }
        }
    }

    pub fn bytes(self) -> usize {
        self.values().bytes()
    }

    /// Returns a value made of a number; often it has few set bits.
    pub fn value(self, number: u64) -> Vec<u8> {
        let bytes = self.bytes();
        let repeated = |length: usize| -> Vec<u8> {
            number.to_le_bytes().iter().cycle().take(length).copied().collect()
        };
        match self {
            ValueKind::Few(_, item) => {
                let mut value = vec![0; bytes];
                BoundedList::new(item).write_one(&repeated(item), &mut value);
                value
            }
            _ => repeated(bytes),
        }
    }

    /// Returns the join of all these values.
    pub fn all(self, given: &[Vec<u8>]) -> Vec<u8> {
        let by_byte = |join: fn(u8, u8) -> u8| {
            let columns = (0..self.bytes()).map(|at| given.iter().map(move |value| value[at]));
            columns.map(|column| column.reduce(join).unwrap()).collect()
        };
        match self {
            ValueKind::Least(_) => given.iter().min().unwrap().clone(),
            ValueKind::Greatest(_) => given.iter().max().unwrap().clone(),
            ValueKind::And(_) => by_byte(|one, other| one & other),
            ValueKind::Or(_) => by_byte(|one, other| one | other),
            ValueKind::Sum(bytes) => sum(bytes, given),
            ValueKind::Few(items, item) => few(items, item, given),
        }
    }

    /// Returns the map from each key to the join of its values.
    pub fn map(self, given: &PairList) -> Map {
        let mut lists: BTreeMap<&[u8], Vec<Vec<u8>>> = BTreeMap::new();
        for (key, value) in given {
            lists.entry(key).or_default().push(value.clone());
        }
        lists.into_iter().map(|(key, list)| (key.to_vec(), self.all(&list))).collect()
    }
}

/// Returns the sum of numbers of any length, digit by digit, or all ones.
fn sum(bytes: usize, given: &[Vec<u8>]) -> Vec<u8> {
    let (mut sum, mut carry) = (vec![0; bytes], 0u64);
    for at in (0..bytes).rev() {
        let column: u64 = given.iter().map(|value| u64::from(value[at])).sum::<u64>() + carry;
        (sum[at], carry) = ((column % 256) as u8, column / 256);
    }
    if carry > 0 { vec![0xff; bytes] } else { sum }
}

/// Returns the list of the items of all lists. Lists may have overflowed.
fn few(items: usize, item: usize, given: &[Vec<u8>]) -> Vec<u8> {
    let mut set = BTreeSet::new();
    let mut more = false;
    for value in given {
        more |= value[0] == 0xff;
        let count = if value[0] == 0xff { items } else { value[0].into() };
        set.extend(value[1..].chunks(item).take(count).map(<[u8]>::to_vec));
    }
    more |= set.len() > items;
    let least: Vec<u8> = set.iter().take(items).flatten().copied().collect();
    let mut list = vec![if more { 0xff } else { set.len() as u8 }];
    list.extend(least);
    list.resize(1 + items * item, 0);
    list
}

pub fn any_kind() -> impl Strategy<Value = ValueKind> {
    (2usize..12).prop_flat_map(|bytes| prop::sample::select(ValueKind::all_of(bytes)))
}

pub fn any_key_bytes() -> impl Strategy<Value = usize> {
    prop_oneof![
        prop::sample::select(vec![1usize, 2, 7, 8, 9, 15, 16, 17, 33, 64, 65, 70]),
        1usize..71,
    ]
}

pub fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..8, any::<u64>(), Just(u64::MAX), (0u32..64).prop_map(|bit| !(1 << bit))]
}

/// Pairs of keys of `key_bytes` bytes with many repeats.
pub fn any_pair_list(
    kind: ValueKind,
    key_bytes: usize,
    most: usize,
) -> impl Strategy<Value = PairList> {
    let pair = (any_key(key_bytes), any_number());
    prop::collection::vec(pair.prop_map(move |(key, number)| (key, kind.value(number))), 0..most)
}

/// Returns the given pairs, one after another.
pub fn pairs_of(given: &PairList) -> Vec<u8> {
    given.iter().flat_map(|(key, value)| [&**key, value].concat()).collect()
}

pub fn flat_map(map: &Map) -> Vec<u8> {
    map.iter().flat_map(|(key, value)| [&**key, value].concat()).collect()
}

/// Returns a segment of ascending pairs.
pub fn segment_of(width: usize, pairs: &[u8]) -> Segment {
    let file = OneFile::default();
    let at = file.append(width, pairs, 1000);
    file.open(at, width).unwrap()
}
