//! States that carry their number, and successors that carry their back-edge.
//!
//! A *tag* is a number of 40 bits and an index of 24 bits, big-endian. A state to be expanded is preceded by a tag with
//! its own number and zero. A successor is followed by a tag with the number of its parent and its index among the
//! parent's distinct successors in ascending order. So a sorted level ascends by number. Candidates are pairs of a
//! state and a value; equal states keep the least value.
//!
//! If the encoding of states grows, some successors have no bytes yet, so the index is the position in the order of
//! generation. Such a system has one executor, and so one order. When the parent is replayed, all of its successors
//! have bytes.
//!
//! An initial state has no parent. All bits of its tag are the position of its first occurrence among the model's
//! initial states. There may be more initial states than fit in memory, so finding one must not require all of them in
//! memory.

use crate::model_failure;
use spill::values::MinOperator;
use spill::{Error, Result, ValueSpec};
use spillway_model::{
    BACK_EDGE_BYTES, BackEdge, CandidateBatch, Capabilities, Findings, GeneratedCandidates,
    StateSpace, StepwiseSimulation, SuccessorSink, SystemDescription, UnencodedCandidate, any_bits,
};
use std::ops::ControlFlow;

/// Bytes of a tag.
pub const TAG: usize = BACK_EDGE_BYTES;

/// Bytes of initial states in memory at a time.
const STARTS_BYTES: usize = 32 << 10;

/// Returns the kind of value of the tags of candidates: equal states keep the least back-edge.
pub(crate) fn tags() -> ValueSpec {
    ValueSpec::new(TAG, MinOperator)
}

/// Returns the tag of a number and an index.
pub(super) fn tag(number: u64, index: u64) -> Result<[u8; TAG]> {
    let edge = BackEdge { parent: number, index };
    edge.bytes().map_err(|it| Error::Limit { what: it.to_string() })
}

/// A transition system whose states carry tags.
pub(crate) struct TaggedModel<'a> {
    pub(crate) model: &'a dyn StateSpace,
}

/// The successors of a state in ascending order. The index of a successor does not depend on the executor; the order of
/// generation may.
pub(super) struct OrderedSuccessors<'a> {
    model: &'a dyn StateSpace,
    /// The successors in the order of generation.
    states: Vec<u8>,
    /// Ascending by index.
    order: Vec<OrderedSuccessor>,
}

/// The order of generation of candidates, some of which have no bytes yet.
#[derive(Default)]
struct GenerationOrder {
    /// The number of candidates before the encoded ones in the buffer.
    passed: u64,
    /// For each later candidate without bytes, the number of encoded ones before it in the buffer.
    unencoded: Vec<usize>,
}

impl GenerationOrder {
    /// Returns the position of a candidate without bytes.
    fn add_unencoded(&mut self, candidate: UnencodedCandidate<'_>) -> u64 {
        let earlier = self.unencoded.len() + candidate.before;
        self.unencoded.push(candidate.before);
        self.passed + earlier as u64
    }

    /// Returns the positions of the encoded candidates in the buffer, which is emptied.
    fn take_encoded(&mut self, count: usize) -> impl Iterator<Item = u64> + use<> {
        let unencoded = std::mem::take(&mut self.unencoded);
        let passed = self.passed;
        self.passed += (count + unencoded.len()) as u64;
        let mut earlier = 0;
        (0..count).map(move |at| {
            while unencoded.get(earlier).is_some_and(|before| *before <= at) {
                earlier += 1;
            }
            passed + (at + earlier) as u64
        })
    }
}

/// A successor.
#[derive(Clone, Copy)]
struct OrderedSuccessor {
    /// Its offset in the buffer, in bytes.
    start: usize,
    /// The number of distinct smaller successors: equal states share their index.
    index: u64,
}

impl<'a> OrderedSuccessors<'a> {
    /// Creates an empty set of successors.
    pub(super) fn new(model: &'a dyn StateSpace) -> Self {
        OrderedSuccessors { model, states: Vec::new(), order: Vec::new() }
    }

    /// Generates the successors of `state`. Returns its findings.
    pub(super) fn take(&mut self, state: &[u8]) -> Result<Findings> {
        let (width, model) = (self.model.width(), self.model);
        let run = |out: &mut SuccessorSink| model.expand(state, out);
        self.states.clear();
        let collected =
            SuccessorSink::collect(width, &mut self.states, run).map_err(model_failure)?;
        self.arrange();
        Ok(collected.findings)
    }

    /// Passes on the successors of `state`, whose number is `parent`, with their tags. Returns its findings. A failure goes
    /// to `out`; then it returns `None`.
    fn pass_on(&mut self, parent: u64, state: &[u8], out: &mut SuccessorSink) -> Option<Findings> {
        let (width, model) = (self.model.width(), self.model);
        let run = |out: &mut SuccessorSink| model.expand(state, out);
        self.states.clear();
        let collected = out.wrap(width, &mut self.states, run)?;
        out.add_counters(collected.counters);
        self.arrange();
        for (index, successor) in self.iter() {
            record_tagged(successor, tag(parent, index), out);
        }
        Some(collected.findings)
    }

    /// Numbers the generated successors, which all have bytes.
    fn arrange(&mut self) {
        let OrderedSuccessors { model, states, order } = self;
        let width = model.width();
        let at = |start: usize| &states[start..][..width];
        let starts = (0..states.len()).step_by(width);
        order.clear();
        if model.capabilities().growing.is_some() {
            let numbered = starts.zip(0..);
            order.extend(numbered.map(|(start, index)| OrderedSuccessor { start, index }));
            return;
        }
        order.extend(starts.map(|start| OrderedSuccessor { start, index: 0 }));
        order.sort_unstable_by_key(|it| at(it.start));
        for next in 1..order.len() {
            let before = order[next - 1];
            let differs = at(before.start) != at(order[next].start);
            order[next].index = before.index + u64::from(differs);
        }
    }

