//! Breadth-first search in a few lines, with everything in memory: the oracle.
//!
//! Every other search must have the same outcome, for every system, memory budget, number of threads and interruption.
//! This search is for tests and for small models. So it is simple instead of fast: one ordered set for all states, one
//! vector for the level.

use super::{
    BACK_EDGE_BYTES, BackEdge, BackEdgeOverflow, Dominance, ExpansionOutcome, ModelError,
    ObligationSink, Result, SearchLimits, SearchOutcome, SearchVerdict, SleepSetStateSpace,
    StateSpace, SuccessorSink, ViewedStateSpace,
};
use std::collections::{BTreeMap, BTreeSet};

/// A list of states.
type StateList = Vec<Vec<u8>>;

/// Explores `model` in memory.
///
/// # Errors
///
/// If the model fails.
pub fn search(model: &dyn StateSpace, limits: &SearchLimits) -> Result<SearchOutcome> {
    if let Some(growing) = model.capabilities().growing {
        growing.grow_at_once();
    }
    if let Some(views) = model.capabilities().views {
        return search_with_views(model, views, limits);
    }
    if let Some(sleeps) = model.capabilities().sleep_sets {
        return search_with_sleep_sets(model, sleeps, limits);
    }
    let (mut visited, dominance) = (BTreeSet::new(), model.capabilities().dominance);
    let mut outcome = SearchOutcome::default();
    let (initial, ExpansionOutcome { findings, counters, .. }) =
        candidates(model, |out| model.initial(out))?;
    outcome.findings.merge(findings);
    outcome.counters.initial = counters.transitions;
    let mut frontier = undominated_states(initial, &mut visited, dominance.as_ref());
    // States to re-expand by their postponed transitions, and their level.
    let mut again = (0, StateList::new());
    while !frontier.is_empty() || !again.1.is_empty() {
        if !frontier.is_empty() {
            outcome.levels.push(frontier.len() as u64);
        }
        let level = outcome.levels.len() as u64 - 1;
        let ReducedExpansion { mut next, owed, collected } = expand(model, &frontier)?;
        add(&mut outcome, level, collected);
        let (more, collected) = expand_rest(model, &again.1)?;
        next.extend(more);
        add(&mut outcome, again.0, collected);
        if limits.stop_on_violation && limits.checks.any_selected(model, &outcome.findings) {
            break;
        }
        let new = undominated_states(next, &mut visited, dominance.as_ref());
        again = (level, undischarged_states(frontier, &owed, &new));
        outcome.counters.re_expanded += again.1.len() as u64;
        frontier = new;
    }
    outcome.verdict = match limits.checks.has_violation(model, &outcome) {
        true => SearchVerdict::Violated,
        false => SearchVerdict::Verified,
    };
    Ok(outcome)
}

/// Explores a model with sleep sets.
fn search_with_sleep_sets(
    model: &dyn StateSpace,
    sleeps: &dyn SleepSetStateSpace,
    limits: &SearchLimits,
) -> Result<SearchOutcome> {
    let mut visited = BTreeSet::new();
    let mut outcome = SearchOutcome::default();
    let (initial, ExpansionOutcome { findings, counters, .. }) =
        candidates(model, |out| model.initial(out))?;
    outcome.findings.merge(findings);
    outcome.counters.initial = counters.transitions;
    let none = vec![0; sleeps.value_bytes()];
    let mut frontier: BTreeMap<Vec<u8>, Vec<u8>> =
        initial.into_iter().map(|state| (state, none.clone())).collect();
    while !frontier.is_empty() {
        outcome.levels.push(frontier.len() as u64);
        visited.extend(frontier.keys().cloned());
        let pairs: Vec<u8> =
            frontier.iter().flat_map(|(state, value)| [&state[..], value].concat()).collect();
        let (mut next, whole) = (Vec::new(), model.width() + none.len());
        let run = |out: &mut SuccessorSink| sleeps.expand_awake(&pairs, out);
        let collected = SuccessorSink::collect(whole, &mut next, run)?;
        let level = outcome.levels.len() as u64 - 1;
        add(&mut outcome, level, collected);
        if limits.stop_on_violation && limits.checks.any_selected(model, &outcome.findings) {
            break;
        }
        frontier.clear();
        let new = next.chunks_exact(whole).map(|pair| pair.split_at(model.width()));
        for (state, value) in new.filter(|(state, _)| !visited.contains(*state)) {
            // Sleep sets of several paths are intersected.
            let kept = frontier.entry(state.to_vec()).or_insert_with(|| value.to_vec());
            kept.iter_mut().zip(value).for_each(|(kept, other)| *kept &= other);
        }
    }
    outcome.verdict = match limits.checks.has_violation(model, &outcome) {
        true => SearchVerdict::Violated,
        false => SearchVerdict::Verified,
    };
    Ok(outcome)
}

