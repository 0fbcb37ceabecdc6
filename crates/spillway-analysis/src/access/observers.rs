//! The reads of properties.

use super::access_set::AccessSet;
use super::access_table::AccessTable;
use spillway_ir::{PropertyId, PropertyKind};

impl AccessTable<'_> {
    /// Returns the reads that decide whether a property holds in a state.
    pub fn read_by(&self, property: PropertyId) -> AccessSet {
        let program = self.program();
        match &program.properties[property].kind {
            PropertyKind::Invariant(it)
            | PropertyKind::Cover(it)
            | PropertyKind::AtEnd(it)
            | PropertyKind::Constraint(it)
            | PropertyKind::Assumption(it) => self.expression(it),
            PropertyKind::AssertionAt { process, location, condition } => {
                let mut access = self.expression(condition);
                access.asks.push((self.location_cell(*process, 0), *location));
                access
            }
            PropertyKind::Automaton(_) | PropertyKind::Reached => AccessSet::default(),
            PropertyKind::Claim(claim) => {
                let mut access = AccessSet::default();
                for it in &claim.moves {
                    access.extend(self.observation(&it.action));
                }
                access
            }
        }
    }
}
