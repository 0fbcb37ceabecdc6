//! Which marks the locations of processes have, and whether any instance is at one.

use super::{BinaryOp, Expr, ExprKind, Location, LocationId, ProcessId, Program, PropertyKind};
use crate::source::Span;

impl Program {
    /// Whether any instance of any process is at a location that is marked so; nothing if no location is. A process
    /// that only watches the others is none of them.
    pub fn any_instance_at_marked(
        &self,
        is_marked: fn(&Location) -> bool,
        span: Span,
    ) -> Option<Expr> {
        let others = self.processes.iter().filter(|(id, _)| !self.only_watches(*id));
        let marked = others.flat_map(|(id, it)| {
            let marked = it.locations.iter().filter(|(_, it)| is_marked(it));
            marked.map(move |(location, _)| (id, location))
        });
        self.any_instance_at(marked, span)
    }

    /// Whether it is an automaton about the others.
    fn only_watches(&self, process: ProcessId) -> bool {
        self.properties.iter().any(|(_, it)| it.kind == PropertyKind::Automaton(process))
    }

    /// Whether any instance of a process is at one of some locations; nothing if there are none.
    pub fn any_instance_at(
        &self,
        some: impl IntoIterator<Item = (ProcessId, LocationId)>,
        span: Span,
    ) -> Option<Expr> {
        let parts = some.into_iter().flat_map(|(id, at)| self.instances_at(id, at, span));
        any(parts.collect(), span)
    }

    /// Whether each instance of a process is at a location.
    fn instances_at(&self, process: ProcessId, location: LocationId, span: Span) -> Vec<Expr> {
        let at = |slot| Expr::new(ExprKind::At { process, slot, location }, span);
        match self.processes[process].has_slots() {
            false => vec![at(None)],
            true => (0..self.slots(process))
                .map(|slot| at(Some(Box::new(Expr::constant(slot.into(), span)))))
                .collect(),
        }
    }
}

/// Whether one of these holds. They are joined in pairs, so that the whole is not nested as deep as they are many.
fn any(mut parts: Vec<Expr>, span: Span) -> Option<Expr> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(one) = rest.next() {
            joined.push(match rest.next() {
                None => one,
                Some(other) => {
                    let kind = ExprKind::Binary(BinaryOp::Or, Box::new(one), Box::new(other));
                    Expr::new(kind, span)
                }
            });
        }
        parts = joined;
    }
    parts.pop()
}
