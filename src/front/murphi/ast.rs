//! The syntax tree: a model as written, before names have meanings.
//!
//! Names borrow from the source. Expressions and statements know nothing of types; whoever walks
//! them may recurse, for the parser refuses what nests deeper than [`MAX_DEPTH`].

pub use crate::front::token::Name;

use crate::ir::{Binary, Quantifier as Which, Unary};
use crate::source::Span;

/// The deepest nesting of expressions, statements and rules.
pub const MAX_DEPTH: u32 = 200;

/// A whole file.
#[derive(Debug, Default)]
pub struct Model<'a> {
    /// Constants, types, variables and functions, in order.
    pub declarations: Vec<Declaration<'a>>,
    /// Rules, start states and properties, in order.
    pub rules: Vec<Rule<'a>>,
}

impl Model<'_> {
    /// Whether a global declaration or a member of an enumeration is called so.
    pub fn has_name(&self, name: &str) -> bool {
        self.declarations.iter().any(|it| {
            let members = match it {
                Declaration::Types(_, ty) | Declaration::Variables(_, ty) => ty.members(),
                Declaration::Constants(..) | Declaration::Function(_) => Vec::new(),
            };
            it.names().contains(&name) || members.contains(&name)
        })
    }
}

/// A declaration.
#[derive(Debug)]
pub enum Declaration<'a> {
    /// `N, M: 3;`
    Constants(Vec<Name<'a>>, Expr<'a>),
    /// `T, U: 0..N;`
    Types(Vec<Name<'a>>, TypeExpr<'a>),
    /// `x, y: T;`
    Variables(Vec<Name<'a>>, TypeExpr<'a>),
    /// A function or procedure.
    Function(Box<Function<'a>>),
}

impl<'a> Declaration<'a> {
    /// The names it declares.
    pub fn names(&self) -> Vec<&'a str> {
        match self {
            Declaration::Constants(names, _)
            | Declaration::Types(names, _)
            | Declaration::Variables(names, _) => names.iter().map(|name| name.text).collect(),
            Declaration::Function(function) => vec![function.name.text],
        }
    }
}

/// A type as written.
#[derive(Debug)]
pub struct TypeExpr<'a> {
    /// What it says.
    pub kind: TypeKind<'a>,
    /// Where it stands.
    pub span: Span,
}

impl<'a> TypeExpr<'a> {
    /// The members of the enumerations in it.
    fn members(&self) -> Vec<&'a str> {
        match &self.kind {
            TypeKind::Enum(names) => names.iter().map(|it| it.text).collect(),
            TypeKind::Record(fields) => fields.iter().flat_map(|(_, ty)| ty.members()).collect(),
            TypeKind::Array(index, ty) => [index.members(), ty.members()].concat(),
            TypeKind::Multiset(_, ty) => ty.members(),
            TypeKind::Union(parts) => parts.iter().flat_map(TypeExpr::members).collect(),
            TypeKind::Named(_) | TypeKind::Range(..) | TypeKind::Scalarset(_) => Vec::new(),
        }
    }
}

/// What a type expression says.
#[derive(Debug)]
pub enum TypeKind<'a> {
    /// A type that has a name.
    Named(Name<'a>),
    /// `enum { a, b }`
    Enum(Vec<Name<'a>>),
    /// `low..high`
    Range(Box<Expr<'a>>, Box<Expr<'a>>),
    /// `record x, y: T; end`
    Record(Vec<(Vec<Name<'a>>, TypeExpr<'a>)>),
    /// `array [I] of T`
    Array(Box<TypeExpr<'a>>, Box<TypeExpr<'a>>),
    /// `multiset [n] of T`
    Multiset(Box<Expr<'a>>, Box<TypeExpr<'a>>),
    /// `scalarset(n)`
    Scalarset(Box<Expr<'a>>),
    /// `union { A, B }`
    Union(Vec<TypeExpr<'a>>),
}

/// A function, or without a result a procedure.
#[derive(Debug)]
pub struct Function<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Its parameters.
    pub parameters: Vec<Parameters<'a>>,
    /// What it returns.
    pub result: Option<TypeExpr<'a>>,
    /// What it does.
    pub body: Block<'a>,
}

/// `var x, y: T` among the parameters of a function.
#[derive(Debug)]
pub struct Parameters<'a> {
    /// Their names.
    pub names: Vec<Name<'a>>,
    /// Whether they stand for places of the caller's.
    pub by_reference: bool,
    /// Their type.
    pub ty: TypeExpr<'a>,
}

/// Declarations and the statements that may use them.
#[derive(Debug, Default)]
pub struct Block<'a> {
    /// What is declared.
    pub declarations: Vec<Declaration<'a>>,
    /// What is done.
    pub body: Vec<Stmt<'a>>,
}

/// A rule, and what else stands among rules.
#[derive(Debug)]
pub struct Rule<'a> {
    /// What it is.
    pub kind: RuleKind<'a>,
    /// Where it begins.
    pub span: Span,
}

