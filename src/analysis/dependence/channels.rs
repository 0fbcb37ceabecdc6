//! Operations on one buffered channel: which of them commute, and which change the answer to a question.
//!
//! All of this is about states in which both are possible: a send knows that there is room, a receive
//! that there is a message it takes. Why each entry is sure is in `docs/ir.md`; where nothing is said
//! here, two operations do not commute and an answer may change.

use crate::analysis::access::{ChannelUse, Operation, Question};

/// Whether two operations, both possible, have the same result in either order, and each the same
/// result as alone.
pub fn commute(one: ChannelUse, other: ChannelUse) -> bool {
    match (one, other) {
        // Who only looks disturbs nobody who only looks.
        (one, other) if !one.changes() && !other.changes() => true,
        (ChannelUse::Guarded(one), ChannelUse::Guarded(other)) => {
            is_at_other_end(one, other) || is_at_other_end(other, one)
        }
        _ => false,
    }
}

/// Whether one is a send to the end, and the other is about a message that is there before it.
fn is_at_other_end(one: Operation, other: Operation) -> bool {
    let is_first = matches!(
        other,
        Operation::Receive | Operation::ReceiveAny | Operation::Peek | Operation::PeekAny
    );
    one == Operation::Send && is_first
}

/// What an operation may do to a question that has been answered with yes, or with no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Whether an operation may change such an answer.
pub fn may_change(what: ChannelUse, question: Question, answer: Answer) -> bool {
    let operation = match what {
        ChannelUse::Guarded(operation) => operation,
        ChannelUse::Asked => return false,
        ChannelUse::Changed => return true,
    };
    let is_yes = answer == Answer::Yes;
    match operation {
        Operation::Send => match question {
            Question::HasRoom | Question::IsEmpty => is_yes,
            Question::HasMessage | Question::SomeMatches | Question::IsFull => !is_yes,
            // The first message, which is there, stays what it is.
            Question::FirstMatches => false,
        },
        Operation::SendSorted => match question {
            Question::HasRoom | Question::IsEmpty => is_yes,
            Question::HasMessage | Question::SomeMatches | Question::IsFull => !is_yes,
            // The new message may be the first.
            Question::FirstMatches => true,
        },
        Operation::Receive | Operation::ReceiveAny => match question {
            Question::HasRoom | Question::IsEmpty => !is_yes,
            Question::HasMessage | Question::SomeMatches | Question::IsFull => is_yes,
            // The next message is the first.
            Question::FirstMatches => true,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests;
