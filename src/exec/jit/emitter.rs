//! The state of code generation for one function, and what all parts of it use: where words are, the
//! way out of a body, and the way out of a step that fails.

use super::code::FaultSite;
use super::code_purpose::CodePurpose;
use super::code_size::{CodeSizes, UNROLLED_MAX};
use super::code_value::{CodeValue, ValueRepr};
use super::compile_limits::CompileLimits;
use super::footprint::{StepFootprint, WordPlacement};
use super::function_compiler::{FunctionImports, OpenFunction};
use super::names::LocalNames;
use super::outline::OutlineTable;
use super::shape::StoredTypes;
use super::words::WordLayout;
use crate::analysis::instances::InstanceId;
use crate::exec::Interp;
use crate::ir::{ActionId, Arithmetic, FunctionId};
use crate::model::FaultKind;
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value,
    types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_jit::JITModule;

/// In a loop without another inside, it is asked once in so many rounds whether it is time to stop; a
/// power of two.
pub(super) const ROUNDS_PER_STOP_CHECK: i64 = 256;

/// What all functions of a program's code are made with.
#[derive(Clone, Copy)]
pub(super) struct CodeContext<'a> {
    pub interp: &'a Interp,
    pub shapes: &'a StoredTypes,
    pub sizes: &'a CodeSizes,
    /// What the code is for.
    pub purpose: CodePurpose<'a>,
    pub limits: CompileLimits,
}

/// Emits the code of one function.
pub(super) struct Emitter<'a, 'f> {
    pub interp: &'a Interp,
    pub shapes: &'a StoredTypes,
    pub sizes: &'a CodeSizes,
    pub b: FunctionBuilder<'f>,
    pub imports: FunctionImports,
    /// Everything that can fail, for the run-time to look up.
    pub sites: &'a mut Vec<FaultSite>,
    /// What the code is for.
    pub purpose: CodePurpose<'a>,
    /// The number of the action instance at hand, if that is asked.
    pub instance: Option<CodeValue>,
    /// The function's arguments.
    pub arguments: Vec<Value>,
    /// The first of them: the run-time.
    pub runtime: Value,
    /// The state that is expanded.
    pub state: Value,
    /// Where the next candidate goes.
    pub cursor: Variable,
    /// What the names that are bound at present stand for.
    pub names: LocalNames,
    /// Where the variables of the body at present are.
    pub own: Option<&'a crate::ir::layout::LocalFrame>,
    /// Where the body at present ends.
    pub exit: Option<BodyExit>,
    /// How many times the code at present is emitted, with other values of names.
    pub copies: u64,
    /// How many parts the copies of one loop may have.
    pub unrolled_max: u64,
    /// How many instructions the function may have; one with more is left to the interpreter.
    pub instructions_max: usize,
    /// Whether it is counted how often each action is taken.
    pub counts: bool,
    /// What becomes of a failure at present.
    pub on_fault: FaultHandling,
    /// How many actions were left to the interpreter.
    pub interpreted: usize,
    /// How many loops have been emitted.
    pub loops: usize,
    /// Room for the words of a state that are kept in memory, once some are.
    pub memory: Option<WordMemory>,
    /// The functions that are compiled by themselves.
    pub outlines: &'f mut OutlineTable,
    /// Where they are declared.
    pub module: &'f mut JITModule,
}

/// Where words are kept in memory.
#[derive(Clone, Copy)]
pub(super) enum WordMemory {
    /// In the function's own room.
    Slot(StackSlot),
    /// In the caller's.
    Caller(Value),
}

/// Where a body goes when it returns.
#[derive(Clone, Copy)]
pub(super) struct BodyExit {
    /// The block.
    pub block: Block,
    /// The function that ends, and where its result goes.
    pub result: Option<(FunctionId, ResultVariables)>,
    /// Where the call stands.
    pub span: Span,
}

impl BodyExit {
    /// The end of a body without result.
    pub fn plain(block: Block) -> BodyExit {
        BodyExit { block, result: None, span: Span::default() }
    }
}

/// Where the result of a function is.
#[derive(Clone, Copy)]
pub(super) struct ResultVariables {
    /// The value.
    pub value: Variable,
    /// Whether there is none (8 bits).
    pub undefined: Variable,
}

/// What becomes of a failure.
#[derive(Clone, Copy)]
pub(super) enum FaultHandling {
    /// It is a finding of this action, and code goes on at the block.
    Report(ActionId, Block),
    /// The block gets the number of the site of this action, and decides.
    Branch(ActionId, Block),
    /// Code goes on at the block.
    Ignore(Block),
    /// The function gives the number of the site to its caller.
    Return,
}

/// Where each word of a state is while a step is computed.
pub(super) struct WordFrame {
    pub words: Vec<WordStorage>,
}

/// Where a word is.
#[derive(Clone, Copy)]
pub(super) enum WordStorage {
    Parent,
    Register(Variable),
    Memory,
}

