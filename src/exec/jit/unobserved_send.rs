//! What a sender does by rendezvous that whoever takes its message does not notice, such as resetting what it needs no
//! more. It may be done before or behind what the receiver asks for.

use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{
    Action, Communication, Expr, ExprKind, FunctionId, Owner, Place, PlaceRoot, PlaceSelector,
    ProcessId, Program, Stmt, StmtKind, Type, TypeId, VarId,
};
use std::collections::BTreeSet;

/// Whether a sender's body surely cannot fail, and writes nothing that a receive asks for that is compiled: it sets to
/// constants, outright, what is the sender's own, which nobody else who is compiled can name, or variables of the program
/// that no receiver looks at before it takes a message.
pub(super) fn is_unobserved(program: &Program, sender: ProcessId, body: &[Stmt]) -> bool {
    let mut written = BTreeSet::new();
    let is_plain = body.iter().all(|stmt| match &stmt.kind {
        StmtKind::Print { .. } => true,
        StmtKind::Assign { target, value, .. } => {
            let of = written_outright(program, sender, target, &mut written);
            of.is_some_and(|ty| holds(program, ty, value))
        }
        StmtKind::Clear(target) | StmtKind::Undefine(target) => {
            written_outright(program, sender, target, &mut written).is_some()
        }
        _ => false,
    });
    is_plain && (written.is_empty() || written.is_disjoint(&receiver_reads(program)))
}

/// The type of a place that is known to be there, if it is the sender's or the program's. Variables of the program are
/// added to `written`.
fn written_outright(
    program: &Program,
    sender: ProcessId,
    target: &Place,
    written: &mut BTreeSet<VarId>,
) -> Option<TypeId> {
    let (PlaceRoot::Variable(id), None) = (target.root, &target.slot) else { return None };
    match program.variables[id].owner {
        Owner::Process(owner) if owner != sender => return None,
        Owner::Process(_) => {}
        Owner::Program => drop(written.insert(id)),
    }
    let mut ty = program.variables[id].ty;
    for selector in &target.path {
        ty = match (&program.types[ty], selector) {
            (Type::Array { low, length, element, .. }, PlaceSelector::Index(index)) => {
                let at = index.as_constant()?.checked_sub(*low)?;
                (0..i64::from(*length)).contains(&at).then_some(*element)?
            }
            (Type::Record { fields, .. }, PlaceSelector::Field(field)) => {
                fields.get(*field as usize)?.1
            }
            _ => return None,
        };
    }
    Some(ty)
}

/// Whether a value is known, and a scalar of this type can hold it.
fn holds(program: &Program, ty: TypeId, value: &Expr) -> bool {
    let Type::Scalar(scalar) = &program.types[ty] else { return false };
    let (low, high) = program.bounds(&scalar.domain);
    match value.kind {
        ExprKind::Constant(value) => (low..=high).contains(&value),
        ExprKind::Undefined => scalar.undefined,
        _ => false,
    }
}

/// The variables that anybody looks at before it takes a message.
fn receiver_reads(program: &Program) -> BTreeSet<VarId> {
    let mut asked = ReceiverReads { program, found: BTreeSet::new(), functions: BTreeSet::new() };
    let receives = |it: &&Action| matches!(it.communication, Some(Communication::Receive { .. }));
    for action in program.actions.values().filter(receives) {
        action.guard.iter().for_each(|it| asked.expr(it));
        action.communication.iter().for_each(|it| asked.communication(it));
    }
    let lives = program.processes.values().map(|it| &it.life);
    lives.flat_map(|it| &it.provided).for_each(|it| asked.expr(it));
    asked.found
}

struct ReceiverReads<'p> {
    program: &'p Program,
    found: BTreeSet<VarId>,
    functions: BTreeSet<FunctionId>,
}

impl CodeVisitor for ReceiverReads<'_> {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(function, _) = expr.kind
            && self.functions.insert(function)
        {
            walk::body(self, &self.program.functions[function].body);
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let PlaceRoot::Variable(id) = place.root {
            self.found.insert(id);
        }
        walk::place(self, place);
    }
}
