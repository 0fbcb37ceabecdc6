//! Whether judging an expression may fail: a guard that fails is an error, which is a step.

use super::collect::Collector;
use crate::ir::{
    ChannelRef, Expr, ExprKind, Owner, Pattern, Place, Root, Scalar, Selector, Type, TypeId,
    interval,
};

impl Collector<'_> {
    /// Whether an expression may have no value in some state.
    pub fn may_fail(&self, expr: &Expr) -> bool {
        let arithmetic = self.program().arithmetic;
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Self_ | ExprKind::Processes | ExprKind::Timeout => {
                false
            }
            ExprKind::Local(local) => {
                self.held_type(*local).is_some_and(|ty| self.may_be_undefined(ty))
            }
            ExprKind::Read(place) => {
                self.place_may_fail(place) || self.may_be_undefined(self.place_type(place))
            }
            ExprKind::IsUndefined(place) => self.place_may_fail(place),
            ExprKind::Unary(operator, operand) => {
                !arithmetic.always_succeeds_on_one(*operator) || self.may_fail(operand)
            }
            ExprKind::Binary(operator, left, right) => {
                let leaves = || {
                    let (left, right) = (self.values(left), self.values(right));
                    interval::binary(arithmetic, *operator, left, right).leaves
                };
                // A divisor or a count is not looked at; sums are, as they are in every guard.
                let sums = matches!(
                    operator,
                    crate::ir::Binary::Add
                        | crate::ir::Binary::Subtract
                        | crate::ir::Binary::Multiply
                );
                let operation = !arithmetic.always_succeeds(*operator) && (!sums || leaves());
                operation || self.may_fail(left) || self.may_fail(right)
            }
            ExprKind::Same(left, right) => self.may_fail(left) || self.may_fail(right),
            ExprKind::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().any(|it| self.may_fail(it))
            }
            ExprKind::At { slot, .. } => slot.as_ref().is_some_and(|it| self.may_fail(it)),
            ExprKind::Quantified { body, .. } => self.may_fail(body),
            ExprKind::Length(channel) | ExprKind::IsEmpty(channel) | ExprKind::IsFull(channel) => {
                self.channel_may_fail(channel)
            }
            ExprKind::CanReceive(channel, patterns, _) => {
                let fails = |pattern: &Pattern| match pattern {
                    Pattern::Match(value) => self.may_fail(value),
                    _ => false,
                };
                self.channel_may_fail(channel) || patterns.iter().any(fails)
            }
            _ => true,
        }
    }

    /// Whether there may be no such channel.
    pub fn channel_may_fail(&self, channel: &ChannelRef) -> bool {
        match channel {
            ChannelRef::Named(_) => false,
            ChannelRef::Element { count, index, .. } => {
                let (low, high) = self.values(index);
                low < 0 || i64::from(*count) <= high || low > high || self.may_fail(index)
            }
            ChannelRef::Computed(number) => {
                let (low, high) = self.values(number);
                let common = self.program().channels_of(Owner::Program).count() as i64;
                low < 1 || common < high || low > high || self.may_fail(number)
            }
        }
    }

    /// Whether there may be no such place.
    fn place_may_fail(&self, place: &Place) -> bool {
        if place.slot.is_some() || matches!(place.root, Root::Local(_)) {
            return true;
        }
        let mut ty = self.root_type(place);
        place.path.iter().any(|selector| {
            let (fails, part) = self.selector_may_fail(selector, ty);
            ty = part;
            fails
        })
    }

    fn selector_may_fail(&self, selector: &Selector, ty: TypeId) -> (bool, TypeId) {
        match (selector, &self.program().types[ty]) {
            (Selector::Field(number), Type::Record { fields, .. }) => {
                (false, fields[*number as usize].1)
            }
            (Selector::Index(index), Type::Array { low, length, element, .. }) => {
                let (least, most) = self.values(index);
                let inside = least <= most && *low <= least && most < low + i64::from(*length);
                (!inside || self.may_fail(index), *element)
            }
            (_, Type::Multiset { element, .. }) => (true, *element),
            _ => unreachable!("the validator matches selectors to types"),
        }
    }

    fn may_be_undefined(&self, ty: TypeId) -> bool {
        matches!(self.program().types[ty], Type::Scalar(Scalar { undefined: true, .. }))
    }
}
