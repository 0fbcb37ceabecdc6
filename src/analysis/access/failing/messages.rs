//! What fails when messages are sent and received.

use super::Judge;
use crate::ir::interval::{Interval, hull};
use crate::ir::{ChannelId, ChannelRef, Communication, Expr, Overflow, Pattern};

/// The values that the fields of a message may have.
pub(in super::super) type Sent = Vec<Interval>;

impl Judge<'_> {
    /// Judges whether an operation on a buffered channel is possible.
    pub fn readiness(&mut self, communication: &Communication) {
        let channel = communication.channel();
        self.channel(channel);
        if let Communication::Receive { patterns, .. } = communication {
            self.patterns(channel, patterns);
        }
    }

    /// Sends, or receives what any message may be.
    pub fn exchange(&mut self, communication: &Communication) {
        match communication {
            Communication::Send { channel, values, .. } => drop(self.send(channel, values)),
            Communication::Receive { channel, patterns, .. } => {
                let sent = self.any_message(channel, patterns.len());
                self.deliver(channel, patterns, &sent);
            }
        }
    }

    /// The values of a message, as the fields of a channel have them.
    pub fn send(&mut self, channel: &ChannelRef, values: &[Expr]) -> Sent {
        self.has_fields(channel, |fields| values.len() == fields);
        values.iter().for_each(|it| self.expr(it));
        let sent: Sent = values.iter().map(|it| self.of.values(it)).collect();
        let mut fitting = vec![crate::ir::interval::NONE; sent.len()];
        for id in self.meant(channel) {
            let about = &self.of.program().channels[id];
            for ((values, field), fits) in sent.iter().zip(&about.fields).zip(&mut fitting) {
                let (low, high) = self.of.bounds(*field);
                let inside = low <= values.0 && values.1 <= high;
                self.fails_if(!inside && about.overflow == Overflow::Fails);
                let stored = match about.overflow {
                    _ if inside => *values,
                    Overflow::Wraps => (low, high),
                    Overflow::Fails => (values.0.max(low), values.1.min(high)),
                };
                *fits = hull(*fits, stored);
            }
        }
        fitting
    }

    /// Judges whether a message that is sent by rendezvous is taken.
    pub fn matches(&mut self, channel: &ChannelRef, patterns: &[Pattern]) {
        self.patterns(channel, patterns);
    }

    /// Stores a message where a receive wants it.
    pub fn deliver(&mut self, channel: &ChannelRef, patterns: &[Pattern], sent: &Sent) {
        let overflows =
            self.meant(channel).into_iter().map(|id| self.of.program().channels[id].overflow);
        let fails = overflows.into_iter().any(|it| it == Overflow::Fails);
        let overflow = if fails { Overflow::Fails } else { Overflow::Wraps };
        for (pattern, values) in patterns.iter().zip(sent) {
            if let Pattern::Into(place) = pattern {
                self.place(place);
                self.store_values(place, *values, false, overflow);
            }
        }
    }

    /// What the first fields of a message may be.
    fn any_message(&mut self, channel: &ChannelRef, fields: usize) -> Sent {
        let mut sent = vec![crate::ir::interval::NONE; fields];
        for id in self.meant(channel) {
            for (at, values) in sent.iter_mut().enumerate() {
                *values = hull(*values, self.of.field(id, at));
            }
        }
        sent
    }

    fn meant(&mut self, channel: &ChannelRef) -> Vec<ChannelId> {
        let mut all: Vec<ChannelId> = self.of.channels(channel).iter().map(|it| it.id).collect();
        all.sort();
        all.dedup();
        all
    }

    /// It fails if a channel known only then may have another number of fields.
    pub(super) fn has_fields(&mut self, channel: &ChannelRef, fits: impl Fn(usize) -> bool) {
        let meant = self.meant(channel);
        let fields = |id: ChannelId| self.of.program().channels[id].fields.len();
        let all = meant.into_iter().all(|id| fits(fields(id)));
        self.fails_if(!all);
    }
}
