//! The puzzles among the examples: short programs with known answers.

use super::exclusive_search;
use spillway::{SearchVerdict, TransitionSystem, check};

#[expect(dead_code, reason = "its `main`")]
#[path = "../../examples/eight_puzzle.rs"]
mod eight_puzzle;
#[expect(dead_code, reason = "its `main`")]
#[path = "../../examples/river_crossing.rs"]
mod river_crossing;

/// Asserts the length of a solution, and the number of states up to its level.
fn assert_solution<T: TransitionSystem>(puzzle: &T, steps: usize, states: u64) {
    let found = check(puzzle).unwrap();
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Violated, states));
    assert_eq!(found.counterexample().unwrap().unwrap().depth(), steps);
}

#[test]
fn the_farmer_crosses_seven_times() {
    let _exclusive = exclusive_search();
    assert_solution(&river_crossing::River, 7, 10);
}

/// Half of all orders of the tiles are reachable, and this one has the maximum distance (Reinefeld 1993).
#[test]
fn the_farthest_order_takes_31_moves() {
    let _exclusive = exclusive_search();
    assert_solution(&eight_puzzle::Puzzle, 31, 181_440);
}

#[test]
fn a_puzzle_has_at_most_35_lines() {
    let texts = [
        include_str!("../../examples/river_crossing.rs"),
        include_str!("../../examples/eight_puzzle.rs"),
    ];
    assert!(texts.iter().all(|it| it.lines().count() <= 35));
}
