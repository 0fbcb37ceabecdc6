//! Labels of subexpressions: each names all variables that are bound around it, up to the next label or definition.

use super::resolver::Resolver;
use crate::syntax::ast::{
    Definition, DefinitionBody, Expr, ExprKind, LetUnit, Name, Statement, Unit,
};
use crate::syntax::walk::{binding, each_child};
use spillway_base::diag::Diagnostic;
use std::collections::HashSet;

impl Resolver<'_> {
    /// Checks the labels of a unit of a module.
    pub(super) fn check_labels(&mut self, unit: &Unit) {
        let mut labels = Labels::default();
        match unit {
            Unit::Definition { definition, .. } => labels.definition(definition),
            Unit::Assume { name, body, .. }
            | Unit::Theorem { name, body: Statement::Formula(body) } => match name {
                Some(_) => labels.expr(body),
                None => labels.forbid(body),
            },
            _ => {}
        }
        labels.errors.into_iter().for_each(|it| self.report(it));
    }
}

/// The labels of a definition.
#[derive(Default)]
struct Labels<'a> {
    /// The labels so far within the innermost definition or label.
    seen: HashSet<&'a str>,
    /// The variables that are bound within the innermost definition or label.
    bound: Vec<&'a Name>,
    errors: Vec<Diagnostic>,
}

impl<'a> Labels<'a> {
    fn error(&mut self, name: &Name, message: String, help: &str) {
        self.errors.push(Diagnostic::error(name.span, message).help(help));
    }

    fn definition(&mut self, definition: &'a Definition) {
        let (seen, bound) = (std::mem::take(&mut self.seen), std::mem::take(&mut self.bound));
        match &definition.body {
            DefinitionBody::Operator(body) => self.expr(body),
            DefinitionBody::Function { bounds, body } => {
                let names = bounds.iter().flat_map(|it| &it.patterns).flat_map(|it| it.names());
                self.bound.extend(names);
                self.expr(body);
            }
            DefinitionBody::Instance(_) => {}
        }
        (self.seen, self.bound) = (seen, bound);
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Labelled { label, parameters, body } => {
                self.label(label, parameters);
                let (seen, bound) =
                    (std::mem::take(&mut self.seen), std::mem::take(&mut self.bound));
                self.expr(body);
                (self.seen, self.bound) = (seen, bound);
            }
            ExprKind::Let { definitions, body } => {
                for unit in definitions {
                    if let LetUnit::Definition(definition) = unit {
                        self.definition(definition);
                    }
                }
                self.expr(body);
            }
            ExprKind::Except { function, updates } => {
                self.expr(function);
                updates.iter().for_each(|it| self.forbid(&it.value));
            }
            _ => {
                let binding = binding(expr);
                each_child(expr, &mut |child| {
                    let count = self.bound.len();
                    if let Some(binding) = &binding
                        && std::ptr::eq(binding.body, child)
                    {
                        self.bound.extend(&binding.names);
                    }
                    self.expr(child);
                    self.bound.truncate(count);
                });
            }
        }
    }

    fn label(&mut self, label: &'a Name, parameters: &[Name]) {
        if !self.seen.insert(&label.text) {
            let message = format!("the label `{}` appears twice", label.text);
            self.error(label, message, "give one of them another name");
        }
        for name in self.bound.clone() {
            if !parameters.iter().any(|it| it.text == name.text) {
                let message = format!(
                    "the label `{}` does not name the bound variable `{}`",
                    label.text, name.text
                );
                self.error(label, message, "a label names all variables bound around it: `L(x)::`");
            }
        }
        for (index, name) in parameters.iter().enumerate() {
            let is_bound = self.bound.iter().any(|it| it.text == name.text);
            if !is_bound || parameters[..index].iter().any(|it| it.text == name.text) {
                let message =
                    format!("`{}` is no further variable bound around the label", name.text);
                self.error(name, message, "a label names each variable bound around it once");
            }
        }
    }

    /// Reports all labels of an expression.
    fn forbid(&mut self, expr: &'a Expr) {
        if let ExprKind::Labelled { label, .. } = &expr.kind {
            let message = format!("the label `{}` is in no definition, or in EXCEPT", label.text);
            self.error(label, message, "define an operator for what it labels");
        }
        each_child(expr, &mut |it| self.forbid(it));
    }
}
