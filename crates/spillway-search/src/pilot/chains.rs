//! The prediction for a model that passes through states with a single chosen transition instead of storing them.
//!
//! Its levels cannot be compared with those of another model: one of its transitions is a chain of several. So the
//! prediction takes a sample of the states that the same reduction without chains stores. It counts the states that
//! chains would not store, and the work of both models on the sample.

use super::{ReducedLevels, WalkCounters, expand_all};
use crate::SearchControl;
use spill::Result;
use spillway_model::StateSpace;

/// The size of the sample in states.
const SAMPLE: usize = 1024;

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
        let states = sample.len() / width;
        let passed = (self.is_passed)(&sample)?;
        let both = sample.chunks_exact(width).zip(&passed);
        let kept: Vec<u8> =
            both.filter(|(_, passed)| !**passed).flat_map(|it| it.0).copied().collect();
        let stored = kept.len() / width;
        let plain = expand_all(self.plain, &sample)?;
        let chained = expand_all(self.chained, &kept)?;
        let before = WalkCounters {
            states,
            transitions: plain.transitions,
            choices: states as u64,
            ..WalkCounters::default()
        };
        let after = WalkCounters {
            states: stored,
            transitions: chained.transitions,
            skipped: chained.skipped,
            // The end of each chain is the first state in which the choice shows that it is stored.
            choices: chained.transitions + chained.skipped,
            looked: 0,
        };
        Ok(ChainPrediction {
            stored: stored as f64 / states.max(1) as f64,
            work: after.work() / before.work().max(1.0),
        })
    }
}
