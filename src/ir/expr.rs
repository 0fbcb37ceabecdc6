//! Expressions: what a guard, an index or an assigned value is computed from.
//!
//! All values are integers; truth is 0 or not 0. An expression is evaluated in one state and never
//! changes it. Evaluation can fail (an index out of range, a division by zero, an undefined value
//! read); the failure carries the span of the innermost expression that failed.

use super::{
    ChannelId, ExprId, FunctionId, LocalId, LocationId, ProcessId, Program, TypeId, VarId,
};
use crate::source::Span;

/// An expression and where the user wrote it.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it stands in the source.
    pub span: Span,
    /// Its number in the program ([`Program::number_exprs`]). It has no part in equality.
    pub id: ExprId,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind && self.span == other.span
    }
}

impl Eq for Expr {}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A known value.
    Constant(i64),
    /// The undefined value (Murphi). It can be stored and given where it may be, as can what is
    /// read and found undefined; computing with either is an error.
    Undefined,
    /// The value held at a place.
    Read(Place),
    /// A parameter of the action, of a function by value, or bound by a quantifier or a loop.
    Local(LocalId),
    /// `operator operand`.
    Unary(UnaryOp, Box<Expr>),
    /// `left operator right`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`; only the chosen branch is evaluated.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Whether a process is at a location.
    At {
        /// The process.
        process: ProcessId,
        /// Which of its slots, for a process with several.
        slot: Option<Box<Expr>>,
        /// The location asked about.
        location: LocationId,
    },
    /// The number of messages waiting in a buffered channel.
    Length(ChannelRef),
    /// Whether a buffered channel holds no message.
    IsEmpty(ChannelRef),
    /// Whether a buffered channel can hold no more.
    IsFull(ChannelRef),
    /// Whether a receive with these patterns could take place now (Promela `c?[...]`), of the first
    /// message that matches instead of the first if the flag says so (`c??[...]`).
    CanReceive(ChannelRef, Vec<ReceivePattern>, bool),
    /// The number of a channel: 1 for the first made, and so on; 0 is no channel.
    ChannelNumber(ChannelRef),
    /// Whether the scalar at a place is undefined (Murphi `isundefined`).
    IsUndefined(Place),
    /// Every (or some) value of a scalar type makes `body` true.
    Quantified {
        /// `forall` or `exists`.
        quantifier: Quantifier,
        /// The bound name.
        local: LocalId,
        /// The type it ranges over, in ascending order.
        over: TypeId,
        /// The condition.
        body: Box<Expr>,
    },
    /// The number of elements of a multiset for which `body` holds (Murphi `MultiSetCount`).
    Count {
        /// The multiset.
        multiset: Place,
        /// Bound to the position of each element in turn.
        local: LocalId,
        /// The condition.
        body: Box<Expr>,
    },
    /// Whether both operands have the same value, or both are read and found undefined: so CMurphi
    /// compares scalarsets and unions.
    Same(Box<Expr>, Box<Expr>),
    /// Whether a multiset has an element at a position.
    Contains(Box<MultisetContains>),
    /// The same thing by another number, as between a union and its members.
    Convert(Box<NumberConversion>),
    /// The result of a function that changes nothing.
    Call(FunctionId, Vec<CallArgument>),
    /// The pid of the process that moves (Promela `_pid`), or its slot if its kind has no pids.
    Self_,
    /// The slot of the process of this kind whose pid is given; the number of slots if none is.
    SlotOf(ProcessId, Box<Expr>),
    /// Whether the process with this pid could move, by itself, in this state (Promela `enabled`).
    Enabled(Box<Expr>),
    /// The priority of the process with this pid; 0 if there is none.
    PriorityOf(Box<Expr>),
    /// The number of live processes (Promela `_nr_pr`).
    Processes,
    /// Whether nothing else in the program can move (Promela `timeout`).
    Timeout,
}

/// Whether a multiset has an element at a position (Murphi `choose`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultisetContains {
    /// The multiset.
    pub multiset: Place,
    /// The position; one that the multiset never has is without an element.
    pub position: Expr,
}

/// A value in another numbering, piece by piece; one that is in no piece is an error. What is
/// undefined stays so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberConversion {
    /// The value.
    pub operand: Expr,
    /// Where it may be, and how far it moves from there.
    pub pieces: Vec<ConversionPiece>,
}

