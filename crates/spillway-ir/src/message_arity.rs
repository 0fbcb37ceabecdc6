//! The arity of sends, receives and polls compared with the messages of a channel.
//!
//! If processes start and end (Promela), a statement can have more or fewer values than a message of its channel. The
//! channel may be known only at run time, and SPIN accepts the mismatch for a named channel, too. The rules are those
//! of SPIN's verifier:
//!
//! - A send stores 0 in fields without a value. It drops values without a field, reports an error, and continues.
//! - A receive of fewer fields drops the others, reports an error, and continues. It fails if it compares every field
//!   that it names and reads the first message only.
//! - A receive of more fields fails if there is a message whose existing fields match. The only field of a message is
//!   an exception: further fields are read as 0, an error is reported, and the step continues.
//! - A receive that leaves the message in the channel may name fewer fields. So may a poll.

use super::{Communication, ReceivePattern};
use spillway_model::FaultKind;

/// A difference between the lengths of a statement and of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArityMismatch {
    /// A send has fewer values than a message.
    TooFewSent,
    /// A send has more values than a message.
    TooManySent,
    /// A receive names fewer fields than a message.
    TooFewReceived,
    /// A receive names more fields than a message.
    TooManyReceived,
}

impl ArityMismatch {
    /// Returns SPIN's name of the error.
    pub fn name(self) -> &'static str {
        FaultKind::from(self).name()
    }

    /// Returns the message with the lengths of the statement and of a message of the channel.
    pub fn describe(self, given: usize, channel: &str, fields: usize) -> String {
        format!("{}: this has {given}, a message of {channel} has {fields}", self.name())
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

/// The result of a communication on a channel whose messages have a certain length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommunicationFit {
    /// It succeeds.
    Fits,
    /// It is an error, and the step continues.
    Continues(ArityMismatch),
    /// It is an error, and the step has no successor.
    Fails(ArityMismatch),
}

impl Communication {
    /// Returns the number of sent values or named fields.
    pub fn arity(&self) -> usize {
        match self {
            Communication::Send { values, .. } => values.len(),
            Communication::Receive { patterns, .. } => patterns.len(),
        }
    }

    /// Returns the result on a channel whose messages have `fields` fields.
    pub fn fit(&self, fields: usize) -> CommunicationFit {
        match self {
            Communication::Send { values, .. } if values.len() < fields => {
                CommunicationFit::Continues(ArityMismatch::TooFewSent)
            }
            Communication::Send { values, .. } if values.len() > fields => {
                CommunicationFit::Continues(ArityMismatch::TooManySent)
            }
            Communication::Send { .. } => CommunicationFit::Fits,
            Communication::Receive { patterns, anywhere, peek, .. } => {
                let is_first_compared =
                    !anywhere && patterns.iter().all(|it| matches!(it, ReceivePattern::Match(_)));
                let misfit = match patterns.len() {
                    given if given < fields => ArityMismatch::TooFewReceived,
                    given if given > fields => ArityMismatch::TooManyReceived,
                    _ => return CommunicationFit::Fits,
                };
                match misfit {
                    ArityMismatch::TooManyReceived if !reads_zero_past_end(fields) => {
                        CommunicationFit::Fails(misfit)
                    }
                    _ if *peek => CommunicationFit::Fits,
                    _ if is_first_compared => CommunicationFit::Fails(misfit),
                    _ => CommunicationFit::Continues(misfit),
                }
            }
        }
    }
}

/// Returns whether fields beyond those of a message are read as 0.
pub fn reads_zero_past_end(fields: usize) -> bool {
    fields == 1
}

/// Returns whether a comparison of a message of `fields` fields with these patterns is an error once the existing
/// fields match.
pub fn fails_past_end(patterns: &[ReceivePattern], fields: usize) -> bool {
    let beyond = patterns.iter().skip(fields).any(|it| matches!(it, ReceivePattern::Match(_)));
    beyond && !reads_zero_past_end(fields)
}
