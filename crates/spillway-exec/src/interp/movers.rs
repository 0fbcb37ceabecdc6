//! The processes that take part in a step, and those that are able to take part in one.

use super::scheduling::MoverMode;
use super::step_sink::{StepAction, StepTarget};
use super::{Interp, MoverContext};
use spillway_analysis::instances::ActionInstance;
use spillway_ir::{ProcessInstance, Schedule};
use spillway_model::{FaultKind, SuccessorSink};

/// Gets a step: its processes, and the successor, or the kind of error and the action that meets it.
pub(crate) type MoverVisitor<'a> =
    dyn FnMut(&mut SuccessorSink, &[ProcessInstance], Result<&[u8], (FaultKind, u32)>) + 'a;

impl Interp {
    /// Returns the processes of these actions, each once.
    pub(super) fn movers_of(&self, taken: &[StepAction]) -> Vec<ProcessInstance> {
        let mover = |it: &StepAction| {
            let process = self.program().actions[it.action].edge?.process;
            Some(ProcessInstance { process, slot: it.slot })
        };
        let mut movers: Vec<ProcessInstance> = taken.iter().filter_map(mover).collect();
        movers.sort();
        movers.dedup();
        movers
    }

    /// Calls `visit` with each action instance that can begin in `state`, some perhaps more than once. Processes that
    /// committed locations of others block are included.
    pub(crate) fn visit_enabled(&self, state: &[u8], visit: &mut dyn FnMut(ActionInstance)) {
        match self.has_committed_process(state) && self.program().schedule == Schedule::Interleaved
        {
            true => {
                let ask = &mut |look: &MoverContext| self.visit_offers(look, visit);
                self.each_mover_in(state, MoverMode::All, ask);
            }
            false => self.each_enabled(state, visit),
        }
    }

    /// Calls `visit`, which adds to an expansion, with every step of `state` that leads to a state or fails.
    pub(crate) fn visit_moves(
        &self,
        state: &[u8],
        out: &mut SuccessorSink,
        visit: &mut MoverVisitor,
    ) {
        self.each_step(state, &mut |taken, result| match result {
            Ok(StepTarget::To(successor)) => visit(out, &self.movers_of(taken), Ok(successor)),
            Ok(StepTarget::LeftOut) => {}
            Ok(StepTarget::Intermediate) => out.count_actions(taken.iter().map(|it| it.action)),
            Err(fault) => {
                visit(out, &[], Err((fault.kind, self.representative_action(taken, true).0)))
            }
        });
    }
}
