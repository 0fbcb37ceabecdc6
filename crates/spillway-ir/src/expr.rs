//! Expressions: the code of guards, indices and assigned values.
//!
//! All values are integers. 0 is false, and all other integers are true. An expression is evaluated in one state and
//! never changes it. Evaluation can fail: an index is out of range, a divisor is 0, or an undefined value is read.
//! The error has the span of the innermost expression that failed.

use super::{
    ChannelId, ExprId, FunctionId, LocalId, LocationId, ProcessId, Program, TypeId, VarId,
};
use spillway_base::source::Span;

/// An expression and its position in the source.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of the expression.
    pub kind: ExprKind,
    /// The position in the source.
    pub span: Span,
    /// The number in the program ([`Program::number_exprs`]). Equality ignores it.
    pub id: ExprId,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind && self.span == other.span
    }
}

impl Eq for Expr {}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A constant.
    Constant(i64),
    /// The undefined value (Murphi). It can be stored and passed where undefined values are permitted, like an
    /// undefined value that is read. A computation with an undefined value is an error.
    Undefined,
    /// The value of a place.
    Read(Place),
    /// A parameter of the action, a parameter of a function by value, or a name that a quantifier or a loop binds.
    Local(LocalId),
    /// `operator operand`.
    Unary(UnaryOp, Box<Expr>),
    /// `left operator right`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`; only the selected branch is evaluated.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Whether a process is at a location.
    At {
        /// The process.
        process: ProcessId,
        /// The slot, for a process with several.
        slot: Option<Box<Expr>>,
        /// The location.
        location: LocationId,
    },
    /// The number of messages in a buffered channel.
    Length(ChannelRef),
    /// Whether a buffered channel has no message.
    IsEmpty(ChannelRef),
    /// Whether a buffered channel has no room.
    IsFull(ChannelRef),
    /// Whether a receive with these patterns is possible now (Promela `c?[...]`). If the flag is set, any message may
    /// match instead of the first (`c??[...]`).
    CanReceive(ChannelRef, Vec<ReceivePattern>, bool),
    /// The number of a channel: 1 for the first channel, and so on; 0 is no channel.
    ChannelNumber(ChannelRef),
    /// Whether the scalar at a place is undefined (Murphi `isundefined`).
    IsUndefined(Place),
    /// Whether every value, or some value, of a scalar type makes `body` true.
    Quantified {
        /// `forall` or `exists`.
        quantifier: Quantifier,
        /// The bound name.
        local: LocalId,
        /// The type of its values, in ascending order.
        over: TypeId,
        /// The condition.
        body: Box<Expr>,
    },
    /// The number of elements of a multiset for which `body` holds (Murphi `MultiSetCount`).
    Count {
        /// The multiset.
        multiset: Place,
        /// The name that is bound to the position of each element in turn.
        local: LocalId,
        /// The condition.
        body: Box<Expr>,
    },
    /// Whether both operands have the same value, or both are undefined. This is CMurphi's comparison of scalarsets
    /// and unions.
    Same(Box<Expr>, Box<Expr>),
    /// Whether a multiset has an element at a position.
    Contains(Box<MultisetContains>),
    /// The same value in another numbering, as between a union and its members.
    Convert(Box<NumberConversion>),
    /// The result of a function that changes nothing.
    Call(FunctionId, Vec<CallArgument>),
    /// The pid of the process that moves (Promela `_pid`), or its slot if its kind has no pids.
    Self_,
    /// The slot of the process of this kind with a pid; the number of slots if there is none.
    SlotOf(ProcessId, Box<Expr>),
    /// Whether the process with this pid could move by itself in this state (Promela `enabled`).
    Enabled(Box<Expr>),
    /// The priority of the process with this pid; 0 if there is none.
    PriorityOf(Box<Expr>),
    /// The number of existing processes (Promela `_nr_pr`).
    Processes,
    /// Whether nothing else in the program can move (Promela `timeout`).
    Timeout,
}

/// Whether a multiset has an element at a position (Murphi `choose`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultisetContains {
    /// The multiset.
    pub multiset: Place,
    /// The position. There is no element at a position outside the multiset.
    pub position: Expr,
}

