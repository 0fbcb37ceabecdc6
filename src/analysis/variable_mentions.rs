//! Which variables code reads and writes, as it is written: wherever it runs, and without the functions that it calls.

use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{Place, PlaceRoot, VarId};
use std::collections::BTreeSet;

/// The variables that visited code mentions.
#[derive(Clone, Debug, Default)]
pub struct VariableMentions {
    /// Those that it reads.
    pub reads: BTreeSet<VarId>,
    /// Those that it writes.
    pub writes: BTreeSet<VarId>,
    /// Whether it writes where a name stands for a place.
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
