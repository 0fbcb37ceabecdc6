//! The variables that code reads and writes by name, wherever it is executed, without the functions that it calls.

use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{Place, PlaceRoot, VarId};
use std::collections::BTreeSet;

/// The variables that visited code mentions.
#[derive(Clone, Debug, Default)]
pub struct VariableMentions {
    /// The variables that it reads.
    pub reads: BTreeSet<VarId>,
    /// The variables that it writes.
    pub writes: BTreeSet<VarId>,
    /// Whether it writes a place through a name.
    pub writes_by_name: bool,
}

impl CodeVisitor for VariableMentions {
    fn place(&mut self, place: &Place, access: PlaceAccess) {
        match (place.root, access) {
            (PlaceRoot::Variable(id), PlaceAccess::Read) => drop(self.reads.insert(id)),
            (PlaceRoot::Variable(id), PlaceAccess::Write) => drop(self.writes.insert(id)),
            (PlaceRoot::Local(_), PlaceAccess::Read) => {}
            (PlaceRoot::Local(_), PlaceAccess::Write) => self.writes_by_name = true,
        }
        walk::place(self, place);
    }
}
