//! Code of separately compiled functions (see `outline`), and their calls.
//!
//! All words of the state and of the frames are in the caller's memory. A function returns 0, or a number that
//! identifies the fault. Its result is in two words after the others.

use super::code_value::CodeValue;
use super::emitter::{Emitter, FaultHandling, ResultVariables, WordFrame, WordMemory, WordStorage};
use super::names::{LocalNames, NameBinding};
use super::outline::{OutlinedFunction, ParameterPlace};
use super::shape::StoredType;
use super::undefined::MaybeUndefined;
use super::words::{BitOffset, WordLayout};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_module::Module;
use spillway_base::source::Span;
use spillway_ir::{CallArgument, FunctionId};
use spillway_model::FaultKind;

/// Represents the position of the call in the faults that a function returns.
const AT_CALL: Span = Span { file: u32::MAX, start: u32::MAX, end: u32::MAX };

/// The status of a result that is undefined, and of one outside its type. Other statuses are the number of a site plus
/// 1.
const NO_RESULT: i64 = -1;
const BEYOND: i64 = -2;

impl Emitter<'_, '_> {
    /// Calls a separately compiled function.
    pub fn call_outlined(
        &mut self,
        id: FunctionId,
        arguments: &[CallArgument],
        span: Span,
        frame: &WordFrame,
    ) -> MaybeUndefined {
        let function = &self.interp.program().functions[id];
        let own = self.give_all(id, arguments, span, frame);
        let places = function.parameters.iter().map(|it| match own.get(it.local) {
            NameBinding::Place(at, shape) => (at, shape),
            NameBinding::Value(_) => unreachable!("parameters are places"),
        });
        let places: Vec<(BitOffset, StoredType)> = places.collect();
        let place = |&(at, shape): &(BitOffset, StoredType)| ParameterPlace::new(at, shape);
        let outline = OutlinedFunction { function: id, places: places.iter().map(place).collect() };
        let mut given = vec![self.runtime, self.state, self.memory()];
        given.extend(places.iter().filter_map(|(at, _)| at.dynamic));
        given.push(self.b.use_var(self.cursor));
        let Some(callee) = self.outlines.declare(&outline, self.module) else {
            return MaybeUndefined::Undefined;
        };
        let callee = self.module.declare_func_in_func(callee, self.b.func);
        let call = self.b.ins().call(callee, &given);
        let status = self.b.inst_results(call)[0];
        let (failed, fine) = (self.block(), self.block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(status, failed, &[], fine, &[]);
        self.continue_at(failed);
        if function.result.is_some() {
            self.fail_at_call(status, NO_RESULT, FaultKind::Undefined, span);
            self.fail_at_call(status, BEYOND, FaultKind::Range, span);
        }
        self.pass_on(status);
        self.continue_at(fine);
        match function.result {
            None => MaybeUndefined::Undefined,
            Some(ty) => {
                let (low, high) = self.scalar_bounds(ty);
                let (value, undefined) = (self.result(0), self.result(1));
                let undefined = self.b.ins().ireduce(types::I8, undefined);
                MaybeUndefined::Unless(undefined, CodeValue::int(value, low, high))
            }
        }
    }

    /// Fails if the function returned this status about its result.
    fn fail_at_call(&mut self, status: Value, said: i64, kind: FaultKind, span: Span) {
        let (failed, go_on) = (self.block(), self.block());
        let so = self.b.ins().icmp_imm_s(IntCC::Equal, status, said);
        self.b.ins().brif(so, failed, &[], go_on, &[]);
        self.continue_at(failed);
        self.end_with_fault(kind, span);
        self.continue_at(go_on);
    }

    /// Fails with the fault of a called function, and ends the block.
    fn pass_on(&mut self, status: Value) {
        match self.on_fault {
            FaultHandling::Report(action, next) => {
                let site = self.b.ins().iadd_imm_s(status, -1);
                let action = self.iconst(i64::from(action.0));
                let cursor = self.b.use_var(self.cursor);
                let arguments = [self.runtime, self.state, site, action, cursor];
                self.b.ins().call(self.imports.fault_within, &arguments);
                self.jump(next);
            }
            FaultHandling::Return => {
                self.b.ins().return_(&[status]);
            }
            FaultHandling::Ignore(next) => self.jump(next),
            FaultHandling::Branch(..) => {
                unreachable!("programs with channels have no such functions")
            }
        }
    }

    /// Ends a function with a fault.
    pub fn give_fault(&mut self, kind: FaultKind, span: Span) {
        let status = match (span == AT_CALL, kind) {
            (true, FaultKind::Undefined) => NO_RESULT,
            (true, _) => BEYOND,
            // The caller knows whose step it is.
            (false, _) => self.add_site(spillway_ir::ActionId(0), kind, span) + 1,
        };
        let status = self.iconst(status);
        self.b.ins().return_(&[status]);
    }

    fn result_offset(&self, number: i32) -> i32 {
        8 * (WordLayout::new(self.interp.layout()).words() as i32 + 1 + number)
    }

    fn result(&mut self, number: i32) -> Value {
        let (memory, offset) = (self.memory(), self.result_offset(number));
        self.b.ins().load(types::I64, MemFlagsData::new().with_notrap(), memory, offset)
    }

    fn set_result(&mut self, number: i32, value: Value) {
        let (memory, offset) = (self.memory(), self.result_offset(number));
        self.b.ins().store(MemFlagsData::new().with_notrap(), value, memory, offset);
    }

    /// Emits the body of a separately compiled function. Returns the status of a call without faults.
    pub fn outlined(&mut self, outline: &OutlinedFunction) -> Value {
        let function = &self.interp.program().functions[outline.function];
        self.memory = Some(WordMemory::Caller(self.arguments[2]));
        self.on_fault = FaultHandling::Return;
        let arguments = self.arguments.clone();
        let mut dynamic = arguments[3..].iter().copied();
        let mut own = LocalNames::default();
        for (parameter, place) in function.parameters.iter().zip(&outline.places) {
            let ParameterPlace { bit, slack, is_dynamic, shape } = *place;
            let dynamic = if is_dynamic { dynamic.next() } else { None };
            own.bind(parameter.local, NameBinding::Place(BitOffset { bit, slack, dynamic }, shape));
        }
        self.names = own;
        self.own = self.interp.layout().frames.functions.get(outline.function);
        let words = vec![WordStorage::Memory; WordLayout::new(self.interp.layout()).words()];
        let (end, frame) = (self.block(), WordFrame { words });
        let (exit, result) = self.end_of(outline.function, end, AT_CALL);
        self.exit = Some(exit);
        self.run(&function.body, &frame);
        match function.result {
            None => self.jump(end),
            Some(_) => self.end_with_fault(FaultKind::Undefined, AT_CALL),
        }
        self.continue_at(end);
        if let Some(ResultVariables { value, undefined }) = result {
            let (value, undefined) = (self.b.use_var(value), self.b.use_var(undefined));
            let undefined = self.b.ins().uextend(types::I64, undefined);
            self.set_result(0, value);
            self.set_result(1, undefined);
        }
        self.iconst(0)
    }
}
