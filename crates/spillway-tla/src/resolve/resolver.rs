//! The tables of a resolution, and looking up names.

use super::arena::ExpressionArena;
use super::ids::{ConstantId, DefinitionId, ModelValueId, StringId, VariableId};
use super::names::{
    Context, ContextId, DeclaredConstant, DeclaredId, DeclaredValue, Entry, EntryId, Environment,
    EnvironmentId, InstanceEntry, InstanceId, Local, LocalId, NamePlace, Row, Scope, Symbol,
};
use super::tree::{Constant, Definition, DefinitionOrigin, Level, ModelValue, Variable};
use crate::library::{STANDARD_MODULES, StandardOperator};
use crate::modules::ModuleSet;
use crate::syntax::ast::{Definition as DefinitionText, DefinitionBody};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::{HashMap, HashSet, VecDeque};

/// A limit on the level of a substitution of an instance.
pub(super) struct SubstitutionLimit {
    pub(super) symbol: Symbol,
    pub(super) level: Level,
    pub(super) message: String,
    pub(super) span: Span,
}

/// An operator of a module, by names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ModuleOperator {
    pub(super) module: Box<str>,
    pub(super) name: Box<str>,
}

/// The tables of a resolution.
pub(super) struct Resolver<'a> {
    pub(super) set: &'a ModuleSet,
    pub(super) environments: Vec<Environment<'a>>,
    pub(super) contexts: Vec<Context>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) instances: Vec<InstanceEntry<'a>>,
    pub(super) locals: Vec<Local>,
    pub(super) declared: Vec<DeclaredConstant>,
    pub(super) variables: Vec<Variable>,
    /// The variables of temporal quantifiers, which get the last indices in the end.
    pub(super) bound_variables: Vec<Variable>,
    pub(super) constants: Vec<Constant>,
    pub(super) model_values: Vec<ModelValue>,
    pub(super) model_value_ids: HashMap<String, ModelValueId>,
    pub(super) definitions: Vec<Definition>,
    pub(super) arena: ExpressionArena,
    pub(super) strings: Vec<String>,
    pub(super) string_ids: HashMap<String, StringId>,
    /// What the configuration puts in the place of operators of standard modules.
    pub(super) standard_replacements: HashMap<StandardOperator, Symbol>,
    /// The configuration's values of operators of standard modules.
    pub(super) standard_values: HashMap<StandardOperator, ConstantId>,
    /// What the configuration puts in the place of operators of modules, by module and operator.
    pub(super) module_replacements: HashMap<ModuleOperator, Symbol>,
    /// The configuration's values of operators of modules.
    pub(super) module_values: HashMap<ModuleOperator, ConstantId>,
    pub(super) limits: Vec<SubstitutionLimit>,
    /// The entries that are used and have no body yet.
    pub(super) pending: VecDeque<EntryId>,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
    reported: HashSet<(Span, String)>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(set: &'a ModuleSet, strings: Vec<String>) -> Self {
        let string_ids = strings.iter().enumerate();
        let string_ids = string_ids.map(|(at, it)| (it.clone(), StringId(at as u32))).collect();
        Self {
            set,
            environments: Vec::new(),
            contexts: vec![Context::default()],
            entries: Vec::new(),
            instances: Vec::new(),
            locals: Vec::new(),
            declared: Vec::new(),
            variables: Vec::new(),
            bound_variables: Vec::new(),
            constants: Vec::new(),
            model_values: Vec::new(),
            model_value_ids: HashMap::new(),
            definitions: Vec::new(),
            arena: ExpressionArena::default(),
            strings,
            string_ids,
            standard_replacements: HashMap::new(),
            standard_values: HashMap::new(),
            module_replacements: HashMap::new(),
            module_values: HashMap::new(),
            limits: Vec::new(),
            pending: VecDeque::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            reported: HashSet::new(),
        }
    }

    /// Reports an error once, however often the text is used.
    pub(super) fn report(&mut self, error: Diagnostic) {
        if self.reported.insert((error.span, error.message.clone())) {
            self.errors.push(error);
        }
    }

    /// Returns the index of a string.
    pub(super) fn intern(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.string_ids.get(text) {
            return id;
        }
        let id = StringId(self.strings.len() as u32);
        self.strings.push(text.to_owned());
        self.string_ids.insert(text.to_owned(), id);
        id
    }

    pub(super) fn environment(&self, id: EnvironmentId) -> &Environment<'a> {
        &self.environments[id.0]
    }

    pub(super) fn entry(&self, id: EntryId) -> &Entry<'a> {
        &self.entries[id.0]
    }

    pub(super) fn instance(&self, id: InstanceId) -> &InstanceEntry<'a> {
        &self.instances[id.0]
    }

    pub(super) fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0]
    }

    pub(super) fn new_local(&mut self, name: &str, span: Span, arity: usize) -> LocalId {
        self.locals.push(Local { name: name.into(), span, arity });
        LocalId(self.locals.len() - 1)
    }

    pub(super) fn new_entry(&mut self, entry: impl Into<Entry<'a>>) -> EntryId {
        self.entries.push(entry.into());
        EntryId(self.entries.len() - 1)
    }

    pub(super) fn new_context(&mut self, parameters: Vec<LocalId>) -> ContextId {
        self.contexts.push(Context { parameters });
        ContextId(self.contexts.len() - 1)
    }

    pub(super) fn new_variable(&mut self, name: &str, span: Span) -> VariableId {
        self.variables.push(Variable { name: name.to_owned(), span });
        VariableId((self.variables.len() - 1) as u32)
    }

    pub(super) fn new_declared(&mut self, name: &str, span: Span, arity: usize) -> DeclaredId {
        let value = DeclaredValue::Missing;
        self.declared.push(DeclaredConstant { name: name.into(), span, arity, value });
        DeclaredId(self.declared.len() - 1)
    }

    /// Returns the leading parameters of the entries of an environment.
    pub(super) fn leading(&self, environment: EnvironmentId) -> Vec<LocalId> {
        self.contexts[self.environment(environment).context.0].parameters.clone()
    }

    /// Returns the row of a name in an environment or the ones around it, whether or not it is visible yet.
    fn row(&self, place: NamePlace, name: &str) -> Option<FoundRow> {
        let mut hidden = None;
        let mut place = Some(place);
        while let Some(here) = place {
            let environment = self.environment(here.environment);
            if let Some(&row) = environment.symbols.get(name) {
                match row.order < here.order {
                    true => return Some(FoundRow { row, is_visible: true }),
                    false => hidden = hidden.or(Some(FoundRow { row, is_visible: false })),
                }
            }
            place = environment.parent;
        }
        hidden
    }

    /// Returns the meaning of a name.
    pub(super) fn find(&self, scope: &Scope, name: &str) -> Option<Symbol> {
        let found = || self.row(scope.place, name).filter(|it| it.is_visible);
        scope.local(name).or_else(|| found().map(|it| it.row.symbol))
    }

    /// Returns the meaning of a name, or reports that it has none.
    pub(super) fn lookup(&mut self, scope: &Scope, name: &str, span: Span) -> Option<Symbol> {
        if let Some(symbol) = scope.local(name) {
            return Some(symbol);
        }
        match self.row(scope.place, name) {
            Some(FoundRow { row, is_visible: true }) => Some(row.symbol),
            Some(FoundRow { row, .. }) => {
                let is_inside = row.span.file == span.file && row.span.start < span.start;
                let (message, help) = match is_inside {
                    true => (
                        format!("`{name}` is used in its own definition"),
                        format!("declare it before: `RECURSIVE {name}`, with `(_)` for parameters"),
                    ),
                    false => (
                        format!("`{name}` is used before its definition"),
                        "move the definition up, or declare it RECURSIVE".to_owned(),
                    ),
                };
                self.report(Diagnostic::error(span, message).help(help));
                None
            }
            None => {
                self.report_unknown(scope, name, span);
                None
            }
        }
    }

    fn report_unknown(&mut self, scope: &Scope, name: &str, span: Span) {
        let owner = STANDARD_MODULES.iter().find(|it| it.operator(name).is_some());
        let error = Diagnostic::error(span, format!("`{name}` is not defined"));
        let similar = || self.similar_name(scope, name);
        let help = match owner {
            Some(module) => Some(format!("it is in the module {0}: EXTENDS {0}", module.name)),
            None => similar().map(|it| format!("`{it}` has a similar name")),
        };
        self.report(match help {
            Some(help) => error.help(help),
            None => error,
        });
    }

    /// Returns a visible name that differs in one character.
    fn similar_name(&self, scope: &Scope, name: &str) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        let mut node = scope.locals.as_ref();
        while let Some(it) = node {
            names.push(&it.name);
            node = it.parent.as_ref();
        }
        let symbols = &self.environment(scope.place.environment).symbols;
        let mut visible: Vec<&str> = symbols.keys().map(|it| &**it).collect();
        visible.sort_unstable();
        names.extend(visible);
        names.into_iter().find(|it| name.len() > 2 && is_similar(it, name)).map(str::to_owned)
    }

    /// Returns what takes the place of a symbol in the configuration, or the symbol.
    pub(super) fn replaced(&self, symbol: Symbol) -> Symbol {
        let replacement = match symbol {
            Symbol::Entry(entry) => self.entry(entry).replacement.or_else(|| {
                let key = self.module_operator(entry)?;
                self.module_replacements.get(&key).copied()
            }),
            Symbol::Standard(operator) => self.standard_replacements.get(&operator).copied(),
            Symbol::DeclaredConstant(declared) => match self.declared[declared.0].value {
                DeclaredValue::Operator(symbol) => Some(symbol),
                _ => None,
            },
            _ => None,
        };
        replacement.unwrap_or(symbol)
    }

    /// Returns the configuration's value of a symbol.
    pub(super) fn value_of(&self, symbol: Symbol) -> Option<ConstantId> {
        match symbol {
            Symbol::Entry(entry) => self.entry(entry).value.or_else(|| {
                let key = self.module_operator(entry)?;
                self.module_values.get(&key).copied()
            }),
            Symbol::Standard(operator) => self.standard_values.get(&operator).copied(),
            Symbol::DeclaredConstant(declared) => match self.declared[declared.0].value {
                DeclaredValue::Value(constant) => Some(constant),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the module and the name of an operator of a module.
    fn module_operator(&self, entry: EntryId) -> Option<ModuleOperator> {
        let entry = self.entry(entry);
        let is_any = !self.module_replacements.is_empty() || !self.module_values.is_empty();
        let module = self.environment(entry.scope.place.environment).name;
        (is_any && entry.origin == DefinitionOrigin::Module)
            .then(|| ModuleOperator { module: module.into(), name: entry.name.clone() })
    }

    /// Returns the arities of the parameters of a symbol, or nothing if it is no expression or operator.
    pub(super) fn arities(&self, symbol: Symbol) -> Option<Vec<usize>> {
        match symbol {
            Symbol::Variable(_) => Some(Vec::new()),
            Symbol::DeclaredConstant(declared) => Some(vec![0; self.declared[declared.0].arity]),
            Symbol::Entry(entry) => Some(self.entry(entry).arities.clone()),
            Symbol::Standard(operator) => Some(operator.arities().to_vec()),
            Symbol::Local(local) => Some(vec![0; self.local(local).arity]),
            Symbol::Fact(Some(_)) => Some(Vec::new()),
            Symbol::Instance(_) | Symbol::Fact(None) => None,
        }
    }

    /// Returns where a symbol is declared.
    pub(super) fn span_of(&self, symbol: Symbol) -> Span {
        match symbol {
            Symbol::Variable(variable) => self.variables[variable.index()].span,
            Symbol::DeclaredConstant(declared) => self.declared[declared.0].span,
            Symbol::Entry(entry) => self.entry(entry).span,
            Symbol::Instance(instance) => self.instance(instance).span,
            Symbol::Local(local) => self.local(local).span,
            Symbol::Standard(_) | Symbol::Fact(_) => Span::default(),
        }
    }

    /// Returns the definition of an entry. The first use gives it one.
    pub(super) fn definition_of(&mut self, id: EntryId) -> DefinitionId {
        if let Some(definition) = self.entry(id).definition {
            return definition;
        }
        let definition = DefinitionId(self.definitions.len() as u32);
        let place = self.entry(id).scope.place;
        let environment = self.environment(place.environment);
        let (module, prefix) = (environment.name.to_owned(), environment.prefix.clone());
        let entry = &mut self.entries[id.0];
        entry.definition = Some(definition);
        let is_written = matches!(entry.origin, DefinitionOrigin::Module);
        let name =
            if is_written { format!("{prefix}{}", entry.name) } else { entry.name.to_string() };
        self.definitions.push(Definition {
            name,
            module,
            span: entry.span,
            origin: entry.origin,
            parameters: Vec::new(),
            captured: entry.leading.len(),
            slots: 0,
            slot_names: Vec::new(),
            body: super::ids::ExprId(0),
            level: Level::Constant,
            is_recursive: false,
        });
        self.pending.push_back(id);
        definition
    }
}

/// A row that was found.
struct FoundRow {
    row: Row,
    is_visible: bool,
}

/// Returns whether two names differ by one character or in the case of letters.
fn is_similar(one: &str, other: &str) -> bool {
    if one.eq_ignore_ascii_case(other) {
        return true;
    }
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 => same < short.len() && short[same + 1..] == long[same + 1..],
        1 => short[same..] == long[same + 1..],
        _ => false,
    }
}

/// Returns the arities of the parameters of a definition.
pub(super) fn definition_arities(definition: &DefinitionText) -> Vec<usize> {
    match definition.body {
        DefinitionBody::Function { .. } => Vec::new(),
        _ => definition.parameters.iter().map(|it| it.arity).collect(),
    }
}
