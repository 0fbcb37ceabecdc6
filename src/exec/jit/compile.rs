//! Compiling a program: function by function, within a time.

use super::code::{Code, Refusal, Workshop};
use super::driver::{Plan, Work};
use super::emitter::Emitter;
use super::runtime::Site;
use super::shape::Shapes;
use super::step::Turn;
use crate::exec::Interp;
use crate::ir::ActionId;
use cranelift_frontend::FunctionBuilder;
use std::time::{Duration, Instant};

/// Compiles everything in about the time given; what is late is interpreted.
pub(super) fn compile(
    interp: &Interp,
    numbered: bool,
    time_max: Duration,
) -> Result<Code, Refusal> {
    let began = Instant::now();
    let shapes = Shapes::new(interp.program());
    let plan = Plan::new(interp);
    let mut builder = Builder::new(interp, &shapes, numbered)?;
    let mut table = Vec::new();
    let mut idle = None;
    for work in &plan.functions {
        let function = match (work, idle) {
            (Work::Nothing, Some(idle)) => idle,
            _ => {
                builder.work(work, began.elapsed() > time_max);
                builder.workshop.define()?
            }
        };
        if matches!(work, Work::Nothing) {
            idle = Some(function);
        }
        table.push(function);
    }
    builder.function(4, |emitter| emitter.driver(&plan));
    let entry = builder.workshop.define()?;
    let mut code = builder.workshop.finish(entry, &table, builder.sites)?;
    code.firsts = plan.movers.iter().map(|mover| mover.first).collect();
    code.instances = plan.instances();
    code.per_turn = plan.per_turn;
    code.interpreted = builder.interpreted;
    code.time = began.elapsed();
    Ok(code)
}

/// The machine code of one action, as text.
pub(super) fn assembly(interp: &Interp, action: ActionId) -> Result<String, Refusal> {
    let shapes = Shapes::new(interp.program());
    let mut builder = Builder::new(interp, &shapes, false)?;
    builder.step_function(&[action], Turn::Anybody, false);
    builder.workshop.context.set_disasm(true);
    builder.workshop.define()?;
    let code = builder.workshop.context.compiled_code();
    Ok(code.and_then(|code| code.vcode.clone()).unwrap_or_default())
}

struct Builder<'a> {
    interp: &'a Interp,
    shapes: &'a Shapes,
    numbered: bool,
    workshop: Workshop,
    sites: Vec<Site>,
    interpreted: usize,
}

impl<'a> Builder<'a> {
    fn new(interp: &'a Interp, shapes: &'a Shapes, numbered: bool) -> Result<Self, Refusal> {
        let workshop = Workshop::new()?;
        Ok(Builder { interp, shapes, numbered, workshop, sites: Vec::new(), interpreted: 0 })
    }

    fn work(&mut self, work: &Work, is_late: bool) {
        match work {
            Work::Nothing => self.function(3, |_| {}),
            Work::Actions(turn, actions) => self.step_function(actions, *turn, is_late),
            &Work::Steps { mover, number, at, mode } => {
                self.function(3, |emitter| match is_late {
                    false => emitter.turn(mover, at, mode, number),
                    true => emitter.interpreted_turn(mover, at, mode, number),
                });
            }
        }
    }

    /// The function of some actions, compiled or left to the interpreter.
    fn step_function(&mut self, actions: &[ActionId], turn: Turn, is_late: bool) {
        self.function(3, |emitter| match is_late {
            false => emitter.actions(actions, turn),
            true => actions.iter().for_each(|&id| emitter.interpreted(id, turn)),
        });
    }

    /// A function of so many words, the last of which is the cursor, that returns the cursor.
    fn function(&mut self, words: usize, body: impl FnOnce(&mut Emitter)) {
        let imports = self.workshop.begin(words);
        let Workshop { context, functions, .. } = &mut self.workshop;
        let b = FunctionBuilder::new(&mut context.func, functions);
        let (interp, shapes, sites) = (self.interp, self.shapes, &mut self.sites);
        let mut emitter = Emitter::begin(interp, shapes, sites, self.numbered, imports, b);
        body(&mut emitter);
        self.interpreted += emitter.interpreted;
        emitter.finish();
    }
}
