//! The model that is left: states expanded by chosen steps.

use super::Proviso;
use super::blocks::in_blocks;
use super::chains::{Chains, ChainsRoom};
use super::choice::Choice;
use super::choosers::Choosers;
use crate::analysis::bits;
use crate::analysis::instances::InstanceSets;
use crate::exec::{
    Expansion, Explain, Lift, Model, Obligations, Postpones, Selective, any_bits, apart, stop,
};
use crate::reduce::pool::Pool;
use crate::reduce::simultaneous::{Steps, Together};
use spill::Result;
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
    /// Of each state of the block what is taken together.
    together: Together,
    /// The states of a block whose successors are looked at.
    partial: Vec<Partial>,
    successors: Vec<u8>,
    ends: Vec<u64>,
    /// How many states of the block put steps off.
    put_off: u64,
    chains: ChainsRoom,
    /// The ends of the chains that successors begin.
    reached: Vec<u8>,
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
            together: Together::default(),
            partial: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
            put_off: 0,
            chains: ChainsRoom::new(self.chains()),
            reached: Vec::new(),
        };
        self.rooms.with(make, |work| {
            in_blocks(states, self.model.width(), out, |before, block, out| {
                run(before, block, out, work);
            });
            self.choosers.note(&mut work.chains.rooms);
        });
    }

    /// Looks at a block of states: what is enabled, what is chosen. False if that failed.
    fn look(&self, states: &[u8], out: &mut Expansion, work: &mut Work) -> bool {
        let width = self.model.width();
        if let Err(error) = self.selective.enabled(states, &mut work.enabled) {
            out.give_up(error);
            return false;
        }
        work.chosen.clear(states.len() / width);
        work.together.clear();
        work.partial.clear();
        work.put_off = 0;
        for (at, state) in states.chunks_exact(width).enumerate() {
            let enabled = work.enabled.words(at);
            if enabled.iter().all(|&word| word == 0) {
                if self.takes_several() {
                    work.together.add(enabled, &[]);
                }
                continue;
            }
            let Choice { chosen, is_good, several } =
                self.choosers.choose(state, enabled, &mut work.chains.rooms);
            if self.takes_several() {
                work.together.add(chosen, several);
            }
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
        // Where all is taken there is code that does everything at once.
        let comes_through = self.choosers.comes_through();
        if work.put_off == 0 && !comes_through {
            return self.model.expand(states, out);
        }
        self.selective.judge(states, &work.enabled, out);
        if work.partial.is_empty() && !comes_through {
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
        let Work { enabled, chosen, together, partial, successors, ends, .. } = work;
        let are_taken = match self.takes_several() {
            true => self.steps().expand(states, together, (successors, ends), out),
            false => self.take(states, chosen, successors, ends, out),
        };
        if !are_taken {
            return;
        }
        let Work { put_off, reached, chains, .. } = work;
        if !self.run_on(successors, reached, chains, out) {
            return;
        }
        let runs_on = self.choosers.runs_on();
        let mut besides = self.selective.instances().sets();
        besides.clear(enabled.len());
        let mut is_any = false;
        let all_after: Vec<&[u8]> = apart(successors, ends).collect();
        let all_reached: Vec<&[u8]> =
            apart(if runs_on { reached } else { successors }, ends).collect();
        for &Partial { at, is_good } in partial.iter() {
            let state = &states[at * width..][..width];
            let (mut after, ends) =
                (all_after[at].chunks_exact(width), all_reached[at].chunks_exact(width));
            let leads_nowhere = self.choosers.must_lead_on() && after.all(|it| it == state);
            if leads_nowhere || self.is_taken_whole(state, ends.clone()) {
                *put_off -= 1;
                is_any = true;
                besides.words_mut(at).copy_from_slice(enabled.words(at));
                bits::remove(besides.words_mut(at), chosen.words(at));
            } else if is_good {
                continue;
            } else if self.is_taken_up(state, ends.clone()) {
                is_any = true;
                besides.words_mut(at).copy_from_slice(self.choosers.rest(
                    state,
                    enabled.words(at),
                    &mut chains.rooms,
                ));
            } else if let Some((owed, first)) = &mut owed {
                ends.for_each(|successor| owed.owe(*first + at, successor));
            }
        }
        if is_any && !runs_on {
            self.selective.expand_chosen(states, &besides, out);
        } else if is_any && self.take(states, &besides, successors, ends, out) {
            self.run_on(successors, reached, chains, out);
        }
    }

    /// Collects the steps of some states; false if that failed.
    fn take(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        successors: &mut Vec<u8>,
        ends: &mut Vec<u64>,
        out: &mut Expansion,
    ) -> bool {
        successors.clear();
        let run = |out: &mut Expansion| self.selective.expand_apart(states, chosen, ends, out);
        let Some(found) = out.wrap(self.model.width(), successors, run) else { return false };
        if stop::is_asked() {
            return false;
        }
        out.add_findings(found.findings);
        out.leave_out(found.left_out);
        true
    }

    /// Adds successors, or, where states are run through, the ends of the chains that they begin, which it collects;
    /// false if that failed.
    fn run_on(
        &self,
        successors: &[u8],
        reached: &mut Vec<u8>,
        room: &mut ChainsRoom,
        out: &mut Expansion,
    ) -> bool {
        let mut ends = successors;
        if self.choosers.runs_on() {
            reached.clear();
            reached.extend_from_slice(successors);
            match self.chains().run_on(reached, room) {
                Ok(passed) => {
                    out.pass(passed);
                    out.add_taken(std::mem::take(&mut room.taken));
                }
                Err(error) => {
                    out.give_up(error);
                    return false;
                }
            }
            ends = reached;
        }
        ends.chunks_exact(self.model.width()).for_each(|it| out.candidate(it));
        true
    }

    /// Whether a step may be several that are taken together.
    fn takes_several(&self) -> bool {
        self.choosers.method().takes_several()
    }

    fn steps(&self) -> Steps<'_, 'm> {
        Steps { selective: &*self.selective, width: self.model.width() }
    }

    fn chains(&self) -> Chains<'_, 'm> {
        Chains { selective: &*self.selective, choosers: &self.choosers, width: self.model.width() }
    }

    /// Whether nothing is put off in a state of whole runs, given what comes of what it would take: on each cycle there has to
    /// be such a state, and so one that a step leads from which does not climb.
    fn is_taken_whole<'s>(
        &self,
        state: &[u8],
        mut after: impl ExactSizeIterator<Item = &'s [u8]>,
    ) -> bool {
        self.choosers.is_of_runs()
            && (after.len() == 0 || after.any(|it| !self.choosers.climbs(state, it)))
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
            _ => !after.any(|successor| self.choosers.climbs(state, successor)),
        }
    }
}

