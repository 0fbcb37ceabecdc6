//! Actions: the steps of a program.
//!
//! An action is a guarded atomic step. Most actions belong to a process and take it from one location to another.
//! Murphi's rules and a net's transitions belong to no process. An action may *communicate*. On a buffered channel, a
//! send or a receive is a step of its own. On a rendezvous channel, a send and a receive of two different processes
//! form one joint step, in this order:
//!
//! 1. Both guards hold, and both movers are at their locations, in the state before the step.
//! 2. The sent values are computed in the state before the step. The receiver stores them. The indices of its targets
//!    are computed in the state as stored so far.
//! 3. The receiver moves and its body is executed. Then the sender moves and its body is executed.
//!
//! This is the order of DiVinE's compiler, whose counts are the reference if two bodies access one variable.

use super::{
    ChannelRef, Expr, FunctionId, LocalId, LocationId, Place, ProcessId, PropertyId,
    ReceivePattern, TypeId,
};
use crate::CallArgument;
use spillway_base::source::Span;
use spillway_model::FaultKind;
use spillway_model::OverflowRule;

/// A guarded, atomic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The user's name, or a substitute (`NCS -> wait`).
    pub name: String,
    /// The process that moves, or `None` if the action belongs to the whole program.
    pub edge: Option<ProcessEdge>,
    /// The parameters. The action exists once for each combination of their values.
    pub parameters: Vec<Parameter>,
    /// The condition under which the action is enabled; `None` means true.
    pub guard: Option<Expr>,
    /// A message that is sent or received as part of the step.
    pub communication: Option<Communication>,
    /// The statements of the step, in order. Each sees the effects of those before it.
    pub body: Vec<Stmt>,
    /// The priority. An enabled action of a higher priority prevents this one.
    pub priority: i32,
    /// The relation to the process's other actions and to the next action.
    pub control: ActionControl,
    /// The position in the source.
    pub span: Span,
}

impl Action {
    /// Returns its position with those of its statements, as far as they follow it in its file.
    pub fn extent(&self) -> Span {
        self.body.iter().fold(self.span, extended)
    }
}

/// Returns a span up to the end of a statement, if the statement follows it in its file.
fn extended(span: Span, stmt: &Stmt) -> Span {
    let follows = stmt.span.file == span.file && stmt.span.start >= span.start;
    let span = if follows { span.to(stmt.span) } else { span };
    stmt.kind.bodies().flatten().fold(span, extended)
}

/// A move of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEdge {
    /// The process.
    pub process: ProcessId,
    /// The location before the step.
    pub from: LocationId,
    /// The location after the step.
    pub to: LocationId,
}

/// The relation of an action of a process with slots to the process's other actions from its location, and to the
/// next action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionControl {
    /// Whether the mover's next action belongs to the same step.
    pub turn: TurnRule,
    /// The tier. Once an action of a tier other than 0 is possible, actions of later tiers are not (Promela
    /// `unless`).
    pub tier: u32,
    /// Whether the action is possible only if no action before it is (Promela `else`). A send by rendezvous is
    /// possible if there is a receiver. A receive by rendezvous is never possible by itself.
    pub otherwise: bool,
}

/// The continuation after an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnRule {
    /// The step ends, and the state is visible.
    #[default]
    Open,
    /// The mover continues alone, in every possible way. The step ends only if it cannot continue (Promela `atomic`).
    Atomic,
    /// The mover continues alone with the first possible action. It is an error if there is none (Promela `d_step`).
    First,
}

/// A name for each value of a scalar type in turn, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name in the action's expressions.
    pub local: LocalId,
    /// The user's name.
    pub name: String,
    /// The type of its values.
    pub over: TypeId,
}

/// One side of a message exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Communication {
    /// Waits for room or for a partner, and sends.
    Send {
        /// The channel.
        channel: ChannelRef,
        /// One value for each field of the channel; see [`Communication::fit`] for more or fewer.
        values: Vec<Expr>,
        /// Inserts in order instead of at the end (Promela `!!`).
        sorted: bool,
        /// The position in the source.
        span: Span,
    },
    /// Waits for a message or for a partner, and receives.
    Receive {
        /// The channel.
        channel: ChannelRef,
        /// The pattern for each field of the message.
        patterns: Vec<ReceivePattern>,
        /// Takes the first message that matches instead of the first (Promela `??`).
        anywhere: bool,
        /// Leaves the message in the channel (Promela `?<...>`).
        peek: bool,
        /// The position in the source.
        span: Span,
    },
}

impl Communication {
    /// Returns the channel.
    pub fn channel(&self) -> &ChannelRef {
        match self {
            Communication::Send { channel, .. } | Communication::Receive { channel, .. } => channel,
        }
    }

