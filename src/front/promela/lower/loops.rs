//! Which moves of a process can be taken again: those within a circle.

use crate::front::promela::graph::Control;

/// Of each move, whether it can be taken again after it. In linear time: a move is on a circle if
/// both its ends are in one strongly connected component.
pub(super) fn looped(control: &Control) -> Vec<bool> {
    let places = control.places.len();
    let edges = control.moves.iter().filter_map(|it| Some((it.from, it.to?)));
    let edges: Vec<(usize, usize)> = edges.collect();
    let ahead = neighbours(places, edges.iter().copied());
    let back = neighbours(places, edges.iter().map(|&(from, to)| (to, from)));
    let mut order = Vec::with_capacity(places);
    let mut seen = vec![false; places];
    for place in 0..places {
        visit(place, &ahead, &mut seen, &mut |done| order.push(done));
    }
    let (mut component, mut seen) = (vec![0; places], vec![false; places]);
    for &place in order.iter().rev() {
        visit(place, &back, &mut seen, &mut |done| component[done] = place);
    }
    let is_looped = |from: usize, to: usize| component[from] == component[to];
    control.moves.iter().map(|it| it.to.is_some_and(|to| is_looped(it.from, to))).collect()
}

/// The neighbours of each place.
fn neighbours(places: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); places];
    edges.for_each(|(from, to)| all[from].push(to));
    all
}

/// Calls `done` with each place that can be reached and was not seen before, those behind it first.
fn visit(start: usize, next: &[Vec<usize>], seen: &mut [bool], done: &mut dyn FnMut(usize)) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut open = vec![(start, 0)];
    while let Some((place, at)) = open.pop() {
        match next[place].get(at) {
            None => done(place),
            Some(&to) => {
                open.push((place, at + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    open.push((to, 0));
                }
            }
        }
    }
}
