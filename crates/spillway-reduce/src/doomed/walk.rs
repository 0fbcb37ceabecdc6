//! Walks from doomed states to violations.

use super::{DoomAnalysis, TargetDistance};
use spillway_exec::Interp;
use spillway_ir::Layout;
use spillway_model::{StateSpace as _, SuccessorSink};

/// The most transitions of a walk.
const STEPS_MAX: usize = 1 << 14;

impl DoomAnalysis {
    /// Returns the states of a walk from a doomed state, which is excluded, to a violating state. Returns `None` if
    /// the state is not doomed, or if the walk has fewer than two transitions: the search itself finds nearer states.
    pub(super) fn path_to_target(&self, interp: &Interp, state: &[u8]) -> Option<Vec<Vec<u8>>> {
        let layout = interp.layout();
        let way = match self.nearest(layout, state) {
            Some(part) => part.to_error(interp, state),
            None if self.cycles.as_ref().is_some_and(|it| it.all_runs_end(interp, state)) => {
                to_end(interp, state)
            }
            None => return None,
        };
        Some(way).filter(|it| it.len() >= 2)
    }

    /// Returns the target that is surely reached in the fewest transitions, if there is one.
    fn nearest(&self, layout: &Layout, state: &[u8]) -> Option<&TargetDistance> {
        let ranked = self.parts.iter().map(|it| (it.rank(layout, state), it));
        ranked.filter(|it| it.0 > 0).min_by_key(|it| it.0).map(|it| it.1)
    }
}

impl TargetDistance {
    /// Returns the states on a path to a failing transition or a violated property.
    fn to_error(&self, interp: &Interp, from: &[u8]) -> Vec<Vec<u8>> {
        let layout = interp.layout();
        let steps = |state: &[u8]| match self.rank(layout, state) {
            0 => u16::MAX,
            rank => rank,
        };
        let (mut way, mut at) = (Vec::new(), from.to_vec());
        while steps(&at) > 1 {
            // Such a successor exists. The test prevents a walk in a cycle.
            let next = least_of(interp, &at, steps).filter(|it| steps(it) < steps(&at));
            let Some(next) = next else { break };
            at.clone_from(&next);
            way.push(next);
        }
        way
    }
}

/// Returns the states on a path to a state without transitions.
fn to_end(interp: &Interp, from: &[u8]) -> Vec<Vec<u8>> {
    let (mut way, mut at) = (Vec::new(), from.to_vec());
    while way.len() < STEPS_MAX {
        let Some(next) = least_of(interp, &at, |_| ()) else { break };
        at.clone_from(&next);
        way.push(next);
    }
    way
}

/// Returns the successor of the least rank. Of several, returns the least by its bytes, so that the result is
/// deterministic.
fn least_of<R: Ord>(interp: &Interp, from: &[u8], rank: impl Fn(&[u8]) -> R) -> Option<Vec<u8>> {
    let mut states = Vec::new();
    let collect = |out: &mut SuccessorSink| interp.expand(from, out);
    let _ = SuccessorSink::collect(interp.width(), &mut states, collect).ok()?;
    let least = states.chunks_exact(interp.width()).min_by_key(|it| (rank(it), *it));
    least.map(<[u8]>::to_vec)
}
