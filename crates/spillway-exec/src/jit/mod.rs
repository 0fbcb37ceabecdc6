//! Compiling a model: successors as machine code.
//!
//! Each location of each process becomes a function that takes all steps from there. One function, the driver, expands
//! states by calling them. Guards read the packed bits of the state in place. A successor is built in registers from
//! the parent's words, eight bytes each, and stored once, directly into the candidate buffer. Cranelift generates the
//! code.
//!
//! - `words`, `shape`: positions of variables, in bits; `route`: the path to a place; `footprint`: the words that a
//!   step touches, and so the words in registers;
//! - `code_value`, `emitter`, `bits`, `place`: values, faults, packed bits, places;
//! - `code_size`: size estimates; `branchless`: conditions without branches; `undefined`: values that may be
//!   undefined;
//! - `names`: bindings of names; `call`: functions; `outline`: functions compiled separately, and `outline_calls`,
//!   their code; `multisets`: multisets;
//! - `expr`, `stmt`, `step`: expressions, statements, actions that are taken;
//! - `steps`: the steps of a location; `receiver_rendezvous`: rendezvous of permanent processes; `rendezvous`:
//!   rendezvous of dynamic processes, `unobserved_send`: the sender's actions there; `channels`: selection of a
//!   channel, `pids`: pids known at compile time;
//! - `deferred_code`: code that is compiled once many states are expanded;
//! - `code_purpose`: code about action instances, `instances`: its tests and marks, and `action_selection`: its
//!   interface;
//! - `driver`: the loop over states; `function_compiler`: compiling functions; `code`: functions in memory; `runtime`:
//!   the functions they call; `compile_limits`: limits of compiling.
//!
//! The interpreter runs rare constructs, action by action: see `native_support`. It also does all work other than
//! expanding many states (steps, traces, printing).

mod action_selection;
mod bindings;
mod bits;
mod branchless;
mod call;
mod channels;
mod code;
mod code_purpose;
mod code_size;
mod code_value;
mod compile;
mod compile_limits;
mod deferred_code;
mod driver;
mod emitter;
mod expr;
mod footprint;
mod function_compiler;
mod guards;
mod instances;
mod multisets;
mod named_channels;
mod names;
mod native_support;
mod outline;
mod outline_calls;
mod pids;
mod place;
mod receiver_rendezvous;
mod rendezvous;
mod route;
mod runtime;
mod shape;
mod step;
mod steps;
mod stmt;
mod undefined;
mod unobserved_send;
mod words;

pub use compile_limits::CompileLimits;
pub(super) use compile_limits::INTERPRETED_PER_FUNCTION;
pub use spillway_model::NotCompiled;

use super::{CompilationStats, Interp, InterpretationReason, LABEL_BYTES};
pub use action_selection::JitSelector;
use code::{FaultSite, MachineCode};
use code_purpose::CodePurpose;
use compile::compile;
use deferred_code::DeferredCode;
use driver::DispatchTable;
use function_compiler::CompileError;
use runtime::{InstanceChoice, LoggedStep, SLACK, StateBatch};
use spillway_base::source::Span;
use spillway_ir::ActionId;
use spillway_model::{
    Capabilities, FaultKind, ModelError, StateSpace, SuccessorSink, SystemDescription,
};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// A program compiled to machine code.
pub struct Jit<'a> {
    interp: &'a Interp,
    code: DeferredCode,
    limits: CompileLimits,
    /// The same code with the action number after each candidate.
    numbered: DeferredCode,
    /// The work of the interpreter for each purpose before code is compiled.
    interpreted: u64,
    /// The result of compiling for all purposes so far.
    stats: Mutex<Option<CompilationStats>>,
}

impl From<CompileError> for NotCompiled {
    fn from(refusal: CompileError) -> NotCompiled {
        NotCompiled {
            reason: match refusal {
                CompileError::Machine(reason) => format!("no code for this machine: {reason}"),
                CompileError::Backend(error) => format!("the code generator failed: {error}"),
            },
        }
    }
}

/// A step of a state by compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledStep {
    /// The action (the receiver's, in a rendezvous).
    pub action: u32,
    /// The successor, or the error and its position in the source.
    pub outcome: Result<Vec<u8>, (FaultKind, Span)>,
}

/// The input of compiled code.
#[derive(Clone, Copy)]
struct CompiledInput<'s> {
    /// The states, one after another.
    states: &'s [u8],
    /// The chosen instances of each state, if not all steps are taken.
    choice: Option<InstanceChoice<'s>>,
}

