//! Constant locals of processes: locals that get a value when an instance starts, and no other value.
//!
//! Parameters often give a process its channels or its identity. Such a local is constant from the start of an
//! instance to its end: its value in one state is its value in all later states.

use crate::variable_mentions::VariableMentions;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    ChannelRef, Communication, Expr, ExprKind, Owner, Place, PlaceRoot, PlaceSelector, Program,
    Stmt, StmtKind, Type, VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the scalar locals of processes that no action writes. Only the statement that starts an instance and the
/// instance's own prologue write them.
pub fn constants(program: &Program) -> Vec<VarId> {
    let mut stores = VariableMentions::default();
    program.actions.values().for_each(|action| walk::action(&mut stores, action));
    program.functions.values().for_each(|function| walk::body(&mut stores, &function.body));
    if stores.writes_by_name {
        return Vec::new();
    }
    let is_constant = |id: &VarId| {
        let variable = &program.variables[*id];
        let is_scalar = matches!(program.types[variable.ty], Type::Scalar(_));
        is_scalar && variable.owner != Owner::Program && !stores.writes.contains(id)
    };
    program.variables.keys().filter(is_constant).collect()
}

/// Returns the constants whose values are useful for the analysis.
///
/// Some constants determine what steps access, or which steps exist. They are part of an index, denote a channel or a
/// process, are passed on, are matched with messages, or are the only variables of a condition. Other constants are
/// always started with literal numbers, so they are the same in every run. The remaining constants are only compared
/// with variables and stored. Their values help little, and there may be as many combinations as runs.
pub fn relevant_constants(program: &Program, constants: &[VarId]) -> Vec<VarId> {
    let all: BTreeSet<VarId> = constants.iter().copied().collect();
    let (found, given) = (BTreeSet::new(), BTreeMap::new());
    let mut telling = RelevantConstantFinder { program, all: &all, found, given, whole: false };
    for action in program.actions.values() {
        action.guard.iter().for_each(|guard| telling.asked(guard));
        walk::action(&mut telling, action);
    }
    program.functions.values().for_each(|it| walk::body(&mut telling, &it.body));
    program.processes.values().for_each(|it| walk::body(&mut telling, &it.life.prologue));
    let is_worth = |it: &VarId| telling.found.contains(it) || telling.given.get(it) == Some(&true);
    constants.iter().copied().filter(is_worth).collect()
}

/// A search for relevant constants.
struct RelevantConstantFinder<'c> {
    program: &'c Program,
    all: &'c BTreeSet<VarId>,
    found: BTreeSet<VarId>,
    /// For each variable that gets a value, whether it is always a literal number.
    given: BTreeMap<VarId, bool>,
    /// Whether every constant at this point is relevant.
    whole: bool,
}

impl RelevantConstantFinder<'_> {
    /// Visits code in which every constant is relevant.
    fn with_all_relevant(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.whole, true);
        visit(self);
        self.whole = before;
    }

    /// Records a value that a variable gets.
    fn given(&mut self, variable: VarId, value: &Expr) {
        let is_number = matches!(value.kind, ExprKind::Constant(_));
        *self.given.entry(variable).or_insert(true) &= is_number;
    }

    /// Visits a condition. If it depends on constants only, all of them are relevant.
    fn asked(&mut self, condition: &Expr) {
        if self.is_known(condition) {
            self.with_all_relevant(|it| it.expr(condition));
        }
    }

    /// Returns whether an expression is known if the constants are.
    fn is_known(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Self_ => true,
            ExprKind::Read(Place { root: PlaceRoot::Variable(it), slot: None, path, .. }) => {
                path.is_empty() && self.all.contains(it)
            }
            ExprKind::Unary(_, operand) => self.is_known(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => {
                self.is_known(left) && self.is_known(right)
            }
            _ => false,
        }
    }
}

impl CodeVisitor for RelevantConstantFinder<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(branches) => {
                branches.iter().flat_map(|it| &it.0).for_each(|it| self.asked(it));
                walk::stmt(self, stmt);
            }
            StmtKind::While { condition, .. } | StmtKind::Assert { condition, .. } => {
                self.asked(condition);
                walk::stmt(self, stmt);
            }
            StmtKind::Switch(subject, _) => {
                self.asked(subject);
                walk::stmt(self, stmt);
            }
            StmtKind::Run { process, arguments, .. } => {
                let parameters = &self.program.processes[*process].parameters;
                parameters.iter().zip(arguments).for_each(|(&it, value)| self.given(it, value));
                self.with_all_relevant(|it| walk::stmt(it, stmt));
            }
            StmtKind::Call { .. } => self.with_all_relevant(|it| walk::stmt(it, stmt)),
            StmtKind::Assign {
                target: Place { root: PlaceRoot::Variable(target), .. },
                value,
                ..
            } => {
                self.given(*target, value);
                walk::stmt(self, stmt);
            }
            _ => walk::stmt(self, stmt),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Same(..)
                if self.is_known(expr) =>
            {
                self.with_all_relevant(|it| walk::expr(it, expr));
            }
            ExprKind::Read(_) | ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Same(..) => {
                walk::expr(self, expr);
            }
            ExprKind::Conditional(condition, ..) => {
                self.asked(condition);
                walk::expr(self, expr);
            }
            _ => self.with_all_relevant(|it| walk::expr(it, expr)),
        }
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let PlaceRoot::Variable(variable) = place.root
            && self.whole
            && self.all.contains(&variable)
        {
            self.found.insert(variable);
        }
        let is_part = place.slot.is_some()
            || place.path.iter().any(|it| matches!(it, PlaceSelector::Index(_)));
        if is_part {
            self.with_all_relevant(|it| walk::place(it, place));
        }
    }

    fn channel(&mut self, channel: &ChannelRef, _: PlaceAccess) {
        self.with_all_relevant(|it| walk::channel(it, channel));
    }

    fn communication(&mut self, communication: &Communication) {
        match communication {
            Communication::Send { channel, values, .. } => {
                self.channel(channel, PlaceAccess::Write);
                values.iter().for_each(|it| self.expr(it));
            }
            Communication::Receive { .. } => {
                self.with_all_relevant(|it| walk::communication(it, communication));
            }
        }
    }
}
