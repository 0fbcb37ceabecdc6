//! Validation of bytes as states: every cell must hold one of its codes.
//!
//! A cell of `n` codes has the bits that `n - 1` needs. Unless `n` is a power of two, some bit patterns are no codes.
//! The execution relies on valid codes, in particular in indices, so states are validated before. All cells of a word
//! are checked together. For each cell, the difference to the power of two is added. A cell has an invalid code
//! exactly if the addition carries out of its highest bit, and no cell before it did.
//!
//! ```text
//! three cells of 3, 5 and 4 codes         01|100|11        10|101|00
//! what is missing                       + 01|011|00      + 01|011|00
//!                                         10|111|11       1 00|000|00   code 5 is beyond its cell
//! ```

use super::{CellId, Layout};

/// A check whether bytes are states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateValidator {
    /// The number of bytes of a state.
    width: usize,
    /// The words, the last first, in the direction of carries.
    words: Vec<CheckedWord>,
}

/// Eight bytes of a state with cells that have unused bit patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CheckedWord {
    /// The position of the first byte.
    at: usize,
    /// The shift, if fewer than eight bytes are left.
    shift: u32,
    /// The difference to the power of two, in each cell.
    missing: u64,
    /// The highest bit of each cell with a difference.
    tops: u64,
}

impl Layout {
    /// Returns a check whether bytes are states.
    pub fn codes(&self) -> StateValidator {
        let all = 8 * self.bytes as u32;
        let mut words = vec![(0, 0); self.bytes.div_ceil(8)];
        // The parameters are the distance from the last bit of the state, the number of bits and the number of codes.
        let mut add = |end: u32, bits: u32, codes: u64| {
            let missing = (1u64 << bits) - codes;
            if missing > 0 {
                let (word, missing) = ((end / 64) as usize, u128::from(missing) << (end % 64));
                words[word].0 |= missing as u64;
                if let Some(next) = words.get_mut(word + 1) {
                    next.0 |= (missing >> 64) as u64;
                }
                let top = end + bits - 1;
                words[(top / 64) as usize].1 |= 1 << (top % 64);
            }
        };
        for id in (0..self.state_cells).map(CellId) {
            let cell = &self.cells[id];
            let codes = (cell.most - cell.least + 1) as u64 + u64::from(cell.undefined);
            add(all - cell.bit - cell.bits, cell.bits, codes);
        }
        add(0, all - self.bits, 1);
        let words = words.into_iter().enumerate().filter(|(_, it)| *it != (0, 0));
        let words = words.map(|(number, (missing, tops))| {
            let end = self.bytes - 8 * number;
            let shift = if self.bytes < 8 { 0 } else { 64 - 8 * end.min(8) as u32 };
            CheckedWord { at: end.saturating_sub(8), shift, missing, tops }
        });
        StateValidator { width: self.bytes, words: words.collect() }
    }
}

impl StateValidator {
    /// Returns whether `state` has the width of a state and each of its cells holds one of its codes.
    #[inline]
    pub fn is_state(&self, state: &[u8]) -> bool {
        state.len() == self.width && self.hold_here(state)
    }

    /// Returns whether `states` is a sequence of states.
    pub fn are_states(&self, states: &[u8]) -> bool {
        states.len().is_multiple_of(self.width)
            && (self.words.is_empty()
                || states.chunks_exact(self.width).all(|state| self.hold_here(state)))
    }

    #[inline]
    fn hold_here(&self, state: &[u8]) -> bool {
        let (mut carry, mut beyond) = (0, 0);
        for &CheckedWord { at, shift, missing, tops } in &self.words {
            let value = match state.get(at..at + 8).and_then(<[u8]>::first_chunk) {
                Some(bytes) => u64::from_be_bytes(*bytes) >> shift,
                None => state.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)),
            };
            let sum = value.wrapping_add(missing).wrapping_add(carry);
            let carries = value & missing | (value | missing) & !sum;
            carry = carries >> 63;
            beyond |= carries & tops;
        }
        beyond == 0
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::CellId;
    use crate::{Domain, Layout, Owner, Program, ScalarType, Type, Variable};
    use spillway_base::source::Span;

    /// Returns the layout of a program with a variable for each domain.
    fn layout(domains: &[(i64, i64, bool)]) -> Layout {
        let mut program = Program::default();
        for &(low, high, undefined) in domains {
            let domain = Domain::Range { low, high };
            let ty = program.types.push(Type::Scalar(ScalarType { domain, undefined }));
            program.variables.push(Variable {
                name: "v".into(),
                ty,
                owner: Owner::Program,
                initial: vec![Some(low)],
                span: Span::default(),
            });
        }
        Layout::new(&program)
    }

    /// Returns pseudo-random numbers (xorshift of Marsaglia).
    fn next(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    #[test]
    fn bytes_are_a_state_if_and_only_if_each_cell_holds_a_code() {
        let mut seed = 88_172_645_463_325_252;
        let mut counts_by_validity = [0, 0];
        for round in 0..4000 {
            let cells = 1 + next(&mut seed) as usize % if round % 3 == 0 { 40 } else { 6 };
            let domain = |seed: &mut u64| {
                let low = next(seed) as i64 % 5;
                let wide = next(seed).is_multiple_of(9);
                let values = 1 + next(seed) % if wide { 1 << 31 } else { 12 };
                (low, low + values as i64 - 1, next(seed).is_multiple_of(4))
            };
            let domains: Vec<_> = (0..cells).map(|_| domain(&mut seed)).collect();
            let layout = layout(&domains);
            let codes = layout.codes();
            for _ in 0..8 {
                let mut state = vec![0; layout.bytes];
                for (number, &(low, high, undefined)) in domains.iter().enumerate() {
                    let cell = CellId(number as u32);
                    let beyond = next(&mut seed).is_multiple_of(2 * cells as u64);
                    let all = 1u64 << layout.cells[cell].bits;
                    let own = (high - low + 1) as u64 + u64::from(undefined);
                    let many = next(&mut seed).is_multiple_of(3);
                    let code = match (beyond, many) {
                        (true, _) => next(&mut seed) % all,
                        (false, true) => own - 1,
                        (false, false) => next(&mut seed) % own,
                    };
                    layout.set_code(&mut state, cell, code as u32);
                }
                let expected =
                    domains.iter().enumerate().all(|(number, &(low, high, undefined))| {
                        let code = layout.code(&state, CellId(number as u32));
                        u64::from(code) < (high - low + 1) as u64 + u64::from(undefined)
                    });
                assert_eq!(codes.is_state(&state), expected, "{domains:?} {state:?}");
                counts_by_validity[usize::from(expected)] += 1;
                let padding = 8 * layout.bytes as u32 - layout.bits;
                if expected && padding > 0 {
                    *state.last_mut().unwrap() |=
                        1 << (next(&mut seed) % u64::from(padding.min(8)));
                    assert!(!codes.is_state(&state), "bits behind the last cell: {domains:?}");
                }
                assert!(!codes.is_state(&[state, vec![0]].concat()));
            }
        }
        assert!(counts_by_validity.iter().all(|&count| count > 3000), "{counts_by_validity:?}");
    }
}
