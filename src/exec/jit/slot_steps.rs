//! Steps of programs whose processes come and go, and whose actions hang together.
//!
//! There is a function for each location of each instance. What the mover does next in the same
//! step is emitted behind an action where it is bound to be done; otherwise the state between is
//! handed to the run-time, which calls the function for the place the mover is then at. See
//! [`interp::turns`](crate::exec::interp) for the rules.

use super::code::MoverMode;
use super::code_purpose::may_rendezvous;
use super::emitter::{Emitter, FaultHandling, WordFrame};
use super::footprint::{StepFootprint, own_bits};
use super::names::LocalNames;
use super::native_support::is_native_turn;
use super::rendezvous::OfferedMessage;
use super::runtime::{CHAIN_MAX, JitRuntime};
use super::shape::location_in;
use crate::exec::interp::ChannelInstance;
use crate::ir::{
    Action, ActionId, Communication, Expr, LocationId, ProcessInstance, Stmt, StmtKind, TurnRule,
};
use crate::model::FaultKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use cranelift_frontend::Variable;
use std::mem::offset_of;

/// So many from a location that states come to only within steps: the code from where the step began
/// has passed it, unless the chain ended there. Without this a sequence of n actions would be emitted
/// nearly 64 n times over.
const CHAIN_WITHIN: usize = 8;

/// What is known, while the actions of a location are gone through, of those before.
#[derive(Clone, Copy)]
struct EarlierActions {
    /// Whether one was possible (8 bits).
    any: Variable,
    /// The tier of the last one that was, or 0 (64 bits).
    tier: Variable,
    /// Whether any of this is asked.
    asked: bool,
}

/// A mover, and how it is looked at.
#[derive(Clone, Copy)]
struct MoverInMode {
    /// Who.
    mover: ProcessInstance,
    /// Its number among all.
    number: u32,
    /// How.
    mode: MoverMode,
}

/// An action whose guard holds.
#[derive(Clone, Copy)]
struct OfferedAction {
    /// Which.
    id: ActionId,
    /// Whether it matters to others that it is possible: then it is chosen only after that is known.
    asked: bool,
    /// What is known of those before.
    before: EarlierActions,
    /// Where it is not possible.
    next: Block,
    /// Behind its steps.
    taken: Block,
    /// Where it fails, or where it is possible and no steps are taken.
    failed: Block,
}

impl Emitter<'_, '_> {
    /// All steps that an instance at a location begins, or goes on with, where processes come and go.
    pub fn turn(&mut self, mover: ProcessInstance, at: LocationId, mode: MoverMode, number: u32) {
        let (interp, program) = (self.interp, self.interp.program());
        let actions = interp.actions_from(mover.process, at);
        if !self.is_native_turn(mover, actions) {
            self.interpreted += actions.len();
            return self.emit_interpreted_mover(mode, number);
        }
        self.names = LocalNames::of(mover, mode == MoverMode::Timeout);
        let end = self.block();
        let provided = program.processes[mover.process].life.provided.as_ref();
        if let Some(condition) = provided.filter(|_| mode != MoverMode::First) {
            let may = self.block();
            let parent = self.parent();
            // Nobody's action is at fault.
            self.on_fault = FaultHandling::Report(ActionId(0), end);
            self.instance = self.number_may_move(mover);
            let looking = self.purpose.marks_enabled().then(|| self.block());
            if let Some(fails) = looking {
                self.on_fault = FaultHandling::Ignore(fails);
            }
            self.branch(condition, &parent, may, end);
            if let Some(fails) = looking {
                self.continue_at(fails);
                self.mark();
                self.jump(end);
            }
            self.continue_at(may);
        }
        let before = self.before(actions, mode);
        let by = MoverInMode { mover, number, mode };
        for &id in actions {
            if self.is_too_large() {
                break;
            }
            self.offer(by, id, before, end);
        }
        self.jump(end);
        self.continue_at(end);
    }

    fn is_native_turn(&self, mover: ProcessInstance, actions: &[ActionId]) -> bool {
        let program = self.interp.program();
        is_native_turn(program, mover, actions, || self.sizes.all_receives_compiled(program))
    }

    fn before(&mut self, actions: &[ActionId], mode: MoverMode) -> EarlierActions {
        let program = self.interp.program();
        let decides = |id: &ActionId| {
            let control = program.actions[*id].control;
            control.tier != 0 || control.otherwise
        };
        let asked = mode == MoverMode::First || actions.iter().any(decides);
        let (any, tier) = (self.b.declare_var(types::I8), self.b.declare_var(types::I64));
        let zeros = (self.b.ins().iconst(types::I8, 0), self.iconst(0));
        self.b.def_var(any, zeros.0);
        self.b.def_var(tier, zeros.1);
        EarlierActions { any, tier, asked }
    }

