//! LET: values in slots, operators as definitions of their own.

use super::expr::{ExprKind, LetBinding};
use super::ids::ExprId;
use super::lowering::{DefinitionLowering, FunctionText, Names};
use super::names::{EntryId, LocalId, Scope, Symbol};
use super::resolver::Resolver;
use super::tree::DefinitionOrigin;
use crate::syntax::ast::{Declaration, Definition, DefinitionBody, Expr, LetUnit};
use crate::syntax::walk;
use spillway_base::source::Span;
use std::collections::{HashMap, HashSet};

impl<'a> DefinitionLowering<'_, 'a> {
    /// Builds LET. Definitions without parameters are values; the others become definitions of their own.
    pub(super) fn let_in(&mut self, units: &'a [LetUnit], body: &'a Expr, scope: &Scope) -> ExprId {
        let (mut scope, mut bindings) = (scope.clone(), Vec::new());
        let mut recursive: HashMap<&str, EntryId> = HashMap::new();
        for (index, unit) in units.iter().enumerate() {
            match unit {
                LetUnit::Recursive(declarations) => {
                    scope =
                        self.let_recursive(declarations, &units[index..], scope, &mut recursive);
                }
                LetUnit::Definition(definition) => {
                    if let Some(&entry) = recursive.get(&*definition.name.text) {
                        self.resolver.entries[entry.0].scope = scope.clone();
                    } else {
                        scope = self.let_definition(definition, scope, &mut bindings);
                    }
                }
            }
        }
        let value = self.expr(body, &scope);
        match bindings.is_empty() {
            true => value,
            false => {
                let start = bindings.first().map_or(body.span, |it: &BoundValue| it.span);
                let span = start.to(body.span);
                let bindings = bindings.into_iter().map(|it| it.binding).collect();
                self.push(ExprKind::Let { bindings, body: value }, span)
            }
        }
    }

    /// Declares the recursive operators of a LET.
    fn let_recursive(
        &mut self,
        declarations: &'a [Declaration],
        following: &'a [LetUnit],
        mut scope: Scope,
        recursive: &mut HashMap<&'a str, EntryId>,
    ) -> Scope {
        let mut found = Vec::new();
        let mut names = Names::default();
        for declaration in declarations {
            let definition = following.iter().find_map(|unit| match unit {
                LetUnit::Definition(it) if it.name.text == declaration.name.text => Some(it),
                _ => None,
            });
            let Some(definition) = definition else {
                let message =
                    format!("`{}` is declared RECURSIVE but not defined", declaration.name.text);
                self.error(declaration.name.span, message, "define it in the same LET");
                continue;
            };
            self.resolver.check_recursive(declaration, definition);
            found.push(definition);
        }
        // The operators may use everything that is defined up to the last of them.
        for unit in following {
            if let LetUnit::Definition(definition) = unit {
                walk::walk_definition(definition, &mut names);
            }
        }
        let leading = self.resolver.captured(&names, &scope);
        for definition in found {
            self.resolver.check_new_name(&scope, &definition.name);
            let entry = self.resolver.definition_entry(definition, scope.clone(), leading.clone());
            self.resolver.entries[entry.0].origin = DefinitionOrigin::Let;
            recursive.insert(&definition.name.text, entry);
            scope = scope.with(&definition.name.text, Symbol::Entry(entry));
        }
        scope
    }

    fn let_definition(
        &mut self,
        definition: &'a Definition,
        scope: Scope,
        bindings: &mut Vec<BoundValue>,
    ) -> Scope {
        let name = &definition.name;
        self.resolver.check_new_name(&scope, name);
        let value = match &definition.body {
            DefinitionBody::Operator(body) if definition.parameters.is_empty() => {
                self.expr(body, &scope)
            }
            DefinitionBody::Function { bounds, body } => {
                self.function_definition(FunctionText { name, bounds, body }, &scope)
            }
            DefinitionBody::Instance(instance) => {
                let leading = self.resolver.all_captured(&scope);
                let id = self.resolver.named_instance(definition, instance, &scope, leading);
                return scope.with(&name.text, Symbol::Instance(id));
            }
            DefinitionBody::Operator(_) => {
                let mut names = Names::default();
                walk::walk_definition(definition, &mut names);
                let leading = self.resolver.captured(&names, &scope);
                let entry = self.resolver.definition_entry(definition, scope.clone(), leading);
                self.resolver.entries[entry.0].origin = DefinitionOrigin::Let;
                return scope.with(&name.text, Symbol::Entry(entry));
            }
        };
        let local = self.resolver.new_local(&name.text, name.span, 0);
        let slot = self.frame.bind(local);
        let binding = LetBinding { slot, name: name.text.to_string(), value };
        bindings.push(BoundValue { binding, span: name.span });
        scope.with(&name.text, Symbol::Local(local))
    }
}

/// A LET value with the position of its name.
struct BoundValue {
    binding: LetBinding,
    span: Span,
}

impl Resolver<'_> {
    /// Returns the leading parameters of an entry in a scope that uses some names.
    pub(super) fn captured(&self, names: &Names, scope: &Scope) -> Vec<LocalId> {
        self.captured_if(scope, |it| names.0.contains(it))
    }

    /// Returns the leading parameters of an entry in a scope that may use everything.
    fn all_captured(&self, scope: &Scope) -> Vec<LocalId> {
        self.captured_if(scope, |_| true)
    }

    fn captured_if(&self, scope: &Scope, is_used: impl Fn(&str) -> bool) -> Vec<LocalId> {
        let mut captured = self.leading(scope.place.environment);
        let mut node = scope.locals.as_ref();
        while let Some(it) = node {
            if is_used(&it.name) {
                match it.symbol {
                    Symbol::Local(local) => captured.push(local),
                    Symbol::Entry(entry) => captured.extend(&self.entry(entry).leading),
                    Symbol::Instance(instance) => {
                        let instance = self.instance(instance);
                        let count = instance.leading.len() - instance.parameters.len();
                        captured.extend(&instance.leading[..count]);
                    }
                    _ => {}
                }
            }
            node = it.parent.as_ref();
        }
        let mut seen = HashSet::new();
        captured.retain(|it| seen.insert(*it));
        captured
    }
}
