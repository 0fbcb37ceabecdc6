//! Expressions of the resolved specification.

use super::ids::{ConstantId, DefinitionId, ExprId, ModelValueId, Slot, StringId, VariableId};
use crate::level::Level;
use crate::library::StandardOperator;
use spillway_base::source::Span;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind, with the operands.
    pub kind: ExprKind,
    /// The text.
    pub span: Span,
    /// The level if all parameters of the definition are constants.
    pub level: Level,
    /// Whether the expression uses a slot of the frame that it does not bind itself.
    pub uses_frame: bool,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// A number. TLC has 32 bits.
    Integer(i64),
    /// A number that is not an integer of 64 bits, such as `1.5`. It cannot be evaluated.
    Decimal(String),
    /// A string.
    String(StringId),
    /// `BOOLEAN`.
    BooleanSet,
    /// `STRING`.
    StringSet,
    /// A model value. The configuration may use one in an override.
    ModelValue(ModelValueId),
    /// A variable, unprimed.
    Variable(VariableId),
    /// A constant with a value of the configuration.
    Constant(ConstantId),
    /// A parameter without parameters, a bound variable, a LET value or `@`.
    Local(Slot),
    /// A call of a definition, with one argument for each of [`Definition::parameters`](super::tree::Definition::parameters).
    Apply {
        /// The operator.
        definition: DefinitionId,
        /// The arguments.
        arguments: Vec<Argument>,
    },
    /// A call of a parameter that is an operator.
    ApplyLocal {
        /// The parameter.
        operator: Slot,
        /// The arguments.
        arguments: Vec<Argument>,
    },
    /// A call of an operator of a standard or community module.
    Standard {
        /// The operator.
        operator: StandardOperator,
        /// The arguments, as [`StandardOperator::arities`] says.
        arguments: Vec<Argument>,
    },
    /// An operator with one operand.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: ExprId,
    },
    /// An operator with two operands.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// A junction list or `/\`, of at least one operand.
    And(Vec<ExprId>),
    /// A junction list or `\/`, of at least one operand.
    Or(Vec<ExprId>),
    /// `IF condition THEN yes ELSE no`.
    If {
        /// The condition.
        condition: ExprId,
        /// The value if it holds.
        yes: ExprId,
        /// The value if it does not.
        no: ExprId,
    },
    /// `CASE`.
    Case {
        /// The arms, in order.
        arms: Vec<CaseArm>,
        /// `OTHER`.
        other: Option<ExprId>,
    },
    /// LET with values. The bindings are lazy; each may use the slots of the earlier ones.
    Let {
        /// The bindings.
        bindings: Vec<LetBinding>,
        /// The body.
        body: ExprId,
    },
    /// `\A` or `\E` with bounds.
    Quantified {
        /// Which.
        quantifier: QuantifierKind,
        /// The bounds. The sets do not depend on the bound variables.
        bounds: Vec<Bound>,
        /// The body.
        body: ExprId,
    },
    /// `\A x : p` or `\E x : p`. TLC cannot evaluate it.
    Unbounded {
        /// Which.
        quantifier: QuantifierKind,
        /// The variables.
        slots: Vec<Slot>,
        /// The body.
        body: ExprId,
    },
    /// `CHOOSE x \in S : p`, or `CHOOSE x : p` without a set.
    Choose {
        /// The variables.
        pattern: Pattern,
        /// The set.
        set: Option<ExprId>,
        /// The predicate.
        body: ExprId,
    },
    /// `{e1, e2}`.
    SetLiteral(Vec<ExprId>),
    /// `{x \in S : p}`.
    SetFilter {
        /// The variables and the set.
        bound: Bound,
        /// The predicate.
        body: ExprId,
    },
    /// `{e : x \in S}`.
    SetMap {
        /// The variables and the sets.
        bounds: Vec<Bound>,
        /// The element.
        body: ExprId,
    },
    /// `[x \in S |-> e]`, or the function of `f[x \in S] == e`.
    Function {
        /// The variables and the sets. With several the domain is a product: `[x \in S, <<y, z>> \in T |-> e]`.
        bounds: Vec<Bound>,
        /// The value.
        body: ExprId,
        /// The slot that is the function itself within the body, if the function is recursive.
        itself: Option<Slot>,
    },
    /// `[S -> T]`.
    FunctionSet {
        /// `S`.
        domain: ExprId,
        /// `T`.
        range: ExprId,
    },
    /// `f[e]`. The argument of `f[a, b]` is the tuple `<<a, b>>`.
    ApplyFunction {
        /// The function.
        function: ExprId,
        /// The argument.
        argument: ExprId,
    },
    /// `r.field`.
    Field {
        /// The record.
        record: ExprId,
        /// The field.
        field: StringId,
    },
    /// `[a |-> e, b |-> f]`, in the order of the text.
    Record(Vec<RecordField>),
    /// `[a : S, b : T]`, in the order of the text.
    RecordSet(Vec<RecordField>),
    /// `<<a, b>>`.
    Tuple(Vec<ExprId>),
    /// `S \X T`.
    Product(Vec<ExprId>),
    /// `[f EXCEPT !.a[i] = e]`.
    Except {
        /// The function or record.
        function: ExprId,
        /// The updates, in order; each sees the result of the one before.
        updates: Vec<ExceptUpdate>,
    },
    /// `[A]_v`.
    BoxAction {
        /// `A`.
        action: ExprId,
        /// `v`.
        subscript: ExprId,
    },
    /// `<<A>>_v`.
    AngleAction {
        /// `A`.
        action: ExprId,
        /// `v`.
        subscript: ExprId,
    },
    /// `WF_v(A)`.
    WeakFairness {
        /// `v`.
        subscript: ExprId,
        /// `A`.
        action: ExprId,
    },
    /// `SF_v(A)`.
    StrongFairness {
        /// `v`.
        subscript: ExprId,
        /// `A`.
        action: ExprId,
    },
    /// `\AA x : F` or `\EE x : F`, with variables that are declared by the quantifier. It cannot be evaluated.
    TemporalQuantified {
        /// Which.
        quantifier: QuantifierKind,
        /// The body.
        body: ExprId,
    },
    /// What cannot be evaluated: a constant operator without a value, or ENABLED in an instance that substitutes an
    /// expression for a variable.
    Undefined {
        /// The name, or a description.
        name: String,
        /// Its level.
        level: Level,
        /// The arguments.
        arguments: Vec<Argument>,
    },
}

