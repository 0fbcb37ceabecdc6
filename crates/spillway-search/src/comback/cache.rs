//! The cache of states from which rebuilding starts.
//!
//! The cached states determine the length of the replayed paths. The kinds of caches are those of Evangelista,
//! Westergaard and Kristensen; the heuristic one is an extension. Every state that is rebuilt or new is offered to the
//! cache.

use super::cache_config::{CacheKind, CacheSize, StateCacheConfig};
use std::collections::HashMap;

/// Bytes of a cached state beyond its state vector.
const OVERHEAD: usize = 64;

/// The number of random cached states among which the least used one is evicted.
const COMPARED: usize = 8;

/// Returns the bytes that a state of `width` bytes takes in a cache.
pub(super) fn bytes_per_state(width: usize) -> usize {
    width + OVERHEAD
}

/// Cached states by their numbers.
pub(super) struct StateCache {
    kind: CacheKind,
    width: usize,
    /// The greatest capacity.
    room: usize,
    /// The bytes of cache for each visited state, if the capacity grows.
    grows: Option<u8>,
    /// The capacity that applies once the order of age allows it.
    wanted: usize,
    /// The current capacity.
    size: usize,
    slots: HashMap<u64, u32>,
    numbers: Vec<u64>,
    states: Vec<u8>,
    /// The number of recent paths that began at each state.
    used: Vec<u16>,
    oldest: usize,
    random: u64,
}

impl StateCache {
    pub(super) fn new(
        StateCacheConfig { kind, size }: StateCacheConfig,
        width: usize,
        bytes: usize,
    ) -> StateCache {
        let fits = bytes / bytes_per_state(width);
        let (room, grows) = match (kind, size) {
            (CacheKind::None, _) => (0, None),
            (_, CacheSize::BytesAState(bytes)) => (fits, Some(bytes)),
            (_, CacheSize::States(states)) => {
                (fits.min(usize::try_from(states).unwrap_or(fits)), None)
            }
            (_, CacheSize::Max) => (fits, None),
        };
        let size = if grows.is_some() { 0 } else { room };
        StateCache {
            kind,
            width,
            room,
            grows,
            wanted: size,
            size,
            slots: HashMap::new(),
            numbers: Vec::new(),
            states: Vec::new(),
            used: Vec::new(),
            oldest: 0,
            random: 1,
        }
    }

    /// Adapts the capacity to the number of visited states.
    pub(super) fn grow(&mut self, found: u64) {
        if let Some(bytes) = self.grows {
            let states = u64::from(bytes) * found / bytes_per_state(self.width) as u64;
            self.wanted = self.room.min(usize::try_from(states).unwrap_or(self.room));
        }
        self.resize();
    }

    /// Applies the wanted capacity if the youngest state is in the last slot: new slots are appended.
    fn resize(&mut self) {
        if self.oldest == 0 {
            self.size = self.wanted;
        }
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.len() * bytes_per_state(self.width)
    }

    /// Returns the state `number`, if it is cached.
    pub(super) fn get(&mut self, number: u64) -> Option<&[u8]> {
        let slot = *self.slots.get(&number)? as usize;
        self.used[slot] = self.used[slot].saturating_add(1);
        Some(&self.states[slot * self.width..][..self.width])
    }

    /// Caches a state of `level`, if the kind of the cache allows it.
    pub(super) fn offer(&mut self, number: u64, level: usize, state: &[u8]) {
        let wanted = match self.kind {
            CacheKind::Stratified(every) => level.is_multiple_of(usize::from(every)),
            _ => true,
        };
        if !wanted || self.size == 0 || self.slots.contains_key(&number) {
            return;
        }
        let slot = self.numbers.len();
        if slot < self.size {
            self.numbers.push(number);
            self.used.push(0);
            if self.states.len() == self.states.capacity() {
                // The vector grows in small steps, so that it does not exceed its share of memory.
                let more = (self.numbers.len() / 8).clamp(1, self.size - slot);
                self.states.reserve_exact(more * self.width);
            }
            self.states.extend_from_slice(state);
            self.slots.insert(number, slot as u32);
            return;
        }
        let slot = self.worst();
        self.slots.remove(&self.numbers[slot]);
        self.numbers[slot] = number;
        self.used[slot] = 0;
        self.states[slot * self.width..][..self.width].copy_from_slice(state);
        self.slots.insert(number, slot as u32);
    }

