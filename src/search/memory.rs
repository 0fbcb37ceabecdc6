//! Breadth-first search in a few lines, with everything in memory: the oracle.
//!
//! The external search must give what this gives, for every model, budget, number of threads and
//! interruption. It is for tests and for small models, so it is kept obviously right instead of
//! fast: one ordered set for all states, one vector for the level.

use super::{Limits, Outcome, Verdict};
use crate::exec::{Collected, Expansion, Model, Obligations, Sleeps};
use spill::{Dominance, Result};
use std::collections::{BTreeMap, BTreeSet};

/// States, one by one.
type States = Vec<Vec<u8>>;

/// Explores `model` with no bound on memory but the machine's.
///
/// It is an error if the model fails.
pub fn search(model: &dyn Model, limits: &Limits) -> Result<Outcome> {
    if let Some(sleeps) = model.sleeps() {
        return search_awake(model, sleeps, limits);
    }
    let (mut visited, dominance) = (BTreeSet::new(), model.dominance());
    let mut outcome = Outcome::default();
    let (initial, Collected { findings, .. }) = candidates(model, |out| model.initial(out))?;
    outcome.findings.merge(findings);
    let mut frontier = undominated(initial, &mut visited, dominance.as_ref());
    // States of which steps were put off, that are to be expanded again, and their level.
    let mut again = (0, States::new());
    while !frontier.is_empty() || !again.1.is_empty() {
        if !frontier.is_empty() {
            outcome.levels.push(frontier.len() as u64);
        }
        let level = outcome.levels.len() as u64 - 1;
        let (mut next, owed, collected) = expand(model, &frontier)?;
        add(&mut outcome, level, collected);
        let (more, collected) = expand_rest(model, &again.1)?;
        next.extend(more);
        add(&mut outcome, again.0, collected);
        if limits.stop_on_violation && limits.checks.any_selected(model, &outcome.findings) {
            break;
        }
        let new = undominated(next, &mut visited, dominance.as_ref());
        again = (level, undischarged(frontier, &owed, &new));
        outcome.again += again.1.len() as u64;
        frontier = new;
    }
    outcome.verdict = match limits.checks.are_violated(model, &outcome.findings) {
        true => Verdict::Violated,
        false => Verdict::Verified,
    };
    Ok(outcome)
}

/// The same of a model some of whose steps are asleep.
fn search_awake(model: &dyn Model, sleeps: &dyn Sleeps, limits: &Limits) -> Result<Outcome> {
    let mut visited = BTreeSet::new();
    let mut outcome = Outcome::default();
    let (initial, Collected { findings, .. }) = candidates(model, |out| model.initial(out))?;
    outcome.findings.merge(findings);
    let none = vec![0; sleeps.value_bytes()];
    let mut frontier: BTreeMap<Vec<u8>, Vec<u8>> =
        initial.into_iter().map(|state| (state, none.clone())).collect();
    while !frontier.is_empty() {
        outcome.levels.push(frontier.len() as u64);
        visited.extend(frontier.keys().cloned());
        let pairs: Vec<u8> =
            frontier.iter().flat_map(|(state, value)| [&state[..], value].concat()).collect();
        let (mut next, whole) = (Vec::new(), model.width() + none.len());
        let run = |out: &mut Expansion| sleeps.expand_awake(&pairs, out);
        let collected = Expansion::collect(whole, &mut next, run)?;
        let level = outcome.levels.len() as u64 - 1;
        add(&mut outcome, level, collected);
        if limits.stop_on_violation && limits.checks.any_selected(model, &outcome.findings) {
            break;
        }
        frontier.clear();
        let new = next.chunks_exact(whole).map(|pair| pair.split_at(model.width()));
        for (state, value) in new.filter(|(state, _)| !visited.contains(*state)) {
            // What all agree on is asleep.
            let kept = frontier.entry(state.to_vec()).or_insert_with(|| value.to_vec());
            kept.iter_mut().zip(value).for_each(|(kept, other)| *kept &= other);
        }
    }
    outcome.verdict = match limits.checks.are_violated(model, &outcome.findings) {
        true => Verdict::Violated,
        false => Verdict::Verified,
    };
    Ok(outcome)
}