/// An operator of the language with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `~`
    Not,
    /// `SUBSET`
    Powerset,
    /// `UNION`
    BigUnion,
    /// `DOMAIN`
    Domain,
    /// `'`
    Prime,
    /// `UNCHANGED`
    Unchanged,
    /// `ENABLED`
    Enabled,
    /// `[]`
    Always,
    /// `<>`
    Eventually,
}

/// An operator of the language with two operands. Those of modules, such as `+`, are [`StandardOperator`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `=>`
    Implies,
    /// `<=>` or `\equiv`
    Equivalent,
    /// `=`
    Equal,
    /// `#` or `/=`
    NotEqual,
    /// `\in`
    In,
    /// `\notin`
    NotIn,
    /// `\subseteq`
    SubsetOrEqual,
    /// `\cup` or `\union`
    Union,
    /// `\cap` or `\intersect`
    Intersection,
    /// `\`
    Difference,
    /// `\cdot`
    Compose,
    /// `~>`
    LeadsTo,
    /// `-+->`
    Guarantees,
}

/// A quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantifierKind {
    /// `\A`
    Forall,
    /// `\E`
    Exists,
}

/// The variables that are bound to an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `x`
    Single(Slot),
    /// `<<x, y>>`: the element is a tuple.
    Tuple(Vec<Slot>),
}

/// `x \in S` or `<<x, y>> \in S`. `x, y \in S` makes two bounds with the same set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The variables.
    pub pattern: Pattern,
    /// The set.
    pub set: ExprId,
}

/// An arm of CASE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseArm {
    /// The condition.
    pub guard: ExprId,
    /// The value.
    pub value: ExprId,
}

/// A LET definition without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetBinding {
    /// The slot.
    pub slot: Slot,
    /// The name.
    pub name: String,
    /// The value, evaluated when it is first used. It may be an action.
    pub value: ExprId,
}

/// A field of a record or of a set of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordField {
    /// The name.
    pub name: StringId,
    /// The value, or the set of values.
    pub value: ExprId,
}

/// An update of EXCEPT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceptUpdate {
    /// The path, from the outside to the inside.
    pub path: Vec<ExceptStep>,
    /// The slot of `@`, the old value at the path, if the new value uses it.
    pub old: Option<Slot>,
    /// The new value.
    pub value: ExprId,
}

/// A step of a path of EXCEPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptStep {
    /// `[e]`. The argument of `[a, b]` is a tuple.
    Index(ExprId),
    /// `.field`
    Field(StringId),
}

/// An argument of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// An expression, evaluated when it is used.
    Expression(ExprId),
    /// An operator.
    Operator(OperatorValue),
}

/// An operator as an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorValue {
    /// A definition, whose leading parameters have these arguments of the present frame. The remaining parameters are
    /// those of the operator.
    Definition {
        /// The definition.
        definition: DefinitionId,
        /// The arguments for [`Definition::captured`](super::tree::Definition::captured) parameters.
        captured: Vec<Argument>,
    },
    /// A parameter that is an operator.
    Local(Slot),
    /// An operator of a standard module.
    Standard(StandardOperator),
    /// An operator of the language with one operand.
    Unary(UnaryOperator),
    /// An operator of the language with two operands.
    Binary(BinaryOperator),
    /// `/\`
    And,
    /// `\/`
    Or,
    /// `\X`
    Product,
}
