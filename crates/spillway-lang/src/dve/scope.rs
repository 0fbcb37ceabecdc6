//! Names and scopes.
//!
//! There is one table of global names and one table for each process, after families have been instantiated. `process
//! Node[i < 3]` declares the global names `Node`, `Node_0`, `Node_1` and `Node_2`. Each member has a table in which `i`
//! is a constant. Within a table a name has one meaning; a process's names hide global names.

use super::ast::SourceName;
use super::check::DiagnosticSink;
use crate::name_suggestion::suggest_name;
use spillway_base::source::Span;
use spillway_ir::{ChannelId, LocationId, ProcessId, VarId};
use std::borrow::Cow;
use std::collections::HashMap;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DveMeaning {
    /// A declared constant.
    Constant(i64),
    /// The number of a family's member, inside it.
    Parameter(i64),
    /// A variable, or an array of `length` elements, which may be constant.
    Variable {
        /// The variable in the program.
        id: VarId,
        /// The number of elements, if it is an array.
        length: Option<u32>,
        /// Whether it must not be assigned.
        constant: bool,
    },
    /// A channel.
    Channel(ChannelId),
    /// A family of channels.
    Channels(FamilyMembers),
    /// A process.
    Process(ProcessId),
    /// A family of processes.
    Processes(FamilyMembers),
    /// A state of the process whose table this is.
    State(LocationId),
}

/// The members of a family, which have consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FamilyMembers {
    /// The number of the first member in the program.
    pub(super) first: u32,
    /// The number of members.
    pub(super) count: u32,
}

impl DveMeaning {
    /// Returns the word for such a thing in messages.
    pub(super) fn describe(self) -> &'static str {
        match self {
            DveMeaning::Constant(_) => "a constant",
            DveMeaning::Parameter(_) => "the number of a family's member",
            DveMeaning::Variable { length: None, .. } => "a variable",
            DveMeaning::Variable { length: Some(_), .. } => "an array",
            DveMeaning::Channel(_) => "a channel",
            DveMeaning::Channels(_) => "a family of channels",
            DveMeaning::Process(_) => "a process",
            DveMeaning::Processes(_) => "a family of processes",
            DveMeaning::State(_) => "a state",
        }
    }
}

/// A table of names of one scope.
#[derive(Debug, Default)]
pub(super) struct DveSymbolTable<'a> {
    symbols: HashMap<Cow<'a, str>, (DveMeaning, Span)>,
}

impl<'a> DveSymbolTable<'a> {
    /// Gives a name a meaning.
    ///
    /// # Errors
    ///
    /// The place of the earlier declaration, if the name has a meaning already.
    pub(super) fn declare(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        meaning: DveMeaning,
        span: Span,
    ) -> Result<(), Span> {
        let name = name.into();
        match self.symbols.get(&name) {
            Some(&(_, earlier)) => Err(earlier),
            None => {
                self.symbols.insert(name, (meaning, span));
                Ok(())
            }
        }
    }

    /// Returns the meaning of a name.
    pub(super) fn get(&self, name: &str) -> Option<DveMeaning> {
        self.symbols.get(name).map(|&(meaning, _)| meaning)
    }

    /// Returns all names whose meaning is wanted, sorted.
    pub(super) fn names(&self, wanted: impl Fn(DveMeaning) -> bool) -> Vec<&str> {
        let symbols = self.symbols.iter().filter(|(_, (meaning, _))| wanted(*meaning));
        let mut names: Vec<&str> = symbols.map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        names
    }
}

/// A process, or a member of a family of processes.
#[derive(Debug)]
pub(super) struct DveProcessInstance<'a> {
    /// The name in the program.
    pub(super) name: String,
    /// The number in the program.
    pub(super) id: ProcessId,
    /// The index of the process in the model from which it is made.
    pub(super) template: usize,
    /// The name and value of the member's number.
    pub(super) parameter: Option<(SourceName<'a>, i64)>,
    /// The local names.
    pub(super) table: DveSymbolTable<'a>,
}

impl<'a> DveProcessInstance<'a> {
    /// Creates a process without local names.
    pub(super) fn new(
        name: String,
        id: ProcessId,
        template: usize,
        parameter: Option<(SourceName<'a>, i64)>,
    ) -> Self {
        DveProcessInstance { name, id, template, parameter, table: DveSymbolTable::default() }
    }
}

/// The properties of a channel that its uses depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelSignature {
    /// The number of fields, or `None` if it is inferred from the uses.
    pub(super) arity: Option<usize>,
    /// The capacity in messages.
    pub(super) capacity: u32,
}

/// All declarations.
#[derive(Debug, Default)]
pub(super) struct DveSymbols<'a> {
    /// Global names.
    pub(super) globals: DveSymbolTable<'a>,
    /// Processes, by their number.
    pub(super) members: Vec<DveProcessInstance<'a>>,
    /// Channels, by their number.
    pub(super) channels: Vec<ChannelSignature>,
}

/// The declarations as seen from a process or from outside.
#[derive(Clone, Copy)]
pub(super) struct DveScope<'w, 'a> {
    /// All declarations.
    pub(super) world: &'w DveSymbols<'a>,
    /// The process whose names take precedence.
    pub(super) member: Option<&'w DveProcessInstance<'a>>,
    /// The collector of errors.
    pub(super) report: &'w DiagnosticSink<'a>,
}

impl<'a> DveScope<'_, 'a> {
    /// Returns the meaning of a name in this scope.
    pub(super) fn get(&self, name: &str) -> Option<DveMeaning> {
        let own = self.member.and_then(|member| member.table.get(name));
        own.or_else(|| self.world.globals.get(name))
    }

    /// Suggests the most similar visible name whose meaning is wanted.
    pub(super) fn suggest_name(
        &self,
        name: &str,
        wanted: impl Fn(DveMeaning) -> bool,
    ) -> Option<String> {
        let own = self.member.map(|member| member.table.names(&wanted)).unwrap_or_default();
        suggest_name(name, own.into_iter().chain(self.world.globals.names(&wanted)))
    }
}
