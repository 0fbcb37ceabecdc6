//! Dictionaries: values with numbers.
//!
//! A [`Dictionary`] numbers values from 0 on. It grows only between two levels of a search and never beyond its
//! capacity. A dictionary that is full stays full. So a value that has a number keeps it, and a value that had none when
//! the dictionary became full never gets one.
//!
//! Lookup is fast for values that a dictionary returned before: it tries the address of a value before the value
//! itself. An entry holds its allocation forever, so no other value has its address.

use crate::value::Value;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};
use std::hash::BuildHasher;

/// The number of a dictionary of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DictionaryId(pub(super) u32);

impl DictionaryId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a layout determines about a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DictionarySpec {
    /// The most values.
    pub capacity: u32,
    /// Whether sets or maps are decoded from its entries, which needs their order.
    pub is_ordered: bool,
}

/// The most values of a dictionary that is also searched by address.
const ADDRESSES_MAX: u32 = 1 << 16;

/// An entry of the hash table.
#[derive(Clone, Copy)]
struct TableEntry {
    /// The value's hash.
    hash: u32,
    /// The value's number.
    number: u32,
}

/// Values with numbers. [The page above](self) says how it grows.
pub struct Dictionary {
    spec: DictionarySpec,
    values: Vec<Value>,
    table: HashTable<TableEntry>,
    /// The numbers of values by the address of their allocation.
    addresses: FxHashMap<usize, u32>,
    /// The numbers of values in the values' order. Empty if the dictionary is not ordered.
    by_rank: Vec<u32>,
    /// The rank of each number: the inverse of `by_rank`.
    ranks: Vec<u32>,
    /// The bytes that the values occupy, each counted as if it shared nothing.
    value_bytes: u64,
}

impl Dictionary {
    /// Creates an empty dictionary.
    pub(super) fn new(spec: DictionarySpec) -> Self {
        Self {
            spec,
            values: Vec::new(),
            table: HashTable::new(),
            addresses: FxHashMap::default(),
            by_rank: Vec::new(),
            ranks: Vec::new(),
            value_bytes: 0,
        }
    }

    /// Returns the count of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns whether no further value gets a number.
    pub fn is_full(&self) -> bool {
        self.values.len() >= self.spec.capacity as usize
    }

    /// Returns the values in the order of their numbers.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the value with a number.
    pub fn value(&self, number: u32) -> Option<&Value> {
        self.values.get(number as usize)
    }

    /// Returns the number of a value.
    #[inline]
    pub fn lookup(&self, value: &Value) -> Option<u32> {
        if self.spec.capacity <= ADDRESSES_MAX
            && let Some(address) = address(value)
            && let Some(number) = self.addresses.get(&address)
        {
            return Some(*number);
        }
        let hash = hash(value);
        let is_entry =
            |it: &TableEntry| it.hash == hash && self.values[it.number as usize] == *value;
        self.table.find(spread(hash), is_entry).map(|it| it.number)
    }

