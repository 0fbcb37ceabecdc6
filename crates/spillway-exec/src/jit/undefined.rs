//! Values that may be undefined.

use super::code_value::CodeValue;
use super::emitter::{Emitter, WordFrame};
use super::names::NameBinding;
use super::words::ScalarPlace;
use crate::interp::StoreRule;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use spillway_base::source::Span;
use spillway_ir::layout::ScalarCell;
use spillway_ir::{BinaryOp, Expr, ExprKind, NumberConversion};
use spillway_model::FaultKind;

/// A value, or undefined.
#[derive(Clone, Copy)]
pub(super) enum MaybeUndefined {
    /// A value.
    Value(CodeValue),
    /// Undefined.
    Undefined,
    /// Undefined if the condition (8 bits) is not 0; the value is then meaningless.
    Unless(Value, CodeValue),
}

impl Emitter<'_, '_> {
    /// Returns the value of an expression that is stored or passed unchanged, so it may be undefined.
    pub fn possibly_undefined(&mut self, expr: &Expr, frame: &WordFrame) -> MaybeUndefined {
        match &expr.kind {
            ExprKind::Undefined => MaybeUndefined::Undefined,
            ExprKind::Read(place) => {
                let from = self.scalar_place(place, frame);
                self.read_maybe(frame, from)
            }
            ExprKind::Convert(convert) => {
                let operand = self.possibly_undefined(&convert.operand, frame);
                match operand {
                    MaybeUndefined::Undefined => MaybeUndefined::Undefined,
                    MaybeUndefined::Value(value) => {
                        MaybeUndefined::Value(self.convert(convert, value, None, expr.span))
                    }
                    MaybeUndefined::Unless(undefined, value) => {
                        let value = self.convert(convert, value, Some(undefined), expr.span);
                        MaybeUndefined::Unless(undefined, value)
                    }
                }
            }
            ExprKind::Call(function, arguments) => {
                self.result_of(*function, arguments, expr.span, frame)
            }
            _ => MaybeUndefined::Value(self.value(expr, frame)),
        }
    }

    pub fn read_maybe(&mut self, frame: &WordFrame, from: ScalarPlace) -> MaybeUndefined {
        let ScalarPlace { at, cell } = from;
        let code = self.read(frame, at, cell.bits);
        let value = self.decode(code, cell);
        match cell.undefined {
            false => MaybeUndefined::Value(value),
            true => {
                let undefined = self.b.ins().icmp_imm_s(IntCC::Equal, code, 0);
                MaybeUndefined::Unless(undefined, value)
            }
        }
    }

    /// Returns the defined value; an undefined one is a fault.
    pub fn defined(&mut self, maybe: MaybeUndefined, span: Span) -> CodeValue {
        match maybe {
            MaybeUndefined::Value(value) => value,
            MaybeUndefined::Undefined => {
                self.fail(FaultKind::Undefined, span);
                CodeValue::constant(0)
            }
            MaybeUndefined::Unless(undefined, value) => {
                self.fail_if(undefined, FaultKind::Undefined, span);
                value
            }
        }
    }

    /// Returns the code in a cell of a value or undefined, which the cell must allow.
    pub fn encode_maybe(
        &mut self,
        cell: ScalarCell,
        maybe: MaybeUndefined,
        rule: StoreRule,
    ) -> Value {
        match maybe {
            MaybeUndefined::Value(value) => self.encode(cell, value, rule),
            MaybeUndefined::Undefined if cell.undefined => self.iconst(0),
            MaybeUndefined::Unless(undefined, value) if cell.undefined => {
                self.encode_unless(undefined, cell, value, rule)
            }
            _ => {
                let value = self.defined(maybe, rule.span);
                self.encode(cell, value, rule)
            }
        }
    }

    fn encode_unless(
        &mut self,
        undefined: Value,
        cell: ScalarCell,
        value: CodeValue,
        rule: StoreRule,
    ) -> Value {
        // If there is no value, another value of the cell replaces it.
        let value =
            match value.is_within(cell.least, cell.most) && value.is_within(cell.low, cell.high) {
                true => value,
                false => {
                    let (int, least) = (self.as_int(value), self.iconst(cell.least));
                    let some = self.b.ins().select(undefined, least, int);
                    CodeValue::int(some, value.low.min(cell.least), value.high.max(cell.least))
                }
            };
        let code = self.encode(cell, value, rule);
        let none = self.iconst(0);
        self.b.ins().select(undefined, none, code)
    }

