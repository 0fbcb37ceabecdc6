//! Numbers in classes: those that are joined are in one.

use std::collections::{BTreeMap, BTreeSet};

/// The classes of the numbers below some count. A class is known by one of its numbers, its *first*.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// For each number another of its class, or itself if it is the first.
    above: Vec<usize>,
}

impl Classes {
    /// Each number below a count by itself.
    pub fn apart(count: usize) -> Classes {
        Classes { above: (0..count).collect() }
    }

    /// One number more, by itself.
    pub fn add(&mut self) -> usize {
        self.above.push(self.above.len());
        self.above.len() - 1
    }

    /// The first of the class that a number is in.
    pub fn first(&self, mut number: usize) -> usize {
        while self.above[number] != number {
            number = self.above[number];
        }
        number
    }

    /// Has two numbers be in one class, of which the first is that of `one`. Gives it and what was the first of the
    /// other's class: the same if they were in one before.
    pub fn join(&mut self, one: usize, other: usize) -> (usize, usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.above[other] = one;
        (one, other)
    }

    /// The numbers of each class, by its first.
    pub fn sets(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in 0..self.above.len() {
            sets.entry(self.first(number)).or_default().push(number);
        }
        sets
    }
}

/// The sets that pairs join, in order.
pub fn joined<T: Copy + Ord>(pairs: impl IntoIterator<Item = (T, T)>) -> Vec<BTreeSet<T>> {
    let mut classes = Classes::default();
    let mut numbers = BTreeMap::new();
    for (one, other) in pairs {
        let [one, other] =
            [one, other].map(|it| *numbers.entry(it).or_insert_with(|| classes.add()));
        classes.join(one, other);
    }
    let mut sets: BTreeMap<usize, BTreeSet<T>> = BTreeMap::new();
    for (member, number) in numbers {
        sets.entry(classes.first(number)).or_default().insert(member);
    }
    let mut sets: Vec<_> = sets.into_values().collect();
    sets.sort();
    sets
}
