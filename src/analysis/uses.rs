//! What a program does with the values that it keeps: everything that could tell two of them apart.
//!
//! A *holder* is a variable, all scalars of an array alike, or a field of a channel's messages. What becomes of the values in
//! holders is said as a list of [uses](Use): stored, received, matched, or asked for in an expression. A holder of
//! which more is done than these say is *handled otherwise*, and nothing is known of it.

use crate::ir::layout::CellId;
use crate::ir::walk::{self, Access, Visitor};
use crate::ir::{
    ChannelId, ChannelRef, Communication, Domain, Expr, Layout, Overflow, Owner, Pattern, Pid,
    Place, Program, Root, Scalar, Stmt, StmtKind, Type, TypeId, VarId,
};
use std::ops::Range;

/// The number of a holder.
pub type Holder = usize;

/// Numbers for the holders of a program: variables first, then the fields of each channel.
#[derive(Clone, Debug)]
pub struct Holders {
    variables: usize,
    /// The number of the first field of each channel, and one after the last.
    fields: Vec<usize>,
}

impl Holders {
    /// Those of a program.
    pub fn new(program: &Program) -> Holders {
        let variables = program.variables.len();
        let mut fields = vec![variables];
        for channel in program.channels.values() {
            fields.push(fields[fields.len() - 1] + channel.fields.len());
        }
        Holders { variables, fields }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.fields[self.fields.len() - 1]
    }

    /// A variable.
    pub fn variable(&self, id: VarId) -> Holder {
        id.0 as usize
    }

    /// A field of a channel.
    pub fn field(&self, channel: ChannelId, number: usize) -> Holder {
        self.fields[channel.0 as usize] + number
    }

    /// The fields of channels in a row.
    fn fields_of(&self, first: u32, count: u32) -> Range<Holder> {
        self.fields[first as usize]..self.fields[(first + count) as usize]
    }

    /// The variable that a holder is, if it is one.
    pub fn as_variable(&self, holder: Holder) -> Option<VarId> {
        (holder < self.variables).then_some(VarId(holder as u32))
    }

    /// The channel and the number of the field that a holder is, if it is one.
    pub fn as_field(&self, holder: Holder) -> Option<(ChannelId, usize)> {
        let fields = holder >= self.variables;
        fields.then(|| {
            let channel = self.fields.partition_point(|&first| first <= holder) - 1;
            (ChannelId(channel as u32), holder - self.fields[channel])
        })
    }

    /// The scalar type of what a holder holds, if it is understood: it is an integer, a truth value or a name, which nobody
    /// permutes and which is nobody's number.
    pub fn scalar<'p>(&self, program: &'p Program, holder: Holder) -> Option<&'p Scalar> {
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

    fn type_of(&self, program: &Program, holder: Holder) -> TypeId {
        match self.as_field(holder) {
            Some((channel, field)) => program.channels[channel].fields[field],
            None => program.variables[VarId(holder as u32)].ty,
        }
    }

    /// The cells of a holder in states that are laid out so, and when they hold a value.
    pub fn cells(&self, program: &Program, layout: &Layout, holder: Holder) -> Vec<(CellId, Kept)> {
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
            (0..channel.capacity).map(move |it| (at(it), Kept::Above(length, it)))
        };
        in_slots(program, layout, channel.owner).flat_map(cells).collect()
    }

    /// The holder that a place is a scalar of, if its type is understood.
    pub fn at(&self, program: &Program, place: &Place) -> Option<Holder> {
        let Root::Variable(id) = place.root else { return None };
        let holder = self.variable(id);
        self.scalar(program, holder).map(|_| holder)
    }
}

/// When a cell holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Always.
    Always,
    /// Where the code of this cell is greater than this: the location of its process, or how many messages there are.
    Above(CellId, u32),
}

