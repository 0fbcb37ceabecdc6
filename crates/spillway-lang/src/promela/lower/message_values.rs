//! The values of message fields in the bodies of sends and receives, where a `trace` compares them (`trace_events.rs`).
//!
//! The body of a send computes the values again and reduces them to the range of the fields. The body of a receive runs
//! after the message was stored, so it reads the variables. If a compared field is not in a variable then, it is
//! received into a variable of the automaton. If an operand of the comparison may have been overwritten, the whole
//! message is received into such variables, and the body stores it at its destination after the comparison.

use super::trace::{TraceAutomaton, TraceEvent};
use super::{LoweringResult, PromelaLowering};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    BinaryOp, ChannelRef, Expr, ExprKind, OverflowRule, Owner, Place, PlaceRoot, PlaceSelector,
    ReceivePattern, ScalarType, Stmt, StmtKind, Type, TypeId, VarId, Variable, interval,
};
use std::collections::BTreeSet;

/// A receive whose body can read the required fields.
pub(super) struct KeptMessage {
    pub(super) patterns: Vec<ReceivePattern>,
    /// The value of each required field.
    pub(super) values: Vec<Option<Expr>>,
    /// The stores that are delayed until the values have been compared.
    pub(super) stores: Vec<Stmt>,
}

impl PromelaLowering<'_, '_> {
    /// Returns the sent values as the fields of the message hold them, for the fields that an event compares.
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

    /// Returns the possible types of a message field, if the channel is that of one of the events.
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

    /// Returns the least and the greatest value of a scalar type.
    pub(super) fn bounds(&self, ty: TypeId) -> (i64, i64) {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => self.program.bounds(domain),
            _ => (0, 0),
        }
    }

    /// Reduces a value to the range from `least` to `greatest`, as a store does.
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
            // 32-bit integers need no reduction; neither do names of a set, to which only names are stored.
            _ => value.clone(),
        }
    }

    /// Returns the least and the greatest value of a place.
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

    /// Rejects a compared value that the body of an action may not compute as it was before the action.
    pub(super) fn require_unchanged(&self, value: &Expr) -> LoweringResult<()> {
        if self.is_unchanged_by_action(value) {
            return Ok(());
        }
        let error = "a trace compares this value, which asks about channels or processes";
        Err(Diagnostic::error(value.span, error).help("store it in a variable first"))
    }

    /// Returns whether an expression has the same value in the body of an action as before, provided that no variable
    /// it reads is assigned.
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

    /// Changes a receive so that its body can read the required fields.
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
        // The variables are cleared between steps, so that no two states differ only in them.
        let nothing = |it: VarId| {
            store(Place::variable(it, Span::default()), Expr::constant(0, Span::default()))
        };
        kept.stores.extend(used.into_iter().map(nothing));
        Ok(kept)
    }

    /// Returns whether the message must be stored after the comparison: an earlier store would change the channel, a
    /// field, or an operand of the comparison.
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

    /// Returns whether a place can hold every value of a message field.
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

    /// Returns the automaton's variable that holds a message field while the body of a receive runs.
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

/// Returns whether a place belongs to the moving process or to the program, with constant indices.
fn is_fixed(place: &Place) -> bool {
    let is_known = |it: &PlaceSelector| match it {
        PlaceSelector::Index(index) => index.as_constant().is_some(),
        PlaceSelector::Field(_) => true,
    };
    place.slot.is_none() && place.path.iter().all(is_known)
}

/// Returns whether an expression reads a variable.
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
