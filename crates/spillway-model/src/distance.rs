//! The distance of a state to a violation, for searches that expand near states first: what all evaluators of
//! expressions have in common.
//!
//! It is the branch distance of search-based testing, as in HSF-SPIN: the number of parts of the negated property that
//! do not hold. A conjunction adds the distances of its parts, and a disjunction takes the least. The distance is 0
//! exactly if the property is violated, as far as its evaluation has no error.

/// The distance of a part that is only true or false, and of one whose evaluation has an error.
pub const UNIT_DISTANCE: u32 = 1;

/// The distance of a state, and what its evaluation took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredDistance {
    /// The distance: 0 if the state violates a property.
    pub distance: u32,
    /// The number of evaluated parts. It bounds the turns of a hunt, beside the transitions.
    pub evaluated: u64,
}

/// Returns the distance of a comparison of two numbers that does not have the wanted result: one and the logarithm of
/// their difference, so that a state with nearer numbers is nearer. `is_equality` says whether the comparison is for
/// equality.
pub fn comparison_distance(left: i64, right: i64, is_equality: bool) -> u32 {
    // Equal numbers become unequal in one step. A strict comparison misses by one more.
    let difference = left.abs_diff(right).max(1);
    let is_near = is_equality && left == right;
    UNIT_DISTANCE + if is_near { 0 } else { difference.ilog2() }
}

/// Returns the distance of two parts: their sum if both are needed, or else the least.
pub fn combined_distance(parts: impl Iterator<Item = u32>, are_all_needed: bool) -> u32 {
    match are_all_needed {
        true => parts.fold(0, u32::saturating_add),
        false => parts.min().unwrap_or(UNIT_DISTANCE),
    }
}
