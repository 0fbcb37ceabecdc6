//! Syntax trees of modules.

use super::symbols::Symbol;
use spillway_base::source::Span;

/// An identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text.
    pub text: Box<str>,
    /// The position.
    pub span: Span,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The name.
    pub name: Name,
    /// EXTENDS.
    pub extends: Vec<Name>,
    /// The units, in order.
    pub units: Vec<Unit>,
    /// The text, from `----` to `====`.
    pub span: Span,
}

/// A unit of a module.
#[derive(Clone, Debug)]
pub enum Unit {
    /// VARIABLE.
    Variables(Vec<Name>),
    /// CONSTANT.
    Constants(Vec<Declaration>),
    /// RECURSIVE.
    Recursive(Vec<Declaration>),
    /// A definition.
    Definition {
        /// Whether LOCAL precedes.
        is_local: bool,
        /// The definition.
        definition: Definition,
    },
    /// `INSTANCE M WITH ...` without a name.
    Instance {
        /// Whether LOCAL precedes.
        is_local: bool,
        /// The instance.
        instance: Instance,
    },
    /// ASSUME, ASSUMPTION, AXIOM.
    Assume {
        /// The name.
        name: Option<Name>,
        /// The formula.
        body: Expr,
        /// Whether it is an AXIOM, which is not checked.
        is_axiom: bool,
    },
    /// THEOREM, LEMMA, PROPOSITION, COROLLARY, without the proof.
    Theorem {
        /// The name.
        name: Option<Name>,
        /// The statement.
        body: Statement,
    },
    /// A module inside the module.
    Module(Box<Module>),
}

/// A declaration of a constant, of a parameter, or of a recursive operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name, or the operator symbol in its canonical spelling.
    pub name: Name,
    /// The number of parameters.
    pub arity: usize,
}

/// A definition: of a module, of LET, or of a step of a proof.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name, or the operator symbol in its canonical spelling.
    pub name: Name,
    /// The parameters.
    pub parameters: Vec<Declaration>,
    /// The right side.
    pub body: DefinitionBody,
}

/// The right side of a definition.
#[derive(Clone, Debug)]
pub enum DefinitionBody {
    /// `Op(x) == e`
    Operator(Expr),
    /// `f[x \in S] == e`
    Function {
        /// The variables.
        bounds: Vec<Bound>,
        /// The value.
        body: Expr,
    },
    /// `I(x) == INSTANCE M WITH ...`
    Instance(Instance),
}

/// INSTANCE.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The module.
    pub module: Name,
    /// WITH.
    pub substitutions: Vec<Substitution>,
    /// The text.
    pub span: Span,
}

/// `x <- e`
#[derive(Clone, Debug)]
pub struct Substitution {
    /// The constant or variable.
    pub name: Name,
    /// The substituted argument.
    pub value: Argument,
}

/// A statement of a theorem or of a step of a proof.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A formula.
    Formula(Expr),
    /// ASSUME ... PROVE.
    AssumeProve(Box<AssumeProve>),
}

/// `ASSUME a, b PROVE c`
#[derive(Clone, Debug)]
pub struct AssumeProve {
    /// The assumptions, in order.
    pub assumptions: Vec<Assumption>,
    /// The goal.
    pub goal: Expr,
}

/// An assumption of ASSUME ... PROVE.
#[derive(Clone, Debug)]
pub enum Assumption {
    /// A formula or an inner ASSUME ... PROVE.
    Statement(Statement),
    /// `NEW x`, `NEW VARIABLE x`, `CONSTANT Op(_)`.
    New {
        /// The kind.
        kind: NewKind,
        /// The symbol.
        declaration: Declaration,
        /// `\in S`.
        set: Option<Expr>,
    },
}

