//! A model of which boring states are not visited.

use super::{NAME, Part};
use crate::exec::{Collected, Expansion, Explain, Lift, Model, Postpones};
use crate::ir::Layout;
use std::sync::Arc;

/// Room for so many bytes of successors before they are looked at.
const BUFFER_BYTES: usize = 64 << 10;

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

    /// Passes on what is not boring.
    fn pass_on(&self, successors: &mut Vec<u8>, out: &mut Expansion) {
        let mut beyond = 0;
        for successor in successors.chunks_exact(self.model.width()) {
            match self.is_boring(successor) {
                true => beyond += 1,
                false => out.candidate(successor),
            }
        }
        out.leave_behind(beyond);
        successors.clear();
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
        let mut successors = Vec::new();
        let collected = out.wrap_in_batches(
            self.model.width(),
            &mut successors,
            BUFFER_BYTES,
            |successors, out| self.pass_on(successors, out),
            |inner| self.model.expand(states, inner),
        );
        let Some(collected) = collected else { return };
        self.pass_on(&mut successors, out);
        let Collected { left_out, findings, passed, put_off, .. } = collected;
        out.leave_out(left_out);
        out.put_off(put_off);
        out.pass(passed);
        out.add_findings(findings);
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
