//! Channels that operations name directly.

use spillway_ir::{ChannelId, ChannelRef, Communication};

/// Returns the named channel. In programs without dynamic processes, the interpreter runs operations on other
/// channels.
pub(super) fn named(channel: &ChannelRef) -> ChannelId {
    match channel {
        ChannelRef::Named(id) => *id,
        _ => unreachable!("left to the interpreter"),
    }
}

/// Returns the channel of an operation, if it is named directly.
pub(super) fn named_or_none(communication: &Communication) -> Option<ChannelId> {
    match communication.channel() {
        ChannelRef::Named(id) => Some(*id),
        _ => None,
    }
}
