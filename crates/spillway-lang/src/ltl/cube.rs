//! The condition of an edge on a letter: some propositions are true, some are false.

/// The maximal number of propositions of a formula.
pub const PROPOSITIONS_MAX: usize = 64;

/// A satisfiable conjunction of literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cube {
    /// The propositions that must be true, as bits.
    pub holds: u64,
    /// The propositions that must be false, as bits.
    pub fails: u64,
}

impl Cube {
    /// The cube that every letter satisfies.
    pub const ANY: Cube = Cube { holds: 0, fails: 0 };

    /// Returns the cube of one literal.
    pub fn literal(proposition: usize, holds: bool) -> Cube {
        let bit = 1 << proposition;
        match holds {
            true => Cube { holds: bit, fails: 0 },
            false => Cube { holds: 0, fails: bit },
        }
    }

    /// Returns the conjunction, if it is satisfiable.
    pub fn and(self, other: Cube) -> Option<Cube> {
        let both = Cube { holds: self.holds | other.holds, fails: self.fails | other.fails };
        (both.holds & both.fails == 0).then_some(both)
    }

    /// Returns whether each letter that satisfies this cube satisfies the other one.
    pub fn implies(self, other: Cube) -> bool {
        other.holds & !self.holds == 0 && other.fails & !self.fails == 0
    }

    /// Returns whether a letter satisfies the cube. The bits of the letter are the true propositions.
    pub fn accepts(self, letter: u64) -> bool {
        self.holds & !letter == 0 && self.fails & letter == 0
    }

    /// Returns the disjunction, if it is a cube.
    pub fn or(self, other: Cube) -> Option<Cube> {
        if self.implies(other) {
            return Some(other);
        }
        if other.implies(self) {
            return Some(self);
        }
        let same_support = self.holds | self.fails == other.holds | other.fails;
        let differ = self.holds ^ other.holds;
        (same_support && differ.count_ones() == 1)
            .then_some(Cube { holds: self.holds & !differ, fails: self.fails & !differ })
    }

    /// Returns whether every letter satisfies one of these cubes.
    pub fn cover_all(cubes: &[Cube]) -> bool {
        if cubes.contains(&Cube::ANY) {
            return true;
        }
        let Some(first) = cubes.first() else { return false };
        // Case split by a proposition of the first cube (Shannon).
        let bit = 1 << (first.holds | first.fails).trailing_zeros();
        [true, false].into_iter().all(|value| {
            let against =
                |it: &&Cube| if value { it.fails & bit == 0 } else { it.holds & bit == 0 };
            let rest = |it: &Cube| Cube { holds: it.holds & !bit, fails: it.fails & !bit };
            let left: Vec<Cube> = cubes.iter().filter(against).map(rest).collect();
            Cube::cover_all(&left)
        })
    }

    /// Returns the literals: each proposition with its value.
    pub fn literals(self) -> impl Iterator<Item = (usize, bool)> {
        let asked =
            (0..PROPOSITIONS_MAX).filter(move |at| (self.holds | self.fails) >> at & 1 == 1);
        asked.map(move |at| (at, self.holds >> at & 1 == 1))
    }
}
