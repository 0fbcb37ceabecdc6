//! The model that is left: states expanded by chosen steps.

use super::Proviso;
use super::blocks::in_blocks;
use super::choice::Choice;
use super::choosers::{Choosers, Rooms};
use crate::analysis::bits;
use crate::analysis::instances::InstanceSets;
use crate::exec::{
    Expansion, Explain, Lift, Model, Obligations, Postpones, Selective, apart, stop,
};
use crate::reduce::pool::Pool;
use std::sync::Arc;

/// A model whose states are expanded by some of their steps.
pub(super) struct Reduced<'m> {
    model: Box<dyn Model + 'm>,
    selective: Arc<dyn Selective + 'm>,
    choosers: Arc<Choosers<'m>>,
    rooms: Pool<Work>,
}

/// What expanding takes.
struct Work {
    enabled: InstanceSets,
    chosen: InstanceSets,
    rooms: Rooms,
    /// The states of a block whose successors are looked at.
    partial: Vec<Partial>,
    successors: Vec<u8>,
    ends: Vec<u64>,
    /// How many states of the block put steps off.
    put_off: u64,
}

/// A state of a block that puts steps off.
#[derive(Clone, Copy)]
struct Partial {
    at: usize,
    /// Whether none of these will have to be taken up.
    is_good: bool,
}

impl<'m> Reduced<'m> {
    pub fn new(
        model: Box<dyn Model + 'm>,
        selective: Arc<dyn Selective + 'm>,
        choosers: Arc<Choosers<'m>>,
    ) -> Reduced<'m> {
        Reduced { model, selective, choosers, rooms: Pool::default() }
    }

    /// Does something with each block of states, and the number of states before it, until it is time to
    /// leave.
    fn in_blocks(
        &self,
        states: &[u8],
        out: &mut Expansion,
        mut run: impl FnMut(usize, &[u8], &mut Expansion, &mut Work),
    ) {
        let make = || Work {
            enabled: self.selective.instances().sets(),
            chosen: self.selective.instances().sets(),
            rooms: self.choosers.rooms(),
            partial: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
            put_off: 0,
        };
        self.rooms.with(make, |work| {
            in_blocks(states, self.model.width(), out, |before, block, out| {
                run(before, block, out, work);
            });
        });
    }

    /// Looks at a block of states: what is enabled, what is wrong, what is chosen. False if that failed.
    fn look(&self, states: &[u8], out: &mut Expansion, work: &mut Work) -> bool {
        let width = self.model.width();
        if let Err(error) = self.selective.enabled(states, &mut work.enabled) {
            out.give_up(error);
            return false;
        }
        self.selective.judge(states, &work.enabled, out);
        work.chosen.clear(states.len() / width);
        work.partial.clear();
        work.put_off = 0;
        for (at, state) in states.chunks_exact(width).enumerate() {
            let enabled = work.enabled.words(at);
            if enabled.iter().all(|&word| word == 0) {
                continue;
            }
            let Choice { chosen, is_good } = self.choosers.choose(state, enabled, &mut work.rooms);
            work.chosen.words_mut(at).copy_from_slice(chosen);
            if chosen != enabled {
                work.put_off += 1;
                if !is_good || self.choosers.must_lead_on() {
                    work.partial.push(Partial { at, is_good });
                }
            }
        }
        true
    }

    /// Expands a block by what is chosen; tells `owed` of what is put off, if anybody wants to know.
    fn expand_block(
        &self,
        states: &[u8],
        out: &mut Expansion,
        owed: Option<(&mut Obligations, usize)>,
        work: &mut Work,
    ) {
        if !self.look(states, out, work) {
            return;
        }
        if work.partial.is_empty() {
            self.selective.expand_chosen(states, &work.chosen, out);
        } else {
            self.expand_apart(states, out, owed, work);
        }
        out.put_off(work.put_off);
    }

    /// The same where what comes of states that put steps off is looked at.
    fn expand_apart(
        &self,
        states: &[u8],
        out: &mut Expansion,
        mut owed: Option<(&mut Obligations, usize)>,
        work: &mut Work,
    ) {
        let width = self.model.width();
        let Work { enabled, chosen, rooms, partial, successors, ends, put_off } = work;
        successors.clear();
        let run = |out: &mut Expansion| self.selective.expand_apart(states, chosen, ends, out);
        let Some(found) = out.wrap(width, successors, run) else { return };
        if stop::is_asked() {
            return;
        }
        out.add_findings(found.findings);
        out.leave_out(found.left_out);
        successors.chunks_exact(width).for_each(|it| out.candidate(it));
        let mut besides = self.selective.instances().sets();
        besides.clear(enabled.len());
        let mut is_any = false;
        let all_after: Vec<&[u8]> = apart(successors, ends).collect();
        for &Partial { at, is_good } in partial.iter() {
            let state = &states[at * width..][..width];
            let after = all_after[at].chunks_exact(width);
            if self.choosers.must_lead_on() && after.clone().all(|it| it == state) {
                *put_off -= 1;
                is_any = true;
                besides.words_mut(at).copy_from_slice(enabled.words(at));
                bits::remove(besides.words_mut(at), chosen.words(at));
            } else if is_good {
                continue;
            } else if self.is_taken_up(state, after.clone()) {
                is_any = true;
                besides.words_mut(at).copy_from_slice(self.choosers.rest(
                    state,
                    enabled.words(at),
                    rooms,
                ));
            } else if let Some((owed, first)) = &mut owed {
                after.for_each(|successor| owed.owe(*first + at, successor));
            }
        }
        if is_any {
            self.selective.expand_chosen(states, &besides, out);
        }
    }

    /// Whether what a state puts off is taken up at once, given what comes of what it takes.
    fn is_taken_up<'s>(
        &self,
        state: &[u8],
        mut after: impl ExactSizeIterator<Item = &'s [u8]>,
    ) -> bool {
        match self.choosers.proviso() {
            // Without a successor nothing can be owed.
            Proviso::Levels => after.len() == 0,
            Proviso::Static => !after.any(|successor| self.choosers.climbs(state, successor)),
        }
    }
}