impl<'a> Jit<'a> {
    /// Compiles the program of an interpreter, or returns why it is interpreted.
    pub fn new(interp: &'a Interp) -> Result<Jit<'a>, NotCompiled> {
        Jit::within(interp, CompileLimits::default())
    }

    /// Does the same within these limits; the interpreter runs what exceeds them.
    pub fn within(interp: &'a Interp, limits: CompileLimits) -> Result<Jit<'a>, NotCompiled> {
        let jit = Jit::deferred(interp, limits)?;
        jit.compile_steps()?;
        Ok(jit)
    }

    /// Prepares a program for compilation within these limits. It is compiled once many states are expanded. The error
    /// says why it cannot be compiled.
    pub fn deferred(interp: &'a Interp, limits: CompileLimits) -> Result<Jit<'a>, NotCompiled> {
        if let Some(reason) = native_support::refusal(interp.program()) {
            return Err(NotCompiled { reason: reason.to_owned() });
        }
        let interpreted = match limits.interpreted_per_function {
            0 => 0,
            each => each.saturating_mul(DispatchTable::new(interp).functions_per_mover(interp)),
        };
        let [code, numbered] = Default::default();
        Ok(Jit { interp, code, limits, numbered, interpreted, stats: Mutex::default() })
    }

    /// Compiles the code for all steps, unless it exists. Returns why it cannot be compiled.
    pub fn compile_steps(&self) -> Result<(), NotCompiled> {
        self.code.compiled(self, CodePurpose::Expand).map(|_| ()).map_err(Clone::clone)
    }

    /// Returns the limits of the compilation.
    pub fn limits(&self) -> CompileLimits {
        self.limits
    }

    /// Returns the result of compiling so far, the total of all code, or why nothing was compiled.
    pub fn compiled(&self) -> Result<CompilationStats, InterpretationReason> {
        let stats = *self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.ok_or_else(|| match self.code.refusal() {
            Some(why) => InterpretationReason::NotCompiled(why.clone()),
            None => InterpretationReason::FewStates,
        })
    }

    /// Compiles the program for a purpose.
    fn compile(&self, purpose: CodePurpose) -> Result<MachineCode, NotCompiled> {
        let code = compile(self.interp, purpose, self.limits)?;
        let MachineCode { time, bytes, interpreted, .. } = code;
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        let before = stats.unwrap_or_default();
        *stats = Some(CompilationStats {
            time: before.time + time,
            bytes: before.bytes + bytes,
            interpreted: before.interpreted.max(interpreted),
        });
        Ok(code)
    }

    /// Returns the number of some states.
    fn count(&self, states: &[u8]) -> usize {
        states.len() / self.interp.width()
    }

    /// Returns every step of `state` by compiled code, with its action; without the properties that meet errors. There
    /// are none if `state` is not a state.
    pub fn compiled_steps(&self, state: &[u8]) -> Vec<CompiledStep> {
        let Ok(code) = self.numbered.compiled(self, CodePurpose::Number) else {
            return Vec::new();
        };
        if !self.interp.are_states(state) {
            return Vec::new();
        }
        let mut successors = Vec::new();
        let keep = |buffer: &mut Vec<u8>| {
            successors.append(buffer);
            ControlFlow::Continue(())
        };
        let (mut buffer, mut noted) = (Vec::new(), Vec::new());
        let input = CompiledInput { states: state, choice: None };
        let run = |out: &mut SuccessorSink| self.run(code, input, out, Some(&mut noted));
        // A small buffer, so that it is replaced often.
        let bytes = self.width() + LABEL_BYTES;
        let collected = SuccessorSink::collect_in_batches(bytes, &mut buffer, 3 * bytes, keep, run);
        // An expansion without a free slot for a process fails, and the steps before it are returned.
        debug_assert!(
            !matches!(collected, Err(ModelError::BrokenOff)),
            "emptying the buffer does not break off"
        );
        successors.append(&mut buffer);
        let mut successors = successors.chunks_exact(bytes);
        let step = |noted| match noted {
            LoggedStep::Taken(action) => {
                let successor = successors.next().map_or(&[][..], |it| &it[..self.width()]);
                CompiledStep { action, outcome: Ok(successor.to_vec()) }
            }
            LoggedStep::Failed(FaultSite { action, kind, span, .. }) => {
                CompiledStep { action: action.0, outcome: Err((kind, span)) }
            }
        };
        noted.into_iter().map(step).collect()
    }

    /// Runs code on states. The last ones are in a copy with space to read beyond them.
    fn run(
        &self,
        code: &MachineCode,
        input: CompiledInput<'_>,
        out: &mut SuccessorSink,
        mut noted: Option<&mut Vec<LoggedStep>>,
    ) {
        let CompiledInput { states, choice } = input;
        let width = self.width();
        let direct = states.len().saturating_sub(SLACK) / width;
        let (front, back) = states.split_at(direct * width);
        let mut copy = Vec::with_capacity(back.len() + SLACK);
        copy.extend_from_slice(back);
        copy.resize(back.len() + SLACK, 0);
        debug_assert!(self.interp.are_states(states), "looked at before");
        // SAFETY: at least `SLACK` bytes of other states follow those in front, and as many zeros follow the copy. A
        // choice contains a set for each state.
        unsafe {
            let front = StateBatch { states: front.as_ptr(), count: direct, choice };
            let added = runtime::run(self, code, front, out, noted.as_deref_mut());
            let choice = choice.map(|choice| choice.after(direct, added));
            let back = StateBatch { states: copy.as_ptr(), count: back.len() / width, choice };
            runtime::run(self, code, back, out, noted);
        }
    }

    /// Returns the machine code of one action, as text.
    pub fn assembly(&self, action: ActionId) -> Result<String, NotCompiled> {
        Ok(compile::assembly(self.interp, action)?)
    }
}

impl StateSpace for Jit<'_> {
    fn width(&self) -> usize {
        self.interp.width()
    }

    fn bits(&self) -> u32 {
        self.interp.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.interp.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        match self.code.ready(self, CodePurpose::Expand) {
            None => {
                let expand = |out: &mut SuccessorSink| self.interp.expand(states, out);
                self.code.interpret(self.count(states), out, |out| out.transitions(), expand);
            }
            Some(_) if self.interp.reject_non_states(states, out) => {}
            Some(code) => self.run(code, CompiledInput { states, choice: None }, out, None),
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.interp.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.interp.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.interp
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}
