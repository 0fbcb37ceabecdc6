//! The syntax tree: a model as written, before names have meanings.
//!
//! Names borrow from the source. Expressions know their *height*, so that whoever walks them may
//! recurse: the parser refuses what is higher than [`MAX_HEIGHT`]. Runs of one associative operator
//! (`a && b && c ...`), which generated models write by the thousand, are one [`DveExprKind::Chain`]
//! and count as a balanced tree, which is how they are lowered.

pub use crate::front::token::SourceName;

use crate::ir::{BinaryOp, UnaryOp};
use crate::source::Span;

/// The greatest height of an expression, and the deepest nesting of brackets.
pub const MAX_HEIGHT: u32 = 250;

/// A whole file.
#[derive(Debug, Default)]
pub struct DveModel<'a> {
    /// Global constants, variables and channels, in order.
    pub declarations: Vec<DveDeclaration<'a>>,
    /// Processes, in order.
    pub processes: Vec<DveProcess<'a>>,
    /// The last line.
    pub system: DveSystem<'a>,
}

impl DveModel<'_> {
    /// Whether a global declaration or a process is called so.
    pub fn has_name(&self, name: &str) -> bool {
        let declared = self.declarations.iter().any(|it| match it {
            DveDeclaration::Variable(variable) => variable.name.text == name,
            DveDeclaration::Channel(channel) => channel.name.text == name,
        });
        declared || self.processes.iter().any(|it| it.name.text == name)
    }
}

/// `system async property P;`
#[derive(Debug, Default)]
pub struct DveSystem<'a> {
    /// `sync` instead of `async`.
    pub lockstep: bool,
    /// The property process.
    pub property: Option<SourceName<'a>>,
}

/// A global declaration.
#[derive(Debug)]
pub enum DveDeclaration<'a> {
    /// A constant or variable.
    Variable(DveVariable<'a>),
    /// A channel or a family of channels.
    Channel(DveChannel<'a>),
}

/// The two types of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DveIntType {
    /// 0 to 255.
    Byte,
    /// -32768 to 32767.
    Int,
}

/// One name of `const byte N = 3, M = 4;` or `int x, a[5] = {1};`.
#[derive(Debug)]
pub struct DveVariable<'a> {
    /// What it is called.
    pub name: SourceName<'a>,
    /// Whether it never changes.
    pub constant: bool,
    /// The type of it, or of its elements.
    pub basic: DveIntType,
    /// The number of elements of an array.
    pub size: Option<DveExpr<'a>>,
    /// What stands after `=`.
    pub initial: Option<DveInitializer<'a>>,
}

/// What stands after `=` in a declaration.
#[derive(Debug)]
pub enum DveInitializer<'a> {
    /// One value.
    Value(DveExpr<'a>),
    /// `{e, e}`, with the span of the braces.
    List(Vec<DveExpr<'a>>, Span),
}

/// `[i < N]` after the name of a process or channel: N members, numbered from 0.
#[derive(Debug)]
pub struct DveFamily<'a> {
    /// The name of a member's number.
    pub index: SourceName<'a>,
    /// How many members there are.
    pub size: DveExpr<'a>,
}

/// One name of a `channel` declaration.
#[derive(Debug)]
pub struct DveChannel<'a> {
    /// What it is called.
    pub name: SourceName<'a>,
    /// Present if it is a family.
    pub family: Option<DveFamily<'a>>,
    /// The types of a message's fields, if they are declared.
    pub fields: Option<Vec<DveIntType>>,
    /// The number of messages it holds, if declared.
    pub capacity: Option<DveExpr<'a>>,
}

/// A process or a family of processes.
#[derive(Debug)]
pub struct DveProcess<'a> {
    /// What it is called.
    pub name: SourceName<'a>,
    /// Present if it is a family.
    pub family: Option<DveFamily<'a>>,
    /// Its constants and variables.
    pub variables: Vec<DveVariable<'a>>,
    /// Its states.
    pub states: Vec<SourceName<'a>>,
    /// Its initial state.
    pub init: Option<SourceName<'a>>,
    /// Committed states.
    pub commits: Vec<SourceName<'a>>,
    /// Accepting states.
    pub accepts: Vec<SourceName<'a>>,
    /// What holds in which state.
    pub asserts: Vec<(SourceName<'a>, DveExpr<'a>)>,
    /// Its steps.
    pub transitions: Vec<DveTransition<'a>>,
}

