//! Runs that violate a property as soon as its automaton comes to where it accepts whatever follows.
//!
//! Whoever reaches the states of a product sees such a state first in the level that it is in. Then any run on from there
//! will do, but there has to be one: every step behind it may end in an error, or a run that ends may count for
//! nothing. So one is looked for, among few states; if none is found that soon, all states are reached.

use super::nested_dfs::{ProbeVerdict, probe_continuation};
use crate::model::{Finding, Findings, Violation};
use crate::search::checkpoint::SavedSearch;
use crate::search::lasso::Lasso;
use crate::search::trace::{StoredLevels, TraceFinder};
use spill::Result;
use std::cell::RefCell;

/// What was found of a state, and whether a run goes on from there.
type EarlyAttempt = Option<(Vec<u8>, Option<Lasso>)>;

/// Looks for runs on from where a product tells that its automaton accepts whatever follows.
pub struct EarlyTermination<'a> {
    finder: TraceFinder<'a>,
    accepts: &'a dyn Fn(&[u8]) -> bool,
    check: Violation,
    /// The last one tried: of a level it is always the same.
    tried: RefCell<EarlyAttempt>,
}

impl<'a> EarlyTermination<'a> {
    /// In a product that tells so by a check that fails there, and some of whose states accept.
    pub fn new(
        finder: TraceFinder<'a>,
        accepts: &'a dyn Fn(&[u8]) -> bool,
        check: Violation,
    ) -> EarlyTermination<'a> {
        EarlyTermination { finder, accepts, check, tried: RefCell::default() }
    }

    /// Whether what was found is a run that violates the property.
    pub fn is_decided(&self, findings: &Findings) -> Result<bool> {
        Ok(match self.first(findings) {
            None => false,
            Some(found) => self.lasso_from(&found.witness)?.is_some(),
        })
    }

    /// A run that violates the property, by way of the first state where its automaton accepts whatever follows, of those
    /// that a search with a checkpoint has reached. Nothing if none is found that soon, or if told to stop.
    pub fn lasso(&self, findings: &Findings, saved: &SavedSearch) -> Result<Option<Lasso>> {
        let Some(Finding { level, witness, .. }) = self.first(findings) else { return Ok(None) };
        let Some(behind) = self.lasso_from(witness)? else { return Ok(None) };
        let codec = &saved.codec()?;
        let levels = StoredLevels { disk: self.finder.disk, levels: &saved.store.levels, codec };
        let Some(mut states) = self.finder.path_to(levels, *level, witness)? else {
            return Ok(None);
        };
        let back = states.len() - 1 + behind.back;
        states.extend(behind.states.into_iter().skip(1));
        Ok(Some(Lasso { states, back, fair_to: Vec::new() }))
    }

    /// A run on from a state.
    fn lasso_from(&self, state: &[u8]) -> Result<Option<Lasso>> {
        if let Some((known, found)) = &*self.tried.borrow()
            && known == state
        {
            return Ok(found.clone());
        }
        let TraceFinder { model, control, .. } = self.finder;
        let found = match probe_continuation(state, model, self.accepts, control)? {
            ProbeVerdict::Found(lasso) => Some(lasso),
            ProbeVerdict::None | ProbeVerdict::Open => None,
        };
        if !control.is_stopped() {
            self.tried.replace(Some((state.to_vec(), found.clone())));
        }
        Ok(found)
    }

    /// Where the check fails first.
    fn first<'f>(&self, findings: &'f Findings) -> Option<&'f Finding> {
        findings.iter().find(|(check, _)| *check == self.check).map(|(_, finding)| finding)
    }
}
