//! The numbers from which a program is built.

/// A list of numbers, consumed one by one; after its end all numbers are zero. Choices are ordered from the simplest,
/// so that shorter lists and lower numbers give simpler programs.
pub struct Choices<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Choices<'a> {
    /// Creates choices from these numbers.
    pub fn new(numbers: &'a [u16]) -> Self {
        Self { rest: numbers.iter() }
    }

    fn next(&mut self) -> u64 {
        self.rest.next().copied().unwrap_or(0).into()
    }

    /// Returns a number less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() * bound as u64) >> 16) as usize
    }

    /// Returns a number from `low` to `high`, which are close to each other.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// Returns true with this probability in percent; false is simpler.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() * 100 >= (100 - percent) << 16
    }

    /// Returns an index with a probability proportional to its weight; the first is the simplest.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut at = self.below(weights.iter().sum::<u32>() as usize) as u32;
        for (index, &weight) in weights.iter().enumerate() {
            if at < weight {
                return index;
            }
            at -= weight;
        }
        unreachable!("some weight is not 0")
    }

    /// Returns one of several values.
    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }
}