/// Values that move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversionPiece {
    /// The least of them.
    pub low: i64,
    /// The greatest of them.
    pub high: i64,
    /// What is added to each.
    pub by: i64,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Negate,
    /// 1 for 0, else 0.
    Not,
    /// Bitwise complement.
    Complement,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, towards zero; a zero divisor is an error.
    Divide,
    /// Remainder, with the sign of the dividend; a zero divisor is an error.
    Remainder,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
    /// Shift to the left; a count outside the word is an error.
    ShiftLeft,
    /// Arithmetic shift to the right; a count outside the word is an error.
    ShiftRight,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterEqual,
    /// Conjunction; the right side is evaluated only if the left is true.
    And,
    /// Disjunction; the right side is evaluated only if the left is false.
    Or,
    /// Implication; the right side is evaluated only if the left is true.
    Implies,
}

impl BinaryOp {
    /// All of them.
    pub const ALL: [BinaryOp; 19] = [
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::Multiply,
        BinaryOp::Divide,
        BinaryOp::Remainder,
        BinaryOp::BitAnd,
        BinaryOp::BitOr,
        BinaryOp::BitXor,
        BinaryOp::ShiftLeft,
        BinaryOp::ShiftRight,
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::Less,
        BinaryOp::LessEqual,
        BinaryOp::Greater,
        BinaryOp::GreaterEqual,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Implies,
    ];
}

/// Which quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Universal.
    All,
    /// Existential.
    Some,
}

/// Something that can be read and written: a variable, or an element or field of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where the way begins.
    pub root: PlaceRoot,
    /// Whose variable, for a local of a process with several slots; the mover's own if absent.
    pub slot: Option<Box<Expr>>,
    /// The way from the variable to the part.
    pub path: Vec<PlaceSelector>,
    /// Where it stands in the source.
    pub span: Span,
}

/// Where a place begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceRoot {
    /// A variable of the state.
    Variable(VarId),
    /// What a function's parameter by reference or an alias stands for; or a parameter by value or
    /// a local variable, which live only as long as the call or the statement that declares them.
    Local(LocalId),
}

/// One step from an aggregate to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceSelector {
    /// An array element (or a multiset's, by position); one that is not there is an error.
    Index(Expr),
    /// A record's field, by number.
    Field(u32),
}

/// A channel, named outright or held in a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelRef {
    /// This channel; of a process with slots, the mover's own.
    Named(ChannelId),
    /// One of several channels in a row; an index outside is an error.
    Element {
        /// The channel with index 0.
        first: ChannelId,
        /// How many there are.
        count: u32,
        /// Which.
        index: Box<Expr>,
    },
    /// The channel of this number (Promela).
    Computed(Box<Expr>),
}

/// What a receive does with one field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceivePattern {
    /// Stores it.
    Into(Place),
    /// Takes the message only if the field equals this (Promela constants and `eval`).
    Match(Expr),
    /// Ignores it (Promela `_`).
    Any,
}

/// What is given to a function's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallArgument {
    /// A value, for a scalar.
    Value(Expr),
    /// A copy of what a place holds, undefined or not.
    Copy(Place),
    /// A place the function may write (Murphi `var` parameters).
    Reference(Place),
}

impl Expr {
    /// An expression that has no number yet.
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Self { kind, span, id: ExprId::UNNUMBERED }
    }

    /// An expression that is known.
    pub fn constant(value: i64, span: Span) -> Self {
        Self::new(ExprKind::Constant(value), span)
    }

    /// The known value, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        match self.kind {
            ExprKind::Constant(value) => Some(value),
            _ => None,
        }
    }
}

impl ChannelRef {
    /// The channels that it may mean.
    pub fn possible_channels(&self, program: &Program) -> impl Iterator<Item = ChannelId> + use<> {
        let (first, end) = match self {
            ChannelRef::Named(id) => (id.0, id.0 + 1),
            ChannelRef::Element { first, count, .. } => (first.0, first.0 + count),
            ChannelRef::Computed(_) => (0, program.channels.len() as u32),
        };
        (first..end).map(ChannelId)
    }

    /// Whether it may mean one by which sender and receiver meet.
    pub fn may_be_rendezvous(&self, program: &Program) -> bool {
        self.possible_channels(program).any(|it| program.channels[it].capacity == 0)
    }
}

impl Place {
    /// The whole of a program variable, or of the mover's own local.
    pub fn variable(variable: VarId, span: Span) -> Self {
        Self { root: PlaceRoot::Variable(variable), slot: None, path: Vec::new(), span }
    }

    /// The whole of a local.
    pub fn local(local: LocalId, span: Span) -> Self {
        Self { root: PlaceRoot::Local(local), slot: None, path: Vec::new(), span }
    }
}
