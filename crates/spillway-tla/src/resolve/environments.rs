//! Environments of modules: the root, extended modules, instances.

use super::instances::BUILT_IN;
use super::names::{
    Entry, EntryId, Environment, EnvironmentId, Inner, LocalId, NamePlace, NewEntry, Row, Scope,
    Symbol, Text,
};
use super::resolver::{Resolver, definition_arities};
use super::tree::{DefinitionOrigin, Level};
use super::usage::{ModuleSource, Use};
use crate::library::StandardModule;
use crate::syntax::ast::{
    Declaration, Definition, DefinitionBody, Expr, Instance, Module, Name, Statement, Unit,
};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::HashMap;

impl<'a> Resolver<'a> {
    /// Builds the environment of a module whose declarations are its own.
    pub(super) fn own_environment(
        &mut self,
        module: &'a Module,
        parent: Option<NamePlace>,
    ) -> EnvironmentId {
        let name = &*module.name.text;
        let source = ModuleSource { module: Some(module), standard: None, name, parent };
        self.build(source, &mut Use::new())
    }

    /// Returns the module with a name at a place: an inner one, one of a file, or a standard one.
    pub(super) fn source(&self, name: &'a str, place: NamePlace) -> Option<ModuleSource<'a>> {
        let mut here = Some(place);
        while let Some(at) = here {
            let environment = self.environment(at.environment);
            if let Some(inner) = environment.inner.get(name)
                && inner.order < at.order
            {
                let place = NamePlace { environment: inner.environment, order: inner.order };
                let (module, parent) = (Some(inner.module), Some(place));
                return Some(ModuleSource { module, standard: None, name, parent });
            }
            here = environment.parent;
        }
        let (module, standard) = (self.set.get(name), StandardModule::find(name));
        let exists = module.is_some() || standard.is_some();
        exists.then_some(ModuleSource { module, standard, name, parent: None })
    }

    pub(super) fn build(&mut self, source: ModuleSource<'a>, usage: &mut Use<'a>) -> EnvironmentId {
        if let (Some(&built), None) = (usage.built.get(source.name), source.parent) {
            return built;
        }
        let id = EnvironmentId(self.environments.len());
        self.environments.push(Environment {
            module: source.module,
            name: source.name,
            prefix: usage.prefix.clone(),
            context: usage.context,
            substitutes_expressions: false,
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
        let place = NamePlace { environment: id, order: usize::MAX };
        if let Some(source) = self.source(&name.text, place) {
            let extended = self.build(source, usage);
            self.import(
                extended,
                Target { environment: id, order: 0, is_local: false, at: name.span },
            );
        }
    }

    /// Adds the operators of a standard module that its file lacks, and the modules that it extends.
    fn add_standard(
        &mut self,
        id: EnvironmentId,
        standard: &'static StandardModule,
        usage: &mut Use<'a>,
    ) {
        if self.environment(id).module.is_none() {
            for &name in standard.extends {
                let module = StandardModule::find(name);
                let source = ModuleSource { module: None, standard: module, name, parent: None };
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
                    Symbol::DeclaredConstant(_) => "a constant",
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
        let place = NamePlace { environment, order };
        Symbol::Fact(Some(self.new_entry(NewEntry {
            name: name.text.clone(),
            span: name.span,
            text: Text::Formula(formula),
            origin: DefinitionOrigin::Module,
            scope: Scope { place, locals: None },
            leading: self.leading(environment),
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
                let symbol = self.substituted(units.usage, name, 0, Level::State);
                if let Some(instance) = &mut units.usage.instance {
                    instance.for_variables.extend(symbol);
                }
                symbol
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
            None => {
                Some(Symbol::DeclaredConstant(self.new_declared(&name.text, name.span, *arity)))
            }
            Some(_) => self.substituted(units.usage, name, *arity, Level::Constant),
        }
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
        let place = NamePlace { environment: id, order };
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
            arities: definition_arities(definition),
            ..NewEntry {
                name: definition.name.text.clone(),
                span: definition.name.span,
                text: Text::Definition(definition),
                origin,
                scope,
                leading,
            }
            .into()
        })
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
        let scope = Scope { place: NamePlace { environment: id, order }, locals: None };
        let (context, prefix) = (units.usage.context, units.usage.prefix.clone());
        if let Some(built) = self.instantiate(instance, scope, context, prefix) {
            self.import(built, Target { environment: id, order, is_local, at: instance.span });
        }
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

/// Returns whether a symbol is an operator of a community module. Its file may be older than the table, so a module may
/// define an operator with the name itself.
fn is_community(symbol: Symbol) -> bool {
    let Symbol::Standard(operator) = symbol else { return false };
    StandardModule::find(operator.module()).is_some_and(|it| !it.is_complete)
}

fn is_operator(symbol: Symbol) -> bool {
    matches!(symbol, Symbol::Entry(_) | Symbol::Standard(_) | Symbol::Instance(_) | Symbol::Fact(_))
}
