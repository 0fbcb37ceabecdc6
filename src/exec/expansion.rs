//! What expanding states produces: candidates, tallies and findings.

use super::{ActionCounts, Counters};
use crate::ir::{ActionId, ArithmeticError, ArityMismatch, AssertionKind, ProcessId};
use spill::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::AddAssign;

/// Room is given out in pieces of at most this many bytes.
const ROOM_BYTES_MAX: usize = 64 << 10;

/// Where [`Model::expand`](super::StateSpace::expand) puts its results.
///
/// Candidates go into a flat buffer; when it is full, whoever owns the expansion is called to make
/// room (sort it, drop repeats, write it out). Tallies only grow.
///
/// There is none without an end: those who collect hand a closure to [`collect`](SuccessorSink::collect)
/// or [`collect_in_batches`](SuccessorSink::collect_in_batches), and those who wrap a model to
/// [`wrap`](SuccessorSink::wrap) or [`wrap_in_batches`](SuccessorSink::wrap_in_batches). What failed inside is
/// then told, and cannot be dropped by forgetting to ask.
pub struct SuccessorSink<'a> {
    width: usize,
    buffer: &'a mut Vec<u8>,
    limit: usize,
    on_full: &'a mut (dyn FnMut(&mut Vec<u8>) -> Result<()> + 'a),
    failed: Option<spill::Error>,
    counters: Counters,
    action_counts: ActionCounts,
    findings: Findings,
}

