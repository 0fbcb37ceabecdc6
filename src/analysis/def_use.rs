//! What a program does with the values that it keeps: everything that could tell two of them apart.
//!
//! A *holder* is a variable, all scalars of an array alike, or a field of a channel's messages. What becomes of the values in
//! holders is said as a list of [uses](ValueUse): stored, received, matched, or asked for in an expression. A holder of
//! which more is done than these say is *handled otherwise*, and nothing is known of it.

use crate::ir::layout::CellId;
use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{
    ChannelId, ChannelRef, Communication, Domain, Expr, Layout, OverflowRule, Owner, PidRule,
    Place, PlaceRoot, Program, ReceivePattern, ScalarType, Stmt, StmtKind, Type, TypeId, VarId,
};
use std::ops::Range;

/// The number of a holder.
pub type HolderId = usize;

/// Numbers for the holders of a program: variables first, then the fields of each channel.
#[derive(Clone, Debug)]
pub struct HolderNumbering {
    variables: usize,
    /// The number of the first field of each channel, and one after the last.
    fields: Vec<usize>,
}

impl HolderNumbering {
    /// Those of a program.
    pub fn new(program: &Program) -> HolderNumbering {
        let variables = program.variables.len();
        let mut fields = vec![variables];
        for channel in program.channels.values() {
            fields.push(fields[fields.len() - 1] + channel.fields.len());
        }
        HolderNumbering { variables, fields }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.fields[self.fields.len() - 1]
    }

    /// A variable.
    pub fn variable(&self, id: VarId) -> HolderId {
        id.0 as usize
    }

    /// A field of a channel.
    pub fn field(&self, channel: ChannelId, number: usize) -> HolderId {
        self.fields[channel.0 as usize] + number
    }

    /// The fields of channels in a row.
    fn fields_of(&self, first: u32, count: u32) -> Range<HolderId> {
        self.fields[first as usize]..self.fields[(first + count) as usize]
    }

    /// The variable that a holder is, if it is one.
    pub fn as_variable(&self, holder: HolderId) -> Option<VarId> {
        (holder < self.variables).then_some(VarId(holder as u32))
    }

    /// The channel and the number of the field that a holder is, if it is one.
    pub fn as_field(&self, holder: HolderId) -> Option<(ChannelId, usize)> {
        let fields = holder >= self.variables;
        fields.then(|| {
            let channel = self.fields.partition_point(|&first| first <= holder) - 1;
            (ChannelId(channel as u32), holder - self.fields[channel])
        })
    }

    /// The scalar type of what a holder holds, if it is understood: it is an integer, a truth value or a name, which nobody
    /// permutes and which is nobody's number.
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

    /// The cells of a holder in states that are laid out so, and when they hold a value.
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
            // The number of messages, then these, one behind the other.
            let length = layout.channels[id].in_slot(slot);
            let at = move |it| CellId(length.0 + 1 + it * fields + number as u32);
            (0..channel.capacity).map(move |it| (at(it), CellPresence::Above(length, it)))
        };
        in_slots(program, layout, channel.owner).flat_map(cells).collect()
    }

    /// The holder that a place is a scalar of, if its type is understood.
    pub fn of_place(&self, program: &Program, place: &Place) -> Option<HolderId> {
        let PlaceRoot::Variable(id) = place.root else { return None };
        let holder = self.variable(id);
        self.scalar(program, holder).map(|_| holder)
    }
}

/// When a cell holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellPresence {
    /// Always.
    Always,
    /// Where the code of this cell is greater than this: the location of its process, or how many messages there are.
    Above(CellId, u32),
}

/// The slots of what an owner has, and when it is there.
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

/// How a value comes into a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// By an assignment.
    Assigned,
    /// As a field of a message.
    Sent,
    /// As a parameter of a process that is started.
    Argument,
}

/// What is done with values.
#[derive(Clone, Debug)]
pub enum ValueUse {
    /// An expression is judged, for whatever it is needed.
    Evaluated(Expr),
    /// The value of an expression comes into a holder.
    Stored {
        /// Which.
        to: HolderId,
        /// The expression.
        value: Expr,
        /// What becomes of a value that does not fit.
        overflow: OverflowRule,
        /// How.
        by: StoreKind,
        /// Where to, if it is assigned.
        target: Option<Place>,
    },
    /// A field of a message comes into a variable.
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
    /// A holder is set to its least values, or has none.
    Cleared(HolderId),
    /// More is done with a holder.
    Opaque(HolderId),
}

impl ValueUse {
    /// The holders that it is about.
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

/// Sees which holders are mentioned: variables, and the fields of channels that are asked about.
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

/// All uses of values in a program; nothing if it has functions, or names that stand for places.
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
            // Fields that are given no value become 0, whatever stands for that.
            let fields = values.len()..about.fields.len();
            let fields = fields.map(|it| self.holders.field(id, it));
            self.found.extend(fields.map(ValueUse::Opaque));
            // Messages that come in order are compared with each other.
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
            // What is read beyond the only field of a message is 0, whatever stands for that.
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
            // What is printed is told by the program as written.
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

    /// A place that is read or written as a whole, or otherwise than as a value.
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
