//! Expressions, places and channels.

use super::{Lowering, Meaning, Result};
use crate::diag::Diagnostic;
use crate::front::promela::ast::{Expr, ExprKind, Field, MtypeValue, Name, Probe, Reference};
use crate::front::promela::symbols::{Basic, Initial};
use crate::ir::{
    self, Binary, ChannelId, ChannelRef, Communication, Entity, Fit, LocationId, Pattern, Pid,
    Place, ProcessId, Selector, Unary,
};
use crate::source::Span;

impl Lowering<'_, '_> {
    /// An expression, in the process with this number if it is in one.
    pub(super) fn expr(&mut self, expr: &Expr, inside: Option<usize>) -> Result<ir::Expr> {
        let span = expr.span;
        if let Some(value) = expr.constant() {
            return Ok(ir::Expr::constant(value, span));
        }
        let kind = match &expr.kind {
            ExprKind::Number(value) | ExprKind::Symbol(MtypeValue { value, .. }) => {
                ir::ExprKind::Constant(*value)
            }
            ExprKind::Variable(reference) => return self.read(reference, inside),
            ExprKind::Unary(operator, operand) => {
                ir::ExprKind::Unary(*operator, Box::new(self.expr(operand, inside)?))
            }
            ExprKind::Binary(operator, left, right) => ir::ExprKind::Binary(
                *operator,
                Box::new(self.expr(left, inside)?),
                Box::new(self.expr(right, inside)?),
            ),
            ExprKind::Conditional(condition, then, otherwise) => ir::ExprKind::Conditional(
                Box::new(self.expr(condition, inside)?),
                Box::new(self.expr(then, inside)?),
                Box::new(self.expr(otherwise, inside)?),
            ),
            ExprKind::Run { .. } => {
                return Err(Diagnostic::error(span, "a run is part of a larger expression")
                    .help("store its result first: `p = run P()`"));
            }
            ExprKind::Length(channel) => {
                let channel = self.channel(channel, inside)?;
                match self.is_rendezvous(&channel) {
                    true => ir::ExprKind::Constant(0),
                    false => ir::ExprKind::Length(channel),
                }
            }
            ExprKind::Probe(probe, channel) => self.probe(*probe, channel, span, inside)?,
            ExprKind::Poll { channel, fields, anywhere } => {
                let name = channel;
                let channel = self.channel(channel, inside)?;
                if self.is_rendezvous(&channel) {
                    self.warn(span, "a rendezvous channel holds no message, so this is false");
                    return Ok(ir::Expr::constant(0, span));
                }
                let patterns = self.patterns(name, fields, true, inside)?;
                ir::ExprKind::CanReceive(channel, patterns, *anywhere)
            }
            ExprKind::Timeout => ir::ExprKind::Timeout,
            // A claim's own pid says nothing about the processes.
            ExprKind::Pid if self.in_claim => ir::ExprKind::Constant(0),
            ExprKind::Pid => match inside.and_then(|number| self.own_pid(number)) {
                Some(variable) => ir::ExprKind::Read(Place::variable(variable, span)),
                None => ir::ExprKind::Self_,
            },
            ExprKind::Processes => ir::ExprKind::Processes,
            ExprKind::Last => ir::ExprKind::Read(Place::variable(self.last_mover(), span)),
            ExprKind::Scratch => {
                return Err(
                    Diagnostic::error(span, "`_` holds no value").help("`_` can only be stored to")
                );
            }
            ExprKind::Enabled(pid) => ir::ExprKind::Enabled(Box::new(self.expr(pid, inside)?)),
            ExprKind::Priority(pid) if self.uses_priorities => {
                ir::ExprKind::PriorityOf(Box::new(self.expr(pid, inside)?))
            }
            ExprKind::Priority(_) => ir::ExprKind::Constant(1),
            ExprKind::NonProgress if self.in_claim => {
                self.asks_for_progress = true;
                return Ok(self.no_progress(span));
            }
            ExprKind::NonProgress => {
                let error = "`np_` is used outside a never claim";
                return Err(Diagnostic::error(span, error));
            }
            ExprKind::PcValue(pid) => return self.place_number(pid, span, inside),
            ExprKind::At { process, pid, label } => {
                return self.at(process, pid.as_deref(), label, span, inside);
            }
            ExprKind::Remote { process, pid, path } => {
                return self.remote(process, pid.as_deref(), path, span, inside);
            }
        };
        Ok(ir::Expr { kind, span })
    }

    /// Notes a piece of advice, once.
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

    /// The value of a variable; that of a name which always stands for one channel is its number.
    fn read(&mut self, reference: &Reference, inside: Option<usize>) -> Result<ir::Expr> {
        let span = reference.span;
        if let Some(channel) = self.fixed_channel(reference, inside)? {
            return Ok(ir::Expr { kind: ir::ExprKind::ChannelNumber(channel), span });
        }
        let (basic, _) = self.part(reference)?;
        if let Basic::Struct(_) = basic {
            return Err(Diagnostic::error(span, "a structure stands where a value is needed"));
        }
        let place = self.place(reference, inside)?;
        Ok(ir::Expr { kind: ir::ExprKind::Read(place), span })
    }

