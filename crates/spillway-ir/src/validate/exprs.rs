//! Validation of expressions, places, channels and locals (rules 12 to 22 and 27).

use super::{BoundLocal, LocalBinding, ProgramValidator, Rule, WriteReach};
use crate::{
    CallArgument, ChannelId, ChannelRef, Expr, ExprKind, FunctionId, LocalId, NumberConversion,
    Owner, Place, PlaceRoot, PlaceSelector, ReceivePattern, Type, TypeId,
};
use spillway_base::source::Span;

impl<'a> ProgramValidator<'a> {
    /// Checks an expression. Long chains of operations lean to the left, so left operands are followed without
    /// recursion.
    pub(super) fn expr(&mut self, expr: &Expr) {
        let mut expr = expr;
        while let ExprKind::Binary(_, left, right) = &expr.kind {
            self.expr(right);
            expr = left;
        }
        let span = expr.span;
        match &expr.kind {
            ExprKind::Constant(value) => self.integer(*value, span),
            ExprKind::Undefined => {
                self.problem(Rule::Undefined, span, "the undefined value is computed with");
            }
            ExprKind::Read(place) | ExprKind::IsUndefined(place) => {
                self.scalar_place(place);
            }
            ExprKind::Local(local) => self.use_local(*local, span),
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Binary(..) => unreachable!("followed above"),
            ExprKind::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Call(function, arguments) => self.result(*function, arguments, span),
            ExprKind::Convert(convert) => self.convert(convert, span),
            ExprKind::Same(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Self_ => self.require(self.scope.mover.is_some(), Rule::Mover, span, || {
                "the mover's slot is asked for where no process moves".into()
            }),
            ExprKind::Processes | ExprKind::Timeout => {}
            _ => self.query(&expr.kind, span),
        }
    }

    /// Checks queries about the state or about many values.
    fn query(&mut self, kind: &ExprKind, span: Span) {
        match kind {
            ExprKind::At { process, slot, location } => {
                if self.known_location(*process, *location, span) {
                    self.slot(Owner::Process(*process), slot.as_deref(), span);
                }
            }
            ExprKind::Length(channel) | ExprKind::IsEmpty(channel) | ExprKind::IsFull(channel) => {
                self.channel_ref(channel, span);
                self.buffered(channel, span, "asked how full it is");
            }
            ExprKind::CanReceive(channel, patterns, _) => {
                self.patterns(channel, patterns, span);
                self.buffered(channel, span, "asked what it holds");
            }
            ExprKind::ChannelNumber(channel) => self.channel_ref(channel, span),
            ExprKind::SlotOf(process, pid) => {
                self.known_process(*process, span);
                self.expr(pid);
            }
            ExprKind::Enabled(pid) | ExprKind::PriorityOf(pid) => self.expr(pid),
            ExprKind::Quantified { local, over, body, .. } => {
                self.ranges(*over, span);
                self.binding(*local, LocalBinding::Value, span, |checker| checker.expr(body));
            }
            ExprKind::Count { multiset, local, body } => {
                self.multiset(multiset);
                self.binding(*local, LocalBinding::Value, span, |checker| checker.expr(body));
            }
            ExprKind::Contains(contains) => {
                self.multiset(&contains.multiset);
                self.expr(&contains.position);
            }
            _ => unreachable!("the other expressions are checked above"),
        }
    }

    /// Checks an expression whose value is stored, sent or passed as a `ty`, if that is known (rule 27).
    pub(super) fn value(&mut self, expr: &Expr, ty: Option<TypeId>) {
        let mut whole = expr;
        while let ExprKind::Convert(convert) = &whole.kind {
            self.pieces(convert, whole.span);
            whole = &convert.operand;
        }
        if !matches!(whole.kind, ExprKind::Undefined) {
            return self.expr(whole);
        }
        let may = ty.is_some_and(|ty| self.types.may_be_undefined(ty));
        self.require(may, Rule::Undefined, expr.span, || {
            "the undefined value is given where it may not be".into()
        });
    }

    fn convert(&mut self, convert: &NumberConversion, span: Span) {
        self.pieces(convert, span);
        self.expr(&convert.operand);
    }

    /// Checks rule 4, and that no piece is empty.
    fn pieces(&mut self, convert: &NumberConversion, span: Span) {
        for piece in &convert.pieces {
            [piece.low, piece.high, piece.by].into_iter().for_each(|it| self.integer(it, span));
            self.require(piece.low <= piece.high, Rule::Integers, span, || {
                format!("nothing lies between {} and {}", piece.low, piece.high)
            });
        }
    }

    /// Checks a place and returns its type (rules 1, 12 and 15).
    pub(super) fn place(&mut self, place: &Place) -> Option<TypeId> {
        let mut ty = self.root(place)?;
        for selector in &place.path {
            if let PlaceSelector::Index(index) = selector {
                self.expr(index);
            }
            let Some(part) = self.step(ty, selector) else {
                let message = format!("no way into {ty:?} by {}", step_name(selector));
                self.problem(Rule::Paths, place.span, message);
                return None;
            };
            ty = part;
        }
        Some(ty)
    }

    fn root(&mut self, place: &Place) -> Option<TypeId> {
        match place.root {
            PlaceRoot::Variable(variable) => {
                if !self.known_variable(variable, place.span) {
                    return None;
                }
                let variable = &self.program.variables[variable];
                self.slot(variable.owner, place.slot.as_deref(), place.span);
                Some(variable.ty)
            }
            PlaceRoot::Local(local) => {
                self.require(place.slot.is_none(), Rule::Slots, place.span, || {
                    format!("a slot is given for {local:?}, which has none")
                });
                self.opened(local, place.span);
                let ty = self.scope.locals.get(&local)?.place;
                self.require(ty.is_some(), Rule::Paths, place.span, || {
                    format!("a place begins at {local:?}, which is only a value")
                });
                ty
            }
        }
    }

    fn step(&self, ty: TypeId, selector: &PlaceSelector) -> Option<TypeId> {
        match (&self.program.types[ty], selector) {
            (
                Type::Array { element, .. } | Type::Multiset { element, .. },
                PlaceSelector::Index(_),
            ) => Some(*element),
            (Type::Record { fields, .. }, PlaceSelector::Field(field)) => {
                fields.get(*field as usize).map(|(_, ty)| *ty)
            }
            _ => None,
        }
    }

    /// Checks a place with a single value and returns its type (rule 13).
    pub(super) fn scalar_place(&mut self, place: &Place) -> Option<TypeId> {
        let ty = self.place(place)?;
        self.require(self.is_scalar(ty), Rule::ScalarPlaces, place.span, || {
            "an aggregate stands where a single value is needed".into()
        });
        Some(ty)
    }

    /// Checks that a place is a multiset and returns the type of its elements (rule 14).
    pub(super) fn multiset(&mut self, place: &Place) -> Option<TypeId> {
        let ty = self.place(place)?;
        match self.program.types[ty] {
            Type::Multiset { element, .. } => Some(element),
            _ => {
                self.problem(Rule::Multisets, place.span, "this is no multiset");
                None
            }
        }
    }

    /// Checks rule 15.
    fn slot(&mut self, owner: Owner, slot: Option<&Expr>, span: Span) {
        if let Some(slot) = slot {
            self.expr(slot);
        }
        let (right, message) = match owner {
            Owner::Process(process) if self.has_slots(process) => (
                slot.is_some() || self.scope.mover == Some(process),
                "whose it is must be said where no instance of its process moves",
            ),
            _ => (slot.is_none(), "a slot is given for what has none"),
        };
        self.require(right, Rule::Slots, span, || message.into());
    }

    pub(super) fn channel_ref(&mut self, channel: &ChannelRef, span: Span) {
        match channel {
            ChannelRef::Computed(number) => self.expr(number),
            ChannelRef::Named(id) => self.named_channel(*id, span),
            ChannelRef::Element { first, count, index } => {
                self.expr(index);
                self.named_channel(*first, span);
                let last = ChannelId(first.0.saturating_add(count.saturating_sub(1)));
                self.named_channel(last, span);
            }
        }
    }

    fn named_channel(&mut self, id: ChannelId, span: Span) {
        if self.known_channel(id, span) {
            self.slot(self.program.channels[id].owner, None, span);
        }
    }

    /// Checks rule 19.
    pub(super) fn buffered(&mut self, channel: &ChannelRef, span: Span, what: &str) {
        self.require(!self.is_rendezvous(channel), Rule::Buffered, span, || {
            format!("a rendezvous channel is {what}")
        });
    }

    /// Returns the types of a channel's fields, if the channel is known. It must have `count` fields (rule 18),
    /// unless processes start and end: see [`crate::message_arity`].
    pub(super) fn fields(
        &mut self,
        channel: &ChannelRef,
        count: usize,
        span: Span,
    ) -> Option<&'a [TypeId]> {
        let program = self.program;
        let (ChannelRef::Named(id) | ChannelRef::Element { first: id, .. }) = channel else {
            return None;
        };
        let channel = program.channels.get(*id)?;
        let fields = &channel.fields;
        let fits = fields.len() == count || program.has_dynamic_processes();
        self.require(fits, Rule::MessageArity, span, || {
            format!("{count} values for channel {}, which has {}", channel.name, fields.len())
        });
        fits.then_some(fields)
    }

