//! The marks of locations, and conditions on instances at marked locations.

use super::{BinaryOp, Expr, ExprKind, Location, LocationId, ProcessId, Program, PropertyKind};
use spillway_base::source::Span;

impl Program {
    /// Returns the condition that any instance of any process is at a marked location, or `None` if no location is
    /// marked. Ignores processes that only observe others.
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

    /// Returns whether a process is the automaton of a property.
    fn only_watches(&self, process: ProcessId) -> bool {
        self.properties.iter().any(|(_, it)| it.kind == PropertyKind::Automaton(process))
    }

    /// Returns the condition that any instance of a process is at one of some locations, or `None` if there are none.
    pub fn any_instance_at(
        &self,
        some: impl IntoIterator<Item = (ProcessId, LocationId)>,
        span: Span,
    ) -> Option<Expr> {
        let parts = some.into_iter().flat_map(|(id, at)| self.instances_at(id, at, span));
        any(parts.collect(), span)
    }

    /// Returns, for each instance of a process, the condition that it is at a location.
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

/// Returns the disjunction of conditions. Joins them in pairs, so that the nesting depth is logarithmic.
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
