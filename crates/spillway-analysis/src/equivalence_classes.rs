//! Union-find: disjoint classes of numbers.

use std::collections::{BTreeMap, BTreeSet};

/// The classes of the numbers below a count. One number of each class, its *first*, represents it.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// For each number, another number of its class; for the first number of a class, itself.
    above: Vec<usize>,
}

impl UnionFind {
    /// Puts each number below `count` into a class of its own.
    pub fn singletons(count: usize) -> UnionFind {
        UnionFind { above: (0..count).collect() }
    }

    /// Adds a number in a class of its own.
    pub fn add(&mut self) -> usize {
        self.above.push(self.above.len());
        self.above.len() - 1
    }

    /// Returns the first number of the class of a number.
    pub fn find(&self, mut number: usize) -> usize {
        while self.above[number] != number {
            number = self.above[number];
        }
        number
    }

    /// Joins the classes of two numbers. The first number of the class of `one` becomes that of the joint class.
    /// Returns the two old first numbers, which are equal if the classes were one.
    pub fn union(&mut self, one: usize, other: usize) -> (usize, usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.above[other] = one;
        (one, other)
    }

    /// Returns the numbers of each class, by the first number.
    pub fn sets(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in 0..self.above.len() {
            sets.entry(self.find(number)).or_default().push(number);
        }
        sets
    }
}

/// Returns the sets that pairs connect, in order.
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