    pub(super) fn patterns(
        &mut self,
        channel: &ChannelRef,
        patterns: &[ReceivePattern],
        span: Span,
    ) {
        self.channel_ref(channel, span);
        self.fields(channel, patterns.len(), span);
        for pattern in patterns {
            match pattern {
                ReceivePattern::Into(place) => {
                    self.scalar_place(place);
                }
                ReceivePattern::Match(value) => self.expr(value),
                ReceivePattern::Any => {}
            }
        }
    }

    /// Checks rule 17.
    pub(super) fn ranges(&mut self, over: TypeId, span: Span) {
        if self.known_type(over, span) {
            self.require(self.is_scalar(over), Rule::ScalarRanges, span, || {
                format!("{over:?}, over which a name ranges, is no scalar type")
            });
        }
    }

    /// Checks rule 16.
    pub(super) fn bind(&mut self, local: LocalId, to: LocalBinding, span: Span) {
        let (scalar, place) = match to {
            LocalBinding::Value => (true, None),
            LocalBinding::Place(ty) => (self.is_scalar(ty), Some(ty)),
        };
        let bound = BoundLocal { open: true, scalar, place, reach: WriteReach::Own };
        let before = self.scope.locals.insert(local, bound);
        self.require(before.is_none(), Rule::Locals, span, || {
            format!("{local:?} is bound a second time")
        });
    }

