//! Variables that only count relative to each other (linear transformations: Pelánek 2005, section 3.2).
//!
//! A set of holders is *linear* modulo *n* if the program uses their values in two ways only. It compares them for
//! equality with each other plus a constant, and it assigns one to another plus a constant. Then the addition of a
//! constant to all of them, modulo *n*, has no visible effect. A comparison by order, a constant, an index, or a
//! property that names one of them breaks the set. An expression adds a constant if it does so for each value. So `1
//! - x` of two values is `x + 1`, and so is `(x + 1) % n`.

use super::def_use::{CellPresence, HolderId, HolderNumbering, StoreKind, ValueUse, uses};
use super::equivalence_classes::UnionFind;
use super::value_abstraction::{ExprDependence, evaluate, expr_dependence, stored_value};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::layout::CellId;
use spillway_ir::walk::{self, CodeVisitor, any_stmt};
use spillway_ir::{
    BinaryOp, Expr, ExprKind, Layout, OverflowRule, Owner, Place, Program, ReceivePattern, Stmt,
    StmtKind, VarId,
};
use std::collections::BTreeMap;

/// The maximal number of values of a linear set.
const VALUES_MAX: i64 = 256;

/// A set of holders that only count relative to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSet {
    /// The number of values, from 0 on.
    pub modulus: i64,
    /// The variable relative to which the others are counted. It always exists.
    pub first: VarId,
    /// The cell of the first variable.
    pub first_cell: CellId,
    /// All variables of the set.
    pub variables: Vec<VarId>,
    /// The cells of the set, and the states in which they hold a value.
    pub cells: Vec<(CellId, CellPresence)>,
}

/// Returns the linear sets of a program with this layout.
pub fn linear_sets(
    program: &Program,
    layout: &Layout,
    budget: &AnalysisBudget,
) -> Result<Vec<LinearSet>, BudgetExceeded> {
    let holders = HolderNumbering::new(program);
    let Some(uses) = uses(program, &holders) else { return Ok(Vec::new()) };
    budget.work((uses.len() + holders.count()) as u64)?;
    let classes = UnionFind::singletons(holders.count());
    let (is_broken, sums) = (vec![false; holders.count()], Vec::new());
    let starts_any = starts_any(program);
    let mut sets =
        LinearSetBuilder { program, holders: &holders, starts_any, classes, is_broken, sums };
    sets.survey(&uses);
    let mut sums_of: BTreeMap<HolderId, Vec<&OffsetExpr>> = BTreeMap::new();
    for sum in &sets.sums {
        sums_of.entry(sets.classes.find(sum.of)).or_default().push(sum);
    }
    let mut found = Vec::new();
    for (first, members) in sets.classes.sets() {
        if !sets.is_broken[first] {
            let sums = sums_of.remove(&first).unwrap_or_default();
            budget.work((sums.len() + members.len()) as u64)?;
            found.extend(sets.linear(&members, &sums, layout));
        }
    }
    Ok(found)
}

/// An expression that must add a constant.
struct OffsetExpr {
    /// The holder to whose values the constant is added.
    of: HolderId,
    expr: Expr,
    /// The holder in which the result is stored, if it is stored, and the overflow rule.
    to: Option<(HolderId, OverflowRule)>,
}

/// A partition of the holders whose values meet.
struct LinearSetBuilder<'p> {
    program: &'p Program,
    holders: &'p HolderNumbering,
    /// Whether any code starts a process.
    starts_any: bool,
    classes: UnionFind,
    /// For the first holder of each set, whether the set is not linear.
    is_broken: Vec<bool>,
    sums: Vec<OffsetExpr>,
}

