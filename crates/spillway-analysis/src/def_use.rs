//! The uses of stored values in a program: everything that may distinguish two values.
//!
//! A *holder* is a variable (with all scalars of an array together) or a field of a channel's messages. A list of
//! [uses](ValueUse) describes how a program uses the values of holders: they are stored, received, matched, or
//! evaluated in an expression. A holder with other uses is *opaque*: nothing is known about it.

use spillway_ir::layout::CellId;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    ChannelId, ChannelRef, Communication, Domain, Expr, Layout, OverflowRule, Owner, PidRule,
    Place, PlaceRoot, Program, ReceivePattern, ScalarType, Stmt, StmtKind, Type, TypeId, VarId,
};
use std::ops::Range;

/// The number of a holder.
pub type HolderId = usize;

/// The numbers of the holders of a program: variables first, then the fields of each channel.
#[derive(Clone, Debug)]
pub struct HolderNumbering {
    variables: usize,
    /// The number of the first field of each channel, then the number after the last field.
    fields: Vec<usize>,
}

impl HolderNumbering {
    /// Numbers the holders of a program.
    pub fn new(program: &Program) -> HolderNumbering {
        let variables = program.variables.len();
        let mut fields = vec![variables];
        for channel in program.channels.values() {
            fields.push(fields[fields.len() - 1] + channel.fields.len());
        }
        HolderNumbering { variables, fields }
    }

    /// Returns the number of holders.
    pub fn count(&self) -> usize {
        self.fields[self.fields.len() - 1]
    }

    /// Returns the holder of a variable.
    pub fn variable(&self, id: VarId) -> HolderId {
        id.0 as usize
    }

    /// Returns the holder of a field of a channel.
    pub fn field(&self, channel: ChannelId, number: usize) -> HolderId {
        self.fields[channel.0 as usize] + number
    }

    /// Returns the holders of the fields of consecutive channels.
    fn fields_of(&self, first: u32, count: u32) -> Range<HolderId> {
        self.fields[first as usize]..self.fields[(first + count) as usize]
    }

    /// Returns the variable of a holder, if it is one.
    pub fn as_variable(&self, holder: HolderId) -> Option<VarId> {
        (holder < self.variables).then_some(VarId(holder as u32))
    }

    /// Returns the channel and the number of the field of a holder, if it is one.
    pub fn as_field(&self, holder: HolderId) -> Option<(ChannelId, usize)> {
        let fields = holder >= self.variables;
        fields.then(|| {
            let channel = self.fields.partition_point(|&first| first <= holder) - 1;
            (ChannelId(channel as u32), holder - self.fields[channel])
        })
    }

    /// Returns the scalar type of a holder, if it is supported: integers, truth values, or names that are neither
    /// permuted nor numbers of processes or channels.
    pub fn scalar<'p>(&self, program: &'p Program, holder: HolderId) -> Option<&'p ScalarType> {
        let mut ty = self.type_of(program, holder);
        while let Type::Array { element, .. } = &program.types[ty] {
            ty = *element;
        }
        match &program.types[ty] {
            Type::Scalar(scalar) => match scalar.domain {
                Domain::Bool | Domain::Range { .. } | Domain::Enum(_) => Some(scalar),
                Domain::Scalarset(_) | Domain::Union(_) | Domain::Channel | Domain::Process => None,
            },
            _ => None,
        }
    }

    fn type_of(&self, program: &Program, holder: HolderId) -> TypeId {
        match self.as_field(holder) {
            Some((channel, field)) => program.channels[channel].fields[field],
            None => program.variables[VarId(holder as u32)].ty,
        }
    }

    /// Returns the cells of a holder in a layout, and the states in which they hold a value.
    pub fn cells(
        &self,
        program: &Program,
        layout: &Layout,
        holder: HolderId,
    ) -> Vec<(CellId, CellPresence)> {
        if let Some(id) = self.as_variable(holder) {
            let variable = &program.variables[id];
            let (count, placement) = (program.scalars(variable.ty), layout.variables[id]);
            let cells = |(slot, kept)| {
                let first = placement.in_slot(slot).0;
                (first..first + count).map(move |it| (CellId(it), kept))
            };
            return in_slots(program, layout, variable.owner).flat_map(cells).collect();
        }
        let Some((id, number)) = self.as_field(holder) else { return Vec::new() };
        let channel = &program.channels[id];
        let fields = channel.fields.len() as u32;
        let cells = |(slot, _)| {
            // The number of messages is followed by the messages.
            let length = layout.channels[id].in_slot(slot);
            let at = move |it| CellId(length.0 + 1 + it * fields + number as u32);
            (0..channel.capacity).map(move |it| (at(it), CellPresence::Above(length, it)))
        };
        in_slots(program, layout, channel.owner).flat_map(cells).collect()
    }

    /// Returns the holder of a scalar place, if its type is supported.
    pub fn of_place(&self, program: &Program, place: &Place) -> Option<HolderId> {
        let PlaceRoot::Variable(id) = place.root else { return None };
        let holder = self.variable(id);
        self.scalar(program, holder).map(|_| holder)
    }
}

