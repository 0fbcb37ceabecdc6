//! The prediction for a model that passes through states with a single chosen transition instead of storing them.
//!
//! Its levels cannot be compared with those of another model: one of its transitions is a chain of several. So the
//! prediction takes a sample of the states that the same reduction without chains stores. It counts the states that
//! chains would not store, and the work of both models on the sample.

use super::{ReducedLevels, WalkCounters, expand_all, spread_sample};
use crate::SearchControl;
use spill::Result;
use spillway_model::StateSpace;

/// The size of the sample in states.
const SAMPLE: usize = 1024;

/// The number of states whose chains are followed if chains pass through all states of the sample.
const STARTS: usize = 16;

/// A reduction without chains and the same one with chains.
pub struct ChainTrial<'t> {
    /// The model whose states are all stored.
    pub plain: &'t dyn StateSpace,
    /// The first levels of that model.
    pub levels: &'t ReducedLevels,
    /// The model with chains.
    pub chained: &'t dyn StateSpace,
    /// Returns for each of some states whether a chain passes through it.
    pub is_passed: &'t dyn Fn(&[u8]) -> Result<Vec<bool>>,
}

/// What chains save of a model without chains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainPrediction {
    /// The share of the states that is stored.
    pub stored: f64,
    /// The work relative to that without chains.
    pub work: f64,
}

impl ChainTrial<'_> {
    /// Predicts what chains save. Returns an error if the model fails. The result is meaningless after a stop.
    pub fn predict(&self, control: &SearchControl) -> Result<ChainPrediction> {
        let _heeding = control.heed();
        let width = self.plain.width();
        let sample = self.levels.late_sample(SAMPLE);
        let states = (sample.len() / width).max(1) as f64;
        let passed = (self.is_passed)(&sample)?;
        let both = sample.chunks_exact(width).zip(&passed);
        let kept: Vec<u8> =
            both.filter(|(_, passed)| !**passed).flat_map(|it| it.0).copied().collect();
        let plain = expand_all(self.plain, &sample)?;
        let before = WalkCounters {
            states: sample.len() / width,
            transitions: plain.transitions,
            choices: (sample.len() / width) as u64,
            ..WalkCounters::default()
        };
        let each = match kept.is_empty() {
            false => self.expand_stored(&kept, (kept.len() / width) as f64 / states)?,
            true => self.expand_passed(&spread_sample(&sample, width, STARTS))?,
        };
        Ok(ChainPrediction {
            stored: each.share,
            work: each.share * each.work * states / before.work().max(1.0),
        })
    }

    /// Expands stored states, which are this share of all states.
    fn expand_stored(&self, kept: &[u8], share: f64) -> Result<StoredStates> {
        let (stored, found) = (kept.len() / self.plain.width(), expand_all(self.chained, kept)?);
        let work = chain_work(stored, found.transitions, found.skipped) / stored.max(1) as f64;
        Ok(StoredStates { share, work })
    }

    /// Estimates the share of stored states if there is none in the sample. Chains pass through all of its states, on
    /// average in the middle of a chain. Several chains may pass through a state, which a sample does not show.
    fn expand_passed(&self, passed: &[u8]) -> Result<StoredStates> {
        let (starts, found) =
            (passed.len() / self.plain.width(), expand_all(self.chained, passed)?);
        let (transitions, skipped) = (found.transitions, 2 * found.skipped);
        let share = starts as f64 / (starts as u64 + skipped).max(1) as f64;
        let work = chain_work(starts, transitions, skipped) / starts.max(1) as f64;
        Ok(StoredStates { share, work })
    }
}

/// The states that are stored with chains.
struct StoredStates {
    /// Their share of the states without chains.
    share: f64,
    /// The work for each.
    work: f64,
}

/// Returns the work of expanding stored states with chains.
fn chain_work(states: usize, transitions: u64, skipped: u64) -> f64 {
    // The end of each chain is the first state in which the choice shows that it is stored.
    let choices = transitions + skipped;
    WalkCounters { states, transitions, skipped, choices, looked: 0 }.work()
}
