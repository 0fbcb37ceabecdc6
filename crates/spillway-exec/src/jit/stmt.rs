//! Statements, executed on a frame.

use super::code_value::CodeValue;
use super::emitter::{Emitter, WordFrame};
use super::expr::{CountedLoop, LoopExit};
use super::names::NameBinding;
use super::shape::StoredType;
use super::words::{BitOffset, CHUNK_BITS};
use crate::interp::StoreRule;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spillway_base::source::Span;
use spillway_ir::layout::ScalarCell;
use spillway_ir::{
    Arithmetic, BinaryOp, Expr, LocalId, OverflowRule, Place, Stmt, StmtKind, Type, TypeId,
    interval,
};
use spillway_model::FaultKind;
use std::ops::Range;

/// A loop from one value to another.
struct ForLoop<'s> {
    /// The local that holds the value.
    local: LocalId,
    /// The first value, the last one, and the step.
    bounds: [&'s Expr; 3],
    body: &'s [Stmt],
    span: Span,
}

/// A loop that runs while a condition holds.
struct WhileLoop<'s> {
    condition: &'s Expr,
    body: &'s [Stmt],
    /// The maximum number of rounds.
    limit: u64,
    span: Span,
}

impl Emitter<'_, '_> {
    /// Emits statements in order.
    pub fn run(&mut self, body: &[Stmt], frame: &WordFrame) {
        body.iter().for_each(|stmt| self.statement(stmt, frame));
    }

