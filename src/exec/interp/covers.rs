//! The properties that are met inside of steps, by `cover` statements.
//!
//! A statement has only the state and its locals, and a step may be many calls deep where it meets a
//! property. So what is met is noted here, for each thread, until the state that was expanded is done
//! with. What anybody else runs, as to replay a counterexample, is forgotten.

use crate::ir::PropertyId;
use crate::model::{SuccessorSink, Violation};
use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static MET: RefCell<BTreeSet<u32>> = const { RefCell::new(BTreeSet::new()) };
}

/// Notes that a property is met.
pub(super) fn note_cover(property: PropertyId) {
    MET.with_borrow_mut(|met| met.insert(property.0));
}

/// Forgets what has been met.
pub(super) fn clear_covers() {
    MET.with_borrow_mut(BTreeSet::clear);
}

/// Tells what has been met in steps from a state.
pub(super) fn report_covers(state: &[u8], out: &mut SuccessorSink) {
    MET.with_borrow_mut(|met| {
        while let Some(property) = met.pop_first() {
            out.record_finding(Violation::Property(property), state);
        }
    });
}
