//! A model with a state space of any shape, for measurements of the search alone.
//!
//! A state is a level and an index in it. Levels grow by a constant factor up to a plateau, whose height makes the
//! number of states exact. The first successors of a state are its share of the next level, so that every state is
//! reached exactly at its level. The other successors are duplicates: states of the next level, at distances as of
//! actions on different variables, or states of earlier levels.
//!
//! The key consists of the index, scaled so that every level spans the whole key space, a few bits of *noise*, which is
//! a hash, and the level. So levels interleave, neighbours in the store are of different levels, and about as many bits
//! of each state as there is noise cannot be compressed. The bytes of the key are spread evenly over its width.

use crate::model::{
    Capabilities, ProgramDescription, PropertyInfo, StateSpace, StateValue, StepDescription,
    StepOutcome, SuccessorSink, SystemDescription, Violation, any_bits,
};
use crate::random::scramble as mix;
use std::fmt;
use std::ops::ControlFlow;

/// The shape of a state space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSpaceShape {
    /// The number of states.
    pub states: u64,
    /// The number of breadth-first levels; fewer if there are fewer states.
    pub levels: u32,
    /// The number of successors of every state.
    pub degree: u32,
    /// The number of duplicates in earlier levels, for each thousand duplicates.
    pub backward: u32,
    /// The greatest number of levels by which they are earlier.
    pub reach: u32,
    /// Bits of noise in a key.
    pub noise: u32,
    /// Bytes of a key.
    pub width: usize,
}

impl Default for StateSpaceShape {
    /// Returns an average shape.
    fn default() -> Self {
        StateSpaceShape {
            states: 1_000_000,
            levels: 100,
            degree: 5,
            backward: 300,
            reach: 20,
            noise: 4,
            width: 10,
        }
    }
}

/// A shape that no model can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidShape(String);

impl fmt::Display for InvalidShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidShape {}

/// The model.
#[derive(Debug)]
pub struct SyntheticStateSpace {
    shape: StateSpaceShape,
    levels: Vec<SyntheticLevel>,
    /// Bits of the scaled index.
    index_bits: u32,
    /// Bits of the level.
    level_bits: u32,
}

/// A level, and how its indices relate to others, as fixed-point numbers with [`POINT`] bits after the point.
#[derive(Clone, Copy, Debug)]
struct SyntheticLevel {
    states: u64,
    /// Scaled indices for each index; at least 1.
    scale: u128,
    /// Indices of the next level for each index, rounded up; 0 in the last.
    growth: u128,
}

/// Bits after the point: enough that rounding errors over a whole level stay below one.
const POINT: u32 = 40;

impl SyntheticStateSpace {
    /// Creates the model of a shape.
    ///
    /// # Errors
    ///
    /// If the levels cannot hold that number of states with that degree, or the width cannot hold the bits.
    pub fn new(shape: StateSpaceShape) -> Result<Self, InvalidShape> {
        let impossible = |what: String| Err(InvalidShape(what));
        if shape.degree < 2 || shape.states == 0 || shape.levels == 0 || shape.backward > 1000 {
            return impossible("at least two successors, one state and one level".into());
        }
        let Some(sizes) = sizes(&shape) else {
            let StateSpaceShape { states, levels, degree, .. } = shape;
            return impossible(format!(
                "{levels} levels with {degree} successors a state do not hold {states} states"
            ));
        };
        let bits = |count: u64| count.next_power_of_two().trailing_zeros();
        let index_bits = bits(sizes.iter().copied().max().unwrap_or(1));
        let level_bits = bits(sizes.len() as u64);
        let all = index_bits + shape.noise + level_bits;
        if all > 64 || all.div_ceil(8) as usize > shape.width {
            return impossible(format!("{all} bits do not fit 64, or {} bytes", shape.width));
        }
        let next = sizes[1..].iter().copied().chain([0]);
        let level = |(&states, next): (&u64, u64)| SyntheticLevel {
            states,
            scale: (1u128 << (index_bits + POINT)) / u128::from(states),
            growth: (u128::from(next) << POINT).div_ceil(u128::from(states)),
        };
        let levels = sizes.iter().zip(next).map(level).collect();
        Ok(SyntheticStateSpace { shape, levels, index_bits, level_bits })
    }

    /// Writes the key of a state. The other bytes must be zero already.
    #[inline]
    fn write(&self, level: u64, index: u64, key: &mut [u8]) {
        let scaled = (u128::from(index) * self.levels[level as usize].scale) >> POINT;
        let noise = mix(index ^ level << 48) & ((1 << self.shape.noise) - 1);
        let number = ((scaled as u64) << self.shape.noise | noise) << self.level_bits | level;
        let bytes = self.bytes();
        for (at, byte) in number.to_be_bytes()[8 - bytes..].iter().enumerate() {
            key[at * self.shape.width / bytes] = *byte;
        }
    }

    /// Returns the level and index of a key.
    fn read(&self, key: &[u8]) -> (u64, u64) {
        let bytes = self.bytes();
        let number = (0..bytes)
            .fold(0, |number, at| number << 8 | u64::from(key[at * self.shape.width / bytes]));
        let level = number & ((1 << self.level_bits) - 1);
        let scaled = number >> (self.level_bits + self.shape.noise);
        let scale = self.levels[level as usize].scale;
        (level, (u128::from(scaled) << POINT).div_ceil(scale) as u64)
    }

    /// Returns the bytes of a key that carry information.
    fn bytes(&self) -> usize {
        (self.index_bits + self.shape.noise + self.level_bits).div_ceil(8).max(1) as usize
    }