    /// One action of the mover.
    fn offer(&mut self, by: MoverInMode, id: ActionId, before: EarlierActions, end: Block) {
        let action = &self.interp.program().actions[id];
        let next = self.block();
        if before.asked {
            self.skip(action, by.mode, before, next, end);
        }
        let (taken, failed) = (self.block(), self.block());
        self.instance = self.number_alone(id, by.mover.slot);
        self.on_fault = FaultHandling::Report(id, failed);
        if self.purpose.marks_enabled() {
            self.on_fault = FaultHandling::Ignore(failed);
        }
        let meets = may_rendezvous(self.interp.program(), action);
        let asked = before.asked || meets || self.interp.reads_timeout();
        if self.purpose.selects() && !asked {
            self.continue_if_chosen(next);
        }
        if let Some(guard) = &action.guard {
            let (holds, parent) = (self.block(), self.parent());
            self.branch(guard, &parent, holds, next);
            self.continue_at(holds);
        }
        let offer = OfferedAction { id, asked, before, next, taken, failed };
        match &action.communication {
            None => self.take_or_look(by, offer, None),
            Some(communication) => self.offer_message(by, offer, communication),
        }
        self.continue_at(failed);
        if self.purpose.marks_enabled() {
            self.instance = self.number_alone(id, by.mover.slot);
            self.mark();
        }
        self.jump(taken);
        self.continue_at(taken);
        let one = self.b.ins().iconst(types::I8, 1);
        self.b.def_var(before.any, one);
        let tier = self.iconst(action.control.tier.into());
        self.b.def_var(before.tier, tier);
        self.jump(next);
        self.continue_at(next);
    }

    /// An action that communicates, by whichever channel is meant.
    fn offer_message(
        &mut self,
        by: MoverInMode,
        offer: OfferedAction,
        communication: &Communication,
    ) {
        let parent = self.parent();
        let mut unmet = None;
        self.each_channel(communication.channel(), &parent, &mut |this, channel| {
            this.names.channel = Some(channel);
            let capacity = this.interp.program().channels[channel.id].capacity;
            match communication {
                Communication::Receive { .. } if capacity == 0 => this.jump(offer.next),
                Communication::Send { values, .. } if capacity == 0 => {
                    let unmet = *unmet.get_or_insert_with(|| this.block());
                    this.offer_rendezvous(by, offer, channel, (communication, values), unmet);
                }
                _ => {
                    this.wait_for(communication, channel, &parent, offer.next);
                    this.take_or_look(by, offer, Some(channel));
                }
            }
        });
        if let Some(unmet) = unmet {
            self.continue_at(unmet);
            let zero = self.iconst(0);
            self.b.def_var(offer.before.tier, zero);
            self.jump(offer.next);
        }
    }

    /// A send by rendezvous. It is no way to go on within a `d_step`.
    fn offer_rendezvous(
        &mut self,
        by: MoverInMode,
        offer: OfferedAction,
        channel: ChannelInstance,
        (communication, values): (&Communication, &[Expr]),
        unmet: Block,
    ) {
        let control = self.interp.program().actions[offer.id].control;
        if by.mode == MoverMode::First || control.turn == TurnRule::First {
            return self.end_with_fault(FaultKind::Error, communication.span());
        }
        let parent = self.parent();
        let message = self.message(channel, communication, values, &parent);
        let (sender, send) = (by.mover, offer.id);
        let sent = OfferedMessage { sender, send, channel, message: &message };
        self.rendezvous_with_all(sent, offer.taken, unmet);
    }

    /// Takes an action that is possible, if steps are taken at all. Ends the block.
    fn take_or_look(
        &mut self,
        by: MoverInMode,
        offer: OfferedAction,
        channel: Option<ChannelInstance>,
    ) {
        if self.purpose.marks_enabled() {
            return self.jump(offer.failed);
        }
        if self.purpose.selects() && offer.asked {
            self.continue_if_chosen_or_report(offer.taken);
        }
        self.take(by, offer.id, channel);
        self.jump(offer.taken);
    }

    /// Leaves the location, or passes an action by, because of those before it.
    fn skip(
        &mut self,
        action: &Action,
        mode: MoverMode,
        before: EarlierActions,
        next: Block,
        end: Block,
    ) {
        let any = self.b.use_var(before.any);
        if mode == MoverMode::First {
            let go_on = self.block();
            self.b.ins().brif(any, end, &[], go_on, &[]);
            self.continue_at(go_on);
        }
        let (go_on, chosen) = (self.block(), self.block());
        let tier = self.b.use_var(before.tier);
        self.b.ins().brif(tier, chosen, &[], go_on, &[]);
        self.continue_at(chosen);
        let own = i64::from(action.control.tier);
        let other = self.b.ins().icmp_imm_s(IntCC::NotEqual, tier, own);
        self.b.ins().brif(other, end, &[], go_on, &[]);
        self.continue_at(go_on);
        if action.control.otherwise {
            let alone = self.block();
            self.b.ins().brif(any, next, &[], alone, &[]);
            self.continue_at(alone);
        }
    }

    /// Takes an action that is possible.
    fn take(&mut self, by: MoverInMode, id: ActionId, channel: Option<ChannelInstance>) {
        let chain = self.chain(by.mover, id);
        let program = self.interp.program();
        let mut footprint = self.footprint(&self.names);
        self.step_footprint(&mut footprint, &chain);
        let work = self.copy(&footprint.words());
        if let (Some(communication), Some(channel)) = (&program.actions[id].communication, channel)
        {
            let parent = self.parent();
            self.exchange(communication, channel, &parent, &work);
        }
        self.go_through(by.mover, by.number, &chain, id, &work);
    }

