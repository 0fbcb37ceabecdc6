//! Eight tiles on nine fields, from a state of maximum distance: how many moves restore the order?

use spillway::{Error, Property, TransitionSystem};

/// A state contains the tile on each field, row by row; 0 is the empty field.
pub struct Puzzle;

impl TransitionSystem for Puzzle {
    type State = [u8; 9];
    type Action = usize; // the field whose tile moves

    fn initial(&self) -> Vec<[u8; 9]> {
        vec![[8, 6, 7, 2, 5, 4, 3, 0, 1]]
    }

    fn actions(&self, state: &[u8; 9], actions: &mut Vec<usize>) {
        let empty = state.iter().position(|&tile| tile == 0).unwrap();
        let far = |at: &usize| (at / 3).abs_diff(empty / 3) + (at % 3).abs_diff(empty % 3);
        actions.extend((0..9).filter(|at| far(at) == 1));
    }

    fn next(&self, state: &[u8; 9], &at: &usize) -> Option<[u8; 9]> {
        let mut next = *state;
        next.swap(at, state.iter().position(|&tile| tile == 0)?);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<'_, [u8; 9]>> {
        vec![Property::always("out of order", |state| *state != [1, 2, 3, 4, 5, 6, 7, 8, 0])]
    }
}

fn main() -> Result<(), Error> {
    spillway::check(&Puzzle).map(|found| print!("{found}"))
}
