//! The compiled form of expressions: what the evaluator interprets.
//!
//! A node has the index of the expression that it was compiled from, so that failures have a place. Literals are
//! values. A constant expression has an entry in a table of memoised values. A state expression has an entry in a table
//! of values that are kept while the variables are the same. An argument has the list of the slots that it uses.

use crate::level::Level;
use crate::library::StandardOperator;
use crate::resolve::tree::BinaryOperator;
use crate::value::{FieldNames, Symbol, Value};

/// An index of a node. It equals the index of the expression.
pub type NodeId = u32;

/// An index of a slot within a frame.
pub type SlotId = u32;

/// A compiled expression.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value that is known.
    Literal(Value),
    /// An unprimed variable.
    Variable(u32),
    /// A parameter, a bound variable, a LET value or `@`.
    Local(SlotId),
    /// A constant expression: the index of its memoised value, and the expression.
    Memo(u32, Box<Node>),
    /// An expression that depends on the state only and uses no slot of its frame: the index of its kept value, and the
    /// expression.
    StateMemo(u32, Box<Node>),
    /// A call of a definition.
    Call { definition: u32, arguments: Box<[Argument]> },
    /// A call of a parameter that is an operator.
    CallLocal { slot: SlotId, arguments: Box<[Argument]> },
    /// A call of a standard operator.
    Standard { operator: StandardOperator, arguments: Box<[Argument]> },
    /// A standard operator with two integers.
    Arithmetic { operator: StandardOperator, left: NodeId, right: NodeId },
    /// An operator with one operand that is evaluated.
    Unary(UnaryNode, NodeId),
    /// An operator with two operands that are both evaluated.
    Binary(BinaryOperator, NodeId, NodeId),
    /// `[S -> T]`.
    FunctionSet(NodeId, NodeId),
    /// `=>`.
    Implies(NodeId, NodeId),
    /// `'`.
    Prime(NodeId),
    /// `UNCHANGED`.
    Unchanged(NodeId),
    /// `ENABLED`.
    Enabled(NodeId),
    /// `/\`.
    And(Box<[NodeId]>),
    /// `\/`.
    Or(Box<[NodeId]>),
    /// IF.
    If { condition: NodeId, yes: NodeId, no: NodeId },
    /// CASE.
    Case { arms: Box<[ArmNode]>, other: Option<NodeId> },
    /// LET.
    Let { bindings: Box<[BindingNode]>, body: NodeId },
    /// `\E` or `\A`.
    Quantified { is_exists: bool, bounds: Box<[BoundNode]>, body: NodeId },
    /// CHOOSE with a set.
    Choose { bound: BoundNode, body: NodeId },
    /// `{a, b}`.
    SetLiteral(Box<[NodeId]>),
    /// `{x \in S : p}`.
    Filter { bound: BoundNode, closure: ClosureNode },
    /// `{e : x \in S}`.
    Map { bounds: Box<[BoundNode]>, body: NodeId },
    /// `[x \in S |-> e]`.
    Function { bounds: Box<[BoundNode]>, closure: ClosureNode, itself: Option<SlotId> },
    /// `f[e]`.
    Apply(NodeId, NodeId),
    /// `r.a`.
    Field(NodeId, Symbol),
    /// `[a |-> e]`: the names in order, and the values in the order of the names.
    Record { names: FieldNames, values: Box<[NodeId]> },
    /// `[a: S]`, in the order of the names.
    RecordSet(Box<[FieldNode]>),
    /// `<<a, b>>`.
    Tuple(Box<[NodeId]>),
    /// `S \X T`.
    Product(Box<[NodeId]>),
    /// EXCEPT.
    Except { function: NodeId, updates: Box<[UpdateNode]> },
    /// `[A]_v`.
    BoxAction { action: NodeId, subscript: NodeId },
    /// `<<A>>_v`.
    AngleAction { action: NodeId, subscript: NodeId },
    /// An unsupported construct, with its name.
    Unsupported(Box<str>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryNode {
    /// `~`
    Not,
    /// `SUBSET`
    Powerset,
    /// `UNION`
    BigUnion,
    /// `DOMAIN`
    Domain,
}

/// An arm of CASE.
#[derive(Clone, Copy, Debug)]
pub struct ArmNode {
    /// The condition.
    pub guard: NodeId,
    /// The value.
    pub value: NodeId,
}

/// A LET value.
#[derive(Clone, Debug)]
pub struct BindingNode {
    /// Its slot.
    pub slot: SlotId,
    /// Its value.
    pub value: LazyNode,
}

/// An expression that is evaluated when it is used.
#[derive(Clone, Debug)]
pub struct LazyNode {
    /// The expression.
    pub node: NodeId,
    /// Its level if its slots are constant.
    pub level: Level,
    /// The slots that it uses and does not bind.
    pub free: Box<[SlotId]>,
}

/// A bound.
#[derive(Clone, Debug)]
pub struct BoundNode {
    /// The slots of the variables.
    pub slots: Box<[SlotId]>,
    /// Whether the elements are tuples of the variables.
    pub is_tuple: bool,
    /// The set.
    pub set: NodeId,
    /// The first conjuncts of the body that depend on nothing but the variable and constants, if it is the only bound.
    pub screen: Box<[LazyNode]>,
}

/// The body of a set filter or a function, which may be evaluated outside its frame.
#[derive(Clone, Debug)]
pub struct ClosureNode {
    /// The expression.
    pub body: NodeId,
    /// The slots that it uses and does not bind, without the variables of the bounds.
    pub free: Box<[SlotId]>,
    /// The number of slots of its frame.
    pub frame: u32,
}

/// A field of a set of records.
#[derive(Clone, Copy, Debug)]
pub struct FieldNode {
    /// The name.
    pub name: Symbol,
    /// The set.
    pub set: NodeId,
}

/// An update of EXCEPT.
#[derive(Clone, Debug)]
pub struct UpdateNode {
    /// The path.
    pub path: Box<[StepNode]>,
    /// The slot of `@`.
    pub old: Option<SlotId>,
    /// The new value.
    pub value: NodeId,
}

/// A step of the path of an update.
#[derive(Clone, Copy, Debug)]
pub enum StepNode {
    /// `[e]`.
    Index(NodeId),
    /// `.a`.
    Field(Symbol),
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An expression that is evaluated when it is used.
    Lazy(LazyNode),
    /// A known value.
    Literal(Value),
    /// A name of the frame: a value, a thunk or an operator.
    Local(SlotId),
    /// An operator: an index into the operators of the program.
    Operator(u32),
}

/// An operator that is an argument.
#[derive(Clone, Debug)]
pub enum Operator {
    /// A definition with arguments for its leading parameters.
    Definition { definition: u32, captured: Box<[Argument]> },
    /// A parameter.
    Local(SlotId),
    /// A standard operator.
    Standard(StandardOperator),
    /// An operator of the language with one operand.
    Unary(UnaryNode),
    /// An operator of the language with two operands.
    Binary(BinaryOperator),
    /// `=>`
    Implies,
    /// `/\`
    And,
    /// `\/`
    Or,
    /// `\X`
    Product,
    /// An operator that is not evaluated.
    Unsupported,
}

/// Returns whether an operator compares.
#[inline]
pub(super) fn is_comparison(operator: BinaryOperator) -> bool {
    !matches!(
        operator,
        BinaryOperator::Union | BinaryOperator::Intersection | BinaryOperator::Difference
    )
}
