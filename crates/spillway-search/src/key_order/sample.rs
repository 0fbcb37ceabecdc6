//! A sample of a model's states, small enough to be encoded in many orders.

use crate::SearchControl;
use crate::model_failure;
use spill::{Result, sort_dedup, subtract};
use spillway_model::{StateSpace, SuccessorSink};

/// The number of states of each of the two parts of a sample, if the states are not too wide.
const STATES_MAX: usize = 25_000;

/// Bytes of each of the two parts of a sample.
const BYTES_MAX: usize = 2 << 20;

/// The number of generated successors for each state of a sample, at most. It bounds the time.
const SUCCESSORS_PER_STATE: u64 = 8;

/// The number of states of a level from which the deep part continues.
const BEAM: usize = 2000;

/// The number of states expanded between two checks of the sample's size.
const STEP: usize = 256;

/// A sample of the reachable states.
///
/// The first levels are as dense as in the search, but few processes have made progress in their states. So the sample
/// continues from a part of the last of them, level by level, to deep states in sparse sets. An order that does well on
/// both parts probably does well on all states.
pub(crate) struct StateSample {
    /// The first levels.
    pub(crate) early: Vec<u8>,
    /// Parts of the later levels; empty if there are none.
    pub(crate) deep: Vec<u8>,
}

impl StateSample {
    /// Takes a sample. Returns `None` if `model` has no more states than that. The result is meaningless after a stop.
    pub(super) fn take(
        model: &dyn StateSpace,
        control: &SearchControl,
    ) -> Result<Option<StateSample>> {
        let (sample, is_all) = StateSample::take_or_all(model, control)?;
        Ok((!is_all).then_some(sample))
    }

    /// Takes a sample, and returns whether it contains all states of `model`. The result is meaningless after a stop.
    pub(crate) fn take_or_all(
        model: &dyn StateSpace,
        control: &SearchControl,
    ) -> Result<(StateSample, bool)> {
        let _heeding = control.heed();
        let width = model.width();
        let states = STATES_MAX.min(BYTES_MAX / width).max(1);
        let (runs, found) = (Vec::new(), Vec::new());
        let mut walk = SampleWalk { model, control, states, runs, found, successors: 0 };
        let mut level = walk.initial()?;
        while !level.is_empty() && walk.room() > 0 {
            level = walk.next_level(&level)?;
        }
        let is_all = level.is_empty();
        let early = std::mem::take(&mut walk.found);
        walk.successors = 0;
        while !level.is_empty() && walk.room() > 0 {
            level = walk.next_level(middle(width, &level))?;
        }
        Ok((StateSample { early, deep: walk.found }, is_all))
    }
}

/// A breadth-first search in memory.
struct SampleWalk<'a> {
    model: &'a dyn StateSpace,
    control: &'a SearchControl,
    /// The number of states of each part.
    states: usize,
    /// All visited states, as sorted runs of decreasing size.
    runs: Vec<Vec<u8>>,
    /// The states of the current part, in order of discovery.
    found: Vec<u8>,
    /// The number of successors generated for the current part.
    successors: u64,
}

impl SampleWalk<'_> {
    /// Returns the number of states that still fit the current part.
    fn room(&self) -> usize {
        if self.control.should_stop() {
            return 0;
        }
        match self.successors < self.states as u64 * SUCCESSORS_PER_STATE {
            true => self.states.saturating_sub(self.found.len() / self.model.width()),
            false => 0,
        }
    }

    fn initial(&mut self) -> Result<Vec<u8>> {
        let mut level = Vec::new();
        self.add(&mut level, |model, out| model.initial(out))?;
        Ok(self.add_new(level))
    }

    /// Returns the new states reached from `level`, up to the limit.
    fn next_level(&mut self, level: &[u8]) -> Result<Vec<u8>> {
        let width = self.model.width();
        let (mut next, mut distinct) = (Vec::new(), 0);
        for some in level.chunks(STEP * width) {
            self.add(&mut next, |model, out| model.expand(some, out))?;
            if next.len() > 2 * distinct {
                self.thin_out(&mut next);
                distinct = next.len();
            }
            if distinct / width >= self.room() {
                break;
            }
        }
        Ok(self.add_new(next))
    }

    /// Adds the states that `give` generates to `level`.
    fn add(
        &mut self,
        level: &mut Vec<u8>,
        give: impl FnOnce(&dyn StateSpace, &mut SuccessorSink),
    ) -> Result<()> {
        let model = self.model;
        let collected = SuccessorSink::collect(model.width(), level, |out| give(model, out));
        let collected = collected.map_err(model_failure)?;
        self.successors += collected.counters.transitions;
        Ok(())
    }

    /// Sorts `level` and removes the visited states.
    fn thin_out(&self, level: &mut Vec<u8>) {
        let width = self.model.width();
        sort_dedup(width, level, &mut Vec::new());
        self.runs.iter().for_each(|run| subtract(width, level, run));
    }

    /// Adds the new states of `level` to the part, up to the limit, and returns them.
    fn add_new(&mut self, mut level: Vec<u8>) -> Vec<u8> {
        self.thin_out(&mut level);
        level.truncate(self.room().max(1) * self.model.width());
        self.found.extend_from_slice(&level);
        let mut run = level.clone();
        while let Some(last) = self.runs.pop_if(|last| last.len() <= run.len()) {
            run.extend_from_slice(&last);
            sort_dedup(self.model.width(), &mut run, &mut Vec::new());
        }
        self.runs.push(run);
        level
    }
}

/// Returns the states in the middle of a sorted level.
fn middle(width: usize, level: &[u8]) -> &[u8] {
    let states = level.len() / width;
    let kept = states.min(BEAM);
    let first = (states - kept) / 2;
    &level[first * width..(first + kept) * width]
}
