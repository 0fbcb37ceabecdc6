//! Declarations: names, types, families and initial values.
//!
//! Declarations are lowered before any transition, so that processes may refer to each other in any order. Constants
//! are folded here, in order: each may use those before it. Families of channels and processes are expanded to their
//! members. The command line can replace a global constant.
//!
//! Limits on the size of the state turn a mistake such as `byte a[1000000000]` into a message.

use super::ast::*;
use super::check::DiagnosticSink;
use super::scope::{
    ChannelSignature, DveMeaning, DveProcessInstance, DveScope, DveSymbols, FamilyMembers,
};
use crate::Options;
use crate::name_suggestion;
use crate::quote::{quote, shorten};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, Domain, OverflowRule, Owner, Program, ScalarType, Type, TypeId,
    interval::{self, Interval},
};
use std::collections::HashMap;

/// The maximum number of elements of an array.
const ARRAY_LENGTH_MAX: i64 = 1 << 16;
/// The maximum capacity of a channel, in messages.
const CAPACITY_MAX: i64 = 1 << 12;
/// The maximum number of members of a family.
const MEMBERS_MAX: i64 = 1 << 16;
/// The maximum number of integers in a state.
const SCALARS_MAX: u64 = 1 << 20;

/// The domain of values passed through an untyped channel: the values of all expressions.
const ANY_VALUE: Domain = Domain::Range { low: i32::MIN as i64, high: i32::MAX as i64 };

/// The program and the symbol tables under construction.
pub(super) struct DeclarationBuilder<'r, 'a> {
    /// The program; at the end, it lacks only actions and assertions.
    pub(super) program: Program,
    /// The meanings of names.
    pub(super) world: DveSymbols<'a>,
    types: HashMap<Type, TypeId>,
    scalars: u64,
    options: &'r Options,
    report: &'r DiagnosticSink<'a>,
}

/// Declares everything in a model.
pub(super) fn declare<'r, 'a>(
    model: &DveModel<'a>,
    options: &'r Options,
    report: &'r DiagnosticSink<'a>,
) -> DeclarationBuilder<'r, 'a> {
    let mut declarations = DeclarationBuilder {
        program: Program::default(),
        world: DveSymbols::default(),
        types: HashMap::new(),
        scalars: 0,
        options,
        report,
    };
    for declaration in &model.declarations {
        match declaration {
            _ if declarations.is_too_large() => break,
            DveDeclaration::Variable(variable) => declarations.variable(variable, None),
            DveDeclaration::Channel(channel) => declarations.channel(channel),
        }
    }
    declarations.check_defines(model);
    let property = model.system.property.map(|name| name.text);
    for (template, process) in model.processes.iter().enumerate() {
        declarations.process(template, process, property == Some(process.name.text));
    }
    declarations
}

impl DveIntType {
    /// Returns the least and the greatest value.
    fn bounds(self) -> Interval {
        match self {
            DveIntType::Byte => (0, 255),
            DveIntType::Int => (-32768, 32767),
        }
    }

    fn domain(self) -> Domain {
        let (low, high) = self.bounds();
        Domain::Range { low, high }
    }

    fn describe(self) -> &'static str {
        match self {
            DveIntType::Byte => "a byte (0 to 255)",
            DveIntType::Int => "an int (-32768 to 32767)",
        }
    }
}

