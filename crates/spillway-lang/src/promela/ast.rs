//! The syntax tree of a model.
//!
//! The parser resolves names of variables, because Promela declares them before use. Labels, processes and variables of
//! other processes remain names.

use spillway_base::source::Span;
use std::rc::Rc;

spillway_ir::entity::entity! {
    /// Identifies the meaning of a name (`symbols.rs`).
    SymbolId,
}

/// A name and its span.
#[derive(Clone, Debug)]
pub struct PromelaName {
    /// The name.
    pub text: Rc<str>,
    /// The span in the source.
    pub span: Span,
}

/// A process type, `init` or a claim.
#[derive(Clone, Debug)]
pub struct PromelaProcess {
    /// Its name; `:init:` for `init`.
    pub name: PromelaName,
    /// The role.
    pub role: ProcessRole,
    /// The number of instances at the start.
    pub active: u32,
    /// Its parameters, in order.
    pub parameters: Vec<SymbolId>,
    /// The priority of active instances.
    pub priority: Option<i64>,
    /// The `provided` clause: the process moves only if this holds.
    pub provided: Option<PromelaExpr>,
    /// The body.
    pub body: Vec<PromelaStmt>,
    /// The span of the end of the body.
    pub end: Span,
}

/// The role of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessRole {
    /// A process.
    Process,
    /// A `never` claim.
    Never,
    /// A `trace` assertion.
    Trace,
    /// A `notrace` assertion.
    NoTrace,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct PromelaStmt {
    /// The kind of statement.
    pub kind: PromelaStmtKind,
    /// The span in the source.
    pub span: Span,
    /// The text after expansion, if an `inline` or a macro produced part of it.
    pub expanded_text: Option<Rc<str>>,
}

