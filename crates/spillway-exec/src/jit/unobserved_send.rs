//! Sender actions of a rendezvous that no receiver observes, such as resetting variables. They may run before or after
//! the receiver's guard is evaluated.

use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, Communication, Expr, ExprKind, FunctionId, Owner, Place, PlaceRoot, PlaceSelector,
    ProcessId, Program, Stmt, StmtKind, Type, TypeId, VarId,
};
use std::collections::BTreeSet;

/// Returns whether a sender's body cannot fail and writes nothing that a compiled receive reads. It sets directly
/// named variables to constants. These are the sender's own, which no other compiled code can name, or variables of
/// the program that no receiver reads before it takes a message.
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

/// Returns the type of a place that exists, if it belongs to the sender or the program. Variables of the program are
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

/// Returns whether a value is known, and a scalar of this type can hold it.
fn holds(program: &Program, ty: TypeId, value: &Expr) -> bool {
    let Type::Scalar(scalar) = &program.types[ty] else { return false };
    let (low, high) = program.bounds(&scalar.domain);
    match value.kind {
        ExprKind::Constant(value) => (low..=high).contains(&value),
        ExprKind::Undefined => scalar.undefined,
        _ => false,
    }
}

/// Returns the variables that receivers read before they take a message.
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