/// What a rule is.
#[derive(Debug)]
pub enum RuleKind<'a> {
    /// `rule 1 "name" guard ==> body end`
    Simple {
        /// Its name, if it has one.
        name: Option<&'a str>,
        /// The lesser, the sooner.
        priority: i32,
        /// When it may be taken.
        guard: Option<Expr<'a>>,
        /// What it does.
        block: Block<'a>,
    },
    /// `startstate "name" body end`
    Start {
        /// Its name, if it has one.
        name: Option<&'a str>,
        /// What it does.
        block: Block<'a>,
    },
    /// `invariant "name" expr` and the like.
    Property {
        /// Which.
        kind: PropertyKind,
        /// Its name, if it has one.
        name: Option<&'a str>,
        /// What it says.
        condition: Expr<'a>,
    },
    /// `ruleset x: T do ... end`
    Ruleset(Vec<Quantifier<'a>>, Vec<Rule<'a>>),
    /// `alias x: e do ... end`
    Alias(Vec<Alias<'a>>, Vec<Rule<'a>>),
    /// `choose x: m do ... end`
    Choose(Name<'a>, Expr<'a>, Vec<Rule<'a>>),
}

/// What a property says of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
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
pub struct Alias<'a> {
    /// The name.
    pub name: Name<'a>,
    /// What it stands for.
    pub value: Expr<'a>,
}

/// A name and what it ranges over.
#[derive(Debug)]
pub struct Quantifier<'a> {
    /// The name.
    pub name: Name<'a>,
    /// Its values.
    pub over: Range<'a>,
}

/// What a name ranges over.
#[derive(Debug)]
pub enum Range<'a> {
    /// `x: T`
    Type(TypeExpr<'a>),
    /// `x := first to last by step`
    Values {
        /// The first value.
        first: Expr<'a>,
        /// The last value.
        last: Expr<'a>,
        /// The step, if it is not 1.
        step: Option<Expr<'a>>,
    },
}

/// An expression and where it stands.
#[derive(Debug)]
pub struct Expr<'a> {
    /// What it says.
    pub kind: ExprKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// What an expression says.
#[derive(Debug)]
pub enum ExprKind<'a> {
    /// A number.
    Number(i64),
    /// `undefined`
    Undefined,
    /// A name.
    Name(&'a str),
    /// `e.f`
    Field(Box<Expr<'a>>, Name<'a>),
    /// `e[i]`
    Index(Box<Expr<'a>>, Box<Expr<'a>>),
    /// An operation on one operand.
    Unary(Unary, Box<Expr<'a>>),
    /// An operation on two operands. `&` and `|` are [`Binary::And`] and [`Binary::Or`], whatever
    /// the operands are.
    Binary(Binary, Box<Expr<'a>>, Box<Expr<'a>>),
    /// `c ? a : b`
    Conditional(Box<Expr<'a>>, Box<Expr<'a>>, Box<Expr<'a>>),
    /// `f(...)`
    Call(Name<'a>, Vec<Expr<'a>>),
    /// `forall x: T do e end`, `exists ...`
    Quantified(Which, Vec<Quantifier<'a>>, Box<Expr<'a>>),
    /// `isundefined(e)`
    IsUndefined(Box<Expr<'a>>),
    /// `ismember(e, T)`
    IsMember(Box<Expr<'a>>, Box<TypeExpr<'a>>),
    /// `multisetcount(x: m, e)`
    Count(Name<'a>, Box<Expr<'a>>, Box<Expr<'a>>),
}

/// A statement and where it stands.
#[derive(Debug)]
pub struct Stmt<'a> {
    /// What it does.
    pub kind: StmtKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub enum StmtKind<'a> {
    /// `x := e`
    Assign(Expr<'a>, Expr<'a>),
    /// `if c then ... elsif ... else ... end`
    If(Vec<(Option<Expr<'a>>, Vec<Stmt<'a>>)>),
    /// `switch e case a, b: ... else ... end`; the last case lists no values.
    Switch(Expr<'a>, Vec<(Vec<Expr<'a>>, Vec<Stmt<'a>>)>),
    /// `for x: T do ... end`
    For(Vec<Quantifier<'a>>, Vec<Stmt<'a>>),
    /// `while c do ... end`
    While(Expr<'a>, Vec<Stmt<'a>>),
    /// `alias x: e do ... end`
    Alias(Vec<Alias<'a>>, Vec<Stmt<'a>>),
    /// `f(...)`
    Call(Name<'a>, Vec<Expr<'a>>),
    /// `return e`
    Return(Option<Expr<'a>>),
    /// `clear x`
    Clear(Expr<'a>),
    /// `undefine x`
    Undefine(Expr<'a>),
    /// `error "..."`
    Error(&'a str),
    /// `assert e "..."`
    Assert(Expr<'a>, Option<&'a str>),
    /// `assume e`
    Assume(Expr<'a>),
    /// `cover e "..."`
    Cover(Expr<'a>, Option<&'a str>),
    /// `put e`
    Put(Expr<'a>),
    /// `put "..."`
    PutText(&'a str),
    /// `multisetadd(e, m)`
    Add(Expr<'a>, Expr<'a>),
    /// `multisetremove(i, m)`
    Remove(Expr<'a>, Expr<'a>),
    /// `multisetremovepred(x: m, e)`
    RemoveWhere(Name<'a>, Expr<'a>, Expr<'a>),
}
