//! Positions of places in bits, and conversion between bits and values.

use super::code_value::CodeValue;
use super::emitter::{Emitter, WordFrame};
use super::route::DynamicIndex;
use super::shape::StoredType;
use super::words::{BitOffset, ScalarPlace, mask};
use crate::interp::StoreRule;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use spillway_base::source::Span;
use spillway_ir::layout::ScalarCell;
use spillway_ir::{Arithmetic, BinaryOp, Expr, OverflowRule, Place, interval};
use spillway_model::FaultKind;

impl Emitter<'_, '_> {
    /// Evaluates the indices of a scalar, and returns its place.
    pub fn scalar_place(&mut self, place: &Place, frame: &WordFrame) -> ScalarPlace {
        let (at, shape) = self.place_offset(place, frame);
        ScalarPlace { at, cell: self.shapes.cell(shape) }
    }

    /// Evaluates the indices of a place, and returns its position.
    pub fn place_offset(&mut self, place: &Place, frame: &WordFrame) -> (BitOffset, StoredType) {
        let (interp, shapes) = (self.interp, self.shapes);
        let route = shapes.route(interp.program(), interp.layout(), &self.names, place);
        let mut at = route.start;
        for turn in &route.indices {
            match *turn {
                DynamicIndex::Element { index, low, length, stride } => {
                    let position = self.value(index, frame);
                    self.check_index(position, low, length, index);
                    let position = match low {
                        0 => position,
                        low => {
                            let int = self.as_int(position);
                            let int = self.b.ins().iadd_imm_s(int, low.wrapping_neg());
                            CodeValue::int(int, 0, i64::from(length) - 1)
                        }
                    };
                    at = self.offset(at, position, length, stride);
                }
                DynamicIndex::Position { index, flag, capacity, stride } => {
                    let position = self.value(index, frame);
                    self.check_index(position, 0, capacity, index);
                    at = self.offset(at, position, capacity, stride);
                    // The known part of a position is part of the element's place.
                    let flag = at.bit - route.start.bit + flag;
                    self.check_present(frame, BitOffset { bit: flag, ..at }, index.span);
                }
            }
        }
        (at, route.shape)
    }

    /// Returns the position that is `position` strides after `at`; `count` positions are possible.
    pub fn offset(
        &mut self,
        at: BitOffset,
        position: CodeValue,
        count: u32,
        stride: u32,
    ) -> BitOffset {
        if count <= 1 || stride == 0 {
            return at;
        }
        if let Some(known) = position.as_constant().filter(|it| (0..count.into()).contains(it)) {
            return at.plus(known as u32 * stride);
        }
        let position = self.as_int(position);
        let offset = self.b.ins().imul_imm_s(position, i64::from(stride));
        let dynamic = match at.dynamic {
            None => offset,
            Some(before) => self.b.ins().iadd(before, offset),
        };
        let slack = at.slack + (count - 1) * stride;
        BitOffset { bit: at.bit, slack, dynamic: Some(dynamic) }
    }

