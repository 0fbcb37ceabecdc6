//! Sleep sets: explores one order of transitions that commute (Godefroid and Wolper 1991; as conflict sets, Holzmann,
//! Godefroid and Pirottin 1992, Algorithm 3).
//!
//! The transitions of a state have the descending order of their instances. After a transition, the instances that
//! come before it in this order or were asleep are asleep, if they are independent of it. Their successors are
//! reached by taking them first. A sleeping instance stays enabled.

use super::blocks::in_blocks;
use super::program_chooser::{ConfigurationBuffers, ProgramChooser};
use super::sleep_sets::{EarlierInstances, SleepSets};
use super::{PartialOrderMethod, PartialOrderModel};
use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceSets;
use spillway_base::buffer_pool::BufferPool;
use spillway_exec::{LabelledSink, SelectiveStateSpace, labelled, split_by_ends};
use spillway_ir::Entity;
use spillway_model::{
    Capabilities, SleepSetStateSpace, StateSpace, SuccessorSink, SystemDescription, stop_request,
};
use std::sync::Arc;

/// A transition system that skips sleeping transitions.
pub(super) struct SleepSetReducedModel<'m> {
    /// The transition system with all chosen transitions.
    model: Box<dyn StateSpace + 'm>,
    selective: Arc<dyn SelectiveStateSpace + 'm>,
    choosers: Arc<ProgramChooser<'m>>,
    sets: Arc<SleepSets>,
    rooms: BufferPool<SleepBuffers>,
}

/// Buffers for an expansion.
struct SleepBuffers {
    states: Vec<u8>,
    enabled: InstanceSets,
    /// The sleeping and the taken instances of each state of a block.
    asleep: InstanceSets,
    taken: InstanceSets,
    rooms: ConfigurationBuffers,
    /// Labelled successors, and the end of those of each state.
    successors: Vec<u8>,
    ends: Vec<u64>,
    pair: Vec<u8>,
}

impl<'m> SleepSetReducedModel<'m> {
    pub fn new(
        model: Box<dyn StateSpace + 'm>,
        selective: Arc<dyn SelectiveStateSpace + 'm>,
        choosers: Arc<ProgramChooser<'m>>,
        sets: Arc<SleepSets>,
    ) -> SleepSetReducedModel<'m> {
        let model = match choosers.method() {
            PartialOrderMethod::Sleep => model,
            _ => Box::new(PartialOrderModel::new(model, selective.clone(), choosers.clone())),
        };
        SleepSetReducedModel { model, selective, choosers, sets, rooms: BufferPool::default() }
    }

    fn work(&self) -> SleepBuffers {
        let sets = || self.selective.instances().sets();
        SleepBuffers {
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

    fn expand_block(&self, pairs: &[u8], out: &mut SuccessorSink, work: &mut SleepBuffers) {
        let (width, whole) = (self.model.width(), self.model.width() + self.sets.value_bytes);
        work.states.clear();
        pairs.chunks_exact(whole).for_each(|pair| work.states.extend_from_slice(&pair[..width]));
        if let Err(error) = self.selective.enabled(&work.states, &mut work.enabled) {
            return out.give_up(error);
        }
        work.successors.clear();
        let SleepBuffers { states, enabled, successors, .. } = &mut *work;
        let run = |out: &mut SuccessorSink| self.selective.check_states(states, enabled, out);
        let Some(judged) = out.wrap(width, successors, run) else { return };
        out.add_findings(judged.findings);
        self.choose(pairs, out, work);
        self.take(out, work);
    }

    /// Computes the sleeping and the taken instances of each state of a block.
    fn choose(&self, pairs: &[u8], out: &mut SuccessorSink, work: &mut SleepBuffers) {
        let (width, whole) = (self.model.width(), self.model.width() + self.sets.value_bytes);
        let SleepBuffers { enabled, asleep, taken, rooms, .. } = work;
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
                PartialOrderMethod::Sleep => enabled,
                _ => self.choosers.choose(state, enabled, rooms).chosen,
            });
            bit_sets::subtract(taken, asleep.words(at));
            fewer += u64::from(taken != enabled);
        }
        out.count_partially_expanded(fewer);
    }

    /// Takes the transitions of a block, and adds the successors with their values.
    fn take(&self, out: &mut SuccessorSink, work: &mut SleepBuffers) {
        let SleepBuffers { states, asleep, taken, rooms, successors, ends, pair, .. } = work;
        let width = self.model.width();
        successors.clear();
        let run = |out: &mut LabelledSink| {
            self.selective.expand_labelled_with_ends(states, taken, ends, out)
        };
        let Some(found) = LabelledSink::wrap(out, width, successors, run) else { return };
        if stop_request::is_requested() {
            // The executor may have stopped early; its successors are dropped.
            return;
        }
        out.add_findings(found.findings);
        out.add_counters(found.counters);
        for (at, (state, after)) in
            states.chunks_exact(width).zip(split_by_ends(successors, ends)).enumerate()
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
                let earlier = EarlierInstances { asleep: asleep.words(at), taken: taken.words(at) };
                self.sets.write_value(instance, row, earlier, value);
                out.candidate(pair);
            }
        }
    }
}

impl SleepSetStateSpace for SleepSetReducedModel<'_> {
    fn value_bytes(&self) -> usize {
        self.sets.value_bytes
    }

    fn expand_awake(&self, pairs: &[u8], out: &mut SuccessorSink) {
        let whole = self.model.width() + self.sets.value_bytes;
        self.rooms.with(
            || self.work(),
            |work| {
                in_blocks(pairs, whole, out, |_, block, out| self.expand_block(block, out, work))
            },
        );
    }
}

impl StateSpace for SleepSetReducedModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
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

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: self.model.capabilities().simulation,
            postponing: None,
            cycle_proviso: None,
            sleep_sets: Some(self),
            dominance: None,
            growing: None,
            views: None,
        }
    }
}