    fn statement(&mut self, stmt: &Stmt, frame: &WordFrame) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                self.assign(target, value, *overflow, frame);
            }
            StmtKind::Copy { target, source } => self.copy_place(target, source, frame),
            StmtKind::If(branches) => self.choose(branches, frame),
            StmtKind::Switch(subject, branches) => self.switch(subject, branches, frame),
            StmtKind::For { local, first, last, step, body } => {
                let bounds = [first, last, step];
                self.for_loop(ForLoop { local: *local, bounds, body, span: stmt.span }, frame);
            }
            StmtKind::ForEach { local, over, body } => {
                let values = self.scalar_bounds(*over);
                let size = self.sizes.body(self.interp.program(), body);
                let leave = LoopExit::ByFault(stmt.span);
                let counted = CountedLoop { values, local: *local, leave };
                self.count_up(counted, size, &mut |this, _, next| {
                    this.run(body, frame);
                    this.jump(next);
                });
            }
            StmtKind::While { condition, body, limit } => {
                let limit = *limit;
                self.while_loop(WhileLoop { condition, body, limit, span: stmt.span }, frame);
            }
            StmtKind::Undefine(place) => self.fill(place, frame, |_| 0),
            StmtKind::Clear(place) => self.fill(place, frame, |cell| cell.code(cell.low)),
            StmtKind::Assert { condition, asserted, .. } => {
                let (go_on, fail) = (self.block(), self.block());
                self.b.set_cold_block(fail);
                self.branch(condition, frame, go_on, fail);
                self.continue_at(fail);
                self.fail((*asserted).into(), stmt.span);
                self.jump(go_on);
                self.continue_at(go_on);
            }
            StmtKind::Error(_) => self.fail(FaultKind::Error, stmt.span),
            StmtKind::Print { .. } => {}
            StmtKind::Cover { .. } => unreachable!("programs with these are interpreted"),
            StmtKind::Assume(condition) => self.assume(condition, frame),
            StmtKind::Declare { local, ty, body, .. } => self.declare(*local, *ty, body, frame),
            StmtKind::Alias { local, place, body, .. } => self.alias(*local, place, body, frame),
            StmtKind::Call { function, arguments, into } => {
                let result = self.result_of(*function, arguments, stmt.span, frame);
                into.iter().for_each(|place| self.store_result(place, result, frame));
            }
            StmtKind::Return(value) => self.leave(value.as_ref(), frame),
            StmtKind::MultisetAdd { multiset, element } => {
                self.add(multiset, element, stmt.span, frame);
            }
            StmtKind::MultisetRemove { multiset, position } => {
                self.remove(multiset, position, frame);
            }
            StmtKind::Communicate(_) | StmtKind::Run { .. } | StmtKind::Exit => {
                unreachable!("left to the interpreter")
            }
        }
    }

    fn assign(&mut self, target: &Place, value: &Expr, overflow: OverflowRule, frame: &WordFrame) {
        let to = self.scalar_place(target, frame);
        let value = self.possibly_undefined(value, frame);
        self.store_maybe(frame, to, value, StoreRule { overflow, span: target.span });
    }

    fn copy_place(&mut self, target: &Place, source: &Place, frame: &WordFrame) {
        let (to, shape) = self.place_offset(target, frame);
        let (from, _) = self.place_offset(source, frame);
        self.copy_bits(frame, from, to, self.shapes.bits(shape));
    }

    /// Copies bits as they were, even if source and destination overlap.
    pub fn copy_bits(&mut self, frame: &WordFrame, from: BitOffset, to: BitOffset, bits: u32) {
        let chunks = (0..bits).step_by(CHUNK_BITS as usize);
        let chunks = chunks.map(|start| start..bits.min(start + CHUNK_BITS));
        let read = chunks.map(|chunk| {
            let value = self.read(frame, from.plus(chunk.start), chunk.len() as u32);
            (chunk, value)
        });
        let read: Vec<(Range<u32>, Value)> = read.collect();
        for (chunk, value) in read {
            self.write(frame, to.plus(chunk.start), chunk.len() as u32, value);
        }
    }

    fn choose(&mut self, branches: &[(Option<Expr>, Vec<Stmt>)], frame: &WordFrame) {
        let end = self.block();
        for (condition, body) in branches {
            let next = self.block();
            if let Some(condition) = condition {
                let then = self.block();
                self.branch(condition, frame, then, next);
                self.continue_at(then);
            }
            self.run(body, frame);
            self.jump(end);
            self.continue_at(next);
        }
        self.jump(end);
        self.continue_at(end);
    }

    /// Emits a switch. All values of a branch are evaluated before it is chosen, since they may fail.
    fn switch(&mut self, subject: &Expr, branches: &[(Vec<Expr>, Vec<Stmt>)], frame: &WordFrame) {
        let subject = self.value(subject, frame);
        let subject = self.as_int(subject);
        let end = self.block();
        for (values, body) in branches {
            let next = self.block();
            if !values.is_empty() {
                let mut chosen = self.b.ins().iconst(types::I8, 0);
                for value in values {
                    let value = self.value(value, frame);
                    let value = self.as_int(value);
                    let equal = self.b.ins().icmp(IntCC::Equal, value, subject);
                    chosen = self.b.ins().bor(chosen, equal);
                }
                let then = self.block();
                self.b.ins().brif(chosen, then, &[], next, &[]);
                self.continue_at(then);
            }
            self.run(body, frame);
            self.jump(end);
            self.continue_at(next);
        }
        self.jump(end);
        self.continue_at(end);
    }

    fn for_loop(&mut self, each: ForLoop<'_>, frame: &WordFrame) {
        let ForLoop { local, bounds: [first, last, step], body, span } = each;
        let first = self.value(first, frame);
        let last = self.value(last, frame);
        let step = self.value(step, frame);
        let step_int = self.as_int(step);
        if step.may_be(0) {
            let still = self.b.ins().icmp_imm_s(IntCC::Equal, step_int, 0);
            self.fail_if(still, FaultKind::Limit, span);
        }
        let (head, inside, end) = (self.block(), self.block(), self.block());
        let variable = self.b.declare_var(types::I64);
        let (start, last_int) = (self.as_int(first), self.as_int(last));
        self.b.def_var(variable, start);
        self.jump(head);
        self.continue_at(head);
        let value = self.b.use_var(variable);
        let up = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, value, last_int);
        let down = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, value, last_int);
        let rises = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, step_int, 0);
        let more = self.b.ins().select(rises, up, down);
        self.b.ins().brif(more, inside, &[], end, &[]);
        self.continue_at(inside);
        let range = (first.low.min(last.low), first.high.max(last.high));
        self.names.bind(local, NameBinding::Value(CodeValue::int(value, range.0, range.1)));
        let before = self.loops;
        self.run(body, frame);
        self.names.unbind(local);
        let value = self.b.use_var(variable);
        let has_loop_inside = self.loops > before;
        self.loops += 1;
        self.emit_stop_check(value, has_loop_inside, |this| {
            this.end_with_fault(FaultKind::Limit, span);
        });
        let nexts = interval::binary(Arithmetic::Checked64, BinaryOp::Add, range, step.range());
        if !nexts.may_overflow {
            let value = self.b.ins().iadd(value, step_int);
            self.b.def_var(variable, value);
            self.jump(head);
        } else {
            // A next value beyond all integers is beyond the last.
            let (value, overflow) = self.b.ins().sadd_overflow(value, step_int);
            self.b.def_var(variable, value);
            self.b.ins().brif(overflow, end, &[], head, &[]);
        }
        self.continue_at(end);
    }

    fn while_loop(&mut self, each: WhileLoop<'_>, frame: &WordFrame) {
        let WhileLoop { condition, body, limit, span } = each;
        let (head, inside, end) = (self.block(), self.block(), self.block());
        let rounds = self.b.declare_var(types::I64);
        let zero = self.iconst(0);
        self.b.def_var(rounds, zero);
        self.jump(head);
        self.continue_at(head);
        self.branch(condition, frame, inside, end);
        self.continue_at(inside);
        let round = self.b.use_var(rounds);
        let round = self.b.ins().iadd_imm_s(round, 1);
        self.b.def_var(rounds, round);
        let limit = self.iconst(limit as i64);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, round, limit);
        self.fail_if(beyond, FaultKind::Limit, span);
        let before = self.loops;
        self.run(body, frame);
        let has_loop_inside = self.loops > before;
        self.loops += 1;
        self.emit_stop_check(round, has_loop_inside, |this| {
            this.end_with_fault(FaultKind::Limit, span);
        });
        self.jump(head);
        self.continue_at(end);
    }

    /// Sets every scalar of a place to the code that `code` gives for its cell.
    fn fill(&mut self, place: &Place, frame: &WordFrame, code: fn(ScalarCell) -> i64) {
        let (at, shape) = self.place_offset(place, frame);
        self.fill_shape(frame, at, shape, code);
    }

    pub fn fill_shape(
        &mut self,
        frame: &WordFrame,
        at: BitOffset,
        shape: StoredType,
        code: fn(ScalarCell) -> i64,
    ) -> u32 {
        let program = self.interp.program();
        let mut bits = 0;
        let part = |ty: TypeId| StoredType { ty, ..shape };
        match &program.types[shape.ty] {
            Type::Scalar(_) => {
                let cell = self.shapes.cell(shape);
                let code = self.iconst(code(cell));
                self.write(frame, at, cell.bits, code);
                bits = cell.bits;
            }
            Type::Array { length, element, .. } => {
                for _ in 0..*length {
                    bits += self.fill_shape(frame, at.plus(bits), part(*element), code);
                }
            }
            Type::Record { fields, .. } => {
                for (_, field) in fields {
                    bits += self.fill_shape(frame, at.plus(bits), part(*field), code);
                }
            }
            Type::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    let empty = self.iconst(0);
                    self.write(frame, at.plus(bits), 1, empty);
                    bits += 1;
                    // Unused cells hold code 0 in any case.
                    bits += self.fill_shape(frame, at.plus(bits), part(*element), |_| 0);
                }
            }
        }
        bits
    }
}
