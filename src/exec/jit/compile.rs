//! Compiling a program: function by function, within a time and within memory.

use super::code::{Code, Mode, Site};
use super::driver::{DispatchTable, Work};
use super::emitter::Emitter;
use super::outline::Outlines;
use super::purpose::Purpose;
use super::shape::Shapes;
use super::size::{Sizes, UNROLLED_MAX};
use super::workshop::{Refusal, Workshop};
use crate::exec::{Interp, stop};
use crate::ir::{Action, ActionId, Program};
use cranelift_codegen::ir::Value;
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What is compiled, and what that may take.
#[derive(Clone, Copy, Debug)]
pub struct CompileLimits {
    /// What is not compiled by then is interpreted.
    pub time: Duration,
    /// What would take more memory than this, in bytes, is interpreted.
    pub memory: u64,
    /// Where all actions together have more parts than this (statements and expressions), functions
    /// that they call are compiled by themselves.
    pub inlined: u64,
    /// Whether code counts how often each action is taken.
    pub counts: bool,
}

impl Default for CompileLimits {
    fn default() -> CompileLimits {
        CompileLimits { time: TIME_MAX, memory: MEMORY_DEFAULT, inlined: INLINED_MAX, counts: true }
    }
}

/// Compiling goes on for at most this long; what is not compiled by then is interpreted.
const TIME_MAX: Duration = Duration::from_millis(1500);

/// The memory that compiling may take where nobody says, in bytes.
const MEMORY_DEFAULT: u64 = 256 << 20;

/// Programs up to this size are compiled with all functions where they are called: that is the
/// faster code, and takes a quarter of a second at most.
const INLINED_MAX: u64 = 6000;

/// The memory that the back end takes for an instruction, in bytes. Measured: 600 to 750 on
/// functions of 50,000 to 130,000 instructions.
const INSTRUCTION_BYTES: u64 = 1000;

/// About so many instructions become of a part of a statement or expression. Measured: 5 to 12.
const PART_INSTRUCTIONS: u64 = 6;

/// More are not compiled as one function: the back end takes more than linear time.
const INSTRUCTIONS_MAX: u64 = 150_000;

/// An action with more parts than this, all functions counted where they are called, is interpreted:
/// only going through it, call by call, would take long.
const WHOLE_MAX: u64 = 200_000;

impl CompileLimits {
    /// How many instructions a function may have.
    fn instructions(self) -> u64 {
        (self.memory / INSTRUCTION_BYTES).min(INSTRUCTIONS_MAX)
    }

    /// About how many parts.
    fn parts(self) -> u64 {
        self.instructions() / PART_INSTRUCTIONS
    }
}

/// Compiles everything within limits; what goes beyond is interpreted.
pub(super) fn compile(
    interp: &Interp,
    purpose: Purpose,
    limits: CompileLimits,
) -> Result<Code, Refusal> {
    let limits = CompileLimits { counts: limits.counts && purpose.takes_steps(), ..limits };
    let began = Instant::now();
    let program = interp.program();
    let shapes = Shapes::new(program);
    let plan = match purpose {
        Purpose::Judge => DispatchTable::without_steps(),
        _ => DispatchTable::new(interp),
    };
    let sizes = Sizes::new(program, limits.inlined);
    let bounds = Bounds::new(program, &sizes, limits);
    let mut builder = Builder::new(interp, &shapes, &sizes, purpose, limits)?;
    let mut table = Vec::new();
    for work in &plan.functions {
        let actions: &[ActionId] = match work {
            Work::Nothing => &[],
            Work::Free(actions) => actions,
            Work::Steps { mover, at, .. } => interp.actions_from(mover.process, *at),
        };
        let each = actions.iter().map(|&id| &program.actions[id]);
        let haste = Haste::at(began.elapsed(), each.map(|it| bounds.haste(it)).max(), limits);
        table.push(builder.work(work, actions, haste)?);
    }
    builder.function(4, |emitter| emitter.driver(&plan));
    let entry = builder.define()?;
    let mut code = builder.workshop.finish(entry, &table, builder.sites)?;
    code.firsts = plan.firsts(program);
    code.instances = program.instances().collect();
    code.per_mode = plan.per_mode;
    code.is_labelled = purpose.is_labelled();
    code.looks = purpose.looks();
    code.counts = limits.counts;
    code.interpreted = builder.interpreted;
    code.time = began.elapsed();
    Ok(code)
}

