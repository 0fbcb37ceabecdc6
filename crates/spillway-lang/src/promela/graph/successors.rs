//! The successors of nodes.

use super::{ControlGraphBuilder, GraphNodeKind, NodeId, NodeSequence, NodeSuccessor, SequenceId};
use crate::promela::ast::{PromelaExprKind, PromelaStmt, PromelaStmtKind};
use spillway_base::diag::Diagnostic;

/// The maximum number of consecutive jumps.
const JUMPS_MAX: usize = 500;

type GraphResult<T> = std::result::Result<T, Diagnostic>;

impl<'a> ControlGraphBuilder<'a> {
    /// Returns the first node of a sequence: joins and the heads of `unless` are skipped.
    fn first_node(&self, first: NodeId) -> NodeId {
        let mut at = first;
        for _ in 0..JUMPS_MAX {
            at = match (&self.nodes[at].work, self.nodes[at].next) {
                (GraphNodeKind::Meet, Some(next)) => next,
                (GraphNodeKind::Unless(normal, _), _) => self.sequences[*normal].first,
                _ => return at,
            };
        }
        at
    }

    /// Returns the node reached from a node after jumps are skipped. If `atomic`, control comes from inside an atomic
    /// sequence. Then a jump out of it is not skipped, so that leaving it is a separate step.
    fn resolve_jumps(&self, first: NodeId, atomic: bool) -> GraphResult<NodeId> {
        let mut at = first;
        for _ in 0..JUMPS_MAX {
            let next = match (&self.nodes[at].work, self.nodes[at].next) {
                (GraphNodeKind::Goto(_) | GraphNodeKind::Break(_), _) => match self.jump(at)? {
                    Some(target) if target == at => {
                        let error = "this jump leads to itself, for ever";
                        return Err(Diagnostic::error(self.nodes[at].span, error)
                            .help("put a `skip` before it if that is meant"));
                    }
                    Some(target) => target,
                    None => return Ok(at),
                },
                (GraphNodeKind::Meet | GraphNodeKind::LoopEnd, Some(next)) => next,
                (GraphNodeKind::Unless(normal, _), _) => {
                    self.resolve_jumps(self.sequences[*normal].first, atomic)?
                }
                _ => return Ok(at),
            };
            if atomic && !self.nodes[next].atomic {
                return Ok(at);
            }
            at = next;
        }
        Err(Diagnostic::error(self.nodes[first].span, "these jumps lead in a circle"))
    }

    /// Computes the successors of every node of a sequence.
    pub(super) fn find_successors(&mut self, sequence: SequenceId) -> GraphResult<()> {
        let NodeSequence { first, .. } = self.sequences[sequence];
        let mut at = Some(first);
        while let Some(node) = at {
            self.find_successor(node)?;
            if node == self.sequences[sequence].last {
                break;
            }
            at = self.nodes[node].next;
        }
        Ok(())
    }

    fn find_successor(&mut self, node: NodeId) -> GraphResult<()> {
        if self.leads.contains_key(&node) || self.options.contains_key(&node) {
            return Ok(());
        }
        match self.nodes[node].work.clone() {
            GraphNodeKind::Unless(normal, _) => {
                self.options.insert(node, Vec::new());
                self.find_successors(normal)
            }
            GraphNodeKind::Choice(options) => self.choose(node, &options),
            GraphNodeKind::Atomic(inner) | GraphNodeKind::Block(inner) => {
                self.bridge(inner)?;
                let first = self.first_node(self.sequences[inner].first);
                let last = self.sequences[inner].last;
                self.nodes[last].next = self.nodes[node].next;
                self.options.insert(node, vec![first]);
                self.find_successors(inner)
            }
            GraphNodeKind::DStep(inner) => {
                self.bridge(inner)?;
                let last = self.sequences[inner].last;
                self.nodes[last].next = self.nodes[node].next;
                self.single(node)?;
                self.find_successors(inner)
            }
            _ => self.single(node),
        }
    }

    fn choose(&mut self, node: NodeId, options: &[SequenceId]) -> GraphResult<()> {
        let mut starts = Vec::new();
        for &option in options {
            let start = self.first_node(self.sequences[option].first);
            if !self.never_holds(start) {
                starts.push(start);
            }
        }
        self.options.insert(node, starts);
        options.iter().try_for_each(|&option| self.find_successors(option))
    }

    /// Returns whether a node waits for `false`, and has no escape.
    fn never_holds(&self, node: NodeId) -> bool {
        let GraphNodeKind::Basic(PromelaStmt { kind: PromelaStmtKind::Condition(expr), .. }) =
            self.nodes[node].work
        else {
            return false;
        };
        matches!(expr.kind, PromelaExprKind::Number(0)) && self.nodes[node].escapes.is_empty()
    }

    fn single(&mut self, node: NodeId) -> GraphResult<()> {
        let (atomic, next) = (self.nodes[node].atomic, self.nodes[node].next);
        let to = match (self.jump(node)?, next) {
            (Some(target), _) => Some(self.resolve_jumps(target, atomic)?),
            (None, Some(next)) => Some(self.resolve_jumps(next, atomic)?),
            (None, None) => None,
        };
        // A join is a location only after an atomic sequence that was left; SPIN's verifier has no escapes there.
        let escapes = match self.nodes[node].work {
            GraphNodeKind::Meet => Vec::new(),
            _ => self.nodes[node].escapes.clone(),
        };
        let starts = escapes.iter().map(|&it| self.resolve_jumps(self.sequences[it].first, atomic));
        let starts: Vec<NodeId> = starts.collect::<GraphResult<_>>()?;
        self.leads.insert(node, NodeSuccessor { node, to, atomic, escapes: starts, tier: None });
        escapes.into_iter().try_for_each(|escape| self.find_successors(escape))
    }

    /// Adjusts the marks of atomic sequences at jumps. A jump out of an atomic sequence ends it; a jump from its end
    /// into another atomic sequence continues it.
    fn bridge(&mut self, sequence: SequenceId) -> GraphResult<()> {
        let NodeSequence { first, extent, .. } = self.sequences[sequence];
        let mut at = Some(first);
        while let Some(node) = at {
            if let Some(target) = self.jump(node)? {
                let target = &self.nodes[target];
                let inside = target.atomic || target.atomic_last;
                let from = &mut self.nodes[node];
                if (from.atomic || from.atomic_last) && !inside {
                    (from.atomic, from.atomic_last) = (false, true);
                } else if from.atomic_last && inside {
                    (from.atomic, from.atomic_last) = (true, false);
                }
            }
            let inside = match self.nodes[node].work.clone() {
                GraphNodeKind::Choice(options) => options,
                GraphNodeKind::Unless(normal, escape) => vec![normal, escape],
                _ => Vec::new(),
            };
            inside.into_iter().try_for_each(|inner| self.bridge(inner))?;
            if node == extent {
                break;
            }
            at = self.nodes[node].next;
        }
        Ok(())
    }
}
