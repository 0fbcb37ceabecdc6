//! The driver: the function that expands states. For each state it takes the steps of every process by its location,
//! then evaluates the properties.

use super::code_purpose::CodePurpose;
use super::emitter::{Emitter, FaultHandling};
use super::native_support::is_native_expr;
use super::runtime::JitRuntime;
use crate::Interp;
use crate::interp::MoverMode;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, MemFlagsData, Signature, Value, types,
};
use spillway_analysis::instances::ActionInstances;
use spillway_ir::{
    self as ir, ActionId, EndRule, Entity, Expr, ExprKind, LocationId, ProcessEdge, ProcessId,
    ProcessInstance, Program, Urgency,
};
use std::collections::HashSet;
use std::mem::offset_of;

/// A kind of mover.
#[derive(Clone, Copy)]
pub(super) enum MoverKind {
    /// Some of the actions without a process.
    Nobody,
    /// A process, or an instance of one.
    Instance(ProcessInstance),
}

/// A mover and its functions.
pub(super) struct DispatchMover {
    pub kind: MoverKind,
    /// The number of the instance, or 0.
    pub number: usize,
    /// The index in the table of the function for the first code of its location.
    pub first: usize,
}

/// The work of a function of the table.
pub(super) enum TableFunction {
    /// Nothing.
    Nothing,
    /// All steps of some actions without a process.
    Free(Vec<ActionId>),
    /// All steps of an instance, by its number, at a location.
    Steps { mover: ProcessInstance, number: u32, at: LocationId, mode: MoverMode },
}

/// The meaning of one position in every section of the table.
enum TableEntry {
    /// A free slot: nothing.
    Free,
    /// An instance, by its number, at a location.
    Location(ProcessInstance, u32, LocationId),
    /// Some actions without a process.
    Actions(Vec<ActionId>),
}

/// The functions of a table.
pub(super) struct DispatchTable {
    pub movers: Vec<DispatchMover>,
    /// Equally many functions for each [`MoverMode`] in use: first those for all steps. If there are committed
    /// locations, those for states in which only processes at such locations may move follow. With dynamic processes,
    /// those for timeouts and for the continuation of a `d_step` follow.
    pub functions: Vec<TableFunction>,
    /// The number of functions in each mode.
    pub per_mode: usize,
    /// Whether any location is committed.
    pub has_committed: bool,
    /// Whether any expression reads `timeout`.
    pub has_timeout: bool,
    /// Whether the program has dynamic processes.
    pub has_slots: bool,
}

/// The number of actions without a process in one function. Actions with parameters have functions of their own.
const FREE_PER_FUNCTION: usize = 4;

/// The number of actions without a process from which each function contains more of them: most are disabled, and a
/// call costs more than a guard.
const FREE_MANY: usize = 200;
const MANY_PER_FUNCTION: usize = 24;

/// The number of rendezvous whose code takes as long to compile as a function.
const MEETINGS_PER_FUNCTION: u64 = 4;

impl DispatchTable {
    pub fn new(interp: &Interp) -> DispatchTable {
        let program = interp.program();
        let (mut movers, mut places) = (Vec::new(), Vec::new());
        for (number, mover) in program.instances().enumerate() {
            let about = &program.processes[mover.process];
            if about.locations.keys().all(|at| interp.actions_from(mover.process, at).is_empty()) {
                continue;
            }
            movers.push(DispatchMover {
                kind: MoverKind::Instance(mover),
                number,
                first: places.len(),
            });
            if about.has_slots() {
                places.push(TableEntry::Free);
            }
            let locations = about.locations.keys();
            places.extend(locations.map(|at| TableEntry::Location(mover, number as u32, at)));
        }
        let plain = |id: &ActionId| program.actions[*id].parameters.is_empty();
        let alike = interp.free_actions().chunk_by(|one, other| plain(one) && plain(other));
        let each = match interp.free_actions().len() < FREE_MANY {
            true => FREE_PER_FUNCTION,
            false => MANY_PER_FUNCTION,
        };
        for actions in alike.flat_map(|alike| alike.chunks(each)) {
            movers.push(DispatchMover { kind: MoverKind::Nobody, number: 0, first: places.len() });
            places.push(TableEntry::Actions(actions.to_vec()));
        }
        let has_slots = program.has_dynamic_processes();
        let mut locations = program.processes.values().flat_map(|it| it.locations.values());
        let has_committed = !has_slots && locations.any(|it| it.urgency == Urgency::Committed);
        let modes: &[MoverMode] = match (has_slots, has_committed) {
            (true, _) => &[MoverMode::All, MoverMode::Timeout, MoverMode::First],
            (false, true) => &[MoverMode::All, MoverMode::Committed],
            (false, false) => &[MoverMode::All],
        };
        let functions = functions(interp, &places, modes);
        let has_timeout = has_slots && interp.reads_timeout();
        let per_mode = places.len();
        DispatchTable { movers, functions, per_mode, has_committed, has_timeout, has_slots }
    }

