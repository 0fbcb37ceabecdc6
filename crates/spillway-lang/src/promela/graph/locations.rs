//! The assembly of locations and their transitions.

use super::{
    ControlAction, ControlGraph, ControlGraphBuilder, ControlLocation, ControlTransition,
    GraphNodeKind, LabelMarks, NodeId, NodeSuccessor, SequenceId,
};
use crate::promela::ast::PromelaStmtKind;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{Entity, TurnRule};
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl<'a> ControlGraphBuilder<'a> {
    /// Returns the control graph of a process whose body is `body`.
    pub(super) fn assemble(&mut self, body: SequenceId) -> Result<ControlGraph<'a>, Diagnostic> {
        self.mark_labels();
        let mut lists = self.all_moves();
        self.escape(&mut lists);
        self.pass_marks_on(&lists);
        let start = self.start(self.sequences[body].first);
        let places = self.reachable(start, &lists);
        let number: HashMap<NodeId, usize> =
            places.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let moves = places.iter().flat_map(|&from| {
            let (graph, number) = (&*self, &number);
            let tiers = tiers(&lists[&from]);
            lists[&from].iter().map(move |lead| graph.finish(from, lead, number, &tiers))
        });
        let moves = moves.collect();
        Ok(ControlGraph {
            start: number[&start],
            transitions: moves,
            nodes: self.nodes.len(),
            labels: self.labels.iter().map(|label| label.name.clone()).collect(),
            locations: places.into_iter().map(|node| self.describe(node)).collect(),
        })
    }

    fn start(&self, first: NodeId) -> NodeId {
        match &self.nodes[first].work {
            GraphNodeKind::Unless(normal, _) => self.start(self.sequences[*normal].first),
            GraphNodeKind::Goto(_) | GraphNodeKind::Break(_) => {
                self.jump(first).ok().flatten().map_or(first, |target| match target == first {
                    true => first,
                    false => self.start(target),
                })
            }
            GraphNodeKind::Meet | GraphNodeKind::LoopEnd => {
                self.nodes[first].next.map_or(first, |next| self.start(next))
            }
            _ => first,
        }
    }

    fn mark_labels(&mut self) {
        for label in &self.labels {
            self.marks.entry(label.node).or_default().add(LabelMarks {
                end: label.name.starts_with("end"),
                progress: label.name.starts_with("progress"),
                accepting: label.name.starts_with("accept"),
            });
        }
        for (id, node) in self.nodes.iter() {
            if matches!(node.work, GraphNodeKind::Stop) {
                self.marks.entry(id).or_default().end = true;
            }
        }
    }

    fn marks(&self, node: NodeId) -> LabelMarks {
        self.marks.get(&node).copied().unwrap_or_default()
    }

    /// Returns the transitions of every node, with choices resolved.
    fn all_moves(&mut self) -> BTreeMap<NodeId, Vec<NodeSuccessor>> {
        let nodes: BTreeSet<NodeId> =
            self.leads.keys().chain(self.options.keys()).copied().collect();
        let mut lists = BTreeMap::new();
        for node in nodes {
            let mut list = Vec::new();
            self.flatten(node, LabelMarks::default(), &mut list, 0);
            lists.insert(node, list);
        }
        lists
    }

    /// Adds the transitions of a node. The first state of an option is never visited, so its marks pass to its
    /// successor.
    fn flatten(
        &mut self,
        node: NodeId,
        inherited: LabelMarks,
        list: &mut Vec<NodeSuccessor>,
        depth: usize,
    ) {
        let Some(options) = self.options.get(&node).cloned() else {
            list.extend(self.leads.get(&node).cloned());
            return;
        };
        if depth > self.nodes.len() {
            return;
        }
        for option in options {
            self.marks.entry(option).or_default().add(inherited);
            let marks = self.marks(option);
            if self.options.contains_key(&option) {
                self.flatten(option, marks, list, depth + 1);
            } else if let Some(lead) = self.leads.get(&option).cloned() {
                if let Some(to) = lead.to {
                    self.marks.entry(to).or_default().add(marks);
                }
                list.push(lead);
            }
        }
    }

    /// Inserts the transitions of escapes before those they escape from.
    fn escape(&self, lists: &mut BTreeMap<NodeId, Vec<NodeSuccessor>>) {
        let nodes: Vec<NodeId> = lists.keys().copied().collect();
        for node in nodes {
            let own = lists[&node].clone();
            for start in own.iter().flat_map(|lead| lead.escapes.iter().rev().copied()) {
                for lead in lists.get(&start).cloned().unwrap_or_default() {
                    let Some(list) = lists.get_mut(&node) else { continue };
                    if !list.iter().any(|there| there.node == lead.node) {
                        list.insert(0, NodeSuccessor { tier: Some(start), ..lead });
                    }
                }
            }
        }
    }

    /// Passes the mark `end` of a join on to its successor.
    fn pass_marks_on(&mut self, lists: &BTreeMap<NodeId, Vec<NodeSuccessor>>) {
        for (node, list) in lists {
            let [only] = list.as_slice() else { continue };
            let jumps = matches!(self.nodes[only.node].work, GraphNodeKind::Meet);
            if let (true, true, Some(to)) = (jumps, self.marks(*node).end, only.to) {
                self.marks.entry(to).or_default().end = true;
            }
        }
    }

    fn reachable(
        &self,
        start: NodeId,
        lists: &BTreeMap<NodeId, Vec<NodeSuccessor>>,
    ) -> Vec<NodeId> {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for lead in &lists[&node] {
                let inner = match self.nodes[lead.node].work {
                    GraphNodeKind::DStep(_) => self.inside(lead.node).into_iter().collect(),
                    _ => Vec::new(),
                };
                for next in lead.to.into_iter().chain(inner) {
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
        }
        seen.into_iter().collect()
    }

    /// Returns the location after the first step of a `d_step`, if it is inside the `d_step`.
    fn inside(&self, d_step: NodeId) -> Option<NodeId> {
        let first = self.first_of(d_step);
        match self.leads.get(&first) {
            None => Some(first),
            Some(lead) => lead.to.filter(|&to| self.nodes[to].in_d_step),
        }
    }

    fn first_of(&self, d_step: NodeId) -> NodeId {
        let GraphNodeKind::DStep(sequence) = self.nodes[d_step].work else { return d_step };
        let mut at = self.sequences[sequence].first;
        loop {
            at = match (&self.nodes[at].work, self.nodes[at].next) {
                (GraphNodeKind::Meet, Some(next)) => next,
                (GraphNodeKind::Unless(normal, _), _) => self.sequences[*normal].first,
                (GraphNodeKind::Block(inner), _) => self.sequences[*inner].first,
                _ => return at,
            };
        }
    }

    fn finish(
        &self,
        from: NodeId,
        lead: &NodeSuccessor,
        number: &HashMap<NodeId, usize>,
        tiers: &[NodeId],
    ) -> ControlTransition<'a> {
        let tier = lead.tier.and_then(|tier| tiers.iter().position(|it| *it == tier));
        let mut done = ControlTransition {
            from: number[&from],
            to: lead.to.map(|to| number[&to]),
            act: self.act(lead.node),
            turn: if lead.atomic { TurnRule::Atomic } else { TurnRule::Open },
            tier: tier.map_or(0, |tier| tier as u32 + 1),
            span: self.nodes[lead.node].span,
            node: lead.node.index(),
            inside_d_step: self.nodes[lead.node].in_d_step,
        };
        if let GraphNodeKind::DStep(_) = self.nodes[lead.node].work {
            let first = self.first_of(lead.node);
            // The statements after the first one are reported and counted separately.
            (done.act, done.span) = match self.leads.get(&first) {
                Some(_) => (self.act(first), self.nodes[first].span),
                None => {
                    let mut options = Vec::new();
                    self.first_acts(first, &mut options);
                    (ControlAction::Enter(options), head_of(done.span))
                }
            };
            if let Some(inside) = self.inside(lead.node) {
                (done.to, done.turn) = (Some(number[&inside]), TurnRule::First);
            }
        } else if self.nodes[lead.node].in_d_step {
            done.turn = match lead.to {
                Some(to) if self.nodes[to].in_d_step => TurnRule::First,
                // The last transition of a `d_step` determines what may follow it.
                _ => self.turn_after(lead.node),
            };
        }
        done
    }

    /// Returns the turn rule after the `d_step` that contains a node.
    fn turn_after(&self, inner: NodeId) -> TurnRule {
        match self.nodes[inner].d_step {
            Some(d_step) if self.nodes[d_step].atomic => TurnRule::Atomic,
            _ => TurnRule::Open,
        }
    }

    fn first_acts(&self, node: NodeId, acts: &mut Vec<ControlAction<'a>>) {
        match self.options.get(&node) {
            None => acts.push(self.act(node)),
            Some(options) => options.iter().for_each(|&option| self.first_acts(option, acts)),
        }
    }

    fn act(&self, node: NodeId) -> ControlAction<'a> {
        match self.nodes[node].work {
            GraphNodeKind::Basic(stmt) if matches!(stmt.kind, PromelaStmtKind::Else) => {
                ControlAction::Otherwise
            }
            GraphNodeKind::Basic(stmt) => ControlAction::Do(stmt),
            GraphNodeKind::Stop => ControlAction::End,
            _ => ControlAction::Skip,
        }
    }

    fn describe(&self, node: NodeId) -> ControlLocation {
        let labels = self.labels_of(node).map(|label| label.name.clone()).collect();
        let number = node.index();
        ControlLocation {
            marks: self.marks(node),
            labels,
            span: self.nodes[node].span,
            node: number,
        }
    }
}

/// Returns the escapes of a list, in its order.
fn tiers(list: &[NodeSuccessor]) -> Vec<NodeId> {
    let mut tiers: Vec<NodeId> = list.iter().filter_map(|lead| lead.tier).collect();
    tiers.dedup();
    tiers
}

/// Returns the span of the word `d_step`, from the span of the whole construct.
fn head_of(span: Span) -> Span {
    let end = span.end.min(span.start + "d_step".len() as u32);
    Span { end, ..span }
}
