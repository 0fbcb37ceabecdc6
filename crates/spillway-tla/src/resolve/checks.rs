//! What a configuration specifies and wants checked.

use super::names::{EnvironmentId, NamePlace, NewEntry, Scope, Symbol, Text};
use super::pieces::{OpenedPiece, Piece};
use super::resolver::Resolver;
use super::tree::{Checks, DefinitionId, DefinitionOrigin, Level, Property, PropertyPart};
use crate::config::{Config, ConfigName};
use crate::modules::ModuleSet;
use crate::syntax::ast::{Expr, ExprKind, Module, Name, Path, PathPart, Unit};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::{HashMap, HashSet};

/// The names of a configuration as formulas of the root module.
pub(super) struct ConfigFormulas {
    formulas: HashMap<Span, Expr>,
}

impl ConfigFormulas {
    pub(super) fn new(config: &Config) -> Self {
        let single = [
            &config.init,
            &config.next,
            &config.specification,
            &config.symmetry,
            &config.view,
            &config.alias,
        ];
        let lists = [
            &config.invariants,
            &config.properties,
            &config.constraints,
            &config.action_constraints,
            &config.postconditions,
        ];
        let names = single.into_iter().flatten().chain(lists.into_iter().flatten());
        Self { formulas: names.map(|it| (it.span, formula(it))).collect() }
    }

    fn get(&self, name: &ConfigName) -> &Expr {
        &self.formulas[&name.span]
    }
}

fn formula(name: &ConfigName) -> Expr {
    let part = |text: &str| PathPart::Name {
        name: Name { text: text.into(), span: name.span },
        arguments: Vec::new(),
    };
    let parts = name.text.split('!').map(part).collect();
    Expr { kind: ExprKind::Path(Path { parts }), span: name.span }
}

/// A section of a configuration with names of formulas.
struct FormulaSection {
    keyword: &'static str,
    level: Level,
}

/// The configuration whose checks are built.
pub(super) struct CheckBuilder<'r, 'a> {
    pub(super) resolver: &'r mut Resolver<'a>,
    pub(super) root: EnvironmentId,
    pub(super) formulas: &'a ConfigFormulas,
    pub(super) checks: Checks,
}

