//! The search from a progenitor by reversible rules alone.

use super::cases::{CaseMatcher, CaseWord, MATCHED_BYTES, ReversibleCase};
use super::state_set::OrderedStateSet;
use spillway_exec::Interp;
use spillway_exec::interp::multisets;

/// The most bytes of the states reached from one progenitor, and the most bytes of their successors.
pub(super) const LOCAL_BYTES_MAX: usize = 16 << 20;

/// Applies and undoes cases in the states of a program.
pub(super) struct CaseExecutor<'m> {
    interp: &'m Interp,
    cases: Vec<CaseMatcher>,
    /// The [head](CaseMatcher::head) of each case, stored contiguously, since most do not match.
    heads: Vec<CaseWord>,
    digest: [u8; 32],
}

/// The application of a case to a state: the test of its head, and the change of the state.
struct CaseApplication<M, A> {
    may_apply: M,
    apply: A,
}

/// Too many states are reached from one progenitor.
pub(super) struct TooManyStates;

impl<'m> CaseExecutor<'m> {
    pub(super) fn new(interp: &'m Interp, cases: &[ReversibleCase]) -> CaseExecutor<'m> {
        let multisets = multisets(interp.program(), interp.layout());
        let matched = |case: &ReversibleCase| CaseMatcher::new(case, interp.layout(), &multisets);
        let digest = *blake3::hash(format!("{cases:?}").as_bytes()).as_bytes();
        let cases: Vec<CaseMatcher> = cases.iter().map(matched).collect();
        let heads = cases.iter().map(CaseMatcher::head).collect();
        CaseExecutor { interp, cases, heads, digest }
    }

    /// Returns a hash of all cases.
    pub(super) fn digest(&self) -> &[u8] {
        &self.digest
    }

    /// Returns a buffer for a state.
    pub(super) fn work(&self) -> Vec<u8> {
        vec![0; self.interp.layout().bytes.max(MATCHED_BYTES)]
    }

    /// Visits the state after each case that applies to a state, until `visit` stops.
    pub(super) fn each_after(
        &self,
        state: &[u8],
        work: &mut [u8],
        visit: impl FnMut(&[u8]) -> bool,
    ) {
        let way = CaseApplication { may_apply: CaseWord::is_before, apply: CaseMatcher::take };
        self.each(state, work, way, visit);
    }

    /// Visits the state before each case that may have led to a state, until `visit` stops.
    pub(super) fn each_before(
        &self,
        state: &[u8],
        work: &mut [u8],
        visit: impl FnMut(&[u8]) -> bool,
    ) {
        let way = CaseApplication { may_apply: CaseWord::is_after, apply: CaseMatcher::undo };
        self.each(state, work, way, visit);
    }

    fn each(
        &self,
        state: &[u8],
        work: &mut [u8],
        way: CaseApplication<
            impl Fn(&CaseWord, &[u8]) -> bool,
            impl Fn(&CaseMatcher, &mut [u8], &spillway_ir::Layout, &dyn Fn(usize, &mut [u8])) -> bool,
        >,
        mut visit: impl FnMut(&[u8]) -> bool,
    ) {
        let layout = self.interp.layout();
        let sort = |bag: usize, state: &mut [u8]| {
            self.interp.sort_some_multisets(bag..bag + 1, state);
        };
        work[..state.len()].copy_from_slice(state);
        for (head, case) in self.heads.iter().zip(&self.cases) {
            if (way.may_apply)(head, work) && (way.apply)(case, work, layout, &sort) {
                if visit(&work[..state.len()]) {
                    return;
                }
                work[..state.len()].copy_from_slice(state);
            }
        }
    }

    /// Sets `met` to the states that cases reach from `state`, which comes first, and `from` to the index of the
    /// predecessor of each.
    pub(super) fn closure_from(
        &self,
        state: &[u8],
        work: &mut [u8],
        met: &mut OrderedStateSet,
        from: &mut Vec<usize>,
    ) -> Result<(), TooManyStates> {
        met.clear();
        met.insert(state);
        from.clear();
        from.push(0);
        let (mut next, mut this) = (0, Vec::new());
        while next < met.len() {
            this.clear();
            this.extend_from_slice(met.get(next));
            self.each_after(&this, work, |after| {
                if met.insert(after) {
                    from.push(next);
                }
                false
            });
            if met.bytes() > LOCAL_BYTES_MAX {
                return Err(TooManyStates);
            }
            next += 1;
        }
        Ok(())
    }
}