/// What expanding came to, beside the candidates in the buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ExpansionOutcome {
    /// The statistics.
    pub counters: Counters,
    /// How often each action was taken, where the model counts that.
    pub action_counts: ActionCounts,
    /// What was found wrong.
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
    /// Collects in `buffer`, which grows as it must, the candidates of `width` bytes that `run` adds.
    /// Gives the tallies, or the first failure; after a failure what is in the buffer means nothing.
    pub fn collect(
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        SuccessorSink::collect_in_batches(width, buffer, usize::MAX, |_| Ok(()), run)
    }

    /// The same, but calls `on_full` whenever the next candidate would make the buffer longer than
    /// `limit` bytes. What is in the buffer at the end stays there.
    pub fn collect_in_batches(
        width: usize,
        buffer: &mut Vec<u8>,
        limit: usize,
        on_full: impl FnMut(&mut Vec<u8>) -> Result<()>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        SuccessorSink::counting_on(ActionCounts::default(), width, buffer, limit, on_full, run)
    }

    /// The same, adding to these counts of actions.
    fn counting_on(
        taken: ActionCounts,
        width: usize,
        buffer: &mut Vec<u8>,
        limit: usize,
        mut on_full: impl FnMut(&mut Vec<u8>) -> Result<()>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Result<ExpansionOutcome> {
        let (on_full, findings) = (&mut on_full, Findings::default());
        let mut out = SuccessorSink {
            width,
            buffer,
            limit,
            on_full,
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

    /// Collects in `buffer` what a model that this one wraps adds. None if that failed; then this
    /// expansion has failed, too. What was found is for the caller to hand on; how often actions were taken is
    /// counted here already.
    #[must_use]
    pub fn wrap(
        &mut self,
        width: usize,
        buffer: &mut Vec<u8>,
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Option<ExpansionOutcome> {
        self.wrap_in_batches(width, buffer, usize::MAX, |_, _| {}, run)
    }

    /// The same, but calls `pass_on` with the buffer, which it empties, and with this expansion,
    /// whenever the next candidate would make it longer than `limit` bytes.
    #[must_use]
    pub fn wrap_in_batches(
        &mut self,
        width: usize,
        buffer: &mut Vec<u8>,
        limit: usize,
        mut pass_on: impl FnMut(&mut Vec<u8>, &mut Self),
        run: impl FnOnce(&mut SuccessorSink),
    ) -> Option<ExpansionOutcome> {
        // They go along and come back, so that nothing is allocated for each state.
        let taken = std::mem::take(&mut self.action_counts);
        let on_full = |buffer: &mut Vec<u8>| {
            pass_on(buffer, self);
            Ok(())
        };
        let collected = SuccessorSink::counting_on(taken, width, buffer, limit, on_full, run);
        let mut collected = self.or_give_up(collected)?;
        self.action_counts.merge(std::mem::take(&mut collected.action_counts));
        Some(collected)
    }

    /// As [`wrap`](SuccessorSink::wrap), for steps that are only looked at: they are not counted as taken.
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

    /// What there is, unless it failed; then this expansion has failed, too.
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

    /// Adds one candidate that is a key and a value behind it.
    pub(super) fn record(&mut self, key: &[u8], value: &[u8]) {
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

    /// Room for candidates to be written in place: as many bytes as fit now, at least one
    /// candidate, and `slack` more.
    pub(super) fn room(&mut self, slack: usize) -> &mut [MaybeUninit<u8>] {
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

    /// Adds the candidates that were written at the start of the room.
    ///
    /// # Safety
    /// That many bytes of the room, whole candidates, have been written.
    pub(super) unsafe fn advance(&mut self, bytes: usize) {
        debug_assert!(bytes.is_multiple_of(self.width));
        debug_assert!(bytes <= self.buffer.capacity() - self.buffer.len());
        self.counters.transitions += (bytes / self.width) as u64;
        // SAFETY: the caller has written them, and they are within the capacity.
        unsafe { self.buffer.set_len(self.buffer.len() + bytes) };
    }

    #[cold]
    fn make_room(&mut self) {
        if self.failed.is_none()
            && let Err(error) = (self.on_full)(self.buffer)
        {
            self.failed = Some(error);
        }
    }

    /// Gives up, for a reason that the model has: it cannot tell the successors of a state. The search
    /// ends with an error that says so, and its last checkpoint stands. Only the first is told.
    pub fn fail(&mut self, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) {
        self.give_up(spill::Error::Source { reason: reason.into() });
    }

    /// Gives up for another reason than the model's.
    pub(crate) fn give_up(&mut self, error: spill::Error) {
        self.failed.get_or_insert(error);
    }

    /// Records that `check` fails in (or right after) `state`. Where only room for a process is missing, expanding fails.
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

    /// Counts states that were passed through and are no candidates.
    pub fn count_skipped(&mut self, states: u64) {
        self.counters.skipped += states;
    }

    /// Counts transitions that are not followed, as no violation is reachable behind them.
    pub fn count_pruned(&mut self, transitions: u64) {
        self.counters.transitions += transitions;
        self.counters.pruned += transitions;
    }

    /// Adds what a wrapped model counted, except for the transitions that gave its candidates: the wrapper adds
    /// candidates of its own for these.
    pub fn add_counters(&mut self, wrapped: Counters) {
        self.counters += wrapped;
        self.counters.transitions -= wrapped.candidates();
    }

    /// Counts actions that were taken.
    pub fn count_actions(&mut self, actions: impl Iterator<Item = ActionId>) {
        actions.for_each(|it| self.action_counts.add(it, 1));
    }

    /// Adds counts of actions that were taken where this expansion was not at hand.
    pub fn add_action_counts(&mut self, taken: ActionCounts) {
        self.action_counts.merge(taken);
    }

    /// The counts of so many actions, to be added to in place.
    pub(super) fn counts(&mut self, actions: usize) -> &mut [u64] {
        self.action_counts.at_least(actions)
    }

    /// Adds what was found by a model that this one wraps.
    pub fn add_findings(&mut self, findings: Findings) {
        self.findings.merge(findings);
    }

    /// Transitions counted so far.
    pub fn transitions(&self) -> u64 {
        self.counters.transitions
    }

    /// Whether there was a failure; then candidates are no longer collected, and a model may stop.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }
}

/// Something that can be wrong with a state or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// The state has no successor, and should have.
    Deadlock,
    /// A property of the model, by its number, does not hold in the state.
    Property(u32),
    /// An action, by its number, meets a run-time error in the state.
    Fault(FaultKind, u32),
}

/// The kind of what a Promela `trace` or `notrace` asks: of events, and of states in which nothing goes on.
pub const TRACE: &str = "trace";

/// The sorts of run-time errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An array index outside the array.
    Index,
    /// A zero divisor.
    Division,
    /// A value outside the domain it is stored to, or outside the arithmetic's integers.
    Range,
    /// A shift by a negative count or by more than the word.
    Shift,
    /// An undefined value read.
    Undefined,
    /// An assertion inside a step.
    Assertion,
    /// An error statement.
    Error,
    /// A loop or recursion beyond its bound, no free process slot, a full multiset.
    Limit,
    /// A send of fewer values than a message has.
    TooFewSent,
    /// A send of more values than a message has.
    TooManySent,
    /// A receive of fewer fields than a message has.
    TooFewReceived,
    /// A receive of more fields than a message has.
    TooManyReceived,
    /// A message that is sent or received where a `trace` does not allow it.
    Event,
    /// An instance of this process for which there is no slot, where the program can be made again with more slots. It is
    /// no error of the model, and never a finding: see [`SuccessorSink::record_finding`].
    NoSlot(ProcessId),
}

/// Why a search ends in which a process found no slot: it is to be made again with more slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfSlots(pub ProcessId);

impl std::error::Error for OutOfSlots {}

impl fmt::Display for OutOfSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("more processes run at one time than there is room for")
    }
}

impl From<ArityMismatch> for FaultKind {
    fn from(misfit: ArityMismatch) -> FaultKind {
        match misfit {
            ArityMismatch::TooFewSent => FaultKind::TooFewSent,
            ArityMismatch::TooManySent => FaultKind::TooManySent,
            ArityMismatch::TooFewReceived => FaultKind::TooFewReceived,
            ArityMismatch::TooManyReceived => FaultKind::TooManyReceived,
        }
    }
}

impl From<ArithmeticError> for FaultKind {
    fn from(error: ArithmeticError) -> FaultKind {
        match error {
            ArithmeticError::Division => FaultKind::Division,
            ArithmeticError::Shift => FaultKind::Shift,
            ArithmeticError::Range => FaultKind::Range,
        }
    }
}

impl From<AssertionKind> for FaultKind {
    fn from(asserted: AssertionKind) -> FaultKind {
        match asserted {
            AssertionKind::Condition => FaultKind::Assertion,
            AssertionKind::Event => FaultKind::Event,
        }
    }
}

impl FaultKind {
    /// Every kind of error of a model, in the order of their codes on disk.
    pub const ALL: [FaultKind; 13] = [
        FaultKind::Index,
        FaultKind::Division,
        FaultKind::Range,
        FaultKind::Shift,
        FaultKind::Undefined,
        FaultKind::Assertion,
        FaultKind::Error,
        FaultKind::Limit,
        FaultKind::TooFewSent,
        FaultKind::TooManySent,
        FaultKind::TooFewReceived,
        FaultKind::TooManyReceived,
        FaultKind::Event,
    ];

    /// Whether it is a communication with more or fewer values than its channel has (in Promela, see
    /// [`crate::ir::message_arity`]).
    pub fn is_arity_mismatch(self) -> bool {
        self.always_continues_step()
            || self == FaultKind::TooFewReceived
            || self == FaultKind::TooManyReceived
    }

    /// Whether the step of such an error may go on (in Promela, see [`crate::ir::message_arity`]).
    pub fn may_continue_step(self) -> bool {
        self.is_assertion() || self.is_arity_mismatch()
    }

    /// Whether the step of such an error always goes on.
    pub fn always_continues_step(self) -> bool {
        matches!(self, FaultKind::TooFewSent | FaultKind::TooManySent)
    }

    /// Whether an assertion of the model fails, in whatever form it is written.
    pub fn is_assertion(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Event)
    }

    /// What kind of violation it is: an assertion is one wherever it stands.
    pub fn violation(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assert",
            FaultKind::Event => TRACE,
            _ => "error",
        }
    }

    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Index => "index out of range",
            FaultKind::Division => "division by zero",
            FaultKind::Range => "value out of range",
            FaultKind::Shift => "shift count out of range",
            FaultKind::Undefined => "undefined value",
            FaultKind::Assertion => "assertion failed",
            FaultKind::Error => "error statement",
            FaultKind::Limit | FaultKind::NoSlot(_) => "limit exceeded",
            FaultKind::TooFewSent => ArityMismatch::TooFewSent.name(),
            FaultKind::TooManySent => ArityMismatch::TooManySent.name(),
            FaultKind::TooFewReceived => ArityMismatch::TooFewReceived.name(),
            FaultKind::TooManyReceived => ArityMismatch::TooManyReceived.name(),
            FaultKind::Event => "event not allowed",
        }
    }
}