/// The machine code of one action, as text, or of all from where it begins.
pub(super) fn assembly(interp: &Interp, action: ActionId) -> Result<String, Refusal> {
    let shapes = Shapes::new(interp.program());
    let sizes = Sizes::whole(interp.program());
    let limits =
        CompileLimits { time: Duration::MAX, memory: u64::MAX, inlined: u64::MAX, counts: false };
    let mut builder = Builder::new(interp, &shapes, &sizes, Purpose::Expand, limits)?;
    // Where processes come and go all that one does at a location is one piece.
    let edge = interp.program().actions[action].edge.filter(|_| interp.program().comes_and_goes());
    let piece = DispatchTable::new(interp).functions.into_iter().find(|work| match *work {
        Work::Steps { mover, at, mode: Mode::All, .. } => {
            edge.is_some_and(|it| it.process == mover.process && it.from == at)
        }
        _ => false,
    });
    match piece {
        None => builder.step_function(&[action], Mode::All, Haste::None),
        Some(work) => builder.emit_work(&work, Haste::None),
    }
    builder.workshop.context.set_disasm(true);
    builder.workshop.define()?;
    let code = builder.workshop.context.compiled_code();
    Ok(code.and_then(|code| code.vcode.clone()).unwrap_or_default())
}

/// What is known of actions before they are compiled.
struct Bounds<'a> {
    program: &'a Program,
    sizes: &'a Sizes,
    whole: Sizes,
    limits: CompileLimits,
    /// The size of the largest function that is compiled by itself.
    largest: u64,
}

impl<'a> Bounds<'a> {
    fn new(program: &'a Program, sizes: &'a Sizes, limits: CompileLimits) -> Bounds<'a> {
        let outlined = program.functions.keys().filter(|&id| sizes.is_outlined(id));
        let largest = outlined.map(|id| sizes.function(program, id)).max().unwrap_or_default();
        Bounds { program, sizes, whole: Sizes::whole(program), limits, largest }
    }

    /// What the size of an action asks for.
    fn haste(&self, action: &Action) -> Haste {
        let own = self.sizes.action(self.program, action);
        let whole = self.whole.action(self.program, action);
        let unit = if whole == own { own } else { own.max(self.largest) };
        match own {
            _ if whole > WHOLE_MAX || unit > self.limits.parts() => Haste::Late,
            own if own > UNROLLED_MAX => Haste::Some,
            _ => Haste::None,
        }
    }
}

/// How much of the time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Haste {
    /// Enough.
    None,
    /// A part of it, or there is much to compile: loops are not unrolled.
    Some,
    /// None, or there is too much: actions are left to the interpreter.
    Late,
}

impl Haste {
    fn at(elapsed: Duration, least: Option<Haste>, limits: CompileLimits) -> Haste {
        let haste = match elapsed {
            _ if elapsed > limits.time || stop::is_asked() => Haste::Late,
            _ if elapsed > limits.time / 4 => Haste::Some,
            _ => Haste::None,
        };
        least.unwrap_or(Haste::None).max(haste)
    }
}

struct Builder<'a> {
    interp: &'a Interp,
    shapes: &'a Shapes,
    sizes: &'a Sizes,
    purpose: Purpose<'a>,
    limits: CompileLimits,
    workshop: Workshop,
    outlines: Outlines,
    sites: Vec<Site>,
    interpreted: usize,
    /// The function that does nothing.
    idle: Option<FuncId>,
    /// Those that leave a mover to the interpreter, by how it is looked at and its number.
    left: HashMap<(Mode, u32), FuncId>,
}

impl<'a> Builder<'a> {
    fn new(
        interp: &'a Interp,
        shapes: &'a Shapes,
        sizes: &'a Sizes,
        purpose: Purpose<'a>,
        limits: CompileLimits,
    ) -> Result<Self, Refusal> {
        Ok(Builder {
            interp,
            shapes,
            sizes,
            purpose,
            limits,
            workshop: Workshop::new(purpose.optimization())?,
            outlines: Outlines::default(),
            sites: Vec::new(),
            interpreted: 0,
            idle: None,
            left: HashMap::new(),
        })
    }