    /// A single value, or a structure.
    pub(super) fn place(&mut self, reference: &Reference, inside: Option<usize>) -> Result<Place> {
        let span = reference.span;
        let symbol = &self.model.symbols.all[reference.symbol];
        let variable = match self.meanings.get(&reference.symbol).copied() {
            Some(Meaning::Variable(variable)) => variable,
            Some(Meaning::Parts(first)) => {
                let (variable, _) = self.part_of_parameter(first, reference)?;
                return Ok(Place::variable(variable, span));
            }
            _ => {
                let error = format!("{} has no value here", symbol.name.text);
                return Err(Diagnostic::error(span, error));
            }
        };
        let mut path = Vec::new();
        self.index(
            &symbol.name.text,
            symbol.length,
            reference.index.as_deref(),
            span,
            inside,
            &mut path,
        )?;
        let mut basic = symbol.basic;
        for (name, index) in &reference.fields {
            let (number, field) = self.field(basic, &name.text, name.span)?;
            let (length, next) = (field.length, field.basic);
            path.push(Selector::Field(number));
            self.index(&name.text, length, index.as_ref(), name.span, inside, &mut path)?;
            basic = next;
        }
        Ok(Place { path, ..Place::variable(variable, span) })
    }

    /// The step from an array to its element; without an index it is the first.
    fn index(
        &mut self,
        name: &str,
        length: Option<u32>,
        index: Option<&Expr>,
        span: Span,
        inside: Option<usize>,
        path: &mut Vec<Selector>,
    ) -> Result<()> {
        match (length, index) {
            (None, None) => Ok(()),
            (None, Some(Expr { kind: ExprKind::Number(0), .. })) => Ok(()),
            (None, Some(index)) => {
                Err(Diagnostic::error(index.span, format!("{name} is no array")))
            }
            (Some(_), None) => {
                path.push(Selector::Index(ir::Expr::constant(0, span)));
                Ok(())
            }
            (Some(_), Some(index)) => {
                path.push(Selector::Index(self.expr(index, inside)?));
                Ok(())
            }
        }
    }

