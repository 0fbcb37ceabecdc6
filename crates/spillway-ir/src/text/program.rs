//! Printing of the parts of a program, each as a paragraph.

use super::NameScope;
use super::expr::{TRUTH, TextEmitter};
use super::names::{location_names, quoted};
use super::stmt::is_simple;
use crate::{
    Action, ActionId, Arithmetic, AssertionRule, Channel, ChannelId, Claim, Domain, EndRule,
    EnumId, InstanceCount, LocalId, Location, OverflowRule, Owner, Parameter, Process, ProcessId,
    ProgramProperty, PropertyKind, ScalarType, Schedule, StartRule, StmtKind, Type, TypeId,
    Urgency, VarId, Variable,
};

/// The desired maximal length of a line in bytes.
const LINE_BYTES: usize = 100;

/// The objects of one owner, in the order of the program.
#[derive(Clone, Default)]
pub(super) struct OwnedItems {
    pub(super) variables: Vec<VarId>,
    pub(super) channels: Vec<ChannelId>,
    pub(super) actions: Vec<ActionId>,
}

/// All objects of a program by owner. Objects with an invalid owner belong to the program.
pub(super) struct ItemsByOwner {
    pub(super) common: OwnedItems,
    pub(super) own: Vec<OwnedItems>,
}

impl ItemsByOwner {
    pub(super) fn new(program: &crate::Program) -> Self {
        let own = vec![OwnedItems::default(); program.processes.len()];
        let mut all = Self { common: OwnedItems::default(), own };
        for (id, variable) in program.variables.iter() {
            all.of(process_of(variable.owner)).variables.push(id);
        }
        for (id, channel) in program.channels.iter() {
            all.of(process_of(channel.owner)).channels.push(id);
        }
        for (id, action) in program.actions.iter() {
            all.of(action.edge.map(|edge| edge.process)).actions.push(id);
        }
        all
    }

    fn of(&mut self, process: Option<ProcessId>) -> &mut OwnedItems {
        let own = process.and_then(|process| self.own.get_mut(process.0 as usize));
        own.unwrap_or(&mut self.common)
    }
}

fn process_of(owner: Owner) -> Option<ProcessId> {
    match owner {
        Owner::Program => None,
        Owner::Process(process) => Some(process),
    }
}

/// The numbers of the channels and actions written so far.
///
/// The grouping by owner may change their order. The order has a meaning: a channel's number is a value, and reports
/// contain action numbers. So an object that does not follow the one written before it is marked `#number`.
#[derive(Default)]
pub(super) struct NumberSequence {
    next: u32,
}

