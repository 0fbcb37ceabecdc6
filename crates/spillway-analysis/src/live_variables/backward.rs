//! Liveness through code, backwards.
//!
//! A scalar is live before a statement if the statement reads it, or if it is live after the statement and not surely
//! overwritten. A store to a dead place that surely does not fail reads nothing. So a value that flows only into dead
//! places is dead itself (*strong* liveness; Giegerich, Möncke and Wilhelm 1981).

use super::bounds::{bounds, surely_stored};
use super::scalar_numbering::{PlaceScalars, ScalarNumbering};
use crate::bit_sets;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, Communication, Expr, ExprKind, FunctionId, Place, PlaceRoot, ProcessId, Program,
    ReceivePattern, Stmt, StmtKind,
};
use std::collections::BTreeSet;

/// A backward walk with the set of live scalars at its position.
pub(super) struct BackwardLiveness<'p> {
    pub program: &'p Program,
    pub scalars: &'p ScalarNumbering,
    /// The live scalars at the start of an instance of each process.
    pub begins: &'p [Vec<u64>],
    /// The scalars that others than the mover may read at any time.
    pub elsewhere: &'p [u64],
    /// The process that moves.
    pub mover: Option<ProcessId>,
    /// The live scalars at the end of the body.
    pub end: Vec<u64>,
    pub live: Vec<u64>,
}

impl<'p> BackwardLiveness<'p> {
    /// Creates a walk over code of no process. No scalar is live yet.
    pub fn new(
        program: &'p Program,
        scalars: &'p ScalarNumbering,
        begins: &'p [Vec<u64>],
        elsewhere: &'p [u64],
    ) -> BackwardLiveness<'p> {
        let none = vec![0; elsewhere.len()];
        BackwardLiveness {
            program,
            scalars,
            begins,
            elsewhere,
            mover: None,
            end: none.clone(),
            live: none,
        }
    }

    /// Walks back over an action: its body, its message, its guard.
    pub fn action(&mut self, action: &Action) {
        self.end.clone_from(&self.live);
        self.body(&action.body);
        action.communication.iter().for_each(|it| self.communication(it));
        action.guard.iter().for_each(|it| self.reads(it));
    }

    /// Walks back over statements.
    pub fn body(&mut self, body: &[Stmt]) {
        body.iter().rev().for_each(|stmt| self.stmt(stmt));
    }

    /// Adds the reads of an expression.
    pub fn reads(&mut self, expr: &Expr) {
        self.uses().expr(expr);
    }

    fn uses(&mut self) -> ReadScalars<'_> {
        ReadScalars {
            program: self.program,
            scalars: self.scalars,
            used: &mut self.live,
            functions: BTreeSet::new(),
        }
    }

    /// Adds the reads of the evaluation of a place.
    fn finds(&mut self, place: &Place) {
        walk::place(&mut self.uses(), place);
    }

    fn meant(&self, place: &Place) -> Option<PlaceScalars> {
        self.scalars.of_place(self.program, place)
    }

    /// Returns whether a place is surely dead, for the mover and all others.
    fn is_dead(&self, place: &Place) -> bool {
        let is_live = |at| bit_sets::has(&self.live, at) || bit_sets::has(self.elsewhere, at);
        self.meant(place).is_some_and(|mut it| !it.scalars.any(is_live))
    }

    /// Removes an overwritten place, and adds the reads of its evaluation.
    fn overwrites(&mut self, place: &Place) {
        if let Some(PlaceScalars { mut scalars, is_exact: true }) = self.meant(place) {
            scalars.by_ref().for_each(|at| bit_sets::remove_member(&mut self.live, at));
        }
        self.finds(place);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                let is_dead = self.is_dead(target);
                if !is_dead || !surely_stored(self.program, target, value, *overflow) {
                    self.overwrites(target);
                    self.reads(value);
                }
            }
            StmtKind::Copy { target, source } => {
                self.overwrites(target);
                self.uses().place(source, PlaceAccess::Read);
            }
            StmtKind::Undefine(place) | StmtKind::Clear(place) => self.overwrites(place),
            StmtKind::Communicate(communication) => self.communication(communication),
            StmtKind::Call { .. } => self.uses().stmt(stmt),
            StmtKind::Run { process, arguments, into } => {
                into.iter().for_each(|it| self.overwrites(it));
                bit_sets::extend(&mut self.live, &self.begins[process.0 as usize]);
                arguments.iter().for_each(|it| self.reads(it));
            }
            StmtKind::Exit => self.exit(),
            // Output appears only in counterexamples, which are replayed on the program as written.
            StmtKind::Print { values, .. } => {
                for value in values {
                    if bounds(self.program, value).is_none() {
                        self.reads(value);
                    }
                }
            }
            StmtKind::MultisetAdd { .. } | StmtKind::MultisetRemove { .. } => {
                walk::stmt(&mut self.uses(), stmt);
            }
            StmtKind::Assert { condition, .. } | StmtKind::Assume(condition) => {
                self.reads(condition);
            }
            StmtKind::Error(_) => {}
            _ => self.control(stmt),
        }
    }

    /// Walks back over statements that control the execution of others.
    fn control(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(branches) => {
                let is_whole = branches.last().is_some_and(|(condition, _)| condition.is_none());
                self.branches(branches.iter().map(|(_, body)| body.as_slice()), is_whole);
                branches.iter().flat_map(|(condition, _)| condition).for_each(|it| self.reads(it));
            }
            StmtKind::Switch(subject, branches) => {
                let is_whole = branches.last().is_some_and(|(values, _)| values.is_empty());
                self.branches(branches.iter().map(|(_, body)| body.as_slice()), is_whole);
                branches.iter().flat_map(|(values, _)| values).for_each(|it| self.reads(it));
                self.reads(subject);
            }
            StmtKind::For { first, last, step, body, .. } => {
                self.repeated(body, None);
                [first, last, step].into_iter().for_each(|it| self.reads(it));
            }
            StmtKind::ForEach { body, .. } => self.repeated(body, None),
            StmtKind::While { condition, body, .. } => self.repeated(body, Some(condition)),
            StmtKind::Declare { body, .. } => self.body(body),
            StmtKind::Alias { place, body, .. } => {
                self.body(body);
                self.uses().place(place, PlaceAccess::Read);
            }
            StmtKind::Return(value) => {
                self.live.clone_from(&self.end);
                value.iter().for_each(|it| self.reads(it));
            }
            _ => unreachable!("other statements do one thing"),
        }
    }

    /// Walks back over alternative bodies. At most one of them is executed.
    fn branches<'s>(&mut self, bodies: impl Iterator<Item = &'s [Stmt]>, is_whole: bool) {
        let after = self.live.clone();
        let mut before = if is_whole { vec![0; after.len()] } else { after.clone() };
        for body in bodies {
            self.live.clone_from(&after);
            self.body(body);
            bit_sets::extend(&mut before, &self.live);
        }
        self.live = before;
    }

    /// Walks back over a body that is executed any number of times, with a condition before each round and at the
    /// end.
    fn repeated(&mut self, body: &[Stmt], condition: Option<&Expr>) {
        condition.iter().for_each(|it| self.reads(it));
        loop {
            let before = self.live.clone();
            self.body(body);
            condition.iter().for_each(|it| self.reads(it));
            bit_sets::extend(&mut self.live, &before);
            if self.live == before {
                return;
            }
        }
    }

    /// Removes the mover's own scalars where it ends.
    pub fn exit(&mut self) {
        if let Some(mover) = self.mover {
            let own = self.scalars.of_process(self.program, mover);
            own.for_each(|at| bit_sets::remove_member(&mut self.live, at));
        }
    }

    /// Walks back over a send or a receive. Patterns are evaluated before anything is stored.
    fn communication(&mut self, communication: &Communication) {
        if let Communication::Receive { patterns, .. } = communication {
            for pattern in patterns.iter().rev() {
                if let ReceivePattern::Into(place) = pattern {
                    self.overwrites(place);
                }
            }
        }
        let mut uses = self.uses();
        uses.channel(communication.channel(), PlaceAccess::Read);
        match communication {
            Communication::Send { values, .. } => values.iter().for_each(|it| uses.expr(it)),
            Communication::Receive { patterns, .. } => {
                for pattern in patterns {
                    if let ReceivePattern::Match(value) = pattern {
                        uses.expr(value);
                    }
                }
            }
        }
    }
}

