//! Early termination: runs that violate a property because their automaton accepts every continuation.
//!
//! The exploration of a product finds such a state in the level that contains it. Any continuation then violates the
//! property, but there must be one: every further step may end in an error, or finite runs may not count. So a
//! continuation is searched for among few states. If none is found, all states are explored.

use super::continuation::AcceptingContinuations;
use super::nested_dfs::ProbeVerdict;
use crate::checkpoint::SavedSearch;
use crate::lasso::Lasso;
use crate::trace::{StoredLevels, TraceFinder};
use spill::Result;
use spillway_model::{Finding, Findings, Violation};
use std::cell::RefCell;

/// A state that was tried, and a run that continues from it.
type EarlyAttempt = Option<(Vec<u8>, Option<Lasso>)>;

/// Searches for continuations of states in which the automaton of a product accepts every continuation.
pub struct EarlyTermination<'a> {
    finder: TraceFinder<'a>,
    accepts: &'a dyn Fn(&[u8]) -> bool,
    check: Violation,
    /// The last state tried. It is always the same for a level.
    tried: RefCell<EarlyAttempt>,
}

impl<'a> EarlyTermination<'a> {
    /// Creates the search for a product in which the check `check` fails in such states.
    pub fn new(
        finder: TraceFinder<'a>,
        accepts: &'a dyn Fn(&[u8]) -> bool,
        check: Violation,
    ) -> EarlyTermination<'a> {
        EarlyTermination { finder, accepts, check, tried: RefCell::default() }
    }

    /// Returns whether the findings contain a run that violates the property.
    pub fn is_decided(&self, findings: &Findings) -> Result<bool> {
        Ok(match self.first(findings) {
            None => false,
            Some(found) => self.lasso_from(&found.witness)?.is_some(),
        })
    }

    /// Returns a run that violates the property through the first state in which the automaton accepts every
    /// continuation, among the states that a search with a checkpoint has reached. Returns nothing if the bounded
    /// search finds none, or if the control stops it.
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

    /// Returns a run that continues from a state.
    fn lasso_from(&self, state: &[u8]) -> Result<Option<Lasso>> {
        if let Some((known, found)) = &*self.tried.borrow()
            && known == state
        {
            return Ok(found.clone());
        }
        let TraceFinder { model, control, .. } = self.finder;
        let continuations = AcceptingContinuations { model, accepts: self.accepts, fair: None };
        let found = match continuations.find_near(state, control)? {
            ProbeVerdict::Found(lasso) => Some(lasso),
            ProbeVerdict::None | ProbeVerdict::Open => None,
        };
        if !control.is_stopped() {
            self.tried.replace(Some((state.to_vec(), found.clone())));
        }
        Ok(found)
    }

    /// Returns the first finding of the check.
    fn first<'f>(&self, findings: &'f Findings) -> Option<&'f Finding> {
        findings.iter().find(|(check, _)| *check == self.check).map(|(_, finding)| finding)
    }
}