/// The condition under which a cell holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellPresence {
    /// Always.
    Always,
    /// If the code of this cell is greater than this number. The cell is the location of the process, or the number
    /// of messages.
    Above(CellId, u32),
}

/// Returns the slots of an owner, and the states in which its objects exist.
fn in_slots(
    program: &Program,
    layout: &Layout,
    owner: Owner,
) -> impl Iterator<Item = (u32, CellPresence)> {
    let (slots, location) = match owner {
        Owner::Program => (1, None),
        Owner::Process(process) => {
            let comes = program.processes[process].has_slots();
            (program.slots(process), comes.then(|| layout.locations[process]))
        }
    };
    let kept = move |slot| match location {
        Some(location) => CellPresence::Above(location.in_slot(slot), 0),
        None => CellPresence::Always,
    };
    (0..slots).map(move |slot| (slot, kept(slot)))
}

/// The way in which a value gets into a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// By an assignment.
    Assigned,
    /// As a field of a message.
    Sent,
    /// As an argument of a process that starts.
    Argument,
}

/// A use of values.
#[derive(Clone, Debug)]
pub enum ValueUse {
    /// An expression is evaluated.
    Evaluated(Expr),
    /// The value of an expression is stored in a holder.
    Stored {
        /// The holder.
        to: HolderId,
        /// The expression.
        value: Expr,
        /// The rule for a value that does not fit.
        overflow: OverflowRule,
        /// The way in which it is stored.
        by: StoreKind,
        /// The target of an assignment.
        target: Option<Place>,
    },
    /// A field of a message is received into a variable.
    Received {
        /// The field.
        from: HolderId,
        /// The variable.
        to: HolderId,
    },
    /// A field of a message is compared with the value of an expression.
    Matched {
        /// The field.
        field: HolderId,
        /// The expression.
        value: Expr,
    },
    /// One message may be sent to channels with either of these fields.
    SentToEither(HolderId, HolderId),
    /// A holder is set to its least values, or becomes undefined.
    Cleared(HolderId),
    /// A holder has a use of another kind.
    Opaque(HolderId),
}

impl ValueUse {
    /// Returns the holders that a use concerns.
    pub fn holders(&self, holders: &HolderNumbering) -> Vec<HolderId> {
        let (mut found, expr) = match self {
            ValueUse::Evaluated(expr) => (Vec::new(), Some(expr)),
            ValueUse::Stored { to, value, .. } => (vec![*to], Some(value)),
            ValueUse::Matched { field, value } => (vec![*field], Some(value)),
            ValueUse::Received { from, to } | ValueUse::SentToEither(from, to) => {
                (vec![*from, *to], None)
            }
            ValueUse::Cleared(it) | ValueUse::Opaque(it) => (vec![*it], None),
        };
        expr.into_iter().for_each(|it| HolderMentions { holders, found: &mut found }.expr(it));
        found
    }
}

/// A visitor that collects mentioned holders: variables, and the fields of queried channels.
struct HolderMentions<'m> {
    holders: &'m HolderNumbering,
    found: &'m mut Vec<HolderId>,
}

impl CodeVisitor for HolderMentions<'_> {
    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let PlaceRoot::Variable(id) = place.root {
            self.found.push(self.holders.variable(id));
        }
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: PlaceAccess) {
        let all = match channel {
            ChannelRef::Named(id) => self.holders.fields_of(id.0, 1),
            ChannelRef::Element { first, count, .. } => self.holders.fields_of(first.0, *count),
            ChannelRef::Computed(_) => self.holders.variables..self.holders.count(),
        };
        self.found.extend(all);
        walk::channel(self, channel);
    }
}

/// Returns all uses of values in a program, or `None` if it has functions or names for places.
pub fn uses(program: &Program, holders: &HolderNumbering) -> Option<Vec<ValueUse>> {
    if !program.functions.is_empty() {
        return None;
    }
    let mut survey = UseSurvey { program, holders, found: Vec::new(), is_understood: true };
    walk::program(&mut survey, program);
    for process in program.processes.values() {
        let pid = match process.life.pid {
            PidRule::In(variable) => Some(variable),
            PidRule::None | PidRule::From(_) => None,
        };
        pid.into_iter().chain(process.life.priority).for_each(|it| survey.mark_opaque(it));
    }
    program.last.into_iter().for_each(|it| survey.mark_opaque(it));
    survey.is_understood.then_some(survey.found)
}

struct UseSurvey<'p> {
    program: &'p Program,
    holders: &'p HolderNumbering,
    found: Vec<ValueUse>,
    is_understood: bool,
}

