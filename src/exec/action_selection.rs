//! Some of the steps out of a state, by what they begin with.
//!
//! Whoever reduces a state space looks at what is *enabled* in a state, chooses some of it, and has
//! only that expanded. What it chooses among are [action instances](crate::analysis::instances):
//! numbers that mean the same in every state. Candidates can carry theirs as a *label*, so that what
//! comes later knows how a state was reached.
//!
//! No [`Capabilities`](crate::model::Capabilities) name it: an executor is asked for it directly, so wrappers need not
//! forward it, and code compiled for plain expansion stays as it is.

use crate::analysis::instances::{ActionInstances, InstanceId, InstanceSets};
use crate::model::{ExpansionOutcome, Result, SuccessorSink, Violation};
use std::ops::ControlFlow;

/// A model whose steps can be taken by the choice of what they begin with.
pub trait SelectiveStateSpace: Send + Sync {
    /// The action instances among which there is a choice.
    fn instances(&self) -> &ActionInstances;

    /// Makes `sets` those of the enabled instances of each of `states` (whole states, one after
    /// another): of all that have a step out of it, to a state or to one that is left out, or that
    /// fail. A step that an `assume` in its body takes back is none.
    fn enabled(&self, states: &[u8], sets: &mut InstanceSets) -> Result<()>;

    /// Adds to `out` the steps of the instances in `chosen`, which has a set for each of `states`:
    /// successors, steps to states that are left out, and run-time errors as findings. What is chosen
    /// and not enabled adds nothing. Nothing is judged but the steps: of deadlocks and properties tells
    /// [`SelectiveStateSpace::check_states`].
    ///
    /// Whether an instance is enabled never depends on what is chosen.
    fn expand_chosen(&self, states: &[u8], chosen: &InstanceSets, out: &mut SuccessorSink) {
        self.expand_chosen_with_ends(states, chosen, &mut Vec::new(), out);
    }

    /// The same; makes `ends` say of each state how many bytes of candidates had been added when it was
    /// done, since the first was begun.
    fn expand_chosen_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut SuccessorSink,
    );

    /// The same; each successor has the instance of its step as its label.
    fn expand_labelled(&self, states: &[u8], chosen: &InstanceSets, out: &mut LabelledSink) {
        self.expand_labelled_with_ends(states, chosen, &mut Vec::new(), out);
    }

    /// The same; `ends` is of bytes of labelled candidates.
    fn expand_labelled_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut LabelledSink,
    );

    /// Records what is wrong with each of `states` itself: properties that do not hold or meet an
    /// error when asked, and deadlock. `enabled` is what [`SelectiveStateSpace::enabled`] said of them.
    ///
    /// What this finds and what expanding all that is enabled finds is together what
    /// [`Model::expand`](crate::model::StateSpace::expand) finds.
    fn check_states(&self, states: &[u8], enabled: &InstanceSets, out: &mut SuccessorSink);
}

/// States, and the action instances that are chosen of each.
#[derive(Clone, Copy)]
pub(super) struct ChosenInstances<'c> {
    /// The states, one behind the other.
    pub states: &'c [u8],
    /// The instances.
    pub sets: &'c InstanceSets,
}

/// Room for what [`SelectiveStateSpace::expand_chosen_with_ends`] gives.
#[derive(Debug, Default)]
pub struct GroupedSuccessors {
    /// The successors of all states, one behind the other.
    pub states: Vec<u8>,
    /// Where the successors of each state end.
    pub ends: Vec<u64>,
}

impl GroupedSuccessors {
    /// The successors of each state.
    pub fn groups(&self) -> impl Iterator<Item = &[u8]> {
        split_by_ends(&self.states, &self.ends)
    }
}

/// What [`SelectiveStateSpace::expand_chosen_with_ends`] added for each state.
pub fn split_by_ends<'c>(candidates: &'c [u8], ends: &'c [u64]) -> impl Iterator<Item = &'c [u8]> {
    let begins = std::iter::once(&0).chain(ends);
    begins.zip(ends).map(|(&begin, &end)| &candidates[begin as usize..end as usize])
}

/// Bytes of a label.
pub const LABEL_BYTES: usize = 4;

/// Where labelled candidates are put: an [`SuccessorSink`] whose candidates are records, a state and
/// behind it the number of an action instance in four bytes, the least significant first. A state of
/// two bytes, reached by instance 258:
///
/// ```text
/// state  label
/// a3 07  02 01 00 00
/// ```
///
/// Like an expansion there is none without an end: see [`LabelledSink::collect`] and
/// [`LabelledSink::wrap`].
pub struct LabelledSink<'o, 'a> {
    out: &'o mut SuccessorSink<'a>,
}

impl<'a> LabelledSink<'_, 'a> {
    /// Collects in `buffer` the records that a wrapped system adds, of states of `width` bytes, as
    /// [`SuccessorSink::wrap`] does.
    #[must_use]
    pub fn wrap(
        out: &mut SuccessorSink,
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut LabelledSink),
    ) -> Option<ExpansionOutcome> {
        out.wrap(width + LABEL_BYTES, buffer, |out| run(&mut LabelledSink { out }))
    }

    /// Collects in `buffer` the records that `run` adds, of states of `width` bytes.
    pub fn collect(
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut LabelledSink),
    ) -> Result<ExpansionOutcome> {
        let go_on = |_: &mut Vec<u8>| ControlFlow::Continue(());
        LabelledSink::collect_in_batches(width, buffer, usize::MAX, go_on, run)
    }

    /// The same, but calls `on_full` whenever the next record would make the buffer longer than
    /// `limit` bytes.
    pub fn collect_in_batches(
        width: usize,
        buffer: &mut Vec<u8>,
        limit: usize,
        on_full: impl FnMut(&mut Vec<u8>) -> ControlFlow<()>,
        run: impl FnOnce(&mut LabelledSink),
    ) -> Result<ExpansionOutcome> {
        let width = width + LABEL_BYTES;
        let run = |out: &mut SuccessorSink| run(&mut LabelledSink { out });
        SuccessorSink::collect_in_batches(width, buffer, limit, on_full, run)
    }

    /// Adds one successor and the instance of the step to it.
    pub fn candidate(&mut self, state: &[u8], instance: InstanceId) {
        self.out.record(state, &instance.0.to_le_bytes());
    }

    /// Records that `check` fails in `state`.
    pub fn record_finding(&mut self, check: Violation, state: &[u8]) {
        self.out.record_finding(check, state);
    }

    /// Counts steps to states that are left out.
    pub fn count_excluded(&mut self, steps: u64) {
        self.out.count_excluded(steps);
    }

    /// Gives up; see [`SuccessorSink::fail`].
    pub fn fail(&mut self, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) {
        self.out.fail(reason);
    }

    /// The records as plain candidates, for executors.
    pub(super) fn records(&mut self) -> &mut SuccessorSink<'a> {
        self.out
    }
}

/// The states, of `width` bytes, and instances in what was collected.
pub fn labelled(buffer: &[u8], width: usize) -> impl ExactSizeIterator<Item = (&[u8], InstanceId)> {
    buffer.chunks_exact(width + LABEL_BYTES).map(move |record| {
        let (state, label) = record.split_at(width);
        let label = label.first_chunk().copied().unwrap_or_default();
        (state, InstanceId(u32::from_le_bytes(label)))
    })
}
