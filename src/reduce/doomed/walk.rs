//! Walking on from a doomed state.

use super::{DoomAnalysis, TargetDistance};
use crate::exec::Interp;
use crate::ir::Layout;
use crate::model::{StateSpace as _, SuccessorSink};

/// No walk is longer.
const STEPS_MAX: usize = 1 << 14;

impl DoomAnalysis {
    /// The states on a way from one that is doomed, which is left out, to one where what is looked for is: two or more, as the
    /// search comes to what lies nearer by itself. Nothing if the state is not doomed.
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

    /// What leads in the fewest steps to something, if anything surely does.
    fn nearest(&self, layout: &Layout, state: &[u8]) -> Option<&TargetDistance> {
        let ranked = self.parts.iter().map(|it| (it.rank(layout, state), it));
        ranked.filter(|it| it.0 > 0).min_by_key(|it| it.0).map(|it| it.1)
    }
}

impl TargetDistance {
    /// The states on the way to where a step fails or a property does not hold.
    fn to_error(&self, interp: &Interp, from: &[u8]) -> Vec<Vec<u8>> {
        let layout = interp.layout();
        let steps = |state: &[u8]| match self.rank(layout, state) {
            0 => u16::MAX,
            rank => rank,
        };
        let (mut way, mut at) = (Vec::new(), from.to_vec());
        while steps(&at) > 1 {
            // There is one, but a walk in a circle would not end.
            let next = least_of(interp, &at, steps).filter(|it| steps(it) < steps(&at));
            let Some(next) = next else { break };
            at.clone_from(&next);
            way.push(next);
        }
        way
    }
}

/// The states on the way to one without a step.
fn to_end(interp: &Interp, from: &[u8]) -> Vec<Vec<u8>> {
    let (mut way, mut at) = (Vec::new(), from.to_vec());
    while way.len() < STEPS_MAX {
        let Some(next) = least_of(interp, &at, |_| ()) else { break };
        at.clone_from(&next);
        way.push(next);
    }
    way
}

/// Of the states that follow one, that of the least rank; of several, the least by its bytes, so that it is the same however
/// the program is run.
fn least_of<R: Ord>(interp: &Interp, from: &[u8], rank: impl Fn(&[u8]) -> R) -> Option<Vec<u8>> {
    let mut states = Vec::new();
    let collect = |out: &mut SuccessorSink| interp.expand(from, out);
    let _ = SuccessorSink::collect(interp.width(), &mut states, collect).ok()?;
    let least = states.chunks_exact(interp.width()).min_by_key(|it| (rank(it), *it));
    least.map(<[u8]>::to_vec)
}
