//! A cache of the results of rewriting passes for one program.

use super::RewriteResult;
use crate::ReductionKind;
use crate::selection::{ReductionPlan, ReductionSelection};
use spillway_model::CheckSelection;
use std::sync::OnceLock;

/// Results by plan. Their addresses are stable, so that results can be used while others are added.
#[derive(Default)]
pub struct RewriteCache {
    first: OnceLock<Box<CachedRewriting>>,
}

/// A result, and the later ones.
struct CachedRewriting {
    selection: ReductionSelection,
    checks: CheckSelection,
    result: RewriteResult,
    next: OnceLock<Box<CachedRewriting>>,
}

impl RewriteCache {
    /// Returns the result for a plan, which `find` computes if it is not cached. Returns `None` if the whole check
    /// was stopped; such a result is not cached.
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
        // Another thread may have added a result in the meantime.
        loop {
            match at.set(new) {
                Ok(()) => return at.get().map(|it| &it.result),
                Err(back) => new = back,
            }
            at = &at.get()?.next;
        }
    }
}
