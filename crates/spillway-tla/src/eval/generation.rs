//! The state of a generation of states, and what still has to hold.

use super::node::{NodeId, SlotId};
use crate::value::Value;
use std::ops::ControlFlow;

/// The kind of states that are generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GenerationPhase {
    /// Nothing: formulas are predicates.
    #[default]
    Evaluation,
    /// Initial states: unprimed variables are assigned.
    Initial,
    /// Successors: primed variables are assigned.
    Next,
    /// One successor, to see whether there is one.
    Enabled,
}

/// The state of a generation.
#[derive(Debug, Default)]
pub(super) struct Generation {
    pub phase: GenerationPhase,
    /// The number of variables without a value.
    pub unassigned: usize,
    /// The states, one after the other, each with a value for each variable.
    pub states: Vec<Value>,
    /// The action of each state.
    pub actions: Vec<EnteredAction>,
    /// The definition whose disjunct is read.
    pub action: u32,
    /// The slots of parameters: those of the definitions around it, then its own.
    pub parameters: Vec<ParameterSlot>,
    /// The index of the first one of its own.
    pub own_parameters: usize,
    /// Whether the values of parameters are kept.
    pub keeps_parameters: bool,
}

/// Where the value of a parameter of an action is.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParameterSlot {
    pub definition: u32,
    pub slot: SlotId,
    pub index: u32,
}

/// The action by which a state was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnteredAction {
    /// The definition: the innermost one that a disjunct of the next-state action calls.
    pub definition: u32,
    /// Its parameters and the variables that its leading quantifiers bind, if requested.
    pub parameters: Vec<ActionParameter>,
}

/// A parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionParameter {
    /// The definition that has the slot.
    pub definition: u32,
    /// The slot.
    pub slot: u32,
    /// The value.
    pub value: Value,
}

/// Whether the enumeration continues.
pub(super) type Flow = ControlFlow<()>;

/// The formulas that remain to be evaluated.
#[derive(Clone, Copy)]
pub(super) struct Continuation<'r> {
    pub kind: ContinuationKind<'r>,
    pub base: u32,
    pub next: Option<&'r Continuation<'r>>,
}

#[derive(Clone, Copy)]
pub(super) enum ContinuationKind<'r> {
    /// Formulas, at least one.
    Conjuncts(&'r [NodeId]),
    /// Expressions that do not change, at least one.
    Unchanged(&'r [NodeId]),
    /// An expression that changes.
    Changed(NodeId),
    /// Instances of the body of `\A`, at least one, the last one first: a value for each slot.
    Instances { body: NodeId, slots: &'r [SlotId], values: &'r [Value] },
    /// The end of an initial predicate: the states go there in pieces.
    Passed(InitialStateSink<'r>),
}

/// Takes some states, one after the other, each with a value for each variable. Returns whether more are wanted.
pub(super) type InitialStateSink<'r> = &'r (dyn Fn(&[Value]) -> Flow + 'r);

/// The number of initial states that are passed on at once.
pub(super) const INITIAL_PIECE: usize = 1024;