/// A conversion to another numbering, piece by piece. A value outside all pieces is an error. An undefined value
/// stays undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberConversion {
    /// The value.
    pub operand: Expr,
    /// The intervals of values, each with its offset.
    pub pieces: Vec<ConversionPiece>,
}

/// An interval of values with a common offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversionPiece {
    /// The least value.
    pub low: i64,
    /// The greatest value.
    pub high: i64,
    /// The offset.
    pub by: i64,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Negate,
    /// 1 for 0, else 0.
    Not,
    /// Bitwise complement.
    Complement,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, rounded towards zero; a zero divisor is an error.
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
    /// All operators.
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

/// A quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Universal.
    All,
    /// Existential.
    Some,
}

/// A part of a state that can be read and written: a variable, or an element or field of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The root of the place.
    pub root: PlaceRoot,
    /// The slot of the owner, for a local of a process with several slots; the mover's own if absent.
    pub slot: Option<Box<Expr>>,
    /// The selectors from the root to the part.
    pub path: Vec<PlaceSelector>,
    /// The position in the source.
    pub span: Span,
}

/// The root of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceRoot {
    /// A variable of the state.
    Variable(VarId),
    /// A local. A parameter by reference or an alias refers to another place. A parameter by value or a local
    /// variable exists only during the call or the statement that declares it.
    Local(LocalId),
}

/// A selector of a part of an aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceSelector {
    /// An element of an array, or of a multiset by position. It is an error if there is none.
    Index(Expr),
    /// A field of a record, by number.
    Field(u32),
}

/// A reference to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelRef {
    /// This channel; for a process with slots, the mover's own.
    Named(ChannelId),
    /// One of several consecutive channels. An index out of range is an error.
    Element {
        /// The channel with index 0.
        first: ChannelId,
        /// The number of channels.
        count: u32,
        /// The index.
        index: Box<Expr>,
    },
    /// The channel with a number (Promela).
    Computed(Box<Expr>),
}

/// The use of one field of a message by a receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceivePattern {
    /// Stores the field.
    Into(Place),
    /// Receives the message only if the field equals this value (Promela constants and `eval`).
    Match(Expr),
    /// Ignores the field (Promela `_`).
    Any,
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallArgument {
    /// A value of a scalar.
    Value(Expr),
    /// A copy of a place, whose value may be undefined.
    Copy(Place),
    /// A place that the function may write (Murphi `var` parameters).
    Reference(Place),
}

impl Expr {
    /// Creates an expression without a number.
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Self { kind, span, id: ExprId::UNNUMBERED }
    }

    /// Creates a constant.
    pub fn constant(value: i64, span: Span) -> Self {
        Self::new(ExprKind::Constant(value), span)
    }

    /// Returns the value of a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self.kind {
            ExprKind::Constant(value) => Some(value),
            _ => None,
        }
    }
}

impl ChannelRef {
    /// Returns the channels that the reference may denote.
    pub fn possible_channels(&self, program: &Program) -> impl Iterator<Item = ChannelId> + use<> {
        let (first, end) = match self {
            ChannelRef::Named(id) => (id.0, id.0 + 1),
            ChannelRef::Element { first, count, .. } => (first.0, first.0 + count),
            ChannelRef::Computed(_) => (0, program.channels.len() as u32),
        };
        (first..end).map(ChannelId)
    }

    /// Returns whether the reference may denote a rendezvous channel.
    pub fn may_be_rendezvous(&self, program: &Program) -> bool {
        self.possible_channels(program).any(|it| program.channels[it].capacity == 0)
    }
}

impl Place {
    /// Creates a place of a whole variable of the program or of the mover.
    pub fn variable(variable: VarId, span: Span) -> Self {
        Self { root: PlaceRoot::Variable(variable), slot: None, path: Vec::new(), span }
    }

    /// Creates a place of a whole local.
    pub fn local(local: LocalId, span: Span) -> Self {
        Self { root: PlaceRoot::Local(local), slot: None, path: Vec::new(), span }
    }
}
