//! The state of code generation for one function, shared by all parts: the storage of words, the exit of a body, and
//! the exit of a failing step.

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
use crate::Interp;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value,
    types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_jit::JITModule;
use spillway_analysis::instances::InstanceId;
use spillway_base::source::Span;
use spillway_ir::{ActionId, Arithmetic, FunctionId};
use spillway_model::FaultKind;

/// The number of rounds between two checks for a stop request in an innermost loop; a power of two.
pub(super) const ROUNDS_PER_STOP_CHECK: i64 = 256;

/// The context of all functions of a program's code.
#[derive(Clone, Copy)]
pub(super) struct CodeContext<'a> {
    pub interp: &'a Interp,
    pub shapes: &'a StoredTypes,
    pub sizes: &'a CodeSizes,
    /// The purpose of the code.
    pub purpose: CodePurpose<'a>,
    pub limits: CompileLimits,
}

/// The emitter of one function.
pub(super) struct Emitter<'a, 'f> {
    pub interp: &'a Interp,
    pub shapes: &'a StoredTypes,
    pub sizes: &'a CodeSizes,
    pub b: FunctionBuilder<'f>,
    pub imports: FunctionImports,
    /// All sites that can fail, for the runtime.
    pub sites: &'a mut Vec<FaultSite>,
    /// The purpose of the code.
    pub purpose: CodePurpose<'a>,
    /// The number of the current action instance, if it is needed.
    pub instance: Option<CodeValue>,
    /// The function's arguments.
    pub arguments: Vec<Value>,
    /// The first argument: the runtime.
    pub runtime: Value,
    /// The expanded state.
    pub state: Value,
    /// The address of the next candidate.
    pub cursor: Variable,
    /// The current bindings of names.
    pub names: LocalNames,
    /// The frame of the current body.
    pub own: Option<&'a spillway_ir::layout::LocalFrame>,
    /// The exit of the current body.
    pub exit: Option<BodyExit>,
    /// The number of copies of the current code, for different values of names.
    pub copies: u64,
    /// The maximum number of parts of the copies of one loop.
    pub unrolled_max: u64,
    /// The maximum number of instructions of the function; the interpreter runs larger ones.
    pub instructions_max: usize,
    /// Whether the code counts the executions of each action.
    pub counts: bool,
    /// The current handling of failures.
    pub on_fault: FaultHandling,
    /// Where code continues if an assumption drops the step, if it only decides whether an instance is enabled.
    pub on_drop: Option<Block>,
    /// The number of actions left to the interpreter.
    pub interpreted: usize,
    /// The number of loops emitted so far.
    pub loops: usize,
    /// The memory for words of a state that are not in registers, if any.
    pub memory: Option<WordMemory>,
    /// The functions that are compiled separately.
    pub outlines: &'f mut OutlineTable,
    /// The module that declares them.
    pub module: &'f mut JITModule,
}

/// The memory for words.
#[derive(Clone, Copy)]
pub(super) enum WordMemory {
    /// The function's own stack slot.
    Slot(StackSlot),
    /// The caller's memory.
    Caller(Value),
}

/// The exit of a body.
#[derive(Clone, Copy)]
pub(super) struct BodyExit {
    /// The block.
    pub block: Block,
    /// The function that ends, and the variables of its result.
    pub result: Option<(FunctionId, ResultVariables)>,
    /// The position of the call in the source.
    pub span: Span,
}

impl BodyExit {
    /// Creates the exit of a body without result.
    pub fn plain(block: Block) -> BodyExit {
        BodyExit { block, result: None, span: Span::default() }
    }
}

/// The variables of a function's result.
#[derive(Clone, Copy)]
pub(super) struct ResultVariables {
    /// The value.
    pub value: Variable,
    /// Whether the result is undefined (8 bits).
    pub undefined: Variable,
}

/// The handling of a failure.
#[derive(Clone, Copy)]
pub(super) enum FaultHandling {
    /// It is a finding of this action, and code continues at the block.
    Report(ActionId, Block),
    /// The block gets the number of the site of this action, and decides.
    Branch(ActionId, Block),
    /// Code continues at the block.
    Ignore(Block),
    /// The function returns the number of the site to its caller.
    Return,
}

/// The storage of each word of a state while a step is computed.
pub(super) struct WordFrame {
    pub words: Vec<WordStorage>,
}

/// The storage of a word.
#[derive(Clone, Copy)]
pub(super) enum WordStorage {
    Parent,
    Register(Variable),
    Memory,
}

