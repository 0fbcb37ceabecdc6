//! Operations on one buffered channel: which of them commute, and which change the answer to a question.
//!
//! All of this is about states in which both are possible: a send knows that there is room, a receive
//! that there is a message it takes. Why each entry is sure is in `docs/internals/ir.md`; where nothing is said
//! here, two operations do not commute and an answer may change.

use crate::analysis::access::{ChannelEffect, ChannelOperation, ChannelPredicate};

/// Whether two operations, both possible, have the same result in either order, and each the same
/// result as alone.
pub fn commute(one: ChannelEffect, other: ChannelEffect) -> bool {
    match (one, other) {
        // Who only looks disturbs nobody who only looks.
        (one, other) if !one.changes() && !other.changes() => true,
        (ChannelEffect::Guarded(one), ChannelEffect::Guarded(other)) => {
            is_at_other_end(one, other) || is_at_other_end(other, one)
        }
        _ => false,
    }
}

/// Whether one is a send to the end, and the other is about a message that is there before it.
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

/// What an operation may do to a question that has been answered with yes, or with no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredicateAnswer {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Whether an operation may change such an answer.
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
            // The first message, which is there, stays what it is.
            ChannelPredicate::FirstMatches => false,
        },
        ChannelOperation::SendSorted => match question {
            ChannelPredicate::HasRoom | ChannelPredicate::IsEmpty => is_yes,
            ChannelPredicate::HasMessage
            | ChannelPredicate::SomeMatches
            | ChannelPredicate::IsFull => !is_yes,
            // The new message may be the first.
            ChannelPredicate::FirstMatches => true,
        },
        ChannelOperation::Receive | ChannelOperation::ReceiveAny => match question {
            ChannelPredicate::HasRoom | ChannelPredicate::IsEmpty => !is_yes,
            ChannelPredicate::HasMessage
            | ChannelPredicate::SomeMatches
            | ChannelPredicate::IsFull => is_yes,
            // The next message is the first.
            ChannelPredicate::FirstMatches => true,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests;
