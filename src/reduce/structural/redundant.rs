//! Transitions that make no difference, and places that never keep anybody from anything.
//!
//! - *Dead* is a transition that needs more tokens than there can ever be: whatever could put them there is dead, too, or a bound says so.
//! - *Another does the same*: a transition that changes what another does, and needs at least what that needs. Where no deadlocks are
//!   looked for, a transition that changes nothing.
//! - *Constant* is a place that no transition changes: who needs no more than is there needs nothing.
//! - *Redundant* is a place that nobody needs, or that another always has the tokens for: each transition that needs *n* tokens of it needs of the
//!   other one at least *n* less *b*, where *b* is by how much it has more at first, and none adds less to it than to the other one
//!   (an implicit place of one other: Berthelot 1987).

use super::action_parts::PlaceArc;
use super::net::{CounterNet, ReducibleTransition};
use crate::budget::{AnalysisBudget, BudgetExceeded};
use std::collections::HashMap;

/// Among more transitions that change the same it is not looked for one that needs less.
const ALIKE_MAX: usize = 256;

/// Removes the transitions that are never taken.
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

/// Removes transitions without which there is the same to be found, and gives them.
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
            // One after the other, so that of two that are the same one stays.
            for number in others.copied().collect::<Vec<_>>() {
                if is_dominated(net, number, &numbers) {
                    removed.extend(net.remove(number));
                }
            }
        }
    }
    Ok(removed)
}

/// Whether another one of some that change the same needs no more.
fn is_dominated(net: &CounterNet, number: usize, among: &[usize]) -> bool {
    let Some(transition) = &net.transitions[number] else { return false };
    let needs = |place: &usize| transition.arcs.get(place).map_or(0, |arc| arc.needs);
    among.iter().filter(|it| **it != number).any(|other| {
        let other = net.transitions[*other].as_ref();
        other.is_some_and(|it| it.arcs.iter().all(|(place, arc)| arc.needs <= needs(place)))
    })
}

/// Cuts off the places that nobody changes; tells whether there were any. All that is not dead has what it needs of them.
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

/// Cuts off the places that keep nobody from anything, and gives them.
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

/// Whether everybody who needs tokens of a place has them.
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
