//! The construction of nodes and sequences from statements.

use super::{
    ControlGraphBuilder, GraphNode, GraphNodeKind, NodeId, NodeLabel, NodeSequence, SequenceId,
    is_skip,
};
use crate::promela::ast::{PromelaLabel, PromelaProcess, PromelaStmt, PromelaStmtKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A statement with parts that have nodes, before it has a node.
enum StatementCore<'a> {
    Basic(&'a PromelaStmt),
    Goto(&'a PromelaLabel),
    Break(usize),
    Choice {
        options: Vec<SequenceId>,
        ends_loop: Option<usize>,
    },
    Unless(SequenceId, SequenceId),
    Atomic(SequenceId),
    /// A `d_step`, and whether jumps may lead to it.
    DStep(SequenceId, bool),
    Block(SequenceId),
}

/// A sequence under construction.
#[derive(Default)]
struct OpenSequence {
    first: Option<NodeId>,
    last: Option<NodeId>,
}

impl<'a> ControlGraphBuilder<'a> {
    /// Builds all nodes of a process.
    pub(super) fn body(&mut self, process: &'a PromelaProcess) -> Result<SequenceId, Diagnostic> {
        let mut open = OpenSequence::default();
        self.statements(&process.body, &mut open)?;
        let stop = self.node(GraphNodeKind::Stop, process.end);
        self.append(stop, &mut open);
        self.check_jumps_in()?;
        self.close(open, process.end)
    }

    fn statements(
        &mut self,
        body: &'a [PromelaStmt],
        open: &mut OpenSequence,
    ) -> Result<(), Diagnostic> {
        for stmt in body {
            let (mut labels, stmt) = unlabelled(stmt);
            let core = self.core(stmt, &mut labels)?;
            self.place(core, &labels, stmt.span, open)?;
        }
        Ok(())
    }

    fn sequence(&mut self, body: &'a [PromelaStmt], span: Span) -> Result<SequenceId, Diagnostic> {
        let mut open = OpenSequence::default();
        self.statements(body, &mut open)?;
        self.close(open, span)
    }

    /// Builds the statements of a `d_step`. No `break` leaves it.
    fn d_step(&mut self, body: &'a [PromelaStmt], span: Span) -> Result<SequenceId, Diagnostic> {
        let is_outermost = self.open_d_steps == 0;
        let around = if is_outermost { std::mem::take(&mut self.open_loops) } else { Vec::new() };
        self.open_d_steps += 1;
        let sequence = self.sequence(body, span)?;
        self.open_d_steps -= 1;
        if is_outermost {
            self.open_loops = around;
        }
        Ok(sequence)
    }

    fn close(&mut self, open: OpenSequence, span: Span) -> Result<SequenceId, Diagnostic> {
        match open {
            OpenSequence { first: Some(first), last: Some(last) } => {
                Ok(self.sequences.push(NodeSequence { first, last, extent: last }))
            }
            _ => Err(Diagnostic::error(span, "a sequence needs at least one statement")
                .help("write `skip` where nothing is to be done")),
        }
    }

    /// Builds the parts of a statement. Labels inside that end up before the whole statement are added to `labels`.
    fn core(
        &mut self,
        stmt: &'a PromelaStmt,
        labels: &mut Vec<&'a PromelaLabel>,
    ) -> Result<StatementCore<'a>, Diagnostic> {
        Ok(match &stmt.kind {
            PromelaStmtKind::Goto(label) => StatementCore::Goto(label),
            PromelaStmtKind::Break => match self.open_loops.last() {
                Some(&innermost) => StatementCore::Break(innermost),
                None => return Err(Diagnostic::error(stmt.span, "this break is in no loop")),
            },
            PromelaStmtKind::If(options) => StatementCore::Choice {
                options: self.options(options, stmt.span)?,
                ends_loop: None,
            },
            PromelaStmtKind::Do(options) => {
                let number = self.loop_ends.len();
                self.loop_ends.push(None);
                self.open_loops.push(number);
                let options = self.options(options, stmt.span)?;
                self.open_loops.pop();
                StatementCore::Choice { options, ends_loop: Some(number) }
            }
            PromelaStmtKind::Atomic(body) => {
                let sequence = self.sequence(body, stmt.span)?;
                self.make_atomic(sequence, false);
                StatementCore::Atomic(sequence)
            }
            PromelaStmtKind::DStep(body) => {
                let first = self.nodes.len();
                let sequence = self.d_step(body, stmt.span)?;
                // A `d_step` inside another is a block of it, which jumps may leave.
                if self.open_d_steps == 0 {
                    self.check_jumps_out(first)?;
                }
                self.make_atomic(sequence, true);
                StatementCore::DStep(sequence, holds_d_step(body))
            }
            PromelaStmtKind::Block(body) => StatementCore::Block(self.sequence(body, stmt.span)?),
            PromelaStmtKind::Unless(normal, escape) => self.unless(normal, escape, labels)?,
            _ => StatementCore::Basic(stmt),
        })
    }

    fn options(
        &mut self,
        options: &'a [Vec<PromelaStmt>],
        span: Span,
    ) -> Result<Vec<SequenceId>, Diagnostic> {
        let built: Result<Vec<_>, _> =
            options.iter().map(|option| self.sequence(option, span)).collect();
        let built = built?;
        built.iter().for_each(|&option| self.drop_skips(option));
        Ok(built)
    }

    /// Rejects jumps out of a `d_step`.
    fn check_jumps_out(&self, first: usize) -> Result<(), Diagnostic> {
        use spillway_ir::Entity;
        for node in self.nodes.values().skip(first) {
            let GraphNodeKind::Goto(label) = &node.work else { continue };
            let inside = self.find_label(label).is_ok_and(|target| target.index() >= first);
            if !inside {
                return Err(Diagnostic::error(node.span, "this goto leaves a d_step")
                    .help("a d_step ends only at its closing bracket"));
            }
        }
        Ok(())
    }

    /// Rejects jumps into a `d_step`. A jump to its start counts as one too, as in SPIN, unless the `d_step` contains
    /// another one: then SPIN forgets that it is in the outer one.
    fn check_jumps_in(&self) -> Result<(), Diagnostic> {
        for node in self.nodes.values().filter(|node| !node.in_d_step) {
            let GraphNodeKind::Goto(label) = &node.work else { continue };
            let inside = |target: NodeId| {
                let GraphNode { in_d_step, work, .. } = &self.nodes[target];
                let begins =
                    matches!(work, GraphNodeKind::DStep(_)) && !self.entered.contains(&target);
                *in_d_step || begins
            };
            if self.find_label(label).is_ok_and(inside) {
                return Err(Diagnostic::error(node.span, "this goto leads into a d_step")
                    .help("a d_step begins only at its opening bracket"));
            }
        }
        Ok(())
    }

    /// Removes all but the first of consecutive unlabelled skips in an option, as SPIN does.
    fn drop_skips(&mut self, option: SequenceId) {
        let NodeSequence { first, last, .. } = self.sequences[option];
        let (mut before, mut at, mut skips) = (first, Some(first), 0);
        while let Some(node) = at {
            at = self.nodes[node].next;
            let GraphNodeKind::Basic(stmt) = self.nodes[node].work else {
                (before, skips) = (node, 0);
                continue;
            };
            let unlabelled = self.labels_of(node).next().is_none();
            skips = if is_skip(stmt) && unlabelled { skips + 1 } else { 0 };
            let prints = matches!(stmt.kind, PromelaStmtKind::Print(..));
            if skips > 1 && !prints && node != first && node != last {
                self.nodes[before].next = at;
            } else {
                before = node;
            }
        }
    }

    fn unless(
        &mut self,
        normal: &'a PromelaStmt,
        escape: &'a PromelaStmt,
        before: &mut Vec<&'a PromelaLabel>,
    ) -> Result<StatementCore<'a>, Diagnostic> {
        let (mut labels, inner) = unlabelled(normal);
        let normal_core = self.core(inner, &mut labels)?;
        let (mut escape_labels, escape) = unlabelled(escape);
        let escape_core = self.core(escape, &mut escape_labels)?;
        let escape = self.wrapped(escape_core, &escape_labels, escape.span)?;
        // A label before the brackets is moved to a block around both.
        let (normal, wrap): (_, fn(SequenceId) -> StatementCore<'a>) = match normal_core {
            StatementCore::Block(normal) if !labels.is_empty() => (normal, StatementCore::Block),
            StatementCore::Atomic(normal) if !labels.is_empty() => (normal, StatementCore::Atomic),
            StatementCore::DStep(normal, _) if !labels.is_empty() => {
                (normal, |sequence| StatementCore::DStep(sequence, false))
            }
            other => {
                let normal = self.wrapped(other, &labels, inner.span)?;
                return Ok(StatementCore::Unless(normal, escape));
            }
        };
        before.append(&mut labels);
        let mut open = OpenSequence::default();
        self.place(StatementCore::Unless(normal, escape), &[], inner.span, &mut open)?;
        self.close(open, inner.span).map(wrap)
    }

    /// Builds a sequence of one statement; a block is a sequence already.
    fn wrapped(
        &mut self,
        core: StatementCore<'a>,
        labels: &[&'a PromelaLabel],
        span: Span,
    ) -> Result<SequenceId, Diagnostic> {
        if let (StatementCore::Block(sequence), []) = (&core, labels) {
            return Ok(*sequence);
        }
        let mut open = OpenSequence::default();
        self.place(core, labels, span, &mut open)?;
        self.close(open, span)
    }

    /// Creates the node of a statement and appends it.
    fn place(
        &mut self,
        core: StatementCore<'a>,
        labels: &[&'a PromelaLabel],
        span: Span,
        open: &mut OpenSequence,
    ) -> Result<(), Diagnostic> {
        let work = match core {
            StatementCore::Choice { options, ends_loop } => {
                let node = self.choice(options, ends_loop, span, open)?;
                self.set_labels(labels, node);
                return Ok(());
            }
            StatementCore::Unless(normal, escape) => {
                let node = self.guarded(normal, escape, span, open);
                self.set_labels(labels, node);
                return Ok(());
            }
            StatementCore::Basic(stmt) => GraphNodeKind::Basic(stmt),
            StatementCore::Goto(label) => GraphNodeKind::Goto(label),
            StatementCore::Break(number) => GraphNodeKind::Break(number),
            StatementCore::Atomic(sequence) => GraphNodeKind::Atomic(sequence),
            StatementCore::DStep(sequence, may_enter) => {
                let node = self.node(GraphNodeKind::DStep(sequence), span);
                self.own_d_step(node);
                if may_enter {
                    self.entered.insert(node);
                }
                self.set_labels(labels, node);
                self.append(node, open);
                return Ok(());
            }
            StatementCore::Block(sequence) => GraphNodeKind::Block(sequence),
        };
        let node = self.node(work, span);
        self.set_labels(labels, node);
        self.append(node, open);
        Ok(())
    }

    /// Assigns the nodes inside a new `d_step` to it.
    fn own_d_step(&mut self, d_step: NodeId) {
        for node in self.nodes.keys() {
            let owner = self.nodes[node].d_step;
            let taken =
                owner.is_some_and(|it| matches!(self.nodes[it].work, GraphNodeKind::DStep(_)));
            if self.nodes[node].in_d_step && !taken {
                self.nodes[node].d_step = Some(d_step);
            }
        }
    }

    fn set_labels(&mut self, labels: &[&'a PromelaLabel], node: NodeId) {
        for label in labels.iter().rev() {
            let name = label.name.text.clone();
            self.labels.push(NodeLabel { name, expansion: label.expansion, node });
        }
    }

    fn choice(
        &mut self,
        mut options: Vec<SequenceId>,
        ends_loop: Option<usize>,
        span: Span,
        open: &mut OpenSequence,
    ) -> Result<NodeId, Diagnostic> {
        let node = self.node(GraphNodeKind::Meet, span);
        let meet = self.node(GraphNodeKind::Meet, span);
        let is_else = |graph: &Self, option: SequenceId| {
            let first = graph.sequences[option].first;
            matches!(
                graph.nodes[first].work,
                GraphNodeKind::Basic(PromelaStmt { kind: PromelaStmtKind::Else, .. })
            )
        };
        let (others, elses): (Vec<_>, Vec<_>) =
            options.iter().partition(|&&option| !is_else(self, option));
        if let [_, second, ..] = elses.as_slice() {
            let span = self.nodes[self.sequences[*second].first].span;
            return Err(Diagnostic::error(span, "this is the second else of the choice"));
        }
        options = [others, elses].concat();
        for &option in &options {
            self.extend(option, meet);
        }
        self.nodes[node].work = GraphNodeKind::Choice(options);
        let Some(number) = ends_loop else {
            self.append(node, open);
            self.append(meet, open);
            return Ok(node);
        };
        self.append(meet, open);
        let end = self.node(GraphNodeKind::LoopEnd, span);
        self.loop_ends[number] = Some(end);
        self.append(node, open);
        self.append(end, open);
        Ok(node)
    }

    fn guarded(
        &mut self,
        normal: SequenceId,
        escape: SequenceId,
        span: Span,
        open: &mut OpenSequence,
    ) -> NodeId {
        let node = self.node(GraphNodeKind::Unless(normal, escape), span);
        let meet = self.node(GraphNodeKind::Meet, span);
        self.extend(normal, meet);
        self.extend(escape, meet);
        self.attach(normal, escape);
        self.append(node, open);
        self.append(meet, open);
        node
    }

    /// Appends a node to a sequence.
    fn extend(&mut self, sequence: SequenceId, node: NodeId) {
        let last = self.sequences[sequence].last;
        self.nodes[last].next = Some(node);
        self.sequences[sequence].last = node;
    }

    fn append(&mut self, node: NodeId, open: &mut OpenSequence) {
        // A label with a meaning needs a state: a skip before the jump.
        let jumps =
            matches!(self.nodes[node].work, GraphNodeKind::Goto(_) | GraphNodeKind::Break(_));
        let label = self.labels.iter().rposition(|label| {
            label.node == node
                && ["accept", "end", "progress"].iter().any(|kind| label.name.starts_with(kind))
        });
        if let (true, Some(label)) = (jumps, label) {
            let skip = self.node(GraphNodeKind::Skip, self.nodes[node].span);
            self.labels[label].node = skip;
            self.append(skip, open);
        }
        match open.last {
            None => open.first = Some(node),
            Some(last) => self.nodes[last].next = Some(node),
        }
        open.last = Some(node);
    }

    fn attach(&mut self, to: SequenceId, escape: SequenceId) {
        let NodeSequence { first, extent, .. } = self.sequences[to];
        let mut at = Some(first);
        while let Some(node) = at {
            self.attach_to(node, escape);
            if node == extent {
                break;
            }
            at = self.nodes[node].next;
        }
    }

    fn attach_to(&mut self, node: NodeId, escape: SequenceId) {
        if self.nodes[node].escapes.contains(&escape) {
            return;
        }
        for lower in self.nodes[node].escapes.clone() {
            self.attach(lower, escape);
        }
        self.nodes[node].escapes.insert(0, escape);
        match self.nodes[node].work.clone() {
            GraphNodeKind::Unless(normal, _) => self.attach(normal, escape),
            GraphNodeKind::Choice(options) => {
                options.into_iter().for_each(|option| self.attach(option, escape));
            }
            // An escape applies only to the guard of a `d_step`.
            GraphNodeKind::DStep(sequence) => {
                self.attach_to(self.sequences[sequence].first, escape)
            }
            GraphNodeKind::Atomic(sequence) | GraphNodeKind::Block(sequence) => {
                self.attach(sequence, escape)
            }
            _ => {}
        }
    }

    /// Marks the nodes of an atomic sequence, and its last node.
    fn make_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        let NodeSequence { first, last, .. } = self.sequences[sequence];
        self.mark(first, last, d_step);
        match self.nodes[last].work {
            GraphNodeKind::Block(inner)
            | GraphNodeKind::Atomic(inner)
            | GraphNodeKind::Unless(inner, _) => {
                self.make_atomic(inner, d_step);
            }
            _ => {
                let GraphNode { atomic, atomic_last, .. } = &mut self.nodes[last];
                (*atomic, *atomic_last) = (false, true);
            }
        }
    }

    fn mark(&mut self, first: NodeId, last: NodeId, d_step: bool) {
        let mut at = Some(first);
        while let Some(node) = at {
            self.nodes[node].atomic = true;
            self.nodes[node].in_d_step |= d_step;
            let inside = match self.nodes[node].work.clone() {
                GraphNodeKind::Atomic(inner) | GraphNodeKind::Block(inner) => {
                    self.nodes[node].work = GraphNodeKind::Block(inner);
                    vec![inner]
                }
                GraphNodeKind::DStep(inner) if d_step => {
                    self.nodes[node].work = GraphNodeKind::Block(inner);
                    vec![inner]
                }
                GraphNodeKind::Choice(options) => options,
                GraphNodeKind::Unless(normal, escape) => vec![normal, escape],
                _ => Vec::new(),
            };
            for inner in inside {
                let NodeSequence { first, last, .. } = self.sequences[inner];
                self.mark(first, last, d_step);
            }
            if node == last {
                break;
            }
            at = self.nodes[node].next;
        }
    }

    /// Adds a skip before each jump with a label that other processes refer to, so that the label has a state.
    pub(super) fn keep_labels(&mut self, remote: &[&str]) {
        for number in 0..self.labels.len() {
            let NodeLabel { name, node, .. } = self.labels[number].clone();
            let jumps =
                matches!(self.nodes[node].work, GraphNodeKind::Goto(_) | GraphNodeKind::Break(_));
            if jumps && remote.contains(&&*name) {
                let jump = self.nodes.push(self.nodes[node].clone());
                self.nodes[node].work = GraphNodeKind::Skip;
                self.nodes[node].next = Some(jump);
            }
        }
    }
}

/// Returns a statement without labels, and the labels before it.
fn unlabelled(stmt: &PromelaStmt) -> (Vec<&PromelaLabel>, &PromelaStmt) {
    let (mut labels, mut stmt) = (Vec::new(), stmt);
    while let PromelaStmtKind::Labelled(label, inner) = &stmt.kind {
        labels.push(label);
        stmt = inner;
    }
    (labels, stmt)
}

/// Returns whether there is a `d_step` in the statements, at any depth.
fn holds_d_step(body: &[PromelaStmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        PromelaStmtKind::DStep(_) => true,
        PromelaStmtKind::Atomic(body) | PromelaStmtKind::Block(body) => holds_d_step(body),
        PromelaStmtKind::If(options) | PromelaStmtKind::Do(options) => {
            options.iter().any(|option| holds_d_step(option))
        }
        PromelaStmtKind::Unless(normal, escape) => [normal, escape]
            .into_iter()
            .any(|part| holds_d_step(std::slice::from_ref(part.as_ref()))),
        PromelaStmtKind::Labelled(_, inner) => holds_d_step(std::slice::from_ref(inner.as_ref())),
        _ => false,
    })
}
