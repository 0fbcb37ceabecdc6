//! The parts of steps, and the consumer of a mover's steps.

use super::EvalFailure;
use super::frames::LocalEnv;
use spillway_analysis::instances::InstanceSide;
use spillway_ir::{Action, ActionId, ProcessInstance, TurnRule};

/// An action that is part of a step, the slot of its mover, and the combination of its parameter values, numbered as
/// in [`InstanceSide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepAction {
    pub action: ActionId,
    pub slot: u32,
    pub combination: u32,
}

impl StepAction {
    /// Creates the action with this mover and these parameters.
    pub(super) fn new(action: ActionId, locals: &LocalEnv) -> StepAction {
        StepAction { action, slot: locals.slot(), combination: locals.combination.get() }
    }

    /// Returns the action as one side of an action instance.
    pub fn side(self) -> InstanceSide {
        let StepAction { action, slot, combination } = self;
        InstanceSide { action, slot, combination }
    }
}

/// Gets every step: its actions, and its target or the fault.
pub(crate) type StepTargetVisitor<'a> =
    dyn FnMut(&[StepAction], Result<StepTarget<'_>, EvalFailure>) + 'a;

/// The target of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepTarget<'s> {
    /// The successor.
    To(&'s [u8]),
    /// An excluded state: an assumption about all states fails there.
    LeftOut,
    /// No target yet: the actions are taken and must be counted. Each action of a step is reported so once, before the
    /// later parts of the step.
    Intermediate,
}

impl<'s> StepTarget<'s> {
    /// Returns the successor, if the target is one.
    pub fn successor(self) -> Option<&'s [u8]> {
        match self {
            StepTarget::To(successor) => Some(successor),
            StepTarget::LeftOut | StepTarget::Intermediate => None,
        }
    }
}

/// An action whose mover is at its location and whose parameters are bound.
#[derive(Clone, Copy)]
pub(super) struct BoundAction<'a, 'f> {
    pub id: ActionId,
    pub action: &'a Action,
    pub locals: &'a LocalEnv<'f>,
}

impl BoundAction<'_, '_> {
    /// Returns the action as part of a step.
    pub fn taken(&self) -> StepAction {
        StepAction::new(self.id, self.locals)
    }
}

/// A state inside a step.
pub(super) struct OpenStep {
    pub state: Vec<u8>,
    /// The number of actions of the step before those in `taken`.
    pub depth: usize,
    /// The action that led here, or both sides of a rendezvous.
    pub taken: Vec<StepAction>,
    pub mover: Option<ProcessInstance>,
    pub turn: TurnRule,
}

/// The consumer of a mover's steps.
pub(super) struct StepSink<'v, 'w> {
    /// Space for a state under construction.
    pub work: Vec<u8>,
    /// The steps that have begun and are to be completed.
    pub open: Vec<OpenStep>,
    /// Gets complete steps and faults.
    pub visit: &'v mut StepTargetVisitor<'w>,
}

impl<'v, 'w> StepSink<'v, 'w> {
    pub fn new(visit: &'v mut StepTargetVisitor<'w>) -> Self {
        StepSink { work: Vec::new(), open: Vec::new(), visit }
    }
}

/// The result of trying an action.
pub(super) enum OfferOutcome {
    /// It is not possible.
    Nothing,
    /// It is a send by rendezvous without a receiver.
    NoReceiver,
    /// It is possible.
    Taken,
}

/// Returns the actions of a step before these, followed by these.
pub(super) fn with(before: &[StepAction], more: &[StepAction]) -> Vec<StepAction> {
    [before, more].concat()
}
