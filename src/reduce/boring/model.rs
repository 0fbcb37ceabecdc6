//! A model of which boring states are not visited.

use super::{NAME, Part};
use crate::exec::{Expansion, Explain, Lift, Model, Postpones};
use crate::ir::Layout;
use crate::reduce::replacing::sifted;
use std::sync::Arc;

/// A model without the steps of another that lead to boring states.
pub(super) struct Explored<'m> {
    model: Box<dyn Model + 'm>,
    layout: &'m Layout,
    parts: Arc<[Part]>,
}

impl<'m> Explored<'m> {
    pub(super) fn new(model: Box<dyn Model + 'm>, layout: &'m Layout, parts: Arc<[Part]>) -> Self {
        Explored { model, layout, parts }
    }

    fn is_boring(&self, state: &[u8]) -> bool {
        !self.parts.iter().any(|it| it.may_reach(self.layout, state))
    }
}

impl Model for Explored<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// Initial states are visited in any case.
    fn initial(&self, out: &mut Expansion) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        let (width, mut successors) = (self.model.width(), Vec::new());
        let pass_on = |successor: &mut [u8], out: &mut Expansion| match self.is_boring(successor) {
            true => out.leave_behind(1),
            false => out.candidate(successor),
        };
        sifted(out, (width, &mut successors), pass_on, |inner| self.model.expand(states, inner));
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
        for part in self.parts.iter() {
            for cell in part.kept.cells() {
                hasher.update(&cell.0.to_le_bytes());
            }
            for word in &part.may_reach {
                hasher.update(&word.to_le_bytes());
            }
        }
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    /// Its states and steps are the model's.
    fn lifts(&self) -> Option<&dyn Lift> {
        self.model.lifts()
    }

    /// It is not used where steps are put off.
    fn postpones(&self) -> Option<&dyn Postpones> {
        None
    }
}
