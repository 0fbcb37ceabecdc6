//! The initial states of a program.

use super::frames::LocalEnv;
use super::step_sink::StepTarget;
use super::{EvalFailure, Interp};
use spillway_ir::Owner;
use spillway_ir::layout::CellId;
use std::ops::ControlFlow;

impl Interp {
    /// Calls `visit` with every initial state, or the fault of the start with this number, until it stops.
    pub(super) fn run_starts(
        &self,
        mut visit: impl FnMut(u32, Result<&[u8], EvalFailure>) -> ControlFlow<()>,
    ) {
        let zero = self.declared_state();
        let mut work = Vec::new();
        for (number, start) in self.program.starts.iter().enumerate() {
            let locals = LocalEnv::new(&self.layout.frames.starts[number]);
            let went = self.bindings_until(&start.parameters, &locals, &mut |locals| {
                self.load(&zero, &mut work);
                let arrived = match self.finish(&start.body, &mut work, locals) {
                    Ok(true) => self.arrive(&mut work).map(StepTarget::successor),
                    Ok(false) => Ok(None),
                    Err(fault) => Err(fault),
                };
                match arrived.transpose() {
                    Some(result) => visit(number as u32, result),
                    None => ControlFlow::Continue(()),
                }
            });
            if went.is_break() {
                break;
            }
        }
    }

    /// Visits the initial states of the program. A start that fails gives none.
    pub fn each_start_state(&self, visit: &mut dyn FnMut(&[u8])) {
        self.run_starts(|_, state| {
            state.into_iter().for_each(&mut *visit);
            ControlFlow::Continue(())
        });
    }

    /// Returns the state of the declarations, before any start runs.
    fn declared_state(&self) -> Vec<u8> {
        let mut state = vec![0; self.layout.bytes];
        for (id, variable) in self.program.variables.iter() {
            if self.is_in_slots(variable.owner) {
                continue;
            }
            let first = self.layout.variables[id].first;
            for (offset, &value) in variable.initial.iter().enumerate() {
                self.layout.set(&mut state, CellId(first.0 + offset as u32), value);
            }
        }
        for (id, process) in self.program.processes.iter() {
            if process.has_slots() {
                continue;
            }
            let cell = self.layout.locations[id].first;
            self.layout.set(&mut state, cell, Some(i64::from(process.start.0)));
        }
        state
    }

    fn is_in_slots(&self, owner: Owner) -> bool {
        match owner {
            Owner::Program => false,
            Owner::Process(process) => self.program.processes[process].has_slots(),
        }
    }
}
