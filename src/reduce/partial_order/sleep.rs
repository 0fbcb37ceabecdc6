//! Sleep sets: of steps that commute one order is taken (Godefroid and Wolper 1991; as conflict sets,
//! Holzmann, Godefroid and Pirottin 1992, Algorithm 3).
//!
//! In a state the steps are taken in the order of their instances. Where one leads, those before it are asleep,
//! and those that were asleep already, as far as they are independent of it: what they lead to is reached by
//! taking them first. They stay possible as long as they are asleep.

use super::blocks::in_blocks;
use super::choosers::{Choosers, Rooms};
use super::sleep_sets::SleepSets;
use super::{Method, Reduced};
use crate::analysis::bits;
use crate::analysis::instances::InstanceSets;
use crate::exec::{
    Expansion, Explain, Labelled, Lift, Model, Postpones, Selective, Sleeps, apart, labelled, stop,
};
use crate::ir::Entity;
use crate::reduce::pool::Pool;
use std::sync::Arc;

/// A model some of whose steps are asleep.
pub(super) struct Sleeping<'m> {
    /// The model with all that are chosen.
    model: Box<dyn Model + 'm>,
    selective: Arc<dyn Selective + 'm>,
    choosers: Arc<Choosers<'m>>,
    sets: Arc<SleepSets>,
    rooms: Pool<Work>,
}

/// What expanding takes.
struct Work {
    states: Vec<u8>,
    enabled: InstanceSets,
    /// What is asleep in each state of a block, and what is taken of it.
    asleep: InstanceSets,
    taken: InstanceSets,
    rooms: Rooms,
    /// Labelled, and where those of each state end.
    successors: Vec<u8>,
    ends: Vec<u64>,
    pair: Vec<u8>,
}

impl<'m> Sleeping<'m> {
    pub fn new(
        model: Box<dyn Model + 'm>,
        selective: Arc<dyn Selective + 'm>,
        choosers: Arc<Choosers<'m>>,
        sets: Arc<SleepSets>,
    ) -> Sleeping<'m> {
        let model = match choosers.method() {
            Method::Sleep => model,
            _ => Box::new(Reduced::new(model, selective.clone(), choosers.clone())),
        };
        Sleeping { model, selective, choosers, sets, rooms: Pool::default() }
    }

    fn work(&self) -> Work {
        let sets = || self.selective.instances().sets();
        Work {
            states: Vec::new(),
            enabled: sets(),
            asleep: sets(),
            taken: sets(),
            rooms: self.choosers.rooms(),
            successors: Vec::new(),
            ends: Vec::new(),
            pair: Vec::new(),
        }
    }

    fn expand_block(&self, pairs: &[u8], out: &mut Expansion, work: &mut Work) {
        let (width, whole) = (self.model.width(), self.model.width() + self.sets.value_bytes);
        work.states.clear();
        pairs.chunks_exact(whole).for_each(|pair| work.states.extend_from_slice(&pair[..width]));
        if let Err(error) = self.selective.enabled(&work.states, &mut work.enabled) {
            return out.give_up(error);
        }
        work.successors.clear();
        let Work { states, enabled, successors, .. } = &mut *work;
        let run = |out: &mut Expansion| self.selective.judge(states, enabled, out);
        let Some(judged) = out.wrap(width, successors, run) else { return };
        out.add_findings(judged.findings);
        self.choose(pairs, out, work);
        self.take(out, work);
    }

    /// Finds out what is asleep in each state of a block, and what is taken of it.
    fn choose(&self, pairs: &[u8], out: &mut Expansion, work: &mut Work) {
        let (width, whole) = (self.model.width(), self.model.width() + self.sets.value_bytes);
        let Work { enabled, asleep, taken, rooms, .. } = work;
        asleep.clear(pairs.len() / whole);
        taken.clear(pairs.len() / whole);
        let mut fewer = 0;
        for (at, pair) in pairs.chunks_exact(whole).enumerate() {
            let (state, value) = pair.split_at(width);
            let enabled = enabled.words(at);
            if enabled.iter().all(|&word| word == 0) {
                continue;
            }
            self.sets.asleep(enabled, value, asleep.words_mut(at));
            let taken = taken.words_mut(at);
            taken.copy_from_slice(match self.choosers.method() {
                Method::Sleep => enabled,
                _ => self.choosers.choose(state, enabled, rooms).chosen,
            });
            bits::remove(taken, asleep.words(at));
            fewer += u64::from(taken != enabled);
        }
        out.put_off(fewer);
    }

    /// Takes the steps of a block, and adds the successors with their values.
    fn take(&self, out: &mut Expansion, work: &mut Work) {
        let Work { states, asleep, taken, rooms, successors, ends, pair, .. } = work;
        let width = self.model.width();
        successors.clear();
        let run =
            |out: &mut Labelled| self.selective.expand_labelled_apart(states, taken, ends, out);
        let Some(found) = out.wrap_labelled(width, successors, run) else { return };
        if stop::is_asked() {
            // It may have left early; what it gave is dropped.
            return;
        }
        out.add_findings(found.findings);
        out.leave_out(found.left_out);
        for (at, (state, after)) in
            states.chunks_exact(width).zip(apart(successors, ends)).enumerate()
        {
            if after.is_empty() {
                continue;
            }
            let dependent = self.choosers.dependent(state, rooms);
            for (successor, instance) in labelled(after, width) {
                pair.clear();
                pair.extend_from_slice(successor);
                pair.resize(width + self.sets.value_bytes, 0);
                let (instance, value) = (instance.index(), &mut pair[width..]);
                let row = dependent.row(instance);
                self.sets.write_value(instance, row, asleep.words(at), taken.words(at), value);
                out.candidate(pair);
            }
        }
    }
}

impl Sleeps for Sleeping<'_> {
    fn value_bytes(&self) -> usize {
        self.sets.value_bytes
    }

    fn expand_awake(&self, pairs: &[u8], out: &mut Expansion) {
        let whole = self.model.width() + self.sets.value_bytes;
        self.rooms.with(
            || self.work(),
            |work| {
                in_blocks(pairs, whole, out, |_, block, out| self.expand_block(block, out, work))
            },
        );
    }
}

impl Model for Sleeping<'_> {
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
        hasher.update(&self.model.digest()).update(b"asleep");
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.model.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        self.model.lifts()
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        None
    }

    fn sleeps(&self) -> Option<&dyn Sleeps> {
        Some(self)
    }
}
