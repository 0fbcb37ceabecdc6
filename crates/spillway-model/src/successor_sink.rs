//! The sink for the results of expansions: candidates, counters and findings.

use super::{
    ActionCounts, ActionId, Counters, FaultKind, Findings, ModelError, OutOfSlots, Result,
    UnencodedState, Violation,
};
use std::cell::RefCell;
use std::error::Error;
use std::mem::MaybeUninit;
use std::ops::{AddAssign, ControlFlow};

/// The most bytes that [`SuccessorSink::room`] returns at a time.
const ROOM_BYTES_MAX: usize = 64 << 10;

/// The sink for the results of [`StateSpace::expand`](super::StateSpace::expand).
///
/// Candidates go into a flat buffer. When it is full, the engine is called to empty it: it sorts the buffer, drops
/// duplicates, or writes it to disk. Counters only grow.
///
/// A sink exists only inside a call. An engine passes a closure to [`collect`](SuccessorSink::collect) or
/// [`collect_in_batches`](SuccessorSink::collect_in_batches); a wrapper passes one to [`wrap`](SuccessorSink::wrap) or
/// [`wrap_in_batches`](SuccessorSink::wrap_in_batches). So a failure inside cannot be lost.
pub struct SuccessorSink<'a> {
    width: usize,
    buffer: &'a mut Vec<u8>,
    limit: usize,
    on_full: &'a mut (dyn FnMut(&mut Vec<u8>) -> ControlFlow<()> + 'a),
    /// Takes unencoded states, if the engine does.
    set_aside: Option<&'a mut SetAsideHandler<'a>>,
    failed: Option<ModelError>,
    counters: Counters,
    action_counts: ActionCounts,
    findings: Findings,
}

/// Takes an unencoded state.
type SetAsideHandler<'a> = dyn FnMut(UnencodedCandidate<'_>) -> ControlFlow<()> + 'a;

/// A candidate that is an unencoded state.
#[derive(Clone, Copy, Debug)]
pub struct UnencodedCandidate<'c> {
    /// The unencoded state.
    pub state: &'c [u8],
    /// The number of encoded candidates in the buffer. They were generated before this one.
    pub before: usize,
}

/// What a wrapped system whose encoding grows generates.
pub enum GeneratedCandidates<'c> {
    /// Encoded candidates. The handler empties the buffer.
    Encoded(&'c mut Vec<u8>),
    /// An unencoded state.
    Unencoded(UnencodedCandidate<'c>),
}

/// The buffer that gathers candidates before they are passed on.
pub struct CandidateBatch<'b> {
    /// Bytes of a candidate.
    pub width: usize,
    /// The candidates.
    pub buffer: &'b mut Vec<u8>,
    /// The most bytes in the buffer.
    pub limit: usize,
}

/// The outcome of expanding states, without the candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ExpansionOutcome {
    /// The counters.
    pub counters: Counters,
    /// The number of executions of each action, if the model counts them.
    pub action_counts: ActionCounts,
    /// The findings.
    pub findings: Findings,
}

impl AddAssign for ExpansionOutcome {
    fn add_assign(&mut self, other: ExpansionOutcome) {
        self.counters += other.counters;
        self.action_counts.merge(other.action_counts);
        self.findings.merge(other.findings);
    }
}

