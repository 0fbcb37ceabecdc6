//! The program: what a model means, in one form for every language.
//!
//! A front end builds a [`Program`]; analyses and reductions rewrite it; an executor runs it. It
//! knows neither the text it came from (beyond the [`Span`]s it
//! carries for messages) nor how it will be searched. [`validate`] says what every program must
//! satisfy and runs after each pass; [`text`] prints one; [`layout`] turns its variables into the
//! bits of a state.

pub mod action;
mod actions_by_location;
pub mod arithmetic;
pub mod claim;
pub mod components;
mod ctl;
pub mod entity;
pub mod expr;
mod expr_ids;
mod expr_search;
pub mod interval;
pub mod layout;
mod location_marks;
pub mod message_arity;
pub mod renumber;
mod state_condition;
pub mod text;
pub mod types;
pub mod unchecked_requirements;
pub mod validate;
pub mod walk;
pub mod walk_mut;

pub use action::{
    Action, ActionControl, AssertionKind, Communication, OverflowRule, Parameter, ProcessEdge,
    Stmt, StmtKind, TurnRule,
};
pub use actions_by_location::ActionsByLocation;
pub use arithmetic::{Arithmetic, ArithmeticError};
pub use claim::{Claim, ClaimMove};
pub use ctl::{CtlFormula, CtlNode};
pub use entity::{Arena, Entity};
pub use expr::{
    BinaryOp, CallArgument, ChannelRef, ConversionPiece, Expr, ExprKind, MultisetContains,
    NumberConversion, Place, PlaceRoot, PlaceSelector, Quantifier, ReceivePattern, UnaryOp,
};
pub use expr_ids::ExprMap;
pub use layout::Layout;
pub use message_arity::{ArityMismatch, CommunicationFit};
pub use state_condition::{ConditionModality, StateCondition};
pub use types::{Domain, EnumType, ScalarType, Scalarset, Type};
pub use unchecked_requirements::{ACCEPTANCE, NON_PROGRESS, UncheckedKind, UncheckedRequirement};

pub use crate::model::ActionId;

use crate::model::MovingProcess;
use crate::source::Span;
use serde::{Deserialize, Serialize};

entity::entity! {
    /// Names a [`Type`].
    TypeId,
    /// Names an [`EnumType`].
    EnumId,
    /// Names a [`Scalarset`].
    ScalarsetId,
    /// Names a [`Variable`].
    VarId,
    /// Names a [`Channel`].
    ChannelId,
    /// Names a [`Process`].
    ProcessId,
    /// Names a [`Location`] of one process.
    LocationId,
    /// Names a [`Function`].
    FunctionId,
    /// Names a [`ProgramProperty`].
    PropertyId,
    /// Numbers an [`Expr`] of a program.
    ExprId,
    /// Names a parameter, a local variable, or what a loop, a quantifier or an alias binds; unique
    /// within an action, a function, a start or a property.
    LocalId,
}

impl ExprId {
    /// The number of expressions that belong to no finished program.
    pub const UNNUMBERED: ExprId = ExprId(u32::MAX);
}

/// A whole model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The user's name for it, usually the file's.
    pub name: String,
    /// The rule by which processes take turns.
    pub schedule: Schedule,
    /// The integers expressions are computed in.
    pub arithmetic: Arithmetic,
    /// When a state without successors is as it should be.
    pub end: EndRule,
    /// What a failed assertion does to its step.
    pub assertions: AssertionRule,
    /// Types of variables, parameters and message fields.
    pub types: Arena<TypeId, Type>,
    /// Enumerations.
    pub enums: Arena<EnumId, EnumType>,
    /// Sets of interchangeable identities.
    pub scalarsets: Arena<ScalarsetId, Scalarset>,
    /// Everything a state holds beside locations and messages.
    pub variables: Arena<VarId, Variable>,
    /// Channels.
    pub channels: Arena<ChannelId, Channel>,
    /// Process templates.
    pub processes: Arena<ProcessId, Process>,
    /// Functions and procedures.
    pub functions: Arena<FunctionId, Function>,
    /// Steps. Successors are generated in this order.
    pub actions: Arena<ActionId, Action>,
    /// Ways to begin; each gives the initial states of its parameters' combinations. The variables
    /// first have their `initial` values.
    pub starts: Vec<StartRule>,
    /// What should hold.
    pub properties: Arena<PropertyId, ProgramProperty>,
    /// What should hold, too, but is not looked for. It has no part in what the program does.
    pub unchecked: Vec<UncheckedRequirement>,
    /// A variable of the program that holds the pid of the process that moved last, if anything
    /// asks (Promela `_last`).
    pub last: Option<VarId>,
    /// Whether the program can be made again with more slots: a process that finds none is no error of the model then.
    pub slots_can_grow: bool,
}

