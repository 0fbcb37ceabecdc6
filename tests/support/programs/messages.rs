//! The generation of messages: sends and receives.

use super::Builder;
use spillway::ir::{
    BinaryOp, ChannelId, ChannelRef, Communication, Expr, ExprKind, OverflowRule, ReceivePattern,
    Stmt, StmtKind, TypeId, UnaryOp,
};

impl Builder<'_> {
    /// Returns the buffered channels.
    pub(super) fn buffered(&self) -> Vec<ChannelId> {
        let channels = self.program.channels.iter();
        channels.filter(|(_, channel)| channel.capacity > 0).map(|(id, _)| id).collect()
    }

    /// Returns a send or a receive on a channel.
    pub(super) fn communication(&mut self, channel: ChannelId, sends: bool) -> Communication {
        let fields = self.program.channels[channel].fields.clone();
        let buffered = self.program.channels[channel].capacity > 0;
        let named = ChannelRef::Named(channel);
        let first = self.choices.chance(30);
        let second = self.choices.chance(20);
        match sends {
            true => Communication::Send {
                channel: named,
                values: fields.iter().map(|&field| self.sent(channel, field)).collect(),
                sorted: buffered && first,
                span: self.span(),
            },
            false => Communication::Receive {
                channel: named,
                patterns: fields.iter().map(|&field| self.pattern(channel, field)).collect(),
                anywhere: buffered && first,
                peek: buffered && second,
                span: self.span(),
            },
        }
    }

    fn sent(&mut self, channel: ChannelId, field: TypeId) -> Expr {
        let wraps = self.program.channels[channel].overflow == OverflowRule::Wraps;
        let (low, high) = self.bounds(field);
        match self.choices.weighted(&[70, 30]) {
            _ if self.may_be_undefined(field) && self.risks() => self.expr(ExprKind::Undefined),
            1 if wraps || self.risks() => self.any_expr(2),
            _ if self.risks() => self.constant_near(low, high),
            _ => self.any_within(low, high, 2),
        }
    }

    fn pattern(&mut self, channel: ChannelId, field: TypeId) -> ReceivePattern {
        match self.choices.weighted(&[35, 45, 20]) {
            1 => self.into(channel, field),
            2 => {
                let (low, high) = self.bounds(field);
                ReceivePattern::Match(match self.risks() {
                    true => self.any_expr(2),
                    false => self.any_within(low, high, 1),
                })
            }
            _ => ReceivePattern::Any,
        }
    }

    /// Returns a pattern that stores a field at a suitable place, if there is one.
    fn into(&mut self, channel: ChannelId, field: TypeId) -> ReceivePattern {
        let fits = self.program.channels[channel].overflow == OverflowRule::Wraps || self.risks();
        let (low, high) = self.bounds(field);
        let part = self.part(|it, part| {
            !part.is_in_multiset()
                && it.may_write(part)
                && it.scalar(part.ty).is_some_and(|scalar| {
                    let (least, greatest) = it.program.bounds(&scalar.domain);
                    fits || least <= low && high <= greatest
                })
        });
        part.map_or(ReceivePattern::Any, |part| ReceivePattern::Into(self.place(&part, 1)))
    }

    /// Returns whether some message could be received now, as an expression.
    pub(super) fn can_receive(&mut self, channel: ChannelId, depth: u32) -> Expr {
        let fields = self.program.channels[channel].fields.clone();
        let patterns = fields.iter().map(|&field| match (depth, self.choices.below(2)) {
            (0, _) | (_, 0) => ReceivePattern::Any,
            _ => self.pattern(channel, field),
        });
        let patterns = patterns.collect();
        let anywhere = self.choices.chance(25);
        self.expr(ExprKind::CanReceive(ChannelRef::Named(channel), patterns, anywhere))
    }

    /// Returns a send or receive in a body, usually only if it does not block.
    pub(super) fn exchange(&mut self) -> Option<Stmt> {
        let buffered = self.buffered();
        if buffered.is_empty() || self.in_function {
            return None;
        }
        let channel = self.choices.pick(&buffered);
        let sends = self.choices.chance(50);
        let communication = self.communication(channel, sends);
        let condition = match &communication {
            Communication::Send { .. } => {
                let full = self.expr(ExprKind::IsFull(ChannelRef::Named(channel)));
                self.expr(ExprKind::Unary(UnaryOp::Not, Box::new(full)))
            }
            Communication::Receive { patterns, .. } => {
                // Repeated patterns would repeat their spans, which must be unique.
                let matches = patterns.iter().any(|it| matches!(it, ReceivePattern::Match(_)));
                match matches {
                    true => self.length_above(channel, 0),
                    false => self.can_receive(channel, 0),
                }
            }
        };
        let stmt = self.stmt(StmtKind::Communicate(communication));
        Some(if self.risks() { stmt } else { self.only_if(Some(condition), stmt) })
    }

    fn length_above(&mut self, channel: ChannelId, count: i64) -> Expr {
        let length = self.expr(ExprKind::Length(ChannelRef::Named(channel)));
        let count = self.constant(count);
        self.binary(BinaryOp::Greater, length, count)
    }
}
