//! Strongly connected components of graphs.

/// Returns the number of the component of each of `places` nodes (Kosaraju and Sharir 1981). An edge between
/// components leads to a greater number. Takes linear time, without recursion.
pub fn components(places: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let ahead = neighbours(places, edges.iter().copied());
    let back = neighbours(places, edges.iter().map(|&(from, to)| (to, from)));
    components_along(places, &|place, at| ahead[place].get(at).copied(), &|place, at| {
        back[place].get(at).copied()
    })
}

/// The neighbour of a node with this number, if there is one.
pub type NeighbourFunction<'n> = dyn Fn(usize, usize) -> Option<usize> + 'n;

/// Returns the components of a graph that is given by its successors and its predecessors.
pub fn components_along(
    places: usize,
    ahead: &NeighbourFunction<'_>,
    back: &NeighbourFunction<'_>,
) -> Vec<usize> {
    let mut order = Vec::with_capacity(places);
    let mut seen = vec![false; places];
    for place in 0..places {
        visit(place, ahead, &mut seen, &mut |done| order.push(done));
    }
    let (mut component, mut count) = (vec![0; places], 0);
    seen.fill(false);
    for &place in order.iter().rev() {
        if !seen[place] {
            visit(place, back, &mut seen, &mut |done| component[done] = count);
            count += 1;
        }
    }
    component
}

/// Returns the neighbours of each node.
fn neighbours(places: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); places];
    edges.for_each(|(from, to)| all[from].push(to));
    all
}

/// Calls `done` in postorder with each reachable node that was not seen before.
fn visit(
    start: usize,
    next: &NeighbourFunction<'_>,
    seen: &mut [bool],
    done: &mut dyn FnMut(usize),
) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut open = vec![(start, 0)];
    while let Some((place, at)) = open.pop() {
        match next(place, at) {
            None => done(place),
            Some(to) => {
                open.push((place, at + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    open.push((to, 0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_one_component_and_edges_lead_to_later_ones() {
        let edges = [(4, 0), (0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (5, 3)];
        let found = components(6, &edges);
        assert!(found[0] == found[1] && found[1] == found[2]);
        for (from, to) in [(4, 0), (2, 3), (5, 3)] {
            assert!(found[from] < found[to], "{found:?}");
        }
        assert_eq!(found.iter().max(), Some(&3), "{found:?}");
    }
}
