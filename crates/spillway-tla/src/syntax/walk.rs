//! Walks over syntax trees.

use super::ast::{
    Argument, Bound, Definition, DefinitionBody, Expr, ExprKind, LetUnit, PathPart, Selector,
    UpdateStep,
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

/// Calls a function for each expression in an expression, itself included.
pub fn each_expr(expr: &Expr, call: &mut dyn FnMut(&Expr)) {
    struct Exprs<'a>(&'a mut dyn FnMut(&Expr));
    impl Visitor for Exprs<'_> {
        fn expr(&mut self, expr: &Expr) {
            (self.0)(expr);
        }
    }
    walk(expr, &mut Exprs(call));
}

/// Walks over an expression.
pub fn walk(expr: &Expr, visitor: &mut dyn Visitor) {
    visitor.expr(expr);
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::String(_) | ExprKind::At | ExprKind::Step => {}
        ExprKind::Path(path) => path.parts.iter().for_each(|it| walk_part(it, visitor)),
        ExprKind::Prefix { operand, .. } | ExprKind::Postfix { operand, .. } => {
            walk(operand, visitor);
        }
        ExprKind::Parenthesized(operand) => walk(operand, visitor),
        ExprKind::Labelled { body, .. } | ExprKind::Unbounded { body, .. } => walk(body, visitor),
        ExprKind::Infix { left, right, .. } => {
            walk(left, visitor);
            walk(right, visitor);
        }
        ExprKind::Junction { items, .. }
        | ExprKind::Product(items)
        | ExprKind::SetLiteral(items)
        | ExprKind::Tuple(items) => walk_all(items, visitor),
        ExprKind::Quantified { bounds, body, .. } | ExprKind::Function { bounds, body } => {
            walk_bounds(bounds, visitor);
            walk(body, visitor);
        }
        ExprKind::SetMap { body, bounds } => {
            walk(body, visitor);
            walk_bounds(bounds, visitor);
        }
        ExprKind::Choose { set, body, .. } => {
            set.iter().for_each(|it| walk(it, visitor));
            walk(body, visitor);
        }
        ExprKind::SetFilter { set, body, .. } => {
            walk(set, visitor);
            walk(body, visitor);
        }
        ExprKind::ApplyFunction { function, arguments } => {
            walk(function, visitor);
            walk_all(arguments, visitor);
        }
        ExprKind::Field { record, .. } => walk(record, visitor),
        ExprKind::FunctionSet { domain, range } => {
            walk(domain, visitor);
            walk(range, visitor);
        }
        ExprKind::Record(fields) | ExprKind::RecordSet(fields) => {
            fields.iter().for_each(|it| walk(&it.value, visitor));
        }
        ExprKind::Except { function, updates } => {
            walk(function, visitor);
            for update in updates {
                for step in &update.path {
                    if let UpdateStep::Index(items) = step {
                        walk_all(items, visitor);
                    }
                }
                walk(&update.value, visitor);
            }
        }
        ExprKind::Action { action, subscript, .. }
        | ExprKind::Fairness { action, subscript, .. } => {
            walk(action, visitor);
            walk(subscript, visitor);
        }
        ExprKind::If { condition, yes, no } => {
            [condition, yes, no].into_iter().for_each(|it| walk(it, visitor));
        }
        ExprKind::Case { arms, other } => {
            for arm in arms {
                walk(&arm.guard, visitor);
                walk(&arm.value, visitor);
            }
            other.iter().for_each(|it| walk(it, visitor));
        }
        ExprKind::Let { definitions, body } => {
            for unit in definitions {
                visitor.let_unit(unit);
                if let LetUnit::Definition(definition) = unit {
                    walk_definition(definition, visitor);
                }
            }
            walk(body, visitor);
        }
    }
}

/// Walks over the expressions of a definition.
pub fn walk_definition(definition: &Definition, visitor: &mut dyn Visitor) {
    match &definition.body {
        DefinitionBody::Operator(body) => walk(body, visitor),
        DefinitionBody::Function { bounds, body } => {
            walk_bounds(bounds, visitor);
            walk(body, visitor);
        }
        DefinitionBody::Instance(instance) => {
            instance.substitutions.iter().for_each(|it| walk_argument(&it.value, visitor));
        }
    }
}

/// Walks over the expressions of an argument.
pub fn walk_argument(argument: &Argument, visitor: &mut dyn Visitor) {
    match argument {
        Argument::Expression(expr) => walk(expr, visitor),
        Argument::Lambda { body, .. } => walk(body, visitor),
        Argument::Symbol { .. } => {}
    }
}

fn walk_all(items: &[Expr], visitor: &mut dyn Visitor) {
    items.iter().for_each(|it| walk(it, visitor));
}

fn walk_bounds(bounds: &[Bound], visitor: &mut dyn Visitor) {
    bounds.iter().for_each(|it| walk(&it.set, visitor));
}

fn walk_part(part: &PathPart, visitor: &mut dyn Visitor) {
    let arguments = match part {
        PathPart::Name { arguments, .. } => arguments,
        PathPart::Selector { selector: Selector::Arguments(arguments), .. } => arguments,
        PathPart::Selector { .. } => return,
    };
    arguments.iter().for_each(|it| walk_argument(it, visitor));
}
