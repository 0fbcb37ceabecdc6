//! Failures of statements, and the facts after them.

use super::{AbstractState, FailureAnalysis, FunctionResult};
use crate::access::cell_set::CellSet;
use crate::access::collector::ResolvedPlace;
use spillway_ir::interval::{Interval, hull, is_none};
use spillway_ir::layout::CellId;
use spillway_ir::{
    AssertionRule, CallArgument, Expr, ExprKind, OverflowRule, Place, Stmt, StmtKind, Type, TypeId,
};

/// A resolved place with its type.
#[derive(Clone, Copy)]
pub(super) struct StoreTarget<'p> {
    pub place: &'p ResolvedPlace,
    pub ty: TypeId,
}

impl FailureAnalysis<'_> {
    /// Analyses statements as far as they are reachable.
    pub fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            if self.of.state.is_unreachable() {
                return;
            }
            self.stmt(stmt);
        }
    }

    /// Analyses the body of an action, which a statement may leave early.
    pub fn whole_body(&mut self, body: &[Stmt]) {
        self.left = AbstractState::unreachable();
        self.body(body);
        let left = std::mem::replace(&mut self.left, AbstractState::unreachable());
        self.of.state.join(left);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                self.place(target);
                let undefined = self.possibly_undefined(value);
                self.store(target, value, undefined, *overflow);
            }
            StmtKind::Copy { target, source } => {
                self.place(target);
                self.place(source);
                let (to, from) = (self.of.resolve_place(target), self.of.resolve_place(source));
                self.copy_cells(&from, &to);
            }
            StmtKind::Undefine(place) => {
                self.place(place);
                let cells = self.of.cells_of(place);
                self.of.state.forget_all(&cells);
                self.undefined.extend(&cells);
            }
            StmtKind::Clear(place) => self.clear(place),
            StmtKind::MultisetAdd { multiset, element } => self.add_element(multiset, element),
            StmtKind::MultisetRemove { multiset, position } => {
                self.place(multiset);
                self.expr(position);
                self.has_element(multiset, position);
                let cells = self.of.cells_of(multiset);
                self.of.state.forget_all(&cells);
            }
            StmtKind::Call { function, arguments, into } => {
                let FunctionResult { values, undefined } = self.call(*function, arguments);
                if self.of.program().functions[*function].whole {
                    let written = self.of.written_by(std::slice::from_ref(stmt));
                    self.of.state.forget_all(&written);
                    self.undefined.extend(&written);
                }
                if let Some(place) = into {
                    self.place(place);
                    self.store_values(place, values, undefined, OverflowRule::Fails);
                }
            }
            StmtKind::Print { .. } => {}
            StmtKind::Error(_) => {
                self.add_failure();
                self.of.state = AbstractState::unreachable();
            }
            StmtKind::Assert { condition, .. } => self.assertion(condition),
            StmtKind::Communicate(_) | StmtKind::Run { .. } | StmtKind::Exit => self.turn(stmt),
            _ => self.control(stmt),
        }
    }

    /// Analyses sends, receives, and the start and end of processes.
    fn turn(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Communicate(communication) => {
                // The message may block.
                self.add_failure();
                self.readiness(communication);
                self.exchange(communication);
            }
            StmtKind::Run { arguments, .. } => {
                // There may be no free slot.
                self.add_failure();
                arguments.iter().for_each(|it| self.expr(it));
            }
            _ => {}
        }
        self.forget_written(std::slice::from_ref(stmt));
    }

    fn add_element(&mut self, multiset: &Place, element: &CallArgument) {
        self.place(multiset);
        // The multiset may be full.
        self.add_failure();
        let ty = self.of.place_type(multiset);
        let Type::Multiset { element: ty, .. } = self.of.program().types[ty] else { return };
        let to = self.of.empty_place(ty);
        if self.give(element, &to, ty) {
            let cells = self.of.cells_of(multiset);
            self.undefined.extend(&cells);
        }
    }

    /// Analyses statements that control the execution of others.
    fn control(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(branches) => self.branches(branches),
            StmtKind::Switch(subject, branches) => self.switch(subject, branches),
            StmtKind::For { local, first, last, step, body } => {
                [first, last, step].into_iter().for_each(|it| self.expr(it));
                let (least, most) = self.of.values(step);
                self.add_failure_if(least <= 0 && 0 <= most);
                let values = hull(self.of.values(first), self.of.values(last));
                self.of.bind_values(*local, values);
                self.repeated(None, body);
            }
            StmtKind::ForEach { local, over, body } => {
                let (low, high) = self.of.bounds(*over);
                if high.saturating_sub(low) < i64::from(self.rounds) {
                    return self.unrolled(*local, (low, high), body);
                }
                self.of.bind_values(*local, (low, high));
                self.repeated(None, body);
            }
            StmtKind::While { condition, body, .. } => {
                // The loop may have too many rounds.
                self.add_failure();
                self.repeated(Some(condition), body);
            }
            StmtKind::Declare { local, ty, body, .. } => {
                let spot = self.of.fresh(*ty);
                self.of.bind_place(*local, spot);
                self.body(body);
            }
            StmtKind::Alias { local, place, body, .. } => {
                self.place(place);
                let spot = self.of.resolve_place(place);
                self.of.bind_place(*local, spot);
                self.body(body);
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    let undefined = self.possibly_undefined(value);
                    let values = match value.kind {
                        ExprKind::Undefined => spillway_ir::interval::NONE,
                        _ => self.of.values(value),
                    };
                    self.return_values(values, undefined);
                }
                let here = std::mem::replace(&mut self.of.state, AbstractState::unreachable());
                self.left.join(here);
            }
            StmtKind::Assume(condition) => {
                self.expr(condition);
                self.assume(condition, true);
            }
            _ => unreachable!("other statements do one thing"),
        }
    }

    /// Adds a result of the current function. A value outside its range is an error.
    fn return_values(&mut self, values: Interval, undefined: bool) {
        let fits = self.bounds.is_none_or(|(low, high)| low <= values.0 && values.1 <= high);
        self.add_failure_if(!is_none(values) && !fits);
        self.result.values = hull(self.result.values, values);
        self.result.undefined |= undefined;
    }

    fn assertion(&mut self, condition: &Expr) {
        self.expr(condition);
        let before = self.of.state.clone();
        let (low, high) = self.of.values(condition);
        if low <= 0 && 0 <= high {
            self.assume(condition, false);
            self.found.assertion |= !self.of.state.is_unreachable();
        }
        self.of.state = before;
        if self.of.program().assertions == AssertionRule::Stop {
            self.assume(condition, true);
        }
    }

    fn branches(&mut self, branches: &[(Option<Expr>, Vec<Stmt>)]) {
        let mut after = AbstractState::unreachable();
        for (condition, body) in branches {
            let mut other = AbstractState::unreachable();
            if let Some(condition) = condition {
                self.expr(condition);
                other = self.of.state.clone();
                self.assume(condition, true);
            }
            self.body(body);
            after.join(std::mem::replace(&mut self.of.state, other));
            if let Some(condition) = condition {
                self.assume(condition, false);
            }
        }
        after.join(std::mem::take(&mut self.of.state));
        self.of.state = after;
    }

    fn switch(&mut self, subject: &Expr, branches: &[(Vec<Expr>, Vec<Stmt>)]) {
        self.expr(subject);
        let mut after = AbstractState::unreachable();
        let mut is_complete = false;
        for (values, body) in branches {
            values.iter().for_each(|it| self.expr(it));
            let before = self.of.state.clone();
            if let [value] = values.as_slice() {
                self.assume_equal(subject, value);
            }
            self.body(body);
            after.join(std::mem::replace(&mut self.of.state, before));
            is_complete |= values.is_empty();
        }
        if !is_complete {
            after.join(std::mem::take(&mut self.of.state));
        }
        self.of.state = after;
    }

    /// Analyses a body that is executed any number of times. The cells that it writes are unknown at its beginning
    /// and after it.
    fn repeated(&mut self, condition: Option<&Expr>, body: &[Stmt]) {
        self.forget_written(body);
        condition.into_iter().for_each(|it| self.expr(it));
        let before = self.of.state.clone();
        condition.into_iter().for_each(|it| self.assume(it, true));
        self.body(body);
        self.of.state = before;
        condition.into_iter().for_each(|it| self.assume(it, false));
    }

    /// Analyses a body that is executed once for each value, by walking it for each value.
    fn unrolled(&mut self, local: spillway_ir::LocalId, (low, high): Interval, body: &[Stmt]) {
        for value in low..=high {
            self.rounds = self.rounds.saturating_sub(1);
            self.of.bind_value(local, value);
            self.body(body);
        }
    }

    /// Forgets the facts about all cells that statements may write.
    fn forget_written(&mut self, body: &[Stmt]) {
        let written = self.of.written_by(body);
        self.of.state.forget_all(&written);
    }

    fn clear(&mut self, place: &Place) {
        self.place(place);
        let (spot, ty) = (self.of.resolve_place(place), self.of.place_type(place));
        let cells = self.of.cells_of(place);
        let Some(first) = spot.only_start() else {
            // Only one of several places is cleared: each keeps its value or gets the least one.
            return self.of.state.forget_all(&cells);
        };
        self.of.state.forget_all(&cells);
        let mut least = Vec::new();
        self.of.each_scalar(ty, first, &mut |cell, low| least.push((cell, low)));
        least.into_iter().for_each(|(cell, low)| self.of.state.set(cell, (low, low)));
    }

    /// Stores a value, which may be undefined, in a place.
    fn store(&mut self, target: &Place, value: &Expr, undefined: bool, overflow: OverflowRule) {
        let place = &self.of.resolve_place(target);
        let ty = self.of.place_type(target);
        self.store_in(StoreTarget { place, ty }, value, undefined, overflow);
    }

    /// Stores a value in a resolved place.
    pub(super) fn store_in(
        &mut self,
        target: StoreTarget<'_>,
        value: &Expr,
        undefined: bool,
        overflow: OverflowRule,
    ) {
        let values = match value.kind {
            ExprKind::Undefined => spillway_ir::interval::NONE,
            _ => self.of.values(value),
        };
        self.put(target, values, undefined, overflow);
    }

    /// Stores one of several values, or an undefined value, in a place.
    pub(super) fn store_values(
        &mut self,
        target: &Place,
        values: Interval,
        undefined: bool,
        overflow: OverflowRule,
    ) {
        let place = &self.of.resolve_place(target);
        let ty = self.of.place_type(target);
        self.put(StoreTarget { place, ty }, values, undefined, overflow);
    }

    fn put(
        &mut self,
        target: StoreTarget<'_>,
        values: Interval,
        undefined: bool,
        overflow: OverflowRule,
    ) {
        let StoreTarget { place: spot, ty } = target;
        let (low, high) = self.of.bounds(ty);
        let fits = is_none(values) || (low <= values.0 && values.1 <= high);
        self.add_failure_if(!fits && overflow == OverflowRule::Fails);
        self.add_failure_if(undefined && !self.of.may_be_undefined(ty));
        let stored = match overflow {
            _ if fits => values,
            OverflowRule::Wraps => (low, high),
            OverflowRule::Fails => (values.0.max(low), values.1.min(high)),
        };
        let cells = self.of.cells(spot);
        self.of.state.forget_elements(&cells);
        if undefined {
            self.undefined.extend(&cells);
        }
        match spot.only_start() {
            Some(cell) if undefined => self.of.state.forget(cell),
            // If no value fits, the point after the store is unreachable.
            Some(cell) => self.of.state.set(cell, stored),
            None if undefined || is_none(stored) => self.of.state.forget_all(&cells),
            None => self.of.state.widen(&cells, stored),
        }
    }

    /// Copies a place to another one of the same shape. Returns whether any of the copy may be undefined.
    pub(super) fn copy_cells(&mut self, from: &ResolvedPlace, to: &ResolvedPlace) -> bool {
        let (source, target) = (self.of.cells(from), self.of.cells(to));
        let known = from.only_start().zip(to.only_start());
        let count = self.of.size(to);
        let held: Vec<Option<Interval>> = match known {
            Some((from, _)) => (from..from + count).map(|it| self.of.defined_values(it)).collect(),
            None => Vec::new(),
        };
        let source_undefined =
            known.is_none() && source.iter().any(|CellId(it)| self.of.defined_values(it).is_none());
        self.of.state.forget_all(&target);
        let Some((_, to)) = known else {
            if source_undefined {
                self.undefined.extend(&target);
            }
            return source_undefined;
        };
        let mut undefined = CellSet::default();
        for (at, held) in (to..to + count).zip(&held) {
            match held {
                Some(held) => self.of.state.set(at, *held),
                None => undefined.insert(at..at + 1),
            }
        }
        self.undefined.extend(&undefined);
        !undefined.is_empty()
    }
}
