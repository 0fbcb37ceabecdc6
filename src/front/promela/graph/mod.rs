//! From statements to locations and the moves between them, as SPIN counts them.
//!
//! SPIN makes a *node* of every statement and links each to the one after it. [`build`] does that,
//! and marks what lies in `atomic` and `d_step` sequences and which escapes (`unless`) a node has.
//! [`successors`] finds where each node leads, passing over jumps where SPIN passes over them, and
//! [`locations`] gives each location its moves: a choice has the first moves of its options, and a node
//! with escapes has the moves of these before its own. What is left is reached from the first node.
//!
//! Which jumps are steps of their own and which are not decides how many states a model has, so
//! this follows SPIN (with `-o1 -o2 -o3`: nothing merged, nothing optimised) to the letter.

mod build;
mod locations;
mod successors;

use super::ast::{PromelaLabel, PromelaProcess, PromelaStmt, PromelaStmtKind};
use crate::diag::Diagnostic;
use crate::ir::{Arena, TurnRule};
use crate::source::Span;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

crate::ir::entity::entity! {
    /// Names a [`GraphNode`].
    NodeId,
    /// Names a [`NodeSequence`].
    SequenceId,
}

/// What a node is.
#[derive(Clone, Debug)]
enum GraphNodeKind<'a> {
    /// A statement that does one thing.
    Basic(&'a PromelaStmt),
    /// A label without a statement.
    Skip,
    /// To a label.
    Goto(&'a PromelaLabel),
    /// Out of a loop.
    Break(usize),
    /// Where the options of a choice, or the parts of an `unless`, meet.
    Meet,
    /// The end of a loop.
    LoopEnd,
    /// A choice, with its options.
    Choice(Vec<SequenceId>),
    /// Statements and their escape.
    Unless(SequenceId, SequenceId),
    /// An atomic sequence.
    Atomic(SequenceId),
    /// A deterministic step.
    DStep(SequenceId),
    /// A block; also an atomic sequence inside another.
    Block(SequenceId),
    /// The end of the process.
    Stop,
}

#[derive(Clone, Debug)]
struct GraphNode<'a> {
    work: GraphNodeKind<'a>,
    span: Span,
    next: Option<NodeId>,
    /// The sequences that take over when they can begin, the last attached first.
    escapes: Vec<SequenceId>,
    /// Inside an atomic sequence, and not the last of it.
    atomic: bool,
    /// The last of an atomic sequence.
    atomic_last: bool,
    /// Inside a `d_step`.
    in_d_step: bool,
    /// Which that is.
    d_step: Option<NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct NodeSequence {
    first: NodeId,
    last: NodeId,
    /// The last that the user wrote.
    extent: NodeId,
}

/// A node's labels of one kind or another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelMarks {
    /// `end...`: the process may stay here.
    pub end: bool,
    /// `progress...`.
    pub progress: bool,
    /// `accept...`.
    pub accepting: bool,
}

impl LabelMarks {
    fn add(&mut self, other: LabelMarks) {
        self.end |= other.end;
        self.progress |= other.progress;
        self.accepting |= other.accepting;
    }
}

/// A place of the process's control.
#[derive(Clone, Debug)]
pub struct ControlLocation {
    /// Its labels' kinds.
    pub marks: LabelMarks,
    /// Its labels.
    pub labels: Vec<Rc<str>>,
    /// Where it stands.
    pub span: Span,
    /// The number of its node in the process.
    pub node: usize,
}

/// A move from one place to another.
#[derive(Clone, Debug)]
pub struct ControlTransition<'a> {
    /// From where, as an index of places.
    pub from: usize,
    /// To where; nowhere if the process ends.
    pub to: Option<usize>,
    /// What it does.
    pub act: ControlAction<'a>,
    /// What comes after.
    pub turn: TurnRule,
    /// The tier of escapes, 0 for none.
    pub tier: u32,
    /// Where it stands.
    pub span: Span,
    /// The number of its node in the process.
    pub node: usize,
    /// Whether it is a later part of a `d_step`.
    pub inside_d_step: bool,
}

/// What a move does.
#[derive(Clone, Debug)]
pub enum ControlAction<'a> {
    /// A statement.
    Do(&'a PromelaStmt),
    /// A statement that sends, whose message is lost.
    Lose(&'a PromelaStmt),
    /// Nothing.
    Skip,
    /// Nothing, if nothing else can be done.
    Otherwise,
    /// Enters a `d_step` that begins with a choice of these.
    Enter(Vec<ControlAction<'a>>),
    /// Ends the process.
    End,
}

/// A process as places and moves.
#[derive(Clone, Debug)]
pub struct ControlGraph<'a> {
    /// The places, the first statements' first.
    pub locations: Vec<ControlLocation>,
    /// Where an instance starts.
    pub start: usize,
    /// The moves; those of one place in the order in which SPIN tries them.
    pub transitions: Vec<ControlTransition<'a>>,
    /// The number of nodes the process has.
    pub nodes: usize,
    /// All its labels, those at no place too.
    pub labels: Vec<Rc<str>>,
}

/// The control of a process. `remote` has the labels that others ask about.
pub fn control_graph<'a>(
    process: &'a PromelaProcess,
    remote: &[&str],
) -> Result<ControlGraph<'a>, Diagnostic> {
    let mut graph = ControlGraphBuilder::default();
    let body = graph.body(process)?;
    graph.keep_labels(remote);
    graph.find_successors(body)?;
    graph.assemble(body)
}

