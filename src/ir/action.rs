//! Actions: how a program moves from one state to the next.
//!
//! An action is a guarded atomic step. Most belong to a process and take it from one location to
//! another; Murphi's rules and a net's transitions belong to none. An action may *communicate*: on
//! a buffered channel it then stands alone, on a rendezvous channel a send and a receive of two
//! different processes make one joint step, in this order:
//!
//! 1. both guards hold, and both movers are at their locations, in the state before the step;
//! 2. the values sent, computed in the state before the step, are stored by the receiver, whose
//!    targets' indices are computed in the state as stored so far;
//! 3. the receiver moves and its body runs, then the sender moves and its body runs.
//!
//! So does DiVinE's compiler, whose counts are the reference where two bodies touch one variable.

use super::{
    ChannelRef, Expr, FunctionId, LocalId, LocationId, Place, ProcessId, PropertyId,
    ReceivePattern, TypeId,
};
use crate::ir::CallArgument;
use crate::model::FaultKind;
use crate::source::Span;
use serde::{Deserialize, Serialize};

/// A guarded, atomic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The user's name for it, or what stands for one (`NCS -> wait`).
    pub name: String,
    /// The process that moves, unless the action belongs to the whole program.
    pub edge: Option<ProcessEdge>,
    /// Parameters: the action exists once for each combination of their values.
    pub parameters: Vec<Parameter>,
    /// Must be true for the action to be taken; absent means true.
    pub guard: Option<Expr>,
    /// A message sent or received as part of the step.
    pub communication: Option<Communication>,
    /// What the step does, in order, each statement seeing the effects of those before it.
    pub body: Vec<Stmt>,
    /// Actions of a higher priority, if enabled, keep this one from being taken.
    pub priority: i32,
    /// How it stands to the process's other actions and to what comes next.
    pub control: ActionControl,
    /// Where it stands in the source.
    pub span: Span,
}

/// A move of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEdge {
    /// The process.
    pub process: ProcessId,
    /// Where it must be.
    pub from: LocationId,
    /// Where it goes.
    pub to: LocationId,
}

/// How an action of a process with slots stands to the process's other actions from its location,
/// and what comes after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionControl {
    /// Whether the mover's next action belongs to the same step.
    pub turn: TurnRule,
    /// Actions come in tiers, one after the other: once an action of a tier other than 0 is
    /// possible, those of the tiers after it are not (Promela `unless`).
    pub tier: u32,
    /// Possible only if none of the actions before it is (Promela `else`). A send by rendezvous is
    /// possible if somebody receives, a receive by rendezvous never is by itself.
    pub otherwise: bool,
}

/// What comes after an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnRule {
    /// A state that everybody sees.
    #[default]
    Open,
    /// The mover goes on alone, in every way it can; only where it cannot is there a state
    /// (Promela `atomic`).
    Atomic,
    /// The mover goes on alone with the first action that is possible; it is an error if none is
    /// (Promela `d_step`).
    First,
}

/// A name that stands for each value of a scalar type in turn, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// How the action's expressions call it.
    pub local: LocalId,
    /// The user's name for it.
    pub name: String,
    /// The type it ranges over.
    pub over: TypeId,
}

/// One side of an exchange of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Communication {
    /// Waits for room (or for a partner) and sends.
    Send {
        /// Where to.
        channel: ChannelRef,
        /// One value for each field of the channel; see [`Communication::fit`] for more or fewer.
        values: Vec<Expr>,
        /// Inserts in order instead of at the end (Promela `!!`).
        sorted: bool,
        /// Where it stands in the source.
        span: Span,
    },
    /// Waits for a message (or for a partner) and takes it.
    Receive {
        /// Where from.
        channel: ChannelRef,
        /// What to do with each field of the message.
        patterns: Vec<ReceivePattern>,
        /// Takes the first message that matches instead of the first (Promela `??`).
        anywhere: bool,
        /// Leaves the message in the channel (Promela `?<...>`).
        peek: bool,
        /// Where it stands in the source.
        span: Span,
    },
}

impl Communication {
    /// The channel it is on.
    pub fn channel(&self) -> &ChannelRef {
        match self {
            Communication::Send { channel, .. } | Communication::Receive { channel, .. } => channel,
        }
    }

    /// Where it stands in the source.
    pub fn span(&self) -> Span {
        match self {
            Communication::Send { span, .. } | Communication::Receive { span, .. } => *span,
        }
    }
}