impl PromelaStmt {
    /// Creates a statement that no `inline` or macro produced.
    pub fn new(kind: PromelaStmtKind, span: Span) -> PromelaStmt {
        PromelaStmt { kind, span, expanded_text: None }
    }
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum PromelaStmtKind {
    /// Waits until an expression is not 0.
    Condition(PromelaExpr),
    /// Stores a value.
    Assign(PromelaReference, PromelaExpr),
    /// Stores the elements of an array, one after another (`int a[2] = {1, 2}` in a body).
    Fill(PromelaReference, Vec<PromelaExpr>),
    /// `c!...` and `c!!...`.
    Send {
        /// The channel.
        channel: PromelaReference,
        /// The values.
        values: Vec<PromelaExpr>,
        /// `!!`: insertion in order.
        sorted: bool,
    },
    /// `c?...`, `c??...`, `c?<...>` and `c??<...>`.
    Receive {
        /// The channel.
        channel: PromelaReference,
        /// The treatment of each field.
        fields: Vec<ReceiveField>,
        /// `??`: receives the first message that matches.
        anywhere: bool,
        /// `?<...>`: leaves the message in the channel.
        peek: bool,
    },
    /// Fails unless the expression holds.
    Assert(PromelaExpr),
    /// Prints a text with values.
    Print(String, Vec<PromelaExpr>),
    /// `else`: enabled if no other option is.
    Else,
    /// Jumps to a label.
    Goto(PromelaLabel),
    /// Leaves the innermost loop.
    Break,
    /// Executes one of the sequences.
    If(Vec<Vec<PromelaStmt>>),
    /// Executes one of the sequences, repeatedly.
    Do(Vec<Vec<PromelaStmt>>),
    /// `atomic`: executes without interleaving as long as it is not blocked.
    Atomic(Vec<PromelaStmt>),
    /// `d_step`: executes as one step.
    DStep(Vec<PromelaStmt>),
    /// A block.
    Block(Vec<PromelaStmt>),
    /// `unless`: executes the first statement until the second can begin.
    Unless(Box<PromelaStmt>, Box<PromelaStmt>),
    /// A label before a statement.
    Labelled(PromelaLabel, Box<PromelaStmt>),
    /// `set_priority(pid, priority)`.
    SetPriority(PromelaExpr, PromelaExpr),
}

/// A label. Several expansions of an `inline` may have labels of one name.
#[derive(Clone, Debug)]
pub struct PromelaLabel {
    /// The name.
    pub name: PromelaName,
    /// The number of the expansion, or 0 outside of expansions.
    pub expansion: u32,
}

/// The treatment of a field in a receive.
#[derive(Clone, Debug)]
pub enum ReceiveField {
    /// Stores the field; `_` discards it.
    Into(PromelaReference),
    /// Requires the field to have this value.
    Match(PromelaExpr),
    /// Discards the field.
    Any(Span),
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub struct PromelaReference {
    /// The variable.
    pub symbol: SymbolId,
    /// The index, if one is given.
    pub index: Option<Box<PromelaExpr>>,
    /// The selected fields, from the outermost on, each with its index if it has one.
    pub fields: Vec<(PromelaName, Option<PromelaExpr>)>,
    /// The span in the source.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct PromelaExpr {
    /// The kind of expression.
    pub kind: PromelaExprKind,
    /// The span in the source.
    pub span: Span,
}

/// The value of a name of an `mtype`.
#[derive(Clone, Copy, Debug)]
pub struct MtypeValue {
    /// The number of the set.
    pub set: usize,
    /// The value in the set.
    pub value: i64,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum PromelaExprKind {
    /// A number.
    Number(i64),
    /// A constant of an `mtype`.
    Symbol(MtypeValue),
    /// A variable.
    Variable(PromelaReference),
    /// A unary operator.
    Unary(spillway_ir::UnaryOp, Box<PromelaExpr>),
    /// A binary operator.
    Binary(spillway_ir::BinaryOp, Box<PromelaExpr>, Box<PromelaExpr>),
    /// `(condition -> then : otherwise)`.
    Conditional(Box<PromelaExpr>, Box<PromelaExpr>, Box<PromelaExpr>),
    /// Starts a process.
    Run {
        /// The process type.
        process: PromelaName,
        /// The arguments.
        arguments: Vec<PromelaExpr>,
        /// Its priority, if one is given.
        priority: Option<i64>,
    },
    /// `len(c)`.
    Length(PromelaReference),
    /// `empty(c)` and similar predicates.
    Probe(ChannelProbe, PromelaReference),
    /// `c?[...]` and `c??[...]`.
    Poll {
        /// The channel.
        channel: PromelaReference,
        /// The required value of each field.
        fields: Vec<ReceiveField>,
        /// `??`: matches any message of the channel.
        anywhere: bool,
    },
    /// `timeout`: nothing else is enabled.
    Timeout,
    /// `np_`.
    NonProgress,
    /// `enabled(pid)`: whether a process can move.
    Enabled(Box<PromelaExpr>),
    /// `pc_value(pid)`: the number of a process's location.
    PcValue(Box<PromelaExpr>),
    /// `get_priority(pid)`: the priority of a process.
    Priority(Box<PromelaExpr>),
    /// `_pid`.
    Pid,
    /// `_nr_pr`.
    Processes,
    /// `_last`.
    Last,
    /// `_`.
    Scratch,
    /// `P[pid]@label`.
    At {
        /// The type of the process.
        process: PromelaName,
        /// The pid; unnecessary if there is only one instance.
        pid: Option<Box<PromelaExpr>>,
        /// The label.
        label: PromelaName,
    },
    /// `P[pid]:variable`.
    Remote {
        /// The type of the process.
        process: PromelaName,
        /// The pid; unnecessary if there is only one instance.
        pid: Option<Box<PromelaExpr>>,
        /// The variable and the selected fields, each with its index if it has one.
        path: Vec<(PromelaName, Option<PromelaExpr>)>,
    },
}

/// A predicate on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelProbe {
    /// The channel is empty.
    Empty,
    /// The channel has a message.
    NotEmpty,
    /// The channel is full.
    Full,
    /// The channel has room.
    NotFull,
}

impl PromelaExpr {
    /// Returns the number, if it is a constant.
    pub fn constant(&self) -> Option<i64> {
        use super::ARITHMETIC;
        use spillway_ir::BinaryOp;
        match &self.kind {
            PromelaExprKind::Number(value) | PromelaExprKind::Symbol(MtypeValue { value, .. }) => {
                Some(*value)
            }
            PromelaExprKind::Unary(operator, operand) => {
                ARITHMETIC.unary(*operator, operand.constant()?).ok()
            }
            PromelaExprKind::Binary(
                operator @ (BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
                | BinaryOp::ShiftLeft),
                left,
                right,
            ) => {
                let (left, right) = (left.constant()?, right.constant()?);
                ARITHMETIC.binary(*operator, left, right).ok()
            }
            _ => None,
        }
    }
}
