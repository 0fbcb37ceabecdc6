//! Compiling a program, function by function, within limits of time and memory.

use super::code::{FaultSite, MachineCode};
use super::code_purpose::CodePurpose;
use super::code_size::{CodeSizes, UNROLLED_MAX};
use super::compile_limits::CompileLimits;
use super::driver::{DispatchTable, TableFunction};
use super::emitter::{CodeContext, Emitter};
use super::function_compiler::{CompileError, FunctionCompiler};
use super::outline::OutlineTable;
use super::shape::StoredTypes;
use super::steps::MoverInMode;
use crate::Interp;
use crate::interp::MoverMode;
use cranelift_codegen::ir::Value;
use cranelift_module::FuncId;
use spillway_ir::{Action, ActionId, ProcessInstance, Program};
use spillway_model::stop_request;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// An action with more parts is interpreted, with all functions counted at their calls. Visiting it call by call would
/// already take long.
const WHOLE_MAX: u64 = 200_000;

/// Compiles everything within the limits; the rest is interpreted.
pub(super) fn compile(
    interp: &Interp,
    purpose: CodePurpose,
    limits: CompileLimits,
) -> Result<MachineCode, CompileError> {
    let limits = CompileLimits { counts: limits.counts && purpose.takes_steps(), ..limits };
    let began = Instant::now();
    let program = interp.program();
    let shapes = StoredTypes::new(program);
    let plan = match purpose {
        CodePurpose::Judge => DispatchTable::without_steps(),
        _ => DispatchTable::new(interp),
    };
    let sizes = CodeSizes::new(program, limits.inlined);
    let bounds = SizeBounds::new(program, &sizes, limits);
    let mut builder =
        CodeBuilder::new(CodeContext { interp, shapes: &shapes, sizes: &sizes, purpose, limits })?;
    let mut table = Vec::new();
    for work in &plan.functions {
        let actions: &[ActionId] = match work {
            TableFunction::Nothing => &[],
            TableFunction::Free(actions) => actions,
            TableFunction::Steps { mover, at, .. } => interp.actions_from(mover.process, *at),
        };
        let each = actions.iter().map(|&id| &program.actions[id]);
        let haste =
            TimePressure::at(began.elapsed(), each.map(|it| bounds.haste(it)).max(), limits);
        table.push(builder.work(work, actions, haste)?);
    }
    builder.function(4, |emitter| emitter.driver(&plan));
    let entry = builder.define()?;
    let mut code = builder.workshop.finish(entry, &table, builder.sites)?;
    code.firsts = plan.firsts(program);
    code.instances = program.instances().collect();
    code.per_mode = plan.per_mode;
    code.is_labelled = purpose.is_labelled();
    code.marks_enabled = purpose.marks_enabled();
    code.counts = limits.counts;
    code.interpreted = builder.interpreted;
    code.time = began.elapsed();
    Ok(code)
}

/// Returns the machine code of one action, as text; or that of all actions from its location.
pub(super) fn assembly(interp: &Interp, action: ActionId) -> Result<String, CompileError> {
    let shapes = StoredTypes::new(interp.program());
    let sizes = CodeSizes::whole(interp.program());
    let limits = CompileLimits {
        time: Duration::MAX,
        memory: u64::MAX,
        inlined: u64::MAX,
        counts: false,
        interpreted_per_function: 0,
    };
    let purpose = CodePurpose::Expand;
    let mut builder =
        CodeBuilder::new(CodeContext { interp, shapes: &shapes, sizes: &sizes, purpose, limits })?;
    // With dynamic processes, all actions of a location are one function.
    let edge =
        interp.program().actions[action].edge.filter(|_| interp.program().has_dynamic_processes());
    let piece = DispatchTable::new(interp).functions.into_iter().find(|work| match *work {
        TableFunction::Steps { mover, at, mode: MoverMode::All, .. } => {
            edge.is_some_and(|it| it.process == mover.process && it.from == at)
        }
        _ => false,
    });
    match piece {
        None => {
            let edge = interp.program().actions[action].edge;
            let mover = edge.map(|it| ProcessInstance { process: it.process, slot: 0 });
            builder.step_function(MoverInMode { mover, ..NOBODY }, &[action], TimePressure::None);
        }
        Some(work) => builder.emit_work(&work, TimePressure::None),
    }
    builder.workshop.context.set_disasm(true);
    builder.workshop.define()?;
    let code = builder.workshop.context.compiled_code();
    Ok(code.and_then(|code| code.vcode.clone()).unwrap_or_default())
}

/// Size data of actions, computed before compilation.
struct SizeBounds<'a> {
    program: &'a Program,
    sizes: &'a CodeSizes,
    whole: CodeSizes,
    limits: CompileLimits,
    /// The size of the largest function that is compiled separately.
    largest: u64,
}

impl<'a> SizeBounds<'a> {
    fn new(program: &'a Program, sizes: &'a CodeSizes, limits: CompileLimits) -> SizeBounds<'a> {
        let outlined = program.functions.keys().filter(|&id| sizes.is_outlined(id));
        let largest = outlined.map(|id| sizes.function(program, id)).max().unwrap_or_default();
        SizeBounds { program, sizes, whole: CodeSizes::whole(program), limits, largest }
    }

    /// Returns the time pressure for an action of this size.
    fn haste(&self, action: &Action) -> TimePressure {
        let own = self.sizes.action(self.program, action);
        let whole = self.whole.action(self.program, action);
        let unit = if whole == own { own } else { own.max(self.largest) };
        match own {
            _ if whole > WHOLE_MAX || unit > self.limits.parts() => TimePressure::Late,
            own if own > UNROLLED_MAX => TimePressure::Some,
            _ => TimePressure::None,
        }
    }
}