/// What a failed assertion does to its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssertionRule {
    /// The step has no successor (Murphi).
    #[default]
    Stop,
    /// It is a violation, and the step goes on (Promela).
    Continue,
}

/// How processes take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// One action (or one joint rendezvous) at a time.
    #[default]
    Interleaved,
    /// Every process takes exactly one action in each step: all guards hold in the state before
    /// the step, bodies run in the order of the processes (DVE `system sync`). A state in which
    /// some process has no enabled action has no successor.
    Lockstep,
}

/// When a state without successors is not a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndRule {
    /// Never (DVE, Petri nets).
    #[default]
    #[serde(rename = "stuck")]
    Never,
    /// Never, and a state from which every step leads back to itself is stuck too (Murphi).
    #[serde(rename = "stuttering")]
    NeverStuttering,
    /// When every process is gone or at a location marked `valid_end`, and no buffered channel
    /// need be empty (Promela).
    AllAtValidEnd,
}

/// Something a state remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The user's name for it, without the owner's.
    pub name: String,
    /// What it may hold.
    pub ty: TypeId,
    /// Whose it is.
    pub owner: Owner,
    /// The value of each scalar in it at the start, in order; `None` is undefined.
    pub initial: Vec<Option<i64>>,
    /// Where it is declared.
    pub span: Span,
}

/// Whose a variable or channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Everybody's.
    Program,
    /// One for each slot of the process.
    Process(ProcessId),
}

impl Program {
    /// A name as people are told it: with the process whose it is, if it is one's.
    pub fn owned_name(&self, owner: Owner, name: &str) -> String {
        match owner {
            Owner::Program => name.to_string(),
            Owner::Process(process) => format!("{}.{name}", self.processes[process].name),
        }
    }
}

/// A channel: a first-in first-out buffer, or with capacity 0 a rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The user's name for it.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// The number of messages it holds; 0 makes it a rendezvous.
    pub capacity: u32,
    /// The scalar types of a message's fields; unused slots of the buffer hold each field's least
    /// value, so that equal contents are equal bytes.
    pub fields: Vec<TypeId>,
    /// What becomes of a sent value outside its field's domain.
    pub overflow: OverflowRule,
    /// Where it is declared.
    pub span: Span,
}

/// A process template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The user's name for it.
    pub name: String,
    /// Where it can be.
    pub locations: Arena<LocationId, Location>,
    /// Where an instance starts.
    pub start: LocationId,
    /// How many there are.
    pub instances: InstanceCount,
    /// Locals set by whoever starts an instance.
    pub parameters: Vec<VarId>,
    /// How its instances come, and when they may move.
    pub life: ProcessLifecycle,
    /// Where it is declared.
    pub span: Span,
}

/// An instance of a process: one of those that there may be at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessInstance {
    /// Of which process.
    pub process: ProcessId,
    /// In which slot.
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

/// How often a process exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceCount {
    /// Exactly once, always.
    One,
    /// In slots that are taken and given back as the program runs.
    Slots {
        /// The most at one time.
        capacity: u32,
        /// How many live at the start.
        active: u32,
    },
}

impl Process {
    /// Whether instances of it come and go.
    pub fn has_slots(&self) -> bool {
        self.instances != InstanceCount::One
    }

