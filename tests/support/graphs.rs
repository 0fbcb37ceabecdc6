//! Strategies for graphs in property tests. Fuzz targets use graphs without these.

use crate::support::Graph;
use proptest::prelude::*;

/// Returns graphs with these ranges of nodes, degree, spread and width. The violating nodes are arbitrary, and so is
/// the node before `dense_before` from which states are dense, which may also be the first or none.
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
