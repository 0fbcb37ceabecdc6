//! The syntax tree: a model as written, before names are resolved.
//!
//! Names borrow from the source. Each expression stores its *height*, so that code which walks it may recurse: the
//! parser rejects expressions higher than [`MAX_HEIGHT`]. Generated models contain chains of thousands of operands of
//! one associative operator (`a && b && c ...`). Such a chain is one [`DveExprKind::Chain`]. It counts as a balanced
//! tree, and is lowered as one.

pub use crate::token::SourceName;

use crate::{DeclaredName, DeclaredNameKind};
use spillway_base::source::Span;
use spillway_ir::{BinaryOp, UnaryOp};

/// The maximum height of an expression, and the maximum nesting of brackets.
pub const MAX_HEIGHT: u32 = 250;

/// A whole file.
#[derive(Debug, Default)]
pub struct DveModel<'a> {
    /// Global constants, variables and channels, in order.
    pub declarations: Vec<DveDeclaration<'a>>,
    /// Processes, in order.
    pub processes: Vec<DveProcess<'a>>,
    /// The `system` line.
    pub system: DveSystem<'a>,
}

impl DveModel<'_> {
    /// Returns whether a global declaration or a process has this name.
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

impl DveModel<'_> {
    /// Returns the names of the constants.
    pub(super) fn constants(&self) -> Vec<DeclaredName> {
        let global = self.declarations.iter().filter_map(|it| match it {
            DveDeclaration::Variable(variable) => Some(variable),
            DveDeclaration::Channel(_) => None,
        });
        let local = self.processes.iter().flat_map(|it| &it.variables);
        let constants = global.chain(local).filter(|it| it.constant).map(|it| &it.name);
        let named =
            |it: &SourceName<'_>| DeclaredName::new(it.text, DeclaredNameKind::Constant, it.span);
        constants.map(named).collect()
    }
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

/// One variable of `const byte N = 3, M = 4;` or `int x, a[5] = {1};`.
#[derive(Debug)]
pub struct DveVariable<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// Whether it is a constant.
    pub constant: bool,
    /// The type of the variable, or of the array's elements.
    pub basic: DveIntType,
    /// The number of elements, if it is an array.
    pub size: Option<DveExpr<'a>>,
    /// The initializer after `=`.
    pub initial: Option<DveInitializer<'a>>,
}

/// An initializer after `=` in a declaration.
#[derive(Debug)]
pub enum DveInitializer<'a> {
    /// One value.
    Value(DveExpr<'a>),
    /// `{e, e}`, with the span of the braces.
    List(Vec<DveExpr<'a>>, Span),
}

/// `[i < N]` after the name of a process or channel: a family of N members, numbered from 0.
#[derive(Debug)]
pub struct DveFamily<'a> {
    /// The name of the constant that holds a member's number.
    pub index: SourceName<'a>,
    /// The number of members.
    pub size: DveExpr<'a>,
}

/// One channel of a `channel` declaration.
#[derive(Debug)]
pub struct DveChannel<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// The family, if the declaration is of a family.
    pub family: Option<DveFamily<'a>>,
    /// The types of a message's fields, if they are declared.
    pub fields: Option<Vec<DveIntType>>,
    /// The number of messages that the channel holds, if declared.
    pub capacity: Option<DveExpr<'a>>,
}

/// A process or a family of processes.
#[derive(Debug)]
pub struct DveProcess<'a> {
    /// The name.
    pub name: SourceName<'a>,
    /// The family, if the declaration is of a family.
    pub family: Option<DveFamily<'a>>,
    /// The local constants and variables.
    pub variables: Vec<DveVariable<'a>>,
    /// The states.
    pub states: Vec<SourceName<'a>>,
    /// The initial state.
    pub init: Option<SourceName<'a>>,
    /// The committed states.
    pub commits: Vec<SourceName<'a>>,
    /// The accepting states.
    pub accepts: Vec<SourceName<'a>>,
    /// The assertions, each with its state.
    pub asserts: Vec<(SourceName<'a>, DveExpr<'a>)>,
    /// The transitions.
    pub transitions: Vec<DveTransition<'a>>,
}

/// `p -> q { guard e; sync c!e; effect x = e; }`
#[derive(Debug)]
pub struct DveTransition<'a> {
    /// The source state; if omitted in the text, that of the transition before.
    pub from: SourceName<'a>,
    /// The target state.
    pub to: SourceName<'a>,
    /// The guard.
    pub guard: Option<DveExpr<'a>>,
    /// The synchronization: a send or a receive.
    pub sync: Option<DveSync<'a>>,
    /// The assignments, in order.
    pub effects: Vec<DveEffect<'a>>,
    /// The span of the whole transition.
    pub span: Span,
}

/// The use of a channel, or of a member of a family of channels.
#[derive(Debug)]
pub struct DveChannelUse<'a> {
    /// The channel or family.
    pub name: SourceName<'a>,
    /// The number of the member.
    pub member: Option<Box<DveExpr<'a>>>,
}

/// `c!e` or `c?x`
#[derive(Debug)]
pub struct DveSync<'a> {
    /// The channel.
    pub channel: DveChannelUse<'a>,
    /// Whether it is a send.
    pub sends: bool,
    /// The values sent, or the variables that receive.
    pub values: Vec<DveExpr<'a>>,
    /// The span of the whole synchronization.
    pub span: Span,
}

/// `x = e`
#[derive(Debug)]
pub struct DveEffect<'a> {
    /// The assigned variable.
    pub target: DveExpr<'a>,
    /// The new value.
    pub value: DveExpr<'a>,
}

/// An expression.
#[derive(Debug)]
pub struct DveExpr<'a> {
    /// The kind of expression.
    pub kind: DveExprKind<'a>,
    /// The span in the source.
    pub span: Span,
    /// The maximum nesting of operators and brackets.
    pub height: u32,
}

/// The kinds of expressions.
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
    /// `e op e` for an operator that is not associative.
    Binary(BinaryOp, Box<(DveExpr<'a>, DveExpr<'a>)>),
    /// `e op e op ... op e` for an associative operator, with the greatest height of an operand.
    Chain(BinaryOp, Vec<DveExpr<'a>>, u32),
}

/// A predicate on a buffered channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DveChannelQuery {
    /// Whether the channel is full.
    Full,
    /// Whether the channel is empty.
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
    /// The number of the member.
    pub member: Option<Box<DveExpr<'a>>>,
}

impl<'a> DveExpr<'a> {
    /// Builds `operator operand`, where the operator is at `span`.
    pub fn unary(operator: UnaryOp, span: Span, operand: DveExpr<'a>) -> Self {
        Self {
            span: span.to(operand.span),
            height: operand.height + 1,
            kind: DveExprKind::Unary(operator, Box::new(operand)),
        }
    }

    /// Builds `left operator right`.
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

/// Returns whether `(a op b) op c` and `a op (b op c)` agree, under wrapping arithmetic, in their value and in what
/// they evaluate in which order.
fn is_associative(operator: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(operator, And | Or | Add | Multiply | BitAnd | BitOr | BitXor)
}
