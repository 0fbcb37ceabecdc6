//! The syntax tree: a model as written, before names have meanings.
//!
//! Names borrow from the source. Expressions and statements know nothing of types; whoever walks
//! them may recurse, for the parser refuses what nests deeper than [`MAX_DEPTH`].

pub use crate::front::token::SourceName;

use crate::ir::{BinaryOp, Quantifier as Which, UnaryOp};
use crate::source::Span;

/// The deepest nesting of expressions, statements and rules.
pub const MAX_DEPTH: u32 = 200;

/// A whole file.
#[derive(Debug, Default)]
pub struct MurphiModel<'a> {
    /// Constants, types, variables and functions, in order.
    pub declarations: Vec<MurphiDeclaration<'a>>,
    /// Rules, start states and properties, in order.
    pub rules: Vec<MurphiRule<'a>>,
}

impl MurphiModel<'_> {
    /// Whether a global declaration or a member of an enumeration is called so.
    pub fn has_name(&self, name: &str) -> bool {
        self.declarations.iter().any(|it| {
            let members = match it {
                MurphiDeclaration::Types(_, ty) | MurphiDeclaration::Variables(_, ty) => {
                    ty.members()
                }
                MurphiDeclaration::Constants(..) | MurphiDeclaration::Function(_) => Vec::new(),
            };
            it.names().contains(&name) || members.contains(&name)
        })
    }
}

/// A declaration.
#[derive(Debug)]
pub enum MurphiDeclaration<'a> {
    /// `N, M: 3;`
    Constants(Vec<SourceName<'a>>, MurphiExpr<'a>),
    /// `T, U: 0..N;`
    Types(Vec<SourceName<'a>>, TypeExpr<'a>),
    /// `x, y: T;`
    Variables(Vec<SourceName<'a>>, TypeExpr<'a>),
    /// A function or procedure.
    Function(Box<MurphiFunction<'a>>),
}

impl<'a> MurphiDeclaration<'a> {
    /// The names it declares.
    pub fn names(&self) -> Vec<&'a str> {
        match self {
            MurphiDeclaration::Constants(names, _)
            | MurphiDeclaration::Types(names, _)
            | MurphiDeclaration::Variables(names, _) => {
                names.iter().map(|name| name.text).collect()
            }
            MurphiDeclaration::Function(function) => vec![function.name.text],
        }
    }
}

/// A type as written.
#[derive(Debug)]
pub struct TypeExpr<'a> {
    /// What it says.
    pub kind: TypeExprKind<'a>,
    /// Where it stands.
    pub span: Span,
}

impl<'a> TypeExpr<'a> {
    /// The members of the enumerations in it.
    fn members(&self) -> Vec<&'a str> {
        match &self.kind {
            TypeExprKind::Enum(names) => names.iter().map(|it| it.text).collect(),
            TypeExprKind::Record(fields) => {
                fields.iter().flat_map(|(_, ty)| ty.members()).collect()
            }
            TypeExprKind::Array(index, ty) => [index.members(), ty.members()].concat(),
            TypeExprKind::Multiset(_, ty) => ty.members(),
            TypeExprKind::Union(parts) => parts.iter().flat_map(TypeExpr::members).collect(),
            TypeExprKind::Named(_) | TypeExprKind::Range(..) | TypeExprKind::Scalarset(_) => {
                Vec::new()
            }
        }
    }
}

