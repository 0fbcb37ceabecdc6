//! Sleep sets, and the values of states that encode them.
//!
//! Each instance has a bit of the value. Two instances that are never enabled in one state may share a bit: the state
//! determines which one it means. So the instances of a process take as many bits as it has alternatives at one
//! location.

use crate::NotApplied;
use spillway_analysis::bit_sets;
use spillway_analysis::dependence::DependenceMatrix;
use std::cmp::Ordering;

/// The most bits of a value.
const BITS_MAX: usize = 256;

/// The encoding of sleep sets as values.
pub(super) struct SleepSets {
    /// The bit of each instance that can be asleep.
    bit: Vec<Option<usize>>,
    /// The bytes of a value.
    pub value_bytes: usize,
}

/// The instances of a state that may sleep after a transition.
#[derive(Clone, Copy)]
pub(super) struct EarlierInstances<'s> {
    /// The sleeping instances.
    pub asleep: &'s [u64],
    /// The taken instances. Those with greater numbers come before the transition.
    pub taken: &'s [u64],
}

impl SleepSets {
    /// Creates the encoding for `count` instances, or returns the reason why there is none.
    pub fn of(matrix: &DependenceMatrix, count: usize) -> Result<SleepSets, NotApplied> {
        let (bit, classes) = bits_of(matrix, count);
        if classes == 0 {
            return Err(NotApplied::NoIndependence);
        }
        if classes > BITS_MAX {
            return Err(NotApplied::WideSleepSets(BITS_MAX));
        }
        Ok(SleepSets { bit, value_bytes: classes.div_ceil(8) })
    }

    /// Decodes the sleeping instances of a value, given the enabled ones.
    pub fn asleep(&self, enabled: &[u64], value: &[u8], asleep: &mut [u64]) {
        asleep.fill(0);
        if value.iter().all(|&byte| byte == 0) {
            return;
        }
        for instance in bit_sets::members(enabled) {
            if self.bit[instance].is_some_and(|bit| value[bit / 8] >> (bit % 8) & 1 != 0) {
                bit_sets::insert(asleep, instance);
            }
        }
    }

    /// Encodes the sleep set after `instance`, given the sleeping and the taken instances of the state before.
    pub fn write_value(
        &self,
        instance: usize,
        dependent: &[u64],
        earlier: EarlierInstances<'_>,
        value: &mut [u8],
    ) {
        let EarlierInstances { asleep, taken } = earlier;
        value.fill(0);
        let own = instance / bit_sets::WORD_BITS;
        for (at, (asleep, taken)) in asleep.iter().zip(taken).enumerate() {
            let before = match at.cmp(&own) {
                Ordering::Less => 0,
                Ordering::Equal => u64::MAX << (instance % bit_sets::WORD_BITS) << 1,
                Ordering::Greater => u64::MAX,
            };
            for member in bit_sets::members_of_word(at, (asleep | taken & before) & !dependent[at])
            {
                if let Some(bit) = self.bit[member] {
                    value[bit / 8] |= 1 << (bit % 8);
                }
            }
        }
    }
}

/// Assigns a bit to each instance that can be asleep, and returns the number of bits. Instances that may be enabled
/// in one state have different bits.
fn bits_of(matrix: &DependenceMatrix, count: usize) -> (Vec<Option<usize>>, usize) {
    let all = |row: &[u64], other: &[u64]| {
        let both = row.iter().zip(other).map(|(one, other)| (one | other).count_ones());
        both.sum::<u32>() as usize
    };
    let mut classes: Vec<Vec<u64>> = Vec::new();
    let bit = (0..count).map(|instance| {
        let excluded = matrix.excluded.row(instance);
        // An instance that each other one excludes or depends on never sleeps.
        if all(excluded, matrix.dependent.row(instance)) + 1 >= count || classes.len() > BITS_MAX {
            return None;
        }
        let free = classes.iter().position(|class| bit_sets::is_subset(class, excluded));
        let class = free.unwrap_or_else(|| {
            classes.push(matrix.excluded.empty_set());
            classes.len() - 1
        });
        bit_sets::insert(&mut classes[class], instance);
        Some(class)
    });
    let bit = bit.collect();
    (bit, classes.len())
}