    /// Returns the index of each instance's first function in a section.
    pub fn firsts(&self, program: &Program) -> Vec<usize> {
        let mut firsts = vec![0; program.instances().count()];
        for mover in self.movers.iter().filter(|it| matches!(it.kind, MoverKind::Instance(_))) {
            firsts[mover.number] = mover.first;
        }
        firsts
    }

    /// Returns the number of functions for each mover, at least one. Rendezvous count as functions in proportion to their
    /// code, which is emitted with each sender.
    pub fn functions_per_mover(&self, interp: &Interp) -> u64 {
        let instances = ActionInstances::new(interp.program());
        let meetings = instances.map_or(0, |it| it.count_meetings());
        let parts = self.functions.len() as u64 + meetings / MEETINGS_PER_FUNCTION;
        (parts / self.movers.len().max(1) as u64).max(1)
    }

    /// Creates a table without steps.
    pub fn without_steps() -> DispatchTable {
        DispatchTable {
            movers: Vec::new(),
            functions: Vec::new(),
            per_mode: 0,
            has_committed: false,
            has_timeout: false,
            has_slots: false,
        }
    }
}

/// Returns the work at each position of each section.
fn functions(interp: &Interp, places: &[TableEntry], modes: &[MoverMode]) -> Vec<TableFunction> {
    let program = interp.program();
    let to_first = program.actions.values().filter(|it| it.control.turn == ir::TurnRule::First);
    let to_first = to_first.filter_map(|it| it.edge);
    let first: HashSet<_> = to_first.map(|ProcessEdge { process, to, .. }| (process, to)).collect();
    let wanted = |mover: ProcessInstance, at: LocationId, mode| match mode {
        MoverMode::All => !interp.actions_from(mover.process, at).is_empty(),
        MoverMode::Committed => {
            program.processes[mover.process].locations[at].urgency == Urgency::Committed
                && !interp.actions_from(mover.process, at).is_empty()
        }
        MoverMode::Timeout => may_wait_for_timeout(interp, mover, at),
        MoverMode::First => first.contains(&(mover.process, at)),
    };
    let work = |mode, place: &TableEntry| match place {
        &TableEntry::Location(mover, number, at) if wanted(mover, at, mode) => {
            TableFunction::Steps { mover, number, at, mode }
        }
        TableEntry::Actions(actions) if mode == MoverMode::All => {
            TableFunction::Free(actions.clone())
        }
        _ => TableFunction::Nothing,
    };
    modes.iter().flat_map(|&mode| places.iter().map(move |place| work(mode, place))).collect()
}

/// Returns whether a mover may have more steps at a timeout than before. Another process may become able to move then,
/// which an `enabled` query of this one can observe.
fn may_wait_for_timeout(interp: &Interp, mover: ProcessInstance, at: LocationId) -> bool {
    let program = interp.program();
    let life = &program.processes[mover.process].life;
    let is_asked = life.provided.as_ref().is_some_and(Expr::reads_timeout);
    let asks = |it: &_| matches!(it, ExprKind::Timeout | ExprKind::Enabled(_));
    let mut actions = interp.actions_from(mover.process, at).iter();
    actions.any(|&id| is_asked || program.actions[id].waits_on_expr(asks))
}

impl Emitter<'_, '_> {
    /// Emits the driver. Its arguments are the runtime, the first state, the number of states, and the cursor.
    pub fn driver(&mut self, plan: &DispatchTable) {
        let (state, left) = (self.b.declare_var(types::I64), self.b.declare_var(types::I64));
        self.b.def_var(state, self.state);
        self.b.def_var(left, self.arguments[2]);
        let (head, inside, end) = (self.block(), self.block(), self.block());
        self.jump(head);
        self.continue_at(head);
        let remaining = self.b.use_var(left);
        self.b.ins().brif(remaining, inside, &[], end, &[]);
        self.continue_at(inside);
        self.state = self.b.use_var(state);
        self.expand_one(plan);
        let width = self.interp.layout().bytes as i64;
        let next = self.b.ins().iadd_imm_s(self.state, width);
        self.b.def_var(state, next);
        let remaining = self.b.use_var(left);
        let remaining = self.b.ins().iadd_imm_s(remaining, -1);
        self.b.def_var(left, remaining);
        self.jump(head);
        self.continue_at(end);
    }

