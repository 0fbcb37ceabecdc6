//! The items that an action needs, given the relevant items after it.
//!
//! These are the items that decide whether it is enabled, whether it fails, and what it stores in relevant items. A
//! write to an irrelevant item that cannot fail needs nothing (the relevant variables of a slice: Weiser 1984).

use super::items::{NamedItems, SliceItems, ends};
use spillway_analysis::bit_sets;
use spillway_analysis::live_variables::{bounds, surely_stored};
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, Communication, Expr, Place, PlaceRoot, Program, ReceivePattern, Stmt, StmtKind, Type,
    TypeId,
};

/// Collects the items that code needs.
pub(super) struct RelevantItems<'n> {
    pub program: &'n Program,
    pub items: &'n SliceItems,
    /// The relevant items after the code.
    pub relevant: &'n [u64],
    pub found: &'n mut [u64],
}

impl RelevantItems<'_> {
    /// Adds the items that an action needs.
    pub fn action(&mut self, action: &Action) {
        action.guard.iter().for_each(|it| self.expr(it));
        action.communication.iter().for_each(|it| self.communication(it));
        self.body(&action.body);
    }

    /// Adds the items that a body needs.
    pub fn body(&mut self, body: &[Stmt]) {
        match is_plain(self.program, body) {
            true => body.iter().for_each(|it| self.stmt(it)),
            false => walk::body(&mut self.names(), body),
        }
    }

    /// Adds all items that an expression reads.
    pub fn expr(&mut self, expr: &Expr) {
        self.names().expr(expr);
    }

    fn names(&mut self) -> NamedItems<'_> {
        NamedItems::new(self.program, self.items, self.found)
    }

    /// Adds the items that are needed to locate a place.
    fn finds(&mut self, place: &Place) {
        walk::place(&mut self.names(), place);
    }

    /// Whether a place may denote a relevant item.
    fn is_relevant(&self, place: &Place) -> bool {
        let mut meant = self.items.none();
        self.items.add_place(self.program, place, &mut meant);
        bit_sets::intersects(&meant, self.relevant)
    }

    fn communication(&mut self, communication: &Communication) {
        self.names().channel(communication.channel(), PlaceAccess::Read);
        match communication {
            Communication::Send { values, .. } => values.iter().for_each(|it| self.expr(it)),
            Communication::Receive { patterns, .. } => {
                for pattern in patterns {
                    match pattern {
                        ReceivePattern::Match(value) => self.expr(value),
                        ReceivePattern::Into(place) if !is_resettable(self.program, place) => {
                            self.names().place(place, PlaceAccess::Write);
                        }
                        ReceivePattern::Into(place) => self.finds(place),
                        ReceivePattern::Any => {}
                    }
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                let is_sure = surely_stored(self.program, target, value, *overflow);
                if self.is_relevant(target) || !is_sure {
                    self.finds(target);
                    self.expr(value);
                }
            }
            StmtKind::Copy { target, source } => {
                self.finds(target);
                match self.is_relevant(target) {
                    true => self.names().place(source, PlaceAccess::Read),
                    false => self.finds(source),
                }
            }
            StmtKind::Undefine(place) | StmtKind::Clear(place) => self.finds(place),
            StmtKind::Communicate(communication) => self.communication(communication),
            StmtKind::Print { values, .. } => {
                let may_fail = |it: &&Expr| bounds(self.program, it).is_none();
                let failing: Vec<&Expr> = values.iter().filter(may_fail).collect();
                failing.into_iter().for_each(|it| self.expr(it));
            }
            StmtKind::If(branches) => {
                branches.iter().flat_map(|(condition, _)| condition).for_each(|it| self.expr(it));
                self.bodies(stmt);
            }
            StmtKind::Switch(subject, branches) => {
                self.expr(subject);
                branches.iter().flat_map(|(values, _)| values).for_each(|it| self.expr(it));
                self.bodies(stmt);
            }
            StmtKind::For { first, last, step, .. } => {
                [first, last, step].into_iter().for_each(|it| self.expr(it));
                self.bodies(stmt);
            }
            StmtKind::While { condition, .. } => {
                self.expr(condition);
                self.bodies(stmt);
            }
            StmtKind::ForEach { .. } => self.bodies(stmt),
            _ => self.names().stmt(stmt),
        }
    }

    fn bodies(&mut self, stmt: &Stmt) {
        stmt.kind.bodies().for_each(|body| body.iter().for_each(|it| self.stmt(it)));
    }
}

/// Whether a body can be analysed statement by statement, with resets at its end: it has no early exit, no aliases of
/// places, and no calls.
pub(super) fn is_plain(program: &Program, body: &[Stmt]) -> bool {
    struct PlainPlaceCheck<'p>(&'p Program, bool);
    impl CodeVisitor for PlainPlaceCheck<'_> {
        fn place(&mut self, place: &Place, access: PlaceAccess) {
            self.1 &= access == PlaceAccess::Read || is_resettable(self.0, place);
            walk::place(self, place);
        }
    }
    let is_other = |it: &StmtKind| {
        matches!(
            it,
            StmtKind::Call { .. }
                | StmtKind::Alias { .. }
                | StmtKind::Declare { .. }
                | StmtKind::Return(_)
                | StmtKind::MultisetAdd { .. }
                | StmtKind::MultisetRemove { .. }
        )
    };
    let mut places = PlainPlaceCheck(program, true);
    walk::body(&mut places, body);
    places.1 && !ends(body) && !walk::any_stmt(body, &is_other)
}

/// Whether the mover can reset a place: it belongs to the program or the mover, and has no multisets.
fn is_resettable(program: &Program, place: &Place) -> bool {
    let PlaceRoot::Variable(variable) = place.root else { return false };
    place.slot.is_none() && !has_multiset(program, program.variables[variable].ty)
}

pub(super) fn has_multiset(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(_) => false,
        Type::Array { element, .. } => has_multiset(program, *element),
        Type::Record { fields, .. } => fields.iter().any(|(_, ty)| has_multiset(program, *ty)),
        Type::Multiset { .. } => true,
    }
}
