//! Expanding chosen action instances.
//!
//! A reduction computes the *enabled* [action instances](spillway_analysis::instances) of a state, chooses some of them,
//! and expands only these. The number of an instance means the same in every state. A candidate can carry the number
//! as a *label*, so that a later stage knows the step that led to the state.
//!
//! No [`Capabilities`](spillway_model::Capabilities) name this interface: a caller requests it from the executor. So
//! wrappers need not forward it, and code compiled for plain expansion stays unchanged.

use spillway_analysis::instances::{ActionInstances, InstanceId, InstanceSets};
use spillway_model::{ExpansionOutcome, Result, SuccessorSink, Violation};
use std::ops::ControlFlow;

/// A state space that can expand chosen action instances.
pub trait SelectiveStateSpace: Send + Sync {
    /// Returns the action instances that can be chosen.
    fn instances(&self) -> &ActionInstances;

    /// Sets `sets` to the enabled instances of each of `states` (whole states, one after another). An instance is
    /// enabled if it has a step: to a state, to a state that an assumption excludes, or to a failure. A step that an
    /// `assume` in its body takes back does not count.
    fn enabled(&self, states: &[u8], sets: &mut InstanceSets) -> Result<()>;

    /// Adds to `out` the steps of the instances in `chosen`, which has one set for each of `states`: successors,
    /// excluded steps, and run-time errors as findings. An instance that is chosen but not enabled adds nothing.
    /// Deadlocks and properties are not checked here; [`SelectiveStateSpace::check_states`] checks them.
    ///
    /// Whether an instance is enabled never depends on the choice.
    fn expand_chosen(&self, states: &[u8], chosen: &InstanceSets, out: &mut SuccessorSink) {
        self.expand_chosen_with_ends(states, chosen, &mut Vec::new(), out);
    }

    /// Does the same, and sets `ends`: for each state, the bytes of candidates added up to its end, counted from the
    /// first state.
    fn expand_chosen_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut SuccessorSink,
    );

    /// Does the same; each successor has the instance of its step as its label.
    fn expand_labelled(&self, states: &[u8], chosen: &InstanceSets, out: &mut LabelledSink) {
        self.expand_labelled_with_ends(states, chosen, &mut Vec::new(), out);
    }

    /// Does the same; `ends` counts bytes of labelled candidates.
    fn expand_labelled_with_ends(
        &self,
        states: &[u8],
        chosen: &InstanceSets,
        ends: &mut Vec<u64>,
        out: &mut LabelledSink,
    );

    /// Records the violations of `states` themselves: properties that fail or meet an error during evaluation, and
    /// deadlocks. `enabled` is the result of [`SelectiveStateSpace::enabled`] for these states.
    ///
    /// This check and an expansion of all enabled instances together find the same as
    /// [`Model::expand`](spillway_model::StateSpace::expand).
    fn check_states(&self, states: &[u8], enabled: &InstanceSets, out: &mut SuccessorSink);
}

/// States with the chosen action instances of each.
#[derive(Clone, Copy)]
pub(super) struct ChosenInstances<'c> {
    /// The states, one after another.
    pub states: &'c [u8],
    /// The chosen instances of each state.
    pub sets: &'c InstanceSets,
}

/// The successors of several states, grouped by state: the output of [`SelectiveStateSpace::expand_chosen_with_ends`].
#[derive(Debug, Default)]
pub struct GroupedSuccessors {
    /// The successors of all states, one after another.
    pub states: Vec<u8>,
    /// For each state, the end of its successors in `states`, in bytes.
    pub ends: Vec<u64>,
}

impl GroupedSuccessors {
    /// Returns the successors of each state.
    pub fn groups(&self) -> impl Iterator<Item = &[u8]> {
        split_by_ends(&self.states, &self.ends)
    }
}

/// Splits the candidates of [`SelectiveStateSpace::expand_chosen_with_ends`] by state.
pub fn split_by_ends<'c>(candidates: &'c [u8], ends: &'c [u64]) -> impl Iterator<Item = &'c [u8]> {
    let begins = std::iter::once(&0).chain(ends);
    begins.zip(ends).map(|(&begin, &end)| &candidates[begin as usize..end as usize])
}

/// The size of a label in bytes.
pub const LABEL_BYTES: usize = 4;

/// A [`SuccessorSink`] whose candidates are records: a state, then the number of an action instance in four bytes,
/// least significant first. A state of two bytes, reached by instance 258:
///
/// ```text
/// state  label
/// a3 07  02 01 00 00
/// ```
///
/// Like an expansion, a sink exists only inside a call that ends it: see [`LabelledSink::collect`] and
/// [`LabelledSink::wrap`].
pub struct LabelledSink<'o, 'a> {
    out: &'o mut SuccessorSink<'a>,
}

impl<'a> LabelledSink<'_, 'a> {
    /// Collects in `buffer` the records that a wrapped system adds, for states of `width` bytes, as
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

    /// Collects in `buffer` the records that `run` adds, for states of `width` bytes.
    pub fn collect(
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut LabelledSink),
    ) -> Result<ExpansionOutcome> {
        let go_on = |_: &mut Vec<u8>| ControlFlow::Continue(());
        LabelledSink::collect_in_batches(width, buffer, usize::MAX, go_on, run)
    }

    /// Does the same, but calls `on_full` whenever the next record would make the buffer longer than `limit` bytes.
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

    /// Adds one successor with the instance of its step.
    pub fn candidate(&mut self, state: &[u8], instance: InstanceId) {
        self.out.record(state, &instance.0.to_le_bytes());
    }

    /// Records that `check` fails in `state`.
    pub fn record_finding(&mut self, check: Violation, state: &[u8]) {
        self.out.record_finding(check, state);
    }

    /// Counts excluded steps.
    pub fn count_excluded(&mut self, steps: u64) {
        self.out.count_excluded(steps);
    }

    /// Fails the expansion; see [`SuccessorSink::fail`].
    pub fn fail(&mut self, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) {
        self.out.fail(reason);
    }

    /// Returns the sink of the records as plain candidates, for executors.
    pub(super) fn records(&mut self) -> &mut SuccessorSink<'a> {
        self.out
    }
}

/// Returns the states, of `width` bytes, and the instances in collected records.
pub fn labelled(buffer: &[u8], width: usize) -> impl ExactSizeIterator<Item = (&[u8], InstanceId)> {
    buffer.chunks_exact(width + LABEL_BYTES).map(move |record| {
        let (state, label) = record.split_at(width);
        let label = label.first_chunk().copied().unwrap_or_default();
        (state, InstanceId(u32::from_le_bytes(label)))
    })
}
