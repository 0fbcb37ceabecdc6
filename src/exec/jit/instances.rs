//! The action instances at hand: their numbers, whether they are chosen, that they are enabled.
//!
//! The bit of instance `i` is bit `i % 8` of byte `i / 8` of a state's set.

use super::emitter::Emitter;
use super::names::Bound;
use super::runtime::Runtime;
use super::val::Val;
use crate::ir::{ActionId, Instance, Parameter};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// The number of an action taken alone, with its parameters as they are bound.
    pub fn number_alone(&mut self, id: ActionId, slot: u32) -> Option<Val> {
        let first = self.purpose.instances()?.first_alone(id, slot)?;
        let action = &self.interp.program().actions[id];
        let combination = self.combination(&action.parameters);
        Some(self.plus(Val::known(first.into()), combination, 1))
    }

    /// The number of a rendezvous of two actions, with these combinations of values.
    pub fn number_meeting(
        &mut self,
        (sender, theirs): ((ActionId, u32), Val),
        (receiver, ours): ((ActionId, u32), Val),
    ) -> Option<Val> {
        let numbers = self.purpose.instances()?.first_meeting(sender, receiver)?;
        let first = Val::known(numbers.first.into());
        let with_sender = self.plus(first, theirs, numbers.sender_stride);
        Some(self.plus(with_sender, ours, 1))
    }

    /// The number of what an instance is asked before it moves.
    pub fn number_may_move(&self, mover: Instance) -> Option<Val> {
        let number = self.purpose.instances()?.may_move(mover.process, mover.slot)?;
        Some(Val::known(number.into()))
    }

    /// Which combination of their values parameters that are bound have, if that is asked.
    pub fn combination(&mut self, parameters: &[Parameter]) -> Val {
        if self.purpose.instances().is_none() {
            return Val::known(0);
        }
        parameters.iter().fold(Val::known(0), |before, parameter| {
            let (low, high) = self.scalar_bounds(parameter.over);
            let Bound::Value(value) = self.names.get(parameter.local) else {
                unreachable!("parameters are values")
            };
            let least = Val::known(low.wrapping_neg());
            let offset = self.plus(least, value, 1);
            let values = high.wrapping_sub(low).wrapping_add(1) as u32;
            self.plus(offset, before, values)
        })
    }

    /// `base + value * times`.
    fn plus(&mut self, base: Val, value: Val, times: u32) -> Val {
        match (base.as_known(), value.as_known()) {
            (Some(base), Some(value)) => {
                Val::known(base.wrapping_add(value.wrapping_mul(times.into())))
            }
            _ => {
                let (base, value) = (self.as_int(base), self.as_int(value));
                let product = self.b.ins().imul_imm_s(value, i64::from(times));
                let sum = self.b.ins().iadd(base, product);
                Val::int(sum, i64::MIN, i64::MAX)
            }
        }
    }

    /// Goes on if the instance at hand is chosen, else to `otherwise`.
    pub fn go_on_if_chosen(&mut self, otherwise: Block) {
        let chosen = self.block();
        let Bit { byte, mask, .. } = self.bit_of_instance();
        let bit = self.b.ins().band(byte, mask);
        self.b.ins().brif(bit, chosen, &[], otherwise, &[]);
        self.go_on_at(chosen);
    }

    /// The same; what is passed by is possible, which others may ask.
    pub fn go_on_if_chosen_or_tell(&mut self, otherwise: Block) {
        let (passed_by, go_on) = (self.block(), self.block());
        self.go_on_if_chosen(passed_by);
        self.jump(go_on);
        self.go_on_at(passed_by);
        self.tell_possible();
        self.jump(otherwise);
        self.go_on_at(go_on);
    }

    /// Marks the instance at hand as enabled.
    pub fn mark(&mut self) {
        self.mark_instance();
        self.tell_possible();
    }

    /// The same where that does not say that anything is possible.
    pub fn mark_instance(&mut self) {
        let Bit { at, offset, byte, mask } = self.bit_of_instance();
        let marked = self.b.ins().bor(byte, mask);
        self.b.ins().store(MemFlagsData::new().with_notrap(), marked, at, offset);
    }

    /// Something can be done without `timeout`, if anybody asks.
    fn tell_possible(&mut self) {
        if self.interp.asks_for_timeout() {
            let one = self.iconst(1);
            self.store_field(one, offset_of!(Runtime, touched));
        }
    }

    /// The bit of the instance at hand in the state's set.
    fn bit_of_instance(&mut self) -> Bit {
        let number = self.instance.unwrap_or_else(|| unreachable!("steps are of instances"));
        let set = self.load_field(offset_of!(Runtime, set));
        let (at, offset, mask) = match number.as_known() {
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
        Bit { at, offset, byte, mask }
    }

    /// What goes behind a successor.
    pub fn label(&mut self, action: ActionId) -> Value {
        if !self.purpose.selects() {
            return self.iconst(action.0.into());
        }
        let own = self.instance.unwrap_or_else(|| unreachable!("steps are of instances"));
        let own = self.as_int(own);
        if !self.interp.program().comes_and_goes() {
            return own;
        }
        // Within a step that has been begun, the run-time knows its label, plus 1.
        let begun = self.load_field(offset_of!(Runtime, begun));
        let label = self.b.ins().iadd_imm_s(begun, -1);
        self.b.ins().select(begun, label, own)
    }
}

/// The bit of an instance: where its byte is, what is there, and which of its bits it is.
struct Bit {
    at: Value,
    offset: i32,
    byte: Value,
    mask: Value,
}