    /// The code of location 0 in a cell that says where an instance is: a smaller one says that the slot is free.
    pub fn first_location(&self) -> u32 {
        self.has_slots().into()
    }
}

/// How instances of a process with slots come, and when they may move.
///
/// Such instances come and go like a stack: each has as its *pid* the number of instances, of all
/// processes, that there were when it came, and only the youngest of all can go. So the instances
/// of one process fill its slots from 0, in the order of their pids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessLifecycle {
    /// How the pid is known.
    pub pid: PidRule,
    /// What an instance does when it is started, after its parameters are set and its other locals
    /// have their initial values.
    pub prologue: Vec<Stmt>,
    /// It moves only where this holds.
    pub provided: Option<Expr>,
    /// A local that holds its priority, from 1: it moves only if no process of a higher priority
    /// can.
    pub priority: Option<VarId>,
}

/// How the pids of a process with slots are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PidRule {
    /// They are not: the slot stands for it.
    #[default]
    None,
    /// The instance in slot 0 always has this pid, that in slot 1 the next, and so on.
    From(u32),
    /// This local holds it.
    In(VarId),
}

/// A point of a process's control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The user's name for it.
    pub name: String,
    /// How firmly a process here holds the turn.
    pub urgency: Urgency,
    /// Resting here at the end is no deadlock (Promela `end` labels).
    pub valid_end: bool,
    /// Counts as progress (Promela `progress` labels).
    pub progress: bool,
    /// Accepting, for a property automaton or liveness.
    pub accepting: bool,
    /// Where it is declared.
    pub span: Span,
}

/// What a process at a location keeps others from doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// Nothing.
    #[default]
    Free,
    /// While any process is at a committed location, only processes at committed locations move,
    /// and a rendezvous needs both sides committed (DVE `commit`).
    Committed,
    /// The process came here inside an atomic sequence and goes on alone as long as it can
    /// (Promela `atomic`).
    Atomic,
}

/// A function or procedure, called from actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The user's name for it.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<FunctionParameter>,
    /// The type of its result, if it has one.
    pub result: Option<TypeId>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// Whether analyses take a call of it as a whole, because following it through all that it calls
    /// takes too long: it may fail, give any result, and read and write all that it names.
    pub whole: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Function {
    /// Whether the model declares it. Names that front ends make up have blanks.
    pub fn is_declared(&self) -> bool {
        !self.name.contains(' ')
    }
}

/// A parameter of a function: a place of its own, or one of the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionParameter {
    /// How the body calls it.
    pub local: LocalId,
    /// The user's name for it.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Whether the caller gives a place to be written.
    pub by_reference: bool,
}

/// A way to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartRule {
    /// The user's name for it.
    pub name: String,
    /// It begins once for each combination of their values.
    pub parameters: Vec<Parameter>,
    /// Run on the initial values.
    pub body: Vec<Stmt>,
    /// Where it stands in the source.
    pub span: Span,
}

/// Something that should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramProperty {
    /// What it is called in reports.
    pub name: String,
    /// What it says.
    pub kind: PropertyKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// What a property says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// A [`StmtKind::Cover`] of it is executed, with a condition that holds, in some step (Murphi
    /// `cover` in a body).
    Reached,
    /// Holds in every reachable state (Murphi `invariant`).
    Invariant(Expr),
    /// Does not hold in some reachable state (Murphi `cover`, of the opposite).
    Cover(Expr),
    /// Holds whenever the process is at the location (DVE `assert`).
    AssertionAt {
        /// The process.
        process: ProcessId,
        /// The location.
        location: LocationId,
        /// The condition.
        condition: Expr,
    },
    /// States in which it does not hold are left out, as if no step led there (Murphi `assume`).
    Assumption(Expr),
    /// Holds in every state without successors in which processes remain, all of them at an end location (Promela `trace`).
    /// Such a state is looked for as a deadlock is.
    AtEnd(Expr),
    /// A process that watches the others (DVE `property`). It is parsed and printed; it does not
    /// move in a search for safety.
    Automaton(ProcessId),
    /// No run brings this to its end (Promela `never`).
    Claim(Box<Claim>),
}