    fn expand_one(&mut self, plan: &DispatchTable) {
        let zero = self.iconst(0);
        self.store_field(zero, offset_of!(JitRuntime, touched));
        let before = self.b.use_var(self.cursor);
        self.store_field(before, offset_of!(JitRuntime, before));
        let mut table = self.load_field(offset_of!(JitRuntime, table));
        if plan.has_committed {
            let committed = self.some_committed();
            let other = self.b.ins().iadd_imm_s(table, 8 * plan.per_mode as i64);
            table = self.b.ins().select(committed, other, table);
        }
        self.all_move(plan, table);
        if plan.has_timeout {
            self.timeouts(plan, table);
        }
        match self.purpose {
            CodePurpose::Expand => self.deadlock(),
            CodePurpose::Judge => {}
            _ => return self.next_set(),
        }
        self.properties();
    }

    /// Advances to the set of the next state, if there are sets.
    fn next_set(&mut self) {
        let Some(all) = self.purpose.instances() else { return };
        let bytes = size_of::<u64>() * all.sets().words_each();
        let set = self.load_field(offset_of!(JitRuntime, set));
        let next = self.b.ins().iadd_imm_s(set, bytes as i64);
        self.store_field(next, offset_of!(JitRuntime, set));
        if self.purpose.selects() {
            self.note_end();
        }
    }

    /// Records the number of bytes of candidates so far.
    fn note_end(&mut self) {
        let at = self.load_field(offset_of!(JitRuntime, ends));
        let offset = self.load_field(offset_of!(JitRuntime, offset));
        let cursor = self.b.use_var(self.cursor);
        let end = self.b.ins().iadd(cursor, offset);
        self.b.ins().store(MemFlagsData::new().with_notrap(), end, at, 0);
        let next = self.b.ins().iadd_imm_s(at, size_of::<u64>() as i64);
        self.store_field(next, offset_of!(JitRuntime, ends));
    }

    /// Reports a state without a step, or perhaps without one that leaves it.
    fn deadlock(&mut self) {
        let (perhaps_stuck, go_on) = (self.block(), self.block());
        self.b.set_cold_block(perhaps_stuck);
        let before = self.load_field(offset_of!(JitRuntime, before));
        let after = self.b.use_var(self.cursor);
        let mut moved = self.b.ins().bxor(before, after);
        if self.interp.program().end == EndRule::NeverStuttering {
            let leads_on = self.block();
            self.b.append_block_param(leads_on, types::I64);
            let look = self.block();
            let nowhere = self.iconst(0);
            self.b.ins().brif(moved, look, &[], leads_on, &[BlockArg::from(nowhere)]);
            self.continue_at(look);
            let elsewhere = self.last_leads_on(after);
            self.b.ins().jump(leads_on, &[BlockArg::from(elsewhere)]);
            self.continue_at(leads_on);
            moved = self.b.block_params(leads_on)[0];
        }
        let touched = self.load_field(offset_of!(JitRuntime, touched));
        let moved = self.b.ins().bor(moved, touched);
        self.b.ins().brif(moved, go_on, &[], perhaps_stuck, &[]);
        self.continue_at(perhaps_stuck);
        self.b.ins().call(self.imports.stuck, &[self.runtime, self.state, after]);
        self.jump(go_on);
        self.continue_at(go_on);
    }

    fn all_move(&mut self, plan: &DispatchTable, table: Value) {
        for mover in &plan.movers {
            self.step_of(mover, table);
        }
        if plan.has_slots {
            self.complete_steps();
        }
    }

    /// Emits the second pass, with `timeout`, for states without a step in the first.
    fn timeouts(&mut self, plan: &DispatchTable, table: Value) {
        let (nothing, end) = (self.block(), self.block());
        let before = self.load_field(offset_of!(JitRuntime, before));
        let after = self.b.use_var(self.cursor);
        let moved = self.b.ins().bxor(before, after);
        let touched = self.load_field(offset_of!(JitRuntime, touched));
        let moved = self.b.ins().bor(moved, touched);
        self.b.ins().brif(moved, end, &[], nothing, &[]);
        self.continue_at(nothing);
        let table = self.b.ins().iadd_imm_s(table, 8 * plan.per_mode as i64);
        self.all_move(plan, table);
        self.jump(end);
        self.continue_at(end);
    }

