//! Whether a claim sees what permutations change.

use crate::ir::walk::{self, Access, Visitor};
use crate::ir::{
    Communication, Domain, Expr, ExprKind, Place, Program, PropertyKind, Root, Stmt, StmtKind,
    Type, TypeId,
};

/// Whether a claim of a program may tell a state from its permutations. It does not if it looks at
/// nothing but variables in which there is nothing of a scalarset, and there are no multisets.
pub(super) fn may_tell_apart(program: &Program) -> bool {
    program.properties.values().any(|property| {
        let PropertyKind::Claim(claim) = &property.kind else { return false };
        let mut looks = Looks { program, found: false };
        claim.moves.iter().for_each(|it| walk::action(&mut looks, &it.action));
        looks.found
    })
}

struct Looks<'a> {
    program: &'a Program,
    found: bool,
}

impl Looks<'_> {
    fn is_symmetric(&self, ty: TypeId) -> bool {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => has_scalarset(&scalar.domain),
            Type::Array { symmetric, element, .. } => {
                symmetric.is_some() || self.is_symmetric(*element)
            }
            Type::Record { fields, .. } => fields.iter().any(|(_, ty)| self.is_symmetric(*ty)),
            Type::Multiset { .. } => true,
        }
    }
}

fn has_scalarset(domain: &Domain) -> bool {
    match domain {
        Domain::Scalarset(_) => true,
        Domain::Union(parts) => parts.iter().any(has_scalarset),
        _ => false,
    }
}

impl Visitor for Looks<'_> {
    /// Only assertions and conditions over variables are known to be harmless.
    fn expr(&mut self, expr: &Expr) {
        self.found |= !matches!(
            expr.kind,
            ExprKind::Constant(_)
                | ExprKind::Undefined
                | ExprKind::Read(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Conditional(..)
                | ExprKind::IsUndefined(_)
                | ExprKind::Same(..)
        );
        walk::expr(self, expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.found |= !matches!(stmt.kind, StmtKind::Assert { .. });
        walk::stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: Access) {
        self.found |= match place.root {
            Root::Variable(id) => {
                place.slot.is_some() || self.is_symmetric(self.program.variables[id].ty)
            }
            Root::Local(_) => true,
        };
        let _ = access;
        walk::place(self, place);
    }

    fn communication(&mut self, communication: &Communication) {
        self.found = true;
        walk::communication(self, communication);
    }
}
