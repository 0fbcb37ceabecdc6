//! Channels that operations name.

use crate::ir::{ChannelId, ChannelRef, Communication};

/// The channel; in programs whose processes do not come and go, others are left to the interpreter.
pub(super) fn named(channel: &ChannelRef) -> ChannelId {
    match channel {
        ChannelRef::Named(id) => *id,
        _ => unreachable!("left to the interpreter"),
    }
}

/// The channel of an operation, if it is named.
pub(super) fn named_or_none(communication: &Communication) -> Option<ChannelId> {
    match communication.channel() {
        ChannelRef::Named(id) => Some(*id),
        _ => None,
    }
}
