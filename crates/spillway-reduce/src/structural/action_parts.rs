//! Decomposition of actions: the tokens that they need and add, and the rest.

use spillway_analysis::live_variables::{bounds, surely_stored};
use spillway_ir::{
    Action, BinaryOp, Entity as _, Expr, ExprKind, Place, PlaceRoot, Program, Stmt, StmtKind, VarId,
};
use std::collections::BTreeMap;

/// The arc between a transition and a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PlaceArc {
    /// The number of tokens that must be there.
    pub needs: i64,
    /// The number of tokens added, negative if removed. It removes at most the needed tokens.
    pub adds: i64,
}

impl PlaceArc {
    /// Composes two arcs in sequence.
    pub fn then(self, next: PlaceArc) -> PlaceArc {
        PlaceArc { needs: self.needs.max(next.needs - self.adds), adds: self.adds + next.adds }
    }

    /// Whether the arc removes exactly the needed tokens.
    pub fn takes(self) -> bool {
        self.needs > 0 && self.needs + self.adds == 0
    }

    /// Whether the arc only adds tokens.
    pub fn puts(self) -> bool {
        self.needs == 0 && self.adds > 0
    }
}

/// The parts of an action.
pub(super) struct ActionParts<'p> {
    pub arcs: BTreeMap<usize, PlaceArc>,
    /// The other conjuncts of the guard.
    pub guards: Vec<&'p Expr>,
    /// The other statements of the body.
    pub rest: Vec<&'p Stmt>,
    /// The statements that change counters, with the constants that they add.
    pub adding: Vec<(&'p Stmt, usize, i64)>,
    /// Whether the action is never enabled.
    pub is_never: bool,
}

impl<'p> ActionParts<'p> {
    /// Decomposes an action; `is_place` marks the variables that may be places.
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

    /// Whether the action has a rest.
    pub fn has_rest(&self) -> bool {
        !self.guards.is_empty() || !self.rest.is_empty()
    }

    /// Whether the rest may fail, or disable the action after its start.
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

/// Splits a guard into its conjuncts.
fn split<'p>(guard: &'p Expr, found: &mut Vec<&'p Expr>) {
    let mut open = vec![guard];
    while let Some(it) = open.pop() {
        match &it.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => open.extend([&**right, &**left]),
            _ => found.push(it),
        }
    }
}

/// Returns the variable that a place denotes as a whole.
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

/// Returns the variable and the constant of a condition that the variable is at least the constant.
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

/// Returns the variable and the constant of a statement that adds the constant to the variable.
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