impl<'a, 'f> Emitter<'a, 'f> {
    /// Begins a function whose arguments are the runtime, the state and the cursor.
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
            on_drop: None,
            interpreted: 0,
            loops: 0,
            memory: None,
            outlines,
            module,
        }
    }

    /// Creates an empty footprint of code whose parameters have the bindings `names`.
    pub fn footprint(&self, names: &LocalNames) -> StepFootprint<'a> {
        StepFootprint::new(self.interp, self.shapes, self.sizes, names)
    }

    /// Returns whether the function exceeds its maximum number of instructions; the emission may then stop.
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

    /// Returns the arithmetic of the program's expressions.
    pub fn arithmetic(&self) -> Arithmetic {
        self.interp.program().arithmetic
    }

    /// Returns a 64-bit constant.
    pub fn iconst(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }

    /// Returns the value as 64 bits.
    pub fn as_int(&mut self, value: CodeValue) -> Value {
        match value.repr {
            ValueRepr::Known => self.iconst(value.low),
            ValueRepr::Int(_) if value.as_constant().is_some() => self.iconst(value.low),
            ValueRepr::Int(value) => value,
            ValueRepr::Bool(value) => self.b.ins().uextend(types::I64, value),
        }
    }

    /// Returns the value as 8 bits: 1 if it is not 0.
    pub fn as_truth(&mut self, value: CodeValue) -> Value {
        match (value.repr, value.as_constant()) {
            (_, Some(known)) => self.b.ins().iconst(types::I8, i64::from(known != 0)),
            (ValueRepr::Bool(value), _) => value,
            (ValueRepr::Int(value), _) => self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0),
            (ValueRepr::Known, None) => unreachable!("a known value has one value"),
        }
    }

    /// Branches to `then` if the value is not 0, else to `otherwise`.
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

    /// Makes `block` the current block.
    pub fn continue_at(&mut self, block: Block) {
        self.b.switch_to_block(block);
    }

    pub fn block(&mut self) -> Block {
        self.b.create_block()
    }

    /// Fails if the condition (8 bits) is not 0; otherwise continues.
    pub fn fail_if(&mut self, condition: Value, kind: FaultKind, span: Span) {
        let (fail, go_on) = (self.block(), self.block());
        self.b.set_cold_block(fail);
        self.b.ins().brif(condition, fail, &[], go_on, &[]);
        self.continue_at(fail);
        self.end_with_fault(kind, span);
        self.continue_at(go_on);
    }

    /// Fails. Code emitted afterwards is unreachable.
    pub fn fail(&mut self, kind: FaultKind, span: Span) {
        self.end_with_fault(kind, span);
        self.continue_unreachable();
    }

    /// Continues in an unreachable block.
    pub fn continue_unreachable(&mut self) {
        let unreachable = self.block();
        self.continue_at(unreachable);
    }

    /// Returns whether a value is not from `low` to `high` (8 bits).
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

    /// Emits the exit of a loop on a stop request. An innermost loop checks once in `ROUNDS_PER_STOP_CHECK` rounds,
    /// other loops in each round. `leave` ends its block.
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

    /// Reports a fault of an action to the runtime, and continues.
    pub fn report_action_fault(&mut self, action: ActionId, kind: FaultKind, span: Span) {
        let site = self.site(action, kind, span);
        self.report(site);
    }

    fn site(&mut self, action: ActionId, kind: FaultKind, span: Span) -> Value {
        let number = self.add_site(action, kind, span);
        self.b.ins().iconst(types::I32, number)
    }

    pub fn add_site(&mut self, action: ActionId, kind: FaultKind, span: Span) -> i64 {
        // Without dynamic processes only chosen instances are tried.
        let is_asked = self.purpose.selects() && self.interp.program().has_dynamic_processes();
        let instance = self.instance.filter(|_| is_asked).and_then(|it| it.as_constant());
        let instance = instance.map(|number| InstanceId(number as u32));
        self.sites.push(FaultSite { action, kind, span, instance });
        self.sites.len() as i64 - 1
    }

    /// Reports a fault to the runtime.
    pub fn report(&mut self, site: Value) {
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, site, cursor];
        self.b.ins().call(self.imports.fault, &arguments);
    }

    /// Loads a word of the runtime.
    pub fn load_field(&mut self, offset: usize) -> Value {
        let flags = MemFlagsData::new().with_notrap();
        self.b.ins().load(types::I64, flags, self.runtime, offset as i32)
    }

    /// Stores a word to the runtime.
    pub fn store_field(&mut self, value: Value, offset: usize) {
        let flags = MemFlagsData::new().with_notrap();
        self.b.ins().store(flags, value, self.runtime, offset as i32);
    }

    /// Returns the address of the words of the state that are kept in memory.
    pub fn memory(&mut self) -> Value {
        let slot = match self.memory {
            Some(WordMemory::Caller(words)) => return words,
            Some(WordMemory::Slot(slot)) => slot,
            None => {
                // Bits are read eight bytes at a time, so the last read may extend beyond the state. The results of
                // functions follow.
                let size = 8 * (WordLayout::new(self.interp.layout()).words() as u32 + 3);
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
                let slot = self.b.create_sized_stack_slot(data);
                self.memory = Some(WordMemory::Slot(slot));
                slot
            }
        };
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// Returns the expanded state, unchanged.
    pub fn parent(&self) -> WordFrame {
        WordFrame {
            words: vec![WordStorage::Parent; WordLayout::new(self.interp.layout()).words()],
        }
    }

    /// Returns a working copy of the state, with its words stored as `keep` says.
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