    pub fn check_index(&mut self, index: CodeValue, low: i64, length: u32, expr: &Expr) {
        if length > 0 && index.is_within(low, low + i64::from(length) - 1) {
            return;
        }
        let value = self.as_int(index);
        let distance = self.b.ins().iadd_imm_s(value, low.wrapping_neg());
        let length = i64::from(length);
        let beyond = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, distance, length);
        self.fail_if(beyond, FaultKind::Index, expr.span);
    }

    /// Returns the value in a cell whose bits are at `place_offset`; `None` if the code is 0.
    pub fn decode(&mut self, code: Value, cell: ScalarCell) -> CodeValue {
        let value = match cell.base() {
            0 => code,
            base => self.b.ins().iadd_imm_s(code, base),
        };
        CodeValue::int(value, cell.least, cell.most)
    }

    /// Reads a defined value; an undefined one is a fault.
    pub fn read_cell(&mut self, frame: &WordFrame, from: ScalarPlace, span: Span) -> CodeValue {
        let value = self.read_maybe(frame, from);
        self.defined(value, span)
    }

    /// Reads a field of a message, where an undefined value is 0.
    pub fn read_field(&mut self, frame: &WordFrame, from: ScalarPlace) -> CodeValue {
        let ScalarPlace { at, cell } = from;
        let code = self.read(frame, at, cell.bits);
        let value = self.decode(code, cell);
        if !cell.undefined {
            return value;
        }
        let (zero, int) = (self.iconst(0), self.as_int(value));
        let undefined = self.b.ins().icmp_imm_s(IntCC::Equal, code, 0);
        let either = self.b.ins().select(undefined, zero, int);
        CodeValue::int(either, cell.least.min(0), cell.most.max(0))
    }

    /// Stores a value, or applies the rule for one outside the domain.
    pub fn store_value(
        &mut self,
        frame: &WordFrame,
        to: ScalarPlace,
        value: CodeValue,
        rule: StoreRule,
    ) {
        let code = self.encode(to.cell, value, rule);
        self.write(frame, to.at, to.cell.bits, code);
    }

    /// Returns a value brought into the domain of a cell that has all its values, by the overflow rule.
    pub fn fit(&mut self, cell: ScalarCell, value: CodeValue, rule: StoreRule) -> CodeValue {
        match rule.overflow {
            _ if value.is_within(cell.low, cell.high) => value,
            OverflowRule::Wraps => match value.as_constant() {
                Some(known) => CodeValue::constant(cell.wrap(known)),
                None => self.wrap(value, cell),
            },
            OverflowRule::Fails => {
                let beyond = self.is_out_of_range(value, cell.low, cell.high);
                self.fail_if(beyond, FaultKind::Range, rule.span);
                let int = self.as_int(value);
                CodeValue::int(int, value.low.max(cell.low), value.high.min(cell.high))
            }
        }
    }

    /// Returns the code of a value in a cell, by the overflow rule.
    pub fn encode(&mut self, cell: ScalarCell, value: CodeValue, rule: StoreRule) -> Value {
        let value = self.fit(cell, value, rule);
        let int = self.as_int(value);
        let code = match cell.base() {
            0 => int,
            base => self.b.ins().iadd_imm_s(int, base.wrapping_neg()),
        };
        if !value.is_within(cell.least, cell.last()) {
            self.trust(code, mask(cell.bits));
        }
        code
    }

    /// Checks that a code is within the range that the analysis allows. It always is; otherwise no later result would
    /// be reliable.
    fn trust(&mut self, code: Value, greatest: i64) {
        let (wrong, go_on) = (self.block(), self.block());
        self.b.set_cold_block(wrong);
        let beyond = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, code, greatest);
        self.b.ins().brif(beyond, wrong, &[], go_on, &[]);
        self.continue_at(wrong);
        self.b.ins().call(self.imports.impossible, &[]);
        self.jump(go_on);
        self.continue_at(go_on);
    }

    /// Returns the value modulo the size of the domain.
    pub fn wrap(&mut self, value: CodeValue, cell: ScalarCell) -> CodeValue {
        let int = self.as_int(value);
        let size = cell.high - cell.low + 1;
        let least = (cell.low, cell.low);
        let distances =
            interval::binary(Arithmetic::Checked64, BinaryOp::Subtract, value.range(), least);
        let distance = self.b.ins().iadd_imm_s(int, cell.low.wrapping_neg());
        let distance = match size & (size - 1) == 0 || !distances.may_overflow {
            true => self.modulo(distance, size),
            false => {
                // The distance may overflow 64 bits; that of the remainders does not.
                let remainder = self.modulo(int, size);
                let distance = self.b.ins().iadd_imm_s(remainder, -cell.low.rem_euclid(size));
                self.modulo(distance, size)
            }
        };
        let wrapped = self.b.ins().iadd_imm_s(distance, cell.low);
        CodeValue::int(wrapped, cell.low, cell.high)
    }

    /// Returns the nonnegative remainder.
    fn modulo(&mut self, value: Value, by: i64) -> Value {
        if by & (by - 1) == 0 {
            return self.b.ins().band_imm_s(value, by - 1);
        }
        let divisor = self.iconst(by);
        let remainder = self.b.ins().srem(value, divisor);
        let raised = self.b.ins().iadd(remainder, divisor);
        let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, remainder, 0);
        self.b.ins().select(negative, raised, remainder)
    }
}