impl<'a, 'f> Emitter<'a, 'f> {
    /// Begins a function whose arguments are the run-time, the state and the cursor.
    pub fn begin(
        context: CodeContext<'a>,
        sites: &'a mut Vec<FaultSite>,
        outlines: &'f mut OutlineTable,
        function: OpenFunction<'f>,
    ) -> Self {
        let CodeContext { interp, shapes, sizes, purpose, limits } = context;
        let OpenFunction { mut b, imports, module } = function;
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let arguments = b.block_params(entry).to_vec();
        let (runtime, state) = (arguments[0], arguments[1]);
        let cursor = b.declare_var(types::I64);
        b.def_var(cursor, arguments[arguments.len() - 1]);
        let on_fault = FaultHandling::Ignore(entry);
        Emitter {
            interp,
            shapes,
            sizes,
            unrolled_max: UNROLLED_MAX.min(limits.parts()),
            b,
            imports,
            sites,
            purpose,
            instance: None,
            arguments,
            runtime,
            state,
            cursor,
            names: LocalNames::default(),
            own: None,
            exit: None,
            copies: 1,
            instructions_max: limits.instructions() as usize,
            counts: limits.counts,
            on_fault,
            interpreted: 0,
            loops: 0,
            memory: None,
            outlines,
            module,
        }
    }

