//! The syntax tree: a model as written, before names have meanings.
//!
//! Names borrow from the source. Expressions know their *height*, so that whoever walks them may
//! recurse: the parser refuses what is higher than [`MAX_HEIGHT`]. Runs of one associative operator
//! (`a && b && c ...`), which generated models write by the thousand, are one [`ExprKind::Chain`]
//! and count as a balanced tree, which is how they are lowered.

pub use crate::front::token::Name;

use crate::ir::{Binary, Unary};
use crate::source::Span;

/// The greatest height of an expression, and the deepest nesting of brackets.
pub const MAX_HEIGHT: u32 = 250;

/// A whole file.
#[derive(Debug, Default)]
pub struct Model<'a> {
    /// Global constants, variables and channels, in order.
    pub declarations: Vec<Declaration<'a>>,
    /// Processes, in order.
    pub processes: Vec<Process<'a>>,
    /// The last line.
    pub system: System<'a>,
}

impl Model<'_> {
    /// Whether a global declaration or a process is called so.
    pub fn has_name(&self, name: &str) -> bool {
        let declared = self.declarations.iter().any(|it| match it {
            Declaration::Variable(variable) => variable.name.text == name,
            Declaration::Channel(channel) => channel.name.text == name,
        });
        declared || self.processes.iter().any(|it| it.name.text == name)
    }
}

/// `system async property P;`
#[derive(Debug, Default)]
pub struct System<'a> {
    /// `sync` instead of `async`.
    pub lockstep: bool,
    /// The property process.
    pub property: Option<Name<'a>>,
}

/// A global declaration.
#[derive(Debug)]
pub enum Declaration<'a> {
    /// A constant or variable.
    Variable(Variable<'a>),
    /// A channel or a family of channels.
    Channel(Channel<'a>),
}

/// The two types of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basic {
    /// 0 to 255.
    Byte,
    /// -32768 to 32767.
    Int,
}

/// One name of `const byte N = 3, M = 4;` or `int x, a[5] = {1};`.
#[derive(Debug)]
pub struct Variable<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Whether it never changes.
    pub constant: bool,
    /// The type of it, or of its elements.
    pub basic: Basic,
    /// The number of elements of an array.
    pub size: Option<Expr<'a>>,
    /// What stands after `=`.
    pub initial: Option<Initial<'a>>,
}

/// What stands after `=` in a declaration.
#[derive(Debug)]
pub enum Initial<'a> {
    /// One value.
    Value(Expr<'a>),
    /// `{e, e}`, with the span of the braces.
    List(Vec<Expr<'a>>, Span),
}

/// `[i < N]` after the name of a process or channel: N members, numbered from 0.
#[derive(Debug)]
pub struct Family<'a> {
    /// The name of a member's number.
    pub index: Name<'a>,
    /// How many members there are.
    pub size: Expr<'a>,
}

/// One name of a `channel` declaration.
#[derive(Debug)]
pub struct Channel<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Present if it is a family.
    pub family: Option<Family<'a>>,
    /// The types of a message's fields, if they are declared.
    pub fields: Option<Vec<Basic>>,
    /// The number of messages it holds, if declared.
    pub capacity: Option<Expr<'a>>,
}

/// A process or a family of processes.
#[derive(Debug)]
pub struct Process<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Present if it is a family.
    pub family: Option<Family<'a>>,
    /// Its constants and variables.
    pub variables: Vec<Variable<'a>>,
    /// Its states.
    pub states: Vec<Name<'a>>,
    /// Its initial state.
    pub init: Option<Name<'a>>,
    /// Committed states.
    pub commits: Vec<Name<'a>>,
    /// Accepting states.
    pub accepts: Vec<Name<'a>>,
    /// What holds in which state.
    pub asserts: Vec<(Name<'a>, Expr<'a>)>,
    /// Its steps.
    pub transitions: Vec<Transition<'a>>,
}

/// `p -> q { guard e; sync c!e; effect x = e; }`
#[derive(Debug)]
pub struct Transition<'a> {
    /// Where it starts; if the source leaves it out, that of the transition before.
    pub from: Name<'a>,
    /// Where it goes.
    pub to: Name<'a>,
    /// When it may be taken.
    pub guard: Option<Expr<'a>>,
    /// What it sends or receives.
    pub sync: Option<Sync<'a>>,
    /// What it assigns, in order.
    pub effects: Vec<Effect<'a>>,
    /// From its first to its last character.
    pub span: Span,
}

