//! Channels that the state selects.
//!
//! Channels are few, so code is emitted for each possible channel, and a comparison selects it. The numbers of
//! channels are known at compile time if the pids of all processes with channels are.

use super::code_value::CodeValue;
use super::emitter::{Emitter, WordFrame};
use super::pids::{known_pid, numbered};
use super::shape::location_in;
use super::words::BitOffset;
use crate::interp::ChannelInstance;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, types};
use spillway_ir::{BinaryOp, ChannelId, ChannelRef, Expr, Owner, PidRule, ProcessInstance};
use spillway_model::FaultKind;

/// A selection of one channel among several.
struct ChannelChoice<'c> {
    /// The channels, each with its number.
    choices: &'c [(i64, ChannelInstance)],
    /// The number of the selected channel.
    by: &'c Expr,
    /// The fault if no channel has this number.
    otherwise: FaultKind,
}

impl Emitter<'_, '_> {
    /// Returns the number of a channel, if it is known.
    pub fn channel_number(&self, channel: ChannelInstance) -> Option<i64> {
        let all = numbered(self.interp.program())?;
        all.into_iter().find(|(_, at)| *at == channel).map(|(number, _)| number)
    }

    /// Emits `body` for each possible channel. The body ends its block.
    pub fn each_channel(
        &mut self,
        channel: &ChannelRef,
        frame: &WordFrame,
        body: &mut dyn FnMut(&mut Self, ChannelInstance),
    ) {
        let program = self.interp.program();
        match channel {
            ChannelRef::Named(id) => body(self, self.names.named(program, *id)),
            ChannelRef::Element { first, count, index } => {
                let row = (0..*count).map(|at| {
                    let channel = self.names.named(program, ChannelId(first.0 + at));
                    (i64::from(at), channel)
                });
                let row: Vec<_> = row.collect();
                let (choices, otherwise) = (&row, FaultKind::Index);
                self.choose_channel(ChannelChoice { choices, by: index, otherwise }, frame, body);
            }
            ChannelRef::Computed(number) => {
                let all = numbered(program).unwrap_or_default();
                let (choices, otherwise) = (&all, FaultKind::Undefined);
                self.choose_channel(ChannelChoice { choices, by: number, otherwise }, frame, body);
            }
        }
    }

    fn choose_channel(
        &mut self,
        choice: ChannelChoice<'_>,
        frame: &WordFrame,
        body: &mut dyn FnMut(&mut Self, ChannelInstance),
    ) {
        let ChannelChoice { choices, by: chosen, otherwise } = choice;
        let value = self.value(chosen, frame);
        for &(number, channel) in choices {
            if !value.may_be(number) {
                continue;
            }
            let (this_one, next) = (self.block(), self.block());
            let equal = self.compare(BinaryOp::Equal, value, CodeValue::constant(number));
            self.branch_on(equal, this_one, next);
            self.continue_at(this_one);
            self.fail_unless_alive(channel, frame, otherwise, chosen);
            body(self, channel);
            self.continue_at(next);
        }
        self.end_with_fault(otherwise, chosen.span);
    }

    /// Fails unless the instance that owns the channel is alive. Otherwise the number denotes no channel.
    fn fail_unless_alive(
        &mut self,
        channel: ChannelInstance,
        frame: &WordFrame,
        kind: FaultKind,
        chosen: &Expr,
    ) {
        let Owner::Process(process) = self.interp.program().channels[channel.id].owner else {
            return;
        };
        let owner = ProcessInstance { process, slot: channel.slot };
        if self.names.mover != Some(owner) {
            let cell = location_in(self.interp.layout(), owner);
            let code = self.read(frame, BitOffset::fixed(cell.bit), cell.bits);
            let gone = self.b.ins().icmp_imm_s(IntCC::Equal, code, 0);
            self.fail_if(gone, kind, chosen.span);
        }
    }

    /// Returns the result of `body` for the selected channel.
    pub fn on_channel(
        &mut self,
        channel: &ChannelRef,
        frame: &WordFrame,
        body: &mut dyn FnMut(&mut Self, ChannelInstance) -> CodeValue,
    ) -> CodeValue {
        if let ChannelRef::Named(id) = channel {
            let at = self.names.named(self.interp.program(), *id);
            return body(self, at);
        }
        let end = self.block();
        let result = self.b.append_block_param(end, types::I64);
        let mut range = (i64::MAX, i64::MIN);
        self.each_channel(channel, frame, &mut |this, at| {
            let value = body(this, at);
            range = (range.0.min(value.low), range.1.max(value.high));
            let value = this.as_int(value);
            this.b.ins().jump(end, &[BlockArg::from(value)]);
        });
        self.continue_at(end);
        CodeValue::int(result, range.0.min(range.1), range.1.max(range.0))
    }

    /// Returns the pid of the mover.
    pub fn pid(&mut self, frame: &WordFrame) -> CodeValue {
        let program = self.interp.program();
        let mover = self.names.mover.unwrap_or_else(|| unreachable!("somebody moves"));
        match (known_pid(program, mover), program.processes[mover.process].life.pid) {
            (Some(pid), _) => CodeValue::constant(pid),
            (None, PidRule::In(variable)) => {
                let place =
                    spillway_ir::Place::variable(variable, program.variables[variable].span);
                let from = self.scalar_place(&place, frame);
                self.read_cell(frame, from, place.span)
            }
            (None, _) => unreachable!("such pids are known"),
        }
    }

    /// Returns the number of live processes.
    pub fn count_processes(&mut self, frame: &WordFrame) -> CodeValue {
        let program = self.interp.program();
        let (mut all, mut most) = (self.iconst(0), 0);
        for instance in program.instances() {
            most += 1;
            let cell = location_in(self.interp.layout(), instance);
            let code = self.read(frame, BitOffset::fixed(cell.bit), cell.bits);
            let alive = self.b.ins().icmp_imm_s(IntCC::NotEqual, code, 0);
            let alive = self.b.ins().uextend(types::I64, alive);
            all = self.b.ins().iadd(all, alive);
        }
        CodeValue::int(all, 0, most)
    }
}
