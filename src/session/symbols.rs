//! The names that a model declares, with their positions and what the analyses know about them.

use super::TextModel;
use crate::front::{DeclaredName, DeclaredNameKind};
use crate::ir::layout::{CellId, CellPlacement, Layout};
use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{
    Domain, Owner, Place, PlaceRoot, Program, PropertyKind, ScalarType, StmtKind, Type, TypeId,
    VarId,
};
use crate::model::{PropertyInfo, SystemDescription, UncheckedRequirement};
use crate::source::{SourceMap, Span};
use crate::tla::resolve::tree::{Definition, DefinitionOrigin, Specification};
use std::collections::HashSet;

/// A name that a model declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSymbol {
    /// The name in the model.
    pub name: String,
    /// What it names.
    pub kind: SymbolKind,
    /// The position of the declaration.
    pub span: Span,
    /// The process to which it belongs.
    pub owner: Option<String>,
    /// The parameters of an operator, or the type of a variable in the terms of programs.
    pub detail: Option<String>,
    /// The stored values of a variable.
    pub stored: Option<StoredRange>,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A variable.
    Variable,
    /// A channel.
    Channel,
    /// A process.
    Process,
    /// A location of a process.
    Location,
    /// A function or procedure.
    Function,
    /// A rule or a transition of a net.
    Rule,
    /// A start state.
    Start,
    /// A property of states, with its kind in reports.
    Property(&'static str),
    /// A temporal property, with its kind in reports.
    RunProperty(&'static str),
    /// A constant, or a value of an enumeration.
    Constant,
    /// A type.
    Type,
    /// A macro, or statements that a call inserts.
    Macro,
    /// An operator.
    Operator,
    /// A step of a process. It has no name of its own in the model.
    Step,
}

/// The values of a variable that a state stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRange {
    /// The least and the greatest value of every scalar, if the range analysis found them. The values of enumerations
    /// have no numbers in the model.
    pub range: Option<(i64, i64)>,
    /// The number of bits of one instance.
    pub bits: u32,
    /// Whether it has one value.
    pub is_constant: bool,
    /// Whether no code reads it.
    pub is_never_read: bool,
}

impl ModelSymbol {
    fn new(kind: SymbolKind, name: &str, span: Span) -> ModelSymbol {
        let (name, owner, detail, stored) = (name.to_owned(), None, None, None);
        ModelSymbol { name, kind, span, owner, detail, stored }
    }

    fn owned(self, program: &Program, owner: Owner) -> ModelSymbol {
        let owner = match owner {
            Owner::Program => None,
            Owner::Process(process) => Some(program.processes[process].name.clone()),
        };
        ModelSymbol { owner, ..self }
    }
}

/// Returns the symbol of a property that no search of states checks.
fn unchecked_symbol(it: &UncheckedRequirement) -> Option<ModelSymbol> {
    let kind = SymbolKind::RunProperty(it.kind.name());
    it.kind.is_property_of_runs().then(|| ModelSymbol::new(kind, &it.name, it.span))
}

/// Returns the symbol of a name that the program lacks.
fn declared_symbol(it: &DeclaredName) -> ModelSymbol {
    let kind = match it.kind {
        DeclaredNameKind::Constant => SymbolKind::Constant,
        DeclaredNameKind::Type => SymbolKind::Type,
        DeclaredNameKind::Macro => SymbolKind::Macro,
    };
    ModelSymbol::new(kind, &it.name, it.span)
}

/// Returns the symbol of a property of states.
fn property_symbol(info: &PropertyInfo) -> ModelSymbol {
    ModelSymbol::new(SymbolKind::Property(info.kind), &info.name, info.span)
}

impl TextModel {
    /// Returns the names that the model declares.
    pub(super) fn symbols(&self) -> Vec<ModelSymbol> {
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let mut all = of_program(program, layout, &self.interp.properties());
        all.extend(self.names.iter().map(declared_symbol));
        for label in all.iter_mut().filter(|it| it.kind == SymbolKind::Location) {
            label.span = label_span(&self.sources, &label.name, label.span).unwrap_or(label.span);
        }
        all
    }
}

