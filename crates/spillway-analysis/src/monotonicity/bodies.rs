//! The demands of actions, statements and properties.

use super::demands::MentionedVariables;
use super::place_monotonicity::fits;
use super::{DemandContext, DemandSolver, ValueOrder, VariableDemand};
use spillway_ir::text::NameScope;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    AssertionRule, Communication, Expr, ExprKind, Place, PlaceRoot, Program, PropertyKind,
    ReceivePattern, Stmt, StmtKind,
};

impl DemandSolver<'_> {
    /// Adds the demands of a program. The start is the same for all states, so it has no demands.
    pub(super) fn program(&mut self) {
        let program: &Program = self.program;
        for function in program.functions.values() {
            let scope = NameScope::of_function(function);
            self.context = DemandContext { name: function.name.clone(), scope };
            self.body(&function.body);
        }
        for (id, process) in program.processes.iter() {
            self.context =
                DemandContext { name: process.name.clone(), scope: NameScope::inside(id) };
            self.body(&process.life.prologue);
            process.life.provided.iter().for_each(|it| self.same(it, it));
        }
        for (id, action) in program.actions.iter() {
            self.context =
                DemandContext { name: action.name.clone(), scope: NameScope::of_action(action) };
            if let Some(guard) = &action.guard {
                match self.strict.has(program, id) {
                    true => self.same(guard, guard),
                    false => self.truth(guard, ValueOrder::AtLeast),
                }
            }
            action.communication.iter().for_each(|it| self.communication(it));
            self.body(&action.body);
        }
        for property in program.properties.values() {
            let scope = NameScope::of_property(property);
            self.context = DemandContext { name: property.name.clone(), scope };
            self.property(&property.kind);
        }
    }

    fn property(&mut self, kind: &PropertyKind) {
        match kind {
            PropertyKind::Invariant(condition) | PropertyKind::Cover(condition) => {
                self.kept(condition, self.looked_for.invariants);
            }
            PropertyKind::AssertionAt { condition, .. } => {
                self.kept(condition, self.looked_for.assertions);
            }
            PropertyKind::AtEnd(condition) if self.looked_for.deadlocks => {
                self.same(condition, condition);
            }
            PropertyKind::AtEnd(_) => {}
            PropertyKind::Constraint(condition) => self.same(condition, condition),
            // A state that violates an assumption is dropped.
            PropertyKind::Assumption(condition) => self.assumed(condition),
            // Dominance is not used with automata and claims.
            PropertyKind::Automaton(_) | PropertyKind::Claim(_) | PropertyKind::Reached => {}
        }
    }

    /// Demands that a condition that fails in the other state fails in the better one. Its evaluation may fail, too:
    /// this error is found whether the condition is checked or not.
    fn kept(&mut self, condition: &Expr, is_looked_for: bool) {
        match (is_looked_for, self.values.may_fail(condition)) {
            (true, _) => self.truth(condition, ValueOrder::AtMost),
            (false, true) => self.same(condition, condition),
            (false, false) => {}
        }
    }

    /// Demands that an assumption that holds in the other state holds in the better one.
    fn assumed(&mut self, condition: &Expr) {
        match self.strict.has_all() {
            true => self.same(condition, condition),
            false => self.truth(condition, ValueOrder::AtLeast),
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.statement(stmt));
    }

    /// Adds the demands of a statement. The same statements must be executed in both states.
    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, .. } => self.assign(target, value),
            StmtKind::Copy { target, source } => {
                self.renamed(target);
                self.renamed(source);
            }
            StmtKind::Alias { place, .. } => self.renamed(place),
            StmtKind::Assume(condition) => self.assumed(condition),
            StmtKind::Cover { condition, .. } => self.same(condition, condition),
            StmtKind::Assert { condition, .. } => match self.program.assertions {
                // The step continues after a failed assertion.
                AssertionRule::Continue => self.kept(condition, self.looked_for.assertions),
                AssertionRule::Stop => self.same(condition, condition),
            },
            StmtKind::If(branches) => {
                branches.iter().filter_map(|it| it.0.as_ref()).for_each(|it| self.same(it, it));
            }
            StmtKind::Switch(subject, branches) => {
                self.same(subject, subject);
                branches.iter().flat_map(|it| &it.0).for_each(|it| self.same(it, it));
            }
            StmtKind::For { first, last, step, .. } => {
                [first, last, step].into_iter().for_each(|it| self.same(it, it));
            }
            StmtKind::While { condition, .. } => self.same(condition, condition),
            StmtKind::Call { arguments, into, .. } => {
                arguments.iter().for_each(|it| self.argument(it));
                into.iter().for_each(|it| self.target(it));
            }
            StmtKind::Return(value) => value.iter().for_each(|it| self.same(it, it)),
            // All scalars of the place get the same value.
            StmtKind::Undefine(place) | StmtKind::Clear(place) => self.target(place),
            StmtKind::Communicate(communication) => self.communication(communication),
            StmtKind::Run { arguments, into, .. } => {
                arguments.iter().for_each(|it| self.same(it, it));
                into.iter().for_each(|it| self.target(it));
            }
            // Output is no part of the state.
            StmtKind::Print { values, .. } => {
                let fails: Vec<&Expr> =
                    values.iter().filter(|it| self.values.may_fail(it)).collect();
                fails.into_iter().for_each(|it| self.same(it, it));
            }
            StmtKind::MultisetAdd { .. } | StmtKind::MultisetRemove { .. } => {
                let mut reads = MentionedVariables::default();
                walk::stmt(&mut reads, stmt);
                for id in reads.variables {
                    self.rule_out(id, "it is in a multiset, or is an index of one");
                }
            }
            StmtKind::ForEach { .. }
            | StmtKind::Declare { .. }
            | StmtKind::Error(_)
            | StmtKind::Exit => {}
        }
        stmt.kind.bodies().for_each(|it| self.body(it));
    }

    fn assign(&mut self, target: &Place, value: &Expr) {
        self.target(target);
        if value.kind == ExprKind::Undefined {
            return;
        }
        let of = match target.root {
            PlaceRoot::Variable(id) => &self.of[id],
            PlaceRoot::Local(_) => return self.same(value, value),
        };
        match of {
            VariableDemand::Better(sense) if fits(self.program, self.values, target, value) => {
                self.value(value, sense.order());
            }
            VariableDemand::Free => self.free(value),
            VariableDemand::Better(_) | VariableDemand::Same(_) => self.same(value, value),
        }
    }

    /// Adds the demands of a value without an order: its evaluation must fail in both states or in none.
    fn free(&mut self, value: &Expr) {
        if self.values.may_fail(value) {
            self.same(value, value);
        }
    }

    /// Demands that a written place is the same.
    fn target(&mut self, place: &Place) {
        let mut reads = MentionedVariables::default();
        walk::place(&mut reads, place);
        if let Some(id) = reads.variables.first() {
            let cause = Expr::new(ExprKind::Read(Place::variable(*id, place.span)), place.span);
            self.way(place, &cause);
        }
    }

    fn communication(&mut self, communication: &Communication) {
        let mut reads = MentionedVariables::default();
        reads.channel(communication.channel(), PlaceAccess::Read);
        for id in reads.variables {
            self.rule_out(id, "it selects a channel");
        }
        match communication {
            Communication::Send { values, .. } => values.iter().for_each(|it| self.same(it, it)),
            Communication::Receive { patterns, .. } => {
                for pattern in patterns {
                    match pattern {
                        // The received value is the same.
                        ReceivePattern::Into(place) => self.target(place),
                        ReceivePattern::Match(value) => self.same(value, value),
                        ReceivePattern::Any => {}
                    }
                }
            }
        }
    }
}