    /// The channel that a reference always stands for, if it is one.
    fn fixed_channel(
        &mut self,
        reference: &Reference,
        inside: Option<usize>,
    ) -> Result<Option<ChannelRef>> {
        let Some(&Meaning::Channels(first, count)) = self.meanings.get(&reference.symbol) else {
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
        reference: &Reference,
        inside: Option<usize>,
    ) -> Result<ChannelRef> {
        if let Some(channel) = self.fixed_channel(reference, inside)? {
            return Ok(channel);
        }
        let (basic, _) = self.part(reference)?;
        if basic != Basic::Channel && basic != Basic::Byte && basic != Basic::Int {
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
        probe: Probe,
        channel: &Reference,
        span: Span,
        inside: Option<usize>,
    ) -> Result<ir::ExprKind> {
        let channel = self.channel(channel, inside)?;
        if self.is_rendezvous(&channel) {
            let holds = matches!(probe, Probe::Empty | Probe::NotFull);
            return Ok(ir::ExprKind::Constant(holds.into()));
        }
        let kind = match probe {
            Probe::Empty | Probe::NotEmpty => ir::ExprKind::IsEmpty(channel),
            Probe::Full | Probe::NotFull => ir::ExprKind::IsFull(channel),
        };
        Ok(match probe {
            Probe::Empty | Probe::Full => kind,
            Probe::NotEmpty | Probe::NotFull => {
                ir::ExprKind::Unary(Unary::Not, Box::new(ir::Expr { kind, span }))
            }
        })
    }

    /// The types of a channel's fields, if every channel that the name may stand for has the same.
    pub(super) fn fields_of(&self, channel: &Reference, count: usize) -> Option<Vec<Basic>> {
        let symbols = &self.model.symbols;
        let symbol = &symbols.all[channel.symbol];
        if let (Initial::Channel { fields, .. }, false) = (&symbol.initial, symbol.assigned) {
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

    /// What a receive, or a question about one, does with each field of a message.
    pub(super) fn patterns(
        &mut self,
        channel: &Reference,
        fields: &[Field],
        only_asks: bool,
        inside: Option<usize>,
    ) -> Result<Vec<Pattern>> {
        let mut patterns = Vec::new();
        for field in fields {
            match field {
                Field::Any(_) => patterns.push(Pattern::Any),
                Field::Match(value) => patterns.push(Pattern::Match(self.expr(value, inside)?)),
                Field::Into(reference) => {
                    let meant = self.meanings.get(&reference.symbol);
                    if matches!(meant, Some(Meaning::Nothing)) || only_asks {
                        patterns.push(Pattern::Any);
                        continue;
                    }
                    let values = self.single_values(reference, inside)?;
                    patterns.extend(values.into_iter().map(|(place, _)| Pattern::Into(place)));
                }
            }
        }
        let known = self.fields_of(channel, patterns.len());
        for (at, field) in fields.iter().enumerate() {
            if let Field::Into(reference) = field
                && let (Basic::Mtype(set), _) = self.part(reference)?
                && known.as_ref().and_then(|known| known.get(at)) != Some(&Basic::Mtype(set))
            {
                self.bytes.insert(set);
            }
        }
        Ok(patterns)
    }

    /// The number of fields of a channel that a name always stands for.
    pub(super) fn count_of(&self, channel: &Reference) -> Option<usize> {
        let symbol = &self.model.symbols.all[channel.symbol];
        match &symbol.initial {
            Initial::Channel { fields, .. } if !symbol.assigned => {
                Some(fields.iter().map(|&field| self.model.symbols.leaves(field).len()).sum())
            }
            _ => None,
        }
    }

    /// Warns of a send or receive that does not fit the messages of a channel that its name always stands for.
    pub(super) fn warn_of_misfit(&mut self, channel: &Reference, communication: &Communication) {
        let Some(fields) = self.count_of(channel) else { return };
        if let Fit::GoesOn(misfit) | Fit::Fails(misfit) = communication.fit(fields) {
            let name = &self.model.symbols.all[channel.symbol].name.text;
            let what = misfit.describe(communication.given(), name, fields);
            self.warn(communication.span(), &format!("{what}; it is an error to execute it"));
        }
    }

    /// The places of the single values that a place is made of.
    pub(super) fn leaves_of(&self, basic: Basic, place: Place, places: &mut Vec<Place>) {
        let Basic::Struct(number) = basic else {
            places.push(place);
            return;
        };
        for (at, field) in self.model.symbols.structs[number].fields.iter().enumerate() {
            let mut inner = place.clone();
            inner.path.push(Selector::Field(at as u32));
            match field.length {
                None => self.leaves_of(field.basic, inner, places),
                Some(length) => {
                    for index in 0..length {
                        let mut element = inner.clone();
                        let index = ir::Expr::constant(index.into(), place.span);
                        element.path.push(Selector::Index(index));
                        self.leaves_of(field.basic, element, places);
                    }
                }
            }
        }
    }

    pub(super) fn process_named(&self, name: &Name) -> Result<usize> {
        let found = self.bodies.iter().position(|(process, _)| process.name.text == name.text);
        found.ok_or_else(|| {
            Diagnostic::error(name.span, format!("there is no process {}", name.text))
        })
    }

    /// The slot of the instance of a process that a pid stands for.
    fn slot(
        &mut self,
        process: usize,
        pid: Option<&Expr>,
        name: &Name,
        inside: Option<usize>,
    ) -> Result<ir::Expr> {
        let id = ProcessId::from_index(process);
        // Without a pid it is the oldest, as in SPIN.
        let Some(pid) = pid else { return Ok(ir::Expr::constant(0, name.span)) };
        let pid = self.expr(pid, inside)?;
        let slots = i64::from(self.program.slots(id));
        if let (Some(pid), Pid::From(first)) =
            (pid.as_constant(), self.program.processes[id].life.pid)
            && (0..slots).contains(&(pid - i64::from(first)))
        {
            return Ok(ir::Expr::constant(pid - i64::from(first), name.span));
        }
        let span = pid.span;
        Ok(ir::Expr { kind: ir::ExprKind::SlotOf(id, Box::new(pid)), span })
    }

    fn at(
        &mut self,
        name: &Name,
        pid: Option<&Expr>,
        label: &Name,
        span: Span,
        inside: Option<usize>,
    ) -> Result<ir::Expr> {
        let process = self.process_named(name)?;
        let slot = Box::new(self.slot(process, pid, name, inside)?);
        let control = &self.bodies[process].1;
        let place = control.places.iter().position(|place| place.labels.contains(&label.text));
        let Some(place) = place else {
            if !control.labels.contains(&label.text) {
                let error = format!("there is no label {} in {}", label.text, name.text);
                return Err(Diagnostic::error(label.span, error));
            }
            // A label that is never rested at.
            return Ok(ir::Expr::constant(0, span));
        };
        let location = LocationId::from_index(place);
        let process = ProcessId::from_index(process);
        Ok(ir::Expr { kind: ir::ExprKind::At { process, slot: Some(slot), location }, span })
    }

    fn remote(
        &mut self,
        name: &Name,
        pid: Option<&Expr>,
        path: &[(Name, Option<Expr>)],
        span: Span,
        inside: Option<usize>,
    ) -> Result<ir::Expr> {
        let process = self.process_named(name)?;
        let slot = self.slot(process, pid, name, inside)?;
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
        let reference = Reference {
            symbol,
            index: first_index.clone().map(Box::new),
            fields: fields.to_vec(),
            span,
        };
        let place = Place { slot: Some(Box::new(slot)), ..self.place(&reference, inside)? };
        Ok(ir::Expr { kind: ir::ExprKind::Read(place), span })
    }

    /// `left operator right`.
    pub(super) fn binary(
        &self,
        operator: Binary,
        left: ir::ExprKind,
        right: ir::ExprKind,
        span: Span,
    ) -> ir::Expr {
        let part = |kind| Box::new(ir::Expr { kind, span });
        ir::Expr { kind: ir::ExprKind::Binary(operator, part(left), part(right)), span }
    }
}