    /// The function for some work, made or found.
    fn work(&mut self, work: &Work, actions: &[ActionId], haste: Haste) -> Result<FuncId, Refusal> {
        if haste < Haste::Late {
            let before = (self.sites.len(), self.interpreted, self.outlines.count());
            match work {
                Work::Nothing => return self.idle(),
                work => self.emit_work(work, haste),
            }
            let instructions = self.workshop.context.func.dfg.num_insts() as u64;
            if instructions <= self.limits.instructions() {
                return self.define();
            }
            self.sites.truncate(before.0);
            self.interpreted = before.1;
            self.outlines.forget(before.2);
        }
        match work {
            Work::Nothing => self.idle(),
            Work::Free(actions) => {
                self.function(3, |emitter| {
                    actions.iter().for_each(|&id| emitter.interpreted(id, Mode::All));
                });
                self.define()
            }
            &Work::Steps { number, mode, .. } => {
                self.interpreted += actions.len();
                self.left(mode, number)
            }
        }
    }

    /// Emits the function for some work.
    fn emit_work(&mut self, work: &Work, haste: Haste) {
        let interp = self.interp;
        match work {
            Work::Nothing => self.function(3, |_| {}),
            Work::Free(actions) => self.step_function(actions, Mode::All, haste),
            &Work::Steps { mover, number, at, mode } if interp.program().comes_and_goes() => {
                self.function(3, |emitter| emitter.turn(mover, at, mode, number));
            }
            &Work::Steps { mover, at, mode, .. } => {
                self.step_function(interp.actions_from(mover.process, at), mode, haste);
            }
        }
    }

    fn idle(&mut self) -> Result<FuncId, Refusal> {
        if let Some(idle) = self.idle {
            return Ok(idle);
        }
        self.function(3, |_| {});
        let idle = self.define()?;
        self.idle = Some(idle);
        Ok(idle)
    }

    /// A function that leaves a mover to the interpreter wherever it is.
    fn left(&mut self, mode: Mode, number: u32) -> Result<FuncId, Refusal> {
        if let Some(left) = self.left.get(&(mode, number)) {
            return Ok(*left);
        }
        self.function(3, |emitter| emitter.interpreted_mover(mode, number));
        let left = self.define()?;
        self.left.insert((mode, number), left);
        Ok(left)
    }

    /// Compiles the function at hand, then those that it calls and that are not compiled yet.
    fn define(&mut self) -> Result<FuncId, Refusal> {
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

    /// The function of some actions.
    fn step_function(&mut self, actions: &[ActionId], mode: Mode, haste: Haste) {
        self.function(3, |emitter| {
            if haste == Haste::Some {
                emitter.unrolled_max = 0;
            }
            emitter.actions(actions, mode);
        });
    }

    /// A function of so many words, the last of which is the cursor, that returns the cursor.
    fn function(&mut self, words: usize, body: impl FnOnce(&mut Emitter)) {
        self.emit(words, |emitter| {
            body(emitter);
            None
        });
    }

    /// A function of so many words that returns what `body` gives, or the cursor.
    fn emit(&mut self, words: usize, body: impl FnOnce(&mut Emitter) -> Option<Value>) {
        let imports = self.workshop.begin(words);
        let Workshop { context, functions, module, .. } = &mut self.workshop;
        let b = FunctionBuilder::new(&mut context.func, functions);
        let (interp, known, sites) = (self.interp, (self.shapes, self.sizes), &mut self.sites);
        let links = (&mut self.outlines, module);
        let mut emitter = Emitter::begin(interp, known, sites, self.purpose, imports, links, b);
        emitter.unrolled_max = UNROLLED_MAX.min(self.limits.parts());
        emitter.instructions_max = self.limits.instructions() as usize;
        emitter.counts = self.limits.counts;
        let result = body(&mut emitter);
        self.interpreted += emitter.interpreted;
        match result {
            None => emitter.finish(),
            Some(value) => emitter.finish_with(value),
        }
    }
}
