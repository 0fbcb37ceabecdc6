//! Where each node leads.

use super::{Graph, Lead, NodeId, Sequence, SequenceId, Work};
use crate::diag::Diagnostic;
use crate::front::promela::ast::{ExprKind, Stmt, StmtKind};

/// The most jumps in a row.
const JUMPS_MAX: usize = 500;

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> Graph<'a> {
    /// Where a sequence starts: jumps that meet and the heads of `unless` are passed over.
    fn begins(&self, first: NodeId) -> NodeId {
        let mut at = first;
        for _ in 0..JUMPS_MAX {
            at = match (&self.nodes[at].work, self.nodes[at].next) {
                (Work::Meet, Some(next)) => next,
                (Work::Unless(normal, _), _) => self.sequences[*normal].first,
                _ => return at,
            };
        }
        at
    }

    /// Where control goes on from a node, jumps passed over; `atomic` if it comes from inside an
    /// atomic sequence, which it then leaves by a step of its own.
    fn arrives(&self, first: NodeId, atomic: bool) -> Result<NodeId> {
        let mut at = first;
        for _ in 0..JUMPS_MAX {
            let next = match (&self.nodes[at].work, self.nodes[at].next) {
                (Work::Goto(_) | Work::Break(_), _) => match self.jump(at)? {
                    Some(target) if target == at => {
                        let error = "this jump leads to itself, for ever";
                        return Err(Diagnostic::error(self.nodes[at].span, error)
                            .help("put a `skip` before it if that is meant"));
                    }
                    Some(target) => target,
                    None => return Ok(at),
                },
                (Work::Meet | Work::LoopEnd, Some(next)) => next,
                (Work::Unless(normal, _), _) => {
                    self.arrives(self.sequences[*normal].first, atomic)?
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

    /// Finds where every node of a sequence leads.
    pub(super) fn leads(&mut self, sequence: SequenceId) -> Result<()> {
        let Sequence { first, .. } = self.sequences[sequence];
        let mut at = Some(first);
        while let Some(node) = at {
            self.lead(node)?;
            if node == self.sequences[sequence].last {
                break;
            }
            at = self.nodes[node].next;
        }
        Ok(())
    }

    fn lead(&mut self, node: NodeId) -> Result<()> {
        if self.leads.contains_key(&node) || self.options.contains_key(&node) {
            return Ok(());
        }
        match self.nodes[node].work.clone() {
            Work::Unless(normal, _) => {
                self.options.insert(node, Vec::new());
                self.leads(normal)
            }
            Work::Choice(options) => self.choose(node, &options),
            Work::Atomic(inner) | Work::Block(inner) => {
                self.bridge(inner)?;
                let first = self.begins(self.sequences[inner].first);
                let last = self.sequences[inner].last;
                self.nodes[last].next = self.nodes[node].next;
                self.options.insert(node, vec![first]);
                self.leads(inner)
            }
            Work::DStep(inner) => {
                self.bridge(inner)?;
                let last = self.sequences[inner].last;
                self.nodes[last].next = self.nodes[node].next;
                self.single(node)?;
                self.leads(inner)
            }
            _ => self.single(node),
        }
    }

    fn choose(&mut self, node: NodeId, options: &[SequenceId]) -> Result<()> {
        let mut starts = Vec::new();
        for &option in options {
            let start = self.begins(self.sequences[option].first);
            if !self.never_holds(start) {
                starts.push(start);
            }
        }
        self.options.insert(node, starts);
        options.iter().try_for_each(|&option| self.leads(option))
    }

    /// Whether a node waits for `false`, and has no escape.
    fn never_holds(&self, node: NodeId) -> bool {
        let Work::Basic(Stmt { kind: StmtKind::Condition(expr), .. }) = self.nodes[node].work
        else {
            return false;
        };
        matches!(expr.kind, ExprKind::Number(0)) && self.nodes[node].escapes.is_empty()
    }

    fn single(&mut self, node: NodeId) -> Result<()> {
        let (atomic, next) = (self.nodes[node].atomic, self.nodes[node].next);
        let to = match (self.jump(node)?, next) {
            (Some(target), _) => Some(self.arrives(target, atomic)?),
            (None, Some(next)) => Some(self.arrives(next, atomic)?),
            (None, None) => None,
        };
        // Where options meet is a place only for an atomic sequence that was left; SPIN's verifier has
        // no escapes there.
        let escapes = match self.nodes[node].work {
            Work::Meet => Vec::new(),
            _ => self.nodes[node].escapes.clone(),
        };
        let starts = escapes.iter().map(|&it| self.arrives(self.sequences[it].first, atomic));
        let starts: Vec<NodeId> = starts.collect::<Result<_>>()?;
        self.leads.insert(node, Lead { node, to, atomic, escapes: starts, tier: None });
        escapes.into_iter().try_for_each(|escape| self.leads(escape))
    }

    /// A jump out of an atomic sequence ends it; one from its end into another goes on.
    fn bridge(&mut self, sequence: SequenceId) -> Result<()> {
        let Sequence { first, extent, .. } = self.sequences[sequence];
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
                Work::Choice(options) => options,
                Work::Unless(normal, escape) => vec![normal, escape],
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