/// The kind of a symbol that ASSUME declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewKind {
    /// CONSTANT, or nothing.
    Constant,
    /// VARIABLE.
    Variable,
    /// STATE.
    State,
    /// ACTION.
    Action,
    /// TEMPORAL.
    Temporal,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// The text.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number in the spelling of the text.
    Number(Box<str>),
    /// A string without quotes, with its escapes resolved.
    String(Box<str>),
    /// `@`
    At,
    /// `Op`, `Op(a)`, `I(x)!Op(y)`, `Op!1!<<`.
    Path(Path),
    /// A prefix operator.
    Prefix {
        /// The operator.
        symbol: Symbol,
        /// The position of the operator.
        at: Span,
        /// The operand.
        operand: Box<Expr>,
    },
    /// An infix operator.
    Infix {
        /// The operator.
        symbol: Symbol,
        /// The position of the operator.
        at: Span,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// A postfix operator.
    Postfix {
        /// The operator.
        symbol: Symbol,
        /// The position of the operator.
        at: Span,
        /// The operand.
        operand: Box<Expr>,
    },
    /// A junction list, or operands of `/\` or `\/` in a row.
    Junction {
        /// [`Symbol::And`] or [`Symbol::Or`].
        symbol: Symbol,
        /// Whether it is a list with bullets.
        is_list: bool,
        /// The items.
        items: Vec<Expr>,
    },
    /// `a \X b \X c`, without parentheses between.
    Product(Vec<Expr>),
    /// `(e)`
    Parenthesized(Box<Expr>),
    /// `\A x \in S : e`
    Quantified {
        /// Whether it is `\A`.
        is_universal: bool,
        /// The variables with sets.
        bounds: Vec<Bound>,
        /// The body.
        body: Box<Expr>,
    },
    /// `\A x : e`, or `\AA x : e`.
    Unbounded {
        /// Whether it is `\A` or `\AA`.
        is_universal: bool,
        /// Whether it is `\AA` or `\EE`.
        is_temporal: bool,
        /// The variables.
        names: Vec<Name>,
        /// The body.
        body: Box<Expr>,
    },
    /// `CHOOSE x \in S : e`
    Choose {
        /// The variables.
        pattern: Pattern,
        /// The set.
        set: Option<Box<Expr>>,
        /// The body.
        body: Box<Expr>,
    },
    /// `{a, b}`
    SetLiteral(Vec<Expr>),
    /// `{x \in S : p}`
    SetFilter {
        /// The variables.
        pattern: Pattern,
        /// The set.
        set: Box<Expr>,
        /// The predicate.
        body: Box<Expr>,
    },
    /// `{e : x \in S}`
    SetMap {
        /// The element.
        body: Box<Expr>,
        /// The variables.
        bounds: Vec<Bound>,
    },
    /// `f[a, b]`
    ApplyFunction {
        /// The function.
        function: Box<Expr>,
        /// The arguments.
        arguments: Vec<Expr>,
    },
    /// `r.field`
    Field {
        /// The record.
        record: Box<Expr>,
        /// The field.
        field: Name,
    },
    /// `[x \in S |-> e]`
    Function {
        /// The variables.
        bounds: Vec<Bound>,
        /// The value.
        body: Box<Expr>,
    },
    /// `[S -> T]`
    FunctionSet {
        /// `S`
        domain: Box<Expr>,
        /// `T`
        range: Box<Expr>,
    },
    /// `[a |-> e]`
    Record(Vec<Field>),
    /// `[a : S]`
    RecordSet(Vec<Field>),
    /// `[f EXCEPT !.a = e]`
    Except {
        /// The function.
        function: Box<Expr>,
        /// The updates.
        updates: Vec<Update>,
    },
    /// `<<a, b>>`
    Tuple(Vec<Expr>),
    /// `[A]_v` or `<<A>>_v`
    Action {
        /// Whether it is `[A]_v`.
        is_box: bool,
        /// `A`
        action: Box<Expr>,
        /// `v`
        subscript: Box<Expr>,
    },
    /// `WF_v(A)` or `SF_v(A)`
    Fairness {
        /// Whether it is `SF_v(A)`.
        is_strong: bool,
        /// `v`
        subscript: Box<Expr>,
        /// `A`
        action: Box<Expr>,
    },
    /// IF.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// THEN.
        yes: Box<Expr>,
        /// ELSE.
        no: Box<Expr>,
    },
    /// CASE.
    Case {
        /// The arms.
        arms: Vec<Arm>,
        /// OTHER.
        other: Option<Box<Expr>>,
    },
    /// LET.
    Let {
        /// The definitions.
        definitions: Vec<LetUnit>,
        /// IN.
        body: Box<Expr>,
    },
    /// `Label(x):: e`
    Labelled {
        /// The label.
        label: Name,
        /// Its parameters.
        parameters: Vec<Name>,
        /// The expression.
        body: Box<Expr>,
    },
    /// `<1>2` in a proof.
    Step,
}