    /// Passes the successors of a state to `each`, as levels and indices.
    #[inline]
    fn successors(&self, level: u64, index: u64, mut each: impl FnMut(u64, u64)) {
        let here = self.levels[level as usize];
        let next = self.levels.get(level as usize + 1).map_or(0, |next| next.states);
        let share = |index: u64| (((u128::from(index) * here.growth) >> POINT) as u64).min(next);
        let (first, end) = (share(index), share(index + 1));
        (first..end).for_each(|index| each(level + 1, index));
        for edge in (end - first)..u64::from(self.shape.degree) {
            let random = mix(index.wrapping_mul(0x1_0001) ^ edge << 40 ^ level << 20);
            let backward = next == 0 || random % 1000 < u64::from(self.shape.backward);
            let to = match backward {
                true => level - ((random >> 16) % (u64::from(self.shape.reach) + 1)).min(level),
                false => level + 1,
            };
            let size = self.levels[to as usize].states;
            // As if variable `edge` changed: far for the first variables of the key, near for the others.
            let distance =
                size >> (edge * u64::from(self.index_bits) / u64::from(self.shape.degree));
            let scaled = (u128::from(index) * u128::from(size) / u128::from(here.states)) as u64;
            let moved = scaled + distance + (random >> 60);
            each(to, moved % size);
        }
    }
}

/// Returns the number of states of each level, if the shape is possible.
fn sizes(shape: &StateSpaceShape) -> Option<Vec<u64>> {
    let factor = u64::from(shape.degree);
    let count = u64::from(shape.levels).min(shape.states) as usize;
    let ramp = |plateau: u64| {
        let grown = std::iter::successors(Some(1u64), |size| size.checked_mul(factor));
        grown.map(move |size| size.min(plateau)).chain(std::iter::repeat(plateau)).take(count)
    };
    let total = |plateau: u64| ramp(plateau).fold(0u64, u64::saturating_add);
    let (mut low, mut high) = (1, shape.states);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if total(middle) <= shape.states { low = middle } else { high = middle - 1 }
    }
    let mut sizes: Vec<u64> = ramp(low).collect();
    let missing = shape.states - total(low);
    if missing > sizes.iter().filter(|&&size| size == low).count() as u64 {
        return None;
    }
    sizes.iter_mut().rev().take(missing as usize).for_each(|size| *size += 1);
    let reachable = sizes.windows(2).all(|pair| pair[1] <= pair[0].saturating_mul(factor));
    reachable.then_some(sizes)
}

impl StateSpace for SyntheticStateSpace {
    fn width(&self) -> usize {
        self.shape.width
    }

    fn bits(&self) -> u32 {
        self.index_bits + self.shape.noise + self.level_bits
    }

    fn initial(&self, out: &mut SuccessorSink) {
        let mut key = vec![0; self.shape.width];
        self.write(0, 0, &mut key);
        out.candidate(&key);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        let mut key = vec![0; self.shape.width];
        for state in states.chunks_exact(self.shape.width) {
            let (level, index) = self.read(state);
            self.successors(level, index, |level, index| {
                self.write(level, index, &mut key);
                out.candidate(&key);
            });
        }
    }

    fn digest(&self) -> [u8; 32] {
        *blake3::hash(format!("{:?}", self.shape).as_bytes()).as_bytes()
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl SystemDescription for SyntheticStateSpace {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let (level, index) = self.read(state);
        let mut steps = Vec::new();
        self.successors(level, index, |level, index| {
            let action = steps.len() as u32;
            steps.push(self.step(action, level, index));
        });
        steps
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let _ = visit(self.step(0, 0, 0));
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        Vec::new()
    }

    fn action_name(&self, action: u32) -> String {
        format!("edge {action}")
    }

    fn violations(&self, _: &[u8]) -> Vec<Violation> {
        Vec::new()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        let (level, index) = self.read(state);
        vec![("level".into(), (level as i64).into()), ("index".into(), (index as i64).into())]
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

impl SyntheticStateSpace {
    fn step(&self, action: u32, level: u64, index: u64) -> StepDescription {
        let mut state = vec![0; self.shape.width];
        self.write(level, index, &mut state);
        let name = self.action_name(action);
        StepDescription::unplaced(action, name, StepOutcome::Successor(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::memory;
    use crate::search::SearchLimits;

    #[test]
    fn a_synthetic_space_has_its_shape() {
        for (states, levels, degree, width) in
            [(1, 1, 2, 1), (5000, 12, 3, 4), (3000, 3000, 2, 9), (4096, 40, 7, 24), (999, 50, 4, 3)]
        {
            let shape =
                StateSpaceShape { states, levels, degree, width, ..StateSpaceShape::default() };
            let shape = StateSpaceShape { noise: 3, reach: 5, ..shape };
            let model = SyntheticStateSpace::new(shape.clone()).unwrap();
            let outcome = memory::search(&model, &SearchLimits::default()).unwrap();
            assert_eq!(outcome.states(), states, "{shape:?}");
            assert_eq!(outcome.levels.len(), levels as usize, "{shape:?}");
            assert_eq!(outcome.counters.transitions, states * u64::from(degree), "{shape:?}");
            let sizes: Vec<u64> = model.levels.iter().map(|level| level.states).collect();
            assert_eq!(outcome.levels, sizes, "{shape:?}");
        }
    }

    #[test]
    fn impossible_shapes_are_rejected() {
        let shape = |states, levels, width| StateSpaceShape {
            states,
            levels,
            width,
            ..StateSpaceShape::default()
        };
        assert!(SyntheticStateSpace::new(shape(1_000_000, 3, 10)).is_err());
        assert!(SyntheticStateSpace::new(shape(1_000_000, 100, 2)).is_err());
        assert!(SyntheticStateSpace::new(shape(0, 1, 2)).is_err());
    }
}
