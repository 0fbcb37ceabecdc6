//! Comparison of the tables with a list: every entry is tested on all contents.

use super::{PredicateAnswer, commute, may_change};
use crate::access::{ChannelEffect, ChannelOperation, ChannelPredicate};

const CAPACITY: usize = 3;

/// Messages are numbers below `MESSAGES`. A pattern matches `MATCHING`.
const MESSAGES: u8 = 3;
const MATCHING: u8 = 1;

const OPERATIONS: [ChannelOperation; 6] = [
    ChannelOperation::Send,
    ChannelOperation::SendSorted,
    ChannelOperation::Receive,
    ChannelOperation::ReceiveAny,
    ChannelOperation::Peek,
    ChannelOperation::PeekAny,
];

const QUESTIONS: [ChannelPredicate; 6] = [
    ChannelPredicate::HasRoom,
    ChannelPredicate::HasMessage,
    ChannelPredicate::FirstMatches,
    ChannelPredicate::SomeMatches,
    ChannelPredicate::IsEmpty,
    ChannelPredicate::IsFull,
];

/// An operation with its message, or with whether it takes only a matching message.
type Doing = (ChannelOperation, u8);

/// Returns every operation with every message and every pattern.
fn doings() -> impl Iterator<Item = Doing> {
    OPERATIONS.into_iter().flat_map(|it| (0..MESSAGES).map(move |what| (it, what)))
}

/// Returns every content of a buffer.
fn contents() -> Vec<Vec<u8>> {
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..CAPACITY {
        let longer = last.iter().flat_map(|it| (0..MESSAGES).map(|next| [&**it, &[next]].concat()));
        last = longer.collect();
        all.extend(last.clone());
    }
    all
}

/// Returns the result of an enabled operation: the buffer, and the message that is taken or read.
fn done((operation, what): Doing, buffer: &[u8]) -> Option<(Vec<u8>, Option<u8>)> {
    // There are two patterns: any message, and one certain message.
    let matches = |message: &u8| what > 0 || *message == MATCHING;
    let first = || buffer.first().filter(|it| matches(it)).map(|_| 0);
    let any = || buffer.iter().position(matches);
    let has_room = buffer.len() < CAPACITY;
    let mut next = buffer.to_vec();
    match operation {
        ChannelOperation::Send => has_room.then(|| {
            next.push(what);
            (next, None)
        }),
        ChannelOperation::SendSorted => has_room.then(|| {
            let at = buffer.iter().rposition(|it| *it <= what).map_or(0, |it| it + 1);
            next.insert(at, what);
            (next, None)
        }),
        ChannelOperation::Receive => first().map(|at| {
            let taken = next.remove(at);
            (next, Some(taken))
        }),
        ChannelOperation::ReceiveAny => any().map(|at| {
            let taken = next.remove(at);
            (next, Some(taken))
        }),
        ChannelOperation::Peek => first().map(|at| (next, Some(buffer[at]))),
        ChannelOperation::PeekAny => any().map(|at| (next, Some(buffer[at]))),
        _ => unreachable!("these are all operations that do something"),
    }
}

/// Returns whether a predicate is evaluated for a content: `FirstMatches` is evaluated only if there is a message.
fn is_asked(question: ChannelPredicate, buffer: &[u8]) -> bool {
    question != ChannelPredicate::FirstMatches || !buffer.is_empty()
}

fn answer(question: ChannelPredicate, buffer: &[u8]) -> PredicateAnswer {
    let holds = match question {
        ChannelPredicate::HasRoom => buffer.len() < CAPACITY,
        ChannelPredicate::HasMessage => !buffer.is_empty(),
        ChannelPredicate::FirstMatches => buffer.first() == Some(&MATCHING),
        ChannelPredicate::SomeMatches => buffer.contains(&MATCHING),
        ChannelPredicate::IsEmpty => buffer.is_empty(),
        ChannelPredicate::IsFull => buffer.len() == CAPACITY,
    };
    if holds { PredicateAnswer::Yes } else { PredicateAnswer::No }
}

/// Returns whether both orders have the same result, or one of the operations is disabled.
fn commute_in(buffer: &[u8], one: Doing, other: Doing) -> bool {
    let (Some((after_one, got)), Some((after_other, gets))) =
        (done(one, buffer), done(other, buffer))
    else {
        return true;
    };
    let (Some((left, gets_later)), Some((right, got_later))) =
        (done(other, &after_one), done(one, &after_other))
    else {
        return false;
    };
    left == right && got == got_later && gets == gets_later
}

#[test]
fn what_is_said_to_commute_does_and_the_rest_does_not() {
    for (one, other) in OPERATIONS.into_iter().flat_map(|it| OPERATIONS.map(|other| (it, other))) {
        let doings = |wanted| doings().filter(move |(it, _)| *it == wanted);
        let is_always = doings(one).all(|left| {
            doings(other).all(|right| contents().iter().all(|it| commute_in(it, left, right)))
        });
        let is_said = commute(ChannelEffect::Guarded(one), ChannelEffect::Guarded(other));
        assert!(is_always || !is_said, "{one:?} and {other:?}");
        // The table is exact: operations that it calls dependent are dependent for some messages.
        assert_eq!(is_always, is_said, "{one:?} and {other:?}");
        for asked in [ChannelEffect::Queried, ChannelEffect::Changed] {
            let looks = !ChannelEffect::Guarded(one).changes() && asked == ChannelEffect::Queried;
            assert_eq!(commute(ChannelEffect::Guarded(one), asked), looks, "{one:?}");
            assert_eq!(commute(asked, ChannelEffect::Guarded(one)), looks, "{one:?}");
        }
    }
}

#[test]
fn answers_change_where_it_is_said_and_nowhere_else() {
    for question in QUESTIONS {
        for operation in OPERATIONS {
            for from in [PredicateAnswer::Yes, PredicateAnswer::No] {
                let mut contents = contents();
                contents.retain(|it| is_asked(question, it) && answer(question, it) == from);
                // A predicate without a message has no value.
                let changes = doings().filter(|(it, _)| *it == operation).any(|doing| {
                    contents.iter().any(|buffer| {
                        done(doing, buffer).is_some_and(|(it, _)| answer(question, &it) != from)
                    })
                });
                let said = may_change(ChannelEffect::Guarded(operation), question, from);
                assert_eq!(changes, said, "{operation:?} and {question:?}, {from:?} before");
                assert!(may_change(ChannelEffect::Changed, question, from));
                assert!(!may_change(ChannelEffect::Queried, question, from));
            }
        }
    }
}
