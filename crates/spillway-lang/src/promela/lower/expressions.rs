//! Lowering of expressions, places and channels.

use super::parameters::refuse_index;
use super::{LoweringResult, PromelaLowering, SymbolMeaning};
use crate::promela::ast::{
    ChannelProbe, MtypeValue, PromelaExpr, PromelaExprKind, PromelaName, PromelaReference,
    ReceiveField,
};
use crate::promela::symbols::{PromelaInitializer, PromelaSymbol, PromelaType};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, BinaryOp, ChannelId, ChannelRef, Communication, CommunicationFit, Entity,
    LocationId, PidRule, Place, PlaceSelector, ProcessId, ReceivePattern, UnaryOp,
};

/// An instance of a process, as named in an expression.
#[derive(Clone, Copy)]
struct InstanceReference<'e> {
    process: &'e PromelaName,
    /// The pid; `None` means the oldest instance.
    pid: Option<&'e PromelaExpr>,
}

impl<'m> PromelaLowering<'m, '_> {
    /// Lowers an expression of the process with this number, or of no process.
    pub(super) fn expr(
        &mut self,
        expr: &PromelaExpr,
        inside: Option<usize>,
    ) -> LoweringResult<ir::Expr> {
        let span = expr.span;
        if let Some(value) = expr.constant() {
            return Ok(ir::Expr::constant(value, span));
        }
        let kind = match &expr.kind {
            PromelaExprKind::Number(value) | PromelaExprKind::Symbol(MtypeValue { value, .. }) => {
                ir::ExprKind::Constant(*value)
            }
            PromelaExprKind::Variable(reference) => return self.read(reference, inside),
            PromelaExprKind::Unary(operator, operand) => {
                ir::ExprKind::Unary(*operator, Box::new(self.expr(operand, inside)?))
            }
            PromelaExprKind::Binary(operator, left, right) => ir::ExprKind::Binary(
                *operator,
                Box::new(self.expr(left, inside)?),
                Box::new(self.expr(right, inside)?),
            ),
            PromelaExprKind::Conditional(condition, then, otherwise) => ir::ExprKind::Conditional(
                Box::new(self.expr(condition, inside)?),
                Box::new(self.expr(then, inside)?),
                Box::new(self.expr(otherwise, inside)?),
            ),
            PromelaExprKind::Run { .. } => {
                return Err(Diagnostic::error(span, "a run is part of a larger expression")
                    .help("store its result first: `p = run P()`"));
            }
            PromelaExprKind::Length(channel) => {
                let channel = self.channel(channel, inside)?;
                match self.is_rendezvous(&channel) {
                    true => ir::ExprKind::Constant(0),
                    false => ir::ExprKind::Length(channel),
                }
            }
            PromelaExprKind::Probe(probe, channel) => self.probe(*probe, channel, span, inside)?,
            PromelaExprKind::Poll { channel, fields, anywhere } => {
                let name = channel;
                let channel = self.channel(channel, inside)?;
                if self.is_rendezvous(&channel) {
                    self.warn(span, "a rendezvous channel holds no message, so this is false");
                    return Ok(ir::Expr::constant(0, span));
                }
                let patterns = self.patterns(name, fields, true, inside)?;
                ir::ExprKind::CanReceive(channel, patterns, *anywhere)
            }
            PromelaExprKind::Timeout => ir::ExprKind::Timeout,
            // A claim's own pid has no meaning for the processes.
            PromelaExprKind::Pid if self.in_claim => ir::ExprKind::Constant(0),
            PromelaExprKind::Pid => match inside.and_then(|number| self.own_pid(number)) {
                Some(variable) => ir::ExprKind::Read(Place::variable(variable, span)),
                None => ir::ExprKind::Self_,
            },
            PromelaExprKind::Processes => ir::ExprKind::Processes,
            PromelaExprKind::Last => ir::ExprKind::Read(Place::variable(self.last_mover(), span)),
            PromelaExprKind::Scratch => {
                return Err(
                    Diagnostic::error(span, "`_` holds no value").help("`_` can only be stored to")
                );
            }
            PromelaExprKind::Enabled(pid) => {
                ir::ExprKind::Enabled(Box::new(self.expr(pid, inside)?))
            }
            PromelaExprKind::Priority(pid) if self.uses_priorities => {
                ir::ExprKind::PriorityOf(Box::new(self.expr(pid, inside)?))
            }
            PromelaExprKind::Priority(_) => ir::ExprKind::Constant(1),
            PromelaExprKind::NonProgress if self.in_claim => {
                self.asks_for_progress = true;
                return Ok(self.non_progress_condition(span));
            }
            PromelaExprKind::NonProgress => {
                let error = "`np_` is used outside a never claim";
                return Err(Diagnostic::error(span, error));
            }
            PromelaExprKind::PcValue(pid) => return self.place_number(pid, span, inside),
            PromelaExprKind::At { process, pid, label } => {
                let instance = InstanceReference { process, pid: pid.as_deref() };
                return self.at(instance, label, span, inside);
            }
            PromelaExprKind::Remote { process, pid, path } => {
                let instance = InstanceReference { process, pid: pid.as_deref() };
                return self.remote(instance, path, span, inside);
            }
        };
        Ok(ir::Expr::new(kind, span))
    }

    /// Records a warning, once for each place.
    pub(super) fn warn(&mut self, span: Span, message: &str) {
        if self.warnings.iter().all(|known| known.span != span) {
            self.warnings.push(Diagnostic::warning(span, message));
        }
    }

    pub(super) fn last_mover(&mut self) -> ir::VarId {
        if let Some(last) = self.last {
            return last;
        }
        let ty = self.range(0, 255);
        let last = self.program.variables.push(ir::Variable {
            name: "_last".into(),
            ty,
            owner: ir::Owner::Program,
            initial: vec![Some(0)],
            span: Span::default(),
        });
        self.last = Some(last);
        last
    }

    /// Returns the value of a variable. A name that always denotes one channel has its number as its value.
    fn read(
        &mut self,
        reference: &PromelaReference,
        inside: Option<usize>,
    ) -> LoweringResult<ir::Expr> {
        let span = reference.span;
        if let Some(channel) = self.fixed_channel(reference, inside)? {
            return Ok(ir::Expr::new(ir::ExprKind::ChannelNumber(channel), span));
        }
        let (basic, _) = self.part(reference)?;
        if let PromelaType::Struct(_) = basic {
            return Err(Diagnostic::error(span, "a structure stands where a value is needed"));
        }
        let place = self.place(reference, inside)?;
        Ok(ir::Expr::new(ir::ExprKind::Read(place), span))
    }

    /// Returns the place of a scalar or a structure.
    pub(super) fn place(
        &mut self,
        reference: &PromelaReference,
        inside: Option<usize>,
    ) -> LoweringResult<Place> {
        let span = reference.span;
        let symbol = &self.model.symbols.all[reference.symbol];
        let variable = match self.meanings.get(&reference.symbol).copied() {
            Some(SymbolMeaning::Variable(variable)) => variable,
            Some(SymbolMeaning::Parts(first)) => {
                let (variable, _) = self.part_of_parameter(first, reference)?;
                return Ok(Place::variable(variable, span));
            }
            _ => {
                let error = format!("{} has no value here", symbol.name.text);
                return Err(Diagnostic::error(span, error));
            }
        };
        let mut path = Vec::new();
        path.extend(self.index(symbol, reference.index.as_deref(), span, inside)?);
        let mut basic = symbol.basic;
        for (name, index) in &reference.fields {
            let (number, field) = self.field(basic, &name.text, name.span)?;
            path.push(PlaceSelector::Field(number));
            path.extend(self.index(field, index.as_ref(), name.span, inside)?);
            basic = field.basic;
        }
        Ok(Place { path, ..Place::variable(variable, span) })
    }

    /// Returns the selector of an array's element; the default index is 0.
    fn index(
        &mut self,
        symbol: &PromelaSymbol,
        index: Option<&PromelaExpr>,
        span: Span,
        inside: Option<usize>,
    ) -> LoweringResult<Option<PlaceSelector>> {
        let Some(_) = symbol.length else {
            refuse_index(&symbol.name.text, index)?;
            return Ok(None);
        };
        let index = match index {
            None => ir::Expr::constant(0, span),
            Some(index) => self.expr(index, inside)?,
        };
        Ok(Some(PlaceSelector::Index(index)))
    }

    /// Returns the channel that a reference always denotes, if there is one.
    fn fixed_channel(
        &mut self,
        reference: &PromelaReference,
        inside: Option<usize>,
    ) -> LoweringResult<Option<ChannelRef>> {
        let Some(&SymbolMeaning::Channels(first, count)) = self.meanings.get(&reference.symbol)
        else {
            return Ok(None);
        };
        let is_array = self.model.symbols.all[reference.symbol].length.is_some();
        let Some(index) = reference.index.as_deref().filter(|_| is_array) else {
            return Ok(Some(ChannelRef::Named(first)));
        };
        let index = self.expr(index, inside)?;
        if let Some(at) = index.as_constant().and_then(|at| u32::try_from(at).ok())
            && at < count
        {
            return Ok(Some(ChannelRef::Named(ChannelId(first.0 + at))));
        }
        Ok(Some(ChannelRef::Element { first, count, index: Box::new(index) }))
    }

    pub(super) fn channel(
        &mut self,
        reference: &PromelaReference,
        inside: Option<usize>,
    ) -> LoweringResult<ChannelRef> {
        if let Some(channel) = self.fixed_channel(reference, inside)? {
            return Ok(channel);
        }
        let (basic, _) = self.part(reference)?;
        if basic != PromelaType::Channel && basic != PromelaType::Byte && basic != PromelaType::Int
        {
            let symbol = &self.model.symbols.all[reference.symbol];
            let error = format!("{} is no channel", symbol.name.text);
            return Err(Diagnostic::error(reference.span, error));
        }
        let number = self.read(reference, inside)?;
        Ok(ChannelRef::Computed(Box::new(number)))
    }

    pub(super) fn is_rendezvous(&self, channel: &ChannelRef) -> bool {
        match channel {
            ChannelRef::Named(id) | ChannelRef::Element { first: id, .. } => {
                self.program.channels[*id].capacity == 0
            }
            ChannelRef::Computed(_) => false,
        }
    }

    fn probe(
        &mut self,
        probe: ChannelProbe,
        channel: &PromelaReference,
        span: Span,
        inside: Option<usize>,
    ) -> LoweringResult<ir::ExprKind> {
        let channel = self.channel(channel, inside)?;
        if self.is_rendezvous(&channel) {
            let holds = matches!(probe, ChannelProbe::Empty | ChannelProbe::NotFull);
            return Ok(ir::ExprKind::Constant(holds.into()));
        }
        let kind = match probe {
            ChannelProbe::Empty | ChannelProbe::NotEmpty => ir::ExprKind::IsEmpty(channel),
            ChannelProbe::Full | ChannelProbe::NotFull => ir::ExprKind::IsFull(channel),
        };
        Ok(match probe {
            ChannelProbe::Empty | ChannelProbe::Full => kind,
            ChannelProbe::NotEmpty | ChannelProbe::NotFull => {
                ir::ExprKind::Unary(UnaryOp::Not, Box::new(ir::Expr::new(kind, span)))
            }
        })
    }

    /// Returns the types of a channel's fields, if all channels that the name may denote have the same types.
    pub(super) fn fields_of(
        &self,
        channel: &PromelaReference,
        count: usize,
    ) -> Option<Vec<PromelaType>> {
        let symbols = &self.model.symbols;
        let symbol = &symbols.all[channel.symbol];
        if let (PromelaInitializer::Channel { fields, .. }, false) =
            (&symbol.initial, symbol.assigned)
        {
            return Some(fields.iter().flat_map(|&field| symbols.leaves(field)).collect());
        }
        let mut known = None;
        for fields in symbols.messages().filter(|it| it.len() == count) {
            if known.as_ref().is_some_and(|known| *known != fields) {
                return None;
            }
            known = Some(fields);
        }
        known
    }

    /// Lowers the fields of a receive or poll to patterns.
    pub(super) fn patterns(
        &mut self,
        channel: &PromelaReference,
        fields: &[ReceiveField],
        only_asks: bool,
        inside: Option<usize>,
    ) -> LoweringResult<Vec<ReceivePattern>> {
        let mut patterns = Vec::new();
        for field in fields {
            match field {
                ReceiveField::Any(_) => patterns.push(ReceivePattern::Any),
                ReceiveField::Match(value) => {
                    patterns.push(ReceivePattern::Match(self.expr(value, inside)?))
                }
                ReceiveField::Into(reference) => {
                    let meant = self.meanings.get(&reference.symbol);
                    if matches!(meant, Some(SymbolMeaning::Nothing)) || only_asks {
                        patterns.push(ReceivePattern::Any);
                        continue;
                    }
                    let values = self.single_values(reference, inside)?;
                    patterns
                        .extend(values.into_iter().map(|(place, _)| ReceivePattern::Into(place)));
                }
            }
        }
        let known = self.fields_of(channel, patterns.len());
        for (at, field) in fields.iter().enumerate() {
            if let ReceiveField::Into(reference) = field
                && let (PromelaType::Mtype(set), _) = self.part(reference)?
                && known.as_ref().and_then(|known| known.get(at)) != Some(&PromelaType::Mtype(set))
            {
                self.bytes.insert(set);
            }
        }
        Ok(patterns)
    }

    /// Returns the number of fields of the channel that a name always denotes.
    pub(super) fn count_of(&self, channel: &PromelaReference) -> Option<usize> {
        let symbol = &self.model.symbols.all[channel.symbol];
        match &symbol.initial {
            PromelaInitializer::Channel { fields, .. } if !symbol.assigned => {
                Some(fields.iter().map(|&field| self.model.symbols.leaves(field).len()).sum())
            }
            _ => None,
        }
    }

    /// Warns of a send or receive whose number of values does not fit the channel that its name always denotes.
    pub(super) fn warn_of_misfit(
        &mut self,
        channel: &PromelaReference,
        communication: &Communication,
    ) {
        let Some(fields) = self.count_of(channel) else { return };
        if let CommunicationFit::Continues(misfit) | CommunicationFit::Fails(misfit) =
            communication.fit(fields)
        {
            let name = &self.model.symbols.all[channel.symbol].name.text;
            let what = misfit.describe(communication.arity(), name, fields);
            self.warn(communication.span(), &format!("{what}; it is an error to execute it"));
        }
    }

    /// Appends the places of the leaf values of a place.
    pub(super) fn leaves_of(&self, basic: PromelaType, place: Place, places: &mut Vec<Place>) {
        let PromelaType::Struct(number) = basic else {
            places.push(place);
            return;
        };
        for (at, field) in self.model.symbols.structs[number].fields.iter().enumerate() {
            let mut inner = place.clone();
            inner.path.push(PlaceSelector::Field(at as u32));
            match field.length {
                None => self.leaves_of(field.basic, inner, places),
                Some(length) => {
                    for index in 0..length {
                        let mut element = inner.clone();
                        let index = ir::Expr::constant(index.into(), place.span);
                        element.path.push(PlaceSelector::Index(index));
                        self.leaves_of(field.basic, element, places);
                    }
                }
            }
        }
    }

    pub(super) fn process_named(&self, name: &PromelaName) -> LoweringResult<usize> {
        let found = self.bodies.iter().position(|(process, _)| process.name.text == name.text);
        found.ok_or_else(|| {
            Diagnostic::error(name.span, format!("there is no process {}", name.text))
        })
    }

    /// Returns the slot of the process instance with a pid.
    fn slot(
        &mut self,
        process: usize,
        instance: InstanceReference<'_>,
        inside: Option<usize>,
    ) -> LoweringResult<ir::Expr> {
        let name = instance.process;
        let id = ProcessId::from_index(process);
        // Without a pid, the oldest instance is meant, as in SPIN.
        let Some(pid) = instance.pid else { return Ok(ir::Expr::constant(0, name.span)) };
        let pid = self.expr(pid, inside)?;
        let slots = i64::from(self.program.slots(id));
        if let (Some(pid), PidRule::From(first)) =
            (pid.as_constant(), self.program.processes[id].life.pid)
            && (0..slots).contains(&(pid - i64::from(first)))
        {
            return Ok(ir::Expr::constant(pid - i64::from(first), name.span));
        }
        let span = pid.span;
        Ok(ir::Expr::new(ir::ExprKind::SlotOf(id, Box::new(pid)), span))
    }

    fn at(
        &mut self,
        instance: InstanceReference<'_>,
        label: &PromelaName,
        span: Span,
        inside: Option<usize>,
    ) -> LoweringResult<ir::Expr> {
        let name = instance.process;
        let process = self.process_named(name)?;
        let slot = Box::new(self.slot(process, instance, inside)?);
        let control = &self.bodies[process].1;
        let place = control.locations.iter().position(|place| place.labels.contains(&label.text));
        let Some(place) = place else {
            if !control.labels.contains(&label.text) {
                let error = format!("there is no label {} in {}", label.text, name.text);
                return Err(Diagnostic::error(label.span, error));
            }
            // No process ever rests at this label.
            return Ok(ir::Expr::constant(0, span));
        };
        let location = LocationId::from_index(place);
        let process = ProcessId::from_index(process);
        Ok(ir::Expr::new(ir::ExprKind::At { process, slot: Some(slot), location }, span))
    }

    fn remote(
        &mut self,
        instance: InstanceReference<'_>,
        path: &[(PromelaName, Option<PromelaExpr>)],
        span: Span,
        inside: Option<usize>,
    ) -> LoweringResult<ir::Expr> {
        let name = instance.process;
        let process = self.process_named(name)?;
        let slot = self.slot(process, instance, inside)?;
        let index = self.index_of(process);
        let Some(((first, first_index), fields)) = path.split_first() else {
            return Err(Diagnostic::error(span, "a variable is missing"));
        };
        let symbol = self
            .symbols_of(Some(index))
            .into_iter()
            .find(|(_, symbol)| symbol.name.text == first.text);
        let Some((symbol, _)) = symbol else {
            let error = format!("{} has no variable {}", name.text, first.text);
            return Err(Diagnostic::error(first.span, error));
        };
        let reference = PromelaReference {
            symbol,
            index: first_index.clone().map(Box::new),
            fields: fields.to_vec(),
            span,
        };
        let place = Place { slot: Some(Box::new(slot)), ..self.place(&reference, inside)? };
        Ok(ir::Expr::new(ir::ExprKind::Read(place), span))
    }

    /// Builds `left operator right`.
    pub(super) fn binary(
        &self,
        operator: BinaryOp,
        left: ir::ExprKind,
        right: ir::ExprKind,
        span: Span,
    ) -> ir::Expr {
        let part = |kind| Box::new(ir::Expr::new(kind, span));
        ir::Expr::new(ir::ExprKind::Binary(operator, part(left), part(right)), span)
    }
}
