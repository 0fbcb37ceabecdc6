//! Programs: the meaning of models, in one form for all languages.
//!
//! A front end builds a [`Program`]. Analyses and reductions rewrite it, and an executor executes it. A program knows
//! its source text only by the [`Span`]s for messages, and it does not know how it will be searched. [`validate`]
//! lists the rules of valid programs and checks them after each pass. [`text`] prints programs. [`layout`] maps
//! variables to the bits of a state.

pub mod action;
mod actions_by_location;
pub mod arithmetic;
pub mod claim;
mod constraint;
pub mod entity;
pub mod expr;
mod expr_ids;
mod expr_search;
pub mod interval;
pub mod layout;
mod location_marks;
pub mod message_arity;
pub mod renumber;
pub mod text;
pub mod types;
pub mod validate;
pub mod walk;
pub mod walk_mut;

pub use action::{
    Action, ActionControl, AssertionKind, Communication, Parameter, ProcessEdge, Stmt, StmtKind,
    TurnRule,
};
pub use actions_by_location::ActionsByLocation;
pub use arithmetic::{Arithmetic, ArithmeticError};
pub use claim::{Claim, ClaimMove};
pub use entity::{Arena, Entity};
pub use expr::{
    BinaryOp, CallArgument, ChannelRef, ConversionPiece, Expr, ExprKind, MultisetContains,
    NumberConversion, Place, PlaceRoot, PlaceSelector, Quantifier, ReceivePattern, UnaryOp,
};
pub use expr_ids::ExprMap;
pub use layout::Layout;
pub use message_arity::{ArityMismatch, CommunicationFit};
pub use types::{Domain, EnumType, ScalarType, Scalarset, Type};

pub use spillway_model::{
    ACCEPTANCE, ActionId, ConditionModality, EndRule, NON_PROGRESS, OverflowRule, StateCondition,
    UncheckedKind, UncheckedRequirement,
};

use spillway_base::source::Span;
use spillway_model::MovingProcess;

entity::entity! {
    /// The number of a [`Type`].
    TypeId,
    /// The number of an [`EnumType`].
    EnumId,
    /// The number of a [`Scalarset`].
    ScalarsetId,
    /// The number of a [`Variable`].
    VarId,
    /// The number of a [`Channel`].
    ChannelId,
    /// The number of a [`Process`].
    ProcessId,
    /// The number of a [`Location`] of one process.
    LocationId,
    /// The number of a [`Function`].
    FunctionId,
    /// The number of a [`ProgramProperty`].
    PropertyId,
    /// The number of an [`Expr`] of a program.
    ExprId,
    /// The number of a parameter, a local variable, or a name that a loop, a quantifier or an alias binds. It is
    /// unique within an action, a function, a start or a property.
    LocalId,
}

impl ExprId {
    /// The number of expressions that belong to no finished program.
    pub const UNNUMBERED: ExprId = ExprId(u32::MAX);
}

/// A whole model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The user's name, usually that of the file.
    pub name: String,
    /// The schedule of processes.
    pub schedule: Schedule,
    /// The arithmetic of expressions.
    pub arithmetic: Arithmetic,
    /// The rule for states without successors.
    pub end: EndRule,
    /// The effect of a failed assertion on its step.
    pub assertions: AssertionRule,
    /// Types of variables, parameters and message fields.
    pub types: Arena<TypeId, Type>,
    /// Enumerations.
    pub enums: Arena<EnumId, EnumType>,
    /// Scalarsets.
    pub scalarsets: Arena<ScalarsetId, Scalarset>,
    /// The variables of the state, except locations and messages.
    pub variables: Arena<VarId, Variable>,
    /// Channels.
    pub channels: Arena<ChannelId, Channel>,
    /// Processes.
    pub processes: Arena<ProcessId, Process>,
    /// Functions and procedures.
    pub functions: Arena<FunctionId, Function>,
    /// Actions. Successors are generated in this order.
    pub actions: Arena<ActionId, Action>,
    /// The starts. Each start has an initial state for each combination of its parameters' values. The variables have
    /// their `initial` values before it.
    pub starts: Vec<StartRule>,
    /// The properties.
    pub properties: Arena<PropertyId, ProgramProperty>,
    /// Requirements that are not checked. They do not affect the program.
    pub unchecked: Vec<UncheckedRequirement>,
    /// The variable of the program that holds the pid of the last mover, if the model reads it (Promela `_last`).
    pub last: Option<VarId>,
    /// Whether the program can be built again with more slots. If so, a missing slot is no error of the model.
    pub slots_can_grow: bool,
}

