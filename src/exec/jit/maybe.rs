//! Values that may be undefined.

use super::emitter::{Emitter, Frame};
use super::names::Bound;
use super::val::Val;
use super::words::At;
use crate::exec::FaultKind;
use crate::ir::layout::Cell;
use crate::ir::{Binary, Convert, Expr, ExprKind, Overflow};
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

/// A value, or none.
#[derive(Clone, Copy)]
pub(super) enum Maybe {
    /// A value.
    Value(Val),
    /// None.
    Undefined,
    /// None if the condition (8 bits) is not 0; the value then means nothing.
    Unless(Value, Val),
}

impl Emitter<'_, '_> {
    /// The value of an expression that is stored or given as it is: what is read may be undefined.
    pub fn possibly_undefined(&mut self, expr: &Expr, frame: &Frame) -> Maybe {
        match &expr.kind {
            ExprKind::Undefined => Maybe::Undefined,
            ExprKind::Read(place) => {
                let (at, shape) = self.at(place, frame);
                let cell = self.shapes.cell(shape);
                self.read_maybe(frame, at, cell)
            }
            ExprKind::Convert(convert) => {
                let operand = self.possibly_undefined(&convert.operand, frame);
                match operand {
                    Maybe::Undefined => Maybe::Undefined,
                    Maybe::Value(value) => {
                        Maybe::Value(self.convert(convert, value, None, expr.span))
                    }
                    Maybe::Unless(undefined, value) => {
                        let value = self.convert(convert, value, Some(undefined), expr.span);
                        Maybe::Unless(undefined, value)
                    }
                }
            }
            ExprKind::Call(function, arguments) => {
                self.result_of(*function, arguments, expr.span, frame)
            }
            _ => Maybe::Value(self.value(expr, frame)),
        }
    }

    pub fn read_maybe(&mut self, frame: &Frame, at: At, cell: Cell) -> Maybe {
        let code = self.read(frame, at, cell.bits);
        let value = self.decode(code, cell);
        match cell.undefined {
            false => Maybe::Value(value),
            true => {
                let undefined = self.b.ins().icmp_imm_s(IntCC::Equal, code, 0);
                Maybe::Unless(undefined, value)
            }
        }
    }

    /// The value; that there is none is a fault.
    pub fn defined(&mut self, maybe: Maybe, span: Span) -> Val {
        match maybe {
            Maybe::Value(value) => value,
            Maybe::Undefined => {
                self.fail(FaultKind::Undefined, span);
                Val::known(0)
            }
            Maybe::Unless(undefined, value) => {
                self.fail_if(undefined, FaultKind::Undefined, span);
                value
            }
        }
    }

    /// The code of a value or none in a cell, which must be one that the cell may have.
    pub fn encode_maybe(
        &mut self,
        cell: Cell,
        maybe: Maybe,
        overflow: Overflow,
        span: Span,
    ) -> Value {
        match maybe {
            Maybe::Value(value) => self.encode(cell, value, overflow, span),
            Maybe::Undefined if cell.undefined => self.iconst(0),
            Maybe::Unless(undefined, value) if cell.undefined => {
                self.encode_unless(undefined, cell, value, overflow, span)
            }
            _ => {
                let value = self.defined(maybe, span);
                self.encode(cell, value, overflow, span)
            }
        }
    }

    fn encode_unless(
        &mut self,
        undefined: Value,
        cell: Cell,
        value: Val,
        overflow: Overflow,
        span: Span,
    ) -> Value {
        // Where there is no value, one that the cell can hold stands in for it.
        let value =
            match value.is_within(cell.least, cell.most) && value.is_within(cell.low, cell.high) {
                true => value,
                false => {
                    let (int, least) = (self.as_int(value), self.iconst(cell.least));
                    let some = self.b.ins().select(undefined, least, int);
                    Val::int(some, value.low.min(cell.least), value.high.max(cell.least))
                }
            };
        let code = self.encode(cell, value, overflow, span);
        let none = self.iconst(0);
        self.b.ins().select(undefined, none, code)
    }

