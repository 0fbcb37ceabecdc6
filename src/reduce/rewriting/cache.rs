//! What the rewriting reductions of plans make of one program, each found out once.

use super::RewriteResult;
use crate::model::CheckSelection;
use crate::reduce::ReductionKind;
use crate::reduce::selection::{ReductionPlan, ReductionSelection};
use std::sync::OnceLock;

/// Results by plan. A result stays where it is, so that it can be used while others are added.
#[derive(Default)]
pub(crate) struct RewriteCache {
    first: OnceLock<Box<CachedRewriting>>,
}

/// A result, and those that were found out later.
struct CachedRewriting {
    selection: ReductionSelection,
    checks: CheckSelection,
    result: RewriteResult,
    next: OnceLock<Box<CachedRewriting>>,
}

impl RewriteCache {
    /// What comes of a plan: known, or found out by `find`. A result that only came of the whole check being stopped is
    /// not kept, and there is none.
    pub fn get(
        &self,
        plan: &ReductionPlan,
        find: impl FnOnce() -> RewriteResult,
    ) -> Option<&RewriteResult> {
        let selection = plan.selection.filtered(|it| it.kind == ReductionKind::Rewriting);
        let checks = plan.checks;
        let mut at = &self.first;
        while let Some(it) = at.get() {
            if it.checks == checks && it.selection == selection {
                return Some(&it.result);
            }
            at = &it.next;
        }
        let result = Some(find()).filter(|it| !it.is_stopped())?;
        let mut new =
            Box::new(CachedRewriting { selection, checks, result, next: OnceLock::new() });
        // Another thread may have added one meanwhile.
        loop {
            match at.set(new) {
                Ok(()) => return at.get().map(|it| &it.result),
                Err(back) => new = back,
            }
            at = &at.get()?.next;
        }
    }
}
