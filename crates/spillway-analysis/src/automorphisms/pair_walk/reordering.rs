//! Statements whose order does not matter.

use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{Communication, Expr, ExprKind, Place, PlaceRoot, PlaceSelector, Stmt, StmtKind};

/// The maximal number of statements, because all pairs are compared.
const MOST: usize = 32;

/// Returns whether statements have the same effect in any order: all are assignments, and none writes what another
/// one reads or writes.
pub(super) fn may_be_reordered(body: &[Stmt]) -> bool {
    let are_assignments = body.iter().all(|it| matches!(it.kind, StmtKind::Assign { .. }));
    if !are_assignments || !(2..=MOST).contains(&body.len()) {
        return false;
    }
    let uses: Vec<StmtPlaces> = body.iter().map(StmtPlaces::of).collect();
    let touches = |one: &StmtPlaces, other: &StmtPlaces| {
        let all = other.read.iter().chain(&other.written);
        one.written.iter().any(|it| all.clone().any(|other| may_be_same(it, other)))
    };
    uses.iter().enumerate().all(|(at, one)| {
        let others = uses.iter().enumerate().filter(|(other, _)| *other != at);
        !one.is_wide && others.into_iter().all(|(_, other)| !touches(one, other))
    })
}

/// The places that a statement names.
#[derive(Default)]
struct StmtPlaces {
    read: Vec<Place>,
    written: Vec<Place>,
    /// Whether the statement reads anything besides places.
    is_wide: bool,
}

impl StmtPlaces {
    fn of(stmt: &Stmt) -> StmtPlaces {
        let mut uses = StmtPlaces::default();
        uses.stmt(stmt);
        uses
    }
}

impl CodeVisitor for StmtPlaces {
    fn expr(&mut self, expr: &Expr) {
        self.is_wide |= !matches!(
            expr.kind,
            ExprKind::Constant(_)
                | ExprKind::Read(_)
                | ExprKind::Local(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Conditional(..)
                | ExprKind::Self_
        );
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, access: PlaceAccess) {
        let list = if access == PlaceAccess::Read { &mut self.read } else { &mut self.written };
        list.push(place.clone());
        walk::place(self, place);
    }

    fn communication(&mut self, communication: &Communication) {
        self.is_wide = true;
        walk::communication(self, communication);
    }
}

/// Returns whether two places may overlap.
fn may_be_same(one: &Place, other: &Place) -> bool {
    let (PlaceRoot::Variable(here), PlaceRoot::Variable(there)) = (one.root, other.root) else {
        return true;
    };
    let differ = |(one, other): (&PlaceSelector, &PlaceSelector)| match (one, other) {
        (PlaceSelector::Index(one), PlaceSelector::Index(other)) => {
            let known = one.as_constant().zip(other.as_constant());
            known.is_some_and(|(one, other)| one != other)
        }
        (PlaceSelector::Field(one), PlaceSelector::Field(other)) => one != other,
        _ => false,
    };
    here == there && !one.path.iter().zip(&other.path).any(differ)
}
