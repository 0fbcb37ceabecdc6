//! The full table for bounded channels, compared with the result of `CellUse::interacts` and with a search of all runs
//! by the definition. The tests detect a table with a wrong entry.

use super::{CellChange, CellUse, SmallDomain};
use Kind::{Empty, Full, HasMessage, HasRoom, Peek, Receive, Send};
use When::{Always, Never, OneMessage, OnePlace};
use std::collections::BTreeSet;

/// An operation or a predicate on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send,
    Receive,
    Peek,
    HasMessage,
    HasRoom,
    Empty,
    Full,
}

const KINDS: [Kind; 7] = [Send, Receive, Peek, HasMessage, HasRoom, Empty, Full];

/// The numbers of messages, among those for which the first operation is enabled, from which an interaction is
/// possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Never,
    OneMessage,
    OnePlace,
    Always,
}

const WHENS: [When; 4] = [Never, OneMessage, OnePlace, Always];

/// The interactions of the kind in the comment before each row, in the order of `KINDS`.
type Table = [[When; KINDS.len()]; KINDS.len()];

const TABLE: Table = [
    // Send: sends are ordered. With one place left, a send takes the room that others require.
    [Always, Never, Never, Never, OnePlace, Always, Never],
    // Receive: sends of others fill the channel, so an operation that waits for a full channel may be disturbed
    // later.
    [Never, Always, Always, OneMessage, Never, Never, Always],
    // Peek.
    [Never, Always, Never, Never, Never, Never, Never],
    // Has a message: others may receive all messages but one, and then that one.
    [Never, Always, Never, Never, Never, Never, Never],
    // Has room.
    [Always, Never, Never, Never, Never, Never, Never],
    // Is empty.
    [Always, Never, Never, Never, Never, Never, Never],
    // Is full.
    [Never, Always, Never, Never, Never, Never, Never],
];

impl When {
    fn holds(self, waiting: u32, capacity: u32) -> bool {
        match self {
            Never => false,
            OneMessage => waiting == 1,
            OnePlace => waiting + 1 == capacity,
            Always => true,
        }
    }
}

/// Returns the use of the number of messages by a kind.
fn use_of_kind(kind: Kind, gauge: SmallDomain) -> CellUse {
    let most = i64::from(gauge.count) - 1;
    let possible = gauge.subset_where(|waiting| match kind {
        Send | HasRoom => waiting < most,
        Receive | Peek | HasMessage => waiting > 0,
        Empty => waiting == 0,
        Full => waiting == most,
    });
    let change = match kind {
        Send => CellChange::Adds(1),
        Receive => CellChange::Adds(-1),
        _ => CellChange::Keeps,
    };
    CellUse { possible, asks: BTreeSet::from([possible]), change }
}

/// Returns the result of an enabled operation: the buffer, and the message that is received or peeked.
fn execute(kind: Kind, what: u8, buffer: &[u8], capacity: usize) -> Option<(Vec<u8>, Option<u8>)> {
    let same = |holds: bool| holds.then(|| (buffer.to_vec(), None));
    match kind {
        Send => (buffer.len() < capacity).then(|| ([buffer, &[what]].concat(), None)),
        Receive => buffer.first().map(|first| (buffer[1..].to_vec(), Some(*first))),
        Peek => buffer.first().map(|first| (buffer.to_vec(), Some(*first))),
        HasMessage => same(!buffer.is_empty()),
        HasRoom => same(buffer.len() < capacity),
        Empty => same(buffer.is_empty()),
        Full => same(buffer.len() == capacity),
    }
}

fn is_possible(kind: Kind, buffer: &[u8], capacity: usize) -> bool {
    execute(kind, 0, buffer, capacity).is_some()
}