impl<'a> DeclarationBuilder<'_, 'a> {
    /// Returns the type of the fields of untyped channels.
    pub(super) fn any_value(&mut self) -> TypeId {
        self.scalar(ANY_VALUE)
    }

    fn scalar(&mut self, domain: Domain) -> TypeId {
        self.type_id(Type::Scalar(ScalarType::defined(domain)))
    }

    fn type_id(&mut self, ty: Type) -> TypeId {
        let types = &mut self.program.types;
        *self.types.entry(ty.clone()).or_insert_with(|| types.push(ty))
    }

    /// Declares a variable or constant, of a process or global.
    fn variable(
        &mut self,
        variable: &DveVariable<'a>,
        member: Option<&mut DveProcessInstance<'a>>,
    ) {
        let scope = DveScope { world: &self.world, member: member.as_deref(), report: self.report };
        let length = variable.size.as_ref().map(|size| {
            let size = scope.sized(size, "the size of an array", 1..=ARRAY_LENGTH_MAX);
            size.unwrap_or(1) as u32
        });
        let values = self.initial(variable, scope, length);
        let owner = match &member {
            Some(member) => Owner::Process(member.id),
            None => Owner::Program,
        };
        let meaning = match (variable.constant, length) {
            (true, None) => DveMeaning::Constant(values[0]),
            (constant, _) => {
                let id = self.place(variable, owner, length, values);
                DveMeaning::Variable { id, length, constant }
            }
        };
        let table = match member {
            Some(member) => &mut member.table,
            None => &mut self.world.globals,
        };
        let declared = table.declare(variable.name.text, meaning, variable.name.span);
        self.report_redeclaration(declared, variable.name.text, variable.name.span);
    }

    /// Adds a variable to the state.
    fn place(
        &mut self,
        variable: &DveVariable<'a>,
        owner: Owner,
        length: Option<u32>,
        values: Vec<i64>,
    ) -> ir::VarId {
        self.count(values.len() as u64, variable.name.span);
        let element = self.scalar(variable.basic.domain());
        let ty = match length {
            Some(length) => self.type_id(Type::Array { low: 0, length, by: None, element }),
            None => element,
        };
        self.program.variables.push(ir::Variable {
            name: variable.name.text.to_owned(),
            ty,
            owner,
            initial: values.into_iter().map(Some).collect(),
            span: variable.name.span,
        })
    }

    /// Returns the initial values of a variable, one for each element.
    fn initial(
        &self,
        variable: &DveVariable<'a>,
        scope: DveScope<'_, 'a>,
        length: Option<u32>,
    ) -> Vec<i64> {
        let count = length.unwrap_or(1) as usize;
        let mut values = match (&variable.initial, self.define(variable, scope)) {
            (_, Some(value)) => vec![self.fitting(value, variable, variable.name.span)],
            (None, None) => {
                self.needs_no_value(variable);
                Vec::new()
            }
            (Some(DveInitializer::Value(value)), None) => self.single(value, variable, scope),
            (Some(DveInitializer::List(values, span)), None) => {
                self.report_array_values(values, *span, variable, count);
                let values = values.iter().take(count);
                values.map(|value| self.value(value, variable, scope)).collect()
            }
        };
        values.resize(count, 0);
        values
    }

    /// Returns the value that the command line gives a global constant.
    fn define(&self, variable: &DveVariable<'a>, scope: DveScope<'_, 'a>) -> Option<i64> {
        if !variable.constant || variable.size.is_some() || scope.member.is_some() {
            return None;
        }
        let mut defines = self.options.defines.iter().rev();
        defines.find(|(name, _)| name == variable.name.text).map(|&(_, value)| value)
    }

    fn needs_no_value(&self, variable: &DveVariable<'a>) {
        if variable.constant {
            let error = format!("the constant {} has no value", quote(variable.name.text));
            self.report.error(variable.name.span, error);
        }
    }

    fn single(
        &self,
        value: &DveExpr<'a>,
        variable: &DveVariable<'a>,
        scope: DveScope<'_, 'a>,
    ) -> Vec<i64> {
        if variable.size.is_some() {
            let error = "an array starts with a list of values";
            self.report.error_with(value.span, error, "write them as `{0, 1}`; the rest are 0");
        }
        vec![self.value(value, variable, scope)]
    }

    /// Reports a list of values that initializes anything but an array of at least as many elements.
    fn report_array_values(
        &self,
        values: &[DveExpr<'a>],
        span: Span,
        variable: &DveVariable<'a>,
        count: usize,
    ) {
        let name = quote(variable.name.text);
        if variable.size.is_none() {
            self.report.error(span, format!("{name} is not an array and starts with one value"));
        } else if let Some(surplus) = values.get(count) {
            let elements = if count == 1 { "element" } else { "elements" };
            let warning =
                format!("{name} has {count} {elements}, but {} values are given", values.len());
            self.report.add(
                Diagnostic::warning(surplus.span, warning)
                    .help("this value and those after it are ignored"),
            );
        }
    }

    fn value(
        &self,
        value: &DveExpr<'a>,
        variable: &DveVariable<'a>,
        scope: DveScope<'_, 'a>,
    ) -> i64 {
        let what = if variable.constant { "a constant's value" } else { "a first value" };
        match scope.constant(value, what) {
            Some(known) => self.fitting(known, variable, value.span),
            None => 0,
        }
    }

    /// Returns the value if it fits the variable's type; otherwise reports an error and returns a value of the type.
    fn fitting(&self, value: i64, variable: &DveVariable<'a>, span: Span) -> i64 {
        let (low, high) = variable.basic.bounds();
        if (low..=high).contains(&value) {
            return value;
        }
        let name = quote(variable.name.text);
        let message = format!("{name} is {} and cannot be {value}", variable.basic.describe());
        if self.options.overflow != Some(OverflowRule::Wraps) {
            self.report.error(span, message);
            return low;
        }
        let wrapped = interval::wrap_into(value, (low, high));
        let help = format!("it starts as {wrapped}, the value modulo the size of its type");
        self.report.add(Diagnostic::warning(span, message).help(help));
        wrapped
    }

    /// Declares a channel or the members of a family of channels.
    fn channel(&mut self, channel: &DveChannel<'a>) {
        let scope = DveScope { world: &self.world, member: None, report: self.report };
        let capacity = match (&channel.capacity, &channel.fields) {
            (None, _) => 0,
            (Some(capacity), Some(_)) => {
                scope.sized(capacity, "a channel's capacity", 0..=CAPACITY_MAX).unwrap_or(0) as u32
            }
            (Some(capacity), None) => {
                let error = "only a channel with declared fields has a capacity";
                let help = "declare them as in `channel {int} c[4];`";
                self.report.error_with(capacity.span, error, help);
                0
            }
        };
        let SourceName { text, span } = channel.name;
        let first = self.program.channels.len() as u32;
        let Some(family) = &channel.family else {
            let id = self.one_channel(text.to_owned(), channel, capacity);
            let declared = self.world.globals.declare(text, DveMeaning::Channel(id), span);
            return self.report_redeclaration(declared, text, span);
        };
        let count = scope.sized(&family.size, "the number of members", 1..=MEMBERS_MAX);
        let count = count.unwrap_or(1) as u32;
        let meaning = DveMeaning::Channels(FamilyMembers { first, count });
        let declared = self.world.globals.declare(text, meaning, span);
        self.report_redeclaration(declared, text, span);
        for member in 0..count {
            if self.is_too_large() {
                return;
            }
            let name = format!("{text}_{member}");
            let id = self.one_channel(name.clone(), channel, capacity);
            let declared = self.world.globals.declare(name.clone(), DveMeaning::Channel(id), span);
            self.report_redeclaration(declared, &name, span);
        }
    }

    fn one_channel(
        &mut self,
        name: String,
        channel: &DveChannel<'a>,
        capacity: u32,
    ) -> ir::ChannelId {
        let declared = channel.fields.as_deref();
        let arity = declared.map(<[_]>::len);
        // A rendezvous channel has no storage in the state, but is counted as one integer to bound the number of
        // channels.
        self.count(1 + u64::from(capacity) * arity.unwrap_or(0) as u64, channel.name.span);
        let fields = declared.unwrap_or_default();
        let fields = fields.iter().map(|field| self.scalar(field.domain())).collect();
        self.world.channels.push(ChannelSignature { arity, capacity });
        self.program.channels.push(ir::Channel {
            name,
            owner: Owner::Program,
            capacity,
            fields,
            overflow: self.options.overflow.unwrap_or(OverflowRule::Fails),
            span: channel.name.span,
        })
    }

    /// Declares a process or the members of a family of processes.
    fn process(&mut self, template: usize, process: &DveProcess<'a>, property: bool) {
        let SourceName { text, span } = process.name;
        if process.states.is_empty() {
            self.report.error(span, format!("process {} has no states", quote(text)));
        } else if process.init.is_none() {
            let error = format!("process {} has no initial state", quote(text));
            let help = format!("add `init {};`", shorten(process.states[0].text));
            self.report.error_with(span, error, help);
        }
        let first = self.program.processes.len() as u32;
        let Some(family) = &process.family else {
            let meaning = DveMeaning::Process(ir::ProcessId(first));
            let declared = self.world.globals.declare(text, meaning, span);
            self.report_redeclaration(declared, text, span);
            let id = ir::ProcessId(first);
            let member = DveProcessInstance::new(text.to_owned(), id, template, None);
            return self.member(process, member, property);
        };
        let scope = DveScope { world: &self.world, member: None, report: self.report };
        let count = scope.sized(&family.size, "the number of members", 1..=MEMBERS_MAX);
        let count = count.unwrap_or(1) as u32;
        let meaning = DveMeaning::Processes(FamilyMembers { first, count });
        let declared = self.world.globals.declare(text, meaning, span);
        self.report_redeclaration(declared, text, span);
        for number in 0..count {
            let name = format!("{text}_{number}");
            let meaning = DveMeaning::Process(ir::ProcessId(first + number));
            let declared = self.world.globals.declare(name.clone(), meaning, span);
            self.report_redeclaration(declared, &name, span);
            let parameter = Some((family.index, i64::from(number)));
            let id = ir::ProcessId(first + number);
            self.member(process, DveProcessInstance::new(name, id, template, parameter), property);
        }
    }

    /// Declares a process, or a member of a family of processes.
    fn member(
        &mut self,
        process: &DveProcess<'a>,
        mut member: DveProcessInstance<'a>,
        property: bool,
    ) {
        if self.is_too_large() {
            return;
        }
        self.count(1, process.name.span);
        if let Some((name, number)) = member.parameter {
            // The table is still empty, so the name is new.
            let _ = member.table.declare(name.text, DveMeaning::Parameter(number), name.span);
        }
        for variable in &process.variables {
            if self.is_too_large() {
                return;
            }
            self.variable(variable, Some(&mut member));
        }
        let (locations, start) = self.locations(process, &mut member, property);
        self.program.processes.push(ir::Process {
            name: member.name.clone(),
            locations,
            start,
            instances: ir::InstanceCount::One,
            parameters: Vec::new(),
            life: Default::default(),
            span: process.name.span,
        });
        self.world.members.push(member);
    }

    /// Adds the states of a process with their marks, and its initial state.
    fn locations(
        &self,
        process: &DveProcess<'a>,
        member: &mut DveProcessInstance<'a>,
        property: bool,
    ) -> (ir::Arena<ir::LocationId, ir::Location>, ir::LocationId) {
        let mut locations = self.states(process, member);
        let scope = DveScope { world: &self.world, member: None, report: self.report };
        let named = |name: &SourceName<'a>| scope.state(member, *name);
        for location in process.commits.iter().filter_map(named) {
            // A property process never moves. A committed state of it would block all other processes.
            let urgency = if property { ir::Urgency::Free } else { ir::Urgency::Committed };
            locations[location].urgency = urgency;
        }
        for location in process.accepts.iter().filter_map(named) {
            locations[location].accepting = true;
        }
        let start = process.init.as_ref().and_then(named);
        (locations, start.unwrap_or(ir::LocationId(0)))
    }

    fn states(
        &self,
        process: &DveProcess<'a>,
        member: &mut DveProcessInstance<'a>,
    ) -> ir::Arena<ir::LocationId, ir::Location> {
        let mut locations = ir::Arena::new();
        for &SourceName { text, span } in &process.states {
            let id = locations.push(ir::Location {
                name: text.to_owned(),
                urgency: ir::Urgency::Free,
                valid_end: false,
                progress: false,
                accepting: false,
                span,
            });
            let declared = member.table.declare(text, DveMeaning::State(id), span);
            self.report_redeclaration(declared, text, span);
        }
        locations
    }

    /// Reports a name that already had a meaning.
    fn report_redeclaration(&self, declared: Result<(), Span>, name: &str, span: Span) {
        if let Err(earlier) = declared {
            let help = format!("it is declared first on line {}", self.report.line(earlier));
            self.report.error_with(span, format!("{} is declared twice", quote(name)), help);
        }
    }

    /// Adds to the number of integers in a state; the first excess is reported as one error.
    fn count(&mut self, more: u64, span: Span) {
        let before = self.scalars;
        self.scalars += more;
        if before <= SCALARS_MAX && self.scalars > SCALARS_MAX {
            let error = format!("with this, a state holds more than {SCALARS_MAX} integers");
            self.report.error(span, error);
        }
    }

    /// Returns whether the state is too large, so that further lowering is useless.
    pub(super) fn is_too_large(&self) -> bool {
        self.scalars > SCALARS_MAX
    }

    /// Checks that every define names a global constant.
    fn check_defines(&self, model: &DveModel<'a>) {
        let constants = |declaration: &DveDeclaration<'a>| match declaration {
            DveDeclaration::Variable(v) if v.constant && v.size.is_none() => Some(v.name.text),
            _ => None,
        };
        let constants: Vec<&str> = model.declarations.iter().filter_map(constants).collect();
        for (name, _) in &self.options.defines {
            if constants.contains(&name.as_str()) {
                continue;
            }
            let error =
                format!("no global constant is called {}, so it cannot be defined", quote(name));
            let help = name_suggestion::unknown_name_help(name, &constants, "global constants");
            self.report.error_with(Span::default(), error, help);
        }
    }
}

impl<'a> DveScope<'_, 'a> {
    /// Returns the value of a constant expression within bounds; `what` names its use for messages.
    fn sized(
        self,
        expr: &DveExpr<'a>,
        what: &str,
        bounds: std::ops::RangeInclusive<i64>,
    ) -> Option<i64> {
        let value = self.constant(expr, what)?;
        if bounds.contains(&value) {
            return Some(value);
        }
        let (low, high) = bounds.into_inner();
        self.report.error(expr.span, format!("{what} is {value}, but must be {low} to {high}"));
        None
    }
}
