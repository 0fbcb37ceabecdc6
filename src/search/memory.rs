//! Breadth-first search in a few lines, with everything in memory: the oracle.
//!
//! The external search must give what this gives, for every model, budget, number of threads and
//! interruption. It is for tests and for small models, so it is kept obviously right instead of
//! fast: one ordered set for all states, one vector for the level.

use super::{Limits, Outcome, Verdict};
use crate::exec::{Collected, Expansion, Model};
use spill::Result;
use std::collections::BTreeSet;

/// Explores `model` with no bound on memory but the machine's.
///
/// It is an error if the model fails.
pub fn search(model: &dyn Model, limits: &Limits) -> Result<Outcome> {
    let mut visited = BTreeSet::new();
    let mut outcome = Outcome::default();
    let (initial, Collected { findings, .. }) = candidates(model, |out| model.initial(out))?;
    outcome.findings.merge(findings);
    let mut frontier = unvisited(initial, &mut visited);
    while !frontier.is_empty() {
        let level = outcome.levels.len() as u64;
        outcome.levels.push(frontier.len() as u64);
        let (next, Collected { transitions, findings, .. }) =
            candidates(model, |out| frontier.iter().for_each(|state| model.expand(state, out)))?;
        outcome.transitions += transitions;
        outcome.findings.merge(findings.at_level(level));
        if limits.stop_on_violation && limits.checks.any_selected(model, &outcome.findings) {
            break;
        }
        frontier = unvisited(next, &mut visited);
    }
    outcome.verdict = match limits.checks.any_selected(model, &outcome.findings) {
        true => Verdict::Violated,
        false => Verdict::Verified,
    };
    Ok(outcome)
}

/// What `run` adds to an expansion, and its tallies.
fn candidates(
    model: &dyn Model,
    run: impl FnOnce(&mut Expansion),
) -> Result<(Vec<Vec<u8>>, Collected)> {
    let mut buffer = Vec::new();
    let collected = Expansion::collect(model.width(), &mut buffer, run)?;
    Ok((buffer.chunks_exact(model.width()).map(<[u8]>::to_vec).collect(), collected))
}

/// The candidates seen for the first time, in order.
fn unvisited(candidates: Vec<Vec<u8>>, visited: &mut BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut new: Vec<_> =
        candidates.into_iter().filter(|state| visited.insert(state.clone())).collect();
    new.sort_unstable();
    new
}