/// Expands states, some steps put off if the model does: their successors, which of those each state that
/// owes steps has, and the tallies.
fn expand(model: &dyn Model, states: &[Vec<u8>]) -> Result<(States, Vec<States>, Collected)> {
    let mut owed = vec![States::new(); states.len()];
    let (next, collected) = candidates(model, |out| match model.postpones() {
        None => states.iter().for_each(|state| model.expand(state, out)),
        Some(model) => {
            let mut owe = |position: usize, successor: &[u8]| {
                owed[position].push(successor.to_vec());
                Ok(())
            };
            let _ = Obligations::collect(&mut owe, |owed| {
                model.expand_some(&states.concat(), out, owed);
                Ok(())
            });
        }
    })?;
    Ok((next, owed, collected))
}

/// Expands states again, by the rest of their steps.
fn expand_rest(model: &dyn Model, states: &[Vec<u8>]) -> Result<(States, Collected)> {
    candidates(model, |out| {
        model.postpones().into_iter().for_each(|model| model.expand_rest(&states.concat(), out));
    })
}

/// Those of `states` that owe steps, and none of whose successors is among the `new` states.
fn undischarged(states: States, owed: &[States], new: &[Vec<u8>]) -> States {
    let is_new = |state: &Vec<u8>| new.binary_search(state).is_ok();
    let owing = |owed: &States| !owed.is_empty() && !owed.iter().any(is_new);
    states.into_iter().zip(owed).filter(|(_, owed)| owing(owed)).map(|(state, _)| state).collect()
}

/// Adds what expanding states of a level came to.
fn add(outcome: &mut Outcome, level: u64, collected: Collected) {
    outcome.transitions += collected.transitions;
    outcome.partial += collected.put_off;
    outcome.passed += collected.passed;
    outcome.beyond += collected.beyond;
    outcome.taken.merge(collected.taken);
    outcome.findings.merge(collected.findings.at_level(level));
}

/// What `run` adds to an expansion, and its tallies.
fn candidates(model: &dyn Model, run: impl FnOnce(&mut Expansion)) -> Result<(States, Collected)> {
    let mut buffer = Vec::new();
    let collected = Expansion::collect(model.width(), &mut buffer, run)?;
    Ok((buffer.chunks_exact(model.width()).map(<[u8]>::to_vec).collect(), collected))
}

/// The candidates seen for the first time, in order, without those that another or a state seen before dominates.
fn undominated(
    candidates: States,
    visited: &mut BTreeSet<Vec<u8>>,
    dominance: Option<&Dominance>,
) -> States {
    let Some(dominance) = dominance else { return unvisited(candidates, visited) };
    let candidates: BTreeSet<Vec<u8>> = candidates.into_iter().collect();
    let dominates = |other: &Vec<u8>, state: &Vec<u8>| {
        let key = dominance.key_bytes(state.len());
        other[..key] == state[..key] && dominance.holds(&other[key..], &state[key..])
    };
    let is_dominated = |state: &Vec<u8>, among: &BTreeSet<Vec<u8>>| {
        let mut least = state.clone();
        least[dominance.key_bytes(state.len())..].fill(0);
        // Whatever dominates it is no greater.
        among.range(least..=state.clone()).any(|other| other != state && dominates(other, state))
    };
    let is_new = |state: &Vec<u8>| {
        !is_dominated(state, &candidates)
            && !visited.contains(state)
            && !is_dominated(state, visited)
    };
    let new: States = candidates.iter().filter(|it| is_new(it)).cloned().collect();
    visited.extend(new.iter().cloned());
    new
}

/// The candidates seen for the first time, in order.
fn unvisited(candidates: States, visited: &mut BTreeSet<Vec<u8>>) -> States {
    let mut new: Vec<_> =
        candidates.into_iter().filter(|state| visited.insert(state.clone())).collect();
    new.sort_unstable();
    new
}