impl TextEmitter<'_> {
    /// Writes a line.
    pub(super) fn entry(&mut self, write: impl FnOnce(&mut Self)) {
        for _ in 0..self.indent {
            self.put(" ");
        }
        write(self);
        self.put("\n");
    }

    fn in_sequence(&mut self, sequence: &mut NumberSequence, number: u32) {
        if number != sequence.next {
            self.put("#");
            self.number(number);
            self.put(" ");
        }
        sequence.next = number + 1;
    }

    pub(super) fn header(&mut self) {
        let program = self.program;
        self.put("program ");
        self.put(&quoted(&program.name));
        self.put("\nschedule ");
        self.put(match program.schedule {
            Schedule::Interleaved => "interleaved",
            Schedule::Lockstep => "lockstep",
        });
        self.put("\narithmetic ");
        self.put(match program.arithmetic {
            Arithmetic::Wrapping32 => "wrapping 32-bit",
            Arithmetic::Checked64 => "checked 64-bit",
        });
        self.put("\nend ");
        self.put(match program.end {
            EndRule::Never => "never",
            EndRule::NeverStuttering => "never, not even where every step leads back",
            EndRule::AllAtValidEnd => "when all processes are gone or at an end location",
        });
        self.put(match program.assertions {
            AssertionRule::Stop => "\n",
            AssertionRule::Continue => "\nassertions go on\n",
        });
        if let Some(last) = program.last {
            self.put("last mover in ");
            self.put(&self.names.bare_variable(last));
            self.put("\n");
        }
    }

    pub(super) fn enumeration(&mut self, id: EnumId) {
        let names = self.names;
        self.put("\nenum ");
        self.put(&names.enumeration(id));
        self.put(" {");
        self.wrapped(names.values(id).iter().map(String::as_str), " }");
        self.put("\n");
    }

    /// Writes items with commas between, on several lines if they are many, and the end of the list.
    fn wrapped<'t>(&mut self, items: impl Iterator<Item = &'t str>, close: &str) {
        let mut start = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.indent += 2;
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.put(",");
            }
            if self.out.len() - start + item.len() > LINE_BYTES {
                start = self.out.len() + 1;
                self.line();
            } else {
                self.put(" ");
            }
            self.put(item);
        }
        self.indent -= 2;
        self.put(close);
    }

    pub(super) fn scalarset(&mut self, id: crate::ScalarsetId) {
        self.put("\nscalarset ");
        self.put(&self.names.scalarset(id));
        self.put(" of ");
        self.number(self.program.scalarsets[id].size);
        self.put("\n");
    }

    /// Writes the declaration of a named type.
    pub(super) fn record(&mut self, id: TypeId) {
        let Type::Record { fields, .. } = &self.program.types[id] else { return };
        self.put("\nrecord ");
        self.ty(id);
        self.put(" {");
        for (at, (_, ty)) in fields.iter().enumerate() {
            self.put(" ");
            self.put(&self.names.field(id, at as u32));
            self.put(": ");
            self.ty(*ty);
            self.put(";");
        }
        self.put(" }\n");
    }

    pub(super) fn variable(&mut self, id: VarId) {
        let variable = &self.program.variables[id];
        self.put("var ");
        self.put(&self.names.bare_variable(id));
        self.put(": ");
        self.ty(variable.ty);
        self.put(" = ");
        self.initial(variable);
    }

    /// Writes one value, or the values of all scalars in brackets, with counts for equal neighbours.
    fn initial(&mut self, variable: &Variable) {
        let is_scalar = matches!(self.program.types.get(variable.ty), Some(Type::Scalar(_)));
        if is_scalar && variable.initial.len() == 1 {
            let domain = self.domain_of_type(variable.ty);
            return self.possibly_undefined(variable.initial[0], domain);
        }
        let mut domains = Vec::new();
        scalar_domains(self.program, variable.ty, variable.initial.len(), &mut domains);
        domains.resize(variable.initial.len(), None);
        let values: Vec<_> = variable.initial.iter().copied().zip(domains).collect();
        self.put("[");
        for (at, run) in values.chunk_by(|left, right| left == right).enumerate() {
            if at > 0 {
                self.put(", ");
            }
            self.possibly_undefined(run[0].0, run[0].1);
            if run.len() > 1 {
                self.put(" x");
                self.number(run.len());
            }
        }
        self.put("]");
    }

    pub(super) fn possibly_undefined(&mut self, value: Option<i64>, domain: Option<&Domain>) {
        match value {
            Some(value) => self.value(value, domain),
            None => self.put("undefined"),
        }
    }

    pub(super) fn channel_declaration(&mut self, id: ChannelId, sequence: &mut NumberSequence) {
        let Channel { capacity, fields, overflow, .. } = &self.program.channels[id];
        self.in_sequence(sequence, id.0);
        self.put("channel ");
        self.put(&self.names.bare_channel(id));
        match capacity {
            0 => self.put(": rendezvous of ("),
            _ => {
                self.put(": buffer of ");
                self.number(capacity);
                self.put(" (");
            }
        }
        self.list(fields.iter().copied(), Self::ty);
        self.put(match overflow {
            OverflowRule::Fails => ")",
            OverflowRule::Wraps => ") wraps",
        });
    }

    pub(super) fn function(&mut self, id: crate::FunctionId) {
        let function = &self.program.functions[id];
        self.enter(&NameScope::of_function(function));
        self.put("\nfunction ");
        self.put(&self.names.function(id));
        self.put("(");
        self.list(&function.parameters, |this, parameter| {
            this.put(if parameter.by_reference { "ref " } else { "" });
            this.typed_local(parameter.local, parameter.ty);
        });
        self.put(")");
        if let Some(result) = function.result {
            self.put(": ");
            self.ty(result);
        }
        self.put(" ");
        self.tall(&function.body);
        self.put("\n");
    }

    fn typed_local(&mut self, local: LocalId, ty: TypeId) {
        self.local(local);
        self.put(": ");
        self.ty(ty);
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        if !parameters.is_empty() {
            self.put(" (");
            self.list(parameters, |this, parameter| {
                this.typed_local(parameter.local, parameter.over);
            });
            self.put(")");
        }
    }

    /// Writes the head of a process, and its locations.
    pub(super) fn process_head(&mut self, id: ProcessId) {
        let process = &self.program.processes[id];
        self.enter(&NameScope::inside(id));
        self.put("\nprocess ");
        self.put(&self.names.process(id));
        if let InstanceCount::Slots { capacity, active } = process.instances {
            self.put(", ");
            self.number(capacity);
            self.put(" slots, ");
            self.number(active);
            self.put(" active at the start");
        }
        if !process.parameters.is_empty() {
            self.put(", parameters (");
            self.list(&process.parameters, |this, variable| {
                this.put(&this.names.bare_variable(*variable));
            });
            self.put(")");
        }
        self.put(" {");
        self.indent = 2;
        self.line();
        self.put("locations");
        let locations: Vec<String> =
            process.locations.keys().map(|location| self.location(id, process, location)).collect();
        self.wrapped(locations.iter().map(String::as_str), "");
        self.life(&process.life);
        self.put("\n");
    }

    fn location(&self, id: ProcessId, process: &Process, at: crate::LocationId) -> String {
        marked(self.names.location(id, at), process.start == at, &process.locations[at])
    }

    pub(super) fn action(&mut self, id: ActionId, sequence: &mut NumberSequence) {
        let action = &self.program.actions[id];
        self.enter(&NameScope::of_action(action));
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.in_sequence(sequence, id.0);
        self.action_head(action);
        let body = self.out.len();
        if action.body.iter().all(is_simple) {
            self.action_items(action, |this| this.put(" "));
            self.put(" }");
            if self.out.len() - start <= LINE_BYTES {
                return;
            }
            self.out.truncate(body);
        }
        self.indent += 2;
        self.action_items(action, Self::line);
        self.indent -= 2;
        self.line();
        self.put("}");
    }

    /// Writes `name (parameters): from -> to priority 1`. Omits the name if it equals the edge.
    fn action_head(&mut self, action: &Action) {
        let edge = action.edge.map(|edge| {
            let name = |location| self.names.location(edge.process, location);
            format!("{} -> {}", name(edge.from), name(edge.to))
        });
        let edge = edge.as_deref();
        if edge.is_none() {
            self.put("action ");
        }
        if edge != Some(&action.name) || !action.parameters.is_empty() {
            self.put(&quoted(&action.name));
            self.parameters(&action.parameters);
            self.put(if edge.is_some() { ": " } else { "" });
        }
        self.put(edge.unwrap_or(""));
        self.taking(action);
        self.put(" {");
    }

    /// Writes the priority and the control of an action.
    fn taking(&mut self, action: &Action) {
        if action.priority != 0 {
            self.put(" priority ");
            self.number(action.priority);
        }
        self.control(action.control);
    }

    /// Writes an action without its name and edge.
    pub(super) fn step(&mut self, action: &Action) {
        self.parameters(&action.parameters);
        self.taking(action);
        self.action_items(action, Self::line);
    }

    fn action_items(&mut self, action: &Action, separate: impl Fn(&mut Self)) {
        if let Some(guard) = &action.guard {
            separate(self);
            self.put("guard ");
            self.condition(guard);
            self.put(";");
        }
        if let Some(communication) = &action.communication {
            separate(self);
            self.communication(communication);
            self.put(";");
        }
        for (at, stmt) in action.body.iter().enumerate() {
            separate(self);
            let is_message = matches!(stmt.kind, StmtKind::Communicate(_));
            if at == 0 && is_message && action.communication.is_none() {
                // This is no communication of the action itself, which could disable it.
                self.put("then ");
            }
            self.stmt(stmt);
        }
    }

    pub(super) fn start(&mut self, start: &StartRule) {
        self.enter(&NameScope::of_start(start));
        self.put("\nstart ");
        self.put(&quoted(&start.name));
        self.parameters(&start.parameters);
        self.put(" ");
        self.block(&start.body);
        self.put("\n");
    }

    pub(super) fn property(&mut self, property: &ProgramProperty) {
        self.enter(&NameScope::of_property(property));
        let name = quoted(&property.name);
        match &property.kind {
            PropertyKind::Invariant(condition) => {
                self.put("\ninvariant ");
                self.put(&name);
                self.put(": ");
                self.expected(condition, TRUTH);
            }
            PropertyKind::Cover(condition) => {
                self.put("\ncover where not ");
                self.put(&name);
                self.put(": ");
                self.expected(condition, TRUTH);
            }
            PropertyKind::Reached => {
                self.put("\nreached ");
                self.put(&name);
            }
            PropertyKind::Assumption(condition) => {
                self.put("\nassumption ");
                self.put(&name);
                self.put(": ");
                self.expected(condition, TRUTH);
            }
            PropertyKind::Constraint(condition) => {
                self.put("\nconstraint ");
                self.put(&name);
                self.put(": ");
                self.expected(condition, TRUTH);
            }
            PropertyKind::AtEnd(condition) => {
                self.put("\nat end ");
                self.put(&name);
                self.put(": ");
                self.expected(condition, TRUTH);
            }
            PropertyKind::AssertionAt { process, location, condition } => {
                self.put("\nassertion ");
                self.put(&name);
                self.put(": ");
                self.put(&self.names.process(*process));
                self.put("@");
                self.put(&self.names.location(*process, *location));
                self.put(" -> ");
                self.expected(condition, TRUTH);
            }
            PropertyKind::Automaton(process) => {
                self.put("\nautomaton ");
                self.put(&name);
                self.put(": ");
                self.put(&self.names.process(*process));
            }
            PropertyKind::Claim(claim) => self.claim(&name, claim),
        }
        self.put("\n");
    }

    /// Writes a claim like a process, but its moves have no names and numbers.
    fn claim(&mut self, name: &str, claim: &Claim) {
        let names = location_names(&claim.locations);
        let at = |id: crate::LocationId| {
            let name = names.get(id.0 as usize).cloned();
            name.unwrap_or_else(|| format!("?location{}", id.0))
        };
        self.put("\nclaim ");
        self.put(name);
        self.put(" {\n  locations");
        let locations: Vec<String> = (claim.locations.iter())
            .map(|(id, location)| marked(at(id), claim.start == id, location))
            .collect();
        self.indent += 2;
        self.wrapped(locations.iter().map(String::as_str), "");
        self.put("\n");
        for it in &claim.moves {
            self.line();
            self.put(&at(it.from));
            self.put(" -> ");
            self.put(&at(it.to));
            self.control(it.action.control);
            self.put(" {");
            self.action_items(&it.action, |this| this.put(" "));
            self.put(" }");
        }
        self.indent -= 2;
        self.put("\n}");
    }
}

