//! Mapping and filtering of successors: representatives replace them, or they are dropped.

use spillway_model::{CandidateBatch, ExpansionOutcome, SuccessorSink, stop_request};

/// The number of candidates that are collected before they are replaced.
pub(super) const CANDIDATES: usize = 256;

/// Passes on the additions of `run` to an expansion; `replace` changes each candidate of `width` bytes first.
/// `candidates` is the buffer. If the expansion stops early, the rest is dropped.
pub(super) fn map_candidates(
    out: &mut SuccessorSink,
    width: usize,
    candidates: &mut Vec<u8>,
    mut replace: impl FnMut(&mut [u8]),
    run: impl FnOnce(&mut SuccessorSink),
) {
    let replace = |state: &mut [u8], out: &mut SuccessorSink| {
        replace(state);
        if !stop_request::is_requested() {
            out.candidate(state);
        }
    };
    filter_candidates(out, width, candidates, replace, run);
}

/// As `map_candidates`, but `pass_on` decides about each candidate.
pub(super) fn filter_candidates(
    out: &mut SuccessorSink,
    width: usize,
    candidates: &mut Vec<u8>,
    mut pass_on: impl FnMut(&mut [u8], &mut SuccessorSink),
    run: impl FnOnce(&mut SuccessorSink),
) {
    candidates.clear();
    let mut pass_all_on = |candidates: &mut Vec<u8>, out: &mut SuccessorSink| {
        for state in candidates.chunks_exact_mut(width) {
            pass_on(state, out);
            if stop_request::is_requested() {
                break;
            }
        }
        candidates.clear();
    };
    let batch = CandidateBatch { width, buffer: candidates, limit: CANDIDATES * width };
    let collected = out.wrap_in_batches(batch, &mut pass_all_on, run);
    let Some(ExpansionOutcome { counters, findings, .. }) = collected else { return };
    pass_all_on(candidates, out);
    out.add_findings(findings);
    out.add_counters(counters);
}
