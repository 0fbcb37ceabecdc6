//! The syntax tree: a model as written, before names are resolved.
//!
//! Names borrow from the source. Expressions and statements have no types. Code that walks them may recurse: the parser
//! rejects nesting deeper than [`MAX_DEPTH`].

pub use crate::token::SourceName;

use crate::{DeclaredName, DeclaredNameKind};
use spillway_base::source::Span;
use spillway_ir::{BinaryOp, Quantifier as Which, UnaryOp};

/// The maximum nesting of expressions, statements and rules.
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
    /// Returns whether a global declaration or a member of an enumeration has this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.declarations.iter().any(|it| {
            let members = match it {
                MurphiDeclaration::Types(_, ty) | MurphiDeclaration::Variables(_, ty) => {
                    ty.members()
                }
                MurphiDeclaration::Constants(..) | MurphiDeclaration::Function(_) => Vec::new(),
            };
            it.names().contains(&name) || members.iter().any(|it| it.text == name)
        })
    }
}

impl MurphiModel<'_> {
    /// Returns the names of constants, types and values of enumerations.
    pub(super) fn constants_and_types(&self) -> Vec<DeclaredName> {
        let named = |it: &SourceName<'_>, kind| DeclaredName::new(it.text, kind, it.span);
        let mut all = Vec::new();
        for declaration in &self.declarations {
            match declaration {
                MurphiDeclaration::Constants(names, _) => {
                    all.extend(names.iter().map(|it| named(it, DeclaredNameKind::Constant)));
                }
                MurphiDeclaration::Types(names, ty) => {
                    all.extend(names.iter().map(|it| named(it, DeclaredNameKind::Type)));
                    let members = ty.members();
                    all.extend(members.iter().map(|it| named(it, DeclaredNameKind::Constant)));
                }
                MurphiDeclaration::Variables(_, ty) => {
                    let members = ty.members();
                    all.extend(members.iter().map(|it| named(it, DeclaredNameKind::Constant)));
                }
                MurphiDeclaration::Function(_) => {}
            }
        }
        all
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
    /// Returns the names it declares.
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
    /// The kind of type expression.
    pub kind: TypeExprKind<'a>,
    /// The span in the source.
    pub span: Span,
}

impl<'a> TypeExpr<'a> {
    /// Returns the members of the enumerations in it.
    fn members(&self) -> Vec<SourceName<'a>> {
        match &self.kind {
            TypeExprKind::Enum(names) => names.clone(),
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

/// The kinds of type expressions.
#[derive(Debug)]
pub enum TypeExprKind<'a> {
    /// A named type.
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

/// A function, or a procedure if it has no result.
#[derive(Debug)]
pub struct MurphiFunction<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// The parameters.
    pub parameters: Vec<ParameterGroup<'a>>,
    /// The type of the result.
    pub result: Option<TypeExpr<'a>>,
    /// The body.
    pub body: MurphiBlock<'a>,
}

/// A group `var x, y: T` among the parameters of a function.
#[derive(Debug)]
pub struct ParameterGroup<'a> {
    /// The names.
    pub names: Vec<SourceName<'a>>,
    /// Whether they are passed by reference.
    pub by_reference: bool,
    /// The type.
    pub ty: TypeExpr<'a>,
}

/// Declarations and the statements in their scope.
#[derive(Debug, Default)]
pub struct MurphiBlock<'a> {
    /// The declarations.
    pub declarations: Vec<MurphiDeclaration<'a>>,
    /// The statements.
    pub body: Vec<MurphiStmt<'a>>,
}

/// A rule, or a start state, property or enclosing construct among the rules.
#[derive(Debug)]
pub struct MurphiRule<'a> {
    /// The kind of rule.
    pub kind: MurphiRuleKind<'a>,
    /// The span of its first word.
    pub span: Span,
}

/// The kinds of rules.
#[derive(Debug)]
pub enum MurphiRuleKind<'a> {
    /// `rule 1 "name" guard ==> body end`
    Simple {
        /// The name, if it has one.
        name: Option<&'a str>,
        /// The priority; lower numbers go first.
        priority: i32,
        /// The guard.
        guard: Option<MurphiExpr<'a>>,
        /// The body.
        block: MurphiBlock<'a>,
    },
    /// `startstate "name" body end`
    Start {
        /// The name, if it has one.
        name: Option<&'a str>,
        /// The body.
        block: MurphiBlock<'a>,
    },
    /// `invariant "name" expr` and the like.
    Property {
        /// The kind of property.
        kind: MurphiPropertyKind,
        /// The name, if it has one.
        name: Option<&'a str>,
        /// The condition.
        condition: MurphiExpr<'a>,
    },
    /// `ruleset x: T do ... end`
    Ruleset(Vec<MurphiQuantifier<'a>>, Vec<MurphiRule<'a>>),
    /// `alias x: e do ... end`
    Alias(Vec<AliasDefinition<'a>>, Vec<MurphiRule<'a>>),
    /// `choose x: m do ... end`
    Choose(SourceName<'a>, MurphiExpr<'a>, Vec<MurphiRule<'a>>),
}

/// The kinds of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MurphiPropertyKind {
    /// The condition holds in all states.
    Invariant,
    /// States that violate the condition are excluded.
    Assume,
    /// The condition holds in some state.
    Cover,
    /// The condition holds infinitely often.
    Liveness,
}

/// `x: e` of an alias.
#[derive(Debug)]
pub struct AliasDefinition<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// The definition.
    pub value: MurphiExpr<'a>,
}

/// A quantified variable and its domain.
#[derive(Debug)]
pub struct MurphiQuantifier<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// The domain.
    pub over: QuantifierDomain<'a>,
}

/// The domain of a quantified variable.
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

/// An expression and its span.
#[derive(Debug)]
pub struct MurphiExpr<'a> {
    /// The kind of expression.
    pub kind: MurphiExprKind<'a>,
    /// The span in the source.
    pub span: Span,
}

/// The kinds of expressions.
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

/// The elements of a multiset that satisfy a condition: `x: m, e`.
#[derive(Debug)]
pub struct MultisetFilter<'a> {
    /// The name of an element in the condition.
    pub name: SourceName<'a>,
    /// The multiset.
    pub multiset: MurphiExpr<'a>,
    /// The condition.
    pub condition: MurphiExpr<'a>,
}

/// A statement and its span.
#[derive(Debug)]
pub struct MurphiStmt<'a> {
    /// The kind of statement.
    pub kind: MurphiStmtKind<'a>,
    /// The span in the source.
    pub span: Span,
}

/// The kinds of statements.
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