    /// What code touches whose parameters stand for what they do in `names`: nothing yet.
    pub fn footprint(&self, names: &LocalNames) -> StepFootprint<'a> {
        StepFootprint::new(self.interp, self.shapes, self.sizes, names)
    }

    /// Whether the function has more instructions than it may: going on is in vain.
    pub fn is_too_large(&self) -> bool {
        self.b.func.dfg.num_insts() > self.instructions_max
    }

    /// Returns the cursor.
    pub fn finish(mut self) {
        let cursor = self.b.use_var(self.cursor);
        self.finish_with(cursor);
    }

    /// Returns a value.
    pub fn finish_with(mut self, value: Value) {
        self.b.ins().return_(&[value]);
        self.b.seal_all_blocks();
        let config = self.imports.config;
        self.b.finalize(config);
    }

    /// What the program's expressions are computed in.
    pub fn arithmetic(&self) -> Arithmetic {
        self.interp.program().arithmetic
    }

    /// A 64-bit constant.
    pub fn iconst(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }

    /// As 64 bits.
    pub fn as_int(&mut self, value: CodeValue) -> Value {
        match value.repr {
            ValueRepr::Known => self.iconst(value.low),
            ValueRepr::Int(_) if value.as_constant().is_some() => self.iconst(value.low),
            ValueRepr::Int(value) => value,
            ValueRepr::Bool(value) => self.b.ins().uextend(types::I64, value),
        }
    }

    /// As 8 bits: 1 if it is not 0.
    pub fn as_truth(&mut self, value: CodeValue) -> Value {
        match (value.repr, value.as_constant()) {
            (_, Some(known)) => self.b.ins().iconst(types::I8, i64::from(known != 0)),
            (ValueRepr::Bool(value), _) => value,
            (ValueRepr::Int(value), _) => self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0),
            (ValueRepr::Known, None) => unreachable!("a known value has one value"),
        }
    }

    /// Goes to `then` if the value is not 0, else to `otherwise`.
    pub fn branch_on(&mut self, value: CodeValue, then: Block, otherwise: Block) {
        match (value.as_constant(), value.repr) {
            (Some(0), _) => self.jump(otherwise),
            (Some(_), _) => self.jump(then),
            (None, ValueRepr::Int(value) | ValueRepr::Bool(value)) => {
                self.b.ins().brif(value, then, &[], otherwise, &[]);
            }
            (None, ValueRepr::Known) => unreachable!("a known value has one value"),
        }
    }

    pub fn jump(&mut self, to: Block) {
        self.b.ins().jump(to, &[]);
    }

    /// Makes `block` the one that code is added to.
    pub fn continue_at(&mut self, block: Block) {
        self.b.switch_to_block(block);
    }

    pub fn block(&mut self) -> Block {
        self.b.create_block()
    }

    /// Fails if the condition (8 bits) is not 0, and otherwise goes on.
    pub fn fail_if(&mut self, condition: Value, kind: FaultKind, span: Span) {
        let (fail, go_on) = (self.block(), self.block());
        self.b.set_cold_block(fail);
        self.b.ins().brif(condition, fail, &[], go_on, &[]);
        self.continue_at(fail);
        self.end_with_fault(kind, span);
        self.continue_at(go_on);
    }

    /// Fails. What is emitted afterwards is never reached.
    pub fn fail(&mut self, kind: FaultKind, span: Span) {
        self.end_with_fault(kind, span);
        self.continue_unreachable();
    }

    /// Goes on where nothing leads to.
    pub fn continue_unreachable(&mut self) {
        let unreachable = self.block();
        self.continue_at(unreachable);
    }

    /// Whether a value is not from `low` to `high` (8 bits).
    pub fn is_out_of_range(&mut self, value: CodeValue, low: i64, high: i64) -> Value {
        let int = self.as_int(value);
        let distance = self.b.ins().iadd_imm_s(int, low.wrapping_neg());
        let last = high.wrapping_sub(low);
        self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, distance, last)
    }

    /// Fails, and ends the block.
    pub fn end_with_fault(&mut self, kind: FaultKind, span: Span) {
        match self.on_fault {
            FaultHandling::Report(action, next) => {
                let site = self.site(action, kind, span);
                self.report(site);
                self.jump(next);
            }
            FaultHandling::Branch(action, block) => {
                let site = self.site(action, kind, span);
                self.b.ins().jump(block, &[BlockArg::from(site)]);
            }
            FaultHandling::Ignore(next) => self.jump(next),
            FaultHandling::Return => self.give_fault(kind, span),
        }
    }

    /// Emits what leaves a loop when it is time to stop: it is asked for every so many rounds, or in
    /// each if there is a loop inside. `leave` ends its block.
    pub fn emit_stop_check(
        &mut self,
        round: Value,
        has_loop_inside: bool,
        leave: impl FnOnce(&mut Self),
    ) {
        let (ask, stop, go_on) = (self.block(), self.block(), self.block());
        self.b.set_cold_block(stop);
        match has_loop_inside {
            true => self.jump(ask),
            false => {
                self.b.set_cold_block(ask);
                let low = self.b.ins().band_imm_s(round, ROUNDS_PER_STOP_CHECK - 1);
                let due = self.b.ins().icmp_imm_s(IntCC::Equal, low, ROUNDS_PER_STOP_CHECK - 1);
                self.b.ins().brif(due, ask, &[], go_on, &[]);
            }
        }
        self.continue_at(ask);
        let call = self.b.ins().call(self.imports.told_to_stop, &[self.runtime]);
        let told = self.b.inst_results(call)[0];
        self.b.ins().brif(told, stop, &[], go_on, &[]);
        self.continue_at(stop);
        leave(self);
        self.continue_at(go_on);
    }

    /// Tells the run-time of a fault of an action, and goes on.
    pub fn report_action_fault(&mut self, action: ActionId, kind: FaultKind, span: Span) {
        let site = self.site(action, kind, span);
        self.report(site);
    }

    fn site(&mut self, action: ActionId, kind: FaultKind, span: Span) -> Value {
        let number = self.add_site(action, kind, span);
        self.b.ins().iconst(types::I32, number)
    }

    pub fn add_site(&mut self, action: ActionId, kind: FaultKind, span: Span) -> i64 {
        // Elsewhere only what is chosen is tried.
        let is_asked = self.purpose.selects() && self.interp.program().has_dynamic_processes();
        let instance = self.instance.filter(|_| is_asked).and_then(|it| it.as_constant());
        let instance = instance.map(|number| InstanceId(number as u32));
        self.sites.push(FaultSite { action, kind, span, instance });
        self.sites.len() as i64 - 1
    }

    /// Tells the run-time of a fault.
    pub fn report(&mut self, site: Value) {
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, site, cursor];
        self.b.ins().call(self.imports.fault, &arguments);
    }

    /// A word of the run-time.
    pub fn load_field(&mut self, offset: usize) -> Value {
        let flags = MemFlagsData::new().with_notrap();
        self.b.ins().load(types::I64, flags, self.runtime, offset as i32)
    }

    /// Stores a word to the run-time.
    pub fn store_field(&mut self, value: Value, offset: usize) {
        let flags = MemFlagsData::new().with_notrap();
        self.b.ins().store(flags, value, self.runtime, offset as i32);
    }

    /// Where words of the state are kept in memory.
    pub fn memory(&mut self) -> Value {
        let slot = match self.memory {
            Some(WordMemory::Caller(words)) => return words,
            Some(WordMemory::Slot(slot)) => slot,
            None => {
                // Bits are read eight bytes at a time, the last of them beyond the state; behind
                // that are the results of functions.
                let size = 8 * (WordLayout::new(self.interp.layout()).words() as u32 + 3);
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
                let slot = self.b.create_sized_stack_slot(data);
                self.memory = Some(WordMemory::Slot(slot));
                slot
            }
        };
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// The state as it is.
    pub fn parent(&self) -> WordFrame {
        WordFrame {
            words: vec![WordStorage::Parent; WordLayout::new(self.interp.layout()).words()],
        }
    }

    /// A copy of the state to work on, kept as said.
    pub fn copy(&mut self, keep: &[WordPlacement]) -> WordFrame {
        let state_words = WordLayout::new(self.interp.layout()).state_words;
        let mut words = Vec::new();
        for (at, keep) in keep.iter().enumerate() {
            words.push(match keep {
                WordPlacement::Parent => WordStorage::Parent,
                WordPlacement::Register => {
                    let variable = self.b.declare_var(types::I64);
                    let word = match at < state_words {
                        true => self.parent_word(at),
                        false => self.iconst(0),
                    };
                    self.b.def_var(variable, word);
                    WordStorage::Register(variable)
                }
                WordPlacement::Memory => {
                    if at < state_words {
                        let word = self.raw_parent_word(at);
                        let memory = self.memory();
                        self.store_raw(word, memory, at);
                    }
                    WordStorage::Memory
                }
            });
        }
        WordFrame { words }
    }
}
