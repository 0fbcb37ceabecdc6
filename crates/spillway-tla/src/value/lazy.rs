//! Sets that are not enumerated, and functions that are evaluated where they are applied.
//!
//! TLC tests membership in such sets without enumerating them, and so does the evaluator. A finite one is enumerated
//! when a state or another value stores it.

use super::Value;

/// A set without elements at hand, or a function without a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LazyValue {
    /// A set that cannot be enumerated.
    Infinite(InfiniteSet),
    /// `Seq(S)`.
    Sequences(Value),
    /// `SUBSET S`.
    Subsets(Value),
    /// `[S -> T]`.
    Functions(Value, Value),
    /// `[a: S, b: T]`: the names in order, and their sets.
    Records(Vec<(super::Symbol, Value)>),
    /// `S \X T`.
    Product(Vec<Value>),
    /// `S \cup T` where one is lazy.
    Cup(Value, Value),
    /// `S \cap T` where both are lazy.
    Cap(Value, Value),
    /// `S \ T` where the first is lazy.
    Difference(Value, Value),
    /// `UNION S` where an element is lazy.
    Union(Value),
    /// `{x \in S : P(x)}` where `S` is lazy.
    Filter(Value, CapturedExpression),
    /// `[x \in S |-> e]` where `S` is infinite or the function is recursive.
    Function(Value, CapturedExpression),
}

/// The sets that cannot be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InfiniteSet {
    /// `Nat`.
    Nat,
    /// `Int`.
    Int,
    /// `STRING`.
    String,
    /// `Any` of the module `TLC`: contains every value.
    Any,
}

/// An expression with the values of the names that occur in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CapturedExpression {
    /// The number of the expression that makes the set or function.
    pub expression: u32,
    /// Whether unprimed variables have the values of the successor.
    pub is_primed: bool,
    /// The names in scope that the expression uses.
    pub slots: Vec<CapturedSlot>,
}

/// A name in scope that a captured expression uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CapturedSlot {
    /// The slot.
    pub slot: u32,
    /// The meaning of the name.
    pub content: CapturedContent,
}

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CapturedContent {
    /// A value.
    Value(Value),
    /// An operator.
    Operator(CapturedOperator),
    /// Nothing: its evaluation failed.
    Failed,
}

/// An operator with the arguments of its leading parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CapturedOperator {
    /// The number of the operator in the compiled specification.
    pub operator: u32,
    /// The arguments of the leading parameters.
    pub arguments: Vec<CapturedContent>,
}
