//! States that are looked at together.

use crate::model::{SuccessorSink, stop_request};

/// At most so many, of so many bytes: their successors are held.
const BLOCK_STATES: usize = 128;
const BLOCK_BYTES: usize = 64 << 10;

/// Does something with each block of states of so many bytes, and the number of states before it, until it is time
/// to leave.
pub(super) fn in_blocks(
    states: &[u8],
    width: usize,
    out: &mut SuccessorSink,
    mut run: impl FnMut(usize, &[u8], &mut SuccessorSink),
) {
    let each = (BLOCK_BYTES / width).clamp(1, BLOCK_STATES);
    for (before, block) in (0..).step_by(each).zip(states.chunks(each * width)) {
        if stop_request::is_requested() || out.has_failed() {
            return;
        }
        run(before, block, out);
    }
}
