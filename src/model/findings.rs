//! What can be wrong with states and steps, and what was found.

use std::collections::BTreeMap;

/// Something that can be wrong in a state or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// The state has no successor, and should have.
    Deadlock,
    /// A property of the model, by its number, does not hold in the state.
    Property(u32),
    /// An action, by its number, meets a run-time error in the state.
    Fault(FaultKind, u32),
}

/// The kind of a property that a Promela `trace` or `notrace` declares.
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
    /// A message that is sent or received although a `trace` does not allow it.
    Event,
    /// There is no slot for an instance of the process with this number, and the program can be built again with more
    /// slots. This is no error of the model and never a finding: see
    /// [`record_finding`](super::SuccessorSink::record_finding).
    NoSlot(u32),
}

/// The reason of a [`ModelError`](super::ModelError) where the process with this number found no slot: the search has to
/// be done again with more slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more processes run at one time than there is room for")]
pub struct OutOfSlots(pub u32);

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

    /// Whether a communication has more or fewer values than the messages of its channel.
    pub fn is_arity_mismatch(self) -> bool {
        self.always_continues_step()
            || self == FaultKind::TooFewReceived
            || self == FaultKind::TooManyReceived
    }

    /// Whether a step may continue after such an error.
    pub fn may_continue_step(self) -> bool {
        self.is_assertion() || self.is_arity_mismatch()
    }

    /// Whether a step always continues after such an error.
    pub fn always_continues_step(self) -> bool {
        matches!(self, FaultKind::TooFewSent | FaultKind::TooManySent)
    }

    /// Whether an assertion of the model fails, whatever its syntax.
    pub fn is_assertion(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Event)
    }

    /// The kind of violation, as reports call it.
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
            // SPIN's words.
            FaultKind::TooFewSent => "too few parameters in send",
            FaultKind::TooManySent => "too many parameters in send",
            FaultKind::TooFewReceived => "missing pars in receive",
            FaultKind::TooManyReceived => "too many fields in receive",
            FaultKind::Event => "event not allowed",
        }
    }
}

/// How often a check failed, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of states, or of failing steps, that it was found in.
    pub count: u64,
    /// The level of the first, counted from 0.
    pub level: u64,
    /// The least state of that level that it was found in.
    pub witness: Vec<u8>,
}

/// Everything that was found wrong. It does not depend on the order in which states were expanded.
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

    /// The same findings, as those of `level`.
    pub fn at_level(mut self, level: u64) -> Findings {
        self.found.values_mut().for_each(|finding| finding.level = level);
        self
    }

    /// Adds other findings: counts add up, and the least witness of the first level stays.
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

    /// The same findings, without the first `bytes` bytes of each witness.
    pub fn without_tags(mut self, bytes: usize) -> Findings {
        self.found.values_mut().for_each(|finding| drop(finding.witness.drain(..bytes)));
        self
    }

    /// Puts a saved finding back.
    pub fn restore(&mut self, check: Violation, finding: Finding) {
        self.found.insert(check, finding);
    }

    /// All findings, in the order of their checks.
    pub fn iter(&self) -> impl Iterator<Item = (Violation, &Finding)> {
        self.found.iter().map(|(&check, finding)| (check, finding))
    }

    /// The finding of `check`, if it failed.
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
