//! States of all depths, by random walks.
//!
//! The first levels are start-up in most models: few processes have made progress in their states. Random walks of
//! several lengths lead to the states in which a search spends its time (West, "Protocol validation by random state
//! exploration", 1986). The walks have a fixed seed. A walk numbers the successors of a state as the model generates
//! them. So it does not depend on the key order.

use crate::{SearchControl, model_failure};
use spill::Result;
use spillway_base::random::SplitMix64;
use spillway_model::{ExpansionOutcome, StateSpace, SuccessorSink};

/// The seed of the walks.
const SEED: u64 = 0x5e_ed_0f_a1_1d_ee_95_00;

/// The logarithms of the lengths of the shortest and of the longest walk.
const LENGTHS: std::ops::Range<u32> = 5..13;

/// The bytes of all states on the walks, at most. It bounds the time for wide states.
const BYTES_MAX: usize = 8 << 20;

/// Returns the states in which random walks end, without repetition. If a walk comes to a state without successors, a
/// random state of its path is taken instead. Returns an error if the model fails. The result is meaningless after a stop.
pub(super) fn deep_states(model: &dyn StateSpace, control: &SearchControl) -> Result<Vec<u8>> {
    let _heeding = control.heed();
    let width = model.width();
    let mut walker = RandomWalker { model, random: SplitMix64::new(SEED), successors: Vec::new() };
    let mut ends: Vec<Vec<u8>> = Vec::new();
    let mut room = BYTES_MAX / width;
    for length in LENGTHS.map(|it| 1 << it) {
        if length > room || control.should_stop() {
            break;
        }
        room -= length;
        let path = walker.walk(length)?;
        let states = path.len() / width;
        let at = if states > length { length } else { walker.random.below(states.max(1)) };
        let end = path[at * width..].iter().take(width).copied().collect();
        if !ends.contains(&end) && !end.is_empty() {
            ends.push(end);
        }
    }
    Ok(ends.concat())
}

/// Walks at random.
struct RandomWalker<'m> {
    model: &'m dyn StateSpace,
    random: SplitMix64,
    successors: Vec<u8>,
}

impl RandomWalker<'_> {
    /// Returns the states of a walk with at most `length` transitions.
    fn walk(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut path = Vec::new();
        let mut next = self.draw(|model, out| model.initial(out))?;
        while let Some(state) = next.take() {
            path.extend_from_slice(&state);
            if path.len() <= length * state.len() {
                next = self.draw(|model, out| model.expand(&state, out))?;
            }
        }
        Ok(path)
    }

    /// Returns one of the states that `generate` generates, or `None` if there are none.
    fn draw(
        &mut self,
        generate: impl FnOnce(&dyn StateSpace, &mut SuccessorSink),
    ) -> Result<Option<Vec<u8>>> {
        let (model, width) = (self.model, self.model.width());
        self.successors.clear();
        let collected =
            SuccessorSink::collect(width, &mut self.successors, |out| generate(model, out));
        let _: ExpansionOutcome = collected.map_err(model_failure)?;
        let states = self.successors.len() / width;
        if states == 0 {
            return Ok(None);
        }
        let drawn = self.random.below(states);
        Ok(Some(self.successors[drawn * width..][..width].to_vec()))
    }
}
