//! Instances: their substitutions and their environments.

use super::names::{
    ContextId, Entry, EnvironmentId, InstanceEntry, InstanceId, LocalId, NewEntry, Scope, Symbol,
    Text,
};
use super::resolver::{Resolver, SubstitutionLimit};
use super::tree::{DefinitionOrigin, Level};
use super::usage::{InstanceUse, Use};
use crate::syntax::ast::{
    Argument, Declaration, Definition, Expr, ExprKind, Instance, Name, Path, PathPart,
};
use spillway_base::diag::Diagnostic;
use std::collections::HashMap;
use std::rc::Rc;

/// The names that no module can define.
pub(super) const BUILT_IN: [&str; 4] = ["TRUE", "FALSE", "BOOLEAN", "STRING"];

impl<'a> Resolver<'a> {
    /// Returns the symbol that an instance substitutes for a constant or variable.
    pub(super) fn substituted(
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
            arities,
            ..NewEntry {
                name: target.name.text.clone(),
                span: value.span(),
                text: Text::Argument(value),
                origin: DefinitionOrigin::Substitution,
                scope: target.scope.clone(),
                leading: target.leading,
            }
            .into()
        });
        Some(Symbol::Entry(entry))
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

    /// Builds the environment of an instance.
    pub(super) fn instantiate(
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
        let (used, for_variables) = (Vec::new(), Vec::new());
        let instance = InstanceUse { text, scope, used, has_variables: false, for_variables };
        let first_limit = self.limits.len();
        let mut usage = Use { instance: Some(instance), context, prefix, built: HashMap::new() };
        let built = self.build(source, &mut usage);
        let instance = usage.instance?;
        if !instance.is_renaming() {
            for environment in usage.built.values() {
                self.environments[environment.0].substitutes_expressions = true;
            }
            self.environments[built.0].substitutes_expressions = true;
        }
        let InstanceUse { used, has_variables, .. } = instance;
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

/// What a value of WITH is for.
struct SubstitutionTarget<'s, 'a> {
    name: &'a Name,
    scope: &'s Scope,
    leading: Vec<LocalId>,
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
