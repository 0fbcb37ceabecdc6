//! Congruence of the states of a graph: states with equal marks and edges are merged, to a fixed point.
//!
//! Two states are congruent if they have equal marks and, after targets are replaced by their classes, equal sets of
//! edges. This is the least such relation: states on different cycles are not compared. As in congruence closure
//! (Downey, Sethi and Tarjan 1980), only the predecessors of a class that was merged into a larger one are examined
//! again. So the time is nearly linear in the number of edges.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns the least state of the class of each state. `target` returns the target of an edge, and `with_target`
/// changes it.
pub(super) fn congruence<M: Clone + Eq + Hash, E: Copy + Ord + Hash>(
    states: &[(M, Vec<E>)],
    target: impl Fn(&E) -> usize,
    with_target: impl Fn(E, usize) -> E,
) -> Vec<usize> {
    let mut predecessors = vec![Vec::new(); states.len()];
    for (at, (_, edges)) in states.iter().enumerate() {
        edges.iter().for_each(|edge| predecessors[target(edge)].push(at));
    }
    let mut class: Vec<usize> = (0..states.len()).collect();
    let mut members: Vec<Vec<usize>> = class.iter().map(|&at| vec![at]).collect();
    let mut known: HashMap<(M, Vec<E>), usize> = HashMap::new();
    let mut open: Vec<usize> = class.iter().rev().copied().collect();
    while let Some(state) = open.pop() {
        let (marks, edges) = &states[state];
        let mut edges: Vec<E> =
            edges.iter().map(|&it| with_target(it, class[target(&it)])).collect();
        edges.sort_unstable();
        edges.dedup();
        let first = *known.entry((marks.clone(), edges)).or_insert(state);
        let (mut kept, mut merged) = (class[first], class[state]);
        if kept == merged {
            continue;
        }
        if predecessors[kept].len() < predecessors[merged].len() {
            std::mem::swap(&mut kept, &mut merged);
        }
        let moved = std::mem::take(&mut members[merged]);
        moved.iter().for_each(|&it| class[it] = kept);
        members[kept].extend(moved);
        let again = std::mem::take(&mut predecessors[merged]);
        open.extend(&again);
        predecessors[kept].extend(again);
    }
    let least: Vec<usize> =
        members.iter().map(|all| all.iter().copied().min().unwrap_or(0)).collect();
    class.iter().map(|&at| least[at]).collect()
}