/// What a type expression says.
#[derive(Debug)]
pub enum TypeExprKind<'a> {
    /// A type that has a name.
    Named(SourceName<'a>),
    /// `enum { a, b }`
    Enum(Vec<SourceName<'a>>),
    /// `low..high`
    Range(Box<MurphiExpr<'a>>, Box<MurphiExpr<'a>>),
    /// `record x, y: T; end`
    Record(Vec<(Vec<SourceName<'a>>, TypeExpr<'a>)>),
    /// `array [I] of T`
    Array(Box<TypeExpr<'a>>, Box<TypeExpr<'a>>),
    /// `multiset [n] of T`
    Multiset(Box<MurphiExpr<'a>>, Box<TypeExpr<'a>>),
    /// `scalarset(n)`
    Scalarset(Box<MurphiExpr<'a>>),
    /// `union { A, B }`
    Union(Vec<TypeExpr<'a>>),
}

/// A function, or without a result a procedure.
#[derive(Debug)]
pub struct MurphiFunction<'a> {
    /// What it is called.
    pub name: SourceName<'a>,
    /// Its parameters.
    pub parameters: Vec<ParameterGroup<'a>>,
    /// What it returns.
    pub result: Option<TypeExpr<'a>>,
    /// What it does.
    pub body: MurphiBlock<'a>,
}

/// `var x, y: T` among the parameters of a function.
#[derive(Debug)]
pub struct ParameterGroup<'a> {
    /// Their names.
    pub names: Vec<SourceName<'a>>,
    /// Whether they stand for places of the caller's.
    pub by_reference: bool,
    /// Their type.
    pub ty: TypeExpr<'a>,
}

/// Declarations and the statements that may use them.
#[derive(Debug, Default)]
pub struct MurphiBlock<'a> {
    /// What is declared.
    pub declarations: Vec<MurphiDeclaration<'a>>,
    /// What is done.
    pub body: Vec<MurphiStmt<'a>>,
}

/// A rule, and what else stands among rules.
#[derive(Debug)]
pub struct MurphiRule<'a> {
    /// What it is.
    pub kind: MurphiRuleKind<'a>,
    /// Where it begins.
    pub span: Span,
}

/// What a rule is.
#[derive(Debug)]
pub enum MurphiRuleKind<'a> {
    /// `rule 1 "name" guard ==> body end`
    Simple {
        /// Its name, if it has one.
        name: Option<&'a str>,
        /// The lesser, the sooner.
        priority: i32,
        /// When it may be taken.
        guard: Option<MurphiExpr<'a>>,
        /// What it does.
        block: MurphiBlock<'a>,
    },
    /// `startstate "name" body end`
    Start {
        /// Its name, if it has one.
        name: Option<&'a str>,
        /// What it does.
        block: MurphiBlock<'a>,
    },
    /// `invariant "name" expr` and the like.
    Property {
        /// Which.
        kind: MurphiPropertyKind,
        /// Its name, if it has one.
        name: Option<&'a str>,
        /// What it says.
        condition: MurphiExpr<'a>,
    },
    /// `ruleset x: T do ... end`
    Ruleset(Vec<MurphiQuantifier<'a>>, Vec<MurphiRule<'a>>),
    /// `alias x: e do ... end`
    Alias(Vec<AliasDefinition<'a>>, Vec<MurphiRule<'a>>),
    /// `choose x: m do ... end`
    Choose(SourceName<'a>, MurphiExpr<'a>, Vec<MurphiRule<'a>>),
}

/// What a property says of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MurphiPropertyKind {
    /// It holds in all of them.
    Invariant,
    /// Those where it does not hold are left out.
    Assume,
    /// It holds in one of them.
    Cover,
    /// It holds again and again.
    Liveness,
}

/// `x: e` of an alias.
#[derive(Debug)]
pub struct AliasDefinition<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// What it stands for.
    pub value: MurphiExpr<'a>,
}

/// A name and what it ranges over.
#[derive(Debug)]
pub struct MurphiQuantifier<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// Its values.
    pub over: QuantifierDomain<'a>,
}

/// What a name ranges over.
#[derive(Debug)]
pub enum QuantifierDomain<'a> {
    /// `x: T`
    Type(TypeExpr<'a>),
    /// `x := first to last by step`
    Values {
        /// The first value.
        first: MurphiExpr<'a>,
        /// The last value.
        last: MurphiExpr<'a>,
        /// The step, if it is not 1.
        step: Option<MurphiExpr<'a>>,
    },
}

/// An expression and where it stands.
#[derive(Debug)]
pub struct MurphiExpr<'a> {
    /// What it says.
    pub kind: MurphiExprKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// What an expression says.
