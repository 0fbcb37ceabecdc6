//! Functions, and the names of their bodies. A function is emitted at each call, unless it is large (see `outline`).
//!
//! No function calls itself, so each has one frame (see [`layout`](spillway_ir::layout)). Here frames are separate words
//! after those of the state.

use super::code_value::CodeValue;
use super::emitter::{BodyExit, Emitter, FaultHandling, ResultVariables, WordFrame};
use super::names::{LocalNames, NameBinding};
use super::shape::StoredType;
use super::undefined::MaybeUndefined;
use super::words::BitOffset;
use crate::interp::StoreRule;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spillway_base::source::Span;
use spillway_ir::{CallArgument, Expr, FunctionId, LocalId, OverflowRule, Place, Stmt, TypeId};
use spillway_model::FaultKind;

/// An evaluated argument.
enum EmittedArgument {
    Code(Value),
    Copy(BitOffset),
    Place(BitOffset, StoredType),
}

impl Emitter<'_, '_> {
    /// Returns the end of a function's body, and the variables of its result.
    pub fn end_of(
        &mut self,
        id: FunctionId,
        block: Block,
        span: Span,
    ) -> (BodyExit, Option<ResultVariables>) {
        let function = &self.interp.program().functions[id];
        let result = function.result.map(|_| {
            let (value, undefined) =
                (self.b.declare_var(types::I64), self.b.declare_var(types::I8));
            let zeros = (self.iconst(0), self.b.ins().iconst(types::I8, 0));
            self.b.def_var(value, zeros.0);
            self.b.def_var(undefined, zeros.1);
            ResultVariables { value, undefined }
        });
        (BodyExit { block, result: result.map(|returned| (id, returned)), span }, result)
    }

    /// Stores the result of a function.
    pub fn store_result(&mut self, place: &Place, result: MaybeUndefined, frame: &WordFrame) {
        let to = self.scalar_place(place, frame);
        let rule = StoreRule { overflow: OverflowRule::Fails, span: place.span };
        self.store_maybe(frame, to, result, rule);
    }

    /// Calls a function and returns its result, if it has one.
    pub fn result_of(
        &mut self,
        id: FunctionId,
        arguments: &[CallArgument],
        span: Span,
        frame: &WordFrame,
    ) -> MaybeUndefined {
        if self.sizes.is_outlined(id) {
            return self.call_outlined(id, arguments, span, frame);
        }
        let function = &self.interp.program().functions[id];
        let own = self.give_all(id, arguments, span, frame);
        let names = std::mem::replace(&mut self.names, own);
        let locals = self.interp.layout().frames.functions.get(id);
        let outer = (std::mem::replace(&mut self.own, locals), self.exit);
        let end = self.block();
        let (exit, result) = self.end_of(id, end, span);
        self.exit = Some(exit);
        self.run(&function.body, frame);
        match function.result {
            None => self.jump(end),
            Some(_) => self.end_with_fault(FaultKind::Undefined, span),
        }
        self.continue_at(end);
        self.names = names;
        (self.own, self.exit) = outer;
        match (result, function.result) {
            (Some(ResultVariables { value, undefined }), Some(ty)) => {
                let (low, high) = self.scalar_bounds(ty);
                let (value, undefined) = (self.b.use_var(value), self.b.use_var(undefined));
                MaybeUndefined::Unless(undefined, CodeValue::int(value, low, high))
            }
            _ => MaybeUndefined::Undefined,
        }
    }

