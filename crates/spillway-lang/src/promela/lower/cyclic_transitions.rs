//! Detection of repeatable transitions: those on a cycle of the control graph.

use crate::promela::graph::ControlGraph;
use spillway_base::components::components;

/// Returns, for each transition, whether it can be repeated: whether both ends are in one strongly connected component.
pub(super) fn transitions_on_cycles(control: &ControlGraph) -> Vec<bool> {
    let edges = control.transitions.iter().filter_map(|it| Some((it.from, it.to?)));
    let component = components(control.locations.len(), &edges.collect::<Vec<_>>());
    let is_looped = |from: usize, to: usize| component[from] == component[to];
    control.transitions.iter().map(|it| it.to.is_some_and(|to| is_looped(it.from, to))).collect()
}