/// The use of a channel, or of a member of a family of channels.
#[derive(Debug)]
pub struct ChannelUse<'a> {
    /// The channel or family.
    pub name: Name<'a>,
    /// Which member.
    pub member: Option<Box<Expr<'a>>>,
}

/// `c!e` or `c?x`
#[derive(Debug)]
pub struct Sync<'a> {
    /// The channel.
    pub channel: ChannelUse<'a>,
    /// Whether it sends.
    pub sends: bool,
    /// The values sent, or the places that receive.
    pub values: Vec<Expr<'a>>,
    /// From its first to its last character.
    pub span: Span,
}

/// `x = e`
#[derive(Debug)]
pub struct Effect<'a> {
    /// What is assigned.
    pub target: Expr<'a>,
    /// The new value.
    pub value: Expr<'a>,
}

/// An expression.
#[derive(Debug)]
pub struct Expr<'a> {
    /// What it says.
    pub kind: ExprKind<'a>,
    /// Where it stands.
    pub span: Span,
    /// How many operators and brackets are inside one another, at most.
    pub height: u32,
}

/// What an expression says.
#[derive(Debug)]
pub enum ExprKind<'a> {
    /// A number, `true` or `false`.
    Number(i64),
    /// A variable or constant, and the index if it is an array.
    Value(Reference<'a>),
    /// `P->x`: another process's variable.
    Foreign(ProcessUse<'a>, Reference<'a>),
    /// `P.q`: whether a process is in a state.
    In(ProcessUse<'a>, Name<'a>),
    /// `full(c)` and `empty(c)`.
    Query(Query, ChannelUse<'a>),
    /// `-e`, `~e`, `not e`.
    Unary(Unary, Box<Expr<'a>>),
    /// `e op e` for an operator that does not associate.
    Binary(Binary, Box<(Expr<'a>, Expr<'a>)>),
    /// `e op e op ... op e` for an operator that does, with the greatest height of an operand.
    Chain(Binary, Vec<Expr<'a>>, u32),
}

/// What can be asked of a buffered channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Whether it can hold no more.
    Full,
    /// Whether it holds nothing.
    Empty,
}

/// `x` or `a[e]`
#[derive(Debug)]
pub struct Reference<'a> {
    /// The name.
    pub name: Name<'a>,
    /// The index.
    pub index: Option<Box<Expr<'a>>>,
}

/// A process, or a member of a family of processes.
#[derive(Debug)]
pub struct ProcessUse<'a> {
    /// The process or family.
    pub name: Name<'a>,
    /// Which member.
    pub member: Option<Box<Expr<'a>>>,
}

impl<'a> Expr<'a> {
    /// `operator operand`, where the operator stands at `span`.
    pub fn unary(operator: Unary, span: Span, operand: Expr<'a>) -> Self {
        Self {
            span: span.to(operand.span),
            height: operand.height + 1,
            kind: ExprKind::Unary(operator, Box::new(operand)),
        }
    }

    /// `left operator right`
    pub fn binary(operator: Binary, left: Expr<'a>, right: Expr<'a>) -> Self {
        let span = left.span.to(right.span);
        if !is_associative(operator) {
            let height = left.height.max(right.height) + 1;
            let kind = ExprKind::Binary(operator, Box::new((left, right)));
            return Self { kind, span, height };
        }
        let (mut operands, deepest) = match left.kind {
            ExprKind::Chain(same, operands, deepest) if same == operator => (operands, deepest),
            _ => {
                let deepest = left.height;
                (vec![left], deepest)
            }
        };
        let deepest = deepest.max(right.height);
        operands.push(right);
        let height = deepest + operands.len().next_power_of_two().trailing_zeros();
        Self { kind: ExprKind::Chain(operator, operands, deepest), span, height }
    }
}

/// Whether `(a op b) op c` and `a op (b op c)` are the same, in wrapping arithmetic, in what they
/// evaluate and in which order.
fn is_associative(operator: Binary) -> bool {
    use Binary::*;
    matches!(operator, And | Or | Add | Multiply | BitAnd | BitOr | BitXor)
}
