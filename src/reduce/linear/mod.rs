//! Variables that only count on from each other: one of each set is always 0.
//!
//! Which sets these are is told by [`linear_sets`]. Adding a constant to all of a set, modulo how many values there are, gives a
//! state with the same future, with the same constant added. So of each state that one stands for all in which
//! the first variable of each set is 0: [`Counted`] wraps a model and replaces each successor by it.
//!
//! ```text
//! bit = 0, seen = 1, message 1      stands for itself
//! bit = 1, seen = 0, message 0      becomes bit = 0, seen = 1, message 1
//! ```

use super::replacing::{CANDIDATES, replaced};
use super::{Kind, Preserved, Reduction, Stack};
use crate::analysis::linear::{LinearSet, linear_sets};
use crate::analysis::uses::Kept;
use crate::budget::{AnalysisBudget, Exceeded};
use crate::exec::{Expansion, Explain, Lift, Model, Postpones, Tally, any_bits, one_step};
use crate::ir::layout::Codes;
use crate::ir::{Layout, Program};
use crate::numbers::grouped;
use spill::Result;
use std::sync::Arc;

/// What the reduction is called.
pub const NAME: &str = "linear sets";

/// The sets of variables of a program that only count on from each other.
pub struct Linear<'m> {
    layout: &'m Layout,
    sets: Arc<[LinearSet]>,
}

impl<'m> Linear<'m> {
    /// Those of a program whose states are laid out so, unless it has none.
    pub fn of(
        program: &Program,
        layout: &'m Layout,
        budget: &AnalysisBudget,
    ) -> std::result::Result<Option<Linear<'m>>, Exceeded> {
        let sets = linear_sets(program, layout, budget)?;
        Ok((!sets.is_empty()).then(|| Linear { layout, sets: sets.into() }))
    }
}

impl<'m> Reduction<'m> for Linear<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn kind(&self) -> Kind {
        Kind::Representative
    }

    fn preserves(&self) -> Preserved {
        Preserved::ALL
    }

    fn did(&self, _: &Tally) -> Option<String> {
        let all = self.sets.iter().try_fold(1i64, |all, it| all.checked_mul(it.modulus));
        all.map(|all| format!("a state stands for up to {}", grouped(all.unsigned_abs())))
    }

    fn refuses(&self, before: &Stack<'m>) -> Option<String> {
        let others = before.names(&[Kind::Choice, Kind::Representative]);
        others.first().map(|it| format!("it has not been shown to go with {it}"))
    }

    fn over(&self, model: Box<dyn Model + 'm>) -> Box<dyn Model + 'm> {
        let (layout, sets) = (self.layout, self.sets.clone());
        Box::new(Counted { model, layout, codes: layout.codes(), sets })
    }
}

/// A model that visits states only in which the first variable of each set is 0. Its states are those of a program, perhaps
/// with bytes behind them that no set has anything to do with.
struct Counted<'m> {
    model: Box<dyn Model + 'm>,
    layout: &'m Layout,
    /// Tells states from other bytes.
    codes: Codes,
    sets: Arc<[LinearSet]>,
}

impl Counted<'_> {
    /// Replaces a state by the one that stands for it.
    fn represent(&self, state: &mut [u8]) {
        let layout = self.layout;
        for LinearSet { modulus, first_cell, cells, .. } in self.sets.iter() {
            let by = layout.get(state, *first_cell).unwrap_or_default();
            if by == 0 {
                continue;
            }
            for &(cell, kept) in cells {
                let holds = match kept {
                    Kept::Always => true,
                    Kept::Above(other, code) => layout.code(state, other) > code,
                };
                if let Some(value) = layout.get(state, cell).filter(|_| holds) {
                    layout.set(state, cell, Some((value - by).rem_euclid(*modulus)));
                }
            }
        }
    }

    fn represented(&self, state: &[u8]) -> Vec<u8> {
        let mut state = state.to_vec();
        self.represent(&mut state[..self.layout.bytes]);
        state
    }

    /// Passes on what `run` adds to an expansion, with candidates replaced.
    fn through(&self, out: &mut Expansion, run: impl FnOnce(&mut Expansion)) {
        let width = self.model.width();
        let mut candidates = Vec::with_capacity(CANDIDATES * width);
        let represent = |state: &mut [u8]| self.represent(&mut state[..self.layout.bytes]);
        replaced(out, (width, &mut candidates), represent, run);
    }
}

impl Model for Counted<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        self.through(out, |inner| self.model.initial(inner));
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        self.through(out, |inner| self.model.expand(states, inner));
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
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

impl Lift for Counted<'_> {
    fn below(&self) -> &dyn Model {
        &*self.model
    }

    fn stands_for(&self, own: &[u8], below: &[u8]) -> bool {
        let bytes = self.layout.bytes;
        let are_states =
            [own, below].into_iter().all(|it| it.len() >= bytes && self.codes.hold(&it[..bytes]));
        are_states && self.represented(own) == self.represented(below)
    }

    fn way(&self, _: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        one_step(self, from, to)
    }
}