/// How often something was found, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of states (or of faulty steps) it was found in.
    pub count: u64,
    /// The level of the first, counted from 0.
    pub level: u64,
    /// The least state of that level it was found in.
    pub witness: Vec<u8>,
}

/// All that was found wrong. Independent of the order in which states were expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    found: BTreeMap<Violation, Finding>,
}

impl Findings {
    /// Records one more, at level 0 until [`Findings::at_level`] says better.
    pub fn record(&mut self, check: Violation, state: &[u8]) {
        match self.found.get_mut(&check) {
            Some(finding) => {
                finding.count += 1;
                if state < finding.witness.as_slice() {
                    finding.witness.copy_from_slice(state);
                }
            }
            None => {
                let finding = Finding { count: 1, level: 0, witness: state.to_vec() };
                self.found.insert(check, finding);
            }
        }
    }

    /// The same findings, made while expanding `level`.
    pub fn at_level(mut self, level: u64) -> Findings {
        self.found.values_mut().for_each(|finding| finding.level = level);
        self
    }

    /// Adds other findings: counts add up, the first and least witness stays.
    pub fn merge(&mut self, other: Findings) {
        for (check, theirs) in other.found {
            match self.found.get_mut(&check) {
                None => {
                    self.found.insert(check, theirs);
                }
                Some(ours) => {
                    let count = ours.count + theirs.count;
                    if (theirs.level, &theirs.witness) < (ours.level, &ours.witness) {
                        *ours = theirs;
                    }
                    ours.count = count;
                }
            }
        }
    }

    /// The same findings, without the first `bytes` bytes of witnesses.
    pub fn without_tags(mut self, bytes: usize) -> Findings {
        self.found.values_mut().for_each(|finding| drop(finding.witness.drain(..bytes)));
        self
    }

    /// Puts back a finding that was saved.
    pub fn restore(&mut self, check: Violation, finding: Finding) {
        self.found.insert(check, finding);
    }

    /// Everything found, in the order of the checks.
    pub fn iter(&self) -> impl Iterator<Item = (Violation, &Finding)> {
        self.found.iter().map(|(&check, finding)| (check, finding))
    }

    /// What was found of `check`, if anything was.
    pub fn get(&self, check: Violation) -> Option<&Finding> {
        self.found.get(&check)
    }

    /// How often `check` failed.
    pub fn count(&self, check: Violation) -> u64 {
        self.get(check).map_or(0, |finding| finding.count)
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}
