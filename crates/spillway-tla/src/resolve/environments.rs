//! Environments of modules: the root, extended modules, instances.

use super::names::{
    Closed, ContextId, Entry, EntryId, Environment, EnvironmentId, Inner, InstanceEntry,
    InstanceId, LocalId, Place, Row, Scope, Symbol, Text,
};
use super::resolver::{Resolver, SubstitutionLimit, definition_arities};
use super::tree::{DefinitionOrigin, Level};
use crate::library::StandardModule;
use crate::syntax::ast::{
    Argument, Declaration, Definition, DefinitionBody, Expr, ExprKind, Instance, Module, Name,
    Path, PathPart, Statement, Unit,
};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// The names that no module can define.
const BUILT_IN: [&str; 4] = ["TRUE", "FALSE", "BOOLEAN", "STRING"];

/// How a module and the modules that it extends are used.
pub(super) struct Use<'a> {
    /// The instance, or nothing if the declarations declare new variables and constants.
    pub(super) instance: Option<InstanceUse<'a>>,
    pub(super) context: ContextId,
    pub(super) prefix: Rc<str>,
    /// The environments of this use, so that a module that is extended twice is the same one.
    built: HashMap<&'a str, EnvironmentId>,
}

/// An instance.
pub(super) struct InstanceUse<'a> {
    text: &'a Instance,
    /// What WITH and the implicit substitutions see.
    scope: Scope,
    /// The names of WITH that were declared by the module.
    used: Vec<&'a str>,
    /// Whether the module declares variables.
    has_variables: bool,
}

/// A module to build an environment of.
#[derive(Clone, Copy)]
struct Source<'a> {
    module: Option<&'a Module>,
    standard: Option<&'static StandardModule>,
    name: &'a str,
    parent: Option<Place>,
}

impl<'a> Use<'a> {
    /// Creates the use of a module whose declarations declare new variables and constants.
    pub(super) fn new() -> Self {
        let (context, prefix) = (ContextId(0), Rc::from(""));
        Self { instance: None, context, prefix, built: HashMap::new() }
    }
}

impl<'a> Resolver<'a> {
    /// Builds the environment of a module whose declarations are its own.
    pub(super) fn own_environment(
        &mut self,
        module: &'a Module,
        parent: Option<Place>,
    ) -> EnvironmentId {
        let name = &*module.name.text;
        let source = Source { module: Some(module), standard: None, name, parent };
        self.build(source, &mut Use::new())
    }