impl UseSurvey<'_> {
    fn mark_opaque(&mut self, variable: VarId) {
        self.found.push(ValueUse::Opaque(self.holders.variable(variable)));
    }

    fn add_store(&mut self, to: HolderId, value: &Expr, overflow: OverflowRule, by: StoreKind) {
        let value = value.clone();
        self.found.push(ValueUse::Stored { to, value, overflow, by, target: None });
    }

    fn assigned(&mut self, target: &Place, value: &Expr, overflow: OverflowRule) {
        walk::place(self, target);
        match self.holders.of_place(self.program, target) {
            None => self.expr(value),
            Some(to) => {
                let (value, target, by) =
                    (value.clone(), Some(target.clone()), StoreKind::Assigned);
                self.found.push(ValueUse::Stored { to, value, overflow, by, target });
            }
        }
    }

    fn add_send(&mut self, communication: &Communication) {
        let Communication::Send { channel, values, sorted, .. } = communication else { return };
        let mut before: Option<ChannelId> = None;
        for id in channel.possible_channels(self.program) {
            let about = &self.program.channels[id];
            for (number, value) in values.iter().enumerate() {
                if number >= about.fields.len() {
                    self.expr(value);
                    continue;
                }
                let to = self.holders.field(id, number);
                self.add_store(to, value, about.overflow, StoreKind::Sent);
                let other = before.filter(|it| number < self.program.channels[*it].fields.len());
                if let Some(other) = other {
                    self.found.push(ValueUse::SentToEither(self.holders.field(other, number), to));
                }
            }
            // Fields without a value become 0, whatever represents the class of 0.
            let fields = values.len()..about.fields.len();
            let fields = fields.map(|it| self.holders.field(id, it));
            self.found.extend(fields.map(ValueUse::Opaque));
            // A sorted send compares messages with each other.
            if *sorted {
                let fields = (0..about.fields.len()).map(|it| self.holders.field(id, it));
                self.found.extend(fields.map(ValueUse::Opaque));
            }
            before = Some(id);
        }
    }

    fn add_receive(&mut self, communication: &Communication) {
        let Communication::Receive { channel, patterns, .. } = communication else { return };
        for pattern in patterns {
            if let ReceivePattern::Into(place) = pattern {
                walk::place(self, place);
            }
        }
        for id in channel.possible_channels(self.program) {
            let fields = self.program.channels[id].fields.len();
            // Fields beyond the only one of a message are read as 0, whatever represents the class of 0.
            for pattern in patterns.iter().skip(fields) {
                match pattern {
                    ReceivePattern::Any => {}
                    ReceivePattern::Match(value) => self.expr(value),
                    ReceivePattern::Into(place) => {
                        let to = self.holders.of_place(self.program, place);
                        self.found.extend(to.map(ValueUse::Opaque));
                    }
                }
            }
            for (number, pattern) in patterns.iter().enumerate().take(fields) {
                let field = self.holders.field(id, number);
                match pattern {
                    ReceivePattern::Any => {}
                    ReceivePattern::Match(value) => {
                        self.found.push(ValueUse::Matched { field, value: value.clone() });
                    }
                    ReceivePattern::Into(place) => {
                        self.found.push(match self.holders.of_place(self.program, place) {
                            Some(to) => ValueUse::Received { from: field, to },
                            None => ValueUse::Opaque(field),
                        });
                    }
                }
            }
        }
    }
}

impl CodeVisitor for UseSurvey<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => self.assigned(target, value, *overflow),
            StmtKind::Undefine(place) | StmtKind::Clear(place) => {
                if let PlaceRoot::Variable(id) = place.root {
                    self.found.push(ValueUse::Cleared(self.holders.variable(id)));
                }
                walk::place(self, place);
            }
            // Output is printed from the program as written.
            StmtKind::Print { .. } => {}
            StmtKind::Run { process, arguments, into } => {
                let parameters = &self.program.processes[*process].parameters;
                for (number, value) in arguments.iter().enumerate() {
                    match parameters.get(number) {
                        Some(&it) => {
                            let to = self.holders.variable(it);
                            self.add_store(to, value, OverflowRule::Wraps, StoreKind::Argument);
                        }
                        None => self.expr(value),
                    }
                }
                into.iter().for_each(|it| self.place(it, PlaceAccess::Write));
            }
            StmtKind::Call { .. }
            | StmtKind::Return(_)
            | StmtKind::Declare { .. }
            | StmtKind::Alias { .. } => self.is_understood = false,
            _ => walk::stmt(self, stmt),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.found.push(ValueUse::Evaluated(expr.clone()));
    }

    /// Visits a place that is read or written as a whole, or not as a value.
    fn place(&mut self, place: &Place, _: PlaceAccess) {
        match place.root {
            PlaceRoot::Variable(id) => self.mark_opaque(id),
            PlaceRoot::Local(_) => self.is_understood = false,
        }
        walk::place(self, place);
    }

    fn communication(&mut self, communication: &Communication) {
        walk::channel(self, communication.channel());
        self.add_send(communication);
        self.add_receive(communication);
    }
}