/// Explores a model whose states are identified by views.
fn search_with_views(
    model: &dyn StateSpace,
    views: &dyn ViewedStateSpace,
    limits: &SearchLimits,
) -> Result<SearchOutcome> {
    let mut visited = BTreeSet::new();
    let mut outcome = SearchOutcome::default();
    let whole = model.width() + BACK_EDGE_BYTES;
    let mut next = Vec::new();
    let run = |out: &mut SuccessorSink| views.initial_with_edges(out);
    let collected = SuccessorSink::collect(whole, &mut next, run)?;
    outcome.findings.merge(collected.findings);
    outcome.counters.initial = collected.counters.transitions;
    let mut frontier = first_states(&next, model.width(), views.view_bytes(), &mut visited);
    while !frontier.is_empty() {
        outcome.levels.push(frontier.len() as u64);
        let numbered = frontier.iter().zip(0..).map(|(state, parent)| {
            let number = BackEdge { parent, index: 0 }.bytes()?;
            Ok([&number[..], state].concat())
        });
        let numbered = numbered.collect::<std::result::Result<Vec<_>, BackEdgeOverflow>>();
        let numbered = numbered.map_err(ModelError::failed)?.concat();
        next.clear();
        let run = |out: &mut SuccessorSink| views.expand_with_edges(&numbered, out);
        let mut collected = SuccessorSink::collect(whole, &mut next, run)?;
        collected.findings = collected.findings.without_tags(BACK_EDGE_BYTES);
        let level = outcome.levels.len() as u64 - 1;
        add(&mut outcome, level, collected);
        if limits.stop_on_violation && limits.checks.any_selected(model, &outcome.findings) {
            break;
        }
        frontier = first_states(&next, model.width(), views.view_bytes(), &mut visited);
    }
    outcome.verdict = match limits.checks.has_violation(model, &outcome) {
        true => SearchVerdict::Violated,
        false => SearchVerdict::Verified,
    };
    Ok(outcome)
}

/// Returns the first state of each new view, in the order of their back-edges, which follow the states of `width` bytes.
fn first_states(
    candidates: &[u8],
    width: usize,
    view_bytes: usize,
    visited: &mut BTreeSet<Vec<u8>>,
) -> StateList {
    let candidates = candidates.chunks_exact(width + BACK_EDGE_BYTES);
    let mut candidates: Vec<_> = candidates.map(|it| it.split_at(width)).collect();
    candidates.sort_unstable_by_key(|(_, edge)| *edge);
    let states = candidates.into_iter().map(|(state, _)| state);
    states.filter(|it| visited.insert(it[..view_bytes].to_vec())).map(<[u8]>::to_vec).collect()
}

/// The result of expanding states whose transitions may be postponed.
struct ReducedExpansion {
    /// The successors.
    next: StateList,
    /// For each state with postponed transitions, its successors.
    owed: Vec<StateList>,
    collected: ExpansionOutcome,
}

/// Expands states, and postpones transitions if the model does.
fn expand(model: &dyn StateSpace, states: &[Vec<u8>]) -> Result<ReducedExpansion> {
    let mut owed = vec![StateList::new(); states.len()];
    let (next, collected) = candidates(model, |out| match model.capabilities().postponing {
        None => states.iter().for_each(|state| model.expand(state, out)),
        Some(model) => {
            let mut add = |position: usize, successor: &[u8]| {
                owed[position].push(successor.to_vec());
            };
            model.expand_reduced(&states.concat(), out, &mut ObligationSink::new(&mut add));
        }
    })?;
    Ok(ReducedExpansion { next, owed, collected })
}

/// Re-expands states, by their postponed transitions.
fn expand_rest(
    model: &dyn StateSpace,
    states: &[Vec<u8>],
) -> Result<(StateList, ExpansionOutcome)> {
    candidates(model, |out| {
        if let Some(model) = model.capabilities().postponing {
            model.expand_postponed(&states.concat(), out);
        }
    })
}

/// Returns those of `states` that have postponed transitions and no successor among the `new` states.
fn undischarged_states(states: StateList, owed: &[StateList], new: &[Vec<u8>]) -> StateList {
    let is_new = |state: &Vec<u8>| new.binary_search(state).is_ok();
    let owing = |owed: &StateList| !owed.is_empty() && !owed.iter().any(is_new);
    states.into_iter().zip(owed).filter(|(_, owed)| owing(owed)).map(|(state, _)| state).collect()
}

/// Adds the outcome of expanding states of a level.
fn add(outcome: &mut SearchOutcome, level: u64, collected: ExpansionOutcome) {
    outcome.counters += collected.counters;
    outcome.action_counts.merge(collected.action_counts);
    outcome.findings.merge(collected.findings.at_level(level));
}

/// Returns the candidates that `run` adds, and the outcome.
fn candidates(
    model: &dyn StateSpace,
    run: impl FnOnce(&mut SuccessorSink),
) -> Result<(StateList, ExpansionOutcome)> {
    let mut buffer = Vec::new();
    let collected = SuccessorSink::collect(model.width(), &mut buffer, run)?;
    Ok((buffer.chunks_exact(model.width()).map(<[u8]>::to_vec).collect(), collected))
}

/// Returns the new candidates in order, without those that another candidate or a visited state dominates.
fn undominated_states(
    candidates: StateList,
    visited: &mut BTreeSet<Vec<u8>>,
    dominance: Option<&Dominance>,
) -> StateList {
    let Some(dominance) = dominance else { return unvisited_states(candidates, visited) };
    let candidates: BTreeSet<Vec<u8>> = candidates.into_iter().collect();
    let is_dominated = |state: &Vec<u8>, among: &BTreeSet<Vec<u8>>| {
        let mut least = state.clone();
        least[dominance.key_bytes(state.len())..].fill(0);
        // A dominating state is not greater.
        among
            .range(least..=state.clone())
            .any(|other| other != state && dominance.dominates(other, state))
    };
    let is_new = |state: &Vec<u8>| {
        !is_dominated(state, &candidates)
            && !visited.contains(state)
            && !is_dominated(state, visited)
    };
    let new: StateList = candidates.iter().filter(|it| is_new(it)).cloned().collect();
    visited.extend(new.iter().cloned());
    new
}

/// Returns the new candidates in order.
fn unvisited_states(candidates: StateList, visited: &mut BTreeSet<Vec<u8>>) -> StateList {
    let mut new: Vec<_> =
        candidates.into_iter().filter(|state| visited.insert(state.clone())).collect();
    new.sort_unstable();
    new
}
