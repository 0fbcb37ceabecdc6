//! Whether a send, a receive or a poll fits the messages of a channel.
//!
//! Where processes come and go (Promela), a statement can have more or fewer values than a message of its channel: which
//! channel it is can be known only at run time, and SPIN accepts the same of a channel that is named. The rules are those
//! of SPIN's verifier:
//!
//! - A send stores 0 to the fields that it gives no value. It drops the values for which there is no field, reports an
//!   error, and goes on.
//! - A receive of fewer fields drops the others, reports an error, and goes on. It fails if it compares every field that it
//!   names and looks at the first message only.
//! - A receive of more fields fails once a message is there and the fields that exist match. The only field of a message is
//!   an exception: further fields are read as 0, an error is reported, and the step goes on.
//! - A receive that leaves the message in the channel may name fewer fields. So may a poll.

use super::{Communication, ReceivePattern};
use crate::model::FaultKind;

/// How a statement and a message differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArityMismatch {
    /// A send has fewer values than a message.
    TooFewSent,
    /// A send has more.
    TooManySent,
    /// A receive names fewer fields than a message has.
    TooFewReceived,
    /// A receive names more.
    TooManyReceived,
}

impl ArityMismatch {
    /// SPIN's words for it.
    pub fn name(self) -> &'static str {
        FaultKind::from(self).name()
    }

    /// The same with the numbers: how many a statement has, and how many a message of a channel has.
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

/// What becomes of a communication on a channel whose messages have so many fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommunicationFit {
    /// It takes place.
    Fits,
    /// It is an error, and it takes place.
    Continues(ArityMismatch),
    /// It is an error, and its step has no successor.
    Fails(ArityMismatch),
}

impl Communication {
    /// How many values it sends, or fields it names.
    pub fn arity(&self) -> usize {
        match self {
            Communication::Send { values, .. } => values.len(),
            Communication::Receive { patterns, .. } => patterns.len(),
        }
    }

    /// What becomes of it on a channel whose messages have `fields` fields.
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

/// Whether fields that a message does not have are read as 0.
pub fn reads_zero_past_end(fields: usize) -> bool {
    fields == 1
}

/// Whether comparing a message of `fields` fields with these patterns is an error once the fields that exist match.
pub fn fails_past_end(patterns: &[ReceivePattern], fields: usize) -> bool {
    let beyond = patterns.iter().skip(fields).any(|it| matches!(it, ReceivePattern::Match(_)));
    beyond && !reads_zero_past_end(fields)
}
