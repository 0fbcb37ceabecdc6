//! Values of expressions that depend on nothing but the state, kept as long as the state is the same.
//!
//! A refinement mapping is such an expression: every step of a state uses it in the state, and every operator of the
//! abstract specification uses it again. Each expression has one value in the state and one in the successor.

use crate::value::Value;

/// The kept values, by the number of the expression.
#[derive(Debug)]
pub(super) struct StateMemos {
    /// The values in the state and in the successor.
    values: Vec<[KeptValue; 2]>,
    /// The numbers of the present state and of the present successor.
    numbers: [u64; 2],
}

/// A value that was computed in a state.
#[derive(Clone, Debug, Default)]
struct KeptValue {
    /// The number of the state, 0 if there is no value.
    number: u64,
    value: Option<Value>,
}

impl StateMemos {
    pub fn new(count: u32) -> Self {
        Self { values: vec![Default::default(); count as usize], numbers: [1; 2] }
    }

    /// Returns the value of an expression in the present state or successor, if it was kept.
    pub fn get(&self, memo: u32, is_primed: bool) -> Option<&Value> {
        let side = usize::from(is_primed);
        let kept = &self.values[memo as usize][side];
        if kept.number == self.numbers[side] { kept.value.as_ref() } else { None }
    }

    /// Keeps the value of an expression in the present state or successor.
    pub fn keep(&mut self, memo: u32, is_primed: bool, value: Value) {
        let side = usize::from(is_primed);
        let number = self.numbers[side];
        self.values[memo as usize][side] = KeptValue { number, value: Some(value) };
    }

    /// Forgets all values in the state or all in the successor.
    pub fn forget(&mut self, is_primed: bool) {
        self.numbers[usize::from(is_primed)] += 1;
    }
}
