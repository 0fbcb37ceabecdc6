//! The rounds of the search on disk.
//!
//! In each round the search reaches all states of the product, where the states of a set are fully expanded. If the
//! other states have no cycle, the cycle proviso holds. Otherwise the next round has a larger set, and the search starts
//! from the beginning. The first rounds list the states of the set. Later rounds, and rounds whose list would be too
//! long, describe the set by the [descents](StepDescent) of chosen transitions. They prefer choices whose transitions
//! ascend. The first of them has no descents yet. `docs/reductions/cycles.md` has the proof.

use super::owcty::{CycleSearch, RoundNumbers};
use super::proviso::{FullStates, ReducedProduct};
use crate::checkpoint::FORMAT;
pub use crate::files::PROVISO;
use crate::files::{CYCLES, MANIFEST};
use crate::orphan_files::remove_orphan_files;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Error, Result};
use spillway_model::{StateSpace, StepDescent};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The number of rounds that list states to expand fully. Later rounds describe them.
const LISTING_ROUNDS: u32 = 4;

/// A round of the search, as it is saved.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
struct SavedRound {
    /// The digest of the model.
    digest: [u8; 32],
    /// The number of the round, from 1.
    number: u32,
    /// Whether the other files of the directory belong to the round before.
    is_unbegun: bool,
    /// The choosing parts of the states to expand fully, in ascending order, and the length of one.
    parts: Vec<u8>,
    part_length: u32,
    /// In a round that describes states, the descents of transitions before which states are fully expanded: part, and
    /// value before and after.
    descents: Option<Vec<Option<[u32; 3]>>>,
    /// Seconds of the rounds before.
    seconds: f64,
}

/// A round of the search on disk for accepting cycles of a reduced product.
#[derive(Clone, Debug)]
pub struct ProvisoRound {
    digest: [u8; 32],
    number: u32,
    is_unbegun: bool,
    full: FullStates,
    /// The descents, in a round that describes states.
    descents: Option<BTreeSet<StepDescent>>,
    seconds: f64,
}

impl ProvisoRound {
    /// Returns the round of a search in a directory, the first one of a new search.
    ///
    /// # Errors
    ///
    /// If the disk fails, or the saved round is damaged or belongs to another model.
    pub fn load(disk: &dyn Disk, model: &dyn StateSpace) -> Result<ProvisoRound> {
        let digest = model.digest();
        if !disk.list()?.iter().any(|(name, _)| name == PROVISO) {
            return Ok(ProvisoRound {
                digest,
                number: 1,
                is_unbegun: false,
                full: FullStates::default(),
                descents: None,
                seconds: 0.0,
            });
        }
        let saved: SavedRound = spill::load_value(disk, PROVISO, FORMAT)?;
        let length = saved.part_length as usize;
        let is_damaged = match saved.parts.len() {
            0 => false,
            parts => length == 0 || parts % length != 0,
        };
        if saved.digest != digest || is_damaged {
            return Err(Error::corrupt(PROVISO, 0, "it belongs to another model"));
        }
        let mut full = FullStates::default();
        full.extend(saved.parts.chunks_exact(length.max(1)));
        let SavedRound { number, is_unbegun, seconds, .. } = saved;
        let descent = |it: Option<[u32; 3]>| match it {
            None => StepDescent::Equal,
            Some([part, from, to]) => StepDescent::Part { part, from, to },
        };
        let descents = saved.descents.map(|all| all.into_iter().map(descent).collect());
        Ok(ProvisoRound { digest, number, is_unbegun, full, descents, seconds })
    }

    /// Returns the numbers of the round for reports.
    pub fn numbers(&self) -> RoundNumbers {
        RoundNumbers { number: self.number, full_states: self.full.len() as u64 }
    }

    /// Returns whether the other files of the directory belong to the round before.
    pub fn is_unbegun(&self) -> bool {
        self.is_unbegun
    }

    /// Returns the seconds of the rounds before.
    pub fn seconds_before(&self) -> f64 {
        self.seconds
    }

    /// Returns the product of the round, if a search can enforce the cycle proviso of the model.
    pub fn product<'a>(&'a self, model: &'a dyn StateSpace) -> Option<ReducedProduct<'a>> {
        ReducedProduct::of(model, &self.full, self.descents.as_ref())
    }

    /// Removes the files of the previous round, if this round has not started. Returns whether it has not started.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn begin(&mut self, disk: &dyn Disk) -> Result<bool> {
        if !self.is_unbegun {
            return Ok(false);
        }
        let files = disk.list()?;
        let has = |name: &&str| files.iter().any(|(it, _)| it == name);
        [CYCLES, MANIFEST].into_iter().filter(has).try_for_each(|name| disk.remove(name))?;
        remove_orphan_files(disk, |_| false)?;
        self.is_unbegun = false;
        self.commit(disk)?;
        Ok(true)
    }

    /// Returns the next round, given a search that found states on cycles without a fully expanded state. Returns nothing
    /// if the search is stopped. The set of states to expand fully takes at most `bytes_max` bytes of memory.
    ///
    /// # Errors
    ///
    /// If the disk or the model fails.
    pub fn next(
        &self,
        product: &ReducedProduct<'_>,
        search: &CycleSearch<'_>,
        bytes_max: u64,
    ) -> Result<Option<ProvisoRound>> {
        let mut next = ProvisoRound {
            number: self.number + 1,
            is_unbegun: true,
            seconds: self.seconds + search.seconds(),
            ..self.clone()
        };
        if let Some(descents) = &mut next.descents {
            let before = descents.len();
            let mut visit = |state: &[u8]| {
                descents.extend(product.descents_from(state)?);
                Ok(ControlFlow::Continue(()))
            };
            if !search.visit_remaining(&mut visit)? {
                return Ok(None);
            }
            return match descents.len() > before {
                true => Ok(Some(next)),
                false => Err(only_ascending()),
            };
        }
        let mut visit = |state: &[u8]| {
            if !product.descents_from(state)?.is_empty() {
                next.full.insert(product.choosing_part(state));
            }
            Ok(match next.full.bytes() <= bytes_max {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        };
        let lists = self.number < LISTING_ROUNDS;
        if lists && !search.visit_remaining(&mut visit)? {
            return Ok(None);
        }
        let is_too_long = next.full.bytes() > bytes_max;
        if is_too_long {
            next.full = FullStates::default();
        }
        if !lists || is_too_long {
            next.descents = Some(BTreeSet::new());
        } else if next.full.len() == self.full.len() {
            return Err(only_ascending());
        }
        Ok(Some(next))
    }

    /// Makes the round durable.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn commit(&self, disk: &dyn Disk) -> Result<()> {
        let parts = self.full.to_sorted();
        let part_length = parts.len().checked_div(self.full.len()).unwrap_or(0) as u32;
        let descent = |it: &StepDescent| match *it {
            StepDescent::Equal => None,
            StepDescent::Part { part, from, to } => Some([part, from, to]),
        };
        let descents = self.descents.as_ref().map(|all| all.iter().map(descent).collect());
        let ProvisoRound { digest, number, is_unbegun, seconds, .. } = *self;
        let saved =
            SavedRound { digest, number, is_unbegun, parts, part_length, descents, seconds };
        spill::commit_value(disk, PROVISO, FORMAT, &saved)
    }
}

fn only_ascending() -> Error {
    Error::Source { reason: "a cycle has only ascending steps".into() }
}
