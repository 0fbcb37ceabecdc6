//! A model of which doomed states have a successor more.

use super::{Fate, NAME};
use crate::exec::{
    ActionCounts, Expansion, Explain, Interp, Lift, Model, Postpones, Violation, any_bits,
    one_step, stop,
};
use crate::ir::ActionId;
use spill::Result;
use std::sync::Arc;

/// A model with the states and steps of another, and a step from each doomed state to where that leads.
pub(super) struct Ahead<'m> {
    model: Box<dyn Model + 'm>,
    interp: &'m Interp,
    fate: Arc<Fate>,
}

impl<'m> Ahead<'m> {
    pub(super) fn new(model: Box<dyn Model + 'm>, interp: &'m Interp, fate: Arc<Fate>) -> Self {
        Ahead { model, interp, fate }
    }
}

impl Model for Ahead<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        self.model.expand(states, out);
        for state in states.chunks_exact(self.model.width()) {
            if stop::is_asked() {
                return;
            }
            let walked = self.fate.way(self.interp, state).unwrap_or_default();
            if let Some((end, way)) = walked.split_last() {
                out.pass(way.len() as u64);
                out.candidate(end);
            }
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
        for part in &self.fate.parts {
            for cell in part.kept.cells() {
                hasher.update(&cell.0.to_le_bytes());
            }
            for rank in &part.surely {
                hasher.update(&rank.to_le_bytes());
            }
        }
        hasher.update(&[self.fate.cycles.is_some().into()]);
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        Some(self)
    }

    /// It is not used where steps are put off.
    fn postpones(&self) -> Option<&dyn Postpones> {
        None
    }
}

/// A step is one of the model's, told as it tells that, or all the steps that were walked.
impl Lift for Ahead<'_> {
    fn below(&self) -> &dyn Model {
        self.model.lifts().map_or(&*self.model, Lift::below)
    }

    fn stands_for(&self, own: &[u8], below: &[u8]) -> bool {
        match self.model.lifts() {
            Some(lift) => lift.stands_for(own, below),
            None => own == below,
        }
    }

    fn way(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let by_model = match self.model.lifts() {
            Some(lift) => lift.way(own, from, to)?,
            None => one_step(self, from, to)?,
        };
        let walked =
            || self.fate.way(self.interp, from).filter(|it| it.last().is_some_and(|it| it == to));
        Ok(by_model.or_else(walked))
    }

    fn within(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        self.model.lifts().map_or_else(|| Ok(Vec::new()), |it| it.within(from, check))
    }

    fn alike(&self, check: Violation) -> Vec<Violation> {
        self.model.lifts().map_or_else(Vec::new, |it| it.alike(check))
    }

    fn leaves_out(&self, action: ActionId) -> bool {
        self.model.lifts().is_some_and(|it| it.leaves_out(action))
    }

    fn taken_below(&self, taken: ActionCounts) -> ActionCounts {
        match self.model.lifts() {
            Some(lift) => lift.taken_below(taken),
            None => taken,
        }
    }

    fn keeps_depth(&self) -> bool {
        false
    }
}