impl Model for Reduced<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        self.model.initial(out);
    }

    /// Where states are taken up again they are expanded whole by whoever does not do so.
    fn expand(&self, states: &[u8], out: &mut Expansion) {
        if self.choosers.postpones_steps() {
            return self.model.expand(states, out);
        }
        self.in_blocks(states, out, |_, block, out, work| {
            self.expand_block(block, out, None, work);
        });
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest());
        hasher.update(b"partial order ").update(self.choosers.method().name().as_bytes());
        hasher
            .update(&[self.choosers.has_monitors().into(), self.choosers.postpones_steps().into()]);
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        self.model.lifts()
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        self.choosers.postpones_steps().then_some(self)
    }
}

impl Postpones for Reduced<'_> {
    fn expand_some(&self, states: &[u8], out: &mut Expansion, owed: &mut Obligations) {
        self.in_blocks(states, out, |before, block, out, work| {
            self.expand_block(block, out, Some((owed, before)), work);
        });
    }

    fn expand_rest(&self, states: &[u8], out: &mut Expansion) {
        let width = self.model.width();
        self.in_blocks(states, out, |_, block, out, work| {
            if let Err(error) = self.selective.enabled(block, &mut work.enabled) {
                return out.give_up(error);
            }
            work.chosen.clear(block.len() / width);
            for (at, state) in block.chunks_exact(width).enumerate() {
                let rest = self.choosers.rest(state, work.enabled.words(at), &mut work.rooms);
                work.chosen.words_mut(at).copy_from_slice(rest);
            }
            self.selective.expand_chosen(block, &work.chosen, out);
        });
    }
}
