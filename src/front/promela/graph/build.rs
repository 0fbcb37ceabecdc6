//! Nodes and sequences of statements.

use super::{Graph, LabelAt, Node, NodeId, Sequence, SequenceId, Work, is_skip};
use crate::diag::Diagnostic;
use crate::front::promela::ast::{Label, Process, Stmt, StmtKind};
use crate::source::Span;

/// A statement whose parts have nodes, but which has none itself.
enum Core<'a> {
    Basic(&'a Stmt),
    Goto(&'a Label),
    Break(usize),
    Choice {
        options: Vec<SequenceId>,
        ends_loop: Option<usize>,
    },
    Unless(SequenceId, SequenceId),
    Atomic(SequenceId),
    /// And whether jumps may lead to it.
    DStep(SequenceId, bool),
    Block(SequenceId),
}

/// A sequence that is being built.
#[derive(Default)]
struct Open {
    first: Option<NodeId>,
    last: Option<NodeId>,
}

impl<'a> Graph<'a> {
    /// All nodes of a process.
    pub(super) fn body(&mut self, process: &'a Process) -> Result<SequenceId, Diagnostic> {
        let mut open = Open::default();
        self.statements(&process.body, &mut open)?;
        let stop = self.node(Work::Stop, process.end);
        self.append(stop, &mut open);
        self.stays_outside()?;
        self.close(open, process.end)
    }

    fn statements(&mut self, body: &'a [Stmt], open: &mut Open) -> Result<(), Diagnostic> {
        for stmt in body {
            let (mut labels, stmt) = unlabelled(stmt);
            let core = self.core(stmt, &mut labels)?;
            self.place(core, &labels, stmt.span, open)?;
        }
        Ok(())
    }

    fn sequence(&mut self, body: &'a [Stmt], span: Span) -> Result<SequenceId, Diagnostic> {
        let mut open = Open::default();
        self.statements(body, &mut open)?;
        self.close(open, span)
    }

    /// The statements of a `d_step`. No `break` leaves it.
    fn d_step(&mut self, body: &'a [Stmt], span: Span) -> Result<SequenceId, Diagnostic> {
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

    fn close(&mut self, open: Open, span: Span) -> Result<SequenceId, Diagnostic> {
        match open {
            Open { first: Some(first), last: Some(last) } => {
                Ok(self.sequences.push(Sequence { first, last, extent: last }))
            }
            _ => Err(Diagnostic::error(span, "a sequence needs at least one statement")
                .help("write `skip` where nothing is to be done")),
        }
    }

    /// Builds what a statement is made of. Labels that stand inside, but come to stand before all of
    /// it, are added to those before it.
    fn core(
        &mut self,
        stmt: &'a Stmt,
        labels: &mut Vec<&'a Label>,
    ) -> Result<Core<'a>, Diagnostic> {
        Ok(match &stmt.kind {
            StmtKind::Goto(label) => Core::Goto(label),
            StmtKind::Break => match self.open_loops.last() {
                Some(&innermost) => Core::Break(innermost),
                None => return Err(Diagnostic::error(stmt.span, "this break is in no loop")),
            },
            StmtKind::If(options) => {
                Core::Choice { options: self.options(options, stmt.span)?, ends_loop: None }
            }
            StmtKind::Do(options) => {
                let number = self.loop_ends.len();
                self.loop_ends.push(None);
                self.open_loops.push(number);
                let options = self.options(options, stmt.span)?;
                self.open_loops.pop();
                Core::Choice { options, ends_loop: Some(number) }
            }
            StmtKind::Atomic(body) => {
                let sequence = self.sequence(body, stmt.span)?;
                self.make_atomic(sequence, false);
                Core::Atomic(sequence)
            }
            StmtKind::DStep(body) => {
                let first = self.nodes.len();
                let sequence = self.d_step(body, stmt.span)?;
                // A `d_step` in another is a block of that, which jumps may leave.
                if self.open_d_steps == 0 {
                    self.stays_inside(first)?;
                }
                self.make_atomic(sequence, true);
                Core::DStep(sequence, holds_d_step(body))
            }
            StmtKind::Block(body) => Core::Block(self.sequence(body, stmt.span)?),
            StmtKind::Unless(normal, escape) => self.unless(normal, escape, labels)?,
            _ => Core::Basic(stmt),
        })
    }

    fn options(
        &mut self,
        options: &'a [Vec<Stmt>],
        span: Span,
    ) -> Result<Vec<SequenceId>, Diagnostic> {
        let built: Result<Vec<_>, _> =
            options.iter().map(|option| self.sequence(option, span)).collect();
        let built = built?;
        built.iter().for_each(|&option| self.drop_skips(option));
        Ok(built)
    }

    /// No jump leads out of a `d_step`.
    fn stays_inside(&self, first: usize) -> Result<(), Diagnostic> {
        use crate::ir::Entity;
        for node in self.nodes.values().skip(first) {
            let Work::Goto(label) = &node.work else { continue };
            let inside = self.find_label(label).is_ok_and(|target| target.index() >= first);
            if !inside {
                return Err(Diagnostic::error(node.span, "this goto leaves a d_step")
                    .help("a d_step ends only at its closing bracket"));
            }
        }
        Ok(())
    }

    /// No jump leads into a `d_step`, nor to its start, for which SPIN takes it too unless there is another `d_step` in it:
    /// then it forgets that it is in the outer one.
    fn stays_outside(&self) -> Result<(), Diagnostic> {
        for node in self.nodes.values().filter(|node| !node.in_d_step) {
            let Work::Goto(label) = &node.work else { continue };
            let inside = |target: NodeId| {
                let Node { in_d_step, work, .. } = &self.nodes[target];
                let begins = matches!(work, Work::DStep(_)) && !self.entered.contains(&target);
                *in_d_step || begins
            };
            if self.find_label(label).is_ok_and(inside) {
                return Err(Diagnostic::error(node.span, "this goto leads into a d_step")
                    .help("a d_step begins only at its opening bracket"));
            }
        }
        Ok(())
    }

    /// Of skips one after the other, without labels, in an option, SPIN keeps the first.
    fn drop_skips(&mut self, option: SequenceId) {
        let Sequence { first, last, .. } = self.sequences[option];
        let (mut before, mut at, mut skips) = (first, Some(first), 0);
        while let Some(node) = at {
            at = self.nodes[node].next;
            let Work::Basic(stmt) = self.nodes[node].work else {
                (before, skips) = (node, 0);
                continue;
            };
            let unlabelled = self.labels_of(node).next().is_none();
            skips = if is_skip(stmt) && unlabelled { skips + 1 } else { 0 };
            let prints = matches!(stmt.kind, StmtKind::Print(..));
            if skips > 1 && !prints && node != first && node != last {
                self.nodes[before].next = at;
            } else {
                before = node;
            }
        }
    }

    fn unless(
        &mut self,
        normal: &'a Stmt,
        escape: &'a Stmt,
        before: &mut Vec<&'a Label>,
    ) -> Result<Core<'a>, Diagnostic> {
        let (mut labels, inner) = unlabelled(normal);
        let normal_core = self.core(inner, &mut labels)?;
        let (mut escape_labels, escape) = unlabelled(escape);
        let escape_core = self.core(escape, &mut escape_labels)?;
        let escape = self.wrapped(escape_core, &escape_labels, escape.span)?;
        // A label before the brackets is lifted to a block around both.
        let (normal, wrap): (_, fn(SequenceId) -> Core<'a>) = match normal_core {
            Core::Block(normal) if !labels.is_empty() => (normal, Core::Block),
            Core::Atomic(normal) if !labels.is_empty() => (normal, Core::Atomic),
            Core::DStep(normal, _) if !labels.is_empty() => {
                (normal, |sequence| Core::DStep(sequence, false))
            }
            other => {
                let normal = self.wrapped(other, &labels, inner.span)?;
                return Ok(Core::Unless(normal, escape));
            }
        };
        before.append(&mut labels);
        let mut open = Open::default();
        self.place(Core::Unless(normal, escape), &[], inner.span, &mut open)?;
        self.close(open, inner.span).map(wrap)
    }

    /// A sequence of one statement; a block is one already.
    fn wrapped(
        &mut self,
        core: Core<'a>,
        labels: &[&'a Label],
        span: Span,
    ) -> Result<SequenceId, Diagnostic> {
        if let (Core::Block(sequence), []) = (&core, labels) {
            return Ok(*sequence);
        }
        let mut open = Open::default();
        self.place(core, labels, span, &mut open)?;
        self.close(open, span)
    }

    /// Makes the node of a statement and appends it.
    fn place(
        &mut self,
        core: Core<'a>,
        labels: &[&'a Label],
        span: Span,
        open: &mut Open,
    ) -> Result<(), Diagnostic> {
        let work = match core {
            Core::Choice { options, ends_loop } => {
                let node = self.choice(options, ends_loop, span, open)?;
                self.set_labels(labels, node);
                return Ok(());
            }
            Core::Unless(normal, escape) => {
                let node = self.guarded(normal, escape, span, open);
                self.set_labels(labels, node);
                return Ok(());
            }
            Core::Basic(stmt) => Work::Basic(stmt),
            Core::Goto(label) => Work::Goto(label),
            Core::Break(number) => Work::Break(number),
            Core::Atomic(sequence) => Work::Atomic(sequence),
            Core::DStep(sequence, may_enter) => {
                let node = self.node(Work::DStep(sequence), span);
                self.own_d_step(node);
                if may_enter {
                    self.entered.insert(node);
                }
                self.set_labels(labels, node);
                self.append(node, open);
                return Ok(());
            }
            Core::Block(sequence) => Work::Block(sequence),
        };
        let node = self.node(work, span);
        self.set_labels(labels, node);
        self.append(node, open);
        Ok(())
    }

    /// Makes the nodes inside the `d_step` just built its own.
    fn own_d_step(&mut self, d_step: NodeId) {
        for node in self.nodes.keys() {
            let owner = self.nodes[node].d_step;
            let taken = owner.is_some_and(|it| matches!(self.nodes[it].work, Work::DStep(_)));
            if self.nodes[node].in_d_step && !taken {
                self.nodes[node].d_step = Some(d_step);
            }
        }
    }

    fn set_labels(&mut self, labels: &[&'a Label], node: NodeId) {
        for label in labels.iter().rev() {
            let name = label.name.text.clone();
            self.labels.push(LabelAt { name, expansion: label.expansion, node });
        }
    }

    fn choice(
        &mut self,
        mut options: Vec<SequenceId>,
        ends_loop: Option<usize>,
        span: Span,
        open: &mut Open,
    ) -> Result<NodeId, Diagnostic> {
        let node = self.node(Work::Meet, span);
        let meet = self.node(Work::Meet, span);
        let is_else = |graph: &Self, option: SequenceId| {
            let first = graph.sequences[option].first;
            matches!(graph.nodes[first].work, Work::Basic(Stmt { kind: StmtKind::Else, .. }))
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
        self.nodes[node].work = Work::Choice(options);
        let Some(number) = ends_loop else {
            self.append(node, open);
            self.append(meet, open);
            return Ok(node);
        };
        self.append(meet, open);
        let end = self.node(Work::LoopEnd, span);
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
        open: &mut Open,
    ) -> NodeId {
        let node = self.node(Work::Unless(normal, escape), span);
        let meet = self.node(Work::Meet, span);
        self.extend(normal, meet);
        self.extend(escape, meet);
        self.attach(normal, escape);
        self.append(node, open);
        self.append(meet, open);
        node
    }

    /// Adds where a sequence goes on to the sequence itself.
    fn extend(&mut self, sequence: SequenceId, node: NodeId) {
        let last = self.sequences[sequence].last;
        self.nodes[last].next = Some(node);
        self.sequences[sequence].last = node;
    }

    fn append(&mut self, node: NodeId, open: &mut Open) {
        // A label that means something needs a state: a skip before the jump.
        let jumps = matches!(self.nodes[node].work, Work::Goto(_) | Work::Break(_));
        let label = self.labels.iter().rposition(|label| {
            label.node == node
                && ["accept", "end", "progress"].iter().any(|kind| label.name.starts_with(kind))
        });
        if let (true, Some(label)) = (jumps, label) {
            let skip = self.node(Work::Skip, self.nodes[node].span);
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
        let Sequence { first, extent, .. } = self.sequences[to];
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
            Work::Unless(normal, _) => self.attach(normal, escape),
            Work::Choice(options) => {
                options.into_iter().for_each(|option| self.attach(option, escape));
            }
            // Only the guard of a d_step can be left.
            Work::DStep(sequence) => self.attach_to(self.sequences[sequence].first, escape),
            Work::Atomic(sequence) | Work::Block(sequence) => self.attach(sequence, escape),
            _ => {}
        }
    }

    /// Marks the nodes of an atomic sequence, and its last.
    fn make_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        let Sequence { first, last, .. } = self.sequences[sequence];
        self.mark(first, last, d_step);
        match self.nodes[last].work {
            Work::Block(inner) | Work::Atomic(inner) | Work::Unless(inner, _) => {
                self.make_atomic(inner, d_step);
            }
            _ => {
                let Node { atomic, atomic_last, .. } = &mut self.nodes[last];
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
                Work::Atomic(inner) | Work::Block(inner) => {
                    self.nodes[node].work = Work::Block(inner);
                    vec![inner]
                }
                Work::DStep(inner) if d_step => {
                    self.nodes[node].work = Work::Block(inner);
                    vec![inner]
                }
                Work::Choice(options) => options,
                Work::Unless(normal, escape) => vec![normal, escape],
                _ => Vec::new(),
            };
            for inner in inside {
                let Sequence { first, last, .. } = self.sequences[inner];
                self.mark(first, last, d_step);
            }
            if node == last {
                break;
            }
            at = self.nodes[node].next;
        }
    }

    /// A jump whose label others ask about needs a state: a skip before the jump.
    pub(super) fn keep_labels(&mut self, remote: &[&str]) {
        for number in 0..self.labels.len() {
            let LabelAt { name, node, .. } = self.labels[number].clone();
            let jumps = matches!(self.nodes[node].work, Work::Goto(_) | Work::Break(_));
            if jumps && remote.contains(&&*name) {
                let jump = self.nodes.push(self.nodes[node].clone());
                self.nodes[node].work = Work::Skip;
                self.nodes[node].next = Some(jump);
            }
        }
    }
}

/// A statement and the labels before it.
fn unlabelled(stmt: &Stmt) -> (Vec<&Label>, &Stmt) {
    let (mut labels, mut stmt) = (Vec::new(), stmt);
    while let StmtKind::Labelled(label, inner) = &stmt.kind {
        labels.push(label);
        stmt = inner;
    }
    (labels, stmt)
}

/// Whether there is a `d_step` among statements, however deep.
fn holds_d_step(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::DStep(_) => true,
        StmtKind::Atomic(body) | StmtKind::Block(body) => holds_d_step(body),
        StmtKind::If(options) | StmtKind::Do(options) => {
            options.iter().any(|option| holds_d_step(option))
        }
        StmtKind::Unless(normal, escape) => [normal, escape]
            .into_iter()
            .any(|part| holds_d_step(std::slice::from_ref(part.as_ref()))),
        StmtKind::Labelled(_, inner) => holds_d_step(std::slice::from_ref(inner.as_ref())),
        _ => false,
    })
}