impl<'a> CheckBuilder<'_, 'a> {
    /// Builds all checks of a configuration.
    pub(super) fn build(&mut self, config: &Config, further: &'a [Expr]) {
        self.behaviour(config);
        self.checks.check_deadlock = config.check_deadlock;
        self.checks.invariants = self.list("INVARIANT", Level::State, &config.invariants);
        self.checks.constraints = self.list("CONSTRAINT", Level::State, &config.constraints);
        self.checks.action_constraints =
            self.list("ACTION_CONSTRAINT", Level::Action, &config.action_constraints);
        self.checks.postconditions =
            self.list("POSTCONDITION", Level::State, &config.postconditions);
        self.checks.symmetries = self.list("SYMMETRY", Level::Constant, config.symmetry.as_slice());
        self.checks.view = self.list("VIEW", Level::State, config.view.as_slice()).pop();
        self.checks.alias = self.list("ALIAS", Level::Action, config.alias.as_slice()).pop();
        for name in &config.properties {
            self.property(name);
        }
        for formula in further {
            let piece = Piece::root(self.root, formula, "formula");
            let definition = self.resolver.piece_definition(&piece);
            self.checks.formulas.push(definition);
        }
        self.assumptions();
    }

    fn list(
        &mut self,
        keyword: &'static str,
        level: Level,
        names: &[ConfigName],
    ) -> Vec<DefinitionId> {
        let section = FormulaSection { keyword, level };
        names.iter().filter_map(|it| self.named(&section, it)).collect()
    }

    fn piece(&self, name: &ConfigName) -> Piece<'a> {
        Piece::root(self.root, self.formulas.get(name), &name.text)
    }

    /// Returns whether a name of the configuration is an operator without parameters.
    fn is_operator(&mut self, keyword: &str, name: &ConfigName) -> bool {
        if name.text.contains('!') {
            return true;
        }
        let symbol = self.resolver.root_symbol(self.root, name);
        let symbol = symbol.map(|it| self.resolver.replaced(it));
        let (message, help) = match symbol {
            Some(Symbol::Entry(entry)) if self.resolver.entry(entry).arities.is_empty() => {
                return true;
            }
            Some(Symbol::Entry(_)) => (
                format!("`{}` has parameters and cannot be the {keyword}", name.text),
                "define an operator without parameters that calls it",
            ),
            Some(_) => (
                format!("`{}` is no operator of the module and cannot be the {keyword}", name.text),
                "define an operator with its formula",
            ),
            None => (
                format!("the root module does not define `{}`, the {keyword}", name.text),
                "correct the name, or define it in the root module",
            ),
        };
        self.resolver.report(Diagnostic::error(name.span, message).help(help));
        false
    }

    /// Returns the definition that a name of the configuration is.
    fn named(&mut self, section: &FormulaSection, name: &ConfigName) -> Option<DefinitionId> {
        if !self.is_operator(section.keyword, name) {
            return None;
        }
        let piece = self.piece(name);
        let level = self.resolver.piece_level(&piece);
        if level > section.level {
            let message = format!(
                "`{}` has {level} level; as {} it can have {} level at most",
                name.text, section.keyword, section.level
            );
            let error = Diagnostic::error(name.span, message);
            self.resolver.report(match (section.keyword, level) {
                ("INVARIANT", _) => error.help("a temporal formula is a PROPERTY"),
                (_, Level::Temporal) => error.help("use no temporal operators in it"),
                _ => error.help("use no primed variables in it"),
            });
            return None;
        }
        Some(self.resolver.piece_definition(&piece))
    }

    /// Builds the initial predicate and the next-state action.
    fn behaviour(&mut self, config: &Config) {
        if let Some(name) = &config.specification {
            if let Some(other) = config.init.as_ref().or(config.next.as_ref()) {
                let message = "the configuration has SPECIFICATION and also INIT or NEXT";
                self.resolver.report(
                    Diagnostic::error(other.span, message).help("remove the one or the other"),
                );
            }
            if self.is_operator("SPECIFICATION", name) {
                let piece = self.piece(name);
                self.conjunct(piece, name);
                if self.checks.next.is_none() {
                    let message = format!("`{}` has no conjunct `[][A]_v`", name.text);
                    self.resolver.report(
                        Diagnostic::error(name.span, message)
                            .help("a specification is `Init /\\ [][Next]_vars`"),
                    );
                }
            }
            return;
        }
        self.checks.init = self.list("INIT", Level::State, config.init.as_slice());
        self.checks.next = self.list("NEXT", Level::Action, config.next.as_slice()).pop();
    }

    /// Adds a conjunct of the specification.
    fn conjunct(&mut self, piece: Piece<'a>, name: &ConfigName) {
        let opened = self.resolver.open(&piece);
        match opened {
            OpenedPiece::Conjuncts(pieces) => {
                pieces.into_iter().for_each(|it| self.conjunct(it, name));
            }
            OpenedPiece::Steps { action, subscript, .. } => {
                let definition = self.resolver.piece_definition(&action);
                if self.checks.next.replace(definition).is_some() {
                    let message = format!("`{}` has several conjuncts `[][A]_v`", name.text);
                    self.resolver.report(
                        Diagnostic::error(piece.formula.span, message)
                            .help("join the actions to one"),
                    );
                }
                self.checks.subscript = Some(self.resolver.piece_definition(&subscript));
            }
            opened => {
                let level = self.resolver.piece_level(&piece);
                let definition = self.resolver.piece_definition(&piece);
                match (level, opened) {
                    (Level::Constant | Level::State, _) => self.checks.init.push(definition),
                    (_, OpenedPiece::Formula(inner)) => self.conjunct(inner, name),
                    (Level::Temporal, _) => self.checks.fairness.push(definition),
                    (Level::Action, _) => {
                        let message = format!("an action is a conjunct of `{}`", name.text);
                        self.resolver.report(
                            Diagnostic::error(piece.formula.span, message).help("write `[][A]_v`"),
                        );
                    }
                }
            }
        }
    }

    fn property(&mut self, name: &ConfigName) {
        if !self.is_operator("PROPERTY", name) {
            return;
        }
        let mut parts = Vec::new();
        let piece = self.piece(name);
        self.property_parts(piece, name, &mut parts);
        self.checks.properties.push(Property { name: name.text.clone(), span: name.span, parts });
    }

    fn property_parts(
        &mut self,
        piece: Piece<'a>,
        name: &ConfigName,
        parts: &mut Vec<PropertyPart>,
    ) {
        match self.resolver.open(&piece) {
            OpenedPiece::Conjuncts(pieces) => {
                pieces.into_iter().for_each(|it| self.property_parts(it, name, parts));
            }
            OpenedPiece::Formula(inner) => self.property_parts(inner, name, parts),
            OpenedPiece::Steps { action, subscript, .. } if piece.binders.is_empty() => {
                parts.push(PropertyPart::Step {
                    action: self.resolver.piece_definition(&action),
                    subscript: self.resolver.piece_definition(&subscript),
                });
            }
            // A step that leaves all variables unchanged satisfies each `[A]_v`.
            OpenedPiece::Steps { whole, .. } => parts.push(PropertyPart::Step {
                action: self.resolver.piece_definition(&whole),
                subscript: self.resolver.all_variables(&whole),
            }),
            OpenedPiece::Always(inner) if self.resolver.piece_level(&inner) <= Level::State => {
                parts.push(PropertyPart::Invariant(self.resolver.piece_definition(&inner)));
            }
            OpenedPiece::Always(_) | OpenedPiece::Whole => {
                if let Some(inner) = self.temporal_quantifier(&piece) {
                    return self.property_parts(inner, name, parts);
                }
                let level = self.resolver.piece_level(&piece);
                let definition = self.resolver.piece_definition(&piece);
                match level {
                    Level::Constant | Level::State => parts.push(PropertyPart::Initial(definition)),
                    Level::Temporal => parts.push(PropertyPart::Temporal(definition)),
                    Level::Action => {
                        let message = format!("the property `{}` is an action", name.text);
                        self.resolver.report(
                            Diagnostic::error(piece.formula.span, message).help("write `[][A]_v`"),
                        );
                    }
                }
            }
        }
    }

    /// Returns the body of a temporal formula that is a universal quantifier over a constant set.
    fn temporal_quantifier(&mut self, piece: &Piece<'a>) -> Option<Piece<'a>> {
        let inner = self.resolver.open_quantifier(piece)?;
        let binder = inner.binders.last()?;
        let sets = binder.bounds.iter().map(|it| Piece { formula: &it.set, ..piece.clone() });
        let is_constant = sets
            .collect::<Vec<_>>()
            .iter()
            .all(|it| self.resolver.piece_level(it) == Level::Constant);
        (is_constant && self.resolver.piece_level(piece) == Level::Temporal).then_some(inner)
    }

    /// Builds the assumptions of the root module and of those that it extends.
    fn assumptions(&mut self) {
        let root = self.resolver.environment(self.root).module;
        let Some(root) = root else { return };
        let mut modules = Vec::new();
        add_extended(self.resolver.set, root, &mut modules, &mut HashSet::new());
        for module in modules {
            let environment = self.resolver.environments.iter().position(|it| {
                it.prefix.is_empty() && it.module.is_some_and(|it| std::ptr::eq(it, module))
            });
            let Some(environment) = environment.map(EnvironmentId) else { continue };
            for definition in self.resolver.add_assumptions(environment, module, false) {
                self.checks.assumptions.push(definition);
            }
        }
    }
}

