//! The printed names of a program.
//!
//! Two objects that can be confused never have the same printed name. All names of the program share one namespace,
//! and each process has a namespace for its own objects. The second object with a name in its namespace is printed as
//! `name#2`. An object of a process is printed without its owner only inside that process, and only if the program
//! has no such name. A name that is no identifier, or could be misread, is printed in backquotes.

use crate::{
    Arena, ChannelId, Domain, EnumId, FunctionId, LocationId, Owner, ProcessId, Program,
    ScalarsetId, Type, TypeId, VarId,
};
use std::collections::HashMap;

/// Words that are quoted as names, because they begin an expression, a type, a channel or a case.
const RESERVED: &[&str] = &[
    "any",
    "array",
    "bool",
    "canreceive",
    "channel",
    "contains",
    "convert",
    "copy",
    "else",
    "empty",
    "exists",
    "false",
    "forall",
    "full",
    "isundefined",
    "length",
    "multiset",
    "peek",
    "process",
    "processes",
    "same",
    "self",
    "sorted",
    "timeout",
    "true",
    "undefined",
    "union",
];

/// Returns a name as printed: unchanged if it is an identifier, else in backquotes.
pub(super) fn quoted(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    let mut text = String::from("`");
    for c in name.chars() {
        match c {
            '`' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text.push('`');
    text
}

fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "_"
        && RESERVED.binary_search(&name).is_err()
}

/// A namespace, in which each name is unique.
#[derive(Default)]
struct Namespace<'a> {
    uses: HashMap<&'a str, u32>,
}

impl<'a> Namespace<'a> {
    fn add(&mut self, name: &'a str) -> String {
        let uses = self.uses.entry(name).or_default();
        *uses += 1;
        match *uses {
            1 => quoted(name),
            nth => format!("{}#{nth}", quoted(name)),
        }
    }

    fn add_all(names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut space = Namespace::default();
        names.map(|name| space.add(name)).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.uses.contains_key(name)
    }
}

/// The name of an object that may belong to a process.
struct OwnedName {
    text: String,
    owner: Owner,
    /// Whether the program has an object of this name, too.
    shadows: bool,
}

/// The printed names of a program.
pub(super) struct PrintedNames<'a> {
    program: &'a Program,
    common: Namespace<'a>,
    own: Vec<Namespace<'a>>,
    variables: Arena<VarId, OwnedName>,
    channels: Arena<ChannelId, OwnedName>,
    processes: Arena<ProcessId, String>,
    locations: Arena<ProcessId, Vec<String>>,
    functions: Arena<FunctionId, String>,
    enums: Arena<EnumId, String>,
    values: Arena<EnumId, Vec<String>>,
    scalarsets: Arena<ScalarsetId, String>,
    /// The names of records; `None` for other types.
    records: Arena<TypeId, Option<String>>,
    fields: Arena<TypeId, Vec<String>>,
}