/// Returns the position of the label of a statement: the last one of this name before the statement. `None` if the
/// position is that of a declaration, which begins with the name.
fn label_span(sources: &SourceMap, name: &str, statement: Span) -> Option<Span> {
    let (before, after) =
        sources.get(statement.file)?.text.split_at_checked(statement.start as usize)?;
    if after.starts_with(name) {
        return None;
    }
    let is_label = |it: &usize| {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let rest = before[it + name.len()..].trim_start();
        !before[..*it].ends_with(is_part) && rest.starts_with(':') && !rest.starts_with("::")
    };
    let start = before.rmatch_indices(name).map(|it| it.0).find(is_label)?;
    Some(Span::new(statement.file, start..start + name.len()))
}

/// Returns the symbols of a specification.
pub(super) fn of_specification(specification: &Specification) -> Vec<ModelSymbol> {
    let symbol = ModelSymbol::new;
    let variables = specification.variables[..specification.state_variables].iter();
    let variables = variables.map(|it| symbol(SymbolKind::Variable, &it.name, it.span));
    let constants = specification.constants.iter();
    let constants = constants.map(|it| symbol(SymbolKind::Constant, &it.name, it.span));
    let is_named =
        |it: &&Definition| it.origin == DefinitionOrigin::Module && !it.name.contains('!');
    let operator = |it: &Definition| {
        let parameters: Vec<&str> =
            it.parameters[it.captured..].iter().map(|it| it.name.as_str()).collect();
        let detail = (!parameters.is_empty()).then(|| format!("({})", parameters.join(", ")));
        ModelSymbol { detail, ..symbol(SymbolKind::Operator, &it.name, it.span) }
    };
    let operators = specification.definitions.iter().filter(is_named).map(operator);
    let invariants = specification.checks.invariants.iter().map(|it| &specification[*it]);
    let invariants =
        invariants.map(|it| symbol(SymbolKind::Property("invariant"), &it.name, it.span));
    let all = variables.chain(constants).chain(operators).chain(invariants);
    all.filter(|it| it.span != Span::default()).collect()
}

/// Returns the symbols of a program, with the layout of its states. `properties` are the program's, as reports have them.
fn of_program(program: &Program, layout: &Layout, properties: &[PropertyInfo]) -> Vec<ModelSymbol> {
    let symbol = |kind, name: &str, span| ModelSymbol::new(kind, name, span);
    let mut all = variables(program, layout);
    for channel in program.channels.values() {
        let found = symbol(SymbolKind::Channel, &channel.name, channel.span);
        all.push(found.owned(program, channel.owner));
    }
    for (id, process) in program.processes.iter() {
        all.push(symbol(SymbolKind::Process, &process.name, process.span));
        let named = process.locations.values().filter(|it| !it.name.contains(' '));
        let named = named.map(|it| symbol(SymbolKind::Location, &it.name, it.span));
        all.extend(named.map(|it| it.owned(program, Owner::Process(id))));
    }
    let functions = program.functions.values().filter(|it| it.is_declared());
    all.extend(functions.map(|it| symbol(SymbolKind::Function, &it.name, it.span)));
    all.extend(program.actions.values().map(|it| match it.edge {
        None => symbol(SymbolKind::Rule, &it.name, it.span),
        Some(edge) => {
            symbol(SymbolKind::Step, &it.name, it.span).owned(program, Owner::Process(edge.process))
        }
    }));
    all.extend(program.starts.iter().map(|it| symbol(SymbolKind::Start, &it.name, it.span)));
    let is_own =
        |(_, kind): &(&PropertyInfo, &PropertyKind)| !matches!(kind, PropertyKind::Automaton(_));
    let kinds = program.properties.values().map(|it| &it.kind);
    all.extend(properties.iter().zip(kinds).filter(is_own).map(|it| property_symbol(it.0)));
    all.extend(program.unchecked.iter().filter_map(unchecked_symbol));
    all.retain(|it| it.span != Span::default() && is_written(&it.name));
    all
}

/// Returns whether a name may be written in a model. Front ends give generated variables other names.
fn is_written(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['.', '<', '_'])
}

