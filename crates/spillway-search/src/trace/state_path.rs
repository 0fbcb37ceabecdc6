//! Paths to states that no property singles out: to the end of a walk through the concrete system.
//!
//! The levels contain states of the searched system. A walk of the concrete system is followed in each system above it,
//! from the bottom up, so that the searched state that represents its end is known. If a level contains that state, the
//! path leads there backwards, as a counterexample does.

use super::lifted_position::{LiftedPosition, reduced_start};
use super::{StoredLevels, TraceFinder, not_replayed};
use crate::model_failure;
use spill::{BlockDecoder, Result};
use spillway_model::{Simulation, StateSpace, find_successor};

/// A path of the concrete system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePath {
    /// The number of its initial state.
    pub start: u64,
    /// The index of each step among the possible steps of its source state.
    pub choices: Vec<u32>,
    /// The state at its end.
    pub state: Vec<u8>,
}

impl TraceFinder<'_> {
    /// Returns a path through the levels to a state that the search does not distinguish from the end of a walk. The
    /// walk is given by its states. `None` if the levels do not contain the state, or if stopped.
    ///
    /// The path has as few steps as any if the search preserves depths and postpones nothing.
    pub fn path_to_end(
        &self,
        levels: StoredLevels<'_>,
        walk: &[Vec<u8>],
    ) -> Result<Option<StatePath>> {
        let _heeding = self.control.heed();
        let stop = || self.control.should_stop();
        let Some(wanted) = searched_end(self.model, walk, &stop)? else { return Ok(None) };
        let Some(level) = self.level_of(levels, &wanted)? else { return Ok(None) };
        self.path_to_stored(levels, level, &wanted)
    }

    /// Returns a path through the levels to the first stored state that is wanted, in the order of levels. `None` if none
    /// is, or if stopped. The searched system has to describe itself.
    pub fn path_to_first(
        &self,
        levels: StoredLevels<'_>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Option<StatePath>> {
        let _heeding = self.control.heed();
        let width = self.model.width();
        let whole = width + levels.bytes_behind(self.model);
        let (mut decoder, mut states) = (BlockDecoder::new(whole), Vec::new());
        for level in 0..levels.levels.len() {
            for segment in levels.open(self.model, level)? {
                for block in 0..segment.blocks() {
                    if self.control.should_stop() {
                        return Ok(None);
                    }
                    segment.decode(block, &mut decoder, &mut states)?;
                    segment.release(block..block + 1);
                    let found = states.chunks_exact(whole).map(|it| &it[..width]);
                    if let Some(found) = { found }.find(|it| is_wanted(it)).map(<[u8]>::to_vec) {
                        return self.path_to_stored(levels, level, &found);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns a path through the levels to a stored state of a level. `None` if stopped.
    fn path_to_stored(
        &self,
        levels: StoredLevels<'_>,
        level: usize,
        wanted: &[u8],
    ) -> Result<Option<StatePath>> {
        let Some(mut way) = self.path_backwards(levels, level as u64, wanted)? else {
            return Ok(None);
        };
        self.lifted_path(&mut || way.pop())
    }

    /// Returns the concrete path along the states of a path of the searched system. `None` if there are none, or if
    /// stopped.
    pub(crate) fn lifted_path(
        &self,
        next: &mut dyn FnMut() -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<StatePath>> {
        let stop = || self.control.should_stop();
        let Some(first) = next()? else { return Ok(None) };
        let started = LiftedPosition::start(self.model, &first, &stop)?;
        let (start, mut lifted) = started.ok_or_else(not_replayed)?;
        let mut choices = Vec::new();
        while let Some(target) = next()? {
            if !lifted.advance_to(&target, &mut choices)? {
                return Err(not_replayed());
            }
        }
        Ok(Some(StatePath { start, choices, state: lifted.state }))
    }

    /// Returns the first level that contains a state. Also returns nothing if stopped.
    fn level_of(&self, levels: StoredLevels<'_>, state: &[u8]) -> Result<Option<usize>> {
        // Values may follow the states of levels, so a state may begin in the block after that of the least value.
        let (width, behind) = (self.model.width(), levels.bytes_behind(self.model));
        let least = [state, &vec![0; behind]].concat();
        let (mut decoder, mut states) = (BlockDecoder::new(width + behind), Vec::new());
        for level in 0..levels.levels.len() {
            if self.control.should_stop() {
                return Ok(None);
            }
            for segment in levels.open(self.model, level)? {
                if segment.blocks() == 0 {
                    continue;
                }
                let first = segment.find(&least);
                for block in first..segment.blocks().min(first + 1 + behind.min(1)) {
                    segment.decode(block, &mut decoder, &mut states)?;
                    segment.release(block..block + 1);
                    if states.chunks_exact(width + behind).any(|it| it.starts_with(state)) {
                        return Ok(Some(level));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Returns the state of the searched system that represents the end of a walk of the concrete system. `None` if a system
/// in between does not take its steps one by one, or if stopped.
fn searched_end(
    searched: &dyn StateSpace,
    walk: &[Vec<u8>],
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<u8>>> {
    // The systems from the searched one downwards, without the concrete one.
    let mut layers: Vec<(&dyn StateSpace, &dyn Simulation)> = Vec::new();
    let mut system = searched;
    while let Some(simulation) = system.capabilities().simulation {
        layers.push((system, simulation));
        system = simulation.concrete_space();
    }
    let mut at: Vec<Vec<u8>> = Vec::new();
    for concrete in walk {
        let before = std::mem::take(&mut at);
        for (number, (system, lift)) in layers.iter().rev().enumerate() {
            let below = at.last().unwrap_or(concrete).clone();
            let represents = |state: &[u8]| lift.represents(state, &below);
            let found = match before.get(number) {
                None => reduced_start(*system, &represents, stop)?,
                Some(from) => find_successor(*system, from, &represents).map_err(model_failure)?,
            };
            let Some(found) = found.filter(|_| !stop()) else { return Ok(None) };
            at.push(found);
        }
    }
    Ok(at.pop().or_else(|| walk.last().cloned()))
}
