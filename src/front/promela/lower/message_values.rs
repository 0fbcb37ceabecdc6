//! What the body of a send or receive knows of the message, where a `trace` compares fields of it (`events.rs`).
//!
//! The body of a send computes the values once more, and reduces them to what the fields hold. The body of a receive runs
//! when the message is stored already, so it reads the variables. Where a field that is compared is not in a variable then,
//! it is received into a variable of the automaton. Where something that is compared may have been stored over, so is all of
//! the message, and the body stores it where it belongs after the comparison.

use super::trace::{TraceAutomaton, TraceEvent};
use super::{LoweringResult, PromelaLowering};
use crate::diag::Diagnostic;
use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{
    BinaryOp, ChannelRef, Expr, ExprKind, OverflowRule, Owner, Place, PlaceRoot, PlaceSelector,
    ReceivePattern, ScalarType, Stmt, StmtKind, Type, TypeId, VarId, Variable, interval,
};
use crate::source::Span;
use std::collections::BTreeSet;

/// A receive whose body knows the fields that are asked for.
pub(super) struct KeptMessage {
    pub(super) patterns: Vec<ReceivePattern>,
    /// The value of each field that is asked for.
    pub(super) values: Vec<Option<Expr>>,
    /// What is still to be stored, once the values are not needed.
    pub(super) stores: Vec<Stmt>,
}

impl PromelaLowering<'_, '_> {
    /// The values that are sent, as the fields of the message hold them: of those that an event compares.
    pub(super) fn sent_values(
        &self,
        channel: &ChannelRef,
        values: &[Expr],
        event: &TraceEvent,
    ) -> LoweringResult<Vec<Option<Expr>>> {
        let mut known = Vec::new();
        for (field, value) in values.iter().enumerate() {
            known.push(match event.fields.get(field) {
                Some(Some(_)) => Some(self.sent_value(channel, field, value, event)?),
                _ => None,
            });
        }
        Ok(known)
    }

    fn sent_value(
        &self,
        channel: &ChannelRef,
        field: usize,
        value: &Expr,
        event: &TraceEvent,
    ) -> LoweringResult<Expr> {
        self.require_unchanged(value)?;
        let types = self.types_of_field(channel, std::slice::from_ref(event), field);
        let bounds: BTreeSet<(i64, i64)> = types.iter().map(|&it| self.bounds(it)).collect();
        if let Some(known) = value.as_constant() {
            let held = bounds.iter().map(|&it| interval::wrap_into(known, it));
            let held: BTreeSet<i64> = held.collect();
            if let (Some(&held), 1) = (held.first(), held.len()) {
                return Ok(Expr::constant(held, value.span));
            }
        }
        let mut bounds = bounds.into_iter();
        match (bounds.next(), bounds.next()) {
            (Some((low, high)), None) => Ok(self.wrap_to_bounds(value, low, high)),
            _ => {
                let error = "it is not known how wide the field is with which the trace compares this value";
                Err(Diagnostic::error(value.span, error)
                    .help("name a channel, not a variable that holds one, in the trace"))
            }
        }
    }

    /// The types that a field of a message may have, if the channel is that of one of some events.
    fn types_of_field(
        &self,
        channel: &ChannelRef,
        events: &[TraceEvent],
        field: usize,
    ) -> BTreeSet<TypeId> {
        if let Some(fields) = self.fields_of_channel(channel) {
            return fields.get(field).copied().into_iter().collect();
        }
        let known: Option<BTreeSet<TypeId>> = (events.iter())
            .filter(|it| it.fields.len() > field)
            .map(|it| self.fields_of_channel(&it.channel)?.get(field).copied())
            .collect();
        let all = self.program.channels.values().filter_map(|it| it.fields.get(field)).copied();
        known.unwrap_or_else(|| all.collect())
    }

