//! The current action instance: its number, the test whether it is chosen, the mark that it is enabled.
//!
//! The bit of instance `i` is bit `i % 8` of byte `i / 8` of a state's set.

use super::code_value::CodeValue;
use super::emitter::Emitter;
use super::names::NameBinding;
use super::runtime::JitRuntime;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use spillway_ir::{ActionId, Parameter, ProcessInstance};
use std::mem::offset_of;

/// One side of a rendezvous: an action, the slot of its mover, and the combination of its parameter values.
#[derive(Clone, Copy)]
pub(super) struct EmittedSide {
    pub action: ActionId,
    pub slot: u32,
    pub combination: CodeValue,
}

impl EmittedSide {
    /// Creates the side of an action without parameters.
    pub fn without_parameters(action: ActionId, mover: ProcessInstance) -> EmittedSide {
        EmittedSide { action, slot: mover.slot, combination: CodeValue::constant(0) }
    }
}

impl Emitter<'_, '_> {
    /// Returns the number of an action taken alone, with its current parameters.
    pub fn number_alone(&mut self, id: ActionId, slot: u32) -> Option<CodeValue> {
        let first = self.purpose.instances()?.first_alone(id, slot)?;
        let action = &self.interp.program().actions[id];
        let combination = self.combination(&action.parameters);
        Some(self.plus(CodeValue::constant(first.into()), combination, 1))
    }

    /// Returns the number of a rendezvous of two actions.
    pub fn number_meeting(
        &mut self,
        sender: EmittedSide,
        receiver: EmittedSide,
    ) -> Option<CodeValue> {
        let numbers = self.purpose.instances()?.first_meeting(
            sender.action,
            sender.slot,
            receiver.action,
            receiver.slot,
        )?;
        let first = CodeValue::constant(numbers.first.into());
        let with_sender = self.plus(first, sender.combination, numbers.sender_stride);
        Some(self.plus(with_sender, receiver.combination, 1))
    }

    /// Returns the number of the `provided` evaluation of an instance.
    pub fn number_may_move(&self, mover: ProcessInstance) -> Option<CodeValue> {
        let number = self.purpose.instances()?.may_move(mover.process, mover.slot)?;
        Some(CodeValue::constant(number.into()))
    }

    /// Returns the combination of values of the bound parameters, if it is needed.
    pub fn combination(&mut self, parameters: &[Parameter]) -> CodeValue {
        if self.purpose.instances().is_none() {
            return CodeValue::constant(0);
        }
        parameters.iter().fold(CodeValue::constant(0), |before, parameter| {
            let (low, high) = self.scalar_bounds(parameter.over);
            let NameBinding::Value(value) = self.names.get(parameter.local) else {
                unreachable!("parameters are values")
            };
            let least = CodeValue::constant(low.wrapping_neg());
            let offset = self.plus(least, value, 1);
            let values = high.wrapping_sub(low).wrapping_add(1) as u32;
            self.plus(offset, before, values)
        })
    }

    /// Returns `base + value * times`.
    fn plus(&mut self, base: CodeValue, value: CodeValue, times: u32) -> CodeValue {
        match (base.as_constant(), value.as_constant()) {
            (Some(base), Some(value)) => {
                CodeValue::constant(base.wrapping_add(value.wrapping_mul(times.into())))
            }
            _ => {
                let (base, value) = (self.as_int(base), self.as_int(value));
                let product = self.b.ins().imul_imm_s(value, i64::from(times));
                let sum = self.b.ins().iadd(base, product);
                CodeValue::int(sum, i64::MIN, i64::MAX)
            }
        }
    }

    /// Continues if the current instance is chosen, else jumps to `otherwise`.
    pub fn continue_if_chosen(&mut self, otherwise: Block) {
        let chosen = self.block();
        let InstanceBit { byte, mask, .. } = self.bit_of_instance();
        let bit = self.b.ins().band(byte, mask);
        self.b.ins().brif(bit, chosen, &[], otherwise, &[]);
        self.continue_at(chosen);
    }

    /// Does the same; an instance that is not chosen is still reported as possible, since others may depend on it.
    pub fn continue_if_chosen_or_report(&mut self, otherwise: Block) {
        let (passed_by, go_on) = (self.block(), self.block());
        self.continue_if_chosen(passed_by);
        self.jump(go_on);
        self.continue_at(passed_by);
        self.tell_possible();
        self.jump(otherwise);
        self.continue_at(go_on);
    }

    /// Marks the current instance as enabled.
    pub fn mark(&mut self) {
        self.mark_instance();
        self.tell_possible();
    }

    /// Marks the instance without reporting a possible step.
    pub fn mark_instance(&mut self) {
        let InstanceBit { at, offset, byte, mask } = self.bit_of_instance();
        let marked = self.b.ins().bor(byte, mask);
        self.b.ins().store(MemFlagsData::new().with_notrap(), marked, at, offset);
    }

    /// Reports that a step is possible without `timeout`, if any expression reads `timeout`.
    fn tell_possible(&mut self) {
        if self.interp.reads_timeout() {
            let one = self.iconst(1);
            self.store_field(one, offset_of!(JitRuntime, touched));
        }
    }

    /// Returns the bit of the current instance in the state's set.
    fn bit_of_instance(&mut self) -> InstanceBit {
        let number = self.instance.unwrap_or_else(|| unreachable!("steps are of instances"));
        let set = self.load_field(offset_of!(JitRuntime, set));
        let (at, offset, mask) = match number.as_constant() {
            Some(number) => {
                let mask = self.b.ins().iconst(types::I8, 1 << (number % 8));
                (set, (number / 8) as i32, mask)
            }
            None => {
                let number = self.as_int(number);
                let byte = self.b.ins().ushr_imm_s(number, 3);
                let bit = self.b.ins().band_imm_s(number, 7);
                let one = self.b.ins().iconst(types::I8, 1);
                (self.b.ins().iadd(set, byte), 0, self.b.ins().ishl(one, bit))
            }
        };
        let byte = self.b.ins().load(types::I8, MemFlagsData::new().with_notrap(), at, offset);
        InstanceBit { at, offset, byte, mask }
    }

    /// Returns the label after a successor.
    pub fn label(&mut self, action: ActionId) -> Value {
        if !self.purpose.selects() {
            return self.iconst(action.0.into());
        }
        let own = self.instance.unwrap_or_else(|| unreachable!("steps are of instances"));
        let own = self.as_int(own);
        if !self.interp.program().has_dynamic_processes() {
            return own;
        }
        // Within a step that has begun, the runtime holds its label, plus 1.
        let begun = self.load_field(offset_of!(JitRuntime, begun));
        let label = self.b.ins().iadd_imm_s(begun, -1);
        self.b.ins().select(begun, label, own)
    }
}

/// The bit of an instance: the address of its byte, the content of the byte, and the mask of the bit.
struct InstanceBit {
    at: Value,
    offset: i32,
    byte: Value,
    mask: Value,
}