    /// Returns all successors with their indices.
    fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.order.iter().map(|it| (it.index, self.at(it.start)))
    }

    /// Returns the successor with an index.
    pub(super) fn get(&self, index: u64) -> Option<&[u8]> {
        let first = self.order.partition_point(|it| it.index < index);
        self.order.get(first).filter(|it| it.index == index).map(|it| self.at(it.start))
    }

    fn at(&self, start: usize) -> &[u8] {
        &self.states[start..][..self.model.width()]
    }
}

/// Passes the initial states at the ascending positions `wanted` to `show`, each with its index in `wanted`. It is an
/// error if there are too few.
pub(super) fn starts_at(
    model: &dyn StateSpace,
    wanted: &[u64],
    show: &mut dyn FnMut(usize, &[u8]),
) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let width = model.width();
    let (mut position, mut found) = (0, 0);
    let mut look = |states: &mut Vec<u8>| {
        for state in states.chunks_exact(width) {
            while wanted.get(found) == Some(&position) {
                show(found, state);
                found += 1;
            }
            position += 1;
        }
        states.clear();
        match found == wanted.len() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let (mut states, limit) = (Vec::new(), STARTS_BYTES.max(width));
    let run = |out: &mut SuccessorSink| model.initial(out);
    let collected = SuccessorSink::collect_in_batches(width, &mut states, limit, &mut look, run);
    let rest = collected.map(|_| look(&mut states));
    match wanted.get(found) {
        None => Ok(()),
        Some(missing) => {
            let _ = rest.map_err(model_failure)?;
            Err(Error::corrupt("levels", 0, format!("there is no initial state {missing}")))
        }
    }
}

/// Passes on a state with its tag, or the error that there is none.
fn record_tagged(state: &[u8], tag: Result<[u8; TAG]>, out: &mut SuccessorSink) {
    match tag {
        Ok(tag) => out.record(state, &tag),
        Err(error) => out.fail(error),
    }
}

/// Adds tags to candidates in the order of generation.
struct OrderTagger<'t> {
    /// The bytes of a state.
    width: usize,
    order: GenerationOrder,
    /// Returns the tag of the candidate at a position.
    tag: &'t dyn Fn(u64) -> Result<[u8; TAG]>,
}

impl OrderTagger<'_> {
    fn pass_on(&mut self, generated: GeneratedCandidates<'_>, out: &mut SuccessorSink) {
        match generated {
            GeneratedCandidates::Unencoded(it) => match (self.tag)(self.order.add_unencoded(it)) {
                Ok(tag) => out.set_aside(&[it.state, &tag].concat()),
                Err(error) => out.fail(error),
            },
            GeneratedCandidates::Encoded(states) => {
                let positions = self.order.take_encoded(states.len() / self.width);
                for (state, position) in states.chunks_exact(self.width).zip(positions) {
                    record_tagged(state, (self.tag)(position), out);
                }
                states.clear();
            }
        }
    }
}

impl TaggedModel<'_> {
    /// Passes on what `run` generates, with the tags of positions in the order of generation. Returns its findings, or
    /// `None` if it failed.
    fn wrap_in_order(
        &self,
        tag: &dyn Fn(u64) -> Result<[u8; TAG]>,
        run: impl FnOnce(&mut SuccessorSink),
        out: &mut SuccessorSink,
    ) -> Option<Findings> {
        let width = self.model.width();
        let mut tagger = OrderTagger { width, order: GenerationOrder::default(), tag };
        let (mut states, limit) = (Vec::new(), STARTS_BYTES.max(width));
        let batch = CandidateBatch { width, buffer: &mut states, limit };
        let collected = out.wrap_growing(batch, |it, out| tagger.pass_on(it, out), run)?;
        tagger.pass_on(GeneratedCandidates::Encoded(&mut states), out);
        out.add_counters(collected.counters);
        Some(collected.findings)
    }
}

impl StateSpace for TaggedModel<'_> {
    fn width(&self) -> usize {
        self.model.width() + TAG
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        let position = |position: u64| Ok(position.to_be_bytes());
        let run = |out: &mut SuccessorSink| self.model.initial(out);
        let Some(findings) = self.wrap_in_order(&position, run, out) else { return };
        // Findings before the first state have no number.
        for (check, finding) in findings.iter() {
            let witness = [&[0; TAG], &*finding.witness].concat();
            (0..finding.count).for_each(|_| out.record_finding(check, &witness));
        }
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        let mut successors = OrderedSuccessors::new(self.model);
        let grows = self.model.capabilities().growing.is_some();
        for tagged in states.chunks_exact(self.width()) {
            let (own, state) = tagged.split_at(TAG);
            let parent = BackEdge::of_bytes(own).parent;
            let run = |out: &mut SuccessorSink| self.model.expand(state, out);
            let findings = match grows {
                true => self.wrap_in_order(&|index| tag(parent, index), run, out),
                false => successors.pass_on(parent, state, out),
            };
            let Some(findings) = findings else { return };
            for (check, finding) in findings.iter() {
                (0..finding.count).for_each(|_| out.record_finding(check, tagged));
            }
        }
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl StepwiseSimulation for TaggedModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        self.model
    }

    fn represents(&self, tagged: &[u8], state: &[u8]) -> bool {
        tagged.get(TAG..) == Some(state)
    }
}