    /// Returns a value that is not 0 if the last bytes of the last candidate and of the state differ. Then the step
    /// leaves the state. If they are equal, the runtime compares the rest.
    fn last_leads_on(&mut self, cursor: Value) -> Value {
        let flags = MemFlagsData::new().with_notrap();
        let width = self.interp.layout().bytes;
        let ty = match width {
            1 => types::I8,
            2 | 3 => types::I16,
            4..=7 => types::I32,
            _ => types::I64,
        };
        // The end of a state differs more often than its beginning.
        let end = -(ty.bytes() as i32);
        let mine = self.b.ins().load(ty, flags, self.state, width as i32 + end);
        let last = self.b.ins().load(ty, flags, cursor, end);
        let differs = self.b.ins().bxor(mine, last);
        match ty {
            types::I64 => differs,
            _ => self.b.ins().uextend(types::I64, differs),
        }
    }

    /// Emits the call of the function for a mover's current location.
    fn step_of(&mut self, mover: &DispatchMover, table: Value) {
        let flags = MemFlagsData::new().with_notrap();
        let function = match mover.kind {
            MoverKind::Nobody => {
                self.b.ins().load(types::I64, flags, table, 8 * mover.first as i32)
            }
            MoverKind::Instance(instance) => {
                let parent = self.parent();
                let at = self.location(instance, &parent);
                let at = self.b.ins().ishl_imm_s(at, 3);
                let entry = self.b.ins().iadd(table, at);
                self.b.ins().load(types::I64, flags, entry, 8 * mover.first as i32)
            }
        };
        let cursor = self.b.use_var(self.cursor);
        let mut signature = Signature::new(self.b.func.signature.call_conv);
        signature.params = vec![AbiParam::new(types::I64); 3];
        signature.returns = vec![AbiParam::new(types::I64)];
        let signature = self.b.import_signature(signature);
        let arguments = [self.runtime, self.state, cursor];
        let call = self.b.ins().call_indirect(signature, function, &arguments);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
    }

    /// Returns the location of a permanent process.
    fn location_now(&mut self, process: ProcessId) -> Value {
        let parent = self.parent();
        self.location(ProcessInstance { process, slot: 0 }, &parent)
    }

    /// Returns whether any process is at a committed location, as 0 or not 0.
    fn some_committed(&mut self) -> Value {
        let mut found = self.b.ins().iconst(types::I8, 0);
        for (id, process) in self.interp.program().processes.iter() {
            let committed =
                process.locations.iter().filter(|(_, it)| it.urgency == Urgency::Committed);
            let committed: Vec<LocationId> = committed.map(|(at, _)| at).collect();
            if committed.is_empty() {
                continue;
            }
            let at = self.location_now(id);
            let here = match process.locations.len() <= 64 {
                true => {
                    let set = committed.iter().fold(0u64, |set, at| set | 1 << at.index());
                    let set = self.iconst(set as i64);
                    let shifted = self.b.ins().ushr(set, at);
                    let bit = self.b.ins().ireduce(types::I8, shifted);
                    self.b.ins().band_imm_s(bit, 1)
                }
                false => {
                    let mut any = self.b.ins().iconst(types::I8, 0);
                    for location in committed {
                        let here = self.b.ins().icmp_imm_s(IntCC::Equal, at, i64::from(location.0));
                        any = self.b.ins().bor(any, here);
                    }
                    any
                }
            };
            found = self.b.ins().bor(found, here);
        }
        found
    }

    /// Emits the evaluation of the properties of single states.
    fn properties(&mut self) {
        let interp = self.interp;
        for (number, at, condition) in interp.state_properties() {
            let (broken, end) = (self.block(), self.block());
            self.b.set_cold_block(broken);
            if let Some((process, location)) = at {
                let here = self.block();
                let current = self.location_now(process);
                let there = self.b.ins().icmp_imm_s(IntCC::Equal, current, i64::from(location.0));
                self.b.ins().brif(there, here, &[], end, &[]);
                self.continue_at(here);
            }
            let number = self.b.ins().iconst(types::I32, i64::from(number));
            let arguments = [self.runtime, self.state, number];
            if is_native_expr(self.interp.program(), condition) {
                self.on_fault = FaultHandling::Ignore(broken);
                let mut footprint = self.footprint(&self.names);
                footprint.add_expr(condition);
                let parent = self.copy(&footprint.words());
                self.branch(condition, &parent, end, broken);
            } else {
                self.b.ins().call(self.imports.judge, &arguments);
                self.jump(end);
            }
            self.continue_at(broken);
            self.b.ins().call(self.imports.broken, &arguments);
            self.jump(end);
            self.continue_at(end);
        }
    }
}
