//! Walks over syntax trees.

use super::ast::{
    Argument, Definition, DefinitionBody, Expr, ExprKind, LetUnit, PathPart, Selector, UpdateStep,
};

/// What a walk visits.
pub trait Visitor {
    /// Called for each expression, before its operands.
    fn expr(&mut self, _expr: &Expr) {}

    /// Called for each item of a LET, before its parts.
    fn let_unit(&mut self, _unit: &LetUnit) {}
}

/// Calls a function for each item of each LET in an expression.
pub fn each_let_unit(expr: &Expr, call: &mut dyn FnMut(&LetUnit)) {
    struct Units<'a>(&'a mut dyn FnMut(&LetUnit));
    impl Visitor for Units<'_> {
        fn let_unit(&mut self, unit: &LetUnit) {
            (self.0)(unit);
        }
    }
    walk(expr, &mut Units(call));
}

/// Walks over an expression.
pub fn walk(expr: &Expr, visitor: &mut dyn Visitor) {
    visitor.expr(expr);
    if let ExprKind::Let { definitions, .. } = &expr.kind {
        definitions.iter().for_each(|it| visitor.let_unit(it));
    }
    each_child(expr, &mut |it| walk(it, visitor));
}

/// Calls a function for each expression that is a direct part of an expression, in the order of the text.
pub fn each_child<'a>(expr: &'a Expr, call: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::String(_) | ExprKind::At | ExprKind::Step => {}
        ExprKind::Path(path) => path.parts.iter().for_each(|it| each_in_part(it, call)),
        ExprKind::Prefix { operand: child, .. }
        | ExprKind::Postfix { operand: child, .. }
        | ExprKind::Parenthesized(child)
        | ExprKind::Labelled { body: child, .. }
        | ExprKind::Unbounded { body: child, .. }
        | ExprKind::Field { record: child, .. } => call(child),
        ExprKind::Infix { left: first, right: second, .. }
        | ExprKind::SetFilter { set: first, body: second, .. }
        | ExprKind::FunctionSet { domain: first, range: second }
        | ExprKind::Action { action: first, subscript: second, .. }
        | ExprKind::Fairness { subscript: first, action: second, .. } => {
            call(first);
            call(second);
        }
        ExprKind::Junction { items, .. }
        | ExprKind::Product(items)
        | ExprKind::SetLiteral(items)
        | ExprKind::Tuple(items) => items.iter().for_each(call),
        ExprKind::Quantified { .. }
        | ExprKind::Function { .. }
        | ExprKind::SetMap { .. }
        | ExprKind::Choose { .. }
        | ExprKind::Let { .. } => each_in_binder(expr, call),
        ExprKind::ApplyFunction { function, arguments } => {
            call(function);
            arguments.iter().for_each(call);
        }
        ExprKind::Record(fields) | ExprKind::RecordSet(fields) => {
            fields.iter().for_each(|it| call(&it.value));
        }
        ExprKind::Except { function, updates } => {
            call(function);
            for update in updates {
                for step in &update.path {
                    if let UpdateStep::Index(items) = step {
                        items.iter().for_each(&mut *call);
                    }
                }
                call(&update.value);
            }
        }
        ExprKind::If { condition, yes, no } => {
            [condition, yes, no].into_iter().for_each(|it| call(it));
        }
        ExprKind::Case { arms, other } => {
            for arm in arms {
                call(&arm.guard);
                call(&arm.value);
            }
            other.iter().for_each(|it| call(it));
        }
    }
}

/// Calls a function for each direct part of an expression that binds names.
fn each_in_binder<'a>(expr: &'a Expr, call: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Quantified { bounds, body, .. } | ExprKind::Function { bounds, body } => {
            bounds.iter().for_each(|it| call(&it.set));
            call(body);
        }
        ExprKind::SetMap { body, bounds } => {
            call(body);
            bounds.iter().for_each(|it| call(&it.set));
        }
        ExprKind::Choose { set, body, .. } => {
            set.iter().for_each(|it| call(it));
            call(body);
        }
        ExprKind::Let { definitions, body } => {
            for unit in definitions {
                if let LetUnit::Definition(definition) = unit {
                    each_in_definition(definition, call);
                }
            }
            call(body);
        }
        _ => {}
    }
}

/// Walks over the expressions of a definition.
pub fn walk_definition(definition: &Definition, visitor: &mut dyn Visitor) {
    each_in_definition(definition, &mut |it| walk(it, visitor));
}

/// Walks over the expressions of an argument.
pub fn walk_argument(argument: &Argument, visitor: &mut dyn Visitor) {
    each_in_argument(argument, &mut |it| walk(it, visitor));
}

fn each_in_definition<'a>(definition: &'a Definition, call: &mut dyn FnMut(&'a Expr)) {
    match &definition.body {
        DefinitionBody::Operator(body) => call(body),
        DefinitionBody::Function { bounds, body } => {
            bounds.iter().for_each(|it| call(&it.set));
            call(body);
        }
        DefinitionBody::Instance(instance) => {
            instance.substitutions.iter().for_each(|it| each_in_argument(&it.value, call));
        }
    }
}

fn each_in_argument<'a>(argument: &'a Argument, call: &mut dyn FnMut(&'a Expr)) {
    match argument {
        Argument::Expression(expr) => call(expr),
        Argument::Lambda { body, .. } => call(body),
        Argument::Symbol { .. } => {}
    }
}

fn each_in_part<'a>(part: &'a PathPart, call: &mut dyn FnMut(&'a Expr)) {
    let arguments = match part {
        PathPart::Name { arguments, .. } => arguments,
        PathPart::Selector { selector: Selector::Arguments(arguments), .. } => arguments,
        PathPart::Selector { .. } => return,
    };
    arguments.iter().for_each(|it| each_in_argument(it, call));
}