    /// The least and the greatest value of a type that is a scalar's.
    pub(super) fn bounds(&self, ty: TypeId) -> (i64, i64) {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => self.program.bounds(domain),
            _ => (0, 0),
        }
    }

    /// A value reduced to what lies from `least` to `greatest`, as storing it does.
    fn wrap_to_bounds(&self, value: &Expr, least: i64, greatest: i64) -> Expr {
        let span = value.span;
        let with =
            |operator, kind, number| self.binary(operator, kind, ExprKind::Constant(number), span);
        if let ExprKind::Read(place) = &value.kind
            && let (low, high) = self.bounds_at(place)
            && least <= low
            && high <= greatest
        {
            return value.clone();
        }
        match (least, greatest) {
            (0, high @ (1 | 255)) => with(BinaryOp::BitAnd, value.kind.clone(), high),
            (-32768, 32767) => {
                let low = with(BinaryOp::BitAnd, value.kind.clone(), 0xffff);
                let sign = with(BinaryOp::BitXor, low.kind, 0x8000);
                with(BinaryOp::Subtract, sign.kind, 0x8000)
            }
            // Numbers of 32 bits, and names of a set, which nothing but names is stored to.
            _ => value.clone(),
        }
    }

    /// The least and the greatest value that a place can hold.
    pub(super) fn bounds_at(&self, place: &Place) -> (i64, i64) {
        let PlaceRoot::Variable(variable) = place.root else { return (i64::MIN, i64::MAX) };
        let mut ty = self.program.variables[variable].ty;
        for selector in &place.path {
            ty = match (selector, &self.program.types[ty]) {
                (PlaceSelector::Index(_), Type::Array { element, .. }) => *element,
                (PlaceSelector::Field(at), Type::Record { fields, .. }) => fields[*at as usize].1,
                _ => return (i64::MIN, i64::MAX),
            };
        }
        self.bounds(ty)
    }

    /// A value that is compared in the body of an action must be what it was before the action.
    pub(super) fn require_unchanged(&self, value: &Expr) -> LoweringResult<()> {
        if self.is_unchanged_by_action(value) {
            return Ok(());
        }
        let error = "a trace compares this value, which asks about channels or processes";
        Err(Diagnostic::error(value.span, error).help("store it in a variable first"))
    }

    /// Whether an expression has the same value in the body of an action as before, if no variable that it reads is stored to.
    pub(super) fn is_unchanged_by_action(&self, expr: &Expr) -> bool {
        let settled = |it: &Expr| self.is_unchanged_by_action(it);
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Self_ | ExprKind::Processes => true,
            ExprKind::Read(place) => {
                let index = |it: &PlaceSelector| match it {
                    PlaceSelector::Index(index) => settled(index),
                    PlaceSelector::Field(_) => true,
                };
                Some(place.root) != self.last.map(PlaceRoot::Variable)
                    && place.slot.iter().all(|it| settled(it))
                    && place.path.iter().all(index)
            }
            ExprKind::Unary(_, operand) => settled(operand),
            ExprKind::Binary(_, left, right) => settled(left) && settled(right),
            ExprKind::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().all(|it| settled(it))
            }
            ExprKind::SlotOf(_, pid) => settled(pid),
            ExprKind::ChannelNumber(channel) => match channel {
                ChannelRef::Named(_) => true,
                ChannelRef::Element { index, .. } => settled(index),
                ChannelRef::Computed(number) => settled(number),
            },
            _ => false,
        }
    }

    /// Changes a receive so that its body knows the fields that are asked for.
    pub(super) fn keep_message(
        &mut self,
        trace: &TraceAutomaton,
        channel: &ChannelRef,
        patterns: Vec<ReceivePattern>,
        asked: &BTreeSet<usize>,
    ) -> LoweringResult<KeptMessage> {
        let is_late = self.must_store_late(trace, channel, &patterns, asked);
        let mut kept = KeptMessage { patterns: Vec::new(), values: Vec::new(), stores: Vec::new() };
        let mut used = Vec::new();
        for (field, pattern) in patterns.into_iter().enumerate() {
            let is_asked = asked.contains(&field);
            let (pattern, value) = match pattern {
                ReceivePattern::Into(place) if is_late => {
                    let own = self.message_variable(trace, channel, field);
                    used.push(own);
                    let value = read(own, place.span);
                    kept.stores.push(store(place, value.clone()));
                    (ReceivePattern::Into(Place::variable(own, value.span)), Some(value))
                }
                ReceivePattern::Any if is_asked => {
                    let own = self.message_variable(trace, channel, field);
                    used.push(own);
                    let place = Place::variable(own, Span::default());
                    (ReceivePattern::Into(place), Some(read(own, Span::default())))
                }
                ReceivePattern::Match(value) => {
                    if is_asked {
                        self.require_unchanged(&value)?;
                    }
                    (ReceivePattern::Match(value.clone()), Some(value))
                }
                ReceivePattern::Into(place) => {
                    let value = Expr::new(ExprKind::Read(place.clone()), place.span);
                    (ReceivePattern::Into(place), Some(value))
                }
                ReceivePattern::Any => (ReceivePattern::Any, None),
            };
            kept.patterns.push(pattern);
            kept.values.push(value.filter(|_| is_asked));
        }
        // Between steps the variables hold nothing, so that no two states differ by them.
        let nothing = |it: VarId| {
            store(Place::variable(it, Span::default()), Expr::constant(0, Span::default()))
        };
        kept.stores.extend(used.into_iter().map(nothing));
        Ok(kept)
    }

    /// Whether the message must not be stored before the automaton has compared it: something that is compared with it, the
    /// channel, or a field itself, would not be what it was.
    fn must_store_late(
        &self,
        trace: &TraceAutomaton,
        channel: &ChannelRef,
        patterns: &[ReceivePattern],
        asked: &BTreeSet<usize>,
    ) -> bool {
        if asked.is_empty() {
            return false;
        }
        let mut expected = trace.events.iter().flat_map(|it| it.fields.iter().flatten());
        if expected.any(|it| it.as_constant().is_none()) {
            return true;
        }
        let targets: Vec<&Place> = (patterns.iter())
            .filter_map(|it| match it {
                ReceivePattern::Into(place) => Some(place),
                _ => None,
            })
            .collect();
        let asks_for_target = match channel {
            ChannelRef::Named(_) => false,
            ChannelRef::Element { index: expr, .. } | ChannelRef::Computed(expr) => {
                targets.iter().any(|target| reads(expr, target.root))
            }
        };
        let is_lost = |field: &usize| match patterns.get(*field) {
            None | Some(ReceivePattern::Any) => false,
            Some(ReceivePattern::Match(value)) => value.as_constant().is_none(),
            Some(ReceivePattern::Into(place)) => {
                let same = targets.iter().filter(|it| it.root == place.root).count();
                same > 1 || !is_fixed(place) || !self.holds_field(trace, channel, *field, place)
            }
        };
        asks_for_target || asked.iter().any(is_lost)
    }

    /// Whether a place holds every value that a field of the message may have.
    fn holds_field(
        &self,
        trace: &TraceAutomaton,
        channel: &ChannelRef,
        field: usize,
        place: &Place,
    ) -> bool {
        let (low, high) = self.bounds_at(place);
        let types = self.types_of_field(channel, &trace.events, field);
        types.into_iter().map(|it| self.bounds(it)).all(|it| low <= it.0 && it.1 <= high)
    }

    /// A variable of the automaton for a field of a message while the body of a receive runs.
    fn message_variable(
        &mut self,
        trace: &TraceAutomaton,
        channel: &ChannelRef,
        field: usize,
    ) -> VarId {
        let ty = match self
            .types_of_field(channel, &trace.events, field)
            .into_iter()
            .collect::<Vec<_>>()[..]
        {
            [known] => known,
            _ => {
                let (low, high) = (i32::MIN.into(), i32::MAX.into());
                self.range(low, high)
            }
        };
        if let Some(known) = self.message_variables.get(&(field, ty)) {
            return *known;
        }
        let about = &self.program.variables[trace.variable];
        let number = self.message_variables.len();
        let name = format!("{}.message.{number}", about.name);
        let span = about.span;
        let initial = vec![Some(0)];
        let made = self.program.variables.push(Variable {
            name,
            ty,
            owner: Owner::Program,
            initial,
            span,
        });
        self.message_variables.insert((field, ty), made);
        made
    }
}

fn read(variable: VarId, span: Span) -> Expr {
    Expr::new(ExprKind::Read(Place::variable(variable, span)), span)
}

fn store(target: Place, value: Expr) -> Stmt {
    let span = target.span;
    Stmt { kind: StmtKind::Assign { target, value, overflow: OverflowRule::Wraps }, span }
}

/// Whether a place is the mover's or the program's own, by indices that are known.
fn is_fixed(place: &Place) -> bool {
    let is_known = |it: &PlaceSelector| match it {
        PlaceSelector::Index(index) => index.as_constant().is_some(),
        PlaceSelector::Field(_) => true,
    };
    place.slot.is_none() && place.path.iter().all(is_known)
}

/// Whether an expression reads a variable.
fn reads(expr: &Expr, root: PlaceRoot) -> bool {
    struct RootReadFinder {
        root: PlaceRoot,
        found: bool,
    }
    impl CodeVisitor for RootReadFinder {
        fn place(&mut self, place: &Place, access: PlaceAccess) {
            self.found |= place.root == self.root;
            let _ = access;
            walk::place(self, place);
        }
    }
    let mut reads = RootReadFinder { root, found: false };
    reads.expr(expr);
    reads.found
}
