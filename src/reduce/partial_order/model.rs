//! The model that is left: states expanded by chosen steps.

use super::choosers::{Choosers, Rooms};
use crate::analysis::instances::InstanceSets;
use crate::exec::{Expansion, Explain, Lift, Model, Obligations, Postpones, Selective, stop};
use crate::reduce::pool::Pool;
use std::sync::Arc;

/// How many states are looked at together.
const BLOCK: usize = 128;

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
    single: InstanceSets,
    rooms: Rooms,
    successors: Vec<u8>,
    /// The states of a block that put steps off.
    partial: Vec<usize>,
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
            single: self.selective.instances().sets(),
            rooms: self.choosers.rooms(),
            successors: Vec::new(),
            partial: Vec::new(),
        };
        self.rooms.with(make, |work| {
            let blocks = states.chunks(BLOCK * self.model.width());
            for (before, block) in (0..).step_by(BLOCK).zip(blocks) {
                if stop::is_asked() || out.has_failed() {
                    return;
                }
                run(before, block, out, work);
            }
        });
    }

    /// Whether anything is looked for but deadlocks, so that what is put off matters.
    fn has_monitors(&self) -> bool {
        self.choosers.has_monitors()
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
        let mut partial = 0;
        for (at, state) in states.chunks_exact(width).enumerate() {
            let enabled = work.enabled.words(at);
            if enabled.iter().all(|&word| word == 0) {
                continue;
            }
            let choice = self.choosers.choose(state, enabled, &mut work.rooms);
            work.chosen.words_mut(at).copy_from_slice(choice.chosen);
            partial += u64::from(choice.chosen != enabled);
            if !choice.is_good {
                work.partial.push(at);
            }
        }
        out.put_off(partial);
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
        let Some((owed, first)) = owed else {
            return self.selective.expand_chosen(states, &work.chosen, out);
        };
        // Those that put steps off are expanded one by one, as their successors are told apart.
        let width = self.model.width();
        for &at in &work.partial {
            work.single.clear(1);
            work.single.words_mut(0).copy_from_slice(work.chosen.words(at));
            work.chosen.words_mut(at).fill(0);
            let state = &states[at * width..][..width];
            work.successors.clear();
            let run = |out: &mut Expansion| self.selective.expand_chosen(state, &work.single, out);
            let Some(found) = out.wrap(width, &mut work.successors, run) else { return };
            out.add_findings(found.findings);
            out.leave_out(found.left_out);
            if work.successors.is_empty() {
                // Nothing can be owed: what was put off is taken at once.
                let enabled = work.enabled.words(at);
                let rest = self.choosers.rest(state, enabled, &mut work.rooms);
                work.chosen.words_mut(at).copy_from_slice(rest);
            }
            for successor in work.successors.chunks_exact(width) {
                owed.owe(first + at, successor);
                out.candidate(successor);
            }
        }
        self.selective.expand_chosen(states, &work.chosen, out);
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

    /// Where only deadlocks are looked for nothing that is put off is ever needed.
    fn expand(&self, states: &[u8], out: &mut Expansion) {
        if self.has_monitors() {
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
        hasher.update(&[self.has_monitors().into()]);
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        self.model.lifts()
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        self.has_monitors().then_some(self)
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
