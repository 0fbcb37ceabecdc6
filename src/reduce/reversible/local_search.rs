//! The search from a progenitor, by reversible rules alone.

use super::cases::{CaseMatcher, CaseWord, MATCHED_BYTES, ReversibleCase};
use super::state_set::OrderedStateSet;
use crate::exec::Interp;
use crate::exec::interp::multisets;

/// The most bytes that the states met from one progenitor take, and as many that their successors take.
pub(super) const LOCAL_BYTES_MAX: usize = 16 << 20;

/// Cases that can be taken and undone in states of a program.
pub(super) struct CaseExecutor<'m> {
    interp: &'m Interp,
    cases: Vec<CaseMatcher>,
    /// The [head](CaseMatcher::head) of each, side by side, as most are looked at in vain.
    heads: Vec<CaseWord>,
    digest: [u8; 32],
}

/// How a case is applied to a state: whether it may be, by its head, and what it makes of the state.
struct CaseApplication<M, A> {
    may_apply: M,
    apply: A,
}

/// The states met from one progenitor are too many.
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

    /// Which cases there are, as a number.
    pub(super) fn digest(&self) -> &[u8] {
        &self.digest
    }

    /// Room for a state that is worked on.
    pub(super) fn work(&self) -> Vec<u8> {
        vec![0; self.interp.layout().bytes.max(MATCHED_BYTES)]
    }

    /// Tells `visit` the state after each case that holds in a state, until it has enough.
    pub(super) fn each_after(
        &self,
        state: &[u8],
        work: &mut [u8],
        visit: impl FnMut(&[u8]) -> bool,
    ) {
        let way = CaseApplication { may_apply: CaseWord::is_before, apply: CaseMatcher::take };
        self.each(state, work, way, visit);
    }

    /// Tells `visit` the state before each case that may have led to a state, until it has enough.
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
            impl Fn(&CaseMatcher, &mut [u8], &crate::ir::Layout, &dyn Fn(usize, &mut [u8])) -> bool,
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

    /// Makes `met` the states that cases lead to from one, that one first, and `from` say of each which it was
    /// met from.
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