/// The effect of a failed assertion on its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssertionRule {
    /// The step has no successor (Murphi).
    #[default]
    Stop,
    /// The assertion is violated, and the step continues (Promela).
    Continue,
}

/// The schedule of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// One action (or one rendezvous) at a time.
    #[default]
    Interleaved,
    /// Every process takes exactly one action in each step (DVE `system sync`). All guards hold in the state before
    /// the step, and bodies are executed in the order of the processes. A state in which some process has no enabled
    /// action has no successor.
    Lockstep,
}

/// A variable of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The user's name, without the owner's.
    pub name: String,
    /// The type.
    pub ty: TypeId,
    /// The owner.
    pub owner: Owner,
    /// The initial value of each scalar, in order; `None` is undefined.
    pub initial: Vec<Option<i64>>,
    /// The position of the declaration.
    pub span: Span,
}

/// The owner of a variable or channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The program.
    Program,
    /// The process; the object exists once for each slot.
    Process(ProcessId),
}

impl Program {
    /// Returns a name for messages, with its process if it belongs to one.
    pub fn owned_name(&self, owner: Owner, name: &str) -> String {
        match owner {
            Owner::Program => name.to_string(),
            Owner::Process(process) => format!("{}.{name}", self.processes[process].name),
        }
    }
}

/// A channel: a first-in first-out buffer, or a rendezvous if its capacity is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The user's name.
    pub name: String,
    /// The owner.
    pub owner: Owner,
    /// The maximal number of messages; 0 for a rendezvous.
    pub capacity: u32,
    /// The scalar types of a message's fields. Unused places of the buffer hold each field's least value, so that
    /// equal contents are equal bytes.
    pub fields: Vec<TypeId>,
    /// The rule for a sent value outside its field's domain.
    pub overflow: OverflowRule,
    /// The position of the declaration.
    pub span: Span,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The user's name.
    pub name: String,
    /// The locations.
    pub locations: Arena<LocationId, Location>,
    /// The initial location of an instance.
    pub start: LocationId,
    /// The number of instances.
    pub instances: InstanceCount,
    /// The locals that are set when an instance starts.
    pub parameters: Vec<VarId>,
    /// The start of instances, and the conditions on their moves.
    pub life: ProcessLifecycle,
    /// The position of the declaration.
    pub span: Span,
}

/// An instance of a process, identified by its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessInstance {
    /// The process.
    pub process: ProcessId,
    /// The slot.
    pub slot: u32,
}

impl From<ProcessInstance> for MovingProcess {
    fn from(at: ProcessInstance) -> MovingProcess {
        MovingProcess { process: at.process.0, slot: at.slot }
    }
}

impl From<MovingProcess> for ProcessInstance {
    fn from(at: MovingProcess) -> ProcessInstance {
        ProcessInstance { process: ProcessId(at.process), slot: at.slot }
    }
}

/// The number of instances of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceCount {
    /// Exactly one, at all times.
    One,
    /// Slots that instances take and free during execution.
    Slots {
        /// The maximal number at one time.
        capacity: u32,
        /// The number at the start.
        active: u32,
    },
}

impl Process {
    /// Returns whether its instances start and end.
    pub fn has_slots(&self) -> bool {
        self.instances != InstanceCount::One
    }

    /// Returns the code of location 0 in a location cell. A smaller code means that the slot is free.
    pub fn first_location(&self) -> u32 {
        self.has_slots().into()
    }
}

/// The start of instances of a process with slots, and the conditions on their moves.
///
/// The instances of all processes with slots form a stack. The *pid* of an instance is the number of instances that
/// existed when it started. Only the youngest instance can end. So the instances of one process fill its slots from
/// 0, in the order of their pids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessLifecycle {
    /// The source of pids.
    pub pid: PidRule,
    /// The statements of a new instance. They are executed after its parameters are set and its other locals have
    /// their initial values.
    pub prologue: Vec<Stmt>,
    /// The condition under which an instance may move.
    pub provided: Option<Expr>,
    /// The local that holds the priority, from 1 on. An instance moves only if no process of a higher priority can.
    pub priority: Option<VarId>,
}