    /// Binds the parameters of a function. All arguments are evaluated before any is stored, since evaluating one may
    /// call the same function.
    pub fn give_all(
        &mut self,
        id: FunctionId,
        arguments: &[CallArgument],
        span: Span,
        frame: &WordFrame,
    ) -> LocalNames {
        let function = &self.interp.program().functions[id];
        let mut given = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            given.push(match argument {
                CallArgument::Value(value) => {
                    let value = self.possibly_undefined(value, frame);
                    let cell = self.shapes.cell(StoredType { ty: parameter.ty, cell: None });
                    let rule = StoreRule { overflow: OverflowRule::Fails, span };
                    EmittedArgument::Code(self.encode_maybe(cell, value, rule))
                }
                CallArgument::Copy(place) => {
                    EmittedArgument::Copy(self.place_offset(place, frame).0)
                }
                CallArgument::Reference(place) => {
                    let (at, shape) = self.place_offset(place, frame);
                    EmittedArgument::Place(at, shape)
                }
            });
        }
        let mut own = LocalNames::default();
        for (given, parameter) in given.into_iter().zip(&function.parameters) {
            let shape = StoredType { ty: parameter.ty, cell: None };
            let (at, shape) = match given {
                EmittedArgument::Place(at, shape) => (at, shape),
                EmittedArgument::Code(code) => {
                    let at = self.shapes.parameter(self.interp, id, parameter.local);
                    self.write(frame, at, self.shapes.bits(shape), code);
                    (at, shape)
                }
                EmittedArgument::Copy(from) => {
                    let at = self.shapes.parameter(self.interp, id, parameter.local);
                    self.copy_bits(frame, from, at, self.shapes.bits(shape));
                    (at, shape)
                }
            };
            own.bind(parameter.local, NameBinding::Place(at, shape));
        }
        own
    }

    /// Emits a return from the body.
    pub fn leave(&mut self, value: Option<&Expr>, frame: &WordFrame) {
        let exit = self.exit.unwrap_or_else(|| unreachable!("every body has an end"));
        match (exit.result, value) {
            (Some((id, to)), Some(value)) => {
                let maybe = self.possibly_undefined(value, frame);
                self.check_result(id, maybe, exit.span);
                let (value, undefined) = match maybe {
                    MaybeUndefined::Value(value) => (value, self.b.ins().iconst(types::I8, 0)),
                    MaybeUndefined::Unless(undefined, value) => (value, undefined),
                    MaybeUndefined::Undefined => {
                        (CodeValue::constant(0), self.b.ins().iconst(types::I8, 1))
                    }
                };
                let value = self.as_int(value);
                self.b.def_var(to.value, value);
                self.b.def_var(to.undefined, undefined);
            }
            (None, Some(value)) => {
                self.possibly_undefined(value, frame);
            }
            _ => {}
        }
        self.jump(exit.block);
        self.continue_unreachable();
    }

    /// Checks that a result is a value of its type.
    fn check_result(&mut self, id: FunctionId, maybe: MaybeUndefined, span: Span) {
        let function = &self.interp.program().functions[id];
        let (value, undefined) = match maybe {
            MaybeUndefined::Undefined => return,
            MaybeUndefined::Value(value) => (value, None),
            MaybeUndefined::Unless(undefined, value) => (value, Some(undefined)),
        };
        let Some((low, high)) = function.result.map(|ty| self.scalar_bounds(ty)) else { return };
        if !value.is_within(low, high) {
            let beyond = self.is_out_of_range(value, low, high);
            self.fail_unless_undefined(beyond, undefined, span);
        }
    }

    /// Clears a local variable at its declaration.
    pub fn declare(&mut self, local: LocalId, ty: TypeId, body: &[Stmt], frame: &WordFrame) {
        let own = self.own.unwrap_or_else(|| unreachable!("bodies with variables have frames"));
        let at = self.shapes.local(self.interp.layout(), own, local);
        let shape = StoredType { ty, cell: None };
        // Unused cells hold code 0.
        self.fill_shape(frame, at, shape, |_| 0);
        self.names.bind(local, NameBinding::Place(at, shape));
        self.run(body, frame);
    }

    /// Runs a body with an alias of a place.
    pub fn alias(&mut self, local: LocalId, place: &Place, body: &[Stmt], frame: &WordFrame) {
        let (at, shape) = self.place_offset(place, frame);
        self.names.bind(local, NameBinding::Place(at, shape));
        self.run(body, frame);
    }

    /// Continues if an assumption holds; otherwise drops the step.
    pub fn assume(&mut self, condition: &Expr, frame: &WordFrame) {
        let next = match (self.on_drop, self.on_fault) {
            (Some(next), _) | (None, FaultHandling::Report(_, next)) => next,
            _ => unreachable!("assumptions are statements of steps"),
        };
        let holds = self.block();
        self.branch(condition, frame, holds, next);
        self.continue_at(holds);
    }
}