    /// Returns the position in the source.
    pub fn span(&self) -> Span {
        match self {
            Communication::Send { span, .. } | Communication::Receive { span, .. } => *span,
        }
    }
}

/// A statement and its position in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// The kind of the statement.
    pub kind: StmtKind,
    /// The position in the source.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// Stores a value. `overflow` is the rule for a value outside the domain.
    Assign {
        /// The target.
        target: Place,
        /// The new value.
        value: Expr,
        /// The language's rule for values outside the target's domain.
        overflow: OverflowRule,
    },
    /// Copies an aggregate of the same shape.
    Copy {
        /// The target.
        target: Place,
        /// The source.
        source: Place,
    },
    /// Executes the first branch whose condition holds, or the last if it has none.
    If(Vec<(Option<Expr>, Vec<Stmt>)>),
    /// Executes the branch that lists the subject's value, or the last if it lists none.
    Switch(Expr, Vec<(Vec<Expr>, Vec<Stmt>)>),
    /// Executes `body` for each value from `first` to `last` in steps of `step`. Ends if the next value would exceed
    /// 64 bits.
    For {
        /// The loop's name for the value.
        local: LocalId,
        /// The first value.
        first: Expr,
        /// The last value.
        last: Expr,
        /// The step, not 0.
        step: Expr,
        /// The repeated statements.
        body: Vec<Stmt>,
    },
    /// Executes `body` for each value of a scalar type.
    ForEach {
        /// The loop's name for the value.
        local: LocalId,
        /// The type of the values, in ascending order.
        over: TypeId,
        /// The repeated statements.
        body: Vec<Stmt>,
    },
    /// Executes `body` with a local variable (Murphi `var` in rules and functions). At first each of its scalars is
    /// undefined, or has its least value if it cannot be undefined.
    Declare {
        /// The name in the places of the body.
        local: LocalId,
        /// The user's name.
        name: String,
        /// The type.
        ty: TypeId,
        /// The scope of the variable.
        body: Vec<Stmt>,
    },
    /// Executes `body` while `condition` holds. More than `limit` rounds are an error.
    While {
        /// The condition.
        condition: Expr,
        /// The repeated statements.
        body: Vec<Stmt>,
        /// The maximal number of rounds.
        limit: u64,
    },
    /// Executes `body` with a name for a place, which is resolved once before (Murphi `alias`).
    Alias {
        /// The name in the places of the body.
        local: LocalId,
        /// The user's name.
        name: String,
        /// The place.
        place: Place,
        /// The scope of the name.
        body: Vec<Stmt>,
    },
    /// Calls a procedure, or a function, which may then change the state.
    Call {
        /// The function.
        function: FunctionId,
        /// The arguments.
        arguments: Vec<CallArgument>,
        /// The target of a function's result, which is resolved after the call.
        into: Option<Place>,
    },
    /// Leaves the function, with its result if it has one. Outside functions, ends the body.
    Return(Option<Expr>),
    /// Makes every scalar in a place undefined and every multiset empty (Murphi `undefine`).
    Undefine(Place),
    /// Sets every scalar in a place to its least value and makes every multiset empty (Murphi `clear`).
    Clear(Place),
    /// Continues only if the condition is true. Otherwise the step does not exist (Murphi `assume`).
    Assume(Expr),
    /// Fails the step if the condition is false.
    Assert {
        /// The condition.
        condition: Expr,
        /// The message to the user.
        message: String,
        /// The kind of the assertion.
        asserted: AssertionKind,
    },
    /// Records that a property is reached if the condition is true (Murphi `cover`).
    Cover {
        /// The property, a [`PropertyKind::Reached`](crate::PropertyKind::Reached).
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
        /// The process.
        process: ProcessId,
        /// The values of its parameters.
        arguments: Vec<Expr>,
        /// The target for the number of the new instance.
        into: Option<Place>,
    },
    /// Ends the moving process and frees its slot.
    Exit,
    /// Adds an element to a multiset at the first free position. It is an error if the multiset is full.
    MultisetAdd {
        /// The multiset.
        multiset: Place,
        /// The new element: a value or a copy.
        element: CallArgument,
    },
    /// Removes the element at a position of a multiset. It is an error if there is none.
    MultisetRemove {
        /// The multiset.
        multiset: Place,
        /// The position.
        position: Expr,
    },
    /// Prints in simulations and traces. Does not affect the state.
    Print {
        /// The text, with `{}` for each value.
        format: String,
        /// The values.
        values: Vec<Expr>,
    },
}

/// The kind of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionKind {
    /// A condition that the user wrote.
    Condition,
    /// A message is sent or received only where that is permitted (Promela `trace`).
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

impl StmtKind {
    /// Returns the nested bodies, branch by branch.
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