    /// Stores a value or none.
    pub fn store_maybe(
        &mut self,
        frame: &Frame,
        at: At,
        cell: Cell,
        maybe: Maybe,
        overflow: Overflow,
        span: Span,
    ) {
        let code = self.encode_maybe(cell, maybe, overflow, span);
        self.write(frame, at, cell.bits, code);
    }

    /// Whether both are the same value or both are none.
    pub fn same(&mut self, left: &Expr, right: &Expr, frame: &Frame) -> Val {
        let left = self.possibly_undefined(left, frame);
        let right = self.possibly_undefined(right, frame);
        match (left, right) {
            (Maybe::Undefined, Maybe::Undefined) => Val::known(1),
            (Maybe::Undefined, Maybe::Value(_)) | (Maybe::Value(_), Maybe::Undefined) => {
                Val::known(0)
            }
            (Maybe::Undefined, Maybe::Unless(undefined, _))
            | (Maybe::Unless(undefined, _), Maybe::Undefined) => Val::truth(undefined),
            (Maybe::Value(one), Maybe::Value(other)) => self.compare(Binary::Equal, one, other),
            (Maybe::Unless(undefined, one), Maybe::Value(other))
            | (Maybe::Value(one), Maybe::Unless(undefined, other)) => {
                let equal = self.compare(Binary::Equal, one, other);
                let equal = self.as_truth(equal);
                Val::truth(self.b.ins().band_not(equal, undefined))
            }
            (Maybe::Unless(one_is_none, one), Maybe::Unless(other_is_none, other)) => {
                let equal = self.compare(Binary::Equal, one, other);
                let equal = self.as_truth(equal);
                let alike = self.b.ins().band_not(equal, one_is_none);
                Val::truth(self.b.ins().select(other_is_none, one_is_none, alike))
            }
        }
    }

    /// A value in another numbering. That it is in no piece is a fault, unless it is `undefined`.
    pub fn convert(
        &mut self,
        convert: &Convert,
        value: Val,
        undefined: Option<Value>,
        span: Span,
    ) -> Val {
        let int = self.as_int(value);
        let met: Vec<_> = (convert.pieces.iter())
            .filter(|it| it.low <= value.high && value.low <= it.high)
            .collect();
        let low = met.iter().map(|it| it.low.max(value.low) + it.by).min();
        let high = met.iter().map(|it| it.high.min(value.high) + it.by).max();
        let (Some(low), Some(high)) = (low, high) else {
            // An undefined value goes on as it is.
            let always = self.b.ins().iconst(cranelift_codegen::ir::types::I8, 1);
            self.fail_unless_undefined(always, undefined, span);
            return value;
        };
        if let [piece] = met[..]
            && value.is_within(piece.low, piece.high)
        {
            return Val::int(self.b.ins().iadd_imm_s(int, piece.by), low, high);
        }
        let mut beyond = None;
        let mut converted = int;
        for piece in met {
            let outside = self.beyond(value, piece.low, piece.high);
            let moved = self.b.ins().iadd_imm_s(int, piece.by);
            converted = self.b.ins().select(outside, converted, moved);
            beyond = Some(match beyond {
                None => outside,
                Some(before) => self.b.ins().band(before, outside),
            });
        }
        if let Some(beyond) = beyond {
            self.fail_unless_undefined(beyond, undefined, span);
        }
        Val::int(converted, low, high)
    }

    pub fn fail_unless_undefined(&mut self, wrong: Value, undefined: Option<Value>, span: Span) {
        let wrong = match undefined {
            None => wrong,
            Some(undefined) => self.b.ins().band_not(wrong, undefined),
        };
        self.fail_if(wrong, FaultKind::Range, span);
    }

    /// What a name stands for, as a value.
    pub fn local(&mut self, local: crate::ir::LocalId, frame: &Frame, span: Span) -> Val {
        match self.names.get(local) {
            Bound::Value(value) => value,
            Bound::Place(at, shape) => {
                let cell = self.shapes.cell(shape);
                self.read_cell(frame, at, cell, span)
            }
        }
    }
}