/// A statement and where the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// Stores a value; `overflow` says what becomes of one outside the domain.
    Assign {
        /// What is written.
        target: Place,
        /// The new value.
        value: Expr,
        /// The language's rule for values outside the target's domain.
        overflow: OverflowRule,
    },
    /// Copies an aggregate of the same shape.
    Copy {
        /// What is written.
        target: Place,
        /// What is read.
        source: Place,
    },
    /// Runs the first branch whose condition holds, or the last if it has none.
    If(Vec<(Option<Expr>, Vec<Stmt>)>),
    /// Runs the branch whose values hold the subject's, or the last if it lists none.
    Switch(Expr, Vec<(Vec<Expr>, Vec<Stmt>)>),
    /// Runs `body` for each value from `first` to `last` in steps of `step`; it ends where the next
    /// value would leave 64 bits.
    For {
        /// The loop's name for the value.
        local: LocalId,
        /// The first value.
        first: Expr,
        /// The last value.
        last: Expr,
        /// The step, not 0.
        step: Expr,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// Runs `body` for each value of a scalar type.
    ForEach {
        /// The loop's name for the value.
        local: LocalId,
        /// The type it ranges over, in ascending order.
        over: TypeId,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// Runs `body` with a local variable, which begins undefined or, where it cannot be, with the
    /// least value of each scalar in it (Murphi `var` in rules and functions).
    Declare {
        /// What places in the body call it.
        local: LocalId,
        /// The user's name for it.
        name: String,
        /// Its type.
        ty: TypeId,
        /// Where it can be used.
        body: Vec<Stmt>,
    },
    /// Runs `body` while `condition` holds; more than `limit` rounds are an error.
    While {
        /// The condition.
        condition: Expr,
        /// What is repeated.
        body: Vec<Stmt>,
        /// The most rounds.
        limit: u64,
    },
    /// Runs `body` with a name for a place, which is found once, before (Murphi `alias`).
    Alias {
        /// What places in the body call it.
        local: LocalId,
        /// The user's name for it.
        name: String,
        /// What it stands for.
        place: Place,
        /// Where it can be used.
        body: Vec<Stmt>,
    },
    /// Calls a procedure, or a function, which may then change the state.
    Call {
        /// Which.
        function: FunctionId,
        /// What it is given.
        arguments: Vec<CallArgument>,
        /// Where the result of a function goes, found when it is there.
        into: Option<Place>,
    },
    /// Leaves the function, with its result if it has one; outside functions, ends the body.
    Return(Option<Expr>),
    /// Makes every scalar in a place undefined and every multiset empty (Murphi `undefine`).
    Undefine(Place),
    /// Sets every scalar in a place to its least value and makes every multiset empty (Murphi
    /// `clear`).
    Clear(Place),
    /// Goes on only if the condition is true; else there is no such step (Murphi `assume`).
    Assume(Expr),
    /// Fails the step if the condition is false.
    Assert {
        /// The condition.
        condition: Expr,
        /// What to tell the user.
        message: String,
        /// What it is that fails.
        asserted: AssertionKind,
    },
    /// Notes that a property is met if the condition is true (Murphi `cover`).
    Cover {
        /// The property, a [`PropertyKind::Reached`](crate::ir::PropertyKind::Reached).
        property: PropertyId,
        /// The condition.
        condition: Expr,
    },
    /// Fails the step.
    Error(String),
    /// Sends or receives on a buffered channel inside a body (Promela `d_step`).
    Communicate(Communication),
    /// Starts a process in the first free slot (Promela `run`).
    Run {
        /// The template.
        process: ProcessId,
        /// The values of its parameters.
        arguments: Vec<Expr>,
        /// Where to store the new slot's number.
        into: Option<Place>,
    },
    /// Ends the moving process and frees its slot.
    Exit,
    /// Adds an element to a multiset, at the first free position; a full one is an error.
    MultisetAdd {
        /// The multiset.
        multiset: Place,
        /// The new element: a value or a copy.
        element: CallArgument,
    },
    /// Removes the element at a position of a multiset; where none is, that is an error.
    MultisetRemove {
        /// The multiset.
        multiset: Place,
        /// The position.
        position: Expr,
    },
    /// Prints in simulations and traces; has no effect on the state.
    Print {
        /// The text, with `{}` for each value.
        format: String,
        /// The values.
        values: Vec<Expr>,
    },
}

/// What an assertion says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionKind {
    /// A condition that the user wrote.
    Condition,
    /// That a message is sent or received where it may be (Promela `trace`).
    Event,
}

impl From<AssertionKind> for FaultKind {
    fn from(asserted: AssertionKind) -> FaultKind {
        match asserted {
            AssertionKind::Condition => FaultKind::Assertion,
            AssertionKind::Event => FaultKind::Event,
        }
    }
}

/// What becomes of a value outside the domain it is stored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverflowRule {
    /// The step fails (DiVinE, Murphi).
    #[serde(rename = "error")]
    Fails,
    /// The value is reduced modulo the size of the domain (C, and so LTSmin's DVE and SPIN).
    #[serde(rename = "wrap")]
    Wraps,
}

impl StmtKind {
    /// The statements inside, branch by branch.
    pub fn bodies(&self) -> Box<dyn Iterator<Item = &[Stmt]> + '_> {
        match self {
            StmtKind::If(branches) => Box::new(branches.iter().map(|(_, body)| body.as_slice())),
            StmtKind::Switch(_, branches) => {
                Box::new(branches.iter().map(|(_, body)| body.as_slice()))
            }
            StmtKind::For { body, .. }
            | StmtKind::ForEach { body, .. }
            | StmtKind::Declare { body, .. }
            | StmtKind::Alias { body, .. }
            | StmtKind::While { body, .. } => Box::new(std::iter::once(body.as_slice())),
            _ => Box::new(std::iter::empty()),
        }
    }
}
