//! What an edge of an automaton asks of a letter: some propositions hold, some do not.

/// The most propositions of a formula.
pub const PROPOSITIONS_MAX: usize = 64;

/// A conjunction of literals; it is satisfiable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cube {
    /// The propositions that hold, as bits.
    pub holds: u64,
    /// Those that do not.
    pub fails: u64,
}

impl Cube {
    /// What every letter satisfies.
    pub const ANY: Cube = Cube { holds: 0, fails: 0 };

    /// One literal.
    pub fn literal(proposition: usize, holds: bool) -> Cube {
        let bit = 1 << proposition;
        match holds {
            true => Cube { holds: bit, fails: 0 },
            false => Cube { holds: 0, fails: bit },
        }
    }

    /// Both, if a letter satisfies both.
    pub fn and(self, other: Cube) -> Option<Cube> {
        let both = Cube { holds: self.holds | other.holds, fails: self.fails | other.fails };
        (both.holds & both.fails == 0).then_some(both)
    }

    /// Whether each letter that satisfies this satisfies the other.
    pub fn implies(self, other: Cube) -> bool {
        other.holds & !self.holds == 0 && other.fails & !self.fails == 0
    }

    /// Whether a letter, the bits of which are the propositions that hold, satisfies it.
    pub fn accepts(self, letter: u64) -> bool {
        self.holds & !letter == 0 && self.fails & letter == 0
    }

    /// What one or the other satisfies, if that is a cube again.
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

    /// Whether every letter satisfies one of these.
    pub fn cover_all(cubes: &[Cube]) -> bool {
        if cubes.contains(&Cube::ANY) {
            return true;
        }
        let Some(first) = cubes.first() else { return false };
        // Split by a proposition that the first asks for (Shannon).
        let bit = 1 << (first.holds | first.fails).trailing_zeros();
        [true, false].into_iter().all(|value| {
            let against =
                |it: &&Cube| if value { it.fails & bit == 0 } else { it.holds & bit == 0 };
            let rest = |it: &Cube| Cube { holds: it.holds & !bit, fails: it.fails & !bit };
            let left: Vec<Cube> = cubes.iter().filter(against).map(rest).collect();
            Cube::cover_all(&left)
        })
    }

    /// Its literals: each proposition with whether it holds.
    pub fn literals(self) -> impl Iterator<Item = (usize, bool)> {
        let asked =
            (0..PROPOSITIONS_MAX).filter(move |at| (self.holds | self.fails) >> at & 1 == 1);
        asked.map(move |at| (at, self.holds >> at & 1 == 1))
    }
}