impl ControlGraph<'_> {
    /// The same where messages to full channels are lost (SPIN's option `-m`): beside each send there is one whose message is.
    pub fn with_losses(mut self) -> Self {
        self.transitions =
            self.transitions.into_iter().flat_map(ControlTransition::with_loss).collect();
        self
    }
}

impl<'a> ControlTransition<'a> {
    /// It, and the loss of what it sends.
    fn with_loss(mut self) -> impl Iterator<Item = ControlTransition<'a>> {
        if let ControlAction::Enter(options) = &mut self.act {
            let losses: Vec<ControlAction<'a>> =
                options.iter().filter_map(ControlAction::loss).collect();
            options.extend(losses);
        }
        let loss = self.act.loss().map(|act| ControlTransition { act, ..self.clone() });
        std::iter::once(self).chain(loss)
    }
}

impl<'a> ControlAction<'a> {
    /// The loss of what it sends, if it does.
    fn loss(&self) -> Option<ControlAction<'a>> {
        match *self {
            ControlAction::Do(stmt) if matches!(stmt.kind, PromelaStmtKind::Send { .. }) => {
                Some(ControlAction::Lose(stmt))
            }
            _ => None,
        }
    }
}

/// A label and the node it stands at.
#[derive(Clone, Debug)]
struct NodeLabel {
    name: Rc<str>,
    expansion: u32,
    node: NodeId,
}

/// A way out of a node.
#[derive(Clone, Debug)]
struct NodeSuccessor {
    /// The node whose work it is.
    node: NodeId,
    /// Where it goes.
    to: Option<NodeId>,
    /// Whether what comes after belongs to the same atomic sequence.
    atomic: bool,
    /// Where the escapes of the node begin.
    escapes: Vec<NodeId>,
    /// The escape it is, if it is one.
    tier: Option<NodeId>,
}

#[derive(Debug, Default)]
struct ControlGraphBuilder<'a> {
    nodes: Arena<NodeId, GraphNode<'a>>,
    sequences: Arena<SequenceId, NodeSequence>,
    labels: Vec<NodeLabel>,
    /// The `d_step`s that jumps may lead to.
    entered: HashSet<NodeId>,
    /// How many `d_step`s are being built, each within the one before.
    open_d_steps: u32,
    /// The loops being built, innermost last.
    open_loops: Vec<usize>,
    /// The end of each loop, once it is built.
    loop_ends: Vec<Option<NodeId>>,
    /// Where the options of a choice begin.
    options: HashMap<NodeId, Vec<NodeId>>,
    /// Where a single step leads.
    leads: HashMap<NodeId, NodeSuccessor>,
    marks: HashMap<NodeId, LabelMarks>,
}

impl<'a> ControlGraphBuilder<'a> {
    fn node(&mut self, work: GraphNodeKind<'a>, span: Span) -> NodeId {
        self.nodes.push(GraphNode {
            work,
            span,
            next: None,
            escapes: Vec::new(),
            atomic: false,
            atomic_last: false,
            in_d_step: false,
            d_step: None,
        })
    }

    fn labels_of(&self, node: NodeId) -> impl Iterator<Item = &NodeLabel> {
        self.labels.iter().filter(move |label| label.node == node)
    }

    /// The node of a label: that of the same expansion of an `inline` if there is one.
    fn find_label(&self, label: &PromelaLabel) -> Result<NodeId, Diagnostic> {
        let named = || self.labels.iter().filter(|it| it.name == label.name.text);
        named()
            .find(|it| it.expansion == label.expansion)
            .or_else(|| named().next_back())
            .map(|it| it.node)
            .ok_or_else(|| {
                let message = format!("there is no label {} in this process", label.name.text);
                Diagnostic::error(label.name.span, message)
            })
    }

    /// Where a jump goes, if the node is one.
    fn jump(&self, node: NodeId) -> Result<Option<NodeId>, Diagnostic> {
        match &self.nodes[node].work {
            GraphNodeKind::Goto(label) => self.find_label(label).map(Some),
            GraphNodeKind::Break(number) => Ok(self.loop_ends[*number]),
            _ => Ok(None),
        }
    }
}

/// Whether a statement only waits for something that is always true.
fn is_skip(stmt: &PromelaStmt) -> bool {
    match &stmt.kind {
        PromelaStmtKind::Condition(expr) => is_one(expr),
        PromelaStmtKind::Print(..) => true,
        _ => false,
    }
}

fn is_one(expr: &super::ast::PromelaExpr) -> bool {
    matches!(expr.kind, super::ast::PromelaExprKind::Number(1))
}