    /// Gives the next number to a value that has none. Returns nothing if the dictionary is full.
    pub(super) fn add(&mut self, value: Value) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        let entry = TableEntry { hash: hash(&value), number: self.values.len() as u32 };
        self.table.insert_unique(spread(entry.hash), entry, |it| spread(it.hash));
        if self.spec.capacity <= ADDRESSES_MAX
            && let Some(address) = address(&value)
        {
            self.addresses.insert(address, entry.number);
        }
        self.value_bytes += occupied_bytes(&value);
        self.values.push(value);
        Some(entry.number)
    }

    /// Puts the values that were added since the last call into the order.
    pub(super) fn update_ranks(&mut self) {
        if !self.spec.is_ordered || self.by_rank.len() == self.values.len() {
            return;
        }
        // The order so far is one ascending run, which a stable sort merges with the new values.
        self.by_rank.extend(self.by_rank.len() as u32..self.values.len() as u32);
        let values = &self.values;
        self.by_rank.sort_by(|one, two| values[*one as usize].cmp(&values[*two as usize]));
        self.ranks.resize(self.values.len(), 0);
        for (rank, number) in (0..).zip(&self.by_rank) {
            self.ranks[*number as usize] = rank;
        }
    }

    /// Returns the rank of a number in the order of values. The dictionary is ordered.
    pub(super) fn rank(&self, number: u32) -> Option<u32> {
        self.ranks.get(number as usize).copied()
    }

    /// Returns the value of a rank. The dictionary is ordered.
    pub(super) fn value_of_rank(&self, rank: u32) -> &Value {
        &self.values[self.by_rank[rank as usize] as usize]
    }

    /// Returns the bytes of memory, an upper bound.
    pub fn memory(&self) -> u64 {
        let table = self.table.allocation_size() as u64;
        let addresses = self.addresses.capacity() as u64 * 24;
        let ranks = (self.by_rank.capacity() + self.ranks.capacity()) as u64 * 4;
        let values = (self.values.capacity() * size_of::<Value>()) as u64;
        table + addresses + ranks + values + self.value_bytes
    }
}

/// Returns 32 well mixed bits.
fn hash(value: &Value) -> u32 {
    (FxBuildHasher.hash_one(value).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Returns the hash that the table uses: it takes a position from the lower bits and a tag from the upper ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Returns the address of the allocation that a value shares.
pub(super) fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Set(it) | Value::Tuple(it) => Some(it.ptr() as usize),
        Value::Record(it) => Some(it.ptr() as usize),
        Value::Function(it) => Some(it.ptr() as usize),
        _ => None,
    }
}

/// Returns the bytes of the allocations of a value.
fn occupied_bytes(value: &Value) -> u64 {
    // The reference count, the length and the header.
    const HEADER_BYTES: u64 = 24;
    let all = |values: &[Value]| -> u64 {
        values.iter().map(|it| size_of::<Value>() as u64 + occupied_bytes(it)).sum()
    };
    match value {
        Value::Set(it) | Value::Tuple(it) => HEADER_BYTES + all(&it.slice),
        Value::Record(it) => HEADER_BYTES + all(&it.slice),
        Value::Function(it) => HEADER_BYTES + all(&it.header.header.slice) + all(&it.slice),
        _ => 0,
    }
}

/// The dictionaries of a layout.
pub struct Dictionaries {
    all: Vec<Dictionary>,
}

impl Dictionaries {
    /// Creates empty dictionaries.
    pub(super) fn new(specs: &[DictionarySpec]) -> Self {
        Self { all: specs.iter().map(|it| Dictionary::new(*it)).collect() }
    }

    /// Returns one of them.
    #[inline]
    pub fn get(&self, id: DictionaryId) -> &Dictionary {
        &self.all[id.index()]
    }

    /// Returns one of them to add to it.
    pub(super) fn get_mut(&mut self, id: DictionaryId) -> &mut Dictionary {
        &mut self.all[id.index()]
    }

    /// Returns whether a number names one of them.
    pub(super) fn id(&self, number: u64) -> Option<DictionaryId> {
        (number < self.all.len() as u64).then_some(DictionaryId(number as u32))
    }

    /// Returns the count of dictionaries.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the count of values of dictionaries from whose entries sets or maps are decoded.
    pub fn elements(&self) -> usize {
        self.all.iter().filter(|it| it.spec.is_ordered).map(Dictionary::len).sum()
    }

    /// Returns the count of values of all dictionaries.
    pub fn values(&self) -> usize {
        self.all.iter().map(Dictionary::len).sum()
    }

    /// Returns the bytes of memory of all dictionaries, an upper bound.
    pub fn memory(&self) -> u64 {
        self.all.iter().map(Dictionary::memory).sum()
    }

    /// Puts new values into the order of their dictionaries.
    pub(super) fn update_ranks(&mut self) {
        self.all.iter_mut().for_each(Dictionary::update_ranks);
    }
}