    /// Checks `inside` in the scope of a local.
    pub(super) fn binding(
        &mut self,
        local: LocalId,
        to: LocalBinding,
        span: Span,
        inside: impl FnOnce(&mut Self),
    ) {
        self.bind(local, to, span);
        inside(self);
        if let Some(bound) = self.scope.locals.get_mut(&local) {
            bound.open = false;
        }
    }

    /// Sets the reach of writes to a local.
    pub(super) fn stands_for(&mut self, local: LocalId, reach: WriteReach) {
        if let Some(bound) = self.scope.locals.get_mut(&local) {
            bound.reach = reach;
        }
    }

    /// Returns the reach of a write to a place.
    pub(super) fn reach_of(&self, place: &Place) -> WriteReach {
        match place.root {
            PlaceRoot::Variable(_) => WriteReach::State,
            PlaceRoot::Local(local) => {
                self.scope.locals.get(&local).map_or(WriteReach::State, |it| it.reach)
            }
        }
    }

    /// Checks rule 16.
    fn opened(&mut self, local: LocalId, span: Span) {
        let open = self.scope.locals.get(&local).is_some_and(|bound| bound.open);
        self.require(open, Rule::Locals, span, || {
            format!("{local:?} is used outside what binds it")
        });
    }

    /// Checks rules 13 and 16.
    fn use_local(&mut self, local: LocalId, span: Span) {
        self.opened(local, span);
        let scalar = self.scope.locals.get(&local).is_none_or(|bound| bound.scalar);
        self.require(scalar, Rule::ScalarPlaces, span, || {
            format!("{local:?} is an aggregate, used as a single value")
        });
    }

    /// Checks a call in an expression (rules 21 and 22).
    fn result(&mut self, id: FunctionId, arguments: &[CallArgument], span: Span) {
        if self.known_function(id, span) {
            self.functions.note_call(self.scope.function, id, WriteReach::Own);
            self.functions.note_expression_call(id, span);
            let function = &self.program.functions[id];
            self.require(function.result.is_some(), Rule::Results, span, || {
                format!("{} has no result to compute with", function.name)
            });
            self.arguments(id, arguments, span);
        }
    }

    /// Checks a call as a statement (rules 21 and 22).
    pub(super) fn call(
        &mut self,
        id: FunctionId,
        arguments: &[CallArgument],
        into: Option<&Place>,
        span: Span,
    ) {
        if let Some(place) = into {
            self.scalar_place(place);
        }
        if self.known_function(id, span) {
            let given = arguments.iter().map(|it| match it {
                CallArgument::Reference(place) => self.reach_of(place),
                CallArgument::Value(_) | CallArgument::Copy(_) => WriteReach::Own,
            });
            let given = given.max().unwrap_or(WriteReach::Own);
            self.functions.note_call(self.scope.function, id, given);
            let function = &self.program.functions[id];
            self.require(function.result.is_some() || into.is_none(), Rule::Results, span, || {
                format!("{} has no result to store", function.name)
            });
            self.arguments(id, arguments, span);
        }
    }

    /// Checks rule 21.
    fn arguments(&mut self, id: FunctionId, arguments: &[CallArgument], span: Span) {
        let function = &self.program.functions[id];
        let expected = function.parameters.len();
        self.require(arguments.len() == expected, Rule::Arguments, span, || {
            format!("{} arguments for {}, which takes {expected}", arguments.len(), function.name)
        });
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            self.argument(argument, parameter.ty, parameter.by_reference, span);
        }
    }

    /// Checks rule 21.
    fn argument(&mut self, argument: &CallArgument, ty: TypeId, by_reference: bool, span: Span) {
        let right = match argument {
            CallArgument::Value(value) => {
                self.value(value, Some(ty));
                !by_reference && self.is_scalar(ty)
            }
            CallArgument::Copy(place) => {
                let Some(given) = self.place(place) else { return };
                !by_reference && self.types.have_same_shape(given, ty)
            }
            CallArgument::Reference(place) => {
                let Some(given) = self.place(place) else { return };
                by_reference && self.types.have_same_shape(given, ty)
            }
        };
        self.require(right, Rule::Arguments, span, || {
            "an argument is a value for a reference, a reference for a value, or of another shape"
                .into()
        });
    }
}

fn step_name(selector: &PlaceSelector) -> String {
    match selector {
        PlaceSelector::Index(_) => "an index".into(),
        PlaceSelector::Field(field) => format!("field {field}"),
    }
}
