//! The generation of conditions on the states of programs.
#![allow(dead_code)]

use crate::support::Random;
use spillway::ir::{BinaryOp, Expr, ExprKind, Owner, Place, Program, PropertyKind, Type, UnaryOp};
use spillway::source::Span;

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

/// Returns the negation.
pub fn not(condition: Expr) -> Expr {
    expr(ExprKind::Unary(UnaryOp::Not, Box::new(condition)))
}

/// Returns a condition on the location of a process, on a variable, or on an invariant.
pub fn condition(program: &Program, random: &mut Random) -> Expr {
    let mut all: Vec<Expr> = Vec::new();
    for property in program.properties.values() {
        if let PropertyKind::Invariant(condition) = &property.kind {
            all.push(condition.clone());
        }
    }
    for (process, it) in program.processes.iter().filter(|(_, it)| !it.has_slots()) {
        for location in it.locations.keys() {
            all.push(expr(ExprKind::At { process, slot: None, location }));
        }
    }
    for (id, variable) in program.variables.iter().filter(|(_, it)| it.owner == Owner::Program) {
        if let Type::Scalar(scalar) = &program.types[variable.ty] {
            if scalar.undefined {
                continue;
            }
            let read = expr(ExprKind::Read(Place::variable(id, Span::default())));
            let with = expr(ExprKind::Constant(random.below(4) as i64));
            let operator = [BinaryOp::Equal, BinaryOp::Less, BinaryOp::Greater][random.below(3)];
            all.push(expr(ExprKind::Binary(operator, Box::new(read), Box::new(with))));
        }
    }
    match all.is_empty() {
        true => expr(ExprKind::Constant(1)),
        false => all[random.below(all.len())].clone(),
    }
}
