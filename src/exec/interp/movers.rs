//! Which processes take part in a step, and which are able to take part in one.

use super::Interp;
use super::steps::{StepAction, begun};
use crate::analysis::instances::ActionInstance;
use crate::ir::{ProcessInstance, Schedule};
use crate::model::{FaultKind, SuccessorSink};

/// Told of a step: who takes part, and the successor, or the kind of error and the action that meets it.
pub(in crate::exec) type MoverVisitor<'a> =
    dyn FnMut(&mut SuccessorSink, &[ProcessInstance], Result<&[u8], (FaultKind, u32)>) + 'a;

impl Interp {
    /// Those who take these actions, each once.
    pub(super) fn movers(&self, taken: &[StepAction]) -> Vec<ProcessInstance> {
        let mover = |it: &StepAction| {
            let process = self.program().actions[it.action].edge?.process;
            Some(ProcessInstance { process, slot: it.slot })
        };
        let mut movers: Vec<ProcessInstance> = taken.iter().filter_map(mover).collect();
        movers.sort();
        movers.dedup();
        movers
    }

    /// Tells `visit` what can be begun in `state`, some of it perhaps more than once: also by those whom others at
    /// committed locations hold back.
    pub(in crate::exec) fn visit_enabled(
        &self,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut dyn FnMut(ActionInstance),
    ) {
        match self.has_committed_process(state) && self.program().schedule == Schedule::Interleaved
        {
            true => self.process_steps(false, state, work, &mut |taken, _| {
                begun(taken).into_iter().for_each(&mut *visit);
            }),
            false => self.each_enabled(state, work, visit),
        }
    }

    /// Tells `visit`, which adds it to an expansion, every step out of `state` that leads to a state or fails.
    pub(in crate::exec) fn visit_moves(
        &self,
        state: &[u8],
        out: &mut SuccessorSink,
        visit: &mut MoverVisitor,
    ) {
        self.each_step(state, &mut Vec::new(), &mut |taken, result| match result {
            Ok(led) => {
                self.count_taken(taken, led, out);
                led.successor().into_iter().for_each(|it| visit(out, &self.movers(taken), Ok(it)));
            }
            Err(fault) => {
                visit(out, &[], Err((fault.kind, self.representative_action(taken, true).0)))
            }
        });
    }
}
