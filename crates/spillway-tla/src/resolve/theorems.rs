//! The statements of theorems, which are checked and not used.

use super::names::{EnvironmentId, LocalId, NamePlace, NewEntry, Scope, Symbol, Text};
use super::resolver::Resolver;
use super::tree::DefinitionOrigin;
use crate::syntax::ast::{AssumeProve, Assumption, Expr, Module, NewKind, Statement, Unit};

/// What a statement sees.
#[derive(Clone)]
struct Surroundings {
    scope: Scope,
    /// The symbols of NEW that are no variables.
    locals: Vec<LocalId>,
}

impl<'a> Resolver<'a> {
    /// Adds the statements of a module's theorems to the checks.
    pub(super) fn add_theorems(&mut self, environment: EnvironmentId, module: &'a Module) {
        for (index, unit) in module.units.iter().enumerate() {
            if let Unit::Theorem { body, .. } = unit {
                let place = NamePlace { environment, order: index + 1 };
                let scope = Scope { place, locals: None };
                self.add_statement(body, &Surroundings { scope, locals: Vec::new() });
            }
        }
    }

    fn add_statement(&mut self, statement: &'a Statement, around: &Surroundings) {
        match statement {
            Statement::Formula(formula) => self.add_formula(formula, around),
            Statement::AssumeProve(it) => self.add_assume_prove(it, around),
        }
    }

    fn add_assume_prove(&mut self, statement: &'a AssumeProve, around: &Surroundings) {
        let mut inner = around.clone();
        for assumption in &statement.assumptions {
            match assumption {
                Assumption::Statement(statement) => self.add_statement(statement, &inner),
                Assumption::New { kind, declaration, set } => {
                    if let Some(set) = set {
                        self.add_formula(set, &inner);
                    }
                    let name = &declaration.name;
                    self.check_new_name(&inner.scope, name);
                    let symbol = match kind {
                        NewKind::Variable => {
                            Symbol::Variable(self.new_variable(&name.text, name.span))
                        }
                        _ => {
                            let local = self.new_local(&name.text, name.span, declaration.arity);
                            inner.locals.push(local);
                            Symbol::Local(local)
                        }
                    };
                    inner.scope = inner.scope.with(&name.text, symbol);
                }
            }
        }
        self.add_formula(&statement.goal, &inner);
    }

    fn add_formula(&mut self, formula: &'a Expr, around: &Surroundings) {
        let leading = self.leading(around.scope.place.environment);
        let entry = self.new_entry(NewEntry {
            name: "THEOREM".into(),
            span: formula.span,
            text: Text::Formula(formula),
            origin: DefinitionOrigin::Part,
            scope: around.scope.clone(),
            leading: [leading, around.locals.clone()].concat(),
        });
        self.definition_of(entry);
    }
}
