//! Numbers in classes: those that are joined are in one.

use std::collections::{BTreeMap, BTreeSet};

/// The classes of the numbers below some count. A class is known by one of its numbers, its *first*.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// For each number another of its class, or itself if it is the first.
    above: Vec<usize>,
}

impl UnionFind {
    /// Each number below a count by itself.
    pub fn singletons(count: usize) -> UnionFind {
        UnionFind { above: (0..count).collect() }
    }

    /// One number more, by itself.
    pub fn add(&mut self) -> usize {
        self.above.push(self.above.len());
        self.above.len() - 1
    }

    /// The first of the class that a number is in.
    pub fn find(&self, mut number: usize) -> usize {
        while self.above[number] != number {
            number = self.above[number];
        }
        number
    }

    /// Has two numbers be in one class, of which the first is that of `one`. Gives it and what was the first of the
    /// other's class: the same if they were in one before.
    pub fn union(&mut self, one: usize, other: usize) -> (usize, usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.above[other] = one;
        (one, other)
    }

    /// The numbers of each class, by its first.
    pub fn sets(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in 0..self.above.len() {
            sets.entry(self.find(number)).or_default().push(number);
        }
        sets
    }
}

/// The sets that pairs join, in order.
pub fn connected_sets<T: Copy + Ord>(pairs: impl IntoIterator<Item = (T, T)>) -> Vec<BTreeSet<T>> {
    let mut classes = UnionFind::default();
    let mut numbers = BTreeMap::new();
    for (one, other) in pairs {
        let [one, other] =
            [one, other].map(|it| *numbers.entry(it).or_insert_with(|| classes.add()));
        classes.union(one, other);
    }
    let mut sets: BTreeMap<usize, BTreeSet<T>> = BTreeMap::new();
    for (member, number) in numbers {
        sets.entry(classes.find(number)).or_default().insert(member);
    }
    let mut sets: Vec<_> = sets.into_values().collect();
    sets.sort();
    sets
}