#[derive(Debug)]
pub enum MurphiExprKind<'a> {
    /// A number.
    Number(i64),
    /// `undefined`
    Undefined,
    /// A name.
    Name(&'a str),
    /// `e.f`
    Field(Box<MurphiExpr<'a>>, SourceName<'a>),
    /// `e[i]`
    Index(Box<MurphiExpr<'a>>, Box<MurphiExpr<'a>>),
    /// An operation on one operand.
    Unary(UnaryOp, Box<MurphiExpr<'a>>),
    /// An operation on two operands. `&` and `|` are [`BinaryOp::And`] and [`BinaryOp::Or`], whatever
    /// the operands are.
    Binary(BinaryOp, Box<MurphiExpr<'a>>, Box<MurphiExpr<'a>>),
    /// `c ? a : b`
    Conditional(Box<MurphiExpr<'a>>, Box<MurphiExpr<'a>>, Box<MurphiExpr<'a>>),
    /// `f(...)`
    Call(SourceName<'a>, Vec<MurphiExpr<'a>>),
    /// `forall x: T do e end`, `exists ...`
    Quantified(Which, Vec<MurphiQuantifier<'a>>, Box<MurphiExpr<'a>>),
    /// `isundefined(e)`
    IsUndefined(Box<MurphiExpr<'a>>),
    /// `ismember(e, T)`
    IsMember(Box<MurphiExpr<'a>>, Box<TypeExpr<'a>>),
    /// `multisetcount(x: m, e)`
    Count(Box<MultisetFilter<'a>>),
}

/// Those elements of a multiset that meet a condition: `x: m, e`.
#[derive(Debug)]
pub struct MultisetFilter<'a> {
    /// What the condition calls an element.
    pub name: SourceName<'a>,
    /// The multiset.
    pub multiset: MurphiExpr<'a>,
    /// The condition.
    pub condition: MurphiExpr<'a>,
}

/// A statement and where it stands.
#[derive(Debug)]
pub struct MurphiStmt<'a> {
    /// What it does.
    pub kind: MurphiStmtKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub enum MurphiStmtKind<'a> {
    /// `x := e`
    Assign(MurphiExpr<'a>, MurphiExpr<'a>),
    /// `if c then ... elsif ... else ... end`
    If(Vec<(Option<MurphiExpr<'a>>, Vec<MurphiStmt<'a>>)>),
    /// `switch e case a, b: ... else ... end`; the last case lists no values.
    Switch(MurphiExpr<'a>, Vec<(Vec<MurphiExpr<'a>>, Vec<MurphiStmt<'a>>)>),
    /// `for x: T do ... end`
    For(Vec<MurphiQuantifier<'a>>, Vec<MurphiStmt<'a>>),
    /// `while c do ... end`
    While(MurphiExpr<'a>, Vec<MurphiStmt<'a>>),
    /// `alias x: e do ... end`
    Alias(Vec<AliasDefinition<'a>>, Vec<MurphiStmt<'a>>),
    /// `f(...)`
    Call(SourceName<'a>, Vec<MurphiExpr<'a>>),
    /// `return e`
    Return(Option<MurphiExpr<'a>>),
    /// `clear x`
    Clear(MurphiExpr<'a>),
    /// `undefine x`
    Undefine(MurphiExpr<'a>),
    /// `error "..."`
    Error(&'a str),
    /// `assert e "..."`
    Assert(MurphiExpr<'a>, Option<&'a str>),
    /// `assume e`
    Assume(MurphiExpr<'a>),
    /// `cover e "..."`
    Cover(MurphiExpr<'a>, Option<&'a str>),
    /// `put e`
    Put(MurphiExpr<'a>),
    /// `put "..."`
    PutText(&'a str),
    /// `multisetadd(e, m)`
    Add(MurphiExpr<'a>, MurphiExpr<'a>),
    /// `multisetremove(i, m)`
    Remove(MurphiExpr<'a>, MurphiExpr<'a>),
    /// `multisetremovepred(x: m, e)`
    RemoveWhere(MultisetFilter<'a>),
}
