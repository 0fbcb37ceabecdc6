//! Redundant transitions and places.
//!
//! - A transition is *dead* if it needs more tokens than there can be: every transition that could put them there is
//!   dead, or a bound excludes it.
//! - A transition is *dominated* if another one makes the same changes and needs at most the same tokens. If
//!   deadlocks are not checked, a transition without changes is dominated too.
//! - A place is *constant* if no transition changes it. Transitions that need no more than its tokens need nothing of
//!   it.
//! - A place is *redundant* if no transition needs it, or if another place implies its tokens: each transition that
//!   needs *n* tokens of it needs at least *n* - *b* of the other one, where *b* is the difference of the initial
//!   tokens, and no transition adds less to it than to the other one (an implicit place of one other: Berthelot
//!   1987).

use super::action_parts::PlaceArc;
use super::net::{CounterNet, ReducibleTransition};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use std::collections::HashMap;

/// In larger groups of transitions with the same changes no dominated ones are searched.
const ALIKE_MAX: usize = 256;

/// Removes dead transitions.
pub(super) fn remove_dead(net: &mut CounterNet) -> bool {
    let places = 0..net.initial.len();
    let mut most: Vec<Option<i64>> = places.map(|it| Some(net.initial[it])).collect();
    let mut is_possible = vec![false; net.transitions.len()];
    let mut open: Vec<usize> = net.all().map(|(number, _)| number).collect();
    while let Some(number) = open.pop() {
        let Some(transition) = &net.transitions[number] else { continue };
        let has = |(place, arc): (&usize, &PlaceArc)| {
            let there = most[*place].or(net.most[*place]);
            there.is_none_or(|there| arc.needs <= there)
        };
        if is_possible[number] || !transition.arcs.iter().all(has) {
            continue;
        }
        is_possible[number] = true;
        for (place, _) in transition.arcs.iter().filter(|(_, arc)| arc.adds > 0) {
            if most[*place].take().is_some() {
                open.extend(&net.touching[*place]);
            }
        }
    }
    let dead = |it: &usize| net.transitions[*it].is_some() && !is_possible[*it];
    let dead: Vec<usize> = (0..is_possible.len()).filter(dead).collect();
    dead.iter().for_each(|it| drop(net.remove(*it)));
    !dead.is_empty()
}

/// Removes dominated transitions, and returns them.
pub(super) fn remove_alike(
    net: &mut CounterNet,
    deadlock: bool,
    budget: &AnalysisBudget,
) -> Result<Vec<ReducibleTransition>, BudgetExceeded> {
    let mut alike: HashMap<Vec<(usize, i64)>, Vec<usize>> = HashMap::new();
    for (number, transition) in net.all() {
        if !transition.has_rest && !transition.is_fixed {
            let adding = transition.arcs.iter().filter(|(_, arc)| arc.adds != 0);
            let changes = adding.map(|(place, arc)| (*place, arc.adds)).collect();
            alike.entry(changes).or_default().push(number);
        }
    }
    let mut all: Vec<_> = alike.into_iter().collect();
    all.sort_unstable();
    let mut removed = Vec::new();
    for (changes, numbers) in all {
        if changes.is_empty() && !deadlock {
            removed.extend(numbers.iter().filter_map(|it| net.remove(*it)));
        } else if numbers.len() <= ALIKE_MAX {
            let pairs = (numbers.len() * numbers.len()) as u64;
            budget.work(pairs * (1 + changes.len() as u64))?;
            let others = numbers.iter().filter(|it| is_dominated(net, **it, &numbers));
            // They are removed one by one, so that one of two equal transitions stays.
            for number in others.copied().collect::<Vec<_>>() {
                if is_dominated(net, number, &numbers) {
                    removed.extend(net.remove(number));
                }
            }
        }
    }
    Ok(removed)
}

/// Whether another transition of the group needs no more.
fn is_dominated(net: &CounterNet, number: usize, among: &[usize]) -> bool {
    let Some(transition) = &net.transitions[number] else { return false };
    let needs = |place: &usize| transition.arcs.get(place).map_or(0, |arc| arc.needs);
    among.iter().filter(|it| **it != number).any(|other| {
        let other = net.transitions[*other].as_ref();
        other.is_some_and(|it| it.arcs.iter().all(|(place, arc)| arc.needs <= needs(place)))
    })
}

/// Removes the arcs of constant places. Returns whether there were any. Every transition that is not dead has enough
/// tokens in them.
pub(super) fn cut_constant(net: &mut CounterNet) -> bool {
    let mut is_any = false;
    for place in 0..net.initial.len() {
        if net.at(place).any(|(_, _, arc)| arc.adds != 0) {
            continue;
        }
        let free = net.at(place).filter(|(_, it, _)| !it.is_fixed);
        let numbers: Vec<usize> = free.map(|(number, ..)| number).collect();
        numbers.iter().for_each(|it| net.cut(*it, place));
        is_any |= !numbers.is_empty();
    }
    is_any
}

/// Removes the arcs of redundant places, and returns these.
pub(super) fn cut_redundant(
    net: &mut CounterNet,
    budget: &AnalysisBudget,
) -> Result<Vec<usize>, BudgetExceeded> {
    let mut removed = Vec::new();
    for place in 0..net.initial.len() {
        budget.work(1 + net.touching[place].len() as u64)?;
        let is_free = net.at(place).all(|(_, it, _)| !it.is_fixed);
        let is_used = net.at(place).next().is_some();
        if is_used && is_free && !net.is_observed[place] && is_redundant(net, place, budget)? {
            let numbers: Vec<usize> = net.at(place).map(|it| it.0).collect();
            numbers.iter().for_each(|it| net.cut(*it, place));
            removed.push(place);
        }
    }
    Ok(removed)
}

/// Whether each transition that needs tokens of a place has them.
fn is_redundant(
    net: &CounterNet,
    place: usize,
    budget: &AnalysisBudget,
) -> Result<bool, BudgetExceeded> {
    let first = net.at(place).find(|(_, _, arc)| arc.needs > 0);
    let Some((_, first, _)) = first else { return Ok(true) };
    for (other, _) in first.arcs.iter().filter(|(it, arc)| **it != place && arc.needs > 0) {
        budget.work((net.touching[place].len() + net.touching[*other].len()) as u64)?;
        let more = net.initial[place] - net.initial[*other];
        let arc =
            |it: &ReducibleTransition, of: usize| it.arcs.get(&of).copied().unwrap_or_default();
        let all = net.at(place).chain(net.at(*other));
        let has_all = all.into_iter().all(|(_, it, _)| {
            let (own, theirs) = (arc(it, place), arc(it, *other));
            own.adds >= theirs.adds && (own.needs == 0 || own.needs <= theirs.needs + more)
        });
        if has_all {
            return Ok(true);
        }
    }
    Ok(false)
}