    pub fn step_footprint(&mut self, footprint: &mut StepFootprint, chain: &[ActionId]) {
        let program = self.interp.program();
        for &id in chain {
            footprint.action(id, &program.actions[id]);
        }
        if let Some(last) = program.last {
            footprint.variable(last);
        }
    }

    /// An action and those that the mover is bound to take after it in the same step.
    pub fn chain(&self, mover: ProcessInstance, first: ActionId) -> Vec<ActionId> {
        let program = self.interp.program();
        let mut chain = vec![first];
        let mut last = first;
        let rests =
            program.actions[first].edge.is_none_or(|it| self.sizes.rests(it.process, it.from));
        let most = if rests { CHAIN_MAX } else { CHAIN_WITHIN };
        while chain.len() < most {
            let action = &program.actions[last];
            let asked = action.control.turn == TurnRule::Atomic
                && program.processes[mover.process].life.provided.is_some();
            if action.control.turn == TurnRule::Open || asked || ends(action) {
                break;
            }
            let Some(edge) = action.edge else { break };
            let [next] = *self.interp.actions_from(mover.process, edge.to) else { break };
            let it = &program.actions[next];
            if it.guard.is_some()
                || it.communication.is_some()
                || !self.is_native_turn(mover, &[next])
            {
                break;
            }
            chain.push(next);
            last = next;
        }
        chain
    }

    /// Moves and runs the bodies of a chain, and ends the step or hands it on. Faults of the chain are those of its
    /// actions; code that is emitted behind it, such as that for another channel, reports to the action at hand again.
    pub fn go_through(
        &mut self,
        mover: ProcessInstance,
        number: u32,
        chain: &[ActionId],
        first: ActionId,
        work: &WordFrame,
    ) {
        let program = self.interp.program();
        let at_hand = self.on_fault;
        let FaultHandling::Report(_, failed) = at_hand else { unreachable!("steps report") };
        let mut turn = TurnRule::Open;
        for &id in chain {
            self.on_fault = FaultHandling::Report(id, failed);
            self.complete(mover.slot, id, work);
            // The other side of a rendezvous is through only when this one is.
            if Some(&id) == chain.first() && id != first {
                self.count_taken(first);
            }
            self.count_taken(id);
            turn = program.actions[id].control.turn;
        }
        self.on_fault = at_hand;
        let last = chain.last().copied().unwrap_or(first);
        match turn {
            TurnRule::Open => self.candidate(first, work, 0..0),
            _ => self.leave_to_interpreter(number, last, turn == TurnRule::First, work),
        }
    }

    /// Moves an instance.
    pub fn set_location(&mut self, at: ProcessInstance, to: LocationId, work: &WordFrame) {
        let free = self.interp.program().processes[at.process].has_slots();
        let cell = location_in(self.interp.layout(), at);
        self.write_known(work, cell.bit, cell.bits, u64::from(to.0) + u64::from(free));
    }

    /// Clears all that belongs to an instance that ends.
    pub fn end_instance(&mut self, mover: ProcessInstance, work: &WordFrame) {
        for bits in own_bits(self.interp, mover) {
            for start in bits.clone().step_by(64) {
                self.write_known(work, start, 64.min(bits.end - start), 0);
            }
        }
    }

    /// Hands a state within a step to the run-time, after which the same mover goes on.
    fn leave_to_interpreter(
        &mut self,
        number: u32,
        action: ActionId,
        first: bool,
        work: &WordFrame,
    ) {
        let cursor = self.room();
        self.store(work, cursor);
        if self.purpose.selects() {
            let label = self.label(action);
            self.store_field(label, offset_of!(JitRuntime, label));
        }
        let mover = self.b.ins().iconst(types::I32, i64::from(number) << 1 | i64::from(first));
        let action = self.b.ins().iconst(types::I32, i64::from(action.0));
        self.b
            .ins()
            .call(self.imports.leave_to_interpreter, &[self.runtime, cursor, mover, action]);
    }

    /// Completes the steps that have been handed on.
    pub fn complete_steps(&mut self) {
        let (some, end) = (self.block(), self.block());
        let open = self.load_field(offset_of!(JitRuntime, open));
        self.b.ins().brif(open, some, &[], end, &[]);
        self.continue_at(some);
        let cursor = self.b.use_var(self.cursor);
        let call = self.b.ins().call(self.imports.complete, &[self.runtime, self.state, cursor]);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
        self.jump(end);
        self.continue_at(end);
    }

    /// The number of an instance among all.
    pub fn number_of(&self, of: ProcessInstance) -> u32 {
        let mut all = self.interp.program().instances();
        let number = all.position(|it| it == of);
        number.map_or(0, |number| number as u32)
    }
}

/// Whether the mover is gone after an action.
fn ends(action: &Action) -> bool {
    action.body.iter().any(|stmt: &Stmt| stmt.kind == StmtKind::Exit)
}