    /// Returns the slot whose state is evicted.
    fn worst(&mut self) -> usize {
        match self.kind {
            CacheKind::Random => self.any(),
            CacheKind::Heuristic => {
                let some: [usize; COMPARED] = std::array::from_fn(|_| self.any());
                let worst = some.into_iter().min_by_key(|&slot| self.used[slot]).unwrap_or(0);
                // Older uses count less and less.
                some.into_iter().for_each(|slot| self.used[slot] /= 2);
                worst
            }
            _ => {
                let oldest = self.oldest;
                self.oldest = (oldest + 1) % self.size;
                self.resize();
                oldest
            }
        }
    }

    fn any(&mut self) -> usize {
        // Marsaglia's xorshift; every search has the same sequence.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % self.size as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [CacheKind; 5] = [
        CacheKind::None,
        CacheKind::Random,
        CacheKind::Fifo,
        CacheKind::Heuristic,
        CacheKind::Stratified(3),
    ];

    #[test]
    fn caches_hold_offered_states_up_to_their_size() {
        for kind in KINDS {
            let mut cache =
                StateCache::new(StateCacheConfig { kind, size: CacheSize::States(10) }, 4, 1 << 20);
            for number in 0..1000u32 {
                cache.offer(number.into(), number as usize, &number.to_be_bytes());
                if number % 7 == 0 {
                    cache.get(number.into());
                }
            }
            let kept: Vec<u32> =
                (0..1000).filter(|&number| cache.get(u64::from(number)).is_some()).collect();
            assert_eq!(kept.len(), if kind == CacheKind::None { 0 } else { 10 });
            for &number in &kept {
                assert_eq!(cache.get(number.into()), Some(&number.to_be_bytes()[..]));
            }
            match kind {
                CacheKind::Fifo => assert_eq!(kept, (990..1000).collect::<Vec<_>>()),
                CacheKind::Stratified(every) => {
                    assert!(kept.iter().all(|number| number % u32::from(every) == 0));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_cache_stays_within_its_memory() {
        let cache = StateCache::new(
            StateCacheConfig { kind: CacheKind::Fifo, size: CacheSize::States(1000) },
            36,
            1000,
        );
        assert_eq!(cache.size, 10);
        assert_eq!(
            StateCache::new(
                StateCacheConfig { kind: CacheKind::Fifo, size: CacheSize::Max },
                36,
                1000
            )
            .size,
            10
        );
    }

    #[test]
    fn a_cache_grows_with_the_number_of_states() {
        for kind in KINDS {
            let mut cache = StateCache::new(
                StateCacheConfig { kind, size: CacheSize::BytesAState(4) },
                36,
                100 * 1000,
            );
            for number in 0..30_000u32 {
                cache.grow(number.into());
                cache.offer(number.into(), number as usize, &[7; 36]);
                let most = (4 * number as usize).min(100 * 1000);
                assert!(cache.bytes() <= most, "{kind:?}: {} after {number}", cache.bytes());
                if kind == CacheKind::Fifo && number > 1000 {
                    let kept = cache.numbers.len() as u32;
                    assert!(
                        (number - kept + 1..=number).all(|it| cache.slots.contains_key(&it.into()))
                    );
                }
            }
            let most = if kind == CacheKind::None { 0 } else { 1000 };
            assert_eq!(cache.numbers.len(), most);
        }
    }
}
