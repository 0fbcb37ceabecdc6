//! Any graph, for property tests. Apart from the graph itself, which fuzz targets use without these.

use crate::support::Graph;
use proptest::prelude::*;

/// Graphs of a shape: nodes, degree, spread, width. What breaks the property and where states get
/// dense, before the node `dense_before` if not at once or never, is any.
pub fn graphs_of(
    shape: impl Strategy<Value = (u64, u64, u64, usize)>,
    dense_before: u64,
) -> impl Strategy<Value = Graph> {
    let dense = prop_oneof![Just(0), 1u64..dense_before, Just(u64::MAX)];
    (shape, 0u64..500, dense).prop_map(|((nodes, degree, spread, width), broken, dense)| Graph {
        nodes,
        degree,
        spread,
        width,
        broken,
        dense,
    })
}