    /// Stores a value or undefined.
    pub fn store_maybe(
        &mut self,
        frame: &WordFrame,
        to: ScalarPlace,
        maybe: MaybeUndefined,
        rule: StoreRule,
    ) {
        let code = self.encode_maybe(to.cell, maybe, rule);
        self.write(frame, to.at, to.cell.bits, code);
    }

    /// Returns whether both sides are the same value or both are undefined.
    pub fn same(&mut self, left: &Expr, right: &Expr, frame: &WordFrame) -> CodeValue {
        let left = self.possibly_undefined(left, frame);
        let right = self.possibly_undefined(right, frame);
        match (left, right) {
            (MaybeUndefined::Undefined, MaybeUndefined::Undefined) => CodeValue::constant(1),
            (MaybeUndefined::Undefined, MaybeUndefined::Value(_))
            | (MaybeUndefined::Value(_), MaybeUndefined::Undefined) => CodeValue::constant(0),
            (MaybeUndefined::Undefined, MaybeUndefined::Unless(undefined, _))
            | (MaybeUndefined::Unless(undefined, _), MaybeUndefined::Undefined) => {
                CodeValue::truth(undefined)
            }
            (MaybeUndefined::Value(one), MaybeUndefined::Value(other)) => {
                self.compare(BinaryOp::Equal, one, other)
            }
            (MaybeUndefined::Unless(undefined, one), MaybeUndefined::Value(other))
            | (MaybeUndefined::Value(one), MaybeUndefined::Unless(undefined, other)) => {
                let equal = self.compare(BinaryOp::Equal, one, other);
                let equal = self.as_truth(equal);
                CodeValue::truth(self.b.ins().band_not(equal, undefined))
            }
            (
                MaybeUndefined::Unless(one_is_none, one),
                MaybeUndefined::Unless(other_is_none, other),
            ) => {
                let equal = self.compare(BinaryOp::Equal, one, other);
                let equal = self.as_truth(equal);
                let alike = self.b.ins().band_not(equal, one_is_none);
                CodeValue::truth(self.b.ins().select(other_is_none, one_is_none, alike))
            }
        }
    }

    /// Returns a value converted to another numbering. A value in no piece is a fault, unless it is undefined.
    pub fn convert(
        &mut self,
        convert: &NumberConversion,
        value: CodeValue,
        undefined: Option<Value>,
        span: Span,
    ) -> CodeValue {
        let int = self.as_int(value);
        let met: Vec<_> = (convert.pieces.iter())
            .filter(|it| it.low <= value.high && value.low <= it.high)
            .collect();
        let low = met.iter().map(|it| it.low.max(value.low) + it.by).min();
        let high = met.iter().map(|it| it.high.min(value.high) + it.by).max();
        let (Some(low), Some(high)) = (low, high) else {
            // An undefined value stays undefined.
            let always = self.b.ins().iconst(cranelift_codegen::ir::types::I8, 1);
            self.fail_unless_undefined(always, undefined, span);
            return value;
        };
        if let [piece] = met[..]
            && value.is_within(piece.low, piece.high)
        {
            return CodeValue::int(self.b.ins().iadd_imm_s(int, piece.by), low, high);
        }
        let mut beyond = None;
        let mut converted = int;
        for piece in met {
            let outside = self.is_out_of_range(value, piece.low, piece.high);
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
        CodeValue::int(converted, low, high)
    }

    pub fn fail_unless_undefined(&mut self, wrong: Value, undefined: Option<Value>, span: Span) {
        let wrong = match undefined {
            None => wrong,
            Some(undefined) => self.b.ins().band_not(wrong, undefined),
        };
        self.fail_if(wrong, FaultKind::Range, span);
    }

    /// Returns the binding of a name, as a value.
    pub fn local(
        &mut self,
        local: spillway_ir::LocalId,
        frame: &WordFrame,
        span: Span,
    ) -> CodeValue {
        match self.names.get(local) {
            NameBinding::Value(value) => value,
            NameBinding::Place(at, shape) => {
                let from = ScalarPlace { at, cell: self.shapes.cell(shape) };
                self.read_cell(frame, from, span)
            }
        }
    }
}