/// The slots of what an owner has, and when it is there.
fn in_slots(program: &Program, layout: &Layout, owner: Owner) -> impl Iterator<Item = (u32, Kept)> {
    let (slots, location) = match owner {
        Owner::Program => (1, None),
        Owner::Process(process) => {
            let comes = program.processes[process].has_slots();
            (program.slots(process), comes.then(|| layout.locations[process]))
        }
    };
    let kept = move |slot| match location {
        Some(location) => Kept::Above(location.in_slot(slot), 0),
        None => Kept::Always,
    };
    (0..slots).map(move |slot| (slot, kept(slot)))
}

/// How a value comes into a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storing {
    /// By an assignment.
    Assigned,
    /// As a field of a message.
    Sent,
    /// As a parameter of a process that is started.
    Given,
}

/// What is done with values.
#[derive(Clone, Debug)]
pub enum Use {
    /// An expression is judged, for whatever it is needed.
    Asked(Expr),
    /// The value of an expression comes into a holder.
    Stored {
        /// Which.
        to: Holder,
        /// The expression.
        value: Expr,
        /// What becomes of a value that does not fit.
        overflow: Overflow,
        /// How.
        by: Storing,
        /// Where to, if it is assigned.
        target: Option<Place>,
    },
    /// A field of a message comes into a variable.
    Received {
        /// The field.
        from: Holder,
        /// The variable.
        to: Holder,
    },
    /// A field of a message is compared with the value of an expression.
    Matched {
        /// The field.
        field: Holder,
        /// The expression.
        value: Expr,
    },
    /// One message may be sent to channels with either of these fields.
    SentToEither(Holder, Holder),
    /// A holder is set to its least values, or has none.
    Cleared(Holder),
    /// More is done with a holder.
    HandledOtherwise(Holder),
}

impl Use {
    /// The holders that it is about.
    pub fn holders(&self, holders: &Holders) -> Vec<Holder> {
        let (mut found, expr) = match self {
            Use::Asked(expr) => (Vec::new(), Some(expr)),
            Use::Stored { to, value, .. } => (vec![*to], Some(value)),
            Use::Matched { field, value } => (vec![*field], Some(value)),
            Use::Received { from, to } | Use::SentToEither(from, to) => (vec![*from, *to], None),
            Use::Cleared(it) | Use::HandledOtherwise(it) => (vec![*it], None),
        };
        expr.into_iter().for_each(|it| Mentions { holders, found: &mut found }.expr(it));
        found
    }
}

/// Sees which holders are mentioned: variables, and the fields of channels that are asked about.
struct Mentions<'m> {
    holders: &'m Holders,
    found: &'m mut Vec<Holder>,
}

impl Visitor for Mentions<'_> {
    fn place(&mut self, place: &Place, _: Access) {
        if let Root::Variable(id) = place.root {
            self.found.push(self.holders.variable(id));
        }
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: Access) {
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
pub fn uses(program: &Program, holders: &Holders) -> Option<Vec<Use>> {
    if !program.functions.is_empty() {
        return None;
    }
    let mut survey = Survey { program, holders, found: Vec::new(), is_understood: true };
    walk::program(&mut survey, program);
    for process in program.processes.values() {
        let pid = match process.life.pid {
            Pid::In(variable) => Some(variable),
            Pid::None | Pid::From(_) => None,
        };
        pid.into_iter().chain(process.life.priority).for_each(|it| survey.otherwise(it));
    }
    program.last.into_iter().for_each(|it| survey.otherwise(it));
    survey.is_understood.then_some(survey.found)
}

struct Survey<'p> {
    program: &'p Program,
    holders: &'p Holders,
    found: Vec<Use>,
    is_understood: bool,
}