/// An item of LET.
#[derive(Clone, Debug)]
pub enum LetUnit {
    /// RECURSIVE.
    Recursive(Vec<Declaration>),
    /// A definition.
    Definition(Definition),
}

/// A name with the instances and subexpressions that lead to it.
#[derive(Clone, Debug)]
pub struct Path {
    /// The parts between `!`; at least one. The first one is a [`PathPart::Name`].
    pub parts: Vec<PathPart>,
}

/// A part of a path.
#[derive(Clone, Debug)]
pub enum PathPart {
    /// `Op`, `Op(a)`, or an operator symbol in its canonical spelling.
    Name {
        /// The name.
        name: Name,
        /// The arguments.
        arguments: Vec<Argument>,
    },
    /// `!1`, `!<<`, `!>>`, `!@`, `!:` or `!(a)`
    Selector {
        /// What it selects.
        selector: Selector,
        /// The position.
        span: Span,
    },
}

/// A selector of a subexpression.
#[derive(Clone, Debug)]
pub enum Selector {
    /// `!1`
    Operand(u32),
    /// `!<<`
    First,
    /// `!>>`
    Second,
    /// `!@`
    Bound,
    /// `!:`
    Definition,
    /// `!(a, b)`
    Arguments(Vec<Argument>),
}

/// An argument of an operator.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An expression. A bare name may be an operator.
    Expression(Expr),
    /// An operator symbol.
    Symbol {
        /// The symbol.
        symbol: Symbol,
        /// The position.
        span: Span,
    },
    /// LAMBDA.
    Lambda {
        /// The parameters.
        parameters: Vec<Name>,
        /// The body.
        body: Expr,
        /// The text.
        span: Span,
    },
}

impl Argument {
    /// Returns the text's position.
    pub fn span(&self) -> Span {
        match self {
            Argument::Expression(expr) => expr.span,
            Argument::Symbol { span, .. } | Argument::Lambda { span, .. } => *span,
        }
    }
}

/// The variables of a bound.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `x`
    Single(Name),
    /// `<<x, y>>`
    Tuple(Vec<Name>),
}

impl Pattern {
    /// Returns the names, in the order of the text.
    pub fn names(&self) -> &[Name] {
        match self {
            Pattern::Single(name) => std::slice::from_ref(name),
            Pattern::Tuple(names) => names,
        }
    }
}

/// `x, y \in S` or `<<x, y>> \in S`
#[derive(Clone, Debug)]
pub struct Bound {
    /// The variables.
    pub patterns: Vec<Pattern>,
    /// The set.
    pub set: Expr,
}

/// A field of a record or of a set of records.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: Name,
    /// The value or the set.
    pub value: Expr,
}

/// An update of EXCEPT.
#[derive(Clone, Debug)]
pub struct Update {
    /// The path.
    pub path: Vec<UpdateStep>,
    /// The new value.
    pub value: Expr,
    /// The text.
    pub span: Span,
}

/// A step of a path of EXCEPT.
#[derive(Clone, Debug)]
pub enum UpdateStep {
    /// `[a, b]`
    Index(Vec<Expr>),
    /// `.field`
    Field(Name),
}

/// An arm of CASE.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The condition.
    pub guard: Expr,
    /// The value.
    pub value: Expr,
}
