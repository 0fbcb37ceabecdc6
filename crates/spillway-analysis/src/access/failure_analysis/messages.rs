//! Failures of sends and receives.

use super::FailureAnalysis;
use spillway_ir::interval::{Interval, NONE, hull};
use spillway_ir::{
    ChannelId, ChannelRef, Communication, CommunicationFit, OverflowRule, ReceivePattern,
    message_arity,
};

/// The possible values of the fields of a message.
pub(in super::super) type MessageIntervals = Vec<Interval>;

impl FailureAnalysis<'_> {
    /// Analyses the evaluation of whether an operation on a buffered channel is possible.
    pub fn readiness(&mut self, communication: &Communication) {
        let channel = communication.channel();
        self.channel(channel);
        if let Communication::Receive { patterns, .. } = communication {
            self.patterns(channel, patterns);
        }
    }

    /// Analyses a send, or a receive of any possible message.
    pub fn exchange(&mut self, communication: &Communication) {
        match communication {
            Communication::Send { .. } => drop(self.send(communication)),
            Communication::Receive { channel, patterns, .. } => {
                self.fits(communication);
                let sent = self.any_message(channel, patterns.len());
                self.deliver(channel, patterns, &sent);
            }
        }
    }

    /// Returns the values of a sent message, converted to the fields of the channel.
    pub fn send(&mut self, communication: &Communication) -> MessageIntervals {
        let Communication::Send { channel, values, .. } = communication else {
            return MessageIntervals::new();
        };
        self.fits(communication);
        values.iter().for_each(|it| self.expr(it));
        let meant = self.meant(channel);
        let fields = |id: &ChannelId| self.of.program().channels[*id].fields.len();
        let most = meant.iter().map(fields).max().unwrap_or_default();
        // Fields without a value become 0.
        let mut sent: MessageIntervals = values.iter().map(|it| self.of.values(it)).collect();
        sent.resize(most, (0, 0));
        let mut fitting = vec![NONE; sent.len()];
        for id in meant {
            let about = &self.of.program().channels[id];
            for ((values, field), fits) in sent.iter().zip(&about.fields).zip(&mut fitting) {
                let (low, high) = self.of.bounds(*field);
                let inside = low <= values.0 && values.1 <= high;
                self.add_failure_if(!inside && about.overflow == OverflowRule::Fails);
                let stored = match about.overflow {
                    _ if inside => *values,
                    OverflowRule::Wraps => (low, high),
                    OverflowRule::Fails => (values.0.max(low), values.1.min(high)),
                };
                *fits = hull(*fits, stored);
            }
        }
        fitting
    }

    /// Analyses the evaluation of whether a rendezvous message matches.
    pub fn matches(&mut self, channel: &ChannelRef, patterns: &[ReceivePattern]) {
        self.patterns(channel, patterns);
    }

    /// Stores a received message. Fields that the message does not have are read as 0 where the language permits it.
    pub fn deliver(
        &mut self,
        channel: &ChannelRef,
        patterns: &[ReceivePattern],
        sent: &MessageIntervals,
    ) {
        let overflows =
            self.meant(channel).into_iter().map(|id| self.of.program().channels[id].overflow);
        let fails = overflows.into_iter().any(|it| it == OverflowRule::Fails);
        let overflow = if fails { OverflowRule::Fails } else { OverflowRule::Wraps };
        let is_read_beyond = self.reads_zero_beyond(channel);
        for (at, pattern) in patterns.iter().enumerate() {
            let ReceivePattern::Into(place) = pattern else { continue };
            let mut values = sent.get(at).copied().unwrap_or(NONE);
            if at > 0 && is_read_beyond {
                values = hull(values, (0, 0));
            }
            if at < sent.len() || is_read_beyond {
                self.place(place);
                self.store_values(place, values, false, overflow);
            }
        }
    }

    /// Returns the possible values of the first fields of a message.
    fn any_message(&mut self, channel: &ChannelRef, fields: usize) -> MessageIntervals {
        let mut sent = vec![NONE; fields];
        for id in self.meant(channel) {
            for (at, values) in sent.iter_mut().enumerate() {
                *values = hull(*values, self.of.field(id, at));
            }
        }
        sent
    }

    fn reads_zero_beyond(&mut self, channel: &ChannelRef) -> bool {
        let mut meant = self.meant(channel).into_iter();
        meant.any(|id| {
            message_arity::reads_zero_past_end(self.of.program().channels[id].fields.len())
        })
    }

    fn meant(&mut self, channel: &ChannelRef) -> Vec<ChannelId> {
        let mut all: Vec<ChannelId> = self.of.channels(channel).iter().map(|it| it.id).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Adds a failure if a channel that may be meant has messages of another length.
    pub fn fits(&mut self, communication: &Communication) {
        let fits = |fields| communication.fit(fields) == CommunicationFit::Fits;
        self.has_fields(communication.channel(), fits);
    }

    /// Adds a failure unless the condition holds for the number of fields of each channel that may be meant.
    pub(super) fn has_fields(&mut self, channel: &ChannelRef, fits: impl Fn(usize) -> bool) {
        let meant = self.meant(channel);
        let fields = |id: ChannelId| self.of.program().channels[id].fields.len();
        let all = meant.into_iter().all(|id| fits(fields(id)));
        self.add_failure_if(!all);
    }
}
