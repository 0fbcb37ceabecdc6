//! Outlining of expressions that need statements into functions.
//!
//! No statement can precede a guard, an invariant, the body of a quantifier or a branch of `c ? a : b`. Such an
//! expression needs statements if it calls a function that returns an aggregate, or has a quantifier with unknown
//! bounds. Then its statements and its value become a function of the program. The function takes the locals that it
//! uses: values by value, places by reference. It has no side effects, so the expression becomes its call.

use super::super::ast::MurphiExpr as Tree;
use super::constant_folding::unary;
use super::expressions::QuantifiedCondition;
use super::sorts::ScalarSort;
use super::{HoistPolicy, LocalKind, MurphiLowering, MurphiMeaning, prepend_hoisted};
use spillway_base::source::Span;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    CallArgument, Expr, ExprKind, Function, FunctionParameter, LocalId, Place, PlaceRoot,
    Quantifier as Which, Stmt, StmtKind, UnaryOp,
};
use std::collections::BTreeSet;

impl<'a> MurphiLowering<'a, '_> {
    /// Lowers a condition that no statement can precede.
    pub(super) fn pure_condition(&mut self, tree: &Tree<'a>) -> Option<Expr> {
        self.pure_value_as(tree, &ScalarSort::Bool)
    }

    /// Lowers an expression that no statement can precede, converted to this sort.
    pub(super) fn pure_value_as(&mut self, tree: &Tree<'a>, sort: &ScalarSort) -> Option<Expr> {
        let value = self.outline_expression(tree.span, |it| {
            it.value_as(tree, sort).map(|value| (value, sort.clone()))
        });
        value.map(|(value, _)| value)
    }

    /// Lowers an expression. If items must run before it, they and the expression become a function.
    pub(super) fn outline_expression(
        &mut self,
        span: Span,
        inside: impl FnOnce(&mut Self) -> Option<(Expr, ScalarSort)>,
    ) -> Option<(Expr, ScalarSort)> {
        let outer = std::mem::take(&mut self.body.hoisted);
        let hoists = std::mem::replace(&mut self.body.hoists, HoistPolicy::Unchanging);
        let lowered = inside(self);
        self.body.hoists = hoists;
        let hoisted = std::mem::replace(&mut self.body.hoisted, outer);
        let (value, sort) = lowered?;
        if hoisted.is_empty() {
            return Some((value, sort));
        }
        let returned = Stmt { kind: StmtKind::Return(Some(value)), span };
        let value = self.function_of(prepend_hoisted(hoisted, vec![returned]), &sort, span);
        Some((value, sort))
    }

    /// Lowers a quantifier with unknown bounds to a loop that ends at the first value that decides the result.
    pub(super) fn quantifier_loop(
        &mut self,
        condition: QuantifiedCondition<'_, 'a>,
        [first, last, step]: [Expr; 3],
    ) -> Option<Expr> {
        let QuantifiedCondition { which, quantifiers, span, .. } = condition;
        let name = quantifiers[0].name;
        let numbers = self.widest_type(&ScalarSort::Number);
        let local = self.fresh(LocalKind::Value(numbers));
        let value = Expr::new(ExprKind::Local(local), name.span);
        self.declare(name, MurphiMeaning::Value(value, ScalarSort::Number));
        let condition = self.lower_quantifier(condition.inner());
        let (decides, decided) = match which {
            Which::All => (unary(UnaryOp::Not, condition?, span), 0),
            Which::Some => (condition?, 1),
        };
        let returned = |value| {
            let value = Expr::constant(value, span);
            Stmt { kind: StmtKind::Return(Some(value)), span }
        };
        let ends = StmtKind::If(vec![(Some(decides), vec![returned(decided)])]);
        let body = vec![Stmt { kind: ends, span }];
        let loop_ = Stmt { kind: StmtKind::For { local, first, last, step, body }, span };
        Some(self.function_of(vec![loop_, returned(1 - decided)], &ScalarSort::Bool, span))
    }

    /// Returns a call of a new function with this body, which returns a value of this sort.
    fn function_of(&mut self, body: Vec<Stmt>, sort: &ScalarSort, span: Span) -> Expr {
        let result = self.widest_type(sort);
        let mut names = LocalUses::default();
        walk::body(&mut names, &body);
        let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
        for &local in names.used.difference(&names.bound) {
            let kind = self.body.kinds[local.0 as usize];
            let (ty, by_reference) = match kind {
                LocalKind::Value(ty) => (ty, false),
                LocalKind::Place(ty) => (ty, true),
            };
            arguments.push(match by_reference {
                true => CallArgument::Reference(Place::local(local, span)),
                false => CallArgument::Value(Expr::new(ExprKind::Local(local), span)),
            });
            if !by_reference {
                self.keep_local(ty, span);
            }
            parameters.push(FunctionParameter { local, name: String::new(), ty, by_reference });
        }
        let name = format!("expression of line {}", self.report.line(span));
        let result = Some(result);
        let function = Function { name, parameters, result, body, whole: false, span };
        let id = self.add_function(function);
        Expr::new(ExprKind::Call(id, arguments), span)
    }
}

/// The locals that code uses, and those that it binds.
#[derive(Default)]
struct LocalUses {
    used: BTreeSet<LocalId>,
    bound: BTreeSet<LocalId>,
}

impl CodeVisitor for LocalUses {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::For { local, .. }
        | StmtKind::ForEach { local, .. }
        | StmtKind::Declare { local, .. }
        | StmtKind::Alias { local, .. } = &stmt.kind
        {
            self.bound.insert(*local);
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local) => drop(self.used.insert(*local)),
            ExprKind::Quantified { local, .. } | ExprKind::Count { local, .. } => {
                self.bound.insert(*local);
            }
            _ => {}
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let PlaceRoot::Local(local) = place.root {
            self.used.insert(local);
        }
        walk::place(self, place);
    }
}
