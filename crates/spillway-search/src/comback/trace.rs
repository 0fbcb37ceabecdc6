//! Counterexamples from back-edges.

use super::edges::BackEdgeTable;
use super::tagged_model::{OrderedSuccessors, TAG, starts_at};
use crate::SearchControl;
use crate::trace::{Counterexample, ReplayedTrace, TraceFinder};
use spill::{Disk, Error, Result, SavedLevels};
use spillway_model::{BackEdge, Finding, StateSpace, Violation};

/// Returns the counterexample that ends in the witness of `check`, a state after its tag. Returns nothing if stopped.
/// The levels must be on disk as in `levels`.
pub fn find<'a>(
    finder: &TraceFinder<'a>,
    levels: &SavedLevels,
    check: Violation,
    finding: &Finding,
) -> Result<Option<Counterexample<'a>>> {
    let _heeding = finder.control.heed();
    if let Some(found) = finder.at_start(check, finding.level) {
        return Ok(Some(found));
    }
    let (tag, witness) = finding.witness.split_at(TAG);
    let Some(way) = back_edge_path(finder, levels, BackEdge::of_bytes(tag).parent)? else {
        return Ok(None);
    };
    let mut way = way.into_iter().rev();
    let (mut state, mut successors) = (None::<Vec<u8>>, OrderedSuccessors::new(finder.model));
    finder.replay(check, &mut || {
        let Some(edge) = way.next() else {
            let ends = state.as_deref().is_none_or(|state| state == witness);
            let damaged = || damaged_levels("the back-edges of a state lead to another");
            return ends.then_some(None).ok_or_else(damaged);
        };
        let next = match &state {
            None => start(finder.model, edge.start())?,
            Some(state) => {
                let _ = successors.take(state)?;
                let next = successors.get(edge.index).map(<[u8]>::to_vec);
                next.ok_or_else(|| damaged_levels("a back-edge leads nowhere"))?
            }
        };
        state = Some(next.clone());
        Ok(Some(next))
    })
}

/// Returns the back-edges from the state `number` to an initial state, or nothing if stopped.
fn back_edge_path(
    finder: &TraceFinder,
    levels: &SavedLevels,
    mut number: u64,
) -> Result<Option<Vec<BackEdge>>> {
    let mut edges = BackEdgeTable::of(levels);
    let mut way = Vec::new();
    if number >= edges.next() {
        return Ok(Some(way));
    }
    for level in (0..=edges.level(number)).rev() {
        if finder.control.should_stop() {
            return Ok(None);
        }
        let edge = edges.get(finder.disk, levels, level, number)?;
        way.push(edge);
        number = edge.parent;
    }
    Ok(Some(way))
}

/// Returns the initial state at a position.
fn start(model: &dyn StateSpace, position: u64) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    starts_at(model, &[position], &mut |_, state| start.extend_from_slice(state))?;
    Ok(start)
}

fn damaged_levels(what: &str) -> Error {
    Error::corrupt("levels", 0, what)
}

/// Returns the counterexample that ends in the witness of `check`, a state after its tag. All of it is in memory.
pub fn counterexample(
    model: &dyn StateSpace,
    disk: &dyn Disk,
    levels: &SavedLevels,
    check: Violation,
    finding: &Finding,
) -> Result<ReplayedTrace> {
    let control = SearchControl::default();
    let finder = TraceFinder { model, disk, threads: 1, control: &control, folder: None };
    let found = find(&finder, levels, check, finding)?;
    Ok(found.unwrap_or_else(|| unreachable!("nobody asks it to stop")).trace())
}