/// Adds a module after those that it extends.
fn add_extended<'a>(
    set: &'a ModuleSet,
    module: &'a Module,
    modules: &mut Vec<&'a Module>,
    seen: &mut HashSet<&'a str>,
) {
    if !seen.insert(&module.name.text) {
        return;
    }
    for name in &module.extends {
        if let Some(extended) = set.get(&name.text) {
            add_extended(set, extended, modules, seen);
        }
    }
    modules.push(module);
}

impl<'a> Resolver<'a> {
    /// Adds the definitions of a module's assumptions. Axioms are assumed without a check.
    pub(super) fn add_assumptions(
        &mut self,
        environment: EnvironmentId,
        module: &'a Module,
        with_axioms: bool,
    ) -> Vec<DefinitionId> {
        let mut definitions = Vec::new();
        for (index, unit) in module.units.iter().enumerate() {
            let Unit::Assume { name, body, is_axiom } = unit else { continue };
            if *is_axiom && !with_axioms {
                continue;
            }
            let place = NamePlace { environment, order: index + 1 };
            let name = name.as_ref().map_or("ASSUME", |it| &it.text);
            let entry = self.new_entry(NewEntry {
                name: name.into(),
                span: body.span,
                text: Text::Formula(body),
                origin: DefinitionOrigin::Part,
                scope: Scope { place, locals: None },
                leading: self.leading(environment),
            });
            definitions.push(self.definition_of(entry));
        }
        definitions
    }

    /// Reports assumptions that depend on variables.
    pub(super) fn check_assumptions(&mut self, definitions: &[DefinitionId]) {
        for definition in definitions {
            let definition = &self.definitions[definition.index()];
            if definition.level > Level::Constant {
                let message = format!("the assumption has {} level", definition.level);
                let error = Diagnostic::error(definition.span, message);
                self.report(error.help("an assumption depends on no variables"));
            }
        }
    }
}
