//! Compiling a program: function by function, within a time.

use super::code::{Code, Refusal, Workshop};
use super::driver::{Plan, Work};
use super::emitter::Emitter;
use super::expr::UNROLLED_MAX;
use super::runtime::Site;
use super::shape::Shapes;
use super::size::Sizes;
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
    let sizes = Sizes::new(interp.program());
    let mut builder = Builder::new(interp, &shapes, &sizes, numbered)?;
    let mut table = Vec::new();
    let mut idle = None;
    for work in &plan.functions {
        let function = match (work, idle) {
            (Work::Nothing, Some(idle)) => idle,
            _ => {
                let actions: &[ActionId] = match work {
                    Work::Nothing => &[],
                    Work::Actions(_, actions) => actions,
                    Work::Steps { mover, at, .. } => interp.actions_from(mover.process, *at),
                };
                let each = actions.iter().map(|&id| &interp.program().actions[id]);
                let size = each.map(|action| sizes.action(interp.program(), action)).max();
                let haste = Haste::at(began.elapsed(), time_max, size.unwrap_or_default());
                builder.work(work, haste);
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
    let sizes = Sizes::new(interp.program());
    let mut builder = Builder::new(interp, &shapes, &sizes, false)?;
    builder.step_function(&[action], Turn::Anybody, Haste::None);
    builder.workshop.context.set_disasm(true);
    builder.workshop.define()?;
    let code = builder.workshop.context.compiled_code();
    Ok(code.and_then(|code| code.vcode.clone()).unwrap_or_default())
}

/// How much of the time is left.
#[derive(Clone, Copy, Debug)]
enum Haste {
    /// Enough.
    None,
    /// A part of it, or there is much to compile: loops are not unrolled.
    Some,
    /// None: actions are left to the interpreter.
    Late,
}

impl Haste {
    fn at(elapsed: Duration, time_max: Duration, size: u64) -> Haste {
        match elapsed {
            _ if elapsed > time_max => Haste::Late,
            _ if elapsed > time_max / 4 || size > UNROLLED_MAX => Haste::Some,
            _ => Haste::None,
        }
    }
}

struct Builder<'a> {
    interp: &'a Interp,
    shapes: &'a Shapes,
    sizes: &'a Sizes,
    numbered: bool,
    workshop: Workshop,
    sites: Vec<Site>,
    interpreted: usize,
}

impl<'a> Builder<'a> {
    fn new(
        interp: &'a Interp,
        shapes: &'a Shapes,
        sizes: &'a Sizes,
        numbered: bool,
    ) -> Result<Self, Refusal> {
        let workshop = Workshop::new()?;
        let (sites, interpreted) = (Vec::new(), 0);
        Ok(Builder { interp, shapes, sizes, numbered, workshop, sites, interpreted })
    }

    fn work(&mut self, work: &Work, haste: Haste) {
        match work {
            Work::Nothing => self.function(3, |_| {}),
            Work::Actions(turn, actions) => self.step_function(actions, *turn, haste),
            &Work::Steps { mover, number, at, mode } => {
                self.function(3, |emitter| match haste {
                    Haste::None | Haste::Some => emitter.turn(mover, at, mode, number),
                    Haste::Late => emitter.interpreted_turn(mover, at, mode, number),
                });
            }
        }
    }

    /// The function of some actions, compiled or left to the interpreter.
    fn step_function(&mut self, actions: &[ActionId], turn: Turn, haste: Haste) {
        self.function(3, |emitter| match haste {
            Haste::None => emitter.actions(actions, turn),
            Haste::Some => {
                emitter.unrolled_max = 0;
                emitter.actions(actions, turn);
            }
            Haste::Late => actions.iter().for_each(|&id| emitter.interpreted(id, turn)),
        });
    }

    /// A function of so many words, the last of which is the cursor, that returns the cursor.
    fn function(&mut self, words: usize, body: impl FnOnce(&mut Emitter)) {
        let imports = self.workshop.begin(words);
        let Workshop { context, functions, .. } = &mut self.workshop;
        let b = FunctionBuilder::new(&mut context.func, functions);
        let (interp, known, sites) = (self.interp, (self.shapes, self.sizes), &mut self.sites);
        let mut emitter = Emitter::begin(interp, known, sites, self.numbered, imports, b);
        body(&mut emitter);
        self.interpreted += emitter.interpreted;
        emitter.finish();
    }
}
