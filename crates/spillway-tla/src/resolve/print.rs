//! Resolved expressions as text, for tests and for looking at them.
//!
//! An expression is its operator with its operands in parentheses: `(Equal (Prime x) (Add x 1))`. A slot is `%0`, with
//! the name behind it: `%0:n`.

use super::expr::{Argument, ExprKind, OperatorValue};
use super::ids::{DefinitionId, ExprId, Slot};
use super::tree::{Definition, Specification};

impl Specification {
    /// Returns the body of a definition as text.
    pub fn body_text(&self, definition: DefinitionId) -> String {
        let definition = &self[definition];
        self.expr_text(definition, definition.body)
    }

    fn expr_text(&self, of: &Definition, id: ExprId) -> String {
        let slot = |slot: &Slot| format!("%{}:{}", slot.0, of.slot_names[slot.index()]);
        match &self[id].kind {
            ExprKind::Boolean(value) => value.to_string().to_uppercase(),
            ExprKind::Integer(value) => value.to_string(),
            ExprKind::Decimal(text) => text.clone(),
            ExprKind::String(string) => format!("{:?}", self.string(*string)),
            ExprKind::ModelValue(value) => self.model_values[value.index()].name.clone(),
            ExprKind::Variable(variable) => self.variables[variable.index()].name.clone(),
            ExprKind::Constant(constant) => self.constants[constant.index()].name.clone(),
            ExprKind::Local(local) => slot(local),
            ExprKind::Apply { definition, arguments } => {
                self.call_text(of, &self[*definition].name, arguments)
            }
            ExprKind::ApplyLocal { operator, arguments } => {
                self.call_text(of, &slot(operator), arguments)
            }
            ExprKind::Standard { operator, arguments } => {
                self.call_text(of, &format!("{operator:?}"), arguments)
            }
            ExprKind::Undefined { name, arguments, .. } => self.call_text(of, name, arguments),
            ExprKind::Unary { operator, operand } => {
                format!("({operator:?} {})", self.expr_text(of, *operand))
            }
            ExprKind::Binary { operator, left, right } => {
                let (left, right) = (self.expr_text(of, *left), self.expr_text(of, *right));
                format!("({operator:?} {left} {right})")
            }
            ExprKind::Field { record, field } => {
                format!("(Field {} {})", self.expr_text(of, *record), self.string(*field))
            }
            kind => self.other_text(of, kind),
        }
    }

    /// Returns an expression with the bindings it has, its kind and its operands.
    fn other_text(&self, of: &Definition, kind: &ExprKind) -> String {
        let debug = format!("{kind:?}");
        let name = debug.split([' ', '(', '{']).next().unwrap_or_default();
        let mut parts = vec![name.to_owned()];
        parts.extend(
            kind.bound_slots().iter().map(|it| format!("%{}:{}", it.0, of.slot_names[it.index()])),
        );
        kind.for_each_operand(&mut |it| parts.push(self.expr_text(of, it)));
        format!("({})", parts.join(" "))
    }

    fn call_text(&self, of: &Definition, name: &str, arguments: &[Argument]) -> String {
        let arguments: Vec<String> =
            arguments.iter().map(|it| self.argument_text(of, it)).collect();
        match arguments.is_empty() {
            true => name.to_owned(),
            false => format!("({name} {})", arguments.join(" ")),
        }
    }

    fn argument_text(&self, of: &Definition, argument: &Argument) -> String {
        match argument {
            Argument::Expression(expr) => self.expr_text(of, *expr),
            Argument::Operator(OperatorValue::Definition { definition, captured }) => {
                format!("@{}", self.call_text(of, &self[*definition].name, captured))
            }
            Argument::Operator(OperatorValue::Local(slot)) => {
                format!("@%{}:{}", slot.0, of.slot_names[slot.index()])
            }
            Argument::Operator(OperatorValue::Standard(operator)) => format!("@{operator:?}"),
            Argument::Operator(value) => format!("@{value:?}"),
        }
    }
}
