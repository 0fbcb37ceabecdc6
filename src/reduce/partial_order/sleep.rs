//! Sleep sets: of steps that commute one order is taken (Godefroid and Wolper 1991; as conflict sets,
//! Holzmann, Godefroid and Pirottin 1992, Algorithm 3).
//!
//! In a state the steps are taken in the order of their instances. Where one leads, those before it are asleep,
//! and those that were asleep already, as far as they are independent of it: what they lead to is reached by
//! taking them first. They stay possible as long as they are asleep.
//!
//! An instance has a bit of a value. Two that are never possible in one state can have the same: which of them
//! is meant, the state tells. So the instances of a process need as many bits as it can choose among.

use super::choosers::{Choosers, Rooms};
use super::{Method, Reduced};
use crate::analysis::bits;
use crate::analysis::dependence::Matrix;
use crate::analysis::instances::InstanceSets;
use crate::exec::{
    Expansion, Explain, LABEL_BYTES, Labelled, Lift, Model, Postpones, Selective, Sleeps, labelled,
    stop,
};
use crate::ir::Entity;
use crate::reduce::pool::Pool;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// The most bits of a value.
const BITS_MAX: usize = 256;

/// How many states are looked at together, at most.
const BLOCK: usize = 128;

/// And how many bytes of them, if it is more than one.
const BLOCK_BYTES: usize = 32 << 10;

/// What can be asleep, and how a value tells it.
pub(super) struct SleepSets {
    /// The bit of each instance, if it can be asleep.
    bit: Vec<Option<usize>>,
    /// Bytes of a value.
    value_bytes: usize,
}

impl SleepSets {
    /// Those of a program with so many instances, or why there are none.
    pub fn of(matrix: &Matrix, count: usize) -> Result<SleepSets, String> {
        let (bit, classes) = bits_of(matrix, count);
        if classes == 0 {
            return Err("no two of its steps are independent".into());
        }
        if classes > BITS_MAX {
            return Err(format!("more than {BITS_MAX} of its steps may be possible in one state"));
        }
        Ok(SleepSets { bit, value_bytes: classes.div_ceil(8) })
    }

    /// The instances that a value says are asleep, of those that are possible.
    fn asleep(&self, enabled: &[u64], value: &[u8], asleep: &mut [u64]) {
        asleep.fill(0);
        if value.iter().all(|&byte| byte == 0) {
            return;
        }
        for instance in bits::members(enabled) {
            if self.bit[instance].is_some_and(|bit| value[bit / 8] >> (bit % 8) & 1 != 0) {
                bits::insert(asleep, instance);
            }
        }
    }

    /// The value of a state that was reached by an instance, where others were asleep or taken before it.
    fn write_value(
        &self,
        instance: usize,
        dependent: &[u64],
        asleep: &[u64],
        taken: &[u64],
        value: &mut [u8],
    ) {
        value.fill(0);
        let own = instance / bits::WORD_BITS;
        for (at, (asleep, taken)) in asleep.iter().zip(taken).enumerate() {
            let before = match at.cmp(&own) {
                Ordering::Less => 0,
                Ordering::Equal => u64::MAX << (instance % bits::WORD_BITS) << 1,
                Ordering::Greater => u64::MAX,
            };
            let kept = [(asleep | taken & before) & !dependent[at]];
            for member in bits::members(&kept) {
                if let Some(bit) = self.bit[at * bits::WORD_BITS + member] {
                    value[bit / 8] |= 1 << (bit % 8);
                }
            }
        }
    }
}

