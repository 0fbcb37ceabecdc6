//! The numbers a program is built from.

/// A list of numbers, taken one by one; behind its end there are only zeros. Whatever asks for a
/// choice counts the simplest first, so that shorter lists and lesser numbers are simpler programs.
pub struct Choices<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Choices<'a> {
    /// Choices by these numbers.
    pub fn new(numbers: &'a [u16]) -> Self {
        Self { rest: numbers.iter() }
    }

    fn next(&mut self) -> u64 {
        self.rest.next().copied().unwrap_or(0).into()
    }

    /// A number less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() * bound as u64) >> 16) as usize
    }

    /// A number from `low` to `high`, both near each other.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// True so many times of a hundred; false is simpler.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() * 100 >= (100 - percent) << 16
    }

    /// The index of a weight, as often as its weight says; the first is the simplest.
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

    /// One of several.
    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }
}
