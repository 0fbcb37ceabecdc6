//! What steps consist of, and where those of a mover go.

use super::EvalFailure;
use super::frames::LocalEnv;
use crate::analysis::instances::InstanceSide;
use crate::ir::{Action, ActionId, ProcessInstance, TurnRule};

/// An action that is part of a step, the slot of its mover, and which combination of its
/// parameters' values, counted as [`InstanceSide`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) struct StepAction {
    pub action: ActionId,
    pub slot: u32,
    pub combination: u32,
}

impl StepAction {
    /// An action whose mover and parameters are these.
    pub(super) fn new(action: ActionId, locals: &LocalEnv) -> StepAction {
        StepAction { action, slot: locals.slot(), combination: locals.combination.get() }
    }

    /// It as one side of what a step begins with.
    pub fn side(self) -> InstanceSide {
        let StepAction { action, slot, combination } = self;
        InstanceSide { action, slot, combination }
    }
}

/// Told of every step: its actions, and where they lead or the fault.
pub(in crate::exec) type StepTargetVisitor<'a> =
    dyn FnMut(&[StepAction], Result<StepTarget<'_>, EvalFailure>) + 'a;

/// Where the actions of a step lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum StepTarget<'s> {
    /// To its successor.
    To(&'s [u8]),
    /// To a state that is left out: an assumption about all states does not hold there.
    LeftOut,
    /// These actions are taken, and are to be counted: each action of a step is told of so once, before whatever
    /// follows it.
    Intermediate,
}

impl<'s> StepTarget<'s> {
    /// The successor, where it is one.
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
    /// It as part of a step.
    pub fn taken(&self) -> StepAction {
        StepAction::new(self.id, self.locals)
    }
}

/// A state inside a step.
pub(super) struct OpenStep {
    pub state: Vec<u8>,
    /// How many actions of the step come before those in `taken`.
    pub depth: usize,
    /// The action that led here, or both sides of a rendezvous.
    pub taken: Vec<StepAction>,
    pub mover: Option<ProcessInstance>,
    pub turn: TurnRule,
}

/// Where the steps of a mover go.
pub(super) struct StepSink<'v, 'w> {
    /// Room for a state that is being made.
    pub work: Vec<u8>,
    /// The steps that have been begun and are to be completed.
    pub open: Vec<OpenStep>,
    /// Told of complete steps and of faults.
    pub visit: &'v mut StepTargetVisitor<'w>,
}

impl<'v, 'w> StepSink<'v, 'w> {
    pub fn new(visit: &'v mut StepTargetVisitor<'w>) -> Self {
        StepSink { work: Vec::new(), open: Vec::new(), visit }
    }
}

/// What came of looking at an action.
pub(super) enum OfferOutcome {
    /// It is not possible.
    Nothing,
    /// It is a send by rendezvous that nobody takes.
    NoReceiver,
    /// It is possible.
    Taken,
}

/// The actions of a step before some, and these.
pub(super) fn with(before: &[StepAction], more: &[StepAction]) -> Vec<StepAction> {
    [before, more].concat()
}