/// A visitor that collects the reads of code. It counts every named place as read, so it is for code that is not
/// walked statement by statement.
struct ReadScalars<'u> {
    program: &'u Program,
    scalars: &'u ScalarNumbering,
    used: &'u mut [u64],
    /// The functions whose bodies have been visited.
    functions: BTreeSet<FunctionId>,
}

impl ReadScalars<'_> {
    fn function(&mut self, id: FunctionId) {
        if self.functions.insert(id) {
            let program = self.program;
            walk::body(self, &program.functions[id].body);
        }
    }

    /// Visits the function that a statement calls.
    fn called(&mut self, stmt: &Stmt) {
        if let StmtKind::Call { function, .. } = &stmt.kind {
            self.function(*function);
        }
    }
}

impl CodeVisitor for ReadScalars<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.called(stmt);
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(function, _) = &expr.kind {
            self.function(*function);
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let Some(PlaceScalars { mut scalars, .. }) = self.scalars.of_place(self.program, place) {
            scalars.by_ref().for_each(|at| bit_sets::insert(self.used, at));
        }
        walk::place(self, place);
    }
}

/// A visitor that collects the scalars that code may write.
pub(super) struct WrittenScalars<'w> {
    pub program: &'w Program,
    pub scalars: &'w ScalarNumbering,
    pub written: &'w mut [u64],
    pub functions: BTreeSet<FunctionId>,
}

impl CodeVisitor for WrittenScalars<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Call { function, .. } = &stmt.kind
            && self.functions.insert(*function)
        {
            let program = self.program;
            walk::body(self, &program.functions[*function].body);
        }
        walk::stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: PlaceAccess) {
        if access == PlaceAccess::Write
            && let Some(PlaceScalars { mut scalars, .. }) =
                self.scalars.of_place(self.program, place)
        {
            scalars.by_ref().for_each(|at| bit_sets::insert(self.written, at));
        }
        walk::place(self, place);
    }
}

/// A visitor that collects the scalars of named instances, which may differ from the mover.
pub(super) struct RemoteScalars<'o> {
    pub scalars: &'o ScalarNumbering,
    pub named: &'o mut [u64],
}

impl CodeVisitor for RemoteScalars<'_> {
    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let (PlaceRoot::Variable(variable), Some(_)) = (place.root, &place.slot) {
            self.scalars.of(variable).for_each(|at| bit_sets::insert(self.named, at));
        }
        walk::place(self, place);
    }
}
