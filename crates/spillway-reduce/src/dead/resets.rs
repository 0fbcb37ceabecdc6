//! The rewriting pass: actions reset the variables that are dead after them.

use spillway_analysis::live_variables::{DeadScalars, JointlyDeadScalar, ScalarNumbering};
use spillway_base::source::Span;
use spillway_ir::walk::any_stmt;
use spillway_ir::{
    Action, ActionId, Expr, ExprKind, OverflowRule, Place, PlaceSelector, Program, Stmt, StmtKind,
    Type, TypeId, UnaryOp, VarId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Adds to each action of a program, and to each start, resets of the scalars that are dead after it. Returns the
/// number of resets.
pub(super) fn add_resets(program: &mut Program, dead: &DeadScalars) -> usize {
    let ids: Vec<_> = program.actions.keys().collect();
    let mut count = 0;
    for id in ids {
        let action = &program.actions[id];
        // When a process ends, its variables disappear; nothing else is dead.
        if ends_its_mover(action) {
            continue;
        }
        let resets = statements(program, dead.scalars(), &dead.dead_after(id, action), action.span);
        let (more, others) = joint_resets(program, dead, id);
        count += resets.len() + others;
        program.actions[id].body.extend(resets.into_iter().chain(more));
    }
    for number in 0..program.starts.len() {
        let start = &program.starts[number];
        let dead_behind = dead.dead_after_start(program, start);
        let resets = statements(program, dead.scalars(), &dead_behind, start.span);
        program.starts[number].body.extend(resets);
    }
    count
}

/// Returns the resets after an action of scalars that are dead if other processes are at certain locations, and their
/// number.
fn joint_resets(program: &Program, dead: &DeadScalars, id: ActionId) -> (Vec<Stmt>, usize) {
    let action = &program.actions[id];
    let (span, mut groups) = (action.span, BTreeMap::<_, Vec<usize>>::new());
    for JointlyDeadScalar { scalar, live } in dead.jointly_dead_after(program, id, action) {
        groups.entry(live).or_default().push(scalar);
    }
    let (mut found, mut count) = (Vec::new(), 0);
    for (live, scalars) in groups {
        let resets = statements(program, dead.scalars(), &scalars, span);
        count += resets.len();
        let condition = program
            .any_instance_at(live, span)
            .map(|it| Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(it)), span));
        match condition {
            None => found.extend(resets),
            Some(_) => found.push(Stmt { kind: StmtKind::If(vec![(condition, resets)]), span }),
        }
    }
    (found, count)
}

fn ends_its_mover(action: &Action) -> bool {
    any_stmt(&action.body, &|it| matches!(it, StmtKind::Exit))
}

/// Returns statements that reset some scalars. A variable is reset at once if all of it is dead.
pub(crate) fn statements(
    program: &Program,
    numbers: &ScalarNumbering,
    scalars: &[usize],
    span: Span,
) -> Vec<Stmt> {
    let mut of: BTreeMap<VarId, BTreeSet<u32>> = BTreeMap::new();
    for &scalar in scalars {
        let (variable, at) = numbers.variable(scalar);
        of.entry(variable).or_default().insert(at);
    }
    let resets = of.into_iter().flat_map(|(variable, wanted)| {
        let place = Place::variable(variable, span);
        let (ty, first) = (program.variables[variable].ty, &program.variables[variable].initial);
        let mut found = Vec::new();
        ResetBuilder { program, first, wanted: &wanted, span, found: &mut found }.at(place, ty, 0);
        found
    });
    resets.collect()
}

/// Builds the resets of some scalars of a variable.
struct ResetBuilder<'r> {
    program: &'r Program,
    /// The first value of each scalar of the variable.
    first: &'r [Option<i64>],
    wanted: &'r BTreeSet<u32>,
    span: Span,
    found: &'r mut Vec<Stmt>,
}

impl ResetBuilder<'_> {
    /// Resets the scalars of a part of the variable, which starts with scalar `at`.
    fn at(&mut self, place: Place, ty: TypeId, at: u32) {
        let all = at..at + self.program.scalars(ty);
        match self.wanted.range(all.clone()).count() {
            0 => {}
            count if count == all.len() => match self.at_once(&place, ty, &all) {
                Some(kind) => self.found.push(Stmt { kind, span: self.span }),
                None => self.within(&place, ty, at),
            },
            _ => self.within(&place, ty, at),
        }
    }

    /// Returns the statement that resets a whole part, if there is one.
    fn at_once(&self, place: &Place, ty: TypeId, all: &Range<u32>) -> Option<StmtKind> {
        let first = &self.first[all.start as usize..all.end as usize];
        let target = place.clone();
        if let Type::Scalar(_) = self.program.types[ty] {
            let kind = first[0].map_or(ExprKind::Undefined, ExprKind::Constant);
            let value = Expr::new(kind, self.span);
            return Some(StmtKind::Assign { target, value, overflow: OverflowRule::Fails });
        }
        let (mut least, mut undefined) = (Vec::new(), Vec::new());
        self.cleared(ty, &mut least, &mut undefined);
        match first {
            first if first == least => Some(StmtKind::Clear(target)),
            first if first == undefined => Some(StmtKind::Undefine(target)),
            _ => None,
        }
    }

    /// Appends the values of the scalars of a type after clearing, and after becoming undefined. Where one is
    /// impossible, the value is no first value.
    fn cleared(&self, ty: TypeId, least: &mut Vec<Option<i64>>, undefined: &mut Vec<Option<i64>>) {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => {
                let (low, _) = self.program.bounds(&scalar.domain);
                least.push(Some(low));
                undefined.push(if scalar.undefined { None } else { Some(i64::MIN) });
            }
            Type::Array { length, element, .. } => {
                (0..*length).for_each(|_| self.cleared(*element, least, undefined));
            }
            Type::Record { fields, .. } => {
                fields.iter().for_each(|(_, ty)| self.cleared(*ty, least, undefined));
            }
            // Values alone do not say that a multiset is empty.
            Type::Multiset { .. } => {
                let count = self.program.scalars(ty) as usize;
                least.extend(vec![Some(i64::MIN); count]);
                undefined.extend(vec![Some(i64::MIN); count]);
            }
        }
    }

    /// Resets parts of a part.
    fn within(&mut self, place: &Place, ty: TypeId, at: u32) {
        let program = self.program;
        let inner = |selector| {
            let mut place = place.clone();
            place.path.push(selector);
            place
        };
        match &program.types[ty] {
            Type::Array { low, length, element, .. } => {
                for number in 0..*length {
                    let index = Expr::constant(low + i64::from(number), self.span);
                    let first = at + number * program.scalars(*element);
                    self.at(inner(PlaceSelector::Index(index)), *element, first);
                }
            }
            Type::Record { fields, .. } => {
                let mut first = at;
                for (number, (_, ty)) in fields.iter().enumerate() {
                    self.at(inner(PlaceSelector::Field(number as u32)), *ty, first);
                    first += program.scalars(*ty);
                }
            }
            Type::Scalar(_) | Type::Multiset { .. } => {}
        }
    }
}
