//! Operations on one buffered channel: which of them commute, and which change the value of a predicate.
//!
//! All of this concerns states in which both operations are enabled: a send has room, and a receive has a matching
//! message. `docs/internals/ir.md` proves the entries. Operations without an entry do not commute, and they may
//! change predicates.

use crate::access::{ChannelEffect, ChannelOperation, ChannelPredicate};

/// Returns whether two enabled operations have the same result in either order, and each has the same result as
/// alone.
pub fn commute(one: ChannelEffect, other: ChannelEffect) -> bool {
    match (one, other) {
        // Operations that change nothing commute.
        (one, other) if !one.changes() && !other.changes() => true,
        (ChannelEffect::Guarded(one), ChannelEffect::Guarded(other)) => {
            is_at_other_end(one, other) || is_at_other_end(other, one)
        }
        _ => false,
    }
}

/// Returns whether one operation is a send to the end, and the other one uses a message that exists before it.
fn is_at_other_end(one: ChannelOperation, other: ChannelOperation) -> bool {
    let is_first = matches!(
        other,
        ChannelOperation::Receive
            | ChannelOperation::ReceiveAny
            | ChannelOperation::Peek
            | ChannelOperation::PeekAny
    );
    one == ChannelOperation::Send && is_first
}

/// The value of a predicate before an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredicateAnswer {
    /// The predicate is true.
    Yes,
    /// The predicate is false.
    No,
}

/// Returns whether an operation may change a predicate from this value.
pub fn may_change(
    what: ChannelEffect,
    question: ChannelPredicate,
    answer: PredicateAnswer,
) -> bool {
    let operation = match what {
        ChannelEffect::Guarded(operation) => operation,
        ChannelEffect::Queried => return false,
        ChannelEffect::Changed => return true,
    };
    let is_yes = answer == PredicateAnswer::Yes;
    match operation {
        ChannelOperation::Send => match question {
            ChannelPredicate::HasRoom | ChannelPredicate::IsEmpty => is_yes,
            ChannelPredicate::HasMessage
            | ChannelPredicate::SomeMatches
            | ChannelPredicate::IsFull => !is_yes,
            // The first message exists and stays.
            ChannelPredicate::FirstMatches => false,
        },
        ChannelOperation::SendSorted => match question {
            ChannelPredicate::HasRoom | ChannelPredicate::IsEmpty => is_yes,
            ChannelPredicate::HasMessage
            | ChannelPredicate::SomeMatches
            | ChannelPredicate::IsFull => !is_yes,
            // The new message may become the first one.
            ChannelPredicate::FirstMatches => true,
        },
        ChannelOperation::Receive | ChannelOperation::ReceiveAny => match question {
            ChannelPredicate::HasRoom | ChannelPredicate::IsEmpty => !is_yes,
            ChannelPredicate::HasMessage
            | ChannelPredicate::SomeMatches
            | ChannelPredicate::IsFull => is_yes,
            // The next message becomes the first one.
            ChannelPredicate::FirstMatches => true,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests;
