//! Steps, in the interpreter's order.
//!
//! There is a function for each location of each process or instance, and one for each group of actions without a
//! process. With dynamic processes, the fixed continuation of a step is emitted after its action. Otherwise the
//! intermediate state is handed to the runtime, which calls the function for the mover's new location. See
//! [`interp::steps`](crate::interp) for the rules.

use super::bindings::BindingEmission;
use super::branchless::CellTest;
use super::code_purpose::{may_be_discarded, may_rendezvous};
use super::emitter::{Emitter, FaultHandling, WordFrame};
use super::expr::{CountedLoop, LoopExit};
use super::footprint::{StepFootprint, own_bits};
use super::guards::first_conjunct;
use super::names::LocalNames;
use super::native_support::{is_native, is_native_turn};
use super::rendezvous::OfferedMessage;
use super::runtime::{CHAIN_MAX, JitRuntime};
use super::shape::location_in;
use super::step::ActionChain;
use crate::interp::{ChannelInstance, MoverMode};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use cranelift_frontend::Variable;
use spillway_analysis::bindings::conjuncts;
use spillway_ir::{
    Action, ActionId, BinaryOp, Communication, Expr, ExprKind, LocationId, Parameter,
    ProcessInstance, Stmt, StmtKind, TurnRule,
};
use spillway_model::FaultKind;
use std::mem::offset_of;
use std::ops::Range;

/// The maximum chain length from a location that is reached only within steps. The code from the beginning of the step
/// already contains the chain, unless the chain ended there. Without this limit a sequence of n actions would be
/// emitted nearly 64 n times.
const CHAIN_WITHIN: usize = 8;

/// The status of earlier actions, while the actions of a location are visited.
#[derive(Clone, Copy)]
struct EarlierActions {
    /// Whether one was possible (8 bits).
    any: Variable,
    /// The tier of the last possible one, or 0 (64 bits).
    tier: Variable,
}

/// A mover, and the mode of the visit.
#[derive(Clone, Copy)]
pub(super) struct MoverInMode {
    /// An instance of a process, or `None`.
    pub mover: Option<ProcessInstance>,
    /// The number of the instance.
    pub number: u32,
    /// The mode.
    pub mode: MoverMode,
}

/// An action whose guard holds.
#[derive(Clone, Copy)]
struct OfferedAction {
    /// The action.
    id: ActionId,
    /// Whether other actions depend on it being possible. Then the choice is tested only after this is known.
    asked: bool,
    /// The status of the earlier actions, if it is needed.
    before: Option<EarlierActions>,
    /// The block for an action that is not possible.
    next: Block,
    /// The block after its steps.
    taken: Block,
    /// The block for a failure, and for a possible action if no steps are taken.
    failed: Block,
}

/// An action whose parameters are bound.
#[derive(Clone, Copy)]
struct GuardedAction<'g> {
    id: ActionId,
    /// The status of the earlier actions, if it is needed.
    before: Option<EarlierActions>,
    /// The rest of the guard.
    guard: Option<&'g Expr>,
}

/// The blocks at which code continues if an action is not offered.
#[derive(Clone, Copy)]
struct SkipTargets {
    /// At the next action.
    next: Block,
    /// After all actions of the location.
    end: Block,
}

impl Emitter<'_, '_> {
    /// Emits all steps that a mover begins or continues with these actions from its location.
    pub fn steps(&mut self, by: MoverInMode, actions: &[ActionId]) {
        let program = self.interp.program();
        if let Some(mover) = by.mover.filter(|_| program.has_dynamic_processes())
            && !self.is_native_turn(mover, actions)
        {
            self.interpreted += actions.len();
            return self.emit_interpreted_mover(by.mode, by.number);
        }
        let end = self.block();
        if let Some(mover) = by.mover {
            self.names = LocalNames::of(mover, by.mode == MoverMode::Timeout);
            self.continue_if_provided(mover, by.mode, end);
        }
        match self.earlier_actions(actions, by.mode) {
            None => self.actions(by, actions),
            Some(before) => {
                for &id in actions {
                    if self.is_too_large() {
                        break;
                    }
                    self.offer(by, id, Some(before), end);
                }
            }
        }
        self.jump(end);
        self.continue_at(end);
    }