/// A bit for each instance that can be asleep, no two that may be possible in one state the same, and how many
/// there are.
fn bits_of(matrix: &Matrix, count: usize) -> (Vec<Option<usize>>, usize) {
    let all = |row: &[u64], other: &[u64]| {
        let both = row.iter().zip(other).map(|(one, other)| (one | other).count_ones());
        both.sum::<u32>() as usize
    };
    let mut classes: Vec<Vec<u64>> = Vec::new();
    let bit = (0..count).map(|instance| {
        let excluded = matrix.excluded.row(instance);
        // Whoever does not go with any other never sleeps.
        if all(excluded, matrix.dependent.row(instance)) + 1 >= count || classes.len() > BITS_MAX {
            return None;
        }
        let free = classes.iter().position(|class| bits::is_within(class, excluded));
        let class = free.unwrap_or_else(|| {
            classes.push(matrix.excluded.none());
            classes.len() - 1
        });
        bits::insert(&mut classes[class], instance);
        Some(class)
    });
    let bit = bit.collect();
    (bit, classes.len())
}

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
    /// What is taken of one state.
    single: InstanceSets,
    rooms: Rooms,
    /// Labelled.
    successors: Vec<u8>,
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
            single: sets(),
            rooms: self.choosers.rooms(),
            successors: Vec::new(),
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
        if self.take_together(out, work) {
            return;
        }
        for at in 0..pairs.len() / whole {
            if stop::is_asked() || out.has_failed() {
                return;
            }
            self.take_alone(at, out, work);
        }
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

    /// Takes the steps of a whole block, if it is clear afterwards whose each successor is: if every instance has
    /// one. False if it is not; then nothing has been added.
    fn take_together(&self, out: &mut Expansion, work: &mut Work) -> bool {
        let Work { states, taken, successors, .. } = &mut *work;
        let width = self.model.width();
        successors.clear();
        let run = |out: &mut Labelled| self.selective.expand_labelled(states, taken, out);
        let Some(found) = out.wrap_labelled(width, successors, run) else { return true };
        // Each instance that is possible has a step: to a state, to one that is left out, or one that fails.
        let count = bits::count(taken.all_words()) as usize;
        let one_each = found.left_out == 0
            && found.findings.is_empty()
            && successors.len() == count * (width + LABEL_BYTES);
        if stop::is_asked() {
            // It may have left early; what it gave is dropped.
            return true;
        }
        if one_each {
            let mut first = 0;
            for at in 0..taken.len() {
                let end = first + bits::count(work.taken.words(at)) as usize;
                self.add(at, first..end, out, work);
                first = end;
            }
        }
        one_each
    }

    /// Takes the steps of one state of a block.
    fn take_alone(&self, at: usize, out: &mut Expansion, work: &mut Work) {
        let Work { states, taken, single, successors, .. } = &mut *work;
        if taken.is_none(at) {
            return;
        }
        let width = self.model.width();
        single.clear(1);
        single.words_mut(0).copy_from_slice(taken.words(at));
        successors.clear();
        let state = &states[at * width..][..width];
        let run = |out: &mut Labelled| self.selective.expand_labelled(state, single, out);
        let Some(found) = out.wrap_labelled(width, successors, run) else { return };
        out.add_findings(found.findings);
        out.leave_out(found.left_out);
        let all = 0..successors.len() / (width + LABEL_BYTES);
        self.add(at, all, out, work);
    }

    /// Adds some of the successors, which are those of one state of a block, with their values.
    fn add(&self, at: usize, some: Range<usize>, out: &mut Expansion, work: &mut Work) {
        let Work { states, asleep, taken, rooms, successors, pair, .. } = work;
        let (width, record) = (self.model.width(), self.model.width() + LABEL_BYTES);
        let dependent = self.choosers.dependent(&states[at * width..][..width], rooms);
        let successors = &successors[some.start * record..some.end * record];
        for (successor, instance) in labelled(successors, width) {
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

impl Sleeps for Sleeping<'_> {
    fn value_bytes(&self) -> usize {
        self.sets.value_bytes
    }

    fn expand_awake(&self, pairs: &[u8], out: &mut Expansion) {
        let whole = self.model.width() + self.sets.value_bytes;
        self.rooms.with(
            || self.work(),
            |work| {
                let states = (BLOCK_BYTES / whole).clamp(1, BLOCK);
                for block in pairs.chunks(states * whole) {
                    if stop::is_asked() || out.has_failed() {
                        return;
                    }
                    self.expand_block(block, out, work);
                }
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
