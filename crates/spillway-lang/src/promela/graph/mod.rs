//! Control graphs: from statements to locations and transitions, with SPIN's counts.
//!
//! SPIN creates a *node* for every statement and links each node to its successor. [`build`] does the same. It marks
//! the nodes in `atomic` and `d_step` sequences, and records the escapes (`unless`) of each node. [`successors`]
//! determines the successors of each node; it skips jumps where SPIN does. [`locations`] assigns each location its
//! transitions: a choice has the first transitions of its options, and a node with escapes has their transitions before
//! its own. The result contains the locations that are reachable from the first node.
//!
//! The number of states depends on which jumps are separate steps. So this follows SPIN exactly, as with `-o1 -o2 -o3`
//! (without statement merging and other optimizations).

mod build;
mod locations;
mod successors;

use super::ast::{PromelaLabel, PromelaProcess, PromelaStmt, PromelaStmtKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{Arena, TurnRule};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

spillway_ir::entity::entity! {
    /// Identifies a [`GraphNode`].
    NodeId,
    /// Identifies a [`NodeSequence`].
    SequenceId,
}

/// The kinds of nodes.
#[derive(Clone, Debug)]
enum GraphNodeKind<'a> {
    /// A basic statement.
    Basic(&'a PromelaStmt),
    /// A label without a statement.
    Skip,
    /// A jump to a label.
    Goto(&'a PromelaLabel),
    /// A jump out of a loop.
    Break(usize),
    /// The join after the options of a choice, or after the parts of an `unless`.
    Meet,
    /// The end of a loop.
    LoopEnd,
    /// A choice, with its options.
    Choice(Vec<SequenceId>),
    /// Statements and their escape.
    Unless(SequenceId, SequenceId),
    /// An atomic sequence.
    Atomic(SequenceId),
    /// A `d_step`.
    DStep(SequenceId),
    /// A block, or an atomic sequence inside another.
    Block(SequenceId),
    /// The end of the process.
    Stop,
}

#[derive(Clone, Debug)]
struct GraphNode<'a> {
    work: GraphNodeKind<'a>,
    span: Span,
    next: Option<NodeId>,
    /// The escape sequences, the last attached first.
    escapes: Vec<SequenceId>,
    /// Whether it is inside an atomic sequence and not its last node.
    atomic: bool,
    /// Whether it is the last node of an atomic sequence.
    atomic_last: bool,
    /// Whether it is inside a `d_step`.
    in_d_step: bool,
    /// The node of that `d_step`.
    d_step: Option<NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct NodeSequence {
    first: NodeId,
    last: NodeId,
    /// The last node that the user wrote.
    extent: NodeId,
}

/// The kinds of labels at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelMarks {
    /// `end...`: a valid end state.
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

/// A control location of a process.
#[derive(Clone, Debug)]
pub struct ControlLocation {
    /// The kinds of its labels.
    pub marks: LabelMarks,
    /// Its labels.
    pub labels: Vec<Rc<str>>,
    /// The span in the source.
    pub span: Span,
    /// The number of its node in the process.
    pub node: usize,
}

/// A transition between two locations.
#[derive(Clone, Debug)]
pub struct ControlTransition<'a> {
    /// The index of the source location.
    pub from: usize,
    /// The index of the target location; `None` if the process ends.
    pub to: Option<usize>,
    /// The action.
    pub act: ControlAction<'a>,
    /// The turn rule for the next step.
    pub turn: TurnRule,
    /// The priority tier among escapes, 0 for no escape.
    pub tier: u32,
    /// The span in the source.
    pub span: Span,
    /// The number of its node in the process.
    pub node: usize,
    /// Whether it is inside a `d_step`, after its first statement.
    pub inside_d_step: bool,
}

/// The kinds of actions of a transition.
#[derive(Clone, Debug)]
pub enum ControlAction<'a> {
    /// Executes a statement.
    Do(&'a PromelaStmt),
    /// Executes a send whose message is lost.
    Lose(&'a PromelaStmt),
    /// Has no effect.
    Skip,
    /// Has no effect, and is enabled if nothing else is (`else`).
    Otherwise,
    /// Enters a `d_step` that begins with a choice of these actions.
    Enter(Vec<ControlAction<'a>>),
    /// Ends the process.
    End,
}

/// The control graph of a process.
#[derive(Clone, Debug)]
pub struct ControlGraph<'a> {
    /// The locations, in the order of the statements.
    pub locations: Vec<ControlLocation>,
    /// The index of the initial location.
    pub start: usize,
    /// The transitions; those of one location are in the order in which SPIN tries them.
    pub transitions: Vec<ControlTransition<'a>>,
    /// The number of nodes the process has.
    pub nodes: usize,
    /// All labels, including those without a location.
    pub labels: Vec<Rc<str>>,
}

/// Builds the control graph of a process. `remote` lists the labels to which other processes refer.
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
    /// Adds to each send a transition that loses its message, for channels that lose messages when full (SPIN's option
    /// `-m`).
    pub fn with_losses(mut self) -> Self {
        self.transitions =
            self.transitions.into_iter().flat_map(ControlTransition::with_loss).collect();
        self
    }
}

impl<'a> ControlTransition<'a> {
    /// Returns the transition, and the loss of its message if it sends.
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
    /// Returns the action that loses the message, if this is a send.
    fn loss(&self) -> Option<ControlAction<'a>> {
        match *self {
            ControlAction::Do(stmt) if matches!(stmt.kind, PromelaStmtKind::Send { .. }) => {
                Some(ControlAction::Lose(stmt))
            }
            _ => None,
        }
    }
}

/// A label and its node.
#[derive(Clone, Debug)]
struct NodeLabel {
    name: Rc<str>,
    expansion: u32,
    node: NodeId,
}

/// A successor of a node.
#[derive(Clone, Debug)]
struct NodeSuccessor {
    /// The node that is executed.
    node: NodeId,
    /// The next node.
    to: Option<NodeId>,
    /// Whether the next node is in the same atomic sequence.
    atomic: bool,
    /// The first nodes of the escapes.
    escapes: Vec<NodeId>,
    /// The first node of the escape to which it belongs, if any.
    tier: Option<NodeId>,
}

#[derive(Debug, Default)]
struct ControlGraphBuilder<'a> {
    nodes: Arena<NodeId, GraphNode<'a>>,
    sequences: Arena<SequenceId, NodeSequence>,
    labels: Vec<NodeLabel>,
    /// The `d_step`s to which jumps may lead.
    entered: HashSet<NodeId>,
    /// The nesting depth of the `d_step`s under construction.
    open_d_steps: u32,
    /// The loops under construction, innermost last.
    open_loops: Vec<usize>,
    /// The end of each loop, once built.
    loop_ends: Vec<Option<NodeId>>,
    /// The first nodes of the options of each choice.
    options: HashMap<NodeId, Vec<NodeId>>,
    /// The successor of each node that is not a choice.
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

    /// Returns the node of a label, preferably of one in the same expansion of an `inline`.
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

    /// Returns the target if the node is a jump.
    fn jump(&self, node: NodeId) -> Result<Option<NodeId>, Diagnostic> {
        match &self.nodes[node].work {
            GraphNodeKind::Goto(label) => self.find_label(label).map(Some),
            GraphNodeKind::Break(number) => Ok(self.loop_ends[*number]),
            _ => Ok(None),
        }
    }
}

/// Returns whether a statement only waits for a condition that is always true.
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