/// `p -> q { guard e; sync c!e; effect x = e; }`
#[derive(Debug)]
pub struct DveTransition<'a> {
    /// Where it starts; if the source leaves it out, that of the transition before.
    pub from: SourceName<'a>,
    /// Where it goes.
    pub to: SourceName<'a>,
    /// When it may be taken.
    pub guard: Option<DveExpr<'a>>,
    /// What it sends or receives.
    pub sync: Option<DveSync<'a>>,
    /// What it assigns, in order.
    pub effects: Vec<DveEffect<'a>>,
    /// From its first to its last character.
    pub span: Span,
}

/// The use of a channel, or of a member of a family of channels.
#[derive(Debug)]
pub struct DveChannelUse<'a> {
    /// The channel or family.
    pub name: SourceName<'a>,
    /// Which member.
    pub member: Option<Box<DveExpr<'a>>>,
}

/// `c!e` or `c?x`
#[derive(Debug)]
pub struct DveSync<'a> {
    /// The channel.
    pub channel: DveChannelUse<'a>,
    /// Whether it sends.
    pub sends: bool,
    /// The values sent, or the places that receive.
    pub values: Vec<DveExpr<'a>>,
    /// From its first to its last character.
    pub span: Span,
}

/// `x = e`
#[derive(Debug)]
pub struct DveEffect<'a> {
    /// What is assigned.
    pub target: DveExpr<'a>,
    /// The new value.
    pub value: DveExpr<'a>,
}

/// An expression.
#[derive(Debug)]
pub struct DveExpr<'a> {
    /// What it says.
    pub kind: DveExprKind<'a>,
    /// Where it stands.
    pub span: Span,
    /// How many operators and brackets are inside one another, at most.
    pub height: u32,
}

/// What an expression says.
#[derive(Debug)]
pub enum DveExprKind<'a> {
    /// A number, `true` or `false`.
    Number(i64),
    /// A variable or constant, and the index if it is an array.
    Value(DveReference<'a>),
    /// `P->x`: another process's variable.
    Foreign(DveProcessUse<'a>, DveReference<'a>),
    /// `P.q`: whether a process is in a state.
    In(DveProcessUse<'a>, SourceName<'a>),
    /// `full(c)` and `empty(c)`.
    Query(DveChannelQuery, DveChannelUse<'a>),
    /// `-e`, `~e`, `not e`.
    Unary(UnaryOp, Box<DveExpr<'a>>),
    /// `e op e` for an operator that does not associate.
    Binary(BinaryOp, Box<(DveExpr<'a>, DveExpr<'a>)>),
    /// `e op e op ... op e` for an operator that does, with the greatest height of an operand.
    Chain(BinaryOp, Vec<DveExpr<'a>>, u32),
}

/// What can be asked of a buffered channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DveChannelQuery {
    /// Whether it can hold no more.
    Full,
    /// Whether it holds nothing.
    Empty,
}

/// `x` or `a[e]`
#[derive(Debug)]
pub struct DveReference<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// The index.
    pub index: Option<Box<DveExpr<'a>>>,
}

/// A process, or a member of a family of processes.
#[derive(Debug)]
pub struct DveProcessUse<'a> {
    /// The process or family.
    pub name: SourceName<'a>,
    /// Which member.
    pub member: Option<Box<DveExpr<'a>>>,
}

impl<'a> DveExpr<'a> {
    /// `operator operand`, where the operator stands at `span`.
    pub fn unary(operator: UnaryOp, span: Span, operand: DveExpr<'a>) -> Self {
        Self {
            span: span.to(operand.span),
            height: operand.height + 1,
            kind: DveExprKind::Unary(operator, Box::new(operand)),
        }
    }

    /// `left operator right`
    pub fn binary(operator: BinaryOp, left: DveExpr<'a>, right: DveExpr<'a>) -> Self {
        let span = left.span.to(right.span);
        if !is_associative(operator) {
            let height = left.height.max(right.height) + 1;
            let kind = DveExprKind::Binary(operator, Box::new((left, right)));
            return Self { kind, span, height };
        }
        let (mut operands, deepest) = match left.kind {
            DveExprKind::Chain(same, operands, deepest) if same == operator => (operands, deepest),
            _ => {
                let deepest = left.height;
                (vec![left], deepest)
            }
        };
        let deepest = deepest.max(right.height);
        operands.push(right);
        let height = deepest + operands.len().next_power_of_two().trailing_zeros();
        Self { kind: DveExprKind::Chain(operator, operands, deepest), span, height }
    }
}

/// Whether `(a op b) op c` and `a op (b op c)` are the same, in wrapping arithmetic, in what they
/// evaluate and in which order.
fn is_associative(operator: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(operator, And | Or | Add | Multiply | BitAnd | BitOr | BitXor)
}