impl LinearSetBuilder<'_> {
    fn mark_nonlinear(&mut self, holder: HolderId) {
        let set = self.classes.find(holder);
        self.is_broken[set] = true;
    }

    fn join(&mut self, one: HolderId, other: HolderId) {
        let (one, other) = self.classes.union(one, other);
        self.is_broken[one] |= self.is_broken[other];
    }

    /// Returns the only place on which an expression depends, if it belongs to the mover or the program.
    fn on<'e>(&self, expr: &'e Expr) -> Option<(&'e Place, HolderId)> {
        match expr_dependence(self.program, self.holders, expr) {
            ExprDependence::On(place, holder) if place.slot.is_none() => Some((place, holder)),
            _ => None,
        }
    }

    fn sum(&mut self, of: HolderId, expr: &Expr, to: Option<(HolderId, OverflowRule)>) {
        self.sums.push(OffsetExpr { of, expr: expr.clone(), to });
    }

    fn survey(&mut self, uses: &[ValueUse]) {
        for holder in 0..self.holders.count() {
            if !self.is_understood(holder) {
                self.mark_nonlinear(holder);
            }
        }
        for it in uses {
            match it {
                ValueUse::Opaque(it) | ValueUse::Cleared(it) => self.mark_nonlinear(*it),
                ValueUse::Received { from, to } | ValueUse::SentToEither(from, to) => {
                    self.join(*from, *to)
                }
                ValueUse::Evaluated(expr) => self.expr(expr),
                ValueUse::Matched { field, value } => self.matched(*field, value),
                ValueUse::Stored { to, value, overflow, by, .. } => match self.on(value) {
                    Some((place, of)) if *by != StoreKind::Argument => {
                        walk::place(self, place);
                        self.join(of, *to);
                        self.sum(of, value, Some((*to, *overflow)));
                    }
                    _ => {
                        self.mark_nonlinear(*to);
                        self.expr(value);
                    }
                },
            }
        }
    }

    /// Returns whether a holder can be in a linear set: its values are always defined, and it always exists once, or
    /// no further process with slots starts.
    fn is_understood(&self, holder: HolderId) -> bool {
        let program = self.program;
        let Some(scalar) = self.holders.scalar(program, holder) else { return false };
        let has_slots = |owner| match owner {
            Owner::Program => false,
            Owner::Process(process) => program.processes[process].has_slots(),
        };
        let may_be = match (self.holders.as_variable(holder), self.holders.as_field(holder)) {
            (Some(id), _) => !has_slots(program.variables[id].owner) || !self.starts_any,
            (_, Some((channel, _))) => !has_slots(program.channels[channel].owner),
            _ => false,
        };
        !scalar.undefined && may_be
    }

    fn matched(&mut self, field: HolderId, value: &Expr) {
        match self.on(value) {
            Some((place, of)) => {
                walk::place(self, place);
                self.join(field, of);
                self.sum(of, value, None);
            }
            None => {
                self.mark_nonlinear(field);
                self.expr(value);
            }
        }
    }

    /// Returns the set of these holders if it is linear, with the expressions that must add constants.
    fn linear(
        &self,
        members: &[HolderId],
        sums: &[&OffsetExpr],
        layout: &Layout,
    ) -> Option<LinearSet> {
        let cells: Vec<(CellId, CellPresence)> =
            members.iter().flat_map(|&it| self.holders.cells(self.program, layout, it)).collect();
        // Each cell must be able to hold all values.
        let range =
            |it: &(CellId, CellPresence)| (layout.cells[it.0].least, layout.cells[it.0].most);
        let (least, most) = cells.first().map(range)?;
        let is_one_range = cells.iter().all(|it| range(it) == (least, most));
        if !is_one_range || least != 0 || !(1..VALUES_MAX).contains(&most) {
            return None;
        }
        let modulus = most + 1;
        let fits = |&it: &HolderId| {
            let scalar = self.holders.scalar(self.program, it);
            scalar
                .map(|it| self.program.bounds(&it.domain))
                .is_some_and(|it| it.0 <= 0 && most <= it.1)
        };
        if !members.iter().all(fits) || !sums.iter().all(|it| self.adds(it, modulus)) {
            return None;
        }
        let variables: Vec<VarId> =
            members.iter().filter_map(|&it| self.holders.as_variable(it)).collect();
        let is_always_there = |it: &&VarId| match self.program.variables[**it].owner {
            Owner::Program => true,
            Owner::Process(process) => !self.program.processes[process].has_slots(),
        };
        let first = *variables.iter().find(is_always_there)?;
        let first_cell = layout.variables[first].in_slot(0);
        Some(LinearSet { modulus, first, first_cell, variables, cells })
    }

    /// Returns whether an expression adds the same constant to every value.
    fn adds(&self, sum: &OffsetExpr, modulus: i64) -> bool {
        let come_to = |value: i64| {
            let found = evaluate(self.program, &sum.expr, Some(value)).ok()??;
            let found = match sum.to {
                None => found,
                Some((to, overflow)) => {
                    let scalar = self.holders.scalar(self.program, to)?;
                    stored_value(found, self.program.bounds(&scalar.domain), overflow)?
                }
            };
            (0..modulus).contains(&found).then(|| (found - value).rem_euclid(modulus))
        };
        let added = come_to(0);
        added.is_some() && (1..modulus).all(|value| come_to(value) == added)
    }
}

/// Visits the uses of values in expressions.
impl CodeVisitor for LinearSetBuilder<'_> {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, left, right) = &expr.kind
            && let (Some((place, one)), Some((at, other))) = (self.on(left), self.on(right))
        {
            walk::place(self, place);
            walk::place(self, at);
            self.join(one, other);
            self.sum(one, left, None);
            return self.sum(other, right, None);
        }
        match expr_dependence(self.program, self.holders, expr) {
            ExprDependence::Nothing => {}
            ExprDependence::On(place, holder) => {
                self.mark_nonlinear(holder);
                walk::place(self, place);
            }
            ExprDependence::OnMore => {
                if let ExprKind::CanReceive(channel, patterns, _) = &expr.kind {
                    for id in channel.possible_channels(self.program) {
                        let fields = self.program.channels[id].fields.len();
                        for (number, pattern) in patterns.iter().enumerate().take(fields) {
                            if let ReceivePattern::Match(value) = pattern {
                                self.matched(self.holders.field(id, number), value);
                            }
                        }
                        for pattern in patterns.iter().skip(fields) {
                            if let ReceivePattern::Match(value) = pattern {
                                self.expr(value);
                            }
                        }
                    }
                    return walk::channel(self, channel);
                }
                walk::expr(self, expr);
            }
        }
    }
}

/// Returns whether any code starts a process.
fn starts_any(program: &Program) -> bool {
    let starts = |body: &[Stmt]| any_stmt(body, &|it| matches!(it, StmtKind::Run { .. }));
    program.actions.values().any(|it| starts(&it.body))
        || program.processes.values().any(|it| starts(&it.life.prologue))
}