/// How much of the compile time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TimePressure {
    /// Enough.
    None,
    /// A part of it, or there is much to compile: loops are not unrolled.
    Some,
    /// None, or there is too much to compile: the interpreter runs the actions.
    Late,
}

impl TimePressure {
    fn at(elapsed: Duration, least: Option<TimePressure>, limits: CompileLimits) -> TimePressure {
        let haste = match elapsed {
            _ if elapsed > limits.time || stop_request::is_requested() => TimePressure::Late,
            _ if elapsed > limits.time / 4 => TimePressure::Some,
            _ => TimePressure::None,
        };
        least.unwrap_or(TimePressure::None).max(haste)
    }
}

/// The mover of actions without a process.
const NOBODY: MoverInMode = MoverInMode { mover: None, number: 0, mode: MoverMode::All };

struct CodeBuilder<'a> {
    context: CodeContext<'a>,
    workshop: FunctionCompiler,
    outlines: OutlineTable,
    sites: Vec<FaultSite>,
    interpreted: usize,
    /// The function that does nothing.
    idle: Option<FuncId>,
    /// The functions that leave a mover to the interpreter, by mode and mover number.
    left: HashMap<(MoverMode, u32), FuncId>,
}

impl<'a> CodeBuilder<'a> {
    fn new(context: CodeContext<'a>) -> Result<Self, CompileError> {
        Ok(CodeBuilder {
            context,
            workshop: FunctionCompiler::new(context.purpose.optimization())?,
            outlines: OutlineTable::default(),
            sites: Vec::new(),
            interpreted: 0,
            idle: None,
            left: HashMap::new(),
        })
    }

    /// Returns the function for a table entry, compiled or reused.
    fn work(
        &mut self,
        work: &TableFunction,
        actions: &[ActionId],
        haste: TimePressure,
    ) -> Result<FuncId, CompileError> {
        if haste < TimePressure::Late {
            let before = (self.sites.len(), self.interpreted, self.outlines.count());
            match work {
                TableFunction::Nothing => return self.empty_function(),
                work => self.emit_work(work, haste),
            }
            let instructions = self.workshop.context.func.dfg.num_insts() as u64;
            if instructions <= self.context.limits.instructions() {
                return self.define();
            }
            self.sites.truncate(before.0);
            self.interpreted = before.1;
            self.outlines.forget(before.2);
        }
        match work {
            TableFunction::Nothing => self.empty_function(),
            TableFunction::Free(actions) => {
                self.function(3, |emitter| {
                    actions.iter().for_each(|&id| emitter.emit_interpreted(id, MoverMode::All));
                });
                self.define()
            }
            &TableFunction::Steps { number, mode, .. } => {
                self.interpreted += actions.len();
                self.interpreter_stub(mode, number)
            }
        }
    }

    /// Emits the function for a table entry.
    fn emit_work(&mut self, work: &TableFunction, haste: TimePressure) {
        let interp = self.context.interp;
        match work {
            TableFunction::Nothing => self.function(3, |_| {}),
            TableFunction::Free(actions) => self.step_function(NOBODY, actions, haste),
            &TableFunction::Steps { mover, number, at, mode } => {
                let by = MoverInMode { mover: Some(mover), number, mode };
                self.step_function(by, interp.actions_from(mover.process, at), haste);
            }
        }
    }

    fn empty_function(&mut self) -> Result<FuncId, CompileError> {
        if let Some(idle) = self.idle {
            return Ok(idle);
        }
        self.function(3, |_| {});
        let idle = self.define()?;
        self.idle = Some(idle);
        Ok(idle)
    }

    /// Returns a function that leaves a mover to the interpreter at any location.
    fn interpreter_stub(&mut self, mode: MoverMode, number: u32) -> Result<FuncId, CompileError> {
        if let Some(left) = self.left.get(&(mode, number)) {
            return Ok(*left);
        }
        self.function(3, |emitter| emitter.emit_interpreted_mover(mode, number));
        let left = self.define()?;
        self.left.insert((mode, number), left);
        Ok(left)
    }

    /// Compiles the current function, then the functions it calls that are not compiled yet.
    fn define(&mut self) -> Result<FuncId, CompileError> {
        let function = self.workshop.define()?;
        while let Some((outline, id)) = self.outlines.next() {
            self.emit(outline.arguments(), |emitter| Some(emitter.outlined(&outline)));
            self.workshop.define_as(id)?;
        }
        match self.outlines.error.take() {
            Some(error) => Err(error.into()),
            None => Ok(function),
        }
    }

    /// Emits the function of some actions of a mover.
    fn step_function(&mut self, by: MoverInMode, actions: &[ActionId], haste: TimePressure) {
        self.function(3, |emitter| {
            if haste == TimePressure::Some {
                emitter.unrolled_max = 0;
            }
            emitter.steps(by, actions);
        });
    }

    /// Emits a function of `words` words that returns the cursor, its last argument.
    fn function(&mut self, words: usize, body: impl FnOnce(&mut Emitter)) {
        self.emit(words, |emitter| {
            body(emitter);
            None
        });
    }

    /// Emits a function of `words` words; it returns the value of `body`, or the cursor.
    fn emit(&mut self, words: usize, body: impl FnOnce(&mut Emitter) -> Option<Value>) {
        let function = self.workshop.begin(words);
        let mut emitter =
            Emitter::begin(self.context, &mut self.sites, &mut self.outlines, function);
        let result = body(&mut emitter);
        self.interpreted += emitter.interpreted;
        match result {
            None => emitter.finish(),
            Some(value) => emitter.finish_with(value),
        }
    }
}
