//! The model that is searched, told in steps of the program as written.

use super::{Rewritten, Structural};
use crate::exec::{
    ActionCounts, Expansion, Explain, Interp, Lift, Model, Postpones, Sleeps, Violation, one_step,
};
use crate::ir::layout::Codes;
use crate::ir::{ActionId, Layout};
use spill::Result;

/// What runs a rewritten program, told in steps of the program as written. If it takes several steps of the rewritten
/// program for one, its states are states of that program.
pub(super) struct Followed<'m> {
    model: Box<dyn Model + 'm>,
    /// What explains itself: the program as written, with what else is searched with.
    below: Box<dyn Model + 'm>,
    written: &'m Interp,
    layout: &'m Layout,
    /// Tells states from other bytes.
    codes: Codes,
    rewritten: &'m Rewritten,
}

impl<'m> Followed<'m> {
    pub fn new(
        model: Box<dyn Model + 'm>,
        below: Box<dyn Model + 'm>,
        written: &'m Interp,
        rewritten: &'m Rewritten,
    ) -> Followed<'m> {
        let layout = written.layout();
        Followed { model, below, written, layout, codes: layout.codes(), rewritten }
    }

    /// The state of the rewritten program that stands for a state.
    fn represented(&self, state: &[u8]) -> Vec<u8> {
        let mut state = state.to_vec();
        self.rewritten.passes().for_each(|it| it.represent(self.layout, &mut state));
        state
    }

    /// The states of the program as written that one step of the rewritten one comes through.
    fn step(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let is_there = |state: &[u8]| self.stands_for(to, state);
        // There are none of both: one is about processes, the other about what has none.
        match (self.rewritten.fused(), self.rewritten.structural()) {
            (None, None) => one_step(self, from, to),
            (None, Some(structural)) => Ok(structural.path(self.written, from, &is_there)),
            (Some(fused), _) => {
                let represented = |state: &[u8]| self.represented(state);
                Ok(fused.path((self.written, &represented), from, &is_there))
            }
        }
    }
}

impl Model for Followed<'_> {
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
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.below.digest()).update(&self.model.digest());
        for pass in self.rewritten.passes() {
            hasher.update(pass.name().as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.below.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        Some(self)
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        self.model.postpones()
    }

    fn sleeps(&self) -> Option<&dyn Sleeps> {
        self.model.sleeps()
    }
}

impl Lift for Followed<'_> {
    fn below(&self) -> &dyn Model {
        &*self.below
    }

    /// Whether both are stood for by the same state, and what is behind them is the same.
    fn stands_for(&self, own: &[u8], below: &[u8]) -> bool {
        let bytes = self.layout.bytes;
        let are_states =
            [own, below].into_iter().all(|it| it.len() >= bytes && self.codes.hold(&it[..bytes]));
        are_states
            && own[bytes..] == below[bytes..]
            && self.represented(&own[..bytes]) == self.represented(&below[..bytes])
    }

    fn way(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(lift) = self.model.lifts() else { return self.step(from, to) };
        let Some(own_way) = lift.way(own, own, to)? else { return Ok(None) };
        let mut way: Vec<Vec<u8>> = Vec::new();
        for next in own_way {
            let at = way.last().map_or(from, Vec::as_slice);
            let Some(mut step) = self.step(at, &next)? else { return Ok(None) };
            way.append(&mut step);
        }
        Ok(Some(way))
    }

    fn stops(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        self.model.lifts().map_or(Ok(None), |it| it.stops(own, to))
    }

    fn leaves_out(&self, action: ActionId) -> bool {
        let about = &self.written.program().actions[action];
        self.rewritten.passes().any(|it| it.leaves_out(action, about))
    }

    fn taken_below(&self, taken: ActionCounts) -> ActionCounts {
        match (self.rewritten.fused(), self.rewritten.structural()) {
            (None, None) => taken,
            (None, Some(structural)) => structural.taken_apart(&taken),
            (Some(fused), _) => fused.taken_apart(&taken),
        }
    }

    /// Where somebody waits with a step until another follows, nothing may be left to be done but such steps.
    fn within(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        let structural = self.rewritten.structural().filter(|_| check == Violation::Deadlock);
        Ok(structural.map(|it| it.to_deadlock(self.written, from)).unwrap_or_default())
    }

    fn keeps_depth(&self) -> bool {
        let structural = self.rewritten.structural();
        self.rewritten.fused().is_none()
            && structural.is_none_or(Structural::keeps_depth)
            && self.model.lifts().is_none_or(Lift::keeps_depth)
    }
}
