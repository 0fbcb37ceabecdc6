//! The properties that `cover` statements meet inside steps.
//!
//! A statement has only the state and its locals, and it may run many calls deep inside a step. So each thread notes
//! the properties met until the expanded state is done. Properties met by other executions, such as a replay of a
//! counterexample, are dropped.

use spillway_ir::PropertyId;
use spillway_model::{SuccessorSink, Violation};
use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static MET: RefCell<BTreeSet<u32>> = const { RefCell::new(BTreeSet::new()) };
}

/// Records that a property is met.
pub(super) fn note_cover(property: PropertyId) {
    MET.with_borrow_mut(|met| met.insert(property.0));
}

/// Clears the recorded properties.
pub(super) fn clear_covers() {
    MET.with_borrow_mut(BTreeSet::clear);
}

/// Reports the properties met in steps from a state.
pub(super) fn report_covers(state: &[u8], out: &mut SuccessorSink) {
    MET.with_borrow_mut(|met| {
        while let Some(property) = met.pop_first() {
            out.record_finding(Violation::Property(property), state);
        }
    });
}
