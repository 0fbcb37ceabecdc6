//! From a place to its bits, and between bits and values.

use super::bits::At;
use super::emitter::{Emitter, Frame, Val};
use super::shape::Turn;
use crate::exec::FaultKind;
use crate::ir::layout::Cell;
use crate::ir::{Expr, Overflow, Place, TypeId};
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
    /// Judges the indices on the way to a place.
    pub fn at(&mut self, place: &Place, frame: &Frame) -> (At, TypeId) {
        let (interp, shapes) = (self.interp, self.shapes);
        let route = shapes.route(interp.program(), interp.layout(), place);
        let (mut slack, mut dynamic) = (0, None);
        for turn in &route.turns {
            let (index, low, length, stride, count) = match *turn {
                Turn::Element { index, low, length, stride } => {
                    (self.value(index, frame), (low, index), Some(length), stride, length)
                }
                Turn::Position { index, size_bit, size, capacity, stride } => {
                    let index_value = self.value(index, frame);
                    let at = At { bit: size_bit, slack, dynamic };
                    let size = self.read(frame, at, size.bits);
                    self.check_position(index_value, size, index.span);
                    (index_value, (0, index), None, stride, capacity)
                }
            };
            if let Some(length) = length {
                self.check_index(index, low.0, length, low.1);
            }
            let index = self.as_int(index);
            let offset = match low.0 {
                0 => index,
                low => self.b.ins().iadd_imm_s(index, low.wrapping_neg()),
            };
            let offset = self.b.ins().imul_imm_s(offset, i64::from(stride));
            slack += count.saturating_sub(1) * stride;
            dynamic = Some(match dynamic {
                None => offset,
                Some(before) => self.b.ins().iadd(before, offset),
            });
        }
        (At { bit: route.start, slack: route.slack, dynamic }, route.ty)
    }

    fn check_index(&mut self, index: Val, low: i64, length: u32, expr: &Expr) {
        if length > 0 && index.is_within(low, low + i64::from(length) - 1) {
            return;
        }
        let value = self.as_int(index);
        let distance = self.b.ins().iadd_imm_s(value, low.wrapping_neg());
        let length = i64::from(length);
        let beyond = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, distance, length);
        self.fail_if(beyond, FaultKind::Index, expr.span);
    }

    fn check_position(&mut self, index: Val, size: Value, span: Span) {
        let index = self.as_int(index);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, size);
        self.fail_if(beyond, FaultKind::Index, span);
    }

    /// The value in a cell whose bits are at `at`; `None` if that is code 0.
    pub fn decode(&mut self, code: Value, cell: Cell) -> Val {
        let base = cell.low - i64::from(cell.undefined);
        let value = match base {
            0 => code,
            _ => self.b.ins().iadd_imm_s(code, base),
        };
        Val::int(value, cell.low, cell.high)
    }

    /// Reads a defined value; one that is not defined is a fault.
    pub fn read_cell(&mut self, frame: &Frame, at: At, cell: Cell, span: Span) -> Val {
        let code = self.read(frame, at, cell.bits);
        if cell.undefined {
            let undefined = self.b.ins().icmp_imm_s(IntCC::Equal, code, 0);
            self.fail_if(undefined, FaultKind::Undefined, span);
        }
        self.decode(code, cell)
    }

    /// Reads a field of a message, where an undefined value is 0.
    pub fn read_field(&mut self, frame: &Frame, at: At, cell: Cell) -> Val {
        let code = self.read(frame, at, cell.bits);
        let value = self.decode(code, cell);
        if !cell.undefined {
            return value;
        }
        let (zero, int) = (self.iconst(0), self.as_int(value));
        let undefined = self.b.ins().icmp_imm_s(IntCC::Equal, code, 0);
        let either = self.b.ins().select(undefined, zero, int);
        Val::int(either, cell.low.min(0), cell.high.max(0))
    }

    /// Stores a value, or applies the rule for one outside the domain.
    pub fn store_value(
        &mut self,
        frame: &Frame,
        at: At,
        cell: Cell,
        value: Val,
        overflow: Overflow,
        span: Span,
    ) {
        let undefined = i64::from(cell.undefined);
        if let Some(known) = value.as_known()
            && (cell.holds(known) || overflow == Overflow::Wraps)
        {
            let held = if cell.holds(known) { known } else { cell.wrap(known) };
            let code = self.iconst(held - cell.low + undefined);
            return self.write(frame, at, cell.bits, code);
        }
        let int = self.as_int(value);
        let mut distance = match cell.low {
            0 => int,
            low => self.b.ins().iadd_imm_s(int, low.wrapping_neg()),
        };
        if !value.is_within(cell.low, cell.high) {
            let last = cell.high - cell.low;
            match overflow {
                Overflow::Fails => {
                    let beyond =
                        self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, distance, last);
                    self.fail_if(beyond, FaultKind::Range, span);
                }
                Overflow::Wraps => distance = self.modulo(distance, last + 1),
            }
        }
        let code = match undefined {
            0 => distance,
            _ => self.b.ins().iadd_imm_s(distance, undefined),
        };
        self.write(frame, at, cell.bits, code);
    }

    /// The remainder that is not negative.
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
