//! Comparison of the tables with a direct evaluation of every entry on all buffer contents.

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

const PREDICATES: [ChannelPredicate; 6] = [
    ChannelPredicate::HasRoom,
    ChannelPredicate::HasMessage,
    ChannelPredicate::FirstMatches,
    ChannelPredicate::SomeMatches,
    ChannelPredicate::IsEmpty,
    ChannelPredicate::IsFull,
];

/// An operation with its message. A receive or peek has a pattern: 0 for `MATCHING` only, more for any message.
type ChannelAction = (ChannelOperation, u8);

/// Returns every operation with every message and every pattern.
fn channel_actions() -> impl Iterator<Item = ChannelAction> {
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

/// Returns the result of an enabled operation: the buffer, and the message that is received or peeked.
fn execute((operation, what): ChannelAction, buffer: &[u8]) -> Option<(Vec<u8>, Option<u8>)> {
    // There are two patterns: any message, and a constant.
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
fn is_evaluated(predicate: ChannelPredicate, buffer: &[u8]) -> bool {
    predicate != ChannelPredicate::FirstMatches || !buffer.is_empty()
}

fn evaluate(predicate: ChannelPredicate, buffer: &[u8]) -> PredicateAnswer {
    let holds = match predicate {
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
fn commute_in(buffer: &[u8], one: ChannelAction, other: ChannelAction) -> bool {
    let (Some((after_one, one_message)), Some((after_other, other_message))) =
        (execute(one, buffer), execute(other, buffer))
    else {
        return true;
    };
    let (Some((left, other_message_later)), Some((right, one_message_later))) =
        (execute(other, &after_one), execute(one, &after_other))
    else {
        return false;
    };
    left == right && one_message == one_message_later && other_message == other_message_later
}

#[test]
fn the_commutation_table_is_exact() {
    for (one, other) in OPERATIONS.into_iter().flat_map(|it| OPERATIONS.map(|other| (it, other))) {
        let actions_of = |wanted| channel_actions().filter(move |(it, _)| *it == wanted);
        let is_always = actions_of(one).all(|left| {
            actions_of(other).all(|right| contents().iter().all(|it| commute_in(it, left, right)))
        });
        let in_table = commute(ChannelEffect::Guarded(one), ChannelEffect::Guarded(other));
        assert!(is_always || !in_table, "{one:?} and {other:?}");
        // The table is exact: operations that it calls dependent are dependent for some messages.
        assert_eq!(is_always, in_table, "{one:?} and {other:?}");
        for effect in [ChannelEffect::Queried, ChannelEffect::Changed] {
            let commutes =
                !ChannelEffect::Guarded(one).changes() && effect == ChannelEffect::Queried;
            assert_eq!(commute(ChannelEffect::Guarded(one), effect), commutes, "{one:?}");
            assert_eq!(commute(effect, ChannelEffect::Guarded(one)), commutes, "{one:?}");
        }
    }
}

#[test]
fn predicates_change_exactly_as_the_table_states() {
    for predicate in PREDICATES {
        for operation in OPERATIONS {
            for from in [PredicateAnswer::Yes, PredicateAnswer::No] {
                let mut contents = contents();
                contents
                    .retain(|it| is_evaluated(predicate, it) && evaluate(predicate, it) == from);
                // A predicate without a message has no value.
                let changes = channel_actions().filter(|(it, _)| *it == operation).any(|action| {
                    contents.iter().any(|buffer| {
                        execute(action, buffer)
                            .is_some_and(|(it, _)| evaluate(predicate, &it) != from)
                    })
                });
                let expected = may_change(ChannelEffect::Guarded(operation), predicate, from);
                assert_eq!(changes, expected, "{operation:?} and {predicate:?}, {from:?} before");
                assert!(may_change(ChannelEffect::Changed, predicate, from));
                assert!(!may_change(ChannelEffect::Queried, predicate, from));
            }
        }
    }
}
