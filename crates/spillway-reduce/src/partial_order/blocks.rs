//! Blocks of states that are expanded in one batch.

use spillway_model::{SuccessorSink, stop_request};

/// The limits of a block in states and bytes. They bound the successors in memory.
const BLOCK_STATES: usize = 128;
const BLOCK_BYTES: usize = 64 << 10;

/// Calls `run` for each block of states of `width` bytes, with the number of states before it, until `out` asks to
/// stop.
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
