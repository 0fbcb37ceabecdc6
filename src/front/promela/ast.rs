//! A model as a tree. Names of variables are resolved while it is read, as Promela wants them
//! declared before use; labels, processes and what belongs to other processes are names still.

use crate::source::Span;
use std::rc::Rc;

crate::ir::entity::entity! {
    /// Names a what a name means (`symbols.rs`).
    SymbolId,
}

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct PromelaName {
    /// The name.
    pub text: Rc<str>,
    /// Where it stands.
    pub span: Span,
}

/// A process type, `init` or a claim.
#[derive(Clone, Debug)]
pub struct PromelaProcess {
    /// Its name; `:init:` for `init`.
    pub name: PromelaName,
    /// What it is.
    pub role: ProcessRole,
    /// How many run at the start.
    pub active: u32,
    /// Its parameters, in order.
    pub parameters: Vec<SymbolId>,
    /// The priority of active instances.
    pub priority: Option<i64>,
    /// It moves only where this holds.
    pub provided: Option<PromelaExpr>,
    /// What it does.
    pub body: Vec<PromelaStmt>,
    /// The end of its body.
    pub end: Span,
}

/// What a body is for.
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
    /// What it does.
    pub kind: PromelaStmtKind,
    /// Where it stands.
    pub span: Span,
    /// How it reads, where that is not what stands there, as an `inline` or a macro made some of it.
    pub expanded_text: Option<Rc<str>>,
}

impl PromelaStmt {
    /// One that reads as what stands there.
    pub fn new(kind: PromelaStmtKind, span: Span) -> PromelaStmt {
        PromelaStmt { kind, span, expanded_text: None }
    }
}

/// What a statement does.
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
        /// Where to.
        channel: PromelaReference,
        /// What.
        values: Vec<PromelaExpr>,
        /// `!!`: in order.
        sorted: bool,
    },
    /// `c?...`, `c??...`, `c?<...>` and `c??<...>`.
    Receive {
        /// Where from.
        channel: PromelaReference,
        /// What to do with each field.
        fields: Vec<ReceiveField>,
        /// `??`: the first message that matches.
        anywhere: bool,
        /// `?<...>`: it stays.
        peek: bool,
    },
    /// Fails unless the expression holds.
    Assert(PromelaExpr),
    /// Says something.
    Print(String, Vec<PromelaExpr>),
    /// Taken if nothing else can be.
    Else,
    /// Goes on at a label.
    Goto(PromelaLabel),
    /// Leaves the innermost loop.
    Break,
    /// One of the sequences.
    If(Vec<Vec<PromelaStmt>>),
    /// One of the sequences, again and again.
    Do(Vec<Vec<PromelaStmt>>),
    /// Without others coming between, while it can go on.
    Atomic(Vec<PromelaStmt>),
    /// As one step.
    DStep(Vec<PromelaStmt>),
    /// A block.
    Block(Vec<PromelaStmt>),
    /// The first, until the second can begin.
    Unless(Box<PromelaStmt>, Box<PromelaStmt>),
    /// A label before a statement.
    Labelled(PromelaLabel, Box<PromelaStmt>),
    /// `set_priority(pid, priority)`.
    SetPriority(PromelaExpr, PromelaExpr),
}

/// A label; the same name may stand in several expansions of an `inline`.
#[derive(Clone, Debug)]
pub struct PromelaLabel {
    /// The name.
    pub name: PromelaName,
    /// In which expansion, 0 if in none.
    pub expansion: u32,
}

/// What a receive does with a field.
#[derive(Clone, Debug)]
pub enum ReceiveField {
    /// Stores it; `_` forgets it.
    Into(PromelaReference),
    /// Takes the message only if it equals this.
    Match(PromelaExpr),
    /// Forgets it.
    Any(Span),
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub struct PromelaReference {
    /// The variable.
    pub symbol: SymbolId,
    /// The index, if one is given.
    pub index: Option<Box<PromelaExpr>>,
    /// Fields of fields, with the index of each that has one.
    pub fields: Vec<(PromelaName, Option<PromelaExpr>)>,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct PromelaExpr {
    /// What it computes.
    pub kind: PromelaExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What a name of an `mtype` stands for.
#[derive(Clone, Copy, Debug)]
pub struct MtypeValue {
    /// The number of its set.
    pub set: usize,
    /// Its value in there.
    pub value: i64,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum PromelaExprKind {
    /// A number.
    Number(i64),
    /// A name of an `mtype`.
    Symbol(MtypeValue),
    /// A variable.
    Variable(PromelaReference),
    /// An operator of one operand.
    Unary(crate::ir::UnaryOp, Box<PromelaExpr>),
    /// An operator of two operands.
    Binary(crate::ir::BinaryOp, Box<PromelaExpr>, Box<PromelaExpr>),
    /// `(condition -> then : otherwise)`.
    Conditional(Box<PromelaExpr>, Box<PromelaExpr>, Box<PromelaExpr>),
    /// Starts a process.
    Run {
        /// Of which type.
        process: PromelaName,
        /// The values of its parameters.
        arguments: Vec<PromelaExpr>,
        /// Its priority, if one is given.
        priority: Option<i64>,
    },
    /// `len(c)`.
    Length(PromelaReference),
    /// `empty(c)` and the others.
    Probe(ChannelProbe, PromelaReference),
    /// `c?[...]` and `c??[...]`.
    Poll {
        /// The channel.
        channel: PromelaReference,
        /// What each field must be.
        fields: Vec<ReceiveField>,
        /// `??`: of any message.
        anywhere: bool,
    },
    /// Nothing else can happen.
    Timeout,
    /// `np_`.
    NonProgress,
    /// Whether a process can move.
    Enabled(Box<PromelaExpr>),
    /// Where a process is, as a number.
    PcValue(Box<PromelaExpr>),
    /// The priority of a process.
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
        /// Its pid; needless if there is only one.
        pid: Option<Box<PromelaExpr>>,
        /// The label.
        label: PromelaName,
    },
    /// `P[pid]:variable`.
    Remote {
        /// The type of the process.
        process: PromelaName,
        /// Its pid; needless if there is only one.
        pid: Option<Box<PromelaExpr>>,
        /// The variable and the way into it.
        path: Vec<(PromelaName, Option<PromelaExpr>)>,
    },
}

/// What can be asked about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelProbe {
    /// No message waits.
    Empty,
    /// A message waits.
    NotEmpty,
    /// There is no room.
    Full,
    /// There is room.
    NotFull,
}

impl PromelaExpr {
    /// The number it is, if it is known to be one.
    pub fn constant(&self) -> Option<i64> {
        use super::ARITHMETIC;
        use crate::ir::BinaryOp;
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