/// Returns the name of a location with its marks.
fn marked(name: String, is_start: bool, location: &Location) -> String {
    let marks = [
        (is_start, "start"),
        (location.urgency == Urgency::Committed, "committed"),
        (location.urgency == Urgency::Atomic, "atomic"),
        (location.valid_end, "end"),
        (location.progress, "progress"),
        (location.accepting, "accepting"),
    ];
    let marks: Vec<&str> =
        marks.into_iter().filter(|(has, _)| *has).map(|(_, mark)| mark).collect();
    match marks.is_empty() {
        true => name,
        false => format!("{name} ({})", marks.join(" ")),
    }
}

/// Adds the domain of each scalar of a type, in order, up to `most` domains. Adds `None` for a scalar without a
/// domain (the count of a multiset).
fn scalar_domains<'a>(
    program: &'a crate::Program,
    ty: TypeId,
    most: usize,
    domains: &mut Vec<Option<&'a Domain>>,
) {
    if domains.len() >= most {
        return;
    }
    match program.types.get(ty) {
        Some(Type::Scalar(ScalarType { domain, .. })) => domains.push(Some(domain)),
        Some(Type::Array { length, element, .. }) => {
            repeated_domains(program, *length, *element, most, domains);
        }
        Some(Type::Record { fields, .. }) => {
            fields.iter().for_each(|(_, ty)| scalar_domains(program, *ty, most, domains));
        }
        Some(Type::Multiset { capacity, element }) => {
            for _ in 0..*capacity {
                if domains.len() >= most {
                    break;
                }
                domains.push(Some(&Domain::Bool));
                scalar_domains(program, *element, most, domains);
            }
        }
        None => {}
    }
}

fn repeated_domains<'a>(
    program: &'a crate::Program,
    count: u32,
    element: TypeId,
    most: usize,
    domains: &mut Vec<Option<&'a Domain>>,
) {
    for _ in 0..count {
        let before = domains.len();
        scalar_domains(program, element, most, domains);
        if domains.len() == before {
            break;
        }
    }
}
