//! Successors that are not passed on as they are: something stands for them, or they are left out.

use crate::exec::{Collected, Expansion, stop};

/// How many candidates are gathered before they are replaced.
pub(super) const CANDIDATES: usize = 256;

/// Passes on what `run` adds to an expansion, each candidate of so many bytes after `replace` has been at it. They are
/// gathered in `candidates`. If told to stop, the rest is dropped.
pub(super) fn replaced(
    out: &mut Expansion,
    gathered: (usize, &mut Vec<u8>),
    mut replace: impl FnMut(&mut [u8]),
    run: impl FnOnce(&mut Expansion),
) {
    let replace = |state: &mut [u8], out: &mut Expansion| {
        replace(state);
        if !stop::is_asked() {
            out.candidate(state);
        }
    };
    sifted(out, gathered, replace, run);
}

/// The same, where `pass_on` decides what becomes of each.
pub(super) fn sifted(
    out: &mut Expansion,
    (width, candidates): (usize, &mut Vec<u8>),
    mut pass_on: impl FnMut(&mut [u8], &mut Expansion),
    run: impl FnOnce(&mut Expansion),
) {
    candidates.clear();
    let mut pass_all_on = |candidates: &mut Vec<u8>, out: &mut Expansion| {
        for state in candidates.chunks_exact_mut(width) {
            pass_on(state, out);
            if stop::is_asked() {
                break;
            }
        }
        candidates.clear();
    };
    let limit = CANDIDATES * width;
    let Some(Collected { findings, left_out, put_off, passed, beyond, .. }) =
        out.wrap_in_batches(width, candidates, limit, &mut pass_all_on, run)
    else {
        return;
    };
    pass_all_on(candidates, out);
    out.add_findings(findings);
    out.leave_out(left_out);
    out.put_off(put_off);
    out.pass(passed);
    out.leave_behind(beyond);
}
