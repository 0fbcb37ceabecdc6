//! Actions, taken apart: what they need of counters and add to them, and the rest.

use crate::analysis::live_variables::{bounds, surely_stored};
use crate::ir::{
    Action, BinaryOp, Entity as _, Expr, ExprKind, Place, PlaceRoot, Program, Stmt, StmtKind, VarId,
};
use std::collections::BTreeMap;

/// What a transition has to do with a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PlaceArc {
    /// So many tokens have to be there.
    pub needs: i64,
    /// So many are there more behind it, or fewer: at most those that have to be there.
    pub adds: i64,
}

impl PlaceArc {
    /// What both do, one after the other.
    pub fn then(self, next: PlaceArc) -> PlaceArc {
        PlaceArc { needs: self.needs.max(next.needs - self.adds), adds: self.adds + next.adds }
    }

    /// Whether it takes what it needs, all of it.
    pub fn takes(self) -> bool {
        self.needs > 0 && self.needs + self.adds == 0
    }

    /// Whether it only adds.
    pub fn puts(self) -> bool {
        self.needs == 0 && self.adds > 0
    }
}

/// An action, taken apart.
pub(super) struct ActionParts<'p> {
    pub arcs: BTreeMap<usize, PlaceArc>,
    /// What else the guard asks.
    pub guards: Vec<&'p Expr>,
    /// What else the body does.
    pub rest: Vec<&'p Stmt>,
    /// The statements by which counters change, with how much they add.
    pub adding: Vec<(&'p Stmt, usize, i64)>,
    /// Whether it is never taken.
    pub is_never: bool,
}

impl<'p> ActionParts<'p> {
    /// Those of an action, where these variables may be places.
    pub fn of(program: &Program, action: &'p Action, is_place: &[bool]) -> ActionParts<'p> {
        let mut parts = ActionParts {
            arcs: BTreeMap::new(),
            guards: Vec::new(),
            rest: Vec::new(),
            adding: Vec::new(),
            is_never: false,
        };
        let mut conjuncts = Vec::new();
        action.guard.iter().for_each(|it| split(it, &mut conjuncts));
        for it in conjuncts {
            match (it.as_constant(), needed(it).filter(|it| is_place[it.0])) {
                (Some(0), _) => parts.is_never = true,
                (Some(_), _) => {}
                (None, Some((place, needs))) => {
                    let arc = parts.arcs.entry(place).or_default();
                    arc.needs = arc.needs.max(needs);
                }
                (None, None) => parts.guards.push(it),
            }
        }
        for stmt in &action.body {
            match added(program, stmt).filter(|it| is_place[it.0]) {
                Some((place, adds)) => {
                    parts.arcs.entry(place).or_default().adds += adds;
                    parts.adding.push((stmt, place, adds));
                }
                None => parts.rest.push(stmt),
            }
        }
        parts.arcs.retain(|_, arc| *arc != PlaceArc::default());
        parts
    }

    /// Whether there is more to it.
    pub fn has_rest(&self) -> bool {
        !self.guards.is_empty() || !self.rest.is_empty()
    }

    /// Whether the rest may fail, or say when it is too late that the action is not taken.
    pub fn may_fail(&self, program: &Program) -> bool {
        let is_sure = |it: &&Stmt| match &it.kind {
            StmtKind::Assign { target, value, overflow } => {
                surely_stored(program, target, value, *overflow)
            }
            StmtKind::Clear(target) => {
                matches!(target.root, PlaceRoot::Variable(_) if target.path.is_empty())
            }
            _ => false,
        };
        !self.guards.iter().all(|it| bounds(program, it).is_some())
            || !self.rest.iter().all(is_sure)
    }
}

/// What is joined by conjunctions.
fn split<'p>(guard: &'p Expr, found: &mut Vec<&'p Expr>) {
    let mut open = vec![guard];
    while let Some(it) = open.pop() {
        match &it.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => open.extend([&**right, &**left]),
            _ => found.push(it),
        }
    }
}

/// The variable that is there as a whole.
fn variable(place: &Place) -> Option<VarId> {
    match place.root {
        PlaceRoot::Variable(id) if place.slot.is_none() && place.path.is_empty() => Some(id),
        _ => None,
    }
}

fn read(expr: &Expr) -> Option<VarId> {
    match &expr.kind {
        ExprKind::Read(place) => variable(place),
        _ => None,
    }
}

/// The variable of which a condition asks that it is at least so much, and no more.
fn needed(condition: &Expr) -> Option<(usize, i64)> {
    let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
    let (place, least) = match operator {
        BinaryOp::GreaterEqual => (read(left)?, right.as_constant()?),
        BinaryOp::LessEqual => (read(right)?, left.as_constant()?),
        BinaryOp::Greater => (read(left)?, right.as_constant()?.checked_add(1)?),
        BinaryOp::Less => (read(right)?, left.as_constant()?.checked_add(1)?),
        _ => return None,
    };
    (least >= 0).then_some((place.index(), least))
}

/// The variable that a statement adds to, and how much.
fn added(program: &Program, stmt: &Stmt) -> Option<(usize, i64)> {
    let StmtKind::Assign { target, value, .. } = &stmt.kind else { return None };
    let ExprKind::Binary(operator, left, right) = &value.kind else { return None };
    let id = variable(target)?;
    let by = match operator {
        BinaryOp::Add if read(left) == Some(id) => right.as_constant()?,
        BinaryOp::Add if read(right) == Some(id) => left.as_constant()?,
        BinaryOp::Subtract if read(left) == Some(id) => right.as_constant()?.checked_neg()?,
        _ => return None,
    };
    let is_small = by.abs() <= i64::from(i32::MAX) && id.index() < program.variables.len();
    is_small.then_some((id.index(), by))
}
