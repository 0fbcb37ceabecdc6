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
pub struct Name {
    /// The name.
    pub text: Rc<str>,
    /// Where it stands.
    pub span: Span,
}

/// A process type, `init` or a claim.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name; `:init:` for `init`.
    pub name: Name,
    /// What it is.
    pub role: Role,
    /// How many run at the start.
    pub active: u32,
    /// Its parameters, in order.
    pub parameters: Vec<SymbolId>,
    /// The priority of active instances.
    pub priority: Option<i64>,
    /// It moves only where this holds.
    pub provided: Option<Expr>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// The end of its body.
    pub end: Span,
}

/// What a body is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
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
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
    /// How it reads, where that is not what stands there, as an `inline` or a macro made some of it.
    pub made: Option<Rc<str>>,
}

impl Stmt {
    /// One that reads as what stands there.
    pub fn new(kind: StmtKind, span: Span) -> Stmt {
        Stmt { kind, span, made: None }
    }
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Waits until an expression is not 0.
    Condition(Expr),
    /// Stores a value.
    Assign(Reference, Expr),
    /// Stores the elements of an array, one after another (`int a[2] = {1, 2}` in a body).
    Fill(Reference, Vec<Expr>),
    /// `c!...` and `c!!...`.
    Send {
        /// Where to.
        channel: Reference,
        /// What.
        values: Vec<Expr>,
        /// `!!`: in order.
        sorted: bool,
    },
    /// `c?...`, `c??...`, `c?<...>` and `c??<...>`.
    Receive {
        /// Where from.
        channel: Reference,
        /// What to do with each field.
        fields: Vec<Field>,
        /// `??`: the first message that matches.
        anywhere: bool,
        /// `?<...>`: it stays.
        peek: bool,
    },
    /// Fails unless the expression holds.
    Assert(Expr),
    /// Says something.
    Print(String, Vec<Expr>),
    /// Taken if nothing else can be.
    Else,
    /// Goes on at a label.
    Goto(Label),
    /// Leaves the innermost loop.
    Break,
    /// One of the sequences.
    If(Vec<Vec<Stmt>>),
    /// One of the sequences, again and again.
    Do(Vec<Vec<Stmt>>),
    /// Without others coming between, while it can go on.
    Atomic(Vec<Stmt>),
    /// As one step.
    DStep(Vec<Stmt>),
    /// A block.
    Block(Vec<Stmt>),
    /// The first, until the second can begin.
    Unless(Box<Stmt>, Box<Stmt>),
    /// A label before a statement.
    Labelled(Label, Box<Stmt>),
    /// `set_priority(pid, priority)`.
    SetPriority(Expr, Expr),
}

/// A label; the same name may stand in several expansions of an `inline`.
#[derive(Clone, Debug)]
pub struct Label {
    /// The name.
    pub name: Name,
    /// In which expansion, 0 if in none.
    pub expansion: u32,
}

/// What a receive does with a field.
#[derive(Clone, Debug)]
pub enum Field {
    /// Stores it; `_` forgets it.
    Into(Reference),
    /// Takes the message only if it equals this.
    Match(Expr),
    /// Forgets it.
    Any(Span),
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The variable.
    pub symbol: SymbolId,
    /// The index, if one is given.
    pub index: Option<Box<Expr>>,
    /// Fields of fields, with the index of each that has one.
    pub fields: Vec<(Name, Option<Expr>)>,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
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
pub enum ExprKind {
    /// A number.
    Number(i64),
    /// A name of an `mtype`.
    Symbol(MtypeValue),
    /// A variable.
    Variable(Reference),
    /// An operator of one operand.
    Unary(crate::ir::Unary, Box<Expr>),
    /// An operator of two operands.
    Binary(crate::ir::Binary, Box<Expr>, Box<Expr>),
    /// `(condition -> then : otherwise)`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Starts a process.
    Run {
        /// Of which type.
        process: Name,
        /// The values of its parameters.
        arguments: Vec<Expr>,
        /// Its priority, if one is given.
        priority: Option<i64>,
    },
    /// `len(c)`.
    Length(Reference),
    /// `empty(c)` and the others.
    Probe(Probe, Reference),
    /// `c?[...]` and `c??[...]`.
    Poll {
        /// The channel.
        channel: Reference,
        /// What each field must be.
        fields: Vec<Field>,
        /// `??`: of any message.
        anywhere: bool,
    },
    /// Nothing else can happen.
    Timeout,
    /// `np_`.
    NonProgress,
    /// Whether a process can move.
    Enabled(Box<Expr>),
    /// Where a process is, as a number.
    PcValue(Box<Expr>),
    /// The priority of a process.
    Priority(Box<Expr>),
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
        process: Name,
        /// Its pid; needless if there is only one.
        pid: Option<Box<Expr>>,
        /// The label.
        label: Name,
    },
    /// `P[pid]:variable`.
    Remote {
        /// The type of the process.
        process: Name,
        /// Its pid; needless if there is only one.
        pid: Option<Box<Expr>>,
        /// The variable and the way into it.
        path: Vec<(Name, Option<Expr>)>,
    },
}

/// What can be asked about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// No message waits.
    Empty,
    /// A message waits.
    NotEmpty,
    /// There is no room.
    Full,
    /// There is room.
    NotFull,
}

impl Expr {
    /// The number it is, if it is known to be one.
    pub fn constant(&self) -> Option<i64> {
        use super::ARITHMETIC;
        use crate::ir::Binary;
        match &self.kind {
            ExprKind::Number(value) | ExprKind::Symbol(MtypeValue { value, .. }) => Some(*value),
            ExprKind::Unary(operator, operand) => {
                ARITHMETIC.unary(*operator, operand.constant()?).ok()
            }
            ExprKind::Binary(
                operator @ (Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::Remainder
                | Binary::ShiftLeft),
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