impl<'a> PrintedNames<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let mut common = Namespace::default();
        let mut own: Vec<_> = program.processes.keys().map(|_| Namespace::default()).collect();
        let mut owned = |name: &'a str, owner| {
            let space = match owner {
                Owner::Process(ProcessId(at)) => own.get_mut(at as usize).unwrap_or(&mut common),
                Owner::Program => &mut common,
            };
            OwnedName { text: space.add(name), owner, shadows: false }
        };
        let variables = program.variables.values().map(|v| owned(&v.name, v.owner)).collect();
        let channels = program.channels.values().map(|c| owned(&c.name, c.owner)).collect();
        let processes = program.processes.values().map(|p| common.add(&p.name)).collect();
        let functions = program.functions.values().map(|f| common.add(&f.name)).collect();
        let mut add_values = |names: &'a [String]| names.iter().map(|n| common.add(n)).collect();
        let values = program.enums.values().map(|e| add_values(&e.values)).collect();
        let enums = program.enums.values().map(|e| common.add(&e.name)).collect();
        let scalarsets = program.scalarsets.values().map(|s| common.add(&s.name)).collect();
        let mut add_record = |ty: &'a Type| match ty {
            Type::Record { name, .. } => Some(common.add(name)),
            _ => None,
        };
        let records = program.types.values().map(&mut add_record).collect();
        let fields = program.types.values().map(field_names).collect();
        let locations =
            program.processes.values().map(|it| location_names(&it.locations)).collect();
        let mut names = Self {
            program,
            common,
            own,
            variables,
            channels,
            processes,
            locations,
            functions,
            enums,
            values,
            scalarsets,
            records,
            fields,
        };
        names.mark_shadows();
        names
    }

    fn mark_shadows(&mut self) {
        for (id, variable) in self.program.variables.iter() {
            self.variables[id].shadows = self.common.has(&variable.name);
        }
        for (id, channel) in self.program.channels.iter() {
            self.channels[id].shadows = self.common.has(&channel.name);
        }
    }

    /// Returns whether `name` has another meaning inside `process`.
    pub(super) fn is_taken(&self, name: &str, process: Option<ProcessId>) -> bool {
        let own = process.and_then(|process| self.own.get(process.0 as usize));
        self.common.has(name) || own.is_some_and(|own| own.has(name))
    }

    /// Returns the variable's name without its owner.
    pub(super) fn bare_variable(&self, id: VarId) -> String {
        self.variables.get(id).map_or_else(|| format!("?variable{}", id.0), |it| it.text.clone())
    }

    /// Returns the channel's name without its owner.
    pub(super) fn bare_channel(&self, id: ChannelId) -> String {
        self.channels.get(id).map_or_else(|| format!("?channel{}", id.0), |it| it.text.clone())
    }

    /// Returns the process to print before the variable, inside `process`.
    pub(super) fn variable_owner(
        &self,
        id: VarId,
        process: Option<ProcessId>,
    ) -> Option<ProcessId> {
        self.variables.get(id).and_then(|name| qualifier(name, process))
    }

    /// Returns the process to print before the channel, inside `process`.
    pub(super) fn channel_owner(
        &self,
        id: ChannelId,
        process: Option<ProcessId>,
    ) -> Option<ProcessId> {
        self.channels.get(id).and_then(|name| qualifier(name, process))
    }

    pub(super) fn process(&self, id: ProcessId) -> String {
        self.processes.get(id).cloned().unwrap_or_else(|| format!("?process{}", id.0))
    }

    pub(super) fn location(&self, process: ProcessId, id: LocationId) -> String {
        let name = self.locations.get(process).and_then(|names| names.get(id.0 as usize));
        name.cloned().unwrap_or_else(|| format!("?location{}", id.0))
    }

    pub(super) fn function(&self, id: FunctionId) -> String {
        self.functions.get(id).cloned().unwrap_or_else(|| format!("?function{}", id.0))
    }

    pub(super) fn enumeration(&self, id: EnumId) -> String {
        self.enums.get(id).cloned().unwrap_or_else(|| format!("?enum{}", id.0))
    }

    /// Returns the names of an enumeration's values.
    pub(super) fn values(&self, id: EnumId) -> &[String] {
        self.values.get(id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn scalarset(&self, id: ScalarsetId) -> String {
        self.scalarsets.get(id).cloned().unwrap_or_else(|| format!("?scalarset{}", id.0))
    }

    /// Returns the name of a type, if it has one.
    pub(super) fn record(&self, id: TypeId) -> Option<&str> {
        self.records.get(id)?.as_deref()
    }

    /// Returns the name of a record's field.
    pub(super) fn field(&self, record: TypeId, field: u32) -> String {
        let name = self.fields.get(record).and_then(|names| names.get(field as usize));
        name.cloned().unwrap_or_else(|| format!("?field{field}"))
    }

    /// Returns the name of a value of a domain, if it has one.
    pub(super) fn value(&self, domain: &Domain, value: i64) -> Option<&str> {
        match domain {
            Domain::Bool => match value {
                0 => Some("false"),
                1 => Some("true"),
                _ => None,
            },
            Domain::Enum(id) => {
                let index = usize::try_from(value).ok()?;
                self.values(*id).get(index).map(String::as_str)
            }
            Domain::Union(parts) => self.union_value(parts, value),
            _ => None,
        }
    }

    fn union_value(&self, parts: &[Domain], mut value: i64) -> Option<&str> {
        for part in parts {
            let size = match part {
                Domain::Enum(id) => self.values(*id).len() as i64,
                Domain::Scalarset(id) => i64::from(self.program.scalarsets.get(*id)?.size),
                _ => return None,
            };
            if value < size {
                return self.value(part, value);
            }
            value -= size;
        }
        None
    }
}

fn qualifier(name: &OwnedName, process: Option<ProcessId>) -> Option<ProcessId> {
    match name.owner {
        Owner::Process(owner) if name.shadows || process != Some(owner) => Some(owner),
        _ => None,
    }
}

fn field_names(ty: &Type) -> Vec<String> {
    match ty {
        Type::Record { fields, .. } => {
            Namespace::add_all(fields.iter().map(|(name, _)| name.as_str()))
        }
        _ => Vec::new(),
    }
}

pub(super) fn location_names(locations: &Arena<LocationId, crate::Location>) -> Vec<String> {
    Namespace::add_all(locations.values().map(|location| location.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn names_that_are_no_identifiers_are_quoted() {
        assert_eq!(quoted("x_1"), "x_1");
        assert_eq!(quoted("a -> b"), "`a -> b`");
        assert_eq!(quoted("timeout"), "`timeout`");
        assert_eq!(quoted("_"), "`_`");
        assert_eq!(quoted("a`\n"), "`a\\`\\n`");
        assert_eq!(quoted(""), "``");
    }
}