    /// Returns the module with a name at a place: an inner one, one of a file, or a standard one.
    fn source(&self, name: &'a str, place: Place) -> Option<Source<'a>> {
        let mut here = Some(place);
        while let Some(at) = here {
            let environment = self.environment(at.environment);
            if let Some(inner) = environment.inner.get(name)
                && inner.order < at.order
            {
                let place = Place { environment: inner.environment, order: inner.order };
                let (module, parent) = (Some(inner.module), Some(place));
                return Some(Source { module, standard: None, name, parent });
            }
            here = environment.parent;
        }
        let (module, standard) = (self.set.get(name), StandardModule::find(name));
        let exists = module.is_some() || standard.is_some();
        exists.then_some(Source { module, standard, name, parent: None })
    }

    fn build(&mut self, source: Source<'a>, usage: &mut Use<'a>) -> EnvironmentId {
        if let (Some(&built), None) = (usage.built.get(source.name), source.parent) {
            return built;
        }
        let id = EnvironmentId(self.environments.len());
        self.environments.push(Environment {
            module: source.module,
            name: source.name,
            prefix: usage.prefix.clone(),
            context: usage.context,
            parent: source.parent,
            symbols: HashMap::new(),
            inner: HashMap::new(),
        });
        usage.built.insert(source.name, id);
        if let Some(module) = source.module {
            for name in &module.extends {
                self.extend(id, name, usage);
            }
            let mut units = Units { environment: id, module, standard: source.standard, usage };
            for (index, unit) in module.units.iter().enumerate() {
                self.add_unit(&mut units, index + 1, unit);
            }
        }
        if let Some(standard) = source.standard {
            self.add_standard(id, standard, usage);
        }
        id
    }

    fn extend(&mut self, id: EnvironmentId, name: &'a Name, usage: &mut Use<'a>) {
        let place = Place { environment: id, order: usize::MAX };
        if let Some(source) = self.source(&name.text, place) {
            let extended = self.build(source, usage);
            self.import(
                extended,
                Target { environment: id, order: 0, is_local: false, at: name.span },
            );
        }
    }

    /// Adds the operators of a standard module that its file lacks, and what it extends.
    fn add_standard(
        &mut self,
        id: EnvironmentId,
        standard: &'static StandardModule,
        usage: &mut Use<'a>,
    ) {
        if self.environment(id).module.is_none() {
            for &name in standard.extends {
                let module = StandardModule::find(name);
                let source = Source { module: None, standard: module, name, parent: None };
                let extended = self.build(source, usage);
                let at = Span::default();
                self.import(extended, Target { environment: id, order: 0, is_local: false, at });
            }
        }
        for &operator in standard.operators {
            let (symbol, span) = (Symbol::Standard(operator), Span::default());
            let row = Row { symbol, order: 0, is_local: false, span };
            self.environments[id.0].symbols.entry(operator.name().into()).or_insert(row);
        }
    }

    /// Makes the symbols of a module visible in another one.
    fn import(&mut self, from: EnvironmentId, to: Target) {
        let from = self.environment(from);
        let mut rows: Vec<(Box<str>, Row)> = from
            .symbols
            .iter()
            .filter(|(_, row)| !row.is_local)
            .map(|(name, row)| (name.clone(), *row))
            .collect();
        rows.sort_by_key(|(_, row)| row.span);
        let inner: Vec<(&'a str, Inner<'a>)> =
            from.inner.iter().map(|(&name, &it)| (name, it)).collect();
        for (name, inner) in inner {
            let inner = Inner { order: to.order.max(inner.order), ..inner };
            self.environments[to.environment.0].inner.entry(name).or_insert(inner);
        }
        for (name, row) in rows {
            let row = Row { order: to.order, is_local: to.is_local, ..row };
            match self.environment(to.environment).symbols.get(&name) {
                None => {
                    self.environments[to.environment.0].symbols.insert(name, row);
                }
                Some(found) if self.is_same_origin(found.symbol, row.symbol) => {}
                // As in SANY, the first of two operators counts.
                Some(found) if is_operator(found.symbol) && is_operator(row.symbol) => {}
                Some(_) => {
                    let message = format!("`{name}` is declared by two modules");
                    self.report(Diagnostic::error(to.at, message).help("rename one of them"));
                }
            }
        }
    }

    /// Returns whether two symbols are the same, or the same text in two uses of a module.
    fn is_same_origin(&self, one: Symbol, other: Symbol) -> bool {
        match (one, other) {
            (Symbol::Entry(one), Symbol::Entry(other)) => {
                self.entry(one).span == self.entry(other).span
            }
            (Symbol::Instance(one), Symbol::Instance(other)) => {
                self.instance(one).span == self.instance(other).span
            }
            _ => one == other,
        }
    }

    /// Adds a symbol of a module's own text.
    fn define(&mut self, id: EnvironmentId, name: &Name, row: Row) {
        if BUILT_IN.contains(&&*name.text) {
            let message = format!("`{}` is built in and cannot be defined", name.text);
            self.report(Diagnostic::error(name.span, message).help("use another name"));
            return;
        }
        let parent = self.environment(id).parent;
        let own = self.environment(id).symbols.get(&name.text).map(|it| it.symbol);
        let scope = |place| Scope { place, locals: None };
        let around = || parent.and_then(|it| self.find(&scope(it), &name.text));
        match own.or_else(around) {
            Some(earlier) if is_community(earlier) => {}
            Some(earlier) if !self.is_same_origin(earlier, row.symbol) => {
                return self.report_duplicate(name, earlier);
            }
            _ => {}
        }
        self.environments[id.0].symbols.insert(name.text.clone(), row);
    }

    /// Reports that a name has a meaning already.
    pub(super) fn report_duplicate(&mut self, name: &Name, earlier: Symbol) {
        let message = format!("`{}` is already defined", name.text);
        let mut error = Diagnostic::error(name.span, message);
        error = match earlier {
            Symbol::Standard(operator) => error.help(format!(
                "it is an operator of the module {}; use another name",
                operator.module()
            )),
            _ => {
                let kind = match earlier {
                    Symbol::Variable(_) => "a variable",
                    Symbol::Declared(_) => "a constant",
                    Symbol::Local(_) => "a parameter or a bound variable around it",
                    Symbol::Instance(_) => "an instance",
                    Symbol::Fact(_) => "a theorem or an assumption",
                    _ => "an operator",
                };
                error.help(format!("it is {kind}; TLA+ has no shadowing: use another name"))
            }
        };
        self.report(error);
    }

    fn add_unit(&mut self, units: &mut Units<'a, '_>, order: usize, unit: &'a Unit) {
        let id = units.environment;
        match unit {
            Unit::Variables(names) => {
                for name in names {
                    let symbol = self.variable_symbol(units, name);
                    self.add_symbol(id, order, name, symbol);
                }
            }
            Unit::Constants(declarations) => {
                for declaration in declarations {
                    let symbol = self.constant_symbol(units, declaration);
                    self.add_symbol(id, order, &declaration.name, symbol);
                }
            }
            Unit::Recursive(declarations) => {
                for declaration in declarations {
                    self.add_recursive(units, order, declaration);
                }
            }
            Unit::Definition { is_local, definition } => {
                self.add_definition(units, order, definition, *is_local);
            }
            Unit::Instance { is_local, instance } => {
                self.add_instance(units, order, instance, *is_local);
            }
            Unit::Assume { name: Some(name), body, .. } => {
                let symbol = self.fact(id, order, name, Some(body));
                self.add_symbol(id, order, name, Some(symbol));
            }
            Unit::Theorem { name: Some(name), body } => {
                let formula = match body {
                    Statement::Formula(formula) => Some(formula),
                    Statement::AssumeProve(_) => None,
                };
                let symbol = self.fact(id, order, name, formula);
                self.add_symbol(id, order, name, Some(symbol));
            }
            Unit::Assume { .. } | Unit::Theorem { .. } => {}
            Unit::Module(module) => {
                let inner = Inner { module, order, environment: id };
                self.environments[id.0].inner.insert(&module.name.text, inner);
            }
        }
    }

    /// Returns the symbol of a named theorem or assumption.
    fn fact(
        &mut self,
        environment: EnvironmentId,
        order: usize,
        name: &Name,
        formula: Option<&'a Expr>,
    ) -> Symbol {
        let Some(formula) = formula else { return Symbol::Fact(None) };
        let place = Place { environment, order };
        Symbol::Fact(Some(self.new_entry(Entry {
            name: name.text.clone(),
            span: name.span,
            text: Text::Formula(formula),
            origin: DefinitionOrigin::Module,
            scope: Scope { place, locals: None },
            leading: self.leading(environment),
            arities: Vec::new(),
            definition: None,
            value: None,
            replacement: None,
            closed: Closed::default(),
        })))
    }

    fn add_symbol(&mut self, id: EnvironmentId, order: usize, name: &Name, symbol: Option<Symbol>) {
        if let Some(symbol) = symbol {
            self.define(id, name, Row { symbol, order, is_local: false, span: name.span });
        }
    }

    fn variable_symbol(&mut self, units: &mut Units<'a, '_>, name: &'a Name) -> Option<Symbol> {
        match &mut units.usage.instance {
            None => Some(Symbol::Variable(self.new_variable(&name.text, name.span))),
            Some(instance) => {
                instance.has_variables = true;
                self.substituted(units.usage, name, 0, Level::State)
            }
        }
    }

    fn constant_symbol(
        &mut self,
        units: &mut Units<'a, '_>,
        declaration: &'a Declaration,
    ) -> Option<Symbol> {
        let Declaration { name, arity } = declaration;
        match &units.usage.instance {
            None => Some(Symbol::Declared(self.new_declared(&name.text, name.span, *arity))),
            Some(_) => self.substituted(units.usage, name, *arity, Level::Constant),
        }
    }

    /// Returns the symbol of what an instance substitutes for a constant or variable.
    fn substituted(
        &mut self,
        usage: &mut Use<'a>,
        name: &'a Name,
        arity: usize,
        level: Level,
    ) -> Option<Symbol> {
        let instance = usage.instance.as_mut()?;
        let text = instance.text;
        let (scope, leading) = (instance.scope.clone(), usage.context);
        let explicit = text.substitutions.iter().find(|it| it.name.text == name.text);
        let (symbol, span) = match explicit {
            None => (self.implicit(text, name, &scope)?, text.span),
            Some(it) => {
                instance.used.push(&it.name.text);
                let leading = self.contexts[leading.0].parameters.clone();
                let target = SubstitutionTarget { name, scope: &scope, leading };
                (self.explicit(&it.value, target)?, it.value.span())
            }
        };
        let arities = self.arities(symbol);
        if arities != Some(vec![0; arity]) {
            let message = match arity {
                0 => format!("`{}` of `{}` needs an expression", name.text, text.module.text),
                _ => format!(
                    "`{}` of `{}` needs an operator with {arity} parameters",
                    name.text, text.module.text
                ),
            };
            self.report(Diagnostic::error(span, message).help("substitute another operator"));
            return None;
        }
        let message = format!("for `{}` of `{}`", name.text, text.module.text);
        self.limits.push(SubstitutionLimit { symbol, level, message, span });
        Some(symbol)
    }

    /// Returns the symbol with the same name, which is substituted if WITH has no other.
    fn implicit(&mut self, text: &Instance, name: &Name, scope: &Scope) -> Option<Symbol> {
        let found = self.find(scope, &name.text);
        if found.is_none() {
            let message =
                format!("the instance of `{}` has no value for `{}`", text.module.text, name.text);
            self.report(Diagnostic::error(text.span, message).help(format!(
                "write `WITH {0} <- ...`, or declare or define `{0}` before",
                name.text
            )));
        }
        found
    }

    fn explicit(
        &mut self,
        value: &'a Argument,
        target: SubstitutionTarget<'_, 'a>,
    ) -> Option<Symbol> {
        if let Some(name) = bare_name(value) {
            let is_built_in = BUILT_IN.contains(&&*name.text);
            if !is_built_in {
                let symbol = self.lookup(target.scope, &name.text, name.span)?;
                if !matches!(symbol, Symbol::Instance(_) | Symbol::Fact(_)) {
                    return Some(symbol);
                }
            }
        }
        let arities = match value {
            Argument::Expression(_) => Vec::new(),
            Argument::Lambda { parameters, .. } => vec![0; parameters.len()],
            Argument::Symbol { symbol, .. } => vec![0; symbol.arity()],
        };
        // An operator symbol of a module is that operator.
        if let Argument::Symbol { symbol, .. } = value
            && let Some(symbol) = self.find(target.scope, symbol.name())
        {
            return Some(symbol);
        }
        let entry = self.new_entry(Entry {
            name: target.name.text.clone(),
            span: value.span(),
            text: Text::Argument(value),
            origin: DefinitionOrigin::Substitution,
            scope: target.scope.clone(),
            leading: target.leading,
            arities,
            definition: None,
            value: None,
            replacement: None,
            closed: Closed::default(),
        });
        Some(Symbol::Entry(entry))
    }

    fn add_recursive(
        &mut self,
        units: &mut Units<'a, '_>,
        order: usize,
        declaration: &'a Declaration,
    ) {
        let name = &declaration.name;
        let definition = units.module.units[order..].iter().find_map(|unit| match unit {
            Unit::Definition { definition, is_local } if definition.name.text == name.text => {
                Some((definition, *is_local))
            }
            _ => None,
        });
        let Some((definition, is_local)) = definition else {
            let message = format!("`{}` is declared RECURSIVE but not defined", name.text);
            self.report(Diagnostic::error(name.span, message).help("define it below"));
            return;
        };
        self.check_recursive(declaration, definition);
        self.add_definition(units, order, definition, is_local);
    }

    /// Checks a declaration of RECURSIVE against its definition.
    pub(super) fn check_recursive(&mut self, declaration: &Declaration, definition: &Definition) {
        let found = definition.parameters.len();
        if found != declaration.arity {
            let message = format!(
                "`{}` is declared RECURSIVE with {} and defined with {found} parameters",
                definition.name.text, declaration.arity
            );
            self.report(
                Diagnostic::error(definition.name.span, message)
                    .help("write one `_` for each parameter in the declaration"),
            );
        }
    }

    fn add_definition(
        &mut self,
        units: &mut Units<'a, '_>,
        order: usize,
        definition: &'a Definition,
        is_local: bool,
    ) {
        let (id, name) = (units.environment, &definition.name);
        let declared = self.environment(id).symbols.get(&name.text).map(|it| it.symbol);
        if let Some(symbol @ Symbol::Entry(_)) = declared
            && self.span_of(symbol) == name.span
        {
            // RECURSIVE has declared it. Its body sees what comes before the definition.
            let Symbol::Entry(entry) = symbol else { return };
            self.entries[entry.0].scope.place.order = order;
            return;
        }
        let place = Place { environment: id, order };
        let scope = Scope { place, locals: None };
        let native = units.standard.and_then(|it| it.operator(&name.text));
        let arities = definition_arities(definition);
        let symbol = match (&definition.body, native) {
            (_, Some(operator)) if operator.arities() == arities => Symbol::Standard(operator),
            (DefinitionBody::Instance(instance), _) => {
                let leading = self.leading(id);
                Symbol::Instance(self.named_instance(definition, instance, &scope, leading))
            }
            _ => Symbol::Entry(self.definition_entry(definition, scope, self.leading(id))),
        };
        self.define(id, name, Row { symbol, order, is_local, span: name.span });
    }

    /// Adds the entry of a definition.
    pub(super) fn definition_entry(
        &mut self,
        definition: &'a Definition,
        scope: Scope,
        leading: Vec<LocalId>,
    ) -> EntryId {
        let origin = match scope.locals {
            None => DefinitionOrigin::Module,
            Some(_) => DefinitionOrigin::Let,
        };
        self.new_entry(Entry {
            name: definition.name.text.clone(),
            span: definition.name.span,
            text: Text::Definition(definition),
            origin,
            scope,
            leading,
            arities: definition_arities(definition),
            definition: None,
            value: None,
            replacement: None,
            closed: Closed::default(),
        })
    }

    /// Adds a named instance. `leading` are the parameters before its own.
    pub(super) fn named_instance(
        &mut self,
        definition: &'a Definition,
        instance: &'a Instance,
        scope: &Scope,
        leading: Vec<LocalId>,
    ) -> InstanceId {
        let (mut scope, mut parameters) = (scope.clone(), Vec::new());
        for Declaration { name, arity } in &definition.parameters {
            self.check_new_name(&scope, name);
            let local = self.new_local(&name.text, name.span, *arity);
            scope = scope.with(&name.text, Symbol::Local(local));
            parameters.push(local);
        }
        let leading = [leading, parameters.clone()].concat();
        self.instances.push(InstanceEntry {
            name: definition.name.text.clone(),
            span: definition.name.span,
            instance,
            scope,
            parameters,
            leading,
            environment: None,
        });
        InstanceId(self.instances.len() - 1)
    }

    /// Reports a parameter or bound variable whose name has a meaning already.
    pub(super) fn check_new_name(&mut self, scope: &Scope, name: &Name) {
        if BUILT_IN.contains(&&*name.text) {
            let message = format!("`{}` is built in and cannot be a variable", name.text);
            self.report(Diagnostic::error(name.span, message).help("use another name"));
        } else if let Some(earlier) = self.find(scope, &name.text)
            && !is_community(earlier)
        {
            self.report_duplicate(name, earlier);
        }
    }

    fn add_instance(
        &mut self,
        units: &mut Units<'a, '_>,
        order: usize,
        instance: &'a Instance,
        is_local: bool,
    ) {
        let id = units.environment;
        let scope = Scope { place: Place { environment: id, order }, locals: None };
        let (context, prefix) = (units.usage.context, units.usage.prefix.clone());
        if let Some(built) = self.instantiate(instance, scope, context, prefix) {
            self.import(built, Target { environment: id, order, is_local, at: instance.span });
        }
    }

    /// Builds the environment of an instance.
    fn instantiate(
        &mut self,
        text: &'a Instance,
        scope: Scope,
        context: ContextId,
        prefix: Rc<str>,
    ) -> Option<EnvironmentId> {
        let Some(source) = self.source(&text.module.text, scope.place) else {
            let message = format!("there is no module `{}`", text.module.text);
            self.report(Diagnostic::error(text.module.span, message));
            return None;
        };
        let instance = InstanceUse { text, scope, used: Vec::new(), has_variables: false };
        let first_limit = self.limits.len();
        let mut usage = Use { instance: Some(instance), context, prefix, built: HashMap::new() };
        let built = self.build(source, &mut usage);
        let InstanceUse { used, has_variables, .. } = usage.instance?;
        if !has_variables {
            // A module without variables can have expressions of any level for its constants.
            let limits = &mut self.limits[first_limit..];
            limits.iter_mut().for_each(|it| it.level = Level::Temporal);
        }
        for (index, substitution) in text.substitutions.iter().enumerate() {
            let name = &substitution.name;
            if text.substitutions[..index].iter().any(|it| it.name.text == name.text) {
                let message = format!("`{}` has two substitutions", name.text);
                self.report(Diagnostic::error(name.span, message).help("remove one of them"));
            }
            if !used.contains(&&*substitution.name.text) {
                let message = format!(
                    "`{}` is no constant or variable of the module `{}`",
                    substitution.name.text, text.module.text
                );
                self.report(
                    Diagnostic::error(substitution.name.span, message)
                        .help("remove the substitution"),
                );
            }
        }
        Some(built)
    }

    /// Returns the environment of a named instance. The first use builds it.
    pub(super) fn instance_environment(&mut self, id: InstanceId) -> Option<EnvironmentId> {
        if let Some(built) = self.instance(id).environment {
            return Some(built);
        }
        let InstanceEntry { instance, name, scope, leading, .. } = self.instance(id);
        let around = self.environment(scope.place.environment);
        let prefix: Rc<str> = format!("{}{name}!", around.prefix).into();
        let (instance, scope, leading) = (*instance, scope.clone(), leading.clone());
        let context = self.new_context(leading);
        let built = self.instantiate(instance, scope, context, prefix);
        self.instances[id.0].environment = built;
        built
    }
}

/// Where symbols are imported to.
#[derive(Clone, Copy)]
struct Target {
    environment: EnvironmentId,
    order: usize,
    is_local: bool,
    /// The text that imports them.
    at: Span,
}

/// The module whose units are added.
struct Units<'a, 'u> {
    environment: EnvironmentId,
    module: &'a Module,
    standard: Option<&'static StandardModule>,
    usage: &'u mut Use<'a>,
}

/// What a value of WITH is for.
struct SubstitutionTarget<'s, 'a> {
    name: &'a Name,
    scope: &'s Scope,
    leading: Vec<LocalId>,
}

/// Returns whether a symbol is an operator of a community module. Its file may be older than the table, so a module may
/// define an operator with the name itself.
fn is_community(symbol: Symbol) -> bool {
    let Symbol::Standard(operator) = symbol else { return false };
    StandardModule::find(operator.module()).is_some_and(|it| !it.is_complete)
}

fn is_operator(symbol: Symbol) -> bool {
    matches!(symbol, Symbol::Entry(_) | Symbol::Standard(_) | Symbol::Instance(_) | Symbol::Fact(_))
}

/// Returns the name that an argument consists of.
pub(super) fn bare_name(argument: &Argument) -> Option<&Name> {
    let Argument::Expression(Expr { kind: ExprKind::Path(Path { parts }), .. }) = argument else {
        return None;
    };
    match parts.as_slice() {
        [PathPart::Name { name, arguments }] if arguments.is_empty() => Some(name),
        _ => None,
    }
}
