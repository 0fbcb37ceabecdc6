//! Multisets. Elements keep their positions while a step runs; the runtime brings multisets into canonical form at its
//! end.

use super::code_value::CodeValue;
use super::emitter::{Emitter, WordFrame};
use super::expr::{CountedLoop, LoopExit};
use super::shape::{MultisetPositions, StoredType};
use super::words::{BitOffset, ScalarPlace};
use crate::interp::StoreRule;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use spillway_base::source::Span;
use spillway_ir::{CallArgument, Expr, LocalId, MultisetContains, OverflowRule, Place};
use spillway_model::FaultKind;

impl Emitter<'_, '_> {
    /// Returns whether the multiset at `place_offset` has an element at a valid position: 0 or 1.
    fn present(
        &mut self,
        frame: &WordFrame,
        at: BitOffset,
        shape: StoredType,
        position: CodeValue,
    ) -> Value {
        let MultisetPositions { capacity, stride } =
            self.shapes.positions(self.interp.program(), shape);
        let flag = self.offset(at, position, capacity, stride);
        self.read(frame, flag, 1)
    }

    /// Returns whether a multiset has an element at a position.
    pub fn contains(&mut self, contains: &MultisetContains, frame: &WordFrame) -> CodeValue {
        let (at, shape) = self.place_offset(&contains.multiset, frame);
        let capacity = self.shapes.positions(self.interp.program(), shape).capacity;
        let position = self.value(&contains.position, frame);
        if position.is_within(0, i64::from(capacity) - 1) {
            return CodeValue::int(self.present(frame, at, shape, position), 0, 1);
        }
        let beyond = self.is_out_of_range(position, 0, i64::from(capacity) - 1);
        let (nearest, position) = (self.iconst(0), self.as_int(position));
        let nearest = self.b.ins().select(beyond, nearest, position);
        let nearest = CodeValue::int(nearest, 0, i64::from(capacity) - 1);
        let present = self.present(frame, at, shape, nearest);
        let nothing = self.iconst(0);
        CodeValue::int(self.b.ins().select(beyond, nothing, present), 0, 1)
    }

    /// Returns the number of elements for which `body` holds.
    pub fn count(
        &mut self,
        multiset: &Place,
        local: LocalId,
        body: &Expr,
        frame: &WordFrame,
    ) -> CodeValue {
        let (at, shape) = self.place_offset(multiset, frame);
        let capacity = self.shapes.positions(self.interp.program(), shape).capacity;
        let (found, zero) = (self.b.declare_var(types::I64), self.iconst(0));
        self.b.def_var(found, zero);
        let size = self.sizes.expr(self.interp.program(), body);
        let (all, leave) = ((0, i64::from(capacity) - 1), LoopExit::ByFault(body.span));
        let counted = CountedLoop { values: all, local, leave };
        self.count_up(counted, size, &mut |this, position, next| {
            let (there, one_more) = (this.block(), this.block());
            let present = this.present(frame, at, shape, position);
            this.b.ins().brif(present, there, &[], next, &[]);
            this.continue_at(there);
            this.branch(body, frame, one_more, next);
            this.continue_at(one_more);
            let count = this.b.use_var(found);
            let count = this.b.ins().iadd_imm_s(count, 1);
            this.b.def_var(found, count);
            this.jump(next);
        });
        CodeValue::int(self.b.use_var(found), 0, i64::from(capacity))
    }

    /// Adds an element at the first free position.
    pub fn add(&mut self, multiset: &Place, element: &CallArgument, span: Span, frame: &WordFrame) {
        let (at, shape) = self.place_offset(multiset, frame);
        let MultisetPositions { capacity, stride } =
            self.shapes.positions(self.interp.program(), shape);
        let inner = self.shapes.element(self.interp.program(), shape);
        let free = self.block();
        let position = self.b.append_block_param(free, types::I64);
        for candidate in 0..capacity {
            let taken = self.block();
            let present = self.present(frame, at, shape, CodeValue::constant(candidate.into()));
            let candidate = self.iconst(i64::from(candidate));
            self.b.ins().brif(present, taken, &[], free, &[BlockArg::from(candidate)]);
            self.continue_at(taken);
        }
        self.end_with_fault(FaultKind::Limit, span);
        self.continue_at(free);
        let position = CodeValue::int(position, 0, i64::from(capacity) - 1);
        let flag = self.offset(at, position, capacity, stride);
        match element {
            CallArgument::Value(value) => {
                let value = self.possibly_undefined(value, frame);
                let to = ScalarPlace { at: flag.plus(1), cell: self.shapes.cell(inner) };
                let rule = StoreRule { overflow: OverflowRule::Fails, span };
                self.store_maybe(frame, to, value, rule);
            }
            CallArgument::Copy(place) | CallArgument::Reference(place) => {
                let (from, _) = self.place_offset(place, frame);
                self.copy_bits(frame, from, flag.plus(1), self.shapes.bits(inner));
            }
        }
        let there = self.iconst(1);
        self.write(frame, flag, 1, there);
    }

    /// Removes the element at a position, and leaves the position free.
    pub fn remove(&mut self, multiset: &Place, position: &Expr, frame: &WordFrame) {
        let (at, shape) = self.place_offset(multiset, frame);
        let MultisetPositions { capacity, stride } =
            self.shapes.positions(self.interp.program(), shape);
        let inner = self.shapes.element(self.interp.program(), shape);
        let value = self.value(position, frame);
        self.check_index(value, 0, capacity, position);
        let flag = self.offset(at, value, capacity, stride);
        self.check_present(frame, flag, position.span);
        let nothing = self.iconst(0);
        self.write(frame, flag, 1, nothing);
        self.fill_shape(frame, flag.plus(1), inner, |_| 0);
    }

    /// Fails if this flag says that there is no element.
    pub fn check_present(&mut self, frame: &WordFrame, flag: BitOffset, span: Span) {
        let present = self.read(frame, flag, 1);
        let absent = self.b.ins().icmp_imm_s(IntCC::Equal, present, 0);
        self.fail_if(absent, FaultKind::Index, span);
    }
}