impl SuccessorSink<'_> {
    /// Collects the candidates of `width` bytes that `run` adds in `buffer`, which grows as needed.
    ///
    /// # Errors
    ///
    /// The first failure; the content of the buffer is meaningless then.
    pub fn collect(
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        let go_on = |_: &mut Vec<u8>| ControlFlow::Continue(());
        SuccessorSink::collect_in_batches(width, buffer, usize::MAX, go_on, run)
    }

    /// As [`collect`](SuccessorSink::collect), but calls `on_full` whenever the next candidate would make the buffer
    /// longer than `limit` bytes; `on_full` empties the buffer. The last candidates stay in the buffer.
    ///
    /// # Errors
    ///
    /// The first failure, and [`ModelError::BrokenOff`] after `on_full` broke off. An engine whose `on_full` has errors
    /// of its own keeps them in a [`BreakOff`](super::BreakOff).
    pub fn collect_in_batches(
        width: usize,
        buffer: &mut Vec<u8>,
        limit: usize,
        on_full: impl FnMut(&mut Vec<u8>) -> ControlFlow<()>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        let batch = CandidateBatch { width, buffer, limit };
        SuccessorSink::counting_on(ActionCounts::default(), batch, on_full, None, run)
    }

    /// As [`collect_in_batches`](SuccessorSink::collect_in_batches), but passes unencoded states to `set_aside`. Without
    /// it, the expansion fails if there are any.
    ///
    /// # Errors
    ///
    /// The first failure, and [`ModelError::BrokenOff`] after a handler broke off.
    pub fn collect_growing(
        batch: CandidateBatch<'_>,
        on_full: impl FnMut(&mut Vec<u8>) -> ControlFlow<()>,
        mut set_aside: Option<impl FnMut(UnencodedCandidate<'_>) -> ControlFlow<()>>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        let set_aside = set_aside.as_mut().map(|it| it as &mut SetAsideHandler<'_>);
        SuccessorSink::counting_on(ActionCounts::default(), batch, on_full, set_aside, run)
    }

    /// As [`collect_in_batches`](SuccessorSink::collect_in_batches), but adds to these counts of actions.
    fn counting_on(
        taken: ActionCounts,
        batch: CandidateBatch<'_>,
        mut on_full: impl FnMut(&mut Vec<u8>) -> ControlFlow<()>,
        set_aside: Option<&mut SetAsideHandler<'_>>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        let CandidateBatch { width, buffer, limit } = batch;
        let (on_full, findings) = (&mut on_full, Findings::default());
        let mut out = SuccessorSink {
            width,
            buffer,
            limit,
            on_full,
            // Shortens the handler's lifetime to that of the sink.
            set_aside: match set_aside {
                Some(handler) => Some(handler),
                None => None,
            },
            failed: None,
            counters: Counters::default(),
            action_counts: taken,
            findings,
        };
        run(&mut out);
        let SuccessorSink { failed, counters, action_counts, findings, .. } = out;
        match failed {
            Some(error) => Err(error),
            None => Ok(ExpansionOutcome { counters, action_counts, findings }),
        }
    }

    /// Collects the candidates of a wrapped system in `buffer`. Returns `None` if it failed: then this expansion has
    /// failed, too. Action counts are added here. The caller adds counters and findings, by
    /// [`add_counters`](SuccessorSink::add_counters) and [`add_findings`](SuccessorSink::add_findings).
    #[must_use]
    pub fn wrap(
        &mut self,
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Option<ExpansionOutcome> {
        let batch = CandidateBatch { width, buffer, limit: usize::MAX };
        self.wrap_in_batches(batch, |_, _| {}, run)
    }

    /// As [`wrap`](SuccessorSink::wrap), but whenever the next candidate would make the buffer longer than its limit,
    /// it calls `pass_on` with the buffer, which `pass_on` empties, and with this sink.
    #[must_use]
    pub fn wrap_in_batches(
        &mut self,
        batch: CandidateBatch<'_>,
        mut pass_on: impl FnMut(&mut Vec<u8>, &mut Self),
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Option<ExpansionOutcome> {
        // The counts are moved there and back, so that no state needs an allocation.
        let taken = std::mem::take(&mut self.action_counts);
        let on_full = |buffer: &mut Vec<u8>| {
            pass_on(buffer, self);
            ControlFlow::Continue(())
        };
        let collected = SuccessorSink::counting_on(taken, batch, on_full, None, run);
        self.with_action_counts(collected)
    }

    /// As [`wrap_in_batches`](SuccessorSink::wrap_in_batches), but takes unencoded states, too.
    #[must_use]
    pub fn wrap_growing(
        &mut self,
        batch: CandidateBatch<'_>,
        pass_on: impl FnMut(GeneratedCandidates<'_>, &mut Self),
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Option<ExpansionOutcome> {
        let taken = std::mem::take(&mut self.action_counts);
        let collected = {
            let receiver = RefCell::new((&mut *self, pass_on));
            let take = |generated: GeneratedCandidates<'_>| {
                let (sink, pass_on) = &mut *receiver.borrow_mut();
                pass_on(generated, sink);
                ControlFlow::Continue(())
            };
            let on_full = |buffer: &mut Vec<u8>| take(GeneratedCandidates::Encoded(buffer));
            let mut set_aside =
                |it: UnencodedCandidate<'_>| take(GeneratedCandidates::Unencoded(it));
            SuccessorSink::counting_on(taken, batch, on_full, Some(&mut set_aside), run)
        };
        self.with_action_counts(collected)
    }

    /// Returns the outcome of a wrapped system, and adds its counts of actions here.
    fn with_action_counts(
        &mut self,
        collected: Result<ExpansionOutcome>,
    ) -> Option<ExpansionOutcome> {
        let mut collected = self.or_give_up(collected)?;
        self.action_counts.merge(std::mem::take(&mut collected.action_counts));
        Some(collected)
    }

    /// As [`wrap`](SuccessorSink::wrap), for transitions that are only examined: their actions are not counted.
    #[must_use]
    pub fn wrap_uncounted(
        &mut self,
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Option<ExpansionOutcome> {
        let collected = SuccessorSink::collect(width, buffer, run);
        self.or_give_up(collected)
    }

    /// Returns the value, or nothing if there is none; then this expansion has failed, too.
    fn or_give_up<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.give_up(error)).ok()
    }

    /// Adds one candidate.
    #[inline]
    pub fn candidate(&mut self, key: &[u8]) {
        debug_assert_eq!(key.len(), self.width);
        self.counters.transitions += 1;
        if self.buffer.len() + self.width > self.limit {
            self.make_room();
        }
        if self.failed.is_none() {
            self.buffer.extend_from_slice(key);
        }
    }

    /// Adds one candidate that has no bytes yet, as an unencoded state of a
    /// [`GrowingStateSpace`](super::GrowingStateSpace). Fails if the engine does not take such states.
    pub fn set_aside(&mut self, unencoded: &[u8]) {
        self.counters.transitions += 1;
        if self.failed.is_some() {
            return;
        }
        match &mut self.set_aside {
            None => self.fail(UnencodedState),
            Some(set_aside) => {
                let before = self.buffer.len() / self.width;
                if set_aside(UnencodedCandidate { state: unencoded, before }).is_break() {
                    self.failed = Some(ModelError::BrokenOff);
                }
            }
        }
    }

    /// Adds one candidate that is a state followed by a value.
    pub fn record(&mut self, key: &[u8], value: &[u8]) {
        debug_assert_eq!(key.len() + value.len(), self.width);
        self.counters.transitions += 1;
        if self.buffer.len() + self.width > self.limit {
            self.make_room();
        }
        if self.failed.is_none() {
            self.buffer.extend_from_slice(key);
            self.buffer.extend_from_slice(value);
        }
    }

    /// Returns a buffer in which candidates are written in place: as many bytes as fit now, at least those of one
    /// candidate, and `slack` more.
    pub fn room(&mut self, slack: usize) -> &mut [MaybeUninit<u8>] {
        if self.buffer.len() + self.width > self.limit {
            self.make_room();
        }
        if self.failed.is_some() {
            self.buffer.clear();
        }
        let left = self.limit.saturating_sub(self.buffer.len());
        let bytes = left.min(ROOM_BYTES_MAX).max(self.width);
        self.buffer.reserve(bytes + slack);
        &mut self.buffer.spare_capacity_mut()[..bytes + slack]
    }

    /// Adds the candidates that were written at the start of the buffer of `room`.
    ///
    /// # Safety
    ///
    /// The first `bytes` bytes of that buffer have been written, and they are whole candidates.
    pub unsafe fn advance(&mut self, bytes: usize) {
        debug_assert!(bytes.is_multiple_of(self.width));
        debug_assert!(bytes <= self.buffer.capacity() - self.buffer.len());
        self.counters.transitions += (bytes / self.width) as u64;
        // SAFETY: the caller has written them, and they are within the capacity.
        unsafe { self.buffer.set_len(self.buffer.len() + bytes) };
    }

    #[cold]
    fn make_room(&mut self) {
        if self.failed.is_none() && (self.on_full)(self.buffer).is_break() {
            self.failed = Some(ModelError::BrokenOff);
        }
    }

    /// Fails: the system cannot compute successors of a state, for this reason. The search ends with an error, and its
    /// last checkpoint remains. Only the first reason is kept.
    pub fn fail(&mut self, reason: impl Into<Box<dyn Error + Send + Sync>>) {
        self.give_up(ModelError::failed(reason));
    }

    /// Ends the expansion with an error. Only the first error is kept.
    pub fn give_up(&mut self, error: ModelError) {
        self.failed.get_or_insert(error);
    }

    /// Records that `check` fails in `state`, or in a step from it. If only a slot for a process is missing, the
    /// expansion fails instead.
    pub fn record_finding(&mut self, check: Violation, state: &[u8]) {
        match check {
            Violation::Fault(FaultKind::NoSlot(process), _) => self.fail(OutOfSlots(process)),
            check => self.findings.record(check, state),
        }
    }

    /// Counts transitions that an assumption of the model excludes.
    pub fn count_excluded(&mut self, transitions: u64) {
        self.counters.transitions += transitions;
        self.counters.excluded += transitions;
    }

    /// Counts states that were expanded by fewer than all of their transitions.
    pub fn count_partially_expanded(&mut self, states: u64) {
        self.counters.partially_expanded += states;
    }

    /// Counts intermediate states that are not candidates.
    pub fn count_skipped(&mut self, states: u64) {
        self.counters.skipped += states;
    }

    /// Counts transitions that are not explored, since no violation is reachable behind them.
    pub fn count_pruned(&mut self, transitions: u64) {
        self.counters.transitions += transitions;
        self.counters.pruned += transitions;
    }

    /// Adds the counters of a wrapped model, except for the transitions with its candidates: the wrapper adds its own
    /// candidates for these.
    pub fn add_counters(&mut self, wrapped: Counters) {
        self.counters += wrapped;
        self.counters.transitions -= wrapped.candidates();
    }

    /// Counts executions of actions.
    pub fn count_actions(&mut self, actions: impl Iterator<Item = ActionId>) {
        actions.for_each(|it| self.action_counts.add(it, 1));
    }

    /// Adds counts of actions that were executed outside this expansion.
    pub fn add_action_counts(&mut self, taken: ActionCounts) {
        self.action_counts.merge(taken);
    }

    /// Returns the counts of at least `actions` actions, to be increased in place.
    pub fn counts(&mut self, actions: usize) -> &mut [u64] {
        self.action_counts.at_least(actions)
    }

    /// Adds findings of a wrapped system.
    pub fn add_findings(&mut self, findings: Findings) {
        self.findings.merge(findings);
    }

    /// Returns the number of transitions counted so far.
    pub fn transitions(&self) -> u64 {
        self.counters.transitions
    }

    /// Returns whether the expansion has failed: candidates are no longer collected, and the system may return.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }
}