/// The source of the pids of a process with slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PidRule {
    /// There are no pids: the slot identifies the instance.
    #[default]
    None,
    /// The instance in slot 0 always has this pid, the one in slot 1 the next pid, and so on.
    From(u32),
    /// This local holds the pid.
    In(VarId),
}

/// A location of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The user's name.
    pub name: String,
    /// The effect on the moves of other processes.
    pub urgency: Urgency,
    /// Whether a process may remain here at the end without a deadlock (Promela `end` labels).
    pub valid_end: bool,
    /// Whether it counts as progress (Promela `progress` labels).
    pub progress: bool,
    /// Whether it is accepting, for a property automaton or liveness.
    pub accepting: bool,
    /// The position of the declaration.
    pub span: Span,
}

/// The effect of a process at a location on the moves of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// None.
    #[default]
    Free,
    /// While any process is at a committed location, only processes at committed locations move. A rendezvous then
    /// needs two of them (DVE `commit`).
    Committed,
    /// The process is inside an atomic sequence and continues alone as long as it can (Promela `atomic`).
    Atomic,
}

/// A function or procedure, which actions call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The user's name.
    pub name: String,
    /// The parameters.
    pub parameters: Vec<FunctionParameter>,
    /// The type of the result, if there is one.
    pub result: Option<TypeId>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Whether analyses treat a call as a unit, because an analysis of all callees takes too long. Such a call may
    /// fail, return any result, and read and write everything that the function names.
    pub whole: bool,
    /// The position of the declaration.
    pub span: Span,
}

impl Function {
    /// Returns whether the model declares the function. The names of functions that front ends create contain blanks.
    pub fn is_declared(&self) -> bool {
        !self.name.contains(' ')
    }
}

/// A parameter of a function: a place of its own, or one of the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionParameter {
    /// The name in the body.
    pub local: LocalId,
    /// The user's name.
    pub name: String,
    /// The type.
    pub ty: TypeId,
    /// Whether the caller passes a place that may be written.
    pub by_reference: bool,
}

/// A start of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartRule {
    /// The user's name.
    pub name: String,
    /// The parameters. The start exists once for each combination of their values.
    pub parameters: Vec<Parameter>,
    /// The statements, which are executed on the initial values.
    pub body: Vec<Stmt>,
    /// The position in the source.
    pub span: Span,
}

/// A property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramProperty {
    /// The name in reports.
    pub name: String,
    /// The kind of the property.
    pub kind: PropertyKind,
    /// The position in the source.
    pub span: Span,
}

/// The kind of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Some step executes a [`StmtKind::Cover`] of the property whose condition holds (Murphi `cover` in a body).
    Reached,
    /// The condition holds in every reachable state (Murphi `invariant`).
    Invariant(Expr),
    /// The condition does not hold in some reachable state (Murphi `cover`, of the negation).
    Cover(Expr),
    /// The condition holds whenever the process is at the location (DVE `assert`).
    AssertionAt {
        /// The process.
        process: ProcessId,
        /// The location.
        location: LocationId,
        /// The condition.
        condition: Expr,
    },
    /// States in which the condition does not hold are removed, with all steps to them (Murphi `assume`).
    Assumption(Expr),
    /// States in which the condition does not hold have no successors, and are no deadlocks (`--constraint`). The guard of
    /// each action contains it ([`Program::add_property`]).
    Constraint(Expr),
    /// The condition holds in every state without successors in which processes remain, all of them at an end
    /// location (Promela `trace`). Such a state is checked like a deadlock.
    AtEnd(Expr),
    /// The process observes the others (DVE `property`). It is parsed and printed, but does not move in a search for
    /// safety.
    Automaton(ProcessId),
    /// No run reaches the end of the claim (Promela `never`).
    Claim(Box<Claim>),
}

impl PropertyKind {
    /// Returns the property that requires a condition on states.
    pub fn of_condition(holds: ConditionModality, condition: Expr) -> PropertyKind {
        match holds {
            ConditionModality::Always => PropertyKind::Invariant(condition),
            ConditionModality::Sometimes => {
                let span = condition.span;
                let kind = ExprKind::Unary(UnaryOp::Not, Box::new(condition));
                PropertyKind::Cover(Expr::new(kind, span))
            }
            ConditionModality::Within => PropertyKind::Constraint(condition),
        }
    }
}