/// Returns the symbols of the variables.
fn variables(program: &Program, layout: &Layout) -> Vec<ModelSymbol> {
    let mut reads = ReadVariables::default();
    walk::program(&mut reads, program);
    let symbol = |(id, variable): (VarId, &crate::ir::Variable)| {
        let stored = stored_values(layout, variable.ty, layout.variables[id]);
        let scalar = match &program.types[variable.ty] {
            Type::Scalar(ScalarType { domain: Domain::Range { .. } | Domain::Bool, .. }) => true,
            Type::Array { .. } => stored.range.is_some_and(|(low, high)| low != high),
            _ => false,
        };
        let stored = StoredRange {
            range: stored.range.filter(|_| scalar),
            is_never_read: !reads.0.contains(&id),
            ..stored
        };
        let detail = Some(type_text(program, variable.ty));
        let found = ModelSymbol::new(SymbolKind::Variable, &variable.name, variable.span);
        ModelSymbol { stored: Some(stored), detail, ..found }.owned(program, variable.owner)
    };
    program.variables.iter().map(symbol).collect()
}

/// Returns the stored values of a variable of this type in these cells.
fn stored_values(layout: &Layout, ty: TypeId, placement: CellPlacement) -> StoredRange {
    let first = placement.in_slot(0).0;
    let cells = (first..first + layout.sizes[ty]).map(|it| &layout.cells[CellId(it)]);
    let all: Vec<_> = cells.collect();
    let range = all.first().map(|it| (it.least, it.most));
    let range = range.filter(|range| all.iter().all(|it| (it.least, it.most) == *range));
    StoredRange {
        range,
        bits: all.iter().map(|it| it.bits).sum(),
        is_constant: all.iter().all(|it| it.bits == 0),
        is_never_read: false,
    }
}

/// Formats a type.
fn type_text(program: &Program, ty: TypeId) -> String {
    match &program.types[ty] {
        Type::Scalar(ScalarType { domain, .. }) => domain_text(program, domain),
        Type::Array { low, length, by, element } => {
            let index = match by {
                Some(by) => domain_text(program, by),
                None => format!("{low}..{}", low + i64::from(*length) - 1),
            };
            format!("array [{index}] of {}", type_text(program, *element))
        }
        Type::Record { name, .. } if !name.is_empty() => format!("record {name}"),
        Type::Record { fields, .. } => {
            let field =
                |(name, ty): &(String, TypeId)| format!("{name}: {}", type_text(program, *ty));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("record {{ {} }}", fields.join("; "))
        }
        Type::Multiset { capacity, element } => {
            format!("multiset [{capacity}] of {}", type_text(program, *element))
        }
    }
}

/// Formats a domain.
fn domain_text(program: &Program, domain: &Domain) -> String {
    match domain {
        Domain::Bool => "boolean".to_owned(),
        Domain::Range { low, high } => format!("{low}..{high}"),
        Domain::Enum(id) => format!("{{{}}}", program.enums[*id].values.join(", ")),
        Domain::Scalarset(id) => program.scalarsets[*id].name.clone(),
        Domain::Union(parts) => {
            let parts: Vec<String> = parts.iter().map(|it| domain_text(program, it)).collect();
            format!("union {{{}}}", parts.join(", "))
        }
        Domain::Channel => "channel".to_owned(),
        Domain::Process => "process".to_owned(),
    }
}

/// The variables that some code reads. A place that a statement passes on by reference counts as read.
#[derive(Default)]
struct ReadVariables(HashSet<VarId>);

impl ReadVariables {
    fn note(&mut self, place: &Place) {
        if let PlaceRoot::Variable(id) = place.root {
            self.0.insert(id);
        }
    }
}

impl CodeVisitor for ReadVariables {
    fn stmt(&mut self, stmt: &crate::ir::Stmt) {
        match &stmt.kind {
            StmtKind::Alias { place, .. } => self.note(place),
            StmtKind::Call { arguments, .. } => {
                for argument in arguments {
                    if let crate::ir::CallArgument::Reference(place) = argument {
                        self.note(place);
                    }
                }
            }
            _ => {}
        }
        walk::stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: PlaceAccess) {
        if access == PlaceAccess::Read {
            self.note(place);
        }
        walk::place(self, place);
    }
}