    /// Continues if a mover's `provided` clause holds, else jumps to `end`.
    fn continue_if_provided(&mut self, mover: ProcessInstance, mode: MoverMode, end: Block) {
        let program = self.interp.program();
        let provided = program.processes[mover.process].life.provided.as_ref();
        let Some(condition) = provided.filter(|_| mode != MoverMode::First) else { return };
        let may = self.block();
        let parent = self.parent();
        // No action is at fault.
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

    /// Emits all steps of actions that do not depend on each other. Neighbours whose guards begin with the same test
    /// share it. Neighbours that each need one bit of the same word are skipped if all these bits are 0.
    fn actions(&mut self, by: MoverInMode, actions: &[ActionId]) {
        let program = self.interp.program();
        let needs = |&id: &ActionId| (id, self.needs(&program.actions[id]));
        let needing: Vec<(ActionId, Option<(usize, u64)>)> = actions.iter().map(needs).collect();
        let word = |it: &(ActionId, Option<(usize, u64)>)| it.1.map(|(word, _)| word);
        for group in needing.chunk_by(|one, other| word(one) == word(other)) {
            let ids: Vec<ActionId> = group.iter().map(|it| it.0).collect();
            let Some(word) = word(&group[0]).filter(|_| ids.len() > 1) else {
                self.tested_actions(by, &ids);
                continue;
            };
            let bits = group.iter().filter_map(|it| it.1).fold(0, |all, (_, bits)| all | bits);
            let (some, end) = (self.block(), self.block());
            let truth = self.parent_has_any(word, bits);
            self.b.ins().brif(truth, some, &[], end, &[]);
            self.continue_at(some);
            self.tested_actions(by, &ids);
            self.jump(end);
            self.continue_at(end);
        }
    }

    /// Does the same without the common test of bits.
    fn tested_actions(&mut self, by: MoverInMode, actions: &[ActionId]) {
        let program = self.interp.program();
        let test = |&id: &ActionId| (id, self.leading_test(&program.actions[id]));
        let tested: Vec<(ActionId, Option<CellTest>)> = actions.iter().map(test).collect();
        for group in tested.chunk_by(|one, other| one.1.is_some() && one.1 == other.1) {
            if self.is_too_large() {
                break;
            }
            let end = self.block();
            if let [(_, Some(test)), _, ..] = group {
                let holds = self.block();
                let truth = self.parent_matches(test.word, test.mask, test.expected);
                self.b.ins().brif(truth, holds, &[], end, &[]);
                self.continue_at(holds);
            }
            group.iter().for_each(|&(id, _)| self.offer(by, id, None, end));
            self.jump(end);
            self.continue_at(end);
        }
    }

    /// Returns the test that a guard begins with.
    fn leading_test(&self, action: &Action) -> Option<CellTest> {
        self.as_test(first_conjunct(action)?)
    }

    /// Bits of a word, from the first conjunct of a guard: the guard holds only if at least one of them is 1.
    fn needs(&self, action: &Action) -> Option<(usize, u64)> {
        self.as_required_bits(first_conjunct(action)?)
    }

    /// Leaves an action to the interpreter.
    pub fn emit_interpreted(&mut self, id: ActionId, mode: MoverMode) {
        self.interpreted += 1;
        let action = self.b.ins().iconst(types::I32, i64::from(id.0));
        let mode = self.b.ins().iconst(types::I32, mode as i64);
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, cursor, action, mode];
        let call = self.b.ins().call(self.imports.interpret, &arguments);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
    }