impl Survey<'_> {
    fn otherwise(&mut self, variable: VarId) {
        self.found.push(Use::HandledOtherwise(self.holders.variable(variable)));
    }

    fn stored(&mut self, to: Holder, value: &Expr, overflow: Overflow, by: Storing) {
        let value = value.clone();
        self.found.push(Use::Stored { to, value, overflow, by, target: None });
    }

    fn assigned(&mut self, target: &Place, value: &Expr, overflow: Overflow) {
        walk::place(self, target);
        match self.holders.at(self.program, target) {
            None => self.expr(value),
            Some(to) => {
                let (value, target, by) = (value.clone(), Some(target.clone()), Storing::Assigned);
                self.found.push(Use::Stored { to, value, overflow, by, target });
            }
        }
    }

    fn sent(&mut self, communication: &Communication) {
        let Communication::Send { channel, values, sorted, .. } = communication else { return };
        let mut before: Option<ChannelId> = None;
        for id in channel.meant(self.program) {
            let about = &self.program.channels[id];
            for (number, value) in values.iter().enumerate() {
                if number >= about.fields.len() {
                    self.expr(value);
                    continue;
                }
                let to = self.holders.field(id, number);
                self.stored(to, value, about.overflow, Storing::Sent);
                let other = before.filter(|it| number < self.program.channels[*it].fields.len());
                if let Some(other) = other {
                    self.found.push(Use::SentToEither(self.holders.field(other, number), to));
                }
            }
            // Fields that are given no value become 0, whatever stands for that.
            let fields = values.len()..about.fields.len();
            let fields = fields.map(|it| self.holders.field(id, it));
            self.found.extend(fields.map(Use::HandledOtherwise));
            // Messages that come in order are compared with each other.
            if *sorted {
                let fields = (0..about.fields.len()).map(|it| self.holders.field(id, it));
                self.found.extend(fields.map(Use::HandledOtherwise));
            }
            before = Some(id);
        }
    }

    fn received(&mut self, communication: &Communication) {
        let Communication::Receive { channel, patterns, .. } = communication else { return };
        for pattern in patterns {
            if let Pattern::Into(place) = pattern {
                walk::place(self, place);
            }
        }
        for id in channel.meant(self.program) {
            let fields = self.program.channels[id].fields.len();
            // What is read beyond the only field of a message is 0, whatever stands for that.
            for pattern in patterns.iter().skip(fields) {
                match pattern {
                    Pattern::Any => {}
                    Pattern::Match(value) => self.expr(value),
                    Pattern::Into(place) => {
                        let to = self.holders.at(self.program, place);
                        self.found.extend(to.map(Use::HandledOtherwise));
                    }
                }
            }
            for (number, pattern) in patterns.iter().enumerate().take(fields) {
                let field = self.holders.field(id, number);
                match pattern {
                    Pattern::Any => {}
                    Pattern::Match(value) => {
                        self.found.push(Use::Matched { field, value: value.clone() });
                    }
                    Pattern::Into(place) => {
                        self.found.push(match self.holders.at(self.program, place) {
                            Some(to) => Use::Received { from: field, to },
                            None => Use::HandledOtherwise(field),
                        });
                    }
                }
            }
        }
    }
}

impl Visitor for Survey<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => self.assigned(target, value, *overflow),
            StmtKind::Undefine(place) | StmtKind::Clear(place) => {
                if let Root::Variable(id) = place.root {
                    self.found.push(Use::Cleared(self.holders.variable(id)));
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
                            self.stored(to, value, Overflow::Wraps, Storing::Given);
                        }
                        None => self.expr(value),
                    }
                }
                into.iter().for_each(|it| self.place(it, Access::Write));
            }
            StmtKind::Call { .. }
            | StmtKind::Return(_)
            | StmtKind::Declare { .. }
            | StmtKind::Alias { .. } => self.is_understood = false,
            _ => walk::stmt(self, stmt),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.found.push(Use::Asked(expr.clone()));
    }

    /// A place that is read or written as a whole, or otherwise than as a value.
    fn place(&mut self, place: &Place, _: Access) {
        match place.root {
            Root::Variable(id) => self.otherwise(id),
            Root::Local(_) => self.is_understood = false,
        }
        walk::place(self, place);
    }

    fn communication(&mut self, communication: &Communication) {
        walk::channel(self, communication.channel());
        self.sent(communication);
        self.received(communication);
    }
}
