//! Locals of processes that are given a value when an instance begins, and never another.
//!
//! Processes are told by their parameters which channels are theirs, or who they are. From when an
//! instance lives, until it ends, such a local is a constant: what it holds in one state it holds in all
//! that follow.

use crate::ir::walk::{self, Access, Visitor};
use crate::ir::{Owner, Place, Program, Root, Type, VarId};
use std::collections::BTreeSet;

/// The scalar locals of processes that no action stores to. Those who start an instance do, and what it
/// does when it begins.
pub fn constants(program: &Program) -> Vec<VarId> {
    let mut stores = Stores::default();
    program.actions.values().for_each(|action| walk::action(&mut stores, action));
    program.functions.values().for_each(|function| walk::body(&mut stores, &function.body));
    if stores.anywhere {
        return Vec::new();
    }
    let is_constant = |id: &VarId| {
        let variable = &program.variables[*id];
        let is_scalar = matches!(program.types[variable.ty], Type::Scalar(_));
        is_scalar && variable.owner != Owner::Program && !stores.to.contains(id)
    };
    program.variables.keys().filter(is_constant).collect()
}

/// What is stored to.
#[derive(Default)]
struct Stores {
    to: BTreeSet<VarId>,
    /// Whether something is stored where a name stands for a place.
    anywhere: bool,
}

impl Visitor for Stores {
    fn place(&mut self, place: &Place, access: Access) {
        if access == Access::Write {
            match place.root {
                Root::Variable(variable) => drop(self.to.insert(variable)),
                Root::Local(_) => self.anywhere = true,
            }
        }
        walk::place(self, place);
    }
}
