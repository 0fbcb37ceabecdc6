//! What properties ask of states.

use super::object::Access;
use super::table::Table;
use crate::ir::{PropertyId, PropertyKind};

impl Table<'_> {
    /// What is read to find out whether a property holds in a state.
    pub fn read_by(&self, property: PropertyId) -> Access {
        let program = self.program();
        match &program.properties[property].kind {
            PropertyKind::Invariant(it)
            | PropertyKind::Cover(it)
            | PropertyKind::AtEnd(it)
            | PropertyKind::Assumption(it) => self.expression(it),
            PropertyKind::AssertionAt { process, location, condition } => {
                let mut access = self.expression(condition);
                access.asks.push((self.location_cell(*process, 0), *location));
                access
            }
            PropertyKind::Automaton(_) | PropertyKind::Reached => Access::default(),
            PropertyKind::Claim(claim) => {
                let mut access = Access::default();
                for it in &claim.moves {
                    access.extend(self.observation(&it.action));
                }
                access
            }
        }
    }
}