/// Returns whether two operations disturb each other if they send different messages and all messages are distinct.
fn disturb(one: Kind, other: Kind, buffer: &[u8], capacity: usize) -> bool {
    let (Some((after_one, one_message)), Some((after_other, other_message))) =
        (execute(one, 100, buffer, capacity), execute(other, 101, buffer, capacity))
    else {
        return false;
    };
    let ends =
        (execute(other, 101, &after_one, capacity), execute(one, 100, &after_other, capacity));
    !matches!(ends, (Some((end, other_message_later)), Some((same, one_message_later)))
        if end == same && one_message == one_message_later && other_message == other_message_later)
}

/// Returns whether two operations might interact (Definition 11) from a buffer with `waiting` messages. The steps of
/// the run neither disturb the first operation nor are disturbed by it.
fn might_interact(one: Kind, other: Kind, waiting: u32, capacity: u32) -> bool {
    let capacity = capacity as usize;
    // Only the distinctness of the messages matters.
    let mut open = vec![waiting as usize];
    let mut seen = BTreeSet::from([waiting as usize]);
    while let Some(waiting) = open.pop() {
        let buffer: Vec<u8> = (0..waiting as u8).collect();
        if is_possible(other, &buffer, capacity) && disturb(one, other, &buffer, capacity) {
            return true;
        }
        for by in KINDS.into_iter().filter(|it| !disturb(one, *it, &buffer, capacity)) {
            let next = execute(by, 101, &buffer, capacity).map(|(next, _)| next.len());
            open.extend(next.filter(|next| seen.insert(*next)));
        }
    }
    false
}

/// Returns whether the messages order the operations wherever both are enabled. Numbers of messages do not show this.
fn conflict(one: Kind, other: Kind) -> bool {
    matches!((one, other), (Send, Send) | (Receive, Receive | Peek) | (Peek, Receive))
}

fn differs(table: &Table, predicate: impl Fn(Kind, Kind, u32, u32) -> bool) -> bool {
    let numbers = || (1..=4u32).flat_map(|most| (0..=most).map(move |waiting| (waiting, most)));
    KINDS.iter().zip(table).any(|(one, row)| {
        KINDS.iter().zip(row).any(|(other, when)| {
            let mut numbers = numbers().filter(|&(waiting, most)| {
                is_possible(*one, &vec![0; waiting as usize], most as usize)
            });
            numbers.any(|(waiting, most)| {
                predicate(*one, *other, waiting, most) != when.holds(waiting, most)
            })
        })
    })
}

/// Returns the interaction that the gauges imply.
fn interaction_by_gauges(one: Kind, other: Kind, waiting: u32, capacity: u32) -> bool {
    let gauge = SmallDomain::new(0, capacity.into()).unwrap();
    let others: Vec<CellUse> = KINDS
        .into_iter()
        .filter(|it| !conflict(one, *it))
        .map(|it| use_of_kind(it, gauge))
        .collect();
    let others: Vec<&CellUse> = others.iter().collect();
    conflict(one, other)
        || use_of_kind(one, gauge).interacts(&use_of_kind(other, gauge), &others, gauge) >> waiting
            & 1
            != 0
}

#[test]
fn the_table_of_channels_equals_the_definition_and_the_gauges() {
    assert!(!differs(&TABLE, might_interact), "an entry is not what all runs say");
    assert!(!differs(&TABLE, interaction_by_gauges), "an entry is not what gauges say");
}

#[test]
fn a_wrong_entry_is_detected() {
    for one in 0..KINDS.len() {
        for other in 0..KINDS.len() {
            for when in WHENS.into_iter().filter(|it| *it != TABLE[one][other]) {
                let mut wrong = TABLE;
                wrong[one][other] = when;
                let is_same = (1..=4).all(|most: u32| {
                    (0..=most).all(|waiting| {
                        !is_possible(KINDS[one], &vec![0; waiting as usize], most as usize)
                            || when.holds(waiting, most) == TABLE[one][other].holds(waiting, most)
                    })
                });
                let is_found =
                    differs(&wrong, might_interact) && differs(&wrong, interaction_by_gauges);
                assert!(is_same != is_found, "{:?} and {:?}: {when:?}", KINDS[one], KINDS[other]);
            }
        }
    }
}