impl Reduced<'_> {
    /// The states on a way of steps that are taken together: the least with the fewest steps.
    fn together(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let mut enabled = self.selective.instances().sets();
        self.selective.enabled(from, &mut enabled)?;
        if enabled.is_none(0) {
            return Ok(None);
        }
        let (mut rooms, mut together) = (self.choosers.rooms(), Together::default());
        let Choice { chosen, several, .. } =
            self.choosers.choose(from, enabled.words(0), &mut rooms);
        together.add(chosen, several);
        let ways = self.steps().ways(from, together.of(0))?;
        let there = ways.into_iter().filter(|it| it.last().is_some_and(|it| it == to));
        Ok(there.min_by(|one, other| (one.len(), one).cmp(&(other.len(), other))))
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

    /// Where states are taken up again they are expanded whole by whoever does not do so, and by what is taken together,
    /// which leads elsewhere.
    fn expand(&self, states: &[u8], out: &mut Expansion) {
        if self.choosers.postpones_steps() {
            self.model.expand(states, out);
            if !self.takes_several() {
                return;
            }
        }
        self.in_blocks(states, out, |_, block, out, work| {
            self.expand_block(block, out, None, work);
        });
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        match self.choosers.comes_through() {
            true => any_bits(self.width()),
            false => self.model.write_masks(),
        }
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest());
        hasher.update(b"partial order ").update(self.choosers.method().name().as_bytes());
        hasher
            .update(&[self.choosers.has_monitors().into(), self.choosers.postpones_steps().into()]);
        if self.choosers.runs_on() {
            hasher.update(self.choosers.proviso().name().as_bytes());
        }
        if self.choosers.is_of_runs() {
            hasher.update(b"whole runs");
        }
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        match self.choosers.comes_through() {
            true => Some(self),
            false => self.model.lifts(),
        }
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        self.choosers.postpones_steps().then_some(self)
    }
}

/// Where states are run through a step is all the steps of a chain, or those that are taken together.
impl Lift for Reduced<'_> {
    fn below(&self) -> &dyn Model {
        &*self.model
    }

    fn stands_for(&self, own: &[u8], below: &[u8]) -> bool {
        own == below
    }

    /// Of several ways one with the fewest steps.
    fn way(&self, _: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let mut successors = Vec::new();
        let run = |out: &mut Expansion| self.model.expand(from, out);
        let _ = Expansion::collect(self.width(), &mut successors, run)?;
        if self.takes_several() {
            let is_one = successors.chunks_exact(self.width()).any(|it| it == to);
            return if is_one { Ok(Some(vec![to.to_vec()])) } else { self.together(from, to) };
        }
        let (chains, mut least) = (self.chains(), None::<Vec<Vec<u8>>>);
        let mut room = ChainsRoom::new(chains);
        for successor in successors.chunks_exact(self.width()) {
            let way = chains.along(successor, &mut room)?;
            let is_less = least.as_ref().is_none_or(|it| (way.len(), &way) < (it.len(), it));
            if is_less && way.last().is_some_and(|it| it == to) {
                least = Some(way);
            }
        }
        Ok(least)
    }

    fn stops(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        if self.takes_several() { self.together(own, to) } else { Ok(None) }
    }

    fn keeps_depth(&self) -> bool {
        false
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
                let rest =
                    self.choosers.rest(state, work.enabled.words(at), &mut work.chains.rooms);
                work.chosen.words_mut(at).copy_from_slice(rest);
            }
            self.selective.expand_chosen(block, &work.chosen, out);
        });
    }
}
