//! Violations of states and steps, and the findings of a search.

use std::collections::BTreeMap;

/// A check that can fail in a state or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// The state has no successor and is not a valid end.
    Deadlock,
    /// A property of the model, by its number, fails in the state.
    Property(u32),
    /// An action, by its number, has a run-time error in the state.
    Fault(FaultKind, u32),
}

/// The kind of a property that a Promela `trace` or `notrace` declares.
pub const TRACE: &str = "trace";

/// The kinds of run-time errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An array index outside the array.
    Index,
    /// A zero divisor.
    Division,
    /// A value outside the domain of its variable, or outside the integers of the arithmetic.
    Range,
    /// A shift by a negative count or by more than the word.
    Shift,
    /// A read of an undefined value.
    Undefined,
    /// A failed assertion inside a step.
    Assertion,
    /// An error statement.
    Error,
    /// A loop or recursion beyond its bound, no free process slot, or a full multiset.
    Limit,
    /// A send of fewer values than a message has.
    TooFewSent,
    /// A send of more values than a message has.
    TooManySent,
    /// A receive of fewer fields than a message has.
    TooFewReceived,
    /// A receive of more fields than a message has.
    TooManyReceived,
    /// A message that is sent or received although a `trace` does not allow it.
    Event,
    /// The evaluation of an expression that has no value, in TLA+.
    Evaluation,
    /// There is no slot for an instance of the process with this number, and the program can be built again with more
    /// slots. This is not an error of the model and never a finding: see
    /// [`record_finding`](super::SuccessorSink::record_finding).
    NoSlot(u32),
}

/// The reason of a [`ModelError`](super::ModelError) if the process with this number found no slot. The search must be
/// repeated with more slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more processes run at one time than there are slots")]
pub struct OutOfSlots(pub u32);

impl FaultKind {
    /// Every kind of error of a model, in the order of their codes on disk.
    pub const ALL: [FaultKind; 14] = [
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
        FaultKind::Evaluation,
    ];

    /// Returns whether a communication has more or fewer values than the messages of its channel.
    pub fn is_arity_mismatch(self) -> bool {
        self.always_continues_step()
            || self == FaultKind::TooFewReceived
            || self == FaultKind::TooManyReceived
    }

    /// Returns whether a step may continue after such an error.
    pub fn may_continue_step(self) -> bool {
        self.is_assertion() || self.is_arity_mismatch()
    }

    /// Returns whether a step always continues after such an error.
    pub fn always_continues_step(self) -> bool {
        matches!(self, FaultKind::TooFewSent | FaultKind::TooManySent)
    }

    /// Returns whether the error is a failed assertion of the model, whatever its syntax.
    pub fn is_assertion(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Event)
    }

    /// Returns the kind of violation in reports.
    pub fn violation(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assert",
            FaultKind::Event => TRACE,
            _ => "error",
        }
    }

    /// Returns the name in reports.
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
            // The messages of SPIN.
            FaultKind::TooFewSent => "too few parameters in send",
            FaultKind::TooManySent => "too many parameters in send",
            FaultKind::TooFewReceived => "missing pars in receive",
            FaultKind::TooManyReceived => "too many fields in receive",
            FaultKind::Event => "event not allowed",
            FaultKind::Evaluation => "evaluation failed",
        }
    }
}

/// The number of failures of a check, and its first failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of states, or of failing steps, with the finding.
    pub count: u64,
    /// The level of the first failure, counted from 0.
    pub level: u64,
    /// The least state of that level with the finding.
    pub witness: Vec<u8>,
}

/// All findings. They do not depend on the order in which states were expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    found: BTreeMap<Violation, Finding>,
}

impl Findings {
    /// Records that `check` fails in `state`, at level 0 until [`Findings::at_level`] sets the level.
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

    /// Sets the level of all findings.
    pub fn at_level(mut self, level: u64) -> Findings {
        self.found.values_mut().for_each(|finding| finding.level = level);
        self
    }

    /// Adds other findings: counts are added, and the least witness of the first level is kept.
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

    /// Removes the first `bytes` bytes of each witness.
    pub fn without_tags(mut self, bytes: usize) -> Findings {
        self.found.values_mut().for_each(|finding| drop(finding.witness.drain(..bytes)));
        self
    }

    /// Inserts a saved finding.
    pub fn restore(&mut self, check: Violation, finding: Finding) {
        self.found.insert(check, finding);
    }

    /// Returns all findings, in the order of their checks.
    pub fn iter(&self) -> impl Iterator<Item = (Violation, &Finding)> {
        self.found.iter().map(|(&check, finding)| (check, finding))
    }

    /// Returns the finding of `check`, if it failed.
    pub fn get(&self, check: Violation) -> Option<&Finding> {
        self.found.get(&check)
    }

    /// Returns the number of failures of `check`.
    pub fn count(&self, check: Violation) -> u64 {
        self.get(check).map_or(0, |finding| finding.count)
    }

    /// Returns whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}