    /// Leaves all steps of a mover, at any location, to the interpreter.
    pub fn emit_interpreted_mover(&mut self, mode: MoverMode, number: u32) {
        let number = self.b.ins().iconst(types::I32, i64::from(number));
        let mode = self.b.ins().iconst(types::I32, mode as i64);
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, cursor, number, mode];
        let call = self.b.ins().call(self.imports.interpret_mover, &arguments);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
    }

    /// Returns the variables for earlier actions, if they are needed.
    fn earlier_actions(&mut self, actions: &[ActionId], mode: MoverMode) -> Option<EarlierActions> {
        let program = self.interp.program();
        let decides = |id: &ActionId| {
            let control = program.actions[*id].control;
            control.tier != 0 || control.otherwise
        };
        if mode != MoverMode::First && !actions.iter().any(decides) {
            return None;
        }
        let (any, tier) = (self.b.declare_var(types::I8), self.b.declare_var(types::I64));
        let zeros = (self.b.ins().iconst(types::I8, 0), self.iconst(0));
        self.b.def_var(any, zeros.0);
        self.b.def_var(tier, zeros.1);
        Some(EarlierActions { any, tier })
    }

    /// Emits all steps of one action of the mover. `end` follows those of all its actions.
    fn offer(&mut self, by: MoverInMode, id: ActionId, before: Option<EarlierActions>, end: Block) {
        let (interp, program) = (self.interp, self.interp.program());
        let action = &program.actions[id];
        if !program.has_dynamic_processes() {
            match &action.communication {
                Some(it) if interp.is_rendezvous(it) => {
                    if matches!(it, Communication::Receive { .. }) {
                        self.meet_senders(id, by.mode);
                    }
                    return;
                }
                _ if !self.is_native(id) || self.is_left(&[id]) => {
                    return self.emit_interpreted(id, by.mode);
                }
                _ => {}
            }
        }
        let next = self.block();
        if let Some(before) = before {
            self.skip(action, by.mode, before, SkipTargets { next, end });
        }
        self.each_combination(id, &mut |this, guard, next| {
            this.offer_bound(by, GuardedAction { id, before, guard }, next);
        });
        self.jump(next);
        self.continue_at(next);
    }

    /// Emits the steps of an action whose parameters are bound, if the guard holds; then code continues at `next`.
    fn offer_bound(&mut self, by: MoverInMode, guarded: GuardedAction<'_>, next: Block) {
        let GuardedAction { id, before, guard } = guarded;
        let (program, slot) = (self.interp.program(), by.mover.map_or(0, |it| it.slot));
        let action = &program.actions[id];
        let taken = before.map_or(next, |_| self.block());
        let marks = self.purpose.marks_enabled();
        let failed = if marks { self.block() } else { taken };
        let own = self.number_alone(id, slot);
        self.instance = own;
        self.on_fault = match marks {
            true => FaultHandling::Ignore(failed),
            false => FaultHandling::Report(id, failed),
        };
        let asked =
            before.is_some() || may_rendezvous(program, action) || self.interp.reads_timeout();
        if self.purpose.selects() && !asked {
            self.continue_if_chosen(next);
        }
        let parent = self.evaluation_frame(&[action]);
        self.guard(guard, &parent, next);
        let offer = OfferedAction { id, asked, before, next, taken, failed };
        match &action.communication {
            None => self.take_or_look(by, offer, None),
            Some(communication) => self.offer_message(by, offer, communication, &parent),
        }
        if marks {
            self.continue_at(failed);
            self.instance = own;
            self.mark();
            self.jump(taken);
        }
        if let Some(before) = before {
            self.continue_at(taken);
            let one = self.b.ins().iconst(types::I8, 1);
            self.b.def_var(before.any, one);
            let tier = self.iconst(action.control.tier.into());
            self.b.def_var(before.tier, tier);
            self.jump(next);
        }
    }

    /// Emits `body` for each combination of an action's parameters that may be possible, with the remaining part of
    /// the guard.
    fn each_combination(
        &mut self,
        id: ActionId,
        body: &mut dyn FnMut(&mut Self, Option<&Expr>, Block),
    ) {
        let interp = self.interp;
        let action = &interp.program().actions[id];
        let size = self.sizes.action(interp.program(), action);
        let (Some(plan), Some(guard)) = (interp.plan(id), &action.guard) else {
            return self.each_binding(&action.parameters, size, &mut |this, next| {
                body(this, action.guard.as_ref(), next);
            });
        };
        let (conjuncts, end) = (conjuncts(guard), self.block());
        let rest = plan.plan.rest.iter().map(|it| conjuncts[*it].clone());
        let rest = rest.reduce(|left, right| {
            let span = left.span;
            Expr::new(ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span)
        });
        let listed =
            BindingEmission { parameters: &action.parameters, conjuncts: &conjuncts, size };
        self.follow(&listed, &plan.plan.steps, end, &mut |this, next| {
            body(this, rest.as_ref(), next);
        });
        self.continue_at(end);
    }

    /// Returns whether the code marks enabled actions, and the bodies of these decide whether they are enabled. With
    /// dynamic processes, the guard alone decides.
    pub fn is_decided_by_bodies(&self, actions: &[ActionId]) -> bool {
        let mut actions = actions.iter().map(|&id| &self.interp.program().actions[id]);
        self.purpose.marks_enabled()
            && !self.interp.program().has_dynamic_processes()
            && actions.any(may_be_discarded)
    }

    /// Returns whether the interpreter decides which of these actions are enabled: their bodies matter, and the steps
    /// continue after them.
    pub fn is_left(&self, actions: &[ActionId]) -> bool {
        let mut all = actions.iter().map(|&id| &self.interp.program().actions[id]);
        self.is_decided_by_bodies(actions) && all.any(|it| it.control.turn != TurnRule::Open)
    }

    /// Emits `body` in a loop over each parameter's values, the last varying fastest. The body has the given size and
    /// ends with a jump to the given block.
    pub fn each_binding(
        &mut self,
        parameters: &[Parameter],
        size: u64,
        body: &mut dyn FnMut(&mut Self, Block),
    ) {
        match parameters.split_first() {
            None => {
                let next = self.block();
                body(self, next);
                self.continue_at(next);
            }
            Some((parameter, rest)) => {
                let values = self.scalar_bounds(parameter.over);
                let counted =
                    CountedLoop { values, local: parameter.local, leave: LoopExit::ToEnd };
                self.count_up(counted, size, &mut |this, _, next| {
                    this.each_binding(rest, size, body);
                    this.jump(next);
                });
            }
        }
    }

    pub fn is_native(&self, id: ActionId) -> bool {
        is_native(self.interp.program(), &self.interp.program().actions[id])
    }

    fn is_native_turn(&self, mover: ProcessInstance, actions: &[ActionId]) -> bool {
        let program = self.interp.program();
        is_native_turn(program, mover, actions, || self.sizes.all_receives_compiled(program))
    }

    /// Emits an action that communicates, for each possible channel.
    fn offer_message(
        &mut self,
        by: MoverInMode,
        offer: OfferedAction,
        communication: &Communication,
        parent: &WordFrame,
    ) {
        let mut unmet = None;
        self.each_channel(communication.channel(), parent, &mut |this, channel| {
            this.names.channel = Some(channel);
            let capacity = this.interp.program().channels[channel.id].capacity;
            match communication {
                Communication::Receive { .. } if capacity == 0 => this.jump(offer.next),
                Communication::Send { .. } if capacity == 0 => {
                    let unmet = *unmet.get_or_insert_with(|| this.block());
                    this.offer_rendezvous(by, offer, channel, unmet);
                }
                _ => {
                    this.wait_for(communication, channel, parent, offer.next);
                    this.take_or_look(by, offer, Some(channel));
                }
            }
        });
        if let Some(unmet) = unmet {
            self.continue_at(unmet);
            if let Some(before) = offer.before {
                let zero = self.iconst(0);
                self.b.def_var(before.tier, zero);
            }
            self.jump(offer.next);
        }
    }

    /// Emits a send by rendezvous. It is not a continuation within a `d_step`.
    fn offer_rendezvous(
        &mut self,
        by: MoverInMode,
        offer: OfferedAction,
        channel: ChannelInstance,
        unmet: Block,
    ) {
        let action = &self.interp.program().actions[offer.id];
        let (Some(communication), Some(sender)) = (&action.communication, by.mover) else {
            unreachable!("an instance sends")
        };
        if by.mode == MoverMode::First || action.control.turn == TurnRule::First {
            return self.end_with_fault(FaultKind::Error, communication.span());
        }
        let parent = self.parent();
        let message = self.message(channel, communication, &parent);
        let send = offer.id;
        let sent = OfferedMessage { sender, send, channel, message: &message };
        self.rendezvous_with_all(sent, offer.taken, unmet);
    }

    /// Takes a possible action if the code takes steps. Ends the block.
    fn take_or_look(
        &mut self,
        by: MoverInMode,
        offer: OfferedAction,
        channel: Option<ChannelInstance>,
    ) {
        if self.purpose.marks_enabled() {
            if self.is_decided_by_bodies(&[offer.id]) {
                self.on_drop = Some(offer.next);
                let (work, _) = self.work_frame(&[offer.id]);
                self.exchange_for(offer.id, channel, &work);
                self.complete(offer.id, &work);
                self.on_drop = None;
            }
            return self.jump(offer.failed);
        }
        if self.purpose.selects() && offer.asked {
            self.continue_if_chosen_or_report(offer.taken);
        }
        self.take(by, offer.id, channel);
        self.jump(offer.taken);
    }

    /// Skips an action or the rest of the location, depending on earlier actions.
    fn skip(
        &mut self,
        action: &Action,
        mode: MoverMode,
        before: EarlierActions,
        targets: SkipTargets,
    ) {
        let SkipTargets { next, end } = targets;
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

    /// Takes a possible action.
    fn take(&mut self, by: MoverInMode, id: ActionId, channel: Option<ChannelInstance>) {
        let chain = self.chain(by.mover, id);
        let (work, sorted) = self.work_frame(&chain);
        self.exchange_for(id, channel, &work);
        let chain = ActionChain { number: by.number, actions: &chain, first: id };
        self.go_through(chain, &work, sorted);
    }

    /// Returns a copy of the state for a chain of actions, and the multisets that they write.
    fn work_frame(&mut self, chain: &[ActionId]) -> (WordFrame, Range<usize>) {
        let mut footprint = self.footprint(&self.names);
        self.step_footprint(&mut footprint, chain);
        (self.copy(&footprint.words()), footprint.multisets_written())
    }

    /// Sends or receives as an action does on a channel. Values are evaluated in a separate frame.
    fn exchange_for(&mut self, id: ActionId, channel: Option<ChannelInstance>, work: &WordFrame) {
        let action = &self.interp.program().actions[id];
        if let (Some(communication), Some(channel)) = (&action.communication, channel) {
            let parent = self.evaluation_frame(&[action]);
            self.exchange(communication, channel, &parent, work);
        }
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

    /// Returns an action with its fixed continuation in the same step.
    pub fn chain(&self, mover: Option<ProcessInstance>, first: ActionId) -> Vec<ActionId> {
        let program = self.interp.program();
        let mut chain = vec![first];
        let Some(mover) = mover else { return chain };
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

    /// Moves and runs the bodies of a chain. Then ends the step, with some multisets to sort, or hands it over. Faults
    /// of the chain belong to its actions. Code emitted afterwards, such as that for another channel, reports to the
    /// current action again.
    pub fn go_through(&mut self, chain: ActionChain<'_>, work: &WordFrame, sorted: Range<usize>) {
        let ActionChain { number, actions: chain, first } = chain;
        let program = self.interp.program();
        let at_hand = self.on_fault;
        let FaultHandling::Report(_, failed) = at_hand else { unreachable!("steps report") };
        let mut turn = TurnRule::Open;
        for &id in chain {
            self.on_fault = FaultHandling::Report(id, failed);
            self.complete(id, work);
            // The other side of a rendezvous is taken only when this one is.
            if Some(&id) == chain.first() && id != first {
                self.count_taken(first);
            }
            self.count_taken(id);
            turn = program.actions[id].control.turn;
        }
        self.on_fault = at_hand;
        let last = chain.last().copied().unwrap_or(first);
        match turn {
            TurnRule::Open => self.candidate(first, work, sorted),
            _ => self.leave_to_interpreter(number, last, turn == TurnRule::First, work),
        }
    }

    /// Moves an instance.
    pub fn set_location(&mut self, at: ProcessInstance, to: LocationId, work: &WordFrame) {
        let free = self.interp.program().processes[at.process].has_slots();
        let cell = location_in(self.interp.layout(), at);
        self.write_known(work, cell.bit, cell.bits, u64::from(to.0) + u64::from(free));
    }

    /// Clears everything that an ending instance owns.
    pub fn end_instance(&mut self, mover: ProcessInstance, work: &WordFrame) {
        for bits in own_bits(self.interp, mover) {
            for start in bits.clone().step_by(64) {
                self.write_known(work, start, 64.min(bits.end - start), 0);
            }
        }
    }

    /// Hands an intermediate state to the runtime; the same mover continues.
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

    /// Completes the steps that have been handed over.
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

    /// Returns the number of an instance.
    pub fn number_of(&self, of: ProcessInstance) -> u32 {
        let mut all = self.interp.program().instances();
        let number = all.position(|it| it == of);
        number.map_or(0, |number| number as u32)
    }
}

/// Returns whether the mover ends with an action.
fn ends(action: &Action) -> bool {
    action.body.iter().any(|stmt: &Stmt| stmt.kind == StmtKind::Exit)
}
